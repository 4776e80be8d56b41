# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `reduce`: dense curves of the open file become few keys."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ... import animation
from ...animation.reduction.reduce import reduce_steps
from ...animation.reduction.wanted import Wanted
from ...animation.steps import run_steps
from ...animation.translation import n_
from ..arguments.parser import Job
from ..outcome import Outcome, Ticker


def reduce_all(datablocks: list[bpy.types.ID], job: Job, outcome: Outcome) -> animation.Report:
    """Reduce the datablocks; the outcome gets a note on each, with its keys and errors."""
    tick = Ticker(outcome.file, n_("{:,} of {:,} steps"))
    wanted = Wanted(**job.reduction)
    results, refused = run_steps(reduce_steps(dict.fromkeys(datablocks, (None, wanted))), tick)
    report = animation.Report(
        datablocks=len(results),
        tracks=sum(each.tracks for each in results),
        keys=sum(each.diamonds for each in results),
    )
    report.errors += [each for each in refused if not each.nothing_to_do]
    report.errors += [animation.AnimationError(each.name, each.summary) for each in results if not each.reached]
    report.notes += [note for each in results for note in ((str(each),) if each.reached else ()) + tuple(each.notes)]
    outcome.findings["reduced"] = [_as_json(each) for each in results]
    return report


def _as_json(result: animation.Reduction) -> dict[str, Any]:
    numbers = ("keys_before", "keys", "diamonds_before", "diamonds", "error", "error_at", "mean")
    more = ("evaluated", "still", "still_at", "noise", "noise_at", "unfiltered", "unfiltered_at")
    return {
        "datablock": result.name,
        "action": result.action,
        "original": result.original,
        "wanted": result.wanted,
        "reached": result.reached,
        **{name: getattr(result, name) for name in numbers},
        "angle": math.degrees(result.angle),
        "angle_at": result.angle_at,
        **{name: getattr(result, name) for name in more},
        "noise_angle": math.degrees(result.noise_angle),
        "unfiltered_angle": math.degrees(result.unfiltered_angle),
    }
