# SPDX-License-Identifier: GPL-3.0-or-later
"""The smoothness of a track's splines at its keys."""

from __future__ import annotations

from collections.abc import Mapping

from ...interp.continuity import Jump, continuity, jumps
from ..bake.plans.track_splines import track_splines
from ..records import record
from ..store.own_keys import read_own_keys
from ..store.tracks import Track
from .shown_key import check_can_be_drawn

MOST_KEYS = 2000
"""Maximum number of keys. With more keys, measuring a rotation would delay redraws."""


@record()
class Smoothness:
    """The smoothness of all splines of a track."""

    continuity: str
    """Continuity of the least smooth spline: C0, C1 or C2. Empty if the value jumps, for example between the cycles of
    a loop."""
    jumps: list[Jump]
    """The largest jump in the value, and in each derivative that exists for all splines."""


def smoothness(track: Track, defaults: Mapping[str, float]) -> Smoothness:
    """Measure a track's smoothness. `defaults` contains the parameters of keys that have none of their own.

    Raises AnimationError if the keys do not form a spline, or if the smoothness can't be determined while drawing.
    """
    originals = read_own_keys(track)
    if not originals:
        raise track.error("NO_KEYS")
    if max(len(original.keys) for original in originals.values()) > MOST_KEYS:
        raise track.error("TOO_MANY_KEYS_MEASURED", MOST_KEYS)
    check_can_be_drawn(track, originals)
    splines = track_splines(track, track.settings, originals, defaults)
    measured = [jumps(spline.spline, track.is_rotation) for spline in splines]
    orders = zip(*measured, strict=False)
    return Smoothness(
        min(map(continuity, measured)),
        [max(of_order, key=lambda jump: (jump.is_seen, jump.size)) for of_order in orders],
    )
