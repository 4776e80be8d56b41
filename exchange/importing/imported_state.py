# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of imported objects in their file, so that an export writes unchanged data exactly as it was read."""

from __future__ import annotations

import dataclasses
import json

import bpy
import numpy as np

from ...formats import three_ds
from ..conversion import Conversion, NodeSpace
from ..keys import Keys
from ..report import AddNote, drop_note
from ..rotation_modes import ModeKeys, RotationOptions
from .plan_objects import PlannedObject, add_keys, node_name

PROPERTY = "3ds"
_CONVERSION = "3ds_conversion"
PROPERTIES = (PROPERTY, _CONVERSION)
"""Names of the custom properties that store the state."""
_ROUNDING = 1e-6
"""Tolerance for values without keys, which are rounded to float32 and converted."""


def remember(datablock: bpy.types.ID, node: three_ds.Node, conversion: str) -> None:
    """Store the node as file bytes, and its conversion as returned by `conversion_text`."""
    datablock[PROPERTY] = three_ds.write(three_ds.Scene(keyframer=three_ds.Keyframer((node,))))
    datablock[_CONVERSION] = conversion


def conversion_text(conversion: Conversion, rotation_options: RotationOptions) -> str:
    """Return the conversion of nodes as JSON."""
    choices = dataclasses.astuple(rotation_options)
    return json.dumps({**vars(conversion), "axes": conversion.axes.tolist(), "choices": choices})


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedState:
    """The node from which a datablock was imported, and the keys that the import created. Both are None without one."""

    node: three_ds.Node | None = None
    planned: PlannedObject | None = None

    def lacks(self, kind: str) -> bool:
        """Return whether the imported node had no track of a kind."""
        return self.node is not None and self.node.track(kind) is None

    def unchanged_track(self, kind: str, keys: Keys) -> three_ds.Track | None:
        """Return the imported track of a kind if `keys` are still its keys, or None."""
        if self.node is None or self.planned is None:
            return None
        imported = self.planned.keys.get("location" if kind == "POSITION" else kind.lower())
        return self.node.track(kind) if imported is not None and _is_unchanged(keys, imported) else None

    def unchanged_rotation(self, rotation: ModeKeys) -> three_ds.Track | None:
        """Return the imported rotation track if `rotation` is still the rotation that it became, or None."""
        imported = None if self.planned is None else self.planned.rotation
        if self.node is None or imported is None or rotation.mode != imported.mode or not rotation.is_one_spline:
            return None
        # An import does not set the results of bakes.
        settings, imported_settings = (
            mode_keys.settings and dataclasses.replace(mode_keys.settings, digest=0, options=None)
            for mode_keys in (rotation, imported)
        )
        has_same_settings = imported.keys.is_still or settings == imported_settings
        is_unchanged = has_same_settings and _is_unchanged(rotation.keys, imported.keys)
        return self.node.track("ROTATION") if is_unchanged else None

    def has_markers(self, markers: list[tuple[int, str]]) -> bool:
        """Return whether the import created these markers, given by frames and names."""
        return self.planned is not None and markers == [(round(frame), name) for frame, name in self.planned.markers]


NOT_IMPORTED = ImportedState()


def recall(datablock: bpy.types.ID, kind: str, space: NodeSpace, add_note: AddNote) -> ImportedState:
    """Return the state of a datablock that was imported as a node of this kind with the conversion of this space.

    The state of other datablocks is empty. Note a state that cannot be read.
    """
    content = datablock.get(PROPERTY)
    if content is None or (not isinstance(content, bytes) and datablock.get(_CONVERSION) is None):
        # A property with this name may come from another source.
        return NOT_IMPORTED
    try:
        values = json.loads(datablock[_CONVERSION])
        values["axes"] = np.array(values["axes"], dtype=np.float64).reshape(3, 3)
        (node,) = three_ds.read(content).nodes
        rotation_options = RotationOptions(*values.pop("choices"))
        conversion = Conversion(**values)
    except (three_ds.ThreeDSError, AttributeError, KeyError, TypeError, ValueError):
        add_note("IMPORT_STATE_DAMAGED")
        return NOT_IMPORTED
    if node.kind != kind or not conversion.is_like(space.conversion):
        return NOT_IMPORTED
    planned = PlannedObject(node_name(node), node, None, "", dataclasses.replace(space, conversion=conversion))
    # The import has already reported its notes.
    add_keys(planned, node.tracks, rotation_options, drop_note)
    return ImportedState(node, planned)


def _is_unchanged(keys: Keys, imported: Keys) -> bool:
    """Check whether the keys, or the value of a property without keys, equal the imported keys within rounding."""
    if keys.is_still and imported.is_still:
        difference = np.abs(keys.values - imported.values).max(initial=0.0)
        return bool(difference <= _ROUNDING * np.abs(imported.values).max(initial=1.0))
    return keys.is_like(imported)
