# SPDX-License-Identifier: GPL-3.0-or-later
"""The CURVES output: the fewest Bezier keys that reproduce the splines within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....interp.cubics import hermite
from ....interp.fitting import Request
from ....interp.fitting.curves import Fit
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, rotation_representation
from ...fcurves.keyframes import Float32Array, Float64Array
from ...records import record
from ...report import Finding, size_of
from ...store.tracks import Track
from .channel_values import by_own_frames, extrapolates, rests_at_ends, united_channel_keys
from .plan import ChannelKeys, ComposedKeys, Plan, Results, Scope
from .sample_frames import APART, GUARD, Sampling
from .track_splines import TrackSpline

_CYCLES_COMPUTED = 5
"""Number of rotation cycles to compute individually: the first cycle, and two for each of the two sets of values."""


class BezierKeys(NamedTuple):
    """`m` Bezier keys in `c` channels, at common frames."""

    frames: Float32Array
    values: Float64Array
    """Values, shape (c, m)."""
    incoming: Float64Array
    """Derivatives per frame before each key, shape (c, m)."""
    outgoing: Float64Array

    def take(self, columns: slice) -> BezierKeys:
        """Return some of the keys."""
        sides = self.incoming[:, columns], self.outgoing[:, columns]
        return BezierKeys(self.frames[columns], self.values[:, columns], *sides)

    def followed_by(self, other: BezierKeys) -> BezierKeys:
        """Return these keys and later keys of the same channels."""
        return BezierKeys(
            np.concatenate((self.frames, other.frames)),
            np.concatenate((self.values, other.values), axis=1),
            np.concatenate((self.incoming, other.incoming), axis=1),
            np.concatenate((self.outgoing, other.outgoing), axis=1),
        )

    def reversed(self) -> BezierKeys:
        """Return the keys with time reversed."""
        keys = self.take(slice(None, None, -1))
        # Unlike a negation, the subtraction never returns a negative zero.
        return BezierKeys(np.float32(0.0) - keys.frames, keys.values, -keys.outgoing, -keys.incoming)


def with_cycles(keys: BezierKeys, sampling: Sampling, representation_name: str | None) -> BezierKeys:
    """Return the keys, and their copies in the cycles outside the keys that overlap the sampled range.

    For a rotation, `representation_name` is the representation of the channel values. For values, it is None.
    """
    first, last = float(keys.frames[0]), float(keys.frames[-1])
    before, after = (math.ceil(length / (last - first)) for length in (first - sampling.low, sampling.high - last))
    earlier = _repeated(keys.reversed(), before, representation_name).reversed()
    later = _repeated(keys, after, representation_name)
    # Both include the keys themselves.
    cycles = earlier.take(slice(len(earlier.frames) - len(keys.frames) + 1)).followed_by(later.take(slice(1, None)))
    start = max(0, int(np.searchsorted(cycles.frames, sampling.low, side="right")) - 1)
    return cycles.take(slice(start, int(np.searchsorted(cycles.frames, sampling.high)) + 1))


def _repeated(keys: BezierKeys, count: int, representation_name: str | None) -> BezierKeys:
    """Return the keys, followed by `count` copies, one per cycle.

    Short periods need many copies, so all copies are computed together: arrays have the shapes (c, count + 1, m) for
    values, and (count + 1, m) for frames.
    """
    period = float(keys.frames[-1]) - float(keys.frames[0])
    factors, terms = _maps_of_cycles(keys.values[:, 0], keys.values[:, -1], count, representation_name)
    offsets = np.arange(count + 1.0)[:, np.newaxis] * period
    frames = (keys.frames.astype(np.float64) + offsets).astype(np.float32)
    values = keys.values[:, np.newaxis] * factors + terms
    incoming, outgoing = (slopes[:, np.newaxis] * factors for slopes in (keys.incoming, keys.outgoing))
    end_values = values[:, :-1, -1]
    change = np.abs(values[:, 1:, 0] - end_values).max(axis=0)
    # A jump is in units of the values up to 1, and relative to larger values, because float32 rounds them more.
    is_jump = change > JUMP * np.abs(end_values).max(axis=0, initial=1.0)
    moved, value, slope = _after_starts(frames, values, incoming, outgoing)
    slope_of_jump = (value - end_values) / (moved - frames[1:, 0].astype(np.float64))
    outgoing[:, :-1, -1] = np.where(is_jump, slope_of_jump, outgoing[:, 1:, 0])
    frames[1:, 0], values[:, 1:, 0], incoming[:, 1:, 0], outgoing[:, 1:, 0] = moved, value, slope_of_jump, slope
    # Without a jump, the last key of the previous copy is also the first key of the next copy.
    is_needed = np.ones(frames.shape, dtype=np.bool_)
    is_needed[1:, 0] = is_jump
    return BezierKeys(frames[is_needed], *(numbers[:, is_needed] for numbers in (values, incoming, outgoing)))


def _after_starts(
    frames: Float32Array, values: Float64Array, incoming: Float64Array, outgoing: Float64Array
) -> tuple[Float32Array, Float64Array, Float64Array]:
    """Return the frames, values and slopes of the copies GUARD after they start.

    A copy that starts with a jump has its first key there, because the previous copy ends with a key at its start.
    """
    starts, nexts = frames[1:, :2].astype(np.float64).T
    moved = (starts + np.minimum((nexts - starts) / 2, GUARD)).astype(np.float32)
    # After frame 524288, float32 can't represent two frames that are GUARD apart.
    moved = np.where(moved == frames[1:, 0], np.nextafter(frames[1:, 0], frames[1:, 1]), moved)
    length = nexts - starts
    tangents = outgoing[:, 1:, 0] * length, incoming[:, 1:, 1] * length
    value, tangent = hermite((moved - starts) / length, values[:, 1:, 0], values[:, 1:, 1], *tangents)
    return moved, value, tangent / length


def _maps_of_cycles(
    first: Float64Array, last: Float64Array, count: int, representation_name: str | None
) -> tuple[Float64Array, Float64Array]:
    """Return the factors and terms, shape (c, count + 1, 1), of maps that make cycles continuous.

    The maps preserve the orientation, and do not change the first cycle. A cycle goes from the values `first` to the
    values `last`.
    """
    factors, terms = np.ones((len(first), count + 1, 1)), np.zeros((len(first), count + 1, 1))
    if representation_name is None:
        return factors, terms
    representation = rotation_representation(representation_name)
    computed = min(count, _CYCLES_COMPUTED)
    for cycle in range(1, computed + 1):
        previous_end = (factors[:, cycle - 1, 0] * last + terms[:, cycle - 1, 0])[:, np.newaxis]
        factors[:, cycle], terms[:, cycle] = representation.map_to_nearest(first[:, np.newaxis], previous_end)
    # Apart from whole turns, an orientation has two sets of values. From the second cycle on, the cycles therefore
    # repeat one set or alternate between the two sets.
    for cycle in range(_CYCLES_COMPUTED - 1, computed + 1):
        later_cycles = np.arange(cycle, count + 1, 2)
        factors[:, later_cycles] = factors[:, [cycle]]
        gain = terms[:, [cycle]] - terms[:, [cycle - 2]]
        terms[:, later_cycles] = terms[:, [cycle]] + gain * ((later_cycles - cycle) // 2)[:, np.newaxis]
    return factors, terms


# The plan


def plan_curves(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plan for a track's splines, which must contain channel values at the keys."""
    track, tolerance = scope.track, scope.tolerance(splines)
    representation = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    requests = [
        Request(spline.spline, representation, spline.values, ~spline.begins_segment, tolerance) for spline in splines
    ]
    return [CurvePlan(scope, splines, representation, requests, extrapolates(scope, splines))]


