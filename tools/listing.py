# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the pictures for the extension's page on extensions.blender.org, with a graphical Blender: `make listing`.

    tools/environment.sh graphical python tools/listing.py [FOLDER] [--draft]

FOLDER defaults to docs/listing. --draft skips antialiasing and renders a sixteenth of the pixels, which is several
times as fast. Python must have bpy, which renders the featured picture and builds the extension's zip.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import demo, pictures, shapes
from examples.make_scene import make_scene, set_parameters
from examples.scene_tracks import CAMERA, TRACKS
from interp import Keys, tcb
from tests.gui import graphical
from tests.gui.graphical import PLAIN_VIEWS, place
from tools import build_zip
from tools.benchmarks.checkout import animation
from tools.screenshots import EDIT_PATHS, ENABLED, LOCATION, ON_PATH, PACKAGE, SPLIT, TO_CURVE, VIEW, Box, Camera

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parents[1]
ICON, PICTURE = 256, (1920, 1080)
TILE, KEY, INCOMING, OUTGOING = "#16243c", "#ffbf33", "#59d999", "#f280bf"
"""Colors of the icon. The key and its tangents have the colors of the viewport."""
FLOWN = LinearSegmentedColormap.from_list("Flown", ["#3aa0ff", "#b45cff", "#ff8a3c"])
COLORS = 2000
"""Number of colors in a screenshot. Fewer colors would cause visible bands on objects."""
SMALL = ["-strip", "-define", "png:compression-level=9"]
SLIDERS = {"tension": -0.5, "continuity": 0.3, "bias": 0.6, "ease_to": 0.4, "ease_from": 0.15}
WINDOW = (1920, 1120)
"""The size of the picture plus Blender's top bar."""
SCALE, SLIDERS_SCALE = 1.5, 2.2
"""Resolution scales of the screenshots, and of the sliders in the featured picture."""
FIRST, LAST, MARGIN = 26, 570, 12
"""Pixels from the sidebar's left edge to both sides of the sliders' picture, and from the sliders to its edges."""
SCENE = f"""{ENABLED}
    for datablock in dict.fromkeys(track.datablock for track in TRACKS):
        animation.bake(datablock, output='HANDLES')
        datablock.animation_data.action.tcb_live = True
    yield .5
"""
"""The example scene, live."""
# One 3D viewport fills the window. Text is large enough for thumbnails, and objects use their material colors.
VIEWPORT = f"""
def steps():
    view = bpy.context.preferences.view
    view.ui_scale, view.show_navigate_ui, view.show_object_info, view.show_view_name = {SCALE}, False, False, False
    win().screen.show_statusbar = False
    yield .5
    for kind in ('DOPESHEET_EDITOR', 'OUTLINER', 'PROPERTIES'):
        with bpy.context.temp_override(window=win(), area=area(kind)):
            bpy.ops.screen.area_close()
        yield .5
    for material in bpy.data.materials:
        color = material.node_tree.nodes['Principled BSDF'].inputs['Base Color'].default_value
        material.diffuse_color = [min(1.0, 1.5 * channel + 0.03) for channel in color[:3]] + [1.0]
    space = area('VIEW_3D').spaces.active
    space.show_region_header = space.show_region_tool_header = space.show_region_toolbar = False
    shading, overlay = space.shading, space.overlay
    shading.light, shading.studio_light = 'STUDIO', 'paint.sl'
    shading.color_type, shading.show_cavity, shading.show_shadows = 'MATERIAL', True, True
    shading.background_type, shading.background_color = 'VIEWPORT', (0.022, 0.04, 0.075)
    space.show_gizmo_navigate = overlay.show_bones = overlay.show_relationship_lines = False
    overlay.show_cursor = overlay.show_extras = overlay.show_axis_x = overlay.show_axis_y = False
    yield .5
"""
FLIGHT = """
from mathutils import Euler
def steps():
    plane = bpy.data.objects['Paper plane']
    for item in bpy.data.objects:
        item.hide_set(item.name == 'Backdrop')
        item.select_set(item == plane)
    win().view_layer.objects.active = plane
    space = area('VIEW_3D').spaces.active
    space.show_region_toolbar, view = False, space.region_3d
    view.view_perspective, view.view_rotation = 'PERSP', Euler((1.4, 0, -.12)).to_quaternion()
    view.view_distance, view.view_location = {distance}, {center}
    bpy.context.window_manager.tcb_show_paths = win().scene.tcb_paths.by_speed = True
    win().scene.frame_set({frame})
    yield .5
"""
BOUNCE = """
def steps():
    for item in bpy.data.objects:
        item.select_set(item.name == 'Ball')
        item.hide_set(item.name in ('Backdrop', 'Desk lamp', 'Paper plane') or item.name.startswith('Lamp'))
    win().view_layer.objects.active = bpy.data.objects['Ball']
    bpy.context.window_manager.tcb_track = 'Object/Ball/location'
    space = area('VIEW_3D').spaces.active
    space.show_region_toolbar = True
    view = space.region_3d
    view.view_distance, view.view_location = 6.6, (-2.2, -1.6, 1.3)
    win().scene.frame_set(40)
    yield .5
"""
# Four balls with the same three keys, seen from the front.
SAME_KEYS = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})

