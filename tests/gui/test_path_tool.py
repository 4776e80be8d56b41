# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths edited by the mouse, with the tool of the 3D viewport.

`TCB_DRAGS=20 pytest tests/gui/test_path_tool.py -k swift` drags more often.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from .conftest import PICTURES, settle, turns
from .cube import CURVES
from .top_view import TOP_VIEW, log

PACKAGE = "bl_ext.user_default.tcb_animation"

DRAGS = int(os.environ.get("TCB_DRAGS", "3"))

# A quarter of the viewport: drawn without a graphics card, a whole one takes its time at every move of the mouse.
SMALL = """
def steps():
    for direction in ('VERTICAL', 'HORIZONTAL'):
        a = area('VIEW_3D')
        with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
            bpy.ops.screen.area_split(direction=direction, factor=.5)
        yield .2
        min((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda a: (a.x, a.y)).type = 'INFO'
        yield .2
    a = area('VIEW_3D')
    a.spaces.active.show_region_ui = a.spaces.active.show_region_toolbar = False
    yield from drawn()
"""

WITH_TOOL = """
def steps():
    cube = bpy.data.objects['Cube']
    bpy.ops.tcb.enable(keep_look=False)
    cube.animation_data.action.tcb_live = True
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.wm.tool_set_by_id(name='tcb.path_tool')
    bpy.ops.ed.undo_push(message='tool')
    for _ in range(5):
        a.tag_redraw()
        yield 0.1
    return True
"""

ON_SCREEN = f"""
import sys
overlay = sys.modules['{PACKAGE}.panels.pictures.overlay']
pick = sys.modules['{PACKAGE}.panels.pictures.pick']
def on_screen(points):
    a = area('VIEW_3D')
    r = region(a, 'WINDOW')
    places = pick.on_screen(points, a.spaces.active.region_3d.perspective_matrix, (r.width, r.height))
    return [(float(x) + r.x, win().height - 1 - r.y - float(y)) for x, y in places]
def kept():
    return next(iter(overlay._state.kept.values())).path
"""

MIDDLE = """
r = region(area('VIEW_3D'), 'WINDOW')
result = r.x + r.width // 2, win().height - r.y - r.height // 2
"""

EVERYTHING = """
import zlib
def everything():
    action = bpy.data.objects[{name!r}].animation_data.action
    bag = action.layers[0].strips[0].channelbags[0] if hasattr(action, 'layers') and action.layers else action
    found = []
    for fcurve in bag.fcurves:
        for point in fcurve.keyframe_points:
            found.append((fcurve.data_path, fcurve.array_index, *point.co, *point.handle_left, *point.handle_right,
                          point.back, point.amplitude, point.period, point.interpolation))
    table = action['tcb_animation']
    named = sorted((name, list(value) if hasattr(value, 'typecode') else value) for name, value in table.items())
    return [zlib.crc32(repr(found).encode()), *((name, zlib.crc32(repr(value).encode())) for name, value in named)]
result = everything()
"""
# Ten bones, each the child of the one before, that only turn; of one in the middle the path of its tail is shown.
RIG = """
from mathutils import Euler
def steps():
    data = bpy.data.armatures.new('Rig')
    rig = bpy.data.objects.new('Rig', data)
    bpy.context.collection.objects.link(rig)
    bpy.ops.object.select_all(action='DESELECT')
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode='EDIT')
    before = None
    for n in range(10):
        bone = data.edit_bones.new(f'Bone {n}')
        bone.head, bone.tail = (0.8 * n, 0, 0), (0.8 * n + 0.8, 0, 0)
        bone.parent, bone.use_connect = before, before is not None
        before = bone
    bpy.ops.object.mode_set(mode='POSE')
    for n, bone in enumerate(rig.pose.bones):
        for frame in (1, 13, 25, 49):
            bone.rotation_quaternion = Euler((0.2, 0.1 * n, 0.03 * frame * (-1) ** n)).to_quaternion()
            bone.keyframe_insert('rotation_quaternion', frame=frame)
    bpy.ops.pose.select_all(action='DESELECT')
    data.bones.active = data.bones['Bone 4']
    (rig.pose if bpy.app.version >= (5, 0, 0) else data).bones['Bone 4'].select = True
    bpy.context.scene.tcb_paths.point = 'TAIL'
    bpy.ops.tcb.enable(keep_look=False)
    rig.animation_data.action.tcb_live = True
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.wm.tool_set_by_id(name='tcb.path_tool')
    bpy.ops.ed.undo_push(message='rig')
    yield from drawn()
"""


