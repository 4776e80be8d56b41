# SPDX-License-Identifier: GPL-3.0-or-later
"""The diagram and the paths, as displayed on the screen."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import settle, turns
from .editors import TOP_VIEW, unfold
from .graphical import place
from .screen import SAME, screen

PACKAGE = "bl_ext.user_default.tcb_animation"
PATH_COLOUR = (108, 172, 236)
"""Color of a path's line on the gray background of the viewport."""


def diagram(window: Any, tmp_path: Path) -> tuple[Any, Any]:
    """Return the diagram of the sidebar's key, as computed by the program, and the position of the orange key in it."""
    file = tmp_path / "diagram.npy"
    window.run(f"""
import sys, numpy
module = sys.modules['{PACKAGE}.panels.pictures.diagram_icons']
sidebar = bpy.context.scene.tcb
parameters = {{name: getattr(sidebar, name) for name in module.PARAMETERS}}
size = module.size_in_pixels()
pixels = module.render([parameters], size, *module._theme_colors()).packed().view(numpy.uint8)
numpy.save({str(file)!r}, pixels.reshape(size, size, 4)[::-1])
""")
    pixels = np.load(file).astype(int)
    return pixels, orange(pixels[..., :3])


def orange(pixels: Any) -> tuple[int, int, int]:
    """Return the row, column and height of the pixels with the color of a selected key."""
    rows, columns = np.nonzero(np.abs(pixels - (255, 191, 51)).max(axis=2) <= 2)
    return int(rows.min()), int(columns.min()), int(np.ptp(rows))


def differs(window: Any, pixels: Any, key: tuple[int, int, int]) -> int:
    """Return the largest pixel difference between the diagram in the sidebar and the program's diagram."""
    left, bottom, width, height = window.run("r = region(area('VIEW_3D'), 'UI'); result = r.x, r.y, r.width, r.height")
    shown = screen(window)[-bottom - height : -bottom, left : left + width]
    row, column, high = orange(shown)
    if high != key[2]:
        return 255
    top, left = row - key[0], column - key[1]
    size = len(pixels)
    edge = 10  # The round corners show the background.
    part = shown[top : top + size, left : left + size]
    return int(np.abs(part - pixels[..., :3])[edge:-edge, edge:-edge].max())


def test_the_diagram_is_drawn_pixel_for_pixel_and_follows_the_sliders(window, tmp_path):
    window.run("bpy.context.scene.frame_set(20); area('VIEW_3D').tag_redraw()")
    turns(window)
    unfold(window, "VIEW_3D", "diagram")
    before, key = diagram(window, tmp_path)
    assert differs(window, before, key) <= SAME
    buttons = window.buttons("VIEW_3D", height=340)
    for name, value in (("tcb.tension", "0.6"), ("tcb.bias", "0.5"), ("tcb.ease_to", "0.7")):
        window.type_value(place(buttons, name), value)
    after, key = diagram(window, tmp_path)
    assert (after != before).any()
    assert differs(window, after, key) <= SAME

    window.run("bpy.context.preferences.view.ui_scale = 1.5")
    turns(window)
    x, y = window.run("r = region(area('VIEW_3D'), 'UI'); result = (r.x + r.width // 2, win().height - r.y - 100)")
    larger, key = diagram(window, tmp_path)
    assert len(larger) > 1.4 * len(after)
    window.xdotool("mousemove", x, y)
    for _ in range(20):
        window.xdotool("click", "5")
    turns(window)
    off = math.inf
    for _ in range(12):
        # Scroll past the panels below the diagram.
        window.xdotool("click", "4")
        turns(window)
        try:
            off = differs(window, larger, key)
        except ValueError:
            continue
        if off <= SAME:
            break
    assert off <= SAME


