# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the objects of the scene that match the nodes of a file, by kind and name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation.report import Finding, size_of
from ...animation.text import rpt_
from ...formats.three_ds import NAME_LENGTH
from ..meshes import numbers_of
from ..report import ExchangeReport, note
from .apply_plan import AIM, ROLL_CONSTRAINT, Changes
from .plan_objects import TARGET_SUFFIX, PlannedObject

_NUMBER = re.compile(r"\.\d{3,}$")
"""The number that Blender adds to a duplicate name."""
_TOLERANCE = 1e-3
"""Fraction of the size of a mesh. Vertices farther apart than this differ."""


def matched_objects(
    plans: Sequence[PlannedObject], into: bpy.types.Scene, changes: Changes, report: ExchangeReport
) -> list[Any]:
    """Return the scene's matching objects, and create missing targets of its cameras and lights."""
    objects = _editable_matches(plans, into, report.notes)
    for planned, obj in zip(plans, objects.copy(), strict=True):
        if obj is None:
            continue
        changes.record(obj)
        if planned.kind == "WORLD":
            continue
        if obj.data is not None and planned.kind in ("CAMERA", "LIGHT"):
            changes.record(obj.data)
        _note_differences(planned, obj, None if planned.parent is None else objects[planned.parent], report.notes)
        obj.matrix_parent_inverse.identity()
        report.object_of_node[planned.name] = obj.name
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None:
            note(report.notes, planned.name, "ACTION_REPLACED", action.name)
            action.use_fake_user = True
        if planned.target is not None and objects[planned.target] is None:
            objects[planned.target] = changes.new_object(plans[planned.target].name, None)
            report.counts["empty"] += 1
    return objects


def _editable_matches(plans: Sequence[PlannedObject], into: bpy.types.Scene, notes: list[Finding]) -> list[Any]:
    """Return the matching objects, and the world for an ambient light. Objects that cannot be edited are None."""
    matches = _match_objects(plans, into.objects, notes)
    for index, planned in enumerate(plans):
        if planned.kind == "WORLD":
            matches[index] = into.world
        if matches[index] is None:
            note(notes, planned.name, "NODE_WITHOUT_OBJECT")
            continue
        reason = _reason_not_editable(matches[index])
        if reason:
            note(notes, planned.name, "NODE_LEFT", reason)
            matches[index] = None
    return matches


def _match_objects(plans: Sequence[PlannedObject], objects: Iterable[Any], notes: list[Finding]) -> list[Any]:
    """Return the scene object for each planned object, or None. No object is returned twice."""
    unmatched_objects = sorted(objects, key=lambda obj: str(obj.name))
    matches: list[Any] = [None] * len(plans)
    # By the exact names, without numbers, and truncated as by an exporter.
    forms: list[Callable[[str], str]] = [str, _without_number, lambda name: _without_number(name)[:NAME_LENGTH]]
    for form_of in forms:
        for index, planned in enumerate(plans):
            if matches[index] is not None or planned.kind == "WORLD":
                continue
            names = _names_in_file(planned)
            candidates = [obj for obj in unmatched_objects if _has_kind(obj, planned) and form_of(obj.name) in names]
            if len(candidates) > 1:
                others = ", ".join(f'"{obj.name}"' for obj in candidates[1:4])
                note(notes, planned.name, "ONE_OF_SEVERAL", candidates[0].name, others)
            if candidates:
                matches[index] = candidates[0]
                unmatched_objects.remove(candidates[0])
    return matches


def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


def _names_in_file(planned: PlannedObject) -> set[str]:
    """Return the names of matching objects: with the instance name, and as in the file."""
    name = planned.node.name.decode("latin-1")
    if planned.name.endswith(TARGET_SUFFIX):
        return {planned.name, name + TARGET_SUFFIX.lower()}
    return {planned.name, name}


def _has_kind(obj: bpy.types.Object, planned: PlannedObject) -> bool:
    if planned.kind in ("CAMERA", "LIGHT"):
        return bool(obj.type == planned.kind)
    return obj.type not in ("CAMERA", "LIGHT")


def _reason_not_editable(obj: bpy.types.Object) -> Finding | None:
    animated = obj.data if getattr(obj, "type", "") in ("CAMERA", "LIGHT") else obj
    if obj.library is not None or animated.library is not None:
        return Finding("IS_LINKED")
    if obj.animation_data is not None and obj.animation_data.use_tweak_mode:
        return Finding("IS_TWEAKED")
    return None


def _note_differences(planned: PlannedObject, obj: Any, parent: bpy.types.Object | None, notes: list[Finding]) -> None:
    """Note differences between the object and the file that change the effect of the keys."""
    add_note = partial(note, notes, planned.name)
    constraints = [constraint.name for constraint in obj.constraints if constraint.name not in (AIM, ROLL_CONSTRAINT)]
    if constraints:
        add_note("OWN_CONSTRAINTS", ", ".join(constraints))
    if obj.parent != parent:
        names = (rpt_("nothing") if other is None else f'"{other.name}"' for other in (obj.parent, parent))
        add_note("OTHER_PARENT", *names)
    if planned.points is None or obj.type != "MESH" or len(obj.data.vertices) != len(planned.points):
        return
    distance = np.abs(numbers_of(obj.data.vertices, "co", 3, np.float32) - planned.points).max()
    if distance > _TOLERANCE * max(1e-6, float(np.ptp(planned.points, axis=0).max())):
        add_note("VERTICES_APART", size_of(float(distance)))
