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
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

import bpy
import numpy as np
import numpy.typing as npt

from ...errors import Finding
from ...records import record
from . import rows as rows_
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .settings import CHOICES, Settings
from .stored_bake_options import Options, from_text

PROPERTY = "tcb_animation"
SCHEMA = 2
"""Tables with another schema are rejected."""

OWN = np.dtype(
    [
        ("identity", "<u4"),
        ("co", "<f4", (2,)),
        ("value", "<f4"),
        ("handle_left", "<f4", (2,)),
        ("handle_right", "<f4", (2,)),
        ("interpolation", "u1"),
        ("handle_left_type", "u1"),
        ("handle_right_type", "u1"),
        ("placed", "u1"),
    ]
)
"""One of the animator's keys with placed handles. `value` is the animator's value. `co` is the position on the curve,
which may have an equivalent value for the same orientation. `placed` contains flags of placed handles: 1 left, 2 right,
4 and 8 outside all keys, and NEGATED and COUPLED."""
NEGATED = np.uint8(16)
"""The value on the curve is the negated value or, for an angle, a multiple of pi minus the value."""
COUPLED = np.uint8(32)
"""The key on the curves has the negated quaternion or axis, or the other Euler solution, in all channels together."""
WRITTEN = ("co", "handle_left", "handle_right", "interpolation", "handle_left_type", "handle_right_type")
"""Fields of OWN that a key on the curve has as well."""
SAVED = np.dtype(
    [
        ("co", "<f4", (2,)),
        ("handle_left", "<f4", (2,)),
        ("handle_right", "<f4", (2,)),
        ("back", "<f4"),
        ("amplitude", "<f4"),
        ("period", "<f4"),
        ("handle_left_type", "u1"),
        ("handle_right_type", "u1"),
        ("interpolation", "u1"),
        ("easing", "u1"),
        ("type", "u1"),
        ("flags", "u1"),
        ("unused", "u1", (2,)),
    ]
)
"""One of the animator's keys on a baked track, with all attributes. `flags` contains one bit per selection flag."""
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
Extrapolation = Literal["CONSTANT", "LINEAR"]
_EXTRAPOLATIONS = get_args(Extrapolation)
Written = npt.NDArray[np.void]
"""Records of dtype OWN, ordered by frame."""
SavedKeys = npt.NDArray[np.void]
"""Records of dtype SAVED, ordered by frame."""
Places = npt.NDArray[np.float32]


@record(eq=False)
class Channel:
    """The animator's keys in a channel, as they were when their handles were placed."""

    extrapolation: Extrapolation
    edited: bool
    """True if keys were added, deleted or moved since they were recorded, so that Blender must update automatic
    handles."""
    own: Written


@record(eq=False)
class Fingerprint:
    """The contents of a baked channel, as far as they affect playback. See `store/edited_outside.py`."""

    count: int
    """Number of keys."""
    extrapolation: Extrapolation
    values: int
    """Checksum of the values, including handles of Bezier segments."""
    attributes: int
    """Checksum of the interpolation and the identities."""
    places: Places
    """Frames of the keys, and of the left and right handles of Bezier segments."""


@record(eq=False)
class BakedChannel:
    """A channel of a baked track: the animator's keys, which Free Bake restores, and the content that was written."""

    keys: SavedKeys
    """The animator's keys with all attributes. Empty if the bake created the F-curve."""
    extrapolation: Extrapolation
    """The animator's extrapolation."""
    rest: float | None
    """Value of the property before a bake created the F-curve. If None, the animator created the F-curve."""
    repeats: bool
    """True if our Cycles modifier repeats the animator's keys."""
    written: Fingerprint
    edited: bool = False
    """True if keys were added, deleted or moved during the bake, so that Blender must update automatic handles."""


@record(eq=False)
class Bake:
    """The bake of a track."""

    channels: Mapping[int, BakedChannel]
    """Baked channels by index."""
    digest: int
    """Digest of the state to which Free Bake returns."""
    options: Options | None
    """Options of the state to which Free Bake returns, if handles play the track in that state. If None, the track is
    off."""


