# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors for invalid input name the object, the track, the key and the reason, and nothing is changed."""

from __future__ import annotations

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import PARAMETERS, bits, co, curve, fcurves, key, keyed, new_object, rotation_path, snapshot

KEYS = [(0, (0, 0, 0)), (10, (1, 2, 3)), (25, (-1, 0, 2))]


@pytest.fixture
def thing():
    return keyed(keys=KEYS)


def refused(animation, datablock, *words: str, **options) -> None:
    """Check that a bake fails with a message that contains these words, and that no F-curve or action changes."""
    before, actions = snapshot(datablock), len(bpy.data.actions)
    with pytest.raises(animation.AnimationError) as error:
        animation.bake(datablock, **options, keep_look=False)
    words = [animation.track_paths.track_name(word) for word in words]
    assert [word for word in words if word not in str(error.value)] == [], str(error.value)
    assert snapshot(datablock) == before
    assert len(bpy.data.actions) == actions


def set_frames(fcurve, frames) -> None:
    values = co(fcurve)
    values[:, 0] = frames
    fcurve.keyframe_points.foreach_set("co", values.reshape(-1))


def set_value(fcurve, row: int, value: float) -> None:
    values = co(fcurve)
    values[row, 1] = value
    fcurve.keyframe_points.foreach_set("co", values.reshape(-1))


def test_an_object_without_animation(animation) -> None:
    item = new_object("Ball")
    with pytest.raises(animation.AnimationError, match='"Ball": no animation'):
        animation.bake(item)
    assert item.animation_data is None


def test_an_action_without_keys_on_floats(animation) -> None:
    item = new_object("Ball")
    key(item, "hide_viewport", [(0, 0), (10, 1)])
    refused(animation, item, "Ball", "no keys on a float property")


def test_one_key_is_a_constant(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(5, (1, 2, 3))])
    report = animation.bake(item, keep_look=False)
    assert (report.tracks, report.keys, report.samples) == (1, 1, 0)
    assert curve(item, "location", 1).evaluate(100) == 2


@pytest.mark.parametrize("frame", [10, 10.0005])
def test_two_keys_at_one_frame(animation, thing, frame: float) -> None:
    set_frames(curve(thing, "location", 1), [0, 10, frame])
    refused(animation, thing, "Ball", "location", "frame 10", "two keys are at the same frame")


@pytest.mark.parametrize(("value", "row"), each_once([math.nan, math.inf, -math.inf], [0, 1, 2]))
def test_a_value_that_is_not_finite(animation, thing, value: float, row: int) -> None:
    set_value(curve(thing, "location", 1), row, value)
    refused(animation, thing, "Ball", "location", f"frame {KEYS[row][0]}", "not a finite number")


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_rotation_that_is_not_finite(animation, mode: str, value: float) -> None:
    item, path = new_object("Ball", mode), rotation_path(mode)
    key(item, path, [(0, (1, 0, 0, 0)), (10, (1, 1, 0, 0)), (20, (1, 0, 1, 0))][:3], channels=range(3))
    set_value(curve(item, path, 1), 1, value)
    refused(animation, item, "Ball", path, "frame 10", "not a finite number")


