# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on cyclic tracks: jumps in a loop, and cycles that a bake does not play."""

from __future__ import annotations

from collections.abc import Sequence

from ....interp.batch import Cycle
from ...errors import Finding
from .protocol import Scope
from .splines import TrackSpline

_LOOP_GAP = 1e-4
"""Smallest reported gap between the first and last pose of a loop, in the track's units or radians."""


def cycle_notes(scope: Scope, splines: Sequence[TrackSpline], cycle: Cycle) -> list[Finding]:
    """Return the notes on a track with the cycle REPEAT or LOOP."""
    by_handles = scope.options.output == "HANDLES"
    is_broken = any(spline.is_broken for spline in splines)
    notes, track = [], scope.track
    if cycle == "LOOP" and any(spline.spline.loop_gap > _LOOP_GAP for spline in splines):
        notes.append(track.finding("LOOP_JUMPS"))
    if scope.options.extend is None and scope.cycle != "SINGLE" and not by_handles:
        notes.append(track.finding("CYCLE_INSIDE_KEYS"))
    if is_broken and not by_handles:
        notes.append(track.finding("CYCLE_ENDS"))
    if is_broken and by_handles and cycle == "LOOP":
        notes.append(track.finding("LOOP_CORNER"))
    return notes
