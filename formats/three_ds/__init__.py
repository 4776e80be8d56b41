# SPDX-License-Identifier: GPL-3.0-or-later
"""Reader and writer of 3D Studio files (.3ds): the scene, and the keyframer that animates it.

    scene = three_ds.read(path.read_bytes())
    for node in scene.nodes:
        position = node.track("POSITION")
    path.write_bytes(three_ds.write(scene))

Everything is in the file's own terms and units; nothing is converted. Data that is not modeled, such as materials,
viewports and smoothing groups, is kept as chunks, byte for byte and in its place. So a scene that is read and written
loses nothing that `Scene.warnings` does not name.
"""

from .chunks import Chunk, ReadWarning, ThreeDSError
from .reading import read
from .scene import (
    COMPONENTS,
    HIDDEN,
    NAME_LENGTH,
    NODE_KINDS,
    TARGET_KINDS,
    TRACK_KINDS,
    Camera,
    Editor,
    Header,
    Keyframer,
    Light,
    Mesh,
    Node,
    Object,
    Scene,
    Spotlight,
    Track,
)
from .writing import write

__all__ = [
    "COMPONENTS",
    "HIDDEN",
    "NAME_LENGTH",
    "NODE_KINDS",
    "TARGET_KINDS",
    "TRACK_KINDS",
    "Camera",
    "Chunk",
    "Editor",
    "Header",
    "Keyframer",
    "Light",
    "Mesh",
    "Node",
    "Object",
    "ReadWarning",
    "Scene",
    "Spotlight",
    "ThreeDSError",
    "Track",
    "read",
    "write",
]
