# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure drags in a window, from mouse movement to last redraw, compared with Blender's drags in the same scene.

    tools/environment.sh graphical python tools/bench.py window

This runs in a graphical Blender (named by BLENDER, with the driver of ../shared/gui) with the extension installed from
its zip. A character of 100 bones has ten keys of location, rotation and scale each, and all bones are selected. Enable
is run by its button. Then the slider Tension of the tab is dragged, and for comparison a location field in the tab
Item. In the Dope Sheet, Shift+Alt+T changes the tension of all keys. For comparison, Blender moves the same keys.
Results are medians of milliseconds per move, in wall-clock time and in processor time used by Blender. Other work on
the machine affects the wall-clock time, so compare the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.gui.graphical import PLAIN_VIEWS, installed, place
from tools.build_zip import build

BONES, KEYS = 100, 10
_WAIT = 4.0
"""Maximum seconds to wait for a redraw."""
_STILL = 0.35
"""Seconds without a redraw after which no more redraws are expected."""

_SCENE = f"""
import random
random.seed(1)
data = bpy.data.armatures.new('Rig')
rig = bpy.data.objects.new('Rig', data)
bpy.context.collection.objects.link(rig)
for each in bpy.context.selected_objects:
    each.select_set(False)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode='EDIT')
for n in range({BONES}):
    bone = data.edit_bones.new(f'Bone {{n}}')
    bone.head, bone.tail = (n % 10, n // 10, 0), (n % 10, n // 10, 1)
bpy.ops.object.mode_set(mode='POSE')
for bone in rig.pose.bones:
    for frame in range(1, 250, 248 // {KEYS - 1}):
        bone.location = [random.uniform(-1, 1) for _ in range(3)]
        bone.rotation_quaternion = [1, *(random.uniform(-0.5, 0.5) for _ in range(3))]
        bone.scale = [random.uniform(0.8, 1.2) for _ in range(3)]
        for path in ('location', 'rotation_quaternion', 'scale'):
            bone.keyframe_insert(path, frame=frame, group=bone.name)
bpy.ops.pose.select_all(action='SELECT')
data.bones.active = data.bones['Bone 45']
bpy.context.scene.frame_set(1 + 4 * (248 // {KEYS - 1}))
bpy.ops.ed.undo_push(message='rig')
"""
_ENABLE = """
import time
def steps():
    yield from drawn()
    start = time.process_time()
    with bpy.context.temp_override(window=win(), area=area('VIEW_3D'), region=region(area('VIEW_3D'), 'WINDOW')):
        bpy.ops.tcb.enable('INVOKE_DEFAULT')
    return time.process_time() - start
"""
_SELECT = """
rig = bpy.data.objects['Rig']
chosen = rig.pose if bpy.app.version >= (5, 0, 0) else rig.data
for bone in chosen.bones:
    bone.select = bone.name in {which}
def steps():
    area('VIEW_3D').tag_redraw()
    yield from drawn()
    yield from drawn()
"""
_SHORTCUTS = """
bpy.context.preferences.addons['bl_ext.user_default.tcb_animation'].preferences.use_shortcuts = True
"""
_STAMPS = """
import time
bpy.app.driver_namespace['stamps'] = stamps = []
for space in (bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor):
    for kind in ('WINDOW', 'UI'):
        space.draw_handler_add(lambda: stamps.append((time.time(), time.process_time())), (), kind, 'POST_PIXEL')
"""
_LAST = "result = (bpy.app.driver_namespace['stamps'] or [(0.0, 0.0)])[-1]"
_COUNT = """
import time
def steps():
    bpy.app.driver_namespace['stamps'].clear()
    yield 0.01
    return time.process_time()
"""
_DOPE_SHEET = """
def steps():
    a = area('VIEW_3D')
    a.ui_type = 'DOPESHEET'
    yield from drawn()
    r = region(a, 'WINDOW')
    with bpy.context.temp_override(window=win(), area=a, region=r):
        bpy.ops.action.view_all()
    yield from drawn()
    return (r.x + r.width // 2, win().height - (r.y + r.height // 2))
"""


