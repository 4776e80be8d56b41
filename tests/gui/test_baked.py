# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's editors do not change a baked character. Each attempt is explained, and Free Bake is offered."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import settle, turns, wait_for
from .editors import VIEWPORT
from .rig import RIG_CURVES, make_rig

BAKED = """
from bl_ext.user_default.tcb_animation import animation
bones = [f'pose.bones["Bone {n}"]' for n in range(2)]
animation.bake(rig, prefixes=bones)
rig.animation_data.action.tcb_live = True
bpy.ops.ed.undo_push(message='baked')
"""
"""Bones 0 and 1 are baked, handles play bone 2."""
BITS = f"""{RIG_CURVES}
def bits(bones):
    names = [p.identifier for p in bpy.types.Keyframe.bl_rna.properties]
    names = [name for name in names if name != 'rna_type' and not name.startswith(('select', 'co_ui'))]
    def plain(value):
        return value if isinstance(value, (str, float, bool)) else tuple(value)
    def keys(c):
        return [[plain(getattr(key, name)) for name in names] for key in c.keyframe_points]
    def is_asked(c):
        return any(f'"Bone {{n}}"' in c.data_path for n in bones)
    return [(c.data_path, c.array_index, c.extrapolation, keys(c)) for c in fcurves() if is_asked(c)]
"""
LOCKS = f"""{RIG_CURVES}
result = []
for n in range(3):
    locks = {{c.lock for c in fcurves() if f'"Bone {{n}}"' in c.data_path}}
    locks |= {{c.group.lock for c in fcurves() if f'"Bone {{n}}"' in c.data_path}}
    result.append(sorted(locks))
"""
LOCKED, FREE = [True], [False]
MESSAGES = """
from bl_ext.user_default.tcb_animation.ui import operator_results
result = list(map(str, operator_results.result_notes()))
"""
FORGET = "from bl_ext.user_default.tcb_animation.ui import operator_results; operator_results.keep_result_notes(())"
EDITOR = """
def steps():
    next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').type = 'INFO'
    a = max(win().screen.areas, key=lambda a: a.width * a.height)
    a.type, a.ui_type = {kind!r}, {mode!r}
    yield from drawn()
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.anim.channels_expand(all=True)
        (bpy.ops.graph if {kind!r} == 'GRAPH_EDITOR' else bpy.ops.action).view_all()
    bpy.ops.ed.undo_push(message='editor')
    yield from drawn()
    r = region(a, 'WINDOW')
    return r.x + r.width // 3, win().height - r.y - r.height // 3
"""
DOPE_SHEET, GRAPH_EDITOR = ("DOPESHEET_EDITOR", "DOPESHEET"), ("GRAPH_EDITOR", "FCURVES")


@pytest.fixture
def character(window: Any) -> Any:
    """The window with a rig in Pose Mode, with all bones selected. Two bones are baked, and handles play the third."""
    window.run(f"{make_rig(bones=3)}{BAKED}")
    settle(window)
    assert window.run(LOCKS) == [LOCKED, LOCKED, FREE]
    return window


def bits(window: Any, *bones: int) -> Any:
    settle(window)
    return window.run(f"{BITS}\nresult = bits({bones})")


def messages(window: Any) -> Any:
    settle(window)
    return window.run(MESSAGES)


def choose(window: Any, *bones: int) -> None:
    window.run(f"""
for n, bone in enumerate(bpy.data.objects['Rig'].pose.bones):
    (bone if bpy.app.version >= (5, 0) else bone.bone).select = n in {bones}
bpy.ops.ed.undo_push(message='chosen')
""")


def open_editor(window: Any, editor: tuple[str, str]) -> Any:
    kind, mode = editor
    return window.run(EDITOR.format(kind=kind, mode=mode))


def diamond(window: Any, frame: float) -> Any:
    """Return the window position of the summary's diamond at a frame."""
    return window.run(f"""
big = area('DOPESHEET_EDITOR')
r = region(big, 'WINDOW')
x, _ = r.view2d.view_to_region({frame}, 0, clip=False)
result = (r.x + x, win().height - (r.y + r.height) + 36)
""")


def typed(window: Any, at: Any, *keys: str) -> None:
    window.key(keys[0], at=at)
    for key in keys[1:]:
        window.key(key)


