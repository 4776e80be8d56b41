# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits, each done to what is live and to a twin that is not baked.

The result of some edits depends on what the curve is between its keys, so the twin's is another: after these it is made
anew from the live object's keys.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import bpy

from interp.methods import METHODS
from tests.animation.curves import HAS_SLOTS, co, fcurves, is_companion, key, new_object, rotation_path
from tests.animation.test_edits import editor

Alike = Literal["ALL", "KEYS", "NONE"]
ALL: Alike = "ALL"
KEYS: Alike = "KEYS"
"""Their frames and values, not their handles, which a bake has placed."""
NONE: Alike = "NONE"
FRAMES = (0.0, 10.0, 25.0, 40.0, 44.0)
TYPES = ("KEYFRAME", "EXTREME", "BREAKDOWN", "JITTER", "MOVING_HOLD")
INTERPOLATIONS = ("CONSTANT", "LINEAR", "BEZIER", "BACK", "SINE")
HANDLES = ("FREE", "ALIGNED", "VECTOR", "AUTO", "AUTO_CLAMPED")
PARAMETERS = {"tension": -1.0, "continuity": -1.0, "bias": -1.0, "ease_to": 0.0, "ease_from": 0.0}
MOST = 12
"""Keys of a channel: above it some are deleted."""
FARTHEST = 300.0
"""Frames: a walk that went farther off comes back."""


