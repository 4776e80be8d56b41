# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a file, and the plan of their objects: type, parent, and keys of properties from the tracks of nodes.

All data is converted here before any Blender data is created or changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import Finding
from ...formats.three_ds import COMPONENTS, HIDDEN, TARGET_KINDS, Camera, Light, Mesh, Node, Object, Scene, Track
from ...interp import rotations
from ..conversion import DEGREES_MM, Conversion, NodeSpace
from ..keys import Keys, are_distinct, still, turn_keys, vector_keys
from ..meshes import is_mirrored, local_points
from ..report import AddNote, drop_note, note
from ..rotation_modes import ModeKeys, RotationOptions, keys_in_mode

# Nodes of the keyframer, and of objects only in the editor


DUMMY = b"$$$DUMMY"
"""The name of nodes without an object in the editor."""
TARGET_SUFFIX = ".Target"
"""The end of the names of objects for targets, whose nodes have the names of their cameras and lights."""
_KINDS_OF_TARGETS = tuple(TARGET_KINDS.values())
"""The kinds of nodes that are targets."""


def _all_nodes(scene: Scene, objects: dict[bytes, Object]) -> tuple[list[Node], list[int | None]]:
    """Return the keyframer's nodes and nodes for objects only in the editor, with the indices of their parents."""
    nodes = list(scene.nodes)
    parents: list[int | None] = [] if scene.keyframer is None else list(scene.keyframer.parents())
    kinds_and_names = {(node.kind, node.name) for node in nodes}
    animated_names = {node.name for node in nodes if node.kind not in _KINDS_OF_TARGETS}
    for obj in objects.values():
        for node in _editor_nodes(obj):
            is_animated = node.kind not in _KINDS_OF_TARGETS and obj.name in animated_names
            if (node.kind, node.name) not in kinds_and_names and not is_animated:
                nodes.append(node)
                parents.append(None)
    return nodes, parents


def _editor_nodes(obj: Object) -> Iterator[Node]:
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


def _skip_ambient_parents(nodes: list[Node], parents: list[int | None], notes: list[Finding]) -> None:
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


def _target_indices(nodes: Sequence[Node]) -> list[int | None]:
    """Return the index of each node's target, which has the same name, or None."""
    # If several nodes have the same name, the first counts.
    indices = {(node.kind, node.name): index for index, node in reversed([*enumerate(nodes)])}
    return [indices.get((TARGET_KINDS[node.kind], node.name)) if node.kind in TARGET_KINDS else None for node in nodes]


def node_name(node: Node) -> str:
    """Return Blender's name for the node. The file's bytes are decoded losslessly as Latin-1."""
    name, instance = node.name.decode("latin-1"), (node.instance_name or b"").decode("latin-1")
    if node.name == DUMMY:
        return instance or "Dummy"
    if node.kind in _KINDS_OF_TARGETS:
        return name + TARGET_SUFFIX
    return (f"{name}.{instance}" if instance else name) or "Unnamed"


# Plans of objects


_UNLINKS = 0x700
"""Flags that unlink a track from axes of its parent."""
_LIMITS = {"FOV": (0.01, 173.6), "HOTSPOT": (0.0, 180.0), "FALLOFF": (1.0, 180.0)}
"""Degrees. A lens of 1 mm, Blender's shortest, has a field of view of 173.6 degrees."""
_TRACKS_OF_KIND = {
    "OBJECT": {"POSITION", "ROTATION", "SCALE", "MORPH", "HIDE"},
    "CAMERA": {"POSITION", "FOV", "ROLL"},
    "CAMERA_TARGET": {"POSITION"},
    "LIGHT": {"POSITION", "COLOR"},
    "SPOTLIGHT": {"POSITION", "COLOR", "HOTSPOT", "FALLOFF", "ROLL"},
    "LIGHT_TARGET": {"POSITION"},
    "AMBIENT": {"COLOR"},
}
"""The kinds of tracks that have an effect on each kind of node."""


