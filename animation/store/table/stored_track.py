# SPDX-License-Identifier: GPL-3.0-or-later
"""The stored form of a track in the table of its action.

The content consists of a line of JSON, followed by the arrays of keys.
"""

from __future__ import annotations

import json
import math
import zlib
from functools import cached_property
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
        plays = _plays(state)
        channels = state.channels if plays else {}
        arrays = [channel.own.tobytes() for channel in channels.values()]
        settings, error = state.settings, state.error if plays % BAKED else None
        head: dict[str, Any] = {
            "settings": dict(zip(CHOICES, choices_of(settings), strict=True)),
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
    channels, arrays, bytes_before = [], [], b""
    for index, baked in bake.channels.items():
        written, frame_bytes = baked.written, baked.written.frames.tobytes()
        # The channels of a track usually have keys at the same frames.
        is_shared, bytes_before = frame_bytes == bytes_before, frame_bytes
        arrays += [baked.keys.tobytes(), b"" if is_shared else frame_bytes]
        own = (index, baked.extrapolation, baked.rest, baked.repeats, baked.edited, len(baked.keys))
        fingerprint = (written.count, written.extrapolation, written.values, written.attributes)
        channels.append((*own, *fingerprint, None if is_shared else len(written.frames)))
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
    channels, frames = {}, np.empty(0, dtype=np.float32)
    for index, extrapolation, rest, repeats, edited, saved, *fingerprint, size in stored["channels"]:
        keys = arrays.read(SAVED, saved)
        frames = frames if size is None else arrays.read(np.float32, size)
        count, extrapolation_written, values, attributes = fingerprint
        written = Fingerprint(count, extrapolation_written, values, attributes, frames)
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
