# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample dense motion, one sample per frame, and construct an armature's joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from ...interp import rotations
from ...interp.fitting.reduction import Joint, low_pass
from ..bake.plans.splines import quaternions_of
from ..datablocks import bone_path
from ..errors import AnimationError, Finding
from ..fcurves.frames import union
from ..fcurves.keyframes import Float64Array, IndexArray, read_coordinates
from ..sampling.transforms import TransformSampler, plays
from ..store.paths import BONES, split
from ..store.tracks import Track
from ..translation import rpt_
from .beside_range import has_beside, sides, velocities_beside
from .extrapolation import slopes_outside
from .reduce_request import Together

_STILL = 1e-6
"""Relative to the largest value, or to 1. Tracks that move less than this keep one key."""


@dataclass(eq=False)
class Dense:
    """A track with its values at whole frames."""

    track: Track
    raw: Float64Array
    """The channel values, shape (frames, components)."""
    values: Float64Array
    """The values, with rotations as unit quaternions."""
    slopes: Float64Array
    """The slopes of the channels per frame, before the first frame and after the last, shape (2, components)."""
    stays: bool = False
    """True if the track keeps its keys."""
    joined: tuple[bool, bool] = (False, False)
    """For the start and end of the range: True if the track has keys beyond it."""
    ends: Float64Array | None = None
    """The required slopes of `values` per frame at both ends, shape (2, d). NaN at a free end."""
    own_frames: Float64Array = field(default_factory=lambda: np.zeros(0))
    """The frames of the track's keys, from the first frame to the last."""

    @property
    def is_still(self) -> bool:
        """Return whether the track does not move."""
        size = max(1.0, float(np.abs(self.values).max()))
        return bool(np.ptp(self.values, axis=0).max() <= _STILL * size)

    own_keys: int = 0
    """The total number of keys at these frames in all channels."""

    @property
    def written(self) -> int:
        """Return the number of channels that get new keys. Rotations are keyed in all channels."""
        return len(self.track.rest) if self.track.is_rotation else len(self.track.channels)

    @property
    def owner(self) -> str:
        """Return the path of the bone or other part that owns the property, or "" for the datablock itself."""
        return split(self.track.path)[0]

    @property
    def part(self) -> str:
        """Return "location", "rotation", "scale" or the name of another property."""
        name = split(self.track.path)[1]
        return "rotation" if self.track.is_rotation and not name.startswith("delta") else name

    @property
    def is_of_bone(self) -> bool:
        """Return whether the track moves a bone."""
        return self.track.path.startswith(BONES) and self.part in ("location", "rotation", "scale")


