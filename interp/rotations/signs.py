# SPDX-License-Identifier: GPL-3.0-or-later
"""The signs of quaternions, which determine the arcs between keys.

Source: docs/formulas, "Signs and paths" and "Signs in a loop".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..key_batch import KeyBatch
from ..keys import Float64Array
from . import sphere
from .base_rotation_spline import OrientationSpline


def signed_quaternions(splines: Sequence[OrientationSpline], tracks: KeyBatch) -> Float64Array:
    """Return the quaternions (4, K) of keys, with the signs for which the arcs between them follow the path."""
    counts = tracks.last - tracks.first + 1
    is_shortest = np.repeat([spline.path == "SHORTEST" for spline in splines], counts)
    flips = np.ones(len(tracks.frames))
    dots = np.einsum("ij,ij->i", tracks.values[1:], tracks.values[:-1])
    flips[1:][is_shortest[1:] & (dots < 0.0)] = -1.0
    flips[tracks.first] = 1.0
    signs = np.cumprod(flips)
    # The product runs over all tracks, so it is restarted at each track's first key.
    signs *= np.repeat(signs[tracks.first], counts)
    return tracks.columns * signs


def neighbors(tracks: KeyBatch, q: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the quaternions before and after each key, with the signs for arcs across the seam of a loop."""
    before, after = q[:, tracks.previous], q[:, tracks.following]
    start, end = tracks.first[tracks.looped], tracks.last[tracks.looped]
    seam = np.where(sphere.dot(q[:, start], q[:, end]) < 0.0, -1.0, 1.0)
    before[:, start] *= seam
    after[:, end] *= seam
    return before, after
