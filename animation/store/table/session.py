# SPDX-License-Identifier: GPL-3.0-or-later
"""The session's memory of all rows that were read, and of each action's last table.

A key therefore keeps its parameters if it is pasted or moved with its slot into another action, even though the table
of that action lacks the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .key_identity import Identities, are_assignable
from .rows import NO_ROWS, ROW, Rows, find, joined

_Places = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float32]
"""Parameters and velocities, shape (n, k), with NaN if not set."""


_MOST_RECENT = 1000
"""Number of unsorted rows, in addition to a quarter of the sorted rows, from which all rows are sorted."""


_FACTORS = np.cumprod(np.full(ROW.itemsize // 4, 0x9E3779B97F4A7C15, dtype=np.uint64))
"""Odd factors for hashes of rows, one per word."""


class KnownRows:
    """Rows in the order in which they were added, searchable by identity."""

    def __init__(self) -> None:
        self._rows: Rows = np.empty(1024, dtype=ROW)
        self._identities: Identities = np.empty(0, dtype=np.uint32)
        """Identities of rows, in ascending order."""
        self._places: _Places = np.empty(0, dtype=np.intp)
        """The index of the row with each of these identities."""
        self._recent: dict[int, int] = {}
        """The indices of the last rows by identity. Thousands of actions add rows one by one, and sorting all rows each
        time would take quadratic time."""

    def __len__(self) -> int:
        return len(self._places) + len(self._recent)

    def __getitem__(self, key: Any) -> Any:
        """Return the rows with the given indices, or a field of all rows."""
        rows = self._rows[: len(self)]
        # `take` is twice as fast as indexing, or forty times as fast before NumPy 2.
        return rows.take(key) if isinstance(key, np.ndarray) and key.dtype == np.intp else rows[key]

    def find(self, identities: Identities) -> _Places:
        """Return the indices of the rows with these identities, or -1."""
        at = find(self._identities, identities)
        places = np.where(at >= 0, self._places[at], -1) if len(self._places) else at
        if self._recent:
            remaining = np.flatnonzero((places < 0) & (identities != 0))
            places[remaining] = [self._recent.get(identity, -1) for identity in identities[remaining].tolist()]
        return places

    def add(self, rows: Rows) -> None:
        """Add the rows whose identities are unknown."""
        identities, first = np.unique(rows["identity"], return_index=True)
        self._append(rows, first[self.find(identities) < 0])

    def _append(self, rows: Rows, at: _Places) -> None:
        """Add the rows with the indices `at`, whose identities are unknown, distinct and ascending."""
        identities = rows["identity"][at]
        start, end = len(self), len(self) + len(identities)
        if end > len(self._rows):
            self._rows = np.concatenate((self._rows[:start], np.empty(end, dtype=ROW)))
        self._rows[start:end] = rows.take(at)
        if len(self._recent) + len(identities) <= _MOST_RECENT + len(self._places) // 4:
            self._recent.update(zip(identities.tolist(), range(start, end), strict=True))
            return
        # The indices of recent rows are the last before `start`, in the order of the dictionary.
        self._identities = np.concatenate((self._identities, np.fromiter(self._recent, np.uint32), identities))
        self._places = np.concatenate((self._places, np.arange(start - len(self._recent), end)))
        # The known and the added identities are sorted already, and the stable sort merges sorted runs.
        order = np.argsort(self._identities, kind="stable")
        self._identities, self._places = self._identities[order], self._places[order]
        self._recent.clear()

    def identify(self, rows: Rows) -> None:
        """Give the rows new identities, derived from their contents and from the identities of their original rows.

        The result is not random: a row with the same content and origin as a known row gets the same identity. All
        other rows become known.
        """
        words = _words(rows)
        identities, serials = np.empty(len(rows), dtype=np.uint32), np.zeros(len(rows), dtype=np.uint64)
        to_identify = np.arange(len(rows))
        while len(to_identify):
            identities[to_identify] = _hashes(words[to_identify], serials[to_identify])
            # Rows may share an identity only if they are equal.
            distinct, first, number = _distinct(identities)
            is_valid = are_assignable(identities)
            if len(distinct) < len(identities):
                is_valid &= (words == words[first[number]]).all(axis=1)
            at = self.find(distinct)
            # The first word is the identity itself.
            is_known = (at >= 0)[number]
            is_valid[is_known] &= (words[is_known, 1:] == _words(self[at[number[is_known]]])[:, 1:]).all(axis=1)
            to_identify = np.flatnonzero(~is_valid)
            serials[to_identify] += np.uint64(1)
        rows["identity"] = identities
        self._append(rows, first[at < 0])


def _distinct(identities: Identities) -> tuple[Identities, _Places, _Places]:
    """Return the distinct identities, where each is first, and the number of each row's identity among them.

    `np.unique` takes four times as long, because it always sorts equal identities in their order.
    """
    order = np.argsort(identities)
    if (identities[order[1:]] == identities[order[:-1]]).any():
        order = np.argsort(identities, kind="stable")
    in_order = identities[order]
    is_first = np.concatenate(([True], in_order[1:] != in_order[:-1]))
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.cumsum(is_first) - 1
    return in_order[is_first], order[is_first], number


def _hashes(words: npt.NDArray[np.uint32], serials: npt.NDArray[np.uint64]) -> Identities:
    """Return a hash of each row of words, shape (n,), which differs for other serial numbers."""
    # The upper half of the sum depends on all bits.
    sums = words.astype(np.uint64) @ _FACTORS + serials * _FACTORS[0]
    hashes: Identities = (sums >> np.uint64(32)).astype(np.uint32)
    return hashes


def _words(rows: Rows) -> npt.NDArray[np.uint32]:
    """Return the rows as 32-bit words, shape (n, words)."""
    return rows.view(np.uint32).reshape(len(rows), ROW.itemsize // 4)


class Substitutes(NamedTuple):
    """Parameters of keys that replace the parameters in the keys' rows during a drag."""

    rows: _Places
    """Ascending row indices."""
    numbers: Numbers
    tracks: frozenset[int]
    """Identities of the tracks with these keys."""


class Session:
    """The memory of this session: all rows, and the last table of each action by `session_uid`."""

    def __init__(self) -> None:
        self._rows = KnownRows()
        self._pending: list[Rows] = []
        """Rows of tables that were read, but not yet added."""
        self.tables: dict[int, object] = {}
        """Tables of unspecified type. See `custom_property.remembered_tables` for the type."""
        self.substitutes: dict[int, Substitutes] = {}
        """Parameters shown by drags, by the `id` of the preview."""

    @property
    def rows(self) -> KnownRows:
        """Return all rows. Rows of tables that were read since the last call are added first."""
        if self._pending:
            pending, self._pending = joined(self._pending, ROW), []
            self._rows.add(pending)
        return self._rows

    def is_shown(self, track: int) -> bool:
        """Return whether a drag shows other parameters for the track with this identity."""
        return any(track in substitutes.tracks for substitutes in self.substitutes.values())

    def remember(self, action: int, table: object, rows: Rows = NO_ROWS) -> None:
        """Store the table of an action, and the rows in it that may be unknown."""
        self.tables[action] = table
        if len(rows):
            self._pending.append(rows)

    def forget(self) -> None:
        """Discard everything, because keys of the previous file can no longer be used."""
        vars(self).update(vars(Session()))

    def forget_actions(self) -> None:
        """Discard the tables of all actions, because another file was loaded."""
        self.tables.clear()


session = Session()
