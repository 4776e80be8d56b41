# SPDX-License-Identifier: GPL-3.0-or-later
"""The contents of a .3ds file, in the terms of the file.

Names are bytes as in the file, without the terminating zero, because the format does not define an encoding. Arrays
returned by `read` are read-only. Angles are in degrees except in rotation keys. Lengths are in the file's units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..interp import Cycle, Float32Array, n_
from . import binary
from .binary import Chunk, ReadWarning

FrameArray = npt.NDArray[np.int32]
WordArray = npt.NDArray[np.uint16]

_CYCLES: dict[int, Cycle] = {2: "REPEAT", 3: "LOOP"}

NODE_KINDS = {
    "AMBIENT": binary.AMBIENT_NODE_TAG,
    "OBJECT": binary.OBJECT_NODE_TAG,
    "CAMERA": binary.CAMERA_NODE_TAG,
    "CAMERA_TARGET": binary.TARGET_NODE_TAG,
    "LIGHT": binary.LIGHT_NODE_TAG,
    "LIGHT_TARGET": binary.L_TARGET_NODE_TAG,
    "SPOTLIGHT": binary.SPOTLIGHT_NODE_TAG,
}
"""The chunk of each kind of node."""
TARGET_KINDS = {"CAMERA": "CAMERA_TARGET", "SPOTLIGHT": "LIGHT_TARGET"}
"""The kinds of nodes that have targets, with the kinds of the targets."""
HIDDEN = 0x800
"""A bit of the first flags of a node."""
NAME_LENGTH = 10
"""Maximum number of characters of an object's name in a file."""

TRACK_KINDS = {
    "POSITION": binary.POS_TRACK_TAG,
    "ROTATION": binary.ROT_TRACK_TAG,
    "SCALE": binary.SCL_TRACK_TAG,
    "FOV": binary.FOV_TRACK_TAG,
    "ROLL": binary.ROLL_TRACK_TAG,
    "COLOR": binary.COL_TRACK_TAG,
    "MORPH": binary.MORPH_TRACK_TAG,
    "HOTSPOT": binary.HOT_TRACK_TAG,
    "FALLOFF": binary.FALL_TRACK_TAG,
    "HIDE": binary.HIDE_TRACK_TAG,
}
"""The chunk of each kind of track."""

