# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long Enable takes with Keep Look for many keys, compared with the bare write of the same keys.

    python tools/bench_enable.py [--objects 100] [--frames 1000] [--rounds 5]

Each object has Bezier keys on its location, rotation and scale, 10 channels, about every 22 frames. The time is split
into reading (the keys), evaluation (splines, and values of the F-curves), fit (the search for parameters), writing
(making the tracks TCB with these), and the rest (finding tracks, and comparing). The bare write is that of all
attributes of the keys, in bulk, into the F-curves of the same file. All times are processor time of one thread, each
round on a freshly opened file, with ratios within each round, so that other load on the machine matters little. At the
end the table of 10 000 keys is read as after an undo, and written with one more row.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.bench_scene import Size, animated, fcurves, make

package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
animation, look, keyframes, tables = (
    importlib.import_module(f"{package.__name__}.animation{name}")
    for name in ("", ".edit.enable", ".fcurves.keyframes", ".store.table.custom_property")
)
KEYS = 10_000
"""Keys of the table that is read and written."""

STAGES = {
    "reading": ("read_all_own_keys",),
    "evaluation": ("_splines", "played_parts"),
    "fit": ("fit_parameters",),
    "writing": ("enable_read",),
}


@contextmanager
def watched(seconds: dict[str, float]) -> Iterator[None]:
    """Add up the seconds of the stages; the rest is what they leave of the whole."""
    kept = {name: getattr(look, name) for names in STAGES.values() for name in names}
    for stage, names in STAGES.items():
        seconds[stage] = 0.0
        for name in names:
            setattr(look, name, _timed(kept[name], stage, seconds))
    start = time.thread_time()
    try:
        yield
    finally:
        seconds["all"] = time.thread_time() - start
        seconds["rest"] = seconds["all"] - sum(seconds[stage] for stage in STAGES)
        for name, function in kept.items():
            setattr(look, name, function)


def _timed(function: Callable[..., Any], stage: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Any:
        start = time.thread_time()
        try:
            return function(*arguments, **named)
        finally:
            seconds[stage] += time.thread_time() - start

    return run


def bare_write() -> tuple[float, int]:
    """Return the seconds to write all keys of the file again, and their number."""
    every = [(curve, keyframes.read(curve)) for item in animated() for curve in fcurves(item)]
    start = time.thread_time()
    for curve, keys in every:
        curve.keyframe_points.clear()
        keyframes.write(curve, keys)
    return time.thread_time() - start, sum(len(keys) for _, keys in every)


def measure(path: Path) -> dict[str, float]:
    """Measure one round on a freshly opened file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bare, keys = bare_write()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    seconds: dict[str, float] = {}
    with watched(seconds):
        report = animation.enable_many(dict.fromkeys(animated()), keep_look=True)
    assert report.looks_kept == report.tracks, report
    return seconds | {"bare write": bare, "keys": keys, "tracks": report.tracks}


def measure_table(rounds: int) -> dict[str, float]:
    """Return the seconds to read the table of one action with 10 000 keys, and to write it with another row."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    thing: Any = bpy.data.objects.new("Keyed", None)
    for path in ("location", "scale"):
        thing.keyframe_insert(path, frame=0)
    curves = fcurves(thing)
    for curve in curves:
        count = -(-KEYS // len(curves))
        curve.keyframe_points.clear()
        curve.keyframe_points.add(count)
        curve.keyframe_points.foreach_set("co", [each for n in range(count) for each in (n, n % 7)])
        curve.update()
    animation.enable(thing)
    action = thing.animation_data.action
    fresh = tables.read_table(action).rows[:1].copy()
    reads, writes = [], []
    for _ in range(rounds):
        tables.session.forget_actions()
        start = time.thread_time()
        tables.read_table(action)
        reads.append(time.thread_time() - start)
        fresh["identity"] += 1
        start = time.thread_time()
        tables.update(action, fresh)
        writes.append(time.thread_time() - start)
    return {"read": median(reads), "write": median(writes), "keys": sum(len(c.keyframe_points) for c in curves)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--objects", type=int, default=100)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "objects.blend"
        make(Size("objects", 10 * options.objects, options.frames), path)
        rounds = [measure(path) for _ in range(options.rounds)]
    print(f"Blender {bpy.app.version_string}: {rounds[0]['tracks']} tracks, {rounds[0]['keys']} keys; medians")
    print(f"{'':12}{'ms':>8}{'/ bare write':>14}")
    for name in ("bare write", *STAGES, "rest", "all"):
        ratio = median(each[name] / each["bare write"] for each in rounds)
        print(f"{name:12}{1e3 * median(each[name] for each in rounds):8.0f}{ratio:14.1f}")
    table = measure_table(3 * options.rounds)
    print(f"table of {table['keys']} keys: read {1e3 * table['read']:.1f} ms, written {1e3 * table['write']:.1f} ms")
    tcb.end_process(0)


if __name__ == "__main__":
    main()
