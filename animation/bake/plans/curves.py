# SPDX-License-Identifier: GPL-3.0-or-later
"""The CURVES output: the fewest Bezier keys that reproduce the splines within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ....interp.fitting import Request
from ....interp.fitting.curves import Fit
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, rotation_representation
from ...errors import Finding, size_of
from ...fcurves.frames import is_among
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.tracks import Track
from .beyond_keys import goes_on, rests_at_ends
from .component_keys import ComponentKeys, alike, hermite, together
from .protocol import Baked, Plan, Results, Scope
from .sample_frames import APART, GUARD, Sampling
from .short_way import continuous_maps
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
        every: list[ComponentKeys] = []
        for spline in self.splines:
            fit = next(results.fits)
            notes += [] if fit.reached else [_missed(self.scope.track, fit, spline)]
            error = max(error, fit.error)
            maps = None
            if self.scope.track.is_rotation:
                maps = continuous_maps(self.scope.track, spline, fit.arriving, fit.jumps)
            every += self._keys(spline, fit if maps is None else _mapped(fit, spline, maps), maps)
        return Baked(together(self.scope, every), notes=notes, error=error)

    def _keys(self, spline: TrackSpline, fit: Fit, maps: Maps | None) -> list[ComponentKeys]:
        """Return the keys of a spline's components, grouped by common frames."""
        numbers = spline.values if maps is None else maps[0] * spline.values + maps[1]
        around = _Around.of(spline.frames, self.scope.sampling, self.scope.cycle)
        result = []
        for rows in self._together(fit, around):
            shown = replace(
                spline, components=[spline.components[row] for row in rows], values=numbers[:, rows], turns=None
            )
            representation = self.fits[0].representation
            pieces = _all_pieces(_pieces(fit, shown, rows), ~spline.between, around, representation)
            frames, values, incoming, outgoing = _keys(pieces, shown)
            for places, own in alike(self.scope, shown.components):
                at = np.searchsorted(spline.frames, own)
                of_own = None if maps is None else Maps(*(each[at][:, rows].T[places] for each in maps))
                components = [shown.components[place] for place in places]
                sides = values[places], incoming[places], outgoing[places]
                keys = ComponentKeys(components, own, spline, frames, *sides, of_own)
                if spline.is_broken:
                    keys = _with_own(keys, shown.values[at][:, places].T)
                elif self.goes_on and len(own):
                    result += [self._extrapolated(keys.of([place])) for place in range(len(places))]
                    continue
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

    def _together(self, fit: Fit, around: _Around) -> list[list[int]]:
        """Return the groups of components to key at common frames. A rotation has one group."""
        if self.scope.track.is_rotation:
            return [list(range(len(fit.knots)))]
        if around.any:
            # The motion may jump in only some components from one cycle to the next.
            return [[channel] for channel in range(len(fit.knots))]
        alike: dict[bytes, list[int]] = {}
        for channel, knots in enumerate(fit.knots):
            alike.setdefault(knots.frames.tobytes(), []).append(channel)
        return list(alike.values())


def _plan(scope: Scope, splines: Sequence[TrackSpline], tolerance: float) -> Curves:
    track = scope.track
    held = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    requests = []
    for spline in splines:
        is_around = _Around.of(spline.frames, scope.sampling, scope.cycle).any
        segments = None if is_around else ~spline.between
        others = scope.key_frames.astype(np.float64) if len(scope.key_frames) > len(spline.frames) else None
        requests.append(Request(spline.spline, held, spline.values, segments, tolerance, others))
    return Curves(scope, splines, requests, goes_on(scope, splines))


