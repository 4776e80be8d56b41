# SPDX-License-Identifier: GPL-3.0-or-later
"""What edits did to a baked channel since it was written: which keys are the animator's, and with which values.

Own keys are known by identity. Three things have to be told apart by what was written:

- A generated key with another value than its stamp was keyed over, or it went along when keys were moved, scaled or
  mirrored in value. It went along where one map of values explains it, the generated keys around it and both own keys
  around them; otherwise it is the animator's.
- Blender makes one key of selected keys that land on one frame, with the mean of their values. An own key whose value
  is such a mean, of own and generated keys, gets the mean of the own ones.
- The key that stays may be a generated one. An own key that is gone is in it where its value is the mean with the own
  one's, or where it was put in the own one's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..fcurves.frames import ONE_KEY, SAME_FRAME
from ..fcurves.keyframes import BoolArray, FloatArray, IndexArray, Keyframes
from . import identity
from .identity import Identities
from .stamps import is_generated, is_stamped
from .table import OWN, Channel, Written

Float64Array = npt.NDArray[np.float64]

_ROUNDING = 3e-6
"""Relative. Means and moves of float32 values are rounded a few times."""
_MAPPED = 2e-5
"""Relative. Scaling in the Graph Editor goes through several float32 operations a key."""
_NEARLY_ALL = 0.9
"""Of the generated keys between two own ones: so many do not agree by chance."""
_MOST_MERGED = 12
"""Keys on each side that are looked at as having become one with a key."""
_ABOUT = 3
"""Keys on each side that have to do with one."""
_FEWEST = 3
"""Keys that underwent the same in time: two always do."""
_SNAP = 0.51
"""Frames. Blender snaps each moved key by itself to a whole frame."""


@dataclass(frozen=True, eq=False)
class Changes:
    """What became of the keys of one channel."""

    is_own: BoolArray
    """Which are the animator's."""
    values: FloatArray
    """Their own values, shape (n,) for all keys."""
    promoted: BoolArray
    """Which of them were generated."""
    merged: BoolArray
    """Which became one with others: Blender gave them a mean, and left their handles."""
    returned: Written = field(default_factory=lambda: np.empty(0, dtype=OWN))
    """Own keys that others have swallowed, where they are now: their identities and `co`."""
    swallowed_by: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """The rows of the generated keys that have their values in theirs; -1: one that only took the place."""
    doubtful: FloatArray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    """Frames of promoted keys of which it is not sure that an animator keyed them."""

    def own(self, keys: Keyframes) -> Keyframes:
        """Take the animator's keys, with their own values."""
        own = keys.take(self.is_own)
        values = self.values[self.is_own]
        shift = values - own.values
        if not shift.any():
            return own
        co, left, right = own.co.copy(), own.handle_left.copy(), own.handle_right.copy()
        co[:, 1] = values
        along = np.where(self.merged[self.is_own], np.float32(0.0), shift)
        left[:, 1] += along
        right[:, 1] += along
        return own.with_(co=co, handle_left=left, handle_right=right)


def classify(keys: Keyframes, identities: Identities, written: Channel | None) -> Changes:
    """Tell what became of the keys of a channel since it was written; None: it never was, its stamps were pasted."""
    generated = is_generated(keys) & (identities == identity.NONE)
    is_own = ~generated
    promoted = is_own & is_stamped(keys)
    merged = np.zeros(len(keys), dtype=np.bool_)
    values = keys.values.copy()
    if written is None:
        return Changes(is_own, values, promoted, merged)
    changed = generated & _differ(keys.values, keys.back)
    if not changed.any() and _as_written(keys, identities, is_own, written):
        rows = np.flatnonzero(is_own)
        values[rows] = written.own["value"]
        return Changes(is_own, values, promoted, merged)
    history = _History.of(keys, identities, generated, written)
    keyed = np.zeros(len(keys), dtype=np.bool_)
    doubtful = keyed.copy()
    if changed.any():
        keyed, doubtful = history.keyed(np.flatnonzero(changed))
    values, merged = history.own_values()
    returned, by = history.swallowed()
    return Changes(is_own | keyed, values, promoted | keyed, merged, returned, by, keys.frames[doubtful])


