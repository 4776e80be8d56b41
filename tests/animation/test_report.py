# SPDX-License-Identifier: GPL-3.0-or-later
"""The counts of a report have the same meaning in all functions that return one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.animation.curves import KEYS, fcurves, insert, key, new_object, track_keys
from tests.animation.exports import gltf

LOCATION, ROTATION = "location", "rotation_euler"
ANGLES = [(0, (0, 0, 0)), (20, (0.5, 0.2, 0.1)), (40, (1, 0.3, 0))]


def child(name: str = "Child") -> bpy.types.Object:
    """Return an object with 4 location keys and 3 rotation keys, which has a parent."""
    item = new_object(name)
    item.parent = new_object(f"Parent of {name}")
    key(item, LOCATION, KEYS)
    key(item, ROTATION, ANGLES)
    return item


def turned(item: bpy.types.Object) -> None:
    for fcurve in fcurves(item):
        if fcurve.data_path == ROTATION and fcurve.array_index == 0:
            fcurve.keyframe_points[2].co_ui.y += math.tau


def import_table(animation: Any, item: bpy.types.Object) -> Any:
    table, _ = animation.export_table(child("Other"))
    return animation.import_table(item, table, animation.TableKeys(frame_start=5, replace=True))


def restore_curves(animation: Any, item: bpy.types.Object) -> Any:
    path = gltf(Path(bpy.app.tempdir, "child.glb"))
    return animation.restore_curves(path, [item])


BOTH = (LOCATION, ROTATION)
CALLS: dict[str, tuple[Callable[[Any, bpy.types.Object], Any], tuple[str, ...]]] = {
    "enable": (lambda animation, item: animation.enable(item), BOTH),
    "bake": (lambda animation, item: animation.bake(item), BOTH),
    "bake to curves": (lambda animation, item: animation.bake(item, output="CURVES"), BOTH),
    "bake to handles": (lambda animation, item: animation.bake(item, output="HANDLES"), BOTH),
    "bake_in_world": (lambda animation, item: animation.bake_in_world(item), BOTH),
    "free": (lambda animation, item: animation.free(item, [LOCATION]), (LOCATION,)),
    "restore": (lambda animation, item: animation.restore(item), BOTH),
    "apply": (lambda animation, item: animation.apply(item, [ROTATION]), (ROTATION,)),
    "remove": (lambda animation, item: animation.remove(item), BOTH),
    "choose": (lambda animation, item: animation.choose(item, LOCATION, cycle="REPEAT"), (LOCATION,)),
    "key_set": (lambda animation, item: animation.key_set(item, LOCATION, 10, tension=0.5), (LOCATION,)),
    "set_keys": (lambda animation, item: animation.set_keys(item, LOCATION, *zip(*KEYS, strict=True)), (LOCATION,)),
    "key_whole": (lambda animation, item: animation.key_whole(item), (ROTATION,)),
    "fix_rotations": (lambda animation, item: animation.fix_rotations(item, turns="SHORTEST"), (ROTATION,)),
    "write_velocities": (lambda animation, item: animation.write_velocities(item, [LOCATION]), (LOCATION,)),
    "import_table": (import_table, BOTH),
    "export_table": (lambda animation, item: animation.export_table(item)[1], BOTH),
    "restore_curves": (restore_curves, BOTH),
}
"""Calls of functions that return a report, and the paths of the processed tracks."""
PREPARED: dict[str, Callable[[Any, bpy.types.Object], Any]] = {
    "bake_in_world": lambda animation, item: animation.enable(item),
    **dict.fromkeys(("free", "restore", "apply", "remove", "choose"), lambda animation, item: animation.bake(item)),
    "key_whole": lambda _animation, item: insert(item, ROTATION, [(30, 0.7)], index=0),
    "fix_rotations": lambda _animation, item: turned(item),
    "write_velocities": lambda animation, item: animation.enable(item, keep_look=False),
}
"""Changes to the object before the call."""


def test_every_function_with_a_report_is_called(animation) -> None:
    functions = {name: getattr(animation, name) for name in dir(animation) if not name.endswith("_many")}
    returning = {
        name
        for name, function in functions.items()
        if inspect.isfunction(function) and "Report" in str(inspect.signature(function).return_annotation)
    }
    assert returning == {name for name in CALLS if " to " not in name}


@pytest.mark.parametrize("name", CALLS)
def test_a_report_counts_tracks_keys_samples_and_handles(animation, name: str) -> None:
    item = child()
    PREPARED.get(name, lambda *_: None)(animation, item)
    call, paths = CALLS[name]
    report = call(animation, item)
    # Apply turns generated keys into ordinary keys, which are counted.
    keys = [track_keys(animation, item, path) for path in paths]
    assert (report.objects, report.tracks) == (1, len(paths))
    assert report.keys == sum(map(len, keys))
    linear = name.startswith("bake") and "curves" not in name
    own = sum(len(own.keys) for track_keys in keys for own in track_keys.own.values())
    played = sum(len(fcurve.keyframe_points) for fcurve in fcurves(item) if fcurve.data_path in paths)
    written = sum(len(fcurve.keyframe_points) for fcurve in fcurves(item) if "tcb_" in fcurve.data_path)
    assert report.samples == (played - own if linear else written)
    assert report.curve_keys == (played - own if name == "bake to curves" else 0)
    by_handles = paths if name in ("bake to handles", "set_keys", "restore_curves") else ()
    assert {error["track"] for error in report.handles} == {*by_handles}
    assert report.changed_keys == {"key_set": 1, "key_whole": 1, "fix_rotations": 1}.get(name, 0)


@pytest.mark.parametrize(
    "given",
    [{"tension": 0.5}, {"interpolation": "CONSTANT"}, {"velocity": (1.0, 0.0, 0.0)}],
    ids=lambda given: next(iter(given)),
)
def test_a_key_that_already_has_the_settings_is_not_counted_as_changed(animation, given) -> None:
    item = child()
    animation.enable(item, keep_look=False)
    assert animation.key_set(item, "location", 10, **given).changed_keys == 1
    assert animation.key_set(item, "location", 10, **given).changed_keys == 0
    assert animation.key_set(item, "location", 10, bias=-0.5).changed_keys == 1


def test_a_datablock_with_nothing_to_do_is_refused_only_if_no_track_was_processed(animation) -> None:
    plain, baked = child(), child()
    animation.bake(baked)
    assert [error.code for error in animation.restore_many([plain]).refused] == ["NOTHING_PLAYED"]
    report = animation.restore_many([plain, baked])
    assert report.tracks > 0
    assert report.refused == []
