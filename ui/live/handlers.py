# SPDX-License-Identifier: GPL-3.0-or-later
"""Update live actions after edits, undo and loading a file, and before saving and rendering.

Handlers only mark actions, because a running transform holds pointers to the keys and stores its undo step at the end.
A timer bakes marked actions when no operator holds keys and neither playback nor rendering is running.

Without a window there are no timers and no modal operators. Edits to live actions are then detected when Blender
reports an update after an operator.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

import bpy
from bpy.props import BoolProperty

from ...animation import Options, Report
from ...animation.bake.drags import finish_preview, forget_preview, is_dragged
from ...animation.bake.pipeline import bake
from ...animation.checks.track_state import tracks_of
from ...animation.datablocks import users_of
from ...animation.errors import Finding
from ...animation.fcurves.action_refusals import layered_reason, layered_refusals
from ...animation.live.update import check_remaining, is_unsure, refresh, refresh_all
from ...animation.store.live_switch import is_live, switch_off
from ...animation.store.table.custom_property import read_table
from ...animation.store.table.session import session
from ...animation.store.table_upkeep import adopt_tracks, clear_orphans, play_restored
from ...animation.translation import translated
from .. import option_properties, selection
from ..operator_results import keep_result_notes
from ..preferences import completes_rotations
from ..redraw import redraw_editors
from ..sliders import slider_drag
from . import attempts_to_edit_baked
from .messages import forget_all_notes, forget_notes, keep_notes
from .render_warning import forget_warnings, warn_of_render
from .scenes import (
    actions_with_changed_playback,
    default_parameters,
    forget_settings,
    is_editing,
    is_watched,
    watched_actions,
    watches,
)

_Handler = TypeVar("_Handler", bound=Callable[..., None])
_Datablock = TypeVar("_Datablock", bound=bpy.types.ID)
persistent: Callable[[_Handler], _Handler] = bpy.app.handlers.persistent

QUIET = 0.3
"""Seconds without an edit before a track is fully compared. Until then, only its key frames are compared."""
_SECONDS_PER_STEP = 0.008
"""Seconds per step of the full comparison: half of a redraw."""
_RETRY = 0.05
"""Seconds until the next check whether Blender is busy."""


class _State:
    """State of live actions, by `session_uid`."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.marked: set[int] = set()
        """Actions that may have been edited since the last update."""
        self.unsure: set[int] = set()
        """Actions that were updated but not fully compared."""
        self.edited_at = 0.0
        """Time of the last edit, as in `time.monotonic`."""
        self.is_rendering = False


_state = _State()


def _forget_all() -> None:
    _state.clear()
    watches.clear()
    forget_preview()
    slider_drag.forget()
    attempts_to_edit_baked.clear()
    forget_all_notes()
    forget_settings()
    forget_warnings()


def mark(action: bpy.types.Action) -> None:
    """Mark the action for an update."""
    _state.marked.add(action.session_uid)
    _state.edited_at = time.monotonic()
    _tick_soon()


def _tick_soon() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0)


def flush() -> Report:
    """Update all marked actions that were edited, with a full comparison."""
    uids, _state.marked, _state.unsure = _state.marked | _state.unsure, set(), set()
    return _update_each(uids, lambda action: refresh_all(watches, action, *_options_if_live(action)))


def _options_if_live(action: bpy.types.Action) -> tuple[Callable[[list[bpy.types.ID]], Options] | None, bool]:
    """Return the function that returns the options of unplayed tracks, or None if the action is not live.

    Also return whether Live keys all channels of a rotation.
    """
    return _options_for if is_live(action) else None, completes_rotations()


def _flush_soon() -> None:
    """Update marked actions after a fast comparison, and postpone the full comparison."""
    uids, _state.marked = _state.marked, set()
    _state.unsure |= uids
    _update_each(uids, lambda action: refresh(watches, action, *_options_if_live(action)))


def _continue_comparison() -> None:
    """Continue the full comparison for a short time, and update edited actions."""
    _update_each(
        _state.unsure,
        lambda action: check_remaining(watches, action, *_options_if_live(action), _SECONDS_PER_STEP),
    )
    _state.unsure &= {action.session_uid for action in watched_actions() if is_unsure(watches, action)}


def _update_each(uids: Set[int], update: Callable[[bpy.types.Action], Report]) -> Report:
    """Apply the function to each editable action with one of these `session_uid`, and keep the notes."""
    report = Report()
    for action in bpy.data.actions:
        if action.session_uid in uids and action.is_editable:
            try:
                action_report = update(action)
            except Exception as error:
                # An error in one action must not stop the timer or prevent other actions from being updated.
                traceback.print_exc()
                action_report = Report(errors=[Finding("LIVE_FAILED", action.name, arguments=(translated(error),))])
                keep_notes(action, action_report.refused)
            if action_report.tracks or action_report.notes:
                keep_notes(action, action_report.notes)
            report.add(action_report)
    if uids and not bpy.app.background:
        redraw_editors()
    return report


