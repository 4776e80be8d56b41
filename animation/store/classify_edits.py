# SPDX-License-Identifier: GPL-3.0-or-later
"""Classification of a baked channel's keys after edits: which are the animator's, and with which values.

Own keys are recognized by identity. Three cases are decided by comparison with what the last update wrote:

- A generated key has another value than its stamp. Either the animator keyed over it, or it was moved, scaled or
  mirrored in value together with others. The latter is assumed where one map of values explains it, the generated keys
  around it and both own keys around them; otherwise the key is the animator's, and so are those shifted alike in a row
  with it.
- Blender merges selected keys that land on one frame into one with the mean of their values. An own key whose value is
  such a mean, of own and generated keys, gets the mean of the own ones.
- The key that remains of merged keys may be a generated one. A missing own key was merged into it where its value is
  the mean with the own key's, or where it was moved to the own key's frame; of equal values no mean tells, and the key
  that was the last one before it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

import numpy as np

from ..fcurves.frames import ONE_KEY, SAME_FRAME
from ..fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray, Keyframes
from .table import identity
from .table.custom_property import OWN, Channel, Written
from .table.identity import Identities
from .table.stamps import is_generated, is_stamped

_ROUNDING = 3e-6
"""Relative. Means and shifts of float32 values are rounded a few times."""
_MAPPED = 2e-5
"""Relative. Scaling in the Graph Editor takes several float32 operations a key."""
_NEARLY_ALL = 0.9
"""The fraction of the generated keys between two own ones that does not agree by chance."""
_MOST_MERGED = 128
"""Consecutive missing keys of which any part is tried as merged into a key: with more keys too many means coincide."""
_MOST_MOVED = 12
"""Missing own keys that are tried as moved onto a key."""
_ABOUT = 3
"""Keys on each side of a key that are taken for its neighbours."""
_FEWEST = 3
"""The fewest keys that give evidence of a common map: some map fits any two."""
_FITTED = 8.0
"""A map is fitted to snapped keys: by this many times 1 / keys its frames may be farther off than its tolerance."""
_SNAP = 0.51
"""Frames. Blender snaps each moved key separately to a whole frame."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The classification of the keys of one channel."""

    is_own: BoolArray
    """Which keys are the animator's."""
    values: Float32Array
    """Own values of these keys, shape (n,) for all keys."""
    promoted: BoolArray
    """Which of the animator's keys were generated."""
    merged: BoolArray
    """Keys into which others were merged: Blender set the mean value and did not move the handles."""
    returned: Written = field(default_factory=lambda: np.empty(0, dtype=OWN))
    """Own keys that were merged into generated ones or replaced by them: their identities, and `co` where they are
    now."""
    swallowed_by: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """The rows of the generated keys into which they were merged; -1: replaced by a key that was pasted or moved
    there."""
    doubtful: Float32Array = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    """Frames of promoted keys that may not be the animator's, and of returned keys that may have been deleted on
    purpose."""

    def own(self, keys: Keyframes) -> Keyframes:
        """Return the animator's keys, with their own values."""
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
    """Classify the keys of a channel; `written` is None where it was never baked, so that its stamps were pasted."""
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
    """Return whether the own keys are those that were written, with the values that were written.

    They may be where they were written, or moved, but not copied over the original ones with generated keys among them.
    """
    own = identities[is_own]
    if own.tobytes() != written.own["identity"].tobytes():
        return False
    if (keys.co[is_own] == written.own["co"]).all():
        return True
    came_from = np.sort(keys.period[~is_own])
    return bool((keys.values[is_own] == written.own["co"][:, 1]).all() and np.diff(came_from).all())


def values_without_bake(now: Float32Array, written: Written) -> Float32Array:
    """Return the own values of keys that have the values `now` on the baked curve.

    Where the curve shows another value than the key's own, the own value changes by as much as the shown one, and is
    negated where the shown one was.
    """
    shown, own = written["co"][:, 1], written["value"]
    moved = own.astype(np.float64) + (now.astype(np.float64) - shown)
    # Handles may play a quaternion negated, and an edit may leave this component unchanged.
    values = np.select([now == shown, own == shown, now == -shown, own == -shown], [own, now, -own, -now], moved)
    return values.astype(np.float32)


