# SPDX-License-Identifier: GPL-3.0-or-later
"""World-space interpolation of bones, and of objects with a parent.

Keys are converted to poses in world space, and splines interpolate these poses. Each sample is converted back to the
parent's space. For example, consider a hand with keys at two frames where its world-space pose is the same. With
interpolation in parent space, the hand moves with its arm between the keys. In world space, the hand stays in place.

Source: docs/formulas, "Hierarchies".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...interp import rotations
from ..errors import AnimationError
from ..fcurves.frames import union
from ..fcurves.keyframes import Float32Array, Float64Array
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.transforms import Frames, Matrices, TransformSampler
from ..store.frame_functions import function_of
from ..store.paths import BONES, bone_path, split
from ..store.table.stored_bake_options import Options
from ..store.tracks import Track
from .plans.protocol import Baked, ChannelKeys, OwnChannels
from .plans.rotation_channels import followed
from .plans.sample_frames import nearest_rows, sampling_of
from .plans.splines import quaternions_of, setting_names, track_splines
from .sample_limit import samples_of_channel, too_many

_SKEWED = 1e-4
"""Relative limit for shear, and for differences between the lengths of a parent's axes."""
_STILL = (1.0, 0.0, 0.0, 0.0)
_SAME = 1e-3
"""If the values of a key and its sample differ by more than this, the values differ in sign or by whole turns."""


class WorldMotion:
    """The keys of a track, and the channel values that make the track follow its spline in world space.

    Raises AnimationError if the track can't be interpolated in world space.
    """

    def __init__(self, item: Any, track: Track, own: OwnChannels, options: Options) -> None:
        if function_of(track) is not None:
            raise track.error("WORLD_TIMED")
        if "velocities" in setting_names(track, track.settings):
            raise track.error("WORLD_VELOCITIES")
        if len({each.timing for each in own.values()}) > 1:
            raise track.error("KEYED_APART")
        self.item, self.bone = item, bone_of(item, track)
        self.track, self.own, self.defaults = track, own, options.defaults
        self.keys = union([each.frames for each in own.values()])
        if not np.isfinite(self.keys).all():
            raise track.error("FRAME_NOT_FINITE")
        if len(self.keys) < 2:
            raise track.error("WORLD_ONE_KEY")
        sampling = sampling_of(self.keys, options.step)
        reason = too_many(len(track.rest) * samples_of_channel(sampling, self.keys, "SINGLE"), options.sample_limit)
        if reason:
            raise AnimationError(reason.on(track.name, track.path))
        self.frames: Float32Array = np.union1d(self.keys, sampling.samples(self.keys, "SINGLE", False))
        self.raw = np.empty((len(self.keys), len(track.rest)))
        for index in range(len(track.rest)):
            self.raw[:, index] = own[index].values if index in own else track.component(index)

    def baked(self) -> Baked:
        """Return the keys that play the motion, for the parent's current motion. Raises AnimationError."""
        values = self.sampled()
        rows = nearest_rows(self.keys, self.frames)
        same = (np.abs(values[rows] - self.raw) <= _SAME).all(axis=1)
        values[rows[same]] = self.raw[same]
        components = list(range(len(self.track.rest)))
        none = np.zeros(len(rows), dtype=np.bool_)
        every = [[index for index in components if (index in self.own) == is_own] for is_own in (True, False)]
        columns = values.T.astype(np.float32)
        channels = []
        for some in filter(None, every):
            count = len(rows) if some[0] in self.own else 0
            channels.append(ChannelKeys(some, self.frames, columns[some], rows[:count], none[:count]))
        return Baked(channels)

    def sampled(self) -> Float64Array:
        """Return the channel values at the frames for the parent's current motion, shape (n, components).

        Raises AnimationError if anything other than F-curves and parents moves the parent.
        """
        try:
            at_keys, at_frames = (self._parent(at) for at in (self.keys, self.frames))
        except UnknownMotionError as unknown:
            raise self.track.error("WORLD_UNKNOWN", unknown.finding) from unknown
        if self.track.is_rotation:
            posed = rotations.normalise(quaternions_of(self.track, self.raw))
            # Segments played by Blender interpolate the components, so the signs must give the shortest arcs.
            way = self._along(rotations.unroll_signs(rotations.multiply(_turns(at_keys, self.track), posed)))
            back = rotations.multiply(rotations.conjugate(_turns(at_frames, self.track)), way)
            return followed(self.track, back, self.raw[0], int(np.searchsorted(self.frames, self.keys[0])))
        way = self._along(np.einsum("nij,nj->ni", at_keys[:, :3, :3], self.raw) + at_keys[:, :3, 3])
        gone = np.abs(np.linalg.det(at_frames[:, :3, :3])) < np.finfo(np.float32).tiny
        if gone.any():
            raise self.track.error("PARENT_FLAT", frame=float(self.frames[np.argmax(gone)]))
        offset = way - at_frames[:, :3, 3]
        return np.asarray(np.linalg.solve(at_frames[:, :3, :3], offset[:, :, np.newaxis])[:, :, 0], dtype=np.float64)

    def _along(self, values: Float64Array) -> Float64Array:
        """Evaluate the track's spline with other locations or quaternions at its keys. Raises AnimationError."""
        own = next(iter(self.own.values()))
        at_keys = own.keys.co[:, 0].astype(np.float64)
        through = {
            index: own.with_(keys=own.keys.with_(co=np.stack((at_keys, column), axis=1)))
            for index, column in enumerate(values.T)
        }
        track, settings = self.track, self.track.settings
        if track.is_rotation:
            settings = replace(settings, path="SHORTEST")
            track = replace(track, kind="QUATERNION", rest=_STILL)
        (spline,) = track_splines(track, settings, through, self.defaults)
        return spline.spline(self.frames.astype(np.float64))

    def _parent(self, frames: Float32Array) -> Matrices:
        """Return matrices that convert from the local space of the object or bone to world space."""
        at: Frames = frames.astype(np.float64)
        prefix = f"{bone_path(self.item.pose.bones[self.bone])}." if self.bone else ""
        n = len(at)
        moved = {
            (self.item.session_uid, f"{prefix}location"): np.zeros((n, 3)),
            (self.item.session_uid, f"{prefix}rotation"): np.tile(_STILL, (n, 1)),
            (self.item.session_uid, f"{prefix}scale"): np.ones((n, 3)),
        }
        if not self.bone:
            moved[self.item.session_uid, "delta_scale"] = np.ones((n, 3))
            if not self.track.is_rotation:
                moved[self.item.session_uid, "delta_rotation"] = np.tile(_STILL, (n, 1))
        return TransformSampler(at, moved).matrices(self.item, self.bone)