def flush_all() -> Report:
    """Update all edited live actions, even if Blender has not reported the edits."""
    finish_preview()
    _state.marked |= {action.session_uid for action in bpy.data.actions if is_live(action)}
    return flush()


def mark_all() -> None:
    """Mark all watched actions."""
    for action in watched_actions():
        mark(action)


def sidebar_options(scene: Any) -> Options:
    """Return the sidebar options of the scene."""
    return option_properties.options(scene.tcb, scene, selection.defaults_of(scene)).as_kept()


def _options_for(users: list[bpy.types.ID]) -> Options:
    """Return the options for a TCB track that is not baked and is played by the handles of the animator's keys."""
    return Options(output="HANDLES", defaults=default_parameters(users)).as_kept()


def is_busy() -> bool:
    """Return whether Blender is busy or keys must not be changed now."""
    context: Any = bpy.context
    windows = context.window_manager.windows
    return _state.is_rendering or any(window.screen.is_animation_playing for window in windows) or is_editing()


def is_pending() -> bool:
    """Return whether an update may be pending: actions are marked or not fully compared."""
    return bool(_state.marked or _state.unsure or attempts_to_edit_baked.is_pending())


def is_due() -> bool:
    """Return whether marked actions will be updated right after the current events."""
    return bool(_state.marked) and not bpy.app.background and not (is_busy() or is_dragged(QUIET))


def tick(at_once: bool = False) -> float | None:
    """Do the next part of the pending work, and return the delay in seconds until the next part, or None.

    A timer calls this in a window. `at_once`: do the full comparison immediately, without waiting for `QUIET` seconds.
    """
    if not is_pending():
        return None
    if is_busy() or is_dragged(QUIET):
        return _RETRY
    if attempts_to_edit_baked.is_pending():
        attempts_to_edit_baked.explain_attempts()
    if _state.marked:
        _flush_soon()
        return QUIET
    if not _state.unsure:
        return None
    remaining = _state.edited_at + QUIET - time.monotonic()
    if remaining > _SECONDS_PER_STEP and not at_once:
        return remaining
    _continue_comparison()
    return 0.0 if _state.unsure else None


@persistent
def _before_frame_change(*_args: object) -> None:
    """Mark all actions, because the first update at a new frame does not list its datablocks.

    The datablocks cannot be read here. Before the evaluation, they include removed datablocks, which crash Blender when
    read.
    """
    view_layer = bpy.context.view_layer
    depsgraph = None if _state.is_rendering or view_layer is None else view_layer.depsgraph
    attempts_to_edit_baked.note_frame_change()
    if depsgraph is None:
        return
    if depsgraph.id_type_updated("ACTION"):
        mark_all()
    if depsgraph.id_type_updated("OBJECT"):
        _mark_changed_playback(bpy.data.objects)


