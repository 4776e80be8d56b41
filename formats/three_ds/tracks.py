# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the keys of a track from bytes to arrays and back.

A key consists of a frame (i32), flags (u16), a float for each parameter whose flag is set, and a value.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..interp import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array, Text, n_
from .binary import ChunkError, ReadWarning, pack
from .scene import COMPONENTS, FrameArray, Track, WordArray

_Scalar = TypeVar("_Scalar", bound=np.generic)

_HAS_PARAMETERS = (1 << len(PARAMETERS)) - 1
"""The flags of a key for the parameters that follow it, in the order of PARAMETERS."""
LAST_FRAME = 1 << 24
"""The largest magnitude of a frame that is not considered damage. Float32 cannot represent all larger integers."""

_TRACK_HEADER = struct.Struct("<HIII")
"""The flags of a track, two reserved numbers, and the number of keys."""
_HEAD = np.dtype([("frame", "<i4"), ("flags", "<u2")])
_FLAGS_OFFSET = 4
"""Position of the lower byte of the flags in a key."""


def read_track(kind: str, data: bytes, start: int, end: int) -> tuple[Track, int]:
    """Return the track whose bytes begin at `start`, and the position of its end, which is at most `end`.

    Raises ChunkError if there are too few bytes up to `end`.
    """
    if end - start < _TRACK_HEADER.size:
        raise ChunkError(start, n_("has {:d} bytes, but needs {:d} before its keys", end - start, _TRACK_HEADER.size))
    track_flags, *reserved, count = _TRACK_HEADER.unpack_from(data, start)
    first_key, components = start + _TRACK_HEADER.size, COMPONENTS[kind]
    smallest = _key_type(0, components).itemsize + (kind == "MORPH")
    if count * smallest > end - first_key:
        left = end - first_key
        text = n_("declares {:d} keys, but {:d} bytes hold at most {:d}", count, left, left // smallest)
        raise ChunkError(first_key - 4, text)
    names: list[bytes] | None = [] if kind == "MORPH" else None
    starts, track_end = _key_starts(data, first_key, end, count, _key_sizes(components), names)
    frames, key_flags, parameters, values = _read_keys(data, np.array(starts, dtype=np.intp), components)
    for array in (frames, values, key_flags, parameters):
        array.flags.writeable = False
    first, second = reserved
    track = Track(kind, frames, values, key_flags, parameters, track_flags, (first, second), tuple(names or ()))
    return track, track_end


def _key_starts(
    data: bytes, position: int, end: int, count: int, sizes: tuple[int, ...], names: list[bytes] | None
) -> tuple[list[int], int]:
    """Return the position of each key, and the end of the last key. Append the name at the end of each to `names`."""
    starts: list[int] = []
    for key in range(count):
        starts.append(position)
        key_end = position + sizes[data[position + _FLAGS_OFFSET]] if position + _HEAD.itemsize <= end else end + 1
        if key_end > end:
            raise ChunkError(position, n_("has too few bytes for key {:d}", key))
        position = key_end
        if names is not None:
            terminator = data.find(b"\0", position, end)
            if terminator < 0:
                raise ChunkError(position, n_("has no terminating zero in the name of key {:d}", key))
            names.append(data[position:terminator])
            position = terminator + 1
    return starts, position


def _read_keys(
    data: bytes, offsets: npt.NDArray[np.intp], components: int
) -> tuple[FrameArray, WordArray, Float32Array, Float32Array]:
    """Return the frames (n,), flags (n,), parameters (5, n) and values (n, d) of the keys at these offsets."""
    head = _at_every_byte(data, _HEAD)[offsets]
    frames, key_flags = head["frame"].astype(np.int32), head["flags"].astype(np.uint16)
    # Keys of one track may have different sizes. All keys are read together, one number after the other.
    offsets = offsets + _HEAD.itemsize
    parameters = np.zeros((len(PARAMETERS), len(offsets)), np.float32)
    numbers = _at_every_byte(data, np.dtype("<f4"))
    for row in range(len(PARAMETERS)):
        keys = np.flatnonzero(key_flags & (1 << row))
        parameters[row, keys] = numbers[offsets[keys]]
        offsets[keys] += numbers.itemsize
    values = np.empty((len(offsets), components), np.float32)
    if components:
        packed = _at_every_byte(data, np.dtype(("V", 4 * components)))[offsets]
        values[:] = packed.view("<f4").reshape(-1, components)
    return frames, key_flags, parameters, values


def _at_every_byte(data: bytes | bytearray, layout: np.dtype[_Scalar]) -> npt.NDArray[_Scalar]:
    """View the data with this layout at every byte, aligned or not."""
    return np.ndarray((len(data) - layout.itemsize + 1,), layout, data, strides=(1,))


def key_warnings(track: Track, start: int) -> Iterator[ReadWarning]:
    """Yield warnings about unusual keys of a track whose bytes begin at `start`. The keys are kept unchanged."""
    frames, values, parameters = track.frames, track.values, track.parameters
    if not len(frames):
        return
    is_early = frames[1:] < frames[:-1]
    if is_early.any():
        keys = np.flatnonzero(is_early) + 1
        yield _key_warning(track, start, keys, n_("follows frame {:d}", frames[keys[0] - 1]))
    is_far = (frames < -LAST_FRAME) | (frames > LAST_FRAME)
    if is_far.any():
        keys = np.flatnonzero(is_far)
        is_late = frames[keys[0]] > 0
        message = n_("is after frame {:d}", LAST_FRAME) if is_late else n_("is before frame {:d}", -LAST_FRAME)
        yield _key_warning(track, start, keys, message)
    is_finite = np.isfinite(values).all(axis=1)
    if not is_finite.all():
        keys = np.flatnonzero(~is_finite)
        yield _key_warning(track, start, keys, n_("has a value that is not a finite number"))
    # Compare in float32, because NumPy warns when it converts some kinds of NaN.
    lowest = LOWEST.astype(np.float32)
    is_in_range = (parameters >= lowest) & (parameters <= HIGHEST)
    for row in np.flatnonzero(~is_in_range.all(axis=1)):
        keys = np.flatnonzero(~is_in_range[row])
        number = parameters[row, keys[0]]
        message = n_("has {:s} {:g}, not in [{:g}, 1]", WORDS[PARAMETERS[row]], number, lowest[row, 0])
        yield _key_warning(track, start, keys, message)


def _key_warning(track: Track, start: int, keys: npt.NDArray[np.intp], message: Text) -> ReadWarning:
    """Return a warning about the first of these keys, which mentions the number of the others."""
    key, more = int(keys[0]), len(keys) - 1
    sizes = np.array(_key_sizes(COMPONENTS[track.kind]))[track.key_flags[:key] & 0xFF]
    offset = start + _TRACK_HEADER.size + int(sizes.sum()) + sum(len(name) + 1 for name in track.names[:key])
    frame = track.frames[key]
    if more:
        return ReadWarning(offset, n_("key {:d} at frame {:d} {:s} (and {:d} more)", key, frame, message, more))
    return ReadWarning(offset, n_("key {:d} at frame {:d} {:s}", key, frame, message))


def track_bytes(track: Track) -> bytes:
    """Return the content of a track's chunk. Parameters without their flags are not written."""
    components = COMPONENTS[track.kind]
    sizes = np.array(_key_sizes(components))[track.key_flags & 0xFF]
    steps = sizes + [len(name) + 1 for name in track.names] if track.names else sizes
    starts = np.cumsum(steps) - steps
    content = bytearray(int(steps.sum()))
    parameter_flags = track.key_flags & _HAS_PARAMETERS
    for flags in np.unique(parameter_flags).tolist():
        keys = np.flatnonzero(parameter_flags == flags)
        packed = np.empty(len(keys), _key_type(flags, components))
        packed["frame"], packed["flags"] = track.frames[keys], track.key_flags[keys]
        packed["value"] = track.values[keys]
        for row, name in enumerate(PARAMETERS):
            if (flags >> row) & 1:
                packed[name] = track.parameters[row, keys]
        _at_every_byte(content, packed.dtype)[starts[keys]] = packed
    for name_start, name_bytes in zip((starts + sizes).tolist(), track.names, strict=bool(track.names)):
        content[name_start : name_start + len(name_bytes)] = name_bytes
    return pack(_TRACK_HEADER, track.flags, *track.reserved, len(track.frames)) + content


@functools.cache
def _key_type(flags: int, components: int) -> np.dtype[np.void]:
    """Return the layout of a key with these flags."""
    parameters = [(name, "<f4") for bit, name in enumerate(PARAMETERS) if (flags >> bit) & 1]
    return np.dtype([("frame", "<i4"), ("flags", "<u2"), *parameters, ("value", "<f4", (components,))])


@functools.cache
def _key_sizes(components: int) -> tuple[int, ...]:
    """Return the size of a key in bytes for each value of the lower byte of its flags."""
    return tuple(_key_type(flags & _HAS_PARAMETERS, components).itemsize for flags in range(256))
