# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the derivatives at keys that make a spline of cubics C2, and for the same of rotations.

Source: docs/formulas.md, "C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from .batch import BoolArray, IndexArray, KeyBatch
from .keys import Float64Array, KeysError
from .messages import n_
from .rotations import sphere
from .rotations.exponential import acceleration_of_exp, rate_of_velocity, velocity_of_exp
from .rotations.rotation_vectors import Turns
from .tridiagonal import solve, times

# Newton's method doubles the digits each time; turns of 179 degrees about changing axes have taken up to 33.
MOST_ITERATIONS = 50
# Relative to the largest velocity. A step this small is the last: the error after it is far below rounding.
SETTLED = 1e-12

SlopeEnds = Literal["CLAMPED", "NATURAL"]


def segments_beside(tracks: KeyBatch) -> tuple[IndexArray, IndexArray]:
    """Return the segments before and after each key, across a loop's seam too; an arbitrary one where there is none."""
    return tracks.previous, np.maximum(tracks.following - 1, 0)


def equations(tracks: KeyBatch, ends: SlopeEnds) -> tuple[Float64Array, BoolArray]:
    """Return the weight of the segment before each key in its equation, and which keys have an equation.

    Each side counts by the other's share of the frames on both sides (docs/formulas.md, "C2 cubics").
    Without a second derivative at an end, its equation is the same with all the weight on the one side that there is.
    """
    around = tracks.before + tracks.after
    share = np.divide(tracks.after, around, out=np.zeros_like(around), where=around > 0.0)
    has_one = (tracks.before > 0.0) & (tracks.after > 0.0)
    if ends == "NATURAL":
        first, last = tracks.open
        share[first], share[last] = 0.0, 1.0
        has_one[first] = has_one[last] = True
    return share, has_one


