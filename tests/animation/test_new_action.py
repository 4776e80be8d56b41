# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake into a new action: the original stays as it is, and the new one holds plain keys that others can read."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation import reference
from tests.animation.curves import (
    HAS_SLOTS,
    MODES,
    SET_ASIDE,
    action_bits,
    animators_bits,
    bags_in,
    co,
    curve,
    fcurves,
    has_table,
    key,
    new_object,
    play,
    rotation_path,
)

KEYS = [(1, (0, 0, 0)), (10, (5, 2, 3)), (25, (-1, 0, 2)), (40, (0, 4, -2))]
TURNS = [(1.0, 0.0, 0.0, 0.0), (0.9, 0.3, 0.1, 0.0), (0.6, 0.2, 0.5, -0.4), (0.8, -0.1, 0.4, 0.2)]


def keyed(name: str = "Ball", mode: str = "QUATERNION", thing: bpy.types.Object | None = None) -> bpy.types.Object:
    item = thing or new_object(name)
    item.rotation_mode = mode
    path, width = rotation_path(mode), 4 if mode in MODES[:2] else 3
    key(item, "location", KEYS)
    key(item, path, [(frame, turn[:width]) for (frame, _), turn in zip(KEYS, TURNS, strict=True)])
    key(item, "scale", [(frame, (1 + frame / 40,) * 3) for frame, _ in KEYS])
    return item


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("baked_before", [False, True])
def test_the_original_stays_as_it_is(animation, mode: str, baked_before: bool) -> None:
    item = keyed(mode=mode)
    if baked_before:
        animation.bake(item, step=2)
    original = item.animation_data.action
    before = action_bits(original)
    animation.bake(item, target="NEW_ACTION")
    assert animators_bits(original) == before
    assert item.animation_data.action != original


@pytest.mark.parametrize("baked_before", [False, True])
def test_the_original_is_not_lost_on_saving(animation, tmp_path, baked_before: bool) -> None:
    item = keyed()
    if baked_before:
        animation.bake(item)
    original = item.animation_data.action
    name, before = original.name, action_bits(original)
    animation.bake(item, target="NEW_ACTION")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    assert animators_bits(bpy.data.actions[name]) == before
    item = bpy.data.objects["Ball"]
    animation.back_to_original(item)
    assert item.animation_data.action == bpy.data.actions[name]
    assert action_bits(bpy.data.actions[name]) == before


# Back to the original


@pytest.mark.parametrize("baked_before", [False, True])
def test_the_original_is_brought_back_to_the_last_bit(animation, baked_before: bool) -> None:
    item = keyed()
    original = item.animation_data.action
    if baked_before:
        animation.bake(item)
    before, properties = action_bits(original), list(original.keys())
    slot = item.animation_data.action_slot_handle if HAS_SLOTS else 0
    animation.bake(item, target="NEW_ACTION")
    report = animation.back_to_original(item)
    assert item.animation_data.action == original
    assert (item.animation_data.action_slot_handle if HAS_SLOTS else 0) == slot
    assert action_bits(original) == before
    assert list(original.keys()) == properties
    assert [action.name for action in bpy.data.actions] == [original.name]
    assert (report.objects, report.tracks) == (1, 3)
    assert report.notes == ['"Ball" uses the action "BallAction" again']
    with pytest.raises(animation.AnimationError, match='"BallAction" was neither baked nor reduced from another'):
        animation.back_to_original(item)


def test_all_that_share_the_new_action_go_back_with_it(animation) -> None:
    one, two = keyed("One"), new_object("Two")
    original = two.animation_data_create().action = one.animation_data.action
    if HAS_SLOTS:
        two.animation_data.action_slot = one.animation_data.action_slot
    animation.bake_many([one, two], animation.Options(target="NEW_ACTION"))
    report = animation.back_to_original(two)
    assert (report.objects, report.tracks, report.keys) == (2, 3, 3 * len(KEYS))
    assert one.animation_data.action == two.animation_data.action == original
    assert len(bpy.data.actions) == 1


