# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduction of dense curves, a key a frame, to the fewest keys whose handles play the same motion within an error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...interp import rotations
from ...interp.fitting.reduction import Part, Skeleton, reduce_skeleton, reduce_tracks
from ..arguments import Positive, checked
from ..bake.pipeline import bake
from ..datablocks import name_of
from ..errors import AnimationError, note_on
from ..fcurves.channels import Channels, assign, channels_in, channels_of, users_of_channels
from ..fcurves.editable import check_editable, check_not_tweaked
from ..fcurves.frames import union
from ..fcurves.keyframes import Float32Array, Float64Array, read_coordinates
from ..sampling.beyond_fcurves import UnknownMotionError
from ..steps import Steps, run_steps
from ..store.live_switch import switch_off
from ..store.table.options import Options
from ..store.tracks import Track, blocking_reason, find_tracks
from ..translation import n_, rpt_
from .dense import Dense, frames_of, is_posed, joints_of, places_of, sampled
from .new_keys import NewKeys, draw_lines, unbaked, write

_STEPS = 100
_MARGIN = 0.98
"""Of the error, for the search: handles come as near to rotations as they can, and float32 rounds."""
ERROR = 0.005
"""Units: half a centimetre in metres."""
ANGLE = math.radians(0.5)
_SPARSE = 4
"""Keys that a track was made from come back where it has so many times as many frames, even if fewer would do."""


@dataclass
class Reduction:
    """The result of a reduction: of what the handles play, at whole frames.

    Examples
    --------
    >>> result = animation.reduce(ball, error=0.01)
    >>> result.reached, result.error <= 0.01
    (True, True)
    """

    name: str
    wanted: float
    """The error that was asked for."""
    wanted_angle: float = ANGLE
    """The angle that was asked for, radians."""
    tracks: int = 0
    keys_before: int = 0
    """Frames at which a track had keys, summed over tracks."""
    keys: int = 0
    """The same now."""
    diamonds_before: int = 0
    """Frames at which a bone or the object had keys, summed over them."""
    diamonds: int = 0
    """The same now."""
    error: float = 0.0
    """The largest distance of a bone's head or tail, or of a value, from where it was, in scene units."""
    error_at: str = ""
    """The bone or track, and the frame of that."""
    mean: float = 0.0
    """The mean of these distances over frames and bones, or values."""
    angle: float = 0.0
    """The largest angle between rotations that are not those of bones, radians."""
    angle_at: str = ""
    seconds: float = 0.0
    original: str = ""
    """The name of the action that is kept."""
    notes: list[str] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        """Return whether the error and the angle are within those that were asked for."""
        room = 1.0 + 1e-6
        return self.error <= self.wanted * room and self.angle <= self.wanted_angle * room

    def __str__(self) -> str:
        text = rpt_(
            "{keys:,} keys in place of {before:,}; the largest error is {error:.4g} ({place:s}), the mean {mean:.2g};"
            ' {seconds:.1f} s; "{original:s}" is kept',
            keys=self.diamonds,
            before=self.diamonds_before,
            error=self.error,
            place=self.error_at,
            mean=self.mean,
            seconds=self.seconds,
            original=self.original,
        )
        if self.angle > self.wanted_angle:
            text += rpt_(
                "; handles turn up to {angle:.2g}° otherwise ({place:s}): a bake plays the keys exactly",
                angle=math.degrees(self.angle),
                place=self.angle_at,
            )
        return f'"{self.name}": {text}'


@checked
def reduce(
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None = None,
    error: Positive = ERROR,
    angle: Positive = ANGLE,
    progress: Callable[[int, int], None] | None = None,
) -> Reduction:
    """Reduce dense curves to the fewest keys, with velocities, whose handles play the motion within an error.

    The keys of a bone's, or object's, location, rotation and scale are at the same frames; but tracks whose curves were
    made from few keys get these back. The datablock plays a new action; the original is kept with a fake user.

    Parameters
    ----------
    datablock : bpy.types.ID
        Its tracks must not be TCB yet; those that are stay as they are, with a note.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.
    error : float
        Scene units. For armatures how far the head and the tail of any bone may be from where it was, at any whole
        frame; otherwise how far locations and other values.
    angle : float
        Radians: how far rotations of objects may be off.
    progress : callable, optional
        Called with the steps done, and how many there are.

    Returns
    -------
    Reduction
        Measured of what the handles play.

    Raises
    ------
    AnimationError
        Nothing can be reduced, or more than F-curves and parents moves a bone. Nothing was changed.

    Examples
    --------
    >>> animation.reduce(ball, error=0.01).reached
    True
    """
    found, refused = run_steps(reduce_steps({datablock: prefixes}, error, angle), progress)
    if refused:
        raise refused[0]
    return found[0]


