# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/measurements/methods.md and docs/figures/methods.png, with properties, cost and error of each method.

    python tools/methods.py

Needs scipy and mpmath (tools/requirements-tests.txt). Every method is compared with an independent reference, in some
cases with 50 digits, which takes minutes. Text outside the tables of the document does not change.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.methods import DIAGONAL, DIAGONAL_FRAMES, diagonal_keys, picture
from interp import Keys, evaluate_many, rotations
from interp.base_spline import Method
from interp.rotations.base_rotation_spline import OrientationSpline
from interp.splines import METHODS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT, PICTURE = ROOT / "docs" / "measurements" / "methods.md", ROOT / "docs" / "figures" / "methods.png"
BEGIN, END = "<!-- from here to the end of the {}: python tools/methods.py -->", "<!-- the end of the {} -->"
TRACKS, KEYS, SAMPLES, ROUNDS = 60, 20, 400, 15

# The references of the tests, which have no type annotations.
references: Any = importlib.import_module("tests.interp.references")

Array = npt.NDArray[np.float64]

MEASURED, MEASURED_KEYS, MEASURED_SAMPLES = 200, (3, 9), 20
"""The number of tracks per method, the minimum and maximum number of keys per track, and the number of samples."""


def largest_difference(made: type[Any], reference: Any) -> float:
    """Return the largest difference between a method's class and its reference, in values or as an angle."""
    worst = 0.0
    for seed in range(MEASURED):
        generator = np.random.default_rng(seed)
        frames = np.cumsum(generator.uniform(3.0, 15.0, generator.integers(*MEASURED_KEYS, endpoint=True)))
        drawn = reference.draw(generator, frames)
        options = {} if drawn.velocities is None else {"velocities": drawn.velocities}
        at = generator.uniform(frames[0], frames[-1], MEASURED_SAMPLES)
        found, expected = made(Keys(frames, drawn.values, *drawn.parameters), **options)(at), drawn.curve(at)
        is_rotation = issubclass(made, OrientationSpline)
        apart = rotations.angle_between(found, expected) if is_rotation else np.abs(found - expected)
        worst = max(worst, float(apart.max()))
    return worst


def many(method: Method, kind: str) -> list[Any]:
    """Create tracks like the tracks of a character."""
    made, generator = getattr(method, kind), np.random.default_rng(3)
    tracks = []
    for _ in range(TRACKS):
        frames = np.arange(KEYS) * 10.0 + generator.uniform(0.0, 3.0, KEYS)
        values = np.exp(generator.normal(size=(KEYS, 3)) * 0.3)
        if kind == "rotations":
            turns = generator.uniform(0.0, 0.8, KEYS), generator.normal(size=(KEYS, 3))
            values = rotations.turns_to_rotations(*turns)
        tracks.append(made(Keys(frames, values)))
    return tracks


def seconds(kind: str, names: list[str]) -> dict[str, float]:
    """Return the minimum time of each method. Methods take turns, so that other load affects all of them."""
    at, best = np.linspace(0.0, 10.0 * KEYS, SAMPLES), dict.fromkeys(names, np.inf)
    tracks = {name: many(METHODS[name], kind) for name in names}
    for _ in range(ROUNDS):
        for name, own in tracks.items():
            start = time.process_time()
            evaluate_many(own, at)
            best[name] = min(best[name], time.process_time() - start)
    return best


def rows() -> list[list[str]]:
    """Return the rows of the table."""
    costs = {}
    for kind in ("values", "rotations"):
        taken = seconds(kind, [name for name, method in METHODS.items() if getattr(method, kind) is not None])
        costs[kind] = {name: own / taken["TCB"] for name, own in taken.items()}
    table = []
    for name, method in METHODS.items():
        print(method.label, file=sys.stderr)
        for kind, reference in references.REFERENCES[name].items():
            made = getattr(method, kind)
            spline = made(Keys([0.0, 10.0, 20.0], np.ones((3, 4 if kind == "rotations" else 1))))
            continuity, support = references.smoothness(made)
            table.append(
                [
                    f"**{method.label}** `{name}`",
                    kind,
                    continuity,
                    "all" if support is None else str(support),
                    "yes" if spline.interpolating else "no",
                    f"{costs[kind][name]:.1f}",
                    reference.name,
                    f"{largest_difference(made, reference):.0e}",
                ]
            )
    return table


HEADINGS = (
    "method", "track", "smooth", "keys per side", "meets keys", "cost", "reference", "maximum error",
)  # fmt: skip


def turn_rows() -> list[list[str]]:
    """Return the rows for the rotation about a diagonal, for the methods that deviate from a uniform rotation.

    They list the deviations from the circle and from a uniform rotation, and the minimum and maximum speed, in degrees.
    """
    at = np.linspace(DIAGONAL_FRAMES[0], DIAGONAL_FRAMES[-1], 241)
    even = Rotation.from_rotvec(np.outer(np.radians(240.0) * at / at[-1], DIAGONAL))
    table = []
    for method in METHODS.values():
        if method.rotations is None:
            continue
        spline = method.rotations(diagonal_keys())
        found = Rotation.from_quat(np.roll(spline(at), -1, axis=1))
        heights, pace = found.apply([1.0, 0.0, 0.0]) @ DIAGONAL, np.linalg.norm(spline(at, 1), axis=1)
        off_circle = np.abs(np.arcsin(heights) - np.arcsin(DIAGONAL[0])).max()
        angles = np.degrees([off_circle, (found * even.inv()).magnitude().max(), pace.min(), pace.max()])
        if angles[:2].max() > 1e-6:
            table.append([method.label, *(f"{angle:.1f}" for angle in angles)])
    return table


TURN_HEADINGS = ("method", "deviation from the circle", "deviation from uniform rotation", "slowest", "fastest")


def write(document: Path, name: str, headings: tuple[str, ...], table: list[list[str]]) -> None:
    """Insert a table into the document."""
    begin, end = BEGIN.format(name), END.format(name)
    lines = ["| " + " | ".join(row) + " |" for row in (headings, ["---"] * len(headings), *table)]
    before, rest = document.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    document.write_text(f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    write(DOCUMENT, "turn", TURN_HEADINGS, turn_rows())
    write(DOCUMENT, "table", HEADINGS, rows())
    print("Saved:", DOCUMENT, picture(PICTURE), sep="\n  ")
