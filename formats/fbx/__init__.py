# SPDX-License-Identifier: GPL-3.0-or-later
"""Reader of the animation in binary FBX files, versions 7.1 to 7.7: models, stacks, layers, and curves with tangents.

    file = fbx.read(path.read_bytes())

What the format means was learned from files, Autodesk's documentation of the SDK's classes, and the public source of
ufbx, with whose values the tests compare.
"""

from .binary import FbxError
from .reading import read

__all__ = ["FbxError", "read"]
