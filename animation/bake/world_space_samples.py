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
from ..fcurves.keyframes import Float32Array, Float64Array, union
from ..report import AnimationError
from ..sampling.transforms import Frames, Matrices, TransformSampler, UnknownMotionError
from ..store.frame_functions import function_of
from ..store.paths import BONES, bone_path, split
from ..store.table.track_records import Options
from ..store.tracks import Track, setting_names
from .bake_job import samples_of_channel, too_many
from .plans.own_motion import OwnChannels
from .plans.plan import ChannelKeys, ComposedKeys
from .plans.rotations import quaternions_of, unwrapped
from .plans.sample_frames import nearest_rows, sampling_of
from .plans.track_splines import track_splines

_MAX_SHEAR = 1e-4
"""Relative limit for shear, and for differences between the lengths of a parent's axes."""
_NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
_EQUIVALENT = 1e-3
"""If the values of a key and its sample differ by more than this, the values differ in sign or by whole turns."""


class WorldMotion:
    """The keys of a track, and the channel values that make the track follow its spline in world space.

    Raises AnimationError if the track can't be interpolated in world space.
    """

    def __init__(self, item: Any, track: Track, own: OwnChannels, options: Options) -> None:
        _check_settings(track, own)
        self._item, self._bone = item, bone_of(item, track)
        self._track, self._own, self._defaults = track, own, options.defaults
        self._key_frames = _checked_frames(track, own)
        sampling = sampling_of(self._key_frames, options.step)
        count = len(track.rest) * samples_of_channel(sampling, self._key_frames, "SINGLE")
        reason = too_many(count, options.sample_limit)
        if reason:
            raise AnimationError(reason.on(track.name, track.path))
        samples = sampling.samples(self._key_frames, "SINGLE", False)
        self._frames: Float32Array = np.union1d(self._key_frames, samples)
        self._key_values = np.empty((len(self._key_frames), len(track.rest)))
        for index in range(len(track.rest)):
            self._key_values[:, index] = own[index].values if index in own else track.component(index)

    def composed_keys(self) -> ComposedKeys:
        """Return the keys that play the motion, for the parent's current motion. Raises AnimationError."""
        values = self.channel_values()
        rows = nearest_rows(self._key_frames, self._frames)
        is_equal = (np.abs(values[rows] - self._key_values) <= _EQUIVALENT).all(axis=1)
        values[rows[is_equal]] = self._key_values[is_equal]
        components = range(len(self._track.rest))
        keyed = [index for index in components if index in self._own]
        not_keyed = [index for index in components if index not in self._own]
        return ComposedKeys(
            [
                ChannelKeys(group, own_frames, self._frames, values.T[group])
                for group, own_frames in ((keyed, self._key_frames), (not_keyed, self._key_frames[:0]))
                if group
            ]
        )

    def channel_values(self) -> Float64Array:
        """Return the channel values at the frames for the parent's current motion, shape (n, components).

        Raises AnimationError if anything other than F-curves and parents moves the parent.
        """
        try:
            parent_at_keys, parent_at_frames = map(self._parent_matrices, (self._key_frames, self._frames))
        except UnknownMotionError as unknown:
            raise self._track.error("WORLD_UNKNOWN", unknown.finding) from unknown
        if self._track.is_rotation:
            return self._rotation_values(parent_at_keys, parent_at_frames)
        return self._location_values(parent_at_keys, parent_at_frames)

    def _rotation_values(self, parent_at_keys: Matrices, parent_at_frames: Matrices) -> Float64Array:
        """Return the channel values of a rotation, given the matrices of `_parent_matrices` at keys and frames."""
        local_keys = rotations.normalise(quaternions_of(self._track, self._key_values))
        world_keys = rotations.multiply(_quaternions(parent_at_keys, self._track), local_keys)
        # Segments played by Blender interpolate the components, so the signs must give the shortest arcs.
        world = self._interpolated(rotations.unroll_signs(world_keys))
        local = rotations.multiply(rotations.conjugate(_quaternions(parent_at_frames, self._track)), world)
        first_key = int(np.searchsorted(self._frames, self._key_frames[0]))
        return unwrapped(self._track, local, self._key_values[0], first_key)

    def _location_values(self, parent_at_keys: Matrices, parent_at_frames: Matrices) -> Float64Array:
        """Return the channel values of a location, given the matrices of `_parent_matrices` at keys and frames."""
        rotated_keys = np.einsum("nij,nj->ni", parent_at_keys[:, :3, :3], self._key_values)
        world = self._interpolated(rotated_keys + parent_at_keys[:, :3, 3])
        axes = parent_at_frames[:, :3, :3]
        is_flat = np.abs(np.linalg.det(axes)) < np.finfo(np.float32).tiny
        if is_flat.any():
            raise self._track.error("PARENT_FLAT", frame=float(self._frames[np.argmax(is_flat)]))
        offset = world - parent_at_frames[:, :3, 3]
        return np.asarray(np.linalg.solve(axes, offset[:, :, np.newaxis])[:, :, 0], dtype=np.float64)

    def _interpolated(self, world_keys: Float64Array) -> Float64Array:
        """Return the track's spline at the frames, with other locations or quaternions at its keys.

        Raises AnimationError.
        """
        own = next(iter(self._own.values()))
        key_frames = own.keys.co[:, 0].astype(np.float64)
        own_in_world = {
            index: own.with_(keys=own.keys.with_(co=np.stack((key_frames, values), axis=1)))
            for index, values in enumerate(world_keys.T)
        }
        track, settings = self._track, self._track.settings
        if track.is_rotation:
            settings = replace(settings, path="SHORTEST")
            track = replace(track, kind="QUATERNION", rest=_NO_ROTATION)
        (spline,) = track_splines(track, settings, own_in_world, self._defaults)
        return spline.spline(self._frames.astype(np.float64))

    def _parent_matrices(self, frames: Float32Array) -> Matrices:
        """Return matrices that convert from the local space of the object or bone to world space, shape (n, 4, 4).

        They are the world matrices of the object or bone at these frames without its own transform.
        """
        sampled: Frames = frames.astype(np.float64)
        prefix = f"{bone_path(self._item.pose.bones[self._bone])}." if self._bone else ""
        n = len(sampled)
        own_transform = {
            f"{prefix}location": np.zeros((n, 3)),
            f"{prefix}rotation": np.tile(_NO_ROTATION, (n, 1)),
            f"{prefix}scale": np.ones((n, 3)),
        }
        if not self._bone:
            own_transform["delta_scale"] = np.ones((n, 3))
            if not self._track.is_rotation:
                own_transform["delta_rotation"] = np.tile(_NO_ROTATION, (n, 1))
        moved = {(self._item.session_uid, path): values for path, values in own_transform.items()}
        return TransformSampler(sampled, moved).matrices(self._item, self._bone)


