# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply keeps the motion of tracks in any state, bit for bit, and removes all TCB data."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import (
    MODES,
    differences,
    fcurves,
    function,
    has_table,
    key,
    new_object,
    snapshot,
)
from tests.animation.random_tracks import mixed, parametrised

FLOATS = ("back", "amplitude", "period")
DEFAULTS = {"back": 1.70158, "amplitude": 0.8, "period": 4.1}


def shaped(thing: bpy.types.Object) -> None:
    """Give keys their own float attributes, which affect the playback of some keys."""
    for number, fcurve in enumerate(fcurves(thing)):
        for row, point in enumerate(fcurve.keyframe_points):
            point.back, point.amplitude, point.period = 1.1 + row, 2.3 + number, 5.7 + row
            point.interpolation = ("BEZIER", "BACK", "ELASTIC", "LINEAR")[row % 4]
        fcurve.update()


def floats(thing: bpy.types.Object) -> dict[Any, Any]:
    """Return the float attributes that hold identities, by channel and frame."""
    return {
        (fcurve.data_path, fcurve.array_index, point.co.x): tuple(getattr(point, name) for name in FLOATS)
        for fcurve in fcurves(thing)
        for point in fcurve.keyframe_points
    }


def check_is_kept(before: list[dict[str, Any]], thing: bpy.types.Object) -> None:
    """Check that generated keys are plain and channels unlocked.

    Otherwise, only the floats of identities may have changed.
    """
    for state in before:
        state["type"] = ["KEYFRAME" if type_ == "GENERATED" else type_ for type_ in state["type"]]
        mute, hide, _lock, *others = state["flags"]
        state["flags"] = (mute, hide, False, *others)
    left_out = dict.fromkeys(FLOATS, b"")
    after = snapshot(thing)
    assert differences([{**each, **left_out} for each in before], [{**each, **left_out} for each in after]) == []
    assert not has_table(thing)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_only_enabled_or_restored_is_as_it_was_before_tcb(animation, mode: str) -> None:
    thing = mixed(mode)
    shaped(thing)
    before = snapshot(thing)
    parametrised(animation, thing)
    animation.apply(thing)
    assert differences(before, snapshot(thing)) == []
    assert not has_table(thing)
    parametrised(animation, thing)
    animation.bake(thing)
    animation.restore(thing)
    animation.apply(thing)
    assert differences(before, snapshot(thing)) == []
    assert not has_table(thing)


@pytest.mark.parametrize(("output", "mode"), each_once(["SAMPLES", "CURVES"], MODES))
def test_a_bake_stays_as_plain_keys(animation, mode: str, output: str) -> None:
    thing = mixed(mode)
    shaped(thing)
    own = floats(thing)
    parametrised(animation, thing)
    assert animation.bake(thing, output=output).tracks == 4
    before = snapshot(thing)
    assert animation.apply(thing).tracks == 4
    check_is_kept(before, thing)
    plain = tuple(float(np.float32(number)) for number in DEFAULTS.values())
    for place, numbers in floats(thing).items():
        assert numbers == own.get(place, plain), place


def test_handles_stay(animation) -> None:
    thing = new_object("Thing", "QUATERNION")
    rows = [(1, 0, 0, 0), (-0.8, -0.6, 0, 0), (0, 1, 0, 0)]
    key(thing, "rotation_quaternion", list(zip((0, 10, 25), rows, strict=True)))
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3)), (25, (-1, 0, 2))])
    own = floats(thing)
    parametrised(animation, thing)
    animation.bake(thing, output="HANDLES")
    before = snapshot(thing)
    animation.apply(thing)
    check_is_kept(before, thing)
    assert floats(thing) == own


def test_a_track_s_frame_function_goes_with_it_and_an_object_s_stays(animation) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (4, 2, 3)), (25, (-1, 0, 2))])
    animation.enable(thing, keep_look=False)
    animation.retime(thing, "REVERSE", track="location")
    animation.bake(thing)
    before = [state for state in snapshot(thing) if "tcb_tracks" not in state["path"][0]]
    animation.apply(thing)
    check_is_kept(before, thing)
    function(thing, [(0, 0), (30, 20)])
    report = animation.enable(thing, keep_look=False)
    report = animation.apply(thing)
    assert any("the frame function was kept" in str(note) for note in report.notes)


def test_live_is_off_then(animation) -> None:
    thing = mixed("XYZ")
    animation.bake(thing, keep_look=False)
    thing.animation_data.action.tcb_live = True
    assert any("Live is now off" in str(note) for note in animation.apply(thing).notes)
    assert not thing.animation_data.action.tcb_live


def test_where_nothing_is_tcb_it_is_refused(animation) -> None:
    thing = mixed("XYZ")
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="no TCB track"):
        animation.apply(thing)
    assert differences(before, snapshot(thing)) == []


def test_applied_samples_are_counted_as_keys(animation, scene) -> None:
    thing = new_object()
    key(thing, "location", [(1, (0, 0, 0)), (20, (1, 2, 3)), (60, (0, 0, 1))])
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="SAMPLES")
    assert animation.apply(thing).keys == 60
    assert all(len(fcurve.keyframe_points) == 60 for fcurve in fcurves(thing))
