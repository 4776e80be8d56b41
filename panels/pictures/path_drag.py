# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a key on a path, the end of a tangent, or a key along the path. The motion updates during the drag."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...animation.edit.keys import record_tracks, revert_tracks
from ...animation.fcurves.channels import channels_of
from ...animation.fcurves.keyframes import SAME_FRAME
from ...animation.on_path.drag_point import DraggedTip, movable_point
from ...animation.on_path.drag_tangent import DraggedTangent, Side
from ...animation.on_path.path_keys import Spot, Vector, keyed_tracks, moving_tracks
from ...animation.report import AnimationError
from ...animation.scene_time import action_time
from ...animation.store.read_own_keys import key_frames
from ...animation.text import iface_, n_, number_text, rpt_
from ...operators.parameters import show_in_headers, typed_after
from ...ui import sidebar_tracks
from ...ui.live import updates
from ...ui.operator_results import Status, refuse
from ...ui.scene import go_to
from . import paths_in_viewport
from .mouse_on_paths import AXES, MODIFIERS, InViewport, Pointer, pressed_at, under_mouse
from .path_geometry import transformed
from .path_pick import SIDES, DrawnPath, Picked, frame_near, picked_position, tangent_of

_KEY_HINT = n_(
    "Release: confirm, Esc: cancel, Ctrl: change the frame (Shift: between frames), X, Y, Z: along an axis,"
    " or type a number"
)
_TANGENT_HINT = n_("Release: confirm, Esc: cancel, Shift: this side only, Ctrl: length only, or type a length")


class TCB_OT_path_drag(InViewport, bpy.types.Operator):
    """Drag a key or tangent on the path, or click to go to the key"""

    bl_idname = "tcb.path_drag"
    bl_label = "Edit on Path"
    bl_options: Any = {"UNDO", "BLOCKING"}

    def invoke(self, context: Any, event: bpy.types.Event) -> Status:
        start = pressed_at(context, event)
        hit = under_mouse(context, start)
        if hit is None:
            return {"PASS_THROUGH"}
        self._picked, self._drawn = hit
        row = self._picked.row
        if row is None:
            # A double-click inserts a key, so the first click must not select objects behind the path.
            return {"CANCELLED"}
        updates.flush()
        self._scene: Any = context.scene
        self._spot = self._picked.spot(self._scene, self._drawn)
        self._pointer = Pointer(context, start, self._drawn, row)
        self._pointer.is_shift_held, self._pointer.is_ctrl_held = event.shift, event.ctrl
        self._drag: _Drag | None = None
        self._has_changed_keys = False
        try:
            spot = self._spot
            moving = moving_tracks(spot.item, spot.bone, spot.followed)
            self._recorded = record_tracks((spot.item, track) for track in moving)
            if self._picked.part != "KEY" and channels_of(spot.item).action.library is None:
                # Refuse a tangent that parameters do not determine before the drag. With a linked action, this would
                # make a copy of the action.
                self._new_drag()
        except AnimationError as refusal:
            return refuse(self, refusal)
        self._area: Any = context.area
        paths_in_viewport.hover(self._picked)
        self._show_state(context, "")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        pointer = self._pointer
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        is_release = event.type == "LEFTMOUSE" and event.value == "RELEASE" and not pointer.typed
        if is_release or (event.type in {"RET", "NUMPAD_ENTER", "LEFTMOUSE"} and event.value == "PRESS"):
            return self._confirm(context)
        if not self._read(event):
            return {"RUNNING_MODAL"}
        if pointer.is_still and self._drag is None and not pointer.typed:
            return {"RUNNING_MODAL"}
        try:
            self._apply(context)
        except AnimationError as refusal:
            self.cancel(context)
            return refuse(self, refusal)
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Restore the keys before the drag. Blender also calls this when it closes the window or loads a file."""
        if self._has_changed_keys:
            revert_tracks(self._recorded)
            updates.flush()
        paths_in_viewport.hover(None)
        show_in_headers(context, self._area, None, None)

    def _read(self, event: bpy.types.Event) -> bool:
        """Update the pointer from the event, and return whether anything has changed."""
        pointer = self._pointer
        if event.type == "MOUSEMOVE":
            pointer.move(event)
        pointer.read_modifiers(event)
        if event.type == "MOUSEMOVE":
            return True
        if event.value == "PRESS" and event.type in AXES:
            pointer.axis = "" if pointer.axis == event.type else event.type
        elif (typed := typed_after(pointer.typed, event)) is not None:
            pointer.typed = typed
        else:
            return event.type in MODIFIERS and event.value == "PRESS"
        return True

    def _new_drag(self) -> _Drag:
        """Begin to drag the picked element. Raises AnimationError if it cannot be dragged."""
        if self._picked.part != "KEY":
            return _TangentDrag(self._spot, self._drawn, self._picked, self._pointer)
        if self._pointer.is_ctrl_held:
            return _FrameDrag(self._spot, self._drawn)
        position = picked_position(self._drawn.path, self._picked)
        return _PositionDrag(self._spot, transformed(self._pointer.path_to_world, position))

    def _apply(self, context: bpy.types.Context) -> None:
        is_frame_drag = isinstance(self._drag, _FrameDrag)
        # Ctrl was pressed or released.
        if self._has_changed_keys and self._picked.part == "KEY" and self._pointer.is_ctrl_held != is_frame_drag:
            revert_tracks(self._recorded)
            self._drag = None
        self._has_changed_keys = True
        if self._drag is None:
            self._drag = self._new_drag()
        state = self._drag.follow(self._pointer)
        paths_in_viewport.hover(self._picked._replace(frame=self._drag.frame))
        self._show_state(context, state)

    def _confirm(self, context: bpy.types.Context) -> Status:
        show_in_headers(context, self._area, None, None)
        if self._has_changed_keys:
            updates.flush()
            self._show_in_tab(context, self._drag.frame if self._drag is not None else self._picked.frame)
            return {"FINISHED"}
        if self._picked.part == "KEY":
            self._show_in_tab(context, self._picked.frame)
        return {"CANCELLED"}

    def _show_in_tab(self, context: Any, frame: float) -> None:
        """Show the key in the tab: select a track that moves the point, and go to the key's frame."""
        spot = self._spot
        if spot.bone:
            spot.item.data.bones.active = spot.item.data.bones[spot.bone]
        else:
            context.view_layer.objects.active = spot.item
        moving = moving_tracks(spot.item, spot.bone, spot.followed)
        # This frame may have only rotation keys that move the bone's point.
        in_action = action_time(spot.item, frame)
        moving.sort(key=lambda track: float(np.abs(key_frames(track) - in_action).min(initial=np.inf)) > SAME_FRAME)
        paths = [track.path for track in moving]
        active = sidebar_tracks.active_track(context)
        if paths and (active is None or active[0] != spot.item or active[1].path not in paths):
            context.window_manager.tcb_track = sidebar_tracks.track_identifier(spot.item, paths[0])
        go_to(self._scene, frame)

    def _show_state(self, context: bpy.types.Context, state: str) -> None:
        typed = f"  [{self._pointer.typed}|]" if self._pointer.typed else ""
        axis = f"  {self._pointer.axis}" if self._pointer.axis else ""
        header = f"{self._spot.name}: {rpt_('frame {:g}', self._spot.frame)}  {state}{axis}{typed}"
        hint = iface_(_KEY_HINT if self._picked.part == "KEY" else _TANGENT_HINT)
        show_in_headers(context, self._area, header, hint)


