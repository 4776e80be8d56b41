# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a track after each stage of a bake, which adds fields to the record of the stage before.

The first stages have the records in `plans/own_motion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..fcurves.keyframes import Float32Array
from ..records import record
from ..report import Finding
from ..store.table.rows import Rows
from ..store.table.track_records import BakedChannel, Settings, TrackState
from ..store.up_to_date import digest
from .plans.composed_keys import ComposedKeys
from .plans.own_motion import TrackInput
from .plans.protocol import Plan


@record(eq=False)
class PlannedTrack(TrackInput):
    """A track with its plans."""

    key_frames: Float32Array
    """Frames of the animator's keys in all channels."""
    plans: Sequence[Plan]
    """One plan per spline, or one for all splines."""
    notes: Sequence[Finding]


@record(eq=False)
class EvaluatedTrack(PlannedTrack):
    """A track whose splines have been evaluated."""

    baked: ComposedKeys
    """The keys that play the track."""


@record(eq=False)
class TrackBake(EvaluatedTrack):
    """The complete bake of a track, whose keys have rows and identities."""

    state: TrackState
    """Table entry of the track before the bake."""
    rows: Sequence[Rows]
    """New rows for the table, one array per channel."""

    @cached_property
    def keeps_identities(self) -> bool:
        """Return whether the keys still have the identities read from the curves."""
        return not any(map(len, self.rows))

    def settings_after(self) -> Settings:
        """Return the track's settings after the bake."""
        options = self.options
        digest_of_bake = digest(self.track, self.settings, options, self.own, self.function)
        return Settings(**{**vars(self.settings), "options": options, "digest": digest_of_bake})

    @cached_property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return bool(self.state.channels) and self.keeps_identities

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None
