# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how many keys of baked curves come back: of tracks drawn at random, and of scenes.

    python tools/unbake.py tracks [--part 0.1]
    python tools/unbake.py scenes [--count 20]

Tracks are sampled from the references of the tests, which are scipy, NumPy and formulas at 50 digits, and from the
product's own TCB splines, on whole frames, as float32. Scenes are made, enabled, baked to samples, and copied as plain
Linear keys on each frame by Blender. Both print a table for docs/reduce.md.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

Array = npt.NDArray[np.float64]

KEYS = 12
SHORTEST, LONGEST = 3, 30
"""Frames between keys."""
_DETERMINED = 0.02
"""Parameters whose least change of tangents, as a part of the chords and of their own, is at least this."""
_MOST_EASE = 0.4


@dataclass
class Counts:
    """What came back of several tracks."""

    tracks: int = 0
    keys: int = 0
    found: int = 0
    at_frame: int = 0
    errors: list[float] = field(default_factory=list)
    parameters: list[float] = field(default_factory=list)
    eases: list[float] = field(default_factory=list)

    def add(self, wanted: npt.NDArray[Any], rows: npt.NDArray[Any]) -> None:
        """Count the keys of a track."""
        self.tracks += 1
        self.keys += len(wanted)
        self.found += len(rows)
        self.at_frame += len(np.intersect1d(wanted, rows))

    def line(self, name: str) -> str:
        """Return a line of the table."""
        parts = [
            name,
            f"{self.tracks}",
            f"{100.0 * self.at_frame / self.keys:.1f} %",
            f"{self.found / self.keys:.2f}",
            _share_within(self.parameters),
            _share_within(self.eases),
            f"{max(self.errors):.1g}" if self.errors else "",
        ]
        return f"| {' | '.join(parts)} |"


def _share_within(off: list[float]) -> str:
    return f"{100.0 * np.mean(np.array(off) <= 0.05):.1f} % of {len(off)}" if off else ""


