# SPDX-License-Identifier: GPL-3.0-or-later
"""The base classes of splines, and the description of an interpolation method."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice, checked_sample_frames, checked_whole
from .cubics import Cubics, PiecewisePolynomial, polynomials_of_cubics
from .keys import FARTHEST, Float64Array, KeyBatch, Keys
from .prepared import Curve, Prepared

if TYPE_CHECKING:
    from typing import Self


Cycle = Literal["SINGLE", "REPEAT", "LOOP"]
_CYCLES = get_args(Cycle)


class BaseSpline(ABC):
    """Base class for splines of any method.

    The segments are computed once, on first use, so attributes must not be changed. Splines can be pickled and shared
    between threads.

    Parameters
    ----------
    keys : Keys
        The keys.
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    derivatives = 2
    """The highest available derivative."""
    interpolating: bool = True
    """True if the spline passes through the keys instead of approximating them."""
    continues: bool = True
    """True if extrapolation continues the last segment beyond the last key."""
    is_cubic: bool = False
    """True if segments without ease are cubics in the frame, and therefore Bezier segments."""
    notes: tuple[str, ...] = ()
    """Notes on the spline's motion, such as overshoot."""
    keys: Keys
    cycle: Cycle

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        self._set(keys=checked_keys(keys), cycle=checked_choice("cycle", cycle, _CYCLES))

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Evaluate values or derivatives at frames.

        Parameters
        ----------
        frames : array_like, of any shape, or a number
            Finite frames in any order. At F[n-1] plus any number of full periods, a cycle has the value of its last
            key. Immediately afterward, it has the value of its first key.
        nu : 0, 1 or 2
            0 for values, otherwise the order of the derivative with respect to the frame, including ease. At a key,
            derivatives are for the segment that starts there or, at the last key, for the segment that ends there.
            Derivatives are 0 where the value is held. For rotations, values are unit quaternions. First derivatives are
            angular velocities in radians per frame in the parent frame, so that ``q(f + h) = exp(velocity h / 2) q(f)``
            for small h. scipy's RotationSpline uses the body frame. Second derivatives are angular accelerations in
            radians per frame squared.
        extrapolate : bool
            If true, the end segments continue outside the keys, at a constant rate of their local parameter. If false,
            the end values are held. At an end with an ease, the rate is 0, so the value is held. Cycles ignore this
            parameter.

        Returns
        -------
        ndarray
            An array with the shape of `frames` plus a last axis for the components: values, quaternions w, x, y, z, or
            angular velocities x, y, z.

        Raises
        ------
        TypeError
            If `frames` are not real numbers or `nu` is not an integer.
        ValueError
            If frames are not finite or exceed 1e100, or the spline does not have this derivative. The error message
            contains the index of the frame.
        """
        nu = checked_derivative(self, nu)
        if isinstance(frames, float | int | np.floating | np.integer):
            # A Python integer may be too large for a float.
            frame = frames if isinstance(frames, int) else float(frames)
            if abs(frame) <= FARTHEST:
                return self.prepared.evaluate_one(float(frame), nu, extrapolate)
        elif isinstance(frames, np.ndarray) and frames.size == 1 and frames.dtype == np.float64:
            # The vectorized method is fast for many samples but takes several times as long for a single sample.
            frame = frames.item()
            if abs(frame) <= FARTHEST:
                value = self.prepared.evaluate_one(frame, nu, extrapolate)
                return value.reshape(*frames.shape, len(value))
        at = checked_sample_frames("frames", frames)
        values = self.prepared.evaluate(at.ravel(), nu, extrapolate)[0]
        return values.reshape(*at.shape, values.shape[1])

    def derivative(self, n: int = 1) -> Derivative:
        """Return the n-th derivative as a function of frames. For rotations, the derivative is angular."""
        return Derivative(self, checked_derivative(self, n, "n"))

    @property
    @abstractmethod
    def loop_gap(self) -> float:
        """Return the distance, or for rotations the angle, between the first and last keys (0 for a closed loop)."""

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Splines with the same identifier are computed together."""
        return type(self), self.keys.values.shape[1]

    @classmethod
    @abstractmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""

    @cached_property
    def prepared(self) -> Prepared:
        """Return the spline's segments, which are computed on first use."""
        return prepared_together([self])

    def _set(self, **attributes: object) -> None:
        """Set attributes in a constructor, and discard data prepared from the old values."""
        vars(self).update(attributes)
        vars(self).pop("prepared", None)

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle: everything except the prepared segments."""
        return {name: value for name, value in vars(self).items() if name != "prepared"}


Spline = BaseSpline
"""Any spline, of values or rotations."""


class ComponentSpline(BaseSpline):
    """Base class for splines of values with independent components.

    Parameters
    ----------
    keys : Keys
        Values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    is_cubic = True

    @property
    def loop_gap(self) -> float:
        """Return the distance between the values of the first and last keys (0 for a closed loop)."""
        return math.hypot(*(self.keys.values[-1] - self.keys.values[0]).tolist())

    def to_ppoly(self) -> PiecewisePolynomial:
        """Return the spline as piecewise polynomials in the frame, including ease and the motion outside the keys.

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
            raise ValueError(f"{type(self).__module__.rsplit('.')[-1]} has no segments that are cubic in the frame")
        frames = self.keys.frames
        period = None if self.cycle == "SINGLE" or len(frames) == 1 else float(frames[-1] - frames[0])
        return polynomials_of_cubics(curve.coefficients, self.prepared.local_parameter, self.keys, period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key.

        Raises
        ------
        ValueError
            If the segments are not cubics, or the spline is a cycle, which has no piecewise antiderivative.
        """
        return self.to_ppoly().antiderivative(n)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral from frame `a` to frame `b`, shape (d,).

        Outside the keys, the held, repeated or extrapolated motion is integrated.

        Raises
        ------
        ValueError
            If the segments are not cubics, or `a` or `b` is not a finite frame.
        """
        return self.to_ppoly().integrate(a, b, extrapolate)


@dataclass(frozen=True)
class Derivative:
    """The n-th derivative of a spline. It is called like the spline."""

    spline: BaseSpline
    n: int

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Return ``spline(frames, n + nu, extrapolate)``."""
        return self.spline(frames, self.n + checked_whole("nu", nu), extrapolate)

    def derivative(self, n: int = 1) -> Derivative:
        """Return a further derivative."""
        return self.spline.derivative(self.n + checked_whole("n", n))


