# SPDX-License-Identifier: GPL-3.0-or-later
"""Time the evaluation of many tracks at once, alternating with scipy and other libraries, several times.

Peers: NumPy, scipy, and, if installed, PyPI's `splines` and numpy-quaternion.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import numpy.typing as npt

from interp import Keys, evaluate_many, rotations
from interp.splines import tcb
from tools.benchmarks.timing import seconds_of
from tools.tables import number, table

Float64Array = npt.NDArray[np.float64]
Track = tuple[Float64Array, Float64Array]
"""The frames and quaternions of a track's keys."""


@dataclass
class Row:
    """The times of a function. `samples` is the number of samples per call."""

    name: str
    samples: int
    note: str = ""
    seconds: list[float] = field(default_factory=list)


Timed = tuple[Row, Callable[[], object]]


# The direct form of the formulas, with one quaternion per row, as the reference for `interp`.


def naive_slerp(p: Float64Array, q: Float64Array, t: Float64Array) -> Float64Array:
    """Return slerp computed with two sines (docs/formulas, "Slerp")."""
    angle = np.arccos(np.clip((p * q).sum(axis=-1), -1.0, 1.0))
    sine = np.sin(angle)
    near = sine < 1e-6
    safe = np.where(near, 1.0, sine)
    at_p = np.where(near, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    at_q = np.where(near, t, np.sin(t * angle) / safe)
    return at_p[..., np.newaxis] * p + at_q[..., np.newaxis] * q


def naive_controls(frames: Float64Array, q: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing control quaternions of keys with all parameters set to 0."""
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


def naive_batch(tracks: Sequence[Track], frames: Float64Array) -> Float64Array:
    """Evaluate all tracks by six slerps per sample, with controls and lookup per track and all slerps at once."""
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


def measure(tracks: int, keys: int, samples: int, rounds: int) -> list[Row]:
    """Time `interp` and its peers on tracks of unevenly spaced keys."""
    generator = np.random.default_rng(1)
    key_frames = [np.cumsum(generator.uniform(5.0, 40.0, keys)) for _ in range(tracks)]
    frames = np.linspace(0.0, max(each[-1] for each in key_frames), samples)
    turns = generator.normal(size=(tracks, keys, 3)) * 0.5
    pairs = list(zip(key_frames, map(rotations.from_rotation_vector, turns), strict=True))
    timed = [*_naive_rows(pairs, frames), *_interp_rows(pairs, frames, generator)]
    for module, rows_of in (("scipy", _scipy_rows), ("quaternion", _numpy_quaternion_rows), ("splines", _splines_rows)):
        if importlib.util.find_spec(module):
            timed += rows_of(pairs, frames)
    for _, call in timed:
        call()
    for _ in range(rounds):
        for row, call in timed:
            row.seconds.append(seconds_of(call, time.perf_counter))
    return [row for row, _ in timed]


def add_options(parser: argparse.ArgumentParser) -> None:
    for name, default in (("tracks", 250), ("keys", 20), ("samples", 1000), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)


def run(options: argparse.Namespace) -> None:
    measured = measure(options.tracks, options.keys, options.samples, options.rounds)
    nanoseconds = {row.name: 1e9 * median(row.seconds) / row.samples for row in measured}
    ours = nanoseconds["interp TCB rotation, keys to samples"]
    rows = [
        (row.name, number(nanoseconds[row.name]), number(nanoseconds[row.name] / ours), row.note) for row in measured
    ]
    print(table(("", "ns per sample", "times ours", ""), rows))


def _naive_rows(pairs: Sequence[Track], frames: Float64Array) -> list[Timed]:
    total = len(pairs) * len(frames)
    return [(Row("naive slerps", total), lambda: naive_batch(pairs, frames))]


def _interp_rows(pairs: Sequence[Track], frames: Float64Array, generator: np.random.Generator) -> list[Timed]:
    tracks, keys, total = len(pairs), len(pairs[0][0]), len(pairs) * len(frames)

    def rotation_splines() -> list[tcb.RotationSpline]:
        return [tcb.RotationSpline(Keys(f, q)) for f, q in pairs]

    made = rotation_splines()
    eased = [tcb.RotationSpline(Keys(f, q, 0.2, 0.3, -0.4, 0.3, 0.4)) for f, q in pairs]
    vectors = [tcb.VectorSpline(Keys(f, generator.normal(size=(keys, 3)))) for f, _ in pairs]
    scalars = [tcb.VectorSpline(Keys(f, generator.normal(size=keys))) for f, _ in pairs for _ in range(4)]
    orientations = np.stack(evaluate_many(made, frames))
    off = np.abs(np.concatenate(orientations) - naive_batch(pairs, frames)).max()
    return [
        (
            Row("interp TCB rotation, keys to samples", total, f"{off:.0e} off the naive"),
            lambda: evaluate_many(rotation_splines(), frames),
        ),
        (Row("interp TCB rotation, parameters and ease", total), lambda: evaluate_many(eased, frames)),
        (Row("interp TCB rotation, one track per call", total), lambda: [s(frames) for s in made]),
        (Row("interp TCB vector x3", total), lambda: evaluate_many(vectors, frames)),
        (Row("interp TCB scalar", 4 * tracks * len(frames)), lambda: evaluate_many(scalars, frames)),
        (Row("rotations.follow_euler", total), lambda: rotations.follow_euler(orientations, "XYZ")),
    ]


def _scipy_rows(pairs: Sequence[Track], frames: Float64Array) -> list[Timed]:
    from scipy.interpolate import CubicHermiteSpline
    from scipy.spatial.transform import Rotation, RotationSpline, Slerp

    inside = [np.clip(frames, f[0], f[-1]) for f, _ in pairs]
    total = len(pairs) * len(frames)
    keys = [(f, Rotation.from_quat(q[:, [1, 2, 3, 0]])) for f, q in pairs]
    vectors = [CubicHermiteSpline(f, q[:, 1:], np.gradient(q[:, 1:], f, axis=0)) for f, q in pairs]

    def evaluate(splines: Sequence[Slerp | RotationSpline]) -> list[Float64Array]:
        return [spline(each).as_quat() for spline, each in zip(splines, inside, strict=True)]

    slerps = [Slerp(f, q) for f, q in keys]
    return [
        (Row("scipy Slerp, made", total), lambda: evaluate(slerps)),
        (
            Row("scipy RotationSpline, keys to samples", total),
            lambda: evaluate([RotationSpline(f, q) for f, q in keys]),
        ),
        (
            Row("scipy CubicHermiteSpline x3, made", total),
            lambda: [spline(each) for spline, each in zip(vectors, inside, strict=True)],
        ),
    ]


def _numpy_quaternion_rows(pairs: Sequence[Track], frames: Float64Array) -> list[Timed]:
    import quaternion

    keys = [(f, quaternion.as_quat_array(q)) for f, q in pairs]
    row = Row("numpy-quaternion squad", len(pairs) * len(frames))
    return [(row, lambda: [quaternion.squad(q, f, np.clip(frames, f[0], f[-1])) for f, q in keys])]


def _splines_rows(pairs: Sequence[Track], frames: Float64Array) -> list[Timed]:
    from splines.quaternion import KochanekBartels, UnitQuaternion

    # The inner loops of `splines` are in Python, so it gets one track and a tenth of the frames.
    key_frames, q = pairs[0]
    some = np.clip(frames[::10], key_frames[0], key_frames[-1])
    units = [UnitQuaternion.from_unit_xyzw(each[[1, 2, 3, 0]]) for each in q]
    row = Row("splines KochanekBartels", len(some), "uniform spacing only")
    return [(row, lambda: KochanekBartels(units, list(key_frames)).evaluate(some))]
