# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a file: in its keyframer, and for objects only in its editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...animation.errors import Finding
from ...formats.three_ds import COMPONENTS, TARGET_KINDS, Camera, Light, Mesh, Node, Object, Scene, Track
from ..camera_and_light_angles import DEGREES_MM
from ..report import note

DUMMY = b"$$$DUMMY"
"""The name of nodes without an object in the editor."""
TARGET_SUFFIX = ".Target"
"""The end of the names of objects for targets, whose nodes have the names of their cameras and lights."""
KINDS_OF_TARGETS = tuple(TARGET_KINDS.values())
"""The kinds of nodes that are targets."""


def all_nodes(scene: Scene, objects: dict[bytes, Object]) -> tuple[list[Node], list[int | None]]:
    """Return the keyframer's nodes and nodes for objects only in the editor, with the indices of their parents."""
    nodes = list(scene.nodes)
    parents: list[int | None] = [] if scene.keyframer is None else list(scene.keyframer.parents())
    kinds_and_names = {(node.kind, node.name) for node in nodes}
    animated_names = {node.name for node in nodes if node.kind not in KINDS_OF_TARGETS}
    for obj in objects.values():
        for node in editor_nodes(obj):
            is_animated = node.kind not in KINDS_OF_TARGETS and obj.name in animated_names
            if (node.kind, node.name) not in kinds_and_names and not is_animated:
                nodes.append(node)
                parents.append(None)
    return nodes, parents


def editor_nodes(obj: Object) -> Iterator[Node]:
    """Yield nodes with the position of the object in the editor."""
    content = obj.content
    if isinstance(content, Mesh):
        origin = np.zeros(3, np.float32) if content.matrix is None else content.matrix[3]
        yield Node("OBJECT", obj.name, tracks=(_single_key("POSITION", origin),))
    elif isinstance(content, Camera):
        fov = DEGREES_MM / content.lens if content.lens else 0.0
        views = _single_key("FOV", fov), _single_key("ROLL", content.roll)
        yield Node("CAMERA", obj.name, tracks=(_single_key("POSITION", content.position), *views))
        yield Node("CAMERA_TARGET", obj.name, tracks=(_single_key("POSITION", content.target),))
    elif isinstance(content, Light):
        spot = content.spotlight
        tracks = [_single_key("POSITION", content.position)]
        if content.color is not None:
            tracks.append(_single_key("COLOR", content.color))
        if spot is not None:
            tracks += [
                _single_key("HOTSPOT", spot.hotspot),
                _single_key("FALLOFF", spot.falloff),
                _single_key("ROLL", spot.roll or 0.0),
            ]
        yield Node("LIGHT" if spot is None else "SPOTLIGHT", obj.name, tracks=tuple(tracks))
        if spot is not None:
            yield Node("LIGHT_TARGET", obj.name, tracks=(_single_key("POSITION", spot.target),))


def _single_key(kind: str, value: object) -> Track:
    values = np.array(value, np.float32).reshape(1, COMPONENTS[kind])
    return Track(kind, np.zeros(1, np.int32), values, np.zeros(1, np.uint16), np.zeros((5, 1), np.float32))


def skip_ambient_parents(nodes: list[Node], parents: list[int | None], notes: list[Finding]) -> None:
    """Reparent children of an ambient light, which has no position, to the light's parent."""
    for index, node in enumerate(nodes):
        path = [index]
        while (parent := parents[path[-1]]) is not None and nodes[parent].kind == "AMBIENT":
            path.append(parent)
        # All nodes on the path are reparented, so long chains take linear time.
        for child in path[:-1]:
            parents[child] = parent
        if len(path) == 1 or node.kind == "AMBIENT":
            continue
        if parent is None:
            note(notes, node_name(node), "UNDER_AMBIENT")
        else:
            note(notes, node_name(node), "UNDER_AMBIENT_UNDER", node_name(nodes[parent]))


def target_indices(nodes: Sequence[Node]) -> list[int | None]:
    """Return the index of each node's target, which has the same name, or None."""
    # If several nodes have the same name, the first counts.
    indices = {(node.kind, node.name): index for index, node in reversed([*enumerate(nodes)])}
    return [indices.get((TARGET_KINDS[node.kind], node.name)) if node.kind in TARGET_KINDS else None for node in nodes]


def node_name(node: Node) -> str:
    """Return Blender's name for the node. The file's bytes are decoded losslessly as Latin-1."""
    name, instance = node.name.decode("latin-1"), (node.instance_name or b"").decode("latin-1")
    if node.name == DUMMY:
        return instance or "Dummy"
    if node.kind in KINDS_OF_TARGETS:
        return name + TARGET_SUFFIX
    return (f"{name}.{instance}" if instance else name) or "Unnamed"