def reduce_steps(
    selected: Mapping[bpy.types.ID, Iterable[str] | None], error: float = ERROR, angle: float = ANGLE
) -> Steps[tuple[list[Reduction], list[AnimationError]]]:
    """Reduce as `reduce` does several datablocks, step by step; yield the steps done and how many there are.

    Nothing is changed before all keys are found. Returns what was refused, too; then that is as it was.
    """
    found: list[_Search] = []
    refused: list[AnimationError] = []
    for number, (datablock, prefixes) in enumerate(selected.items()):
        try:
            search = _Search(datablock, prefixes, error, angle)
            for part in search.run():
                yield int(_STEPS * (number + part)), _STEPS * len(selected)
        except AnimationError as refusal:
            refused.append(refusal)
        else:
            found.append(search)
    results = []
    for search in found:
        try:
            results.append(search.write())
        except AnimationError as refusal:
            search.take_back()
            refused.append(refusal)
    return results, refused


class _Search:
    """Reduce one datablock in two steps: find the keys, and write them."""

    def __init__(self, datablock: bpy.types.ID, prefixes: Iterable[str] | None, error: float, angle: float) -> None:
        self._start = time.perf_counter()
        self._datablock = datablock
        self._error, self._angle = error, angle
        self._result = Reduction(name_of(datablock), error, angle)
        check_editable(datablock)
        check_not_tweaked(datablock)
        self._channels = channels_of(datablock)
        self._tracks = _reducible(datablock, self._channels, prefixes, self._result)
        self._frames = frames_of(self._tracks)
        self._every = [sampled(track, self._frames) for track in self._tracks]
        self._kept: list[Dense] = []
        self._names: list[str] = []
        self._places: Float64Array | None = None
        self._unbaked: dict[str, NewKeys] = {}
        self._new: list[NewKeys] = []
        if is_posed(datablock, self._every):
            chosen = {track.path for track in self._tracks}
            others = [track for track in find_tracks(datablock, self._channels) if track.path not in chosen]
            self._kept = [sampled(track, self._frames, stays=True) for track in others if track.in_use]
            try:
                self._names, self._places = places_of(datablock, self._frames)
            except UnknownMotionError as reason:
                text = rpt_("{:s}: only what F-curves and parents move can be reduced", str(reason))
                raise AnimationError(name_of(datablock), text) from reason

    def run(self) -> Generator[float, None, None]:
        """Search for the keys of all tracks that move; yield which part is done."""
        error = _MARGIN * self._error
        moving = [dense for dense in self._every if not dense.is_still]
        for dense in moving:
            keys = unbaked(dense, self._angle if dense.track.is_rotation else error)
            if keys is not None:
                self._unbaked[dense.track.path] = keys
                dense.stays = len(keys.rows) * _SPARSE <= len(self._frames)
            yield 0.0
        self._new += [self._unbaked[dense.track.path] for dense in moving if dense.stays]
        if self._places is not None:
            joints, animated = joints_of(self._datablock, [*self._every, *self._kept], self._frames)
            keys_of = yield from reduce_skeleton(Skeleton(joints, error))
            for number, own in animated.items():
                self._new += [NewKeys.fitted(dense, keys_of[number], part) for part, dense in enumerate(own)]
        done = {keys.dense.track.path for keys in self._new}
        groups: dict[str, list[Dense]] = {}
        for dense in moving:
            if dense.track.path not in done:
                shared = dense.part in ("location", "rotation", "scale")
                groups.setdefault(dense.owner if shared else dense.track.path, []).append(dense)
        for own in groups.values():
            self._new += self._fewest(own, error)
            yield 1.0
        done = {keys.dense.track.path for keys in self._new}
        self._new += [NewKeys.still(dense) for dense in self._every if dense.track.path not in done]

    def _fewest(self, own: Sequence[Dense], error: float) -> list[NewKeys]:
        """Return the keys that tracks have in common, or those that they were made from if these are fewer."""
        limits = [self._angle if dense.track.is_rotation else error for dense in own]
        parts = [
            Part(dense.values[np.newaxis], np.array([limit]), dense.track.is_rotation)
            for dense, limit in zip(own, limits, strict=True)
        ]
        (one,) = reduce_tracks(parts)
        before = [self._unbaked.get(dense.track.path) for dense in own]
        made = [keys for keys in before if keys is not None]
        if len(made) == len(own) and max(len(keys.rows) for keys in made) < len(one.rows):
            return made
        return [NewKeys.fitted(dense, one, part) for part, dense in enumerate(own)]

    def take_back(self) -> None:
        """Let the datablock play its own action again, and remove the copy."""
        copy = channels_of(self._datablock).action
        if copy != self._channels.action:
            assign(self._datablock, self._channels.action, self._channels.slot_handle)
            bpy.data.actions.remove(copy)

    def write(self) -> Reduction:
        """Write the keys, and measure what their handles play."""
        result, datablock = self._result, self._datablock
        _count(result, self._tracks, before=True)
        copy = _copy(datablock, self._channels, result)
        write(datablock, copy, self._new, self._frames)
        result.notes += [
            rpt_('"{:s}" is made of few keys, which are not TCB: they come back plain', keys.dense.track.path)
            for keys in self._new
            if keys.settings is None and len(keys.rows) > 1
        ]
        paths = [keys.dense.track.path for keys in self._new if keys.settings is not None]
        if paths:
            result.notes += bake([datablock], Options(output="HANDLES"), {datablock: paths}).refused
        if lines := draw_lines(copy, self._new):
            bake([datablock], Options(output="HANDLES"), {datablock: lines})
        own = {dense.track.path for dense in self._every}
        now = [track for track in find_tracks(datablock, channels_of(datablock)) if track.path in own]
        _count(result, now, before=False)
        _measure(result, self._every, now, self._frames)
        if self._places is not None:
            places = places_of(datablock, self._frames)[1]
            _measure_places(result, self._names, self._places, places, self._frames)
        result.tracks = len(self._tracks)
        result.seconds = time.perf_counter() - self._start
        return result