def path_on(window: Any, view: int = 0) -> Any:
    """Return a mask of the screen's pixels in a 3D viewport that have the color of a path."""
    left, top, right, bottom = window.run(f"""
a = [a for a in win().screen.areas if a.type == 'VIEW_3D'][{view}]
r, high = region(a, 'WINDOW'), win().height
sidebar = region(a, 'UI').width if a.spaces.active.show_region_ui else 0
result = r.x, high - r.y - r.height, r.x + r.width - sidebar, high - r.y
""")
    found = np.abs(screen(window) - PATH_COLOUR).max(axis=2) <= 20
    is_in_view = np.zeros_like(found)
    is_in_view[top:bottom, left:right] = True
    return found & is_in_view


@pytest.fixture
def path(window):
    """path(): a mask of the pixels that show the path after the window comes to rest."""

    def seen(view: int = 0) -> Any:
        settle(window)
        last, same = path_on(window, view), 0
        for _picture in range(100):
            turns(window)
            now = path_on(window, view)
            same = same + 1 if (now == last).all() else 0
            if same == 3:
                break
            last = now
        return last

    return seen


UP_TO_DATE = f"""
from {PACKAGE}.animation import find_track
from {PACKAGE}.animation.checks.track_state import state
result = state(find_track(bpy.data.objects['Cube'], 'location')) == 'BAKED'
"""


# After changes of view and frame, check that the same computed path is still drawn.
REDRAWN = f"""
import sys
overlay = sys.modules['{PACKAGE}.panels.pictures.paths_in_viewport']

def steps():
    scene, view = bpy.context.scene, area('VIEW_3D').spaces.active.region_3d
    (kept,) = overlay.path_cache.state.paths.values()
    path, rotation, frame = kept.path, view.view_rotation.copy(), scene.frame_current
    for turn in range(3):
        view.view_rotation.rotate(view.view_rotation)
        scene.frame_set(frame + turn)
        area('VIEW_3D').tag_redraw()
        yield from drawn()
    view.view_rotation, scene.frame_current = rotation, frame
    return path is kept.path and not kept.is_stale
"""

# A local view of the camera, without the selected cube.
LOCAL_VIEW = """
def steps():
    cube, camera = bpy.data.objects['Another name'], bpy.data.objects['Camera']
    cube.select_set(False)
    camera.select_set(True)
    with bpy.context.temp_override(window=win(), area=area('VIEW_3D'), region=region(area('VIEW_3D'), 'WINDOW')):
        bpy.ops.view3d.localview(frame_selected=False)
    cube.select_set(True)
    camera.select_set(False)
    yield from drawn()
"""
GLOBAL_VIEW = """
with bpy.context.temp_override(window=win(), area=area('VIEW_3D'), region=region(area('VIEW_3D'), 'WINDOW')):
    bpy.ops.view3d.localview(frame_selected=False)
bpy.data.objects['Another name'].select_set(True)
"""