def bone_of(item: Any, track: Track) -> str:
    """Return the name of the bone that has the track, or an empty string if the object has the track."""
    owner, _ = split(track.path)
    if not owner.startswith(BONES):
        return ""
    return str(item.path_resolve(owner.removesuffix(".")).name)


def depth(item: Any, track: Track) -> int:
    """Return the number of ancestors of a track's bone. Parents are baked before the children that depend on them."""
    bone = bone_of(item, track)
    return len(item.pose.bones[bone].parent_recursive) if bone else 0


def is_in_world(track: Track, item: bpy.types.ID) -> bool:
    """Return whether a track can be interpolated in world space: location or rotation of an object or bone."""
    name = split(track.path)[1]
    is_kind = name == "location" or (track.is_rotation and name.startswith("rotation"))
    return is_kind and track.in_use and isinstance(item, bpy.types.Object)


def _turns(matrices: Matrices, track: Track) -> Float64Array:
    """Return each matrix's rotation as a quaternion. Raise AnimationError if a matrix includes shear or mirroring."""
    axes = matrices[:, :3, :3]
    squares = np.einsum("nji,njk->nik", axes, axes)
    size = np.trace(squares, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / 3.0
    if (size <= 0.0).any() or (np.abs(squares - size * np.eye(3)) > _SKEWED * size).any():
        raise track.error("PARENT_UNEQUAL")
    if (np.linalg.det(axes) < 0.0).any():
        raise track.error("PARENT_MIRRORED")
    return rotations.from_matrix(axes / np.sqrt(size))
