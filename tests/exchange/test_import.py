# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of nodes, tracks and keys of every kind by the operator."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
import re
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from formats import three_ds
from tests.animation import reference
from tests.animation.curves import fcurves, new_object
from tests.exchange.composition import Composition, matrix_of, numbers
from tests.exchange.files import box, camera, save, scene, spotlight, track
from tests.exchange.matrices import world
from tests.exchange.scenes import (
    THREE_PLACES,
    TILTED,
    TWO_ROTATIONS,
    UPRIGHT,
    family,
    scene_with_everything,
    spun,
    watched,
    with_much_to_leave,
)
from tests.lines_run import lines_run

Import = Callable[..., three_ds.Scene]


@pytest.fixture
def bring(scene, tmp_path: Path) -> Import:
    """Import a scene as a file, with the operator's options by name."""

    def bring(made: three_ds.Scene, output: str = "SAMPLES", **options) -> three_ds.Scene:
        bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "made.3ds", made), output=output, **options)
        return made

    return bring


def turned(frame: float, name: str = "Box") -> np.ndarray:
    return world(name, frame)[:3, :3]


Y_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""The rotation of an import with Y as the up axis."""


@pytest.mark.parametrize(
    ("ids", "options", "turn"),
    [
        (True, {}, np.eye(3)),
        (False, {}, np.eye(3)),
        (True, {"axis_forward": "-Z", "axis_up": "Y", "global_scale": 0.1}, 0.1 * Y_UP),
    ],
)
def test_children_with_pivots_follow_parents(bring: Import, ids: bool, options: dict, turn: np.ndarray) -> None:
    composition = Composition(bring(family(ids=ids), **options))
    for frame in (0, 3, 10, 17, 25):
        for index, name in enumerate(("Child", "Parent")):
            corners = [world(name, frame) @ (*vertex.co, 1) for vertex in bpy.data.objects[name].data.vertices]
            expected = composition.vertices(index, frame) @ turn.T
            assert np.array(corners)[:, :3] == pytest.approx(expected, abs=1e-5)
            if not options:
                assert world(name) == pytest.approx(composition.world(index, frame), abs=1e-5)


def test_nodes_that_are_their_own_ancestors_have_a_note(bring: Import, said) -> None:
    nodes = [three_ds.Node("OBJECT", name, parent=1 - index) for index, name in enumerate((b"A", b"B"))]
    bring(scene(*nodes))
    assert bpy.data.objects["A"].parent is None
    assert bpy.data.objects["B"].parent == bpy.data.objects["A"]
    assert "node 'A': the node is its own ancestor" in said()


def test_a_mirrored_mesh_has_the_vertices_of_the_file(bring: Import) -> None:
    matrix = np.eye(4)
    matrix[:3] = [[0, 0, 2, 5], [1, 0, 0, 6], [0, 1, 0, 7]]
    mirrored = box(b"Box", matrix @ np.diag([-1.0, 1, 1, 1]))
    # Its node has the same matrix, except for the mirror, which only the mesh has.
    turn = track("ROTATION", (0, -math.radians(120), 1, 1, 1))
    tracks = track("POSITION", (0, 5, 6, 7)), turn, track("SCALE", (0, 1, 1, 2))
    made = bring(scene(three_ds.Node("OBJECT", b"Box", tracks=tracks), objects=(mirrored,)))
    corners = [world("Box") @ (*vertex.co, 1) for vertex in bpy.data.objects["Box"].data.vertices]
    assert isinstance(mirrored.content, three_ds.Mesh)
    assert mirrored.content.matrix is not None
    assert np.linalg.det(mirrored.content.matrix[:3]) < 0 < np.linalg.det(matrix)
    assert np.array(corners)[:, :3] == pytest.approx(made.objects[0].content.vertices, abs=1e-5)


def test_one_note_counts_the_skipped_content(bring: Import, said) -> None:
    bring(with_much_to_leave())
    assert [polygon.vertices[:] for polygon in bpy.data.objects["Bad"].data.polygons] == [(0, 1, 2), (4, 6, 7)]
    lines = said()
    left = "2 materials, 2 degenerate faces, 2 doubled faces, 2 smoothing groups"
    assert lines.count("Info: Skipped: ") == lines.count(f"Info: Skipped: {left}\n") == 1
    # The status bar shows the last line.
    assert lines.splitlines()[-1].startswith("Info: Created 3 meshes, ")


def test_matched_objects_have_no_note_on_skipped_content(bring: Import, said) -> None:
    new_object("Bad")
    bring(with_much_to_leave(), target="MATCH")
    assert "Skipped: " not in said()


def test_dummies_are_empties_with_their_names(bring: Import) -> None:
    bring(scene(three_ds.Node("OBJECT", b"$$$DUMMY", instance_name=b"Root")))
    assert bpy.data.objects["Root"].type == "EMPTY"


def test_texture_coordinates_are_imported(bring: Import) -> None:
    made = bring(scene(three_ds.Node("OBJECT", b"Box"), objects=(box(b"Box"),)))
    mesh = bpy.data.objects["Box"].data
    expected = made.objects[0].content.texture_coordinates[made.objects[0].content.faces.ravel()]
    assert np.array([loop.uv[:] for loop in mesh.uv_layers[0].data]) == pytest.approx(expected)


def test_objects_without_nodes_are_placed_as_in_the_editor(bring: Import) -> None:
    matrix = np.eye(4)
    matrix[:3] = [[0, -2, 0, 5], [1, 0, 0.3, 6], [0, 0, -1, 7]]
    made = bring(three_ds.Scene(three_ds.Editor((box(b"Box", matrix), camera(b"Camera")))))
    corners = [world("Box") @ (*vertex.co, 1) for vertex in bpy.data.objects["Box"].data.vertices]
    assert np.array(corners)[:, :3] == pytest.approx(made.objects[0].content.vertices, abs=1e-5)
    assert -world("Camera")[:3, 2] == pytest.approx(np.ones(3) / math.sqrt(3), abs=1e-6)


@pytest.mark.parametrize(("kind", "thing"), [("CAMERA", camera), ("SPOTLIGHT", spotlight)])
@pytest.mark.parametrize("up", ["Z", "Y"])
def test_cameras_and_spotlights_aim_at_their_targets_and_roll(bring: Import, kind: str, thing, up: str) -> None:
    roll = track("ROLL", (0, -10), (12, 400), (30, 90), parameters={1: (0.5, 0, 0.5, 0, 0)})
    axes = {"axis_forward": "-Z" if up == "Y" else "Y", "axis_up": up}
    composition = Composition(bring(scene(*watched(kind, roll), objects=(thing(b"Eye"),)), **axes))
    turn = Y_UP if up == "Y" else np.eye(3)
    for frame in (0, 5, 12, 21, 30):
        expected = composition.world(0, frame)
        assert world("Eye", frame)[:3, :3] == pytest.approx(turn @ expected[:3, :3], abs=1e-5), frame
        assert world("Eye")[:3, 3] == pytest.approx(turn @ expected[:3, 3], abs=1e-5)


def test_children_of_a_camera_keep_their_place_in_its_view(bring: Import) -> None:
    eye, target = watched("CAMERA", track("ROLL", (0, 20), (30, 60)))
    held = three_ds.Node("OBJECT", b"Held", parent=0, tracks=(THREE_PLACES, TWO_ROTATIONS))
    for axes in ({}, {"axis_forward": "-Z", "axis_up": "Y"}):
        composition = Composition(bring(scene(eye, target, held, objects=(camera(b"Eye"),)), **axes))
        turn = Y_UP if axes else np.eye(3)
        for frame in (0, 12, 30):
            found = world("Held.001" if axes else "Held", frame)
            expected = composition.world(2, frame)
            assert found[:3, 3] == pytest.approx(turn @ expected[:3, 3], abs=1e-5)
            assert found[:3, :3] == pytest.approx(turn @ expected[:3, :3] @ turn.T, abs=1e-5)


def test_the_lens_follows_the_field_of_view_by_a_simple_driver(bring: Import) -> None:
    fov = track("FOV", (0, 45), (20, 100), (30, 20), parameters={1: (-0.5, 0, 0.3, 0, 0)})
    bring(scene(*watched("CAMERA", fov), objects=(camera(b"Eye"),)))
    lens = bpy.data.objects["Eye"].data
    assert all(curve.driver.is_simple_expression for curve in lens.animation_data.drivers)
    for frame in range(0, 31, 3):
        bpy.context.scene.frame_set(frame)
        shown = bpy.data.objects["Eye"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert math.degrees(shown.angle_x) == pytest.approx(numbers(fov, frame)[0], abs=1e-4)


def test_the_cones_of_a_spotlight_become_its_size_and_blend(bring: Import) -> None:
    hotspot = track("HOTSPOT", (0, 20), (30, 60))
    falloff = track("FALLOFF", (0, 50), (10, 80), (30, 70), parameters={1: (0, 0.5, 0, 0, 0)})
    colors = track("COLOR", (0, 1, 0.5, 0), (30, 0, 0.5, 1))
    bring(scene(*watched("SPOTLIGHT", hotspot, falloff, colors), objects=(spotlight(b"Eye"),)))
    for frame in (0, 4, 10, 22, 30):
        bpy.context.scene.frame_set(frame)
        light = bpy.data.objects["Eye"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        size, inner = math.radians(numbers(falloff, frame)[0]), math.radians(numbers(hotspot, frame)[0])
        assert light.spot_size == pytest.approx(size, abs=1e-5)
        # Blender fades from cos(size / 2) to this fraction of the way to 1.
        fades_from = math.cos(size / 2) + light.spot_blend * (1 - math.cos(size / 2))
        assert fades_from == pytest.approx(math.cos(inner / 2), abs=1e-5)
        assert light.color[:] == pytest.approx(numbers(colors, frame), abs=1e-5)


@pytest.mark.parametrize("kind", ["CAMERA", "SPOTLIGHT"])
def test_nothing_depends_on_itself(bring: Import, capfd, kind: str) -> None:
    more = track("ROLL", (0, 0), (9, 50)), track("FOV", (0, 45), (9, 50)), track("FALLOFF", (0, 45), (9, 50))
    bring(scene(*watched(kind, *more), objects=((camera if kind == "CAMERA" else spotlight)(b"Eye"),)))
    bpy.context.scene.frame_set(5)
    bpy.context.view_layer.update()
    assert "Dependency cycle" not in "".join(capfd.readouterr())


def test_each_hide_key_toggles_visibility(bring: Import) -> None:
    node = three_ds.Node("OBJECT", b"Box", tracks=(track("HIDE", (5,), (9,)),))
    bring(scene(node, objects=(box(b"Box"),)))
    seen = []
    for frame in (0, 4.9, 5, 8.9, 9, 50):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        item = bpy.data.objects["Box"]
        assert item.hide_viewport == item.hide_render
        seen.append(item.hide_render)
    assert seen == [False, False, True, True, False, False]


def test_morph_keys_become_markers_with_a_note(bring: Import, said) -> None:
    bring(scene(three_ds.Node("OBJECT", b"Face", tracks=(track("MORPH", (0, "Smile"), (12, "Frown")),))))
    markers = bpy.data.objects["Face"].animation_data.action.pose_markers
    assert [(marker.frame, marker.name) for marker in markers] == [(0, "Smile"), (12, "Frown")]
    assert '"Face", morph: 2 morph keys were imported as markers' in said()


@pytest.mark.parametrize("target", ["CREATE", "MATCH"])
def test_children_of_the_ambient_light_get_its_parent(bring: Import, said, target: str) -> None:
    for name in ("Child", "Alone", "Parent") if target == "MATCH" else ():
        new_object(name)
    bpy.context.scene.world = bpy.data.worlds.new("World") if target == "MATCH" else None
    ambient = (three_ds.Node("AMBIENT", b"$AMBIENT$", parent=parent) for parent in (None, 4))
    child, alone = (three_ds.Node("OBJECT", name, parent=at) for name, at in ((b"Child", 1), (b"Alone", 0)))
    parent = three_ds.Node("OBJECT", b"Parent", tracks=(THREE_PLACES,))
    bring(scene(*ambient, child, alone, parent), target=target)
    for name, place in (("Alone", (0, 0, 0)), ("Child", (1, 2, 3) if target == "CREATE" else (0, 0, 0))):
        assert world(name, 0)[:3, 3] == pytest.approx(place), name
    lines = said()
    assert '"Child": the parent is the ambient light, which has no position, so "Parent" became the parent' in lines
    assert (
        '"Alone": the parent is the ambient light, which has no position, so the object was imported without a parent'
        in lines
    )


UNIT = tuple(np.array([1.0, 2, 2]) / 3)


def spun_to(keys: list[tuple], frame: float, axis=UNIT, start=TILTED) -> np.ndarray:
    """Return the rotation of `spun` at a frame, from the turned degrees at the keys."""
    angle = math.radians(reference.scalar(keys, frame, ends="3DS"))
    q = reference.of_axis_angle(-start[0], start[1:])
    return matrix_of(reference.product(reference.of_axis_angle(angle, axis), q))


@pytest.mark.parametrize(
    ("start", "axis", "mode"),
    [
        (UPRIGHT, (0.0, 0, 1), "XYZ"),
        (TILTED, (0.0, 0, 1), "XYZ"),
        (TILTED, (0.0, 1, 0), "XZY"),
        (UPRIGHT, UNIT, "AXIS_ANGLE"),
        (TILTED, UNIT, "QUATERNION"),
    ],
)
def test_full_turns_are_kept(bring: Import, start, axis, mode: str) -> None:
    bring(spun(start, (*axis, 450), (*axis, -720), (*axis, 90), tension=0.3))
    assert bpy.data.objects["Box"].rotation_mode == mode
    keys = [(0, 0.0), (10, 450.0, 0.3, 0, 0, 0, 0), (20, -270.0), (30, -180.0)]
    for frame in range(31):
        assert turned(frame) == pytest.approx(spun_to(keys, frame, axis, start), abs=2e-5), frame


def test_whole_turns_about_a_tilted_axis_are_euler_keys_with_turns_about_one_axis(bring: Import, animation) -> None:
    bring(spun(TILTED, (*UNIT, 400), (*UNIT, 20)))
    item = bpy.data.objects["Box"]
    assert item.rotation_mode not in ("QUATERNION", "AXIS_ANGLE")
    assert animation.find_track(item, "rotation").settings.path == "ONE_AXIS"
    for frame in range(21):
        expected = spun_to([(0, 0.0), (10, 400.0), (20, 420.0)], frame)
        assert turned(frame) == pytest.approx(expected, abs=2e-5), frame


@pytest.mark.parametrize("rest", [(0.0, 0, 0, 0), (0.0, 0, 1, 0)])
def test_a_rest_between_full_turns_keeps_their_axis(bring: Import, rest) -> None:
    bring(spun(UPRIGHT, (*UNIT, 450), rest, (*UNIT, 720)))
    keys = [(0, 0.0), (10, 450.0), (20, 450.0), (30, 1170.0)]
    for frame in range(31):
        assert turned(frame) == pytest.approx(spun_to(keys, frame, start=UPRIGHT), abs=2e-5), frame


def test_turns_that_no_rotation_mode_can_represent_have_a_note(bring: Import, said) -> None:
    bring(spun(TILTED, (*UNIT, 720), (*UNIT, 90)))
    assert "imported as samples" in said()


def test_large_arcs_take_the_long_way_unless_the_path_is_shortest(bring: Import) -> None:
    made = spun(TILTED, (*UNIT, 300), (*UNIT, 20))
    bring(made)
    assert turned(3) == pytest.approx(spun_to([(0, 0.0), (10, 300.0), (20, 320.0)], 3), abs=1e-5)
    bring(made, use_shorter_turns=True)
    assert turned(3, "Box.001") == pytest.approx(spun_to([(0, 0.0), (10, -60.0), (20, -40.0)], 3), abs=1e-5)


def test_handles_need_only_the_keys_of_the_file(bring: Import, said) -> None:
    bring(spun(TILTED, (*UNIT, 60), (*UNIT, 20)), output="HANDLES")
    channels = fcurves(bpy.data.objects["Box"])
    assert [len(fcurve.keyframe_points) for fcurve in channels] == [3] * 4
    assert not any(point.type == "GENERATED" for fcurve in channels for point in fcurve.keyframe_points)
    assert turned(3) == pytest.approx(spun_to([(0, 0.0), (10, 60.0), (20, 80.0)], 3), abs=2e-3)


def test_turns_that_handles_play_inaccurately_are_baked_as_samples(bring: Import, said) -> None:
    bring(spun(TILTED, (*UNIT, 300), (*UNIT, 20)), output="HANDLES", rotations="EULER")
    lines = said()
    assert (
        '"Box", Euler Rotation: the track was baked as samples, because handles would have a maximum error of' in lines
    )
    assert "up to 300.0 degrees. To shorten it, import with Shortest Turns" in lines
    assert "Shortest Turns may reduce the error" in lines
    assert "approximate" not in lines
    assert turned(3) == pytest.approx(spun_to([(0, 0.0), (10, 300.0), (20, 320.0)], 3), abs=1e-5)


def test_euler_angles_rotate_the_same(bring: Import) -> None:
    node = three_ds.Node("OBJECT", b"Box", tracks=(TWO_ROTATIONS,))
    composition = Composition(bring(scene(node, objects=(box(b"Box"),)), rotations="EULER"))
    assert bpy.data.objects["Box"].rotation_mode == "XYZ"
    for frame in range(26):
        assert turned(frame) == pytest.approx(composition.world(0, frame)[:3, :3], abs=1e-5)


def test_the_last_of_several_keys_at_one_frame_is_imported(bring: Import, said) -> None:
    places = track("POSITION", (0, 0, 0, 0), (20, 5, 0, 0), (20, 7, 0, 0), (30, 9, 0, 0))
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(places,)), objects=(box(b"Box"),)))
    assert world("Box", 20)[0, 3] == pytest.approx(7)
    assert world("Box", 19.98)[0, 3] == pytest.approx(5, abs=1e-3)
    assert '"Box", position: several keys are at frame 20' in said()


def test_keys_too_close_for_blender_are_skipped_and_counted(bring: Import, said) -> None:
    bpy.context.scene.render.fps = 1
    frames = (0, 1000, 1004, 1008, 2000, 3000)
    turns = [
        (frame, -math.radians(angle), 0, 0, 1) for frame, angle in zip(frames, (0, 20, 5, 5, 10, 300), strict=True)
    ]
    node = three_ds.Node(
        "OBJECT",
        b"Box",
        tracks=(
            track("POSITION", *((frame, number, 0, 0) for number, frame in enumerate(frames))),
            track("ROTATION", *turns),
        ),
    )
    seen = three_ds.Node("OBJECT", b"Seen", tracks=(track("HIDE", (1000,), (1004,), (2000,)),))
    bring(scene(node, seen, objects=(box(b"Box"), box(b"Seen"))), timing="TIME", frame_rate=1000.0)
    left_out = (
        "2 keys less than 0.0125 frames before the next key were skipped, because Blender cannot distinguish "
        "keys this close together"
    )
    lines = said()
    for kind in ("position", "rotation"):
        assert f'"Box", {kind}: {left_out}' in lines
    assert '"Seen", hide: 1 key less than' in lines
    assert [world("Box", frame)[0, 3] for frame in (0, 1.008, 2, 3)] == pytest.approx([0, 3, 4, 5], abs=1e-5)
    angles = np.degrees([math.atan2(*turned(frame)[1::-1, 0]) for frame in (1.008, *np.linspace(2, 3, 25))])
    assert angles[:2] == pytest.approx([30, 40], abs=1e-3)
    assert np.ptp(np.unwrap(angles[1:], period=360.0)[[0, -1]]) == pytest.approx(300, abs=1e-3), (
        "none goes the short way"
    )
    hidden = next(curve for curve in fcurves(bpy.data.objects["Seen"]) if curve.data_path == "hide_render")
    assert [hidden.evaluate(frame) for frame in (0, 1.5, 2.5)] == [0, 0, 1]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_signaling_nans_in_a_damaged_file_cause_no_numpy_warning(bring: Import, said) -> None:
    signalling = np.array(0x7F800001, np.uint32).view(np.float32)
    tense = {2: (0.5, 0, 0, 0, 0)}
    places = track("POSITION", (0, 0, 0, 0), (10, 1, 2, 3), (20, 3, 2, 1), parameters=tense)
    places.values[1, 1:2] = places.parameters[0, 2:] = signalling
    turns = track("ROTATION", (0, 0, 0, 0, 1), (10, 1, 0, 0, 1), (20, 1, 0, 0, 1), parameters=tense)
    turns.values[1, :1] = turns.parameters[0, 2:] = signalling
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(places, turns)), objects=(box(b"Box"),)))
    lines = said()
    for kind in ("position", "rotation"):
        assert f"{kind}: 1 key without a finite value" in lines
        assert f"{kind}: 1 key had parameters out of range" in lines


@pytest.mark.parametrize("rate", [30.0, 1000.0])
def test_real_files_are_imported_at_every_frame_rate(shared_data: Path, bring: Import, rate: float) -> None:
    bpy.context.scene.render.fps = 1
    for name in ("tcb_fixture_lib3ds.3ds", "mak_running.3DS"):
        bring(three_ds.read((shared_data / name).read_bytes()), timing="TIME", frame_rate=rate, output="HANDLES")


def test_keys_without_a_spline_have_a_note(bring: Import, said) -> None:
    places = track("POSITION", (0, 0, 0, 0), (9, math.nan, 0, 0), (20, 5, 0, 0), parameters={2: (1.5, 0, 0, 0, 0)})
    late = track("SCALE", (20, 2, 2, 2), (0, 1, 1, 1))
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(places, late)), objects=(box(b"Box"),)))
    lines = said()
    assert "position: 1 key without a finite value was skipped" in lines
    assert "position: 1 key had parameters out of range" in lines
    assert "Scale: the keys were not in order" in lines
    assert world("Box", 20)[:3, 3] == pytest.approx((5, 0, 0))


def test_a_cycle_repeats_to_the_end_of_the_file(bring: Import) -> None:
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 0), flags=2)
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(places,)), objects=(box(b"Box"),), segment=(0, 40)))
    assert bpy.context.scene.frame_end == 40
    assert world("Box", 33)[0, 3] == pytest.approx(world("Box", 3)[0, 3], abs=1e-6)


def test_notes_on_handles_disappear_if_samples_replace_them(tcb_animation, bring: Import, said, monkeypatch) -> None:
    """Notes about other tracks remain, in any language."""
    importer = importlib.import_module(f"{tcb_animation.__name__}.exchange.importing.importer")
    finding = tcb_animation.animation.Finding
    bake = importer.bake_steps

    def with_notes(datablocks, options, *rest, **more):
        report = yield from bake(datablocks, options, *rest, **more)
        if options.output == "HANDLES":
            paths = ("rotation_euler", "location")
            report.notes += [finding("QUOTED", "Box", path, 10.0, (f"of {path}",)) for path in paths]
        return report

    monkeypatch.setattr(importer, "bake_steps", with_notes)
    bring(spun(TILTED, (*UNIT, 300), (*UNIT, 20)), output="HANDLES", rotations="EULER")
    lines = said()
    assert '"Box", Euler Rotation, frame 10' not in lines
    assert '"Box", Location, frame 10: of location' in lines


def turning_places(axis: tuple[float, float, float], degrees: float) -> three_ds.Scene:
    """Return a box that moves for 20 frames, jumps back, and repeats this up to frame 2,000 while it rotates."""
    places = track("POSITION", (0, 0, 0, 0), (20, 5, 0, 0), flags=2)
    turns = track("ROTATION", (0, *TILTED), (20, -math.radians(degrees), *axis), flags=2)
    node = three_ds.Node("OBJECT", b"Box", tracks=(places, turns))
    return scene(node, objects=(box(b"Box"),), segment=(0, 2000))


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES", "HANDLES"])
def test_cycles_of_more_samples_than_the_limit_are_played_by_handles(bring: Import, said, output: str) -> None:
    bring(turning_places((0.0, 0.8, 0.6), 175.0), output=output, sample_limit=500, rotations="EULER")
    assert key_frames("Box") == [0, 20]
    points = [point for curve in fcurves(bpy.data.objects["Box"]) for point in curve.keyframe_points]
    assert not any(point.type == "GENERATED" for point in points)
    # A spline through two keys is a straight line.
    assert world("Box", 1715)[0, 3] == pytest.approx(5 * 15 / 20, abs=1e-3)
    lines = said()
    assert '"Box": handles play the motion, because about ' in lines
    assert "samples would exceed the limit of 500. Raise the sample limit to bake" in lines
    assert '"Box", Euler Rotation: handles approximate the motion: maximum error' in lines
    assert "baked as samples" not in lines


def test_a_hundred_thousand_cycles_take_no_longer_than_writing_their_keys(bring: Import) -> None:
    """Half as many keys run half as many lines of code."""
    places = track("POSITION", (0, 0, 0, 0), (4, 3, 0, 0), (10, 5, 0, 0), flags=2)
    node = three_ds.Node("OBJECT", b"Box", tracks=(places,))
    lines = []
    for last in (500_000, 1_000_000):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        lines.append(lines_run(lambda last=last: bring(scene(node, segment=(0, last)), output="CURVES")))
    assert lines[1] < 1.1 * lines[0]
    for frame in (4, 123_454, 876_544):
        assert world("Box", frame)[0, 3] == pytest.approx(3, abs=1e-3)


def key_frames(name: str) -> list[float]:
    from tests.animation.curves import curve

    points = curve(bpy.data.objects[name], "location", 0).keyframe_points
    return [point.co.x for point in points if point.type == "KEYFRAME"]


def test_keys_keep_their_frames_or_their_time(bring: Import) -> None:
    made = scene(three_ds.Node("OBJECT", b"Box", tracks=(THREE_PLACES,)))
    bring(made, frame_start=101)
    assert key_frames("Box") == [101, 111, 126]
    assert bpy.context.scene.render.fps == 30
    bpy.context.scene.render.fps = 24
    bring(made)
    assert bpy.context.scene.render.fps == 24, "other things move by it"
    bring(made, timing="TIME")
    assert key_frames("Box.002") == [0, 8, 20]
    assert bpy.context.scene.render.fps == 24


def test_existing_objects_are_matched_by_name(bring: Import, said) -> None:
    for name in ("LongObjectName", "Box.001", "Other"):
        new_object(name).keyframe_insert("location", frame=1)
    eye = new_object("Eye", data=bpy.data.cameras.new("Eye"))
    nodes = [three_ds.Node("OBJECT", name, tracks=(THREE_PLACES,)) for name in (b"LongObject", b"Box", b"Missing")]
    composition = Composition(bring(scene(*nodes, *watched("CAMERA")), target="MATCH"))
    for index, name in ((0, "LongObjectName"), (1, "Box.001"), (3, "Eye")):
        assert world(name, 7) == pytest.approx(composition.world(index, 7), abs=1e-5)
    assert eye.constraints[0].target.name == "Eye.Target"
    assert world("Other", 7)[:3, 3] == pytest.approx(0)
    lines = said()
    assert '"Missing": skipped, because no object has this name' in lines
    assert '"Box": the previous action' in lines
    assert len(bpy.data.objects) == 5


def test_imported_objects_are_selected(bring: Import) -> None:
    new_object("Other").select_set(True)
    bring(scene_of(b"One"))
    assert [item.name for item in bpy.context.selected_objects] == ["One"]


def test_an_import_leaves_edit_mode(bring: Import) -> None:
    there = new_object("There", data=bpy.data.meshes.new("There"))
    bpy.context.view_layer.objects.active = there
    bpy.ops.object.mode_set(mode="EDIT")
    bring(scene_of(b"One"))
    assert there.mode == "OBJECT"
    assert bpy.context.object.name == "One"


def test_objects_excluded_from_the_view_layer_are_animated_too(bring: Import) -> None:
    left_out = bpy.data.collections.new("Left out")
    bpy.context.scene.collection.children.link(left_out)
    left_out.objects.link(bpy.data.objects.new("One", None))
    bpy.context.view_layer.layer_collection.children["Left out"].exclude = True
    bring(scene_of(b"One"), target="MATCH")
    assert key_frames("One") == [0, 10, 25]


def test_tiny_turns_backwards_of_about_357_degrees_go_the_shorter_way(bring: Import) -> None:
    turns = [(5 * n, math.radians(357.0), 0, 0, 1) for n in range(1, 11)]
    turning = track("ROTATION", (0, 0, 0, 0, 1), *turns)
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(turning,))), use_shorter_turns=True)
    for frame in (4, 5, 23, 50):
        # 3 degrees per key. The file's direction of rotation is the opposite of Blender's.
        expected = matrix_of(reference.of_axis_angle(math.radians(0.6 * frame), (0, 0, 1)))
        assert turned(frame) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("direction", [1, -1])
def test_half_turns_keep_their_direction_when_turns_take_the_shortest_path(bring: Import, direction: int) -> None:
    # As float32, half a turn is a little more than half a turn.
    turning = track("ROTATION", (0, 0, 0, 0, 1), (10, math.pi, 0, 0, direction))
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(turning,))), use_shorter_turns=True)
    # The file's direction of rotation is the opposite of Blender's.
    expected = matrix_of(reference.of_axis_angle(-direction * math.pi / 2.0, (0, 0, 1)))
    assert turned(5) == pytest.approx(expected, abs=1e-6)


def test_fields_of_view_without_a_lens_have_a_note(bring: Import, said) -> None:
    fov = track("FOV", (0, 0), (20, 90))
    bring(scene(*watched("CAMERA", fov), objects=(camera(b"Eye"),)))
    assert "fov: 1 key has an angle outside 0.01 to 173.6 degrees" in said()
    assert all(curve.driver.is_valid for curve in bpy.data.objects["Eye"].data.animation_data.drivers)


def test_an_object_with_displaced_geometry_has_a_note(bring: Import, said) -> None:
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(5, 5, 5)] * 8, [], [])
    new_object("Box", data=mesh)
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(THREE_PLACES,)), objects=(box(b"Box"),)), target="MATCH")
    assert '"Box": vertices differ by up to 5 from their positions' in said()


def test_live_actions_are_live(bring: Import) -> None:
    bring(scene(three_ds.Node("OBJECT", b"Box", tracks=(THREE_PLACES,))), use_live=True)
    assert bpy.data.objects["Box"].animation_data.action.tcb_live


def test_several_files_at_once(scene, tmp_path: Path) -> None:
    for name in (b"One", b"Two"):
        save(tmp_path / f"{name.decode()}.3ds", scene_of(name))
    files = [{"name": "One.3ds"}, {"name": "Two.3ds"}]
    bpy.ops.import_anim.tcb_3ds(directory=str(tmp_path), files=files)
    assert sorted(item.name for item in bpy.data.objects) == ["One", "Two"]


def scene_of(name: bytes) -> three_ds.Scene:
    return scene(three_ds.Node("OBJECT", name, tracks=(THREE_PLACES,)))


def everything() -> set[str]:
    return {repr(datablock) for datablock in bpy.data.user_map()}


def test_an_invalid_file_leaves_nothing_behind(scene, tmp_path: Path) -> None:
    save(tmp_path / "good.3ds", scene_of(b"One"))
    (tmp_path / "bad.3ds").write_bytes(b"MM\3\0\0\0 and more")
    before = everything()
    with pytest.raises(RuntimeError, match=r"bad\.3ds: byte 2: M3DMAGIC 4D4D declares a length of 3 bytes"):
        bpy.ops.import_anim.tcb_3ds(directory=str(tmp_path), files=[{"name": "good.3ds"}, {"name": "bad.3ds"}])
    assert everything() == before


def test_the_error_names_an_unreadable_file(scene, tcb_animation, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"gone\.3ds cannot be read: No such file or directory"):
        bpy.ops.import_anim.tcb_3ds(filepath=str(tmp_path / "gone.3ds"))


@pytest.fixture
def steps(tcb_animation) -> Callable[..., Any]:
    """Return the steps of an import of a scene as a file, with options by name."""
    importing = importlib.import_module(f"{tcb_animation.__name__}.exchange.importing.importer")

    def steps(made: three_ds.Scene, **options: Any) -> Any:
        context = bpy.context
        how = importing.ImportOptions(**options)
        return importing.import_steps({"made.3ds": made}, context.scene, context.collection, how)

    return steps


@pytest.mark.parametrize("output", ["HANDLES", "SAMPLES", "CURVES"])
def test_a_canceled_import_leaves_nothing_behind_after_any_step(scene, steps, output: str) -> None:
    eye = scene_with_everything()
    before, frames = everything(), (scene.frame_start, scene.frame_end)
    for taken in range(1000):
        running = steps(eye, output=output)
        if len(list(itertools.islice(running, taken))) < taken:
            break
        assert everything() != before or not taken
        running.close()
        assert everything() == before
    assert taken > 2 * len(eye.nodes)
    assert (scene.frame_start, scene.frame_end) == frames


def test_escape_cancels_an_import_with_a_message(scene, tcb_animation, steps) -> None:
    operators = importlib.import_module(f"{tcb_animation.__name__}.operators.three_ds_and_tables")
    operator = operators.IMPORT_ANIM_OT_tcb_3ds
    before, said_of_it = everything(), []

    class Called(operators.InSteps):  # type: ignore[name-defined]
        """A stand-in for the operator's instance, which Blender creates only in a window."""

        hint, cancelled = operator.hint, operator.cancelled
        _steps = steps(scene_with_everything())
        _progress = operators.Progress(bpy.context.window_manager)

        def report(self, kind, text) -> None:
            said_of_it.append((kind, text))

    called = Called()
    assert called._work(bpy.context, 0.0) == {"RUNNING_MODAL"}
    next(called._steps)
    assert called.modal(bpy.context, SimpleNamespace(type="MOUSEMOVE", value="NOTHING")) == {"RUNNING_MODAL"}
    assert everything() != before
    assert called.modal(bpy.context, SimpleNamespace(type="ESC", value="PRESS")) == {"CANCELLED"}
    assert everything() == before
    assert said_of_it == [({"WARNING"}, "Import canceled. All changes were undone")]


