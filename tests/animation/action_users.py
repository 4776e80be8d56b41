# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that share an action, push it down into an NLA strip, tweak it, or bring it from another file."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.animation.curves import HAS_SLOTS


def share(action: bpy.types.Action, item: bpy.types.Object, slot=None) -> None:
    item.animation_data_create().action = action
    if HAS_SLOTS:
        item.animation_data.action_slot = slot or action.slots[0]


def push_down(item: bpy.types.Object) -> bpy.types.NlaStrip:
    data = item.animation_data
    slot = data.action_slot if HAS_SLOTS else None
    strip = data.nla_tracks.new().strips.new("Strip", 0, data.action)
    if HAS_SLOTS:
        strip.action_slot = slot
    data.action = None
    return strip


def tweak(item: bpy.types.Object) -> None:
    item.animation_data.nla_tracks[0].select = True
    item.animation_data.nla_tracks.active = item.animation_data.nla_tracks[0]
    item.animation_data.nla_tracks[0].strips[0].select = True
    item.animation_data.use_tweak_mode = True


def linked(item: bpy.types.Object, library: Path) -> bpy.types.Object:
    """Write the object to another file, remove it and its action, and return it as linked from that file."""
    name = item.name
    bpy.data.libraries.write(str(library), {item})
    bpy.data.batch_remove([item.animation_data.action, item])
    with bpy.data.libraries.load(str(library), link=True) as (_source, target):
        target.objects = [name]
    return target.objects[0]


def load(path: str, link: bool) -> bpy.types.Object:
    """Bring the object "Ball" from a file into the scene."""
    with bpy.data.libraries.load(path, link=link) as (_source, target):
        target.objects = ["Ball"]
    bpy.context.scene.collection.objects.link(target.objects[0])
    return target.objects[0]


with_slots = pytest.mark.skipif(not HAS_SLOTS, reason="this Blender has no slots")
