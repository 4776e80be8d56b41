# SPDX-License-Identifier: GPL-3.0-or-later
"""Random sequences of edits to TCB tracks and to a plain twin that gets the same edits.

Each sequence has one or two objects, played with handles, with Live on or off, and for each object a twin that was
never TCB. Edits by Blender are applied to both. While a track is baked, the twin's F-curves are locked as well, so
edits change neither. After each step and at the end, the animator's keys must have the frames, values, interpolations,
easings and types of the twin's keys, and the parameters that they were given.

Each of the twin's keys has a number in `back`, in the same way as TCB keys have identities, and the parameters for each
number are known. If Live may derive parameters from a dragged handle or an inserted key, they are read from the TCB key
at the next comparison. Mirroring in time may reverse parameters. If handles play a partly keyed rotation, the other
channels get keys, and the twin copies these keys only.

Kinds of differences:

lost
    A key is missing, or its value, interpolation, easing or type differs.
appeared
    A key exists that the twin does not have.
parameters
    The parameters of a key differ from those it was given.
changed
    An edit changed a baked track, or the bits that Free Bake restored differ from those before the bake.
doubt
    Live reported doubt, a loss, or an edit outside TCB.
error
    An exception was raised, or a bake could not be freed.
"""

from __future__ import annotations

import importlib
import random
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from tests.animation.curves import PARAMETERS, bits, channels, co, key, new_object, rotation_path
from tests.animation.live import notes_of
from tests.animation.random_edits import EDITS, FRAMES, UNNUMBERED, Edits, Floats, Name, Pair

DOUBT = re.compile(r"can't be told|doubt|\blost\b|edited outside|Live failed|no longer|damaged")
"""Messages of Live about doubt or loss."""

MOST_KEYS, FARTHEST = 9, 300.0
"""The largest number of keys in a channel, and the largest frame. Excess keys are removed, distant keys moved back."""
LEAST = {"tension": -1.0, "continuity": -1.0, "bias": -1.0, "ease_to": 0.0, "ease_from": 0.0}
_SAME_ANGLE = 2e-5
"""Tolerance in radians, because angles of several turns are rounded to float32."""
UNKNOWN = 0
"""The number given to keys with unknown parameters: new keys, and keys with a dragged handle."""
FIRST_NUMBER = 1000
PARAMETER_TOLERANCE = 2e-6
PUSHED = 0.0015
"""Distance in frames by which Blender pushes handles off keys."""
UPDATES = 4
"""The number of updates by Blender between a placement of handles by Live and a bake."""

_KINDS = ("interpolation", "easing", "type")
_PAIRS = ("co", "handle_left", "handle_right")

Numbers = tuple[float, ...]
"""The five parameters of a key, with NaN for unknown parameters."""


FIRST, OTHER = Pair("Live", "Plain"), Pair("Other Live", "Other Plain")


class Difference(NamedTuple):
    kind: str
    text: str


@dataclass
class Result:
    """The result of one sequence."""

    case: str
    story: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


class Keys(NamedTuple):
    """The keys of one F-curve."""

    co: Floats
    kinds: npt.NDArray[np.uint8]
    """Interpolation, easing and type, shape (n, 3)."""
    back: Floats

    @property
    def frames(self) -> Floats:
        return self.co[:, 0]


def read(fcurve: Any) -> Keys:
    if fcurve is None:
        return Keys(np.empty((0, 2), np.float32), np.empty((0, 3), np.uint8), np.empty(0, np.float32))
    points = fcurve.keyframe_points
    kinds = np.empty((3, len(points)), dtype=np.uint8)
    for row, name in zip(kinds, _KINDS, strict=True):
        points.foreach_get(name, row)
    back = np.empty(len(points), dtype=np.float32)
    points.foreach_get("back", back)
    return Keys(co(fcurve), kinds.T, back)


def content(fcurve: Any, with_handles: bool = True) -> dict[str, Any]:
    """Return the data of an F-curve, without identities and selection, and with or without handles."""
    names = (*_PAIRS, "handle_left_type", "handle_right_type") if with_handles else ("co",)
    data = bits(fcurve)
    return {name: data[name] for name in (*names, *_KINDS, "extrapolation")}


def handles(fcurve: Any) -> Floats:
    """Return the frames and values of all left handles, then of all right handles, shape (2 n, 2)."""
    points = fcurve.keyframe_points
    floats = np.empty((2, 2 * len(points)), dtype=np.float32)
    for row, name in zip(floats, _PAIRS[1:], strict=True):
        points.foreach_get(name, row)
    return floats.reshape(-1, 2)


