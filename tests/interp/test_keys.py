# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid and invalid arguments of keys, and their error messages."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from interp import Keys, KeysError
from interp.splines import tcb


def test_a_scalar_parameter_serves_every_key_and_an_array_one_each():
    keys = Keys([0, 1, 2], [1.0, 2.0, 3.0], tension=0.5, bias=[0.1, -0.2, 1.0])
    assert keys.tension.tolist() == [0.5, 0.5, 0.5]
    assert keys.bias.tolist() == [0.1, -0.2, 1.0]
    assert keys.ease_to.tolist() == [0.0, 0.0, 0.0]


def test_one_dimensional_values_are_one_component():
    assert Keys([0, 1], [5.0, 6.0]).values.shape == (2, 1)


def test_keys_are_copies_that_cannot_be_changed():
    values = np.array([[1.0], [2.0]])
    keys = Keys([0, 1], values)
    values[0] = 9.0
    assert keys.values[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        keys.values[0] = 9.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        keys.frames = np.zeros(2)


@pytest.mark.parametrize(
    ("arguments", "key", "frame", "words"),
    [
        (([0, 10, 10], [1, 2, 3]), 2, 10.0, "has the same frame"),
        (([0, 10, 5], [1, 2, 3]), 2, 5.0, "strictly increasing"),
        (([0, np.inf, 5], [1, 2, 3]), 1, np.inf, "frame is not a finite"),
        (([0, 7, 9], [[1, 2], [3, np.nan], [4, 5]]), 1, 7.0, "component 1 of the value is nan"),
        (([0, 7], [1, 2], [0, 1.01]), 1, 7.0, r"tension is 1.01, not in \[-1, 1\]"),
        (([0, 7], [1, 2], 0, -2), 0, 0.0, r"continuity is -2, not in \[-1, 1\]"),
        (([0, 7], [1, 2], 0, 0, [0, np.nan]), 1, 7.0, "bias is nan"),
        (([0, 7], [1, 2], 0, 0, 0, [0, -0.01]), 1, 7.0, r"ease to is -0.01, not in \[0, 1\]"),
        (([0, 7], [1, 2], 0, 0, 0, 0, 1.5), 0, 0.0, r"ease from is 1.5, not in \[0, 1\]"),
    ],
)
def test_a_fault_of_one_key_names_the_key_its_frame_and_the_fault(arguments, key, frame, words):
    with pytest.raises(KeysError, match=words) as caught:
        Keys(*arguments)
    assert (caught.value.key, caught.value.frame) == (key, frame)
    assert str(caught.value).startswith(f"key {key} at frame {frame:g}: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], []), "at least one key"),
        (([0, 1], [1, 2, 3]), "one row per key"),
        (([[0, 1]], [[1, 2]]), "one dimension"),
        ((["a"], [1]), "not an array of numbers"),
        (([0, 1], [1, 2], [0, 0, 0]), "tension must be one number, or one for each of 2 keys"),
    ],
)
def test_a_fault_of_no_single_key_is_said_without_one(arguments, words):
    with pytest.raises(KeysError, match=words) as caught:
        Keys(*arguments)
    assert caught.value.key is None


def test_a_fault_keeps_what_it_is_made_of_for_other_languages():
    with pytest.raises(KeysError) as caught:
        Keys([0, 12], [1, 2], tension=[0, 3])
    fault = caught.value.message
    assert (fault.text, fault.values) == ("{:s} is {:g}, not in [{:d}, 1]", ("tension", 3.0, -1))
    assert fault == "tension is 3, not in [-1, 1]"
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.message.values) == (str(caught.value), fault.values)


def test_a_fault_of_a_component_can_be_told_of_the_one_that_the_track_has_there():
    with pytest.raises(KeysError) as caught:
        Keys([0, 7], [[1, 2], [3, np.nan]])
    assert caught.value.component == 1
    error = caught.value.on_component(2)
    assert str(error) == "key 1 at frame 7: component 2 of the value is nan, not a finite number"
    assert (error.component, error.frame) == (2, 7.0)


def test_a_zero_quaternion_is_refused_and_named():
    with pytest.raises(KeysError, match="key 1 at frame 4: the quaternion is zero"):
        tcb.RotationSpline(Keys([0, 4], [[1, 0, 0, 0], [0, 0, 0, 0]]))


def test_a_rotation_needs_four_components():
    with pytest.raises(KeysError, match="w, x, y, z"):
        tcb.RotationSpline(Keys([0, 4], [[1, 0, 0], [0, 1, 0]]))


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 5.0, 1e300])
def test_quaternions_of_any_length_are_normalised(scale):
    spline = tcb.RotationSpline(Keys([0, 4], np.array([[1.0, 1, 1, 1], [0, 3, 0, 4]]) * scale))
    np.testing.assert_allclose(spline.keys.values, [[0.5, 0.5, 0.5, 0.5], [0, 0.6, 0, 0.8]], rtol=1e-15)


@pytest.mark.parametrize("turned", [[-1.0, 0, 0, 0], [-1.0, 1e-12, 0, 0]])
def test_antipodal_neighbours_are_refused_as_keyed_and_no_turn_by_the_shortest_way(turned):
    keys = Keys([0, 5, 10], [[1, 0, 0, 0], turned, [0, 1, 0, 0]])
    with pytest.raises(KeysError, match="key 1 at frame 5: the rotation from the previous key is a full turn"):
        tcb.RotationSpline(keys, path="AS_KEYED")
    assert np.abs(tcb.RotationSpline(keys)(5.0)) == pytest.approx([1, 0, 0, 0], abs=1e-11)


def test_only_neighbouring_keys_can_be_antipodal():
    keys = Keys([0, 5, 10], [[1, 0, 0, 0], [0, 0, 0, 1], [-1, 0, 0, 0]])
    assert tcb.RotationSpline(keys, path="AS_KEYED")(10.0) == pytest.approx([-1, 0, 0, 0])


@pytest.mark.parametrize(
    "options", [{"cycle": "PING"}, {"ends": "MAX"}, {"construction": "BEZIER"}, {"path": "LONGEST"}]
)
def test_an_unknown_option_is_refused_with_those_there_are(options):
    with pytest.raises(ValueError, match="must be one of"):
        tcb.RotationSpline(Keys([0], [[1, 0, 0, 0]]), **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 5], [0.0, 1.0], [[0, 0, 1], [0, 0, 0]]), "key 1 at frame 5: the turn has a zero axis"),
        (([0, 5], [0.0, 1.0], [[0, 0, 1]]), "one row per key"),
        (([0, 5], [0.0, 1.0], [[0, 1], [0, 1]]), "x, y, z"),
        (([0, 5], [[0.0, 1.0], [0.0, 1.0]], [[0, 0, 1], [0, 0, 1]]), "one number per key"),
    ],
)
def test_turns_without_their_axes_are_refused(arguments, words):
    with pytest.raises(KeysError, match=words):
        tcb.RotationSpline.from_turns(*arguments)
