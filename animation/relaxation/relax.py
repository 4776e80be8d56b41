# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation of keys: the least change, or the motion of least effort, with which a condition holds.

The condition holds at every frame and between frames.

Source: docs/formulas, "Relaxation" and "Least effort".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal

import bpy
import numpy as np

from ...interp import relaxation, rotations
from ..arguments import FrameRange, Parameters, Point, Positive, checked
from ..bake.pipeline import rebake
from ..bake.plans.splines import quaternions_of
from ..datablocks import bone_path
from ..edit.own_curves import own_points, save_own_keys
from ..edit.track_keys import TrackKeys, keys_of
from ..errors import IN_RADIANS, AnimationError, Finding, as_dict, size_of
from ..fcurves.channels import Channels, channels_of, evaluate_anew, users_of_channels
from ..fcurves.editable import check_editable, editable_channels
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import Keyframes, read_coordinates
from ..number_text import size_text
from ..options import RELAX
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.properties import STEP, Values, all_keys, between, keys_around, sampled_frames
from ..store.table.options import Options
from ..store.tracks import Track, find_tracks
from ..translation import counted, n_, rpt_
from .relaxed_motion import Motion, Mover, Part, to_come
from .wanted_conditions import Wanted

_FINER = 4
"""The density of the samples with which the result is checked, relative to that of the samples it is computed with."""
_MOST_SPANS = 20_000
"""The most spans of frames over which an effort is summed; for longer motions the spans are wider."""
Least = Literal["CHANGE", "EFFORT"]


