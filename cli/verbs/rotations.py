# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `rotations`, which lists or repairs rotations that flip or jump between keys."""

from __future__ import annotations

import bpy

from ... import animation
from ...animation import Finding
from ..arguments import Job
from ..choosing import named
from ..file_outcome import Outcome


def list_or_repair(job: Job, outcome: Outcome) -> None:
    """Add the faults to the outcome. Key all channels first, and repair the faults, if requested."""
    given, report = job.given, outcome.report
    if given.key_whole:
        report.add(_key_whole(job, outcome))
    chosen = _chosen(job, outcome)
    faults: list[animation.RotationFault] = []
    for datablock in chosen:
        try:
            faults += animation.find_rotation_faults(datablock, turns=given.turns)
        except animation.AnimationError as refusal:
            # Repairs report it as an error.
            report.notes += [] if given.repair else refusal.findings
    outcome.results["faults"] = [fault.to_dict() for fault in faults]
    if given.repair:
        report.add(animation.fix_rotations_many(chosen, turns=given.turns))
    elif not given.key_whole:
        report.tracks = len({(fault.action, fault.datablock, fault.track) for fault in faults})


def _key_whole(job: Job, outcome: Outcome) -> animation.Report:
    """Key all rotation channels of the requested objects, or of all local datablocks of the file."""
    every = _chosen(job, outcome) if job.given.objects else animation.of_file()
    report = animation.Report()
    for datablock in [datablock for datablock in every if datablock.library is None]:
        try:
            done = animation.key_whole(datablock)
        except animation.AnimationError as refusal:
            report.errors += refusal.findings if job.given.objects else ()
        else:
            report.add(done if done.tracks else animation.Report(errors=done.errors, notes=done.notes))
    return report


def _chosen(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks of the requested objects, or else the file's local actions, used or not."""
    if job.given.objects:
        objects = named(job.given.objects, outcome)
        return list(dict.fromkeys(part for obj in objects for part in animation.of_object(obj)))
    linked = [action for action in bpy.data.actions if action.library is not None]
    outcome.report.notes += [Finding("LEFT_TO_OWN_FILE", action.name) for action in linked]
    return [action for action in bpy.data.actions if action.library is None]
