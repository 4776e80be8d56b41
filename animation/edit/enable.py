# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB, and fit parameters to the motion of their Bezier keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...interp.fitting.tcb_parameters import fit_parameters
from ...interp.rotations.base_rotation_spline import Path
from ..arguments import NotNegative, Parameters, checked
from ..bake.plans.refused_keys import check_frames
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..datablocks import name_of
from ..errors import AnimationError, Finding, size_of
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels
from ..fcurves.frames import SAME_FRAME, union
from ..fcurves.keyframes import INTERPOLATION, Float64Array
from ..fcurves.linked_data import check_editable, editable_channels
from ..many import on_all
from ..options import ENABLE
from ..records import record
from ..report import Report
from ..sampling.changes import Look, measure_changes
from ..sampling.played_splines import SplinesOfTrack, played_parts
from ..store.action_and_strips import EditableSets, editable_sets
from ..store.enable_tracks import enable_read
from ..store.find_tracks import find_tracks
from ..store.own_keys import OwnKeys, count_key_frames, read_all_own_keys
from ..store.paths import remove_strays
from ..store.record_rows import Numbers
from ..store.table.rows import CHOSEN_INTERPOLATION, PARAMETERS
from ..store.table.track_records import Settings
from ..store.track_refusals import blocking_reason, errors_of_numbers
from ..store.tracks import Track

_Made = dict[tuple[int, int, str], tuple[Channels, Track]]
"""The tracks to enable, with their channels, by action, slot and path."""
MAX_CHANGE = (math.radians(1.0), 0.01)
"""Changes greater than this count as visible: an angle in radians, and a fraction of a track's range."""
_CLEARLY_LESS = 0.8
"""Enable chooses the other interpretation of turns if it reduces both the largest and the mean change to less than this
fraction."""
_ROUNDED_TURN = math.radians(1.0)
"""Rotations within this angle of half a turn or a whole turn are not reported as long turns."""
_OTHER = np.ones(256, dtype=np.bool_)
"""Mask of the interpolations that Blender plays as other curves: all except Bezier and constant."""
_OTHER[[INTERPOLATION["BEZIER"], INTERPOLATION["CONSTANT"]]] = False


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
        Counts, changes to the preserved motion, and notes on skipped tracks. Tracks with keys that are not finite are
        listed in `errors`. If two keys are at the same frame, a note reports them, and the track can't be baked.

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
    made: _Made = {}
    found: list[tuple[EditableSets, list[_FoundSet]]] = []
    for datablock, prefixes in datablocks.items():
        try:
            editable = editable_sets(datablock)
        except AnimationError as refusal:
            report.errors += refusal.findings
            continue
        found.append((editable, [_found_in(datablock, channels, prefixes) for channels in editable.sets]))
    # Reading all keys together is faster than reading one datablock at a time.
    own_keys = _OwnKeysOfTracks()
    every = [each for _, sets in found for each in sets]
    own_keys.read([track for each in every for track in each.tracks if not each.reasons.get(id(track))])
    for editable, sets in found:
        _find_plain(editable, sets, own_keys, made, report)
    _enable_plain(made, own_keys, report, keep_look, defaults or {}, max_change, path)
    return report


def enable_track(
    datablock: bpy.types.ID, track: Track, path: Path | None = None, defaults: Mapping[str, float] | None = None
) -> Report:
    """Make one plain track of the datablock's action TCB, and preserve its motion as `enable` does.

    Raises AnimationError if the track can't be made TCB. Nothing is changed in that case.
    """
    report = Report.on([datablock])
    own_keys = _OwnKeysOfTracks()
    made: _Made = {}
    reasons = {id(track): blocking_reason(track)}
    found = _FoundSet(datablock, check_editable(datablock), [track], reasons)
    _find_plain_in(found, own_keys, made, report)
    _enable_plain(made, own_keys, report, True, defaults or {}, MAX_CHANGE, path)
    return report


def _enable_plain(
    made: _Made,
    own_keys: _OwnKeysOfTracks,
    report: Report,
    keep_look: bool,
    defaults: Mapping[str, float],
    max_change: tuple[float, float],
    path: Path | None,
) -> None:
    """Make the tracks TCB, and add the results to the report."""
    originals = own_keys.read([track for _, track in made.values()])
    for (_, track), own in zip(made.values(), originals, strict=True):
        report.notes += _faults_of_frames(track, own)
    report.keys += sum(map(count_key_frames, originals))
    numbers, settings = None, [_settings(track, path) for _, track in made.values()]
    if keep_look:
        originals = [
            _with_interpolations(track, own, report) for (_, track), own in zip(made.values(), originals, strict=True)
        ]
        with scratch_curves.shared_action():
            tracks = [track for _, track in made.values()]
            numbers, settings = _keep_look(tracks, originals, defaults, max_change, report, path)
    enable_read(list(made.values()), originals, settings, numbers)


