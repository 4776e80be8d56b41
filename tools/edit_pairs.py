# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of edits between two bakes, applied to a baked object and to its twin; and what own keys are lost."""

from __future__ import annotations

import importlib
import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from tests.animation.curves import HAS_SLOTS, co, fcurves
from tools.edit_judge import (
    DOUBT,
    SAME_FRAME,
    SAME_VALUE,
    Name,
    Own,
    Points,
    Verdict,
    channels,
    compare,
    has_sibling,
    kinds_of,
    own_points,
    parameters_of,
    points_of,
)
from tools.edit_kinds import ALL, KEYS, NONE, BoolArray, Done, Edits, Float32Array, editor, make_keyed, rows, scene_now

operators: Any = bpy.ops

OUTPUTS: dict[str, dict[str, Any]] = {
    "samples": {"step": 1.0},
    "half samples": {"step": 0.5},
    "double samples": {"step": 2.0},
    "curves": {"output": "CURVES"},
    "handles": {"output": "HANDLES"},
}
MODES = ("XYZ", "QUATERNION", "BONES", "AXIS_ANGLE", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
SHAPES = ("plain", "ragged", "still", "whole")
"""Kinds of keys. plain: random ones; ragged: some channels lack some; still: some channels are constant; whole: whole
numbers, some of them equal."""


@dataclass(frozen=True)
class Setting:
    """The setting in which a pair of edits is made."""

    mode: str = "XYZ"
    output: str = "samples"
    live: bool = False
    cycle: str = "SINGLE"
    shape: str = "plain"

    def __str__(self) -> str:
        words = [self.mode, self.output, "live" if self.live else "baked again"]
        words += [self.cycle] if self.cycle != "SINGLE" else []
        return ", ".join([*words, *([self.shape] if self.shape != "plain" else [])])


def settings_by(dice: random.Random) -> Setting:
    """Return a random setting; plain ones are likelier."""
    return Setting(
        dice.choices(MODES, (4, 4, 4, 1, 0.4, 0.4, 0.4, 0.4, 0.4))[0],
        dice.choices(list(OUTPUTS), (4, 2, 1.5, 2, 2))[0],
        dice.random() < 0.4,
        dice.choices(("SINGLE", "REPEAT", "LOOP"), (6, 1, 1))[0],
        dice.choices(SHAPES, (4, 1, 1, 1))[0],
    )


class Stage:
    """A file with the templates of cases: TCB objects, baked with each output that was requested, and not baked."""

    def __init__(self, animation: Any) -> None:
        self.animation = animation
        self.names: dict[tuple[Any, ...], str] = {}
        self.said: set[str] = set()
        """Notes of bakes of unedited keys, without numbers and names."""
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)

    def place(self, setting: Setting, others: bool = False) -> None:
        """Put new twins into the scene; with `others`, another two from which keys can be pasted."""
        for seed, names in ((3, ("Live", "Plain")), (4, ("Other Live", "Other Plain")))[: 1 + others]:
            for name in names:
                baked = name.endswith("Live")
                obj = self._copy(self._template(setting, seed, baked), name)
                if baked and setting.live:
                    obj.animation_data.action.tcb_live = True

    def clear(self) -> None:
        """Remove everything except templates."""
        active: Any = bpy.context.view_layer.objects.active  # type: ignore[union-attr]
        if active is not None and active.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        kept = set(self.names.values())
        done: list[Any] = [obj for obj in bpy.data.objects if obj.name not in kept]
        done += [action for action in bpy.data.actions if action.name not in kept]
        done += [armature for armature in bpy.data.armatures if armature.name not in kept]
        bpy.data.batch_remove(done)

    def _template(self, setting: Setting, seed: int, baked: bool) -> Any:
        what = (setting.mode, setting.cycle, setting.shape, seed, setting.output if baked else None)
        if what not in self.names:
            name = f"Kept {len(self.names)}"
            obj = make_keyed(self.animation, name, setting.mode, random.Random(seed))
            _shape(obj, setting.shape)
            for path in dict.fromkeys(fcurve.data_path for fcurve in rows(obj)):
                self.animation.choose(obj, path, cycle=setting.cycle)
            if baked:
                report = self.animation.bake(obj, **OUTPUTS[setting.output])
                self.said.update(map(worded, report.notes))
            obj.animation_data.action.name = name
            if obj.type == "ARMATURE":
                obj.data.name = name
            obj.use_fake_user = obj.animation_data.action.use_fake_user = True
            for collection in list(obj.users_collection):
                collection.objects.unlink(obj)
            self.names[what] = obj.name
            assert obj.name == obj.animation_data.action.name
        return bpy.data.objects[self.names[what]]

    def _copy(self, template: Any, name: str) -> Any:
        obj = template.copy()
        obj.name = name
        action = obj.animation_data.action = template.animation_data.action.copy()
        if HAS_SLOTS:
            obj.animation_data.action_slot = action.slots[0]
        if obj.type == "ARMATURE":
            # Bones are selected and renamed in the data.
            obj.data = template.data.copy()
        return obj


