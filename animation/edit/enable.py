# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable: make tracks TCB, also before the first edit of parameters. For Preserve Motion, see `preserve_motion.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import bpy

from ...interp.rotations.base_rotation_spline import Path
from ..arguments import NotNegative, Parameters, checked
from ..bake.pipeline import bake
from ..bake.plans.spline_keys import check_frames
from ..datablocks import name_of, users_of
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, channels_of, check_editable, editable_channels
from ..many import on_all
from ..options import ENABLE
from ..report import AnimationError, Finding, Report
from ..steps import collector_paused
from ..store import table_upkeep
from ..store.editable import blocking_reason, editable_sets, errors_of_numbers, has_keys
from ..store.find_tracks import find_tracks
from ..store.own_keys import OwnKeys
from ..store.paths import remove_strays
from ..store.read_own_keys import count_key_frames, read_all_own_keys
from ..store.record_keys import TrackToEnable, enable_with_keys
from ..store.table.custom_property import read_table
from ..store.table.track_records import Options, Settings
from ..store.tracks import Track
from ..track_paths import WholePath
from .keys import RecordedTrack, record_tracks, revert_tracks
from .preserve_motion import MAX_CHANGE, preserve_motion
from .track_keys import TrackKeys, current_tracks, read_again


@checked
def enable(
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None = None,
    keep_look: bool = ENABLE["keep_look"].default,
    defaults: Parameters | None = None,
    max_change: tuple[NotNegative, NotNegative] = MAX_CHANGE,
    path: Path | None = None,
) -> Report:
    """Make the datablock's tracks TCB. The tracks are off until they are baked.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Enable only tracks whose paths start with one of the prefixes.
    keep_look : bool
        If true, fit the parameters of Bezier keys to the current motion, and report the change. If angles turn by more
        than half a turn between keys, choose the `path` that changes the motion less. Blender continues to play
        segments with other interpolations, and a note reports them. There are two exceptions, each with a note: tracks
        with only linear keys, and quaternions whose keys change sign, where Blender's motion flips. These tracks play
        TCB with the defaults. If false, all keys get the defaults, and linear and easing keys become keys of the
        spline.
    defaults : mapping, optional
        Parameters by name, used when baking keys that have none of their own. Default: all 0, as in 3D Studio.
    max_change : (float, float)
        Limits of visible change: an angle in radians, and a fraction of a track's range. Larger changes to the
        preserved motion are reported.
    path : {"SHORTEST", "AS_KEYED"}, optional
        How rotations turn between keys, with the same options as in `choose`. Default: SHORTEST for quaternions,
        AS_KEYED for angles, and with `keep_look` the path of angles that changes the motion less. With AS_KEYED,
        `keep_look` also preserves flips of quaternions.

    Returns
    -------
    Report
        Counts and changes to the preserved motion. Tracks that can't be made TCB, such as locked tracks, are listed in
        `errors`. A note reports each skipped track of another rotation mode. If two keys are at the same frame, a note
        reports them, and the track can't be baked.

    Raises
    ------
    AnimationError
        No track can be made TCB. Nothing was changed.

    Examples
    --------
    >>> report = animation.enable(ball)
    >>> report.tracks, report.keys, report.looks_kept
    (2, 6, 2)
    """
    report = enable_many([datablock], prefixes, keep_look, defaults, max_change, path)
    if report.errors and not report.tracks:
        raise AnimationError(*report.errors)
    return report


@on_all(enable)
def enable_many(
    datablocks: Mapping[bpy.types.ID, list[str] | None],
    keep_look: bool,
    defaults: Mapping[str, float] | None,
    max_change: tuple[float, float],
    path: Path | None,
) -> Report:
    """Enable TCB on tracks of several datablocks (see `enable`).

    Returns
    -------
    Report
        Tracks that can't be made TCB are listed in `errors` and are not changed.

    Examples
    --------
    >>> report = animation.enable_many([ball, rig], ["location", "pose"], defaults={"tension": 0.5})
    >>> report.objects, report.tracks, report.keys
    (2, 2, 7)
    """
    report = Report()
    enable_tracks_of(datablocks, keep_look, defaults, max_change, path, report, are_requested=True)
    return report


