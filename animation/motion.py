# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track's keys to the generated keys between them, for each of its channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..interp import Keys, KeysError, rotations, tcb
from . import scratch
from .keyframes import INTERPOLATION, FloatArray, Keyframes, generated
from .originals import Originals
from .parameters import read_parameters
from .sampling import GUARD, Sampling
from .settings import Settings
from .stamps import SAME_FRAME
from .tracks import Track, repeats

Float64Array = npt.NDArray[np.float64]
Spline = tcb.VectorSpline | tcb.RotationSpline
Request = tuple[Spline, FloatArray]

_ARRIVES = 1e-3
"""Radians, or the same part of a unit quaternion. A channel that comes to a key farther off than this jumps there."""
_STILL = 1e-6
"""A component that no F-curve moves gets one only where the motion needs it, above float32 rounding."""


@dataclass(frozen=True)
class Written:
    """What one channel gets: generated keys, and which of the animator's segments they fill."""

    keys: Keyframes
    baked: npt.NDArray[np.bool_]
    """For each of the animator's keys: the segment after it is baked."""


@dataclass
class Motion:
    """What has to be evaluated for one track, and how the samples become generated keys."""

    track: Track
    settings: Settings
    originals: dict[int, Originals]
    requests: list[Request] = field(default_factory=list)
    finish: list[Callable[[Float64Array], dict[int, Written]]] = field(default_factory=list)
    """For each request a function from its samples to the channels' generated keys."""
    notes: list[str] = field(default_factory=list)
    key_frames: FloatArray = field(default_factory=lambda: np.empty(0, dtype=np.float32))

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
    motion = Motion(track, settings, originals)
    if any(repeats(fcurve) for fcurve in track.channels.values()) and settings.cycle != "SINGLE":
        # The modifier repeats what lies between the keys; samples beyond them would become part of what it repeats.
        sampling = Sampling(sampling.step, sampling.origin)
        cycle_beyond = "SINGLE"
    else:
        cycle_beyond = settings.cycle
    for original in originals.values():
        _check_frames(track, original.keys)
    motion.key_frames = _union([original.keys.frames for original in originals.values()])
    if track.is_rotation:
        _plan_rotation(motion, sampling, cycle_beyond, defaults)
    else:
        _plan_vector(motion, sampling, cycle_beyond, defaults)
    return motion


def _check_frames(track: Track, keys: Keyframes) -> None:
    frames = keys.frames
    same = np.flatnonzero(np.diff(frames) <= SAME_FRAME)
    if len(same):
        raise track.refusal("two keys at one frame; delete or move one of them", float(frames[same[0]]))


def _keys(motion: Motion, frames: FloatArray, values: Float64Array, defaults: Mapping[str, float]) -> Keys:
    parameters = read_parameters(motion.track, frames, defaults)
    try:
        return Keys(frames.astype(np.float64), values, **parameters)
    except KeysError as error:
        raise motion.track.refusal(error.fault, error.frame) from error


def _plan_vector(motion: Motion, sampling: Sampling, cycle: str, defaults: Mapping[str, float]) -> None:
    """Channels with keys at the same frames are one spline of several components; the others follow their own keys."""
    alike: dict[bytes, list[int]] = {}
    for index, original in motion.originals.items():
        alike.setdefault(original.keys.frames.tobytes(), []).append(index)
    for indices in alike.values():
        frames = motion.originals[indices[0]].keys.frames
        values = np.stack([motion.originals[index].keys.values for index in indices], axis=1).astype(np.float64)
        keys = _keys(motion, frames, values, defaults)
        spline = tcb.VectorSpline(keys, cycle=motion.settings.cycle)
        baked = sampling.segments(frames)
        samples = sampling.samples(frames, baked, cycle)
        motion.requests.append((spline, samples))
        motion.finish.append(_vector_channels(indices, samples, baked))
        _note_loop_gap(motion, spline, "value")


def _vector_channels(
    indices: list[int], samples: FloatArray, baked: npt.NDArray[np.bool_]
) -> Callable[[Float64Array], dict[int, Written]]:
    def finish(values: Float64Array) -> dict[int, Written]:
        return {
            index: Written(generated(_co(samples, values[:, component])), baked)
            for component, index in enumerate(indices)
        }

    return finish


