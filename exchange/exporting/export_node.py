# SPDX-License-Identifier: GPL-3.0-or-later
"""The node of an exported object, and the node from which the object was imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...formats import three_ds
from ...interp.splines.tcb import Construction
from ..clean_keys import AddNote, Keys
from ..conversion import Conversion, Frame
from ..imported_state import DamagedStateError, recall
from ..importing.plan_objects import PlannedObject, add_keys, node_name


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
    parent_is_aimed: bool = False
    """True if the parent has a target in the file."""
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

    def source_track(self, kind: str) -> three_ds.Track | None:
        """Return the track of the imported node, or None."""
        return None if self.source is None else self.source.track(kind)

    def imported_keys(self, quantity: str) -> Keys | None:
        """Return the imported keys of a quantity, or None. `PlannedObject.keys` lists the quantities."""
        return None if self.planned is None else self.planned.keys.get(quantity)


def find_source(node: ExportNode, conversion: Conversion) -> None:
    """Find the node from which the object was imported, if the conversion is unchanged."""
    try:
        state = recall(node.obj)
    except DamagedStateError:
        node.add_note("IMPORT_STATE_DAMAGED")
        return
    if state is None:
        return
    source, import_conversion, choices = state
    if source.kind != node.kind or not import_conversion.is_like(conversion):
        return
    frame = Frame(import_conversion, node.parent_is_aimed, node.kind in three_ds.TARGET_KINDS)
    planned = PlannedObject(node_name(source), source, None, "", frame)
    # The import has already reported its notes.
    add_keys(planned, source.tracks, choices, lambda *_code, **_track: None)
    node.source, node.planned = source, planned