@record()
class CurvePlan(Plan):
    """The plan that fits cubics to the splines of a track."""

    scope: Scope
    splines: Sequence[TrackSpline]
    representation: str | None
    """The representation of a rotation, as in `Request`, or None for values."""
    requests: Sequence[Request]
    is_extrapolated: bool
    """True if any component is extrapolated linearly outside its keys."""

    @property
    def curve_requests(self) -> Sequence[Request]:
        """Return the fit requests for the splines."""
        return self.requests

    def compose(self, results: Results) -> ComposedKeys:
        """Compose the keys of the fitted curves."""
        notes: list[Finding] = []
        error = 0.0
        keys_of_components: list[ChannelKeys] = []
        for spline in self.splines:
            fit = next(results.curve_fits)
            notes += [] if fit.reached else [_note_on_miss(self.scope.track, fit, spline)]
            error = max(error, fit.error)
            keys_of_components += self._keys(spline, fit)
        return ComposedKeys(united_channel_keys(self.scope, keys_of_components), notes=notes, error=error)

    def _keys(self, spline: TrackSpline, fit: Fit) -> list[ChannelKeys]:
        """Return the keys of a spline's components, grouped by common frames."""
        values = spline.values
        maps = _continuous_maps(fit, spline, self.representation)
        if maps is not None:
            fit, values = _mapped(fit, spline, maps), maps.factors * values + maps.terms
        repeats = self._repeats(spline)
        result = []
        for rows in self._groups(fit, repeats):
            curves = _fitted_curves(fit, spline, values, rows)
            if repeats:
                curves = with_cycles(curves, self.scope.sampling, self.representation)
            curves.incoming[:, 0], curves.outgoing[:, -1] = curves.outgoing[:, 0], curves.incoming[:, -1]
            result += self._component_keys(spline, curves, rows, maps)
        return result

    def _repeats(self, spline: TrackSpline) -> bool:
        """Return whether the bake repeats a spline outside its keys."""
        if self.scope.cycle == "SINGLE" or len(spline.frames) < 2:
            return False
        sampling = self.scope.sampling
        return bool(sampling.low < spline.frames[0] or sampling.high > spline.frames[-1])

    def _groups(self, fit: Fit, repeats: bool) -> list[list[int]]:
        """Return the groups of components to key at common frames. A rotation has one group."""
        if self.scope.track.is_rotation:
            return [list(range(len(fit.knots)))]
        if repeats:
            # The motion may jump in only some components from one cycle to the next.
            return [[row] for row in range(len(fit.knots))]
        rows_by_frames: dict[bytes, list[int]] = {}
        for row, knots in enumerate(fit.knots):
            rows_by_frames.setdefault(knots.frames.tobytes(), []).append(row)
        return list(rows_by_frames.values())

    def _component_keys(
        self, spline: TrackSpline, curves: BezierKeys, rows: list[int], maps: Maps | None
    ) -> list[ChannelKeys]:
        """Return the curves as keys of the spline's components in `rows`, grouped by the animator's keys."""
        components = [spline.components[row] for row in rows]
        result = []
        for group, own_frames in by_own_frames(self.scope, components, spline.frames):
            own_rows = np.searchsorted(spline.frames, own_frames)
            own_maps = None if maps is None else Maps(*(numbers[own_rows][:, rows].T[group] for numbers in maps))
            keys = ChannelKeys(
                [components[place] for place in group],
                own_frames,
                curves.frames,
                curves.values[group],
                curves.incoming[group],
                curves.outgoing[group],
                own_maps,
                spline,
            )
            if spline.is_interrupted:
                result.append(keys.take(keys.may_have(keys.frames)))
            elif self.is_extrapolated and len(own_frames):
                result += [self._extrapolated(keys.of([row]), spline) for row in range(len(group))]
            else:
                result.append(keys)
        return result

    def _extrapolated(self, keys: ChannelKeys, spline: TrackSpline) -> ChannelKeys:
        """Add keys at the ends of the sampled range to a component with linear extrapolation."""
        (component,) = keys.components
        if self.scope.track.extrapolation(component) != "LINEAR" or len(keys.frames) < 2:
            return keys
        low, high = self.scope.sampling.low, self.scope.sampling.high
        rests_at_first, rests_at_last = rests_at_ends(spline)
        assert keys.incoming is not None
        assert keys.outgoing is not None
        before, after = float(keys.frames[0]) - low, high - float(keys.frames[-1])
        first_slope, last_slope = float(keys.outgoing[0, 0]), float(keys.incoming[0, -1])
        if before > APART:
            keys = _with_line(keys, 0, -before, 0.0 if rests_at_first else first_slope)
        if after > APART:
            keys = _with_line(keys, -1, after, 0.0 if rests_at_last else last_slope)
        return keys


