# SPDX-License-Identifier: GPL-3.0-or-later
"""The CURVES output: the fewest Bezier keys that reproduce the splines within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....interp.fitting import Request
from ....interp.fitting.curves import Fit
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, rotation_representation
from ...errors import Finding, size_of
from ...fcurves.keyframes import Float32Array, Float64Array
from ...records import record
from ...store.tracks import Track
from .component_keys import ComponentKeys, alike, goes_on, hermite, rests_at_ends, together
from .protocol import Baked, Plan, Results, Scope
from .sample_frames import APART, GUARD, Sampling
from .splines import TrackSpline

_FOLLOWED = 5
"""Number of rotation cycles to compute individually: the first cycle, and two for each of the two sets of values."""


def plan_curves(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plans for a track's splines, which must contain channel values at the keys."""
    return [_plan(scope, splines, scope.tolerance(splines))]


@record()
class Curves(Plan):
    """The plan that fits cubics to the splines of a track."""

    scope: Scope
    splines: Sequence[TrackSpline]
    fits: Sequence[Request]
    goes_on: bool
    """True if any component is extrapolated linearly outside its keys."""

    @property
    def requests(self) -> Sequence[Request]:
        """Return the fit requests for the splines."""
        return self.fits

    def compose(self, results: Results) -> Baked:
        """Compose the keys of the fitted curves."""
        notes: list[Finding] = []
        error = 0.0
        component_keys: list[ComponentKeys] = []
        for spline in self.splines:
            fit = next(results.fits)
            notes += [] if fit.reached else [_missed(self.scope.track, fit, spline)]
            error = max(error, fit.error)
            maps = _continuous_maps(fit, spline, self.fits[0].representation)
            component_keys += self._keys(spline, fit if maps is None else _mapped(fit, spline, maps), maps)
        return Baked(together(self.scope, component_keys), notes=notes, error=error)

    def _keys(self, spline: TrackSpline, fit: Fit, maps: Maps | None) -> list[ComponentKeys]:
        """Return the keys of a spline's components, grouped by common frames."""
        values = spline.values if maps is None else maps.factors * spline.values + maps.terms
        repeats = _repeats(self.scope, spline)
        result = []
        for rows in self._together(fit, repeats):
            curves = _fitted_curves(fit, spline, values, rows)
            if repeats:
                curves = _with_cycles(curves, self.scope.sampling, self.fits[0].representation)
            curves.incoming[:, 0], curves.outgoing[:, -1] = curves.outgoing[:, 0], curves.incoming[:, -1]
            result += self._component_keys(spline, curves, rows, maps)
        return result

    def _component_keys(
        self, spline: TrackSpline, curves: _BezierKeys, rows: list[int], maps: Maps | None
    ) -> list[ComponentKeys]:
        """Return the curves as keys of the spline's components in `rows`, grouped by the animator's keys."""
        result = []
        for places, own_frames in alike(self.scope, [spline.components[row] for row in rows]):
            own_keys = np.searchsorted(spline.frames, own_frames)
            own_maps = None if maps is None else Maps(*(numbers[own_keys][:, rows].T[places] for numbers in maps))
            components = [spline.components[rows[place]] for place in places]
            values, incoming, outgoing = curves.values[places], curves.incoming[places], curves.outgoing[places]
            keys = ComponentKeys(components, own_frames, spline, curves.frames, values, incoming, outgoing, own_maps)
            if spline.is_broken:
                result.append(keys.take(keys.may_have(keys.frames)))
            elif self.goes_on and len(own_frames):
                result += [self._extrapolated(keys.of([place])) for place in range(len(places))]
            else:
                result.append(keys)
        return result

    def _extrapolated(self, keys: ComponentKeys) -> ComponentKeys:
        """Add keys at the ends of the sampled range to each component with linear extrapolation."""
        (component,) = keys.components
        if self.scope.track.extrapolation(component) != "LINEAR" or len(keys.frames) < 2:
            return keys
        low, high = self.scope.sampling.low, self.scope.sampling.high
        rests = rests_at_ends(keys.spline)
        assert keys.incoming is not None
        assert keys.outgoing is not None
        before, after = float(keys.frames[0]) - low, high - float(keys.frames[-1])
        for length, row, slope, rest in (
            (before, 0, float(keys.outgoing[0, 0]), rests[0]),
            (after, -1, float(keys.incoming[0, -1]), rests[1]),
        ):
            if length > APART:
                keys = _with_line(keys, row, -length if row == 0 else length, 0.0 if rest else slope)
        return keys

    def _together(self, fit: Fit, repeats: bool) -> list[list[int]]:
        """Return the groups of components to key at common frames. A rotation has one group."""
        if self.scope.track.is_rotation:
            return [list(range(len(fit.knots)))]
        if repeats:
            # The motion may jump in only some components from one cycle to the next.
            return [[channel] for channel in range(len(fit.knots))]
        channels_by_frames: dict[bytes, list[int]] = {}
        for channel, knots in enumerate(fit.knots):
            channels_by_frames.setdefault(knots.frames.tobytes(), []).append(channel)
        return list(channels_by_frames.values())


