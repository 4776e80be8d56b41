# SPDX-License-Identifier: GPL-3.0-or-later
"""Undo and redo restore keys, tables and all other TCB data together, bit for bit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.action_users import load, push_down, share, tweak, with_slots
from tests.animation.clipboard import copied, paste
from tests.animation.curves import (
    action_bits,
    bag_of,
    choose_alone,
    fcurves,
    given,
    key,
    keyed,
)
from tests.animation.editors import editor
from tests.animation.properties import RENAMES, custom, keys_of

Step = Callable[[Any], object]


def own(datablocks: Any) -> list[Any]:
    return [each for each in datablocks if each.library is None]


def everything() -> dict[str, Any]:
    """Return keys and tables of the file's own actions, and their users. Undo does not remove linked data."""
    found: dict[str, Any] = {}
    for action in own(bpy.data.actions):
        table: Any = action.get("tcb_animation")
        found[f"action {action.name}"] = (
            repr(sorted(table.to_dict().items()) if table is not None else None),
            action_bits(action),
        )
    for obj in own(bpy.data.objects):
        data = obj.animation_data
        action = data.action if data is not None else None
        slot = getattr(data, "action_slot", None)
        found[f"object {obj.name}"] = (
            action.name if action is not None else None,
            slot.handle if slot is not None else None,
            obj.rotation_mode,
            [(bone.name, bone.rotation_mode) for bone in obj.pose.bones] if obj.pose else [],
            list(obj.keys()),
            [(strip.name, strip.action.name) for track in data.nla_tracks for strip in track.strips] if data else [],
        )
    for keys in bpy.data.shape_keys:
        found[f"shape keys {keys.name}"] = [block.name for block in keys.key_blocks]
    for material in bpy.data.materials:
        found[f"material {material.name}"] = [node.name for node in material.node_tree.nodes]
    return found


def look(animation) -> None:
    """Check for edits, as happens in an idle window."""
    updates = importlib.import_module(f"{animation.__name__.removesuffix('.animation')}.ui.live.updates")
    for action in bpy.data.actions:
        updates.mark(action)
    updates.flush()


def check(animation, *steps: Step) -> None:
    """Run each step, undo all steps, and redo them. Check that every state is restored.

    Blender stores undo steps before edits are checked, so edits are checked again after undo and redo.
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
        assert not any(animation.store.table.custom_property.read_table(action).error for action in bpy.data.actions)
    for expected in stops[1:]:
        assert bpy.ops.ed.redo() == {"FINISHED"}
        look(animation)
        assert everything() == expected


def obj(name: str) -> Any:
    """Return the object by name, because undo recreates all objects."""
    return bpy.data.objects[name]


def make_two(animation, bake_first: bool) -> None:
    """Create two TCB objects. The first has a tension at frame 10, and the second a bias at frame 25."""
    keyed("One")
    keyed("Two")
    animation.key_set(obj("One"), "location", 10, tension=0.5)
    animation.key_set(obj("Two"), "location", 25, bias=-0.25)
    if bake_first:
        animation.bake_many([obj("One"), obj("Two")], animation.Options())


def playing() -> list[bpy.types.Object]:
    """Return one of the file's own objects for each action slot in use."""
    objects = [each for each in bpy.data.objects if each.library is None and each.animation_data]
    slots = {
        (data.action, getattr(data, "action_slot", None)): each for each in objects if (data := each.animation_data)
    }
    return [each for (action, _), each in slots.items() if action is not None]


def bake_all(animation) -> None:
    animation.bake_many(playing(), animation.Options(output="CURVES"))


def free_all(animation) -> None:
    for item in playing():
        animation.free(item)


def remove_all(animation) -> None:
    for item in playing():
        animation.remove(item)


def set_again(animation) -> None:
    animation.key_set(obj("One"), "location", 10, tension=-0.75)


def merge(_animation) -> None:
    choose_alone(obj("One"))
    obj("Two").select_set(True)
    assert bpy.ops.anim.merge_animation() == {"FINISHED"}


def separate(_animation) -> None:
    choose_alone(obj("One"))
    assert bpy.ops.anim.separate_slots() == {"FINISHED"}


def swap(_animation) -> None:
    one, two = (obj(name).animation_data.action for name in ("One", "Two"))
    share(two, obj("One"))
    share(one, obj("Two"))


def copy_and_paste(_animation) -> None:
    copied(obj("One"), (10, 25))
    paste(obj("Two"), 60)


def to_deltas(_animation) -> None:
    choose_alone(obj("One"))
    assert bpy.ops.object.anim_transforms_to_deltas() == {"FINISHED"}


