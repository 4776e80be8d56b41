# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn from the previous key, as in 3D Studio's key info."""

from __future__ import annotations

import math

import pytest

from tests.animation.curves import key, new_object


def angles(animation, item, frames) -> list[float]:
    """Return the turns about z, in degrees."""
    track = animation.find_track(item, "rotation")
    turns = [animation.checks.shown_key.turn_now(track, frame, {}) for frame in frames]
    return [math.degrees(turn.angle) * turn.axis[2] for turn in turns]


def turning(animation, degrees, **choices):
    """Return an object that turns about z by angles at every tenth frame, and rests at its keys."""
    item = new_object()
    key(item, "rotation_euler", [(10 * row, (0, 0, math.radians(angle))) for row, angle in enumerate(degrees)])
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", **choices)
    for row in range(len(degrees)):
        animation.key_set(item, "rotation_euler", 10 * row, tension=1.0)
    return item


def test_it_is_the_turn_from_the_key_before(animation):
    item = turning(animation, [20, 80, 50], ends="TANGENT")
    found = angles(animation, item, [-5.0, 0.0, 5.0, 10.0, 15.0, 20.0, 30.0])
    assert found == pytest.approx([20, 20, 30, 60, -15, -30, -30], abs=1e-4)


def test_whole_turns_count(animation):
    item = turning(animation, [30, 480, -240])
    assert angles(animation, item, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]) == pytest.approx(
        [30, 225, 450, -360, -720, -720], abs=1e-4
    )


@pytest.mark.parametrize("method", ["TCB", "HERMITE"])
def test_ten_whole_turns_count(animation, method):
    item = turning(animation, [0, 3600], method=method)
    assert angles(animation, item, [5.0, 10.0]) == pytest.approx([1800, 3600], abs=1e-3)


def test_cycles_show_the_turns_of_their_first_round(animation):
    item = turning(animation, [0, 40, 10, 90], cycle="REPEAT")
    assert angles(animation, item, [65.0, 70.0, 85.0]) == pytest.approx(angles(animation, item, [5.0, 10.0, 25.0]))


def test_turns_about_an_axis_that_moves_count(animation):
    item = new_object()
    key(item, "rotation_euler", [(0, (0.0, 0.0, 0.0)), (10, (0.0, 0.5, math.radians(720)))])
    animation.enable(item, keep_look=False)
    turn = animation.checks.shown_key.turn_now(animation.find_track(item, "rotation"), 10.0, {})
    assert math.degrees(turn.angle) == pytest.approx(720, abs=5)
    assert turn.axis[2] > 0.99
