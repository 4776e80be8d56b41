# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable preserves the motion: keys get the parameters that best fit the previous motion."""

from __future__ import annotations

import importlib
import inspect
import math

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.all_pairs import each_once
from tests.animation.curves import (
    MODES,
    PARAMETERS,
    curve,
    fcurves,
    given,
    insert,
    key,
    new_object,
    rotation_path,
    seen,
)

FRAMES = (1.0, 11.0, 16.0, 31.0, 40.0)
VALUES = ((0, 0, 0), (3, -1, 2), (1, 4, 0), (5, 0, 1), (2, 2, 2))
SET = {
    11.0: {"tension": 0.4, "bias": -0.3},
    16.0: {"continuity": -0.5},
    31.0: {"tension": -0.2, "continuity": 0.3, "bias": 0.1},
}


def parameters(animation, thing, path):
    """Return the nonzero parameters of each key."""
    result = {}
    for parameter in PARAMETERS if animation.find_track(thing, path).enabled else ():
        for frame, number in given(animation, thing, path, parameter):
            result.setdefault(frame, {})[parameter] = pytest.approx(number, abs=1e-7)
    return result


def motion(thing, path, components, frames):
    return np.array([[curve(thing, path, index).evaluate(frame) for index in range(components)] for frame in frames])


def as_plain_curves(animation, thing, path, output="CURVES"):
    """Bake the parameters in SET into Bezier keys without parameters, and without generated keys if possible."""
    animation.enable(thing, keep_look=False)
    for frame, numbers in SET.items():
        animation.key_set(thing, path, frame, **numbers)
    animation.bake(thing, output=output)
    animation.apply(thing)
    assert not parameters(animation, thing, path)


def test_parameters_that_made_a_motion_are_found_again(animation) -> None:
    thing = new_object()
    key(thing, "location", list(zip(FRAMES, VALUES, strict=True)))
    as_plain_curves(animation, thing, "location")
    assert len(curve(thing, "location").keyframe_points) == len(FRAMES)
    every = np.arange(4.0, 160.0) / 4
    before = motion(thing, "location", 3, every)
    report = animation.enable(thing)
    assert parameters(animation, thing, "location") == SET
    assert report.looks_kept == 1
    assert report.value_change < 1e-5
    animation.bake(thing, output="CURVES")
    assert np.abs(motion(thing, "location", 3, every) - before).max() < 1e-5


def keyed(mode="XYZ"):
    """Return an object with Blender's default Bezier keys on location and rotation."""
    thing = new_object(mode=mode)
    turns = {"QUATERNION": (1, 0, 0, 0), "AXIS_ANGLE": (0, 0.6, 0, 0.8)}.get(mode, (0, 0, 0))
    insert(thing, "location", zip(FRAMES, VALUES, strict=True))
    for frame, value in zip(FRAMES, VALUES, strict=True):
        if mode == "AXIS_ANGLE":
            turn = (value[0] / 6, *turns[1:])
        else:
            turn = tuple(base + number / 12 for base, number in zip(turns[-3:], value, strict=True))
            turn = (1.0, *turn) if mode == "QUATERNION" else turn
        insert(thing, rotation_path(mode), [(frame, turn)])
    return thing


def orientations(thing, frames):
    return [seen(frame, thing).matrix_basis.to_quaternion() for frame in frames]


