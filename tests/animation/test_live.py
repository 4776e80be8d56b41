# SPDX-License-Identifier: GPL-3.0-or-later
"""After an edit, handles from Live are the same as after a bake of all tracks. Edits are detected at the right time.

`edit_sequences.py` compares the results of random edits with a plain twin.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation.curves import (
    bags_in,
    co,
    curve,
    differences,
    key,
    new_object,
    save_and_load,
    set_selected,
    snapshot,
)
from tests.animation.editors import editor
from tests.animation.live import (
    by_handles,
    copied,
    let_time_pass,
    live_object,
    notes_of,
    removed,
    set_value,
    updates_of,
)


def test_live_plays_tracks_and_keeps_the_bake_of_a_track_with_a_longer_path(animation) -> None:
    light = bpy.data.lights.new("Light", "AREA")
    for path in ("size", "size_y"):
        key(light, path, [(1, 1.0), (10, 2.0), (20, 1.5)])
    animation.enable(light)
    animation.bake(light, prefixes=["size_y"])
    switch = importlib.import_module(animation.__name__.replace(".animation", ".ui.live.switch"))
    switch.go_live([light.animation_data.action])
    size, size_y = (animation.find_track(light, path) for path in ("size", "size_y"))
    assert (size.is_played_by_handles, size_y.is_baked) == (True, True)


def own_keys(animation, thing: bpy.types.Object) -> dict[tuple[str, int], list[list[float]]]:
    tracks = animation.store.find_tracks.find_tracks(thing, animation.fcurves.channels.channels_of(thing))
    return {
        (track.path, index): original.keys.co.tolist()
        for track in tracks
        for index, original in animation.store.read_own_keys.read_own_keys(track).items()
    }


@pytest.fixture
def thing(animation) -> bpy.types.Object:
    return live_object(animation, "Ball")


def is_as_baked(animation, thing: bpy.types.Object) -> bool:
    """Return whether playing all tracks with handles would change nothing."""
    whole = copied(thing, "Whole")
    animation.bake(whole, output="HANDLES")
    same = differences(snapshot(whole, False), snapshot(thing, False)) == []
    removed(whole)
    return same


def test_its_own_writing_is_no_edit(animation, thing, bakes) -> None:
    set_value(thing, 3.0)
    for _ in range(5):
        let_time_pass(animation)
    assert bakes == ["location"]


def test_what_blender_does_not_say_at_once_is_found_by_the_longer_look(animation, thing) -> None:
    curve(thing, "location").keyframe_points[1].interpolation = "CONSTANT"
    let_time_pass(animation)
    assert is_as_baked(animation, thing)
    bpy.ops.tcb.restore()
    assert [p.interpolation for p in curve(thing, "location").keyframe_points][1] == "CONSTANT"


def test_frame_changes_mark_nothing(animation, thing) -> None:
    for frame in range(5):
        bpy.context.scene.frame_set(frame)
    assert not updates_of(animation).is_pending()


def test_an_action_that_nothing_plays_any_more_is_not_waited_for(animation, thing) -> None:
    updates, action = updates_of(animation), thing.animation_data.action
    updates.mark(action)
    updates.tick()
    assert updates.is_pending()
    thing.animation_data.action = None
    assert any(updates.tick(at_once=True) is None for _turn in range(10))
    assert not updates.is_pending()


def call(present: Any) -> None:
    """Call handlers in the same way as Blender."""
    for handler in present:
        handler(bpy.context.scene, None)


def test_nothing_is_baked_while_rendering_and_an_edit_before_it_is(animation, thing, bakes) -> None:
    updates = updates_of(animation)
    set_value(thing, 3.0)
    call(bpy.app.handlers.render_init)
    assert bakes == ["location"]
    set_value(thing, 4.0)
    bpy.context.view_layer.update()
    assert updates.tick() == pytest.approx(0.05)
    assert bakes == ["location"]
    call(bpy.app.handlers.render_complete)
    let_time_pass(animation)
    assert bakes == ["location", "location"]


def test_a_file_that_was_saved_before_the_bake_is_baked_when_it_is_opened(animation, thing, tmp_path, bakes) -> None:
    """The file is saved automatically, or with the extension disabled."""
    present = [bpy.app.handlers.save_pre, bpy.app.handlers.depsgraph_update_post]
    ours = [[each for each in every if "tcb_animation" in each.__module__] for every in present]
    for every, own in zip(present, ours, strict=True):
        for handler in own:
            every.remove(handler)
    set_value(thing, 3.0)
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for every, own in zip(present, ours, strict=True):
        every.extend(own)
    assert bakes == []
    bpy.ops.wm.open_mainfile(filepath=path)
    let_time_pass(animation)
    assert bakes == ["location"]
    assert is_as_baked(animation, bpy.data.objects["Ball"])


def test_a_file_that_is_as_it_was_baked_is_not_baked_when_it_is_opened(animation, thing, tmp_path, bakes) -> None:
    save_and_load(tmp_path)
    let_time_pass(animation)
    assert bakes == []


def test_undone_and_redone_edits_are_the_same_to_the_last_bit(animation, thing) -> None:
    bpy.ops.ed.undo_push(message="start")
    states = [snapshot(thing)]
    for step in range(10):
        set_value(bpy.data.objects["Ball"], step - 3.5, row=step % 4)
        bpy.ops.ed.undo_push(message=f"edit {step}")
        let_time_pass(animation)
        states.append(snapshot(bpy.data.objects["Ball"]))
    for state in reversed(states[:-1]):
        bpy.ops.ed.undo()
        let_time_pass(animation)
        assert differences(state, snapshot(bpy.data.objects["Ball"])) == []
    for state in states[1:]:
        bpy.ops.ed.redo()
        let_time_pass(animation)
        assert differences(state, snapshot(bpy.data.objects["Ball"])) == []


def our_handlers() -> list[Any]:
    every = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    present = [handler for handlers in every if isinstance(handlers, list) for handler in handlers]
    return [handler for handler in present if "tcb_animation" in handler.__module__]


def test_nothing_of_it_is_left_when_the_extension_is_switched_off(animation, tcb_animation, thing) -> None:
    updates = updates_of(animation)
    assert our_handlers() != []
    set_value(thing, 3.0)
    tcb_animation.unregister()
    try:
        assert our_handlers() == []
        assert not bpy.app.timers.is_registered(updates.tick)
        assert not bpy.app.timers.is_registered(tcb_animation.ui.live.handlers.start)
        assert not hasattr(bpy.types.Action, "tcb_live")
        assert tcb_animation.ui.live.updates.watches == {}
        set_value(thing, 4.0)
        bpy.context.view_layer.update()
    finally:
        tcb_animation.register()
    assert thing.animation_data.action.tcb_live
    bpy.ops.tcb.sync()
    assert is_as_baked(animation, thing)


def test_what_is_marked_may_be_deleted_or_renamed(animation, thing) -> None:
    set_value(thing, 3.0)
    bpy.context.view_layer.update()
    thing.name = "Another"
    let_time_pass(animation)
    assert is_as_baked(animation, thing)
    set_value(thing, 4.0)
    bpy.context.view_layer.update()
    action = thing.animation_data.action
    bpy.data.objects.remove(thing)
    let_time_pass(animation)
    bpy.data.actions.remove(action)
    updates_of(animation).mark_all()
    let_time_pass(animation)


def test_objects_that_share_an_action_are_baked_once(animation, thing, bakes) -> None:
    other = thing.copy()
    bpy.context.scene.collection.objects.link(other)
    assert other.animation_data.action == thing.animation_data.action
    set_value(thing, 3.0)
    let_time_pass(animation)
    assert bakes == ["location"]
    bpy.data.objects.remove(thing)
    set_value(other, 4.0)
    let_time_pass(animation)
    assert bakes == ["location", "location"]


def test_a_strip_in_tweak_mode_is_live(animation, thing, bakes) -> None:
    data = thing.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 100, data.action)
    data.action = None
    set_value_of(strip.action, 3.0)
    let_time_pass(animation)
    assert bakes == []
    strip.select = True
    with editor("NLA_EDITOR"):
        bpy.ops.nla.tweakmode_enter()
    assert data.use_tweak_mode
    bakes.clear()
    set_value_of(data.action, 4.0)
    let_time_pass(animation)
    assert bakes == ["location"]


def set_value_of(action: bpy.types.Action, value: float) -> None:
    (fcurve,) = [f for bag in bags_in(action) for f in bag.fcurves if (f.data_path, f.array_index) == ("location", 0)]
    fcurve.keyframe_points[0].co_ui.y = value
    fcurve.update()
    action.update_tag()


def test_switched_on_where_nothing_is_tcb_all_tracks_become_so_and_handles_play_them(animation, scene) -> None:
    item = new_object("Ball")
    key(item, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5))])
    item.animation_data.action.tcb_live = True
    assert animation.find_track(item, "location").enabled
    let_time_pass(animation)
    track = animation.find_track(item, "location")
    assert track.settings.options.output == "HANDLES"
    assert co(curve(item, "location"))[:, 0].tolist() == [0, 10, 25]
    assert animation.store.up_to_date.is_up_to_date(track)


def test_without_the_preference_a_partly_keyed_rotation_is_reported_once_and_played_when_it_can_be(
    animation, tcb_animation, scene
) -> None:
    item = new_object("Ball")
    key(item, "rotation_euler", [(0, (0, 1, 2)), (10, (1, -1, 2)), (25, (1, 1, 2.5))])
    key(item, "location", [(0, (0, 1, 2)), (10, (1, -1, 2))])
    points = curve(item, "rotation_euler", 1).keyframe_points
    points.remove(points[1])
    preferences = bpy.context.preferences.addons[tcb_animation.__name__].preferences
    preferences.complete_rotations = False
    try:
        item.animation_data.action.tcb_live = True
        let_time_pass(animation)
        assert animation.find_track(item, "location").is_played
        assert not animation.find_track(item, "rotation_euler").is_played
        (line,) = notes_of(animation, item)
        assert (line.track, line.code) == ("rotation_euler", "HANDLES_KEYED_APART")
        animation.key_whole(item)
        let_time_pass(animation)
        assert animation.find_track(item, "rotation_euler").settings.options.output == "HANDLES"
        assert notes_of(animation, item) == []
    finally:
        preferences.complete_rotations = True


def test_an_edit_that_cannot_be_baked_is_said_and_keeps_the_keys(animation, thing) -> None:
    point = curve(thing, "location").keyframe_points[0]
    point.co.y = float("nan")
    let_time_pass(animation)
    (line,) = notes_of(animation, thing)
    assert (line.track, line.frame) == ("location", 0.0)
    assert own_keys(animation, thing)["location", 0][1:] == [[10, 5], [25, 1], [40, -3]]
    point.co.y = 0.0
    let_time_pass(animation)
    assert notes_of(animation, thing) == []
    assert is_as_baked(animation, thing)


def test_restoring_some_tracks_leaves_the_others_live(animation) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (6, 1, 2))])
    key(thing, "scale", [(0, (1, 1, 2)), (10, (2, 1, 2)), (25, (1, 3, 2))])
    plain = snapshot(thing, identities=False)
    animation.enable(thing, keep_look=False)
    thing.animation_data.action.tcb_live = True
    let_time_pass(animation)
    report = animation.restore(thing, ["scale"])
    assert not any("Live" in str(note) for note in report.notes)
    let_time_pass(animation)
    tracks = {path: animation.find_track(thing, path) for path in ("location", "scale")}
    assert (tracks["location"].is_played, tracks["scale"].is_played) == (True, False)
    points = curve(thing, "location").keyframe_points
    points[1].co_ui = (12, 7)
    curve(thing, "scale").keyframe_points[1].co_ui = (14, 1.5)
    let_time_pass(animation)
    assert not animation.find_track(thing, "scale").is_played
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(thing, "location"))
    # When turned on again, Live plays all tracks.
    thing.animation_data.action.tcb_live = False
    thing.animation_data.action.tcb_live = True
    let_time_pass(animation)
    assert animation.find_track(thing, "scale").is_played
    report = animation.restore(thing)
    assert any("Live is now off" in str(note) for note in report.notes)
    assert not thing.animation_data.action.tcb_live
    points[1].co_ui = (10, 5)
    curve(thing, "scale").keyframe_points[1].co_ui = (10, 2)
    assert [each["co"] for each in snapshot(thing, identities=False)] == [each["co"] for each in plain]


def test_what_a_driver_kept_from_being_baked_is_baked_when_that_is_gone(animation, thing) -> None:
    let_time_pass(animation)
    driver = thing.driver_add("location", 0)
    set_value(thing, 4.0)
    let_time_pass(animation)
    assert any("driver" in str(line) for line in notes_of(animation, thing))
    thing.driver_remove("location", 0)
    del driver
    let_time_pass(animation)
    assert notes_of(animation, thing) == []
    assert is_as_baked(animation, thing)


ANYTHING = {
    "easing": "EASE_OUT",
    "interpolation": "LINEAR",
    "select_control_point": True,
    "select_left_handle": True,
    "type": "BREAKDOWN",
    "handle_left_type": "ALIGNED",
    "handle_right_type": "VECTOR",
}


class Looked:
    """An object played by handles that Live has baked before, and checks automatically."""

    def __init__(self, animation) -> None:
        self.update = animation.live.update
        self.options = by_handles(animation)
        self.thing = new_object()
        for path in ("location", "scale"):
            key(self.thing, path, [(1, (0, 0, 0)), (20, (1, 2, 3)), (30, (2, 0, 1)), (40, (3, -1, 0))])
        animation.enable(self.thing, keep_look=False)
        animation.bake(self.thing, output="HANDLES")
        self.watches: dict[Any, Any] = {}
        self.move(0.5)
        self.look_at_all()
        self.move(0.5)
        self.move(0.5, "scale")
        self.look()
        self.look_at_the_rest()

    @property
    def action(self) -> Any:
        return self.thing.animation_data.action

    def points(self, index: int = 0, path: str = "location") -> Any:
        return curve(self.thing, path, index).keyframe_points

    def move(self, by: float, path: str = "location") -> None:
        for index in range(3):
            for name in ("co", "handle_left", "handle_right"):
                getattr(self.points(index, path)[2], name).x += by

    def look(self) -> int:
        return self.update.refresh(self.watches, self.action, self.options).tracks

    def look_at_the_rest(self) -> int:
        return self.update.check_remaining(self.watches, self.action, self.options).tracks

    def look_at_all(self) -> None:
        self.update.refresh_all(self.watches, self.action, self.options)


@pytest.mark.parametrize("name", ANYTHING)
def test_what_is_edited_beside_a_move_is_kept_and_at_last_found_by_the_longer_look(animation, name: str) -> None:
    looked = Looked(animation)
    whole = Looked(animation)
    for each in (looked, whole):
        setattr(each.points()[1], name, ANYTHING[name])
        each.move(1.0)
    assert looked.look() == 1
    assert getattr(looked.points()[1], name) == ANYTHING[name]
    looked.look_at_the_rest()
    whole.look_at_all()
    for each in (looked, whole):
        assert is_as_baked(animation, each.thing)
        assert not each.look()
        assert not each.look_at_the_rest()
    assert differences(*(snapshot(each.thing, identities=False) for each in (whole, looked))) == []
    for each in (looked, whole):
        animation.restore(each.thing)
        assert getattr(each.points()[1], name) == ANYTHING[name]
    assert differences(*(snapshot(each.thing, identities=False) for each in (whole, looked))) == []


def bent_numbers(animation, thing: bpy.types.Object) -> np.ndarray:
    """Return the parameters of the second key of x, 0 if not set."""
    track = animation.find_track(thing, "location")
    return np.nan_to_num(animation.store.read_own_keys.read_own_keys(track)[0].numbers[1, :5])


@pytest.mark.parametrize("is_selected", [False, True])
def test_a_handle_that_is_dragged_beside_a_move_is_told_by_its_selection(animation, is_selected: bool) -> None:
    looked, whole = Looked(animation), Looked(animation)
    for each in (looked, whole):
        each.move(1.0)
        for index in range(3):
            for point in each.points(index):
                set_selected(point, False)
        each.points()[1].select_right_handle = is_selected
        each.points()[1].handle_right.y += 1.0
        for index in range(1, 3):
            each.points(index)[2].select_control_point = True
    looked.look()
    whole.look_at_all()
    numbers = [bent_numbers(animation, each.thing) for each in (looked, whole)]
    assert bool(numbers[0].any()) == is_selected
    assert np.array_equal(*numbers)
    assert differences(*(snapshot(each.thing, identities=False) for each in (whole, looked))) == []


@pytest.mark.parametrize("edit", ["insert", "delete", "replace", "swap", "remake", "undo"])
def test_nothing_is_taken_for_what_it_was_where_there_are_other_keys(animation, edit: str) -> None:
    looked, whole = Looked(animation), Looked(animation)
    for each in (looked, whole):
        points = each.points()
        if edit in ("insert", "replace"):
            points.insert(26.0, 4.0)
        if edit in ("delete", "replace"):
            points.remove(points[1])
        if edit == "swap":
            # The identities have another order.
            first, second = points[1].co.x, points[2].co.x
            points[1].co_ui.x, points[2].co_ui.x = second, first
            curve(each.thing, "location").update()
        if edit == "remake":
            rows_of_it = [(tuple(point.co), point.interpolation) for point in points]
            bags = bags_in(each.action)
            fcurves = bags[0].fcurves
            fcurves.remove(curve(each.thing, "location"))
            made = fcurves.new("location", index=0)
            for at, _ in rows_of_it:
                made.keyframe_points.insert(*at).easing = "EASE_IN"
        if edit == "undo":
            for watch in each.watches.values():
                watch.forget()
        each.move(1.0)
        # On a track with the same keys, a handle is dragged and a key is moved.
        each.move(1.0, "scale")
        for point in each.points(0, "scale"):
            set_selected(point, False)
        each.points(0, "scale")[1].handle_right.y += 1.0
        each.points(0, "scale")[1].select_right_handle = True
    looked.look()
    looked.look_at_the_rest()
    whole.look_at_all()
    assert differences(*(snapshot(each.thing, identities=False) for each in (whole, looked))) == []
    for each in (looked, whole):
        animation.restore(each.thing)
    assert differences(*(snapshot(each.thing, identities=False) for each in (whole, looked))) == []


def linked_from_library(item: bpy.types.Object, path: Path) -> bpy.types.Object:
    """Return the object linked from a new library. The given object is removed."""
    name = item.name
    bpy.data.libraries.write(str(path), {item})
    removed(item)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = [name]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    return linked


def test_live_does_not_write_into_a_linked_action(animation, tmp_path) -> None:
    item = linked_from_library(live_object(animation, "Ball"), tmp_path / "library.blend").override_create()
    action = item.animation_data.action
    bpy.ops.tcb.sync()
    set_value(item, 3.0)
    updates_of(animation).mark_all()
    let_time_pass(animation)
    assert updates_of(animation).flush_all().refused == []
    assert item.animation_data.action == action
    assert updates_of(animation).watched_actions() == []


def test_live_does_not_enable_a_linked_action_that_is_turned_on(animation, tmp_path) -> None:
    plain = new_object("Ball")
    key(plain, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5))])
    item = linked_from_library(plain, tmp_path / "library.blend")
    item.animation_data.action.tcb_live = True
    assert notes_of(animation, item) == []
    assert not animation.find_track(item, "location").enabled
