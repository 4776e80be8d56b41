# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare first bakes by this checkout and another checkout, alternating bake by bake.

    git worktree add --detach ../other COMMIT
    .venv-bpy-5.2/bin/python tools/bench.py first ../other [--sizes armature-10-100 objects-10-100] [--again]

Each checkout bakes in its own process, always in a newly opened file with new keys that have no parameters and were
never baked. With `--again` it bakes them twice and measures the second bake. The table contains medians of the
processor time per bake, and of the ratios within a round. Depending on its memory layout, a process may be up to a
tenth slower than another, so several pairs of processes run. The last column contains the median, minimum and maximum
of their ratios. The first three bakes of a process are ignored. glibc is set to keep freed memory (mallopt(3)), because
it returns some to the system at random. The other checkout needs no environment of its own.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[2]
KINDS = ("armature", "objects", "rotations", "locations")
"""Kinds of `scenes.Size`."""
SIZES = ["armature-10-100", "armature-10-1000", "armature-10-10000", "armature-100-100", "armature-1000-100"]
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(500 * 2**20),
    "OPENBLAS_NUM_THREADS": "1",
}
WARM_UP = 3
"""Number of rounds that are ignored."""


def serve(root: str, size: str, output: str, bakes: str) -> None:
    """Bake one new file for each line of standard input, and print the seconds per bake."""
    import bpy
    import numpy as np

    sys.path.insert(0, str(HERE))
    from tools import tcb
    from tools.benchmarks import scenes

    package = tcb.load(tcb.PACKAGE, str(Path(root) / "__init__.py"), [root])
    animation = importlib.import_module(f"{package.__name__}.animation")
    forget = find_forget(package.__name__)
    options = animation.Options(output=output)
    random = np.random.default_rng(1)
    kind, channels, frames = size.split("-")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys.blend"
        scenes.make(scenes.Size(kind, int(channels), int(frames)), path)
        for _ in sys.stdin:
            bpy.ops.wm.open_mainfile(filepath=str(path))
            forget()
            found = scenes.animated()
            for curve in (curve for item in found for curve in scenes.fcurves(item)):
                co = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
                curve.keyframe_points.foreach_get("co", co)
                co[1::2] += random.uniform(-0.01, 0.01, len(co) // 2)
                curve.keyframe_points.foreach_set("co", co)
                curve.update()
            for _ in range(int(bakes) - 1):
                animation.bake_many(found, options)
            gc.collect()
            start = time.process_time()
            report = animation.bake_many(found, options)
            seconds = time.process_time() - start
            assert report.tracks, report
            print(f"seconds {seconds}", flush=True)


def find_forget(package: str) -> Callable[[], None]:
    """Return the function that the checkout's command calls before opening a file, to clear cached keys."""
    try:
        forget: Callable[[], None] = importlib.import_module(f"{package}.animation.store.table.session").session.forget
    except (ImportError, AttributeError):
        return lambda: None
    return forget


@contextmanager
def server(root: Path, size: str, how: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process that bakes files of that size by the checkout at `root`."""
    command = [sys.executable, __file__, str(root), size, *how]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | ENVIRONMENT,
    ) as process:
        try:
            yield process
        finally:
            # Closing its input makes it remove its file.
            process.communicate()


def bake(process: subprocess.Popen[str]) -> float:
    """Return the seconds of one bake by that process."""
    assert process.stdin is not None
    assert process.stdout is not None
    print("bake", file=process.stdin, flush=True)
    for line in process.stdout:
        if line.startswith("seconds "):
            return float(line.split()[1])
    raise SystemExit("a bake failed (see above)")


def measure(other: Path, size: str, how: Sequence[str], rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each bake by this checkout, and by the other."""
    here: list[float] = []
    there: list[float] = []
    with server(HERE, size, how) as ours, server(other, size, how) as theirs:
        pairs = ((ours, here), (theirs, there))
        for turn in range(WARM_UP + rounds):
            for process, seconds in pairs if turn % 2 else pairs[::-1]:
                seconds.append(bake(process))
    return here[WARM_UP:], there[WARM_UP:]


def a_size(text: str) -> str:
    """Return the size, or raise an error if it is invalid."""
    kind, *counts = text.split("-")
    if kind not in KINDS or len(counts) != 2 or not all(count.isdecimal() and int(count) >= 10 for count in counts):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not KIND-CHANNELS-FRAMES, of {', '.join(KINDS)} and 10 or more each"
        )
    return text


def a_count(text: str) -> int:
    """Return the number, which must be at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def a_checkout(text: str) -> Path:
    """Return the path, or raise an error if it does not contain the extension."""
    path = Path(text).resolve()
    if not (path / "blender_manifest.toml").is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is not a checkout of the extension")
    return path


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("other", type=a_checkout, help="the other checkout")
    parser.add_argument("--sizes", type=a_size, nargs="+", default=SIZES, help=f"KIND: {', '.join(KINDS)}")
    parser.add_argument("--pairs", type=a_count, default=7, help="pairs of processes (default: %(default)s)")
    parser.add_argument("--rounds", type=a_count, default=15, help="bakes of each that count (default: %(default)s)")
    parser.add_argument("--output", default="SAMPLES", choices=("SAMPLES", "CURVES"), help="default: %(default)s")
    parser.add_argument("--again", action="store_true", help="bake twice, and measure the second time")


def run(options: argparse.Namespace) -> None:
    other, how = options.other, (options.output, "2" if options.again else "1")
    print("| size | here, ms | other, ms | here / other |\n| --- | ---: | ---: | ---: |", flush=True)
    for size in options.sizes:
        every = [measure(other, size, how, options.rounds) for _ in range(options.pairs)]
        here, there = (median(seconds for pair in every for seconds in pair[side]) for side in (0, 1))
        ratios = [median(a / b for a, b in zip(*pair, strict=True)) for pair in every]
        print(
            f"| {size} | {1000 * here:.2f} | {1000 * there:.2f}"
            f" | {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}) |",
            flush=True,
        )


if __name__ == "__main__":
    serve(*sys.argv[1:])