def largest_angle(some, others):
    return max(
        min(a.rotation_difference(b).angle, (-a).rotation_difference(b).angle)
        for a, b in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_rotation_comes_nearer_to_what_it_was(animation, mode) -> None:
    every = np.arange(1.0, 40.5, 0.5)
    angles = {}
    for keep_look in (False, True):
        thing = keyed(mode)
        before = orientations(thing, every)
        report = animation.enable(thing, keep_look=keep_look)
        animation.bake(thing, output="CURVES")
        angles[keep_look] = largest_angle(before, orientations(thing, every))
    assert angles[True] < 0.6 * angles[False]
    assert angles[True] <= report.rotation_change + 2e-3
    assert report.looks_kept == 2


def turn_far(mode, seed):
    """Return an object with large rotations, whose values often change sign or represent the other direction."""
    generator = np.random.default_rng(seed)
    thing = new_object(mode=mode)
    count = 4 if mode in ("QUATERNION", "AXIS_ANGLE") else 3
    turns = generator.uniform(-3.0, 3.0, (5, count))
    insert(
        thing,
        rotation_path(mode),
        [(frame, tuple(turn)) for frame, turn in zip((1, 15, 37, 58, 80), turns, strict=True)],
    )
    return thing


@pytest.mark.parametrize(("seed", "mode"), each_once(range(4), MODES))
def test_the_largest_change_of_a_far_turn_is_found_between_the_samples_of_the_fit(animation, mode, seed) -> None:
    quarters = np.arange(1.0, 80.1, 0.25)
    thing = turn_far(mode, seed)
    before = orientations(thing, quarters)
    report = animation.enable(thing)
    animation.bake(thing, output="SAMPLES", step=0.25)
    assert report.rotation_change >= largest_angle(before, orientations(thing, quarters)) - 2e-3


@pytest.mark.parametrize("path", [None, "AS_KEYED"])
def test_a_quaternion_that_turns_half_round_in_a_moment_is_measured_there(animation, path) -> None:
    turn = math.radians(4.0)
    thing = new_object(mode="QUATERNION")
    keys = [(1, (1.0, 0.0, 0.0, 0.0)), (41, (-math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)))]
    insert(thing, "rotation_quaternion", keys)
    quarters = np.arange(1.0, 41.1, 0.25)
    before = orientations(thing, quarters)
    report = animation.enable(thing, path=path)
    animation.bake(thing, output="SAMPLES", step=0.25)
    assert report.rotation_change >= largest_angle(before, orientations(thing, quarters)) - 2e-3


def flipped(signs=(1, 1, -1, -1)):
    """Return an object whose rotation turns by 50 degrees per key, with quaternions of these signs."""
    thing = new_object(mode="QUATERNION")
    halves = np.radians(25.0 * np.arange(4.0))
    keys = [
        (1.0 + 15.0 * row, (sign * math.cos(half), 0.0, 0.0, sign * math.sin(half)))
        for row, (half, sign) in enumerate(zip(halves, signs, strict=True))
    ]
    insert(thing, "rotation_quaternion", keys)
    return thing


QUARTERS = np.arange(1.0, 46.1, 0.25)


@pytest.mark.parametrize("defaults", [{}, {"tension": 1.0}])
def test_a_quaternion_that_flips_takes_the_shortest_way_with_default_parameters(animation, defaults) -> None:
    thing, other = flipped(), flipped(signs=(1, 1, 1, 1))
    before = orientations(thing, QUARTERS)
    report = animation.enable(thing, defaults=defaults)
    animation.enable(other, keep_look=False)
    assert (report.looks_kept, report.looks_changed) == (0, 1)
    assert not parameters(animation, thing, "rotation")
    for item in (thing, other):
        animation.bake(item, step=0.25, defaults=defaults)
    after = orientations(thing, QUARTERS)
    assert largest_angle(after, orientations(other, QUARTERS)) < 1e-3
    assert report.rotation_change >= largest_angle(before, after) - 2e-3


@pytest.mark.parametrize(("signs", "frame"), [((1, -1, -1, 1), 16.0), ((1, 1, -1, -1), 31.0), ((1, 1, 1, -1), 46.0)])
def test_a_note_names_the_first_flip_and_the_way_out(animation, signs, frame) -> None:
    (note,) = (note for note in animation.enable(flipped(signs)).notes if note.code == "FLIP_NOT_KEPT")
    assert (note.object, note.track, note.frame) == ("Thing", "rotation_quaternion", frame)
    assert "undo, use Fix Rotations, and enable again" in str(note)


def test_as_keyed_keeps_the_flips_and_fits_them(animation) -> None:
    """The quaternions turn by more than half a turn between keys, which Blender plays as keyed."""
    changes = {}
    for path in ("SHORTEST", "AS_KEYED"):
        thing = new_object(mode="QUATERNION")
        angles = np.radians([0.0, 150.0, 400.0, 560.0])
        keys = [(1 + 15 * row, (math.cos(a / 2), 0.0, 0.0, math.sin(a / 2))) for row, a in enumerate(angles)]
        insert(thing, "rotation_quaternion", keys)
        before = orientations(thing, QUARTERS)
        report = animation.enable(thing, path=path)
        assert report.looks_kept == 1
        assert "FLIP_NOT_KEPT" not in {note.code for note in report.notes}
        assert animation.find_track(thing, "rotation").settings.path == path
        animation.bake(thing, output="SAMPLES", step=0.25)
        changes[path] = largest_angle(before, orientations(thing, QUARTERS))
    assert changes["AS_KEYED"] < 0.5 * changes["SHORTEST"]


