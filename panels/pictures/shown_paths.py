# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths that a 3D Viewport shows: of the selected objects or bones, if paths or the tool that edits them are on."""

from __future__ import annotations

from typing import Any

import bpy

from ...animation.sampling.camera_cuts import cameras_of
from ...animation.sampling.camera_matrices import view_now
from ...animation.translation import iface_
from ...ui.scene import defaults_of
from . import path_cache
from .path_computation import Request
from .path_pick import DrawnPath
from .paths import Trace

TOOL = "tcb.path_tool"
"""Identifier of the tool that edits paths. Paths are visible while the tool is active."""
_MAX_FRAMES = 20_000
"""Maximum number of frames of a path."""


def drawn_paths(context: bpy.types.Context) -> list[DrawnPath]:
    """Return the last computed paths in the context's viewport."""
    if path_cache.state.has_failed or not draws_paths(context):
        return []
    frame_range, camera_to_world = drawn_range(context.scene), view_now(context.scene)
    drawn = []
    for request, (obj, bone) in shown_objects(context).items():
        cached = path_cache.state.paths.get(request)
        if cached is not None:
            _, trace = request
            path = cached.path if frame_range is None else cached.path.within(*frame_range)
            drawn.append(DrawnPath(obj, bone, trace, path, None if path.views is None else camera_to_world))
    return drawn


def shown_objects(context: bpy.types.Context) -> dict[Request, tuple[Any, str]]:
    """Return the selected bones, or the visible selected objects, whose paths this viewport draws."""
    if context.mode == "POSE":
        bones = (*(context.selected_pose_bones or ()), context.active_pose_bone)
        items = [(bone.id_data, bone.name) for bone in bones if bone is not None]
    else:
        items = [(obj, "") for obj in context.selected_objects]
        active_object: Any = context.view_layer and context.view_layer.objects.active
        if active_object is not None and active_object.visible_get(viewport=context.space_data):
            items.append((active_object, ""))
    trace = trace_of(context.scene)
    return {((obj.session_uid, bone), trace): (obj, bone) for obj, bone in items}


def draws_paths(context: bpy.types.Context) -> bool:
    """Return whether the viewport draws overlays, and paths are turned on or the tool that edits paths is active."""
    space: Any = context.space_data
    return bool(space.overlay.show_overlays) and are_turned_on(context)


def are_turned_on(context: bpy.types.Context) -> bool:
    """Return whether paths are turned on in the tab, or the tool that edits paths is active."""
    manager: Any = context.window_manager
    return bool(manager.tcb_show_paths) or is_tool_active(context)


def is_tool_active(context: bpy.types.Context) -> bool:
    """Return whether the tool that edits paths is active."""
    workspace = context.workspace
    tool = workspace.tools.from_space_view3d_mode(context.mode, create=False) if workspace is not None else None
    return tool is not None and tool.idname == TOOL


def trace_of(scene: Any) -> Trace:
    """Return the followed point and the frames of the scene's paths."""
    settings = scene.tcb_paths
    start, end = _playback_range(scene)
    end = min(end, start + _MAX_FRAMES - 1)
    cameras = cameras_of(scene) if settings.space == "CAMERA" else ()
    defaults = tuple(defaults_of(scene).items())
    return Trace(settings.point, settings.axis, settings.length, start, end, cameras, defaults)


def _playback_range(scene: Any) -> tuple[int, int]:
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def drawn_range(scene: Any) -> tuple[int, int] | None:
    """Return the first and last frames to draw, or None for all."""
    settings = scene.tcb_paths
    if not settings.around:
        return None
    return scene.frame_current - settings.before, scene.frame_current + settings.after


def status(context: bpy.types.Context) -> str:
    """Return the note on the paths, or an empty string."""
    if path_cache.state.has_failed:
        return iface_("Paths cannot be drawn. See the system console")
    text = path_cache.state.stepping_text({owner for owner, _ in shown_objects(context)})
    if text:
        return text
    if _playback_range(context.scene)[1] > trace_of(context.scene).end:
        return iface_("Paths end after {:d} frames", _MAX_FRAMES)
    return ""
