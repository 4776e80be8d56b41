# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits by Blender to a TCB object and its twin, which has the same keys and was never TCB.

Keys are selected to match the twin's selection, so both get the same edits. Only edits whose results do not depend on
handles are used, because TCB places handles elsewhere. The twin's locked F-curves correspond to baked tracks. All of
their keys are selected, and no edit may change them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from tests.animation.curves import channels, co, fcurves
from tests.animation.editors import editor

FRAMES = (0.0, 10.0, 25.0, 40.0, 44.0)
"""Frames of the first keys."""
TYPES = ("KEYFRAME", "EXTREME", "BREAKDOWN", "JITTER", "MOVING_HOLD", "GENERATED")
INTERPOLATIONS = ("CONSTANT", "LINEAR", "BEZIER", "BEZIER", "BACK", "SINE")
EASINGS = ("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT")
HANDLES = ("FREE", "ALIGNED", "VECTOR", "AUTO", "AUTO_CLAMPED")
UNNUMBERED = np.float32(1.70158)
"""Blender's default of `back`. It marks keys with unknown parameters, such as keys with a dragged handle."""

_FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")

Name = tuple[str, int]
"""Data path and index of a channel."""
Floats = npt.NDArray[np.float32]


class Pair(NamedTuple):
    """The names of a TCB object and its twin."""

    live: str
    plain: str


class Selecting:
    """The objects of a sequence, and the selection of the same keys on both."""

    paths: tuple[str, ...]
    pair: Pair

    @property
    def live(self) -> Any:
        return bpy.data.objects[self.pair.live]

    @property
    def plain(self) -> Any:
        return bpy.data.objects[self.pair.plain]

    @property
    def twins(self) -> tuple[Any, Any]:
        return self.live, self.plain

    def free_curves(self) -> dict[Name, Any]:
        """Return the twin's F-curves that can be edited."""
        return {name: fcurve for name, fcurve in channels(self.plain).items() if not fcurve.lock}

    def frames(self) -> list[float]:
        """Return the frames of the twin's keys that can be edited."""
        return sorted({float(x) for fcurve in self.free_curves().values() for x in co(fcurve)[:, 0]})

    def full_columns(self, path: str) -> list[float]:
        """Return the frames at which every channel of the track has a key."""
        curves = channels(self.plain)
        frames = [set(co(curves[name])[:, 0].tolist()) for name in curves if name[0] == path]
        return sorted(set.intersection(*frames)) if frames else []

    def show(self, *objects: Any) -> None:
        """Show only the F-curves of these objects in the editors."""
        context: Any = bpy.context
        for obj in context.view_layer.objects:
            obj.select_set(obj in objects)
        context.view_layer.objects.active = objects[0]

    def select(self, chosen: Callable[[Name, Floats], Any]) -> None:
        """Select the keys at these frames of the twin's F-curves, or all keys of a baked track."""
        self.show(*self.twins)
        live, plain = channels(self.live), channels(self.plain)
        for name, fcurve in plain.items():
            count = len(fcurve.keyframe_points)
            flags = np.array(np.broadcast_to(chosen(name, co(fcurve)[:, 0]), count), dtype=np.bool_)
            _flag(fcurve, np.ones(count, np.bool_) if fcurve.lock else flags)
            if name in live:
                other = live[name]
                same = len(other.keyframe_points) == count and not fcurve.lock
                _flag(other, flags if same else np.full(len(other.keyframe_points), fcurve.lock, np.bool_))

    def all(self) -> str:
        self.select(lambda _name, _at: True)
        return "all"

    def columns(self, dice: random.Random, most: int = 3) -> str:
        frames = self.frames()
        chosen = dice.sample(frames, min(len(frames), dice.randint(1, most)))
        self.select(lambda _name, at: np.isin(at, np.float32(chosen)))
        return f"columns {', '.join(f'{frame:g}' for frame in sorted(chosen))}"

    def box(self, dice: random.Random) -> str:
        low = dice.choice(self.frames())
        high = low + dice.choice((6, 17, 30))
        self.select(lambda _name, at: (low <= at) & (at < high))
        return f"from {low:g} to {high:g}"

    def row(self, dice: random.Random, path: str = "") -> str:
        """Select one key of one channel."""
        curves = self.free_curves()
        name = dice.choice([name for name in curves if name[0] == (path or name[0])])
        frame = dice.choice(co(curves[name])[:, 0].tolist())
        self.select(lambda each, at: each == name and at == np.float32(frame))
        return f"{name[0]}[{name[1]}] at {frame:g}"

    def some(self, dice: random.Random) -> str:
        """Select all keys, or some of them."""
        kind = dice.choices(("all", "columns", "box", "row"), (3, 5, 2, self.row_weight))[0]
        return self.all() if kind == "all" else str(getattr(self, kind)(dice))

    row_weight = 1.0


