# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long Live takes to bake again after one key was moved, compared with a whole bake; and Enable.

    python tools/bench_live.py [--moves 40] [--enables 5] [--output build/bench_live.json]

The file is a character of 100 bones with location, rotation and scale keys at ten frames of 250: 1 000 channels, 10 000
keys. A key is moved in time on one track of a bone, on all of its tracks, or on all of all bones, always to a place
where it was never before. The time until the handles play the new motion is split into detection (finding edited
tracks), reading (reading their keys and making splines), evaluation, and writing (everything from there). "co" is the
mere reading of the `co` of all keys of the character's F-curves in the same run, from each F-curve of the action into a
new array; "all / co" and "look / co" are how many times as long all takes, and the first look after the edit, which is
the detection; "all else" is the second check, when nothing was edited for a while. Enable is what its button does in a
window: it fits parameters to the motion of the same character, none of whose tracks is TCB, plays it by handles, and
checks it for the first time. All is processor time of one thread, independent of what else the machine does.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.bench_scene import RIG, Size, fcurves, make

package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
animation, baking, live = (
    importlib.import_module(f"{package.__name__}.{name}")
    for name in ("animation", "animation.bake.pipeline", "animation.live.update")
)

CHARACTER = Size("armature", 1000, 250)
KEYS = 10
LIVE = animation.Options(output="HANDLES")
EDITS = {"one track": 1, "all tracks of a bone": 3, "a column of all bones": 3 * 100}
"""The number of tracks that each edit bakes again."""
STAGES = ("detection", "reading", "evaluation", "writing")


class Stages:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def watched(self) -> Iterator[None]:
        kept = [
            (owner, name, stage, getattr(owner, name))
            for owner, name, stage in (
                (live.Watch, "find", "detection"),
                (live.Watch, "edited_at_first_look", "detection"),
                (baking, "_evaluated", "evaluation"),
                (baking, "with_rows", "writing"),
                (baking, "write_tracks", "writing"),
                (live.Watch, "take", "writing"),
            )
        ]
        for owner, name, stage, function in kept:
            setattr(owner, name, self._timed(function, stage))
        start = time.thread_time()
        try:
            yield
        finally:
            whole = time.thread_time() - start
            self.seconds["reading"] = whole - sum(self.seconds.values())
            for owner, name, _, function in kept:
                setattr(owner, name, function)

    def _timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds[stage] += time.thread_time() - start

        return run


def live_options(_users: list[Any]) -> Any:
    return LIVE


def plain_character(path: Path) -> Any:
    """Make a new file, and return its rig."""
    make(CHARACTER, path)
    rig: Any = bpy.data.objects[RIG]
    for fcurve in fcurves(rig):
        spare = len(fcurve.keyframe_points) - KEYS
        for row in sorted((2 * n + 2 for n in range(spare)), reverse=True):
            fcurve.keyframe_points.remove(fcurve.keyframe_points[row])
    return rig


def character(path: Path) -> Any:
    """Make the character with TCB tracks, and a parameter set on every bone's rotation."""
    rig = plain_character(path)
    dice = random.Random(1)
    animation.enable(rig)
    frames = own_frames(rig)
    for bone in rig.pose.bones:
        animation.key_set(rig, f'pose.bones["{bone.name}"].rotation', dice.choice(frames), tension=dice.uniform(-1, 1))
    return rig


def own_frames(rig: Any) -> list[float]:
    return [point.co.x for point in fcurves(rig)[0].keyframe_points if point.type != "GENERATED"]


def read_places(rig: Any) -> float:
    """Return the seconds to read `co` of all keys of the character's F-curves."""
    start = time.thread_time()
    for curve in fcurves(rig):
        points = curve.keyframe_points
        points.foreach_get("co", np.empty(2 * len(points), dtype=np.float32))
    return time.thread_time() - start


def moves(rig: Any, edit: str, dice: random.Random) -> Iterator[None]:
    """Move one key after the other, always to a place where none was before: what was computed can't be remembered."""
    bones, frames = list(rig.pose.bones), own_frames(rig)
    while True:
        bone, row = dice.choice(bones), dice.randrange(1, KEYS - 1)
        prefix = "pose.bones" if edit.endswith("all bones") else f'pose.bones["{bone.name}"].'
        names = [dice.choice(("location", "rotation_quaternion", "scale"))]
        if not edit.startswith("one"):
            names = ["location", "rotation_quaternion", "scale"]
        chosen = [
            fcurve
            for fcurve in fcurves(rig)
            if fcurve.data_path.startswith(prefix) and any(name in fcurve.data_path for name in names)
        ]
        place = frames[row] + dice.uniform(-3.0, 3.0)
        for fcurve in chosen:
            points = fcurve.keyframe_points
            own = [point for point in points if point.type != "GENERATED"][row]
            own.co_ui.x = place
            fcurve.update()
        yield


