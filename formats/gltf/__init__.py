# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the animation in glTF 2.0 files (.gltf, .glb): nodes, animations, and curves with their tangents.

    file = gltf.read(path.read_bytes(), lambda name: (path.parent / name).read_bytes())

The formulas are from the glTF 2.0 specification.
"""

from .reading import read

__all__ = ["read"]
