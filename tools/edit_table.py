# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of kinds of edits, and whether they lose anything, for each output, live or baked again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.animation.curves import HAS_SLOTS, co, key
from tools.edit_judge import KINDS, Own, channels, own_points
from tools.edit_kinds import ACTION_OPERATORS, GRAPH_OPERATORS, editor, rows, scene_now, transform
from tools.edit_pairs import Case, Setting, Stage, quietly

Edit = Callable[[Case], object]
OBJECTS = ("XYZ", "QUATERNION")
BONES = ("BONES",)
ALL = (*OBJECTS, *BONES)
CELLS = {
    f"{output}, {'live' if live else 'baked again'}": (output, live)
    for output in ("samples", "curves", "handles")
    for live in (False, True)
}
BAD = ("error", "lost", "appeared", "parameters")
WORDS = {
    "kept": "kept",
    "idle": "-",
    "kinds": "interpolation",
    "siblings": "whole key",
    "doubtful": "kept in doubt",
    "refused": "refused",
    "parameters": "**parameters**",
    "appeared": "**new keys**",
    "lost": "**lost**",
    "error": "**error**",
}


@dataclass(frozen=True)
class Row:
    """One kind of edit: its group, its name, the function, and the modes it is made in."""

    group: str
    name: str
    edit: Edit
    modes: tuple[str, ...] = ALL
    merges: bool = False
    reverses: bool = False
    """`merges`: own keys may land on one frame, so that the parameters of either may stay. `reverses`: keys are
    reversed in time, which negates bias and swaps eases."""
    known: str = ""
    """Why the loss can't be avoided."""
    since: tuple[int, int] = (4, 2)
    """The first Blender that supports it without a window."""
    undone: bool = False
    """True where it leaves keys as they were."""


def dope(mode: str, amount: float, *frames: float, snap: bool = True) -> Edit:
    """Transform columns, or everything, in the Dope Sheet."""

    def edit(case: Case) -> None:
        select(case, frames)
        case.snaps = snap
        case.do_in("DOPESHEET", lambda: transform(mode, amount))

    return edit


def select(case: Case, frames: tuple[float, ...]) -> None:
    """Select columns, or everything."""
    if frames:
        case.select_at(*frames)
    else:
        case.select_same()


def action(name: str, *frames: float, at: float | None = None, **how: Any) -> Edit:
    """Run an operator of the Dope Sheet that addresses keys."""

    def edit(case: Case) -> None:
        select(case, frames)
        if at is not None:
            scene_now().frame_set(int(at))
        case.do_in("DOPESHEET", lambda: getattr(bpy.ops.action, name)(**how))

    return edit


def duplicate(amount: float, *frames: float) -> Edit:
    def edit(case: Case) -> None:
        select(case, frames)

        def operator() -> None:
            bpy.ops.action.duplicate()
            transform("TIME_TRANSLATE", amount)

        case.do_in("DOPESHEET", operator)

    return edit


def paste(at: float, *frames: float, **how: Any) -> Edit:
    def edit(case: Case) -> None:
        select(case, frames)
        case.paste_at(at, how)

    return edit


def bulk(module: str, name: str, how: Mapping[str, Any], *frames: float) -> Edit:
    """Run an operator on everything, or on columns; its result may depend on the curve between own keys."""

    def edit(case: Case) -> None:
        select(case, frames)
        scene_now().frame_set(18)
        case.run_operator("FCURVES" if module == "graph" else "DOPESHEET", module, name, dict(how))

    return edit


def graph_keys(case: Case, *frames: float) -> None:
    """Select keys in the Graph Editor, only where the twin has one."""
    own = {name: co(fcurve)[:, 0] for name, fcurve in channels(case.plain).items()}

    def chosen(fcurve: Any, at: Any) -> Any:
        name = (fcurve.data_path, fcurve.array_index)
        wanted = [frame for frame in frames if name in own and (abs(own[name] - frame) < 0.01).any()]
        return np.array([any(abs(frame - other) < 0.01 for other in wanted) for frame in at.tolist()], dtype=np.bool_)

    case._select(chosen)


