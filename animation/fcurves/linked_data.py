# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether a datablock's animation can be edited.

Linked data can't be edited, but a library override gets a local copy.
"""

from __future__ import annotations

import bpy

from ..datablocks import animation_data, name_of
from ..report import AnimationError, Finding
from .channels import Channels, assign, channels_of


def editable_channels(datablock: bpy.types.ID, notes: list[Finding] | None = None) -> Channels:
    """Return the datablock's F-curves for editing. Raise AnimationError if the data are linked.

    A library override with a linked action gets a local copy of the action, which `notes` reports.
    """
    channels = check_editable(datablock)
    if channels.action.library is None:
        return channels
    assign(datablock, channels.action.copy(), channels.slot_handle)
    if notes is not None:
        notes.append(Finding("ACTION_COPIED", name_of(datablock), arguments=(channels.action.name,)))
    return channels_of(datablock)


def check_not_linked(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if the datablock is linked."""
    if datablock.library is not None:
        raise AnimationError(Finding("LINKED", name_of(datablock)))


def check_editable(datablock: bpy.types.ID) -> Channels:
    """Return the F-curves that animate the datablock. Raise AnimationError if the F-curves can't be edited.

    A linked action can be edited only through a library override, which gets a local copy.
    """
    check_not_linked(datablock)
    channels = channels_of(datablock)
    if channels.action.library is not None:
        if datablock.override_library is None:
            raise AnimationError(Finding("LINKED_ACTION", name_of(datablock), arguments=(channels.action.name,)))
        check_not_tweaked(datablock)
    return channels


def check_not_tweaked(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if an NLA strip is in tweak mode, in which Blender refuses to assign another action."""
    animation = animation_data(datablock)
    if animation is not None and animation.use_tweak_mode:
        raise AnimationError(Finding("TWEAKED", name_of(datablock)))
