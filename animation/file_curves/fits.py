# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles, and further keys, for motion that Blender's curves play only nearly: the one way into `interp.fitting`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...formats.motion import CUBIC, Curve
from ...interp import rotations
from ...interp.base_splines import BaseSpline
from ...interp.batch import Continuity, IndexArray, KeyBatch
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import fit_handles
from ...interp.fitting.requests import Request
from ...interp.keys import Float64Array, Keys

Evaluate = Callable[[Float64Array], Float64Array]
"""Returns values (m, d), or quaternions (m, 4), at frames (m,)."""
_STEP = 1e-3
"""The share of a segment between the five places from which derivatives are taken."""
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
_BESIDE_KEY = 1e-9
"""The share of a segment by which a place is within it: at its key a step may be over."""


class SampledSpline(BaseSpline):
    """Motion that is known at any frame and smooth between its keys, with derivatives from five places each."""

    continuity: Continuity = "C0"
    support = None
    is_cubic = False
    loop_gap = 0.0

    def __init__(self, frames: Float64Array, evaluate: Evaluate, is_rotation: bool) -> None:
        super().__init__(Keys(frames, evaluate(frames)))
        self._set(evaluate=evaluate, is_rotation=is_rotation)

    evaluate: Evaluate
    is_rotation: bool

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch: each spline is one."""
        return id(self)

    @classmethod
    def curve(cls, splines: Sequence[SampledSpline], tracks: KeyBatch) -> _Segments:
        """Return the segments of the one spline."""
        (spline,) = splines
        return _Segments(spline.keys.frames, spline.evaluate, spline.is_rotation)


class _Segments:
    """The segments of a sampled spline in their local parameter."""

    def __init__(self, frames: Float64Array, evaluate: Evaluate, is_rotation: bool) -> None:
        self._frames, self._evaluate, self._is_rotation = frames, evaluate, is_rotation
        self._lengths = np.append(np.diff(frames), 0.0)

    def _at(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return values (m, d)."""
        inside = np.clip(u, 0.0, 1.0 - _BESIDE_KEY)
        return self._evaluate(self._frames[segment] + inside * self._lengths[segment])

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values (d, m), or derivatives by the parameter; of rotations angular velocities and accelerations."""
        if not nu:
            return self._at(segment, u).T
        middle = np.clip(u, 2.0 * _STEP, 1.0 - 2.0 * _STEP)
        # Near an end the five places stay within the segment, and a parabola goes on from their derivatives.
        if not self._is_rotation:
            values = np.stack([self._at(segment, middle + k * _STEP) for k in range(-2, 3)])
            return self._derivative(values, u - middle, nu).T
        middle_q = self._at(segment, middle)
        turns = []
        for k in range(-2, 3):
            q = self._at(segment, middle + k * _STEP)
            relative = rotations.multiply(q, rotations.conjugate(middle_q))
            turns.append(rotations.to_rotation_vector(np.where(relative[:, :1] < 0.0, -relative, relative)))
        return self._derivative(np.stack(turns), u - middle, nu).T

    def _derivative(self, values: Float64Array, beyond: Float64Array, nu: int) -> Float64Array:
        """Return a derivative of values at five places, shape (5, m, d)."""
        second = np.tensordot(_SECOND, values, 1) / _STEP**2
        if nu == 2:
            return second
        return np.tensordot(_FIRST, values, 1) / _STEP + second * beyond[:, np.newaxis]


def fit(
    frames: Float64Array,
    evaluate: Evaluate,
    segments: npt.NDArray[np.bool_],
    representation: str | None,
    numbers: Float64Array | None,
    tolerance: float | None,
) -> list[Curve]:
    """Return a curve for each channel, by frames, that plays motion between its keys.

    Parameters
    ----------
    frames : ndarray, shape (n,)
        The keys.
    evaluate : callable
    segments : ndarray of bool, shape (n,)
        Which segments to fit; the others are straight.
    representation : str or None
        Of rotations.
    numbers : ndarray, shape (n, channels), or None
        The keys of rotations as the channels hold them.
    tolerance : float or None
        Add keys until the error is less. None: the keys alone.
    """
    spline = SampledSpline(frames, evaluate, representation is not None)
    if tolerance is None:
        return _by_handles(spline, segments, representation, numbers)
    return _by_keys(spline, segments, representation, numbers, tolerance)


def _by_handles(spline: SampledSpline, segments: Any, representation: str | None, numbers: Any) -> list[Curve]:
    (found,) = fit_handles([Request(spline, representation, numbers, segments)])
    frames = spline.keys.frames
    values = spline.keys.values if numbers is None else numbers
    values = values * found.signs[:, np.newaxis] if representation == "QUATERNION" else values
    length = np.diff(frames)
    curves = []
    for channel in range(values.shape[1]):
        curve = Curve.hermite(frames, values[:, channel], CUBIC)
        own = {name: getattr(curve, name).copy() for name in ("arriving", "leaving", "reach_before", "reach_after")}
        for side, slope, reach, sense in (
            (found.right[:-1, channel], "leaving", "reach_after", 1.0),
            (found.left[1:, channel], "arriving", "reach_before", -1.0),
        ):
            keys = slice(0, -1) if sense > 0.0 else slice(1, None)
            away = sense * (side[:, 0].astype(np.float64) - frames[keys])
            rise = sense * (side[:, 1].astype(np.float64) - values[keys, channel])
            known = np.isfinite(away)
            chord = np.diff(values[:, channel]) / length
            away = np.where(known & (away > 0.0), away, length / 3.0)
            own[slope][keys] = np.where(known, rise / away, chord)
            own[reach][keys] = away / length
        curves.append(Curve(**{**vars(curve), **own}))
    return curves


def _by_keys(
    spline: SampledSpline, segments: Any, representation: str | None, numbers: Any, tolerance: float
) -> list[Curve]:
    (found,) = fit_many([Request(spline, representation, numbers, segments, tolerance)])
    frames = spline.keys.frames
    values = spline.keys.values if numbers is None else numbers
    flips: Float64Array = np.ones(len(frames))
    if representation == "QUATERNION":
        # A key at which the channels arrive with the other sign goes on with it.
        flips[(found.arriving * values).sum(axis=1) < 0.0] = -1.0
    signs: Float64Array = np.multiply.accumulate(flips)
    curves = []
    for channel, knots in enumerate(found.knots):
        segment = np.maximum(np.searchsorted(frames, knots.frames, side="right") - 1, 0)
        all_frames = np.concatenate((frames, knots.frames))
        order = np.argsort(all_frames, kind="stable")
        before = np.append(1.0, signs[:-1])
        columns = (
            (signs * values[:, channel], signs[segment] * knots.values),
            (before * found.incoming[:, channel], signs[segment] * knots.derivatives),
            (signs * found.outgoing[:, channel], signs[segment] * knots.derivatives),
        )
        numbers_of_keys, arriving, leaving = (np.concatenate(pair)[order] for pair in columns)
        curves.append(Curve.hermite(all_frames[order], numbers_of_keys, CUBIC, arriving, leaving))
    return curves
