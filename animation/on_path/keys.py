# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on a path: insert, delete, move in time, and set their values."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...interp import KeysError
from ..bake.exact_motion import channel_values
from ..edit.change_own_curves import own_points, write_own_curves
from ..edit.find_track import writable
from ..edit.keys import make_key
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
    tracks_to_key = []
    for track in tracks:
        # `writable` may have copied the action.
        _, writable_track = writable(spot.item, track)
        check_times(spot.item, writable_track, spot.frame)
        if not (np.abs(key_frames(writable_track) - spot.frame) <= SAME_FRAME).any():
            tracks_to_key.append(writable_track)
    if not tracks_to_key:
        raise tracks[0].error("KEY_AT_FRAME", frame=spot.frame)
    exact_values = {track.path: values for track in tracks_to_key if (values := _exact_values(spot, track)) is not None}
    for track in tracks_to_key:
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
    keyed_tracks_of_spot = keyed_tracks(spot)
    for keyed in keyed_tracks_of_spot:
        if keyed.is_last_of_a_channel:
            raise keyed.track.error("LAST_KEY", frame=spot.frame)
    for keyed in keyed_tracks_of_spot:
        points = own_points(keyed.track)
        keys = {index: points[index][1] for index in keyed.keyed}
        remaining = {index: own.take(~keyed.is_at(own)) for index, own in keys.items()}
        write_own_curves(keyed.channels, keyed.track, remaining)
        if not keyed.track.is_baked:
            keyed.play()