SPLIT = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.screen.area_split(direction='VERTICAL', factor=.75)
    yield from drawn()
    max((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda each: each.x).type = 'INFO'
    yield from drawn()
"""


NO_SIDEBAR = """
view = max((a for a in win().screen.areas if a.type == 'VIEW_3D'), key=lambda a: a.x).spaces.active
view.show_region_ui = view.show_region_toolbar = False
"""


def test_the_path_bends_and_comes_back_and_goes_with_its_object(window, path):
    window.run("bpy.ops.tcb.enable(); bpy.ops.tcb.bake()")
    window.run(SPLIT)
    window.run(TOP_VIEW)
    # Left of the sidebar.
    window.run("area('VIEW_3D').spaces.active.region_3d.view_location = (4, 1, 0)")
    at = window.run("r = region(area('VIEW_3D'), 'WINDOW'); result = (r.x + 200, win().height - r.y - 150)")
    assert not path().any()
    buttons = window.buttons("VIEW_3D", height=340)
    window.run(
        "bpy.context.window_manager.tcb_show_paths = True; bpy.context.scene.tcb_paths.playhead = False;"
        "bpy.ops.ed.undo_push(message='paths')"
    )
    before = path()
    assert before.sum() > 300
    assert window.run(REDRAWN)
    for name, value in (("tcb.bias", "0.9"), ("tcb.tension", "-0.8")):
        window.type_value(place(buttons, name), value)
    settle(window)
    # Each edit to a baked track bakes it again.
    assert window.run(UP_TO_DATE)
    bent = path()
    assert (bent != before).sum() > 300
    # The bias makes the motion overshoot the key, which is the rightmost.
    assert np.nonzero(bent)[1].max() > np.nonzero(before)[1].max() + 10
    for _ in range(2):
        window.key("ctrl+z", at=at)
    assert (path() == before).all()

    window.run("bpy.data.objects['Cube'].name = 'Another name'")
    assert (path() == before).all()
    window.run(LOCAL_VIEW)
    assert not path().any()
    window.run(GLOBAL_VIEW)
    assert (path() == before).all()
    window.key("h", at=at)
    assert not path().any()
    window.key("alt+h")
    assert (path() == before).all()
    window.run("area('INFO').type = 'VIEW_3D'")
    window.run(NO_SIDEBAR)
    assert path(view=1).any()
    window.key("Delete", at=at)
    assert not path().any()
    assert not path(view=1).any()
    window.key("ctrl+z")
    assert (path() == before).all()


RIG = """
armature = bpy.data.armatures.new('Rig')
rig = bpy.data.objects.new('Rig', armature)
bpy.context.scene.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode='EDIT')
parent = None
for head, tail in (((0, 0, 0), (1, 0, 1)), ((1, 0, 1), (2, 1, 1)), ((2, 1, 1), (4, 1, 1))):
    bone = armature.edit_bones.new('bone')
    bone.head, bone.tail, bone.parent = head, tail, parent
    parent = bone
bpy.ops.object.mode_set(mode='POSE')
for bone in rig.pose.bones:
    bone.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0), (20, .8), (50, -.5)):
        bone.rotation_euler = (angle, angle / 2, angle)
        bone.keyframe_insert('rotation_euler', frame=frame)
last = rig.pose.bones[-1]
(last if bpy.app.version >= (5, 0, 0) else last.bone).select = True
armature.bones.active = last.bone
bpy.ops.tcb.enable()
bpy.ops.tcb.bake()
settings = bpy.context.scene.tcb_paths
bpy.context.window_manager.tcb_show_paths = True
settings.point, settings.playhead = 'TAIL', False
"""


def test_a_bones_tail_and_an_axis_draw_their_paths_also_where_blender_has_to_step(window, path):
    window.run(TOP_VIEW)
    window.run(RIG)
    tail = path()
    assert tail.sum() > 300
    window.run("s = bpy.context.scene.tcb_paths; s.point, s.axis, s.length = 'AXIS', 'Z', 1.5")
    axis = path()
    assert axis.sum() > 100
    assert (axis != tail).sum() > 300
    window.run("bpy.context.scene.tcb_paths.point = 'TAIL'")
    window.run("bpy.data.objects['Rig'].pose.bones[0].constraints.new('LIMIT_LOCATION')")
    # The pictures are equal except for rounding, which may change the shade of a pixel.
    assert (path() != tail).sum() < 10
    status = f"""
import sys
overlay = sys.modules['{PACKAGE}.panels.pictures.paths_in_viewport']
with bpy.context.temp_override(window=win(), area=area('VIEW_3D'), region=region(area('VIEW_3D'), 'UI')):
    status, scenes = overlay.status(bpy.context), [scene.name for scene in bpy.data.scenes]
    result = status, scenes, overlay.path_cache.state.requested
"""
    assert window.run(status) == ("bone has constraints: stepped through frames", ["Scene"], {})
    window.run("bpy.context.scene.tcb_paths.by_speed = True")
    assert path().sum() < tail.sum() / 3
