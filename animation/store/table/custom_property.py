# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: a custom property with key rows, TCB tracks, and the animator's keys on baked tracks.

The table is saved, undone, copied, appended and linked with the action. It has these members:

- `schema`: the version of the format
- `rows`: the key rows as an array of 32-bit words, which Blender copies unchanged
- `tracks`: a JSON list with the identity, slot, path, state and checksum of each track
- `contents`: an array for each track, by identity. The array begins with a line of JSON, and the keys follow.
- `plays`: the highest state of all tracks
- `stamp`: the checksum of `rows` and `tracks`

If a table is unreadable, it is not changed, and its `error` contains the reason. If only the content of a track is
unreadable, the other tracks can be used.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import Any, cast

import bpy
import numpy as np

from ...records import record
from ...report import Finding
from ...track_paths import path_filter
from . import rows as rows_
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .stored_track import APPROXIMATE, BAKED, HANDLES, StoredTrack, check_keys
from .track_records import TrackState

PROPERTY = "tcb_animation"
SCHEMA = 2
"""Tables with another schema are rejected."""


@record(eq=False)
class Table:
    """The contents of an action's table. If the table can't be read, `error` contains the reason."""

    rows: Rows = field(default_factory=lambda: NO_ROWS)
    tracks: Mapping[int, StoredTrack] = field(default_factory=dict)
    """The tracks by their identities."""
    stamp: int = 0
    """Checksum of the stored table."""
    error: Finding | None = None
    newer: bool = False
    """True if the table can't be read because a newer version of the extension saved it."""

    @cached_property
    def identity_of(self) -> Mapping[tuple[int, str], int]:
        """Return the identity of each track, by slot and path. The content of a track may be damaged."""
        return {(track.slot, track.path): identity for identity, track in self.tracks.items()}

    @cached_property
    def inexact(self) -> frozenset[tuple[int, str]]:
        """Return the slots and paths of tracks that are off, or whose handles have an error above the tolerance."""
        return frozenset((track.slot, track.path) for track in self.tracks.values() if track.plays in (0, APPROXIMATE))

    @cached_property
    def baked(self) -> frozenset[tuple[int, str]]:
        """Return the slots and paths of the baked tracks."""
        return frozenset((track.slot, track.path) for track in self.tracks.values() if track.plays >= BAKED)

    def state(self, slot: int, path: str) -> TrackState | None:
        """Read the track with the slot and path. Raise ValueError if the track's content is damaged."""
        identity = self.identity_of.get((slot, path))
        return None if identity is None else self.tracks[identity].state

    def has_tracks(self, slot: int, starts: str | tuple[str, ...], kind: str = "") -> bool:
        """Return whether a slot has tracks whose paths start with any of the given strings.

        `kind` is "BAKED" for baked tracks only, "PLAYED" for tracks played by a bake or by handles, or "" for all
        tracks.
        """
        return any(self._are_selected(slot, starts, kind))

    def count_tracks(self, slot: int, starts: str | tuple[str, ...], kind: str = "") -> int:
        """Count the tracks of a slot, selected as in `has_tracks`."""
        return sum(self._are_selected(slot, starts, kind))

    def _are_selected(self, slot: int, starts: str | tuple[str, ...], kind: str) -> Iterator[bool]:
        """For each track, yield whether it is in the slot, has one of the paths, and is of this kind."""
        if not self.tracks:
            return
        lowest = {"": 0, "PLAYED": HANDLES, "BAKED": BAKED}[kind]
        is_chosen = path_filter((starts,) if isinstance(starts, str) else starts)
        for track in self.tracks.values():
            yield track.slot == slot and track.plays >= lowest and is_chosen(track.path)

    @property
    def has_unplaced(self) -> bool:
        """Return whether any track is played by handles that were not placed for its current keys."""
        played_by_handles = (track for track in self.tracks.values() if HANDLES <= track.plays < BAKED)
        states = (self.find_state(track.identity) for track in played_by_handles)
        return any(state is not None and not state.channels for state in states)

    def find_state(self, identity: int) -> TrackState | None:
        """Read the track with the identity. Return None if the track is missing or its content is damaged."""
        with suppress(ValueError):
            return self.tracks[identity].state if identity in self.tracks else None
        return None

    def with_tracks(self, added: Iterable[TrackState], removed: Iterable[int]) -> Table:
        """Return a table with some tracks added, and with others, given by their identities, removed.

        Tracks keep their places, so that baking an unchanged track again creates the same table, bit for bit.
        """
        added_tracks = {state.identity: StoredTrack.of(state) for state in added}
        removed = set(removed) - added_tracks.keys()
        remaining = {identity: track for identity, track in self.tracks.items() if identity not in removed}
        return Table(self.rows, remaining | added_tracks)


NO_TABLE = Table()
"""The table of an action without TCB tracks."""


def table_stamp(action: bpy.types.Action | None) -> int:
    """Return a number that changes if the action's table changes, or 0 if there is no table."""
    return 0 if action is None else _stored_number(action, "stamp")


def has_played_tracks(action: bpy.types.Action) -> bool:
    """Return whether any track of the action is played by a bake or by handles, without reading the table."""
    return _highest_state(action) >= HANDLES


def has_baked_tracks(action: bpy.types.Action) -> bool:
    """Return whether the action has baked tracks, without reading the table."""
    return _highest_state(action) >= BAKED


def _highest_state(action: bpy.types.Action) -> int:
    """Return the highest state of all tracks, or 0 if the table has none."""
    return _stored_number(action, "plays")


def _stored_number(action: bpy.types.Action, name: str) -> int:
    """Return an integer member of the action's table, or 0 if the table has no such integer."""
    stored: Any = action.get(PROPERTY)
    number = stored.get(name, 0) if hasattr(stored, "get") else 0
    return number if isinstance(number, int) else 0


