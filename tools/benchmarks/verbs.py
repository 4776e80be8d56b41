# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of verbs per object, and of the table of parameters.

Ten keys per channel over 250 frames, nine channels per object. Times are relative to a bare write of the same number of
keys. The table of 10,000 keys is read as after an undo, and written with one more row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import fcurves
from tools.benchmarks.timing import milliseconds_of

tables = module("animation.store.table.custom_property")
FRAMES = range(0, 251, 28)
TABLE_KEYS = 10_000


def make(count: int) -> list[Any]:
    """Create objects whose location, rotation and scale have nine keys each, and a scene for them."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    generator = np.random.default_rng(1)
    items = []
    for number in range(count):
        item = bpy.data.objects.new(f"Object {number}", None)
        scene.collection.objects.link(item)
        items.append(item)
        for path in ("location", "rotation_euler", "scale"):
            for frame in FRAMES:
                setattr(item, path, generator.uniform(0.5, 1.5, 3))
                item.keyframe_insert(path, frame=frame)
    return items


def bare_write(items: list[Any]) -> None:
    """Write one linear key per frame into curves of new actions, and nothing else."""
    frames = np.arange(251, dtype=np.float32)
    for item in items:
        action: Any = bpy.data.actions.new("Bare")
        bag = action if bpy.app.version < (4, 4) else _channelbag(action, item)
        for path in ("location", "rotation_euler", "scale"):
            for index in range(3):
                fcurve = bag.fcurves.new(path, index=index)
                points = fcurve.keyframe_points
                points.add(len(frames))
                points.foreach_set("co", np.column_stack([frames, np.sin(frames)]).astype(np.float32).ravel())
                points.foreach_set("interpolation", np.ones(len(frames), dtype=np.uint8))
                fcurve.update()


def _channelbag(action: Any, item: Any) -> Any:
    slot = action.slots[0] if action.slots else action.slots.new(item.id_type, item.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def measure_table(rounds: int) -> tuple[float, float]:
    """Return the milliseconds to read the table of an action with 10,000 keys, and to write it with another row."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    thing: Any = bpy.data.objects.new("Keyed", None)
    for path in ("location", "scale"):
        thing.keyframe_insert(path, frame=0)
    curves = fcurves(thing)
    for curve in curves:
        count = -(-TABLE_KEYS // len(curves))
        curve.keyframe_points.clear()
        curve.keyframe_points.add(count)
        curve.keyframe_points.foreach_set("co", [each for n in range(count) for each in (n, n % 7)])
        curve.update()
    animation.enable(thing, keep_look=False)
    action = thing.animation_data.action
    fresh = tables.read_table(action).rows[:1].copy()
    reads, writes = [], []
    for _ in range(rounds):
        tables.session.forget_actions()
        reads.append(milliseconds_of(lambda: tables.read_table(action)))
        fresh["identity"] += 1
        writes.append(milliseconds_of(lambda: tables.update(action, fresh)))
    return median(reads), median(writes)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("objects", nargs="*", type=int, default=[100, 1000])


def run(options: argparse.Namespace) -> None:
    # Imports by verbs are not measured.
    first = make(1)
    animation.enable_many(first, keep_look=True)
    animation.bake_many(first)
    animation.restore_many(first)
    handles = animation.Options(output="HANDLES")
    works: list[tuple[str, Callable[[list[Any]], object]]] = [
        ("samples", animation.bake_many),
        ("restore", animation.restore_many),
        ("", animation.bake_many),
        ("free", animation.free_many),
        ("handles", lambda items: animation.bake_many(items, handles)),
        ("look", lambda items: animation.enable_many(items, keep_look=True)),
    ]
    for count in options.objects:
        items = make(count)
        bare = milliseconds_of(partial(bare_write, items))
        taken = []
        for verb, work in works:
            items = make(count) if verb in ("handles", "look") else items
            spent = milliseconds_of(partial(work, items))
            taken += [f"{verb} {spent / count:.2f} ms ({spent / bare:.1f})"] if verb else []
        print(f"{count} objects, per object (times the bare write of {bare / count:.2f} ms): {', '.join(taken)}")
    read, write = measure_table(15)
    print(f"table of 10,000 keys: read {read:.1f} ms, written {write:.1f} ms")
