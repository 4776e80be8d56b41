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

from .arc_length import LENGTH_TOLERANCE, ArcLength
from .arguments import checked_choice, checked_finite, checked_frames_1d, checked_sample_frames
from .base_spline import Spline, checked_derivative
from .cubics import hermite_weights
from .keys import BoolArray, Float64Array, IndexArray
from .spline_batch import SplineBatch

__all__ = [
    "LENGTH_TOLERANCE",
    "POSITION_TOLERANCE",
    "SPEED_TOLERANCE",
    "ArcLength",
    "Between",
    "ConstantSpeed",
    "FunctionKeys",
    "retimed",
]

Between = Literal["ENDS", "KEYS"]

POSITION_TOLERANCE = 0.005
"""The largest position error, relative to the distance that a motion with constant speed travels per frame."""
SPEED_TOLERANCE = 0.01
"""The largest relative error in the speed."""

# The shortest piece of a frame function, in frames. Near a stop, where the slope is unbounded, such pieces are lines.
_SHORTEST_PIECE = 0.125
# The time in which a frame function skips a rest in the motion, 1/64 frame.
_SKIP = 0.015625
# Values at the ends of a piece are taken this far inside the piece, relative to its length.
_INWARD = 1e-9
# The local parameters at which the errors of pieces are measured.
_CHECKED_PARAMETERS = np.linspace(0.0, 1.0, 17)[1:-1, np.newaxis]


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
    motion_frames = checked_frames_1d("frames", frames)
    if nu == 0:
        return spline(motion_frames)
    first_rates = _per_frame("rates", rates, motion_frames)
    # A motion that runs backward reaches a key from the segment after it and leaves it by the segment before.
    sides = np.where(first_rates < 0.0, np.nextafter(motion_frames, -np.inf), motion_frames)
    velocities = spline(sides, 1)
    if nu == 1:
        return velocities * first_rates[:, np.newaxis]
    second_rates = _per_frame("changes", changes, motion_frames)
    accelerations = spline(sides, nu)
    return accelerations * (first_rates**2)[:, np.newaxis] + velocities * second_rates[:, np.newaxis]


