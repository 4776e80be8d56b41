# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the processor time of each verb per object, relative to a direct write of the same number of linear keys.

Each object has ten keys on each of nine channels over 250 frames. All verbs take turns in each round, and the tables
show the minimum of the rounds. Reduce is measured on the 251 keys per channel of applied samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import fcurves
from tools.benchmarks.timing import milliseconds_of
from tools.tables import number, show, table

FRAMES = [*range(0, 250, 28), 250]
PATHS = ("location", "rotation_euler", "scale")
keyframes = module("animation.fcurves.keyframes")
ATTRIBUTES, PAIRS = keyframes.DTYPES, keyframes.PAIRS
WRITTEN = ("interpolation", "handle_left_type", "handle_right_type", "type", "back", "amplitude", "period")
"""The attributes of a bake's keys, besides their positions, that differ from the attributes of new keys."""


def make(count: int) -> list[Any]:
    """Create a scene of objects with keys on location, rotation and scale."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    generator = np.random.default_rng(1)
    items = []
    for number_of_item in range(count):
        item = bpy.data.objects.new(f"Object {number_of_item}", None)
        scene.collection.objects.link(item)
        items.append(item)
        for path in PATHS:
            for frame in FRAMES:
                setattr(item, path, generator.uniform(0.5, 1.5, 3))
                item.keyframe_insert(path, frame=frame)
    return items


def write_linear_keys(items: list[Any]) -> None:
    """Write one linear key per frame into curves of new actions, and nothing else."""
    frames = np.arange(FRAMES[-1] + 1, dtype=np.float32)
    for item in items:
        action: Any = bpy.data.actions.new("Bare")
        slot = action.slots.new(item.id_type, item.name)
        bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
        for path in PATHS:
            for index in range(3):
                fcurve = bag.fcurves.new(path, index=index)
                points = fcurve.keyframe_points
                points.add(len(frames))
                points.foreach_set("co", np.column_stack([frames, np.sin(frames)]).astype(np.float32).ravel())
                points.foreach_set("interpolation", np.ones(len(frames), dtype=np.uint8))
                fcurve.update()


def call_blender(items: list[Any]) -> None:
    """Make the calls to Blender that a bake as samples needs, with prepared arrays.

    The keys are read, replaced, selected as before, and locked.
    """
    count = FRAMES[-1] + 1
    read = {name: np.empty(len(FRAMES) * (2 if name in PAIRS else 1), dtype) for name, dtype in ATTRIBUTES.items()}
    written = {"co_ui": np.repeat(np.arange(count, dtype=np.float32), 2)}
    written |= {name: np.zeros(count, ATTRIBUTES[name]) for name in WRITTEN}
    for item in items:
        curves = fcurves(item)
        for curve in curves:
            points = curve.keyframe_points
            for name, array in read.items():
                points.foreach_get(name, array.data)
            points.clear()
            points.add(count)
            for name, array in written.items():
                points.foreach_set(name, array.data)
            points.handles_recalc()
            curve.lock = True
        item.animation_data.action.deselect_keys()
        for curve in curves:
            for frame in FRAMES:
                curve.keyframe_points.insert(frame, frame, options={"REPLACE", "FAST"})


bake = partial(animation.bake_many, keep_look=False)
Verb = tuple[str, Callable[[list[Any]], object]]
SEQUENCES: list[list[Verb]] = [
    [("direct write", write_linear_keys)],
    [("Blender's part of a bake as samples", call_blender)],
    [("bake as samples", bake), ("Restore", animation.restore_many), ("", bake), ("Free Bake", animation.free_many)],
    [("bake with handles", partial(bake, options=animation.Options(output="HANDLES")))],
    [
        ("Enable with Preserve Motion", animation.enable_many),
        ("", bake),
        ("", animation.apply_many),
        ("Reduce, from the 251 keys per channel of applied samples", animation.reduce_many),
    ],
]
"""Verbs to call one after the other on new objects. Those without a name are not reported."""


def measured(count: int, rounds: int) -> dict[str, float]:
    """Return the milliseconds of each verb per object."""
    least: dict[str, float] = {}
    for _ in range(rounds):
        for sequence in SEQUENCES:
            items = make(count)
            for verb, work in sequence:
                spent = milliseconds_of(partial(work, items)) / count
                least[verb] = min(spent, least.get(verb, spent))
    del least[""]
    return least


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("objects", nargs="*", type=int, default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=5, help="how often each measurement is made")
    parser.add_argument("--page", type=Path, help="a page to insert the table into")


def run(options: argparse.Namespace) -> None:
    # The first calls load modules, which is not measured.
    measured(1, 1)
    heads, rows = ["verb"], {verb: [verb] for sequence in SEQUENCES for verb, _ in sequence if verb}
    for count in options.objects:
        heads += [f"{count:,} objects: ms", "times"]
        milliseconds = measured(count, options.rounds)
        for verb, spent in milliseconds.items():
            rows[verb] += [number(spent), number(spent / milliseconds["direct write"])]
    show({"verbs": table(heads, list(rows.values()))}, options.page)
