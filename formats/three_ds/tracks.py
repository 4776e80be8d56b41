# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the keys of a track from bytes to arrays and back.

A key consists of its frame (i32), its flags (u16), a float for each parameter whose flag is set, and its value. Keys
with the same flags therefore have the same size, and are read and written together.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..keys import HIGHEST, LOWEST, PARAMETERS, WORDS, Float32Array
from ..messages import Text, n_
from .chunks import ChunkError, ReadWarning, ThreeDSError, check_array, pack
from .scene import COMPONENTS, FrameArray, Track, WordArray

_Scalar = TypeVar("_Scalar", bound=np.generic)

_NO_ROOM = n_("has too few bytes for key {:d}")
_HAS_PARAMETERS = (1 << len(PARAMETERS)) - 1
"""The flags of a key for the parameters that follow it, in the order of PARAMETERS."""
LAST_FRAME = 1 << 24
"""The largest magnitude of a frame that is not considered damage. Beyond it, float32 cannot represent all integers."""

_Arrays = tuple[FrameArray, Float32Array, WordArray, Float32Array]
"""Frames, values, flags and parameters, in the order of a track's attributes."""

_TRACK_HEADER = struct.Struct("<HIII")
_FLAGS_AT = 4
_ZERO = bytes(4)
_HEAD = np.dtype([("frame", "<i4"), ("flags", "<u2")])
_BLOCK = 1 << 14
"""Number of keys of different sizes that are read at a time, so that the arrays of a block stay in the cache."""


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

    Raises
    ------
    Damage
        If there are too few bytes up to `end`.
    """
    if end - start < _TRACK_HEADER.size:
        raise ChunkError(start, n_("has {:d} bytes, but needs {:d} before its keys", end - start, _TRACK_HEADER.size))
    flags, first, second, count = _TRACK_HEADER.unpack_from(data, start)
    at = start + _TRACK_HEADER.size
    smallest = _key_type(0, COMPONENTS[kind]).itemsize + (kind == "MORPH")
    if count * smallest > end - at:
        most = (end - at) // smallest
        raise ChunkError(at - 4, n_("declares {:d} keys, but {:d} bytes hold at most {:d}", count, end - at, most))
    names: list[bytes] = []
    uniform = None if kind == "MORPH" else _keys_of_one_size(data, at, end, count, COMPONENTS[kind])
    arrays, at = uniform or _keys_of_many_sizes(
        data, at, end, count, COMPONENTS[kind], names if kind == "MORPH" else None
    )
    for array in arrays:
        array.flags.writeable = False
    return Track(kind, *arrays, flags, (first, second), tuple(names)), at


def _keys_of_one_size(data: bytes, start: int, end: int, count: int, components: int) -> tuple[_Arrays, int] | None:
    """Read keys with the same parameters and return the position of their end, or None if parameters differ."""
    flags = data[start + _FLAGS_AT] if count else 0
    layout = _key_type(flags & _HAS_PARAMETERS, components)
    if count * layout.itemsize > end - start:
        return None
    keys = np.frombuffer(data, layout, count, start)
    all_flags = keys["flags"].copy()
    if np.bitwise_or.reduce(all_flags ^ flags) & _HAS_PARAMETERS:
        return None
    parameters: Float32Array
    if flags & _HAS_PARAMETERS:
        parameters = np.zeros((len(PARAMETERS), count), np.float32)
        for row, name in enumerate(PARAMETERS):
            if flags >> row & 1:
                parameters[row] = keys[name]
    else:
        # A single broadcast zero, because most files have no parameters at all.
        parameters = np.ndarray((len(PARAMETERS), count), np.float32, _ZERO, strides=(0, 0))
    arrays = keys["frame"].copy(), keys["value"].copy(), all_flags, parameters
    return arrays, start + count * layout.itemsize


def _keys_of_many_sizes(
    data: bytes, start: int, end: int, count: int, components: int, names: list[bytes] | None
) -> tuple[_Arrays, int]:
    """Read keys one after another and return the position of their end. With `names`, each key ends with a name."""
    frames = np.empty(count, np.int32)
    values = np.empty((count, components), np.float32)
    flags = np.empty(count, np.uint16)
    parameters = np.zeros((len(PARAMETERS), count), np.float32)
    heads = _anywhere(data, _HEAD)
    numbers = _anywhere(data, np.dtype("<f4"))
    at = start
    for first in range(0, count, _BLOCK):
        keys = range(first, min(first + _BLOCK, count))
        block = slice(keys.start, keys.stop)
        if names is None:
            starts, at = _key_starts(data, at, end, keys, _key_sizes(components))
        else:
            starts, at = _named_key_starts(data, at, end, keys, names)
        offsets = np.array(starts)
        head = heads[offsets]
        frames[block], flags[block] = head["frame"], head["flags"]
        offsets += _HEAD.itemsize
        for row in range(len(PARAMETERS)):
            given = np.flatnonzero(flags[block] & (1 << row))
            parameters[row, block][given] = numbers[offsets[given]]
            offsets[given] += numbers.itemsize
        if components:
            values[block] = (
                _anywhere(data, np.dtype(("V", 4 * components)))[offsets].view("<f4").reshape(-1, components)
            )
    return (frames, values, flags, parameters), at


def _anywhere(data: bytes | bytearray, layout: np.dtype[_Scalar]) -> npt.NDArray[_Scalar]:
    """View the data with this layout at every byte, aligned or not."""
    return np.ndarray((len(data) - layout.itemsize + 1,), layout, data, strides=(1,))


def _key_starts(data: bytes, at: int, end: int, keys: range, sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Return the position of each of these keys, and the end of the last key."""
    starts: list[int] = []
    add = starts.append
    try:
        for _ in keys:
            add(at)
            at += sizes[data[at + _FLAGS_AT]]
    except IndexError:
        at = len(data) + 1
    if at > end:
        # Checked only now, because this loop takes most of the time for reading keys of different sizes.
        late = next(index for index, stop in enumerate([*starts[1:], at]) if stop > end)
        raise ChunkError(starts[late], Text(_NO_ROOM, keys[late]))
    return starts, at


