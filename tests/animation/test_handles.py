# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles as played by Blender, compared with an independent evaluation, and their bits, signs and errors."""

from __future__ import annotations

import math
import random
import re

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation import reference
from tests.animation.curves import (
    MODES,
    curve,
    differences,
    fcurves,
    function,
    has_table,
    key,
    new_object,
    play,
    rotation_path,
    snapshot,
)
from tests.animation.locations import VALUES
from tests.animation.locations import keyed as keyed_location
from tests.animation.rotations import (
    ALL_PARAMETERS,
    keyed,
    quaternion_at,
    rotations_near_each_other,
    values_of,
)

FRAMES = [0.0, 7.0, 12.5, 30.0, 36.0]
ROUNDING = 2e-6
WITHOUT_EASE = {name: ALL_PARAMETERS[name] for name in ("tension", "continuity", "bias")}
MODERATE = {name: [number / 2 for number in numbers] for name, numbers in WITHOUT_EASE.items()}
PARAMETERS = {"defaults": {}, "moderate": MODERATE, "eases": ALL_PARAMETERS}
LARGEST = {"QUATERNION": (0.02, 0.02, 1.0), "ZYX": (20.0, 20.0, 20.0)}
"""Largest errors in degrees, for each of `PARAMETERS`. Errors in other rotation modes are below `LARGEST_ELSE`. These
rotations take ZYX angles past gimbal lock, where a channel jumps within a segment."""
LARGEST_ELSE = (1.0, 1.0, 3.0)


def whole(animation, mode: str, name: str = "Thing") -> bpy.types.Object:
    """Return an object keyed in all channels, with parameters. All channels move."""
    thing = new_object(name, mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(6), 5, 1.0))
    keyed(animation, thing, mode, FRAMES, rows, **ALL_PARAMETERS)
    keyed_location(thing, animation, FRAMES, **ALL_PARAMETERS)
    return thing


@pytest.mark.parametrize("kind", PARAMETERS)
@pytest.mark.parametrize("mode", MODES)
def test_the_error_that_is_told_is_the_one_that_there_is(animation, mode: str, kind: str) -> None:
    thing = new_object("Thing", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(3), 5, 1.2))
    keys = keyed(animation, thing, mode, FRAMES, rows, **PARAMETERS[kind])
    report = animation.bake(thing, output="HANDLES")
    places = np.arange(0, 36.01, 0.05)
    errors = [
        reference.apart(quaternion_at(thing, frame), reference.rotation(keys, frame)) for frame in places.tolist()
    ]
    largest = max(errors)
    assert math.degrees(largest) < LARGEST.get(mode, LARGEST_ELSE)[list(PARAMETERS).index(kind)]
    assert largest <= 1.02 * report.rotation_error + ROUNDING
    assert report.rotation_error <= 2.0 * largest + ROUNDING
    (told,) = report.handles
    assert told["rotation"]
    assert told["error"] == pytest.approx(math.degrees(report.rotation_error))
    if report.rotation_error > 100 * ROUNDING:
        assert errors[round(told["frame"] / 0.05)] >= 0.5 * report.rotation_error
    approximate = [note for note in report.notes if "handles approximate the motion: maximum error" in str(note)]
    assert len(approximate) == (report.rotation_error > math.radians(0.01))


def test_a_tolerance_decides_what_is_approximate(animation) -> None:
    thing = whole(animation, "XYZ")
    report = animation.bake(thing, output="HANDLES")
    assert len([note for note in report.notes if "approximate" in str(note)]) == 2
    wide = {"value_tolerance": 2 * report.value_error, "rotation_tolerance": 2 * report.rotation_error}
    report = animation.bake(thing, output="HANDLES", **wide)
    assert not any("approximate" in str(note) for note in report.notes)


ULP = float(np.nextafter(np.float32(0.2), np.float32(1.0))) - float(np.float32(0.2))
"""The spacing of float32 numbers at 0.2. At 1e8, it is 8."""