@persistent
def _after_update(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return
    if not bpy.app.background:
        attempts_to_edit_baked.note_update(depsgraph, is_editing())
        if attempts_to_edit_baked.is_pending():
            _tick_soon()
    edited_actions = []
    if depsgraph.id_type_updated("OBJECT") and not is_busy():
        edited_actions += _mark_changed_playback(_updated(depsgraph, bpy.types.Object))
    if not edited_actions and not depsgraph.id_type_updated("ACTION"):
        return
    for action in _updated(depsgraph, bpy.types.Action):
        edited_actions.append(action)
        if is_watched(action):
            mark(action)
        if _times_scene(action):
            mark_all()
    if bpy.app.background and not is_busy() and not is_dragged(0.0):
        _update_now(edited_actions)


def _updated(depsgraph: bpy.types.Depsgraph, kind: type[_Datablock]) -> list[_Datablock]:
    originals = (update.id and update.id.original for update in depsgraph.updates)
    return [datablock for datablock in originals if isinstance(datablock, kind)]


def _mark_changed_playback(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Action]:
    """Mark the actions of objects whose playback settings have changed, for a full comparison."""
    actions = actions_with_changed_playback(objects)
    for action in actions:
        for (uid, _), watch in watches.items():
            if uid == action.session_uid:
                watch.forget()
        mark(action)
    return actions


def _update_now(edited_actions: list[bpy.types.Action]) -> None:
    """Update edited live actions without a window."""
    uids = {action.session_uid for action in edited_actions if is_live(action)}
    report = _update_each(uids, _compare_in_full)
    for line in (*report.refused, *report.notes):
        print(f"TCB: {line}")


def _compare_in_full(action: bpy.types.Action) -> Report:
    report = refresh(watches, action, *_options_if_live(action))
    report.add(check_remaining(watches, action, *_options_if_live(action)))
    return report


def _times_scene(action: bpy.types.Action) -> bool:
    """Return whether the action may contain a scene's frame function, which times all motion in the scene."""
    animations = [scene.animation_data for scene in bpy.data.scenes]
    return any(animation is not None and animation.action == action for animation in animations)


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
    mark_all()


@persistent
def _after_loading(*_args: object) -> None:
    """Mark all actions after loading a file.

    The file, for example an autosave, may contain edits that were not baked.
    """
    _forget_all()
    session.forget_actions()
    start()


def start() -> None:
    """Read the tables of the open file, so that the rows of copied keys are known. Then mark all actions."""
    for action in bpy.data.actions:
        read_table(action)
    mark_all()


@persistent
def _before_saving(*_args: object) -> None:
    # Edits that were not baked when the file was saved are baked after loading.
    if not is_editing():
        flush_all()
        _settle_tables()


def _settle_tables() -> None:
    """Limit each table to the rows of its action's keys."""
    if not len(session.rows):
        return
    editable_actions = [action for action in bpy.data.actions if action.is_editable]
    for action in editable_actions:
        adopt_tracks(action)
    for action in editable_actions:
        clear_orphans(action)


@persistent
def _before_rendering(scene: bpy.types.Scene, *_args: object) -> None:
    flush_all()
    _state.is_rendering = True
    if not bpy.app.background:
        warn_of_render(scene)


@persistent
def _after_rendering(*_args: object) -> None:
    _state.is_rendering = False


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


def without_tcb(datablocks: Iterable[bpy.types.ID]) -> list[bpy.types.Action]:
    """Return the datablocks' actions that have no TCB tracks yet."""
    actions = selection.actions_of(datablocks)
    return [action for action in actions if action.is_editable and not read_table(action).tracks]


def go_live(actions: Iterable[bpy.types.Action]) -> Report:
    """Turn Live on for actions with TCB tracks. Tracks that are not played yet are then played by handles."""
    tcb_actions = [action for action in actions if read_table(action).tracks]
    users = list(dict.fromkeys(user for action in tcb_actions for user in users_of(action)))
    unplayed_paths = {user: paths for user in users if (paths := _unplayed_paths(user))}
    report = bake(unplayed_paths, _options_for(users), unplayed_paths)
    for action in tcb_actions:
        setattr(action, "tcb_live", True)  # noqa: B010  not in Blender's own types
    flush()
    return report


def _unplayed_paths(datablock: bpy.types.ID) -> list[str]:
    return [track.path for track in tracks_of(datablock) if track.enabled and not track.is_played]


def _on_switch(action: bpy.types.Action, _context: bpy.types.Context) -> None:
    """Enable and update an action when Live is turned on. Turn Live off again for an action with several layers."""
    for key in [key for key in watches if key[0] == action.session_uid]:
        del watches[key]
    forget_notes(action)
    if is_live(action) and layered_reason(action):
        switch_off(action)
        keep_notes(action, layered_refusals(action))
    elif is_live(action) and action.is_editable:
        _enable_plain(action)
        play_restored(action)
        mark(action)


def _enable_plain(action: bpy.types.Action) -> None:
    """If no track of an action is TCB, enable all tracks and preserve the motion, as the buttons do."""
    if read_table(action).tracks:
        return
    # Imported here, because few sessions enable tracks by turning on Live.
    from ...animation import enable_many

    users = users_of(action)
    report = enable_many(users, defaults=default_parameters(users))
    keep_notes(action, [*report.refused, *report.notes])


def register() -> None:
    live = BoolProperty(
        name="Live",
        description="Update the motion after each edit to the keys or parameters of this action",
        update=_on_switch,
    )
    setattr(bpy.types.Action, "tcb_live", live)  # noqa: B010
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    # Blender has no data while it enables extensions at startup.
    bpy.app.timers.register(start, first_interval=0.0)


def unregister() -> None:
    for timer in (tick, start):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    for name, handler in _HANDLERS:
        handlers_of_event = getattr(bpy.app.handlers, name)
        # Another add-on or Load Factory Settings may have cleared the handlers.
        if handler in handlers_of_event:
            handlers_of_event.remove(handler)
    delattr(bpy.types.Action, "tcb_live")
    _forget_all()
