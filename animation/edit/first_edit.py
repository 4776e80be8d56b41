# SPDX-License-Identifier: GPL-3.0-or-later
"""The first edit of parameters on plain tracks in the interface, which enables the tracks as *Enable TCB* does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import bpy

from ..bake.pipeline import bake
from ..chosen_paths import WholePath
from ..datablocks import users_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..report import Report
from ..store import live_switch
from ..store.find_tracks import find_tracks
from ..store.table.custom_property import read_table
from ..store.table.track_records import Options
from ..store.tracks import Track
from .recorded_tracks import RecordedTrack, record_tracks, revert_tracks
from .track_keys import TrackKeys, current_tracks, read_again


def turn_live_on(actions: Iterable[bpy.types.Action], options_for: Callable[[list[bpy.types.ID]], Options]) -> Report:
    """Turn Live on for actions with TCB tracks. Tracks that are off are then played by handles.

    `options_for` returns the options of these tracks for the users of the actions.
    """
    tcb_actions = [action for action in actions if read_table(action).tracks]
    paths: dict[bpy.types.ID, list[str]] = {}
    for user, track in _tracks_off(tcb_actions):
        paths.setdefault(user, []).append(WholePath(track.path))
    report = bake(paths, options_for(list(paths)), paths)
    for action in tcb_actions:
        live_switch.switch_on(action)
    return report


def _tracks_off(actions: Iterable[bpy.types.Action]) -> list[tuple[bpy.types.ID, Track]]:
    """Return the TCB tracks of the actions that are off, of bones too, with each of their users."""
    tracks_off = []
    for user in dict.fromkeys(user for action in actions for user in users_of(action)):
        # For example, another user's slot has no F-curves. It then has no tracks to play.
        with suppress(AnimationError):
            tracks = find_tracks(user, channels_of(user))
            tracks_off += [(user, track) for track in tracks if track.enabled and not track.is_played]
    return tracks_off


class FirstEdit:
    """The step from plain to TCB before an edit of parameters in the interface.

    The plain tracks of the keys become TCB with their motion preserved, handles play them, and Live is turned on for
    their actions. Tracks that can't be made TCB remain plain, and the edit itself reports the reason. If all tracks are
    TCB, nothing is changed. `defaults` contains the parameters of keys that have none of their own.
    """

    def __init__(self, chosen: Sequence[TrackKeys], defaults: Mapping[str, float]) -> None:
        self.before = self.chosen = list(chosen)
        """The keys to edit, read again if tracks were enabled."""
        self.notes: list[Finding] = []
        """Notes on the preserved motion, and on tracks that handles cannot play."""
        self._recorded: list[RecordedTrack] = []
        self._went_live: list[bpy.types.Action] = []
        if not all(keys.track.enabled for keys in chosen):
            self._enable(defaults)

    def _enable(self, defaults: Mapping[str, float]) -> None:
        # Imported here, because most edits are on TCB tracks.
        from .enable import enable_listed

        plain_keys = [keys for keys in self.chosen if not keys.track.enabled]
        plain: dict[bpy.types.ID, list[Track]] = {}
        for keys, track in zip(plain_keys, current_tracks(plain_keys), strict=True):
            if not track.enabled:
                plain.setdefault(keys.datablock, []).append(track)
        places = [(datablock, track) for datablock, tracks in plain.items() for track in tracks]
        actions = dict.fromkeys(channels_of(datablock).action for datablock in plain)
        self._recorded = record_tracks([*places, *_tracks_off(actions)])
        report = enable_listed(plain, defaults)
        # A linked action was copied.
        enabled = dict.fromkeys(
            channels_of(keys.datablock).action
            for keys, track in zip(plain_keys, current_tracks(plain_keys), strict=True)
            if track.enabled
        )
        self._went_live = [action for action in enabled if not live_switch.is_live(action)]
        options = Options(output="HANDLES", defaults=defaults).as_kept()
        played = turn_live_on(enabled, lambda _users: options)
        self.notes = [*report.notes, *played.notes, *played.refused]
        self.chosen = read_again(self.chosen)

    def revert(self) -> None:
        """Make the tracks plain again, bit for bit, and turn Live off again."""
        for action in self._went_live:
            live_switch.switch_off(action)
        revert_tracks(self._recorded)
        self._recorded, self._went_live = [], []