@pytest.mark.parametrize(
    ("target", "is_by_hand", "times"), [("CREATE", True, 1), ("CREATE", False, 0), ("MATCH", True, 0)]
)
def test_the_viewport_frames_new_objects_of_an_import_by_hand(
    scene, tcb_animation, tmp_path: Path, monkeypatch, target: str, is_by_hand: bool, times: int
) -> None:
    operators = importlib.import_module(f"{tcb_animation.__name__}.operators.three_ds_and_tables")
    framed: list[object] = []
    monkeypatch.setattr(operators, "_frame_selected", framed.append)
    monkeypatch.setattr(operators.IMPORT_ANIM_OT_tcb_3ds, "_is_by_hand", is_by_hand)
    new_object("One")
    bpy.ops.import_anim.tcb_3ds(filepath=save(tmp_path / "one.3ds", scene_of(b"One")), target=target)
    assert len(framed) == times


def test_lost_content_is_a_warning_and_unusual_content_a_note(scene, tmp_path: Path, said) -> None:
    data, path = three_ds.write(scene_of(b"One")), tmp_path / "made.3ds"
    for content, message in ((data[:-20], "Warning: byte 0: "), (data + b"after", r"Info: byte \d+: 5 bytes after")):
        path.write_bytes(content)
        bpy.ops.import_anim.tcb_3ds(filepath=str(path))
        assert re.search(message, said())


