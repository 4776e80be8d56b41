# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation of keys: the least change, or the motion of least effort, with which a condition holds.

The condition holds at every frame and between frames.

Source: docs/formulas.md, "Relaxation" and "Least effort".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal

import bpy
import numpy as np

from ...interp import evaluate_many, relaxation, retiming, rotations
from ..arguments import FrameRange, NotNegative, Parameters, Point, Positive, check_fields, checked
from ..bake.pipeline import rebake
from ..bake.plans.splines import TrackSpline, quaternions_of, track_splines
from ..datablocks import bone_path
from ..edit.selected_keys import TrackKeys, keys_of
from ..errors import AnimationError
from ..fcurves.channels import channels_of, users_of_channels
from ..fcurves.editable import check_editable, editable_channels
from ..fcurves.frames import SAME_FRAME, is_among
from ..fcurves.keyframes import read_coordinates
from ..sampling.depsgraph import DepsgraphSampler
from ..sampling.properties import STEP, Values, all_keys, between, keys_around, sampled_frames
from ..sampling.transforms import Frames, Matrices, TransformSampler, UnknownMotionError
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys, read_own_keys
from ..store.table.options import Options
from ..store.tracks import EULER_ORDERS, Track, blocking_reason, find_tracks
from ..translation import counted, n_, rpt_

TOLERANCE = 1e-3
"""World units, or for rotation limits radians."""
_FINER = 4
"""The density of the samples with which the result is checked, relative to that of the samples it is computed with."""
_LONGEST_TURN = 0.3
"""Radians. The path of a point is nearly straight for such a rotation."""
_CUBE = math.sqrt(3.0)
"""A point within 1 / this in each of three directions is within 1."""

_GAUSS = 0.5 / math.sqrt(3.0)
"""Distances from an interval's middle, relative to its length: two points there integrate cubics exactly, and so the
squares of linear accelerations."""

_MOST_SPANS = 20_000
"""The most spans of frames over which an effort is summed; for longer motions the spans are wider."""

Least = Literal["CHANGE", "EFFORT"]


@dataclass(frozen=True)
class StaysAt:
    """The condition that the point stays at a point of another object, or of a bone of it.

    Examples
    --------
    >>> wanted = animation.StaysAt(ball, point=(0.0, 0.0, 1.0))
    """

    target: bpy.types.Object
    bone: str = ""
    point: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class StaysAbove:
    """The condition that the point stays at least `height` units above a plane: an object's XY plane or the world's.

    Examples
    --------
    >>> wanted = animation.StaysAbove(height=0.5)
    """

    plane: bpy.types.Object | None = None
    height: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class KeepsApart:
    """The condition that the point keeps at least this distance from a point of another object, or of a bone of it.

    Examples
    --------
    >>> wanted = animation.KeepsApart(ball, distance=2.0)
    """

    target: bpy.types.Object
    distance: NotNegative
    bone: str = ""
    point: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TurnsWithin:
    """The condition that the object's or bone's own rotation stays within limits.

    The limits are of Euler angles in its rotation order (XYZ where it has none), radians from -pi to pi; None: no
    limit.

    Examples
    --------
    >>> wanted = animation.TurnsWithin(low=(-1.5, None, None), high=(1.5, None, None))
    """

    low: tuple[float | None, float | None, float | None] = (None, None, None)
    high: tuple[float | None, float | None, float | None] = (None, None, None)

    def __post_init__(self) -> None:
        check_fields(self)
        for axis, low, high in zip("XYZ", self.low, self.high, strict=True):
            if low is not None and high is not None and low > high:
                raise ValueError(rpt_("low {0:s} {1:g} is above high {0:s} {2:g}", axis, low, high))


