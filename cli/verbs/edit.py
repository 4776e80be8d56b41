# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement verbs that change tracks: bake, free, restore, apply, remove, enable, reduce and curves."""

from __future__ import annotations

import math
from collections.abc import Iterable

import bpy

from ... import animation
from ...animation import Finding
from ...animation.bake.tracks_to_bake import plain_among
from ...animation.datablocks import name_of
from ...animation.reduction.reduce import reduce_steps
from ...animation.steps import run_steps
from ...animation.store.editable import blocking_reason, has_keys
from ...animation.text import n_
from ..arguments import Job
from ..choosing import choose, matching_objects, tracks_of
from ..outcome import Outcome, Ticker


def bake(job: Job, outcome: Outcome) -> None:
    """Bake the chosen datablocks. Visible changes, and tracks that can't be made TCB, become errors."""
    given = job.given
    datablocks = dict.fromkeys(choose(job, outcome))
    plain = plain_among(datablocks)
    report = animation.bake_many(
        datablocks,
        job.request,
        keep_look=given.keep_look,
        max_change=given.max_change,
        path=given.path,
        enable=given.enable,
        progress=Ticker(outcome.file, n_("{:,} of {:,} tracks")),
    )
    _add_faults(report, outcome, job, plain)


def enable(job: Job, outcome: Outcome) -> None:
    """Enable the chosen datablocks. Visible changes become errors."""
    given = job.given
    datablocks = choose(job, outcome)
    report = animation.enable_many(datablocks, keep_look=given.keep_look, max_change=given.max_change, path=given.path)
    _add_faults(report, outcome, job)


def free(job: Job, outcome: Outcome) -> None:
    outcome.report.add(animation.free_many(choose(job, outcome), discard_edits=job.given.discard_edits))


def restore(job: Job, outcome: Outcome) -> None:
    outcome.report.add(animation.restore_many(choose(job, outcome)))


def apply(job: Job, outcome: Outcome) -> None:
    outcome.report.add(animation.apply_many(choose(job, outcome)))


def remove(job: Job, outcome: Outcome) -> None:
    outcome.report.add(animation.remove_many(choose(job, outcome)))


def reduce(job: Job, outcome: Outcome) -> None:
    """Reduce the datablocks, and add a note on the keys and errors of each datablock."""
    datablocks = choose(job, outcome)
    ticker = Ticker(outcome.file, n_("{:,} of {:,} steps"))
    reductions, refused = run_steps(reduce_steps(dict.fromkeys(datablocks, (None, job.request))), ticker)
    names = {reduction.name for reduction in reductions}
    reduced = [datablock for datablock in datablocks if name_of(datablock) in names]
    report = animation.Report.on(reduced, tracks=sum(reduction.tracks for reduction in reductions))
    report.keys = sum(reduction.keys for reduction in reductions)
    report.errors += [finding for finding in refused if not finding.has_nothing_to_do]
    for reduction in reductions:
        (report.notes if reduction.reached else report.errors).append(reduction.finding)
        report.notes += reduction.notes
    outcome.report.add(report)
    outcome.results["reduced"] = [reduction.to_dict() for reduction in reductions]
    if datablocks and job.given.range and not report.tracks:
        outcome.nothing_to_do = Finding("NOTHING_TO_REDUCE_IN_RANGE")


def restore_curves(job: Job, outcome: Outcome) -> None:
    """Restore the curves of the file's objects, or of the requested objects."""
    given = job.given
    objects = matching_objects(given.objects, outcome)
    if outcome.nothing_to_do:
        return
    try:
        report = animation.restore_curves(
            given.model,
            objects,
            exact=given.exact,
            value_tolerance=given.value_tolerance,
            rotation_tolerance=given.rotation_tolerance,
            use_tcb=given.use_tcb,
            progress=Ticker(outcome.file, n_("{:,} of {:,} steps")),
        )
    except animation.AnimationError as error:
        # A dry run also lists the changes if there are none.
        report = animation.Report(errors=[*error.findings])
    outcome.report.add(report)


def _add_faults(report: animation.Report, outcome: Outcome, job: Job, plain: Iterable[bpy.types.ID] = ()) -> None:
    """Add the report to the outcome. Visible changes, and blocked tracks of plain datablocks, become errors."""
    tracks = [track for datablock in plain for track in tracks_of(datablock)]
    plain_tracks = [track for track in tracks if track.in_use and not track.enabled and has_keys(track)]
    skipped = {reason for track in plain_tracks if (reason := blocking_reason(track))}
    angle, share = job.given.max_change
    visibly_changed = {
        (error["datablock"], error["track"])
        for error in report.handles
        if error["error"] > (math.degrees(angle) if error["rotation"] else share * error["range"])
    }

    def is_fault(note: Finding) -> bool:
        if note.code == "HANDLES_APPROXIMATE":
            return (note.object, note.track) in visibly_changed
        is_linear = note.code == "LINEAR_CURVED" and note.arguments[1]
        return note in skipped or note.code == "LOOK_CHANGED" or is_linear

    report.errors = [*dict.fromkeys((*report.errors, *filter(is_fault, report.notes)))]
    report.notes = [note for note in report.notes if not is_fault(note)]
    outcome.report.add(report)
