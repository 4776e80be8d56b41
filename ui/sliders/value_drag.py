# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of key values. Unlike parameters, values have no preview, so they are written at each step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ...animation import AnimationError
from ...animation.edit.keys import set_value
from ...animation.edit.parameter_drag import Given
from ...animation.edit.recorded_tracks import record_tracks, revert_tracks
from ...animation.edit.track_keys import TrackKeys


class ValueDrag:
    """Key values that are written at each step of a drag, with the methods of `ParameterDrag`."""

    def __init__(self, chosen: Sequence[TrackKeys]) -> None:
        self.is_shown = False
        """True from the first step to the end of the drag."""
        self._chosen = chosen
        self._recorded = record_tracks((keys.datablock, keys.track) for keys in chosen)

    def to(self, given: Given) -> None:
        """Set values by component names. NaN means that a key lacks the component."""
        self.is_shown = True
        for keys, values_by_component in zip(self._chosen, given, strict=True):
            for component, values in values_by_component.items():
                has_component = ~np.isnan(values)
                # The panel shows the reason if the keys cannot be changed.
                with suppress(AnimationError):
                    set_value(keys.take(has_component), int(component), values[has_component])

    def finish(self, given: Given) -> None:
        """Set values, and end the drag."""
        self.to(given)
        self.is_shown = False

    def finish_at_last_step(self) -> None:
        """End the drag."""
        self.is_shown = False

    def take_back(self) -> None:
        """End the drag, and restore the keys."""
        self.is_shown = False
        revert_tracks(self._recorded)