def steps():
    from examples import shapes
    from {PACKAGE} import animation
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    rubber, stripe, white = (bpy.data.materials[name] for name in ('Rubber', 'Stripe', 'Paper'))
    white.diffuse_color = (1, 1, 1, 1)
    font = bpy.data.fonts.load(bpy.utils.system_resource('DATAFILES', path='fonts') + '/Inter.woff2')
    for row, (name, parameters) in enumerate({{
        'Default': {{}}, 'Bias 1': {{'bias': 1.0}},
        'Continuity \u22121': {{'continuity': -1.0}}, 'Tension \u22121': {{'tension': -1.0}}
    }}.items()):
        left, low = 4.6 * (row % 2), -3.2 * (row // 2)
        ball = shapes.add(name, shapes.ball(), rubber, stripe, smooth=True)
        for frame, x, z in ((1, -1.6, 0.0), (16, 0.0, 1.8), (31, 1.6, 0.0)):
            ball.location = left + x, 0.0, low + z
            ball.keyframe_insert('location', frame=frame)
        animation.enable(ball, keep_look=False)
        if parameters:
            animation.key_set(ball, 'location', 16, **parameters)
        animation.bake(ball, output='HANDLES')
        ball.animation_data.action.tcb_live = True
        text = bpy.data.curves.new(name, 'FONT')
        text.body, text.align_x, text.size, text.font = name, 'CENTER', 0.36, font
        label = shapes.link(name + ' label', text)
        label.location, label.rotation_euler = (left, 0.0, low - 0.05), (1.5708, 0, 0)
        text.materials.append(white)
        ball.select_set(True)
        win().view_layer.objects.active = ball
    space = area('VIEW_3D').spaces.active
    space.show_region_toolbar = space.shading.show_shadows = space.overlay.show_floor = False
    view = space.region_3d
    from mathutils import Euler
    view.view_perspective, view.view_rotation = 'ORTHO', Euler((1.5708, 0, 0)).to_quaternion()
    view.view_distance, view.view_location = 8.4, (3.6, 0, -.5)
    bpy.context.window_manager.tcb_show_paths = win().scene.tcb_paths.by_speed = True
    win().scene.frame_set(16)
    yield .5
"""


def full(camera: Camera) -> Box:
    """Return the box of all editors, below Blender's top bar."""
    width, height = camera.size
    return Box(0, height - PICTURE[1], width, height)


def paths(window: Any, camera: Camera) -> None:
    """Show the flight path of the example's plane, colored by speed, and the tab."""
    window.run(SCENE)
    window.run(VIEWPORT)
    window.run(FLIGHT.format(distance=13, center=(2.3, 0, 2.5), frame=40))
    window.open_sidebar("VIEW_3D", "TCB")
    camera.park()
    camera.take("paths", full(camera))


def presets(window: Any, camera: Camera) -> None:
    """Show the presets as pictures, over the plane's loop."""
    window.run(FLIGHT.format(distance=9, center=(1.9, 0, 1.4), frame=48))
    _, last_slider = place(window.buttons("VIEW_3D"), "tcb.ease_from")
    right, down = (round(SCALE * pixels) for pixels in TO_CURVE)
    window.click((camera.region("VIEW_3D", "UI").left + right, last_slider + down))
    camera.take("presets", full(camera))
    window.key("Escape")


def edit_paths(window: Any, camera: Camera) -> None:
    """Drag a key on the path of the ball."""
    window.run(BOUNCE)
    window.run(EDIT_PATHS.format(tool="tcb.path_tool"))
    camera.screen()
    x, y = window.run(ON_PATH)[4]
    window.xdotool("mousemove", x, y)
    camera.rest()
    window.xdotool("mousedown", 1)
    for step in range(1, 6):
        window.xdotool("mousemove", x + 6 * step, y - 22 * step)
        camera.rest()
    camera.take("edit_paths", full(camera), (x + 30, y - 110))
    window.xdotool("mouseup", 1)
    window.run(EDIT_PATHS.format(tool="builtin.select_box"))


def editors(window: Any, camera: Camera) -> None:
    """Show the plane's location in the Graph Editor, with the tab."""
    window.run(FLIGHT.format(distance=15, center=(0.4, 0, 3.0), frame=48))
    window.run(SPLIT)
    window.open_sidebar("GRAPH_EDITOR", "TCB")
    window.run(LOCATION.format(output="HANDLES", components=(0, 1, 2), start=48, end=65))
    window.run(VIEW.format(view="view_all"))
    camera.park()
    camera.take("editors", full(camera))


def same_keys(window: Any, camera: Camera) -> None:
    """Show four motions through the same keys."""
    window.run(SCENE)
    window.run(VIEWPORT)
    window.open_sidebar("VIEW_3D", "TCB")
    window.run(SAME_KEYS)
    camera.park()
    camera.take("same_keys", full(camera))


def sliders(window: Any, camera: Camera) -> None:
    """Take a larger picture of only the five sliders, with visible parameters."""
    window.run(SCENE)
    window.run(VIEWPORT)
    window.run(FLIGHT.format(distance=13, center=(2.3, 0, 2.5), frame=40))
    window.run(f"bpy.ops.tcb.key_set(track='location', **{SLIDERS})")
    window.run(f"bpy.context.preferences.view.ui_scale = {SLIDERS_SCALE}")
    window.open_sidebar("VIEW_3D", "TCB")
    buttons = window.buttons("VIEW_3D")
    (_, top), (_, bottom) = (place(buttons, f"tcb.{name}") for name in ("tension", "ease_from"))
    edge = (bottom - top) // 8 + MARGIN
    camera.park()
    left = camera.region("VIEW_3D", "UI").left
    camera.take("sliders", Box(left + FIRST, top - edge, left + LAST, bottom + edge))


def title(camera: bpy.types.Object) -> None:
    """Write the name and the tagline in front of the camera."""
    utils: Any = bpy.utils
    font: Any = bpy.data.fonts.load(f"{utils.system_resource('DATAFILES', path='fonts')}/Inter.woff2")
    white: Any = shapes.material("Title", (1.0, 1.0, 1.0), 1.0)
    surface = white.node_tree.nodes["Principled BSDF"].inputs
    surface["Emission Color"].default_value, surface["Emission Strength"].default_value = (1.0, 1.0, 1.0, 1.0), 1.0
    for text, size, bevel, y in (("TCB Animation", 0.44, 0.008, 1.5), ("Five sliders shape each key", 0.2, 0.0, 1.17)):
        curve: Any = bpy.data.curves.new(text, "FONT")
        curve.body, curve.size, curve.bevel_depth, curve.font = text, size, bevel, font
        curve.materials.append(white)
        item = shapes.link(text, curve)
        item.parent, item.location, item.visible_shadow = camera, (-2.4, y, -5.0), False


def featured(file: Path, panel: Path, draft: bool) -> None:
    """Render the example scene with the name above it and the sliders next to the name."""
    scene = make_scene()
    set_parameters(animation)
    animation.bake_many(dict.fromkeys(track.datablock for track in TRACKS))
    bpy.data.cameras[CAMERA].shift_y = 0.098
    title(bpy.data.objects[CAMERA])
    scale = 4 if draft else 1
    with demo.quietly():
        pictures.render(file, scene, size=(PICTURE[0] // scale, PICTURE[1] // scale), samples=32)
    height, width = plt.imread(panel).shape[:2]
    mask = ["+clone", "-fill", "black", "-colorize", "100", "-fill", "white"]
    mask += ["-draw", f"roundrectangle 0,0,{width - 1},{height - 1},16,16"]
    rounded = ["(", str(panel), "(", *mask, ")", "-alpha", "off", "-compose", "CopyOpacity", "-composite", ")"]
    resized = ["-resize", f"{PICTURE[0]}x{PICTURE[1]}"]
    placed = ["-geometry", "+1296+84", "-compose", "Over", "-composite"]
    subprocess.run(["convert", str(file), *resized, *rounded, *placed, *SMALL, str(file)], check=True)
    print(file)


def icon(file: Path) -> None:
    """Draw a key between two others, with its curve and tangents, on a tile."""
    figure = plt.figure(figsize=(1, 1), dpi=ICON)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    axes.add_patch(FancyBboxPatch((0.15, 0.15), 0.7, 0.7, boxstyle="round,pad=0.14", color=TILE, lw=0))
    keys = np.array([(0.15, 0.24), (0.47, 0.68), (0.85, 0.24)])
    spline = tcb.VectorSpline(Keys([0, 1, 2], keys, tension=[0, -0.5, 0], bias=[0, 0.3, 0]))
    points, tangent = spline(np.linspace(0, 2, 200)), spline(1.0, nu=1) / 2
    curve = LineCollection(np.stack([points[:-1], points[1:]], axis=1), cmap=FLOWN, lw=7, capstyle="round")
    curve.set_array(np.linspace(0, 1, len(points) - 1))
    axes.add_collection(curve)
    for end, color in ((keys[1] - tangent, INCOMING), (keys[1] + tangent, OUTGOING)):
        axes.plot(*np.stack([keys[1], end]).T, color=color, lw=2)
        axes.plot(*end, "o", color=color, ms=5.5, mew=0)
    axes.plot(*keys[[0, 2]].T, "D", color="white", ms=6, mew=0)
    axes.plot(*keys[1], "D", color=KEY, ms=11, mec=TILE, mew=1)
    figure.savefig(file, transparent=True)
    plt.close(figure)
    subprocess.run(["convert", str(file), *SMALL, str(file)], check=True)
    print(file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Create the pictures for the page on the extensions platform.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "listing")
    parser.add_argument("--draft", action="store_true", help="skip antialiasing and render smaller, which is faster")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as build:
        archive = build_zip.build(Path(build))
        with graphical.installed(archive, WINDOW) as window:
            if options.draft:
                window.run(PLAIN_VIEWS)
            camera = Camera(window, options.folder, options.draft, WINDOW, COLORS)
            for take in (paths, presets, edit_paths, editors, same_keys):
                take(window, camera)
            sliders(window, Camera(window, Path(build), options.draft, WINDOW, COLORS))
        featured(options.folder / "featured.png", Path(build, "sliders.png"), options.draft)
    icon(options.folder / "icon.png")


if __name__ == "__main__":
    main()