def drag(frames: float, amount: float, *keys: float) -> Edit:
    """Move keys with G in the Graph Editor."""

    def edit(case: Case) -> None:
        graph_keys(case, *keys) if keys else case.select_same()
        case.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(frames, amount, 0.0)))

    return edit


def drag_one(frame: float, amount: float) -> Edit:
    """Drag one channel's key."""

    def edit(case: Case) -> None:
        case.select_key(first(case), 0, frame)
        case.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(0.0, amount, 0.0)))

    return edit


def scale_values(factor: float, *keys: float) -> Edit:
    def edit(case: Case) -> None:
        graph_keys(case, *keys) if keys else case.select_same()
        case.do_in("FCURVES", lambda: bpy.ops.transform.resize(value=(1.0, factor, 1.0)))

    return edit


def graph_paste(at: float, *keys: float) -> Edit:
    def edit(case: Case) -> None:
        graph_keys(case, *keys)
        for name in ("Live", "Plain"):
            with case._alone(name), editor("FCURVES"):
                bpy.ops.graph.copy()
                scene_now().frame_set(int(at))
                bpy.ops.graph.paste()

    return edit


def first(case: Case) -> str:
    """Return the path of a location."""
    return case._paths()[0]


def key_over(frame: float, index: int = -1) -> Edit:
    return lambda case: case.key_at(first(case), frame, (9.0, 8.0, 7.0, 6.0), index)


def key_rotation(frame: float) -> Edit:
    return lambda case: case.key_at(case._paths()[1], frame, (0.7, 0.2, 0.3, 0.5))


def key_opposite(frame: float, index: int = -1) -> Edit:
    def edit(case: Case) -> None:
        values = [-case.value_at(first(case), n, frame) for n in range(3)]
        case.key_at(first(case), frame, values, index)

    return edit


def key_same(frame: float) -> Edit:
    """Key the value of the curve, which leaves no trace on a generated key."""

    def edit(case: Case) -> None:
        case.key_at(first(case), frame, [case.value_at(first(case), n, frame) for n in range(3)])

    return edit


def key_more(amount: float, *frames: float) -> Edit:
    return lambda case: case.key_more(first(case), 0, frames, amount)


def delete_row(frame: float, index: int = 0) -> Edit:
    def edit(case: Case) -> None:
        case.select_key(first(case), index, frame)
        case.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))

    return edit


def then(*edits: Edit) -> Edit:
    def edit(case: Case) -> None:
        for each in edits:
            each(case)

    return edit


def script(*, at: float, frames: float = 0.0, amount: float = 0.0) -> Edit:
    return lambda case: case.set_point(first(case), 0, at, frames, amount)


def in_view(work: Callable[[Case], object], *, at: float, auto_key: bool = False) -> Edit:
    """Edit in the 3D viewport, after setting the same new pose for both."""

    def edit(case: Case) -> None:
        scene = scene_now()
        scene.frame_set(int(at))

        def pose(obj: Any) -> None:
            for owner in obj.pose.bones if case.mode == "BONES" else [obj]:
                owner.location = (3.0, 1.0, -2.0)
                if owner.rotation_mode == "QUATERNION":
                    owner.rotation_quaternion = (0.7, 0.2, 0.3, 0.5)
                else:
                    owner.rotation_euler = (0.7, 0.2, 0.3)

        case.on_both(pose)
        scene.tool_settings.use_keyframe_insert_auto = auto_key
        try:
            with editor("VIEW_3D"):
                work(case)
        finally:
            scene.tool_settings.use_keyframe_insert_auto = False

    return edit


def insert_by_name(case: Case) -> None:
    if case.mode == "BONES":
        for owner in (case.live, case.plain):
            for bone in owner.pose.bones:
                bone.keyframe_insert("location")
    else:
        bpy.ops.anim.keyframe_insert_by_name(type="Location")


