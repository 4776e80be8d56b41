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
from typing import Any

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
SWINGING = "LAGRANGE"
"""This method does not support 1,000 keys."""
FROM_KEYS = {
    ("rotations", "scipy Slerp"): False,
    ("rotations", "scipy RotationSpline"): True,
    ("values", "scipy CubicHermiteSpline"): False,
    ("rotations", "numpy-quaternion squad"): True,
    ("rotations", "`splines` KochanekBartels"): True,
}
"""The splines that are measured with many tracks, and whether their construction is included."""


@dataclass
class Peer:
    """The functions of a library to create a spline, and to evaluate it (frame or frames, derivative)."""

    name: str
    make: Callable[[], Any]
    call: Callable[[Any, Any, int], object]
    derivatives: int = 1
    many: bool = True


def least(run: Callable[[], object], seconds: float = 0.05) -> float:
    """Return the minimum time of a call in seconds, from at least nine calls and as many as fit into a time limit."""
    times: list[float] = []
    stop = time.perf_counter() + seconds
    while len(times) < 9 or time.perf_counter() < stop:
        times.append(timeit.timeit(run, number=1))
    return min(times)


def libraries(frames: Float64Array, q: Float64Array, values: Float64Array) -> Iterator[tuple[str, Peer]]:
    """Yield the splines of values ("values") and rotations ("rotations") of other libraries."""
    from scipy.interpolate import CubicHermiteSpline, CubicSpline
    from scipy.spatial.transform import Rotation, RotationSpline, Slerp

    def called(spline: Any, at: Any, nu: int) -> object:
        return spline(at, nu)

    orientations = Rotation.from_quat(q[:, [1, 2, 3, 0]])
    yield "values", Peer("scipy CubicHermiteSpline", lambda: CubicHermiteSpline(frames, values, values), called)
    yield "rotations", Peer("scipy Slerp", lambda: Slerp(frames, orientations), lambda s, at, _: s(at), 0)
    yield "values", Peer("scipy CubicSpline", lambda: CubicSpline(frames, values), called)
    yield "rotations", Peer("scipy RotationSpline", lambda: RotationSpline(frames, orientations), called)
    if importlib.util.find_spec("splines") and len(frames) <= 1000:
        import splines
        from splines.quaternion import KochanekBartels, UnitQuaternion

        units = [UnitQuaternion.from_unit_xyzw(each[[1, 2, 3, 0]]) for each in q]
        evaluated = lambda s, at, nu: s.evaluate(at, nu)  # noqa: E731
        grid = list(frames)
        yield "values", Peer("`splines` KochanekBartels", lambda: splines.KochanekBartels(values, grid), evaluated)
        yield (
            "rotations",
            Peer("`splines` KochanekBartels", lambda: KochanekBartels(units, grid), evaluated, 0, many=False),
        )
    if importlib.util.find_spec("quaternion"):
        import quaternion

        array = quaternion.as_quat_array(q)
        squad = lambda _, at, nu: quaternion.squad(array, frames, np.atleast_1d(at))  # noqa: E731
        yield "rotations", Peer("numpy-quaternion squad", lambda: None, squad, 0)


def methods(frames: Float64Array, q: Float64Array, values: Float64Array) -> Iterator[tuple[str, Peer]]:
    """Yield the splines of all methods."""
    made = [
        (method.name, kind, getattr(method, kind)) for method in METHODS.values() for kind in ("values", "rotations")
    ]
    made += [("CUBIC, not-a-knot", "values", VectorSpline)]
    made += [("LIGHTWAVE", "values", LightWaveSpline), ("KOCHANEK_BARTELS", "values", KochanekBartelsSpline)]
    made += [("KOCHANEK_BARTELS", "rotations", KochanekBartelsRotationSpline)]
    for name, kind, cls in made:
        if cls is not None and (name != SWINGING or len(frames) <= 10):
            own = q if kind == "rotations" else values
            yield kind, Peer(name, partial(made_of, cls, Keys(frames, own)), lambda spline, at, nu: spline(at, nu))


def made_of(cls: Callable[[Keys], Any], keys: Keys) -> object:
    """Return the spline from newly checked keys."""
    return cls(Keys(keys.frames, keys.values))


def timed(peer: Peer, at: float, many: Float64Array) -> list[float]:
    """Return the seconds for construction, first sample, one sample and many samples, and the same for derivatives."""
    firsts = []
    for _ in range(3):
        spline = peer.make()
        start = time.perf_counter()
        peer.call(spline, at, 0)
        firsts.append(time.perf_counter() - start)
    times = [least(peer.make), min(firsts)]
    for nu in range(2):
        has_one = nu <= peer.derivatives
        times.append(least(partial(peer.call, spline, at, nu)) if has_one else np.nan)
        times.append(least(partial(peer.call, spline, many, nu)) if has_one and peer.many else np.nan)
    return times


