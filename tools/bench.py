# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how fast the add-on is, against what else there is, in one run: ratios count, host noise is up to twofold.

    python tools/bench.py interp [--tracks 250] [--keys 20] [--samples 1000] [--repeat 5] [--json]
    python tools/bench.py bake [--bones 250] [--keys 34] [--frames 1000] [--json]

Peers that are not installed (scipy, splines, numpy-quaternion) are left out of the table and named below it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp import Keys, evaluate_many, rotations, tcb

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    seconds: float
    samples: int
    note: str = ""

    @property
    def nanoseconds(self) -> float:
        """Time a sample."""
        return 1e9 * self.seconds / self.samples


def best_of(repeat: int, run: Callable[[], object]) -> float:
    """Return the least time of several runs: what noise adds is never negative."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


# The form that follows the text step by step, a quaternion a row: what `interp` is measured against.


def naive_slerp(p: FloatArray, q: FloatArray, t: FloatArray) -> FloatArray:
    """Return slerp, as the seed prints it."""
    angle = np.arccos(np.clip((p * q).sum(axis=-1), -1.0, 1.0))
    sine = np.sin(angle)
    near = sine < 1e-6
    safe = np.where(near, 1.0, sine)
    at_p = np.where(near, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    at_q = np.where(near, t, np.sin(t * angle) / safe)
    return at_p[..., np.newaxis] * p + at_q[..., np.newaxis] * q


def naive_controls(frames: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return incoming and outgoing control quaternions of keys with all parameters 0."""
    incoming, outgoing = q.copy(), q.copy()
    before, after = np.diff(frames)[:-1], np.diff(frames)[1:]
    share = before / (before + after)
    g1 = naive_slerp(q[1:-1], q[:-2], np.full(len(share), -1.0 / 3.0))
    g2 = naive_slerp(q[1:-1], q[2:], np.full(len(share), 1.0 / 3.0))
    middle = naive_slerp(g1, g2, np.full(len(share), 0.5))
    incoming[1:-1] = naive_slerp(q[1:-1], middle, -2.0 * share)
    outgoing[1:-1] = naive_slerp(q[1:-1], middle, 2.0 * (1.0 - share))
    outgoing[0] = naive_slerp(q[0], q[1], np.array(1.0 / 3.0))
    incoming[-1] = naive_slerp(q[-1], q[-2], np.array(1.0 / 3.0))
    return incoming, outgoing


def naive_track(key_frames: FloatArray, q: FloatArray, frames: FloatArray) -> FloatArray:
    """Evaluate one track by six slerps a sample."""
    q = rotations.unroll_signs(q)
    incoming, outgoing = naive_controls(key_frames, q)
    segment = np.clip(np.searchsorted(key_frames, frames, side="right") - 1, 0, len(key_frames) - 2)
    start, end = key_frames[segment], key_frames[segment + 1]
    u = np.clip((frames - start) / (end - start), 0.0, 1.0)
    points = [q[segment], outgoing[segment], incoming[segment + 1], q[segment + 1]]
    while len(points) > 1:
        points = [naive_slerp(points[i], points[i + 1], u) for i in range(len(points) - 1)]
    return points[0]


def naive_batch(tracks: Sequence[tuple[FloatArray, FloatArray]], frames: FloatArray) -> FloatArray:
    """Evaluate all tracks by six slerps a sample, controls and lookup a track, slerps all at once."""
    controls, parameters = [], []
    for key_frames, values in tracks:
        q = rotations.unroll_signs(values)
        incoming, outgoing = naive_controls(key_frames, q)
        segment = np.clip(np.searchsorted(key_frames, frames, side="right") - 1, 0, len(key_frames) - 2)
        start, end = key_frames[segment], key_frames[segment + 1]
        parameters.append(np.clip((frames - start) / (end - start), 0.0, 1.0))
        controls.append((q[segment], outgoing[segment], incoming[segment + 1], q[segment + 1]))
    u = np.concatenate(parameters)
    points = [np.concatenate(column) for column in zip(*controls, strict=True)]
    while len(points) > 1:
        points = [naive_slerp(points[i], points[i + 1], u) for i in range(len(points) - 1)]
    return points[0]


