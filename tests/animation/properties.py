# SPDX-License-Identifier: GPL-3.0-or-later
"""Animatable properties of all kinds, their keys, and changes to their paths."""

from __future__ import annotations

from typing import Any

import bpy

from tests.animation.curves import fcurves, new_object, new_rig

Animated = tuple[Any, str, int]
"""A datablock, the path of its property, and the number of components."""
FRAMES = (0, 10, 25, 40)
NUMBERS = (0.5, 0.9, 0.2, 0.7)


def keys_of(width: int) -> list:
    return [
        (frame, tuple(number + 0.01 * n for n in range(width))) for frame, number in zip(FRAMES, NUMBERS, strict=True)
    ]


def shape_key() -> Animated:
    thing = new_object("Mesh", data=bpy.data.meshes.new("Mesh"))
    thing.shape_key_add(name="Basis")
    thing.shape_key_add(name='Wide "smile"')
    block = thing.data.shape_keys.key_blocks[1]
    return thing.data.shape_keys, block.path_from_id("value"), 1


def material() -> bpy.types.Material:
    result = bpy.data.materials.new("Paint")
    if bpy.app.version < (5, 0, 0):
        result.use_nodes = True
    return result


def node_number() -> Animated:
    tree = material().node_tree
    node = tree.nodes.new("ShaderNodeValue")
    return tree, node.outputs[0].path_from_id("default_value"), 1


def custom(name: str, value, on=new_object):
    def make() -> Animated:
        item = on()
        item[name] = value
        width = len(value) if isinstance(value, list) else 1
        return item, f'["{bpy.utils.escape_identifier(name)}"]', width

    make.__name__ = f"custom property {name}"
    return make


def bone_location() -> Animated:
    return rig(), 'pose.bones["Arm.L"].location', 3


def rig() -> bpy.types.Object:
    return new_rig("Arm.L", "Arm.R")


def rename_bone(item: bpy.types.Object) -> str:
    item.data.bones["Arm.L"].name = 'Left "arm"'
    return item.pose.bones[0].path_from_id("location")


def rename_shape_key(keys: bpy.types.Key) -> str:
    block = keys.key_blocks[-1]
    block.name = 'Grin "wide"'
    return f"{block.path_from_id()}.value"


def rename_node(tree: bpy.types.NodeTree) -> str:
    path = fcurves(tree)[0].data_path
    node = tree.path_resolve(path.split("]", 1)[0] + "]")
    node.name = "Renamed"
    return f'nodes["Renamed"]{path.split("]", 1)[1]}'


RENAMES = [(bone_location, rename_bone), (shape_key, rename_shape_key), (node_number, rename_node)]
