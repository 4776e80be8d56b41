# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame functions: the timing of a motion, independent of its shape.

A track, a datablock and a scene can each have a frame function. A frame function is an animated property, "Frame
Function", whose F-curve maps each frame t to the frame F(t) of the motion to play. A frame function takes effect if its
F-curve exists and is not muted. The three functions are composed: F(t) = track(datablock(scene(t))).

Source: docs/formulas, "Frame functions".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..datablocks import of_object
from ..fcurves.channels import channels_of
from ..fcurves.keyframes import INTERPOLATION, KINDS, SIDES, Float64Array
from ..fcurves.read_and_write import KeyBlock, coordinates_of
from ..memoize import memoized
from ..records import record
from ..report import AnimationError
from .paths import FRAME_FUNCTION
from .tracks import Track

_WITHOUT_EASING = [INTERPOLATION[name] for name in ("CONSTANT", "LINEAR", "BEZIER")]
"""Interpolation types that depend only on keys and handles."""
_DIFFERENCE_STEP = 0.125
"""Step of differences, in frames. At smaller steps, float32 rounding dominates a second difference. At larger steps,
the shape of the curve dominates."""
_MIN_CORNER = 0.02
"""Minimum difference between the derivatives on the two sides of a corner, in frames per frame."""
_MIN_JUMP = 8.0
"""Minimum second derivative at a jump, in frames per frame squared, and minimum ratio to the second derivative on the
other side."""


@record(eq=False)
class FrameFunction:
    """The frame functions of a track, outermost first. Two objects are equal if their timing is the same."""

    curves: tuple[bpy.types.FCurve, ...]

    def __call__(self, frames: npt.ArrayLike) -> Float64Array:
        """Return F(t), shape (m,), as evaluated by Blender: with modifiers, and rounded to float32 by each curve."""
        return _evaluate(self, np.asarray(frames, dtype=np.float64))

    def with_rates(self, frames: npt.ArrayLike) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return F(t) and its first and second derivatives per frame, each of shape (m,), computed from differences.

        The differences extend a quarter of a frame to each side. At a corner, right-hand derivatives are returned.
        Before a jump and at the last key, left-hand derivatives are returned.
        """
        t, h = np.asarray(frames, dtype=np.float64), _DIFFERENCE_STEP
        minus2, minus1, values, plus1, plus2 = (self(t + n * h) for n in (-2, -1, 0, 1, 2))
        left_first = (3 * values - 4 * minus1 + minus2) / (2 * h)
        right_first = (4 * plus1 - plus2 - 3 * values) / (2 * h)
        left_second = (values - 2 * minus1 + minus2) / h**2
        right_second = (values - 2 * plus1 + plus2) / h**2
        is_smooth = np.abs(right_first - left_first) <= _MIN_CORNER * np.maximum(1.0, np.abs(left_first))
        # Differences across a jump must not be used.
        is_before_jump = np.abs(right_second) > _MIN_JUMP * np.maximum(1.0, np.abs(left_second))
        start, end = (-np.inf, np.inf) if self.goes_on else self.bounds
        is_smooth &= (t > start) & (t < end)
        uses_left = is_before_jump | (t >= end)
        first = np.where(is_smooth, (plus1 - minus1) / (2 * h), np.where(uses_left, left_first, right_first))
        central_second = (plus2 - 2 * values + minus2) / (2 * h) ** 2
        second = np.where(is_smooth, central_second, np.where(uses_left, left_second, right_second))
        return values, first, second

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrameFunction) and self.checksum == other.checksum

    def __hash__(self) -> int:
        return self.checksum

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the range of all curves' keys. Outside this range, the outermost curve is extrapolated."""
        ranges: list[Any] = [fcurve.range() for fcurve in self.curves]
        return min(start for start, _ in ranges), max(end for _, end in ranges)

    @property
    def goes_on(self) -> bool:
        """Return whether the outermost curve varies outside its keys."""
        outermost = self.curves[0]
        return outermost.extrapolation != "CONSTANT" or any(
            modifier.type not in ("ENVELOPE", "STEPPED") and not modifier.mute for modifier in outermost.modifiers
        )

    @cached_property
    def checksum(self) -> int:
        """Return a number that changes if values of the curves change."""
        checksum = 0
        for fcurve in self.curves:
            block = KeyBlock([fcurve.keyframe_points])
            *arrays, interpolation = map(block.read, ("co", *SIDES, *KINDS))
            arrays += [interpolation, coordinates_of(fcurve.sampled_points)]
            if not np.isin(interpolation, _WITHOUT_EASING).all():
                arrays += map(block.read, ("easing", "back", "amplitude", "period"))
            for array in arrays:
                checksum = zlib.crc32(array.data, checksum)
            settings = fcurve.extrapolation, [list(_settings(modifier)) for modifier in fcurve.modifiers]
            checksum = zlib.crc32(repr(settings).encode(), checksum)
        return checksum


