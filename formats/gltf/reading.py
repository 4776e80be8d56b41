# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and animations of a glTF file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..interp import Float64Array, n_, rotations
from ..motion import CONSTANT, CUBIC, LINEAR, Curve, MotionError, MotionFile, Node, NodeMotion, Take, Track, find_cycle
from .accessors import read_accessor
from .containers import Document, Fetch

_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATION = {"STEP": CONSTANT, "LINEAR": LINEAR, "CUBICSPLINE": CUBIC}
_W_FIRST = [3, 0, 1, 2]
_Y_UP = rotations.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0)
"""The rotation from glTF's axes to Blender's. The y axis of glTF is Blender's z axis, and glTF's z axis is Blender's -y
axis."""


def read(data: bytes, fetch: Fetch | None = None) -> MotionFile:
    """Return the nodes and animations of a .gltf or .glb file.

    Parameters
    ----------
    data : bytes
        The file.
    fetch : callable, optional
        A function that returns the content of an external file, by name. By default, only buffers within the file are
        read.

    Raises
    ------
    MotionError
        If the file is damaged, or a buffer that its animations use is missing.
    """
    document = Document(data, fetch)
    nodes = _nodes(document)
    animations = document.items("animations")
    takes = [
        _take(document, document.object(value, f"animations[{i}]"), i, len(nodes)) for i, value in enumerate(animations)
    ]
    return MotionFile(nodes, tuple(takes), _Y_UP)


def _nodes(document: Document) -> tuple[Node, ...]:
    values = document.items("nodes")
    entries = [document.object(value, f"nodes[{i}]") for i, value in enumerate(values)]
    parents = [-1] * len(entries)
    for i, entry in enumerate(entries):
        for child in document.list(entry.get("children", []), f"nodes[{i}].children"):
            parents[document.index(child, len(entries), f"nodes[{i}].children")] = i
    cyclic = find_cycle(parents)
    if cyclic is not None:
        raise MotionError(n_("nodes[{:d}] is its own ancestor", cyclic))
    return tuple(_node(document, entry, i, parents[i]) for i, entry in enumerate(entries))


def _node(document: Document, entry: Mapping[str, Any], number: int, parent: int) -> Node:
    what = f"nodes[{number}]"
    name = _name(document, entry, number)
    if "matrix" in entry:
        matrix = _numbers(document, entry["matrix"], 16, f"{what}.matrix").reshape(4, 4).T
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        unit = matrix[:3, :3] / np.where(scale > 0.0, scale, 1.0)
        if np.linalg.det(unit) < 0.0:
            unit, scale = -unit, -scale
        if np.abs(unit.T @ unit - np.eye(3)).max() > 1e-3:
            unit = np.eye(3)
        return Node(name, parent, matrix[:3, 3], rotations.from_matrix(unit), scale)
    translation, rotation, scale = (
        _numbers(document, entry.get(key, default), len(default), f"{what}.{key}")
        for key, default in (("translation", [0.0] * 3), ("rotation", [0.0, 0.0, 0.0, 1.0]), ("scale", [1.0] * 3))
    )
    return Node(name, parent, translation, _unit(rotation[np.newaxis, _W_FIRST])[0], scale)


def _name(document: Document, entry: Mapping[str, Any], number: int) -> str:
    """Return the name of a node, or the name that Blender's importer creates from its mesh or number."""
    if entry.get("name"):
        return str(entry["name"])
    meshes = document.items("meshes")
    if "mesh" not in entry or not meshes:
        return f"Node_{number}"
    index = document.index(entry["mesh"], len(meshes), f"nodes[{number}].mesh")
    mesh = document.object(meshes[index], f"meshes[{index}]")
    return str(mesh.get("name") or f"Mesh_{index}")


def _numbers(document: Document, value: object, count: int, what: str) -> Float64Array:
    numbers = document.list(value, what)
    if len(numbers) != count or not all(type(number) in (int, float) and abs(number) < 1e30 for number in numbers):
        raise MotionError(n_("{:s} must have {:d} numbers", what, count))
    return np.array(numbers, dtype=np.float64)


