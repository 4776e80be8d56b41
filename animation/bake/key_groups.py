# SPDX-License-Identifier: GPL-3.0-or-later
"""Group the keys of a bake that are composed and written together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from ..fcurves.keyframes import BY_NUMBERS, INTERPOLATION, BoolArray, Keyframes
from ..store.own_keys import OwnKeys
from ..store.table import key_identity
from .plans.protocol import AnyKeys, TrackBake

_KEYS_AT_ONCE = 20_000
"""Number of keys to compose together, which take a few megabytes."""


def alike(
    keys_by_layout: Iterable[tuple[Hashable, TrackBake, AnyKeys]],
) -> Iterator[list[tuple[TrackBake, AnyKeys]]]:
    """Group tracks by the layout of their keys. Yield about `_KEYS_AT_ONCE` keys at a time."""
    groups: dict[Hashable, list[tuple[TrackBake, AnyKeys]]] = {}
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
