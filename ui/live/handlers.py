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
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from typing import Any, NamedTuple, TypeVar

import bpy
from bpy.props import BoolProperty

from ...animation import Options, Report
from ...animation.action_users import users_of
from ...animation.bake.pipeline import bake
from ...animation.bake.replay import finish_preview, forget_preview, is_dragged
from ...animation.checks.track_state import tracks_of
from ...animation.errors import Finding
from ...animation.fcurves.action_refusals import layered_reason, layered_refusals
from ...animation.live.update import check_remaining, is_unsure, refresh, refresh_all
from ...animation.store.actions.live_switch import is_live, switch_off
from ...animation.store.actions.table_upkeep import adopt_tracks, clear_orphans, play_restored
from ...animation.store.table.custom_property import read_table
from ...animation.store.table.session import session
from ...animation.track_names import track_name
from ...animation.translation import rpt_, translated
from .. import bake_properties, selection
from ..preferences import completes_rotations
from ..redraw import redraw_editors
from ..result_notes import keep_result_notes
from ..sliders import slider_drag
from . import attempts_to_edit_baked
from .editing import is_editing
from .messages import forget_all_notes, forget_notes, keep_notes
from .scenes import defaults_for, scenes_with
from .watched import is_watched, watched_actions, watches

_Handler = TypeVar("_Handler", bound=Callable[..., None])
persistent: Callable[[_Handler], _Handler] = bpy.app.handlers.persistent

QUIET = 0.3
"""Seconds without an edit before a track is fully compared. Until then, only its key frames are compared."""
_SLICE = 0.008
"""Seconds per step of the full comparison: half of a redraw."""
_RETRY = 0.05


class _State:
    """State of live actions, by `session_uid`."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.marked: set[int] = set()
        """Actions edited since the last update."""
        self.unsure: set[int] = set()
        """Actions that were updated but not fully compared."""
        self.edited_at = 0.0
        self.rendering = False
        self.playbacks: dict[int, _Playback] = {}
        """Playback settings, by the object's `session_uid`."""
        self.warned: set[int] = set()
        """Actions for which a render has warned about approximate handles."""


_state = _State()


def _forget_all() -> None:
    _state.clear()
    watches.clear()
    forget_preview()
    slider_drag.forget()
    attempts_to_edit_baked.clear()
    forget_all_notes()


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
    numbers, _state.marked, _state.unsure = _state.marked | _state.unsure, set(), set()
    return _update_each(numbers, lambda action: refresh_all(watches, action, *_options_if_live(action)))


def _options_if_live(action: bpy.types.Action) -> tuple[Callable[[list[bpy.types.ID]], Options] | None, bool]:
    """Return the function for the options of unplayed tracks, or None if the action is not live.

    Also return whether Live keys all channels of a rotation.
    """
    return _options_for if is_live(action) else None, completes_rotations()


def _flush_soon() -> None:
    """Update marked actions after a fast comparison, and postpone the full comparison."""
    numbers, _state.marked = _state.marked, set()
    _state.unsure |= numbers
    _update_each(numbers, lambda action: refresh(watches, action, *_options_if_live(action)))


def _continue_comparison() -> None:
    """Continue the full comparison for a short time, and update edited actions."""
    _update_each(_state.unsure, lambda action: check_remaining(watches, action, *_options_if_live(action), _SLICE))
    _state.unsure = {action.session_uid for action in watched_actions() if is_unsure(watches, action)} & _state.unsure


def _update_each(numbers: Set[int], work: Callable[[bpy.types.Action], Report]) -> Report:
    """Apply the function to each action, and keep the notes."""
    report = Report()
    for action in bpy.data.actions:
        if action.session_uid in numbers and action.is_editable:
            try:
                done = work(action)
            except Exception as error:
                # An error in one action must not stop the timer or prevent other actions from being updated.
                traceback.print_exc()
                done = Report(errors=[Finding("LIVE_FAILED", action.name, arguments=(translated(error),))])
                keep_notes(action, done.refused)
            if done.tracks or done.notes:
                keep_notes(action, done.notes)
            report.add(done)
    if numbers and not bpy.app.background:
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
    return bake_properties.options(scene.tcb, scene, selection.defaults_of(scene)).as_kept()


