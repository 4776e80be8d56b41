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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import film, methods, pictures
from examples.accuracy import Row, distances, print_table, record
from examples.make_scene import make_scene, set_parameters
from examples.scene_tracks import START, TRACKS, Track

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "tcb_animation"


def load_package() -> ModuleType:
    """Load the checkout as a package without installing it. Its folder may have any name."""
    spec = importlib.util.spec_from_file_location(PACKAGE, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


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
