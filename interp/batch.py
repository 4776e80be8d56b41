# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of tracks: their keys end to end, with each key's neighbours; which segment a frame is in; evaluation.

A character has hundreds of tracks, and a call of NumPy costs the same for ten numbers as for a thousand. So the keys
of all tracks lie end to end, everything that is the same for every track is computed for all of them at once, and a
single spline is a batch of one. Segment ``k`` runs from key ``k`` to the next; the last key of a track begins a
segment of no length that holds its value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Literal, Protocol, Self, cast, get_args

import numpy as np
import numpy.typing as npt

from . import ease
from .keys import FARTHEST, Float64Array, Keys, numbers

IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Cycle = Literal["SINGLE", "REPEAT", "LOOP"]
Continuity = Literal["C0", "C1", "C2"]

# Samples evaluated at a time: enough to make the calls of NumPy cheap, few enough for the processor's cache.
BLOCK = 8192


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """The keys of several tracks end to end, K in all, with the neighbours of each key.

    A track that is not a loop has no key before its first: there `previous` is the key itself and `before` is 0;
    likewise `following` and `after` at its last key.
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
        """Return the first and last keys of the tracks that have ends: not of single keys and loops."""
        ended = (self.last > self.first) & ~self.looped
        return self.first[ended], self.last[ended]

    @property
    def segment_end(self) -> IndexArray:
        """Return the key at which the segment that begins at each key ends; a track's last key is its own."""
        end = np.arange(1, len(self.frames) + 1)
        end[self.last] = self.last
        return end

    def take(self, keys: BoolArray) -> KeyBatch:
        """Return some of the tracks, given by which keys are theirs."""
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
    """The segments of several tracks, ready to be evaluated in their local parameter, 0 to 1."""

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values (nu = 0) or derivatives by u, shape (components, samples)."""
        ...


class Spline(Protocol):
    """A track with its method: one of the method's two classes. Splines of one `batch` are computed together."""

    @property
    def keys(self) -> Keys:
        """Return the keys of the track."""
        ...

    @property
    def cycle(self) -> Cycle:
        """Return how the motion goes on outside the keys."""
        ...

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch: splines with the same one, class included, are computed together."""
        ...

    @property
    def derivatives(self) -> int:
        """Return the highest derivative that can be evaluated."""
        ...

    @property
    def continuity(self) -> Continuity:
        """Return the continuity class in frames, at keys whose parameters are 0, for keys in general position."""
        ...

    @property
    def support(self) -> int | None:
        """Return how many keys on each side of a segment it depends on; None: on all."""
        ...

    @property
    def interpolating(self) -> bool:
        """Return whether it passes through the keys: otherwise it approximates them."""
        ...

    @property
    def is_cubic(self) -> bool:
        """Return whether segments without ease are cubics in the frame: then they are Bezier segments already."""
        ...

    @property
    def loop_gap(self) -> float:
        """Return the distance from the last key's value to the first's: 0 for a closed loop."""
        ...

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""
        ...


@dataclass(frozen=True)
class Method:
    """An interpolation method.

    `values` and `rotations` are its two classes, made from keys and a cycle and called with ``(frames, nu)``; None
    where it has none of the kind. `value_options` and `rotation_options` name the other parameters of their
    constructors, given by keyword: "ends", "construction", "path"; "velocities", shape (n, d) or (n, 3), a frame;
    "angles", a method of values.
    """

    name: str
    label: str
    description: str
    values: type[Any] | None
    rotations: type[Any] | None
    value_options: tuple[str, ...] = ()
    rotation_options: tuple[str, ...] = ()


def evaluate_one(spline: Spline, frames: npt.ArrayLike, nu: int) -> Float64Array:
    """Evaluate one spline, as the splines' own calls do: frames may be one number."""
    at = numbers("frames", frames)
    if at.ndim > 1:
        raise ValueError(f"frames must have one dimension, not {at.ndim}")
    values = evaluate_many([spline], np.atleast_1d(at), nu)[0]
    return values if at.ndim else values[0]


def checked_keys(keys: Keys) -> Keys:
    """Return the keys, or raise TypeError if they are none."""
    if not isinstance(keys, Keys):
        raise TypeError(f"keys must be Keys, not {keys!r}")
    return keys


def checked_splines(name: str, splines: Iterable[Spline]) -> list[Spline]:
    """Return a list of splines, or raise TypeError if they are none."""
    several = list(splines) if isinstance(splines, Iterable) else [None]
    if not all(hasattr(type(spline), "curve") for spline in several):
        raise TypeError(f"{name} must be a sequence of splines, not {splines!r}")
    return several


def checked_cycle(cycle: str) -> Cycle:
    """Return the cycle, or raise ValueError if it is none."""
    return cast(Cycle, checked_choice("cycle", cycle, get_args(Cycle)))


def checked_choice(name: str, choice: str, choices: Sequence[str]) -> str:
    """Return the choice, or raise ValueError, which lists the choices."""
    if choice not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {choice!r}")
    return choice


