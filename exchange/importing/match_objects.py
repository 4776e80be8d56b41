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
from .planned import Planned
from .set_properties import AIM, ROLL_CONSTRAINT

_NUMBER = re.compile(r"\.\d{3,}$")
_NEAR = 1e-3
"""Fraction of the size of a mesh. Vertices farther apart than this differ."""


def _bare(name: str) -> str:
    """Remove the number that Blender adds to a duplicate name."""
    return _NUMBER.sub("", name)


_AS_NAMED: tuple[Callable[[str], str], ...] = (str, _bare, lambda name: _bare(name)[:NAME_LENGTH])
"""Forms of names for comparison, exact form first, because exporters truncate names and Blender numbers them."""


def match_objects(planned: Sequence[Planned], objects: Iterable[Any], notes: list[Finding]) -> list[Any]:
    """Return the scene object for each planned object, or None. No object is returned twice."""
    free = sorted(objects, key=lambda obj: str(obj.name))
    items: list[Any] = [None] * len(planned)
    for shown in _AS_NAMED:
        for index, wanted in enumerate(planned):
            if items[index] is not None or wanted.kind == "WORLD":
                continue
            found = [obj for obj in free if _fits(wanted, obj) and shown(obj.name) in _names(wanted)]
            if len(found) > 1:
                others = ", ".join(f'"{obj.name}"' for obj in found[1:4])
                taken = found[0].name
                note(notes, wanted.name, "ONE_OF_SEVERAL", taken, others)
            if found:
                items[index] = found[0]
                free.remove(found[0])
    return items


def _names(planned: Planned) -> set[str]:
    name = planned.node.name.decode("latin-1")
    if planned.name.endswith(TARGET):
        return {planned.name, name + TARGET.lower()}
    return {planned.name, name}


def _fits(planned: Planned, obj: bpy.types.Object) -> bool:
    if planned.kind in ("CAMERA", "LIGHT"):
        return bool(obj.type == planned.kind)
    return obj.type not in ("CAMERA", "LIGHT")


def reason_left(obj: bpy.types.Object) -> Finding | None:
    """Return why an object or world cannot be animated, or None if it can."""
    shown = obj.data if getattr(obj, "type", "") in ("CAMERA", "LIGHT") else obj
    if obj.library is not None or shown.library is not None:
        return Finding("IS_LINKED")
    if obj.animation_data is not None and obj.animation_data.use_tweak_mode:
        return Finding("IS_TWEAKED")
    return None


def note_differences(planned: Planned, obj: Any, parent: bpy.types.Object | None, notes: list[Finding]) -> None:
    """Note differences between the object and the file that change the effect of the keys."""
    add_note = partial(note, notes, planned.name)
    own = [constraint.name for constraint in obj.constraints if constraint.name not in (AIM, ROLL_CONSTRAINT)]
    if own:
        names = ", ".join(own)
        add_note("OWN_CONSTRAINTS", names)
    if obj.parent != parent:
        here, there = (rpt_("nothing") if other is None else f'"{other.name}"' for other in (obj.parent, parent))
        add_note("OTHER_PARENT", here, there)
    if planned.points is None or obj.type != "MESH" or len(obj.data.vertices) != len(planned.points):
        return
    points = np.empty(3 * len(planned.points), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    apart = np.abs(points.reshape(-1, 3) - planned.points).max()
    if apart > _NEAR * max(1e-6, float(np.ptp(planned.points, axis=0).max())):
        add_note("VERTICES_APART", size_of(float(apart)))