Wanted = StaysAt | StaysAbove | KeepsApart | TurnsWithin


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
    turned: float = 0.0
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
    notes: list[str] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        """Return whether the error is within the tolerance."""
        return self.after <= self.tolerance

    def __str__(self) -> str:
        return f'"{self.name}": {self._said}'

    @property
    def _said(self) -> str:
        if not self.keys:
            text = n_("nothing to change: the largest error was {:.4g} (frame {:g})")
            return rpt_(text, self.before, self.before_frame)
        errors = rpt_(
            "the largest error was {before:.4g} (frame {before_frame:g}), is {after:.4g} (frame {after_frame:g},"
            " {samples:,} samples)",
            before=self.before,
            before_frame=self.before_frame,
            after=self.after,
            after_frame=self.after_frame,
            samples=self.samples,
        )
        ways = [rpt_("moved by up to {:.4g}", self.moved)] if self.moved else []
        ways += [rpt_("turned by up to {:.3g} degrees", math.degrees(self.turned))] if self.turned else []
        ways += [rpt_("{:.3g} in all", self.change)] if self.change else []
        how = ", ".join(ways) or rpt_("as they were")
        keys = counted(self.keys, n_("{:,} key {:s}"), n_("{:,} keys {:s}"), how)
        effort = rpt_("effort {:.3g}, before {:.3g}", self.effort, self.effort_before)
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
    tolerance: Positive = TOLERANCE,
    frame_range: FrameRange | None = None,
    keep_best: bool = False,
    least: Least = "CHANGE",
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
    >>> report = animation.enable(rig)
    >>> wanted = animation.StaysAbove(height=0.5)
    >>> done = animation.relax(rig, wanted, [20, 30], bone="foot.L", tracks=["location"])
    >>> done.reached, done.keys, round(done.before, 2)
    (True, 2, 0.72)
    """
    for owner, name in ((item, bone), *((target, _target_bone(wanted)) for target in _targets(wanted))):
        if name and (owner.pose is None or name not in owner.pose.bones):
            raise AnimationError(owner.name, rpt_("it has no bone {!r}", name))
    if item in _targets(wanted) and _target_bone(wanted) == bone:
        if bone:
            raise AnimationError(item.name, rpt_("the target is the bone {!r} itself: choose another", bone))
        raise AnimationError(item.name, rpt_("the target is the object itself: choose another"))
    seen = scene or bpy.context.scene
    assert seen is not None
    chosen = [each for each in keys if isinstance(each, TrackKeys)]
    if len(chosen) < len(keys):
        chosen = _keys_at(item, bone, tracks, [float(frame) for frame in keys if not isinstance(frame, TrackKeys)])
    movers = [_Mover(each, defaults or {}) for each in chosen if len(each)]
    if not movers:
        raise AnimationError(item.name, rpt_("no key was chosen that may change"), nothing_to_do=True)
    movers += _to_come(movers, item, bone, defaults or {})
    part = _Part(item, bone, np.array(point, dtype=np.float64))
    owners: list[bpy.types.ID] = [item, *(mover.datablock for mover in movers), *_targets(wanted)]
    unknown_names = set(weights or {}) - {mover.owner_name for mover in movers}
    if unknown_names:
        raise AnimationError(
            item.name, rpt_("no key that may change is of {!r}, which has a weight", min(unknown_names))
        )
    for mover in movers:
        mover.weight = (weights or {}).get(mover.owner_name, 1.0)
    try:
        return _relax(
            part, wanted, movers, seen, dict.fromkeys(owners), frame_range, tolerance, keep_best, least, progress
        )
    except UnknownMotionError as unknown:
        raise AnimationError(
            item.name, rpt_("{:s}: only what F-curves and parents move can be relaxed", str(unknown))
        ) from unknown


def _relax(  # noqa: PLR0913
    part: _Part,
    wanted: Wanted,
    movers: list[_Mover],
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
    judge = _Motion(part, wanted, movers, scene, finer, throughout)
    start = np.concatenate([mover.start for mover in movers])
    before = judge.errors(start)
    finite = np.isfinite(before)
    if not finite.all():
        frame = float(judge.frames[np.argmin(finite)])
        raise AnimationError(part.name, rpt_("how far it is from what is wanted is not a finite number"), frame=frame)
    numbers = start
    if before.max() > tolerance or least == "EFFORT":
        coarse = _Motion(part, wanted, movers, scene, sampled_frames(scene, owners, frame_range, STEP), throughout)
        for motion in (coarse, judge):
            weights, longest = motion.costs()
            effort = motion.effort if least == "EFFORT" else None
            found = relaxation.relax(
                motion.excess, start, tolerance, weights, longest, progress=progress, effort=effort
            )
            numbers = found.numbers.astype(np.float32).astype(np.float64)
            if judge.errors(numbers).max() <= tolerance or not found.reached:
                break
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
        raise AnimationError(
            part.name,
            rpt_(
                "with these keys the error can't come under {tolerance:g}: {after:.4g} is left at frame {frame:g}"
                "{around:s}, of {before:.4g} before; nothing was changed",
                tolerance=tolerance,
                after=result.after,
                frame=result.after_frame,
                around=between(result.around),
                before=result.before,
            ),
        )
    result.moved, result.turned = _ways(movers, start, numbers)
    result.change = float(np.linalg.norm(judge.costs()[0] * (numbers - start)))
    result.effort_before, result.effort = (float((judge.effort(each) ** 2).sum()) for each in (start, numbers))
    result.notes = _write(movers, numbers)
    return result


@dataclass(frozen=True)
class _Part:
    """The point of an object or bone for which the condition must hold."""

    item: Any
    bone: str
    point: Values

    @property
    def name(self) -> str:
        return self.bone or str(self.item.name)


class _Mover:
    """A track that moves by its spline; some of its keys may change, or none."""

    def __init__(self, keys: TrackKeys, defaults: Mapping[str, float]) -> None:
        check_editable(keys.datablock)
        self.keys = keys
        self.datablock: bpy.types.ID = keys.datablock
        self.track = track = keys.track
        reason = blocking_reason(track)
        if reason:
            raise track.error(reason)
        if not track.enabled:
            raise track.error(rpt_("not a TCB track; enable it first"))
        self.prefix, self.name = _split(track)
        self.settings = track.settings
        self.function = function_of(track)
        self.defaults = self.settings.options.defaults if track.baked and self.settings.options else defaults
        kept = read_own_keys(track)
        self.originals = {
            index: replace(own, keys=own.keys.with_(co=own.keys.co.astype(np.float64))) for index, own in kept.items()
        }
        if track.is_rotation and len(keys) and len({own.keys.frames.tobytes() for own in self.originals.values()}) > 1:
            raise track.error(rpt_("its channels are keyed at different frames; key them together first"))
        self.slots = [
            (index, row)
            for index, own in sorted(self.originals.items())
            for row in np.flatnonzero(is_among(own.keys.frames, keys.frames)).tolist()
        ]
        """Component and row of each number that may change."""
        self.start = np.array([self.originals[index].keys.values[row] for index, row in self.slots])
        self.weight = 1.0
        """The factor of its changes and accelerations."""

    @property
    def place(self) -> tuple[int, str]:
        """Return the key under which `TransformSampler` takes its motion."""
        return self.datablock.session_uid, self.prefix + self.name

    @property
    def bone(self) -> str:
        return _bone_of(self.datablock, self.prefix)

    @property
    def owner_name(self) -> str:
        """Return the name of the bone, or else of the object."""
        return self.bone or str(self.datablock.name)

    def accelerations(self, numbers: Values, frames: Frames) -> Values:
        """Return the accelerations of locations, or angular ones, shape (m, components)."""
        splines = self.splines(numbers)
        if self.function is None:
            return np.concatenate(evaluate_many([each.spline for each in splines], frames, 2), axis=1)
        at, rates, changes = self.function.with_rates(frames)
        return np.concatenate([retiming.retimed(each.spline, at, 2, rates, changes) for each in splines], axis=1)

    def splines(self, numbers: Values) -> list[TrackSpline]:
        """Return the splines with these numbers in the keys that may change."""
        changed: dict[int, OwnKeys] = {}
        for index, own in self.originals.items():
            move = np.zeros_like(own.keys.co)
            for number, (component, row) in zip(numbers, self.slots, strict=True):
                if component == index:
                    move[row, 1] = number - own.keys.values[row]
            # Handles move with their keys.
            places = {name: getattr(own.keys, name) + move for name in ("co", "handle_left", "handle_right")}
            changed[index] = replace(own, keys=own.keys.with_(**places))
        return track_splines(self.track, self.settings, changed, self.defaults)

    def motion(self, splines: Sequence[TrackSpline], values: Sequence[Values], count: int) -> Values:
        """Return the locations or quaternions from the splines' values at `count` frames."""
        if self.track.is_rotation:
            return values[0]
        still = [self.track.component(index) for index in range(len(self.track.rest))]
        whole = np.tile(np.array(still, dtype=np.float64), (count, 1))
        for spline, own in zip(splines, values, strict=True):
            whole[:, spline.components] = own
        return whole

    def raw(self, numbers: Values) -> Values:
        """Return the keys of a rotation that may change, as channel values, shape (keys, components)."""
        (spline,) = self.splines(numbers)
        return spline.values[is_among(spline.frames, self.keys.frames)]