def arm(mode, seed):
    """Return an arm with large rotations, whose angles are closest to their predecessors."""
    dice, turn, keys = np.random.default_rng(seed), Rotation.random(random_state=seed), []
    for _ in range(6):
        turn = turn * Rotation.from_rotvec(dice.normal(size=3) / 1.73 * dice.uniform(0.5, 2.6))
        if mode == "AXIS_ANGLE":
            vector = turn.as_rotvec()
            numbers = np.array([np.linalg.norm(vector), *(vector / np.linalg.norm(vector))])
        else:
            numbers = turn.as_euler(mode.lower())
            numbers = numbers + 2 * np.pi * np.rint(((keys[-1] if keys else numbers) - numbers) / (2 * np.pi))
        keys.append(numbers)
    thing = new_object("Arm", mode)
    key(thing, rotation_path(mode), list(zip((1, 13, 31, 42, 61, 76), map(tuple, keys), strict=True)))
    return thing


@pytest.mark.parametrize(
    ("mode", "seed"),
    [
        ("AXIS_ANGLE", 3),
        ("AXIS_ANGLE", 8),
        ("XYZ", 7),
        ("XYZ", 9),
    ],
)
def test_enable_takes_the_turns_with_which_an_arm_changes_less(animation, mode, seed) -> None:
    """Enable is compared, in Blender's evaluation, with Enable for chosen turns."""
    quarters = np.arange(1.0, 76.1, 0.25)

    def change(**chosen):
        thing = arm(mode, seed)
        before = orientations(thing, quarters)
        animation.enable(thing, **chosen)
        animation.bake(thing, step=0.25)
        return animation.find_track(thing, "rotation").settings.path, largest_angle(
            before, orientations(thing, quarters)
        )

    (path, taken), (_, shortest), (_, as_keyed) = change(), change(path="SHORTEST"), change(path="AS_KEYED")
    assert path == "AS_KEYED"
    assert taken == pytest.approx(as_keyed, rel=0.01)
    assert taken < 0.75 * shortest


@pytest.mark.parametrize("keep_look", [False, True])
def test_two_keys_at_one_frame_are_named(animation, keep_look) -> None:
    thing = keyed()
    points = curve(thing, "location", 1).keyframe_points
    points.add(1)
    points[-1].co = (11.0, 5.0)
    points[-1].handle_left, points[-1].handle_right = (10.0, 5.0), (12.0, 5.0)
    points.sort()
    notes = animation.enable(thing, ["location"], keep_look=keep_look).notes
    again = animation.enable(thing, ["location"], keep_look=keep_look).notes
    for said in (notes, again):
        assert [(note.object, note.track, note.frame) for note in said if note.code == "TWO_KEYS_AT_FRAME"] == [
            ("Thing", "location", 11.0)
        ]


def test_a_turn_about_one_axis_is_fitted_alike_however_the_others_are_turned(animation) -> None:
    changes = []
    for x, y in ((0.0, 0.0), (0.5, 0.7)):
        thing = new_object(mode="XYZ")
        thing.rotation_euler = (x, y, 0.0)
        insert(thing, "rotation_euler", list(zip(FRAMES, (0.0, 1.0, 0.5, 2.0, 1.5), strict=True)), 2)
        changes.append(animation.enable(thing).rotation_change)
    assert changes[1] == pytest.approx(changes[0], rel=1e-3)


def test_numbers_that_pass_through_no_rotation_are_no_change(animation) -> None:
    thing = new_object(mode="QUATERNION")
    insert(thing, "rotation_quaternion", [(1, (0.6, 0.0, 0.8, 0.0)), (41, (-0.6, 0.0, -0.8, 0.0))])
    report = animation.enable(thing)
    assert report.rotation_change < 1e-3
    assert report.looks_changed == 0


def test_the_report_says_the_largest_change_and_where(animation) -> None:
    thing = keyed()
    before = {index: curve(thing, "location", index) for index in range(3)}
    every = np.arange(1.0, 40.01, 0.05)
    old = {index: np.array([fcurve.evaluate(frame) for frame in every]) for index, fcurve in before.items()}
    report = animation.enable(thing, ["location"])
    animation.bake(thing, output="CURVES")
    change = np.max([np.abs(motion(thing, "location", 3, every)[:, i] - old[i]) for i in old], axis=0)
    assert report.value_change == pytest.approx(change.max(), rel=0.1)
    place = report.value_change_at
    assert (place.object, place.track) == ("Thing", "location")
    assert place.frame == pytest.approx(every[np.argmax(change)], abs=2.0)
    assert f"motion of 1 track fitted within {report.value_change:.3g}" in report.counts


