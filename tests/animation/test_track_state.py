# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a track after changes to a baked track, and if objects with several rotation modes share its action."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.all_pairs import all_pairs
from tests.animation.action_users import share
from tests.animation.curves import curve, fcurves, key, new_object, snapshot, states

TURNS = [(0, (0.0, 0.1, 0.2)), (10, (1.2, 0.7, -0.4)), (30, (-0.3, 1.1, 0.9))]
QUATERNIONS = [(frame, tuple(Euler(angles, "XYZ").to_quaternion())) for frame, angles in TURNS]
OUTPUTS = ("SAMPLES", "CURVES", "HANDLES")


def two(mode: str, other_mode: str) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Return two objects with one action, which has rotations for every mode."""
    one, other = new_object("Eins", mode), new_object("Zwei", other_mode)
    key(one, "location", TURNS)
    key(one, "rotation_euler", TURNS)
    key(one, "rotation_quaternion", QUATERNIONS)
    share(one.animation_data.action, other)
    return one, other


def turns(item: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """Return the orientations in Blender as matrices."""
    played = []
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        played.append(np.array(item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.to_3x3()))
    return np.array(played)


@pytest.mark.parametrize("output", OUTPUTS)
def test_who_shares_an_action_in_another_order_is_not_out_of_date_by_that(animation, scene, output) -> None:
    one, other = two("XYZ", "ZYX")
    animation.enable_many({one: None, other: None}, keep_look=False)
    options = animation.Options(output=output)
    for _ in range(2):
        animation.bake_many([one, other], options)
        played = "HANDLES" if output == "HANDLES" else "BAKED"
        assert states(animation, one)["rotation_euler"] == played
        assert states(animation, other)["rotation_euler"] == "OTHER_MODE"
        assert states(animation, other)["location"] == played
    # For the other object, Blender plays the bake of the first object in another order.
    frames = np.arange(0.0, 30.0, 2.5)
    assert np.abs(turns(one, frames) - turns(other, frames)).max() > 0.1
    other.rotation_mode = "XYZ"
    assert states(animation, other)["rotation_euler"] == played
    np.testing.assert_allclose(turns(one, frames), turns(other, frames), atol=1e-6)


def test_an_edit_is_one_in_every_rotation_mode(animation, scene) -> None:
    one, other = two("XYZ", "ZYX")
    animation.bake_many([one, other], animation.Options(output="HANDLES"), keep_look=False)
    fcurve = curve(one, "rotation_euler", 0)
    fcurve.keyframe_points[1].co_ui.y += 1.0
    fcurve.update()
    assert states(animation, one)["rotation_euler"] == "OUT_OF_DATE"
    assert states(animation, other)["rotation_euler"] == "OUT_OF_DATE"


def test_the_only_object_is_out_of_date_in_another_order_and_not_played_in_another_mode(animation, scene) -> None:
    item = new_object("Eins", "XYZ")
    key(item, "rotation_euler", TURNS)
    animation.bake(item, output="HANDLES", keep_look=False)
    item.rotation_mode = "ZYX"
    assert states(animation, item) == {"rotation_euler": "OUT_OF_DATE"}
    item.rotation_mode = "QUATERNION"
    assert states(animation, item) == {"rotation_euler": "OTHER_MODE"}
    item.rotation_mode = "XYZ"
    assert states(animation, item) == {"rotation_euler": "HANDLES"}


def without_modifiers(item: bpy.types.Object) -> list[dict]:
    return [{**each, "modifiers": None} for each in snapshot(item)]


@pytest.mark.parametrize(
    ("extend", "cycle", "output", "kind"),
    all_pairs(
        [None, (-60.0, 90.0)], ["SINGLE", "REPEAT"], ["SAMPLES", "CURVES"], ["CYCLES", "NOISE", "STEPPED", "LIMITS"]
    ),
)
def test_a_modifier_makes_a_bake_out_of_date_where_another_bake_would_write_other_keys(
    animation, kind, output, cycle, extend
) -> None:
    item = new_object()
    key(item, "location", TURNS)
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", cycle=cycle)
    options = {"output": output, "extend": extend}
    assert animation.bake(item, **options).errors == []
    without = without_modifiers(item)

    def state() -> str:
        return states(animation, item)["location"]

    modifier = curve(item, "location", 1).modifiers.new(kind)
    found = [state()]
    modifier.mute = True
    found.append(state())
    modifier.mute = False
    assert animation.bake(item, **options).errors == []
    differs = without_modifiers(item) != without
    assert found == ["OUT_OF_DATE" if differs else "BAKED", "BAKED"]
    assert differs == (kind == "CYCLES" and cycle == "REPEAT" and extend is not None)
    assert state() == "BAKED"
    curve(item, "location", 1).modifiers.remove(modifier)
    assert state() == ("OUT_OF_DATE" if differs else "BAKED")
    # There are no errors, and the animator's keys are unchanged.
    assert animation.free(item).errors == []
    assert [len(fcurve.keyframe_points) for fcurve in fcurves(item)] == [len(TURNS)] * 3
