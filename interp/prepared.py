# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks prepared for evaluation: look up the segments of frames, and convert derivatives to derivatives per frame.

A character has hundreds of tracks, and a NumPy call costs the same for ten numbers as for a thousand. The keys of all
tracks are therefore concatenated, and each calculation covers all tracks. A single spline is a batch of one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from .ease import LocalParameter
from .keys import BoolArray, Float64Array, IndexArray, KeyBatch

# Samples evaluated at a time: enough to amortize the NumPy calls, few enough to fit the processor cache.
BLOCK = 4096
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


class Prepared:
    """Tracks and their curve, ready for evaluation at frames.

    Parameters
    ----------
    tracks : KeyBatch
        The t tracks.
    curve : Curve
        The segments of all tracks.
    repeats, continues : ndarray of bool, shape (t,)
        Masks of the tracks that repeat outside their keys, and that extrapolation continues beyond the last key.
    """

    def __init__(self, tracks: KeyBatch, curve: Curve, repeats: BoolArray, continues: BoolArray) -> None:
        self.tracks = tracks
        self.curve = curve
        self.local_parameter = LocalParameter(tracks)
        self._repeats: list[bool] = repeats.tolist()
        has_segments = tracks.last > tracks.first
        # Masks of keys: the last keys of tracks, and those beyond which extrapolation continues the last segment.
        self._is_end, self._is_continued = np.zeros((2, len(tracks.frames)), dtype=np.bool_)
        self._is_end[tracks.last[has_segments]] = True
        self._is_continued[tracks.last[has_segments & continues & ~repeats]] = True
        # Only a single track is evaluated at one frame.
        self._key_frames: list[float] = tracks.frames.tolist() if len(self._repeats) == 1 else []
        self._evaluate_sample: Callable[[int, float, int], Float64Array] = getattr(
            curve, "evaluate_one", self._evaluate_one_of_array
        )

    def evaluate(
        self, samples: Float64Array | list[Float64Array], nu: int, extrapolate: bool = False
    ) -> list[Float64Array]:
        """Return values or derivatives per frame for all tracks, each with shape (samples, components).

        `samples` are frames that have already been checked: one array for all tracks, or one array per track.
        """
        if isinstance(samples, list):
            counts, frames = [len(frames_of_track) for frames_of_track in samples], np.concatenate(samples)
        else:
            counts, frames = [len(samples)] * len(self._repeats), np.tile(samples, len(self._repeats))
        bounds = [0, *np.cumsum(counts).tolist()]
        segment = self._look_up(samples, frames, bounds)
        if nu:
            # At the last key, use the incoming derivative, because the segment that begins there is held.
            segment -= self._is_end[segment] & (frames == self.tracks.frames[segment])
        if extrapolate:
            segment -= self._is_continued[segment]
        # The first block shows the number of components.
        first_block = self._evaluate_block(frames[:BLOCK], segment[:BLOCK], nu, extrapolate)
        values = np.empty((len(frames), len(first_block)))
        values[:BLOCK] = first_block.T
        for start in range(BLOCK, len(frames), BLOCK):
            block = slice(start, start + BLOCK)
            values[block] = self._evaluate_block(frames[block], segment[block], nu, extrapolate).T
        return [values[start:end] for start, end in pairwise(bounds)]

    def evaluate_one(self, frame: float, nu: int, extrapolate: bool) -> Float64Array:
        """Return the value or derivative of the only track at one frame, identical to `evaluate` to the last bit.

        One NumPy call costs more than this whole calculation with Python numbers (tools/bench.py package_speed).
        """
        key_frames = self._key_frames
        first, last = key_frames[0], key_frames[-1]
        if self._repeats[0]:
            frame, extrapolate = wrapped_frame(frame, first, last), False
        segment = (bisect_left if nu and frame == last else bisect_right)(key_frames, frame) - 1
        if segment < 0:
            segment = 0
        if extrapolate and self._is_continued[segment]:
            segment -= 1
        u, *rates = self.local_parameter.at_one(frame, segment, nu, extrapolate)
        return _per_frame(self._evaluate_sample, segment, u, rates, nu)

    def _look_up(
        self, samples: Float64Array | list[Float64Array], frames: Float64Array, bounds: Sequence[int]
    ) -> IndexArray:
        """Return the segment that contains each frame, and wrap the frames of tracks that repeat.

        `frames` are the concatenated samples, and `bounds` the indices at which the frames of each track begin and end.
        """
        tracks = self.tracks
        keys_are_few = len(tracks.frames) < len(frames) + _KEYS_PER_TRACK * len(self._repeats)
        if keys_are_few and not isinstance(samples, list) and (samples[1:] >= samples[:-1]).all():
            segment = self._segments_of_rising(samples)
            tracks_left = [track for track, repeats in enumerate(self._repeats) if repeats]
        else:
            segment = np.empty(len(frames), dtype=np.intp)
            tracks_left = [*range(len(self._repeats))]
        for track in tracks_left:
            first, last = tracks.first[track], tracks.last[track]
            key_frames = tracks.frames[first : last + 1]
            of_track = slice(bounds[track], bounds[track + 1])
            if self._repeats[track]:
                frames[of_track] = wrapped_frames(frames[of_track], key_frames[0], key_frames[-1])
            segment[of_track] = first + np.maximum(np.searchsorted(key_frames, frames[of_track], side="right") - 1, 0)
        return segment

    def _segments_of_rising(self, samples: Float64Array) -> IndexArray:
        """Return the segments of all tracks that contain rising frames, without wrapping.

        All keys are looked up among the samples, which is faster than the reverse unless keys abound.
        """
        tracks = self.tracks
        begins = np.searchsorted(samples, tracks.frames)
        begins[tracks.first] = 0
        ends = np.append(begins[1:], 0)
        ends[tracks.last] = len(samples)
        return np.repeat(np.arange(len(begins)), ends - begins)

    def _evaluate_block(self, frames: Float64Array, segment: IndexArray, nu: int, extrapolate: bool) -> Float64Array:
        """Return values or derivatives per frame, shape (components, samples)."""
        u, *rates = self.local_parameter.at(frames, segment, nu, extrapolate)
        return _per_frame(self.curve.evaluate, segment, u, rates, nu)

    def _evaluate_one_of_array(self, segment: int, u: float, nu: int) -> Float64Array:
        """Return one sample of a curve that can only evaluate arrays."""
        return self.curve.evaluate(np.array([segment]), np.array([u]), nu)[:, 0]


