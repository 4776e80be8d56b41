# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluate the matrices of a scene's objects, and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.benchmarks.checkout import module

kept_evaluated = module("exchange.exporting.samples").kept_evaluated

Float64Array = npt.NDArray[np.float64]

_SINGULAR = 1e-9
"""Matrices with a smaller determinant have no rotation."""


def matrices(scene: Any, frames: Sequence[float]) -> dict[str, Float64Array]:
    """Return the world matrices of the scene's objects, shape (frames, 4, 4), by name.

    A .3ds file contains directions only for spotlights, so other lights are omitted.
    """
    items = [item for item in scene.objects if item.type != "LIGHT" or item.data.type == "SPOT"]
    matrices_by_name: dict[str, list[Any]] = {item.name: [] for item in items}
    with kept_evaluated(items, scene):
        for frame in frames:
            scene.frame_set(int(frame))
            for item in items:
                matrices_by_name[item.name].append(np.array(item.matrix_world))
    return {name: np.array(matrices_at_frames) for name, matrices_at_frames in matrices_by_name.items()}


def deviations(pairs: Sequence[tuple[Float64Array, Float64Array]]) -> tuple[float, float]:
    """Return the largest difference in origins, relative to the size of the scene, and in axes, in degrees."""
    if not pairs:
        return 0.0, 0.0
    origins = np.concatenate([matrices_at_frames[:, :3, 3] for matrices_at_frames, _ in pairs])
    size = max(float(np.ptp(origins, axis=0).max()), float(np.abs(origins).max()), 1e-6)
    distance = max(float(np.linalg.norm(one[:, :3, 3] - two[:, :3, 3], axis=1).max()) for one, two in pairs)
    angle = max(float(angles_between(one, two).max()) for one, two in pairs)
    return distance / size, angle


def angles_between(one: Float64Array, two: Float64Array) -> Float64Array:
    """Return the angles between the rotations of matrices (n, 4, 4) in degrees, or 0 if a matrix is singular."""
    turns = _rotations_of(one) @ _rotations_of(two).transpose(0, 2, 1)
    # For small angles the skew part is more accurate than the trace.
    skew = np.stack([turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]])
    angles = np.degrees(np.arctan2(np.linalg.norm(skew, axis=0), np.trace(turns, axis1=1, axis2=2) - 1.0))
    determinants = [np.abs(np.linalg.det(each[:, :3, :3])) for each in (one, two)]
    return np.asarray(np.where(np.minimum(*determinants) < _SINGULAR, 0.0, angles), dtype=np.float64)


def _rotations_of(matrices: Float64Array) -> Float64Array:
    """Return the nearest rotations of matrices (n, 4, 4) without reflection, shape (n, 3, 3)."""
    left, _, right = np.linalg.svd(matrices[:, :3, :3])
    rotations = left @ right
    return np.asarray(rotations * np.sign(np.linalg.det(rotations))[:, None, None], dtype=np.float64)
