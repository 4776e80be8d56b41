# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of Blender's scenes to files, and import again."""

from __future__ import annotations

import errno
import importlib
import math
from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from formats import three_ds
from tests.animation.curves import HAS_SLOTS, bag_of, fcurves, insert, key, new_object, rotation_path
from tests.exchange.composition import Composition
from tests.exchange.conftest import Export
from tests.exchange.files import box, object_name, save, scene, track
from tests.exchange.matrices import world
from tests.exchange.scenes import SCENES, family
from tests.formats.files import FILES
from tests.formats.lib3ds import load, placed

FRAMES = range(31)


def bits(one: three_ds.Track) -> tuple:
    arrays = (one.frames, one.values, one.key_flags, one.parameters)
    return one.kind, *(array.tobytes() for array in arrays), one.flags, one.reserved, one.names


def tracks(made: three_ds.Scene) -> dict:
    return {
        (node.kind, node.name, node.instance_name, one.kind): bits(one) for node in made.nodes for one in node.tracks
    }


OTHER_AXES = [{"axis_forward": "-Z", "axis_up": "Y"}, {"axis_forward": "X", "axis_up": "-Z"}]


@pytest.mark.parametrize("axes", [{}, *OTHER_AXES])
@pytest.mark.parametrize("name", FILES)
def test_unchanged_real_files_are_exported_bit_for_bit(give: Export, shared_data: Path, name: str, axes: dict) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / name), **axes)
    assert tracks(give(**axes)) == tracks(three_ds.read((shared_data / name).read_bytes()))


def test_only_changed_tracks_are_rewritten(give: Export, shared_data: Path, animation) -> None:
    path = shared_data / "tcb_fixture_lib3ds.3ds"
    bpy.ops.import_anim.tcb_3ds(filepath=str(path))
    animation.key_set(bpy.data.objects["Tri"], "location", 10, tension=-0.5)
    before, after = three_ds.read(path.read_bytes()).nodes[0], give().nodes[0]
    for kind in ("ROTATION", "SCALE"):
        assert bits(before.track(kind)) == bits(after.track(kind))
    assert after.track("POSITION").parameters[0, 1] == -0.5
    assert after.track("POSITION").values.tolist() == before.track("POSITION").values.tolist()


@pytest.mark.parametrize("change", [None, "hide_render", "marker"])
def test_unchanged_morph_and_hide_keys_are_exported_bit_for_bit(
    give: Export, tmp_path: Path, said, change: str | None
) -> None:
    morph, hide = track("MORPH", (0, "Smile"), (12, "Frown")), track("HIDE", (5,), (9,))
    file_scene = scene(three_ds.Node("OBJECT", b"Face", flags=(0x4000, 7), tracks=(morph, hide)))
    bpy.ops.import_anim.tcb_3ds(filepath=str(save(tmp_path / "face.3ds", file_scene)))
    action = bpy.data.objects["Face"].animation_data.action
    if change == "marker":
        action.pose_markers[0].frame = 3
    elif change == "hide_render":
        key(bpy.data.objects["Face"], "hide_render", [(20, 1.0)])
    (node,) = give().nodes
    assert [one.kind for one in node.tracks].count("MORPH") == (change != "marker")
    assert ("its markers were changed" in said()) == (change == "marker")
    assert (bits(node.track("HIDE")) == bits(hide)) == (change != "hide_render")
    assert node.flags[1] == (0 if change == "hide_render" else 7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("3ds", b"MM"),
        ("3ds", "a string"),
        ("3ds_conversion", "{"),
        ("3ds_conversion", "[]"),
        ("3ds_conversion", 5),
        ("3ds_conversion", '{"axes": [1, 2], "choices": []}'),
        ("3ds_conversion", None),
    ],
)
def test_content_that_cannot_be_exported_as_imported_has_a_note(
    give: Export, shared_data: Path, said, name: str, value: object
) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / "tcb_fixture_lib3ds.3ds"))
    whole = tracks(give())
    assert "damaged" not in said()
    item = bpy.data.objects["Tri"]
    del item[name]
    if value is not None:
        item[name] = value
    assert tracks(give()).keys() == whole.keys()
    assert '"Tri": the saved state of the imported 3DS file was damaged, so it was created again' in said()


def forget_sources() -> None:
    for item in bpy.data.objects:
        item.pop("3ds", None)


def views() -> dict[tuple, np.ndarray]:
    """Return all visible properties of the objects at each frame."""
    seen = {}
    for frame in FRAMES:
        for item in bpy.data.objects:
            numbers = [world(item.name, frame).ravel(), [item.hide_render]]
            shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            if item.type == "CAMERA":
                numbers.append([shown.angle_x])
            if item.type == "LIGHT":
                numbers.append([*shown.color, shown.spot_size, shown.spot_blend])
            seen[item.name, frame] = np.concatenate(numbers)
    return seen


@pytest.mark.parametrize("axes", [{}, *OTHER_AXES])
@pytest.mark.parametrize("name", SCENES)
def test_exported_scenes_are_imported_with_the_same_keys_and_motion(
    give: Export, tmp_path: Path, name: str, axes: dict
) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", SCENES[name]()))
    before = views()
    forget_sources()
    given = give(**axes)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "given again.3ds", given), **axes)
    after = views()
    assert after.keys() - {("3DS Axes", frame) for frame in FRAMES} == before.keys()
    for at, numbers in before.items():
        # Files and F-curves round angles to float32, and the fits of handles differ slightly between processors.
        assert after[at] == pytest.approx(numbers, rel=1e-6, abs=1e-5 if axes else 5e-6), at
    if axes:
        return
    for kept in SCENES[name]().nodes:
        node = next(node for node in given.nodes if (node.kind, object_name(node)) == (kept.kind, kept.name))
        for one in kept.tracks:
            other = node.track(one.kind)
            assert other.frames.tolist() == one.frames.tolist()
            assert other.parameters.tolist() == one.parameters.tolist()
            assert other.cycle == one.cycle
            if one.kind not in ("ROTATION", "HIDE"):
                assert other.values == pytest.approx(one.values, rel=1e-6)


