# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame function that gives a motion constant speed along its path, and its Bezier keys.

Source: docs/formulas, "Constant speed".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from .arc_length import ArcLength
from .arguments import checked_choice, checked_sample_frames
from .base_spline import Spline
from .cubics import hermite_weights
from .key_batch import BoolArray, IndexArray
from .keys import Float64Array
from .spline_batch import SplineBatch

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
# The local parameters at which the errors of a piece are measured.
_CHECKED_PARAMETERS = np.linspace(0.0, 1.0, 17)[1:-1]


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
        self._breaks = np.unique(np.append(self._times_of(self.arc.at(key_frames)), self._fixed_frames))

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
            runs_forward = pieces.run_forward()
            pieces = pieces.with_lines(~runs_forward)
            is_finished = (runs_forward & self._are_accurate(pieces)) | pieces.are_shortest() | self._are_paused(pieces)
            finished_pieces.append(pieces.take(is_finished))
            starts, ends = _halved(starts[~is_finished], ends[~is_finished])
        return _function_keys(finished_pieces)

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

    def _times_of(self, lengths: Float64Array) -> Float64Array:
        """Return the times at which the retimed motion has these lengths."""
        moving = np.flatnonzero(np.diff(self._fixed_lengths) > 0.0)
        if not len(moving):
            return np.empty(0)
        interval = moving[np.clip(np.searchsorted(self._fixed_lengths[moving], lengths, side="right") - 1, 0, None)]
        offsets = (lengths - self._fixed_lengths[interval]) / self._paces[interval]
        times: Float64Array = self._fixed_frames[interval] + offsets
        return times

    def _pieces(self, starts: Float64Array, ends: Float64Array) -> _Pieces:
        """Return the cubics with the function's values and derivatives at the given frames."""
        pace = self.pace((starts + ends) / 2.0)
        # The values are taken inside the piece, because F skips rests.
        inward = np.where(pace > 0.0, (ends - starts) * _INWARD, 0.0)
        values = self(np.concatenate((starts + inward, ends - inward))).reshape(2, -1)
        speeds = self.arc.speed(values.ravel()).reshape(2, -1)
        slopes = np.divide(pace, speeds, out=np.full_like(speeds, np.inf), where=speeds > 0.0)
        slopes[:, pace == 0.0] = 1.0
        return _Pieces(np.stack((starts, ends)), values, slopes)

    def _are_accurate(self, pieces: _Pieces) -> BoolArray:
        """Return a mask of the pieces whose errors are within the tolerances."""
        frames, values, slopes = pieces.at(_CHECKED_PARAMETERS)
        times, motion_frames = frames.ravel(), values.ravel()
        pace = self.pace(times)
        pace[pace == 0.0] = 1.0
        position_errors = (self.arc.at(motion_frames) - self.arc.at(self(times))) / pace
        speed_errors = self.arc.speed(motion_frames) * slopes.ravel() / pace - 1.0
        within = (np.abs(position_errors) <= POSITION_TOLERANCE) & (np.abs(speed_errors) <= SPEED_TOLERANCE)
        is_accurate: BoolArray = np.logical_and.reduce(within.reshape(frames.shape), axis=0)
        return is_accurate

    def _are_paused(self, pieces: _Pieces) -> BoolArray:
        """Return a mask of the pieces in which the motion rests."""
        frames, _, _ = pieces.at(_CHECKED_PARAMETERS)
        pace = self.pace(frames.ravel()).reshape(frames.shape)
        is_paused: BoolArray = np.logical_and.reduce(pace == 0.0, axis=0)
        return is_paused


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

    @property
    def chord_slopes(self) -> Float64Array:
        """Return the slopes of the lines from start to end, shape (n,)."""
        slopes: Float64Array = np.diff(self.values, axis=0)[0] / np.diff(self.frames, axis=0)[0]
        return slopes

    def run_forward(self) -> BoolArray:
        """Return a mask of the pieces that are certain to run forward."""
        # With end slopes of at most three times the chord's slope, a cubic is monotone (Fritsch and Carlson 1980).
        runs_forward: BoolArray = np.logical_and.reduce(self.slopes <= 3.0 * self.chord_slopes + 1e-9, axis=0)
        return runs_forward

    def are_shortest(self) -> BoolArray:
        """Return a mask of the pieces that are too short to halve."""
        is_shortest: BoolArray = np.diff(self.frames, axis=0)[0] < 2.0 * _SHORTEST_PIECE
        return is_shortest

    def with_lines(self, rows: BoolArray) -> _Pieces:
        """Return the pieces, with lines in place of a subset."""
        return _Pieces(self.frames, self.values, np.where(rows, self.chord_slopes, self.slopes))

    def at(self, parameters: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return frames, values and derivatives at the local parameters (m,), each of shape (m, n)."""
        u = parameters[:, np.newaxis]
        length = self.frames[1] - self.frames[0]
        chord = self.values[1] - self.values[0]
        start_tangent, end_tangent = self.slopes * length
        weights, rates = hermite_weights(u), hermite_weights(u, 1)
        rise = weights.chord * chord + weights.leaving * start_tangent + weights.arriving * end_tangent
        rise_rate = rates.chord * chord + rates.leaving * start_tangent + rates.arriving * end_tangent
        return self.frames[0] + u * length, self.values[0] + rise, rise_rate / length


def _halved(starts: Float64Array, ends: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the starts and ends of both halves of pieces. The halves of long pieces meet at a whole frame."""
    middles = (starts + ends) / 2.0
    middles = np.where(ends - starts >= 2.0, np.round(middles), middles)
    return np.concatenate((starts, middles)), np.concatenate((middles, ends))


def _function_keys(finished_pieces: Sequence[_Pieces]) -> FunctionKeys:
    """Return the keys of consecutive pieces, with a short steep segment where the value jumps up between pieces."""
    frames, values, slopes = (
        np.concatenate([getattr(pieces, name) for pieces in finished_pieces], axis=1)
        for name in ("frames", "values", "slopes")
    )
    order = np.argsort(frames[0])
    frames, values, slopes = frames[:, order], values[:, order], slopes[:, order]
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
