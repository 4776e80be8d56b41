# SPDX-License-Identifier: GPL-3.0-or-later
"""FBX files made by hand: slopes of all kinds of keys, transforms, and damage."""

from __future__ import annotations

import random
import struct
from itertools import pairwise

import numpy as np
import pytest

from formats import fbx
from formats.fbx.binary import read_records
from formats.fbx.curves import read_curve
from formats.motion import Curve, MotionError, NodeMotion
from tests.formats import fuzz_motion
from tests.formats.fbx_layout import (
    CUBIC,
    LINEAR,
    TCB,
    TICKS,
    USER,
    WEIGHTED,
    KeyCurve,
    Model,
    Record,
    curve_record,
    file_bytes,
    scene_bytes,
)
from tests.formats.motionbuilder_tcb import TCB_KEYS, TCB_VALUES
from tests.formats.mutations import mutate

OVERRIDE = 1
"""The number of the blend mode of a layer that replaces the layers below."""
TIMES = (0.0, 1.0, 2.5, 3.0)
VALUES = (0.0, 4.0, -2.0, 1.0)


def moved(curve: KeyCurve, **properties: tuple[float, ...]) -> NodeMotion:
    """Return the motion of a model with keys on x."""
    given = {name.replace("_", " "): values for name, values in properties.items()}
    data = scene_bytes([Model("Box", 0, given, {"Lcl Translation": (curve, None, None)})])
    (take,) = fbx.read(data).takes
    return take.motions[0]


def curve_of(curve: KeyCurve) -> Curve:
    track = moved(curve).tracks["translation"]
    assert track is not None
    assert track.curves is not None
    return track.curves[0]


def test_tcb_keys_play_what_motionbuilder_plays() -> None:
    ticks, values, parameters = TCB_KEYS
    data = [(*each, 0.0) for each in parameters]
    curve = curve_of(KeyCurve(np.array(ticks) / 46186158000, values, [CUBIC | TCB] * 10, data))
    np.testing.assert_allclose(curve(np.arange(61) / 24.0), TCB_VALUES, atol=2e-6)


@pytest.mark.parametrize(("after", "is_noted"), [("", False), ("C", False), ("K", True), ("R", True), ("M", True)])
def test_one_note_reports_curves_that_do_not_hold_their_end_values(after: str, is_noted: bool) -> None:
    curve = KeyCurve(TIMES, VALUES, [LINEAR] * 4, after=after)
    file = fbx.read(scene_bytes([Model("Box", curves={"Lcl Translation": (curve, curve, None)})]))
    assert len(file.notes) == is_noted


def test_a_second_layer_is_added_with_its_animated_weight() -> None:
    base, added = (KeyCurve((0.0, 4.0), values, [LINEAR] * 2) for values in ((0.0, 4.0), (10.0, 10.0)))
    weight = KeyCurve((0.0, 4.0), (0.0, 100.0), [LINEAR] * 2)
    model = Model("Box", 0, {}, {"Lcl Translation": (base, None, None)}, {"Lcl Translation": (added, None, None)})
    (take,) = fbx.read(scene_bytes([model], weight=weight)).takes
    times = np.array([0.0, 1.0, 4.0])
    np.testing.assert_allclose(take.motions[0].tracks["translation"].evaluate(times)[:, 0], times + 10.0 * times / 4.0)


def test_keys_below_a_layer_that_replaces_them_are_left_out() -> None:
    base = KeyCurve(TIMES, VALUES, [LINEAR] * 4)
    replacing = KeyCurve((0.0, 3.0), (5.0, 8.0), [LINEAR] * 2)
    model = Model("Box", 0, {}, {"Lcl Translation": (base,) * 3}, {"Lcl Translation": (replacing,) * 3})
    (take,) = fbx.read(scene_bytes([model], blend_mode=OVERRIDE)).takes
    track = take.motions[0].tracks["translation"]
    assert track.curves is not None
    assert [curve.times.tolist() for curve in track.curves] == [[0.0, 3.0]] * 3
    np.testing.assert_allclose(track.evaluate(np.array([1.0])), [[6.0, 6.0, 6.0]])