@record()
class Error:
    """The maximum error of the F-curves that play a track."""

    size: float
    """The error in the property's units, or in radians for rotations."""
    frame: float
    """Frame of the maximum error, or NaN if there was nothing to play."""
    is_approximate: bool
    """True if the error exceeds the tolerance."""


@record(eq=False)
class TrackState:
    """A TCB track: its settings, and its playback data."""

    identity: int
    slot: int
    path: str
    settings: Settings = field(default_factory=Settings)
    channels: Mapping[int, Channel] = field(default_factory=dict)
    """Channels with placed handles, by index. For a baked track, the records are from before the bake. Empty if handles
    don't play the track, or if keys have changed during the bake."""
    error: Error | None = None
    """Maximum error of handles. If None, handles don't play the track."""
    bake: Bake | None = None
    """The bake. If None, the track is not baked."""


@record()
class StoredTrack:
    """A track as it is stored."""

    identity: int
    slot: int
    path: str
    plays: int
    """0 for a track that is off, 1 for handles, and 2 for handles whose error exceeds the tolerances. Baked tracks add
    3 to the state to which Free Bake returns."""
    checksum: int
    """Checksum of the content."""
    content: bytes

    @cached_property
    def state(self) -> TrackState:
        """Read the track from its content. Raise ValueError if the content is damaged."""
        if zlib.crc32(self.content) != self.checksum:
            raise ValueError("content")
        try:
            return _state(self)
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from error


_HANDLES, _APPROXIMATE, _BAKED = 1, 2, 3


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
        return [track.path for track in self.tracks.values() if track.plays == _APPROXIMATE]

    @cached_property
    def baked(self) -> frozenset[tuple[int, str]]:
        """Return the slots and paths of the baked tracks."""
        return frozenset((track.slot, track.path) for track in self.tracks.values() if track.plays >= _BAKED)

    def state(self, slot: int, path: str) -> TrackState | None:
        """Read the track with the slot and path. Raise ValueError if the track's content is damaged."""
        identity = self.identity_of.get((slot, path))
        return None if identity is None else self.tracks[identity].state

    def has_tracks(self, slot: int, starts: str | tuple[str, ...], kind: str = "") -> bool:
        """Return whether a slot has tracks whose paths start with any of the given strings.

        `kind` is "BAKED" for baked tracks only, "PLAYED" for tracks played by a bake or by handles, or "" for all
        tracks.
        """
        return any(self._plays(slot, starts, kind))

    def count_tracks(self, slot: int, starts: str | tuple[str, ...], kind: str = "") -> int:
        """Count the tracks of a slot, selected as in `has_tracks`."""
        return sum(self._plays(slot, starts, kind))

    def _plays(self, slot: int, starts: str | tuple[str, ...], kind: str) -> Iterator[bool]:
        """For each track, yield whether it is in the slot, has one of the paths, and is of this kind."""
        least = {"": 0, "PLAYED": 1, "BAKED": _BAKED}[kind]
        for track in self.tracks.values():
            yield track.slot == slot and track.path.startswith(starts) and track.plays >= least

    @property
    def has_unplaced(self) -> bool:
        """Return whether any track is played by handles that were not placed for its current keys."""
        by_handles = (track for track in self.tracks.values() if 0 < track.plays < _BAKED)
        states = (self.find_state(track.identity) for track in by_handles)
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
        fresh = {state.identity: _stored(state) for state in added}
        gone = set(removed) - fresh.keys()
        return Table(self.rows, {key: track for key, track in self.tracks.items() if key not in gone} | fresh)


NO_TABLE = Table()
"""The table of an action without TCB tracks."""


def table_stamp(action: bpy.types.Action | None) -> int:
    """Return a number that changes if the action's table changes, or 0 if there is no table."""
    stored: Any = None if action is None else action.get(PROPERTY)
    stamp = stored.get("stamp", 0) if hasattr(stored, "get") else 0
    return stamp if isinstance(stamp, int) else 0


