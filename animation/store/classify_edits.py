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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from ..fcurves.frames import ONE_KEY, SAME_FRAME
from ..fcurves.keyframes import BoolArray, FloatArray, IndexArray, Keyframes
from .table import identity
from .table.custom_property import OWN, Channel, Written
from .table.identity import Identities
from .table.stamps import is_generated, is_stamped

Float64Array = npt.NDArray[np.float64]

_ROUNDING = 3e-6
"""Relative. Means and moves of float32 values are rounded a few times."""
_MAPPED = 2e-5
"""Relative. Scaling in the Graph Editor goes through several float32 operations a key."""
_NEARLY_ALL = 0.9
"""Of the generated keys between two own ones: so many do not agree by chance."""
_MOST_MERGED = 128
"""Keys in a row that are looked at as having become one with a key, in part: among more, too many means are alike."""
_MOST_MOVED = 12
"""Own keys that are looked at as having been moved onto a key."""
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
    """The rows of the generated keys with which they became one; -1: one that came to the place took it."""
    doubtful: FloatArray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    """Frames of promoted keys of which it is not sure that an animator keyed them, and of returned ones that may have
    been meant to go."""

    def own(self, keys: Keyframes) -> Keyframes:
        """Take the animator's keys, with their own values."""
        own = keys.take(self.is_own)
        values = self.values[self.is_own]
        shift = values - own.values
        if not shift.any():
            return own
        co, left, right = own.co.copy(), own.handle_left.copy(), own.handle_right.copy()
        co[:, 1] = values
        # Adding a shift of zero would turn -0.0 into 0.0.
        along = (shift != 0.0) & ~self.merged[self.is_own]
        left[along, 1] += shift[along]
        right[along, 1] += shift[along]
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
    changed &= ~history.flipped
    keyed = np.zeros(len(keys), dtype=np.bool_)
    doubtful = keyed.copy()
    if changed.any():
        keyed, doubtful = history.keyed(np.flatnonzero(changed))
    values, merged = history.own_values()
    returned, by = history.swallowed()
    unsure = np.array(history.unsure, dtype=np.float32)
    unsure = unsure[np.isin(unsure, returned["co"][:, 0])]
    in_doubt = np.concatenate((keys.frames[doubtful], history.covered, unsure))
    return Changes(is_own | keyed, values, promoted | keyed, merged, returned, by, in_doubt)


def _as_written(keys: Keyframes, identities: Identities, is_own: BoolArray, written: Channel) -> bool:
    """Tell whether own keys, and no others, stand with the values with which they were written: where they were, or
    moved, and not copied over the first ones with generated keys among them."""
    own = identities[is_own]
    if own.tobytes() != written.own["identity"].tobytes():
        return False
    if (keys.co[is_own] == written.own["co"]).all():
        return True
    came_from = np.sort(keys.period[~is_own])
    return bool((keys.values[is_own] == written.own["co"][:, 1]).all() and np.diff(came_from).all())


def values_without_bake(now: FloatArray, written: Written) -> FloatArray:
    """Tell the own values of keys that have the values `now` on the baked curve: of one that shows another than its
    own, that moved by as much, and negated where it was."""
    shown, own = written["co"][:, 1], written["value"]
    moved = own.astype(np.float64) + (now.astype(np.float64) - shown)
    # A quaternion that handles play negated: another component may not have changed.
    values = np.select([now == shown, own == shown, now == -shown, own == -shown], [own, now, -own, -now], moved)
    return values.astype(np.float32)


def _differ(values: FloatArray | Float64Array, others: FloatArray | Float64Array) -> BoolArray:
    different: BoolArray = np.abs(values - others) > _ROUNDING * np.maximum(1e-3, np.abs(others))
    return different


def _can_be_snapped(before: Float64Array | float, now: FloatArray | float) -> BoolArray:
    """Which frames Blender may have snapped to those: by whole frames while it moves keys, or to whole frames."""
    shifts, frames = np.subtract(now, before), np.asarray(now)
    can_be: BoolArray = np.minimum(np.abs(shifts - np.round(shifts)), np.abs(frames - np.round(frames))) <= ONE_KEY
    return can_be


