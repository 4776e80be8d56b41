# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore, Free Bake and Remove after a bake restore every F-curve bit for bit."""

from __future__ import annotations

import random
from typing import Any

import bpy
import pytest

from tests.animation.curves import PARAMETERS, bag_of, co, differences, has_table, key, new_object, snapshot
from tests.animation.random_tracks import random_action

ACTIONS = 16
"""The number of random actions, two for each rotation mode. More actions would hardly find more errors."""
SEED = 20240229


def _bake_at_random(dice: random.Random, animation, thing: bpy.types.Object) -> Any:
    animation.enable(thing, keep_look=False)
    for fcurve in list(bag_of(thing).fcurves):
        path = fcurve.data_path
        for frame, _ in co(fcurve):
            if dice.random() < 0.3:
                name = dice.choice(PARAMETERS)
                value = dice.uniform(0 if name.startswith("ease") else -1, 1)
                animation.key_set(thing, path, float(frame), **{name: value})
        if dice.random() < 0.2:
            animation.choose(thing, path, cycle=dice.choice(["SINGLE", "REPEAT", "LOOP"]))
    extend = dice.choice([None, None, (-130, 950), (3.3, 4.4), (902, 907)])
    return animation.bake(thing, step=dice.choice([0.25, 1, 3, 0.7]), extend=extend)


@pytest.mark.parametrize(("first", "verb"), [(0, "restore"), (1, "free"), (2, "remove")])
def test_the_bits_of_random_actions_come_back(animation, first: int, verb: str) -> None:
    """The tracks were enabled by a script, so they were off before the bake. Remove leaves no identities."""
    wrong = []
    for number in range(ACTIONS):
        dice = random.Random(SEED + first * ACTIONS + number)
        thing = random_action(dice, number)
        before, groups = snapshot(thing), [group.name for group in bag_of(thing).groups]
        if _bake_at_random(dice, animation, thing).tracks:
            getattr(animation, verb)(thing)
        found = differences(before, snapshot(thing), identities=verb == "remove")
        wrong += [(number, *difference) for difference in found]
        assert [group.name for group in bag_of(thing).groups] == groups
        assert has_table(thing) == (verb != "remove")
    assert wrong == []


def test_restore_gives_a_component_that_was_not_animated_its_value_back(animation) -> None:
    thing = new_object("Thing", "XYZ")
    thing.rotation_euler = (0.0, 0.25, 0.0)
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 0, 1)), (25, (-1, 0, 2))], channels=[0, 2])
    before = snapshot(thing)
    animation.bake(thing, keep_look=False)
    bpy.context.scene.frame_set(5)
    animation.restore(thing)
    assert differences(before, snapshot(thing), identities=False) == []
    assert tuple(thing.rotation_euler)[1] == 0.25


@pytest.mark.parametrize(
    ("verb", "message"), [("restore", "no track is baked or played"), ("free", "no track is baked")]
)
def test_the_second_time_there_is_nothing_to_do(animation, verb: str, message: str) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3))])
    animation.bake(thing, keep_look=False)
    getattr(animation, verb)(thing)
    with pytest.raises(animation.AnimationError, match=message) as refusal:
        getattr(animation, verb)(thing)
    (finding,) = refusal.value.findings
    assert finding.has_nothing_to_do
