# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time that each verb takes per object.

Each object has nine keys on each of nine channels over 250 frames. Times are relative to a bare write of the same
number of keys. Reduce is measured on the 251 keys per channel of applied samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.checkout import animation
from tools.benchmarks.timing import milliseconds_of

FRAMES = range(0, 251, 28)


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


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("objects", nargs="*", type=int, default=[100, 1000])


def run(options: argparse.Namespace) -> None:
    # Imports by verbs are not measured.
    first = make(1)
    animation.enable_many(first)
    animation.bake_many(first)
    animation.apply_many(first)
    animation.reduce_many(first)
    bake = partial(animation.bake_many, keep_look=False)
    works: list[tuple[str, Callable[[list[Any]], object]]] = [
        ("samples", bake),
        ("restore", animation.restore_many),
        ("", bake),
        ("free", animation.free_many),
        ("handles", partial(bake, options=animation.Options(output="HANDLES"))),
        ("look", animation.enable_many),
        ("", bake),
        ("", animation.apply_many),
        ("reduce", animation.reduce_many),
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