def pose_tool(tool: str, at: float, **how: Any) -> Edit:
    """Run a pose tool with Auto Key: the keys that it leaves at the frame are the animator's."""

    def edit(case: Case) -> None:
        scene = scene_now()
        scene.frame_set(int(at))
        scene.tool_settings.use_keyframe_insert_auto = True
        before = {name: fcurve.evaluate(at) for name, fcurve in channels(case.live).items()}
        try:
            with case._alone("Live"), editor("VIEW_3D"):
                getattr(bpy.ops.pose, tool)(**how)
        finally:
            scene.tool_settings.use_keyframe_insert_auto = False
        case.inserted = True
        for name, fcurve in channels(case.live).items():
            own = co(fcurve)[own_points(fcurve), 0]
            # Keying the same value over a generated key leaves no trace.
            if (abs(own - at) < 0.01).any() or abs(fcurve.evaluate(at) - before[name]) > 1e-4:
                key(case.plain, name[0], [(at, [fcurve.evaluate(at)] * 4)], channels=[name[1]])

    return edit


def paste_pose(at: float, *, flipped: bool) -> Edit:
    """Copy the pose of an own key, and paste it elsewhere with Auto Key."""

    def edit(case: Case) -> None:
        scene = scene_now()
        for name in ("Live", "Plain"):
            with case._alone(name), editor("VIEW_3D"):
                scene.frame_set(25)
                bpy.ops.pose.copy()
                scene.frame_set(int(at))
                scene.tool_settings.use_keyframe_insert_auto = True
                try:
                    bpy.ops.pose.paste(flipped=flipped)
                finally:
                    scene.tool_settings.use_keyframe_insert_auto = False

    return edit


def to_deltas(_case: Case) -> None:
    bpy.ops.object.anim_transforms_to_deltas()


def rename_bone(case: Case) -> None:
    def work(obj: Any) -> None:
        obj.data.bones["Arm.L"].name = "Upper.L"

    case.on_both(work)


def tweaked(edit: Edit, start: int = 0) -> Edit:
    """Do the edit in tweak mode of a strip that begins at a frame."""

    def work(case: Case) -> None:
        def push_down(obj: Any) -> None:
            data = obj.animation_data
            held = data.action
            slot = data.action_slot if HAS_SLOTS else None
            data.action = None
            track = data.nla_tracks.new()
            strip = track.strips.new("Strip", start, held)
            if HAS_SLOTS:
                strip.action_slot = slot
            data.nla_tracks.active = track
            strip.select = track.select = True
            data.use_tweak_mode = True

        case.on_both(push_down)
        edit(case)

    return work


def copied_action(case: Case) -> None:
    """Assign a copy of its action to each."""

    def work(obj: Any) -> None:
        data = obj.animation_data
        data.action = data.action.copy()
        if HAS_SLOTS:
            data.action_slot = data.action.slots[0]

    case.on_both(work)


