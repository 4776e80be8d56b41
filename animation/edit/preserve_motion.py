# SPDX-License-Identifier: GPL-3.0-or-later
"""Preserve Motion: parameters of plain tracks that best fit the motion of their Bezier keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...interp.base_spline import Spline
from ...interp.fitting.tcb_parameters import fit_parameters
from ...interp.rotations.base_rotation_spline import Path
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..fcurves.keyframes import INTERPOLATION, Float64Array, rows_of, union
from ..records import record
from ..report import AnimationError, Finding, Report, size_of
from ..sampling.changes import Look, measure_changes
from ..sampling.played_splines import played_parts
from ..store.own_keys import OwnKeys
from ..store.record_keys import NumbersByName, TrackToEnable
from ..store.table.rows import CHOSEN_INTERPOLATION, PARAMETERS
from ..store.table.track_records import Settings

MAX_CHANGE = (math.radians(1.0), 0.01)
"""Changes greater than this count as visible: an angle in radians, and a fraction of a track's range."""
_CLEARLY_LESS = 0.8
"""Enable chooses the other interpretation of turns if it reduces both the largest and the mean change to less than this
fraction."""
_ROUNDED_TURN = math.radians(1.0)
"""Rotations within this angle of half a turn or a whole turn are not reported as long turns."""
_PLAYED_BY_BLENDER = np.ones(256, dtype=np.bool_)
"""Mask of the interpolations that Blender plays as other curves: all except Bezier and constant."""
_PLAYED_BY_BLENDER[[INTERPOLATION["BEZIER"], INTERPOLATION["CONSTANT"]]] = False


def preserve_motion(
    tracks: Sequence[TrackToEnable],
    defaults: Mapping[str, float],
    max_change: tuple[float, float],
    path: Path | None,
    report: Report,
) -> list[TrackToEnable]:
    """Return the tracks with the settings and parameters that best fit their current motion (see `enable`).

    A track with only linear keys, or with a flip, keeps the defaults. The changes are added to the report.
    """
    result = [replace(track, own_keys=_with_chosen_interpolations(track, report)) for track in tracks]
    readings = [reading for number, track in enumerate(result) for reading in _readings(number, track, defaults, path)]
    for fit in _best_fits(_fitted(result, readings)):
        reading, to_enable = fit.reading, result[fit.reading.number]
        track = to_enable.track
        numbers = {}
        if fit.parameters is not None:
            numbers = _by_channel(to_enable.own_keys, fit.parameters, defaults)
            report.looks_kept += 1
        result[reading.number] = replace(to_enable, settings=reading.settings, numbers=numbers)
        if reading.flip is not None:
            report.notes.append(track.finding("FLIP_NOT_KEPT", frame=reading.flip))
        if reading.settings.path != to_enable.settings.path:
            report.notes.append(track.finding("TURNS_SHORTEST"))
        elif path is None:
            report.notes += _long_turn_note(fit)
        report.add(_report_of_change(fit, max_change))
    return result


def _with_chosen_interpolations(to_enable: TrackToEnable, report: Report) -> dict[int, OwnKeys]:
    """Return the track's keys with non-Bezier interpolations recorded as chosen, and report these interpolations."""
    own_keys = to_enable.own_keys
    # Exporters write linear keys that nobody chose. Keys that were pasted have parameters already.
    if _have_parameters(own_keys) or _is_all_linear(own_keys):
        return dict(own_keys)
    if any((own.keys.interpolation[:-1] != INTERPOLATION["BEZIER"]).any() for own in own_keys.values()):
        report.notes.append(to_enable.track.finding("NOT_BEZIER"))
    chosen_by_index = {
        index: np.where(_PLAYED_BY_BLENDER[own.keys.interpolation], np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))
        for index, own in own_keys.items()
    }
    if not any(chosen.any() for chosen in chosen_by_index.values()):
        return dict(own_keys)
    return {index: own.with_(chosen=own.chosen | chosen_by_index[index]) for index, own in own_keys.items()}


def _is_all_linear(own_keys: Mapping[int, OwnKeys]) -> bool:
    return all((own.keys.interpolation[:-1] == INTERPOLATION["LINEAR"]).all() for own in own_keys.values())


def _have_parameters(own_keys: Mapping[int, OwnKeys]) -> bool:
    return any((~np.isnan(own.numbers)).any() for own in own_keys.values())


@record(eq=False)
class _Reading:
    """An interpretation of the turns between a track's keys, and the resulting splines."""

    number: int
    """Index of the track."""
    settings: Settings
    splines: list[TrackSpline]
    is_linear: bool
    flip: float | None
    """The frame of the first key with a sign opposite to the previous key. Default parameters remove the flip."""

    @property
    def is_to_fit(self) -> bool:
        return not self.is_linear and self.flip is None


def _readings(
    number: int, to_enable: TrackToEnable, defaults: Mapping[str, float], path: Path | None
) -> list[_Reading]:
    """Return the possible interpretations of the track's turns, or an empty list if the track has nothing to fit."""
    settings, is_linear = to_enable.settings, _is_all_linear(to_enable.own_keys)
    defaults_if_linear = defaults if is_linear else {}
    splines = _splines(to_enable, settings, defaults_if_linear)
    flip = _flip_of(splines) if to_enable.track.kind == "QUATERNION" and path is None else None
    if flip is not None:
        splines = _splines(to_enable, settings, defaults)
    readings = [_Reading(number, settings, splines, is_linear, flip)]
    turns = [turn for each in splines if each.turns is not None for turn in each.turns.tolist()]
    # Full turns must be intended.
    if path is None and math.pi < max(turns, default=0.0) < 2.0 * math.pi - _ROUNDED_TURN:
        shortest = replace(settings, path="SHORTEST")
        readings.append(_Reading(number, shortest, _splines(to_enable, shortest, defaults_if_linear), is_linear, None))
    return [reading for reading in readings if reading.splines]


