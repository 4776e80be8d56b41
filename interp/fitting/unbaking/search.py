# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for the keys of baked curves: the shortest way from the first sample to the last by curves that fit.

From all keys that are known so far windows up to some length are fitted at once. A window is taken where it fits to the
samples' noise, and a longer one is off by far more: where curves only happen to be that smooth the error grows little
by little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from .curves import Curves, Windows
from .fits import Fits, cubic, fit, fit_eased, spread_rows, straight

HOLD, LINE, CURVE, EASED = 0, 1, 2, 3
_COSTS = (1.0, 1.0, 2.0, 3.0)
"""Of a segment: of its key, and the tangents and eases that it takes."""
_BLOCK = {LINE: 8, CURVE: 8, EASED: 60}
"""Lengths of windows that are tried at once, the shortest first; then twice as many."""
_MOST_AT_ONCE = 120
_AHEAD = 64
"""Rows of which it is told at once where a segment may begin."""
_SPREAD = 9
_SPREAD_EASED = 17
"""Rows of a window that are looked at first."""
_MAYBE = 2.0
"""Where these are off by at most so much, all are looked at."""
_SHARP = 8.0
"""Windows two frames longer than one that fits are off by at least so much."""
_LEAST = {LINE: 2, CURVE: 4}
"""The shortest windows that tell anything: those with more numbers than they determine."""
_ALTERNATIVES = 3
"""Of the windows that fit only the longest can end at the next key; with noise it may be a frame or two before."""
_UNTOLD = 3
"""The most frames of a segment that nothing tells of, and the most of these in a row."""
_LESS, _LEAST_LESS = 0.02, 0.01
"""Costs that decide between ways with as many keys."""


class Path(NamedTuple):
    """Keys at `rows` (n,), the kinds of the segments between them (n-1,), what they cost, and whether all are told."""

    rows: IndexArray
    kinds: IndexArray
    cost: float
    is_told: bool


class _Step(NamedTuple):
    """A segment that may follow: its end, its kind, what it costs, and whether the samples tell of it."""

    end: int
    kind: int
    cost: float
    is_told: bool


