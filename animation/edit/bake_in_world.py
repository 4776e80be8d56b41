# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolation in world space of an object with a parent, or of bones.

Keys are converted to poses in the world, interpolated by splines there, and converted back into the parent's space at
every sample. In its parent's space a hand with two equal keys stays still on the moving arm; in the world it stays
where it is.

Source: docs/formulas.md, "Hierarchies".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...interp import rotations
from ..arguments import Parameters, Positive, checked
from ..bake.job import too_near_keys
from ..bake.pipeline import bake
from ..bake.plans.rotation_channels import followed
from ..bake.plans.sample_frames import Sampling
from ..bake.plans.splines import quaternions_of, setting_names, track_splines
from ..bake.sample_limit import samples_of_channel, too_many
from ..datablocks import bone_path
from ..errors import FRAME_NOT_FINITE, KEYED_APART, AnimationError
from ..fcurves.channels import channels_of, evaluate_anew
from ..fcurves.editable import check_editable
from ..fcurves.frames import union
from ..fcurves.keyframes import Float32Array
from ..fcurves.keying import key_curve
from ..report import Report
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.properties import Values
from ..sampling.transforms import Frames, Matrices, TransformSampler
from ..store.frame_functions import function_of
from ..store.own_keys import read_own_keys
from ..store.table.options import Options
from ..store.tracks import Track, blocking_reason, find_tracks
from ..translation import rpt_

_SKEWED = 1e-4
"""Relative: how unequal in length, or how far from orthogonal, a parent's axes may be."""
_STILL = (1.0, 0.0, 0.0, 0.0)


@checked
def bake_in_world(
    item: bpy.types.Object,
    bones: Sequence[str] = (),
    *,
    step: Positive = 1.0,
    defaults: Parameters | None = None,
) -> Report:
    """Bake an object with a parent, or bones, into a new action, interpolating locations and rotations in the world.

    The poses at the keys stay; between them the splines of the tracks, with their methods and parameters, pass through
    the locations and orientations of these poses in the world. All other tracks are baked as usual. The object then
    uses the new action; the original is kept.

    Parameters
    ----------
    item : bpy.types.Object
        The object, or the armature of the bones.
    bones : sequence of str
        Bones of the armature; empty: the object itself.
    step : float
        Frames from sample to sample.
    defaults : mapping, optional
        Parameters of keys that have none of their own.

    Returns
    -------
    Report
        The report of the whole bake.

    Raises
    ------
    AnimationError
        It has no parent, no TCB location or rotation, a parent whose axes are skewed or unequally scaled, or is
        animated by more than F-curves and parents. Nothing was changed.
    ValueError
        The step is not a positive number.

    Examples
    --------
    >>> ball.parent = rig
    >>> report = animation.enable(ball)
    >>> animation.bake_in_world(ball).samples
    222
    """
    options = Options(target="NEW_ACTION", step=step, defaults=defaults or {})
    too_near = too_near_keys(step)
    if too_near:
        raise AnimationError(item.name, too_near)
    check_editable(item)
    child: Any = item
    known = child.pose.bones if child.pose else {}
    for bone in bones:
        if bone not in known:
            raise AnimationError(item.name, rpt_("it has no bone {!r}", bone))
    if not bones and child.parent is None:
        raise AnimationError(item.name, rpt_("it has no parent, so it is interpolated in the world already"))
    # Parents first: their children depend on their new motion.
    parts = sorted(bones, key=lambda bone: len(known[bone].parent_recursive)) or [""]
    motions = [_Motion(child, bone, track, options) for bone in parts for track in _tracks(child, bone)]
    try:
        for motion in motions:
            motion.sampled()
    except UnknownMotionError as unknown:
        raise AnimationError(
            item.name, rpt_("{:s}: only what F-curves and parents move can be baked so", str(unknown))
        ) from unknown
    report = bake([item], options)
    if report.errors and not report.tracks:
        raise AnimationError.of_all(report.errors)
    channels = channels_of(item)
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
    for motion in motions:
        track, (frames, values) = motion.track, motion.sampled()
        for index, own in enumerate(values.T):
            fcurve = fcurves.get((track.path, index)) or channels.new(track.path, index, track.group_name)
            key_curve(fcurve, frames, own, "LINEAR")
    evaluate_anew(channels.action)
    return report


def _tracks(item: Any, bone: str) -> list[Track]:
    """Return location and rotation of the object or bone; raise AnimationError where neither can be interpolated."""
    prefix = f"{bone_path(item.pose.bones[bone])}." if bone else ""
    found = []
    for track in find_tracks(item, channels_of(item), [prefix]):
        last = track.path.removeprefix(prefix)
        if last == "location" or (track.is_rotation and track.in_use and last.startswith("rotation")):
            reason = blocking_reason(track)
            if reason and track.enabled:
                raise track.error(reason)
            if track.enabled:
                found.append(track)
    if not found:
        raise AnimationError(bone or item.name, rpt_("it has no location or rotation that is TCB; enable it first"))
    return found