def reopened(_case: Case) -> None:
    """Save the file and open it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "saved.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)


def undone(edit: Edit) -> Edit:
    """Do the edit and undo it."""

    def work(case: Case) -> None:
        bpy.ops.ed.undo_push(message="Before")
        edit(case)
        bpy.ops.ed.undo_push(message="Edit")
        bpy.ops.ed.undo()

    return work


def unused_handles(case: Case) -> None:
    """Drag a handle by a script."""

    def work(obj: Any) -> None:
        point = min(channels(obj)[first(case), 0].keyframe_points, key=lambda each: float(abs(each.co.x - 10)))
        point.handle_right = (point.co.x + 1.0, point.co.y + 2.0)

    case.on_both(work)


def retype(case: Case) -> None:
    """Change the type of a generated key."""
    path, frame = first(case), generated(case)
    case.select_key(path, 0, frame)
    case.do_in("DOPESHEET", lambda: bpy.ops.action.keyframe_type(type="EXTREME"))
    case.give_twin(path, 0, frame, "EXTREME")


def drag_generated(case: Case) -> None:
    path, frame = first(case), generated(case)
    case.select_key(path, 0, frame)
    case.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(0.0, 0.5, 0.0)))
    case.give_twin(path, 0, frame)


def generated(case: Case) -> float:
    """Return the frame of a generated key of the baked location."""
    at = co(channels(case.live)[first(case), 0])[:, 0]
    return float(next(frame for frame in at if 12 < frame < 24))


def move_generated(case: Case) -> None:
    case.select_at(generated(case))
    case.snaps = False
    case.do_in("DOPESHEET", lambda: transform("TIME_TRANSLATE", 0.3))


def generated_onto_own(case: Case) -> None:
    frame = generated(case)
    case.select_at(frame)
    case.snaps = False
    case.do_in("DOPESHEET", lambda: transform("TIME_TRANSLATE", 25 - frame))


def delete_generated(case: Case) -> None:
    own = case.frames()
    near = np.asarray(own, dtype=np.float32)
    case._select(lambda _fcurve, at: np.abs(at[:, None] - near).min(axis=1, initial=99.0) > 0.1)
    case.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))


def delete_channels(name: str) -> Edit:
    return lambda case: case.delete_channels(lambda channel: channel[0].startswith(name))


def muted(case: Case) -> None:
    def work(obj: Any) -> None:
        for fcurve in rows(obj):
            fcurve.mute = True

    case.on_both(work)


def delete_at(at: float) -> Edit:
    def edit(case: Case) -> None:
        def work(obj: Any) -> None:
            owner = obj.pose.bones["Arm.L"] if case.mode == "BONES" else obj
            owner.keyframe_delete("location", frame=at)

        case.on_both(work)

    return edit


def key_menu_delete(case: Case) -> None:
    scene_now().frame_set(25)
    with editor("VIEW_3D"):
        bpy.ops.anim.keyframe_delete_v3d()


def slid(case: Case) -> None:
    case.on_both(lambda obj: case.animation.key_set(obj, first(case), 25, tension=-0.7))


def set_velocity_free(case: Case) -> None:
    """Set parameters of a key that was just made."""
    case.on_both(lambda obj: case.animation.key_set(obj, first(case), 15, tension=1.0, bias=-0.5))


def delete_beside_a_plain_one(case: Case) -> None:
    """Delete a bone's channels; another bone is keyed at the same frames, and is not TCB."""
    other = 'pose.bones["Arm.R"]'
    case.on_both(lambda obj: case.animation.remove(obj, [other]) and None)
    # Remove has switched Live off.
    case.live.animation_data.action.tcb_live = case.setting.live
    case.untouched = [name for name in channels(case.plain) if name[0].startswith(other)]
    case.delete_channels(lambda channel: channel[0].startswith('pose.bones["Arm.L"]'))


def _of_all(group: str, name: str, how: dict[str, Any], edit: Edit) -> Row:
    """Make a row for an operator that is run on all keys."""
    kind = str(how.get("type", ""))
    # A mirror over the time axis negates values.
    reverses = name == "mirror" and kind != "XAXIS"
    return Row(group, f"{name} {kind}".strip() + ", all selected", edit, reverses=reverses)


