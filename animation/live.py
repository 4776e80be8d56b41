# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: what was edited is baked again, and only that.

Blender says that an action changed, not which key. So a `Watch` keeps what the keys of each TCB track looked like when
they were last looked at; the tracks that look otherwise now are baked again, each as it was baked last. A bake depends
on keys, parameters and choices alone, so it does not matter how often it is done, or what undo brings back.
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
from .keyframes import read_unplaced
from .options import Options
from .reading import is_up_to_date
from .report import Report
from .settings import numbers_of
from .stamps import GENERATED, SAME_FRAME
from .tracks import Track, find_tracks, refreshed


@dataclass(frozen=True)
class _Look:
    """What one F-curve looked like: the places of its keys, and a checksum of all else but what is selected."""

    co: bytes
    rest: int


@dataclass
class Watch:
    """The TCB tracks of one slot of one action, as they were when they were last looked at."""

    users: list[bpy.types.ID] = field(default_factory=list)
    pointers: list[int] = field(default_factory=list)
    """Of all F-curves: while these are the same, `tracks` can be used."""
    tracks: dict[str, Track] = field(default_factory=dict)
    looks: dict[tuple[str, int], _Look] = field(default_factory=dict)
    """By path and index: these outlast undo, which makes every F-curve anew."""
    seen: bool = False

    def forget(self) -> None:
        """Let go of everything that undo or loading a file has made invalid."""
        self.users, self.pointers, self.tracks = [], [], {}

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
        return True

    def _uses(self, channels: Channels) -> bool:
        try:
            return bool(self.users) and all(_is_animated_by(user, channels) for user in self.users)
        except ReferenceError:
            return False

    def edited(self, thoroughly: bool) -> list[Track]:
        """The baked tracks whose keys or parameters moved, came, went or have other values since the last look; where
        looked at `thoroughly` also those with other handles, interpolation or choices, which takes much longer.

        At the first look, those that are not as their keys say.
        """
        baked = [track for track in self.tracks.values() if track.saved]
        if not self.seen:
            return [track for track in baked if not is_up_to_date(track)]
        return [track for track in baked if self._is_edited(track, thoroughly)]

    def _is_edited(self, track: Track, thoroughly: bool) -> bool:
        for fcurve in _watched(track):
            look = self.looks.get((fcurve.data_path, fcurve.array_index))
            if look is None or look.co != _places(fcurve) or (thoroughly and look.rest != _rest(fcurve)):
                return True
        return False

    def take(self, channels: Channels, tracks: Iterable[Track]) -> None:
        """Keep what the tracks look like now; the bake may have made F-curves."""
        self.pointers = [fcurve.as_pointer() for fcurve in channels]
        for track in tracks:
            self.tracks[track.path] = track
            for fcurve in _watched(track):
                self.looks[fcurve.data_path, fcurve.array_index] = _Look(_places(fcurve), _rest(fcurve))
        self.seen = True


def refresh(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    thoroughly: bool = True,
    otherwise: Options | None = None,
    keyed: float | None = None,
) -> Report:
    """Bake again what was edited of the action's baked tracks since the last look.

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
        Tracks that can't be baked stand in `refused`, and stay as they are until they are edited again.
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
        report.add(_bake_again(watch, channels, tracks, otherwise or Options()))
    return report


def settle(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> None:
    """Take what the action holds now for what a bake has left: it was just baked otherwise."""
    for channels in channels_in(action):
        watch = watches.setdefault((action.session_uid, channels.slot_handle), Watch())
        if watch.find(channels, thoroughly=True):
            watch.take(channels, watch.tracks.values())


def _bake_again(watch: Watch, channels: Channels, tracks: list[Track], otherwise: Options) -> Report:
    looked = tracks if watch.seen else list(watch.tracks.values())
    report = Report()
    if tracks:
        if any(is_stray(fcurve.data_path) for fcurve in channels):
            remove_strays(channels)
        present = [now for track in tracks if (now := refreshed(watch.users[0], track)) is not None]
        baked = {track.path: track for track in present}
        report = rebake(watch.users, channels, [track for track in present if track.in_use], otherwise)
        looked = [baked.get(track.path, track) for track in looked]
    if tracks or not watch.seen:
        watch.take(channels, looked)
    return report


def _make_keyed(track: Track, frame: float) -> None:
    """Make generated keys at the frame the animator's, where keying left those of all channels selected."""
    rows = {}
    for index, fcurve in track.channels.items():
        points = fcurve.keyframe_points
        frames = np.frombuffer(_places(fcurve), dtype=np.float32)[::2]
        row = int(np.searchsorted(frames, np.float32(frame - SAME_FRAME)))
        if row == len(frames) or abs(frames[row] - frame) > SAME_FRAME or not points[row].select_control_point:
            return
        rows[index] = points[row]
    for point in rows.values():
        if point.type == "GENERATED" and point.amplitude == GENERATED:
            point.type = "KEYFRAME"


def _watched(track: Track) -> Iterator[bpy.types.FCurve]:
    """The F-curves that hold keys, parameters and choices."""
    yield from track.channels.values()
    yield from track.parameters.values()
    if track.settings_curve is not None:
        yield track.settings_curve


def _places(fcurve: bpy.types.FCurve) -> bytes:
    points = fcurve.keyframe_points
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    return co.tobytes()


def _rest(fcurve: bpy.types.FCurve) -> int:
    state = (fcurve.extrapolation, fcurve.mute, fcurve.lock, [modifier.type for modifier in fcurve.modifiers])
    crc = zlib.crc32(repr((*state, numbers_of(fcurve))).encode())
    for array in read_unplaced(fcurve):
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def _is_animated_by(datablock: bpy.types.ID, channels: Channels) -> bool:
    try:
        return channels_of(datablock).identity == channels.identity
    except Refusal:
        return False