def test_a_new_action_that_something_else_uses_stays_when_the_original_comes_back(animation) -> None:
    item = keyed()
    animation.bake(item, target="NEW_ACTION")
    baked = item.animation_data.action
    item.animation_data.nla_tracks.new().strips.new("Strip", 1, baked)
    animation.back_to_original(item)
    assert baked.name == "BallAction.baked"
    assert [strip.action for track in item.animation_data.nla_tracks for strip in track.strips] == [baked]


def test_an_original_that_another_object_plays_is_nobodys_to_set_aside(animation) -> None:
    one, two = keyed("One"), new_object("Two")
    original = two.animation_data_create().action = one.animation_data.action
    if HAS_SLOTS:
        two.animation_data.action_slot = one.animation_data.action_slot
    before = action_bits(original)
    animation.bake(one, target="NEW_ACTION")
    assert action_bits(original) == before
    assert not original.use_fake_user
    report = animation.back_to_original(one)
    assert (report.objects, report.tracks, report.keys) == (1, 3, 3 * len(KEYS))
    assert one.animation_data.action == original


@pytest.mark.parametrize("was_kept", [False, True])
@pytest.mark.parametrize("work", ["bake", "reduce"])
def test_the_original_has_its_fake_user_afterwards_only_where_the_animator_gave_it_one(
    animation, work: str, was_kept: bool
) -> None:
    item = new_object()
    key(item, "location", [(frame, (frame / 40, (frame / 40) ** 3, 0)) for frame in range(1, 41)])
    original = item.animation_data.action
    original.use_fake_user = was_kept
    for _turn in range(2):
        if work == "bake":
            animation.bake(item, target="NEW_ACTION")
        else:
            animation.reduce(item, error=1e-3)
        assert original.use_fake_user
        animation.back_to_original(item)
        assert (original.use_fake_user, original.users) == (was_kept, 1 + was_kept)
        assert not list(original.keys()) or work == "bake"


@pytest.mark.parametrize("by_hand", [False, True])
def test_baked_again_the_new_action_takes_the_place_of_the_one_before(animation, by_hand: bool) -> None:
    item = keyed()
    original = item.animation_data.action
    before = action_bits(original)
    for value in (3.0, 4.0):
        animation.bake(item, target="NEW_ACTION")
        assert sorted(action.name for action in bpy.data.actions) == ["BallAction", "BallAction.baked"]
        assert len([f for f in fcurves(item) if f.data_path == SET_ASIDE]) == 0
        if by_hand:
            item.animation_data.action = original
            if HAS_SLOTS:
                item.animation_data.action_slot = original.slots[0]
        else:
            animation.back_to_original(item)
        bpy.context.view_layer.update()
        assert action_bits(original) == before
        curve(item, "location").keyframe_points[1].co_ui.y = value
        before = action_bits(original)


def test_the_original_of_a_cameras_action_is_an_ordinary_one_again_when_it_is_chosen_by_hand(animation) -> None:
    camera = bpy.data.cameras.new("Lens")
    new_object("Camera", data=camera)
    key(camera, "lens", [(1, 30), (20, 50), (40, 40)])
    original = camera.animation_data.action
    before = action_bits(original)
    animation.bake(camera, target="NEW_ACTION")
    assert animators_bits(original) == before != action_bits(original)
    camera.animation_data.action = original
    if HAS_SLOTS:
        camera.animation_data.action_slot = original.slots[0]
    bpy.context.view_layer.update()
    assert action_bits(original) == before


def test_the_operator_brings_originals_back(animation) -> None:
    items = [keyed(name) for name in ("One", "Two")]
    before = [action_bits(item.animation_data.action) for item in items]
    other = keyed("Other")
    for item in (*items, other):
        item.select_set(True)
    assert not bpy.ops.tcb.back_to_original.poll()
    for item in items:
        animation.bake(item, target="NEW_ACTION")
    assert bpy.ops.tcb.back_to_original() == {"FINISHED"}
    assert [action_bits(item.animation_data.action) for item in items] == before
    assert not bpy.ops.tcb.back_to_original.poll()


