# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of tracks: concatenated keys with their neighbors, prepared segments, and evaluation by lookup.

A character has hundreds of tracks, and a NumPy call costs the same for ten numbers as for a thousand. The keys of all
tracks are therefore concatenated, and each calculation covers all tracks. A single spline is a batch of one. Segment
``k`` runs from key ``k`` to the next. The last key of a track begins a zero-length segment that holds its value.
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
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeVar, cast, get_args, overload

import numpy as np
import numpy.typing as npt

from . import cycles, ease
from .keys import FARTHEST, Float64Array, Keys, finite, freeze
from .messages import n_

if TYPE_CHECKING:
    from typing import Self

IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Cycle = Literal["SINGLE", "REPEAT", "LOOP"]
Continuity = Literal["C0", "C1", "C2"]
_Segment = TypeVar("_Segment", IndexArray, int)
_U = TypeVar("_U", Float64Array, float)

# Samples evaluated at a time: enough to amortize the NumPy calls, few enough to fit the processor cache.
BLOCK = 8192


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """The K concatenated keys of several tracks, with the neighbors of each key.

    The first key of a track that is not a loop has no previous key. For this key, `previous` is the key itself and
    `before` is 0. The same applies to `following` and `after` at the last key.
    """

    frames: Float64Array
    parameters: Float64Array
    values: Float64Array
    first: IndexArray
    last: IndexArray
    previous: IndexArray
    following: IndexArray
    before: Float64Array
    after: Float64Array
    looped: BoolArray

    @property
    def open(self) -> tuple[IndexArray, IndexArray]:
        """Return the first and last keys of the tracks that have ends. Single keys and loops have none."""
        ended = (self.last > self.first) & ~self.looped
        return self.first[ended], self.last[ended]

    @property
    def segment_end(self) -> IndexArray:
        """Return the end key of the segment that begins at each key. For a track's last key, this is the key itself."""
        end = np.arange(1, len(self.frames) + 1)
        end[self.last] = self.last
        return end

    @property
    def lengths(self) -> Float64Array:
        """Return the length of the segment that begins at each key, which is 0 at the last key of a track."""
        return self.frames[self.segment_end] - self.frames

    @property
    def segments_beside(self) -> tuple[IndexArray, IndexArray]:
        """Return the segments before and after each key, including across the seam of a loop.

        At the ends of a track that is not a loop, the index of the missing segment is arbitrary.
        """
        return self.previous, np.maximum(self.following - 1, 0)

    @property
    def columns(self) -> Float64Array:
        """Return the values with the component axis first, shape (d, K)."""
        return np.ascontiguousarray(self.values.T)

    def chords(self, values: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the differences in values (d, K) from the previous key to each key, and from each key to the next."""
        return values - values.take(self.previous, axis=1), values.take(self.following, axis=1) - values

    def take(self, keys: BoolArray) -> KeyBatch:
        """Return a subset of the tracks, selected by their keys."""
        index, own = np.cumsum(keys) - 1, keys[self.first]
        return KeyBatch(
            frames=self.frames[keys],
            parameters=self.parameters.compress(keys, axis=1),
            values=self.values[keys],
            first=index[self.first[own]],
            last=index[self.last[own]],
            previous=index[self.previous[keys]],
            following=index[self.following[keys]],
            before=self.before[keys],
            after=self.after[keys],
            looped=self.looped[own],
        )


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

    derivatives: int = 2
    """The highest available derivative."""
    interpolating: bool = True
    """True if the spline passes through the keys instead of approximating them."""
    continues: bool = True
    """True if extrapolation continues the last segment beyond the last key."""
    is_cubic: bool
    """True if segments without ease are cubics in the frame, and therefore Bezier segments."""
    continuity: Continuity
    """The continuity class with respect to frames, at keys in general position with all parameters set to 0."""
    support: int | None
    """The number of keys on each side of a segment that affect it, or None for all."""
    notes: tuple[str, ...] = ()
    """Notes on the spline's motion, such as overshoot."""
    keys: Keys
    cycle: Cycle

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        self._set(keys=checked_keys(keys), cycle=checked_choice("cycle", cycle, get_args(Cycle)))

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
            0 for values, otherwise the order of the derivative with respect to the frame, including ease. Derivatives
            at a key belong to the segment that starts there, and at the last key to the segment that ends there. They
            are 0 where the value is held. For rotations, values are unit quaternions. First derivatives are angular
            velocities in radians per frame in the parent frame, so that ``q(f + h) = exp(velocity h / 2) q(f)`` for
            small h. scipy's RotationSpline uses the body frame. Second derivatives are angular accelerations in radians
            per frame squared.
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
            # The vectorized method is fast for many samples but takes several times as long for a single sample.
            frame = frames.item()
            if abs(frame) <= FARTHEST:
                value = self.prepared.evaluate_one(frame, nu, extrapolate)
                return value.reshape(*frames.shape, len(value))
        at = checked_sample_frames("frames", frames)
        values = self.prepared.evaluate(at.ravel(), nu, extrapolate)[0]
        return values.reshape(*at.shape, values.shape[1])

    def derivative(self, n: int = 1) -> Derivative:
        """Return the n-th derivative as a function of frames. For rotations, it is an angular derivative."""
        return Derivative(self, checked_derivative(self, n, "n"))

    @property
    @abstractmethod
    def loop_gap(self) -> float:
        """Return the distance, or for rotations the angle, between the first and last keys.

        It is 0 for a closed loop.
        """

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
    """The n-th derivative of a spline. Call it as you would the spline."""

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
    if not all(isinstance(spline, BaseSpline) for spline in several):
        raise TypeError(f"{name} must be a sequence of splines, not {splines!r}")
    return several


def checked_choice(name: str, choice: str, choices: Sequence[str]) -> str:
    """Return the choice, or raise a ValueError that lists the choices."""
    if choice not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {choice!r}")
    return choice


def checked_whole(name: str, number: int) -> int:
    """Return a nonnegative integer, or raise TypeError or ValueError."""
    try:
        whole = operator.index(number)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, not {number!r}") from error
    if whole < 0:
        raise ValueError(f"{name} must be 0 or greater, not {number!r}")
    return whole


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


def evaluate_many(
    splines: Sequence[Spline] | SplineBatch,
    frames: npt.ArrayLike | Sequence[npt.ArrayLike],
    nu: int = 0,
    extrapolate: bool = False,
) -> list[Float64Array]:
    """Evaluate many tracks at once, several times faster than evaluating them one at a time.

    Parameters
    ----------
    splines : sequence of splines, or SplineBatch
        Splines of any class, method and cycle, with any number of components. Use a `SplineBatch` to evaluate the same
        splines repeatedly.
    frames : array_like, shape (m,), or a sequence of such arrays, one per spline
        Finite frames in any order. Evaluation is fastest if frames are sorted in ascending order and shared by all
        splines.
    nu : int
        0 for values, otherwise the order of the derivative, as when calling a spline.
    extrapolate : bool
        If true, the end segments continue outside the keys. If false, the end values are held.

    Returns
    -------
    list of ndarray
        The results of ``spline(frames, nu, extrapolate)``, identical to the last bit, in the order of `splines`. A
        result does not depend on the other splines. The arrays share memory.

    Raises
    ------
    TypeError
        If `splines` is not a sequence of splines, `frames` are not numbers, or `nu` is not an integer.
    ValueError
        If frames are not finite or exceed 1e100, the number of frame arrays differs from the number of splines, or a
        spline does not have this derivative. The message contains the index of the frame.

    Examples
    --------
    >>> rising = tcb.VectorSpline(Keys([0, 10], [0, 1]))
    >>> turning = tcb.RotationSpline(Keys([0, 10], [[1, 0, 0, 0], [0, 0, 0, 1]]))
    >>> [values.shape for values in evaluate_many([rising, turning], [0, 2.5, 5])]
    [(3, 1), (3, 4)]
    """
    batch = splines if isinstance(splines, SplineBatch) else SplineBatch(splines)
    return batch(frames, nu, extrapolate)


_FEW = 16
"""Up to this number of splines, one frame is evaluated faster in turn than in arrays (tools/bench.py splines)."""


class SplineBatch(Sequence["Spline"]):
    """Many splines prepared together, so that repeated evaluation computes their segments only once.

    Parameters
    ----------
    splines : sequence of splines
        See `evaluate_many`.

    Notes
    -----
    A batch is an immutable sequence of its splines. It can be pickled and shared between threads.

    Examples
    --------
    >>> batch = SplineBatch([tcb.VectorSpline(Keys([0, 10], [0, end])) for end in (1, 2, 3)])
    >>> [values.ravel().tolist() for values in batch([5, 10])]
    [[0.5, 1.0], [1.0, 2.0], [1.5, 3.0]]
    """

    __slots__ = ("_groups", "_splines")

    def __init__(self, splines: Iterable[Spline]) -> None:
        self._splines = tuple(checked_splines("splines", splines))
        batches: dict[Hashable, list[int]] = {}
        for index, spline in enumerate(self._splines):
            batches.setdefault(spline.batch, []).append(index)
        self._groups: list[tuple[list[int], Prepared | None]] = [(indices, None) for indices in batches.values()]

    def __len__(self) -> int:
        """Return the number of splines."""
        return len(self._splines)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Spline: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Spline, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Spline | tuple[Spline, ...]:
        """Return one spline, or a tuple of splines for a slice."""
        return self._splines[index]

    def __reduce__(self) -> tuple[type[SplineBatch], tuple[tuple[Spline, ...]]]:
        """Pickle the batch as its splines."""
        return SplineBatch, (self._splines,)

    def __call__(
        self, frames: npt.ArrayLike | Sequence[npt.ArrayLike], nu: int = 0, extrapolate: bool = False
    ) -> list[Float64Array]:
        """Evaluate all splines. See `evaluate_many`."""
        shared, separate = _checked_frames(frames, len(self))
        for spline in self._splines:
            checked_derivative(spline, nu)
        results: dict[int, Float64Array] = {}
        for number, (indices, prepared) in enumerate(self._groups):
            if separate is None and len(shared) == 1 and self._are_quick_alone(indices):
                frame = shared.item()
                for index in indices:
                    value = self._splines[index].prepared.evaluate_one(frame, nu, extrapolate)
                    results[index] = value[np.newaxis]
                continue
            if prepared is None:
                splines = [self._splines[index] for index in indices]
                prepared = splines[0].prepared if len(splines) == 1 else Prepared(splines)
                self._groups[number] = indices, prepared
            samples = shared if separate is None else [separate[index] for index in indices]
            results.update(zip(indices, prepared.evaluate(samples, nu, extrapolate), strict=True))
        return [results[index] for index in range(len(self))]

    def _are_quick_alone(self, indices: Sequence[int]) -> bool:
        """Return whether the splines are few and all prepared, so that evaluating one frame in turn is faster."""
        return len(indices) <= _FEW and all("prepared" in vars(self._splines[index]) for index in indices)


def _checked_frames(
    frames: npt.ArrayLike | Sequence[npt.ArrayLike], count: int
) -> tuple[Float64Array, list[Float64Array] | None]:
    """Return one array for all splines, or a list with one array per spline."""
    is_separate = frames.ndim == 2 if isinstance(frames, np.ndarray) else _holds_arrays(frames)
    if not is_separate:
        return checked_row("frames", cast(npt.ArrayLike, frames)), None
    several = list(cast(Sequence[npt.ArrayLike], frames))
    if len(several) != count:
        raise ValueError(f"frames must have one array per spline: got {len(several)} arrays for {count} splines")
    # Tracks keyed at the same frames share an array, which is checked once.
    rows: dict[int, Float64Array] = {}
    for index, each in enumerate(several):
        if id(each) not in rows:
            rows[id(each)] = checked_row(f"frames[{index}]", each)
    return np.empty(0), [rows[id(each)] for each in several]


def checked_row(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return a one-dimensional array of frames to evaluate, or raise ValueError."""
    checked = checked_sample_frames(name, frames)
    if checked.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {checked.ndim}")
    return checked


def checked_sample_frames(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return frames to evaluate as float64, or raise TypeError or ValueError."""
    if isinstance(frames, int) and abs(frames) > FARTHEST:
        raise ValueError(f"{name} must be at most {FARTHEST:g} in magnitude")
    checked = finite(name, frames)
    if np.abs(checked).max(initial=0.0) > FARTHEST:
        raise ValueError(f"{name} must be at most {FARTHEST:g} in magnitude")
    return checked


def checked_sample_frame(name: str, frame: float) -> float:
    """Return one frame to evaluate, or raise TypeError or ValueError."""
    try:
        checked = checked_sample_frames(name, frame)
    except TypeError as error:
        raise TypeError(f"{name} must be a number, not {frame!r}") from error
    if checked.ndim:
        raise TypeError(f"{name} must be a number, not {frame!r}")
    return float(checked)


def _holds_arrays(frames: object) -> bool:
    """Return whether an object is a sequence of arrays rather than of frames."""
    first = frames[0] if isinstance(frames, Sequence) and len(frames) > 0 else 0.0
    return getattr(first, "ndim", 0) > 0 or (isinstance(first, Sequence) and not isinstance(first, str))


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

    `tracks` contains the concatenated keys, `curve` the segments, and `timing` their local parameters.
    """

    def __init__(self, splines: Sequence[Spline]) -> None:
        self.tracks = end_to_end(splines)
        self.curve = type(splines[0]).curve(splines, self.tracks)
        self.timing = Timing(self.tracks)
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

        One NumPy call costs more than this whole calculation with Python numbers (tools/bench.py splines).
        """
        keys = self._frames
        first, last = keys[0], keys[-1]
        if self._cycles[0]:
            frame, extrapolate = cycles.wrapped_frame(frame, first, last), False
        segment = (bisect_left if nu and frame == last else bisect_right)(keys, frame) - 1
        if segment < 0:
            segment = 0
        if extrapolate and self._ends_track[segment]:
            segment -= 1
        u, *rates = self.timing.at_one(frame, segment, nu, extrapolate)
        return _by_frame(self._one, segment, u, rates, nu)

    def locate(self, frames: Float64Array) -> tuple[IndexArray, Float64Array]:
        """Return the segment and local parameter of each frame for the only spline."""
        at, segment, _ = self._look_up(frames, 0, False)
        return segment, self.timing.at(at, segment, 0)[0]

    def _evaluate_one(self, segment: int, u: float, nu: int) -> Float64Array:
        """Return one sample of a curve that can only evaluate arrays."""
        return self.curve.evaluate(np.array([segment]), np.array([u]), nu)[:, 0]

    def _block(self, frames: Float64Array, segment: IndexArray, nu: int, extrapolate: bool) -> Float64Array:
        """Return values or derivatives per frame, shape (components, samples)."""
        u, *rates = self.timing.at(frames, segment, nu, extrapolate)
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
            # Looking up keys among the samples is faster only if there are fewer keys than samples.
            rising = len(tracks.frames) < len(frames) and bool((samples[1:] >= samples[:-1]).all())
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
                frames[part] = cycles.wrapped_frames(frames[part], own[0], own[-1])
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

    The square is written as a product, because powers of numbers and of arrays differ in the last bits.
    """
    if nu == 0:
        return evaluate(segment, u, 0)
    if nu == 1:
        return evaluate(segment, u, 1) * rates[0]
    return evaluate(segment, u, 2) * (rates[0] * rates[0]) + evaluate(segment, u, 1) * rates[1]


class Timing:
    """The local parameter of every segment as a function of the frame, including ease.

    Source: docs/formulas, "Local parameter".
    """

    def __init__(self, tracks: KeyBatch) -> None:
        end = tracks.segment_end
        self._start = tracks.frames
        self.length = tracks.lengths
        holds = self.length == 0.0
        self.length[holds] = np.inf
        self.ease_from, self.ease_to = ease.normalised(tracks.parameters[4], tracks.parameters[3, end])
        self._eased = ((self.ease_from > 0.0) | (self.ease_to > 0.0)) & ~holds
        self._any_eased = bool(self._eased.any())

    def at(self, frames: Float64Array, segment: IndexArray, nu: int, extrapolate: bool = False) -> list[Float64Array]:
        """Return the local parameter and its first `nu` derivatives with respect to the frame.

        Before a segment, the parameter is held at 0. With extrapolation, it continues beyond both ends at a constant
        rate, which is 0 at an end with an ease.
        """
        length = self.length[segment]
        u = (frames - self._start[segment]) / length
        derivatives = [u if extrapolate else np.maximum(u, 0.0)]
        if nu >= 1:
            derivatives.append(1.0 / length if extrapolate else np.where(u < 0.0, 0.0, 1.0 / length))
        if nu == 2:
            derivatives.append(np.zeros_like(u))
        if self._any_eased and (eased := np.flatnonzero(self._eased[segment])).size:
            own = segment[eased]
            eases = self.ease_from[own], self.ease_to[own]
            parameter, per_frame = derivatives[0][eased], derivatives[1][eased] if nu else None
            inside = np.clip(parameter, 0.0, 1.0)
            for order, derivative in enumerate(derivatives):
                value = ease.ease(inside, *eases, order)
                if extrapolate and order == 0:
                    value += (parameter - inside) * ease.ease(inside, *eases, 1)
                if extrapolate and order == 2:
                    value[parameter != inside] = 0.0
                derivative[eased] = value if per_frame is None else value * per_frame**order
        return derivatives

    def at_one(self, frame: float, segment: int, nu: int, extrapolate: bool) -> list[float]:
        """Return the result of `at` for one frame, identical to the last bit."""
        if self._eased[segment]:
            found = self.at(np.array([frame]), np.array([segment]), nu, extrapolate)
            return [float(each[0]) for each in found]
        length = float(self.length[segment])
        u = (frame - float(self._start[segment])) / length
        is_before = u < 0.0 and not extrapolate
        return [0.0 if is_before else u, 0.0 if is_before else 1.0 / length, 0.0]
