# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: what was edited is baked again, and only that.

Blender says that an action changed, not which key. But each baked track has a digest of what its bake has left, so
the tracks that are otherwise now are those that were edited: they are baked again, each as it was baked last. A bake
depends on keys, parameters and choices alone, so it does not matter how often it is done, or what undo brings back.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np

from .baking import rebake
from .channels import Channels, channels_in, channels_of
from .companions import is_stray, remove_strays
from .datablocks import action_time, users_of
from .faults import Refusal
from .keyframes import places, read_unplaced
from .options import Options
from .reading import digest
from .report import Report
from .settings import Settings, numbers_of
from .stamps import GENERATED, SAME_FRAME
from .tracks import Track, find_tracks, refreshed


@dataclass
class Watch:
    """The TCB tracks of one slot of one action, as they were when they were last looked at."""

    users: list[bpy.types.ID] = field(default_factory=list)
    pointers: list[int] = field(default_factory=list)
    """Of all F-curves: while these are the same, `tracks` can be used."""
    tracks: dict[str, Track] = field(default_factory=dict)
    settings: dict[str, Settings] = field(default_factory=dict)
    """Of the baked tracks, by path: with the digests that their bakes have left."""
    refused: dict[str, int] = field(default_factory=dict)
    """The digests that tracks had which could not be baked again."""
    rest: dict[tuple[str, int], int] = field(default_factory=dict)
    """Of each F-curve, by path and index, a checksum of all that an edit can change but the places of its keys."""

    def forget(self) -> None:
        """Let go of everything that undo or loading a file has made invalid."""
        self.users, self.pointers, self.tracks, self.settings = [], [], {}, {}

    def find(self, channels: Channels, thoroughly: bool) -> bool:
        """Find the tracks where F-curves came or went; False where nothing uses the channels."""
        if thoroughly or not self._uses(channels):
            self.users = [user for user in users_of(channels.action) if _is_animated_by(user, channels)]
        if not self.users:
            return False
        pointers = [fcurve.as_pointer() for fcurve in channels]
        if thoroughly or pointers != self.pointers:
            self.pointers = pointers
            self.tracks = {track.path: track for track in find_tracks(self.users[0], channels) if track.enabled}
            self.settings = {}
            for track in self.tracks.values():
                self._read_settings(track)
        return True

    def _uses(self, channels: Channels) -> bool:
        try:
            return bool(self.users) and all(_is_animated_by(user, channels) for user in self.users)
        except ReferenceError:
            return False

    def _read_settings(self, track: Track) -> None:
        try:
            self.settings[track.path] = track.settings
        except Refusal:
            # Said when it is baked again.
            self.settings[track.path] = Settings()

    def edited(self, thoroughly: bool) -> list[Track]:
        """The baked tracks whose keys or parameters moved, came, went or have other values since the last bake; where
        looked at `thoroughly` also those with other handles, interpolation or choices, which takes much longer."""
        return [track for track in self.tracks.values() if track.saved and self._is_edited(track, thoroughly)]

    def _is_edited(self, track: Track, thoroughly: bool) -> bool:
        settings = self.settings[track.path]
        now = digest(track, settings)
        if now != settings.digest:
            return thoroughly or self.refused.get(track.path) != now
        return thoroughly and any(self.rest.get(name, rest) != rest for name, rest in _rest(track))

    def take(self, channels: Channels, tracks: Iterable[Track], refused: Iterable[str]) -> None:
        """Keep what the tracks look like now that they were baked; the bake may have made F-curves."""
        self.pointers = [fcurve.as_pointer() for fcurve in channels]
        for track in tracks:
            self.tracks[track.path] = track
            self._read_settings(track)
            self.rest.update(_rest(track))
            self.refused.pop(track.path, None)
        for path in refused:
            track = self.tracks[path]
            self.refused[path] = digest(track, self.settings[path])


def refresh(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    thoroughly: bool = True,
    otherwise: Options | None = None,
    keyed: float | None = None,
) -> Report:
    """Bake again what was edited of the action's baked tracks since their last bake.

    Parameters
    ----------
    watches
        By action and slot; what was looked at before, and from now on.
    action
        Editable. Slots that nothing uses are left alone.
    thoroughly
        Look at all that an edit can change, not only at the places of keys.
    otherwise
        How TCB tracks are baked that are not baked; None: they are left alone.
    keyed
        The frame of the scene at which keys were inserted just now: where all channels of a track are selected there,
        the generated keys become the animator's, though nothing else of them has changed.

    Returns
    -------
    Report
        Tracks that can't be baked stand in `refused`, and stay as they are.
    """
    report = Report()
    for channels in channels_in(action):
        watch = watches.setdefault((action.session_uid, channels.slot_handle), Watch())
        if not watch.find(channels, thoroughly):
            continue
        if keyed is not None:
            for track in watch.tracks.values():
                _make_keyed(track, action_time(watch.users[0], keyed))
        tracks = watch.edited(thoroughly)
        if otherwise is not None:
            tracks += [track for track in watch.tracks.values() if not track.saved and track.in_use]
        if tracks:
            report.add(_bake_again(watch, channels, tracks, otherwise or Options()))
        if thoroughly:
            for track in watch.tracks.values():
                watch.rest.update(_rest(track))
    return report


def _bake_again(watch: Watch, channels: Channels, tracks: list[Track], otherwise: Options) -> Report:
    if any(is_stray(fcurve.data_path) for fcurve in channels):
        remove_strays(channels)
    present = [now for track in tracks if (now := refreshed(watch.users[0], track)) is not None]
    report = rebake(watch.users, channels, [track for track in present if track.in_use], otherwise)
    refused = {refusal.track for refusal in report.refusals}
    watch.take(channels, [track for track in present if track.path not in refused], refused)
    return report


def _make_keyed(track: Track, frame: float) -> None:
    """Make generated keys at the frame the animator's, where keying left those of all channels selected."""
    rows = {}
    for index, fcurve in track.channels.items():
        points = fcurve.keyframe_points
        frames = places(fcurve)[::2]
        row = int(np.searchsorted(frames, np.float32(frame - SAME_FRAME)))
        if row == len(frames) or abs(frames[row] - frame) > SAME_FRAME or not points[row].select_control_point:
            return
        rows[index] = points[row]
    for point in rows.values():
        if point.type == "GENERATED" and point.amplitude == GENERATED:
            point.type = "KEYFRAME"


def _rest(track: Track) -> Iterator[tuple[tuple[str, int], int]]:
    """A checksum of each F-curve of the track, without the places of its keys."""
    for fcurve in (*track.channels.values(), *track.companions):
        state = (fcurve.extrapolation, fcurve.mute, fcurve.lock, [modifier.type for modifier in fcurve.modifiers])
        crc = zlib.crc32(repr((*state, numbers_of(fcurve))).encode())
        for array in read_unplaced(fcurve):
            crc = zlib.crc32(array.tobytes(), crc)
        yield (fcurve.data_path, fcurve.array_index), crc


def _is_animated_by(datablock: bpy.types.ID, channels: Channels) -> bool:
    try:
        return channels_of(datablock).identity == channels.identity
    except Refusal:
        return False
