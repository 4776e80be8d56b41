# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert and delete keys on a path."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...interp import KeysError
from ..bake.exact_motion import channel_values
from ..edit.change_own_curves import own_points, write_own_curves
from ..edit.make_key import make_key
from ..edit.track_settings import writable
from ..errors import AnimationError, Finding
from ..fcurves.frames import SAME_FRAME
from ..sampling.inexact_tracks import is_inexact
from ..store.own_keys import key_frames, read_own_keys
from ..store.tracks import Track
from .keyed_track import KeyedTrack, Values, check_times
from .points import Spot, moving_tracks


def keyed_tracks(spot: Spot) -> list[KeyedTrack]:
    """Return the tracks that move the point and have a key at the point's frame.

    Raise AnimationError if any of these tracks is locked.
    """
    tracks = moving_tracks(spot.item, spot.bone, spot.followed)
    keyed = [track for track in tracks if (np.abs(key_frames(track) - spot.frame) <= SAME_FRAME).any()]
    if not keyed:
        raise AnimationError(Finding("NO_KEY_AT_FRAME", spot.name, frame=spot.frame))
    return [KeyedTrack(spot.item, track, spot.frame) for track in keyed]


def insert_key(spot: Spot) -> None:
    """Insert a key at the point's position at the frame, in all tracks that move the point.

    Raises AnimationError if there already is a key, or if a track can't be changed.
    """
    tracks = moving_tracks(spot.item, spot.bone, spot.followed)
    if not tracks:
        raise AnimationError(Finding("POINT_WITHOUT_TRACK", spot.name, frame=spot.frame))
    without = []
    for track in tracks:
        # `writable` may have copied the action.
        _, found = writable(spot.item, track)
        check_times(spot.item, found, spot.frame)
        if not (np.abs(key_frames(found) - spot.frame) <= SAME_FRAME).any():
            without.append(found)
    if not without:
        raise tracks[0].error("KEY_AT_FRAME", frame=spot.frame)
    exact_values = {track.path: values for track in without if (values := _exact_values(spot, track)) is not None}
    for track in without:
        make_key(spot.item, track, spot.frame)
    for keyed in keyed_tracks(spot):
        if keyed.track.path in exact_values:
            keyed.write(exact_values[keyed.track.path])
        if not keyed.track.is_baked:
            keyed.play()


def _exact_values(spot: Spot, track: Track) -> Values | None:
    """Return the channel values of the exact motion at the frame, or None if the F-curves play the motion."""
    # Live finds the parameters of a key on handles only if the key is on the curve.
    if track.is_played or not is_inexact(track):
        return None
    with suppress(AnimationError, KeysError):
        return channel_values(track, read_own_keys(track), spot.frame, dict(spot.defaults))
    return None


def delete_key(spot: Spot) -> None:
    """Delete the key in all tracks that move the point.

    Raises AnimationError, without changing anything, if the key is a channel's only key, or if a track can't be
    changed.
    """
    keyed = keyed_tracks(spot)
    for each in keyed:
        if each.is_last_of_a_channel:
            raise each.track.error("LAST_KEY", frame=spot.frame)
    for each in keyed:
        points = own_points(each.track)
        keys = {index: points[index][1] for index in each.keyed}
        write_own_curves(each.channels, each.track, {i: own.take(~each.is_at(own)) for i, own in keys.items()})
        if not each.track.is_baked:
            each.play()
