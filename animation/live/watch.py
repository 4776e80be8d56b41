# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: what was edited is baked again, and only that.

Blender says that an action changed, not which key. But each baked track has a digest of what its bake has left, so
the tracks that are otherwise now are those that were edited: they are baked again, each as it was baked last. A bake
depends on keys, parameters and choices alone, so it does not matter how often it is done, or what undo brings back.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...words import rpt_
from ..bake.pipeline import rebake
from ..datablocks import action_time, users_of
from ..faults import Refusal
from ..fcurves.channels import Channels, channels_in, channels_of
from ..fcurves.keyframes import places, places_of, read_unplaced
from ..report import Report
from ..store.companions import remove_strays
from ..store.options import Options
from ..store.reading import digest
from ..store.settings import Settings, numbers_of
from ..store.stamps import GENERATED, SAME_FRAME
from ..store.tracks import Track, find_tracks, refreshed

Mark = tuple[list[int], list[bytes]]
Otherwise = Callable[[list[bpy.types.ID]], Options]


@dataclass(frozen=True, eq=False)
class _Telling:
    """How many keys a track has, and where the few of its companions stand, which the Dope Sheet moves with the
    animator's keys: of the records, which go together, those of one channel."""

    counted: list[Any]
    """Keys of the channels, as Blender's own collections: to get hold of one takes longer than to read it."""
    placed: list[Any]

    @classmethod
    def of(cls, track: Track) -> _Telling:
        few = [*list(track.saved.values())[:1], *track.parameters.values()]
        return cls(
            [fcurve.keyframe_points for fcurve in track.channels.values()], [each.keyframe_points for each in few]
        )

    def mark(self) -> Mark:
        return list(map(len, self.counted)), [places_of(points).tobytes() for points in self.placed]