@record(eq=False)
class _FoundSet:
    """The tracks in one of a datablock's sets of F-curves, with the reasons why some can't be made TCB."""

    datablock: bpy.types.ID
    channels: Channels
    tracks: list[Track]
    reasons: dict[int, Finding | None]
    """Reasons (or None) for the tracks that are not TCB yet, by the `id` of the track."""


def _found_in(datablock: bpy.types.ID, channels: Channels, prefixes: Iterable[str] | None) -> _FoundSet:
    tracks = find_tracks(datablock, channels, prefixes)
    reasons = {id(track): blocking_reason(track) for track in tracks if not track.enabled}
    return _FoundSet(datablock, channels, tracks, reasons)


class _OwnKeysOfTracks:
    """A cache of the animator's keys on each track."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Track, dict[int, OwnKeys]]] = {}

    def read(self, tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
        """Return the animator's keys on each track. Only keys that are not cached are read."""
        fresh = [track for track in tracks if id(track) not in self._known]
        self._known |= {id(track): (track, own) for track, own in zip(fresh, read_all_own_keys(fresh), strict=True)}
        return [self._known[id(track)][1] for track in tracks]


def _find_plain(
    editable: EditableSets, sets: Sequence[_FoundSet], own_keys: _OwnKeysOfTracks, made: _Made, report: Report
) -> None:
    """Add a datablock's tracks that can be enabled to `made`, without duplicates. Report the reasons against others."""
    datablock = sets[0].datablock
    report.errors += editable.refused
    if editable.left:
        report.notes.append(Finding("STRIPS_STAY_PLAIN", name_of(datablock), arguments=(tuple(editable.left),)))
    refused: list[Finding] = []
    before, refusals = len(made), 0
    for each in sets:
        try:
            _find_plain_in(each, own_keys, made, report)
        except AnimationError as refusal:
            refused += refusal.findings
            refusals += 1
    if len(made) > before:
        report.add(Report.on([datablock]))
    reasons = [each for each in refused if not each.has_nothing_to_do]
    if refusals < len(sets):
        report.errors += reasons
    else:
        report.errors += refused if reasons else refused[:1]


def _find_plain_in(found: _FoundSet, own_keys: _OwnKeysOfTracks, made: _Made, report: Report) -> None:
    """Add the tracks of one set of F-curves to `made`. Raise AnimationError if no track is or can be enabled."""
    channels, tracks = found.channels, found.tracks
    plain = [track for track in tracks if not (track.enabled or (*channels.identity, track.path) in made)]
    before = [track for track in tracks if track.enabled]
    for track, own in zip(before, own_keys.read(before), strict=True):
        report.notes += _faults_of_frames(track, own)
    left_alone = [reason for track in plain if (reason := found.reasons[id(track)])]
    free = [track for track in plain if not found.reasons[id(track)]]
    faulty = errors_of_numbers(free, own_keys.read(free))
    faults = [fault for fault in faulty if fault is not None]
    wanted = [track for track, fault in zip(free, faulty, strict=True) if fault is None]
    enabled = len(plain) < len(tracks)
    if not wanted and not enabled:
        if left_alone or faults:
            raise AnimationError(*left_alone, *faults)
        raise AnimationError(Finding("NO_FLOAT_PROPERTY", name_of(found.datablock)))
    report.notes += left_alone
    report.errors += faults
    if channels.action.library is not None:
        channels = editable_channels(found.datablock, report.notes)
        paths = {track.path for track in wanted}
        wanted = [track for track in find_tracks(found.datablock, channels) if track.path in paths]
    remove_strays(channels)
    made |= {(*channels.identity, track.path): (channels, track) for track in wanted}
    report.tracks += len(wanted)


def _faults_of_frames(track: Track, originals: Mapping[int, OwnKeys]) -> list[Finding]:
    """Return a note on the first two keys at the same frame, because such keys prevent a bake."""
    try:
        for own in originals.values():
            check_frames(track, own.keys.frames)
    except AnimationError as fault:
        return list(fault.findings)
    return []