def _per_frame(
    evaluate: Callable[[Any, Any, int], Float64Array],
    segment: IndexArray | int,
    u: Float64Array | float,
    rates: Sequence[Float64Array | float],
    nu: int,
) -> Float64Array:
    """Return a derivative with respect to the frame from derivatives with respect to u, by the chain rule.

    `rates` are the first and second derivatives of u. The square is written as a product, because powers of scalars and
    of arrays differ in the last bits.
    """
    if nu == 0:
        return evaluate(segment, u, 0)
    if nu == 1:
        return evaluate(segment, u, 1) * rates[0]
    return evaluate(segment, u, 2) * (rates[0] * rates[0]) + evaluate(segment, u, 1) * rates[1]


def wrapped_frames(frames: Float64Array, first: float, last: float) -> Float64Array:
    """Return frames of a motion that repeats outside its keys, wrapped into [first, last].

    Frames that are a whole number of periods away from the last key map to the last key. Source: docs/formulas,
    "Cycles".
    """
    is_outside = (frames < first) | (frames > last)
    if last == first or not is_outside.any():
        return frames
    period = last - first
    offsets = np.mod(frames - first, period)
    offsets[offsets == 0.0] = period
    # A rounded offset may lead past the last key.
    return np.where(is_outside, np.minimum(first + offsets, last), frames)


def wrapped_frame(frame: float, first: float, last: float) -> float:
    """Return `wrapped_frames` for one frame."""
    if last == first or first <= frame <= last:
        return frame
    return min(first + ((frame - first) % (last - first) or last - first), last)
