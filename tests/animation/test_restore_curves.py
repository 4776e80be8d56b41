# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore Curves: scenes that were exported to glTF and FBX and imported by Blender, compared with the originals.

Blender's exporter normalizes the points that define a quaternion's tangents. The keys here therefore have tangents that
this does not change.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from tests.animation.curves import Bone, action_bits, bag_of, fcurves, new_object, new_rig
from tests.animation.imported import Values, imported, played
from tests.formats.fbx_layout import CONSTANT, CUBIC, NEXT, TCB, USER, WEIGHTED, KeyCurve, Model, scene_bytes


def key(owner: Any, path: str, index: int, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> None:
    """Key one channel with FREE handles at thirds. `slopes` per frame are before and after each key, shape (2, n)."""
    owner.keyframe_insert(path, index=index, frame=int(frames[0]))
    source = owner.id_data
    whole = f"{owner.path_from_id()}.{path}" if owner != source else path
    curve = next(each for each in fcurves(source) if each.data_path == whole and each.array_index == index)
    points = curve.keyframe_points
    points.add(len(frames) - 1)
    length = np.diff(frames) / 3.0
    before, after = np.append(length[0], length), np.append(length, length[-1])
    for point, *numbers in zip(points, frames, values, before, after, *slopes, strict=True):
        frame, value, back, on, left, right = map(float, numbers)
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "FREE"
        point.co = (frame, value)
        point.handle_left, point.handle_right = (frame - back, value - left * back), (frame + on, value + right * on)


def animate(owner: Any, rng: np.random.Generator) -> None:
    """Key location, rotation and scale with random tangents."""
    count = int(rng.integers(3, 7))
    frames = np.sort(rng.choice(np.arange(1, 100), count, replace=False)).astype(float)
    for path in ("location", "scale"):
        for index in range(3):
            key(owner, path, index, frames, 2.0 + 0.3 * rng.normal(size=count), rng.normal(size=(2, count)) * 0.01)
    owner.rotation_mode = "QUATERNION"
    q = np.insert(rng.normal(size=(count, 3)) * 0.2, 0, 1.0, axis=1)
    q /= np.linalg.norm(q, axis=1)[:, np.newaxis]
    ends = q + np.insert(rng.normal(size=(2, count, 3)) * 0.005, 0, 0.0, axis=2)
    slopes = ends / np.linalg.norm(ends, axis=2)[:, :, np.newaxis] - q
    for index in range(4):
        key(owner, "rotation_quaternion", index, frames, q[:, index], slopes[:, :, index])


def largest(before: Values, after: Values) -> float:
    """Return the largest deviation, as a fraction of a property's range."""
    return max(
        float(np.abs(after[path] - values).max() / np.ptp(values, axis=1).max()) for path, values in before.items()
    )


def exported(path: Path) -> Path:
    bpy.ops.export_scene.gltf(
        export_format="GLB" if path.suffix == ".glb" else "GLTF_SEPARATE",
        filepath=str(path),
        export_force_sampling=False,
        export_frame_range=False,
        export_optimize_animation_size=False,
    )
    return path


def test_twenty_objects_and_a_rig_come_back_from_gltf(scene: Any, animation: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    made = [new_object(f"Box{number}") for number in range(20)]
    for number, each in enumerate(made):
        each.parent = made[number - 1] if number % 4 == 3 else None
        animate(each, rng)
    joints = np.cumsum([0.0, 0.0, 1.0] + 0.3 * rng.normal(size=(6, 3)), axis=0)
    names = ["", *(f"Bone{number}" for number in range(5))]
    rig = new_rig(*map(Bone, names[1:], joints, joints[1:], names))
    for bone in rig.pose.bones:
        animate(bone, rng)
    before = {each.name: played(each) for each in (*made, rig)}
    keys = sum(len(curve.keyframe_points) for each in (*made, rig) for curve in fcurves(each))
    path = exported(tmp_path / "scene.glb")
    objects = imported(path)
    assert max(largest(values, played(objects[name])) for name, values in before.items()) > 0.1
    report = animation.restore_curves(path, objects.values())
    assert (report.tracks, report.errors, report.values_exact, report.rotations_exact) == (75, [], True, True)
    off = {name: largest(values, played(objects[name])) for name, values in before.items()}
    assert max(off.values()) < 1e-5, off
    assert sum(len(curve.keyframe_points) for name in before for curve in fcurves(objects[name])) == keys


def test_handles_are_free_and_steps_and_lines_stay(scene: Any, animation: Any, tmp_path: Path) -> None:
    for kind in ("BEZIER", "LINEAR", "CONSTANT"):
        each = new_object(kind.title())
        key(each, "location", 0, np.array([1.0, 5.0, 9.0]), np.array([0.0, 4.0, 1.0]), np.zeros((2, 3)))
        for curve in fcurves(each):
            for point in curve.keyframe_points:
                point.interpolation = kind
    path = exported(tmp_path / "kinds.gltf")
    objects = imported(path)
    animation.restore_curves(str(path), list(objects.values()))
    for kind in ("BEZIER", "LINEAR", "CONSTANT"):
        played(objects[kind.title()])
        points = next(iter(fcurves(objects[kind.title()]))).keyframe_points
        assert {point.interpolation for point in points} == {kind}
        assert {point.handle_left_type for point in points} == {"FREE"}


@pytest.fixture
def moved(scene: Any, animation: Any, tmp_path: Path) -> tuple[Path, dict[str, bpy.types.Object]]:
    """A file with one object, and the imported object."""
    animate(new_object("Box"), np.random.default_rng(7))
    path = exported(tmp_path / "box.glb")
    objects = imported(path)
    played(objects["Box"])
    return path, objects


def test_an_object_that_does_not_fit_is_named_and_left_alone(moved: Any, animation: Any) -> None:
    path, objects = moved
    curve = next(each for each in fcurves(objects["Box"]) if each.data_path == "location")
    curve.keyframe_points[1].co.y += 1.0
    before = [tuple(point.co) for each in fcurves(objects["Box"]) for point in each.keyframe_points]
    with pytest.raises(
        animation.AnimationError, match=r"Location: the animation differs from the file's keys by 0\.\d+"
    ):
        animation.restore_curves(path, [objects["Box"]])
    assert [tuple(point.co) for each in fcurves(objects["Box"]) for point in each.keyframe_points] == before


def test_a_curve_of_a_component_that_a_rotation_lacks_does_not_matter(moved: Any, animation: Any) -> None:
    path, objects = moved
    surplus = bag_of(objects["Box"]).fcurves.new("rotation_quaternion", index=4)
    surplus.keyframe_points.insert(1.0, 0.3)
    assert animation.restore_curves(path, [objects["Box"]]).errors == []


def test_objects_of_other_names_are_no_reason_to_change_anything(moved: Any, animation: Any) -> None:
    path, objects = moved
    objects["Box"].name = "Other"
    with pytest.raises(animation.AnimationError, match=r"these objects have no animation from box\.\w+"):
        animation.restore_curves(path, [objects["Box"]])


def test_a_tcb_track_is_refused(moved: Any, animation: Any) -> None:
    path, objects = moved
    animation.enable(objects["Box"], prefixes=["location"], keep_look=False)
    report = animation.restore_curves(path, [objects["Box"]])
    assert report.tracks == 2
    assert [error.track for error in report.errors] == ["location"]
    assert report.errors[0].code == "RESTORE_TCB"


@pytest.mark.parametrize("stop_after", [1, 2])
def test_what_is_restored_before_progress_raises_is_nothing_or_all(moved: Any, animation: Any, stop_after: int) -> None:
    path, objects = moved
    before = action_bits(objects["Box"].animation_data.action)
    calls = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))
        if len(calls) == stop_after:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        animation.restore_curves(path, [objects["Box"]], use_tcb=True, progress=progress)
    stopped = action_bits(objects["Box"].animation_data.action)
    if stop_after == 1:
        assert stopped == before
    else:
        # Nothing was left to restore.
        assert calls == [(1, 2), (2, 2)]
        assert {point.handle_left_type for each in fcurves(objects["Box"]) for point in each.keyframe_points} == {
            "FREE"
        }


