# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the example scene with a script and report on the result (`make demo`).

    python examples/demo.py [--output FOLDER] [--no-render]

Prints tables of errors, and saves the scene before and after the bake, a plot and a rendered picture. It also draws a
film of the motion without and with TCB, which opens at the end if the script runs in a terminal. Errors are the
differences between Blender's playback and tests/animation/reference.py, which computes the formulas independently. The
exit status is 1 if an error exceeds its bound, or if Remove has left data behind.
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import film, methods, pictures
from examples.make_scene import make_scene, set_parameters
from examples.scene_tracks import START, TRACKS
from tests.animation.curves import bags_in, bits
from tools import errors
from tools.benchmarks.checkout import animation
from tools.tables import show

ROOT = Path(__file__).resolve().parents[1]


def snapshot() -> list[dict[str, Any]]:
    """Return all of the animator's keys, to the last bit."""
    return [bits(fcurve) for action in bpy.data.actions for bag in bags_in(action) for fcurve in bag.fcurves]


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
    scene = make_scene()
    untouched = snapshot()
    blender_flight, blender_poses = pictures.flight(scene), film.poses(scene)
    set_parameters(animation)
    scene.frame_set(START)
    saved = [save(folder / "scene.blend")]
    tracks = errors.example_tracks()
    errors.bake(tracks, "SAMPLES")
    scene.frame_set(START)
    saved.append(save(folder / "baked.blend"))
    row = errors.measure("example scene", tracks)
    print("Largest errors of Blender's playback: values relative to the range of the keys, rotations in degrees.\n")
    show(errors.tables([row]))

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
    return 0 if removed and row.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
