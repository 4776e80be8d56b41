# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of fits: splines that channels should play, grouped in batches, and the largest errors of fits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..arguments import checked_finite, checked_numbers
from ..base_spline import Spline, end_to_end
from ..keys import BoolArray, Float64Array, IndexArray, KeyBatch
from ..piecewise import PiecewiseSpline
from ..prepared import Curve
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
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    tolerance: float | None = None


_LARGEST_VALUE = 1e37
"""This limit leaves room in float32 for handles that are farther from 0 than their keys."""
_LARGEST_OF_ROTATION = float(np.finfo(np.float32).max)

_Result = TypeVar("_Result")


def fit_in_batches(requests: Sequence[Request], fit: Callable[[Batch], Sequence[_Result]]) -> list[_Result]:
    """Return the fit of each request, with one call to `fit` per batch and representation."""
    results: dict[int, _Result] = {}
    groups: dict[Hashable, list[int]] = {}
    for index, request in enumerate(requests):
        if not hasattr(type(getattr(request, "spline", None)), "curve"):
            raise TypeError(f"requests must contain Request objects with splines, not {request!r}")
        groups.setdefault((request.spline.batch, request.representation), []).append(index)
    for indices in groups.values():
        fits = fit(Batch.of([requests[index] for index in indices]))
        results.update(zip(indices, fits, strict=True))
    return [results[index] for index in range(len(requests))]


@dataclass(frozen=True, eq=False)
class Batch:
    """Requests with the same batch and representation, and the concatenated keys of their tracks."""

    requests: Sequence[Request]
    representation: RotationRepresentation | None
    """The representation of rotations, or None for values."""
    tracks: KeyBatch
    """The keys of all requests."""
    curve: Curve
    """The segments between all keys."""
    numbers: Float64Array
    """The channel values at all keys, shape (keys, channels)."""
    segments: IndexArray
    """The keys that begin the segments to fit, in ascending order."""

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Batch:
        """Return the batch for requests with the same representation.

        Raises
        ------
        TypeError
            If arguments are not numbers.
        ValueError
            If numbers do not match the shape of the keys, are not finite, are farther from 0 than the limit, are
            missing for channels other than quaternions, or are quaternions of length 0. ValueError is also raised if
            `segments` is not one bool per key, the representation of a rotation is missing or unknown, or values have a
            representation.
        """
        splines = [request.spline for request in requests]
        representation = _checked_representation(requests)
        tracks = end_to_end(splines)
        is_fitted = np.ones(len(tracks.frames), dtype=np.bool_)
        for request, first, last in zip(requests, tracks.first.tolist(), tracks.last.tolist(), strict=True):
            if request.segments is not None:
                is_fitted[first : last + 1] = _checked_segments(request.segments, last + 1 - first)
            if isinstance(request.spline, PiecewiseSpline):
                is_fitted[first : last + 1] &= ~request.spline.is_gap
        is_fitted[tracks.last] = False
        numbers = np.concatenate([_key_numbers(request, representation) for request in requests])
        _check_sizes(requests, representation, tracks, numbers)
        curve = type(splines[0]).curve(splines, tracks)
        return cls(requests, representation, tracks, curve, numbers, np.flatnonzero(is_fitted))

    @property
    def channels(self) -> int:
        """Return the number of channels of each request."""
        return int(self.numbers.shape[1])

    def with_parameters(self, parameters: Float64Array) -> Batch:
        """Return the batch with other parameters of the keys, shape (5, keys)."""
        splines, tracks = [request.spline for request in self.requests], replace(self.tracks, parameters=parameters)
        return replace(self, tracks=tracks, curve=type(splines[0]).curve(splines, tracks))


def _checked_representation(requests: Sequence[Request]) -> RotationRepresentation | None:
    """Return the representation that all requests share, or None for values."""
    name = requests[0].representation
    if name is None:
        if isinstance(requests[0].spline, OrientationSpline):
            raise ValueError("a rotation needs a representation: QUATERNION, AXIS_ANGLE or an Euler order")
        return None
    representation = rotation_representation(name)
    if any(request.spline.keys.values.shape[1] != 4 for request in requests):
        raise ValueError("only rotations can have a representation, not values")
    return representation


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


def _check_sizes(
    requests: Sequence[Request],
    representation: RotationRepresentation | None,
    tracks: KeyBatch,
    numbers: Float64Array,
) -> None:
    """Raise a ValueError that names the first number that is not finite or too large, or a quaternion of length 0."""
    largest = _LARGEST_VALUE if representation is None else _LARGEST_OF_ROTATION
    if not np.abs(numbers).max() <= largest:
        for request in requests:
            _check_size(request.spline.keys.values if request.numbers is None else request.numbers, largest)
    if representation is not None and representation.homogeneous and not numbers.any(axis=1).all():
        key = int(np.argmin(numbers.any(axis=1)))
        first = int(tracks.first[np.searchsorted(tracks.first, key, side="right") - 1])
        raise ValueError(f"numbers must not contain quaternions of length 0, as at index {key - first}")


def _check_size(numbers: npt.ArrayLike, largest: float) -> None:
    """Raise a ValueError that names the first index whose number is not finite or is too large."""
    array = checked_finite("numbers", numbers)
    if (is_too_large := np.abs(array) > largest).any():
        index = tuple(np.argwhere(is_too_large)[0].tolist())
        raise ValueError(
            f"numbers must be at most {largest:.3g} in magnitude, but the number at index {index} is {array[index]:.3g}"
        )


def angles_apart(representation: RotationRepresentation, channels: Float64Array, exact: Float64Array) -> Float64Array:
    """Return the angles between the orientations of channel values (c, …) and unit quaternions (4, …)."""
    q = representation.orientation(channels)
    q = q / sphere.length(q)
    # Chords keep the digits of small angles, which a dot product loses.
    difference, total = sphere.length(q - exact), sphere.length(q + exact)
    angles: Float64Array = 4.0 * np.arctan2(np.minimum(difference, total), np.maximum(difference, total))
    return angles


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