def keyed(name: str, animation, *, tcb: bool = True, mode: str = "XYZ") -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (len(name), 0, 0), (0, 2, 0), (0, 0, 3)], [], [(0, 1, 2), (0, 1, 3)])
    item = new_object(name, data=mesh)
    item.rotation_mode = mode
    key(item, "location", [(0, (0, 0, 0)), (10, (4, 1, 2)), (30, (0, 5, 1))])
    key(item, "rotation_euler", [(0, (0, 0, 0.3)), (10, (0.5, 7.0, 0)), (30, (0, 9.0, 1))])
    if tcb:
        animation.enable(item, keep_look=False)
        animation.key_set(item, "location", 10, tension=0.5, ease_to=0.25)
        animation.bake(item)
    return item


def remove_tcb(item: bpy.types.Object, animation) -> None:
    animation.remove(item)


def bake_in_world(item: bpy.types.Object, animation) -> None:
    item.parent = keyed("Parent", animation)
    animation.bake_in_world(item)


def mute_one_component(item: bpy.types.Object, animation) -> None:
    item.location.y = 3.0
    fcurves(item)[1].mute = True


def reverse(item: bpy.types.Object, animation) -> None:
    animation.retime(item, "REVERSE")
    animation.bake(item)


def ease_one_component(item: bpy.types.Object, animation) -> None:
    animation.free_many([item])
    fcurves(item)[1].keyframe_points[1].interpolation = "SINE"
    animation.bake(item)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (remove_tcb, "not TCB"),
        (bake_in_world, "baked in world space"),
        (mute_one_component, "partly muted"),
        (reverse, "retimed by a frame function"),
        (ease_one_component, "components have keys or spline ends at different frames"),
    ],
)
def test_tracks_that_keys_of_a_file_can_not_play_are_sampled(
    give: Export, animation, said, change, reason: str
) -> None:
    item = keyed("Box", animation)
    change(item, animation)
    position = next(node for node in give().nodes if object_name(node) == b"Box").track("POSITION")
    assert f'"Box", Location: {reason}: exported as 31 samples' in said()
    assert position.frames.tolist() == list(FRAMES)
    for frame, place in zip(FRAMES, position.values, strict=True):
        bpy.context.scene.frame_set(frame)
        assert place == pytest.approx(item.location, abs=1e-6), frame


def only_enabled(item: bpy.types.Object, animation) -> None:
    animation.enable(item, keep_look=False)


def restored(item: bpy.types.Object, animation) -> None:
    animation.bake(item, keep_look=False)
    animation.restore(item)


def edited_since(item: bpy.types.Object, animation) -> None:
    animation.bake(item, output="HANDLES", keep_look=False)
    animation.key_set(item, "rotation_euler", 10, continuity=-0.5)
    fcurves(item)[0].keyframe_points[-1].co.y += 1.0


@pytest.mark.parametrize(
    ("reach", "state"),
    [
        (only_enabled, "the track is TCB but not baked"),
        (restored, "the track is TCB but not baked"),
        (edited_since, "the track was edited after"),
    ],
)
def test_motion_that_blender_does_not_play_is_exported_as_baked_with_a_note(
    give: Export, animation, said, tmp_path: Path, reach, state: str
) -> None:
    item = keyed("Box", animation, tcb=False)
    reach(item, animation)
    before = world("Box", 5)
    given = give()
    text = said()
    for name in ("Location", "Euler Rotation"):
        assert f'"Box", {name}: {state}' in text
    animation.bake(item)
    played = [world("Box", frame) for frame in FRAMES]
    assert np.abs(played[5] - before).max() > 0.01, "it was worth saying"
    give()
    assert "as it would play after a" not in said(), "nor where there is nothing to play: the scale has no keys"
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "again.3ds", given), output="SAMPLES")
    for frame in FRAMES:
        assert world("Box.001", frame) == pytest.approx(played[frame], abs=2e-6), frame


def test_saved_keys_of_curves_edited_outside_are_exported_with_a_note(give: Export, animation, said) -> None:
    item = keyed("Box", animation)
    before = give().nodes[0].track("POSITION").values
    said()
    fcurves(item)[0].keyframe_points[-1].co.y += 1.0
    position = give().nodes[0].track("POSITION")
    assert position.frames.tolist() == [0, 10, 30]
    assert position.values.tolist() == before.tolist()
    assert '"Box", Location: the track was edited outside TCB after the bake' in said()


def test_a_rotation_baked_for_another_mode_has_a_note(give: Export, animation, said) -> None:
    item, other = keyed("Box", animation), new_object("Other", data=bpy.data.meshes["Box"])
    other.rotation_mode = "ZYX"
    other.animation_data_create().action = item.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = item.animation_data.action_slot
    animation.bake_many([item, other], animation.Options(output="SAMPLES"))
    give()
    text = said()
    assert '"Other", Euler Rotation: the track was baked for another rotation mode' in text
    assert "edited after" not in text
    assert '"Box", Euler Rotation: the track was baked' not in text


def test_motion_by_constraints_is_sampled(give: Export, animation, said) -> None:
    item = keyed("Box", animation)
    item.constraints.new("COPY_LOCATION").target = new_object("Leader")
    bpy.data.objects["Leader"].location = (3, 4, 5)
    position = give().nodes[0].track("POSITION")
    assert position.values.tolist() == [[3, 4, 5]]
    assert 'the object has the constraint "Copy Location": the motion was exported as samples' in said()


def moves_as(given: three_ds.Scene, item: bpy.types.Object, frames: Iterable[int], folder: Path) -> None:
    """Assert that the imported object moves in the same way as the original in Blender."""
    before = {frame: world(item.name, frame) for frame in frames}
    bpy.ops.import_anim.tcb_3ds(filepath=save(folder / "again.3ds", given), output="SAMPLES", use_scene_range=False)
    for frame, expected in before.items():
        assert world(f"{item.name}.001", frame) == pytest.approx(expected, abs=3e-6), frame


@pytest.mark.parametrize("tcb", [True, False])
@pytest.mark.parametrize(
    ("path", "mode", "none", "most"),
    [
        ("delta_location", "XYZ", (0, 0, 0), (3, 1, -2)),
        ("delta_rotation_euler", "XYZ", (0, 0, 0), (0.5, 0, 1)),
        ("delta_rotation_quaternion", "QUATERNION", (1, 0, 0, 0), (0.6, 0, 0.8, 0)),
        ("delta_scale", "XYZ", (1, 1, 1), (2, 1, 0.5)),
    ],
)
def test_animated_delta_transforms_are_sampled_at_any_current_value(
    give: Export, animation, said, tmp_path: Path, tcb: bool, path: str, mode: str, none: tuple, most: tuple
) -> None:
    item = keyed("Box", animation, tcb=tcb, mode=mode)
    key(item, path, [(0, none), (20, most), (30, none)])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 30
    bpy.context.scene.frame_set(0)
    moves_as(give(), item, FRAMES, tmp_path)
    assert '"Box": the object has delta transforms: the motion was exported as samples' in said()


