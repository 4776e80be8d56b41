# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake depends only on the keys: baking again gives the same bits."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import (
    MODES,
    bits,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    snapshot,
)
from tests.animation.live import let_time_pass
from tests.animation.random_tracks import mixed, parametrised


@pytest.mark.parametrize(("step", "mode"), each_once([1.0, 0.25, 3.0], MODES))
def test_bakes_and_restores_in_turn_give_the_same_bits(animation, mode: str, step: float) -> None:
    """The tracks are baked twice, with other options and back, and after a restore."""
    thing = mixed(mode)
    before = snapshot(thing)
    parametrised(animation, thing)
    animation.bake(thing, step=step)
    first = snapshot(thing)
    animation.bake(thing, step=step)
    assert differences(first, snapshot(thing)) == []
    animation.bake(thing, step=0.3, extend=(-50, 90))
    animation.bake(thing, step=step)
    assert differences(first, snapshot(thing)) == []
    animation.restore(thing)
    assert differences(before, snapshot(thing), identities=False) == []
    animation.bake(thing, step=step)
    assert {state["path"]: state for state in snapshot(thing)} == {state["path"]: state for state in first}


def test_samples_after_live_handles_of_a_cycle_are_the_same_twice(animation) -> None:
    """Live places handles on every key. A bake saves the keys without these handles."""
    thing = mixed("QUATERNION")
    parametrised(animation, thing)
    for fcurve in fcurves(thing):
        animation.choose(thing, fcurve.data_path, cycle="REPEAT")
    animation.bake(thing, output="HANDLES")
    thing.animation_data.action.tcb_live = True
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[0].co.y += 0.125
    let_time_pass(animation)
    assert all(animation.find_track(thing, fcurve.data_path).is_played for fcurve in fcurves(thing))
    animation.bake(thing)
    first, stored = snapshot(thing), table(thing)
    # Blender updates curves after nearly every edit.
    for fcurve in fcurves(thing):
        fcurve.update()
    assert differences(first, snapshot(thing)) == []
    animation.bake(thing)
    assert differences(first, snapshot(thing)) == []
    assert table(thing) == stored


def table(thing: bpy.types.Object) -> dict[str, object]:
    action: Any = thing.animation_data.action
    return action["tcb_animation"].to_dict()


def test_generated_keys_of_other_tools_count_as_the_animators(animation) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (5, (3, 3, 3)), (10, (0, 0, 0))])
    for component in range(3):
        curve(thing, "location", component).keyframe_points[1].type = "GENERATED"
    before = bits(curve(thing, "location"), identities=False)
    animation.bake(thing, keep_look=False)
    assert curve(thing, "location").evaluate(5) == 3
    animation.bake(thing)
    assert curve(thing, "location").evaluate(5) == 3
    animation.restore(thing)
    assert bits(curve(thing, "location"), identities=False) == before


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_baked_rotation_whose_mode_was_changed_is_baked_as_in_that_mode(animation, output: str) -> None:
    thing, twin = mixed("XYZ"), mixed("XYZ")
    before = snapshot(thing)
    animation.bake(thing, output=output, keep_look=False)
    for each in (thing, twin):
        each.rotation_mode = "ZYX"
        animation.bake(each, output=output, keep_look=False)
    assert differences(snapshot(twin, False), snapshot(thing, False)) == []
    animation.restore(thing)
    assert differences(before, snapshot(thing), identities=False) == []


def test_a_baked_rotation_that_is_not_in_use_is_refused_and_goes_on_as_before(animation) -> None:
    thing = mixed("XYZ")
    animation.bake(thing, keep_look=False)
    baked = snapshot(thing)
    thing.rotation_mode = "QUATERNION"
    with pytest.raises(animation.AnimationError, match="the track is not used in the current rotation mode"):
        animation.bake(thing, prefixes=["rotation_euler"])
    assert differences(baked, snapshot(thing)) == []
    thing.rotation_mode = "XYZ"
    animation.bake(thing)
    assert differences(baked, snapshot(thing)) == []