def test_moved_rotated_and_scaled_parents_do_not_matter(moved: Any, animation: Any) -> None:
    path, objects = moved
    box = objects["Box"]
    box.parent = new_object("Mount")
    box.parent.rotation_euler, box.parent.location = (0.3, 1.0, -0.7), (1.0, 2.0, 3.0)
    assert animation.restore_curves(path, [box]).errors == []


def test_curves_become_tcb_where_parameters_play_them(scene: Any, animation: Any, tmp_path: Path) -> None:
    each = new_object("Box")
    frames, values = [1, 11, 21, 31], np.random.default_rng(8).normal(size=(4, 3))
    animation.set_keys(each, "location", frames, values, tension=0.3, bias=-0.4)
    animation.apply(each)
    path = exported(tmp_path / "box.glb")
    objects = imported(path)
    report = animation.restore_curves(path, objects.values(), use_tcb=True)
    assert report.errors == []
    found = animation.get_keys(objects["Box"], "location")
    assert found.tangents_in is None
    np.testing.assert_allclose(found.tension[1:-1], 0.3, atol=1e-3)
    np.testing.assert_allclose(found.bias[1:-1], -0.4, atol=1e-3)


def written(path: Path, curves: Any, properties: Any = None) -> Path:
    path.write_bytes(scene_bytes([Model("Box", 0, properties or {}, curves)]))
    return path