def _flag(fcurve: Any, flags: npt.NDArray[np.bool_]) -> None:
    for name in _FLAGS:
        fcurve.keyframe_points.foreach_set(name, flags)


def _transform(mode: Any, amount: float) -> object:
    """Run G (TIME_TRANSLATE) or S (TIME_SCALE, about the current frame) of the Dope Sheet."""
    return bpy.ops.transform.transform(mode=mode, value=(amount, 0, 0, 0))


def _scene() -> Any:
    return bpy.context.scene


class Edits(Selecting):
    """Edits by Blender. Each returns its description, which is empty if there is nothing to edit."""

    def in_editor(self, ui_type: str, operator: Callable[[], object], snap: bool = True) -> None:
        """Run an operator in an editor of this type. It may have nothing to do."""
        _scene().tool_settings.use_snap_anim = snap
        with editor(ui_type) as space:
            space.dopesheet.show_only_selected = True
            if ui_type == "FCURVES":
                # Other pivots depend on handles.
                space.pivot_point = "CURSOR"
            try:
                operator()
            except RuntimeError as error:
                if "Error: " not in str(error):
                    raise

    def move(self, dice: random.Random) -> str:
        where = self.some(dice)
        amount = dice.choice((1, 2, -3, 7, -12, 20, 0.3, -0.5, 2.5))
        self.in_editor("DOPESHEET", lambda: _transform("TIME_TRANSLATE", amount), float(amount).is_integer())
        return f"{where}: moved by {amount}"

    def scale(self, dice: random.Random) -> str:
        where, factor, snap = self.some(dice), dice.choice((0.5, 0.7, 0.9, 1.3, 1.5, 2.0, -1.0)), dice.random() < 0.7
        _scene().frame_set(dice.randint(0, 40))
        self.forget_pivots()
        self.in_editor("DOPESHEET", lambda: _transform("TIME_SCALE", factor), snap)
        return f"{where}: scaled by {factor} about {_scene().frame_current}{'' if snap else ', unsnapped'}"

    def mirror(self, dice: random.Random) -> str:
        where = self.some(dice)
        _scene().frame_set(dice.randint(0, 40))
        self.forget_pivots()
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.mirror(type="CFRA"))
        return f"{where}: mirrored at {_scene().frame_current}"

    def snap(self, dice: random.Random) -> str:
        where, kind = self.some(dice), dice.choice(("NEAREST_FRAME", "NEAREST_FRAME", "CFRA", "NEAREST_SECOND"))
        if kind != "NEAREST_FRAME":
            # Otherwise most keys merge.
            where = self.columns(dice, 1)
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.snap(type=kind))
        return f"{where}: snapped to {kind}"

    def duplicate(self, dice: random.Random) -> str:
        where, amount = self.some(dice), dice.choice((4, 9, 33, 60, -60))

        def operator() -> None:
            bpy.ops.action.duplicate()
            _transform("TIME_TRANSLATE", amount)

        self.in_editor("DOPESHEET", operator)
        return f"{where}: duplicated, {amount} frames on"

    def delete(self, dice: random.Random) -> str:
        where = self.row(dice, "location") if self._may_edit_rows(dice) else self.columns(dice, 2)
        for fcurve in self.free_curves().values():
            # Without keys, Blender deletes the F-curve.
            if sum(not point.select_control_point for point in fcurve.keyframe_points) < 2:
                return ""
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"{where}: deleted"

    def _may_edit_rows(self, dice: random.Random) -> bool:
        """Return whether to edit a single channel.

        Handles need complete rotations, so no channel of a rotation is chosen.
        """
        counts = [len(curve.keyframe_points) for name, curve in self.free_curves().items() if name[0] == "location"]
        return min(counts, default=0) > 2 and dice.random() < 0.3

    def thin_out(self, dice: random.Random) -> str:
        """Delete all but four keys of each channel, at the same frames in all channels of a track if possible."""
        kept: dict[Name, list[float]] = {}
        for name, fcurve in self.free_curves().items():
            shared = self.full_columns(name[0])
            frames = shared if len(shared) > 1 else co(fcurve)[:, 0].tolist()
            beside = [kept[other] for other in kept if other[0] == name[0] and len(shared) > 1]
            kept[name] = beside[0] if beside else sorted(dice.sample(frames, min(len(frames), 4)))
        self.select(lambda name, at: ~np.isin(at, np.float32(kept.get(name, ()))))
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"deleted all but {kept}"

    def come_back(self, _dice: random.Random) -> str:
        frames = self.frames()
        self.all()
        _scene().frame_set(0)
        self.in_editor("DOPESHEET", lambda: _transform("TIME_SCALE", 40 / (frames[-1] - frames[0] or 1)), snap=False)
        first = self.frames()[0]
        self.in_editor("DOPESHEET", lambda: _transform("TIME_TRANSLATE", -first), snap=False)
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.snap(type="NEAREST_FRAME"))
        return "all: back to the start"

    def insert(self, dice: random.Random) -> str:
        """Key a pose, on or off the curve, between keys, outside them or at a key."""
        path = dice.choice(self.paths)
        frames = self.frames() or list(FRAMES)
        frame = dice.choice((float(dice.randint(-5, 55)), dice.choice(frames), dice.randint(0, 40) + 0.5))
        width = len(getattr(self.live, path))
        on_curve = dice.random() < 0.5
        values = [dice.uniform(-2, 2) for _ in range(width)]
        if on_curve:
            curves = channels(self.live)
            values = [curves[path, n].evaluate(frame) if (path, n) in curves else 0.0 for n in range(width)]
        index = dice.randrange(width) if dice.random() < 0.2 else -1
        for obj in self.twins:
            setattr(obj, path, values)
            try:
                obj.keyframe_insert(path, frame=frame, index=index)
            except RuntimeError as error:
                if "Error: " not in str(error):
                    raise
        return f"{path}{'' if index < 0 else f'[{index}]'} keyed at {frame:g}{' on the curve' if on_curve else ''}"

    def paste(self, dice: random.Random, target: Pair | None = None) -> str:
        """Copy keys and paste them into the same object, or into the `target`."""
        source = self.pair
        if any(fcurve.lock for fcurve in channels(self.plain).values()):
            # Generated keys are copied like all other keys.
            return ""
        where = self.all() if dice.random() < 0.3 else self.columns(dice)
        how: dict[str, Any] = {"merge": dice.choice(("MIX", "MIX", "OVER_ALL", "OVER_RANGE", "OVER_RANGE_ALL"))}
        frame = dice.randint(-5, 60)
        for name, other in zip(source, target or source, strict=True):
            self.show(bpy.data.objects[name])
            self.in_editor("DOPESHEET", bpy.ops.action.copy)
            obj = bpy.data.objects[other]
            self.show(obj)
            for fcurve in fcurves(obj):
                fcurve.select = True
            _scene().frame_set(frame)
            self.in_editor("DOPESHEET", lambda: bpy.ops.action.paste(**how))
        return f"{where}: pasted at {frame} {how['merge']}{'' if target is None else f' into {target.live}'}"

    def set_kind(self, dice: random.Random) -> str:
        where = self.some(dice)
        choices: tuple[tuple[str, Sequence[str]], ...] = (
            ("keyframe_type", TYPES),
            ("interpolation_type", INTERPOLATIONS),
            ("easing_type", EASINGS),
            ("handle_type", HANDLES),
        )
        name, values = dice.choice(choices)
        value = dice.choice(values)
        if (name, value) == ("handle_type", "FREE") and not self.live.animation_data.action.tcb_live:
            # If Live has not seen the handle type with which Blender placed them, these handles seem to have been
            # dragged.
            curves = channels(self.live)
            placed = {
                (each, point.co.x) for each in curves for point in curves[each].keyframe_points if _is_placed(point)
            }
            self.forget(lambda each, point: point.select_control_point and (each, point.co.x) in placed)
        self.in_editor("DOPESHEET", lambda: getattr(bpy.ops.action, name)(type=value))
        return f"{where}: {name} {value}"

    def extrapolate(self, dice: random.Random) -> str:
        self.all()
        kind: Any = dice.choice(("CONSTANT", "LINEAR"))
        self.in_editor("DOPESHEET", lambda: bpy.ops.action.extrapolation_type(type=kind))
        return f"extrapolation {kind}"

    def move_values(self, dice: random.Random) -> str:
        where = self.some(dice)
        amount = (dice.choice((0.0, 0.0, 2.0, -3.0)), dice.choice((0.5, -1.0, 0.1)), 0.0)
        self.in_editor("FCURVES", lambda: bpy.ops.transform.translate(value=amount))
        return f"{where}: moved by {amount[:2]} in the Graph Editor"

    def scale_values(self, dice: random.Random) -> str:
        where, factor = self.some(dice), dice.choice((0.5, 1.5, 2.0, -1.0))
        self.in_editor("FCURVES", lambda: bpy.ops.transform.resize(value=(1.0, factor, 1.0)))
        self.forget(lambda _name, point: point.select_control_point and point.co.y == 0.0)
        return f"{where}: values scaled by {factor}"

    def graph_operator(self, dice: random.Random) -> str:
        """Run an operator whose results do not depend on handles."""
        where = self.some(dice)
        name, how = dice.choice(GRAPH_OPERATORS)
        _scene().frame_set(dice.randint(0, 40))
        run = getattr(bpy.ops.graph, name)
        if hasattr(bpy.types, f"GRAPH_OT_{name}"):
            self.in_editor("FCURVES", lambda: run(**how))
            drags = name == "equalize_handles" or how.get("type") == "HORIZONTAL"
            self.forget(lambda _name, point: point.select_control_point and (drags or point.co.y == 0.0))
        return f"{where}: graph.{name} {how}"

    def drag_handle(self, dice: random.Random) -> str:
        """Drag a handle as in the Graph Editor, which then selects only that handle."""
        curves = self.free_curves()
        if not curves:
            return ""
        path, index = dice.choice(list(curves))
        frame = dice.choice(co(curves[path, index])[:, 0].tolist())
        side, away = dice.choice(("left", "right")), (dice.uniform(1, 6), dice.uniform(-2, 2))
        self.select(lambda _name, _at: False)
        for obj in self.twins:
            fcurve = channels(obj).get((path, index))
            for point in [] if fcurve is None else fcurve.keyframe_points:
                if point.co.x == frame:
                    setattr(point, f"select_{side}_handle", True)
                    along = -away[0] if side == "left" else away[0]
                    setattr(point, f"handle_{side}", (point.co.x + along, point.co.y + away[1]))
            if fcurve is not None:
                fcurve.update()
                fcurve.id_data.update_tag()
        self.forget(lambda name, point: name == (path, index) and point.co.x == frame)
        return f"{path}[{index}] at {frame:g}: {side} handle dragged"

    def forget_pivots(self) -> None:
        """Treat parameters as unknown if an edit moves only the handles of a key at the current frame."""
        curves = self.free_curves()
        for path in {path for path, _ in curves}:
            points = [point for name in curves if name[0] == path for point in curves[name].keyframe_points]
            if all(point.co.x == _scene().frame_current for point in points if point.select_control_point):
                self.forget(lambda name, point, path=path: name[0] == path and point.select_control_point)

    def forget(self, chosen: Callable[[Name, Any], bool]) -> None:
        """Treat the parameters of the twin's `chosen` keys as unknown. For a rotation, this applies to all channels."""
        curves = self.free_curves()
        keys = [(name, point) for name, fcurve in curves.items() for point in fcurve.keyframe_points]
        columns = {(name[0], point.co.x) for name, point in keys if name[0] != "location" and chosen(name, point)}
        for name, point in keys:
            if (name[0], point.co.x) in columns or chosen(name, point):
                point.back = float(UNNUMBERED)