def _shape(obj: Any, shape: str) -> None:
    """Change the keys as the setting requires, before a bake."""
    for number, fcurve in enumerate(rows(obj)):
        points = fcurve.keyframe_points
        if shape == "ragged" and number % 3 == 1 and "location" in fcurve.data_path:
            points.remove(points[2])
        elif shape == "still" and number % 3 == 1:
            for point in points:
                point.co_ui = (point.co.x, 1.0)
        elif shape == "whole":
            for point in points:
                point.co_ui = (point.co.x, float(round(point.co.y)))
        fcurve.update()


def worded(note: str) -> str:
    """Return a note without the object's name and without numbers."""
    return re.sub(r"[-\d.,e\s]+", " ", re.sub(r'^".*?", ', "", note))


class Case(Edits):
    """Twins on a stage, edits made to them, and the verdict after an update."""

    factors = (0.3, 0.5, 0.7, 0.9, 1.3, 1.5, 2.0, -1.0)

    def __init__(self, stage: Stage, setting: Setting, others: bool = False) -> None:
        self.animation, self.setting, self.stage = stage.animation, setting, stage
        self.mode, self.options = setting.mode, OUTPUTS[setting.output]
        self.dice = random.Random(0)
        self.story: list[str] = []
        self.failures: list[str] = []
        """Edits that only one of the two accepted."""
        self.values = True
        """Whether the values of own keys can be compared: not where a bulk tool worked on a merged one."""
        self.inserted = False
        """Whether there are new keys: they take their interpolation from the keys before them."""
        self.merged = False
        """Whether own keys merged, so that the parameters of either may stay."""
        self.averaged: Points = {}
        """The twin's keys before some of them merged."""
        self.reversed = False
        """Whether keys were reversed in time, which negates bias and swaps eases, except the twin's."""
        self.keying = False
        """Whether the operator inserts keys. A generated one within 0.01 of a key to be inserted gets its value: then
        it is the animator's, as any that is keyed over."""
        self.bent = False
        """Whether a handle that plays a key's parameters was dragged; the twin's parameters stay."""
        self.noted: list[str] = []
        """Notes of updates between edits."""
        self.untouched: list[Name] = []
        """Channels that are not TCB, which an update must not change."""
        stage.clear()
        scene_now().frame_set(0)
        stage.place(setting, others)
        self._show("Live", "Plain")
        if self.mode == "BONES":
            bpy.ops.object.mode_set(mode="POSE")
        if setting.live:
            with quietly():
                operators.tcb.sync()

    def do(self, name: str, dice: random.Random | None = None) -> str:
        """Do the edit of that name, and return its kind."""
        self.dice = dice or self.dice
        self.kind, self.snaps = "", True
        self._key_siblings()
        before, points = _count(self.plain), points_of(self.plain)
        if before or name in ("key_pose", "paste_from_another"):
            said, _ = getattr(self, name)()
        else:
            said = "nothing"
        self.inserted |= name in INSERTING
        if name in MERGING and _count(self.plain) < before:
            self.merged, self.averaged = True, points
        # A mirror over the time axis negates values.
        self.reversed |= ("mirror" in said and "XAXIS" not in said) or "scaled by -" in said
        self.story.append(said)
        self._keep_notes()
        return self.kind or name

    def _select(self, chosen: Callable[[Any, Float32Array], BoolArray | bool]) -> None:
        self._end_edit()
        self._key_siblings()
        super()._select(chosen)

    def _key_siblings(self) -> None:
        """Key the twin's rotations as a whole after keys were inserted, where the baked object's are.

        A rotation is one value: where one channel of a baked one is keyed, the update keys all. The next edit of the
        keyed channel is not made to the others, and they stay.
        """
        if not self.inserted:
            return
        twin, live = channels(self.plain), channels(self.live)
        for name in (name for name in live if "rotation" in name[0] and name in twin):
            at = co(live[name])
            for frame, value in at[own_points(live[name])].tolist():
                beside = has_sibling(points_of(self.plain), name, frame)
                if beside and _row_at(co(twin[name])[:, 0], frame) is None:
                    twin[name].keyframe_points.insert(frame, value)

    def _keep_notes(self) -> None:
        """Store the notes of automatic updates."""
        action = self.live.animation_data.action
        self.noted += self._live("messages").notes_of(action) if action is not None else []
        # Keys that were kept in doubt are the animator's from now on, and their twin has none.
        self.values &= not any(DOUBT in note for note in self.noted)

    def _live(self, module: str) -> Any:
        return importlib.import_module(f"{self.animation.__name__.removesuffix('.animation')}.ui.live.{module}")

    def on_both(self, work: Callable[[Any], None]) -> None:
        refused = []
        for obj in self.twins:
            try:
                work(obj)
            except self.animation.AnimationError as refusal:
                refused.append((obj.name, str(refusal)))
        if len(refused) == 1:
            self.failures.append(f"{refused[0][0]} only: {refused[0][1]}")

    @contextmanager
    def between(self) -> Iterator[None]:
        """Give the twin the own keys of the baked object right after an edit, before any update.

        A key of the twin that is missing then was deleted by the edit.
        """
        twin, live = channels(self.plain), channels(self.live)
        for name, fcurve in twin.items():
            at = co(live[name]) if name in live else np.empty((0, 2), dtype=np.float32)
            for frame, value in co(fcurve).tolist():
                row = _row_at(at[:, 0], frame)
                if row is None or abs(at[row, 1] - value) > SAME_VALUE * (1 + abs(value)):
                    self.values = False
        self.inserted = True
        with _unseen(), self._alone("Live"):
            yield
        self.follow()
        self.note()

    def follow(self) -> None:
        """Give the twin's keys the values of the baked object's at the same frames, and its new keys."""
        live = channels(self.live)
        for name, fcurve in channels(self.plain).items():
            if name not in live:
                points = fcurve.keyframe_points
                while len(points):
                    points.remove(points[0])
                continue
            _follow(fcurve, live[name], self.keying)

    def look(self) -> list[str]:
        """Update what is baked; return the notes that are not given for unedited keys."""
        return [note for note in self._look() if worded(note) not in self.stage.said]

    def _look(self) -> list[str]:
        if self.setting.live:
            report = self._flush()
            return [*(f"refused: {text}" for text in report.refused), *report.notes]
        try:
            report = self.animation.bake(self.live, **self.options)
        except self.animation.AnimationError as refusal:
            # None of the object's tracks was changed.
            return [f"refused: {refusal}", *(f'refused: "Live", {path}, with it' for path in self._paths())]
        return [*(f"refused: {text}" for text in report.refused), *report.notes]

    def note(self) -> None:
        """Let the extension record edits, as it does in a window when an edit ends."""
        self._flush()
        self._keep_notes()

    def _flush(self) -> Any:
        action = self.live.animation_data.action
        if action is not None:
            self._live("handlers").mark(action)
        with quietly():
            return self._live("handlers").flush()

    def judge(self) -> Verdict:
        """Update, restore, and compare the result with the twin."""
        self._keep_notes()
        try:
            passes_by = any(map(self.passes_by_keys, self._paths()))
        except ValueError:
            passes_by = False
        before, shown = self._all_bits(), points_of(self.live)
        notes = self.look()
        refused = set(re.findall(r'"Live", (.+?), ', "\n".join(note for note in notes if note.startswith("refused"))))
        changed = [name for name, bits in self._all_bits().items() if name[0] in refused and before[name] != bits]
        touched = [name for name in self.untouched if self._bits(self.live, name) != self._bits(self.plain, name)]
        live = self.live
        parameters = parameters_of(self.animation, live)
        try:
            # Blender 4.2 drops an action without keys.
            if live.animation_data.action is not None:
                self.animation.restore(live)
        except self.animation.AnimationError as refusal:
            if not refusal.nothing_to_do:
                raise
        got = Own(points_of(live), kinds_of(live), parameters)
        wanted = Own.of(self.animation, self.plain)
        if self.setting.output == "handles":
            _take_signs(wanted, got, shown)
        _take_last(wanted, got, self.averaged)
        verdict = compare(
            wanted,
            got,
            values=self.values and not passes_by,
            parameters=not (self.merged or self.reversed or self.bent),
            inserted=self.inserted,
            keeps_curve=self.inserted and self.setting.output == "handles",
        )
        for text in self.failures:
            verdict.add("lost", text)
        for path, index in touched:
            verdict.add("lost", f"{path}[{index}]: not TCB, and changed")
        verdict.notes = [*notes, *self.noted]
        verdict.told(refused, self.noted, any("flipped" in said for said in self.story))
        for path, index in changed:
            verdict.add("error", f"{path}[{index}]: refused, and changed")
        return verdict

    def _all_bits(self) -> dict[Name, list[bytes]]:
        return {name: self._bits(self.live, name) for name in channels(self.live)}

    @staticmethod
    def _bits(obj: Any, name: Name) -> list[bytes]:
        fcurve = channels(obj).get(name)
        points: Any = [] if fcurve is None else fcurve.keyframe_points
        result = []
        for field_name in ("co", "handle_left", "handle_right") if len(points) else ():
            numbers = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get(field_name, numbers)
            result.append(numbers.tobytes())
        return result

    def run_operator(self, ui_type: str, module: str, name: str, how: dict[str, Any]) -> None:
        self.keying = name in ("bake_keys", "keyframe_insert")
        super().run_operator(ui_type, module, name, how)
        self._bend((name, how.get("type")) in DRAGGING)

    def scale_values(self) -> Done:
        # For a key with the value 0 only the handles are scaled.
        self._bend(True)
        return super().scale_values()

    def _bend(self, dragged: bool) -> None:
        """Record that handles were dragged, which changes parameters of keys where handles play."""
        self.bent |= dragged and self.setting.output == "handles"

    # Edits that only pairs use, not random walks.

    def free_frames(self, path: str, index: int) -> list[float]:
        """Return whole frames among the twin's keys of a channel at which it has none."""
        own = [co(f)[:, 0] for f in rows(self.plain) if (f.data_path, f.array_index) == (path, index)]
        if not own or len(own[0]) < 2:
            return []
        span = range(int(np.ceil(own[0][0])) + 1, int(own[0][-1]))
        return [float(frame) for frame in span if np.abs(own[0] - frame).min() > 0.5]

    def channel(self) -> Name:
        """Return a random one of the twin's channels with keys."""
        return self.dice.choice(list(channels(self.plain)))

    def value_at(self, path: str, index: int, frame: float) -> float:
        """Return the value of the baked channel."""
        fcurve = channels(self.live).get((path, index))
        return 0.0 if fcurve is None else float(fcurve.evaluate(frame))

    def key_opposite(self) -> Done:
        """Key the negated value over a generated key: in one channel, or in all."""
        path, index = self.channel()
        free = self.free_frames(path, index)
        if not free:
            return "nothing", ALL
        frame = self.dice.choice(free)
        values = [-self.value_at(path, n, frame) for n in range(4)]
        index = self.dice.choice((index, -1))
        if any(abs(value) < 0.01 for value in (values[:3] if index < 0 else [values[index]])):
            return "nothing", ALL
        self.key_at(path, frame, values, index)
        return f"{path}[{index}] keyed at {frame:g}, the opposite value", KEYS

    def key_many(self) -> Done:
        """Key values 1 above the curve on several consecutive frames."""
        path, index = self.channel()
        free = self.free_frames(path, index)
        if not free:
            return "nothing", ALL
        first = self.dice.randrange(len(free))
        frames = free[first : first + self.dice.choice((2, 5, 12, 40))]
        self.key_more(path, index, frames, 1.0)
        return f"{path}[{index}] keyed 1 more at {frames[0]:g} to {frames[-1]:g}", KEYS

    def key_more(self, path: str, index: int, frames: Sequence[float], amount: float) -> None:
        """Insert keys with values `amount` above the curve."""
        values = [self.value_at(path, index, frame) + amount for frame in frames]

        def work(obj: Any) -> None:
            fcurve = channels(obj).get((path, index))
            if fcurve is not None:
                for frame, value in zip(frames, values, strict=True):
                    fcurve.keyframe_points.insert(frame, value)

        self.on_both(work)

    def move_by_script(self) -> Done:
        """Change a key's frame without Blender's transform: onto a generated key, mostly."""
        path, index = self.channel()
        free = self.free_frames(path, index)
        if not free:
            return "nothing", ALL
        at = self.dice.choice(co(channels(self.plain)[path, index])[:, 0].tolist())
        to = self.dice.choice(free)
        self.set_point(path, index, at, to - at, 0.0)
        held = channels(self.live)[path, index]
        own = co(held)[own_points(held), 0]
        if _row_at(own, to) is None:
            # Of two keys at one frame Blender kept the generated one, as if the own key had been deleted.
            self.remove_point(path, index, to, ("Plain",))
        return f"{path}[{index}] moved from {at:g} to {to:g} by a script", ALL

    def shift_by_script(self) -> Done:
        """Shift all keys, generated ones too, in bulk."""
        frames, amount = self.dice.choice(((5.0, 0.0), (-2.5, 0.0), (0.0, 1.5), (3.0, -0.5)))
        self.shift(frames, amount)
        return f"all shifted by ({frames:g}, {amount:g}) by a script", ALL

    def shift(self, frames: float, amount: float) -> None:
        """Add to frames and values of all keys and handles."""

        def work(obj: Any) -> None:
            for fcurve in fcurves(obj):
                value = amount if (fcurve.data_path, fcurve.array_index) in channels(obj) else 0.0
                for name in ("co", "handle_left", "handle_right"):
                    numbers = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
                    fcurve.keyframe_points.foreach_get(name, numbers)
                    numbers[0::2] += np.float32(frames)
                    numbers[1::2] += np.float32(value)
                    fcurve.keyframe_points.foreach_set(name, numbers)
                fcurve.update()

        self.on_both(work)

    def remove_by_script(self) -> Done:
        """Remove a key of one channel."""
        path, index = self.channel()
        at = self.dice.choice(co(channels(self.plain)[path, index])[:, 0].tolist())
        self.remove_point(path, index, at)
        return f"{path}[{index}] at {at:g} removed by a script", ALL

    def remove_point(self, path: str, index: int, at: float, names: Sequence[str] = ("Live", "Plain")) -> None:
        """Remove the key of the channel there."""

        def work(obj: Any) -> None:
            fcurve = channels(obj).get((path, index)) if obj.name in names else None
            row = None if fcurve is None else _row_at(co(fcurve)[:, 0], at)
            if fcurve is not None and row is not None:
                fcurve.keyframe_points.remove(fcurve.keyframe_points[row])

        self.on_both(work)

    def delete_row(self) -> Done:
        """Delete a key of one channel with X."""
        where = self.row()
        self.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"{where}: deleted", ALL

    def channels_delete(self) -> Done:
        """Delete the rows of one channel or one track with X."""
        path, index = self.channel()
        whole = self.dice.random() < 0.6
        self.delete_channels(lambda name: name[0] == path and (whole or name[1] == index))
        return f"{path}{'' if whole else f'[{index}]'}: channels deleted", ALL

    def delete_channels(self, chosen: Callable[[Name], bool]) -> None:
        """Delete those of the animator's rows."""
        for obj in self.twins:
            own = channels(obj)
            for fcurve in fcurves(obj):
                name = (fcurve.data_path, fcurve.array_index)
                fcurve.select = name in own and chosen(name)
                if fcurve.group is not None:
                    fcurve.group.select = False
                    # Rows of a closed group can't be selected, nor deleted.
                    fcurve.group.show_expanded = True
        with editor("DOPESHEET", "CHANNELS"):
            bpy.ops.anim.channels_delete()

    def to_deltas(self) -> Done:
        """Run Animated Transforms to Deltas: F-curves get other paths."""
        if self.mode == "BONES":
            return "nothing", ALL
        bpy.ops.object.anim_transforms_to_deltas()
        return "transforms to deltas", ALL

    def graph_paste(self) -> Done:
        """Copy in the Graph Editor, and paste there."""
        where = self.graph()
        frame = self.dice.randint(-5, 60)
        for name in ("Live", "Plain"):
            with self._alone(name), editor("FCURVES"):
                bpy.ops.graph.copy()
                scene_now().frame_set(frame)
                bpy.ops.graph.paste()
        return f"{where}: pasted at {frame} there", ALL

    def drag_value(self) -> Done:
        """Drag one key up or down in the Graph Editor."""
        where = self.row()
        amount = self.dice.choice((0.5, -1.0, 3.0))
        self.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(0.0, amount, 0.0)))
        return f"{where}: dragged by {amount}", KEYS

    def move_all_values(self) -> Done:
        """Drag all keys, generated ones too, up or down in the Graph Editor."""
        self.all()
        amount = self.dice.choice((0.5, -1.0, 3.0))
        self.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(0.0, amount, 0.0)))
        return f"all: dragged by {amount}", KEYS

    def drag_handle(self) -> Done:
        """Drag a handle: no key changes its frame or value."""
        path, index = self.channel()
        at = self.dice.choice(co(channels(self.plain)[path, index])[:, 0].tolist())

        def work(obj: Any) -> None:
            fcurve = channels(obj).get((path, index))
            row = None if fcurve is None else _row_at(co(fcurve)[:, 0], at)
            if fcurve is not None and row is not None:
                point = fcurve.keyframe_points[row]
                point.handle_right = (point.co.x + 1.0, point.co.y + 2.0)

        self.on_both(work)
        self._bend(True)
        return f"{path}[{index}] at {at:g}: handle dragged", KEYS

    def generated_key(self) -> tuple[str, int, float] | None:
        """Choose a generated key of a channel; return its path, index and frame."""
        path, index = self.channel()
        held = channels(self.live)[path, index]
        at = co(held)[~own_points(held), 0]
        free = [frame for frame in self.free_frames(path, index) if _row_at(at, frame) is not None]
        if not free:
            return None
        return path, index, float(at[_row_at(at, self.dice.choice(free))])

    def drag_generated(self) -> Done:
        """Drag one generated key up: it becomes the animator's."""
        picked = self.generated_key()
        if picked is None:
            return "nothing", ALL
        path, index, frame = picked
        self.select_key(path, index, frame)
        self.do_in("FCURVES", lambda: bpy.ops.transform.translate(value=(0.0, 0.5, 0.0)))
        self.give_twin(path, index, frame)
        return f"{path}[{index}] at {frame:g}: generated key dragged", KEYS

    def retype_generated(self) -> Done:
        """Give a generated key another type: it becomes the animator's."""
        picked = self.generated_key()
        if picked is None:
            return "nothing", ALL
        path, index, frame = picked
        self.select_key(path, index, frame)
        kind: Any = self.dice.choice(("KEYFRAME", "EXTREME"))
        self.do_in("DOPESHEET", lambda: bpy.ops.action.keyframe_type(type=kind))
        self.give_twin(path, index, frame, kind)
        return f"{path}[{index}] at {frame:g}: generated key made {kind}", KEYS

    def give_twin(self, path: str, index: int, frame: float, kind: str = "KEYFRAME") -> None:
        """Insert a key for the twin where a generated one became the animator's."""
        held = co(channels(self.live)[path, index])
        row = _row_at(held[:, 0], frame)
        if row is not None:
            at, value = held[row].tolist()
            self.find_twin(path, index).keyframe_points.insert(at, value).type = kind

    def find_twin(self, path: str, index: int) -> Any:
        """Return the twin's F-curve."""
        return channels(self.plain)[path, index]

    def move_generated(self) -> Done:
        """Move a column of generated keys in time: they go back, and don't become own keys."""
        own = self.frames()
        free = [float(n) for n in range(int(own[0]) + 1, int(own[-1])) if min(abs(n - frame) for frame in own) > 0.5]
        if not free:
            return "nothing", ALL
        frame, amount = self.dice.choice(free), self.dice.choice((0.3, 3.0, -12.0, 1.0))
        self.snaps = amount.is_integer()
        self.select_at(frame)
        self.do_in("DOPESHEET", lambda: bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(amount, 0, 0, 0)))
        return f"generated column {frame:g}: moved by {amount}", ALL

    def delete_generated(self) -> Done:
        """Delete columns of generated keys: they come back, and no own key is lost."""
        own = self.frames()
        low = self.dice.choice(own)
        near = np.asarray(own, dtype=np.float32)

        def chosen(_fcurve: Any, at: Any) -> Any:
            return (low <= at) & (at < low + 12) & (np.abs(at[:, None] - near).min(axis=1, initial=99.0) > 0.1)

        self._select(chosen)
        self.do_in("DOPESHEET", lambda: bpy.ops.action.delete(confirm=False))
        return f"generated keys from {low:g} on deleted", ALL

    def choose_cycle(self) -> Done:
        """Choose another cycle or other ends."""
        paths = [path for path in self._paths() if self._full_columns(path)]
        if not paths:
            return "nothing", NONE
        path = self.dice.choice(paths)
        choices = [("cycle", each) for each in ("SINGLE", "REPEAT", "LOOP")] + [("ends", "TANGENT")]
        name, option = self.dice.choice(choices)
        self.on_both(lambda obj: self.animation.choose(obj, path, **{name: option}))
        return f"{path} {name} {option}", ALL


