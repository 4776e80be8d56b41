# SPDX-License-Identifier: GPL-3.0-or-later
"""Free Bake restores every attribute of the animator's keys, bit for bit, wherever the action was used while baked."""

from __future__ import annotations

import importlib
import random
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs, each_once
from tests.animation.action_users import push_down, share, tweak, with_slots
from tests.animation.curves import (
    MODES,
    bag_of,
    co,
    curve,
    differences,
    fcurves,
    given,
    key,
    new_object,
    rotation_path,
    snapshot,
    states,
    track_keys,
)
from tests.animation.damage import forget
from tests.animation.random_tracks import enum
from tests.animation.rotations import rotations_near_each_other, values_of

OUTPUTS = ("SAMPLES", "CURVES")
STATES = ("OFF", "HANDLES")
"""The states of a track before the bake."""
FRAMES = (1.0, 7.25, 12.1, 30.0, 41.5)
PLACES = ((0.0, -1.5, 2.0), (3.5, 0.1, 2.0), (-2.0, 7.25, 2.0), (0.5, 0.7, -4.0), (1.0, 1.0, 1.0))


def decorate(item: bpy.types.ID, seed: int) -> None:
    """Set all kinds of attributes on the keys."""
    dice = random.Random(seed)
    for fcurve in fcurves(item):
        for point in fcurve.keyframe_points:
            point.interpolation = dice.choice(["BEZIER", "BEZIER", dice.choice(enum("interpolation"))])
            point.easing, point.type = dice.choice(enum("easing")), dice.choice(enum("type"))
            point.handle_left_type = dice.choice(enum("handle_left_type"))
            point.handle_right_type = dice.choice(enum("handle_right_type"))
            point.back, point.amplitude, point.period = (dice.uniform(0.1, 3.0) for _ in range(3))
        fcurve.update()
        for point in fcurve.keyframe_points:
            point.select_control_point, point.select_left_handle, point.select_right_handle = (
                dice.random() < 0.5 for _ in range(3)
            )
        fcurve.auto_smoothing = dice.choice(["NONE", "CONT_ACCEL"])
        if "rotation" not in fcurve.data_path:
            fcurve.extrapolation = dice.choice(["CONSTANT", "LINEAR"])


def animated(mode: str = "QUATERNION", name: str = "Ball") -> bpy.types.Object:
    """Return an object with location, rotation and scale, fractional frames, and a single key on one component."""
    item = new_object(name, mode)
    item["grip"] = 0.25
    turns = values_of(mode, rotations_near_each_other(random.Random(MODES.index(mode)), len(FRAMES), 1.0))
    key(item, "location", list(zip(FRAMES, PLACES, strict=True)), group="Places")
    key(item, rotation_path(mode), list(zip(FRAMES, turns, strict=True)), group="Turns")
    key(item, "scale", list(zip(FRAMES[:3], PLACES, strict=False)), channels=[1])
    key(item, "scale", list(zip(FRAMES[2:], PLACES, strict=False)), channels=[2])
    key(item, '["grip"]', [(3.3, 0.75)])
    decorate(item, MODES.index(mode))
    return item


def prepare(animation, item: bpy.types.Object, state: str) -> None:
    """Make all tracks TCB, with parameters and a cycle, in one of the states from which a bake can start."""
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", FRAMES[1], tension=0.5, bias=-0.25, ease_to=0.3)
    animation.choose(item, "scale", cycle="REPEAT")
    if state == "HANDLES":
        animation.bake(item, output="HANDLES")


def enable(animation, item: bpy.types.Object, state: str) -> None:
    animation.enable(item, keep_look=False)
    if state == "HANDLES":
        animation.bake(item, output="HANDLES")


def everything(item: bpy.types.ID) -> list[Any]:
    """Return all of the animator's data in the F-curves, the locks of groups, and the values of the properties."""
    locks = [{"path": "group", "name": group.name, "lock": group.lock} for group in bag_of(item).groups]
    return [*snapshot(item), *locks]


def check_freed(animation, item: bpy.types.ID, before: list[Any], state: str) -> None:
    assert differences(before, everything(item)) == []
    assert set(states(animation, item).values()) == {"TCB" if state == "OFF" else "HANDLES"}


# Restored data


@pytest.mark.parametrize(("output", "state", "mode"), all_pairs(OUTPUTS, STATES, MODES))
def test_every_attribute_of_every_own_key_comes_back(animation, mode: str, state: str, output: str) -> None:
    item = animated(mode)
    prepare(animation, item, state)
    before = everything(item)
    animation.bake(item, output=output)
    assert all(fcurve.lock for fcurve in fcurves(item))
    assert any(point.type == "GENERATED" for fcurve in fcurves(item) for point in fcurve.keyframe_points)
    animation.free(item)
    check_freed(animation, item, before, state)