@pytest.fixture
def window(window: Any) -> Any:
    window.run(SMALL)
    window.run(TOP_VIEW)
    window.run(WITH_TOOL)
    settle(window)
    window.run("bpy.ops.ed.undo_push(message='live')")
    return window


def keys(window: Any) -> list[tuple[float, float]]:
    """Where the keys are on the screen."""
    found: list[tuple[float, float]] = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().keys)")
    return found


def everything(window: Any, name: str = "Cube") -> Any:
    """Sums of all keys, identities and all, and of the table."""
    return window.run(EVERYTHING.replace("{name!r}", repr(name)))


def cube(window: Any, frame: int = 20) -> tuple[float, float]:
    """Where Blender places the cube at a frame, on the screen."""
    (at,) = window.run(f"""{ON_SCREEN}
scene = bpy.context.scene
before = scene.frame_current
scene.frame_set({frame})
place = tuple(bpy.data.objects['Cube'].matrix_world.translation)
scene.frame_set(before)
result = on_screen([place])
""")
    found: tuple[float, float] = at
    return found


def cube_now(window: Any) -> tuple[float, float]:
    """Where Blender shows the cube at the current frame, on the screen."""
    (at,) = window.run(f"{ON_SCREEN}\nresult = on_screen([bpy.data.objects['Cube'].matrix_world.translation])")
    found: tuple[float, float] = at
    return found


def press(window: Any, at: tuple[float, float]) -> None:
    for beside in (4, 0):
        window.xdotool("mousemove", round(at[0]) - beside, round(at[1]))
        turns(window)
    window.xdotool("mousedown", 1)
    turns(window)