@contextmanager
def _unseen() -> Iterator[None]:
    """Disable the handlers that process edits when they end."""
    handlers: Any = bpy.app.handlers.depsgraph_update_post
    kept = list(handlers)
    handlers.clear()
    yield
    handlers.extend(kept)


def _count(obj: Any) -> int:
    return sum(len(fcurve.keyframe_points) for fcurve in channels(obj).values())


def _take_signs(wanted: Own, got: Own, shown: Points) -> None:
    """Set the expected values of quaternions to what was played, up to the sign.

    Handles may play a key negated, and an edit changes that.
    """
    for name, points in wanted.points.items():
        if "quaternion" not in name[0] or name not in got.points or name not in shown:
            continue
        for row in points:
            mine, seen = _row_at(got.points[name][:, 0], row[0]), _row_at(shown[name][:, 0], row[0])
            if mine is not None and seen is not None:
                value = got.points[name][mine, 1]
                if abs(abs(value) - abs(shown[name][seen, 1])) <= SAME_VALUE * (1 + abs(value)):
                    row[1] = value


def _take_last(wanted: Own, got: Own, before: Points) -> None:
    """Set the expected values of merged keys to that of one of them, where it has that value.

    Blender gives keys that land on one frame their mean, except where it moved them past others on the way there, such
    as generated ones: then the last one stays with its value.
    """
    for name, points in before.items():
        for row in wanted.points.get(name, ()):
            mine = None if name not in got.points else _row_at(got.points[name][:, 0], row[0])
            if mine is not None and not _is_among(row[1], points[:, 1]):
                value = got.points[name][mine, 1]
                row[1] = value if _is_among(value, points[:, 1]) else row[1]


