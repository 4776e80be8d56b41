# SPDX-License-Identifier: GPL-3.0-or-later
"""A rotation mode and the keys of its property."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..animation.store.table.track_records import Settings
from ..animation.store.tracks import rotation_property
from .keys import Keys


@dataclass(frozen=True, eq=False)
class ModeKeys:
    """A rotation mode and the keys of its property. Without settings, the keys are not TCB keys."""

    mode: str
    keys: Keys
    settings: Settings | None
    is_one_spline: bool = True
    """True if the spline plays all segments."""

    @property
    def path(self) -> str:
        return rotation_property(self.mode)

    def is_like(self, imported: ModeKeys) -> bool:
        """Check whether an import wrote these keys."""
        if self.mode != imported.mode or not self.is_one_spline:
            return False
        if imported.keys.is_still:
            return self.keys.is_still and self.keys.is_like(replace(imported.keys, frames=self.keys.frames))
        settings, imported_settings = (
            settings and replace(settings, digest=0, options=None) for settings in (self.settings, imported.settings)
        )
        return settings == imported_settings and self.keys.is_like(imported.keys)
