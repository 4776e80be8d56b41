# SPDX-License-Identifier: GPL-3.0-or-later
"""The message that baked tracks are locked, shown in editors and status bars until users have had time to read it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy

from ...animation.errors import Finding
from ...animation.translation import rpt_
from .. import selection
from ..redraw import redraw_editors
from .messages import READING_TIME, forget_free_notes, keep_notes


@dataclass(frozen=True)
class _Message:
    """A message about an attempt to edit baked tracks."""

    text: str
    shown_until: float
    """Time when editors stop showing the message, as in `time.monotonic`."""
    workspaces: frozenset[int]
    """Workspaces with the message in their status bar, by their `session_uid`."""


_message: _Message | None = None
"""The message that is shown."""


def is_fresh() -> bool:
    """Return whether the message on the last attempt may still be unread."""
    return _message is not None and time.monotonic() < _message.shown_until


def text() -> str:
    """Return the message on the last attempt if it is fresh, or the general message on baked tracks."""
    if _message is not None and is_fresh():
        return _message.text
    return rpt_("Baked: edit in the TCB tab, or Free Bake")


def show(actions: Iterable[bpy.types.Action], note: Finding) -> None:
    """Keep the note on the actions for the panels, and temporarily show it in editors and status bars."""
    global _message
    for action in actions:
        keep_notes(action, [note])
    remove()
    workspaces = frozenset(workspace.session_uid for workspace in shown_workspaces())
    _message = _Message(str(note), time.monotonic() + READING_TIME, workspaces)
    _set_status_text(workspaces, _message.text)
    bpy.app.timers.register(_hide, first_interval=READING_TIME)


def forget_freed(datablocks: Iterable[bpy.types.ID]) -> None:
    """Remove the messages on datablocks whose bake was freed."""
    for action in selection.actions_of(datablocks):
        forget_free_notes(action)
    remove()


def remove() -> None:
    """Remove the message from editors and status bars."""
    if bpy.app.timers.is_registered(_hide):
        bpy.app.timers.unregister(_hide)
    _hide()


def _hide() -> None:
    global _message
    if _message is not None and _message.workspaces:
        _set_status_text(_message.workspaces, None)
    _message = None


def _set_status_text(workspaces: frozenset[int], status: str | None) -> None:
    """Set the status text of the workspaces, even if no window shows them. None restores the text."""
    context: Any = bpy.context
    for workspace in bpy.data.workspaces:
        if workspace.session_uid in workspaces:
            # Blender sets the text of the context's workspace.
            with context.temp_override(workspace=workspace):
                workspace.status_text_set(status)
    redraw_editors()


def shown_workspaces() -> Iterator[bpy.types.WorkSpace]:
    """Yield the workspaces of all windows."""
    manager: Any = bpy.context.window_manager
    for window in manager.windows:
        yield window.workspace