def test_delta_transforms_keyed_at_zero_need_no_samples(give: Export, animation) -> None:
    item = keyed("Box", animation)
    key(item, "delta_scale", [(0, (1, 1, 1)), (30, (1, 1, 1))])
    key(item, "delta_location", [(0, (1, 1, 1)), (30, (2, 1, 1))])
    for curve in fcurves(item):
        curve.mute = curve.data_path == "delta_location"
    assert give().nodes[0].track("POSITION").frames.tolist() == [0, 10, 30]


@pytest.mark.parametrize("driven", [False, True])
def test_a_constraint_that_acts_later_is_sampled(give: Export, animation, said, tmp_path: Path, driven: bool) -> None:
    item = keyed("Box", animation)
    item.constraints.new("COPY_LOCATION").target = new_object("Leader")
    bpy.data.objects["Leader"].location = (3, 4, 5)
    switch = item.constraints["Copy Location"]
    if driven:
        switch.driver_add("enabled").driver.expression = "frame > 11"
    else:
        key(item, switch.path_from_id("enabled"), [(0, 0), (12, 1), (25, 0)])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 30
    bpy.context.scene.frame_set(0)
    given = give()
    boxes = [node for node in given.nodes if object_name(node) == b"Box"]
    assert 'the object has the constraint "Copy Location": the motion was exported as samples' in said()
    moves_as(scene(*boxes, objects=given.objects), item, FRAMES, tmp_path)


LONG = range(61)


def cyclic(curve: bpy.types.FCurve) -> None:
    curve.modifiers.new("CYCLES")


def noisy(curve: bpy.types.FCurve) -> None:
    curve.modifiers.new("NOISE").phase = curve.array_index


def extrapolated(curve: bpy.types.FCurve) -> None:
    curve.extrapolation = "LINEAR"


def without_keys(curve: bpy.types.FCurve) -> None:
    curve.keyframe_points.clear()
    curve.modifiers.new("GENERATOR").coefficients = (0.1, 0.02 * curve.array_index)


def long_scene() -> None:
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = LONG[0], LONG[-1]


@pytest.mark.parametrize("going", [cyclic, noisy, extrapolated, without_keys])
@pytest.mark.parametrize(
    ("mode", "first", "last"),
    [
        ("XYZ", (0, 0, 0.3), (0.5, 1, 0)),
        ("QUATERNION", (1, 0, 0, 0), (0.6, 0, 0.8, 0)),
        ("AXIS_ANGLE", (0.2, 1, 0, 0), (1.5, 0, 1, 0)),
    ],
)
def test_motion_beyond_the_keys_is_sampled_over_the_scene_frames(
    give: Export, animation, said, tmp_path: Path, mode: str, first: tuple, last: tuple, going
) -> None:
    item, path = keyed("Box", animation, tcb=False), rotation_path(mode)
    for curve in fcurves(item):
        bag_of(item).fcurves.remove(curve)
    item.rotation_mode = mode
    key(item, "location", [(10, (0, 0, 0)), (22, (4, 1, 2)), (35, (0, 5, 1))])
    key(item, path, [(10, first), (35, last)])
    for curve in fcurves(item):
        going(curve)
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    long_scene()
    moves_as(give(), item, LONG, tmp_path)
    text, how = said(), "not TCB: exported as 61 samples, including the scene's frames outside the keys"
    assert f'"Box", Location: {how}' in text
    assert f'"Box", {animation.track_paths.track_name(path)}: {how}' in text


@pytest.mark.parametrize("going", [extrapolated, cyclic, noisy])
def test_motion_that_holds_outside_the_keys_is_sampled_between_them(give: Export, animation, going) -> None:
    item = keyed("Box", animation, tcb=False)
    for curve in fcurves(item):
        going(curve)
        for modifier in curve.modifiers:
            modifier.mute = True
        for point in (curve.keyframe_points[0], curve.keyframe_points[-1]):
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left, point.handle_right = point.co + Vector((-2, 0)), point.co + Vector((2, 0))
    long_scene()
    assert give().nodes[0].track("POSITION").frames.tolist() == list(FRAMES)


def test_keys_outside_the_scenes_frames_are_sampled_too(give: Export, animation, tmp_path: Path) -> None:
    item = keyed("Box", animation, tcb=False)
    for curve in fcurves(item):
        extrapolated(curve)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 40
    given = give()
    assert given.nodes[0].track("POSITION").frames.tolist() == list(range(41))
    moves_as(given, item, range(41), tmp_path)


def test_motion_beyond_tcb_keys_has_a_note(give: Export, animation, said) -> None:
    item = keyed("Box", animation, tcb=False)
    for curve in fcurves(item):
        extrapolated(curve)
    animation.enable(item, keep_look=False)
    animation.bake(item, output="HANDLES")
    long_scene()
    assert np.abs(world("Box", 60) - world("Box", 30)).max() > 0.1, "it goes on"
    assert give().nodes[0].track("POSITION").frames.tolist() == [0, 10, 30]
    text = '"Box", Location: the motion outside the keys was not exported, so the file holds the first and last values'
    assert text in said()
    animation.bake(item)
    assert np.abs(world("Box", 60) - world("Box", 30)).max() < 1e-6, "samples hold it"
    give()
    assert "the motion outside the keys" not in said()


def test_cycles_of_other_methods_are_sampled_over_the_scene_frames(give: Export, animation, tmp_path: Path) -> None:
    item = keyed("Box", animation)
    animation.key_set(item, "location", 10, ease_to=0.0)
    animation.choose(item, "location", method="CATMULL_ROM", cycle="REPEAT")
    animation.bake(item, output="HANDLES")
    long_scene()
    position = give().nodes[0].track("POSITION")
    assert position.frames.tolist() == list(LONG)
    for frame, place in zip(LONG, position.values, strict=True):
        assert world("Box", frame)[:3, 3] == pytest.approx(place, abs=1e-5), frame


