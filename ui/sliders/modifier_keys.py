# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and buttons that Blender does not pass on: those held or pressed while a slider is set, and typed numbers.

An operator that is invoked gets the window's last event, and with it what is held; inside a property's setter too, also
while Blender drags the slider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

_MODIFIERS = frozenset(f"{side}_{key}" for side in ("LEFT", "RIGHT") for key in ("ALT", "CTRL", "SHIFT"))
_SETS = _MODIFIERS | {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "TAB"}
"""Events by which a slider is set; Alt held with others, as with P, by which scripts are run, does not concern it."""
_DIGITS = frozenset("0123456789.-")


def typed_after(text: str, event: bpy.types.Event) -> str | None:
    """Return the text of a number that is typed during a drag, as the event changes it; None: the event does not."""
    if event.value != "PRESS":
        return None
    if event.type == "BACK_SPACE":
        return text[:-1]
    return text + event.unicode if event.unicode and event.unicode in _DIGITS else None


@dataclass(frozen=True)
class LastEvent:
    alt: bool = False
    is_modifier: bool = False
    """A modifier key was pressed or released last, and no button or other key since."""
    presses: bool = False
    """The mouse button is down since, or a modifier key that was pressed or released after it."""
    releases: bool = False
    """The mouse button is up since, or a modifier key that was pressed or released after it."""
    takes_back: bool = False
    """The event is one by which Blender cancels a drag."""


NONE = LastEvent()
_last = NONE


class TCB_OT_last_event(bpy.types.Operator):
    """Look at what is held on the keyboard"""  # noqa: D400  Blender's tooltip

    bl_idname = "tcb.last_event"
    bl_label = "Last Event"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        global _last
        is_modifier = event.type in _MODIFIERS
        button = (event.type_prev, event.value_prev) if is_modifier else (event.type, event.value)
        _last = LastEvent(
            alt=event.alt and event.type in _SETS,
            is_modifier=is_modifier,
            presses=button == ("LEFTMOUSE", "PRESS"),
            releases=button == ("LEFTMOUSE", "RELEASE"),
            # Blender may reset the slider after the key is released.
            takes_back=event.type in {"ESC", "RIGHTMOUSE"},
        )
        return {"CANCELLED"}


def last_event(context: bpy.types.Context) -> LastEvent:
    """Return the last event of the context's window; an empty one where there is no window, or none happened."""
    global _last
    _last = NONE
    if not bpy.app.background and context.window is not None:
        operators: Any = bpy.ops
        operators.tcb.last_event("INVOKE_DEFAULT")
    return _last


def register() -> None:
    bpy.utils.register_class(TCB_OT_last_event)


def unregister() -> None:
    bpy.utils.unregister_class(TCB_OT_last_event)