def _plan(scope: Scope, splines: Sequence[TrackSpline], tolerance: float) -> Curves:
    track = scope.track
    representation = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    requests = []
    for spline in splines:
        other_keys = scope.key_frames.astype(np.float64) if len(scope.key_frames) > len(spline.frames) else None
        requests.append(Request(spline.spline, representation, spline.values, ~spline.between, tolerance, other_keys))
    return Curves(scope, splines, requests, goes_on(scope, splines))


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
        chain = maps.factors[key] * fit.arriving[key] + maps.terms[key]
        factor, term = representation.map_to_nearest(spline.values[key][:, np.newaxis], chain[:, np.newaxis])
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


def _with_line(keys: ComponentKeys, row: int, length: float, slope: float) -> ComponentKeys:
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
        np.insert(column, at, more, axis=1)
        for column, more in ((keys.values, value), (incoming, slope), (outgoing, slope))
    )
    return replace(keys, frames=np.insert(keys.frames, at, frame), values=values, incoming=incoming, outgoing=outgoing)


def _missed(track: Track, fit: Fit, spline: TrackSpline) -> Finding:
    """Return a note on the segment with the largest error."""
    key = int(np.argmax(fit.misses.max(axis=1)))
    error = float(fit.errors[key].max())
    return track.finding("CURVES_MISS", size_of(error, track.is_rotation), float(spline.frames[key]))


class _BezierKeys(NamedTuple):
    """`m` Bezier keys in `c` channels, at common frames."""

    frames: Float32Array
    values: Float64Array
    """Values, shape (c, m)."""
    incoming: Float64Array
    """Derivatives per frame before each key, shape (c, m)."""
    outgoing: Float64Array

    def take(self, columns: slice) -> _BezierKeys:
        """Return some of the keys."""
        sides = self.incoming[:, columns], self.outgoing[:, columns]
        return _BezierKeys(self.frames[columns], self.values[:, columns], *sides)

    def followed_by(self, other: _BezierKeys) -> _BezierKeys:
        """Return these keys and later keys of the same channels."""
        return _BezierKeys(
            np.concatenate((self.frames, other.frames)),
            np.concatenate((self.values, other.values), axis=1),
            np.concatenate((self.incoming, other.incoming), axis=1),
            np.concatenate((self.outgoing, other.outgoing), axis=1),
        )

    def reversed(self) -> _BezierKeys:
        """Return the keys with time reversed."""
        keys = self.take(slice(None, None, -1))
        # Unlike a negation, the subtraction never returns a negative zero.
        return _BezierKeys(np.float32(0.0) - keys.frames, keys.values, -keys.outgoing, -keys.incoming)


def _fitted_curves(fit: Fit, spline: TrackSpline, numbers: Float64Array, rows: list[int]) -> _BezierKeys:
    """Return the keys of the channels in `rows`: the spline's keys with the values in `numbers`, and the knots."""
    knots = [fit.knots[row] for row in rows]
    values, derivatives = (np.stack([getattr(each, name) for each in knots]) for name in ("values", "derivatives"))
    frames = np.concatenate((spline.frames, knots[0].frames.astype(np.float32)))
    order = np.argsort(frames, kind="stable")
    sides = (
        np.concatenate((at_keys[:, rows].T, at_knots), axis=1)[:, order]
        for at_keys, at_knots in ((numbers, values), (fit.incoming, derivatives), (fit.outgoing, derivatives))
    )
    return _BezierKeys(frames[order], *sides)


def _repeats(scope: Scope, spline: TrackSpline) -> bool:
    """Return whether the bake repeats a spline outside its keys."""
    if scope.cycle == "SINGLE" or len(spline.frames) < 2:
        return False
    return bool(scope.sampling.low < spline.frames[0] or scope.sampling.high > spline.frames[-1])