def test_the_menu_has_the_formats_and_files_can_be_dropped(tcb_animation) -> None:
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py("IMPORT_ANIM_FH_tcb_3ds")
    assert handler.bl_import_operator == "import_anim.tcb_3ds"
    assert any("panels.menus" in draw.__module__ for draw in bpy.types.TOPBAR_MT_file_import._dyn_ui_initialize())


def scene_to_match() -> None:
    """Create the objects animated by `scene_with_everything`, by name, as an animator might have made them."""
    eye, box_there = new_object("Eye", data=bpy.data.cameras.new("Eye")), new_object("Box")
    box_there.parent = new_object("Root")
    box_there.matrix_parent_inverse[0][3] = 3.0
    box_there.rotation_mode = "ZYX"
    box_there["roll"] = 7.0
    box_there.keyframe_insert("location", frame=1)
    follow = eye.constraints.new("COPY_LOCATION")
    follow.target, follow.influence = box_there, 0.3
    variable = follow.driver_add("influence").driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = box_there, "location.x"
    eye.data.lens = 23.0


def state(datablock: bpy.types.ID) -> dict[str, str]:
    """Return all readable properties of a datablock by path, including constraints and drivers."""
    bpy.context.view_layer.update()
    told = {f'["{name}"]': str(value) for name, value in datablock.items() if name not in UNSTABLE}

    def tell(path: str, value: object, depth: int = 4) -> None:
        if isinstance(value, bpy.types.bpy_prop_collection):
            for index, each in enumerate(value):
                tell(f"{path}[{index}]", each, depth)
        elif not isinstance(value, bpy.types.bpy_struct):
            told[path] = str(value[:] if hasattr(value, "__getitem__") and not isinstance(value, str) else value)
        elif depth == 0 or (isinstance(value, bpy.types.ID) and depth < 4):
            told[path] = repr(value)
        else:
            for prop in value.bl_rna.properties:
                if prop.identifier not in UNSTABLE:
                    tell(f"{path}.{prop.identifier}", getattr(value, prop.identifier), depth - 1)

    tell(repr(datablock), datablock)
    return told