@dataclass
class Watch:
    """The TCB tracks of one slot of one action, as they were when they were last looked at."""

    users: list[bpy.types.ID] = field(default_factory=list)
    pointers: list[int] = field(default_factory=list)
    """Of all F-curves: while these are the same, `tracks` can be used."""
    tracks: dict[str, Track] = field(default_factory=dict)
    settings: dict[str, Settings] = field(default_factory=dict)
    """Of the baked tracks, by path: with the digests that their bakes have left."""
    telling: dict[str, _Telling] = field(default_factory=dict)
    """What is soon read of each baked track, by path: one whose mark is the same has hardly been edited."""
    marks: dict[str, Mark] = field(default_factory=dict)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The digests of tracks that could not be baked again as they are, and why."""
    rest: dict[tuple[str, int], int] = field(default_factory=dict)
    """Of each F-curve, by path and index, a checksum of all that an edit can change but the places of its keys."""
    unsure: list[str] = field(default_factory=list)
    """Tracks of which only the places of keys have been looked at, or not even all of these."""

    def forget(self) -> None:
        """Let go of everything that undo or loading a file has made invalid."""
        self.users, self.pointers, self.tracks, self.settings = [], [], {}, {}
        self.telling, self.marks = {}, {}

    def find(self, channels: Channels, anew: bool) -> bool:
        """Find the tracks where F-curves came or went, or where told to; False where nothing uses the channels."""
        if anew or not self._uses(channels):
            self.users = [user for user in users_of(channels.action) if _is_animated_by(user, channels)]
            # Tracks know their datablock.
            anew = True
        if not self.users:
            return False
        if anew or _pointers(channels) != self.pointers:
            remove_strays(channels)
            self.pointers = _pointers(channels)
            self.tracks = {track.path: track for track in find_tracks(self.users[0], channels) if track.enabled}
            self.settings = {}
            for track in self.tracks.values():
                self._read_settings(track)
            self.telling = {track.path: _Telling.of(track) for track in self.baked}
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

    @property
    def baked(self) -> list[Track]:
        return [track for track in self.tracks.values() if track.saved]

    def edited_soon(self) -> list[Track]:
        """The tracks with keys or parameters that moved, came, went or have other values since the last bake: first
        those of which a mark tells; only where there is none of these, all of them."""
        marks = {path: telling.mark() for path, telling in self.telling.items()}
        told = [track for track in self.baked if self.marks.get(track.path) != marks[track.path]]
        self.marks, self.unsure = marks, list(marks)
        return self._edited(told) or self._edited(self.baked)

    def _edited(self, tracks: list[Track]) -> list[Track]:
        return [track for track in tracks if self._is_edited(track)]

    def _is_edited(self, track: Track) -> bool:
        settings = self.settings[track.path]
        now = digest(track, settings)
        if now == settings.digest:
            self.refused.pop(track.path, None)
            return False
        # One that could not be baked is tried again where it was edited since.
        return now != self.refused.get(track.path, (0, ""))[0]

    def edited(self, seconds: float) -> list[Track]:
        """Of the tracks that are `unsure`, those that were edited in any way; for as long as there is time."""
        start = time.perf_counter()
        edited = []
        while self.unsure and time.perf_counter() - start < seconds:
            track = self.tracks.get(self.unsure.pop())
            if track is None or not track.saved:
                continue
            rest = dict(_rest(track))
            changed = any(self.rest.get(name, number) != number for name, number in rest.items())
            self.rest.update(rest)
            if self._is_edited(track) or changed:
                edited.append(track)
        return edited

    def take(self, tracks: Iterable[Track], refusals: Iterable[Refusal]) -> None:
        """Keep what the tracks look like now that they were baked."""
        for track in tracks:
            if track.path not in self.tracks:
                # A bone was renamed: find all anew.
                self.pointers = []
            self.tracks[track.path] = track
            self._read_settings(track)
            self.telling[track.path] = _Telling.of(track)
            self.marks[track.path] = self.telling[track.path].mark()
            self.rest.update(_rest(track))
            self.refused.pop(track.path, None)
        for refusal in refusals:
            path = refusal.track
            if path in self.settings:
                self.refused[path] = digest(self.tracks[path], self.settings[path]), str(refusal)


def refresh(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    otherwise: Otherwise | None = None,
    keyed: Sequence[float] = (),
) -> Report:
    """Bake again what was edited of the action's baked tracks since their last bake, as far as that is soon known;
    `look_on` finds the rest.

    Parameters
    ----------
    watches
        By action and slot; what was looked at before, and from now on.
    action
        Editable. Slots that nothing uses are left alone.
    otherwise
        How TCB tracks are baked that are not baked, of the datablocks that use them; None: they are left alone.
    keyed
        The frames, of scenes, at which keys were inserted just now: where all channels of a track are selected there,
        the generated keys become the animator's, though nothing else of them has changed.

    Returns
    -------
    Report
        Tracks that can't be baked stand in `refused`, and stay as they are.
    """
    report = Report()
    for channels, watch in _watched(watches, action, anew=False):
        for frame in keyed:
            for track in watch.tracks.values():
                _make_keyed(track, action_time(watch.users[0], frame))
        report.add(_bake_again(watch, channels, watch.edited_soon(), otherwise))
    return report


def look_on(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    otherwise: Otherwise | None = None,
    seconds: float = math.inf,
) -> Report:
    """Bake again also what was edited otherwise: handles, interpolation, choices. That takes longer to know: where
    there is no time left, `is_unsure` tells that there is more to look at."""
    report = Report()
    for channels, watch in _watched(watches, action, anew=False):
        report.add(_bake_again(watch, channels, watch.edited(seconds), otherwise))
    return report


def refused_of(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> list[str]:
    """Why tracks of the action could not be baked again as they are."""
    number = action.session_uid
    return [why for key, watch in watches.items() if key[0] == number for _, why in watch.refused.values()]


def is_unsure(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> bool:
    """Whether not all was looked at."""
    return any(watch.unsure for (number, _), watch in watches.items() if number == action.session_uid)


def refresh_all(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    otherwise: Otherwise | None = None,
    keyed: Sequence[float] = (),
) -> Report:
    """Bake again all that was edited, and look at everything for that."""
    for _, watch in _watched(watches, action, anew=True):
        watch.marks, watch.refused = {}, {}
    report = refresh(watches, action, otherwise, keyed)
    report.add(look_on(watches, action, otherwise))
    return report


def _watched(
    watches: dict[tuple[int, int], Watch], action: bpy.types.Action, anew: bool
) -> Iterator[tuple[Channels, Watch]]:
    for channels in channels_in(action):
        watch = watches.setdefault((action.session_uid, channels.slot_handle), Watch())
        if watch.find(channels, anew):
            yield channels, watch


def _bake_again(watch: Watch, channels: Channels, tracks: list[Track], otherwise: Otherwise | None) -> Report:
    options = Options()
    if otherwise is not None:
        first = [track for track in watch.tracks.values() if not track.saved and track.in_use]
        tracks += first
        options = otherwise(watch.users) if first else options
    if not tracks:
        return Report()
    present = [now for track in tracks if (now := refreshed(watch.users[0], track)) is not None]
    in_vain = all(_only_generated_moved(track) for track in present)
    report = rebake(watch.users, channels, [track for track in present if track.in_use], options)
    refused = {refusal.track for refusal in report.refusals}
    if in_vain and not refused:
        report.notes += [
            str(track.refusal(rpt_("only generated keys were moved: they are back"))) for track in present[:1]
        ]
    watch.take([track for track in present if track.path not in refused], report.refusals)
    return report


def _pointers(channels: Channels) -> list[int]:
    return list(map(bpy.types.FCurve.as_pointer, channels))


def _only_generated_moved(track: Track) -> bool:
    """Whether of the track's keys only generated ones stand at other frames than the bake has left them at."""
    moved = False
    for fcurve in track.channels.values():
        frames, values = places(fcurve).reshape(-1, 2).T
        stamps = np.empty((3, len(frames)), dtype=np.float32)
        for name, numbers in zip(("amplitude", "period", "back"), stamps, strict=True):
            fcurve.keyframe_points.foreach_get(name, numbers)
        kinds, stood, was = stamps
        off = frames != stood
        if (values != was).any() or (off & (kinds != GENERATED)).any():
            return False
        moved |= bool(off.any())
    return moved