class Search:
    """The search by curves of one construction. What begins at a row is looked for once, for both paths.

    `before`: the search by the same curves with less noise, whose fits without ease are as near.
    """

    def __init__(self, curves: Curves, is_exact: bool, before: Search | None = None) -> None:
        self.curves = curves
        self._found: dict[tuple[int, int], list[_Step]] = {}
        self._smooth: dict[tuple[int, int], BoolArray] = {}
        self._errors: dict[tuple[int, int, int], float] = {}
        self._blocks: dict[tuple[int, int, int], Float64Array] = {}
        if before is not None:
            part = float(before.curves.noise[0] / curves.noise[0])
            self._errors = {at: part * error for at, error in before._errors.items() if at[2] != EASED}
            self._blocks = {at: part * errors for at, errors in before._blocks.items() if at[2] != EASED}
        # Of d numbers a row both tangents and eases are 2 d + 2. Told is what has d numbers more than it determines.
        self._least_told = {**_LEAST, EASED: 4 + -(-2 // curves.width) if is_exact else 6}
        self._least = self._least_told | {EASED: 4 + 2 // curves.width if is_exact else 6}

    def find_path(self, is_eased: bool) -> Path | None:
        """Return the keys between which curves play the samples to their noise, or None where there are none."""
        count = self.curves.count
        cost = np.full(count, np.inf)
        before, kind, untold = (np.zeros(count, dtype=np.intp) for _ in range(3))
        cost[0] = 0.0
        row = reached = 0
        while row <= reached and row < count - 1:
            # With eases much would be looked at in vain: they begin with what the samples tell.
            may_guess = bool(untold[row] < _UNTOLD and (row or not is_eased))
            keys = row + np.flatnonzero(np.isfinite(cost[row : reached + 1]))
            for step in self._steps(keys, may_guess, is_eased) if np.isfinite(cost[row]) else ():
                reached = max(reached, step.end)
                total = cost[row] + step.cost
                if total < cost[step.end] - 1e-12:
                    cost[step.end], before[step.end], kind[step.end] = total, row, step.kind
                    untold[step.end] = 0 if step.is_told else untold[row] + 1
            row += 1
        if not np.isfinite(cost[-1]):
            return None
        rows = [count - 1]
        while rows[-1]:
            rows.append(int(before[rows[-1]]))
        at = np.array(rows[::-1])
        return Path(at, kind[at[1:]], float(cost[-1]), not untold[at].any())

    def _steps(self, rows: IndexArray, may_guess: bool, is_eased: bool) -> list[_Step]:
        """Return the segments that may begin at the first of some rows, at all of which some will be looked for."""
        row = int(rows[0])
        found = _holds(self.curves, row)
        for kind in (LINE, CURVE, EASED) if is_eased else (LINE, CURVE):
            if (row, kind) not in self._found:
                # Those with eases are many and the same of each row: `fits` has them ready.
                new = [each for each in rows.tolist() if (each, kind) not in self._found] if kind != EASED else [row]
                self._found |= {(each, kind): [] for each in new}
                likely = self._likely([each for each in new if self._is_smooth(each, kind)], kind)
                self._found |= {(each, kind): self._told(each, kind, blocks) for each, blocks in likely.items()}
            found += [step for step in self._found[row, kind] if step.is_told or may_guess]
        if may_guess and all(step.end <= row + _LEAST[CURVE] for step in found):
            ends = range(row + 1, min(row + _UNTOLD, self.curves.count - 1) + 1)
            found += [
                _Step(end, kind, _COSTS[kind] + 0.1, False)
                for end in ends
                for kind in [LINE if end == row + 1 else CURVE]
            ]
        return found

    def _is_smooth(self, row: int, kind: int) -> bool:
        """Return whether the shortest window may be a segment of a kind, or the beginning of one."""
        least, block = self._least[kind], row // _AHEAD
        if row + least >= self.curves.count:
            return False
        if kind == EASED:
            return True
        if (block, kind) not in self._smooth:
            first = np.arange(block * _AHEAD, min((block + 1) * _AHEAD, self.curves.count - least))
            windows = Windows(first, first + least, first[:, np.newaxis] + np.arange(1, least))
            # A part of a line is a line.
            most = _MAYBE + (self.curves.slack(windows) if kind == CURVE else 0.0)
            errors = straight(self.curves, windows) if kind == LINE else cubic(self.curves, windows)
            self._smooth[block, kind] = errors <= most
        return bool(self._smooth[block, kind][row % _AHEAD])

    def _told(self, row: int, kind: int, blocks: list[list[int]]) -> list[_Step]:
        """Return the longest segments of a kind that begin at a row and fit, of likely ends."""
        count = self.curves.count
        # All rows of windows are looked at from the longest on, and of no more than is needed.
        for ends in blocks[::-1]:
            longest = next((end for end in ends if self._error(row, end, kind) <= 1.0), count)
            if longest == count:
                continue
            if longest + 2 < count and self._error(row, longest + 2, kind) < _SHARP:
                return []
            return [
                _Step(
                    end,
                    kind,
                    _COSTS[kind] + _LEAST_LESS * error + self._tie(row, end, kind, longest),
                    end - row >= self._least_told[kind],
                )
                for end in ends
                if (error := self._error(row, end, kind)) <= 1.0
            ]
        return []

    def _likely(self, rows: list[int], kind: int) -> dict[int, list[list[int]]]:
        """Return where segments of a kind that begin at rows may end, the longest first, of each block of lengths."""
        found: dict[int, list[list[int]]] = {row: [] for row in rows}
        length, size, count = self._least[kind], _BLOCK[kind], self.curves.count
        rows = [row for row in rows if row + length < count]
        while rows:
            longest = length + size - 1
            ends_of = {row: np.arange(row + length, min(row + longest + 1, count)) for row in rows}
            self._fit_blocks(ends_of, kind)
            going = []
            for row, ends in ends_of.items():
                errors = self._blocks[row, int(ends[0]), kind]
                found[row].append(ends[errors <= _MAYBE][: -_ALTERNATIVES - 1 : -1].tolist())
                if row + longest + 1 < count and self._goes_on(row, int(ends[-1]), kind, float(errors[-1])):
                    going.append(row)
            rows, length, size = going, longest + 1, min(2 * size, _MOST_AT_ONCE)
        return found

    def _fit_blocks(self, ends_of: dict[int, IndexArray], kind: int) -> None:
        """Fit the windows from rows to some ends, a few rows of each looked at, where this was not done."""
        spread = _SPREAD_EASED if kind == EASED else _SPREAD
        new = {row: ends for row, ends in ends_of.items() if (row, int(ends[0]), kind) not in self._blocks}
        if not new:
            return
        first, last = np.repeat(list(new), [len(ends) for ends in new.values()]), np.concatenate(list(new.values()))
        every = _errors(self.curves, Windows(first, last, spread_rows(first, last, spread)), kind)
        for row, ends in new.items():
            errors = every[first == row]
            self._blocks[row, int(ends[0]), kind] = errors
            whole = ends[ends <= row + spread + 1].tolist()
            self._errors |= {(row, end, kind): error for end, error in zip(whole, errors.tolist(), strict=False)}

    def _error(self, row: int, end: int, kind: int) -> float:
        """Return the error of a window, all its rows looked at."""
        if (row, end, kind) not in self._errors:
            self._errors[row, end, kind] = float(_errors(self.curves, Windows.between(row, end), kind)[0])
        return self._errors[row, end, kind]

    def _tie(self, row: int, end: int, kind: int, longest: int) -> float:
        """Return what is added to the cost of a segment that could be longer at one of its ends."""
        cost = _LESS if end < longest else 0.0
        if row and self._error(row - 1, end, kind) <= 1.0:
            cost += _LESS
        return cost

    def _goes_on(self, row: int, end: int, kind: int, error: float) -> bool:
        """Return whether a window that is off by some error may be the beginning of a segment."""
        if error <= _SHARP or kind != CURVE:
            return error <= _SHARP
        first, last = np.array([row]), np.array([end])
        return error <= _SHARP + float(self.curves.slack(Windows(first, last, spread_rows(first, last, _SPREAD)))[0])


def _holds(curves: Curves, row: int) -> list[_Step]:
    """Return the hold that begins at a row: up to its last sample, or to a step in the next frame."""
    moving = np.flatnonzero(~curves.stays[row:])
    length = int(moving[0]) if len(moving) else curves.count - 1 - row
    if not length:
        return []
    end, cost = row + length, _COSTS[HOLD]
    found = [_Step(end, HOLD, cost - _LESS, length > 1)]
    if end + 1 < curves.count:
        found.append(_Step(end + 1, HOLD, cost - 2.0 * _LESS, True))
    return found


def _errors(curves: Curves, windows: Windows, kind: int) -> Float64Array:
    return straight(curves, windows) if kind == LINE else fit_kind(curves, windows, kind).errors


def fit_kind(curves: Curves, windows: Windows, kind: int) -> Fits:
    """Return the fit of curves with eases, or without."""
    return fit_eased(curves, windows) if kind == EASED else fit(curves, windows)