def delete_channels(_animation) -> None:
    choose_alone(obj("One"))
    for fcurve in bag_of(obj("One")).fcurves:
        fcurve.select = fcurve.array_index != 1
    with editor("DOPESHEET", "CHANNELS") as space:
        space.dopesheet.show_only_selected = True
        assert bpy.ops.anim.channels_delete() == {"FINISHED"}


def duplicate_action(_animation) -> None:
    share(obj("One").animation_data.action.copy(), obj("One"))


def share_action(_animation) -> None:
    share(obj("Two").animation_data.action, obj("One"))


def push_to_nla(_animation) -> None:
    push_down(obj("One"))
    tweak(obj("One"))


EDITS: dict[str, Step] = {
    "duplicate an action": duplicate_action,
    "share an action": share_action,
    "push to the NLA": push_to_nla,
    "swap actions": swap,
    "paste onto another": copy_and_paste,
    "transforms to deltas": to_deltas,
    "delete channels": delete_channels,
}


LOCKED_OUT = ("paste onto another", "delete channels")
"""Edits that Blender does not apply to baked channels."""
CASES = [(name, bake_first) for name in EDITS for bake_first in (False, True)[: 1 + (name not in LOCKED_OUT)]]


@pytest.mark.parametrize(("name", "bake_first"), CASES)
def test_an_edit_of_actions_is_undone_and_redone(animation, name: str, bake_first: bool) -> None:
    make_two(animation, bake_first)
    check(animation, EDITS[name], bake_all, free_all, remove_all)


@pytest.mark.parametrize("bake_first", [False, True])
def test_an_override_of_another_file_is_undone_and_redone(animation, tmp_path, bake_first: bool) -> None:
    path = str(tmp_path / "library.blend")
    keyed("Ball")
    animation.key_set(obj("Ball"), "location", 10, tension=0.5)
    if bake_first:
        animation.bake(obj("Ball"))
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_two(animation, bake_first)

    def override(_animation) -> None:
        bpy.context.scene.collection.objects.link(load(path, link=True).override_create())

    check(animation, override, bake_all, remove_all)


@with_slots
@pytest.mark.parametrize("bake_first", [False, True])
def test_slots_that_are_merged_and_separated_are_undone_and_redone(animation, bake_first: bool) -> None:
    make_two(animation, bake_first)
    check(animation, merge, set_again, separate, bake_all, remove_all)


def rename_property(item: bpy.types.Object) -> None:
    item["height"] = item.pop("size")
    for fcurve in fcurves(item):
        fcurve.data_path = '["height"]'


NAMED: dict[str, Any] = dict(zip(("bone", "shape key", "node"), RENAMES, strict=True))
NAMED["custom property"] = custom("size", 1.0), rename_property


def present(name: str) -> Any:
    """Return the renamed object, because undo recreates it."""
    if name == "node":
        return bpy.data.materials["Paint"].node_tree
    if name == "custom property":
        return obj("Thing")
    return obj("Mesh").data.shape_keys if name == "shape key" else obj("Rig")


@pytest.mark.parametrize(("name", "bake_first"), each_once(NAMED, [False, True, True, False]))
def test_a_rename_is_undone_and_redone(animation, name: str, bake_first: bool) -> None:
    make, rename = NAMED[name]
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


@pytest.mark.parametrize(("mode", "bake_first"), [("ZYX", True), ("QUATERNION", False)])
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
    check(
        animation,
        lambda _: animation.enable(obj("Ball"), keep_look=False),
        lambda _: animation.key_set(obj("Ball"), "location", 10, tension=0.5),
        lambda _: animation.bake(obj("Ball")),
        lambda _: animation.key_set(obj("Ball"), "location", 25, bias=0.25),
        lambda _: animation.bake(obj("Ball"), output="CURVES"),
        lambda _: animation.free(obj("Ball")),
        lambda _: animation.bake(obj("Ball"), output="HANDLES"),
        lambda _: animation.bake(obj("Ball")),
        lambda _: animation.free(obj("Ball")),
        lambda _: animation.restore(obj("Ball")),
        lambda _: animation.remove(obj("Ball")),
    )


def test_parameters_are_those_of_the_step_that_undo_goes_back_to(animation) -> None:
    keyed()
    animation.enable(obj("Ball"), keep_look=False)
    bpy.ops.ed.undo_push(message="start")
    for tension in (0.25, 0.5, 0.75):
        animation.key_set(obj("Ball"), "location", 10, tension=tension)
        bpy.ops.ed.undo_push(message="set")
    found = []
    for _ in range(3):
        bpy.ops.ed.undo()
        found.append(given(animation, obj("Ball"), "location", "tension"))
    assert found == [[(10, 0.5)], [(10, 0.25)], []]
