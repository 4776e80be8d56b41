# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `check`, which tests conditions on the motion of the open file."""

from __future__ import annotations

import argparse

import bpy

from ... import animation
from ...animation import Finding
from ...animation.text import rpt_
from ..arguments import Job
from ..choosing import matching_objects
from ..outcome import Outcome


def check_motion(job: Job, outcome: Outcome) -> None:
    """Add an error to the outcome for each violation, open joint and failed check."""
    given, report = job.given, outcome.report
    checks = _check_objects(matching_objects(given.objects, outcome), given)
    gaps = [gap for name in given.joint if (gap := _measure_joint(name, given.range, checks)) is not None]
    open_joints = [gap for gap in gaps if gap.distance > given.joint_tolerance]
    report.errors += [*checks.errors, *(violation.finding for violation in checks.violations)]
    report.errors += [gap.finding for gap in open_joints]
    report.notes += [*checks.notes, *(gap.finding for gap in gaps if gap not in open_joints)]
    report.objects = report.datablocks = checks.objects
    outcome.summary = "" if outcome.nothing_to_do else checks.summary
    if open_joints:
        outcome.summary = rpt_("Joints with a gap: {:,}. {:s}", len(open_joints), checks.summary)
    outcome.results = {
        "checked_samples": checks.samples,
        "violations": [violation.to_dict() for violation in checks.violations],
        "joints": [gap.to_dict() for gap in gaps],
    }


def _check_objects(objects: list[bpy.types.Object], given: argparse.Namespace) -> animation.Checks:
    """Check each object in the first scene that contains it."""
    checks = animation.Checks()
    unchecked = list(dict.fromkeys(objects))
    for scene in bpy.data.scenes:
        in_scene = [obj for obj in unchecked if scene.objects.get(obj.name) == obj]
        unchecked = [obj for obj in unchecked if obj not in in_scene]
        result = animation.check_many(in_scene, given.range, scene)
        checks.objects += result.objects
        checks.samples += result.samples
        checks.violations += result.violations
        checks.errors += result.errors
        checks.notes += result.notes
    # An object requested by name must be checked.
    (checks.errors if given.objects else checks.notes).extend(Finding("NOT_IN_A_SCENE", obj.name) for obj in unchecked)
    return checks


def _measure_joint(
    name: str, frame_range: tuple[float, float] | None, checks: animation.Checks
) -> animation.Gap | None:
    """Measure a joint given as an object, or as an armature and a bone. Add failures to the checks."""
    owner, _, bone = (name, "", "") if name in bpy.data.objects else name.partition(":")
    obj = bpy.data.objects.get(owner)
    if obj is None:
        checks.errors.append(Finding("NO_JOINT_OBJECT", arguments=(owner,)))
        return None
    try:
        return animation.joint_gap(obj, bone, scene=next(iter(obj.users_scene), None), frame_range=frame_range)
    except animation.AnimationError as refusal:
        checks.errors += refusal.findings
        return None