@pytest.mark.parametrize(("output", "mode"), each_once(OUTPUTS, MODES))
def test_channels_that_the_bake_made_are_gone_and_the_value_is_back(animation, mode: str, output: str) -> None:
    item = new_object("Ball", mode)
    path = rotation_path(mode)
    values = [0.6, 0.3, -0.2, 0.7][: len(getattr(item, path))]
    setattr(item, path, values)
    held = list(getattr(item, path))
    turns = values_of(mode, rotations_near_each_other(random.Random(9), len(FRAMES), 1.0))
    key(item, path, list(zip(FRAMES, turns, strict=True)), channels=[0, 1])
    animation.enable(item, keep_look=False)
    before = everything(item)
    animation.bake(item, output=output)
    assert len(fcurves(item)) == len(values)
    bpy.context.scene.frame_set(13)
    animation.free(item)
    check_freed(animation, item, before, "OFF")
    assert list(getattr(item, path))[2:] == held[2:]


# Use of the action while it is baked


@pytest.fixture(params=STATES)
def state(request) -> str:
    return request.param


@pytest.fixture
def ball(animation, state: str) -> bpy.types.Object:
    item = animated()
    prepare(animation, item, state)
    return item


def obj(name: str = "Ball") -> Any:
    """Return the object by name, because undo and loading recreate all objects."""
    return bpy.data.objects[name]