def evaluate_many(
    splines: Sequence[Spline], frames: npt.ArrayLike | Sequence[npt.ArrayLike], nu: int = 0
) -> list[Float64Array]:
    """Evaluate many tracks at once, which is several times faster than one after the other.

    Parameters
    ----------
    splines : sequence of splines
        Any mixture of classes, methods, cycles and numbers of components.
    frames : array_like, shape (m,), or a sequence of such arrays, one a spline
        Frames to evaluate at, finite, in any order; fastest where they rise and all splines share them.
    nu : int
        0 for values; the derivative otherwise, as the splines' own calls give it.

    Returns
    -------
    list of ndarray
        What each ``spline(frames, nu)`` returns, in the order of `splines`: the same numbers, bit for bit, so that it
        does not matter which tracks are baked together. Arrays share memory.

    Raises
    ------
    TypeError
        If `splines` is no sequence of splines, or `frames` are not numbers.
    ValueError
        For frames that are not finite or beyond 1e100, a number of arrays that is not the number of splines, and a
        derivative that a spline has not.

    Examples
    --------
    >>> rising = tcb.VectorSpline(Keys([0, 10], [0, 1]))
    >>> turning = tcb.RotationSpline(Keys([0, 10], [[1, 0, 0, 0], [0, 0, 0, 1]]))
    >>> [values.shape for values in evaluate_many([rising, turning], [0, 2.5, 5])]
    [(3, 1), (3, 4)]
    """
    splines = checked_splines("splines", splines)
    shared, separate = _checked_frames(frames, len(splines))
    batches: dict[Hashable, list[int]] = {}
    for index, spline in enumerate(splines):
        if nu not in range(spline.derivatives + 1):
            raise ValueError(f"{type(spline).__name__} has derivatives 0 to {spline.derivatives}, not nu={nu!r}")
        batches.setdefault(spline.batch, []).append(index)
    results: dict[int, Float64Array] = {}
    for indices in batches.values():
        batch = [splines[index] for index in indices]
        samples = shared if separate is None else [separate[index] for index in indices]
        results.update(zip(indices, _evaluate_batch(batch, samples, nu), strict=True))
    return [results[index] for index in range(len(splines))]


def _checked_frames(
    frames: npt.ArrayLike | Sequence[npt.ArrayLike], count: int
) -> tuple[Float64Array, list[Float64Array] | None]:
    """Return one array for all splines, or a list of one each."""
    is_separate = frames.ndim == 2 if isinstance(frames, np.ndarray) else _holds_arrays(frames)
    if not is_separate:
        return _checked_sample_frames("frames", cast(npt.ArrayLike, frames)), None
    several = cast(Sequence[npt.ArrayLike], frames)
    if len(several) != count:
        raise ValueError(f"frames are {len(several)} arrays, for {count} splines")
    return np.empty(0), [_checked_sample_frames(f"frames[{index}]", each) for index, each in enumerate(several)]


