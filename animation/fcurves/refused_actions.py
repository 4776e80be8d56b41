# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why what animates a datablock can't be edited: no animation, NLA strips only, no slot, several layers.

Of an action with more than one layer or strip not the keys of one set of F-curves play.
"""

from __future__ import annotations

import bpy

from ..datablocks import HAS_SLOTS, animation_data, name_of, users_of
from ..errors import AnimationError, LayeredActionError
from ..translation import rpt_


def editable_action(datablock: bpy.types.ID) -> bpy.types.Action:
    """Return the action that the datablock plays now; raise AnimationError where there is none to edit."""
    animation = animation_data(datablock)
    if animation is None or animation.action is None:
        if animation is not None and any(track.strips for track in animation.nla_tracks):
            raise AnimationError(
                name_of(datablock), rpt_("its animation is in NLA strips only; enter tweak mode on a strip first")
            )
        raise AnimationError(name_of(datablock), rpt_("it has no animation"))
    action = animation.action
    if not HAS_SLOTS:
        return action
    check_one_layer(datablock, action)
    if animation.action_slot is None:
        raise AnimationError(
            name_of(datablock), rpt_('its action "{:s}" has no slot for it; choose a slot first', action.name)
        )
    return action


def without_fcurves(datablock: bpy.types.ID, action: bpy.types.Action) -> AnimationError:
    """Return the error for a datablock that its action has no F-curves for."""
    return AnimationError(name_of(datablock), rpt_('its action "{:s}" has no F-curves for it', action.name))


def layered_reason(action: bpy.types.Action) -> str:
    """Return why an action with more than one layer or strip is not edited; empty where it has one of each at most.

    Blender 5.2 reads and plays such actions, but does not make them yet.
    """
    layers = action.layers if HAS_SLOTS else ()
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