def rows(thing: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The animator's F-curves."""
    return [fcurve for fcurve in fcurves(thing) if not is_companion(fcurve)]


def mark_selected(point: bpy.types.Keyframe, chosen: bool) -> None:
    point.select_control_point = point.select_left_handle = point.select_right_handle = chosen


@dataclass
class Walk:
    """What is live, its twin, and the dice.

    `mode`: a rotation mode of objects, or BONES: of an armature with two bones that mirror each other.
    """

    animation: Any
    mode: str
    seed: int
    options: dict[str, Any]
    dice: random.Random = field(init=False)
    story: list[str] = field(default_factory=list)
    """The edits so far."""

    def __post_init__(self) -> None:
        self.start_again(self.seed)

    def start_again(self, seed: int) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        self.dice = random.Random(seed)
        for name in ("Live", "Plain", "Other Live", "Other Plain"):
            self._make(name, random.Random(3 + name.startswith("Other")))
        for name in ("Live", "Other Live"):
            self.animation.bake(bpy.data.objects[name], **self.options)
            bpy.data.objects[name].animation_data.action.tcb_live = True
        self._show("Live", "Plain")
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.tcb.sync()

    @property
    def live(self) -> bpy.types.Object:
        return bpy.data.objects["Live"]

    @property
    def plain(self) -> bpy.types.Object:
        return bpy.data.objects["Plain"]

    @property
    def twins(self) -> tuple[bpy.types.Object, bpy.types.Object]:
        return self.live, self.plain

    def _make(self, name: str, dice: random.Random) -> None:
        thing = self._armature(name) if self.mode == "BONES" else new_object(name, self.mode)
        for path in self._paths():
            width = len(thing.path_resolve(path))
            key(thing, path, [(f, [dice.uniform(-2, 2) for _ in range(width)]) for f in FRAMES], group="Transform")
        for fcurve in fcurves(thing):
            points = fcurve.keyframe_points
            points[1].interpolation = "BACK"
            points[2].handle_left_type = points[2].handle_right_type = "ALIGNED"
            fcurve.update()
        self.animation.enable(thing)
        for path in self._paths():
            self.animation.key_set(thing, path, 10, tension=0.5, bias=0.25, ease_from=0.1)
            self.animation.key_set(thing, path, 25, continuity=-0.5, ease_to=0.4)

    def _paths(self) -> list[str]:
        if self.mode != "BONES":
            return ["location", rotation_path(self.mode)]
        bones = [f'pose.bones["Arm.{side}"]' for side in "LR"]
        return [f"{bone}.{name}" for bone in bones for name in ("location", "rotation_quaternion")]

    def _armature(self, name: str) -> bpy.types.Object:
        thing = bpy.data.objects.new(name, bpy.data.armatures.new(name))
        bpy.context.scene.collection.objects.link(thing)
        bpy.context.view_layer.objects.active = thing
        bpy.ops.object.mode_set(mode="EDIT")
        for side in "LR":
            bone = thing.data.edit_bones.new(f"Arm.{side}")
            bone.head, bone.tail = (0, 0, 0), (1, 0, 0)
        bpy.ops.object.mode_set(mode="OBJECT")
        for bone in thing.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = True
        return thing

    def _show(self, *names: str) -> None:
        """Let the editors show these objects only."""
        linked = bpy.context.scene.collection.objects
        for name in ("Live", "Plain", "Other Live", "Other Plain"):
            thing = bpy.data.objects[name]
            if name in linked and name not in names:
                linked.unlink(thing)
            elif name not in linked and name in names:
                linked.link(thing)
            if name in names:
                thing.select_set(True)
                bpy.context.view_layer.objects.active = thing

    @contextmanager
    def _alone(self, name: str) -> Iterator[bpy.types.Object]:
        """4.2 pastes one object's keys into all that have the same paths."""
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="OBJECT")
        self._show(name)
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="POSE")
        yield bpy.data.objects[name]
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="OBJECT")
        self._show("Live", "Plain")
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="POSE")

    def follow(self, whole: bpy.types.Object) -> None:
        """Give the twin the keys of another object that is not baked."""
        data = self.plain.animation_data
        old, data.action = data.action, whole.animation_data.action.copy()
        if HAS_SLOTS:
            data.action_slot = data.action.slots[0]
        bpy.data.actions.remove(old)

    # Where keys are, and what of them is selected: always the same of both.

    def frames(self) -> list[float]:
        return sorted({float(x) for fcurve in rows(self.plain) for x in co(fcurve)[:, 0]})

    def _full_columns(self, path: str) -> list[float]:
        """Frames at which every channel of the track has a key."""
        sets = [set(co(fcurve)[:, 0].tolist()) for fcurve in rows(self.plain) if fcurve.data_path == path]
        return sorted(set.intersection(*sets)) if sets else []

    def _select(self, chosen: Callable[[bpy.types.FCurve, float], bool]) -> None:
        for thing in self.twins:
            for fcurve in fcurves(thing):
                for point in fcurve.keyframe_points:
                    mark_selected(point, chosen(fcurve, point.co.x))

    def all(self) -> str:
        self._select(lambda _fcurve, _frame: True)
        return "all"

    def columns(self) -> str:
        """What clicking diamonds of the summary selects."""
        frames = self.frames()
        chosen = self.dice.sample(frames, min(len(frames) - 1, self.dice.choice((1, 1, 1, 2, 3))))
        self._select(lambda _fcurve, frame: any(abs(frame - each) < 0.005 for each in chosen))
        return f"columns {', '.join(f'{frame:g}' for frame in chosen)}"

    def box(self) -> str:
        """What a box drawn over the summary selects: generated keys too."""
        low = self.dice.choice(self.frames()) - self.dice.uniform(0, 12)
        high = low + self.dice.uniform(0, 30)
        self._select(lambda _fcurve, frame: low <= frame <= high)
        return f"box {low:g} to {high:g}"

    def whole_columns(self) -> str:
        """Columns at which every channel has a key; where there is none, a key of one channel."""
        shared = sorted(set.intersection(*(set(self._full_columns(path)) for path in self._paths())))
        if not shared:
            return self.row()
        at = self.dice.choice(shared)
        self._select(lambda _fcurve, frame: abs(frame - at) < 0.005)
        return f"column {at:g}"

    def pasted_columns(self) -> str:
        """Columns with keys of several channels: copied from one channel alone, Blender pastes keys into all."""
        said = self.columns()
        chosen = [f for f in rows(self.plain) if any(point.select_control_point for point in f.keyframe_points)]
        return said if len(chosen) > 1 else self.all()

    def row(self) -> str:
        """A key of one channel, without its record and its parameters."""
        fcurve = self.dice.choice(rows(self.plain))
        at = self.dice.choice(co(fcurve)[:, 0].tolist())
        name = (fcurve.data_path, fcurve.array_index)
        self._select(lambda f, frame: (f.data_path, f.array_index) == name and abs(frame - at) < 0.005)
        return f"{name[0]}[{name[1]}] at {at:g}"

    def graph(self) -> str:
        """Keys of the twin's in the Graph Editor, where companions are hidden."""
        frames = self.frames()
        chosen = self.dice.sample(frames, min(len(frames), self.dice.choice((1, 1, 2, len(frames)))))
        keys = {(f.data_path, f.array_index): co(f)[:, 0].tolist() for f in rows(self.plain)}
        at = {name: [frame for frame in own if frame in chosen] for name, own in keys.items()}
        self._select(lambda f, frame: any(abs(frame - x) < 0.005 for x in at.get((f.data_path, f.array_index), ())))
        return f"in the Graph Editor {', '.join(f'{frame:g}' for frame in chosen)}"

    # Edits. Each tells what it did, and whether the twin must come to the same keys.

    def step(self) -> Alike:
        """Do one edit to both; what of them must be alike after it."""
        n = max((len(fcurve.keyframe_points) for fcurve in rows(self.plain)), default=0)
        frames = self.frames()
        if n > MOST:
            edit: Callable[[], tuple[str, Alike]] = self.thin_out
        elif n < 3:
            edit = self.key_pose
        elif max(map(abs, frames)) > FARTHEST or frames[-1] - frames[0] < 8:
            edit = self.come_back
        else:
            edits, weights = zip(*EDITS, strict=True)
            edit = getattr(self, self.dice.choices(edits, weights)[0])
        passes_by = any(map(self._passes_by_keys, self._paths()))
        said, same = edit()
        self.story.append(said)
        return OF_VALUES.get(edit.__name__, same) if passes_by else same

    def _passes_by_keys(self, path: str) -> bool:
        try:
            track = self.animation.find_track(self.live, path)
        except self.animation.Refusal:
            # Its last key was deleted, and with it its F-curves.
            return False
        method = METHODS[track.settings.method]
        return (method.rotations if track.is_rotation else method.values).meets_keys is False

    def _where(self, *kinds: str) -> str:
        return getattr(self, self.dice.choice(kinds))()

    def _do(self, ui_type: str, operator: Callable[[], object]) -> None:
        bpy.context.scene.tool_settings.use_snap_anim = self.snaps
        with editor(ui_type):
            if ui_type == "FCURVES":
                # Other pivots depend on handles, which a bake has placed.
                bpy.context.space_data.pivot_point = "CURSOR"
            operator()

    snaps = True

    def come_back(self) -> tuple[str, Alike]:
        frames = self.frames()
        said = self.all()
        width = frames[-1] - frames[0]
        factor = 40 / width
        self.snaps = False
        bpy.context.scene.frame_set(0)
        self._do("DOPESHEET", lambda: bpy.ops.transform.transform(mode="TIME_SCALE", value=(factor, 0, 0, 0)))
        self.select_same()
        self._do(
            "DOPESHEET",
            lambda: bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(-self.frames()[0], 0, 0, 0)),
        )
        self._do("DOPESHEET", lambda: bpy.ops.action.snap(type="NEAREST_FRAME"))
        self.snaps = True
        return f"{said}: back to the start", NONE

    def select_same(self) -> None:
        self._select(lambda _fcurve, _frame: True)

    def move(self) -> tuple[str, Alike]:
        where = self._where("all", "columns", "columns", "columns", "box", "row")
        amount = self.dice.choice((1, 2, -3, 7, -12, 0.3, -0.5, 2.5))
        self.snaps = float(amount).is_integer()
        self._do("DOPESHEET", lambda: bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(amount, 0, 0, 0)))
        return f"{where}: moved by {amount}", ALL

    def scale(self) -> tuple[str, Alike]:
        where = self._where("all", "columns", "box")
        factor = self.dice.choice((0.5, 0.7, 0.9, 1.3, 1.5, 2.0, -1.0))
        self.snaps = self.dice.random() < 0.7
        self._do("DOPESHEET", lambda: bpy.ops.transform.transform(mode="TIME_SCALE", value=(factor, 0, 0, 0)))
        return f"{where}: scaled by {factor}{'' if self.snaps else ', unsnapped'}", ALL

    def mirror(self) -> tuple[str, Alike]:
        where = self._where("all", "columns")
        frame = self.dice.randint(0, 40)
        bpy.context.scene.frame_set(frame)
        self._do("DOPESHEET", lambda: bpy.ops.action.mirror(type="CFRA"))
        return f"{where}: mirrored at {frame}", ALL

    def snap(self) -> tuple[str, Alike]:
        # Of curves one generated key between frames may be all that a key of the animator's is averaged with: then
        # nothing is left that tells of it.
        where = self._where("all", "columns", *(() if "output" in self.options else ("box",)))
        self._do("DOPESHEET", lambda: bpy.ops.action.snap(type="NEAREST_FRAME"))
        return f"{where}: snapped", ALL

    def duplicate(self) -> tuple[str, Alike]:
        where = self._where("columns", "columns", "all")
        amount = self.dice.choice((4, 9, 33, 60, -60))
        self.snaps = True

        def operator() -> None:
            bpy.ops.action.duplicate()
            bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(amount, 0, 0, 0))

        self._do("DOPESHEET", operator)
        return f"{where}: duplicated, {amount} frames on", ALL

    def delete(self) -> tuple[str, Alike]:
        where = self._where("columns", "row")
        self._do("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"{where}: deleted", ALL

    def thin_out(self) -> tuple[str, Alike]:
        frames = self.frames()
        kept = set(self.dice.sample(frames, min(len(frames), 4)))
        self._select(lambda _fcurve, frame: any(abs(frame - each) < 0.005 for each in frames if each not in kept))
        self._do("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"deleted all but {sorted(kept)}", ALL

    def paste(self) -> tuple[str, Alike]:
        where = self._where("pasted_columns", "all")
        return self._paste(where, {"merge": self.dice.choice(("MIX", "OVER_ALL", "OVER_RANGE", "OVER_RANGE_ALL"))})

    def paste_flipped(self) -> tuple[str, Alike]:
        where = self._where("pasted_columns", "all")
        return self._paste(where, {"flipped": True})

    def _paste(
        self, where: str, how: dict[str, Any], sources: tuple[str, str] = ("Live", "Plain")
    ) -> tuple[str, Alike]:
        frame = self.dice.randint(-5, 60)
        for thing, source in zip(("Live", "Plain"), sources, strict=True):
            with self._alone(source), editor("DOPESHEET"):
                bpy.ops.action.copy()
            with self._alone(thing), editor("DOPESHEET"):
                bpy.context.scene.frame_set(frame)
                bpy.ops.action.paste(**how)
        return f"{where}: pasted at {frame} {how}", ALL

    def paste_from_another(self) -> tuple[str, Alike]:
        chosen = set(self.dice.sample(FRAMES, self.dice.choice((1, 2, 5))))
        everything = len(chosen) == len(FRAMES)
        for name in ("Other Live", "Other Plain"):
            for fcurve in fcurves(bpy.data.objects[name]):
                for point in fcurve.keyframe_points:
                    mark_selected(point, everything or point.co.x in chosen)
        return self._paste(f"of another {sorted(chosen)}", {}, ("Other Live", "Other Plain"))

    def set_kind(self) -> tuple[str, Alike]:
        where = self._where("whole_columns", "whole_columns", "row")
        name, values = self.dice.choice(
            (
                ("keyframe_type", TYPES),
                ("interpolation_type", INTERPOLATIONS),
                ("easing_type", ("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT")),
                ("handle_type", HANDLES),
            )
        )
        value = self.dice.choice(values)
        self._do("DOPESHEET", lambda: getattr(bpy.ops.action, name)(type=value))
        # Without its record, a key made linear is no other than the bake has left it; and Blender makes all handles of
        # a curve free that stand beside one of another type.
        alone = "[" in where and name in ("interpolation_type", "handle_type")
        return f"{where}: {name} {value}", KEYS if alone else ALL

    def extrapolate(self) -> tuple[str, Alike]:
        kind = self.dice.choice(("CONSTANT", "LINEAR"))
        self._do("DOPESHEET", lambda: bpy.ops.action.extrapolation_type(type=kind))
        # Blender places the end handles of records anew.
        return f"extrapolation {kind}", KEYS

    def key_pose(self) -> tuple[str, Alike]:
        """I, where nothing is keyed yet or over a key, generated or not."""
        frame = self.dice.choice((self.dice.randint(-5, 55), *self.frames()))
        path = self.dice.choice(self._paths())
        for thing in self.twins:
            dice = random.Random(len(self.story))
            owner = thing
            name = path
            if path.startswith("pose"):
                bone, _, name = path.rpartition(".")
                owner = thing.path_resolve(bone)
            setattr(owner, name, [dice.uniform(-2, 2) for _ in getattr(owner, name)])
            owner.keyframe_insert(name, frame=frame)
        return f"{path} keyed at {frame:g}", KEYS

    def set_value(self) -> tuple[str, Alike]:
        """A script that gives keys other values."""
        path = self.dice.choice(self._paths())
        index, amount = self.dice.randint(0, 2), self.dice.uniform(-1, 1)
        frames = [c for f in rows(self.plain) if (f.data_path, f.array_index) == (path, index) for c in co(f)[:, 0]]
        if not frames:
            return "nothing", ALL
        at = self.dice.choice(frames)
        for thing in self.twins:
            for fcurve in rows(thing):
                if (fcurve.data_path, fcurve.array_index) == (path, index):
                    point = min(fcurve.keyframe_points, key=lambda each: abs(each.co.x - at))
                    point.co_ui = (point.co.x, point.co.y + amount)
                    fcurve.update()
        return f"{path}[{index}] set at {at:g}", ALL

    def move_values(self) -> tuple[str, Alike]:
        where = self.graph()
        amount = (self.dice.choice((0.0, 2.0, -3.0)), self.dice.choice((0.5, -1.0)), 0.0)
        self.snaps = True
        self._do("FCURVES", lambda: bpy.ops.transform.translate(value=amount))
        return f"{where}: moved by {amount}", KEYS

    def scale_values(self) -> tuple[str, Alike]:
        where = self.graph()
        factor = self.dice.choice((0.5, 2.0))
        self._do("FCURVES", lambda: bpy.ops.transform.resize(value=(1.0, factor, 1.0)))
        return f"{where}: values scaled by {factor}", KEYS

    def graph_operator(self) -> tuple[str, Alike]:
        """Those that make of a key what its neighbours say, and some of these are generated."""
        where = self.columns() if self.dice.random() < 0.5 else self.all()
        name, how = self.dice.choice(GRAPH_OPERATORS)
        bpy.context.scene.frame_set(self.dice.randint(0, 40))

        def operator() -> None:
            run = getattr(bpy.ops.graph, name, None)
            if run is not None and run.poll():
                try:
                    run(**how)
                except RuntimeError as error:
                    assert "Error: " in str(error)  # noqa: PT017  it has nothing to do, and says so

        self._do("FCURVES", operator)
        return f"{where}: graph.{name} {how}", NONE

    def action_operator(self) -> tuple[str, Alike]:
        where = self._where("all", "columns", "box")
        name, how = self.dice.choice(ACTION_OPERATORS)
        bpy.context.scene.frame_set(self.dice.randint(0, 40))
        self._do("DOPESHEET", lambda: getattr(bpy.ops.action, name)(**how))
        return f"{where}: action.{name} {how}", NONE

    def slide(self) -> tuple[str, Alike]:
        """A slider of the sidebar."""
        path = self.dice.choice(self._paths())
        frames = self._full_columns(path)
        if not frames:
            return "nothing", ALL
        frame, name = self.dice.choice(frames), self.dice.choice(list(PARAMETERS))
        value = self.dice.uniform(PARAMETERS[name], 1.0)
        for thing in self.twins:
            self.animation.key_set(thing, path, frame, **{name: value})
        return f"{path} {name} {value:.2f} at {frame:g}", ALL

    def choose(self) -> tuple[str, Alike]:
        paths = [path for path in self._paths() if self._full_columns(path)]
        if not paths:
            return "nothing", ALL
        path = self.dice.choice(paths)
        kind = "rotations" if "rotation" in path else "values"
        methods = [name for name, method in METHODS.items() if getattr(method, kind)]
        choices = {"cycle": ("SINGLE", "REPEAT", "LOOP"), "ends": ("3DS", "TANGENT"), "method": methods}
        name = self.dice.choice([*choices, "method"])
        option = self.dice.choice(choices[name])
        for thing in self.twins:
            self.animation.choose(thing, path, **{name: option})
        return f"{path} {name} {option}", ALL

    def give_velocity(self) -> tuple[str, Alike]:
        path = self.dice.choice(self._paths())
        frames = self._full_columns(path)
        if not frames:
            return "nothing", ALL
        frame = self.dice.choice(frames)
        velocity = [self.dice.uniform(-0.2, 0.2) for _ in range(3)]
        for thing in self.twins:
            self.animation.key_set(thing, path, frame, velocity=velocity)
        return f"{path} velocity {velocity} at {frame:g}", ALL


EDITS = (
    ("move", 20),
    ("scale", 6),
    ("mirror", 3),
    ("snap", 3),
    ("duplicate", 5),
    ("delete", 8),
    ("paste", 5),
    ("paste_flipped", 3),
    ("paste_from_another", 4),
    ("set_kind", 8),
    ("extrapolate", 1),
    ("key_pose", 10),
    ("set_value", 6),
    ("move_values", 6),
    ("scale_values", 3),
    ("graph_operator", 6),
    ("action_operator", 5),
    ("slide", 8),
    ("choose", 6),
    ("give_velocity", 3),
)
OF_VALUES = {"key_pose": NONE, "scale_values": NONE, "set_value": KEYS}
"""What must be alike where a key is shown beside its own value: that is moved by as much, whatever moves the key."""
GRAPH_OPERATORS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("smooth", {}),
    ("clean", {"threshold": 0.001}),
    ("decimate", {"mode": "RATIO", "factor": 0.2}),
    ("euler_filter", {}),
    ("snap", {"type": "VALUE"}),
    ("snap", {"type": "NEAREST_FRAME"}),
    ("snap", {"type": "HORIZONTAL"}),
    ("mirror", {"type": "YAXIS"}),
    ("mirror", {"type": "XAXIS"}),
    ("equalize_handles", {"side": "BOTH", "handle_length": 3.0}),
    ("keyframe_insert", {"type": "SEL"}),
    ("interpolation_type", {"type": "LINEAR"}),
    ("handle_type", {"type": "AUTO"}),
    ("easing_type", {"type": "EASE_OUT"}),
    ("extrapolation_type", {"type": "LINEAR"}),
    ("duplicate", {}),
    ("breakdown", {"factor": 0.3}),
    ("blend_to_neighbor", {"factor": 0.3}),
    ("blend_to_default", {"factor": 0.3}),
    ("blend_to_ease", {"factor": 0.3}),
    ("blend_offset", {"factor": 0.3}),
    ("ease", {"factor": 0.3}),
    ("match_slope", {"factor": 0.3}),
    ("push_pull", {"factor": 1.3}),
    ("scale_average", {"factor": 1.3}),
    ("scale_from_neighbor", {"factor": 1.3}),
    ("shear", {"factor": 0.3}),
    ("time_offset", {"frame_offset": 2.0}),
    ("gaussian_smooth", {}),
    ("butterworth_smooth", {}),
    ("bake_keys", {}),
)
ACTION_OPERATORS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("clean", {"threshold": 0.001}),
    ("keyframe_insert", {"type": "ALL"}),
    ("keyframe_insert", {"type": "SEL"}),
    ("bake_keys", {}),
    ("snap", {"type": "CFRA"}),
    ("snap", {"type": "NEAREST_SECOND"}),
    ("mirror", {"type": "XAXIS"}),
    ("keyframe_type", {"type": "GENERATED"}),
)