def bench_interp(tracks: int, keys: int, samples: int, repeat: int) -> tuple[list[Row], list[str]]:
    """Time `interp` and its peers on tracks of unevenly spaced keys."""
    generator = np.random.default_rng(1)
    key_frames = [np.cumsum(generator.uniform(5.0, 40.0, keys)) for _ in range(tracks)]
    frames = np.linspace(0.0, max(each[-1] for each in key_frames), samples)
    turns = generator.normal(size=(tracks, keys, 3)) * 0.5
    quaternions = [rotations.turns_to_rotations(np.linalg.norm(turn, axis=1), turn) for turn in turns]
    vectors = generator.normal(size=(tracks, keys, 3))
    angles = generator.normal(size=(4 * tracks, keys))
    pairs = list(zip(key_frames, quaternions, strict=True))
    total = tracks * samples

    def rotation_splines(construction: tcb.Construction = "DE_CASTELJAU") -> list[tcb.RotationSpline]:
        return [tcb.RotationSpline(Keys(f, q), construction=construction) for f, q in pairs]

    def evaluate_rotations() -> object:
        return evaluate_many(rotation_splines(), frames)

    difference = np.abs(np.concatenate(evaluate_many(rotation_splines(), frames)) - naive_batch(pairs, frames)).max()
    made = rotation_splines()
    eased = [tcb.RotationSpline(Keys(f, q, 0.2, 0.3, -0.4, 0.3, 0.4)) for f, q in pairs]
    looped = [tcb.RotationSpline(Keys(f, q), cycle="REPEAT") for f, q in pairs]
    vector_splines = [tcb.VectorSpline(Keys(f, v)) for f, v in zip(key_frames, vectors, strict=True)]
    scalar_splines = [tcb.VectorSpline(Keys(key_frames[i % tracks], a)) for i, a in enumerate(angles)]
    orientations = np.stack(evaluate_many(made, frames))

    rows = [
        Row("naive slerps, tracks batched", best_of(repeat, lambda: naive_batch(pairs, frames)), total),
        Row(
            "naive slerps, a track at a time",
            best_of(repeat, lambda: [naive_track(f, q, frames) for f, q in pairs]),
            total,
        ),
        Row(
            "interp TCB rotation, keys to samples", best_of(repeat, evaluate_rotations), total, f"{difference:.0e} off"
        ),
        Row("interp TCB rotation, splines made", best_of(repeat, lambda: evaluate_many(made, frames)), total),
        Row("interp TCB rotation, parameters and ease", best_of(repeat, lambda: evaluate_many(eased, frames)), total),
        Row("interp TCB rotation, a track a call", best_of(repeat, lambda: [s(frames) for s in made]), total),
        Row("interp TCB rotation, cycles", best_of(repeat, lambda: evaluate_many(looped, frames * 2.0)), total),
        Row(
            "interp squad, keys to samples",
            best_of(repeat, lambda: evaluate_many(rotation_splines("SQUAD"), frames)),
            total,
        ),
        Row("interp angular velocity", best_of(1, lambda: evaluate_many(made, frames, 1)), total),
        Row("interp TCB vector x3", best_of(repeat, lambda: evaluate_many(vector_splines, frames)), total),
        Row("interp TCB scalar", best_of(repeat, lambda: evaluate_many(scalar_splines, frames)), 4 * total),
        Row("rotations.follow_euler", best_of(repeat, lambda: rotations.follow_euler(orientations, "XYZ")), total),
        Row("rotations.follow_axis_angle", best_of(repeat, lambda: rotations.follow_axis_angle(orientations)), total),
    ]
    missing = []
    if importlib.util.find_spec("scipy"):
        rows += _scipy_rows(pairs, frames, repeat)
    else:
        missing.append("scipy")
    if importlib.util.find_spec("quaternion"):
        rows += _numpy_quaternion_rows(pairs, frames, repeat)
    else:
        missing.append("numpy-quaternion")
    if importlib.util.find_spec("splines"):
        rows += _splines_rows(pairs, frames)
    else:
        missing.append("splines")
    return rows, missing


