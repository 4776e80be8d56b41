# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a key on a path, the end of a tangent, or a key along the path. The motion updates during the drag."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector as BlenderVector

from ...animation.edit.canceled_changes import record_tracks, revert_tracks
from ...animation.errors import AnimationError
from ...animation.fcurves.channels import channels_of
from ...animation.fcurves.frames import SAME_FRAME
from ...animation.number_text import number_text
from ...animation.on_path.dragged_tangent import DraggedTangent, Side
from ...animation.on_path.keys import keyed_tracks
from ...animation.on_path.move_point import TurningTip, movable_point
from ...animation.on_path.points import Spot, Vector, moving_tracks
from ...animation.sampling.cameras import View, view_now
from ...animation.store.own_keys import key_frames
from ...animation.translation import iface_, n_, rpt_
from ...ui import selection
from ...ui.live import handlers
from ...ui.operator_results import Status
from ...ui.redraw import show_in_headers
from ...ui.sliders.modifier_keys import typed_after
from . import overlay
from .path_pick import Picked, Shown, end_of, frame_near, pick, tangent_of
from .paths import transformed

_STILL = 3.0
"""Maximum mouse movement of a click, in pixels at a display scale of 1. A longer movement is a drag."""
_AXES = "XYZ"


class _Seen(NamedTuple):
    """Last position of the mouse, in pixels of a region."""

    region: int
    at: tuple[int, int]


_seen: _Seen | None = None


def see(context: bpy.types.Context, event: bpy.types.Event) -> None:
    """Store the position of the mouse."""
    global _seen
    region = context.region
    _seen = _Seen(region.as_pointer(), (event.mouse_region_x, event.mouse_region_y)) if region is not None else None


def pressed_at(context: bpy.types.Context, event: bpy.types.Event) -> tuple[int, int]:
    """Return the position of a mouse press, in pixels of the region.

    If the mouse is faster than the redraw, Blender's event contains a later position. The last mouse move was at the
    position of the press.
    """
    now = event.mouse_region_x, event.mouse_region_y
    has_gone_on = (event.mouse_prev_x, event.mouse_prev_y) != (event.mouse_x, event.mouse_y)
    is_here = _seen is not None and context.region is not None and _seen.region == context.region.as_pointer()
    return _seen.at if _seen is not None and has_gone_on and is_here else now


def under_mouse(context: bpy.types.Context, mouse: tuple[int, int]) -> tuple[Picked, Shown] | None:
    """Return the path element at the mouse position, in pixels of the region."""
    region, view = context.region, context.region_data
    preferences: Any = context.preferences
    if region is None or view is None or region.type != "WINDOW":
        return None
    size = region.width, region.height
    return pick(
        overlay.shown_paths(context), np.array(view.perspective_matrix), size, mouse, preferences.system.ui_scale
    )


_KEY_HINT = n_(
    "Release: confirm, Esc: cancel, Ctrl: change the frame (Shift: between frames), X, Y, Z: along an axis,"
    " or type a number"
)
_TANGENT_HINT = n_("Release: confirm, Esc: cancel, Shift: this side only, Ctrl: length only, or type a length")


class _Pointer:
    """The mouse during a drag in a viewport.

    Positions and directions are in world space at the key's frame. Paths in camera space are drawn elsewhere.
    """

    def __init__(self, context: bpy.types.Context, start: tuple[int, int], shown: Shown, row: int) -> None:
        self._scene = context.scene
        self._at_key = shown.world_at(row) if shown.view is not None else None
        self.region: Any = context.region
        self.view: Any = context.region_data
        preferences: Any = context.preferences
        self.still = _STILL * preferences.system.ui_scale
        self.start = self.at = start
        self.axis = ""
        self.typed = ""
        self.alone = self.other = False
        """True if Shift and Ctrl are held."""

    def move(self, event: bpy.types.Event) -> None:
        # If the mouse has left the region, the event belongs to another region.
        self.at = (event.mouse_x - self.region.x, event.mouse_y - self.region.y)

    @property
    def is_still(self) -> bool:
        away = np.subtract(self.at, self.start)
        return bool(np.abs(away).max() < self.still)

    @property
    def number(self) -> float | None:
        """Return the typed number."""
        try:
            return float(self.typed)
        except ValueError:
            return None

    @property
    def to_drawn(self) -> View:
        """Return the matrix from world space at the key's frame to the drawn position, shape (4, 4)."""
        if self._at_key is None:
            return np.eye(4)
        drawn: View = view_now(self._scene) @ np.linalg.inv(self._at_key)
        return drawn

    def ray(self) -> tuple[Vector, Vector]:
        """Return the origin and the direction of the ray under the mouse."""
        origin = np.array(view3d_utils.region_2d_to_origin_3d(self.region, self.view, self.at))
        direction = np.array(view3d_utils.region_2d_to_vector_3d(self.region, self.view, self.at))
        if self._at_key is None:
            return origin, direction
        into = np.linalg.inv(self.to_drawn).astype(np.float64)
        return transformed(into, origin), into[:3, :3] @ direction

    def beside(self, place: Vector) -> Vector:
        """Return the point under the mouse, at the depth of the position or on the chosen axis."""
        if not self.axis:
            drawn = self.to_drawn
            depth = BlenderVector(transformed(drawn, place).tolist())
            at = np.array(view3d_utils.region_2d_to_location_3d(self.region, self.view, self.at, depth))
            if self._at_key is None:
                return at
            into = np.linalg.inv(drawn).astype(np.float64)
            return transformed(into, at)
        along = np.eye(3)[_AXES.index(self.axis)]
        if self.number is not None:
            moved: Vector = place + self.number * along
            return moved
        origin, direction = self.ray()
        # The point of the axis closest to the ray.
        across = along - direction * float(along @ direction) / float(direction @ direction)
        square = float(across @ across)
        part = float((origin - place) @ across) / square if square > 1e-6 else 0.0
        found: Vector = place + part * along
        return found


