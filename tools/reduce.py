# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Reduce with Blender's Decimate on motion captures: keys, stored numbers, errors on the body, and time.

    python tools/reduce.py FILE.bvh… [--height 170] [--error 0.5 1 2] [--skip 1] [--still 0.1] [--method TCB]

Times are processor times of one run each, in turns. Both methods get the same file, without its first frames. Rotations
are quaternions for Reduce and Euler angles for Decimate, as created by Blender's importer. Decimate's margin is
adjusted until the maximum error on the body reaches the limit. This error is the distance of the head or tail of any
bone from its original position at any frame.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.benchmarks.checkout import animation, module

channels, joints = module("animation.fcurves.channels"), module("animation.reduction.armature_joints")

_PER_MARGIN = 173.0
"""The approximate error in centimeters for a margin of 1, with which the search begins."""
_NEAR = 0.9
"""A margin is accepted if the largest error is between this fraction of the limit and the limit."""
_CURVE_KEY = 6
"""Numbers stored per Bezier key: the frame and value of the key and of both handles."""


def main() -> None:
    """Measure both methods, and print one line of JSON per error and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--height", type=float, default=170.0, help="height of the body in the first frame, in cm")
    parser.add_argument("--error", type=float, nargs="+", default=[0.5, 1.0, 2.0], help="centimetres")
    parser.add_argument("--skip", type=int, default=1, help="frames to skip at the beginning")
    parser.add_argument("--tries", type=int, default=8, help="margins of Decimate to try for each error")
    parser.add_argument("--only", choices=("reduce", "decimate"))
    parser.add_argument("--still", type=float, help="Reduce's error of points at rest, in centimeters")
    parser.add_argument("--period", type=float, help="longest period, in frames, of the noise that Reduce filters")
    parser.add_argument(
        "--method", choices=("HERMITE", "TCB"), nargs="+", default=["HERMITE"], help="method of Reduce's keys"
    )
    given = parser.parse_args()
    for file in given.files:
        given.file = file
        for error in given.error:
            ways: dict[str, Any] = {f"reduce {method}": partial(_reduce, method=method) for method in given.method}
            for way, measure in (*ways.items(), ("decimate", _decimate)):
                if given.only is None or way.startswith(given.only):
                    head = {"file": given.file.stem, "way": way, "asked": error}
                    print(json.dumps({**head, **measure(given, error)}), flush=True)


def load(given: argparse.Namespace, mode: Any) -> tuple[Any, np.ndarray, float]:
    """Return the armature in a new file without the skipped frames, all its frames, and the units per centimeter."""
    bpy.ops.wm.read_factory_settings()
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(given.file), rotate_mode=mode)
    rig: Any = bpy.context.object
    for fcurve in _curves(rig):
        points = fcurve.keyframe_points
        co = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get("co", co)
        own = co.reshape(-1, 2)[given.skip :] if len(points) > 1 else co.reshape(-1, 2)
        points.clear()
        points.add(len(own))
        points.foreach_set("co_ui", np.ascontiguousarray(own).ravel())
        points.foreach_set("interpolation", np.ones(len(own), dtype=np.uint8))
        fcurve.update()
    last = max(fcurve.range()[1] for fcurve in _curves(rig))
    frames = np.arange(float(min(fcurve.range()[0] for fcurve in _curves(rig))), last + 1.0)
    places = joints.point_positions(rig, frames[:1])
    return rig, frames, float(np.ptp(places[:, 0, 2])) / given.height


def _curves(rig: Any) -> list[Any]:
    return list(channels.channels_of(rig))


def _joints(rig: Any) -> tuple[int, int]:
    """Return the number of the bones' keys, counted once per frame, and the number of keys of all channels."""
    at: set[tuple[str, float]] = set()
    scalar = 0
    for fcurve in _curves(rig):
        frames = [point.co[0] for point in fcurve.keyframe_points]
        scalar += len(frames)
        at |= {(fcurve.data_path.rpartition(".")[0], frame) for frame in frames}
    return len(at), scalar


def _reduce(given: argparse.Namespace, error: float, method: Any) -> dict[str, Any]:
    rig, frames, unit = load(given, "QUATERNION")
    bones = len(rig.pose.bones)
    still = None if given.still is None else given.still * unit
    start = time.process_time()
    result = animation.reduce(rig, error=error * unit, still=still, period=given.period, method=method)
    seconds = time.process_time() - start
    keys, scalar = _joints(rig)
    # A key stores its frame once, and a value and a velocity, or parameters, for each track.
    numbers = keys
    for fcurve in _curves(rig):
        own, is_rotation = len(fcurve.keyframe_points), "rotation" in fcurve.data_path
        by_track = {"HERMITE": 3 if is_rotation else 0, "TCB": 3}[method]
        numbers += own * (1 if is_rotation or method != "HERMITE" else 2)
        numbers += by_track * own if fcurve.array_index == 0 else 0
    return {
        "diamonds": keys,
        "share": round(100.0 * keys / (bones * len(frames)), 2),
        "scalar_keys": scalar,
        "numbers": numbers,
        "numbers_in_handles": scalar * _CURVE_KEY,
        "largest": result.error / unit,
        "mean": result.mean / unit,
        "still": result.still / unit,
        "noise": result.noise / unit,
        "seconds": round(seconds, 2),
        "notes": len(result.notes),
    }


def _decimate(given: argparse.Namespace, error: float) -> dict[str, Any]:
    margin = error / _PER_MARGIN
    for _ in range(given.tries):
        rig, frames, unit = load(given, "NATIVE")
        bones = len(rig.pose.bones)
        before = joints.point_positions(rig, frames)
        start = time.process_time()
        _run_decimate(margin)
        seconds = time.process_time() - start
        off = np.linalg.norm(joints.point_positions(rig, frames) - before, axis=2) / unit
        keys, scalar = _joints(rig)
        if _NEAR * error <= off.max() <= error:
            break
        margin *= 0.97 * error / float(off.max())
    return {
        "margin": margin,
        "diamonds": keys,
        "share": round(100.0 * keys / (bones * len(frames)), 2),
        "scalar_keys": scalar,
        "numbers": scalar * _CURVE_KEY,
        "largest": float(off.max()),
        "mean": float(off.mean()),
        "seconds": round(seconds, 2),
    }


def _run_decimate(margin: float) -> None:
    """Override the context so that a Graph Editor operator processes all curves of the active object."""
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    manager: Any = bpy.context.window_manager
    window = manager.windows[0]
    area: Any = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.type = "GRAPH_EDITOR"
    region = next(each for each in area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.graph.select_all(action="SELECT")
        bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=margin)
    bpy.ops.object.mode_set(mode="OBJECT")


if __name__ == "__main__":
    main()
