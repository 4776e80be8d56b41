# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of an action: a custom property with key rows, TCB tracks, and the animator's keys on baked tracks.

The table is saved, undone, copied, appended and linked with the action. A table consists of arrays of 32-bit words,
which Blender copies unchanged, and of a string for the paths. If a table is unreadable, it is not changed, and its
`error` contains the reason.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Literal, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...errors import Finding
from ...records import record
from . import rows as rows_
from .key_identity import Identities, multipliers
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .settings import CHOICES, Settings
from .stored_bake_options import NUMBERS, Options

PROPERTY = "tcb_animation"
SCHEMA = 2
"""Tables with another schema are rejected."""

_TRACK = np.dtype(
    [
        ("identity", "<u4"),
        ("slot", "<i4"),
        ("choices", "u1", (8,)),
        ("digest", "<u4"),
        ("plays", "<i4"),
        ("options", "<f4", (NUMBERS,)),
        ("error", "<f4"),
        ("error_frame", "<f4"),
        ("free_digest", "<u4"),
        ("free_options", "<f4", (NUMBERS,)),
    ]
)
"""`plays` is 0 for a track that is off, 1 for handles, and 2 for handles whose error exceeds the tolerances. Baked
tracks add 3 to the state to which Free Bake returns. `free_digest` and `free_options` also belong to that state."""
_CHANNEL = np.dtype(
    [
        ("track", "<u4"),
        ("index", "<i4"),
        ("extrapolation", "<i4"),
        ("flags", "<i4"),
        ("own", "<i4"),
    ]
)
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
_BAKE = np.dtype(
    [
        ("track", "<u4"),
        ("index", "<i4"),
        ("extrapolation", "<i4"),
        ("written", "<i4"),
        ("flags", "<i4"),
        ("rest", "<f8"),
        ("count", "<i4"),
        ("values", "<u4"),
        ("attributes", "<u4"),
        ("saved", "<i4"),
        ("places", "<i4"),
    ],
    align=False,
)
"""A baked channel. `extrapolation` is the animator's extrapolation, `written` the extrapolation set by the bake.
`count`, `values`, `attributes` and `places` are the fingerprint."""
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
_PLACE = np.dtype([("frame", "<f4")])
_ARRAYS = {
    "rows": ROW,
    "tracks": _TRACK,
    "channels": _CHANNEL,
    "own": OWN,
    "bakes": _BAKE,
    "saved": SAVED,
    "places": _PLACE,
}
_NO_ARRAYS = {name: np.empty(0, dtype=dtype) for name, dtype in _ARRAYS.items()}
_PARTS = {"channels": ("own",), "bakes": ("saved", "places")}
"""Arrays with one record per channel of a track, and the names of the arrays that contain the records' parts. The
record field with the name of a part contains the number of elements in the part."""

Extrapolation = Literal["CONSTANT", "LINEAR"]
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
    """The contents of a baked channel, as far as they affect playback. See `store/fingerprints.py`."""

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


