# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits in the Dope Sheet to tracks played by handles, compared with the same edits to a plain twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.all_pairs import each_once
from tests.animation.curves import curve, fcurves, key, new_object
from tests.animation.edits import Edit, do, move, parameters_of, scale, select, snap, unlike

FRAMES = [0.0, 10.0, 25.0, 40.0, 44.0]
LOCATIONS = [(0, 1, 2), (5, -1, 2), (1, 1, 2.5), (-3, 0, 2), (0, 1, 0)]
TURNS = [(0, 0, 0), (0.5, 0.2, 0), (1.0, 0, -0.4), (0.3, -0.6, 0.2), (0, 0.1, 0.9)]
QUATERNIONS = [(1, 0, 0, 0), (0.9, 0.1, 0.3, 0), (0.7, 0.2, 0.1, -0.5), (0.8, 0.1, -0.4, 0.2), (0.9, 0, 0, 0.3)]


def keyed(name: str, mode: str) -> bpy.types.Object:
    thing = new_object(name, mode)
    path, turns = ("rotation_quaternion", QUATERNIONS) if mode == "QUATERNION" else ("rotation_euler", TURNS)
    key(thing, "location", list(zip(FRAMES, LOCATIONS, strict=True)), group="Transform")
    key(thing, path, list(zip(FRAMES, turns, strict=True)), group="Transform")
    shape = {1: ("BEZIER", "FREE"), 2: ("BEZIER", "ALIGNED"), 3: ("ELASTIC", "VECTOR")}
    for fcurve in fcurves(thing):
        for row, (interpolation, handle) in shape.items():
            point = fcurve.keyframe_points[row]
            point.interpolation = interpolation
            point.handle_left_type = point.handle_right_type = handle
        fcurve.keyframe_points[1].handle_right = (13, fcurve.keyframe_points[1].co.y + 1)
        fcurve.update()
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    return thing