@dataclass(eq=False)
class PlannedObject:
    """The plan of an object, with converted keys and points."""

    name: str
    node: Node
    parent: int | None
    """The index of the parent in the planned objects."""
    kind: str
    """MESH, EMPTY, CAMERA, LIGHT or WORLD."""
    space: NodeSpace
    content: Mesh | Camera | Light | None = None
    target: int | None = None
    """The index of the object's target."""
    points: Float64Array | None = None
    """The vertices of the mesh in local space."""
    mirrored: bool = False
    keys: dict[str, Keys] = field(default_factory=dict)
    """Keys of location, scale, fov, roll, color, hotspot, falloff and hide. Angles are in degrees. The value of hide is
    1 while the object is hidden."""
    rotation: ModeKeys | None = None
    markers: list[tuple[float, str]] = field(default_factory=list)
    """Frames and the names of morph targets."""


def plan_objects(
    scene: Scene, conversion: Conversion, rotation_options: RotationOptions, notes: list[Finding]
) -> list[PlannedObject]:
    """Plan all objects of the file, starting with the nodes in file order."""
    objects = {obj.name: obj for obj in reversed(scene.objects)}
    nodes, parents = _all_nodes(scene, objects)
    _skip_ambient_parents(nodes, parents, notes)
    targets = _target_indices(nodes)
    plans = []
    for index, (node, parent, target) in enumerate(zip(nodes, parents, targets, strict=True)):
        parent_is_aimed = parent is not None and targets[parent] is not None
        space = NodeSpace(conversion, parent_is_aimed, is_aimed=target is not None)
        obj = objects.get(node.name)
        content = _content(obj, has_animation=index < len(scene.nodes))
        planned = PlannedObject(node_name(node), node, parent, _kind(node, content), space, content, target)
        add_note = partial(note, notes, planned.name)
        add_keys(planned, _all_tracks(node, obj), rotation_options, add_note)
        if node.kind in TARGET_KINDS and target is None:
            add_note("NO_TARGET_NO_ROLL" if "roll" in planned.keys else "NO_TARGET")
        plans.append(planned)
    _add_points(plans, notes)
    return plans


def _content(obj: Object | None, has_animation: bool) -> Mesh | Camera | Light | None:
    """Return the content of an object of the editor. Without animation, the node of a mesh has no rotation."""
    content = None if obj is None else obj.content
    if not has_animation and isinstance(content, Mesh) and content.matrix is not None:
        content = replace(content, matrix=np.vstack((np.eye(3), content.matrix[3])).astype(np.float32))
    return content


def _kind(node: Node, content: Mesh | Camera | Light | None) -> str:
    if node.kind == "OBJECT":
        return "MESH" if isinstance(content, Mesh) and len(content.vertices) and node.name != DUMMY else "EMPTY"
    kinds = {"CAMERA": "CAMERA", "LIGHT": "LIGHT", "SPOTLIGHT": "LIGHT", "AMBIENT": "WORLD"}
    return kinds.get(node.kind, "EMPTY")


def _all_tracks(node: Node, obj: Object | None) -> list[Track]:
    """Return the node's own tracks, and the editor's values of a camera or light for missing tracks."""
    tracks = list(node.tracks)
    if obj is not None and node.kind != "OBJECT":
        keyed_kinds = {track.kind for track in tracks if len(track.frames)}
        for editor_node in _editor_nodes(obj):
            if editor_node.kind == node.kind:
                tracks += [track for track in editor_node.tracks if track.kind not in keyed_kinds]
    return tracks


def add_keys(
    planned: PlannedObject, tracks: Iterable[Track], rotation_options: RotationOptions, add_note: AddNote
) -> None:
    """Convert the tracks to keys of the planned object."""
    node, space = planned.node, planned.space
    converted_kinds = set()
    for track in tracks:
        # The reader warns about duplicates.
        if track.kind in converted_kinds or not len(track.frames):
            continue
        converted_kinds.add(track.kind)
        note_track = partial(add_note, track=track.kind.lower())
        if track.kind not in _TRACKS_OF_KIND[node.kind]:
            note_track("TRACK_WITHOUT_PROPERTY")
            continue
        if track.flags & _UNLINKS:
            note_track("UNLINKED_AXES")
        _add_track(planned, track, rotation_options, note_track)
    if node.flags[0] & HIDDEN:
        planned.keys.setdefault("hide", still(1.0))
    if planned.rotation is None and not space.is_aimed and not space.conversion.keeps_axes:
        # The rotation that results from converted axes.
        axis, angle = rotations.to_axis_angle(space.rest_quaternion())
        if angle:
            planned.rotation = keys_in_mode(still(np.append(angle, axis)), rotation_options, drop_note)


