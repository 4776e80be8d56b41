# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines that channels are to play: taken in many at once, for the fit of knots and for the fit of handles."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..batch import Curve, IndexArray, KeyBatch, Spline, end_to_end
from ..keys import FloatArray
from ..piecewise import PiecewiseSpline
from ..rotations.representations import RotationRepresentation, rotation_representation


class Request(Protocol):
    """A spline that channels are to play, as `fitting.Request` and `handles.Request` describe it."""

    @property
    def spline(self) -> Spline: ...
    @property
    def held(self) -> str | None: ...
    @property
    def numbers(self) -> npt.ArrayLike | None: ...
    @property
    def segments(self) -> npt.ArrayLike | None: ...


_Request = TypeVar("_Request", bound=Request)
_Result = TypeVar("_Result")


def in_batches(requests: Sequence[_Request], fit: Callable[[Sequence[_Request]], Sequence[_Result]]) -> list[_Result]:
    """Return what `fit` makes of the requests, called once for all whose channels hold the same kind of thing."""
    results: dict[int, _Result] = {}
    groups: dict[Hashable, list[int]] = {}
    for index, request in enumerate(requests):
        groups.setdefault((request.spline.batch, request.held), []).append(index)
    for indices in groups.values():
        results.update(zip(indices, fit([requests[index] for index in indices]), strict=True))
    return [results[index] for index in range(len(requests))]


class Batch(NamedTuple):
    """Requests whose channels hold the same kind of thing, their tracks laid end to end."""

    representation: RotationRepresentation | None
    tracks: KeyBatch
    curve: Curve
    numbers: FloatArray
    """The channels' numbers at all keys, shape (keys, channels)."""
    segments: IndexArray
    """The keys that begin a segment to fit, ascending."""


def batch(requests: Sequence[Request]) -> Batch:
    """Take in the requests of one batch.

    Raises
    ------
    ValueError
        For numbers that are not the keys', and an unknown representation to hold rotations.
    """
    splines, held = [request.spline for request in requests], requests[0].held
    representation = rotation_representation(held) if held is not None else None
    tracks = end_to_end(splines)
    wanted = np.ones(len(tracks.frames), dtype=np.bool_)
    for request, first, last in zip(requests, tracks.first.tolist(), tracks.last.tolist(), strict=True):
        if request.segments is not None:
            wanted[first : last + 1] = request.segments
        if isinstance(request.spline, PiecewiseSpline):
            wanted[first : last + 1] &= ~request.spline.between
    wanted[tracks.last] = False
    numbers = np.concatenate([_key_numbers(request, representation) for request in requests])
    return Batch(representation, tracks, type(splines[0]).curve(splines, tracks), numbers, np.flatnonzero(wanted))


def _key_numbers(request: Request, representation: RotationRepresentation | None) -> FloatArray:
    """Return the numbers of the channels at the request's keys, shape (n, channels)."""
    keys = request.spline.keys
    numbers = keys.values if request.numbers is None else np.asarray(request.numbers, dtype=np.float64)
    channels = representation.components if representation is not None else keys.values.shape[1]
    if numbers.shape != (len(keys), channels):
        raise ValueError(f"numbers must have the shape {(len(keys), channels)}, not {numbers.shape}")
    return numbers


def parabola(
    places: FloatArray, middle: IndexArray, before: FloatArray, largest: FloatArray, after: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return slope and bend of parabolas through the largest values, at places of the indices `middle`, and those
    beside them: such a one has its top slope / (2 bend) behind the place, and slope² / (4 bend) above the value."""
    rise, fall = places[middle] - places[middle - 1], places[middle + 1] - places[middle]
    up, down = (largest - before) / rise, (after - largest) / fall
    return (up * fall + down * rise) / (rise + fall), (up - down) / (rise + fall)
