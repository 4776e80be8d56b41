# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Reduce with Blender's Decimate on motion captures: keys, errors on the body, and time.

    python tools/reduce.py FILE.bvh… [--height 170] [--error 0.5 1 2] [--skip 1] [--method HERMITE TCB]

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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import fcurves

joints = module("animation.reduction.armature")

_PER_MARGIN = 173.0
"""The approximate error in centimeters for a margin of 1, with which the search begins."""
_LEAST_ERROR = 0.9
"""A margin is accepted if the largest error is between this fraction of the limit and the limit."""
_BELOW_LIMIT = 0.97
"""The search for the margin aims at this fraction of the limit."""
_TRIES = 8
"""The number of margins to try for each error."""


def main() -> None:
    """Measure both methods, and print one line of JSON per error and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--height", type=float, default=170.0, help="height of the body in the first frame, in cm")
    parser.add_argument("--error", type=float, nargs="+", default=[0.5, 1.0, 2.0], help="centimeters")
    parser.add_argument("--skip", type=int, default=1, help="frames to skip at the beginning")
    parser.add_argument(
        "--method", choices=("HERMITE", "TCB"), nargs="+", default=["HERMITE"], help="method of Reduce's keys"
    )
    options = parser.parse_args()
    for file in options.files:
        load = partial(load_capture, file, options.height, options.skip)
        for error in options.error:
            ways: dict[str, Callable[[], dict[str, Any]]] = {
                f"reduce {method}": partial(reduce, load, error, method) for method in options.method
            }
            ways["decimate"] = partial(decimate, load, error)
            for way, measure in ways.items():
                print(json.dumps({"file": file.stem, "way": way, "asked": error, **measure()}), flush=True)


class Capture(NamedTuple):
    """A motion capture in a new file."""

    rig: Any
    """The armature."""
    frames: npt.NDArray[np.float64]
    """All frames of the capture."""
    unit: float
    """The length of a centimeter in Blender's units."""


Load = Callable[[Any], Capture]
"""A function that loads the capture with rotations in the given mode of Blender's importer."""


def load_capture(file: Path, height: float, skip: int, rotate_mode: Any) -> Capture:
    """Load a capture without its first frames. `height` is the height of the body in centimeters."""
    bpy.ops.wm.read_factory_settings()
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(file), rotate_mode=rotate_mode)
    rig: Any = bpy.context.object
    for fcurve in fcurves(rig):
        points = fcurve.keyframe_points
        co = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get("co", co)
        remaining = co[2 * skip :] if len(points) > 1 else co
        points.clear()
        points.add(len(remaining) // 2)
        points.foreach_set("co_ui", remaining)
        points.foreach_set("interpolation", np.ones(len(remaining) // 2, dtype=np.uint8))
        fcurve.update()
    first, last = (end(fcurve.range()[side] for fcurve in fcurves(rig)) for side, end in ((0, min), (1, max)))
    frames = np.arange(float(first), last + 1.0)
    first_positions = joints.point_positions(rig, frames[:1])[:, 0]
    return Capture(rig, frames, float(np.ptp(first_positions[:, 2])) / height)


def reduce(load: Load, error: float, method: Any) -> dict[str, Any]:
    """Return the results of Reduce. Errors are in centimeters."""
    rig, frames, unit = load("QUATERNION")
    start = time.process_time()
    result = animation.reduce(rig, error=error * unit, method=method)
    seconds = time.process_time() - start
    return row_of(rig, frames, result.error / unit, seconds)


def decimate(load: Load, error: float) -> dict[str, Any]:
    """Return the results of Decimate with the margin whose largest error is closest to the limit, in centimeters."""
    margin = error / _PER_MARGIN
    for _ in range(_TRIES):
        rig, frames, unit = load("NATIVE")
        original_positions = joints.point_positions(rig, frames)
        start = time.process_time()
        _run_decimate(margin)
        seconds = time.process_time() - start
        errors = np.linalg.norm(joints.point_positions(rig, frames) - original_positions, axis=2) / unit
        largest = float(errors.max())
        if _LEAST_ERROR * error <= largest <= error:
            break
        margin *= _BELOW_LIMIT * error / largest
    return row_of(rig, frames, largest, seconds)


def row_of(rig: Any, frames: npt.NDArray[np.float64], largest: float, seconds: float) -> dict[str, Any]:
    """Return the figures of a row. Keys of a bone at one frame count once."""
    keys = {
        (fcurve.data_path.rpartition(".")[0], point.co[0])
        for fcurve in fcurves(rig)
        for point in fcurve.keyframe_points
    }
    row = {"frames": len(frames), "joints": len(rig.pose.bones), "keys": len(keys)}
    return row | {"largest": largest, "seconds": round(seconds, 2)}


def _run_decimate(margin: float) -> None:
    """Override the context so that a Graph Editor operator processes all curves of the active object."""
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    manager: Any = bpy.context.window_manager
    window = manager.windows[0]
    area: Any = max(window.screen.areas, key=lambda area: area.width * area.height)
    area.type = "GRAPH_EDITOR"
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.graph.select_all(action="SELECT")
        bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=margin)
    bpy.ops.object.mode_set(mode="OBJECT")


if __name__ == "__main__":
    main()
