# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored form of a track in the table of its action.

The content consists of a line of JSON, followed by the numbers of the track and by the arrays of keys. Most tracks of
an action have the same line, which is therefore converted only once.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records import record
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
    choices_of,
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
        plays, settings, bake = _plays(state), state.settings, state.bake
        channels = state.channels if plays else {}
        error = state.error if plays % BAKED else None
        floats = [] if error is None else [error.size, error.frame]
        checksums = [settings.digest]
        arrays = [channel.own.tobytes() for channel in channels.values()]
        stored_bake = None
        if bake is not None:
            written = [(channel.written.values, channel.written.attributes) for channel in bake.channels.values()]
            checksums += [bake.digest, *chain.from_iterable(written)]
            floats += [math.nan if channel.rest is None else channel.rest for channel in bake.channels.values()]
            stored_bake, baked_arrays = _stored_bake(bake)
            arrays += baked_arrays
        line = _line(
            choices_of(settings),
            settings.options and settings.options.text,
            None if error is None else error.is_approximate,
            tuple([(index, each.extrapolation, each.edited, len(each.own)) for index, each in channels.items()]),
            stored_bake,
        )
        numbers = struct.pack(f"<{len(floats)}d{len(checksums)}I", *floats, *checksums)
        content = b"".join([line, numbers, *arrays])
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


def _stored_bake(bake: Bake) -> tuple[tuple[Any, ...], list[bytes]]:
    """Return the part of a bake that is stored in the line of JSON, and its arrays."""
    channels, arrays, bytes_before = [], [], b""
    for index, baked in bake.channels.items():
        written, frame_bytes = baked.written, baked.written.frames.tobytes()
        # The channels of a track usually have keys at the same frames.
        is_shared, bytes_before = frame_bytes == bytes_before, frame_bytes
        arrays += [baked.keys.tobytes(), b"" if is_shared else frame_bytes]
        own = (index, baked.extrapolation, baked.repeats, baked.edited, len(baked.keys))
        channels.append((*own, written.count, written.extrapolation, None if is_shared else len(written.frames)))
    return (bake.options and bake.options.text, tuple(channels)), arrays


@lru_cache(maxsize=64)
def _line(
    choices: tuple[str, ...],
    options: str | None,
    is_approximate: bool | None,
    channels: tuple[tuple[Any, ...], ...],
    bake: tuple[Any, ...] | None,
) -> bytes:
    """Return the line of JSON, with spaces so that the numbers begin at a multiple of eight bytes."""
    head = {
        "settings": dict(zip(CHOICES, choices, strict=True)),
        "options": options,
        "is_approximate": is_approximate,
        "channels": channels,
        "bake": bake,
    }
    line = json.dumps(head).encode()
    return line + b" " * (-len(line) - 1 & 7) + b"\n"


@lru_cache(maxsize=64)
def _read_line(line: bytes) -> Any:
    """Return the contents of the line of JSON, which must not be changed."""
    return json.loads(line)


def _read_state(track: StoredTrack) -> TrackState:
    """Read a track. Raise KeyError, TypeError or ValueError if the content does not conform to the schema."""
    line, _, array_bytes = track.content.partition(b"\n")
    head, arrays = _read_line(line), _Arrays(array_bytes)
    for name, option in head["settings"].items():
        if option not in CHOICES[name]:
            raise ValueError(name)
    options, baked_channels = head["bake"] or (None, [])
    has_error, has_bake = head["is_approximate"] is not None, head["bake"] is not None
    size_and_frame = arrays.read(np.float64, 2 * has_error).tolist()
    rests = arrays.read(np.float64, len(baked_channels)).tolist()
    digest, *checksums = arrays.read(np.uint32, 1 + has_bake + 2 * len(baked_channels)).tolist()
    settings = Settings(**head["settings"], digest=digest, options=from_text(head["options"]))
    channels = {
        index: Channel(extrapolation, edited, arrays.read(OWN, count))
        for index, extrapolation, edited, count in head["channels"]
    }
    error = Error(size_and_frame[0], size_and_frame[1], head["is_approximate"]) if has_error else None
    bake = None
    if has_bake:
        bake_digest, *written = checksums
        bake = Bake(_read_baked(baked_channels, rests, written, arrays), bake_digest, from_text(options))
    state = TrackState(track.identity, track.slot, track.path, settings, channels, error, bake)
    _check(state)
    return state


def _read_baked(
    stored: list[Any], rests: list[float], checksums: list[int], arrays: _Arrays
) -> dict[int, BakedChannel]:
    """Read the channels of a bake from their part of the line of JSON, their numbers and arrays."""
    channels, frames = {}, np.empty(0, dtype=np.float32)
    contents = zip(stored, rests, checksums[::2], checksums[1::2], strict=True)
    for stored_channel, rest, values, attributes in contents:
        index, extrapolation, repeats, edited, saved, count, written_extrapolation, size = stored_channel
        keys = arrays.read(SAVED, saved)
        frames = frames if size is None else arrays.read(np.float32, size)
        written = Fingerprint(count, written_extrapolation, values, attributes, frames)
        rest_or_none = None if math.isnan(rest) else rest
        channels[index] = BakedChannel(keys, extrapolation, rest_or_none, repeats, written, edited)
    return channels


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
