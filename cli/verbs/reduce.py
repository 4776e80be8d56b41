# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `reduce`."""

from __future__ import annotations

from ... import animation
from ...animation import Finding
from ...animation.reduction.reduce import reduce_steps
from ...animation.steps import run_steps
from ...animation.translation import n_
from ..arguments import Job
from ..choosing import choose
from ..outcome import Outcome
from ..print_outcome import Ticker


def reduce(job: Job, outcome: Outcome) -> None:
    """Reduce the datablocks, and add a note on the keys and errors of each datablock."""
    datablocks = choose(job, outcome)
    tick = Ticker(outcome.file, n_("{:,} of {:,} steps"))
    results, refused = run_steps(reduce_steps(dict.fromkeys(datablocks, (None, job.how))), tick)
    report = animation.Report(
        datablocks=len(results),
        tracks=sum(each.tracks for each in results),
        keys=sum(each.keys for each in results),
    )
    report.errors += [each for each in refused if not each.has_nothing_to_do]
    report.errors += [each.finding for each in results if not each.reached]
    report.notes += [note for each in results for note in ([each.finding] if each.reached else []) + each.notes]
    outcome.report.add(report)
    outcome.results["reduced"] = [each.to_dict() for each in results]
    if datablocks and job.given.range and not report.tracks:
        outcome.nothing_to_do = Finding("NOTHING_TO_REDUCE_IN_RANGE")
