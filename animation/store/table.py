# SPDX-License-Identifier: GPL-3.0-or-later
"""The table: a custom property of an action, with the rows of its keys, its TCB tracks, and what was last written.

It is saved, undone, copied, appended and linked with the action. All of it are arrays of 32-bit words, which Blender
copies as they are, and one string for the paths. A table that can't be understood is left alone; whoever reads it is
told why.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from ...words import n_, rpt_
from . import rows as rows_
from .identity import Identities
from .options import NUMBERS, Options
from .rows import NO_ROWS, ROW, Rows
from .session import session
from .settings import CHOICES, Settings

PROPERTY = "tcb_animation"
SCHEMA = 1
"""A table of a newer schema is refused, never half read."""

_TRACK = np.dtype(
    [
        ("identity", "<u4"),
        ("slot", "<i4"),
        ("choices", "u1", (8,)),
        ("digest", "<u4"),
        ("baked", "<i4"),
        ("options", "<f4", (NUMBERS,)),
    ]
)
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
"""An own key as it was written: `value` is its own, `co` what the baked curve shows, which may be another; `placed`:
which handles the bake placed, 1 the left, 2 the right one."""
GENERATED = np.dtype([("frame", "<f4"), ("value", "<f4")])
_ARRAYS = {"rows": ROW, "tracks": _TRACK, "channels": _CHANNEL, "own": OWN, "generated": GENERATED}

Extrapolation = Literal["CONSTANT", "LINEAR"]
Written = npt.NDArray[Any]
"""Of dtype OWN or GENERATED, in order of frame."""


@dataclass(frozen=True, eq=False)
class Channel:
    """What the last update wrote into a channel."""

    extrapolation: Extrapolation
    """The animator's."""
    rest: float | None
    """The property's value before, where the F-curve was made by a bake; None: the curve is the animator's."""
    edited: bool
    """Keys came, went or moved since their records were made: Blender has to place automatic handles anew."""
    own: Written
    generated: Written


@dataclass(frozen=True, eq=False)
class State:
    """A TCB track: what is chosen for it, and what the last update wrote into its channels, by index."""

    identity: int
    slot: int
    path: str
    settings: Settings = field(default_factory=Settings)
    channels: Mapping[int, Channel] = field(default_factory=dict)
    """Empty where it is not baked."""


@dataclass(frozen=True, eq=False)
class Table:
    """What an action's table holds; `fault` says why it can't be understood."""

    rows: Rows = field(default_factory=lambda: NO_ROWS)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    places: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """Of the tracks, by slot and path."""
    fault: str = ""
    newer: bool = False
    """The fault is that a newer extension saved it."""

    def state(self, slot: int, path: str) -> State | None:
        """Read the track of that slot and path. Raise ValueError where it is damaged."""
        place = self.places.get((slot, path))
        return None if place is None else self._state(place, slot, path)

    def identity_at(self, slot: int, path: str) -> int | None:
        """Read the identity of the track of that slot and path, be it damaged or not."""
        place = self.places.get((slot, path))
        return None if place is None else int(self.arrays["tracks"]["identity"][place])

    def has_tracks(self, slot: int, starts: str | tuple[str, ...], only_baked: bool) -> bool:
        """Whether a slot has tracks whose paths start so."""
        return any(
            own == slot and path.startswith(starts) and (not only_baked or self.arrays["tracks"]["baked"][place])
            for (own, path), place in self.places.items()
        )

    def find_state(self, identity: int) -> list[tuple[tuple[int, str], State]]:
        """Read the track of that identity, with its slot and path; none where there is none, or it is damaged."""
        for key, place in self.places.items():
            if self.arrays["tracks"]["identity"][place] == identity:
                try:
                    return [(key, self._state(place, *key))]
                except ValueError:
                    return []
        return []

    def _state(self, place: int, slot: int, path: str) -> State:
        track = self.arrays["tracks"][place]
        try:
            settings = Settings.from_codes(track["choices"].tolist())
        except IndexError as error:
            raise ValueError(rpt_(_DAMAGED, "choices")) from error
        identity = int(track["identity"])
        if not track["baked"]:
            return State(identity, slot, path, settings)
        try:
            options = Options.from_numbers(track["options"].tolist())
        except (ValueError, OverflowError) as error:
            raise ValueError(rpt_(_DAMAGED, "options")) from error
        settings = replace(settings, digest=int(track["digest"]), options=options)
        return State(identity, slot, path, settings, self._channels(identity))

    def _channels(self, track: int) -> dict[int, Channel]:
        channels = self.arrays["channels"]
        starts = self.arrays["starts"]
        result = {}
        for row in np.flatnonzero(channels["track"] == track).tolist():
            one = channels[row]
            own, generated = starts[row].tolist()
            result[int(one["index"])] = Channel(
                _EXTRAPOLATIONS[int(one["extrapolation"])],
                float(one["rest"]) if one["flags"] & _MADE else None,
                bool(one["flags"] & _EDITED),
                self.arrays["own"][own : own + int(one["own"])],
                self.arrays["generated"][generated : generated + int(one["generated"])],
            )
        return result

    def without(self, identities: set[int]) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
        """Take tracks out: the arrays but the rows, and the paths."""
        if not self.places:
            return {name: np.empty(0, dtype) for name, dtype in _ARRAYS.items() if name != "rows"}, []
        gone = list(identities)
        tracks, channels = self.arrays["tracks"], self.arrays["channels"]
        kept = ~np.isin(tracks["identity"], gone)
        kept_channels = ~np.isin(channels["track"], gone)
        arrays = {"tracks": tracks[kept], "channels": channels[kept_channels]}
        for name in ("own", "generated"):
            arrays[name] = self.arrays[name][np.repeat(kept_channels, channels[name])]
        return arrays, [path for (_, path), stays in zip(self.places, kept.tolist(), strict=True) if stays]

    def find(self, identities: Identities) -> npt.NDArray[np.intp]:
        """Find the rows of the identities, -1 where there is none."""
        return rows_.find(self.rows, identities)


