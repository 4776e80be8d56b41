# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions that a motion must meet at all times, not only at its keys.

A camera needs a clip start less than its clip end, valid lens and sensor values, and a focus distance beyond the clip
start. An object that tracks a target with a constraint must never look along its up axis. The scales of objects and
bones must not pass through zero.

Source: docs/formulas, "Conditions of cameras".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import bpy
import numpy as np

from ..arguments import FrameRange, checked
from ..datablocks import of_object
from ..errors import AnimationError, Finding, as_dict
from ..fcurves.keyframes import BoolArray
from ..many import on_all
from ..number_text import number_text, size_text
from ..records import record
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import placed
from ..sampling.properties import STEP, PropertySampler, Values, curves_of, plays_strips, sampled_frames
from ..sampling.transforms import Frames, Matrices, TransformSampler
from ..store.paths import bone_path
from ..translation import counted, n_, rpt_

PARALLEL = math.radians(1.0)
"""Angle in radians. A view direction closer to the up axis makes the object roll over within one or two frames."""
_ZERO = 1e-6
_REFINED = 1e-3
"""Tolerance, in frames, for the time of a zero crossing."""
_JUMP = 0.5
"""Fraction of the change between samples. A curve that changes by a larger fraction within `_REFINED` frames jumps past
zero."""

_POSITIVE = {
    "PERSP": ("lens", "sensor_width", "sensor_height"),
    "ORTHO": ("ortho_scale",),
    "PANO": ("sensor_width",),
}
"""For each camera type, the properties that must be greater than 0, in addition to the clipping distances."""
_CLIPS = ("clip_start", "clip_end")
_NAMES = {
    "lens": n_("lens"),
    "sensor_width": n_("sensor width"),
    "sensor_height": n_("sensor height"),
    "ortho_scale": n_("ortho scale"),
    "clip_start": n_("clip start"),
    "clip_end": n_("clip end"),
}
_FOCUS = ("dof.use_dof", "dof.focus_distance")
_TRACKING = ("TRACK_TO", "LOCKED_TRACK", "DAMPED_TRACK")


@record()
class Violation:
    """A range of frames in which a condition is violated."""

    name: str
    """The name of the object."""
    track: str
    """The path of the property, or of the constraint."""
    condition: str
    """The condition: CLIP, LENS, FOCUS, VIEW or SCALE."""
    start: float
    end: float
    worst: float
    """The frame of the worst violation."""
    message: str
    """The description of the violation."""

    @property
    def finding(self) -> Finding:
        """Return the violation as a finding at the violation's worst frame."""
        return Finding("VIOLATION", self.name, self.track, self.worst, (self.message, self.place))

    def to_dict(self) -> dict[str, Any]:
        """Return the violation as a JSON-compatible dictionary."""
        return as_dict(self)

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def place(self) -> str:
        """Return the frame or the frame range as text."""
        if self.end - self.start < _REFINED:
            return rpt_("frame {:.6g}", self.start)
        return rpt_("frames {:.6g} to {:.6g}", self.start, self.end)


