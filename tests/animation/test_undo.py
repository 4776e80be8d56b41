# SPDX-License-Identifier: GPL-3.0-or-later
"""Undo and redo take keys, table and everything else that belongs to TCB back together, to the last bit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.animation.action_users import share, with_slots
from tests.animation.clipboard import activate, copied, paste
from tests.animation.curves import action_bits, bag_of, given, key, keyed
from tests.animation.properties import RENAMES, keys_of
from tools.edit_kinds import editor

Step = Callable[[Any], object]


def everything() -> dict[str, Any]:
    """Keys and tables of all actions, and who plays them how."""
    found: dict[str, Any] = {}
    for action in bpy.data.actions:
        table: Any = action.get("tcb_animation")
        found[f"action {action.name}"] = (repr(table.to_dict() if table is not None else None), action_bits(action))
    for obj in bpy.data.objects:
        data = obj.animation_data
        action = data.action if data is not None else None
        slot = getattr(data, "action_slot", None)
        found[f"object {obj.name}"] = (
            action.name if action is not None else None,
            slot.handle if slot is not None else None,
            obj.rotation_mode,
            [(bone.name, bone.rotation_mode) for bone in obj.pose.bones] if obj.pose else [],
        )
    for keys in bpy.data.shape_keys:
        found[f"shape keys {keys.name}"] = [block.name for block in keys.key_blocks]
    for material in bpy.data.materials:
        found[f"material {material.name}"] = [node.name for node in material.node_tree.nodes]
    return found


def look(animation) -> None:
    """Let edits be looked at, as they are in a window when nothing else happens."""
    handlers = importlib.import_module(f"{animation.__name__.removesuffix('.animation')}.ui.handlers")
    for action in bpy.data.actions:
        handlers.mark(action)
    handlers.flush()


def check(animation, *steps: Step) -> None:
    """Do each step, undo all of them, and redo them: at each stop all is as it was there.

    Blender keeps what undo goes back to before an edit is looked at, so it is looked at again after undo and redo.
    """
    bpy.ops.ed.undo_push(message="start")
    look(animation)
    stops = [everything()]
    for number, step in enumerate(steps):
        step(animation)
        bpy.ops.ed.undo_push(message=str(number))
        look(animation)
        stops.append(everything())
        assert stops[-1] != stops[-2], number
    for expected in stops[-2::-1]:
        assert bpy.ops.ed.undo() == {"FINISHED"}
        look(animation)
        assert everything() == expected
        assert not any(animation.store.table.custom_property.read_table(action).fault for action in bpy.data.actions)
    for expected in stops[1:]:
        assert bpy.ops.ed.redo() == {"FINISHED"}
        look(animation)
        assert everything() == expected


def obj(name: str) -> Any:
    """By name: undo makes all objects anew."""
    return bpy.data.objects[name]


def make_two(animation, bake_first: bool) -> None:
    """Two TCB objects, with a tension at 10 of the first, a bias at 25 of the other."""
    keyed("One")
    keyed("Two")
    animation.key_set(obj("One"), "location", 10, tension=0.5)
    animation.key_set(obj("Two"), "location", 25, bias=-0.25)
    if bake_first:
        animation.bake_many([obj("One"), obj("Two")], animation.Options())


def bake_both(animation) -> None:
    animation.bake_many([obj("One"), obj("Two")], animation.Options(output="CURVES"))


def remove_both(animation) -> None:
    for name in ("One", "Two"):
        animation.remove(obj(name))


def set_again(animation) -> None:
    animation.key_set(obj("One"), "location", 10, tension=-0.75)


def merge(_animation) -> None:
    activate(obj("One"))
    obj("Two").select_set(True)
    assert bpy.ops.anim.merge_animation() == {"FINISHED"}


def separate(_animation) -> None:
    activate(obj("One"))
    assert bpy.ops.anim.separate_slots() == {"FINISHED"}


def swap(_animation) -> None:
    one, two = (obj(name).animation_data.action for name in ("One", "Two"))
    share(two, obj("One"))
    share(one, obj("Two"))


def copy_and_paste(_animation) -> None:
    copied(obj("One"), (10, 25))
    paste(obj("Two"), 60)


def to_deltas(_animation) -> None:
    activate(obj("One"))
    assert bpy.ops.object.anim_transforms_to_deltas() == {"FINISHED"}


def delete_channels(_animation) -> None:
    activate(obj("One"))
    for fcurve in bag_of(obj("One")).fcurves:
        fcurve.select = fcurve.array_index != 1
    with editor("DOPESHEET", "CHANNELS") as space:
        space.dopesheet.show_only_selected = True
        assert bpy.ops.anim.channels_delete() == {"FINISHED"}


EDITS: dict[str, Step] = {
    "swap actions": swap,
    "paste onto another": copy_and_paste,
    "transforms to deltas": to_deltas,
    "delete channels": delete_channels,
}


@pytest.mark.parametrize("bake_first", [False, True])
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_actions_is_undone_and_redone(animation, name: str, bake_first: bool) -> None:
    make_two(animation, bake_first)
    check(animation, EDITS[name], bake_both, remove_both)


@with_slots
@pytest.mark.parametrize("bake_first", [False, True])
def test_slots_that_are_merged_and_separated_are_undone_and_redone(animation, bake_first: bool) -> None:
    make_two(animation, bake_first)
    check(animation, merge, set_again, separate, bake_both, remove_both)


def present(name: str) -> Any:
    """What was renamed: undo makes it anew."""
    if name == "node":
        return bpy.data.materials["Paint"].node_tree
    return obj("Mesh").data.shape_keys if name == "shape key" else obj("Rig")


@pytest.mark.parametrize("bake_first", [False, True])
@pytest.mark.parametrize("name", ["bone", "shape key", "node"])
def test_a_rename_is_undone_and_redone(animation, name: str, bake_first: bool) -> None:
    renames: dict[str, Any] = dict(zip(("bone", "shape key", "node"), RENAMES, strict=True))
    make, rename = renames[name]
    datablock, path, width = make()
    key(datablock, path, keys_of(width))
    animation.key_set(datablock, path, 10, tension=0.5)
    if bake_first:
        animation.bake(datablock)
    check(
        animation,
        lambda _: rename(present(name)),
        lambda _: animation.bake(present(name), output="CURVES"),
        lambda _: animation.remove(present(name)),
    )


@pytest.mark.parametrize("bake_first", [False, True])
@pytest.mark.parametrize("mode", ["ZYX", "QUATERNION"])
def test_another_rotation_mode_is_undone_and_redone(animation, mode: str, bake_first: bool) -> None:
    keyed("One", "rotation_euler")
    animation.key_set(obj("One"), "rotation_euler", 10, tension=0.5)
    if bake_first:
        animation.bake(obj("One"))
    check(
        animation,
        lambda _: setattr(obj("One"), "rotation_mode", mode),
        lambda _: setattr(obj("One"), "rotation_mode", "XYZ"),
        lambda _: animation.bake(obj("One"), output="CURVES"),
        lambda _: animation.remove(obj("One")),
    )


def test_undo_and_redo_take_keys_and_table_back_together(animation) -> None:
    keyed()
    steps: list[Step] = [
        lambda item: animation.enable(item),
        lambda item: animation.key_set(item, "location", 10, tension=0.5),
        lambda item: animation.bake(item),
        lambda item: animation.key_set(item, "location", 25, bias=0.25),
        lambda item: animation.bake(item, output="CURVES"),
        lambda item: animation.restore(item),
        lambda item: animation.remove(item),
    ]
    bpy.ops.ed.undo_push(message="start")
    stops = [everything()]
    for number, step in enumerate(steps):
        step(obj("Ball"))
        bpy.ops.ed.undo_push(message=str(number))
        stops.append(everything())
    for expected in stops[-2::-1]:
        assert bpy.ops.ed.undo() == {"FINISHED"}
        assert everything() == expected
        assert not animation.find_track(obj("Ball"), "location").table.fault
    for expected in stops[1:]:
        assert bpy.ops.ed.redo() == {"FINISHED"}
        assert everything() == expected


def test_parameters_are_those_of_the_step_that_undo_goes_back_to(animation) -> None:
    keyed()
    animation.enable(obj("Ball"))
    bpy.ops.ed.undo_push(message="start")
    for tension in (0.25, 0.5, 0.75):
        animation.key_set(obj("Ball"), "location", 10, tension=tension)
        bpy.ops.ed.undo_push(message="set")
    found = []
    for _ in range(3):
        bpy.ops.ed.undo()
        found.append(given(animation, obj("Ball"), "location", "tension"))
    assert found == [[(10, 0.5)], [(10, 0.25)], []]
