# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys: divide until all errors are within the limits, then remove and move keys.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import fields
from typing import TypeVar

import numpy as np

from ...cubics import hermite_weights
from ...keys import BoolArray, Float64Array, IndexArray
from .window_fits import fitted_windows, largest_errors, refit
from .windows import KeySet, Samples, played_values

_SPACING = 24
"""The maximum number of frames between the first keys."""
_WIDE = 4
"""The number of keys on each side that are fitted again if all keys are fitted in windows.

The middle keys are then the same as if all keys were fitted at once.
"""
_GAIN = 0.97
"""A key is moved if at most this fraction of the error around it remains."""
_ORDER = 4
"""The error of a cubic grows with this power of the length of its segment."""
_HOPELESS = 1.7
"""A change whose error exceeds this limit is not tried again after other changes near it. Errors rarely decrease."""
_LONGEST = 2.0
"""The maximum factor by which a segment may grow if its error is less than allowed."""
_SHARES = (0.0, 0.3, 0.6, 0.8, 0.95)
"""The fractions of additional keys that are tried when keys are spaced again."""

_AROUND_REMOVED = np.array([-2, -1, 1, 2, 3])
"""The offsets, from a removed key, of the keys of its window."""
_REMOVED_APART = 5
"""The distance, in keys, at which two removed keys do not affect each other's fit."""
_AROUND_MOVED = np.arange(-2, 3)
"""The offsets, from a moved key, of the keys of its window."""
_MOVED_APART = 4
"""The distance, in keys, at which two moved keys do not affect each other's fit."""

T = TypeVar("T")
Steps = Generator[float, None, KeySet]
"""Yields the approximate fraction of the work that is done."""


def part_of_steps(steps: Generator[float, None, T], start: float = 0.0, size: float = 1.0) -> Generator[float, None, T]:
    """Run steps that are a fraction of all the work, and return their result."""
    while True:
        try:
            fraction = next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
        yield start + size * fraction


def fewest_keys(samples: Samples, keys: KeySet | None = None) -> Steps:
    """Search for the fewest keys whose errors are all within the limits, and return these keys.

    The search begins with `keys`.
    """
    keys = within(samples, first_keys(samples) if keys is None else keys)
    yield 0.4
    return improved(samples, keys)


def respaced(samples: Samples, keys: KeySet) -> Steps:
    """Return keys with segments as long as their errors allow, with no more keys per track than before.

    In a smooth motion, no single key of many evenly spaced keys can be removed, although fewer keys would suffice.
    """
    tracks = len(samples.values)
    for number, share in enumerate(_SHARES):
        is_running = np.ones(tracks, dtype=np.bool_)
        while is_running.any():
            errors = errors_of(samples, keys)
            rows = [_stretched(keys.rows[keys.track == track], errors[track], share) for track in range(tracks)]
            count_before = np.bincount(keys.track, minlength=tracks)
            is_running &= np.array([len(track_rows) for track_rows in rows]) < count_before
            if not is_running.any():
                break
            running = np.flatnonzero(is_running)
            start = at_rows(samples, [rows[track] for track in running], running)
            new_keys = yield from fewest_keys(samples, start)
            count = np.bincount(new_keys.track, minlength=tracks)
            is_running &= (count < count_before) & (count > 0)
            others = new_keys.take(is_running[new_keys.track])
            keys = joined(keys.take(~is_running[keys.track]), others)[0]
        yield (number + 1) / len(_SHARES)
    return keys


def _stretched(rows: IndexArray, errors: Float64Array, share: float) -> IndexArray:
    """Return fewer rows, spaced as far apart as the errors allow, or the given rows if no key can be removed.

    `share` is the fraction of the removable keys that is kept.
    """
    if len(rows) < 3:
        return rows
    largest = np.maximum(np.maximum.reduceat(errors, rows[:-1]), errors[rows[1:]])
    stretch = np.minimum(np.maximum(largest, np.finfo(np.float64).tiny) ** (-1.0 / _ORDER), _LONGEST)
    # The number of stretched segments from the first row to each row.
    segments = np.concatenate(([0.0], np.cumsum(1.0 / np.maximum(stretch, 1.0))))
    count = int(np.ceil(segments[-1] + share * (len(rows) - 1 - segments[-1])))
    if count >= len(rows) - 1:
        return rows
    new_rows: IndexArray = np.interp(np.linspace(0.0, segments[-1], count + 1), segments, rows).round().astype(np.intp)
    return np.unique(new_rows)


