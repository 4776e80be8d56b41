# SPDX-License-Identifier: GPL-3.0-or-later
"""Invalid arguments of `interp` raise TypeError or ValueError, which names the argument."""

from __future__ import annotations

import datetime
import inspect
import re
import warnings
from decimal import Decimal

import numpy as np
import pytest

import interp
from interp import Keys, KeysError, evaluate_many, rotations
from interp.fitting import Request, curves, handles
from interp.fitting.reduction import SampledTracks, low_pass, reduce_tracks
from interp.piecewise import PiecewiseSpline
from interp.retiming import ArcLength, ConstantSpeed, retimed
from interp.splines import METHODS, tcb

KEYS = Keys([0, 10, 30], [1.0, 2.0, 1.0])
TURNS = Keys([0, 10, 30], [[1, 0, 0, 0], [0.6, 0.8, 0, 0], [0.5, 0.5, 0.5, 0.5]])
SPLINE = tcb.VectorSpline(KEYS)
Q = [0.5, 0.5, -0.5, 0.5]
AXIS = [1.0, 2.0, 2.0]

NO_NUMBERS = {
    "texts": ["a", "b", "c"],
    "texts of numbers": np.array(["0", "1", "2"]),
    "a text": "012",
    "objects": [object(), object(), object()],
    "decimals": [Decimal(0), Decimal(1), Decimal(2)],
    "nothing": None,
    "dates": np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]"),
    "durations": np.array([0, 1, 2], dtype="timedelta64[s]"),
    "Python's dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "complex": np.array([0, 1, 2], dtype=np.complex128),
    "masked": np.ma.array([0.0, 1.0, 2.0], mask=[False, True, False]),
    "an array that could be masked and is not": np.ma.array([0.0, 1.0, 2.0], mask=[False, False, False]),
    "an array without a mask": np.ma.array([0.0, 1.0, 2.0]),
    "ragged": [[0.0], [1.0, 2.0], [3.0]],
    "a dictionary": {0: 1.0},
}
WRONG = pytest.mark.parametrize("wrong", [pytest.param(value, id=name) for name, value in NO_NUMBERS.items()])
CLASSES = [
    pytest.param(cls, KEYS if kind == "values" else TURNS, id=f"{method.name}-{kind}")
    for method in METHODS.values()
    for kind, cls in (("values", method.values), ("rotations", method.rotations))
    if cls is not None
]


def not_refused(function, pattern, errors=(TypeError, ValueError)):
    """Names of arguments that the function accepts, or rejects with another message than the pattern."""
    taken = []
    for name, wrong in NO_NUMBERS.items():
        try:
            function(wrong)
        except errors as error:
            if re.search(pattern, str(error)):
                continue
        taken.append(name)
    return taken


def names(error, name):
    return name.replace("_", " ") in str(error.value).replace("_", " ")


@WRONG
@pytest.mark.parametrize("name", ["frames", "values", "tension", "continuity", "bias", "ease_to", "ease_from"])
def test_keys_are_of_real_numbers(name, wrong):
    given = {"frames": [0, 1, 2], "values": [0.0, 0.1, 0.2]}
    with pytest.raises((TypeError, ValueError)) as error:
        Keys(**{**given, name: wrong})
    assert names(error, name)


@WRONG
@pytest.mark.parametrize("name", ["frames", "angles", "axes", "tension", "ease_to", "first"])
def test_turns_are_of_real_numbers(name, wrong):
    given = {"frames": [0, 1, 2], "angles": [0.0, 0.1, 0.2], "axes": np.eye(3)}
    for method in METHODS.values():
        if hasattr(method.rotations, "from_turns"):
            with pytest.raises((TypeError, ValueError)) as error:
                method.rotations.from_turns(**{**given, name: wrong})
            assert names(error, name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64, np.longdouble, np.bool_])
def test_numbers_of_any_type_are_taken(dtype):
    assert Keys(np.array([0, 1], dtype=dtype), np.array([1, 0], dtype=dtype)).values.dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "key", "words"),
    [
        (([0, 1e308], [0.0, 1.0]), 1, r"the magnitude of the frame is above 1e\+100"),
        (([-1e308, 0], [0.0, 1.0]), 0, r"the magnitude of the frame is above 1e\+100"),
        (
            ([0, 1], [[0.0, 1.0], [1.0, -1e308]]),
            1,
            r"component 1 of the value is -1e\+308, with a magnitude above 1e\+301",
        ),
        (([0, 5e-324], [0.0, 0.0]), 1, "so close to the previous key"),
        (([0, 1, 1 + 1e-12], [0.0, 1e300, 0.0]), 2, "so close to the previous key"),
        (([0, 1, 1 + 1e-12], [0.0, 0.0, 1e300]), 2, "so close to the previous key"),
    ],
)
def test_what_float64_could_not_hold_is_refused_with_the_key(arguments, key, words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeysError, match=words) as error:
            Keys(*arguments)
    assert error.value.key == key