def _is_among(value: float, values: Float32Array) -> bool:
    return bool((np.abs(values - value) <= SAME_VALUE * (1 + abs(value))).any())


def _row_at(frames: Any, frame: float) -> int | None:
    if not len(frames):
        return None
    row = int(np.argmin(np.abs(frames - frame)))
    return row if abs(frames[row] - frame) <= SAME_FRAME else None


def _follow(twin: Any, live: Any, keying: bool) -> None:
    at, own = co(live), own_points(live)
    if keying:
        own |= np.array([abs(point.co.y - point.back) > KEYED * abs(point.back) for point in live.keyframe_points])
    held = co(twin)
    taken = set()
    for row in reversed(range(len(held))):
        there = _row_at(at[:, 0], float(held[row, 0]))
        if there is None:
            twin.keyframe_points.remove(twin.keyframe_points[row])
            continue
        taken.add(there)
        point = twin.keyframe_points[row]
        point.co_ui = (point.co.x, float(at[there, 1]))
    for row in np.flatnonzero(own).tolist():
        if row not in taken:
            source = live.keyframe_points[row]
            twin.keyframe_points.insert(float(at[row, 0]), float(at[row, 1])).type = source.type
    twin.update()


@contextmanager
def quietly() -> Iterator[list[str]]:
    """Suppress what is printed, by Blender too; afterwards its lines are in the list."""
    lines: list[str] = []
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()


