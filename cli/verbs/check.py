# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `check`: conditions that must hold at every moment of the open file's motion."""

from __future__ import annotations

import dataclasses
from typing import Any

import bpy

from ... import animation
from ...animation.translation import rpt_
from ..arguments.parser import Job
from ..choosing import named
from ..outcome import Outcome


def check_motion(job: Job, outcome: Outcome) -> None:
    """Add an error to the outcome for each violation, each joint that comes apart, and each check that failed."""
    options = job.check
    chosen: dict[str, Any] = {"frame_range": options["range"], "step": options["step"]}
    objects = [obj for pattern in job.patterns for obj in named(pattern, outcome)]
    if not job.patterns:
        objects = list(bpy.data.objects)
    checks = animation.Checks()
    checks.errors += outcome.errors  # what was asked for by name and is not there
    for scene in bpy.data.scenes:
        shown = [obj for obj in dict.fromkeys(objects) if scene.objects.get(obj.name) == obj]
        objects = [obj for obj in objects if obj not in shown]
        found = animation.check(*shown, scene=scene, **chosen)
        checks.objects += found.objects
        checks.samples += found.samples
        checks.violations += found.violations
        checks.errors += found.errors
        checks.notes += found.notes
    left = [rpt_('"{:s}": not checked: it is in no scene', obj.name) for obj in objects]
    (checks.errors if job.patterns else checks.notes).extend(left)
    gaps = [gap for name in options["joint"] if (gap := _measure_joint(name, chosen, checks)) is not None]
    apart = [gap for gap in gaps if gap.distance > options["joint_tolerance"]]
    checks.joints_apart = len(apart)
    outcome.errors[:] = [*checks.errors, *map(str, checks.violations), *map(str, apart)]
    outcome.notes += checks.notes + [str(gap) for gap in gaps if gap not in apart]
    outcome.report.objects = outcome.report.datablocks = checks.objects
    outcome.report.samples = checks.samples
    outcome.findings = {
        "summary": checks.summary,
        "violations": [dataclasses.asdict(violation) for violation in checks.violations],
        "joints": [dataclasses.asdict(gap) for gap in gaps],
    }


def _measure_joint(name: str, chosen: dict[str, Any], checks: animation.Checks) -> animation.Gap | None:
    """Measure a joint given as an object, or as an armature and a bone; add why it can't be measured to the checks."""
    obj, bone = bpy.data.objects.get(name), ""
    if obj is None:
        owner, _, bone = name.partition(":")
        obj = bpy.data.objects.get(owner)
    if obj is None:
        checks.errors.append(rpt_('no object is called "{:s}"; for a bone write OBJECT:BONE', name))
        return None
    scenes = obj.users_scene
    try:
        return animation.joint_gap(obj, bone, scene=scenes[0] if scenes else None, **chosen)
    except animation.AnimationError as refusal:
        checks.errors.append(str(refusal))
        return None
