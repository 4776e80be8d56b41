# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a track's components, brought to common frames.

All components of a baked track are keyed at the same frames, except in the segments that Blender plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....interp.cubics import hermite
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from .composed_keys import ChannelKeys
from .own_motion import STILL
from .protocol import Scope
from .sample_frames import APART, has_merged, nearest_rows, united

_MOVING = 1e-6
"""Relative change of a value that is more than float32 rounding."""


def by_own_frames(
    scope: Scope, components: Sequence[int], frames: Float32Array
) -> Iterator[tuple[list[int], Float32Array]]:
    """Yield the rows and the frames of each group of components whose animator's keys are at the same frames.

    `frames` contains the frames of the keys of all components.
    """
    key_counts = {scope.own[component].count if component in scope.own else 0 for component in components}
    if key_counts == {len(frames)}:
        yield list(range(len(components))), frames
        return
    groups: dict[bytes, list[int]] = {}
    for row, component in enumerate(components):
        frame_bytes = scope.own[component].frame_bytes if component in scope.own else b""
        groups.setdefault(frame_bytes, []).append(row)
    for frame_bytes, rows in groups.items():
        yield rows, np.frombuffer(frame_bytes, dtype=np.float32)


def united_channel_keys(scope: Scope, keys_of_components: Sequence[ChannelKeys]) -> list[ChannelKeys]:
    """Return the components' keys as channel keys, at the same frames for all components.

    If no component moves, only the animator's keys remain.
    """
    keys_to_write = [keys for keys in (_without_still(scope, keys) for keys in keys_of_components) if keys is not None]
    united_keys = _at_common_frames(scope, keys_to_write)
    if all(map(_is_still, united_keys)):
        frames = united([scope.key_frames], [])
        united_keys = [keys.take(_are_at(keys.frames, frames)) for keys in united_keys]
    return united_keys


def _without_still(scope: Scope, keys: ChannelKeys) -> ChannelKeys | None:
    """Return the keys unchanged if the components are keyed.

    Otherwise, return only the keys of components whose values differ from the current values, or None if there
    are no such components.
    """
    if len(keys.own_frames):
        return keys
    current = np.array([[scope.track.component(component)] for component in keys.components])
    deviation = np.abs(keys.values - current)
    if keys.incoming is not None and keys.outgoing is not None and len(keys.frames) > 1:
        length = np.gradient(keys.frames.astype(np.float64))
        deviation = deviation + np.maximum(np.abs(keys.incoming), np.abs(keys.outgoing)) * length
    rows = np.flatnonzero(deviation.max(axis=1, initial=0.0) > STILL).tolist()
    return keys.of(rows) if rows else None


def _is_still(keys: ChannelKeys) -> bool:
    """Return whether the values are constant to within float32 rounding and all derivatives are 0."""
    first, other = keys.values.item(0, 0), keys.values.item(0, keys.values.shape[1] // 2)
    # For most components, one value shows that they move.
    if keys.is_interrupted or abs(other - first) > _MOVING * max(1.0, abs(first)):
        return False
    ranges = keys.values.max(axis=1) - keys.values.min(axis=1)
    rounding = np.spacing(np.maximum(np.abs(keys.values[:, 0]), 1e-30).astype(np.float32))
    if (ranges > rounding).any():
        return False
    if keys.incoming is None or keys.outgoing is None:
        return True
    length = float(keys.frames[-1] - keys.frames[0])
    steepest = np.maximum(np.abs(keys.incoming), np.abs(keys.outgoing)).max(axis=1, initial=0.0)
    return bool((steepest * length <= rounding).all())


def _are_at(frames: Float32Array, others: Float32Array) -> BoolArray:
    """Return a mask of the frames that are close to one of the others."""
    mask: BoolArray = np.abs(others[nearest_rows(frames, others)] - frames) <= APART
    return mask


def _at_common_frames(scope: Scope, keys_of_components: Sequence[ChannelKeys]) -> list[ChannelKeys]:
    """Add keys on the existing curves, so that all components have keys at the same frames."""
    if len(keys_of_components) <= 1:
        return list(keys_of_components)
    first = keys_of_components[0].frames
    if len({keys.frames.tobytes() for keys in keys_of_components}) == 1 and not has_merged(first):
        return list(keys_of_components)
    own_frames = [keys.own_frames for keys in keys_of_components if len(keys.own_frames)]
    frames = united(own_frames or [scope.key_frames], [keys.frames for keys in keys_of_components])
    return [_with_keys_at(keys, frames[keys.may_have(frames)]) for keys in keys_of_components]


def _with_keys_at(keys: ChannelKeys, frames: Float32Array) -> ChannelKeys:
    """Return keys at exactly these frames, on the curves of the given keys. Values are constant outside the keys.

    Keys that are too close to one of the frames are moved to that frame.
    """
    at, knots = frames.astype(np.float64), keys.frames.astype(np.float64)
    if keys.incoming is None or keys.outgoing is None:
        values = np.array([np.interp(at, knots, row) for row in keys.values])
        return replace(keys, frames=frames, values=values)
    # To preserve the adjacent pieces, the last key that moves to a frame begins the next piece, and the first one ends
    # the previous piece.
    first_moved, last_moved = _first_and_last_moved(keys.frames, frames)
    values, outgoing = _on_pieces(keys, at, np.searchsorted(knots, last_moved, side="right") - 1)
    _, incoming = _on_pieces(keys, at, np.searchsorted(knots, first_moved) - 1)
    rows = nearest_rows(frames, keys.frames)
    is_same = keys.frames[rows] == frames
    values[:, is_same] = keys.values[:, rows[is_same]]
    return replace(keys, frames=frames, values=values, incoming=incoming, outgoing=outgoing)


def _first_and_last_moved(knots: Float32Array, frames: Float32Array) -> tuple[Float64Array, Float64Array]:
    """Return, for each frame, the first and the last knot that move to the frame, or the frame itself if none does."""
    nearest = nearest_rows(knots, frames)
    close_rows = np.flatnonzero(np.abs(frames[nearest] - knots) <= APART)
    first, end = (np.searchsorted(nearest[close_rows], np.arange(len(frames)), side) for side in ("left", "right"))
    moves = np.flatnonzero(end > first)
    first_moved, last_moved = frames.astype(np.float64), frames.astype(np.float64)
    first_moved[moves], last_moved[moves] = knots[close_rows[first[moves]]], knots[close_rows[end[moves] - 1]]
    return first_moved, last_moved


def _on_pieces(keys: ChannelKeys, at: Float64Array, piece: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the values and derivatives at the frames, each on the piece after the given key, shape (components, n).

    Key -1 stands for the piece before the first key.
    """
    assert keys.incoming is not None
    assert keys.outgoing is not None
    knots, last = keys.frames.astype(np.float64), len(keys.frames) - 1
    inside = (piece >= 0) & (piece < last)
    low = np.clip(piece, 0, max(0, last - 1))
    high = np.minimum(low + 1, last)
    length = np.where(high > low, knots[high] - knots[low], 1.0)
    tangents = keys.outgoing[:, low] * length, keys.incoming[:, high] * length
    value, tangent = hermite((at - knots[low]) / length, keys.values[:, low], keys.values[:, high], *tangents)
    ends = np.where(piece < 0, keys.values[:, :1], keys.values[:, -1:])
    return np.where(inside, value, ends), np.where(inside, tangent / length, 0.0)