def imported_fbx(path: Path) -> bpy.types.Object:
    import addon_utils

    addon_utils.enable("io_scene_fbx")
    bpy.ops.import_scene.fbx(filepath=str(path))
    return bpy.data.objects["Box"]


TIMES = np.array([0.0, 0.5, 1.5, 2.0])
SLOPES = np.array([[1.0, 2.0], [-30.0, 5.0], [20.0, -10.0], [0.0, 0.0]])
VALUES = np.array([0.0, 40.0, -20.0, 10.0])


def user_curve() -> KeyCurve:
    return KeyCurve(TIMES, VALUES, [CUBIC | USER] * 4, [(a, b, 0, 0) for a, b in SLOPES])


def test_an_fbx_location_plays_the_files_cubics(scene: Any, animation: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "box.fbx", {"Lcl Translation": (user_curve(), None, None)})
    box = imported_fbx(path)
    report = animation.restore_curves(path, [box])
    assert (report.tracks, report.values_exact) == (1, True)
    curve = next(each for each in fcurves(box) if each.data_path == "location" and each.array_index == 0)
    assert len(curve.keyframe_points) == 4
    size = curve.keyframe_points[1].co.y / VALUES[1]
    rate = (curve.keyframe_points[3].co.x - curve.keyframe_points[0].co.x) / 2.0
    for row in range(3):
        at = np.linspace(TIMES[row], TIMES[row + 1], 9)
        wanted = CubicHermiteSpline(TIMES[row : row + 2], VALUES[row : row + 2], SLOPES[row])(at)
        found = [curve.evaluate(time * rate + curve.keyframe_points[0].co.x) / size for time in at]
        np.testing.assert_allclose(found, wanted, atol=60.0 * 1e-5)


def test_objects_of_one_take_have_keys_at_times_of_their_own(scene: Any, animation: Any, tmp_path: Path) -> None:
    whole = user_curve()
    short = KeyCurve(TIMES[:2], VALUES[:2], whole.flags[:2], whole.data[:2])
    models = [
        Model(name, 0, {}, {"Lcl Translation": (curve, None, None)})
        for name, curve in (("Box", whole), ("Ball", short))
    ]
    path = tmp_path / "box.fbx"
    path.write_bytes(scene_bytes(models))
    box, ball = imported_fbx(path), bpy.data.objects["Ball"]
    animation.restore_curves(path, [box, ball])
    for each, frames in ((box, [1.0, 13.0, 37.0, 49.0]), (ball, [1.0, 13.0])):
        (curve,) = (curve for curve in fcurves(each) if curve.data_path == "location" and curve.array_index == 0)
        assert [point.co.x for point in curve.keyframe_points] == frames


ZIGZAG = [KeyCurve(TIMES, np.roll(VALUES, component), [CUBIC | TCB] * 4) for component in range(3)]
LINE = KeyCurve(TIMES[::3], (0.0, 50.0), [CUBIC | USER] * 2, [(25.0, 25.0, 0, 0)] * 2)
BEND = KeyCurve(TIMES[::3], (0.0, 0.0), [CUBIC | USER] * 2, [(30.0, 0.0, 0, 0)] * 2)
TURN = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


