# SPDX-License-Identifier: GPL-3.0-or-later
"""The row that explains why parameter sliders have no effect, with a button for the solution."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import bpy
from bpy.app.translations import contexts

from ..animation.checks.played_parameters import Obstacle, PlayedParameters
from ..animation.checks.track_state import state
from ..animation.store.live_switch import is_live
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..interp.splines import METHODS
from ..ui import selection
from ..ui.parameter_properties import DESCRIPTIONS

_REASON_FACTORS = {"HANDLES": 0.7, "INTERPOLATION": 0.64, "METHOD": 0.64}
"""Fraction of a row for the reason why sliders are gray, by its cause. The rest of the row is the button."""


def draw_reason(
    layout: bpy.types.UILayout, played: PlayedParameters, tracks: Sequence[tuple[bpy.types.ID, Track]], refusal: str
) -> None:
    """Draw one row with the reason why sliders are gray and a solution. The row is always visible.

    `refusal`: reason why the keys cannot be edited, or an empty string.
    """
    cause = played.obstacle.cause if played.obstacle is not None and not refusal else ""
    row = layout.split(factor=_REASON_FACTORS[cause]) if cause in _REASON_FACTORS else layout.row()
    text = refusal or _parameters_text(played, tracks)
    icon: Any = "LOCKED" if refusal else "INFO" if text else "BLANK1"
    row.label(text=text, icon=icon, translate=False)
    match cause:
        case "HANDLES":
            row.operator("tcb.handles_free")
        case "INTERPOLATION":
            row.operator("tcb.key_bezier")
        case "METHOD":
            row.operator("tcb.key_use_tcb")


def _parameters_text(played: PlayedParameters, tracks: Sequence[tuple[bpy.types.ID, Track]]) -> str:
    """Return the reason why sliders have no effect, a note that a slider enables TCB, or an empty string."""
    owners_of_off_tracks = [datablock for datablock, track in tracks if state(track) == "TCB"]
    if owners_of_off_tracks and (played.obstacle is None or played.obstacle.cause == "END"):
        has_live = any(map(is_live, selection.actions_of(owners_of_off_tracks[:1])))
        return iface_("Off: bake to play") if has_live else iface_("Off: turn on Live or bake")
    if played.obstacle is not None:
        return _obstacle_text(played.obstacle, played.names)
    return "" if any(track.enabled for _, track in tracks) else iface_("Moving a slider enables TCB")


def _obstacle_text(obstacle: Obstacle, effective: Collection[str]) -> str:
    """Return the reason. `effective`: parameters whose sliders have an effect."""
    # Blender's tool for translations joins all texts in one call, so labels are not arguments of nested calls.
    match obstacle.cause:
        case "END":
            return _end_text(obstacle.names[0], effective)
        case "METHOD":
            labels = ", ".join(iface_(METHODS[name].label) for name in obstacle.names)
            return iface_("Method: {:s}", labels)
        case "HANDLES":
            labels = _enum_labels("handle_left_type", obstacle.names)
            return iface_("Handles: {:s}", labels)
        case _:
            labels = _enum_labels("interpolation", obstacle.names)
            return iface_("Keys: {:s}", labels)


_ENDS_WITHOUT = {
    "FIRST": n_("First key: no {:s}"),
    "LAST": n_("Last key: no {:s}"),
    "": n_("Curve end: no {:s}"),
}
_ENDS_WITH = {
    "FIRST": n_("First key: only {:s}"),
    "LAST": n_("Last key: only {:s}"),
    "": n_("Curve end: only {:s}"),
}


def _end_text(end: str, effective: Collection[str]) -> str:
    if not effective:
        return iface_("No segment next to this key")
    gray = [name for name in PARAMETERS if name not in effective]
    # The shorter list fits into the default width of the sidebar.
    if len(gray) < len(effective):
        return iface_(_ENDS_WITHOUT[end], _labels(gray))
    return iface_(_ENDS_WITH[end], _labels(name for name in PARAMETERS if name in effective))


def _labels(names: Iterable[str]) -> str:
    return ", ".join(iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action) for name in names)


def _enum_labels(property_name: str, identifiers: Iterable[str]) -> str:
    """Return Blender's labels for values of an enum property of keys."""
    prop: Any = bpy.types.Keyframe.bl_rna.properties[property_name]
    return ", ".join(iface_(prop.enum_items[identifier].name) for identifier in identifiers)
