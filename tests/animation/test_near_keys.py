# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of one track that are too close together for Blender to distinguish.

No bake adds a key that close to another.
"""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from formats import three_ds
from tests.all_pairs import all_pairs, each_once
from tests.animation.curves import MODES, co, curve, fcurves, key, new_object, rotation_path
from tests.animation.rotations import quaternion_at
from tests.exchange.files import box, save, track
from tests.exchange.files import scene as scene_of

ONE_KEY = 0.01
"""Distance in frames below which Blender merges keys."""
FRAMES = (0.0, 10.0, 20.0, 40.0)
APART = (0.002, 0.006, 0.0115)
TURNS = ((0.0, 0.0, 0.0), (0.5, -0.3, 0.2), (0.2, 0.4, -0.1), (-0.3, 0.1, 0.4))
OUTPUTS = ("SAMPLES", "CURVES")


def ragged(mode: str, apart: float) -> bpy.types.Object:
    """Return an object with a rotation. Every second key of every second channel is later by `apart`."""
    item = new_object("Thing", mode)
    turns = Rotation.from_rotvec(np.array(TURNS))
    rows = {"QUATERNION": turns.as_quat(scalar_first=True), "XYZ": turns.as_euler("xyz")}.get(mode)
    if rows is None:
        rows = np.array([(0.3 + 0.2 * n, *np.eye(3)[0] + 0.3 * np.array(turn)) for n, turn in enumerate(TURNS)])
    for index in range(rows.shape[1]):
        late = [apart if (index + n) % 2 and 0 < n < 3 else 0.0 for n in range(4)]
        frames = [frame + more for frame, more in zip(FRAMES, late, strict=True)]
        put(item, rotation_path(mode), index, frames, rows[:, index])
    return item


def put(item: bpy.types.Object, path: str, index: int, frames, values) -> None:
    """Insert keys so close together that Blender's own tools would merge them."""
    key(item, path, [(0.0, (0.0,) * (index + 1))], channels=[index])
    fcurve = curve(item, path, index)
    fcurve.keyframe_points.add(len(frames) - 1)
    fcurve.keyframe_points.foreach_set("co", np.stack((frames, values), axis=1).astype(np.float32).ravel())
    for point in fcurve.keyframe_points:
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
    fcurve.update()


def nearest(item: bpy.types.Object) -> float:
    return min(float(np.diff(co(fcurve)[:, 0]).min()) for fcurve in fcurves(item))


def keys(item: bpy.types.Object) -> dict[tuple[str, int], np.ndarray]:
    return {(fcurve.data_path, fcurve.array_index): co(fcurve) for fcurve in fcurves(item)}


def has(there: np.ndarray, own: np.ndarray) -> bool:
    """Return whether these keys are among the others, bit for bit."""
    return set(map(bytes, own)) <= set(map(bytes, there))


def check_own_keys(item: bpy.types.Object, own: dict[tuple[str, int], np.ndarray]) -> None:
    """Check that the baked curves contain the animator's keys.

    Keys that Blender would merge share one of their frames.
    """
    every = np.unique(np.concatenate([each[:, 0] for each in own.values()]))
    merged = bool((np.diff(every) <= ONE_KEY).any())
    for channel, before in own.items():
        fcurve = curve(item, *channel)
        after = np.array([point.co for point in fcurve.keyframe_points if point.type != "GENERATED"], np.float32)
        assert np.abs(after[:, 0] - before[:, 0]).max() <= (ONE_KEY if merged else 0.0)
        # The difference is at most 4 of 9 units per frame.
        assert np.abs(after[:, 1] - before[:, 1]).max() <= (4.0 * ONE_KEY if merged else 0.0)
    timings = {co(fcurve)[:, 0].tobytes() for fcurve in fcurves(item)}
    assert len(timings) == 1


def check_free(animation, item: bpy.types.Object, own: dict[tuple[str, int], np.ndarray]) -> None:
    animation.free(item)
    assert {channel: each.tobytes() for channel, each in keys(item).items()} == {
        channel: each.tobytes() for channel, each in own.items()
    }


def splines_of(animation, item: bpy.types.Object, path: str):
    track = animation.find_track(item, path)
    own = importlib.import_module(f"{animation.__name__}.store.read_own_keys").read_own_keys(track)
    return importlib.import_module(f"{animation.__name__}.bake.plans.track_splines").track_splines(
        track, track.settings, own, {}
    )


def angles(item: bpy.types.Object, spline, frames) -> np.ndarray:
    """Return the deviation of Blender's playback from the spline, in radians."""
    played = [quaternion_at(item, float(frame)) for frame in frames]
    wanted = spline.spline(np.asarray(frames, dtype=np.float64))
    turned = Rotation.from_quat(np.array(played), scalar_first=True).inv() * Rotation.from_quat(
        wanted, scalar_first=True
    )
    return np.asarray(turned.magnitude())


def fastest(spline) -> float:
    """Return the highest speed of a rotation, in radians per frame."""
    quaternions = Rotation.from_quat(spline.spline(np.arange(0.0, 40.1, 0.25)), scalar_first=True)
    return float((quaternions[:-1].inv() * quaternions[1:]).magnitude().max() / 0.25)