def _to_come(movers: Sequence[_Mover], item: Any, bone: str, defaults: Mapping[str, float]) -> list[_Mover]:
    """Return movers for other tracks of the same objects and bones that are TCB but not baked yet.

    Their motion will change with the next bake.
    """
    own = bone_path(item.pose.bones[bone]) + "." if bone else ""
    places = dict.fromkeys([(mover.datablock, mover.prefix) for mover in movers] + [(item, own)])
    chosen = {(mover.datablock, mover.track.path) for mover in movers}
    found = []
    for datablock, prefix in places:
        try:
            tracks = find_tracks(datablock, channels_of(datablock), [prefix])
        except AnimationError:
            continue
        for track in tracks:
            moves = track.path == f"{prefix}location" or (
                track.is_rotation and track.path.startswith(f"{prefix}rotation")
            )
            to_come = track.enabled and not track.baked and not blocking_reason(track)
            if moves and to_come and (datablock, track.path) not in chosen:
                keys = keys_of(datablock, track)
                found.append(_Mover(keys.take(np.zeros(len(keys), dtype=np.bool_)), defaults))
    return found


def _split(track: Track) -> tuple[str, str]:
    """Return the path prefix of the track's owner, and `location` or `rotation`; raise AnimationError for others."""
    owner, _, last = track.path.rpartition(".")
    prefix = f"{owner}." if owner else ""
    if last == "location":
        return prefix, last
    if track.is_rotation and last.startswith("rotation"):
        return prefix, "rotation"
    raise track.error(rpt_("only keys of location and rotation can be relaxed"))