class _Place:
    """Drag of a key in world space. `frame` is the current frame of the key."""

    def __init__(self, spot: Spot, at: Vector) -> None:
        self._held = movable_point(spot)
        self._at = at
        self.frame = spot.frame

    def to(self, pointer: _Pointer) -> str:
        """Follow the mouse, and return a text about the new state.

        Raises AnimationError if the key cannot be changed.
        """
        target = pointer.beside(self._at)
        if isinstance(self._held, TurningTip) and not pointer.axis:
            target = self._held.target(*pointer.ray())
        self._held.move_to(target)
        return "  ".join(f"{axis} {number_text(number)}" for axis, number in zip(_AXES, target.tolist(), strict=True))


class _Tangent:
    """Drag of the end of a tangent."""

    def __init__(self, spot: Spot, shown: Shown, picked: Picked, pointer: _Pointer, defaults: dict[str, float]) -> None:
        side: Side = "handle_left" if picked.part == "handle_left" else "handle_right"
        reach = float(shown.path.reach[0 if side == "handle_left" else 1][picked.row])
        world = shown.world_at(picked.row)
        self._tangent: Vector = world[:3, :3] @ tangent_of(shown.path, picked)
        self._key = transformed(world, shown.path.keys[picked.row].astype(np.float64))
        self._held = DraggedTangent(spot, side, self._tangent, reach, defaults, pointer.ray()[1])
        self.frame = spot.frame

    def to(self, pointer: _Pointer) -> str:
        end = pointer.beside(self._key + self._tangent) - self._key
        length = float(np.linalg.norm(end))
        if pointer.number is not None and not pointer.axis and length > 0.0:
            end = end * (pointer.number / length)
        self._held.drag_to(end, alone=pointer.alone, length_only=pointer.other)
        numbers = [number_text(self._held.parameters[name], 3) for name in ("tension", "continuity", "bias")]
        return iface_("Tension {:s}   Continuity {:s}   Bias {:s}", *numbers)


class _Time:
    """Drag of a key along the path, which changes its frame."""

    def __init__(self, spot: Spot, shown: Shown) -> None:
        self._tracks = keyed_tracks(spot)
        self._shown = shown
        self.frame = spot.frame

    def to(self, pointer: _Pointer) -> str:
        size = pointer.region.width, pointer.region.height
        to_screen = self._shown.to_screen(pointer.view.perspective_matrix)
        frame, _ = frame_near(self._shown.path, to_screen, size, pointer.at)
        frame = frame if pointer.number is None else pointer.number
        if not pointer.alone and pointer.number is None:
            frame = float(round(frame))
        before, after = (pick_(each.room[side] for each in self._tracks) for side, pick_ in ((0, max), (1, min)))
        gap = min(1.0, (after - before) / 4.0)
        self.frame = min(max(frame, before + gap), after - gap)
        for each in self._tracks:
            if each.frame != self.frame:
                each.move_to(self.frame)
                each.play()
        return rpt_("frame {:g}", self.frame)


_Drag = _Place | _Tangent | _Time