@pytest.mark.parametrize("frame", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("row", [0, 2])
def test_a_frame_that_is_not_finite(animation, thing, frame: float, row: int) -> None:
    frames = [0.0, 10.0, 25.0]
    frames[row] = frame
    set_frames(curve(thing, "location", 1), frames)
    refused(animation, thing, "Ball", "location", "not a finite number")


@pytest.mark.parametrize(("switch", "reason"), [("lock", "locked"), ("mute", "muted")])
def test_a_locked_or_muted_channel(animation, thing, switch: str, reason: str) -> None:
    setattr(curve(thing, "location", 1), switch, True)
    refused(animation, thing, "Ball", "location", reason)


@pytest.mark.parametrize(("switch", "reason"), [("lock", "locked"), ("mute", "muted")])
def test_a_locked_or_muted_group(animation, switch: str, reason: str) -> None:
    item = new_object("Ball")
    key(item, "location", KEYS, group="Places")
    setattr(curve(item, "location").group, switch, True)
    refused(animation, item, "Ball", "location", reason)


def test_what_can_not_be_enabled_is_named_once(animation, thing) -> None:
    key(thing, "scale", KEYS)
    for fcurve in fcurves(thing):
        fcurve.lock = True
    with pytest.raises(animation.AnimationError) as error:
        animation.enable(thing, keep_look=False)
    reason = "the channels are locked. Unlock them first"
    assert str(error.value) == f'"Ball", Location: {reason}; "Ball", Scale: {reason}'


def test_a_driven_channel(animation, thing) -> None:
    thing.driver_add("location", 1).driver.expression = "1.0"
    refused(animation, thing, "Ball", "location", "driver")


def test_a_sampled_curve(animation, thing) -> None:
    curve(thing, "location", 1).convert_to_samples(0, 25)
    before = len(curve(thing, "location", 1).sampled_points)
    refused(animation, thing, "Ball", "location", "sampled curve")
    assert len(curve(thing, "location", 1).sampled_points) == before


@pytest.mark.parametrize("kind", ["NOISE", "LIMITS", "STEPPED", "GENERATOR", "ENVELOPE", "FNGENERATOR"])
def test_modifiers_stay_and_are_named(animation, thing, kind: str) -> None:
    curve(thing, "location", 1).modifiers.new(kind)
    before = bits(curve(thing, "location", 1))["modifiers"]
    report = animation.bake(thing, keep_look=False)
    assert any("Ball" in str(note) and "Location" in str(note) and kind in str(note) for note in report.notes)
    assert bits(curve(thing, "location", 1))["modifiers"] == before


def test_a_muted_modifier_is_not_reported(animation, thing) -> None:
    curve(thing, "location").modifiers.new("NOISE").mute = True
    curve(thing, "location", 1).modifiers.new("STEPPED")
    (note,) = [note for note in animation.bake(thing, keep_look=False).notes if note.code == "MODIFIERS"]
    assert note.arguments == ("STEPPED", "1")


def test_a_zero_quaternion(animation) -> None:
    item = new_object("Ball", "QUATERNION")
    key(item, "rotation_quaternion", [(0, (1, 0, 0, 0)), (10, (0, 0, 0, 0)), (20, (0, 1, 0, 0))])
    refused(animation, item, "Ball", "rotation_quaternion", "frame 10", "zero")


def test_ten_million_samples_are_refused_with_their_number(animation, thing) -> None:
    key(thing, "location", [(1_500_026, (0, 0, 0))])
    refused(animation, thing, f"{3 * 64 * 1_500_026:,}", "10,000,000", step=1 / 64)


@pytest.mark.parametrize("step", [0.002, 5e-324])
def test_samples_that_blender_would_take_for_one_are_refused(animation, thing, step: float) -> None:
    refused(animation, thing, f"step of {step:g}", "0.0125 frames", step=step)


def test_the_sample_limit_can_be_raised_and_lowered(animation, thing) -> None:
    refused(animation, thing, "75", "50", sample_limit=50)
    assert animation.bake(thing, sample_limit=100, keep_look=False).samples == 69


def test_many_cycles_of_few_frames_count_as_samples(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(0, (0, 0, 0)), (0.05, (1, 1, 1))])
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", cycle="REPEAT")
    refused(animation, item, "samples", extend=(0, 1_000_000), step=1000)


@pytest.mark.parametrize(
    ("name", "value"), each_once(["tension", "continuity", "bias", "ease_to", "ease_from"], [1.01, -1.5])
)
def test_a_parameter_of_the_table_out_of_range(animation, thing, name: str, value: float) -> None:
    """Only another program writes such a row. Each key has its own row, so the message can name the keys."""
    animation.key_set(thing, "location", 10, **{name: 0.5})
    table = animation.store.table.custom_property.read_table(thing.animation_data.action)
    rows = table.rows.copy()
    own = animation.edit.track_keys.key_at(thing, animation.find_track(thing, "location"), 10).own
    named = [channel.identities[1] for channel in own.values()]
    rows["numbers"][np.isin(rows["identity"], named), animation.store.table.rows.column_of(name)] = value
    animation.store.table.custom_property.write(thing.animation_data.action, table, replace(table, rows=rows))
    animation.store.table.session.session.__init__()
    refused(animation, thing, "Ball", "location", "frame 10", name.replace("_", " "))