@dataclass
class Checks:
    """The result of a check: counts, and the violations found."""

    objects: int = 0
    """The number of checked objects."""
    samples: int = 0
    violations: list[Violation] = field(default_factory=list)
    """Violations, sorted by object and then by frame."""
    errors: list[Finding] = field(default_factory=list)
    """Objects that could not be checked, with the reasons."""
    notes: list[Finding] = field(default_factory=list)
    """Conditions that could not be checked, with the reasons."""

    @property
    def holds(self) -> bool:
        """Return whether everything was checked and no violations were found."""
        return not (self.violations or self.errors or self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with the messages of findings."""
        return as_dict(self)

    @property
    def summary(self) -> str:
        """Return the result in one line."""
        if not self.objects and self.holds:
            return rpt_("Nothing to check: no object")
        objects = counted(self.objects, n_("{:,} object, {:,} samples"), n_("{:,} objects, {:,} samples"), self.samples)
        if self.holds:
            return rpt_("All conditions hold: {:s}", objects)
        missed = len(self.errors) + len(self.notes)
        return rpt_("Violations: {:,}, not checked: {:,}, in {:s}", len(self.violations), missed, objects)


@checked
def check(
    datablock: bpy.types.ID,
    frame_range: FrameRange | None = None,
    scene: bpy.types.Scene | None = None,
) -> Checks:
    """Check the motion of an object as Blender plays it, at four samples per frame and at all of the object's keys.

    Parameters
    ----------
    datablock : bpy.types.ID
        The object. A camera object is checked together with its camera data. For another datablock, the objects that
        use it are checked.
    frame_range : (float, float), optional
        Frames to check. Default: the scene's frame range, extended to include all keys.
    scene : bpy.types.Scene, optional
        The scene whose frames are checked. Default: the current scene.

    Returns
    -------
    Checks
        Violations of the conditions on scales, and on the clipping, lens, focus and view of cameras.

    Raises
    ------
    ValueError
        The frame range is empty or not finite.

    Notes
    -----
    Objects with too many frames are skipped, and so are conditions on values that are not finite. The result's `errors`
    and `notes` list the skipped objects and conditions.

    Examples
    --------
    >>> found = animation.check(ball, frame_range=(1, 40))
    >>> found.holds, found.samples
    (True, 157)
    """
    return check_many([datablock], frame_range, scene)


@on_all(check)
def check_many(
    datablocks: Iterable[bpy.types.ID],
    frame_range: tuple[float, float] | None,
    scene: bpy.types.Scene | None,
) -> Checks:
    """Check the motion of several objects, or of the objects that use several datablocks. Check each object once.

    The default range of each object includes its own keys.

    Returns
    -------
    Checks
        The violations of all objects.

    Raises
    ------
    ValueError
        The frame range is empty or not finite.

    Examples
    --------
    >>> found = animation.check_many([ball, rig])
    >>> found.holds, found.objects
    (True, 2)
    """
    scene = scene or bpy.context.scene
    assert scene is not None
    result = Checks()
    for item in dict.fromkeys(item for datablock in datablocks for item in _objects_of(datablock)):
        try:
            frames = sampled_frames(scene, of_object(item), frame_range, STEP)
        except AnimationError as refusal:
            result.errors += map(_not_checked, refusal.findings)
            continue
        result.objects += 1
        result.samples += len(frames)
        check = _ObjectCheck(scene, item, frames, result.notes)
        for condition in (check.camera, check.views, check.scales):
            try:
                result.violations += sorted(condition(), key=lambda violation: violation.start)
            except AnimationError as refusal:
                result.errors += map(_not_checked, refusal.findings)
    return result


def _not_checked(reason: Finding) -> Finding:
    """Return a finding about a check that was skipped for the given reason."""
    return replace(reason, code="NOT_CHECKED", arguments=(reason.on(""),))


def _objects_of(datablock: bpy.types.ID) -> list[bpy.types.Object]:
    if isinstance(datablock, bpy.types.Object):
        return [datablock]
    return [item for item in bpy.data.objects if item.data == datablock]


class _ObjectCheck:
    """The checks of one object."""

    def __init__(self, scene: bpy.types.Scene, item: bpy.types.Object, frames: Frames, notes: list[Finding]) -> None:
        self.scene = scene
        self.item: Any = item
        self.frames = frames
        self.notes = notes
        self.sampler = PropertySampler(scene, item, frames)

    def camera(self) -> Iterator[Violation]:
        """Yield violations of the conditions on the camera's properties."""
        if not isinstance(self.item.data, bpy.types.Camera):
            return
        camera: Any = self.item.data
        positive = _POSITIVE.get(camera.type, ())
        sampled = self.sampler.values(camera, (*positive, *_CLIPS, *_FOCUS))
        values = {path: numbers[:, 0] for path, numbers in sampled.items()}
        limits = {path: camera.bl_rna.properties[path].hard_min for path in (*positive, *_CLIPS)}
        for path, limit in limits.items():
            is_below = values[path] < limit if limit > 0.0 else values[path] <= limit
            message = partial(_too_small, path, values[path], limit)
            condition = "CLIP" if path in _CLIPS else "LENS"
            yield from self._violations([path], condition, is_below, limit - values[path], message)
        start, end = (np.maximum(values[path], limits[path]) for path in _CLIPS)
        yield from self._violations(
            _CLIPS,
            "CLIP",
            start >= end,
            start - end,
            lambda row: rpt_("clip start {:s} is not below clip end {:s}", *map(number_text, (start[row], end[row]))),
        )
        if camera.dof.focus_object is None:
            use_dof, distance = (values[path] for path in _FOCUS)
            yield from self._violations(
                ["dof.focus_distance"],
                "FOCUS",
                (use_dof >= 0.5) & (distance <= start),
                start - distance,
                lambda row: rpt_(
                    "focus distance {:s} is not beyond clip start {:s}",
                    *map(number_text, (distance[row], start[row])),
                ),
            )

    def scales(self) -> Iterator[Violation]:
        """Yield violations of the conditions on the scales of the object and its bones."""
        paths = {path for path, _ in curves_of(self.item)}
        animation = self.item.animation_data
        if animation is not None:
            paths |= {driver.data_path for driver in animation.drivers}
        paths = {path for path in paths if path.endswith("scale") and self._resolves(path)}
        if plays_strips(self.item):
            bones = self.item.pose.bones if self.item.pose else ()
            paths |= {"scale", *(f"{bone_path(bone)}.scale" for bone in bones)}
        for path, values in self.sampler.values(self.item, sorted(paths)).items():
            yield from self._zero_scales(path, values)

    def _resolves(self, path: str) -> bool:
        """Return whether the path is a scale of the object or of an existing bone."""
        if path in ("scale", "delta_scale"):
            return True
        try:
            bone = self.item.path_resolve(path.removesuffix(".scale"))
        except ValueError:
            return False
        return isinstance(bone, bpy.types.PoseBone)

    def _zero_scales(self, path: str, values: Values) -> Iterator[Violation]:
        """Yield a violation for each frame of a sign change, and for each run of samples where a scale is zero."""
        components_by_frame: dict[float, list[int]] = {}
        is_zero = np.abs(values) <= _ZERO
        for component in range(values.shape[1]):
            for frame in self._sign_changes(path, component, values[:, component], is_zero[:, component]):
                # Components that change sign together are reported once.
                near_frame = (other for other in components_by_frame if abs(other - frame) < 2 * _REFINED)
                components_by_frame.setdefault(next(near_frame, frame), []).append(component)
        for frame, components in sorted(components_by_frame.items()):
            message = rpt_("scale {:s} passes through zero, which turns the object inside out", _letters(components))
            yield Violation(self.item.name, path, "SCALE", frame, frame, frame, message)
        for first, last in _runs(np.asarray(is_zero.any(axis=1))):
            letters = _letters(np.flatnonzero(is_zero[first : last + 1].any(axis=0)))
            start, end = float(self.frames[first]), float(self.frames[last])
            message = rpt_("scale {:s} is zero, which makes the object invisible", letters)
            yield Violation(self.item.name, path, "SCALE", start, end, start, message)

    def _sign_changes(self, path: str, component: int, values: Values, is_zero: BoolArray) -> Iterator[float]:
        """Yield the frames at which the values change sign. Clear `is_zero` at zero samples where the sign changes."""
        at_samples = np.flatnonzero(is_zero[1:-1] & (values[:-2] * values[2:] < 0.0)) + 1
        is_zero[at_samples] = False
        yield from map(float, self.frames[at_samples])
        fcurve = None if plays_strips(self.item) else curves_of(self.item).get((path, component))
        signs = np.where(np.abs(values) <= _ZERO, 0.0, np.sign(values))
        for row in np.flatnonzero(signs[:-1] * signs[1:] < 0.0).tolist():
            ends = float(self.frames[row]), float(self.frames[row + 1])
            frame = _frame_of_sign_change(fcurve, ends, values[row : row + 2])
            if frame is not None:
                yield frame

    def views(self) -> Iterator[Violation]:
        """Yield a violation for each frame range in which a tracking constraint aims the object along its up axis."""
        active = [constraint for constraint in self.item.constraints if not constraint.mute]
        for constraint in active:
            if constraint.type in _TRACKING and constraint.target is not None:
                yield from self._flips(constraint, is_alone=len(active) == 1)

    def _flips(self, constraint: Any, is_alone: bool) -> Iterator[Violation]:
        """Yield a violation for each frame range in which this constraint aims the object along its up axis."""
        path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"]'
        try:
            directions, forbidden, axis_name = self._directions(constraint, is_alone)
        except UnknownMotionError as unknown:
            self.notes.append(_not_checked(unknown.finding.on(self.item.name, path)))
            return
        influence = self.sampler.values(self.item, [f"{path}.influence"])[f"{path}.influence"][:, 0]
        angle, fraction = _smallest_angles(directions, forbidden)
        is_flip: BoolArray = (angle <= PARALLEL) & (np.maximum(influence[:-1], influence[1:]) > 0.0)
        for first, last in _runs(is_flip):
            worst = first + int(np.argmin(angle[first : last + 1]))
            before, after = float(self.frames[worst]), float(self.frames[worst + 1])
            frame = before + fraction[worst] * (after - before)
            size = size_text(float(angle[worst]), is_angle=True)
            message = rpt_("the view comes within {:s} of {:s}, where it flips", size, axis_name)
            start, end = float(self.frames[first]), float(self.frames[last + 1])
            yield Violation(self.item.name, path, "VIEW", start, end, frame, message)

    def _directions(self, constraint: Any, is_alone: bool) -> tuple[Values, Sequence[Sequence[float]], str]:
        """Return the directions from the object to the target, the forbidden directions, and the forbidden axis's name.

        The directions to the target have the shape (frames, 3). All directions are in a space in which the forbidden
        directions are constant. Raises UnknownMotionError.
        """
        if constraint.owner_space != "WORLD" or constraint.target_space != "WORLD":
            raise UnknownMotionError("NOT_WORLD_SPACE")
        if constraint.type == "DAMPED_TRACK" and not is_alone:
            raise UnknownMotionError("OTHER_CONSTRAINTS")
        own_matrices = self._own_matrices(constraint, is_alone)
        target_matrices, point = self._target(constraint)
        directions = point - own_matrices[:, :3, 3]
        if not np.isfinite(directions).all():
            raise UnknownMotionError("PLACE_NOT_FINITE")
        if constraint.type == "TRACK_TO":
            up = ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))
            if not constraint.use_target_z:
                return directions, up, rpt_("the world's Z axis, its up axis")
            return _in_axes(target_matrices, directions), up, rpt_("the target's Z axis, its up axis")
        axis = np.zeros(3)
        if constraint.type == "LOCKED_TRACK":
            # The constraint rotates the object only about this axis, so it does not change the axis.
            axis["XYZ".index(constraint.lock_axis[-1])] = 1.0
            both_ways = (axis.tolist(), (-axis).tolist())
            return _in_axes(own_matrices, directions), both_ways, rpt_("the locked axis")
        axis["XYZ".index(constraint.track_axis[-1])] = 1.0 if "NEGATIVE" in constraint.track_axis else -1.0
        return _in_axes(own_matrices, directions), (axis.tolist(),), rpt_("the direction straight behind it")

    def _target(self, constraint: Any) -> tuple[Matrices, Values]:
        """Return the target's matrices and the tracked point."""
        target, bone = constraint.target, constraint.subtarget
        if not bone:
            matrices = self._matrices(target, "")
            return matrices, matrices[:, :3, 3]
        if target.type != "ARMATURE" or bone not in target.pose.bones:
            raise UnknownMotionError("TARGET_NO_BONE", bone)
        matrices = self._matrices(target, bone)
        along = constraint.head_tail * target.pose.bones[bone].bone.length
        return matrices, matrices[:, :3, 3] + along * matrices[:, :3, 1]

    def _own_matrices(self, constraint: bpy.types.Constraint, is_alone: bool) -> Matrices:
        """Return the object's matrices without the constraint, or with the constraint if it makes no difference."""
        if is_alone:
            try:
                return TransformSampler(self.frames).before_constraints(self.item)
            except UnknownMotionError:
                if constraint.type == "DAMPED_TRACK":
                    raise
        return self._matrices(self.item, "")

    def _matrices(self, item: bpy.types.Object, bone: str) -> Matrices:
        return placed(self.scene, item, bone, self.frames)

    def _violations(
        self,
        paths: Sequence[str],
        condition: str,
        is_violated: BoolArray,
        excess: Values,
        message: Callable[[int], str],
    ) -> Iterator[Violation]:
        """Yield a violation for each run of violating samples. The worst sample of a run has the largest `excess`."""
        track = paths[0] if len(paths) == 1 else rpt_("{:s} and {:s}", *paths)
        for first, last in _runs(is_violated):
            worst = first + int(np.argmax(excess[first : last + 1]))
            start, end, worst_frame = (float(self.frames[row]) for row in (first, last, worst))
            yield Violation(self.item.name, track, condition, start, end, worst_frame, message(worst))


