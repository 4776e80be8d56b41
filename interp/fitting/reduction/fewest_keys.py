# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys: divide until all errors are within the limits, then remove and move keys.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import fields
from typing import TypeVar

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .windows import KeySet, Samples, played, refit

_SPACING = 16
"""The maximum number of frames between the first keys."""
_REACH = 1
"""The number of keys on each side of a removed or moved key that are fitted again."""
_WIDE = 4
"""The number of keys on each side that are fitted again if all keys are fitted in windows.

The middle keys are then the same as if all keys were fitted at once.
"""
_GAIN = 0.97
"""A key is moved if at most this fraction of the error around it remains."""
_ORDER = 4
"""The error of a cubic grows with this power of the length of its segment."""
_LONGEST = 2.0
"""The maximum factor by which a segment may grow if its error is less than allowed."""
_SHARES = (0.0, 0.3, 0.6, 0.8, 0.95)
"""The fractions of additional keys that are tried when keys are spaced again."""

_AROUND = np.arange(-_REACH - 1, _REACH + 2)
_APART = 2 * _REACH + 2
"""The distance, in keys, at which two keys do not affect each other's fit."""

T = TypeVar("T")
Steps = Generator[float, None, KeySet]
"""Yields the approximate fraction of the work that is done."""


def part_of_steps(steps: Generator[float, None, T], start: float = 0.0, size: float = 1.0) -> Generator[float, None, T]:
    """Run steps that are a fraction of all the work, and return their result."""
    while True:
        try:
            part = next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield start + size * part


def fewest_keys(samples: Samples, keys: KeySet | None = None) -> Steps:
    """Search for the fewest keys whose errors are all within the limits, and return these keys.

    The search begins with `keys`.
    """
    keys = within(samples, first_keys(samples, _SPACING) if keys is None else keys)
    yield 0.4
    keys = without_needless(samples, keys)
    yield 0.7
    return improved(samples, keys)


def improved(samples: Samples, keys: KeySet) -> KeySet:
    """Merge pairs of keys, move other keys, remove keys that are no longer needed, and return the result."""
    keys = merge(samples, keys)
    move(samples, keys)
    return without_needless(samples, keys)


def spaced_anew(samples: Samples, keys: KeySet, accept: Callable[[KeySet], BoolArray] | None = None) -> Steps:
    """Return keys with segments as long as their errors allow, with no more keys per track than before.

    In a smooth motion, no single key of many evenly spaced keys can be removed, although fewer keys would suffice.
    `accept` returns a mask of the tracks that may use the new keys. Default: all.
    """
    tracks = len(samples.values)
    for number, share in enumerate(_SHARES):
        going = np.ones(tracks, dtype=np.bool_)
        while going.any():
            errors = errors_of(samples, keys)
            rows = [_stretched(keys.rows[keys.track == track], errors[track], share) for track in range(tracks)]
            going &= np.array([len(own) for own in rows]) < np.bincount(keys.track, minlength=tracks)
            if not going.any():
                break
            some = np.flatnonzero(going)
            start = at_rows(samples, [rows[track] for track in some], some)
            found = yield from fewest_keys(samples, start)
            count, before = (np.bincount(each.track, minlength=tracks) for each in (found, keys))
            going &= (count < before) & (count > 0)
            if accept is not None and going.any():
                going &= accept(_merged(keys, found, going))
            keys = _merged(keys, found, going)
        yield (number + 1) / len(_SHARES)
    return keys


def _merged(keys: KeySet, others: KeySet, is_other: BoolArray) -> KeySet:
    """Return keys in which the keys of some tracks are replaced."""
    return joined(keys.take(~is_other[keys.track]), others.take(is_other[others.track]))[0]


