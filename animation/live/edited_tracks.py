# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks in one slot of an action and their state at the last check, which shows the tracks that were edited since.

The state is read in bulk.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.locked_channels import baked_curves, is_locked, lock, lock_groups
from ..fcurves.channels import Channels, animates, users_of_channels
from ..fcurves.keyframes import KINDS, MARKS, SAME_FRAME, SIDES
from ..fcurves.read_and_write import KeyBlock
from ..messages import STANDING
from ..report import Finding, Report
from ..store.editable import blocking_reason
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.frame_functions import function_of, functions_of
from ..store.paths import remove_strays
from ..store.table.custom_property import table_stamp
from ..store.tracks import Track
from ..store.up_to_date import RESTORED, are_up_to_date, edited_outside, shape_of


@dataclass(eq=False)
class Watch:
    """The TCB tracks in one slot of an action, and their state at the last check. Dictionaries are indexed by path."""

    users: list[bpy.types.ID] = field(default_factory=list)
    """The datablocks that use the slot."""
    tracks: dict[str, Track] = field(default_factory=dict)
    lost: list[Track] = field(default_factory=list)
    """Baked tracks whose F-curves are missing, which counts as an edit outside TCB."""
    table: int = 0
    """The table's stamp when the tracks were found or updated."""
    has_new_curves: bool = False
    """True if F-curves were added or removed since the locks of groups were updated."""
    mode_notes: list[Finding] = field(default_factory=list)
    """Notes on rotations that play in a rotation mode other than the baked one, or that do not play at all."""
    new_notes: list[Finding] = field(default_factory=list)
    """Notes in `mode_notes` that have not been reported yet."""
    key_places: dict[str, bytes] = field(default_factory=dict)
    """Frames and values of the keys in each played track at the last check."""
    bake_inputs: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Key identities, settings and timing of each played track, which also determine whether it is up to date."""
    other_state: dict[str, _OtherState] = field(default_factory=dict)
    """The state of each track that an edit to its F-curves can change, except key frames and values."""
    unsure: list[str] = field(default_factory=list)
    """Tracks for which only key frames and values have been checked so far."""
    refused: dict[str, _Refusal] = field(default_factory=dict)
    """Tracks that could not be baked again."""
    standing: dict[str, list[Finding]] = field(default_factory=dict)
    """Notes from each track's last bake that remain valid until the track changes."""
    outside: set[str] = field(default_factory=set)
    """Baked tracks that were edited outside TCB."""
    is_live: bool = False
    """True if the last check updated the tracks. Otherwise, edits may be pending."""
    _pointers: list[int] = field(default_factory=list)
    """Pointers of all F-curves. As long as the pointers are unchanged, `tracks` and `_reader` are valid."""
    _reader: _KeyReader | None = None
    """The reader of the played tracks, which is reused because creating it takes as long as reading."""

    def forget(self) -> None:
        """Discard all data that becomes invalid when an edit is undone or a file is loaded."""
        self.users, self.tracks, self.lost, self.table = [], {}, [], 0
        self._pointers, self._reader = [], None
        self.key_places, self.bake_inputs, self.outside = {}, {}, set()

    def find(self, channels: Channels) -> bool:
        """Find the tracks again if F-curves, their users or the table have changed. Return whether there are users."""
        if not self._uses(channels):
            (self.users,) = users_of_channels([channels])
            # Tracks refer to their datablock, so they must be found again.
            self._pointers = []
        if not self.users:
            return False
        table, pointers = table_stamp(channels.action), list(map(bpy.types.FCurve.as_pointer, channels))
        if not self._pointers or table != self.table or pointers != self._pointers:
            remove_strays(channels)
            self.table, self._pointers = table, list(map(bpy.types.FCurve.as_pointer, channels))
            tracks = find_tracks(self.users[0], channels)
            self.tracks = {track.path: track for track in tracks if track.enabled}
            self.lost = lost_tracks(self.users[0], channels, tracks)
            self.has_new_curves, self._reader = True, None
            self._note_modes()
        return True

    def _uses(self, channels: Channels) -> bool:
        """Return whether the known users still exist and use the channels."""
        try:
            return bool(self.users) and all(animates(channels, user) for user in self.users)
        except ReferenceError:
            return False

    def _note_modes(self) -> None:
        """Update the notes on rotation modes, and add those that are new to `new_notes`."""
        tracks = [track for track in self.tracks.values() if track.settings.digest != RESTORED]
        unused = [track.finding("NOT_IN_USE") for track in tracks if not track.in_use]
        notes = [*unused, *played_otherwise(tracks, self.users[1:])]
        self.new_notes += [note for note in notes if note not in self.mode_notes]
        self.mode_notes = notes

    @property
    def played(self) -> list[Track]:
        """Return the tracks played by a bake or by handles."""
        return [track for track in self.tracks.values() if track.is_played]

    @property
    def not_played(self) -> list[Track]:
        """Return the TCB tracks in use that nothing plays yet, except restored tracks."""
        not_played = [track for track in self.tracks.values() if not track.is_played and track.in_use]
        return [track for track in not_played if track.settings.digest != RESTORED]

    def edited_by_fast_check(self) -> list[Track]:
        """Return the tracks in which keys were moved, added, deleted or changed in value since the last check.

        If no tracks have such changes, return the tracks whose key identities, settings or timing have changed.
        """
        played = self.played
        if self._reader is None or not self._reader.is_of(played):
            self._reader = _KeyReader(played)
        reader = self._reader
        paths = [track.path for track in played]
        key_places = dict(zip(paths, reader.read(("co",)), strict=True))
        candidates = [self.tracks[path] for path in _differing(key_places, self.key_places)]
        self.key_places, self.unsure = key_places, paths
        if not candidates:
            bake_inputs = dict(zip(paths, _read_bake_inputs(played, reader), strict=True))
            candidates = [self.tracks[path] for path in _differing(bake_inputs, self.bake_inputs)]
            self.bake_inputs = bake_inputs
        edited = []
        candidates = self.not_outside(candidates)
        for track, is_as_baked in zip(candidates, are_up_to_date(candidates), strict=True):
            # If a track was renamed or moved with its slot, the table must store its new path.
            if is_as_baked and track.is_at_home:
                self.refused.pop(track.path, None)
            else:
                edited.append(track)
        return self.worth_trying(edited)

    def edited_by_full_check(self, seconds: float) -> list[Track]:
        """Return the `unsure` tracks that were edited in any way. Stop when the time is up."""
        start = time.perf_counter()
        edited = []
        while self.unsure and time.perf_counter() - start < seconds:
            track = self.tracks.get(self.unsure.pop())
            if track is None or not track.is_played:
                continue
            (state,) = _read_other_states([track], _KeyReader([track]))
            before = self.other_state.get(track.path)
            if not (before.is_like(state) if before is not None else _are_handles_as_written(track, state)):
                edited.append(track)
            self.other_state[track.path] = state
        return self.not_outside(edited)

    def not_outside(self, tracks: Sequence[Track]) -> list[Track]:
        """Return the tracks, except baked tracks that were edited outside TCB. Such tracks are never updated."""
        outside = dict(zip([track.path for track in tracks], edited_outside(tracks), strict=True))
        for path, is_outside in outside.items():
            (self.outside.add if is_outside else self.outside.discard)(path)
        return [track for track in tracks if not outside[track.path]]

    def worth_trying(self, tracks: Sequence[Track]) -> list[Track]:
        """Return the tracks, except tracks that could not be baked in their current state."""
        result = []
        for track in tracks:
            refusal = self.refused.get(track.path)
            if refusal is not None and refusal.checksum == _bake_checksum(track):
                continue
            self.refused.pop(track.path, None)
            result.append(track)
        return result

    def lock_again(self, channels: Channels) -> list[Finding]:
        """Lock unlocked baked channels again if their curves are unchanged since the bake, and return a note."""
        baked = [track for track in self.tracks.values() if track.is_baked and track.path not in self.outside]
        # The fast check does not find all edits, so `not_outside` compares unlocked tracks again.
        unlocked = self.not_outside([track for track in baked if not all(map(is_locked, baked_curves(track)))])
        for track in unlocked:
            lock(baked_curves(track))
        if baked and (unlocked or self.has_new_curves):
            lock_groups(channels, baked[0].table)
        self.has_new_curves = False
        return [Finding("LOCKED_AGAIN", arguments=(len(unlocked),))] if unlocked else []

    def take(self, channels: Channels, tracks: Sequence[Track], report: Report) -> None:
        """Store the current state of the tracks that were updated, and the report's notes and errors."""
        # A bake may have changed the states of the tracks, the table and F-curves.
        self.table = table_stamp(channels.action)
        self.tracks |= {track.path: track for track in tracks}
        paths = [track.path for track in tracks]
        reader = _KeyReader(tracks)
        self.key_places |= zip(paths, reader.read(("co",)), strict=True)
        self.bake_inputs |= zip(paths, _read_bake_inputs(tracks, reader), strict=True)
        self.other_state |= zip(paths, _read_other_states(tracks, reader), strict=True)
        for path in paths:
            self.refused.pop(path, None)
            self.standing[path] = []
        for note in report.notes:
            if note.code in STANDING:
                self.standing.setdefault(note.track, []).append(note)
        for error in report.errors:
            track = self.tracks.get(error.track)
            if track is not None:
                self.refused[track.path] = _Refusal(_bake_checksum(track), error)

    def findings(self) -> Iterator[Finding]:
        """Yield the notes on the tracks in their current state, such as reasons why a bake failed."""
        yield from (refusal.reason for refusal in self.refused.values())
        yield from self.mode_notes
        played = self.played
        outside = [track for track in played if track.path in self.outside]
        yield from (track.finding("EDITED_OUTSIDE") for track in [*outside, *self.lost])
        yield from (note for track in played for note in self.standing.get(track.path, ()))


