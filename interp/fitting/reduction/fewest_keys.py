# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for the fewest keys: begin with many, remove those that are missed least, move those that stay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import fields, replace

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from .windows import KeySet, Samples, Windows

_ROUNDING = 32.0 * 2.0**-24
"""Of fourth differences of float32 numbers: the sum of the factors is 16, and some more."""
_KEY_BREAKS = 3
"""Fourth differences that a key between two cubics has a part in."""
_SPACING = 4
"""Frames between the keys that the search begins with, where these are enough."""
_REACH = 1
"""Keys on each side of one that is removed, or moved, which are fitted anew."""
_WIDE = 4
"""The same of keys that are fitted all, window by window: the middle ones are as of all keys at once."""
LEVELS = (0.3, 0.6, 1.0)
"""Keys are removed up to these errors in turn, so that those that are missed least go first."""
_SHARES = (0.0, 0.25, 0.5, 0.75)
"""Of the frames between two keys, by which the second comes nearer where it is to be in place of both."""
_SHIFTS = (-2, -1, 1, 2)
"""Rows by which a key is moved in turn, each from where it is best by then."""
_FARTHEST = 3
"""As far as some of these together."""
_GAIN = 0.97
"""A key is moved where that leaves at most this part of the error around it."""
_ROUNDS = 2
"""How often keys are moved and removed in turn."""
_ORDER = 4
"""The error of a cubic grows with this power of the length of its segment."""
_LONGEST = 2.0
"""How many times as long a segment may become where its error is less than allowed."""


Steps = Generator[float, None, KeySet]
"""Yields which part of the work is done, about."""


def fewest_keys(samples: Samples, rows: list[IndexArray] | None = None) -> Steps:
    """Search for the fewest keys with which no error is larger than allowed, and return them.

    `rows`: of each track the rows of keys to begin with.
    """
    simpler = samples.curves.simpler
    if simpler is not None and rows is None and samples.count > 1:
        rows = yield from _rows_of(replace(samples, curves=simpler))
    keys = _first_keys(samples, rows)
    if samples.count == 1:
        return keys
    yield 0.2
    keys = within(samples, keys)
    yield 0.4
    for turn in range(_ROUNDS + 1):
        for level in LEVELS if turn == 0 else LEVELS[-1:]:
            keys = without_needless(samples, keys, level)
        if turn < _ROUNDS:
            move(samples, keys)
        yield 0.4 + 0.6 * (turn + 1) / (_ROUNDS + 1)
    return keys


def _rows_of(samples: Samples) -> Generator[float, None, list[IndexArray]]:
    """Return the rows of each track's fewest keys, of which two may become one between them."""
    keys = yield from fewest_keys(samples)
    for _ in range(_ROUNDS):
        keys = without_needless(samples, keys, LEVELS[-1], _SHARES)
        move(samples, keys)
    keys = without_needless(samples, keys, LEVELS[-1])
    return [keys.rows[keys.track == track] for track in range(len(samples.values))]


def spaced_anew(
    samples: Samples, keys: KeySet, share: float, are_near: Callable[[KeySet], BoolArray]
) -> Generator[float, None, tuple[KeySet, bool]]:
    """Return keys, and whether some track has fewer than before: with segments as long as their errors allow.

    Where the motion is smooth, none of many keys at equal distances can go, though fewer at larger ones would do.
    `share`: as many keys are tried as these errors ask for, and this share of the others. `are_near`: returns of which
    tracks such keys can be taken.
    """
    rows = [
        _stretched(keys.rows[keys.track == track], own, share) for track, own in enumerate(evaluate(samples, keys)[1])
    ]
    found = yield from fewest_keys(samples, rows)
    tracks = len(rows)
    is_fewer = np.bincount(found.track, minlength=tracks) < np.bincount(keys.track, minlength=tracks)
    is_fewer &= are_near(found)
    stays, goes_in = keys.keep(~is_fewer[keys.track]), found.keep(is_fewer[found.track])
    order = np.argsort(np.concatenate([stays.track, goes_in.track]), kind="stable")
    pairs = ((getattr(stays, each.name), getattr(goes_in, each.name)) for each in fields(KeySet))
    return KeySet(*(np.concatenate(pair)[order] for pair in pairs)), bool(is_fewer.any())