def main() -> None:
    """Measure tracks or scenes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    tracks = commands.add_parser("tracks")
    tracks.add_argument("--part", type=float, default=1.0, help="of the tracks")
    scenes = commands.add_parser("scenes")
    scenes.add_argument("--count", type=int, default=20)
    given = parser.parse_args()
    if given.what == "tracks":
        _tracks(given.part)
    else:
        _scenes(given.count)


def _tracks(part: float) -> None:
    references: Any = importlib.import_module("tests.interp.references").REFERENCES
    kinds: list[tuple[str, int, Callable[[np.random.Generator], tuple[Any, ...]], bool]] = [
        ("values, TCB", 30, lambda random: _tcb(random, 3), False),
        ("values, TCB with eases", 20, lambda random: _tcb(random, 3, ease=_MOST_EASE), False),
        ("one value, TCB", 15, lambda random: _tcb(random, 1), False),
        ("rotations, TCB", 20, lambda random: _tcb(random, 4), True),
        ("rotations, TCB by squad", 15, lambda random: _tcb(random, 4, construction="SQUAD"), True),
        ("rotations, TCB with eases", 10, lambda random: _tcb(random, 4, ease=_MOST_EASE), True),
    ]
    for name in ("LINEAR", "CATMULL_ROM", "HERMITE", "CUBIC_CLAMPED", "CUBIC_NATURAL", "B_SPLINE", "B_SPLINE_THROUGH"):
        kinds.append((f"values, {name}", 10, _reference(references[name][1]["values"]), False))
    for name in ("LINEAR", "CATMULL_ROM", "HERMITE", "CUBIC_NATURAL"):
        kinds.append((f"rotations, {name}", 5, _reference(references[name][1]["rotations"]), True))
    print("| | tracks | keys at their frame | times as many | T, C, B within 0.05 | eases | largest error |")
    print("|---|---|---|---|---|---|---|")
    total = Counts()
    for name, count, draw, is_rotation in kinds:
        counts = Counts()
        for seed in range(max(round(part * count), 1)):
            _measure(counts, total, draw(np.random.default_rng(seed)), is_rotation)
        print(counts.line(name), flush=True)
    print(total.line("all"))


def _frames(random: np.random.Generator) -> Array:
    return np.cumsum(np.concatenate(([0], random.integers(SHORTEST, LONGEST, KEYS - 1)))).astype(np.float64)


def _tcb(random: np.random.Generator, width: int, ease: float = 0.0, **options: str) -> tuple[Any, ...]:
    """Return frames, parameters and samples of a TCB track; `width` 4: rotations, of up to 90 degrees between keys."""
    interp = importlib.import_module("interp")
    tcb = importlib.import_module("interp.splines.tcb")
    frames, parameters = _frames(random), np.zeros((5, KEYS))
    parameters[:3] = random.uniform(-1.0, 1.0, (3, KEYS))
    parameters[3:] = ease * random.random((2, KEYS)) * (random.random((2, KEYS)) < 0.5)
    if width == 4:
        turns = random.uniform(0.2, 0.5 * np.pi, KEYS), random.normal(size=(KEYS, 3))
        q = interp.rotations.turns_to_rotations(*turns)
        spline = tcb.RotationSpline(interp.Keys(frames, q, *parameters), **options)
    else:
        spline = tcb.VectorSpline(interp.Keys(frames, random.normal(size=(KEYS, width)), *parameters))
    return frames, parameters, spline.keys, spline(np.arange(frames[-1] + 1.0))


def _reference(reference: Any) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    def draw(random: np.random.Generator) -> tuple[Any, ...]:
        frames = _frames(random)
        drawn = reference.draw(random, frames)
        return frames, None, None, drawn.curve(np.arange(frames[-1] + 1.0))

    return draw


def _measure(counts: Counts, total: Counts, track: tuple[Any, ...], is_rotation: bool) -> None:
    """Compare what comes back of a track with what it was made of."""
    unbaking = importlib.import_module("interp.fitting.unbaking")
    frames, parameters, keys, samples = track
    samples = samples.astype(np.float32).astype(np.float64)
    found = (unbaking.unbake_rotations if is_rotation else unbaking.unbake_values)(samples)
    rows = np.arange(len(samples)) if found is None else found.rows
    for each in (counts, total):
        each.add(frames, rows)
        if found is None:
            continue
        off = _played_off(found, samples)
        if off is not None:
            each.errors.append(off)
        if parameters is None or found.parameters is None:
            continue
        _, own, theirs = np.intersect1d(frames, rows, return_indices=True)
        apart = np.abs(found.parameters[0][:, theirs] - parameters[:, own])
        inner = np.flatnonzero(_determined(keys)[own])
        each.parameters += apart[:3, inner].max(axis=0).tolist()
        # Ease to of the first key and ease from of the last one play nowhere.
        each.eases += [*apart[3, 1:], *apart[4, :-1]] if parameters[3:].any() else []


def _determined(keys: Any) -> npt.NDArray[np.bool_]:
    """Return of which keys the tangents determine tension, continuity and bias."""
    tangents = importlib.import_module("interp.fitting.tcb_from_tangents")
    rotations = importlib.import_module("interp").rotations
    values = keys.values
    if values.shape[1] == 4:
        chords = rotations.to_rotation_vector(rotations.multiply(values[1:], rotations.conjugate(values[:-1])))
    else:
        chords = np.diff(values, axis=0)
    before, after, lengths = chords[:-1], chords[1:], np.diff(keys.frames)
    share = lengths[:-1] / (lengths[:-1] + lengths[1:])
    own = keys.parameters[:3, 1:-1]
    size = np.linalg.norm(before, axis=1) + np.linalg.norm(after, axis=1)
    columns = []
    for which in range(3):
        step = np.zeros((3, 1))
        step[which] = 1e-6
        there, here = (
            np.concatenate(tangents.tangents_of(each, before, after, share), axis=1) for each in (own + step, own)
        )
        columns.append((there - here) / 1e-6 / size[:, np.newaxis])
    jacobian = np.stack(columns, axis=2)
    if jacobian.shape[1] < 3:
        # One value's two tangents can't determine three parameters.
        return np.zeros(len(values), dtype=np.bool_)
    least = np.linalg.svd(jacobian, compute_uv=False)[:, -1]
    determined: npt.NDArray[np.bool_] = np.concatenate(([False], least >= _DETERMINED, [False]))
    return determined


def _played_off(found: Any, samples: Array) -> float | None:
    """Return the largest error of TCB or Hermite: a part of the range, or degrees; None where neither plays it."""
    interp, splines = importlib.import_module("interp"), importlib.import_module("interp.splines")
    if (found.kinds < 2).any() or (found.parameters is None and found.velocities is None):
        return None
    rows, at, played = found.rows.astype(np.float64), np.arange(float(len(samples))), []
    is_rotation = found.construction is not None
    kind = "rotations" if is_rotation else "values"
    for each in [slice(None)] if is_rotation else [slice(i, i + 1) for i in range(samples.shape[1])]:
        values = found.values[:, each]
        if found.parameters is not None:
            which = min(each.start or 0, len(found.parameters) - 1)
            options = {"construction": found.construction, "ends": found.ends} if is_rotation else {}
            keys = interp.Keys(rows, values, *found.parameters[which])
            spline = getattr(splines.METHODS["TCB"], kind)(keys, **options)
        else:
            spline = getattr(splines.METHODS["HERMITE"], kind)(
                interp.Keys(rows, values), velocities=found.velocities[:, each]
            )
        played.append(spline(at))
    curve = np.concatenate(played, axis=1)
    if is_rotation:
        return float(np.degrees(interp.rotations.angle_between(curve, samples)).max())
    return float(np.abs(curve - samples).max() / np.ptp(samples, axis=0).max())


def _scenes(count: int) -> None:
    bpy: Any = importlib.import_module("bpy")
    tcb: Any = importlib.import_module("tools.tcb")
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    animation: Any = importlib.import_module(f"{package.__name__}.animation")
    dense: Any = importlib.import_module("tests.animation.dense_copies")
    total = Counts()
    worst, angle, notes = 0.0, 0.0, 0
    for seed in range(count):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        random = np.random.default_rng(seed)
        for mode in ("QUATERNION", "XYZ", "ZXY"):
            path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
            frames = {each: dense.drawn(random, 8, 4, 20) for each in ("location", path)}
            obj = dense.keyed(random, frames, mode)
            animation.enable(obj)
            for each, at in frames.items():
                for frame in at:
                    numbers = random.uniform(-0.8, 0.8, 3).tolist()
                    animation.key_set(
                        obj, each, frame, **dict(zip(("tension", "continuity", "bias"), numbers, strict=True))
                    )
            animation.bake(obj, output="SAMPLES")
            copy = dense.sampled(obj)
            result = animation.reduce(copy)
            worst, angle, notes = max(worst, result.error), max(angle, result.angle), notes + len(result.notes)
            for each, at in frames.items():
                total.add(np.array(at), np.array(dense.frames_of(copy, each)))
    print(total.line(f"{count} scenes"))
    print(f"largest error {worst:.2g}, {np.degrees(angle):.2g} degrees, {notes} notes")


if __name__ == "__main__":
    main()