class _PositionDrag:
    def __init__(self, spot: Spot, position: Vector) -> None:
        """Start at the world position of the key."""
        self._point = movable_point(spot)
        self._position = position
        self.frame = spot.frame
        """Current frame of the key."""

    def follow(self, pointer: Pointer) -> str:
        """Move the key to the mouse, and return a text about the new state.

        Raises AnimationError if the key cannot be changed.
        """
        if isinstance(self._point, DraggedTip) and not pointer.axis:
            target = self._point.target(*pointer.ray())
        else:
            target = pointer.point_near(self._position)
        self._point.move_to(target)
        return "  ".join(f"{axis} {number_text(number)}" for axis, number in zip(AXES, target.tolist(), strict=True))


class _TangentDrag:
    """Drag of the end of a tangent, which changes tension, continuity and bias."""

    def __init__(self, spot: Spot, drawn: DrawnPath, picked: Picked, pointer: Pointer) -> None:
        """Start at the picked end. Raises AnimationError if parameters do not determine the tangent."""
        side: Side = "handle_left" if picked.part == "handle_left" else "handle_right"
        reach = float(drawn.path.reach[SIDES.index(side), picked.row])
        world = pointer.path_to_world
        self._tangent: Vector = world[:3, :3] @ tangent_of(drawn.path, picked)
        self._key = transformed(world, drawn.path.keys[picked.row].astype(np.float64))
        self._dragged = DraggedTangent(spot, side, self._tangent, reach, dict(spot.defaults), pointer.ray()[1])
        self.frame = spot.frame

    def follow(self, pointer: Pointer) -> str:
        end = pointer.point_near(self._key + self._tangent) - self._key
        length = float(np.linalg.norm(end))
        if pointer.number is not None and not pointer.axis and length > 0.0:
            end = end * (pointer.number / length)
        self._dragged.drag_to(end, alone=pointer.is_shift_held, length_only=pointer.is_ctrl_held)
        numbers = [number_text(self._dragged.parameters[name], 3) for name in ("tension", "continuity", "bias")]
        return iface_("Tension {:s}   Continuity {:s}   Bias {:s}", *numbers)


class _FrameDrag:
    def __init__(self, spot: Spot, drawn: DrawnPath) -> None:
        self._tracks = keyed_tracks(spot)
        self._drawn = drawn
        self.frame = spot.frame

    def follow(self, pointer: Pointer) -> str:
        previous = max(keyed.room[0] for keyed in self._tracks)
        following = min(keyed.room[1] for keyed in self._tracks)
        gap = min(1.0, (following - previous) / 4.0)
        self.frame = min(max(self._frame_at(pointer), previous + gap), following - gap)
        for keyed in self._tracks:
            if keyed.frame != self.frame:
                keyed.move_to(self.frame)
                keyed.play()
        return f"→ {self.frame:g}"

    def _frame_at(self, pointer: Pointer) -> float:
        """Return the typed frame, or else the frame under the mouse, which is whole unless Shift is held."""
        if pointer.number is not None:
            return pointer.number
        size = pointer.region.width, pointer.region.height
        path_to_screen = self._drawn.screen_matrix(pointer.view.perspective_matrix)
        frame, _ = frame_near(self._drawn.path, path_to_screen, size, pointer.position)
        return frame if pointer.is_shift_held else float(round(frame))


_Drag = _PositionDrag | _TangentDrag | _FrameDrag
