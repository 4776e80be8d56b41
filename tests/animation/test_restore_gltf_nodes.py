# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore Curves on glTF nodes that each animate a single property in a separate animation.

InterpolationTest by Khronos has this layout: steps, lines and cubic splines of scale, rotation and translation. A node
with only scale has no rotation from which its axes could be determined.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from tests.animation.imported import PLACES, imported, played

FRAMES = np.array([1.0, 10.0, 20.0, 30.0, 40.0])
REST = {"translation": [3.3, 6.7, 0.01], "rotation": [0.0, 0.0, -0.28, 0.96]}
"""The transforms of nodes that their animation does not change."""
RATE = 24.0
Interpolation = str
Keys = tuple[np.ndarray, np.ndarray]
"""Values, shape (5, n), and tangents per second before and after each key, shape (2, 5, n)."""


def random_keys(path: str, rng: np.random.Generator) -> Keys:
    if path == "rotation":
        turns = Rotation.from_rotvec(rng.normal(size=(5, 3)) * 0.2).as_quat()
        return turns, rng.normal(size=(2, 5, 4)) * 0.1
    return (1.0 if path == "scale" else 0.0) + rng.random((5, 3)), rng.normal(size=(2, 5, 3))


def expected(path: str, interpolation: Interpolation, keys: Keys) -> np.ndarray:
    """Return the motion at PLACES according to the glTF specification, in Blender's axes, shape (n, frames)."""
    values, tangents = keys
    frames = np.clip(PLACES, FRAMES[0], FRAMES[-1])
    if interpolation == "STEP":
        motion = values[np.searchsorted(FRAMES, frames, side="right") - 1]
    elif interpolation == "LINEAR" and path == "rotation":
        motion = Slerp(FRAMES, Rotation.from_quat(values))(frames).as_quat()
    elif interpolation == "LINEAR":
        motion = np.stack([np.interp(frames, FRAMES, column) for column in values.T], axis=1)
    else:
        motion = np.empty((len(frames), values.shape[1]))
        for first in range(4):
            pair = slice(first, first + 2)
            slopes = np.stack((tangents[1, first], tangents[0, first + 1])) / RATE
            inside = (frames >= FRAMES[first]) & (frames <= FRAMES[first + 1])
            motion[inside] = CubicHermiteSpline(FRAMES[pair], values[pair], slopes)(frames[inside])
    x, y, z = motion.T[:3]
    if path != "rotation":
        return np.stack((x, -z if path == "translation" else z, y))
    quaternions = np.stack((motion[:, 3], x, -z, y))
    return quaternions * np.sign(quaternions[0]) / np.linalg.norm(quaternions, axis=0)


def write(file: Path, every: dict[tuple[str, str], Keys]) -> Path:
    """Write a file with a node and an animation for each property and interpolation."""
    data = b""
    views: list[dict[str, int]] = []
    accessors: list[dict[str, Any]] = []

    def add(numbers: np.ndarray, kind: str) -> int:
        nonlocal data
        stored = numbers.astype(np.float32)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": stored.nbytes})
        data += stored.tobytes()
        limits = {"min": [float(stored.min())], "max": [float(stored.max())]} if kind == "SCALAR" else {}
        count = stored.size // {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[kind]
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "count": count, "type": kind, **limits})
        return len(accessors) - 1

    nodes, animations = [], []
    for (path, interpolation), (values, tangents) in every.items():
        is_cubic = interpolation == "CUBICSPLINE"
        output = np.stack((tangents[0], values, tangents[1]), axis=1) if is_cubic else values
        sampler = {
            "input": add(FRAMES / RATE, "SCALAR"),
            "interpolation": interpolation,
            "output": add(output, "VEC4" if path == "rotation" else "VEC3"),
        }
        name = f"{interpolation} {path}"
        target = {"node": len(nodes), "path": path}
        nodes.append({"name": name, **{kind: rest for kind, rest in REST.items() if kind != path}})
        animations.append({"name": name, "samplers": [sampler], "channels": [{"sampler": 0, "target": target}]})
    buffer = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    scene = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "animations": animations,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": buffer}],
    }
    file.write_text(json.dumps(scene), encoding="utf-8")
    return file


@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_animate_one_property_play_the_files_curves(animation: Any, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = {
        (path, interpolation): random_keys(path, rng)
        for path in ("scale", "rotation", "translation")
        for interpolation in ("STEP", "LINEAR", "CUBICSPLINE")
    }
    file = write(tmp_path / "nodes.gltf", every)
    objects = imported(file)
    report = animation.restore_curves(file, bpy.data.objects)
    assert (report.tracks, report.keys, report.errors) == (9, 45, [])
    for (path, interpolation), keys in every.items():
        (motion,) = played(objects[f"{interpolation} {path}"]).values()
        deviation = np.abs(motion - expected(path, interpolation, keys)).max()
        # Curves of quaternions do not rotate at constant speed. A component changes by at most half the angle.
        slerp = interpolation == "LINEAR" and path == "rotation"
        assert deviation < (report.rotation_error / 2 + 1e-6 if slerp else 5e-6), (path, interpolation)


def test_a_node_whose_name_is_not_unicode_matches_no_object(animation: Any, tmp_path: Path) -> None:
    file = tmp_path / "name.gltf"
    file.write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": [{"name": "\ud800"}]}), encoding="utf-8")
    with pytest.raises(animation.AnimationError, match=r"name\.gltf"):
        animation.restore_curves(file, [])
