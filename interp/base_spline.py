# SPDX-License-Identifier: GPL-3.0-or-later
"""The base classes of splines, and batches of splines prepared for evaluation.

A character has hundreds of tracks, and a NumPy call costs the same for ten numbers as for a thousand. The keys of all
tracks are therefore concatenated, and each calculation covers all tracks. A single spline is a batch of one.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from . import cubics
from .arguments import checked_choice, checked_sample_frames, checked_whole
from .cubics import Cubics, PiecewisePolynomial, polynomials
from .ease import LocalParameter
from .key_batch import IndexArray, KeyBatch
from .keys import FARTHEST, Float64Array, Keys, freeze
from .messages import n_

if TYPE_CHECKING:
    from typing import Self


Cycle = Literal["SINGLE", "REPEAT", "LOOP"]
_CYCLES = get_args(Cycle)
_Segment = TypeVar("_Segment", IndexArray, int)
_U = TypeVar("_U", Float64Array, float)

# Samples evaluated at a time: enough to amortize the NumPy calls, few enough to fit the processor cache.
BLOCK = 8192
# Looking up samples among the keys of one track takes as long as looking up this number of keys among the samples.
_KEYS_PER_TRACK = 200


class Curve(Protocol):
    """The segments of several tracks, ready for evaluation at their local parameter from 0 to 1.

    A class may also define ``evaluate_one(segment, u, nu)`` for a single sample. The result must be identical to the
    last bit and have the shape (components,).
    """

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values (nu = 0) or derivatives with respect to u, shape (components, samples)."""
        ...


class BaseSpline(ABC):
    """Base class for immutable splines of any method.

    The segments are computed once, on first use. Splines can be pickled and shared between threads.

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
    is_cubic: bool
    """True if segments without ease are cubics in the frame, and therefore Bezier segments."""
    notes: tuple[str, ...] = ()
    """Notes on the spline's motion, such as overshoot."""
    keys: Keys
    cycle: Cycle

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        self._set(keys=checked_keys(keys), cycle=checked_choice("cycle", cycle, _CYCLES))

    def _set(self, **attributes: object) -> None:
        """Set attributes in a constructor, make arrays read-only, and discard data prepared from the old values."""
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
        """Restore the pickled state, with read-only arrays."""
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
            frame = float(frames) if not isinstance(frames, int) or abs(frames) <= FARTHEST else math.inf
            if abs(frame) <= FARTHEST:
                return self.prepared.evaluate_one(frame, nu, extrapolate)
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
    @abstractmethod
    def batch(self) -> Hashable:
        """Return the batch identifier. Splines with the same class and identifier are computed together."""

    @classmethod
    @abstractmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""


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


Spline = BaseSpline


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
    several = list(splines) if isinstance(splines, Iterable) else [None]
    if not all(issubclass(kind, BaseSpline) for kind in set(map(type, several))):
        raise TypeError(f"{name} must be a sequence of splines, not {splines!r}")
    return several


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
    """Concatenate the keys of all tracks and find the neighbors of every key."""
    keys = [spline.keys for spline in splines]
    counts = np.array([len(each.frames) for each in keys])
    frames = np.concatenate([each.frames for each in keys])
    stop = np.cumsum(counts)
    first, last = stop - counts, stop - 1
    # A loop of two keys is computed as a track of two keys (docs/formulas, "Cycles").
    looped = np.array([spline.cycle == "LOOP" for spline in splines]) & (counts > 2)

    key = np.arange(len(frames))
    previous, following = key - 1, key + 1
    previous[first], following[last] = first, last
    before, after = frames - frames[previous], frames[following] - frames
    if looped.any():
        start, end = first[looped], last[looped]
        previous[start], following[end] = end - 1, start + 1
        before[start] = before[end]
        after[end] = after[start]
    return KeyBatch(
        frames=frames,
        parameters=np.concatenate([each.parameters for each in keys], axis=1),
        values=np.concatenate([each.values for each in keys]),
        first=first,
        last=last,
        previous=previous,
        following=following,
        before=before,
        after=after,
        looped=looped,
    )