class _Motion:
    """A track's keys, and the channels' values with which it follows its spline in the world."""

    def __init__(self, item: bpy.types.Object, bone: str, track: Track, options: Options) -> None:
        if function_of(track) is not None:
            raise track.error(rpt_("a frame function plays it; mute that first"))
        if "velocities" in setting_names(track, track.settings):
            raise track.error(rpt_("its velocities are given in its parent's axes; choose another method"))
        kept = read_own_keys(track)
        if len({own.keys.frames.tobytes() for own in kept.values()}) > 1:
            raise track.error(rpt_(KEYED_APART))
        self.item, self.bone, self.track, self.kept = item, bone, track, kept
        self.defaults = options.defaults
        self.keys = union([own.keys.frames for own in kept.values()])
        if not np.isfinite(self.keys).all():
            raise track.error(rpt_(FRAME_NOT_FINITE))
        if len(self.keys) < 2:
            raise track.error(rpt_("it takes two keys to interpolate between"))
        every = np.ones(len(self.keys), dtype=np.bool_)
        every[-1] = False
        sampling = Sampling(options.step, math.floor(float(self.keys[0])))
        asked = len(track.rest) * samples_of_channel(sampling, self.keys, "SINGLE")
        reason = too_many(asked, options.sample_limit)
        if reason:
            raise track.error(reason)
        samples = sampling.samples(self.keys, every, "SINGLE")
        self.frames = np.union1d(self.keys, samples)
        self.raw = np.empty((len(self.keys), len(track.rest)))
        for index in range(len(track.rest)):
            self.raw[:, index] = kept[index].keys.values if index in kept else track.component(index)

    def sampled(self) -> tuple[Float32Array, Values]:
        """Return frames, including the keys, and the channels' values there, shape (n, components).

        They are computed for the parent's present motion. Raises UnknownMotionError, and AnimationError.
        """
        at_keys, at_frames = (_parent(self.item, self.bone, at, self.track) for at in (self.keys, self.frames))
        if self.track.is_rotation:
            posed = rotations.normalise(quaternions_of(self.track, self.raw))
            # Segments that Blender plays interpolate the components, so the signs are chosen for the shorter arc.
            way = self._along(rotations.unroll_signs(rotations.multiply(_turns(at_keys, self.track), posed)))
            back = rotations.multiply(rotations.conjugate(_turns(at_frames, self.track)), way)
            return self.frames, followed(self.track, back, self.raw, np.searchsorted(self.frames, self.keys))[0]
        way = self._along(np.einsum("nij,nj->ni", at_keys[:, :3, :3], self.raw) + at_keys[:, :3, 3])
        gone = np.abs(np.linalg.det(at_frames[:, :3, :3])) < np.finfo(np.float32).tiny
        if gone.any():
            raise self.track.error(rpt_("its parent's scale is zero there"), float(self.frames[np.argmax(gone)]))
        offset = way - at_frames[:, :3, 3]
        local = np.linalg.solve(at_frames[:, :3, :3], offset[:, :, np.newaxis])[:, :, 0]
        return self.frames, np.asarray(local, dtype=np.float64)

    def _along(self, values: Values) -> Values:
        """Evaluate the track's spline through other locations or quaternions at its keys; raise AnimationError."""
        own = next(iter(self.kept.values()))
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


def _parent(item: Any, bone: str, frames: Float32Array, track: Track) -> Matrices:
    """Return matrices from the object's or bone's own location or rotation to the world; raise UnknownMotionError."""
    at: Frames = frames.astype(np.float64)
    prefix = f"{bone_path(item.pose.bones[bone])}." if bone else ""
    n = len(at)
    moved = {
        (item.session_uid, f"{prefix}location"): np.zeros((n, 3)),
        (item.session_uid, f"{prefix}rotation"): np.tile(_STILL, (n, 1)),
        (item.session_uid, f"{prefix}scale"): np.ones((n, 3)),
    }
    if not bone:
        moved[item.session_uid, "delta_scale"] = np.ones((n, 3))
        if not track.is_rotation:
            moved[item.session_uid, "delta_rotation"] = np.tile(_STILL, (n, 1))
    return TransformSampler(at, moved).matrices(item, bone)


def _turns(matrices: Matrices, track: Track) -> Values:
    """Return the rotations of matrices as quaternions; raise AnimationError where they also shear or mirror."""
    axes = matrices[:, :3, :3]
    squares = np.einsum("nji,njk->nik", axes, axes)
    size = np.trace(squares, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / 3.0
    if (size <= 0.0).any() or (np.abs(squares - size * np.eye(3)) > _SKEWED * size).any():
        raise track.error(rpt_("its parent is unequally scaled, so its rotation in the world is no rotation"))
    if (np.linalg.det(axes) < 0.0).any():
        raise track.error(rpt_("its parent is mirrored, so its rotation in the world is no rotation"))
    return rotations.from_matrix(axes / np.sqrt(size))
