# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCB tracks in one slot of an action, as Live found them. They are found again only after a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import bpy

from ..errors import Finding
from ..fcurves.channels import Channels, animates, users_of_channels
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.frame_function_paths import remove_strays
from ..store.table.custom_property import table_stamp
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .track_states import KeyReader


@dataclass
class SlotTracks:
    """The TCB tracks in one slot of an action."""

    users: list[bpy.types.ID] = field(default_factory=list)
    """The datablocks that use the slot."""
    tracks: dict[str, Track] = field(default_factory=dict)
    """The tracks by path."""
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
    _pointers: list[int] = field(default_factory=list)
    """Pointers of all F-curves. As long as the pointers are unchanged, `tracks` and `_reader` are valid."""
    _reader: KeyReader | None = None

    def forget(self) -> None:
        """Discard all data that becomes invalid when an edit is undone or a file is loaded."""
        self.users, self.tracks, self.lost, self.table = [], {}, [], 0
        self._pointers, self._reader = [], None

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
        table = table_stamp(channels.action)
        if anew or table != self.table or _pointers(channels) != self._pointers:
            remove_strays(channels)
            self._pointers, self.table = _pointers(channels), table
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

    def update(self, channels: Channels, tracks: Iterable[Track]) -> None:
        """Replace tracks after a bake, which may have changed their states, the table and F-curves."""
        self.table = table_stamp(channels.action)
        self.tracks |= {track.path: track for track in tracks}

    @property
    def played(self) -> list[Track]:
        """Return the tracks played by a bake or by handles."""
        return [track for track in self.tracks.values() if track.is_played]

    @property
    def not_played(self) -> list[Track]:
        """Return the TCB tracks in use that nothing plays yet, except restored tracks."""
        waiting = [track for track in self.tracks.values() if not track.is_played and track.settings.digest != RESTORED]
        return [track for track in waiting if track.in_use]

    def reader(self, tracks: Sequence[Track]) -> KeyReader:
        """Return a reader of the keys of these tracks, which is reused because creating it takes as long as reading."""
        if self._reader is None or not self._reader.is_of(tracks):
            self._reader = KeyReader(tracks)
        return self._reader


def _pointers(channels: Channels) -> list[int]:
    return list(map(bpy.types.FCurve.as_pointer, channels))
