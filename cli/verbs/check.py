# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `check`, which tests conditions on the motion of the open file."""

from __future__ import annotations

from typing import Any

import bpy

from ... import animation
from ...animation import Finding
from ...animation.translation import rpt_
from ..arguments import Job
from ..choosing import named
from ..file_outcome import Outcome


def check_motion(job: Job, outcome: Outcome) -> None:
    """Add an error to the outcome for each violation, open joint and failed check."""
    given = job.given
    chosen: dict[str, Any] = {"frame_range": given.range}
    objects = named(given.objects, outcome) if given.objects else list(bpy.data.objects)
    checks = animation.Checks()
    for scene in bpy.data.scenes:
        shown = [obj for obj in dict.fromkeys(objects) if scene.objects.get(obj.name) == obj]
        objects = [obj for obj in objects if obj not in shown]
        found = animation.check_many(shown, scene=scene, **chosen)
        checks.objects += found.objects
        checks.samples += found.samples
        checks.violations += found.violations
        checks.errors += found.errors
        checks.notes += found.notes
    left = [Finding("NOT_IN_A_SCENE", obj.name) for obj in objects]
    (checks.errors if given.objects else checks.notes).extend(left)
    gaps = [gap for name in given.joint if (gap := _measure_joint(name, chosen, checks)) is not None]
    apart = [gap for gap in gaps if gap.distance > given.joint_tolerance]
    report = outcome.report
    report.errors += [*checks.errors, *(each.finding for each in checks.violations), *(gap.finding for gap in apart)]
    report.notes += [*checks.notes, *(gap.finding for gap in gaps if gap not in apart)]
    report.objects = report.datablocks = checks.objects
    report.samples = checks.samples
    outcome.summary = "" if outcome.nothing_to_do else checks.summary
    if apart:
        outcome.summary = rpt_("Joints with a gap: {:,}. {:s}", len(apart), checks.summary)
    outcome.results = {
        "violations": [each.to_dict() for each in checks.violations],
        "joints": [gap.to_dict() for gap in gaps],
    }


def _measure_joint(name: str, chosen: dict[str, Any], checks: animation.Checks) -> animation.Gap | None:
    """Measure a joint given as an object, or as an armature and a bone. Add failures to the checks."""
    obj, bone = bpy.data.objects.get(name), ""
    if obj is None:
        owner, _, bone = name.partition(":")
        obj = bpy.data.objects.get(owner)
    if obj is None:
        checks.errors.append(Finding("NO_JOINT_OBJECT", arguments=(name,)))
        return None
    scenes = obj.users_scene
    try:
        return animation.joint_gap(obj, bone, scene=scenes[0] if scenes else None, **chosen)
    except animation.AnimationError as refusal:
        checks.errors += refusal.findings
        return None