@pytest.mark.parametrize(
    ("size", "step", "first"),
    [(0.2, ULP, 0), (1e8, 8.0, 0), (1e8, 80.0, 0), (0.0, 1.0, 1_000_000), (0.0, 1e-3, 4_000_000), (1e8, 80.0, 1e6)],
)
def test_that_float32_has_no_more_digits_is_not_worth_a_word(animation, size: float, step: float, first: float) -> None:
    thing = new_object()
    rows = [(0, 0, 0), (step, 0, 0), (0, 0, step), (0, 2 * step, 0), (-step, 0, step)]
    rows = [tuple(float(np.float32(size)) + number for number in row) for row in rows]
    key(thing, "location", [(first + 10 * number, row) for number, row in enumerate(rows)])
    report = animation.enable(thing)
    assert (report.notes, report.farthest_off, report.looks_kept) == ([], [], 1)
    assert animation.bake(thing, output="HANDLES").notes == []


HUGE = [
    [(1e30, 0, 0, 0), (0, 1e-30, 0, 0), (0, 0, 1e30, 0), (0, 0, 0, 1e-30)],
    [(1, 0, 0, 0), (3e38, 3e38, 0, 0), (0, 0, 1, 1), (1e-38, 0, 0, 1)],
    [(1, 0, 0, 0), (1e12, 0, 1e12, 0), (1e-12, 0, 0, 1e-12), (0, 1, 0, 0)],
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("output", "apart", "rows"), all_pairs(["HANDLES", "CURVES"], [0.05, 10.0], HUGE))
def test_no_rotation_is_told_to_be_off_by_more_than_half_a_turn(animation, rows, apart: float, output: str) -> None:
    thing = new_object("Thing", "QUATERNION")
    key(thing, "rotation_quaternion", [(apart * number, row) for number, row in enumerate(rows)])
    look = animation.enable(thing)
    report = animation.bake(thing, output=output)
    assert 0.0 <= look.rotation_change <= math.pi
    assert 0.0 <= report.rotation_error <= math.pi
    said = [*look.notes, *report.notes, look.counts, report.counts, *look.farthest_off]
    degrees = [float(number) for line in said for number in re.findall(r"([-+.e\d]+|nan|inf)°", str(line))]
    assert len(degrees) > 2
    assert max(degrees) <= 180.0


def alike(animation, name: str, paths: dict[str, float], **parameters: list[float]) -> bpy.types.Object:
    """Return an object with these properties keyed at the same frames, each with the same values times a factor."""
    thing = new_object(name)
    for path, size in paths.items():
        keyed_location(thing, animation, FRAMES, np.array(VALUES) * size, path, **parameters)
    return thing


ALIKE = {"location": 1.0, "scale": -0.3, "delta_location": 70.0, "delta_scale": 1e-3}


def test_a_fault_in_one_of_the_tracks_keyed_alike_names_that_track_and_leaves_the_others_alone(animation) -> None:
    thing = alike(animation, "Thing", ALIKE)
    curve(thing, "scale", 1).keyframe_points[2].co.y = 2e38
    report = animation.bake(thing, output="HANDLES")
    (error,) = report.errors
    assert (error.track, error.frame) == ("scale", FRAMES[2])
    assert {each["track"] for each in report.handles} == {*ALIKE} - {"scale"}