class Times(NamedTuple):
    """Milliseconds from a mouse movement to the last resulting redraw."""

    clock: float
    processor: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--moves", type=int, default=15)


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, installed(build(Path(folder))) as gui:
        print("Blender", gui.run("result = bpy.app.version_string"))
        gui.run(PLAIN_VIEWS)
        gui.run(_SHORTCUTS)
        gui.run(_SCENE, timeout=300)
        print(f"Enable: {gui.run(_ENABLE, timeout=300):.2f} s of processor time")
        gui.run(_STAMPS)
        time.sleep(3.0)
        own = drag_slider(gui, "TCB", "tcb.tension", options.moves)
        print_beside("slider", own, drag_slider(gui, "Item", "location", options.moves))
        center = gui.run(_DOPE_SHEET)
        own = drag_in_dope_sheet(gui, "shift+alt+t", center, options.moves)
        print_beside("Dope Sheet", own, drag_in_dope_sheet(gui, "g", center, options.moves))


def drag_slider(gui: Any, category: str, button: str, moves: int) -> list[Times]:
    """Drag a slider of the sidebar, and return the times of the movements."""
    gui.open_sidebar("VIEW_3D", category)
    # With one bone, the sidebar is drawn faster than the pointer moves across it.
    gui.run(_SELECT.format(which="['Bone 45']"))
    x, y = place(gui.buttons("VIEW_3D", timeout=300), button)
    gui.run(_SELECT.format(which="rig.pose.bones.keys()"))
    time.sleep(2.0)
    hold(gui, (x, y))
    times = times_of_moves(gui, moves)
    gui.xdotool("mouseup", 1)
    time.sleep(2.0)
    return times


def hold(gui: Any, label: tuple[int, int]) -> None:
    """Press the mouse button on the slider beside its label, at the first point where the slider moves."""
    x, y = label
    # Rows are 20 pixels high.
    for row in (y, y + 6, y - 6):
        for column in (x - 62, x - 58, x - 55):
            gui.xdotool("mousemove", column, row)
            time.sleep(0.3)
        gui.xdotool("mousedown", 1)
        time.sleep(0.5)
        if times_of_moves(gui, 6):
            return
        gui.xdotool("mouseup", 1)
        time.sleep(1.0)
    raise SystemExit("bench.py window: the slider does not move")


def drag_in_dope_sheet(gui: Any, keys: str, center: tuple[int, int], moves: int) -> list[Times]:
    """Start a drag of all keys with a shortcut, and return the times of the movements."""
    gui.key("a", at=center)
    gui.key(keys, at=center)
    time.sleep(1.0)
    times_of_moves(gui, 2)
    times = times_of_moves(gui, moves)
    gui.xdotool("key", "Escape")
    time.sleep(2.0)
    return times


def times_of_moves(gui: Any, count: int, dx: int = 4) -> list[Times]:
    """Move the mouse this number of times, and return the times of the movements that are drawn."""
    times = []
    for _ in range(count):
        processor = gui.run(_COUNT)
        start = time.time()
        gui.xdotool("mousemove_relative", "--", dx, 0)
        last = (0.0, 0.0)
        while (now := time.time()) < start + _WAIT and not (last[0] and now > last[0] + _STILL):
            time.sleep(0.05)
            last = gui.run(_LAST)
        if last[0] > start:
            times.append(Times(1000.0 * (last[0] - start), 1000.0 * (last[1] - processor)))
    return times


def print_beside(drag: str, own: list[Times], blenders: list[Times]) -> None:
    """Print the times of a drag beside the times of Blender's drag."""
    for kind in Times._fields:
        ours, others = ([getattr(each, kind) for each in times] for times in (own, blenders))
        one, other = statistics.median(ours), statistics.median(others)
        print(
            f"{drag}, {kind}: {one:.0f} ms (slowest {max(ours):.0f}, {len(ours)} of the moves redrawn),"
            f" Blender's own {other:.0f} ms ({len(others)}), ratio {one / other:.1f}",
            flush=True,
        )