def test_a_visible_change_is_not_called_preserved(animation) -> None:
    report = animation.Report(tracks=2, looks_kept=2, looks_changed=1, rotation_change=math.radians(178.0))
    assert report.counts == "2 tracks, motion of 2 tracks fitted within 178.0°"
    report.value_change = 0.25
    assert report.counts == "2 tracks, motion of 2 tracks fitted within 0.25 and 178.0°"
    rounded = animation.Report(tracks=2, looks_kept=2, value_change=3e-8, rotation_change=9e-16)
    assert rounded.counts == "2 tracks, motion of 2 tracks preserved"


OTHERS = ("CONSTANT", "SINE", "BOUNCE", "ELASTIC", "BACK")
EVERY = np.arange(-2.0, 45.0, 0.25)


def interpolated(kind, rows=tuple(range(5)), path="location"):
    thing = keyed()
    for fcurve in fcurves(thing):
        if fcurve.data_path == path:
            for row in rows:
                fcurve.keyframe_points[row].interpolation = kind
    return thing


@pytest.mark.parametrize(("output", "kind"), each_once(["SAMPLES", "CURVES", "HANDLES"], OTHERS))
def test_keys_of_other_interpolations_play_as_before_to_the_bit(animation, kind, output) -> None:
    thing = interpolated(kind)
    before = motion(thing, "location", 3, EVERY)
    report = animation.enable(thing, ["location"])
    assert report.looks_kept == 0
    assert not parameters(animation, thing, "location")
    assert [(note.track, note.code) for note in report.notes] == [("location", "NOT_BEZIER")]
    animation.bake(thing, output=output)
    assert np.array_equal(motion(thing, "location", 3, EVERY), before)
    animation.remove(thing)
    assert {point.interpolation for point in curve(thing, "location").keyframe_points} == {kind}


def test_a_track_of_linear_keys_alone_plays_tcb_and_a_note_says_so(animation) -> None:
    """Exporters write such keys."""
    thing, other = interpolated("LINEAR"), interpolated("BEZIER")
    report = animation.enable(thing, ["location"])
    (note,) = report.notes
    assert str(note).startswith('"Thing", Location, frame')
    assert "all keys were linear" in str(note)
    assert (report.looks_kept, report.looks_changed) == (0, 1)
    animation.enable(other, ["location"], keep_look=False)
    before = motion(thing, "location", 3, EVERY)
    for item in (thing, other):
        animation.bake(item)
    after = motion(thing, "location", 3, EVERY)
    assert np.array_equal(after, motion(other, "location", 3, EVERY))
    assert report.value_change == pytest.approx(np.abs(after - before).max(), rel=0.05)


def test_two_linear_keys_are_noted_where_they_turn(animation) -> None:
    """Between two values, the line is the same. Between Euler angles about three axes, the rotation is not."""
    for path, noted in (("location", False), ("rotation_euler", True)):
        thing = interpolated("LINEAR", path=path)
        for fcurve in fcurves(thing):
            while fcurve.data_path == path and len(fcurve.keyframe_points) > 2:
                fcurve.keyframe_points.remove(fcurve.keyframe_points[-1])
        notes = animation.enable(thing, [path]).notes
        assert bool(notes) is noted
        assert all("all keys were linear" in str(note) for note in notes)


def test_the_interpolation_of_the_last_key_plays_nothing(animation) -> None:
    thing = interpolated("LINEAR", [0, 1, 2, 3])
    (note,) = animation.enable(thing, ["location"]).notes
    assert "all keys were linear" in str(note)


@pytest.mark.parametrize("path", ["location", "rotation_euler"])
def test_what_cycles_is_fitted_as_the_cycle_that_it_becomes(animation, path) -> None:
    thing = keyed()
    for index in range(3):
        points = curve(thing, path, index).keyframe_points
        points[-1].co.y = points[0].co.y
        curve(thing, path, index).modifiers.new("CYCLES")
    animation.enable(thing, [path])
    every = np.arange(1.0, 40.1, 0.5)
    before = motion(thing, path, 3, every)
    animation.bake(thing, output="CURVES")
    assert np.abs(motion(thing, path, 3, every) - before).max() < 0.1 * np.ptp(before)


