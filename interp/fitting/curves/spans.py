# SPDX-License-Identifier: GPL-3.0-or-later
"""Spans, the knots that divide them, and pieces: spans with a cubic. Data only, many at once.

The last axis of each array runs over the spans or pieces. A span belongs to a strand (see `strands`), of which it is a
part; spans and pieces of one strand need not be neighbours in an array unless a function says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True)
class Spans:
    """Parts of segments, with the spline at both ends."""

    strand: IndexArray
    """The strand of each span, shape (n,)."""
    frames: Float64Array
    """The frames of start and end, shape (2, n)."""
    exact: Float64Array
    """The spline's values at both, shape (2, a, n)."""
    rates: Float64Array
    """The spline's derivatives at both, shape (2, b, n)."""
    numbers: Float64Array
    """The channels' numbers at the start, any of those that mean the same, shape (c, n)."""
    provisional: BoolArray
    """True where the knot at the start was placed by an intermediate step of the search, shape (n,)."""

    def take(self, rows: IndexArray | BoolArray) -> Self:
        """Return some of the spans."""
        return type(self)(**{field.name: getattr(self, field.name)[..., rows] for field in fields(self)})


@dataclass(frozen=True)
class Cuts:
    """Knots that divide spans, in order of span and frame."""

    span: IndexArray
    """The span of each knot, shape (n,)."""
    frames: Float64Array
    """The frame of each knot, shape (n,)."""
    provisional: BoolArray
    """True for the knots of intermediate steps, shape (n,)."""


@dataclass(frozen=True)
class Pieces:
    """Spans with the cubics that the channels play in them."""

    strand: IndexArray
    """The strand of each piece, shape (n,)."""
    frames: Float64Array
    """The frames of start and end, shape (2, n)."""
    values: Float64Array
    """The channels' values at start and end, shape (2, c, n)."""
    rates: Float64Array
    """Their derivatives a frame, shape (2, c, n)."""
    error: Float64Array
    """The largest difference from the spline, shape (n,)."""
    points: Float64Array
    """The cubics' Bezier points, shape (4, c, n)."""
    rest: Float64Array
    """The exact values less the cubics' at `subdivision.NODES`, shape (5, c, n)."""

    def take(self, rows: IndexArray | BoolArray) -> Self:
        """Return some of the pieces."""
        return type(self)(**{field.name: getattr(self, field.name)[..., rows] for field in fields(self)})


class Samples(NamedTuple):
    """Spans with exact values within them, which the cubics are compared with."""

    spans: Spans
    knots: Float64Array
    """The frames of the cubics' Bezier points, shape (4, n)."""
    exact: Float64Array
    """The spline's values at the samples, shape (a, m, n)."""
    values: Float64Array
    """The channels' values at start and end, shape (2, c, n)."""
    rates: Float64Array
    """Their derivatives a frame, shape (2, c, n)."""
    between: Float64Array
    """The channels' values at the samples, shape (m, c, n)."""


_Arrays = TypeVar("_Arrays", Spans, Pieces)


def concatenate(parts: Sequence[_Arrays]) -> _Arrays:
    """Return the spans or pieces of all parts, one part after the other."""
    kind = type(parts[0])
    return kind(
        **{field.name: np.concatenate([getattr(part, field.name) for part in parts], axis=-1) for field in fields(kind)}
    )


def sort_pieces(parts: Sequence[Pieces]) -> Pieces:
    """Return the pieces of all parts in order of strand and frame."""
    pieces = concatenate(parts)
    return pieces.take(np.lexsort((pieces.frames[0], pieces.strand)))


def first_of_strands(pieces: Pieces) -> IndexArray:
    """Return the index of the first piece of each strand, of sorted pieces."""
    return np.flatnonzero(np.diff(pieces.strand, prepend=-1))


def count_of_strands(pieces: Pieces) -> tuple[IndexArray, IndexArray]:
    """Return the strands of sorted pieces, and how many pieces each has."""
    starts = first_of_strands(pieces)
    return pieces.strand[starts], np.diff(starts, append=len(pieces.strand))
