# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the tables of docs/measurements/methods.md and docs/figures/methods.png.

    python tools/methods.py

The tables list the properties, cost and error of each method. Every method is compared with an independent reference,
in some cases with 50 digits, which takes minutes. Needs scipy and mpmath (tools/requirements-tests.txt).
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.methods import DIAGONAL, DIAGONAL_FRAMES, diagonal_keys, picture
from interp import Keys, evaluate_many, rotations
from interp.rotations.base_rotation_spline import OrientationSpline
from interp.splines import METHODS
from tools.tables import show

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURE = ROOT / "docs" / "measurements" / "methods.md", ROOT / "docs" / "figures" / "methods.png"
TIMED_TRACKS, TIMED_KEYS, TIMED_FRAMES, ROUNDS = 60, 20, 400, 15
"""The numbers of tracks, keys per track, frames, and rounds, for the cost of a method."""
TESTED_TRACKS, TESTED_KEYS, TESTED_FRAMES = 200, (3, 9), 20
"""The number of tracks, the fewest and most keys per track, and the number of frames, for the error of a method."""
HEADS = ("method", "track", "smooth", "keys per side", "meets keys", "cost", "reference", "maximum error")
DIAGONAL_HEADS = ("method", "deviation from the circle", "deviation from uniform rotation", "slowest", "fastest")

# The references of the tests, which have no type annotations.
references: Any = importlib.import_module("tests.interp.references")


def method_rows() -> list[list[str]]:
    """Return the rows of all methods."""
    costs = {kind: relative_costs(kind) for kind in ("values", "rotations")}
    rows = []
    for name, method in METHODS.items():
        print(method.label, file=sys.stderr)
        for kind, reference in references.REFERENCES[name].items():
            spline_class = getattr(method, kind)
            spline = spline_class(Keys([0.0, 10.0, 20.0], np.ones((3, 4 if kind == "rotations" else 1))))
            continuity, keys_per_side = references.smoothness(spline_class)
            rows.append(
                [
                    f"**{method.label}** `{name}`",
                    kind,
                    continuity,
                    "all" if keys_per_side is None else str(keys_per_side),
                    "yes" if spline.interpolating else "no",
                    f"{costs[kind][name]:.1f}",
                    reference.name,
                    f"{maximum_error(spline_class, reference):.0e}",
                ]
            )
    return rows


def relative_costs(kind: str) -> dict[str, float]:
    """Return the time of each method relative to TCB. Methods take turns, so that other load affects all of them."""
    classes = {name: getattr(method, kind) for name, method in METHODS.items()}
    tracks = {name: timed_tracks(cls, kind) for name, cls in classes.items() if cls is not None}
    frames, seconds = np.linspace(0.0, 10.0 * TIMED_KEYS, TIMED_FRAMES), dict.fromkeys(tracks, np.inf)
    for _ in range(ROUNDS):
        for name, splines in tracks.items():
            start = time.process_time()
            evaluate_many(splines, frames)
            seconds[name] = min(seconds[name], time.process_time() - start)
    return {name: own_seconds / seconds["TCB"] for name, own_seconds in seconds.items()}


def timed_tracks(spline_class: type[Any], kind: str) -> list[Any]:
    """Create tracks like the tracks of a character."""
    generator, tracks = np.random.default_rng(3), []
    for _ in range(TIMED_TRACKS):
        frames = np.arange(TIMED_KEYS) * 10.0 + generator.uniform(0.0, 3.0, TIMED_KEYS)
        values = np.exp(generator.normal(size=(TIMED_KEYS, 3)) * 0.3)
        if kind == "rotations":
            angles, axes = generator.uniform(0.0, 0.8, TIMED_KEYS), generator.normal(size=(TIMED_KEYS, 3))
            values = rotations.turns_to_rotations(angles, axes)
        tracks.append(spline_class(Keys(frames, values)))
    return tracks


def maximum_error(spline_class: type[Any], reference: Any) -> float:
    """Return the largest difference between a method's class and its reference, in values or as an angle."""
    largest = 0.0
    for seed in range(TESTED_TRACKS):
        generator = np.random.default_rng(seed)
        key_frames = np.cumsum(generator.uniform(3.0, 15.0, generator.integers(*TESTED_KEYS, endpoint=True)))
        drawn = reference.draw(generator, key_frames)
        options = {} if drawn.velocities is None else {"velocities": drawn.velocities}
        spline = spline_class(Keys(key_frames, drawn.values, *drawn.parameters), **options)
        frames = generator.uniform(key_frames[0], key_frames[-1], TESTED_FRAMES)
        samples, expected = spline(frames), drawn.curve(frames)
        is_rotation = issubclass(spline_class, OrientationSpline)
        errors = rotations.angle_between(samples, expected) if is_rotation else np.abs(samples - expected)
        largest = max(largest, float(errors.max()))
    return largest


def diagonal_rows() -> list[list[str]]:
    """Return the rows for the rotation about a diagonal, for the methods that deviate from a uniform rotation.

    They list the deviations from the circle and from a uniform rotation, and the minimum and maximum speed, in degrees.
    """
    frames = np.linspace(DIAGONAL_FRAMES[0], DIAGONAL_FRAMES[-1], 241)
    uniform = Rotation.from_rotvec(np.outer(np.radians(240.0) * frames / frames[-1], DIAGONAL))
    rows = []
    for method in METHODS.values():
        if method.rotations is None:
            continue
        spline = method.rotations(diagonal_keys())
        rotation = Rotation.from_quat(np.roll(spline(frames), -1, axis=1))
        heights, speeds = rotation.apply([1.0, 0.0, 0.0]) @ DIAGONAL, np.linalg.norm(spline(frames, 1), axis=1)
        from_circle = np.abs(np.arcsin(heights) - np.arcsin(DIAGONAL[0])).max()
        from_uniform = (rotation * uniform.inv()).magnitude().max()
        degrees = np.degrees([from_circle, from_uniform, speeds.min(), speeds.max()])
        if degrees[:2].max() > 1e-6:
            rows.append([method.label, *(f"{angle:.1f}" for angle in degrees)])
    return rows


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))


if __name__ == "__main__":
    tables = {"methods": markdown(HEADS, method_rows()), "diagonal": markdown(DIAGONAL_HEADS, diagonal_rows())}
    show(tables, PAGE)
    print("Saved:", PAGE, picture(PICTURE), sep="\n  ")
