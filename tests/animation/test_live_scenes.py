# SPDX-License-Identifier: GPL-3.0-or-later
"""Live with several scenes in different windows.

Each object is baked with the options of its own scene, and an action that objects in both scenes share is baked once.
"""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.animation.action_users import with_slots
from tests.animation.curves import co, curve, differences, key, new_object, snapshot
from tests.animation.live import copied, let_time_pass, removed, set_value

SETTINGS: dict[str, dict[str, Any]] = {
    "Here": {"output": "HANDLES", "defaults": {"tension": 0.25}},
    "There": {"output": "HANDLES", "defaults": {"bias": -0.5, "ease_to": 0.5}},
}


@pytest.fixture
def scenes(scene) -> dict[str, bpy.types.Scene]:
    """The current scene, "Here", and another scene, "There", with different defaults in the sidebar."""
    scene.name = "Here"
    found = {"Here": scene, "There": bpy.data.scenes.new("There")}
    for name, each in found.items():
        chosen: Any = each
        for parameter, number in SETTINGS[name]["defaults"].items():
            setattr(chosen.tcb.defaults, parameter, number)
    return found


def put(item: bpy.types.Object, *scenes: bpy.types.Scene) -> bpy.types.Object:
    """Link the object to exactly these scenes."""
    for collection in item.users_collection:
        collection.objects.unlink(item)
    for scene in scenes:
        scene.collection.objects.link(item)
    return item


@pytest.fixture
def balls(animation, scenes) -> dict[str, bpy.types.Object]:
    """A live object in each scene, with its own action and the same keys. Nothing is baked yet."""
    found = {}
    for name, scene in scenes.items():
        item = put(new_object(f"Ball {name}"), scene)
        key(item, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5)), (40, (-3, 0, 2))])
        key(item, "scale", [(5, (1, 1, 1)), (35, (2, 3, 1))])
        animation.enable(item, keep_look=False)
        item.animation_data.action.tcb_live = True
        found[name] = item
    return found


def is_as(animation, item: bpy.types.Object, settings: str) -> list[Any]:
    """Return the differences between the playback and a bake with the settings of that scene."""
    whole = copied(item, "Whole")
    animation.bake(whole, **SETTINGS[settings])
    found = differences(snapshot(whole, False), snapshot(item, False))
    removed(whole)
    return found


def test_each_object_is_baked_as_its_own_scene_says_whichever_is_current(animation, scenes, balls) -> None:
    for current in scenes.values():
        bpy.context.window.scene = current
        for row, item in enumerate(balls.values()):
            set_value(item, 3.0 + row, row=row)
        let_time_pass(animation)
        assert {name: is_as(animation, item, name) for name, item in balls.items()} == {"Here": [], "There": []}
    for item in balls.values():
        assert co(curve(item, "location"))[:, 0].tolist() == [0, 10, 25, 40]


@pytest.fixture
def twin(scenes, balls) -> bpy.types.Object:
    """An object in "There" that is animated by the action of the ball in "Here"."""
    item = put(balls["Here"].copy(), scenes["There"])
    item.name = "Twin"
    assert item.animation_data.action == balls["Here"].animation_data.action
    return item


def test_an_action_of_both_scenes_is_baked_once_as_the_scene_of_the_first_window_says(
    animation, scenes, balls, twin, bakes
) -> None:
    # It does not matter in which window Live was turned on.
    with bpy.context.temp_override(scene=scenes["There"]):
        twin.animation_data.action.tcb_live = False
        twin.animation_data.action.tcb_live = True
        bpy.ops.tcb.sync()
    assert sorted(bakes) == ["location", "location", "scale", "scale"]
    assert is_as(animation, twin, "Here") == []
    # The object is unchanged, although the other scene is current now.
    bpy.context.window.scene = scenes["There"]
    bakes.clear()
    set_value(twin, 7.0)
    let_time_pass(animation)
    assert bakes == ["location"]
    assert is_as(animation, balls["Here"], "Here") == []


def handles(item: bpy.types.Object) -> list[tuple[float, ...]]:
    return [(*point.handle_left, *point.handle_right) for point in curve(item, "location").keyframe_points]


@with_slots
def test_slots_of_one_action_are_baked_each_as_the_scene_of_its_object_says(animation, scenes, balls) -> None:
    other = put(new_object("Other"), scenes["There"])
    action = balls["Here"].animation_data.action
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new("OBJECT", "Other")
    key(other, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5))])
    animation.enable(other, keep_look=False)
    let_time_pass(animation)
    alone = put(new_object("Alone"), scenes["There"])
    key(alone, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5))])
    animation.bake(alone, **SETTINGS["There"], keep_look=False)
    assert handles(other) == handles(alone)
    assert handles(other) != handles(balls["There"])
    assert is_as(animation, balls["Here"], "Here") == []


def test_a_world_belongs_to_its_scene(tcb_animation, scenes) -> None:
    world = bpy.data.worlds.new("Sky")
    scenes["There"].world = world
    live = tcb_animation.ui.scene
    assert live.default_parameters([world]) == SETTINGS["There"]["defaults"]
