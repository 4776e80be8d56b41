# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a track's components, brought to common frames.

All components of a baked track are keyed at the same frames, except in the segments that Blender plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from .composed_keys import ChannelKeys
from .own_motion import STILL
from .protocol import Scope
from .sample_frames import APART, has_merged, nearest_rows, united

_NO_ROUNDING = 1e-5
"""Relative difference that exceeds float32 rounding."""


def by_own_frames(scope: Scope, components: Sequence[int]) -> Iterator[tuple[list[int], Float32Array]]:
    """Group components whose animator's keys are at the same frames. Yield the rows and the frames of each group."""
    if not scope.track.is_rotation:
        # Components share a spline of values only if their keys are at the same frames.
        yield list(range(len(components))), scope.own[components[0]].frames
        return
    groups: dict[bytes, list[int]] = {}
    for row, component in enumerate(components):
        own = scope.own.get(component)
        groups.setdefault(b"" if own is None else own.frame_bytes, []).append(row)
    for timing, rows in groups.items():
        yield rows, np.frombuffer(timing, dtype=np.float32)


def united_channel_keys(scope: Scope, keys_of_components: Sequence[ChannelKeys]) -> list[ChannelKeys]:
    """Return the components' keys as channel keys, at the same frames for all components.

    If no component moves, only the animator's keys remain.
    """
    moving_keys = [keys for keys in (_without_still(scope, keys) for keys in keys_of_components) if keys is not None]
    united_keys = _at_common_frames(scope, moving_keys)
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
    first, middle = keys.values[:, 0], keys.values[:, len(keys.frames) // 2]
    if (np.abs(first - middle) > _NO_ROUNDING * (1.0 + np.abs(middle))).any():
        # For most components, two values are enough to detect motion.
        return False
    ranges = np.ptp(keys.values, axis=1)
    rounding = np.spacing(np.maximum(np.abs(keys.values[:, :1]), 1e-30).astype(np.float32))[:, 0]
    if (ranges > rounding).any() or keys.is_interrupted:
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
    nearest = nearest_rows(keys.frames, frames)
    close_rows = np.flatnonzero(np.abs(frames[nearest] - keys.frames) <= APART)
    # Find the keys that move to each frame. To preserve the adjacent pieces, the last of these keys begins the next
    # piece, and the first one ends the previous piece.
    first, end = (np.searchsorted(nearest[close_rows], np.arange(len(frames)), side) for side in ("left", "right"))
    moves = np.flatnonzero(end > first)
    starts, ends = at.copy(), at.copy()
    starts[moves], ends[moves] = knots[close_rows[end[moves] - 1]], knots[close_rows[first[moves]]]
    values, outgoing = _on_pieces(keys, at, np.searchsorted(knots, starts, side="right") - 1)
    _, incoming = _on_pieces(keys, at, np.searchsorted(knots, ends) - 1)
    rows = nearest_rows(frames, keys.frames)
    is_same = keys.frames[rows] == frames
    values[:, is_same] = keys.values[:, rows[is_same]]
    return replace(keys, frames=frames, values=values, incoming=incoming, outgoing=outgoing)


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
    value, derivative = hermite(
        (at - knots[low]) / length,
        length,
        (keys.values[:, low], keys.values[:, high]),
        (keys.outgoing[:, low], keys.incoming[:, high]),
    )
    ends = np.where(piece < 0, keys.values[:, :1], keys.values[:, -1:])
    return np.where(inside, value, ends), np.where(inside, derivative, 0.0)


def hermite(
    t: Float64Array,
    length: Float64Array,
    values: tuple[Float64Array, Float64Array],
    derivatives: tuple[Float64Array, Float64Array],
) -> tuple[Float64Array, Float64Array]:
    """Evaluate cubics at t in [0, 1], given the values and the derivatives per frame at their starts and ends.

    Return values and derivatives per frame.
    """
    s = 1.0 - t
    (a, b), (leave, arrive) = values, (derivative * length for derivative in derivatives)
    value = s * s * (1 + 2 * t) * a + t * t * (3 - 2 * t) * b + t * s * s * leave - t * t * s * arrive
    return value, (6 * t * s * (b - a) + s * (1 - 3 * t) * leave + t * (3 * t - 2) * arrive) / length
