# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake in World Space: a bake that interpolates locations and rotations in world space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..arguments import Parameters, Positive, checked
from ..bake.bake_job import too_near_keys
from ..bake.pipeline import bake, rebake
from ..bake.world_space_samples import WorldMotion, is_in_world
from ..fcurves.channels import channels_of, editable_channels, users_of_channels
from ..many import on_each
from ..options import BAKE
from ..report import AnimationError, Finding, Report
from ..store.editable import blocking_reasons
from ..store.find_tracks import find_tracks
from ..store.paths import bone_path
from ..store.read_own_keys import read_own_keys
from ..store.table.track_records import Options
from ..store.tracks import Track
from ..track_paths import WholePath


@checked
def bake_in_world(
    item: bpy.types.Object,
    bones: Sequence[str] = (),
    *,
    step: Positive = BAKE["step"].default,
    defaults: Parameters | None = None,
) -> Report:
    """Bake bones, or an object with a parent, as samples, interpolating locations and rotations in world space.

    The poses at the keys are preserved. The splines between the keys pass through the world-space locations and
    orientations of these poses, and use the tracks' methods and parameters. All other TCB tracks are baked as usual. If
    `bake` or Live later bakes such a track again, the track is still interpolated in world space, with the parent's
    current motion.

    Parameters
    ----------
    item : bpy.types.Object
        The object, or the armature of the bones.
    bones : sequence of str
        Bones of the armature. If empty, the object itself is baked.
    step : float
        Interval between samples in frames.
    defaults : mapping, optional
        Parameters of keys that have none of their own.

    Returns
    -------
    Report
        The report of the bake, including tracks baked as usual.

    Raises
    ------
    AnimationError
        There is no parent or no TCB location or rotation, the parent's axes are skewed or unequally scaled, or
        something other than F-curves and parents moves the parent. Nothing was changed.
    ValueError
        The step is not a positive number.

    Examples
    --------
    >>> ball.parent = rig
    >>> report = animation.enable(ball)
    >>> animation.bake_in_world(ball).samples
    222
    """
    step_error = too_near_keys(step)
    if step_error:
        raise AnimationError(step_error.on(item.name))
    options = Options(step=step, defaults=defaults or {}, in_world=True).as_kept()
    editable_channels(item)
    child: Any = item
    pose_bones = child.pose.bones if child.pose else {}
    for bone in bones:
        if bone not in pose_bones:
            raise AnimationError(Finding("NO_BONE", item.name, arguments=(bone,)))
    if not bones and child.parent is None:
        raise AnimationError(Finding("WORLD_NO_PARENT", item.name))
    tracks = [track for bone in bones or [""] for track in _tracks(child, bone)]
    for track in tracks:
        # Raise errors before anything is changed.
        WorldMotion(child, track, read_own_keys(track), options).channel_values()
    paths = {track.path for track in tracks}
    all_tracks = find_tracks(item, channels_of(item))
    others = [WholePath(track.path) for track in all_tracks if track.enabled and track.path not in paths]
    report = bake([item], Options(step=step, defaults=defaults or {}), {item: others}) if others else Report.on([item])
    channels = channels_of(item)
    (users,) = users_of_channels([channels])
    # The bake of the other tracks may have replaced the F-curves.
    current_tracks = [track for track in find_tracks(item, channels) if track.path in paths]
    report.add(rebake(users, channels, current_tracks, options, keep_options=False))
    if report.errors and not report.tracks:
        raise AnimationError(*report.errors)
    return report


bake_in_world_many = on_each(bake_in_world, '[rig], ["foot.L"]')


def _tracks(item: Any, bone: str) -> list[Track]:
    """Return the location and rotation tracks of the object or bone. Raises AnimationError if there are none."""
    prefix = f"{bone_path(item.pose.bones[bone])}." if bone else ""
    tracks = [
        track
        for track in find_tracks(item, channels_of(item), [prefix])
        if "." not in track.path.removeprefix(prefix) and is_in_world(track, item) and track.enabled
    ]
    for reason in blocking_reasons(tracks):
        if reason:
            raise AnimationError(reason)
    if not tracks:
        raise AnimationError(Finding("WORLD_NO_TRACK", bone or item.name))
    return tracks
