# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys of a baked curve only went along with an edit, and which the animator made or changed.

Keying over a generated key replaces its value and leaves its type, so a generated key that no longer has the value of
its stamp has become the animator's, unless others changed the same way: then all of them were moved, scaled or pasted
together. Two maps tell: the one that most of the curve underwent, and the one of the animator's keys near by.

One that stands at another frame with its value unchanged only went along: a column of the Dope Sheet's summary, or a
box, takes all generated keys there along with the animator's keys of other channels and objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import KEY_TYPE, BoolArray, IndexArray, Keyframes
from .stamps import GENERATED, ONE_KEY, SAME_FRAME, is_own_kind

_SAME_VALUE = 1e-6
"""Relative. A few float32 ulps: a key inserted on an unchanged pose differs from the sample by rounding only."""
_MAPPED_VALUE = 2e-5
"""Relative. Scaling in the Graph Editor goes through several float32 operations a key."""
_SNAP = 0.51
"""Frames. Blender snaps each moved key by itself to a whole frame."""
_MAPPED_FRAME = 10 * SAME_FRAME
"""Frames. Where nothing was snapped, several edits together round a frame by less."""
_FEWEST = 3
"""Keys that agree on a map: two always do."""
_ABOUT = 3
"""Keys on each side that may have to do with what became of one."""

Float64Array = npt.NDArray[np.float64]


def generated_keys(keys: Keyframes, step: Callable[[], float]) -> BoolArray:
    """Which keys are still the add-on's own, of samples `step` apart; infinite for curves."""
    ours = is_generated(keys)
    suspect = ours & has_another_value(keys)
    if suspect.any():
        ours[suspect] = _went_along(keys, ours, np.flatnonzero(suspect), step())
    return ours


def is_generated(keys: Keyframes) -> BoolArray:
    """Which keys the add-on wrote, whatever has become of them since."""
    generated: BoolArray = (keys.type == KEY_TYPE["GENERATED"]) & (keys.amplitude == GENERATED)
    return generated


def has_another_value(keys: Keyframes) -> BoolArray:
    """Which keys no longer have the value of their stamp."""
    changed: BoolArray = np.abs(keys.values - keys.back) > _SAME_VALUE * np.maximum(1e-3, np.abs(keys.back))
    # Paste Flipped changes the signs of some channels.
    changed &= keys.values != -keys.back
    return changed


@dataclass(frozen=True)
class _Changes:
    """Frames and values of a curve's keys now, and those of their stamps."""

    frames: Float64Array
    frames_before: Float64Array
    values: Float64Array
    values_before: Float64Array


def _changes(keys: Keyframes) -> _Changes:
    return _Changes(*(array.astype(np.float64) for array in (keys.frames, keys.period, keys.values, keys.back)))


def _went_along(keys: Keyframes, ours: BoolArray, rows: IndexArray, step: float) -> BoolArray:
    """Whether each generated key of `rows` has the value that the map of most of them, or of keys near it, gives."""
    changes = _changes(keys)
    near = _near(np.flatnonzero(is_own_kind(keys.amplitude)), rows)
    met = _may_have_met(changes, ours, _common_frame_maps(changes, ours), near) | _stirred(changes, ours, rows)
    met |= _stands_alone(changes, step)[rows]
    room = np.where(met, _steps_beside(changes.values_before, rows), 0.0)
    values = _common_value_map(changes, ours)
    fits = _any_fits(values, changes.values[rows], changes.values_before[rows])
    return fits | _values_fit(changes.values, changes.values_before, near, rows, room)


@dataclass(frozen=True)
class _Map:
    """now = factor * before + offset, within `room`."""

    factor: float
    offset: float
    room: float

    def distance(self, now: Float64Array, before: Float64Array) -> Float64Array:
        return np.abs(now - (self.factor * before + self.offset))


def _any_fits(maps: list[_Map], now: Float64Array, before: Float64Array) -> BoolArray:
    fits = np.zeros(len(now), dtype=np.bool_)
    rounding = 4 * np.abs(np.spacing(now.astype(np.float32))).astype(np.float64)
    for each in maps:
        fits |= each.distance(now, before) <= each.room + rounding
    return fits


def _common_frame_maps(changes: _Changes, ours: BoolArray) -> list[_Map]:
    """What most of the generated keys underwent in time; where keys were duplicated, what each copy did."""
    now, before = changes.frames[ours], changes.frames_before[ours]
    # A few keys that moved together, and have no doubles, were moved by hand.
    doubled = len(np.unique(before)) < len(before)
    share = 0.25 if doubled else 0.5
    maps: list[_Map] = []
    common = _frame_map(now, before, share)
    while common is not None:
        maps.append(common)
        left = ~_any_fits(maps, now, before)
        common = _frame_map(now[left], before[left], share) if doubled else None
    return maps


