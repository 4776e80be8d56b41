# SPDX-License-Identifier: GPL-3.0-or-later
"""The node of an object in an exported file, with the data that the steps of an export add."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...formats import three_ds
from ...interp.splines.tcb import Construction
from ..conversion import Conversion, NodeSpace
from ..importing.plan_objects import PlannedObject
from ..keys import Keys
from ..report import AddNote


def kind_of(obj: Any) -> str:
    """Return the kind of an object's node in the file, unless it is a target."""
    if obj.type == "LIGHT" and obj.data.type == "SPOT":
        return "SPOTLIGHT"
    return {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(obj.type, "OBJECT")


def is_aimed(obj: Any) -> bool:
    """Return whether the object has a target in the file."""
    return kind_of(obj) in three_ds.TARGET_KINDS


@dataclass(eq=False)
class ExportNode:
    """An object, or None for a target that is created, and the data of its node in the file."""

    obj: Any
    kind: str
    """The kind of the node, as in `three_ds.Node`."""
    name: bytes
    """The name of the node, which is shared by all instances of a mesh."""
    parent: Any
    """The parent object in the file, or None."""
    add_note: AddNote
    aimed_by: Any = None
    """The object that looks at this target."""
    target: Any = None
    """The object that this object looks at."""
    is_upright: bool = True
    """True if the object is aimed upright in the file, except for its roll."""
    instance: bytes | None = None
    """The instance name."""
    pivot: npt.NDArray[np.float32] | None = None
    """The object's origin in the file's mesh, shape (3,)."""
    flags: tuple[int, int] = (0x4000, 0)
    tracks: list[three_ds.Track] = field(default_factory=list)
    source: three_ds.Node | None = None
    """The node from which the object was imported."""
    planned: PlannedObject | None = None
    """The node in its imported state."""
    colored: tuple[bpy.types.ID, str] | None = None
    """The datablock and path of an ambient light's color."""
    construction: Construction | None = None
    """The interpolation of a rotation with several keys."""

    @property
    def is_aimed(self) -> bool:
        """Return whether the node has a target in the file."""
        return self.kind in three_ds.TARGET_KINDS

    @property
    def has_own_roll(self) -> bool:
        """Return whether the roll of a camera or spotlight needs keys because no upright target determines it."""
        return self.is_aimed and (self.target is None or not self.is_upright)

    def space(self, conversion: Conversion) -> NodeSpace:
        """Return the space of the node, converted to Blender."""
        return NodeSpace(conversion, self.parent is not None and is_aimed(self.parent), self.is_aimed)

    def source_track(self, kind: str) -> three_ds.Track | None:
        """Return the track of the imported node, or None."""
        return None if self.source is None else self.source.track(kind)

    def imported_keys(self, kind: str) -> Keys | None:
        """Return the keys that an import of the source track created, or None."""
        quantity = "location" if kind == "POSITION" else kind.lower()
        return None if self.planned is None else self.planned.keys.get(quantity)
