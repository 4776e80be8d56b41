# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather Blender's objects for the nodes of a file: their targets, and the nodes from which they were imported."""

from __future__ import annotations

from collections.abc import Iterable
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
from ..importing.plan_objects import node_name
from ..importing.plan_tracks import add_keys
from ..importing.planned import Planned
from ..importing.set_properties import AIM, ROLL_CONSTRAINT

_SAME_AXIS = 1e-6
"""Smaller differences between components of unit vectors are only float32 rounding."""


@dataclass(eq=False)
class Gathered:
    """An object, or None for a target that is created, and its node."""

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
    planned: Planned | None = None
    """The node in its imported state."""
    colored: tuple[bpy.types.ID, str] | None = None
    """The datablock and path of an ambient light's color."""
    construction: Construction | None = None
    """The interpolation of a rotation with several keys."""

    def source_track(self, kind: str) -> three_ds.Track | None:
        """Return the track of the imported node, or None."""
        return None if self.source is None else self.source.track(kind)

    def imported_keys(self, quantity: str) -> Keys | None:
        """Return the imported keys of a quantity, or None. `Planned.keys` lists the quantities."""
        return None if self.planned is None else self.planned.keys.get(quantity)


def target_of(obj: Any, conversion: Conversion) -> tuple[Any, bool]:
    """Return the object that a camera or light looks at, and whether the camera or light is upright in the file.

    The object is None if no constraint aims at it, or if there are also other constraints.
    """
    live = [constraint for constraint in obj.constraints if constraint.enabled]
    aims = [constraint for constraint in live if constraint.name != ROLL_CONSTRAINT]
    if len(aims) != 1 or aims[0].type != "TRACK_TO" or aims[0].target is None:
        return None, True
    aim = aims[0]
    plain = aim.influence == 1.0 and not aim.use_target_z and not aim.subtarget
    plain &= (aim.track_axis, aim.up_axis) == ("TRACK_NEGATIVE_Z", "UP_Y")
    spaces = (aim.owner_space, aim.target_space)
    up = np.array([0.0, 0.0, 1.0])
    if spaces == ("CUSTOM", "CUSTOM") and aim.space_object is not None:
        up = np.array(aim.space_object.matrix_world, dtype=np.float64)[:3, 2]
    elif spaces != ("WORLD", "WORLD"):
        plain = False
    return aim.target if plain else None, bool(np.abs(up - conversion.axes[:, 2]).max() < _SAME_AXIS)


def upright_spaces(items: Iterable[Any]) -> set[Any]:
    """Return the objects that an import created for upright cameras because the file had other axes."""
    return {each.space_object for obj in items for each in obj.constraints if each.name == AIM} - {None}


def find_source(gathered: Gathered, conversion: Conversion) -> None:
    """Find the node from which the object was imported, if the conversion is unchanged."""
    try:
        kept = recall(gathered.obj)
    except DamagedStateError:
        gathered.add_note("IMPORT_STATE_DAMAGED")
        return
    if kept is None or kept[0].kind != gathered.kind or not kept[1].is_like(conversion):
        return
    node, before, choices = kept
    frame = Frame(before, gathered.parent_is_aimed, gathered.kind in three_ds.TARGET_KINDS)
    planned = Planned(node_name(node), node, None, "", frame)
    add_keys(planned, node.tracks, choices, lambda *_code, **_track: None)
    gathered.source, gathered.planned = node, planned
