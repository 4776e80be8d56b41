# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of a real 3D Studio file, read by a few lines of code, inserted and baked."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.animation import reference
from tests.animation.curves import curve, key, new_object

_FOLDERS = {0x4D4D, 0xB000, 0xB002}
_NODE, _NODE_HEADER, _ROTATIONS = 0xB002, 0xB010, 0xB021


def rotation_tracks(data: bytes) -> dict[str, list[tuple[int, float, tuple[float, float, float]]]]:
    """Return the turns of each object's rotation track: frame, angle and axis (field-notes.md, ".3ds keyframer")."""
    tracks: dict[str, list] = {}
    name = ""

    def visit(start: int, end: int) -> None:
        nonlocal name
        while start + 6 <= end:
            chunk, length = struct.unpack_from("<HI", data, start)
            if chunk in _FOLDERS:
                visit(start + 6, start + length)
            elif chunk == _NODE_HEADER:
                name = data[start + 6 : data.index(b"\0", start + 6)].decode("latin-1")
            elif chunk == _ROTATIONS:
                tracks[name] = turns(start + 6)
            start += length

    def turns(at: int) -> list:
        (count,) = struct.unpack_from("<I", data, at + 10)
        at, result = at + 14, []
        for _ in range(count):
            frame, flags = struct.unpack_from("<iH", data, at)
            at += 6 + 4 * (flags & 0x1F).bit_count()
            angle, *axis = struct.unpack_from("<4f", data, at)
            at += 16
            result.append((frame, angle, tuple(axis)))
        return result

    visit(0, len(data))
    return tracks


@pytest.fixture
def jaw(shared_data: Path) -> list[tuple[int, np.ndarray]]:
    """Return the skull's jaw: its three keys as orientations.

    Key 0 is absolute, and the others turn from the previous key.
    """
    tracks = rotation_tracks((shared_data / "skull.3ds").read_bytes())
    (keys,) = [turns for turns in tracks.values() if len(turns) == 3]
    q, result = np.array([1.0, 0, 0, 0]), []
    for frame, angle, axis in keys:
        if any(axis):
            q = reference.product(reference.of_axis_angle(-angle, axis), q)
        result.append((frame, q))
    return result


def test_the_jaw_opens_by_54_degrees(jaw) -> None:
    assert np.degrees(reference.apart(jaw[0][1], jaw[1][1])) == pytest.approx(54, abs=0.5)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ"])
def test_the_jaw_returns_to_where_it_was(animation, jaw, mode: str) -> None:
    item = new_object("Jaw", mode)
    paths = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle", "XYZ": "rotation_euler"}
    from mathutils import Quaternion

    rows = []
    euler = Quaternion().to_euler()
    for frame, q in jaw:
        turn = Quaternion(q)
        euler = turn.to_euler("XYZ", euler)
        axis, angle = turn.to_axis_angle()
        rows.append((frame, {"QUATERNION": (*q,), "AXIS_ANGLE": (angle, *axis), "XYZ": (*euler,)}[mode]))
    key(item, paths[mode], rows)
    animation.bake(item, keep_look=False)

    def shown(frame: float) -> np.ndarray:
        numbers = [curve(item, paths[mode], index).evaluate(frame) for index in range(len(rows[0][1]))]
        if mode == "QUATERNION":
            return np.array(numbers)
        return reference.of_euler(numbers) if mode == "XYZ" else reference.of_axis_angle(numbers[0], numbers[1:])

    first, last = jaw[0][0], jaw[-1][0]
    assert reference.apart(shown(first), shown(last)) < 1e-6
    assert reference.apart(shown(first), jaw[0][1]) < 1e-6
    keys = [reference.Key(frame, tuple(q)) for frame, q in jaw]
    for frame in range(first, last + 1):
        assert reference.apart(shown(frame), reference.rotation(keys, frame)) < 2e-6, frame