def _with_interpolations(track: Track, originals: Mapping[int, OwnKeys], report: Report) -> dict[int, OwnKeys]:
    """Return the track's keys with all non-Bezier interpolations recorded as chosen, and report these interpolations.

    If keys already have parameters, for example because they were pasted, all keys are returned unchanged. The keys of
    tracks with only linear keys are also returned unchanged.
    """
    # Exporters write linear keys that nobody chose.
    if _have_parameters(originals) or _is_all_linear(originals):
        return dict(originals)
    other = {index: _OTHER[own.keys.interpolation] for index, own in originals.items()}
    if any((own.keys.interpolation[:-1] != INTERPOLATION["BEZIER"]).any() for own in originals.values()):
        report.notes.append(track.finding("NOT_BEZIER"))
    if not any(each.any() for each in other.values()):
        return dict(originals)
    return {
        index: own.with_(chosen=np.where(other[index], own.chosen | np.uint8(CHOSEN_INTERPOLATION), own.chosen))
        for index, own in originals.items()
    }


def _is_all_linear(originals: Mapping[int, OwnKeys]) -> bool:
    """Return whether all segments are linear."""
    return all((own.keys.interpolation[:-1] == INTERPOLATION["LINEAR"]).all() for own in originals.values())


def _have_parameters(originals: Mapping[int, OwnKeys]) -> bool:
    return any((~np.isnan(own.numbers)).any() for own in originals.values())


@record(eq=False)
class _Reading:
    """An interpretation of the turns between a track's keys, and the resulting splines."""

    place: int
    settings: Settings
    splines: list[TrackSpline]
    is_linear: bool
    flip: float | None
    """The frame of the first key with a sign opposite to the previous key. Default parameters remove the flip."""


def _keep_look(
    tracks: Sequence[Track],
    originals: Sequence[Mapping[int, OwnKeys]],
    defaults: Mapping[str, float],
    max_change: tuple[float, float],
    report: Report,
    path: Path | None,
) -> tuple[list[dict[int, Numbers]], list[Settings]]:
    """Fit parameters to the current motion. Return the parameters and settings for each track.

    Parameters are grouped by channel index, with one value per key. A track with only linear keys, or with a flip,
    keeps the defaults, and the change to its motion is only reported.
    """
    readings = [
        reading
        for place, (track, own) in enumerate(zip(tracks, originals, strict=True))
        for reading in _readings(place, track, own, defaults, path)
    ]
    parts = played_parts([SplinesOfTrack(tracks[each.place], originals[each.place], each.splines) for each in readings])
    measured = [
        (reading, Look(tracks[reading.place], originals[reading.place], reading.splines, own))
        for reading, own in zip(readings, parts, strict=True)
        if own
    ]
    fitted = [row for row, (reading, _) in enumerate(measured) if not reading.is_linear and reading.flip is None]
    # The table rounds parameters to float32.
    found = {
        row: each.astype(np.float32).astype(np.float64)
        for row, each in zip(fitted, fit_parameters([measured[row][1].parts for row in fitted]), strict=True)
    }
    measure_changes(
        [look for _, look in measured],
        [
            [part.with_parameters(found[row]) if row in found else part.spline for part in look.parts]
            for row, (_, look) in enumerate(measured)
        ],
    )
    numbers: list[dict[int, Numbers]] = [{} for _ in tracks]
    settings = [_settings(track, path) for track in tracks]
    best: dict[int, int] = {}
    for row, (reading, look) in enumerate(measured):
        first = best.setdefault(reading.place, row)
        if _changes_less(look, measured[first][1]):
            best[reading.place] = row
    for place, row in best.items():
        reading, look = measured[row]
        if row in found:
            numbers[place] = _of_channels(originals[place], found[row], defaults)
            report.looks_kept += 1
        if reading.flip is not None:
            report.notes.append(tracks[place].finding("FLIP_NOT_KEPT", frame=reading.flip))
        if reading.settings.path != settings[place].path:
            settings[place] = reading.settings
            report.notes.append(tracks[place].finding("TURNS_SHORTEST"))
        elif path is None:
            report.notes += _turns_kept(tracks[place], reading)
        report.add(_compared(look, reading.is_linear, max_change))
    return numbers, settings


def _turns_kept(track: Track, reading: _Reading) -> list[Finding]:
    """Return a list with a note on the first turn of 180 to 360 degrees kept as keyed, or an empty list.

    Longer turns need no note, because they include whole turns and must be intended.
    """
    for spline in reading.splines:
        turns = np.empty(0) if spline.turns is None else spline.turns
        far = np.flatnonzero((turns > math.pi + _ROUNDED_TURN) & (turns < 2.0 * math.pi - _ROUNDED_TURN))
        if len(far):
            frame = float(spline.frames[far[0] + 1])
            return [track.finding("TURNS_KEPT", math.degrees(turns[far[0]]), frame=frame)]
    return []