def has_played_tracks(action: bpy.types.Action) -> bool:
    """Return whether any track of the action is played by a bake or by handles, without reading the table."""
    return _plays(action) >= _HANDLES


def has_baked_tracks(action: bpy.types.Action) -> bool:
    """Return whether the action has baked tracks, without reading the table."""
    return _plays(action) >= _BAKED


def _plays(action: bpy.types.Action) -> int:
    stored = action.get(PROPERTY)
    plays = stored.get("plays", 0) if hasattr(stored, "get") else 0
    return plays if isinstance(plays, int) else 0


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
    rows, tracks = np.frombuffer(words, dtype=ROW), {}
    if (rows["identity"][1:] <= rows["identity"][:-1]).any():
        raise ValueError("rows")
    _check_keys(rows)
    for identity, slot, path, plays, checksum in json.loads(index):
        if not isinstance(path, str) or not path or not 0 <= plays <= _BAKED + _APPROXIMATE:
            raise ValueError("tracks")
        try:
            content = _bytes(contents[str(identity)])
        except (KeyError, TypeError):
            content = b""
        track = StoredTrack(identity, slot, path, plays, checksum, content)
        known = before.tracks.get(identity)
        tracks[identity] = known if known is not None and known == track else track
    return Table(rows, tracks, stamp)


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
    table = before.with_tracks(states, removed)
    return write(action, before, replace(table, rows=rows_.merge(before.rows, rows)))


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
        known = before.tracks.get(identity)
        if known != track:
            _put(contents, str(identity), track.content)
    index = json.dumps([[t.identity, t.slot, t.path, t.plays, t.checksum] for t in table.tracks.values()])
    stored["tracks"] = index
    stored["plays"] = max((track.plays for track in table.tracks.values()), default=0)
    stored["stamp"] = stamp = _stamp(table.rows.view(np.uint8).data, index)
    table = replace(table, stamp=stamp)
    session.remember(action.session_uid, table)
    return table


def _put(group: Any, name: str, content: bytes) -> None:
    """Store an array of 32-bit words."""
    # Blender 4.2 and 5.2 crash if a larger array replaces a smaller one.
    if name in group:
        del group[name]
    if content:
        group[name] = np.frombuffer(content, dtype=np.int32)


def _stored(state: TrackState) -> StoredTrack:
    """Return the stored form of a track."""
    settings, bake, error = state.settings, state.bake, state.error
    by_handles = (settings.options if bake is None else bake.options) is not None
    error = error if by_handles else None
    plays = (_APPROXIMATE if error is not None and error.is_approximate else _HANDLES) if by_handles else 0
    plays += 0 if bake is None else _BAKED
    channels = state.channels if plays else {}
    arrays = [channel.own.tobytes() for channel in channels.values()]
    head: dict[str, Any] = {
        "settings": {name: getattr(settings, name) for name in CHOICES},
        "digest": settings.digest,
        "options": settings.options and settings.options.text,
        "error": error and [error.size, error.frame, error.is_approximate],
        "channels": [[index, each.extrapolation, each.edited, len(each.own)] for index, each in channels.items()],
    }
    if bake is not None:
        head["bake"], saved = _stored_bake(bake)
        arrays += saved
    line = json.dumps(head).encode()
    # The keys begin at a multiple of four bytes.
    content = b"".join([line, b" " * (-len(line) - 1 & 3), b"\n", *arrays])
    return StoredTrack(state.identity, state.slot, state.path, plays, zlib.crc32(content), content)


