# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the path element under the mouse: a key, the end of a tangent, or the path between keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...animation.on_path.points import Spot, Vector
from .paths import Path, Trace

_KEY, _TIP, _LINE = 10.0, 8.0, 7.0
"""Hit distances in pixels for a key, the end of a tangent and a path, at a display scale of 1."""
_KEYS_FIRST, _THEN_TIPS, _THEN_PATHS = range(3)
"""Order in which elements within reach of the mouse are picked."""
_LEAST_SQUARE = 1e-12
"""Minimum squared length of a segment in pixels, to avoid division by 0 for segments seen end-on."""

Part = Literal["KEY", "PATH", "handle_left", "handle_right"]
"""Element of a path. A handle is the end of the incoming or outgoing tangent."""

Places = npt.NDArray[np.float64]


class Shown(NamedTuple):
    """A drawn path."""

    item: Any
    bone: str
    trace: Trace
    path: Path
    view: npt.NDArray[np.float64] | None = None
    """Matrix from the path's space to the drawn world space, shape (4, 4), or None if the path is in world space."""

    def to_screen(self, view: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the matrix from the path to the screen. `view`: matrix of the viewport."""
        matrix = np.array(view, dtype=np.float64)
        return matrix if self.view is None else matrix @ self.view

    def world_at(self, row: int) -> npt.NDArray[np.float64]:
        """Return the matrix from the path's space to world space at the frame of a key."""
        return np.eye(4) if self.path.views is None else self.path.views[row]


class Picked(NamedTuple):
    """Path, key or tangent under the mouse."""

    thing: tuple[int, str]
    """The object's `session_uid`, and the name of its bone or ""."""
    part: Part
    row: int
    """Row of the key, or -1 for the path itself."""
    frame: float

    def spot(self, scene: Any, shown: Shown) -> Spot:
        """Return the spot on the path, at any frame."""
        return Spot(scene, shown.item, shown.bone, shown.trace, self.frame, shown.trace.defaults)


def pick(
    every: Sequence[Shown], to_screen: npt.ArrayLike, size: tuple[int, int], mouse: tuple[float, float], scale: float
) -> tuple[Picked, Shown] | None:
    """Return the closest element within reach of the mouse. Keys precede tangents, and tangents precede paths.

    `to_screen`: matrix of the view. `size`: size of the region, in pixels.
    """
    found: list[tuple[int, float, Picked, Shown]] = []
    at = np.array(mouse)
    for shown in every:
        path, thing, view = shown.path, (shown.item.session_uid, shown.bone), shown.to_screen(to_screen)
        for rank, part, points, reach in _parts(path):
            away = np.linalg.norm(on_screen(points, view, size) - at, axis=1)
            for row in np.flatnonzero(away <= reach * scale).tolist():
                found.append((rank, float(away[row]), Picked(thing, part, row, float(path.frames[row])), shown))
        frame, off = frame_near(path, view, size, mouse)
        if off <= _LINE * scale:
            found.append((_THEN_PATHS, off, Picked(thing, "PATH", -1, frame), shown))
    nearest = min(found, key=lambda each: each[:2], default=None)
    return None if nearest is None else nearest[2:]


def frame_near(
    path: Path, to_screen: npt.ArrayLike, size: tuple[int, int], mouse: tuple[float, float]
) -> tuple[float, float]:
    """Return the frame at which the path is closest to the mouse, and the distance in pixels."""
    places = on_screen(path.points, to_screen, size)
    if len(places) < 2:
        return float(path.start), np.inf
    starts, along, at = places[:-1], np.diff(places, axis=0), np.array(mouse)
    square = np.maximum((along**2).sum(axis=1), _LEAST_SQUARE)
    part = np.clip(((at - starts) * along).sum(axis=1) / square, 0.0, 1.0)
    away = np.linalg.norm(starts + part[:, np.newaxis] * along - at, axis=1)
    away[[rows.start - 1 for rows in path.stretches()[1:]]] = np.nan
    if not np.isfinite(away).any():
        return float(path.start), np.inf
    row = int(np.nanargmin(away))
    return path.start + row + float(part[row]), float(away[row])


def on_screen(points: npt.ArrayLike, to_screen: npt.ArrayLike, size: tuple[int, int]) -> Places:
    """Return the pixel positions of points (n, 3) in the region, shape (n, 2). Points behind the view are NaN."""
    homogeneous = np.concatenate((np.asarray(points, dtype=np.float64), np.ones((len(np.asarray(points)), 1))), axis=1)
    x, y, _, w = np.array(to_screen, dtype=np.float64) @ homogeneous.T
    ahead = np.where(w > 0.0, w, np.nan)
    places: Places = (np.stack((x, y), axis=1) / ahead[:, np.newaxis] + 1.0) / 2.0 * np.array(size)
    return places


def end_of(path: Path, picked: Picked) -> Vector:
    """Return the position of a key or of the end of its tangent."""
    at: Vector = path.keys[picked.row].astype(np.float64)
    return at + tangent_of(path, picked)


def tangent_of(path: Path, picked: Picked) -> Vector:
    """Return the vector from a key to the end of its tangent, or 0 if the key itself was picked."""
    tangents = {"handle_left": path.incoming, "handle_right": path.outgoing}
    if picked.part not in tangents:
        return np.zeros(3)
    tangent: Vector = tangents[picked.part][picked.row].astype(np.float64)
    return tangent


def _parts(path: Path) -> list[tuple[int, Part, Places, float]]:
    """Return the elements that can be hit, with their precedence. Tangents without a segment are excluded."""
    left, right = (
        np.where((reach > 0.0)[:, np.newaxis], path.keys + tangent, np.nan)
        for tangent, reach in zip((path.incoming, path.outgoing), path.reach, strict=True)
    )
    return [
        (_KEYS_FIRST, "KEY", path.keys.astype(np.float64), _KEY),
        (_THEN_TIPS, "handle_left", left, _TIP),
        (_THEN_TIPS, "handle_right", right, _TIP),
    ]
