# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of tracks that edits can change, read in bulk and compared with the state at an earlier check."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import KINDS, MARKS, SIDES
from ..fcurves.read_keys import KeyBlock
from ..store.frame_functions import function_of, functions_of
from ..store.track_refusals import blocking_reason
from ..store.tracks import Track
from ..store.up_to_date import shape_of


class KeyReader:
    """A reader of the keys on tracks."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        self._paths = [track.path for track in tracks]
        self._block = KeyBlock([fcurve.keyframe_points for track in tracks for fcurve in track.channels.values()])
        starts = [0, *accumulate(self._block.counts)]
        self._bounds = [starts[number] for number in accumulate([len(track.channels) for track in tracks], initial=0)]
        """Index of each track's first key, and the total number of keys."""

    def is_of(self, tracks: Sequence[Track]) -> bool:
        """Return whether the reader was created for exactly these tracks, with the same numbers of keys."""
        is_same = [track.path for track in tracks] == self._paths
        return is_same and list(map(len, self._block.every)) == self._block.counts

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Return, for each track, the bytes of these attributes of all keys, in the order of the keys."""
        arrays = [self._block.read(name) for name in names]
        bytes_of_keys = np.concatenate([_bytes_of(array, self._bounds[-1]) for array in arrays], axis=1)
        size, buffer = bytes_of_keys.shape[1], bytes_of_keys.tobytes()
        return [buffer[size * start : size * end] for start, end in pairwise(self._bounds)]


def read_bake_inputs(tracks: Sequence[Track], reader: KeyReader) -> list[tuple[object, ...]]:
    """Return each track's key identities, settings and timing, which affect the motion in addition to the keys."""
    result: list[tuple[object, ...]] = []
    identities = reader.read([name for name in MARKS if name != "co"])
    for track, identities_of_track, function in zip(tracks, identities, functions_of(tracks), strict=True):
        settings, checksum = track.settings, function.checksum if function is not None else 0
        result.append((shape_of(track, settings, settings.options), settings, checksum, identities_of_track))
    return result


def bake_checksum(track: Track) -> int:
    """Return a checksum of the key frames and values, the settings, and data that can prevent a bake of the track."""
    function = function_of(track)
    checksum = function.checksum if function is not None else 0
    conditions = (track.settings, track.order, checksum, blocking_reason(track))
    return zlib.crc32(KeyReader([track]).read(("co",))[0], zlib.crc32(repr(conditions).encode()))


class OtherState(NamedTuple):
    """The state of a track that edits can change, except key frames, key values and its bake inputs."""

    handles: bytes
    other: tuple[object, ...]

    def is_like(self, other: OtherState) -> bool:
        """Return whether the states are equal, except for rounding of the handles' frames by an editor.

        If an NLA strip is in tweak mode, editors show the handles of its keys in scene time, and convert the frames
        back to action time.
        """
        return self == other or (self.other == other.other and _are_handles_alike(self.handles, other.handles))


def read_other_states(tracks: Iterable[Track], reader: KeyReader) -> list[OtherState]:
    """Read the state that an edit to the tracks can change, except key frames, key values and bake inputs."""
    result = []
    kinds = reader.read((*KINDS, "easing"))
    for track, handles, kinds_of_track in zip(tracks, reader.read(SIDES), kinds, strict=True):
        settings = map(_settings_of, track.channels.values())
        result.append(OtherState(handles, (*settings, zlib.crc32(kinds_of_track))))
    return result


def _bytes_of(array: npt.NDArray[Any], count: int) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(count, -1 if count else 0)


def _settings_of(fcurve: bpy.types.FCurve) -> tuple[object, ...]:
    settings = fcurve.extrapolation, fcurve.mute, fcurve.lock
    modifiers = [(modifier.type, modifier.mute) for modifier in fcurve.modifiers] if len(fcurve.modifiers) else []
    return (*settings, *modifiers)


def are_handles_as_written(track: Track, state: OtherState) -> bool:
    """Return whether the handles that play a track are unchanged since they were placed."""
    if not track.is_played_by_handles or not track.all_written:
        return True
    # In the state, the two handles of a key are adjacent.
    sides = [np.concatenate([channel.own[side] for side in SIDES], axis=1) for channel in track.all_written]
    placed = b"".join([handles.tobytes() for handles in sides])
    return len(placed) != len(state.handles) or _are_handles_alike(placed, state.handles)


def _are_handles_alike(before: bytes, now: bytes) -> bool:
    """Return whether handles have the same values, and the same frames except for rounding."""
    if len(before) != len(now):
        return False
    away = np.abs(np.frombuffer(now, np.float32) - np.frombuffer(before, np.float32)).reshape(-1, 2)
    return not away[:, 1].any() and float(away[:, 0].max(initial=0.0)) < SAME_FRAME
