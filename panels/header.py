# SPDX-License-Identifier: GPL-3.0-or-later
"""The first two rows of the tab in all editors: Live with the track states, and the messages."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.translation import iface_
from ..ui import redraw, selection, sidebar_tracks
from ..ui.shown_states import shown_states, states_in_strips
from .messages import messages_in_tab
from .widgets import cut_text

_LIVE_FACTOR = 0.36
"""Width of Live as a fraction of the first row."""


def draw_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Live next to the state or Enable TCB, and the first message. Both rows are always visible."""
    redraw.begin()
    actions = sidebar_tracks.active_actions(context)
    row = layout.split(factor=_LIVE_FACTOR, align=True)
    if len(actions) == 1:
        row.prop(actions[0], "tcb_live", text="Live", toggle=True, icon="PLAY")
    else:
        row.label(text="")
    _draw_state(row, context)
    for action in actions if len(actions) > 1 else ():
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", action.name), toggle=True, icon="PLAY")
    messages = messages_in_tab(context)
    row = layout.row(align=True)
    row.emboss = "NONE"
    if not messages:
        row.label(text="")
        return
    first, other_count = messages[0], len(messages) - 1
    suffix = f" (+{other_count})" if other_count else ""
    text = cut_text(context, first.short or first.text, len(suffix)) + suffix
    row.popover("TCB_PT_messages", text=text, icon=first.icon, translate=False)


def _draw_state(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Enable TCB if any selected track is not TCB, or else the most important state."""
    states, in_strips = shown_states(context), states_in_strips(context)
    if in_strips and selection.is_all_tcb(context):
        layout.label(text=in_strips, icon="NLA", translate=False)
        return
    if not states or not selection.is_all_tcb(context) or any(not track.enabled for _, track, _ in states):
        layout.operator("tcb.enable", icon="KEYFRAME_HLT")
        return
    datablock, track, worst_state = min(states, key=lambda listed_track: listed_track[2].rank)
    row = layout.row(align=True)
    row.alert = worst_state.name in {"EDITED_OUTSIDE", "BLOCKED"}
    icon: Any = worst_state.icon
    show_track = row.operator("tcb.track_select", text=worst_state.label, icon=icon, emboss=False, translate=False)
    show_track.track = sidebar_tracks.track_identifier(datablock, track.path)
