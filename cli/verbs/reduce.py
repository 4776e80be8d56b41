# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `reduce`: dense curves of the open file become few keys."""

from __future__ import annotations

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
        keys=sum(each.keys for each in results),
    )
    report.errors += [each for each in refused if not each.has_nothing_to_do]
    report.errors += [each.finding for each in results if not each.reached]
    report.notes += [note for each in results for note in ([each.finding] if each.reached else []) + each.notes]
    outcome.results["reduced"] = [each.to_dict() for each in results]
    return report
