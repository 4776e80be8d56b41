# SPDX-License-Identifier: GPL-3.0-or-later
"""The two Bezier handles of each segment with which the animator's own keys play a spline, without any key added.

Between two keys Blender plays each channel as a cubic in frame and value. A handle's frame may be anywhere in its
segment, and each channel has frames of its own. A segment of numbers without ease is such a cubic already, with handles
at thirds. The others are fitted: the derivatives at the keys are the spline's, and how far each handle reaches, and how
the length of a quaternion runs, which Blender's normalising forgives, are found by damped Gauss-Newton steps
(Levenberg-Marquardt) for all segments of all tracks at once. Source: docs/formulas.md, "Fitting handles".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import ease
from ..batch import BLOCK, BoolArray, IndexArray, Spline
from ..keys import Float64Array
from ..rotations import sphere
from .channel_splines import batch, in_batches, parabola

Float32Array = npt.NDArray[np.float32]

_MEASURED = 60
_PLACES = (1.0 - np.cos(np.pi * (np.arange(_MEASURED) + 0.5) / _MEASURED)) / 2.0
"""Shares of a segment at which errors are measured."""
_NODES, _EASED_NODES = slice(2, None, 5), slice(1, None, 3)
"""Which of them are fitted: Chebyshev's nodes, twelve and twenty.

Least squares at these are near to the smallest maximum error. With eases twelve are too few: between them channels can
move fast and back.
"""
_PROBES = slice(4, None, 9)
"""Which of them identify a segment that was fitted before, with its ends, the derivatives there and its eases.

Two curves of any method that agree in all of these to the last bit are the same.
"""
_PROBED = np.concatenate(([0], np.arange(1, _MEASURED + 1)[_PROBES], [_MEASURED + 1]))
"""The indices of the probes, and of the ends, among the samples with ends."""
_FEW = 32
"""Segments: up to so many are sampled at all places at once, known or not."""
_STEPS = 4
_SEEN, _MORE_STEPS, _CHANNEL_STEPS = 1e-4, 10, 6
"""Half the angle in radians, or a part of a segment's size: the error that a bake may leave.

Only segments with a larger error get more steps, of which single channels need fewer.
"""
_POOR, _STEPS_FOR_POOR = 0.015, 12
"""Part of the chord: some quaternions with eases begin with large errors."""
_TOGETHER, _SAMPLED = 1024, 2048
"""The channels of segments fitted at a time, few enough for the cache, and the segments sampled, for the memory."""

_LONGEST, _LEAST_BEGUN = 0.9, 0.05
"""Parts of a segment: with two handles of the longest length the frame still rises in its middle."""
_RIGID, _SOFT = 1e3, 0.07
"""The weights of errors of the derivatives at keys, relative to the root of the summed squares of residuals.

The soft one is for derivatives beside an ease, and in channels of angles. Beside an ease the spline is at rest at the
key, and a handle of no height would have no direction: so some speed is weighed against the error, by the root of the
ease. Channels of angles are so curved that with exact derivatives their errors would be three times as large.
"""
_DAMPING, _EASED_DAMPING, _LESS, _MORE = 0.002, 0.01, 0.5, 2.0
"""The first damping, and its factors after a step that lowered the cost and after one that did not."""
_LONGEST_STEP, _LEAST_REACH, _LONGEST_RATIO = 0.25, 1e-3, 5.0
_FLOOR, _LEAST_FLOOR = 1e-7, 1e-14
"""Parts of the mean of their kind: damping for unknowns without effect, as of a channel at rest."""
_HELD = 1e12
_LEAST_ALONG = 0.1
"""Part of a quaternion's length: nearer to a right angle to the motion the residual would have no bound."""
_NEWTON = 2
_SOLVED = 1e-10
"""Part of a segment's length: far below the float32 resolution of frames."""
_HALVINGS = 36
_LEAST_SLOPE = 1e-2
_ARRIVES = 1e-3
"""Radians, or the same part of an axis: numbers farther off than this at a key are others than the key's."""


