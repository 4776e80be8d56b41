# SPDX-License-Identifier: GPL-3.0-or-later
"""Time one sample, many samples and the construction of splines for each method, compared with scipy and others.

Each time is the minimum of several. Peers and methods take turns, so the load of the machine hardly affects ratios.
Peers: scipy and, if installed, PyPI's `splines` and numpy-quaternion.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interp import Keys, rotations
from interp.splines import METHODS
from interp.splines.cubic import VectorSpline
from interp.splines.lightwave_kochanek_bartels import (
    KochanekBartelsRotationSpline,
    KochanekBartelsSpline,
    LightWaveSpline,
)

Float64Array = npt.NDArray[np.float64]
MANY = 100_000
SWINGING = "LAGRANGE"
"""This library does not support 1,000 keys."""


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


def peers(frames: Float64Array, q: Float64Array, values: Float64Array) -> Iterator[tuple[str, Peer]]:
    """Yield the splines of values ("values") and rotations ("rotations") of other libraries and of all methods."""
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
    made = [
        (method.name, kind, getattr(method, kind)) for method in METHODS.values() for kind in ("values", "rotations")
    ]
    made += [("CUBIC, not-a-knot", "values", VectorSpline)]
    made += [("LIGHTWAVE", "values", LightWaveSpline), ("KOCHANEK_BARTELS", "values", KochanekBartelsSpline)]
    made += [("KOCHANEK_BARTELS", "rotations", KochanekBartelsRotationSpline)]
    for name, kind, cls in made:
        if cls is not None and (name != SWINGING or len(frames) <= 10):
            own = q if kind == "rotations" else values
            yield kind, Peer(name, partial(made_of, cls, Keys(frames, own)), called)


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
    found = [(kind, peer, timed(peer, at, many)) for kind, peer in peers(frames, q, values)]
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


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", type=int, nargs="*", default=[10, 1000, 10_000], help="of each spline")


def run(options: argparse.Namespace) -> None:
    print(
        "| keys | of | spline | construct, µs | first sample, µs | one sample, µs | over scipy's | one derivative, µs"
        " | 100,000 samples, ms | over scipy's | 100,000 derivatives, ms | over scipy's |"
    )
    print("| ---: | --- | --- |" + " ---: |" * 9)
    for count in options.keys:
        for row in rows(count):
            print(row, flush=True)