def _options_for(users: list[bpy.types.ID]) -> Options:
    """Return the options for a TCB track that is not baked and is played by the handles of the animator's keys."""
    return Options(output="HANDLES", defaults=defaults_for(users)).as_kept()


def is_busy() -> bool:
    """Return whether Blender is busy or keys must not be changed now."""
    context: Any = bpy.context
    windows = context.window_manager.windows
    return _state.rendering or any(window.screen.is_animation_playing for window in windows) or is_editing()


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
    rest = _state.edited_at + QUIET - time.monotonic()
    if rest > _SLICE and not at_once:
        return rest
    _continue_comparison()
    return 0.0 if _state.unsure else None


@persistent
def _before_frame_change(*_args: object) -> None:
    """Mark all actions, because the first update at a new frame does not list its datablocks.

    The datablocks cannot be read here. Before the evaluation, they include removed datablocks, which crash Blender when
    read.
    """
    view_layer = bpy.context.view_layer
    depsgraph = None if _state.rendering or view_layer is None else view_layer.depsgraph
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
    edited = []
    if depsgraph.id_type_updated("OBJECT") and not is_busy():
        ids = (update.id and update.id.original for update in depsgraph.updates)
        edited += _mark_changed_playback(obj for obj in ids if isinstance(obj, bpy.types.Object))
    if not edited and not depsgraph.id_type_updated("ACTION"):
        return
    for update in depsgraph.updates:
        action = update.id and update.id.original
        if isinstance(action, bpy.types.Action):
            edited.append(action)
            if is_watched(action):
                mark(action)
        if action is not None and _times_scene(action):
            mark_all()
    if bpy.app.background and not is_busy() and not is_dragged(0.0):
        _update_now(edited)


def _mark_changed_playback(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Action]:
    """Mark the current and former actions of objects whose playback settings have changed."""
    others: set[int] = set()
    for obj in objects:
        action = obj.animation_data.action if obj.animation_data else None
        playback = _playback_of(obj, action) if action is not None and is_watched(action) else _UNWATCHED
        before = _state.playbacks.get(obj.session_uid, _UNWATCHED)
        if before != playback:
            _state.playbacks[obj.session_uid] = playback
            others |= {before.action, playback.action}
    marked = [action for action in bpy.data.actions if action.session_uid in others] if others else []
    marked = [action for action in marked if action.is_editable and is_watched(action)]
    for action in marked:
        for (number, _), watch in watches.items():
            if number == action.session_uid:
                watch.forget()
        mark(action)
    return marked


class _Playback(NamedTuple):
    """Settings of an object that affect the playback of its keys."""

    action: int
    """The action's `session_uid`."""
    slot: int
    drivers: Sequence[tuple[str, int]]
    modes: Sequence[str]
    """Rotation modes of the object and its bones."""


_UNWATCHED = _Playback(0, 0, (), ())


def _playback_of(obj: bpy.types.Object, action: bpy.types.Action) -> _Playback:
    data: Any = obj.animation_data
    drivers = [(driver.data_path, driver.array_index) for driver in data.drivers]
    modes = [obj.rotation_mode, *(bone.rotation_mode for bone in (obj.pose.bones if obj.pose else ()))]
    return _Playback(action.session_uid, getattr(data, "action_slot_handle", 0), drivers, modes)


def _update_now(actions: list[bpy.types.Action]) -> None:
    """Update edited live actions without a window."""
    edited = {action.session_uid for action in actions if is_live(action)}
    report = _update_each(edited, _compare_in_full)
    for line in (*report.refused, *report.notes):
        print(f"TCB: {line}")


def _compare_in_full(action: bpy.types.Action) -> Report:
    report = refresh(watches, action, *_options_if_live(action))
    report.add(check_remaining(watches, action, *_options_if_live(action)))
    return report


