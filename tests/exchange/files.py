# SPDX-License-Identifier: GPL-3.0-or-later
"""Files to import, built by short calls."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from formats import three_ds

Row = tuple[float, ...]


def track(kind: str, *rows: Row, flags: int = 0, parameters: dict[int, Row] | None = None) -> three_ds.Track:
    """Return a track of keys (frame, value…).

    `parameters` contains tension, continuity, bias, ease to and ease from of some keys, by index.
    """
    given = np.zeros((5, len(rows)), np.float32)
    for key, numbers in (parameters or {}).items():
        given[:, key] = numbers
    key_flags = (given.astype(bool) * (1 << np.arange(5))[:, np.newaxis]).sum(axis=0).astype(np.uint16)
    names = tuple(str(row[1]).encode() for row in rows) if kind == "MORPH" else ()
    values = np.array([() if names else row[1:] for row in rows], np.float32).reshape(len(rows), -1)
    frames = np.array([row[0] for row in rows], np.int32)
    return three_ds.Track(kind, frames, values, key_flags, given, flags, names=names)


def box(name: bytes, matrix: np.ndarray | None = None) -> three_ds.Object:
    """Return a mesh with eight different corners, transformed by the matrix (4, 4)."""
    corners = np.array(np.meshgrid([0, 1], [0, 2], [0, 3])).reshape(3, -1).T.astype(float)
    placed = np.eye(4) if matrix is None else matrix
    points = corners @ placed[:3, :3].T + placed[:3, 3]
    faces = np.array([[0, 1, 2], [3, 2, 1], [4, 6, 7]], np.uint16)
    mesh = three_ds.Mesh(
        points.astype(np.float32),
        faces,
        np.full(3, 7, np.uint16),
        np.linspace(0, 1, 16, dtype=np.float32).reshape(8, 2),
        placed[:3].T.astype(np.float32),
    )
    return three_ds.Object(name, mesh)


def camera(name: bytes) -> three_ds.Object:
    return three_ds.Object(name, three_ds.Camera(np.zeros(3, np.float32), np.ones(3, np.float32)))


def spotlight(name: bytes) -> three_ds.Object:
    spot = three_ds.Spotlight(np.ones(3, np.float32), 30.0, 40.0)
    return three_ds.Object(name, three_ds.Light(np.zeros(3, np.float32), spotlight=spot))


def object_name(node: three_ds.Node) -> bytes | None:
    """Return the name of the animated object. For a dummy, it is the instance name."""
    return node.instance_name if node.name == b"$$$DUMMY" else node.name


def scene(
    *nodes: three_ds.Node, objects: tuple[three_ds.Object, ...] = (), segment: tuple[int, int] | None = None
) -> three_ds.Scene:
    return three_ds.Scene(three_ds.Editor(objects), three_ds.Keyframer(nodes, segment=segment))


def save(path: Path, made: three_ds.Scene) -> str:
    path.write_bytes(three_ds.write(made))
    return str(path)