def _differ(values: Float32Array | Float64Array, others: Float32Array | Float64Array) -> BoolArray:
    different: BoolArray = np.abs(values - others) > _ROUNDING * np.maximum(1e-3, np.abs(others))
    return different


def _can_be_snapped(before: Float64Array | float, now: Float32Array | float) -> BoolArray:
    """Return which frames may come from snapping: moved by whole frames, or now at whole frames."""
    shifts, frames = np.subtract(now, before), np.asarray(now)
    can_be: BoolArray = np.minimum(np.abs(shifts - np.round(shifts)), np.abs(frames - np.round(frames))) <= ONE_KEY
    return can_be


def _is_within(frame: float, frames: Float32Array) -> bool:
    """Return whether a frame is in the range of others, which ascend."""
    return len(frames) > 0 and bool(frames[0] <= frame <= frames[-1])


@dataclass(frozen=True)
class _Map:
    """A map of values: now = factor * before + offset."""

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
    """A channel's keys now, matched to those that were written."""

    keys: Keyframes
    generated: BoolArray
    source: IndexArray
    """For each key its row among the keys that were written; -1: it was made or pasted since."""
    before: Float64Array
    """The value with which each key was written; NaN where it is not known."""
    frames: Float64Array
    """Frames of the keys that were written, own and generated, ascending."""
    shown: Float64Array
    """Values on the curve of the keys that were written."""
    own: IndexArray
    """For each key that was written its row in `written`; -1: it was generated."""
    written: Written
    left: BoolArray
    """Which of the keys that were written are missing now."""
    unsure: list[float] = field(default_factory=list)
    """Frames of own keys that are taken for merged, though the generated key may have been there before."""

    @classmethod
    def of(cls, keys: Keyframes, identities: Identities, generated: BoolArray, channel: Channel) -> _History:
        own, made = channel.own, channel.generated
        frames = np.concatenate((own["co"][:, 0], made["frame"]))
        order = np.argsort(frames, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        source = np.full(len(keys), -1, dtype=np.intp)
        if len(own):
            # Each identity is written once: other keys with the same identity are copies made since.
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
        """Return generated keys that were pasted flipped: nearly all pasted ones have negated values."""
        elsewhere = (self.source < 0) | (np.abs(self.keys.frames - self.keys.period) > ONE_KEY)
        pasted = self.generated & elsewhere
        opposite: BoolArray = pasted & (self.keys.values == -self.keys.back)
        some = pasted & (self.keys.back != 0.0)
        if not some.any() or opposite[some].mean() < _NEARLY_ALL:
            return np.zeros_like(opposite)
        return opposite

    # Generated keys that were keyed over.

    def keyed(self, changed: IndexArray) -> tuple[BoolArray, BoolArray]:
        """Return which of the changed generated keys are the animator's, and for which of them this is uncertain."""
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
        keyed |= self._keyed_along(changed, keyed)
        if len(changed) >= _FEWEST:
            # Many changed keys may be the result of a tool.
            return keyed, keyed
        mirrored = self.keys.select_control_point & (self.now == -self.before)
        elsewhere = np.abs(self.keys.frames - self.keys.period) > ONE_KEY
        return keyed, keyed & (mirrored | elsewhere)

    def _keyed_along(self, changed: IndexArray, keyed: BoolArray) -> BoolArray:
        """Return the changed keys in a row of keys of one shift, own ones too, of which some are `keyed`.

        Keying a row of frames shifts a segment that it spans as a whole, as moving the segment does.
        """
        shifts = self.now - self.before
        unlike = np.abs(np.diff(shifts)) > _MAPPED * float(np.abs(self.shown).max(initial=1e-3))
        row = np.concatenate(([0], np.cumsum(unlike | np.isnan(shifts[1:]) | np.isnan(shifts[:-1]))))
        along = np.zeros_like(keyed)
        along[changed] = np.isin(row[changed], row[keyed])
        return along

    @cached_property
    def _negated(self) -> BoolArray:
        """Return the selected keys if all of them, own and generated ones, were negated by a mirror in value.

        A value of 0 does not change, so a single segment may have too few keys to recognize the mirror.
        """
        chosen = self.keys.select_control_point & np.isfinite(self.before)
        told = chosen & (self.before != 0.0)
        is_mirror = told.sum() >= _FEWEST and (told & ~self.generated).any() and told[self.generated].any()
        if is_mirror and (self.now[chosen] == -self.before[chosen]).all():
            return chosen
        return np.zeros_like(chosen)

    def _explained(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> BoolArray:
        """Return which of the rows have a value that a map of their whole segment gives, merged with others or not."""
        explained = np.zeros(len(rows), dtype=np.bool_)
        maps = [_SAME, *self._maps(inside, ends), *self._common_maps]
        size = float(np.abs(self.before[inside]).max(initial=0.0))
        for number, row in enumerate(rows.tolist()):
            now, before = self.now[[row]], self.before[[row]]
            alone = any(each.fits(now, before, size).all() for each in maps if each != _SAME)
            explained[number] = alone or any(True for _ in self._groups(row, maps, self._gone_own))
        return explained

    def _maps(self, inside: IndexArray, ends: list[int]) -> Iterator[_Map]:
        """Yield the maps of values that fit both own keys around a segment and most of its generated keys."""
        rows = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        now, before = self.now[rows], self.before[rows]
        size = float(np.abs(before).max(initial=0.0))
        changed = _differ(now[len(inside) :], before[len(inside) :])
        moved = changed.all()
        # Where the own keys went along with all others nobody edited them besides.
        went_along = any(each.fits(now[len(inside) :], before[len(inside) :], size).all() for each in self._common_maps)
        if not moved and len(inside) < _FEWEST:
            # Where the own keys didn't change, some map fits any single key.
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
                # Both own keys may have been edited in addition.
                besides = most > _NEARLY_ALL and moved and not went_along
                # A map that leaves both where they are fits some others by chance.
                if (most > (0.5 if changed.any() else _NEARLY_ALL) and along.all()) or (besides and each != _SAME):
                    yield each

    @cached_property
    def _common_maps(self) -> list[_Map]:
        """Return the maps of values that fit all own keys and some generated ones."""
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
        stayed = int(counts[np.abs(found) < 1e-3].sum())
        # Where more keys stayed than moved, the own keys were edited by themselves.
        if counts[most] < _FEWEST or counts[most] <= stayed or abs(found[most]) < 1e-3:
            return []
        return [_Map(1.0, float(np.median(shifts[np.round(shifts, 4) == found[most]])))]

    def _smoothed(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> bool:
        """Return whether a tool smoothed the whole segment.

        It did where all of the segment is selected, most of it has changed, and no value lies outside the values
        written around it.
        """
        among = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        selected, segment = self.keys.select_control_point, slice(among.min(), among.max() + 1)
        if 2 * len(rows) <= len(inside) or not selected[among].all() or (self.source[segment] < 0).any():
            return False
        # An own key between selected ones was smoothed, too.
        within = [end for end in ends if 0 < end < len(selected) - 1 and selected[end - 1] and selected[end + 1]]
        shifts = self.now[rows] - self.before[rows]
        alike = np.abs(shifts - np.median(shifts)) <= _MAPPED * float(np.abs(self.shown).max(initial=1e-3))
        # The same shift for most keys, and none for the own keys, is not smoothing: the keys were keyed.
        changed = _differ(self.now, self.before)
        if not changed[within].all() or (2 * alike.sum() > len(rows) and not changed[ends].any()):
            return False
        around = np.clip(self.source[rows] + np.arange(-_ABOUT, _ABOUT + 1)[:, np.newaxis], 0, len(self.shown) - 1)
        low, high = self.shown[around].min(axis=0), self.shown[around].max(axis=0)
        room = 0.05 * (high - low) + _MAPPED * np.maximum(np.abs(low), np.abs(high))
        return bool(((self.now[rows] >= low - room) & (self.now[rows] <= high + room)).all())

    # Merged keys.

    def _groups(self, row: int, maps: Sequence[_Map], moved: Sequence[int] = ()) -> Iterator[tuple[IndexArray, _Map]]:
        """Yield the groups of written keys that may have been merged into a key, with the map of values.

        A group is a run of missing neighbours whose mean, mapped, is the key's value now. It includes the key itself,
        and perhaps one of the keys that were `moved` there from elsewhere. Keys are given by their rows among those
        that were written.
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
        """Yield missing keys, and the starts and ends of the runs among them that may have been merged into a key.

        Snapping moves keys by whole frames, so often only keys at whole distances are merged. Selected keys that were
        moved past others can be anywhere, but keep their order.
        """
        nothing = np.zeros(1, dtype=np.intp)
        seen = set()
        for gone, stays in self._gone_beside(row, source):
            if not len(gone) or (stays, gone.tobytes()) in seen:
                continue
            seen.add((stays, gone.tobytes()))
            if len(gone) > _MOST_MERGED or len(self.keys) == 1:
                # Where one key is left, all others were merged into it, whatever other means coincide.
                yield gone, nothing, nothing + len(gone)
            if len(gone) > _MOST_MERGED:
                continue
            at = int(np.searchsorted(gone, source))
            first = np.arange(at + 1 if stays else len(gone) + 1)
            last = np.arange(at if stays else 0, len(gone) + 1)
            starts, ends = (each.ravel() for each in np.meshgrid(first, last, indexing="ij"))
            in_order = starts <= ends
            yield gone, starts[in_order], ends[in_order]
        yield nothing[:0], nothing, nothing

    def _gone_beside(self, row: int, source: int) -> Iterator[tuple[IndexArray, bool]]:
        """Yield missing keys that may have been merged into a key; and whether it is still in order among them."""
        whole = self.frames - self.frames[source]
        alike = np.abs(whole - np.round(whole)) <= SAME_FRAME
        selected = self.keys.select_control_point
        # What stood where the key came to, and was not moved, was replaced: it is in no mean.
        stood = self.left & (np.abs(self.frames - self.keys.frames[row]) <= ONE_KEY)
        stood[[place for place in np.flatnonzero(stood).tolist() if not self._is_beside_still(place)]] = False
        for left in (self.left & ~stood, self.left) if stood.any() else (self.left,):
            for among in (np.ones_like(alike), alike) if not alike.all() else (alike,):
                gone = np.flatnonzero(left & among)
                for beside in (np.ones_like(selected), selected == selected[row]):
                    low, high = self._neighbours(row, among, beside)
                    yield gone[(gone > low) & (gone < high)], low < source < high
        # Snapping may change the order of keys that are not whole frames apart.
        gone = np.flatnonzero(self.left)
        for factor, offset, room in self._time_maps:
            off = np.abs(factor * self.frames[gone] + offset - self.keys.frames[row])
            yield gone[off <= self._map_error * max(room, _SNAP)], False

    def _neighbours(self, row: int, among: BoolArray, beside: BoolArray) -> tuple[int, int]:
        """Return the rows of the written keys, out of `among`, between which a key is now; only keys `beside` count."""
        known = np.flatnonzero((self.source >= 0) & among[self.source] & beside)
        at = int(np.searchsorted(known, row))
        near = [int(self.source[known[place]]) for place in (at - 1, at + 1) if 0 <= place < len(known)]
        if not near:
            return -1, len(self.left)
        if len(near) == 1:
            return (near[0], len(self.left)) if near[0] < self.source[row] else (-1, near[0])
        return min(near), max(near)

    def own_values(self) -> tuple[Float32Array, BoolArray]:
        """Return the own values of own keys, and which keys were merged.

        The own value is the value now; of a key merged with generated ones, the mean of the own keys among them; of a
        key whose written value was not its own, the own value changed by as much as the shown one.
        """
        values = self.keys.values.copy()
        became_one = np.zeros(len(values), dtype=np.bool_)
        own_rows = np.flatnonzero(~self.generated & (self.source >= 0))
        written = self.written[self.own[self.source[own_rows]]]
        now, shown = values[own_rows], written["co"][:, 1]
        values[own_rows] = values_without_bake(now, written)
        shifts = self.now[own_rows] - self.shown[self.source[own_rows]]
        elsewhere = (now != shown) & ((now != -shown) | (written["value"] == shown))
        for row, shift, before in zip(own_rows[elsewhere].tolist(), shifts[elsewhere], shown[elsewhere], strict=True):
            # A key shifted by as much as another was not merged, unless both are copies of one key.
            alike = np.abs(shifts - shift) <= _MAPPED * max(1.0, abs(before))
            merged = None if _differ(shown[alike], before).any() else self._merged_value(row)
            if merged is not None:
                values[row], became_one[row] = merged, True
        return values, became_one

    def _merged_value(self, row: int) -> float | None:
        """Return the mean of the own keys merged with generated ones into an own key; None where none were."""
        for group, found in self._groups(row, [_SAME, *self._common_maps]):
            own = self.own[group]
            if (own < 0).any():
                return found.factor * self._own_mean(own[own >= 0]) + found.offset
        return None

    def _own_mean(self, rows: IndexArray) -> float:
        return float(self.written["value"][rows].astype(np.float64).mean())

    def swallowed(self) -> tuple[Written, IndexArray]:
        """Return the own keys that were merged into generated ones, where they are now, and the rows of the latter."""
        found: dict[int, tuple[int, float, float]] = {}
        elsewhere: dict[int, tuple[int, float, float]] = {}
        gone = np.flatnonzero(self.left & (self.own >= 0))
        if len(gone):
            rows = np.flatnonzero(self.generated & (self.source >= 0))
            # A changed value is the best evidence.
            changed = _differ(self.now[rows], self.before[rows])
            went_along = [each.fits(self.now[rows], self.before[rows], 0.0) for each in self._common_maps]
            likely = changed & ~np.any(went_along, axis=0) if went_along else changed
            near = self._near_gone(rows[~changed & self._can_have_moved(rows)])
            for moved in ([], self._gone_own):
                for row in (*rows[likely].tolist(), *near.tolist()):
                    missing = [each for each in moved if each not in found]
                    for which, frame, value, off in self._swallowed_by(row, missing):
                        (found if off <= self._map_error else elsewhere).setdefault(which, (row, frame, value))
        for which in gone.tolist():
            if which in found:
                continue
            taken, moved_there = self._place_taken(which)
            # Among many keys some mean is any key's by chance: one that came to its place tells more, unless what stood
            # beside it was moved away.
            moved_there &= self._is_beside_still(which)
            if taken is not None and (moved_there or which not in elsewhere):
                found[which] = taken
                if not moved_there:
                    self.unsure.append(taken[1])
            elif which in elsewhere:
                found[which] = elsewhere[which]
            else:
                found |= self._merged_unseen(which)
        found |= self._covered_keys
        free = [which for which in found if self._is_free(which, found[which][1])]
        # Of two at one frame the one that was moved there replaces the one that stood there.
        order = sorted(free, key=lambda which: (found[which][1], abs(self.frames[which] - found[which][1]) <= ONE_KEY))
        result = np.zeros(len(order), dtype=OWN)
        rows = np.array([found[which][0] for which in order], dtype=np.intp)
        for at, which in enumerate(order):
            result[at]["identity"] = self.written["identity"][self.own[which]]
            result[at]["co"] = found[which][1:]
        _, first = np.unique(result["co"][:, 0], return_index=True)
        return result[first], rows[first]

    def _is_free(self, which: int, frame: float) -> bool:
        """Return whether no own key is at a frame, but one that was written at the frame of this one already."""
        there = self.source[~self.generated & (np.abs(self.keys.frames - frame) <= ONE_KEY)]
        return bool(((there >= 0) & (self.frames[there] == self.frames[which])).all())

    def _swallowed_by(self, row: int, moved: Sequence[int]) -> Iterator[tuple[int, float, float, float]]:
        """Yield the own key that was merged into a generated one.

        With it the frame where it is now, the mean of the own keys, and how far it is from where the maps of time put
        it. Only neighbours are tried, and the keys that may have been `moved` there.
        """
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
            # Where all values are equal, any group has the same mean.
            if rank < best and (changed or (np.ptp(self.shown[group]) <= self._rounding(group) and off <= 1.0)):
                best = rank
                result = int(own[0]), frame, found.factor * self._own_mean(self.own[own]) + found.offset, off
        if result is not None:
            yield result

    def _rounding(self, group: IndexArray) -> float:
        return _ROUNDING * max(1e-3, float(np.abs(self.shown[group]).max()))

    def _off(self, places: IndexArray, frame: float) -> float:
        """Return how far the written keys would be from the frame by the common maps of time; up to 1 is a match."""
        result = 2.0
        snapped = _can_be_snapped(self.frames[places], frame)
        for factor, offset, room in self._time_maps:
            # Keys that did not move were not snapped.
            rooms = room if (factor, offset) == (1.0, 0.0) else np.where(snapped, max(room, _SNAP), ONE_KEY)
            result = min(result, float((np.abs(factor * self.frames[places] + offset - frame) / rooms).max()))
        return result

    def _near_gone(self, rows: IndexArray) -> IndexArray:
        """Return the rows to which a missing own key may have moved by the common maps of time, likeliest first."""
        gone = self.frames[self.left & (self.own >= 0)]
        whole = self.frames[self.source[rows], np.newaxis] - gone
        # Snapping moves keys by whole frames.
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
        """Return which keys moved ones may have been merged into: Blender leaves the keys that it moved selected."""
        chosen = self.keys.select_control_point
        known = np.flatnonzero(self.source >= 0)
        moved = known[np.abs(self.keys.frames[known] - self.frames[self.source[known]]) > ONE_KEY]
        return chosen[rows] if chosen[moved].any() else np.ones(len(rows), dtype=np.bool_)

    @cached_property
    def _gone_own(self) -> list[int]:
        """Return the missing own keys, which may have been moved anywhere."""
        gone: list[int] = np.flatnonzero(self.left & (self.own >= 0))[:_MOST_MOVED].tolist()
        return gone

    def _is_denser(self, row: int) -> bool:
        """Return whether the keys beside this one are closer together than they were written."""
        for low, high in ((row - 1, row), (row, row + 1)):
            if low >= 0 and high < len(self.source) and self.source[low] >= 0 and self.source[high] >= 0:
                written = abs(self.frames[self.source[high]] - self.frames[self.source[low]])
                if abs(self.keys.frames[high] - self.keys.frames[low]) < written - ONE_KEY:
                    return True
        return False

    def _place_taken(self, which: int) -> tuple[tuple[int, float, float] | None, bool]:
        """Return where a moved or pasted generated key replaced a missing own key, and whether Blender moved it.

        The former is row, frame and own value, or None where nothing replaced it. The row is that of the generated key
        where the own key was moved with it, else -1. The latter is True only where it is certain.
        """
        frame = self.frames[which]
        there = np.flatnonzero(self.generated & (np.abs(self.keys.frames - frame) <= ONE_KEY) & (self.source < 0))
        if len(there):
            # A key pasted from elsewhere replaced it.
            return (-1, float(frame), float(self.written["value"][self.own[which]])), True
        found: list[tuple[bool, bool, float, int]] = []
        for factor, offset, room in self._time_maps:
            place, snapped = factor * frame + offset, _can_be_snapped(frame, self.keys.frames)
            off = np.abs(self.keys.frames - place)
            near = np.flatnonzero(self.generated & (off <= np.where(snapped, room, ONE_KEY)))
            near = near[np.argsort(~snapped[near], kind="stable")]
            before = np.where(self.source[near] >= 0, self.frames[self.source[near]], self.keys.period[near])
            # A key that the same map took there was merged with the own one, or was beside it.
            elsewhere = near[np.abs(factor * before + offset - place) > max(room, ONE_KEY)]
            # Keys that Blender moved are still selected, and replace keys that it did not move.
            moved = bool(self.keys.select_control_point[elsewhere].any())
            # But where many keys are merged not every one gets the mean.
            near = elsewhere if len(elsewhere) or not self._is_packed(factor) else near
            near = near if len(near) or factor == 1.0 else self._deleting(which, place)
            if len(near):
                about = self._is_about(which, factor, offset, room)
                row = -1 if (factor, offset) == (1.0, 0.0) else int(near[0])
                found.append((moved, about, float(self.keys.frames[near[0]]), row))
        if not found:
            return None, False
        moved, _, place, row = max(found, key=itemgetter(0, 1))
        return (row, place, float(self.written["value"][self.own[which]])), moved

    def _deleting(self, which: int, place: float) -> IndexArray:
        """Return the generated keys at whose frame Blender may have deleted an own key scaled to about `place`.

        Of moved keys at one frame Blender merges the second into the first, but where a key between them came to stand
        before both it deletes the first, and the second keeps its value.
        """
        frames, shifts = self.keys.frames, self.keys.frames - self.frames[which]
        known = self.source >= 0
        if not _can_be_snapped(self.frames[self.source[known]], frames[known]).all():
            # Without snapping no key passes another.
            return np.empty(0, dtype=np.intp)
        there = self.generated & self.keys.select_control_point & (self.source > which)
        there &= (np.abs(shifts - np.round(shifts)) <= ONE_KEY) & (np.abs(frames - place) <= 2.0 * _SNAP)
        rows = np.flatnonzero(there)
        after = frames[rows, np.newaxis] - frames > ONE_KEY
        between = (self.source > which) & (self.source < self.source[rows, np.newaxis])
        deleting: IndexArray = rows[(after & between).any(axis=1)]
        return deleting

    def _merged_unseen(self, which: int) -> dict[int, tuple[int, float, float]]:
        """Return where an own key may have been merged into a generated one of its value: row, frame and own value.

        That leaves no other trace than that the generated key is selected, and is where the own key was snapped to, or
        was moved and is the last one left before it: of merged keys the first one stays. The own key may have been
        deleted as well: in doubt it is kept.
        """
        frame = float(np.floor(self.frames[which] + 0.5))
        alike = self.generated & (self.source >= 0) & self.keys.select_control_point
        alike &= ~_differ(self.now, self.before) & ~_differ(self.before, self.shown[[which]])
        there = alike & (np.abs(self.keys.frames - frame) <= ONE_KEY)
        if abs(self.frames[which] - frame) <= ONE_KEY or not there.any():
            has_moved = np.abs(self.keys.frames - self.frames[self.source]) > ONE_KEY
            there = alike & has_moved & (self.source == self._flat_before(which))
        if not there.any():
            return {}
        row = int(np.argmax(there))
        frame = float(self.keys.frames[row])
        self.unsure.append(frame)
        return {which: (row, frame, float(self.written["value"][self.own[which]]))}

    def _flat_before(self, which: int) -> int:
        """Return the last key left of those written before a missing one, if all from there on have its value."""
        before = np.flatnonzero(~self.left[:which])
        place = int(before[-1]) if len(before) else which
        return which if _differ(self.shown[place:which], self.shown[[which]]).any() else place

    def _is_beside_still(self, place: int) -> bool:
        """Return whether the nearest remaining key before or after this one stands where it was written."""
        known = np.flatnonzero(self.source >= 0)
        came_from = self.source[known]
        stays = np.abs(self.keys.frames[known] - self.frames[came_from]) <= ONE_KEY
        before, after = came_from[came_from < place], came_from[came_from > place]
        beside = (before.max(initial=-1), after.min(initial=len(self.frames)))
        return bool(stays[np.isin(came_from, beside)].any())

    def _is_packed(self, factor: float) -> bool:
        """Return whether keys were scaled in time so that many of them were merged."""
        return 0.0 < factor < 1.0 and float(self.left.mean()) > (1.0 - factor) / 2.0

    @cached_property
    def _covered_keys(self) -> dict[int, tuple[int, float, float]]:
        """Return own keys that copies of generated keys replaced: row -1, frame and value by their row.

        An own key counts as replaced where a copy is at its frame, or where it is in the range of all copies, but not
        in that of the own copies. Pasting over a whole range to replace the own keys would leave the same keys: in
        doubt the own keys are kept.
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
        """Return the value of a replaced own key, by that of its copy if there is one."""
        written = float(self.written["value"][self.own[which]])
        copies = np.flatnonzero(~self.generated & (self.source == which))
        if not len(copies) or written != float(self.written["co"][self.own[which], 1]):
            return written
        return self._sign_of_copies * float(self.now[copies[0]])

    @cached_property
    def _sign_of_copies(self) -> float:
        """Return -1 where the keys were pasted flipped, with the negated values of the keys they were copied from."""
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
    def covered(self) -> Float32Array:
        """Return the frames of own keys that pasting may have been meant to replace."""
        return np.array([self.frames[which] for which in self._covered_keys], dtype=np.float32)

    @cached_property
    def _is_all_pasted(self) -> bool:
        """Return whether all keys are generated ones that were pasted over all others."""
        return bool((self.generated & (np.abs(self.keys.frames - self.keys.period) > ONE_KEY)).all())

    @cached_property
    def _is_doubled(self) -> bool:
        """Return whether keys were copied while the original ones stayed where they were written."""
        known = np.flatnonzero(self.source >= 0)
        stays = np.abs(self.keys.frames[known] - self.frames[self.source[known]]) <= ONE_KEY
        again = np.isin(self.source[known[stays]], self.source[known[~stays]])
        own = self.source[known[~self.generated[known]]]
        # A key scaled about its own frame stays there, too.
        return bool(again.any()) or len(np.unique(own)) < len(own)

    def _is_about(self, which: int, factor: float, offset: float, room: float) -> bool:
        """Return whether keys that were written beside this one are now where the map puts them."""
        known = np.flatnonzero(self.source >= 0)
        fits = np.abs(factor * self.frames[self.source[known]] + offset - self.keys.frames[known]) <= room
        return bool(np.isin(self.source[known[fits]], np.arange(which - _ABOUT, which + _ABOUT + 1)).any())

    @property
    def _map_error(self) -> float:
        """Return how far off the maps of time may put a key, in units of their tolerance."""
        return 1.0 + _FITTED / max(1, int(np.count_nonzero(self.source >= 0)))

    @cached_property
    def _time_maps(self) -> list[tuple[float, float, float]]:
        """Return the maps of frames that several keys underwent together: factor, offset and tolerance."""
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
            # Blender rounds the distance by which each key is moved. Of merged keys the first one stays: the one
            # rounded up furthest.
            packed = high - low > ONE_KEY and self._is_packed(factor)
            offset = high - 0.5 if packed else (low + high) / 2.0
            shift, scaling = (
                (1.0, float(shifts[np.argmax(counts)]), ONE_KEY),
                (factor, offset, _SNAP * max(1.0, abs(factor))),
            )
            every = [left & (np.abs(a * before + b - now) <= room) for a, b, room in (shift, scaling)]
            # Snapping shifts some keys of the scaled ones by the same amount.
            found, fits = (shift, every[0]) if 2 * every[0].sum() > every[1].sum() else (scaling, every[1])
            if fits.sum() < _FEWEST:
                break
            maps.append(found)
            left &= ~fits
        # The key about which all others were scaled does not move.
        about = [np.abs(factor * before + offset - now) <= room for factor, offset, room in maps]
        if (stays & ~np.any(about, axis=0)).any() if maps else stays.any():
            maps.insert(0, (1.0, 0.0, ONE_KEY))
        return maps
