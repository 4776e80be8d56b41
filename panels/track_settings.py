# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the method, cycle and turns of the chosen tracks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts

from ..animation.bake.plans.track_methods import setting_names
from ..animation.store.table.track_records import Settings
from ..animation.store.tracks import Track
from ..ui import preferences
from ..ui.chosen_keys import chosen_tracks
from ..ui.layouts import draw_properties
from .widgets import sidebar_settings


class TrackSettingsPanel:
    """Method, cycle and turns of all tracks whose keys the sliders change"""

    bl_label = "Track"
    bl_translation_context = contexts.id_action
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(chosen_tracks(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        """Draw the settings that all chosen tracks have, and a note if the settings differ."""
        layout = self.layout
        tracks = [track for _, track in chosen_tracks(context)]
        if not all(track.enabled for track in tracks):
            layout.label(text="Enable TCB to change settings", icon="INFO")
            return
        for name in _common_settings(context, tracks):
            draw_properties(layout, sidebar_settings(context), [name])
            if len({getattr(track.settings, name) for track in tracks}) > 1:
                row = layout.row()
                row.alignment = "RIGHT"
                row.label(text="Differs between tracks")


_ORDER = ("method", "angles", "cycle", "ends", "construction", "path")
_OF_ALL = ("method", "cycle")
"""Settings of all methods."""
_ADVANCED = ("ends", "construction")
"""Settings that only old files need."""


def _common_settings(context: bpy.types.Context, tracks: Sequence[Track]) -> list[str]:
    """Return the settings that apply to all tracks.

    Advanced settings are included if the preference is on or they are in use.
    """
    applicable = set.intersection(*({*_OF_ALL, *setting_names(track, track.settings)} for track in tracks))
    if all(track.is_rotation for track in tracks):
        # Methods without this setting report turns that they cannot keep.
        applicable.add("path")
    return [
        name
        for name in _ORDER
        if name in applicable
        and (name not in _ADVANCED or preferences.shows_advanced(context) or _is_in_use(name, tracks))
    ]


def _is_in_use(name: str, tracks: Sequence[Track]) -> bool:
    """Return whether a setting of any track differs from the default."""
    default = getattr(Settings(), name)
    return any(getattr(track.settings, name) != default for track in tracks)