def test_parameters_that_are_there_are_left_alone(animation) -> None:
    thing = keyed()
    animation.key_set(thing, "location", 11, bias=0.5)
    report = animation.enable(thing)
    assert report.looks_kept == 1
    assert parameters(animation, thing, "location") == {11.0: {"bias": 0.5}}


@pytest.mark.parametrize("frames", [[5.0], [5.0, 9.0]])
def test_few_keys_are_enabled_too(animation, frames) -> None:
    thing = new_object()
    key(thing, "location", [(frame, VALUES[row + 1]) for row, frame in enumerate(frames)])
    report = animation.enable(thing)
    assert report.looks_kept == len(frames) - 1
    animation.bake(thing)


def test_an_action_that_two_objects_share_is_fitted_once(animation) -> None:
    thing, other = keyed(), new_object("Other")
    other.animation_data_create().action = thing.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = thing.animation_data.action_slot
    report = animation.enable_many({thing: None, other: None})
    assert (report.tracks, report.looks_kept, report.datablocks) == (2, 2, 1)


def test_the_functions_the_operators_and_the_command_preserve_the_motion_by_default(tcb_animation, animation) -> None:
    (declared,) = {animation.options.ENABLE["keep_look"].default}
    verbs = ("enable", "bake")
    functions = [
        inspect.signature(getattr(animation, name + many)).parameters["keep_look"].default
        for name in verbs
        for many in ("", "_many")
    ]
    operators = [getattr(bpy.ops.tcb, name).get_rna_type().properties["keep_look"].default for name in verbs]
    arguments = importlib.import_module(f"{tcb_animation.__name__}.cli.arguments")
    command = [arguments.parse([name, __file__, "--in-place"], "tcb").given.keep_look for name in verbs]
    assert declared is True
    assert functions + operators + command == [declared] * 8


@pytest.mark.parametrize("keep_look", [False, True])
@pytest.mark.parametrize("verb", ["bake", "bake_many"])
def test_a_bake_of_plain_tracks_enables_them_as_enable_does(animation, verb, keep_look) -> None:
    thing, other = keyed(), keyed()
    wanted = animation.enable(other, keep_look=keep_look)
    report = getattr(animation, verb)([thing] if verb == "bake_many" else thing, keep_look=keep_look)
    assert report.looks_kept == wanted.looks_kept == (2 if keep_look else 0)
    assert (report.value_change, report.rotation_change) == (wanted.value_change, wanted.rotation_change)
    for path in ("location", "rotation"):
        assert parameters(animation, thing, path) == parameters(animation, other, path)
        assert bool(parameters(animation, thing, path)) == keep_look


def test_only_enable_makes_plain_tracks_beside_tcb_tracks_tcb(animation) -> None:
    thing = keyed()
    animation.enable(thing, ["location"])
    notes = animation.bake_many([thing]).notes
    assert [(note.code, note.track) for note in notes] == [("NOT_BAKED", "rotation_euler")]
    assert animation.bake_many([thing], enable=True).tracks == 2
    assert animation.find_track(thing, "rotation").is_baked


@pytest.mark.parametrize("keep_look", [False, True])
def test_plain_tracks_stay_plain_where_the_tcb_tracks_have_lost_their_curves(animation, keep_look) -> None:
    thing = keyed()
    animation.enable(thing, ["location"])
    channels = animation.fcurves.channels.channels_of(thing)
    for fcurve in [fcurve for fcurve in fcurves(thing) if fcurve.data_path == "location"]:
        channels.remove(fcurve)
    with pytest.raises(animation.AnimationError, match="F-curves of the TCB tracks were deleted"):
        animation.bake(thing, keep_look=keep_look)
    assert not animation.find_track(thing, "rotation").enabled


def rotations(mode, rows):
    """Return the rotations that Euler angles, or angles and axes, represent."""
    if mode == "AXIS_ANGLE":
        axes = rows[:, 1:] / np.linalg.norm(rows[:, 1:], axis=1)[:, np.newaxis]
        return Rotation.from_rotvec(rows[:, :1] * axes)
    return Rotation.from_euler(mode.lower(), rows[:, ["XYZ".index(letter) for letter in mode]])


SPINS = [(0, 720, 1800), (0, 720, 1799), (0, 1080, 2160), (0, 720, 2160), (30, 380, 340), (0, 160, -170)]