def own_count(group: Sequence[Dense]) -> int:
    """Return the number of common keys that corresponds to the group's existing keys, by frames or by channel keys."""
    frames = max(len(dense.own_frames) for dense in group)
    return min(frames, sum(dense.own_keys for dense in group) // max(1, sum(dense.written for dense in group)))


def frames_of(tracks: Sequence[Track], frame_range: tuple[float, float] | None, limit: int) -> Float64Array:
    """Return the whole frames in the range from the first to the last key of the tracks.

    Raises AnimationError if the tracks would have more samples than the limit.
    """
    ends = [
        read_coordinates(fcurve)[[0, -2]]
        for track in tracks
        for fcurve in track.channels.values()
        if len(fcurve.keyframe_points)
    ]
    if not ends:
        return np.zeros(0)
    first, last = np.floor(min(end[0] for end in ends)), np.ceil(max(end[1] for end in ends))
    if frame_range is not None:
        first, last = max(first, np.ceil(frame_range[0])), min(last, np.floor(frame_range[1]))
    count = max(0.0, last - first + 1.0) * sum(len(track.rest) for track in tracks)
    if not count <= limit:
        raise AnimationError(Finding("REDUCE_SAMPLE_LIMIT", tracks[0].name, arguments=(float(count), limit)))
    return np.arange(first, last + 1.0)


def sampled(
    track: Track, frames: Float64Array, stays: bool = False, joins: tuple[bool, bool] = (False, False)
) -> Dense:
    """Sample the track's F-curves at the frames. Raises AnimationError if values are not finite.

    `joins` states, for each end of the range, whether a track has keys beyond it.
    """
    times = frames.tolist()
    raw, slopes = np.empty((len(frames), len(track.rest))), np.zeros((2, len(track.rest)))
    for index, still in enumerate(track.rest):
        fcurve = track.channels.get(index)
        raw[:, index] = still if fcurve is None or not plays(fcurve) else [fcurve.evaluate(frame) for frame in times]
        if fcurve is not None:
            slopes[:, index] = slopes_outside(fcurve, frames)
    if not np.isfinite(raw).all():
        raise track.error("PLAYED_NOT_FINITE")
    values = _quaternions(track, raw) if track.is_rotation else raw
    keyed = [read_coordinates(fcurve)[::2] for fcurve in track.channels.values()]
    keyed = [each[~np.logical_or(*sides(each, frames))] for each in keyed]
    own: Float64Array = union(keyed).astype(np.float64)
    count = sum(map(len, keyed))
    if stays or not any(joins):
        return Dense(track, raw, values, slopes, stays, own_frames=own, own_keys=count)
    joined = has_beside([track], frames)
    slopes[np.array(joined)] = np.nan
    ends = velocities_beside(track, frames, raw, values, joins)
    return Dense(track, raw, values, slopes, stays, joined, ends, own, count)


def _quaternions(track: Track, raw: Float64Array) -> Float64Array:
    q = quaternions_of(track, raw)
    length = np.linalg.norm(q, axis=1, keepdims=True)
    if not length.all():
        raise track.error("ZERO_QUATERNION")
    return rotations.unroll_signs(q / length)


def filtered(dense: Dense, period: float, frames: Float64Array) -> Dense:
    """Remove oscillations with periods shorter than `period` frames from the track."""
    values = low_pass(dense.values, period)
    if not dense.track.is_rotation:
        return replace(dense, raw=values, values=values)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return replace(dense, values=np.where(length > 0.0, values / np.where(length > 0.0, length, 1.0), dense.values))


def keys_of_values(dense: Dense, values: Float64Array, rows: IndexArray) -> Float64Array:
    """Convert the values of keys in these rows, which are quaternions for rotations, to channel values.

    If there are keys outside the frames, the keys at the ends get the exact channel values, and all other keys get
    values close to the channel values.
    """
    found = values
    track, is_joined = dense.track, any(dense.joined)
    own = dense.raw[rows] if is_joined else dense.raw[0]
    if track.is_rotation and is_joined:
        values = values[:, np.newaxis]
    if track.kind == "EULER":
        found = rotations.follow_euler(values, track.order, own)
    elif track.kind == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(values, own[..., 1:], own[..., 0])
        found = np.concatenate([angles[..., np.newaxis], axes], axis=-1)
    if not is_joined:
        return found
    found = found.reshape(len(rows), -1).copy()
    for side, row in ((0, 0), (1, -1)):
        if dense.joined[side]:
            found[row] = dense.raw[row]
    return found


def slopes_of_keys(dense: Dense, ends: Float64Array) -> Float64Array:
    """Return the outer slopes of keys with the first and last values `ends`, shape (2, components).

    The signs and lengths of the keys' quaternions may differ from the track's.
    """
    if dense.track.kind != "QUATERNION":
        return dense.slopes
    own = dense.raw[[0, -1]]
    scale = (ends * own).sum(axis=1, keepdims=True) / (own * own).sum(axis=1, keepdims=True)
    slopes: Float64Array = scale * dense.slopes
    return slopes


@dataclass(eq=False)
class Joints:
    """The joints of an armature. The first joint is the object itself."""

    joints: list[Joint]
    animated: dict[int, list[Dense]]
    """The tracks that are reduced, by joint number."""
    together: list[list[int]]
    """Groups of joints that share their keys."""
    bones: list[int] = field(default_factory=list)
    """The index of each bone in the armature, in the order of the joints."""

    def of_points(self, parts: Float64Array | None) -> Float64Array | None:
        """Convert values for the armature's bones, shape (bones, frames), to values for the points of the joints."""
        return None if parts is None else parts[np.repeat(self.bones, 2)]


def joints_of(obj: Any, every: Sequence[Dense], frames: Float64Array, together: Together) -> Joints:
    """Return the joints of an armature, as moved by F-curves and parents."""
    by_owner: dict[str, list[Dense]] = {}
    for dense in every:
        if dense.part in ("location", "rotation", "scale"):
            by_owner.setdefault(dense.owner, []).append(dense)
    count = len(frames)
    above = np.eye(4) if obj.parent is None else np.array(obj.parent.matrix_world) @ np.array(obj.matrix_parent_inverse)
    found = Joints([], {}, [])
    is_split = together == "TRACK"
    _add(found, obj, -1, above, by_owner.get("", []), count, np.zeros((0, 3)), is_split)
    top = len(found.joints) - 1
    numbers: dict[str, int] = {}
    collections: dict[str, list[int]] = {}
    for bone in _parents_first(obj):
        rest = np.array(bone.bone.matrix_local)
        if bone.parent is None:
            parent, offset = top, rest
        else:
            parent = numbers[bone.parent.name]
            offset = np.linalg.inv(np.array(bone.parent.bone.matrix_local)) @ rest
        own = by_owner.get(f"{bone_path(bone)}.", [])
        if bone.bone.use_connect and bone.parent is not None:
            own = [dense for dense in own if dense.part != "location"]
        points = np.array([[0.0, 0.0, 0.0], [0.0, bone.bone.length, 0.0]])
        _add(found, bone, parent, offset, own, count, points, is_split)
        numbers[bone.name] = len(found.joints) - 1
        found.bones.append(obj.pose.bones.find(bone.name))
        for collection in bone.bone.collections:
            collections.setdefault(collection.name, []).append(numbers[bone.name])
    if together == "COLLECTION":
        found.together = list(collections.values())
    elif together == "POSE":
        found.together = [list(range(len(found.joints)))]
    return found


def _parents_first(obj: Any) -> list[Any]:
    return sorted(obj.pose.bones, key=lambda bone: len(bone.parent_recursive))


def _add(
    found: Joints,
    owner: Any,
    parent: int,
    offset: Float64Array,
    own: Sequence[Dense],
    count: int,
    points: Float64Array,
    is_split: bool,
) -> None:
    """Add the joint of a bone or the object. With `is_split`, add a joint for each channel."""
    still = {
        "location": np.array(owner.location, dtype=np.float64),
        "rotation": np.array(owner.matrix_basis.to_quaternion(), dtype=np.float64),
        "scale": np.array(owner.scale, dtype=np.float64),
    }
    if isinstance(owner, bpy.types.PoseBone) and owner.bone.use_connect and owner.parent is not None:
        still["location"][:] = 0.0
    channels = {name: np.tile(value, (count, 1)) for name, value in still.items()}
    channels |= {dense.part: dense.values for dense in own}
    moving = {each.part: each for each in own if not (each.is_still or each.stays)}
    rest = {
        "location": np.zeros((count, 3)),
        "rotation": np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        "scale": np.ones((count, 3)),
    }
    parts = [[name] for name in still] if is_split else [list(still)]
    for names in parts:
        values = {name: channels[name] if name in names else rest[name] for name in still}
        animated = [name for name in names if name in moving]
        found.animated |= {len(found.joints): [moving[name] for name in animated]} if animated else {}
        is_last = names is parts[-1]
        found.joints.append(
            Joint(
                parent,
                offset,
                values["location"],
                values["rotation"],
                values["scale"],
                animated,
                points if is_last else points[:0],
                {name: ends for name in animated if (ends := moving[name].ends) is not None},
            )
        )
        parent, offset = len(found.joints) - 1, np.eye(4)


def places_of(obj: Any, frames: Float64Array, played: Sequence[Dense] = ()) -> Float64Array:
    """Return the world positions of all bone heads and tails, shape (points, frames, 3).

    `played` contains tracks whose values are used instead of their F-curves. Raises UnknownMotionError if more than
    F-curves and parents move a bone.
    """
    moved = {
        (obj.session_uid, dense.owner + dense.part if dense.track.is_rotation else dense.track.path): dense.values
        for dense in played
    }
    sampler = TransformSampler(frames, moved)
    places = []
    for bone in obj.pose.bones:
        places.append(points_of(bone, sampler.matrices(obj, bone.name)))
    return np.concatenate(places)


def points_of(bone: bpy.types.PoseBone, matrices: Float64Array) -> Float64Array:
    """Return the positions of a bone's head and tail from its world matrices, shape (2, frames, 3)."""
    heads: Float64Array = matrices[:, :3, 3]
    return np.stack([heads, heads + bone.bone.length * matrices[:, :3, 1]])


def names_of_points(obj: Any) -> list[str]:
    """Return the names of all bone heads and tails, in order."""
    return [
        text for bone in obj.pose.bones for text in (rpt_("head of {:s}", bone.name), rpt_("tail of {:s}", bone.name))
    ]


def is_posed(datablock: bpy.types.ID, every: Sequence[Dense]) -> bool:
    """Return whether any bone of the datablock moves."""
    return any(dense.track.path.startswith(BONES) for dense in every) and getattr(datablock, "pose", None) is not None
