# SPDX-License-Identifier: GPL-3.0-or-later
"""The sliders that have an effect, compared with the effect of each parameter on the F-curves in Blender."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import PARAMETERS, curve, fcurves, new_object

KEYS = ((1.0, (0.0, 1.0, 0.5)), (11.0, (3.0, -1.0, 0.8)), (25.0, (1.0, 2.0, -0.4)), (41.0, (5.0, 0.0, 0.1)))
FRAMES = np.linspace(-5.0, 50.0, 111).tolist()


@pytest.fixture
def acting(animation):
    """A function acting(thing, path, frame) that returns the active sliders, and the cause why others are gray."""
    played = importlib.import_module(f"{animation.__name__}.checks.shown_key").played_parameters
    keys = importlib.import_module(f"{animation.__name__}.edit.track_keys").key_at

    def ask(thing, path, frame):
        found = played([keys(thing, animation.find_track(thing, path), frame)])
        return set(found.names), found.obstacle and found.obstacle.cause

    return ask


@pytest.fixture
def changing(animation):
    """A function changing(thing, path, frame) that returns the parameters that change the playback next to the key."""

    def played(thing):
        return np.array([[each.evaluate(frame) for frame in FRAMES] for each in fcurves(thing)])

    def ask(thing, path, frame):
        result = set()
        # At the first and last keys of a rotation, continuity has an effect only with a bias.
        animation.key_set(thing, path, frame, bias=0.3, continuity=0.2)
        animation.bake(thing, output="HANDLES")
        before = played(thing)
        for name in PARAMETERS:
            was = {"bias": 0.3, "continuity": 0.2}.get(name, 0.0)
            animation.key_set(thing, path, frame, **{name: 0.75})
            animation.bake(thing, output="HANDLES")
            if np.abs(played(thing) - before).max() > 1e-4:
                result.add(name)
            animation.key_set(thing, path, frame, **{name: was})
        animation.bake(thing, output="HANDLES")
        return result

    return ask


@pytest.fixture(params=["location", "rotation_euler"])
def thing(scene, animation, request):
    made = new_object("Thing", "XYZ")
    for frame, value in KEYS:
        setattr(made, request.param, value)
        made.keyframe_insert(request.param, frame=frame)
    animation.enable(made, keep_look=False)
    animation.bake(made, output="HANDLES")
    return made, request.param


def retype(thing, path, row, kind, sides=("left", "right"), channels=(0, 1, 2)):
    for index in channels:
        point = curve(thing, path, index).keyframe_points[row]
        for side in sides:
            setattr(point, f"handle_{side}_type", kind)
    curve(thing, path).update()


@pytest.mark.parametrize(("row", "cycle"), each_once(range(4), ["SINGLE", "REPEAT", "LOOP"]))
def test_what_acts_at_each_key_of_a_track(thing, animation, acting, changing, row, cycle):
    thing, path = thing
    animation.choose(thing, path, cycle=cycle)
    frame = KEYS[row][0]
    assert acting(thing, path, frame)[0] == changing(thing, path, frame)


def test_methods_without_parameters_leave_eases(thing, animation, acting, changing):
    thing, path = thing
    animation.choose(thing, path, method="CATMULL_ROM")
    assert acting(thing, path, 11.0) == ({"ease_to", "ease_from"}, "METHOD")
    assert changing(thing, path, 11.0) == {"ease_to", "ease_from"}


@pytest.mark.parametrize("row", [0, 1])
def test_a_segment_that_blender_plays(thing, animation, acting, changing, row):
    thing, path = thing
    animation.key_set(thing, path, KEYS[row][0], interpolation="LINEAR")
    animation.bake(thing, output="HANDLES")
    for frame, _ in KEYS[row : row + 2]:
        assert acting(thing, path, frame)[0] == changing(thing, path, frame)
    assert acting(thing, path, KEYS[row + 1][0])[1] == "INTERPOLATION"


@pytest.mark.parametrize("kind", ["ALIGNED", "AUTO"])
def test_handles_that_the_animator_chose(thing, animation, acting, kind):
    thing, path = thing
    # The last key's handle depends on the previous key's handle.
    for frame in (30.0, 35.0):
        for each in fcurves(thing):
            each.keyframe_points.insert(frame, each.evaluate(frame) + 0.1)
    animation.bake(thing, output="HANDLES")
    before = acting(thing, path, 11.0)[0]
    retype(thing, path, 2, kind)
    assert acting(thing, path, 25.0) == (set(), "HANDLES")
    assert acting(thing, path, 11.0)[0] == before
    retype(thing, path, 1, kind, sides=("left",))
    assert acting(thing, path, 11.0)[0] == set(PARAMETERS) - {"ease_to"}


def test_handles_of_one_channel_leave_the_sliders_to_the_others(thing, animation, acting, changing):
    thing, path = thing
    retype(thing, path, 1, "VECTOR", channels=(1,))
    assert acting(thing, path, 11.0) == (set(PARAMETERS), "HANDLES")
    assert changing(thing, path, 11.0) == set(PARAMETERS)


def test_a_bake_plays_all_parameters_whatever_the_handles(thing, animation, acting, changing):
    thing, path = thing
    retype(thing, path, 1, "ALIGNED")
    animation.bake(thing)
    assert acting(thing, path, 11.0) == (set(PARAMETERS), None)


def test_make_free_lets_the_sliders_act_again(thing, animation, acting, changing):
    thing, path = thing
    free = importlib.import_module(f"{animation.__name__}.edit.keys").free_handles
    before = [each.evaluate(frame) for each in fcurves(thing) for frame in FRAMES]
    retype(thing, path, 1, "VECTOR")
    free(animation.edit.track_keys.key_at(thing, animation.find_track(thing, path), 11.0))
    assert [each.evaluate(frame) for each in fcurves(thing) for frame in FRAMES] == pytest.approx(before, abs=1e-6)
    assert acting(thing, path, 11.0) == (set(PARAMETERS), None)
    assert changing(thing, path, 11.0) == set(PARAMETERS)


def test_make_bezier_gives_both_segments_to_the_spline(thing, animation, acting, changing):
    thing, path = thing
    for frame in (1.0, 11.0):
        animation.key_set(thing, path, frame, interpolation="SINE")
    animation.bake(thing, output="HANDLES")
    assert acting(thing, path, 11.0) == (set(), "INTERPOLATION")
    bezier = importlib.import_module(f"{animation.__name__}.edit.parameters").make_bezier
    bezier(animation.edit.track_keys.key_at(thing, animation.find_track(thing, path), 11.0))
    animation.bake(thing, output="HANDLES")
    assert acting(thing, path, 11.0) == (set(PARAMETERS), None)
    assert changing(thing, path, 11.0) == set(PARAMETERS)
