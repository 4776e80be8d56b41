# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/methods.md and docs/methods.png: what each way to interpolate keeps to, costs, and is off by.

    python tools/methods.py

It wants scipy and mpmath (tools/requirements-tests.txt): every method is measured against a reference that was not
written for it. Text outside the table is kept as it is in the document.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline, CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation, Slerp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.methods import picture
from interp import Keys, evaluate_many, rotations
from interp.methods import METHODS
from interp.segments import Method
from tests.interp import exact

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT, PICTURE = ROOT / "docs" / "methods.md", ROOT / "docs" / "methods.png"
BEGIN, END = "<!-- from here to the end of the table: python tools/methods.py -->", "<!-- the end of the table -->"
TRACKS, KEYS, SAMPLES, ROUNDS = 60, 20, 400, 7

# What tests go by serves here too; it says no types.
b_splines: Any = importlib.import_module("tests.interp.test_b_spline")
cubic_rotations: Any = importlib.import_module("tests.interp.test_cubic_rotations")
rotation_splines: Any = importlib.import_module("tests.interp.test_rotation_spline")
seed_002: Any = importlib.import_module("tests.interp.seed_002")
shoemakes: Any = importlib.import_module("tests.interp.test_shoemake")

Array = npt.NDArray[np.float64]
Differences = Callable[[type[Any]], Array]

AXIS = np.array([2.0, -3.0, 6.0]) / 7.0
_generator = np.random.default_rng(1)
FRAMES = np.cumsum(_generator.uniform(3.0, 15.0, 9))
VALUES = np.exp(_generator.normal(size=(9, 2)))
ANGLES = np.cumsum(_generator.uniform(-1.5, 1.5, 9))
EVEN = np.arange(9.0)
ORIENTATIONS = rotations.turns_to_rotations(
    _generator.uniform(0.3, 1.2, 9), _generator.normal(size=(9, 3)), first=_generator.normal(size=4)
)
KNOWN = Rotation.from_quat(np.roll(ORIENTATIONS, -1, axis=1))
AT = np.linspace(FRAMES[0], FRAMES[-1], 60)[:-1]
INNER = np.linspace(1.0, 7.0, 37)[:-1]
NO_PARAMETERS = np.zeros((5, 9))


def values_from(reference: Callable[[Array], Array], **options: Any) -> Differences:
    """Differences of values from those of a reference."""
    return lambda made: np.abs(made(Keys(FRAMES, VALUES), **options)(AT) - np.asarray(reference(AT), dtype=np.float64))


def rotations_from(reference: Callable[[float], Any], **options: Any) -> Differences:
    """Angles between rotations and those of a reference, frame by frame: quaternions, or scipy's."""

    def differences(made: type[Any]) -> Array:
        found = made(Keys(FRAMES, ORIENTATIONS), **options)(AT)
        return np.array([_angle(q, reference(frame)) for q, frame in zip(found, AT, strict=True)])

    return differences


def rotations_from_seed(reference: Any) -> Differences:
    """Angles between rotations and seeds/002's, which has evenly spaced keys, and none outside the inner ones."""

    def differences(made: type[Any]) -> Array:
        found = made(Keys(EVEN, ORIENTATIONS))(INNER)
        places = [(int(frame), float(frame % 1.0)) for frame in INNER]
        return np.array([_angle(q, reference.rotation(*place)) for q, place in zip(found, places, strict=True)])

    return differences


def about_one_axis(reference: Callable[[Array], Array]) -> Differences:
    """Angles between rotations about one axis and those of a spline of the angle."""

    def differences(made: type[Any]) -> Array:
        found = made(Keys(FRAMES, rotations.from_axis_angle(np.tile(AXIS, (9, 1)), ANGLES)))(AT)
        return rotations.angle_between(found, rotations.from_axis_angle(np.tile(AXIS, (len(AT), 1)), reference(AT)))

    return differences


def _angle(q: Array, expected: Any) -> float:
    if isinstance(expected, Rotation):
        return float((b_splines.as_scipy(q) * expected.inv()).magnitude())
    return float(rotations.angle_between(q, [float(x) for x in expected]))


