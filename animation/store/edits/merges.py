# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that Blender merged: the groups whose mean a key has."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np

from ...fcurves.frames import ONE_KEY, SAME_FRAME
from ...fcurves.keyframes import BoolArray, Float32Array, IndexArray
from ...records import record
from .history import MAPPED, SAME, SNAP, History, Map, differ
from .shown_values import values_without_bake

_MOST_MERGED = 128
"""Consecutive missing keys of which any part is tried as merged into a key: with more keys too many means coincide."""


@functools.lru_cache(maxsize=32)
def _all_runs(latest_start: int, earliest_end: int, count: int) -> tuple[IndexArray, IndexArray]:
    """Return the starts and ends of all runs of `count` keys that start and end no later and no earlier than given."""
    first, last = np.arange(latest_start + 1), np.arange(earliest_end, count + 1)
    starts, ends = (each.ravel() for each in np.meshgrid(first, last, indexing="ij"))
    in_order = starts <= ends
    return starts[in_order], ends[in_order]


@record(eq=False)
class Merges:
    """Find groups of written keys that may have been merged into a key, and own values of merged own keys."""

    history: History
    in_own_keys: set[int] = field(default_factory=set)
    """Own keys that `own_values` has found merged into others, by their rows among the keys that were written."""

    def groups(self, row: int, maps: Sequence[Map], moved: Sequence[int] = ()) -> Iterator[tuple[IndexArray, Map]]:
        """Yield the groups of written keys that may have been merged into a key, with the map of values.

        A group is a run of missing neighbours whose mean, mapped, is the key's value now. It includes the key itself,
        and perhaps one of the keys that were `moved` there from elsewhere. Keys are given by their rows among those
        that were written.
        """
        source = int(self.history.source[row])
        if source < 0 or not self.history.left.any():
            return
        for gone, starts, ends in self._runs(row, source):
            sums = np.concatenate(([0.0], np.cumsum(self.history.shown[gone])))
            total, count = sums[ends] - sums[starts] + self.history.shown[source], ends - starts + 1
            size = float(np.abs(self.history.shown[np.append(gone, source)]).max())
            for other in (-1, *moved):
                place = int(np.searchsorted(gone, other)) if other in gone else -1
                possible = (count > 1) if other < 0 else (place < starts) | (place >= ends)
                if not possible.any():
                    continue
                means = (total + self.history.shown[other]) / (count + 1) if other >= 0 else total / count
                for each in maps:
                    for which in np.flatnonzero(possible & each.fits(self.history.now[[row]], means, size)).tolist():
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
            if len(gone) > _MOST_MERGED or len(self.history.keys) == 1:
                # Where one key is left, all others were merged into it, whatever other means coincide.
                yield gone, nothing, nothing + len(gone)
            if len(gone) > _MOST_MERGED:
                continue
            at = int(np.searchsorted(gone, source))
            yield gone, *(_all_runs(at, at, len(gone)) if stays else _all_runs(len(gone), 0, len(gone)))
        yield nothing[:0], nothing, nothing

    def _gone_beside(self, row: int, source: int) -> Iterator[tuple[IndexArray, bool]]:
        """Yield missing keys that may have been merged into a key; and whether it is still in order among them."""
        whole = self.history.frames - self.history.frames[source]
        alike = np.abs(whole - np.round(whole)) <= SAME_FRAME
        selected = self.history.keys.select_control_point
        # What stood where the key came to, and was not moved, was replaced: it is in no mean.
        stood = self.history.left & (np.abs(self.history.frames - self.history.keys.frames[row]) <= ONE_KEY)
        stood[[place for place in np.flatnonzero(stood).tolist() if not self.history.is_beside_still(place)]] = False
        for left in (self.history.left & ~stood, self.history.left) if stood.any() else (self.history.left,):
            for among in (np.ones_like(alike), alike) if not alike.all() else (alike,):
                gone = np.flatnonzero(left & among)
                for beside in (np.ones_like(selected), selected == selected[row]):
                    low, high = self._neighbours(row, among, beside)
                    yield gone[(gone > low) & (gone < high)], low < source < high
        # Snapping may change the order of keys that are not whole frames apart.
        gone = np.flatnonzero(self.history.left)
        for factor, offset, room in self.history.time_maps:
            off = np.abs(factor * self.history.frames[gone] + offset - self.history.keys.frames[row])
            yield gone[off <= self.history.map_error * max(room, SNAP)], False

    def _neighbours(self, row: int, among: BoolArray, beside: BoolArray) -> tuple[int, int]:
        """Return the rows of the written keys, out of `among`, between which a key is now; only keys `beside` count."""
        known = np.flatnonzero((self.history.source >= 0) & among[self.history.source] & beside)
        at = int(np.searchsorted(known, row))
        near = [int(self.history.source[known[place]]) for place in (at - 1, at + 1) if 0 <= place < len(known)]
        if not near:
            return -1, len(self.history.left)
        if len(near) == 1:
            return (near[0], len(self.history.left)) if near[0] < self.history.source[row] else (-1, near[0])
        return min(near), max(near)

    def own_values(self) -> tuple[Float32Array, BoolArray]:
        """Return the own values of own keys, and which keys were merged.

        The own value is the value now; of a key merged with generated ones, the mean of the own keys among them; of a
        key whose written value was not its own, the own value changed by as much as the shown one.
        """
        values = self.history.keys.values.copy()
        became_one = np.zeros(len(values), dtype=np.bool_)
        own_rows = np.flatnonzero(~self.history.generated & (self.history.source >= 0))
        written = self.history.written[self.history.own[self.history.source[own_rows]]]
        now, shown = values[own_rows], written["co"][:, 1]
        values[own_rows] = values_without_bake(now, written)
        shifts = self.history.now[own_rows] - self.history.shown[self.history.source[own_rows]]
        elsewhere = (now != shown) & ((now != -shown) | (written["value"] == shown))
        for row, shift, before in zip(own_rows[elsewhere].tolist(), shifts[elsewhere], shown[elsewhere], strict=True):
            # A key shifted by as much as another was not merged, unless both are copies of one key.
            alike = np.abs(shifts - shift) <= MAPPED * max(1.0, abs(before))
            merged = None if differ(shown[alike], before).any() else self._merged(row)
            if merged is not None:
                group, found = merged
                own = self.history.own[group]
                values[row] = found.factor * self.history.own_mean(own[own >= 0]) + found.offset
                became_one[row] = True
                self.in_own_keys.update(group[own >= 0].tolist())
        return values, became_one

    def _merged(self, row: int) -> tuple[IndexArray, Map] | None:
        """Return the keys, own and generated ones, that were merged into an own key, with the map of values."""
        for group, found in self.groups(row, [SAME, *self.history.common_maps]):
            if (self.history.own[group] < 0).any():
                return group, found
        return None
