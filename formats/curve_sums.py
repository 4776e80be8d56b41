# SPDX-License-Identifier: GPL-3.0-or-later
"""Weighted sums of curves that are curves again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .curve import CONSTANT, CUBIC, LINEAR, Curve, scaled, union_times
from .interp import Float64Array


def combined(weights: npt.ArrayLike, curves: Sequence[Curve], offset: float) -> Curve | None:
    """Return the curve that equals an offset plus the weighted sum of curves at all times.

    If there is no such curve, return None. Curves with handles that are not at thirds cannot be added, because
    their times are different cubics. During a step, only other steps can be added.
    """
    pairs = [(float(weight), curve) for weight, curve in zip(np.asarray(weights), curves, strict=True)]
    terms = [(weight, curve) for weight, curve in pairs if weight != 0.0]
    terms = [(weight, curve) for weight, curve in terms if curve.varies] or terms[:1]
    if len(terms) == 1:
        weight, curve = terms[0]
        return scaled(curve, weight, float(offset + sum(w * c.values[0] for w, c in pairs if c is not curve)))
    if not terms or any(curve.is_weighted for _, curve in terms):
        return None
    return _sum_of_curves(terms, offset + sum(w * c.values[0] for w, c in pairs if not c.varies))


def _sum_of_curves(terms: Sequence[tuple[float, Curve]], offset: float) -> Curve | None:
    """Return an offset plus the sum of weights times curves, or None if steps meet other segments."""
    times = union_times([curve for _, curve in terms])
    interpolation = _interpolation_of_sum([curve for _, curve in terms], times)
    if interpolation is None:
        return None
    values, held = np.full(len(times), offset), np.full(len(times), offset)
    arriving, leaving = np.zeros((2, len(times)))
    for weight, curve in terms:
        values = values + weight * curve(times)
        held = held + weight * _held(curve, times)
        before, after = _slopes(curve, times)
        arriving, leaving = arriving + weight * before, leaving + weight * after
    return replace(Curve.hermite(times, values, interpolation, arriving, leaving), held=held)


def _interpolation_of_sum(curves: Sequence[Curve], times: Float64Array) -> npt.NDArray[np.uint8] | None:
    """Return the interpolation of the sum after each time, or None if a step coincides with another segment."""
    interpolations = np.stack([curve.interpolation[curve.segments_at(times)] for curve in curves])
    # After its last key, a curve holds its value, which can be added to any curve.
    is_moving = np.stack([curve.is_between_keys(times) for curve in curves])
    is_step = (interpolations == CONSTANT) & is_moving
    if (is_step.any(axis=0) & (is_moving & ~is_step).any(axis=0))[:-1].any():
        return None
    result = np.where(is_step.any(axis=0), CONSTANT, LINEAR)
    result[((interpolations == CUBIC) & is_moving).any(axis=0)] = CUBIC
    return result.astype(np.uint8)


def _held(curve: Curve, times: Float64Array) -> Float64Array:
    """Return the value held after each time, which is used only in CONSTANT segments."""
    segment = curve.segments_at(times)
    is_step = curve.is_between_keys(times) & (curve.interpolation[segment] == CONSTANT)
    return np.where(is_step, curve.held[segment], curve(times))


def _slopes(curve: Curve, times: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes of an unweighted curve immediately before and after the given times."""
    if len(curve) == 1:
        return np.zeros(len(times)), np.zeros(len(times))
    before = _slopes_in(curve, curve.segments_at(times, "left"), times)
    after = _slopes_in(curve, curve.segments_at(times), times)
    before[(times <= curve.times[0]) | (times > curve.times[-1])] = 0.0
    after[(times < curve.times[0]) | (times >= curve.times[-1])] = 0.0
    return before, after


def _slopes_in(curve: Curve, segment: npt.NDArray[np.intp], times: Float64Array) -> Float64Array:
    """Return the slopes in the given segments."""
    duration = curve.times[segment + 1] - curve.times[segment]
    u = (times - curve.times[segment]) / duration
    chord = (curve.values[segment + 1] - curve.values[segment]) / duration
    leaving, arriving = curve.leaving[segment], curve.arriving[segment + 1]
    # The derivative of the Hermite cubic.
    cubic = (1.0 - u) * (1.0 - 3.0 * u) * leaving + u * (3.0 * u - 2.0) * arriving + 6.0 * u * (1.0 - u) * chord
    interpolation = curve.interpolation[segment]
    return np.where(interpolation == CUBIC, cubic, np.where(interpolation == LINEAR, chord, 0.0))