@record(eq=False)
class Table:
    """The contents of an action's table. If the table can't be read, `error` contains the reason."""

    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=lambda: _NO_ARRAYS)
    """The arrays by their stored names."""
    paths: str = ""
    """Paths of the tracks, one per line."""
    error: Finding | None = None
    newer: bool = False
    """True if the table can't be read because a newer version of the extension saved it."""

    @property
    def rows(self) -> Rows:
        return self.arrays["rows"]

    @cached_property
    def identities(self) -> frozenset[int]:
        """Return the identities of the tracks."""
        return frozenset(self.arrays["tracks"]["identity"].tolist())

    @cached_property
    def rows_of_tracks(self) -> Mapping[tuple[int, str], int]:
        """Return the row of each track, by slot and path."""
        slots = self.arrays["tracks"]["slot"].tolist()
        return dict(zip(zip(slots, self.lines, strict=True), range(len(slots)), strict=True))

    @cached_property
    def _states(self) -> dict[int, TrackState]:
        """Return a cache of the tracks that were read, by identity."""
        return {}

    @property
    def lines(self) -> list[str]:
        """Return the path of each track."""
        return self.paths.split("\n") if self.paths else []

    @cached_property
    def _places(self) -> Mapping[str, tuple[Identities, npt.NDArray[np.intp]]]:
        """Return the track identities of channels and bakes, sorted, with the corresponding rows."""
        found = {}
        for name in _PARTS:
            owners = self.arrays[name]["track"]
            order = np.argsort(owners, kind="stable")
            found[name] = owners[order], order
        return found

    @cached_property
    def _starts(self) -> Mapping[str, npt.NDArray[np.intp]]:
        """Return the first row of each channel's or bake's parts."""
        return {
            part: np.cumsum(self.arrays[name][part], dtype=np.intp) - self.arrays[name][part]
            for name, parts in _PARTS.items()
            for part in parts
        }

    @property
    def approximate(self) -> list[str]:
        """Return the paths of tracks played by handles with an error above the tolerance."""
        return list(compress(self.lines, self.arrays["tracks"]["plays"] == _APPROXIMATE))

    @cached_property
    def baked(self) -> frozenset[tuple[int, str]]:
        """Return the slots and paths of the baked tracks."""
        are_baked = self.arrays["tracks"]["plays"] >= _BAKED
        return frozenset(compress(self.rows_of_tracks, are_baked)) if are_baked.any() else frozenset()

    def state(self, slot: int, path: str) -> TrackState | None:
        """Read the track with the slot and path. Raise ValueError if the track's entry is damaged."""
        place = self.rows_of_tracks.get((slot, path))
        return None if place is None else self._state(place, slot, path)

    def identity_at(self, slot: int, path: str) -> int | None:
        """Read the identity of the track with the slot and path, even if the entry is damaged."""
        place = self.rows_of_tracks.get((slot, path))
        return None if place is None else int(self.arrays["tracks"]["identity"][place])

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
        """For each track of the slot, yield whether it has one of the paths and is of this kind."""
        least = {"": 0, "PLAYED": 1, "BAKED": _BAKED}[kind]
        plays = self.arrays["tracks"]["plays"]
        for (own, path), place in self.rows_of_tracks.items():
            yield bool(own == slot and path.startswith(starts) and plays[place] >= least)

    @property
    def has_unplaced(self) -> bool:
        """Return whether any track is played by handles that were not placed for its current keys."""
        tracks = self.arrays["tracks"]
        played = (tracks["plays"] > 0) & (tracks["plays"] < _BAKED)
        return not set(self.arrays["channels"]["track"].tolist()).issuperset(tracks["identity"][played].tolist())

    def find_state(self, identity: int) -> TrackState | None:
        """Read the track with the identity. Return None if the track's entry is missing or damaged."""
        for key, place in self.rows_of_tracks.items():
            if self.arrays["tracks"]["identity"][place] == identity:
                with suppress(ValueError):
                    return self._state(place, *key)
        return None

    def _state(self, place: int, slot: int, path: str) -> TrackState:
        identity = int(self.arrays["tracks"]["identity"][place])
        if identity not in self._states:
            self._states[identity] = self._read_state(place, identity, slot, path)
        return self._states[identity]

    def _read_state(self, place: int, identity: int, slot: int, path: str) -> TrackState:
        track = self.arrays["tracks"][place]
        try:
            settings, digest = Settings.from_codes(track["choices"].tolist()), int(track["digest"])
        except IndexError as error:
            raise ValueError("choices") from error
        plays = int(track["plays"])
        if not plays:
            return TrackState(identity, slot, path, replace(settings, digest=digest))
        options = _options(track["options"])
        settings = replace(settings, digest=digest, options=options)
        handles = plays % _BAKED
        size = float(track["error"]), float(track["error_frame"])
        maximum = Error(*size, is_approximate=handles == _APPROXIMATE) if handles else None
        bake = None
        if plays >= _BAKED:
            free = _options(track["free_options"]) if handles else None
            bake = Bake(dict(self._bakes_of(identity)), int(track["free_digest"]), free)
        return TrackState(identity, slot, path, settings, dict(self._channels_of(identity)), maximum, bake)

    def _rows_of(self, name: str, track: int) -> npt.NDArray[np.intp]:
        """Return the rows of a track's channels or bakes."""
        tracks, places = self._places[name]
        first, end = np.searchsorted(tracks, np.array([track, track + 1], dtype=np.uint64)).tolist()
        return places[first:end]

    def _parts_of(self, part: str, at: npt.NDArray[np.intp], counts: Iterable[int]) -> Iterator[npt.NDArray[Any]]:
        """Yield copies of the parts of channels or bakes, because later tables keep the states but not these arrays."""
        for start, count in zip(self._starts[part][at].tolist(), counts, strict=True):
            yield self.arrays[part][start : start + count].copy()

    def _channels_of(self, track: int) -> Iterator[tuple[int, Channel]]:
        at = self._rows_of("channels", track)
        channels = self.arrays["channels"][at]
        parts = self._parts_of("own", at, channels["own"].tolist())
        for (_, index, extrapolation, flags, _), own in zip(channels.tolist(), parts, strict=True):
            yield index, Channel(_EXTRAPOLATIONS[extrapolation], bool(flags & _EDITED), own)

    def _bakes_of(self, track: int) -> Iterator[tuple[int, BakedChannel]]:
        at = self._rows_of("bakes", track)
        bakes = self.arrays["bakes"][at]
        saved, places = (self._parts_of(part, at, bakes[part].tolist()) for part in _PARTS["bakes"])
        before: Places = np.empty(0, dtype=np.float32)
        for bake, keys, own in zip(bakes.tolist(), saved, places, strict=True):
            _, index, extrapolation, written, flags, rest, count, values, attributes, _, _ = bake
            before = before if flags & _SHARED else own.view(np.float32)
            fingerprint = Fingerprint(count, _EXTRAPOLATIONS[written], values, attributes, before)
            rest = rest if flags & _MADE else None
            yield (
                index,
                BakedChannel(
                    keys,
                    _EXTRAPOLATIONS[extrapolation],
                    rest,
                    bool(flags & _REPEATED),
                    fingerprint,
                    bool(flags & _MOVED),
                ),
            )

    def with_rows(self, rows: Rows) -> Table:
        """Return a table with the same tracks and these rows."""
        return self._hand_on_states(Table({**self.arrays, "rows": rows}, self.paths))

    def with_tracks(self, added: Sequence[TrackState], removed: Iterable[int]) -> Table:
        """Return a table with some tracks added, and with others, given by their identities, removed."""
        gone = np.array([*removed, *(state.identity for state in added)], dtype=np.uint32)
        fresh = _arrays_of(added)
        kept = {
            name: ~np.isin(owners, gone) if len(owners) else np.empty(0, dtype=np.bool_)
            for name, owners in (("tracks", self.arrays["tracks"]["identity"]), *self._owners)
        }
        if not kept["tracks"].any():
            return Table({"rows": self.rows, **fresh}, "\n".join([state.path for state in added]))
        for name, parts in _PARTS.items():
            kept |= {part: np.repeat(kept[name], self.arrays[name][part]) for part in parts}
        paths = [*compress(self.lines, kept["tracks"]), *(state.path for state in added)]
        arrays = {
            name: rows_.joined([self.arrays[name][mask], fresh[name]], _ARRAYS[name]) for name, mask in kept.items()
        }
        table = Table({"rows": self.rows, **arrays}, "\n".join(paths))
        return self._hand_on_states(table._in_order_of(self.arrays["tracks"]["identity"]), gone.tolist())

    @property
    def _owners(self) -> list[tuple[str, Identities]]:
        """Return the track of each channel and bake."""
        return [(name, self.arrays[name]["track"]) for name in _PARTS]

    def _hand_on_states(self, table: Table, changed: Iterable[int] = ()) -> Table:
        """Copy the cached tracks to another table, except tracks with changed identities, and return that table."""
        others = self._states.keys() - set(changed)
        table._states.update((identity, self._states[identity]) for identity in others)
        return table

    def _in_order_of(self, before: npt.NDArray[np.uint32]) -> Table:
        """Return the table with the tracks in the previous order `before`, followed by new tracks.

        Baking an unchanged track again therefore creates the same table, bit for bit.
        """
        tracks = self.arrays["tracks"]
        ranks = _ranks(tracks["identity"], before)
        order = np.argsort(ranks, kind="stable")
        if (order[1:] > order[:-1]).all():
            return self
        # All new tracks have the same rank. Here and for channels, the stable sort keeps their order.
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        arrays = {"rows": self.rows, "tracks": tracks[order]}
        for name, owners in self._owners:
            owner = place[_ranks(owners, tracks["identity"])]
            own_order = np.argsort(owner, kind="stable")
            arrays[name] = self.arrays[name][own_order]
            arrays |= {part: _in_parts(self.arrays[part], self.arrays[name][part], own_order) for part in _PARTS[name]}
        lines = self.lines
        return Table(arrays, "\n".join(lines[at] for at in order.tolist()))

    @cached_property
    def checksums(self) -> Mapping[str, int]:
        """Return the checksums of the arrays."""
        return {name: _checksum(array) for name, array in self.arrays.items()}

    @property
    def stamp(self) -> int:
        """Return the checksum of the table as a signed 32-bit integer."""
        numbers = np.array([self.checksums[name] for name in _ARRAYS], dtype="<u4")
        return zlib.crc32(self.paths.encode(), zlib.crc32(numbers.data)) - (1 << 31)