@pytest.mark.parametrize("mode", MODES)
def test_bits_come_back(animation, mode: str) -> None:
    thing = new_object("Thing", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(6), 5, 1.0))
    key(thing, rotation_path(mode), list(zip(FRAMES, rows, strict=True)))
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    for fcurve in fcurves(thing):
        for row, point in enumerate(fcurve.keyframe_points):
            point.back, point.handle_left_type, point.easing = 1.5 + row, "ALIGNED", "EASE_OUT"
            point.interpolation = ("BEZIER", "LINEAR", "SINE", "BACK", "ELASTIC")[row]
        fcurve.extrapolation = "LINEAR"
        fcurve.update()
    before = snapshot(thing)
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", 7, tension=0.5, ease_to=0.3)
    animation.key_set(thing, rotation_path(mode), 30, bias=0.5, ease_from=0.3)
    enabled = snapshot(thing)
    animation.bake(thing, output="HANDLES")
    handles = snapshot(thing)
    assert [state["extrapolation"] for state in handles] == ["LINEAR"] * len(handles)
    animation.bake(thing, output="HANDLES")
    assert differences(handles, snapshot(thing)) == []
    for output in ("SAMPLES", "CURVES"):
        animation.bake(thing, output=output)
        animation.bake(thing, output="HANDLES")
        assert differences(handles, snapshot(thing)) == []
    animation.restore(thing)
    assert differences(enabled, snapshot(thing)) == []
    animation.bake(thing, output="HANDLES")
    assert differences(handles, snapshot(thing)) == []
    animation.remove(thing)
    assert differences(before, snapshot(thing)) == []
    assert not has_table(thing)


def test_one_key_and_still_tracks_stay_as_they_are(animation) -> None:
    thing = new_object("Thing", "QUATERNION")
    key(thing, "scale", [(5, (1, 2, 3))])
    key(thing, "location", [(0, (4, 4, 4)), (10, (4, 4, 4)), (20, (4, 4, 4))])
    key(thing, "rotation_quaternion", [(0, (0.5, 0.5, 0.5, 0.5)), (10, (0.5, 0.5, 0.5, 0.5))])
    before = snapshot(thing)
    report = animation.bake(thing, output="HANDLES", keep_look=False)
    assert (report.tracks, report.samples, report.curve_keys) == (3, 0, 0)
    assert report.value_error < 1e-6
    assert report.rotation_error < 1e-6
    for frame in (-3.0, 0.0, 4.25, 7.0, 30.0):
        play(frame)
        assert tuple(thing.scale) == (1, 2, 3)
        assert tuple(thing.location) == (4, 4, 4)
        assert tuple(thing.rotation_quaternion) == (0.5, 0.5, 0.5, 0.5)
    animation.remove(thing)
    assert differences(before, snapshot(thing)) == []


def test_both_handles_of_a_key_whose_values_were_scaled_come_back_scaled(animation) -> None:
    """This also applies if the bake has placed one of them at nearly the same value as its key."""
    thing = new_object()
    thing["grip"] = 0.0
    key(thing, '["grip"]', [(0, 1.003), (10, 1.0), (20, 3.0)])
    fcurve = curve(thing, '["grip"]')
    middle = fcurve.keyframe_points[1]
    middle.handle_left_type = middle.handle_right_type = "FREE"
    middle.handle_left, middle.handle_right = (7.0, 0.5), (13.0, 1.5)
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, '["grip"]', 10, continuity=-1.0)
    animation.bake(thing, output="HANDLES")
    assert 1.0 < middle.handle_left.y < 1.0015
    for point in fcurve.keyframe_points:
        for place in (point.co, point.handle_left, point.handle_right):
            place.y *= 2.0
    animation.bake(thing, output="HANDLES")
    animation.restore(thing)
    assert tuple(middle.co) == (10.0, 2.0)
    assert (*middle.handle_left, *middle.handle_right) == pytest.approx((7.0, 1.0, 13.0, 3.0), abs=1e-3)


def b_spline(animation, thing) -> str:
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", method="B_SPLINE")
    return "a method that does not pass through the keys"


def timed(_animation, thing) -> str:
    function(thing, [(0, 0.0), (30, 20.0)])
    return "handles cannot play motion with a frame function"


@pytest.mark.parametrize("make", [b_spline, timed])
def test_what_handles_can_t_play_is_refused_with_the_reason(animation, make) -> None:
    thing = new_object()
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 0.5, 0)), (20, (0.5, 1, 0))])
    reason = make(animation, thing)
    before = snapshot(thing)
    # A frame function retimes all tracks.
    left = {"location", "rotation_euler"} if make is timed else {"location"}
    with pytest.raises(animation.AnimationError, match=reason):
        animation.bake(thing, output="HANDLES", prefixes=left, keep_look=False)
    assert differences(before, snapshot(thing)) == []
    if make is not timed:
        (error,) = animation.bake(thing, output="HANDLES").errors
        assert reason in str(error)
        now = snapshot(thing)
        assert differences(*([each for each in state if each["path"][0] in left] for state in (before, now))) == []
        assert differences(before, now) != []


