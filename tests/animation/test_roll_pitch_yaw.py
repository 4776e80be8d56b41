# SPDX-License-Identifier: GPL-3.0-or-later
"""Roll, pitch and yaw as played by Blender, with each method of values that needs only keys."""

from __future__ import annotations

import numpy as np
import pytest

from interp.splines import METHODS
from tests.animation import reference
from tests.animation.curves import PARAMETERS, key, new_object, play
from tests.interp.references import REFERENCES

FRAMES = np.array([1.0, 8.0, 20.0, 29.0, 33.0, 45.0])


@pytest.mark.parametrize("method", [name for name, each in METHODS.items() if each.values and not each.value_options])
def test_angles_go_by_the_method_that_is_chosen_for_them(animation, scene, method: str) -> None:
    keys = REFERENCES[method]["values"].draw(np.random.default_rng(7), FRAMES)
    thing = new_object("Head", "XYZ")
    key(thing, "rotation_euler", list(zip(FRAMES, keys.values, strict=True)))
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "rotation_euler", method="ROLL_PITCH_YAW", path="AS_KEYED", angles=method)
    for index, frame in enumerate(FRAMES):
        given = dict(zip(PARAMETERS, keys.parameters[:, index], strict=True))
        animation.key_set(thing, "rotation_euler", frame, **{name: number for name, number in given.items() if number})
    animation.bake(thing, step=0.5)
    at = np.arange(FRAMES[0] - 2.0, FRAMES[-1] + 2.0, 1.5)
    expected = keys.curve(np.clip(at, FRAMES[0], FRAMES[-1]))
    for frame, angles in zip(at, expected, strict=True):
        play(frame)
        apart = reference.apart(reference.of_euler(thing.rotation_euler), reference.of_euler(angles))
        assert apart < 4e-6 * np.abs(expected).max()