def test_lenses_and_visibility_that_change_beyond_the_keys_are_sampled(give: Export, animation, tmp_path: Path) -> None:
    camera, item = new_object("Eye", data=bpy.data.cameras.new("Eye")), new_object("Box")
    key(camera.data, "lens", [(0, 20.0), (10, 50.0)])
    key(item, "hide_render", [(0, 0.0), (7, 1.0), (10, 0.0)])
    for curve in (*fcurves(camera.data), *fcurves(item)):
        cyclic(curve)
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT" if curve.data_path == "hide_render" else "LINEAR"
    long_scene()
    given, seen, hidden = give(), [], []
    for frame in LONG:
        bpy.context.scene.frame_set(frame)
        seen.append(math.degrees(camera.data.angle_x))
        hidden.append(item.hide_render)
    nodes = {(node.kind, object_name(node)): node for node in given.nodes}
    fov = nodes["CAMERA", b"Eye"].track("FOV")
    assert (fov.frames.tolist(), fov.values[:, 0]) == (list(LONG), pytest.approx(seen, rel=1e-6))
    turns = [frame for frame in LONG[1:] if hidden[frame] != hidden[frame - 1]]
    assert len(turns) == 12
    assert nodes["OBJECT", b"Box"].track("HIDE").frames.tolist() == turns


@pytest.mark.parametrize(
    ("interpolation", "keys"),
    [("LINEAR", [(0, 1.0), (7, 0.0), (20, 1.0)]), ("CONSTANT", [(0, 0.0), (7, 0.6), (12, 1.0), (20, 2.0)])],
)
def test_visibility_is_exported_as_blender_plays_it(give: Export, interpolation: str, keys: list) -> None:
    item = new_object("Box")
    key(item, "hide_render", keys)
    for point in fcurves(item)[0].keyframe_points:
        point.interpolation = interpolation
    hidden = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        hidden.append(item.hide_render)
    node = give().nodes[0]
    assert bool(node.flags[0] & three_ds.HIDDEN) == hidden[0]
    turns = [frame for frame in FRAMES[1:] if hidden[frame] != hidden[frame - 1]]
    assert node.track("HIDE").frames.tolist() == turns


def by_driver(data: bpy.types.ID, path: str, index: int, factor: float) -> None:
    added = data.driver_add(path, index) if index >= 0 else data.driver_add(path)
    added.driver.expression = f"{factor} * (1 + frame / 60)"


def by_strip(data: bpy.types.ID, path: str, index: int, factor: float) -> None:
    at = max(index, 0)
    key(data, path, [(0, (factor,) * (at + 1)), (20, (2 * factor,) * (at + 1))], channels=[at])
    animation = data.animation_data
    strip = animation.nla_tracks.new().strips.new("Strip", 5, animation.action)
    strip.repeat = 2
    if HAS_SLOTS:
        strip.action_slot = animation.action_slot
    animation.action = None


@pytest.mark.parametrize("moved", [by_driver, by_strip])
def test_properties_of_lights_and_cameras_moved_by_drivers_and_strips_are_sampled(
    give: Export, animation, said, moved
) -> None:
    lamp, spot, eye = (
        new_object(name, data=data)
        for name, data in (
            ("Lamp", bpy.data.lights.new("Lamp", "POINT")),
            ("Spot", bpy.data.lights.new("Spot", "SPOT")),
            ("Eye", bpy.data.cameras.new("Eye")),
        )
    )
    moved(lamp.data, "color", 1, 0.4)
    moved(spot.data, "spot_size", -1, 0.5)
    moved(eye.data, "lens", -1, 30.0)
    long_scene()
    nodes = {(node.kind, node.name): node for node in give().nodes}
    text, seen = said(), []
    for frame in LONG:
        bpy.context.scene.frame_set(frame)
        seen.append([lamp.data.color[1], math.degrees(spot.data.spot_size), math.degrees(eye.data.angle_x)])
    assert (np.ptp(seen, axis=0) > 0.3).all(), "they move"
    found = (
        nodes["LIGHT", b"Lamp"].track("COLOR").values[:, 1],
        nodes["SPOTLIGHT", b"Spot"].track("FALLOFF").values[:, 0],
        nodes["CAMERA", b"Eye"].track("FOV").values[:, 0],
    )
    assert np.column_stack(found) == pytest.approx(np.array(seen), rel=1e-6)
    reason = "driven" if moved is by_driver else "there are NLA strips"
    assert f'"Lamp", Color: {reason}: exported as 61 samples' in text


def test_a_world_color_with_a_driver_has_a_note(give: Export, animation, said) -> None:
    world_now = bpy.data.worlds.new("World")
    bpy.context.scene.world = world_now
    key(world_now, "color", [(0, (0, 0, 0)), (10, (1, 1, 1))])
    world_now.driver_add("color", 0).driver.expression = "frame / 60"
    give()
    assert '"World", Color: driven: not exported' in said()


def test_curves_of_samples_are_sampled(give: Export, animation, tmp_path: Path) -> None:
    item = keyed("Box", animation, tcb=False)
    for curve in fcurves(item):
        curve.convert_to_samples(0, 31)
    moves_as(give(), item, FRAMES, tmp_path)


def led() -> bpy.types.Object:
    """Create a box that follows another object, which moves by one unit per frame."""
    item, leader = new_object("Box"), new_object("Leader")
    item.constraints.new("COPY_LOCATION").target = leader
    key(leader, "location", [(0, (0, 0, 0)), (30, (30, 0, 0))])
    for curve in fcurves(leader):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return item


def test_more_samples_than_the_limit_are_refused_before_any_is_made(give: Export, animation, tmp_path: Path) -> None:
    led()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 1_048_574
    shown: list[int] = []
    # The handler is not persistent, so loading the next file removes it.
    bpy.app.handlers.frame_change_pre.append(lambda scene, *_: shown.append(scene.frame_current))
    with pytest.raises(RuntimeError, match=r'"Box": 1,048,574 samples .* limit of 1,000,000. Shorten') as refused:
        give()
    assert len(shown) <= 1  # the original frame
    assert "raise the sample limit" in str(refused.value)
    assert not (tmp_path / "given.3ds").exists()


