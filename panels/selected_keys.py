# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab TCB of the Dope Sheet and the Graph Editor: the parameters of the selected keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
import numpy as np

from ..animation.datablocks import name_of
from ..animation.edit.selected_keys import TrackKeys
from ..animation.translation import iface_
from ..ui import preferences, redraw, selection
from ..ui.preferences import of_50
from ..ui.properties import SLIDERS_OF_VELOCITY, velocity_component
from ..ui.shared_number import is_mixed
from .bake import BakeOptionsPanel, BakePanel, DefaultsPanel
from .live import MessagesPanel, draw_live
from .pictures.diagram import draw_diagram
from .track_text import editing_blocked_by, track_label, unused_parameters
from .widgets import (
    draw_choices,
    draw_key_heading,
    draw_key_tools,
    draw_parameters,
    draw_velocity,
    sidebar_settings,
)

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

        reasons = {reason for keys in chosen if (reason := editing_blocked_by(keys.datablock, keys.track))}
        numbers = selection.chosen_parameters(context)
        ranges = {name: _range(context, name, own) for name, own in numbers.items() if is_mixed(own)}
        column = layout.column(align=True)
        column.enabled = not reasons
        unused = unused_parameters([keys.track for keys in chosen])
        draw_parameters(column, context, sidebar_settings(context).selected, ranges, unused)
        mixed = _draw_velocity(column, context)
        if ranges or mixed:
            # Below the sliders, so that none moves away under the mouse when it sets all to one.
            column.label(text="Mixed: the mean, and the range")
        for reason in sorted(reasons):
            layout.label(text=reason, icon="LOCKED", translate=False)
        if ranges or mixed:
            layout.prop(sidebar_settings(context).selected, "relative")
        draw_key_tools(layout)
        if not unused:
            sides = selection.chosen_sides(context)
            alike = not ranges and sides is not None
            parameters = {name: float(own[0]) for name, own in numbers.items()} if alike else None
            draw_diagram(layout, parameters, sides or (None, None))


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


def _draw_velocity(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Draw sliders for the velocity of the keys whose method uses it; return whether it differs between keys."""
    tracks = [(keys.datablock, keys.track) for keys, _ in selection.chosen_velocities(context)]
    if not tracks:
        return False
    if len({track.is_rotation for _, track in tracks}) > 1:
        layout.label(text="Velocities: select values or rotations alone", icon="INFO")
        return False
    components = [velocity_component(context, component)[1] for component in range(SLIDERS_OF_VELOCITY)]
    ranges = {
        component: f"{numbers.min():.3g} … {numbers.max():.3g}"
        for component, numbers in enumerate(components)
        if len(numbers) and is_mixed(numbers)
    }
    draw_velocity(layout, sidebar_settings(context).selected, tracks, ranges)
    return bool(ranges)


def _count(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Key: frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("{:d} keys, frame {:g}", len(frames), float(frames[0]))
    return iface_("{:d} keys, frames {:g} to {:g}", len(frames), float(frames.min()), float(frames.max()))


def _range(context: bpy.types.Context, name: str, numbers: Any) -> str:
    """Return the range of mixed numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    if preferences.numbers_of_50(context):
        return f"{of_50(name, low):.3g} … {of_50(name, high):.3g}"
    return f"{low:.2g} … {high:.2g}"


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
        _panel(space, prefix, "bake", BakePanel),
        _panel(space, prefix, "bake_options", BakeOptionsPanel, "bake"),
        _panel(space, prefix, "defaults", DefaultsPanel, "bake"),
        _panel(space, prefix, "live", _LivePanel),
        _panel(space, prefix, "keys", _KeysPanel),
        _panel(space, prefix, "track", _TrackPanel, "keys"),
        _panel(space, prefix, "messages", MessagesPanel),
    )
)