@pytest.mark.parametrize("baked_before", [False, True])
def test_the_new_action_holds_no_trace_of_the_add_on(animation, baked_before: bool) -> None:
    item = keyed()
    animation.key_set(item, "location", 10, tension=0.5)
    if baked_before:
        animation.bake(item)
    animation.bake(item, target="NEW_ACTION")
    assert not has_table(item)
    for fcurve in fcurves(item):
        for point in fcurve.keyframe_points:
            assert point.type != "GENERATED"
            assert (point.amplitude, point.period, point.back) == pytest.approx((0.8, 4.1, 1.70158))


def test_a_track_that_is_left_out_of_the_bake_holds_no_trace_either(animation) -> None:
    item = keyed()
    animation.bake(item)
    animation.bake(item, target="NEW_ACTION", prefixes=["location"])
    kinds = {point.type for fcurve in fcurves(item) for point in fcurve.keyframe_points}
    amplitudes = {round(point.amplitude, 3) for fcurve in fcurves(item) for point in fcurve.keyframe_points}
    assert (kinds, amplitudes) == ({"KEYFRAME"}, {0.8})


@pytest.mark.parametrize("mode", MODES)
def test_the_new_action_plays_what_a_bake_in_place_plays(animation, mode: str) -> None:
    item, other = keyed("Ball", mode), keyed("Other", mode)
    animation.bake(item, step=0.5)
    animation.bake(other, target="NEW_ACTION", step=0.5)
    played = {(f.data_path, f.array_index): co(f).tolist() for f in fcurves(item)}
    assert {(f.data_path, f.array_index): co(f).tolist() for f in fcurves(other)} == played


def test_every_user_of_a_shared_action_gets_the_new_one(animation) -> None:
    one, two = keyed("One"), new_object("Two")
    two.animation_data_create().action = one.animation_data.action
    if HAS_SLOTS:
        two.animation_data.action_slot = one.animation_data.action_slot
    animation.bake_many([one, two], animation.Options(target="NEW_ACTION"))
    assert one.animation_data.action == two.animation_data.action
    assert len(bpy.data.actions) == 2


@pytest.mark.skipif(not HAS_SLOTS, reason="this Blender has no slots")
def test_both_slots_of_one_action_go_into_one_new_action(animation) -> None:
    one, two = keyed("One"), new_object("Two")
    action = one.animation_data.action
    two.animation_data_create().action = action
    two.animation_data.action_slot = action.slots.new("OBJECT", "Two")
    keyed(thing=two)
    before = action_bits(action)
    animation.bake_many([one, two], animation.Options(target="NEW_ACTION"))
    assert one.animation_data.action == two.animation_data.action != action
    assert one.animation_data.action_slot != two.animation_data.action_slot
    assert animators_bits(action) == before
    assert [len(bag.fcurves) for bag in bags_in(one.animation_data.action)] == [10, 10]


def test_a_refused_bake_makes_no_action(animation) -> None:
    item = keyed()
    curve(item, "location").keyframe_points[1].co.y = float("nan")
    with pytest.raises(animation.AnimationError):
        animation.bake(item, target="NEW_ACTION", prefixes=["location"])
    assert len(bpy.data.actions) == 1


def test_a_linked_action_of_an_override_is_baked_into_a_local_one(animation, tmp_path) -> None:
    keyed()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_source, target):
        target.objects = ["Ball"]
    item = target.objects[0].override_create()
    before = action_bits(item.animation_data.action)
    linked = item.animation_data.action
    animation.bake(item, target="NEW_ACTION")
    assert item.animation_data.action.library is None
    assert action_bits(linked) == before


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_all_keys_of_the_new_action_are_linear(animation, mode: str) -> None:
    """glTF's exporter resamples a curve of mixed interpolation, and says so."""
    item = keyed(mode=mode)
    animation.bake(item, target="NEW_ACTION")
    assert {point.interpolation for fcurve in fcurves(item) for point in fcurve.keyframe_points} == {"LINEAR"}


