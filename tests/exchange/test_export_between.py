# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments with interpolations other than Bezier in exported files.

After import, their playback is compared with the original at whole frames, the only frames of 3D Studio.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from formats import three_ds
from tests.all_pairs import all_pairs, each_once
from tests.animation.curves import MODES, fcurves, key, new_object, rotation_path
from tests.animation.rotations import rotations_near_each_other, values_of
from tests.exchange.files import object_name
from tests.exchange.matrices import world

FRAMES = (0, 7, 12, 30, 36)
ROW = [(value, 2 * value, -value) for value in (0.0, 3.0, 1.0, 5.0, 2.0)]
"""Values on a line."""
PLACES = [(0, 0, 0), (3, 4, -1), (1, 5, 2), (5, -2, 0), (2, 0, 3)]
KINDS = ["CONSTANT", "LINEAR", "SINE", "BACK", "BOUNCE", "ELASTIC"]
AT = range(-1, 39)
Parameters = Sequence[dict[str, float]]
SPREAD: Parameters = (
    {"tension": 0.4, "ease_from": 0.5},
    {"bias": -0.5, "ease_to": 0.3},
    {"continuity": -0.6, "ease_to": 0.4, "ease_from": 0.2},
    {"tension": -0.5, "bias": 0.3},
    {"continuity": 0.5},
)
NEAR = 2e-5
"""Tolerance for float32 rounding and elastic curves. Unchanged keys are more accurate."""


@pytest.fixture
def taken_back(give, tmp_path: Path) -> Callable[[str], tuple[list[Matrix], list[Matrix], three_ds.Node]]:
    """taken_back(name): the object's matrices before export and after import, and its node."""

    def take(name: str):
        before = [world(name, frame) for frame in AT]
        made = give()
        bpy.ops.import_anim.tcb_3ds(filepath=str(tmp_path / "given.3ds"), output="SAMPLES")
        node = next(node for node in made.nodes if object_name(node) == name.encode())
        return before, [world(f"{name}.001", frame) for frame in AT], node

    return take


def apart(before: list[Matrix], after: list[Matrix]) -> list[float]:
    return np.abs(np.array(before) - np.array(after)).max(axis=(1, 2)).tolist()


def choose(item: bpy.types.Object, kinds: dict[int, str], path: str = "location", **numbers: object) -> None:
    """Set the interpolations of keys, given by row."""
    for fcurve in fcurves(item):
        if fcurve.data_path == path:
            for row, kind in kinds.items():
                fcurve.keyframe_points[row].interpolation = kind
                for name, number in numbers.items():
                    setattr(fcurve.keyframe_points[row], name, number)
            fcurve.update()


def moved(animation, values, parameters: Parameters = ()) -> bpy.types.Object:
    item = new_object("Box")
    key(item, "location", [*zip(FRAMES, values, strict=True)])
    animation.enable(item, keep_look=False)
    for frame, given in zip(FRAMES, parameters, strict=False):
        animation.key_set(item, "location", frame, **given)
    return item


@pytest.mark.parametrize(("parameters", "row", "kind"), all_pairs([(), SPREAD], range(4), KINDS))
def test_what_was_played_on_a_line_comes_back_with_its_keys(
    scene,
    animation,
    taken_back,
    said,
    kind: str,
    row: int,
    parameters: Parameters,
) -> None:
    item = moved(animation, ROW, parameters)
    choose(item, {row: kind})
    animation.bake(item)
    before, after, node = taken_back("Box")
    assert max(apart(before, after)) < NEAR
    frames = node.track("POSITION").frames.tolist()
    assert set(frames) >= set(FRAMES)
    start, end = FRAMES[row : row + 2]
    added = {"CONSTANT": [end - 1], "LINEAR": []}.get(kind, list(range(start + 1, end)))
    assert sorted(set(frames) - set(FRAMES)) == added
    note = f"1 constant or eased segment was exported with {len(added)} additional keys"
    assert (note in said()) == bool(added)


@pytest.mark.parametrize("kinds", [{0: "CONSTANT"}, {1: "SINE"}, {2: "LINEAR"}, {1: "CONSTANT", 2: "BOUNCE"}])
def test_a_spline_that_keys_can_not_end_is_sampled_and_told(
    scene,
    animation,
    taken_back,
    said,
    kinds: dict[int, str],
) -> None:
    """With three axes, the end of a spline through three keys does not follow the chord."""
    item = moved(animation, PLACES, SPREAD)
    choose(item, kinds)
    animation.bake(item)
    before, after, node = taken_back("Box")
    assert max(apart(before, after)) < NEAR
    if kinds in ({0: "CONSTANT"}, {1: "SINE"}, {2: "LINEAR"}):
        spline = {0: (7, 36), 1: (12, 36), 2: (0, 12)}[next(iter(kinds))]
        assert set(node.track("POSITION").frames.tolist()) >= set(range(spline[0], spline[1] + 1))
        count = spline[1] - spline[0] + 1
        assert (
            f"1 spline next to a constant or eased segment was exported as {count} samples, because the file cannot "
            "end a spline there" in said()
        )
    else:
        assert "cannot end" not in said()


def test_a_held_value_is_held_up_to_the_jump(scene, animation, taken_back) -> None:
    item = moved(animation, PLACES)
    choose(item, dict.fromkeys(range(5), "CONSTANT"))
    animation.bake(item)
    before, after, node = taken_back("Box")
    assert max(apart(before, after)) < 1e-6
    assert node.track("POSITION").frames.tolist() == [0, 6, 7, 11, 12, 29, 30, 35, 36]


