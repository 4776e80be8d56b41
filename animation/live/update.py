# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: find edited tracks of live actions, and update the keys that play the tracks.

Blender reports that an action has changed, but not which keys have changed. The keys of each channel are therefore
compared with the keys at the last check. A track counts as edited if any of its channels differs. The result of a check
depends only on the keys and the table, not on the number of checks or on previous undo steps.

Baked tracks are locked. As long as the curves of a baked track are unchanged since the bake, the track is rebaked if
its parameters, settings or timing have changed, and locked again if a user has unlocked it. Tracks edited outside TCB
are not changed.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.locks import lock_again
from ..bake.pipeline import rebake
from ..errors import Finding
from ..fcurves.action_refusals import layered_refusals
from ..fcurves.channels import Channels, animates, channels_in, users_of_channels
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import KINDS, MARKS, SIDES
from ..fcurves.read_keys import KeyBlock
from ..messages import STANDING
from ..report import Report
from ..steps import collector_paused
from ..store.edited_outside import edited_outside
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise, refreshed
from ..store.frame_functions import function_of, functions_of
from ..store.live_switch import is_live as is_switched_on
from ..store.paths import remove_strays
from ..store.table.custom_property import table_stamp
from ..store.table.track_records import Options
from ..store.track_refusals import blocking_reason
from ..store.tracks import Track
from ..store.up_to_date import RESTORED, are_up_to_date, shape_of

Points = list[bpy.types.FCurveKeyframePoints]
"""The keys of each channel in a track, as Blender collections."""


def points_of(track: Track) -> Points:
    """Return the keys of the track's channels."""
    return [fcurve.keyframe_points for fcurve in track.channels.values()]


class KeyReader:
    """A reader of the keys on tracks, given the path and the channels' keys of each track."""

    def __init__(self, paths: Sequence[str], tracks: Sequence[Points]) -> None:
        self._paths = paths
        self._block = KeyBlock(list(chain.from_iterable(tracks)))
        starts = [0, *accumulate(self._block.counts)]
        self._bounds = [starts[number] for number in accumulate(map(len, tracks), initial=0)]
        """Index of each track's first key, and the total number of keys."""

    def is_of(self, paths: Sequence[str]) -> bool:
        """Return whether the reader was created for exactly these tracks, with the same numbers of keys."""
        return paths == self._paths and list(map(len, self._block.every)) == self._block.counts

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Return, for each track, the bytes of these attributes of all keys, in the order of the keys."""
        arrays = [self._block.read(name) for name in names]
        bytes_of_keys = np.concatenate([_bytes_of(array, self._bounds[-1]) for array in arrays], axis=1)
        size, buffer = bytes_of_keys.shape[1], bytes_of_keys.tobytes()
        return [buffer[size * start : size * end] for start, end in pairwise(self._bounds)]


def _bytes_of(array: npt.NDArray[Any], count: int) -> npt.NDArray[np.uint8]:
    """Return the bytes of each key, one row per key."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(count, -1 if count else 0)


def read_bake_inputs(tracks: Sequence[Track], reader: KeyReader) -> list[tuple[object, ...]]:
    """Return each track's key identities, settings and timing, which affect the motion in addition to the keys."""
    result: list[tuple[object, ...]] = []
    identities = reader.read([name for name in MARKS if name != "co"])
    for track, identities_of_track, function in zip(tracks, identities, functions_of(tracks), strict=True):
        settings, checksum = track.settings, function.checksum if function is not None else 0
        result.append((shape_of(track, settings), settings, checksum, identities_of_track))
    return result


def bake_checksum(track: Track, points: Points) -> int:
    """Return a checksum of the key frames and values, the settings, and data that can prevent a bake of the track."""
    function = function_of(track)
    checksum = function.checksum if function is not None else 0
    conditions = (track.settings, track.order, checksum, blocking_reason(track))
    return zlib.crc32(KeyReader([track.path], [points]).read(("co",))[0], zlib.crc32(repr(conditions).encode()))


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


OptionsFor = Callable[[list[bpy.types.ID]], Options]
_OPTIONS = Options()