def enable_tracks_of(
    datablocks: Mapping[bpy.types.ID, Iterable[str] | None],
    keep_look: bool,
    defaults: Mapping[str, float] | None,
    max_change: tuple[float, float],
    path: Path | None,
    report: Report,
    are_requested: bool,
) -> list[TrackToEnable]:
    """Enable TCB as `enable_many` does, and add the results to the report. Return the tracks that were made TCB.

    A blocked track is an error if `are_requested` is true, and otherwise a note.
    """
    found = []
    for datablock, prefixes in datablocks.items():
        try:
            editable = editable_sets(datablock)
        except AnimationError as refusal:
            report.errors += refusal.findings
            continue
        sets = [(channels, find_tracks(datablock, channels, prefixes)) for channels in editable.sets]
        report.errors += editable.refused
        if editable.skipped:
            report.notes.append(Finding("STRIPS_STAY_PLAIN", name_of(datablock), arguments=(tuple(editable.skipped),)))
        found.append((datablock, sets))
    return _enable_sets(found, keep_look, defaults or {}, max_change, path, report, are_requested)


def enable_listed(
    tracks: Mapping[bpy.types.ID, Sequence[Track]], defaults: Mapping[str, float] | None, path: Path | None = None
) -> Report:
    """Make plain tracks of the datablocks' actions TCB, and preserve their motion as `enable` does.

    Tracks that can't be made TCB are listed in `errors` and are not changed.
    """
    report = Report()
    found = []
    for datablock, tracks_of_datablock in tracks.items():
        try:
            found.append((datablock, [(check_editable(datablock), tracks_of_datablock)]))
        except AnimationError as refusal:
            report.errors += refusal.findings
    _enable_sets(found, True, defaults or {}, MAX_CHANGE, path, report, are_requested=False)
    return report


class _ReadTrack(NamedTuple):
    track: Track
    own_keys: Mapping[int, OwnKeys]
    fault: Finding | None
    """The error if a number of a key is not finite."""


_Place = tuple[int, int, str]
"""Action, slot and path of a track."""
_Set = tuple[Channels, Sequence[Track]]
"""A set of F-curves, and some of its tracks."""


@collector_paused()
def _enable_sets(
    found: Sequence[tuple[bpy.types.ID, Sequence[_Set]]],
    keep_look: bool,
    defaults: Mapping[str, float],
    max_change: tuple[float, float],
    path: Path | None,
    report: Report,
    are_requested: bool,
) -> list[TrackToEnable]:
    """Make the plain tracks in the sets of each datablock TCB, add the results to the report, and return the tracks."""
    all_tracks = [track for _, sets in found for _, tracks in sets for track in tracks]
    # The tracks of all datablocks are read together, so that the keys of all channels share their arrays.
    own_keys = read_all_own_keys(all_tracks)
    read_tracks = map(_ReadTrack, all_tracks, own_keys, errors_of_numbers(all_tracks, own_keys))
    to_enable: dict[_Place, TrackToEnable] = {}
    for datablock, sets in found:
        count_before = len(to_enable)
        refusals: list[AnimationError] = []
        for channels, tracks_of_set in sets:
            read_set = [next(read_tracks) for _ in tracks_of_set]
            try:
                plain = _plain_in_set(datablock, channels, read_set, path, to_enable, report, are_requested)
                to_enable |= {_place(each.channels, each.track): each for each in plain}
            except AnimationError as refusal:
                refusals.append(refusal)
        if len(to_enable) > count_before:
            report.add(Report.on([datablock]))
        refused = [finding for refusal in refusals for finding in refusal.findings]
        reasons = [finding for finding in refused if not finding.has_nothing_to_do]
        if len(refusals) < len(sets):
            report.errors += reasons
        else:
            report.errors += refused if reasons else refused[:1]
    tracks = list(to_enable.values())
    report.tracks += len(tracks)
    for each in tracks:
        report.notes += _faults_of_frames(each.track, each.own_keys)
        report.keys += count_key_frames(each.own_keys)
    if keep_look:
        with scratch_curves.shared_action():
            tracks = preserve_motion(tracks, defaults, max_change, path, report)
    enable_with_keys(tracks)
    return tracks


