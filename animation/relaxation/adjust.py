# SPDX-License-Identifier: GPL-3.0-or-later
"""Relax keys: find the smallest changes that make a condition hold at every frame and between frames.

Source: docs/formulas, "Relaxation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...interp import relaxation, rotations
from ..arguments import FrameRange, Parameters, Point, Positive, checked
from ..bake.pipeline import rebake
from ..bake.plans.rotation_channels import quaternions_of
from ..edit.change_own_curves import own_points, put_own_keys, with_values
from ..edit.track_keys import TrackKeys
from ..errors import IN_RADIANS, AnimationError, Finding, as_dict, size_of
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.linked_data import editable_channels
from ..number_text import size_text
from ..options import RELAX
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.properties import STEP, Values, sampled_frames
from ..store.find_tracks import find_tracks
from ..store.table.track_records import Options
from ..store.tracks import Track
from ..translation import counted, n_, rpt_
from .conditions import Condition
from .movers import Mover, split
from .relaxed_motion import Motion

_FINER = 4
"""The sampling density used to check the result, relative to the density used to compute it."""


@dataclass
class Relaxation:
    """The result of a relaxation. Errors are in world units, or in radians for rotation limits."""

    name: str
    keys: int
    """The number of changed keys, or 0 if the condition already held."""
    before: float
    before_frame: float
    after: float
    after_frame: float
    moved: float = 0.0
    """The maximum distance by which the location of a key was changed."""
    turned: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum angle by which the rotation of a key was changed, in radians."""
    notes: list[Finding] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with angles in degrees and a message for each finding."""
        return as_dict(self)

    def __str__(self) -> str:
        if not self.keys:
            text = n_("no change needed: maximum error {:s} (frame {:g})")
            return f'"{self.name}": {rpt_(text, size_text(self.before), self.before_frame)}'
        errors = rpt_(
            "maximum error before {:s} (frame {:g}), now {:s} (frame {:g})",
            size_text(self.before),
            self.before_frame,
            size_text(self.after),
            self.after_frame,
        )
        changes = [rpt_("moved by up to {:s}", size_text(self.moved))] if self.moved else []
        changes += [rpt_("turned by up to {:s}", size_text(self.turned, is_angle=True))] if self.turned else []
        keys = counted(self.keys, n_("{:,} key {:s}"), n_("{:,} keys {:s}"), ", ".join(changes))
        return f'"{self.name}": {errors}; {keys}'


@checked
def relax(  # noqa: PLR0913
    item: bpy.types.Object,
    condition: Condition,
    keys: Sequence[TrackKeys],
    *,
    bone: str = "",
    point: Point = (0.0, 0.0, 0.0),
    tolerance: Positive = RELAX["tolerance"].default,
    frame_range: FrameRange | None = None,
    defaults: Parameters | None = None,
    scene: bpy.types.Scene | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Relaxation:
    """Change keys as little as possible so that a condition holds within the tolerance.

    Baked tracks are rebaked.

    Parameters
    ----------
    item : bpy.types.Object
        The object, or the armature that contains the bone.
    condition : StaysAt, StaysAbove or TurnsWithin
        The condition.
    keys : sequence of TrackKeys
        The keys that may change, as returned by `track_keys`. The keys must belong to location and rotation tracks of
        the object, the bone or their parents.
    bone : str
        The name of a bone of the armature `item`.
    point : sequence of 3 floats
        The point for which the condition must hold, in the local space of the object or bone.
    tolerance : float
        The maximum error, in world units, or in radians for rotation limits.
    frame_range : (float, float), optional
        The frames at which the condition must hold. Default: the scene's frame range, extended to include all keys.
    defaults : mapping, optional
        Parameters by name, for keys on unbaked tracks that have none of their own.
    scene : bpy.types.Scene, optional
        The scene whose frames are used. Default: the current scene.
    progress : callable, optional
        Called with the number of finished rounds and the maximum number of rounds.

    Raises
    ------
    AnimationError
        A track can't be changed or is not TCB, something other than F-curves and parents moves the object, or the
        target is the object or bone itself. The error is also raised if the tolerance can't be reached. The message
        then gives the frame and the remaining error. Nothing was changed.
    ValueError
        The tolerance or the point is not finite, the tolerance is not positive, or the range is empty.

    Examples
    --------
    >>> report = animation.enable(rig, keep_look=False)
    >>> keys = animation.track_keys(rig, 'pose.bones["foot.L"].location')
    >>> condition = animation.StaysAbove(height=0.5)
    >>> result = animation.relax(rig, condition, [keys.take((keys.frames > 1) & (keys.frames < 40))], bone="foot.L")
    >>> result.keys, round(result.before, 2)
    (2, 0.72)
    """
    _check_targets(item, bone, condition)
    sampled_scene = scene or bpy.context.scene
    assert sampled_scene is not None
    movers = [Mover(track_keys, defaults or {}) for track_keys in keys if len(track_keys)]
    if not movers:
        raise AnimationError(Finding("RELAX_NO_KEY", item.name))
    owners: list[bpy.types.ID] = [
        item,
        *(mover.datablock for mover in movers),
        *(target for target, _ in condition.targets),
    ]

    def motion(step: float) -> Motion:
        frames = sampled_frames(sampled_scene, owners, frame_range, step)
        return Motion(item, bone, np.array(point, dtype=np.float64), condition, movers, sampled_scene, frames)

    try:
        return _relax(movers, motion(STEP), motion(STEP / _FINER), tolerance, progress)
    except UnknownMotionError as unknown:
        raise AnimationError(Finding("RELAX_UNKNOWN", item.name, arguments=(unknown.finding,))) from unknown


def _check_targets(item: bpy.types.Object, bone: str, condition: Condition) -> None:
    """Raise AnimationError if a bone does not exist, or if the condition's target is the object or bone itself."""
    for owner, name in ((item, bone), *condition.targets):
        if name and (owner.pose is None or name not in owner.pose.bones):
            raise AnimationError(Finding("NO_BONE", owner.name, arguments=(name,)))
    if (item, bone) in condition.targets:
        if bone:
            raise AnimationError(Finding("RELAX_OWN_BONE", item.name, arguments=(bone,)))
        raise AnimationError(Finding("RELAX_ITSELF", item.name))


