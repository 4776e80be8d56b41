# SPDX-License-Identifier: GPL-3.0-or-later
"""Render one motion-blurred frame of a fast spin three times: baked as samples, baked as curves, and exact.

    python tools/spin_picture.py

A tumbling baton of lights spins by about 90 degrees per frame. "Exact" means 64 samples per frame. The picture is
docs/figures/spin.png.
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
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import shapes
from examples.demo import quietly
from tests.animation import reference
from tools import tcb

ROOT = Path(__file__).resolve().parents[1]
KEYS = ((0, 0, 0), (40, -35, 240), (-40, 40, 480), (35, -40, 720))
"""Euler angles XYZ, Blender's default mode, in degrees."""
KEYS_APART = 3
FRAME = 5
"""A frame between two keys."""
EXACT = "exact: 64 samples per frame"
WAYS: dict[str, dict[str, Any]] = {
    "samples, one per frame": {},
    "curves": {"output": "CURVES"},
    EXACT: {"step": 1 / 64},
}
LOOKS = 50
"""Number of samples on each side of the frame."""
LIGHTS = ((1.0, (1.0, 0.35, 0.08)), (0.55, (0.15, 0.6, 1.0)), (-1.0, (0.2, 1.0, 0.35)))
"""The position along the baton, and the color."""


def make_scene() -> Any:
    """Make a new file that contains the baton with its keys."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    baton: Any = shapes.link("Baton", None)
    for at, colour in LIGHTS:
        glow = shapes.material("Glow", (0.0, 0.0, 0.0), 0.5)
        tree: Any = glow.node_tree
        surface = tree.nodes["Principled BSDF"].inputs
        surface["Emission Color"].default_value, surface["Emission Strength"].default_value = (*colour, 1.0), 12.0
        shapes.add(f"Light {at}", shapes.sphere(Vector((at, 0, 0)), 0.06), glow).parent = baton
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


def render(path: Path) -> None:
    scene: Any = bpy.context.scene
    set_up_render(scene, 360, 512)
    scene.render.filepath = str(path)
    scene.frame_set(FRAME)
    bpy.ops.render.render(write_still=True)


def seen(baton: Any) -> list[npt.NDArray[np.float64]]:
    """Return the baton's orientations while the shutter is open."""
    scene: Any = bpy.context.scene
    turned = []
    for place in range(-LOOKS, LOOKS + 1):
        frame = FRAME + place / (2 * LOOKS)
        scene.frame_set(int(frame), subframe=frame % 1)
        turned.append(reference.of_euler(baton.rotation_euler))
    return turned


def main() -> None:
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    animation = importlib.import_module(f"{package.__name__}.animation")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, views = plt.subplots(1, 3, figsize=(11.4, 4.1), layout="constrained")
    turned = {}
    with tempfile.TemporaryDirectory() as folder:
        for axes, (name, options) in zip(views, WAYS.items(), strict=True):
            baton = make_scene()
            animation.enable(baton, keep_look=False)
            animation.choose(baton, "rotation", path="AS_KEYED")
            animation.bake(baton, **options)
            turned[name] = seen(baton)
            picture = Path(folder) / "picture.png"
            with quietly():
                render(picture)
            axes.imshow(plt.imread(picture))
            axes.set_axis_off()
    for axes, (name, others) in zip(views, turned.items(), strict=True):
        off = math.degrees(max(map(reference.apart, others, turned[EXACT])))
        axes.set_title(name if name == EXACT else f"{name}: within {off:.2g}°")
    figure.savefig(ROOT / "docs" / "figures" / "spin.png", dpi=100)
    tcb.end_process(0)


if __name__ == "__main__":
    main()