def _times_scene(action: bpy.types.ID) -> bool:
    """Return whether the action may contain a scene's frame function, which times all motion in the scene."""
    animations = [scene.animation_data for scene in bpy.data.scenes]
    return action in [animation.action for animation in animations if animation is not None]


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
    actions: bpy.types.BlendDataActions = bpy.data.actions
    if len(session.rows):
        local = [action for action in actions if action.is_editable]
        for action in local:
            adopt_tracks(action)
        for action in local:
            clear_orphans(action)


@persistent
def _before_rendering(scene: bpy.types.Scene, *_args: object) -> None:
    flush_all()
    _state.rendering = True
    lines = [] if bpy.app.background else _new_warnings(scene)
    if lines:
        # This may run in the render thread.
        bpy.app.timers.register(partial(warn, lines), first_interval=0.0)


def _new_warnings(scene: bpy.types.Scene) -> list[str]:
    """Return a line for each approximate track in the scene, once per action."""
    lines = []
    for action in bpy.data.actions:
        paths = [] if action.session_uid in _state.warned else read_table(action).approximate
        if paths and scene in scenes_with(users_of(action)):
            _state.warned.add(action.session_uid)
            lines += [f'"{action.name}": {track_name(path)}' for path in paths]
    return lines


def warn(lines: list[str]) -> None:
    """Show a warning in a window about rendered approximate tracks."""

    def draw(menu: Any, _context: bpy.types.Context) -> None:
        for line in lines[:_MOST_LINES]:
            menu.layout.label(text=line, translate=False)
        if len(lines) > _MOST_LINES:
            menu.layout.label(text=rpt_("… and {:d} more", len(lines) - _MOST_LINES), translate=False)
        menu.layout.label(text="Handles approximate the motion. Bake for an exact render")

    manager: Any = bpy.context.window_manager
    with bpy.context.temp_override(window=manager.windows[0]):
        manager.popup_menu(draw, title=rpt_("Rendered with approximate handles"), icon="ERROR")


_MOST_LINES = 6


@persistent
def _after_rendering(*_args: object) -> None:
    _state.rendering = False


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
    animations: list[Any] = [getattr(datablock, "animation_data", None) for datablock in datablocks]
    actions = dict.fromkeys(data.action for data in animations if data is not None and data.action is not None)
    return [action for action in actions if action.is_editable and not read_table(action).tracks]


def go_live(actions: Iterable[bpy.types.Action]) -> Report:
    """Turn Live on for actions with TCB tracks. Tracks that are not played yet are then played by handles."""
    enabled = [action for action in actions if read_table(action).tracks]
    users = list(dict.fromkeys(user for action in enabled for user in users_of(action)))
    waiting = {user: paths for user in users if (paths := _waiting(user))}
    report = bake(waiting, _options_for(users), waiting)
    for action in enabled:
        setattr(action, "tcb_live", True)  # noqa: B010  not in Blender's own types
    flush()
    return report


def _waiting(user: bpy.types.ID) -> list[str]:
    """Return the paths of a datablock's TCB tracks that are not played."""
    return [track.path for track in tracks_of(user) if track.enabled and not track.is_played]


def _switched(action: bpy.types.Action, _context: bpy.types.Context) -> None:
    for key in [key for key in watches if key[0] == action.session_uid]:
        del watches[key]
    forget_notes(action)
    if is_live(action) and layered_reason(action):
        switch_off(action)
        keep_notes(action, layered_refusals(action))
    elif is_live(action) and action.is_editable:
        _make_tcb(action)
        play_restored(action)
        mark(action)


def _make_tcb(action: bpy.types.Action) -> None:
    """If no track of an action is TCB, enable all tracks and preserve the motion, as the buttons do."""
    if read_table(action).tracks:
        return
    users = users_of(action)
    from ...animation import enable_many

    report = enable_many(users, defaults=defaults_for(users))
    keep_notes(action, [*report.refused, *report.notes])


def register() -> None:
    live = BoolProperty(
        name="Live",
        description="Update the motion after each edit to the keys or parameters of this action",
        update=_switched,
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
        present = getattr(bpy.app.handlers, name)
        # Other code may have cleared the handlers.
        if handler in present:
            present.remove(handler)
    delattr(bpy.types.Action, "tcb_live")
    _forget_all()