def _stretched(rows: IndexArray, errors: Float64Array, share: float) -> IndexArray:
    """Return rows of keys at as many times the distance as the errors (frames,) allow; the same where none would go."""
    largest = np.maximum(np.maximum.reduceat(errors, rows[:-1]), errors[rows[1:]])
    stretch = np.minimum(np.maximum(largest, np.finfo(np.float64).tiny) ** (-1.0 / _ORDER), _LONGEST)
    segments = np.concatenate(([0.0], np.cumsum(1.0 / np.maximum(stretch, 1.0))))
    count = int(np.ceil(segments[-1] + share * (len(rows) - 1 - segments[-1])))
    if count >= len(rows) - 1:
        return rows
    spread: IndexArray = np.interp(np.linspace(0.0, segments[-1], count + 1), segments, rows).round().astype(np.intp)
    return np.unique(spread)


def evaluate(samples: Samples, keys: KeySet) -> tuple[Float64Array, Float64Array]:
    """Return what the keys play (tracks, frames, d), and its errors (tracks, frames)."""
    every = samples.curves.played(samples, keys)
    track, row = (each.ravel() for each in np.indices(every.shape[:2]))
    errors = samples.measure(track, row, every.reshape(len(track), -1)).reshape(every.shape[:2])
    return every, errors


def _first_keys(samples: Samples, rows: list[IndexArray] | None) -> KeySet:
    if rows is None:
        rows = [_breaks(own) for own in samples.values]
    rows = [np.union1d(own, np.flatnonzero(held)) for own, held in zip(rows, samples.held, strict=True)]
    track = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    return _estimated(samples, track, np.concatenate(rows))