def move(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    for step in range(1, 5):
        x, y = (round(a + (b - a) * step / 4) for a, b in zip(start, end, strict=True))
        window.xdotool("mousemove", x, y)
        turns(window)


def release(window: Any) -> None:
    window.xdotool("mouseup", 1)
    turns(window)
    settle(window)


def dash(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag as fast as a hand can, and go on when the button is let go: Blender hears of all of it at once."""
    way = [start, *(tuple(a + (b - a) * step / 4 for a, b in zip(start, end, strict=True)) for step in range(1, 5))]
    first, *rest = [("mousemove", round(x), round(y)) for x, y in way]
    window.xdotool(*first, "mousedown", 1, *(word for words in rest for word in words), "mouseup", 1)
    window.xdotool("mousemove", round(end[0]) + 60, round(end[1]) + 40)
    turns(window)
    settle(window)


def drag(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    press(window, start)
    move(window, start, end)
    release(window)


def test_a_dragged_location_key_ends_under_the_cursor_and_undo_takes_it_back(window):
    before = everything(window)
    start = keys(window)[1]
    end = (start[0] - 120, start[1] - 60)
    drag(window, start, end)
    at = cube(window)
    window.shot(PICTURES / "path_tool_key.png")
    assert abs(at[0] - round(end[0])) <= 1.0
    assert abs(at[1] - round(end[1])) <= 1.0
    after = everything(window)
    assert after != before
    window.key("ctrl+z", at=(700, 700))
    settle(window)
    assert everything(window) == before
    window.key("ctrl+shift+z", at=(700, 700))
    settle(window)
    assert everything(window) == after
    assert "Traceback" not in log(window)


def test_a_dragged_key_is_the_one_that_the_tab_shows(window):
    window.run("bpy.context.window_manager.tcb_track = 'Object/Cube/rotation_quaternion'")
    window.run("bpy.context.scene.frame_set(7); bpy.ops.ed.undo_push(message='frame')")
    settle(window)
    start = keys(window)[2]
    drag(window, start, (start[0] + 40, start[1] + 30))
    assert window.run("result = bpy.context.scene.frame_current") == 50
    assert window.run("result = bpy.context.window_manager.tcb_track") == "Object/Cube/location"
    window.key("ctrl+z", at=(700, 700))
    settle(window)
    assert window.run("result = bpy.context.scene.frame_current") == 7
    # A click shows it as well.
    press(window, start)
    release(window)
    assert window.run("result = bpy.context.scene.frame_current") == 50


@pytest.mark.parametrize("by", ["Escape", "right click"])
def test_a_cancelled_drag_leaves_everything_bit_for_bit(window, by):
    before = everything(window)
    start = keys(window)[1]
    press(window, start)
    move(window, start, (start[0] - 150, start[1] + 40))
    assert everything(window) != before
    if by == "Escape":
        window.key("Escape")
    else:
        window.xdotool("click", 3)
    window.xdotool("mouseup", 1)
    settle(window)
    assert everything(window) == before
    assert np.abs(np.subtract(cube_now(window), start)).max() <= 1.0
    assert "Traceback" not in log(window)


def test_a_press_on_the_path_selects_nothing_and_one_beside_it_does(window):
    selected = "result = bpy.data.objects['Cube'].select_get(), bpy.context.scene.frame_current"
    knob = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.outgoing)[1]")
    on_path = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[9:10])[0]")
    for at, frame in ((keys(window)[2], 50), (knob, 50), (on_path, 50), (keys(window)[0], 1)):
        for times in (1, 2) if frame == 1 else (1,):
            window.click((round(at[0]), round(at[1])), times=times)
            settle(window)
            assert window.run(selected) == (True, frame)
    start, end = knob, (knob[0] + 30, knob[1] - 30)
    drag(window, start, end)
    # The tab shows the key that is dragged, at its frame.
    assert window.run(selected) == (True, 20)
    assert (
        window.run("result = 'VIEW3D_OT_select' in [each.bl_idname for each in bpy.context.window_manager.operators]")
        is False
    )
    window.click((round(end[0]) + 10, round(end[1]) - 120))
    settle(window)
    assert window.run(selected) == (False, 20)
    assert "Traceback" not in log(window)


def test_a_tangent_a_time_a_new_key_and_a_deleted_one(window):
    frames = "o = bpy.data.objects['Cube']\nfrom bl_ext.user_default.tcb_animation import animation\n"
    frames += "result = animation.track_keys(o, 'location').frames.tolist()"
    knob = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.outgoing)[1]")
    drag(window, knob, (knob[0] + 20, knob[1] - 20))
    window.shot(PICTURES / "path_tool_tangent.png")
    set_ = window.run(
        "from bl_ext.user_default.tcb_animation import animation\n"
        "keys = animation.track_keys(bpy.data.objects['Cube'], 'location')\n"
        "result = [float(each[1]) for each in keys.parameters({}).values()]"
    )
    assert any(abs(number) > 0.05 for number in set_[:3])
    moved = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.outgoing)[1]")
    assert abs(moved[0] - knob[0] - 20) < 4
    assert abs(moved[1] - knob[1] + 20) < 4

    start = keys(window)[1]
    along = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[29:30])[0]")
    window.xdotool("keydown", "ctrl")
    drag(window, start, along)
    window.xdotool("keyup", "ctrl")
    settle(window)
    assert window.run(frames) == [1.0, 30.0, 50.0]

    start, ends = keys(window)[1], window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[33:35])")
    window.xdotool("keydown", "ctrl", "keydown", "shift")
    drag(window, start, tuple(np.mean(ends, axis=0)))
    window.xdotool("keyup", "shift", "keyup", "ctrl")
    settle(window)
    (_, at, _) = window.run(frames)
    assert 34.2 < at < 34.8

    between = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[9:10])[0]")
    window.click((round(between[0]), round(between[1])), times=2)
    settle(window)
    assert window.run(frames) == [1.0, 10.0, at, 50.0]
    window.key("x", at=(round(between[0]), round(between[1])))
    settle(window)
    assert window.run(frames) == [1.0, at, 50.0]
    assert "Traceback" not in log(window)


# The scene's camera goes aside, turns and comes nearer; the viewport looks through it, and the playhead stands
# elsewhere than the key that is dragged.
MOVING_CAMERA = """
def steps():
    scene = bpy.context.scene
    scene.frame_end = 60
    camera = scene.camera
    for frame, location, rotation in ((1, (0, -14, 3), (1.4, 0, 0)), (30, (3, -12, 2), (1.45, .1, .1)),
                                      (60, (-2, -16, 4), (1.3, -.1, -.05))):
        camera.location, camera.rotation_euler = location, rotation
        camera.keyframe_insert('location', frame=frame)
        camera.keyframe_insert('rotation_euler', frame=frame)
    scene.tcb_paths.space = 'CAMERA'
    scene.frame_set(54)
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.view3d.view_camera()
    yield from drawn()
    view = a.spaces.active.region_3d
    view.view_camera_offset, view.view_camera_zoom = (0.1, 0.05), 15
    bpy.ops.ed.undo_push(message='camera')
    yield from drawn()
"""
SEEN_THROUGH = f"""{ON_SCREEN}
scene = bpy.context.scene
overlay_view = overlay.view_now(scene)
path = kept()
def through(points):
    return on_screen(points @ overlay_view[:3, :3].T + overlay_view[:3, 3])
"""


def seen_at(window: Any, frame: int) -> tuple[float, float]:
    """Where the viewport, which looks through the camera, has the cube when Blender is at that frame."""
    (at,) = window.run(f"""{ON_SCREEN}
def steps():
    scene = bpy.context.scene
    before = scene.frame_current
    scene.frame_set({frame})
    yield from drawn()
    found = on_screen([bpy.data.objects['Cube'].matrix_world.translation])
    scene.frame_set(before)
    yield from drawn()
    return found
""")
    found: tuple[float, float] = at
    return found


def test_under_a_moving_camera_a_dragged_key_ends_under_the_cursor_at_its_frame(window):
    window.run(MOVING_CAMERA)
    settle(window)
    shown = f"{SEEN_THROUGH}\nresult = through(path.keys)"
    # The path lies over the picture where the camera saw the cube, and not where the cube is in the world.
    start = window.run(shown)[1]
    assert np.abs(np.subtract(start, seen_at(window, 20))).max() <= 0.5
    assert np.abs(np.subtract(start, cube(window))).max() > 20.0
    before = everything(window)
    end = (start[0] - 30, start[1] - 60)
    drag(window, start, end)
    window.shot(PICTURES / "path_tool_camera.png")
    # The tab shows the key that is dragged, at its frame.
    assert window.run("result = bpy.context.scene.frame_current") == 20
    assert everything(window) != before
    assert np.abs(np.subtract(seen_at(window, 20), np.round(end))).max() <= 1.0
    assert np.abs(np.subtract(window.run(shown)[1], np.round(end))).max() <= 1.0

    knob = window.run(f"{SEEN_THROUGH}\nresult = through(path.keys + path.outgoing)")[1]
    drag(window, knob, (knob[0] + 15, knob[1] - 15))
    moved = window.run(f"{SEEN_THROUGH}\nresult = through(path.keys + path.outgoing)")[1]
    assert np.abs(np.subtract(moved, knob) - (15, -15)).max() < 4

    on_path = window.run(f"{SEEN_THROUGH}\nresult = through(path.points[9:10])")[0]
    window.click((round(on_path[0]), round(on_path[1])), times=2)
    settle(window)
    frames = "o = bpy.data.objects['Cube']\nfrom bl_ext.user_default.tcb_animation import animation\n"
    assert window.run(f"{frames}result = animation.track_keys(o, 'location').frames.tolist()") == [
        1.0,
        10.0,
        20.0,
        50.0,
    ]
    for _ in range(3):
        window.key("ctrl+z", at=(700, 700))
        settle(window)
    assert everything(window) == before
    assert "Traceback" not in log(window)


def tail(window: Any, frame: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where Blender places head and tail of the rig's bone at a frame, on the screen."""
    head, end = window.run(f"""{ON_SCREEN}
scene, rig = bpy.context.scene, bpy.data.objects['Rig']
before = scene.frame_current
scene.frame_set({frame})
bone = rig.pose.bones['Bone 4']
places = [tuple(rig.matrix_world @ at) for at in (bone.head, bone.tail)]
scene.frame_set(before)
result = on_screen(places)
""")
    return head, end


def test_the_tip_of_a_bone_that_only_turns_ends_under_the_cursor_or_as_near_as_it_reaches(window):
    window.run(RIG)
    settle(window)
    before = everything(window, "Rig")
    head, start = tail(window, 13)
    assert np.abs(np.subtract(keys(window)[1], start)).max() <= 1.0
    assert len(keys(window)) == 4
    across = np.subtract(start, head)[::-1] * (0.8, -0.8)
    # Within its reach, and three times as far.
    for end, expected in ((head + across, head + across), (head - 3.0 * across, None)):
        _, start = tail(window, 13)
        drag(window, start, tuple(end))
        _, at = tail(window, 13)
        if expected is None:
            length = window.run(f"""{ON_SCREEN}
ends = on_screen([(0, 0, 0), (0.8, 0, 0)])
result = ends[1][0] - ends[0][0]
""")
            expected = head - length * across / np.linalg.norm(across)
        assert np.abs(np.subtract(at, expected)).max() <= 2.0
        assert np.abs(np.subtract(tail(window, 13)[0], head)).max() <= 0.01
        window.shot(PICTURES / "path_tool_tip.png")
    window.xdotool("mousemove", 700, 700)
    press(window, at)
    move(window, at, (at[0] + 40, at[1] + 40))
    window.key("Escape")
    window.xdotool("mouseup", 1)
    for _ in range(2):
        window.key("ctrl+z", at=(700, 700))
    settle(window)
    assert everything(window, "Rig") == before
    assert "Traceback" not in log(window)


def test_numbers_move_the_key_and_a_swift_hand_loses_nothing(window):
    places = "cube = bpy.data.objects['Cube'].animation_data.action\n"
    places += f"{CURVES}result = [tuple(c.keyframe_points[1].co) for c in fcurves() if c.data_path == 'location']"
    (frame, x), (_, y), (_, z) = window.run(places)
    states = [everything(window)]
    start = keys(window)[1]
    press(window, start)
    move(window, start, (start[0] - 50, start[1] + 50))
    for key in ("y", "minus", "1", "period", "5", "Return"):
        window.key(key)
    window.xdotool("mouseup", 1)
    settle(window)
    assert window.run(places) == [(frame, x), (frame, pytest.approx(y - 1.5, abs=1e-6)), (frame, z)]
    states.append(everything(window))

    # Every drag ends under the cursor, is one step of undo, and is done again the same, to the last bit.
    random = np.random.default_rng(7)
    middle = window.run(MIDDLE)
    for _ in range(DRAGS):
        start = keys(window)[1]
        end = (middle[0] + int(random.integers(-180, 180)), middle[1] + int(random.integers(-90, 90)))
        dash(window, start, end)
        assert np.abs(np.subtract(cube(window), end)).max() <= 1.0
        states.append(everything(window))
    for state in states[-2::-1]:
        window.key("ctrl+z", at=(700, 700))
        settle(window)
        assert everything(window) == state
    for state in states[1:]:
        window.key("ctrl+shift+z", at=(700, 700))
        settle(window)
        assert everything(window) == state
    assert "Traceback" not in log(window)