def _reducible(
    datablock: bpy.types.ID, channels: Channels, prefixes: Iterable[str] | None, result: Reduction
) -> list[Track]:
    """Return the tracks that can be reduced; note why others can't. Raises AnimationError for none."""
    found, refused = [], []
    for track in find_tracks(datablock, channels, prefixes):
        reason = rpt_(n_("it is TCB already; apply or remove that first")) if track.enabled else blocking_reason(track)
        reason = reason or _modified(track)
        if reason:
            refused.append(track.error(reason))
        elif track.in_use and any(len(fcurve.keyframe_points) > 2 for fcurve in track.channels.values()):
            found.append(track)
    if not found and refused:
        raise AnimationError.of_all(refused)
    if not found:
        raise AnimationError(name_of(datablock), rpt_("it has no keys to reduce"), nothing_to_do=True)
    result.notes += map(str, refused)
    return found


def _modified(track: Track) -> str:
    """Return why the track can't be reduced where F-curve modifiers play with its keys; Cycles act outside them."""
    modifiers = (modifier for fcurve in track.channels.values() for modifier in fcurve.modifiers)
    acting = sorted({modifier.type for modifier in modifiers if not modifier.mute and modifier.type != "CYCLES"})
    names = ", ".join(acting)
    return rpt_("F-curve modifiers act on it ({:s}); bake or remove them first", names) if acting else ""


def _copy(datablock: bpy.types.ID, channels: Channels, result: Reduction) -> Channels:
    """Let the datablock play a copy of its action; keep the original, and return the copy's F-curves."""
    original = channels.action
    (users,) = users_of_channels([channels])
    result.notes += [
        note_on(name_of(user), rpt_('it goes on playing "{:s}", which it shares', original.name))
        for user in users
        if user != datablock
    ]
    copy = original.copy()
    copy.name = f"{original.name}.reduced"
    switch_off(copy)
    result.original = original.name
    if original.library is None:
        original.use_fake_user = True
    assign(datablock, copy, channels.slot_handle)
    return next(bag for bag in channels_in(copy) if bag.slot_handle == channels.slot_handle)


def _count(result: Reduction, tracks: Sequence[Track], before: bool) -> None:
    """Count keys and diamonds of the tracks."""
    keys = 0
    owners: dict[str, list[Float32Array]] = {}
    for track in tracks:
        own = [read_coordinates(fcurve)[::2] for fcurve in track.channels.values()]
        at = union(own)
        keys += len(at)
        owners.setdefault(track.path.rpartition(".")[0], []).append(at)
    counts: list[int] = [len(union(own)) for own in owners.values()]
    diamonds = sum(counts)
    if before:
        result.keys_before, result.diamonds_before = keys, diamonds
    else:
        result.keys, result.diamonds = keys, diamonds


def _measure(result: Reduction, every: Sequence[Dense], now: Sequence[Track], frames: Float64Array) -> None:
    """Measure values and rotations that are not those of bones."""
    played = {track.path: track for track in now}
    means = []
    for dense in every:
        path = dense.track.path
        if path.startswith("pose.bones") and dense.part in ("location", "rotation", "scale"):
            continue
        values = sampled(played[path], frames).values
        if dense.track.is_rotation:
            off = rotations.angle_between(values, dense.values)
        else:
            off = np.linalg.norm(values - dense.values, axis=1)
            means.append(off.mean())
        row = int(np.argmax(off))
        place = rpt_("{:s}, frame {:g}", path, frames[row])
        if dense.track.is_rotation and off[row] >= result.angle:
            result.angle, result.angle_at = float(off[row]), place
        elif not dense.track.is_rotation and off[row] >= result.error:
            result.error, result.error_at = float(off[row]), place
    result.mean = float(np.mean(means)) if means else 0.0


def _measure_places(
    result: Reduction, names: Sequence[str], wanted: Float64Array, places: Float64Array, frames: Float64Array
) -> None:
    """Measure where heads and tails of bones are."""
    off = np.linalg.norm(places - wanted, axis=2)
    point, row = divmod(int(np.argmax(off)), len(frames))
    if off[point, row] >= result.error:
        result.error, result.error_at = float(off[point, row]), rpt_("{:s}, frame {:g}", names[point], frames[row])
    result.mean = float(off.mean())
