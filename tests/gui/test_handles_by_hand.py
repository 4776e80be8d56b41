# SPDX-License-Identifier: GPL-3.0-or-later
"""Live with handles, by hand, where a rotation, a cycle, an ease, a strip or a library makes it harder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tools.graphical import place

from .conftest import NEW_FILE, PICTURES, settle, turns
from .cube import CURVES
from .dope_sheet import diamond, drag, everything, open_dope_sheet, own_frames
from .editors import open_editor, open_tcb_menu, start_dragging_bias
from .handles import AT_REST, is_as_played, value_at

ROTATION = "rotation_quaternion"
KEY = 20
"""The frame of the cube's middle key."""


@pytest.fixture
def playing(window: Any) -> Any:
    """The window with linear keys, which get no parameters, played by handles."""
    window.run(f"{CURVES}{AT_REST}bpy.ops.tcb.enable(live=True)\nbpy.ops.ed.undo_push(message='handles')")
    settle(window)
    return window


def only(window: Any, path: str, index: int) -> Any:
    """Show that channel alone in the Graph Editor; the middle of that."""
    centre = open_editor(window, "GRAPH_EDITOR")
    window.run(f"""{CURVES}
for c in fcurves():
    c.hide, c.lock = (c.data_path, c.array_index) != ({path!r}, {index}), False
def steps():
    a = max((a for a in win().screen.areas if a.type == 'GRAPH_EDITOR'), key=lambda a: a.height)
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.graph.view_all()
    bpy.ops.ed.undo_push(message='one channel')
    yield from drawn()
""")
    return centre


def on_screen(window: Any, path: str, index: int, row: int, part: str) -> Any:
    """Where a key ("co") or its handle is, in the Graph Editor."""
    return window.run(f"""{CURVES}
r = region(max((a for a in win().screen.areas if a.type == 'GRAPH_EDITOR'), key=lambda a: a.height), 'WINDOW')
curve = next(c for c in fcurves() if (c.data_path, c.array_index) == ({path!r}, {index}))
x, y = r.view2d.view_to_region(*curve.keyframe_points[{row}].{part}, clip=False)
result = (r.x + x, win().height - r.y - y)
""")


