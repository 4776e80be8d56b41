# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the screenshots for the user pages again in a graphical Blender: `make screenshots`.

    tools/environment.sh graphical python tools/screenshots.py [FOLDER] [--draft]

FOLDER defaults to docs/images. --draft skips antialiasing, does not wait until everything is drawn, and films in two
steps, which is several times as fast. Python must have bpy, which builds the extension's zip.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.gui import graphical
from tests.gui.graphical import PLAIN_VIEWS, place
from tools import build_zip

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "bl_ext.user_default.tcb_animation"
SIZE = (1280, 1000)
TO_DIAGRAM, TO_TRACK = 61, 87
"""Pixels from the button Copy down to the headings of the Diagram and Track panels while they are collapsed."""
ROW = 20
"""Pixels from a button to the button in the next row."""
TO_CURVE = (30, 36)
"""Pixels from the left of the sidebar, and below the last slider, to the curve that opens the presets."""
# Blender draws a view eight times for antialiasing, which takes a while on a busy machine.
_REST = """
def steps():
    for _turn_of_blenders_loop in range(4):
        yield from drawn()
"""
_DRAWN = """
def steps():
    yield from drawn()
"""
SELECTED = (255, 191, 51)
"""The color of the key in a diagram. KEY_AT is its position relative to the diagram's height, from the top:"""
KEY_AT = 0.373

FRONT_VIEW = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.view3d.view_axis(type='FRONT')
    space = a.spaces.active
    space.region_3d.view_distance, space.region_3d.view_location = 20, (0.6, 0, 0.8)
    space.overlay.show_cursor = space.overlay.show_extras = space.show_region_toolbar = False
    bpy.context.scene.frame_end = 40
    yield .5
"""
ENABLED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})

def steps():
    from examples.make_scene import TRACKS, make_scene, set_parameters
    from {PACKAGE} import animation
    make_scene()
    yield 1.0
    set_parameters(animation)
"""
"""The example scene with its TCB parameters, to which other steps are appended."""
EXAMPLE = f"""{ENABLED}
    for track in TRACKS:
        animation.bake(track.datablock, prefixes=[track.path])
    plane = bpy.data.objects['Paper plane']
    plane.select_set(True)
    win().view_layer.objects.active = plane
    bpy.data.objects['Backdrop'].hide_set(True)
    win().scene.frame_set(40)
    yield .5
"""
EXAMPLE_VIEW = """
from mathutils import Euler
space = area('VIEW_3D').spaces.active
space.show_region_toolbar = space.overlay.show_cursor = space.overlay.show_extras = False
view = space.region_3d
view.view_perspective, view.view_rotation = 'PERSP', Euler((1.4, 0, -.2)).to_quaternion()
view.view_distance, view.view_location = 14.5, (2.8, 0, 2.2)
bpy.context.window_manager.tcb_show_paths = bpy.context.scene.tcb_paths.by_speed = True
"""
SPLIT = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.screen.area_split(direction='HORIZONTAL', factor=.62)
    yield .5
    low, high = sorted((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda each: each.y)
    low.type, high.spaces.active.show_region_ui = 'GRAPH_EDITOR', False
    yield .5
"""
LOCATION = """
plane = bpy.data.objects['Paper plane']
def steps():
    animation = plane.animation_data
    if bpy.app.version < (4, 4):
        fcurves = animation.action.fcurves
    else:
        fcurves = animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves
    bpy.ops.tcb.bake(output={output!r}, keep_look=False)
    for fcurve in fcurves:
        shown = fcurve.data_path == 'location' and fcurve.array_index in {components}
        fcurve.hide, fcurve.select = not shown, shown
        for key in fcurve.keyframe_points:
            selected = shown and {start} <= key.co.x <= {end}
            key.select_control_point = key.select_left_handle = key.select_right_handle = selected
    bpy.ops.ed.undo_push(message='selected')
    yield .5
"""
"""Bake, show these components of the plane's location, and select their keys between two frames."""
VIEW = """
def steps():
    a = area('GRAPH_EDITOR')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.graph.{view}()
    yield .5
"""
DOPE_SHEET = """
def steps():
    area('DOPESHEET_EDITOR').type = 'INFO'
    a = area('GRAPH_EDITOR')
    a.ui_type = 'DOPESHEET'
    yield .5
    a.spaces.active.dopesheet.show_only_selected = True
    region(a, 'UI').active_panel_category = 'TCB'
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        for _ in range(3):
            bpy.ops.anim.channels_expand(all=True)
        bpy.ops.action.view_selected()
    yield .5
"""
PREFERENCES = f"""
def steps():
    a = area('VIEW_3D')
    a.type = 'PREFERENCES'
    yield .5
    bpy.context.preferences.active_section = 'ADDONS'
    bpy.context.window_manager.addon_search = 'TCB'
    bpy.ops.preferences.addon_expand(module={PACKAGE!r})
    yield .5
"""

# Only the lamp of the example, live, with the path of the tip of its arm, which only rotates.
LAMP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})

