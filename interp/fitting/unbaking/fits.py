# SPDX-License-Identifier: GPL-3.0-or-later
"""The tangents, and eases, with which curves play most like the samples of windows, many windows at once.

Tangents are those of the least squares, in steps where curves are not linear in them: what the samples are off by is
played by a cubic, exactly of numbers and of turns about one axis. Source: docs/formulas.md, "Keys of baked curves".
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ... import ease
from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from .curves import Curves, Windows, tangents_for

_STEPS = 25
_NEAR = 0.2
"""Windows that are off by less, as a part of the noise, need no more steps."""
_GAIN, _GAIN_EASED = 0.7, 0.95
"""Nor do those whose last step left more than this part of what they were off by before."""
_FIRST = 2
"""Steps that are tried in any case; with eases as many again."""
_GRID = [(0.1 * a, 0.1 * b) for a in range(11) for b in range(11 - a)]
"""Eases, from and to, of which the best few begin the search."""
_ROUGH = 0.05
"""Windows that are off by more than this part of their motion with all of these don't fit."""
_STARTS, _FIRST_STEPS = 8, 5
"""How many of them, and by how many steps, with cubics of the ways in place of the curves."""
_PROMISING = 100.0
"""Windows of which cubics are off by more than this, as a part of the noise, don't fit."""
_STEP = 1e-6


class Fits(NamedTuple):
    """The fits of windows: errors, tangents and eases.

    `errors` (m,) are the largest, as parts of the noise; `eases` (m, 2) from the first key and to the last, as
    `ease.normalised` gives them.
    """

    errors: Float64Array
    tangents: Float64Array
    eases: Float64Array


def straight(curves: Curves, windows: Windows) -> Float64Array:
    """Return the errors (m,) of straight ways."""
    return _worst(curves, curves.off_lines(windows, windows.local))


def cubic(curves: Curves, windows: Windows) -> Float64Array:
    """Return the errors (m,) of cubics of the ways, whatever the curves are."""
    u = windows.local
    return _worst(curves, tangents_for(u, curves.off_lines(windows, u * u * (3.0 - 2.0 * u)))[1])


def fit(curves: Curves, windows: Windows) -> Fits:
    """Return the best tangents without ease."""
    return _descend(curves, windows, np.zeros((len(windows.first), 2)), is_eased=False)


def fit_eased(curves: Curves, windows: Windows) -> Fits:
    """Return the best tangents and eases."""
    found = Fits(
        np.full(len(windows.first), np.inf),
        np.zeros((len(windows.first), 2, curves.chords(windows.first[:1], windows.last[:1]).shape[1])),
        np.zeros((len(windows.first), 2)),
    )
    errors, found.eases[:] = _first_eases(curves, windows)
    chosen = np.flatnonzero(errors <= _PROMISING + curves.slack(windows))
    if len(chosen):
        best = _descend(curves, windows.take(chosen), found.eases[chosen], is_eased=True)
        for into, new in zip(found, best, strict=True):
            into[chosen] = new
    return found


def _first_eases(curves: Curves, windows: Windows) -> tuple[Float64Array, Float64Array]:
    """Return the errors (m,) of cubics of the ways with the best eases, and these (m, 2); windows far off have inf."""
    which = b"".join(each.tobytes() for each in windows)
    if which not in curves.starts:
        curves.starts[which] = _starts(curves, windows)
    errors, eases = curves.starts[which]
    return errors / curves.noise[0], eases


def _starts(curves: Curves, windows: Windows) -> tuple[Float64Array, Float64Array]:
    """Return the same with errors in place of parts of the noise, by that of the first number."""
    t, share = windows.local, curves.noise / curves.noise[0]
    ways = curves.ways(windows) / share
    chords = (curves.chords(windows.first, windows.last) / share)[:, np.newaxis]
    straight_ways, basis = _grid(t.tobytes(), t.shape)
    target = ways - chords * straight_ways[..., np.newaxis]
    part = basis @ target
    off = np.einsum("gmsd,gmsd->gm", target, target) - np.einsum("gmsd,gmsd->gm", part, part)
    near = np.flatnonzero(off.min(axis=0) <= _ROUGH**2 * np.einsum("msd,msd->m", ways, ways))
    errors, eases = np.full(len(t), np.inf), np.zeros((len(t), 2))
    if len(near):
        starts = np.argsort(off[:, near], axis=0)[:_STARTS].T
        several = [np.repeat(each[near], _STARTS, axis=0) for each in (t, ways, chords)]
        errors[near], eases[near] = _of_cubics(
            several[0], several[1], several[2], np.array(_GRID)[starts].reshape(-1, 2)
        )
    return errors, eases