@pytest.mark.parametrize("is_rig", [True, False])
def test_what_moves_on_a_line_has_the_axes_that_others_determine(
    scene: Any, animation: Any, tmp_path: Path, is_rig: bool
) -> None:
    """Keys on a line do not determine how an importer has turned the tangents beside the line."""
    curves = {"Prop": (LINE, BEND, None), "Spine": ZIGZAG}
    path = tmp_path / "file.fbx"
    models = [Model(name, 0, {}, {"Lcl Translation": components}) for name, components in curves.items()]
    path.write_bytes(scene_bytes(models))
    rig = new_rig(*curves, tail=(0, 1, 0)) if is_rig else None
    items = {name: new_object(name) if rig is None else rig.pose.bones[name] for name in curves}
    for item, components in zip(items.values(), curves.values(), strict=True):
        values = np.array([np.zeros(len(components[0].times)) if each is None else each.values for each in components])
        for time, location in zip(components[0].times, (TURN @ values).T, strict=True):
            item.location = location
            item.keyframe_insert("location", frame=24.0 * time)
    owners = [rig] if rig is not None else [*items.values()]
    assert animation.restore_curves(path, owners).values_exact
    found = [
        curve.evaluate(24.0)
        for curve in fcurves(owners[0])
        if curve.data_path == items["Prop"].path_from_id("location") or rig is None
    ]
    (bent,) = CubicHermiteSpline(TIMES[::3], [0.0, 0.0], [30.0, 0.0])([1.0])
    np.testing.assert_allclose(found, TURN @ [25.0, bent, 0.0], atol=1e-3)


def test_handles_that_overlap_in_the_file_are_fitted(scene: Any, animation: Any, tmp_path: Path) -> None:
    """Blender would shorten handles of 0.8 of their segment on both sides."""
    (packed,) = struct.unpack("<f", struct.pack("<HH", 8000, 8000))
    curve = KeyCurve((0.0, 2.0), (0.0, 10.0), [CUBIC | USER | WEIGHTED] * 2, [(2.0, -1.0, packed, 0.0), (0.0,) * 4])
    path = written(tmp_path / "box.fbx", {"Lcl Translation": (curve, None, None)})
    box = imported_fbx(path)
    report = animation.restore_curves(path, [box], exact=True)
    shown = next(each for each in fcurves(box) if each.data_path == "location" and each.array_index == 0)
    t = np.linspace(0.0, 1.0, 10001)
    places, values = (
        3 * t * (1 - t) ** 2 * out + 3 * t**2 * (1 - t) * into + t**3 * end
        for out, into, end in ((1.6, 0.4, 2.0), (3.2, 11.6, 10.0))
    )
    first, last = shown.keyframe_points[0].co, shown.keyframe_points[-1].co
    at = np.linspace(0.0, 2.0, 33)
    found = [shown.evaluate(first.x + time * (last.x - first.x) / 2.0) / last.y * 10.0 for time in at]
    assert report.values_exact is False
    np.testing.assert_allclose(found, np.interp(at, places, values), atol=2e-3)


def test_an_fbx_rotation_about_one_axis_is_exact_in_euler_angles(scene: Any, animation: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "box.fbx", {"Lcl Rotation": (None, None, user_curve())})
    box = imported_fbx(path)
    assert box.rotation_mode == "XYZ"
    report = animation.restore_curves(path, [box])
    assert report.rotations_exact
    assert {len(each.keyframe_points) for each in fcurves(box) if each.data_path == "rotation_euler"} <= {1, 4}


def test_exact_adds_keys_until_the_tolerance_is_reached(scene: Any, animation: Any, tmp_path: Path) -> None:
    curves = [KeyCurve(TIMES, np.roll(VALUES, n), [CUBIC | TCB] * 4) for n in range(3)]
    path = written(tmp_path / "box.fbx", {"Lcl Rotation": curves})
    box = imported_fbx(path)
    box.rotation_mode = "XYZ"
    plain = animation.restore_curves(path, [box])
    assert not plain.rotations_exact
    (told,) = plain.to_dict()["notes"]
    assert (told["code"], told["object"], told["track"]) == ("RESTORED_NEARLY", box.name, "rotation_euler")
    assert told["arguments"] == [[pytest.approx(np.degrees(plain.rotation_error)), "°"]]
    assert json.loads(json.dumps(plain.to_dict(), allow_nan=False))["handles"][0]["range"] == 0.0
    assert len(fcurves(box)[3].keyframe_points) == 4
    again = animation.restore_curves(path, [box], exact=True)
    assert again.rotation_error <= animation.Options().rotation_tolerance < plain.rotation_error
    assert again.keys > plain.keys


