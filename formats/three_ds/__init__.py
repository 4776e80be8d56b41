# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write 3D Studio files (.3ds): the scene, and the keyframer that animates it.

    scene = three_ds.read(path.read_bytes())
    for node in scene.nodes:
        position = node.track("POSITION")
    path.write_bytes(three_ds.write(scene))

All data uses the terms and units of the file without conversion. Data that is not modeled, such as materials, viewports
and smoothing groups, is kept as chunks, byte for byte and in place. Reading and writing a scene therefore loses nothing
except data named in `Scene.warnings`.
"""

from .binary import Chunk, ReadWarning, ThreeDSError
from .reading import read
from .scene import (
    COMPONENTS,
    HIDDEN,
    NAME_LENGTH,
    TARGET_KINDS,
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
    "TARGET_KINDS",
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