def _continuous_maps(fit: Fit, spline: TrackSpline, representation_name: str | None) -> Maps | None:
    """Return maps, shape (keys, components), that make the channel values continuous, or None if there are no jumps.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    jumps = np.flatnonzero(fit.jumps)
    if representation_name is None or not len(jumps):
        return None
    representation = rotation_representation(representation_name)
    maps = Maps(np.ones_like(spline.values), np.zeros_like(spline.values))
    for key in jumps:
        arriving = maps.factors[key] * fit.arriving[key] + maps.terms[key]
        factor, term = representation.map_to_nearest(spline.values[key][:, np.newaxis], arriving[:, np.newaxis])
        maps.factors[key:], maps.terms[key:] = factor[:, 0], term[:, 0]
    return maps


def _mapped(fit: Fit, spline: TrackSpline, maps: Maps) -> Fit:
    """Apply the maps to a rotation's fit to remove the jumps at keys."""
    factors, terms = maps
    factors_before = np.concatenate((factors[:1], factors[:-1]))
    terms_before = np.concatenate((terms[:1], terms[:-1]))
    mapped_knots = []
    for channel, knots in enumerate(fit.knots):
        rows = np.searchsorted(spline.frames, knots.frames, side="right") - 1
        factor, term = factors[rows, channel], terms[rows, channel]
        mapped_knots.append(replace(knots, values=knots.values * factor + term, derivatives=knots.derivatives * factor))
    return replace(
        fit,
        knots=tuple(mapped_knots),
        outgoing=fit.outgoing * factors,
        incoming=fit.incoming * factors_before,
        arriving=fit.arriving * factors_before + terms_before,
        jumps=np.zeros_like(fit.jumps),
    )


