# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities of several keys in the Graph Editor, for a method that uses them."""

from __future__ import annotations

from typing import Any

from .conftest import PICTURES, turns
from .cube import CURVES, everything
from .editors import open_editor
from .graphical import place

HERMITE = """
from bl_ext.user_default.tcb_animation import animation
cube = bpy.data.objects['Cube']
animation.enable(cube, keep_look=False)
animation.choose(cube, 'location', method='HERMITE')
"""
VELOCITIES_GIVEN = """
from bl_ext.user_default.tcb_animation import animation
cube = bpy.data.objects['Cube']
for frame, velocity in ((1, (1, 0.5, 0)), (20, (-3, 0.5, 0.25))):
    animation.key_set(cube, 'location', frame, velocity=velocity)
bpy.ops.ed.undo_push(message='velocities')
"""


def velocities(window: Any) -> Any:
    """Return the velocities of the location's keys for each component: {frame: number}."""
    return window.run(f"{CURVES}\nresult = [numbers('velocity[0]', index) for index in range(3)]")


def test_a_component_of_the_velocity_is_set_on_all_selected_keys_and_the_others_are_kept(window):
    window.run(HERMITE)
    centre = open_editor(window, "GRAPH_EDITOR")
    window.key("a", at=centre)
    # For mixed values, the sliders have the same positions but are narrower.
    buttons = window.buttons("GRAPH_EDITOR", height=560)
    x, y = place(buttons, "tcb.velocity")
    x -= 60
    window.run(VELOCITIES_GIVEN)
    before = everything(window)
    given = [{1.0: 1.0, 20.0: -3.0}, {1.0: 0.5, 20.0: 0.5}, {1.0: 0.0, 20.0: 0.25}]
    assert velocities(window) == given
    window.shot(PICTURES / "velocities_mixed.png")

    window.type_value((x, y), "2")
    assert velocities(window) == [{1.0: 2.0, 20.0: 2.0, 50.0: 2.0}, *given[1:]]
    window.shot(PICTURES / "velocities.png")
    after = everything(window)
    window.key("ctrl+z", at=centre)
    assert everything(window) == before
    window.key("ctrl+shift+z", at=centre)
    assert everything(window) == after
    window.key("ctrl+z", at=centre)

    # A drag canceled with Esc restores the keys' values.
    for at in ((x - 5, y), (x, y)):
        window.xdotool("mousemove", *at)
        turns(window)
    window.xdotool("mousedown", 1)
    for _step in range(8):
        window.xdotool("mousemove_relative", 5, 0)
        turns(window)
    held = velocities(window)
    window.key("Escape")
    window.xdotool("mouseup", 1)
    turns(window)
    assert len(set(held[0].values())) == 1
    assert held[1:] == given[1:]
    assert velocities(window) == given
