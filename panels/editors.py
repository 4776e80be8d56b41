# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCB sidebar tab of the Dope Sheet and the Graph Editor, with the parameters of the selected keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.app.translations import contexts

from ..animation.edit.track_keys import TrackKeys
from ..animation.translation import iface_
from ..ui import selection
from ..ui.track_text import labels_of
from .bake import BakePanel
from .header import draw_header
from .key import draw_chosen_diagram, draw_chosen_keys, draw_key_heading, draw_place, has_diagram
from .widgets import draw_choices


class _KeysPanel:
    """Selected keys and their parameters"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        draw_header(layout, context)
        chosen = selection.chosen_keys(context)
        if not chosen:
            reason = selection.reason_no_key_is_chosen(context) or iface_("Only generated keys are selected")
            layout.label(text=reason, icon="INFO", translate=False)
            return
        layout.label(text=labels_of([(keys.datablock, keys.track) for keys in chosen]), translate=False)
        draw_key_heading(layout, _count(chosen))
        draw_chosen_keys(layout, context)


class _OfChosenKeys:
    """Show a panel only if keys are selected."""

    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(selection.chosen_keys(context))


class _PlacePanel(_OfChosenKeys):
    """Frame and values of the selected keys"""

    bl_label = "Frame and Values"

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_place(self.layout, context)


class _DiagramPanel(_OfChosenKeys):
    """Curve through the keys, with dots at equal time steps"""

    bl_label = "Diagram"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_chosen_diagram(self.layout, context)


class _TrackPanel(_OfChosenKeys):
    """Method, cycle and turns of the tracks with selected keys"""

    bl_label = "Track"
    bl_translation_context = contexts.id_action

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_choices(self.layout, context)


class _HiddenHeader:
    """Hide the header of a panel."""

    bl_options: ClassVar[Any] = {"HIDE_HEADER"}


class _BakePanel(BakePanel, _HiddenHeader):
    """Bake TCB motion, free it, or finish with plain animation"""


def _count(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("Frame {:g} · {:d} keys", float(frames[0]), len(frames))
    return iface_("Frames {:g} to {:g} · {:d} keys", float(frames.min()), float(frames.max()), len(frames))


def _panel(space: str, prefix: str, name: str, base: type) -> Any:
    """Return the panel for the tab of one editor. All other panels are subpanels of the keys panel."""
    identifier = f"{prefix}_PT_tcb_{name}"
    where = {"bl_idname": identifier, "bl_space_type": space, "bl_region_type": "UI", "bl_category": "TCB"}
    if name != "keys":
        where["bl_parent_id"] = f"{prefix}_PT_tcb_keys"
    return type(identifier, (base, bpy.types.Panel), where | {"__doc__": base.__doc__})


PANELS = tuple(
    _panel(space, prefix, name, base)
    for space, prefix in (("DOPESHEET_EDITOR", "DOPESHEET"), ("GRAPH_EDITOR", "GRAPH"))
    for name, base in (
        ("keys", _KeysPanel),
        ("place", _PlacePanel),
        ("diagram", _DiagramPanel),
        ("track", _TrackPanel),
        ("bake", _BakePanel),
    )
)
