# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit Bezier keys to many splines at once: the entry point and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...arguments import checked_numbers
from ...keys import BoolArray, Float64Array, IndexArray
from ...rotations.representations import JUMP
from ..requests import Batch, Request, fit_in_batches
from .search import fewest_pieces
from .strands import LEAST_GOAL, Pieces, Strands

VALUE_TOLERANCE = 1e-4
"""The default tolerance for values, relative to the range of a track. Smaller errors are not visible."""
ROTATION_TOLERANCE = float(np.radians(0.01))
"""The default tolerance for rotations, in radians. Smaller errors are not visible."""

_SUM_ROUNDING = 1e-12
"""The relative error of sums in float64."""


@dataclass(frozen=True)
class Knots:
    """The m additional keys of a channel between the spline's keys.

    Attributes
    ----------
    frames : ndarray, shape (m,)
        Ascending frames, rounded to float32.
    values, derivatives : ndarray, shape (m,)
        The values of the channel and its derivatives per frame, equal on both sides. The length of a quaternion may
        differ by up to 1.6 % from linear interpolation between keys. The derivative includes the change in length.
    """

    frames: Float64Array
    values: Float64Array
    derivatives: Float64Array


@dataclass(frozen=True)
class Fit:
    """The knots and derivatives that make channels play a spline.

    Attributes
    ----------
    knots : tuple of Knots, one per channel
        The channels of a rotation share their frames.
    outgoing, incoming : ndarray, shape (n, channels)
        Derivatives per frame after and before the spline's keys. Derivatives on the side of a segment that was not
        fitted are 0.
    arriving : ndarray, shape (n, channels)
        Channel values at the end of the segment before each key, equal to the key's values except at `jumps`.
    jumps : ndarray of bool, shape (n,)
        True if the channels of a rotation arrive at the key with another sign or another representation of the same
        orientation.
    errors : ndarray, shape (n, channels)
        The maximum error in the segment that starts at each key. The error of a rotation is an angle in radians, the
        same for all channels.
    tolerance : float
        The requested tolerance.
    rounding : ndarray, shape (n, channels)
        The smallest error that float32 can reach in each segment. Errors up to this size count as within the tolerance.
    """

    knots: tuple[Knots, ...]
    outgoing: Float64Array
    incoming: Float64Array
    arriving: Float64Array
    jumps: BoolArray
    errors: Float64Array
    tolerance: float
    rounding: Float64Array

    @property
    def error(self) -> float:
        """Return the maximum of all errors."""
        return float(self.errors.max(initial=0.0))

    @property
    def reached(self) -> bool:
        """Return whether every channel is within its tolerance, or as accurate as float32 allows."""
        return bool((self.misses <= 1.0).all())

    @property
    def misses(self) -> Float64Array:
        """Return the ratio of each error to the allowed error, with the shape of `errors`."""
        # The sum of a piece's error and the rounding error is itself rounded.
        ratios: Float64Array = self.errors / (np.maximum(self.tolerance, self.rounding) * (1.0 + _SUM_ROUNDING))
        return ratios


