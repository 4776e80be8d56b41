# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of an export: why objects and tracks are sampled, at which frames, and the world matrices of objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import Finding
from ...animation.sampling.properties import curves_of, is_driven, plays_strips
from ...animation.sampling.transforms import plays
from ...animation.store.frame_functions import function_of
from ...animation.store.tracks import Track
from ...interp import rotations
from ...interp.splines import METHODS
from ...interp.splines.tcb import METHOD
from ..keys import Keys
from .gather_nodes import ExportNode

# Reasons to sample


_TURNING = ("TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK", "COPY_ROTATION", "LIMIT_ROTATION", "TRANSFORM")
"""Constraints that rotate an object, without effect on objects that have a target in the file."""
_TRANSFORMS = ("location", "rotation", "scale", "delta_")
_NO_DELTAS = {
    "delta_location": (0.0, 0.0, 0.0),
    "delta_rotation_euler": (0.0, 0.0, 0.0),
    "delta_rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "delta_scale": (1.0, 1.0, 1.0),
}
"""Default values of delta transforms."""


def reason_to_sample_object(node: ExportNode, scene: bpy.types.Scene) -> Finding | None:
    """Return why the motion relative to the node's parent is not determined by the object's channels, or None."""
    obj, parent = node.obj, node.parent
    if obj is None or node.kind == "AMBIENT":
        return None
    data = obj.animation_data
    for constraint in obj.constraints:
        if not (node.is_aimed and constraint.type in _TURNING) and _is_enabled(constraint):
            return Finding("HAS_CONSTRAINT", arguments=(constraint.name,))
    if obj.parent != parent or (parent is not None and obj.parent_type != "OBJECT"):
        return Finding("PARENT_NOT_IN_FILE")
    if data is not None and any(driver.data_path.startswith(_TRANSFORMS) for driver in data.drivers):
        return Finding("DRIVERS")
    if plays_strips(obj):
        return Finding("NLA_STRIPS")
    if _has_deltas(obj, scene):
        return Finding("DELTAS")
    if parent is not None and parent_inverse_of(obj) is None:
        return Finding("PARENT_INVERSE_SHEARS")
    return None


def _is_enabled(constraint: bpy.types.Constraint) -> bool:
    """Return whether the constraint is enabled, or F-curves or drivers may enable it."""
    obj: Any = constraint.id_data
    switches = [constraint.path_from_id(name) for name in ("enabled", "mute")]
    animated = curves_of(obj)
    return constraint.enabled or any(path in animated or is_driven(obj, path) for path in switches)


def _has_deltas(obj: Any, scene: bpy.types.Scene) -> bool:
    """Return whether delta transforms move the object currently or at any frame of the scene."""
    if any(tuple(getattr(obj, path)) != default for path, default in _NO_DELTAS.items()):
        return True
    return any(
        fcurve.evaluate(frame) != _NO_DELTAS[path][index]
        for path in _NO_DELTAS
        for index, fcurve in curves_of(obj).get(path, {}).items()
        for frame in frames_of(scene).tolist()
    )


def other_control(datablock: bpy.types.ID, path: str) -> Finding | None:
    """Return why something other than F-curves controls the property, or None if nothing else does."""
    if plays_strips(datablock):
        return Finding("NLA_STRIPS")
    return Finding("IS_DRIVEN") if is_driven(datablock, path) else None


def reason_to_sample_track(track: Track) -> Finding:
    """Return why keys in the file cannot play a track."""
    if not track.enabled:
        return Finding("IS_NOT_TCB")
    if not is_played_by_splines(track):
        if track.driven:
            return Finding("IS_DRIVEN")
        if _is_in_world(track):
            return Finding("IN_WORLD_SPACE")
        return Finding("MUTED_IN_PART" if function_of(track) is None else "RETIMED")
    method = track.settings.method
    if method != METHOD.name:
        return Finding("METHOD_NOT_IN_FILE", arguments=(METHODS[method].label,))
    # The components of values have keys at different frames, or different parameters.
    return Finding("TURNS_ABOUT_MOVING_AXIS" if track.is_rotation else "COMPONENTS_APART")


def is_played_by_splines(track: Track) -> bool:
    """Check whether the keys play at their original frames without other influences."""
    plays_all = len(played_fcurves(track)) == len(track.channels)
    return track.enabled and not track.driven and plays_all and function_of(track) is None and not _is_in_world(track)