def _scipy_rows(pairs: Sequence[tuple[FloatArray, FloatArray]], frames: FloatArray, repeat: int) -> list[Row]:
    from scipy.spatial.transform import Rotation, RotationSpline, Slerp

    inside = [np.clip(frames, f[0], f[-1]) for f, _ in pairs]
    total = len(pairs) * len(frames)

    def evaluate(splines: Sequence[Slerp | RotationSpline]) -> list[FloatArray]:
        return [spline(each).as_quat() for spline, each in zip(splines, inside, strict=True)]

    def row_pair(name: str, make: Callable[[], Sequence[Slerp | RotationSpline]]) -> list[Row]:
        splines = make()
        return [
            Row(f"scipy {name}, made", best_of(repeat, lambda: evaluate(splines)), total),
            Row(f"scipy {name}, keys to samples", best_of(repeat, lambda: evaluate(make())), total),
        ]

    keys = [(f, q[:, [1, 2, 3, 0]]) for f, q in pairs]
    return [
        *row_pair("Slerp", lambda: [Slerp(f, Rotation.from_quat(q)) for f, q in keys]),
        *row_pair("RotationSpline", lambda: [RotationSpline(f, Rotation.from_quat(q)) for f, q in keys]),
    ]


def _numpy_quaternion_rows(
    pairs: Sequence[tuple[FloatArray, FloatArray]], frames: FloatArray, repeat: int
) -> list[Row]:
    import quaternion

    keys = [(f, quaternion.as_quat_array(q)) for f, q in pairs]
    seconds = best_of(repeat, lambda: [quaternion.squad(q, f, np.clip(frames, f[0], f[-1])) for f, q in keys])
    return [Row("numpy-quaternion squad", seconds, len(pairs) * len(frames))]


def _splines_rows(pairs: Sequence[tuple[FloatArray, FloatArray]], frames: FloatArray) -> list[Row]:
    from splines.quaternion import KochanekBartels, UnitQuaternion

    # Its inner loops are Python: one track, a tenth of the frames.
    key_frames, q = pairs[0]
    some = np.clip(frames[::10], key_frames[0], key_frames[-1])
    units = [UnitQuaternion.from_unit_xyzw(each[[1, 2, 3, 0]]) for each in q]

    def run() -> object:
        return KochanekBartels(units, list(key_frames)).evaluate(some)

    return [Row("splines KochanekBartels", best_of(1, run), len(some), "one track, uniform spacing only")]


def print_rows(rows: Sequence[Row], missing: Sequence[str]) -> None:
    """Print the table; the last column is relative to the first row."""
    print(f"{'':44}{'ms':>9}{'ns/sample':>11}{'speed':>8}")
    for row in rows:
        speed = rows[0].nanoseconds / row.nanoseconds
        print(f"{row.name:44}{1e3 * row.seconds:9.1f}{row.nanoseconds:11.0f}{speed:7.2f}x  {row.note}".rstrip())
    if missing:
        print(f"not installed, so left out: {', '.join(missing)}")


def main() -> int:
    """Run the section that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    sections = parser.add_subparsers(dest="section", required=True)
    interp = sections.add_parser("interp", help="the mathematics, without Blender")
    interp.add_argument("--tracks", type=int, default=250)
    interp.add_argument("--keys", type=int, default=20)
    interp.add_argument("--samples", type=int, default=1000)
    interp.add_argument("--repeat", type=int, default=5)
    bake = sections.add_parser("bake", help="an armature, in Blender, beside Blender's own tools")
    bake.add_argument("--bones", type=int, default=250)
    bake.add_argument("--keys", type=int, default=34)
    bake.add_argument("--frames", type=int, default=1000)
    for section in (interp, bake):
        section.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    missing: list[str] = []
    if options.section == "bake":
        from tools.bench_bake import bench_bake

        rows = [Row(*row) for row in bench_bake(options.bones, options.keys, options.frames)]
    else:
        rows, missing = bench_interp(options.tracks, options.keys, options.samples, options.repeat)
    if options.json:
        print(json.dumps({options.section: [asdict(row) for row in rows], "missing": missing}))
    else:
        print_rows(rows, missing)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