def test_the_limit_of_samples_can_be_raised(give: Export, animation) -> None:
    item = led()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 30
    animation.enable(bpy.data.objects["Leader"], keep_look=False)
    with pytest.raises(RuntimeError, match=f'"{item.name}": 31 samples'):
        give(sample_limit=30)
    position = next(node for node in give(sample_limit=31).nodes if object_name(node) == b"Box").track("POSITION")
    assert position.values[:, 0].tolist() == list(FRAMES)
    item.constraints.clear()
    key(item, "location", [(0, (0, 0, 0)), (50, (4, 1, 2))])
    with pytest.raises(RuntimeError, match='"Box", Location: 51 samples'):
        give(sample_limit=31)


def test_an_export_shows_progress_and_restores_the_scene_if_canceled(scene, animation) -> None:
    exporting = importlib.import_module(f"{animation.__name__.rpartition('.')[0]}.exchange.exporting.exporter")
    led()
    scene.frame_start, scene.frame_end = 0, 30
    scene.frame_set(7, subframe=0.5)
    before = {repr(datablock) for datablock in bpy.data.user_map()}
    told = []
    conversion = exporting.Conversion()
    animation.steps.run_steps(
        exporting.export_steps(scene.objects, scene, conversion, 1000), lambda *done: told.append(done)
    )
    assert told == [(done, 33) for done in range(1, 34)], "31 frames, then two objects"
    assert {repr(datablock) for datablock in bpy.data.user_map()} == before
    assert scene.frame_current_final == 7.5
    steps = exporting.export_steps(scene.objects, scene, conversion, 1000)
    assert [next(steps) for _ in range(5)] == told[:5]
    steps.close()
    assert {repr(datablock) for datablock in bpy.data.user_map()} == before
    assert scene.frame_current_final == 7.5


def test_keys_include_the_parent_inverse(give: Export, animation, tmp_path: Path) -> None:
    child, parent = keyed("Child", animation), keyed("Parent", animation)
    child.parent = parent
    child.matrix_parent_inverse = Matrix(((0, -2, 0, 1), (2, 0, 0, 2), (0, 0, 2, 3), (0, 0, 0, 1)))
    before = [world("Child", frame) for frame in FRAMES]
    given = give()
    assert given.nodes[-1].track("POSITION").frames.tolist() == [0, 10, 30]
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "again.3ds", given), output="SAMPLES")
    for frame in FRAMES:
        assert world("Child.001", frame) == pytest.approx(before[frame], abs=1e-5), frame


def test_a_camera_without_a_target_gets_one(give: Export, animation, tmp_path: Path) -> None:
    item = new_object("Eye", data=bpy.data.cameras.new("Eye"))
    bpy.context.scene.frame_end = 30
    key(item, "location", [(0, (0, 0, 0)), (30, (4, 1, 2))])
    key(item, "rotation_euler", [(0, (1.0, 0.2, 0.3)), (30, (0.5, -0.8, 2.0))])
    animation.bake(item, keep_look=False)
    before = [world("Eye", frame) for frame in FRAMES]
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "again.3ds", give()))
    for frame in FRAMES[1:]:
        assert world("Eye.001", frame) == pytest.approx(before[frame], abs=1e-5), frame


def test_long_names_are_cut_with_a_note(give: Export, animation, said) -> None:
    for name in ("A long name of one", "A long name of two"):
        new_object(name)
    assert [object_name(node) for node in give().nodes] == [b"A long nam", b"A long n~1"]
    assert '"A long name of two": exported as "A long n~1"' in said()


def test_keys_between_frames_are_moved_with_a_note(give: Export, animation, said) -> None:
    item = new_object("Box")
    key(item, "location", [(0, (0, 0, 0)), (10.5, (1, 0, 0)), (20, (2, 0, 0))])
    animation.enable(item, keep_look=False)
    assert give().nodes[0].track("POSITION").frames.tolist() == [0, 10, 20]
    assert "1 key not at a whole frame, such as 10.5" in said()


def test_keys_of_one_frame_come_back_to_it(give: Export, shared_data: Path) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / "claw.3DS"))
    forget_sources()
    assert give().nodes[0].track("ROTATION").frames.tolist() == [0, 83, 83]


def seen_points() -> dict[tuple[str, int], np.ndarray]:
    """Return the world positions of each mesh object's vertices at some frames."""
    return {
        (item.name, frame): np.array([world(item.name, frame) @ (*vertex.co, 1) for vertex in item.data.vertices])
        for frame in (0, 4, 10, 17, 30)
        for item in bpy.data.objects
        if item.type == "MESH"
    }


def assert_same_points(given: three_ds.Scene, before: dict[tuple[str, int], np.ndarray], path: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_anim.tcb_3ds(filepath=save(path, given), output="SAMPLES")
    after = seen_points()
    assert after.keys() == before.keys()
    for at, points in before.items():
        assert after[at] == pytest.approx(points, abs=1e-5), at


def test_instances_of_a_file_stay_instances_around_other_pivots_too(give: Export, tmp_path: Path) -> None:
    said = ((None, None, 3), (b"two", None, 3), (b"three", (0.5, 0, 1), 3), (b"four", (0.5, 0, 1), None))
    turns = track("ROTATION", (0, 0.5, 0.6, 0.0, 0.8), (10, 1.1, 0.0, 1.0, 0.0))
    nodes = [
        three_ds.Node(
            "OBJECT",
            b"Box",
            parent,
            number,
            pivot=None if pivot is None else np.array(pivot, np.float32),
            instance_name=name,
            tracks=(track("POSITION", (0, 0, 0, 0), (10, number, 2, 3), (30, 0, number, 0)), turns),
        )
        for number, (name, pivot, parent) in enumerate(said)
    ]
    made = scene(*nodes, objects=(box(b"Box"),))
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", made), output="SAMPLES")
    before = seen_points()
    given = give()
    assert [item.name for item in given.objects] == [b"Box"]
    assert {(node.name, node.instance_name) for node in given.nodes} == {(b"Box", name) for name, *_ in said}
    assert tracks(given) == tracks(made)
    assert_same_points(given, before, tmp_path / "again.3ds")


def test_an_added_instance_does_not_get_the_name_of_an_imported_one(give: Export, tmp_path: Path) -> None:
    nodes = [three_ds.Node("OBJECT", b"Box", instance_name=name) for name in (b"one", b"two")]
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", scene(*nodes, objects=(box(b"Box"),))))
    mesh = bpy.data.objects["Box.one"].data
    for name in ("one", "two"):
        new_object(name, data=mesh)
    given = give()
    names = [(node.name, node.instance_name) for node in given.nodes]
    assert {(b"Box", b"one"), (b"Box", b"two")} <= set(names)
    assert len(set(names)) == 4


@pytest.mark.parametrize("mirrored", [None, "Box", "Box.001"])
def test_linked_duplicates_are_instances_and_move_the_same(
    give: Export, animation, tmp_path: Path, mirrored: str | None
) -> None:
    first = keyed("Box", animation)
    for number in (1, 2):
        copy = new_object(f"Box.{number:03}", data=first.data)
        key(copy, "location", [(0, (number, 0, 0)), (10, (0, 4, number)), (30, (2, number, 1))])
        animation.enable(copy, keep_look=False)
        animation.bake(copy)
    if mirrored is not None:
        bpy.data.objects[mirrored].scale.x = -1.0
    before = seen_points()
    given = give()
    assert [item.name for item in given.objects] == [b"Box"]
    assert [(node.name, node.instance_name) for node in given.nodes] == [
        (b"Box", None),
        (b"Box", b"001"),
        (b"Box", b"002"),
    ]
    assert_same_points(given, before, tmp_path / "again.3ds")


def test_a_vertex_with_several_texture_coordinates_becomes_several(give: Export, tmp_path: Path) -> None:
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)], [], [(0, 1, 2), (0, 1, 3)])
    layer = mesh.uv_layers.new()
    layer.data.foreach_set("uv", np.arange(12, dtype=np.float32) / 12)
    new_object("Box", data=mesh)
    content = give().objects[0].content
    assert len(content.vertices) == 6
    assert sorted(content.texture_coordinates[content.faces.ravel()].ravel()) == pytest.approx(np.arange(12) / 12)


