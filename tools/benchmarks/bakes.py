# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the speed and memory of bakes, relative to Blender's bake operators.

All results are saved in one file, and their tables are printed. Each measurement runs in a separate process
(bake_method.py), so memory is measured separately. All methods of baking one file take turns in each round, so other
load on the machine affects them equally.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from tools.benchmarks.report import Results, print_report

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("objects", "armature")
STEPS = (10, 100, 1000, 10_000)
CENTRE = (1000, 1000)
"""Channels and frames of the file with which all methods are measured."""
SKIN = 50_000
"""Vertices of the character, which methods that step through frames must deform at each frame."""

OURS = ("samples", "floor of samples", "curves", "floor of curves")
RIVALS = (
    "FCurve.bake",
    "nla.bake",
    "nla.bake, visual keying",
    "anim_utils.bake_action",
    "graph.bake_keys",
    "keyframe_insert",
)
ON_THE_CENTRE = ("keys", "samples, keys selected", "samples again", "curves again", "restore")
ON_THE_CHARACTER = ("samples", "curves", "nla.bake", "nla.bake, visual keying")


@dataclass(frozen=True)
class Plan:
    """Sizes of the files, rounds, and time limit of a measurement."""

    channels: Sequence[int]
    frames: Sequence[int]
    rounds: int
    most: int
    """Samples of the largest file."""
    patience: float
    """Maximum seconds for a rival method."""
    skin: int

    def sizes(self) -> list[dict[str, Any]]:
        """Return the files from smallest to largest."""
        sizes = [
            {"kind": kind, "channels": channels, "frames": frames, "vertices": 0}
            for kind, channels, frames in product(KINDS, self.channels, self.frames)
            if channels * frames <= self.most
        ]
        channels, frames = self.centre
        if self.skin:
            sizes.append({"kind": "armature", "channels": channels, "frames": frames, "vertices": self.skin})
        return sorted(sizes, key=lambda size: (size["channels"] * size["frames"], size["vertices"]))

    @property
    def centre(self) -> tuple[int, int]:
        """Return the size that is closest to the middle of the table."""
        return min(CENTRE[0], max(self.channels)), min(CENTRE[1], max(self.frames))

    def is_central(self, size: dict[str, Any]) -> bool:
        return (size["channels"], size["frames"]) == self.centre

    def methods(self, size: dict[str, Any]) -> tuple[str, ...]:
        if size["vertices"]:
            return ON_THE_CHARACTER
        return OURS + (ON_THE_CENTRE if self.is_central(size) else ()) + RIVALS

    def is_once(self, size: dict[str, Any], method: str) -> bool:
        """Return whether the method is measured only in the first round, to save time."""
        return method in RIVALS and not self.is_central(size)


@dataclass
class Bench:
    """Run the plan in processes, and collect their results."""

    plan: Plan
    folder: Path
    runs: list[dict[str, Any]] = field(default_factory=list)
    failed: bool = False

    def all(self) -> dict[str, Any]:
        for size in self.plan.sizes():
            self.measure(size)
        return {"machine": machine(), "plan": asdict(self.plan), "runs": self.runs}

    def measure(self, size: dict[str, Any]) -> None:
        """Measure all methods with one file."""
        name = f"{size['kind']}, {size['channels']:,} channels, {size['frames']:,} frames"
        self.files.mkdir()
        if self.process(f"{name}: make", size, "make") is None:
            return
        methods = [method for method in self.plan.methods(size) if self.is_quick_enough(size, method)]
        for number in range(self.plan.rounds):
            for method in list(methods):
                result = self.process(f"{name}, round {number + 1}: {method}", size, method)
                if result is not None:
                    self.runs.append({**size, "method": method, "round": number, **result})
                if result is None or self.plan.is_once(size, method):
                    methods.remove(method)
        shutil.rmtree(self.files)

    def is_quick_enough(self, size: dict[str, Any], method: str) -> bool:
        """Return whether a rival method is likely to finish in time.

        The estimate is based on the method's time per sample for the longest file of that kind so far, because for some
        methods this time grows with the length.
        """
        earlier = [
            run
            for run in self.runs
            if (run["kind"], run["method"]) == (size["kind"], method) and run["frames"] <= size["frames"]
        ]
        if method not in RIVALS or not earlier:
            return True
        last = max(earlier, key=lambda run: (run["frames"], run["channels"]))
        seconds = last["seconds"] * size["channels"] * size["frames"] / (last["channels"] * last["frames"])
        return bool(seconds <= self.plan.patience)

    @property
    def files(self) -> Path:
        """Return the folder of the .blend files."""
        return self.folder / "files"

    def process(self, name: str, size: dict[str, Any], method: str) -> dict[str, Any] | None:
        """Return the result of one process, or None if it fails."""
        asked = {"size": size, "method": method, "folder": str(self.files), "look": self.plan.is_central(size)}
        command = [sys.executable, str(ROOT / "tools" / "benchmarks" / "bake_method.py"), json.dumps(asked)]
        # Without the user's add-ons and settings.
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(self.folder)}
        limit = max(60.0, 2 * self.plan.patience) if method in RIVALS else None
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
        except subprocess.TimeoutExpired:
            say(f"{name}: given up after {limit:.0f} s")
            return None
        if done.returncode:
            self.failed = True
            say(f"{name}: FAILED\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
            return None
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        say(f"{name}: {result['seconds']:.4g} s" if "seconds" in result else name)
        return result


def packed(result: dict[str, Any]) -> str:
    """Return the result as JSON with six digits per number and one run per line."""
    runs = ",\n".join(
        json.dumps({name: float(f"{each:.6g}") if isinstance(each, float) else each for name, each in run.items()})
        for run in result["runs"]
    )
    rest = json.dumps({name: each for name, each in result.items() if name != "runs"}, indent=1)
    return f'{rest[:-2]},\n "runs": [\n{runs}\n]}}\n'


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """Return a description of the machine and the software."""
    code = "import bpy, numpy; print(bpy.app.version_string, numpy.__version__, sep='|')"
    told = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    blender, numpy = told.splitlines()[-1].split("|")
    return {
        "blender": blender,
        "python": platform.python_version(),
        "numpy": numpy,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": "".join(set(_lines("/proc/cpuinfo", "model name"))) or platform.processor(),
        "cores": os.cpu_count(),
    }


def _lines(path: str, name: str) -> Iterator[str]:
    if Path(path).exists():
        for line in Path(path).read_text().splitlines():
            if line.startswith(name):
                yield line.partition(":")[2].strip()


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench.json", help="file for the results")
    parser.add_argument("--rounds", type=int, default=3, help="how often each measurement is made")
    parser.add_argument("--channels", type=int, nargs="+", default=STEPS)
    parser.add_argument("--frames", type=int, nargs="+", default=STEPS)
    parser.add_argument("--most", type=int, default=10_000_000, help="channels times frames of the largest file")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds that a rival may take")
    parser.add_argument("--skin", type=int, default=SKIN, help="vertices of the character; 0: none")


def run(options: argparse.Namespace) -> int:
    plan = Plan(options.channels, options.frames, options.rounds, options.most, options.patience, options.skin)
    with tempfile.TemporaryDirectory(prefix="tcb-bench-") as folder:
        bench = Bench(plan, Path(folder))
        result = bench.all()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(packed(result))
    print_report(Results(result))
    return int(bench.failed)
