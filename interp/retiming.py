# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime a motion p by a frame function F(t), and find the frame function for constant speed.

Source: docs/formulas, "Frame functions", "Arc length" and "Constant speed".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from . import ease
from .arguments import checked_choice, checked_row, checked_sample_frames
from .base_spline import Spline, checked_derivative
from .key_batch import BoolArray, IndexArray
from .keys import Float64Array, finite
from .spline_batch import SplineBatch, evaluate_many

Between = Literal["ENDS", "KEYS"]

LENGTH_TOLERANCE = 1e-9
"""The largest error in arc lengths, relative to the total length."""
POSITION_TOLERANCE = 0.005
"""The largest position error, relative to the distance that a motion with constant speed travels per frame."""
SPEED_TOLERANCE = 0.01
"""The largest relative error in the speed."""

_NODES = 10
_PLACES, _WEIGHTS = legendre.leggauss(_NODES)
_ORDERS = np.arange(_NODES)[:, np.newaxis]
# Maps a polynomial's values at the nodes to its Legendre coefficients. The quadrature is exact to degree 19.
_TO_COEFFICIENTS = (_ORDERS + 0.5) * legendre.legvander(_PLACES, _NODES - 1).T * _WEIGHTS
# The number of halvings after which a panel is narrower than rounding.
_MOST_LEVELS = 40
_MOST_STEPS = 60
# Smooth parts shorter than this fraction of the frame range are dropped.
_MEETING = 1e-12
# The relative accuracy of panel lengths, and of frames found from lengths, which is limited by rounding.
_EXACT = 4.0 * 2.0**-52
# The shortest piece of a frame function, in frames. Near a stop, where the slope is unbounded, such pieces are lines.
_LEAST_FRAMES = 0.125
# The time in which a frame function skips a rest in the motion, 1/64 frame.
_PASSING = 0.015625
# Values at the ends of a piece are taken this far inside the piece, relative to its length.
_INWARD = 1e-9
_LOOKS = np.linspace(0.0, 1.0, 17)[1:-1]


def retimed(
    spline: Spline,
    frames: npt.ArrayLike,
    nu: int = 0,
    rates: npt.ArrayLike = 1.0,
    changes: npt.ArrayLike = 0.0,
) -> Float64Array:
    """Evaluate p(F(t)), or its derivatives with respect to t.

    Parameters
    ----------
    spline : Spline
        The motion p of values or rotations.
    frames : array_like, shape (m,)
        Finite values of F(t) in any order. F may run backward, pause and jump.
    nu : 0, 1 or 2
        0 for values, otherwise the order of the derivative with respect to t. For rotations, derivatives are angular
        velocities and accelerations.
    rates, changes : array_like, shape (m,), or a number
        The finite first and second derivatives of F at t, in frames per frame and frames per frame squared. Derivatives
        not needed for `nu` are ignored.

    Returns
    -------
    ndarray
        One row per frame: values, quaternions w, x, y, z, or angular velocities or accelerations x, y, z. Angular
        derivatives are in the parent frame, in radians per frame and per frame squared.

    Raises
    ------
    TypeError
        If `spline` is not a spline, `frames`, `rates` or `changes` are not numbers, or `nu` is not an integer.
    ValueError
        If frames, rates or changes are not finite or not one-dimensional, their lengths differ, or the spline does not
        have this derivative.

    Notes
    -----
    If p has different derivatives before and after a key, the side in the direction of F is used. Angular velocities
    and accelerations follow the same chain rule as values. Source: docs/formulas, "Frame functions".

    Examples
    --------
    Play backward at half speed:

    >>> spline = tcb.VectorSpline(Keys([0, 10], [0, 20]))
    >>> t = np.array([0, 10, 20])
    >>> retiming.retimed(spline, 10 - t / 2).ravel(), retiming.retimed(spline, 10 - t / 2, 1, rates=-0.5).ravel()
    (array([20., 10.,  0.]), array([-1., -1., -1.]))
    """
    if not isinstance(spline, Spline):
        raise TypeError(f"spline must be a spline, not {spline!r}")
    nu = checked_derivative(spline, nu)
    at = checked_row("frames", frames)
    if nu == 0:
        return evaluate_many([spline], at)[0]
    pace = _each("rates", rates, at)
    at = np.where(pace < 0.0, np.nextafter(at, -np.inf), at)
    first = evaluate_many([spline], at, 1)[0]
    if nu == 1:
        return first * pace[:, np.newaxis]
    bend = _each("changes", changes, at)
    return evaluate_many([spline], at, nu)[0] * (pace**2)[:, np.newaxis] + first * bend[:, np.newaxis]


