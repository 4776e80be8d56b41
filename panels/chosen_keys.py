# SPDX-License-Identifier: GPL-3.0-or-later
"""The chosen keys in the tabs of all editors: sliders, tools, frame, value and diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy

from ..animation.bake.plans.splines import bends_by_parameters
from ..animation.checks.parameters_played import PlayedParameters
from ..animation.edit.track_keys import TrackKeys
from ..animation.number_text import number_text
from ..animation.store.parameters import Numbers
from ..animation.translation import iface_
from ..ui import preferences, selection
from ..ui.sliders.frame_field import playhead
from ..ui.sliders.key_fields import SLIDERS_OF_VALUE, SLIDERS_OF_VELOCITY, value_component, velocity_component
from ..ui.sliders.numbers_of_50 import of_50
from ..ui.sliders.shared_number import is_mixed
from ..ui.sliders.slider_drag import once_a_drag
from .pictures.diagram import draw_diagram
from .track_text import component_label, editing_blocked_by, parameters_text, settings_error
from .widgets import SLIDER, draw_key_tools, draw_parameters, draw_text, draw_velocity, sidebar_settings

_TEXT = 0.64
"""Part of a row that a text takes beside its button."""


def draw_chosen_keys(
    layout: bpy.types.UILayout, context: bpy.types.Context, now: Mapping[int, float] | None = None
) -> None:
    """Draw sliders and fields of the chosen keys, of which there is one at least, and the buttons for them.

    `now`: values at the current frame, which stand beside the keys' own.
    """
    chosen, settings = selection.chosen_keys(context), sidebar_settings(context)
    refusals = _refusals(context)
    numbers = selection.chosen_parameters(context)
    ranges = {name: _range(context, name, own) for name, own in numbers.items() if is_mixed(own)}
    played = selection.chosen_played(context)
    _draw_obstacle(layout, context, played, chosen)
    column = layout.column(align=True)
    column.enabled = not all(refusals)
    draw_parameters(column, context, settings, ranges, played.names)
    mixed = _draw_velocity(column, context) or bool(ranges)
    if mixed:
        # Below the sliders, so that none moves away under the mouse when it sets all to one.
        column.label(text="Mixed: the mean, and the range")
    for reason in sorted({*refusals} - {""}):
        draw_text(layout, context, reason, "LOCKED")
    if mixed:
        layout.prop(settings, "relative")
    draw_key_tools(layout, context)
    column = layout.column(align=True)
    column.enabled = not all(refusals)
    _draw_place(column, context, chosen, now or {})


@once_a_drag
def _refusals(context: bpy.types.Context) -> list[str]:
    """Return why the keys of each track can't be edited, or empty texts."""
    return [editing_blocked_by(keys.datablock, keys.track) for keys in selection.chosen_keys(context)]


def draw_chosen_diagram(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the diagram of the chosen keys; an empty one where they differ."""
    numbers, sides = selection.chosen_parameters(context), selection.chosen_sides(context)
    alike = sides is not None and not any(map(is_mixed, numbers.values()))
    parameters = {name: float(own[0]) for name, own in numbers.items()} if alike else None
    draw_diagram(layout, parameters, (sides if alike else None) or (None, None))


def has_diagram(context: bpy.types.Context) -> bool:
    """Check whether there are chosen keys, of a track whose curve bends by their parameters."""
    tracks = [keys.track for keys in selection.chosen_keys(context)]
    return any(settings_error(track) or bends_by_parameters(track, track.settings) for track in tracks)


def _draw_obstacle(
    layout: bpy.types.UILayout, context: bpy.types.Context, played: PlayedParameters, chosen: Sequence[TrackKeys]
) -> None:
    """Draw one line on what keeps sliders from acting, and the way out; there always, so that no slider moves."""
    row = layout.split(factor=_TEXT) if played.obstacles else layout.row()
    text = parameters_text(played, [keys.track for keys in chosen])
    row.label(text=text, icon="INFO" if played.obstacles else "BLANK1", translate=False)
    causes = [obstacle.cause for obstacle in played.obstacles]
    match causes[0] if causes else "":
        case "HANDLES":
            row.operator("tcb.handles_free")
        case "INTERPOLATION":
            row.operator("tcb.key_bezier")
        case "METHOD":
            row.prop_enum(sidebar_settings(context), "method", "TCB", text="Use TCB")


def _draw_velocity(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Draw sliders for the velocity of the keys whose method uses it; return whether it differs between keys."""
    tracks = [(keys.datablock, keys.track) for keys, _ in selection.chosen_velocities(context)]
    if not tracks:
        return False
    if len({track.is_rotation for _, track in tracks}) > 1:
        layout.label(text="Velocities: select values or rotations alone", icon="INFO")
        return False
    components = [velocity_component(context, component)[1] for component in range(SLIDERS_OF_VELOCITY)]
    ranges = {component: _mixed(numbers) for component, numbers in enumerate(components) if _mixed(numbers)}
    draw_velocity(layout, sidebar_settings(context), tracks, ranges)
    return bool(ranges)


def _draw_place(
    layout: bpy.types.UILayout, context: bpy.types.Context, chosen: Sequence[TrackKeys], now: Mapping[int, float]
) -> None:
    """Draw the fields of frame and value; of keys of different properties that of the frame alone."""
    settings = sidebar_settings(context)
    row = layout.split(factor=SLIDER, align=True) if now else layout.row()
    field = row.row(align=True)
    field.prop(settings, "key_frame")
    if not selection.in_animation_editor(context):
        field.prop(settings, "whole_column", text="", icon="ACTION")
    if now:
        row.label(text=iface_("at {:g}:", playhead(context)), translate=False)
    first = chosen[0]
    kinds = {(keys.track.kind, keys.track.path.rpartition(".")[2], len(keys.track.rest)) for keys in chosen}
    if len(kinds) > 1:
        return
    name = "key_angles" if first.track.kind == "EULER" else "key_value"
    for component in range(min(SLIDERS_OF_VALUE, len(first.track.rest))):
        numbers = value_component(context, component)[1]
        beside = _mixed(numbers) or (number_text(now[component]) if component in now else "")
        row = layout.split(factor=SLIDER, align=True) if beside else layout.row()
        field = row.row()
        field.enabled = len(numbers) > 0
        label = component_label(first.datablock, first.track, component)
        field.prop(settings, name, index=component, text=label, translate=False)
        if beside:
            row.label(text=beside, translate=False)


def _mixed(numbers: Numbers) -> str:
    """Return the range of numbers that differ; empty where they do not."""
    return (
        f"{number_text(numbers.min(), 3)} … {number_text(numbers.max(), 3)}"
        if len(numbers) and is_mixed(numbers)
        else ""
    )


def _range(context: bpy.types.Context, name: str, numbers: Numbers) -> str:
    """Return the range of mixed parameters."""
    low, high = float(numbers.min()), float(numbers.max())
    if preferences.shows_numbers_of_50(context):
        return f"{number_text(of_50(name, low), 1)} … {number_text(of_50(name, high), 1)}"
    return f"{number_text(low, 3)} … {number_text(high, 3)}"