@pytest.mark.parametrize("name", ["angles", "axes"])
def test_turns_that_float64_could_not_hold_are_refused(name):
    given = {"angles": [0.0, 1.0], "axes": [[0.0, 0.0, 1.0]] * 2}
    given[name] = np.asarray(given[name]) * 1e308
    with pytest.raises(KeysError, match=r"key 0|key 1"):
        tcb.RotationSpline.from_turns([0, 1], **given)


@pytest.mark.parametrize(
    ("frames", "size"),
    [([0, 1, 2, 4], 1e301), ([0, 1e100, 1.1e100], 1.0), ([0, 1e-100, 2e-100, 1e-85], 1.0), ([0, 1e-16, 1], 1e268)],
)
@pytest.mark.parametrize(("cls", "keys"), CLASSES)
def test_the_largest_numbers_that_keys_take_give_numbers(cls, keys, frames, size):
    """A method may also raise an error that it can't loop, for example a polynomial."""
    generator = np.random.default_rng(5)
    given = np.where(generator.uniform(size=(5, len(frames))) < 0.5, -1.0, 1.0)
    given[3:] = 0.0
    sides = np.where(np.arange(len(frames)) % 2, -size, size)
    values = sides if keys is KEYS else size * rotations.from_axis_angle(np.tile(AXIS, (len(frames), 1)), frames)
    if keys is TURNS:
        values = np.where(np.abs(values) > 1e301, 1e301, values) if size > 1.0 else values
        values = values * 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            spline = cls(Keys(frames, values, *given))
        except KeysError:
            return
        at = np.concatenate((frames, np.diff(frames) / 3 + frames[:-1], [-1e100, 1e100]))
        for nu in range(spline.derivatives + 1):
            assert np.isfinite(spline(at, nu)).all()


@pytest.mark.parametrize(
    "wrong", ["x", None, [0, 1], KEYS.values, SPLINE], ids=["text", "none", "list", "array", "spline"]
)
@pytest.mark.parametrize(("cls", "keys"), CLASSES)
def test_a_spline_is_made_of_keys(cls, keys, wrong):
    with pytest.raises(TypeError, match=r"^keys must be Keys, not "):
        cls(wrong)


@pytest.mark.parametrize(("cls", "keys"), CLASSES)
def test_a_cycle_that_there_is_not_is_named(cls, keys):
    for wrong in ("X", 5, None, ["LOOP"]):
        with pytest.raises((TypeError, ValueError), match=r"^cycle must be one of SINGLE, REPEAT, LOOP, not "):
            cls(keys, wrong)


@pytest.mark.parametrize(("cls", "keys"), CLASSES)
def test_frames_to_evaluate_at_are_real_numbers(cls, keys):
    spline = cls(keys)
    assert not not_refused(spline, "^frames")
    assert not not_refused(lambda wrong: evaluate_many([spline], wrong), "^frames")


@pytest.mark.parametrize("wrong", ["x", 1.5, None, -1, 3, [1]])
def test_a_derivative_that_there_is_not_is_named(wrong):
    with pytest.raises((TypeError, ValueError), match=r"\bnu\b"):
        SPLINE(1.0, wrong)
    with pytest.raises((TypeError, ValueError), match=r"\bn\b"):
        SPLINE.derivative(wrong)
    with pytest.raises((TypeError, ValueError), match=r"\bnu\b"):
        SPLINE.derivative()(1.0, wrong)


@pytest.mark.parametrize("wrong", [10**400, -(10**400), 10**101, np.float32(np.inf), [1e308]])
def test_frames_that_float64_can_not_hold_are_refused(wrong):
    with pytest.raises(ValueError, match=r"^frames must be (finite|at most 1e)"):
        SPLINE(wrong)


@pytest.mark.parametrize("wrong", ["x", None, 5, SPLINE, ["x"], [None], [SPLINE, KEYS]])
def test_what_is_evaluated_are_splines(wrong):
    with pytest.raises(TypeError, match=r"^splines must be a sequence of splines"):
        evaluate_many(wrong, [1.0])


