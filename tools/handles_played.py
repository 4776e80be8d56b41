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
import importlib
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.tables import number, table

STEP = 0.25
Float64Array = npt.NDArray[np.float64]


def load(path: Path, every: int) -> None:
    """Open the file, or import it into an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if path.suffix.lower() == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    elif path.suffix.lower() == ".3ds":
        importers: Any = bpy.ops.import_anim
        importers.tcb_3ds(filepath=str(path), output="NONE")
    else:
        bpy.ops.import_anim.bvh(filepath=str(path), rotate_mode="QUATERNION")
        for fcurve in (each for action in bpy.data.actions for each in curves_of(action)):
            points = fcurve.keyframe_points
            for row in reversed([row for row in range(len(points)) if row % every]):
                points.remove(points[row], fast=True)
            fcurve.update()


def curves_of(action: Any) -> list[Any]:
    channels: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.fcurves.channels")
    return [fcurve for bag in channels.channels_in(action) for fcurve in bag]


def tracks_of(datablock: Any) -> list[Any]:
    channels: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.fcurves.channels")
    store: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.store.find_tracks")
    return list(store.find_tracks(datablock, channels.channels_of(datablock)))


def played(tracks: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Float64Array]:
    """Return Blender's playback of each track every quarter of a frame between its keys, shape (frames, channels)."""
    result = {}
    for name, (track, frames) in tracks.items():
        columns = [
            [track.channels[index].evaluate(frame) for frame in frames.tolist()]
            if index in track.channels
            else np.full(len(frames), track.component(index))
            for index in range(len(track.rest))
        ]
        result[name] = np.array(columns, dtype=np.float64).T
    return result


def compare(path: Path, every: int) -> tuple[str, ...]:
    """Return the file's row of the table."""
    load(path, every)
    animation: Any = importlib.import_module(f"{tcb.PACKAGE}.animation")
    splines: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.bake.plans.splines")
    rotations: Any = importlib.import_module(f"{tcb.PACKAGE}.interp.rotations")
    own_keys: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.store.own_keys")
    datablocks = [*bpy.data.objects, *bpy.data.cameras, *bpy.data.lights, *bpy.data.materials, *bpy.data.worlds]
    animated = [
        each for each in datablocks if each.animation_data is not None and each.animation_data.action is not None
    ]
    if not any(track.enabled for each in animated for track in tracks_of(each)):
        animation.enable_many(dict.fromkeys(animated), keep_look=False)
    report = animation.bake_many(animated, animation.Options(output="HANDLES"))
    names = {(each["datablock"], each["track"]) for each in report.handles}

    def tracks() -> dict[tuple[str, str], Any]:
        found = {}
        for datablock in animated:
            for track in tracks_of(datablock):
                if (track.name, track.path) in names:
                    frames = own_keys.key_frames(track).astype(np.float64)
                    found[track.name, track.path] = track, np.arange(frames[0], frames[-1] + STEP / 2, STEP)
        return found

    by_handles = played(tracks())
    animation.bake_many(animated, animation.Options(step=STEP))
    exact, present = played(tracks()), tracks()
    errors: dict[bool, list[Float64Array]] = {False: [], True: []}
    for name, samples in exact.items():
        track, _ = present[name]
        if track.is_rotation:
            ours, theirs = (
                rotations.normalise(splines.quaternions_of(track, each)) for each in (by_handles[name], samples)
            )
            error = np.degrees(rotations.angle_between(ours, theirs))
        else:
            size = np.ptp(samples, axis=0).max()
            error = np.abs(by_handles[name] - samples).max(axis=1) / (size if size > 0.0 else 1.0)
        errors[track.is_rotation].append(error)
    columns = []
    for each in errors.values():
        columns += [number(float(np.quantile(np.concatenate(each), q))) if each else "" for q in (0.5, 0.9, 1.0)]
    approximate = sum(note.code == "HANDLES_APPROXIMATE" for note in report.notes)
    return (path.name, f"{len(exact)}", f"{report.keys}", f"{approximate}", *columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=10, help="of a .bvh file one key in so many (default: 10)")
    given = parser.parse_args()
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    package.register()
    heads = (
        "file",
        "tracks",
        "keys",
        "approximate",
        "values: median",
        "90 %",
        "largest",
        "degrees: median",
        "90 %",
        "largest",
    )
    print(table(heads, [compare(path, given.every) for path in given.files]))
    tcb.end_process(0)


if __name__ == "__main__":
    main()
