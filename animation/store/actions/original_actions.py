# SPDX-License-Identifier: GPL-3.0-or-later
"""The original actions of bakes into new actions: set aside, so that exporters leave them out.

Exporters take the actions of a file that fit an object, whether anything uses them or not. An action that is set aside
has an F-curve whose path does not resolve, so it fits no object: FBX's exporter leaves it out for that reason. glTF's
exporter checks nothing that could be added, but lets extensions choose. The animator's F-curves stay as they are, and a
fake user keeps the action in the file; a custom property links it to its copy, for the way back.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...fcurves.channels import channels_in
from ..paths import SET_ASIDE, remove_strays
from .live_switch import switch_off

_COPY = "tcb_copy"
"""A custom property of the original: the copy."""
_KEPT = "tcb_kept"
"""A custom property of an original whose fake user is not the animator's."""


def copied(original: bpy.types.Action, ending: str) -> bpy.types.Action:
    """Copy an action for what plays it to play instead, named after it, and not live."""
    copy = original.copy()
    copy.name = f"{original.name}.{ending}"
    switch_off(copy)
    return copy


def link(original: bpy.types.Action, copy: bpy.types.Action) -> None:
    """Link the original to its copy, for the way back."""
    original[_COPY] = copy


def unlink(original: bpy.types.Action) -> bpy.types.Action | None:
    """Unlink the copy of an original, and return it."""
    copy = original.pop(_COPY, None)
    return copy if isinstance(copy, bpy.types.Action) else None


def keep(original: bpy.types.Action) -> None:
    """Give an original a fake user, with which the file keeps it."""
    if not original.use_fake_user:
        original.use_fake_user = True
        original[_KEPT] = True


def release(original: bpy.types.Action) -> None:
    """Take the fake user away that `keep` gave an original, which something uses again."""
    if original.pop(_KEPT, False):
        original.use_fake_user = False


def set_aside(original: bpy.types.Action, copy: bpy.types.Action) -> None:
    """Link the original to its copy, and make exporters leave it out once nothing uses it any more."""
    link(original, copy)
    if original.users > original.use_fake_user:
        return
    keep(original)
    for channels in channels_in(original):
        mark = channels.new(SET_ASIDE, 0)
        mark.mute, mark.lock, mark.select = True, True, False


def is_set_aside(action: Any) -> bool:
    """Return whether exporters must leave the action out."""
    return _COPY in action and any(fcurve.data_path == SET_ASIDE for bag in channels_in(action) for fcurve in bag)


def originals() -> dict[bpy.types.Action, bpy.types.Action]:
    """Return the original actions by the new ones that were baked from them."""
    actions: bpy.types.BlendDataActions = bpy.data.actions
    return {each[_COPY]: each for each in actions if isinstance(each.get(_COPY), bpy.types.Action)}


def bring_back(original: bpy.types.Action) -> None:
    """Make an action an ordinary one again and unlink its copy, which is removed if nothing else uses it."""
    copy = unlink(original)
    for channels in channels_in(original):
        remove_strays(channels)
    if copy is not None and not copy.users:
        bpy.data.actions.remove(copy)