@pytest.mark.parametrize(
    ("name", "value"), each_once(["tension", "continuity", "bias", "ease_to", "ease_from"], [1.01, -1.5])
)
def test_beside_a_parameter_out_of_range_none_is_set(animation, thing, name: str, value: float) -> None:
    good = dict.fromkeys(PARAMETERS, 0.5)
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=r'"Ball", Location, frame 10: .*' + name.replace("_", " ")):
        animation.key_set(thing, "location", 10, **good | {name: value})
    assert snapshot(thing) == before


def test_a_parameter_that_is_none(animation, thing) -> None:
    with pytest.raises(ValueError, match="'slack' is not one of tension"):
        animation.key_set(thing, "location", 10, slack=0.5)


def test_a_track_that_is_none(animation, thing) -> None:
    with pytest.raises(animation.AnimationError, match=r'"Ball", Scale: .*Available tracks: location'):
        animation.key_set(thing, "scale", 10, tension=0.5)


def test_a_frame_without_a_key(animation, thing) -> None:
    with pytest.raises(animation.AnimationError, match='"Ball", Location, frame 11: no key'):
        animation.key_set(thing, "location", 11, tension=0.5)


def test_a_generated_key_takes_no_parameters(animation, thing) -> None:
    animation.bake(thing, keep_look=False)
    with pytest.raises(animation.AnimationError, match="frame 11: no key"):
        animation.key_set(thing, "location", 11, tension=0.5)


def test_a_rotation_of_too_many_turns(animation) -> None:
    item = new_object("Ball")
    key(item, "rotation_euler", [(0, (0, 0, 0)), (10, (0, 0, 1e30))])
    refused(animation, item, "Ball", "rotation_euler", "frame 10", "turns")


def test_one_bad_object_leaves_the_others_to_be_baked(animation, thing) -> None:
    bad = new_object("Cube")
    key(bad, "location", KEYS)
    set_value(curve(bad, "location"), 1, math.nan)
    before = snapshot(bad)
    report = animation.bake_many([new_object("Empty"), bad, thing], animation.Options(), keep_look=False)
    assert (report.datablocks, report.tracks) == (1, 1)
    assert ["Empty" in str(report.errors[0]), "Cube" in str(report.errors[1])] == [True, True]
    assert snapshot(bad) == before
    assert len(co(curve(thing, "location"))) == 26


def test_one_bad_track_of_an_object_that_was_never_enabled_is_left_out(animation, thing) -> None:
    key(thing, "scale", KEYS)
    curve(thing, "scale", 0).mute = True
    before = [state for state in snapshot(thing) if state["path"][0] == "scale"]
    report = animation.bake(thing, keep_look=False)
    assert report.tracks == 1
    assert any("Scale" in str(note) and "muted" in str(note) for note in report.notes)
    assert [state for state in snapshot(thing) if state["path"][0] == "scale"] == before


def with_bad_scale(name: str) -> bpy.types.Object:
    item = new_object(name)
    key(item, "location", KEYS)
    key(item, "scale", KEYS)
    set_value(curve(item, "scale"), 1, math.nan)
    return item


def not_a_number(item: bpy.types.Object, what: str, frame: float = 10) -> None:
    (point,) = (each for each in curve(item, "scale").keyframe_points if each.co.x == frame)
    setattr(point, what, (math.nan if what == "co" else frame, math.nan))