def fit_many(requests: Sequence[Request]) -> list[Fit]:
    """Fit many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Any mixture of splines of values and rotations.

    Returns
    -------
    list of Fit
        Fits in the order of the requests. Each fit is independent of the other splines.

    Raises
    ------
    TypeError
        If a request has no spline, or its numbers are not numbers.
    ValueError
        If a tolerance is missing or not above 0, or numbers are not finite, too large for float32, or quaternions of
        length zero, or do not match the shape of the keys. Representations other than quaternions require numbers.
        ValueError is also raised if `segments` is not one bool per key, a rotation has no known representation, or
        values have a representation.

    Notes
    -----
    Every piece is compared with the spline at five samples, with keys and handles rounded to float32. The difference
    has double zeros at the ends, so a polynomial of degree eight interpolates it. The polynomial's maximum is found at
    eleven points and by a parabola between them. The error is this maximum, plus twice the size of the polynomial's
    last term (for degrees that five samples cannot resolve), plus 1 %. This error equals the largest difference or
    exceeds it by a few percent. If an ease ends within a piece, the error may be underestimated by a sixth or
    overestimated by a factor of 2.7, which may add a knot. Knots are added until all pieces are within the tolerance,
    or pieces would be shorter than 1/80 frame or twelve float32 steps of the frame. `Fit.errors` shows which segments
    are not within the tolerance. A segment exceeds the tolerance if the key's numbers are one of many representations
    of its orientation (no turn, gimbal lock), so that the axis or the Euler angles must change instantly. Segments at
    frames that float32 barely resolves can also exceed the tolerance.

    Knots are placed so that all pieces of a segment have equal errors. For tracks of each kind, with and without ease,
    the number of knots was at most 1.1 times the minimum with exact values and derivatives. Dynamic programming on 48
    to 150 points per segment determined the minimum. Source: docs/formulas, "Fitting curves".

    Examples
    --------
    Knots that play an eased spline within 0.01:

    >>> eased = tcb.VectorSpline(Keys([0, 10, 40], [0, 5, 1], ease_to=[0, 0.5, 1]))
    >>> (fit,) = curves.fit_many([Request(eased, tolerance=0.01)])
    >>> fit.knots[0].frames.round(1), fit.reached, fit.error < 0.01
    (array([ 5. ,  7.5, 17.5, 26.3]), True, True)

    Knots of a rotation in quaternion channels:

    >>> turn = tcb.RotationSpline(Keys([0, 20], [[1, 0, 0, 0], [0, 0.6, 0.8, 0]]))
    >>> (fit,) = curves.fit_many([Request(turn, "QUATERNION", tolerance=curves.ROTATION_TOLERANCE)])
    >>> len(fit.knots), len(fit.knots[0].frames), fit.error < curves.ROTATION_TOLERANCE
    (4, 2, True)
    """
    return fit_in_batches(requests, _fit_batch)