NO_TABLE = Table()
"""The table of an action without TCB tracks."""


def _ranks(identities: npt.NDArray[np.uint32], among: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
    """Return the index of each identity in `among`, or the length of `among` for missing identities."""
    sorter = np.argsort(among)
    at = np.searchsorted(among, identities, sorter=sorter)
    ranks = np.append(sorter, len(among))[at]
    ranks[np.append(among, np.uint32(0))[ranks] != identities] = len(among)
    return ranks


def _in_parts(rows: Written, counts: npt.NDArray[np.integer], order: npt.NDArray[np.intp]) -> Written:
    """Return the concatenated parts in another order. `counts` contains the number of rows per part."""
    ends = np.cumsum(counts, dtype=np.intp)
    taken = counts[order].astype(np.intp)
    starts = ends[order] - taken
    return rows[np.repeat(starts - (np.cumsum(taken) - taken), taken) + np.arange(len(rows))]


_EXTRAPOLATIONS: tuple[Extrapolation, ...] = ("CONSTANT", "LINEAR")
_EDITED = 1
_MADE, _REPEATED, _SHARED, _MOVED = 1, 2, 4, 8
"""Flags of bakes. A shared bake has the same `places` as the previous bake."""
_HANDLES, _APPROXIMATE, _BAKED = 1, 2, 3


_SUMMED = 1024
"""Number of 64-bit words per sum."""
_SUMS_AT_ONCE = 64
"""Number of sums to compute together, whose words fit into the processor's cache."""


def _checksum(array: npt.NDArray[np.generic]) -> int:
    """Return a 32-bit checksum of sums of words and of the remaining bytes.

    Computing this checksum takes a third of the time needed for crc32 of all bytes.
    """
    raw = array.view(np.uint8)
    if len(raw) < 8 * _SUMMED:
        return zlib.crc32(raw.data)
    end = len(raw) // (8 * _SUMMED) * 8 * _SUMMED
    words = raw[:end].view(np.uint64).reshape(-1, _SUMMED)
    sums = np.empty(len(words), dtype=np.uint64)
    for start in range(0, len(words), _SUMS_AT_ONCE):
        some = words[start : start + _SUMS_AT_ONCE]
        # In a sum modulo 2^64, the highest bits of two words would cancel, so they are mixed into lower bits.
        sums[start : start + _SUMS_AT_ONCE] = np.einsum("ij,j->i", some ^ some >> np.uint64(29), multipliers(_SUMMED))
    return zlib.crc32(raw[end:].data, zlib.crc32(sums.data))


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
    before = remembered_tables().get(action.session_uid)
    try:
        table = _read(action[PROPERTY], before)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        return Table(error=Finding("TABLE_DAMAGED", arguments=(str(error),)))
    if table is not before:
        session.remember(action.session_uid, table, table.rows)
    return table


def known_table(action: Any) -> Table:
    """Return the session's table of the action if its stamp matches. Otherwise, read the table.

    Use this function for frequent checks, because comparing all rows takes longer than comparing a track's keys. If
    another program changes the arrays but not the stamp, the change is found only at the next read.
    """
    known = remembered_tables().get(action.session_uid)
    return known if known is not None and known.stamp == table_stamp(action) else read_table(action)


def remembered_tables() -> dict[int, Table]:
    """Return the session's last known table of each action, by `session_uid`."""
    return cast(dict[int, Table], session.tables)


def _read(stored: Any, before: Table | None) -> Table:
    """Read a stored table. If nothing has changed, return the previous table without checks."""
    schema = stored["schema"]
    if not isinstance(schema, int) or schema < 1:
        raise TypeError("schema")
    if schema > SCHEMA:
        return Table(error=Finding("TABLE_NEWER", arguments=(schema, SCHEMA)), newer=True)
    if schema < SCHEMA:
        raise ValueError("schema")
    words = {name: _words(stored, name, dtype) for name, dtype in _ARRAYS.items()}
    lengths = [4 * len(each) // dtype.itemsize for each, dtype in zip(words.values(), _ARRAYS.values(), strict=True)]
    if list(stored["lengths"]) != lengths:
        raise ValueError("lengths")
    paths = stored["paths"]
    if not isinstance(paths, str):
        raise TypeError("paths")
    if (
        before is not None
        and paths == before.paths
        and all(
            len(each) == len(known := before.arrays[name].view(np.int32)) and (each == known).all()
            for name, each in words.items()
        )
    ):
        return before
    # Copy the words, because Blender frees the memory with the property.
    table = Table({name: each.copy().view(_ARRAYS[name]) for name, each in words.items()}, paths)
    _check(table)
    if stored["stamp"] != table.stamp:
        # Data are missing, or another program has changed them.
        raise ValueError("stamp")
    return table


def _words(stored: Any, name: str, dtype: np.dtype[Any]) -> npt.NDArray[np.int32]:
    """Return the words of an array as a view of Blender's memory."""
    if name not in stored:
        return np.empty(0, dtype=np.int32)
    words = stored[name]
    if getattr(words, "typecode", "") != "i" or len(words) * 4 % dtype.itemsize:
        raise TypeError(name)
    return np.frombuffer(words, dtype=np.int32)


def _check(table: Table) -> None:
    """Raise ValueError if the table does not conform to the schema."""
    _check_rows(table.rows)
    tracks = table.arrays["tracks"]
    if len(table.lines) != len(tracks) or not all(table.lines):
        raise ValueError("paths")
    for name, parts in _PARTS.items():
        for part in parts:
            counts = table.arrays[name][part]
            if (counts < 0).any() or int(counts.sum(dtype=np.int64)) != len(table.arrays[part]):
                raise ValueError(part)
    if len(table.rows_of_tracks) != len(tracks) or len(table.identities) != len(tracks):
        raise ValueError("tracks")
    if (tracks["plays"] < 0).any() or (tracks["plays"] > _BAKED + _APPROXIMATE).any():
        raise ValueError("tracks")
    for name in _PARTS:
        _check_channels(table.arrays[name], name, table.identities)
    _check_numbers(table.arrays["own"], "own")
    _check_enums(table.arrays["saved"], "saved")
    if not all(np.isfinite(table.arrays["saved"][place]).all() for place in ("co", "handle_left", "handle_right")):
        raise ValueError("saved")
    if not np.isfinite(table.arrays["bakes"]["rest"]).all() or (table.arrays["bakes"]["count"] < 0).any():
        raise ValueError("bakes")
    for part, owner in (("own", "channels"), ("saved", "bakes")):
        frames = table.arrays[part]["co"][:, 0]
        descends = np.flatnonzero(frames[1:] < frames[:-1]) + 1
        if not np.isin(descends, np.cumsum(table.arrays[owner][part])).all():
            raise ValueError(part)


def _check_rows(rows: Rows) -> None:
    """Raise ValueError if the rows do not conform to the schema."""
    identities = rows["identity"]
    if (identities[1:] <= identities[:-1]).any():
        raise ValueError("rows")
    _check_numbers(rows, "rows")


def _check_channels(channels: npt.NDArray[np.void], name: str, tracks: frozenset[int]) -> None:
    """If channels or bakes do not conform to the schema, raise a ValueError that names the array."""
    flags = _MADE | _REPEATED | _SHARED | _MOVED if name == "bakes" else _EDITED
    limits = {"extrapolation": len(_EXTRAPOLATIONS), "written": len(_EXTRAPOLATIONS), "flags": flags + 1}
    for field_name in limits.keys() & set(channels.dtype.names or ()):
        if (channels[field_name] < 0).any() or (channels[field_name] >= limits[field_name]).any():
            raise ValueError(name)
    if (channels["index"] < 0).any() or not tracks.issuperset(channels["track"].tolist()):
        raise ValueError(name)


def _check_numbers(array: npt.NDArray[np.void], name: str) -> None:
    """If records of keys contain a number that no key can have, raise a ValueError that names the array."""
    if not rows_.are_finite(array).all():
        raise ValueError(name)
    _check_enums(array, name)


def _check_enums(array: npt.NDArray[np.void], name: str) -> None:
    """If records of keys contain an enum value that no key can have, raise a ValueError that names the array."""
    for field_name in _COUNTS.keys() & set(array.dtype.names or ()):
        if (array[field_name] >= _COUNTS[field_name]).any():
            raise ValueError(name)


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


def update(
    action: bpy.types.Action,
    rows: Rows = NO_ROWS,
    states: Iterable[TrackState] = (),
    removed: Iterable[int] = (),
    known: Table | None = None,
) -> Table:
    """Add rows and tracks to the action's table, and remove tracks by their identities. Return the new table.

    The action must be editable, its table must not have an error, and the session must know the rows. `known` is a
    table that was read earlier. If `known` is still the session's last table, the table is not read again.
    """
    is_last = known is not None and known is session.tables.get(action.session_uid)
    before = known if known is not None and is_last else read_table(action)
    table, added, gone = before.with_rows(rows_.merge(before.rows, rows)), list(states), list(removed)
    table = table.with_tracks(added, gone) if added or gone else table
    write(action, before, table)
    return table


def write(action: Any, before: Table, table: Table) -> None:
    """Write the parts of a table that differ from `before`, which is a result of `read_table`.

    An empty table is removed. The rows must be known to the session.
    """
    if not table.paths and not len(table.rows):
        remove_table(action)
        return
    _remove_copy(action)
    if PROPERTY not in action:
        action[PROPERTY] = {"schema": SCHEMA, "paths": ""}
    stored = action[PROPERTY]
    stored["paths"] = table.paths
    are_same = {name: _is_same(array, before.arrays[name]) for name, array in table.arrays.items()}
    for name, array in table.arrays.items():
        if are_same[name]:
            continue
        # Blender 4.2 and 5.2 crash if a larger array replaces a smaller one.
        if name in stored:
            del stored[name]
        if len(array):
            # Assign arrays separately, because arrays in a dictionary would be converted number by number.
            stored[name] = array.view(np.int32)
    stored["lengths"] = [len(table.arrays[name]) for name in _ARRAYS]
    # Reuse the checksums of unchanged arrays, because tables have many rows, which rarely change.
    vars(table)["checksums"] = {
        name: before.checksums[name] if are_same[name] else _checksum(array) for name, array in table.arrays.items()
    }
    stored["plays"] = int(table.arrays["tracks"]["plays"].max(initial=0))
    stored["stamp"] = table.stamp
    session.remember(action.session_uid, table)
    session.written.add(action.session_uid)


def _is_same(array: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return array is other or (len(array) == len(other) and array.tobytes() == other.tobytes())


def _options(numbers: npt.NDArray[np.float32]) -> Options:
    """Return stored options. Raise ValueError if the options are damaged."""
    try:
        return Options.from_numbers(numbers.tolist())
    except (ValueError, OverflowError) as error:
        raise ValueError("options") from error


def _arrays_of(states: Sequence[TrackState]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a table with only these tracks, except the array of rows."""
    channels = [(state.identity, index, each) for state in states for index, each in state.channels.items()]
    bakes, saved, places = [], [], []
    for state in states:
        before: Places | None = None
        for index, each in state.bake.channels.items() if state.bake is not None else ():
            is_shared = before is not None and before.tobytes() == each.written.places.tobytes()
            before = each.written.places
            bakes.append(_bake(state.identity, index, each, is_shared))
            saved.append(each.keys)
            places += [] if is_shared else [before.view(_PLACE)]
    return {
        "tracks": np.array([_track(state) for state in states], dtype=_TRACK),
        "channels": np.array([_channel(*each) for each in channels], dtype=_CHANNEL),
        "own": rows_.joined([channel.own for _, _, channel in channels], OWN),
        "bakes": np.array(bakes, dtype=_BAKE),
        "saved": rows_.joined(saved, SAVED),
        "places": rows_.joined(places, _PLACE),
    }


_NO_OPTIONS = [0.0] * NUMBERS


def _track(state: TrackState) -> tuple[Any, ...]:
    settings, bake = state.settings, state.bake
    codes = [*settings.codes(), *[0] * (8 - len(CHOICES))]
    options = settings.options.numbers() if settings.options else _NO_OPTIONS
    error = (state.error if settings.options is not None else None) or Error(0.0, math.nan, False)
    by_handles = settings.options is not None if bake is None else bake.options is not None
    plays = (_APPROXIMATE if error.is_approximate else _HANDLES) if by_handles else 0
    free_digest, free_options = 0, _NO_OPTIONS
    if bake is not None:
        plays += _BAKED
        free_digest, free_options = bake.digest, bake.options.numbers() if bake.options else _NO_OPTIONS
    return (
        state.identity,
        state.slot,
        codes,
        settings.digest,
        plays,
        options,
        error.size,
        error.frame,
        free_digest,
        free_options,
    )


def _channel(track: int, index: int, channel: Channel) -> tuple[Any, ...]:
    extrapolation = _EXTRAPOLATIONS.index(channel.extrapolation)
    return track, index, extrapolation, _EDITED if channel.edited else 0, len(channel.own)


def _bake(track: int, index: int, baked: BakedChannel, is_shared: bool) -> tuple[Any, ...]:
    flags = (_MADE if baked.rest is not None else 0) | (_REPEATED if baked.repeats else 0)
    flags |= _MOVED if baked.edited else 0
    written = baked.written
    return (
        track,
        index,
        _EXTRAPOLATIONS.index(baked.extrapolation),
        _EXTRAPOLATIONS.index(written.extrapolation),
        flags | (_SHARED if is_shared else 0),
        baked.rest or 0.0,
        written.count,
        written.values,
        written.attributes,
        len(baked.keys),
        0 if is_shared else len(written.places),
    )


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