@memoized
def _evaluate(function: FrameFunction, frames: Float64Array) -> Float64Array:
    """Evaluate a frame function with a cache. Most tracks that share a function have keys at the same frames."""
    for fcurve in function.curves:
        frames = np.array([fcurve.evaluate(frame) for frame in frames.tolist()], dtype=np.float64)
    return frames


def _settings(modifier: Any) -> Iterator[str]:
    """Yield all of a modifier's settings that affect playback, as text."""
    for prop in modifier.bl_rna.properties:
        if prop.identifier == "control_points":
            yield repr([(point.frame, point.min, point.max) for point in modifier.control_points])
        elif prop.identifier not in ("rna_type", "show_expanded", "is_valid", "active", "name"):
            value = getattr(modifier, prop.identifier)
            yield repr(tuple(value) if getattr(prop, "is_array", False) else value)


def function_of(track: Track) -> FrameFunction | None:
    """Return the frame function of the track, or None if the track is not retimed."""
    return functions_of([track])[0]


def functions_of(tracks: Sequence[Track]) -> list[FrameFunction | None]:
    """Return the frame function of each track. The scenes are searched only once per datablock."""
    scene_curves = {datablock: _scene_curve(datablock) for datablock in {track.datablock for track in tracks}}
    functions: list[FrameFunction | None] = []
    for track in tracks:
        outermost_first = (scene_curves[track.datablock], track.datablock_frame_curve, track.frame_curve)
        curves = tuple([fcurve for fcurve in outermost_first if fcurve is not None and _plays(fcurve)])
        functions.append(FrameFunction(curves) if curves else None)
    return functions


def _plays(fcurve: bpy.types.FCurve) -> bool:
    """Return whether the F-curve has keys or samples and is not muted."""
    group = fcurve.group
    muted = fcurve.mute or (group is not None and group.mute)
    return not muted and bool(len(fcurve.keyframe_points) or len(fcurve.sampled_points))


def curve_of(datablock: bpy.types.ID) -> bpy.types.FCurve | None:
    """Return the F-curve of the datablock's own frame function, muted or not."""
    try:
        return channels_of(datablock).find(FRAME_FUNCTION)
    except AnimationError:
        return None


def _scene_curve(datablock: bpy.types.ID | None) -> bpy.types.FCurve | None:
    """Return the F-curve from the first scene that contains the datablock and has a frame function."""
    if datablock is None or isinstance(datablock, bpy.types.Scene):
        return None
    for scene in bpy.data.scenes:
        # Few scenes have a frame function, so check this first.
        if scene.animation_data is None:
            continue
        fcurve = curve_of(scene)
        if fcurve is not None and _is_in(datablock, scene):
            return fcurve
    return None


def _is_in(datablock: bpy.types.ID, scene: bpy.types.Scene) -> bool:
    """Return whether the datablock is an object in the scene, or is used by the scene's objects or world."""
    if isinstance(datablock, bpy.types.Object):
        return datablock.name in scene.objects and scene.objects[datablock.name] == datablock
    world = scene.world
    if world is not None and datablock in (world, world.node_tree):
        return True
    return any(datablock == used for item in scene.objects for used in of_object(item))