def handles(
    frames: npt.ArrayLike, values: npt.ArrayLike, incoming: npt.ArrayLike, outgoing: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the handles with which Blender plays the cubics between keys.

    Parameters
    ----------
    frames : array_like, shape (k,)
        Frames of the keys.
    values : array_like, shape (k,) or (channels, k)
        Values of the keys, for one or several channels.
    incoming, outgoing : array_like, shape as `values`
        Derivatives per frame before and after each key.

    Returns
    -------
    left, right : ndarray of float32, shape (k, 2) or (channels, k, 2)
        Frames and values of the handles. The first left handle and the last right handle are as long as the other
        handle of their key.

    Raises
    ------
    TypeError
        If arguments are not numbers.
    ValueError
        If the shapes of the arrays do not match.

    Notes
    -----
    Handles are at thirds of the segment, rounded to float32, and their values match the rounded frames. Rounding a
    frame by dt therefore changes the value only by dt times the change in the derivative over that time.

    Examples
    --------
    >>> left, right = curves.handles([0, 30], [0, 6], incoming=[0, 0.1], outgoing=[0, 0])
    >>> right[0], left[1]
    (array([10.,  0.], dtype=float32), array([20.,  5.], dtype=float32))
    """
    f, v = checked_numbers("frames", frames), checked_numbers("values", values)
    if f.ndim != 1:
        raise ValueError(f"frames must be one-dimensional, but their shape is {f.shape}")
    if v.shape[-1:] != f.shape:
        raise ValueError(
            f"values must have {f.size} numbers on their last axis, one per frame, but their shape is {v.shape}"
        )
    third = np.diff(f) / 3.0
    third = np.concatenate((third[:1], third, third[-1:])) if len(third) else np.ones(2)
    result = []
    for name, handle_frames, given in (
        ("incoming", f - third[:-1], incoming),
        ("outgoing", f + third[1:], outgoing),
    ):
        derivatives = checked_numbers(name, given)
        if derivatives.shape != v.shape:
            raise ValueError(f"{name} must have the shape {v.shape} of values, not {derivatives.shape}")
        points = np.empty((*v.shape, 2), dtype=np.float32)
        points[..., 0] = handle_frames
        offset = handle_frames.astype(np.float32) - f
        points[..., 1] = v + derivatives * offset
        result.append(points)
    return result[0], result[1]


def _fit_batch(batch: Batch) -> list[Fit]:
    """Return the fit of each request."""
    strands = Strands(batch)
    pieces = fewest_pieces(strands)
    # The number of pieces of each strand, and its first and last piece.
    counts = np.bincount(pieces.strand, minlength=len(strands))
    first = np.cumsum(counts) - counts
    last = first + counts - 1
    pieces = _continued(strands, pieces, first, counts)
    arriving, jumps = strands.numbers, np.zeros(len(strands.numbers), dtype=np.bool_)
    largest = np.maximum.reduceat(pieces.error, first) + strands.rounding if len(first) else np.empty(0)
    if strands.representation is not None:
        arriving = arriving.copy()
        arriving[strands.end] = pieces.values[1][:, last].T
        jumps = np.abs(arriving - strands.numbers).max(axis=1) > JUMP
        arriving = np.where(jumps[:, np.newaxis], arriving, strands.numbers)
        # Orientations are never more than half a turn apart.
        largest = np.fmin(largest, np.pi)
    outgoing, incoming, errors, rounding = np.zeros((4, *strands.numbers.shape))
    # A strand of values is one channel, and a strand of a rotation all channels.
    channels = np.arange(strands.channels)[np.newaxis] if strands.representation else strands.component[:, np.newaxis]
    begin, end = strands.segment[:, np.newaxis], strands.end[:, np.newaxis]
    outgoing[begin, channels], incoming[end, channels] = pieces.rates[0][:, first].T, pieces.rates[1][:, last].T
    errors[begin, channels] = largest[:, np.newaxis]
    rounding[begin, channels] = (1.0 + LEAST_GOAL) * strands.rounding[:, np.newaxis]
    requests = zip(
        _knots(strands, pieces),
        map(slice, strands.tracks.first, strands.tracks.last + 1),
        strands.tolerance,
        strict=True,
    )
    return [
        Fit(
            knots,
            outgoing[keys],
            incoming[keys],
            arriving[keys],
            jumps[keys],
            errors[keys],
            float(tolerance),
            rounding[keys],
        )
        for knots, keys, tolerance in requests
    ]


def _continued(strands: Strands, pieces: Pieces, first: IndexArray, counts: IndexArray) -> Pieces:
    """Return the pieces with channel values that continue from the previous key, piece by piece."""
    if strands.representation is None:
        return pieces
    values, rates = pieces.values.copy(), pieces.rates.copy()
    # Continue the second pieces of all strands, then the third pieces, and so on.
    for ordinal in range(1, int(counts.max(initial=0))):
        rows = first[counts > ordinal] + ordinal
        factors, terms = strands.representation.map_to_nearest(values[0][:, rows], values[1][:, rows - 1])
        for side in range(2):
            values[side][:, rows] = factors * values[side][:, rows] + terms
            rates[side][:, rows] *= factors
    return replace(pieces, values=values, rates=rates)


def _knots(strands: Strands, pieces: Pieces) -> list[tuple[Knots, ...]]:
    """Return the knots of each request's channels, which are the starts of pieces after a strand's first piece."""
    knots = pieces.take(np.diff(pieces.strand, prepend=-1) == 0)
    frames, values, rates = knots.frames[0], knots.values[0], knots.rates[0]
    component = strands.component[knots.strand]
    bounds = np.searchsorted(strands.request[knots.strand], np.arange(len(strands.requests) + 1))
    result = []
    for rows in map(np.arange, bounds[:-1], bounds[1:]):
        if strands.representation is not None:
            channels = [(channel, rows) for channel in range(strands.channels)]
        else:
            # Each channel of values has its own strands, with one channel each.
            channels = [(0, rows[component[rows] == channel]) for channel in range(strands.channels)]
        result.append(tuple(Knots(frames[at], values[channel, at], rates[channel, at]) for channel, at in channels))
    return result
