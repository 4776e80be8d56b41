# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles after Enable TCB: animators see only their own keys, and edits change the motion."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import settle
from .cube import AT_REST, CURVES, everything
from .editors import open_editor
from .graphical import place


def handles(window: Any) -> Any:
    """Return the positions of all keys and handles."""
    return window.run(f"""{CURVES}
result = [[tuple(round(n, 6) for n in (*k.co, *k.handle_left, *k.handle_right)) for k in c.keyframe_points]
          for c in fcurves()]
""")


def is_as_played(window: Any) -> bool:
    """True if all handles are at the positions where a bake of handles places them."""
    settle(window)
    before = handles(window)
    window.run("bpy.ops.tcb.bake(output='HANDLES')")
    return bool(before == handles(window))


@pytest.fixture
def playing(window: Any) -> Any:
    """The window after a click on Enable TCB, with linear keys, which get no parameters."""
    window.run(f"{CURVES}{AT_REST}")
    window.click(place(window.buttons("VIEW_3D", height=320), "tcb.enable("))
    settle(window)
    assert window.run("result = bpy.data.objects['Cube'].animation_data.action.tcb_live") is True
    counts = window.run(f"{CURVES}\nresult = [len(c.keyframe_points) for c in fcurves()]")
    assert set(counts) == {3}
    return window


def test_a_handle_that_is_dragged_becomes_parameters_of_its_key(playing):
    open_editor(playing, "GRAPH_EDITOR")
    at = playing.run(f"""{CURVES}
r = region(area('GRAPH_EDITOR'), 'WINDOW')
x, y = r.view2d.view_to_region(*fcurves()[1].keyframe_points[1].handle_right, clip=False)
result = (r.x + x, win().height - r.y - y)
""")
    slopes = f"""{CURVES}
k = fcurves()[1].keyframe_points[1]
result = [(h.y - k.co.y) / (h.x - k.co.x) for h in (k.handle_left, k.handle_right)]
"""
    left, right = playing.run(slopes)
    playing.click(at)
    before = everything(playing)
    for name in ("g", "y", "1"):
        playing.key(name)
    lengths = playing.run(f"{CURVES}\nk = fcurves()[1].keyframe_points[1]\nresult = k.handle_right.x - k.co.x")
    playing.key("Return")
    settle(playing)
    bent = everything(playing)
    assert playing.run(slopes) == pytest.approx([left, right + 1 / lengths], abs=1e-2)
    found = playing.run(
        f"{CURVES}\nresult = [numbers(name, 1).get(20.0) for name in ('tension', 'continuity', 'bias')]"
    )
    assert all(found)
    playing.key("ctrl+z", at=at)
    assert everything(playing) == before
    playing.key("ctrl+shift+z", at=at)
    assert everything(playing) == bent


def test_handles_wait_while_the_animation_plays_and_follow_the_edits_afterwards(playing):
    waited = playing.run(f"""{CURVES}
def steps():
    def slopes():
        return [tuple(k.handle_right) for k in fcurves()[2].keyframe_points]
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
    from bl_ext.user_default.tcb_animation.ui.live import updates
    before = slopes()
    bpy.ops.screen.animation_play()
    yield from next_frames()
    # Its own handles stay where they are.
    fcurves()[2].keyframe_points[0].co.y = 5.0
    bpy.data.objects['Cube'].animation_data.action.update_tag()
    yield from next_frames()
    while_playing = slopes()
    bpy.ops.screen.animation_cancel(restore_frame=False)
    yield from drawn()
    yield from until(lambda: not updates.is_pending())
    return while_playing == before, slopes() != before
""")
    assert waited == (True, True)
    assert is_as_played(playing)
