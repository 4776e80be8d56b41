# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings chosen for a plain track make the track TCB. The motion is preserved with the chosen turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.animation.action_users import linked
from tests.animation.curves import (
    KEYS,
    PARAMETERS,
    curve,
    differences,
    given,
    key,
    keyed,
    snapshot,
)

FAR = [(0, (0, 0, 0)), (10, (0.3, 0, 3.9)), (25, (0.2, 0.5, 0.4)), (40, (0, 0, -3.4))]
"""Euler angles that turn by more than half a turn between keys."""


def turning(name: str = "Ball") -> bpy.types.Object:
    item = keyed(name, "rotation_euler", FAR)
    key(item, "location", KEYS)
    return item


def parameters(animation: Any, item: bpy.types.Object, path: str) -> dict[str, list[tuple[float, float]]]:
    return {name: given(animation, item, path, name) for name in PARAMETERS}


@pytest.mark.parametrize("path", ["SHORTEST", "AS_KEYED"])
def test_the_turns_are_chosen_before_the_parameters_are_fitted(animation, path: str) -> None:
    item, other = turning(), turning("Other")
    report = animation.choose(item, "rotation", path=path)
    expected = animation.enable(other, ["rotation_euler"], path=path)
    assert animation.find_track(item, "rotation").settings.path == path
    found = parameters(animation, item, "rotation_euler")
    assert any(found.values())
    assert found == parameters(animation, other, "rotation_euler")
    assert (report.tracks, report.keys, report.looks_kept) == (1, 4, 1)
    assert report.rotation_change == expected.rotation_change
    assert [note.code for note in report.notes] == [note.code for note in expected.notes]


def test_only_the_named_track_becomes_tcb(animation) -> None:
    light = bpy.data.lights.new("Light", "AREA")
    for path in ("size", "size_y"):
        key(light, path, [(1, 1.0), (10, 2.0), (20, 1.5)])
    animation.choose(light, "size", method="CATMULL_ROM")
    enabled = {path: animation.find_track(light, path).enabled for path in ("size", "size_y")}
    assert enabled == {"size": True, "size_y": False}


def locked(item: bpy.types.Object) -> None:
    curve(item, "location", 1).lock = True


def not_finite(item: bpy.types.Object) -> None:
    curve(item, "location", 1).keyframe_points[1].co.y = math.nan


@pytest.mark.parametrize(("spoil", "reason"), [(locked, "locked"), (not_finite, "frame 10: .*not a finite number")])
def test_a_track_that_can_not_be_enabled_is_refused_and_unchanged(
    animation, spoil: Callable[[bpy.types.Object], None], reason: str
) -> None:
    item = keyed()
    spoil(item)
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match=f'"Ball", Location.*{reason}'):
        animation.choose(item, "location", cycle="LOOP")
    assert differences(before, snapshot(item)) == []


@pytest.mark.parametrize(
    ("choices", "error", "reason"),
    [
        ({"method": "SHOEMAKE"}, None, "interpolates rotations only"),
        ({"cycle": "TWICE"}, ValueError, "not one of SINGLE"),
        ({"path": "SHORTEST", "turns": "X"}, ValueError, "'turns' is not one of"),
    ],
)
def test_a_wrong_choice_leaves_the_track_plain(animation, choices, error, reason: str) -> None:
    item = keyed()
    before = snapshot(item)
    with pytest.raises(error or animation.AnimationError, match=reason):
        animation.choose(item, "location", **choices)
    assert differences(before, snapshot(item)) == []
    assert not animation.find_track(item, "location").enabled


@pytest.fixture
def linked_item(scene, tmp_path) -> bpy.types.Object:
    return linked(keyed(), tmp_path / "library.blend")


def test_linked_keys_are_refused_and_an_override_gets_a_copy_of_them(animation, linked_item) -> None:
    original = linked_item.animation_data.action
    before = snapshot(linked_item)
    with pytest.raises(animation.AnimationError, match="the data is linked"):
        animation.choose(linked_item, "location", cycle="LOOP")
    item = linked_item.override_create()
    with pytest.raises(animation.AnimationError, match="interpolates rotations only"):
        animation.choose(item, "location", method="SHOEMAKE")
    assert item.animation_data.action == original
    notes = animation.choose(item, "location", cycle="LOOP").notes
    assert "ACTION_COPIED" in [note.code for note in notes]
    assert animation.find_track(item, "location").settings.cycle == "LOOP"
    assert item.animation_data.action.library is None
    assert differences(before, snapshot(linked_item)) == []


@pytest.mark.parametrize("limit", [10.0, 1e-9])
def test_enable_takes_the_limits_of_visible_change(animation, limit: float) -> None:
    item = turning()
    report = animation.enable(item, max_change=(limit, limit))
    assert report.looks_changed == (0 if limit > 1.0 else 2)