@pytest.mark.parametrize(
    ("degrees", "mode", "output"),
    each_once(SPINS, ["XYZ", "ZXY", "AXIS_ANGLE"], ["SAMPLES", "CURVES", "HANDLES", "CURVES"]),
)
def test_a_fast_spin_about_one_axis_keeps_its_look_as_a_location_does(animation, degrees, mode, output) -> None:
    """The other two Euler angles rotate the axis. X has the same motion as a value with automatic handles."""
    frames, halves = (1.0, 50.0, 100.0), np.arange(1.0, 100.25, 1.0 if output == "SAMPLES" else 0.5)
    spin, slide = new_object("Spin", mode), new_object("Slide")
    path = rotation_path(mode)
    values = [(angle, 2.0, -3.0, 6.0) if mode == "AXIS_ANGLE" else (angle, 0.4, 0.0) for angle in np.radians(degrees)]
    insert(spin, path, list(zip(frames, values, strict=True)))
    insert(
        slide,
        "location",
        [(frame, (angle, 0.0, 0.0)) for frame, angle in zip(frames, np.radians(degrees), strict=True)],
    )
    angle = motion(slide, "location", 1, halves)[:, 0]
    report = animation.enable(spin)
    animation.bake(spin, output=output)
    played = rotations(mode, motion(spin, path, len(values[0]), halves))
    wanted = rotations(mode, np.column_stack((angle, np.tile(values[0][1:], (len(angle), 1)))))
    assert np.degrees((played * wanted.inv()).magnitude().max()) < 0.01
    assert report.rotation_change < math.radians(0.01)
    assert {note.code for note in report.notes} <= {"TURNS_KEPT"}


@pytest.mark.parametrize(
    ("turn", "drift", "mode", "output", "keep_look"),
    each_once(
        [720, 719, 350],
        [0.01, 1.0],
        ["XYZ", "ZXY", "AXIS_ANGLE", "XYZ"],
        ["SAMPLES", "CURVES", "HANDLES"],
        [True, False],
    ),
)
def test_a_steady_spin_stays_steady_while_its_axis_moves_slowly(
    animation, turn, drift, mode, output, keep_look
) -> None:
    """Between its keys, the angle about X and the tilt of the axis are linear in time."""
    thing = new_object("Spin", mode)

    def values(frame):
        angle, tilt = math.radians(turn) * (frame - 1) / 20, math.radians(drift) * (frame - 1) / 80
        return (angle, 1.0, tilt, -tilt) if mode == "AXIS_ANGLE" else (angle, tilt, -tilt)

    path = rotation_path(mode)
    key(thing, path, [(frame, values(frame)) for frame in (1, 21, 41, 61, 81)])
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "VECTOR"
        fcurve.update()
    frames = np.arange(1.0, 81.25, 1.0 if output == "SAMPLES" else 0.5)
    animation.enable(thing, keep_look=keep_look, path="AS_KEYED")
    animation.bake(thing, output=output)
    played = rotations(mode, motion(thing, path, len(values(1)), frames))
    wanted = rotations(mode, np.array([values(frame) for frame in frames]))
    assert np.degrees((played * wanted.inv()).magnitude().max()) < drift


@pytest.mark.parametrize(
    ("order", "spin", "output"),
    each_once(["XYZ", "YZX", "ZYX"], [0, 1, 2], ["SAMPLES", "CURVES", "HANDLES"]),
)
def test_a_spin_keeps_its_look_and_its_turns_while_another_angle_changes(animation, order, spin, output) -> None:
    frames, halves = (1.0, 50.0, 100.0), np.arange(1.0, 100.25, 1.0 if output == "SAMPLES" else 0.5)
    thing = new_object("Spin", order)
    values = np.zeros((3, 3))
    values[:, spin], values[:, (spin + 1) % 3] = np.radians((0, 720, 1799)), np.radians((0, 28.6, -17.2))
    insert(thing, "rotation_euler", list(zip(frames, map(tuple, values), strict=True)))
    wanted = rotations(order, motion(thing, "rotation_euler", 3, halves))
    report = animation.enable(thing)
    animation.bake(thing, output=output)
    played = rotations(order, motion(thing, "rotation_euler", 3, halves))
    assert np.degrees((played * wanted.inv()).magnitude().max()) < 1.0
    assert report.rotation_change < math.radians(1.0)
    assert report.notes == []
    turned, wanted_turns = ((each[1:] * each[:-1].inv()).magnitude().sum() for each in (played, wanted))
    assert np.degrees(turned) == pytest.approx(np.degrees(wanted_turns), abs=2.0)
