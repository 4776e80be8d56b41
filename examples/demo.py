# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the example scene with a script and report on the result (`make demo`).

    python examples/demo.py [--output FOLDER] [--no-render]

Prints a table of tracks, and saves the scene before and after the bake, a plot and a rendered picture. It also draws a
film of the motion without and with TCB, which opens at the end if the script runs in a terminal. Errors are the
differences between Blender's playback and tests/animation/reference.py, which computes the formulas independently. The
exit status is 1 if an error exceeds its bound, or if Remove has left data behind.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import film, methods, pictures
from examples.make_scene import END, START, TRACKS, Track, make_scene, set_parameters
from tests.animation import reference

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "tcb_animation"
VALUE_BOUND = 1.0
"""The largest error of a value, in units in the last place of float32. A sample is the exact value, rounded once."""
ROTATION_BOUND = 1e-6
"""The largest error of a rotation, in radians.

Rounding four components to float32 rotates an orientation by about 1e-7.
"""
QUARTER = 0.25

Recording = dict[Track, dict[float, tuple[float, ...]]]
"""The values of each track in Blender's playback, by frame."""


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    track: Track
    samples: int
    seconds: float
    at_frames: float
    """Maximum error at whole frames: float32 ulps for values, radians for rotations."""
    between: float
    """Maximum error between frames, in the track's units or radians. Samples, one per frame, are joined linearly."""

    @property
    def is_good(self) -> bool:
        return self.at_frames <= (ROTATION_BOUND if is_rotation(self.track) else VALUE_BOUND)