def _mapped(fit: Fit, spline: TrackSpline, maps: Maps) -> Fit:
    """Apply the maps to a rotation's fit to remove the jumps at keys."""
    factors, terms = maps
    arriving = np.concatenate((factors[:1], factors[:-1])), np.concatenate((terms[:1], terms[:-1]))
    knots = []
    for channel, each in enumerate(fit.knots):
        rows = np.searchsorted(spline.frames, each.frames, side="right") - 1
        factor, term = factors[rows, channel], terms[rows, channel]
        knots.append(replace(each, values=each.values * factor + term, derivatives=each.derivatives * factor))
    return replace(
        fit,
        knots=tuple(knots),
        outgoing=fit.outgoing * factors,
        incoming=fit.incoming * arriving[0],
        arriving=fit.arriving * arriving[0] + arriving[1],
        jumps=np.zeros_like(fit.jumps),
    )


def _with_own(keys: ComponentKeys, numbers: Float64Array) -> ComponentKeys:
    """Add the animator's keys that are missing from segments played by Blender.

    `numbers` contains the values of all the animator's keys, shape (components, k).
    """
    missing = ~is_among(keys.own, keys.frames)
    if not missing.any():
        return keys
    assert keys.incoming is not None
    assert keys.outgoing is not None
    frames = np.concatenate((keys.frames, keys.own[missing]))
    order = np.argsort(frames, kind="stable")
    none = np.zeros((len(keys.components), int(missing.sum())))
    values, incoming, outgoing = (
        np.concatenate((column, more), axis=1)[:, order]
        for column, more in ((keys.values, numbers[:, missing]), (keys.incoming, none), (keys.outgoing, none))
    )
    return replace(keys, frames=frames[order], values=values, incoming=incoming, outgoing=outgoing)


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