def _stretched(rows: IndexArray, errors: Float64Array, share: float) -> IndexArray:
    """Return fewer rows, spaced as far apart as the errors allow, or the given rows if no key can be removed."""
    if len(rows) < 3:
        return rows
    largest = np.maximum(np.maximum.reduceat(errors, rows[:-1]), errors[rows[1:]])
    stretch = np.minimum(np.maximum(largest, np.finfo(np.float64).tiny) ** (-1.0 / _ORDER), _LONGEST)
    segments = np.concatenate(([0.0], np.cumsum(1.0 / np.maximum(stretch, 1.0))))
    count = int(np.ceil(segments[-1] + share * (len(rows) - 1 - segments[-1])))
    if count >= len(rows) - 1:
        return rows
    spread: IndexArray = np.interp(np.linspace(0.0, segments[-1], count + 1), segments, rows).round().astype(np.intp)
    return np.unique(spread)


def errors_of(samples: Samples, keys: KeySet) -> Float64Array:
    """Return the errors of the keys' motion, shape (tracks, frames)."""
    every = played(samples, keys)
    track, row = (each.ravel() for each in np.indices(every.shape[:2]))
    return samples.measure(track, row, every.reshape(len(track), -1)).reshape(every.shape[:2])


def first_keys(samples: Samples, spacing: int) -> KeySet:
    """Return evenly spaced keys, at most `spacing` frames apart."""
    count = samples.count
    rows = np.unique(np.linspace(0, count - 1, -(-(count - 1) // spacing) + 1).round().astype(np.intp))
    return at_rows(samples, [rows] * len(samples.values), np.arange(len(samples.values)))


def at_rows(samples: Samples, rows: list[IndexArray], tracks: IndexArray) -> KeySet:
    """Return keys for the tracks at the given rows and at holds, with the slopes between neighboring keys."""
    every = [np.union1d(own, np.flatnonzero(samples.held[track])) for own, track in zip(rows, tracks, strict=True)]
    return _estimated(samples, np.repeat(tracks, [len(own) for own in every]), np.concatenate(every).astype(np.intp))


def _estimated(samples: Samples, track: IndexArray, rows: IndexArray) -> KeySet:
    values = samples.values_at(track, rows)
    keys = KeySet(track, rows, values, values)
    first, last = keys.bounds()
    before = np.maximum(np.arange(len(rows)) - 1, first)
    after = np.minimum(np.arange(len(rows)) + 1, last)
    length = np.maximum(rows[after] - rows[before], 1)
    keys.velocities = (values[after] - values[before]) / length[:, np.newaxis]
    keys.velocities[samples.holds[track, rows]] = 0.0
    for row, given in samples.given_ends if samples.smooth is None else ():
        # A hold at a free end, whose given velocity is NaN, keeps the velocity 0.
        at = (rows == row) & ~np.isnan(given[track]).any(axis=1)
        keys.velocities[at] = given[track[at]]
    return keys


def _places(samples: Samples, keys: KeySet, center: IndexArray, around: IndexArray) -> tuple[IndexArray, BoolArray]:
    """Return the indices of the keys around given keys, and a mask of keys to fit, both of shape (n, m)."""
    first, last = keys.bounds()
    places = np.clip(center[:, np.newaxis] + around, first[center, np.newaxis], last[center, np.newaxis])
    reach = around.max() - 1
    free = np.broadcast_to(np.abs(around) <= reach, places.shape) & (places == center[:, np.newaxis] + around)
    free &= ~samples.held[keys.track[places], keys.rows[places]]
    return places, free


def within(samples: Samples, keys: KeySet, is_fitted: bool = False) -> KeySet:
    """Add keys until no error is larger than allowed, and return all keys.

    If even keys at adjacent frames do not suffice, keys get the values of the samples. Pass `is_fitted` if the given
    keys are already fitted.
    """
    pinned = np.zeros(samples.values.shape[:2], dtype=np.bool_)
    is_new = np.full(len(keys.rows), not is_fitted)
    while True:
        _fit_near(samples, keys, is_new, pinned)
        bad = _too_far(samples, keys)
        if not len(bad):
            return keys
        divided = bad[keys.rows[bad + 1] - keys.rows[bad] > 1]
        short = np.setdiff1d(bad, divided)
        ends = np.union1d(short, short + 1)
        ends = ends[~pinned[keys.track[ends], keys.rows[ends]]]
        if not len(divided) and not len(ends):
            return keys
        pinned[keys.track[ends], keys.rows[ends]] = True
        keys.values[ends] = samples.values_at(keys.track[ends], keys.rows[ends])
        is_new = np.zeros(len(keys.rows), dtype=np.bool_)
        is_new[ends] = True
        track, row = keys.track[divided], (keys.rows[divided] + keys.rows[divided + 1]) // 2
        chord = (keys.values[divided + 1] - keys.values[divided]) / (keys.rows[divided + 1] - keys.rows[divided])[
            :, np.newaxis
        ]
        more = KeySet(track, row, samples.values_at(track, row), chord)
        keys, order = joined(keys, more)
        is_new = np.concatenate([is_new, np.ones(len(row), dtype=np.bool_)])[order]


def joined(keys: KeySet, others: KeySet) -> tuple[KeySet, IndexArray]:
    """Return all keys sorted, and the sorting order."""
    every = [np.concatenate([getattr(keys, each.name), getattr(others, each.name)]) for each in fields(KeySet)]
    order = np.lexsort((every[1], every[0]))
    return KeySet(*(each[order] for each in every)), order


def _fit_near(samples: Samples, keys: KeySet, is_new: BoolArray, pinned: BoolArray) -> None:
    """Fit new keys and the keys around them, window by window."""
    around = np.arange(-_WIDE - 1, _WIDE + 2)
    count = np.concatenate(([0], np.cumsum(is_new)))
    for start in (0, _WIDE, 0) if is_new.all() else (0, _WIDE):
        center = np.arange(start, len(keys.rows), 2 * _WIDE)
        first, last = np.maximum(center - _WIDE - 1, 0), np.minimum(center + _WIDE + 2, len(keys.rows))
        center = center[count[last] > count[first]]
        if len(center):
            places, free = _places(samples, keys, center, around)
            free &= ~pinned[keys.track[places], keys.rows[places]]
            fitted, _ = refit(samples, keys.windows(places), free)
            keys.put(places, fitted, free)


def refit_around(samples: Samples, keys: KeySet, centers: IndexArray) -> None:
    """Fit some keys and their neighbors again, one key after another."""
    for center in centers.tolist():
        places, free = _places(samples, keys, np.array([center]), _AROUND)
        fitted, _ = refit(samples, keys.windows(places), free)
        keys.put(places, fitted, free)


def _too_far(samples: Samples, keys: KeySet) -> IndexArray:
    """Return the keys that begin the segments whose error is larger than allowed."""
    inner = np.flatnonzero(keys.track[1:] == keys.track[:-1])
    places = np.stack([inner, inner + 1], axis=1)
    _, largest = refit(samples, keys.windows(places), np.zeros(places.shape, dtype=np.bool_))
    found: IndexArray = inner[largest > 1.0]
    return found


def without_needless(samples: Samples, keys: KeySet) -> KeySet:
    """Remove the keys that are not needed, starting with the least important."""
    around = _AROUND[_AROUND != 0]
    cost = np.full(len(keys.rows), np.nan)
    fits = keys.windows(np.zeros((len(cost), len(around)), dtype=np.intp))
    while True:
        first, last = keys.bounds()
        places = np.arange(len(keys.rows))
        cost[(places == first) | (places == last) | samples.held[keys.track, keys.rows]] = np.inf
        stale = np.flatnonzero(np.isnan(cost))
        if len(stale):
            beside, free = _places(samples, keys, stale, around)
            fitted, cost[stale] = refit(samples, keys.windows(beside), free)
            fits.rows[stale], fits.values[stale], fits.velocities[stale] = (
                fitted.rows,
                fitted.values,
                fitted.velocities,
            )
        chosen = _independent(cost, _APART)
        if not len(chosen):
            return keys
        beside, free = _places(samples, keys, chosen, around)
        keys.put(beside, fits.take(chosen), free)
        touched = chosen[:, np.newaxis] + np.arange(1 - _APART, _APART)
        touched = touched[(touched >= first[chosen, np.newaxis]) & (touched <= last[chosen, np.newaxis])]
        cost[touched] = np.nan
        kept = np.ones(len(keys.rows), dtype=np.bool_)
        kept[chosen] = False
        keys, cost, fits = keys.take(kept), cost[kept], fits.take(kept)


def merge(samples: Samples, keys: KeySet) -> KeySet:
    """Replace neighboring pairs of keys with one key halfway between, if the error stays within the limits."""
    around = np.array([-2, -1, 0, 2, 3])
    while True:
        first, last = keys.bounds()
        center = np.arange(len(keys.rows))
        held = samples.held[keys.track, keys.rows]
        center = center[(center > first) & (center + 1 < last) & ~held & ~np.append(held[1:], True)]
        places = np.clip(center[:, np.newaxis] + around, first[center, np.newaxis], last[center, np.newaxis])
        free = (np.abs(around - 0.5) < 2.0) & (places == center[:, np.newaxis] + around) & ~held[places]
        windows = keys.windows(places)
        windows.rows[:, 2] = (keys.rows[center] + keys.rows[center + 1]) // 2
        windows.values[:, 2] = samples.values_at(windows.track, windows.rows[:, 2])
        fitted, error = refit(samples, windows, free)
        cost = np.full(len(keys.rows), np.inf)
        cost[center] = error
        chosen = _independent(cost, _APART + 1)
        if not len(chosen):
            return keys
        row_of = np.searchsorted(center, chosen)
        keys.put(places[row_of], fitted.take(row_of), free[row_of])
        kept = np.ones(len(keys.rows), dtype=np.bool_)
        kept[chosen + 1] = False
        keys = keys.take(kept)


def _independent(cost: Float64Array, apart: int) -> IndexArray:
    """Return the indices of the lowest costs that are far enough apart for independent fits."""
    order = np.flatnonzero(cost <= 1.0)
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


def move(samples: Samples, keys: KeySet) -> None:
    """Move keys to rows where the surrounding error is smaller."""
    first, last = keys.bounds()
    offsets, middle = np.array([0, -1, 1]), len(_AROUND) // 2
    for parity in range(_APART):
        center = np.arange(parity, len(keys.rows), _APART)
        center = center[(center > first[center]) & (center < last[center])]
        center = center[~samples.held[keys.track[center], keys.rows[center]]]
        places, free = _places(samples, keys, center, _AROUND)
        # Move all of them at once, because fitting a few windows takes as long as fitting many.
        count = len(center)
        owner = np.tile(np.arange(count), len(offsets))
        windows = keys.windows(places).take(owner)
        windows.rows[:, middle] += np.repeat(offsets, count)
        moved = np.flatnonzero(np.repeat(offsets, count))
        last_row = samples.count - 1
        at = np.clip(windows.rows[moved, middle], 0, last_row)
        windows.values[moved, middle] = samples.values_at(windows.track[moved], at)
        row, before, after = (windows.rows[:, middle + step] for step in (0, -1, 1))
        able = (row > before) & (row < after)
        fitted, error = refit(samples, windows.take(able), free[owner[able]])
        errors = np.full((len(offsets), count), np.inf)
        errors.ravel()[able] = error
        at = np.argmin(np.vstack([_GAIN * errors[0], errors[1:]]), axis=0)
        least, best = errors[at, np.arange(count)], fitted.take((np.cumsum(able) - 1)[at * count + np.arange(count)])
        good = least <= 1.0
        keys.put(places[good], best.take(good), free[good])