def _named_key_starts(data: bytes, at: int, end: int, keys: range, names: list[bytes]) -> tuple[list[int], int]:
    """Return the same for keys that end with a name. The names are appended to `names`."""
    starts = []
    sizes = _key_sizes(0)
    for key in keys:
        starts.append(at)
        if at + _HEAD.itemsize > end or at + sizes[data[at + _FLAGS_AT]] > end:
            raise ChunkError(at, Text(_NO_ROOM, key))
        name = at + sizes[data[at + _FLAGS_AT]]
        stop = data.find(b"\0", name, end)
        if stop < 0:
            raise ChunkError(name, n_("has no terminating zero in the name of key {:d}", key))
        names.append(data[name:stop])
        at = stop + 1
    return starts, at


def key_warnings(track: Track, start: int) -> Iterator[ReadWarning]:
    """Yield warnings about unusual keys of a track whose bytes begin at `start`. The keys are kept unchanged."""
    frames, values, parameters = track.frames, track.values, track.parameters
    if not len(frames):
        return
    # The extremes show whether all keys are valid (NaN is both). Only otherwise are the invalid keys searched for.
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
        # In float32, because NumPy warns when it converts some kinds of NaN.
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
    """Return the content of a track's chunk.

    Raises
    ------
    ThreeDSError
        If the track cannot be written without changes.
    """
    _check(track)
    count, flags = len(track.frames), track.key_flags
    components = COMPONENTS[track.kind]
    named = track.kind == "MORPH"
    kept = flags & _HAS_PARAMETERS
    if count and not named and (kept == kept[0]).all():
        content = bytearray(_packed_keys(track, slice(None), int(kept[0])).tobytes())
        return pack(_TRACK_HEADER, track.flags, *track.reserved, count) + content
    sizes = np.array(_key_sizes(components))[flags & 0xFF]
    steps = sizes + [len(name) + 1 for name in track.names] if named else sizes
    starts = np.cumsum(steps) - steps
    content = bytearray(int(steps.sum()))
    for given in np.unique(kept).tolist():
        which = np.flatnonzero(kept == given)
        keys = _packed_keys(track, which, given)
        _anywhere(content, keys.dtype)[starts[which]] = keys
    if named:
        for start, shown in zip((starts + sizes).tolist(), track.names, strict=True):
            content[start : start + len(shown)] = shown
    return pack(_TRACK_HEADER, track.flags, *track.reserved, count) + content


def _packed_keys(track: Track, which: npt.NDArray[np.intp] | slice, given: int) -> npt.NDArray[np.void]:
    """Return the bytes of these keys, which all have the parameters of `given`."""
    frames = track.frames[which]
    keys = np.empty(len(frames), _key_type(given, COMPONENTS[track.kind]))
    keys["frame"], keys["flags"], keys["value"] = frames, track.key_flags[which], track.values[which]
    for row, name in enumerate(PARAMETERS):
        if given >> row & 1:
            keys[name] = track.parameters[row, which]
    return keys


def _check(track: Track) -> None:
    """Check that the file can store the arrays, by their types, shapes, and the flag of each parameter."""
    count = len(track.frames)
    check_array("frames", track.frames, np.int32, (count,))
    check_array("values", track.values, np.float32, (count, COMPONENTS[track.kind]))
    check_array("key_flags", track.key_flags, np.uint16, (count,))
    check_array("parameters", track.parameters, np.float32, (len(PARAMETERS), count))
    if len(track.names) != (count if track.kind == "MORPH" else 0):
        raise ThreeDSError(n_("{:d} keys but {:d} names", count, len(track.names)))
    unflagged = track.key_flags >> np.arange(len(PARAMETERS), dtype=np.uint16)[:, np.newaxis] & 1 == 0
    lost = (track.parameters != 0) & unflagged
    if lost.any():
        row, key = np.argwhere(lost)[0]
        text = n_(
            "key {:d} at frame {:d} has a {:s} without its flag",
            key,
            track.frames[key],
            WORDS[PARAMETERS[row]],
        )
        raise ThreeDSError(text)
