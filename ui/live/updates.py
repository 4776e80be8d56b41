# SPDX-License-Identifier: GPL-3.0-or-later
"""Updates of live actions after edits, the actions that are watched, and settings that affect how they play.

Handlers only mark actions, because a running transform holds pointers to the keys and stores its undo step at the end.
A timer updates marked actions when no operator holds keys and neither playback nor rendering is running. It first
compares only key frames with the last update, and compares tracks fully when there was no edit for some time.

Without a window there are no timers and no modal operators. Edited actions are then updated at once.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from typing import Any

import bpy

from ...animation import Options, Report
from ...animation.bake.drags import finish_preview, is_dragged
from ...animation.live.edited_tracks import Watch
from ...animation.live.update import check_remaining, is_unsure, refresh, refresh_all, standing_of
from ...animation.report import Finding
from ...animation.store.table.custom_property import has_baked_tracks
from ...animation.store.table_upkeep import is_live
from ...animation.text import translated
from ..operator_results import keep_update_notes
from ..preferences import completes_rotations
from ..redraw import redraw_editors
from ..scene import default_parameters
from . import attempts_to_edit_baked

QUIET = 0.3
"""Seconds without an edit before a track is fully compared."""
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


state = _State()

watches: dict[tuple[int, int], Watch] = {}
"""Tracks at their last update, by the `session_uid` of the action and the handle of its slot."""


def watched_actions() -> list[bpy.types.Action]:
    return list(filter(is_watched, bpy.data.actions))


def is_watched(action: bpy.types.Action) -> bool:
    """Return whether edits to the action are watched: it is editable, and it is live or, in a window, baked."""
    return action.is_editable and (is_live(action) or (not bpy.app.background and has_baked_tracks(action)))


def mark(action: bpy.types.Action) -> None:
    """Mark the action for an update."""
    state.marked.add(action.session_uid)
    state.edited_at = time.monotonic()
    tick_soon()


def mark_all() -> None:
    """Mark all watched actions."""
    for action in watched_actions():
        mark(action)


def tick_soon() -> None:
    """Start the timer, if there is a window."""
    if not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0)


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
    if state.marked:
        _flush_soon()
        return QUIET
    if not state.unsure:
        return None
    remaining = state.edited_at + QUIET - time.monotonic()
    if remaining > _SECONDS_PER_STEP and not at_once:
        return remaining
    _continue_comparison()
    return 0.0 if state.unsure else None


def is_pending() -> bool:
    """Return whether an update may be pending: actions are marked or not fully compared."""
    return bool(state.marked or state.unsure or attempts_to_edit_baked.is_pending())


def is_due() -> bool:
    """Return whether marked actions will be updated right after the current events."""
    return bool(state.marked) and not bpy.app.background and not (is_busy() or is_dragged(QUIET))


def is_busy() -> bool:
    """Return whether Blender is busy or keys must not be changed now."""
    manager: Any = bpy.context.window_manager
    is_playing = any(window.screen.is_animation_playing for window in manager.windows)
    return state.is_rendering or is_playing or is_editing()


_KEY_EDITING_OPERATORS = ("TRANSFORM_OT_", "ANIM_OT_", "ACTION_OT_", "GRAPH_OT_", "NLA_OT_", "POSE_OT_")
"""Prefixes of operators that may hold pointers to keys."""


def is_editing() -> bool:
    """Return whether a modal operator holds keys, which must then not be written."""
    manager: Any = bpy.context.window_manager
    operators = (operator for window in manager.windows for operator in window.modal_operators)
    return any(operator.bl_idname.startswith(_KEY_EDITING_OPERATORS) for operator in operators)


def _flush_soon() -> None:
    """Update marked actions after a fast comparison, and postpone the full comparison."""
    uids, state.marked = state.marked, set()
    state.unsure |= uids
    _update_each(uids, refresh)


def _continue_comparison() -> None:
    """Continue the full comparison for a short time, and update edited actions."""
    _update_each(state.unsure, partial(check_remaining, seconds=_SECONDS_PER_STEP))
    state.unsure &= {action.session_uid for action in watched_actions() if is_unsure(watches, action)}


def flush() -> Report:
    """Update all marked actions that were edited, with a full comparison."""
    uids, state.marked, state.unsure = state.marked | state.unsure, set(), set()
    return _update_each(uids, refresh_all)


def flush_all() -> Report:
    """Update all edited live actions, even if Blender has not reported the edits."""
    finish_preview()
    state.marked |= {action.session_uid for action in bpy.data.actions if is_live(action)}
    return flush()


def update_now(edited_actions: list[bpy.types.Action]) -> None:
    """Update edited live actions without a window, and print the notes."""
    uids = {action.session_uid for action in edited_actions if is_live(action)}
    report = _update_each(uids, _compare_in_full)
    for line in (*report.refused, *report.notes):
        print(f"TCB: {line}")


def _compare_in_full(*arguments: Any) -> Report:
    report = refresh(*arguments)
    report.add(check_remaining(*arguments))
    return report


def _update_each(uids: Set[int], update: Callable[..., Report]) -> Report:
    """Update each editable action with one of these `session_uid`, and keep the notes.

    `update`: function of the watches, an action, the function that returns the options of unplayed tracks if the action
        is live, and whether Live keys all channels of a rotation.
    """
    report = Report()
    new_notes: list[Finding] = []
    for action in bpy.data.actions:
        if action.session_uid in uids and action.is_editable:
            try:
                action_report = update(
                    watches, action, handle_options if is_live(action) else None, completes_rotations()
                )
            except Exception as error:
                # An error in one action must not stop the timer or prevent other actions from being updated.
                traceback.print_exc()
                action_report = Report(errors=[Finding("LIVE_FAILED", action.name, arguments=(translated(error),))])
                new_notes += action_report.refused
            if action_report.notes:
                standing = standing_of(watches, action)
                new_notes += [note for note in action_report.notes if note not in standing]
            report.add(action_report)
    keep_update_notes(new_notes)
    if uids and not bpy.app.background:
        redraw_editors()
    return report


def handle_options(users: list[bpy.types.ID]) -> Options:
    """Return the options for a TCB track that is not baked and is played by the handles of the animator's keys."""
    return Options(output="HANDLES", defaults=default_parameters(users)).as_kept()