@record()
class _Pieces:
    """`m` cubic pieces of `c` channels, ordered by frame."""

    segment: IndexArray
    """Row of the spline's key before each piece, shape (m,)."""
    frames: Float64Array
    """Start and end frames of each piece, shape (2, m)."""
    values: Float64Array
    """Values at the start and end of each piece, shape (2, c, m)."""
    derivatives: Float64Array
    """Derivatives per frame at the start and end of each piece, shape (2, c, m)."""

    def take(self, rows: BoolArray) -> _Pieces:
        return _Pieces(**{each.name: getattr(self, each.name)[..., rows] for each in fields(self)})

    def cut(self, rows: IndexArray, frames: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Evaluate `n` pieces at one frame each. Return values and derivatives, shape (c, n)."""
        start, end = self.frames[:, rows]
        (a, b), (leave, arrive) = self.values[..., rows], self.derivatives[..., rows]
        return hermite((frames - start) / (end - start), end - start, (a, b), (leave, arrive))


def _joined(parts: list[_Pieces]) -> _Pieces:
    return _Pieces(
        **{each.name: np.concatenate([getattr(part, each.name) for part in parts], axis=-1) for each in fields(_Pieces)}
    )


def _pieces(fit: Fit, spline: TrackSpline, channels: list[int]) -> _Pieces:
    """Return the pieces of all segments of the spline. Segments that were not fitted get flat pieces."""
    keys = spline.frames.astype(np.float64)
    knots = fit.knots[channels[0]].frames
    starts = np.concatenate((keys[:-1], knots))
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    segment = np.searchsorted(keys, starts, side="right") - 1
    last = np.append(segment[1:] != segment[:-1], True)[: len(segment)]
    into = segment[last] + 1
    ends = np.concatenate((starts[1:], starts[:1]))
    ends[last] = keys[into]
    values, derivatives = (
        np.stack([getattr(fit.knots[channel], name) for channel in channels]) for name in ("values", "derivatives")
    )
    return _Pieces(
        segment,
        np.stack((starts, ends)),
        _starts_and_ends(
            np.concatenate((spline.values[:-1].T, values), axis=1)[:, order], last, fit.arriving[:, channels][into].T
        ),
        _starts_and_ends(
            np.concatenate((fit.outgoing[:, channels][:-1].T, derivatives), axis=1)[:, order],
            last,
            fit.incoming[:, channels][into].T,
        ),
    )


def _starts_and_ends(starts: Float64Array, last: BoolArray, arriving: Float64Array) -> Float64Array:
    """Return the values or derivatives at the starts and ends of all pieces, shape (2, c, m).

    A piece ends with the value at the start of the next piece. `last` marks the last piece before each key. Such a
    piece ends with the value in `arriving`.
    """
    ends = np.concatenate((starts[:, 1:], starts[:, :1]), axis=1)
    ends[:, last] = arriving
    return np.stack((starts, ends))


@record()
class _Around:
    """The range of a cycle outside the keys: the numbers of periods before and after, and the first and last frames."""

    before: int = 0
    after: int = 0
    low: float = 0.0
    high: float = 0.0

    @property
    def any(self) -> bool:
        return self.before > 0 or self.after > 0

    @classmethod
    def of(cls, keys: Float32Array, sampling: Sampling, cycle: str) -> _Around:
        if cycle == "SINGLE" or len(keys) < 2:
            return cls()
        first, last = float(keys[0]), float(keys[-1])
        low, high = sampling.low, sampling.high
        period = last - first
        before, after = max(0, math.ceil((first - low) / period)), max(0, math.ceil((high - last) / period))
        return cls(before, after, low, high)


def _all_pieces(pieces: _Pieces, baked: BoolArray, around: _Around, held: str | None) -> _Pieces:
    """Return the baked pieces and the pieces of the cycles outside the keys."""
    inside = pieces.take(baked[pieces.segment]) if len(pieces.segment) else pieces
    if not around.any or not len(pieces.segment):
        return inside
    after = _cycles(pieces, around.after, held, end=0)
    before = _cycles(pieces, around.before, held, end=1)
    every = _joined([before, inside, after])
    outside = (every.frames[1] <= pieces.frames[0, 0]) | (every.frames[0] >= pieces.frames[1, -1])
    return every.take(~outside | ((every.frames[1] > around.low) & (every.frames[0] < around.high)))


def _cycles(pieces: _Pieces, count: int, held: str | None, end: int) -> _Pieces:
    """Return `count` cycles that follow the pieces (`end` 0) or precede them (`end` 1).

    Short periods need many cycles, so all cycles are computed together.
    """
    size, turns = len(pieces.segment), np.arange(1.0, count + 1.0)
    period = pieces.frames[1, -1] - pieces.frames[0, 0]
    moves = turns[:, np.newaxis] * (period if end == 0 else -period)
    joins, leaves = (0, -1) if end == 0 else (-1, 0)
    own, last = pieces.values[end][:, joins], pieces.values[1 - end][:, leaves]
    factors, terms = _continuing(own, last, count, held)
    factors, terms = factors[..., np.newaxis], terms[..., np.newaxis]
    # Among the cycles before the pieces, the nearest one comes last.
    order = slice(None) if end == 0 else slice(None, None, -1)

    copies = _Pieces(
        np.tile(pieces.segment, count),
        *(
            each[..., order, :].reshape(*each.shape[:-2], count * size)
            for each in (
                (pieces.frames[:, np.newaxis] + moves).astype(np.float32).astype(np.float64),
                pieces.values[:, :, np.newaxis] * factors + terms,
                pieces.derivatives[:, :, np.newaxis] * factors,
            )
        ),
    )
    rows = np.arange(count) * size if end == 0 else np.arange(1, count + 1) * size - 1
    beside = copies.values[1 - end][:, rows - 1 if end == 0 else (rows + 1) % max(1, count * size)]
    if count:
        beside[:, joins] = last
    return _ramped(copies, rows, end, beside)


def _continuing(
    own: Float64Array, last: Float64Array, count: int, held: str | None
) -> tuple[Float64Array, Float64Array]:
    """Return the factors and terms, shape (c, count), of maps that make the values continuous between cycles.

    The maps preserve the orientation. A cycle has the values `own` at the end where it joins the previous cycle, and
    the values `last` at its other end.
    """
    factors, terms = np.ones((len(own), count)), np.zeros((len(own), count))
    if held is None:
        return factors, terms
    going = last
    for turn in range(min(count, _FOLLOWED)):
        factor, term = rotation_representation(held).map_to_nearest(own[:, np.newaxis], going[:, np.newaxis])
        factors[:, turn], terms[:, turn] = factor[:, 0], term[:, 0]
        going = factors[:, turn] * last + terms[:, turn]
    # Apart from whole turns, an orientation has two sets of values. From the second cycle on, the cycles therefore
    # repeat one set or alternate between the two sets.
    for first in range(_FOLLOWED - 2, min(count, _FOLLOWED)):
        more = np.arange(first, count, 2)
        factors[:, more] = factors[:, [first]]
        terms[:, more] = terms[:, [first]] + (terms[:, [first]] - terms[:, [first - 2]]) * ((more - first) // 2)
    return factors, terms


def _ramped(pieces: _Pieces, rows: IndexArray, end: int, numbers: Float64Array) -> _Pieces:
    """Insert short linear pieces wherever the start or end of a piece differs from the given values, shape (c, n).

    `end` is 0 for starts, 1 for ends. The linear pieces have the length GUARD and lead to the given values.
    """
    off = np.abs(pieces.values[end][:, rows] - numbers).max(axis=0, initial=0.0)
    jumps = off > JUMP * np.abs(numbers).max(axis=0, initial=1.0)
    rows, numbers = rows[jumps], numbers[:, jumps]
    frames, others = pieces.frames[end, rows], pieces.frames[1 - end, rows]
    way = np.clip((others - frames) / 2, -GUARD, GUARD)
    middles = (frames + way).astype(np.float32)
    # After frame 524288, float32 can't represent two frames that are GUARD apart.
    same = middles == frames
    middles[same] = np.nextafter(frames[same].astype(np.float32), others[same].astype(np.float32))
    middle = middles.astype(np.float64)
    values, derivatives = pieces.cut(rows, middle)
    lines = (values - numbers) / (middle - frames)
    cut = _Pieces(*(getattr(pieces, each.name).copy() for each in fields(_Pieces)))
    cut.frames[end, rows], cut.values[end][:, rows], cut.derivatives[end][:, rows] = middle, values, derivatives
    order = slice(None) if end == 0 else slice(None, None, -1)
    ramps = _Pieces(
        pieces.segment[rows],
        np.stack([frames, middle][order]),
        np.stack([numbers, values][order]),
        np.stack((lines, lines)),
    )
    return _Pieces(
        *(
            np.insert(getattr(cut, each.name), rows + end, getattr(ramps, each.name), axis=-1)
            for each in fields(_Pieces)
        )
    )


def _keys(pieces: _Pieces, spline: TrackSpline) -> tuple[Float32Array, Float64Array, Float64Array, Float64Array]:
    """Return the keys between pieces: frames (m,), and values and derivatives on each side, (components, m)."""
    count = len(pieces.segment)
    if not count:
        none = np.zeros((len(spline.components), len(spline.frames)))
        return spline.frames, spline.values.T.copy(), none, none
    meets = np.zeros(count, dtype=np.bool_)
    meets[1:] = pieces.frames[0, 1:] == pieces.frames[1, :-1]
    closes = np.append(~meets[1:], True)[:count]
    last = pieces.values[1][:, closes]
    # The keys of the spline keep their exact values.
    row = np.clip(np.searchsorted(spline.frames, pieces.frames[1, closes]), 0, len(spline.frames) - 1)
    own = spline.frames[row] == pieces.frames[1, closes]
    last[:, own] = spline.values[row[own]].T
    incoming = pieces.derivatives[0].copy()
    incoming[:, meets] = pieces.derivatives[1][:, np.flatnonzero(meets) - 1]
    ends = pieces.derivatives[1][:, closes]
    every = np.concatenate([pieces.frames[0], pieces.frames[1, closes]])
    order = np.argsort(every, kind="stable")
    numbers, before, after = (
        np.concatenate(each, axis=1)[:, order]
        for each in ((pieces.values[0], last), (incoming, ends), (pieces.derivatives[0], ends))
    )
    return every[order].astype(np.float32), numbers, before, after
