# SPDX-License-Identifier: GPL-3.0-or-later
"""The message that explains an attempt to edit baked tracks, shown in editors and status bars while it is fresh."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ...animation.datablocks import animation_data
from ...animation.errors import Finding
from ...animation.translation import rpt_
from ..redraw import redraw_editors
from .messages import READING_TIME, forget_free_notes, keep_notes


class _Message:
    """The last message."""

    text = ""
    shown_until = 0.0
    """Time when editors stop showing the message, as in `time.monotonic`."""
    workspaces: frozenset[int] = frozenset()
    """Workspaces with the message in their status bar, by their `session_uid`."""


_message = _Message()


def text() -> str:
    """Return the last message if it is fresh, or the general message on baked tracks."""
    return _message.text if is_fresh() else rpt_("Baked: edit in the TCB tab, or Free Bake")


def is_fresh() -> bool:
    """Return whether the last message may still be unread."""
    return time.monotonic() < _message.shown_until


def explain(actions: Iterable[bpy.types.Action], note: Finding) -> None:
    """Keep the note for the panels, and temporarily show it in editors and status bars."""
    for action in actions:
        keep_notes(action, [note])
    remove()
    _message.text, _message.shown_until = str(note), time.monotonic() + READING_TIME
    _message.workspaces = frozenset(context.workspace.session_uid for context in windows())
    _set_status_text(_message.text)
    bpy.app.timers.register(_hide, first_interval=READING_TIME)


def forget_freed(datablocks: Iterable[bpy.types.ID]) -> None:
    """Remove the messages on datablocks whose bake was freed."""
    for datablock in datablocks:
        animation = animation_data(datablock)
        if animation is not None and animation.action is not None:
            forget_free_notes(animation.action)
    remove()


def remove() -> None:
    """Remove the message from editors and status bars."""
    if bpy.app.timers.is_registered(_hide):
        bpy.app.timers.unregister(_hide)
    _hide()


def _hide() -> None:
    _message.shown_until = 0.0
    if _message.workspaces:
        _set_status_text(None)
        _message.workspaces = frozenset()


def _set_status_text(status: str | None) -> None:
    """Set the status text of the workspaces with the message, even if no window shows them. None restores the text."""
    context: Any = bpy.context
    for workspace in bpy.data.workspaces:
        if workspace.session_uid in _message.workspaces:
            # Blender sets the text of the context's workspace.
            with context.temp_override(workspace=workspace):
                workspace.status_text_set(status)
    redraw_editors()


def windows() -> Iterator[Any]:
    """Yield the context of each window."""
    context: Any = bpy.context
    for window in context.window_manager.windows:
        with context.temp_override(window=window):
            yield context
