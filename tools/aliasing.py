# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure temporal aliasing: compare motion blur of bakes with a supersampled reference.

    python tools/aliasing.py [--picture]

Prints the table of docs/measurements/aliasing.md. It measures one frame of a tumbling baton of lights, which spins by
about 90 degrees per frame, with the shutter open for a whole frame. Cycles blurs the frame, from bakes with several
steps and as curves. The reference is the average of all pictures, rendered without motion blur from a bake with 64
samples per frame. The script takes about ten minutes. `--picture` draws docs/figures/spin.png instead.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import shapes
from examples.demo import quietly
from tests.animation import reference
from tools import tcb
from tools.benchmarks.checkout import animation

Picture = npt.NDArray[np.float32]

ROOT = Path(__file__).resolve().parents[1]
KEYS = ((0, 0, 0), (40, -35, 240), (-40, 40, 480), (35, -40, 720))
"""Euler angles XYZ, Blender's default mode, in degrees."""
KEYS_APART = 3
FRAME = 5
"""A frame between two keys."""
LIGHTS = ((1.0, (1.0, 0.35, 0.08)), (0.55, (0.15, 0.6, 1.0)), (-1.0, (0.2, 1.0, 0.35)))
"""The position along the baton, and the color."""
POINTS_PER_SIDE = 50
"""Number of orientations to compare on each side of the frame."""
BAKES: dict[str, dict[str, Any]] = {
    "samples, step 1": {"step": 1.0},
    "samples, step 0.5": {"step": 0.5},
    "samples, step 0.25": {"step": 0.25},
    "samples, step 0.125": {"step": 0.125},
    "curves, 0.01 degree": {"output": "CURVES"},
    "samples, step 1/64": {"step": 1 / 64},
}
EXACT = "samples, step 1/64"
SHOWN = {
    "samples, one per frame": "samples, step 1",
    "curves": "curves, 0.01 degree",
    "exact: 64 samples per frame": EXACT,
}
"""The titles of the bakes in the picture."""
PICTURES = 512
"""The number of reference pictures."""
SIZE = 180
"""The width and height of measured pictures in pixels."""


def make_scene() -> Any:
    """Make a new file that contains the baton with its keys."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    baton: Any = shapes.link("Baton", None)
    for position, color in LIGHTS:
        glow = shapes.material("Glow", (0.0, 0.0, 0.0), 0.5)
        tree: Any = glow.node_tree
        surface = tree.nodes["Principled BSDF"].inputs
        surface["Emission Color"].default_value, surface["Emission Strength"].default_value = (*color, 1.0), 12.0
        shapes.add(f"Light {position}", shapes.sphere(Vector((position, 0, 0)), 0.06), glow).parent = baton
    for number, angles in enumerate(KEYS):
        baton.rotation_euler = [math.radians(angle) for angle in angles]
        baton.keyframe_insert("rotation_euler", frame=1 + KEYS_APART * number)
    camera: Any = shapes.link("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 2.4
    camera.location = (0, 0, 5)
    scene: Any = bpy.context.scene
    scene.camera = camera
    return baton


def set_up_render(scene: Any, size: int, samples: int) -> None:
    """Set up Cycles to render only the lights, with the shutter open for a whole frame."""
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", samples, False
    scene.cycles.max_bounces = 0
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.view_settings.view_transform = "Standard"
    for item in scene.objects:
        item.cycles.motion_steps = 7


def orientations_in_shutter(baton: Any) -> list[npt.NDArray[np.float64]]:
    """Return the baton's orientations while the shutter is open."""
    scene: Any = bpy.context.scene
    orientations = []
    for number in range(-POINTS_PER_SIDE, POINTS_PER_SIDE + 1):
        frame = FRAME + number / (2 * POINTS_PER_SIDE)
        scene.frame_set(int(frame), subframe=frame % 1)
        orientations.append(reference.of_euler(baton.rotation_euler))
    return orientations


def baked(options: dict[str, Any]) -> Any:
    """Create the scene with the spin baked with these options."""
    baton = make_scene()
    animation.enable(baton, keep_look=False)
    animation.choose(baton, "rotation", path="AS_KEYED")
    animation.bake(baton, **options)
    return baton


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


def stills(folder: Path) -> Picture:
    """Render the reference pictures in the middle of equal parts of the shutter time."""
    scene: Any = bpy.context.scene
    pictures = []
    for number in range(PICTURES):
        frame = FRAME - 0.5 + (number + 0.5) / PICTURES
        scene.frame_set(math.floor(frame), subframe=frame % 1)
        pictures.append(rendered(folder, blurred=False))
    return np.stack(pictures)


def difference(picture: Picture, other: Picture) -> float:
    """Return the root mean square of the difference, relative to the root mean square of the other picture."""
    return float(np.sqrt(((picture - other) ** 2).mean() / (other**2).mean()))


def measure(folder: Path) -> None:
    """Print the table."""
    exact = orientations_in_shutter(baked(BAKES[EXACT]))
    average = stills(folder).mean(axis=0)
    print("| bake | maximum error while the shutter is open | picture |")
    print("|---|---:|---:|")
    for label, options in BAKES.items():
        angles = map(reference.apart, orientations_in_shutter(baked(options)), exact)
        bpy.context.scene.frame_set(FRAME)  # type: ignore[union-attr]
        picture = rendered(folder, blurred=True)
        print(
            f"| {label} | {math.degrees(max(angles)):.2g}° | {100 * difference(picture, average):.1f} % |", flush=True
        )


def draw(folder: Path) -> None:
    """Draw the frame baked as samples, baked as curves, and exact."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, views = plt.subplots(1, len(SHOWN), figsize=(11.4, 4.1), layout="constrained")
    exact = orientations_in_shutter(baked(BAKES[EXACT]))
    for axes, (title, label) in zip(views, SHOWN.items(), strict=True):
        error = math.degrees(max(map(reference.apart, orientations_in_shutter(baked(BAKES[label])), exact)))
        scene: Any = bpy.context.scene
        set_up_render(scene, 360, 512)
        scene.render.filepath = str(folder / "picture.png")
        scene.frame_set(FRAME)
        with quietly():
            bpy.ops.render.render(write_still=True)
        axes.imshow(plt.imread(scene.render.filepath))
        axes.set_axis_off()
        axes.set_title(title if label == EXACT else f"{title}: within {error:.2g}°")
    figure.savefig(ROOT / "docs" / "figures" / "spin.png", dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--picture", action="store_true", help="draw docs/figures/spin.png")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (draw if options.picture else measure)(Path(folder))
    tcb.end_process(0)


if __name__ == "__main__":
    main()