NAMED = (
    Row("Dope Sheet", "delete one bone's channels beside a plain one's", delete_beside_a_plain_one, BONES),
    Row("Two edits", "paste all flipped, then move", then(paste(30, flipped=True), dope("TIME_TRANSLATE", 2, 30))),
    Row(
        "Two edits",
        "move a column, then key 1 more over generated keys",
        then(dope("TIME_TRANSLATE", 2, 10), key_more(1.0, 18, 19)),
    ),
    Row("Two edits", "move a column, then drag a value", then(dope("TIME_TRANSLATE", 2, 10), drag_one(25, 0.5))),
    Row("Two edits", "drag a value, then move its column", then(drag_one(10, 0.5), dope("TIME_TRANSLATE", 2, 10))),
    Row("Two edits", "move a column, then key over a generated key", then(dope("TIME_TRANSLATE", 2, 10), key_over(18))),
    Row("Two edits", "move a column, then key where it stood", then(dope("TIME_TRANSLATE", 2, 10), key_over(10))),
    Row(
        "Two edits",
        "delete a key of one channel, then move its column",
        then(delete_row(25), dope("TIME_TRANSLATE", 3, 25)),
    ),
    Row("Two edits", "paste flipped, then move", then(paste(30, 10, flipped=True), dope("TIME_TRANSLATE", 2, 30))),
    Row("3D viewport", "key the opposite value over a generated key", key_opposite(15)),
    Row("3D viewport", "key the opposite value of one channel", key_opposite(15, 1)),
    Row("Scripts", "key 1 more over many generated keys", key_more(1.0, *range(27, 39))),
    Row("Dope Sheet", "bake_keys, all selected", bulk("action", "bake_keys", {})),
    Row("Dope Sheet", "delete one bone's channels beside another's", delete_channels('pose.bones["Arm.L"]'), BONES),
    Row("3D viewport", "Animated Transforms to Deltas", to_deltas, OBJECTS),
    Row("Scripts", "move a key back onto a generated one", script(at=10, frames=-5)),
    Row(
        "Scripts",
        "move a key on onto a generated one",
        script(at=10, frames=5),
        known="Of two keys at a frame Blender keeps the later one, the generated key: the own one is gone.",
    ),
    Row("Dope Sheet", "scale all by 0.3, snapping", dope("TIME_SCALE", 0.3), merges=True),
)
"""Edits that lost something in an earlier version, which recognized keys by type and value."""
ROWS = (
    Row("Dope Sheet", "move all", dope("TIME_TRANSLATE", 7)),
    Row("Dope Sheet", "move all by a fraction", dope("TIME_TRANSLATE", 0.4, snap=False)),
    Row("Dope Sheet", "move a column", dope("TIME_TRANSLATE", 3, 10)),
    Row("Dope Sheet", "move a column past another", dope("TIME_TRANSLATE", 18, 10)),
    Row("Dope Sheet", "move a column onto another", dope("TIME_TRANSLATE", 15, 10)),
    Row("Dope Sheet", "move the last column out", dope("TIME_TRANSLATE", 20, 44)),
    Row("Dope Sheet", "scale all by 2", dope("TIME_SCALE", 2.0)),
    Row("Dope Sheet", "scale all by 0.5, snapping", dope("TIME_SCALE", 0.5), merges=True),
    Row("Dope Sheet", "scale all by 0.7, not snapping", dope("TIME_SCALE", 0.7, snap=False)),
    Row("Dope Sheet", "scale all by -1", dope("TIME_SCALE", -1.0), reverses=True),
    Row("Dope Sheet", "mirror over the current frame", action("mirror", at=20, type="CFRA"), reverses=True),
    Row("Dope Sheet", "slide in time", dope("TIME_SLIDE", 0.5, 10, 25)),
    Row("Dope Sheet", "duplicate a column", duplicate(4, 10)),
    Row("Dope Sheet", "duplicate all, behind", duplicate(60)),
    Row("Dope Sheet", "duplicate all, among", duplicate(9)),
    Row("Dope Sheet", "delete a column", action("delete", 25, confirm=False)),
    Row("Dope Sheet", "delete all but one column", action("delete", 0, 10, 40, 44, confirm=False)),
    Row("Dope Sheet", "delete a key of one channel", delete_row(25)),
    Row("Dope Sheet", "delete everything", action("delete", confirm=False)),
    Row("Dope Sheet", "copy and paste a column", paste(33, 25)),
    Row("Dope Sheet", "paste all over the middle", paste(20, merge="OVER_RANGE_ALL")),
    Row("Dope Sheet", "paste flipped", paste(30, 10, flipped=True)),
    Row("Dope Sheet", "snap all to frames", action("snap", type="NEAREST_FRAME")),
    Row("Dope Sheet", "key type of a column", action("keyframe_type", 25, type="EXTREME")),
    Row("Dope Sheet", "T: a column constant", action("interpolation_type", 10, type="CONSTANT")),
    Row("Dope Sheet", "T: a column linear", action("interpolation_type", 10, type="LINEAR")),
    Row("Dope Sheet", "easing of a column", action("easing_type", 40, type="EASE_IN")),
    Row("Dope Sheet", "V: handles of a column", action("handle_type", 25, type="VECTOR")),
    Row("Dope Sheet", "extrapolation", action("extrapolation_type", type="LINEAR")),
    Row("Dope Sheet", "make cyclic", action("extrapolation_type", type="MAKE_CYCLIC")),
    Row("Dope Sheet", "delete a track's channels", delete_channels("location"), OBJECTS),
    Row("Dope Sheet", "move a generated column", move_generated),
    Row("Dope Sheet", "move a generated column onto an own one", generated_onto_own),
    Row("Dope Sheet", "delete all generated keys", delete_generated),
    Row("Dope Sheet", "key type of a generated key", retype),
    Row("Graph Editor", "drag one value", drag_one(10, 0.5)),
    Row("Graph Editor", "drag a column's values", drag(0.0, 0.5, 25)),
    Row("Graph Editor", "drag a column in time and value", drag(3.0, -1.0, 10)),
    Row("Graph Editor", "drag everything up", drag(0.0, 2.0)),
    Row("Graph Editor", "drag everything in time", drag(5.0, 0.0)),
    Row("Graph Editor", "scale a column's values", scale_values(2.0, 25)),
    Row("Graph Editor", "scale all values", scale_values(0.5)),
    Row("Graph Editor", "turn all values over", scale_values(-1.0)),
    Row("Graph Editor", "drag a generated key's value", drag_generated),
    Row("Graph Editor", "copy and paste", graph_paste(33, 10, 25)),
    Row("Graph Editor", "mute channels", muted),
    *(_of_all("Graph Editor", name, how, edit) for name, how in GRAPH_OPERATORS for edit in [bulk("graph", name, how)]),
    Row("Graph Editor", "smooth, a column", bulk("graph", "smooth", {}, 25)),
    Row("Graph Editor", "breakdown, a column", bulk("graph", "breakdown", {"factor": 0.3}, 25)),
    *(
        _of_all("Dope Sheet", name, how, edit)
        for name, how in ACTION_OPERATORS
        if name != "bake_keys"
        for edit in [bulk("action", name, how)]
    ),
    Row("3D viewport", "I over a generated key", key_over(15)),
    Row("3D viewport", "I over a generated key, one channel", key_over(15, 1)),
    Row("3D viewport", "I over an own key", key_over(25)),
    Row("3D viewport", "I beyond the keys", key_over(60)),
    Row("3D viewport", "I on a rotation", key_rotation(15)),
    Row(
        "3D viewport",
        "I with the value that is there",
        key_same(15),
        known="Blender leaves no trace on a generated key that is keyed with its own value: Make Key does that.",
    ),
    Row("3D viewport", "key a menu's Location", in_view(insert_by_name, at=15)),
    Row(
        "3D viewport",
        "move with Auto Key",
        in_view(lambda _: bpy.ops.transform.translate(value=(1.0, 0.0, 0.0)), at=15, auto_key=True),
        since=(4, 4),
    ),
    Row(
        "3D viewport",
        "rotate with Auto Key",
        in_view(lambda _: bpy.ops.transform.rotate(value=0.5, orient_axis="Z"), at=15, auto_key=True),
        since=(4, 4),
    ),
    Row("3D viewport", "Alt+I over an own key", key_menu_delete),
    Row("3D viewport", "delete a key by a property's menu", delete_at(25)),
    Row("Pose tools", "paste pose", paste_pose(17, flipped=False), BONES),
    Row("Pose tools", "paste pose flipped", paste_pose(17, flipped=True), BONES),
    Row("Pose tools", "breakdown", pose_tool("breakdown", 17, prev_frame=10, next_frame=25), BONES),
    Row("Pose tools", "push", pose_tool("push", 17, prev_frame=10, next_frame=25), BONES),
    Row("Pose tools", "relax", pose_tool("relax", 17, prev_frame=10, next_frame=25), BONES),
    Row("Pose tools", "blend with rest", pose_tool("blend_with_rest", 17, factor=0.5), BONES),
    Row("Pose tools", "clear rotation", pose_tool("rot_clear", 17), BONES),
    Row("Pose tools", "rename a bone", rename_bone, BONES),
    Row("Pose tools", "rename a bone, then move a column", then(rename_bone, dope("TIME_TRANSLATE", 3, 10)), BONES),
    Row("NLA", "move a column in tweak mode", tweaked(dope("TIME_TRANSLATE", 3, 10)), OBJECTS),
    Row("NLA", "drag a value in tweak mode", tweaked(drag_one(10, 0.5)), OBJECTS),
    Row("NLA", "move a column of a strip at 30", tweaked(dope("TIME_TRANSLATE", 3, 40), 30), OBJECTS),
    Row("Scripts", "set a value", script(at=10, amount=1.5)),
    Row("Scripts", "move a key between generated ones", script(at=10, frames=2.5)),
    Row("Scripts", "shift all keys in bulk", lambda case: case.shift(5.0, 0.0)),
    Row("Scripts", "shift all values in bulk", lambda case: case.shift(0.0, 1.5)),
    Row("Scripts", "remove a key", lambda case: case.remove_point(first(case), 0, 25.0)),
    Row("Scripts", "drag a handle", unused_handles),
    Row("Scripts", "set parameters", slid),
    Row("Scripts", "key, then set its parameters", then(key_over(15), set_velocity_free)),
    Row("Scripts", "copy the action, then move a column", then(copied_action, dope("TIME_TRANSLATE", 3, 10))),
    Row("Files", "save and open, then move a column", then(reopened, dope("TIME_TRANSLATE", 3, 10)), OBJECTS),
    Row("Files", "move a column, then undo", undone(dope("TIME_TRANSLATE", 3, 10)), OBJECTS, undone=True),
    *NAMED,
)


