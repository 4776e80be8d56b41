# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated keys that were keyed over, told apart from those that moved along with others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ...fcurves.frames import ONE_KEY
from ...fcurves.keyframes import BoolArray, IndexArray
from ...records import record
from .history import FEWEST, MAPPED, NEARLY_ALL, SAME, History, Map, differ
from .merges import Merges

_REACH = 6
"""Keys on each side of a key that Gaussian Smooth of the Graph Editor takes into its mean."""


@record(eq=False)
class KeyedOver:
    """Tell which generated keys with other values are the animator's."""

    history: History
    merges: Merges

    def keyed(self, changed: IndexArray) -> tuple[BoolArray, BoolArray]:
        """Return which of the changed generated keys are the animator's, and for which of them this is uncertain."""
        keyed = np.zeros(len(self.history.keys), dtype=np.bool_)
        changed = changed[~self._negated[changed]]
        anchors = np.flatnonzero(~self.history.generated & (self.history.source >= 0))
        segment = np.searchsorted(anchors, changed)
        for each in np.unique(segment).tolist():
            rows = changed[segment == each]
            ends = [int(anchors[side]) for side in (each - 1, each) if 0 <= side < len(anchors)]
            low = ends[0] if each > 0 else -1
            high = ends[-1] if each < len(anchors) else len(self.history.keys)
            inside = np.arange(low + 1, high)
            inside = inside[self.history.generated[inside]]
            left = rows[~self._explained(rows, inside, ends)]
            if not len(left) or self._smoothed(left, inside, ends):
                continue
            keyed[left] = True
        keyed |= self._keyed_along(changed, keyed)
        own = ~self.history.generated & self.history.keys.select_control_point
        also = int(np.count_nonzero(own & differ(self.history.now, self.history.before)))
        if len(changed) + also >= FEWEST:
            # Many changed keys may be the result of a tool.
            return keyed, keyed
        mirrored = self.history.keys.select_control_point & (self.history.now == -self.history.before)
        elsewhere = np.abs(self.history.keys.frames - self.history.keys.period) > ONE_KEY
        return keyed, keyed & (mirrored | elsewhere)

    def _keyed_along(self, changed: IndexArray, keyed: BoolArray) -> BoolArray:
        """Return the changed keys in a row of generated keys of one shift, of which some are `keyed`.

        Keying a row of frames shifts a segment that it spans as a whole, as moving the segment does. Own keys in
        between may have been shifted otherwise, and generated keys between frames were not keyed.
        """
        frames, at_frames = self.history.keys.frames, np.zeros_like(keyed)
        at_frames[changed] = True
        at_frames |= np.abs(frames - np.round(frames)) <= ONE_KEY
        made = np.flatnonzero(self.history.generated & at_frames)
        shifts = (self.history.now - self.history.before)[made]
        unlike = np.abs(np.diff(shifts)) > MAPPED * float(np.abs(self.history.shown).max(initial=1e-3))
        row = np.concatenate(([0], np.cumsum(unlike | np.isnan(shifts[1:]) | np.isnan(shifts[:-1]))))
        along = np.zeros_like(keyed)
        along[made] = np.isin(row, row[keyed[made]])
        along[np.setdiff1d(made, changed)] = False
        return along

    @cached_property
    def _negated(self) -> BoolArray:
        """Return the selected keys if all of them, own and generated ones, were negated by a mirror in value.

        A value of 0 does not change, so a single segment may have too few keys to recognize the mirror.
        """
        chosen = self.history.keys.select_control_point & np.isfinite(self.history.before)
        decisive = chosen & (self.history.before != 0.0)
        is_mirror = (
            decisive.sum() >= FEWEST
            and (decisive & ~self.history.generated).any()
            and decisive[self.history.generated].any()
        )
        if is_mirror and (self.history.now[chosen] == -self.history.before[chosen]).all():
            return chosen
        return np.zeros_like(chosen)

    def _explained(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> BoolArray:
        """Return which of the rows have a value that a map of their whole segment gives, merged with others or not."""
        explained = np.zeros(len(rows), dtype=np.bool_)
        maps = [SAME, *self._maps(inside, ends), *self.history.common_maps]
        size = float(np.abs(self.history.before[inside]).max(initial=0.0))
        for number, row in enumerate(rows.tolist()):
            now, before = self.history.now[[row]], self.history.before[[row]]
            alone = any(each.fits(now, before, size).all() for each in maps if each != SAME)
            explained[number] = alone or any(True for _ in self.merges.groups(row, maps, self.history.gone_own))
        return explained

    def _maps(self, inside: IndexArray, ends: list[int]) -> Iterator[Map]:
        """Yield the maps of values that fit both own keys around a segment and most of its generated keys."""
        rows = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        now, before = self.history.now[rows], self.history.before[rows]
        size = float(np.abs(before).max(initial=0.0))
        changed = differ(now[len(inside) :], before[len(inside) :])
        moved = changed.all()
        # Where the own keys went along with all others nobody edited them besides.
        went_along = any(
            each.fits(now[len(inside) :], before[len(inside) :], size).all() for each in self.history.common_maps
        )
        if not moved and len(inside) < FEWEST:
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
                candidates = [Map(float(factor), float(now[low] - factor * before[low]))]
            else:
                candidates = [Map(1.0, float(now[low] - before[low])), Map(-1.0, float(now[low] + before[low]))]
            for each in candidates:
                fits = each.fits(now, before, size)
                along, most = fits[len(inside) :], float(fits[: len(inside)].mean()) if len(inside) else 0.0
                # Both own keys may have been edited in addition.
                besides = most > NEARLY_ALL and moved and not went_along
                # A map that leaves both where they are fits some others by chance.
                if (most > (0.5 if changed.any() else NEARLY_ALL) and along.all()) or (besides and each != SAME):
                    yield each

    def _smoothed(self, rows: IndexArray, inside: IndexArray, ends: list[int]) -> bool:
        """Return whether a tool smoothed the whole segment.

        It did where all of the segment is selected, most of it has changed, and no value lies outside the values
        written around it.
        """
        among = np.concatenate((inside, np.array(ends, dtype=np.intp)))
        selected, segment = self.history.keys.select_control_point, slice(among.min(), among.max() + 1)
        if 2 * len(rows) <= len(inside) or not selected[among].all() or (self.history.source[segment] < 0).any():
            return False
        # An own key between selected ones was smoothed, too.
        within = [end for end in ends if 0 < end < len(selected) - 1 and selected[end - 1] and selected[end + 1]]
        shifts = self.history.now[rows] - self.history.before[rows]
        alike = np.abs(shifts - np.median(shifts)) <= MAPPED * float(np.abs(self.history.shown).max(initial=1e-3))
        # The same shift for most keys, and none for the own keys, is not smoothing: the keys were keyed.
        changed = differ(self.history.now, self.history.before)
        if not changed[within].all() or (2 * alike.sum() > len(rows) and not changed[ends].any()):
            return False
        around = np.clip(
            self.history.source[rows] + np.arange(-_REACH, _REACH + 1)[:, np.newaxis], 0, len(self.history.shown) - 1
        )
        low, high = self.history.shown[around].min(axis=0), self.history.shown[around].max(axis=0)
        room = 0.05 * (high - low) + MAPPED * np.maximum(np.abs(low), np.abs(high))
        return bool(((self.history.now[rows] >= low - room) & (self.history.now[rows] <= high + room)).all())