def _stored_bake(bake: Bake) -> tuple[dict[str, Any], list[bytes]]:
    """Return the stored form of a bake, and its arrays."""
    channels, arrays, before = [], [], b""
    for index, baked in bake.channels.items():
        written, places = baked.written, baked.written.places.tobytes()
        # The channels of a track usually have keys at the same frames.
        is_shared, before = places == before, places
        arrays += [baked.keys.tobytes(), b"" if is_shared else places]
        own = (index, baked.extrapolation, baked.rest, baked.repeats, baked.edited, len(baked.keys))
        fingerprint = (written.count, written.extrapolation, written.values, written.attributes)
        channels.append((*own, *fingerprint, None if is_shared else len(written.places)))
    return {"digest": bake.digest, "options": bake.options and bake.options.text, "channels": channels}, arrays


def _state(track: StoredTrack) -> TrackState:
    """Read a track. Raise KeyError, TypeError or ValueError if the content does not conform to the schema."""
    line, _, arrays = track.content.partition(b"\n")
    head, start = json.loads(line), 0

    def array(dtype: Any, count: int) -> npt.NDArray[Any]:
        nonlocal start
        if not count:
            return np.empty(0, dtype=dtype)
        begin, start = start, start + count * np.dtype(dtype).itemsize
        return np.frombuffer(arrays, dtype, count, begin)

    for name, option in head["settings"].items():
        if option not in CHOICES[name]:
            raise ValueError(name)
    settings = Settings(**head["settings"], digest=head["digest"], options=from_text(head["options"]))
    channels = {
        index: Channel(extrapolation, edited, array(OWN, count))
        for index, extrapolation, edited, count in head["channels"]
    }
    bake = None
    if "bake" in head:
        baked, places = {}, np.empty(0, dtype=np.float32)
        for index, extrapolation, rest, repeats, edited, saved, *fingerprint, size in head["bake"]["channels"]:
            keys = array(SAVED, saved)
            places = places if size is None else array(np.float32, size)
            count, extrapolation_written, values, attributes = fingerprint
            written = Fingerprint(count, extrapolation_written, values, attributes, places)
            baked[index] = BakedChannel(keys, extrapolation, rest, repeats, written, edited)
        bake = Bake(baked, head["bake"]["digest"], from_text(head["bake"]["options"]))
    error = head["error"] and Error(*head["error"])
    state = TrackState(track.identity, track.slot, track.path, settings, channels, error, bake)
    _check(state)
    return state


def _check(state: TrackState) -> None:
    """Raise ValueError or TypeError if another version or program stored values that no track has."""
    baked = {} if state.bake is None else state.bake.channels
    every: list[tuple[int, Channel | BakedChannel]] = [*state.channels.items(), *baked.items()]
    for index, channel in every:
        if index < 0 or channel.extrapolation not in _EXTRAPOLATIONS or not isinstance(channel.edited, bool):
            raise ValueError("channel")
    for channel in state.channels.values():
        _check_keys(channel.own)
    for bake in baked.values():
        written = bake.written
        if written.count < 0 or written.extrapolation not in _EXTRAPOLATIONS or not isinstance(bake.repeats, bool):
            raise ValueError("bake")
        if not math.isfinite(bake.rest or 0.0):
            raise ValueError("rest")
        _check_keys(bake.keys)


def _check_keys(keys: npt.NDArray[np.void]) -> None:
    """Raise ValueError if records of keys contain a number or an enum value that no key can have."""
    for name in keys.dtype.names or ():
        # The floats for Back and Elastic of the animator's keys can have any bits.
        is_free = keys.dtype == SAVED and name in ("back", "amplitude", "period")
        if keys.dtype[name].base.kind == "f" and not is_free and not np.isfinite(keys[name]).all():
            raise ValueError(name)
        if name in _COUNTS and (keys[name] >= _COUNTS[name]).any():
            raise ValueError(name)


def remove_table(action: Any) -> None:
    if PROPERTY in action:
        del action[PROPERTY]
    _remove_copy(action)


def _remove_copy(action: Any) -> None:
    """Remove the copy of a table that Blender 5 creates in the system properties when it loads older files."""
    properties_of = getattr(action, "bl_system_properties_get", None)
    properties = properties_of() if properties_of is not None else None
    if properties is not None and PROPERTY in properties:
        del properties[PROPERTY]
