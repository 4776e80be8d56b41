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

from ..interp import HIGHEST, LOWEST, PARAMETERS, WORDS, Text, n_
from .chunks import ChunkError, ReadWarning, ThreeDSError, check_array, pack
from .scene import COMPONENTS, Track

_Scalar = TypeVar("_Scalar", bound=np.generic)

_HAS_PARAMETERS = (1 << len(PARAMETERS)) - 1
"""The flags of a key for the parameters that follow it, in the order of PARAMETERS."""
LAST_FRAME = 1 << 24
"""The largest magnitude of a frame that is not considered damage. Float32 cannot represent all larger integers."""

_TRACK_HEADER = struct.Struct("<HIII")
_FLAGS_AT = 4
_HEAD = np.dtype([("frame", "<i4"), ("flags", "<u2")])


@functools.cache
def _key_type(flags: int, components: int) -> np.dtype[np.void]:
    """Return the layout of a key with these flags."""
    given = [(name, "<f4") for bit, name in enumerate(PARAMETERS) if flags >> bit & 1]
    return np.dtype([("frame", "<i4"), ("flags", "<u2"), *given, ("value", "<f4", (components,))])


@functools.cache
def _key_sizes(components: int) -> tuple[int, ...]:
    """Return the size of a key in bytes for each value of the lower byte of its flags."""
    return tuple(_key_type(flags & _HAS_PARAMETERS, components).itemsize for flags in range(256))


def read_track(kind: str, data: bytes, start: int, end: int) -> tuple[Track, int]:
    """Return the track whose bytes begin at `start`, and the position of its end, which is at most `end`.

    Raises ChunkError if there are too few bytes up to `end`.
    """
    if end - start < _TRACK_HEADER.size:
        raise ChunkError(start, n_("has {:d} bytes, but needs {:d} before its keys", end - start, _TRACK_HEADER.size))
    track_flags, first, second, count = _TRACK_HEADER.unpack_from(data, start)
    at, components = start + _TRACK_HEADER.size, COMPONENTS[kind]
    smallest = _key_type(0, components).itemsize + (kind == "MORPH")
    if count * smallest > end - at:
        most = (end - at) // smallest
        raise ChunkError(at - 4, n_("declares {:d} keys, but {:d} bytes hold at most {:d}", count, end - at, most))
    names: list[bytes] | None = [] if kind == "MORPH" else None
    starts, at = _key_starts(data, at, end, count, _key_sizes(components), names)
    offsets = np.array(starts, dtype=np.intp)
    head = _anywhere(data, _HEAD)[offsets]
    flags = head["flags"].astype(np.uint16)
    offsets += _HEAD.itemsize
    parameters = np.zeros((len(PARAMETERS), count), np.float32)
    numbers = _anywhere(data, np.dtype("<f4"))
    for row in range(len(PARAMETERS)):
        given = np.flatnonzero(flags & (1 << row))
        parameters[row, given] = numbers[offsets[given]]
        offsets[given] += numbers.itemsize
    values = np.empty((count, components), np.float32)
    if components:
        packed = _anywhere(data, np.dtype(("V", 4 * components)))[offsets]
        values[:] = packed.view("<f4").reshape(-1, components)
    frames = head["frame"].astype(np.int32)
    for array in (frames, values, flags, parameters):
        array.flags.writeable = False
    return Track(kind, frames, values, flags, parameters, track_flags, (first, second), tuple(names or ())), at


def _anywhere(data: bytes | bytearray, layout: np.dtype[_Scalar]) -> npt.NDArray[_Scalar]:
    """View the data with this layout at every byte, aligned or not."""
    return np.ndarray((len(data) - layout.itemsize + 1,), layout, data, strides=(1,))


def _key_starts(
    data: bytes, at: int, end: int, count: int, sizes: tuple[int, ...], names: list[bytes] | None
) -> tuple[list[int], int]:
    """Return the position of each key, and the end of the last key.

    If `names` is a list, every key ends with a name, which is appended to the list.
    """
    starts: list[int] = []
    for key in range(count):
        starts.append(at)
        stop = at + sizes[data[at + _FLAGS_AT]] if at + _HEAD.itemsize <= end else end + 1
        if stop > end:
            raise ChunkError(at, n_("has too few bytes for key {:d}", key))
        at = stop
        if names is not None:
            terminator = data.find(b"\0", at, end)
            if terminator < 0:
                raise ChunkError(at, n_("has no terminating zero in the name of key {:d}", key))
            names.append(data[at:terminator])
            at = terminator + 1
    return starts, at


