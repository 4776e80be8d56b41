# SPDX-License-Identifier: GPL-3.0-or-later
"""The selection after a bake is the same as before."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.curves import co, curve, fcurves, key, new_object, track_keys

FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
PLACES = [(frame, (frame * 0.5, 1.0 - frame, float(frame % 7))) for frame in (1, 12, 20, 41)]


def select(fcurve: bpy.types.FCurve, *rows: int) -> None:
    for name in FLAGS:
        chosen = np.zeros(len(fcurve.keyframe_points), dtype=bool)
        chosen[list(rows)] = True
        fcurve.keyframe_points.foreach_set(name, chosen)


def selected(fcurve: bpy.types.FCurve) -> dict[str, list[float]]:
    """Return the frames of the keys for which each flag is set."""
    found = {}
    for name in FLAGS:
        chosen = np.empty(len(fcurve.keyframe_points), dtype=bool)
        fcurve.keyframe_points.foreach_get(name, chosen)
        found[name] = co(fcurve)[chosen, 0].tolist()
    return found


@pytest.fixture
def item(animation) -> bpy.types.Object:
    """An object with location and scale, with some keys and one left handle selected."""
    item = new_object()
    for path in ("location", "scale"):
        key(item, path, PLACES)
    for fcurve in fcurves(item):
        select(fcurve)
    select(curve(item, "location", 1), 1, 2)
    select(curve(item, "scale", 2), 0)
    left = [False, False, True, False]
    curve(item, "location", 2).keyframe_points.foreach_set("select_left_handle", left)
    animation.enable(item, prefixes=["location"], keep_look=False)
    return item


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_bake_selects_and_deselects_nothing(animation, item, output: str) -> None:
    before = {(each.data_path, each.array_index): selected(each) for each in fcurves(item)}
    for _ in range(2):
        animation.bake(item, output=output)
        after = {(each.data_path, each.array_index): selected(each) for each in fcurves(item)}
        assert after == before


@pytest.mark.parametrize("rows", [(), (1, 2), (0, 1, 2, 3)])
def test_a_bake_of_all_tracks_of_an_action_keeps_the_selection(animation, rows: tuple[int, ...]) -> None:
    item = new_object()
    key(item, "location", [(frame, (-0.0, *values[1:])) for frame, values in PLACES])
    for fcurve in fcurves(item):
        select(fcurve, *rows)
    curve(item, "location", 2).keyframe_points[1].select_left_handle = True
    before = [selected(each) for each in fcurves(item)]
    animation.bake(item, keep_look=False)
    assert [selected(each) for each in fcurves(item)] == before
    # Selecting a key must not change its value, not even the sign of zero.
    assert np.count_nonzero(np.signbit(co(curve(item, "location", 0))[:, 1])) == len(PLACES)


@pytest.mark.parametrize("flag", FLAGS[1:])
@pytest.mark.parametrize("baked", [False, True])
def test_a_key_counts_as_selected_by_one_of_its_handles(animation, item, flag: str, baked: bool) -> None:
    if baked:
        animation.bake(item, step=4.0)
    for fcurve in fcurves(item):
        select(fcurve)
    fcurve = curve(item, "location", 1)
    row = co(fcurve)[:, 0].tolist().index(20.0)
    setattr(fcurve.keyframe_points[row], flag, True)
    (keys,) = animation.edit.track_keys.selected_keys(fcurves(item))
    assert (keys.track.path, keys.frames.tolist()) == ("location", [20.0])
    assert animation.edit.track_keys.any_selected(fcurves(item))


def test_keys_that_are_read_again_have_their_current_parameters(animation, item) -> None:
    keys = track_keys(animation, item, "location")
    animation.key_set(item, "location", 20, tension=0.5)
    (again,) = animation.edit.track_keys.read_again([keys])
    assert again.parameters({})["tension"].tolist() == np.where(keys.frames == 20.0, 0.5, 0.0).tolist()
