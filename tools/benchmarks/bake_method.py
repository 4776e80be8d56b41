# SPDX-License-Identifier: GPL-3.0-or-later
"""Run one measurement of bakes.py: open a file in Blender, bake it with one method, and measure.

    python tools/benchmarks/bake_method.py JSON

The argument is an object with the keys `size`, `method`, `folder` and `look`. The last line of standard output is the
result as JSON. Memory is read from /proc. It is omitted on systems without /proc.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools import tcb
from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import PATHS, Size, animated, fcurves, make, select

SMALL = 100_000
"""Files with fewer samples are opened and baked several times, because one bake is too short to measure."""
REPEATS = 5

keyframes = module("animation.fcurves.keyframes")


class Case:
    """The open file and a method of baking it. Only `run` is timed, not `prepare`."""

    def __init__(self, size: Size, folder: Path) -> None:
        self.size = size
        self.folder = folder
        self.last = size.frames

    def prepare(self) -> None:
        """Do nothing."""

    def run(self) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Do nothing."""

    @property
    def path(self) -> Path:
        return self.folder / self.size.name


class Keys(Case):
    """The unchanged keys of the animator, for comparison."""

    def run(self) -> None:
        pass


class Bake(Case):
    """A bake of the whole file by this project."""

    output = "SAMPLES"

    def run(self) -> None:
        report = animation.bake_many(animated(), animation.Options(output=self.output))
        if report.refused:
            raise SystemExit("\n".join(map(str, report.refused)))

    def finish(self) -> None:
        """Save the keys that the floor writes."""
        kept = self.path.with_name(f"{self.path.name}-{self.output}.npz")
        if not kept.exists():
            save_keys(kept)


class BakeCurves(Bake):
    """A bake as curves."""

    output = "CURVES"


class BakeSelected(Bake):
    """A bake while all keys are selected, so that Blender cannot deselect all of them in one call."""

    def prepare(self) -> None:
        for curve in all_curves():
            select(curve, True)

    def finish(self) -> None:
        pass


class BakeAgain(Bake):
    """A repeated bake as samples."""

    def prepare(self) -> None:
        animation.bake_many(animated(), animation.Options(output=self.output))

    def finish(self) -> None:
        pass


class BakeCurvesAgain(BakeAgain):
    """A repeated bake as curves."""

    output = "CURVES"


class Restore(Case):
    """A restore of everything that was baked."""

    def prepare(self) -> None:
        animation.bake_many(animated(), animation.Options())

    def run(self) -> None:
        for item in animated():
            animation.restore(item)


class Floor(Case):
    """The floor: the same attributes of the same keys, written only with `add` and `foreach_set`."""

    output = "SAMPLES"

    def prepare(self) -> None:
        kept = np.load(self.path.with_name(f"{self.path.name}-{self.output}.npz"))
        counts = kept["counts"]
        ends = np.cumsum(counts)
        arrays = {name: kept[name] for name in kept.files if name != "counts"}
        flat = {name: array.reshape(ends[-1], -1) for name, array in arrays.items()}
        rows = [slice(end - count, end) for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
        each = [[(name, array[row].reshape(-1)) for name, array in flat.items()] for row in rows]
        self.work = list(zip(all_curves(), counts.tolist(), each, strict=True))

    def run(self) -> None:
        for curve, count, arrays in self.work:
            points = curve.keyframe_points
            points.clear()
            points.add(count)
            for name, values in arrays:
                points.foreach_set(name, values)


class FloorOfCurves(Floor):
    """The floor of a bake as curves."""

    output = "CURVES"


class FCurveBake(Case):
    """`FCurve.bake`: Blender's interpolation with one key per frame."""

    def run(self) -> None:
        for curve in all_curves():
            curve.bake(1, self.last)


class KeyframeInsert(Case):
    """`keyframe_insert` on every frame, without setting the values first."""

    def run(self) -> None:
        for item in animated():
            for owner in item.pose.bones if item.pose else [item]:
                for frame in range(1, self.last + 1):
                    for name in PATHS:
                        owner.keyframe_insert(name, frame=frame)


class GraphBakeKeys(Case):
    """`graph.bake_keys`, in the Graph Editor of a window."""

    def prepare(self) -> None:
        select_all()
        for curve in all_curves():
            curve.select = True
            curve.keyframe_points.foreach_set("select_control_point", np.ones(len(curve.keyframe_points), np.bool_))

    def run(self) -> None:
        context: Any = bpy.context
        window = context.window_manager.windows[0]
        area = window.screen.areas[0]
        area.ui_type = "FCURVES"
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.graph.bake_keys()


class NlaBake(Case):
    """`nla.bake`, which steps through the frames."""

    visual = False

    def prepare(self) -> None:
        select_all()

    def run(self) -> None:
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=self.last,
            only_selected=True,
            visual_keying=self.visual,
            bake_types={"POSE" if self.size.kind == "armature" else "OBJECT"},
            channel_types={"LOCATION", "ROTATION", "SCALE"},
        )


