# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's tools on other stages: strips, actions, cameras, overridden rigs, rigs of Rigify; by keys and mouse."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tools.hands_edits import Hands, Tool, select_keys

STAGES = "from tools import hands_stages as stages\n"


def turn_at(hands: Hands, frame: int) -> None:
    """Turn what is selected by 20 degrees at the frame, with Auto Key."""
    hands.frame(frame)
    hands.point(dx=100)
    hands.press("r", "2", "0", "Return")
    hands.settle()


def move_keys(hands: Hands, frame: int, *amount: str) -> None:
    """Move the keys of the frame in the Dope Sheet."""
    hands.open("DOPESHEET_EDITOR", "DOPESHEET")
    select_keys(hands, frame)
    hands.point()
    hands.press("g", *amount, "Return")
    hands.settle()


def stripped(hands: Hands) -> None:
    """Push both actions down into strips, move and stretch these, and enter tweak mode."""
    hands.open("NLA_EDITOR")
    hands.run("""
for rig in hands.rigs():
    data = rig.animation_data
    action, slot = data.action, getattr(data, 'action_slot', None)
    data.action = None
    strip = data.nla_tracks.new().strips.new(action.name, 1, action)
    if slot is not None:
        strip.action_slot = slot
    strip.select = True
    data.nla_tracks[0].select = True
hands.push('strips')
""")
    hands.settle()
    hands.open("NLA_EDITOR")
    hands.press("g", "8", "Return")
    hands.settle()
    hands.press("Tab")
    hands.settle()
    if not hands.run("result = [rig.animation_data.use_tweak_mode for rig in hands.rigs()] == [True, True]"):
        raise RuntimeError("no tweak mode")


def tweak_mode(hands: Hands) -> None:
    stripped(hands)
    hands.open("VIEW_3D")
    turn_at(hands, 28)
    move_keys(hands, 25, "4")


def moved_then_posed(hands: Hands) -> None:
    """Move keys in tweak mode, turn the bones on them, and leave it."""
    stripped(hands)
    move_keys(hands, 25, "4")
    hands.open("VIEW_3D")
    turn_at(hands, 37)
    leave_tweak_mode(hands)


def left_tweak_mode(hands: Hands) -> None:
    tweak_mode(hands)
    leave_tweak_mode(hands)


def leave_tweak_mode(hands: Hands) -> None:
    hands.open("NLA_EDITOR")
    hands.press("Tab")
    hands.settle()
    if hands.run("result = any(rig.animation_data.use_tweak_mode for rig in hands.rigs())"):
        raise RuntimeError("still tweak mode")


def strips_moved(hands: Hands) -> str:
    """Move strips after tweak mode: keys stay."""
    left_tweak_mode(hands)
    hands.run("hands.save('left')")
    hands.press("g", "5", "Return")
    hands.settle()
    changed = hands.run("result = [each for each in hands.changes_since('left', 'Live') if each != 'strips']")
    return f"keys of the strip {changed or 'bit for bit'} after it was moved"


def copied_action(hands: Hands) -> str:
    """Make a new action of the one that plays, as the Action editor's button does, work on it, then play the first."""
    hands.open("DOPESHEET_EDITOR", "ACTION")
    hands.run("hands.save('first')")
    for name in ("Plain", "Live"):
        hands.run(f"""
hands.pose_mode({name!r})
bpy.data.objects[{name!r}].animation_data.action.use_fake_user = True
before = set(bpy.data.actions)
hands.in_area('DOPESHEET_EDITOR', lambda: bpy.ops.action.new())
# The button assigns what the operator makes.
hands.assign(bpy.data.objects[{name!r}], (set(bpy.data.actions) - before).pop())
hands.push('new')
""")
        hands.settle()
    hands.run("hands.pose_mode('Live', 'Plain'); hands.push()")
    hands.open("VIEW_3D")
    turn_at(hands, 19)
    other = hands.run(
        "rig = hands.rigs()[0]; a = rig.animation_data.action\n"
        "result = (a.name, a.tcb_live, hands.differences(), hands.stale_channels())"
    )
    hands.run("""
for rig in hands.rigs():
    hands.assign(rig, bpy.data.actions['Plain' if rig.name == 'Plain' else 'LiveAction'])
hands.push('first action')
""")
    hands.settle()
    # The operator stashes the first action in a strip.
    changed = hands.run("result = [each for each in hands.changes_since('first', 'Live') if each != 'strips']")
    turn_at(hands, 19)
    name, live, differs, stale = other
    same = "the twin's keys and TCB's motion" if not differs and not stale else (differs, stale)
    first = changed or "the same, bit for bit"
    return f"the copy {name} is {'live' if live else 'not live'} and has {same}. The first is {first}"