Watches = dict[tuple[int, int], Watch]
"""States at the last check, by the `session_uid` of the action and the handle of its slot."""


class _Refusal(NamedTuple):
    """The reason why a track could not be baked again."""

    checksum: int
    """Checksum of the track's state. The track is not tried again in this state."""
    reason: Finding


def _differing(now: Mapping[str, object], before: Mapping[str, object]) -> list[str]:
    """Return the paths whose values differ, or were unknown before."""
    return [path for path, value in now.items() if before.get(path) != value]


# Reading the state of tracks


class _KeyReader:
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


def _read_bake_inputs(tracks: Sequence[Track], reader: _KeyReader) -> list[tuple[object, ...]]:
    """Return each track's key identities, settings and timing, which affect the motion in addition to the keys."""
    result: list[tuple[object, ...]] = []
    identities = reader.read([name for name in MARKS if name != "co"])
    for track, identities_of_track, function in zip(tracks, identities, functions_of(tracks), strict=True):
        settings, checksum = track.settings, function.checksum if function is not None else 0
        result.append((shape_of(track, settings, settings.options), settings, checksum, identities_of_track))
    return result


def _bake_checksum(track: Track) -> int:
    """Return a checksum of the key frames and values, the settings, and data that can prevent a bake of the track."""
    function = function_of(track)
    checksum = function.checksum if function is not None else 0
    conditions = (track.settings, track.order, checksum, blocking_reason(track))
    return zlib.crc32(_KeyReader([track]).read(("co",))[0], zlib.crc32(repr(conditions).encode()))


