# SPDX-License-Identifier: GPL-3.0-or-later
"""A second reader of glTF animations, written from the specification, to which restored curves are compared."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]

_FLOAT = 5126
"""The component type of 32-bit floats."""


class GltfReader:
    """The animations of a .gltf or .glb file, without sparse accessors and only for floats."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        self._binary = b""
        if content[:4] == b"glTF":
            # A header of 12 bytes, and two chunks that each begin with a length and a type of 4 bytes.
            (length,) = struct.unpack_from("<I", content, 12)
            self._binary = content[28 + length :]
            content = content[20 : 20 + length]
        self._json = json.loads(content)
        self._folder = path.parent

    def evaluate(self, take: int, node: int, name: str, times: Float64Array) -> Float64Array | None:
        """Return values at successive times, or None if the take does not animate the property."""
        animation = self._json["animations"][take]
        for channel in animation["channels"]:
            if (channel["target"].get("node"), channel["target"]["path"]) == (node, name):
                sampler = animation["samplers"][channel["sampler"]]
                keys, values = self._numbers(sampler["input"])[:, 0], self._numbers(sampler["output"])
                is_rotation = name == "rotation"
                result = _interpolated(sampler.get("interpolation", "LINEAR"), is_rotation, keys, values, times)
                if is_rotation:
                    result = np.roll(result, 1, axis=1) / np.linalg.norm(result, axis=1, keepdims=True)
                return result
        return None

    def _numbers(self, index: int) -> Float64Array:
        """Return the rows of an accessor."""
        accessor = self._json["accessors"][index]
        if "sparse" in accessor or accessor["componentType"] != _FLOAT:
            raise ValueError("this accessor is not compared")
        view = self._json["bufferViews"][accessor["bufferView"]]
        uri = self._json["buffers"][view["buffer"]].get("uri")
        if uri is None:
            content = self._binary
        elif uri.startswith("data:"):
            content = base64.b64decode(uri.partition(",")[2])
        else:
            content = (self._folder / uri).read_bytes()
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        values = np.frombuffer(content, "<f4", accessor["count"] * width, start)
        return values.reshape(-1, width).astype(np.float64)


def _interpolated(
    mode: str, is_rotation: bool, keys: Float64Array, values: Float64Array, times: Float64Array
) -> Float64Array:
    """Interpolate as the specification of glTF describes. The values at both ends are held."""
    # Cubic splines have a tangent before and after each value.
    points = values[1::3] if mode == "CUBICSPLINE" else values
    rows = np.searchsorted(keys, times, side="right") - 1
    if mode == "STEP" or len(keys) == 1:
        return points[np.clip(rows, 0, len(keys) - 1)]
    rows = np.clip(rows, 0, len(keys) - 2)
    length = np.diff(keys)[rows, np.newaxis]
    s = np.clip((times - keys[rows])[:, np.newaxis] / length, 0.0, 1.0)
    start, end = points[rows], points[rows + 1]
    if mode == "CUBICSPLINE":
        leaving, arriving = length * values[2::3][rows], length * values[::3][rows + 1]
        return (
            (2 * s**3 - 3 * s**2 + 1) * start
            + (s**3 - 2 * s**2 + s) * leaving
            + (-2 * s**3 + 3 * s**2) * end
            + (s**3 - s**2) * arriving
        )
    if not is_rotation:
        return start + s * (end - start)
    dot = (start * end).sum(axis=1, keepdims=True)
    half_turns = np.arccos(np.minimum(np.abs(dot), 1.0)) / np.pi
    # sin(s a) / sin(a), also for an angle of 0
    of_start, of_end = (share * np.sinc(share * half_turns) / np.sinc(half_turns) for share in (1.0 - s, s))
    turned: Float64Array = of_start * start + np.copysign(of_end, dot) * end
    return turned