def test_one_note_counts_the_content_that_is_not_exported(give: Export, said) -> None:
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)], [], [(0, 1, 2), (2, 1, 0), (0, 1, 3)])
    mesh.polygons[0].use_smooth = True
    for name in ("Stone", "Wood"):
        mesh.materials.append(bpy.data.materials.new(name))
    for name in ("One", "Two"):
        new_object(name, data=mesh)
    new_object("Eye", data=bpy.data.cameras.new("Eye"))
    (content,) = (item.content for item in give().objects if isinstance(item.content, three_ds.Mesh))
    assert content.faces.tolist() == [[0, 1, 2], [0, 1, 3]]
    lines = said()
    left = "2 materials, the smooth shading of 1 mesh, 1 doubled face"
    assert lines.count("Info: Skipped: ") == lines.count(f"Info: Skipped: {left}\n") == 1
    # The status bar shows the last line.
    assert lines.splitlines()[-1] == "Info: Exported 2 objects, 1 camera, 1 camera target, 10 tracks, 10 keys"


def test_an_empty_is_a_dummy_whose_motion_and_child_lib3ds_reads(give: Export, animation, tmp_path: Path) -> None:
    rig, arm = new_object("Rig"), new_object("Box", data=bpy.data.meshes.new("Box"))
    arm.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    arm.parent = rig
    key(rig, "location", [(0, (0, 1, 2)), (10, (5, 0, -1)), (20, (1, 1, 1))])
    key(arm, "location", [(0, (0, 0, 1)), (10, (2, 0, 1)), (20, (0, 3, 1))])
    for item in (rig, arm):
        animation.bake(item, keep_look=False)
    names = [(node.name, node.instance_name, node.parent) for node in give().nodes]
    assert names == [(b"$$$DUMMY", b"Rig", None), (b"Box", None, 0)]
    path = tmp_path / "given.3ds"
    dummy, child = load(path, range(2)).values()
    assert (dummy.name, dummy.instance_name, child.parent) == (b"$$$DUMMY", b"Rig", 0)
    assert [key.frame for key in dummy.tracks["POSITION"][1]] == [0, 10, 20]
    for frame in (0, 10, 20):
        for ident, item in enumerate((rig, arm)):
            assert placed(path, ident, frame) == pytest.approx(np.array(world(item.name, frame)), abs=1e-6)


def test_an_armature_is_a_dummy_and_the_lost_motion_of_its_bones_is_reported(give: Export, said) -> None:
    key(new_object("Rig", data=bpy.data.armatures.new("Rig")), "location", [(0, (0, 1, 2)), (10, (5, 0, -1))])
    (node,) = give().nodes
    assert (node.name, node.instance_name) == (b"$$$DUMMY", b"Rig")
    assert "exported as a dummy, without the motion of its bones" in said()


def test_only_selected_objects_are_exported_if_chosen(give: Export) -> None:
    parent, child, other = (new_object(name) for name in ("Parent", "Child", "Other"))
    child.parent = parent
    for item in (parent, other):
        item.select_set(False)
    child.select_set(True)
    bpy.context.view_layer.update()
    (node,) = give(use_selection=True).nodes
    assert (object_name(node), node.parent) == (b"Child", None)


def test_scale_and_start_of_an_import_are_reversed(give: Export, shared_data: Path) -> None:
    path = shared_data / "mak_running.3DS"
    bpy.ops.import_anim.tcb_3ds(filepath=str(path), global_scale=0.1, frame_start=50)
    assert tracks(give(global_scale=10, frame_start=50)) == tracks(three_ds.read(path.read_bytes()))


def test_hidden_objects_are_sampled_too(give: Export, animation) -> None:
    item, leader = new_object("Box"), new_object("Leader")
    key(leader, "location", [(0, (0, 0, 0)), (30, (5, 0, 0))])
    item.constraints.new("COPY_LOCATION").target = leader
    expected = [world("Box", frame)[0, 3] for frame in FRAMES]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 30
    for path in ("hide_viewport", "hide_render"):
        insert(item, path, [(0, True), (20, False)])
    node = next(node for node in give().nodes if object_name(node) == b"Box")
    assert node.track("POSITION").values[:, 0] == pytest.approx(expected, abs=1e-6)


