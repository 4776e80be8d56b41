# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a track by its path, and find the same track for writing."""

from __future__ import annotations

import bpy

from ..arguments import checked
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels, channels_of
from ..fcurves.linked_data import check_editable, editable_channels
from ..store.find_tracks import find_tracks
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track
from ..translation import rpt_


@checked
def find_track(datablock: bpy.types.ID, name: str) -> Track:
    """Find a track by its path.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    name : str
        Path of the track. `rotation`, or `pose.bones["Arm"].rotation` for a bone, is the rotation track of the current
        rotation mode.

    Returns
    -------
    Track
        The track, with its `path` and the F-curves of its channels.

    Raises
    ------
    AnimationError
        There is no such track. The error message lists the existing tracks.

    Examples
    --------
    >>> animation.find_track(ball, "rotation").path
    'rotation_euler'
    >>> animation.find_track(ball, "scale")
    Traceback (most recent call last):
    AnimationError: "Ball", Scale: no such track. Available tracks: location, rotation_euler
    """
    channels = channels_of(datablock)
    is_rotation = name.rpartition(".")[2] == "rotation"
    for track in find_tracks(datablock, channels, [name]):
        if track.path == name or (is_rotation and track.is_rotation and track.in_use):
            return track
    known = ", ".join(track.path for track in find_tracks(datablock, channels)) or rpt_("none")
    raise AnimationError(Finding("NO_SUCH_TRACK", name_of(datablock), name, arguments=(known,)))


def check_writable(datablock: bpy.types.ID, track: Track) -> None:
    """Raise AnimationError if the track can't be changed."""
    check_editable(datablock)
    (reason,) = blocking_reasons([track])
    if reason:
        raise AnimationError(reason)


def writable(datablock: bpy.types.ID, track: Track) -> tuple[Channels, Track]:
    """Return the channels for editing, and the track in these channels. A linked action of an override is copied.

    Raises AnimationError, without copying, if the track can't be changed.
    """
    check_writable(datablock, track)
    channels = editable_channels(datablock)
    # The action may have been copied, now or earlier for another track.
    if any(fcurve.id_data != channels.action for fcurve in track.channels.values()):
        track = find_track(datablock, track.path)
    return channels, track
