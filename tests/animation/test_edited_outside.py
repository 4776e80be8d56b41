# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked tracks that were edited outside TCB: which changes count as edits, and how the edits are kept or discarded.

Each kind of edit changes an object with two baked tracks and a third track that stays as it was baked. Scripts and some
of Blender's operators ignore locks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import (
    KEYS,
    bag_of,
    channels,
    choose_alone,
    curve,
    differences,
    fcurves,
    key,
    new_rig,
    set_selected,
    snapshot,
    states,
)
from tests.animation.editors import editor
from tests.animation.live import by_handles

TURNS = [(0, (1, 0, 0, 0)), (10, (0, 1, 0, 0)), (25, (0.5, 0.5, 0.5, 0.5)), (40, (0.6, 0, 0, 0.8))]
BONE = 'pose.bones["Arm"].'
LOCATION, ROTATION, GRIP = BONE + "location", BONE + "rotation_quaternion", '["grip"]'
FRAMES = [0.0, 3.0, 10.0, 17.5, 25.0, 33.0, 40.0]

Edit = Callable[[bpy.types.Object], object]


# Ways to edit outside


def points(item: bpy.types.ID, index: int = 0, path: str = LOCATION) -> Any:
    return curve(item, path, index).keyframe_points


def raise_sample(item: bpy.types.Object) -> None:
    points(item)[3].co.y += 0.5


def move_a_little(item: bpy.types.Object) -> None:
    points(item, 2)[1].co.x += 0.01


def insert_key(item: bpy.types.Object) -> None:
    points(item).insert(12.5, 3.0)


def delete_key(item: bpy.types.Object) -> None:
    points(item).remove(points(item)[2])


def hold_value(item: bpy.types.Object) -> None:
    points(item)[0].interpolation = "CONSTANT"


def strip_identities(item: bpy.types.Object) -> None:
    for point in points(item):
        point.back, point.amplitude, point.period = 1.70158, 0.8, 4.1


def delete_channel(item: bpy.types.Object) -> None:
    bag_of(item).fcurves.remove(curve(item, LOCATION, 1))


def delete_track(item: bpy.types.Object) -> None:
    for index in range(3):
        bag_of(item).fcurves.remove(curve(item, LOCATION, index))


def convert_to_samples(item: bpy.types.Object) -> None:
    curve(item, LOCATION).convert_to_samples(0, 40)


def clear_keys(item: bpy.types.Object) -> None:
    points(item, 2).clear()


def unlock(item: bpy.types.Object, path: str = LOCATION) -> None:
    for fcurve in fcurves(item):
        fcurve.lock &= fcurve.data_path != path
        if fcurve.group is not None:
            fcurve.group.lock = False


def bake_action(item: bpy.types.Object) -> None:
    """Run Bake Action with Overwrite Current Action."""
    choose_alone(item)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    with editor("VIEW_3D"):
        bpy.ops.nla.bake(frame_start=0, frame_end=40, use_current_action=True, bake_types={"POSE"})
    bpy.ops.object.mode_set(mode="OBJECT")


WAYS: dict[str, Edit] = {
    "a script writes the value of a sample": raise_sample,
    "a script writes a frame": move_a_little,
    "a script adds a key": insert_key,
    "a script deletes a key": delete_key,
    "a script deletes all keys of a channel": clear_keys,
    "a script sets an interpolation": hold_value,
    "a script resets floats of keys": strip_identities,
    "a channel is deleted": delete_channel,
    "all channels are deleted": delete_track,
    "a channel is converted to samples": convert_to_samples,
    "Bake Action": bake_action,
}
every_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def item(animation) -> bpy.types.Object:
    """A rig with three tracks, TCB and off, with parameters."""
    rig = new_rig("Arm")
    rig["grip"] = 0.25
    key(rig, LOCATION, KEYS, group="Arm")
    key(rig, ROTATION, TURNS, group="Arm")
    key(rig, GRIP, [(frame, values[0]) for frame, values in KEYS])
    animation.enable(rig, keep_look=False)
    animation.key_set(rig, LOCATION, 10, tension=0.5, bias=-0.25)
    return rig


