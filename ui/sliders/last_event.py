# SPDX-License-Identifier: GPL-3.0-or-later
"""The last mouse or keyboard event of a window, for properties, whose setters receive no event.

An invoked operator receives the window's last event with the modifier keys. This method also works in a property's
setter and while Blender drags the slider. The last event can be later than the event that Blender is handling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy


@dataclass(frozen=True)
class LastEvent:
    """The last event of a window, as far as it concerns sliders."""

    alt: bool = False
    """Alt was held during an event that sets a slider."""
    is_modifier: bool = False
    """The last event was a press or release of a modifier key."""
    presses: bool = False
    """The last event was a press of the mouse button, or a modifier key after the press."""
    releases: bool = False
    """The last event was a release of the mouse button, or a modifier key after the release."""
    takes_back: bool = False
    """The event cancels a drag in Blender."""


_NO_EVENT = LastEvent()
_last = _NO_EVENT


def last_event(context: bpy.types.Context) -> LastEvent:
    """Return the last event of the context's window, or an empty event without a window or event."""
    global _last
    _last = _NO_EVENT
    if not bpy.app.background and context.window is not None:
        operators: Any = bpy.ops
        operators.tcb.last_event("INVOKE_DEFAULT")
    return _last


_MODIFIERS = frozenset(f"{side}_{key}" for side in ("LEFT", "RIGHT") for key in ("ALT", "CTRL", "SHIFT"))
_SLIDER_EVENTS = _MODIFIERS | {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "TAB"}
"""Events that set a slider. Alt in other events, such as Alt-P to run a script, does not affect sliders."""


class TCB_OT_last_event(bpy.types.Operator):
    """Read the modifier keys that are pressed"""  # noqa: D400  Blender's tooltip

    bl_idname = "tcb.last_event"
    bl_label = "Last Event"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        global _last
        is_modifier = event.type in _MODIFIERS
        button = (event.type_prev, event.value_prev) if is_modifier else (event.type, event.value)
        _last = LastEvent(
            alt=event.alt and event.type in _SLIDER_EVENTS,
            is_modifier=is_modifier,
            presses=button == ("LEFTMOUSE", "PRESS"),
            releases=button == ("LEFTMOUSE", "RELEASE"),
            # Blender may reset the slider after the key is released.
            takes_back=event.type in {"ESC", "RIGHTMOUSE"},
        )
        return {"CANCELLED"}