class _OtherState(NamedTuple):
    """The state of a track that edits can change, except key frames, key values and its bake inputs."""

    handles: bytes
    other: tuple[object, ...]

    def is_like(self, other: _OtherState) -> bool:
        """Return whether the states are equal, except for rounding of the handles' frames by an editor.

        If an NLA strip is in tweak mode, editors show the handles of its keys in scene time, and convert the frames
        back to action time.
        """
        return self == other or (self.other == other.other and _are_handles_alike(self.handles, other.handles))


def _read_other_states(tracks: Iterable[Track], reader: _KeyReader) -> list[_OtherState]:
    """Read the state that an edit to the tracks can change, except key frames, key values and bake inputs."""
    result = []
    kinds = reader.read((*KINDS, "easing"))
    for track, handles, kinds_of_track in zip(tracks, reader.read(SIDES), kinds, strict=True):
        settings = map(_settings_of, track.channels.values())
        result.append(_OtherState(handles, (*settings, zlib.crc32(kinds_of_track))))
    return result


def _bytes_of(array: npt.NDArray[Any], count: int) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array's `count` rows, shape (count, bytes)."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(count, -1 if count else 0)


def _settings_of(fcurve: bpy.types.FCurve) -> tuple[object, ...]:
    """Return the settings and modifiers of an F-curve that edits can change."""
    settings = fcurve.extrapolation, fcurve.mute, fcurve.lock
    modifiers = [(modifier.type, modifier.mute) for modifier in fcurve.modifiers] if len(fcurve.modifiers) else []
    return (*settings, *modifiers)


def _are_handles_as_written(track: Track, state: _OtherState) -> bool:
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
