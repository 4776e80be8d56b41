# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of every method on which bakes, cycles and curves rely."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline, PPoly
from scipy.spatial.transform import Rotation

from interp import Keys, ease, evaluate_many, rotations
from interp.fitting import Request
from interp.fitting.curves import ROTATION_TOLERANCE, fit_many
from interp.splines import METHODS
from tests.all_pairs import all_pairs
from tests.interp.fitted_pieces import largest_difference, numbers_of
from tests.interp.references import REFERENCES, smoothness
from tests.interp.rotation_tracks import AXIS, CYCLES, NOT_EVEN, PATHS

SMOOTH = {"C1": 1, "C2": 2}


def made():
    """Return every class of every method, by name."""
    for method in METHODS.values():
        for kind, cls in (("values", method.values), ("rotations", method.rotations)):
            if cls is not None:
                yield pytest.param(cls, kind, id=f"{method.name}-{kind}")


ALL = list(made())
VALUES = [each for each in ALL if each.values[1] == "values"]
ROTATIONS = [each for each in ALL if each.values[1] == "rotations"]
BOUNDED = [each for each in ALL if smoothness(each.values[0])[1] is not None]
FREE_OF_AXES = [each for each in ROTATIONS if each.values[0] is not METHODS["ROLL_PITCH_YAW"].rotations]
EVEN = [each for each in FREE_OF_AXES if each.id.removesuffix("-rotations") not in NOT_EVEN]
WINDING = [each for each in ROTATIONS if hasattr(each.values[0], "from_turns")]

# If keys turn back and forth by three turns, a B-spline through them may not exist, because it would turn farther.
# Euler angles also fail. At three turns, some angles change by half a turn in a hundredth of a frame.
UP_TO_THREE = [each for each in WINDING if each.values[0] is not METHODS["B_SPLINE_THROUGH"].rotations]


def keys_of(generator, kind, count, closed=False, step=0.7, frames=None, **parameters):
    """Return keys that every method accepts, with values above 0 and turns of `step` radians."""
    if frames is None:
        frames = np.cumsum(generator.uniform(4.0, 14.0, count))
    if kind == "values":
        values = np.exp(generator.normal(size=(count, 3)) * 0.5)
    else:
        turns = generator.normal(size=(count, 3))
        turns *= step / np.linalg.norm(turns, axis=1, keepdims=True)
        values = rotations.turns_to_rotations(np.full(count, step), turns, first=generator.normal(size=4))
    if closed:
        values[-1] = values[0]
    return Keys(frames, values, **parameters)


def apart(kind, found, expected):
    if kind == "values":
        return np.abs(found - expected).max()
    return rotations.angle_between(found, expected).max()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [each.id.rsplit("-", 1) for each in ALL])