def hermite(values: Array, slopes: Array) -> Callable[[Array], Array]:
    spline: Callable[[Array], Array] = CubicHermiteSpline(FRAMES, values, slopes)
    return spline


def central(values: Array) -> Callable[[Array], Array]:
    """scipy's Hermite spline with numpy's central differences."""
    return hermite(values, np.gradient(values, FRAMES, axis=0, edge_order=2))


def in_fractions(at: Array) -> Array:
    """The polynomial through all keys, by seeds/004's eq. 13.15 and 13.16 in fractions."""
    nodes, rows = [Fraction(frame) for frame in FRAMES], []
    for frame in map(Fraction, at):
        weights = [
            math.prod(((frame - b) / (a - b) for j, b in enumerate(nodes) if j != i), start=Fraction(1))
            for i, a in enumerate(nodes)
        ]
        rows.append([float(sum(w * Fraction(v) for w, v in zip(weights, c, strict=True))) for c in VALUES.T])
    return np.array(rows)


def tcb_values(at: Array) -> Array:
    track = exact.Track(FRAMES.tolist(), VALUES, NO_PARAMETERS)
    return exact.rows([track.vector(frame) for frame in at])


def raw_cubic(frame: float) -> Array:
    return rotations.normalise(central(rotations.unroll_signs(ORIENTATIONS))(frame))  # type: ignore[arg-type]


def euler_angles(frame: float) -> Rotation:
    """Blender's XYZ are scipy's angles about fixed axes; at default parameters TCB is what `tcb_values` is."""
    angles = np.unwrap(KNOWN.as_euler("xyz"), axis=0)
    track = exact.Track(FRAMES.tolist(), angles, NO_PARAMETERS)
    return Rotation.from_euler("xyz", [float(x) for x in track.vector(frame)])


def clamped_velocities() -> Array:
    """Those that scipy's RotationSpline has at its ends."""
    rates = (KNOWN[1:] * KNOWN[:-1].inv()).as_rotvec() / np.diff(FRAMES)[:, np.newaxis]
    return np.concatenate([rates[:1], np.zeros((7, 3)), rates[-1:]])


def shoemake(construction: str) -> Differences:
    return rotations_from(shoemakes.exact_track(FRAMES, ORIENTATIONS, NO_PARAMETERS, construction).rotation)


TCB_TRACK = rotation_splines.exact_rotation_track(FRAMES, ORIENTATIONS, NO_PARAMETERS)
NATURAL = CubicSpline(FRAMES, ANGLES, bc_type="natural")
FIFTY = "the formulas at 50 digits"