def turned_by_an_update(fcurve: Any) -> Floats:
    """Update an F-curve, and return the distance in value by which this moves each handle, in the order of `handles`.

    At each update, Blender aligns both handles of a key again, and rounds the direction of a handle that is on the key.
    """
    before = handles(fcurve)
    fcurve.update()
    after = handles(fcurve)
    # An update also merges keys at the same frame. Any difference between the handles of such curves counts.
    return np.abs(after - before)[:, 1] if len(after) == len(before) else np.zeros(len(before), dtype=np.float32)


def unlike(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return the names of the attributes that differ."""
    return ", ".join(name for name in one if one[name] != other[name])


def number_of(back: float) -> int:
    return UNKNOWN if back == UNNUMBERED else round(back)


def mirrored(numbers: Numbers) -> Numbers:
    """Return the parameters for reversed time."""
    tension, continuity, bias, ease_to, ease_from = numbers
    return tension, continuity, -bias, ease_from, ease_to


def is_like(numbers: Sequence[float], wanted: Numbers, exactly: bool = False) -> bool:
    """Return whether the parameters are as wanted. With `exactly`, none of the wanted parameters may be unknown."""
    unlike = [
        not abs(a - b) <= PARAMETER_TOLERANCE and (exactly or b == b) for a, b in zip(numbers, wanted, strict=True)
    ]
    return not any(unlike)


class Stage:
    """The extension, and the empty file in which each sequence begins."""

    def __init__(self, animation: Any, folder: Path) -> None:
        self.animation, self.folder = animation, folder
        package = animation.__name__.removesuffix(".animation")
        self.updates: Any = importlib.import_module(f"{package}.ui.live.updates")
        self.empty = str(folder / "empty.blend")
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.wm.save_as_mainfile(filepath=self.empty, copy=True, compress=False)

    def run(self, seed: int, number: int, steps: Iterable[int] | None = None) -> Result:
        """Run a sequence, or only the given steps of it."""
        sequence = EditSequence(self, seed, number)
        try:
            sequence.run(None if steps is None else set(steps))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            place = next((f for f in reversed(frames) if f.filename != __file__), frames[-1])
            text = f"{type(error).__name__}: {str(error).strip()} ({Path(place.filename).name}:{place.lineno})"
            sequence.result.differences.append(Difference("error", text))
        return sequence.result

    def reduced(self, seed: int, number: int, result: Result) -> Result:
        """Return the result of the shortest list of steps found that leads to a difference of the same kind."""
        kind = result.differences[0].kind
        # An error may occur before its step is described.
        steps = list(range(len(result.story) + (kind == "error")))
        for step in reversed(steps):
            fewer = [other for other in steps if other != step]
            shorter = self.run(seed, number, fewer)
            if any(difference.kind == kind for difference in shorter.differences):
                steps, result = fewer, shorter
        return result


TOOLS = (
    ("key_set", 8),
    ("choose", 3),
    ("bake", 9),
    ("free", 5),
    ("play_by_handles", 3),
    ("restore", 3),
    ("switch_live", 4),
    ("remove_and_enable", 1),
    ("undo", 8),
    ("save_and_load", 3),
)
"""The extension's own tools, undo and files. They may write to baked tracks."""


class EditSequence(Edits):
    """One sequence: its objects, its steps and the comparisons."""

    def __init__(self, stage: Stage, seed: int, number: int) -> None:
        self.stage, self.animation = stage, stage.animation
        self.case = f"{seed}/{number}"
        dice = self.dice_of("setting")
        self.mode = dice.choice(("QUATERNION", "QUATERNION", "XYZ", "XYZ", "ZXY"))
        rotation = rotation_path(self.mode)
        self.paths = dice.choice((("location",), (rotation,), ("location", rotation), ("location", rotation)))
        self.starts_live = dice.random() < 0.65
        self.is_window = dice.random() < 0.5
        """True if Live looks for edits after their undo step was stored, as in a window, not within each operator."""
        self.count = dice.randint(6, 15)
        self.pairs = (FIRST, OTHER) if dice.random() < 0.3 else (FIRST,)
        self.grouped = dice.random() < 0.5
        self.pair = FIRST
        self.next_number = FIRST_NUMBER
        self.known: dict[int, list[Numbers]] = {UNKNOWN: [(np.nan,) * 5]}
        """The parameters that keys with each number may have."""
        self.derived: set[int] = set()
        """Numbers of keys whose parameters Live has derived from an edit."""
        self.orders: dict[tuple[str, str, int], list[tuple[int, float]]] = {}
        """Numbers and frames of a channel's keys when their parameters were last known."""
        self.reversed: dict[tuple[str, str, int], set[int]] = {}
        """Numbers of a channel's keys that may have been mirrored since their parameters were last known."""
        self.saved: dict[tuple[str, str], tuple[bool, dict[Name, dict[str, Any]]]] = {}
        """For each baked track, True if handles played it before the bake, and its bits at that time."""
        self.pushes = 0
        self.result = Result(self.case)
        self.seen: set[Difference] = set()

    def dice_of(self, what: object) -> random.Random:
        return random.Random(f"{self.case}/{what}")

    # The sequence

    def run(self, steps: set[int] | None) -> None:
        self.set_up()
        for step in range(self.count):
            if steps is None or step in steps:
                self._step(step)
            else:
                self.result.story.append("-")
            if self.result.differences:
                return
        self._end()

    def set_up(self) -> None:
        bpy.ops.wm.open_mainfile(filepath=self.stage.empty, load_ui=False)
        dice = self.dice_of("keys")
        for pair in self.pairs:
            values = {path: self._values_of(path, dice) for path in self.paths}
            for name in pair:
                obj = new_object(name, self.mode)
                for path in self.paths:
                    key(obj, path, list(zip(FRAMES, values[path], strict=True)), "Transform" if self.grouped else "")
            obj = bpy.data.objects[pair.live]
            self.pair = pair
            self.animation.enable(obj, keep_look=False)
            for path in self.paths:
                self._set_all_known(path, (0.0,) * 5)
                for _ in range(2):
                    self._set_key(path, dice.choice(FRAMES), self._some_parameters(dice))
            if self.starts_live:
                obj.animation_data.action.tcb_live = True
            else:
                self.animation.bake(obj, output="HANDLES")
        self.pair = FIRST
        self._settle()
        self.check()
        bpy.ops.ed.undo_push(message="start")
        self.pushes = 1

    def _values_of(self, path: str, dice: random.Random) -> list[list[float]]:
        if path == "rotation_quaternion":
            return [[dice.uniform(-1, 1) for _ in range(4)] for _ in FRAMES]
        most = 2.0 if path == "location" else 1.2
        return [[dice.uniform(-most, most) for _ in range(3)] for _ in FRAMES]

    def _step(self, step: int) -> None:
        dice = self.dice_of(step)
        self.pair = dice.choice(self.pairs)
        name = self._choose(dice)
        before = self._locked_content()
        with self._unseen() if self.is_window else nullcontext():
            said = getattr(self, name)(dice)
            if said and name not in ("undo", "save_and_load"):
                self._lock_twins()
                bpy.ops.ed.undo_push(message=said[:60])
                self.pushes += 1
        self._settle()
        self._lock_twins()
        about = "" if self.pair == FIRST else f"{self.pair.live}: "
        self.result.story.append(f"{about}{said or name + ': nothing'}")
        if name in dict(EDITS) or name in ("thin_out", "come_back"):
            for place, after in self._locked_content().items():
                if place in before and before[place] != after:
                    what = unlike(before[place], after)
                    self._add("changed", f'"{place[0]}", {place[1]}[{place[2]}]: baked, but the edit changed {what}')
        self.check()

    def _choose(self, dice: random.Random) -> str:
        curves = self.free_curves()
        most = max((len(fcurve.keyframe_points) for fcurve in curves.values()), default=0)
        least = min((len(fcurve.keyframe_points) for fcurve in curves.values()), default=0)
        frames = self.frames()
        edits = EDITS if frames else ()
        if most > MOST_KEYS:
            return "thin_out"
        if curves and least < 2:
            return "insert"
        if frames and (max(map(abs, frames)) > FARTHEST or frames[-1] - frames[0] < 8):
            return "come_back"
        names, weights = zip(*(*edits, *TOOLS), strict=True)
        return dice.choices(names, weights)[0]

    def _end(self) -> None:
        """Free all bakes and compare again. Then play all tracks with handles twice, and restore them."""
        for _ in self._each_pair():
            if self._baked() and (not self._try(self.animation.free, self.live) or self._baked()):
                self._add("error", f'"{self.pair.live}": {", ".join(self._baked())} can not be freed')
        self._settle()
        self._lock_twins()
        self.check()
        if self.result.differences:
            return
        for _ in self._each_pair():
            if self.live.animation_data.action.tcb_live:
                self._check_handles()
            self._try(self.animation.restore, self.live)
        self._settle()
        self.check()

    def _check_handles(self) -> None:
        """Compare the handles placed by Live with the handles from a bake of all tracks."""
        played = [path for path in self.paths if self._track(path).is_played_by_handles]
        before = {name: handles(fcurve) for name, fcurve in channels(self.live).items() if name[0] in played}
        if self._try(self.animation.bake, self.live, output="HANDLES"):
            curves = channels(self.live)
            for name, floats in before.items():
                frames, values = np.abs(handles(curves[name]) - floats).T
                # Blender pushes handles off keys if they were placed on them.
                is_moved = values.any() and (values > UPDATES * turned_by_an_update(curves[name])).any()
                if is_moved or (frames > PUSHED).any():
                    self._add("changed", f'"{self.pair.live}", {name[0]}[{name[1]}]: Live left handles out of date')

    @contextmanager
    def _unseen(self) -> Iterator[None]:
        """Keep handlers from processing edits before their undo step is stored."""
        handlers: Any = bpy.app.handlers.depsgraph_update_post
        kept = list(handlers)
        handlers.clear()
        try:
            yield
        finally:
            handlers.extend(kept)

    def _settle(self) -> None:
        """Let Live process an edit."""
        bpy.context.view_layer.update()
        self.stage.updates.mark_all()
        for _ in range(50):
            if self.stage.updates.tick(at_once=True) is None:
                return
        raise RuntimeError("Live never ends")

    def _try(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
        """Return whether the work succeeded. If it raises AnimationError, it must not have changed anything."""
        try:
            report = work(*arguments, **options)
        except self.animation.AnimationError as refusal:
            self._note(str(refusal))
            return False
        for note in [] if report is None else [*report.refused, *report.notes]:
            self._note(str(note))
        return True

    def _note(self, note: str) -> None:
        if DOUBT.search(note):
            self._add("doubt", note)

    # The extension's own tools

    def _track(self, path: str) -> Any:
        return self.animation.find_track(self.live, path)

    def _baked(self) -> list[str]:
        """Return the paths of the baked tracks."""
        return [path for path in self.paths if self._track(path).is_baked]

    def _is_playable(self, path: str) -> bool:
        """Return whether handles can play a track: one key per frame, at common frames in a rotation's channels."""
        frames = [co(fcurve)[:, 0] for name, fcurve in channels(self.plain).items() if name[0] == path]
        is_whole = path == "location" or len({each.tobytes() for each in frames}) == 1
        return is_whole and all(len(np.unique(each)) == len(each) for each in frames)

    def _some_parameters(self, dice: random.Random) -> dict[str, float]:
        names = dice.sample(PARAMETERS, dice.choice((1, 1, 2)))
        return {name: round(dice.uniform(LEAST[name], 1.0), 2) for name in names}

    def _set_all_known(self, path: str, numbers: Numbers) -> None:
        for name, fcurve in channels(self.plain).items():
            if name[0] == path:
                points = fcurve.keyframe_points
                points.foreach_set("back", np.float32([self._new_number([numbers]) for _ in points]))

    def _new_number(self, numbers: list[Numbers]) -> int:
        self.next_number += 1
        self.known[self.next_number] = numbers
        return self.next_number

    def _possible(self, name: Name) -> list[list[Numbers]]:
        """Return, for each key of the twin's F-curve, the parameters that the corresponding key may have."""
        keys = read(channels(self.plain)[name])
        numbers, frames = [number_of(back) for back in keys.back], keys.frames.tolist()
        before: dict[int, list[float]] = {}
        for number, frame in self.orders.get((self.pair.live, *name), ()):
            before.setdefault(number, []).append(frame)
        now = [(frame, old) for number, frame in zip(numbers, frames, strict=True) for old in before.get(number, ())]
        # Mirroring reverses the parameters of keys that were in the opposite order before. Copies of a mirrored key
        # have the parameters of the original. If Live is off, the updates in between are not known.
        reversed_ = self.reversed.setdefault((self.pair.live, *name), set())
        reversed_ |= {
            number
            for number, frame in zip(numbers, frames, strict=True)
            if number not in before
            or any((frame - other) * (was - old) < 0 for was in before[number] for other, old in now)
        }
        return [
            [*self.known[number], *(map(mirrored, self.known[number]) if number in reversed_ else ())]
            for number in numbers
        ]

    def _set_key(self, path: str, frame: float, numbers: dict[str, float]) -> bool:
        if not self._try(self.animation.key_set, self.live, path, frame, **numbers):
            return False
        for name, fcurve in channels(self.plain).items():
            if name[0] == path:
                for point, possible in zip(fcurve.keyframe_points, self._possible(name), strict=True):
                    if point.co.x == frame:
                        before = [dict(zip(PARAMETERS, each, strict=True)) for each in possible]
                        point.back = self._new_number([tuple({**each, **numbers}.values()) for each in before])
        self._forget_saved(path)
        return True

    def key_set(self, dice: random.Random) -> str:
        path = dice.choice(self.paths)
        frames = self.full_columns(path)
        if not frames:
            return ""
        frame, numbers = dice.choice(frames), self._some_parameters(dice)
        done = self._set_key(path, frame, numbers)
        return f"{path} at {frame:g}: {numbers}{'' if done else ', refused'}"

    def choose(self, dice: random.Random) -> str:
        path = dice.choice(self.paths)
        name, values = dice.choice(
            (
                ("cycle", ("SINGLE", "REPEAT", "LOOP")),
                ("ends", ("3DS", "TANGENT")),
                ("method", ("TCB", "CATMULL_ROM")),
                ("path", ("SHORTEST", "AS_KEYED")),
            )
        )
        if name in ("ends", "path") and path == "location":
            return ""
        value = dice.choice(values)
        self._try(self.animation.choose, self.live, path, **{name: value})
        self._forget_saved(path)
        return f"{path}: {name} {value}"

    def bake(self, dice: random.Random) -> str:
        """Bake all tracks or one track in any state."""
        options: dict[str, Any] = dice.choice(({}, {}, {"step": 2.0}, {"step": 0.5}, {"output": "CURVES"}))
        if dice.random() < 0.2:
            options = {**options, "extend": (-10, 80)}
        paths = list(self.paths) if dice.random() < 0.6 else [dice.choice(self.paths)]
        is_live = self.live.animation_data.action.tcb_live
        for path in paths:
            track = self._track(path)
            # Without Live, handles may be out of date. Handles that can't play a rotation are always out of date.
            if not track.is_baked and ((is_live and self._is_playable(path)) or not track.is_played):
                kept = {name: content(fcurve) for name, fcurve in channels(self.live).items() if name[0] == path}
                self.saved[self.pair.live, path] = track.is_played, kept
        self._try(self.animation.bake, self.live, prefixes=paths, **options)
        return f"{', '.join(paths)} baked {options}"

    def free(self, dice: random.Random) -> str:
        baked = self._baked()
        if not baked:
            return ""
        paths = baked if dice.random() < 0.6 else [dice.choice(baked)]
        if not self._try(self.animation.free, self.live, prefixes=paths):
            self._add("error", f'"{self.pair.live}": {", ".join(paths)} can not be freed')
            return "free"
        for path in paths:
            was_played, kept = self.saved.pop((self.pair.live, path), (False, {}))
            for name, before in kept.items() if self._track(path).is_played == was_played else ():
                fcurve = channels(self.live).get(name)
                what = "all" if fcurve is None else unlike(before, content(fcurve))
                if what:
                    text = f'"{self.pair.live}", {name[0]}[{name[1]}]: freed, but not as before its bake: {what}'
                    self._add("changed", text)
        return f"{', '.join(paths)} freed"

    def _forget_saved(self, path: str = "") -> None:
        """Stop expecting the bits from before a bake."""
        if path:
            self.saved.pop((self.pair.live, path), None)
        else:
            self.saved.clear()

    def play_by_handles(self, _dice: random.Random) -> str:
        self._forget_saved()
        self._try(self.animation.bake, self.live, output="HANDLES")
        return "played by handles"

    def restore(self, dice: random.Random) -> str:
        prefixes = None if dice.random() < 0.5 else [dice.choice(self.paths)]
        self._forget_saved()
        self._try(self.animation.restore, self.live, prefixes=prefixes)
        return f"{'all' if prefixes is None else prefixes[0]} restored"

    def switch_live(self, _dice: random.Random) -> str:
        action = self.live.animation_data.action
        action.tcb_live = not action.tcb_live
        return f"Live {'on' if action.tcb_live else 'off'}"

    def remove_and_enable(self, dice: random.Random) -> str:
        """Make a track plain and then TCB again, which removes its parameters."""
        path = dice.choice(self.paths)
        self._forget_saved()
        if not self._try(self.animation.remove, self.live, prefixes=[path]):
            return ""
        twins = [fcurve for name, fcurve in channels(self.plain).items() if name[0] == path]
        if all(point.interpolation == "LINEAR" for fcurve in twins for point in fcurve.keyframe_points[:-1]):
            # If all keys are linear, Enable assumes that an exporter wrote them. Handles then play TCB, and Restore
            # restores linear keys.
            same = [fcurve for name, fcurve in channels(self.live).items() if name[0] == path]
            for point in [point for fcurve in (*twins, *same) for point in fcurve.keyframe_points]:
                point.interpolation = "BEZIER"
        self._set_all_known(path, (0.0,) * 5)
        # No key other than Bezier keys would keep its interpolation.
        self._try(self.animation.enable, self.live, prefixes=[path], keep_look=True)
        self._set_all_known(path, (np.nan,) * 5)
        return f"{path} removed, and enabled again"

    def undo(self, dice: random.Random) -> str:
        back = min(dice.randint(1, 3), self.pushes - 1)
        if back < 1:
            return ""
        on = dice.randint(0, back)
        for _ in range(back):
            bpy.ops.ed.undo()
        if dice.random() < 0.5:
            # Live processes each of them.
            self._settle()
        for _ in range(on):
            bpy.ops.ed.redo()
        self.pushes -= back - on
        self._forget_saved()
        self.orders.clear()
        for _ in self._each_pair():
            # If a step did not change the twin, undo leaves the twin unchanged, with the numbers for later changes by
            # Live.
            for point in (point for fcurve in channels(self.plain).values() for point in fcurve.keyframe_points):
                if number_of(point.back) in self.derived:
                    point.back = float(UNNUMBERED)
        return f"undone {back}, redone {on}"

    def save_and_load(self, _dice: random.Random) -> str:
        path = str(self.stage.folder / "sequence.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=False)
        # In a file that was loaded without a window, transforms in an editor crash Blender 4.2.
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        bpy.ops.ed.undo_push(message="loaded")
        self.pushes = 1
        return "saved and loaded"

    def paste_into_other(self, dice: random.Random) -> str:
        if len(self.pairs) < 2:
            return ""
        return self.paste(dice, next(pair for pair in self.pairs if pair != self.pair))

    # Comparison

    def _add(self, kind: str, text: str) -> None:
        difference = Difference(kind, text)
        if difference not in self.seen:
            self.seen.add(difference)
            self.result.differences.append(difference)

    def _locked_content(self) -> dict[tuple[str, str, int], dict[str, Any]]:
        """Return the content of locked curves. The twin's curves may have handles that Blender has not placed yet."""
        return {
            (name, *place): content(fcurve, with_handles=name == pair.live)
            for pair in self.pairs
            for name in pair
            for place, fcurve in channels(bpy.data.objects[name]).items()
            if fcurve.lock
        }

    def _lock_twins(self) -> None:
        """Lock only the twin's F-curves whose tracks are baked."""
        for _ in self._each_pair():
            baked = self._baked()
            for name, fcurve in channels(self.plain).items():
                if fcurve.lock != (name[0] in baked):
                    fcurve.lock = name[0] in baked

    def _each_pair(self) -> Iterator[Pair]:
        """Make each pair the edited pair in turn."""
        kept = self.pair
        for pair in self.pairs:
            self.pair = pair
            yield pair
        self.pair = kept

    def check(self) -> None:
        for _ in self._each_pair():
            action = self.live.animation_data.action
            for note in notes_of(self.stage.animation, self.live):
                self._note(str(note))
            for path in self.paths:
                self._check_track(path, self._track(path), bool(action.tcb_live))

    def _check_track(self, path: str, track: Any, is_live: bool) -> None:
        baked = track.is_baked
        live, plain = channels(self.live), channels(self.plain)
        names = sorted({name for name in (*live, *plain) if name[0] == path})
        twins = {name: read(plain.get(name)) for name in names}
        if path != "location" and not baked:
            self._complete_twin(names)
            twins = {name: read(plain.get(name)) for name in names}
        if baked:
            if not all(live[name].lock for name in names if name in live):
                self._add("changed", f'"{self.pair.live}", {path}: baked, and not locked')
        else:
            own = {name: read(live.get(name)) for name in names}
            same = [self._compare_frames(name, own[name], twins[name]) for name in names]
            if not all(same):
                return
            if path == "rotation_euler":
                self._turn_twin(own, twins)
                twins = {name: read(plain.get(name)) for name in names}
            signs = self._signs(own, twins) if "quaternion" in path else {}
            for name in names:
                self._compare_keys(name, own[name], twins[name], signs.get(name))
                if name in signs and (signs[name] < 0).any():
                    self._negate_twin(name, signs[name])
            if not track.is_played:
                self._make_bezier(names)
        self._check_parameters(path, track, names, baked or (is_live and track.is_played and self._is_playable(path)))

    def _complete_twin(self, names: list[Name]) -> None:
        """If a rotation got keys in channels that were not keyed, give them to the twin."""
        live, plain = channels(self.live), channels(self.plain)
        if not all(name in live and name in plain for name in names):
            return
        every = np.unique(np.concatenate([co(plain[name])[:, 0] for name in names]))
        if not all(np.array_equal(co(live[name])[:, 0], every) for name in names):
            return
        frames = [co(plain[name])[:, 0] for name in names]
        whole = [frame for frame in every.tolist() if all(frame in each for each in frames)]
        for name in names:
            there, own = co(plain[name])[:, 0].tolist(), live[name].keyframe_points
            for point, twin in zip(
                [each for each in own if each.co.x in there], plain[name].keyframe_points, strict=True
            ):
                if "quaternion" in name[0] and twin.co.x not in whole and twin.co.y == -point.co.y:
                    # The curves determine the orientation.
                    twin.co.y = point.co.y
            for point in [each for each in own if each.co.x not in there]:
                made = plain[name].keyframe_points.insert(*point.co)
                for kind in ("interpolation", "easing", "type"):
                    setattr(made, kind, getattr(point, kind))
                made.back = float(UNNUMBERED)
        if any(len(each) != len(every) for each in frames):
            # If no step contains these keys, undo would leave them.
            bpy.ops.ed.undo_push(message="completed the twin")
            self.pushes += 1

    def _compare_frames(self, name: Name, own: Keys, twin: Keys) -> bool:
        where = f'"{self.pair.live}", {name[0]}[{name[1]}]'
        for kind, some, others in (("lost", twin, own), ("appeared", own, twin)):
            frames = np.setdiff1d(some.frames, others.frames)
            if len(frames):
                self._add(kind, f"{where}: {kind} at {', '.join(map(str, frames.tolist()))}")
        if len(own.frames) != len(twin.frames):
            self._add("appeared" if len(own.frames) > len(twin.frames) else "lost", f"{where}: another number of keys")
        return np.array_equal(own.frames, twin.frames)

    def _signs(self, own: dict[Name, Keys], twins: dict[Name, Keys]) -> dict[Name, Floats]:
        """Return the sign by which each key of a quaternion may differ from the twin's.

        Both signs are the same orientation.

        If each channel has one key at the frame, all channels have the same sign. Otherwise, each key has its own sign.
        """
        signs = {}
        columns: dict[float, list[tuple[Name, int]]] = {}
        for name, keys in own.items():
            opposite = (keys.co[:, 1] == -twins[name].co[:, 1]) & (keys.co[:, 1] != twins[name].co[:, 1])
            signs[name] = np.where(opposite, np.float32(-1), np.float32(1))
            for row, frame in enumerate(keys.frames.tolist()):
                columns.setdefault(frame, []).append((name, row))
        for places in columns.values():
            if sorted(name for name, _ in places) == sorted(own):
                values = np.array([own[name].co[row, 1] for name, row in places])
                others = np.array([twins[name].co[row, 1] for name, row in places])
                for name, row in places:
                    signs[name][row] = -1 if (values == -others).all() and (values != others).any() else 1
        return signs

    def _compare_keys(self, name: Name, own: Keys, twin: Keys, signs: Floats | None) -> None:
        where = f'"{self.pair.live}", {name[0]}[{name[1]}]'
        expected = twin.co[:, 1] if signs is None else signs * twin.co[:, 1]
        for (frame, value), wanted in zip(own.co.tolist(), expected.tolist(), strict=True):
            if value != wanted:
                self._add("lost", f"{where} at {frame:g}: value {value!r}, not {wanted!r}")
        for row, column in np.argwhere(own.kinds != twin.kinds).tolist():
            mine, other = own.kinds[row, column], twin.kinds[row, column]
            self._add("lost", f"{where} at {own.frames[row]:g}: {_KINDS[column]} {mine}, not {other}")

    def _turn_twin(self, own: dict[Name, Keys], twins: dict[Name, Keys]) -> None:
        """Give the twin the TCB keys' angles for the same orientation, because the next edit starts from these."""
        if len(own) < 3:
            return
        frames = [keys.frames.tolist() for keys in own.values()]
        middle = "XYZ".index(self.mode[1])
        for frame in set.intersection(*map(set, frames)):
            if any(each.count(frame) > 1 for each in frames):
                continue
            rows = [each.index(frame) for each in frames]
            mine, theirs = (
                np.array([keys.co[row, 1] for keys, row in zip(each.values(), rows, strict=True)], dtype=np.float64)
                for each in (own, twins)
            )
            other = theirs + np.pi
            other[middle] = np.pi - theirs[middle]
            if (mine == theirs).all() or min(_turns_apart(mine, theirs), _turns_apart(mine, other)) > _SAME_ANGLE:
                continue
            for name, row, angle in zip(own, rows, mine.tolist(), strict=True):
                point = channels(self.plain)[name].keyframe_points[row]
                shift = angle - point.co.y
                point.co.y = angle
                point.handle_left.y += shift
                point.handle_right.y += shift

    def _negate_twin(self, name: Name, signs: Floats) -> None:
        """Give the twin's keys the signs of the TCB keys, because the next edit starts from these."""
        fcurve = channels(self.plain)[name]
        points = fcurve.keyframe_points
        for each in _PAIRS:
            floats = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get(each, floats)
            floats[1::2] *= signs
            points.foreach_set(each, floats)

    def _make_bezier(self, names: list[Name]) -> None:
        """Make keys Bezier that may have been created while TCB was off.

        Handles play TCB from such keys, regardless of the interpolation that Blender gave them.
        """
        twins = channels(self.plain)
        for name in names:
            new = [row for row, back in enumerate(read(twins[name]).back) if number_of(back) == UNKNOWN]
            for fcurve in (channels(self.live)[name], twins[name]):
                for row in new:
                    if fcurve.keyframe_points[row].interpolation != "BEZIER":
                        fcurve.keyframe_points[row].interpolation = "BEZIER"

    def _check_parameters(self, path: str, track: Any, names: list[Name], is_known: bool) -> None:
        """Compare parameters. `is_known` means that parameters implied by edits have been derived."""
        read_keys = self.animation.store.read_own_keys.read_own_keys(track)
        curves = channels(self.plain)
        for name in (name for name in names if name in curves):
            twin = read(curves[name])
            own = read_keys.get(name[1])
            if own is None or not np.array_equal(own.keys.frames, twin.frames):
                self._add("lost", f'"{self.pair.live}", {path}[{name[1]}]: other saved keys than the twin has')
                continue
            numbers = [number_of(back) for back in twin.back]
            parameters = np.nan_to_num(own.numbers[:, :5].astype(np.float64)).tolist()
            for row, (got, possible) in enumerate(zip(parameters, self._possible(name), strict=True)):
                if not any(is_like(got, wanted) for wanted in possible):
                    said, other = (", ".join(f"{each:.3g}" for each in numbers) for numbers in (got, possible[0]))
                    frame = twin.frames[row]
                    text = f'"{self.pair.live}", {path}[{name[1]}] at {frame:g}: ({said}), not ({other})'
                    self._add("parameters", text)
                elif is_known and not is_like(got, self.known[numbers[row]][0], exactly=True):
                    is_derived = any(number != number for number in self.known[numbers[row]][0])
                    numbers[row] = self._new_number([tuple(got)])
                    self.derived |= {numbers[row]} if is_derived else set()
            if is_known:
                back = np.array([number or UNNUMBERED for number in numbers], dtype=np.float32)
                if not np.array_equal(back, twin.back):
                    curves[name].keyframe_points.foreach_set("back", back)
                self.orders[self.pair.live, *name] = list(zip(numbers, twin.frames.tolist(), strict=True))
                self.reversed.pop((self.pair.live, *name), None)


def _turns_apart(angles: Floats, others: Floats) -> float:
    """Return the largest difference between angles, ignoring whole turns."""
    apart = (angles - others + np.pi) % (2 * np.pi) - np.pi
    return float(np.abs(apart).max())
