# SPDX-License-Identifier: GPL-3.0-or-later
"""Store the file state of imported objects, so that unchanged data is exported exactly as it was read."""

from __future__ import annotations

import dataclasses
import json
from typing import NamedTuple

import bpy
import numpy as np

from ..formats import three_ds
from .conversion import Conversion
from .report import AddNote
from .rotation_modes import RotationOptions

PROPERTY = "3ds"
_CONVERSION = "3ds_conversion"
PROPERTIES = (PROPERTY, _CONVERSION)
"""Names of the custom properties for the state."""


class ImportedState(NamedTuple):
    """The file state of an imported datablock."""

    node: three_ds.Node
    conversion: Conversion
    rotation_options: RotationOptions


def remember(datablock: bpy.types.ID, node: three_ds.Node, conversion: str) -> None:
    """Store the node as file bytes, and its conversion as returned by `conversion_text`."""
    datablock[PROPERTY] = three_ds.write(three_ds.Scene(keyframer=three_ds.Keyframer((node,))))
    datablock[_CONVERSION] = conversion


def conversion_text(conversion: Conversion, rotation_options: RotationOptions) -> str:
    """Return the conversion of nodes as JSON."""
    choices = dataclasses.astuple(rotation_options)
    return json.dumps({**vars(conversion), "axes": conversion.axes.tolist(), "choices": choices})


def recall(datablock: bpy.types.ID, add_note: AddNote) -> ImportedState | None:
    """Return the stored state of a datablock, or None if it was not imported. Note a state that cannot be read."""
    content = datablock.get(PROPERTY)
    if content is None or (not isinstance(content, bytes) and datablock.get(_CONVERSION) is None):
        # A property with this name may come from another source.
        return None
    try:
        values = json.loads(datablock[_CONVERSION])
        values["axes"] = np.array(values["axes"], dtype=np.float64).reshape(3, 3)
        (node,) = three_ds.read(content).nodes
        rotation_options = RotationOptions(*values.pop("choices"))
        return ImportedState(node, Conversion(**values), rotation_options)
    except (three_ds.ThreeDSError, AttributeError, KeyError, TypeError, ValueError):
        add_note("IMPORT_STATE_DAMAGED")
        return None