def save(folder) -> str:
    path = str(folder / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


@pytest.mark.parametrize("output", OUTPUTS)
def test_save_and_load(animation, ball, state: str, tmp_path, output: str) -> None:
    before = everything(ball)
    animation.bake(ball, output=output)
    bpy.ops.wm.open_mainfile(filepath=save(tmp_path))
    forget(animation)
    animation.free(obj())
    check_freed(animation, obj(), before, state)


def test_an_appended_action(animation, ball, state: str, tmp_path) -> None:
    before = everything(ball)
    animation.bake(ball)
    path, name = save(tmp_path), ball.animation_data.action.name
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    forget(animation)
    with bpy.data.libraries.load(path) as (_, wanted):
        wanted.actions = [name]
    other = new_object("Other", "QUATERNION")
    other["grip"] = 0.25
    share(wanted.actions[0], other)
    animation.free(other)
    check_freed(animation, other, before, state)


@with_slots
def test_swapped_slots(animation, ball, state: str) -> None:
    action, other = ball.animation_data.action, new_object("Other", "QUATERNION")
    share(action, other, action.slots.new("OBJECT", "Other"))
    key(other, "location", list(zip(FRAMES, PLACES[::-1], strict=True)))
    decorate(other, 7)
    enable(animation, other, state)
    before = [everything(item) for item in (ball, other)]
    animation.bake_many([ball, other], animation.Options())
    first, second = ball.animation_data.action_slot, other.animation_data.action_slot
    ball.animation_data.action_slot, other.animation_data.action_slot = second, first
    other["grip"] = 0.25
    animation.free(ball)
    animation.free(other)
    assert differences(before[0], everything(other)) == []
    assert differences(before[1], everything(ball)) == []


def tweaked(item: bpy.types.Object) -> None:
    """Push the action down into a stretched strip at a fractional frame, and tweak the strip.

    Blender's editors move keys and handles to the frames at which the strip plays them, and back, which rounds them.
    """
    strip = push_down(item)
    strip.scale, strip.frame_start_ui = 1.7, 17.3
    tweak(item)
    moved = False
    for fcurve in fcurves(item):
        for name in ("co", "handle_left", "handle_right"):
            places = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
            fcurve.keyframe_points.foreach_get(name, places)
            before = places.copy()
            there = places[::2] * np.float32(1.7) + np.float32(17.3)
            places[::2] = (there - np.float32(17.3)) / np.float32(1.7)
            fcurve.keyframe_points.foreach_set(name, places)
            moved = moved or bool((places != before).any())
    assert moved


def test_nla_push_down_and_tweak_mode(animation, ball, state: str) -> None:
    before = everything(ball)
    animation.bake(ball)
    tweaked(ball)
    assert set(states(animation, ball).values()) == {"BAKED"}
    animation.free(ball)
    ball.animation_data.use_tweak_mode = False
    ball.animation_data.use_tweak_mode = True
    check_freed(animation, ball, before, state)


# The extension's tools while baked


def set_parameters(animation, item: bpy.types.Object) -> None:
    animation.key_set(item, "location", FRAMES[2], tension=-0.75, ease_from=0.4)


def choose_cycle(animation, item: bpy.types.Object) -> None:
    animation.choose(item, "location", cycle="LOOP")


def move_key(animation, item: bpy.types.Object) -> None:
    place_keys = importlib.import_module(f"{animation.__name__}.edit.keys")
    keys = track_keys(animation, item, "location")
    place_keys.move_keys(keys.take(np.array([1])), [9.5])


def raise_key(animation, item: bpy.types.Object) -> None:
    place_keys = importlib.import_module(f"{animation.__name__}.edit.keys")
    keys = track_keys(animation, item, "location")
    place_keys.set_value(keys.take(np.array([3])), 2, 12.5)


def drag_on_path(animation, item: bpy.types.Object) -> None:
    """Drag the key in steps, as with the mouse. Change first its value, then its frame."""
    points, movable = (
        importlib.import_module(f"{animation.__name__}.on_path.{name}") for name in ("path_keys", "drag_point")
    )
    followed = points.Followed("ORIGIN", "Z", 1.0)
    spot = points.Spot(bpy.context.scene, item, "", followed, 30.0)
    held = movable.movable_point(spot)
    for away in ((0.5, 0.0, 0.0), (1.0, 0.25, 0.0), (-0.5, 0.5, 1.0)):
        position = movable.PointInWorld(spot, held.track).now()
        assert held.move_to(position + np.array(away)).errors == []
    for frame in (31.0, 33.5, 32.25):
        held.track.move_to(frame)
        assert held.track.play().errors == []


def paste_on_another_key(animation, item: bpy.types.Object) -> None:
    """Copy the parameters of the key at 7.25 and paste them onto the key at 30 or to where that was dragged."""
    paste = importlib.import_module(f"{animation.__name__}.edit.parameters")
    keys = track_keys(animation, item, "location")
    copied = paste.copied_keys(keys.take(np.array([1])), {})
    assert paste.paste(keys.take(np.array([3])), copied, {}) == ""


TOOLS = {
    "key_set": set_parameters,
    "paste": paste_on_another_key,
    "choose": choose_cycle,
    "move_keys": move_key,
    "set_value": raise_key,
    "drag": drag_on_path,
}


def plain_ball(animation, name: str, state: str) -> bpy.types.Object:
    """Return a ball without chosen handles, so that TCB handles depend only on keys and parameters."""
    item = new_object(name)
    key(item, "location", list(zip(FRAMES, PLACES, strict=True)))
    animation.key_set(item, "location", FRAMES[1], tension=0.5)
    if state == "HANDLES":
        animation.bake(item, output="HANDLES")
    return item


def played(item: bpy.types.Object) -> list[list[float]]:
    return [[fcurve.evaluate(frame / 4) for frame in range(-40, 240)] for fcurve in fcurves(item)]


@pytest.mark.parametrize(("output", "names"), each_once(OUTPUTS, [*([name] for name in TOOLS), list(TOOLS)]))
def test_edits_by_our_tools_are_in_the_freed_keys(animation, state: str, names: list[str], output: str) -> None:
    """The keys are those that the same tools produce without a bake."""
    item, twin = (plain_ball(animation, name, state) for name in ("Ball", "Twin"))
    animation.bake(item, output=output)
    before = played(item)
    for name in names:
        for each in (item, twin):
            TOOLS[name](animation, each)
        assert set(states(animation, item).values()) == {"BAKED"}
    # The curves are those of another bake of the edited keys.
    edited = played(item)
    assert edited != before
    assert not item.animation_data.action.tcb_live
    animation.bake(item, output=output)
    assert played(item) == edited
    animation.free(item)
    if state == "HANDLES":
        animation.bake(twin, output="HANDLES")
    assert played(item) == played(twin)
    assert set(states(animation, item).values()) == {"TCB" if state == "OFF" else "HANDLES"}
    for name in ("tension", "ease_from"):
        assert given(animation, item, "location", name) == given(animation, twin, "location", name)
    frames = co(curve(item, "location"))[:, 0].tolist()
    moved, dragged = "move_keys" in names, "drag" in names
    assert frames == [1.0, 9.5 if moved else 7.25, np.float32(12.1), 32.25 if dragged else 30.0, 41.5]
    if not dragged:
        assert co(curve(item, "location", 2))[3, 1] == (12.5 if "set_value" in names else -4.0)
    for each in (item, twin):
        animation.remove(each)
    assert differences(snapshot(twin), snapshot(item)) == []