def everything(item: bpy.types.ID) -> list[Any]:
    """Return all data of the tracks' F-curves, except the selection of channels, and the locks of groups."""
    curves = [state for state in snapshot(item) if state["path"][0] in (LOCATION, ROTATION, GRIP)]
    curves.sort(key=lambda state: state["path"])
    for state in curves:
        mute, hide, lock, _select, *rest = state["flags"]
        state["flags"] = mute, hide, lock, *rest
    locks = [{"path": ("group", group.name), "lock": group.lock} for group in bag_of(item).groups]
    return [*curves, *locks]


def edit(item: bpy.types.Object, way: str) -> None:
    """Make this kind of edit, which must change something."""
    before = everything(item)
    WAYS[way](item)
    assert everything(item) != before


def of_tracks(states: list[Any], *paths: str) -> list[Any]:
    return [state for state in states if state["path"][0] in paths]


def table(item: bpy.types.ID) -> dict[str, Any]:
    return item.animation_data.action["tcb_animation"].to_dict()


def edited_paths(way: str) -> list[str]:
    return [LOCATION, ROTATION] if way == "Bake Action" else [LOCATION]


# Rejected operations


REFUSED: dict[str, Callable[[Any, bpy.types.Object, list[str]], object]] = {
    "bake": lambda animation, item, paths: animation.bake(item, prefixes=paths),
    "bake as handles": lambda animation, item, paths: animation.bake(item, prefixes=paths, output="HANDLES"),
    "free": lambda animation, item, paths: animation.free(item, paths),
    "restore": lambda animation, item, paths: animation.restore(item, paths),
    "remove": lambda animation, item, paths: animation.remove(item, paths),
}
LABELS = {LOCATION: "Arm, Location", ROTATION: "Arm, Quaternion Rotation"}
WAYS_ON = ("edited outside", "Apply keeps the curves", "Free Bake with Discard Edits")


@every_way
def test_each_operation_refuses_it_and_names_both_ways_on(animation, item, way: str) -> None:
    animation.bake(item)
    edit(item, way)
    edited, before, stored = edited_paths(way), everything(item), table(item)
    found = states(animation, item)
    for path in (path for path in (LOCATION, ROTATION, GRIP) if path in found):
        assert found[path] == ("EDITED_OUTSIDE" if path in edited else "BAKED")
    for refused in REFUSED.values():
        with pytest.raises(animation.AnimationError) as error:
            refused(animation, item, edited)
        findings = error.value.findings
        assert {each.track: each.code for each in findings} == dict.fromkeys(edited, "EDITED_OUTSIDE")
        for words in WAYS_ON:
            assert all(f'"Rig", {LABELS[each.track]}: ' in str(each) and words in str(each) for each in findings)
        assert (everything(item), table(item)) == (before, stored)


DONE = {"bake": "BAKED", "free": "TCB", "restore": "TCB", "remove": "PLAIN"}
"""The state of the other tracks after each operation."""
OF_EACH_EXTENT = ["a script writes the value of a sample", "all channels are deleted", "Bake Action"]


@pytest.mark.parametrize(("verb", "way"), each_once(DONE, OF_EACH_EXTENT))
def test_the_other_tracks_are_done(animation, item, way: str, verb: str) -> None:
    plain = everything(item)
    animation.bake(item)
    edit(item, way)
    edited, before = edited_paths(way), everything(item)
    report = getattr(animation, verb)(item)
    assert {error.track: error.code for error in report.errors} == dict.fromkeys(edited, "EDITED_OUTSIDE")
    assert of_tracks(before, *edited) == of_tracks(everything(item), *edited)
    others = [path for path in (LOCATION, ROTATION, GRIP) if path not in edited]
    assert report.tracks == len(others)
    found = states(animation, item)
    assert {found[path] for path in others} == {DONE[verb]}
    if verb == "free":
        assert of_tracks(plain, *others) == of_tracks(everything(item), *others)
    assert {found[path] for path in edited if path in found} <= {"EDITED_OUTSIDE"}


def set_tension(animation, item: bpy.types.Object) -> None:
    animation.key_set(item, LOCATION, 10, tension=1.0)