def test_the_extrapolation_of_a_weight_is_noted() -> None:
    curve = KeyCurve((0.0, 4.0), (0.0, 100.0), [LINEAR] * 2)
    model = Model("Box", 0, {}, {"Lcl Translation": (curve,) * 3}, {"Lcl Translation": (curve,) * 3})
    weight = KeyCurve((0.0, 4.0), (0.0, 100.0), [LINEAR] * 2, after="R")
    assert len(fbx.read(scene_bytes([model], weight=weight)).notes) == 1


def test_a_weighted_segment_passes_through_the_points_of_its_bezier_curve() -> None:
    packed = struct.unpack("<f", struct.pack("<HH", 8000, 1000))[0]
    data = [(2.0, -1.0, packed, 0.0), (0.0, 0.0, 0.0, 0.0)]
    curve = curve_of(KeyCurve((0.0, 2.0), (1.0, 3.0), [CUBIC | USER | WEIGHTED] * 2, data))
    points = np.array([(0.0, 1.0), (1.6, 1.0 + 1.6 * 2.0), (1.8, 3.0 + 0.2), (2.0, 3.0)])
    t = np.linspace(0.0, 1.0, 33)[:, np.newaxis]
    # de Casteljau's algorithm
    level = [np.broadcast_to(point, (33, 2)) for point in points]
    while len(level) > 1:
        level = [a + t * (b - a) for a, b in pairwise(level)]
    np.testing.assert_allclose(curve(level[0][:, 0]), level[0][:, 1], atol=2e-6)


@pytest.mark.parametrize("version", [7100, 7400, 7500, 7700])
def test_versions_with_short_and_long_records_are_read(version: int) -> None:
    data = scene_bytes([Model("Root"), Model("Child", 1)], version)
    assert [(node.name, node.parent) for node in fbx.read(data).nodes] == [("Root", -1), ("Child", 0)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an FBX file"),
        (b"; FBX 7.4.0 project file", "a text FBX file"),
        (file_bytes([], 6100), "version 6100"),
        (scene_bytes([Model("A", 2), Model("B", 1)]), "its own ancestor"),
        (file_bytes([Record("Objects", (), [Record("Model", [b"no number"])])]), "has no ID"),
    ],
)
def test_what_is_no_sound_file_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(MotionError, match=words):
        fbx.read(data)


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (KeyCurve((1.0, 0.0), (0, 0), (LINEAR, LINEAR)), "key 1 is earlier than the previous key"),
        (KeyCurve((0.0, 1.0), (0, np.inf), (LINEAR, LINEAR)), "the time or value of key 1 is not finite"),
        (KeyCurve((0.0, 1.0), (0, 0, 0), (LINEAR, LINEAR)), "attributes differ"),
    ],
)
def test_damaged_curves_are_refused_by_key(curve: KeyCurve, words: str) -> None:
    with pytest.raises(MotionError, match=words):
        moved(curve)


def test_counts_of_attributes_whose_sum_overflows_are_refused() -> None:
    record = curve_record(7, KeyCurve(TIMES, VALUES, [LINEAR] * 4))
    *arrays, counts = record.inner
    record.inner = [*arrays, Record(counts.name, [np.array([2**62, 2**62, 2**62, 2**62 + 4])])]
    (found,) = read_records(file_bytes([Record("Objects", (), [record])])).find("Objects") or ()
    with pytest.raises(MotionError, match="attributes do not cover all 4 keys"):
        read_curve(found, TICKS)


def test_an_array_that_grows_beyond_its_length_is_refused() -> None:
    data = scene_bytes([Model("Box", 0, {}, {"Lcl Translation": (KeyCurve(TIMES, VALUES, [LINEAR] * 4), None, None)})])
    place = data.index(b"KeyTime") + len(b"KeyTime") + 1
    with pytest.raises(MotionError, match="has 25 bytes, not 24"):
        fbx.read(data[:place] + struct.pack("<I", 3) + data[place + 4 :])


def test_damaged_files_raise_nothing_but_the_readers_own_error() -> None:
    curve = KeyCurve(TIMES, VALUES, [CUBIC | TCB] * 4)
    seed = scene_bytes([Model("Box", 0, {}, {"Lcl Translation": (curve, curve, None), "Lcl Rotation": (curve,) * 3})])
    outcomes = {fuzz_motion.judge(mutate(random.Random(number), seed, [seed])) for number in range(300)}
    assert outcomes == {"read", "refused"}