def drag(window: Any, at: tuple[int, int], dx: int, dy: int = 0) -> None:
    """Press the mouse button at the position, move the mouse a distance in small steps, and release the button."""
    # Soon after another press, this would be a double click.
    window.run("def steps():\n    yield 0.5")
    window.xdotool("mousemove", *at)
    turns(window)
    window.xdotool("mousedown", 1)
    turns(window)
    for step in (1, 3, 8, 16, 24):
        window.xdotool("mousemove", at[0] + dx * step // 24, at[1] + dy * step // 24)
        turns(window)
    window.xdotool("mouseup", 1)
    turns(window)


DID_NOT_MOVE = "6 baked tracks did not move. Free Bake to edit"
DID_NOT_CHANGE = "6 baked tracks did not change. Free Bake to edit"
EDITS = {
    DOPE_SHEET: [
        (("g", "3", "Return"), DID_NOT_MOVE),
        (("shift+d", "3", "Return"), DID_NOT_CHANGE),
        (("x", "Return"), DID_NOT_CHANGE),
        (("i", "Return"), DID_NOT_CHANGE),
        (("ctrl+c", "ctrl+v"), ""),
    ],
    GRAPH_EDITOR: [
        (("s", "2", "Return"), DID_NOT_MOVE),
        (("Delete",), DID_NOT_CHANGE),
        (("t", "c"), ""),
    ],
}


@pytest.mark.parametrize("editor", EDITS, ids=lambda editor: editor[1])
def test_an_edit_of_all_keys_changes_only_what_is_not_baked(character: Any, editor: tuple[str, str]) -> None:
    at = open_editor(character, editor)
    baked, free = bits(character, 0, 1), bits(character, 2)
    character.run("bpy.context.scene.frame_set(30); bpy.ops.ed.undo_push(message='frame')")
    character.key("a", at=at)
    for keys, message in EDITS[editor]:
        character.run(FORGET)
        typed(character, at, *keys)
        assert bits(character, 0, 1) == baked
        assert bits(character, 2) != free, keys
        assert messages(character) == [message] * bool(message), keys
        assert character.run(LOCKS)[:2] == [LOCKED, LOCKED]
        for _step in range(4):
            if bits(character, 2) == free:
                break
            character.key("ctrl+z", at=at)
        assert bits(character, 2) == free
        assert bits(character, 0, 1) == baked


def test_a_dragged_key_of_baked_tracks_alone_stays_and_the_editor_says_why(character: Any) -> None:
    choose(character, 0, 1)
    open_editor(character, DOPE_SHEET)
    baked = bits(character, 0, 1)
    drag(character, diamond(character, 13), 60)
    assert messages(character) == [DID_NOT_MOVE]
    assert character.run(EDITOR_TEXT) == DID_NOT_MOVE
    assert bits(character, 0, 1) == baked
    # Editors show the message only for some seconds.
    wait_for(character, EDITOR_TEXT, "")


EDITOR_TEXT = """
from bl_ext.user_default.tcb_animation.ui.live import attempts_to_edit_baked
result = attempts_to_edit_baked.text()
"""


def test_a_box_that_is_dragged_is_not_taken_for_keys(character: Any) -> None:
    choose(character, 0, 1)
    open_editor(character, DOPE_SHEET)
    x, y = diamond(character, 13)
    character.click((x, y))
    character.run(FORGET)
    # Start below all rows.
    drag(character, (x - 30, 680), 60, -300)
    assert character.run("result = bpy.context.window_manager.operators[-1].bl_idname") == "ACTION_OT_select_box"
    assert messages(character) == []


def test_a_pose_changed_on_a_baked_bone_is_explained_and_springs_back(character: Any) -> None:
    at = character.run(VIEWPORT)
    choose(character, 1, 2)
    baked = bits(character, 0, 1, 2)
    typed(character, at, "g", "x", "1", "Return")
    assert messages(character) == ["Bone 1: the motion is baked, so the new pose will not be kept. Free Bake to edit"]
    assert bits(character, 0, 1, 2) == baked
    # The message is not shown again.
    character.run(FORGET)
    typed(character, at, "alt+a")
    assert messages(character) == []
    shown = "result = tuple(bpy.data.objects['Rig'].pose.bones['Bone 1'].location)"
    posed = character.run(shown)
    character.run("s = bpy.context.scene; s.frame_set(s.frame_current + 1); s.frame_set(s.frame_current - 1)")
    assert character.run(shown) != posed
    assert messages(character) == []


def test_a_pose_that_is_taken_back_by_escape_is_none(character: Any) -> None:
    typed(character, character.run(VIEWPORT), "g", "x", "1", "Escape")
    assert messages(character) == []


def test_an_auto_keyed_pose_keys_the_free_bone_and_explains_the_baked_ones(character: Any) -> None:
    at = character.run(VIEWPORT)
    baked, free = bits(character, 0, 1), bits(character, 2)
    character.run("""
bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
bpy.context.scene.frame_set(30)
bpy.ops.ed.undo_push(message='auto')
""")
    typed(character, at, "g", "x", "1", "Return")
    assert "Bone 0, Bone 1: the motion is baked, so the new pose will not be kept. Free Bake to edit" in messages(
        character
    )
    assert bits(character, 0, 1) == baked
    assert bits(character, 2) != free
    assert character.run(LOCKS) == [LOCKED, LOCKED, FREE]


@pytest.mark.parametrize("keys", [("i",), ("k", "l")], ids="-".join)
def test_a_key_inserted_on_baked_and_free_bones_goes_to_the_free_one(character: Any, keys: tuple[str, ...]) -> None:
    at = character.run(VIEWPORT)
    baked, free = bits(character, 0, 1), bits(character, 2)
    character.run("bpy.context.scene.frame_set(30); bpy.ops.ed.undo_push(message='frame')")
    typed(character, at, *keys)
    assert messages(character) == ["Bone 0, Bone 1: keys cannot be inserted into baked tracks. Free Bake to edit"]
    assert bits(character, 0, 1) == baked
    assert bits(character, 2) != free
