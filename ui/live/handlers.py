# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers of Blender's events: edits, undo, loading, saving and rendering."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import bpy

from ...animation.bake.drags import finish_preview, forget_preview, is_dragged
from ...animation.store.table.custom_property import read_table
from ...animation.store.table.session import session
from ...animation.store.table_upkeep import adopt_tracks, clear_orphans
from ..operator_results import keep_result_notes
from ..sliders import slider_drag
from . import attempts_to_edit_baked, switch, updates
from .updates import actions_with_changed_playback, forget_settings, is_watched, watches

_Handler = TypeVar("_Handler", bound=Callable[..., None])
persistent: Callable[[_Handler], _Handler] = bpy.app.handlers.persistent


@persistent
def _after_update(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return
    if not bpy.app.background:
        attempts_to_edit_baked.note_update(depsgraph)
        if attempts_to_edit_baked.is_pending():
            updates.tick_soon()
    edited_actions = []
    if depsgraph.id_type_updated("OBJECT") and not updates.is_busy():
        edited_actions += _mark_changed_playback(_updated(depsgraph, bpy.types.Object))
    if not edited_actions and not depsgraph.id_type_updated("ACTION"):
        return
    for action in _updated(depsgraph, bpy.types.Action):
        edited_actions.append(action)
        if is_watched(action):
            updates.mark(action)
        if _times_scene(action):
            updates.mark_all()
    if bpy.app.background and not updates.is_busy() and not is_dragged(0.0):
        updates.update_now(edited_actions)


def _updated(depsgraph: bpy.types.Depsgraph, datablock_type: type) -> list[Any]:
    originals = (update.id and update.id.original for update in depsgraph.updates)
    return [datablock for datablock in originals if isinstance(datablock, datablock_type)]


def _mark_changed_playback(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Action]:
    """Mark the actions of objects whose playback settings have changed, for a full comparison."""
    actions = actions_with_changed_playback(objects)
    for action in actions:
        for (uid, _), watch in watches.items():
            if uid == action.session_uid:
                watch.forget()
        updates.mark(action)
    return actions


def _times_scene(action: bpy.types.Action) -> bool:
    """Return whether the action may contain a scene's frame function, which times all motion in the scene."""
    animations = [scene.animation_data for scene in bpy.data.scenes]
    return any(animation is not None and animation.action == action for animation in animations)


@persistent
def _before_frame_change(*_args: object) -> None:
    """Mark all actions, because the first update at a new frame does not list its datablocks.

    The datablocks cannot be read here. Before the evaluation, they include removed datablocks, which crash Blender when
    read.
    """
    view_layer = bpy.context.view_layer
    depsgraph = None if updates.state.is_rendering or view_layer is None else view_layer.depsgraph
    attempts_to_edit_baked.note_frame_change()
    if depsgraph is None:
        return
    if depsgraph.id_type_updated("ACTION"):
        updates.mark_all()
    if depsgraph.id_type_updated("OBJECT"):
        _mark_changed_playback(bpy.data.objects)


@persistent
def _before_undo(*_args: object) -> None:
    # The preview's keys no longer exist after an undo.
    finish_preview()


@persistent
def _after_undo(*_args: object) -> None:
    """Mark all actions after an undo, because all references are invalid and any key may have changed."""
    keep_result_notes(())
    for watch in watches.values():
        watch.forget()
    updates.mark_all()


@persistent
def _after_loading(*_args: object) -> None:
    """Mark all actions, because a file such as an autosave may contain edits that were not baked."""
    _forget_all()
    session.forget_actions()
    start()


def _forget_all() -> None:
    updates.state.clear()
    watches.clear()
    forget_preview()
    slider_drag.forget()
    attempts_to_edit_baked.clear()
    keep_result_notes(())
    forget_settings()


def start() -> None:
    """Read the tables of the open file, so that the rows of copied keys are known. Then mark all actions."""
    for action in bpy.data.actions:
        read_table(action)
    updates.mark_all()


@persistent
def _before_saving(*_args: object) -> None:
    # Edits that were not baked when the file was saved are baked after loading.
    if not updates.is_editing():
        updates.flush_all()
        _settle_tables()


def _settle_tables() -> None:
    if not len(session.rows):
        return
    editable_actions = [action for action in bpy.data.actions if action.is_editable]
    for action in editable_actions:
        adopt_tracks(action)
    for action in editable_actions:
        clear_orphans(action)


@persistent
def _before_rendering(*_args: object) -> None:
    updates.flush_all()
    updates.state.is_rendering = True


@persistent
def _after_rendering(*_args: object) -> None:
    updates.state.is_rendering = False


_HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("frame_change_pre", _before_frame_change),
    ("undo_pre", _before_undo),
    ("redo_pre", _before_undo),
    ("undo_post", _after_undo),
    ("redo_post", _after_undo),
    ("load_post", _after_loading),
    ("save_pre", _before_saving),
    ("render_init", _before_rendering),
    ("render_complete", _after_rendering),
    ("render_cancel", _after_rendering),
)


def append(handlers: Iterable[tuple[str, Callable[..., None]]]) -> None:
    """Append handlers, given with the names of their events in `bpy.app.handlers`."""
    for event, handler in handlers:
        getattr(bpy.app.handlers, event).append(handler)


def remove(handlers: Iterable[tuple[str, Callable[..., None]]]) -> None:
    """Remove handlers that `append` has appended."""
    for event, handler in handlers:
        handlers_of_event = getattr(bpy.app.handlers, event)
        # Another add-on or Load Factory Settings may have cleared the handlers.
        if handler in handlers_of_event:
            handlers_of_event.remove(handler)


def register() -> None:
    switch.register()
    append(_HANDLERS)
    # Blender has no data while it enables extensions at startup.
    bpy.app.timers.register(start, first_interval=0.0)


def unregister() -> None:
    for timer in (updates.tick, start):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    remove(_HANDLERS)
    switch.unregister()
    _forget_all()
