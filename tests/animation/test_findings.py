# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors and notes are data with codes, one per track. Reports with them can be sent to other processes and files."""

from __future__ import annotations

import ast
import copy
import json
import math
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.animation.curves import curve, key, new_object

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("animation", "exchange", "ui", "operators", "panels", "cli")
MADE = re.compile(r"NOTHING_TO_[A-Z_]+|TURNS_(AS_KEYED|SHORTEST)")
"""Codes that are composed from the names of choices."""
PLACES = [(1, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5)), (40, (-3, 0, 2))]
TURNS = [(1, (0, 0, 0)), (10, (0.5, 1, 2)), (25, (3, 0.1, 0.2)), (40, (0, 0, 8))]


def faulty(name: str = "Thing") -> bpy.types.Object:
    """Return an object with a locked track and large turns."""
    item = new_object(name, "XYZ")
    for path in ("location", "scale"):
        key(item, path, PLACES)
    key(item, "rotation_euler", TURNS)
    for index in range(3):
        curve(item, "scale", index).lock = True
    return item


def _enabled(animation: Any) -> bpy.types.Object:
    item = faulty()
    for index in range(3):
        curve(item, "scale", index).lock = False
    animation.enable(item, keep_look=False)
    for index in range(3):
        curve(item, "scale", index).lock = True
    return item


def _checks(animation: Any) -> Any:
    item = faulty()
    curve(item, "scale").lock = False
    curve(item, "scale").keyframe_points[1].co.y = float("nan")
    curve(item, "scale").update()
    return animation.check(item, (1, 40))


def _reduced(animation: Any) -> Any:
    item = _dense("location", "scale")
    curve(item, "scale").lock = True
    return animation.reduce(item, error=0.5)


def _relaxed(animation: Any) -> Any:
    item = new_object("Foot", "XYZ")
    key(item, "location", [(1, (0, 0, 3)), (20, (2, 0, 0)), (30, (4, 0, 0)), (60, (6, 0, 3))])
    animation.enable(item, keep_look=False)
    animation.bake(item)
    return animation.relax(item, animation.StaysAbove(), {item: {"location": [20, 30]}})


def _moving_child(_animation: Any) -> bpy.types.Object:
    item = new_object("Child")
    item.parent = new_object("Parent")
    key(item, "location", PLACES)
    return item


def _dense(*paths: str) -> bpy.types.Object:
    item = new_object("Dense", "XYZ")
    for path in paths:
        key(item, path, [(frame, (math.sin(frame / 9), 0.01 * frame, 1)) for frame in range(1, 60)])
    return item


RESULTS: dict[str, Callable[[Any], Any]] = {
    "Report": lambda animation: animation.bake_many([_enabled(animation), faulty("Other")], keep_look=False),
    "Checks": _checks,
    "Reduction": _reduced,
    "Relaxation": _relaxed,
    "RotationFault": lambda animation: animation.find_rotation_faults(faulty())[0],
    "Gap": lambda animation: animation.joint_gap(_moving_child(animation)),
    "KeyCount": lambda animation: animation.keys_by_error(_dense("location"), [0.5])[0],
}


def test_every_class_of_results_is_tried(animation) -> None:
    """Violations and findings are parts of results."""
    classes = {name for name in animation.__all__ if hasattr(getattr(animation, name), "to_dict")}
    assert classes - {"Finding", "Violation"} == RESULTS.keys()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_travels_with_its_findings(animation, name: str) -> None:
    result = RESULTS[name](animation)
    assert type(result).__name__ == name
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert other == result
        assert other.to_dict() == result.to_dict()
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    findings = [*getattr(result, "errors", []), *getattr(result, "notes", [])]
    assert bool(findings) is (name in ("Report", "Checks", "Reduction"))
    assert all(finding.object for finding in findings)
    messages = [each["message"] for each in (*told.get("errors", []), *told.get("notes", []))]
    assert messages == [finding.message for finding in findings]