def _bone_of(datablock: Any, prefix: str) -> str:
    if not prefix:
        return ""
    bones = datablock.pose.bones if datablock.pose else ()
    return next((bone.name for bone in bones if f"{bone_path(bone)}." == prefix), "")


class _Motion:
    """Errors at `frames`, and effort `throughout` these, as functions of the numbers of all movers."""

    def __init__(
        self,
        part: _Part,
        wanted: Wanted,
        movers: Sequence[_Mover],
        scene: bpy.types.Scene,
        frames: Frames,
        throughout: Frames,
    ) -> None:
        self.part = part
        self.wanted = wanted
        self.movers = movers
        self.scene = scene
        self.frames = frames
        self.throughout = throughout
        self.world = TransformSampler(frames)
        self.ends = np.cumsum([len(mover.slots) for mover in movers])
        self._still: dict[tuple[int, str], Matrices] = {}
        self._times = {mover.place: frames if mover.function is None else mover.function(frames) for mover in movers}
        self._last: dict[tuple[int, str], tuple[bytes, Values]] = {}
        self._last_accelerations: dict[tuple[int, str], tuple[bytes, Values]] = {}

    def placed(self, numbers: Values) -> TransformSampler:
        """Return the world with these numbers in the keys."""
        pairs = zip(self.movers, self._split(numbers), strict=True)
        return self.world.with_moved({mover.place: self._moved(mover, own) for mover, own in pairs})

    def _moved(self, mover: _Mover, numbers: Values) -> Values:
        """Return the motion of the mover with these numbers.

        The last result is cached, since mostly one mover changes at a time.
        """
        last = self._last.get(mover.place)
        if last is not None and last[0] == numbers.tobytes():
            return last[1]
        splines = mover.splines(numbers)
        values = evaluate_many([each.spline for each in splines], self._times[mover.place])
        motion = mover.motion(splines, values, len(self.frames))
        self._last[mover.place] = numbers.tobytes(), motion
        return motion

    def _split(self, numbers: Values) -> list[Values]:
        return np.split(numbers, self.ends[:-1])

    @cached_property
    def _levers(self) -> list[float]:
        """Return how far each mover moves the point by one radian: 1 where that is nothing or makes no difference."""
        world = self.placed(np.concatenate([mover.start for mover in self.movers]))
        at = self._at(world, self.part.item, self.part.bone, self.part.point)
        levers = []
        for mover in self.movers:
            origin = world.matrices(mover.datablock, mover.bone)[:, :3, 3]
            lever = float(np.linalg.norm(at - origin, axis=1).max())
            levers.append(1.0 if isinstance(self.wanted, TurnsWithin) or lever < TOLERANCE else lever)
        return levers

    def costs(self) -> tuple[Values, Values]:
        """Return the cost of a change of each number, and the most by which a round may change it.

        The cost is the distance by which a change of 1 moves the point, times the mover's weight.
        """
        weights, longest = [], []
        for mover, lever in zip(self.movers, self._levers, strict=True):
            # A change of a unit quaternion by an angle is a rotation by twice that angle.
            turn = {"VECTOR": 1.0 / lever, "QUATERNION": 2.0}.get(mover.track.kind, 1.0)
            weights += [mover.weight * lever * turn] * len(mover.slots)
            longest += [_LONGEST_TURN / turn if mover.track.is_rotation else np.inf] * len(mover.slots)
        return np.array(weights), np.array(longest)

    def effort(self, numbers: Values) -> Values:
        """Return numbers whose sum of squares is the effort.

        It is the integral of squared accelerations of the tracks whose keys may change, as distances by which they move
        the point.
        """
        residuals = []
        for mover, lever, own in zip(self.movers, self._levers, self._split(numbers), strict=True):
            if mover.slots:
                size = mover.weight * (lever if mover.track.is_rotation else 1.0)
                residuals.append(size * self._accelerations(mover, own))
        return np.concatenate(residuals)

    def _accelerations(self, mover: _Mover, numbers: Values) -> Values:
        """Return the mover's accelerations times the roots of their quadrature weights; the last are cached."""
        last = self._last_accelerations.get(mover.place)
        if last is not None and last[0] == numbers.tobytes():
            return last[1]
        middles, spans = (self.throughout[1:] + self.throughout[:-1]) / 2.0, np.diff(self.throughout)
        frames = (middles + np.array([[-_GAUSS], [_GAUSS]]) * spans).ravel()
        roots = np.sqrt(np.tile(spans / 2.0, 2))
        weighted: Values = (mover.accelerations(numbers, frames) * roots[:, np.newaxis]).ravel()
        self._last_accelerations[mover.place] = numbers.tobytes(), weighted
        return weighted

    def errors(self, numbers: Values) -> Values:
        """Return the error at each frame, from 0."""
        excess = self.excess(numbers).reshape(-1, len(self.frames))
        if isinstance(self.wanted, StaysAt):
            missed: Values = np.linalg.norm(excess[:3], axis=0) / _CUBE
            return missed
        largest: Values = np.maximum(excess.max(axis=0), 0.0)
        return largest

    def excess(self, numbers: Values) -> Values:
        """Return numbers, one or more a frame, all below the tolerance only where the condition holds within it."""
        world = self.placed(numbers)
        wanted, part = self.wanted, self.part
        if isinstance(wanted, TurnsWithin):
            return self._beyond(wanted, world)
        at = self._at(world, part.item, part.bone, part.point)
        if isinstance(wanted, StaysAbove):
            if wanted.plane is None:
                return wanted.height - at[:, 2]
            plane = self._matrices(world, wanted.plane, "")
            normal = np.cross(plane[:, :3, 0], plane[:, :3, 1])
            size = np.linalg.norm(normal, axis=1, keepdims=True)
            if not size.all():
                frame = float(self.frames[np.argmin(size)])
                raise AnimationError(wanted.plane.name, rpt_("its scale is zero, so it has no plane"), frame=frame)
            normal /= size
            above: Values = wanted.height - np.einsum("ni,ni->n", at - plane[:, :3, 3], normal)
            return above
        miss = at - self._at(world, wanted.target, wanted.bone, np.array(wanted.point, dtype=np.float64))
        if isinstance(wanted, KeepsApart):
            near: Values = wanted.distance - np.linalg.norm(miss, axis=1)
            return near
        rows = _CUBE * miss.T
        return np.concatenate((rows, -rows)).ravel()

    def _beyond(self, wanted: TurnsWithin, world: TransformSampler) -> Values:
        owner = self.part.item.pose.bones[self.part.bone] if self.part.bone else self.part.item
        order: rotations.Order = owner.rotation_mode if owner.rotation_mode in EULER_ORDERS else "XYZ"
        angles = rotations.to_euler(world.rotation(self.part.item, self.part.bone), order)
        rows = [angles[:, axis] - high for axis, high in enumerate(wanted.high) if high is not None]
        rows += [low - angles[:, axis] for axis, low in enumerate(wanted.low) if low is not None]
        return np.concatenate(rows) if rows else np.full(len(self.frames), -np.inf)

    def _at(self, world: TransformSampler, item: Any, bone: str, point: Values) -> Values:
        matrices = self._matrices(world, item, bone)
        at: Values = matrices[:, :3, :3] @ point + matrices[:, :3, 3]
        return at

    def _matrices(self, world: TransformSampler, item: Any, bone: str) -> Matrices:
        """Return the matrices of an object or bone.

        Where more than F-curves and parents move it, Blender evaluates them, if the changing keys have no influence.
        """
        try:
            return world.matrices(item, bone)
        except UnknownMotionError:
            if item == self.part.item:
                raise
            thing = item.session_uid, bone
            if thing not in self._still:
                stepping = DepsgraphSampler([thing], self.frames)
                stepping.advance({item.session_uid: item}, self.scene, math.inf)
                if any(mover.datablock.session_uid in stepping.read for mover in self.movers):
                    raise
                self._still[thing] = stepping.matrices(thing)
            return self._still[thing]


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
            raise AnimationError(item.name, rpt_("no key at this frame"), either, frame)
    return found


