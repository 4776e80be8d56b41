# SPDX-License-Identifier: GPL-3.0-or-later
"""The table: a custom property of an action, with the rows of its keys, its TCB tracks, and what was last written.

It is saved, undone, copied, appended and linked with the action. It consists of arrays of 32-bit words, which Blender
copies as they are, and one string for the paths. A table that can't be read is left alone, and its `error` gives the
reason.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import compress
from typing import Any, Literal, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...records import record
from ...translation import n_, rpt_
from . import rows as rows_
from .identity import Identities, multipliers
from .options import NUMBERS, Options
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .settings import CHOICES, Settings

PROPERTY = "tcb_animation"
SCHEMA = 1
"""A table of a newer schema is rejected as a whole."""

_TRACK = np.dtype(
    [
        ("identity", "<u4"),
        ("slot", "<i4"),
        ("choices", "u1", (8,)),
        ("digest", "<u4"),
        ("baked", "<i4"),
        ("options", "<f4", (NUMBERS,)),
        ("error", "<f4"),
        ("error_frame", "<f4"),
    ]
)
"""`baked`: 0, 1, or 2 where the error of handles exceeds the tolerances."""
_CHANNEL = np.dtype(
    [
        ("track", "<u4"),
        ("index", "<i4"),
        ("extrapolation", "<i4"),
        ("flags", "<i4"),
        ("rest", "<f8"),
        ("own", "<i4"),
        ("generated", "<i4"),
    ],
    align=False,
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
"""An own key as it was written. `value`: its own value; `co`: its position on the baked curve, which may have another
value; `placed`: the handles that the bake placed, 1 the left, 2 the right one, 4 and 8 those outside all keys; 16 where
the curve has the key negated, value and handles, as handles play a quaternion."""
NEGATED = np.uint8(16)
WRITTEN = ("co", "handle_left", "handle_right", "interpolation", "handle_left_type", "handle_right_type")
"""The fields of OWN that the key has on the curve, too."""
GENERATED = np.dtype([("frame", "<f4"), ("value", "<f4")])
_ARRAYS = {"rows": ROW, "tracks": _TRACK, "channels": _CHANNEL, "own": OWN, "generated": GENERATED}
_NO_ARRAYS = {name: np.empty(0, dtype=dtype) for name, dtype in _ARRAYS.items()}
NO_GENERATED = _NO_ARRAYS["generated"]

Extrapolation = Literal["CONSTANT", "LINEAR"]
Written = npt.NDArray[np.void]
"""Of dtype OWN or GENERATED, in order of frame."""


@record(eq=False)
class Channel:
    """The last update's keys and settings of a channel."""

    extrapolation: Extrapolation
    """The animator's extrapolation."""
    rest: float | None
    """The property's value before a bake made the F-curve; None where the curve is the animator's."""
    edited: bool
    """True where keys were added, deleted or moved since their records were made: Blender must place automatic handles
    anew."""
    own: Written
    generated: Written
    held: bool = False
    """True where the bake holds the values outside the keys, so that the curve is constant there whatever is chosen."""


@record()
class Error:
    """The maximum error of the F-curves that play a track."""

    size: float
    """In the property's units; of rotations an angle in radians."""
    frame: float
    """The frame of the maximum error; NaN where there was nothing to play."""
    is_approximate: bool
    """True where the error exceeds the tolerance."""


@record(eq=False)
class State:
    """A TCB track: its settings, and what the last update wrote into its channels, by index."""

    identity: int
    slot: int
    path: str
    settings: Settings = field(default_factory=Settings)
    channels: Mapping[int, Channel] = field(default_factory=dict)
    """Empty where it is not baked."""
    error: Error | None = None
    """The maximum error of handles; None where the track is not baked, or baked as samples or curves."""