@pytest.mark.parametrize("what", ["co", "handle_left", "handle_right"])
def test_enable_leaves_a_track_with_a_number_that_is_not_finite(animation, what: str) -> None:
    bad = with_bad_scale("Bad")
    set_value(curve(bad, "scale"), 1, 1.0)
    not_a_number(bad, what)
    before = [bits(fcurve) for fcurve in fcurves(bad) if fcurve.data_path == "scale"]
    report = animation.enable(bad, keep_look=False)
    assert [(error.object, error.track) for error in report.errors] == [("Bad", "scale")]
    assert "finite" in str(report.errors[0])
    assert report.tracks == 1
    assert [bits(fcurve) for fcurve in fcurves(bad) if fcurve.data_path == "scale"] == before
    with pytest.raises(animation.AnimationError, match=r'"Bad", Scale.*finite'):
        animation.enable(bad, ["scale"], keep_look=False)
    notes = animation.bake(bad).notes
    assert ["finite" in str(note) for note in notes if "Scale" in str(note)] == [True]


@pytest.mark.parametrize("by", ["bake of plain tracks", "key_set", "live", "bake", "a script"])
@pytest.mark.parametrize("what", ["co", "handle_left"])
def test_a_key_that_is_not_finite_does_not_damage_the_table(animation, what: str, by: str) -> None:
    """The key was invalid before its track became TCB, or since then. All valid data are restored bit for bit."""
    bad = with_bad_scale("Bad")
    set_value(curve(bad, "scale"), 1, 1.0)
    good = [bits(fcurve) for fcurve in fcurves(bad) if fcurve.data_path == "location"]
    if by == "bake of plain tracks":
        not_a_number(bad, what)
        report = animation.bake_many([bad])
        assert ["Scale" in str(error) for error in report.errors] == [True]
        assert not any("Scale" in str(note) for note in report.notes)
    else:
        animation.bake(bad, output="CURVES" if by == "a script" else "HANDLES", keep_look=False)
        not_a_number(bad, what)
        if by == "key_set":
            animation.key_set(bad, "scale", 0, tension=0.5)
        elif by == "bake":
            animation.bake(bad)
        elif by == "live":
            animation.live.update.refresh_all({}, bad.animation_data.action, lambda _: animation.Options())
        else:
            with pytest.raises(animation.AnimationError, match=r'"Bad", Scale: edited outside'):
                animation.key_set(bad, "scale", 0, tension=0.5)
    stored = animation.store.table.custom_property
    stored.remembered_tables().clear()
    assert stored.read_table(bad.animation_data.action).error is None
    animation.restore(bad, ["location"])
    restored = [bits(fcurve) for fcurve in fcurves(bad) if fcurve.data_path == "location"]
    assert [each["co"] for each in restored] == [each["co"] for each in good]
    animation.remove(bad)
    assert [bits(fcurve) for fcurve in fcurves(bad) if fcurve.data_path == "location"] == good


def test_a_curve_of_another_rotation_mode_is_left_alone_and_named(animation, thing) -> None:
    key(thing, "rotation_quaternion", [(0, (1, 0, 0, 0)), (10, (0, 1, 0, 0))])
    before = bits(curve(thing, "rotation_quaternion"))
    report = animation.bake(thing, keep_look=False)
    assert bits(curve(thing, "rotation_quaternion")) == before
    assert any("Quaternion Rotation" in str(note) and "rotation mode" in str(note) for note in report.notes)


def test_a_curve_of_a_property_that_is_gone_is_left_alone(animation, thing) -> None:
    key(thing, '["gone"]', [(0, 1.0), (10, 2.0)])
    before = bits(curve(thing, '["gone"]'))
    animation.bake(thing, keep_look=False)
    assert bits(curve(thing, '["gone"]')) == before


def test_a_value_whose_spline_would_leave_float32(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(0, (3e38,) * 3), (10, (3e38,) * 3), (20, (-3e38,) * 3)])
    refused(animation, item, "Ball", "location", "frame 0", "large")


def test_a_rotation_of_which_a_driver_decides_a_component_that_has_no_keys(animation) -> None:
    thing = new_object("Ball", "XYZ")
    key(thing, "rotation_euler", [(1, (0, 0, 0)), (10, (1, 1, 0)), (20, (0, 2, 0))], channels=[0, 1])
    thing.driver_add("rotation_euler", 2).driver.expression = "frame / 20"
    refused(animation, thing, "Ball", "rotation_euler", "driver")