def _is_in_world(track: Track) -> bool:
    """Check whether the track is baked in world space."""
    return track.is_baked and track.settings.options is not None and track.settings.options.in_world


def played_fcurves(track: Track) -> dict[int, bpy.types.FCurve]:
    """Return the F-curves of the components that Blender plays."""
    return {index: fcurve for index, fcurve in track.channels.items() if plays(fcurve)}


# Frames and limit


SAME = 1e-6
"""Values within this relative distance are equal except for float32 rounding."""
_MAX_EVALUATED_FRAMES = 1_000_000
"""Maximum number of frames for evaluating a motion to find its keys, independent of the sample limit."""


def sampled(frames: Float64Array, values: Float64Array) -> Keys:
    """Return one key per sample, or a single key if all samples are equal."""
    if (np.ptp(values, axis=0) <= SAME * np.maximum(1.0, np.abs(values).max(axis=0))).all():
        frames, values = frames[:1], values[:1]
    return Keys(frames, values, np.zeros((5, len(frames))))


def sampled_turns(frames: Float64Array, quaternions: Float64Array) -> Keys:
    """Return one key per sample as turns along the shortest path, or a single key if nothing turns."""
    if rotations.angle_between(quaternions, quaternions[0]).max() <= SAME:
        frames, quaternions = frames[:1], quaternions[:1]
    angles, axes = rotations.rotations_to_turns(quaternions)
    return Keys(frames, np.column_stack((angles, axes)), np.zeros((5, len(frames))))


class Span(NamedTuple):
    """The whole frames from `first` to `last`. Without an array, far more frames than memory allows can be counted."""

    first: float
    last: float

    def __bool__(self) -> bool:
        return self.first <= self.last

    @property
    def frame_count(self) -> int:
        """Return the number of frames."""
        return int(self.last - self.first) + 1 if self else 0

    def frames(self) -> Float64Array:
        return np.arange(self.first, self.last + 1.0) if self else np.empty(0)

    def with_frames_of(self, scene: bpy.types.Scene) -> Span:
        """Return a span that covers these frames and the scene's frames."""
        return Span(min(self.first, scene.frame_start), max(self.last, scene.frame_end))


def span_of_keys(fcurves: Sequence[bpy.types.FCurve]) -> Span:
    """Return the span from the first to the last key of the curves. Empty without keys."""
    frames = [point.co.x for fcurve in fcurves for point in (*fcurve.keyframe_points, *fcurve.sampled_points)]
    return Span(float(np.floor(min(frames))), float(np.ceil(max(frames)))) if frames else Span(np.inf, -np.inf)


def change_outside(fcurves: Sequence[bpy.types.FCurve], keyed: Span, scene: bpy.types.Scene) -> bool:
    """Return whether any curve changes outside its keys within the scene's frames, or may do so because it has none."""
    return any(_changes_outside(fcurve, keyed, frames_of(scene)) for fcurve in fcurves)


def _changes_outside(fcurve: bpy.types.FCurve, keyed: Span, frames: Float64Array) -> bool:
    if not keyed:
        return True
    if fcurve.extrapolation == "CONSTANT" and all(modifier.mute for modifier in fcurve.modifiers):
        return False
    for end, beyond in ((keyed.first, frames[frames < keyed.first]), (keyed.last, frames[frames > keyed.last])):
        value = fcurve.evaluate(end)
        tolerance = SAME * max(1.0, abs(value))
        if any(abs(fcurve.evaluate(frame) - value) > tolerance for frame in beyond.tolist()):
            return True
    return False


def frames_of(scene: bpy.types.Scene) -> Float64Array:
    """Return all frames of the scene."""
    return np.arange(scene.frame_start, scene.frame_end + 1, dtype=np.float64)


@dataclass
class SampleLimit:
    """The number of samples of a file so far, which must not exceed a limit."""

    limit: int
    count: int = 0

    def take(self, count: int, name: str, path: str = "") -> None:
        """Count samples for a track. Raise AnimationError if the limit is exceeded."""
        self.count += count
        if self.count > self.limit:
            raise AnimationError(Finding("FILE_SAMPLE_LIMIT", name, path, arguments=(count, self.limit)))

    def check(self, frames: float, name: str, path: str) -> None:
        """Raise AnimationError if finding the keys of a track requires evaluating too many frames."""
        limit = max(self.limit, _MAX_EVALUATED_FRAMES)
        if frames > limit:
            raise AnimationError(Finding("FILE_KEYS_FAR_APART", name, path, arguments=(float(frames), limit)))


