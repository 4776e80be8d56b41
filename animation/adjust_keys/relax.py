# SPDX-License-Identifier: GPL-3.0-or-later
"""Adjust Keys to Condition: find the smallest changes of keys with which a condition holds, also between frames.

Source: docs/formulas, "Relaxation".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import bpy
import numpy as np

from ...interp.fitting.least_squares import Method, descend
from ..arguments import FrameRange, Parameters, Point, Positive, checked
from ..bake.pipeline import rebake
from ..edit.keys import own_points, with_values, write_own_keys
from ..fcurves.channels import editable_channels, evaluate_anew, users_of_channels
from ..report import IN_RADIANS, AnimationError, Finding, JsonResult, size_of
from ..sampling.properties import STEP, Values, sampled_frames
from ..sampling.transforms import UnknownMotionError
from ..store.find_tracks import find_tracks
from ..store.table.track_records import Options
from ..text import counted, n_, rpt_, size_text
from .relaxed_motion import Condition, Motion, Mover, target_of

TOLERANCE = 1e-3
"""The default maximum error, in world units, or in radians for rotation limits."""
_FINER = 4
"""The sampling density used to check the result, relative to the density used to compute it."""
_AIM = 0.5
"""The fraction of the tolerance up to which errors do not count."""
_PENALTIES = (1.0, 1e2, 1e4, 1e6, 1e8)
"""The weight of squared errors in each round, relative to the squared changes of keys."""
_METHOD = Method(steps=50, least_gain=1e-2)


@dataclass
class Relaxation(JsonResult):
    """The result of a relaxation. Errors are in world units, or in radians for rotation limits."""

    name: str
    keys: int
    """The number of changed keys, or 0 if the condition already held."""
    before: float
    """The maximum error before the relaxation, at `before_frame`."""
    before_frame: float
    after: float
    """The maximum error after the relaxation, at `after_frame`."""
    after_frame: float
    moved: float = 0.0
    """The maximum distance by which the location of a key was changed."""
    turned: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum angle by which the rotation of a key was changed, in radians."""
    notes: list[Finding] = field(default_factory=list)
    """Notes, and the errors of tracks that could not be rebaked although their keys were changed."""

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
    keys: Mapping[bpy.types.ID, Mapping[str, Sequence[float]]],
    *,
    bone: str = "",
    point: Point = (0.0, 0.0, 0.0),
    tolerance: Positive = TOLERANCE,
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
    keys : mapping
        The frames of the keys that may change, by datablock and by path as for `find_track`. The tracks must be
        location and rotation tracks of the object, the bone or their parents.
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
        Called at each step with the number of finished rounds and the maximum number of rounds.

    Raises
    ------
    AnimationError
        No keys are given, a bone does not exist, a track can't be changed or is not TCB, or something other than
        F-curves and parents moves the object. The error is also raised if the target is the object or bone itself, or
        if the tolerance can't be reached. The message then gives the frame and the remaining error.
        Nothing was changed.
    ValueError
        The tolerance or the point is not finite, the tolerance is not positive, or the range is empty.

    Examples
    --------
    >>> report = animation.enable(rig, keep_look=False)
    >>> keys = {rig: {'pose.bones["foot.L"].location': [20, 30]}}
    >>> result = animation.relax(rig, animation.StaysAbove(height=0.5), keys, bone="foot.L")
    >>> result.keys, round(result.before, 2)
    (2, 0.72)
    """
    target = target_of(condition)
    _check_point(item, bone, target)
    movers = [
        Mover(datablock, path, frames, defaults or {})
        for datablock, frames_by_path in keys.items()
        for path, frames in frames_by_path.items()
        if frames
    ]
    if not movers:
        raise AnimationError(Finding("RELAX_NO_KEY", item.name))
    scene = scene or bpy.context.scene
    assert scene is not None
    owners = [item, *(mover.datablock for mover in movers), *([] if target is None else [target[0]])]
    try:
        coarse_frames, fine_frames = (
            sampled_frames(scene, owners, frame_range, step) for step in (STEP, STEP / _FINER)
        )
        fine = Motion(item, bone, point, condition, movers, scene, fine_frames)
        return _relax(fine.at(np.isin(fine_frames, coarse_frames)), fine, tolerance, progress)
    except UnknownMotionError as unknown:
        raise AnimationError(Finding("RELAX_UNKNOWN", item.name, arguments=(unknown.finding,))) from unknown


def _check_point(item: bpy.types.Object, bone: str, target: tuple[bpy.types.Object, str] | None) -> None:
    """Raise AnimationError if a bone does not exist, or if the object or bone is its own target."""
    for owner, name in [(item, bone)] if target is None else [(item, bone), target]:
        if name and (owner.pose is None or name not in owner.pose.bones):
            raise AnimationError(Finding("NO_BONE", owner.name, arguments=(name,)))
    if target == (item, bone):
        raise AnimationError(Finding("RELAX_ITSELF", item.name))


def _relax(coarse: Motion, fine: Motion, tolerance: float, progress: Callable[[int, int], None] | None) -> Relaxation:
    """Find and write the smallest changes. Errors are checked on the `fine` motion, which has more samples."""
    name = fine.bone or fine.item.name
    before, before_frame = _largest_error(fine, [mover.start for mover in fine.movers])
    if before <= tolerance:
        return Relaxation(name, 0, before, before_frame, before, before_frame)
    key_values_of_movers = _relaxed_key_values(coarse, fine, tolerance, progress)
    after, after_frame = _largest_error(fine, key_values_of_movers)
    if after > tolerance:
        sizes = size_of(tolerance), size_of(after), after_frame, size_of(before)
        raise AnimationError(Finding("RELAX_NOT_REACHED", name, arguments=sizes))
    changes = list(zip(fine.movers, key_values_of_movers, strict=True))
    result = Relaxation(name, 0, before, before_frame, after, after_frame)
    for mover, key_values in changes:
        result.keys += mover.changed_key_count(key_values)
        change = mover.largest_change(key_values)
        if mover.track.is_rotation:
            result.turned = max(result.turned, change)
        else:
            result.moved = max(result.moved, change)
    result.notes = _write(changes)
    return result


def _largest_error(motion: Motion, key_values_of_movers: Sequence[Values]) -> tuple[float, float]:
    """Return the maximum error and its frame. Raise AnimationError if an error is not finite."""
    errors = motion.errors(key_values_of_movers)
    is_finite = np.isfinite(errors)
    if not is_finite.all():
        frame = float(motion.frames[np.argmin(is_finite)])
        raise AnimationError(Finding("RELAX_NOT_FINITE", motion.bone or motion.item.name, frame=frame))
    return float(errors.max()), float(motion.frames[np.argmax(errors)])


def _relaxed_key_values(
    coarse: Motion, fine: Motion, tolerance: float, progress: Callable[[int, int], None] | None
) -> list[Values]:
    """Return the key values of each mover that satisfy the condition, or the values of the last round."""
    motion, finished_rounds = coarse, 0
    x = np.zeros((sum(len(mover.start) for mover in fine.movers), 1))
    while finished_rounds < len(_PENALTIES):
        motion.aim, motion.penalty = _AIM * tolerance, _PENALTIES[finished_rounds]
        motion.on_step = partial(progress, finished_rounds, len(_PENALTIES)) if progress else None
        x = descend(motion, x, -np.inf, np.inf, _METHOD).x
        key_values = [values.astype(np.float32).astype(np.float64) for values in motion.key_values(x)]
        if motion.errors(key_values).max() > tolerance:
            finished_rounds += 1
        # If the condition does not hold between the coarse frames, the last round is repeated at the fine frames.
        elif motion is coarse and fine.errors(key_values).max() > tolerance:
            motion = fine
        else:
            break
    return key_values


def _write(changes: Sequence[tuple[Mover, Values]]) -> list[Finding]:
    """Write the values into the keys, update the tracks that were played before, and return notes."""
    notes: list[Finding] = []
    # A datablock that can't be edited raises an error before any key is changed.
    datablocks = dict.fromkeys(mover.datablock for mover, _ in changes)
    channels_of_datablocks = {datablock: editable_channels(datablock, notes) for datablock in datablocks}
    for datablock, channels in channels_of_datablocks.items():
        tracks = {track.path: track for track in find_tracks(datablock, channels)}
        played_tracks = []
        for mover, key_values in changes:
            if mover.datablock != datablock:
                continue
            track = tracks[mover.track.path]
            points, values = own_points(track), mover.by_component(key_values)
            changed_keys = {
                index: with_values(track, *points[index], rows, values[index]) for index, rows in mover.rows.items()
            }
            write_own_keys(channels, track, changed_keys)
            if track.is_played:
                played_tracks.append(track)
        (users,) = users_of_channels([channels])
        report = rebake(users or [datablock], channels, played_tracks, Options())
        notes += [*report.errors, *report.notes]
        evaluate_anew(channels.action)
    return notes