def choose_cycle(animation, item: bpy.types.Object) -> None:
    animation.choose(item, LOCATION, cycle="LOOP")


def set_value(animation, item: bpy.types.Object) -> None:
    keys = animation.edit.track_keys.keys_of(item, animation.find_track(item, LOCATION))
    animation.edit.keys.set_value(keys, 0, 7.0)


def move_key(animation, item: bpy.types.Object) -> None:
    keys = animation.edit.track_keys.keys_of(item, animation.find_track(item, LOCATION))
    animation.edit.keys.move_keys(keys, np.asarray(keys.frames) + 1)


def make_key(animation, item: bpy.types.Object) -> None:
    animation.edit.keys.make_key(item, animation.find_track(item, LOCATION), 17)


def bake_in_world(animation, item: bpy.types.Object) -> None:
    raise_all(animation.bake_in_world(item, ["Arm"]))


def raise_all(report: Any) -> None:
    for error in report.errors:
        raise error


@pytest.mark.parametrize(
    ("tool", "change"),
    each_once(
        [set_tension, choose_cycle, set_value, move_key, make_key, bake_in_world], [raise_sample, delete_channel]
    ),
)
def test_our_own_tools_refuse_it(animation, item, change: Edit, tool) -> None:
    animation.bake(item)
    change(item)
    before, stored = everything(item), table(item)
    with pytest.raises(animation.AnimationError) as error:
        tool(animation, item)
    assert error.value.has("EDITED_OUTSIDE")
    assert (everything(item), table(item)) == (before, stored)


# Keeping and discarding the edits


@pytest.mark.parametrize(("output", "way"), each_once(["SAMPLES", "CURVES"], WAYS))
def test_free_that_discards_edits_gives_the_keys_back(animation, item, way: str, output: str) -> None:
    plain = everything(item)
    animation.bake(item, output=output)
    edit(item, way)
    report = animation.free(item, discard_edits=True)
    assert (report.tracks, report.errors) == (3, [])
    assert differences(plain, everything(item)) == []
    found = states(animation, item)
    assert {found[path] for path in (LOCATION, ROTATION, GRIP)} == {"TCB"}


@every_way
def test_apply_keeps_the_curves(animation, item, way: str) -> None:
    animation.bake(item)
    edit(item, way)
    motion = played(item)
    keys = {name: len(fcurve.keyframe_points) for name, fcurve in channels(item).items()}
    report = animation.apply(item)
    assert report.errors == []
    assert played(item) == motion
    assert {name: len(fcurve.keyframe_points) for name, fcurve in channels(item).items()} == keys
    assert not any(fcurve.lock for fcurve in fcurves(item))
    assert not any(group.lock for group in bag_of(item).groups)
    assert not any(point.type == "GENERATED" for fcurve in fcurves(item) for point in fcurve.keyframe_points)
    assert set(states(animation, item).values()) <= {"PLAIN"}
    assert "tcb_animation" not in item.animation_data.action


def played(item: bpy.types.Object) -> dict[tuple[str, int], list[float]]:
    return {name: [fcurve.evaluate(frame) for frame in FRAMES] for name, fcurve in channels(item).items()}


# Live


@every_way
def test_live_leaves_it_alone_and_says_so(animation, item, bakes, way: str) -> None:
    animation.bake(item)
    action, update = item.animation_data.action, animation.live.update
    watches: dict[Any, Any] = {}
    options = by_handles(animation)
    update.refresh_all(watches, action, options)
    assert update.standing_of(watches, action) == []
    edit(item, way)
    before, stored = everything(item), table(item)
    update.refresh(watches, action, options)
    update.check_remaining(watches, action, options)
    assert bakes == []
    edited = edited_paths(way)
    assert of_tracks(before, *edited) == of_tracks(everything(item), *edited)
    assert table(item) == stored
    lines = update.standing_of(watches, action)
    assert sorted((each.track, each.code) for each in lines) == sorted((path, "EDITED_OUTSIDE") for path in edited)