def _is_placed(point: Any) -> bool:
    """Return whether Blender places a handle of a key."""
    return not point.handle_left_type == point.handle_right_type == "FREE"


GRAPH_OPERATORS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("smooth", {}),
    ("clean", {"threshold": 0.001}),
    ("snap", {"type": "VALUE"}),
    ("snap", {"type": "NEAREST_FRAME"}),
    ("snap", {"type": "HORIZONTAL"}),
    ("mirror", {"type": "YAXIS"}),
    ("mirror", {"type": "XAXIS"}),
    ("equalize_handles", {"side": "BOTH", "handle_length": 3.0}),
    ("interpolation_type", {"type": "BEZIER"}),
    ("handle_type", {"type": "AUTO"}),
    ("easing_type", {"type": "EASE_OUT"}),
    ("breakdown", {"factor": 0.3}),
    ("blend_to_neighbor", {"factor": 0.3}),
    ("blend_to_default", {"factor": 0.3}),
    ("push_pull", {"factor": 1.3}),
    ("scale_average", {"factor": 1.3}),
)
EDITS = (
    ("move", 20),
    ("scale", 8),
    ("mirror", 4),
    ("snap", 3),
    ("duplicate", 6),
    ("delete", 6),
    ("insert", 12),
    ("paste", 6),
    ("paste_into_other", 4),
    ("set_kind", 8),
    ("extrapolate", 1),
    ("move_values", 6),
    ("scale_values", 3),
    ("graph_operator", 6),
    ("drag_handle", 5),
)
"""Edits by Blender, and their weights."""