REFERENCES: dict[str, tuple[str, dict[str, tuple[str, Differences]]]] = {
    "TCB": (
        "001",
        {"values": (FIFTY, values_from(tcb_values)), "rotations": (FIFTY, rotations_from(TCB_TRACK.rotation))},
    ),
    "LINEAR": (
        "003; 004 eq. 13.47",
        {
            "values": (
                "numpy.interp",
                values_from(lambda at: np.stack([np.interp(at, FRAMES, row) for row in VALUES.T], axis=1)),
            ),
            "rotations": ("scipy Slerp", rotations_from(Slerp(FRAMES, KNOWN))),
        },
    ),
    "CATMULL_ROM": (
        "002",
        {
            "values": ("scipy CubicHermiteSpline, numpy.gradient", values_from(central(VALUES))),
            "rotations": ("the source at 50 digits", rotations_from_seed(seed_002.Seed(ORIENTATIONS, None, True))),
        },
    ),
    "HERMITE": (
        "002",
        {
            "values": ("scipy CubicHermiteSpline", values_from(hermite(VALUES, np.zeros_like(VALUES)))),
            "rotations": (
                "the source at 50 digits",
                rotations_from_seed(seed_002.Seed(ORIENTATIONS, np.zeros((9, 3)), True)),
            ),
        },
    ),
    "RAW_CUBIC": ("002", {"rotations": ("scipy CubicHermiteSpline, normalised", rotations_from(raw_cubic))}),
    "LOGARITHMIC": (
        "002, appendix",
        {
            "values": (
                "the exponential of scipy CubicHermiteSpline",
                values_from(lambda at: np.exp(central(np.log(VALUES))(at))),
            )
        },
    ),
    "SHOEMAKE": ("004, 13.5", {"rotations": (FIFTY, shoemake("DE_CASTELJAU"))}),
    "SHOEMAKE_BLEND": ("004 eq. 13.53", {"rotations": (FIFTY, shoemake("BLEND"))}),
    "ROLL_PITCH_YAW": (
        "004, 13.1",
        {"rotations": ("scipy Euler angles, each at 50 digits", rotations_from(euler_angles))},
    ),
    "CUBIC_CLAMPED": (
        "004 eq. 13.19 to 13.22",
        {
            "values": ("scipy CubicSpline", values_from(CubicSpline(FRAMES, VALUES, bc_type="clamped"))),
            "rotations": (
                "scipy RotationSpline",
                rotations_from(cubic_rotations.SettledScipySpline(FRAMES, KNOWN), velocities=clamped_velocities()),
            ),
        },
    ),
    "CUBIC_NATURAL": (
        "004 eq. 13.19 to 13.21",
        {
            "values": ("scipy CubicSpline", values_from(CubicSpline(FRAMES, VALUES, bc_type="natural"))),
            "rotations": ("scipy CubicSpline, about one axis", about_one_axis(NATURAL)),
        },
    ),
    "LAGRANGE": ("004 eq. 13.14 to 13.16", {"values": ("the formulas in fractions", values_from(in_fractions))}),
    "B_SPLINE": (
        "004 eq. 13.23 to 13.25",
        {
            "values": ("scipy BSpline", values_from(b_splines.scipys(FRAMES, VALUES))),
            "rotations": (
                "the products of scipy's Rotation and BSpline",
                rotations_from(b_splines.cumulative(FRAMES, KNOWN)),
            ),
        },
    ),
    "B_SPLINE_THROUGH": (
        "004 eq. 13.26",
        {
            "values": (
                "scipy make_interp_spline",
                values_from(make_interp_spline(FRAMES, VALUES, bc_type="natural")),
            ),
            "rotations": ("scipy CubicSpline, about one axis", about_one_axis(NATURAL)),
        },
    ),
}
"""Of each method the source, and of values and rotations the reference and how far from it they are."""


def many(method: Method, kind: str) -> list[Any]:
    """Tracks as a character has them."""
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
    """The least time of each method, all taking turns so that a busy moment is no one's alone."""
    at, best = np.linspace(0.0, 10.0 * KEYS, SAMPLES), dict.fromkeys(names, np.inf)
    tracks = {name: many(METHODS[name], kind) for name in names}
    for _ in range(ROUNDS):
        for name, own in tracks.items():
            start = time.perf_counter()
            evaluate_many(own, at)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def rows() -> list[list[str]]:
    """The table."""
    costs = {}
    for kind in ("values", "rotations"):
        taken = seconds(kind, [name for name, method in METHODS.items() if getattr(method, kind) is not None])
        costs[kind] = {name: own / taken["TCB"] for name, own in taken.items()}
    table = []
    for name, method in METHODS.items():
        source, references = REFERENCES[name]
        for kind, (reference, differences) in references.items():
            made = getattr(method, kind)
            spline = made(Keys([0.0, 10.0, 20.0], np.ones((3, 4 if kind == "rotations" else 1))))
            table.append(
                [
                    f"**{method.label}** `{name}`",
                    kind,
                    spline.continuity,
                    "all" if spline.reach is None else str(spline.reach),
                    "yes" if spline.meets_keys else "no",
                    str(spline.derivatives),
                    f"{costs[kind][name]:.1f}",
                    source,
                    reference,
                    f"{differences(made).max():.0e}",
                ]
            )
    return table


HEADINGS = (
    "method", "of", "smooth", "keys a side", "meets keys", "derivatives", "cost", "source", "measured against", "off by"
)  # fmt: skip


def write(document: Path, table: list[list[str]]) -> None:
    """Put the table into the document."""
    lines = ["| " + " | ".join(row) + " |" for row in (HEADINGS, ["---"] * len(HEADINGS), *table)]
    before, rest = document.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    document.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write(DOCUMENT, rows())
    print("Saved:", DOCUMENT, picture(PICTURE), sep="\n  ")