@pytest.mark.parametrize("way_on", ["free", "apply", "undone by hand"])
def test_live_says_it_no_more_after_the_way_on(animation, item, way_on: str) -> None:
    animation.bake(item)
    action, update = item.animation_data.action, animation.live.update
    watches: dict[Any, Any] = {}
    update.refresh_all(watches, action)
    raise_sample(item)
    update.refresh(watches, action)
    assert update.standing_of(watches, action) != []
    if way_on == "free":
        animation.free(item, [LOCATION], discard_edits=True)
    elif way_on == "apply":
        animation.apply(item, [LOCATION])
    else:
        points(item)[3].co.y -= 0.5
    update.refresh(watches, action)
    assert update.standing_of(watches, action) == []


# Changes that are not edits


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_what_plays_nothing_else_is_no_edit(animation, item, output: str) -> None:
    plain = everything(item)
    animation.bake(item, output=output)
    unlock(item)
    for number, point in enumerate(points(item)):
        set_selected(point, bool(number % 2))
    touched = curve(item, LOCATION)
    touched.select = not touched.select
    touched.mute, touched.hide, touched.color_mode, touched.group = True, True, "CUSTOM", None
    for fcurve in fcurves(item):
        fcurve.update()
    assert states(animation, item)[LOCATION] == "BAKED"
    report = animation.free(item)
    assert (report.tracks, report.errors) == (3, [])
    for before, after in zip(plain, everything(item), strict=True):
        # A touched channel stays so, because its keys did not change.
        names = before.keys() - {"flags", "group"}
        assert {name: before[name] for name in names} == {name: after[name] for name in names}


def extrapolate(_animation, item: bpy.types.Object) -> None:
    curve(item, LOCATION).extrapolation = "LINEAR"


def retime(animation, item: bpy.types.Object) -> None:
    animation.retime(item, "SCALE", track=LOCATION, scale=2.0)


@pytest.mark.parametrize("change", [extrapolate, retime])
def test_what_only_makes_it_out_of_date(animation, item, change) -> None:
    plain = everything(item)
    animation.bake(item)
    change(animation, item)
    assert states(animation, item)[LOCATION] == "OUT_OF_DATE"
    assert animation.bake(item).errors == []
    assert states(animation, item)[LOCATION] == "BAKED"
    report = animation.free(item)
    assert report.errors == []
    assert of_tracks(everything(item), LOCATION) == of_tracks(plain, LOCATION)


EASED: dict[str, tuple[str, Any]] = {
    "easing": ("easing", "EASE_IN"),
    "interpolation": ("interpolation", "QUAD"),
    "back": ("back", 9.0),
}


@pytest.mark.parametrize("name", EASED)
def test_other_eases_of_segments_that_blender_plays_are_edits(animation, item, name: str) -> None:
    curve(item, GRIP).keyframe_points[1].interpolation = "BACK"
    animation.bake(item)
    fcurve = curve(item, GRIP)
    own = next(point for point in fcurve.keyframe_points if point.interpolation == "BACK")
    before = fcurve.evaluate(20)
    setattr(own, *EASED[name])
    assert fcurve.evaluate(20) != before
    assert states(animation, item)[GRIP] == "EDITED_OUTSIDE"
    animation.free(item, discard_edits=True)
    assert curve(item, GRIP).keyframe_points[1].interpolation == "BACK"


def test_channels_of_a_bone_with_quotes_in_its_name_return_in_its_group(animation) -> None:
    name = 'a"]b'
    rig = new_rig(name)
    key(rig, f"{rig.pose.bones[name].path_from_id()}.location", [(1, (0, 0, 0)), (20, (1, 2, 3)), (40, (0, 0, 1))])
    animation.enable(rig, keep_look=False)
    plain = snapshot(rig)
    animation.bake(rig)
    for fcurve in list(fcurves(rig)):
        bag_of(rig).fcurves.remove(fcurve)
    for verb in (animation.bake, animation.restore):
        with pytest.raises(animation.AnimationError, match="edited outside"):
            verb(rig)
    animation.free(rig, discard_edits=True)
    ignored = {"flags": 0, "group": ""}
    assert [{**state, **ignored} for state in plain] == [{**state, **ignored} for state in snapshot(rig)]
    assert {fcurve.group.name for fcurve in fcurves(rig)} == {name}
