# SPDX-License-Identifier: GPL-3.0-or-later
"""The session's memory of all rows that were read, and of each action's last table.

A key therefore keeps its parameters if it is pasted or moved with its slot into another action, even though the table
of that action lacks the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .key_identity import Identities, may_be_identities
from .record_arrays import first_of_each, joined
from .rows import NO_ROWS, ROW, Rows

_Places = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float32]
"""Parameters and velocities, shape (n, k), with NaN if not set."""


class KnownRows:
    """Rows in the order in which they were added, searchable by identity.

    The search uses a few sorted lists, each at least twice as long as the next. Thousands of actions add rows one by
    one, and sorting all rows each time would take quadratic time.
    """

    def __init__(self) -> None:
        self._rows: Rows = np.empty(1024, dtype=ROW)
        self._count = 0
        self._lists: list[tuple[Identities, _Places]] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: Any) -> Any:
        """Return the rows with the given indices, or a field of all rows."""
        rows = self._rows[: self._count]
        # `take` is twice as fast as indexing, or forty times as fast before NumPy 2.
        return rows.take(key) if isinstance(key, np.ndarray) and key.dtype == np.intp else rows[key]

    def find(self, identities: Identities) -> _Places:
        """Return the indices of the rows with these identities, or -1."""
        places = np.full(len(identities), -1, dtype=np.intp)
        if not np.count_nonzero(identities):
            return places
        remaining = np.flatnonzero(may_be_identities(identities))
        for list_identities, list_places in self._lists:
            if not len(remaining):
                break
            sought = identities[remaining]
            candidates = np.minimum(np.searchsorted(list_identities, sought), len(list_identities) - 1)
            is_match = list_identities[candidates] == sought
            places[remaining[is_match]] = list_places[candidates[is_match]]
            remaining = remaining[~is_match]
        return places

    def add(self, rows: Rows) -> None:
        """Add the rows whose identities are unknown."""
        unknown = np.flatnonzero(self.find(rows["identity"]) < 0)
        self.add_new(rows, unknown[first_of_each(rows["identity"][unknown])[1]])

    def add_new(self, rows: Rows, places: _Places) -> None:
        """Add the rows at `places`, which are sorted by identity. None of these rows may be known."""
        if not len(places):
            return
        end = self._count + len(places)
        if end > len(self._rows):
            enlarged = np.empty(max(end, 2 * len(self._rows)), dtype=ROW)
            enlarged[: self._count] = self._rows[: self._count]
            self._rows = enlarged
        np.take(rows, places, out=self._rows[self._count : end])
        self._lists.append((rows["identity"][places], np.arange(self._count, end)))
        self._count = end
        while len(self._lists) > 1 and len(self._lists[-2][0]) < 2 * len(self._lists[-1][0]):
            *self._lists, (identities, list_places), (last_identities, last_places) = self._lists
            identities = np.concatenate((identities, last_identities))
            list_places = np.concatenate((list_places, last_places))
            order = np.argsort(identities, kind="stable")
            self._lists.append((identities[order], list_places[order]))


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