MODES = ["QUATERNION", "XYZ"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of `twins`, because creating them takes longer than most tests."""
    return tmp_path_factory.mktemp("twins")


@pytest.fixture
def animation(tcb_animation) -> ModuleType:
    """The package, without a new file, because `twins` opens one."""
    return tcb_animation.animation


@pytest.fixture
def twins(animation, files: Path, mode: str) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two objects with the same keys and parameters. The first is played by handles."""
    file = files / f"{mode}.blend"
    if not file.exists():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        things = keyed("Played", mode), keyed("Plain", mode)
        for thing in things:
            animation.enable(thing, keep_look=False)
            for path in ("location", "rotation"):
                animation.key_set(thing, path, 10, tension=0.5, bias=0.25)
                animation.key_set(thing, path, 25, continuity=-0.5, ease_to=0.4)
        animation.bake(things[0], output="HANDLES")
        bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return bpy.data.objects["Played"], bpy.data.objects["Plain"]


def do_to_both(twins, name: str, edit: Edit | None = None) -> None:
    """Apply the edit with this name.

    Blender 4.2 pastes keys into all objects with the same paths, so edit one by one.
    """
    edit = edit or EDITS[name][1]
    if "paste" not in name:
        do(edit)
        return
    for thing in twins:
        with alone(thing):
            do(edit)


@contextmanager
def alone(thing: bpy.types.Object) -> Iterator[None]:
    """Show only this object in the editors."""
    collection = bpy.context.scene.collection.objects
    others = [other for other in collection if other != thing]
    for other in others:
        collection.unlink(other)
    bpy.context.view_layer.objects.active = thing
    yield
    for other in others:
        collection.link(other)
        other.select_set(True)


def delete() -> object:
    return bpy.ops.action.delete(confirm=False)


def duplicate(frames: float) -> Edit:
    def edit():
        bpy.ops.action.duplicate()
        return move(frames)()

    return edit


def paste(at: int, **options) -> Edit:
    def edit():
        bpy.ops.action.copy()
        bpy.context.scene.frame_set(at)
        return bpy.ops.action.paste(**options)

    return edit


def mirror() -> object:
    bpy.context.scene.frame_set(20)
    return bpy.ops.action.mirror(type="CFRA")


EDITS = {
    "move all": ([], move(7)),
    "move all by a fraction": ([], move(0.4)),
    "scale all": ([], scale(2.0)),
    "scale all down by a fraction": ([], scale(0.7)),
    "scale all by a fraction": ([], scale(1.3)),
    "snap all to the nearest frames": ([], snap),
    "scale all by a fraction, unsnapped": ([], scale(1.3, snap=False)),
    "turn all around": ([], scale(-1.0)),
    "mirror all": ([], mirror),
    "duplicate all behind": ([], duplicate(60)),
    "paste all over the middle": ([], paste(20)),
    "move a key by a fraction": ([10], move(0.3)),
    "move a key past another": ([10], move(18)),
    "move a key beyond the last": ([25], move(60)),
    "move a key onto another": ([10], move(15)),
    "move the first key back": ([0], move(-20)),
    "move two keys": ([10, 25], move(-3)),
    "scale two keys": ([10, 25, 40], scale(1.5)),
    "duplicate a key": ([10], duplicate(4)),
    "paste a key": ([25], paste(33)),
    "delete a key": ([25], delete),
    "delete the first key": ([0], delete),
    "delete the last key": ([44], delete),
    "delete all keys but one": ([0, 10, 40, 44], delete),
    "retype a key": ([25], lambda: bpy.ops.action.keyframe_type(type="EXTREME")),
    "interpolate otherwise": ([10], lambda: bpy.ops.action.interpolation_type(type="CONSTANT")),
    "ease otherwise": ([40], lambda: bpy.ops.action.easing_type(type="EASE_IN")),
    "handles otherwise": ([25], lambda: bpy.ops.action.handle_type(type="AUTO")),
}


REVERSED = ("turn all around", "mirror all")
"""Edits that reverse the motion."""


def is_played(thing: bpy.types.Object, difference: tuple) -> bool:
    """Return whether the difference is not in a handle before the first key or after the last key."""
    path, name, *rest = difference
    place = {"handle_left": 0, "handle_right": len(curve(thing, path).keyframe_points) - 1}.get(name)
    return not rest or rest[0] // 2 != place


@pytest.mark.parametrize(("name", "mode"), each_once(EDITS, MODES))
def test_playing_by_handles_again_is_as_if_the_keys_had_been_edited_before(animation, twins, name: str) -> None:
    select(twins, *EDITS[name][0])
    do_to_both(twins, name)
    if name in REVERSED:
        reverse_parameters(animation, twins[1])
    for thing in twins:
        animation.bake(thing, output="HANDLES")
    if name != "handles otherwise":
        # Blender then places handles on tracks played by handles.
        found = unlike(twins[1], twins[0])
        assert [each for each in found if is_played(twins[0], each)] == []
    played, fresh = (parameters_of(animation, thing) for thing in twins)
    assert played.keys() == fresh.keys()
    for path, (frames, numbers) in fresh.items():
        np.testing.assert_array_equal(frames, played[path][0])
        np.testing.assert_allclose(numbers, played[path][1], atol=1e-6)


@pytest.mark.parametrize(("name", "mode"), each_once(EDITS, MODES[::-1]))
def test_restore_after_an_edit_gives_the_edited_keys(animation, twins, name: str) -> None:
    select(twins, *EDITS[name][0])
    do_to_both(twins, name)
    animation.restore(twins[0])
    assert unlike(twins[1], twins[0]) == []


def reverse_parameters(animation, thing: bpy.types.Object) -> None:
    """Give keys that were reversed in time the parameters for reversed motion."""
    for path, (frames, numbers) in parameters_of(animation, thing).items():
        for frame, (_, _, bias, ease_to, ease_from) in zip(frames.tolist(), numbers.tolist(), strict=True):
            animation.key_set(thing, path, frame, bias=-bias, ease_to=ease_from, ease_from=ease_to)


COPIED = {
    "and a key deleted": ([25], delete),
    "and a key inserted": ([10], duplicate(7)),
    "and all moved": ([], move(3)),
    "and mirrored": ([], mirror),
    "and scaled": ([], scale(1.5)),
    "and all pasted": ([], paste(200)),
}


@pytest.mark.parametrize(("name", "mode"), each_once(COPIED, MODES))
def test_copies_of_keys_keep_handles_of_their_own_through_another_edit(animation, twins, name: str) -> None:
    """The copies share one identity, but have their own handles. Handles outside the ends are the animator's."""
    animation.restore(twins[0])
    # The last key is now elastic. No played segment begins at it, but its copies begin segments.
    select(twins, 44)
    do(delete)
    for thing in twins:
        for fcurve in fcurves(thing):
            for point in (fcurve.keyframe_points[0], fcurve.keyframe_points[-1]):
                point.handle_left_type = point.handle_right_type = "FREE"
                point.handle_left, point.handle_right = point.co - Vector((1.5, 0.5)), point.co + Vector((1.0, 2.0))
    animation.bake(twins[0], output="HANDLES")
    select(twins)
    do(duplicate(60))
    animation.bake(twins[0], output="HANDLES")
    frames, edit = COPIED[name]
    select(twins, *frames)
    do_to_both(twins, name, edit)
    animation.bake(twins[0], output="HANDLES")
    animation.restore(twins[0])
    assert unlike(twins[1], twins[0]) == []