@pytest.mark.parametrize("wrong", ["x", None, [KEYS], [None]])
def test_what_is_joined_or_timed_are_splines(wrong):
    with pytest.raises(TypeError, match=r"^runs must be "):
        PiecewiseSpline(wrong)
    for made in (ArcLength, ConstantSpeed):
        with pytest.raises(TypeError, match=r"^splines must be "):
            made(wrong)


@WRONG
def test_lengths_and_rates_are_real_numbers(wrong):
    arc = ArcLength([SPLINE])
    for name, call in (
        ("frames", arc.at),
        ("frames", arc.speed),
        ("frames", ConstantSpeed([SPLINE])),
        ("lengths", arc.frames),
        ("frames", lambda frames: retimed(SPLINE, frames)),
        ("rates", lambda rates: retimed(SPLINE, [0.0, 1.0, 2.0], 1, rates)),
        ("changes", lambda changes: retimed(SPLINE, [0.0, 1.0, 2.0], 2, 1.0, changes)),
    ):
        with pytest.raises(TypeError, match=f"^{name} must be an array of numbers"):
            call(wrong)


def test_frames_lengths_and_rates_are_finite_and_the_first_that_is_not_is_named():
    arc, function = ArcLength([SPLINE]), ConstantSpeed([SPLINE])
    for name, call in (
        ("frames", SPLINE),
        ("frames", SPLINE.to_ppoly()),
        ("frames", lambda frames: evaluate_many([SPLINE], frames)),
        ("frames", lambda frames: retimed(SPLINE, frames)),
        ("frames", arc.at),
        ("frames", arc.speed),
        ("frames", function),
        ("frames", function.pace),
        ("lengths", arc.frames),
        ("rates", lambda rates: retimed(SPLINE, [0.0, 1.0, 2.0], 1, rates)),
        ("changes", lambda changes: retimed(SPLINE, [0.0, 1.0, 2.0], 2, 1.0, changes)),
    ):
        for wrong in (np.nan, np.inf, -np.inf):
            with pytest.raises(ValueError, match=f"^{name} must be finite, not {wrong} at index 1$"):
                call([0.0, wrong, np.nan])
    for call in (SPLINE, SPLINE.to_ppoly(), function, function.pace, arc.at, arc.frames):
        with pytest.raises(ValueError, match=r"must be finite, not nan$"):
            call(np.nan)
        with pytest.raises(ValueError, match=r"must be finite, not nan at index \(1, 0\)$"):
            call([[0.0, 1.0], [np.nan, 2.0]])


@pytest.mark.parametrize("made", [ArcLength, ConstantSpeed])
def test_what_is_timed_is_at_least_one_spline(made):
    with pytest.raises(ValueError, match=r"^splines must contain at least one spline$"):
        made([])


@pytest.mark.parametrize("wrong", [[1.0, 2.0, 3.0], [], [[1.0, 2.0]]], ids=["three", "none", "two dimensions"])
def test_rates_are_as_many_as_frames(wrong):
    with pytest.raises(
        ValueError, match=r"^rates must be one number, or 2 numbers, one per frame, not an array of shape \("
    ):
        retimed(SPLINE, [1.0, 2.0], 1, wrong)
    with pytest.raises(
        ValueError, match=r"^changes must be one number, or 2 numbers, one per frame, not an array of shape \("
    ):
        retimed(SPLINE, [1.0, 2.0], 2, 1.0, wrong)


@pytest.mark.parametrize("wrong", [[0, 1], np.array([1.0]), "x", None, 1j, {}], ids=repr)
def test_an_integral_is_from_one_number_to_another(wrong):
    for call in (SPLINE.integrate, SPLINE.to_ppoly().integrate):
        with pytest.raises(TypeError, match=r"^a must be a number, not "):
            call(wrong, 2)
        with pytest.raises(TypeError, match=r"^b must be a number, not "):
            call(0, wrong)


@pytest.mark.parametrize(
    ("wrong", "words"), [(np.nan, "be finite, not nan"), (1e101, "be at most"), (10**400, "be at most")]
)
def test_the_ends_of_an_integral_are_finite(wrong, words):
    with pytest.raises(ValueError, match=f"^a must {words}"):
        SPLINE.integrate(wrong, 2)
    with pytest.raises(ValueError, match=f"^b must {words}"):
        SPLINE.integrate(0, wrong)


