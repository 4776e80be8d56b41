# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolations other than Bezier: Blender plays their segments, and the spline ends there on both sides."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs, each_once
from tests.animation import reference
from tests.animation.curves import (
    MODES,
    co,
    curve,
    differences,
    fcurves,
    given,
    key,
    new_object,
    play,
    rotation_path,
    snapshot,
)
from tests.animation.interpolation_choice import FRAMES, HELD, OUTPUTS, choose
from tests.animation.locations import VALUES, expected_at
from tests.animation.locations import keyed as keyed_location
from tests.animation.rotations import (
    ALL_PARAMETERS,
    channels_at,
    keyed,
    quaternion_at,
    rotations_near_each_other,
    values_of,
)

PLACES = [frame for frame in np.arange(-2, 40, 0.25).tolist() if frame not in FRAMES]


def hold(thing: bpy.types.Object, path: str, rows: list[int], channels: list[int] | None = None) -> None:
    for fcurve in fcurves(thing):
        if fcurve.data_path == path and (channels is None or fcurve.array_index in channels):
            for row in rows:
                fcurve.keyframe_points[row].interpolation = "CONSTANT"
            fcurve.update()


def run_at(frame: float) -> slice:
    return slice(0, HELD + 1) if frame < FRAMES[HELD + 1] else slice(HELD + 1, None)


OTHERS = ["LINEAR", "SINE", "BACK", "BOUNCE"]


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_held_channel_holds_the_rotation_as_far_as_others_segments_reach(animation, output: str) -> None:
    """Y has no key at 7, where X is held, so Blender plays both from 0 to 12.5."""
    thing = new_object("Thing", "XYZ")
    rows = values_of("XYZ", rotations_near_each_other(random.Random(3), 5, 0.7))
    key(thing, "rotation_euler", list(zip(FRAMES, rows, strict=True)), channels=[0, 2])
    key(thing, "rotation_euler", [(f, r) for f, r in zip(FRAMES, rows, strict=True) if f != 7], channels=[1])
    hold(thing, "rotation_euler", [HELD], channels=[0])
    before = {index: [curve(thing, "rotation_euler", index).evaluate(f) for f in (3, 9)] for index in range(3)}
    animation.bake(thing, output=output, keep_look=False)
    for index in range(3):
        fcurve = curve(thing, "rotation_euler", index)
        frames = co(fcurve)[:, 0]
        assert set(frames[frames <= 12.5].tolist()) == set(FRAMES[:3]) - ({7.0} if index == 1 else set())
        assert [fcurve.evaluate(f) for f in (3, 9)] == before[index]
        assert (frames > 12.5).sum() > 2


def plain(kind: str, name: str = "Plain") -> bpy.types.Object:
    """Return an object that was never TCB."""
    thing = new_object(name)
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    choose(thing, kind)
    return thing


@pytest.mark.parametrize(("kind", "output"), all_pairs(["CONSTANT", *OTHERS], OUTPUTS))
def test_a_chosen_interpolation_is_blender_s_and_ends_the_spline(animation, output: str, kind: str) -> None:
    thing, blender = new_object(), plain(kind)
    rows = keyed_location(thing, animation, FRAMES, **ALL_PARAMETERS)
    choose(thing, kind)
    report = animation.bake(thing, output=output)
    room = {"SAMPLES": 0.0, "CURVES": report.value_error, "HANDLES": 1.02 * report.value_error}[output] + 2e-6
    for component in range(3):
        fcurve, own = curve(thing, "location", component), curve(blender, "location", component)
        assert not ((co(fcurve)[:, 0] > FRAMES[HELD]) & (co(fcurve)[:, 0] < FRAMES[HELD + 1])).any()
        for frame in PLACES:
            run = run_at(frame)
            if FRAMES[HELD] < frame < FRAMES[HELD + 1]:
                assert fcurve.evaluate(frame) == own.evaluate(frame), (component, frame)
            elif output != "SAMPLES" or frame == int(frame):
                wanted = expected_at(rows[run], component, frame, VALUES[run])
                assert abs(fcurve.evaluate(frame) - wanted) <= room, (component, frame)


@pytest.mark.parametrize("path", ["SHORTEST", "AS_KEYED"])
@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_quaternion_keys_that_all_end_the_spline_are_played_by_blender(animation, output: str, path: str) -> None:
    rows = rotations_near_each_other(random.Random(5), len(FRAMES), 1.2)
    thing, twin = new_object(), new_object("Twin")
    thing.rotation_mode = twin.rotation_mode = "QUATERNION"
    keyed(animation, thing, "QUATERNION", FRAMES, rows)
    key(twin, "rotation_quaternion", list(zip(FRAMES, rows, strict=True)))
    animation.choose(thing, "rotation", path=path)
    for each in (thing, twin):
        for fcurve in fcurves(each):
            for point in fcurve.keyframe_points:
                point.interpolation = "BACK"
            fcurve.update()
    animation.bake(thing, output=output)
    for frame in PLACES:
        if output == "CURVES" or frame == int(frame):
            play(frame)
            apart = thing.matrix_world.to_quaternion().rotation_difference(twin.matrix_world.to_quaternion()).angle
            assert min(apart, 2 * np.pi - apart) < 2e-3, frame