def _take(document: Document, animation: Mapping[str, Any], number: int, nodes: int) -> Take:
    name = f"animations[{number}]"
    samplers = document.list(animation.get("samplers", []), f"{name}.samplers")
    tracks: dict[int, dict[str, Track]] = {}
    for i, value in enumerate(document.list(animation.get("channels", []), f"{name}.channels")):
        what = f"{name}.channels[{i}]"
        channel = document.object(value, what)
        target = document.object(channel.get("target"), f"{what}.target")
        path = target.get("path")
        if "node" not in target or not isinstance(path, str) or path not in _COMPONENTS:
            continue
        node = document.index(target["node"], nodes, f"{what}.target.node")
        sampler = samplers[document.index(channel.get("sampler"), len(samplers), f"{what}.sampler")]
        track = _track(document, document.object(sampler, f"{what}.sampler"), path, what)
        # Like Blender's importer, use the first of several channels of one property.
        tracks.setdefault(node, {}).setdefault(path, track)
    return Take(str(animation.get("name", "")), {node: NodeMotion(**paths) for node, paths in tracks.items()})


def _track(document: Document, sampler: Mapping[str, Any], path: str, what: str) -> Track:
    """Return the track of a sampler. glTF keys all components of a property together."""
    components = _COMPONENTS[path]
    times = read_accessor(document, sampler.get("input"), 1, f"{what}.input")[:, 0]
    values = read_accessor(document, sampler.get("output"), components, f"{what}.output")
    mode = sampler.get("interpolation", "LINEAR")
    if not isinstance(mode, str) or mode not in _INTERPOLATION:
        raise MotionError(n_("{:s} has an unknown interpolation, {}", what, str(mode)[:40]))
    kind = _INTERPOLATION[mode]
    each = 3 if kind == CUBIC else 1
    if not len(times) or len(values) != each * len(times):
        raise MotionError(n_("{:s} has {:d} keys but {:d} values", what, len(times), len(values)))
    faults = ~(np.isfinite(times) & (np.abs(times) < 1e9) & (np.abs(values).reshape(len(times), -1) < 1e30).all(axis=1))
    if faults.any():
        raise MotionError(n_("{:s}: key {:d} is not a finite number", what, int(np.argmax(faults))))
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if late.size:
        raise MotionError(n_("{:s}: key {:d} is not later than the previous key", what, int(late[0]) + 1))
    if path == "rotation":
        values = values[:, _W_FIRST]
    arriving, values, leaving = (
        values.reshape(-1, 3, components).swapaxes(0, 1) if kind == CUBIC else (0 * values, values, 0 * values)
    )
    if path == "rotation" and not (np.linalg.norm(values, axis=1) > 1e-6).all():
        raise MotionError(
            n_("{:s}: key {:d} is a quaternion of zero length", what, int(np.argmin(np.abs(values).sum(axis=1))))
        )
    if kind == LINEAR and path == "rotation":
        values = rotations.unroll_signs(_unit(values))
    curves = tuple(Curve.hermite(times, values[:, j], kind, arriving[:, j], leaving[:, j]) for j in range(components))

    def evaluate(at: Float64Array) -> Float64Array:
        if path == "rotation" and kind == LINEAR and len(times) > 1:
            row = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
            share = np.clip((at - times[row]) / (times[row + 1] - times[row]), 0.0, 1.0)
            return rotations.slerp(values[row], values[row + 1], share)
        numbers = np.stack([curve(at) for curve in curves], axis=-1)
        return _unit(numbers) if path == "rotation" else numbers

    return Track(times, np.full(len(times), kind, dtype=np.uint8), evaluate, curves)


def _unit(q: Float64Array) -> Float64Array:
    """Return unit quaternions, with the identity for zero quaternions."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > 0.0, q / np.where(length > 0.0, length, 1.0), [1.0, 0.0, 0.0, 0.0])
