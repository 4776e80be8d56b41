# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an imported object in its file, kept with it, so that what is unchanged is written as it was read."""

from __future__ import annotations

import dataclasses
import json

import bpy
import numpy as np

from ..formats import three_ds
from .conversion import Conversion
from .rotation_keys import Choices

PROPERTY = "3ds"
_CONVERSION = "3ds_conversion"
PROPERTIES = (PROPERTY, _CONVERSION)
"""Names of the custom properties that hold it."""


class DamagedStateError(Exception):
    """Raised where a datablock's record of its node in the file can't be read."""


def remember(datablock: bpy.types.ID, node: three_ds.Node, converted: str) -> None:
    """Keep the node, as bytes of a file, and its conversion, as `as_converted` returns it."""
    datablock[PROPERTY] = three_ds.write(three_ds.Scene(keyframer=three_ds.Keyframer((node,))))
    datablock[_CONVERSION] = converted


def as_converted(conversion: Conversion, choices: Choices) -> str:
    """Return a text of how nodes are converted, to keep with what they became."""
    values = {"axes": conversion.axes.tolist(), "scale": conversion.scale}
    values |= {"start": conversion.start, "stretch": conversion.stretch, "choices": dataclasses.astuple(choices)}
    return json.dumps(values)


def recall(datablock: bpy.types.ID) -> tuple[three_ds.Node, Conversion, Choices] | None:
    """Return the node that the datablock was, and its conversion; None where it comes from no file.

    Raises
    ------
    DamagedStateError
        What it keeps of the file can't be read.
    """
    kept = datablock.get(PROPERTY)
    if kept is None or (not isinstance(kept, bytes) and datablock.get(_CONVERSION) is None):
        # A property of that name may be somebody else's.
        return None
    try:
        values = json.loads(datablock[_CONVERSION])
        values["axes"] = np.array(values["axes"], dtype=np.float64).reshape(3, 3)
        (node,) = three_ds.read(kept).nodes
        choices = Choices(*values.pop("choices"))
        return node, Conversion(**values), choices
    except (three_ds.ThreeDSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedStateError from error