@dataclass(frozen=True)
class Request:
    """A spline to be played by handles.

    Attributes
    ----------
    spline : Spline
        A track of numbers, or of rotations: unit quaternions, whose derivative is the angular velocity in the parent's
        frame.
    representation : str or None
        The representation of rotations: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order
        such as "XYZ". None for a track of numbers.
    numbers : array_like, shape (n, channels), or None
        A rotation's keys as the channels hold them: signs, whole turns and lengths go on from these. None: the
        spline's own values.
    segments : array_like of bool, shape (n,), or None
        Which of the segments that begin at each key to fit: those that an edit reaches, and that are Bezier segments;
        the last counts for nothing. None: all.
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None


@dataclass(frozen=True)
class Handles:
    """The handles of one spline's keys.

    Attributes
    ----------
    left, right : ndarray of float32, shape (n, channels, 2)
        Frame and value of the handles before and after each key, for a key of the sign in `signs`; NaN beside
        segments that were not fitted, and outside the keys.
    signs : ndarray, shape (n,)
        1, or -1 for a quaternion key that must be negated, with its handles in segments that were not fitted, so that
        its channels go on from those of the key before it. Key 0 keeps its sign, as do neighbours to each other
        across a segment that was not fitted.
    errors : ndarray, shape (n, channels)
        The largest difference from the spline in the segment that begins at each key: a value's, or for all channels
        of a rotation the angle in radians; 0 where nothing was fitted.
    frames : ndarray, shape (n, channels)
        The frame of that difference; NaN where nothing was fitted.
    jumps : ndarray of bool, shape (n,)
        True where the channels of a rotation, except a quaternion, would have to arrive at the key with other numbers
        than its own, which mean the same orientation: no handles can do that.
    """

    left: Float32Array
    right: Float32Array
    signs: Float64Array
    errors: Float64Array
    frames: Float64Array
    jumps: BoolArray


class KnownFits:
    """A cache of fits of segments, by their inputs: `fit_handles` fits none of them again.

    Parameters
    ----------
    most : int
        The most fits that are kept; beyond it the half that was fitted first is dropped. One takes half a kilobyte.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._rows: dict[bytes, Float64Array] = {}

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self._rows)

    def missing(self, names: Sequence[bytes]) -> list[int]:
        """Return the indices of names that are not known, the first of each."""
        fresh = {name: place for place, name in reversed([*enumerate(names)]) if name not in self._rows}
        return sorted(fresh.values())

    def learn(self, names: Sequence[bytes], rows: Float64Array) -> None:
        """Keep a row of numbers for each name."""
        self._rows.update(zip(names, rows, strict=True))

    def recall(self, names: Sequence[bytes]) -> Float64Array:
        """Return the rows of known names, shape (names, numbers); drop the oldest rows where there are too many."""
        rows = np.array([self._rows[name] for name in names])
        if len(self._rows) > self._most:
            self._rows = dict([*self._rows.items()][-(self._most // 2) :])
        return rows


def fit_handles(requests: Sequence[Request], known: KnownFits | None = None) -> list[Handles]:
    """Fit the handles of many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Any mixture.
    known : KnownFits, optional
        Earlier fits, to which these are added: segments that did not change take half the time, or less.

    Returns
    -------
    list of Handles
        In the order of the requests. A segment gets the same handles, bit for bit, whatever is fitted with it.

    Raises
    ------
    ValueError
        For numbers that are not the keys', and an unknown representation of rotations.

    Notes
    -----
    Keys stay where they are. A handle's frame is within its segment, and its value is what belongs to that frame after
    rounding to float32. Of quaternions, median, nine tenths and largest error in degrees, with tension, continuity and
    bias within 0.5: 0.0007, 0.002 and 0.009 with keys 30 degrees apart, 0.004, 0.011 and 0.056 at 60, 0.009, 0.03 and
    0.22 at 90; with eases up to 0.5 0.18, 0.34 and 0.8, 0.33, 0.64 and 1.5, and 0.48, 0.91 and 1.8. docs/handles.md
    has more.

    Without ease values and quaternions leave and reach keys with the derivatives, or angular velocities, of the spline:
    kinks are more visible than a hundredth of a degree, and free derivatives would only halve such small errors. An
    ease brings the spline to rest at the key; handles that do so too have no direction, and with them errors were two
    to four times as large, and the largest seven to fourteen times. So beside an ease some speed is left at the key, a
    tenth of the segment's mean in the median and a third in one of ten. In channels of angles derivatives give way too,
    by less than a hundredth in the median.

    Errors are measured at 60 places a segment with handles as float32 has them, in float64: the largest there is, or a
    few percent less or more. Numbers without ease are exact but for that rounding: 1.2e-6 of their range near frame 0,
    4e-6 up to 1 024, 2.4e-4 near 100 000, what Blender rounds while it plays them included. Euler angles, and axis and
    angle, are fitted channel by channel to the numbers that go on from the key's own; where these arrive at the next
    key with others than its own, as by a whole turn more, no handles help, and the error says so. A spline that leaves
    its keys is off by as much at them.
    """
    return in_batches(requests, lambda group: _Fitting(group, known).handles())


class _Course(NamedTuple):
    """The exact motion of channels in segments; the last axis of each array runs over these.

    The c channels of a quaternion are fitted together; any other channel's segment is a column of its own, and c is 1.
    Frames are shares u of the segment.
    """

    keys: Float64Array
    """The values at start and end, shape (2, c, N)."""
    values: Float64Array
    """The values at `_PLACES`, of quaternions at length 1, shape (c, m, N)."""
    rates: Float64Array
    """The derivatives by u at start and end, shape (2, c, N)."""
    path: Float64Array
    """The derivatives at start and end without ease, shape (2, c, N)."""
    eases: Float64Array
    """Ease from of the start and ease to of the end, shape (2, N)."""
    stiffness: Float64Array
    """The weights of squared errors of the derivatives at start and end, shape (2, N)."""

    @property
    def turns(self) -> bool:
        """Return whether the columns are quaternions."""
        return len(self.values) > 1

    def take(self, columns: IndexArray | slice) -> _Course:
        return _Course(*(array[..., columns] for array in self))


class _Shape(NamedTuple):
    """Handles of segments, and the parameters of their Bezier segments at the samples.

    The first axis of a pair is start and end.
    """

    reach: Float64Array
    """Shares of the segment, shape (2, c, N)."""
    rates: Float64Array
    """Derivatives of the value by u, shape (2, c, N)."""
    parameter: Float64Array
    """Of the Bezier segment near to `_PLACES`, shape (c, m, N)."""

    def take(self, columns: IndexArray | slice) -> _Shape:
        return _Shape(*(array[..., columns] for array in self))


class _State(NamedTuple):
    """Handles while they are fitted, with their residuals and derivatives."""

    reach: Float64Array
    rates: Float64Array
    parameter: Float64Array
    residuals: Float64Array
    """The errors of channels at the nodes, of a quaternion across the motion, shape (c, nodes, N)."""
    changes: Float64Array
    """The derivatives of a channel's value by reach (start, end) and rates (start, end), shape (4, c, nodes, N)."""
    bent: Float64Array
    """The errors of the rates at the keys, of a quaternion across its key, shape (2, c, N)."""
    cost: Float64Array
    damping: Float64Array
    """Both of shape (N,)."""

    def take(self, columns: IndexArray) -> _State:
        return _State(*(array[..., columns] for array in self))


class _Segments(NamedTuple):
    """Segments that are fitted together, N in all."""

    begin: IndexArray
    """The keys at which they begin, shape (N,)."""
    frames: Float64Array
    """Where they begin and end, shape (2, N)."""
    eases: Float64Array
    """Ease from of the start and ease to of the end, shape (2, N)."""

    def take(self, columns: IndexArray) -> _Segments:
        return _Segments(self.begin[columns], self.frames[:, columns], self.eases[:, columns])


class _Fitted(NamedTuple):
    """The fit of N segments. Errors are those of each of c channels, or of all together."""

    flips: Float64Array
    """-1 where the end's key has to be negated, shape (N,)."""
    jumps: Float64Array
    """1 where the channels don't arrive at the end's key with its own numbers, shape (N,)."""
    errors: Float64Array
    """Shape (c or 1, N)."""
    places: Float64Array
    """The parameters of these errors, as shares of the segment, shape (c or 1, N)."""
    frames: Float32Array
    """Of the handles after the start and before the end, shape (2, c, N)."""
    values: Float32Array

    @staticmethod
    def rows_of(arrays: Sequence[Float64Array | Float32Array]) -> Float64Array:
        """Return all numbers of each segment, shape (N, numbers); the last axis of each array runs over segments."""
        rows = np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays]).T
        return np.ascontiguousarray(rows, dtype=np.float64)

    @classmethod
    def of_rows(cls, rows: Float64Array, channels: int) -> _Fitted:
        """Return the fit from the rows that `rows_of` returns."""
        handles = rows[:, -4 * channels :].T.reshape(2, 2, channels, -1).astype(np.float32)
        errors, places = np.split(rows[:, 2 : -4 * channels].T, 2)
        return cls(rows[:, 0], rows[:, 1], errors, places, *handles)


class _Fitting:
    """Requests of one batch and representation."""

    def __init__(self, requests: Sequence[Request], known: KnownFits | None) -> None:
        self._representation, self._tracks, self._curve, self._numbers, self._chosen = batch(requests)
        self._is_cubic = requests[0].spline.is_cubic and self._representation is None
        self._known = known
        self._kind = f"{requests[0].representation} {self._is_cubic}".encode()

    def handles(self) -> list[Handles]:
        """Return the handles of each request."""
        count, channels = self._numbers.shape
        left, right = np.full((2, count, channels, 2), np.nan, dtype=np.float32)
        errors, worst = np.zeros((count, channels)), np.full((count, channels), np.nan)
        flips, jumps = np.ones(count), np.zeros(count, dtype=np.bool_)
        for part in self._parts():
            begin, (start, end), _ = part
            fitted = self._fitted(part)
            flips[begin + 1], jumps[begin + 1] = fitted.flips, fitted.jumps
            errors[begin] = fitted.errors.T
            worst[begin] = (start + fitted.places * (end - start)).T
            places = np.stack([fitted.frames, fitted.values], axis=-1).swapaxes(1, 2)
            right[begin], left[begin + 1] = places
        first, last = self._tracks.first, self._tracks.last
        # From each track's first key on; a segment's values are in the sign of the key that begins it.
        signs = np.multiply.accumulate(flips)
        signs *= np.repeat(signs[first], last - first + 1)
        right[..., 1] *= signs[:, np.newaxis]
        left[1:, :, 1] *= signs[:-1, np.newaxis]
        owns = (slice(*ends) for ends in zip(first.tolist(), (last + 1).tolist(), strict=True))
        return [Handles(left[own], right[own], signs[own], errors[own], worst[own], jumps[own]) for own in owns]

    def _parts(self) -> Iterator[_Segments]:
        """Yield all segments to fit, some at a time."""
        frames, parameters = self._tracks.frames, self._tracks.parameters
        for start in range(0, len(self._chosen), _SAMPLED):
            begin = self._chosen[start : start + _SAMPLED]
            eases = ease.normalised(parameters[4, begin], parameters[3, begin + 1])
            yield _Segments(begin, np.stack([frames[begin], frames[begin + 1]]), np.stack(eases))

    def _fitted(self, part: _Segments) -> _Fitted:
        """Return the fit of segments; take that of known ones from the cache."""
        derivatives = self._evaluated(part, np.repeat([[0.0], [1.0]], len(part.begin), axis=1), 1).swapaxes(0, 1)
        few = len(part.begin) <= _FEW
        if self._known is None or (few and self._is_cubic and not part.eases.any()):
            return self._fit(part, self._sampled(part, _PLACES), derivatives)
        # A call of NumPy costs the same for one segment as for many.
        exact = self._sampled(part, _PLACES) if few else None
        probes = self._sampled(part, _PLACES[_PROBES]) if exact is None else exact[:, _PROBED]
        about = (
            part.frames,
            part.eases,
            self._numbers[part.begin].T,
            self._numbers[part.begin + 1].T,
            derivatives,
            probes,
        )
        names = [blake2b(self._kind + each.tobytes(), digest_size=16).digest() for each in _Fitted.rows_of(about)]
        new = self._known.missing(names)
        if new:
            rest = part.take(np.array(new))
            values = self._sampled(rest, _PLACES) if exact is None else exact[..., new]
            fresh = self._fit(rest, values, derivatives[..., new])
            self._known.learn([names[place] for place in new], _Fitted.rows_of(fresh))
        return _Fitted.of_rows(self._known.recall(names), self._numbers.shape[1])

    def _fit(self, part: _Segments, exact: Float64Array, derivatives: Float64Array) -> _Fitted:
        """Return the fit of segments from exact values and derivatives."""
        channels = self._numbers.shape[1]
        course, flips, jumps = self._course(part, exact, derivatives)
        still = (part.eases == 0.0).all(axis=0) if self._is_cubic else jumps
        still = still if course.turns else np.tile(still, channels)
        frames, values, played = _stored(part, course, _shape_of(course, still))
        errors, places = _tops(self._off(played, course, exact))
        if self._representation is not None:
            # Orientations are nowhere farther apart than half a turn, but the maxima of parabolas may be.
            errors = np.fmin(errors, np.pi)
        shape = (2, channels, len(part.begin))
        return _Fitted(flips, jumps.astype(np.float64), errors, places, frames.reshape(shape), values.reshape(shape))

    def _evaluated(self, part: _Segments, w: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives (a, m, N) at eased local parameters (m, N)."""
        segment, flat = np.tile(part.begin, len(w)), w.ravel()
        blocks = (slice(start, start + BLOCK) for start in range(0, len(flat), BLOCK))
        values = np.concatenate([self._curve.evaluate(segment[block], flat[block], nu) for block in blocks], axis=1)
        return values.reshape(len(values), *w.shape)

    def _sampled(self, part: _Segments, places: Float64Array) -> Float64Array:
        """Return the spline's values (a, m + 2, N) at the segments' starts, at m places, and at their ends."""
        w = np.repeat(np.concatenate(([0.0], places, [1.0]))[:, np.newaxis], len(part.begin), axis=1)
        if (eased := np.flatnonzero(part.eases.any(axis=0))).size:
            w[:, eased] = _eased(w[:, eased], *part.eases[:, eased])
        return self._evaluated(part, w, 0)

    def _course(
        self, part: _Segments, exact: Float64Array, derivatives: Float64Array
    ) -> tuple[_Course, Float64Array, BoolArray]:
        """Return the exact motion of channels, the signs of segments' ends, and which segments don't arrive there."""
        (begin, _, eases), representation = part, self._representation
        keys = np.stack([self._numbers[begin].T, self._numbers[begin + 1].T])
        flips, jumps = np.ones(len(begin)), np.zeros(len(begin), dtype=np.bool_)
        speeds = np.where(eases > 0.0, 0.0, 2.0 / (2.0 - eases.sum(axis=0)))[:, np.newaxis]
        rigid = _RIGID if representation is None or representation.homogeneous else _SOFT
        stiffness = np.where(eases > 0.0, _SOFT**2 * eases, rigid**2)
        if representation is None:
            course = _Course(keys, exact[:, 1:-1], derivatives * speeds, derivatives, eases, stiffness)
            return _apart(course), flips, jumps
        start, end = np.stack([representation.lengths(each) for each in keys])
        # An axis of no length is no axis: there the motion's own.
        named = start > 0.0
        unit, _ = representation.scaled(keys[0], keys[0], 1.0 / np.where(named, start, 1.0), np.zeros_like(start))
        unit = np.where(named, unit, representation.local(exact[:, 0], derivatives[0]))
        numbers = representation.following(unit, exact[:, 0], exact[:, 1:])
        change = end - start
        values = numbers[:, :-1]
        if not representation.homogeneous:
            lengths = start + _PLACES[:, np.newaxis] * change
            values, _ = representation.scaled(values, values, lengths, np.zeros_like(lengths))
        path, rates = np.empty_like(keys), np.empty_like(keys)
        ends = (unit, exact[:, 0], start), (numbers[:, -1], exact[:, -1], end)
        for side, (own, q, length) in enumerate(ends):
            natural = representation.rates(own, q, derivatives[side])
            arriving, path[side] = representation.scaled(own, natural, length, change)
            _, rates[side] = representation.scaled(own, natural * speeds[side], length, change)
        if representation.homogeneous:
            flips = np.where(sphere.dot(arriving, keys[1]) < 0.0, -1.0, 1.0)
            keys[1] *= flips
        else:
            jumps = (np.abs(arriving - keys[1]) > _ARRIVES).any(axis=0)
        course = _Course(keys, values, rates, path, eases, stiffness)
        return course if representation.homogeneous else _apart(course), flips, jumps

    def _off(self, played: Float64Array, course: _Course, exact: Float64Array) -> Float64Array:
        """Return how far off what is played is at `_PLACES`, shape (channels, m, N), of rotations (1, m, N)."""
        representation = self._representation
        count = self._numbers.shape[1]
        if representation is None:
            return np.abs(played - course.values).reshape(_MEASURED, count, -1).swapaxes(0, 1)
        channels = played if representation.homogeneous else played.reshape(_MEASURED, count, -1).swapaxes(0, 1)
        q = representation.orientation(channels)
        q = q / sphere.length(q)
        apart, along = sphere.length(q - exact[:, 1:-1]), sphere.length(q + exact[:, 1:-1])
        angles: Float64Array = 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
        return angles[np.newaxis]


def _stored(part: _Segments, course: _Course, shape: _Shape) -> tuple[Float32Array, Float32Array, Float64Array]:
    """Return float32 frames and values (2, c, N) of the handles, and the values that they play at `_PLACES`."""
    start, end = np.tile(part.frames, course.keys.shape[2] // len(part.begin))
    length = end - start
    frames = np.stack([start + shape.reach[0] * length, end - shape.reach[1] * length]).astype(np.float32)
    reach = np.stack([(frames[0] - start) / length, (end - frames[1]) / length])
    keys = course.keys.astype(np.float32).astype(np.float64)
    leaving, arriving = reach * shape.rates
    values = np.stack([course.keys[0] + leaving, course.keys[1] - arriving]).astype(np.float32)
    parameter = _solved(_frame_powers(reach), shape.parameter)
    powers = _powers(keys[1] - keys[0], values[0] - keys[0], keys[1] - values[1])
    return frames, values, _rise(powers, parameter) + keys[0][:, np.newaxis]


def _tops(off: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the largest differences (c, N) and their parameters: parabolas through those (c, m, N) at `_PLACES`."""
    row = np.argmax(off, axis=1)[:, np.newaxis]
    inner = np.clip(row, 1, len(_PLACES) - 2)
    before, largest, after = (np.take_along_axis(off, inner + step, axis=1)[:, 0] for step in (-1, 0, 1))
    row, inner = row[:, 0], inner[:, 0]
    slope, bend = parabola(_PLACES, inner, before, largest, after)
    ahead = np.divide(slope, 2.0 * bend, out=np.zeros_like(bend), where=(bend > 0.0) & (row == inner))
    top = np.where(
        row == inner, largest + 0.5 * slope * ahead, np.take_along_axis(off, row[:, np.newaxis], axis=1)[:, 0]
    )
    return top, _PLACES[row] + ahead


def _apart(course: _Course) -> _Course:
    """Return the course with a column for each channel's segment, the first channel's before the second's."""
    keys, rates, path = (pair.reshape(2, 1, -1) for pair in (course.keys, course.rates, course.path))
    channels, places, _ = course.values.shape
    values = np.ascontiguousarray(course.values.swapaxes(0, 1)).reshape(1, places, -1)
    return _Course(keys, values, rates, path, *(np.tile(each, channels) for each in (course.eases, course.stiffness)))


def _shape_of(course: _Course, still: BoolArray) -> _Shape:
    """Return the handles of all columns; those of `still` ones are at thirds, with the course's rates."""
    c, _, columns = course.values.shape
    parameter = np.empty(course.values.shape)
    parameter[:] = _PLACES[:, np.newaxis]
    shape = _Shape(np.full((2, c, columns), 1.0 / 3.0), course.rates.copy(), parameter)
    eased = course.eases.any(axis=0)
    for chosen, nodes in ((~still & ~eased, _NODES), (~still & eased, _EASED_NODES)):
        rows = np.flatnonzero(chosen)
        for start in range(0, len(rows), _TOGETHER // c):
            own = _two_or_more(rows[start : start + _TOGETHER // c])
            for array, fitted in zip(shape, _descended(course.take(own), nodes), strict=True):
                array[..., own] = fitted
    return shape


def _two_or_more(rows: IndexArray) -> IndexArray:
    """Return rows, a single one twice: NumPy sums one column in another order than several, and digits would differ."""
    return np.repeat(rows, 2) if len(rows) == 1 else rows


def _descended(course: _Course, nodes: slice) -> _Shape:
    """Return handles near the least squares at nodes, with more steps for columns with large errors."""
    origin, size = np.zeros(()), sphere.length(course.keys[0])
    if not course.turns:
        (origin,) = course.keys[0]
        reaching = np.concatenate([course.keys[1:] - course.keys[:1], course.path, course.rates])
        size = np.abs(reaching).max(axis=(0, 1))
    size = np.where(size > 0.0, size, 1.0)
    keys, values = (course.keys - origin) / size, course.values[:, nodes]
    if not course.turns:
        values = (values - origin) / size
    course = course._replace(keys=keys, values=values, rates=course.rates / size, path=course.path / size)
    problem = _Problem(course, _PLACES[nodes])
    state = problem.descended(problem.begun(), _STEPS)
    rounds = [(_MORE_STEPS, np.array(_SEEN)), (_STEPS_FOR_POOR, _POOR * sphere.length(keys[1] - keys[0]))]
    for steps, bound in rounds if course.turns else [(_CHANNEL_STEPS, np.array(_SEEN))]:
        poor = _two_or_more(np.flatnonzero(sphere.length(state.residuals).max(axis=0) > bound))
        if len(poor):
            further = _Problem(course.take(poor), _PLACES[nodes]).descended(state.take(poor), steps)
            for array, own in zip(state, further, strict=True):
                array[..., poor] = own
    return _Shape(state.reach, state.rates * size, _spread(state.parameter, nodes))


class _Problem:
    """Least squares of columns, whose values are of about the size 1, at nodes: shares of the segment."""

    def __init__(self, course: _Course, nodes: Float64Array) -> None:
        self._course = course
        self._nodes = nodes[:, np.newaxis]
        c, _, columns = course.values.shape
        self._bending = (
            np.repeat(np.eye(c)[np.newaxis], columns, axis=0) * self._course.stiffness[:, :, np.newaxis, np.newaxis]
        )
        self._directions: Float64Array | None = None
        if course.turns:
            directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
            self._directions = directions
            rows = (directions * np.sqrt(self._course.stiffness)[:, np.newaxis]).transpose(0, 2, 1)
            self._bending -= rows[..., np.newaxis] * rows[..., np.newaxis, :]

    def begun(self) -> _State:
        """Return the start of the descent: thirds, and with ease the frames with which thirds follow the ease best."""
        course = self._course
        eased = course.eases > 0.0
        reach = np.full(course.keys.shape, 1.0 / 3.0)
        rates = course.rates
        if eased.any():
            reach = np.repeat(_eased_reach(self._nodes, *course.eases)[:, np.newaxis], course.keys.shape[1], axis=1)
            rates = np.where(eased[:, np.newaxis], course.path / (3.0 * reach), rates)
        parameter = np.broadcast_to(self._nodes, course.values.shape)
        damping = np.where(eased.any(axis=0), _EASED_DAMPING, _DAMPING)
        return self._state(reach, rates, parameter, damping)

    def _state(
        self, reach: Float64Array, rates: Float64Array, parameter: Float64Array, damping: Float64Array
    ) -> _State:
        """Return the state of handles, whose parameters at the nodes are near to the given ones."""
        course = self._course
        frames = _frame_powers(reach)
        for _ in range(_NEWTON):
            rise = np.maximum(_slope(frames, parameter), _LEAST_SLOPE)
            parameter = np.clip(parameter - (_rise(frames, parameter) - self._nodes) / rise, 0.0, 1.0)
        values = _powers(course.keys[1] - course.keys[0], *(reach * rates))
        played = _rise(values, parameter) + course.keys[0][:, np.newaxis]
        steepness = _slope(values, parameter) / np.maximum(_slope(frames, parameter), _LEAST_SLOPE)
        leave = 3.0 * parameter * (1.0 - parameter)
        arrive = -leave * parameter
        leave += arrive
        changes = np.empty((4, *parameter.shape))
        for side, share in enumerate((leave, arrive)):
            np.multiply(share, rates[side][:, np.newaxis] - steepness, out=changes[side])
            np.multiply(share, reach[side][:, np.newaxis], out=changes[2 + side])
        bent = rates - course.rates
        if self._directions is None:
            residuals = played - course.values
        else:
            along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
            residuals = played / along - course.values
            changes /= along
            bent -= self._directions * (self._directions * bent).sum(axis=1)[:, np.newaxis]
        cost = np.add.reduce(residuals * residuals, axis=(0, 1))
        cost += (self._course.stiffness * (bent * bent).sum(axis=1)).sum(axis=0)
        return _State(reach, rates, parameter, residuals, changes, bent, cost, damping)

    def descended(self, state: _State, steps: int) -> _State:
        """Return the state after Levenberg-Marquardt steps; each column has its own damping."""
        for _ in range(steps):
            step = self._step(state)
            reach = np.clip(state.reach + np.clip(step[0], -_LONGEST_STEP, _LONGEST_STEP), 0.0, _LONGEST)
            trial = self._state(
                reach, state.rates + self._kept(step[1], state.reach, reach), state.parameter, state.damping * _LESS
            )
            better = trial.cost < state.cost
            if better.all():
                state = trial
            else:
                state = state._replace(damping=state.damping * _MORE)
                state = _State(*(np.where(better, new, old) for new, old in zip(trial, state, strict=True)))
        return state

    def _kept(self, step: Float64Array, before: Float64Array, after: Float64Array) -> Float64Array:
        """Return a step of soft rates that changes the heights of handles as it would with their reach before.

        A descent in heights needs half the steps.
        """
        ratio = np.clip(before / np.maximum(after, _LEAST_REACH), 1.0 / _LONGEST_RATIO, _LONGEST_RATIO)
        kept: Float64Array = step * np.where((self._course.stiffness < _RIGID**2)[:, np.newaxis], ratio, 1.0)
        return kept

    def _step(self, state: _State) -> Float64Array:
        """Return steps of reach and rates, shape (2, 2, c, N).

        A channel's unknowns change that channel alone; of a quaternion the part along the motion is projected out.
        """
        changes = state.changes
        _, c, nodes, columns = changes.shape
        blocks = np.zeros((columns, 4, c, 4, c))
        channel = np.arange(c)
        products = np.add.reduce(changes[:, np.newaxis] * changes, axis=3)
        blocks[:, :, channel, :, channel] = products.transpose(2, 3, 0, 1)
        normal = blocks.reshape(columns, 4 * c, 4 * c)
        if self._directions is not None:
            along = np.ascontiguousarray(
                (changes * self._course.values).reshape(4 * c, nodes, columns).transpose(2, 0, 1)
            )
            normal -= along @ along.transpose(0, 2, 1)
        descent = np.add.reduce(changes * state.residuals, axis=2)
        descent[2:] += self._course.stiffness[:, np.newaxis] * state.bent
        descent = descent.reshape(4 * c, columns).T
        size = np.einsum("nii->ni", normal).copy()
        mean = size.reshape(columns, 2, 2 * c).mean(axis=2, keepdims=True)
        damped = size * state.damping[:, np.newaxis]
        damped += np.repeat(_FLOOR * mean + _LEAST_FLOOR, 2 * c, axis=1).reshape(columns, 4 * c)
        reach = state.reach.reshape(2 * c, columns).T
        onward = descent[:, : 2 * c]
        damped[:, : 2 * c] += _HELD * (((reach <= 0.0) & (onward > 0.0)) | ((reach >= _LONGEST) & (onward < 0.0)))
        for side in range(2):
            own = slice((2 + side) * c, (3 + side) * c)
            normal[:, own, own] += self._bending[side]
        unknown = np.arange(4 * c)
        normal[:, unknown, unknown] += damped
        step = np.linalg.solve(normal, -descent[..., np.newaxis])[..., 0]
        steps: Float64Array = step.T.reshape(2, 2, c, columns)
        return steps


def _eased(u: Float64Array, ease_from: Float64Array, ease_to: Float64Array, nu: int = 0) -> Float64Array:
    """Return shares of segments (m, N) eased, or their derivatives by u."""
    return ease.ease(u, np.broadcast_to(ease_from, u.shape), np.broadcast_to(ease_to, u.shape), nu)


def _eased_reach(t: Float64Array, ease_from: Float64Array, ease_to: Float64Array) -> Float64Array:
    """Return the reach (2, N) of handles whose values are at thirds with which a line follows the ease best.

    Linear least squares of the frame's cubic at parameters t (m, 1): there the line's value is the parameter, and the
    frame is the inverse of the ease. Errors of frames times the line's speed are those of values.
    """
    scale = 1.0 / (2.0 - ease_from - ease_to)
    u = (t / scale + ease_from) / 2.0
    u = np.where(t < scale * ease_from, np.sqrt(t * ease_from / scale), u)
    u = np.where(1.0 - t < scale * ease_to, 1.0 - np.sqrt((1.0 - t) * ease_to / scale), u)
    weight = _eased(u, ease_from, ease_to, nu=1)
    leave, arrive = 3.0 * t * (1.0 - t) ** 2 * weight, -3.0 * t * t * (1.0 - t) * weight
    rest = (u - t**3 - 3.0 * t * t * (1.0 - t)) * weight
    a, b, d = ((x * y).sum(axis=0) for x, y in ((leave, leave), (leave, arrive), (arrive, arrive)))
    p, q = (leave * rest).sum(axis=0), (arrive * rest).sum(axis=0)
    reach: Float64Array = np.stack([d * p - b * q, a * q - b * p]) / (a * d - b * b)
    return np.clip(reach, _LEAST_BEGUN, _LONGEST)


def _powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, c, 1, N) of t, t² and t³ of cubics (c, N) that rise by a chord.

    `leaving` and `arriving` are the differences of the second Bezier point to the first, and of the last to the third.
    """
    powers: Float64Array = 3.0 * np.stack([leaving, chord - arriving - 2.0 * leaving, leaving + arriving - chord])
    powers[2] += chord
    return powers[:, :, np.newaxis]


def _frame_powers(reach: Float64Array) -> Float64Array:
    """Return the coefficients of the frame, in shares of the segment."""
    return _powers(np.ones_like(reach[0]), *reach)


def _rise(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the rise of cubics from 0 to t."""
    linear, square, cube = powers
    rise: Float64Array = ((cube * t + square) * t + linear) * t
    return rise


def _slope(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the derivatives of cubics at t."""
    linear, square, cube = powers
    slope: Float64Array = (3.0 * cube * t + 2.0 * square) * t + linear
    return slope


def _solved(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the parameters at which rising cubics (c, m, N) from 0 to 1 have the values `_PLACES`.

    Newton's method starts at given parameters; where it does not converge, bisection does.
    """
    target = _PLACES[:, np.newaxis]
    for _ in range(_NEWTON + 1):
        off = _rise(powers, t) - target
        if (np.abs(off) <= _SOLVED).all():
            return t
        t = np.clip(t - off / np.maximum(_slope(powers, t), _LEAST_SLOPE), 0.0, 1.0)
    far = np.nonzero(np.abs(_rise(powers, t) - target) > _SOLVED)
    if len(far[0]):
        channel, place, column = far
        own = powers[:, channel, 0, column]
        low, high = np.zeros(len(far[0])), np.ones(len(far[0]))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            short = _rise(own, middle) < _PLACES[place]
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        t[far] = 0.5 * (low + high)
    return t


def _spread(parameter: Float64Array, nodes: slice) -> Float64Array:
    """Return parameters (c, nodes, N) at all places, interpolated linearly from 0 over the nodes to 1."""
    known = np.concatenate(([0.0], _PLACES[nodes], [1.0]))
    before = np.searchsorted(known, _PLACES, side="right") - 1
    share = ((_PLACES - known[before]) / np.diff(known)[before])[:, np.newaxis]
    whole = np.empty((len(parameter), len(known), parameter.shape[2]))
    whole[:, 0], whole[:, 1:-1], whole[:, -1] = 0.0, parameter, 1.0
    spread: Float64Array = whole[:, before] * (1.0 - share) + whole[:, before + 1] * share
    return spread
