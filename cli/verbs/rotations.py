# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `rotations`, which lists or repairs rotations that flip or jump between keys."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ... import animation
from ...animation import Finding
from ...animation.edit.fix_rotations import Turns
from ..arguments import Job
from ..choosing import datablocks_of_objects
from ..outcome import Outcome


def process_rotations(job: Job, outcome: Outcome) -> None:
    """Key all rotation channels if requested, add the faults to the outcome, and repair them if requested.

    The report counts keyed and repaired tracks, or tracks with faults if neither was requested.
    """
    given, report = job.given, outcome.report
    requested = datablocks_of_objects(given.objects, outcome) if given.objects else None
    keyed: list[bpy.types.ID] = []
    if given.key_whole:
        # Without --objects, datablocks that can't be edited are skipped.
        to_key = animation.of_file() if requested is None else requested
        keyed = _key_whole(to_key, report, lists_refusals=requested is not None)
    # Keying can replace linked actions with local copies, so the actions are listed afterward.
    datablocks = _local_actions(report) if requested is None else requested
    faults, refusals = _find_faults(datablocks, given.turns)
    if not given.repair:
        # `fix_rotations_many` reports the same refusals as errors.
        report.notes += refusals
    outcome.results["faults"] = [fault.to_dict() for fault in faults]
    if given.repair:
        # A datablock that is keyed and repaired counts once.
        repaired_and_keyed = [
            datablock
            for datablock in keyed
            if any(fault.repairable for fault in animation.find_rotation_faults(datablock, turns=given.turns))
        ]
        counted_twice = animation.Report.on(repaired_and_keyed)
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
    for datablock in [datablock for datablock in datablocks if datablock.library is None]:
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


def _find_faults(
    datablocks: Iterable[bpy.types.ID], turns: Turns
) -> tuple[list[animation.RotationFault], list[Finding]]:
    """Return the faults, and the reasons why datablocks could not be searched."""
    faults: list[animation.RotationFault] = []
    refusals: list[Finding] = []
    for datablock in datablocks:
        try:
            faults += animation.find_rotation_faults(datablock, turns=turns)
        except animation.AnimationError as refusal:
            refusals += refusal.findings
    return faults, refusals