def _plan_rotation(motion: Motion, sampling: Sampling, cycle: str, defaults: Mapping[str, float]) -> None:
    """A rotation's keys stand at the union of its channels' frames."""
    track = motion.track
    frames = motion.key_frames
    raw = np.empty((len(frames), len(track.rest)))
    for component in range(len(track.rest)):
        original = motion.originals.get(component)
        raw[:, component] = (
            track.component(component) if original is None else _values_at(motion, component, original, frames)
        )
    spline = _rotation_spline(motion, frames, raw, defaults)
    baked = _whole_segments(sampling.segments(frames), frames, motion.originals)
    samples = sampling.samples(frames, baked, cycle)
    guards = _guards(samples, frames)
    every = np.unique(np.concatenate((samples, frames, guards)))
    motion.requests.append((spline, every))

    def finish(quaternions: Float64Array) -> dict[int, Written]:
        return _rotation_channels(motion, frames, raw, samples, guards, every, baked, quaternions)

    motion.finish.append(finish)
    _note_loop_gap(motion, spline, "pose")


def _whole_segments(
    baked: npt.NDArray[np.bool_], frames: FloatArray, originals: Mapping[int, Originals]
) -> npt.NDArray[np.bool_]:
    """The baked segments and all that share a segment of some channel with one of them."""
    while True:
        wider = baked.copy()
        for original in originals.values():
            own = np.searchsorted(frames, original.keys.frames - np.float32(SAME_FRAME))
            for left, right in pairwise(own):
                wider[left:right] |= baked[left:right].any()
        if (wider == baked).all():
            return baked
        baked = wider


def _rotation_spline(
    motion: Motion, frames: FloatArray, raw: Float64Array, defaults: Mapping[str, float]
) -> tcb.RotationSpline:
    track, settings = motion.track, motion.settings
    finite = np.isfinite(raw).all(axis=1)
    if not finite.all():
        raise track.refusal("its value is not a finite number", float(frames[np.argmin(finite)]))
    cycle, ends, construction = settings.cycle, settings.ends, settings.construction
    try:
        if track.kind == "QUATERNION" or settings.path == "SHORTEST":
            keys = _keys(motion, frames, _quaternions(track, raw), defaults)
            return tcb.RotationSpline(keys, cycle, ends, construction, settings.path)
        if track.kind == "EULER":
            angles, axes = rotations.turns_of_euler(raw, track.order)
        else:
            angles, axes = rotations.turns_of_axis_angle(raw[:, 0], raw[:, 1:])
        parameters = read_parameters(track, frames, defaults)
        return tcb.RotationSpline.from_turns(
            frames.astype(np.float64),
            angles,
            axes,
            tension=parameters["tension"],
            continuity=parameters["continuity"],
            bias=parameters["bias"],
            ease_to=parameters["ease_to"],
            ease_from=parameters["ease_from"],
            cycle=cycle,
            ends=ends,
            construction=construction,
        )
    except KeysError as error:
        raise track.refusal(error.fault, error.frame) from error


