# SPDX-License-Identifier: GPL-3.0-or-later
"""Simultaneous edits to an object played by handles and to its plain twin. Both have the same keys after each edit.

tests/animation/edit_sequences.py runs long sequences of all kinds of edits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import PICTURES, settle
from .cube import CURVES
from .dope_sheet import diamond, open_dope_sheet
from .handles import is_as_played

TWIN = """
cube = bpy.data.objects['Cube']
twin = cube.copy()
twin.name = 'Twin'
bpy.context.collection.objects.link(twin)
action = twin.animation_data.action = cube.animation_data.action.copy()
if bpy.app.version >= (4, 4):
    twin.animation_data.action_slot = action.slots[0]
twin.select_set(False)
bpy.ops.tcb.enable(live=True)
twin.select_set(True)
bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False
bpy.ops.ed.undo_push(message='twins')
"""
KEYS = f"""{CURVES}
def keys(name):
    '''Of each channel: frame, value, and what stands at the key but its handles.'''
    def known(key):
        return key.co.x, key.co.y, key.interpolation, key.easing, key.type

    return {{(c.data_path, c.array_index): list(map(known, c.keyframe_points)) for c in fcurves_of(name)}}

def fcurves_of(name):
    animation = bpy.data.objects[name].animation_data
    if bpy.app.version < (4, 4):
        return animation.action.fcurves
    return animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves
"""
"""Rotations of this cube need no quaternions with signs or lengths that differ from the animator's."""


@pytest.fixture
def twins(window: Any) -> Any:
    """The window with a cube played by handles and its plain twin, both selected, in the Dope Sheet."""
    window.run(TWIN)
    open_dope_sheet(window)
    settle(window)
    assert window.run("result = bpy.data.objects['Twin'].animation_data.action.tcb_live") is False
    return window


def keys_of(window: Any, name: str) -> Any:
    settle(window)
    return window.run(f"{KEYS}\nresult = keys({name!r})")


def typed(window: Any, start: str, *characters: str) -> None:
    window.key(start)
    for character in (*characters, "Return"):
        window.key({"-": "minus", ".": "period"}.get(character, character))


def move_column(window: Any) -> None:
    window.click(diamond(window, 20))
    typed(window, "g", "-", "6")


def scale_all(window: Any) -> None:
    window.key("a", at=diamond(window, 20))
    typed(window, "s", "0", ".", "5")


def copy_and_paste(window: Any) -> None:
    window.key("a", at=diamond(window, 20))
    window.key("ctrl+c")
    window.run("bpy.context.scene.frame_set(70); bpy.ops.ed.undo_push(message='frame')")
    window.key("ctrl+v")


def step_column(window: Any) -> None:
    """Choose Constant, the first type in the menu."""
    window.click(diamond(window, 20))
    window.key("t")
    window.key("c")


EDITS = (move_column, scale_all, copy_and_paste, step_column)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_leaves_the_same_keys_as_of_the_plain_twin(twins: Any, edit: Callable[[Any], None]) -> None:
    before = keys_of(twins, "Twin")
    assert keys_of(twins, "Cube") == before
    edit(twins)
    after = keys_of(twins, "Twin")
    twins.shot(PICTURES / f"twin_{edit.__name__}.png")
    assert after != before
    assert keys_of(twins, "Cube") == after
    assert is_as_played(twins)
    for _step in range(4):
        if keys_of(twins, "Twin") == before:
            break
        twins.key("ctrl+z", at=diamond(twins, 20))
    assert keys_of(twins, "Cube") == keys_of(twins, "Twin") == before
