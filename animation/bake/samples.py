# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track's splines to the generated keys between the animator's, for each of its channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...interp.segments import Spline
from ...words import n_, rpt_, told
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import FloatArray, IndexArray
from ..fcurves.remembering import remembered
from ..store.originals import Originals
from ..store.settings import Settings
from ..store.stamps import SAME_FRAME
from ..store.tracks import Track, repeats
from .components import FOLLOWED, as_shown, followed
from .sampling import Sampling
from .splines import TrackSpline, track_splines

BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]

STILL = 1e-6
"""A component that no F-curve moves gets one only where the motion needs it, above float32 rounding."""
_HOLD = 0.5
"""Frames. How long before a key a sample is held where a channel has to jump there: nearer, nobody could pick the
animator's key beside it in the Dope Sheet; and the shutter of the frame before is closed by then."""
_FASTER = 3.0
"""How much faster than on the average a rotation may be somewhere between two keys."""
_MOST_PARTS = 64
UNTOUCHED = n_("the frame range touches none of its segments: nothing of it is baked")
LOOP_GAP = 1e-4
"""In the track's units, or radians: above it the last key of a loop is another pose than the first."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives a frame on both sides of keys, shape (components, n) for generated ones and for the animator's."""

    incoming: Float64Array
    outgoing: Float64Array
    own_incoming: Float64Array
    own_outgoing: Float64Array


@dataclass(frozen=True)
class Written:
    """What channels with the animator's keys at the same frames get: generated keys, and the segments they fill."""

    components: list[int]
    frames: FloatArray
    """The generated keys', shape (n,), ascending."""
    values: FloatArray
    """Shape (components, n)."""
    held: BoolArray
    """Which of them are held up to the next key: close before a jump."""
    baked: BoolArray
    """For each of the animator's keys: the segment after it is baked."""
    slopes: Slopes | None = None
    """Of Bezier keys; None: the keys are linear."""
    shown: FloatArray | None = None
    """What the animator's keys have on the baked curves, shape (components, keys); None: their own values."""


Finish = Callable[[Float64Array], list[Written]]
"""From the values at the frames asked for to the channels' generated keys."""


@dataclass
class Motion:
    """What has to be evaluated for one track, and how the samples become generated keys."""

    track: Track
    settings: Settings
    originals: dict[int, Originals]
    key_frames: FloatArray
    requests: list[tuple[Spline, FloatArray | Float64Array]] = field(default_factory=list)
    finish: list[Finish] = field(default_factory=list)
    """One for each request."""
    notes: list[str] = field(default_factory=list)
    shown: bool = False
    """The motion does not meet the keys: on the baked curves they have its values."""

    @property
    def is_empty(self) -> bool:
        """The range touches nothing of the track."""
        return not self.requests

    def written(self, samples: list[Float64Array]) -> list[Written]:
        return [written for finish, values in zip(self.finish, samples, strict=True) for written in finish(values)]


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
    beyond = cycle_beyond(track, settings)
    if not touches(splines, sampling, beyond):
        motion.notes.append(rpt_(UNTOUCHED))
        return motion
    for spline in shown_splines(motion, splines):
        if track.is_rotation:
            frames, finish = _plan_rotation(motion, spline, sampling, beyond)
        else:
            frames, finish = _plan_vector(spline, sampling, beyond)
        motion.requests.append((spline.spline, frames))
        motion.finish.append(finish)
    return motion


def shown_splines(motion: Motion, splines: Iterable[TrackSpline]) -> list[TrackSpline]:
    """The splines with what the channels have at the keys; notes what there is to say of them."""
    splines = list(splines)
    motion.shown = not all(spline.spline.meets_keys for spline in splines)
    for spline in splines:
        motion.notes += map(told, getattr(spline.spline, "notes", ()))
        if motion.settings.cycle == "LOOP" and spline.spline.loop_gap > LOOP_GAP:
            motion.notes.append(rpt_("its last key is not the same pose as its first: the loop jumps there"))
    return [as_shown(motion.track, spline) for spline in splines]


def baked_segments(spline: TrackSpline, sampling: Sampling) -> BoolArray:
    """Of the segments that start at each key those to bake."""
    baked = sampling.segments(spline.frames)
    if not spline.spline.meets_keys:
        # A key can be shown at one place only, so the segments on both of its sides have to come there.
        baked = np.arange(len(baked)) < len(baked) - 1
    return baked


def shown_at(spline: TrackSpline, components: list[int], own: FloatArray) -> FloatArray | None:
    """What these components' own keys, which stand at `own`, have on the baked curves; None: their own values."""
    if spline.spline.meets_keys:
        return None
    rows = np.searchsorted(spline.frames, own - np.float32(SAME_FRAME))
    columns = [spline.components.index(component) for component in components]
    return spline.values[rows][:, columns].T.astype(np.float32)


def touches(splines: list[TrackSpline], sampling: Sampling, beyond: str) -> bool:
    """Whether there is anything of the track to bake."""
    return any(len(spline.frames) == 1 or sampling.touches(spline.frames, beyond) for spline in splines)


def cycle_beyond(track: Track, settings: Settings) -> str:
    """How the track goes on outside its keys."""
    # A Cycles modifier repeats what the curve holds: generated keys beyond the keys would become part of that.
    return "SINGLE" if any(repeats(fcurve) for fcurve in track.channels.values()) else settings.cycle


