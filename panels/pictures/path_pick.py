# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the path element under the mouse: a key, the end of a tangent, or the path between keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...animation.on_path.path_keys import Spot, Vector
from .path_geometry import Path, Trace

# Hit distances in pixels, at a display scale of 1.
_KEY_REACH = 10.0
_TANGENT_REACH = 8.0
_PATH_REACH = 7.0

_KEYS_FIRST, _THEN_TANGENTS, _THEN_PATHS = range(3)
"""Order in which elements within reach of the mouse are picked."""
_MIN_SQUARE = 1e-12
"""Minimum squared length of a segment in pixels, to avoid division by 0 for segments seen end-on."""

Part = Literal["KEY", "PATH", "handle_left", "handle_right"]
"""Element of a path. A handle is the end of the incoming or outgoing tangent."""
SIDES: tuple[Part, Part] = ("handle_left", "handle_right")
"""Tangents, in the order of `Path.tangents`."""

Positions = npt.NDArray[np.float64]


class DrawnPath(NamedTuple):
    """A path in a viewport."""

    obj: Any
    bone: str
    trace: Trace
    path: Path
    path_to_world: npt.NDArray[np.float64] | None = None
    """Matrix from the path's space to the drawn world space, shape (4, 4), or None if the path is in world space."""

    @property
    def owner(self) -> tuple[int, str]:
        """Return the object's `session_uid`, and the name of its bone or ""."""
        return self.obj.session_uid, self.bone

    def screen_matrix(self, perspective: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the matrix from the path to the screen, for the perspective matrix of a viewport."""
        world_to_screen = np.array(perspective, dtype=np.float64)
        return world_to_screen if self.path_to_world is None else world_to_screen @ self.path_to_world

    def world_at(self, row: int) -> npt.NDArray[np.float64]:
        """Return the matrix from the path's space to world space at the frame of a key."""
        return np.eye(4) if self.path.views is None else self.path.views[row]


class Picked(NamedTuple):
    """Path, key or tangent under the mouse."""

    owner: tuple[int, str]
    """The object's `session_uid`, and the name of its bone or ""."""
    part: Part
    row: int | None
    """Row of the key, or None for the path itself."""
    frame: float

    def spot(self, scene: Any, drawn: DrawnPath) -> Spot:
        """Return the point of the path at the picked frame, which may have no key."""
        return Spot(scene, drawn.obj, drawn.bone, drawn.trace, self.frame, drawn.trace.defaults)


def pick(
    drawn_paths: Sequence[DrawnPath],
    perspective: npt.ArrayLike,
    size: tuple[int, int],
    mouse: tuple[float, float],
    scale: float,
) -> tuple[Picked, DrawnPath] | None:
    """Return the closest element within reach of the mouse. Keys precede tangents, and tangents precede paths.

    `perspective`: perspective matrix of the viewport. `size`: size of the region, in pixels. `scale`: display scale.
    """
    candidates: list[tuple[int, float, Picked, DrawnPath]] = []
    for drawn in drawn_paths:
        path, path_to_screen = drawn.path, drawn.screen_matrix(perspective)
        targets: list[tuple[int, Part, npt.NDArray[Any], float]] = [(_KEYS_FIRST, "KEY", path.keys, _KEY_REACH)]
        for side, tangents, reach_of_side in zip(SIDES, path.tangents, path.reach, strict=True):
            # The end of a tangent without a segment is NaN, which no mouse position is close to.
            ends = np.where((reach_of_side > 0.0)[:, np.newaxis], path.keys + tangents, np.nan)
            targets.append((_THEN_TANGENTS, side, ends, _TANGENT_REACH))
        for rank, part, points, reach in targets:
            distances = np.linalg.norm(on_screen(points, path_to_screen, size) - np.array(mouse), axis=1)
            for row in np.flatnonzero(distances <= reach * scale).tolist():
                picked = Picked(drawn.owner, part, row, float(path.frames[row]))
                candidates.append((rank, float(distances[row]), picked, drawn))
        frame, distance = frame_near(path, path_to_screen, size, mouse)
        if distance <= _PATH_REACH * scale:
            candidates.append((_THEN_PATHS, distance, Picked(drawn.owner, "PATH", None, frame), drawn))
    closest = min(candidates, key=lambda candidate: candidate[:2], default=None)
    return None if closest is None else closest[2:]


def frame_near(
    path: Path, path_to_screen: npt.ArrayLike, size: tuple[int, int], mouse: tuple[float, float]
) -> tuple[float, float]:
    """Return the frame at which the path is closest to the mouse, and the distance in pixels."""
    positions = on_screen(path.points, path_to_screen, size)
    if len(positions) < 2:
        return float(path.start), np.inf
    starts, chords = positions[:-1], np.diff(positions, axis=0)
    from_starts = np.array(mouse) - starts
    squares = np.maximum((chords**2).sum(axis=1), _MIN_SQUARE)
    fractions = np.clip((from_starts * chords).sum(axis=1) / squares, 0.0, 1.0)
    distances = np.linalg.norm(starts + fractions[:, np.newaxis] * chords - np.array(mouse), axis=1)
    # The path is not drawn across a camera cut.
    distances[[rows.start - 1 for rows in path.stretches()[1:]]] = np.nan
    if not np.isfinite(distances).any():
        return float(path.start), np.inf
    row = int(np.nanargmin(distances))
    return path.start + row + float(fractions[row]), float(distances[row])


def on_screen(points: npt.ArrayLike, path_to_screen: npt.ArrayLike, size: tuple[int, int]) -> Positions:
    """Return the pixel positions of points (n, 3) in the region, shape (n, 2). Points behind the view are NaN."""
    positions = np.asarray(points, dtype=np.float64)
    homogeneous = np.concatenate((positions, np.ones((len(positions), 1))), axis=1)
    x, y, _, w = np.array(path_to_screen, dtype=np.float64) @ homogeneous.T
    depth = np.where(w > 0.0, w, np.nan)
    pixels: Positions = (np.stack((x, y), axis=1) / depth[:, np.newaxis] + 1.0) / 2.0 * np.array(size)
    return pixels


def picked_position(path: Path, picked: Picked) -> Vector:
    """Return the position of a key or of the end of its tangent, in the path's space."""
    key: Vector = path.keys[picked.row].astype(np.float64)
    return key + tangent_of(path, picked)


def tangent_of(path: Path, picked: Picked) -> Vector:
    """Return the vector from a key to the end of its tangent, or 0 if the key itself was picked."""
    if picked.part not in SIDES:
        return np.zeros(3)
    tangent: Vector = path.tangents[SIDES.index(picked.part), picked.row].astype(np.float64)
    return tangent
