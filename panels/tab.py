# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the TCB sidebar tab in the 3D Viewport, the Dope Sheet and the Graph Editor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import bpy
import numpy as np

from ..animation.edit.track_keys import TrackKeys
from ..animation.translation import iface_
from ..ui.chosen_keys import chosen_keys, reason_no_key_is_chosen
from ..ui.track_text import labels_of
from .bake import BakePanel
from .header import draw_header
from .key import draw_chosen_diagram, draw_chosen_keys, draw_frame_and_values, draw_key_heading, has_diagram
from .track_settings import TrackSettingsPanel
from .tracks import TracksPanel


class KeysPanel:
    """Selected keys and their parameters"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        draw_header(layout, context)
        chosen = chosen_keys(context)
        if not chosen:
            reason = reason_no_key_is_chosen(context) or iface_("Only generated keys are selected")
            layout.label(text=reason, icon="INFO", translate=False)
            return
        layout.label(text=labels_of([(keys.datablock, keys.track) for keys in chosen]), translate=False)
        draw_key_heading(layout, _count_text(chosen))
        draw_chosen_keys(layout, context)


def _count_text(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("Frame {:g} · {:d} keys", float(frames[0]), len(frames))
    return iface_("Frames {:g} to {:g} · {:d} keys", float(frames.min()), float(frames.max()), len(frames))


class FrameAndValuesPanel:
    """Frame and values of the keys, and the motion at the current frame"""

    bl_label = "Frame and Values"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(chosen_keys(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_frame_and_values(self.layout, context)


class DiagramPanel:
    """Curve through the keys, with dots at equal time steps"""

    bl_label = "Diagram"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_chosen_diagram(self.layout, context)


def _panels(space: str, prefix: str, name: str, first: type) -> Iterator[Any]:
    """Yield the panels for the tab of one editor: the first panel, with this name, and its subpanels."""
    bases = {
        name: first,
        "place": FrameAndValuesPanel,
        "diagram": DiagramPanel,
        "track": TrackSettingsPanel,
        "bake": BakePanel,
    }
    for suffix, base in bases.items():
        idname = prefix + suffix
        attributes = {
            "__doc__": base.__doc__,
            "bl_idname": idname,
            "bl_space_type": space,
            "bl_region_type": "UI",
            "bl_category": "TCB",
        }
        if base is not first:
            attributes["bl_parent_id"] = prefix + name
        yield type(idname, (base, bpy.types.Panel), attributes)


PANELS = (
    *_panels("VIEW_3D", "TCB_PT_", "tracks", TracksPanel),
    *_panels("DOPESHEET_EDITOR", "DOPESHEET_PT_tcb_", "keys", KeysPanel),
    *_panels("GRAPH_EDITOR", "GRAPH_PT_tcb_", "keys", KeysPanel),
)
