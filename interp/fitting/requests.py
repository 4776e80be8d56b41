# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of fits: splines that channels should play, grouped in batches, and the largest errors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..base_spline import Curve, Spline, end_to_end
from ..key_batch import BoolArray, IndexArray, KeyBatch
from ..keys import Float64Array, finite
from ..keys import numbers as checked_numbers
from ..piecewise import PiecewiseSpline
from ..rotations import sphere
from ..rotations.base_rotation_spline import OrientationSpline
from ..rotations.representations import RotationRepresentation, rotation_representation


@dataclass(frozen=True)
class Request:
    """A request to fit curves or handles to a spline.

    Attributes
    ----------
    spline : Spline
        A spline of values, or of rotations as unit quaternions with angular velocities in the parent frame.
    representation : str or None
        The representation of rotations: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order
        such as "XYZ". None for values.
    numbers : array_like, shape (n, channels), or None
        Channel values at the keys of a rotation, which determine signs, full turns and lengths. If None, the
        quaternions of the spline are used. Other representations require numbers.
    segments : array_like of bool, shape (n,), or None
        Mask of the segments to fit, indexed by their first keys, for example the segments affected by an edit. The last
        value is ignored. If None, all segments are fitted.
    tolerance : float or None
        For curves, the maximum error, above 0. For rotations, an angle in radians. Errors of `curves.VALUE_TOLERANCE`
        times the range of values, and of `curves.ROTATION_TOLERANCE`, are not visible. Handles ignore the tolerance and
        are as accurate as possible.
    other_keys : array_like of float, or None
        For curves, frames of other keys of the same track. Knots stay half a frame away from these keys, as they do
        from the keys of the spline.
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    tolerance: float | None = None
    other_keys: npt.ArrayLike | None = None


def angles_apart(representation: RotationRepresentation, channels: Float64Array, exact: Float64Array) -> Float64Array:
    """Return the angles between the orientations of channel values (c, …) and unit quaternions (4, …)."""
    q = representation.orientation(channels)
    q = q / sphere.length(q)
    # Chords keep the digits of small angles, which a dot product loses.
    difference, total = sphere.length(q - exact), sphere.length(q + exact)
    angles: Float64Array = 4.0 * np.arctan2(np.minimum(difference, total), np.maximum(difference, total))
    return angles


def highest_peaks(errors: Float64Array, count: int) -> IndexArray:
    """Return the indices (c, count, N) of the highest peaks of errors (c, m, N), repeating the first if needed."""
    before, after = (np.zeros_like(errors) for _ in range(2))
    before[:, 1:], after[:, :-1] = errors[:, :-1], errors[:, 1:]
    peaks = np.where((errors >= before) & (errors > after), errors, -1.0)
    rows = [errors.argmax(axis=1)[:, np.newaxis]]
    for _ in range(count - 1):
        np.put_along_axis(peaks, rows[-1], -1.0, axis=1)
        next_row = peaks.argmax(axis=1)[:, np.newaxis]
        rows.append(np.where(np.take_along_axis(peaks, next_row, axis=1) > 0.0, next_row, rows[0]))
    return np.concatenate(rows, axis=1)


def maxima(errors: Float64Array, parameters: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the maxima (c, N) of parabolas through errors (c, m, N) at parameters (m,), and the parameters there."""
    row = np.argmax(errors, axis=1)[:, np.newaxis]
    inner = np.clip(row, 1, len(parameters) - 2)
    before, largest, after = (np.take_along_axis(errors, inner + step, axis=1)[:, 0] for step in (-1, 0, 1))
    at_row = np.take_along_axis(errors, row, axis=1)[:, 0]
    row, inner = row[:, 0], inner[:, 0]
    # At the first and last sample, the sample itself is the maximum.
    is_inner = row == inner
    rise, fall = parameters[inner] - parameters[inner - 1], parameters[inner + 1] - parameters[inner]
    up, down = (largest - before) / rise, (after - largest) / fall
    slope, curvature = (up * fall + down * rise) / (rise + fall), (up - down) / (rise + fall)
    # The maximum of the parabola is slope / (2 curvature) after the largest error, and slope² / (4 curvature) above it.
    ahead = np.divide(slope, 2.0 * curvature, out=np.zeros_like(slope), where=(curvature > 0.0) & is_inner)
    return np.where(is_inner, largest + 0.5 * slope * ahead, at_row), parameters[row] + ahead


_LARGEST_VALUE = 1e37
"""This limit leaves room in float32 for handles that are farther from 0 than their keys."""
_LARGEST_OF_ROTATION = float(np.finfo(np.float32).max)

_Result = TypeVar("_Result")