class Prepared:
    """Splines with the same `Spline.batch`, ready for evaluation.

    `tracks` contains the concatenated keys, `curve` the segments, and `local_parameter` their local parameters.
    """

    def __init__(self, splines: Sequence[Spline]) -> None:
        self.tracks = end_to_end(splines)
        self.curve = type(splines[0]).curve(splines, self.tracks)
        self.local_parameter = LocalParameter(self.tracks)
        self._cycles = [spline.cycle != "SINGLE" for spline in splines]
        self._ends_segment, self._ends_track = np.zeros((2, len(self.tracks.frames)), dtype=np.bool_)
        has_segments = self.tracks.last > self.tracks.first
        continues = [spline.continues and spline.cycle == "SINGLE" for spline in splines]
        self._ends_segment[self.tracks.last[has_segments]] = True
        self._ends_track[self.tracks.last[has_segments & continues]] = True
        self._frames: list[float] = self.tracks.frames.tolist() if len(splines) == 1 else []
        self._one: Callable[[int, float, int], Float64Array] = getattr(self.curve, "evaluate_one", self._evaluate_one)

    def evaluate(
        self, samples: Float64Array | list[Float64Array], nu: int, extrapolate: bool = False
    ) -> list[Float64Array]:
        """Return values or derivatives per frame for all splines, each with shape (samples, components).

        `samples` are frames that have already been checked: one array for all splines, or one array per spline.
        """
        frames, segment, ends = self._look_up(samples, nu, extrapolate)
        blocks = [slice(start, start + BLOCK) for start in range(0, max(len(frames), 1), BLOCK)]
        results = (self._block(frames[block], segment[block], nu, extrapolate) for block in blocks)
        first = next(results)
        values = np.empty((len(frames), len(first)))
        for block, result in zip(blocks, chain([first], results), strict=True):
            values[block] = result.T
        return [values[start:end] for start, end in pairwise(ends)]

    def evaluate_one(self, frame: float, nu: int, extrapolate: bool) -> Float64Array:
        """Return the value or derivative of the only spline at one frame, identical to `evaluate` to the last bit.

        One NumPy call costs more than this whole calculation with Python numbers (tools/bench.py package_speed).
        """
        keys = self._frames
        first, last = keys[0], keys[-1]
        if self._cycles[0]:
            frame, extrapolate = cubics.wrapped_frame(frame, first, last), False
        segment = (bisect_left if nu and frame == last else bisect_right)(keys, frame) - 1
        if segment < 0:
            segment = 0
        if extrapolate and self._ends_track[segment]:
            segment -= 1
        u, *rates = self.local_parameter.at_one(frame, segment, nu, extrapolate)
        return _by_frame(self._one, segment, u, rates, nu)

    def _evaluate_one(self, segment: int, u: float, nu: int) -> Float64Array:
        """Return one sample of a curve that can only evaluate arrays."""
        return self.curve.evaluate(np.array([segment]), np.array([u]), nu)[:, 0]

    def _block(self, frames: Float64Array, segment: IndexArray, nu: int, extrapolate: bool) -> Float64Array:
        """Return values or derivatives per frame, shape (components, samples)."""
        u, *rates = self.local_parameter.at(frames, segment, nu, extrapolate)
        return _by_frame(self.curve.evaluate, segment, u, rates, nu)

    def _look_up(
        self, samples: Float64Array | list[Float64Array], nu: int, extrapolate: bool
    ) -> tuple[Float64Array, IndexArray, list[int]]:
        """Return the frames of all samples (wrapped in cycles), their segments, and the end of each track's samples."""
        tracks, rising = self.tracks, False
        if isinstance(samples, list):
            sizes = [len(each) for each in samples]
            frames = np.concatenate(samples)
        else:
            sizes = [len(samples)] * len(self._cycles)
            frames = np.tile(samples, len(self._cycles))
            # In rising samples, the keys of all tracks can be looked up at once, which is faster unless keys abound.
            keys_are_few = len(tracks.frames) < len(frames) + _KEYS_PER_TRACK * len(self._cycles)
            rising = keys_are_few and bool((samples[1:] >= samples[:-1]).all())
        bounds = [0, *np.cumsum(sizes).tolist()]
        if rising:
            begins = np.searchsorted(samples, tracks.frames)
            begins[tracks.first] = 0
            ends = np.append(begins[1:], 0)
            ends[tracks.last] = len(samples)
            segment = np.repeat(np.arange(len(begins)), ends - begins)
        else:
            segment = np.empty(len(frames), dtype=np.intp)
        for index, wraps in enumerate(self._cycles):
            if rising and not wraps:
                continue
            own = tracks.frames[tracks.first[index] : tracks.last[index] + 1]
            part = slice(bounds[index], bounds[index + 1])
            if wraps:
                frames[part] = cubics.wrapped_frames(frames[part], own[0], own[-1])
            segment[part] = tracks.first[index] + np.maximum(np.searchsorted(own, frames[part], side="right") - 1, 0)
        if nu or extrapolate:
            # At the last key, use the incoming derivative, because the segment that begins there is held.
            at_last = (self._ends_segment if nu else self._ends_track)[segment]
            if not extrapolate:
                at_last &= frames == tracks.frames[segment]
            elif nu:
                at_last &= self._ends_track[segment] | (frames == tracks.frames[segment])
            segment[at_last] -= 1
        return frames, segment, bounds


def _by_frame(
    evaluate: Callable[[_Segment, _U, int], Float64Array],
    segment: _Segment,
    u: _U,
    rates: Sequence[Float64Array | float],
    nu: int,
) -> Float64Array:
    """Return a derivative with respect to the frame from derivatives with respect to u and rates of u (chain rule).

    The square is written as a product, because powers of scalars and of arrays differ in the last bits.
    """
    if nu == 0:
        return evaluate(segment, u, 0)
    if nu == 1:
        return evaluate(segment, u, 1) * rates[0]
    return evaluate(segment, u, 2) * (rates[0] * rates[0]) + evaluate(segment, u, 1) * rates[1]


class ComponentSpline(BaseSpline):
    """Base class for splines of values with independent components.

    Parameters
    ----------
    keys : Keys
        Values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    @property
    def loop_gap(self) -> float:
        """Return the distance between the values of the first and last keys (0 for a closed loop)."""
        return math.hypot(*(self.keys.values[-1] - self.keys.values[0]).tolist())

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same number of components are computed together."""
        return type(self), self.keys.values.shape[1]

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
        return polynomials(curve, self.prepared.local_parameter, frames, period)

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