def test_it_is_what_another_s_formulas_give(name, kind):
    """tools/methods.py tests more tracks, and writes the errors to docs/measurements/methods.md."""
    for seed, count in enumerate((3, 5, 8)):
        generator = np.random.default_rng([seed, count])
        lengths = generator.uniform(3.0, 15.0, count)
        if count == 8 and name not in ("LOGARITHMIC", "LAGRANGE"):
            # Values of these two would be too large.
            lengths = 10.0 ** generator.uniform(-0.5, 1.5, count)
        frames = np.cumsum(lengths)
        drawn = REFERENCES[name][kind].draw(generator, frames)
        given = {} if drawn.velocities is None else {"velocities": drawn.velocities}
        spline = getattr(METHODS[name], kind)(Keys(frames, drawn.values, *drawn.parameters), **given)
        at = generator.uniform(frames[0], frames[-1], 10)
        assert apart(kind, spline(at), drawn.curve(at)) < (1e-12 if kind == "values" else 1e-14)
        if isinstance(drawn.curve, PPoly | BSpline):
            for nu in (1, 2):
                expected = drawn.curve(at, nu)
                np.testing.assert_allclose(spline(at, nu), expected, rtol=0, atol=2e-13 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize(("cls", "kind"), ALL)
@pytest.mark.parametrize("cycle", CYCLES)
def test_one_key_is_constant(cls, kind, cycle):
    keys = keys_of(np.random.default_rng(0), kind, 1)
    spline = cls(keys, cycle)
    at = keys.frames[0] + np.array([-5.0, 0.0, 7.0])
    assert apart(kind, spline(at), spline.keys.values) < 1e-15
    for nu in range(1, spline.derivatives + 1):
        assert (spline(at, nu) == 0.0).all()


@pytest.mark.parametrize(("cls", "kind"), ALL)
@pytest.mark.parametrize("cycle", CYCLES)
def test_two_keys_are_met_and_what_is_between_them_stays_between(cls, kind, cycle):
    keys = keys_of(np.random.default_rng(1), kind, 2)
    spline = cls(keys, cycle)
    at = np.linspace(keys.frames[0], keys.frames[1], 41)
    if spline.interpolating:
        assert apart(kind, spline(keys.frames), spline.keys.values) < 1e-14
    if kind == "values":
        low, high = np.sort(keys.values, axis=0)
        assert ((spline(at) >= low - 1e-14) & (spline(at) <= high + 1e-14)).all()
    else:
        whole = rotations.angle_between(*spline.keys.values)
        on_the_way = rotations.angle_between(spline(at), spline.keys.values[0])
        assert (on_the_way <= whole * 1.05).all()


@pytest.mark.parametrize(("cls", "kind"), ALL)
@pytest.mark.parametrize("cycle", CYCLES)
@pytest.mark.parametrize("keys", [3, 4, 7, 50])
def test_keys_are_met_where_it_says_so(cls, kind, cycle, keys):
    keys = keys_of(np.random.default_rng(2), kind, keys, cycle == "LOOP")
    spline = cls(keys, cycle)
    found = apart(kind, spline(keys.frames), spline.keys.values)
    if not spline.interpolating:
        assert found > 1e-3
    else:
        assert found == 0.0 if kind == "values" else found < 1e-14


@pytest.mark.parametrize(("cls", "kind"), ALL)
@pytest.mark.parametrize("cycle", ["SINGLE", "LOOP"])
def test_it_is_as_smooth_at_keys_and_across_the_seam_as_it_says(cls, kind, cycle):
    keys = keys_of(np.random.default_rng(3), kind, 7, cycle == "LOOP")
    spline = cls(keys, cycle)
    least = np.diff(keys.frames).min()
    frames = keys.frames[1:-1]
    before = frames - 1e-9
    jumps = [
        apart(kind, spline(before), spline(frames)),
        *(np.abs(spline(before, nu) - spline(frames, nu)).max() * least**nu for nu in (1, 2)),
    ]
    if cycle == "LOOP":
        ends = spline(keys.frames[-1]), spline(keys.frames[0])
        jumps[0] = max(jumps[0], apart(kind, *ends))
        for nu in (1, 2):
            gap = spline(keys.frames[-1], nu) - spline(keys.frames[0], nu)
            jumps[nu] = max(jumps[nu], np.abs(gap).max() * least**nu)
    continuity, _ = smoothness(cls)
    smooth = 0 if (cls, cycle) == (METHODS["LAGRANGE"].values, "LOOP") else SMOOTH.get(continuity, 0)
    assert max(jumps[: smooth + 1]) < 1e-6
    if smooth < 2:
        assert jumps[smooth + 1] > 1e-3


@pytest.mark.parametrize(("made", "cycle", "eased"), all_pairs(ALL, CYCLES, [False, True]))
def test_derivatives_are_those_of_what_it_plays(made, cycle, eased):
    cls, kind = made.values
    generator = np.random.default_rng(4)
    eases = generator.uniform(0.2, 0.6, (2, 6)) * eased
    keys = keys_of(generator, kind, 6, cycle == "LOOP", ease_to=eases[0], ease_from=eases[1])
    spline = cls(keys, cycle)
    h = 1e-3
    # Avoid jumps in the second derivative, which are at keys and the ends of eases.
    at = generator.uniform(keys.frames[0] - 5.0, keys.frames[-1] + 5.0, 200)
    around = spline((at[:, np.newaxis] + h * np.arange(-2, 3)).ravel(), 2).reshape(200, 5, -1)
    steady = np.abs(np.diff(around, axis=1)).max(axis=(1, 2)) < 0.01 * (1e-3 + np.abs(around).max())
    at = at[steady]
    assert len(at) > 100
    rows = [spline(at + step * h) for step in (-2, -1, 0, 1, 2)]
    if kind == "rotations":
        signs = [np.sign((row * rows[2]).sum(axis=1))[:, np.newaxis] for row in rows]
        rows = [row * sign for row, sign in zip(rows, signs, strict=True)]
    rate = (rows[0] - 8 * rows[1] + 8 * rows[3] - rows[4]) / (12 * h)
    if kind == "rotations":
        rate = 2.0 * rotations.multiply(rate, rotations.conjugate(rows[2]))[:, 1:]
    np.testing.assert_allclose(spline(at, 1), rate, rtol=0, atol=1e-8)
    rows = [spline(at + step * h, 1) for step in (-2, -1, 1, 2)]
    change = (rows[0] - 8 * rows[1] + 8 * rows[2] - rows[3]) / (12 * h)
    np.testing.assert_allclose(spline(at, 2), change, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("cls", "kind"), ALL)
@pytest.mark.parametrize("cycle", ["SINGLE", *(pytest.param(each, marks=pytest.mark.slow) for each in CYCLES[1:])])
def test_ease_changes_the_timing_and_not_the_way(cls, kind, cycle):
    generator = np.random.default_rng(5)
    eases = generator.uniform(0.0, 1.0, (2, 5))
    keys = keys_of(generator, kind, 5, cycle == "LOOP")
    eased = Keys(keys.frames, keys.values, ease_to=eases[0], ease_from=eases[1])
    u = np.linspace(0.0, 1.0, 11)
    for n in range(4):
        start, length = keys.frames[n], keys.frames[n + 1] - keys.frames[n]
        run = ease.ease(u, *ease.without_overlap(np.full(11, eases[1, n]), np.full(11, eases[0, n + 1])))
        found, expected = cls(eased, cycle)(start + u * length), cls(keys, cycle)(start + run * length)
        assert apart(kind, found, expected) < 1e-13


@pytest.mark.parametrize(("cls", "kind"), ALL)
def test_cycles_repeat_and_single_holds(cls, kind):
    keys = keys_of(np.random.default_rng(6), kind, 5, True)
    first, last = keys.frames[[0, -1]]
    at = np.linspace(first, last, 30)[1:-1]
    for cycle in ("REPEAT", "LOOP"):
        spline = cls(keys, cycle)
        for turns in (-2, 1):
            assert apart(kind, spline(at + turns * (last - first)), spline(at)) < 1e-12
    held = cls(keys)
    outside = [first - 1e9, np.nextafter(first, -np.inf), np.nextafter(last, np.inf), last + 1e9]
    assert apart(kind, held(outside), held([first, first, last, last])) == 0.0
    for nu in (1, 2):
        assert (held(outside, nu) == 0.0).all()


@pytest.mark.parametrize(("cls", "kind"), BOUNDED)
@pytest.mark.parametrize("support_from", ["before", "after"])
def test_a_segment_depends_on_no_key_beyond_its_reach_and_on_all_within(cls, kind, support_from):
    generator = np.random.default_rng(7)
    keys = keys_of(generator, kind, 11)
    # For the segment from key 5 to key 6. `support` counts these two keys.
    at = np.linspace(keys.frames[5], keys.frames[6], 9)
    _, support = smoothness(cls)
    assert support is not None
    farthest = 6 - support if support_from == "before" else 5 + support
    beyond = slice(None, farthest) if support_from == "before" else slice(farthest + 1, None)
    others = keys_of(generator, kind, 11).values
    for moved, differs in ((beyond, False), (farthest, True)):
        values, frames = keys.values.copy(), keys.frames.copy()
        values[moved] = others[moved]
        # Some methods use only the frame of the farthest key.
        frames[moved] += -1.0 if support_from == "before" else 1.0
        change = apart(kind, cls(keys)(at), cls(Keys(frames, values))(at))
        assert change > 1e-4 if differs else change < 1e-13


@pytest.mark.parametrize("nu", [0, 1, 2])
def test_a_mixture_of_all_methods_at_once_equals_one_by_one_to_the_bit(nu):
    generator = np.random.default_rng(8)
    splines = []
    for index, counts in enumerate(([1, 2, 3, 4], [2, 3, 5], [4, 9, 16], [33, 50])):
        path = {"path": PATHS[index % 2]}
        for each in ALL:
            cls, kind = each.values
            count = int(generator.choice(counts))
            cycle = CYCLES[(index + count) % 3]
            eases = generator.uniform(0.0, 1.0, count)
            keys = keys_of(generator, kind, count, cycle == "LOOP", ease_to=eases)
            splines.append(cls(keys, cycle, **path if each in FREE_OF_AXES else {}))
            if each in UP_TO_THREE:
                turns = generator.uniform(-9.0, 9.0, count), generator.normal(size=(count, 3)) * 0.2 + AXIS
                splines.append(cls.from_turns(keys.frames, *turns, ease_to=eases, cycle=cycle))
    at = np.linspace(-60.0, 500.0, 301)
    for spline, together in zip(splines, evaluate_many(splines, at, nu), strict=True):
        np.testing.assert_array_equal(together, spline(at, nu))


@pytest.mark.parametrize(("cls", "kind"), FREE_OF_AXES)
def test_turning_the_parent_turns_the_motion(cls, kind):
    generator = np.random.default_rng(9)
    keys = keys_of(generator, kind, 6)
    parent = rotations.normalise(generator.normal(size=4))
    at = np.linspace(keys.frames[0], keys.frames[-1], 50)
    turned = cls(Keys(keys.frames, rotations.multiply(parent, keys.values)))
    assert rotations.angle_between(turned(at), rotations.multiply(parent, cls(keys)(at))).max() < 1e-12
    expected = Rotation.from_quat(parent, scalar_first=True).apply(cls(keys)(at, 1))
    np.testing.assert_allclose(turned(at, 1), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("cls", "kind"), EVEN)
def test_about_a_diagonal_even_keys_are_played_at_a_constant_speed(cls, kind):
    spline = cls(Keys([0, 10, 20], rotations.from_axis_angle([[1, 1, 1]] * 3, np.radians([0, 120, 240]))))
    at = np.linspace(0.0, 20.0, 41)
    np.testing.assert_allclose(spline(at, 1), np.full((41, 3), np.radians(12.0) / np.sqrt(3.0)), rtol=0, atol=1e-15)
    expected = Rotation.from_rotvec(np.outer(np.radians(12.0 * at), [1, 1, 1]) / np.sqrt(3.0))
    assert rotations.angle_between(spline(at), expected.as_quat(scalar_first=True)).max() < 1e-14


@pytest.mark.parametrize(("cls", "kind"), ROTATIONS)
def test_the_signs_of_keys_do_not_matter_by_the_shortest_way(cls, kind):
    generator = np.random.default_rng(10)
    keys = keys_of(generator, kind, 7)
    flipped = Keys(keys.frames, keys.values * generator.choice([-1.0, 1.0], (7, 1)))
    at = np.linspace(keys.frames[0], keys.frames[-1], 50)
    assert rotations.angle_between(cls(keys)(at), cls(flipped)(at)).max() < 1e-14


@pytest.mark.parametrize(("cls", "kind"), ROTATIONS)
def test_what_it_plays_goes_on_in_sign_and_length(cls, kind):
    keys = keys_of(np.random.default_rng(11), kind, 7, step=1.5)
    q = cls(keys)(np.linspace(keys.frames[0], keys.frames[-1], 2000))
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).max() < 0.02
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "kind"), VALUES)
@pytest.mark.parametrize("eased", [False, True])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_values_as_curves_are_within_the_tolerance(cls, kind, eased, tolerance):
    generator = np.random.default_rng(12)
    eases = generator.uniform(0.0, 1.0, (2, 8)) * eased
    spline = cls(keys_of(generator, kind, 8, frames=np.arange(8) * 11.0, ease_to=eases[0], ease_from=eases[1]))
    (fit,) = fit_many([Request(spline, tolerance=tolerance, numbers=spline(spline.keys.frames))])
    assert fit.reached
    found = largest_difference(spline, spline(spline.keys.frames), fit)
    assert (found <= fit.errors[:-1] * 1.01 + 1e-12).all()
    if spline.is_cubic and not eased:
        assert [len(knots.frames) for knots in fit.knots] == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "held", "step"), all_pairs(ROTATIONS, ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"], [0.1, 1.0, 2.0])
)
def test_rotations_as_curves_are_within_the_tolerance(made, held, step):
    cls, kind = made.values
    generator = np.random.default_rng(13)
    eases = generator.uniform(0.0, 1.0, (2, 8)) * (generator.random((2, 8)) < 0.3)
    keys = keys_of(generator, kind, 8, frames=np.arange(8) * 20.0, step=step, ease_to=eases[0], ease_from=eases[1])
    spline = cls(keys)
    numbers = numbers_of(spline, held)
    (fit,) = fit_many([Request(spline, held, numbers, tolerance=ROTATION_TOLERANCE)])
    assert fit.reached
    found = largest_difference(spline, numbers, fit, held)
    assert (found <= fit.errors[:-1, 0] * 1.01).all()


@pytest.mark.parametrize(("cls", "kind"), WINDING)
def test_450_degrees_are_a_turn_and_a_quarter(cls, kind):
    spline = cls.from_turns([0, 10, 20], np.radians([0, 450, 450]), [AXIS] * 3)
    q = spline(np.linspace(0.0, 10.0, 400))
    angles = np.unwrap(2.0 * np.arctan2(q[:, 1:] @ AXIS, q[:, 0]), period=4.0 * np.pi)
    assert np.degrees(angles[-1] - angles[0]) == pytest.approx(450.0, abs=1e-9)
    assert np.abs(np.cross(q[:, 1:], AXIS)).max() < 1e-14