def run_row(stage: Stage, row: Row, mode: str, output: str, live: bool) -> dict[str, Any]:
    """Make one edit in one scene; return its verdict, differences and notes."""
    # A track played by handles has no generated keys.
    if bpy.app.version < row.since or (output == "handles" and "generated" in row.name and row.group != "Scripts"):
        return {"verdict": "idle", "texts": [], "notes": []}
    case = Case(stage, Setting(mode, output, live))
    before, state = _count(case), _state(case)
    try:
        with quietly():
            row.edit(case)
        idle = _state(case) == state and not row.undone
        case.merged = row.merges and _count(case) < before
        case.reversed = row.reverses
        # New keys take their interpolation from the keys before them.
        case.inserted |= _count(case) > before and row.group not in ("Dope Sheet", "Graph Editor")
        verdict = case.judge()
    except Exception as error:
        text = str(error).strip().splitlines()
        return {"verdict": "error", "texts": [f"{type(error).__name__}: {text[0] if text else ''}"], "notes": []}
    worst = "idle" if idle and verdict.worst == "kept" else verdict.worst
    return {"verdict": worst, "texts": verdict.texts, "notes": verdict.notes}


def _state(case: Case) -> Any:
    """Return something that differs after any edit of keys."""
    # Bits of all own keys, and all keys of the baked object.
    state: list[Any] = []
    for obj in case.twins:
        data = obj.animation_data
        state += [data.action is not None and data.action.name, data.use_tweak_mode]
        for name, fcurve in channels(obj).items():
            handles = np.empty((2, 2 * len(fcurve.keyframe_points)), dtype=np.float32)
            for side, values in zip(("handle_left", "handle_right"), handles, strict=True):
                fcurve.keyframe_points.foreach_get(side, values)
            state += [name, co(fcurve).tobytes(), handles.tobytes(), fcurve.extrapolation, fcurve.mute]
            state += [len(fcurve.modifiers)]
    own = Own.of(case.animation, case.plain)
    return state, own.kinds, {path: numbers.tobytes() for path, (_, numbers) in own.parameters.items()}


