# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure a step of a slider of the tab, and of the operator Drag, with 100 bones live.

    python tools/bench_sliders.py [--steps 10] [--output build/bench_sliders.json]

The file is that of bench_drag.py: a character of 100 bones with 50 keys of location and rotation each, played by
handles. The tension of keys at one frame is dragged: by the slider of the tab, which is about the rotation, of one
selected bone and of all; by the operator, of one key and of those of all 200 tracks. A step is what is done at each
movement of the mouse: the keys are found, set and baked; Live is asked, and waits for the end of the drag. "co" is the
mere reading of the `co` of all keys of the character's F-curves, after each step. Both are medians, of processor time,
without Blender's own redraw.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.bench_drag import DRAGGED, FRAME, character, handlers, package, read_co, timed

key_drag, key_fields, modifier_keys, track_keys, channels = (
    importlib.import_module(f"{package.__name__}.{name}")
    for name in (
        "operators.key_drag",
        "ui.sliders.key_fields",
        "ui.sliders.modifier_keys",
        "animation.edit.track_keys",
        "animation.fcurves.channels",
    )
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rig = character()
    # The mouse holds the slider.
    vars(key_fields)["last_event"] = lambda _context: modifier_keys.LastEvent(holds=True)
    found: dict[str, Any] = {"blender": bpy.app.version_string}
    print(f"Blender {bpy.app.version_string}")
    for what, step in steps(rig):
        ms, co = measured(rig, step, arguments.steps)
        found[what] = {"step": ms, "co": co}
        print(f"{what:18} {ms:.1f} ms, {ms / co:.1f} x co, which takes {co:.2f} ms")
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(found, indent=1))


def steps(rig: Any) -> Iterator[tuple[str, Callable[[float], object]]]:
    """Yield the names of what is measured, each with a function that drags the tension to a number."""
    scene: Any = bpy.context.scene
    scene.frame_set(FRAME)
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones[DRAGGED]
    bpy.ops.pose.select_all(action="DESELECT")
    (rig.pose if bpy.app.version >= (5, 0, 0) else rig.data).bones[DRAGGED].select = True
    yield "slider, one bone", partial(setattr, scene.tcb, "tension")
    bpy.ops.pose.select_all(action="SELECT")
    yield "slider, all bones", partial(setattr, scene.tcb, "tension")
    paths = {fcurve.data_path for fcurve in channels.channels_of(rig)}
    for some in ({f'pose.bones["{DRAGGED}"].location'}, paths):
        drag = Drag(rig, some)
        yield f"Drag, keys: {len(some)}", drag.to


class Drag:
    """The operator, in the place of one that runs, which only a window has."""

    parameter = "tension"
    _typed = ""
    _apply, _after, _typed_value = (
        getattr(key_drag.TCB_OT_key_drag, name) for name in ("_apply", "_after", "_typed_value")
    )

    def __init__(self, rig: Any, paths: set[str]) -> None:
        found = track_keys.keys_on_paths(rig, channels.channels_of(rig), paths)
        self._chosen = [keys.take(keys.frames == FRAME) for keys in found]
        self._defaults: dict[str, float] = {}
        self._before = [keys.parameters(self._defaults)[self.parameter] for keys in self._chosen]

    def to(self, moved: float) -> None:
        self._moved = moved
        self._apply(bpy.context)

    def _show(self, _context: bpy.types.Context) -> None:
        pass


def measured(rig: Any, step: Callable[[float], object], count: int) -> tuple[float, float]:
    """Return the milliseconds of a step, with Live asked after it, and of reading `co`: medians."""

    def step_and_ask(number: float) -> None:
        step(number)
        handlers.mark(rig.animation_data.action)
        handlers.tick()

    # The first steps make curves and rows.
    for number in (0.01, 0.02):
        step_and_ask(number)
    times = [
        (timed(partial(step_and_ask, 0.5 * number / count)), timed(partial(read_co, rig)))
        for number in range(1, count + 1)
    ]
    ms, co = (median(each) for each in zip(*times, strict=True))
    return ms, co


if __name__ == "__main__":
    main()
