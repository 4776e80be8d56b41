# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of baked tracks: the edits that they prevent, and the locking and unlocking of channels and groups.

Each operator edits an object with baked and plain tracks in one action, with all keys selected, and a twin that has
only the plain track. The operators run without a window. In Blender 4.2, transforms in the viewport crash without a
window, so Auto Keying is tested with other operators. Transforms are tested in windows. For operators that ignore
locks, see `test_edited_outside.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import (
    KEYS,
    bag_of,
    bits,
    choose_alone,
    co,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    new_rig,
    set_selected,
    states,
)
from tests.animation.editors import editor
from tests.animation.live import by_handles

TURNS = [(0, (1, 0, 0, 0)), (10, (0, 1, 0, 0)), (25, (0.5, 0.5, 0.5, 0.5)), (40, (0.6, 0, 0, 0.8))]
SIZES = [(0, (0, 0.03, 2)), (10.4, (5, 1, 3)), (16, (5, 1.5, 3)), (20, (5, 2, 3)), (25, (-1, 0, 2)), (40, (0, 4, -2))]
FRAME = 13
LATER = 60

OUTPUTS = ("SAMPLES", "CURVES")
SELECTION = ("select_control_point", "select_left_handle", "select_right_handle")

dope, graph, anim, transform = bpy.ops.action, bpy.ops.graph, bpy.ops.anim, bpy.ops.transform

Run = Callable[[], object]


class Operator(NamedTuple):
    ui_type: str
    run: Run


def in_time(mode: Any, amount: float) -> Run:
    return lambda: transform.transform(mode=mode, value=(amount, 0, 0, 0))


def pasted(operators: Any, **how: Any) -> Run:
    def run() -> None:
        operators.copy()
        bpy.context.scene.frame_set(LATER)
        operators.paste(**how)

    return run


def duplicated_and_moved() -> None:
    dope.duplicate()
    in_time("TIME_TRANSLATE", 7)()


def at(frame: int, run: Run) -> Run:
    def there() -> None:
        bpy.context.scene.frame_set(frame)
        run()

    return there


@contextmanager
def auto_keying() -> Iterator[None]:
    settings = bpy.context.scene.tool_settings
    settings.use_keyframe_insert_auto = True
    try:
        yield
    finally:
        settings.use_keyframe_insert_auto = False


def cleared() -> None:
    """Clear the transforms of the object while Auto Keying is on."""
    with auto_keying():
        bpy.ops.object.location_clear()
        bpy.ops.object.rotation_clear()
        bpy.ops.object.scale_clear()


SHEET, CURVES, VIEWPORT = "DOPESHEET", "FCURVES", "VIEW_3D"

IN_SHEET: dict[str, Operator] = {
    "delete": Operator(SHEET, lambda: dope.delete(confirm=False)),
    "duplicate and move": Operator(SHEET, duplicated_and_moved),
    "move": Operator(SHEET, in_time("TIME_TRANSLATE", 7)),
    "scale": Operator(SHEET, in_time("TIME_SCALE", 2)),
    "extend": Operator(SHEET, in_time("TIME_EXTEND", 7)),
    "snap to frames": Operator(SHEET, lambda: dope.snap(type="NEAREST_FRAME")),
    "mirror": Operator(SHEET, lambda: dope.mirror(type="CFRA")),
    "clean channels": Operator(SHEET, lambda: dope.clean(threshold=10, channels=True)),
    "bake keys": Operator(SHEET, lambda: dope.bake_keys()),
    "paste": Operator(SHEET, pasted(dope)),
    "paste over all": Operator(SHEET, pasted(dope, merge="OVER_ALL")),
    "insert": Operator(SHEET, lambda: dope.keyframe_insert(type="ALL")),
    "interpolation": Operator(SHEET, lambda: dope.interpolation_type(type="SINE")),
    "easing": Operator(SHEET, lambda: dope.easing_type(type="EASE_IN")),
    "handle type": Operator(SHEET, lambda: dope.handle_type(type="VECTOR")),
    "key type": Operator(SHEET, lambda: dope.keyframe_type(type="EXTREME")),
    "extrapolation": Operator(SHEET, lambda: dope.extrapolation_type(type="LINEAR")),
    "delete channels": Operator(SHEET, lambda: anim.channels_delete()),
}
IN_CURVES: dict[str, Operator] = {
    "curves, move": Operator(CURVES, lambda: transform.translate(value=(7, 2, 0))),
    "curves, flatten handles": Operator(CURVES, lambda: graph.snap(type="HORIZONTAL")),
    "smooth": Operator(CURVES, lambda: graph.smooth()),
    "decimate by error": Operator(CURVES, lambda: graph.decimate(mode="ERROR", remove_error_margin=10)),
    "shear": Operator(CURVES, lambda: graph.shear(factor=0.7)),
    "equalize handles": Operator(CURVES, lambda: graph.equalize_handles(side="BOTH", handle_length=2)),
    "add a modifier": Operator(CURVES, lambda: graph.fmodifier_add(type="NOISE")),
    "keys to samples": Operator(CURVES, lambda: graph.keys_to_samples()),
}
KEYING_SET = "LocRotScale"
IN_VIEWPORT: dict[str, Operator] = {
    "insert, by name": Operator(VIEWPORT, lambda: anim.keyframe_insert_by_name(type=KEYING_SET)),
    "insert, by a keying set": Operator(VIEWPORT, lambda: anim.keyframe_insert(type=KEYING_SET)),
    "delete, by name": Operator(VIEWPORT, at(25, lambda: anim.keyframe_delete_by_name(type=KEYING_SET))),
    "delete at the frame": Operator(VIEWPORT, at(25, lambda: anim.keyframe_delete_v3d(confirm=False))),
    "auto key": Operator(VIEWPORT, cleared),
}
if bpy.app.version >= (5, 2, 0):
    # Blender 4.2 ignores locks here.
    IN_VIEWPORT["clear keyframes"] = Operator(VIEWPORT, lambda: anim.keyframe_clear_v3d(confirm=False))
OPERATORS = IN_SHEET | IN_CURVES | IN_VIEWPORT


def kept(fcurve: bpy.types.FCurve) -> dict[str, Any]:
    """Return all data of an F-curve except the selection."""
    state = bits(fcurve)
    mute, hide, lock, _select, *rest = state["flags"]
    return {name: state[name] for name in state if name not in SELECTION} | {"flags": (mute, hide, lock, *rest)}


def contents(item: bpy.types.ID, *prefixes: str) -> list[dict[str, Any]]:
    return [kept(fcurve) for fcurve in fcurves(item) if fcurve.data_path.startswith(prefixes)]


def run(operator: Operator, item: bpy.types.Object) -> None:
    """Run an operator with all channels and keys of the object selected."""
    choose_alone(item)
    for fcurve in fcurves(item):
        fcurve.select = True
        for point in fcurve.keyframe_points:
            set_selected(point, True)
    scene: Any = bpy.context.scene
    scene.frame_set(FRAME)
    scene.tool_settings.use_snap_anim = False
    with editor(operator.ui_type) as space:
        if operator.ui_type != VIEWPORT:
            space.dopesheet.show_only_selected = True
        if operator.ui_type == CURVES:
            # Other pivots depend on the entire selection.
            space.pivot_point, space.cursor_position_x, space.cursor_position_y = "CURSOR", FRAME, 0.0
        operator.run()


def baked_ball(animation, output: str, segments: bool = False) -> bpy.types.Object:
    """Return an object with baked tracks and a plain track in one action.

    With `segments`, Blender plays some segments of the baked tracks, and parameters were changed after the bake.
    """
    item = new_object("Ball", "QUATERNION")
    key(item, "location", KEYS, group="Baked")
    key(item, "rotation_quaternion", TURNS, group="Baked")
    key(item, "scale", SIZES, group="Plain")
    if segments:
        curve(item, "rotation_quaternion", 1).keyframe_points[1].interpolation = "SINE"
        curve(item, "location", 0).keyframe_points[0].interpolation = "LINEAR"
        curve(item, "location", 2).extrapolation = "LINEAR"
    tracks = ("location", "rotation_quaternion")
    animation.enable(item, prefixes=tracks, keep_look=False)
    animation.bake(item, prefixes=tracks, output=output)
    if segments:
        for path in tracks:
            animation.key_set(item, path, 10, tension=-0.5, bias=0.75, continuity=0.3)
    return item


def twin() -> bpy.types.Object:
    item = new_object("Twin", "QUATERNION")
    key(item, "scale", SIZES, group="Plain")
    return item


BAKED = ("location", "rotation_quaternion")


def check(animation, operator: Operator, item: bpy.types.Object) -> None:
    other = twin()
    before, plain = contents(item, *BAKED), contents(other, "scale")
    assert all(state["flags"][2] for state in before)
    run(operator, other)
    run(operator, item)
    assert differences(before, contents(item, *BAKED)) == []
    edited = contents(other, "scale")
    assert differences(plain, edited) != []
    assert differences(edited, contents(item, "scale")) == []
    found = states(animation, item)
    assert {found[path] for path in BAKED} == {"BAKED"}


# Edits that locks prevent


@pytest.mark.parametrize(("output", "name"), each_once(OUTPUTS, OPERATORS))
def test_an_operator_edits_all_but_the_baked_tracks(animation, name: str, output: str) -> None:
    check(animation, OPERATORS[name], baked_ball(animation, output))


RECALCULATING = ("move", "scale", "snap to frames", "handle type", "curves, move", "smooth")
"""Operators after which Blender places handles again."""


@pytest.mark.parametrize(("output", "name"), each_once(OUTPUTS, RECALCULATING))
def test_handles_of_segments_that_blender_plays_stay(animation, name: str, output: str) -> None:
    check(animation, OPERATORS[name], baked_ball(animation, output, segments=True))


# Locks of groups


def locks(item: bpy.types.ID) -> dict[str, bool]:
    return {group.name: group.lock for group in bag_of(item).groups}


def two_groups() -> bpy.types.Object:
    """Make an object with delta transforms in groups, to which Insert Keyframe adds no channel."""
    item = new_object("Ball")
    key(item, "delta_location", KEYS, group="Places")
    key(item, "delta_rotation_euler", KEYS, group="Mixed")
    key(item, "delta_scale", KEYS, group="Mixed")
    return item


def test_a_group_is_locked_while_all_of_it_is_baked(animation) -> None:
    item = two_groups()
    animation.bake(item, prefixes=["delta_location", "delta_rotation_euler"], keep_look=False)
    assert locks(item) == {"Places": True, "Mixed": False}
    animation.enable(item, prefixes=["delta_scale"], keep_look=False)
    animation.bake(item, prefixes=["delta_scale"])
    assert locks(item) == {"Places": True, "Mixed": True}
    animation.free(item, ["delta_rotation_euler"])
    assert locks(item) == {"Places": True, "Mixed": False}
    assert {fcurve.data_path for fcurve in fcurves(item) if fcurve.lock} == {"delta_location", "delta_scale"}
    animation.free(item)
    assert locks(item) == {"Places": False, "Mixed": False}
    assert not any(fcurve.lock for fcurve in fcurves(item))


# Locks by the animator


def lock_channel(item: bpy.types.ID) -> None:
    curve(item, "delta_rotation_euler", 1).lock = True


def lock_group(item: bpy.types.ID) -> None:
    """Lock a group and its channels, as a click on its padlock does."""
    group = bag_of(item).groups["Mixed"]
    group.lock = True
    for fcurve in group.channels:
        fcurve.lock = True


@pytest.mark.parametrize("lock", [lock_channel, lock_group])
def test_a_lock_of_the_animator_refuses_a_bake(animation, lock) -> None:
    item = two_groups()
    animation.enable(item, keep_look=False)
    lock(item)
    before = contents(item, "delta_rotation_euler")
    report = animation.bake(item, prefixes=["delta_location", "delta_rotation_euler"])
    assert [(error.track, error.code) for error in report.errors] == [("delta_rotation_euler", "LOCKED")]
    assert contents(item, "delta_rotation_euler") == before
    assert states(animation, item)["delta_location"] == "BAKED"


@pytest.mark.parametrize("way", ["free", "restore", "remove", "apply", "bake"])
def test_a_group_that_the_animator_locked_refuses_what_ends_a_bake(animation, way: str) -> None:
    item = two_groups()
    animation.bake(item, prefixes=["delta_location", "delta_rotation_euler"], keep_look=False)
    lock_group(item)
    before = contents(item, "delta_rotation_euler", "delta_scale")
    report = getattr(animation, way)(item)
    assert [(error.track, error.code) for error in report.errors] == [("delta_rotation_euler", "LOCKED")]
    assert contents(item, "delta_rotation_euler", "delta_scale") == before
    assert locks(item)["Mixed"]
    assert states(animation, item)["delta_rotation_euler"] == "BAKED"
    assert (
        animation.free(item, ["delta_location"]).tracks
        if way == "bake"
        else states(animation, item)["delta_location"] != "BAKED"
    )


def test_a_locked_channel_that_joined_a_baked_track_refuses_to_free_it(animation) -> None:
    item = new_object("Ball")
    key(item, "location", KEYS, channels=[0, 1])
    animation.bake(item, keep_look=False)
    key(item, "location", KEYS, channels=[2])
    curve(item, "location", 2).lock = True
    before = contents(item, "location")
    with pytest.raises(animation.AnimationError, match=r"the channels are locked\. Unlock them first"):
        animation.free(item)
    assert contents(item, "location") == before
    curve(item, "location", 2).lock = False
    assert animation.free(item).tracks == 1
    assert co(curve(item, "location")).tolist() == [[frame, place[0]] for frame, place in KEYS]


# Channels that join a locked group


def insert_all(rig: bpy.types.Object) -> None:
    """Press I for location, rotation and scale of all bones."""
    choose_alone(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.context.scene.frame_set(FRAME)
    with editor(VIEWPORT):
        anim.keyframe_insert_by_name(type=KEYING_SET)
    bpy.ops.object.mode_set(mode="OBJECT")


def baked_bone(animation) -> bpy.types.Object:
    rig = new_rig("Bone")
    key(rig, 'pose.bones["Bone"].location', KEYS, group="Bone")
    key(rig, 'pose.bones["Bone"].rotation_quaternion', TURNS, group="Bone")
    key(rig, 'pose.bones["Bone"].scale', SIZES, group="Bone")
    rig.pose.bones["Bone"]["twist"] = 0.0
    animation.enable(rig, keep_look=False)
    animation.bake(rig)
    assert locks(rig) == {"Bone": True}
    return rig


TWIST = 'pose.bones["Bone"]["twist"]'


def key_twist(rig: bpy.types.Object) -> None:
    rig.keyframe_insert(TWIST, frame=FRAME, group="Bone")


@pytest.mark.parametrize("baked", ["location", "rotation_quaternion", "scale"])
def test_insert_keyframe_adds_the_transforms_that_are_not_baked(animation, baked: str) -> None:
    rig = new_rig("Bone")
    track = f'pose.bones["Bone"].{baked}'
    key(rig, track, TURNS if "rotation" in baked else KEYS, group="Bone")
    animation.bake(rig, keep_look=False)
    assert locks(rig) == {"Bone": False}
    before = contents(rig, track)
    insert_all(rig)
    counts = {fcurve.data_path.rpartition(".")[2]: len(fcurve.keyframe_points) for fcurve in fcurves(rig)}
    assert {name for name, count in counts.items() if count == 1} == {"location", "rotation_quaternion", "scale"} - {
        baked
    }
    assert contents(rig, track) == before
    assert animation.free(rig).errors == []


@pytest.mark.parametrize("way", ["bake", "free", "restore", "remove", "apply"])
def test_channels_that_were_keyed_in_a_locked_group_hinder_nothing(animation, way: str) -> None:
    rig = baked_bone(animation)
    key_twist(rig)
    # Blender has created the channel, but does not insert keys into a locked group.
    assert len(curve(rig, TWIST).keyframe_points) == 0
    report = getattr(animation, way)(rig)
    assert (report.tracks, report.errors) == (3, [])
    assert locks(rig) == {"Bone": False}


def test_live_unlocks_a_group_for_new_channels(animation) -> None:
    rig = baked_bone(animation)
    baked = [f'pose.bones["Bone"].{name}' for name in ("location", "rotation_quaternion", "scale")]
    watches: dict[Any, Any] = {}
    animation.live.update.refresh(watches, rig.animation_data.action)
    key_twist(rig)
    before = contents(rig, *baked)
    assert animation.live.update.refresh(watches, rig.animation_data.action).notes == []
    assert locks(rig) == {"Bone": False}
    key_twist(rig)
    assert co(curve(rig, TWIST)).tolist() == [[FRAME, 0]]
    assert contents(rig, *baked) == before


# Manual unlocking


def unlock_all(item: bpy.types.ID) -> None:
    for group in bag_of(item).groups:
        group.lock = False
    for fcurve in fcurves(item):
        fcurve.lock = False


def tab(item: bpy.types.ID) -> None:
    """Press Tab over the channels of the Dope Sheet."""
    choose_alone(item)
    for fcurve in fcurves(item):
        fcurve.select = True
    for group in bag_of(item).groups:
        group.select = True
    with editor(SHEET) as space:
        space.dopesheet.show_only_selected = True
        anim.channels_expand(all=True)
        anim.channels_editable_toggle()


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize("unlock", [unlock_all, tab])
def test_what_was_unlocked_by_hand_is_locked_again_with_one_message(animation, unlock, is_live: bool) -> None:
    item = two_groups()
    animation.bake(item, keep_look=False)
    action, update = item.animation_data.action, animation.live.update
    options = by_handles(animation) if is_live else None
    watches: dict[Any, Any] = {}
    assert update.refresh(watches, action, options).notes == []
    before = contents(item, "")
    unlock(item)
    assert not any(fcurve.lock for fcurve in fcurves(item))
    assert set(states(animation, item).values()) == {"BAKED"}
    report = update.refresh(watches, action, options)
    assert list(map(str, report.notes)) == ["3 baked tracks were locked again. Free Bake unlocks them for editing"]
    assert contents(item, "") == before
    assert locks(item) == {"Places": True, "Mixed": True}
    assert update.refresh(watches, action, options).notes == []


def raise_key(item: bpy.types.ID) -> None:
    curve(item, "delta_location").keyframe_points[3].co_ui.y += 1


def hold_key(item: bpy.types.ID) -> None:
    curve(item, "delta_location").keyframe_points[3].interpolation = "CONSTANT"


@pytest.mark.parametrize("edit", [raise_key, hold_key])
def test_what_was_unlocked_and_edited_is_not_locked_again(animation, edit) -> None:
    item = two_groups()
    animation.bake(item, keep_look=False)
    watches: dict[Any, Any] = {}
    action = item.animation_data.action
    animation.live.update.refresh(watches, action)
    unlock_all(item)
    edit(item)
    report = animation.live.update.refresh(watches, action)
    assert list(map(str, report.notes)) == ["2 baked tracks were locked again. Free Bake unlocks them for editing"]
    assert not any(fcurve.lock for fcurve in fcurves(item) if fcurve.data_path == "delta_location")
    assert locks(item) == {"Places": False, "Mixed": True}
