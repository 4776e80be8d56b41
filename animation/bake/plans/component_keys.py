# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a track's components at common frames, with continuous rotations and linear extrapolation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, RotationRepresentation, rotation_representation
from ...errors import Finding
from ...fcurves.frames import rows_of
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.tracks import Track
from .protocol import STILL, ChannelKeys, Scope, Unwrapping
from .sample_frames import APART, has_merged, nearest_rows, united
from .splines import TrackSpline, run_slices

_NO_ROUNDING = 1e-5
"""Relative difference that exceeds float32 rounding."""
_SAMPLES_AT_ONCE = 3000
"""Number of rotation samples to convert together, whose arrays fit into the processor's cache."""


@record()
class ComponentKeys:
    """The keys of several components at m frames. The animator's keys are at the same frames in all components."""

    components: list[int]
    own: Float32Array
    """Frames of the animator's keys, shape (k,). Empty if the bake creates the F-curves."""
    spline: TrackSpline
    """The spline of the components. Blender plays the segments in the spline's mask `between`."""
    frames: Float32Array
    values: Float64Array
    """Values of the keys, shape (components, m)."""
    incoming: Float64Array | None = None
    """Derivatives per frame before each key, shape (components, m). If None, the keys are linear."""
    outgoing: Float64Array | None = None
    maps: Maps | None = None
    """Factors and terms for the values of the animator's keys, as in `ChannelKeys`, shape (components, k)."""

    def take(self, columns: BoolArray | IndexArray) -> ComponentKeys:
        """Return the keys in the given columns."""
        return replace(
            self,
            frames=self.frames[columns],
            values=self.values[:, columns],
            incoming=None if self.incoming is None else self.incoming[:, columns],
            outgoing=None if self.outgoing is None else self.outgoing[:, columns],
        )

    def of(self, rows: list[int]) -> ComponentKeys:
        """Return the keys of the components in the given rows."""
        return replace(
            self,
            components=[self.components[row] for row in rows],
            values=self.values[rows],
            incoming=None if self.incoming is None else self.incoming[rows],
            outgoing=None if self.outgoing is None else self.outgoing[rows],
            maps=None if self.maps is None else Maps(*(each[rows] for each in self.maps)),
        )

    @property
    def gaps(self) -> BoolArray:
        """Return a mask of the animator's keys that begin a segment played by Blender. The last element is False."""
        if not self.spline.is_broken or not len(self.own):
            return np.zeros(len(self.own), dtype=np.bool_)
        gaps: BoolArray = self.spline.between[rows_of(self.own, self.spline.frames)].copy()
        gaps[-1:] = False
        return gaps

    def may_have(self, frames: Float32Array) -> BoolArray:
        """Return a mask of the frames where the components may have keys.

        The mask is true at the animator's keys, and at all frames outside the segments played by Blender.

        If Blender plays the first or last segment, it also plays the motion before the first or after the last key.
        """
        if not self.spline.is_broken:
            return np.ones(len(frames), dtype=np.bool_)
        gaps = self.spline.between[:-1]
        segment = np.searchsorted(self.spline.frames, frames, side="right") - 1
        may: BoolArray = ~np.concatenate((gaps[:1], gaps, gaps[-1:]))[segment + 1]
        bounds = np.concatenate(([False], gaps)) != np.concatenate((gaps, [False]))
        for own in (self.own, self.spline.frames[bounds]):
            may[nearest_rows(own, frames)] = True
        return may


def alike(scope: Scope, components: Sequence[int]) -> Iterator[tuple[list[int], Float32Array]]:
    """Group components whose animator's keys are at the same frames. Yield the rows and the frames of each group."""
    if not scope.track.is_rotation:
        # Components share a spline of values only if their keys are at the same frames.
        yield list(range(len(components))), scope.own[components[0]].frames
        return
    groups: dict[bytes, list[int]] = {}
    for row, component in enumerate(components):
        own = scope.own.get(component)
        groups.setdefault(b"" if own is None else own.timing, []).append(row)
    for timing, rows in groups.items():
        yield rows, np.frombuffer(timing, dtype=np.float32)


