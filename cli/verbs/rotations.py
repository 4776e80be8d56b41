# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `rotations`: rotations of the open file that flip or jump between keys, listed or repaired."""

from __future__ import annotations

import bpy

from ... import animation
from ...animation import Finding
from ..arguments.parser import Job
from ..choosing import named
from ..outcome import Outcome


def list_rotations(job: Job, outcome: Outcome) -> None:
    """Add the faults to the outcome."""
    faults = _find_faults(job, outcome)
    outcome.report.tracks = len({(fault.action, fault.datablock, fault.track) for fault in faults})


def _find_faults(job: Job, outcome: Outcome) -> list[animation.RotationFault]:
    faults: list[animation.RotationFault] = []
    for datablock in _chosen(job, outcome):
        try:
            faults += animation.find_rotation_faults(datablock, turns=job.exchange["turns"])
        except animation.AnimationError as refusal:
            outcome.report.notes += refusal.findings
    outcome.results["faults"] = [fault.to_dict() for fault in faults]
    return faults


def repair_rotations(job: Job, outcome: Outcome) -> animation.Report:
    """Add the faults as they were to the outcome, and repair them; key all channels before, if asked to."""
    report = _keyed_whole(job, outcome) if job.exchange["key_whole"] else animation.Report()
    _find_faults(job, outcome)
    outcome.report.notes.clear()
    if job.exchange["repair"]:
        report.add(animation.fix_rotations_many(_chosen(job, outcome), turns=job.exchange["turns"]))
    return report


def _keyed_whole(job: Job, outcome: Outcome) -> animation.Report:
    """Key the rotations of the objects asked for, or of all the file's own datablocks, in all their channels."""
    every = _chosen(job, outcome) if job.patterns else animation.of_file()
    report = animation.Report()
    for datablock in [datablock for datablock in every if datablock.library is None]:
        try:
            done = animation.key_whole(datablock)
        except animation.AnimationError as refusal:
            report.errors += [finding for finding in refusal.findings if job.patterns]
        else:
            report.add(done if done.tracks else animation.Report(errors=done.errors, notes=done.notes))
    return report


def _chosen(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks of the objects asked for, or else the file's own actions, played or not."""
    if job.patterns:
        objects = named(job.patterns, outcome)
        return list(dict.fromkeys(part for obj in objects for part in animation.of_object(obj)))
    linked = [action for action in bpy.data.actions if action.library is not None]
    outcome.report.notes += [Finding("LEFT_TO_OWN_FILE", action.name) for action in linked]
    return [action for action in bpy.data.actions if action.library is None]