MERGING = frozenset(
    {
        "move",
        "scale",
        "mirror",
        "snap",
        "duplicate",
        "move_values",
        "graph_operator",
        "action_operator",
        "move_by_script",
        "shift_by_script",
    }
)
"""Edits that have merged own keys where the twin has fewer of them afterwards."""
INSERTING = frozenset({"key_pose", "key_opposite", "key_many", "drag_generated", "retype_generated"})
KEYED = 1e-5
"""Relative to its value: a generated key that differs by more has been keyed over."""
DRAGGING = (("equalize_handles", None), ("snap", "HORIZONTAL"), ("mirror", "XAXIS"))
"""Operators that move handles and no keys; Mirror does for a key with value 0."""
PAIRED = (
    ("move", 20),
    ("scale", 8),
    ("mirror", 3),
    ("snap", 3),
    ("duplicate", 5),
    ("delete", 5),
    ("delete_row", 4),
    ("paste", 5),
    ("paste_flipped", 3),
    ("paste_from_another", 3),
    ("graph_paste", 3),
    ("set_kind", 6),
    ("extrapolate", 1),
    ("key_pose", 8),
    ("key_opposite", 5),
    ("key_many", 4),
    ("set_value", 4),
    ("move_by_script", 4),
    ("shift_by_script", 2),
    ("remove_by_script", 3),
    ("move_values", 5),
    ("move_all_values", 2),
    ("drag_value", 6),
    ("drag_handle", 2),
    ("drag_generated", 4),
    ("retype_generated", 3),
    ("move_generated", 3),
    ("delete_generated", 2),
    ("scale_values", 3),
    ("graph_operator", 6),
    ("action_operator", 5),
    ("slide", 6),
    ("choose_cycle", 2),
    ("channels_delete", 3),
    ("to_deltas", 1),
)
"""The edits of pairs, and their weights."""


