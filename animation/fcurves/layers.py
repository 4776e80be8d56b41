# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions with more than one layer or strip are refused: what plays is then not the keys of one set of F-curves."""

from __future__ import annotations

from typing import Any

import bpy

from ..datablocks import name_of, users_of
from ..errors import LayeredActionError
from ..translation import rpt_

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
"""Whether actions have slots and layers."""


def layered_reason(action: bpy.types.Action) -> str:
    """Return why an action with more than one layer or strip is not edited; empty where it has one of each at most.

    Blender 5.2 reads and plays such actions, but does not make them yet.
    """
    layers: Any = action.layers if HAS_SLOTS else ()
    strips = sum(len(layer.strips) for layer in layers)
    if len(layers) <= 1 and strips <= 1:
        return ""
    return rpt_(
        'its action "{:s}" has more than one layer or strip (layers: {:d}, strips: {:d}); '
        "make one of them first, with Object > Animation > Bake Action",
        action.name,
        len(layers),
        strips,
    )


def check_one_layer(datablock: bpy.types.ID, action: bpy.types.Action) -> None:
    """Raise LayeredActionError where the action, which animates the datablock, has more than one layer or strip."""
    reason = layered_reason(action)
    if reason:
        raise LayeredActionError(name_of(datablock), reason)


def layered_refusals(action: bpy.types.Action) -> list[LayeredActionError]:
    """Return a refusal for each datablock that the action animates, where it has more than one layer or strip."""
    reason = layered_reason(action)
    return [LayeredActionError(name_of(user), reason) for user in users_of(action)] if reason else []