def _count(case: Case) -> int:
    return sum(len(fcurve.keyframe_points) for fcurve in channels(case.plain).values())


def run(animation: Any, only: str = "") -> list[dict[str, Any]]:
    """Run all rows; for each cell return the worst of its scenes."""
    stage = Stage(animation)
    order = ("error", *KINDS, "kept", "idle")
    result = []
    for row in sorted(ROWS, key=lambda row: GROUPS.index(row.group)):
        if only not in row.name:
            continue
        cells = {}
        for name, (output, live) in CELLS.items():
            found = [{"mode": mode, **run_row(stage, row, mode, output, live)} for mode in row.modes]
            cells[name] = min(found, key=lambda each: order.index(each["verdict"]))
        result.append({"group": row.group, "name": row.name, "known": row.known, "cells": cells})
    return result


GROUPS = ("Dope Sheet", "Graph Editor", "3D viewport", "Pose tools", "NLA", "Scripts", "Files", "Two edits")
HEAD = """# Edits of what is baked

What becomes of your own keys when you edit an animation that is baked, or that handles play: each kind of edit, with
each output, *live* or *baked again* afterwards. Each is done to an object that is baked, and to a twin with the same
keys that is not; then frames, values and parameters of both must be the same, but for a mirror in time, which negates
bias and swaps eases. Where a tool makes of a key what the curve beside it is, what the tool left own keys at must stay.
`python tools/edits.py table --output docs/edits.md` makes this page.
"""
WHERE = """What is not *kept* stands below each table, with the reason. The rules are in
[storage.md](storage.md#what-is-never-lost).
"""
LEGEND = """## Words

| | |
|---|---|
| **lost** | own keys are missing or have other values |
| **new keys** | keys that nobody made |
| **parameters** | tension, continuity, bias or ease are others |
| (known) | no program can tell |
| *interpolation* | interpolation, easing or key type are others |
| *whole key* | where one channel of a rotation was keyed, all have a key |
| *kept in doubt* | keys that may have been keyed by hand are kept, and a note says so |
| *refused* | nothing is baked, and the reason is said |
| *noted* | the report has a note on it |
| - | this Blender has no such edit, or it does nothing to keys |
"""