TURNING = tcb.RotationSpline(TURNS)
NO_REQUEST = "requests must contain Request objects with splines, not "
NO_BOOLS = f"segments must have one bool for each of {len(KEYS)} keys, not "


@pytest.mark.parametrize("fit", [curves.fit_many, handles.fit_handles])
@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        *((wrong, TypeError, NO_REQUEST) for wrong in (None, 5, SPLINE, "x")),
        *(((wrong,), TypeError, f"{NO_REQUEST}Request") for wrong in (None, 5, "x")),
        ((TURNING, None), ValueError, "a rotation needs a representation"),
        ((TURNING, "X"), ValueError, "a rotation representation is QUATERNION, .* not 'X'"),
        ((TURNING, "QUATERNION", "q"), TypeError, "numbers must be an array of numbers, not "),
        ((TURNING, "QUATERNION", np.full((len(TURNS), 4), np.nan)), ValueError, "numbers must be finite, not "),
        ((SPLINE, "QUATERNION"), ValueError, "only rotations can have a representation"),
        ((tcb.VectorSpline(Keys([0, 9], np.eye(2))), "XYZ"), ValueError, "only rotations can have a representation"),
        *(
            ((SPLINE, None, None, wrong), ValueError, NO_BOOLS)
            for wrong in (True, [True], [1, 0], "x", np.ones((len(KEYS), 1), dtype=bool))
        ),
    ],
)
def test_what_can_not_be_fitted_is_named(fit, wrong, error, words):
    with pytest.raises(error, match=f"^{words}"):
        fit([Request(*wrong, tolerance=0.1) if isinstance(wrong, tuple) else wrong])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (0.0, ValueError),
        (-1.0, ValueError),
        (np.nan, ValueError),
        (None, TypeError),
        ("x", TypeError),
        ([1], TypeError),
    ],
)
def test_the_tolerance_of_a_fit_is_a_number_above_0(wrong, error):
    with pytest.raises(error, match=r"^tolerance must be "):
        curves.fit_many([Request(SPLINE, tolerance=wrong)])


def test_handles_are_of_as_many_numbers_as_there_are_keys():
    given = {"frames": [0, 1, 2], "values": [0, 1, 0], "incoming": [0, 0, 0], "outgoing": [0, 0, 0]}
    curves.handles(**given)
    for name in ("values", "incoming", "outgoing"):
        with pytest.raises(ValueError, match=f"^{name} must have"):
            curves.handles(**{**given, name: [0, 1]})
    with pytest.raises(ValueError, match=r"^frames must be one-dimensional, .* \(1, 3\)$"):
        curves.handles(**{**given, "frames": [[0, 1, 2]]})
    for name in given:
        with pytest.raises(TypeError, match=f"^{name} must be an array of numbers"):
            curves.handles(**{**given, name: "abc"})


SAMPLES = np.sin(np.arange(40.0) / 9.0)[np.newaxis, :, np.newaxis]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], "there must be at least one part"),
        ([SampledTracks(SAMPLES[0], np.array([0.1]))], r"samples of part 0 must have the shape \(tracks, frames, d\)"),
        ([SampledTracks(SAMPLES[:, :0], np.array([0.1]))], "samples of part 0 must have the shape"),
        (
            [SampledTracks(SAMPLES, np.array([0.1])), SampledTracks(SAMPLES[:, 1:], np.array([0.1]))],
            "samples of part 1 must have the shape",
        ),
        ([SampledTracks(SAMPLES * np.nan, np.array([0.1]))], "samples of part 0 must be finite"),
        ([SampledTracks(SAMPLES, 0.1)], "the tolerance of part 0 must be above 0"),
        ([SampledTracks(SAMPLES, np.array([0.1, 0.1]))], "the tolerance of part 0 must be above 0"),
        ([SampledTracks(SAMPLES, np.array([0.0]))], "the tolerance of part 0 must be above 0"),
        ([SampledTracks(SAMPLES, np.array([np.nan]))], "the tolerance of part 0 must be above 0"),
    ],
)
def test_what_can_not_be_reduced_is_named(parts, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        reduce_tracks(parts)


def test_a_method_of_reduction_that_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"^method must be one of HERMITE, TCB, not 'X'"):
        reduce_tracks([SampledTracks(SAMPLES, np.array([0.1]))], method="X")


@pytest.mark.parametrize("wrong", ["x", [1.0, 2.0], [[np.nan]], None])
def test_samples_to_be_filtered_are_rows_of_finite_numbers(wrong):
    with pytest.raises((TypeError, ValueError), match=r"^samples must "):
        low_pass(wrong, 5.0)