def keyed_in_a_circle(what: str) -> tuple[bpy.types.Object, str]:
    """Return an object whose location or rotation has the first pose at its last key, and the path of the property."""
    thing = new_object("Thing", "XYZ" if what == "location" else what)
    path = "location" if what == "location" else rotation_path(what)
    rows = VALUES if what == "location" else values_of(what, rotations_near_each_other(random.Random(6), 5, 1.0))
    key(thing, path, [*zip(FRAMES[:-1], rows, strict=False), (FRAMES[-1], rows[0])])
    return thing, path


@pytest.mark.parametrize("cycle", ["REPEAT", "LOOP"])
@pytest.mark.parametrize("what", ["location", "QUATERNION", "XYZ"])
def test_cycles_go_on_by_a_modifier_of_ours_that_goes_again(animation, what: str, cycle: str) -> None:
    thing, path = keyed_in_a_circle(what)
    before = snapshot(thing, identities=False)
    animation.enable(thing, keep_look=False)
    animation.choose(thing, path, cycle=cycle)
    report = animation.bake(thing, output="HANDLES")
    assert not any("cycle" in str(note) for note in report.notes)
    first, last = FRAMES[0], FRAMES[-1]
    beyond = np.linspace(first - 60.0, last + 90.0, 333)
    inside = first + np.mod(beyond - first, last - first)
    for fcurve in fcurves(thing):
        played = [fcurve.evaluate(frame) for frame in beyond.tolist()]
        np.testing.assert_allclose(played, [fcurve.evaluate(frame) for frame in inside.tolist()], atol=1e-5)
    if what == "location":
        # The values equal samples of the same cycle, which no modifier plays.
        played = np.array([[fcurve.evaluate(frame) for frame in range(-30, 90)] for fcurve in fcurves(thing)])
        animation.bake(thing, extend=(-30, 90))
        assert not any(len(fcurve.modifiers) for fcurve in fcurves(thing))
        samples = np.array([[fcurve.evaluate(frame) for frame in range(-30, 90)] for fcurve in fcurves(thing)])
        np.testing.assert_allclose(played, samples, atol=1e-4)
        animation.bake(thing, output="HANDLES")
    animation.choose(thing, path, cycle="SINGLE")
    animation.bake(thing, output="HANDLES")
    assert not any(len(fcurve.modifiers) for fcurve in fcurves(thing))
    animation.choose(thing, path, cycle=cycle)
    animation.bake(thing, output="HANDLES")
    animation.restore(thing)
    assert differences(before, snapshot(thing, identities=False)) == []
    assert not any(len(fcurve.modifiers) for fcurve in fcurves(thing))


@pytest.mark.parametrize(
    "edit",
    [
        {"cycles_after": 1, "cycles_before": 2},
        {"mode_after": "REPEAT_OFFSET", "mode_before": "NONE"},
        {"use_restricted_range": True, "frame_start": 10.0, "frame_end": 50.0, "blend_in": 5.0},
        {"use_influence": True, "influence": 0.5},
        {"mute": True},
    ],
)
def test_a_bake_makes_a_modifier_of_ours_right_again(animation, edit: dict) -> None:
    thing = new_object()
    keyed_location(thing, animation, FRAMES)
    animation.choose(thing, "location", cycle="REPEAT")
    animation.bake(thing, output="HANDLES")
    places = np.arange(-100.0, 150.0, 0.5).tolist()
    before = [[fcurve.evaluate(frame) for frame in places] for fcurve in fcurves(thing)]
    for fcurve in fcurves(thing):
        (modifier,) = fcurve.modifiers
        for name, value in edit.items():
            setattr(modifier, name, value)
    fcurve.update()
    assert [[fcurve.evaluate(frame) for frame in places] for fcurve in fcurves(thing)] != before
    animation.bake(thing, output="HANDLES")
    assert [[fcurve.evaluate(frame) for frame in places] for fcurve in fcurves(thing)] == before


