# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry that an import and an export handle in the same way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import BoolArray

GEOMETRY = ("MESH", "CURVE", "SURFACE", "META", "FONT")
"""Types of objects with geometry."""


def valid_faces(faces: npt.NDArray[np.integer]) -> tuple[BoolArray, Counter[str]]:
    """Return a mask of valid, unique triangles (n, 3), and the counts of the others.

    Vertex indices have 16 bits, so a triangle's three indices fit in one number.
    """
    a, b, c = np.sort(faces, axis=1).astype(np.int64).T
    triangles = np.flatnonzero((a < b) & (b < c))
    _, first = np.unique((a << 32 | b << 16 | c)[triangles], return_index=True)
    is_valid = np.zeros(len(faces), dtype=np.bool_)
    is_valid[triangles[first]] = True
    return is_valid, Counter(degenerate_face=len(faces) - len(triangles), doubled_face=len(triangles) - len(first))
