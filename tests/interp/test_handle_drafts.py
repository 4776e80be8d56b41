# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that handles are drafted repeatedly for changed parameters of the same keys, close to fitted handles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.handles import HandleDrafts, fit_handles
from interp.splines import METHODS, tcb

KEY = 3
BESIDE = np.array([False, False, True, True, False, False, False])


def requests(name: str, parameters: np.ndarray, cycle: str = "SINGLE", segments=BESIDE) -> list[Request]:
    generator = np.random.default_rng(5)
    frames = np.cumsum(generator.uniform(4.0, 20.0, 7))
    values, q = generator.uniform(0.5, 1.5, (7, 2)), rotations.normalise(generator.normal([2, 0, 0, 0], 1.0, (7, 4)))
    method = METHODS[name]
    made = (
        []
        if method.values is None
        else [Request(method.values(Keys(frames, values, *parameters), cycle), segments=segments)]
    )
    if method.rotations is not None:
        spline = method.rotations(Keys(frames, q, *parameters), cycle)
        made.append(Request(spline, "QUATERNION", segments=segments))
        made.append(Request(spline, "XYZ", rotations.follow_euler(q), segments))
    return made


def changed() -> tuple[np.ndarray, np.ndarray]:
    """Return parameters of keys, and the same parameters with changes at one key."""
    before = np.random.default_rng(6).uniform(-0.4, 0.4, (5, 7))
    before[3:] = np.abs(before[3:])
    after = before.copy()
    after[:, KEY] = 0.7, -0.3, 0.5, 0.2, 0.6
    return before, after


# Roll, Pitch, Yaw contains splines of angles with separate keys.
@pytest.mark.parametrize("name", sorted(METHODS.keys() - {"ROLL_PITCH_YAW"}))
def test_a_draft_for_other_parameters_is_that_of_keys_that_have_them(name):
    before, after = changed()
    for old, new in zip(requests(name, before), requests(name, after), strict=True):
        drafts = HandleDrafts([old])
        assert drafts.segments.tolist() == np.flatnonzero(BESIDE).tolist()
        drafts.fitted(before)
        for one, other in zip(drafts.fitted(after), HandleDrafts([new]).fitted(after), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("cycle", ["SINGLE", "LOOP"])
@pytest.mark.parametrize("name", sorted(METHODS))
def test_parameters_of_a_key_change_the_segments_beside_it_alone(name, cycle):
    before, after = changed()
    for old, new in zip(requests(name, before, cycle, None), requests(name, after, cycle, None), strict=True):
        (first,), (second,) = fit_handles([old]), fit_handles([new])
        same = ~BESIDE
        same[-1] = False
        assert (first.right[same] == second.right[same]).all()
        assert (first.left[1:][same[:-1]] == second.left[1:][same[:-1]]).all()


def test_drafts_of_numbers_without_ease_are_the_fits():
    _, after = changed()
    after[3:] = 0.0
    request, *_ = requests("TCB", after)
    (fit,) = fit_handles([request])
    draft = HandleDrafts([request]).fitted(after)
    assert (draft.right == fit.right[BESIDE]).all()
    assert (draft.left == fit.left[1:][BESIDE[:-1]]).all()


@pytest.mark.parametrize("ease", [0.0, 0.3])
def test_drafts_of_quaternions_are_played_within_a_degree_or_two_of_the_fits(ease):
    generator = np.random.default_rng(9)
    for _ in range(20):
        q = rotations.normalise(np.array([2, 0, 0, 0]) + np.cumsum(generator.normal(size=(5, 4)) * 0.3, axis=0))
        spline = tcb.RotationSpline(Keys([0, 12, 20, 33, 41], q, 0.4, -0.3, 0.2, ease, ease))
        request = Request(spline, "QUATERNION")
        (fit,) = fit_handles([request])
        draft = HandleDrafts([request]).fitted(spline.keys.parameters)
        for key in range(4):
            points = [(fit.right[key], fit.left[key + 1]), (draft.right[key], draft.left[key])]
            one, other = (
                Rotation.from_quat(
                    np.stack([bezier(spline.keys, key, right[c], left[c], c) for c in range(4)], axis=1),
                    scalar_first=True,
                )
                for right, left in points
            )
            assert np.degrees((one * other.inv()).magnitude()).max() < (0.5 if not ease else 2.0)


def bezier(keys, key: int, right, left, component: int) -> np.ndarray:
    """Return the values of a channel between two keys, by bisection of the Bezier curve's parameter."""
    ends = [(keys.frames[at], keys.values[at, component]) for at in (key, key + 1)]
    points = np.array([ends[0], right, left, ends[1]], dtype=float)
    t = np.linspace(0.0, 1.0, 2001)[:, np.newaxis]
    curve = (
        (1 - t) ** 3 * points[0] + 3 * t * (1 - t) ** 2 * points[1] + 3 * t**2 * (1 - t) * points[2] + t**3 * points[3]
    )
    return np.interp(np.linspace(ends[0][0], ends[1][0], 41), *curve.T)