def _targets(wanted: Wanted) -> list[bpy.types.Object]:
    if isinstance(wanted, StaysAbove):
        return [] if wanted.plane is None else [wanted.plane]
    return [] if isinstance(wanted, TurnsWithin) else [wanted.target]


def _target_bone(wanted: Wanted) -> str:
    return wanted.bone if isinstance(wanted, StaysAt | KeepsApart) else ""


def _ways(movers: Sequence[_Mover], start: Values, numbers: Values) -> tuple[float, float]:
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


def _write(movers: Sequence[_Mover], numbers: Values) -> list[str]:
    """Write the numbers into the keys, and bake again what was baked; return notes for the user."""
    notes: list[str] = []
    by_datablock: dict[Any, list[tuple[_Mover, Values]]] = {}
    ends = np.cumsum([len(mover.slots) for mover in movers])[:-1]
    for mover, own in zip(movers, np.split(numbers, ends), strict=True):
        if mover.slots:
            by_datablock.setdefault(mover.datablock, []).append((mover, own))
    for datablock, group in by_datablock.items():
        channels = editable_channels(datablock)
        tracks = {track.path: track for track in find_tracks(datablock, channels)}
        for mover, own in group:
            _put(tracks[mover.track.path], mover, own)
        baked = [track for track in (tracks[mover.track.path] for mover, _ in group) if track.baked]
        (users,) = users_of_channels([channels])
        report = rebake(users or [datablock], channels, baked, Options())
        notes += [*map(str, report.errors), *report.notes]
        channels.action.update_tag()
    return notes


def _put(track: Track, mover: _Mover, numbers: Values) -> None:
    for index, fcurve in track.channels.items():
        own = [
            (row, number) for number, (component, row) in zip(numbers, mover.slots, strict=True) if component == index
        ]
        frames = read_coordinates(fcurve)[::2]
        for row, number in own:
            frame = mover.originals[index].keys.frames[row]
            point = fcurve.keyframe_points[int(np.argmin(np.abs(frames - frame)))]
            # Setting co_ui moves the handles along. A key that the curve shows elsewhere moves by the same difference.
            was = float(mover.originals[index].keys.values[row])
            point.co_ui = (point.co.x, number if point.co.y == was else point.co.y + (number - was))
        if own:
            fcurve.update()
