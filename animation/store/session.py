# SPDX-License-Identifier: GPL-3.0-or-later
"""What the session remembers of tables: every row that was seen, and the tracks that actions had.

So a key keeps what belongs to it where its row does not come along: pasted into another action, or moved into one with
its slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rows import NO_ROWS, Rows, merge

if TYPE_CHECKING:
    from .table import Table


class Session:
    """The rows of this session, in order of identity, and the last tables of actions, by their `session_uid`."""

    def __init__(self) -> None:
        self.rows: Rows = NO_ROWS
        self.tables: dict[int, Table] = {}

    def remember(self, action: int, table: Table) -> None:
        """Remember the rows and the tracks of an action's table."""
        before = self.tables.get(action)
        self.tables[action] = table
        if before is None or before.rows["identity"].tobytes() != table.rows["identity"].tobytes():
            self.rows = merge(self.rows, table.rows)

    def forget_actions(self) -> None:
        """Forget which actions had which tracks: another file was loaded."""
        self.tables.clear()


session = Session()