def steps():
    from examples.make_scene import LAMP, make_scene
    from mathutils import Euler
    from {PACKAGE} import animation
    make_scene()
    yield 1.0
    lamp = bpy.data.objects[LAMP]
    for each in bpy.data.objects:
        each.hide_set(lamp not in (each, each.parent))
    animation.enable(lamp, keep_look=False)
    animation.bake(lamp, output='HANDLES')
    lamp.animation_data.action.tcb_live = True
    win().view_layer.objects.active = lamp
    lamp.select_set(True)
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.object.mode_set(mode='POSE')
    lamp.show_in_front, lamp.data.display_type = True, 'STICK'
    lamp.data.bones.active = lamp.data.bones['lower']
    bpy.context.scene.tcb_paths.point = 'TAIL'
    space = a.spaces.active
    space.show_region_toolbar = space.overlay.show_cursor = space.overlay.show_extras = False
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    view = space.region_3d
    view.view_rotation = Euler((1.35, 0, -1.2)).to_quaternion()
    view.view_distance, view.view_location = 7.5, (5.5, -.9, 1.6)
    win().scene.frame_set(52)
    yield .5
"""
# The tool Edit Paths, and the screen positions of the keys and of the end of the middle key's outgoing tangent.
EDIT_PATHS = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.wm.tool_set_by_id(name='{tool}')
    yield from drawn()
"""
ON_PATH = f"""
import sys
pictures = sys.modules['{PACKAGE}.panels.pictures']
a = area('VIEW_3D')
r = region(a, 'WINDOW')
with bpy.context.temp_override(window=win(), area=a, region=r):
    (shown,) = pictures.paths_in_viewport.drawn_paths(bpy.context)
points = [*shown.path.keys, (shown.path.keys + shown.path.tangents[1])[len(shown.path.keys) // 2]]
places = pictures.path_pick.on_screen(points, a.spaces.active.region_3d.perspective_matrix, (r.width, r.height))
result = [(round(x + r.x), round(win().height - 1 - r.y - y)) for x, y in places.tolist()]
"""


class Box(NamedTuple):
    """A part of the window, in pixels from its top left corner."""

    left: int
    top: int
    right: int
    bottom: int


def crop(box: Box) -> list[str]:
    """Return the ImageMagick arguments for cropping to the box."""
    return ["-crop", f"{box.right - box.left}x{box.bottom - box.top}+{box.left}+{box.top}", "+repage"]


def arrow(at: tuple[int, ...], scale: float = 1.0) -> list[str]:
    """Return the ImageMagick arguments for drawing the mouse pointer."""
    x, y = at
    corners = ((0, 0), (0, 16), (4, 12), (11, 12))
    outline = " ".join(f"{x + scale * right:g},{y + scale * down:g}" for right, down in corners)
    return ["-fill", "white", "-stroke", "black", "-draw", f"polygon {outline}"]