def _runs(mask: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield the first and last rows of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    yield from ((int(first), int(end) - 1) for first, end in edges.reshape(-1, 2))


def _frame_of_sign_change(fcurve: bpy.types.FCurve | None, ends: tuple[float, float], values: Values) -> float | None:
    """Return the frame between `ends` at which the values change sign, or None if the curve jumps past zero.

    Without an F-curve, the values are interpolated linearly.
    """
    (low, high), (before, after) = ends, values.tolist()
    if fcurve is None:
        return float(low + (high - low) * before / (before - after))
    change = abs(after - before)
    while high - low > _REFINED:
        middle = (low + high) / 2
        value = fcurve.evaluate(middle)
        if value * before > 0.0:
            low, before = middle, value
        else:
            high, after = middle, value
    return None if abs(after - before) > _JUMP * change else (low + high) / 2


def _in_axes(matrices: Matrices, directions: Values) -> Values:
    """Convert world directions to the local axes of the matrices, ignoring scale."""
    axes = matrices[:, :3, :3]
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    local: Values = np.einsum("nij,ni->nj", axes / np.where(length > 0.0, length, 1.0), directions)
    return local


def _smallest_angles(directions: Values, forbidden: Iterable[Sequence[float]]) -> tuple[Values, Values]:
    """Return the smallest angle to any forbidden direction between neighboring samples, and its position.

    The position is a fraction from 0 to 1 between the two samples.
    """
    smallest = np.full(len(directions) - 1, np.inf)
    position = np.zeros(len(directions) - 1)
    for pole in np.array(list(forbidden), dtype=np.float64):
        along = directions @ pole
        across = directions - along[:, np.newaxis] * pole
        step = across[1:] - across[:-1]
        squared_length = np.einsum("ni,ni->n", step, step)
        # Find the foot of the perpendicular from the pole's line to the line between the samples.
        dot = np.einsum("ni,ni->n", across[:-1], step)
        foot = -dot / np.where(squared_length > 0.0, squared_length, 1.0)
        for fraction in (np.clip(foot, 0.0, 1.0), np.zeros_like(foot), np.ones_like(foot)):
            distance = np.linalg.norm(across[:-1] + fraction[:, np.newaxis] * step, axis=1)
            angle = np.arctan2(distance, along[:-1] + fraction * (along[1:] - along[:-1]))
            is_smaller = angle < smallest
            smallest[is_smaller], position[is_smaller] = angle[is_smaller], fraction[is_smaller]
    return smallest, position


def _too_small(path: str, values: Values, limit: float, row: int) -> str:
    name = rpt_(_NAMES[path])
    if limit <= 0.0:
        return rpt_("{:s} {:s} is not above 0", name, number_text(values[row]))
    return rpt_(
        "{name:s} {value:s} is below Blender's minimum of {limit:s}",
        name=name,
        value=number_text(values[row], 7),
        limit=number_text(limit, 7),
    )


def _letters(components: Iterable[int]) -> str:
    return ", ".join("xyz"[index] for index in components)