@dataclass
class Watch:
    """The state of one slot's TCB tracks at the last check."""

    users: list[bpy.types.ID] = field(default_factory=list)
    pointers: list[int] = field(default_factory=list)
    """Pointers of all F-curves. As long as the pointers are unchanged, `tracks` is valid."""
    tracks: dict[str, Track] = field(default_factory=dict)
    points: dict[str, Points] = field(default_factory=dict)
    """The keys of each track's channels as Blender collections. Getting a collection takes longer than reading it."""
    reader: KeyReader | None = None
    """Reader of the keys of all played tracks, in the order of their paths."""
    key_places: dict[str, bytes] = field(default_factory=dict)
    """Frames and values of the keys in each played track at the last check."""
    bake_inputs: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """Key identities, settings and timing of each played track, which also determine whether it is up to date."""
    table: int = 0
    """The table's stamp at the last check."""
    refused: dict[str, tuple[int, Finding]] = field(default_factory=dict)
    """Checksums of the states in which tracks could not be baked again, and the reasons."""
    standing: dict[str, list[Finding]] = field(default_factory=dict)
    """Notes from each track's last bake that remain valid until the track changes."""
    modes: list[Finding] = field(default_factory=list)
    """Notes on rotations that play in a rotation mode other than the baked one, or that do not play at all."""
    news: list[Finding] = field(default_factory=list)
    """Notes in `modes` that have not been reported yet."""
    other_state: dict[str, OtherState] = field(default_factory=dict)
    """The state of each track that an edit to its F-curves can change, except key frames and values."""
    unsure: list[str] = field(default_factory=list)
    """Tracks for which only key frames and values have been checked so far."""
    outside: set[str] = field(default_factory=set)
    """Baked tracks that were edited outside TCB."""
    lost: list[Track] = field(default_factory=list)
    """Baked tracks whose F-curves are missing, which also counts as an edit outside TCB."""
    is_live: bool = False
    """True if the last check updated the tracks. Otherwise, edits may be pending."""
    has_new_curves: bool = False
    """True if F-curves were added or removed since the locks of groups were updated."""

    def forget(self) -> None:
        """Discard all data that becomes invalid when an edit is undone or a file is loaded."""
        self.users, self.pointers, self.tracks, self.points, self.key_places, self.bake_inputs = [], [], {}, {}, {}, {}
        self.reader, self.table, self.outside, self.lost = None, 0, set(), []

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
        if anew or table != self.table or _pointers(channels) != self.pointers:
            remove_strays(channels)
            self.pointers, self.table = _pointers(channels), table
            tracks = find_tracks(self.users[0], channels)
            self.tracks = {track.path: track for track in tracks if track.enabled}
            self.lost = lost_tracks(self.users[0], channels, tracks)
            self.has_new_curves = True
            self.points = {path: points_of(track) for path, track in self.tracks.items()}
            self.reader = None
            self._note_modes()
        return True

    def _note_modes(self) -> None:
        played = [track for track in self.tracks.values() if track.settings.digest != RESTORED]
        unused = [track.finding("NOT_IN_USE") for track in played if not track.in_use]
        modes = [*unused, *played_otherwise(played, self.users[1:])]
        self.news += [line for line in modes if line not in self.modes]
        self.modes = modes

    def _uses(self, channels: Channels) -> bool:
        try:
            return bool(self.users) and all(animates(channels, user) for user in self.users)
        except ReferenceError:
            return False

    @property
    def played(self) -> list[Track]:
        """Return the tracks played by a bake or by handles."""
        return [track for track in self.tracks.values() if track.is_played]

    def edited_at_first_look(self) -> list[Track]:
        """Return the tracks in which keys were moved, added, deleted or changed in value since the last check.

        If no tracks have such changes, return the tracks whose key identities, settings or timing have changed.
        """
        played = self.played
        paths = [track.path for track in played]
        if self.reader is None or not self.reader.is_of(paths):
            self.reader = KeyReader(paths, self._points_of(played))
        key_places = dict(zip(paths, self.reader.read(("co",)), strict=True))
        candidates = [self.tracks[path] for path in _differing(key_places, self.key_places)]
        self.key_places, self.unsure = key_places, list(key_places)
        if not candidates:
            inputs = dict(zip(paths, read_bake_inputs(played, self.reader), strict=True))
            candidates = [self.tracks[path] for path in _differing(inputs, self.bake_inputs)]
            self.bake_inputs = inputs
        changed = []
        candidates = self.not_outside(candidates)
        are_as_baked = are_up_to_date(candidates, [key_places[track.path] for track in candidates])
        for track, is_as_baked in zip(candidates, are_as_baked, strict=True):
            # If a track was renamed or moved with its slot, the table must store its new path.
            if is_as_baked and track.is_at_home:
                self.refused.pop(track.path, None)
            else:
                changed.append(track)
        return self._worth_trying(changed)

    def not_outside(self, tracks: Sequence[Track]) -> list[Track]:
        """Return the tracks, except baked tracks that were edited outside TCB. Such tracks are never updated."""
        outside = dict(zip([track.path for track in tracks], edited_outside(tracks), strict=True))
        for path, is_outside in outside.items():
            (self.outside.add if is_outside else self.outside.discard)(path)
        return [track for track in tracks if not outside[track.path]]

    def lock_again(self, channels: Channels) -> list[Finding]:
        """Lock unlocked baked channels again if their curves are unchanged since the bake, and return a note."""
        baked = [track for track in self.tracks.values() if track.bake is not None and track.path not in self.outside]
        # The fast check does not find all edits, so `not_outside` compares unlocked tracks again.
        notes = lock_again(channels, baked, self.not_outside, self.has_new_curves)
        self.has_new_curves = False
        return notes

    def _points_of(self, tracks: Iterable[Track]) -> list[Points]:
        return [self.points[track.path] for track in tracks]

    def not_played(self) -> list[Track]:
        """Return the TCB tracks that nothing plays yet, except restored tracks."""
        waiting = [track for track in self.tracks.values() if not track.is_played and track.settings.digest != RESTORED]
        return self._worth_trying([track for track in waiting if track.in_use])

    def _worth_trying(self, tracks: list[Track]) -> list[Track]:
        """Return the tracks, except tracks that could not be baked in their current state."""
        result = []
        for track in tracks:
            checksum = self.refused[track.path][0] if track.path in self.refused else None
            if checksum is not None and checksum == bake_checksum(track, self.points[track.path]):
                continue
            self.refused.pop(track.path, None)
            result.append(track)
        return result

    def edited(self, seconds: float) -> list[Track]:
        """Return the `unsure` tracks that were edited in any way. Stop when the time is up."""
        start = time.perf_counter()
        edited = []
        while self.unsure and time.perf_counter() - start < seconds:
            track = self.tracks.get(self.unsure.pop())
            if track is None or not track.is_played:
                continue
            (state,) = read_other_states([track], KeyReader([track.path], self._points_of([track])))
            before = self.other_state.get(track.path)
            if not (before.is_like(state) if before is not None else are_handles_as_written(track, state)):
                edited.append(track)
            self.other_state[track.path] = state
        return self.not_outside(edited)

    def take(self, channels: Channels, tracks: Iterable[Track], report: Report) -> None:
        """Store the current state of the checked tracks, and the report's notes on them."""
        self.table = table_stamp(channels.action)
        checked_tracks = {track.path: track for track in tracks}
        self.tracks |= checked_tracks
        self.points |= {path: points_of(track) for path, track in checked_tracks.items()}
        reader = KeyReader([*checked_tracks], self._points_of(checked_tracks.values()))
        self.key_places |= zip(checked_tracks, reader.read(("co",)), strict=True)
        self.bake_inputs |= zip(checked_tracks, read_bake_inputs([*checked_tracks.values()], reader), strict=True)
        self.other_state |= zip(checked_tracks, read_other_states(checked_tracks.values(), reader), strict=True)
        for path in checked_tracks:
            self.refused.pop(path, None)
            self.standing[path] = []
        for note in report.notes:
            if note.code in STANDING:
                self.standing.setdefault(note.track, []).append(note)
        for error in report.errors:
            path = error.track
            if path in self.tracks:
                self.refused[path] = bake_checksum(self.tracks[path], self.points[path]), error


