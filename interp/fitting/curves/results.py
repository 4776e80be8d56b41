# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of a fit by request: the knots of each channel, and its derivatives and errors at the spline's keys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...batch import BoolArray
from ...keys import Float64Array
from ...rotations.representations import JUMP
from .requests import Fit, Knots
from .spans import Pieces, count_of_strands, first_of_strands
from .strands import LEAST_GOAL, Strands


class _AtKeys(NamedTuple):
    """The arrays of `Fit` that have a row for each key, for the keys of all requests."""

    outgoing: Float64Array
    incoming: Float64Array
    arriving: Float64Array
    jumps: BoolArray
    errors: Float64Array
    rounding: Float64Array


def results(strands: Strands, pieces: Pieces) -> list[Fit]:
    """Return the fit of each request from the pieces of all strands, in order of strand and frame."""
    values, rates = _continued(strands, pieces)
    at_keys = _at_keys(strands, pieces, values, rates)
    inner = np.diff(pieces.strand, prepend=-1) == 0
    strand, frames = pieces.strand[inner], pieces.frames[0, inner]
    knot_values, knot_rates = values[0][:, inner], rates[0][:, inner]
    segment = strands.segment[strand]
    fits = []
    for index, (low, high) in enumerate(zip(strands.tracks.first, strands.tracks.last + 1, strict=True)):
        own = slice(*np.searchsorted(segment, (low, high)))
        if strands.representation is not None:
            knots = tuple(
                Knots(frames[own], knot_values[channel, own], knot_rates[channel, own])
                for channel in range(strands.channels)
            )
        else:
            component = strands.component[strand[own]]
            knots = tuple(
                Knots(frames[own][mine], knot_values[0, own][mine], knot_rates[0, own][mine])
                for mine in (component == channel for channel in range(strands.channels))
            )
        own_keys = {name: array[low:high] for name, array in at_keys._asdict().items()}
        fits.append(Fit(knots, tolerance=strands.tolerance[index], **own_keys))
    return fits


def _continued(strands: Strands, pieces: Pieces) -> tuple[Float64Array, Float64Array]:
    """Return values and rates (2, c, n) in numbers that continue those of the key before, piece by piece."""
    values, rates = pieces.values.copy(), pieces.rates.copy()
    if strands.representation is None:
        return values, rates
    begins, (_, counts) = first_of_strands(pieces), count_of_strands(pieces)
    for ordinal in range(1, int(counts.max(initial=0))):
        row = begins[counts > ordinal] + ordinal
        factors, terms = strands.representation.map_to_nearest(values[0][:, row], values[1][:, row - 1])
        for side in range(2):
            values[side][:, row] = factors * values[side][:, row] + terms
            rates[side][:, row] *= factors
    return values, rates


def _at_keys(strands: Strands, pieces: Pieces, values: Float64Array, rates: Float64Array) -> _AtKeys:
    """Return the derivatives, errors and jumps at the keys of all requests."""
    keys = len(strands.tracks.frames)
    outgoing, incoming, errors, rounding = (np.zeros((keys, strands.channels)) for _ in range(4))
    arriving = strands.numbers.copy()
    jumps = np.zeros(keys, dtype=np.bool_)
    begins = np.diff(pieces.strand, prepend=-1) != 0
    ends = np.diff(pieces.strand, append=-1) != 0
    first, last = strands.segment[pieces.strand[begins]], strands.end[pieces.strand[ends]]
    starts = first_of_strands(pieces)
    largest = np.maximum.reduceat(pieces.error, starts) if len(starts) else np.empty(0)
    least = strands.rounding[pieces.strand[begins]]
    largest, least = largest + least, (1.0 + LEAST_GOAL) * least
    if strands.representation is not None:
        outgoing[first], incoming[last] = rates[0][:, begins].T, rates[1][:, ends].T
        arriving[last] = values[1][:, ends].T
        # Orientations are nowhere farther apart than half a turn.
        errors[first] = np.fmin(largest, np.pi)[:, np.newaxis]
        rounding[first] = least[:, np.newaxis]
        jumps = np.abs(arriving - strands.numbers).max(axis=1) > JUMP
        arriving = np.where(jumps[:, np.newaxis], arriving, strands.numbers)
    else:
        component = strands.component[pieces.strand[begins]]
        outgoing[first, component], incoming[last, component] = rates[0][0, begins], rates[1][0, ends]
        errors[first, component], rounding[first, component] = largest, least
    return _AtKeys(outgoing, incoming, arriving, jumps, errors, rounding)