def repeated(fcurve: bpy.types.FCurve, first: float, last: float) -> tuple[list[float], list[float]]:
    """Return the curve's values outside its keys, and the corresponding values inside, except where cycles meet."""
    beyond = np.linspace(first - 60.0, last + 90.0, 331)
    beyond = beyond[((beyond < first) | (beyond > last)) & (np.mod(beyond - first, last - first) > 1e-3)]
    inside = first + np.mod(beyond - first, last - first)
    return [fcurve.evaluate(frame) for frame in beyond.tolist()], [fcurve.evaluate(frame) for frame in inside.tolist()]


@pytest.mark.parametrize(
    ("cycle", "kind", "what"), all_pairs(["REPEAT", "LOOP"], ["CONSTANT", "LINEAR"], ["location", "QUATERNION", "XYZ"])
)
def test_a_cycle_with_a_segment_of_blender_s_goes_on_too(animation, what: str, kind: str, cycle: str) -> None:
    thing, path = keyed_in_a_circle(what)
    animation.enable(thing, keep_look=False)
    animation.choose(thing, path, cycle=cycle)
    animation.key_set(thing, path, 7, interpolation=kind)
    report = animation.bake(thing, output="HANDLES")
    name = animation.track_paths.track_name(path)
    loops = (
        f'"Thing", {name}: the motion loops, but some segments use Blender\'s interpolation. The motion has a corner'
    )
    assert [str(note).startswith(loops) for note in report.notes if "approximate" not in str(note)] == [True] * (
        cycle == "LOOP"
    )
    for fcurve in fcurves(thing):
        played, wanted = repeated(fcurve, FRAMES[0], FRAMES[-1])
        np.testing.assert_allclose(played, wanted, atol=1e-5)
        if kind == "CONSTANT":
            held = fcurve.evaluate(FRAMES[1])
            assert fcurve.evaluate(FRAMES[-1] + 9.0) == held == fcurve.evaluate(9.0 - FRAMES[-1])
    if what == "location":
        track = animation.find_track(thing, path)
        inside, *beyond = (animation.checks.shown_key.values_now(track, frame) for frame in (4.5, 40.5, -31.5))
        assert beyond == [pytest.approx(inside)] * 2


def test_apply_keeps_the_repeats_and_gives_the_modifier_away(animation) -> None:
    thing = new_object()
    keyed_location(thing, animation, FRAMES)
    animation.choose(thing, "location", cycle="REPEAT")
    animation.bake(thing, output="HANDLES")
    played = [curve(thing, "location").evaluate(frame) for frame in range(-50, 90)]
    animation.apply(thing)
    assert [curve(thing, "location").evaluate(frame) for frame in range(-50, 90)] == played
    names = [modifier.name for fcurve in fcurves(thing) for modifier in fcurve.modifiers]
    assert names == ["Cycles"] * 3
    # From now on, the modifier belongs to the animator. TCB treats it as a cycle, and does not change it.
    animation.enable(thing, keep_look=False)
    animation.bake(thing)
    animation.remove(thing)
    assert [modifier.name for fcurve in fcurves(thing) for modifier in fcurve.modifiers] == names


def test_beside_other_modifiers_there_is_no_cycle_and_a_note_says_so(animation) -> None:
    thing = new_object()
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    curve(thing, "location").modifiers.new("STEPPED")
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", cycle="REPEAT")
    report = animation.bake(thing, output="HANDLES")
    assert any("handles do not repeat the cycle" in str(note) for note in report.notes)
    assert [modifier.type for modifier in curve(thing, "location").modifiers] == ["STEPPED"]
    assert len(curve(thing, "location", 1).modifiers) == 0