@dataclass(frozen=True)
class Method:
    """An interpolation method.

    `values` and `rotations` are its spline classes, or None. Splines are created from keys and a cycle, and called with
    ``(frames, nu)``. `value_options` and `rotation_options` name the other keyword parameters of the constructors:
    "ends", "construction", "path", "velocities" per frame of shape (n, d) or (n, 3), and "angles", a method for values.
    """

    name: str
    label: str
    description: str
    values: type[Any] | None
    rotations: type[Any] | None
    value_options: tuple[str, ...] = ()
    rotation_options: tuple[str, ...] = ()


def checked_keys(keys: Keys) -> Keys:
    """Return the keys, or raise TypeError for any other type."""
    if not isinstance(keys, Keys):
        raise TypeError(f"keys must be Keys, not {keys!r}")
    return keys


def checked_splines(name: str, splines: Iterable[Spline]) -> list[Spline]:
    """Return the splines as a list, or raise TypeError for objects of any other type."""
    if isinstance(splines, Iterable):
        several = list(splines)
        if all(isinstance(spline, BaseSpline) for spline in several):
            return several
    raise TypeError(f"{name} must be a sequence of splines, not {splines!r}")


def checked_derivative(spline: Spline, nu: int, name: str = "nu") -> int:
    """Return the order of a derivative, or raise TypeError or ValueError if a spline does not have that derivative."""
    try:
        order = operator.index(nu)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, not {nu!r}") from error
    if not 0 <= order <= spline.derivatives:
        raise ValueError(
            f"{type(spline).__name__} supports derivatives of order 0 to {spline.derivatives}, not {name}={nu!r}"
        )
    return order


def end_to_end(splines: Sequence[Spline]) -> KeyBatch:
    """Concatenate the keys of all splines."""
    return KeyBatch.of([spline.keys for spline in splines], [spline.cycle == "LOOP" for spline in splines])


def prepared_together(splines: Sequence[Spline]) -> Prepared:
    """Return the segments of splines that have the same `batch`."""
    tracks = end_to_end(splines)
    return Prepared(
        tracks,
        type(splines[0]).curve(splines, tracks),
        repeats=np.array([spline.cycle != "SINGLE" for spline in splines]),
        continues=np.array([spline.continues for spline in splines]),
    )