def _per_frame(name: str, data: npt.ArrayLike, frames: Float64Array) -> Float64Array:
    """Return a finite number for each frame, or raise TypeError or ValueError."""
    checked = checked_finite(name, data)
    if checked.ndim and checked.shape != frames.shape:
        raise ValueError(
            f"{name} must be one number, or {len(frames)} numbers, one per frame, not an array of shape {checked.shape}"
        )
    return np.broadcast_to(checked, frames.shape)


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
        key_frames = np.unique(np.concatenate([spline.keys.frames for spline in batch]))
        self._fixed_frames = key_frames if between == "KEYS" else np.unique(key_frames[[0, -1]])
        self._fixed_lengths = self.arc.at(self._fixed_frames)
        self._paces = np.diff(self._fixed_lengths) / np.diff(self._fixed_frames)
        # The times at which F reaches a key, where the motion's speed has corners.
        self._breaks = self._fixed_frames
        if between == "ENDS" and self.arc.length:
            times_of_keys = self.arc.first + self.arc.at(key_frames) / self._paces[0]
            self._breaks = np.union1d(times_of_keys, self._fixed_frames)

    def __call__(self, frames: npt.ArrayLike) -> Float64Array:
        """Return F(t), the frames of the motion to play, shape (m,), at finite frames t."""
        times = checked_sample_frames("frames", frames)
        interval, pace = self._intervals(times)
        lengths = self._fixed_lengths[interval] + (times - self._fixed_frames[interval]) * pace
        return np.where(self._is_outside(times) | (pace == 0.0), times, self.arc.frames(lengths))

    def pace(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the speed of the retimed motion, shape (m,).

        The speed is 0 in parts of zero length and outside the keys.
        """
        times = checked_sample_frames("frames", frames)
        return np.where(self._is_outside(times), 0.0, self._intervals(times)[1])

    def keys(self) -> FunctionKeys:
        """Return a small number of Bezier keys that play the function, from the first to the last key of the motion.

        The errors are within `POSITION_TOLERANCE` and `SPEED_TOLERANCE`. Within a quarter of a frame of keys at which
        the motion almost stops, both errors may be larger, because the frame function is almost vertical there. The
        position error can reach a tenth of a frame.
        """
        # Breaks closer than the time in which a frame function skips a rest count as one.
        edges = np.append(self._breaks[:-1][np.diff(self._breaks) > _SKIP], self._breaks[-1])
        if len(edges) == 1:
            return FunctionKeys(edges, edges.copy(), np.ones(1), np.ones(1))
        edges[0] = self._breaks[0]
        finished_pieces = []
        starts, ends = edges[:-1], edges[1:]
        while len(starts):
            pieces = self._pieces(starts, ends)
            is_finished = self._are_accurate(pieces) | (ends - starts < 2.0 * _SHORTEST_PIECE)
            finished_pieces.append(pieces[..., is_finished])
            starts, ends = _halved(starts[~is_finished], ends[~is_finished])
        return _function_keys(np.concatenate(finished_pieces, axis=2))

    def _is_outside(self, times: Float64Array) -> BoolArray:
        """Return a mask of the times before the first key or after the last key."""
        outside: BoolArray = (times < self.arc.first) | (times > self.arc.last)
        return outside

    def _intervals(self, times: Float64Array) -> tuple[IndexArray, Float64Array]:
        """Return the index of the interval between fixed frames that contains each time, and the speed there."""
        if not len(self._paces):
            return np.zeros(times.shape, dtype=np.intp), np.zeros(times.shape)
        last = len(self._paces) - 1
        interval = np.clip(np.searchsorted(self._fixed_frames, times, side="right") - 1, 0, last)
        return interval, self._paces[interval]

    def _pieces(self, starts: Float64Array, ends: Float64Array) -> Float64Array:
        """Return cubics that run forward with the function's values and derivatives at their ends, or lines.

        The result has the shape (3, 2, n): frames, values and derivatives at the starts and ends.
        """
        pace = self.pace((starts + ends) / 2.0)
        # The values are taken inside the piece, because F skips rests.
        inward = np.where(pace > 0.0, (ends - starts) * _INWARD, 0.0)
        values = self(np.concatenate((starts + inward, ends - inward))).reshape(2, -1)
        speeds = self.arc.speed(values.ravel()).reshape(2, -1)
        slopes = np.divide(pace, speeds, out=np.full_like(speeds, np.inf), where=speeds > 0.0)
        chord_slopes = (values[1] - values[0]) / (ends - starts)
        # With end slopes of at most three times the chord's slope, a cubic is monotone (Fritsch and Carlson 1980).
        runs_forward = (slopes <= 3.0 * chord_slopes + 1e-9).all(axis=0)
        return np.stack([np.stack((starts, ends)), values, np.where(runs_forward, slopes, chord_slopes)])

    def _are_accurate(self, pieces: Float64Array) -> BoolArray:
        """Return a mask of the pieces whose errors are within the tolerances, or in which the motion rests."""
        (starts, ends), (start_values, end_values), slopes = pieces
        lengths, chords = ends - starts, end_values - start_values
        leaving, arriving = slopes * lengths
        rises, rates = (
            weights.applied(chords, leaving, arriving)
            for weights in (hermite_weights(_CHECKED_PARAMETERS), hermite_weights(_CHECKED_PARAMETERS, 1))
        )
        times = (starts + _CHECKED_PARAMETERS * lengths).ravel()
        motion_frames, played_slopes = (start_values + rises).ravel(), (rates / lengths).ravel()
        pace = self.pace(times)
        position_errors = self.arc.at(motion_frames) - self.arc.at(self(times))
        speed_errors = self.arc.speed(motion_frames) * played_slopes - pace
        is_within = np.abs(position_errors) <= POSITION_TOLERANCE * pace
        is_within &= np.abs(speed_errors) <= SPEED_TOLERANCE * pace
        is_accurate: BoolArray = (is_within | (pace == 0.0)).reshape(rises.shape).all(axis=0)
        return is_accurate


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


def _halved(starts: Float64Array, ends: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the starts and ends of both halves of pieces. The halves of long pieces meet at a whole frame."""
    middles = (starts + ends) / 2.0
    middles = np.where(ends - starts >= 2.0, np.round(middles), middles)
    return np.concatenate((starts, middles)), np.concatenate((middles, ends))


def _function_keys(pieces: Float64Array) -> FunctionKeys:
    """Return the keys of consecutive pieces, with a short steep segment where the value jumps up between pieces."""
    frames, values, slopes = pieces[..., np.argsort(pieces[0, 0])]
    rises = values[0, 1:] - values[1, :-1]
    jump = np.flatnonzero(rises > _SKIP)
    steep_slopes = rises[jump] / _SKIP
    key_frames = np.concatenate((frames[0], frames[1, -1:], frames[0, jump + 1] - _SKIP))
    key_values = np.concatenate((values[0], values[1, -1:], values[1, jump]))
    incoming = np.concatenate((slopes[0, :1], slopes[1], slopes[1, jump]))
    outgoing = np.concatenate((slopes[0], slopes[1, -1:], steep_slopes))
    incoming[jump + 1] = steep_slopes
    order = np.argsort(key_frames)
    return FunctionKeys(key_frames[order], key_values[order], incoming[order], outgoing[order])