def _as_written(keys: Keyframes, identities: Identities, is_own: BoolArray, written: Channel) -> bool:
    """Tell whether own keys, and no others, stand with the values with which they were written."""
    own = identities[is_own]
    if own.tobytes() != written.own["identity"].tobytes():
        return False
    return bool((keys.values[is_own] == written.own["co"][:, 1]).all())


def _differ(values: FloatArray | Float64Array, others: FloatArray | Float64Array) -> BoolArray:
    different: BoolArray = np.abs(values - others) > _ROUNDING * np.maximum(1e-3, np.abs(others))
    return different


@dataclass(frozen=True)
class _Map:
    """now = factor * before + offset."""

    factor: float
    offset: float

    def fits(self, now: Float64Array, before: Float64Array, size: float) -> BoolArray:
        expected = self.factor * before + self.offset
        room = _ROUNDING if self == _SAME else _MAPPED
        near: BoolArray = np.abs(now - expected) <= room * np.maximum(np.maximum(1e-3, size), np.abs(expected))
        return near


_SAME = _Map(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class _History:
    """A channel's keys now, beside those that were written."""

    keys: Keyframes
    generated: BoolArray
    source: IndexArray
    """For each key the one that was written, by its row there; -1: none, it was made or pasted since."""
    before: Float64Array
    """The value that each key was written with; NaN where that is not known."""
    frames: Float64Array
    """Of the keys that were written, own and generated, ascending."""
    shown: Float64Array
    """Their values on the curve."""
    own: IndexArray
    """For each of them its row in `written`; -1: it was generated."""
    written: Written
    left: BoolArray
    """Which of them no key is left of."""

    @classmethod
    def of(cls, keys: Keyframes, identities: Identities, generated: BoolArray, channel: Channel) -> _History:
        own, made = channel.own, channel.generated
        frames = np.concatenate((own["co"][:, 0], made["frame"]))
        order = np.argsort(frames, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        source = np.full(len(keys), -1, dtype=np.intp)
        rows = {int(each): row for row, each in enumerate(own["identity"].tolist())}
        for key in np.flatnonzero(identities != identity.NONE).tolist():
            row = rows.get(int(identities[key]))
            if row is not None:
                source[key] = place[row]
        ours = np.flatnonzero(generated)
        if len(made) and len(ours):
            at = np.minimum(np.searchsorted(made["frame"], keys.period[ours]), len(made) - 1)
            same = (made["frame"][at] == keys.period[ours]) & (made["value"][at] == keys.back[ours])
            source[ours[same]] = place[len(own) + at[same]]
        shown = np.concatenate((own["co"][:, 1], made["value"])).astype(np.float64)[order]
        before = np.where(source >= 0, shown[source], np.nan)
        before[ours] = keys.back[ours]
        left = np.ones(len(order), dtype=np.bool_)
        left[source[source >= 0]] = False
        rows_of = np.concatenate((np.arange(len(own)), np.full(len(made), -1, dtype=np.intp)))[order]
        return cls(keys, generated, source, before, frames[order].astype(np.float64), shown, rows_of, own, left)

    @property
    def now(self) -> Float64Array:
        return self.keys.values.astype(np.float64)

    # Which generated keys were keyed over.

    def keyed(self, changed: IndexArray) -> tuple[BoolArray, BoolArray]:
        """Of the changed generated keys those that are the animator's, and those of them of which that is not sure."""
        keyed = np.zeros(len(self.keys), dtype=np.bool_)
        doubtful = keyed.copy()
        anchors = np.flatnonzero(~self.generated & (self.source >= 0))
        segment = np.searchsorted(anchors, changed)
        for each in np.unique(segment).tolist():
            rows = changed[segment == each]
            ends = [int(anchors[side]) for side in (each - 1, each) if 0 <= side < len(anchors)]
            low = ends[0] if each > 0 else -1
            high = ends[-1] if each < len(anchors) else len(self.keys)
            inside = np.arange(low + 1, high)
            inside = inside[self.generated[inside]]
            left = rows[~self._explained(rows, inside, ends)]
            if not len(left) or self._smoothed(left, inside, ends):
                continue
            keyed[left] = True
            # Alone among others that stayed, a key was keyed; many at once may be a tool's work.
            if 2 * len(left) > len(inside) and len(inside) > 2:
                doubtful[left] = True
        return keyed, doubtful

    def _explained(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> BoolArray:
        """Which of the rows have a value that a map of their whole segment gives, merged with others or not."""
        explained = np.zeros(len(rows), dtype=np.bool_)
        maps = [_SAME, *self._maps(inside, ends), *self._common_maps]
        size = float(np.abs(self.before[inside]).max(initial=0.0))
        for number, row in enumerate(rows.tolist()):
            now = self.now[row]
            for each in maps:
                means = (self._mean(group) for group in self._groups_with_moved(row))
                alone = each != _SAME and each.fits(now, self.before[row], size).all()
                explained[number] |= alone or any(each.fits(now, mean, size).all() for mean in means)
        return explained

    def _maps(self, inside: IndexArray, ends: list[int]) -> Iterator[_Map]:
        """Maps of values that both own keys around a segment and most of its generated keys underwent."""
        rows = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        now, before = self.now[rows], self.before[rows]
        size = float(np.abs(before).max(initial=0.0))
        moved = _differ(now[len(inside) :], before[len(inside) :]).all()
        pairs = [(int(np.argmin(before)), int(np.argmax(before)))]
        pairs += [(len(rows) - 2, len(rows) - 1)] if len(ends) == 2 else []
        order = np.argsort(before, kind="stable")
        pairs += [(int(order[len(order) // 4]), int(order[3 * len(order) // 4]))]
        for low, high in pairs:
            width = before[high] - before[low]
            if abs(width) > 1e-4 * max(size, 1e-3):
                factor = (now[high] - now[low]) / width
                candidates = [_Map(float(factor), float(now[low] - factor * before[low]))]
            else:
                candidates = [_Map(1.0, float(now[low] - before[low])), _Map(-1.0, float(now[low] + before[low]))]
            for each in candidates:
                fits = each.fits(now, before, size)
                along, most = fits[len(inside) :], float(fits[: len(inside)].mean()) if len(inside) else 0.0
                # Both own keys may have been edited besides.
                if (most > 0.5 and along.all()) or (most > _NEARLY_ALL and moved and each != _SAME):
                    yield each

    @cached_property
    def _common_maps(self) -> list[_Map]:
        """Maps of values that all own keys underwent together with generated ones."""
        known = np.flatnonzero(np.isfinite(self.before))
        own = known[~self.generated[known]]
        now, before = self.now[own], self.before[own]
        if len(own) < 2 or not _differ(now, before).all():
            return []
        shifts = self.now[known] - self.before[known]
        found, counts = np.unique(np.round(shifts, 4), return_counts=True)
        most = int(np.argmax(counts))
        if counts[most] < _FEWEST or abs(found[most]) < 1e-3:
            return []
        return [_Map(1.0, float(np.median(shifts[np.round(shifts, 4) == found[most]])))]

    def _smoothed(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> bool:
        """Whether a tool smoothed the whole segment: all of it is selected, most of it has changed, and no value lies
        outside those that were written around it."""
        among = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        if 2 * len(rows) <= len(inside) or not self.keys.select_control_point[among].all():
            return False
        at = self.source[rows]
        if (at < 0).any():
            return False
        around = np.clip(at + np.arange(-_ABOUT, _ABOUT + 1)[:, np.newaxis], 0, len(self.shown) - 1)
        low, high = self.shown[around].min(axis=0), self.shown[around].max(axis=0)
        room = 0.05 * (high - low) + _MAPPED * np.maximum(np.abs(low), np.abs(high))
        return bool(((self.now[rows] >= low - room) & (self.now[rows] <= high + room)).all())

    # Keys that became one.

    def _groups(self, row: int) -> Iterator[IndexArray]:
        """The keys, by their places among those that were written, that a key may have become one with: neighbours
        that are gone, in a row. The key itself is among them.

        Snapping moves a key by whole frames, so often only keys that stood whole frames apart become one.
        """
        source = int(self.source[row])
        if source < 0:
            return
        if self.left.sum() == len(self.left) - 1 and len(self.left) > 1:
            yield np.arange(len(self.left))
            return
        whole = self.frames - self.frames[source]
        alike = np.abs(whole - np.round(whole)) <= SAME_FRAME
        for among in (np.ones_like(alike), alike) if not alike.all() else (alike,):
            low, high = self._neighbours(row, among)
            gone = np.flatnonzero(self.left & among)
            gone = gone[(gone > low) & (gone < high)]
            if not 0 < len(gone) <= 2 * _MOST_MERGED:
                continue
            at = int(np.searchsorted(gone, source))
            # One that was moved among others stands anywhere among them.
            stays = low < source < high
            for start in range(len(gone) if not stays else at + 1):
                for end in range(max(start + 1, at if stays else 0), len(gone) + 1):
                    yield np.append(gone[start:end], source)

    def _neighbours(self, row: int, among: BoolArray) -> tuple[int, int]:
        """Between which of the keys that were written, `among` these, a key stands now, by those beside it."""
        known = np.flatnonzero((self.source >= 0) & among[self.source])
        at = int(np.searchsorted(known, row))
        beside = [int(self.source[known[place]]) for place in (at - 1, at + 1) if 0 <= place < len(known)]
        if not beside:
            return -1, len(self.left)
        if len(beside) == 1:
            return (beside[0], len(self.left)) if beside[0] < self.source[row] else (-1, beside[0])
        return min(beside), max(beside)

    def own_values(self) -> tuple[FloatArray, BoolArray]:
        """The own values of own keys: as they stand; of one that became one with generated keys the mean of the own
        ones among them; of one that shows another value than its own, that moved by as much. And which became one."""
        values = self.keys.values.copy()
        became_one = np.zeros(len(values), dtype=np.bool_)
        for row in np.flatnonzero(~self.generated & (self.source >= 0)).tolist():
            written = self.written[self.own[self.source[row]]]
            now, shown, own = float(values[row]), float(written["co"][1]), float(written["value"])
            if now == shown:
                values[row] = own
                continue
            if now == -shown and own != shown:
                values[row] = -own
                continue
            merged = self._merged_value(row)
            if merged is not None:
                values[row], became_one[row] = merged, True
            elif own != shown:
                values[row] = own + (now - shown)
        return values, became_one

    def _merged_value(self, row: int) -> float | None:
        """The mean of the own keys in an own key that became one with generated ones; None where it did not."""
        now = np.array([self.now[row]])
        for group in self._groups(row):
            own = self.own[group]
            found = self._mean_map(now, group) if (own < 0).any() else None
            if found is not None:
                return found.factor * self._own_mean(own[own >= 0]) + found.offset
        return None

    def _own_mean(self, rows: IndexArray) -> float:
        return float(self.written["value"][rows].astype(np.float64).mean())

    def _mean(self, group: IndexArray) -> Float64Array:
        mean: Float64Array = self.shown[group].mean(keepdims=True)
        return mean

    def _mean_map(self, now: Float64Array, group: IndexArray) -> _Map | None:
        """By which of the maps the value is the group's mean; None: by none."""
        size = float(np.abs(self.shown[group]).max())
        maps = [_SAME, *self._common_maps]
        return next((each for each in maps if each.fits(now, self._mean(group), size).all()), None)

    def swallowed(self) -> tuple[Written, IndexArray]:
        """The own keys that generated ones have swallowed, where they are now, and the rows of these."""
        found: dict[int, tuple[int, float, float]] = {}
        gone = np.flatnonzero(self.left & (self.own >= 0))
        if len(gone):
            rows = np.flatnonzero(self.generated & (self.source >= 0))
            # A changed value tells most.
            changed = _differ(self.now[rows], self.before[rows])
            for row in (*rows[changed].tolist(), *rows[~changed].tolist()):
                for which, frame, value in self._swallowed_by(row):
                    found.setdefault(which, (row, frame, value))
        for which in gone.tolist():
            if which not in found:
                taken = self._place_taken(which)
                if taken is not None:
                    found[which] = taken
        for which in np.flatnonzero(~self.left & (self.own >= 0)).tolist():
            covered = self._covered(which)
            if covered is not None:
                found[which] = covered
        occupied = self.keys.frames[~self.generated]
        free = [which for which in found if (np.abs(occupied - found[which][1]) > ONE_KEY).all()]
        order = sorted(free, key=lambda which: found[which][1])
        result = np.zeros(len(order), dtype=OWN)
        rows = np.array([found[which][0] for which in order], dtype=np.intp)
        for at, which in enumerate(order):
            result[at]["identity"] = self.written["identity"][self.own[which]]
            result[at]["co"] = found[which][1:]
        _, first = np.unique(result["co"][:, 0], return_index=True)
        return result[first], rows[first]

    def _swallowed_by(self, row: int) -> Iterator[tuple[int, float, float]]:
        """The own keys in a generated one, with where they are now, and their mean."""
        now = np.array([self.now[row]])
        if not self._means_anything(row, now):
            return
        for group in self._groups_with_moved(row):
            own = group[self.left[group] & (self.own[group] >= 0)]
            found = self._mean_map(now, group) if len(own) else None
            if found is not None:
                value = found.factor * self._own_mean(self.own[own]) + found.offset
                yield int(own[0]), float(self.keys.frames[row]), value
                return

    def _groups_with_moved(self, row: int) -> Iterator[IndexArray]:
        """As `_groups`, and each with an own key that was moved there and is gone."""
        plain = list(self._groups(row))
        yield from plain
        gone = np.flatnonzero(self.left & (self.own >= 0))
        for own in gone[:_MOST_MERGED].tolist():
            for group in (self.source[[row]], *plain):
                if own not in group:
                    yield np.append(group, own)

    def _means_anything(self, row: int, now: Float64Array) -> bool:
        """Whether a generated key's value says that it became one with others: it has changed, or, where all values
        are one, keys have come nearer to each other about it."""
        if _differ(now, self.before[[row]]).any():
            return True
        groups = list(self._groups(row))
        if not groups or not (self.own[groups[-1]] >= 0).any():
            return False
        shown = self.shown[np.concatenate(groups)]
        flat = np.ptp(shown) <= _ROUNDING * max(1e-3, float(np.abs(shown).max()))
        return bool(flat) and self._is_denser(row)

    def _is_denser(self, row: int) -> bool:
        """Whether the keys beside this one have come nearer to each other than they were written."""
        for low, high in ((row - 1, row), (row, row + 1)):
            if low >= 0 and high < len(self.source) and self.source[low] >= 0 and self.source[high] >= 0:
                written = abs(self.frames[self.source[high]] - self.frames[self.source[low]])
                if abs(self.keys.frames[high] - self.keys.frames[low]) < written - ONE_KEY:
                    return True
        return False

    def _place_taken(self, which: int) -> tuple[int, float, float] | None:
        """Where a generated key that was moved took the place of an own one: the own one's place."""
        frame = self.frames[which]
        there = np.flatnonzero(self.generated & (np.abs(self.keys.frames - frame) <= ONE_KEY) & (self.source < 0))
        if len(there):
            # Pasted from elsewhere over it.
            return -1, float(frame), float(self.written["value"][self.own[which]])
        for factor, offset, room in self._time_maps:
            place = factor * frame + offset
            near = np.flatnonzero(self.generated & (np.abs(self.keys.frames - place) <= room))
            before = np.where(self.source[near] >= 0, self.frames[self.source[near]], self.keys.period[near])
            # One that came there with the own one has become one with it, or was beside it.
            near = near[np.abs(factor * before + offset - place) > max(room, ONE_KEY)]
            if len(near) and self._is_about(which, factor, offset, room):
                return -1, float(self.keys.frames[near[0]]), float(self.written["value"][self.own[which]])
        return None

    def _covered(self, which: int) -> tuple[int, float, float] | None:
        """Where an own key was copied, and a generated key of the copies stands in its own place: that place.

        Pasting over a whole range would leave the same keys, and mean that the own one is to go: in doubt it stays.
        """
        frame = self.frames[which]
        if not self._is_doubled or (np.abs(self.keys.frames[self.source == which] - frame) <= ONE_KEY).any():
            return None
        near = np.flatnonzero(self.generated & (np.abs(self.keys.frames - frame) <= ONE_KEY))
        near = near[(self.source[near] >= 0) & (np.abs(self.keys.period[near] - frame) > ONE_KEY)]
        if not len(near):
            return None
        return -1, float(frame), float(self.written["value"][self.own[which]])

    @cached_property
    def _is_doubled(self) -> bool:
        """Whether keys were copied, and the first ones stand where they were written."""
        known = np.flatnonzero(self.source >= 0)
        stays = np.abs(self.keys.frames[known] - self.frames[self.source[known]]) <= ONE_KEY
        again = np.isin(self.source[known[stays]], self.source[known[~stays]])
        # One may stand there that is scaled about its own frame.
        return int(again.sum()) >= _FEWEST

    def _is_about(self, which: int, factor: float, offset: float, room: float) -> bool:
        """Whether keys that were written beside this one stand where the map puts them."""
        known = np.flatnonzero(self.source >= 0)
        fits = np.abs(factor * self.frames[self.source[known]] + offset - self.keys.frames[known]) <= room
        return bool(np.isin(self.source[known[fits]], np.arange(which - _ABOUT, which + _ABOUT + 1)).any())

    @cached_property
    def _time_maps(self) -> list[tuple[float, float, float]]:
        """What the keys underwent in time, where some did so together: factor, offset and how exactly."""
        known = np.flatnonzero(self.source >= 0)
        now, before = self.keys.frames[known].astype(np.float64), self.frames[self.source[known]]
        maps = []
        left = np.ones(len(known), dtype=np.bool_)
        if (np.abs(now - before) <= ONE_KEY).any():
            maps.append((1.0, 0.0, ONE_KEY))
            left &= np.abs(now - before) > ONE_KEY
        while left.sum() >= _FEWEST:
            shifts, counts = np.unique(np.round(now[left] - before[left], 2), return_counts=True)
            if counts.max() >= _FEWEST:
                found = (1.0, float(shifts[np.argmax(counts)]), ONE_KEY)
            else:
                slopes = np.diff(now[left]) / np.maximum(np.diff(before[left]), 1e-6)
                factor = float(np.median(slopes))
                found = (factor, float(np.median(now[left] - factor * before[left])), _SNAP * max(1.0, abs(factor)))
            fits = left & (np.abs(found[0] * before + found[1] - now) <= found[2])
            if fits.sum() < _FEWEST:
                break
            maps.append(found)
            left &= ~fits
        return maps
