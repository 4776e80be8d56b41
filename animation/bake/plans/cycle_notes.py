# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on tracks that cycle: where a loop jumps, and what of the cycle a bake does not play."""

from __future__ import annotations

from collections.abc import Sequence

from ....interp.batch import Cycle
from ...translation import n_, rpt_
from .protocol import Scope
from .splines import TrackSpline

_JUMPS = n_("its last key is not the same pose as its first: the loop jumps there")
_INSIDE_KEYS = n_("it cycles. Extend the bake to bake its repeats beyond the keys")
_NO_REPEATS = n_("it cycles, and Blender plays some of its segments: the bake has no repeats beyond its keys")
_CORNER = n_("it loops, and Blender plays some of its segments: there is a corner where the end meets the start")
_LOOP_GAP = 1e-4
"""In the track's units, or radians: with a larger gap the last key of a loop has another pose than the first."""


def cycle_notes(scope: Scope, splines: Sequence[TrackSpline], cycle: Cycle) -> list[str]:
    """Return the notes on a track that cycles so, REPEAT or LOOP."""
    by_handles = scope.options.output == "HANDLES"
    is_broken = any(spline.is_broken for spline in splines)
    notes = []
    if cycle == "LOOP" and any(spline.spline.loop_gap > _LOOP_GAP for spline in splines):
        notes.append(rpt_(_JUMPS))
    if scope.options.extend is None and scope.cycle != "SINGLE" and not by_handles:
        notes.append(rpt_(_INSIDE_KEYS))
    if is_broken and not by_handles:
        notes.append(rpt_(_NO_REPEATS))
    if is_broken and by_handles and cycle == "LOOP":
        notes.append(rpt_(_CORNER))
    return notes