def _differing(now: Mapping[str, object], before: Mapping[str, object]) -> list[str]:
    """Return the paths whose values differ, or were unknown before."""
    return [path for path, value in now.items() if before.get(path) != value]


def refresh(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    options_for: OptionsFor | None = None,
    complete: bool = True,
) -> Report:
    """Update the action's played tracks that were edited since the last check.

    This fast check does not find all edits. `check_remaining` finds the remaining edits.

    Parameters
    ----------
    watches
        States at the last check, by action and slot, which the function updates.
    action
        An editable action. Slots without users are skipped.
    options_for
        Function that returns the options for TCB tracks that nothing plays yet, given the datablocks that use the
        tracks. If None, the action is not live, and only the locks of baked tracks are updated.
    complete
        If true, add the missing keys that partly keyed rotations need for playback by handles.

    Returns
    -------
    Report
        Tracks that can't be baked are listed in `refused` and are not changed.
    """
    report = Report()
    for channels, watch in _watched(watches, action, anew=False):
        if watch.is_live != (options_for is not None):
            watch.key_places, watch.bake_inputs, watch.other_state = {}, {}, {}
            watch.is_live = options_for is not None
        report.notes, watch.news = [*report.notes, *watch.news], []
        report.add(_update_tracks(watch, channels, watch.edited_at_first_look(), options_for, complete))
        report.notes += watch.lock_again(channels)
    return report


