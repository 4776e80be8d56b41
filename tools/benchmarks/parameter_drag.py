# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the steps of drags with 100 bones under Live, compared with Blender's evaluation of the same scene.

The file has 100 bones with location, rotation and scale keys at the same frames of 250,
1,000 channels, played with handles. The slider Tension of the tab is dragged for one selected bone and for all bones.
The operator Drag changes the tension of one key, of one key per track, and of all 3,000 keys. A step processes one
mouse movement, including the handlers that Blender calls after it. The result "begun" is the first step, which prepares
the drag. The result "released" includes writing the keys. The result "Blender" is the time that Blender needs to
evaluate the action after a step. All times are medians in milliseconds of processor time, without redraws. With
`--eases` each key has its own eases, as is common after an Enable that keeps the look.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.character import KEYS, character, own_frames
from tools.benchmarks.checkout import animation, module, package
from tools.benchmarks.scenes import fcurves
from tools.benchmarks.timing import milliseconds_of

updates, key_fields, slider_drag, parameters, track_keys, channels, parameter_drag = (
    module(name)
    for name in (
        "ui.live.updates",
        "ui.sliders.key_fields",
        "ui.sliders.slider_drag",
        "animation.edit.parameters",
        "animation.edit.track_keys",
        "animation.fcurves.channels",
        "animation.edit.parameter_drag",
    )
)
DRAGGED = "bone 45"
COLUMNS = ("begun", "step", "slowest", "released", "Blender")


def update() -> None:
    """Make Blender evaluate the changes and call its handlers."""
    view_layer: Any = bpy.context.view_layer
    view_layer.update()


def without_handlers(function: Callable[[], object]) -> None:
    """Call a function with the handlers of the extension disabled."""
    handlers: Any = bpy.app.handlers.depsgraph_update_post
    own_handlers = list(handlers)
    handlers.clear()
    try:
        function()
    finally:
        handlers.extend(own_handlers)


def evaluated_by_blender(rig: Any) -> float:
    """Return the milliseconds that Blender alone needs to evaluate the action again."""
    rig.animation_data.action.update_tag(refresh={"TIME"})
    times: list[float] = []
    without_handlers(lambda: times.append(milliseconds_of(update)))
    return times[0]


class Slider:
    """The slider of the tab while the mouse drags it."""

    def __init__(self, rig: Any, bones: list[str]) -> None:
        self._event(presses=True)
        chosen = rig.pose if bpy.app.version >= (5, 0, 0) else rig.data
        rig.data.bones.active = rig.data.bones[DRAGGED]
        for bone in chosen.bones:
            bone.select = bone.name in bones
        scene: Any = bpy.context.scene
        self._scene = scene

    def _event(self, **state: bool) -> None:
        vars(key_fields)["last_event"] = lambda _context: slider_drag.LastEvent(**state)

    def to(self, number: float) -> None:
        self._scene.tcb.tension = number

    def release(self, number: float) -> None:
        self._event()
        self._scene.tcb.tension = number


class Operator:
    """The drag of the operator Drag, without its window."""

    def __init__(self, rig: Any, paths: set[str], frames: list[float]) -> None:
        every = track_keys.keys_on_paths(rig, channels.channels_of(rig), paths)
        chosen = [keys.take(np.isin(keys.frames, np.array(frames, dtype=np.float32))) for keys in every]
        self._before = [keys.parameters({})["tension"] for keys in chosen]
        self._drag = parameter_drag.ParameterDrag(chosen, {})

    def _given(self, number: float) -> list[dict[str, Any]]:
        return [{"tension": np.clip(before + number, -1.0, 1.0)} for before in self._before]

    def to(self, number: float) -> None:
        self._drag.to(self._given(number))

    def release(self, number: float) -> None:
        self._drag.finish(self._given(number))


def times_of_drags(rig: Any, begin: Callable[[], Any], count: int) -> dict[str, float]:
    """Drag in steps, and release the mouse button."""
    steps, blender = [], []
    drag = begin()
    for number in range(count + 1):
        step = milliseconds_of(partial(drag.to, 0.5 * (number + 1) / count))
        evaluation = milliseconds_of(update)
        alone = evaluated_by_blender(rig)
        steps.append(step + max(0.0, evaluation - alone))
        blender.append(alone)
    released = milliseconds_of(partial(drag.release, 0.5))
    updates.flush_all()
    begun, *steps = steps
    return dict(zip(COLUMNS, (begun, median(steps), max(steps), released, median(blender)), strict=True))


def give_eases(rig: Any) -> None:
    """Give each key different eases."""
    dice = np.random.default_rng(1)
    paths = {fcurve.data_path for fcurve in fcurves(rig)}
    every = list(track_keys.keys_on_paths(rig, channels.channels_of(rig), paths))
    eases = [{name: dice.uniform(0.0, 0.5, len(keys)) for name in ("ease_to", "ease_from")} for keys in every]
    parameters.set_parameters_of_each(zip(every, eases, strict=True), {})
    updates.flush_all()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--keys", type=int, default=KEYS, help="keys of each channel (default: %(default)s)")
    parser.add_argument("--eases", action="store_true", help="each key has eases")


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rig = character(Path(folder) / "character.blend", options.keys)
    package.register()
    animation.bake(rig, output="HANDLES")
    rig.animation_data.action.tcb_live = True
    updates.flush_all()
    context: Any = bpy.context
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    # Also measure steps that the drag would skip.
    parameter_drag.REST = 0.0
    if options.eases:
        give_eases(rig)
    frames = own_frames(rig)
    context.scene.frame_set(int(frames[4]), subframe=frames[4] % 1)
    one = {f'pose.bones["{DRAGGED}"].rotation_quaternion'}
    every = {fcurve.data_path for fcurve in fcurves(rig)}
    cases: dict[str, Callable[[], Any]] = {
        "slider, one bone": partial(Slider, rig, [DRAGGED]),
        "slider, all bones": partial(Slider, rig, [bone.name for bone in rig.pose.bones]),
        "Drag, one key": partial(Operator, rig, one, frames[4:5]),
        f"Drag, {len(every)} keys, one of each track": partial(Operator, rig, every, frames[4:5]),
        f"Drag, all {len(every) * len(frames):,} keys": partial(Operator, rig, every, frames),
    }
    print(f"Blender {bpy.app.version_string}, {len(fcurves(rig))} channels of {len(frames)} keys; milliseconds")
    print(f"{'':36}" + "".join(f"{name:>16}" for name in COLUMNS))
    for title, begin in cases.items():
        times = times_of_drags(rig, begin, options.steps)
        print(f"{title:36}" + "".join(f"{times[name]:16.1f}" for name in COLUMNS))
