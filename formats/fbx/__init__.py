# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the animation in binary FBX files of version 7: models, stacks, layers, and curves with tangents.

    file = fbx.read(path.read_bytes())

The sources are files, Autodesk's documentation of the SDK classes, and the public source code of ufbx. The tests
compare the results with ufbx.
"""

from .reading import read

__all__ = ["read"]
