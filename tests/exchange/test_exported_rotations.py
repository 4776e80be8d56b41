# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations in exported files, read without the importer and compared with Blender's playback."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from formats import three_ds
from tests.animation import reference
from tests.animation.curves import key, new_object, rotation_path
from tests.exchange.composition import matrix_of, orientation
from tests.exchange.files import object_name
from tests.formats import lib3ds
from tests.lines_run import lines_run

AT_KEYS = 1e-6
"""Radians."""
BETWEEN = 3e-6
"""Tolerance in radians for Blender's float32 samples, and for the file's float32 turns through the controls."""
FRAMES = (0, 7, 20, 26, 40)
UNIT = np.array([1.0, 2.0, -2.0]) / 3.0

# The longest rotation between keys is below a full turn, so the sequence of quaternions represents it.
EULER = [(0.3, -0.2, 0.1), (1.4, 0.5, -0.9), (-0.6, 1.1, 2.0), (0.9, 0.2, 2.9), (0.4, -1.0, 1.2)]
AXIS_ANGLES = [(0.2, *UNIT), (3.9, *UNIT), (1.1, *UNIT), (-2.0, *UNIT), (-2.5, *UNIT)]
QUATERNIONS = [tuple(reference.of_euler(angles)) for angles in EULER]
KEYS = {
    "QUATERNION": QUATERNIONS,
    "AXIS_ANGLE": AXIS_ANGLES,
    **dict.fromkeys(("XYZ", "ZXY", "YZX", "XZY"), EULER),
}
ONE_AXIS = (0.3, 8.5, -4.0, -4.0, 9.0)
"""Angles in radians about one axis, with more than a full turn in both directions, and with no rotation."""
MANY_TURNS = {
    "AXIS_ANGLE": ([(angle, *UNIT) for angle in ONE_AXIS], UNIT),
    "XYZ": ([(0.0, 0.0, angle) for angle in ONE_AXIS], (0.0, 0.0, 1.0)),
    "ZXY": ([(0.0, angle, 0.0) for angle in ONE_AXIS], (0.0, 1.0, 0.0)),
}
PARAMETERS = ({}, {"tension": 0.4, "bias": -0.5}, {"continuity": -0.6, "ease_to": 0.3}, {"ease_from": 0.5}, {})
SPREAD = [
    tuple(given.get(name, 0.0) for name in ("tension", "continuity", "bias", "ease_to", "ease_from"))
    for given in PARAMETERS
]


@pytest.fixture
def given(scene, animation, tmp_path: Path) -> Callable[..., tuple[Path, three_ds.Track]]:
    """Key, bake and export a box with a rotation mode and parameters. Return the file and the box's rotation track."""

    def give(mode: str, values: list[tuple[float, ...]]):
        box = new_object("Box", mode)
        key(box, rotation_path(mode), [*zip(FRAMES, values, strict=True)])
        animation.enable(box, keep_look=False)
        for frame, parameters in zip(FRAMES, PARAMETERS, strict=True):
            if parameters:
                animation.key_set(box, "rotation", frame, **parameters)
        animation.bake(box)
        path = tmp_path / "given.3ds"
        bpy.ops.export_anim.tcb_3ds(filepath=str(path))
        nodes = {object_name(node): node for node in three_ds.read(path.read_bytes()).nodes}
        return path, nodes[b"Box"].track("ROTATION")

    return give


def played(frame: float) -> np.ndarray:
    """Return the box's rotation, as evaluated by Blender."""
    bpy.context.scene.frame_set(int(frame))
    box = bpy.data.objects["Box"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return reference.unit(np.array(box.matrix_world.to_quaternion()))


@pytest.mark.parametrize("mode", KEYS)
def test_the_files_spline_is_what_blender_plays(given, mode: str) -> None:
    _, track = given(mode, KEYS[mode])
    assert track.frames.tolist() == list(FRAMES)
    for frame in range(FRAMES[-1] + 1):
        most = AT_KEYS if frame in FRAMES else BETWEEN
        assert reference.apart(orientation(track, frame), played(frame)) < most, frame


@pytest.mark.parametrize("mode", MANY_TURNS)
def test_whole_turns_are_in_the_file(given, mode: str) -> None:
    values, axis = MANY_TURNS[mode]
    _, track = given(mode, values)
    # 3D Studio rotates in the opposite direction. Its angles are never negative, so the axis is.
    turned = np.cumsum(-track.values[:, 0].astype(float) * (track.values[:, 1:].astype(float) @ axis))
    assert turned == pytest.approx(ONE_AXIS, abs=AT_KEYS)
    keys = [(frame, angle, *more) for frame, angle, more in zip(FRAMES, turned, SPREAD, strict=True)]
    for frame in range(FRAMES[-1] + 1):
        expected = reference.of_axis_angle(reference.scalar(keys, frame, ends="3DS"), axis)
        assert reference.apart(expected, played(frame)) < BETWEEN, frame


def test_whole_turns_about_a_moving_axis_are_samples_in_the_file(given, capfd) -> None:
    _, track = given("XYZ", [(0.3, 0.0, 0.0), (13.0, 0.4, 0.0), (6.0, -0.3, 0.2), (6.0, 0.0, 0.0), (6.5, 0.1, 0.3)])
    assert "the axis of full turns moves, but a file stores turns about one axis: exported as 41 samples" in (
        capfd.readouterr().out
    )
    for frame in range(FRAMES[-1] + 1):
        assert reference.apart(orientation(track, frame), played(frame)) < BETWEEN, frame


@pytest.mark.parametrize("mode", KEYS)
def test_lib3ds_turns_the_node_as_blender_does(given, mode: str) -> None:
    path, _ = given(mode, KEYS[mode])
    for frame in FRAMES:
        # Blender computes in float32.
        assert lib3ds.placed(path, 0, frame)[:3, :3] == pytest.approx(matrix_of(played(frame)), abs=3e-6), frame


def turns_of_thousands(vectors: np.ndarray) -> Rotation:
    """Return one rotation per thousand rotation vectors, which are applied in turn."""
    every = vectors.reshape(-1, 1000, 3)
    turned = Rotation.from_rotvec(every[:, 0])
    for number in range(1, 1000):
        turned = Rotation.from_rotvec(every[:, number]) * turned
    return turned


def test_the_turns_of_fifty_thousand_keys_are_rounded_at_once_and_do_not_drift(animation) -> None:
    package = animation.__name__.rpartition(".")[0]
    keys_module, conversion, file_tracks = (
        importlib.import_module(f"{package}.exchange.{name}")
        for name in ("keys", "conversion", "exporting.file_tracks")
    )

    def written(turns: np.ndarray) -> np.ndarray:
        keys = keys_module.Keys(np.arange(len(turns), dtype=float), turns, np.zeros((5, len(turns))))
        return file_tracks.turns_track(keys, conversion.Conversion(), print).values.astype(float)

    count = 50_000
    rng = np.random.default_rng(5)
    axes = rng.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = np.column_stack((rng.uniform(0.1, 3.0, count), axes))
    few, many = (lines_run(lambda part=part: written(turns[:part])) for part in (1000, 4000))
    assert many < 4.4 * few
    # Files use the opposite direction of rotation.
    said = written(turns)
    said = turns_of_thousands(-said[:, :1] * said[:, 1:] / np.linalg.norm(said[:, 1:], axis=1, keepdims=True))
    meant = turns_of_thousands(turns[:, :1] * turns[:, 1:])
    wanted = played = Rotation.identity()
    for number in range(count // 1000):
        wanted, played = meant[number] * wanted, said[number] * played
        assert (wanted.inv() * played).magnitude() < 1e-6, number