# World matrices
_SHEAR = 1e-4
"""Cosine between axes. Larger cosines count as shear."""
_NO_SHEAR = 1e-5
"""Largest deviation of a parent inverse from a scaled rotation, relative to its squared scale."""


class LocalTransforms(NamedTuple):
    """The transforms of an object at n frames."""

    locations: Float64Array
    """Shape (n, 3)."""
    quaternions: Float64Array
    """Shape (n, 4)."""
    scales: Float64Array
    """Shape (n, 3). The scale along x is negative if the axes are mirrored."""
    has_shear: bool


class Matrices:
    """World matrices of objects at every frame of the scene, each with shape (frames, 4, 4).

    Sample the matrices inside `kept_evaluated` before reading them.
    """

    def __init__(self, items: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> None:
        self.scene = scene
        self.frames = frames_of(scene)
        self._worlds: dict[Any, Float64Array] = {obj: np.empty((len(self.frames), 4, 4)) for obj in items}

    def __len__(self) -> int:
        """Return the number of frames to sample."""
        return len(self.frames) if self._worlds else 0

    def sample(self) -> Iterator[int]:
        """Sample frame by frame, yielding the number of finished frames."""
        for row, frame in enumerate(self.frames[: len(self)]):
            self.scene.frame_set(int(frame))
            depsgraph = bpy.context.evaluated_depsgraph_get()
            for obj, worlds in self._worlds.items():
                worlds[row] = obj.evaluated_get(depsgraph).matrix_world
            yield row + 1

    def world(self, obj: bpy.types.Object) -> Float64Array:
        return self._worlds[obj]

    def local(self, obj: bpy.types.Object, parent: bpy.types.Object | None) -> LocalTransforms:
        """Return the transforms of an object relative to `parent`, or in the world without a parent."""
        matrices = self._worlds[obj]
        if parent is not None:
            matrices = np.linalg.inv(self._worlds[parent]) @ matrices
        axes = matrices[:, :3, :3]
        scales = np.linalg.norm(axes, axis=1)
        # A left-handed matrix is mirrored along x.
        scales[:, 0] *= np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
        turns = axes / np.where(scales == 0.0, 1.0, scales)[:, np.newaxis, :]
        cosines = np.einsum("nij,nik->njk", turns, turns) - np.eye(3)
        has_shear = bool(np.abs(cosines).max() > _SHEAR)
        return LocalTransforms(matrices[:, :3, 3], rotations.from_matrix(turns), scales, has_shear)


@contextmanager
def kept_evaluated(items: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[None]:
    """Evaluate the objects, including hidden ones, while frames are set, and restore the current frame afterward.

    Blender skips objects that are hidden in the viewport unless something depends on them.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    dependent: Any = bpy.data.objects.new("TCB", None)
    try:
        scene.collection.objects.link(dependent)
        for obj in items:
            dependent.constraints.new("COPY_TRANSFORMS").target = obj
        yield
    finally:
        bpy.data.objects.remove(dependent)
        scene.frame_set(frame, subframe=subframe)


class ParentInverse(NamedTuple):
    """A transform that is applied after a child's own transform."""

    location: Float64Array
    rotation: Float64Array
    """The quaternion."""
    factor: float
    """The uniform scale."""


def parent_inverse_of(obj: bpy.types.Object) -> ParentInverse | None:
    """Return the parent inverse of an object, or None if it mirrors, shears or scales the axes differently."""
    matrix = np.array(obj.matrix_parent_inverse, dtype=np.float64)
    factor = float(np.cbrt(np.linalg.det(matrix[:3, :3])))
    if factor <= 0.0 or np.abs(matrix[:3, :3] @ matrix[:3, :3].T - factor**2 * np.eye(3)).max() > _NO_SHEAR * factor**2:
        return None
    return ParentInverse(matrix[:3, 3], rotations.from_matrix(matrix[:3, :3] / factor), factor)