def press_and_move(window: Any, at: Any, dx: int, dy: int) -> None:
    """Take hold of what is there with the mouse, and move it by so many pixels without letting go."""
    x, y = at
    for each in (x - 5, x):
        window.xdotool("mousemove", each, y)
        turns(window)
    window.xdotool("mousedown", 1)
    for step in range(1, 11):
        # A press has no place of its own: it is where Blender last heard the mouse to be.
        turns(window)
        window.xdotool("mousemove", x + dx * step // 10, y + dy * step // 10)
    turns(window)
    assert window.run(MOVING.format(wanted=True))


MOVING = """
def steps():
    for _turn_of_blenders_loop in range(100):
        if any(each.bl_idname.startswith('TRANSFORM') for each in win().modal_operators) == {wanted}:
            return True
        yield 0.05
"""


def let_go(window: Any) -> None:
    window.xdotool("mouseup", 1)
    assert window.run(MOVING.format(wanted=False))
    settle(window)


def orientations(window: Any, frames: Any) -> Rotation:
    """What the curves play, whether an operator runs or not."""
    found = window.run(f"""{CURVES}
curves = [c for c in fcurves() if c.data_path == {ROTATION!r}]
result = [[c.evaluate(frame) for c in curves] for frame in {[float(frame) for frame in frames]}]
""")
    return Rotation.from_quat(np.array(found), scalar_first=True)


def velocities(window: Any, frame: float) -> tuple[Any, Any]:
    """Angular velocities a frame before and after the frame."""
    step = 0.05
    before, at, after = orientations(window, (frame - step, frame, frame + step))
    return (at * before.inv()).as_rotvec() / step, (after * at.inv()).as_rotvec() / step


def parameters(window: Any, path: str, frame: float) -> dict[str, float]:
    """What the key has of its own."""
    code = CURVES.replace("'location'", repr(path))
    return dict(
        window.run(f"""{code}
names = ('tension', 'continuity', 'bias', 'ease_to', 'ease_from')
result = {{name: numbers(name)[{frame}] for name in names if {frame} in numbers(name)}}
""")
    )


def test_a_handle_of_a_rotation_that_is_dragged_becomes_parameters(playing):
    only(playing, ROTATION, 1)
    at = on_screen(playing, ROTATION, 1, 1, "handle_right")
    before, played = velocities(playing, KEY), everything(playing)
    press_and_move(playing, at, 0, -60)
    playing.shot(PICTURES / "rotation_handle_held.png")
    held = velocities(playing, KEY)
    let_go(playing)
    playing.shot(PICTURES / "rotation_handle_let_go.png")
    now, bent = velocities(playing, KEY), everything(playing)
    asked = np.linalg.norm(held[1] - before[1])
    assert asked > 5e-3
    # Two numbers for three components: it comes nearer to the hand's, and the side that was not touched about stays.
    assert np.linalg.norm(now[1] - held[1]) < 0.9 * asked
    assert np.linalg.norm(now[0] - before[0]) < asked
    assert set(parameters(playing, ROTATION, KEY)) == {"tension", "continuity", "bias"}
    assert parameters(playing, "location", KEY) == {}
    assert is_as_played(playing)
    centre = (at[0], at[1] + 150)
    playing.key("ctrl+z", at=centre)
    assert everything(playing) == played
    playing.key("ctrl+shift+z", at=centre)
    assert everything(playing) == bent


def handle_types(window: Any, row: int) -> list[tuple[str, str]]:
    """Of each component of the location."""
    return list(
        window.run(f"""{CURVES}
result = [(k.handle_left_type, k.handle_right_type) for k in [c.keyframe_points[{row}] for c in fcurves()][:3]]
""")
    )


def test_a_handle_type_that_is_chosen_by_v_stays_the_animators(playing):
    centre = only(playing, "location", 0)
    before = everything(playing)
    playing.click(on_screen(playing, "location", 0, 1, "co"))
    selected = everything(playing)
    playing.key("v", at=centre)
    playing.shot(PICTURES / "handle_types.png")
    playing.key("v")
    settle(playing)
    kinds = [("VECTOR", "VECTOR"), ("FREE", "FREE"), ("FREE", "FREE")]
    assert handle_types(playing, 1) == kinds
    # Before, it lay flat.
    assert slopes(playing)[0] > 0.05 > -0.05 > slopes(playing)[1]
    assert is_as_blender_places(playing)
    chosen = everything(playing)
    steep = slopes(playing)
    press_and_move(playing, on_screen(playing, "location", 0, 2, "co"), 0, -80)
    let_go(playing)
    assert handle_types(playing, 1) == kinds
    assert slopes(playing)[1] > steep[1] + 0.01
    assert is_as_blender_places(playing)
    assert is_as_played(playing)
    for state in (chosen, selected):
        undo_to(playing, centre, everything, state)
    playing.key("ctrl+shift+z", at=centre)
    assert everything(playing) == chosen
    playing.key("v", at=centre)
    playing.key("f")
    settle(playing)
    assert handle_types(playing, 1) == [("FREE", "FREE")] * 3
    assert places(everything(playing)) == pytest.approx(places(before), abs=1e-5)


def slopes(window: Any) -> list[float]:
    """Of both handles of the middle key of x."""
    return list(
        window.run(f"""{CURVES}
k = fcurves()[0].keyframe_points[1]
result = [(h.y - k.co.y) / (h.x - k.co.x) for h in (k.handle_left, k.handle_right)]
""")
    )


def is_as_blender_places(window: Any) -> bool:
    """Whether Blender would put all handles where they are."""
    return bool(
        window.run(f"""{CURVES}
before = everything()
for c in fcurves():
    c.update()
result = everything() == before
""")
    )


def places(curves: Any) -> list[float]:
    """Where the keys and their handles are."""
    return [
        number for curve in curves for key in curve[3] for each in key if isinstance(each, tuple) for number in each
    ]


def undo_to(window: Any, at: Any, read: Callable[[Any], Any], state: Any) -> None:
    """Ctrl+Z until that is read; clicks that select are steps, too."""
    for _step in range(6):
        if read(window) == state:
            return
        window.key("ctrl+z", at=at)
    assert read(window) == state


def comes(window: Any, read: Callable[[Any], Any], state: Any) -> bool:
    """Whether that is read soon: a busy machine takes its time for an undo."""
    return any(read(window) == state for _try in range(10))


def with_modifiers(window: Any) -> Any:
    return everything(window), window.run(MODIFIERS)


UNLOCK = f"""{CURVES}
for c in fcurves():
    c.lock = False
bpy.ops.ed.undo_push(message='unlocked')
"""
MODIFIERS = f"""{CURVES}
result = [[(m.type, m.active) for m in c.modifiers] for c in fcurves()]
"""


def eased(share: float) -> float:
    """Of a segment with full eases at both ends: it speeds up for one half, and slows down for the other."""
    return 2 * share**2 if share < 0.5 else 1 - 2 * (1 - share) ** 2


def first_segment(frame: float) -> float:
    """x between the keys 0 at 1 and 4 at 20, before 0 at 50, with parameters of 0: it leaves at 6 and arrives at 0."""
    u = eased((frame - 1) / 19)
    return 6 * (u**3 - 2 * u**2 + u) + 4 * (3 * u**2 - 2 * u**3)


def test_a_cycle_with_full_eases_is_played_by_handles_and_a_cycles_modifier(playing):
    centre = open_editor(playing, "GRAPH_EDITOR")
    playing.run(UNLOCK)
    playing.key("a", at=centre)
    buttons = playing.buttons("GRAPH_EDITOR", height=900)
    before = with_modifiers(playing)
    playing.run("""
bpy.ops.tcb.track_choose(track='location', cycle='REPEAT')
bpy.ops.ed.undo_push(message='repeat')
""")
    settle(playing)
    assert playing.run(MODIFIERS) == [[("CYCLES", True)]] * 3 + [[]] * 4
    for name in ("ease_to", "ease_from"):
        playing.type_value(place(buttons, f"tcb.{name}"), "1")
        settle(playing)
    playing.shot(PICTURES / "cycle_and_eases.png")
    assert parameters(playing, "location", KEY) == {"ease_to": 1, "ease_from": 1}
    frames = (1, 3, 6, 10.5, 15, 18, 20)
    # Handles come as near as a sixth of the segment's range where eases are full.
    assert [value_at(playing, frame) for frame in frames] == pytest.approx(
        [first_segment(frame) for frame in frames], abs=4 / 6
    )
    assert_repeats(playing, 49)
    by_handles = everything(playing)

    # The last keys dragged: the cycle is as long as the keys then.
    last_key = on_screen(playing, "location", 0, 2, "co")
    playing.xdotool("keydown", "alt")
    playing.click(last_key)
    playing.xdotool("keyup", "alt")
    press_and_move(playing, last_key, -150, 0)
    let_go(playing)
    playing.shot(PICTURES / "cycle_dragged.png")
    last = own_frames(playing)[-1]
    assert 30 < last < 48
    assert own_frames(playing, ROTATION) == [1, 20, 50]
    assert_repeats(playing, last - 1)
    assert is_as_played(playing)
    undo_to(playing, centre, everything, by_handles)

    playing.click(place(buttons, "tcb.bake("))
    settle(playing)
    whole = [frame for frame in frames if frame == int(frame)]
    assert [value_at(playing, frame) for frame in whole] == pytest.approx(
        [first_segment(frame) for frame in whole], abs=1e-5
    )
    playing.key("ctrl+z", at=centre)
    assert everything(playing) == by_handles
    undo_to(playing, centre, with_modifiers, before)


def assert_repeats(window: Any, period: float) -> None:
    for frame in (2.0, 9.0, 26.5):
        played = [value_at(window, frame + turn * period) for turn in (0, 1, 2)]
        assert played[1:] == pytest.approx(played[:1] * 2, abs=1e-3)


def test_a_pose_that_is_keyed_with_the_opposite_quaternion_does_not_spin(playing):
    frames = np.arange(1, 50.25, 0.5)
    played, before = orientations(playing, [33]), velocities(playing, 33)
    playing.run("""
bpy.context.scene.frame_set(33)
cube = bpy.data.objects['Cube']
cube.rotation_quaternion.negate()
bpy.ops.ed.undo_push(message='opposite')
""")
    keyed = playing.run("result = tuple(bpy.data.objects['Cube'].rotation_quaternion)")
    centre = playing.run("a = area('VIEW_3D'); r = region(a, 'WINDOW'); result = (r.x + 300, win().height - r.y - 300)")
    playing.key("i", at=centre)
    settle(playing)
    playing.shot(PICTURES / "opposite.png")
    assert own_frames(playing, ROTATION) == [1, 20, 33, 50]
    assert (orientations(playing, [33]) * played.inv()).magnitude() < 1e-3
    # The pose keeps the angular velocity that the motion had there.
    assert np.array(velocities(playing, 33)) == pytest.approx(np.array(before), abs=3e-4)
    assert is_as_played(playing)
    # So it is after a move, where a spin of a whole turn would be.
    open_dope_sheet(playing)
    playing.click(diamond(playing, 33))
    drag(playing, "4")
    settle(playing)
    assert own_frames(playing, ROTATION) == [1, 20, 37, 50]
    moved = orientations(playing, frames)
    assert np.degrees((moved[1:] * moved[:-1].inv()).magnitude()).max() < 10
    playing.run("bpy.ops.tcb.restore()")
    assert playing.run(f"""{CURVES}
result = tuple(c.keyframe_points[2].co.y for c in fcurves() if c.data_path == {ROTATION!r})
""") == pytest.approx(keyed, abs=1e-6)


TWEAK = """
def steps():
    data = bpy.data.objects['Cube'].animation_data
    area('VIEW_3D').ui_type = 'NLA_EDITOR'
    strip = data.nla_tracks.new().strips.new('Strip', 31, data.action)
    data.action = None
    strip.select = True
    yield from drawn()
    editor = area('NLA_EDITOR')
    r = region(editor, 'WINDOW')
    with bpy.context.temp_override(window=win(), area=editor, region=r):
        bpy.ops.nla.view_all()
    bpy.ops.ed.undo_push(message='strip')
    yield from drawn()
    return (r.x + r.width // 2, win().height - (r.y + r.height // 2))
"""
TWEAKED = "result = bpy.data.objects['Cube'].animation_data.use_tweak_mode"


def test_keys_of_a_strip_in_tweak_mode_are_followed_and_then_left_alone(playing):
    scene_values = "result = [(bpy.context.scene.frame_set({}), round(bpy.data.objects['Cube'].location.x, 4))[1]]"
    at = playing.run(TWEAK)
    (before,) = playing.run(scene_values.format(41))
    playing.key("Tab", at=at)
    assert playing.run(TWEAKED) is True
    playing.run("area('NLA_EDITOR').ui_type = 'VIEW_3D'")
    open_dope_sheet(playing)
    settle(playing)
    # In the time of the scene, the strip begins with frame 1 at 31.
    playing.click(diamond(playing, 50))
    drag(playing, "5")
    settle(playing)
    playing.shot(PICTURES / "tweak.png")
    assert own_frames(playing) == own_frames(playing, ROTATION) == [1, 25, 50]
    moved = everything(playing)
    assert is_as_played(playing)
    # The editor moves handles by a last place in its own time; that is no edit.
    writes = playing.run("""
from bl_ext.user_default.tcb_animation.animation.live import update
rebake, written = update.rebake, []
update.rebake = lambda *given, **named: written.append(1) or rebake(*given, **named)
def steps():
    for turn in range(10):
        for a in win().screen.areas:
            a.tag_redraw()
        bpy.context.scene.frame_set(40 + turn)
        yield 0.1
    update.rebake = rebake
    return len(written)
""")
    assert writes == 0
    playing.key("ctrl+z", at=diamond(playing, 70))
    assert own_frames(playing) == [1, 20, 50]
    playing.key("ctrl+shift+z", at=diamond(playing, 70))
    assert places(everything(playing)) == pytest.approx(places(moved), abs=1e-5)
    own = value_at(playing, 11)
    playing.run("""
def steps():
    next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').ui_type = 'NLA_EDITOR'
    yield from drawn()
""")
    playing.key("Tab", at=at)
    assert playing.run(TWEAKED) is False
    settle(playing)
    (after,) = playing.run(scene_values.format(41))
    assert after != pytest.approx(before, abs=1e-2)
    assert after == pytest.approx(own, abs=1e-3)


RIG_TO_LINK = """
data = bpy.data.armatures.new('Bones')
rig = bpy.data.objects.new('Rig', data)
bpy.context.scene.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode='EDIT')
for n in range(3):
    bone = data.edit_bones.new(f'Bone {{n}}')
    bone.head, bone.tail = (n, 0, 0), (n, 0, 1)
bpy.ops.object.mode_set(mode='OBJECT')
bpy.ops.wm.save_as_mainfile(filepath={path!r})
"""
OVERRIDDEN = """
from mathutils import Euler
bpy.data.objects.remove(bpy.data.objects['Cube'])
with bpy.data.libraries.load({path!r}, link=True) as (_, wanted):
    wanted.objects = ['Rig']
linked = wanted.objects[0]
bpy.context.scene.collection.objects.link(linked)
hero = linked.override_create(remap_local_usages=True)
hero.name = 'Hero'
for each in bpy.context.selected_objects:
    each.select_set(False)
bpy.context.view_layer.objects.active = hero
hero.select_set(True)
bpy.ops.object.mode_set(mode='POSE')
bpy.ops.pose.select_all(action='SELECT')
for n, bone in enumerate(hero.pose.bones):
    for frame in (1, 20, 50):
        bone.location = (frame * 0.01 * n, 0, frame % 7)
        bone.rotation_quaternion = Euler((frame * 0.02, n * 0.1, 0)).to_quaternion()
        bone.keyframe_insert('location', frame=frame)
        bone.keyframe_insert('rotation_quaternion', frame=frame)
bpy.context.scene.frame_end = 60
bpy.ops.ed.undo_push(message='override')
result = hero.animation_data.action.library is None
"""


def test_an_override_of_a_linked_rig_is_live(window, tmp_path):
    library, shot = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    window.run(RIG_TO_LINK.format(path=library))
    window.run(NEW_FILE)
    assert window.run(OVERRIDDEN.format(path=library)) is True
    window.open_sidebar("VIEW_3D", "TCB")
    window.click(place(window.buttons("VIEW_3D", height=480), "tcb.enable("))
    settle(window)
    window.shot(PICTURES / "override.png")
    assert window.run("result = bpy.data.objects['Hero'].animation_data.action.tcb_live") is True
    open_dope_sheet(window)
    window.click(diamond(window, 20))
    played = hero(window)
    drag(window, "5")
    moved = hero(window)
    assert frames_of(moved) == {(1.0, 25.0, 50.0)}
    assert hero(window, BAKED) == moved
    window.key("ctrl+z", at=diamond(window, 40))
    assert hero(window) == played
    window.key("ctrl+shift+z", at=diamond(window, 40))
    assert hero(window) == moved
    window.run(f"bpy.ops.wm.save_as_mainfile(filepath={shot!r})")
    window.run(f"bpy.ops.wm.open_mainfile(filepath={shot!r})")
    assert hero(window) == moved
    window.click(diamond(window, 25))
    drag(window, "-3")
    again = hero(window)
    assert frames_of(again) == {(1.0, 22.0, 50.0)}
    assert hero(window, BAKED) == again


BAKED = """
from bl_ext.user_default.tcb_animation import animation
animation.bake(bpy.data.objects['Hero'], output='HANDLES')
"""


def hero(window: Any, first: str = "") -> Any:
    """All keys of the override, after that was done."""
    settle(window)
    return window.run(f"""{CURVES.replace("'Cube'", "'Hero'")}
{first}
result = everything()
""")


def frames_of(curves: Any) -> set[tuple[float, ...]]:
    return {tuple(key[0][0] for key in curve[3]) for curve in curves}


def all_of_it(window: Any) -> Any:
    """Keys to the last bit, and the numbers that they have."""
    return everything(window), [parameters(window, "location", frame) for frame in (1, KEY, 50)]


def played(window: Any) -> list[float]:
    return [value_at(window, frame, index) for index in range(3) for frame in (10, 35)]


def at_rest(window: Any) -> list[float]:
    """What is played as soon as it stays the same while Blender's loop turns, as the mouse is not moved any more."""
    before: list[float] = []
    while (now := played(window)) != before:
        before = now
        turns(window)
    return now


def test_the_motion_follows_while_a_parameter_is_dragged_and_escape_gives_all_back(playing):
    centre = open_editor(playing, "DOPESHEET_EDITOR")
    playing.run(UNLOCK)
    playing.key("a", at=centre)
    settle(playing)
    before, rest = all_of_it(playing), played(playing)
    seen = []
    start_dragging_bias(playing, centre, 40)
    seen.append(played(playing))
    for dx in (80, 120):
        playing.xdotool("mousemove", centre[0] + dx, centre[1])
        turns(playing)
        seen.append(played(playing))
    playing.shot(PICTURES / "drag_live.png")
    for one, other in zip([rest, *seen], seen, strict=False):
        assert other != pytest.approx(one, abs=1e-3)
    playing.key("Escape")
    settle(playing)
    assert comes(playing, all_of_it, before)

    start_dragging_bias(playing, centre, 40)
    held = at_rest(playing)
    playing.xdotool("click", 1)
    turns(playing)
    settle(playing)
    assert played(playing) == pytest.approx(held, abs=1e-6)
    after = everything(playing)
    playing.key("ctrl+z", at=centre)
    assert comes(playing, all_of_it, before)
    playing.key("ctrl+shift+z", at=centre)
    assert comes(playing, everything, after)
    assert is_as_played(playing)


def number_under_the_mouse(window: Any) -> str:
    window.run("bpy.context.window_manager.clipboard = ''")
    window.xdotool("key", "ctrl+c")
    turns(window)
    return str(window.run("result = 'is ' + bpy.context.window_manager.clipboard"))


def field_with(window: Any, centre: Any, number: str) -> Any:
    """Where the dialog that was opened there has that number."""
    x, y = centre[0] - 76, centre[1]
    found = []
    for at in range(y - 70, y + 130, 6):
        window.xdotool("mousemove", x, at)
        turns(window)
        if number_under_the_mouse(window) == f"is {number}":
            found.append(at)
        elif found:
            break
    assert found, f"no {number} in the dialog"
    at = sum(found) // len(found)
    window.xdotool("mousemove", x, at)
    turns(window)
    return x, at


def test_the_motion_follows_the_dialog_and_escape_gives_all_back(playing):
    centre = open_editor(playing, "DOPESHEET_EDITOR")
    playing.run("""
for frame in (1, 20, 50):
    bpy.ops.tcb.key_set(track='location', frame=frame, bias=0.875)
bpy.ops.ed.undo_push(message='bias')
""")
    playing.key("a", at=centre)
    settle(playing)
    before, rest = all_of_it(playing), played(playing)
    open_tcb_menu(playing, centre)
    playing.key("s")
    x, y = field_with(playing, centre, "0.875")
    playing.xdotool("mousedown", 1)
    turns(playing)
    seen = []
    for step in range(1, 17):
        playing.xdotool("mousemove_relative", "--", -3, 0)
        turns(playing)
        if step % 8 == 0:
            seen.append(played(playing))
    playing.shot(PICTURES / "dialog_live.png")
    # The mouse is still down.
    assert seen[0] != pytest.approx(rest, abs=1e-3)
    assert seen[1] != pytest.approx(seen[0], abs=1e-3)
    playing.xdotool("mouseup", 1)
    turns(playing)
    playing.key("Escape")
    settle(playing)
    assert comes(playing, all_of_it, before)

    open_tcb_menu(playing, centre)
    playing.key("s")
    # Not by Enter, which a dialog may take for OK.
    playing.click((x, y), times=2)
    playing.xdotool("key", "ctrl+a")
    playing.xdotool("type", "--delay", 40, "--", "0.75")
    playing.key("Return")
    settle(playing)
    typed = played(playing)
    assert typed != pytest.approx(rest, abs=1e-3)
    playing.key("Return")
    settle(playing)
    assert parameters(playing, "location", KEY) == {"bias": 0.75}
    assert played(playing) == pytest.approx(typed, abs=1e-6)
    after = everything(playing)
    playing.key("ctrl+z", at=centre)
    assert comes(playing, all_of_it, before)
    playing.key("ctrl+shift+z", at=centre)
    assert comes(playing, everything, after)


def test_linear_extrapolation_goes_on_along_the_motion(playing):
    """Chosen from the menu that Shift E opens in the Graph Editor."""
    window = playing
    centre = open_editor(window, "GRAPH_EDITOR")
    window.run(f"""{CURVES}
for c in fcurves():
    c.select, c.lock = True, False
bpy.ops.ed.undo_push(message='all channels')
""")
    settle(window)
    before = everything(window)
    first, last = (window.run(f"{CURVES}\nresult = fcurves()[0].keyframe_points[{row}].co.x") for row in (0, -1))
    window.key("shift+e", at=centre)
    window.xdotool("key", "l")
    settle(window)
    window.shot(PICTURES / "linear_extrapolation.png")
    assert set(window.run(f"{CURVES}\nresult = [c.extrapolation for c in fcurves() if c.data_path == 'location']")) == {
        "LINEAR"
    }
    for end, way in ((first, -1.0), (last, 1.0)):
        inside = (value_at(window, end) - value_at(window, end - 0.01 * way)) / 0.01
        beyond = (value_at(window, end + 20.0 * way) - value_at(window, end)) / 20.0
        assert abs(beyond) > 0.01
        assert beyond == pytest.approx(inside, rel=0.02)
    assert is_as_played(window)
    window.key("ctrl+z", at=centre)
    assert everything(window) == before
