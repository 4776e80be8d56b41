# SPDX-License-Identifier: GPL-3.0-or-later
"""What the session remembers of tables: every row that was seen, and the tracks that actions had.

So a key keeps what belongs to it where its row does not come along: pasted into another action, or moved into one with
its slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rows import NO_ROWS, Rows, joined, merge

if TYPE_CHECKING:
    from .table import Table


class Session:
    """The rows of this session, and the last tables of actions, by their `session_uid`."""

    def __init__(self) -> None:
        self._rows: Rows = NO_ROWS
        self._fresh: list[Rows] = []
        self.tables: dict[int, Table] = {}
        self.written: set[int] = set()
        """Actions of which we have written the table since somebody asked."""

    @property
    def rows(self) -> Rows:
        """All rows, in order of identity: they are put in order when asked for, those of many tables at once."""
        if self._fresh:
            self._rows, self._fresh = merge(self._rows, joined(self._fresh)), []
        return self._rows

    def remember(self, action: int, table: Table, fresh: Rows) -> None:
        """Remember the tracks of an action's table, and those of its rows that may not be known."""
        self.tables[action] = table
        if len(fresh):
            self._fresh.append(fresh)

    def forget_actions(self) -> None:
        """Forget which actions had which tracks: another file was loaded."""
        self.tables.clear()
        self.written.clear()


session = Session()