def _fitted_curves(fit: Fit, spline: TrackSpline, values: Float64Array, rows: list[int]) -> BezierKeys:
    """Return the keys of the components in `rows`: the knots, and the spline's keys with `values` (n, components)."""
    knots = [fit.knots[row] for row in rows]
    knot_values = np.stack([each.values for each in knots])
    knot_slopes = np.stack([each.derivatives for each in knots])
    frames = np.concatenate((spline.frames, knots[0].frames.astype(np.float32)))
    order = np.argsort(frames, kind="stable")
    values_and_slopes = (
        np.concatenate((at_keys[:, rows].T, at_knots), axis=1)[:, order]
        for at_keys, at_knots in ((values, knot_values), (fit.incoming, knot_slopes), (fit.outgoing, knot_slopes))
    )
    return BezierKeys(frames[order], *values_and_slopes)


def _with_line(keys: ChannelKeys, row: int, length: float, slope: float) -> ChannelKeys:
    """Add a key to a component, on a straight line before the first key (`row` 0) or after the last key (`row` -1).

    `length` is in frames, negative before the first key. `slope` is per frame.
    """
    assert keys.incoming is not None
    assert keys.outgoing is not None
    incoming, outgoing = keys.incoming.copy(), keys.outgoing.copy()
    (incoming if row == 0 else outgoing)[:, row] = slope
    frame = np.float32(float(keys.frames[row]) + length)
    value = keys.values[0, row] + slope * (float(frame) - float(keys.frames[row]))
    at = 0 if row == 0 else len(keys.frames)
    values, incoming, outgoing = (
        np.insert(column, at, inserted, axis=1)
        for column, inserted in ((keys.values, value), (incoming, slope), (outgoing, slope))
    )
    return replace(keys, frames=np.insert(keys.frames, at, frame), values=values, incoming=incoming, outgoing=outgoing)


def _note_on_miss(track: Track, fit: Fit, spline: TrackSpline) -> Finding:
    """Return a note on the segment with the largest error."""
    key = int(np.argmax(fit.misses.max(axis=1)))
    error = float(fit.errors[key].max())
    return track.finding("CURVES_MISS", size_of(error, track.is_rotation), float(spline.frames[key]))