def test_a_failed_export_leaves_the_existing_file(give: Export, tmp_path: Path, monkeypatch) -> None:
    new_object("Box")
    (tmp_path / "given.3ds").write_bytes(b"as it was")
    wrote = Path.write_bytes

    def disk_full(path: Path, content: bytes) -> None:
        wrote(path, content[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", disk_full)
    with pytest.raises(RuntimeError, match=r"given\.3ds cannot be written: No space left on device"):
        give()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"given.3ds": b"as it was"}


def test_locked_keys_are_written_and_muted_ones_are_not(give: Export, animation) -> None:
    item = keyed("Box", animation)
    for curve in fcurves(item):
        curve.lock = True
    assert give().nodes[0].track("POSITION").frames.tolist() == [0, 10, 30]
    item.location = (7, 8, 9)
    for curve in fcurves(item):
        curve.mute = curve.mute or curve.data_path == "location"
    position = give().nodes[0].track("POSITION")
    assert (position.frames.tolist(), position.values.tolist()) == ([0], [[7, 8, 9]])


def test_an_imported_track_with_another_method_is_rewritten(give: Export, animation, shared_data: Path) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / "tcb_fixture_lib3ds.3ds"))
    item = bpy.data.objects["Tri"]
    animation.choose(item, "rotation", method="LINEAR")
    animation.bake(item)
    assert len(give().nodes[0].track("ROTATION").frames) > 20


def test_the_modifiers_of_all_channels_are_in_one_note(give: Export, animation, said) -> None:
    item = keyed("Box", animation)
    x, y, z = (curve for curve in fcurves(item) if curve.data_path == "location")
    x.modifiers.new("NOISE")
    y.modifiers.new("LIMITS")
    z.modifiers.new("STEPPED").mute = True
    give()
    assert '"Box", Location: F-curve modifiers were not exported: limits, noise\n' in said()


def test_an_added_instance_keeps_its_place(give: Export, tmp_path: Path) -> None:
    pivot = np.array([1, 2, 3], np.float32)
    made = scene(three_ds.Node("OBJECT", b"Box", pivot=pivot, tracks=()), objects=(box(b"Box"),))
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", made))
    added = new_object("Added", data=bpy.data.objects["Box"].data)
    added.location = (10, 0, 0)
    bpy.context.view_layer.update()
    expected = [added.matrix_world @ vertex.co for vertex in added.data.vertices]
    given = Composition(give())
    assert given.vertices(1, 0) == pytest.approx(np.array(expected), abs=1e-5)


def test_the_field_of_view_is_that_of_the_pictures_width(give: Export) -> None:
    item = new_object("Eye", data=bpy.data.cameras.new("Eye"))
    render = bpy.context.scene.render
    render.resolution_x, render.resolution_y = 1000, 2000
    for fit in ("AUTO", "HORIZONTAL", "VERTICAL"):
        item.data.sensor_fit = fit
        # Corners of the picture at a distance of one unit, from Blender.
        corners = item.data.view_frame(scene=bpy.context.scene)
        width, ahead = max(abs(corner.x) for corner in corners), abs(corners[0].z)
        fov = give().nodes[0].track("FOV").values[0, 0]
        assert math.radians(fov) == pytest.approx(2 * math.atan(width / ahead), rel=1e-6), fit


def test_numbers_out_of_the_range_of_the_file_have_a_note(give: Export, said) -> None:
    new_object("Box").location = (3e38, 0, 1)
    values = give(global_scale=10).nodes[0].track("POSITION").values
    assert values.tolist() == [[float(np.finfo(np.float32).max), 0, 10]]
    assert "1 key has a value that the file cannot store" in said()


def test_the_target_of_a_point_light_is_exported(give: Export) -> None:
    light = new_object("Lamp", data=bpy.data.lights.new("Lamp", "POINT"))
    aim = light.constraints.new("TRACK_TO")
    aim.target, aim.track_axis, aim.up_axis = new_object("Aim"), "TRACK_NEGATIVE_Z", "UP_Y"
    assert {object_name(node) for node in give().nodes} == {b"Lamp", b"Aim"}


def test_a_spotlight_is_equal_in_its_tracks_and_its_object(give: Export) -> None:
    lamp = new_object("Lamp", data=bpy.data.lights.new("Lamp", "SPOT"))
    lamp.data.spot_blend, lamp.data.spot_size = 0.4, 1.2
    given = give()
    spot = given.objects[0].content.spotlight
    for kind, number in (("HOTSPOT", spot.hotspot), ("FALLOFF", spot.falloff)):
        assert given.nodes[0].track(kind).values[0, 0] == pytest.approx(number, rel=1e-6)
    # Blender fades from cos(size / 2) to this fraction of the way to 1.
    edge = math.cos(0.6)
    assert math.cos(math.radians(spot.hotspot) / 2) == pytest.approx(edge + 0.4 * (1 - edge), rel=1e-6)


def test_parent_relations_that_the_file_lacks_have_a_note(give: Export, said) -> None:
    lamp = new_object("Lamp", data=bpy.data.lights.new("Lamp", "POINT"))
    new_object("Held").parent = lamp
    give()
    assert '"Held"' not in said()
    lamp.rotation_euler.x = 1.0
    give()
    assert '"Held": the parent "Lamp" has no scale or rotation in the file' in said()


@pytest.mark.parametrize("axes", OTHER_AXES)
def test_objects_of_the_editor_have_the_axes_of_the_file(give: Export, tmp_path: Path, axes: dict) -> None:
    given = {}
    for options in ({}, axes):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", family(ids=True)), **options)
        forget_sources()
        given[len(options)] = {item.name: item.content for item in give(**options).objects}
    straight, turned = given.values()
    assert straight.keys() == turned.keys() - {b"3DS Axes"}
    for name, mesh in straight.items():
        assert turned[name].matrix == pytest.approx(mesh.matrix, abs=1e-5)
        assert turned[name].vertices == pytest.approx(mesh.vertices, abs=1e-5)


def test_the_color_of_the_world_is_the_ambient_light(give: Export, animation, said, tmp_path: Path) -> None:
    world_there = bpy.context.scene.world = bpy.data.worlds.new("Sky")
    world_there.color = (0.25, 0.5, 0.75)
    if world_there.node_tree is not None:
        world_there.node_tree.nodes.clear()
    (node,) = give().nodes
    assert (node.kind, node.name) == ("AMBIENT", b"$AMBIENT$")
    assert node.track("COLOR").values.tolist() == [[0.25, 0.5, 0.75]]
    key(world_there, "color", [(0, (0, 0, 0)), (10, (1, 0.5, 0.25)), (30, (0, 1, 0.5))])
    sampled = give().nodes[0].track("COLOR")
    assert sampled.frames.tolist() == list(FRAMES)
    assert '"Sky", Color: not TCB: exported as 31 samples' in said()
    animation.enable(world_there, keep_look=False)
    animation.key_set(world_there, "color", 10, tension=0.5)
    animation.bake(world_there)
    before = [played_color(frame) for frame in FRAMES]
    given = give()
    colors = given.nodes[0].track("COLOR")
    assert colors.frames.tolist() == [0, 10, 30]
    assert colors.values.tolist() == [[0, 0, 0], [1, 0.5, 0.25], [0, 1, 0.5]]
    assert colors.parameters[0].tolist() == [0, 0.5, 0]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "again.3ds", given), output="SAMPLES")
    for frame in FRAMES:
        assert played_color(frame) == pytest.approx(before[frame], abs=1e-6), frame


