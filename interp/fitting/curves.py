# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest Bezier keys that play a spline within a tolerance, for many splines at once.

Between two keys a channel plays a cubic in time if its handles stand at a third of the way, and with the exact values
and derivatives at both keys that cubic is Hermite's. A vector segment without ease is such a cubic already. The others,
eased segments and rotations, are divided by knots; each piece is proved on the spline itself, with handles rounded as
Blender stores them. Of quaternions, whose length means nothing, knots may get another length where that saves one.
Source: docs/formulas.md, "Fitting curves".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from .. import ease
from ..batch import BLOCK, BoolArray, IndexArray, Spline, Timing
from ..keys import FloatArray
from ..rotations import sphere
from ..rotations.representations import Holding
from . import subdivision
from .channel_splines import batch, in_batches, parabola

VALUE_TOLERANCE = 1e-4
"""Of a track's range: nobody sees it."""
ROTATION_TOLERANCE = float(np.radians(0.01))
"""Radians: nobody sees it."""

# Frames. Blender takes keys nearer than 0.01 frame as one, and float32 frames have to tell the thirds of a piece apart.
_LEAST_FRAMES = 0.0125
_LEAST_STEPS = 12
# Frames. Nearer to a key nobody can pick the two apart: knots stand there only where the tolerance needs them.
_APART = 0.5
# Frames. How much farther from a key still knots are tried that stand for the end of an ease.
_FARTHER = np.arange(0.0, 1.5, 1.0 / 64.0)
# What float32 makes of a number, relative, a few times over: in keys and handles, and while Blender plays them.
_ROUNDING = 4.0 * 2.0**-24
# Relative: sums of float64.
_SUM = 1e-12
# Radians, or the same part of an axis: numbers farther off than this at a key are others than the key's.
_ARRIVES = 1e-3
# Of that rounding: nothing nearer is tried to reach.
_LEAST_GOAL = 2.0
_MOST_LEVELS = 40
# Radians. By how much the numbers of a rotation may change in a span and still be followed by what is nearest.
_FAST = 1.0
_MOST_EVENINGS = 3
_MOST_STRETCHES = 3
# Even shares of errors that ask for so many more pieces than there are can still turn out to do.
_HOPED = 0.1
# At most so much may the knots' lengths and their rates do to a piece, as `_lengths` has it: no knot is then longer or
# shorter by more than half of it.
_MOST_ASKED = 1.0 / 32.0
# A parabola through the places that are looked at can miss the top by so much.
_MARGIN = 1.01
# And so much more where the acceleration jumps within a piece: the polynomial through the places doesn't.
_BROKEN = 1.08
# Nearer to an end than this part of a piece a jump of the acceleration is one at its end.
_AT_END = 1e-3
# Two neighbours are tried as one where the fourth power of their lengths lets expect at most this part of what may be.
_HOPEFUL = 4.0


@dataclass(frozen=True)
class Request:
    """A spline to be fitted.

    Attributes
    ----------
    spline : Spline
        A track of numbers, or of rotations: unit quaternions, whose derivative is the angular velocity in the parent's
        frame.
    tolerance : float or array_like, shape (d,)
        The largest difference of a value, for all channels or one each; of a rotation, the angle in radians.
    held : str or None
        How channels hold a rotation: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order such
        as "XYZ". None for a track of numbers.
    numbers : array_like, shape (n, channels), or None
        A rotation's keys as the channels hold them: signs, whole turns and lengths go on from these. None: the
        spline's own quaternions.
    segments : array_like of bool, shape (n,), or None
        Which of the segments that begin at each key to fit; the last counts for nothing. None: all.
    stretched : bool
        Whether knots of quaternions may be a little longer or shorter where that saves one. For players that take the
        channels as they are and normalise what comes of them, as Blender does, not each key.
    others : array_like of float, or None
        Frames of further keys of the same track: knots keep half a frame away from them as from the spline's own.
    """

    spline: Spline
    tolerance: float | npt.ArrayLike
    held: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    stretched: bool = True
    others: npt.ArrayLike | None = None


@dataclass(frozen=True)
class Knots:
    """The m keys that one channel needs between the spline's own.

    Attributes
    ----------
    frames : ndarray, shape (m,)
        Ascending, each a float32 number.
    values, derivatives : ndarray, shape (m,)
        The channel's value there and its derivative a frame, the same on both sides. A quaternion may be up to 1.6 %
        longer or shorter than a line from key to key has it; its derivative has what the length changes by.
    """

    frames: FloatArray
    values: FloatArray
    derivatives: FloatArray


@dataclass(frozen=True)
class Fit:
    """What one spline's channels need.

    Attributes
    ----------
    knots : tuple of Knots, one a channel
        A rotation's channels share their frames.
    outgoing, incoming : ndarray, shape (n, channels)
        Derivatives a frame on both sides of the spline's keys; 0 where there is no fitted segment.
    arriving : ndarray, shape (n, channels)
        What the channels come to each key with: its own numbers, but where `jumps`.
    jumps : ndarray of bool, shape (n,)
        A rotation's channels come to the key with other numbers than its own, which mean the same: another sign, or
        another way to say an orientation.
    errors : ndarray, shape (n, channels)
        The largest difference from the spline in the segment that begins at each key: a value's, or for all channels
        of a rotation the angle in radians.
    tolerance : ndarray, shape (channels,)
        What was asked for.
    rounding : ndarray, shape (n, channels)
        How near float32 can come in each segment at all: nothing below it is a miss.
    """

    knots: tuple[Knots, ...]
    outgoing: FloatArray
    incoming: FloatArray
    arriving: FloatArray
    jumps: BoolArray
    errors: FloatArray
    tolerance: FloatArray
    rounding: FloatArray

    @property
    def error(self) -> float:
        """The largest of all errors."""
        return float(self.errors.max(initial=0.0))

    @property
    def reached(self) -> bool:
        """Every channel is as near as was asked for, or as float32 can be."""
        return bool((self.misses <= 1.0).all())

    @property
    def misses(self) -> FloatArray:
        """The errors as parts of what they may be, shape as `errors`."""
        # A sum of what a piece may leave and of rounding can be off by its own.
        misses: FloatArray = self.errors / (np.maximum(self.tolerance, self.rounding) * (1.0 + _SUM))
        return misses


