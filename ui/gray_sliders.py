# SPDX-License-Identifier: GPL-3.0-or-later
"""Text that explains why sliders of parameters are gray."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import bpy
from bpy.app.translations import contexts

from ..animation.checks.parameters_played import Obstacle, PlayedParameters
from ..animation.checks.track_state import state
from ..animation.datablocks import animation_data
from ..animation.store.actions.live_switch import is_live
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..interp.splines import METHODS
from .sliders.key_fields import DESCRIPTIONS


def parameters_text(played: PlayedParameters, tracks: Sequence[tuple[bpy.types.ID, Track]]) -> str:
    """Return the reason why sliders have no effect, a note that a slider enables TCB, or an empty string."""
    obstacle = played.obstacles[0] if played.obstacles else None
    off = [datablock for datablock, track in tracks if state(track) == "TCB"]
    if off and (obstacle is None or obstacle.cause == "END"):
        animation = animation_data(off[0])
        is_on = animation is not None and animation.action is not None and is_live(animation.action)
        return iface_("Off: bake to play") if is_on else iface_("Off: turn on Live or bake")
    if obstacle is not None:
        return _obstacle_text(obstacle, played.names)
    return "" if any(track.enabled for _, track in tracks) else iface_("Moving a slider enables TCB")


def _obstacle_text(obstacle: Obstacle, acting: Collection[str]) -> str:
    if obstacle.cause == "END":
        if not acting:
            return iface_("No segment next to this key")
        gray = [name for name in PARAMETERS if name not in acting]
        # The shorter list fits into the default width of the sidebar.
        is_short = len(gray) < len(acting)
        shown = gray if is_short else [name for name in PARAMETERS if name in acting]
        labels = ", ".join(iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action) for name in shown)
        return iface_((_ENDS_WITHOUT if is_short else _ENDS_WITH)[obstacle.names[0]], labels)
    if obstacle.cause == "METHOD":
        labels = ", ".join(iface_(METHODS[name].label) for name in obstacle.names)
        return iface_("Method: {:s}", labels)
    is_handle = obstacle.cause == "HANDLES"
    prop: Any = bpy.types.Keyframe.bl_rna.properties["handle_left_type" if is_handle else "interpolation"]
    names = ", ".join(iface_(prop.enum_items[name].name) for name in obstacle.names)
    return iface_("Handles: {:s}", names) if is_handle else iface_("Keys: {:s}", names)


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