@pytest.mark.parametrize("kind", OTHERS)
def test_what_was_so_when_it_became_tcb_plays_as_a_spline(animation, kind: str) -> None:
    thing, bezier = plain(kind), plain("BEZIER", "Bezier")
    for item in (thing, bezier):
        animation.bake(item, keep_look=False)
    for mine, other in zip(fcurves(thing), fcurves(bezier), strict=True):
        assert np.array_equal(co(mine), co(other))
    animation.restore(thing)
    assert [p.interpolation for p in curve(thing, "location").keyframe_points][HELD] == kind
    animation.bake(thing)
    for mine, other in zip(fcurves(thing), fcurves(bezier), strict=True):
        assert np.array_equal(co(mine), co(other))


@pytest.mark.parametrize(("output", "mode"), each_once(OUTPUTS, MODES))
def test_a_rotation_s_segment_is_blender_s_where_one_channel_s_is(animation, mode: str, output: str) -> None:
    thing, blender = new_object("Thing", mode), new_object("Blender", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(3), 5, 0.8))
    path = rotation_path(mode)
    keys = keyed(animation, thing, mode, FRAMES, rows, **ALL_PARAMETERS)
    key(blender, path, list(zip(FRAMES, rows, strict=True)))
    for item in (thing, blender):
        curve(item, path, 1).keyframe_points[HELD].interpolation = "LINEAR"
        for fcurve in fcurves(item):
            fcurve.update()
    report = animation.bake(thing, output=output)
    for frame in (7.5, 9.0, 12.0):
        assert channels_at(thing, path, len(rows[0]), frame) == channels_at(blender, path, len(rows[0]), frame)
    for frame in [*range(7), *range(13, 37)]:
        off = reference.apart(quaternion_at(thing, frame), reference.rotation(keys[run_at(frame)], frame))
        assert off <= 1.02 * report.rotation_error + 2e-6, frame


SET = ["CONSTANT", *OTHERS, "ELASTIC"]
STATES = ["TCB", *OUTPUTS]
"""States of a track: not played, or played by one of the outputs."""
BETWEEN = [7.5, 8.0, 9.0, 11.0, 12.25]
"""Frames after the key with the chosen interpolation."""


def in_state(animation, state: str, first: str = "BEZIER", name: str = "Thing") -> bpy.types.Object:
    thing = plain(first, name)
    animation.enable(thing, keep_look=False)
    if state != "TCB":
        animation.bake(thing, output=state)
    return thing


def choose_in_state(animation, thing: bpy.types.Object, state: str, kind: str) -> None:
    """Choose the interpolation in the same way as T. A bake is freed before and repeated afterward."""
    is_baked = state in ("SAMPLES", "CURVES")
    if is_baked:
        animation.free(thing)
    choose(thing, kind)
    if is_baked:
        animation.bake(thing, output=state)


def played_between(thing: bpy.types.Object) -> list[list[float]]:
    return [[fcurve.evaluate(frame) for frame in BETWEEN] for fcurve in fcurves(thing)]


def kinds_of(thing: bpy.types.Object) -> list[list[str]]:
    return [[point.interpolation for point in fcurve.keyframe_points] for fcurve in fcurves(thing)]


@pytest.mark.parametrize(("kind", "state", "first"), each_once([*SET, *SET], STATES, ["BEZIER", "LINEAR", "LINEAR"]))
def test_key_set_chooses_the_interpolation_of_a_key_in_every_state(
    animation, state: str, first: str, kind: str
) -> None:
    """This includes Linear, with which samples show all keys, and keys that were linear when they became TCB."""
    thing, blender = in_state(animation, state, first), plain(kind, "Blender")
    wanted = played_between(blender)
    animation.key_set(thing, "location", 7, interpolation=kind)
    for output in (state if state in OUTPUTS else "SAMPLES", *OUTPUTS):
        animation.bake(thing, output=output)
        assert played_between(thing) == wanted, output
    animation.restore(thing)
    assert kinds_of(thing) == [["BEZIER", kind, "BEZIER", "BEZIER", "BEZIER"]] * 3
    animation.remove(thing)
    assert kinds_of(thing) == [["BEZIER", kind, "BEZIER", "BEZIER", "BEZIER"]] * 3
    assert differences(snapshot(blender), snapshot(thing)) == []