def _with_cycles(keys: _BezierKeys, sampling: Sampling, representation_name: str | None) -> _BezierKeys:
    """Return the keys, and their copies in the cycles outside the keys that overlap the sampled range."""
    first, last = float(keys.frames[0]), float(keys.frames[-1])
    before, after = (math.ceil(length / (last - first)) for length in (first - sampling.low, sampling.high - last))
    earlier = _repeated(keys.reversed(), before, representation_name).reversed()
    later = _repeated(keys, after, representation_name)
    # Both include the keys themselves.
    cycles = earlier.take(slice(len(earlier.frames) - len(keys.frames) + 1)).followed_by(later.take(slice(1, None)))
    start = max(0, int(np.searchsorted(cycles.frames, sampling.low, side="right")) - 1)
    return cycles.take(slice(start, int(np.searchsorted(cycles.frames, sampling.high)) + 1))


def _repeated(keys: _BezierKeys, count: int, representation_name: str | None) -> _BezierKeys:
    """Return the keys, followed by `count` copies.

    Where a copy starts with another value than the previous copy ended with, its first key moves by GUARD. Short
    periods need many copies, so all copies are computed together.
    """
    period = float(keys.frames[-1]) - float(keys.frames[0])
    factors, terms = _continuing(keys.values[:, 0], keys.values[:, -1], count, representation_name)
    offsets = np.arange(count + 1.0)[:, np.newaxis] * period
    frames = (keys.frames.astype(np.float64) + offsets).astype(np.float32)
    values = keys.values[:, np.newaxis] * factors + terms
    incoming, outgoing = (slopes[:, np.newaxis] * factors for slopes in (keys.incoming, keys.outgoing))
    starts, nexts = frames[1:, :2].astype(np.float64).T
    moved = (starts + np.minimum((nexts - starts) / 2, GUARD)).astype(np.float32)
    # After frame 524288, float32 can't represent two frames that are GUARD apart.
    moved = np.where(moved == frames[1:, 0], np.nextafter(frames[1:, 0], frames[1:, 1]), moved)
    length = nexts - starts
    value, slope = hermite(
        (moved - starts) / length,
        length,
        (values[:, 1:, 0], values[:, 1:, 1]),
        (outgoing[:, 1:, 0], incoming[:, 1:, 1]),
    )
    end_values = values[:, :-1, -1]
    change = np.abs(values[:, 1:, 0] - end_values).max(axis=0)
    is_jump = change > JUMP * np.abs(end_values).max(axis=0, initial=1.0)
    slope_of_jump = (value - end_values) / (moved - starts)
    outgoing[:, :-1, -1] = np.where(is_jump, slope_of_jump, outgoing[:, 1:, 0])
    frames[1:, 0], values[:, 1:, 0], incoming[:, 1:, 0], outgoing[:, 1:, 0] = moved, value, slope_of_jump, slope
    # Without a jump, the last key of the previous copy is also the first key of the next copy.
    is_needed = np.ones(frames.shape, dtype=np.bool_)
    is_needed[1:, 0] = is_jump
    return _BezierKeys(frames[is_needed], *(numbers[:, is_needed] for numbers in (values, incoming, outgoing)))


def _continuing(
    first: Float64Array, last: Float64Array, count: int, representation_name: str | None
) -> tuple[Float64Array, Float64Array]:
    """Return the factors and terms, shape (c, count + 1, 1), of maps that make cycles continuous, with no change first.

    The maps preserve the orientation. A cycle goes from the values `first` to the values `last`.
    """
    factors, terms = np.ones((len(first), count + 1, 1)), np.zeros((len(first), count + 1, 1))
    if representation_name is None:
        return factors, terms
    representation = rotation_representation(representation_name)
    for turn in range(1, min(count, _FOLLOWED) + 1):
        previous_end = (factors[:, turn - 1, 0] * last + terms[:, turn - 1, 0])[:, np.newaxis]
        factors[:, turn], terms[:, turn] = representation.map_to_nearest(first[:, np.newaxis], previous_end)
    # Apart from whole turns, an orientation has two sets of values. From the second cycle on, the cycles therefore
    # repeat one set or alternate between the two sets.
    for turn in range(_FOLLOWED - 1, min(count, _FOLLOWED) + 1):
        later_turns = np.arange(turn, count + 1, 2)
        factors[:, later_turns] = factors[:, [turn]]
        gain = terms[:, [turn]] - terms[:, [turn - 2]]
        terms[:, later_turns] = terms[:, [turn]] + gain * ((later_turns - turn) // 2)[:, np.newaxis]
    return factors, terms
