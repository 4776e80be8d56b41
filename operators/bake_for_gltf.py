# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake as curves all rotations and eased tracks that handles play, so that glTF's exporter can do without samples."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import AnimationError, Options, bake_many
from ..animation.fcurves.channels import channels_of
from ..animation.fcurves.frames import union
from ..animation.store.own_keys import read_own_keys
from ..animation.store.parameters import read_parameters
from ..animation.store.tracks import Track, find_tracks
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import Status, finish


def wrong_in_gltf(scene: Any) -> dict[bpy.types.ID, list[str]]:
    """Return the objects of the scene with tracks that glTF's exporter gets wrong without samples, and their paths.

    It takes the handles of a key for a third of their segment. Those of rotations and eases have other lengths.
    """
    found: dict[bpy.types.ID, list[str]] = {}
    for item in scene.objects:
        try:
            tracks = [t for t in find_tracks(item, channels_of(item)) if t.in_use and t.is_played_by_handles]
            paths = [track.path for track in tracks if track.is_rotation or _is_eased(track, scene)]
        except AnimationError:
            continue
        if paths:
            found[item] = paths
    return found


def _is_eased(track: Track, scene: Any) -> bool:
    own = read_own_keys(track)
    frames = union([each.keys.frames for each in own.values()])
    parameters = read_parameters(track, own, frames, selection.defaults_of(scene))
    return bool(parameters["ease_to"].any() or parameters["ease_from"].any())


class TCB_OT_bake_for_gltf(bpy.types.Operator):
    """Bake rotations and eased tracks played by handles, for export without sampling"""

    bl_idname = "tcb.bake_for_gltf"
    bl_label = "Bake Rotations and Eases as Curves"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Status:
        options = Options(output="CURVES", defaults=selection.default_parameters(context))
        tracks = wrong_in_gltf(context.scene)
        report = bake_many(tracks, options)
        return finish(self, report, rpt_("Baked {:s}", report.counts), rpt_("Handles play no rotation and no ease"))
