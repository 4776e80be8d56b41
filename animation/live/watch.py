# SPDX-License-Identifier: GPL-3.0-or-later
"""Find edited tracks in one slot of an action, by comparing the tracks with their state at the last check."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy

from ..bake.locks import lock_again
from ..errors import Finding
from ..fcurves.channels import Channels, animates, users_of_channels
from ..messages import STANDING
from ..report import Report
from ..store.edited_outside import edited_outside
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.frame_function_paths import remove_strays
from ..store.table.custom_property import table_stamp
from ..store.tracks import Track
from ..store.up_to_date import RESTORED, are_up_to_date
from .track_states import (
    KeyReader,
    OtherState,
    are_handles_as_written,
    bake_checksum,
    read_bake_inputs,
    read_other_states,
)


class Refusal(NamedTuple):
    """The reason why a track could not be baked again."""

    checksum: int
    """Checksum of the track's state. The track is not tried again in this state."""
    reason: Finding


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
    other_state: dict[str, OtherState] = field(default_factory=dict)
    """The state of each track that an edit to its F-curves can change, except key frames and values."""
    unsure: list[str] = field(default_factory=list)
    """Tracks for which only key frames and values have been checked so far."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """Tracks that could not be baked again."""
    standing: dict[str, list[Finding]] = field(default_factory=dict)
    """Notes from each track's last bake that remain valid until the track changes."""
    outside: set[str] = field(default_factory=set)
    """Baked tracks that were edited outside TCB."""
    is_live: bool = False
    """True if the last check updated the tracks. Otherwise, edits may be pending."""
    _pointers: list[int] = field(default_factory=list)
    """Pointers of all F-curves. As long as the pointers are unchanged, `tracks` and `_reader` are valid."""
    _reader: KeyReader | None = None
    """The reader of the played tracks, which is reused because creating it takes as long as reading."""

    def forget(self) -> None:
        """Discard all data that becomes invalid when an edit is undone or a file is loaded."""
        self.users, self.tracks, self.lost, self.table = [], {}, [], 0
        self._pointers, self._reader = [], None
        self.key_places, self.bake_inputs, self.outside = {}, {}, set()

    def find(self, channels: Channels, anew: bool) -> bool:
        """Find the tracks again if `anew` is true, or if F-curves have been added or removed.

        Return whether the F-curves have users.
        """
        if anew or not self._uses(channels):
            (self.users,) = users_of_channels([channels])
            # Tracks refer to their datablock, so they must be found again.
            anew = True
        if not self.users:
            return False
        table, pointers = table_stamp(channels.action), list(map(bpy.types.FCurve.as_pointer, channels))
        if anew or table != self.table or pointers != self._pointers:
            remove_strays(channels)
            self.table, self._pointers = table, list(map(bpy.types.FCurve.as_pointer, channels))
            tracks = find_tracks(self.users[0], channels)
            self.tracks = {track.path: track for track in tracks if track.enabled}
            self.lost = lost_tracks(self.users[0], channels, tracks)
            self.has_new_curves, self._reader = True, None
            self._note_modes()
        return True

    def _uses(self, channels: Channels) -> bool:
        try:
            return bool(self.users) and all(animates(channels, user) for user in self.users)
        except ReferenceError:
            return False

    def _note_modes(self) -> None:
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
        waiting = [track for track in self.tracks.values() if not track.is_played and track.settings.digest != RESTORED]
        return [track for track in waiting if track.in_use]

    def edited_by_fast_check(self) -> list[Track]:
        """Return the tracks in which keys were moved, added, deleted or changed in value since the last check.

        If no tracks have such changes, return the tracks whose key identities, settings or timing have changed.
        """
        played = self.played
        if self._reader is None or not self._reader.is_of(played):
            self._reader = KeyReader(played)
        reader = self._reader
        paths = [track.path for track in played]
        key_places = dict(zip(paths, reader.read(("co",)), strict=True))
        candidates = [self.tracks[path] for path in _differing(key_places, self.key_places)]
        self.key_places, self.unsure = key_places, paths
        if not candidates:
            bake_inputs = dict(zip(paths, read_bake_inputs(played, reader), strict=True))
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
            (state,) = read_other_states([track], KeyReader([track]))
            before = self.other_state.get(track.path)
            if not (before.is_like(state) if before is not None else are_handles_as_written(track, state)):
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
            if refusal is not None and refusal.checksum == bake_checksum(track):
                continue
            self.refused.pop(track.path, None)
            result.append(track)
        return result

    def lock_again(self, channels: Channels) -> list[Finding]:
        """Lock unlocked baked channels again if their curves are unchanged since the bake, and return a note."""
        baked = [track for track in self.tracks.values() if track.bake is not None]
        baked = [track for track in baked if track.path not in self.outside]
        # The fast check does not find all edits, so `not_outside` compares unlocked tracks again.
        notes = lock_again(channels, baked, self.not_outside, self.has_new_curves)
        self.has_new_curves = False
        return notes

    def take(self, channels: Channels, tracks: Sequence[Track], report: Report) -> None:
        """Store the current state of the tracks that were updated, and the report's notes and errors."""
        # A bake may have changed the states of the tracks, the table and F-curves.
        self.table = table_stamp(channels.action)
        self.tracks |= {track.path: track for track in tracks}
        paths = [track.path for track in tracks]
        reader = KeyReader(tracks)
        self.key_places |= zip(paths, reader.read(("co",)), strict=True)
        self.bake_inputs |= zip(paths, read_bake_inputs(tracks, reader), strict=True)
        self.other_state |= zip(paths, read_other_states(tracks, reader), strict=True)
        for path in paths:
            self.refused.pop(path, None)
            self.standing[path] = []
        for note in report.notes:
            if note.code in STANDING:
                self.standing.setdefault(note.track, []).append(note)
        for error in report.errors:
            track = self.tracks.get(error.track)
            if track is not None:
                self.refused[track.path] = Refusal(bake_checksum(track), error)

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


def _differing(now: Mapping[str, object], before: Mapping[str, object]) -> list[str]:
    """Return the paths whose values differ, or were unknown before."""
    return [path for path, value in now.items() if before.get(path) != value]
