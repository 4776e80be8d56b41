# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of vector tracks as played by Blender agree with an independent evaluation within one float32 ulp."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.animation.curves import PARAMETERS, co, curve, fcurves, key, new_object, play
from tests.animation.locations import FRAMES, VALUES, expected_at, keyed


def ulp(expected: float) -> float:
    """Return one unit in the last place of float32, plus the cancellation error of doubles."""
    return float(np.spacing(np.float32(abs(expected)))) + 1e-13


ALL_PARAMETERS = {
    "tension": [0.3, -0.5, 1.0, 0.2, -1.0],
    "continuity": [0.0, 0.75, -0.4, 1.0, 0.6],
    "bias": [0.9, -0.3, 0.5, -1.0, 0.1],
    "ease_to": [0.0, 0.5, 0.0, 0.9, 0.25],
    "ease_from": [0.4, 0.0, 0.7, 0.8, 0.0],
}


@pytest.mark.parametrize("step", [0.25, 1.0, 3.0])
def test_a_bake_has_a_key_per_step_and_at_each_of_the_animators_frames(animation, step: float) -> None:
    thing = new_object()
    keyed(thing, animation)
    animation.bake(thing, step=step)
    grid = [1 + n * step for n in range(int(39 / step) + 1)]
    assert co(curve(thing, "location"))[:, 0].tolist() == sorted({*grid, *FRAMES})


@pytest.mark.parametrize("cycle", ["SINGLE", "REPEAT", "LOOP"])
@pytest.mark.parametrize("step", [0.5, 1.0])
def test_cycles_repeat_to_the_ends_of_the_range(animation, cycle: str, step: float) -> None:
    values = [*VALUES[:4], VALUES[0]]
    thing = new_object()
    rows = keyed(thing, animation, values=values, **ALL_PARAMETERS)
    animation.choose(thing, "location", cycle=cycle)
    animation.bake(thing, step=step, extend=(-90, 131))
    for frame in np.arange(-90, 131, step).tolist():
        play(frame)
        for component in range(3):
            wanted = expected_at(rows, component, frame, values, cycle)
            assert abs(thing.location[component] - wanted) <= ulp(wanted) + 1e-11, (frame, component)


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_an_extrapolation_that_holds_the_values_has_no_note(animation, output: str) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (10, 10, 10))])
    for fcurve in fcurves(thing):
        fcurve.extrapolation = "LINEAR"
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left, point.handle_right = (point.co.x - 1, point.co.y), (point.co.x + 1, point.co.y)
    assert curve(thing, "location").evaluate(15) == 10.0
    assert animation.bake(thing, output=output, keep_look=False).notes == []


def test_samples_of_random_tracks_are_on_their_splines(animation) -> None:
    for seed in range(40):
        dice = random.Random(seed)
        frames = np.float32(np.cumsum([dice.uniform(0.1, 30) for _ in range(dice.randint(1, 9))]) - 50).tolist()
        values = [tuple(np.float32(dice.uniform(-100, 100)).item() for _ in range(3)) for _ in frames]
        parameters = {
            name: [dice.choice([0, dice.uniform(0 if "ease" in name else -1, 1)]) for _ in frames]
            for name in PARAMETERS
        }
        thing = new_object()
        rows = keyed(thing, animation, frames, values, **parameters)
        animation.bake(thing, step=dice.choice([0.5, 1, 2.5]))
        for component in range(3):
            for frame, value in co(curve(thing, "location", component)).tolist():
                wanted = expected_at(rows, component, frame, values)
                assert abs(value - wanted) <= ulp(wanted) + 1e-11, (seed, frame, component)


def test_cycles_modifiers_repeat_the_baked_motion(animation) -> None:
    thing = new_object()
    rows = keyed(thing, animation)
    for component in range(3):
        curve(thing, "location", component).modifiers.new("CYCLES")
    animation.bake(thing)
    for frame in range(2, 40):
        assert curve(thing, "location").evaluate(frame + 39) == pytest.approx(expected_at(rows, 0, frame), abs=1e-5)
