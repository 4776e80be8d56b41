# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how many keys Reduce needs by method: with velocities, by TCB, by TCB with ease, at equal error.

    python tools/reduce_methods.py [--tracks 20] [--frames 400]

Tracks are drawn at random: sums of waves, and moves from pose to pose that begin and end at rest. It prints a table for
docs/reduce.md; `tools/reduce.py --method` measures a motion capture.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp.fitting.reduction import Method, Part, reduce_tracks

Array = npt.NDArray[np.float64]

_KINDS = {"one value": 1, "three values": 3, "rotations": 3}
_TOLERANCES = {"one value": (0.005, 0.02), "three values": (0.005, 0.02), "rotations": (0.5, 2.0)}
"""As parts of the range; of rotations degrees."""


def main() -> None:
    """Print a line for each kind of track and tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=20)
    parser.add_argument("--frames", type=int, default=400)
    given = parser.parse_args()
    methods = get_args(Method)
    print("| | tolerance | Hermite | TCB | TCB with ease | seconds |\n|---|---|---|---|---|---|")
    for name, dimension in _KINDS.items():
        for way, draw in (("waves", waves), ("from pose to pose", poses)):
            random = np.random.default_rng(1)
            paths = np.stack([draw(random, given.frames, dimension) for _ in range(given.tracks)])
            for tolerance in _TOLERANCES[name]:
                part = _part(name, paths, tolerance)
                counts, seconds = [], []
                for method in methods:
                    start = time.perf_counter()
                    found = reduce_tracks([part], method=method)
                    seconds.append(time.perf_counter() - start)
                    counts.append(sum(len(keys.rows) for keys in found))
                    worst = max(keys.error for keys in found)
                    # The cubics of quaternions of Hermite's keys are no spline of rotations, but near to one.
                    if worst > 1.0:
                        raise ValueError(f"{name}, {method}: {worst} times the tolerance")
                shown = f"{tolerance:g}°" if name == "rotations" else f"{100.0 * tolerance:g} %"
                cells = [f"{counts[0]:,}", *(f"{count:,} ({count / counts[0]:.2f})" for count in counts[1:])]
                times = ", ".join(f"{each:.1f}" for each in seconds)
                print(f"| {name}, {way} | {shown} | {' | '.join(cells)} | {times} |", flush=True)


def waves(random: np.random.Generator, count: int, dimension: int) -> Array:
    """Return a sum of five waves of 25 frames or more, in a range of about 1, shape (count, dimension)."""
    pace = random.uniform(0.02, 0.25, 5)
    amounts = random.normal(size=(5, dimension)) / (1.0 + 20.0 * pace[:, np.newaxis])
    path = np.sin(np.arange(count)[:, np.newaxis] * pace + random.uniform(0.0, 7.0, 5)) @ amounts
    return np.asarray(path / np.ptp(path, axis=0).max())


def poses(random: np.random.Generator, count: int, dimension: int) -> Array:
    """Return moves of 8 to 40 frames from pose to pose, with the least jerk, shape (count, dimension)."""
    rows = np.cumsum([0, *random.integers(8, 41, count // 8)])
    values = random.uniform(-0.5, 0.5, (len(rows), dimension))
    frames = np.arange(count)
    move = np.searchsorted(rows, frames, side="right") - 1
    u = ((frames - rows[move]) / np.diff(rows)[move])[:, np.newaxis]
    return np.asarray(values[move] + (values[move + 1] - values[move]) * u**3 * (10.0 - 15.0 * u + 6.0 * u * u))


def _part(name: str, paths: Array, tolerance: float) -> Part:
    if name != "rotations":
        return Part(paths, np.full(len(paths), tolerance))
    turned = Rotation.from_rotvec(2.0 * paths.reshape(-1, 3)).as_quat(scalar_first=True)
    return Part.of_rotations(turned.reshape(*paths.shape[:2], 4), np.full(len(paths), np.radians(tolerance)))


if __name__ == "__main__":
    main()