UNSTABLE = {"rna_type", "original", "users", "is_evaluated", "session_uid", "children", "children_recursive"}
UNSTABLE |= {"cycles", "cycles_custom", "tcb_tracks", "last_slot_identifier"}
"""Properties that depend on other datablocks, the session or the proposed slot, or are computed when read."""


@pytest.mark.parametrize("target", ["CREATE", "MATCH"])
def test_a_failed_import_changes_nothing(scene, tcb_animation, tmp_path: Path, monkeypatch, target: str) -> None:
    importer = importlib.import_module(f"{tcb_animation.__name__}.exchange.importing.importer")
    whole = importer.bake_steps

    def fail_after_the_bake(*args, **options) -> Generator[tuple[int, int]]:
        yield from whole(*args, **options)
        raise MemoryError

    monkeypatch.setattr(importer, "bake_steps", fail_after_the_bake)
    scene_to_match()
    path = save(tmp_path / "made.3ds", scene_with_everything())
    watched_ones = [*bpy.data.objects, *bpy.data.cameras, *bpy.data.actions]
    before, states = everything(), [state(one) for one in watched_ones]
    with pytest.raises(RuntimeError, match="MemoryError"):
        bpy.ops.import_anim.tcb_3ds(filepath=path, target=target)
    assert everything() == before
    for one, expected in zip(watched_ones, states, strict=True):
        assert state(one) == expected