def played_color(frame: int) -> tuple[float, ...]:
    bpy.context.scene.frame_set(frame)
    return tuple(bpy.context.scene.world.color)


@pytest.fixture
def background(scene):
    """The Background node of the scene's world."""
    world_there = scene.world = bpy.data.worlds.new("Sky")
    if world_there.node_tree is None:
        world_there.use_nodes = True
    return world_there.node_tree.nodes["Background"]


def test_the_color_of_the_background_is_the_ambient_light_with_its_keys(give: Export, animation, background) -> None:
    background.inputs["Color"].default_value = (0.25, 0.5, 0.75, 1.0)
    (node,) = give().nodes
    assert (node.kind, node.track("COLOR").values.tolist()) == ("AMBIENT", [[0.25, 0.5, 0.75]])
    tree, path = background.id_data, background.inputs["Color"].path_from_id() + ".default_value"
    key(tree, path, [(0, (0, 0, 0, 1)), (10, (1, 0.5, 0.25, 1)), (30, (0, 1, 0.5, 1))])
    animation.enable(tree, keep_look=False)
    animation.key_set(tree, path, 10, tension=0.5)
    colors = give().nodes[0].track("COLOR")
    assert colors.frames.tolist() == [0, 10, 30]
    assert colors.values.tolist() == [[0, 0, 0], [1, 0.5, 0.25], [0, 1, 0.5]]
    assert colors.parameters[0].tolist() == [0, 0.5, 0]


def test_animation_of_the_background_other_than_color_has_a_note(give: Export, background, said) -> None:
    strength = background.inputs["Strength"]
    strength.keyframe_insert("default_value", frame=1)
    give()
    path = f"{strength.path_from_id()}.default_value"
    assert f'"Sky": animation of nodes was not exported: {path}' in said()


def test_the_color_of_a_node_linked_to_the_background_is_the_ambient_light(
    give: Export, animation, background, said
) -> None:
    tree = background.id_data
    rgb = tree.nodes.new("ShaderNodeRGB")
    rgb.outputs[0].default_value = (0.875, 0.125, 0.25, 1.0)
    tree.links.new(rgb.outputs[0], background.inputs["Color"])
    assert give().nodes[0].track("COLOR").values.tolist() == [[0.875, 0.125, 0.25]]
    path = f"{rgb.outputs[0].path_from_id()}.default_value"
    key(tree, path, [(0, (0, 0, 0, 1)), (30, (0, 1, 0.5, 1))])
    animation.bake(tree, keep_look=False)
    assert give().nodes[0].track("COLOR").values.tolist() == [[0, 0, 0], [0, 1, 0.5]]
    assert '"Sky": nodes determine' not in said()


@pytest.mark.parametrize("kind", ["ShaderNodeTexSky", "ShaderNodeGamma"])
def test_a_background_colored_by_other_nodes_has_a_note(give: Export, background, said, kind: str) -> None:
    tree = background.id_data
    other = tree.nodes.new(kind)
    tree.links.new(other.outputs[0], background.inputs["Color"])
    background.inputs["Color"].default_value = (0, 0, 0, 1)
    assert give().nodes[0].track("COLOR").values.tolist() == [list(bpy.context.scene.world.color)]
    assert '"Sky": nodes determine the background color, so the viewport color was exported as ambient light' in said()


def test_rotations_with_squad_name_3ds_max_in_the_file(give: Export, animation, said) -> None:
    first, second, _ = (keyed(name, animation) for name in ("First", "Second", "Third"))
    assert give().keyframer.header.name != b"MAXSCENE"
    for item in (first, second):
        animation.choose(item, "rotation_euler", construction="SQUAD")
    assert give().keyframer.header.name == b"MAXSCENE"
    assert """"Third": the file cannot store a separate rotation algorithm for one object""" in said()
    animation.choose(first, "rotation_euler", construction="DE_CASTELJAU")
    assert give().keyframer.header.name != b"MAXSCENE"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *(({name: math.nan}, f"{name} nan is not a finite number") for name in ("global_scale", "frame_start")),
        ({"frame_rate": math.nan, "timing": "TIME"}, "frame_rate nan is not a finite number"),
        ({"frame_start": 1e30}, r"frame_start 1e\+30 is after Blender's last frame, 1,048,574"),
    ],
)
@pytest.mark.parametrize("operator", ["import_anim", "export_anim"])
def test_errors_name_invalid_options(animation, tmp_path: Path, operator: str, options: dict, error: str) -> None:
    keyed("Box", animation)
    path = save(tmp_path / "made.3ds", family(ids=True))
    before = Path(path).read_bytes()
    with pytest.raises(RuntimeError, match=f"^Error: {error}$"):
        getattr(bpy.ops, operator).tcb_3ds(filepath=path, **options)
    assert Path(path).read_bytes() == before
    assert [item.name for item in bpy.data.objects] == ["Box"]


def test_an_empty_file_name_is_refused(animation) -> None:
    keyed("Box", animation)
    with pytest.raises(RuntimeError, match=r"Error: \. cannot be read"):
        bpy.ops.import_anim.tcb_3ds(filepath="")
    with pytest.raises(RuntimeError, match=r"Error: No file name\. Enter one and export again"):
        bpy.ops.export_anim.tcb_3ds(filepath="")


def test_frames_after_the_last_frame_of_a_file_have_a_note(give: Export, animation, said) -> None:
    keyed("Box", animation)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 1, 1000.0
    given = give(timing="TIME", frame_rate=1000.0)
    assert given.keyframer.segment == (1_000_000, 1 << 24)
    assert (
        "the scene's frame range extends past the file's last frame, 16,777,216, so the exported motion ends there"
        in said()
    )
