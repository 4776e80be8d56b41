# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `rotations`, which lists or repairs rotations that flip or jump between keys."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ... import animation
from ...animation import Finding
from ...animation.edit.fix_rotations import Turns
from ..choosing import datablocks_of_objects
from ..job import Job
from ..outcome import Outcome


def process_rotations(job: Job, outcome: Outcome) -> None:
    """Key all rotation channels if requested, add the faults to the outcome, and repair them if requested.

    The report counts keyed and repaired tracks, or tracks with faults if neither was requested.
    """
    given, report = job.given, outcome.report
    datablocks = datablocks_of_objects(given.objects, outcome) if given.objects else []
    keyed: list[bpy.types.ID] = []
    if given.key_whole:
        to_key = datablocks if given.objects else animation.of_file()
        # Without --objects, datablocks that can't be edited are skipped.
        keyed = _key_whole(to_key, report, lists_refusals=bool(given.objects))
    if not given.objects:
        # Keying can replace linked actions with local copies.
        datablocks = _local_actions(report)
    faults: list[animation.RotationFault] = []
    for datablock in datablocks:
        try:
            faults += animation.find_rotation_faults(datablock, turns=given.turns)
        except animation.AnimationError as refusal:
            # `fix_rotations_many` reports the same refusal as an error.
            if not given.repair:
                report.notes += refusal.findings
    outcome.results["faults"] = [fault.to_dict() for fault in faults]
    if given.repair:
        # A datablock that is keyed and repaired counts once.
        counted_twice = animation.Report.on(
            [datablock for datablock in keyed if _is_repairable(datablock, given.turns)]
        )
        report.add(animation.fix_rotations_many(datablocks, turns=given.turns))
        report.datablocks -= counted_twice.datablocks
        report.objects -= counted_twice.objects
    elif not given.key_whole:
        report.tracks = len({(fault.action, fault.datablock, fault.track) for fault in faults})


def _local_actions(report: animation.Report) -> list[bpy.types.ID]:
    """Return the local actions of the file, used or not, and add notes on linked actions."""
    linked = [action for action in bpy.data.actions if action.library is not None]
    report.notes += [Finding("LEFT_TO_OWN_FILE", action.name) for action in linked]
    return [action for action in bpy.data.actions if action.library is None]


def _key_whole(
    datablocks: Iterable[bpy.types.ID], report: animation.Report, *, lists_refusals: bool
) -> list[bpy.types.ID]:
    """Key all rotation channels of the local datablocks, and return the datablocks with new keys."""
    keyed = []
    local = [datablock for datablock in datablocks if datablock.library is None]
    for datablock in local:
        try:
            result = animation.key_whole(datablock)
        except animation.AnimationError as refusal:
            if lists_refusals:
                report.errors += refusal.findings
            continue
        if result.tracks:
            report.add(result)
            keyed.append(datablock)
        else:
            report.add(animation.Report(errors=result.errors, notes=result.notes))
    return keyed


def _is_repairable(datablock: bpy.types.ID, turns: Turns) -> bool:
    return any(fault.repairable for fault in animation.find_rotation_faults(datablock, turns=turns))