def load_package() -> ModuleType:
    """Load the checkout as a package without installing it. Its folder may have any name."""
    spec = importlib.util.spec_from_file_location(PACKAGE, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def is_rotation(track: Track) -> bool:
    return "rotation" in track.path


def record(scene: bpy.types.Scene) -> Recording:
    """Play the scene and record each track every quarter of a frame."""
    result: Recording = {track: {} for track in TRACKS}
    for frame in np.arange(START, END + QUARTER / 2, QUARTER).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        for track in TRACKS:
            result[track][frame] = track.value()
    return result


def orientation(track: Track, value: Sequence[float]) -> npt.NDArray[np.float64]:
    return reference.of_euler(value) if track.path.endswith("euler") else reference.unit(value)


def as_stored(numbers: Sequence[float]) -> list[float]:
    """Return the numbers rounded to float32, as F-curves store them."""
    return [float(np.float32(number)) for number in numbers]


def stored_keys(track: Track) -> list[reference.Key]:
    """Return the keys with values rounded as F-curves store them, and with rotations as quaternions."""
    keys = []
    for key in track.keys:
        value = tuple(as_stored(key.value))
        parameters = as_stored([key.tension, key.continuity, key.bias, key.ease_to, key.ease_from])
        shown = tuple(orientation(track, value).tolist()) if is_rotation(track) else value
        keys.append(reference.Key(key.frame, shown, *parameters))
    return keys


def distances(track: Track, played: dict[float, tuple[float, ...]]) -> tuple[float, float]:
    """Return the maximum errors at whole frames and between them, in the units of `Row`."""
    keys = stored_keys(track)
    components = [
        [(key.frame, number, *key[2:]) for key, number in zip(keys, column, strict=True)]
        for column in zip(*(key.value for key in keys), strict=True)
    ]
    at_frames, between = [0.0], [0.0]
    for frame, value in played.items():
        if is_rotation(track):
            angle = reference.apart(orientation(track, value), reference.rotation(keys, frame))
            (between if frame % 1 else at_frames).append(angle)
            continue
        wanted = np.array([reference.scalar(component, frame) for component in components])
        apart = np.abs(np.array(value) - wanted)
        if frame % 1:
            between.append(float(apart.max()))
        else:
            at_frames.append(float((apart / np.spacing(np.abs(wanted).astype(np.float32))).max()))
    return max(at_frames), max(between)


def bake(animation: ModuleType) -> dict[Track, tuple[int, float]]:
    """Bake the tracks, and return the number of samples and the seconds for each track."""
    result = {}
    for track in TRACKS:
        start = time.perf_counter()
        report = animation.bake(track.datablock, prefixes=[track.path])
        result[track] = report.samples, time.perf_counter() - start
        for note in report.notes:
            print(note)
    return result


def fcurves() -> Iterator[bpy.types.FCurve]:
    """Yield every F-curve, before Blender 5.0 from the action's list, and since then by layer, strip and slot."""
    actions: Any = bpy.data.actions
    for action in actions:
        if hasattr(action, "fcurves"):
            yield from action.fcurves
        else:
            for layer in action.layers:
                for strip in layer.strips:
                    for bag in strip.channelbags:
                        yield from bag.fcurves


def snapshot() -> list[tuple[Any, ...]]:
    """Return all of the animator's keys, to the last bit."""
    return [
        (fcurve.data_path, fcurve.array_index, fcurve.extrapolation, fcurve.mute, *_keys(fcurve))
        for fcurve in fcurves()
    ]


def _keys(fcurve: Any) -> Iterator[tuple[Any, ...]]:
    for point in fcurve.keyframe_points:
        yield tuple(point.co), tuple(point.handle_left), tuple(point.handle_right)
        yield point.interpolation, point.easing, point.type, point.handle_left_type, point.handle_right_type
        yield point.select_control_point, point.select_left_handle, point.select_right_handle


def print_table(rows: Sequence[Row]) -> None:
    print(f"{'object':<14}{'track':<34}{'keys':>5}{'samples':>9}{'ms':>7}   {'at frames':<14}between frames")
    for row in rows:
        track = row.track
        if is_rotation(track):
            at_frames, between = f"{row.at_frames:.1e} rad", f"{row.between:.1e} rad"
        else:
            at_frames, between = f"{row.at_frames:.2f} ulp", f"{row.between:.1e}"
        flaw = "" if row.is_good else "   ABOVE THE BOUND"
        print(
            f"{track.owner:<14}{track.label:<34}{len(track.keys):>5}{row.samples:>9}{1e3 * row.seconds:>7.1f}"
            f"   {at_frames:<14}{between}{flaw}"
        )
    keys, samples = sum(len(row.track.keys) for row in rows), sum(row.samples for row in rows)
    seconds = sum(row.seconds for row in rows)
    print(f"{'together':<14}{f'{len(rows)} tracks':<34}{keys:>5}{samples:>9}{1e3 * seconds:>7.1f}")
    print(
        "\nThe last two columns are the maximum difference between Blender's playback and the exact spline. At whole"
        f"\nframes, where the samples are, the bound is {VALUE_BOUND:g} float32 ulp or {ROTATION_BOUND:g} radian."
        "\nStraight lines join the samples. The difference between frames depends on the step, here 1 frame."
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress Blender's output, which contains a line for every rendered tile."""
    sys.stdout.flush()
    terminal = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(terminal, 1)
        os.close(terminal)


def save(path: Path) -> Path:
    path.unlink(missing_ok=True)  # otherwise Blender keeps the file of the last run as a backup
    with quietly():
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="Bake the example scene and report on the result.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "demo", help="folder for files and pictures")
    parser.add_argument("--no-render", action="store_true", help="do not render the picture")
    arguments = parser.parse_args()
    folder: Path = arguments.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)

    print(f"Blender {bpy.app.version_string}\n")
    load_package()
    animation = importlib.import_module(f"{PACKAGE}.animation")
    scene = make_scene()
    untouched = snapshot()
    blender_flight, blender_poses = pictures.flight(scene), film.poses(scene)
    set_parameters(animation)
    scene.frame_set(START)
    saved = [save(folder / "scene.blend")]
    baked = bake(animation)
    scene.frame_set(START)
    saved.append(save(folder / "baked.blend"))
    ours = record(scene)
    rows = [Row(track, *baked[track], *distances(track, ours[track])) for track in TRACKS]
    print_table(rows)

    saved.append(methods.picture(folder / "methods.png"))
    if not arguments.no_render:
        print("\nRendering ...")
        with quietly():
            saved.append(pictures.render(folder / "picture.png", scene, blender_flight))
    print("\nDrawing the film ...")
    saved.append(film.film(folder / "film.gif", blender_poses, film.poses(scene)))
    for datablock in dict.fromkeys(track.datablock for track in TRACKS):
        animation.remove(datablock)
    removed = snapshot() == untouched
    print("\nRemove restored every F-curve, bit for bit." if removed else "\nRemove has LEFT DATA BEHIND.")
    print("\nSaved:", *saved, sep="\n  ")
    if sys.stdout.isatty():
        webbrowser.open(saved[-1].as_uri())
    return 0 if removed and all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
