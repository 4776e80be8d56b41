# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Blender's playback with handles to its playback of samples of the same tracks, for whole files.

    python tools/handles_played.py walk.bvh scene.blend run.3ds [--every 10]

From a .bvh file, every tenth key is kept. If a file has no TCB tracks, all its tracks are enabled with the defaults.
Both motions are Blender's own evaluation of the F-curves, every quarter of a frame, where the samples are. The table
has one row per file, with the errors in values, relative to the track's range, and in rotations, in degrees. It lists
the median, the 90th percentile and the maximum over all frames and tracks. The script needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp.rotations import angle_between
from tools import tcb
from tools.benchmarks.checkout import animation, module, package
from tools.benchmarks.scenes import fcurves
from tools.tables import number, table

channels, find_tracks, own_keys, sampled_track = (
    module(f"animation.{name}")
    for name in ("fcurves.channels", "store.find_tracks", "store.own_keys", "reduction.sampled_track")
)

STEP = 0.25
QUANTILES = {"median": 0.5, "90 %": 0.9, "largest": 1.0}
Float64Array = npt.NDArray[np.float64]


def load(path: Path, every: int) -> None:
    """Open the file, or import it into an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    importers: Any = bpy.ops.import_anim
    suffix = path.suffix.lower()
    if suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    elif suffix == ".3ds":
        importers.tcb_3ds(filepath=str(path), output="NONE")
    else:
        importers.bvh(filepath=str(path), rotate_mode="QUATERNION")
        for fcurve in (fcurve for item in bpy.data.objects for fcurve in fcurves(item)):
            thin_out(fcurve.keyframe_points, every)


def thin_out(points: Any, every: int) -> None:
    """Keep the first key, and every `every`-th key after it."""
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    remaining = co.reshape(-1, 2)[::every]
    points.clear()
    points.add(len(remaining))
    points.foreach_set("co", remaining.ravel())


def tracks_of(datablocks: Collection[bpy.types.ID]) -> Iterator[Any]:
    """Yield the datablocks' tracks."""
    for datablock in datablocks:
        yield from find_tracks.find_tracks(datablock, channels.channels_of(datablock))


def played(datablocks: Collection[bpy.types.ID], names: Collection[tuple[str, str]]) -> list[Any]:
    """Return Blender's playback of the named tracks every quarter of a frame between their keys."""
    motions = []
    for track in tracks_of(datablocks):
        if (track.name, track.path) in names:
            frames = own_keys.key_frames(track)
            times = np.arange(frames[0], frames[-1] + STEP / 2, STEP, dtype=np.float64)
            motions.append(sampled_track.sample_track(track, times))
    return motions


def error_of(by_handles: Float64Array, samples: Float64Array, is_rotation: bool) -> Float64Array:
    """Return the error at each frame, in degrees or relative to the largest range of a component."""
    if is_rotation:
        return np.degrees(angle_between(by_handles, samples))
    error: Float64Array = np.abs(by_handles - samples).max(axis=1) / (np.ptp(samples, axis=0).max() or 1.0)
    return error


def compare(path: Path, every: int) -> tuple[str, ...]:
    """Return the file's row of the table."""
    load(path, every)
    datablocks = [datablock for datablock in animation.of_file() if datablock.animation_data.action is not None]
    if not any(track.enabled for track in tracks_of(datablocks)):
        animation.enable_many(datablocks, keep_look=False)
    report = animation.bake_many(datablocks, animation.Options(output="HANDLES"))
    names = {(entry["datablock"], entry["track"]) for entry in report.handles}
    by_handles = played(datablocks, names)
    animation.bake_many(datablocks, animation.Options(step=STEP))
    errors: dict[str, list[Float64Array]] = {"values": [], "degrees": []}
    for approximate, exact in zip(by_handles, played(datablocks, names), strict=True):
        is_rotation = exact.track.is_rotation
        errors["degrees" if is_rotation else "values"].append(error_of(approximate.values, exact.values, is_rotation))
    approximate_count = sum(entry["approximate"] for entry in report.handles)
    cells = [
        number(float(np.quantile(np.concatenate(errors_of_tracks), quantile))) if errors_of_tracks else ""
        for errors_of_tracks in errors.values()
        for quantile in QUANTILES.values()
    ]
    return (path.name, str(len(names)), str(report.keys), str(approximate_count), *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=10, help="keep one in so many keys of a .bvh file (default: 10)")
    options = parser.parse_args()
    package.register()
    errors = [f"{kind}: {name}" for kind in ("values", "degrees") for name in QUANTILES]
    heads = ("file", "tracks", "keys", "approximate", *errors)
    print(table(heads, [compare(path, options.every) for path in options.files]))
    tcb.end_process(0)


if __name__ == "__main__":
    main()
