# SPDX-License-Identifier: GPL-3.0-or-later
"""Live by hand, of samples: what is dragged, keyed, undone, saved and opened again moves as its keys say; no Bake is
pressed but the first one. What handles play is in test_live_handles.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.graphical import place

from .conftest import PICTURES, settle
from .cube import CURVES
from .dope_sheet import diamond, drag, everything, open_dope_sheet, own_frames


def is_as_baked(window: Any) -> bool:
    """Whether pressing Bake would change nothing of what is played."""
    settle(window)
    return bool(
        window.run(f"""{CURVES}
def played():
    return [(c[0], c[1], c[2], [key[0] for key in c[3]]) for c in everything()]
before = played()
bpy.ops.tcb.bake()
result = played() == before
""")
    )


@pytest.fixture
def live(window: Any) -> Any:
    """The window with samples baked and Live switched on, by clicks."""
    buttons = window.buttons("VIEW_3D")
    window.click(place(buttons, "tcb.bake("))
    window.click(place(window.buttons("VIEW_3D", height=120), "tcb_live"))
    settle(window)
    window.shot(PICTURES / "live_on.png")
    assert window.run("result = bpy.data.objects['Cube'].animation_data.action.tcb_live") is True
    curves = window.run(f"{CURVES}\nresult = [len(c.keyframe_points) for c in fcurves() if c.data_path == 'location']")
    assert curves == [50, 50, 50]
    return window


def test_a_dragged_key_is_followed_by_its_motion_on_release(live):
    open_dope_sheet(live)
    live.shot(PICTURES / "live_before.png")
    live.click(diamond(live, 20))
    drag(live, "5")
    settle(live)
    live.shot(PICTURES / "live_after.png")
    assert own_frames(live) == [1, 25, 50]
    assert own_frames(live, "rotation_quaternion") == [1, 25, 50]
    assert is_as_baked(live)


def test_ten_edits_are_undone_and_redone_to_the_last_bit(live):
    open_dope_sheet(live)
    live.click(diamond(live, 20))
    states = [everything(live)]
    at = 20.0
    for step in range(10):
        by = (3, -2, 4, -1, 2, -5, 6, -3, 1, 2)[step]
        drag(live, str(by))
        at += by
        states.append(everything(live))
        assert own_frames(live) == [1, at, 50]
    for state in reversed(states[:-1]):
        live.key("ctrl+z", at=diamond(live, 40))
        assert everything(live) == state
    for state in states[1:]:
        live.key("ctrl+shift+z", at=diamond(live, 40))
        assert everything(live) == state
    assert is_as_baked(live)


def test_a_generated_key_that_is_dragged_alone_goes_back_and_the_tab_says_so(live):
    open_dope_sheet(live)
    live.click(diamond(live, 33))
    drag(live, "3")
    settle(live)
    live.shot(PICTURES / "live_in_vain.png")
    assert own_frames(live) == [1, 20, 50]
    said = live.run("""
from bl_ext.user_default.tcb_animation.ui.live import messages
result = messages.notes_of(bpy.data.objects['Cube'].animation_data.action)
""")
    assert said == ['"Cube", location: only generated keys were moved: they are back']
    assert is_as_baked(live)


def test_keying_a_baked_frame_makes_a_key_there(live):
    live.run("bpy.context.scene.frame_set(33); bpy.ops.ed.undo_push(message='frame')")
    centre = live.run("a = area('VIEW_3D'); r = region(a, 'WINDOW'); result = (r.x + 300, win().height - r.y - 300)")
    live.key("i", at=centre)
    settle(live)
    live.shot(PICTURES / "live_keyed.png")
    assert own_frames(live) == [1, 20, 33, 50]
    assert is_as_baked(live)


def test_it_goes_on_after_saving_and_opening_again(live, tmp_path: Path):
    path = str(tmp_path / "live.blend")
    live.run(f"bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    before = everything(live)
    live.run(f"bpy.ops.wm.open_mainfile(filepath={path!r})")
    assert everything(live) == before
    open_dope_sheet(live)
    live.click(diamond(live, 20))
    drag(live, "5")
    settle(live)
    assert own_frames(live) == [1, 25, 50]
    assert is_as_baked(live)


def test_nothing_is_baked_while_playing_and_what_was_edited_then_is_afterwards(live):
    baked = live.run("""
def steps():
    def heights():
        found = bpy.data.objects['Cube'].animation_data
        bag = found.action if bpy.app.version < (4, 4) else (
            found.action.layers[0].strips[0].channelbag(found.action_slot))
        return [k.co.y for k in bag.fcurves.find('location', index=2).keyframe_points]
    scene = bpy.context.scene
    def until(happened):
        for _turn_of_blenders_loop in range(2000):
            if happened():
                return
            yield 0.025
        raise AssertionError("Blender does not play, or Live does not come to rest")
    def next_frames():
        for _frame in range(12):
            before = scene.frame_current
            yield from until(lambda: scene.frame_current != before)
    from bl_ext.user_default.tcb_animation.ui.live import handlers
    before = heights()
    bpy.ops.screen.animation_play()
    yield from next_frames()
    action = bpy.data.objects['Cube'].animation_data.action
    found = bpy.data.objects['Cube'].animation_data
    bag = action if bpy.app.version < (4, 4) else action.layers[0].strips[0].channelbag(found.action_slot)
    bag.fcurves.find('location', index=2).keyframe_points[0].co_ui.y = 5.0
    action.update_tag()
    yield from next_frames()
    playing = heights()
    bpy.ops.screen.animation_cancel(restore_frame=False)
    yield from drawn()
    yield from until(lambda: not handlers.is_pending())
    return playing[1:] == before[1:], heights()[1:] != before[1:]
""")
    assert baked == (True, True)
    assert is_as_baked(live)