class InViewport:
    """Base class for operators on paths in a 3D Viewport."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.area is not None and context.area.type == "VIEW_3D" and context.mode in {"OBJECT", "POSE"}


class TCB_OT_path_drag(InViewport, bpy.types.Operator):
    """Drag a key or tangent on the path, or click to go to the key"""

    bl_idname = "tcb.path_drag"
    bl_label = "Edit on Path"
    bl_options: Any = {"UNDO", "BLOCKING"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        start = pressed_at(context, event)
        found = under_mouse(context, start)
        if found is None:
            return {"PASS_THROUGH"}
        self._picked, self._shown = found
        if self._picked.part == "PATH":
            # A double-click inserts a key, so the first click must not select objects behind the path.
            return {"CANCELLED"}
        handlers.flush()
        self._scene: Any = context.scene
        self._spot = self._picked.spot(self._scene, self._shown)
        self._defaults = selection.default_parameters(context)
        self._pointer = _Pointer(context, start, self._shown, self._picked.row)
        self._pointer.alone, self._pointer.other = event.shift, event.ctrl
        self._drag: _Drag | None = None
        self._changed = False
        try:
            spot = self._spot
            moving = moving_tracks(spot.item, spot.bone, spot.followed)
            self._recorded = record_tracks((spot.item, track) for track in moving)
            if self._picked.part != "KEY" and channels_of(spot.item).action.library is None:
                # Refuse a tangent that parameters do not determine before the drag. This would copy a linked action.
                self._hold()
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self._area: Any = context.area
        overlay.hover(self._picked)
        self._show(context, "")
        window_manager: Any = context.window_manager
        window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        pointer = self._pointer
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self._take_back()
            return self._end(context, {"CANCELLED"})
        is_release = event.type == "LEFTMOUSE" and event.value == "RELEASE" and not pointer.typed
        if is_release or (event.type in {"RET", "NUMPAD_ENTER", "LEFTMOUSE"} and event.value == "PRESS"):
            return self._confirm(context)
        if not self._follows(event):
            return {"RUNNING_MODAL"}
        if pointer.is_still and self._drag is None and not pointer.typed:
            return {"RUNNING_MODAL"}
        try:
            self._apply(context)
        except AnimationError as refusal:
            self._take_back()
            self.report({"ERROR"}, str(refusal))
            return self._end(context, {"CANCELLED"})
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Restore the state before the drag. Blender calls this to cancel the operator."""
        self._take_back()
        self._end(context, {"CANCELLED"})

    def _follows(self, event: bpy.types.Event) -> bool:
        """Update the mouse and the keys from the event, and return whether anything has changed."""
        pointer = self._pointer
        pointer.alone, pointer.other = event.shift, event.ctrl
        if event.type == "MOUSEMOVE":
            pointer.move(event)
        elif event.value == "PRESS" and event.type in _AXES:
            pointer.axis = "" if pointer.axis == event.type else event.type
        elif (typed := typed_after(pointer.typed, event)) is not None:
            pointer.typed = typed
        else:
            return event.type in {"LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"}
        return True

    def _hold(self) -> _Drag:
        """Begin to drag the picked element."""
        if self._picked.part != "KEY":
            return _Tangent(self._spot, self._shown, self._picked, self._pointer, self._defaults)
        if self._pointer.other:
            return _Time(self._spot, self._shown)
        world = self._shown.world_at(self._picked.row)
        return _Place(self._spot, transformed(world, end_of(self._shown.path, self._picked)))

    def _apply(self, context: bpy.types.Context) -> None:
        if self._changed and self._picked.part == "KEY" and self._pointer.other != isinstance(self._drag, _Time):
            revert_tracks(self._recorded)
            self._drag = None
        self._changed = True
        if self._drag is None:
            self._drag = self._hold()
        now = self._drag.to(self._pointer)
        overlay.hover(self._picked._replace(frame=self._drag.frame))
        self._show(context, now)

    def _confirm(self, context: bpy.types.Context) -> Status:
        if self._changed:
            handlers.flush()
            self._show_in_tab(context, self._drag.frame if self._drag is not None else self._picked.frame)
            return self._end(context, {"FINISHED"})
        if self._picked.part == "KEY":
            self._show_in_tab(context, self._picked.frame)
        return self._end(context, {"CANCELLED"})

    def _show_in_tab(self, context: bpy.types.Context, frame: float) -> None:
        """Show the key in the tab: select a track that moves the point, and go to the key's frame."""
        spot = self._spot
        view_layer: Any = context.view_layer
        if spot.bone:
            spot.item.data.bones.active = spot.item.data.bones[spot.bone]
        else:
            view_layer.objects.active = spot.item
        moving = moving_tracks(spot.item, spot.bone, spot.followed)
        # This frame may have only rotation keys that move the bone's point.
        moving.sort(key=lambda track: float(np.abs(key_frames(track) - frame).min(initial=np.inf)) > SAME_FRAME)
        tracks = [track.path for track in moving]
        shown = selection.active_track(context)
        if tracks and (shown is None or shown[0] != spot.item or shown[1].path not in tracks):
            window_manager: Any = context.window_manager
            window_manager.tcb_track = selection.track_identifier(spot.item, tracks[0])
        selection.go_to(self._scene, frame)

    def _take_back(self) -> None:
        if self._changed:
            revert_tracks(self._recorded)
            handlers.flush()
        overlay.hover(None)

    def _show(self, context: bpy.types.Context, now: str) -> None:
        typed = f"  [{self._pointer.typed}|]" if self._pointer.typed else ""
        axis = f"  {self._pointer.axis}" if self._pointer.axis else ""
        header = f"{self._spot.name}, {rpt_('frame {:g}', self._spot.frame)}:  {now}{axis}{typed}"
        hint = iface_(_KEY_HINT if self._picked.part == "KEY" else _TANGENT_HINT)
        show_in_headers(context, self._area, header, hint)

    def _end(self, context: bpy.types.Context, status: Status) -> Status:
        show_in_headers(context, self._area, None, None)
        return status
