# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks of a bake that are written together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import field

import numpy as np

from ..fcurves.keyframes import BY_NUMBERS, INTERPOLATION, BoolArray, Keyframes
from ..records import record
from ..report import Report
from ..store.own_keys import OwnKeys
from ..store.table import key_identity
from ..store.table.custom_property import BakedChannel, Channel, TrackState
from .job import Job
from .plans.protocol import AnyKeys, Baked, TrackPlan

_KEYS_AT_ONCE = 20_000
"""Number of keys to compose together, which take a few megabytes."""


@record(eq=False)
class TrackToWrite:
    """A track to write, with its previous table entry."""

    job: Job
    report: Report
    """The report of the job."""
    plan: TrackPlan
    state: TrackState
    baked: Baked
    is_settled: bool
    """True if the keys still have the identities read from the curves."""
    placed: dict[int, Channel] = field(default_factory=dict)
    """Records of the written handles."""
    written: dict[int, BakedChannel] = field(default_factory=dict)
    """Records of the baked channels."""

    @property
    def is_in_world(self) -> bool:
        """Return whether the track is baked in world space."""
        options = self.plan.settings.options
        return options is not None and options.in_world

    @property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return self.is_settled and bool(self.state.channels)

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None


def alike(
    keys_by_layout: Iterable[tuple[Hashable, TrackToWrite, AnyKeys]],
) -> Iterator[list[tuple[TrackToWrite, AnyKeys]]]:
    """Group tracks by the layout of their keys. Yield about `_KEYS_AT_ONCE` keys at a time."""
    groups: dict[Hashable, list[tuple[TrackToWrite, AnyKeys]]] = {}
    for layout, member, keys in keys_by_layout:
        groups.setdefault(layout, []).append((member, keys))
    for group in groups.values():
        count = max(1, _KEYS_AT_ONCE // group[0][1].count)
        for start in range(0, len(group), count):
            yield group[start : start + count]


def with_identities(own: OwnKeys, plays: BoolArray) -> Keyframes:
    """Return the animator's keys in the channels, with key identities in all floats that the curves do not use.

    `plays` is a mask of the keys that begin a segment of the spline.
    """
    # Searching the bytes is ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    played = np.tile(plays, len(kinds) // len(plays))
    interpolation = np.where(played, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return key_identity.with_identities(own.keys, own.identities, interpolation)