_EXTRAPOLATIONS: tuple[Extrapolation, ...] = ("CONSTANT", "LINEAR")
_MADE, _EDITED = 1, 2
_DAMAGED = n_("its TCB table is damaged ({:s}); Remove TCB takes it away")


def table_stamp(action: Any) -> int:
    """Read a number that changes with the action's rows and tracks; 0 where it has no table."""
    stored = action.get(PROPERTY)
    stamp = stored.get("stamp", 0) if hasattr(stored, "get") else 0
    return stamp if isinstance(stamp, int) else 0


def has_baked_tracks(action: Any) -> bool:
    """Tell whether the action has baked tracks, without reading its table."""
    stored = action.get(PROPERTY)
    return bool(hasattr(stored, "get") and stored.get("baked", 0))


def read_table(action: Any, checked: Rows | None = None) -> Table:
    """Read the action's table; one that can't be understood has a `fault`.

    `checked`: rows that need no check where these are the same. Default: those that the action had before.
    """
    if PROPERTY not in action:
        return Table()
    if checked is None:
        before = session.tables.get(action.session_uid)
        checked = NO_ROWS if before is None else before.rows
    try:
        table = _read(action[PROPERTY], checked)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        return Table(fault=rpt_(_DAMAGED, str(error)))
    session.remember(action.session_uid, table)
    return table


def _read(stored: Any, checked: Rows) -> Table:
    schema = stored["schema"]
    if not isinstance(schema, int) or schema < 1:
        raise TypeError("schema")
    if schema > SCHEMA:
        reason = rpt_("saved by a newer TCB Animation (schema {:d}); this one reads {:d}", schema, SCHEMA)
        return Table(fault=reason, newer=True)
    arrays = {name: _array(stored, name, dtype) for name, dtype in _ARRAYS.items()}
    if list(stored["lengths"]) != [len(array) for array in arrays.values()]:
        raise ValueError("lengths")
    rows, tracks, channels = arrays["rows"], arrays["tracks"], arrays["channels"]
    if len(rows) == len(checked) and (rows.view(np.int32) == checked.view(np.int32)).all():
        arrays["rows"] = rows = checked
    else:
        _check_rows(rows)
    paths = stored["paths"].split("\n") if len(tracks) else []
    if len(paths) != len(tracks) or not all(paths):
        raise ValueError("paths")
    for name in ("own", "generated"):
        counts = channels[name]
        if (counts < 0).any() or int(counts.sum(dtype=np.int64)) != len(arrays[name]):
            raise ValueError(name)
    kinds = channels["extrapolation"]
    if (kinds < 0).any() or (kinds >= len(_EXTRAPOLATIONS)).any() or (channels["index"] < 0).any():
        raise ValueError("channels")
    ends = np.stack([np.cumsum(channels[name], dtype=np.intp) for name in ("own", "generated")], axis=1)
    arrays["starts"] = ends - np.stack((channels["own"], channels["generated"]), axis=1)
    places = dict(zip(zip(tracks["slot"].tolist(), paths, strict=True), range(len(tracks)), strict=True))
    if len(places) != len(tracks) or len(np.unique(tracks["identity"])) != len(tracks):
        raise ValueError("tracks")
    return Table(rows, arrays, places)


