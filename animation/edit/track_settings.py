# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of TCB tracks, and access to tracks for editing. For Enable, see `enable.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import bpy

from ..arguments import checked
from ..bake.plans.track_methods import spline_class_of
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels, channels_of, evaluate_anew
from ..fcurves.linked_data import check_editable, editable_channels
from ..many import on_each
from ..report import Report
from ..store.find_tracks import find_tracks
from ..store.own_keys import key_frames
from ..store.table.custom_property import update
from ..store.table.track_records import Settings, chosen
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track
from ..translation import rpt_
from .change_own_curves import bake_again, save_own_keys
from .enable import enable_track


def writable(datablock: bpy.types.ID, track: Track) -> tuple[Channels, Track]:
    """Return the channels for editing, and the track in these channels, even if the action had to be copied.

    Raises AnimationError if the track can't be changed.
    """
    check_editable(datablock)
    (reason,) = blocking_reasons([track])
    if reason:
        raise AnimationError(reason)
    channels = editable_channels(datablock)
    # The action may have been copied, now or earlier for another track.
    if any(fcurve.id_data != channels.action for fcurve in track.channels.values()):
        track = next(found for found in find_tracks(datablock, channels) if found.path == track.path)
    return channels, track


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


@checked
def choose(datablock: bpy.types.ID, track: str, **choices: str) -> Report:
    """Change settings of a track. A plain track becomes TCB.

    A baked track is rebaked. For other tracks, the settings take effect at the next update. The keys of a plain track
    get the parameters that preserve the motion, as in `enable` with the same `path`.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.
    **choices : str
        Settings, with the same identifiers as in `bpy.ops.tcb.track_choose`. All tracks have `method`, and `cycle` for
        the motion outside the keys. Rotations also have `ends`, the TCB method's rule for the first and last keys, and
        `construction`, the formulas between keys. `path` specifies whether rotations take the shortest path. `angles`
        is the method for the angles of ROLL_PITCH_YAW. Settings that do not apply to the track or method are stored but
        have no effect.

    Returns
    -------
    Report
        Counts. For a plain track, also the changes to the preserved motion, and notes, as in `enable`.

    Raises
    ------
    AnimationError
        There is no such track, the track can't be changed, or it does not support the method. Nothing was changed.
    ValueError
        A setting or option does not exist.

    Examples
    --------
    >>> report = animation.choose(ball, "rotation", path="SHORTEST")
    >>> report.tracks, report.keys, report.looks_kept
    (1, 3, 1)
    >>> report = animation.choose(ball, "location", method="CATMULL_ROM", cycle="LOOP")
    >>> animation.choose(ball, "location", cycle="TWICE")
    Traceback (most recent call last):
    ValueError: cycle 'TWICE' is not one of SINGLE, REPEAT, LOOP
    """
    return choose_settings(datablock, track, choices)


# Type checkers assume that the keyword arguments may contain `datablock`.
choose_many = on_each(choose, '[ball], "location", cycle="LOOP"')  # type: ignore[arg-type]


def choose_settings(
    datablock: bpy.types.ID, name: str, choices: Mapping[str, str], defaults: Mapping[str, float] | None = None
) -> Report:
    """Change settings of a track (see `choose`).

    `defaults` contains the parameters that later bakes will use for keys that have none of their own. The parameters of
    a plain track are fitted accordingly.
    """
    check_editable(datablock)
    track = find_track(datablock, name)
    settings = _with_choices(track.settings, choices)
    spline_class_of(track, settings)
    report = Report.on([datablock], tracks=1)
    if not track.enabled:
        report = enable_track(datablock, track, settings.path if "path" in choices else None, defaults)
    elif track.is_baked:
        # Raise AnimationError for a track that was edited outside TCB.
        writable(datablock, track)
    channels = editable_channels(datablock)
    changed = find_track(datablock, track.path)
    assert changed.state is not None
    before = changed.state
    changed.state = replace(before, settings=_with_choices(before.settings, choices))
    report.keys = len(key_frames(changed))
    if changed.is_baked:
        # The records of handles were made with the previous settings.
        save_own_keys(channels, changed, {})
        bake_again(channels, [changed], [before])
    else:
        changed.table = update(channels.action, states=[changed.state])
    evaluate_anew(channels.action)
    return report


def _with_choices(settings: Settings, choices: Mapping[str, str]) -> Settings:
    """Return the settings with these changes. Raise ValueError if a setting or option does not exist."""
    for choice, option in choices.items():
        settings = chosen(settings, choice, option)
    return settings