# Exported


@pytest.fixture
def cube(animation) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add()
    item = keyed(thing=bpy.context.object)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    animation.enable(item)
    animation.key_set(item, "location", 10, tension=0.5, bias=-0.5)
    animation.bake(item, target="NEW_ACTION")
    return item


def wanted(frame: float) -> tuple[list[float], np.ndarray, float]:
    locations = [
        reference.scalar([(at, row[axis], *((0.5, 0, -0.5) if at == 10 else ())) for at, row in KEYS], frame)
        for axis in range(3)
    ]
    turns = [reference.Key(at, tuple(np.float32(turn))) for (at, _), turn in zip(KEYS, TURNS, strict=True)]
    return locations, reference.rotation(turns, frame), reference.scalar([(at, 1 + at / 40) for at, _ in KEYS], frame)


def with_add_on(name: str) -> None:
    import addon_utils

    if not addon_utils.check(name)[1]:
        assert addon_utils.enable(name) is not None, name


def reopened() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 24


@pytest.mark.parametrize("sampled", [True, False])
def test_gltf_brings_the_motion_back(cube, tmp_path, sampled: bool) -> None:
    with_add_on("io_scene_gltf2")
    path = str(tmp_path / "motion.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_animations=True, export_force_sampling=sampled)
    reopened()
    bpy.ops.import_scene.gltf(filepath=path)
    item = next(item for item in bpy.data.objects if item.type == "MESH")
    # glTF counts seconds from the first frame.
    check_read_back_from(item, 1e-4)


def check_read_back_from(item: bpy.types.Object, precision: float) -> None:
    frames = [f for f in fcurves(item) if f.data_path == "location"]
    first = round(min(co(f)[0, 0] for f in frames))
    for frame in range(40):
        play(frame + first)
        location, rotation, scale = wanted(frame + 1)
        shown = item.matrix_world
        assert tuple(shown.translation) == pytest.approx(tuple(location), abs=precision), frame
        assert reference.apart(np.array(shown.to_quaternion()), rotation) < precision, frame
        assert tuple(shown.to_scale()) == pytest.approx((scale,) * 3, abs=precision), frame


def test_fbx_brings_the_motion_back(cube, tmp_path) -> None:
    with_add_on("io_scene_fbx")
    path = str(tmp_path / "motion.fbx")
    bpy.ops.export_scene.fbx(
        filepath=path,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
        bake_anim_simplify_factor=0.0,
    )
    reopened()
    bpy.ops.import_scene.fbx(filepath=path)
    item = next(item for item in bpy.data.objects if item.type == "MESH")
    check_read_back_from(item, 1e-3)


def test_a_bake_of_what_was_baked_into_a_new_action_leads_back_first(animation) -> None:
    """Its keys are plain: enabled anew with parameters 0 they would play another motion."""
    item = keyed()
    animation.bake(item, target="NEW_ACTION")
    baked, before = item.animation_data.action, action_bits(item.animation_data.action)
    with pytest.raises(animation.AnimationError, match=r'"Ball": .*baked from ".*": go Back to Original'):
        animation.bake(item, target="NEW_ACTION", output="CURVES")
    assert item.animation_data.action == baked
    assert action_bits(baked) == before
    animation.back_to_original(item)
    assert animation.bake(item, target="NEW_ACTION", output="CURVES").tracks == 3


def test_a_baked_copy_that_was_made_tcb_again_can_be_baked(animation) -> None:
    item = keyed()
    animation.bake(item, target="NEW_ACTION")
    animation.enable(item)
    animation.key_set(item, "location", 10, tension=0.5)
    copy = item.animation_data.action
    animation.bake(item, target="NEW_ACTION")
    assert item.animation_data.action != copy