def _breaks(values: Float64Array) -> IndexArray:
    """Return rows to begin with: where one cubic follows on another, and where there is none every few samples.

    Of four frames or more of a cubic the fourth differences are 0. A key between two such makes three others.
    """
    count = len(values)
    ends = np.array([0, count - 1])
    if count < 5:
        return np.unique(ends)
    noise = _ROUNDING * np.abs(values).max(axis=0) + np.finfo(np.float64).tiny
    broken = (np.abs(np.diff(values, 4, axis=0)) > noise).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], broken, [False])).astype(np.int8)))
    first, last = edges[::2], edges[1::2]
    single = last - first <= _KEY_BREAKS
    rows = [ends, (first[single] + last[single]) // 2 + 2]
    rows += [
        np.append(np.arange(a + 1, b + 2, _SPACING), b + 2) for a, b in zip(first[~single], last[~single], strict=True)
    ]
    return np.unique(np.clip(np.concatenate(rows), 0, count - 1))


def _estimated(samples: Samples, track: IndexArray, rows: IndexArray) -> KeySet:
    """Return keys with the values of the samples, shaped by the velocities between the keys beside them."""
    values = samples.values[track, rows]
    keys = KeySet(track, rows, values, values)
    first, last = keys.bounds()
    before = np.maximum(np.arange(len(rows)) - 1, first)
    after = np.minimum(np.arange(len(rows)) + 1, last)
    length = np.maximum(keys.rows[after] - keys.rows[before], 1)
    velocities = (values[after] - values[before]) / length[:, np.newaxis]
    is_hold = samples.holds[track, rows]
    for row, given in samples.given_ends:
        at = (rows == row) & samples.held[track, rows]
        velocities[at] = given[track[at]]
    return KeySet(track, rows, values, samples.curves.estimated(velocities, is_hold))


def _places(
    samples: Samples, keys: KeySet, center: IndexArray, offsets: IndexArray, reach: int = _REACH
) -> tuple[IndexArray, BoolArray]:
    """Return places of the keys beside some, and which of them are to be fitted, shape (n, m)."""
    first, last = keys.bounds()
    places = np.clip(center[:, np.newaxis] + offsets, first[center, np.newaxis], last[center, np.newaxis])
    free = np.broadcast_to(np.abs(offsets) <= reach, places.shape) & (places == center[:, np.newaxis] + offsets)
    free &= ~samples.held[keys.track[places], keys.rows[places]]
    return places, free


def within(samples: Samples, keys: KeySet) -> KeySet:
    """Return keys, more where needed, with which no error is larger than allowed.

    Where keys on neighbouring frames don't suffice, they get the values of the samples; where these don't, it stays so.
    """
    around = _around(samples, _WIDE)
    pinned = np.zeros(samples.values.shape[:2], dtype=np.bool_)
    while True:
        for start in (0, _WIDE, 0):
            center = np.arange(start, len(keys.rows), 2 * _WIDE)
            places, free = _places(samples, keys, center, around, _WIDE)
            free &= ~pinned[keys.track[places], keys.rows[places]]
            fitted, _ = samples.curves.refit(samples, keys.windows(places), free)
            keys.put(places, fitted, free)
        bad = _too_far(samples, keys)
        if not len(bad):
            return keys
        divided = bad[keys.rows[bad + 1] - keys.rows[bad] > 1]
        short = np.setdiff1d(bad, divided)
        ends = np.union1d(short, short + 1)
        if not len(divided) and pinned[keys.track[ends], keys.rows[ends]].all():
            return keys
        pinned[keys.track[ends], keys.rows[ends]] = True
        track = np.concatenate([keys.track, keys.track[divided]])
        rows = np.concatenate([keys.rows, (keys.rows[divided] + keys.rows[divided + 1]) // 2])
        order = np.lexsort((rows, track))
        keys = _estimated(samples, track[order], rows[order])


def refit_around(samples: Samples, keys: KeySet, centers: IndexArray) -> None:
    """Fit some keys and those beside them anew, one after the other."""
    for center in centers.tolist():
        places, free = _places(samples, keys, np.array([center]), _around(samples, _REACH))
        fitted, _ = samples.curves.refit(samples, keys.windows(places), free)
        keys.put(places, fitted, free)


def _too_far(samples: Samples, keys: KeySet) -> IndexArray:
    """Return the places of keys that begin segments with a larger error than allowed."""
    wrong = evaluate(samples, keys)[1].ravel()
    inner = np.flatnonzero(keys.track[1:] == keys.track[:-1])
    start = keys.track[inner] * samples.count + keys.rows[inner]
    end = start + keys.rows[inner + 1] - keys.rows[inner]
    bounds = np.stack([start, end], axis=1).ravel()
    largest = np.maximum(np.maximum.reduceat(wrong, bounds)[::2], wrong[end])
    places: IndexArray = inner[largest > 1.0]
    return places


def without_needless(samples: Samples, keys: KeySet, most: float, shares: Sequence[float] = (0.0,)) -> KeySet:
    """Return the keys without those that can go, with an error of at most `most`.

    `shares`: what is tried for the key after one that goes: to stay, and to come nearer by a share of the frames.
    """
    around = _around(samples, _REACH)
    around = around[around != 0]
    apart = _apart(samples)
    cost = np.full(len(keys.rows), np.nan)
    fits = keys.windows(np.zeros((len(cost), len(around)), dtype=np.intp))
    while True:
        first, last = keys.bounds()
        places = np.arange(len(keys.rows))
        cost[(places == first) | (places == last) | samples.held[keys.track, keys.rows]] = np.inf
        stale = np.flatnonzero(np.isnan(cost))
        if len(stale):
            beside, free = _places(samples, keys, stale, around)
            for share in shares:
                _try_without(samples, keys, (stale, beside, free), share, fits, cost)
        chosen = _independent(cost, most, apart)
        if not len(chosen):
            return keys
        beside, free = _places(samples, keys, chosen, around)
        keys.put(beside, fits.take(chosen), free)
        touched = chosen[:, np.newaxis] + np.arange(1 - apart, apart)
        touched = touched[(touched >= first[chosen, np.newaxis]) & (touched <= last[chosen, np.newaxis])]
        cost[touched] = np.nan
        kept = np.ones(len(keys.rows), dtype=np.bool_)
        kept[chosen] = False
        keys, cost, fits = keys.keep(kept), cost[kept], fits.take(kept)


def _try_without(
    samples: Samples,
    keys: KeySet,
    tried: tuple[IndexArray, IndexArray, BoolArray],
    share: float,
    fits: Windows,
    cost: Float64Array,
) -> None:
    """Fit the keys beside some as if these were not there, and keep what is better than before, or the first.

    `tried`: the keys, the places beside them, and which of these are fitted. `share`: by how much the next key comes
    nearer; where it can't the key is not tried.
    """
    stale, beside, free = tried
    windows, after = keys.windows(beside), beside.shape[1] // 2
    if share:
        gap = keys.rows[beside[:, after]] - keys.rows[stale]
        step = np.rint(share * gap).astype(np.intp)
        _, last = keys.bounds()
        able = np.flatnonzero(free[:, after] & (step > 0) & (step < gap) & (stale + 1 < last[stale]))
        stale, free, windows = stale[able], free[able], windows.take(able)
        windows.rows[:, after] -= step[able]
    fitted, error = samples.curves.refit(samples, windows, free)
    better = ~(error >= cost[stale])
    into = stale[better]
    cost[into] = error[better]
    fits.rows[into], fits.values[into], fits.shapes[into] = (
        each[better] for each in (fitted.rows, fitted.values, fitted.shapes)
    )


def _around(samples: Samples, reach: int) -> IndexArray:
    """Return the places of a window's keys, relative to the middle one's."""
    return np.arange(-reach - samples.curves.margin, reach + samples.curves.margin + 1)


def _apart(samples: Samples) -> int:
    """Return how many keys apart two are of which neither has to do with the other's fit."""
    return 2 * _REACH + samples.curves.margin + 1


def _independent(cost: Float64Array, most: float, apart: int) -> IndexArray:
    """Return the places of the least costs, so far from each other that none has to do with another's fit."""
    order = np.flatnonzero(cost <= most)
    order = order[np.argsort(cost[order], kind="stable")]
    around = apart - 1
    blocked = bytearray(len(cost) + 2 * around)
    block = b"\x01" * (2 * around + 1)
    chosen = []
    for place in order.tolist():
        if not blocked[place + around]:
            chosen.append(place)
            blocked[place : place + 2 * around + 1] = block
    return np.array(sorted(chosen), dtype=np.intp)


def move(samples: Samples, keys: KeySet, most: float = 1.0) -> None:
    """Move keys to where the error around them is less."""
    around, apart = _around(samples, _REACH), _apart(samples)
    first, last = keys.bounds()
    for parity in range(apart):
        center = np.arange(parity, len(keys.rows), apart)
        center = center[(center > first[center]) & (center < last[center])]
        center = center[~samples.held[keys.track[center], keys.rows[center]]]
        places, free = _places(samples, keys, center, around)
        # All that may be tried at once: what a fit costs is mostly the same for a few windows and for many.
        offsets, count, middle = np.arange(-_FARTHEST, _FARTHEST + 1), len(center), len(around) // 2
        owner = np.tile(np.arange(count), len(offsets))
        windows = keys.windows(places).take(owner)
        windows.rows[:, middle] += np.repeat(offsets, count)
        row, before, after = (windows.rows[:, middle + step] for step in (0, -1, 1))
        able = (row > before) & (row < after)
        fitted, error = samples.curves.refit(samples, windows.take(able), free[owner[able]])
        errors, every = np.full((len(offsets), count), np.inf), np.arange(count)
        errors.ravel()[able] = error
        at = np.full(count, _FARTHEST)
        for shift in _SHIFTS:
            tried = errors[at + shift, every]
            better = (tried < errors[at, every]) & (tried < _GAIN * errors[_FARTHEST])
            at = np.where(better, at + shift, at)
        least, best = errors[at, every], fitted.take((np.cumsum(able) - 1)[at * count + every])
        good = least <= most
        keys.put(places[good], best.take(good), free[good])