def _quaternions(track: Track, raw: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.from_euler(raw, track.order)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(raw[:, 1:], raw[:, 0])
    return raw


def _rotation_channels(
    motion: Motion,
    frames: FloatArray,
    raw: Float64Array,
    samples: FloatArray,
    guards: FloatArray,
    every: FloatArray,
    baked: npt.NDArray[np.bool_],
    quaternions: Float64Array,
) -> dict[int, Written]:
    """Each component's generated keys: the samples, the union's keys that it has none of its own at, and a held one
    close before each key that it has to jump to."""
    track = motion.track
    key_rows = np.searchsorted(every, frames)
    followed, jumps = _followed(track, quaternions, raw, key_rows)
    if (jumps[1:] & baked[:-1]).any() and track.kind == "EULER":
        motion.notes.append(
            "its Euler angles name another way round than the rotation takes, before frame "
            + ", ".join(f"{frame:g}" for frame in frames[1:][jumps[1:]][:3])
        )
    held = guards[jumps[1:] & baked[:-1]]
    rows = np.searchsorted(every, np.union1d(samples, held))
    bounds = baked | np.concatenate(([False], baked[:-1]))
    result = {}
    for component in range(len(track.rest)):
        original = motion.originals.get(component)
        if (
            original is None
            and np.abs(followed[rows, component] - track.component(component)).max(initial=0.0) <= _STILL
        ):
            continue
        own = original.keys.frames if original is not None else np.empty(0, dtype=np.float32)
        fill = bounds & ~_is_among(frames, own)
        co = np.concatenate((_co(every[rows], followed[rows, component]), _co(frames[fill], raw[fill, component])))
        keys = generated(co[np.argsort(co[:, 0], kind="stable")])
        keys.interpolation[np.isin(keys.frames, held)] = INTERPOLATION["CONSTANT"]
        result[component] = Written(keys, baked[np.searchsorted(frames, own - np.float32(SAME_FRAME))])
    return result


def _followed(
    track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: npt.NDArray[np.intp]
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """The samples in the track's own components, going on from each key's own numbers without a jump; and for each
    key whether they arrive there with other numbers than the key's."""
    jumps = np.zeros(len(raw), dtype=np.bool_)
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        signs = np.where(np.einsum("ij,ij->i", chain[key_rows], raw) < 0, -1.0, 1.0)
        jumps[1:] = signs[1:] != signs[:-1]
        segment = np.clip(np.searchsorted(key_rows, np.arange(len(chain)), side="right") - 1, 0, None)
        return chain * signs[segment, np.newaxis], jumps
    chain = np.empty((len(quaternions), raw.shape[1]))
    start = 0
    if key_rows[0]:
        chain[key_rows[0] :: -1] = _follow(track, quaternions[key_rows[0] :: -1], raw[0])
        start = int(key_rows[0])
    chain[start:] = _follow(track, quaternions[start:], raw[0])
    for key in range(1, len(raw)):
        row = int(key_rows[key])
        jumps[key] = np.abs(chain[row] - _own_numbers(track, raw[key])).max() > _ARRIVES
        if jumps[key]:
            chain[row:] = _follow(track, quaternions[row:], raw[key])
    return chain, jumps


def _follow(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[1:], start[0])
    return np.concatenate((angles[:, np.newaxis], axes), axis=1)


def _own_numbers(track: Track, raw: Float64Array) -> Float64Array:
    """An axis may have any length; samples have unit axes."""
    if track.kind != "AXIS_ANGLE":
        return raw
    length = float(np.linalg.norm(raw[1:]))
    return np.concatenate((raw[:1], raw[1:] / length)) if length else raw


def _values_at(motion: Motion, index: int, original: Originals, frames: FloatArray) -> Float64Array:
    """The channel's value at each frame: its key's, or what the animator's own curve plays there."""
    own = original.keys.frames
    values = np.empty(len(frames))
    row = np.clip(np.searchsorted(own, frames - np.float32(SAME_FRAME)), 0, len(own) - 1)
    hit = np.abs(own[row] - frames) <= SAME_FRAME
    values[hit] = original.keys.values[row[hit]]
    if not hit.all():
        curve = motion.track.saved.get(index) or motion.track.channels[index]
        values[~hit] = scratch.evaluate(original, curve.extrapolation, frames[~hit])
    return values


def _union(arrays: list[FloatArray]) -> FloatArray:
    frames = np.unique(np.concatenate(arrays))
    return frames[np.concatenate(([True], np.diff(frames) > SAME_FRAME))]


def _is_among(frames: FloatArray, own: FloatArray) -> npt.NDArray[np.bool_]:
    if not len(own):
        return np.zeros(len(frames), dtype=np.bool_)
    row = np.clip(np.searchsorted(own, frames - np.float32(SAME_FRAME)), 0, len(own) - 1)
    return np.less_equal(np.abs(own[row] - frames), SAME_FRAME)


def _guards(samples: FloatArray, frames: FloatArray) -> FloatArray:
    """For each key but the first the frame close before it where a sample can be held."""
    every = np.unique(np.concatenate((samples, frames)))
    before = every[np.searchsorted(every, frames[1:]) - 1]
    return np.asarray(np.maximum(frames[1:] - np.float32(GUARD), (frames[1:] + before) / 2), dtype=np.float32)


def _co(frames: npt.NDArray[np.floating], values: npt.NDArray[np.floating]) -> FloatArray:
    return np.stack((frames, values), axis=1).astype(np.float32)


def _note_loop_gap(motion: Motion, spline: Spline, what: str) -> None:
    if motion.settings.cycle == "LOOP" and spline.loop_gap > 1e-4:
        motion.notes.append(f"its last key has another {what} than its first: a loop jumps there")
