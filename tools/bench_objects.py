# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure what verbs cost per object: `python tools/bench_objects.py [OBJECTS]`, with Blender as a module.

Ten keys per channel over 250 frames, nine channels per object. The bare write of as many keys is the measure.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FRAMES = range(0, 251, 28)


def make(count: int) -> list[Any]:
    """Make objects whose location, rotation and scale have nine keys each, and a scene for them."""
    import bpy
    import numpy as np

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
    """Write a linear key per frame into curves of new actions, and nothing else."""
    import bpy
    import numpy as np

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


def seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what verbs cost per object.")
    parser.add_argument("objects", nargs="*", type=int, default=[100, 1000])
    parser.add_argument("--profile", choices=["samples", "restore", "free", "handles", "look"])
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT.parent))
    import bpy  # noqa: F401

    animation = __import__(f"{ROOT.name}.animation", fromlist=["animation"])
    # What verbs import is not measured.
    first = make(1)
    animation.enable_many(first, keep_look=True)
    animation.bake_many(first)
    animation.restore_many(first)
    for count in given.objects:
        items = make(count)
        bare = seconds_of(partial(bare_write, items))
        works: list[tuple[str, Callable[[list[Any]], object]]] = [
            ("samples", animation.bake_many),
            ("restore", animation.restore_many),
            ("", animation.bake_many),
            ("free", animation.free_many),
            ("handles", lambda items: animation.bake_many(items, animation.Options(output="HANDLES"))),
            ("look", lambda items: animation.enable_many(items, keep_look=True)),
        ]
        taken = []
        for verb, work in works:
            items = make(count) if verb in ("handles", "look") else items
            if given.profile == verb:
                profile = cProfile.Profile()
                profile.runcall(work, items)
                pstats.Stats(profile).sort_stats("tottime").print_stats(30)
                return
            seconds = seconds_of(partial(work, items))
            taken += [f"{verb} {1e3 * seconds / count:.2f} ms ({seconds / bare:.1f})"] if verb else []
        print(f"{count} objects, per object (times the bare write of {1e3 * bare / count:.2f} ms): {', '.join(taken)}")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
