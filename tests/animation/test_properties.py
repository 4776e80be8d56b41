# SPDX-License-Identifier: GPL-3.0-or-later
"""Any animated float property of any datablock is a track, and keeps its parameters when renamed."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation import reference
from tests.animation.curves import (
    co,
    curve,
    differences,
    given,
    has_table,
    key,
    new_object,
    save_and_load,
    seen,
    snapshot,
)
from tests.animation.properties import (
    FRAMES,
    NUMBERS,
    RENAMES,
    Animated,
    bone_location,
    custom,
    keys_of,
    material,
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


def light() -> Animated:
    return bpy.data.lights.new("Lamp", "SPOT"), "energy", 1


def light_colour() -> Animated:
    return bpy.data.lights.new("Lamp", "SPOT"), "color", 3


def object_colour() -> Animated:
    return new_object(), "color", 4


def node_colour() -> Animated:
    tree = material().node_tree
    node = tree.nodes.new("ShaderNodeRGB")
    return tree, node.outputs[0].path_from_id("default_value"), 4


def world_colour() -> Animated:
    return bpy.data.worlds.new("World"), "color", 3


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


def delta_location() -> Animated:
    return new_object(), "delta_location", 3


def bone_custom() -> Animated:
    item = rig()
    item.pose.bones[0]["grip"] = 0.5
    return item, 'pose.bones["Arm.L"]["grip"]', 1


def bendy_bone() -> Animated:
    return rig(), 'pose.bones["Arm.L"].bbone_curveinx', 1


def armature_custom() -> Animated:
    item: Any = rig().data
    item["grip"] = 0.5
    return item, '["grip"]', 1


PROPERTIES = [
    camera, focus, light, light_colour, object_colour, shape_key, node_number, node_colour, world_colour,
    scene_gravity, modifier, constraint, delta_location, bone_location, bone_custom, bendy_bone, armature_custom,
    custom("grip", 0.5), custom("sway", [0.1, 0.2, 0.3, 0.4, 0.5]), custom('an "odd" name', 0.5),
    custom("a.dotted.name", 0.5), custom("ein schöner Name", 0.5), custom("back\\slash", 0.5), custom("a]b[c", 0.5),
    custom("x", 0.5), custom("tension", 0.5), custom("location", 0.5),
]  # fmt: skip


@pytest.mark.parametrize("make", PROPERTIES, ids=lambda make: make.__name__)
def test_a_float_property_bakes_and_is_restored(animation, make) -> None:
    check(animation, *make())


@pytest.mark.parametrize("make", [camera, shape_key, node_number, bone_location, light_colour, custom("grip", 0.5)])
def test_baked_properties_survive_save_and_load(animation, make, tmp_path) -> None:
    datablock, path, width = make()
    collection, name = type(datablock).__name__, datablock.name
    datablock.use_fake_user = True
    if datablock.is_embedded_data:
        bpy.data.materials["Paint"].use_fake_user = True
    key(datablock, path, keys_of(width))
    animation.key_set(datablock, path, 10, tension=0.5, bias=-0.75)
    animation.bake(datablock)
    before = snapshot(datablock)
    save_and_load(tmp_path)
    if collection == "ShaderNodeTree":
        datablock = bpy.data.materials["Paint"].node_tree
    else:
        owners = {"Camera": "cameras", "Key": "shape_keys", "SpotLight": "lights", "Object": "objects"}
        datablock = getattr(bpy.data, owners[collection])[name]
    assert differences(before, snapshot(datablock)) == []
    animation.bake(datablock)
    assert differences(before, snapshot(datablock)) == []


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


def test_tracks_of_a_bones_name_do_not_reach_its_neighbours(animation) -> None:
    item = rig()
    for bone in ("Arm.L", "Arm.R"):
        key(item, f'pose.bones["{bone}"].location', keys_of(3))
    before = [state for state in snapshot(item) if "Arm.R" in state["path"][0]]
    animation.bake(item, prefixes=['pose.bones["Arm.L"]'], keep_look=False)
    assert [state for state in snapshot(item) if "Arm.R" in state["path"][0]] == before
    assert len(co(curve(item, 'pose.bones["Arm.L"].location'))) == 41


@pytest.mark.parametrize("bake_first", [False, True])
@pytest.mark.parametrize(("make", "rename"), RENAMES)
def test_after_a_rename_parameters_still_count(animation, make, rename, bake_first: bool) -> None:
    datablock, path, width = make()
    key(datablock, path, keys_of(width))
    animation.key_set(datablock, path, 10, tension=0.5, bias=-0.75)
    if bake_first:
        animation.bake(datablock)
    path = rename(datablock)
    assert given(animation, datablock, path, "bias") == [(10, -0.75)]
    animation.bake(datablock)
    check_motion(datablock, path, width)


@pytest.mark.parametrize(("make", "rename"), RENAMES)
def test_after_a_rename_remove_leaves_nothing(animation, make, rename) -> None:
    datablock, path, width = make()
    key(datablock, path, keys_of(width))
    before = snapshot(datablock)
    animation.key_set(datablock, path, 10, tension=0.5, bias=-0.75)
    animation.bake(datablock)
    rename(datablock)
    animation.remove(datablock)
    assert not has_table(datablock)
    for old, new in zip(before, snapshot(datablock), strict=True):
        assert {**old, "path": 0, "group": 0} == {**new, "path": 0, "group": 0}


def test_the_depsgraph_shows_a_baked_shape_key(animation) -> None:
    keys, path, _ = shape_key()
    key(keys, path, keys_of(1))
    animation.bake(keys, keep_look=False)
    thing = bpy.data.objects["Mesh"]
    wanted = reference.scalar(
        [(frame, float(np.float32(number))) for frame, number in zip(FRAMES, NUMBERS, strict=True)], 17
    )
    assert seen(17, thing).data.shape_keys.key_blocks[1].value == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("make", [camera, light, shape_key, node_number])
def test_parts_of_an_object_are_found(animation, make) -> None:
    datablock, path, width = make()
    key(datablock, path, keys_of(width))
    if make in (camera, light):
        item = new_object("Holder", data=datablock)
    else:
        item = bpy.data.objects.get("Mesh") or new_object("Mesh", data=bpy.data.meshes.new("Mesh"))
        if make is node_number:
            item.data.materials.append(bpy.data.materials["Paint"])
    assert list(animation.of_object(item)) == [datablock]
    assert list(animation.of_file()).count(datablock) == 1