def _changes_less(look: Look, other: Look) -> bool:
    """Return whether the largest and the mean changes are clearly smaller for `look` than for `other`."""
    less = look.change < _CLEARLY_LESS * other.change and look.mean < _CLEARLY_LESS * other.mean
    return less and other.change > MAX_CHANGE[0]


def _of_channels(
    originals: Mapping[int, OwnKeys], parameters: Float64Array, defaults: Mapping[str, float]
) -> dict[int, Numbers]:
    """Return each channel's parameters, given the track's parameters, shape (5, keys), with NaN for the default."""
    frames = union([own.keys.frames for own in originals.values()])
    # `parameters` ends at the last fitted key. Later keys belong to channels with only one key, and keep 0.
    every = np.zeros((len(PARAMETERS), len(frames)))
    every[:, : parameters.shape[1]] = parameters
    given = [
        values if defaults.get(name, 0.0) else np.where(values == 0.0, np.nan, values)
        for name, values in zip(PARAMETERS, every, strict=True)
    ]
    rows = {
        index: np.searchsorted(frames, own.keys.frames - np.float32(SAME_FRAME)) for index, own in originals.items()
    }
    return {
        index: {name: values[at] for name, values in zip(PARAMETERS, given, strict=True)} for index, at in rows.items()
    }


def _readings(
    place: int, track: Track, originals: Mapping[int, OwnKeys], defaults: Mapping[str, float], path: Path | None
) -> list[_Reading]:
    """Return the interpretation of a track's turns that `path` selects.

    If `path` is None, and angles turn by more than half a turn, return both interpretations. The list is empty if
    Blender plays all segments of the track, or if the track already has parameters or can't be baked.
    """
    settings, is_linear = _settings(track, path), _is_all_linear(originals)
    splines = _splines(track, settings, originals, defaults if is_linear else {})
    flip = _flip_of(splines) if track.kind == "QUATERNION" and path is None else None
    if flip is not None:
        splines = _splines(track, settings, originals, defaults)
    readings = [_Reading(place, settings, splines, is_linear, flip)]
    if path is None and any(each.turns is not None and (each.turns > math.pi).any() for each in splines):
        shortest = replace(settings, path="SHORTEST")
        splines = _splines(track, shortest, originals, defaults if is_linear else {})
        readings.append(_Reading(place, shortest, splines, is_linear, None))
    return [reading for reading in readings if reading.splines]


def _settings(track: Track, path: Path | None) -> Settings:
    """Return the settings for a plain track. If `path` is not None, it applies to rotations."""
    return track.settings if path is None or not track.is_rotation else replace(track.settings, path=path)


def _flip_of(splines: Sequence[TrackSpline]) -> float | None:
    """Return the frame of the first quaternion whose sign is opposite to the previous key, or None."""
    for spline in splines:
        flips = np.flatnonzero(np.einsum("ij,ij->i", spline.values[1:], spline.values[:-1]) < 0.0)
        if len(flips):
            return float(spline.frames[flips[0] + 1])
    return None


def _splines(
    track: Track, settings: Settings, originals: Mapping[int, OwnKeys], defaults: Mapping[str, float]
) -> list[TrackSpline]:
    """Return the splines that have segments to fit."""
    if _have_parameters(originals):
        return []
    try:
        splines = track_splines(track, settings, originals, defaults)
    except AnimationError:
        return []
    return [run for spline in splines for run in spline.runs if len(run.frames) > 1]


def _compared(look: Look, was_linear: bool, max_change: tuple[float, float]) -> Report:
    """Report the change in a track's motion. A change greater than `max_change` counts as visible."""
    track, change, at = look.track, look.change, round(look.frame, 1)
    report = Report()
    size = size_of(change, track.is_rotation)
    place = track.finding("CHANGED", size, frame=at)
    if track.is_rotation:
        report.rotation_change, report.rotation_change_at = change, place
        visible = change > max_change[0]
    else:
        report.value_change, report.value_change_at = change, place
        visible = change > max_change[1] * look.spread
    if visible:
        report.looks_changed = 1
    if was_linear and change > 0.0:
        report.notes.append(track.finding("LINEAR_CURVED", size, bool(visible), frame=at))
    elif visible:
        report.notes.append(track.finding("LOOK_CHANGED", size, frame=at))
    return report
