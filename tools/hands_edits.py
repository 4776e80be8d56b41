# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's tools, each used once in a window on a live rig and on its plain twin, by keys and mouse where it can be.

Each function does one thing as an animator does, and returns nothing, or a remark on what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PRELUDE = f"""
import sys
if {str(ROOT)!r} not in sys.path:
    sys.path.insert(0, {str(ROOT)!r})
from tools import hands_scene as hands
"""
SETTLE = """
def steps():
    from bl_ext.user_default.tcb_animation.ui.live import handlers
    for _turn in range(3):
        yield 0.05
    for _turn in range(400):
        if not handlers.is_pending():
            return True
        yield 0.05
"""
UNREST = """
from bl_ext.user_default.tcb_animation.ui.live import handlers
names = {each.session_uid: each.name for each in bpy.data.actions}
running = [each.bl_idname for one in bpy.context.window_manager.windows for each in one.modal_operators]
marked, unsure = ([names.get(each) for each in kind] for kind in (handlers._state.marked, handlers._state.unsure))
result = (marked, unsure, handlers.is_busy(), running, bpy.app.timers.is_registered(handlers.tick))
"""
MODAL = "result = [each.bl_idname for one in bpy.context.window_manager.windows for each in one.modal_operators]"


@dataclass
class Hands:
    """A window with the rigs, and what an animator does in it."""

    gui: Any
    _middle: tuple[int, int] | None = None

    def run(self, code: str) -> Any:
        return self.gui.run(PRELUDE + code, timeout=180)

    def settle(self) -> None:
        """Wait until Live has looked at everything."""
        if self.gui.run(SETTLE, timeout=120) is not True:
            state = self.gui.run(UNREST)
            raise RuntimeError(f"Live does not come to rest: {state}")

    def open(self, kind: str, mode: str = "") -> None:
        """Make the large area that editor, with everything in view, and point at its middle."""
        self._middle = None
        self.run(f"""
def steps():
    for a in win().screen.areas:
        if a.type == 'DOPESHEET_EDITOR' and a.height < 300:
            a.type = 'INFO'
    yield .1
    big = max(win().screen.areas, key=lambda a: a.width * a.height)
    big.type = {kind!r}
    if {mode!r} == 'ACTION':
        big.ui_type = 'DOPESHEET'
        big.spaces.active.ui_mode = 'ACTION'
    elif {mode!r}:
        big.ui_type = {mode!r}
    yield .2
    big = max(win().screen.areas, key=lambda a: a.width * a.height)
    with bpy.context.temp_override(window=win(), area=big, region=region(big, 'WINDOW')):
        if big.type == 'VIEW_3D':
            bpy.ops.view3d.view_axis(type='FRONT')
            big.spaces.active.shading.type = 'WIREFRAME'
        elif big.type == 'GRAPH_EDITOR':
            bpy.ops.graph.view_all()
        elif big.type == 'DOPESHEET_EDITOR':
            bpy.ops.action.view_all()
        elif big.type == 'NLA_EDITOR':
            bpy.ops.nla.view_all()
    hands.push()
    yield .1
""")
        self.point()

    def middle(self) -> tuple[int, int]:
        if self._middle is not None:
            return self._middle
        x, y = self.run("""
big = max(win().screen.areas, key=lambda a: a.width * a.height)
r = region(big, 'WINDOW')
result = (r.x + r.width // 2, win().height - (r.y + r.height // 2))
""")
        self._middle = (x, y)
        return x, y

    def point(self, dx: int = 0, dy: int = 0) -> None:
        x, y = self.middle()
        self.gui.xdotool("mousemove", x + dx + 3, y + dy)
        self.gui.xdotool("mousemove", x + dx, y + dy)
        self.turns()

    def turns(self, seconds: float = 0.06) -> None:
        self.gui.run(f"def steps():\n    for _turn in range(3):\n        yield {seconds / 3}\n")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.gui.xdotool("key", {"-": "minus", ".": "period"}.get(key, key))
            self.turns()

    def click(self, button: int = 1) -> None:
        self.gui.xdotool("click", button)
        self.turns()

    def frame(self, frame: int) -> None:
        self.run(f"bpy.context.scene.frame_set({frame}); hands.push('frame')")
        self.settle()

    def slide(self, *start: str, by: int = 120) -> None:
        """Start a tool that the mouse moves, move by so many pixels and click."""
        self.point()
        self.press(*start)
        running = self.gui.run(MODAL)
        for step in range(1, 5):
            self.point(dx=by * step // 4)
        if not running:
            raise RuntimeError(f"{start} started no tool")
        self.click()
        self.settle()

    def invoke(self, kind: str, call: str, by: int = 0) -> None:
        """Start an operator as a menu does; where it then follows the mouse, move and click."""
        self.point()
        self.run(f"hands.in_area({kind!r}, lambda: bpy.ops.{call})")
        self.turns()
        if self.gui.run(MODAL):
            for step in range(1, 5):
                self.point(dx=by * step // 4)
            self.click()
        self.settle()

    def each(self, work: Callable[[str], None]) -> None:
        """Do it with one rig active, then with the other, for tools that take the active object alone."""
        # The twin first, so that both are undone when the twin is.
        for name in ("Plain", "Live"):
            self.run(f"hands.pose_mode({name!r}); hands.push('active')")
            self.point()
            work(name)
            self.settle()

    def bones(self, *names: str) -> None:
        self.run(f"hands.pose_mode('Live', 'Plain', bones={names!r}); hands.push('bones')")


Tool = Callable[[Hands], "str | None"]


@dataclass(frozen=True)
class Row:
    """One of Blender's tools: its group, its name, how it was used, and the function."""

    group: str
    name: str
    how: str
    tool: Tool
    changes: bool = True
    """False where keys must stay as they are, to the last bit."""
    undoes: bool = True
    """False where there is nothing to undo."""
    since: tuple[int, int] = (4, 2)
    alike: bool = True
    """False where rig and twin need not have the same keys."""
    note: str = ""
    """What the page says of it."""

    @property
    def title(self) -> str:
        return f"{self.group}: {self.name}"


def pose_slider(key: str, frame: int) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("VIEW_3D")
        hands.frame(frame)
        hands.slide(key)

    return tool


def cancelled(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.frame(19)
    hands.point()
    hands.press("shift+e")
    for step in range(1, 5):
        hands.point(dx=45 * step)
    hands.click(3)
    hands.settle()


def paste_flipped(hands: Hands) -> None:
    hands.open("VIEW_3D")

    def work(name: str) -> None:
        hands.frame(13)
        hands.press("ctrl+c")
        hands.frame(19)
        hands.press("ctrl+shift+v")

    hands.each(work)


def mirrored(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.run("for rig in hands.rigs(): rig.pose.use_mirror_x = True")
    hands.bones("Arm.L", "Hand.L")
    hands.frame(19)
    hands.point(dx=100)
    hands.press("r", "3", "0", "Return")
    hands.settle()


def auto_keyed(*keys: str, frame: int = 19) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("VIEW_3D")
        hands.frame(frame)
        hands.point(dx=100)
        hands.press(*keys, "Return")
        hands.settle()

    return tool


def keying_set(name: str, *keys: str, in_turn: bool = False) -> Tool:
    """Key by a keying set; `in_turn`: one that is about the active object alone."""

    def tool(hands: Hands) -> None:
        hands.open("VIEW_3D")
        hands.run(f"""
scene = bpy.context.scene
sets = scene.keying_sets_all
sets.active = next(each for each in sets if each.bl_idname.endswith({name!r}))
scene.tool_settings.use_keyframe_insert_auto = False
hands.push('keying set')
""")
        hands.frame(19)

        def work(_name: str) -> None:
            hands.point(dx=100)
            hands.press("r", "2", "0", "Return", *keys)
            hands.settle()

        if in_turn:
            hands.each(work)
        else:
            work("")

    return tool


def own_keying_set(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.run("""
scene = bpy.context.scene
scene.tool_settings.use_keyframe_insert_auto = False
own = scene.keying_sets.new(idname='Own', name='Own')
for rig in hands.rigs():
    own.paths.add(rig, 'pose.bones["Head"].rotation_euler', index=-1)
    own.paths.add(rig, 'pose.bones["Arm.L"].rotation_quaternion', index=2)
scene.keying_sets.active = own
hands.push('keying set')
""")
    hands.frame(19)
    hands.point()
    hands.press("r", "2", "0", "Return", "i")
    hands.settle()


def only_set_auto(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.run("""
scene = bpy.context.scene
sets = scene.keying_sets_all
sets.active = next(each for each in sets if each.bl_idname.endswith('Available'))
scene.tool_settings.use_keyframe_insert_keyingset = True
hands.push('keying set')
""")
    hands.frame(19)
    hands.point()
    hands.press("r", "2", "0", "Return")
    hands.settle()


def key_menu(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.run("bpy.context.scene.tool_settings.use_keyframe_insert_auto = False; hands.push()")
    hands.frame(19)
    hands.point()
    hands.press("r", "2", "0", "Return", "k")
    hands.turns(0.5)
    hands.press("r")
    hands.settle()


def delete_keys(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.frame(25)
    hands.point()
    hands.press("alt+i")
    hands.turns(0.5)
    hands.press("Return")
    hands.settle()


def pose_library(call: str) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("VIEW_3D")
        hands.run("hands.make_pose_asset(13)")
        hands.frame(19)

        def work(name: str) -> None:
            hands.invoke("VIEW_3D", f"poselib.{call}", 100)

        hands.each(work)

    return tool


ASSET = "asset_library_type='LOCAL', asset_library_identifier='', relative_asset_identifier='Action/A pose'"


def select_keys(hands: Hands, *frames: int) -> None:
    """Select keys of both rigs at these frames, or all, in the editors of curves and keys."""
    hands.run(f"hands.select_keys({frames!r}); hands.push('select')")


def graph(call: str, by: int = 100, frames: tuple[int, ...] = ()) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("GRAPH_EDITOR", "FCURVES")
        select_keys(hands, *frames)
        hands.invoke("GRAPH_EDITOR", f"graph.{call}", by)

    return tool


def graph_keys(*keys: str, frames: tuple[int, ...] = ()) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("GRAPH_EDITOR", "FCURVES")
        select_keys(hands, *frames)
        hands.point()
        hands.press(*keys)
        hands.settle()

    return tool


def modifier(kind: str, settings: str = "") -> Tool:
    """Add the modifier to all channels of both rigs, then move a column of keys."""

    def tool(hands: Hands) -> None:
        hands.open("GRAPH_EDITOR", "FCURVES")
        select_keys(hands)
        hands.invoke("GRAPH_EDITOR", f"graph.fmodifier_add(type={kind!r}, only_active=False)")
        if settings:
            hands.run(f"""
for rig in hands.rigs():
    for curve in hands.channels(rig):
        for m in curve.modifiers:
            {settings}
hands.push('settings')
""")
        hands.settle()
        if hands.run("result = hands.pose_difference()"):
            raise RuntimeError("with the modifiers the rig moves otherwise than its twin")
        select_keys(hands, 25)
        hands.point()
        hands.press("g", "x", "3", "Return")
        hands.settle()

    return tool


def dope(*keys: str, frames: tuple[int, ...] = ()) -> Tool:
    def tool(hands: Hands) -> None:
        hands.open("DOPESHEET_EDITOR", "DOPESHEET")
        select_keys(hands, *frames)
        hands.point()
        hands.press(*keys)
        hands.settle()

    return tool


def two_live(hands: Hands) -> str:
    hands.run("hands.second_live()")
    hands.open("VIEW_3D")
    hands.run("hands.pose_mode('Live', 'Plain', 'Live 2', 'Plain 2'); hands.push()")
    hands.frame(19)
    hands.point(dx=100)
    hands.press("r", "3", "0", "Return")
    hands.settle()
    hands.open("DOPESHEET_EDITOR", "DOPESHEET")
    select_keys(hands, 13)
    hands.point()
    hands.press("g", "-", "4", "Return")
    hands.settle()
    other = hands.run("result = hands.differences('Live 2', 'Plain 2') + hands.stale_channels('Live 2')")
    return f"the second rig has {other or 'the same result'}"


def actions_in_turn(hands: Hands) -> str:
    """Key a second action for both rigs, then play the first again."""
    hands.open("VIEW_3D")
    hands.run("hands.save('first')")
    hands.run("""
for rig in hands.rigs():
    first = rig.animation_data.action
    first.use_fake_user = True
    rig.animation_data.action = None
hands.push('no action')
""")
    hands.settle()
    for frame in (5, 15, 30):
        hands.frame(frame)
        hands.point(dx=100)
        hands.press("r", "2", "0", "Return", "i")
        hands.settle()
    second = hands.run("result = bpy.data.objects['Live'].animation_data.action.tcb_live")
    hands.run("""
for rig in hands.rigs():
    hands.assign(rig, bpy.data.actions[rig.name if rig.name != 'Live' else 'LiveAction'])
hands.push('first action')
""")
    hands.settle()
    changed = hands.run("result = hands.changes_since('first', 'Live')")
    hands.frame(19)
    hands.point(dx=100)
    hands.press("r", "2", "0", "Return")
    hands.settle()
    new = "live" if second else "not live and has no TCB track"
    return f"the new action is {new}. The first is {changed or 'the same, bit for bit'}"