def _splines(to_enable: TrackToEnable, settings: Settings, defaults: Mapping[str, float]) -> list[TrackSpline]:
    """Return the splines that have segments to fit."""
    if _have_parameters(to_enable.own_keys):
        return []
    try:
        splines = track_splines(to_enable.track, settings, to_enable.own_keys, defaults)
    except AnimationError:
        return []
    return [run for spline in splines for run in spline.runs if len(run.frames) > 1]


def _flip_of(splines: Sequence[TrackSpline]) -> float | None:
    """Return the frame of the first quaternion whose sign is opposite to the previous key, or None."""
    for spline in splines:
        flips = np.flatnonzero(np.einsum("ij,ij->i", spline.values[1:], spline.values[:-1]) < 0.0)
        if len(flips):
            return float(spline.frames[flips[0] + 1])
    return None


@record(eq=False)
class _Fit:
    """The measured change of the motion for one interpretation of a track's turns."""

    reading: _Reading
    look: Look
    parameters: Float64Array | None
    """The fitted parameters, shape (5, keys). None if the keys get the defaults."""


def _fitted(tracks: Sequence[TrackToEnable], readings: Sequence[_Reading]) -> list[_Fit]:
    """Fit parameters to the current motion, and measure the change for each interpretation."""
    inputs = [(tracks[reading.number], reading) for reading in readings]
    played = played_parts([(each.track, each.own_keys, reading.splines) for each, reading in inputs])
    looks = [
        (reading, Look(each.track, each.own_keys, reading.splines, parts))
        for (each, reading), parts in zip(inputs, played, strict=True)
        if parts
    ]
    fitted = iter(fit_parameters([look.parts for reading, look in looks if reading.is_to_fit]))
    fits = []
    for reading, look in looks:
        # The table rounds parameters to float32.
        parameters = next(fitted).astype(np.float32).astype(np.float64) if reading.is_to_fit else None
        fits.append(_Fit(reading, look, parameters))
    measure_changes([fit.look for fit in fits], list(map(_splines_of_fit, fits)))
    return fits


def _splines_of_fit(fit: _Fit) -> list[Spline]:
    """Return the splines of the keys with the fitted parameters."""
    if fit.parameters is None:
        return [part.spline for part in fit.look.parts]
    return [part.with_parameters(fit.parameters) for part in fit.look.parts]


def _best_fits(fits: Iterable[_Fit]) -> list[_Fit]:
    """Return the interpretation of each track's turns that changes the motion least, or the first if it is similar."""
    best: dict[int, _Fit] = {}
    for fit in fits:
        current = best.setdefault(fit.reading.number, fit)
        if _changes_less(fit.look, current.look):
            best[fit.reading.number] = fit
    return list(best.values())


def _changes_less(look: Look, other: Look) -> bool:
    """Return whether the largest and the mean changes are clearly smaller for `look` than for `other`."""
    less = look.change < _CLEARLY_LESS * other.change and look.mean < _CLEARLY_LESS * other.mean
    return less and other.change > MAX_CHANGE[0]


def _by_channel(
    own_keys: Mapping[int, OwnKeys], parameters: Float64Array, defaults: Mapping[str, float]
) -> dict[int, NumbersByName]:
    """Return each channel's parameters, given the track's parameters, shape (5, keys), with NaN for the default."""
    frames = union([own.keys.frames for own in own_keys.values()])
    # `parameters` ends at the last fitted key. Later keys belong to channels with only one key, and keep 0.
    at_frames = np.zeros((len(PARAMETERS), len(frames)))
    at_frames[:, : parameters.shape[1]] = parameters
    numbers = {
        name: values if defaults.get(name, 0.0) else np.where(values == 0.0, np.nan, values)
        for name, values in zip(PARAMETERS, at_frames, strict=True)
    }
    rows = {index: rows_of(own.keys.frames, frames) for index, own in own_keys.items()}
    return {index: {name: values[at] for name, values in numbers.items()} for index, at in rows.items()}


def _long_turn_note(fit: _Fit) -> list[Finding]:
    """Return a note on the first turn of 180 to 360 degrees. Longer turns must be intended."""
    for spline in fit.reading.splines:
        turns = np.empty(0) if spline.turns is None else spline.turns
        is_long = (turns > math.pi + _ROUNDED_TURN) & (turns < 2.0 * math.pi - _ROUNDED_TURN)
        if is_long.any():
            row = int(np.argmax(is_long))
            return [fit.look.track.finding("TURNS_KEPT", math.degrees(turns[row]), frame=float(spline.frames[row + 1]))]
    return []


def _report_of_change(fit: _Fit, max_change: tuple[float, float]) -> Report:
    """Report the change in a track's motion. A change greater than `max_change` counts as visible."""
    look = fit.look
    track, change, frame = look.track, look.change, round(look.frame, 1)
    report = Report()
    size = size_of(change, track.is_rotation)
    place = track.finding("CHANGED", size, frame=frame)
    if track.is_rotation:
        report.rotation_change, report.rotation_change_at = change, place
        is_visible = change > max_change[0]
    else:
        report.value_change, report.value_change_at = change, place
        is_visible = change > max_change[1] * look.spread
    report.looks_changed = int(is_visible)
    if fit.reading.is_linear and change > 0.0:
        report.notes.append(track.finding("LINEAR_CURVED", size, bool(is_visible), frame=frame))
    elif is_visible:
        report.notes.append(track.finding("LOOK_CHANGED", size, frame=frame))
    return report