def in_batches(requests: Sequence[Request], fit: Callable[[Sequence[Request]], Sequence[_Result]]) -> list[_Result]:
    """Return the fit of each request, with one call to `fit` per batch and representation."""
    results: dict[int, _Result] = {}
    groups: dict[Hashable, list[int]] = {}
    for index, request in enumerate(requests):
        if not hasattr(type(getattr(request, "spline", None)), "curve"):
            raise TypeError(f"requests must contain Request objects with splines, not {request!r}")
        groups.setdefault((request.spline.batch, request.representation), []).append(index)
    for indices in groups.values():
        results.update(zip(indices, fit([requests[index] for index in indices]), strict=True))
    return [results[index] for index in range(len(requests))]


class Batch(NamedTuple):
    """Requests with the same batch and representation, and the concatenated keys of their tracks."""

    representation: RotationRepresentation | None
    tracks: KeyBatch
    curve: Curve
    numbers: Float64Array
    """The channel values at all keys, shape (keys, channels)."""
    segments: IndexArray
    """The keys that begin the segments to fit, in ascending order."""


def batch(requests: Sequence[Request]) -> Batch:
    """Return the batch for requests with the same representation.

    Raises
    ------
    TypeError
        If arguments are not numbers.
    ValueError
        If numbers do not match the shape of the keys, are not finite, are farther from 0 than the limit, are missing
        for channels other than quaternions, or are quaternions of length 0. ValueError is also raised if `segments` is
        not one bool per key, the representation of a rotation is missing or unknown, or values have a representation.
    """
    splines, name = [request.spline for request in requests], requests[0].representation
    representation = rotation_representation(name) if name is not None else None
    if name is None and isinstance(splines[0], OrientationSpline):
        raise ValueError("a rotation needs a representation: QUATERNION, AXIS_ANGLE or an Euler order")
    if name is not None and any(spline.keys.values.shape[1] != 4 for spline in splines):
        raise ValueError("only rotations can have a representation, not values")
    tracks = end_to_end(splines)
    is_fitted = np.ones(len(tracks.frames), dtype=np.bool_)
    for request, first, last in zip(requests, tracks.first.tolist(), tracks.last.tolist(), strict=True):
        if request.segments is not None:
            is_fitted[first : last + 1] = _checked_segments(request.segments, last + 1 - first)
        if isinstance(request.spline, PiecewiseSpline):
            is_fitted[first : last + 1] &= ~request.spline.between
    is_fitted[tracks.last] = False
    numbers = np.concatenate([_key_numbers(request, representation) for request in requests])
    largest = _LARGEST_VALUE if representation is None else _LARGEST_OF_ROTATION
    if not np.abs(numbers).max() <= largest:
        for request in requests:
            _check_size(request.spline.keys.values if request.numbers is None else request.numbers, largest)
    if representation is not None and representation.homogeneous and not numbers.any(axis=1).all():
        key = int(np.argmin(numbers.any(axis=1)))
        first = int(tracks.first[np.searchsorted(tracks.first, key, side="right") - 1])
        raise ValueError(f"numbers must not contain quaternions of length 0, as at index {key - first}")
    return Batch(representation, tracks, type(splines[0]).curve(splines, tracks), numbers, np.flatnonzero(is_fitted))


def _check_size(numbers: npt.ArrayLike, largest: float) -> None:
    """Raise a ValueError that names the first index whose number is not finite or is too large."""
    array = finite("numbers", numbers)
    if (is_too_large := np.abs(array) > largest).any():
        index = tuple(np.argwhere(is_too_large)[0].tolist())
        raise ValueError(
            f"numbers must be at most {largest:.3g} in magnitude, but the number at index {index} is {array[index]:.3g}"
        )


def _checked_segments(segments: npt.ArrayLike, count: int) -> BoolArray:
    """Return a mask of the segments of a track to fit, shape (count,)."""
    mask = np.asarray(segments)
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise ValueError(f"segments must have one bool for each of {count} keys, not {segments!r}")
    return mask


def _key_numbers(request: Request, representation: RotationRepresentation | None) -> Float64Array:
    """Return the channel values at the request's keys, shape (n, channels)."""
    keys = request.spline.keys
    if request.numbers is None and representation is not None and not representation.homogeneous:
        raise ValueError(f"{request.representation} needs channel values at the keys, because the keys are quaternions")
    numbers = keys.values if request.numbers is None else checked_numbers("numbers", request.numbers)
    channels = representation.components if representation is not None else keys.values.shape[1]
    if numbers.shape != (len(keys), channels):
        raise ValueError(f"numbers must have the shape {(len(keys), channels)}, not {numbers.shape}")
    return numbers
