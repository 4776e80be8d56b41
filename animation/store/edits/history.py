# SPDX-License-Identifier: GPL-3.0-or-later
"""A channel's keys now, matched to those that were written, and the maps of values and of time between them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...fcurves.frames import ONE_KEY
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray, Keyframes
from ...records import record
from ..table.custom_property import Channel, Written
from ..table.identity import Identities

ROUNDING = 3e-6
"""Relative. Means and shifts of float32 values are rounded a few times."""
MAPPED = 2e-5
"""Relative. Scaling in the Graph Editor takes several float32 operations a key."""
NEARLY_ALL = 0.9
"""The fraction of the generated keys between two own ones that does not agree by chance."""
ABOUT = 3
"""Keys on each side of a key that are taken for its neighbours."""
FEWEST = 3
"""The fewest keys that give evidence of a common map: some map fits any two."""
_FITTED = 8.0
"""A map is fitted to snapped keys: by this many times 1 / keys its frames may be farther off than its tolerance."""
_MOST_MOVED = 12
"""Missing own keys that are tried as moved onto a key."""
SNAP = 0.51
"""Frames. Blender snaps each moved key separately to a whole frame."""


def differ(values: Float32Array | Float64Array, others: Float32Array | Float64Array) -> BoolArray:
    different: BoolArray = np.abs(values - others) > ROUNDING * np.maximum(1e-3, np.abs(others))
    return different


def can_be_snapped(before: Float64Array | float, now: Float32Array | float) -> BoolArray:
    """Return which frames may come from snapping: moved by whole frames, or now at whole frames."""
    shifts, frames = np.subtract(now, before), np.asarray(now)
    can_be: BoolArray = np.minimum(np.abs(shifts - np.round(shifts)), np.abs(frames - np.round(frames))) <= ONE_KEY
    return can_be


@record()
class Map:
    """A map of values: now = factor * before + offset."""

    factor: float
    offset: float

    def fits(self, now: Float64Array, before: Float64Array, size: float) -> BoolArray:
        expected = self.factor * before + self.offset
        room = ROUNDING if self == SAME else MAPPED
        near: BoolArray = np.abs(now - expected) <= room * np.maximum(np.maximum(1e-3, size), np.abs(expected))
        return near


SAME = Map(1.0, 0.0)


@record(eq=False)
class History:
    """Match a channel's keys now to those that were written."""

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

    @classmethod
    def of(cls, keys: Keyframes, identities: Identities, generated: BoolArray, channel: Channel) -> History:
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
        if not some.any() or opposite[some].mean() < NEARLY_ALL:
            return np.zeros_like(opposite)
        return opposite

    @cached_property
    def common_maps(self) -> list[Map]:
        """Return the maps of values that fit all own keys and some generated ones."""
        known = np.flatnonzero(np.isfinite(self.before))
        own = known[~self.generated[known]]
        now, before = self.now[own], self.before[own]
        if len(own) < 2 or not differ(now, before).all():
            return []
        shifts = self.now[known] - self.before[known]
        found, counts = np.unique(np.round(shifts, 4), return_counts=True)
        of_own = np.unique(np.round(now - before, 4))
        # More generated keys may have been keyed than went along.
        most = int(np.searchsorted(found, of_own[0])) if len(of_own) == 1 else int(np.argmax(counts))
        stayed = int(counts[np.abs(found) < 1e-3].sum())
        # Where more keys stayed than moved, the own keys were edited by themselves.
        if counts[most] < FEWEST or counts[most] <= stayed or abs(found[most]) < 1e-3:
            return []
        return [Map(1.0, float(np.median(shifts[np.round(shifts, 4) == found[most]])))]

    @cached_property
    def gone_own(self) -> list[int]:
        """Return the missing own keys, which may have been moved anywhere."""
        gone: list[int] = np.flatnonzero(self.left & (self.own >= 0))[:_MOST_MOVED].tolist()
        return gone

    def own_mean(self, rows: IndexArray) -> float:
        return float(self.written["value"][rows].astype(np.float64).mean())

    def is_beside_still(self, place: int) -> bool:
        """Return whether the nearest remaining key before or after this one stands where it was written."""
        known = np.flatnonzero(self.source >= 0)
        came_from = self.source[known]
        stays = np.abs(self.keys.frames[known] - self.frames[came_from]) <= ONE_KEY
        before, after = came_from[came_from < place], came_from[came_from > place]
        beside = (before.max(initial=-1), after.min(initial=len(self.frames)))
        return bool(stays[np.isin(came_from, beside)].any())

    def is_packed(self, factor: float) -> bool:
        """Return whether keys were scaled in time so that many of them were merged."""
        return 0.0 < factor < 1.0 and float(self.left.mean()) > (1.0 - factor) / 2.0

    def is_about(self, which: int, factor: float, offset: float, room: float) -> bool:
        """Return whether keys that were written beside this one are now where the map puts them."""
        known = np.flatnonzero(self.source >= 0)
        fits = np.abs(factor * self.frames[self.source[known]] + offset - self.keys.frames[known]) <= room
        return bool(np.isin(self.source[known[fits]], np.arange(which - ABOUT, which + ABOUT + 1)).any())

    @property
    def map_error(self) -> float:
        """Return how far off the maps of time may put a key, in units of their tolerance."""
        return 1.0 + _FITTED / max(1, int(np.count_nonzero(self.source >= 0)))

    @cached_property
    def time_maps(self) -> list[tuple[float, float, float]]:
        """Return the maps of frames that several keys underwent together: factor, offset and tolerance."""
        known = np.flatnonzero(self.source >= 0)
        now, before = self.keys.frames[known].astype(np.float64), self.frames[self.source[known]]
        maps: list[tuple[float, float, float]] = []
        stays = np.abs(now - before) <= ONE_KEY
        left = ~stays
        while left.sum() >= FEWEST:
            shifts, counts = np.unique(np.round(now[left] - before[left], 2), return_counts=True)
            half = int(left.sum()) // 2
            apart = before[left][half:] - before[left][:-half]
            factor = float(np.median((now[left][half:] - now[left][:-half]) / np.where(apart == 0, 1e-6, apart)))
            offset = float(np.median(now[left] - factor * before[left]))
            alike = left & (np.abs(factor * before + offset - now) <= SNAP * max(1.0, abs(factor)))
            if alike.sum() >= FEWEST:
                factor = float(np.polyfit(before[alike], now[alike], 1)[0])
            moved = now[alike] - factor * before[alike]
            low, high = (float(moved.min()), float(moved.max())) if len(moved) else (offset, offset)
            # Blender rounds the distance by which each key is moved. Of merged keys the first one stays: the one
            # rounded up furthest.
            packed = high - low > ONE_KEY and self.is_packed(factor)
            offset = high - 0.5 if packed else (low + high) / 2.0
            shift, scaling = (
                (1.0, float(shifts[np.argmax(counts)]), ONE_KEY),
                (factor, offset, SNAP * max(1.0, abs(factor))),
            )
            every = [left & (np.abs(a * before + b - now) <= room) for a, b, room in (shift, scaling)]
            # Snapping shifts some keys of the scaled ones by the same amount.
            found, fits = (shift, every[0]) if 2 * every[0].sum() > every[1].sum() else (scaling, every[1])
            if fits.sum() < FEWEST:
                break
            maps.append(found)
            left &= ~fits
        # The key about which all others were scaled does not move.
        about = [np.abs(factor * before + offset - now) <= room for factor, offset, room in maps]
        if (stays & ~np.any(about, axis=0)).any() if maps else stays.any():
            maps.insert(0, (1.0, 0.0, ONE_KEY))
        return maps
