# SPDX-License-Identifier: GPL-3.0-or-later
"""Own keys that were merged into generated ones, or replaced by them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from operator import itemgetter

import numpy as np

from ...fcurves.frames import ONE_KEY, SAME_FRAME
from ...fcurves.keyframes import BoolArray, IndexArray
from ...records import record
from ..table.custom_property import OWN, Written
from .copies import Copies
from .history import ROUNDING, SAME, SNAP, History, can_be_snapped, differ
from .merges import Merges

_Places = dict[int, tuple[int, float, float]]
"""Of own keys, by their rows among the keys that were written: the row of the key now, frame and value."""


@record(eq=False)
class Returned:
    """Where the missing own keys of a channel are now."""

    history: History
    merges: Merges
    copies: Copies
    unsure: list[float] = field(default_factory=list)
    """Frames of own keys that are taken for merged, though the generated key may have been there before."""
    incomplete: list[float] = field(default_factory=list)
    """Frames of own keys whose value may lack that of another own key, which was moved there."""

    def swallowed(self) -> tuple[Written, IndexArray]:
        """Return the own keys that were merged into generated ones, where they are now, and the rows of the latter."""
        gone = np.flatnonzero(self.history.left & (self.history.own >= 0)).tolist()
        found, elsewhere, in_means = self._in_means() if gone else ({}, {}, set(self.merges.in_own_keys))
        for which in gone:
            if which in found:
                continue
            taken, moved_there = self._place_taken(which)
            # Among many keys some mean is any key's by chance: one that came to its place tells more, unless what stood
            # beside it was moved away.
            moved_there &= self.history.is_beside_still(which)
            if taken is not None and (moved_there or which not in elsewhere):
                found[which] = taken
                if not moved_there or self._passes_over(which):
                    self.unsure.append(taken[1])
            elif which in elsewhere:
                # Far from where it can have moved; some mean is any key's by chance.
                if which not in in_means:
                    found[which] = elsewhere[which]
            else:
                found |= self._merged_unseen(which)
        self.incomplete.extend(self._own_deleting({*gone} - found.keys() - in_means))
        return self._one_a_frame(found | self.copies.covered_keys)

    def _in_means(self) -> tuple[_Places, _Places, set[int]]:
        """Return the own keys that are in the values of generated ones: those near where maps put them, and the others.

        With them the own keys that are in such a mean beside another own key.
        """
        found: _Places = {}
        elsewhere: _Places = {}
        in_means = set(self.merges.in_own_keys)
        rows = np.flatnonzero(self.history.generated & (self.history.source >= 0))
        # A changed value is the best evidence.
        changed = differ(self.history.now[rows], self.history.before[rows])
        went_along = [
            each.fits(self.history.now[rows], self.history.before[rows], 0.0) for each in self.history.common_maps
        ]
        likely = changed & ~np.any(went_along, axis=0) if went_along else changed
        near = self._near_gone(rows[~changed & self._can_have_moved(rows)])
        for moved in ([], self.history.gone_own):
            for row in (*rows[likely].tolist(), *near.tolist()):
                missing = [each for each in moved if each not in found]
                for own, frame, value, off in self._swallowed_by(row, missing):
                    is_near = off <= self.history.map_error
                    (found if is_near else elsewhere).setdefault(int(own[0]), (row, frame, value))
                    in_means.update(own[1:].tolist() if is_near or not moved else ())
        return found, elsewhere, in_means

    def _one_a_frame(self, found: _Places) -> tuple[Written, IndexArray]:
        """Return the found keys as they are written, one a frame, and the rows of the keys that swallowed them.

        Keys of different values that stood on one frame come back together: the animator put one over the other.
        """
        free = [which for which in found if self._is_free(which, found[which][1])]
        stood = {which: abs(self.history.frames[which] - found[which][1]) <= ONE_KEY for which in free}
        # Of two at one frame the one that was moved there replaces the one that stood there.
        order = sorted(free, key=lambda which: (found[which][1], stood[which]))
        result = np.zeros(len(order), dtype=OWN)
        rows = np.array([found[which][0] for which in order], dtype=np.intp)
        for at, which in enumerate(order):
            result[at]["identity"] = self.history.written["identity"][self.history.own[which]]
            _, frame, value = found[which]
            result[at]["co"] = self._unmerged_frame(which, frame), value
        kept: list[int] = []
        for at, which in enumerate(order):
            beside = [other for other in kept if result["co"][other, 0] == result["co"][at, 0]]
            stacked = stood[which] and all(stood[order[other]] for other in beside)
            if not beside or (stacked and differ(result["co"][beside, 1], result["co"][at, 1]).all()):
                kept.append(at)
        return result[kept], rows[kept]

    def _unmerged_frame(self, which: int, frame: float) -> float:
        """Return where a map of time puts an own key that was merged into one at about that frame, without snapping."""
        if abs(frame - round(frame)) > SAME_FRAME:
            for factor, offset, _ in self.history.time_maps:
                place = factor * float(self.history.frames[which]) + offset
                if abs(place - frame) <= ONE_KEY:
                    return place
        return frame

    def _is_free(self, which: int, frame: float) -> bool:
        """Return whether no own key is at a frame, but one that was written at the frame of this one already."""
        there = self.history.source[~self.history.generated & (np.abs(self.history.keys.frames - frame) <= ONE_KEY)]
        return bool(((there >= 0) & (self.history.frames[there] == self.history.frames[which])).all())

    def _swallowed_by(self, row: int, moved: Sequence[int]) -> Iterator[tuple[IndexArray, float, float, float]]:
        """Yield the own keys that were merged into a generated one, by their rows among the keys that were written.

        With them the frame where they are now, their mean, and how far it is from where the maps of time put them. Only
        neighbours are tried, and the keys that may have been `moved` there.
        """
        changed = differ(self.history.now[[row]], self.history.before[[row]]).any()
        stays = abs(self.history.keys.frames[row] - self.history.frames[self.history.source[row]]) <= ONE_KEY
        if not changed and stays and not self._is_denser(row):
            return
        frame = float(self.history.keys.frames[row])
        best, result, needs_own = (True, True, np.inf, np.inf), None, True
        for group, found in self.merges.groups(row, [SAME, *self.history.common_maps], moved):
            own = group[self.history.left[group] & (self.history.own[group] >= 0)]
            if not len(own):
                needs_own &= self._off(group, frame) > self.history.map_error
                continue
            off = self._off(own, frame)
            is_far = off > self.history.map_error
            far = float(np.abs(self.history.frames[own] - frame).max())
            rank = is_far, is_far and not self._is_complete(group), off, far
            # Where all values are equal, any group has the same mean.
            if rank < best and (
                changed
                or (np.ptp(self.history.shown[group]) <= self._rounding(group) and off <= self.history.map_error)
            ):
                best = rank
                result = (
                    own,
                    frame,
                    found.factor * self.history.own_mean(self.history.own[own]) + found.offset,
                    off,
                )
        # Where generated keys that came there have that mean, an own one from far away has it by chance.
        if result is not None and (needs_own or result[-1] <= self.history.map_error or best[-1] <= SNAP):
            yield result

    def _is_complete(self, group: IndexArray) -> bool:
        """Return whether a group is a key that is still there and all that were written up to the next such one.

        Of merged keys the first one stays: tools that merge all keys, such as snapping to seconds, leave such groups.
        """
        first, last = int(group.min()), int(group.max())
        is_followed = last + 1 == len(self.history.left) or not self.history.left[last + 1]
        return is_followed and len(group) == last + 1 - first and not self.history.left[first]

    def _rounding(self, group: IndexArray) -> float:
        return ROUNDING * max(1e-3, float(np.abs(self.history.shown[group]).max()))

    def _off(self, places: IndexArray, frame: float) -> float:
        """Return how far the written keys would be from the frame by the common maps of time; up to 1 is a match."""
        result = np.inf
        snapped = can_be_snapped(self.history.frames[places], frame)
        for factor, offset, room in self.history.time_maps:
            # Keys that did not move were not snapped.
            rooms = room if (factor, offset) == (1.0, 0.0) else np.where(snapped, max(room, SNAP), ONE_KEY)
            result = min(result, float((np.abs(factor * self.history.frames[places] + offset - frame) / rooms).max()))
        return result

    def _near_gone(self, rows: IndexArray) -> IndexArray:
        """Return the rows to which a missing own key may have moved by the common maps of time, likeliest first."""
        gone = self.history.frames[self.history.left & (self.history.own >= 0)]
        whole = self.history.frames[self.history.source[rows], np.newaxis] - gone
        # Snapping moves keys by whole frames.
        unlike = np.abs(whole - np.round(whole)) > SAME_FRAME
        off = np.full(unlike.shape, np.inf)
        for factor, offset, room in self.history.time_maps:
            apart = np.abs(factor * gone + offset - self.history.keys.frames[rows, np.newaxis])
            off = np.minimum(off, apart / max(room, SNAP))
        likely = np.where(off <= self.history.map_error, off + unlike, np.inf).min(axis=1)
        order = np.argsort(likely, kind="stable")
        near: IndexArray = rows[order[np.isfinite(likely[order])]]
        return near

    def _can_have_moved(self, rows: IndexArray) -> BoolArray:
        """Return which keys moved ones may have been merged into: Blender leaves the keys that it moved selected."""
        chosen = self.history.keys.select_control_point
        known = np.flatnonzero(self.history.source >= 0)
        moved = known[
            np.abs(self.history.keys.frames[known] - self.history.frames[self.history.source[known]]) > ONE_KEY
        ]
        return chosen[rows] if chosen[moved].any() else np.ones(len(rows), dtype=np.bool_)

    def _is_denser(self, row: int) -> bool:
        """Return whether the keys beside this one are closer together than they were written."""
        for low, high in ((row - 1, row), (row, row + 1)):
            if (
                low >= 0
                and high < len(self.history.source)
                and self.history.source[low] >= 0
                and self.history.source[high] >= 0
            ):
                written = abs(
                    self.history.frames[self.history.source[high]] - self.history.frames[self.history.source[low]]
                )
                if abs(self.history.keys.frames[high] - self.history.keys.frames[low]) < written - ONE_KEY:
                    return True
        return False

    def _place_taken(self, which: int) -> tuple[tuple[int, float, float] | None, bool]:
        """Return where a moved or pasted generated key replaced a missing own key, and whether Blender moved it.

        The former is row, frame and own value, or None where nothing replaced it. The row is that of the generated key
        where the own key was moved with it, else -1. The latter is True only where it is certain.
        """
        frame = self.history.frames[which]
        there = np.flatnonzero(
            self.history.generated & (np.abs(self.history.keys.frames - frame) <= ONE_KEY) & (self.history.source < 0)
        )
        if len(there):
            # A key pasted from elsewhere replaced it.
            return (-1, float(frame), float(self.history.written["value"][self.history.own[which]])), True
        found: list[tuple[bool, bool, float, int]] = []
        for factor, offset, room in self.history.time_maps:
            place, snapped = factor * frame + offset, can_be_snapped(frame, self.history.keys.frames)
            off = np.abs(self.history.keys.frames - place)
            near = np.flatnonzero(self.history.generated & (off <= np.where(snapped, room, ONE_KEY)))
            near = near[np.argsort(~snapped[near], kind="stable")]
            before = np.where(
                self.history.source[near] >= 0,
                self.history.frames[self.history.source[near]],
                self.history.keys.period[near],
            )
            # A key that the same map took there was merged with the own one, or was beside it.
            elsewhere = near[np.abs(factor * before + offset - place) > max(room, ONE_KEY)]
            # Keys that Blender moved are still selected, and replace keys that it did not move.
            moved = bool(self.history.keys.select_control_point[elsewhere].any())
            # But where many keys are merged not every one gets the mean.
            near = elsewhere if len(elsewhere) or not self.history.is_packed(factor) else near
            near = near if len(near) or factor == 1.0 else self._deleting(which, place, self.history.generated)
            near = near if len(near) or factor == 1.0 else self._beside_three(which, factor, offset)
            if len(near):
                about = self.history.is_about(which, factor, offset, room)
                row = -1 if (factor, offset) == (1.0, 0.0) else int(near[0])
                found.append((moved, about, float(self.history.keys.frames[near[0]]), row))
        if not found:
            return None, False
        moved, _, place, row = max(found, key=itemgetter(0, 1))
        return (row, place, float(self.history.written["value"][self.history.own[which]])), moved

    def _beside_three(self, which: int, factor: float, offset: float) -> IndexArray:
        """Return the generated keys that stand where a missing own key was scaled to, beside another that is missing.

        Of two moved keys at one frame the one left has the mean, but of three it may have its own value alone.
        """
        place = factor * self.history.frames[which] + offset
        gone = np.flatnonzero(self.history.left)
        near = np.abs(factor * self.history.frames[gone] + offset - place) <= ONE_KEY
        if not (near & (gone != which)).any():
            return gone[:0]
        there = self.history.generated & self.history.keys.select_control_point
        return np.flatnonzero(there & (np.abs(self.history.keys.frames - place) <= ONE_KEY))

    def _passes_over(self, which: int) -> bool:
        """Return whether the key written next to a missing one has moved past its place.

        The missing one may have moved with it, onto a generated key that stayed: the same keys would be left.
        """
        known = np.flatnonzero(self.history.source >= 0)
        came_from, frames = self.history.source[known], self.history.keys.frames[known]
        frame = self.history.frames[which]
        after = frames[came_from == came_from[came_from > which].min(initial=len(self.history.frames))]
        before = frames[came_from == came_from[came_from < which].max(initial=-1)]
        return bool((after < frame).any() or (before > frame).any())

    def _own_deleting(self, missing: Collection[int]) -> list[float]:
        """Return the frames of own keys at which Blender may have deleted missing ones that were scaled to there."""
        own = ~self.history.generated
        rows = [
            self._deleting(which, factor * self.history.frames[which] + offset, own)
            for which in missing
            for factor, offset, _ in self.history.time_maps
            if factor != 1.0
        ]
        return [float(frame) for each in rows for frame in self.history.keys.frames[each]]

    def _deleting(self, which: int, place: float, among: BoolArray) -> IndexArray:
        """Return the keys, `among` some, at whose frame Blender may have deleted an own key scaled to about `place`.

        Of moved keys at one frame Blender merges the second into the first, but where a key between them came to stand
        before both it deletes the first, and the second keeps its value.
        """
        frames, shifts = self.history.keys.frames, self.history.keys.frames - self.history.frames[which]
        known = self.history.source >= 0
        if not can_be_snapped(self.history.frames[self.history.source[known]], frames[known]).all():
            # Without snapping no key passes another.
            return np.empty(0, dtype=np.intp)
        there = among & self.history.keys.select_control_point & (self.history.source > which)
        there &= (np.abs(shifts - np.round(shifts)) <= ONE_KEY) & (np.abs(frames - place) <= 2.0 * SNAP)
        rows = np.flatnonzero(there)
        after = frames[rows, np.newaxis] - frames > ONE_KEY
        between = (self.history.source > which) & (self.history.source < self.history.source[rows, np.newaxis])
        deleting: IndexArray = rows[(after & between).any(axis=1)]
        return deleting

    def _merged_unseen(self, which: int) -> dict[int, tuple[int, float, float]]:
        """Return where an own key may have been merged into a generated one of its value: row, frame and own value.

        That leaves no other trace than that the generated key is selected, and is where the own key was snapped to, or
        was moved, or moved to, and is the last one left before it: of merged keys the first one stays. The own key may
        have been deleted as well: in doubt it is kept.
        """
        frame = float(np.floor(self.history.frames[which] + 0.5))
        alike = self.history.generated & (self.history.source >= 0) & self.history.keys.select_control_point
        alike &= ~differ(self.history.now, self.history.before) & ~differ(
            self.history.before, self.history.shown[[which]]
        )
        there = alike & (np.abs(self.history.keys.frames - frame) <= ONE_KEY)
        if abs(self.history.frames[which] - frame) <= ONE_KEY or not there.any():
            has_moved = np.abs(self.history.keys.frames - self.history.frames[self.history.source]) > ONE_KEY
            before = self._flat_before(which)
            # Deleted keys leave no selected one: where generated keys went too, all were moved to one that stood there.
            has_moved |= bool((self.history.own[before + 1 : which] < 0).any())
            there = alike & has_moved & (self.history.source == before)
        if not there.any():
            return {}
        row = int(np.argmax(there))
        frame = float(self.history.keys.frames[row])
        self.unsure.append(frame)
        return {which: (row, frame, float(self.history.written["value"][self.history.own[which]]))}

    def _flat_before(self, which: int) -> int:
        """Return the last key left of those written before a missing one, if all from there on have its value."""
        before = np.flatnonzero(~self.history.left[:which])
        place = int(before[-1]) if len(before) else which
        return which if differ(self.history.shown[place:which], self.history.shown[[which]]).any() else place
