# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes for the splines of all methods, and for tracks of numbers with independent components."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
import numpy.typing as npt

from .batch import (
    Continuity,
    Curve,
    Cycle,
    KeyBatch,
    Prepared,
    checked_choice,
    checked_derivative,
    checked_sample_frames,
    checked_whole,
)
from .cubics import Cubics, PiecewisePolynomial, polynomials
from .keys import FARTHEST, Float64Array, Keys, freeze
from .messages import n_

if TYPE_CHECKING:
    from typing import Self


class BaseSpline(ABC):
    """Represent an immutable track of any method.

    Its segments are computed once, on first use. It can be pickled and shared between threads.

    Parameters
    ----------
    keys : Keys
        The keys.
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    derivatives: int = 2
    interpolating: bool = True
    continues: bool = True
    is_cubic: bool
    continuity: Continuity
    support: int | None
    keys: Keys
    cycle: Cycle

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        if not isinstance(keys, Keys):
            raise TypeError(f"keys must be Keys, not {keys!r}")
        self._set(keys=keys, cycle=checked_choice("cycle", cycle, get_args(Cycle)))

    def _set(self, **attributes: object) -> None:
        """Set attributes in constructors, make arrays read-only and drop prepared data that depended on old values."""
        freeze((*attributes.values(),))
        vars(self).update(attributes)
        vars(self).pop("prepared", None)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError: splines are immutable."""
        raise AttributeError(n_("{:s} is immutable. Create a new one to change {:s}", type(self).__name__, name))

    def __delattr__(self, name: str) -> None:
        """Raise AttributeError: splines are immutable."""
        self.__setattr__(name, None)

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle: everything except the prepared segments."""
        return {name: value for name, value in vars(self).items() if name != "prepared"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Set the pickled state, read-only again."""
        self._set(**state)

    @cached_property
    def prepared(self) -> Prepared:
        """Return the spline's segments, which are computed on first use."""
        return Prepared([self])

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Evaluate values or derivatives at frames.

        Parameters
        ----------
        frames : array_like, of any shape, or a number
            Finite frames in any order. At F[n-1] plus full periods a cycle takes the value of its last key, and
            immediately afterward the value of its first key.
        nu : 0, 1 or 2
            0 for values, otherwise the order of the derivative per frame, including ease. Derivatives at a key belong
            to the segment that starts there, and at the last key to the segment that ends there. They are 0 where the
            value is held. For rotations, values are unit quaternions. First derivatives are angular velocities in
            radians per frame in the parent frame, ``q(f + h) = exp(velocity h / 2) q(f)`` for small h. scipy's
            RotationSpline uses the body frame. Second derivatives are angular accelerations in radians per frame
            squared.
        extrapolate : bool
            Whether to continue the end segments outside the keys, at a constant rate of their local parameter, instead
            of holding the end values. At an end with an ease the rate is 0, so the value is held. Cycles ignore this.

        Returns
        -------
        ndarray
            An array with the shape of `frames` and one more axis: the components of values, w, x, y, z of quaternions,
            or x, y, z of angular velocities.

        Raises
        ------
        TypeError
            If `frames` are not real numbers or `nu` is not an integer.
        ValueError
            If frames are not finite or exceed 1e100, or the spline does not have this derivative. The message contains
            the index of the frame.
        """
        nu = checked_derivative(self, nu)
        if isinstance(frames, float | int | np.floating | np.integer):
            # A Python integer may be too large for a float.
            frame = float(frames) if not isinstance(frames, int) or abs(frames) <= FARTHEST else math.inf
            if abs(frame) <= FARTHEST:
                return self.prepared.evaluate_one(frame, nu, extrapolate)
        elif isinstance(frames, np.ndarray) and frames.size == 1 and frames.dtype == np.float64:
            # The vectorized method is fast for many samples but takes several times as long for a single one.
            frame = frames.item()
            if abs(frame) <= FARTHEST:
                value = self.prepared.evaluate_one(frame, nu, extrapolate)
                return value.reshape(*frames.shape, len(value))
        at = checked_sample_frames("frames", frames)
        values = self.prepared.evaluate(at.ravel(), nu, extrapolate)[0]
        return values.reshape(*at.shape, values.shape[1])

    def derivative(self, n: int = 1) -> Derivative:
        """Return the n-th derivative as a function of frames, which is an angular one for rotations."""
        return Derivative(self, checked_derivative(self, n, "n"))

    @property
    @abstractmethod
    def loop_gap(self) -> float:
        """Return the distance, or the angle for rotations, between the last and the first key.

        It is 0 for a closed loop.
        """

    @property
    @abstractmethod
    def batch(self) -> Hashable:
        """Return the batch identifier. Splines with the same identifier are computed together."""

    @classmethod
    @abstractmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""


@dataclass(frozen=True)
class Derivative:
    """Represent the n-th derivative of a spline, which is called like the spline."""

    spline: BaseSpline
    n: int

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Return ``spline(frames, n + nu, extrapolate)``."""
        return self.spline(frames, self.n + checked_whole("nu", nu), extrapolate)

    def derivative(self, n: int = 1) -> Derivative:
        """Return a further derivative."""
        return self.spline.derivative(self.n + checked_whole("n", n))


class ComponentSpline(BaseSpline):
    """Provide the base class for tracks of numbers with independent components.

    Parameters
    ----------
    keys : Keys
        Values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    @property
    def loop_gap(self) -> float:
        """Return the distance between the values of the last and the first key. It is 0 for a closed loop."""
        return math.hypot(*(self.keys.values[-1] - self.keys.values[0]).tolist())

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same number of components are computed together."""
        return type(self), self.keys.values.shape[1]

    def to_ppoly(self) -> PiecewisePolynomial:
        """Return the polynomials in the frame, including ease and the values held or repeated outside the keys.

        Raises
        ------
        ValueError
            If the segments are not cubics (`is_cubic` is False).

        Notes
        -----
        The error is twice the error of direct evaluation. Source: docs/formulas, "Hermite cubics" and "Ease".
        """
        curve = self.prepared.curve
        if not isinstance(curve, Cubics):
            raise ValueError(f"{type(self).__module__.rsplit('.')[-1]} has no segments that are cubics in the frame")
        frames = self.keys.frames
        period = None if self.cycle == "SINGLE" or len(frames) == 1 else float(frames[-1] - frames[0])
        return polynomials(curve, self.prepared.timing, frames, period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key, for splines with `to_ppoly`."""
        return self.to_ppoly().antiderivative(n)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral from frame a to b, both numbers, shape (d,).

        Outside the keys the held, repeated or extrapolated motion is integrated.
        """
        return self.to_ppoly().integrate(a, b, extrapolate)
