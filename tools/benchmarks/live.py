# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of a Live update after one key was moved, compared with a full bake, and the time of Enable.

The file is a character of 100 bones with location, rotation and scale keys at ten frames of 250: 1 000 channels, 10 000
keys. A key is moved in time on one track of a bone, on all its tracks, or on all tracks of all bones, always to a new
frame. The time until the handles play the new motion is split into detection (finding edited tracks), reading (keys and
splines), evaluation, and writing (everything after that). The result "co" is the time for reading `co` of all keys of
the character's F-curves into new arrays in the same run, and "all / co" the ratio to it. Enable is the operation of its
button in a window. It fits parameters to the motion of the same character without TCB tracks, plays it with handles,
and checks it for the first time. All times are processor times of one thread, independent of other work on the machine.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import bpy

from tools.benchmarks.character import KEYS, character, own_frames, plain_character, read_places
from tools.benchmarks.checkout import animation, module
from tools.benchmarks.scenes import PATHS, fcurves
from tools.benchmarks.timing import milliseconds_of, watched

baking, live = module("animation.bake.pipeline"), module("animation.live.update")
LIVE = animation.Options(output="HANDLES")
EDITS = {"one track": 1, "all tracks of a bone": 3, "a column of all bones": 3 * 100}
"""The number of tracks baked again by each edit."""
STAGES = {
    "detection": [(live.Watch, "find"), (live.Watch, "edited_by_fast_check")],
    "evaluation": [(baking, "_evaluated")],
    "writing": [(baking, "_add_rows"), (baking, "write_tracks"), (live.Watch, "take")],
}
"""The functions of each part. The remaining time is "reading"."""
COLUMNS = ("detection", "reading", "evaluation", "writing", "all", "co", "all / co")


def live_options(_users: list[Any]) -> Any:
    return LIVE


def moves(rig: Any, edit: str, dice: random.Random) -> Iterator[None]:
    """Move one key after another, always to a new frame, so that no results can be reused."""
    bones, frames = list(rig.pose.bones), own_frames(rig)
    while True:
        bone, row = dice.choice(bones), dice.randrange(1, KEYS - 1)
        prefix = "pose.bones" if edit.endswith("all bones") else f'pose.bones["{bone.name}"].'
        names = [dice.choice([*PATHS])] if edit.startswith("one") else [*PATHS]
        edited_curves = [
            fcurve
            for fcurve in fcurves(rig)
            if fcurve.data_path.startswith(prefix) and any(name in fcurve.data_path for name in names)
        ]
        frame = frames[row] + dice.uniform(-3.0, 3.0)
        for fcurve in edited_curves:
            own_points = [point for point in fcurve.keyframe_points if point.type != "GENERATED"]
            own_points[row].co_ui.x = frame
            fcurve.update()
        yield


def measure(count: int, path: Path) -> tuple[dict[str, dict[str, float]], float]:
    """Return the milliseconds of the parts of an update by edit, and the milliseconds of a full bake."""
    rig = character(path)
    action = rig.animation_data.action
    animation.bake(rig, output="HANDLES")
    full_bake = milliseconds_of(lambda: animation.bake(rig, output="HANDLES"))
    watches: dict[tuple[int, int], Any] = {}
    live.refresh_all(watches, action, live_options)
    result = {}
    # Edit the column first, because all tracks are still keyed at the same frames afterward.
    for edit, tracks in reversed(EDITS.items()):
        updates = []
        for _ in itertools.islice(moves(rig, edit, random.Random(edit)), count):
            update = {"co": read_places(rig)}
            with watched(STAGES) as seconds:
                report = live.refresh(watches, action, live_options)
            assert report.tracks == tracks, report
            update |= {stage: 1000.0 * duration for stage, duration in seconds.items()}
            update["reading"] = update["all"] - sum(update[stage] for stage in STAGES)
            update["all / co"] = update["all"] / update["co"]
            updates.append(update)
        result[edit] = {name: median(update[name] for update in updates) for name in updates[0]}
    return result, full_bake


def measure_enable(rounds: int, path: Path) -> dict[str, float]:
    """Return the medians of milliseconds."""
    times = []
    for _ in range(rounds):
        rig = plain_character(path, KEYS)
        co = read_places(rig)
        start = time.thread_time()
        enabled = animation.enable_many({rig: None})
        fitted = time.thread_time()
        baked = animation.bake(rig, output="HANDLES")
        played = time.thread_time()
        checked = live.refresh_all({}, rig.animation_data.action, live_options)
        end = time.thread_time()
        assert not checked.tracks, checked
        assert enabled.looks_kept == enabled.tracks == baked.tracks == EDITS["a column of all bones"], enabled
        seconds = {"parameters": fitted - start, "handles": played - fitted, "first check": end - played}
        seconds["all"] = end - start
        times.append({stage: 1000.0 * duration for stage, duration in seconds.items()} | {"co": co})
    return {stage: median(round_times[stage] for round_times in times) for stage in times[0]}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--moves", type=int, default=40, help="of each kind (default: %(default)s)")
    parser.add_argument("--enables", type=int, default=5, help="how often Enable is measured (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "character.blend"
        result, full_bake = measure(options.moves, path)
        enable = measure_enable(options.enables, path)
    print(f"Blender {bpy.app.version_string}; milliseconds, medians; a full bake {full_bake:.0f}")
    print(f"{'':24}" + "".join(f"{name:>12}" for name in COLUMNS))
    for edit in EDITS:
        print(f"{edit:24}" + "".join(f"{result[edit][name]:12.1f}" for name in COLUMNS))
    print("Enable: " + ", ".join(f"{name} {milliseconds:.1f}" for name, milliseconds in enable.items()))
