# SPDX-License-Identifier: GPL-3.0-or-later
"""Time splines of many tracks and of one track, compared with scipy and others.

The table of many tracks shows medians of several rounds, in which all splines take turns. The table of one track shows
minimum times of one sample, many samples and the construction for each method. Peers: scipy and, if installed, PyPI's
`splines` and numpy-quaternion.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interp import Keys, evaluate_many, rotations
from interp.splines import METHODS, tcb
from interp.splines.cubic import VectorSpline
from interp.splines.lightwave_kochanek_bartels import (
    KochanekBartelsRotationSpline,
    KochanekBartelsSpline,
    LightWaveSpline,
)
from tools.benchmarks.timing import seconds_of
from tools.tables import number, table

Float64Array = npt.NDArray[np.float64]
MANY = 100_000
"""The number of samples of one track."""
FEW_KEYS = {"LAGRANGE": 10}
"""The most keys of methods that oscillate with many keys."""
HEADS = (
    *("keys", "of", "spline", "construct, µs", "first sample, µs", "one sample, µs", "over scipy's"),
    *("one derivative, µs", "100,000 samples, ms", "over scipy's"),
)
FROM_KEYS = {
    ("rotations", "scipy Slerp"): False,
    ("rotations", "scipy RotationSpline"): True,
    ("values", "scipy CubicHermiteSpline"): False,
    ("rotations", "numpy-quaternion squad"): True,
    ("rotations", "`splines` KochanekBartels"): True,
}
"""The splines that are measured with many tracks, and whether their construction is included."""


@dataclass
class Candidate:
    """A spline to time, of this package or of another library."""

    name: str
    make: Callable[[], Any]
    """Construct the spline."""
    evaluate: Callable[[Any, Any, int], object]
    """Evaluate a spline at a frame or at frames, with the order of the derivative."""
    has_derivative: bool = True
    takes_many_frames: bool = True


class Times(NamedTuple):
    """Seconds, or NaN for calls that a library does not support."""

    construction: float
    first_sample: float
    sample: float
    samples: float
    derivative: float


def candidates_of_libraries(
    frames: Float64Array, q: Float64Array, values: Float64Array
) -> Iterator[tuple[str, Candidate]]:
    """Yield the splines of values ("values") and rotations ("rotations") of other libraries."""
    from scipy.interpolate import CubicHermiteSpline, CubicSpline
    from scipy.spatial.transform import Rotation, RotationSpline, Slerp

    def call(spline: Any, at: Any, nu: int) -> object:
        return spline(at, nu)

    orientations = Rotation.from_quat(q[:, [1, 2, 3, 0]])
    yield "values", Candidate("scipy CubicHermiteSpline", lambda: CubicHermiteSpline(frames, values, values), call)
    yield "rotations", Candidate("scipy Slerp", lambda: Slerp(frames, orientations), lambda s, at, _: s(at), False)
    yield "values", Candidate("scipy CubicSpline", lambda: CubicSpline(frames, values), call)
    yield "rotations", Candidate("scipy RotationSpline", lambda: RotationSpline(frames, orientations), call)
    if importlib.util.find_spec("splines") and len(frames) <= 1000:
        import splines
        from splines.quaternion import KochanekBartels, UnitQuaternion

        def evaluate(spline: Any, at: Any, nu: int) -> object:
            return spline.evaluate(at, nu)

        name, grid = "`splines` KochanekBartels", list(frames)
        units = [UnitQuaternion.from_unit_xyzw(quaternion[[1, 2, 3, 0]]) for quaternion in q]
        yield "values", Candidate(name, lambda: splines.KochanekBartels(values, grid), evaluate)
        yield (
            "rotations",
            Candidate(name, lambda: KochanekBartels(units, grid), evaluate, False, takes_many_frames=False),
        )
    if importlib.util.find_spec("quaternion"):
        import quaternion

        array = quaternion.as_quat_array(q)

        def squad(_: Any, at: Any, nu: int) -> object:
            return quaternion.squad(array, frames, np.atleast_1d(at))

        yield "rotations", Candidate("numpy-quaternion squad", lambda: None, squad, False)


def candidates_of_methods(
    frames: Float64Array, q: Float64Array, values: Float64Array
) -> Iterator[tuple[str, Candidate]]:
    """Yield the splines of all methods."""
    classes = [
        (method.name, kind, getattr(method, kind)) for method in METHODS.values() for kind in ("values", "rotations")
    ]
    classes += [("CUBIC, not-a-knot", "values", VectorSpline)]
    classes += [("LIGHTWAVE", "values", LightWaveSpline), ("KOCHANEK_BARTELS", "values", KochanekBartelsSpline)]
    classes += [("KOCHANEK_BARTELS", "rotations", KochanekBartelsRotationSpline)]
    for name, kind, spline_class in classes:
        if spline_class is not None and len(frames) <= FEW_KEYS.get(name, len(frames)):
            keys = Keys(frames, q if kind == "rotations" else values)
            construct = partial(construct_from_checked_keys, spline_class, keys)
            yield kind, Candidate(name, construct, lambda spline, at, nu: spline(at, nu))


def construct_from_checked_keys(spline_class: Callable[[Keys], Any], keys: Keys) -> object:
    """Return the spline from keys that are checked again, as keys of a caller are."""
    return spline_class(Keys(keys.frames, keys.values))


def times_of(candidate: Candidate, frame: float, frames: Float64Array) -> Times:
    """Return the times of a candidate for one frame and for many frames."""
    first_samples = []
    for _ in range(3):
        spline = candidate.make()
        start = time.perf_counter()
        candidate.evaluate(spline, frame, 0)
        first_samples.append(time.perf_counter() - start)
    calls = ((frame, 0, True), (frames, 0, candidate.takes_many_frames), (frame, 1, candidate.has_derivative))
    seconds = (least(partial(candidate.evaluate, spline, at, nu)) if is_timed else np.nan for at, nu, is_timed in calls)
    return Times(least(candidate.make), min(first_samples), *seconds)


def least(run: Callable[[], object], seconds: float = 0.05) -> float:
    """Return the minimum time of a call in seconds, from at least nine calls and as many as fit into a time limit."""
    times: list[float] = []
    stop = time.perf_counter() + seconds
    while len(times) < 9 or time.perf_counter() < stop:
        times.append(timeit.timeit(run, number=1))
    return min(times)


def rows_of_one_track(key_count: int) -> Iterator[list[str]]:
    """Yield the rows of the table of one track with this number of keys."""
    generator = np.random.default_rng(key_count)
    key_frames = np.cumsum(generator.uniform(1.0, 5.0, key_count))
    q = rotations.from_rotation_vector(generator.normal(size=(key_count, 3)) * 0.3)
    values = np.exp(generator.normal(size=(key_count, 3)) * 0.4)
    frame = float(key_frames[key_count // 2] + 0.3)
    frames = np.sort(generator.uniform(key_frames[0], key_frames[-1], MANY))
    candidates = [*candidates_of_libraries(key_frames, q, values), *candidates_of_methods(key_frames, q, values)]
    times = {(kind, candidate.name): times_of(candidate, frame, frames) for kind, candidate in candidates}
    for (kind, name), own in times.items():
        one_by_scipy = times[kind, "scipy CubicHermiteSpline" if kind == "values" else "scipy Slerp"]
        many_by_scipy = times[kind, f"scipy {'CubicHermite' if kind == 'values' else 'Rotation'}Spline"]
        figures = [
            (own.construction * 1e6, ",.0f"),
            (own.first_sample * 1e6, ",.0f"),
            (own.sample * 1e6, ",.1f"),
            (own.sample / one_by_scipy.sample, ".2f"),
            (own.derivative * 1e6, ",.1f"),
            (own.samples * 1e3, ",.2f"),
            (own.samples / many_by_scipy.samples, ".2f"),
        ]
        cells = ["" if np.isnan(figure) else format(figure, form) for figure, form in figures]
        yield [f"{key_count:,}", kind, name, *cells]


@dataclass
class Work:
    """A call that evaluates many tracks, its number of samples, and its times."""

    name: str
    samples: int
    call: Callable[[], object]
    seconds: list[float] = field(default_factory=list)


def many_tracks(tracks: int, keys: int, samples: int, rounds: int) -> str:
    """Return the table for tracks of unevenly spaced keys."""
    generator = np.random.default_rng(1)
    key_frames = [np.cumsum(generator.uniform(5.0, 40.0, keys)) for _ in range(tracks)]
    frames = np.linspace(0.0, max(each[-1] for each in key_frames), samples)
    q = rotations.from_rotation_vector(generator.normal(size=(tracks, keys, 3)) * 0.5)
    works = [*works_of_interp(key_frames, q, frames), *works_of_libraries(key_frames, q, frames)]
    for work in works:
        work.call()
    for _ in range(rounds):
        for work in works:
            work.seconds.append(seconds_of(work.call, time.perf_counter))
    nanoseconds = [1e9 * median(work.seconds) / work.samples for work in works]
    rows = [(work.name, number(ns), number(ns / nanoseconds[0])) for work, ns in zip(works, nanoseconds, strict=True)]
    return table(("", "ns per sample", "times ours"), rows)


def works_of_interp(key_frames: Sequence[Float64Array], q: Float64Array, frames: Float64Array) -> list[Work]:
    """Return the calls of this package."""

    def make() -> list[tcb.RotationSpline]:
        return [tcb.RotationSpline(Keys(*pair)) for pair in zip(key_frames, q, strict=True)]

    splines = make()
    eased = [tcb.RotationSpline(Keys(*pair, 0.2, 0.3, -0.4, 0.3, 0.4)) for pair in zip(key_frames, q, strict=True)]
    vectors = [tcb.VectorSpline(Keys(own_frames, own[:, 1:])) for own_frames, own in zip(key_frames, q, strict=True)]
    total = len(q) * len(frames)
    return [
        Work("TCB rotation, from keys", total, lambda: evaluate_many(make(), frames)),
        Work("TCB rotation, with parameters and ease", total, lambda: evaluate_many(eased, frames)),
        Work("TCB rotation, one track per call", total, lambda: [spline(frames) for spline in splines]),
        Work("TCB vector of 3 components", total, lambda: evaluate_many(vectors, frames)),
    ]


def works_of_libraries(key_frames: Sequence[Float64Array], q: Float64Array, frames: Float64Array) -> Iterator[Work]:
    """Yield the calls of other libraries, whose splines are evaluated between their keys."""
    candidates_by_track = [
        {(kind, candidate.name): candidate for kind, candidate in candidates_of_libraries(own_frames, own, own[:, 1:])}
        for own_frames, own in zip(key_frames, q, strict=True)
    ]
    frames_inside = [np.clip(frames, own_frames[0], own_frames[-1]) for own_frames in key_frames]
    for (kind, name), from_keys in FROM_KEYS.items():
        if (kind, name) not in candidates_by_track[0]:
            continue
        candidates = [by_name[kind, name] for by_name in candidates_by_track]
        calls = list(zip(candidates, frames_inside, strict=True))
        if not candidates[0].takes_many_frames:
            calls = [(candidate, at[::10]) for candidate, at in calls[:1]]
        splines = [None if from_keys else candidate.make() for candidate, _ in calls]
        title = f"{name}, {'from keys' if from_keys else 'evaluation'}"
        yield Work(title, sum(len(at) for _, at in calls), partial(evaluate_each, calls, splines))


def evaluate_each(calls: Sequence[tuple[Candidate, Float64Array]], splines: Sequence[Any]) -> None:
    """Evaluate a library's splines of all tracks. Construct the splines that are None."""
    for (candidate, frames), spline in zip(calls, splines, strict=True):
        candidate.evaluate(candidate.make() if spline is None else spline, frames, 0)


def add_options(parser: argparse.ArgumentParser) -> None:
    for name, default in (("tracks", 250), ("keys", 20), ("samples", 1000), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default, help="of many tracks")
    parser.add_argument("--one", type=int, nargs="*", default=[10, 1000, 10_000], help="keys of one track")


def run(options: argparse.Namespace) -> None:
    print(many_tracks(options.tracks, options.keys, options.samples, options.rounds))
    print(f"\n| {' | '.join(HEADS)} |\n| ---: | --- | --- |{' ---: |' * 7}")
    for key_count in options.one:
        for row in rows_of_one_track(key_count):
            print(f"| {' | '.join(row)} |", flush=True)
