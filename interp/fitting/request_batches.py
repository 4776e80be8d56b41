# SPDX-License-Identifier: GPL-3.0-or-later
"""Group fit requests into batches, and check their numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..base_spline import Curve, end_to_end
from ..key_batch import BoolArray, IndexArray, KeyBatch
from ..keys import Float64Array, finite
from ..keys import numbers as checked_numbers
from ..piecewise import PiecewiseSpline
from ..rotations.orientations import OrientationSpline
from ..rotations.representations import RotationRepresentation, rotation_representation
from .requests import Request

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