def _check_settings(track: Track, own: OwnChannels) -> None:
    """Raise AnimationError if the track's settings or keys are not supported in world space."""
    if function_of(track) is not None:
        raise track.error("WORLD_TIMED")
    if "velocities" in setting_names(track, track.settings):
        raise track.error("WORLD_VELOCITIES")
    if len({channel.frame_bytes for channel in own.values()}) > 1:
        raise track.error("KEYED_APART")


def _checked_frames(track: Track, own: OwnChannels) -> Float32Array:
    """Return the frames of the keys. Raise AnimationError if they are not finite, or if there is only one."""
    frames = union([channel.frames for channel in own.values()])
    if not np.isfinite(frames).all():
        raise track.error("FRAME_NOT_FINITE")
    if len(frames) < 2:
        raise track.error("WORLD_ONE_KEY")
    return frames


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
    is_transform = name == "location" or (track.is_rotation and name.startswith("rotation"))
    return is_transform and track.in_use and isinstance(item, bpy.types.Object)


def _quaternions(matrices: Matrices, track: Track) -> Float64Array:
    """Return each matrix's rotation as a quaternion. Raise AnimationError if a matrix includes shear or mirroring."""
    axes = matrices[:, :3, :3]
    # Without shear, the products of the axes are a multiple of the unit matrix.
    products = np.einsum("nji,njk->nik", axes, axes)
    squared_scale = np.trace(products, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / 3.0
    deviation = np.abs(products - squared_scale * np.eye(3))
    if (squared_scale <= 0.0).any() or (deviation > _MAX_SHEAR * squared_scale).any():
        raise track.error("PARENT_UNEQUAL")
    if (np.linalg.det(axes) < 0.0).any():
        raise track.error("PARENT_MIRRORED")
    return rotations.from_matrix(axes / np.sqrt(squared_scale))
