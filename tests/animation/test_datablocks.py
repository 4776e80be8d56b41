# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of datablocks in messages."""

from __future__ import annotations

import bpy
import pytest

NODE_OWNERS = {
    "materials": lambda: bpy.data.materials.new("Owner"),
    "worlds": lambda: bpy.data.worlds.new("Owner"),
    "lights": lambda: bpy.data.lights.new("Owner", "POINT"),
    "linestyles": lambda: bpy.data.linestyles.new("Owner"),
    "textures": lambda: bpy.data.textures.new("Owner", "CLOUDS"),
}


@pytest.mark.parametrize("kind", NODE_OWNERS)
def test_a_node_tree_is_named_after_its_owner(animation, scene, kind: str) -> None:
    owner = NODE_OWNERS[kind]()
    owner.use_nodes = True
    owner.node_tree.animation_data_create()
    assert [animation.datablocks.name_of(tree) for tree in animation.of_file()] == ["Owner (nodes)"]
