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
from ..bake.plans.splines import quaternions_of
from ..edit.change_own_curves import own_points, put_own_keys, with_values
from ..edit.track_keys import TrackKeys
from ..errors import IN_RADIANS, AnimationError, Finding, as_dict, size_of
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.linked_data import editable_channels
from ..number_text import size_text
from ..options import RELAX
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.properties import STEP, Values, sampled_frames
from ..store.table.stored_bake_options import Options
from ..store.tracks import Track, find_tracks
from ..translation import counted, n_, rpt_
from .relaxed_motion import Follower, Motion, Mover, split
from .wanted_conditions import Condition

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
        ways = [rpt_("moved by up to {:s}", size_text(self.moved))] if self.moved else []
        ways += [rpt_("turned by up to {:s}", size_text(self.turned, is_angle=True))] if self.turned else []
        keys = counted(self.keys, n_("{:,} key {:s}"), n_("{:,} keys {:s}"), ", ".join(ways))
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
    >>> done = animation.relax(rig, condition, [keys.take((keys.frames > 1) & (keys.frames < 40))], bone="foot.L")
    >>> done.keys, round(done.before, 2)
    (2, 0.72)
    """
    for owner, name in ((item, bone), *condition.targets):
        if name and (owner.pose is None or name not in owner.pose.bones):
            raise AnimationError(Finding("NO_BONE", owner.name, arguments=(name,)))
    if (item, bone) in condition.targets:
        if bone:
            raise AnimationError(Finding("RELAX_OWN_BONE", item.name, arguments=(bone,)))
        raise AnimationError(Finding("RELAX_ITSELF", item.name))
    seen = scene or bpy.context.scene
    assert seen is not None
    movers = [Mover(chosen, defaults or {}) for chosen in keys if len(chosen)]
    if not movers:
        raise AnimationError(Finding("RELAX_NO_KEY", item.name))
    follower = Follower(item, bone, np.array(point, dtype=np.float64))
    owners: list[bpy.types.ID] = [
        item,
        *(mover.datablock for mover in movers),
        *(target for target, _ in condition.targets),
    ]

    def motion(step: float) -> Motion:
        return Motion(follower, condition, movers, seen, sampled_frames(seen, owners, frame_range, step))

    try:
        return _relax(movers, motion(STEP), motion(STEP / _FINER), tolerance, progress)
    except UnknownMotionError as unknown:
        raise AnimationError(Finding("RELAX_UNKNOWN", item.name, arguments=(unknown.finding,))) from unknown


def _relax(
    movers: list[Mover],
    coarse: Motion,
    judge: Motion,
    tolerance: float,
    progress: Callable[[int, int], None] | None,
) -> Relaxation:
    name = judge.follower.name
    start = np.concatenate([mover.start for mover in movers])
    before = judge.errors(start)
    finite = np.isfinite(before)
    if not finite.all():
        raise AnimationError(Finding("RELAX_NOT_FINITE", name, frame=float(judge.frames[np.argmin(finite)])))
    was_at = float(judge.frames[np.argmax(before)])
    largest = float(before.max())
    if largest <= tolerance:
        return Relaxation(name, 0, largest, was_at, largest, was_at)
    numbers = _relaxed(coarse, judge, start, tolerance, progress)
    after = judge.errors(numbers)
    left, left_at = float(after.max()), float(judge.frames[np.argmax(after)])
    if left > tolerance:
        sizes = size_of(tolerance), size_of(left), left_at, size_of(largest)
        raise AnimationError(Finding("RELAX_NOT_REACHED", name, arguments=sizes))
    result = Relaxation(name, sum(len(mover.keys) for mover in movers), largest, was_at, left, left_at)
    result.moved, result.turned = _ways(movers, start, numbers)
    result.notes = _write(movers, numbers)
    return result


def _relaxed(
    coarse: Motion, judge: Motion, start: Values, tolerance: float, progress: Callable[[int, int], None] | None
) -> Values:
    """Return key values that satisfy the condition, or come closest to satisfying it.

    If necessary, use more closely spaced frames.
    """
    numbers = start
    for motion in (coarse, judge):
        weights, longest = motion.costs()
        found = relaxation.relax(motion.excess, start, tolerance, weights, longest, progress=progress)
        numbers = found.numbers.astype(np.float32).astype(np.float64)
        if judge.errors(numbers).max() <= tolerance or not found.reached:
            break
    return numbers


def _ways(movers: Sequence[Mover], start: Values, numbers: Values) -> tuple[float, float]:
    """Return the maximum distance by which location keys moved, and the maximum angle by which rotation keys turned."""
    moved = turned = 0.0
    for mover, before, after in zip(movers, split(movers, start), split(movers, numbers), strict=True):
        if not mover.slots:
            continue
        if mover.track.is_rotation:
            old, new = (rotations.normalise(quaternions_of(mover.track, mover.raw(each))) for each in (before, after))
            turned = max(turned, float(rotations.angle_between(old, new).max()))
        else:
            rows = np.array([row for _, row in mover.slots])
            squares = np.bincount(rows, (after - before) ** 2)
            moved = max(moved, math.sqrt(float(squares.max())))
    return moved, turned


def _write(movers: Sequence[Mover], numbers: Values) -> list[Finding]:
    """Write the values into the keys, update the tracks that were played before, and return notes."""
    notes: list[Finding] = []
    by_datablock: dict[Any, list[tuple[Mover, Values]]] = {}
    for mover, own in zip(movers, split(movers, numbers), strict=True):
        if mover.slots:
            by_datablock.setdefault(mover.datablock, []).append((mover, own))
    for datablock, group in by_datablock.items():
        channels = editable_channels(datablock, notes)
        tracks = {track.path: track for track in find_tracks(datablock, channels)}
        for mover, own in group:
            _put(channels, tracks[mover.track.path], mover, own)
        played = [track for track in (tracks[mover.track.path] for mover, _ in group) if track.is_played]
        (users,) = users_of_channels([channels])
        report = rebake(users or [datablock], channels, played, Options())
        notes += [*report.errors, *report.notes]
        evaluate_anew(channels.action)
    return notes


def _put(channels: Channels, track: Track, mover: Mover, numbers: Values) -> None:
    """Write the values into the animator's keys, either on the F-curves or among the keys saved by a bake."""
    components, rows = np.array(mover.slots).T
    changed = {
        index: with_values(track, own, points, rows[components == index], numbers[components == index])
        for index, (own, points) in own_points(track).items()
        if index in components
    }
    put_own_keys(channels, track, changed)
