# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of a bake, relative to Blender's functions and to a direct write of the same keys.

Each measurement runs in a separate process. All methods take turns in each round, so other load on the machine affects
them equally. The tables show medians, with the minimum and maximum in parentheses. Times are processor times of the
main thread.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import bpy
import numpy as np
from bpy_extras import anim_utils

from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import RIG, Size, fcurves, make
from tools.benchmarks.timing import seconds_of
from tools.tables import number, show, table

ROOT = Path(__file__).resolve().parents[2]

keyframes, read_and_write = module("animation.fcurves.keyframes"), module("animation.fcurves.read_and_write")

Work = Callable[[], object]


def reopen() -> None:
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def bake(output: str) -> None:
    report = animation.bake_many([rig()], animation.Options(output=output), keep_look=False)
    if report.refused:
        raise SystemExit("\n".join(map(str, report.refused)))


def bake_again(output: str) -> Work:
    """Return a function that bakes. A first bake loads the modules, which are not measured."""
    bake(output)
    reopen()
    return partial(bake, output)


def free() -> Work:
    """Return a function that frees a bake of samples. A first Free Bake loads the modules, which are not measured."""
    bake("SAMPLES")
    animation.free_many([rig()])
    bake("SAMPLES")
    return partial(animation.free_many, [rig()])


def floor(output: str) -> Work:
    """Return a function that writes the keys of a bake with `add` and `foreach_set`, and nothing else.

    Attributes that all new keys have are not written.
    """
    bake(output)
    curves = fcurves(rig())
    every = [read_and_write.read(curve) for curve in curves]
    curves[0].keyframe_points.add(1)
    new = read_and_write.read(curves[0]).take(np.array([-1]))
    changed = [
        name for name in keyframes.NAMES if any((getattr(keys, name) != getattr(new, name)).any() for keys in every)
    ]
    reopen()
    arrays = [[(name, getattr(keys, name).ravel()) for name in changed] for keys in every]
    return partial(write, list(zip(fcurves(rig()), map(len, every), arrays, strict=True)))


def write(keys_of_curves: list[tuple[Any, int, list[tuple[str, Any]]]]) -> None:
    for curve, count, arrays in keys_of_curves:
        points = curve.keyframe_points
        points.clear()
        points.add(count)
        for name, values in arrays:
            points.foreach_set(name, values)


def fcurve_bake() -> None:
    for curve in fcurves(rig()):
        curve.bake(1, last_frame())


def nla_bake(visual: bool) -> Work:
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    return partial(
        bpy.ops.nla.bake,
        frame_start=1,
        frame_end=last_frame(),
        only_selected=True,
        visual_keying=visual,
        bake_types={"POSE"},
        channel_types={"LOCATION", "ROTATION", "SCALE"},
    )


def bake_action() -> None:
    make_options: Any = anim_utils.BakeOptions
    chosen = {field.name: False for field in fields(make_options)}
    chosen |= {"do_pose": True, "do_location": True, "do_rotation": True, "do_scale": True}
    pairs: Any = [(rig(), None)]
    anim_utils.bake_action_objects(pairs, frames=range(1, last_frame() + 1), bake_options=make_options(**chosen))


METHODS: dict[str, Callable[[], Work]] = {
    "samples": partial(bake_again, "SAMPLES"),
    "floor of samples": partial(floor, "SAMPLES"),
    "curves": partial(bake_again, "CURVES"),
    "floor of curves": partial(floor, "CURVES"),
    "Free Bake": free,
    "FCurve.bake": lambda: fcurve_bake,
    "nla.bake": partial(nla_bake, False),
    "nla.bake, visual keying": partial(nla_bake, True),
    "anim_utils.bake_action": lambda: bake_action,
}
"""The ways to bake or free the open file. Each prepares it, and returns the function to measure."""
OF_CHARACTER = ("samples", "curves", "nla.bake", "nla.bake, visual keying")
"""The methods that are measured with a skin, which some of them deform at each frame."""


def rig() -> Any:
    return bpy.data.objects[RIG]


def last_frame() -> int:
    scene: Any = bpy.context.scene
    last: int = scene.frame_end
    return last


def measure(method: str, file: Path) -> None:
    """Print the seconds and the number of keys of one method as JSON."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    seconds = seconds_of(METHODS[method](), time.thread_time)
    keys = sum(len(curve.keyframe_points) for curve in fcurves(rig()))
    print(f"\n{json.dumps({'seconds': seconds, 'keys': keys})}", flush=True)


def measured(method: str, file: Path) -> dict[str, Any]:
    """Measure a method in a new process, without the user's add-ons and settings."""
    command = [sys.executable, str(ROOT / "tools" / "bench.py"), "bakes", "--one", method, "--file", str(file)]
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(file.parent)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{file.stem}, {method}: {result['seconds']:.4g} s", file=sys.stderr, flush=True)
    return result


def rounds_of(size: Size, methods: tuple[str, ...], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Measure the methods in turns with a new file, and return the results of all rounds by method."""
    results: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
    with tempfile.TemporaryDirectory(prefix="tcb-bench-") as folder:
        file = Path(folder) / ("character.blend" if size.vertices else "armature.blend")
        make(size, file)
        for _ in range(rounds):
            for method in methods:
                results[method].append(measured(method, file))
    return results


def compared(results: dict[str, list[dict[str, Any]]], unit: str, head: str) -> str:
    """Return the table of all methods, with ratios to the time of the method `unit` in the same round."""
    rows = []
    for method, of_rounds in results.items():
        seconds = [result["seconds"] for result in of_rounds]
        ratios = [own / other["seconds"] for own, other in zip(seconds, results[unit], strict=True)]
        rows.append((method, number(1e3 * median(seconds)), spread(ratios), f"{of_rounds[0]['keys']:,}"))
    return table(("way", "ms", head, "keys"), rows)


def spread(values: list[float]) -> str:
    """Return the median with the minimum and maximum."""
    least, most = min(values), max(values)
    return f"{number(median(values))} ({number(least)} to {number(most)})" if most > least else number(least)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="how often each measurement is made")
    parser.add_argument("--channels", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--skin", type=int, default=50_000, help="vertices of the character; 0: none")
    parser.add_argument("--page", type=Path, help="a page to insert the tables into")
    parser.add_argument("--one", choices=METHODS, help="measure one method with --file, in this process")
    parser.add_argument("--file", type=Path, help="the file for --one")


def run(options: argparse.Namespace) -> None:
    if options.one:
        measure(options.one, options.file)
        return
    bare = rounds_of(Size(options.channels, options.frames), tuple(METHODS), options.rounds)
    tables = {"ways, armature": compared(bare, "floor of samples", "times the floor")}
    if options.skin:
        character = rounds_of(Size(options.channels, options.frames, options.skin), OF_CHARACTER, options.rounds)
        tables["ways, character"] = compared(character, "samples", "times the bake of samples")
    tables["conditions"] = (
        f"Measured with Blender {bpy.app.version_string}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"on {platform.system()} {platform.machine()} with {os.cpu_count()} cores. Rounds: {options.rounds}."
    )
    show(tables, options.page)