def _place(channels: Channels, track: Track) -> _Place:
    return (*channels.identity, track.path)


def _plain_in_set(
    datablock: bpy.types.ID,
    channels: Channels,
    tracks: Sequence[_ReadTrack],
    path: Path | None,
    taken: Collection[_Place],
    report: Report,
    are_requested: bool,
) -> list[TrackToEnable]:
    """Return the plain tracks to enable, except `taken` ones. Raises AnimationError if no track is or can be TCB."""
    skipped: list[Finding] = []
    errors: list[Finding] = []
    plain: list[tuple[Track, Mapping[int, OwnKeys]]] = []
    for track, own_keys, fault in tracks:
        if track.enabled:
            report.notes += _faults_of_frames(track, own_keys)
        elif _place(channels, track) in taken:
            continue
        elif reason := blocking_reason(track):
            (errors if are_requested and track.in_use and has_keys(track) else skipped).append(reason)
        elif fault:
            errors.append(fault)
        else:
            plain.append((track, own_keys))
    if len(skipped) + len(errors) == len(tracks):
        raise AnimationError(*(skipped + errors or [Finding("NO_FLOAT_KEYS", name_of(datablock))]))
    report.notes += skipped
    report.errors += errors
    if not plain:
        return []
    if channels.action.library is not None:
        channels = editable_channels(datablock, report.notes)
        paths = {track.path for track, _ in plain}
        copied = [track for track in find_tracks(datablock, channels) if track.path in paths]
        plain = list(zip(copied, read_all_own_keys(copied), strict=True))
    remove_strays(channels)
    return [TrackToEnable(channels, track, own_keys, _settings(track, path)) for track, own_keys in plain]


def _settings(track: Track, path: Path | None) -> Settings:
    """Return the settings for a plain track. If `path` is not None, it applies to rotations."""
    return track.settings if path is None or not track.is_rotation else replace(track.settings, path=path)


def _faults_of_frames(track: Track, own_keys: Mapping[int, OwnKeys]) -> list[Finding]:
    """Return a note on the first two keys at the same frame, because such keys prevent a bake."""
    try:
        for own in own_keys.values():
            check_frames(track, own.keys.frames)
    except AnimationError as fault:
        return list(fault.findings)
    return []


# Live, and the first edit of parameters in the interface


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
        table_upkeep.switch_on(action)
    return report


def _tracks_off(actions: Iterable[bpy.types.Action]) -> list[tuple[bpy.types.ID, Track]]:
    """Return the TCB tracks of the actions that are off, each with a user of the action."""
    tracks_off = []
    for user in dict.fromkeys(user for action in actions for user in users_of(action)):
        # A user whose slot has no F-curves has no tracks.
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
        self._went_live = [action for action in enabled if not table_upkeep.is_live(action)]
        options = Options(output="HANDLES", defaults=defaults).as_kept()
        played = turn_live_on(enabled, lambda _users: options)
        self.notes = [*report.notes, *played.notes, *played.refused]
        self.chosen = read_again(self.chosen)

    def revert(self) -> None:
        """Make the tracks plain again, bit for bit, and turn Live off again."""
        for action in self._went_live:
            table_upkeep.switch_off(action)
        revert_tracks(self._recorded)
        self._recorded, self._went_live = [], []