@dataclass
class Relaxation:
    """The result of a relaxation; errors are in world units, or for rotation limits in radians."""

    name: str
    tracks: int
    keys: int
    before: float
    before_frame: float
    after: float
    after_frame: float
    tolerance: float
    moved: float = 0.0
    """The largest distance by which a key's location was changed."""
    turned: float = field(default=0.0, metadata=IN_RADIANS)
    """The largest angle by which a key's rotation was changed, radians."""
    change: float = 0.0
    """The root of the sum of squares of all changes, each as the distance by which it moves the point: what CHANGE
    minimizes."""
    effort_before: float = 0.0
    """The integral of the squared accelerations of the tracks whose keys may change; angular ones as distances by which
    they move the point. World units squared, per frame cubed."""
    effort: float = 0.0
    """The effort after the relaxation."""
    samples: int = 0
    around: tuple[float | None, float | None] = (None, None)
    """Keys on both sides of the frame where the error is largest now."""
    notes: list[Finding] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        """Return whether the error is within the tolerance."""
        return self.after <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it: angles in degrees, findings with their messages."""
        return {**as_dict(self), "reached": self.reached}

    def __str__(self) -> str:
        return f'"{self.name}": {self._message}'

    @property
    def _message(self) -> str:
        if not self.keys:
            text = n_("nothing to change: the largest error was {:s} (frame {:g})")
            return rpt_(text, size_text(self.before), self.before_frame)
        errors = rpt_(
            "the largest error was {before:s} (frame {before_frame:g}), is {after:s} (frame {after_frame:g},"
            " {samples:,} samples)",
            before=size_text(self.before),
            before_frame=self.before_frame,
            after=size_text(self.after),
            after_frame=self.after_frame,
            samples=self.samples,
        )
        ways = [rpt_("moved by up to {:s}", size_text(self.moved))] if self.moved else []
        ways += [rpt_("turned by up to {:s}", size_text(self.turned, is_angle=True))] if self.turned else []
        ways += [rpt_("{:s} in all", size_text(self.change))] if self.change else []
        how = ", ".join(ways) or rpt_("as they were")
        keys = counted(self.keys, n_("{:,} key {:s}"), n_("{:,} keys {:s}"), how)
        effort = rpt_("effort {:s}, before {:s}", size_text(self.effort), size_text(self.effort_before))
        return f"{errors}; {keys}; {effort}"


@checked
def relax(  # noqa: PLR0913
    item: bpy.types.Object,
    wanted: Wanted,
    keys: Sequence[float] | Sequence[TrackKeys],
    *,
    bone: str = "",
    point: Point = (0.0, 0.0, 0.0),
    tracks: Iterable[str] = ("location", "rotation"),
    tolerance: Positive = RELAX["tolerance"].default,
    frame_range: FrameRange | None = None,
    keep_best: bool = RELAX["keep_best"].default,
    least: Least = RELAX["least"].default,
    weights: Mapping[str, Positive] | None = None,
    defaults: Parameters | None = None,
    scene: bpy.types.Scene | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Relaxation:
    """Change keys until a condition holds within the tolerance, with the least change or to the least effort.

    Baked tracks are baked again.

    Parameters
    ----------
    item : bpy.types.Object
        The object, or the armature of the bone.
    wanted : StaysAt, StaysAbove, KeepsApart or TurnsWithin
        The condition.
    keys : sequence of float, or of TrackKeys
        Frames of the keys that may change, of `tracks` of the object or bone; or keys of any location and rotation
        tracks that move it, also of its parents, as `track_keys` returns them.
    bone : str
        A bone of the armature `item`.
    point : sequence of 3 floats
        The point for which the condition must hold, in the axes of the object or bone.
    tracks : iterable of str
        The tracks of `keys`, if these are frames.
    tolerance : float
        The largest error that is allowed.
    frame_range : (float, float), optional
        The frames in which it must hold. Default: the scene's frames, extended by keys before and after.
    keep_best : bool
        Change the keys also where the tolerance can't be reached, as far as it helps.
    least : {"CHANGE", "EFFORT"}
        What is minimized: the changes of keys, or the integral of the squared accelerations of their tracks. For EFFORT
        keys are changed also where the condition holds already.
    weights : mapping of str to float, optional
        Factors of changes and accelerations, by the names of bones or objects.
    defaults : mapping, optional
        Parameters of keys that have none of their own, where the track is not baked.
    scene : bpy.types.Scene, optional
        The scene whose frames are used. Default: the open one.
    progress : callable, optional
        Called with the rounds done, and the most there may be.

    Raises
    ------
    AnimationError
        A track can't be changed or is not TCB, something other than F-curves and parents moves it, the target is the
        object or bone itself, or the tolerance can't be reached: the text names the frame and the error that remains.
        Nothing was changed.
    ValueError
        The tolerance or the point is not finite, the tolerance or a weight is not positive, `least` is neither, or the
        range is empty.

    Notes
    -----
    The effort is that of all frames from the first key to the last, also where the condition must hold in a part of
    them only. A jump of the velocity at a key, such as a corner's, is not included.

    Examples
    --------
    >>> report = animation.enable(rig, keep_look=False)
    >>> wanted = animation.StaysAbove(height=0.5)
    >>> done = animation.relax(rig, wanted, [20, 30], bone="foot.L", tracks=["location"])
    >>> done.reached, done.keys, round(done.before, 2)
    (True, 2, 0.72)
    """
    for owner, name in ((item, bone), *wanted.targets):
        if name and (owner.pose is None or name not in owner.pose.bones):
            raise AnimationError(Finding("NO_BONE", owner.name, arguments=(name,)))
    if (item, bone) in wanted.targets:
        if bone:
            raise AnimationError(Finding("RELAX_OWN_BONE", item.name, arguments=(bone,)))
        raise AnimationError(Finding("RELAX_ITSELF", item.name))
    seen = scene or bpy.context.scene
    assert seen is not None
    chosen = [each for each in keys if isinstance(each, TrackKeys)]
    if len(chosen) < len(keys):
        chosen = _keys_at(item, bone, tracks, [float(frame) for frame in keys if not isinstance(frame, TrackKeys)])
    movers = [Mover(each, defaults or {}) for each in chosen if len(each)]
    if not movers:
        raise AnimationError(Finding("RELAX_NO_KEY", item.name))
    movers += to_come(movers, item, bone, defaults or {})
    part = Part(item, bone, np.array(point, dtype=np.float64))
    owners: list[bpy.types.ID] = [
        item,
        *(mover.datablock for mover in movers),
        *(target for target, _ in wanted.targets),
    ]
    unknown_names = set(weights or {}) - {mover.owner_name for mover in movers}
    if unknown_names:
        raise AnimationError(Finding("RELAX_WEIGHT", item.name, arguments=(min(unknown_names),)))
    for mover in movers:
        mover.weight = (weights or {}).get(mover.owner_name, 1.0)
    try:
        return _relax(
            part, wanted, movers, seen, dict.fromkeys(owners), frame_range, tolerance, keep_best, least, progress
        )
    except UnknownMotionError as unknown:
        raise AnimationError(Finding("RELAX_UNKNOWN", item.name, arguments=(unknown.finding,))) from unknown


def _relax(  # noqa: PLR0913
    part: Part,
    wanted: Wanted,
    movers: list[Mover],
    scene: bpy.types.Scene,
    owners: Iterable[bpy.types.ID],
    frame_range: tuple[float, float] | None,
    tolerance: float,
    keep_best: bool,
    least: Least,
    progress: Callable[[int, int], None] | None,
) -> Relaxation:
    owners = list(owners)
    moved = np.concatenate([all_keys(mover.datablock) for mover in movers])
    ends = float(moved.min()), float(moved.max())
    throughout = sampled_frames(scene, owners, ends, max(STEP, (ends[1] - ends[0]) / _MOST_SPANS))
    finer = sampled_frames(scene, owners, frame_range, STEP / _FINER)
    judge = Motion(part, wanted, movers, scene, finer, throughout)
    start = np.concatenate([mover.start for mover in movers])
    before = judge.errors(start)
    finite = np.isfinite(before)
    if not finite.all():
        frame = float(judge.frames[np.argmin(finite)])
        raise AnimationError(Finding("RELAX_NOT_FINITE", part.name, frame=frame))
    numbers = start
    if before.max() > tolerance or least == "EFFORT":
        coarse = Motion(part, wanted, movers, scene, sampled_frames(scene, owners, frame_range, STEP), throughout)
        numbers = _relaxed(coarse, judge, start, tolerance, least, progress)
    after = judge.errors(numbers)
    worst, last = int(np.argmax(before)), int(np.argmax(after))
    keys = np.unique(moved)
    result = Relaxation(
        part.name,
        sum(len(mover.keys) > 0 for mover in movers),
        sum(len(mover.keys) for mover in movers),
        float(before[worst]),
        float(judge.frames[worst]),
        float(after[last]),
        float(judge.frames[last]),
        tolerance,
        samples=len(judge.frames),
        around=keys_around(keys, float(judge.frames[last])),
    )
    if (numbers == start).all():
        return replace(result, tracks=0, keys=0)
    if not result.reached and not (keep_best and result.after < result.before):
        raise _not_reached(result)
    result.moved, result.turned = _ways(movers, start, numbers)
    result.change = float(np.linalg.norm(judge.costs()[0] * (numbers - start)))
    result.effort_before, result.effort = (float((judge.effort(each) ** 2).sum()) for each in (start, numbers))
    result.notes = _write(movers, numbers)
    return result


def _not_reached(result: Relaxation) -> AnimationError:
    tolerance, after, before = map(size_of, (result.tolerance, result.after, result.before))
    values = tolerance, after, result.after_frame, between(result.around), before
    return AnimationError(Finding("RELAX_NOT_REACHED", result.name, arguments=values))


def _relaxed(
    coarse: Motion,
    judge: Motion,
    start: Values,
    tolerance: float,
    least: Least,
    progress: Callable[[int, int], None] | None,
) -> Values:
    """Return numbers with which the condition holds, or comes nearest to it; at finer frames where it needs them."""
    numbers = start
    for motion in (coarse, judge):
        weights, longest = motion.costs()
        effort = motion.effort if least == "EFFORT" else None
        found = relaxation.relax(motion.excess, start, tolerance, weights, longest, progress=progress, effort=effort)
        numbers = found.numbers.astype(np.float32).astype(np.float64)
        if judge.errors(numbers).max() <= tolerance or not found.reached:
            break
    return numbers


def _keys_at(item: Any, bone: str, tracks: Iterable[str], frames: Sequence[float]) -> list[TrackKeys]:
    """Return the keys at these frames of the named tracks; raise AnimationError where a frame has no key."""
    check_editable(item)
    prefix = f"{bone_path(item.pose.bones[bone])}." if bone else ""
    names = set(tracks)
    found = []
    for track in find_tracks(item, channels_of(item)):
        last = track.path.removeprefix(prefix)
        name = "rotation" if track.is_rotation and last.startswith("rotation") else last
        if track.path == prefix + last and name in names and track.in_use:
            keys = keys_of(item, track)
            near = (np.abs(keys.frames[:, np.newaxis] - np.array(frames)) <= SAME_FRAME).any(axis=1)
            found.append(keys.take(near))
    for frame in frames:
        if not any((np.abs(keys.frames - frame) <= SAME_FRAME).any() for keys in found):
            paths = sorted(prefix + name for name in names)
            either = reduce(lambda others, path: rpt_("{:s} or {:s}", others, path), paths) if paths else ""
            raise AnimationError(Finding("NO_KEY_AT_FRAME", item.name, either, frame))
    return found


def _ways(movers: Sequence[Mover], start: Values, numbers: Values) -> tuple[float, float]:
    """Return the largest distance a location key was moved, and the largest angle a rotation key was turned."""
    moved = turned = 0.0
    ends = np.cumsum([len(mover.slots) for mover in movers])[:-1]
    for mover, before, after in zip(movers, np.split(start, ends), np.split(numbers, ends), strict=True):
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
    """Write the numbers into the keys, and play again the tracks that were played; return notes for the user."""
    notes: list[Finding] = []
    by_datablock: dict[Any, list[tuple[Mover, Values]]] = {}
    ends = np.cumsum([len(mover.slots) for mover in movers])[:-1]
    for mover, own in zip(movers, np.split(numbers, ends), strict=True):
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
    """Write the numbers into the track's own keys: those on its F-curves, or the saved keys of a baked track."""
    of_component: dict[int, list[tuple[int, float]]] = {index: [] for index in track.channels}
    for (component, row), number in zip(mover.slots, numbers.tolist(), strict=True):
        of_component[component].append((row, number))
    if track.is_baked:
        points = own_points(track)
        save_own_keys(
            channels, track, {index: _with_values(points[index][1], own) for index, own in of_component.items() if own}
        )
        return
    for index, fcurve in track.channels.items():
        own = of_component[index]
        frames = read_coordinates(fcurve)[::2]
        for row, number in own:
            frame = mover.originals[index].keys.frames[row]
            point = fcurve.keyframe_points[int(np.argmin(np.abs(frames - frame)))]
            # Setting co_ui moves the handles along. A key that the curve shows elsewhere moves by the same difference.
            was = float(mover.originals[index].keys.values[row])
            point.co_ui = (point.co.x, number if point.co.y == was else point.co.y + (number - was))
        if own:
            fcurve.update()


def _with_values(keys: Keyframes, values: Sequence[tuple[int, float]]) -> Keyframes:
    """Return the keys with other values, given by row; handles move along."""
    co, left, right = keys.co.copy(), keys.handle_left.copy(), keys.handle_right.copy()
    for row, value in values:
        change = np.float32(value) - co[row, 1]
        co[row, 1] = value
        left[row, 1] += change
        right[row, 1] += change
    return keys.with_(co=co, handle_left=left, handle_right=right)
