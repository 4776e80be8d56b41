# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of one track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import Finding
from ..fcurves.channels import Channels
from ..fcurves.keyframes import HANDLE, SIDES, Float32Array
from ..store.frame_functions import FrameFunction
from ..store.table.track_records import BakedChannel, Options, Settings, TrackState
from ..store.tracks import Track
from .plans.composed_keys import ComposedKeys
from .plans.own_motion import OwnChannels
from .plans.protocol import Plan, Results


@dataclass(eq=False)
class TrackBake:
    """The bake of a track. Each stage of the bake sets some fields."""

    track: Track
    channels: Channels
    own: OwnChannels
    options: Options
    function: FrameFunction | None
    """The frame function that retimes the track."""
    settings: Settings = field(init=False)
    """The track's settings with the options."""
    key_frames: Float32Array = field(init=False)
    """Frames of the animator's keys in all channels. The planning sets this field and the following ones."""
    plans: Sequence[Plan] = field(init=False)
    """One plan per spline, or one for all splines."""
    notes: Sequence[Finding] = field(init=False)
    baked: ComposedKeys = field(init=False)
    """The keys that play the track, set when the splines are evaluated."""
    state: TrackState = field(init=False)
    """Table entry of the track, set when the keys have rows."""
    keeps_identities: bool = field(init=False)
    """True if the keys with rows still have the identities read from the curves."""

    def __post_init__(self) -> None:
        settings = self.track.settings
        self.settings = settings if settings.options is self.options else replace(settings, options=self.options)

    def compose(self, results: Results) -> None:
        """Compose the keys of all plans, and find the largest error."""
        baked_by_plan = [plan.compose(results) for plan in self.plans]
        if len(baked_by_plan) == 1 and not self.notes:
            (self.baked,) = baked_by_plan
            return
        worst = max(baked_by_plan, key=lambda baked: baked.error)
        self.baked = ComposedKeys(
            [keys for baked in baked_by_plan for keys in baked.channel_keys],
            [keys for baked in baked_by_plan for keys in baked.handle_keys],
            [*self.notes, *(note for baked in baked_by_plan for note in baked.notes)],
            worst.error,
            worst.error_frame,
            any(baked.is_approximate for baked in baked_by_plan),
        )

    def keep_handles(self) -> None:
        """Make the fitted handles the animator's own, so that Restore and Remove keep them.

        Handles of keys with other values on the curves do not fit the animator's values.
        """
        own_keys = dict(self.own)
        for handle_keys in [keys for keys in self.baked.handle_keys if keys.values_on_curves is None]:
            for index, *handles in zip(handle_keys.components, handle_keys.left, handle_keys.right, strict=True):
                keys = own_keys[index].keys.copy()
                for side, places in zip(SIDES, handles, strict=True):
                    is_fitted = ~np.isnan(places).any(axis=1)
                    getattr(keys, side)[is_fitted] = places[is_fitted]
                    getattr(keys, f"{side}_type")[is_fitted] = HANDLE["FREE"]
                own_keys[index] = own_keys[index].with_(keys=keys)
        self.own = own_keys

    @property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return self.keeps_identities and bool(self.state.channels)

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None
