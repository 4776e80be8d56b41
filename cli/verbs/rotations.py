# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `rotations`: rotations of the open file that flip or jump between keys, listed or repaired."""

from __future__ import annotations

import dataclasses

import bpy

from ... import animation
from ...animation.translation import listed, rpt_
from ..arguments.parser import Job
from ..choosing import named
from ..outcome import Outcome


def list_rotations(job: Job, outcome: Outcome) -> None:
    """Add the faults to the outcome."""
    faults = []
    for datablock in _chosen(job, outcome):
        try:
            faults += animation.find_rotation_faults(datablock, turns=job.exchange["turns"])
        except animation.AnimationError as refusal:
            outcome.notes.append(str(refusal))
    outcome.report.tracks = len({(fault.action, fault.datablock, fault.track) for fault in faults})
    outcome.findings["faults"] = [{**dataclasses.asdict(fault), "text": str(fault)} for fault in faults]


def repair_rotations(job: Job, outcome: Outcome) -> animation.Report:
    """Add the faults as they were to the outcome, and repair them."""
    list_rotations(job, outcome)
    outcome.notes.clear()
    return animation.fix_rotations_many(_chosen(job, outcome), turns=job.exchange["turns"])


def _chosen(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks of the objects asked for, or else the file's own actions, played or not."""
    if job.patterns:
        objects = [obj for pattern in job.patterns for obj in named(pattern, outcome)]
        return list(dict.fromkeys(part for obj in objects for part in animation.of_object(obj)))
    linked = [f'"{action.name}"' for action in bpy.data.actions if action.library is not None]
    if linked:
        outcome.notes.append(rpt_("linked, so left to their own files: {:s}", listed(linked)))
    return [action for action in bpy.data.actions if action.library is None]
