# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the table of Blender's tools: each a tool, where it is used and how."""

from __future__ import annotations

from tools.hands_edits import (
    ASSET,
    Row,
    actions_in_turn,
    auto_keyed,
    cancelled,
    delete_keys,
    dope,
    graph,
    graph_keys,
    key_menu,
    keying_set,
    mirrored,
    modifier,
    only_set_auto,
    own_keying_set,
    paste_flipped,
    pose_library,
    pose_slider,
    two_live,
)
from tools.hands_scenes import (
    camera_markers,
    copied_action,
    left_tweak_mode,
    moved_then_posed,
    overridden,
    rigify,
    rigify_snap,
    strips_moved,
    tweak_mode,
    two_slots,
)

MODIFIED = (
    "here and below, rig and twin move alike with the modifiers on. TCB plays below them, and a note names them for "
    "each track, except Cycles"
)
BY_OPERATOR = (5, 0)
"""The version from which on operators of the pose library are tried, with an asset by its name."""
SHELF = "Blender 4.3 has these operators only in the asset shelf, which was not tried"
APART = (
    "a quaternion keyed in one component can't be played by handles, so Blender's curves play it, and a note reports it"
)
ROWS = (
    Row("Pose", "Breakdowner between keys", "`Shift E`, mouse, click, frame 19", pose_slider("shift+e", 19)),
    Row("Pose", "Breakdowner on a key", "`Shift E`, mouse, click, frame 25", pose_slider("shift+e", 25)),
    Row("Pose", "Breakdowner taken back", "`Shift E`, mouse, right click", cancelled, changes=False, undoes=False),
    Row("Pose", "Push between keys", "`Ctrl E`, mouse, click, frame 19", pose_slider("ctrl+e", 19)),
    Row("Pose", "Push on a key", "`Ctrl E`, mouse, click, frame 25", pose_slider("ctrl+e", 25)),
    Row("Pose", "Relax between keys", "`Alt E`, mouse, click, frame 19", pose_slider("alt+e", 19)),
    Row("Pose", "Relax on a key", "`Alt E`, mouse, click, frame 25", pose_slider("alt+e", 25)),
    Row("Pose", "Blend to Neighbor between keys", "`Shift Alt E`, frame 19", pose_slider("shift+alt+e", 19)),
    Row("Pose", "Blend to Neighbor on a key", "`Shift Alt E`, frame 25", pose_slider("shift+alt+e", 25)),
    Row("Pose", "Paste Flipped", "`Ctrl C` at 13, `Ctrl Shift V` at 19, all bones", paste_flipped),
    Row(
        "Pose",
        "Pose library, apply",
        "a pose asset of frame 13 applied at 19",
        pose_library(f"apply_pose_asset({ASSET})"),
        since=BY_OPERATOR,
        note=SHELF,
    ),
    Row(
        "Pose",
        "Pose library, apply flipped",
        "the same, flipped",
        pose_library(f"apply_pose_asset({ASSET}, flipped=True)"),
        since=BY_OPERATOR,
    ),
    Row(
        "Pose",
        "Pose library, blend",
        "the same asset blended by the mouse",
        pose_library(f"blend_pose_asset('INVOKE_DEFAULT', {ASSET})"),
        since=BY_OPERATOR,
    ),
    Row("Keying", "Auto Key: turn", "`R 3 0` with all bones at 19", auto_keyed("r", "3", "0")),
    Row("Keying", "Auto Key: move", "`G X 1` with all bones at 19", auto_keyed("g", "x", "1")),
    Row("Keying", "Auto Key with X mirror", "`R 3 0` with the left arm at 19", mirrored),
    Row("Keying", "Auto Key, only the active keying set", "Available, `R 2 0`", only_set_auto),
    Row("Keying", "Keying set Location & Rotation", "`R 2 0`, `I`", keying_set("LocRot", "i")),
    Row("Keying", "Keying set Whole Character", "`R 2 0`, `I`", keying_set("WholeCharacter", "i", in_turn=True)),
    Row("Keying", "Keying set Available", "`R 2 0`, `I`", keying_set("Available", "i")),
    Row(
        "Keying",
        "Keying set of one's own",
        "one Euler rotation, one component of a quaternion; `I`",
        own_keying_set,
        note=APART,
    ),
    Row("Keying", "K", "`R 2 0`, `K`, Rotation", key_menu),
    Row("Keying", "Alt I", "at 25, all bones", delete_keys),
    Row("Graph Editor", "Smooth", "all keys", graph("smooth('INVOKE_DEFAULT')")),
    Row("Graph Editor", "Smooth (Gaussian)", "all keys, mouse", graph("gaussian_smooth('INVOKE_DEFAULT')")),
    Row("Graph Editor", "Smooth (Butterworth)", "all keys, mouse", graph("butterworth_smooth('INVOKE_DEFAULT')")),
    Row("Graph Editor", "Decimate, ratio", "all keys, mouse", graph("decimate('INVOKE_DEFAULT', mode='RATIO')")),
    Row(
        "Graph Editor", "Decimate, allowed change", "all keys, mouse", graph("decimate('INVOKE_DEFAULT', mode='ERROR')")
    ),
    Row("Graph Editor", "Breakdown", "keys at 25, mouse", graph("breakdown('INVOKE_DEFAULT')", frames=(25,))),
    Row(
        "Graph Editor",
        "Blend to Neighbor",
        "keys at 25, mouse",
        graph("blend_to_neighbor('INVOKE_DEFAULT')", frames=(25,)),
    ),
    Row("Graph Editor", "Move", "`G 4` of keys at 25", graph_keys("g", "4", "Return", frames=(25,))),
    Row("Dope Sheet", "Move", "`G - 6` of keys at 25", dope("g", "-", "6", "Return", frames=(25,))),
    Row("F-curve modifiers", "Noise", "on all channels, then `G X 3` of keys at 25", modifier("NOISE"), note=MODIFIED),
    Row("F-curve modifiers", "Cycles", "the same", modifier("CYCLES")),
    Row("F-curve modifiers", "Limits", "the same", modifier("LIMITS", "m.use_max_y, m.max_y = True, 0.2")),
    Row("F-curve modifiers", "Stepped Interpolation", "the same", modifier("STEPPED")),
    Row("F-curve modifiers", "Generator, additive", "the same", modifier("GENERATOR", "m.use_additive = True")),
    Row(
        "F-curve modifiers", "Built-in function, additive", "the same", modifier("FNGENERATOR", "m.use_additive = True")
    ),
    Row("F-curve modifiers", "Envelope", "the same", modifier("ENVELOPE")),
    Row("F-curve modifiers", "Smooth", "the same", modifier("SMOOTH"), since=(5, 1)),
    Row("Many", "Two live rigs in Pose mode", "`R 3 0` at 19, then `G - 4` of keys at 13", two_live),
    Row("Actions", "Another action, and the first again", "unlink, key a new one, choose the first", actions_in_turn),
    Row("Actions", "New Action of the Action editor", "`R 2 0` on the copy, the first again, `R 2 0`", copied_action),
    Row(
        "Actions",
        "Two slots of one action",
        "a second rig in the same live action, `R 2 0`, `G - 4` of keys at 13",
        two_slots,
        since=(4, 4),
    ),
    Row("NLA", "Tweak mode", "strips at 9, `Tab`, `R 2 0` at 28, `G 4` of keys at 25", tweak_mode),
    Row("NLA", "Tweak mode left", "the same, `Tab`", left_tweak_mode),
    Row(
        "NLA",
        "Keys moved, then posed",
        "strips at 9, `Tab`, `G 4` of keys at 25, `R 2 0` at 37, `Tab`",
        moved_then_posed,
    ),
    Row("NLA", "Strips moved", "the same, `Tab`, `G 5` of the strips", strips_moved),
    Row("Cameras", "Camera markers", "`Ctrl B` three times; a marker moved with its keys", camera_markers),
    Row("Overrides", "Overridden rig, keyed here", "`R 2 0` at 19, `G 4` of keys at 25", overridden(False)),
    Row(
        "Overrides",
        "Overridden rig, the library's live action",
        "the same",
        overridden(True),
        note="Blender keys and moves nothing in a linked action",
        changes=False,
        undoes=False,
    ),
    Row("Overrides", "Overridden rig, Bake TCB first", "`Bake TCB`, then the same", overridden(True, local=True)),
    Row("Rigify", "Basic human", "`R 2 0` at 19, Breakdowner, `G 4` of keys at 25", rigify),
    Row("Rigify", "FK to IK", "the panel's button at 19", rigify_snap("generic_snap_", 19)),
    Row("Rigify", "IK to FK", "the panel's button at 30", rigify_snap("limb_ik2fk_", 30)),
)