def _add_track(planned: PlannedObject, track: Track, rotation_options: RotationOptions, note_track: AddNote) -> None:
    """Convert a track that is valid for the node to keys of the planned object."""
    space = planned.space
    if track.kind == "ROTATION":
        turns = turn_keys(track, space, rotation_options.shorter_turns, note_track)
        planned.rotation = None if turns is None else keys_in_mode(turns, rotation_options, note_track)
    elif track.kind == "HIDE":
        planned.keys["hide"] = _hidden_keys(track, bool(planned.node.flags[0] & HIDDEN), space.conversion, note_track)
        if track.cycle != "SINGLE":
            note_track("CYCLE_LEFT")
    elif track.kind == "MORPH":
        frames = space.conversion.frames(track.frames)
        names = [name.decode("latin-1") for name in track.names]
        planned.markers = list(zip(frames.tolist(), names, strict=True))
        note_track("MORPH_AS_MARKERS", len(track.frames))
    else:
        keys = vector_keys(track, space.conversion, note_track)
        if keys is not None and track.kind == "POSITION":
            planned.keys["location"] = keys.with_values(space.positions(keys.values))
        elif keys is not None:
            low, high = _LIMITS.get(track.kind, (-np.inf, np.inf))
            is_outside = (track.values < low) | (track.values > high)
            if is_outside.any():
                note_track("ANGLE_OUT_OF_RANGE", int(is_outside.sum()), low, high)
            values = space.scales(keys.values) if track.kind == "SCALE" else keys.values
            planned.keys[track.kind.lower()] = keys.with_values(values)


def _hidden_keys(track: Track, is_hidden: bool, conversion: Conversion, add_note: AddNote) -> Keys:
    """Return visibility keys. Each key in the file toggles the visibility. The node's flag is the initial state."""
    frames = np.sort(track.frames, kind="stable")
    first_frame = min(0, int(frames[0]) - 1)
    states = (np.arange(len(frames) + 1) + is_hidden) % 2
    frames = np.concatenate(([first_frame], frames))
    is_last_at_frame = np.append(np.diff(frames) > 0, True)
    scene_frames = conversion.frames(frames[is_last_at_frame])
    is_distinct = are_distinct(scene_frames, add_note)
    values = states[is_last_at_frame][is_distinct, np.newaxis].astype(np.float64)
    return Keys(scene_frames[is_distinct], values, np.zeros((5, len(values))))


def _add_points(plans: Sequence[PlannedObject], notes: list[Finding]) -> None:
    """Add the vertices of meshes in object space."""
    for planned in plans:
        if planned.kind != "MESH" or not isinstance(planned.content, Mesh):
            continue
        # If the mesh matrix is left-handed and the node is not, the mesh in the file is mirrored.
        planned.mirrored = is_mirrored(planned.content) and not _is_left_handed(plans, planned)
        pivot = np.zeros(3) if planned.node.pivot is None else planned.node.pivot
        add_note = partial(note, notes, planned.name)
        planned.points = planned.space.points(local_points(planned.content, pivot, planned.mirrored, add_note))


def _is_left_handed(plans: Sequence[PlannedObject], planned: PlannedObject) -> bool:
    """Check whether the node is left-handed at its first keys."""
    is_left_handed = False
    ancestor: PlannedObject | None = planned
    while ancestor is not None:
        scale = ancestor.keys.get("scale")
        is_left_handed ^= scale is not None and bool(np.prod(scale.values[0]) < 0.0)
        ancestor = None if ancestor.parent is None else plans[ancestor.parent]
    return is_left_handed
