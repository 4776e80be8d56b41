# SPDX-License-Identifier: GPL-3.0-or-later
"""From the animator's keys of a track to its splines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..interp import Keys, KeysError, rotations, tcb
from . import scratch
from .frames import union
from .keyframes import FloatArray, Keyframes
from .originals import Originals
from .parameters import read_parameters
from .settings import Settings
from .stamps import SAME_FRAME
from .tracks import Track

Float64Array = npt.NDArray[np.float64]
Spline = tcb.VectorSpline | tcb.RotationSpline

_LARGEST = 1e37
"""A spline overshoots its keys by less than ten times their size, and float32 ends at 3.4e38."""


@dataclass(frozen=True)
class TrackSpline:
    """One spline of a track: a rotation's only one, or that of the components keyed at the same frames."""

    components: list[int]
    frames: FloatArray
    """The keys', shape (n,)."""
    values: Float64Array
    """The keys' as the channels hold them, shape (n, components)."""
    spline: Spline
    turns: Float64Array | None = None
    """How far a rotation turns from key to key where its numbers say how often, radians, shape (n - 1,)."""


def track_splines(
    track: Track, settings: Settings, originals: Mapping[int, Originals], defaults: Mapping[str, float]
) -> list[TrackSpline]:
    """The splines of the track; `defaults` are the parameters of keys that have none of their own.

    Raises Refusal, naming the key, where the keys or their parameters make no spline.
    """
    for keys in {original.keys.frames.tobytes(): original.keys for original in originals.values()}.values():
        _check_frames(track, keys)
    if track.is_rotation:
        return [_rotation(track, settings, originals, defaults)]
    alike: dict[bytes, list[int]] = {}
    for index, original in originals.items():
        alike.setdefault(original.keys.frames.tobytes(), []).append(index)
    return [_vector(track, settings, originals, components, defaults) for components in alike.values()]


def _check_frames(track: Track, keys: Keyframes) -> None:
    if not np.isfinite(keys.frames).all():
        raise track.refusal("a key stands at a frame that is not a finite number")
    same = np.flatnonzero(np.diff(keys.frames) <= SAME_FRAME)
    if len(same):
        raise track.refusal("two keys at one frame; delete or move one of them", float(keys.frames[same[0]]))


def _vector(
    track: Track,
    settings: Settings,
    originals: Mapping[int, Originals],
    components: list[int],
    defaults: Mapping[str, float],
) -> TrackSpline:
    frames = originals[components[0]].keys.frames
    values = np.stack([originals[index].keys.values for index in components], axis=1).astype(np.float64)
    # Infinite and undefined values are named by the keys themselves.
    large = np.isfinite(values).all(axis=1) & (np.abs(values).max(axis=1) > _LARGEST)
    if large.any():
        raise track.refusal(
            "its value is so large that the motion could leave float32", float(frames[np.argmax(large)])
        )
    spline = tcb.VectorSpline(_keys(track, frames, values, defaults), settings.cycle)
    return TrackSpline(components, frames, values, spline)


def _rotation(
    track: Track, settings: Settings, originals: Mapping[int, Originals], defaults: Mapping[str, float]
) -> TrackSpline:
    """A rotation's keys stand at the union of its channels' frames."""
    frames = union([original.keys.frames for original in originals.values()])
    components = list(range(len(track.rest)))
    values = np.empty((len(frames), len(components)))
    for index in components:
        original = originals.get(index)
        values[:, index] = track.component(index) if original is None else _values_at(track, index, original, frames)
    spline, turns = _rotation_spline(track, settings, frames, values, defaults)
    return TrackSpline(components, frames, values, spline, turns)


def _rotation_spline(
    track: Track, settings: Settings, frames: FloatArray, raw: Float64Array, defaults: Mapping[str, float]
) -> tuple[tcb.RotationSpline, Float64Array | None]:
    finite = np.isfinite(raw).all(axis=1)
    if not finite.all():
        raise track.refusal("its value is not a finite number", float(frames[np.argmin(finite)]))
    cycle, ends, construction = settings.cycle, settings.ends, settings.construction
    try:
        if track.kind == "QUATERNION" or settings.path == "SHORTEST":
            keys = _keys(track, frames, quaternions_of(track, raw), defaults)
            return tcb.RotationSpline(keys, cycle, ends, construction, settings.path), None
        if track.kind == "EULER":
            angles, axes = rotations.turns_of_euler(raw, track.order)
        else:
            angles, axes = rotations.turns_of_axis_angle(raw[:, 0], raw[:, 1:])
        parameters = read_parameters(track, frames, defaults)
        spline = tcb.RotationSpline.from_turns(
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
        return spline, np.abs(angles[1:])
    except KeysError as error:
        frame = error.frame if error.key is None else float(frames[error.key])
        raise track.refusal(error.fault, frame) from error


def quaternions_of(track: Track, raw: Float64Array) -> Float64Array:
    """A rotation's numbers as its channels hold them, as quaternions, which need not be unit ones."""
    if track.kind == "EULER":
        return rotations.from_euler(raw, track.order)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(raw[:, 1:], raw[:, 0])
    return raw


def _values_at(track: Track, index: int, original: Originals, frames: FloatArray) -> Float64Array:
    """The channel's value at each frame: its key's, or what the animator's own curve plays there."""
    own = original.keys.frames
    if len(own) == len(frames):
        # The union holds them all, so they are the same.
        return original.keys.values.astype(np.float64)
    values = np.empty(len(frames))
    row = np.clip(np.searchsorted(own, frames - np.float32(SAME_FRAME)), 0, len(own) - 1)
    hit = np.abs(own[row] - frames) <= SAME_FRAME
    values[hit] = original.keys.values[row[hit]]
    if not hit.all():
        values[~hit] = own_motion(track, index, original, frames[~hit])
    return values


def own_motion(track: Track, index: int, original: Originals, frames: FloatArray) -> Float64Array:
    """What the animator's own curve of a channel plays, by Blender's evaluation."""
    channel = track.channels[index]
    if plays_its_own_keys(track, index) and not original.edited:
        return np.array([channel.evaluate(frame) for frame in frames.tolist()], dtype=np.float64)
    curve = track.saved.get(index) or channel
    return scratch.evaluate(original, curve.extrapolation, frames)


def plays_its_own_keys(track: Track, index: int) -> bool:
    """Whether what the channel's F-curve plays is the animator's keys alone: no bake, no modifiers."""
    return index not in track.saved and not len(track.channels[index].modifiers)


def _keys(track: Track, frames: FloatArray, values: Float64Array, defaults: Mapping[str, float]) -> Keys:
    parameters = read_parameters(track, frames, defaults)
    try:
        return Keys(frames.astype(np.float64), values, **parameters)
    except KeysError as error:
        raise track.refusal(error.fault, error.frame) from error