@pytest.mark.parametrize(("before", "state"), each_once(["as it was", "typed", "set"] * 2, STATES))
def test_key_set_to_bezier_lets_the_spline_play_again(animation, state: str, before: str) -> None:
    """The key became linear before it was TCB, by T, or by `key_set`."""
    thing = in_state(animation, state, "LINEAR" if before == "as it was" else "BEZIER")
    spline = in_state(animation, "SAMPLES", name="Spline")
    if before == "typed":
        choose_in_state(animation, thing, state, "CONSTANT")
    elif before == "set":
        animation.key_set(thing, "location", 7, interpolation="SINE")
        animation.bake(thing, output=state if state in OUTPUTS else "HANDLES")
    animation.key_set(thing, "location", 7, interpolation="BEZIER")
    animation.bake(thing)
    assert all(np.array_equal(co(mine), co(other)) for mine, other in zip(fcurves(thing), fcurves(spline), strict=True))
    animation.restore(thing)
    assert kinds_of(thing) == [["BEZIER"] * 5] * 3


def test_key_set_sets_parameters_and_interpolation_at_once_and_other_keys_keep_theirs(animation) -> None:
    thing = in_state(animation, "SAMPLES")
    animation.key_set(thing, "location", 30, tension=0.25)
    animation.key_set(thing, "location", 7, interpolation="LINEAR", tension=0.5)
    animation.bake(thing)
    assert given(animation, thing, "location", "tension") == [(7.0, 0.5), (30.0, 0.25)]
    animation.restore(thing)
    assert kinds_of(thing) == [["BEZIER", "LINEAR", "BEZIER", "BEZIER", "BEZIER"]] * 3


@pytest.mark.parametrize("kind", ["LINEAR", "BOUNCE", "CONSTANT"])
@pytest.mark.parametrize("output", ["HANDLES", "CURVES"])
def test_a_key_inserted_in_a_segment_that_blender_plays_has_its_interpolation(
    animation, output: str, kind: str
) -> None:
    """Blender gives it the interpolation of the previous key, as on a plain curve."""
    twin, thing = new_object("Twin"), new_object()
    for each in (twin, thing):
        key(each, "location", [(0, (0, 0, 0)), (10, (1, 2, 3)), (30, (7, 5, 3)), (40, (0, 1, 2))])
        if each is thing:
            animation.enable(thing, keep_look=False)
            animation.bake(thing, output="HANDLES")
        for fcurve in fcurves(each):
            next(point for point in fcurve.keyframe_points if point.co.x == 10).interpolation = kind
        if each is thing:
            animation.bake(thing, output="HANDLES")
        each.location = (5, 5, 5)
        each.keyframe_insert("location", frame=20)
    animation.bake(thing, output=output)
    for undone in (lambda _: None, animation.restore):
        undone(thing)
        for index in range(3):
            ours, theirs = curve(thing, "location", index), curve(twin, "location", index)
            assert next(point for point in ours.keyframe_points if point.co.x == 20).interpolation == kind
            frames = np.arange(10, 30, 0.5).tolist()
            assert [ours.evaluate(f) for f in frames] == pytest.approx([theirs.evaluate(f) for f in frames], abs=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_key_after_one_that_only_shows_what_it_was_before_tcb_is_bezier(animation, output: str) -> None:
    """No segment begins at the last key, so it shows its recorded interpolation if the segment before it is held."""
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3)), (20, (7, 5, 3))])
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    animation.key_set(thing, "location", 10, interpolation="CONSTANT")
    animation.bake(thing, output="HANDLES")
    thing.location = (5, 5, 5)
    thing.keyframe_insert("location", frame=30)
    animation.bake(thing, output=output)
    animation.restore(thing)
    for fcurve in fcurves(thing):
        assert [point.interpolation for point in fcurve.keyframe_points] == ["LINEAR", "CONSTANT", "LINEAR", "BEZIER"]


@pytest.mark.parametrize("kind", ["LINEAR", "BACK", "CONSTANT"])
@pytest.mark.parametrize("every", [False, True])
def test_what_is_chosen_for_a_key_inserted_under_handles_is_restored(animation, kind: str, every: bool) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3)), (30, (7, 5, 3))])
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    thing.keyframe_insert("location", frame=20)
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            if every or point.co.x == 20:
                point.interpolation = kind
    animation.restore(thing)
    expected = [kind] * 4 if every else ["BEZIER", "BEZIER", kind, "BEZIER"]
    for fcurve in fcurves(thing):
        assert [point.interpolation for point in fcurve.keyframe_points] == expected


def test_new_keys_before_the_first_take_over_what_was_chosen_for_it(animation) -> None:
    thing = new_object()
    key(thing, "location", [(10, (1, 2, 3)), (30, (7, 5, 3))])
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[0].interpolation = "LINEAR"
    for frame in (5, 2):
        thing.keyframe_insert("location", frame=frame)
    animation.restore(thing)
    for fcurve in fcurves(thing):
        assert [point.interpolation for point in fcurve.keyframe_points] == ["LINEAR", "LINEAR", "LINEAR", "BEZIER"]