def _plan_vector(spline: TrackSpline, sampling: Sampling, beyond: str) -> tuple[FloatArray, Finish]:
    baked = baked_segments(spline, sampling)
    samples = sampling.samples(spline.frames, baked, beyond)
    none_held = np.zeros(len(samples), dtype=np.bool_)
    shown = shown_at(spline, spline.components, spline.frames)

    def finish(values: Float64Array) -> list[Written]:
        return [Written(spline.components, samples, values.T.astype(np.float32), none_held, baked, shown=shown)]

    return samples, finish


def _plan_rotation(motion: Motion, spline: TrackSpline, sampling: Sampling, beyond: str) -> tuple[FloatArray, Finish]:
    baked = whole_segments(baked_segments(spline, sampling), spline.frames, motion.originals)
    samples = sampling.samples(spline.frames, baked, beyond)
    parts = _parts(spline, sampling.step)
    every, guards, rows_of_keys, rows_of_samples = _rotation_frames(samples, spline.frames, parts)

    def finish(quaternions: Float64Array) -> list[Written]:
        numbers, jumps = followed(motion.track, quaternions, spline.values, rows_of_keys)
        jumps[1:] &= baked[:-1]
        if jumps.any() and motion.track.kind == "EULER":
            frames = ", ".join(f"{frame:g}" for frame in spline.frames[jumps][:3])
            motion.notes.append(
                rpt_("its Euler angles name another way round than the rotation takes to frame {:s}", frames)
            )
        held = guards[jumps[1:]]
        rows = np.searchsorted(every, np.union1d(samples, held)) if len(held) else rows_of_samples
        samples_only = len(rows) == len(samples)
        at_jump = np.zeros(len(rows), dtype=np.bool_) if samples_only else np.isin(every[rows], held)
        return _rotation_channels(motion, spline, baked, every[rows], numbers[rows].T, at_jump)

    return every, finish


def whole_segments(baked: BoolArray, frames: FloatArray, originals: Mapping[int, Originals]) -> BoolArray:
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
    motion: Motion,
    spline: TrackSpline,
    baked: BoolArray,
    frames: FloatArray,
    numbers: Float64Array,
    held: BoolArray,
) -> list[Written]:
    """The generated keys of each component: its samples, and the keys of the union at which it has none of its own."""
    bounds = baked | np.concatenate(([False], baked[:-1]))
    alike: dict[bytes, list[int]] = {}
    for component in spline.components:
        own = own_frames(motion, component)
        if len(own) or np.abs(numbers[component] - motion.track.component(component)).max(initial=0.0) > STILL:
            alike.setdefault(own.tobytes(), []).append(component)
    result = []
    for components in alike.values():
        own = own_frames(motion, components[0])
        fill = bounds & ~is_among(spline.frames, own)
        values = numbers[components].astype(np.float32)
        at, at_held = frames, held
        if fill.any():
            order = np.argsort(np.concatenate((frames, spline.frames[fill])), kind="stable")
            at = np.concatenate((frames, spline.frames[fill]))[order]
            filled = spline.values[fill][:, components].T.astype(np.float32)
            values = np.concatenate((values, filled), axis=1)[:, order]
            at_held = np.concatenate((held, np.zeros(len(at) - len(held), dtype=np.bool_)))[order]
        own_baked = baked[np.searchsorted(spline.frames, own - np.float32(SAME_FRAME))]
        shown = shown_at(spline, components, own)
        result.append(Written(components, at, values, at_held, own_baked, shown=shown))
    return result


def own_frames(motion: Motion, component: int) -> FloatArray:
    original = motion.originals.get(component)
    return np.empty(0, dtype=np.float32) if original is None else original.keys.frames


def _parts(spline: TrackSpline, step: float) -> IndexArray:
    """Into how many parts the way from sample to sample is to be cut, after each key, so that angles can follow it."""
    parts = np.ones(len(spline.frames), dtype=np.intp)
    if spline.turns is not None:
        mean = spline.turns / np.diff(spline.frames.astype(np.float64)) * step
        parts[:-1] = np.clip(np.ceil(_FASTER * mean / FOLLOWED), 1, _MOST_PARTS)
    return parts


@remembered
def _rotation_frames(
    samples: FloatArray, keys: FloatArray, parts: IndexArray
) -> tuple[FloatArray, FloatArray, IndexArray, IndexArray]:
    """All frames at which a rotation is evaluated, with the way between them cut into `parts` after each key; for each
    key but the first the frame close before it where a sample can be held; and the rows of the keys and of the samples
    among all."""
    every = np.unique(np.concatenate((samples, keys)))
    before = every[np.searchsorted(every, keys[1:]) - 1]
    guards = np.asarray(np.maximum(keys[1:] - np.float32(_HOLD), (keys[1:] + before) / 2), dtype=np.float32)
    every = np.union1d(every, guards)
    if (parts > 1).any():
        count = parts[np.clip(np.searchsorted(keys, every[:-1], side="right") - 1, 0, None)]
        start = np.repeat(every[:-1].astype(np.float64), count)
        number = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        finer = start + np.repeat(np.diff(every) / count, count) * number
        every = np.union1d(every, finer.astype(np.float32))
    return every, guards, np.searchsorted(every, keys), np.searchsorted(every, samples)