def _checked_sample_frames(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return frames to evaluate at as float64, or raise ValueError."""
    checked = numbers(name, frames)
    if checked.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {checked.ndim}")
    if not np.isfinite(checked).all():
        raise ValueError(f"{name} must be finite")
    if np.abs(checked).max(initial=0.0) > FARTHEST:
        raise ValueError(f"{name} must not be farther from 0 than {FARTHEST:g}")
    return checked


def _holds_arrays(frames: object) -> bool:
    """Return whether an object is a sequence of arrays, not of frames."""
    return isinstance(frames, Sequence) and len(frames) > 0 and np.ndim(frames[0]) > 0


def _evaluate_batch(
    splines: Sequence[Spline], samples: Float64Array | list[Float64Array], nu: int
) -> list[Float64Array]:
    """Evaluate splines of one batch."""
    tracks = end_to_end(splines)
    curve = type(splines[0]).curve(splines, tracks)
    frames, segment, ends = _segments_of(splines, tracks, samples, nu)
    values = _evaluate(tracks, curve, frames, segment, nu)
    return [values[start:end] for start, end in pairwise(ends)]


def end_to_end(splines: Sequence[Spline]) -> KeyBatch:
    """Lay the keys of all tracks end to end and find every key's neighbours."""
    keys = [spline.keys for spline in splines]
    counts = np.array([len(each.frames) for each in keys])
    frames = np.concatenate([each.frames for each in keys])
    stop = np.cumsum(counts)
    first, last = stop - counts, stop - 1
    # A loop of two keys is a two-key track (docs/formulas.md, "Cycles").
    looped = np.array([spline.cycle == "LOOP" for spline in splines]) & (counts > 2)

    key = np.arange(len(frames))
    previous, following = key - 1, key + 1
    previous[first], following[last] = first, last
    before, after = frames - frames[previous], frames[following] - frames
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


def _segments_of(
    splines: Sequence[Spline], tracks: KeyBatch, samples: Float64Array | list[Float64Array], nu: int
) -> tuple[Float64Array, IndexArray, list[int]]:
    """Return the frames of all samples, wrapped by cycles, their segments, and where each track's samples end."""
    rising = False
    if isinstance(samples, list):
        sizes = [len(each) for each in samples]
        frames = np.concatenate(samples)
    else:
        sizes = [len(samples)] * len(splines)
        frames = np.tile(samples, len(splines))
        rising = bool((samples[1:] >= samples[:-1]).all())
    bounds = [0, *np.cumsum(sizes).tolist()]
    if rising:
        # Look up thousands of keys among the samples, not a million samples among the keys.
        begins = np.searchsorted(samples, tracks.frames)
        begins[tracks.first] = 0
        ends = np.append(begins[1:], 0)
        ends[tracks.last] = len(samples)
        segment = np.repeat(np.arange(len(begins)), ends - begins)
    else:
        segment = np.empty(len(frames), dtype=np.intp)
    for index, spline in enumerate(splines):
        wraps = spline.cycle != "SINGLE"
        if rising and not wraps:
            continue
        own = tracks.frames[tracks.first[index] : tracks.last[index] + 1]
        part = slice(bounds[index], bounds[index + 1])
        if wraps:
            frames[part] = _wrapped(frames[part], own[0], own[-1])
        found = np.searchsorted(own, frames[part], side="right")
        segment[part] = tracks.first[index] + np.maximum(found - 1, 0)
    if nu:
        # The last key's derivative is the incoming one; the segment that it begins holds.
        ends_segment = np.zeros(len(tracks.frames), dtype=np.bool_)
        ends_segment[tracks.last[tracks.last > tracks.first]] = True
        segment[ends_segment[segment] & (frames == tracks.frames[segment])] -= 1
    return frames, segment, bounds


def _wrapped(frames: Float64Array, first: float, last: float) -> Float64Array:
    """Return frames brought into [first, last]; a whole number of periods away means the last key."""
    outside = (frames < first) | (frames > last)
    if last == first or not outside.any():
        return frames
    period = last - first
    turned = np.mod(frames - first, period)
    turned[turned == 0.0] = period
    return np.where(outside, np.minimum(first + turned, last), frames)


class Timing:
    """The local parameter of every segment as a function of the frame, ease included."""

    def __init__(self, tracks: KeyBatch) -> None:
        end = tracks.segment_end
        self._start = tracks.frames
        self._length = tracks.frames[end] - tracks.frames
        holds = self._length == 0.0
        self._length[holds] = np.inf
        self._ease_from, self._ease_to = ease.normalised(tracks.parameters[4], tracks.parameters[3, end])
        self._eased = ((self._ease_from > 0.0) | (self._ease_to > 0.0)) & ~holds
        self._any_eased = bool(self._eased.any())

    def at(self, frames: Float64Array, segment: IndexArray, nu: int) -> list[Float64Array]:
        """Return the local parameter and its derivatives by frame, the first `nu` of them."""
        length = self._length[segment]
        u = (frames - self._start[segment]) / length
        derivatives = [np.maximum(u, 0.0)]
        if nu >= 1:
            derivatives.append(np.where(u < 0.0, 0.0, 1.0 / length))
        if nu == 2:
            derivatives.append(np.zeros_like(u))
        if self._any_eased and (eased := np.flatnonzero(self._eased[segment])).size:
            own = segment[eased]
            parameter, per_frame = derivatives[0][eased], derivatives[1][eased] if nu else None
            for order, derivative in enumerate(derivatives):
                value = ease.ease(parameter, self._ease_from[own], self._ease_to[own], order)
                derivative[eased] = value if per_frame is None else value * per_frame**order
        return derivatives


def _evaluate(tracks: KeyBatch, curve: Curve, frames: Float64Array, segment: IndexArray, nu: int) -> Float64Array:
    """Return values or derivatives by frame, shape (samples, components)."""
    timing = Timing(tracks)
    blocks = [slice(start, start + BLOCK) for start in range(0, max(len(frames), 1), BLOCK)]
    results = (_derivative(timing, curve, frames[block], segment[block], nu) for block in blocks)
    first = next(results)
    values = np.empty((len(frames), len(first)))
    for block, result in zip(blocks, chain([first], results), strict=True):
        values[block] = result.T
    return values


def _derivative(timing: Timing, curve: Curve, frames: Float64Array, segment: IndexArray, nu: int) -> Float64Array:
    """Return values or derivatives by frame, shape (components, samples), by the chain rule."""
    u, *rates = timing.at(frames, segment, nu)
    result = curve.evaluate(segment, u, nu)
    if nu == 0:
        return result
    result = result * rates[0] ** nu
    return result + curve.evaluate(segment, u, 1) * rates[1] if nu == 2 else result


def locate(spline: Spline, frames: Float64Array) -> tuple[Curve, IndexArray, Float64Array]:
    """Return one spline's curve, and the segment and the local parameter of each frame."""
    tracks = end_to_end([spline])
    at, segment, _ = _segments_of([spline], tracks, frames, 0)
    return type(spline).curve([spline], tracks), segment, Timing(tracks).at(at, segment, 0)[0]