_Settings = tuple[int, int, Sequence[tuple[str, int]], Sequence[str]]
"""Settings of an object that affect the playback of its keys: the action's `session_uid`, the handle of the slot,
drivers, and the rotation modes of the object and its bones."""
_UNWATCHED: _Settings = (0, 0, (), ())
_last_settings: dict[int, _Settings] = {}
"""Settings at the last check, by the object's `session_uid`."""


def actions_with_changed_playback(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Action]:
    """Return the current and former actions of objects whose settings have changed since the last check.

    Blender reports such a change as an update of the object, not of its action. Only watched actions are returned.
    """
    changed: set[int] = set()
    for obj in objects:
        before, now = _last_settings.get(obj.session_uid, _UNWATCHED), _settings_of(obj)
        if before != now:
            _last_settings[obj.session_uid] = now
            changed |= {before[0], now[0]}
    if not changed:
        return []
    return [action for action in watched_actions() if action.session_uid in changed]


def forget_settings() -> None:
    """Forget the settings of all objects."""
    _last_settings.clear()


def _settings_of(obj: bpy.types.Object) -> _Settings:
    animation: Any = obj.animation_data
    action = animation.action if animation is not None else None
    if action is None or not is_watched(action):
        return _UNWATCHED
    drivers = [(driver.data_path, driver.array_index) for driver in animation.drivers]
    modes = [obj.rotation_mode, *(bone.rotation_mode for bone in (obj.pose.bones if obj.pose else ()))]
    # Blender 4.2 has no slots.
    return action.session_uid, getattr(animation, "action_slot_handle", 0), drivers, modes
