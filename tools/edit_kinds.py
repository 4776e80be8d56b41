# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of keys, each applied to a baked object and to its twin, which has the same keys and is not baked.

An edit selects own keys by the twin's, so both are edited alike. Where the result of an edit depends on the curve
between own keys it can't be alike: such an edit runs in `between`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from interp.splines import METHODS
from tests.animation.curves import co, fcurves, is_frame_function, key, new_object, rotation_path

Alike = Literal["ALL", "KEYS", "NONE"]
ALL: Alike = "ALL"
KEYS: Alike = "KEYS"
"""Compare frames and values of keys, not their handles, which a bake has placed."""
NONE: Alike = "NONE"

Float32Array = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
Done = tuple[str, Alike]
"""A description of an edit, and what of the twins must be alike after it."""
Run = Callable[[], object]

FRAMES = (0.0, 10.0, 25.0, 40.0, 44.0)
TYPES = ("KEYFRAME", "EXTREME", "BREAKDOWN", "JITTER", "MOVING_HOLD")
INTERPOLATIONS = ("CONSTANT", "LINEAR", "BEZIER", "BACK", "SINE")
HANDLES = ("FREE", "ALIGNED", "VECTOR", "AUTO", "AUTO_CLAMPED")
PARAMETERS = {"tension": -1.0, "continuity": -1.0, "bias": -1.0, "ease_to": 0.0, "ease_from": 0.0}
"""The least value of each."""
NAMES = ("Live", "Plain", "Other Live", "Other Plain")
NEAR = 0.0101
"""Frames: the range that a diamond of the summary selects. Keys that become one are as near."""
_FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")


@contextmanager
def editor(ui_type: str, part: str = "WINDOW") -> Iterator[Any]:
    """Run operators in that part of an editor of that type; give its space."""
    manager: Any = bpy.context.window_manager
    window = manager.windows[0]
    area = max(window.screen.areas, key=lambda area: area.width * area.height)
    area.ui_type = ui_type
    region = next(region for region in area.regions if region.type == part)
    with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region):
        yield area.spaces.active


def mark_selected(point: Any, chosen: bool) -> None:
    """Select a key and its handles, or deselect all three."""
    point.select_control_point = point.select_left_handle = point.select_right_handle = chosen


def rows(obj: Any) -> list[Any]:
    """Return the animator's F-curves."""
    return [fcurve for fcurve in fcurves(obj) if not is_frame_function(fcurve)]


def scene_now() -> Any:
    return bpy.context.scene


