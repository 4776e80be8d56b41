# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample any property's values at many frames, as Blender plays them.

Values are evaluated from F-curves. If drivers or NLA strips affect a property, Blender steps through the frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..datablocks import name_of
from ..fcurves.channels import channels_of
from ..fcurves.keyframes import union
from ..report import AnimationError, Finding
from ..store.find_tracks import find_tracks
from ..store.read_own_keys import key_frames
from .depsgraph import values_by_stepping
from .transforms import FCurves, Frames, by_path, played_values, plays

Values = npt.NDArray[np.float64]

STEP = 0.25
"""Frames between samples. Samples between whole frames are included because motion blur renders there too."""
_MAX_SAMPLES = 1_000_000
"""The maximum number of samples. More samples would take minutes and a lot of memory."""


class PropertySampler:
    """A sampler for properties of an object, its data and its shape keys at ascending `frames`."""

    def __init__(self, scene: bpy.types.Scene, item: bpy.types.Object, frames: Frames) -> None:
        self.scene = scene
        self.item = item
        self.frames = frames

    def values(self, owner: bpy.types.ID, paths: Iterable[str]) -> dict[str, Values]:
        """Return the values of each property at the frames, shape (frames, components).

        `owner` is the object, its data or its shape keys.

        Raises AnimationError if a value is not finite. Values evaluated from F-curves are not clamped to the limits of
        the property. Blender clamps the values if it steps through the frames.
        """
        curves, driven = curves_of(owner), {path for path, _ in driven_components(owner)}
        has_strips = plays_strips(owner)
        result: dict[str, Values] = {}
        paths_to_step = []
        for path in dict.fromkeys(paths):
            if has_strips or path in driven:
                paths_to_step.append(path)
                continue
            result[path] = played_values(_numbers(owner, path), curves.get(path, {}), self.frames)
        result |= self._stepped(owner, paths_to_step)
        self._check_finite(owner, result)
        return result

    def _check_finite(self, owner: bpy.types.ID, values_by_path: dict[str, Values]) -> None:
        """Raise AnimationError for the first value that is not finite."""
        for path, values in values_by_path.items():
            is_finite = np.isfinite(values).all(axis=1)
            if not is_finite.all():
                frame = float(self.frames[np.argmin(is_finite)])
                raise AnimationError(Finding("PLAYED_NOT_FINITE", name_of(owner), path, frame))

    def _stepped(self, owner: bpy.types.ID, paths: Sequence[str]) -> dict[str, Values]:
        """Return the values that Blender evaluates, stepping through the frames once for all paths."""
        if not paths:
            return {}
        sizes = [len(_numbers(owner, path)) for path in paths]

        def read(depsgraph: bpy.types.Depsgraph) -> list[float]:
            evaluated = owner.evaluated_get(depsgraph)
            return [number for path in paths for number in _numbers(evaluated, path)]

        rows = values_by_stepping(self.scene, self.item, self.frames, read)
        return dict(zip(paths, np.split(rows, np.cumsum(sizes)[:-1], axis=1), strict=True))


def curves_of(owner: bpy.types.ID) -> FCurves:
    """Return the datablock's F-curves that have an effect, by path and component."""
    try:
        return by_path(filter(plays, channels_of(owner)))
    except AnimationError:
        return {}


def plays_strips(owner: Any) -> bool:
    """Return whether NLA strips affect the datablock."""
    animation = owner.animation_data
    return animation is not None and any(track.strips and not track.mute for track in animation.nla_tracks)


def is_driven(owner: object, path: str) -> bool:
    """Return whether a driver controls the property or one of its components."""
    return any(driven == path for driven, _ in driven_components(owner))


def driven_components(owner: Any) -> set[tuple[str, int]]:
    """Return the paths and components that have drivers."""
    animation = owner.animation_data
    return (
        set()
        if animation is None
        else {(driver.data_path, driver.array_index) for driver in animation.drivers if not driver.mute}
    )


def all_keys(owner: bpy.types.ID) -> Values:
    """Return the frames of all the animator's keys on the datablock, in ascending order."""
    paths = curves_of(owner).keys()
    try:
        by_track = [key_frames(track) for track in find_tracks(owner, channels_of(owner)) if track.path in paths]
    except AnimationError:
        by_track = []
    frames = union(by_track).astype(np.float64)
    return frames[np.isfinite(frames)]


def sampled_frames(
    scene: bpy.types.Scene, owners: Iterable[bpy.types.ID], frame_range: tuple[float, float] | None, step: float
) -> Frames:
    """Return ascending sample frames: every `step` frames of the range, and the owners' keys within the range.

    The default range is the scene's frame range, extended to include all keys. Raises AnimationError if there are too
    many frames.
    """
    owners = list(owners)
    keys = np.concatenate([np.empty(0), *map(all_keys, owners)])
    if frame_range is None:
        low, high = min([float(scene.frame_start), *keys]), max([float(scene.frame_end), *keys])
    else:
        low, high = frame_range
    if (high - low) / step > _MAX_SAMPLES:
        name = name_of(owners[0]) if owners else scene.name
        raise AnimationError(Finding("TOO_MANY_FRAMES", name, arguments=((high - low) / step, low, high)))
    steps = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    frames = np.unique(np.concatenate((steps, keys, [low, high])))
    frames_in_range: Frames = frames[(frames >= low) & (frames <= high)]
    return frames_in_range


def _numbers(owner: Any, path: str) -> tuple[float, ...]:
    """Return the current value of a property, as one number per component."""
    value = owner.path_resolve(path)
    return tuple(map(float, value)) if hasattr(value, "__len__") else (float(value),)
