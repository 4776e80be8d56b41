# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the cost of paths in the viewport.

    tools/environment.sh graphical python tools/bench.py overlay

This runs in a graphical Blender (named by BLENDER, with the driver of ../shared/gui) with the extension installed from
its zip. In turns, it measures the drawing time of the viewport and the window with and without the paths of selected
baked objects.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.gui.graphical import installed
from tools.build_zip import build

_ROUNDS = 7

_SCENE = """
import random
random.seed(1)
scene = bpy.context.scene
scene.frame_end = {frames}
mesh = bpy.data.objects['Cube'].data
bpy.data.objects.remove(bpy.data.objects['Cube'])
for number in range({objects}):
    item = bpy.data.objects.new('Cube', mesh)
    scene.collection.objects.link(item)
    item.scale = (0.1, 0.1, 0.1)
    for frame in range(1, {frames} + 1, 20):
        item.location = [random.uniform(-4, 4) for _ in range(3)]
        item.rotation_euler = [random.uniform(-2, 2) for _ in range(3)]
        item.keyframe_insert('location', frame=frame)
        item.keyframe_insert('rotation_euler', frame=frame)
    item.select_set(True)
bpy.context.view_layer.objects.active = item
bpy.ops.tcb.enable()
bpy.ops.tcb.bake()
scene.frame_set({frames} // 2)
"""

# Draw several times, because the first time uploads batches to the graphics card.
_MEASURE = """
import sys, time
pictures = sys.modules['bl_ext.user_default.tcb_animation.panels.pictures']
overlay = pictures.paths_in_viewport
settings = bpy.context.scene.tcb_paths

def drawn(kind, times, frames=0):
    with bpy.context.temp_override(window=win(), area=area('VIEW_3D'), region=region(area('VIEW_3D'), 'WINDOW')):
        start = time.perf_counter()
        for _ in range(times):
            if frames:
                bpy.context.scene.frame_set(bpy.context.scene.frame_current + frames)
            bpy.ops.wm.redraw_timer(type=kind, iterations=1)
        return (time.perf_counter() - start) / times * 1000

def steps():
    bpy.context.window_manager.tcb_show_paths = True
    settings.by_speed, settings.frames, settings.tangents = {look}
    overlay.path_cache.clear()
    drawn('DRAW_WIN_SWAP', 1)
    while overlay.path_cache.state.requested or overlay.path_cache.state.stepped:
        overlay.path_cache._work()
    for _ in range(2):
        drawn('DRAW_WIN_SWAP', 1)
        yield 0.01
    times = {{('DRAW', 0): ([], []), ('DRAW_WIN_SWAP', 0): ([], []), ('DRAW_WIN_SWAP', 1): ([], [])}}
    for _ in range({rounds}):
        for (kind, frames), (without, with_paths) in times.items():
            space, handle = pictures._handles.pop(0)
            space.draw_handler_remove(handle, 'WINDOW')
            without.append(drawn(kind, 2, frames))
            handle = space.draw_handler_add(overlay.draw_viewport, (), 'WINDOW', 'POST_VIEW')
            pictures._handles.insert(0, (space, handle))
            with_paths.append(drawn(kind, 2, frames))
        yield 0.01
    return times
"""

_KINDS = {
    ("DRAW", 0): "viewport",
    ("DRAW_WIN_SWAP", 0): "window",
    ("DRAW_WIN_SWAP", 1): "window, playing",
}


def measure(gui: Any, objects: int, frames: int) -> None:
    gui.run(_SCENE.format(objects=objects, frames=frames), timeout=300)
    looks = {
        "plain": (False, True, True),
        "by speed": (True, True, True),
        "lines and keys alone": (False, False, False),
    }
    for look, settings in looks.items():
        times = gui.run(_MEASURE.format(look=settings, rounds=_ROUNDS), timeout=600)
        print(f"paths of {objects} objects and {frames} frames, {look}:")
        for kind, (without, with_paths) in times.items():
            before, after = statistics.median(without), statistics.median(with_paths)
            print(
                f"  {_KINDS[kind]:15} {before:7.1f} ms without, {after:7.1f} ms with: {before / after:.2f} of the rate"
            )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--objects", type=int, default=50)
    parser.add_argument("--frames", type=int, default=1000)


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, installed(build(Path(folder))) as gui:
        print("Blender", gui.run("result = bpy.app.version_string"))
        measure(gui, options.objects, options.frames)
