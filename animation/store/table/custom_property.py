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
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import Any, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...errors import Finding
from ...records import record
from . import rows as rows_
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .track_records import (
    CHOICES,
    EXTRAPOLATIONS,
    OWN,
    SAVED,
    Bake,
    BakedChannel,
    Channel,
    Error,
    Fingerprint,
    Settings,
    TrackState,
    from_text,
)

HANDLES, APPROXIMATE, BAKED = 1, 2, 3
"""Values of `StoredTrack.plays`. Handles are approximate if their error exceeds the tolerances."""
_COUNTS = {
    "interpolation": 16,
    "easing": 4,
    "handle_left_type": 5,
    "handle_right_type": 5,
    "type": 8,
    "placed": 64,
    "flags": 8,
}
"""Number of possible values for each field of a key."""


@record()
class StoredTrack:
    """A track as it is stored."""

    identity: int
    slot: int
    path: str
    plays: int
    """0 for a track that is off, or else HANDLES or APPROXIMATE. Baked tracks add BAKED to the state to which Free Bake
    returns."""
    checksum: int
    """Checksum of the content."""
    content: bytes

    @classmethod
    def of(cls, state: TrackState) -> StoredTrack:
        """Return the stored form of a track."""
        plays = _plays(state)
        channels = state.channels if plays else {}
        arrays = [channel.own.tobytes() for channel in channels.values()]
        settings, error = state.settings, state.error if plays % BAKED else None
        head: dict[str, Any] = {
            "settings": {name: getattr(settings, name) for name in CHOICES},
            "digest": settings.digest,
            "options": settings.options and settings.options.text,
            "error": error and [error.size, error.frame, error.is_approximate],
            "channels": [
                [index, channel.extrapolation, channel.edited, len(channel.own)] for index, channel in channels.items()
            ],
        }
        if state.bake is not None:
            head["bake"], baked_arrays = _stored_bake(state.bake)
            arrays += baked_arrays
        line = json.dumps(head).encode()
        # The keys begin at a multiple of four bytes.
        padding = b" " * (-len(line) - 1 & 3)
        content = b"".join([line, padding, b"\n", *arrays])
        return cls(state.identity, state.slot, state.path, plays, zlib.crc32(content), content)

    @cached_property
    def state(self) -> TrackState:
        """Read the track from its content. Raise ValueError if the content is damaged."""
        if zlib.crc32(self.content) != self.checksum:
            raise ValueError("content")
        try:
            return _read_state(self)
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from error


def _plays(state: TrackState) -> int:
    """Return `StoredTrack.plays` for a track."""
    options = state.settings.options if state.bake is None else state.bake.options
    is_approximate = state.error is not None and state.error.is_approximate
    plays = 0 if options is None else APPROXIMATE if is_approximate else HANDLES
    return plays if state.bake is None else plays + BAKED


def _stored_bake(bake: Bake) -> tuple[dict[str, Any], list[bytes]]:
    """Return the stored form of a bake, and its arrays."""
    channels, arrays, places_before = [], [], b""
    for index, baked in bake.channels.items():
        written, places = baked.written, baked.written.places.tobytes()
        # The channels of a track usually have keys at the same frames.
        is_shared, places_before = places == places_before, places
        arrays += [baked.keys.tobytes(), b"" if is_shared else places]
        own = (index, baked.extrapolation, baked.rest, baked.repeats, baked.edited, len(baked.keys))
        fingerprint = (written.count, written.extrapolation, written.values, written.attributes)
        channels.append((*own, *fingerprint, None if is_shared else len(written.places)))
    return {"digest": bake.digest, "options": bake.options and bake.options.text, "channels": channels}, arrays


def _read_state(track: StoredTrack) -> TrackState:
    """Read a track. Raise KeyError, TypeError or ValueError if the content does not conform to the schema."""
    line, _, array_bytes = track.content.partition(b"\n")
    head, arrays = json.loads(line), _Arrays(array_bytes)
    for name, option in head["settings"].items():
        if option not in CHOICES[name]:
            raise ValueError(name)
    settings = Settings(**head["settings"], digest=head["digest"], options=from_text(head["options"]))
    channels = {
        index: Channel(extrapolation, edited, arrays.read(OWN, count))
        for index, extrapolation, edited, count in head["channels"]
    }
    bake = _read_bake(head["bake"], arrays) if "bake" in head else None
    error = head["error"] and Error(*head["error"])
    state = TrackState(track.identity, track.slot, track.path, settings, channels, error, bake)
    _check(state)
    return state


def _read_bake(stored: dict[str, Any], arrays: _Arrays) -> Bake:
    """Read a bake from its stored form."""
    channels, places = {}, np.empty(0, dtype=np.float32)
    for index, extrapolation, rest, repeats, edited, saved, *fingerprint, size in stored["channels"]:
        keys = arrays.read(SAVED, saved)
        places = places if size is None else arrays.read(np.float32, size)
        count, extrapolation_written, values, attributes = fingerprint
        written = Fingerprint(count, extrapolation_written, values, attributes, places)
        channels[index] = BakedChannel(keys, extrapolation, rest, repeats, written, edited)
    return Bake(channels, stored["digest"], from_text(stored["options"]))


class _Arrays:
    """A reader of consecutive arrays."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._start = 0

    def read(self, dtype: Any, count: int) -> npt.NDArray[Any]:
        """Read the next array."""
        if not count:
            return np.empty(0, dtype=dtype)
        array = np.frombuffer(self._content, dtype, count, self._start)
        self._start += array.nbytes
        return array


def _check(state: TrackState) -> None:
    """Raise ValueError or TypeError if another version or program stored values that no track has."""
    baked_channels = {} if state.bake is None else state.bake.channels
    channels: list[tuple[int, Channel | BakedChannel]] = [*state.channels.items(), *baked_channels.items()]
    for index, channel in channels:
        if index < 0 or channel.extrapolation not in EXTRAPOLATIONS or not isinstance(channel.edited, bool):
            raise ValueError("channel")
    for channel in state.channels.values():
        check_keys(channel.own)
    for baked in baked_channels.values():
        written = baked.written
        if written.count < 0 or written.extrapolation not in EXTRAPOLATIONS or not isinstance(baked.repeats, bool):
            raise ValueError("bake")
        if not math.isfinite(baked.rest or 0.0):
            raise ValueError("rest")
        check_keys(baked.keys)


def check_keys(keys: npt.NDArray[np.void]) -> None:
    """Raise ValueError if records of keys contain a number or an enum value that no key can have."""
    for name in keys.dtype.names or ():
        # The floats for Back and Elastic of the animator's keys can have any bits.
        is_free = keys.dtype == SAVED and name in ("back", "amplitude", "period")
        if keys.dtype[name].base.kind == "f" and not is_free and not np.isfinite(keys[name]).all():
            raise ValueError(name)
        if name in _COUNTS and (keys[name] >= _COUNTS[name]).any():
            raise ValueError(name)


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

    @property
    def approximate(self) -> list[str]:
        """Return the paths of tracks played by handles with an error above the tolerance."""
        return [track.path for track in self.tracks.values() if track.plays == APPROXIMATE]

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
        lowest = {"": 0, "PLAYED": HANDLES, "BAKED": BAKED}[kind]
        for track in self.tracks.values():
            yield track.slot == slot and track.path.startswith(starts) and track.plays >= lowest

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
