# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the animation in glTF 2.0 files (.gltf, .glb): nodes, animations, and curves with their tangents.

    file = gltf.read(path.read_bytes(), lambda name: (path.parent / name).read_bytes())

The formulas are from the glTF 2.0 specification.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gltf_document import Document, Fetch, Json, read_accessor
from .interp import Float64Array, n_, rotations
from .motion import (
    CONSTANT,
    CUBIC,
    LINEAR,
    VALUE_LIMIT,
    Curve,
    MotionError,
    MotionFile,
    Node,
    NodeMotion,
    Take,
    Track,
    find_cycle,
)

_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATION = {"STEP": CONSTANT, "LINEAR": LINEAR, "CUBICSPLINE": CUBIC}
_W_FIRST = [3, 0, 1, 2]
"""Columns that convert quaternions x, y, z, w to w, x, y, z."""
_TIME_LIMIT = 1e9
"""Seconds. Later times count as damage."""
_MAX_SHEAR = 1e-3
"""Largest cosine between the axes of a matrix that counts as unsheared."""
_MIN_QUATERNION = 1e-6
"""Shorter quaternions count as damage, because their direction is lost in rounding."""
_Y_UP = rotations.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0)
"""The rotation from glTF's axes to Blender's. The y axis becomes the z axis, and the z axis becomes the -y axis."""


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
    takes = tuple(_take(document, animation, len(nodes)) for animation in document.items("animations"))
    return MotionFile(nodes, takes, _Y_UP)


def _nodes(document: Document) -> tuple[Node, ...]:
    nodes = document.items("nodes")
    parents = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        for child in node.get("children", []).as_list():
            parents[child.as_index(len(nodes))] = i
    cyclic = find_cycle(parents)
    if cyclic is not None:
        raise MotionError(n_("nodes[{:d}] is its own ancestor", cyclic))
    return tuple(_node(document, node, i, parents[i]) for i, node in enumerate(nodes))


def _node(document: Document, node: Json, number: int, parent: int) -> Node:
    name = _name(document, node, number)
    if "matrix" in node.as_object():
        matrix = _numbers(node.get("matrix"), 16).reshape(4, 4).T
        return Node(name, parent, matrix[:3, 3], *_rotation_and_scale(matrix[:3, :3]))
    translation = _numbers(node.get("translation", [0.0] * 3), 3)
    rotation = _numbers(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), 4)
    scale = _numbers(node.get("scale", [1.0] * 3), 3)
    return Node(name, parent, translation, _unit(rotation[_W_FIRST]), scale)