def test_a_match_leaves_no_copies_behind(bring: Import) -> None:
    scene_to_match()
    before = {one for one in everything() if "objects" in one or "cameras" in one}
    bring(scene_with_everything(), target="MATCH")
    assert {one for one in everything() if "objects" in one or "cameras" in one} - before == {
        "bpy.data.objects['Eye.Target']"
    }


def test_a_second_match_removes_the_drivers_of_the_first(bring: Import) -> None:
    new_object("Eye", data=bpy.data.cameras.new("Eye"))
    turning = track("ROLL", (0, 1), (9, 2)), track("FOV", (0, 40), (9, 50))
    bring(scene(*watched("CAMERA", *turning), objects=(camera(b"Eye"),)), target="MATCH")
    bring(scene(*watched("CAMERA", track("ROLL", (0, 30)), track("FOV", (0, 60)))), target="MATCH")
    eye = bpy.data.objects["Eye"]
    assert not eye.animation_data.drivers
    assert not eye.data.animation_data.drivers
    bpy.context.scene.frame_set(9)
    assert math.degrees(eye.data.angle_x) == pytest.approx(60)


def test_a_driver_of_the_animator_is_kept_with_a_note(bring: Import, said) -> None:
    eye = new_object("Eye", data=bpy.data.cameras.new("Eye"))
    eye.data.driver_add("lens").driver.expression = "31.0"
    bring(scene(*watched("CAMERA", track("FOV", (0, 40), (9, 50)))), target="MATCH")
    assert [curve.driver.expression for curve in eye.data.animation_data.drivers] == ["31.0"]
    assert '"Eye": lens is driven, so its animation in the file was skipped' in said()