COMPONENTS = {
    "POSITION": 3,
    "ROTATION": 4,
    "SCALE": 3,
    "FOV": 1,
    "ROLL": 1,
    "COLOR": 3,
    "MORPH": 0,
    "HOTSPOT": 1,
    "FALLOFF": 1,
    "HIDE": 0,
}
"""The number of floats in a key's value for each kind of track."""


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """The content of a .3ds file: the scene of the editor, and its animation."""

    editor: Editor | None = None
    keyframer: Keyframer | None = None
    version: int | None = 3
    """The version of the format, which is 3."""
    chunks: tuple[Chunk, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()
    """Warnings about the errors found when the file was read, in order. Warnings are not written to files."""

    @property
    def objects(self) -> tuple[Object, ...]:
        """The objects of the editor."""
        return () if self.editor is None else self.editor.objects

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the keyframer."""
        return () if self.keyframer is None else self.keyframer.nodes


@dataclass(frozen=True, eq=False, slots=True)
class Editor:
    """The scene that the keyframer animates."""

    objects: tuple[Object, ...] = ()
    mesh_version: int | None = 3
    master_scale: float | None = 1.0
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Object:
    """A named mesh, camera or light of the editor.

    The content is None if it is missing from the file or is of another kind.
    """

    name: bytes
    content: Mesh | Camera | Light | None = None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Mesh:
    """The geometry of an object."""

    vertices: Float32Array = field(default_factory=lambda: _no_floats(3))
    """Shape (n, 3), in world space at the time the mesh was created, not in the space of `matrix`."""
    faces: WordArray = field(default_factory=lambda: np.zeros((0, 3), np.uint16))
    """Indices of vertices, shape (m, 3). A damaged file may contain indices of missing vertices. See
    `Scene.warnings`."""
    face_flags: WordArray = field(default_factory=lambda: np.zeros(0, np.uint16))
    """Bits 0 to 2 mark the edges CA, BC, AB as visible, shape (m,)."""
    texture_coordinates: Float32Array = field(default_factory=lambda: _no_floats(2))
    """One u, v pair per vertex, shape (n, 2), or none, shape (0, 2)."""
    matrix: Float32Array | None = None
    """The axes x, y, z and the origin of the object's space, in world space, shape (4, 3)."""
    chunks: tuple[Chunk, ...] = ()
    face_chunks: tuple[Chunk, ...] = ()
    """Chunks of the mesh and its faces that are not modeled, such as materials and smoothing groups."""


def _no_floats(columns: int) -> Float32Array:
    return np.zeros((0, columns), np.float32)


@dataclass(frozen=True, eq=False, slots=True)
class Camera:
    """A camera, with its position, target, roll in degrees and lens in millimeters."""

    position: Float32Array
    target: Float32Array
    roll: float = 0.0
    lens: float = 50.0
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Light:
    """A light with its position, spotlight and, if in the file, color (red, green, blue) and multiplier."""

    position: Float32Array
    color: Float32Array | None = None
    multiplier: float | None = None
    spotlight: Spotlight | None = None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Spotlight:
    """The spotlight of a light, with its target, and its cones and roll in degrees."""

    target: Float32Array
    hotspot: float
    falloff: float
    roll: float | None = None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Keyframer:
    """The animation of a .3ds file, with its nodes and playback range."""

    nodes: tuple[Node, ...] = ()
    """The nodes in the order of the file."""
    header: Header | None = None
    segment: tuple[int, int] | None = None
    """First and last frames of the active segment."""
    current_frame: int | None = None
    """The current frame when the file was saved. 3ds Max writes this frame in ticks, 160 per frame."""
    chunks: tuple[Chunk, ...] = ()

    def parents(self) -> tuple[int | None, ...]:
        """Return the index of each node's parent, or None if it has none, after breaking cycles."""
        return find_parents([node.node_id for node in self.nodes], [node.parent for node in self.nodes])[0]


@dataclass(frozen=True, slots=True)
class Header:
    """The header of the keyframer section: its revision, the name of the original file, and its length in frames."""

    revision: int = 5
    name: bytes = b""
    length: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """An object, camera, light or target animated by the keyframer."""

    kind: str
    """One of `NODE_KINDS`."""
    name: bytes
    """The object's name in the editor. A camera or light and its target share one name. `$$$DUMMY` is a node without an
    object, whose name is in `instance_name`."""
    parent: int | None = None
    """The id of the parent node. `Keyframer.parents` contains the parent's index."""
    node_id: int | None = None
    """The id of the node. None if the file contains no id. The node's index among all nodes is then used instead."""
    flags: tuple[int, int] = (0, 0)
    """The two u16 of the node's header. In the first number, 0x4000 marks a primary node, and `HIDDEN` a hidden
    node."""
    pivot: Float32Array | None = None
    """The pivot in the space of the object, shape (3,)."""
    instance_name: bytes | None = None
    """The name that distinguishes instances of one object."""
    tracks: tuple[Track, ...] = ()
    """The tracks in the order of the file. A kind may occur more than once. `track` then returns the first."""
    chunks: tuple[Chunk, ...] = ()

    def track(self, kind: str) -> Track | None:
        """Return the first track of a kind, or None."""
        return next((track for track in self.tracks if track.kind == kind), None)


@dataclass(frozen=True, eq=False, slots=True)
class Track:
    """The keys of one animated quantity of a node."""

    kind: str
    """One of `TRACK_KINDS`."""
    frames: FrameArray
    """The frames in the order of the file, which may be unsorted, shape (n,). Two keys may share a frame."""
    values: Float32Array
    """Shape (n, d). POSITION, SCALE: x, y, z. COLOR: red, green, blue. ROTATION: angle in radians and axis x, y, z. The
    first key is absolute, and the others are turns from the previous key. FOV, ROLL, HOTSPOT, FALLOFF: degrees. MORPH,
    HIDE: d is 0."""
    key_flags: WordArray
    """Bits 0 to 4 mark the parameters of the key in the file, shape (n,). Other bits are unknown and are kept."""
    parameters: Float32Array
    """The rows tension, continuity, bias, ease to and ease from, with 0 for parameters that are missing from the file,
    shape (5, n)."""
    flags: int = 0
    """The flags of the track (u16). Bits 0 and 1 are the cycle. 0x8, 0x10 and 0x20 lock x, y and z, and 0x100, 0x200
    and 0x400 unlink them."""
    reserved: tuple[int, int] = (0, 0)
    """The two u32 before the number of keys. In some files, these numbers are the first and last frames. In others,
    both are 0."""
    names: tuple[bytes, ...] = ()
    """The object that each key of a MORPH track shows. Empty for other kinds."""

    @property
    def cycle(self) -> Cycle:
        """The motion of the track after its last key."""
        return _CYCLES.get(self.flags & 3, "SINGLE")


# Parents, found by the ids of nodes


def find_parents(
    ids: Sequence[int | None], parents: Sequence[int | None]
) -> tuple[tuple[int | None, ...], list[tuple[int, str]]]:
    """Return the index of each node's parent, and errors as pairs of a node index and a message.

    `ids` contains the ids of the nodes, and `parents` the ids of their parents. A node without an id uses its index as
    its id. A node whose parent is missing becomes a root. In a cycle of nodes, the first node in the file has no
    parent. If several nodes have the same id, the id refers to the first.
    """
    errors: list[tuple[int, str]] = []
    index_of_id: dict[int, int] = {}
    for index, node_id in enumerate(ids):
        ident = index if node_id is None else node_id
        first = index_of_id.setdefault(ident, index)
        if first != index:
            text = n_(
                "the id {:d} is also used by node {:d}, which becomes the parent of the children of {:d}",
                ident,
                first,
                ident,
            )
            errors.append((index, text))
    parent_indices: list[int | None] = []
    for index, parent in enumerate(parents):
        parent_index = None if parent is None else index_of_id.get(parent)
        if parent is not None and parent_index is None:
            errors.append((index, n_("the parent, id {:d}, is not in the file. Imported without a parent", parent)))
        parent_indices.append(parent_index)
    circular = n_("the node is its own ancestor. Imported without a parent")
    errors += [(node, circular) for node in _break_cycles(parent_indices)]
    return tuple(parent_indices), errors


def _break_cycles(parents: list[int | None]) -> list[int]:
    """Remove the parent of the first node of each cycle, and return these nodes."""
    nodes_without_parent = []
    is_done = [False] * len(parents)
    for start in range(len(parents)):
        path: dict[int, None] = {}
        node: int | None = start
        while node is not None and not is_done[node] and node not in path:
            path[node] = None
            node = parents[node]
        if node in path:
            ancestors = list(path)
            first = min(ancestors[ancestors.index(node) :])
            parents[first] = None
            nodes_without_parent.append(first)
        for ancestor in path:
            is_done[ancestor] = True
    return nodes_without_parent