def _is_within(frame: float, frames: FloatArray) -> bool:
    """Whether a frame is in the range of others, which ascend."""
    return len(frames) > 0 and bool(frames[0] <= frame <= frames[-1])


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
    unsure: list[float] = field(default_factory=list)
    """Frames of own keys that are taken for swallowed by keys that may have stood there before."""

    @classmethod
    def of(cls, keys: Keyframes, identities: Identities, generated: BoolArray, channel: Channel) -> _History:
        own, made = channel.own, channel.generated
        frames = np.concatenate((own["co"][:, 0], made["frame"]))
        order = np.argsort(frames, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        source = np.full(len(keys), -1, dtype=np.intp)
        if len(own):
            # Each identity is written once: keys that share one are copies that were made since.
            named = np.argsort(own["identity"], kind="stable")
            found = named[np.minimum(np.searchsorted(own["identity"][named], identities), len(own) - 1)]
            mine = own["identity"][found] == identities
            source[mine] = place[found[mine]]
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

    @property
    def flipped(self) -> BoolArray:
        """Generated keys that were pasted with their values negated: nearly all that were pasted are."""
        elsewhere = (self.source < 0) | (np.abs(self.keys.frames - self.keys.period) > ONE_KEY)
        pasted = self.generated & elsewhere
        opposite: BoolArray = pasted & (self.keys.values == -self.keys.back)
        some = pasted & (self.keys.back != 0.0)
        if not some.any() or opposite[some].mean() < _NEARLY_ALL:
            return np.zeros_like(opposite)
        return opposite

    # Which generated keys were keyed over.

    def keyed(self, changed: IndexArray) -> tuple[BoolArray, BoolArray]:
        """Of the changed generated keys those that are the animator's, and those of them of which that is not sure."""
        keyed = np.zeros(len(self.keys), dtype=np.bool_)
        changed = changed[~self._negated[changed]]
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
        if len(changed) >= _FEWEST:
            # They may be a tool's work.
            return keyed, keyed
        mirrored = self.keys.select_control_point & (self.now == -self.before)
        elsewhere = np.abs(self.keys.frames - self.keys.period) > ONE_KEY
        return keyed, keyed & (mirrored | elsewhere)

    @cached_property
    def _negated(self) -> BoolArray:
        """Keys that were mirrored in value: of all that are selected, own and generated ones, every one is negated.

        A value of 0 stays where it is, so a segment may have too few keys to tell by itself.
        """
        chosen = self.keys.select_control_point & np.isfinite(self.before)
        told = chosen & (self.before != 0.0)
        is_mirror = told.sum() >= _FEWEST and (told & ~self.generated).any() and told[self.generated].any()
        if is_mirror and (self.now[chosen] == -self.before[chosen]).all():
            return chosen
        return np.zeros_like(chosen)

    def _explained(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> BoolArray:
        """Which of the rows have a value that a map of their whole segment gives, merged with others or not."""
        explained = np.zeros(len(rows), dtype=np.bool_)
        maps = [_SAME, *self._maps(inside, ends), *self._common_maps]
        size = float(np.abs(self.before[inside]).max(initial=0.0))
        for number, row in enumerate(rows.tolist()):
            now, before = self.now[[row]], self.before[[row]]
            alone = any(each.fits(now, before, size).all() for each in maps if each != _SAME)
            explained[number] = alone or any(True for _ in self._groups(row, maps, self._gone_own))
        return explained

    def _maps(self, inside: IndexArray, ends: list[int]) -> Iterator[_Map]:
        """Maps of values that both own keys around a segment and most of its generated keys underwent."""
        rows = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        now, before = self.now[rows], self.before[rows]
        size = float(np.abs(before).max(initial=0.0))
        moved = _differ(now[len(inside) :], before[len(inside) :]).all()
        # Where the own keys went along with all others nobody edited them besides.
        went_along = any(each.fits(now[len(inside) :], before[len(inside) :], size).all() for each in self._common_maps)
        if not moved and len(inside) < _FEWEST:
            # About own keys that stay, some map explains any one key.
            return
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
                besides = most > _NEARLY_ALL and moved and not went_along
                if (most > 0.5 and along.all()) or (besides and each != _SAME):
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
        of_own = np.unique(np.round(now - before, 4))
        # More generated keys may have been keyed than went along.
        most = int(np.searchsorted(found, of_own[0])) if len(of_own) == 1 else int(np.argmax(counts))
        if counts[most] < _FEWEST or abs(found[most]) < 1e-3:
            return []
        return [_Map(1.0, float(np.median(shifts[np.round(shifts, 4) == found[most]])))]

    def _smoothed(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> bool:
        """Whether a tool smoothed the whole segment: all of it is selected, most of it has changed, and no value lies
        outside those that were written around it."""
        among = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        selected, segment = self.keys.select_control_point, slice(among.min(), among.max() + 1)
        if 2 * len(rows) <= len(inside) or not selected[among].all() or (self.source[segment] < 0).any():
            return False
        # An own key with selected ones on both sides was smoothed, too.
        within = [end for end in ends if 0 < end < len(selected) - 1 and selected[end - 1] and selected[end + 1]]
        shifts = self.now[rows] - self.before[rows]
        alike = np.abs(shifts - np.median(shifts)) <= _MAPPED * float(np.abs(self.shown).max(initial=1e-3))
        # As much for most of them, and nothing for the own keys, is no smoothing: they were keyed.
        changed = _differ(self.now, self.before)
        if not changed[within].all() or (2 * alike.sum() > len(rows) and not changed[ends].any()):
            return False
        around = np.clip(self.source[rows] + np.arange(-_ABOUT, _ABOUT + 1)[:, np.newaxis], 0, len(self.shown) - 1)
        low, high = self.shown[around].min(axis=0), self.shown[around].max(axis=0)
        room = 0.05 * (high - low) + _MAPPED * np.maximum(np.abs(low), np.abs(high))
        return bool(((self.now[rows] >= low - room) & (self.now[rows] <= high + room)).all())

    # Keys that became one.

    def _groups(self, row: int, maps: Sequence[_Map], moved: Sequence[int] = ()) -> Iterator[tuple[IndexArray, _Map]]:
        """The keys, by their places among those that were written, that a key may have become one with: neighbours
        that are gone, in a row, whose mean is the key's value now by one of the maps. The key itself is among them,
        and perhaps one of those that were `moved` there from elsewhere.
        """
        source = int(self.source[row])
        if source < 0 or not self.left.any():
            return
        for gone, starts, ends in self._runs(row, source):
            sums = np.concatenate(([0.0], np.cumsum(self.shown[gone])))
            total, count = sums[ends] - sums[starts] + self.shown[source], ends - starts + 1
            size = float(np.abs(self.shown[np.append(gone, source)]).max())
            for other in (-1, *moved):
                place = int(np.searchsorted(gone, other)) if other in gone else -1
                possible = (count > 1) if other < 0 else (place < starts) | (place >= ends)
                means = (total + self.shown[other]) / (count + 1) if other >= 0 else total / count
                for each in maps:
                    for which in np.flatnonzero(possible & each.fits(self.now[[row]], means, size)).tolist():
                        group = np.append(gone[starts[which] : ends[which]], source)
                        yield (np.append(group, other) if other >= 0 else group), each

    def _runs(self, row: int, source: int) -> Iterator[tuple[IndexArray, IndexArray, IndexArray]]:
        """Keys that are gone, and of which to which of them they may have become one with a key.

        Snapping moves a key by whole frames, so often only keys that stood whole frames apart become one. Selected
        keys that were moved among others stand anywhere, but still in order among themselves.
        """
        nothing = np.zeros(1, dtype=np.intp)
        seen = set()
        for gone, stays in self._gone_beside(row, source):
            if not len(gone) or (stays, gone.tobytes()) in seen:
                continue
            seen.add((stays, gone.tobytes()))
            if len(gone) > _MOST_MERGED:
                yield gone, nothing, nothing + len(gone)
                continue
            at = int(np.searchsorted(gone, source))
            first = np.arange(at + 1 if stays else len(gone) + 1)
            last = np.arange(at if stays else 0, len(gone) + 1)
            starts, ends = (each.ravel() for each in np.meshgrid(first, last, indexing="ij"))
            in_order = starts <= ends
            yield gone, starts[in_order], ends[in_order]
        yield nothing[:0], nothing, nothing

    def _gone_beside(self, row: int, source: int) -> Iterator[tuple[IndexArray, bool]]:
        """Keys that are gone, among which those are that a key may have become one with; and whether it is in its
        place among them, and not moved among others."""
        whole = self.frames - self.frames[source]
        alike = np.abs(whole - np.round(whole)) <= SAME_FRAME
        selected = self.keys.select_control_point
        # What stood where the key came to, and was not moved, was replaced: it is in no mean.
        stood = self.left & (np.abs(self.frames - self.keys.frames[row]) <= ONE_KEY)
        for left in (self.left & ~stood, self.left) if stood.any() else (self.left,):
            for among in (np.ones_like(alike), alike) if not alike.all() else (alike,):
                gone = np.flatnonzero(left & among)
                for beside in (np.ones_like(selected), selected == selected[row]):
                    low, high = self._neighbours(row, among, beside)
                    yield gone[(gone > low) & (gone < high)], low < source < high
        # Snapping may change the order of keys that don't stand whole frames apart.
        gone = np.flatnonzero(self.left)
        for factor, offset, room in self._time_maps:
            off = np.abs(factor * self.frames[gone] + offset - self.keys.frames[row])
            yield gone[off <= max(room, _SNAP)], False

    def _neighbours(self, row: int, among: BoolArray, beside: BoolArray) -> tuple[int, int]:
        """Between which of the keys that were written, `among` these, a key stands now, by those `beside` it."""
        known = np.flatnonzero((self.source >= 0) & among[self.source] & beside)
        at = int(np.searchsorted(known, row))
        near = [int(self.source[known[place]]) for place in (at - 1, at + 1) if 0 <= place < len(known)]
        if not near:
            return -1, len(self.left)
        if len(near) == 1:
            return (near[0], len(self.left)) if near[0] < self.source[row] else (-1, near[0])
        return min(near), max(near)

    def own_values(self) -> tuple[FloatArray, BoolArray]:
        """The own values of own keys: as they stand; of one that became one with generated keys the mean of the own
        ones among them; of one that shows another value than its own, that moved by as much. And which became one."""
        values = self.keys.values.copy()
        became_one = np.zeros(len(values), dtype=np.bool_)
        own_rows = np.flatnonzero(~self.generated & (self.source >= 0))
        written = self.written[self.own[self.source[own_rows]]]
        now, shown = values[own_rows], written["co"][:, 1]
        values[own_rows] = values_without_bake(now, written)
        shifts = self.now[own_rows] - self.shown[self.source[own_rows]]
        elsewhere = (now != shown) & ((now != -shown) | (written["value"] == shown))
        for row, shift, before in zip(own_rows[elsewhere].tolist(), shifts[elsewhere], shown[elsewhere], strict=True):
            # One that moved by as much as another did not become one with any.
            alike = np.abs(shifts - shift) <= _MAPPED * max(1.0, abs(before))
            merged = self._merged_value(row) if alike.sum() == 1 else None
            if merged is not None:
                values[row], became_one[row] = merged, True
        return values, became_one

    def _merged_value(self, row: int) -> float | None:
        """The mean of the own keys in an own key that became one with generated ones; None where it did not."""
        for group, found in self._groups(row, [_SAME, *self._common_maps]):
            own = self.own[group]
            if (own < 0).any():
                return found.factor * self._own_mean(own[own >= 0]) + found.offset
        return None

    def _own_mean(self, rows: IndexArray) -> float:
        return float(self.written["value"][rows].astype(np.float64).mean())

    def swallowed(self) -> tuple[Written, IndexArray]:
        """The own keys that generated ones have swallowed, where they are now, and the rows of these."""
        found: dict[int, tuple[int, float, float]] = {}
        elsewhere: dict[int, tuple[int, float, float]] = {}
        gone = np.flatnonzero(self.left & (self.own >= 0))
        if len(gone):
            rows = np.flatnonzero(self.generated & (self.source >= 0))
            # A changed value tells most.
            changed = _differ(self.now[rows], self.before[rows])
            went_along = [each.fits(self.now[rows], self.before[rows], 0.0) for each in self._common_maps]
            likely = changed & ~np.any(went_along, axis=0) if went_along else changed
            near = self._near_gone(rows[~changed & self._can_have_moved(rows)])
            for moved in ([], self._gone_own):
                for row in (*rows[likely].tolist(), *near.tolist()):
                    missing = [each for each in moved if each not in found]
                    for which, frame, value, off in self._swallowed_by(row, missing):
                        (found if off <= 1.0 else elsewhere).setdefault(which, (row, frame, value))
        for which in gone.tolist():
            if which in found:
                continue
            taken, moved_there = self._place_taken(which)
            # Among many keys some mean is any key's by chance: one that came to its place tells more.
            if taken is not None and (moved_there or which not in elsewhere):
                found[which] = taken
                if not moved_there:
                    self.unsure.append(taken[1])
            elif which in elsewhere:
                found[which] = elsewhere[which]
        found |= self._covered_keys
        occupied = self.keys.frames[~self.generated]
        free = [which for which in found if (np.abs(occupied - found[which][1]) > ONE_KEY).all()]
        # Of two at one frame the one that was moved there replaces the one that stood there.
        order = sorted(free, key=lambda which: (found[which][1], abs(self.frames[which] - found[which][1]) <= ONE_KEY))
        result = np.zeros(len(order), dtype=OWN)
        rows = np.array([found[which][0] for which in order], dtype=np.intp)
        for at, which in enumerate(order):
            result[at]["identity"] = self.written["identity"][self.own[which]]
            result[at]["co"] = found[which][1:]
        _, first = np.unique(result["co"][:, 0], return_index=True)
        return result[first], rows[first]

    def _swallowed_by(self, row: int, moved: Sequence[int]) -> Iterator[tuple[int, float, float, float]]:
        """The own keys in a generated one, with where they are now, their mean, and how far that is from where others
        went: neighbours, or one of those that were `moved` there."""
        changed = _differ(self.now[[row]], self.before[[row]]).any()
        stays = abs(self.keys.frames[row] - self.frames[self.source[row]]) <= ONE_KEY
        if not changed and stays and not self._is_denser(row):
            return
        frame = float(self.keys.frames[row])
        best, result = (np.inf, np.inf), None
        for group, found in self._groups(row, [_SAME, *self._common_maps], moved):
            own = group[self.left[group] & (self.own[group] >= 0)]
            if not len(own):
                continue
            off = self._off(own, frame)
            rank = off, float(np.abs(self.frames[own] - frame).max())
            # Where all values are one, the mean of any is that.
            if rank < best and (changed or (np.ptp(self.shown[group]) <= self._rounding(group) and off <= 1.0)):
                best = rank
                result = int(own[0]), frame, found.factor * self._own_mean(self.own[own]) + found.offset, off
        if result is not None:
            yield result

    def _rounding(self, group: IndexArray) -> float:
        return _ROUNDING * max(1e-3, float(np.abs(self.shown[group]).max()))

    def _off(self, places: IndexArray, frame: float) -> float:
        """How far from the frame the keys are now, by what others underwent; up to 1 is there."""
        result = 2.0
        snapped = _can_be_snapped(self.frames[places], frame)
        for factor, offset, room in self._time_maps:
            # What did not move was not snapped.
            rooms = room if (factor, offset) == (1.0, 0.0) else np.where(snapped, max(room, _SNAP), ONE_KEY)
            result = min(result, float((np.abs(factor * self.frames[places] + offset - frame) / rooms).max()))
        return result

    def _near_gone(self, rows: IndexArray) -> IndexArray:
        """Of the rows those where an own key that is gone may be now, by what others underwent; the likeliest first."""
        gone = self.frames[self.left & (self.own >= 0)]
        whole = self.frames[self.source[rows], np.newaxis] - gone
        # Snapping moves by whole frames.
        unlike = np.abs(whole - np.round(whole)) > SAME_FRAME
        off = np.full(unlike.shape, np.inf)
        for factor, offset, room in self._time_maps:
            apart = np.abs(factor * gone + offset - self.keys.frames[rows, np.newaxis])
            off = np.minimum(off, apart / max(room, _SNAP))
        likely = np.where(off <= 1.0, off + unlike, np.inf).min(axis=1)
        order = np.argsort(likely, kind="stable")
        near: IndexArray = rows[order[np.isfinite(likely[order])]]
        return near

    def _can_have_moved(self, rows: IndexArray) -> BoolArray:
        """Which keys moved ones can have become one with: what Blender moved is selected until something else is."""
        chosen = self.keys.select_control_point
        known = np.flatnonzero(self.source >= 0)
        moved = known[np.abs(self.keys.frames[known] - self.frames[self.source[known]]) > ONE_KEY]
        return chosen[rows] if chosen[moved].any() else np.ones(len(rows), dtype=np.bool_)

    @cached_property
    def _gone_own(self) -> list[int]:
        """Own keys that are gone: they may have been moved anywhere."""
        gone: list[int] = np.flatnonzero(self.left & (self.own >= 0))[:_MOST_MOVED].tolist()
        return gone

    def _is_denser(self, row: int) -> bool:
        """Whether the keys beside this one have come nearer to each other than they were written."""
        for low, high in ((row - 1, row), (row, row + 1)):
            if low >= 0 and high < len(self.source) and self.source[low] >= 0 and self.source[high] >= 0:
                written = abs(self.frames[self.source[high]] - self.frames[self.source[low]])
                if abs(self.keys.frames[high] - self.keys.frames[low]) < written - ONE_KEY:
                    return True
        return False

    def _place_taken(self, which: int) -> tuple[tuple[int, float, float] | None, bool]:
        """Where a generated key that was moved took the place of an own one: the own one's place. And its row, where
        the own one was moved with it; and whether Blender is sure to have moved it there."""
        frame = self.frames[which]
        there = np.flatnonzero(self.generated & (np.abs(self.keys.frames - frame) <= ONE_KEY) & (self.source < 0))
        if len(there):
            # Pasted from elsewhere over it.
            return (-1, float(frame), float(self.written["value"][self.own[which]])), True
        found: list[tuple[bool, bool, float, int]] = []
        for factor, offset, room in self._time_maps:
            place, snapped = factor * frame + offset, _can_be_snapped(frame, self.keys.frames)
            off = np.abs(self.keys.frames - place)
            near = np.flatnonzero(self.generated & (off <= np.where(snapped, room, ONE_KEY)))
            near = near[np.argsort(~snapped[near], kind="stable")]
            before = np.where(self.source[near] >= 0, self.frames[self.source[near]], self.keys.period[near])
            # One that came there with the own one has become one with it, or was beside it.
            elsewhere = near[np.abs(factor * before + offset - place) > max(room, ONE_KEY)]
            # What Blender moved is selected yet, and stays where it meets what it did not move.
            moved = bool(self.keys.select_control_point[elsewhere].any())
            # But not every key among many that become one gets their mean.
            near = elsewhere if len(elsewhere) or not self._is_packed(factor) else near
            if len(near):
                about = self._is_about(which, factor, offset, room)
                row = -1 if (factor, offset) == (1.0, 0.0) else int(near[0])
                found.append((moved, about, float(self.keys.frames[near[0]]), row))
        if not found:
            return None, False
        moved, _, place, row = max(found, key=itemgetter(0, 1))
        return (row, place, float(self.written["value"][self.own[which]])), moved

    def _is_packed(self, factor: float) -> bool:
        """Whether keys were scaled so that many of them became one."""
        return 0.0 < factor < 1.0 and float(self.left.mean()) > (1.0 - factor) / 2.0

    @cached_property
    def _covered_keys(self) -> dict[int, tuple[int, float, float]]:
        """Own keys in whose places copies of generated ones stand, or which went because the range of these was
        replaced and not only that of the own ones among them: their own places.

        Pasting over a whole range would leave the same keys, and mean that the own ones are to go: in doubt they stay.
        """
        if not self.generated.any() or not (self._is_doubled or self._is_all_pasted):
            return {}
        frames, came_from = self.keys.frames, self.frames[self.source]
        copies = self.generated & (np.abs(self.keys.period - frames) > ONE_KEY)
        own_copies = ~self.generated & (self.source >= 0) & (np.abs(came_from - frames) > ONE_KEY)
        result = {}
        for which in np.flatnonzero(self.own >= 0).tolist():
            frame = self.frames[which]
            known = frames[self.source == which]
            stays = len(known) > 1 or (np.abs(known - frame) <= ONE_KEY).any()
            there = copies & (self.source >= 0) & (np.abs(frames - frame) <= ONE_KEY)
            replaced = _is_within(frame, frames[copies | own_copies]) and not _is_within(frame, frames[own_copies])
            if not stays and (self._is_all_pasted or there.any() or replaced):
                result[which] = (-1, float(frame), self._value_of_copy(which))
        return result

    def _value_of_copy(self, which: int) -> float:
        """The value of an own key that is covered, by that of its copy, if there is one."""
        written = float(self.written["value"][self.own[which]])
        copies = np.flatnonzero(~self.generated & (self.source == which))
        if not len(copies) or written != float(self.written["co"][self.own[which], 1]):
            return written
        return self._sign_of_copies * float(self.now[copies[0]])

    @cached_property
    def _sign_of_copies(self) -> float:
        """-1 where the keys were pasted flipped, with other values than those from which they were copied."""
        known = np.flatnonzero(self.source >= 0)
        stays = known[np.abs(self.keys.frames[known] - self.frames[self.source[known]]) <= ONE_KEY]
        copies = np.setdiff1d(known, stays)
        order = np.argsort(self.source[copies], kind="stable")
        copies = copies[order]
        twice = stays[np.isin(self.source[stays], self.source[copies])]
        beside = copies[np.searchsorted(self.source[copies], self.source[twice])]
        opposite = (self.now[twice] == -self.now[beside]) & (self.now[twice] != 0.0)
        return -1.0 if len(twice) and opposite.mean() > 0.5 else 1.0

    @property
    def covered(self) -> FloatArray:
        """The frames of own keys that others may have been meant to replace."""
        return np.array([self.frames[which] for which in self._covered_keys], dtype=np.float32)

    @cached_property
    def _is_all_pasted(self) -> bool:
        """Whether nothing is left but generated keys that were pasted: over all others."""
        return bool((self.generated & (np.abs(self.keys.frames - self.keys.period) > ONE_KEY)).all())

    @cached_property
    def _is_doubled(self) -> bool:
        """Whether keys were copied, and the first ones stand where they were written."""
        known = np.flatnonzero(self.source >= 0)
        stays = np.abs(self.keys.frames[known] - self.frames[self.source[known]]) <= ONE_KEY
        again = np.isin(self.source[known[stays]], self.source[known[~stays]])
        own = self.source[known[~self.generated[known]]]
        # One may stand there that is scaled about its own frame.
        return bool(again.any()) or len(np.unique(own)) < len(own)

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
        maps: list[tuple[float, float, float]] = []
        stays = np.abs(now - before) <= ONE_KEY
        left = ~stays
        while left.sum() >= _FEWEST:
            shifts, counts = np.unique(np.round(now[left] - before[left], 2), return_counts=True)
            half = int(left.sum()) // 2
            apart = before[left][half:] - before[left][:-half]
            factor = float(np.median((now[left][half:] - now[left][:-half]) / np.where(apart == 0, 1e-6, apart)))
            offset = float(np.median(now[left] - factor * before[left]))
            alike = left & (np.abs(factor * before + offset - now) <= _SNAP * max(1.0, abs(factor)))
            if alike.sum() >= _FEWEST:
                factor = float(np.polyfit(before[alike], now[alike], 1)[0])
            moved = now[alike] - factor * before[alike]
            low, high = (float(moved.min()), float(moved.max())) if len(moved) else (offset, offset)
            # Blender rounds by how many frames each moved. Of keys that became one the first stays: the one that was
            # rounded up furthest.
            packed = high - low > ONE_KEY and self._is_packed(factor)
            offset = high - 0.5 if packed else (low + high) / 2.0
            shift, scaling = (
                (1.0, float(shifts[np.argmax(counts)]), ONE_KEY),
                (factor, offset, _SNAP * max(1.0, abs(factor))),
            )
            every = [left & (np.abs(a * before + b - now) <= room) for a, b, room in (shift, scaling)]
            # Snapping shifts some keys of those that were scaled by as much.
            found, fits = (shift, every[0]) if 2 * every[0].sum() > every[1].sum() else (scaling, every[1])
            if fits.sum() < _FEWEST:
                break
            maps.append(found)
            left &= ~fits
        # The one about which all were scaled stays, too.
        about = [np.abs(factor * before + offset - now) <= room for factor, offset, room in maps]
        if (stays & ~np.any(about, axis=0)).any() if maps else stays.any():
            maps.insert(0, (1.0, 0.0, ONE_KEY))
        return maps