def _frame_map(now: Float64Array, before: Float64Array, share: float) -> _Map | None:
    """The map of frames that more than a share of the keys agrees on, with room for the snapping that it shows."""
    line = _line(now, before, _SNAP)
    if line is None:
        return None
    factor, offset = line
    # Each of two edits may have snapped; what follows a snapped one scales its rounding.
    widest = 2 * _SNAP * max(1.0, abs(factor))
    for _ in range(3):
        distance = np.abs(now - (factor * before + offset))
        agree = distance <= widest
        if agree.sum() < _FEWEST or agree.sum() <= share * len(now):
            return None
        exact = distance <= _MAPPED_FRAME
        use = exact if 2 * exact.sum() > agree.sum() else agree
        if np.ptp(before[use]) < SAME_FRAME:
            return None
        factor, offset = map(float, np.polyfit(before[use], now[use], 1))
    # Snapping spreads keys over the room that it takes: without it, hardly one is off the map.
    spread = float(np.quantile(distance[agree], 0.9))
    return _Map(factor, offset, min(widest, 1.5 * spread) + _MAPPED_FRAME)


def _line(now: Float64Array, before: Float64Array, room: float) -> tuple[float, float] | None:
    """Factor and offset by medians, as Theil and Sen: the few keys, or the copy, that differ do not bend it.

    The pairs that give the factor are far enough apart for snapping to matter little, and near enough for most of them
    to lie in one of two copies.
    """
    if len(now) < _FEWEST:
        return None
    lag = max(1, len(now) // 4)
    width, width_now = before[lag:] - before[:-lag], now[lag:] - now[:-lag]
    wide = np.abs(width) > 1e-9
    if not wide.any():
        return None
    factor = float(np.median(width_now[wide] / width[wide]))
    offsets = np.sort(now - factor * before)
    # Of two copies as large as each other the median is neither: look at the middles of both as well.
    middles = offsets[np.array([2, 1, 3]) * (len(offsets) - 1) // 4]
    near = np.searchsorted(offsets, middles + room, "right") - np.searchsorted(offsets, middles - room)
    return factor, float(middles[np.argmax(near)])


def _may_have_met(changes: _Changes, ours: BoolArray, maps: list[_Map], near: IndexArray) -> BoolArray:
    """Whether snapping may have brought the keys between those `near` to one frame: Blender makes one key of them, with
    their average."""
    squeezed = any(each.room > 2 * _MAPPED_FRAME or abs(each.factor) < 1 - 1e-4 for each in maps)
    snapped = _snapped_onto(changes.frames[ours], changes.frames_before[ours])
    if squeezed or 2 * snapped.sum() > len(snapped):
        return np.ones(near.shape[1], dtype=np.bool_)
    return _shrunk(changes.frames, changes.frames_before, near)


def _snapped_onto(frames: Float64Array, before: Float64Array) -> BoolArray:
    """Whether each key was between frames, and stands on the whole frame at which another may have stood."""
    off, off_before = np.abs(frames - np.rint(frames)), np.abs(before - np.rint(before))
    snapped: BoolArray = (off <= SAME_FRAME) & (off_before > SAME_FRAME)
    return snapped


def _common_value_map(changes: _Changes, ours: BoolArray) -> list[_Map]:
    """What most of the generated keys underwent in value: none where they have one value, or no map is common."""
    order = np.argsort(changes.values_before[ours], kind="stable")
    now, before = changes.values[ours][order], changes.values_before[ours][order]
    size = float(max(1e-3, np.abs(now).max(initial=0.0), np.abs(before).max(initial=0.0)))
    line = _line(now, before, _MAPPED_VALUE * size)
    if line is None:
        return []
    found = _Map(*line, _MAPPED_VALUE * max(size, abs(line[0]) * size, abs(line[1])))
    agree = found.distance(now, before) <= found.room
    # Two values always lie on a line: that of a key that was keyed over, and the one that all others have.
    enough = len(np.unique(before[agree])) >= _FEWEST and 2 * agree.sum() > len(now)
    return [found] if enough else []


def _near(anchors: IndexArray, rows: IndexArray) -> IndexArray:
    """The animator's keys nearest to each row, two on each side, shape (4, rows): -1 where there are fewer."""
    place = np.searchsorted(anchors, rows) + np.array([[-2], [-1], [0], [1]])
    there = (place >= 0) & (place < len(anchors))
    near = np.full(place.shape, -1, dtype=np.intp)
    near[there] = anchors[place[there]]
    return near


def _values_fit(
    now: Float64Array, before: Float64Array, near: IndexArray, rows: IndexArray, room: Float64Array
) -> BoolArray:
    """Whether the values are those that no change, the move of a key near by, or a scaling give, within `room`."""
    here, start = now[rows], before[rows]
    size = np.maximum(1e-3, np.maximum(np.abs(here), np.abs(start)))
    fits: BoolArray = np.abs(here - start) <= _MAPPED_VALUE * size + room
    for place, there in (*_moves(now, before, near, start), *_scalings(now, before, near, start)):
        fits |= there & (np.abs(here - place) <= _MAPPED_VALUE * np.maximum(size, np.abs(place)))
    return fits


_Places = Iterator[tuple[Float64Array, BoolArray]]
"""Where rows are expected, and for which of them the expectation holds."""


def _moves(now: Float64Array, before: Float64Array, near: IndexArray, start: Float64Array) -> _Places:
    for anchor in near:
        shift = now[anchor] - before[anchor]
        yield start + shift, (anchor >= 0) & (np.abs(shift) > _SAME_VALUE * np.maximum(1e-3, np.abs(before[anchor])))


def _scalings(now: Float64Array, before: Float64Array, near: IndexArray, start: Float64Array) -> _Places:
    for left, right in pairwise(near):
        width, width_now = before[right] - before[left], now[right] - now[left]
        least = _SAME_VALUE * np.maximum(1.0, np.abs(before[left]))
        scaled = (left >= 0) & (right >= 0) & (np.abs(width) > least) & (np.abs(width_now - width) > least)
        ratio = np.divide(width_now, width, out=np.zeros_like(width), where=scaled)
        yield now[left] + (start - before[left]) * ratio, scaled


def _shrunk(frames: Float64Array, before: Float64Array, near: IndexArray) -> BoolArray:
    """Whether the keys around each row came nearer to each other: keys that meet there become one of their average."""
    result = np.zeros(near.shape[1], dtype=np.bool_)
    for left, right in pairwise(near):
        narrower = np.abs(frames[right] - frames[left]) < np.abs(before[right] - before[left]) - SAME_FRAME
        result |= (left >= 0) & (right >= 0) & narrower
    return result


def _stirred(changes: _Changes, ours: BoolArray, rows: IndexArray) -> BoolArray:
    """Whether of each row and the generated keys near it some moved in time otherwise than others: scaled or snapped,
    keys that are gone may have become one with it."""
    shift = changes.frames - changes.frames_before
    about = np.clip(rows + np.arange(-_ABOUT, _ABOUT + 1)[:, np.newaxis], 0, len(shift) - 1)
    off = (np.abs(shift[about] - shift[rows]) > SAME_FRAME) & (ours[about] | (np.abs(shift[about]) <= _SNAP))
    stirred: BoolArray = off.any(axis=0)
    return stirred


def _stands_alone(changes: _Changes, step: float) -> BoolArray:
    """Which keys have lost one that stood beside them."""
    gone = np.abs(np.diff(changes.frames_before)) > step * (1 + _MAPPED_FRAME)
    result = np.zeros(len(changes.frames), dtype=np.bool_)
    result[1:] |= gone
    result[:-1] |= gone
    return result


def _steps_beside(before: Float64Array, rows: IndexArray) -> Float64Array:
    """Twice the range of the values that stood about each row: an average with keys in between is no farther off."""
    about = before[np.clip(rows + np.arange(-_ABOUT, _ABOUT + 1)[:, np.newaxis], 0, len(before) - 1)]
    steps: Float64Array = 2 * (about.max(axis=0) - about.min(axis=0))
    return steps


def lost_to_samples(keys: Keyframes, ours: BoolArray, records: Keyframes) -> BoolArray:
    """Which keys that count as the animator's are samples on the frame of a record whose own key they replaced.

    Scaled or pasted onto a key, a sample may be the one that stays: its value, or the average, is not the animator's.
    """
    result: BoolArray = ~ours & is_generated(keys)
    rows = np.flatnonzero(result)
    if not len(rows) or not len(records):
        return np.zeros(len(keys), dtype=np.bool_)
    row = np.searchsorted(records.frames, keys.frames[rows] - np.float32(ONE_KEY))
    row = np.clip(row, 0, len(records) - 1)
    at_record = np.abs(records.frames[row] - keys.frames[rows]) <= ONE_KEY
    value, sample, key = keys.values[rows], keys.back[rows], records.values[row]
    rounding = _SAME_VALUE * np.maximum(1e-3, np.abs(sample))
    between = (value >= np.minimum(sample, key) - rounding) & (value <= np.maximum(sample, key) + rounding)
    result[rows] = at_record & (between | _averaged(keys, ours, rows))
    return result


def averaged_keys(keys: Keyframes, ours: BoolArray) -> BoolArray:
    """Which of the animator's keys may have another value only because Blender made one key of them and samples.

    It does so where snapping brings selected keys to one frame, as when all are scaled to half the time.
    """
    result: BoolArray = is_own_kind(keys.amplitude) & (np.abs(keys.values) != np.abs(keys.back))
    rows = np.flatnonzero(result)
    if len(rows):
        result[rows] = _averaged(keys, ours, rows)
    return result


def _averaged(keys: Keyframes, ours: BoolArray, rows: IndexArray) -> BoolArray:
    """Whether each of the keys may have met others, and has a value that an average with them can be."""
    changes = _changes(keys)
    near = _near(np.flatnonzero(is_own_kind(keys.amplitude)), rows)
    met = _may_have_met(changes, ours, _common_frame_maps(changes, ours), near)
    met |= _snapped_onto(changes.frames[rows], changes.frames_before[rows]) | _stirred(changes, ours, rows)
    change = np.abs(changes.values[rows] - changes.values_before[rows])
    result: BoolArray = met & (change <= _steps_beside(changes.values_before, rows))
    return result