def key_warnings(track: Track, start: int) -> Iterator[ReadWarning]:
    """Yield warnings about unusual keys of a track whose bytes begin at `start`. The keys are kept unchanged."""
    frames, values, parameters = track.frames, track.values, track.parameters
    if not len(frames):
        return
    # The extremes show whether all keys are valid (NaN is both). The invalid keys are searched for only if there are
    # any.
    back = frames[1:] < frames[:-1]
    if back.any():
        keys = np.flatnonzero(back) + 1
        yield _key_warning(track, start, keys, n_("follows frame {:d}", frames[keys[0] - 1]))
    if frames.min() < -LAST_FRAME or frames.max() > LAST_FRAME:
        keys = np.flatnonzero((frames > LAST_FRAME) | (frames < -LAST_FRAME))
        yield _key_warning(track, start, keys, n_("is after frame {:d}", LAST_FRAME))
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        keys = np.flatnonzero(~np.isfinite(values).all(axis=1))
        yield _key_warning(track, start, keys, n_("has a value that is not a finite number"))
    if np.bitwise_or.reduce(track.key_flags) & _HAS_PARAMETERS:
        # Compare in float32, because NumPy warns when it converts some kinds of NaN.
        lowest = LOWEST[:, 0].astype(np.float32)
        inside = (parameters.min(axis=1) >= lowest) & (parameters.max(axis=1) <= HIGHEST)
        for row in np.flatnonzero(~inside):
            keys = np.flatnonzero(~((parameters[row] >= lowest[row]) & (parameters[row] <= HIGHEST)))
            number = parameters[row, keys[0]]
            message = n_("has {:s} {:g}, not in [{:g}, 1]", WORDS[PARAMETERS[row]], number, lowest[row])
            yield _key_warning(track, start, keys, message)


def _key_warning(track: Track, start: int, keys: npt.NDArray[np.intp], message: Text) -> ReadWarning:
    key = int(keys[0])
    before = track.key_flags[:key] & 0xFF
    sizes = np.array(_key_sizes(COMPONENTS[track.kind]))[before]
    offset = start + _TRACK_HEADER.size + int(sizes.sum()) + sum(len(name) + 1 for name in track.names[:key])
    frame, more = track.frames[key], len(keys) - 1
    if more:
        return ReadWarning(offset, n_("key {:d} at frame {:d} {:s} (and {:d} more)", key, frame, message, more))
    return ReadWarning(offset, n_("key {:d} at frame {:d} {:s}", key, frame, message))


def track_bytes(track: Track) -> bytes:
    """Return the content of a track's chunk. Raises ThreeDSError if the track cannot be written without changes."""
    _check(track)
    components = COMPONENTS[track.kind]
    sizes = np.array(_key_sizes(components))[track.key_flags & 0xFF]
    steps = sizes + [len(name) + 1 for name in track.names] if track.names else sizes
    starts = np.cumsum(steps) - steps
    content = bytearray(int(steps.sum()))
    with_parameters = track.key_flags & _HAS_PARAMETERS
    for given in np.unique(with_parameters).tolist():
        which = np.flatnonzero(with_parameters == given)
        keys = np.empty(len(which), _key_type(given, components))
        keys["frame"], keys["flags"], keys["value"] = track.frames[which], track.key_flags[which], track.values[which]
        for row, name in enumerate(PARAMETERS):
            if given >> row & 1:
                keys[name] = track.parameters[row, which]
        _anywhere(content, keys.dtype)[starts[which]] = keys
    for start, shown in zip((starts + sizes).tolist(), track.names, strict=bool(track.names)):
        content[start : start + len(shown)] = shown
    return pack(_TRACK_HEADER, track.flags, *track.reserved, len(track.frames)) + content


def _check(track: Track) -> None:
    """Check that the file can store the arrays: their types, their shapes, and the flag of each parameter."""
    count = len(track.frames)
    check_array("frames", track.frames, np.int32, (count,))
    check_array("values", track.values, np.float32, (count, COMPONENTS[track.kind]))
    check_array("key_flags", track.key_flags, np.uint16, (count,))
    check_array("parameters", track.parameters, np.float32, (len(PARAMETERS), count))
    if len(track.names) != (count if track.kind == "MORPH" else 0):
        raise ThreeDSError(n_("there are {:d} keys but {:d} names", count, len(track.names)))
    unflagged = track.key_flags >> np.arange(len(PARAMETERS), dtype=np.uint16)[:, np.newaxis] & 1 == 0
    lost = (track.parameters != 0) & unflagged
    if lost.any():
        row, key = np.argwhere(lost)[0]
        word = WORDS[PARAMETERS[row]]
        raise ThreeDSError(n_("key {:d} at frame {:d}: {:s} is set, but its flag is not", key, track.frames[key], word))