def measure(count: int, path: Path) -> dict[str, Any]:
    rig = character(path)
    action = rig.animation_data.action
    animation.bake(rig, output="HANDLES")
    start = time.thread_time()
    animation.bake(rig, output="HANDLES")
    result: dict[str, Any] = {
        "channels": len(fcurves(rig)),
        "keys": KEYS * len(fcurves(rig)),
        "whole bake": time.thread_time() - start,
    }
    watches: dict[tuple[int, int], Any] = {}
    live.refresh_all(watches, action, live_options)
    # The column first: after it all tracks are still keyed alike.
    for edit, tracks in reversed(EDITS.items()):
        looks, reads, rests = [], [], []
        for _, _move in zip(range(count), moves(rig, edit, random.Random(edit)), strict=False):
            reads.append(read_places(rig))
            stages = Stages()
            with stages.watched():
                report = live.refresh(watches, action, live_options)
            assert report.tracks == tracks, report
            looks.append(stages.seconds)
            start = time.thread_time()
            assert not live.check_remaining(watches, action, live_options).tracks
            rests.append(time.thread_time() - start)
        result[edit] = {stage: median(look[stage] for look in looks) for stage in STAGES}
        result[edit] |= {
            "all": median(sum(look.values()) for look in looks),
            "slowest": max(sum(look.values()) for look in looks),
            "co": median(reads),
            "all / co": median(sum(look.values()) / read for look, read in zip(looks, reads, strict=True)),
            "look / co": median(look["detection"] / read for look, read in zip(looks, reads, strict=True)),
            "all else": median(rests),
        }
    return result


def measure_enable(rounds: int, path: Path) -> dict[str, float]:
    """Return the medians of seconds."""
    every = []
    for _ in range(rounds):
        rig = plain_character(path)
        reading = read_places(rig)
        start = time.thread_time()
        enabled = animation.enable_many({rig: None}, keep_look=True)
        fitted = time.thread_time()
        baked = animation.bake(rig, output="HANDLES")
        played = time.thread_time()
        looked = live.refresh_all({}, rig.animation_data.action, live_options)
        end = time.thread_time()
        assert not looked.tracks, looked
        assert enabled.looks_kept == enabled.tracks == baked.tracks == EDITS["a column of all bones"], enabled
        stages = {"keep the look": fitted - start, "handles": played - fitted, "first look": end - played}
        every.append(stages | {"all": end - start, "co": reading})
    return {name: median(each[name] for each in every) for name in every[0]}


def print_enable(enable: dict[str, float]) -> None:
    print("Enable: " + ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in enable.items()))


def print_table(result: dict[str, Any]) -> None:
    columns, ratios = ("all", "slowest", *STAGES, "co", "all else"), ("all / co", "look / co")
    print(f"Blender {bpy.app.version_string}; milliseconds, medians")
    print(f"{'':44}" + "".join(f"{name:>12}" for name in (*columns, *ratios)))
    for edit in EDITS:
        row = result[edit]
        times, times_co = (f"{1000 * row[name]:12.1f}" for name in columns), (f"{row[name]:12.2f}" for name in ratios)
        print(f"{edit:44}" + "".join((*times, *times_co)))
    keys = f"{result['channels']} channels, {result['keys']} keys"
    print(f"{keys}; a whole bake {1000 * result['whole bake']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="How long Live takes to bake again after one key was moved.")
    parser.add_argument("--moves", type=int, default=40, help="of each kind (default: %(default)s)")
    parser.add_argument("--enables", type=int, default=5, help="how often Enable is measured (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="a file for the figures, JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(options.moves, Path(folder) / "character.blend")
        enable = measure_enable(options.enables, Path(folder) / "character.blend")
    print_table(result)
    print_enable(enable)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        figures = {"blender": bpy.app.version_string, "handles": result, "enable": enable}
        options.output.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
    tcb.end_process(0)