def handles(
    frames: npt.ArrayLike, values: npt.ArrayLike, incoming: npt.ArrayLike, outgoing: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the handles that make Blender play the cubics between keys.

    Parameters
    ----------
    frames : array_like, shape (k,)
        Frames of the keys.
    values : array_like, shape (k,) or (channels, k)
        Their values, of one channel or of several.
    incoming, outgoing : array_like, shape as `values`
        Derivatives a frame on both sides of each key.

    Returns
    -------
    left, right : ndarray of float32, shape (k, 2) or (channels, k, 2)
        Frame and value. The first left and the last right handle are as long as their neighbours.

    Notes
    -----
    Handles stand at a third of the way, rounded to float32, and their values belong to the rounded frames: so what a
    rounded frame does to the value is only the change of the derivative in that time, not the whole derivative.
    """
    f = np.asarray(frames, dtype=np.float64)
    v = np.asarray(values, dtype=np.float64)
    third = np.diff(f) / 3.0
    third = np.concatenate((third[:1], third, third[-1:])) if len(third) else np.ones(2)
    result = []
    for places, rates in ((f - third[:-1], incoming), (f + third[1:], outgoing)):
        handle = np.empty((*v.shape, 2), dtype=np.float32)
        handle[..., 0] = places
        handle[..., 1] = v + np.asarray(rates, dtype=np.float64) * (places.astype(np.float32) - f)
        result.append(handle)
    return result[0], result[1]


def fit_many(requests: Sequence[Request]) -> list[Fit]:
    """Fit many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Any mixture.

    Returns
    -------
    list of Fit
        In the order of the requests. What a spline gets does not depend on the others.

    Raises
    ------
    ValueError
        For a tolerance that is not above 0, and numbers that are not the keys'.

    Notes
    -----
    Every piece is compared with the spline at five places, with keys and handles as float32 has them. What is left over
    has double zeros at the ends, so a polynomial of the eighth degree goes through the five. The error is the largest
    of that polynomial, found at eleven places and by a parabola between them, its last term once more for what five
    places can't tell, and 1 %: the largest difference there is, or a few percent more; up to a sixth less where an ease
    ends within a piece. A piece with too much is divided
    again, until it holds, or its parts would be too short: 1/80 frame, or twelve float32 steps of the frame. So what
    can't be reached is told by `Fit.errors`: a rotation that has to name another axis or other Euler angles in no time,
    where the key's own numbers are one of many ways to say its orientation (no turn, gimbal lock); frames so large
    that float32 says little about them.

    Knots are where all pieces of a segment have the same error, but not within half a frame of a key, unless no knots
    farther off reach the tolerance; their number was within 1.1 times the smallest there
    is with exact values and derivatives, found by dynamic programming on 48 to 150 places a segment, over tracks of
    each kind, eased or not; of stretched quaternions without ease it was 0.8 to 0.9 times that.
    """
    return in_batches(requests, lambda group: _Fitting(group).fits())


@dataclass(frozen=True)
class _Spans:
    """Parts of segments; the last axis of each array runs over them."""

    strand: IndexArray
    """Which channel's or rotation's segment."""
    frames: FloatArray
    """Where it starts and ends, shape (2, n)."""
    exact: FloatArray
    """The spline's values at both, shape (2, a, n)."""
    rates: FloatArray
    """The spline's derivatives at both, shape (2, b, n)."""
    numbers: FloatArray
    """The channels' numbers at the start, of any that mean the same, shape (c, n)."""
    stepped: BoolArray
    """The knot at the start was only a step of the search, shape (n,)."""

    def take(self, rows: IndexArray | BoolArray) -> Self:
        return type(self)(**{field.name: getattr(self, field.name)[..., rows] for field in fields(self)})


@dataclass(frozen=True)
class _Cuts:
    """Knots that divide spans."""

    span: IndexArray
    frames: FloatArray
    stepped: BoolArray


@dataclass(frozen=True)
class _Pieces:
    """Spans with the cubics that the channels play in them."""

    strand: IndexArray
    frames: FloatArray
    values: FloatArray
    """The channels' values at start and end, shape (2, c, n)."""
    rates: FloatArray
    """Their derivatives a frame, shape (2, c, n)."""
    error: FloatArray
    """Shape (n,)."""
    points: FloatArray
    """The cubics' Bezier points, shape (4, c, n)."""
    rest: FloatArray
    """What the channels should have more at `dividing.NODES`, shape (5, c, n)."""

    def take(self, rows: IndexArray | BoolArray) -> Self:
        return type(self)(**{field.name: getattr(self, field.name)[..., rows] for field in fields(self)})


class _Known(NamedTuple):
    """Spans with what the channels should have in them."""

    spans: _Spans
    knots: FloatArray
    """The frames of the cubics' Bezier points, shape (4, n)."""
    exact: FloatArray
    """The spline's values at `dividing.NODES`, shape (a, 5, n)."""
    values: FloatArray
    """The channels' values at start and end, shape (2, c, n)."""
    rates: FloatArray
    """Their derivatives a frame, shape (2, c, n)."""
    between: FloatArray
    """The channels' values at `dividing.NODES`, shape (5, c, n)."""


_Arrays = TypeVar("_Arrays", _Spans, _Pieces)


def _concatenated(parts: Sequence[_Arrays]) -> _Arrays:
    """Return the spans or pieces of all parts, one part after the other."""
    kind = type(parts[0])
    return kind(
        **{field.name: np.concatenate([getattr(part, field.name) for part in parts], axis=-1) for field in fields(kind)}
    )


def _in_order(parts: Sequence[_Pieces]) -> _Pieces:
    """Return the pieces of all parts in order of strand and frame."""
    pieces = _concatenated(parts)
    return pieces.take(np.lexsort((pieces.frames[0], pieces.strand)))


def _starts(pieces: _Pieces) -> IndexArray:
    """Return the first piece of each strand."""
    return np.flatnonzero(np.diff(pieces.strand, prepend=-1))


def _counted(pieces: _Pieces) -> tuple[IndexArray, IndexArray]:
    """Return the strands of pieces in order, and how many each has."""
    starts = _starts(pieces)
    return pieces.strand[starts], np.diff(starts, append=len(pieces.strand))


def _lengths(known: _Known, pieces: _Pieces) -> tuple[FloatArray, FloatArray]:
    """Return the lengths of quaternions at the pieces' ends, and their rates a frame, that take most off the errors.

    What a cubic with exact ends leaves over has the shape t² (1-t)². A rate of the length at an end adds to its turn
    the same shape along the motion, where most of what is left over is, and a length does so with one sign before the
    knot and the other behind it: with the rate g and the length 1 + d at a knot the piece before it, of h frames, has
    h g - 2 d more, and the piece behind, of k, has k g + 2 d. Of all that give each piece what it asks for, which is
    limited, these are the smallest: of the least sum of d² + h k g² / 4. Both of shape (2, n), start and end.
    """
    there = known.between
    square = _products(there, there)

    def across(vectors: FloatArray) -> FloatArray:
        return vectors - there * (_products(there, vectors) / square)[:, np.newaxis]

    t = subdivision.NODES[:, np.newaxis, np.newaxis]
    shape = across(t * (1.0 - t) ** 2 * pieces.values[0] - t * t * (1.0 - t) * pieces.values[1])
    size = np.add.reduce(_products(shape, shape), axis=0)
    asked = 2.0 * np.add.reduce(_products(across(pieces.rest), shape), axis=0)
    asked = np.clip(np.divide(asked, size, out=np.zeros_like(size), where=size > 0.0), -_MOST_ASKED, _MOST_ASKED)
    frames = pieces.frames[1] - pieces.frames[0]
    before = np.flatnonzero(pieces.strand[1:] == pieces.strand[:-1])
    behind = before + 1
    share = np.zeros_like(asked)
    share[before] += 4.0 * (frames[before] / frames[behind] + 1.0)
    share[behind] += 4.0 * (frames[behind] / frames[before] + 1.0)
    given = np.divide(asked, share, out=np.zeros_like(share), where=share > 0.0)
    lengths, rates = np.ones((2, len(asked))), np.zeros((2, len(asked)))
    lengths[0, behind] = lengths[1, before] = 1.0 + 2.0 * (given[behind] - given[before])
    rates[0, behind] = rates[1, before] = 4.0 * (given[before] / frames[behind] + given[behind] / frames[before])
    return lengths, rates


class _Fitting:
    """Requests of one batch, whose channels hold the same kind of thing."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests
        self._holding, self._tracks, self._curve, self._numbers, segment = batch(requests)
        tracks = self._tracks
        self._timing = Timing(tracks)
        self._channels = self._numbers.shape[1]
        counts = tracks.last - tracks.first + 1
        self._tolerance = np.array([_tolerance(request, self._channels) for request in requests])
        self._key_tolerance = np.repeat(self._tolerance, counts, axis=0)
        shared = 1 if self._holding is not None else self._channels
        self._component = np.tile(np.arange(shared), len(segment))
        self._segment = np.repeat(segment, shared)
        self._may_stretch = np.repeat([request.stretched for request in requests], counts)[self._segment]
        self._end = tracks.segment_end[self._segment]
        self._set_zones(counts)
        self._goal = self._goals()
        self._set_lengths()
        self._set_breaks()

    def _goals(self) -> FloatArray:
        """Return how far off a piece of each strand may be: the tolerance, less what float32 makes of its numbers."""
        size = np.abs(self._numbers)
        if self._holding is not None:
            unit = np.abs(_unit(self._holding, self._numbers.T))
            size = unit.max(axis=0, initial=1.0)[:, np.newaxis]
        size = np.maximum(size[self._segment, self._component], size[self._end, self._component])
        self._rounding = _ROUNDING * size
        asked = self._key_tolerance[self._segment, self._component]
        goals: FloatArray = np.maximum(asked - self._rounding, _LEAST_GOAL * self._rounding)
        return goals

    def _set_lengths(self) -> None:
        """Find the lengths of quaternions and axes, which run from key to key in a line."""
        self._start_length = np.ones(len(self._segment))
        self._length_change = np.zeros(len(self._segment))
        if self._holding is not None:
            lengths = self._holding.lengths(self._numbers.T)
            self._start_length = lengths[self._segment]
            change = lengths[self._end] - self._start_length
            self._length_change = change / (self._tracks.frames[self._end] - self._tracks.frames[self._segment])

    def _spline(self, strand: IndexArray, frames: FloatArray, nu: int) -> FloatArray:
        """Return the spline's values or derivatives, shape (a, n), those of a strand's own component for numbers."""
        segment = self._segment[strand]
        parts = []
        for start in range(0, max(len(frames), 1), BLOCK):
            block = slice(start, start + BLOCK)
            own = segment[block]
            u, *rates = self._timing.at(frames[block], own, nu)
            values = self._curve.evaluate(own, u, nu)
            if self._holding is None:
                values = values[self._component[strand[block]], np.arange(len(own))][np.newaxis]
            parts.append(values * rates[0] if nu else values)
        return np.concatenate(parts, axis=1)

    def _whole_segments(self) -> _Spans:
        strand = np.arange(len(self._segment))
        frames = np.stack([self._tracks.frames[self._segment], self._tracks.frames[self._end]])
        exact, rates = (
            np.stack(np.split(self._spline(np.tile(strand, 2), frames.ravel(), nu), 2, axis=1)) for nu in range(2)
        )
        stepped = np.zeros(len(strand), dtype=np.bool_)
        if self._holding is None:
            return _Spans(strand, frames, exact, rates, exact[0], stepped)
        numbers = self._numbers[self._segment].T.copy()
        local = self._holding.local(exact[0], rates[0])
        unit = _unit(self._holding, numbers)
        # An axis of no length is no axis: there the motion's own.
        unit[1:] = np.where(self._holding.lengths(numbers) > 0.0, unit[1:], local[1:])
        return _Spans(strand, frames, exact, rates, unit, stepped)

    def _tried(self, spans: _Spans) -> _Pieces:
        """Return the cubics of spans, with their errors."""
        return self._cubics(self._known(spans))

    def _known(self, spans: _Spans, places: FloatArray = subdivision.BERNSTEIN) -> _Known:
        """Return what the channels should have in spans, at the places of a matrix from Bezier points to values."""
        first, last = spans.frames
        third = (last - first) / 3.0
        leave, arrive = (first + third).astype(np.float32), (last - third).astype(np.float32)
        knots = np.stack([first, leave, arrive, last])
        at = subdivision.along(places, knots)
        exact = self._spline(np.tile(spans.strand, len(at)), at.ravel(), 0)
        exact = exact.reshape(len(exact), *at.shape)
        return _Known(spans, knots, exact, *self._channel_values(spans, at, exact))

    def _cubics(self, known: _Known) -> _Pieces:
        """Return the cubics that have the known values and rates at the ends of spans, with their errors."""
        spans = known.spans
        points, rest, off = self._played(known, subdivision.BERNSTEIN)
        error = _largest(off)
        error[self._broken(spans)] *= _BROKEN
        return _Pieces(spans.strand, spans.frames, known.values, known.rates, error, points, rest)

    def _broken(self, spans: _Spans) -> BoolArray:
        """Return in which spans an ease ends or begins."""
        first, last = spans.frames
        breaks = self._breaks[:, spans.strand]
        edge = _AT_END * (last - first)
        broken: BoolArray = ((breaks > first + edge) & (breaks < last - edge)).any(axis=0)
        return broken

    def _errors(self, spans: _Spans) -> FloatArray:
        """Return the errors of the cubics of spans, from so many places that nothing is supposed."""
        _, _, off = self._played(self._known(spans, subdivision.DENSE), subdivision.DENSE)
        errors: FloatArray = np.sqrt(_squares(off)).max(axis=0) * _MARGIN
        return errors

    def _played(self, known: _Known, places: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the cubics' Bezier points, what channels should have more at the places, and how far off that is."""
        spans, knots, exact, values, rates, between = known
        first, leave, arrive, last = knots
        points = np.stack(
            [values[0], values[0] + rates[0] * (leave - first), values[1] - rates[1] * (last - arrive), values[1]]
        )
        points = points.astype(np.float32).astype(np.float64)
        played = subdivision.along(places, points)
        rest = between - played
        off = rest if self._holding is None else self._turns(self._holding, spans, values[0], played, exact)
        return points, rest, off

    def _channel_values(
        self, spans: _Spans, at: FloatArray, exact: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the channels' values (2, c, n) and rates at the ends of spans, and their values (5, c, n) between."""
        if self._holding is None:
            return spans.exact, spans.rates, np.moveaxis(exact, 1, 0)
        held = self._holding
        onward = np.concatenate([exact, spans.exact[1][:, np.newaxis]], axis=1)
        following = held.following(spans.numbers, spans.exact[0], onward)
        moved = np.abs(held.rates(spans.numbers, spans.exact[0], spans.rates[0]))
        moved = np.maximum(moved, np.abs(held.rates(following[:, -1], spans.exact[1], spans.rates[1]))).max(axis=0)
        if held.winds and (fast := np.flatnonzero(moved * (spans.frames[1] - spans.frames[0]) > _FAST)).size:
            following[..., fast] = self._led(held, spans.take(fast), at[:, fast], onward[..., fast])
        numbers = np.stack([spans.numbers, following[:, -1]])
        start, change = self._start_length[spans.strand], self._length_change[spans.strand]
        since = spans.frames - self._tracks.frames[self._segment[spans.strand]]
        values, rates = np.empty_like(numbers), np.empty_like(numbers)
        for side in range(2):
            own = held.rates(numbers[side], spans.exact[side], spans.rates[side])
            length = start + change * since[side]
            values[side], rates[side] = held.stretched(numbers[side], own, length, change)
        lengths = start + change * (at - self._tracks.frames[self._segment[spans.strand]])
        between, _ = held.stretched(following[:, :-1], following[:, :-1], lengths, np.zeros_like(lengths))
        return values, rates, np.moveaxis(between, 1, 0)

    def _led(self, held: Holding, spans: _Spans, at: FloatArray, exact: FloatArray) -> FloatArray:
        """Return the numbers (c, m, n) of orientations that are far apart, led from one to the next by their rates."""
        frames = np.concatenate([at, spans.frames[1:]])
        velocity = self._spline(np.tile(spans.strand, len(at)), at.ravel(), 1).reshape(3, *at.shape)
        velocity = np.concatenate([velocity, spans.rates[1][:, np.newaxis]], axis=1)
        now, frame = spans.numbers, spans.frames[0]
        rates = held.rates(now, spans.exact[0], spans.rates[0])
        led = np.empty((held.components, *frames.shape))
        for row in range(len(frames)):
            local = held.local(exact[:, row], velocity[:, row])
            own = held.rates(local, exact[:, row], velocity[:, row])
            factors, _ = held.onto(local, now)
            half = 0.5 * (frames[row] - frame)
            factors, terms = held.onto(local, now + half * (rates + factors * own))
            now, rates, frame = factors * local + terms, factors * own, frames[row]
            led[:, row] = now
        return led

    def _turns(
        self, held: Holding, spans: _Spans, start: FloatArray, played: FloatArray, exact: FloatArray
    ) -> FloatArray:
        """Return the rotation vectors (5, 3, n) from what is played to what is exact: literal, so no turn is lost."""
        orientation = held.orientation(np.moveaxis(played, 0, 1))
        sign = np.where(sphere.dot(held.orientation(start), spans.exact[0]) < 0.0, -1.0, 1.0)
        turn = sphere.product(sphere.conjugate(orientation * sign), exact)
        sine = sphere.length(turn[1:])
        angle = 2.0 * np.arctan2(sine, turn[0])
        vectors: FloatArray = turn[1:] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
        return np.moveaxis(vectors, 1, 0)

    def _measure(self, strands: IndexArray) -> subdivision.Measure:
        goal = self._goal[strands]
        held = self._holding

        def measure(span: IndexArray, values: FloatArray, change: FloatArray) -> FloatArray:
            off = np.abs(change[0]) if held is None else held.angle(values, change)
            share: FloatArray = off / goal[span]
            return share

        return measure

    def _set_breaks(self) -> None:
        """Find the frames at which an ease ends or begins, where the acceleration jumps; those of none are NaN."""
        eases = ease.normalised(self._tracks.parameters[4, self._segment], self._tracks.parameters[3, self._end])
        start, end = self._tracks.frames[self._segment], self._tracks.frames[self._end]
        places = np.stack([start + eases[0] * (end - start), end - eases[1] * (end - start)])
        self._breaks = np.where(np.stack(eases) > 0.0, places, np.nan)

    def _set_zones(self, counts: IndexArray) -> None:
        """Find the frames around keys that knots are to keep out of."""
        zones, offsets, end = [], [], 0.0
        for request in self._requests:
            keys = request.spline.keys.frames
            keys = keys if request.others is None else np.union1d(keys, np.asarray(request.others, dtype=np.float64))
            low, high = keys - _APART, keys + _APART
            joined = low[1:] < high[:-1]
            low, high = low[np.append(True, ~joined)], high[np.append(~joined, True)]
            zones.append(np.stack([_rounded(low, -np.inf), _rounded(high, np.inf)]))
            # The zones of all tracks lie one after the other along one axis.
            offsets.append(end - zones[-1][0, 0])
            end += zones[-1][1, -1] - zones[-1][0, 0] + 1.0
        self._zones = np.concatenate(zones, axis=1)
        self._zone_starts = self._zones[0] + np.repeat(offsets, [zone.shape[1] for zone in zones])
        self._offset = np.repeat(offsets, counts)[self._segment]
        self._needed_zones = np.empty(0, dtype=np.intp)

    def _zoned(self, strand: IndexArray, frames: FloatArray) -> tuple[IndexArray, BoolArray, FloatArray, FloatArray]:
        """Return the number of a zone for each strand and frame, which frames are in it, and its start and end."""
        zone = np.searchsorted(self._zone_starts, frames + self._offset[strand]) - 1
        low, high = self._zones[:, zone]
        return strand * len(self._zone_starts) + zone, (frames > low) & (frames < high), low, high

    def _apart(self, spans: _Spans, span: IndexArray, frames: FloatArray) -> FloatArray:
        """Return the frames of knots, those in zones moved out to where their spans go on; if nowhere, they stay."""
        number, inside, low, high = self._zoned(spans.strand[span], frames)
        inside &= ~np.isin(number, self._needed_zones)
        if not inside.any():
            return frames
        start, end = spans.frames[:, span]
        least = _least(start, end)
        before, behind = inside & (low - start >= least), inside & (end - high >= least)
        before &= ~behind | (frames - low <= high - frames)
        return np.where(before, low, np.where(behind, high, frames))

    def _past(self, spans: _Spans, span: IndexArray, breaks: FloatArray) -> FloatArray:
        """Return the knots for breaks: those near to keys farther off where a piece from the key holds, as one with a
        break within may that is longer, and no shorter one."""
        frames = breaks.astype(np.float32).astype(np.float64)
        moved = self._apart(spans, span, frames)
        _, _, low, high = self._zoned(spans.strand[span], frames)
        start, end = spans.frames[:, span]
        behind = moved > frames
        chosen = np.flatnonzero((behind & (low < start)) | ((moved < frames) & (high > end)))
        if not len(chosen):
            return moved
        side = np.where(behind[chosen], 1.0, -1.0)
        least, own = _least(start, end)[chosen], span[chosen]
        tries = np.clip(moved[chosen] + side * _FARTHER[:, np.newaxis], start[chosen] + least, end[chosen] - least)
        rows = np.tile(own, len(tries))
        cuts = _Cuts(np.arange(len(rows)), tries.astype(np.float32).astype(np.float64).ravel(), np.ones_like(rows) > 0)
        parts = self._parts(spans.take(rows), cuts)
        errors = self._errors(parts.take(2 * cuts.span + np.tile(side < 0.0, len(tries)))).reshape(tries.shape)
        first = np.argmax(errors <= self._goal[spans.strand[own]], axis=0)
        moved[chosen] = cuts.frames.reshape(tries.shape)[first, np.arange(len(chosen))]
        return moved

    def _are_near(self, spans: _Spans) -> BoolArray:
        """Return which spans have no place for a knot outside zones."""
        start, end = spans.frames
        _, inside, low, high = self._zoned(spans.strand, (start + end) / 2.0)
        least = _least(start, end)
        near: BoolArray = inside & (low - start < least) & (end - high < least)
        return near

    def _divided(self, spans: _Spans, pieces: _Pieces, whole: bool) -> _Cuts:
        """Return the knots of spans that have to be divided, ascending."""
        breaks = self._breaks[:, spans.strand]
        span, row = np.nonzero(((breaks > spans.frames[0]) & (breaks < spans.frames[1])).T)
        frames = breaks[row, span]
        near = self._near(spans, span, frames)
        span, frames = span[~near], self._past(spans, span[~near], frames[~near])
        rest = np.ones(len(spans.strand), dtype=np.bool_)
        rest[span] = False
        unclear = np.flatnonzero(subdivision.unresolved(pieces.rest) & rest)
        rest[unclear] = False
        known = np.flatnonzero(rest)
        polynomial = subdivision.polynomials(pieces.points[..., known], pieces.rest[..., known])
        own, place = subdivision.divided(polynomial, self._measure(spans.strand[known]))
        start, end = spans.frames[:, known[own]]
        span = np.concatenate([span, unclear, known[own]])
        frames = np.concatenate([frames, spans.frames[:, unclear].mean(axis=0), start + place * (end - start)])
        frames = self._apart(spans, span, frames.astype(np.float32).astype(np.float64))
        stepped = (np.arange(len(span)) < len(span) - len(own)) | ~np.bool_(whole)
        order = np.lexsort((frames, span))
        near = self._near(spans, span[order], frames[order])
        order = order[~near]
        return _Cuts(span[order], frames[order], stepped[order])

    def _near(self, spans: _Spans, span: IndexArray, frames: FloatArray) -> BoolArray:
        """Return which knots, ascending, are too near to the one before or to an end."""
        start, end = spans.frames[:, span]
        least = _least(start, end)
        before = start.copy()
        same = span[1:] == span[:-1]
        before[1:][same] = frames[:-1][same]
        near: BoolArray = (frames - before < least) | (frames - start < least) | (end - frames < least)
        return near

    def _parts(self, spans: _Spans, cuts: _Cuts) -> _Spans:
        """Return the parts of spans, each of which has a knot or more."""
        span, frames = cuts.span, cuts.frames
        strand = spans.strand[span]
        exact, rates = self._spline(strand, frames, 0), self._spline(strand, frames, 1)
        numbers = exact if self._holding is None else self._holding.local(exact, rates)
        count = np.bincount(span, minlength=len(spans.strand)) + 1
        owner = np.repeat(np.arange(len(count)), count)
        stop = np.cumsum(count)
        begins = np.ones(len(owner), dtype=np.bool_)
        begins[stop - count] = False
        ends = np.ones(len(owner), dtype=np.bool_)
        ends[stop - 1] = False

        def both(outer: FloatArray, inner: FloatArray) -> FloatArray:
            sides = outer[..., owner]
            sides[0][..., begins] = inner
            sides[1][..., ends] = inner
            return sides

        first = spans.numbers[:, owner]
        first[:, begins] = numbers
        stepped = spans.stepped[owner]
        stepped[begins] = cuts.stepped
        return _Spans(
            spans.strand[owner],
            both(spans.frames, frames),
            both(spans.exact, exact),
            both(spans.rates, rates),
            first,
            stepped,
        )

    def _searched(self) -> _Pieces:
        """Return the pieces of all strands, in order of strand and frame."""
        spans = self._whole_segments()
        self._whole = spans
        done = []
        for level in range(_MOST_LEVELS):
            pieces = self._tried(spans)
            poor = pieces.error > self._goal[spans.strand]
            if len(near := np.flatnonzero(poor & (self._are_near(spans) | (self._broken(spans) & (level > 0))))):
                # A knot near to a key has to be needed, not only supposed to be. Ends of eases are divided first: those
                # that are left are near to keys.
                pieces.error[near] = self._errors(spans.take(near))
                poor = pieces.error > self._goal[spans.strand]
            done.append((spans.take(~poor), pieces.take(~poor)))
            if not poor.any():
                break
            spans, pieces = spans.take(poor), pieces.take(poor)
            cuts = self._divided(spans, pieces, level == 0)
            whole = np.ones(len(spans.strand), dtype=np.bool_)
            whole[cuts.span] = False
            done.append((spans.take(whole), pieces.take(whole)))
            if whole.all():
                break
            number = np.cumsum(~whole) - 1
            spans = self._parts(spans.take(~whole), replace(cuts, span=number[cuts.span]))
        spans, pieces = _concatenated([each for each, _ in done]), _concatenated([each for _, each in done])
        stepped = np.isin(pieces.strand, spans.strand[spans.stepped])
        if stepped.any():
            joined = self._joined(spans.take(stepped), pieces.take(stepped))
            pieces = _concatenated([pieces.take(~stepped), joined])
        pieces = _in_order([pieces])
        number, inside, _, _ = self._zoned(pieces.strand, pieces.frames[0])
        self._needed_zones = np.unique(number[inside & (pieces.frames[0] > self._whole.frames[0, pieces.strand])])
        pieces = self._evened(pieces)
        held = self._holding
        return self._stretched(pieces, held) if held is not None and held.scales else pieces

    def _joined(self, spans: _Spans, pieces: _Pieces) -> _Pieces:
        """Return the pieces without knots that were only steps on the way: halvings, and the ends of eases."""
        order = np.lexsort((spans.frames[0], spans.strand))
        spans, pieces = spans.take(order), pieces.take(order)
        tried = np.zeros(len(order), dtype=np.bool_)
        while len(spans.strand) > 1:
            length = spans.frames[1] - spans.frames[0]
            share = pieces.error / self._goal[spans.strand]
            both = length[1:] + length[:-1]
            expected = np.maximum(share[1:] * (both / length[1:]) ** 4, share[:-1] * (both / length[:-1]) ** 4)
            expected[(spans.strand[1:] != spans.strand[:-1]) | (expected > _HOPEFUL) | tried[:-1]] = np.inf
            around = np.concatenate(([np.inf], expected, [np.inf]))
            left = np.flatnonzero((expected < np.inf) & (expected < around[:-2]) & (expected <= around[2:]))
            if not len(left):
                break
            joined = spans.take(left)
            joined = _Spans(
                joined.strand,
                np.stack([joined.frames[0], spans.frames[1, left + 1]]),
                np.stack([joined.exact[0], spans.exact[1][:, left + 1]]),
                np.stack([joined.rates[0], spans.rates[1][:, left + 1]]),
                joined.numbers,
                joined.stepped,
            )
            attempt = self._tried(joined)
            good = attempt.error <= self._goal[joined.strand]
            tried[left] = True
            if not good.any():
                continue
            left = left[good]
            # A new neighbour is another attempt.
            tried[np.maximum(left - 1, 0)] = False
            tried[left] = False
            kept = np.ones(len(spans.strand), dtype=np.bool_)
            kept[left] = kept[left + 1] = False
            order = np.argsort(np.concatenate((np.flatnonzero(kept), left)), kind="stable")
            spans = _concatenated([spans.take(kept), joined.take(good)]).take(order)
            pieces = _concatenated([pieces.take(kept), attempt.take(good)]).take(order)
            tried = np.concatenate((tried[kept], tried[left]))[order]
        return pieces

    def _evened(self, pieces: _Pieces) -> _Pieces:
        """Return the pieces, fewer where fewer of evener errors do: a search in steps rounds up at each of them."""
        trial = pieces
        for _ in range(_MOST_EVENINGS):
            _, needed = self._needed(trial)
            best = self._count(pieces)[_counted(trial)[0]]
            # One piece was what the search began with.
            wanted = np.minimum(np.maximum(np.ceil(needed - 0.02), 2), best).astype(np.intp)
            if not (wanted < best).any():
                break
            trial = self._tried(self._redivided(trial, wanted, wanted < best))
            pieces, _ = self._better(pieces, trial)
        return pieces

    def _needed(self, trial: _Pieces) -> tuple[FloatArray, FloatArray]:
        """Return the mass of each piece, and how many pieces each strand needs, as `dividing.needed` has them."""
        return subdivision.needed(trial.error / self._goal[trial.strand], _starts(trial))

    def _count(self, pieces: _Pieces) -> IndexArray:
        """Return how many pieces each strand has."""
        return np.bincount(pieces.strand, minlength=len(self._segment))

    def _redivided(self, trial: _Pieces, wanted: IndexArray, chosen: BoolArray) -> _Spans:
        """Return the chosen strands of a trial in so many parts, with even shares of the trial's errors."""
        strand, count = _counted(trial)
        start, end = self._whole.frames[:, trial.strand]
        mass, _ = self._needed(trial)
        number, place = subdivision.evened(count, (trial.frames[1] - start) / (end - start), mass, wanted, chosen)
        spans = self._whole.take(strand[chosen])
        first, last = spans.frames[:, number]
        frames = (first + place * (last - first)).astype(np.float32).astype(np.float64)
        frames = self._apart(spans, number, frames)
        near = self._near(spans, number, frames)
        stepped = np.zeros(np.count_nonzero(~near), dtype=np.bool_)
        return self._parts(spans, _Cuts(number[~near], frames[~near], stepped))

    def _better(self, pieces: _Pieces, trial: _Pieces) -> tuple[_Pieces, IndexArray]:
        """Return the pieces, those of a trial where these all hold, and the strands that they are of."""
        bad = np.unique(trial.strand[trial.error > self._goal[trial.strand]])
        good = np.setdiff1d(trial.strand, bad)
        if len(good):
            pieces = _in_order([pieces.take(~np.isin(pieces.strand, good)), trial.take(np.isin(trial.strand, good))])
        return pieces, good

    def _stretched(self, pieces: _Pieces, held: Holding) -> _Pieces:
        """Return the pieces, fewer where quaternions of other lengths do with fewer.

        A quaternion's length means nothing, so a knot may have another, which changes at one rate on both sides, so
        that channels stay smooth. The spline's own keys stay as they are.
        """
        tries = np.where(self._may_stretch, 0, _MOST_STRETCHES)
        step = np.ones_like(tries)
        trial = pieces
        while True:
            trial = trial.take(((self._count(pieces) > 2) & (tries < _MOST_STRETCHES))[trial.strand])
            if not len(trial.strand):
                return pieces
            strand, _ = _counted(trial)
            wanted = np.maximum(self._count(pieces)[strand] - step[strand], 2)
            spans = self._redivided(trial, wanted, np.ones(len(strand), dtype=np.bool_))
            trial = self._of_other_lengths(spans, held)
            pieces, good = self._better(pieces, trial)
            _, needed = self._needed(trial)
            count = _counted(trial)[1]
            # Steps are half of what there seems to be left; one that was too long is tried again as the shortest.
            left = np.maximum((count - np.ceil(needed).astype(np.intp)) // 2, 1)
            tries[strand] += np.where(step[strand] > 1, 0, np.where(needed <= count + _HOPED, 1, _MOST_STRETCHES))
            step[strand] = np.where(np.isin(strand, good), left, 1)
            tries[good] = 0

    def _of_other_lengths(self, spans: _Spans, held: Holding) -> _Pieces:
        """Return the cubics of spans with quaternions of the lengths that are best for them."""
        known = self._known(spans)
        lengths = _lengths(known, self._cubics(known))
        sides = [held.stretched(*each) for each in zip(known.values, known.rates, *lengths, strict=True)]
        values, rates = (np.stack(each) for each in zip(*sides, strict=True))
        return self._cubics(known._replace(values=values, rates=rates))

    def _chained(self, pieces: _Pieces) -> tuple[FloatArray, FloatArray]:
        """Return values and rates (2, c, n) in numbers that go on from each key's own."""
        values, rates = pieces.values.copy(), pieces.rates.copy()
        if self._holding is None:
            return values, rates
        begins, (_, lengths) = _starts(pieces), _counted(pieces)
        for ordinal in range(1, int(lengths.max(initial=0))):
            row = begins[lengths > ordinal] + ordinal
            factors, terms = self._holding.onto(values[0][:, row], values[1][:, row - 1])
            for side in range(2):
                values[side][:, row] = factors * values[side][:, row] + terms
                rates[side][:, row] *= factors
        return values, rates

    def fits(self) -> list[Fit]:
        """Return what each request gets."""
        pieces = self._searched()
        values, rates = self._chained(pieces)
        shared = self._holding is not None
        keys = len(self._tracks.frames)
        outgoing, incoming, errors, rounding = (np.zeros((keys, self._channels)) for _ in range(4))
        arriving = self._numbers.copy()
        begins = np.diff(pieces.strand, prepend=-1) != 0
        ends = np.diff(pieces.strand, append=-1) != 0
        first, last = self._segment[pieces.strand[begins]], self._end[pieces.strand[ends]]
        starts = _starts(pieces)
        worst = np.maximum.reduceat(pieces.error, starts) if len(starts) else np.empty(0)
        least = self._rounding[pieces.strand[begins]]
        worst, least = worst + least, (1.0 + _LEAST_GOAL) * least
        if shared:
            outgoing[first], incoming[last] = rates[0][:, begins].T, rates[1][:, ends].T
            arriving[last] = values[1][:, ends].T
            # Orientations are nowhere farther apart than half a turn.
            errors[first] = np.fmin(worst, np.pi)[:, np.newaxis]
            rounding[first] = least[:, np.newaxis]
        else:
            component = self._component[pieces.strand[begins]]
            place = first, component
            outgoing[place], incoming[last, component] = rates[0][0, begins], rates[1][0, ends]
            errors[place], rounding[place] = worst, least
        jumps = np.zeros(keys, dtype=np.bool_)
        if shared:
            size = np.ones(keys)
            jumps = np.abs(arriving - self._numbers).max(axis=1) > _ARRIVES * size
            arriving = np.where(jumps[:, np.newaxis], arriving, self._numbers)
        at_keys = {
            "outgoing": outgoing,
            "incoming": incoming,
            "arriving": arriving,
            "jumps": jumps,
            "errors": errors,
            "rounding": rounding,
        }
        return self._per_request(pieces, values[0], rates[0], ~begins, at_keys)

    def _per_request(
        self,
        pieces: _Pieces,
        values: FloatArray,
        rates: FloatArray,
        inner: BoolArray,
        at_keys: dict[str, npt.NDArray[Any]],
    ) -> list[Fit]:
        shared = self._holding is not None
        strand = pieces.strand[inner]
        frames, values, rates = pieces.frames[0, inner], values[:, inner], rates[:, inner]
        segment = self._segment[strand]
        fits = []
        for index, (low, high) in enumerate(zip(self._tracks.first, self._tracks.last + 1, strict=True)):
            own = slice(*np.searchsorted(segment, (low, high)))
            if shared:
                knots = tuple(
                    Knots(frames[own], values[channel, own], rates[channel, own]) for channel in range(self._channels)
                )
            else:
                component = self._component[strand[own]]
                knots = tuple(
                    Knots(frames[own][mine], values[0, own][mine], rates[0, own][mine])
                    for mine in (component == channel for channel in range(self._channels))
                )
            own_keys = {name: array[low:high] for name, array in at_keys.items()}
            fits.append(Fit(knots, tolerance=self._tolerance[index], **own_keys))
        return fits


def _least(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return how far knots have to be apart within spans."""
    steps = np.spacing(np.maximum(-start, end).astype(np.float32))
    least: FloatArray = np.maximum(_LEAST_FRAMES, _LEAST_STEPS * steps)
    return least


def _rounded(frames: FloatArray, towards: float) -> FloatArray:
    """Return the frames as float32 has them, on their own side or the one `towards` is on."""
    rounded = frames.astype(np.float32)
    short = (rounded < frames) if towards > 0.0 else (rounded > frames)
    return np.where(short, np.nextafter(rounded, np.float32(towards)), rounded).astype(np.float64)


def _unit(held: Holding, numbers: FloatArray) -> FloatArray:
    """Return numbers (c, n) with what may have any length at length 1."""
    size = held.lengths(numbers)
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    unit, _ = held.stretched(numbers, numbers, inverse, np.zeros_like(size))
    return unit


def _tolerance(request: Request, channels: int) -> FloatArray:
    tolerance = np.broadcast_to(np.asarray(request.tolerance, dtype=np.float64), (channels,))
    if not (tolerance > 0.0).all():
        raise ValueError(f"a tolerance must be above 0, not {request.tolerance!r}")
    return tolerance


def _largest(off: FloatArray) -> FloatArray:
    """Return the largest differences all along spans, shape (n,), from those at the nodes, shape (nodes, k, n)."""
    between = subdivision.along(subdivision.TO_BETWEEN, off)
    size = np.zeros((len(subdivision.PLACES), off.shape[2]))
    size[1:-1:2] = np.sqrt(_squares(between))
    size[2:-1:2] = np.sqrt(_squares(off))
    row, column = np.argmax(size[1:-1], axis=0) + 1, np.arange(off.shape[2])
    before, largest, after = size[row - 1, column], size[row, column], size[row + 1, column]
    slope, bend = parabola(subdivision.PLACES, row, before, largest, after)
    top = largest + np.divide(slope * slope, 4.0 * bend, out=np.zeros_like(bend), where=bend > 0.0)
    last = subdivision.along(subdivision.TO_CHEBYSHEV[-1:], off) / 8.0
    error: FloatArray = (top + np.sqrt(_squares(last)[0])) * _MARGIN
    return error


def _squares(vectors: FloatArray) -> FloatArray:
    """Return the squares of lengths (m, n) of vectors (m, k, n)."""
    return _products(vectors, vectors)


def _products(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the products (m, n) of vectors (m, k, n)."""
    products: FloatArray = sphere.dot(np.moveaxis(one, 1, 0), np.moveaxis(other, 1, 0))
    return products