def _make_keyed(track: Track, frame: float) -> None:
    """Make generated keys at the frame the animator's, where keying left those of all channels selected; not where
    others beside them are too, which a selection of many took along."""
    rows = {}
    for index, fcurve in track.channels.items():
        points = fcurve.keyframe_points
        frames = places(fcurve)[::2]
        row = int(np.searchsorted(frames, np.float32(frame - SAME_FRAME)))
        if row == len(frames) or abs(frames[row] - frame) > SAME_FRAME or not points[row].select_control_point:
            return
        beside = [points[near] for near in (row - 1, row + 1) if 0 <= near < len(frames)]
        if any(point.type == "GENERATED" and point.select_control_point for point in beside):
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
        for array in (*read_unplaced(fcurve), _easings(fcurve)):
            crc = zlib.crc32(array.tobytes(), crc)
        yield (fcurve.data_path, fcurve.array_index), crc


def _easings(fcurve: bpy.types.FCurve) -> npt.NDArray[np.uint8]:
    """These play nothing of a bake; but an edit of all keys gives them to generated ones, too."""
    easings = np.empty(len(fcurve.keyframe_points), dtype=np.uint8)
    fcurve.keyframe_points.foreach_get("easing", easings)
    return easings


def _is_animated_by(datablock: bpy.types.ID, channels: Channels) -> bool:
    try:
        return channels_of(datablock).identity == channels.identity
    except Refusal:
        return False
