# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of baked keys: continuous rotations, common frames of components, and linear extrapolation.

The animator's values at neighboring keys may be equivalent values that are far apart. Maps convert each key's values to
the equivalent values that continue the motion.

All components of a baked track are keyed at the same frames, except in the segments that Blender plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.cubics import hermite
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, RotationRepresentation, rotation_representation
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...store.tracks import Track
from .own_motion import STILL, run_slices
from .plan import ChannelKeys, Scope
from .rotations import LARGEST_STEP, unwrapped
from .sample_frames import APART, has_merged, nearest_rows, united
from .track_splines import TrackSpline

_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""
_SMALL_CHANGE = 1.0
"""Tolerance in radians, or in units of an axis. Neighboring keys that differ by less than this keep their own
values."""


def with_values_of_motion(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values of the motion at the keys.

    If the motion passes through the keys, the channel values are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, key_rows = _densely_sampled(spline)
    return replace(spline, values=unwrapped(track, quaternions, spline.values[0])[key_rows])


def shortest_path_maps(track: Track, spline: TrackSpline) -> Maps | None:
    """Return maps that make the keys' angles continuous along the motion, shape (keys, components).

    Return None if the keys' angles are continuous. The signs of quaternions are chosen together with the handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SMALL_CHANGE).all():
        return None
    quaternions, key_rows = _densely_sampled(spline)
    _, maps = matched_with_keys(track, spline, unwrapped(track, quaternions, spline.values[0]), key_rows)
    return maps


def _densely_sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    parts = _FEWEST_PARTS
    while True:
        fractions = np.arange(parts) / parts
        frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * fractions, keys[-1])
        quaternions = spline.spline(frames)
        steps = rotations.angle_between(quaternions[1:], quaternions[:-1])
        if parts >= _MOST_PARTS or steps.max(initial=0.0) <= LARGEST_STEP:
            return quaternions, np.arange(len(keys)) * parts
        parts *= 2


def matched_with_keys(
    track: Track, spline: TrackSpline, values: Float64Array, key_rows: IndexArray
) -> tuple[Float64Array, Maps | None]:
    """Return samples of a rotation as continuous channel values, and maps that make the values of its keys match them.

    `values` are unwrapped samples, which are changed in place, and `key_rows` are the rows of the keys among the
    samples. The maps have the shape (keys, components). They are None if the keys match without them.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    if np.abs(spline.values - values[key_rows]).max() <= JUMP:
        return values, None
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    next_rows = np.minimum(key_rows + 1, len(values) - 1)
    next_key = 0
    while True:
        maps = _maps_to_nearest(representation, spline.values, values[key_rows])
        for run in run_slices(spline.begins_segment)[1:]:
            for numbers in maps:
                numbers[run.start] = numbers[run.start - 1]
        mapped = maps.applied(spline.values)
        differing_keys = np.flatnonzero(np.abs(mapped - values[key_rows]).max(axis=1) > JUMP)
        differing_keys = differing_keys[differing_keys >= next_key]
        maps_of_samples = _maps_to_nearest(representation, values[next_rows[differing_keys]], mapped[differing_keys])
        changed = np.flatnonzero(maps_of_samples.changed.any(axis=1))
        if not len(changed):
            return values, maps if maps.changed.any() else None
        # The values of this key, such as an axis without rotation, continue in another way than the samples before it.
        key, row = int(differing_keys[changed[0]]), changed[0]
        next_key = key + 1
        samples_after = values[key_rows[key] + 1 :]
        samples_after[:] = samples_after * maps_of_samples.factors[row] + maps_of_samples.terms[row]


def _maps_to_nearest(representation: RotationRepresentation, values: Float64Array, others: Float64Array) -> Maps:
    """Return maps that bring the values closest to the others, shape (n, components)."""
    return Maps(*(numbers.T.copy() for numbers in representation.map_to_nearest(values.T, others.T)))


# Linear extrapolation, with the slopes that the motion has at the outer keys


_DIFFERENCE = 1.0 / 256.0
"""Distance in frames of the finite differences that give slopes, far below one frame and far above float64 rounding."""


def extrapolates(scope: Scope, splines: Sequence[TrackSpline]) -> bool:
    """Return whether the bake adds keys outside the splines' keys because a component is extrapolated linearly."""
    if scope.cycle != "SINGLE" or (scope.options.extend is None and len(splines) == 1):
        return False
    sampling = scope.sampling
    ends = [(spline.frames[0], spline.frames[-1]) for spline in splines if len(spline.frames) > 1]
    if all(sampling.low >= first and sampling.high <= last for first, last in ends):
        return False
    return any(scope.track.extrapolation(component) == "LINEAR" for component in scope.own)


def rests_at_ends(spline: TrackSpline) -> tuple[bool, bool]:
    """Return whether an ease brings the spline to rest at the first key and at the last key."""
    ease_to, ease_from = spline.spline.keys.parameters[3:]
    return bool(ease_from[0] > 0.0), bool(ease_to[-1] > 0.0)


def frames_beside_ends(keys: Float32Array) -> Float64Array:
    """Return frames close to the first and last keys, from which to compute the slopes at these keys, shape (4,)."""
    first, last = float(keys[0]), float(keys[-1])
    step = min(_DIFFERENCE, (last - first) / 4.0)
    return np.array([first + step, first + 2.0 * step, last - 2.0 * step, last - step])


def slopes_at_ends(keys: Float32Array, frames: Float64Array, values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes at the first and last keys, shape (c,) each, from the values (c, m) at the frames (m,).

    `frames` must include the first and last keys and the `frames_beside_ends`.
    """
    beside = frames_beside_ends(keys)
    first, last = np.searchsorted(frames, [float(keys[0]), float(keys[-1])])
    one_after, two_after, two_before, one_before = (values[:, row] for row in np.searchsorted(frames, beside))
    step = beside[0] - float(keys[0])
    # One-sided differences of second order.
    start = (4.0 * one_after - two_after - 3.0 * values[:, first]) / (2.0 * step)
    end = (3.0 * values[:, last] - 4.0 * one_before + two_before) / (2.0 * step)
    return start, end


def extrapolated(
    scope: Scope,
    spline: TrackSpline,
    frames: Float32Array,
    values: Float64Array,
    slopes: tuple[Float64Array, Float64Array],
) -> Float64Array:
    """Return the values (c, m) at the frames, on straight lines outside the keys where extrapolation is linear."""
    first, last = spline.frames[0], spline.frames[-1]
    result = values.copy()
    rests = rests_at_ends(spline)
    for row, component in enumerate(spline.components):
        if component not in scope.own or scope.track.extrapolation(component) != "LINEAR":
            continue
        for is_outside, key, slope, is_at_rest in (
            (frames < first, first, slopes[0][row], rests[0]),
            (frames > last, last, slopes[1][row], rests[1]),
        ):
            if is_outside.any():
                key_value = values[row, np.searchsorted(frames, key)]
                distance = frames[is_outside].astype(np.float64) - float(key)
                result[row, is_outside] = key_value + (0.0 if is_at_rest else slope) * distance
    return result


# Common frames of components


_MOVING = 1e-6
"""Relative change of a value that is more than float32 rounding."""


def by_own_frames(
    scope: Scope, components: Sequence[int], frames: Float32Array
) -> list[tuple[list[int], Float32Array]]:
    """Return the rows and the frames of each group of components whose animator's keys are at the same frames.

    `frames` contains the frames of the keys of all components.
    """
    key_counts = {scope.own[component].count if component in scope.own else 0 for component in components}
    if key_counts == {len(frames)}:
        return [(list(range(len(components))), frames)]
    groups: dict[bytes, list[int]] = {}
    for row, component in enumerate(components):
        frame_bytes = scope.own[component].frame_bytes if component in scope.own else b""
        groups.setdefault(frame_bytes, []).append(row)
    return [(rows, np.frombuffer(frame_bytes, dtype=np.float32)) for frame_bytes, rows in groups.items()]


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