def _each(name: str, data: npt.ArrayLike, frames: Float64Array) -> Float64Array:
    """Return a finite number for each frame, or raise TypeError or ValueError."""
    given = finite(name, data)
    if given.ndim and given.shape != frames.shape:
        raise ValueError(
            f"{name} must be one number, or {len(frames)} numbers, one per frame, not an array of shape {given.shape}"
        )
    return np.broadcast_to(given, frames.shape)


class ArcLength:
    """The length of a motion's path, from its first key to any frame.

    Parameters
    ----------
    splines : sequence of Spline
        The motion as one spline, or as splines of components with keys at different frames. The length is Euclidean
        over all components of values. For rotations, it is the total angle in radians.

    Attributes
    ----------
    first, last : float
        The first and last frames that have keys.
    length : float
        The total length, in units of values or radians, which is 0 without motion.

    Raises
    ------
    TypeError
        If `splines` is not a sequence of splines.
    ValueError
        If there are no splines.

    Notes
    -----
    Ten-point Gauss-Legendre quadrature is used. Panels are halved until the polynomial of each panel agrees with the
    polynomials of its two halves to within `LENGTH_TOLERANCE`. Panels start at keys and at the ends of eases. Source:
    docs/formulas, "Arc length".

    Examples
    --------
    >>> arc = retiming.ArcLength([tcb.VectorSpline(Keys([0, 10], [[0, 0], [3, 4]], ease_to=1))])
    >>> arc.length, arc.at([5, 10]), arc.frames([2.5])
    (5.0, array([3.75, 5.  ]), array([2.928932]))
    """

    def __init__(self, splines: Sequence[Spline]) -> None:
        self._splines = SplineBatch(splines)
        if not len(self._splines):
            raise ValueError("splines must contain at least one spline")
        edges = _smooth_parts(self._splines)
        self.first, self.last = float(edges[0]), float(edges[-1])
        start, panels = self._panels(edges[:-1], edges[1:])
        order = np.argsort(start)
        self._start, self._panel = start[order], panels[:, order]
        self._half = (np.append(self._start[1:], self.last) - self._start) / 2.0
        ends = np.cumsum(self._panel.sum(axis=0))
        self.length = float(ends[-1]) if len(ends) else 0.0
        self._before = np.append(0.0, ends)

    def speed(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the speed in length per frame, shape (m,), at frames (m,)."""
        at = checked_row("frames", frames)
        rates = evaluate_many(self._splines, at, 1)
        squares: Float64Array = sum((np.einsum("ij,ij->i", rate, rate) for rate in rates), np.zeros(at.shape))
        return np.sqrt(squares)

    def at(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the length from the first key to each frame, shape (m,). The length is constant outside the keys."""
        inside = np.clip(checked_sample_frames("frames", frames), self.first, self.last)
        if not self.length:
            return np.zeros_like(inside)
        panel = np.clip(np.searchsorted(self._start, inside, side="right") - 1, 0, None)
        x = (inside - self._start[panel]) / self._half[panel] - 1.0
        return self._before[panel] + legendre.legval(x, self._panel[:, panel], tensor=False)

    def frames(self, lengths: npt.ArrayLike) -> Float64Array:
        """Return the frames at which the motion has these lengths, shape (m,).

        For the length at a rest, the result is the last frame of the rest, or its first frame if the length is the
        total length. For lengths below 0 or above the total length, the result is the first or last frame.
        """
        wanted = np.clip(finite("lengths", lengths), 0.0, self.length)
        moving = np.flatnonzero(np.diff(self._before) > 0.0)
        if not len(moving):
            return np.full_like(wanted, self.first)
        row = moving[np.clip(np.searchsorted(self._before[moving], wanted, side="right") - 1, 0, None)]
        rest, panel, half = wanted - self._before[row], self._panel[:, row], self._half[row]
        slope = legendre.legder(panel)
        low, high = np.full_like(rest, -1.0), np.full_like(rest, 1.0)
        x = 2.0 * rest / panel.sum(axis=0) - 1.0
        for _ in range(_MOST_STEPS):
            off = legendre.legval(x, panel, tensor=False) - rest
            if (np.abs(off) <= _EXACT * self.length).all():
                break
            high, low = np.where(off > 0.0, x, high), np.where(off < 0.0, x, low)
            pace = legendre.legval(x, slope, tensor=False)
            newton = x - np.divide(off, pace, out=np.full_like(off, np.inf), where=pace > 0.0)
            x = np.where((newton > low) & (newton < high), newton, (low + high) / 2.0)
        found: Float64Array = self._start[row] + (x + 1.0) * half
        return found

    def _panels(self, start: Float64Array, end: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the starts of panels, and Legendre series (nodes + 1, panels) of the length from each start."""
        series = self._series(start, end)
        goal = LENGTH_TOLERANCE * float(series.sum()) / max(self.last - self.first, 1e-300)
        least = _EXACT * float(series.sum())
        done_start, done_series = [], []
        for level in range(_MOST_LEVELS):
            middle = (start + end) / 2.0
            left, right = self._series(start, middle), self._series(middle, end)
            at_middle, at_end = legendre.legval(0.0, series), series.sum(axis=0)
            first, second = left.sum(axis=0), right.sum(axis=0)
            off = np.abs(first - at_middle) + np.abs(second - (at_end - at_middle))
            good = (off <= np.maximum(goal * (end - start), least)) | (level == _MOST_LEVELS - 1)
            done_start += [start[good], middle[good]]
            done_series += [left[:, good], right[:, good]]
            start, end = (
                np.concatenate((start[~good], middle[~good])),
                np.concatenate((middle[~good], end[~good])),
            )
            series = np.concatenate((left[:, ~good], right[:, ~good]), axis=1)
            if not len(start):
                break
        return np.concatenate(done_start), np.concatenate(done_series, axis=1)

    def _series(self, start: Float64Array, end: Float64Array) -> Float64Array:
        """Return the Legendre series of the lengths in panels, from each panel's start."""
        half = (end - start) / 2.0
        frames = start + half * (1.0 + _PLACES[:, np.newaxis])
        speeds = self.speed(frames.ravel()).reshape(frames.shape)
        # The value at -1 is 0. At 1 every Legendre polynomial is 1, so the value is the sum of the coefficients.
        series: Float64Array = legendre.legint(_TO_COEFFICIENTS @ speeds, lbnd=-1) * half
        return series


def _smooth_parts(splines: Sequence[Spline]) -> Float64Array:
    """Return the frames between which the speed is smooth, unless it reaches 0."""
    bounds = []
    for spline in splines:
        keys = spline.keys
        length = np.diff(keys.frames)
        leave, arrive = ease.normalised(keys.ease_from[:-1], keys.ease_to[1:])
        bounds += [keys.frames, keys.frames[:-1] + leave * length, keys.frames[1:] - arrive * length]
    edges = np.unique(np.concatenate(bounds))
    # If two eases fill a segment, their ends are equal except for rounding.
    apart = np.diff(edges) > _MEETING * (edges[-1] - edges[0])
    parts = np.append(edges[:-1][apart], edges[-1])
    parts[0] = edges[0]
    return parts


class ConstantSpeed:
    """The frame function that gives a motion constant speed along its path.

    Parameters
    ----------
    splines : sequence of Spline
        The motion. See `ArcLength`.
    between : "ENDS" or "KEYS"
        One speed from the first key to the last, or one speed between each pair of adjacent keys, whose frames do not
        change.

    Attributes
    ----------
    arc : ArcLength
        The lengths of the motion.

    Raises
    ------
    TypeError, ValueError
        If `ArcLength` raises the error, or `between` is unknown.

    Notes
    -----
    Rests in the motion are skipped, except between keys that keep their frames. Outside the keys, F(t) is t.
    Source: docs/formulas, "Constant speed".

    Examples
    --------
    >>> eased = tcb.VectorSpline(Keys([0, 10], [[0, 0], [3, 4]], ease_to=1))
    >>> function = retiming.ConstantSpeed([eased])
    >>> function([0, 5, 10]), retiming.retimed(eased, function([0, 5, 10]))[:, 0]
    (array([ 0.      ,  2.928932, 10.      ]), array([0. , 1.5, 3. ]))
    """

    def __init__(self, splines: Sequence[Spline], between: Between = "ENDS") -> None:
        checked_choice("between", between, get_args(Between))
        batch = SplineBatch(splines)
        self.arc = ArcLength(batch)
        keys = np.unique(np.concatenate([spline.keys.frames for spline in batch]))
        self._marks = keys if between == "KEYS" else np.unique(keys[[0, -1]])
        self._lengths = self.arc.at(self._marks)
        bounds = self.arc.at(keys)
        # The times at which F reaches a key, where the motion's speed has corners.
        self._breaks = np.unique(np.append(self._frames_of(bounds), self._marks))

    def __call__(self, frames: npt.ArrayLike) -> Float64Array:
        """Return F(t), the frames of the motion to play, shape (m,), at finite frames t."""
        at = checked_sample_frames("frames", frames)
        part, pace = self._part(at)
        wanted = self._lengths[part] + (at - self._marks[part]) * pace
        outside = (at < self.arc.first) | (at > self.arc.last)
        return np.where(outside | (pace == 0.0), at, self.arc.frames(wanted))

    def pace(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the speed of the retimed motion, shape (m,).

        The speed is 0 in parts of zero length and outside the keys.
        """
        at = checked_sample_frames("frames", frames)
        outside = (at < self.arc.first) | (at > self.arc.last)
        return np.where(outside, 0.0, self._part(at)[1])

    def _part(self, frames: Float64Array) -> tuple[IndexArray, Float64Array]:
        """Return the index of the part between marks that contains each frame, and the speed there."""
        if len(self._marks) == 1:
            return np.zeros(frames.shape, dtype=np.intp), np.zeros(frames.shape)
        part = np.clip(np.searchsorted(self._marks, frames, side="right") - 1, 0, len(self._marks) - 2)
        return part, (np.diff(self._lengths) / np.diff(self._marks))[part]

    def _frames_of(self, lengths: Float64Array) -> Float64Array:
        """Return the times at which the motion has these lengths."""
        moving = np.flatnonzero(np.diff(self._lengths) > 0.0)
        if not len(moving):
            return np.empty(0)
        part = moving[np.clip(np.searchsorted(self._lengths[moving], lengths, side="right") - 1, 0, None)]
        pace = (self._lengths[part + 1] - self._lengths[part]) / (self._marks[part + 1] - self._marks[part])
        times: Float64Array = self._marks[part] + (lengths - self._lengths[part]) / pace
        return times

    def keys(self) -> FunctionKeys:
        """Return a small number of Bezier keys that play the function, from the first to the last key of the motion.

        The errors are within `POSITION_TOLERANCE` and `SPEED_TOLERANCE`. Within a quarter of a frame of keys at which
        the motion almost stops, both errors may be larger, because the frame function is almost vertical there. The
        position error can reach a tenth of a frame.
        """
        # Breaks closer than the time in which a frame function skips a rest count as one.
        edges = np.append(self._breaks[:-1][np.diff(self._breaks) > _PASSING], self._breaks[-1])
        if len(edges) == 1:
            return FunctionKeys(edges, edges.copy(), np.ones(1), np.ones(1))
        edges[0] = self._breaks[0]
        done = []
        start, end = edges[:-1], edges[1:]
        while len(start):
            pieces = self._pieces(start, end)
            good = self._is_good(pieces)
            done.append(pieces.take(good))
            start, end = start[~good], end[~good]
            middle = (start + end) / 2.0
            middle = np.where(end - start >= 2.0, np.round(middle), middle)
            start, end = np.concatenate((start, middle)), np.concatenate((middle, end))
        return _function_keys(done)

    def _pieces(self, start: Float64Array, end: Float64Array) -> _Pieces:
        """Return the cubics with the function's values and derivatives at the given frames."""
        frames = np.stack((start, end))
        pace = self.pace((start + end) / 2.0)
        # The values are taken inside the piece, because F skips rests.
        inward = np.where(pace > 0.0, (end - start) * _INWARD, 0.0)
        values = self(np.concatenate((start + inward, end - inward))).reshape(2, -1)
        speeds = self.arc.speed(values.ravel()).reshape(2, -1)
        slopes = np.divide(pace, speeds, out=np.full_like(speeds, np.inf), where=speeds > 0.0)
        slopes[:, pace == 0.0] = 1.0
        return _Pieces(frames, values, slopes)

    def _is_good(self, pieces: _Pieces) -> BoolArray:
        """Return a mask of finished pieces. Pieces that might run backward become lines."""
        length = np.diff(pieces.frames, axis=0)[0]
        chord = np.diff(pieces.values, axis=0)[0] / length
        shortest = length < 2.0 * _LEAST_FRAMES
        # A cubic whose end slopes exceed three times the chord may run backward.
        bounded = (pieces.slopes <= 3.0 * chord + 1e-9).all(axis=0)
        pieces.slopes[:, ~bounded] = chord[~bounded]
        frames, values, rates = pieces.at(_LOOKS)
        at = values.ravel()
        pace = self.pace(frames.ravel()).reshape(frames.shape)
        still = pace == 0.0
        paced = np.where(still, 1.0, pace)
        off = (self.arc.at(at) - self.arc.at(self(frames.ravel()))).reshape(frames.shape) / paced
        over = self.arc.speed(at).reshape(frames.shape) * rates / paced - 1.0
        near = (np.abs(off) <= POSITION_TOLERANCE).all(axis=0) & (np.abs(over) <= SPEED_TOLERANCE).all(axis=0) & bounded
        done: BoolArray = near | shortest | still.all(axis=0)
        return done


@dataclass(frozen=True)
class FunctionKeys:
    """The Bezier keys of a frame function.

    Attributes
    ----------
    frames, values : ndarray, shape (k,)
        The keys.
    incoming, outgoing : ndarray, shape (k,)
        Derivatives per frame before and after the keys. Handles are at thirds. See `curves.handles`.
    """

    frames: Float64Array
    values: Float64Array
    incoming: Float64Array
    outgoing: Float64Array


@dataclass(frozen=True)
class _Pieces:
    """Cubics, each between two frames. Arrays have shape (2, n), for the start and end."""

    frames: Float64Array
    values: Float64Array
    slopes: Float64Array

    def take(self, rows: BoolArray) -> _Pieces:
        """Return a subset of the pieces."""
        return _Pieces(self.frames[:, rows], self.values[:, rows], self.slopes[:, rows])

    def at(self, parameter: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return frames, values and derivatives at the local parameters, shape (m, n)."""
        t = parameter[:, np.newaxis]
        s = 1.0 - t
        length = self.frames[1] - self.frames[0]
        (a, b), (leave, arrive) = self.values, self.slopes * length
        values = s * s * (1 + 2 * t) * a + t * t * (3 - 2 * t) * b + t * s * s * leave - t * t * s * arrive
        slopes = 6 * t * s * (b - a) + s * (1 - 3 * t) * leave + t * (3 * t - 2) * arrive
        return self.frames[0] + t * length, values, slopes / length


def _function_keys(parts: Sequence[_Pieces]) -> FunctionKeys:
    """Return the keys of consecutive pieces, with a short steep segment where the value jumps up between pieces."""
    frames, values, slopes = (
        np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("frames", "values", "slopes")
    )
    order = np.argsort(frames[0])
    frames, values, slopes = frames[:, order], values[:, order], slopes[:, order]
    gap = values[0, 1:] - values[1, :-1]
    jump = np.flatnonzero(gap > _PASSING)
    up = gap[jump] / _PASSING
    at = np.concatenate((frames[0], frames[1, -1:], frames[0, jump + 1] - _PASSING))
    value = np.concatenate((values[0], values[1, -1:], values[1, jump]))
    incoming = np.concatenate((slopes[0, :1], slopes[1], slopes[1, jump]))
    outgoing = np.concatenate((slopes[0], slopes[1, -1:], up))
    incoming[jump + 1] = up
    order = np.argsort(at)
    return FunctionKeys(at[order], value[order], incoming[order], outgoing[order])