class Camera:
    """Take screenshots of parts of the window."""

    def __init__(
        self, window: Any, folder: Path, draft: bool = False, size: tuple[int, int] = SIZE, colors: int = 224
    ) -> None:
        self.window = window
        self.folder = folder
        self.draft = draft
        self.size = size
        self.colors = colors

    def take(self, name: str, box: Box, mouse: tuple[int, int] | None = None) -> None:
        """Save a picture of the box, and draw the mouse pointer if its position is given."""
        file = self.folder / f"{name}.png"
        small = ["+dither", "-colors", str(self.colors), "-strip", "-define", "png:compression-level=9"]
        cut = [*self.raw(), *([] if mouse is None else arrow(mouse, 1.8)), *crop(box)]
        subprocess.run(["convert", *cut, *small, str(file)], input=self.still(), check=True)
        print(file)

    def screen(self) -> Any:
        """Return the pixels of the screen, shape (height, width, 3)."""
        width, height = self.size
        return np.frombuffer(self.still(), np.uint8).reshape(height, width, 3).astype(int)

    def raw(self) -> list[str]:
        """Return the ImageMagick arguments for reading the pixels of the screen."""
        return ["-size", f"{self.size[0]}x{self.size[1]}", "-depth", "8", "rgb:-"]

    def still(self) -> bytes:
        """Return the pixels of the screen once they no longer change."""
        before = b""
        while (now := self._pixels()) != before and not self.draft:
            before = now
            self.rest()
        return now

    def _pixels(self) -> bytes:
        grab = ["import", "-window", "root", "-depth", "8", "rgb:-"]
        return subprocess.run(grab, env=self.window.env, capture_output=True, check=True).stdout

    def region(self, area: str, kind: str) -> Box:
        """Return the box of a region of an editor."""
        left, bottom, width, height = self.window.run(
            f"r = region(area({area!r}), {kind!r}); result = r.x, r.y, r.width, r.height"
        )
        return Box(left, self.size[1] - bottom - height, left + width, self.size[1] - bottom)

    def editor(self, area: str) -> Box:
        """Return the box of a whole editor."""
        left, bottom, width, height = self.window.run(f"a = area({area!r}); result = a.x, a.y, a.width, a.height")
        return Box(left, self.size[1] - bottom - height, left + width, self.size[1] - bottom)

    def park(self) -> None:
        """Move the mouse to a position without a tooltip."""
        self.window.xdotool("mousemove", self.size[0] // 2, self.size[1] - 4)
        self.rest()

    def rest(self) -> None:
        """Wait until everything is drawn, several times."""
        self.window.run(_DRAWN if self.draft else _REST)


def first_animation(window: Any, camera: Camera) -> None:
    """Perform the steps of docs/start/first_animation.md with the cube of a new file."""
    window.run(FRONT_VIEW)
    at = (500, 400)
    for frame, x, z in ((1, "-4", "3"), (20, "4", "-3"), (40, "4", "3")):
        window.run(f"bpy.context.scene.frame_set({frame})")
        for axis, distance in (("x", x), ("z", z)):
            window.key("g", at=at)
            window.key(axis)
            for digit in distance:
                window.key("minus" if digit == "-" else digit)
            window.key("Return")
        window.key("i")
    window.open_sidebar("VIEW_3D", "TCB")
    box = camera.region("VIEW_3D", "UI")
    box = box._replace(left=240, bottom=box.top + 700)
    camera.park()
    camera.take("first_keys", box)

    buttons = window.buttons("VIEW_3D", height=520)
    click_until(window, place(buttons, "tcb.enable("), "bpy.data.objects['Cube'].animation_data.action.tcb_live")
    window.run("bpy.context.window_manager.tcb_show_paths = True; bpy.context.scene.frame_set(20)")
    _, last_slider = place(buttons, "tcb.ease_from")
    camera.screen()
    window.click((camera.region("VIEW_3D", "UI").left + TO_CURVE[0], last_slider + TO_CURVE[1]))
    camera.take("first_presets", box._replace(left=100))
    window.key("Escape")
    window.run("bpy.ops.tcb.preset_apply(preset='corner')")
    camera.park()
    camera.take("first_corner", box)


class Film:
    """An animation of screenshots of a part of the window, including the mouse pointer."""

    def __init__(self, camera: Camera, box: Box) -> None:
        self.camera, self.box = camera, box
        self.stills: list[bytes] = []

    def drag(self, start: tuple[int, int], end: tuple[int, int], steps: int = 7) -> None:
        """Drag with the mouse, with one picture per step. The last picture is shown for a while."""
        move = self.camera.window.xdotool
        steps = 2 if self.camera.draft else steps
        for x in (start[0] - 4, start[0]):
            move("mousemove", x, start[1])
            self.camera.rest()
        self._shoot(start, 3)
        move("mousedown", 1)
        for step in range(1, steps + 1):
            at = tuple(round(a + (b - a) * step / steps) for a, b in zip(start, end, strict=True))
            move("mousemove", *at)
            self._shoot(at)
        move("mouseup", 1)
        self._shoot(end, 5)

    def _shoot(self, at: tuple[int, ...], times: int = 1) -> None:
        cut = [*self.camera.raw(), *arrow(at), *crop(self.box), "miff:-"]
        shot = subprocess.run(["convert", *cut], input=self.camera.still(), capture_output=True, check=True)
        self.stills += [shot.stdout] * times

    def save(self, name: str, colors: int = 64) -> None:
        """Save the animation as a GIF with this number of colors."""
        file = self.camera.folder / f"{name}.gif"
        small = ["+dither", "-colors", str(colors), "-layers", "optimize"]
        film = ["convert", "-delay", "16", "-loop", "0", "miff:-", *small, str(file)]
        subprocess.run(film, input=b"".join(self.stills), check=True)
        print(file)


def edit_paths(window: Any, camera: Camera) -> None:
    """Drag a key of the first animation's path, and the end of a tangent."""
    window.run("bpy.ops.tcb.preset_apply(preset='smooth')")
    window.run(EDIT_PATHS.format(tool="tcb.path_tool"))
    camera.screen()
    (left, top), _, (right, _), _ = places = window.run(ON_PATH)
    _, (x, y), *_ = places
    film = Film(camera, Box(left - 50, top - 60, right + 50, y + 110))
    film.drag((x, y), (x - 90, y + 50))
    end = window.run(ON_PATH)[-1]
    film.drag(end, (end[0] + 30, end[1] - 40))
    film.save("edit_paths")
    window.run(EDIT_PATHS.format(tool="builtin.select_box"))


def turn_tip(window: Any, camera: Camera) -> None:
    """Drag a key of the tip of the example lamp's rotating arm and back."""
    window.run(LAMP)
    window.run(EDIT_PATHS.format(tool="tcb.path_tool"))
    camera.screen()
    _, _, (x, y), _, _, _ = window.run(ON_PATH)
    film = Film(camera, Box(x - 230, y - 130, x + 130, y + 180))
    film.drag((x, y), (x - 60, y + 30))
    film.drag(window.run(ON_PATH)[2], (x + 30, y - 10))
    film.save("turn_tip", colors=32)
    window.run(EDIT_PATHS.format(tool="builtin.select_box"))


def click_until(window: Any, at: Any, condition: str) -> None:
    """Click at a position, and again if a busy machine has lost the click."""
    for _ in range(4):
        window.click(at)
        if window.run(f"result = {condition}"):
            return
    raise TimeoutError(f"clicking at {at} does not lead to {condition}")


def viewport(window: Any, camera: Camera) -> None:
    """Show the example scene with its paths and the tab."""
    window.run(EXAMPLE)
    window.open_sidebar("VIEW_3D", "TCB")
    window.run(EXAMPLE_VIEW)
    camera.park()
    box = camera.region("VIEW_3D", "UI")
    camera.take("paths", box._replace(left=camera.editor("VIEW_3D").left, bottom=box.top + 640))
    camera.take("sidebar", box._replace(bottom=box.top + 600))


ALL_0 = dict.fromkeys(("tension", "continuity", "bias", "ease_to", "ease_from"), 0.0)
DIAGRAMS = {
    "default": {},
    "tension_low": {"tension": -1.0},
    "tension_high": {"tension": 1.0},
    "continuity_low": {"continuity": -1.0},
    "continuity_high": {"continuity": 1.0},
    "bias_low": {"bias": -1.0},
    "bias_high": {"bias": 1.0},
    "ease_to": {"ease_to": 1.0},
    "ease_from": {"ease_from": 1.0},
}


def diagrams(window: Any, camera: Camera) -> None:
    """Show the key's diagram in the sidebar, for each parameter at its limits."""
    x, copy = place(window.buttons("VIEW_3D", height=520, across=0.4), "tcb.key_copy")
    window.click((x, copy + TO_DIAGRAM))
    camera.park()
    before = window.run(f"s = bpy.context.scene.tcb; result = {{name: getattr(s, name) for name in {list(ALL_0)}}}")
    size = window.run(f"import sys; result = sys.modules['{PACKAGE}.panels.pictures.diagram_icons'].size_in_pixels()")
    rows, columns = np.nonzero(np.abs(camera.screen() - SELECTED).max(axis=2) <= 2)
    in_sidebar = columns > camera.region("VIEW_3D", "UI").left
    row, column = (int(each[in_sidebar].min() + np.ptp(each[in_sidebar]) // 2) for each in (rows, columns))
    left, top = column - size // 2, round(row - KEY_AT * size)
    for name, parameters in DIAGRAMS.items():
        set_key(window, ALL_0 | parameters)
        camera.take(f"key_{name}", Box(left, top, left + size, top + size))
    set_key(window, before)
    window.run("bpy.ops.tcb.bake()")
    window.click((x, copy + TO_DIAGRAM))


def set_key(window: Any, parameters: dict[str, float]) -> None:
    window.run(f"bpy.ops.tcb.key_set(track='location', **{parameters})")


def track_choices(window: Any, camera: Camera) -> None:
    """Show the options of a rotation track, and the bake options below."""
    window.run("bpy.context.window_manager.tcb_track = 'Object/Paper plane/rotation_quaternion'")
    x, copy = place(window.buttons("VIEW_3D", height=520, across=0.4), "tcb.key_copy")
    window.click((x, copy + TO_TRACK))
    _, free = place(window.buttons("VIEW_3D"), "tcb.free(")
    camera.park()
    camera.take("options", camera.region("VIEW_3D", "UI")._replace(top=copy + 20, bottom=free + 3 * ROW))
    window.click((x, copy + TO_TRACK))


def graph_editor(window: Any, camera: Camera) -> None:
    """Show several keys at once, a dragged parameter, and the result of a bake."""
    window.run(SPLIT)
    window.open_sidebar("GRAPH_EDITOR", "TCB")
    window.run(LOCATION.format(output="CURVES", components=(0, 1, 2), start=48, end=86))
    window.run(VIEW.format(view="view_all"))
    camera.park()
    box = camera.editor("GRAPH_EDITOR")
    camera.take("graph_editor", box)

    canvas = camera.region("GRAPH_EDITOR", "WINDOW")
    at = canvas.left + 250, (canvas.top + canvas.bottom) // 2
    open_menu(window, at)
    window.key("d")
    window.key("b")
    for step in range(1, 9):
        window.xdotool("mousemove", at[0] + 8 * step, at[1])
        time.sleep(0.1)
    camera.take("drag", box._replace(bottom=box.top + 240))
    window.key("Escape")

    window.run(LOCATION.format(output="CURVES", components=(2,), start=40, end=65))
    window.run(VIEW.format(view="view_selected"))
    camera.park()
    camera.take("curves", canvas)
    window.run(LOCATION.format(output="SAMPLES", components=(2,), start=40, end=65))
    camera.take("samples", canvas)
    window.run(LOCATION.format(output="HANDLES", components=(2,), start=40, end=65))
    camera.take("handles", canvas)


def dope_sheet(window: Any, camera: Camera) -> None:
    """Show the keys of a baked track with its padlocks, and the menu."""
    window.run(LOCATION.format(output="SAMPLES", components=(0, 1, 2), start=40, end=65))
    window.run(DOPE_SHEET)
    box = camera.editor("DOPESHEET_EDITOR")
    camera.park()
    camera.take("dope_sheet", box._replace(bottom=box.top + 375))
    at = box.left + 300, box.top + 60
    open_menu(window, at)
    camera.take("menu", Box(at[0] - 160, box.top, at[0] + 330, box.bottom + 45))


def open_menu(window: Any, at: tuple[int, int]) -> None:
    """Open the context menu of keys and its TCB submenu by the underlined letter."""
    window.click(at, button=3)
    window.key("t")


def preferences(window: Any, camera: Camera) -> None:
    window.run(PREFERENCES)
    camera.park()
    box = camera.region("PREFERENCES", "WINDOW")
    camera.take("preferences", box._replace(top=box.top + 248, bottom=box.top + 414))
    window.run("area('PREFERENCES').type = 'VIEW_3D'")


PICTURES = (
    first_animation,
    edit_paths,
    turn_tip,
    viewport,
    diagrams,
    track_choices,
    preferences,
    graph_editor,
    dope_sheet,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the screenshots for the user pages again.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--draft", action="store_true", help="skip antialiasing, which is faster")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as build:
        archive = build_zip.build(Path(build))
        with graphical.installed(archive, SIZE) as window:
            if options.draft:
                window.run(PLAIN_VIEWS)
            camera = Camera(window, options.folder, options.draft)
            for pictures in PICTURES:
                pictures(window, camera)


if __name__ == "__main__":
    main()