def _relax(
    movers: list[Mover],
    coarse: Motion,
    fine: Motion,
    tolerance: float,
    progress: Callable[[int, int], None] | None,
) -> Relaxation:
    """Find and write the smallest changes. Errors are checked on the `fine` motion, which has more samples."""
    name = fine.name
    start = np.concatenate([mover.start for mover in movers])
    errors = fine.errors(start)
    is_finite = np.isfinite(errors)
    if not is_finite.all():
        raise AnimationError(Finding("RELAX_NOT_FINITE", name, frame=float(fine.frames[np.argmin(is_finite)])))
    before, before_frame = _largest(errors, fine)
    if before <= tolerance:
        return Relaxation(name, 0, before, before_frame, before, before_frame)
    numbers = _relaxed_numbers(coarse, fine, start, tolerance, progress)
    after, after_frame = _largest(fine.errors(numbers), fine)
    if after > tolerance:
        sizes = size_of(tolerance), size_of(after), after_frame, size_of(before)
        raise AnimationError(Finding("RELAX_NOT_REACHED", name, arguments=sizes))
    key_count = sum(len(mover.keys) for mover in movers)
    moved, turned = _largest_changes(movers, start, numbers)
    notes = _write(movers, numbers)
    return Relaxation(name, key_count, before, before_frame, after, after_frame, moved, turned, notes)


def _largest(errors: Values, motion: Motion) -> tuple[float, float]:
    """Return the maximum error and its frame."""
    return float(errors.max()), float(motion.frames[np.argmax(errors)])


def _relaxed_numbers(
    coarse: Motion, fine: Motion, start: Values, tolerance: float, progress: Callable[[int, int], None] | None
) -> Values:
    """Return key values that satisfy the condition, or come closest to satisfying it.

    If the condition holds at the coarse frames but not between them, repeat the search at the fine frames.
    """
    for motion in (coarse, fine):
        weights, longest = motion.costs()
        result = relaxation.relax(motion.excess, start, tolerance, weights, longest, progress=progress)
        numbers = result.numbers.astype(np.float32).astype(np.float64)
        if fine.errors(numbers).max() <= tolerance or not result.reached:
            break
    return numbers


def _largest_changes(movers: Sequence[Mover], start: Values, numbers: Values) -> tuple[float, float]:
    """Return the maximum distance by which location keys moved, and the maximum angle by which rotation keys turned."""
    moved = turned = 0.0
    for mover, before, after in zip(movers, split(movers, start), split(movers, numbers), strict=True):
        if not mover.variables:
            continue
        if mover.track.is_rotation:
            q_before, q_after = (
                rotations.normalise(quaternions_of(mover.track, mover.key_rotations(values)))
                for values in (before, after)
            )
            turned = max(turned, float(rotations.angle_between(q_before, q_after).max()))
        else:
            rows = np.array([row for _, row in mover.variables])
            squared_distances = np.bincount(rows, (after - before) ** 2)
            moved = max(moved, math.sqrt(float(squared_distances.max())))
    return moved, turned


def _write(movers: Sequence[Mover], numbers: Values) -> list[Finding]:
    """Write the values into the keys, update the tracks that were played before, and return notes."""
    notes: list[Finding] = []
    by_datablock: dict[Any, list[tuple[Mover, Values]]] = {}
    for mover, values in zip(movers, split(movers, numbers), strict=True):
        if mover.variables:
            by_datablock.setdefault(mover.datablock, []).append((mover, values))
    for datablock, changes in by_datablock.items():
        channels = editable_channels(datablock, notes)
        tracks = {track.path: track for track in find_tracks(datablock, channels)}
        changed_tracks = [tracks[mover.track.path] for mover, _ in changes]
        for track, (mover, values) in zip(changed_tracks, changes, strict=True):
            _put(channels, track, mover, values)
        played = [track for track in changed_tracks if track.is_played]
        (users,) = users_of_channels([channels])
        report = rebake(users or [datablock], channels, played, Options())
        notes += [*report.errors, *report.notes]
        evaluate_anew(channels.action)
    return notes


def _put(channels: Channels, track: Track, mover: Mover, values: Values) -> None:
    """Write the values into the animator's keys, either on the F-curves or among the keys saved by a bake."""
    components, rows = np.array(mover.variables).T
    changed_keys = {
        index: with_values(track, own_keys, points, rows[components == index], values[components == index])
        for index, (own_keys, points) in own_points(track).items()
        if index in components
    }
    put_own_keys(channels, track, changed_keys)