@pytest.mark.parametrize(
    ("name", "between", "is_squad"),
    [
        (b"MAXSCENE", "BY_FILE", True),
        (b"SCENE", "BY_FILE", False),
        (b"SCENE", "SQUAD", True),
        (b"MAXSCENE", "DE_CASTELJAU", False),
    ],
)
def test_files_of_3ds_max_are_interpolated_by_squad(
    bring: Import, animation, name: bytes, between: str, is_squad: bool
) -> None:
    made = spun(TILTED, (*UNIT, 60), (*UNIT, 20))
    assert made.keyframer is not None
    keyframer = dataclasses.replace(made.keyframer, header=three_ds.Header(5, name, 30))
    bring(dataclasses.replace(made, keyframer=keyframer), between=between)
    settings = animation.find_track(bpy.data.objects["Box"], "rotation").settings
    assert settings.construction == ("SQUAD" if is_squad else "DE_CASTELJAU")


def test_a_turn_of_nearly_360_degrees_is_a_small_one_and_the_others_as_they_say(bring: Import, said) -> None:
    bring(spun(TILTED, (*UNIT, 205.0), (*UNIT, 359.998), (*UNIT, 20.0)))
    assert bpy.data.objects["Box"].rotation_mode == "QUATERNION"
    assert "rotation: 1 turn of nearly 360 degrees was imported as a small turn in the opposite direction" in said()
    keys = [(0, 0.0), (10, 205.0), (20, 204.998), (30, 224.998)]
    for frame in (4, 15, 23):
        assert turned(frame) == pytest.approx(spun_to(keys, frame), abs=1e-5), frame
