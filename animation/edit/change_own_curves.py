# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the keys of the animator's curves, which are F-curves or, for a baked track, the saved keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..bake.pipeline import rebake
from ..errors import AnimationError
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.keyframes import PAIRS, SIDES, BoolArray, IndexArray, Keyframes
from ..fcurves.read_keys import read
from ..fcurves.write_keys import write
from ..store.equivalent_values import values_shown
from ..store.own_arrays import OwnKeys
from ..store.own_curves import with_saved
from ..store.own_keys import read_own_keys
from ..store.parameters import Numbers
from ..store.table.custom_property import update
from ..store.table.track_records import NEGATED, Options, TrackState
from ..store.tracks import Track


def own_points(track: Track) -> dict[int, tuple[OwnKeys, Keyframes]]:
    """Return the animator's keys for each channel, and the keys on the animator's curve, in the same rows."""
    return {
        index: (own, own.keys if track.is_baked else read(track.channels[index]))
        for index, own in read_own_keys(track).items()
    }


def moved(
    keys: Keyframes,
    rows: BoolArray | IndexArray,
    frames: npt.ArrayLike | None = None,
    values: npt.ArrayLike | None = None,
) -> Keyframes:
    """Return the keys, ordered by frame, with new frames or values in the given rows. Handles move with their keys."""
    coordinates = {name: getattr(keys, name).copy() for name in PAIRS}
    for column, targets in enumerate((frames, values)):
        if targets is None:
            continue
        shifts = np.asarray(targets, dtype=np.float32) - keys.co[rows, column]
        for side in SIDES:
            coordinates[side][rows, column] += shifts
        coordinates["co"][rows, column] = targets
    changed = keys.with_(**coordinates)
    return changed if frames is None else changed.take(np.argsort(changed.frames, kind="stable"))


def with_values(track: Track, own: OwnKeys, points: Keyframes, rows: IndexArray, values: Numbers) -> Keyframes:
    """Return a channel's keys from `own_points`, with new values for the animator's keys in the given rows."""
    current = points.values[rows]
    negated = np.zeros(len(rows), dtype=np.bool_) if track.is_baked else (own.placed[rows] & NEGATED) != 0
    new_values = values_shown(values.astype(np.float32), own.keys.values[rows], current, negated)
    return moved(points, rows, values=new_values)


def write_own_curves(channels: Channels, track: Track, keys: Mapping[int, Keyframes]) -> None:
    """Replace the keys of the animator's curves. If the track is baked, bake it again."""
    before = track.state
    put_own_keys(channels, track, keys)
    if track.is_baked:
        assert before is not None
        bake_again(channels, [track], [before])


def put_own_keys(channels: Channels, track: Track, keys: Mapping[int, Keyframes]) -> None:
    """Replace the keys of the animator's curves. A baked track must then be baked again."""
    if track.is_baked:
        track.state = with_own_keys(track, keys)
        track.table = update(channels.action, states=[track.state])
        return
    for index, own in keys.items():
        write(track.channels[index], own)
        # Update the automatic handles of these keys and of the adjacent keys.
        track.channels[index].update()
    evaluate_anew(channels.action)


def with_own_keys(track: Track, keys: Mapping[int, Keyframes]) -> TrackState:
    """Return the table entry of a baked track, with the saved keys replaced in these channels."""
    assert track.state is not None
    return with_saved(track.state, {index: own.keys for index, own in read_own_keys(track).items()} | dict(keys))


def bake_again(channels: Channels, tracks: Sequence[Track], before: Sequence[TrackState] = ()) -> None:
    """Rebake baked tracks.

    If a bake fails, restore the table entries in `before` and raise AnimationError.
    """
    (users,) = users_of_channels([channels])
    report = rebake(users, channels, tracks, Options())
    if report.errors:
        update(channels.action, states=before)
        raise AnimationError(*report.errors)
