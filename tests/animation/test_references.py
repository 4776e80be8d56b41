# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method as played by Blender, compared with independent formulas. Roll, pitch and yaw use each method of values.

The keys have random values, parameters and velocities.
"""

from __future__ import annotations

import numpy as np
import pytest

from interp.splines import METHODS
from tests.animation import reference
from tests.animation.curves import PARAMETERS, differences, key, new_object, play, snapshot
from tests.interp.references import REFERENCES

CASES = [
    *((name, kind) for name, method in METHODS.items() for kind in ("values", "rotations") if getattr(method, kind)),
    *((name, "angles") for name, method in METHODS.items() if method.values and not method.value_options),
]
PATHS = {"values": "location", "rotations": "rotation_quaternion", "angles": "rotation_euler"}
FRAMES = np.array([1.0, 8.0, 20.0, 29.0, 33.0, 45.0])
AT = np.arange(FRAMES[0] - 2.0, FRAMES[-1] + 2.0, 1.5)
VALUE_TOLERANCE, ANGLE_TOLERANCE = 1e-3, np.radians(0.01)
FLOAT32 = 1e-6
"""Rounding error relative to the largest value. Angles have four times the error of quaternion components."""


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_blender_plays_the_reference_and_has_the_curves_back(
    animation, scene, method: str, kind: str, output: str
) -> None:
    is_euler, path = kind == "angles", PATHS[kind]
    keys = REFERENCES[method]["values" if is_euler else kind].draw(np.random.default_rng(7), FRAMES)
    thing = new_object("Head", "XYZ" if is_euler else "QUATERNION")
    key(thing, path, list(zip(FRAMES, keys.values, strict=True)))
    animation.enable(thing, keep_look=False)
    by_angles = {"method": "ROLL_PITCH_YAW", "path": "AS_KEYED", "angles": method}
    animation.choose(thing, path, **by_angles if is_euler else {"method": method})
    for index, frame in enumerate(FRAMES):
        given = dict(zip(PARAMETERS, keys.parameters[:, index], strict=True))
        if keys.velocities is not None:
            given["velocity"] = keys.velocities[index]
        animation.key_set(thing, path, frame, **{name: number for name, number in given.items() if np.any(number)})
    before = snapshot(thing)
    tolerances = {"value_tolerance": VALUE_TOLERANCE, "rotation_tolerance": ANGLE_TOLERANCE}
    animation.bake(thing, output=output, **{"step": 0.5} if output == "SAMPLES" else tolerances)
    played = []
    for frame in AT:
        play(frame)
        played.append(tuple(getattr(thing, path)))
    expected = keys.curve(np.clip(AT, FRAMES[0], FRAMES[-1]))
    if kind == "values":
        error = np.abs(np.array(played) - expected).max()
        exact, fitted = FLOAT32 * np.abs(expected).max(), VALUE_TOLERANCE
    else:
        turns = [[reference.of_euler(row) if is_euler else row for row in rows] for rows in (played, expected)]
        error = max(reference.apart(*pair) for pair in zip(*turns, strict=True))
        exact, fitted = 4.0 * FLOAT32 * (np.abs(expected).max() if is_euler else 1.0), ANGLE_TOLERANCE
    assert error < exact + fitted * (output == "CURVES")
    animation.restore(thing)
    assert differences(before, snapshot(thing)) == []