def rows(count: int) -> Iterator[str]:
    """Yield the rows of the table for a number of keys."""
    generator = np.random.default_rng(count)
    frames = np.cumsum(generator.uniform(1.0, 5.0, count))
    q = rotations.from_rotation_vector(generator.normal(size=(count, 3)) * 0.3)
    values = np.exp(generator.normal(size=(count, 3)) * 0.4)
    at, many = float(frames[count // 2] + 0.3), np.sort(generator.uniform(frames[0], frames[-1], MANY))
    peers = [*libraries(frames, q, values), *methods(frames, q, values)]
    found = [(kind, peer, timed(peer, at, many)) for kind, peer in peers]
    of = {(kind, peer.name): times for kind, peer, times in found}
    for kind, peer, (made, first, one, all_, one_rate, all_rates) in found:
        base = of[kind, "scipy CubicHermiteSpline" if kind == "values" else "scipy Slerp"][2]
        many_base = of[kind, f"scipy {'CubicHermite' if kind == 'values' else 'Rotation'}Spline"]
        spline_all, spline_rates = many_base[3], many_base[5]
        figures = [
            (made * 1e6, ",.0f"),
            (first * 1e6, ",.0f"),
            (one * 1e6, ",.1f"),
            (one / base, ".2f"),
            (one_rate * 1e6, ",.1f"),
            (all_ * 1e3, ",.2f"),
            (all_ / spline_all, ".2f"),
            (all_rates * 1e3, ",.2f"),
            (all_rates / spline_rates, ".2f"),
        ]
        cells = ["" if np.isnan(figure) else format(figure, form) for figure, form in figures]
        yield f"| {count:,} | {kind} | {peer.name} | {' | '.join(cells)} |"


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
    def make() -> list[tcb.RotationSpline]:
        return [tcb.RotationSpline(Keys(*pair)) for pair in zip(key_frames, q, strict=True)]

    made = make()
    eased = [tcb.RotationSpline(Keys(*pair, 0.2, 0.3, -0.4, 0.3, 0.4)) for pair in zip(key_frames, q, strict=True)]
    vectors = [tcb.VectorSpline(Keys(own_frames, own[:, 1:])) for own_frames, own in zip(key_frames, q, strict=True)]
    total = len(q) * len(frames)
    return [
        Work("TCB rotation, from keys", total, lambda: evaluate_many(make(), frames)),
        Work("TCB rotation, with parameters and ease", total, lambda: evaluate_many(eased, frames)),
        Work("TCB rotation, one track per call", total, lambda: [spline(frames) for spline in made]),
        Work("TCB vector of 3 components", total, lambda: evaluate_many(vectors, frames)),
    ]


def works_of_libraries(key_frames: Sequence[Float64Array], q: Float64Array, frames: Float64Array) -> Iterator[Work]:
    of_tracks = [
        {(kind, peer.name): peer for kind, peer in libraries(own_frames, own, own[:, 1:])}
        for own_frames, own in zip(key_frames, q, strict=True)
    ]
    inside = [np.clip(frames, own_frames[0], own_frames[-1]) for own_frames in key_frames]
    for name, from_keys in FROM_KEYS.items():
        if name not in of_tracks[0]:
            continue
        calls = [(peers[name], at) for peers, at in zip(of_tracks, inside, strict=True)]
        if not calls[0][0].many:
            calls = [(peer, at[::10]) for peer, at in calls[:1]]
        made = [None if from_keys else peer.make() for peer, _ in calls]
        title = f"{name[1]}, {'from keys' if from_keys else 'evaluation'}"
        yield Work(title, sum(len(at) for _, at in calls), partial(evaluate_each, calls, made))


def evaluate_each(calls: Sequence[tuple[Peer, Float64Array]], made: Sequence[Any]) -> None:
    """Evaluate a library's splines of all tracks. Construct the splines that are None."""
    for (peer, at), spline in zip(calls, made, strict=True):
        peer.call(peer.make() if spline is None else spline, at, 0)


def add_options(parser: argparse.ArgumentParser) -> None:
    for name, default in (("tracks", 250), ("keys", 20), ("samples", 1000), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default, help="of many tracks")
    parser.add_argument("--one", type=int, nargs="*", default=[10, 1000, 10_000], help="keys of one track")


def run(options: argparse.Namespace) -> None:
    print(many_tracks(options.tracks, options.keys, options.samples, options.rounds))
    print(
        "\n| keys | of | spline | construct, µs | first sample, µs | one sample, µs | over scipy's | one derivative, µs"
        " | 100,000 samples, ms | over scipy's | 100,000 derivatives, ms | over scipy's |"
    )
    print("| ---: | --- | --- |" + " ---: |" * 9)
    for count in options.one:
        for row in rows(count):
            print(row, flush=True)