def _array(stored: Any, name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if name not in stored:
        return np.empty(0, dtype=dtype)
    words = stored[name]
    if getattr(words, "typecode", "") != "i" or len(words) * 4 % dtype.itemsize:
        raise TypeError(name)
    # A copy: Blender's memory goes when the property does.
    return np.frombuffer(words, dtype=np.int32).copy().view(dtype)


def _check_rows(rows: Rows) -> None:
    """Raise ValueError where rows are not what this schema writes."""
    words = rows.view(np.uint32).reshape(len(rows), ROW.itemsize // 4)
    floats, kinds = words.view(np.float32), rows.view(np.uint8).reshape(len(rows), ROW.itemsize)
    if (words[1:, 0] <= words[:-1, 0]).any() or not all(np.isfinite(floats[:, part]).all() for part in _FLOATS):
        raise ValueError("rows")
    if (kinds[:, _KINDS] >= _KIND_COUNTS).any():
        raise ValueError("rows")


def _part_of_row(first: str, last: str, size: int) -> slice:
    """Where fields that stand side by side are among the numbers of that many bytes that a row consists of."""
    assert ROW.fields is not None
    end, start = ROW.fields[last], ROW.fields[first][1]
    return slice(start // size, (end[1] + end[0].itemsize) // size)


_FLOATS = (_part_of_row("numbers", "numbers", 4), _part_of_row("co", "period", 4))
_KINDS = _part_of_row("interpolation", "type", 1)
_KIND_COUNTS = np.array([16, 4, 5, 5, 8], dtype=np.uint8)
"""How many kinds there are of interpolation, easing, both handles and keys."""


def update(
    action: bpy.types.Action,
    rows: Rows = NO_ROWS,
    states: Iterable[State] = (),
    removed: Iterable[int] = (),
) -> None:
    """Add rows to the action's table, put tracks into it, and take others out, by their identities.

    The action is editable, and its table not at fault.
    """
    table = read_table(action)
    added = list(states)
    if added or removed:
        arrays, paths = table.without({*removed, *(state.identity for state in added)})
        channels = [(state.identity, index, each) for state in added for index, each in state.channels.items()]
        new = {
            "tracks": np.array([_track(state) for state in added], dtype=_TRACK),
            "channels": np.array([_channel(*each) for each in channels], dtype=_CHANNEL),
            "own": _joined([channel.own for _, _, channel in channels], OWN),
            "generated": _joined([channel.generated for _, _, channel in channels], GENERATED),
        }
        arrays = {name: np.concatenate((arrays[name], new[name])) for name in new}
        paths = [*paths, *(state.path for state in added)]
    else:
        arrays, paths = {}, []
    write(action, rows_.merge(table.rows, rows), arrays, paths)


def write(action: Any, rows: Rows, arrays: Mapping[str, npt.NDArray[Any]], paths: Sequence[str]) -> None:
    """Write rows and, where there are any, all other arrays; a table of neither is none."""
    if arrays and not paths and not len(rows):
        remove_table(action)
        return
    if PROPERTY not in action:
        action[PROPERTY] = {"schema": SCHEMA, "paths": "", "lengths": [0] * len(_ARRAYS)}
    stored = action[PROPERTY]
    if arrays:
        stored["paths"] = "\n".join(paths)
    for name, array in {"rows": rows, **arrays}.items():
        # Blender crashes where a larger array takes the place of a smaller one (4.2 and 5.2).
        if name in stored:
            del stored[name]
        if len(array):
            # In one piece: what stands in a dictionary is converted number by number.
            stored[name] = np.ascontiguousarray(array).view(np.int32)
    stored["lengths"] = [len(stored.get(name, ())) * 4 // dtype.itemsize for name, dtype in _ARRAYS.items()]
    crc = zlib.crc32(stored["paths"].encode())
    for name in ("rows", "tracks"):
        if name in stored:
            crc = zlib.crc32(np.frombuffer(stored[name], dtype=np.int32).data, crc)
    if "tracks" in arrays:
        stored["baked"] = int(arrays["tracks"]["baked"].any())
    # Integers of 32 bits, with sign.
    stored["stamp"] = crc - (1 << 31)
    read_table(action, rows)


def _track(state: State) -> tuple[Any, ...]:
    settings = state.settings
    codes = [*settings.codes(), *[0] * (8 - len(CHOICES))]
    options = settings.options.numbers() if settings.options else [0.0] * NUMBERS
    return state.identity, state.slot, codes, settings.digest, settings.options is not None, options


def _channel(track: int, index: int, channel: Channel) -> tuple[Any, ...]:
    flags = (_MADE if channel.rest is not None else 0) | (_EDITED if channel.edited else 0)
    extrapolation = _EXTRAPOLATIONS.index(channel.extrapolation)
    return track, index, extrapolation, flags, channel.rest or 0.0, len(channel.own), len(channel.generated)


def _joined(parts: list[Written], dtype: np.dtype[Any]) -> Written:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


def remove_table(action: Any) -> None:
    if PROPERTY in action:
        del action[PROPERTY]