def read_table(action: Any) -> Table:
    """Read the action's table. If the table is unreadable, its `error` contains the reason."""
    if PROPERTY not in action:
        return NO_TABLE
    before = remembered_tables().get(action.session_uid, NO_TABLE)
    try:
        table = _read(action[PROPERTY], before)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return Table(error=Finding("TABLE_DAMAGED", arguments=(str(error),)))
    if table is not before:
        session.remember(action.session_uid, table, table.rows)
    return table


def remembered_tables() -> dict[int, Table]:
    """Return the session's last known table of each action, by `session_uid`."""
    return cast(dict[int, Table], session.tables)


def _read(stored: Any, before: Table) -> Table:
    """Read a stored table. If its stamp has not changed, return the previous table."""
    schema = stored["schema"]
    if not isinstance(schema, int) or schema < 1:
        raise TypeError("schema")
    if schema > SCHEMA:
        return Table(error=Finding("TABLE_NEWER", arguments=(schema, SCHEMA)), newer=True)
    if schema < SCHEMA:
        raise ValueError("schema")
    stamp = stored["stamp"]
    if before is not NO_TABLE and stamp == before.stamp:
        return before
    words, index = _bytes(stored["rows"]) if "rows" in stored else b"", stored["tracks"]
    if not isinstance(index, str):
        raise TypeError("tracks")
    if stamp != _stamp(words, index):
        # Data are missing, or another program has changed them.
        raise ValueError("stamp")
    contents = dict(stored["contents"].items())
    rows = np.frombuffer(words, dtype=ROW)
    if (rows["identity"][1:] <= rows["identity"][:-1]).any():
        raise ValueError("rows")
    check_keys(rows)
    return Table(rows, _read_tracks(index, contents, before), stamp)


def _read_tracks(index: str, contents: Mapping[str, Any], before: Table) -> dict[int, StoredTrack]:
    """Return the tracks by identity. Tracks that are unchanged since `before` are reused, with their states."""
    tracks = {}
    for identity, slot, path, plays, checksum in json.loads(index):
        if not isinstance(path, str) or not path or not 0 <= plays <= BAKED + APPROXIMATE:
            raise ValueError("tracks")
        try:
            content = _bytes(contents[str(identity)])
        except (KeyError, TypeError):
            # Reading the state then fails, but the other tracks can be used.
            content = b""
        track = StoredTrack(identity, slot, path, plays, checksum, content)
        track_before = before.tracks.get(identity)
        tracks[identity] = track_before if track_before is not None and track_before == track else track
    return tracks


def _bytes(words: Any) -> bytes:
    """Return a copy of an array of 32-bit words, because Blender frees the memory with the property."""
    if getattr(words, "typecode", "") != "i":
        raise TypeError("array")
    return memoryview(words).tobytes()


def _stamp(rows: bytes | memoryview, index: str) -> int:
    """Return the checksum of a table as a signed 32-bit integer."""
    return zlib.crc32(index.encode(), zlib.crc32(rows)) - (1 << 31)


def update(
    action: bpy.types.Action, rows: Rows = NO_ROWS, states: Iterable[TrackState] = (), removed: Iterable[int] = ()
) -> Table:
    """Add rows and tracks to the action's table, and remove tracks by their identities. Return the new table.

    The action must be editable, its table must not have an error, and the session must know the rows.
    """
    before = read_table(action)
    tracks = before.with_tracks(states, removed).tracks
    return write(action, before, Table(rows_.merge(before.rows, rows), tracks))


def write(action: Any, before: Table, table: Table) -> Table:
    """Write the parts of a table that differ from `before`, which is a result of `read_table`. Return the new table.

    An empty table is removed. The rows must be known to the session.
    """
    if not table.tracks and not len(table.rows):
        remove_table(action)
        return NO_TABLE
    _remove_copy(action)
    if PROPERTY not in action:
        action[PROPERTY] = {"schema": SCHEMA, "contents": {}}
    stored = action[PROPERTY]
    if table.rows is not before.rows:
        _put(stored, "rows", table.rows.tobytes())
    contents = stored["contents"]
    for identity in before.tracks.keys() - table.tracks.keys():
        if str(identity) in contents:
            del contents[str(identity)]
    for identity, track in table.tracks.items():
        if before.tracks.get(identity) != track:
            _put(contents, str(identity), track.content)
    index = json.dumps([[t.identity, t.slot, t.path, t.plays, t.checksum] for t in table.tracks.values()])
    stored["tracks"] = index
    stored["plays"] = max((track.plays for track in table.tracks.values()), default=0)
    stored["stamp"] = stamp = _stamp(table.rows.view(np.uint8).data, index)
    table = Table(table.rows, table.tracks, stamp)
    session.remember(action.session_uid, table)
    return table


def _put(group: Any, name: str, content: bytes) -> None:
    """Store an array of 32-bit words."""
    # Blender 4.2 and 5.2 crash if a larger array replaces a smaller one.
    if name in group:
        del group[name]
    if content:
        group[name] = np.frombuffer(content, dtype=np.int32)


def remove_table(action: Any) -> None:
    """Remove the table from the action."""
    if PROPERTY in action:
        del action[PROPERTY]
    _remove_copy(action)


def _remove_copy(action: Any) -> None:
    """Remove the copy of a table that Blender 5 creates in the system properties when it loads older files."""
    get_properties = getattr(action, "bl_system_properties_get", None)
    properties = get_properties() if get_properties is not None else None
    if properties is not None and PROPERTY in properties:
        del properties[PROPERTY]