def new_armature(name: str) -> Any:
    """Make an armature with two bones that mirror each other, both selected."""
    obj: Any = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    context: Any = bpy.context
    context.scene.collection.objects.link(obj)
    context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        bone = obj.data.edit_bones.new(f"Arm.{side}")
        bone.head, bone.tail = (0, 0, 0), (1, 0, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in obj.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = True
    return obj


def paths_of(mode: str) -> list[str]:
    """Return the properties with keys: of an object in a rotation mode, or of the BONES of an armature."""
    if mode != "BONES":
        return ["location", rotation_path(mode)]
    bones = [f'pose.bones["Arm.{side}"]' for side in "LR"]
    return [f"{bone}.{name}" for bone in bones for name in ("location", "rotation_quaternion")]


def make_keyed(animation: Any, name: str, mode: str, dice: random.Random) -> Any:
    """Make a TCB object, not baked, with keys of several kinds at FRAMES and a few parameters."""
    obj: Any = new_armature(name) if mode == "BONES" else new_object(name, mode)
    for path in paths_of(mode):
        width = len(obj.path_resolve(path))
        key(obj, path, [(f, [dice.uniform(-2, 2) for _ in range(width)]) for f in FRAMES], group="Transform")
    for fcurve in fcurves(obj):
        points = fcurve.keyframe_points
        points[1].interpolation = "BACK"
        points[2].handle_left_type = points[2].handle_right_type = "ALIGNED"
        fcurve.update()
    animation.enable(obj)
    for path in paths_of(mode):
        animation.key_set(obj, path, 10, tension=0.5, bias=0.25, ease_from=0.1)
        animation.key_set(obj, path, 25, continuity=-0.5, ease_to=0.4)
    return obj


class Selecting:
    """The twins and their selection: always the same keys of both.

    `mode`: a rotation mode of objects, or BONES: of an armature with two bones that mirror each other.
    """

    animation: Any
    mode: str
    options: dict[str, Any]
    dice: random.Random
    story: list[str]
    """The edits so far."""

    @property
    def live(self) -> Any:
        return bpy.data.objects["Live"]

    @property
    def plain(self) -> Any:
        return bpy.data.objects["Plain"]

    @property
    def twins(self) -> tuple[Any, Any]:
        return self.live, self.plain

    def _paths(self) -> list[str]:
        return paths_of(self.mode)

    def _show(self, *names: str) -> None:
        """Show only these objects in the editors."""
        context: Any = bpy.context
        self._end_edit()
        linked = context.scene.collection.objects
        for name in NAMES:
            obj = bpy.data.objects.get(name)
            if obj is None:
                continue
            if name in linked and name not in names:
                linked.unlink(obj)
            elif name not in linked and name in names:
                linked.link(obj)
            if name in names:
                obj.select_set(True)
                context.view_layer.objects.active = obj

    @staticmethod
    def _end_edit() -> None:
        """Update the view layer, as Blender does before each operator, so that handlers notice an edit by a script.

        An automatic bake deselects generated keys; and handlers are not called for objects in no scene.
        """
        context: Any = bpy.context
        context.view_layer.update()

    @contextmanager
    def _alone(self, name: str) -> Iterator[Any]:
        """Show one object alone: 4.2 pastes one object's keys into all that have the same paths."""
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

    def frames(self) -> list[float]:
        """Return the frames of the twin's keys."""
        return sorted({float(x) for fcurve in rows(self.plain) for x in co(fcurve)[:, 0]})

    def _full_columns(self, path: str) -> list[float]:
        """Return the frames at which every channel of the track has a key."""
        sets = [set(co(fcurve)[:, 0].tolist()) for fcurve in rows(self.plain) if fcurve.data_path == path]
        return sorted(set.intersection(*sets)) if sets else []

    def _select(self, chosen: Callable[[Any, Float32Array], BoolArray | bool]) -> None:
        """Select the keys at those of a curve's frames that are `chosen`, and no others."""
        self._end_edit()
        for obj in self.twins:
            for fcurve in fcurves(obj):
                points = fcurve.keyframe_points
                flags = np.array(np.broadcast_to(chosen(fcurve, co(fcurve)[:, 0]), len(points)), dtype=np.bool_)
                for name in _FLAGS:
                    points.foreach_set(name, flags)

    def select_at(self, *frames: float) -> None:
        """Select the columns at these frames; on the baked object also generated keys there."""
        self._select(lambda _fcurve, at: _among(at, frames))

    def select_same(self) -> None:
        """Select everything, generated keys too."""
        self._select(lambda _fcurve, _at: True)

    def select_key(self, path: str, index: int, frame: float) -> None:
        """Select a key of one channel."""
        self._select(lambda f, at: (f.data_path, f.array_index) == (path, index) and _among(at, [frame]))

    def all(self) -> str:
        self.select_same()
        return "all"

    def columns(self) -> str:
        """Select what clicks on diamonds of the summary select."""
        frames = self.frames()
        chosen = self.dice.sample(frames, max(1, min(len(frames) - 1, self.dice.choice((1, 1, 1, 2, 3)))))
        self.select_at(*chosen)
        return f"columns {', '.join(f'{frame:g}' for frame in chosen)}"

    def box(self) -> str:
        """Select what a box drawn over the summary selects: generated keys too."""
        low = self.dice.choice(self.frames()) - self.dice.uniform(0, 12)
        high = low + self.dice.uniform(0, 30)
        self._select(lambda _fcurve, at: (low <= at) & (at <= high))
        return f"box {low:g} to {high:g}"

    def whole_columns(self) -> str:
        """Select a column at which every channel has a key; where there is none, a key of one channel."""
        shared = sorted(set.intersection(*(set(self._full_columns(path)) for path in self._paths())))
        if not shared:
            return self.row()
        at = self.dice.choice(shared)
        self.select_at(at)
        return f"column {at:g}"

    def pasted_columns(self) -> str:
        """Select columns with keys of several channels: copied from one channel alone, Blender pastes keys into all."""
        said = self.columns()
        chosen = [f for f in rows(self.plain) if any(point.select_control_point for point in f.keyframe_points)]
        return said if len(chosen) > 1 else self.all()

    def row(self) -> str:
        """Select a key of one channel, and nothing of its column."""
        fcurve = self.dice.choice([each for each in rows(self.plain) if len(each.keyframe_points)])
        at = self.dice.choice(co(fcurve)[:, 0].tolist())
        self.select_key(fcurve.data_path, fcurve.array_index, at)
        return f"{fcurve.data_path}[{fcurve.array_index}] at {at:g}"

    def graph(self) -> str:
        """Select keys in the Graph Editor: curve by curve, only where the twin has one."""
        frames = self.frames()
        chosen = self.dice.sample(frames, min(len(frames), self.dice.choice((1, 1, 2, len(frames)))))
        keys = {(f.data_path, f.array_index): co(f)[:, 0].tolist() for f in rows(self.plain)}
        own = {name: [frame for frame in held if frame in chosen] for name, held in keys.items()}
        self._select(lambda f, at: _among(at, own.get((f.data_path, f.array_index), ())))
        return f"in the Graph Editor {', '.join(f'{frame:g}' for frame in chosen)}"


def _selected(obj: Any) -> list[Any]:
    return [point for fcurve in fcurves(obj) for point in fcurve.keyframe_points if point.select_control_point]


def _among(at: Float32Array, frames: Sequence[float]) -> BoolArray:
    if not len(frames):
        return np.zeros(len(at), dtype=np.bool_)
    return np.asarray((np.abs(at[:, None] - np.asarray(frames, dtype=np.float32)) < NEAR).any(axis=1))


class Edits(Selecting):
    """Random edits; each returns its description, and which keys of the twins must be alike after it."""

    snaps = True
    factors: tuple[float, ...] = (0.5, 0.7, 0.9, 1.3, 1.5, 2.0, -1.0)
    """Factors by which frames are scaled."""
    kind = ""
    """The kind of the last edit where its name is not enough: the operator."""

    @contextmanager
    def between(self) -> Iterator[None]:
        """Surround an edit whose result depends on the curve between own keys."""
        yield

    def on_both(self, work: Callable[[Any], None]) -> None:
        """Do the same to the two objects."""
        for obj in self.twins:
            work(obj)

    def passes_by_keys(self, path: str) -> bool:
        """Return whether the track's motion doesn't pass through its keys, like a B-spline's."""
        try:
            track = self.animation.find_track(self.live, path)
        except self.animation.AnimationError:
            # With its last key its F-curves were deleted.
            return False
        method: Any = METHODS[track.settings.method]
        return (method.rotations if track.is_rotation else method.values).interpolating is False

    def _where(self, *kinds: str) -> str:
        said: str = getattr(self, self.dice.choice(kinds))()
        return said

    def do_in(self, ui_type: str, operator: Run) -> None:
        """Run the operator in an editor of that type."""
        scene_now().tool_settings.use_snap_anim = self.snaps
        with editor(ui_type) as space:
            if ui_type == "FCURVES":
                # Other pivots depend on handles, which a bake has placed.
                space.pivot_point = "CURSOR"
            operator()

    def come_back(self) -> Done:
        frames = self.frames()
        said = self.all()
        width = frames[-1] - frames[0]
        factor = 40 / width
        self.snaps = False
        scene_now().frame_set(0)
        self.do_in("DOPESHEET", lambda: transform("TIME_SCALE", factor))
        self.select_same()
        self.do_in("DOPESHEET", lambda: transform("TIME_TRANSLATE", -self.frames()[0]))
        self.do_in("DOPESHEET", lambda: bpy.ops.action.snap(type="NEAREST_FRAME"))
        self.snaps = True
        return f"{said}: back to the start", NONE

    def move(self) -> Done:
        where = self._where("all", "columns", "columns", "columns", "box", "row")
        amount = self.dice.choice((1, 2, -3, 7, -12, 0.3, -0.5, 2.5))
        self.snaps = float(amount).is_integer()
        self.do_in("DOPESHEET", lambda: transform("TIME_TRANSLATE", amount))
        return f"{where}: moved by {amount}", ALL

    def scale(self) -> Done:
        where = self._where("all", "columns", "box")
        factor = self.dice.choice(self.factors)
        self.snaps = self.dice.random() < 0.7
        self.do_in("DOPESHEET", lambda: transform("TIME_SCALE", factor))
        return f"{where}: scaled by {factor}{'' if self.snaps else ', unsnapped'}", ALL

    def mirror(self) -> Done:
        where = self._where("all", "columns")
        frame = self.dice.randint(0, 40)
        scene_now().frame_set(frame)
        self.do_in("DOPESHEET", lambda: bpy.ops.action.mirror(type="CFRA"))
        return f"{where}: mirrored at {frame}", ALL

    def snap(self) -> Done:
        # A generated key of a curve between frames may be the only one merged with an own key: then nothing gives
        # evidence of that.
        where = self._where("all", "columns", *(() if "output" in self.options else ("box",)))
        self.do_in("DOPESHEET", lambda: bpy.ops.action.snap(type="NEAREST_FRAME"))
        return f"{where}: snapped", ALL

    def duplicate(self) -> Done:
        where = self._where("columns", "columns", "all")
        amount = self.dice.choice((4, 9, 33, 60, -60))
        self.snaps = True

        def operator() -> None:
            bpy.ops.action.duplicate()
            transform("TIME_TRANSLATE", amount)

        self.do_in("DOPESHEET", operator)
        return f"{where}: duplicated, {amount} frames on", ALL

    def delete(self) -> Done:
        where = self._where("columns", "row")
        self.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"{where}: deleted", ALL

    def thin_out(self) -> Done:
        frames = self.frames()
        kept = set(self.dice.sample(frames, min(len(frames), 4)))
        self.select_at(*(frame for frame in frames if frame not in kept))
        self.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"deleted all but {sorted(kept)}", ALL

    def paste(self) -> Done:
        where = self._where("pasted_columns", "all")
        return self._paste(where, {"merge": self.dice.choice(("MIX", "OVER_ALL", "OVER_RANGE", "OVER_RANGE_ALL"))})

    def paste_flipped(self) -> Done:
        where = self._where("pasted_columns", "all")
        return self._paste(where, {"flipped": True})

    def _paste(self, where: str, how: dict[str, Any], sources: tuple[str, str] = ("Live", "Plain")) -> Done:
        frame = self.dice.randint(-5, 60)
        self.paste_at(frame, how, sources)
        return f"{where}: pasted at {frame} {how}", ALL

    def paste_at(self, frame: float, how: dict[str, Any], sources: tuple[str, str] = ("Live", "Plain")) -> None:
        """Copy what is selected of the sources, and paste it into the twins."""
        self._deselect_before(*sources)
        for name, source in zip(("Live", "Plain"), sources, strict=True):
            with self._alone(source), editor("DOPESHEET"):
                bpy.ops.action.copy()
            with self._alone(name), editor("DOPESHEET"):
                scene_now().frame_set(frame)
                bpy.ops.action.paste(**how)

    def _deselect_before(self, source: str, twin: str) -> None:
        """Deselect the source's generated keys before the first selected key of its twin.

        Blender pastes the first key at the current frame, and the own keys of both belong at the same frames.
        """
        first = min((point.co.x for point in _selected(bpy.data.objects[twin])), default=0.0)
        for point in _selected(bpy.data.objects[source]):
            if point.co.x < first - NEAR:
                mark_selected(point, False)

    def paste_from_another(self) -> Done:
        chosen = set(self.dice.sample(FRAMES, self.dice.choice((1, 2, 5))))
        everything = len(chosen) == len(FRAMES)
        for name in ("Other Live", "Other Plain"):
            for fcurve in fcurves(bpy.data.objects[name]):
                for point in fcurve.keyframe_points:
                    mark_selected(point, everything or point.co.x in chosen)
        return self._paste(f"of another {sorted(chosen)}", {}, ("Other Live", "Other Plain"))

    def set_kind(self) -> Done:
        where = self._where("whole_columns", "whole_columns", "row")
        choices: tuple[tuple[str, Sequence[str]], ...] = (
            ("keyframe_type", TYPES),
            ("interpolation_type", INTERPOLATIONS),
            ("easing_type", ("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT")),
            ("handle_type", HANDLES),
        )
        name, values = self.dice.choice(choices)
        value = self.dice.choice(values)
        self.kind = name
        self.do_in("DOPESHEET", lambda: getattr(bpy.ops.action, name)(type=value))
        # Without a record, a key set to linear is the same as the bake has written it; and Blender frees all handles of
        # a curve beside one of another type.
        alone = "[" in where and name in ("interpolation_type", "handle_type")
        return f"{where}: {name} {value}", KEYS if alone else ALL

    def extrapolate(self) -> Done:
        kind: Any = self.dice.choice(("CONSTANT", "LINEAR"))
        self.do_in("DOPESHEET", lambda: bpy.ops.action.extrapolation_type(type=kind))
        # Blender places the end handles of records anew.
        return f"extrapolation {kind}", KEYS

    def key_pose(self) -> Done:
        """Insert keys with I, at free frames or over a key, generated or not."""
        frame = self.dice.choice((self.dice.randint(-5, 55), *self.frames()))
        path = self.dice.choice(self._paths())
        dice = random.Random(len(self.story))
        self.key_at(path, frame, [dice.uniform(-2, 2) for _ in range(4)])
        return f"{path} keyed at {frame:g}", KEYS

    def key_at(self, path: str, frame: float, values: Sequence[float], index: int = -1) -> None:
        """Set the property to these values, and key it, or one component of it."""

        def work(obj: Any) -> None:
            owner, name = obj, path
            if path.startswith("pose"):
                bone, _, name = path.rpartition(".")
                owner = obj.path_resolve(bone)
            width = len(getattr(owner, name))
            setattr(owner, name, [*values[:width], *[0.0] * (width - len(values))])
            owner.keyframe_insert(name, frame=frame, index=index)

        self.on_both(work)

    def set_value(self) -> Done:
        """Change the value of a key by a script."""
        path = self.dice.choice(self._paths())
        index, amount = self.dice.randint(0, 2), self.dice.uniform(-1, 1)
        frames = [c for f in rows(self.plain) if (f.data_path, f.array_index) == (path, index) for c in co(f)[:, 0]]
        if not frames:
            return "nothing", ALL
        at = self.dice.choice(frames)
        self.set_point(path, index, at, 0.0, amount)
        return f"{path}[{index}] set at {at:g}", ALL

    def set_point(self, path: str, index: int, at: float, frames: float, amount: float) -> None:
        """Move a key with its handles by a script."""

        def work(obj: Any) -> None:
            for fcurve in rows(obj):
                if (fcurve.data_path, fcurve.array_index) == (path, index) and len(fcurve.keyframe_points):
                    point = min(fcurve.keyframe_points, key=lambda each: float(abs(each.co.x - at)))
                    point.co_ui = (point.co.x + frames, point.co.y + amount)
                    fcurve.update()

        self.on_both(work)

    def move_values(self) -> Done:
        where = self.graph()
        amount = (self.dice.choice((0.0, 2.0, -3.0)), self.dice.choice((0.5, -1.0)), 0.0)
        self.snaps = True
        self.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=amount))
        return f"{where}: moved by {amount}", KEYS

    def scale_values(self) -> Done:
        where = self.graph()
        factor = self.dice.choice((0.5, 2.0))
        self.do_in("FCURVES", lambda: bpy.ops.transform.resize(value=(1.0, factor, 1.0)))
        return f"{where}: values scaled by {factor}", KEYS

    def graph_operator(self) -> Done:
        """Run an operator whose result depends on a key's neighbours, some of which are generated.

        Keys are selected curve by curve, or all: a single generated key that gets another value becomes the animator's,
        and the twin has no key in the column of another channel's key.
        """
        where = self.graph() if self.dice.random() < 0.5 else self.all()
        name, how = self.dice.choice(GRAPH_OPERATORS)
        scene_now().frame_set(self.dice.randint(0, 40))
        self.run_operator("FCURVES", "graph", name, how)
        return f"{where}: graph.{name} {how}", NONE

    def action_operator(self) -> Done:
        where = self._where("all", "columns", "box")
        name, how = self.dice.choice(ACTION_OPERATORS)
        scene_now().frame_set(self.dice.randint(0, 40))
        self.run_operator("DOPESHEET", "action", name, how)
        return f"{where}: action.{name} {how}", NONE

    def run_operator(self, ui_type: str, module: str, name: str, how: dict[str, Any]) -> None:
        """Run an operator of an editor if this Blender has it, and it has something to do."""
        self.kind = " ".join((f"{module}.{name}", *filter(None, (str(how.get("type") or how.get("mode") or ""),))))

        def operator() -> None:
            run = getattr(getattr(bpy.ops, module), name, None)
            if run is not None and run.poll():
                try:
                    run(**how)
                except RuntimeError as error:
                    # It has nothing to do.
                    if "Error: " not in str(error):
                        raise

        if (name, how.get("type")) in ADDRESSING or name in ADDRESSING:
            self.do_in(ui_type, operator)
            return
        with self.between():
            self.do_in(ui_type, operator)

    def slide(self) -> Done:
        """Set a parameter, like a slider of the sidebar."""
        path = self.dice.choice(self._paths())
        frames = self._full_columns(path)
        if not frames:
            return "nothing", ALL
        frame, name = self.dice.choice(frames), self.dice.choice(list(PARAMETERS))
        value = self.dice.uniform(PARAMETERS[name], 1.0)
        self.on_both(lambda obj: self.animation.key_set(obj, path, frame, **{name: value}))
        return f"{path} {name} {value:.2f} at {frame:g}", ALL

    def choose(self) -> Done:
        paths = [path for path in self._paths() if self._full_columns(path)]
        if not paths:
            return "nothing", ALL
        path = self.dice.choice(paths)
        kind = "rotations" if "rotation" in path else "values"
        methods = [name for name, method in METHODS.items() if getattr(method, kind)]
        choices: dict[str, Sequence[str]] = {
            "cycle": ("SINGLE", "REPEAT", "LOOP"),
            "ends": ("3DS", "TANGENT"),
            "method": methods,
        }
        name = self.dice.choice([*choices, "method"])
        option = self.dice.choice(choices[name])
        self.kind = f"choose {name}"
        self.on_both(lambda obj: self.animation.choose(obj, path, **{name: option}))
        return f"{path} {name} {option}", ALL

    def give_velocity(self) -> Done:
        path = self.dice.choice(self._paths())
        frames = self._full_columns(path)
        if not frames:
            return "nothing", ALL
        frame = self.dice.choice(frames)
        velocity = [self.dice.uniform(-0.2, 0.2) for _ in range(3)]
        self.on_both(lambda obj: self.animation.key_set(obj, path, frame, velocity=velocity))
        return f"{path} velocity {velocity} at {frame:g}", ALL


def transform(mode: Any, amount: float) -> object:
    """Run the Dope Sheet's G (TIME_TRANSLATE), S (TIME_SCALE, around the current frame) and their like."""
    return bpy.ops.transform.transform(mode=mode, value=(amount, 0, 0, 0))


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
ADDRESSING: frozenset[str | tuple[str, str]] = frozenset(
    {
        "snap",
        "mirror",
        "equalize_handles",
        "interpolation_type",
        "handle_type",
        "easing_type",
        "extrapolation_type",
        "keyframe_type",
        "blend_to_default",
    }
)
"""Operators whose effect on an own key does not depend on the curve between own keys."""
