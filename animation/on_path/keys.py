# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert and delete the keys of a path, in all tracks that move the point."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...interp import KeysError
from ..bake.exact_motion import channel_values
from ..edit.change_own_curves import own_points, write_own_curves
from ..edit.keys import make_key
from ..errors import AnimationError, Finding
from ..fcurves.frames import SAME_FRAME
from ..sampling.inexact_tracks import is_inexact
from ..store.own_keys import key_frames, read_own_keys
from ..store.tracks import Track
from .keyed_track import KeyedTrack, Values, check_can_change
from .points import Spot, moving_tracks


def keyed_tracks(spot: Spot) -> list[KeyedTrack]:
    """Return the tracks that move the point and have a key at the point's frame.

    Raises AnimationError if there is no key, or if any of these tracks can't be changed.
    """
    return [KeyedTrack(spot.item, track, spot.frame) for track in _tracks_with_key(spot)]


def _tracks_with_key(spot: Spot) -> list[Track]:
    """Return the tracks that move the point and have a key at the point's frame. Raise AnimationError without a key."""
    moving = moving_tracks(spot.item, spot.bone, spot.followed)
    tracks = [track for track in moving if _has_key(track, spot.frame)]
    if not tracks:
        raise AnimationError(Finding("NO_KEY_AT_FRAME", spot.name, frame=spot.frame))
    return tracks


def _has_key(track: Track, frame: float) -> bool:
    return bool((np.abs(key_frames(track) - frame) <= SAME_FRAME).any())


def insert_key(spot: Spot) -> None:
    """Insert a key at the point's position at the frame, in all tracks that move the point.

    Raises AnimationError, without changing anything, if there already is a key, or if a track can't be changed.
    """
    moving = moving_tracks(spot.item, spot.bone, spot.followed)
    if not moving:
        raise AnimationError(Finding("POINT_WITHOUT_TRACK", spot.name, frame=spot.frame))
    for track in moving:
        check_can_change(spot.item, track, spot.frame)
    tracks = [track for track in moving if not _has_key(track, spot.frame)]
    if not tracks:
        raise moving[0].error("KEY_AT_FRAME", frame=spot.frame)
    # A new key changes the motion, so the exact values are computed before any key is made.
    exact_values = {track.path: values for track in tracks if (values := _exact_values(spot, track)) is not None}
    for track in tracks:
        make_key(spot.item, track, spot.frame)
    for keyed_track in keyed_tracks(spot):
        if keyed_track.track.path in exact_values:
            keyed_track.write(exact_values[keyed_track.track.path])
        if not keyed_track.track.is_baked:
            keyed_track.play()


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
    tracks = _tracks_with_key(spot)
    for track in tracks:
        check_can_change(spot.item, track, spot.frame)
        if any(
            own.count == 1 and abs(own.keys.frames[0] - spot.frame) <= SAME_FRAME
            for own in read_own_keys(track).values()
        ):
            raise track.error("LAST_KEY", frame=spot.frame)
    for keyed_track in keyed_tracks(spot):
        points = own_points(keyed_track.track)
        keys = {index: points[index][1] for index in keyed_track.components}
        remaining = {index: own.take(~keyed_track.is_at(own)) for index, own in keys.items()}
        write_own_curves(keyed_track.channels, keyed_track.track, remaining)
        if not keyed_track.track.is_baked:
            keyed_track.play()