class NlaBakeVisual(NlaBake):
    """`nla.bake` with visual keying."""

    visual = True


class BakeAction(Case):
    """`bpy_extras.anim_utils.bake_action`, or `bake_action_objects` for many."""

    def run(self) -> None:
        from bpy_extras import anim_utils

        make_options: Any = anim_utils.BakeOptions
        chosen = {field.name: False for field in fields(make_options)}
        chosen["do_pose" if self.size.kind == "armature" else "do_object"] = True
        chosen |= {"do_location": True, "do_rotation": True, "do_scale": True}
        pairs: Any = [(item, None) for item in animated()]
        anim_utils.bake_action_objects(pairs, frames=range(1, self.last + 1), bake_options=make_options(**chosen))


METHODS: dict[str, type[Case]] = {
    "keys": Keys,
    "samples": Bake,
    "curves": BakeCurves,
    "samples, keys selected": BakeSelected,
    "samples again": BakeAgain,
    "curves again": BakeCurvesAgain,
    "restore": Restore,
    "floor of samples": Floor,
    "floor of curves": FloorOfCurves,
    "FCurve.bake": FCurveBake,
    "nla.bake": NlaBake,
    "nla.bake, visual keying": NlaBakeVisual,
    "anim_utils.bake_action": BakeAction,
    "graph.bake_keys": GraphBakeKeys,
    "keyframe_insert": KeyframeInsert,
}


def all_curves() -> list[Any]:
    """Return all F-curves of the file."""
    return [curve for item in animated() for curve in fcurves(item)]


def save_keys(path: Path) -> None:
    """Save all attributes that differ from the attributes of new keys, concatenated for the keys of all curves."""
    curves = all_curves()
    every = [keyframes.read(curve) for curve in curves]
    points = curves[0].keyframe_points
    points.add(1)
    fresh = keyframes.read(curves[0]).take(np.array([-1]))
    points.remove(points[-1], fast=True)
    arrays = {"counts": np.array([len(keys) for keys in every])}
    for name in keyframes.NAMES:
        values = np.concatenate([getattr(keys, name) for keys in every])
        if (values != getattr(fresh, name)).any():
            arrays[name] = values
    np.savez(path, **arrays)  # type: ignore[arg-type]


def select_all() -> None:
    """Select all objects, or all bones of the armature in Pose mode."""
    context: Any = bpy.context
    for item in animated():
        item.select_set(True)
        context.view_layer.objects.active = item
        if item.pose:
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.pose.select_all(action="SELECT")


def memory(name: str) -> int | None:
    """Return the memory of this process in bytes, "VmRSS" for the current and "VmHWM" for the peak value."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None


def settle() -> None:
    """Free unused memory, and reset the peak."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def saved(copy: Path) -> int:
    """Return the size of the open file in bytes when saved."""
    bpy.ops.wm.save_as_mainfile(filepath=str(copy), copy=True, compress=False)
    size = copy.stat().st_size
    copy.unlink()
    return size


def measure(size: Size, method: str, folder: Path, look: bool = True) -> dict[str, Any]:
    """Measure a method: seconds, bytes of memory before, at the peak and after, and keys.

    If `look`, also measure the size of the saved file.
    """
    case = METHODS[method](size, folder)
    times = []
    for number in range(1 + REPEATS if size.samples < SMALL else 1):
        bpy.ops.wm.open_mainfile(filepath=f"{case.path}.blend")
        case.prepare()
        settle()
        before = memory("VmRSS")
        start = time.perf_counter()
        case.run()
        times.append(time.perf_counter() - start)
        peak = memory("VmHWM")
        if number == 0:
            settle()
            after = memory("VmRSS")
    # The first run also loads modules and fills caches.
    result = {"seconds": median(times[-REPEATS:]), "before": before, "peak": peak, "after": after}
    result["keys"] = sum(len(curve.keyframe_points) for curve in all_curves())
    if look:
        result["bytes"] = saved(folder / f"result-{os.getpid()}.blend")
    case.finish()
    return result


def main() -> None:
    asked = json.loads(sys.argv[1])
    size, folder = Size(**asked["size"]), Path(asked["folder"])
    if asked["method"] == "make":
        make(size, folder / f"{size.name}.blend")
        result: dict[str, Any] = {"version": bpy.app.version_string}
    else:
        result = measure(size, asked["method"], folder, asked["look"])
    print(f"\n{json.dumps(result)}", flush=True)
    tcb.end_process(0)


if __name__ == "__main__":
    main()