def c2_slopes(
    tracks: KeyBatch, values: Float64Array, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the slopes, per frame, with which cubic segments through the values are C2.

    Parameters
    ----------
    tracks : KeyBatch
        The keys.
    values : ndarray, shape (d, K)
        Values of the keys.
    ends : "CLAMPED" or "NATURAL"
        The condition at the ends of tracks that are not loops: given slopes, or no second derivative.
    velocities : ndarray, shape (d, K)
        The slopes if clamped, of which those at the ends count.

    Returns
    -------
    ndarray, shape (d, K)
        In a loop the first and the last are equal, even where their values are not.
    """
    before_key, after_key = segments_beside(tracks)
    length = tracks.frames[tracks.segment_end] - tracks.frames
    chords = values[:, tracks.segment_end] - values
    mean = np.divide(chords, length, out=np.zeros_like(values), where=length > 0.0)
    share, bound = equations(tracks, ends)
    before, after = np.where(bound, share, 0.0), np.where(bound, 1.0 - share, 0.0)
    own = np.where(bound, 2.0, 1.0)
    right = np.where(bound, 3.0 * (share * mean[:, before_key] + (1.0 - share) * mean[:, after_key]), 0.0)
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right[:, first], right[:, last] = velocities[:, first], velocities[:, last]
    before, own, after = (each[np.newaxis, np.newaxis] for each in (before, own, after))
    slopes: Float64Array = solve(before, own, after, right[np.newaxis], tracks.previous, tracks.following)[0]
    return slopes


def c2_velocities(
    tracks: KeyBatch, turns: Turns, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the angular velocities with which segments of cubic rotation vectors through keys are C2.

    Parameters
    ----------
    tracks : KeyBatch
        The keys.
    turns : Turns
        The turns from key to key.
    ends : "CLAMPED" or "NATURAL"
        The condition at the ends of tracks that are not loops: given angular velocities, or no angular acceleration.
    velocities : ndarray, shape (3, K)
        The angular velocities if clamped, of which those at the ends count.

    Returns
    -------
    ndarray, shape (3, K)
        In the parent's frame, radians a frame.

    Raises
    ------
    KeysError
        Where steps of nearly half a turn leave Newton's method without a solution: at some natural ends.

    Notes
    -----
    `c2_slopes`, where a velocity counts as the derivative of the rotation vector that it gives a segment's start and
    end, and where a rotation vector that bends has an angular acceleration even at constant rate: that last part is
    quadratic, for which Newton's method is used. Unlike scipy's RotationSpline, which leaves it a step behind, this is
    exact to rounding after some five steps, and for turns of up to half a turn.
    """
    length = tracks.frames[tracks.segment_end] - tracks.frames
    size = sphere.length(turns.onward)
    whole = 2.0 * np.pi * np.rint(size / (2.0 * np.pi))
    rest = turns.onward * (1.0 - np.divide(whole, size, out=np.zeros_like(size), where=size > 0.0))
    mean = np.divide(turns.onward, length, out=np.zeros_like(rest), where=length > 0.0)
    before_key, after_key = segments_beside(tracks)
    share, bound = equations(tracks, ends)
    share_before, share_after = np.where(bound, share, 0.0), np.where(bound, 1.0 - share, 0.0)
    right = 3.0 * (share_before * mean[:, before_key] + share_after * mean[:, after_key])
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right[:, first], right[:, last] = velocities[:, first], velocities[:, last]
    # The last key's segment has no length and no turn.
    arriving, arriving_length = rest[:, before_key], np.where(length > 0.0, length, 1.0)[before_key]
    rate = matrices(rate_of_velocity, rest)
    before, after = (
        share_before * matrices(velocity_of_exp, rest)[:, :, before_key],
        share_after * rate[:, :, after_key],
    )
    own, rate_before = np.where(bound, 2.0, 1.0) * np.eye(3)[:, :, np.newaxis], rate[:, :, before_key]

    found = np.zeros_like(rest)
    unsolved = np.ones(len(tracks.first), dtype=np.bool_)
    counts = tracks.last - tracks.first + 1
    for _ in range(MOST_ITERATIONS):
        turning = times(rate_before, found[:, np.newaxis])[:, 0] * arriving_length
        sides = (
            times(before, found[:, np.newaxis, tracks.previous])
            + times(own, found[:, np.newaxis])
            + times(after, found[:, np.newaxis, tracks.following])
        )[:, 0]
        acceleration = share_before * _acceleration(arriving, turning) / (2.0 * arriving_length)
        slope = own + 0.5 * share_before * times(_acceleration_derivatives(arriving, turning), rate_before)
        missing = (right - acceleration - sides)[:, np.newaxis]
        step = solve(before, slope, after, missing, tracks.previous, tracks.following)[:, 0]
        # A solved track stays as it is while others go on, so that its result does not depend on them.
        found = np.where(np.repeat(unsolved, counts), found + step, found)
        largest = np.maximum.reduceat(np.abs(found).max(axis=0), tracks.first)
        moved = np.maximum.reduceat(np.abs(step).max(axis=0), tracks.first)
        unsolved &= ~(moved <= SETTLED * largest)
        if not unsolved.any():
            return found
    track = int(np.argmax(unsolved))
    own_keys = slice(tracks.first[track], tracks.last[track] + 1)
    key = int(np.argmax(np.abs(step[:, own_keys]).max(axis=0)))
    fault = n_(
        "turns too far from its neighbours for rotations that are smooth to the second derivative; a key between helps"
    )
    raise KeysError(fault, key, float(tracks.frames[own_keys][key]))


def matrices(linear: Callable[[Float64Array, Float64Array], Float64Array], turn: Float64Array) -> Float64Array:
    """Return the matrices (3, 3, K) of a function that is linear in its second argument."""
    return np.stack([linear(turn, _axis(index, turn)) for index in range(3)], axis=1)


def _axis(index: int, like: Float64Array) -> Float64Array:
    """Return one of the axes, many times."""
    axis = np.zeros_like(like)
    axis[index] = 1.0
    return axis


def _acceleration(turn: Float64Array, rate: Float64Array) -> Float64Array:
    """Return the angular acceleration of a rotation vector of constant rate."""
    return acceleration_of_exp(turn, rate, np.zeros_like(rate))


def _acceleration_derivatives(turn: Float64Array, rate: Float64Array) -> Float64Array:
    """Return the derivatives (3, 3, K) of `_acceleration`, a quadratic form, by the rate."""
    acceleration = _acceleration(turn, rate)
    axes = [_axis(index, turn) for index in range(3)]
    return np.stack(
        [_acceleration(turn, rate + axis) - acceleration - _acceleration(turn, axis) for axis in axes], axis=1
    )