@record(eq=False)
class Table:
    """The contents of an action's table; `error` says why it can't be read."""

    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=lambda: _NO_ARRAYS)
    """The arrays by the names under which they are stored."""
    paths: str = ""
    """The paths of the tracks, one a line."""
    error: str = ""
    newer: bool = False
    """True where the error is that a newer version of the extension saved the table."""

    @property
    def rows(self) -> Rows:
        return self.arrays["rows"]

    @cached_property
    def identities(self) -> frozenset[int]:
        """Return the identities of the tracks."""
        return frozenset(self.arrays["tracks"]["identity"].tolist())

    @cached_property
    def rows_of_tracks(self) -> Mapping[tuple[int, str], int]:
        """Return the rows of the tracks, by slot and path."""
        slots = self.arrays["tracks"]["slot"].tolist()
        return dict(zip(zip(slots, self.lines, strict=True), range(len(slots)), strict=True))

    @cached_property
    def _states(self) -> dict[int, State]:
        """Return the tracks that were read, by identity."""
        return {}

    @property
    def lines(self) -> list[str]:
        """Return the path of each track."""
        return self.paths.split("\n") if self.paths else []

    @cached_property
    def _channels(self) -> tuple[Identities, npt.NDArray[np.intp]]:
        """Return the track identity of each channel, sorted, and the rows of the channels in that order."""
        order = np.argsort(self.arrays["channels"]["track"], kind="stable")
        return self.arrays["channels"]["track"][order], order

    @cached_property
    def _starts(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows at which the own and the generated keys of each channel start."""
        channels = self.arrays["channels"]
        own, generated = (np.cumsum(channels[name], dtype=np.intp) - channels[name] for name in ("own", "generated"))
        return own, generated

    @property
    def approximate(self) -> list[str]:
        """Return the paths of tracks that handles play with an error above the tolerance of a bake."""
        return list(compress(self.lines, self.arrays["tracks"]["baked"] == _APPROXIMATE))

    def state(self, slot: int, path: str) -> State | None:
        """Read the track of that slot and path; raise ValueError where it is damaged."""
        place = self.rows_of_tracks.get((slot, path))
        return None if place is None else self._state(place, slot, path)

    def identity_at(self, slot: int, path: str) -> int | None:
        """Read the identity of the track of that slot and path, damaged or not."""
        place = self.rows_of_tracks.get((slot, path))
        return None if place is None else int(self.arrays["tracks"]["identity"][place])

    def has_tracks(self, slot: int, starts: str | tuple[str, ...], only_baked: bool) -> bool:
        """Return whether a slot has tracks whose paths start with one of these."""
        return any(
            own == slot and path.startswith(starts) and (not only_baked or self.arrays["tracks"]["baked"][place])
            for (own, path), place in self.rows_of_tracks.items()
        )

    def find_state(self, identity: int) -> list[tuple[tuple[int, str], State]]:
        """Read the track of that identity, with its slot and path; an empty list where it is missing or damaged."""
        for key, place in self.rows_of_tracks.items():
            if self.arrays["tracks"]["identity"][place] == identity:
                try:
                    return [(key, self._state(place, *key))]
                except ValueError:
                    return []
        return []

    def _state(self, place: int, slot: int, path: str) -> State:
        identity = int(self.arrays["tracks"]["identity"][place])
        if identity not in self._states:
            self._states[identity] = self._read_state(place, identity, slot, path)
        return self._states[identity]

    def _read_state(self, place: int, identity: int, slot: int, path: str) -> State:
        track = self.arrays["tracks"][place]
        try:
            settings, digest = Settings.from_codes(track["choices"].tolist()), int(track["digest"])
        except IndexError as error:
            raise ValueError(rpt_(_DAMAGED, "choices")) from error
        if not track["baked"]:
            return State(identity, slot, path, replace(settings, digest=digest))
        try:
            options = Options.from_numbers(track["options"].tolist())
        except (ValueError, OverflowError) as error:
            raise ValueError(rpt_(_DAMAGED, "options")) from error
        settings = replace(settings, digest=digest, options=options)
        off = None
        if options.output == "HANDLES":
            off = Error(float(track["error"]), float(track["error_frame"]), int(track["baked"]) == _APPROXIMATE)
        return State(identity, slot, path, settings, dict(self._channels_of(identity)), off)

    def _channels_of(self, track: int) -> Iterator[tuple[int, Channel]]:
        tracks, places = self._channels
        first, end = np.searchsorted(tracks, np.array([track, track + 1], dtype=np.uint64)).tolist()
        at = places[first:end]
        starts = zip(*(each[at].tolist() for each in self._starts), strict=True)
        for (own, generated), channel in zip(starts, self.arrays["channels"][at].tolist(), strict=True):
            _, index, extrapolation, flags, rest, owns, generates = channel
            yield (
                index,
                Channel(
                    _EXTRAPOLATIONS[extrapolation],
                    rest if flags & _MADE else None,
                    bool(flags & _EDITED),
                    # Copied, because tables to come keep the state, and not these arrays.
                    self.arrays["own"][own : own + owns].copy(),
                    self.arrays["generated"][generated : generated + generates].copy(),
                    bool(flags & _HELD),
                ),
            )

    def with_rows(self, rows: Rows) -> Table:
        """Return a table with the same tracks and these rows."""
        return self._hand_on_states(Table({**self.arrays, "rows": rows}, self.paths))

    def with_tracks(self, added: Sequence[State], removed: Iterable[int], generated: Written | None = None) -> Table:
        """Return a table with tracks added, and others removed by their identities.

        `generated`: the generated keys of all channels added, in the order of `added` and of each state's channels, if
        they are in one array already.
        """
        gone = np.array([*removed, *(state.identity for state in added)], dtype=np.uint32)
        kept, kept_channels = (
            ~np.isin(owners, gone) if len(owners) else np.empty(0, dtype=np.bool_)
            for owners in (self.arrays["tracks"]["identity"], self.arrays["channels"]["track"])
        )
        channels = [(state.identity, index, each) for state in added for index, each in state.channels.items()]
        fresh: dict[str, npt.NDArray[Any]] = {
            "tracks": np.array([_track(state) for state in added], dtype=_TRACK),
            "channels": np.array([_channel(*each) for each in channels], dtype=_CHANNEL),
            "own": rows_.joined([channel.own for _, _, channel in channels], OWN),
            "generated": rows_.joined([channel.generated for _, _, channel in channels], GENERATED)
            if generated is None
            else generated,
        }
        if not len(kept):
            return Table({"rows": self.rows, **fresh}, "\n".join([state.path for state in added]))
        parts = {
            "tracks": ~kept,
            "channels": ~kept_channels,
            **{name: np.repeat(~kept_channels, self.arrays["channels"][name]) for name in ("own", "generated")},
        }
        paths = [*compress(self.lines, kept), *(state.path for state in added)]
        if self._are_in_place(fresh, ~kept, ~kept_channels) and paths[-len(added) :] == [*compress(self.lines, ~kept)]:
            arrays = {name: _replaced(self.arrays[name], rows, fresh[name]) for name, rows in parts.items()}
            return self._hand_on_states(Table({"rows": self.rows, **arrays}, self.paths), gone.tolist())
        arrays = {
            name: rows_.joined([self.arrays[name][~rows], fresh[name]], _ARRAYS[name]) for name, rows in parts.items()
        }
        table = Table({"rows": self.rows, **arrays}, "\n".join(paths))
        return self._hand_on_states(table._in_order_of(self.arrays["tracks"]["identity"]), gone.tolist())

    def _hand_on_states(self, table: Table, changed: Iterable[int] = ()) -> Table:
        """Return a table with the same tracks, except those of these identities, which need not be read again in it."""
        others = self._states.keys() - set(changed)
        table._states.update((identity, self._states[identity]) for identity in others)
        return table

    def _are_in_place(
        self, fresh: Mapping[str, npt.NDArray[Any]], tracks: npt.NDArray[np.bool_], channels: npt.NDArray[np.bool_]
    ) -> bool:
        """Return whether fresh tracks are the same as these rows, with the same channels and numbers of keys."""
        before = self.arrays["tracks"]["identity"][tracks], self.arrays["channels"][channels]
        if before[0].tobytes() != fresh["tracks"]["identity"].tobytes() or len(before[1]) != len(fresh["channels"]):
            return False
        return all(
            (before[1][name] == fresh["channels"][name]).all() for name in ("track", "index", "own", "generated")
        )

    def _in_order_of(self, before: npt.NDArray[np.uint32]) -> Table:
        """Return the table with the tracks that were there `before` in that order, and new ones after them.

        So a track that is baked again as it was leaves the same table, bit for bit.
        """
        tracks, channels = self.arrays["tracks"], self.arrays["channels"]
        ranks = _ranks(tracks["identity"], before)
        order = np.argsort(ranks, kind="stable")
        if (order[1:] > order[:-1]).all():
            return self
        # New tracks have one rank; those whose channels follow them keep their order.
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        owner = place[_ranks(channels["track"], tracks["identity"])]
        channel_order = np.argsort(owner, kind="stable")
        arrays = {
            "rows": self.rows,
            "tracks": tracks[order],
            "channels": channels[channel_order],
            **{name: _in_parts(self.arrays[name], channels[name], channel_order) for name in ("own", "generated")},
        }
        lines = self.lines
        return Table(arrays, "\n".join(lines[at] for at in order.tolist()))

    @cached_property
    def checksums(self) -> Mapping[str, int]:
        """Return the checksums of the arrays."""
        return {name: _checksum(array) for name, array in self.arrays.items()}

    @property
    def stamp(self) -> int:
        """Return the checksum of everything in the table: a signed integer of 32 bits."""
        numbers = np.array([self.checksums[name] for name in _ARRAYS], dtype="<u4")
        return zlib.crc32(self.paths.encode(), zlib.crc32(numbers.data)) - (1 << 31)

    def find(self, identities: Identities) -> npt.NDArray[np.intp]:
        """Find the rows of the identities, -1 where there is none."""
        return rows_.find(self.rows, identities)


NO_TABLE = Table()
"""The table of an action without TCB tracks."""


def _replaced(array: npt.NDArray[Any], rows: npt.NDArray[np.bool_], fresh: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array with fresh elements in those rows; the array itself where these are none."""
    if not len(fresh):
        return array
    copy = array.copy()
    copy[rows] = fresh
    return copy


def _ranks(identities: npt.NDArray[np.uint32], among: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
    """Return the place of each identity `among` others; of those that are not there, the number of these."""
    sorter = np.argsort(among)
    at = np.searchsorted(among, identities, sorter=sorter)
    ranks = np.append(sorter, len(among))[at]
    ranks[np.append(among, np.uint32(0))[ranks] != identities] = len(among)
    return ranks


def _in_parts(rows: Written, counts: npt.NDArray[np.integer], order: npt.NDArray[np.intp]) -> Written:
    """Return the rows with their parts, of so many rows each, in another order."""
    ends = np.cumsum(counts, dtype=np.intp)
    taken = counts[order].astype(np.intp)
    starts = ends[order] - taken
    return rows[np.repeat(starts - (np.cumsum(taken) - taken), taken) + np.arange(len(rows))]


_EXTRAPOLATIONS: tuple[Extrapolation, ...] = ("CONSTANT", "LINEAR")
_MADE, _EDITED, _HELD = 1, 2, 4
_BAKED, _APPROXIMATE = 1, 2
_DAMAGED = n_("its TCB table is damaged ({:s}); Remove TCB (command: remove) takes it away")


_SUMMED = 1024
"""Words of 64 bits that one sum is made of."""
_SUMS_AT_ONCE = 64
"""So many sums' words stay in the processor's cache."""


def _checksum(array: npt.NDArray[np.generic]) -> int:
    """Return a checksum of 32 bits: of sums of words and of the rest, in a third of the time of one of all bytes."""
    raw = array.view(np.uint8)
    if len(raw) < 8 * _SUMMED:
        return zlib.crc32(raw.data)
    end = len(raw) // (8 * _SUMMED) * 8 * _SUMMED
    words = raw[:end].view(np.uint64).reshape(-1, _SUMMED)
    sums = np.empty(len(words), dtype=np.uint64)
    for start in range(0, len(words), _SUMS_AT_ONCE):
        some = words[start : start + _SUMS_AT_ONCE]
        # The highest bits of two words alone would cancel in a sum modulo 2^64: they are mixed into lower ones.
        sums[start : start + _SUMS_AT_ONCE] = np.einsum("ij,j->i", some ^ some >> np.uint64(29), multipliers(_SUMMED))
    return zlib.crc32(raw[end:].data, zlib.crc32(sums.data))


def table_stamp(action: bpy.types.Action) -> int:
    """Read a number that changes with the action's table; 0 where it has none."""
    stored = action.get(PROPERTY)
    stamp = stored.get("stamp", 0) if hasattr(stored, "get") else 0
    return stamp if isinstance(stamp, int) else 0


def has_baked_tracks(action: bpy.types.Action) -> bool:
    """Return whether the action has baked tracks, without reading its table."""
    stored = action.get(PROPERTY)
    return bool(hasattr(stored, "get") and stored.get("baked", 0))


def read_table(action: Any) -> Table:
    """Read the action's table; one that can't be read has an `error`."""
    if PROPERTY not in action:
        return NO_TABLE
    before = remembered_tables().get(action.session_uid)
    try:
        table = _read(action[PROPERTY], before)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        return Table(error=rpt_(_DAMAGED, str(error)))
    if table is not before:
        session.remember(action.session_uid, table, table.rows)
    return table


def known_table(action: Any) -> Table:
    """Return the table that the session knows of the action, where that has its stamp; else read it.

    For who looks again and again: to compare all rows takes longer than a track's keys. What another program has
    changed in the arrays, and not in the stamp, the next reading finds.
    """
    known = remembered_tables().get(action.session_uid)
    return known if known is not None and known.stamp == table_stamp(action) else read_table(action)


def remembered_tables() -> dict[int, Table]:
    """Return the last tables of actions in this session, by their `session_uid`."""
    return cast(dict[int, Table], session.tables)


def _read(stored: Any, before: Table | None) -> Table:
    """Read a stored table; return the one from before, without checks, where nothing changed."""
    schema = stored["schema"]
    if not isinstance(schema, int) or schema < 1:
        raise TypeError("schema")
    if schema > SCHEMA:
        reason = rpt_("saved by a newer TCB Animation (schema {:d}); this one reads {:d}", schema, SCHEMA)
        return Table(error=reason, newer=True)
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
    # Copied, because Blender frees the memory with the property.
    table = Table({name: each.copy().view(_ARRAYS[name]) for name, each in words.items()}, paths)
    _check(table)
    if stored["stamp"] != table.stamp:
        # Something is missing, or another program has changed it.
        raise ValueError("stamp")
    return table


def _words(stored: Any, name: str, dtype: np.dtype[Any]) -> npt.NDArray[np.int32]:
    """Return the words of an array, as a view of Blender's memory."""
    if name not in stored:
        return np.empty(0, dtype=np.int32)
    words = stored[name]
    if getattr(words, "typecode", "") != "i" or len(words) * 4 % dtype.itemsize:
        raise TypeError(name)
    return np.frombuffer(words, dtype=np.int32)


def _check(table: Table) -> None:
    """Raise ValueError where a table is not what this schema writes."""
    _check_rows(table.rows)
    tracks, channels = table.arrays["tracks"], table.arrays["channels"]
    if len(table.lines) != len(tracks) or not all(table.lines):
        raise ValueError("paths")
    for name in ("own", "generated"):
        counts = channels[name]
        if (counts < 0).any() or int(counts.sum(dtype=np.int64)) != len(table.arrays[name]):
            raise ValueError(name)
    if len(table.rows_of_tracks) != len(tracks) or len(table.identities) != len(tracks):
        raise ValueError("tracks")
    if (tracks["baked"] < 0).any() or (tracks["baked"] > _APPROXIMATE).any():
        raise ValueError("tracks")
    _check_channels(channels, table.identities)
    for name in ("own", "generated"):
        _check_numbers(table.arrays[name], name)
        frames = table.arrays[name]["co"][:, 0] if name == "own" else table.arrays[name]["frame"]
        descends = np.flatnonzero(frames[1:] < frames[:-1]) + 1
        if not np.isin(descends, np.cumsum(channels[name])).all():
            raise ValueError(name)


def _check_rows(rows: Rows) -> None:
    """Raise ValueError where rows are not what this schema writes."""
    identities = rows["identity"]
    if (identities[1:] <= identities[:-1]).any():
        raise ValueError("rows")
    _check_numbers(rows, "rows")


def _check_channels(channels: npt.NDArray[np.void], tracks: frozenset[int]) -> None:
    """Raise ValueError where channels are not what this schema writes."""
    for name, count in (("extrapolation", len(_EXTRAPOLATIONS)), ("flags", (_MADE | _EDITED | _HELD) + 1)):
        if (channels[name] < 0).any() or (channels[name] >= count).any():
            raise ValueError("channels")
    if (channels["index"] < 0).any() or not np.isfinite(channels["rest"]).all():
        raise ValueError("channels")
    if not tracks.issuperset(channels["track"].tolist()):
        raise ValueError("channels")


def _check_numbers(array: npt.NDArray[np.void], name: str) -> None:
    """Raise ValueError with the name where records of keys have a number that no key has."""
    if not rows_.are_finite(array).all():
        raise ValueError(name)
    for field_name in _COUNTS.keys() & set(array.dtype.names or ()):
        if (array[field_name] >= _COUNTS[field_name]).any():
            raise ValueError(name)


_COUNTS = {"interpolation": 16, "easing": 4, "handle_left_type": 5, "handle_right_type": 5, "type": 8, "placed": 32}
"""The number of values that a field of a key can have."""


def update(
    action: bpy.types.Action,
    rows: Rows = NO_ROWS,
    states: Iterable[State] = (),
    removed: Iterable[int] = (),
    known: Table | None = None,
    generated: Written | None = None,
) -> Table:
    """Add rows to the action's table, add tracks, and remove others by their identities; return the new table.

    The action must be editable, and its table without an error; the session must know the rows. `known`: the table as
    it was just read; where it is the last one that was read or written, it is not read again. `generated`: as
    `Table.with_tracks` takes them.
    """
    is_last = known is not None and known is session.tables.get(action.session_uid)
    before = known if known is not None and is_last else read_table(action)
    table, added, gone = before.with_rows(rows_.merge(before.rows, rows)), list(states), list(removed)
    table = table.with_tracks(added, gone, generated) if added or gone else table
    write(action, before, table)
    return table


def write(action: Any, before: Table, table: Table) -> None:
    """Write the parts of a table that differ from `before`, as `read_table` gave it; remove an empty table.

    The session must know its rows.
    """
    if not table.paths and not len(table.rows):
        remove_table(action)
        return
    if PROPERTY not in action:
        action[PROPERTY] = {"schema": SCHEMA, "paths": ""}
    stored = action[PROPERTY]
    stored["paths"] = table.paths
    for name, array in table.arrays.items():
        if array is before.arrays[name]:
            continue
        # Blender crashes when a larger array replaces a smaller one (4.2 and 5.2).
        if name in stored:
            del stored[name]
        if len(array):
            # Assigned by itself: arrays inside a dictionary are converted number by number.
            stored[name] = array.view(np.int32)
    stored["lengths"] = [len(table.arrays[name]) for name in _ARRAYS]
    # Checksums of arrays that did not change are reused: rows are many and rarely change.
    vars(table)["checksums"] = {
        name: before.checksums[name] if array is before.arrays[name] else _checksum(array)
        for name, array in table.arrays.items()
    }
    stored["baked"] = int(table.arrays["tracks"]["baked"].any())
    stored["stamp"] = table.stamp
    session.remember(action.session_uid, table)
    session.written.add(action.session_uid)


def _track(state: State) -> tuple[Any, ...]:
    settings = state.settings
    codes = [*settings.codes(), *[0] * (8 - len(CHOICES))]
    options = settings.options.numbers() if settings.options else [0.0] * NUMBERS
    error = (state.error if settings.options is not None else None) or Error(0.0, math.nan, False)
    baked = 0 if settings.options is None else _APPROXIMATE if error.is_approximate else _BAKED
    return state.identity, state.slot, codes, settings.digest, baked, options, error.size, error.frame


def _channel(track: int, index: int, channel: Channel) -> tuple[Any, ...]:
    flags = (_MADE if channel.rest is not None else 0) | (_EDITED if channel.edited else 0)
    flags |= _HELD if channel.held else 0
    extrapolation = _EXTRAPOLATIONS.index(channel.extrapolation)
    return track, index, extrapolation, flags, channel.rest or 0.0, len(channel.own), len(channel.generated)


def remove_table(action: Any) -> None:
    if PROPERTY in action:
        del action[PROPERTY]