def _of_cubics(
    t: Float64Array, ways: Float64Array, chords: Float64Array, eases: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the errors (m,) and eases (m, 2) of cubics of ways, the best of each `_STARTS` in a row."""

    def left(tried: Float64Array) -> Float64Array:
        u = _eased(t, tried)
        return tangents_for(u, ways - chords * (u * u * (3.0 - 2.0 * u))[..., np.newaxis])[1]

    rest = left(eases)
    for _ in range(_FIRST_STEPS):
        columns = [(left(eases + step) - rest) / _STEP for step in np.eye(2) * _STEP]
        eases = _moved(eases, columns, rest)
        rest = left(eases)
    squares = np.einsum("msd,msd->m", rest, rest).reshape(-1, _STARTS)
    best = np.arange(len(squares)) * _STARTS + np.argmin(squares, axis=1)
    return np.abs(rest[best]).max(axis=(1, 2)), eases[best]


def _moved(eases: Float64Array, columns: list[Float64Array], rest: Float64Array) -> Float64Array:
    """Return eases after a step of Gauss and Newton, from what is left (m, s, d) and its derivatives by both."""
    aa, ab, bb = ((columns[i] * columns[j]).sum(axis=(1, 2)) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = ((each * rest).sum(axis=(1, 2)) for each in columns)
    damping = 1e-9 * (aa + bb) + np.finfo(np.float64).tiny
    aa, bb = aa + damping, bb + damping
    det = (aa * bb - ab * ab)[:, np.newaxis]
    step = np.stack([bb * a - ab * b, aa * b - ab * a], axis=1)
    wanted = eases - np.divide(step, det, out=np.zeros_like(step), where=det > 0.0)
    wanted = np.clip(wanted, eases - 0.2, eases + 0.2)
    wanted = np.clip(wanted, 0.0, 1.0)
    scaled: Float64Array = wanted / np.maximum(wanted.sum(axis=1, keepdims=True), 1.0)
    return scaled


@lru_cache(maxsize=32)
def _grid(t: bytes, shape: tuple[int, int]) -> tuple[Float64Array, Float64Array]:
    """Return of each eases of the grid the parameter of the straight way (g, m, s), and what both tangents play.

    That are two rows (g, m, 2, s) at right angles, of length 1.
    """
    at = np.frombuffer(t).reshape(shape)
    u = np.stack([_eased(at, np.tile(pair, (len(at), 1))) for pair in _GRID])
    v = 1.0 - u
    first, second = u * v * v, u * u * v
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    second -= (first * second).sum(axis=-1, keepdims=True) * first
    second /= np.linalg.norm(second, axis=-1, keepdims=True)
    return u * u * (3.0 - 2.0 * u), np.stack([first, second], axis=-2)


def _worst(curves: Curves, off: Float64Array) -> Float64Array:
    if off.shape[1] == 0:
        return np.zeros(len(off))
    worst: Float64Array = (np.abs(off) / curves.noise).max(axis=(1, 2))
    return worst


def _descend(curves: Curves, windows: Windows, eases: Float64Array, is_eased: bool) -> Fits:
    """Return the fits from a start."""
    going = np.arange(len(windows.first))
    t = curves.timing(windows.local)
    tangents = curves.start(windows, _eased(t, eases) if is_eased else t)
    found = Fits(np.full(len(going), np.inf), tangents.copy(), eases.copy())
    before = np.full(len(going), np.inf)
    secants = _Secants(tangents)
    for step in range(_STEPS):
        own, u = windows.take(going), _eased(t[going], eases) if is_eased else t[going]
        off = curves.off(own, u, tangents)
        errors = _worst(curves, off)
        better = errors < found.errors[going]
        at = going[better]
        found.errors[at], found.tangents[at], found.eases[at] = errors[better], tangents[better], eases[better]
        least = _FIRST * (2 if is_eased else 1)
        more = (errors > _NEAR) & ((errors < (_GAIN_EASED if is_eased else _GAIN) * before) | (step < least))
        if step + 1 == _STEPS or (curves.is_linear and not is_eased) or not more.any():
            break
        going, tangents, eases, before = going[more], tangents[more], eases[more], errors[more]
        own, u, off = own.take(np.flatnonzero(more)), u[more], off[more]
        if is_eased:
            tangents, eases = _eased_step(curves, own, t[going], off, tangents, eases)
        else:
            secants = secants.take(more)
            tangents = tangents + secants.step(tangents_for(u, off)[0])
    return found


class _Secants:
    """Steps to where what is missing vanishes, by Broyden's method for each window: the first is what is missing."""

    def __init__(self, tangents: Float64Array) -> None:
        count, size = len(tangents), tangents[0].size
        self._inverse = np.tile(np.eye(size), (count, 1, 1))
        self._missing, self._last = np.zeros((2, count, size))

    def take(self, chosen: BoolArray) -> _Secants:
        """Go on with some of the windows."""
        self._inverse, self._missing, self._last = (each[chosen] for each in (self._inverse, self._missing, self._last))
        return self

    def step(self, missing: Float64Array) -> Float64Array:
        """Return the steps (m, 2, d) for what is missing (m, 2, d)."""
        flat = missing.reshape(len(missing), -1)
        change = np.einsum("mij,mj->mi", self._inverse, flat - self._missing)
        row = np.einsum("mi,mij->mj", self._last, self._inverse)
        size = (self._last * change).sum(axis=1)
        usable = np.abs(size) > np.finfo(np.float64).tiny
        column = np.divide(-self._last - change, size[:, np.newaxis], where=usable[:, np.newaxis], out=0.0 * change)
        self._inverse += column[:, :, np.newaxis] * row[:, np.newaxis]
        self._missing, self._last = flat, np.einsum("mij,mj->mi", self._inverse, flat)
        step: Float64Array = self._last.reshape(missing.shape)
        return step


def _eased(t: Float64Array, eases: Float64Array) -> Float64Array:
    """Return the local parameter with eases (m, 2)."""
    shape = np.broadcast_to(eases[:, np.newaxis], (*t.shape, 2))
    return ease.ease(t, *ease.normalised(shape[..., 0], shape[..., 1]))


def _eased_step(
    curves: Curves, windows: Windows, t: Float64Array, off: Float64Array, tangents: Float64Array, eases: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return tangents and eases after a step of Gauss and Newton."""
    u = _eased(t, eases)
    by_u = (curves.off(windows, u + _STEP, tangents) - off) / _STEP
    columns = []
    for side in range(2):
        moved = eases.copy()
        moved[:, side] += _STEP
        columns.append(by_u * ((_eased(t, moved) - u) / _STEP)[..., np.newaxis])
    rest = tangents_for(u, off)[1]
    own = [tangents_for(u, column)[1] for column in columns]
    wanted = _moved(eases, own, rest)
    move = wanted - eases
    left = off + columns[0] * move[:, :1, np.newaxis] + columns[1] * move[:, 1:, np.newaxis]
    return tangents + tangents_for(u, left)[0], wanted


def spread_rows(first: IndexArray, last: IndexArray, count: int) -> IndexArray:
    """Return `count` rows between first and last ones, as even as can be, some twice in short windows."""
    shares = np.arange(1, count + 1) / (count + 1.0)
    rows = first[:, np.newaxis] + np.rint((last - first)[:, np.newaxis] * shares).astype(np.intp)
    return np.clip(rows, first[:, np.newaxis] + 1, last[:, np.newaxis] - 1)