def errors_of(samples: Samples, keys: KeySet) -> Float64Array:
    """Return the errors of the keys' motion, shape (tracks, frames)."""
    values = played_values(samples, keys)
    track, row = (indices.ravel() for indices in np.indices(values.shape[:2]))
    return samples.measure(track, row, values.reshape(len(track), -1)).reshape(values.shape[:2])


def first_keys(samples: Samples) -> KeySet:
    """Return evenly spaced keys."""
    count = samples.count
    rows = np.unique(np.linspace(0, count - 1, -(-(count - 1) // _SPACING) + 1).round().astype(np.intp))
    return at_rows(samples, [rows] * len(samples.values), np.arange(len(samples.values)))


def at_rows(samples: Samples, rows_of_tracks: list[IndexArray], tracks: IndexArray) -> KeySet:
    """Return keys for the tracks at the given rows and at holds, with the slopes between neighboring keys."""
    with_holds = [
        np.union1d(track_rows, np.flatnonzero(samples.held[track]))
        for track_rows, track in zip(rows_of_tracks, tracks, strict=True)
    ]
    track = np.repeat(tracks, [len(track_rows) for track_rows in with_holds])
    rows = np.concatenate(with_holds).astype(np.intp)
    values = samples.values[track, rows]
    keys = KeySet(track, rows, values, values)
    first, last = keys.bounds()
    before = np.maximum(np.arange(len(rows)) - 1, first)
    after = np.minimum(np.arange(len(rows)) + 1, last)
    length = np.maximum(rows[after] - rows[before], 1)
    keys.velocities = (values[after] - values[before]) / length[:, np.newaxis]
    keys.velocities[samples.holds[track, rows]] = 0.0
    for row, given in samples.given_ends:
        # A hold at a free end, whose given velocity is NaN, keeps the velocity 0.
        is_given = (rows == row) & ~np.isnan(given[track]).any(axis=1)
        keys.velocities[is_given] = given[track[is_given]]
    return keys


def _window_indices(
    samples: Samples, keys: KeySet, center: IndexArray, around: IndexArray
) -> tuple[IndexArray, BoolArray]:
    """Return the indices of the keys around given keys, and a mask of keys to fit, both of shape (n, m).

    `around` contains the offsets of the keys of a window from its center, shape (m,) or (n, m). The outer keys are not
    fitted.
    """
    first, last = keys.bounds()
    wanted = center[:, np.newaxis] + around
    indices = np.clip(wanted, first[center, np.newaxis], last[center, np.newaxis])
    is_inner = (around > around.min(axis=-1, keepdims=True)) & (around < around.max(axis=-1, keepdims=True))
    return indices, is_inner & (indices == wanted) & ~samples.held[keys.track[indices], keys.rows[indices]]


def within(samples: Samples, keys: KeySet, is_fitted: bool = False) -> KeySet:
    """Add keys until no error is larger than allowed, and return all keys.

    If even keys at adjacent frames do not suffice, keys get the values of the samples. Pass `is_fitted` if the given
    keys are already fitted.
    """
    pinned = np.zeros(samples.values.shape[:2], dtype=np.bool_)
    is_new = np.full(len(keys.rows), not is_fitted)
    while True:
        _fit_near(samples, keys, is_new, pinned)
        inaccurate = _inaccurate_segments(samples, keys)
        if not len(inaccurate):
            return keys
        divided = inaccurate[keys.rows[inaccurate + 1] - keys.rows[inaccurate] > 1]
        short = np.setdiff1d(inaccurate, divided)
        ends = np.union1d(short, short + 1)
        ends = ends[~pinned[keys.track[ends], keys.rows[ends]]]
        if not len(divided) and not len(ends):
            return keys
        pinned[keys.track[ends], keys.rows[ends]] = True
        keys.values[ends] = samples.values[keys.track[ends], keys.rows[ends]]
        is_new = np.zeros(len(keys.rows), dtype=np.bool_)
        is_new[ends] = True
        keys, order = joined(keys, _middle_keys(samples, keys, divided))
        is_new = np.concatenate([is_new, np.ones(len(divided), dtype=np.bool_)])[order]


def _middle_keys(samples: Samples, keys: KeySet, left: IndexArray) -> KeySet:
    """Return keys in the middle of the segments that begin at the keys `left`, with the slope of the chord."""
    right = left + 1
    track, row = keys.track[left], (keys.rows[left] + keys.rows[right]) // 2
    slope = (keys.values[right] - keys.values[left]) / (keys.rows[right] - keys.rows[left])[:, np.newaxis]
    return KeySet(track, row, samples.values[track, row], slope)


def with_keys_at(keys: KeySet, rows: IndexArray) -> KeySet:
    """Return one track's keys, with more keys on its cubics at rows between the keys."""
    after = np.searchsorted(keys.rows, rows)
    before = after - 1
    length = (keys.rows[after] - keys.rows[before]).astype(np.float64)[:, np.newaxis]
    u = (rows - keys.rows[before])[:, np.newaxis] / length
    chord = keys.values[after] - keys.values[before]
    leaving, arriving = length * keys.velocities[before], length * keys.velocities[after]
    rise, slope = (
        weights.chord * chord + weights.leaving * leaving + weights.arriving * arriving
        for weights in (hermite_weights(u), hermite_weights(u, 1))
    )
    track = np.full(len(rows), keys.track[0])
    return joined(keys, KeySet(track, rows, keys.values[before] + rise, slope / length))[0]


def joined(keys: KeySet, others: KeySet) -> tuple[KeySet, IndexArray]:
    """Return all keys sorted, and the sorting order."""
    names = [field.name for field in fields(KeySet)]
    arrays = {name: np.concatenate([getattr(keys, name), getattr(others, name)]) for name in names}
    order = np.lexsort((arrays["rows"], arrays["track"]))
    return KeySet(**{name: array[order] for name, array in arrays.items()}), order


def _fit_near(samples: Samples, keys: KeySet, is_new: BoolArray, pinned: BoolArray) -> None:
    """Fit new keys and the keys around them, window by window."""
    around = np.arange(-_WIDE - 1, _WIDE + 2)
    count = np.concatenate(([0], np.cumsum(is_new)))
    for start in (0, _WIDE, 0) if is_new.all() else (0, _WIDE):
        center = np.arange(start, len(keys.rows), 2 * _WIDE)
        first, last = np.maximum(center - _WIDE - 1, 0), np.minimum(center + _WIDE + 2, len(keys.rows))
        center = center[count[last] > count[first]]
        if len(center):
            indices, free = _window_indices(samples, keys, center, around)
            free &= ~pinned[keys.track[indices], keys.rows[indices]]
            keys.put(indices, fitted_windows(samples, keys.windows(indices), free), free)


def refit_around(samples: Samples, keys: KeySet, centers: IndexArray) -> None:
    """Fit some keys and their neighbors again, one key after another."""
    for center in centers.tolist():
        indices, free = _window_indices(samples, keys, np.array([center]), _AROUND_MOVED)
        keys.put(indices, fitted_windows(samples, keys.windows(indices), free), free)


def _inaccurate_segments(samples: Samples, keys: KeySet) -> IndexArray:
    """Return the keys that begin the segments whose error is larger than allowed."""
    left = np.flatnonzero(keys.track[1:] == keys.track[:-1])
    errors = largest_errors(samples, keys.windows(np.stack([left, left + 1], axis=1)))
    inaccurate: IndexArray = left[errors > 1.0]
    return inaccurate


def improved(samples: Samples, keys: KeySet) -> KeySet:
    """Remove keys, replace pairs of keys with one key halfway between them, move keys, and replace pairs again."""
    keys = _thinned(samples, _thinned(samples, keys), merges=True)
    _move(samples, keys)
    return _thinned(samples, keys, merges=True)


def _thinned(samples: Samples, keys: KeySet, merges: bool = False) -> KeySet:
    """Remove keys where the errors stay within the limits, starting with the smallest errors.

    If `merges`, the next key moves halfway to the removed key.
    """
    # The error and the window after the removal of each key. NaN marks errors to compute again.
    errors = np.full(len(keys.rows), np.nan)
    fits = keys.windows(np.zeros((len(keys.rows), len(_AROUND_REMOVED)), dtype=np.intp))
    while True:
        first, last = keys.bounds()
        index = np.arange(len(keys.rows))
        is_fixed = (index == first) | (index == last) | samples.held[keys.track, keys.rows]
        errors[is_fixed | np.append(is_fixed[1:], True) if merges else is_fixed] = np.inf
        removed = np.flatnonzero(np.isnan(errors))
        if len(removed):
            indices, free = _window_indices(samples, keys, removed, _AROUND_REMOVED)
            windows = keys.windows(indices)
            if merges:
                windows.rows[:, 2] = (keys.rows[removed] + keys.rows[removed + 1]) // 2
                windows.values[:, 2] = samples.values[windows.track, windows.rows[:, 2]]
            fitted, errors[removed] = refit(samples, windows, free)
            fits.rows[removed] = fitted.rows
            fits.values[removed], fits.velocities[removed] = fitted.values, fitted.velocities
        removed = _independent(errors)
        if not len(removed):
            return keys
        indices, free = _window_indices(samples, keys, removed, _AROUND_REMOVED)
        keys.put(indices, fits.take(removed), free)
        near = removed[:, np.newaxis] + np.arange(1 - _REMOVED_APART, _REMOVED_APART)
        is_near = np.zeros(len(keys.rows), dtype=np.bool_)
        is_near[near[(near >= first[removed, np.newaxis]) & (near <= last[removed, np.newaxis])]] = True
        errors[is_near & (errors <= _HOPELESS)] = np.nan
        stays = np.ones(len(keys.rows), dtype=np.bool_)
        stays[removed] = False
        keys, errors, fits = keys.take(stays), errors[stays], fits.take(stays)


def _independent(errors: Float64Array) -> IndexArray:
    """Return the indices of the smallest allowed errors that are far enough apart for independent fits."""
    order = np.flatnonzero(errors <= 1.0)
    order = order[np.argsort(errors[order], kind="stable")]
    around = _REMOVED_APART - 1
    # Bytes, because indexing an array in a loop is slow. Byte i blocks key i - around.
    blocked = bytearray(len(errors) + 2 * around)
    block = b"\x01" * (2 * around + 1)
    independent = []
    for index in order.tolist():
        if not blocked[index + around]:
            independent.append(index)
            blocked[index : index + 2 * around + 1] = block
    return np.array(sorted(independent), dtype=np.intp)


def _move(samples: Samples, keys: KeySet) -> None:
    """Move keys to the next or previous row if the error around them becomes smaller there."""
    first, last = keys.bounds()
    for start in range(_MOVED_APART):
        center = np.arange(start, len(keys.rows), _MOVED_APART)
        center = center[(center > first[center]) & (center < last[center])]
        center = center[~samples.held[keys.track[center], keys.rows[center]]]
        _move_apart(samples, keys, center)


def _move_apart(samples: Samples, keys: KeySet, center: IndexArray) -> None:
    """Move keys that do not affect each other's fit. All fits are one call, because few fits take as long as many."""
    offsets, middle, count = np.array([0, -1, 1]), len(_AROUND_MOVED) // 2, len(center)
    indices, free = _window_indices(samples, keys, center, _AROUND_MOVED)
    owner = np.tile(np.arange(count), len(offsets))
    windows = keys.windows(indices).take(owner)
    windows.rows[:, middle] += np.repeat(offsets, count)
    moved = np.flatnonzero(np.repeat(offsets, count))
    moved_rows = np.clip(windows.rows[moved, middle], 0, samples.count - 1)
    windows.values[moved, middle] = samples.values[windows.track[moved], moved_rows]
    row, before, after = (windows.rows[:, middle + step] for step in (0, -1, 1))
    is_possible = (row > before) & (row < after)
    fitted, possible_errors = refit(samples, windows.take(is_possible), free[owner[is_possible]])
    errors = np.full((len(offsets), count), np.inf)
    errors.ravel()[is_possible] = possible_errors
    choice = np.argmin(np.vstack([_GAIN * errors[0], errors[1:]]), axis=0)
    is_good = errors[choice, np.arange(count)] <= 1.0
    fit_of_window = np.cumsum(is_possible) - 1
    best = fitted.take(fit_of_window[choice * count + np.arange(count)])
    keys.put(indices[is_good], best.take(is_good), free[is_good])