@pytest.mark.parametrize(("kind", "mode"), each_once(KINDS, MODES))
def test_rotations_come_back_with_their_keys(scene, animation, taken_back, said, mode: str, kind: str) -> None:
    item = new_object("Box", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(3), 5, 1.0))
    path = rotation_path(mode)
    key(item, path, [*zip(FRAMES, rows, strict=True)])
    animation.enable(item, keep_look=False)
    for frame, given in zip(FRAMES, SPREAD, strict=True):
        animation.key_set(item, "rotation", frame, **given)
    choose(item, {2: kind}, path)
    animation.bake(item)
    before, after, node = taken_back("Box")
    assert max(apart(before, after)) < NEAR
    frames = node.track("ROTATION").frames.tolist()
    added = {"CONSTANT": [29]}.get(kind, list(range(13, 30)))
    assert sorted(set(frames) - set(FRAMES)) == added
    assert "cannot end" not in said()


@pytest.mark.parametrize("construction", ["DE_CASTELJAU", "SQUAD"])
@pytest.mark.parametrize("ends", ["3DS", "TANGENT"])
def test_rotations_of_either_construction_and_ends_come_back(
    scene, animation, taken_back, construction: str, ends: str
) -> None:
    item = new_object("Box", "QUATERNION")
    rows = values_of("QUATERNION", rotations_near_each_other(random.Random(5), 5, 1.4))
    key(item, "rotation_quaternion", [*zip(FRAMES, rows, strict=True)])
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", construction=construction, ends=ends)
    animation.key_set(item, "rotation", 30, tension=0.3, bias=0.5, continuity=-0.2)
    choose(item, {1: "CONSTANT"}, "rotation_quaternion")
    animation.bake(item)
    before, after, _ = taken_back("Box")
    # The tolerance of a bake, for ends that the file can only approximate.
    assert max(apart(before, after)) < 1e-3


def test_more_than_a_turn_comes_back_beside_what_is_held(scene, animation, taken_back) -> None:
    item = new_object("Box", "XYZ")
    turns = [(0, 0, math.radians(angle)) for angle in (0, 500, 400, 1200, 0)]
    key(item, "rotation_euler", [*zip(FRAMES, turns, strict=True)])
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", path="AS_KEYED")
    choose(item, {1: "CONSTANT"}, "rotation_euler")
    animation.bake(item)
    before, after, _ = taken_back("Box")
    assert max(apart(before, after)) < NEAR


def test_one_axis_that_goes_straight_needs_no_keys(scene, animation, taken_back, said) -> None:
    item = new_object("Box", "XYZ")
    key(item, "rotation_euler", [*zip(FRAMES, [(0, 0, angle) for angle in (0, 0.5, 2, 1, 3)], strict=True)])
    animation.enable(item, keep_look=False)
    choose(item, {1: "LINEAR", 2: "LINEAR"}, "rotation_euler")
    animation.bake(item)
    before, after, node = taken_back("Box")
    assert max(apart(before, after)) < NEAR
    assert node.track("ROTATION").frames.tolist() == list(FRAMES)
    assert "additional keys" not in said()


def test_an_imported_track_whose_key_is_held_since_is_written_anew(scene, animation, give, tmp_path) -> None:
    for path, kind in (("location", "POSITION"), ("rotation_quaternion", "ROTATION")):
        item = new_object("Box", "QUATERNION")
        key(item, "location", [*zip(FRAMES, ROW, strict=True)])
        rows = values_of("QUATERNION", rotations_near_each_other(random.Random(5), 5, 1.0))
        key(item, "rotation_quaternion", [*zip(FRAMES, rows, strict=True)])
        animation.enable(item, keep_look=False)
        give()
        bpy.data.objects.remove(item)
        bpy.ops.import_anim.tcb_3ds(filepath=str(tmp_path / "given.3ds"))
        choose(bpy.data.objects["Box"], {1: "CONSTANT"}, path)
        (node,) = (node for node in give().nodes if object_name(node) == b"Box")
        for each in ("POSITION", "ROTATION"):
            assert (11 in node.track(each).frames.tolist()) == (each == kind)
        bpy.data.objects.remove(bpy.data.objects["Box"])


def test_keys_are_added_at_whole_frames_of_the_file(scene, animation, give, tmp_path: Path) -> None:
    """The scene has two frames for each frame of the file, and a key between frames of the file."""
    scene.render.fps = 60
    item = new_object("Box")
    key(item, "location", [*zip((0, 14, 25, 60), ROW[:4], strict=True)])
    animation.enable(item, keep_look=False)
    choose(item, {1: "CONSTANT", 2: "SINE"})
    animation.bake(item)
    before = [world("Box", frame)[:3, 3] for frame in range(0, 62, 2)]
    track = give(timing="TIME").nodes[0].track("POSITION")
    assert track.frames.tolist() == [0, 7, 11, 12, *range(13, 30), 30]
    bpy.ops.import_anim.tcb_3ds(filepath=str(tmp_path / "given.3ds"), timing="TIME", output="SAMPLES")
    off = [np.abs(world("Box.001", frame)[:3, 3] - before[frame // 2]).max() for frame in range(0, 62, 2)]
    # The file has the key of frame 25 at frame 24.
    assert max(off[:12] + off[13:]) < NEAR


def test_added_keys_count_to_the_limit_of_samples(scene, animation, give) -> None:
    item = moved(animation, ROW)
    choose(item, {2: "SINE"})
    with pytest.raises(RuntimeError, match=r'"Box", Location: 17 samples would exceed'):
        give(sample_limit=16)
    give(sample_limit=17)