def _rotation_and_scale(matrix: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the quaternion and the scale factors of a matrix (3, 3). A sheared matrix has no rotation."""
    scale = np.linalg.norm(matrix, axis=0)
    axes = matrix / np.where(scale > 0.0, scale, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes, scale = -axes, -scale
    is_sheared = np.abs(axes.T @ axes - np.eye(3)).max() > _MAX_SHEAR
    return rotations.from_matrix(np.eye(3) if is_sheared else axes), scale


def _name(document: Document, node: Json, number: int) -> str:
    """Return the name of a node, or the name that Blender's importer creates from its mesh or number."""
    name = node.get("name").value
    if name:
        return str(name)
    meshes = document.items("meshes")
    if "mesh" not in node.as_object() or not meshes:
        return f"Node_{number}"
    index = node.get("mesh").as_index(len(meshes))
    return str(meshes[index].get("name").value or f"Mesh_{index}")


def _numbers(array: Json, count: int) -> Float64Array:
    numbers: list[Any] = [item.value for item in array.as_list()]
    if len(numbers) != count or not all(type(n) in (int, float) and abs(n) < VALUE_LIMIT for n in numbers):
        raise MotionError(n_("{:s} must have {:d} numbers", array.name, count))
    return np.array(numbers, dtype=np.float64)


def _take(document: Document, animation: Json, node_count: int) -> Take:
    samplers = animation.get("samplers", []).as_list()
    tracks: dict[int, dict[str, Track]] = {}
    for channel in animation.get("channels", []).as_list():
        target = channel.get("target")
        path = target.get("path").value
        if "node" not in target.as_object() or not isinstance(path, str) or path not in _COMPONENTS:
            continue
        node = target.get("node").as_index(node_count)
        track = _track(document, samplers[channel.get("sampler").as_index(len(samplers))], path)
        # Like Blender's importer, use the first of several channels of one property.
        tracks.setdefault(node, {}).setdefault(path, track)
    motions = {
        node: NodeMotion({path: tracks_of_node[path] for path in _COMPONENTS if path in tracks_of_node})
        for node, tracks_of_node in tracks.items()
    }
    return Take(str(animation.get("name", "").value), motions)


def _track(document: Document, sampler: Json, path: str) -> Track:
    """Return the track of a sampler. glTF keys all components of a property together."""
    times, values, arriving, leaving, interpolation = _read_keys(document, sampler, path)
    if path == "rotation":
        lengths = np.linalg.norm(values, axis=1)
        if not (lengths > _MIN_QUATERNION).all():
            short = int(np.argmin(lengths))
            raise MotionError(n_("{:s}: key {:d} is a quaternion of zero length", sampler.name, short))
        # Of both signs of a quaternion, interpolate the one with the shorter turn.
        if interpolation == LINEAR:
            values = rotations.unroll_signs(_unit(values))
    components = zip(values.T, arriving.T, leaving.T, strict=True)
    curves = tuple(Curve.hermite(times, value, interpolation, before, after) for value, before, after in components)

    def evaluate(at: Float64Array) -> Float64Array:
        if path == "rotation" and interpolation == LINEAR and len(times) > 1:
            return _slerp(times, values, at)
        components_at = np.stack([curve(at) for curve in curves], axis=-1)
        return _unit(components_at) if path == "rotation" else components_at

    return Track(times, np.full(len(times), interpolation, dtype=np.uint8), evaluate, curves)


def _read_keys(
    document: Document, sampler: Json, path: str
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array, int]:
    """Return n times in seconds, values (n, d), slopes before and after the keys (n, d), and the interpolation.

    Quaternions are w, x, y, z. Raises MotionError if the keys are damaged.
    """
    name, components = sampler.name, _COMPONENTS[path]
    times = read_accessor(document, sampler.get("input"), 1)[:, 0]
    rows = read_accessor(document, sampler.get("output"), components)
    mode = sampler.get("interpolation", "LINEAR").value
    if not isinstance(mode, str) or mode not in _INTERPOLATION:
        raise MotionError(n_("{:s} has an unknown interpolation, {}", name, str(mode)[:40]))
    interpolation = _INTERPOLATION[mode]
    rows_per_key = 3 if interpolation == CUBIC else 1
    if not len(times) or len(rows) != rows_per_key * len(times):
        raise MotionError(n_("{:s} has {:d} keys but {:d} values", name, len(times), len(rows)))
    _check_keys(times, rows.reshape(len(times), -1), name)
    if path == "rotation":
        rows = rows[:, _W_FIRST]
    if interpolation == CUBIC:
        arriving, values, leaving = rows.reshape(-1, 3, components).swapaxes(0, 1)
        return times, values, arriving, leaving, interpolation
    return times, rows, np.zeros_like(rows), np.zeros_like(rows), interpolation


def _check_keys(times: Float64Array, values: Float64Array, name: str) -> None:
    """Raise MotionError unless all times and values, shape (n, m), are finite and the times increase."""
    is_valid = (np.abs(times) < _TIME_LIMIT) & (np.abs(values) < VALUE_LIMIT).all(axis=1)
    if not is_valid.all():
        raise MotionError(n_("{:s}: key {:d} is not a finite number", name, int(np.argmin(is_valid))))
    early = np.flatnonzero(np.diff(times) <= 0.0)
    if early.size:
        raise MotionError(n_("{:s}: key {:d} is not later than the previous key", name, int(early[0]) + 1))


def _slerp(key_times: Float64Array, quaternions: Float64Array, times: Float64Array) -> Float64Array:
    """Return the rotations between at least two keys at times (m,), held outside the keys."""
    key = np.clip(np.searchsorted(key_times, times, side="right") - 1, 0, len(key_times) - 2)
    fraction = np.clip((times - key_times[key]) / (key_times[key + 1] - key_times[key]), 0.0, 1.0)
    return rotations.slerp(quaternions[key], quaternions[key + 1], fraction)


def _unit(quaternions: Float64Array) -> Float64Array:
    """Return unit quaternions, with the identity for zero quaternions."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    is_zero = length == 0.0
    return np.where(is_zero, [1.0, 0.0, 0.0, 0.0], quaternions / np.where(is_zero, 1.0, length))
