# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear extrapolation. With handles, it continues the spline, and a bake saves the animator's extrapolation."""

from __future__ import annotations

import random
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs, each_once
from tests.animation.curves import MODES, curve, fcurves, key, new_object, snapshot
from tests.animation.live import by_handles
from tests.animation.locations import VALUES
from tests.animation.rotations import ALL_PARAMETERS, keyed, rotations_near_each_other, values_of

FRAMES = [0.0, 7.0, 12.5, 30.0, 36.0]
OUTPUTS = ("HANDLES", "SAMPLES", "CURVES")
SIDES = ((FRAMES[0], -1.0, "handle_left", "handle_right"), (FRAMES[-1], 1.0, "handle_right", "handle_left"))
WITHOUT_EASE = {name: ALL_PARAMETERS[name] for name in ("tension", "continuity", "bias")}


def plain(name: str = "Thing", extrapolation: str = "CONSTANT") -> bpy.types.Object:
    """Return a plain object whose keys have Blender's default handles."""
    thing = new_object(name)
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    extrapolate(thing, extrapolation)
    return thing


def extrapolate(thing: bpy.types.Object, extrapolation: Any) -> None:
    for fcurve in fcurves(thing):
        fcurve.extrapolation = extrapolation
        fcurve.update()


def outside(fcurve: bpy.types.FCurve) -> list[float]:
    return [fcurve.evaluate(frame) for frame in (-20.0, -3.0, 3.0, 33.0, 40.0, 66.0)]


@pytest.mark.parametrize("mode", MODES)
def test_handles_go_on_along_the_tangents_of_what_plays(animation, mode: str) -> None:
    thing = new_object("Thing", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(6), 5, 1.0))
    keyed(animation, thing, mode, FRAMES, rows, **WITHOUT_EASE)
    extrapolate(thing, "LINEAR")
    animation.bake(thing, output="HANDLES")
    for fcurve in fcurves(thing):
        for end, way, _, _ in SIDES:
            near = 0.002 * way
            inside = (fcurve.evaluate(end) - fcurve.evaluate(end - near)) / near
            beyond = (fcurve.evaluate(end + 10.0 * way) - fcurve.evaluate(end)) / (10.0 * way)
            assert beyond == pytest.approx(inside, abs=5e-3 * (1.0 + abs(inside)))
    assert max(abs(fcurve.evaluate(60.0) - fcurve.evaluate(36.0)) for fcurve in fcurves(thing)) > 0.1


@pytest.mark.parametrize(
    ("undone", "baked_again", "chosen"), all_pairs(["restore", "remove"], [True, False], ["LINEAR", "CONSTANT"])
)
def test_what_is_chosen_where_handles_play_plays_as_on_a_plain_curve(
    animation, chosen: str, baked_again: bool, undone: str
) -> None:
    thing, twin = plain(extrapolation="CONSTANT" if chosen == "LINEAR" else "LINEAR"), plain("Twin", chosen)
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    for fcurve in fcurves(thing):
        fcurve.extrapolation = chosen
    if baked_again:
        animation.bake(thing, output="HANDLES")
    getattr(animation, undone)(thing)
    for index in range(3):
        fcurve = curve(thing, "location", index)
        assert fcurve.extrapolation == chosen
        assert outside(fcurve) == pytest.approx(outside(curve(twin, "location", index)), abs=1e-5)


@pytest.mark.parametrize(
    ("undone", "output", "baked_again", "before"),
    all_pairs(["free", "restore", "remove"], ["SAMPLES", "CURVES"], [True, False], ["CONSTANT", "LINEAR"]),
)
def test_what_a_script_chooses_for_a_baked_curve_ends_with_the_bake(
    animation, before: str, baked_again: bool, output: str, undone: str
) -> None:
    thing = plain(extrapolation=before)
    # If a bake plays all segments of a curve, it holds the values outside. These curves keep the animator's
    # extrapolation.
    fcurves(thing)[0].keyframe_points[0].interpolation = "LINEAR"
    animation.enable(thing)
    own = snapshot(thing, identities=False)
    animation.bake(thing, output=output)
    written = [fcurve.extrapolation for fcurve in fcurves(thing)]
    for fcurve in fcurves(thing):
        fcurve.extrapolation = "LINEAR" if before == "CONSTANT" else "CONSTANT"
    if baked_again:
        animation.bake(thing, output=output)
        assert [fcurve.extrapolation for fcurve in fcurves(thing)] == written
    getattr(animation, undone)(thing)
    assert {fcurve.extrapolation for fcurve in fcurves(thing)} == {before}
    assert snapshot(thing, identities=False) == own


def test_a_handle_dragged_at_an_end_turns_the_line_and_bends_nothing(animation) -> None:
    thing = plain(extrapolation="LINEAR")
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    fcurve = curve(thing, "location")
    inside = [fcurve.evaluate(frame) for frame in np.arange(0.0, 36.0, 0.5)]
    watches: dict[tuple[int, int], Any] = {}
    action = thing.animation_data.action
    update, options = animation.live.update, by_handles(animation)
    update.refresh_all(watches, action, options)
    point = fcurve.keyframe_points[-1]
    point.select_right_handle, point.handle_right = True, (point.co.x + 4.0, point.co.y + 8.0)
    looks = update.refresh(watches, action, options), update.check_remaining(watches, action, options)
    assert sum(look.tracks for look in looks) == 1
    assert fcurve.evaluate(46.0) == pytest.approx(fcurve.evaluate(36.0) + 20.0, abs=1e-4)
    assert [fcurve.evaluate(frame) for frame in np.arange(0.0, 36.0, 0.5)] == inside
    animation.restore(thing)
    assert fcurve.keyframe_points[-1].handle_right_type == "FREE"
    assert fcurve.evaluate(46.0) == pytest.approx(fcurve.evaluate(36.0) + 20.0, abs=1e-4)