def two_slots(hands: Hands) -> str:
    hands.run(STAGES + "stages.shared_actions(); hands.pose_mode('Live', 'Plain', 'Live 2', 'Plain 2'); hands.push()")
    hands.settle()
    hands.run("hands.save('before')")
    hands.open("VIEW_3D")
    turn_at(hands, 19)
    move_keys(hands, 13, "-", "4")
    other = hands.run("result = hands.differences('Live 2', 'Plain 2') + hands.stale_channels('Live 2')")
    return f"the second rig has {other or 'the keys of its twin, and fresh handles'}"


def camera_markers(hands: Hands) -> str:
    """Bind cameras to markers, move the markers along with keys, and play."""
    hands.run(STAGES + "stages.cameras()")
    hands.settle()
    hands.run("hands.save('before')")
    hands.open("DOPESHEET_EDITOR", "DOPESHEET")
    for name, frame in (("Live", 1), ("Other", 13), ("Live", 25)):
        hands.run(STAGES + f"stages.bind({name!r}, {frame}); hands.push('camera')")
        hands.point()
        hands.press("ctrl+b")
        hands.settle()
    touched = hands.run("result = hands.changes_since('before', 'Live')")
    hands.run("hands.only(*hands.rigs()); area('DOPESHEET_EDITOR').spaces.active.use_marker_sync = True; hands.push()")
    hands.run("for m in bpy.context.scene.timeline_markers: m.select = m.frame == 25")
    select_keys(hands, 25)
    hands.point()
    hands.press("g", "4", "Return")
    hands.settle()
    seen = hands.run("""
scene = bpy.context.scene
result = []
for frame in (5, 20, 35):
    scene.frame_set(frame)
    result.append(scene.camera.name)
result = ([(m.frame, m.camera and m.camera.name) for m in scene.timeline_markers], result)
""")
    keys = touched or "the same, bit for bit"
    return f"keys after binding are {keys}. Markers are {seen[0]}, cameras at 5, 20 and 35 {seen[1]}"


def overridden(animated: bool, local: bool = False) -> Tool:
    """Key, or try to, rigs that are library overrides.

    `animated`: their action is the library's; `local`: by Bake TCB they get one of this file.
    """

    def tool(hands: Hands) -> str:
        path = str(Path(tempfile.mkdtemp()) / "rigs.blend")
        hands.run(STAGES + f"stages.library({path!r}, {animated})")
        said = hands.run(STAGES + f"result = 'said: ' + stages.overridden({path!r}, {animated})")
        if local:
            said = hands.run(STAGES + "result = 'said: ' + stages.localized()")
        hands.settle()
        hands.run("hands.save('before')")
        hands.open("VIEW_3D")
        turn_at(hands, 19)
        move_keys(hands, 25, "4")
        return last_line(said)

    return tool


def last_line(text: str) -> str:
    """Return what was said last, without what operators have printed before it."""
    return text.strip().splitlines()[-1].strip("'\"").removeprefix("said: ")


def rigify(hands: Hands) -> str:
    what = hands.run(STAGES + "result = 'said: ' + stages.rigify()")
    hands.settle()
    hands.run("hands.save('before')")
    hands.open("VIEW_3D")
    turn_at(hands, 19)
    hands.point()
    hands.slide("shift+e")
    move_keys(hands, 25, "4")
    return last_line(what)


def rigify_snap(part: str, frame: int) -> Tool:
    def tool(hands: Hands) -> str:
        hands.run(STAGES + "stages.rigify()")
        hands.settle()
        hands.run("hands.save('before')")
        hands.open("VIEW_3D")
        hands.frame(frame)
        call = last_line(hands.run(STAGES + f"result = 'said: ' + stages.rigify_call({part!r})"))

        def work(name: str) -> None:
            hands.run(f"hands.pose_mode({name!r}, bones=('upper_arm_fk.L', 'hand_ik.L'))")
            hands.run(f"hands.in_area('VIEW_3D', lambda: bpy.ops.{call}); hands.push('snap')")

        hands.each(work)
        return ""

    return tool
