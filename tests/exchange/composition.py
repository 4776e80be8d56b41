# SPDX-License-Identifier: GPL-3.0-or-later
"""Compose a file's own tracks, pivots and mesh matrices in plain NumPy (docs/formulas, "3D Studio files").

Matrices are 4 x 4, for column vectors. The importer's code is not used.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np

from formats import three_ds
from tests.animation import reference

APART = 0.02
"""Distance in frames between keys that share a frame in the file."""


def frames_of(track: three_ds.Track) -> list[float]:
    frames = [float(frame) for frame in track.frames]
    for key in range(len(frames) - 2, -1, -1):
        if frames[key] >= frames[key + 1]:
            frames[key] = frames[key + 1] - APART
    return frames


def numbers(track: three_ds.Track, frame: float) -> np.ndarray:
    """Return the value of a track of values."""
    frames, parameters = frames_of(track), track.parameters.T.astype(float)
    return np.array(
        [
            reference.scalar(
                [(at, float(value), *more) for at, value, more in zip(frames, column, parameters, strict=True)],
                frame,
                track.cycle,
            )
            for column in track.values.T
        ]
    )


def orientations(track: three_ds.Track) -> list[np.ndarray]:
    """Return the orientations of keys that are relative to the previous key (docs/formulas, "Relative keys")."""
    q, result = np.array([1.0, 0.0, 0.0, 0.0]), []
    for angle, *axis in track.values.astype(float):
        if any(axis):
            q = reference.product(reference.of_axis_angle(-angle, axis), q)
        result.append(q)
    return result


def orientation(track: three_ds.Track, frame: float) -> np.ndarray:
    keys = [
        reference.Key(at, tuple(q), *parameters)
        for at, q, parameters in zip(
            frames_of(track), orientations(track), track.parameters.T.astype(float), strict=True
        )
    ]
    return reference.rotation(keys, frame, track.cycle, shortest=False)


def matrix_of(q: np.ndarray) -> np.ndarray:
    w, (x, y, z) = q[0], q[1:]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def look(position: np.ndarray, target: np.ndarray, roll: float) -> np.ndarray:
    """Return the right, up and back axes of a node that faces a target, with a roll (degrees, left side down)."""
    back = (position - target) / np.linalg.norm(position - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    c, s = math.cos(math.radians(roll)), math.sin(math.radians(roll))
    return np.column_stack((c * right + s * up, c * up - s * right, back))


class Composition:
    """The nodes of a scene at any frame. Results are cached."""

    def __init__(self, scene: three_ds.Scene) -> None:
        assert scene.keyframer is not None
        self.scene = scene
        self.parents = scene.keyframer.parents()
        self.world = functools.cache(self._world)
        self.places = {(node.kind, node.name): index for index, node in enumerate(scene.nodes)}

    def target(self, node: three_ds.Node) -> int | None:
        kind = {"CAMERA": "CAMERA_TARGET", "SPOTLIGHT": "LIGHT_TARGET"}.get(node.kind)
        return None if kind is None else self.places.get((kind, node.name))

    def _world(self, index: int, frame: float) -> np.ndarray:
        node = self.scene.nodes[index]
        local = np.eye(4)
        for kind in ("POSITION", "ROTATION", "SCALE"):
            track = node.track(kind)
            if track is None or not len(track.frames):
                continue
            step = np.eye(4)
            if kind == "POSITION":
                step[:3, 3] = numbers(track, frame)
            elif kind == "ROTATION":
                step[:3, :3] = matrix_of(orientation(track, frame))
            else:
                step[:3, :3] = np.diag(numbers(track, frame))
            local = local @ step
        parent = self.parents[index]
        world = local if parent is None else self.world(parent, frame) @ local
        target = self.target(node)
        if target is not None:
            roll = node.track("ROLL")
            angle = 0.0 if roll is None or not len(roll.frames) else float(numbers(roll, frame)[0])
            world[:3, :3] = look(world[:3, 3], self.world(target, frame)[:3, 3], angle)
        return world

    def key_frames(self) -> list[int]:
        """Return all frames at which any track has a key."""
        return sorted({int(f) for node in self.scene.nodes for track in node.tracks for f in track.frames})

    def vertices(self, index: int, frame: float) -> np.ndarray:
        """Return a mesh node's world vertices (n, 3): N T(-pivot) M^-1 v, mirrored along x if only M is mirrored."""
        node = self.scene.nodes[index]
        mesh = next(item.content for item in self.scene.objects if item.name == node.name)
        points = np.column_stack((mesh.vertices.astype(float), np.ones(len(mesh.vertices))))
        matrix = np.eye(4)
        matrix[:3] = mesh.matrix.astype(float).T
        points = points @ np.linalg.inv(matrix).T
        if np.linalg.det(matrix) < 0 < np.linalg.det(self.world(index, 0)):
            points[:, 0] *= -1
        if node.pivot is not None:
            points[:, :3] -= node.pivot
        return (points @ self.world(index, frame).T)[:, :3]


@functools.cache
def composition_of(path: Path) -> Composition:
    """Return the composition of a file, cached for all tests."""
    return Composition(three_ds.read(path.read_bytes()))
