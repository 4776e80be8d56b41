# SPDX-License-Identifier: GPL-3.0-or-later
"""Match planned objects with a scene's objects by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding, size_of
from ...animation.translation import rpt_
from ...formats.three_ds import NAME_LENGTH
from .plan_objects import TARGET, note
from .planned import PlannedObject
from .set_properties import AIM, ROLL_CONSTRAINT

_NUMBER = re.compile(r"\.\d{3,}$")
_TOLERANCE = 1e-3
"""Fraction of the size of a mesh. Vertices farther apart than this differ."""


def _without_number(name: str) -> str:
    """Remove the number that Blender adds to a duplicate name."""
    return _NUMBER.sub("", name)


def _truncated(name: str) -> str:
    return _without_number(name)[:NAME_LENGTH]


_FORMS: tuple[Callable[[str], str], ...] = (str, _without_number, _truncated)
"""Forms of names for comparison, exact form first, because exporters truncate names and Blender numbers them."""


def match_objects(plans: Sequence[PlannedObject], objects: Iterable[Any], notes: list[Finding]) -> list[Any]:
    """Return the scene object for each planned object, or None. No object is returned twice."""
    free = sorted(objects, key=lambda obj: str(obj.name))
    matches: list[Any] = [None] * len(plans)
    for form_of in _FORMS:
        for index, planned in enumerate(plans):
            if matches[index] is not None or planned.kind == "WORLD":
                continue
            candidates = [obj for obj in free if _has_kind(obj, planned) and form_of(obj.name) in _names(planned)]
            if len(candidates) > 1:
                others = ", ".join(f'"{obj.name}"' for obj in candidates[1:4])
                note(notes, planned.name, "ONE_OF_SEVERAL", candidates[0].name, others)
            if candidates:
                matches[index] = candidates[0]
                free.remove(candidates[0])
    return matches


def _names(planned: PlannedObject) -> set[str]:
    """Return the names of matching objects: with the instance name, and as in the file."""
    name = planned.node.name.decode("latin-1")
    if planned.name.endswith(TARGET):
        return {planned.name, name + TARGET.lower()}
    return {planned.name, name}


def _has_kind(obj: bpy.types.Object, planned: PlannedObject) -> bool:
    if planned.kind in ("CAMERA", "LIGHT"):
        return bool(obj.type == planned.kind)
    return obj.type not in ("CAMERA", "LIGHT")


def reason_not_editable(obj: bpy.types.Object) -> Finding | None:
    """Return why an object or world cannot be animated, or None if it can."""
    animated = obj.data if getattr(obj, "type", "") in ("CAMERA", "LIGHT") else obj
    if obj.library is not None or animated.library is not None:
        return Finding("IS_LINKED")
    if obj.animation_data is not None and obj.animation_data.use_tweak_mode:
        return Finding("IS_TWEAKED")
    return None


def note_differences(planned: PlannedObject, obj: Any, parent: bpy.types.Object | None, notes: list[Finding]) -> None:
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
    points = np.empty(3 * len(planned.points), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    distance = np.abs(points.reshape(-1, 3) - planned.points).max()
    if distance > _TOLERANCE * max(1e-6, float(np.ptp(planned.points, axis=0).max())):
        add_note("VERTICES_APART", size_of(float(distance)))