def test_a_step_to_the_next_key_after_a_cubic_takes_another_key_where_it_is_to_be_exact(
    scene: Any, animation: Any, tmp_path: Path
) -> None:
    curve = KeyCurve(TIMES, VALUES, [CUBIC | USER, CONSTANT | NEXT, CUBIC | USER, CUBIC | USER], [(0, 0, 0, 0)] * 4)
    path = written(tmp_path / "box.fbx", {"Lcl Translation": (curve, None, None)})
    box = imported_fbx(path)
    assert not animation.restore_curves(path, [box]).values_exact
    channel = next(each for each in fcurves(box) if each.data_path == "location" and each.array_index == 0)
    assert len(channel.keyframe_points) == 4
    size = channel.keyframe_points[1].co.y / VALUES[1]
    assert animation.restore_curves(path, [box], exact=True).values_exact
    first, last = (channel.keyframe_points[row].co.x for row in (0, -1))
    middle = first + (last - first) / 2.0
    assert channel.evaluate(middle) == pytest.approx(VALUES[2] * size, rel=1e-5)
    assert len(channel.keyframe_points) == 5


@pytest.mark.parametrize("assigned", ["BaseLayer", "Added"])
def test_layers_are_played_together_whichever_of_them_the_importer_assigned(
    scene: Any, animation: Any, tmp_path: Path, assigned: str
) -> None:
    slopes = np.array([[10.0, -4.0], [6.0, 8.0], [0.0, 0.0]])
    values = np.array([5.0, -10.0, 30.0])
    added = KeyCurve(TIMES[1:], values, [CUBIC | USER] * 3, [(a, b, 0, 0) for a, b in slopes])
    path = tmp_path / "box.fbx"
    curves = [{"Lcl Translation": (curve, None, None)} for curve in (user_curve(), added)]
    path.write_bytes(scene_bytes([Model("Box", 0, {}, *curves)]))
    box = imported_fbx(path)
    data: Any = box.animation_data
    data.action = next(each for each in bpy.data.actions if assigned in each.name)
    if hasattr(data, "action_slot"):
        data.action_slot = data.action.slots[0]
    report = animation.restore_curves(path, [box])
    curve = next(each for each in fcurves(box) if each.data_path == "location" and each.array_index == 0)
    assert [point.co.x for point in curve.keyframe_points] == [1.0, 13.0, 37.0, 49.0]
    for row in range(3):
        at = np.linspace(TIMES[row], TIMES[row + 1], 9)
        first = CubicHermiteSpline(TIMES[row : row + 2], VALUES[row : row + 2], SLOPES[row])(at)
        # Before its first key, a curve is constant.
        second = (
            CubicHermiteSpline(TIMES[row : row + 2], values[row - 1 : row + 1], slopes[row - 1])(at) if row else 5.0
        )
        found = np.array([curve.evaluate(1.0 + time * 24.0) for time in at])
        np.testing.assert_allclose(found, (first + second) / 100.0, atol=0.7 * 1e-4)
    assert report.value_error < 0.7 * 1e-4


def test_a_damaged_file_changes_nothing(scene: Any, animation: Any, tmp_path: Path) -> None:
    path = tmp_path / "box.fbx"
    path.write_bytes(b"nothing")
    with pytest.raises(animation.AnimationError, match=r"box.fbx.*not an FBX file"):
        animation.restore_curves(path, [new_object("Box")])


def test_the_operator_is_one_undo_step_and_reports(moved: Any, animation: Any) -> None:
    path, objects = moved
    bpy.ops.ed.undo_push(message="imported")
    before = action_bits(objects["Box"].animation_data.action)
    assert bpy.ops.import_anim.tcb_restore_curves("EXEC_DEFAULT", True, filepath=str(path)) == {"FINISHED"}
    assert action_bits(bpy.data.objects["Box"].animation_data.action) != before
    bpy.ops.ed.undo()
    assert action_bits(bpy.data.objects["Box"].animation_data.action) == before
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.import_anim.tcb_restore_curves(filepath="/nowhere.glb")