@pytest.mark.parametrize(("apart", "mode", "output"), all_pairs(APART, MODES[:3], OUTPUTS))
def test_a_bake_of_a_rotation_keyed_nearly_together(animation, output: str, mode: str, apart: float) -> None:
    item = ragged(mode, apart)
    animation.enable(item, keep_look=False)
    before = keys(item)
    (spline,) = splines_of(animation, item, rotation_path(mode))
    report = animation.bake(item, output=output)
    assert not report.errors
    assert nearest(item) > ONE_KEY
    check_own_keys(item, before)
    if output == "CURVES":
        frames = np.unique(np.concatenate((np.arange(0.0, 40.0, 0.25), 10.0 + np.linspace(-0.02, 0.02, 41))))
        worst, notes = angles(item, spline, frames).max(), [note for note in report.notes if "off by" in str(note)]
        # Merged keys are early or late by this amount, which a separate note reports.
        shift = apart * fastest(spline) if apart <= ONE_KEY else 0.0
        assert worst < max(np.radians(0.01), 1.2 * report.rotation_error) + shift
        assert bool(notes) == (worst > np.radians(0.0101) + shift)
        assert any("bends sharply" in str(note) for note in report.notes)
    else:
        whole = np.setdiff1d(np.arange(41.0), FRAMES)
        assert angles(item, spline, whole).max() < 2e-6
        beside = np.concatenate((10.0 + np.linspace(-0.02, 0.02, 41), 20.0 + np.linspace(-0.02, 0.02, 41)))
        assert angles(item, spline, beside).max() < np.radians(0.05)
    check_free(animation, item, before)


@pytest.mark.parametrize(("step", "mode"), each_once([0.0125, 0.02, 0.05, 0.3], MODES[:3]))
def test_small_steps(animation, mode: str, step: float) -> None:
    item = ragged(mode, 0.006)
    animation.enable(item, keep_look=False)
    animation.bake(item, step=step)
    assert nearest(item) > ONE_KEY


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("cycle", ["LOOP", "REPEAT"])
def test_cycles_that_start_close_to_whole_frames(animation, cycle: str, output: str) -> None:
    item = new_object("Thing")
    put(item, "location", 0, [0.0, 7.0, 10.004], [0.0, 3.0, 1.0])
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", cycle=cycle)
    animation.bake(item, output=output, extend=(-31.0, 61.0))
    assert nearest(item) > ONE_KEY
    # There is a key at the start of each cycle and, if the motion jumps, another key just after it.
    frames = co(curve(item, "location"))[:, 0]
    starts = [0.0, *(10.004 * turn for turn in range(2, 6))]
    assert np.abs(np.subtract.outer(starts, frames)).min(axis=1).max() < 1e-4


def test_velocities_to_the_end_of_their_range(animation) -> None:
    item = new_object("Thing")
    put(item, "location", 0, [0.0, 7.0, 10.004], [0.0, 3.0, 1.0])
    animation.enable(item, keep_look=False)
    animation.write_velocities(item)
    assert nearest(item) > ONE_KEY
    written = next(each for each in fcurves(item) if "velocity" in each.data_path)
    assert co(written)[-1, 0] == np.float32(10.004)


def test_whole_rotations_are_not_keyed_beside_keys(animation) -> None:
    item = ragged("XYZ", 0.006)
    before = keys(item)
    report = animation.key_whole(item)
    (error,) = report.errors
    assert "frame 10: keys of different channels are less than" in str(error)
    assert all(has(own, before[channel]) and len(own) == 4 for channel, own in keys(item).items())


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_bake_says_where_the_motion_turns_sharply(animation, output: str) -> None:
    notes = animation.bake(ragged("XYZ", 0.002), output=output, keep_look=False).notes
    assert (
        len(
            [
                note
                for note in notes
                if "keys at frames 10 and 10.002" in str(note) and "Move these keys to the same frame" in str(note)
            ]
        )
        == 1
    )
    assert not any(
        "bends sharply" in str(note)
        for note in animation.bake(ragged("XYZ", 0.0), output=output, keep_look=False).notes
    )


@pytest.mark.parametrize(("frame_rate", "output"), each_once([30.0, 29.97, 500.0], OUTPUTS))
def test_what_is_imported(animation, tmp_path, output: str, frame_rate: float) -> None:
    turns = [(frame, 0.4 * (1 + row % 3), 0.6, 0.0, 0.8) for row, frame in enumerate((0, 7, 7, 8, 20, 33))]
    places = track("POSITION", (0, 1, 2, 3), (7, 4, -1, 2), (7, 0, 0, 5), (8, 0, 1, 5), flags=3)
    node = three_ds.Node("OBJECT", b"Box", tracks=(track("ROTATION", *turns), places))
    path = save(tmp_path / "near.3ds", scene_of(node, objects=(box(b"Box"),), segment=(0, 40)))
    bpy.ops.import_anim.tcb_3ds(filepath=path, output=output, timing="TIME", frame_rate=frame_rate)
    item = bpy.data.objects["Box"]
    assert {fcurve.data_path for fcurve in fcurves(item)} >= {"location", "rotation_quaternion"}
    assert nearest(item) > ONE_KEY
