# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare playback by handles with samples of the same tracks in complete files.

    python tools/handles_played.py walk.bvh scene.blend run.3ds [--every 10] [--plot docs/figures/handles_played.png]

Every tenth key of a .bvh file is kept. If a file has no TCB tracks, all tracks are enabled with the defaults. Blender
evaluates the F-curves of both motions every quarter of a frame, at the samples. The table has one row per file, with
the median, 90th percentile and maximum error over all frames and tracks. Errors of values are relative to the track's
range, and errors of rotations are in degrees. The plot has one column per file. It shows the channels of the track with
the largest error, by handles and baked, and their difference around the worst frame. Needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.tables import number, table

STEP = 0.25
AROUND = 60.0
"""Frames on both sides of the worst one that are drawn."""
COLOURS = ("#1f6fb4", "#d98324", "#2e8b57", "#7d5ba6")
Float64Array = npt.NDArray[np.float64]


def load(path: Path, every: int) -> None:
    """Open the file, or import it into an empty one."""
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
    store: Any = importlib.import_module(f"{tcb.PACKAGE}.animation.store.tracks")
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


@dataclass(frozen=True)
class Compared:
    """A track, as its handles play it and as samples do."""

    name: str
    is_rotation: bool
    frames: Float64Array
    keys: Float64Array
    """Frames of its keys."""
    by_handles: Float64Array
    """Values in the shape (frames, channels)."""
    samples: Float64Array
    error: Float64Array
    """Relative to the track's range, or degrees, shape (frames,)."""

    @property
    def in_tolerances(self) -> float:
        """Return the largest error, relative to the default tolerance of a bake."""
        fitting: Any = importlib.import_module(f"{tcb.PACKAGE}.interp.fitting.curves")
        tolerance = math.degrees(fitting.ROTATION_TOLERANCE) if self.is_rotation else fitting.VALUE_TOLERANCE
        return float(self.error.max()) / float(tolerance)


def compare(path: Path, every: int) -> tuple[tuple[str, ...], list[Compared]]:
    """Return a row of the table, and the file's tracks."""
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
    compared = []
    for name, samples in exact.items():
        track, frames = present[name]
        if track.is_rotation:
            ours, theirs = (
                rotations.normalise(splines.quaternions_of(track, each)) for each in (by_handles[name], samples)
            )
            error = np.degrees(rotations.angle_between(ours, theirs))
        else:
            size = np.ptp(samples, axis=0).max()
            error = np.abs(by_handles[name] - samples).max(axis=1) / (size if size > 0.0 else 1.0)
        keys = own_keys.key_frames(track).astype(np.float64)
        compared.append(Compared(": ".join(name), track.is_rotation, frames, keys, by_handles[name], samples, error))
    columns = []
    for is_rotation in (False, True):
        errors = [each.error for each in compared if each.is_rotation == is_rotation]
        columns += [number(float(np.quantile(np.concatenate(errors), q))) if errors else "" for q in (0.5, 0.9, 1.0)]
    approximate = sum(note.code == "HANDLES_APPROXIMATE" for note in report.notes)
    return (path.name, f"{len(exact)}", f"{report.keys}", f"{approximate}", *columns), compared


def plot(files: dict[str, list[Compared]], picture: Path) -> None:
    """Draw the track of each file with the largest error."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(
        2, len(files), figsize=(4.4 * len(files), 4.6), height_ratios=(2, 1), layout="constrained", squeeze=False
    )
    for (above, below), (file, tracks) in zip(rows.T, files.items(), strict=True):
        worst = max(tracks, key=lambda each: each.in_tolerances)
        middle = worst.frames[np.argmax(worst.error)]
        shown = np.abs(worst.frames - middle) <= AROUND
        frames = worst.frames[shown]
        keys = worst.keys[(worst.keys >= frames[0]) & (worst.keys <= frames[-1])]
        at_keys = np.searchsorted(worst.frames, keys)
        for channel, colour in zip(range(worst.samples.shape[1]), COLOURS, strict=False):
            baked, handles = worst.samples[:, channel], worst.by_handles[:, channel]
            above.plot(frames, baked[shown], color=colour, lw=4.0, alpha=0.3, label=None if channel else "baked")
            above.plot(frames, handles[shown], color=colour, lw=1.0, label=None if channel else "by handles")
            above.plot(keys, handles[at_keys], "D", color=colour, ms=4, label=None if channel else "keys")
        below.fill_between(frames, worst.error[shown] * (1.0 if worst.is_rotation else 100.0), color="#c0392b", lw=0)
        above.set_title(f"{file}\n{worst.name}", fontsize=9)
        below.set(
            xlabel="frame", ylabel="degrees apart" if worst.is_rotation else "% of the range apart", ylim=(0, None)
        )
        for axes in (above, below):
            axes.grid(alpha=0.25)
            axes.set_xlim(frames[0], frames[-1])
    rows[0][0].legend(fontsize=8)
    figure.savefig(picture, dpi=80, pil_kwargs={"optimize": True})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=10, help="of a .bvh file one key in so many (default: 10)")
    parser.add_argument("--plot", type=Path, help="draw the track of each file that is farthest off")
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
    compared = {path: compare(path, given.every) for path in given.files}
    print(table(heads, [row for row, _ in compared.values()]))
    if given.plot is not None:
        plot({path.name: tracks for path, (_, tracks) in compared.items()}, given.plot)
    tcb.end_process(0)


if __name__ == "__main__":
    main()