@dataclass
class Result:
    """The result of one pair."""

    case: str
    setting: Setting
    kinds: list[str]
    story: list[str]
    verdict: Verdict = field(default_factory=Verdict)
    error: str = ""

    @property
    def worst(self) -> str:
        return "error" if self.error else self.verdict.worst

    @property
    def size(self) -> tuple[int, int, str]:
        """Return a key that sorts results by how easy they are to understand."""
        plain = [self.setting.mode in ("XYZ", "QUATERNION"), self.setting.output == "samples"]
        plain += [self.setting.cycle == "SINGLE", self.setting.shape == "plain"]
        return self.verdict.size, -sum(plain), self.case


def run_pair(
    stage: Stage, seed: int, number: int, methods: bool = False, only: int | None = None, between: bool = False
) -> Result:
    """Run pair `number` of that seed: both edits, or the first or second one `only`, and judge.

    The edits are made as in a script, or with updates as in a window `between` them.
    """
    dice = random.Random(f"{seed}/{number}")
    setting = settings_by(dice)
    names = [*PAIRED, ("choose", 4), ("give_velocity", 2)] if methods else list(PAIRED)
    chosen = dice.choices([name for name, _ in names], [weight for _, weight in names], k=2)
    result = Result(f"{seed}/{number}", setting, [], [])
    case = Case(stage, setting, "paste_from_another" in chosen)
    try:
        for place, name in enumerate(chosen):
            if only in (None, place):
                if place and between and only is None:
                    case.note()
                with quietly():
                    result.kinds.append(case.do(name, random.Random(f"{seed}/{number}/{place}")))
        result.verdict = case.judge()
    except Exception as error:
        result.error = f"{type(error).__name__}: {str(error).strip()}"
    result.story = case.story
    return result