def is_bad(row: Mapping[str, Any]) -> bool:
    """Return whether something is lost that could be kept."""
    return not row["known"] and any(cell["verdict"] in BAD for cell in row["cells"].values())


def markdown(found: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return the tables of each Blender version, the newest first."""
    newest_first = sorted(found, key=lambda version: [int(part) for part in version.split(".")[:2]], reverse=True)
    verdicts = [
        f"- Blender {version}: {len(found[version])} kinds of edits; with {sum(map(is_bad, found[version]))} of them "
        "something is lost or new that is not (known)."
        for version in newest_first
    ]
    tables = [line for version in newest_first for line in _section(version, found[version])]
    return "\n".join([HEAD, *verdicts, "", WHERE, *tables, LEGEND])


def _section(version: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield f"## Blender {version}\n"
    yield f"| edit | {' | '.join(CELLS)} |"
    yield "|---" * (1 + len(CELLS)) + "|"
    group = ""
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            yield f"| **{group}** |" + " |" * len(CELLS)
        yield f"| {row['name']} | {' | '.join(_word(row, row['cells'][name]) for name in CELLS)} |"
    yield ""
    for row in rows:
        cells = [cell for cell in row["cells"].values() if cell["verdict"] not in ("kept", "idle")]
        if cells:
            cell = cells[0]
            more = f", and {len(cell['texts']) - 1} more" if len(cell["texts"]) > 1 else ""
            told = f" It says: {cell['notes'][0]}" if cell["notes"] else ""
            known = f" {row['known']}" if row["known"] else ""
            yield f"- {row['group']}, {row['name']}: {cell['mode']}, {cell['texts'][0]}{more}.{known}{told}"
    yield ""


def _word(row: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    verdict = cell["verdict"]
    word = WORDS[verdict]
    if verdict in ("kept", "idle"):
        return word
    known = " (known)" if row["known"] and verdict in BAD else ""
    return word + known + (", noted" if cell["notes"] else "")