def check_remaining(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    options_for: OptionsFor | None = None,
    complete: bool = True,
    seconds: float = math.inf,
) -> Report:
    """Update tracks with edits to handles, interpolation or channel settings (extrapolation, mute, lock, modifiers).

    This check takes longer than `refresh`. If the time runs out, `is_unsure` returns True.
    """
    report = Report()
    checked = []
    for channels, watch in _watched(watches, action, anew=False):
        if options_for is not None:
            report.add(_update_tracks(watch, channels, watch.edited(seconds), options_for, complete))
        else:
            watch.unsure.clear()
        checked.append(watch)
    for watch in _watches_of(watches, action):
        if not any(watch is other for other in checked):
            # The slot has no users, for example after exiting tweak mode. The slot is checked when it has users again.
            watch.unsure.clear()
    return report


def standing_of(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> list[Finding]:
    """Return the notes on the action's tracks in their current state, such as reasons why a bake failed."""
    findings = layered_refusals(action) if is_switched_on(action) else []
    for watch in _watches_of(watches, action):
        findings += [*(why for _, why in watch.refused.values()), *watch.modes]
        outside = [track for track in watch.played if track.path in watch.outside]
        findings += [track.finding("EDITED_OUTSIDE") for track in [*outside, *watch.lost]]
        findings += [note for track in watch.played for note in watch.standing.get(track.path, ())]
    return findings


def is_unsure(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> bool:
    """Return whether any track of the action is not fully checked."""
    return any(watch.unsure for watch in _watches_of(watches, action))


def refresh_all(
    watches: dict[tuple[int, int], Watch],
    action: bpy.types.Action,
    options_for: OptionsFor | None = None,
    complete: bool = True,
) -> Report:
    """Check all tracks of the action for any kind of edit, and update the edited tracks.

    All notes on rotation modes are repeated.
    """
    for watch in _watches_of(watches, action):
        watch.modes, watch.news = [], []
    for _, watch in _watched(watches, action, anew=True):
        watch.key_places, watch.bake_inputs, watch.refused = {}, {}, {}
    report = refresh(watches, action, options_for, complete)
    report.add(check_remaining(watches, action, options_for, complete))
    return report


def _watches_of(watches: dict[tuple[int, int], Watch], action: bpy.types.Action) -> list[Watch]:
    return [watch for (session_uid, _), watch in watches.items() if session_uid == action.session_uid]


def _watched(
    watches: dict[tuple[int, int], Watch], action: bpy.types.Action, anew: bool
) -> Iterator[tuple[Channels, Watch]]:
    for channels in channels_in(action):
        watch = watches.setdefault((action.session_uid, channels.slot_handle), Watch())
        if watch.find(channels, anew):
            yield channels, watch


@collector_paused()
def _update_tracks(
    watch: Watch, channels: Channels, tracks: list[Track], options_for: OptionsFor | None, complete: bool
) -> Report:
    """Update edited tracks of a live action in their current output, and tracks that nothing plays yet."""
    tracks = [] if options_for is None else [*tracks, *watch.not_played()]
    if not tracks or options_for is None:
        return Report()
    present = refreshed(watch.users[0], channels, tracks)
    is_first = not all(track.is_played for track in present)
    options = options_for(watch.users) if is_first else _OPTIONS
    used = [track for track in present if track.in_use]
    report = rebake(watch.users, channels, used, options, complete=complete)
    refused = {error.track for error in report.errors}
    watch.take(channels, [track for track in present if track.path not in refused], report)
    return report


def _pointers(channels: Channels) -> list[int]:
    return list(map(bpy.types.FCurve.as_pointer, channels))
