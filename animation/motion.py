# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track's splines to the generated keys between the animator's, for each of its channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .components import followed
from .keyframes import FloatArray
from .originals import Originals
from .sampling import GUARD, Sampling
from .settings import Settings
from .splines import Spline, TrackSpline, track_splines, union
from .stamps import SAME_FRAME
from .tracks import Track, repeats

BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]

_STILL = 1e-6
"""A component that no F-curve moves gets one only where the motion needs it, above float32 rounding."""
_LOOP_GAP = 1e-4
"""In the track's units, or radians: above it the last key of a loop is another pose than the first."""


@dataclass(frozen=True)
class Written:
    """What one channel gets: generated keys, and which of the animator's segments they fill."""

    co: FloatArray
    """Frames and values of the generated keys, shape (n, 2), ascending."""
    held: BoolArray
    """Which of them are held up to the next key: close before a jump."""
    baked: BoolArray
    """For each of the animator's keys: the segment after it is baked."""


Finish = Callable[[Float64Array], dict[int, Written]]
"""From the values at the frames asked for to the channels' generated keys."""


@dataclass
class Motion:
    """What has to be evaluated for one track, and how the samples become generated keys."""

    track: Track
    settings: Settings
    originals: dict[int, Originals]
    key_frames: FloatArray
    requests: list[tuple[Spline, FloatArray]] = field(default_factory=list)
    finish: list[Finish] = field(default_factory=list)
    """One for each request."""
    notes: list[str] = field(default_factory=list)

    def written(self, samples: list[Float64Array]) -> dict[int, Written]:
        result: dict[int, Written] = {}
        for finish, values in zip(self.finish, samples, strict=True):
            result |= finish(values)
        return result


def plan(
    track: Track,
    settings: Settings,
    originals: dict[int, Originals],
    sampling: Sampling,
    defaults: Mapping[str, float],
) -> Motion:
    """The splines of the track and the frames to sample them at.

    Raises Refusal where the keys or their parameters make no spline.
    """
    splines = track_splines(track, settings, originals, defaults)
    motion = Motion(track, settings, originals, union([spline.frames for spline in splines]))
    beyond = settings.cycle
    if any(repeats(fcurve) for fcurve in track.channels.values()):
        # The modifier repeats what the curve holds: samples beyond the keys would become part of that.
        beyond = "SINGLE"
    for spline in splines:
        if track.is_rotation:
            frames, finish = _plan_rotation(motion, spline, sampling, beyond)
        else:
            frames, finish = _plan_vector(spline, sampling, beyond)
        motion.requests.append((spline.spline, frames))
        motion.finish.append(finish)
        if settings.cycle == "LOOP" and spline.spline.loop_gap > _LOOP_GAP:
            motion.notes.append("its last key is not the same pose as its first: the loop jumps there")
    return motion


def _plan_vector(spline: TrackSpline, sampling: Sampling, beyond: str) -> tuple[FloatArray, Finish]:
    baked = sampling.segments(spline.frames)
    samples = sampling.samples(spline.frames, baked, beyond)
    none_held = np.zeros(len(samples), dtype=np.bool_)

    def finish(values: Float64Array) -> dict[int, Written]:
        columns = zip(spline.components, values.T, strict=True)
        return {index: Written(_co(samples, column), none_held, baked) for index, column in columns}

    return samples, finish


def _plan_rotation(motion: Motion, spline: TrackSpline, sampling: Sampling, beyond: str) -> tuple[FloatArray, Finish]:
    baked = _whole_segments(sampling.segments(spline.frames), spline.frames, motion.originals)
    samples = sampling.samples(spline.frames, baked, beyond)
    guards = _guards(samples, spline.frames)
    every = np.unique(np.concatenate((samples, spline.frames, guards)))

    def finish(quaternions: Float64Array) -> dict[int, Written]:
        numbers, jumps = followed(motion.track, quaternions, spline.values, np.searchsorted(every, spline.frames))
        jumps[1:] &= baked[:-1]
        if jumps.any() and motion.track.kind == "EULER":
            frames = ", ".join(f"{frame:g}" for frame in spline.frames[jumps][:3])
            motion.notes.append(f"its Euler angles name another way round than the rotation takes to frame {frames}")
        held = guards[jumps[1:]]
        rows = np.searchsorted(every, np.union1d(samples, held) if len(held) else samples)
        return _rotation_channels(motion, spline, baked, _co_rows(every[rows], numbers[rows]), held)

    return every, finish


def _whole_segments(baked: BoolArray, frames: FloatArray, originals: Mapping[int, Originals]) -> BoolArray:
    """The baked segments and all that share a segment of some channel with one of them."""
    while not baked[:-1].all():
        wider = baked.copy()
        for original in originals.values():
            own = np.searchsorted(frames, original.keys.frames - np.float32(SAME_FRAME))
            for left, right in pairwise(own):
                wider[left:right] |= baked[left:right].any()
        if (wider == baked).all():
            break
        baked = wider
    return baked


def _rotation_channels(
    motion: Motion, spline: TrackSpline, baked: BoolArray, samples: list[FloatArray], held: FloatArray
) -> dict[int, Written]:
    """Each component's generated keys: its samples, of which those at `held` are held up to a jump, and the keys of
    the union at which it has none of its own."""
    bounds = baked | np.concatenate(([False], baked[:-1]))
    result = {}
    for component in spline.components:
        original = motion.originals.get(component)
        co = samples[component]
        if original is None and np.abs(co[:, 1] - motion.track.component(component)).max(initial=0.0) <= _STILL:
            continue
        own = original.keys.frames if original is not None else np.empty(0, dtype=np.float32)
        fill = bounds & ~_is_among(spline.frames, own)
        if fill.any():
            co = np.concatenate((co, _co(spline.frames[fill], spline.values[fill, component])))
            co = co[np.argsort(co[:, 0], kind="stable")]
        at_jump = np.isin(co[:, 0], held) if len(held) else np.zeros(len(co), dtype=np.bool_)
        own_baked = baked[np.searchsorted(spline.frames, own - np.float32(SAME_FRAME))]
        result[component] = Written(co, at_jump, own_baked)
    return result


def _is_among(frames: FloatArray, own: FloatArray) -> npt.NDArray[np.bool_]:
    if not len(own):
        return np.zeros(len(frames), dtype=np.bool_)
    row = np.clip(np.searchsorted(own, frames - np.float32(SAME_FRAME)), 0, len(own) - 1)
    among: BoolArray = np.abs(own[row] - frames) <= SAME_FRAME
    return among


def _guards(samples: FloatArray, frames: FloatArray) -> FloatArray:
    """For each key but the first the frame close before it where a sample can be held."""
    every = np.unique(np.concatenate((samples, frames)))
    before = every[np.searchsorted(every, frames[1:]) - 1]
    return np.asarray(np.maximum(frames[1:] - np.float32(GUARD), (frames[1:] + before) / 2), dtype=np.float32)


def _co_rows(frames: FloatArray, numbers: Float64Array) -> list[FloatArray]:
    return [_co(frames, column) for column in numbers.T]


def _co(frames: npt.NDArray[np.floating], values: npt.NDArray[np.floating]) -> FloatArray:
    return np.stack((frames, values), axis=1).astype(np.float32)