def _moving(scope: Scope, keys: ComponentKeys) -> ComponentKeys | None:
    """Return the keys unchanged if the components are keyed.

    Otherwise, return only the keys of components whose values differ from the current values, or None if there
    are no such components.
    """
    if len(keys.own):
        return keys
    current = np.array([[scope.track.component(component)] for component in keys.components])
    deviation = np.abs(keys.values - current)
    if keys.incoming is not None and keys.outgoing is not None and len(keys.frames) > 1:
        length = np.gradient(keys.frames.astype(np.float64))
        deviation = deviation + np.maximum(np.abs(keys.incoming), np.abs(keys.outgoing)) * length
    rows = np.flatnonzero(deviation.max(axis=1, initial=0.0) > STILL).tolist()
    return keys.of(rows) if rows else None


def together(scope: Scope, keys_of_components: Sequence[ComponentKeys]) -> list[ChannelKeys]:
    """Return the components' keys as channel keys, at the same frames for all components.

    If no component moves, only the animator's keys remain.
    """
    moving_keys = [keys for keys in (_moving(scope, keys) for keys in keys_of_components) if keys is not None]
    united_keys = _at_common_frames(scope, moving_keys)
    if all(map(_is_still, united_keys)):
        frames = united([scope.key_frames], [])
        united_keys = [keys.take(_are_at(keys.frames, frames)) for keys in united_keys]
    return list(map(_channel_keys, united_keys))


def _are_at(frames: Float32Array, others: Float32Array) -> BoolArray:
    near: BoolArray = np.abs(others[nearest_rows(frames, others)] - frames) <= APART
    return near


