# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure temporal aliasing: compare motion blur of bakes and averaged pictures with a supersampled reference.

    python tools/aliasing.py

Prints the figures of docs/measurements/aliasing.md. They measure one frame of the spin of tools/spin_picture.py, with
the shutter open for a whole frame. In the first rows, Cycles blurs the frame, from bakes with several steps and as
curves. The other rows are averages of a few pictures at equal times (eq. 13.59 of the chapter "Animation") or at random
times within equal parts of the shutter time (13.60). The reference is the average of all pictures, rendered without
motion blur from a bake with 64 samples per frame. The script takes about ten minutes.
"""

from __future__ import annotations

import importlib
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.demo import quietly
from tests.animation.reference import apart
from tools import tcb
from tools.spin_picture import EXACT, FRAME, WAYS, make_scene, seen, set_up_render

Picture = npt.NDArray[np.float32]

BAKES: dict[str, dict[str, Any]] = {
    "samples, step 1": {"step": 1.0},
    "samples, step 0.5": {"step": 0.5},
    "samples, step 0.25": {"step": 0.25},
    "samples, step 0.125": {"step": 0.125},
    "curves, 0.01 degree": {"output": "CURVES"},
    "samples, step 1/64": WAYS[EXACT],
}
PICTURES = 512
"""The number of reference pictures, a power of 2."""
COUNTS = (2, 4, 8, 16, 32, 64, 128)
TRIES = 200
"""The number of random averages whose mean error is printed."""
SIZE = 180
"""The width and height in pixels."""


def rendered(folder: Path, blurred: bool) -> Picture:
    """Render the open scene and return linear light, shape (pixels, 3)."""
    scene: Any = bpy.context.scene
    set_up_render(scene, SIZE, samples=2048 if blurred else 32)
    scene.render.use_motion_blur = blurred
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.filepath = str(folder / "picture.exr")
    with quietly():
        bpy.ops.render.render(write_still=True)
    image: Any = bpy.data.images.load(scene.render.filepath)
    pixels = np.empty(SIZE * SIZE * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(-1, 4)[:, :3].copy()


def baked(animation: Any, options: dict[str, Any]) -> Any:
    """Create the scene with the spin baked with these options."""
    baton = make_scene()
    animation.enable(baton, keep_look=False)
    animation.choose(baton, "rotation", path="AS_KEYED")
    animation.bake(baton, **options)
    return baton


def stills(folder: Path) -> Picture:
    """Render the reference pictures in the middle of equal parts of the shutter time."""
    scene: Any = bpy.context.scene
    pictures = []
    for number in range(PICTURES):
        frame = FRAME - 0.5 + (number + 0.5) / PICTURES
        scene.frame_set(math.floor(frame), subframe=frame % 1)
        pictures.append(rendered(folder, blurred=False))
    return np.stack(pictures)


def off(picture: Picture, reference: Picture) -> float:
    """Return the root mean square of the difference, relative to the root mean square of the reference."""
    return float(np.sqrt(((picture - reference) ** 2).mean() / (reference**2).mean()))


def averages(pictures: Picture, reference: Picture, count: int, dice: np.random.Generator) -> tuple[float, float]:
    """Return the errors of averages of `count` pictures at equal times, and the mean error of random averages."""
    part = PICTURES // count
    starts = part * np.arange(count)
    evenly = off(pictures[starts + part // 2].mean(axis=0), reference)
    random = [off(pictures[starts + dice.integers(0, part, count)].mean(axis=0), reference) for _ in range(TRIES)]
    return evenly, float(np.mean(random))


def main() -> None:
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    animation = importlib.import_module(f"{package.__name__}.animation")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        turned = seen(baked(animation, WAYS[EXACT]))
        pictures = stills(folder)
        reference = pictures.mean(axis=0)
        print("| bake | largest angle off while the shutter is open | blurred picture off |")
        print("|---|---:|---:|")
        for label, options in BAKES.items():
            angles = map(apart, seen(baked(animation, options)), turned)
            bpy.context.scene.frame_set(FRAME)  # type: ignore[union-attr]
            picture = rendered(folder, blurred=True)
            degrees = math.degrees(max(angles))
            print(f"| {label} | {degrees:.2g}° | {100 * off(picture, reference):.1f} % |", flush=True)
    print("\n| pictures averaged | evenly | at random in each part |")
    print("|---:|---:|---:|")
    dice = np.random.default_rng(1)
    for count in COUNTS:
        evenly, random = averages(pictures, reference, count, dice)
        print(f"| {count} | {100 * evenly:.0f} % | {100 * random:.0f} % |", flush=True)
    tcb.end_process(0)


if __name__ == "__main__":
    main()
