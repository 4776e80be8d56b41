# SPDX-License-Identifier: GPL-3.0-or-later
"""The main workflow in the window: enable, type a tension, bake, play, undo, restore."""

from __future__ import annotations

from typing import Any

from .conftest import settle
from .cube import AT_REST, CURVES, hermite_first_segment
from .graphical import place


def curves(window: Any, path: str = "location", identities: bool = True) -> list[Any]:
    settle(window)
    code = f"{CURVES}\nresult = [c for c in everything({identities}) if c[0] == {path!r}]"
    return list(window.run(code))


def finish(window: Any, bake: Any, key: str) -> None:
    """Open the Finish menu, two rows below Bake, and press an underlined letter."""
    window.click((bake[0], bake[1] + TO_FINISH))
    window.key(key)


TO_FINISH = 47


def test_enable_type_a_tension_bake_play_undo_and_restore(window):
    # Enable fits parameters to the motion of Bezier keys. Parameters of linear keys stay 0.
    window.run(f"{CURVES}{AT_REST}")
    before, played = curves(window), curves(window, identities=False)
    buttons = window.buttons("VIEW_3D", height=300)
    window.click(place(buttons, "tcb.enable("))
    window.type_value(place(buttons, "tcb.tension"), "0.75")
    assert window.run("result = round(bpy.context.scene.tcb.tension, 4)") == 0.75
    by_handles = curves(window)
    assert [len(curve[3]) for curve in by_handles] == [3, 3, 3]
    assert window.run("result = bpy.data.objects['Cube'].animation_data.action.tcb_live") is True
    buttons = window.buttons("VIEW_3D", top=400)
    window.click(place(buttons, "tcb.bake("))

    baked = curves(window)
    assert [len(curve[3]) for curve in baked] == [50, 50, 50]
    # The value halfway from key 1 to key 20, from the formulas. T = 0.75 at key 20 shortens its tangents and key 1's.
    x = [
        window.run(f"s = bpy.context.scene; s.frame_set({f}); result = bpy.data.objects['Cube'].location.x")
        for f in (10, 11)
    ]
    expected = [hermite_first_segment(f) for f in (10, 11)]
    assert max(abs(a - b) for a, b in zip(x, expected, strict=True)) < 1e-6

    window.run("""
def steps():
    bpy.context.scene.frame_set(1)
    bpy.ops.screen.animation_play()
    for _turn_of_blenders_loop in range(2000):
        yield 0.025
        if bpy.context.scene.frame_current > 1:
            break
    bpy.ops.screen.animation_cancel(restore_frame=False)
""")
    assert window.run("result = bpy.context.scene.frame_current") > 1

    finish(window, place(buttons, "tcb.bake("), "r")
    assert curves(window, identities=False) == played
    window.key("ctrl+z", at=(500, 500))
    assert curves(window) == baked
    window.key("ctrl+z")
    assert curves(window) == by_handles
    finish(window, place(buttons, "tcb.bake("), "t")
    assert curves(window) == before
    assert window.run("result = list(bpy.data.objects['Cube'].animation_data.action.keys())") == []