def _is_still(keys: ComponentKeys) -> bool:
    """Return whether the values are constant to within float32 rounding and all derivatives are 0."""
    firsts, middles = keys.values[:, 0].tolist(), keys.values[:, len(keys.frames) // 2].tolist()
    if any(
        abs(first - middle) > _NO_ROUNDING * (1.0 + abs(middle)) for first, middle in zip(firsts, middles, strict=True)
    ):
        # For most components, two values are enough to detect motion.
        return False
    ranges = np.ptp(keys.values, axis=1)
    rounding = np.spacing(np.maximum(np.abs(keys.values[:, :1]), 1e-30).astype(np.float32))[:, 0]
    if (ranges > rounding).any() or keys.spline.is_broken:
        return False
    if keys.incoming is None or keys.outgoing is None:
        return True
    length = float(keys.frames[-1] - keys.frames[0])
    steepest = np.maximum(np.abs(keys.incoming), np.abs(keys.outgoing)).max(axis=1, initial=0.0)
    return bool((steepest * length <= rounding).all())


def _at_common_frames(scope: Scope, keys_of_components: Sequence[ComponentKeys]) -> list[ComponentKeys]:
    """Add keys on the existing curves, so that all components have keys at the same frames."""
    if len(keys_of_components) <= 1:
        return list(keys_of_components)
    first = keys_of_components[0].frames
    if len({keys.frames.tobytes() for keys in keys_of_components}) == 1 and not has_merged(first):
        return list(keys_of_components)
    own_frames = [keys.own for keys in keys_of_components if len(keys.own)]
    frames = united(own_frames or [scope.key_frames], [keys.frames for keys in keys_of_components])
    return [_with_keys_at(keys, frames[keys.may_have(frames)]) for keys in keys_of_components]


def _with_keys_at(keys: ComponentKeys, frames: Float32Array) -> ComponentKeys:
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


def _on_pieces(keys: ComponentKeys, at: Float64Array, piece: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the values and derivatives at the frames, each on the piece after the given key.

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


def _channel_keys(keys: ComponentKeys) -> ChannelKeys:
    rows = nearest_rows(keys.own, keys.frames)
    values = keys.values.astype(np.float32)
    return ChannelKeys(keys.components, keys.frames, values, rows, keys.gaps, keys.incoming, keys.outgoing, keys.maps)


_DIFFERENCE = 1.0 / 256.0
"""Slopes at the ends of a motion are finite differences over this distance in frames."""


def goes_on(scope: Scope, splines: Sequence[TrackSpline]) -> bool:
    """Return whether the bake adds keys outside the splines' keys because a component is extrapolated linearly."""
    sampling = scope.sampling
    ends = [(spline.frames[0], spline.frames[-1]) for spline in splines if len(spline.frames) > 1]
    if scope.cycle != "SINGLE" or all(sampling.low >= first and sampling.high <= last for first, last in ends):
        return False
    return any(scope.track.extrapolation(component) == "LINEAR" for component in scope.own)


def frames_aside(keys: Float32Array) -> Float64Array:
    """Return frames close to the first and last keys, from which to compute the slopes at these keys, shape (4,)."""
    first, last = float(keys[0]), float(keys[-1])
    step = min(_DIFFERENCE, (last - first) / 4.0)
    return np.array([first + step, first + 2.0 * step, last - 2.0 * step, last - step])


def slopes_at_ends(at: Float64Array, values: Float64Array, keys: Float32Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes at the first and last keys, shape (c,) each, from values (c, m) at the frames `at` (m,).

    `at` must include the frames returned by `frames_aside`.
    """
    frames = frames_aside(keys)
    first, last = np.searchsorted(at, [float(keys[0]), float(keys[-1])])
    one_after, two_after, two_before, one_before = (values[:, row] for row in np.searchsorted(at, frames))
    step = frames[0] - float(keys[0])
    # One-sided differences of second order.
    start = (4.0 * one_after - two_after - 3.0 * values[:, first]) / (2.0 * step)
    end = (3.0 * values[:, last] - 4.0 * one_before + two_before) / (2.0 * step)
    return start, end


def rests_at_ends(spline: TrackSpline) -> tuple[bool, bool]:
    """Return whether an ease brings the spline to rest at the first key and at the last key."""
    eases = spline.spline.keys.parameters[3:]
    return bool(eases[1, 0] > 0.0), bool(eases[0, -1] > 0.0)


def extrapolated(
    scope: Scope,
    spline: TrackSpline,
    values: Float64Array,
    frames: Float32Array,
    slopes: tuple[Float64Array, Float64Array],
) -> Float64Array:
    """Return the values (c, m), extrapolated outside the keys in components with linear extrapolation."""
    first, last = spline.frames[0], spline.frames[-1]
    result = values.copy()
    rests = rests_at_ends(spline)
    for row, component in enumerate(spline.components):
        if component not in scope.own or scope.track.extrapolation(component) != "LINEAR":
            continue
        for is_outside, key, slope, rest in (
            (frames < first, first, slopes[0][row], rests[0]),
            (frames > last, last, slopes[1][row], rests[1]),
        ):
            if is_outside.any():
                key_value = values[row, np.searchsorted(frames, key)]
                distance = frames[is_outside].astype(np.float64) - float(key)
                result[row, is_outside] = key_value + (0.0 if rest else slope) * distance
    return result


FOLLOWED = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn for rotation
about a single axis, and lower for rotation about several axes."""
_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""
_SMALL_CHANGE = 1.0
"""Tolerance in radians, or in units of an axis. Neighboring keys that differ by less than this keep their own
values."""


def as_shown(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values at the keys.

    If the motion passes through the keys, the channel values are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, rows = _densely_sampled(spline)
    return replace(spline, values=followed(track, quaternions, spline.values[0])[rows])


def maps_to_short_way(track: Track, spline: TrackSpline) -> Maps | None:
    """Return maps that make the angles continuous along the motion, shape (keys, components).

    Return None if the keys' angles are continuous. The signs of quaternions are chosen together with the handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SMALL_CHANGE).all():
        return None
    quaternions, key_rows = _densely_sampled(spline)
    return continuous(track, spline, followed(track, quaternions, spline.values[0]), key_rows)[1]


def _densely_sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    parts = _FEWEST_PARTS
    quaternions, rows = _in_parts(spline, parts)
    while parts < _MOST_PARTS and rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0) > FOLLOWED:
        parts *= 2
        quaternions, rows = _in_parts(spline, parts)
    return quaternions, rows


def _in_parts(spline: TrackSpline, parts: int) -> tuple[Float64Array, IndexArray]:
    """Return the orientations at the keys and at points between them, and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    fractions = np.arange(parts) / parts
    frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * fractions, keys[-1])
    return spline.spline(frames), np.arange(len(keys)) * parts


def continuous(
    track: Track, spline: TrackSpline, values: Float64Array, key_rows: IndexArray
) -> tuple[Float64Array, Maps | None]:
    """Return samples of a rotation as continuous channel values, and maps that make the values of its keys match them.

    `values` are the results of `followed`, and `key_rows` are the rows of the keys among the samples. The maps have the
    shape (keys, components). They are None if the keys match without them.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    if np.abs(spline.values - values[key_rows]).max() <= JUMP:
        return values, None
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    next_rows = np.minimum(key_rows + 1, len(values) - 1)
    next_key = 0
    while True:
        maps = _nearest(representation, spline.values, values[key_rows])
        for run in run_slices(spline.between)[1:]:
            for numbers in maps:
                numbers[run.start] = numbers[run.start - 1]
        shown = maps.applied(spline.values)
        differing_keys = np.flatnonzero(np.abs(shown - values[key_rows]).max(axis=1) > JUMP)
        differing_keys = differing_keys[differing_keys >= next_key]
        maps_of_samples = _nearest(representation, values[next_rows[differing_keys]], shown[differing_keys])
        changed = np.flatnonzero(maps_of_samples.changed.any(axis=1))
        if not len(changed):
            return values, maps if maps.changed.any() else None
        # The values of this key, such as an axis without rotation, continue in another way than the samples before it.
        key, row = int(differing_keys[changed[0]]), changed[0]
        next_key = key + 1
        samples_after = values[key_rows[key] + 1 :]
        samples_after[:] = samples_after * maps_of_samples.factors[row] + maps_of_samples.terms[row]


def _nearest(representation: RotationRepresentation, values: Float64Array, others: Float64Array) -> Maps:
    """Return maps that bring the values closest to the others, shape (n, components)."""
    return Maps(*(numbers.T.copy() for numbers in representation.map_to_nearest(values.T, others.T)))


def followed_together(unwrappings: Sequence[Unwrapping | None], samples: Sequence[Float64Array]) -> list[Float64Array]:
    """Convert the samples of rotations, several tracks at a time, to continuous channel values.

    Samples without an `Unwrapping` are returned unchanged.
    """
    results = list(samples)
    groups: dict[tuple[str, str, int], list[tuple[int, Unwrapping]]] = {}
    for number, (unwrapping, quaternions) in enumerate(zip(unwrappings, samples, strict=True)):
        if unwrapping is None:
            continue
        track, start, row = unwrapping
        if row:
            results[number] = followed(track, quaternions, start, row)
        else:
            groups.setdefault((track.kind, track.order, len(quaternions)), []).append((number, unwrapping))
    for (*_, length), group in groups.items():
        at_once = max(1, _SAMPLES_AT_ONCE // length)
        for first in range(0, len(group), at_once):
            numbers, members = zip(*group[first : first + at_once], strict=True)
            starts = np.array([unwrapping.start for unwrapping in members])
            values = _followed_onward(members[0].track, np.stack([samples[number] for number in numbers]), starts)
            for number, values_of_track in zip(numbers, values, strict=True):
                results[number] = values_of_track
    return results


def followed(track: Track, quaternions: Float64Array, start: Float64Array, row: int = 0) -> Float64Array:
    """Convert samples to continuous channel values, with the equivalent values closest to `start` in a row."""
    after = _followed_onward(track, quaternions[row:], start)
    if not row:
        return after
    return np.concatenate((_followed_onward(track, quaternions[row::-1], start)[:0:-1], after))


def _followed_onward(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    """Convert samples (…, m, 4) to continuous channel values, with the first sample's values closest to `start`."""
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        chain[np.einsum("...i,...i->...", chain[..., 0, :], start) < 0.0] *= -1.0
        return chain
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[..., 1:], start[..., 0])
    return np.concatenate((angles[..., np.newaxis], axes), axis=-1)


def other_turns(track: Track, frames: Float32Array) -> list[Finding]:
    """Return a note on keys where Euler angles jump. Jumps in signs and axes are not reported."""
    if track.kind != "EULER" or not len(frames):
        return []
    return [track.finding("EULER_OTHER_WAY", tuple(frames.tolist()))]
