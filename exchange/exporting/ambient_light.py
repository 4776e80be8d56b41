# SPDX-License-Identifier: GPL-3.0-or-later
"""The node of the ambient light, which has the color of the world."""

from __future__ import annotations

from functools import partial
from typing import Any

import bpy

from ...animation.sampling.properties import curves_of
from ..conversion import Conversion
from ..notes import note
from ..report import ExchangeReport
from .export_node import ExportNode
from .find_source import find_source


def ambient_nodes(scene: Any, conversion: Conversion, report: ExchangeReport) -> list[ExportNode]:
    """Return the node of the ambient light, which has the color of the world, or no node without a world.

    The color is the background's, unless other nodes determine it, the world's viewport color is keyed, or the world
    was imported. In these cases, the world's viewport color is used.
    """
    world = scene.world
    if world is None:
        return []
    node = ExportNode(world, "AMBIENT", b"$AMBIENT$", None, partial(note, report.notes, world.name))
    find_source(node, conversion)
    background = _background(world)
    path = None if background is None else _path_of_color(background)
    uses_viewport_color = node.source is not None or any(path == "color" for path, _ in curves_of(world))
    if path is None or uses_viewport_color:
        node.colored = world, "color"
    else:
        node.colored = world.node_tree, path
    if background is not None and path is None and not uses_viewport_color:
        node.add_note("NODES_MAKE_COLOR")
    if world.node_tree is not None:
        lost_paths = sorted({path for path, _ in curves_of(world.node_tree)} - {node.colored[1]})
        if lost_paths:
            node.add_note("NODES_ANIMATED", ", ".join(lost_paths))
    return [node]


def _background(world: Any) -> Any:
    """Return the world's background node that is rendered, or None without nodes."""
    # Since Blender 5.0 a world always uses its nodes.
    uses_nodes = world.node_tree is not None and (bpy.app.version >= (5, 0, 0) or world.use_nodes)
    output = world.node_tree.get_output_node("ALL") if uses_nodes else None
    links = () if output is None else output.inputs["Surface"].links
    return links[0].from_node if links else None


def _path_of_color(background: Any) -> str | None:
    """Return the path of the background color in the world's nodes, or None if other nodes determine it."""
    if background.bl_idname != "ShaderNodeBackground":
        return None
    color = background.inputs["Color"]
    if color.links:
        source = color.links[0].from_node
        if source.bl_idname != "ShaderNodeRGB" or source.mute or color.links[0].is_muted:
            return None
        color = color.links[0].from_socket
    return f"{color.path_from_id()}.default_value"
