# SPDX-License-Identifier: GPL-3.0-or-later
"""Any animated float property of any datablock is a track, and keeps its parameters when renamed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation import reference
from tests.animation.curves import (
    co,
    curve,
    differences,
    key,
    new_object,
    snapshot,
)
from tests.animation.properties import (
    Animated,
    bone_location,
    custom,
    keys_of,
    node_number,
    rig,
    shape_key,
)


def check(animation, datablock: bpy.types.ID, path: str, width: int = 1) -> None:
    """Bake with a parameter, compare with the reference, bake again, restore."""
    key(datablock, path, keys_of(width))
    before = snapshot(datablock)
    animation.key_set(datablock, path, 10, tension=0.5, bias=-0.75)
    animation.bake(datablock)
    check_motion(datablock, path, width)
    first = snapshot(datablock)
    animation.bake(datablock)
    assert differences(first, snapshot(datablock)) == []
    animation.restore(datablock)
    assert differences(before, snapshot(datablock), identities=False) == []


def check_motion(datablock: bpy.types.ID, path: str, width: int) -> None:
    for index in range(width):
        keys = [(frame, float(np.float32(values[index]))) for frame, values in keys_of(width)]
        keys[1] = (*keys[1], 0.5, 0.0, -0.75)
        baked = co(curve(datablock, path, index)).tolist()
        assert len(baked) == 41
        for frame, value in baked:
            assert value == pytest.approx(reference.scalar(keys, frame), abs=1e-7)


def camera() -> Animated:
    return bpy.data.cameras.new("Camera"), "lens", 1


def focus() -> Animated:
    return bpy.data.cameras.new("Camera"), "dof.focus_distance", 1


def light_colour() -> Animated:
    return bpy.data.lights.new("Lamp", "SPOT"), "color", 3


def object_colour() -> Animated:
    return new_object(), "color", 4


def scene_gravity() -> Animated:
    return bpy.context.scene, "gravity", 3


def modifier() -> Animated:
    thing = new_object("Mesh", data=bpy.data.meshes.new("Mesh"))
    wave = thing.modifiers.new("My wave", "WAVE")
    return thing, wave.path_from_id("height") if hasattr(wave, "path_from_id") else 'modifiers["My wave"].height', 1


def constraint() -> Animated:
    thing = new_object()
    thing.constraints.new("COPY_LOCATION").name = "Follow"
    return thing, 'constraints["Follow"].influence', 1


def bone_custom() -> Animated:
    item = rig()
    item.pose.bones[0]["grip"] = 0.5
    return item, 'pose.bones["Arm.L"]["grip"]', 1


PROPERTIES = [
    camera, focus, light_colour, object_colour, shape_key, node_number, scene_gravity, modifier, constraint,
    bone_location, bone_custom, custom("sway", [0.1, 0.2, 0.3, 0.4, 0.5]), custom('an "odd" name', 0.5),
    custom("a.dotted.name", 0.5), custom("ein schöner Name", 0.5), custom("back\\slash", 0.5), custom("a]b[c", 0.5),
    custom("tension", 0.5), custom("location", 0.5),
]  # fmt: skip


@pytest.mark.parametrize("make", PROPERTIES, ids=lambda make: make.__name__)
def test_a_float_property_bakes_and_is_restored(animation, make) -> None:
    check(animation, *make())


def test_integers_and_booleans_are_left_alone(animation) -> None:
    thing = new_object()
    thing["count"] = 3
    key(thing, '["count"]', [(0, 1), (10, 5)])
    key(thing, "pass_index", [(0, 1), (10, 5)])
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 1, 1))])
    before = {state["path"]: state for state in snapshot(thing)}
    assert animation.bake(thing, keep_look=False).tracks == 1
    after = {state["path"]: state for state in snapshot(thing)}
    for path in (('["count"]', 0), ("pass_index", 0)):
        assert after[path] == before[path]


@pytest.mark.parametrize("make", [camera, shape_key, node_number])
def test_parts_of_an_object_are_found(animation, make) -> None:
    datablock, path, width = make()
    key(datablock, path, keys_of(width))
    if make is camera:
        item = new_object("Holder", data=datablock)
    else:
        item = bpy.data.objects.get("Mesh") or new_object("Mesh", data=bpy.data.meshes.new("Mesh"))
        if make is node_number:
            item.data.materials.append(bpy.data.materials["Paint"])
    assert list(animation.of_object(item)) == [datablock]
    assert list(animation.of_file()).count(datablock) == 1