def test_a_refusal_travels_with_all_of_its_tracks(animation) -> None:
    item = _enabled(animation)
    for path in ("location", "rotation_euler"):
        for index in range(3):
            curve(item, path, index).lock = True
    with pytest.raises(animation.AnimationError) as refused:
        animation.bake(item)
    error = pickle.loads(pickle.dumps(refused.value))
    assert error.findings == copy.deepcopy(refused.value).findings == refused.value.findings
    assert [(finding.code, finding.object, finding.track) for finding in error.findings] == [
        ("LOCKED", "Thing", path) for path in ("location", "scale", "rotation_euler")
    ]
    assert str(error) == str(refused.value)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("rotation_euler", "Euler Rotation"),
        ('pose.bones["Hand.L"].location', "Hand.L, Location"),
        ('pose.bones["Hand.L"]["grip"]', "Hand.L, grip"),
        ('nodes["Mix"].inputs[0].default_value', 'nodes["Mix"].inputs[0].default_value'),
    ],
)
def test_a_finding_has_the_names_that_blender_shows(animation, path: str, name: str) -> None:
    finding = animation.report.Finding("LOCKED", "Rig", path)
    assert str(finding) == f'"Rig", {name}: the channels are locked. Unlock them first'
    assert finding.to_dict()["track"] == path


def test_channels_have_the_names_that_the_graph_editor_shows(animation) -> None:
    finding = animation.report.Finding
    without = finding("CHANNEL_WITHOUT_KEYS", "Rig", 'pose.bones["Hand"].rotation_quaternion', arguments=(0,))
    assert without.message == "W Quaternion Rotation has no keys. Insert a key or delete the F-curve"
    modified = finding("MODIFIERS", "Ball", "location", arguments=("NOISE", "0, 2"))
    assert modified.message == "F-curve modifiers act on the baked motion: NOISE (X Location, Z Location)"


@pytest.mark.parametrize(("frames", "words"), [((3.0,), "at frame 3,"), ((3.0, 4.5), "at frames 3, 4.5,")])
def test_a_text_is_singular_for_one(animation, frames, words: str) -> None:
    assert words in animation.Finding("FLIP", "Thing", "rotation_quaternion", arguments=(frames,)).message


def _nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield the names of source files, with the nodes of their syntax trees."""
    for file in (file for floor in FLOORS for file in (ROOT / floor).rglob("*.py")):
        yield from ((file.name, node) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def test_every_code_has_a_text_and_every_text_a_use(animation) -> None:
    messages = animation.messages
    used, given = set(), set()
    for file, node in _nodes():
        if isinstance(node, ast.Constant) and file != "messages.py":
            used.add(node.value)
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if name in ("Finding", "finding", "error", "add_note", "note_track", "unusable", "UnknownMotionError"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and re.fullmatch(r"[A-Z][A-Z_0-9]+", str(first.value)):
                given.add(first.value)
    assert given <= messages.MESSAGES.keys()
    assert [code for code in messages.MESSAGES if code not in used and not MADE.fullmatch(code)] == []
    assert messages.MESSAGES.keys() >= messages.NOTHING_TO_DO | messages.STANDING | messages.ASK_TO_FREE


@pytest.mark.parametrize("name", ["Bend", "Bend [left]", 'Bend "left"'])
def test_a_finding_names_a_custom_property_as_its_owner_does(animation, name: str) -> None:
    owner = new_object("Thing")
    owner[name] = 1.0
    path = f'["{bpy.utils.escape_identifier(name)}"]'
    owner.keyframe_insert(path, frame=1)
    assert str(animation.find_track(owner, path).finding("NO_KEYS")).startswith(f'"Thing", {name}: ')


NODE_OWNERS = {
    "materials": lambda: bpy.data.materials.new("Owner"),
    "worlds": lambda: bpy.data.worlds.new("Owner"),
    "lights": lambda: bpy.data.lights.new("Owner", "POINT"),
    "linestyles": lambda: bpy.data.linestyles.new("Owner"),
    "textures": lambda: bpy.data.textures.new("Owner", "CLOUDS"),
}


@pytest.mark.parametrize("kind", NODE_OWNERS)
def test_a_node_tree_is_named_after_its_owner(animation, scene, kind: str) -> None:
    owner = NODE_OWNERS[kind]()
    owner.use_nodes = True
    owner.node_tree.animation_data_create()
    assert [animation.datablocks.name_of(tree) for tree in animation.of_file()] == ["Owner (nodes)"]
