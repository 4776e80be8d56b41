# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure what the fast forms of some rules save: bakes of the same keys with each fast form, and without it.

    python tools/bench_fast_forms.py [--channels 1000] [--frames 100] [--rounds 7]

Own keys of tracks that have exactly the keys whose handles were placed are read without looking for edits
(`own_keys._read_complete`). Each file is baked again and again, the two forms by turns; processor time, and ratios
within a round.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.bench_scene import Size, animated, make

package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
animation, own_keys = (
    importlib.import_module(f"{package.__name__}.animation{name}") for name in ("", ".store.own_keys")
)

FORMS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "own keys as written, handles": (own_keys, "_read_complete", lambda _tracks: {}, "HANDLES"),
    "own keys as written, samples": (own_keys, "_read_complete", lambda _tracks: {}, "SAMPLES"),
}
"""For each fast form: its module and function, the function that replaces it to get the plain form, and the output."""


def measure(path: Path, form: str, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of bakes with the fast form, and without it."""
    module, name, plain, output = FORMS[form]
    fast, options = getattr(module, name), animation.Options(output=output)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = list(dict.fromkeys(animated()))
    animation.bake_many(found, options)
    seconds: dict[Any, list[float]] = {fast: [], plain: []}
    for turn in range(rounds):
        for each in (fast, plain) if turn % 2 else (plain, fast):
            setattr(module, name, each)
            start = time.process_time()
            animation.bake_many(found, options)
            seconds[each].append(time.process_time() - start)
    setattr(module, name, fast)
    return seconds[fast], seconds[plain]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--channels", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"Blender {bpy.app.version_string}: {options.channels} channels, {options.frames} frames; medians")
    print(f"{'':42}{'ms':>8}{'without':>9}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("objects", "armature"):
            path = Path(folder) / f"{kind}.blend"
            make(Size(kind, options.channels, options.frames), path)
            for form in FORMS:
                fast, plain = measure(path, form, options.rounds)
                ratio = median(without / with_it for with_it, without in zip(fast, plain, strict=True))
                print(f"{f'{kind}, {form}':42}{1e3 * median(fast):8.0f}{1e3 * median(plain):9.0f}{ratio:7.2f}")
    tcb.end_process(0)


if __name__ == "__main__":
    main()