PLAIN = {
    "p": Q,
    "q": Q,
    "t": 0.3,
    "v": AXIS,
    "axis": AXIS,
    "angle": 1.0,
    "default_axis": AXIS,
    "vectors": AXIS,
    "matrix": np.eye(3),
    "start": AXIS,
    "start_axis": AXIS,
    "start_angle": 1.0,
    "first": Q,
    "walked": AXIS,
    "axes": AXIS,
    "values": np.array([AXIS, AXIS]),
}
CHOICES = {"order": "ZYX", "representation": "ZYX", "convention": "3DS", "path": "AS_KEYED"}
ONE_RESULT_PER_TRACK = (rotations.walk_euler, rotations.walk_axis_angle, rotations.split_full_turns)
FUNCTIONS = [
    pytest.param(function, id=name)
    for name, function in inspect.getmembers(rotations, inspect.isfunction)
    if name in rotations.__all__
]


def plain(function):
    """Return one value for each argument. Angles are three Euler angles, or the angle of one turn."""
    several = inspect.signature(function).parameters
    given = {**PLAIN, **CHOICES, "angles": 1.0}
    if function in (rotations.from_euler, rotations.turns_of_euler):
        given["angles"] = AXIS
    elif function is rotations.walk_euler:
        given["angles"] = np.array([AXIS, AXIS])
    elif function is rotations.walk_axis_angle:
        given |= {"angles": np.ones(2), "axes": np.array([AXIS, AXIS])}
    return {name: given[name] for name in several}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rotations_are_of_real_numbers(function):
    given = plain(function)
    for name in given:
        if name not in CHOICES:
            pattern = f"^{name} must be an array of numbers"
            assert not not_refused(lambda wrong, name=name: function(**{**given, name: wrong}), pattern, TypeError)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rotations_have_their_components(function):
    given = plain(function)
    for name, value in given.items():
        if name not in CHOICES and np.ndim(value) and name != "vectors" and not (name == "angles" and "axes" in given):
            with pytest.raises(ValueError, match=f"^{name} must have"):
                function(**{**given, name: np.zeros(5)})
            with pytest.raises(ValueError, match=f"^{name} must have"):
                function(**{**given, name: 1.0})
        elif name in CHOICES:
            for wrong in ("X", 5, None, ["XYZ"]):
                with pytest.raises(ValueError, match=f"^{name} must be one of"):
                    function(**{**given, name: wrong})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_rotation_gives_what_it_gives_among_others(function):
    given = plain(function)
    if set(given) <= set(CHOICES) or function in ONE_RESULT_PER_TRACK:
        return
    shared = {"t", "default_axis", "start", "start_axis", "start_angle", "first"} | set(CHOICES)
    several = {name: value if name in shared else np.array(value)[np.newaxis] for name, value in given.items()}
    once, among = function(**given), function(**several)
    once, among = (each if isinstance(each, tuple) else (each,) for each in (once, among))
    for one, (row,) in zip(once, among, strict=True):
        assert np.shape(one) == np.shape(row)
        np.testing.assert_array_equal(one, row)


def test_all_that_is_public_is_tried():
    assert set(interp.__all__) == {
        "Keys",
        "KeysError",
        "SplineBatch",
        "__version__",
        "evaluate_many",
        "rotations",
        "tcb",
    }
    known = {name for function in FUNCTIONS for name in inspect.signature(function.values[0]).parameters}
    assert known - set(PLAIN) - set(CHOICES) == {"angles"}


def test_what_has_no_derivative_of_a_retimed_motion_is_named():
    for nu in (1.0, 2.0, "1"):
        with pytest.raises(TypeError, match=r"^nu must be an integer"):
            retimed(SPLINE, [1.0], nu=nu)
    with pytest.raises(TypeError, match=r"^spline must be a spline, not \["):
        retimed([SPLINE], [1.0])


@pytest.mark.parametrize(("period", "error"), [(np.inf, ValueError), (np.nan, ValueError), ("10", TypeError)])
def test_a_filter_has_a_finite_period(period, error):
    with pytest.raises(error, match=r"^period must be"):
        low_pass(np.zeros((10, 1)), period)


def test_integers_of_more_than_64_bits_are_frames() -> None:
    assert SPLINE(2**64).tolist() == SPLINE(1e19).tolist()
    assert SPLINE.to_ppoly().integrate(0, 2**64) == SPLINE.to_ppoly().integrate(0, float(2**64))
