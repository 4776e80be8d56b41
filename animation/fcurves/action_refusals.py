# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a datablock's animation can't be edited: no animation, only NLA strips, no slot, or several layers.

An action with more than one layer or strip can't be edited, because its motion depends on several sets of F-curves.
"""

from __future__ import annotations

import bpy

from ..datablocks import HAS_SLOTS, animation_data, name_of, users_of
from ..report import AnimationError, Finding


def editable_action(datablock: bpy.types.ID) -> bpy.types.Action:
    """Return the action that the datablock plays. Raise AnimationError if there is no action to edit."""
    animation = animation_data(datablock)
    if animation is None or animation.action is None:
        if animation is not None and any(track.strips for track in animation.nla_tracks):
            raise AnimationError(Finding("ONLY_IN_STRIPS", name_of(datablock)))
        raise AnimationError(Finding("NO_ANIMATION", name_of(datablock)))
    action = animation.action
    if not HAS_SLOTS:
        return action
    check_one_layer(datablock, action)
    if animation.action_slot is None:
        raise AnimationError(Finding("NO_SLOT", name_of(datablock), arguments=(action.name,)))
    return action


def without_fcurves(datablock: bpy.types.ID, action: bpy.types.Action) -> AnimationError:
    """Return the error for a datablock whose action has no F-curves."""
    return AnimationError(Finding("NO_FCURVES", name_of(datablock), arguments=(action.name,)))


def layered_reason(action: bpy.types.Action) -> Finding | None:
    """Return the reason why the action's layers or strips prevent editing, or None if the action can be edited.

    Blender 5.2 reads and plays multi-layer actions, but cannot create them yet.
    """
    layers = action.layers if HAS_SLOTS else ()
    strips = sum(len(layer.strips) for layer in layers)
    if len(layers) <= 1 and strips <= 1:
        return None
    return Finding("LAYERED", arguments=(action.name, len(layers), strips))


def check_one_layer(datablock: bpy.types.ID, action: bpy.types.Action) -> None:
    """Raise AnimationError if the datablock's action has more than one layer or strip."""
    reason = layered_reason(action)
    if reason:
        raise AnimationError(reason.on(name_of(datablock)))


def layered_refusals(action: bpy.types.Action) -> list[Finding]:
    """If the action has more than one layer or strip, return an error for each datablock that it animates.

    For an action with one layer and one strip, the list is empty.
    """
    reason = layered_reason(action)
    return [reason.on(name_of(user)) for user in users_of(action)] if reason else []