@pytest.mark.parametrize("undone", ["restore", "remove"])
@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
def test_a_handle_type_that_is_chosen_though_it_was_the_keys_own_is_placed_anew(
    animation, extrapolation: str, undone: str
) -> None:
    thing, twin = plain(extrapolation=extrapolation), plain("Twin", extrapolation)
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[-1].handle_left_type = fcurve.keyframe_points[-1].handle_right_type = "AUTO_CLAMPED"
        fcurve.update()
    animation.bake(thing, output="HANDLES")
    getattr(animation, undone)(thing)
    for index in range(3):
        assert outside(curve(thing, "location", index)) == pytest.approx(
            outside(curve(twin, "location", index)), abs=1e-5
        )


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_bake_that_leaves_an_end_to_blender_holds_no_values(animation, output: str) -> None:
    """A note explains how the other end continues."""
    thing = plain(extrapolation="LINEAR")
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[0].interpolation = "LINEAR"
    animation.enable(thing)
    report = animation.bake(thing, output=output)
    assert any("some segments use Blender's interpolation" in str(note) for note in report.notes), report.notes
    assert not any(note.code == "HELD_OUTSIDE" for note in report.notes), report.notes
    assert {fcurve.extrapolation for fcurve in fcurves(thing)} == {"LINEAR"}


@pytest.mark.parametrize("muted", [True, False])
def test_values_that_a_bake_holds_are_noted_unless_a_modifier_acts(animation, muted: bool) -> None:
    thing = plain(extrapolation="LINEAR")
    for fcurve in fcurves(thing):
        fcurve.modifiers.new("LIMITS").mute = muted
    animation.enable(thing, keep_look=False)
    assert any(note.code == "HELD_OUTSIDE" for note in animation.bake(thing).notes) == muted


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("moving", "extend", "is_noted"),
    [
        ("", (-10.0, 50.0), True),
        ("", (0.0, 36.0), False),
        ("extrapolation", (-10.0, 50.0), False),
        ("cycle", (-10.0, 50.0), False),
    ],
)
def test_a_range_outside_the_keys_in_which_nothing_moves_is_noted(animation, output, moving, extend, is_noted) -> None:
    thing = plain(extrapolation="LINEAR" if moving == "extrapolation" else "CONSTANT")
    animation.enable(thing, keep_look=False)
    if moving == "cycle":
        animation.choose(thing, "location", cycle="REPEAT")
    report = animation.bake(thing, output=output, extend=extend)
    assert ("NOT_EXTENDED" in {note.code for note in report.notes}) == (is_noted and output != "HANDLES")


@pytest.mark.parametrize(("output", "what"), each_once(["SAMPLES", "CURVES"], ["location", *MODES]))
def test_a_bake_that_is_extended_goes_on_along_the_tangents_of_what_plays(animation, what: str, output: str) -> None:
    thing = new_object("Thing", "XYZ" if what == "location" else what)
    if what == "location":
        key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    else:
        keyed(animation, thing, what, FRAMES, values_of(what, rotations_near_each_other(random.Random(3), 5, 1.0)))
    extrapolate(thing, "LINEAR")
    animation.bake(thing, output=output, step=1 / 16, extend=(-16.0, 50.0), keep_look=False)
    for fcurve in fcurves(thing):
        for end, way, far in ((FRAMES[0], -1.0, 16.0), (FRAMES[-1], 1.0, 14.0)):
            at, one, two = (fcurve.evaluate(end - way * step / 16) for step in range(3))
            slope = (3.0 * at - 4.0 * one + two) * 8.0
            for beyond in (0.25, 3.0, 0.5 * far, far):
                assert fcurve.evaluate(end + way * beyond) == pytest.approx(
                    at + slope * beyond, abs=1e-3 * (1 + beyond)
                )
            assert fcurve.evaluate(end + 2.0 * far * way) == fcurve.evaluate(end + far * way)


def test_where_an_ease_ends_the_motion_it_stays(animation) -> None:
    thing = plain(extrapolation="LINEAR")
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", FRAMES[0], ease_from=1.0)
    animation.bake(thing, output="HANDLES")
    for index, fcurve in enumerate(fcurves(thing)):
        assert [fcurve.evaluate(frame) for frame in (-999.0, -9.0, 0.0)] == [VALUES[0][index]] * 3
        assert fcurve.evaluate(99.0) != pytest.approx(fcurve.evaluate(36.0))
    animation.key_set(thing, "location", FRAMES[-1], ease_to=0.2)
    animation.bake(thing, output="HANDLES")
    for fcurve in fcurves(thing):
        assert fcurve.evaluate(999.0) == fcurve.evaluate(36.0)
