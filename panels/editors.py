# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab TCB of the Dope Sheet and the Graph Editor: the parameters of the selected keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
import numpy as np

from ..animation.datablocks import name_of
from ..animation.edit.track_keys import TrackKeys
from ..animation.translation import iface_
from ..ui import redraw, selection
from .bake import BakeOptionsPanel, BakePanel, DefaultsPanel
from .chosen_keys import draw_chosen_diagram, draw_chosen_keys, has_diagram
from .live import MessagesPanel, draw_live
from .track_text import track_label
from .widgets import draw_choices, draw_key_heading

_LISTED = 3
"""Tracks that are named; the rest is counted."""


class _KeysPanel:
    """The selected keys, and their parameters"""

    bl_label = "Selected Keys"

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        layout = self.layout
        chosen = selection.chosen_keys(context)
        if not chosen:
            reason = selection.reason_no_key_is_chosen(context) or iface_("Only generated keys are selected")
            layout.label(text=reason, icon="INFO", translate=False)
            return
        draw_key_heading(layout, _count(chosen))
        for keys in chosen[:_LISTED]:
            layout.label(text=f"{track_label(keys.datablock, keys.track)}, {name_of(keys.datablock)}", translate=False)
        if len(chosen) > _LISTED:
            layout.label(text=iface_("and {:d} tracks more", len(chosen) - _LISTED), translate=False)
        draw_chosen_keys(layout, context)


class _DiagramPanel:
    """The curve through the keys: where it bends, and how fast it is along the way (dots at equal steps of time)"""

    bl_label = "Diagram"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_chosen_diagram(self.layout, context)


class _LivePanel:
    """The switch of Live"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        draw_live(self.layout, context)


class _TrackPanel:
    """Choices for the tracks of the selected keys as a whole"""

    bl_label = "Track"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(selection.chosen_keys(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_choices(self.layout, context)


def _count(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Key: frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("{:d} keys, frame {:g}", len(frames), float(frames[0]))
    return iface_("{:d} keys, frames {:g} to {:g}", len(frames), float(frames.min()), float(frames.max()))


def _panel(space: str, prefix: str, name: str, base: type, parent: str = "") -> Any:
    """Return the panel for the tab of one editor."""
    identifier = f"{prefix}_PT_tcb_{name}"
    where = {"bl_idname": identifier, "bl_space_type": space, "bl_region_type": "UI", "bl_category": "TCB"}
    if parent:
        where["bl_parent_id"] = f"{prefix}_PT_tcb_{parent}"
    return type(identifier, (base, bpy.types.Panel), where | {"__doc__": base.__doc__})


PANELS = tuple(
    panel
    for space, prefix in (("DOPESHEET_EDITOR", "DOPESHEET"), ("GRAPH_EDITOR", "GRAPH"))
    for panel in (
        _panel(space, prefix, "live", _LivePanel),
        _panel(space, prefix, "keys", _KeysPanel),
        _panel(space, prefix, "diagram", _DiagramPanel, "keys"),
        _panel(space, prefix, "track", _TrackPanel, "keys"),
        _panel(space, prefix, "bake", BakePanel),
        _panel(space, prefix, "bake_options", BakeOptionsPanel, "bake"),
        _panel(space, prefix, "defaults", DefaultsPanel, "bake"),
        _panel(space, prefix, "messages", MessagesPanel),
    )
)
