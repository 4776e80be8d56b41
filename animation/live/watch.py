# SPDX-License-Identifier: GPL-3.0-or-later
"""Find edited tracks in one slot of an action, by comparing the tracks with their state at the last check."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..bake.locks import lock_again
from ..errors import Finding
from ..fcurves.channels import Channels
from ..messages import STANDING
from ..report import Report
from ..store.edited_outside import edited_outside
from ..store.tracks import Track
from ..store.up_to_date import are_up_to_date
from .slot_tracks import SlotTracks
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


@dataclass
class Watch:
    """The state of one slot's TCB tracks at the last check. Dictionaries contain the tracks by path."""

    slot: SlotTracks = field(default_factory=SlotTracks)
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

    def forget(self) -> None:
        """Discard all data that becomes invalid when an edit is undone or a file is loaded."""
        self.slot.forget()
        self.key_places, self.bake_inputs, self.outside = {}, {}, set()

    def edited_by_fast_check(self) -> list[Track]:
        """Return the tracks in which keys were moved, added, deleted or changed in value since the last check.

        If no tracks have such changes, return the tracks whose key identities, settings or timing have changed.
        """
        tracks, played = self.slot.tracks, self.slot.played
        reader = self.slot.reader(played)
        paths = [track.path for track in played]
        key_places = dict(zip(paths, reader.read(("co",)), strict=True))
        candidates = [tracks[path] for path in _differing(key_places, self.key_places)]
        self.key_places, self.unsure = key_places, paths
        if not candidates:
            bake_inputs = dict(zip(paths, read_bake_inputs(played, reader), strict=True))
            candidates = [tracks[path] for path in _differing(bake_inputs, self.bake_inputs)]
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
            track = self.slot.tracks.get(self.unsure.pop())
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
        baked = [track for track in self.slot.tracks.values() if track.bake is not None]
        baked = [track for track in baked if track.path not in self.outside]
        # The fast check does not find all edits, so `not_outside` compares unlocked tracks again.
        notes = lock_again(channels, baked, self.not_outside, self.slot.has_new_curves)
        self.slot.has_new_curves = False
        return notes

    def take(self, channels: Channels, tracks: Sequence[Track], report: Report) -> None:
        """Store the current state of the tracks that were updated, and the report's notes and errors."""
        self.slot.update(channels, tracks)
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
            track = self.slot.tracks.get(error.track)
            if track is not None:
                self.refused[track.path] = Refusal(bake_checksum(track), error)

    def findings(self) -> Iterator[Finding]:
        """Yield the notes on the tracks in their current state, such as reasons why a bake failed."""
        yield from (refusal.reason for refusal in self.refused.values())
        yield from self.slot.mode_notes
        played = self.slot.played
        outside = [track for track in played if track.path in self.outside]
        yield from (track.finding("EDITED_OUTSIDE") for track in [*outside, *self.slot.lost])
        yield from (note for track in played for note in self.standing.get(track.path, ()))


Watches = dict[tuple[int, int], Watch]
"""States at the last check, by the `session_uid` of the action and the handle of its slot."""


def _differing(now: Mapping[str, object], before: Mapping[str, object]) -> list[str]:
    """Return the paths whose values differ, or were unknown before."""
    return [path for path, value in now.items() if before.get(path) != value]
