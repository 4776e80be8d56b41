# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable: making tracks TCB, with the look that their Bezier keys have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ..interp import evaluate_many, rotations
from ..interp.likeness import Part, fit_parameters, sample_frames
from . import scratch
from .channels import channels_of
from .companions import PARAMETERS, remove_strays
from .datablocks import name_of
from .enabling import check_editable, editable_channels, enable_track
from .faults import Refusal
from .originals import Originals
from .played import has_bezier_segments, played_parts
from .reading import key_frames, read_originals
from .report import Report
from .selected_keys import keys_of, set_parameters
from .splines import track_splines
from .tracks import Track, default_settings, find_tracks, why_not

_SEEN = 0.01
"""Of a track's range: a change that a person may see."""
_SEEN_ANGLE = math.radians(1.0)


def enable(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, keep_look: bool = False) -> Report:
    """Make the datablock's tracks TCB (those under `prefixes`); their motion changes at the next bake.

    `keep_look`: see `enable_many`. Raises Refusal where there is nothing that can be.
    """
    report = enable_many({datablock: prefixes}, keep_look)
    if report.refusals:
        raise report.refusals[0]
    return report


def enable_many(selected: Mapping[bpy.types.ID, Iterable[str] | None], keep_look: bool = False) -> Report:
    """Make tracks of the datablocks TCB: all of them, or those whose paths start with one of those given.

    With `keep_look` the keys of a track with Bezier segments get the parameters with which it plays most as it does
    now; the report says how much it changes. Without, and in other tracks, they have the defaults of 3D Studio.
    """
    report = Report()
    made: list[tuple[bpy.types.ID, Track]] = []
    for datablock, prefixes in selected.items():
        try:
            made += [(datablock, track) for track in _make_tcb(datablock, prefixes, report)]
        except Refusal as refusal:
            report.refusals.append(refusal)
    if keep_look:
        with scratch.kept():
            _keep_look(made, report)
    return report


def _make_tcb(datablock: bpy.types.ID, prefixes: Iterable[str] | None, report: Report) -> list[Track]:
    """The tracks that were made TCB. Raises Refusal."""
    check_editable(datablock)
    tracks = find_tracks(datablock, channels_of(datablock), prefixes)
    wanted = set()
    notes = []
    for track in tracks:
        reason = why_not(track)
        if reason and not track.enabled:
            notes.append(str(track.refusal(reason)))
        elif not track.enabled:
            wanted.add(track.path)
    if not wanted and not any(track.enabled for track in tracks):
        reasons = "; ".join(notes)
        raise Refusal(name_of(datablock), reasons or "it has no animated float property", nothing_to_do=not reasons)
    report.notes += notes
    channels = editable_channels(datablock)
    remove_strays(channels)
    made = [track for track in find_tracks(datablock, channels, prefixes) if track.path in wanted]
    for track in made:
        enable_track(datablock, channels, track, default_settings(track))
        report.tracks += 1
        report.keys += len(key_frames(track))
    if made:
        report.add(Report.on([datablock]))
    return made


@dataclass(frozen=True, eq=False)
class _Look:
    """A track as it plays now."""

    datablock: bpy.types.ID
    track: Track
    originals: dict[int, Originals]
    parts: list[Part]


def _keep_look(made: Iterable[tuple[bpy.types.ID, Track]], report: Report) -> None:
    looks = [look for datablock, track in made if (look := _look(datablock, track)) is not None]
    for look, parameters in zip(looks, fit_parameters([look.parts for look in looks]), strict=True):
        set_parameters(keys_of(look.datablock, look.track), dict(zip(PARAMETERS, parameters, strict=True)))
        report.add(_compared(look))


def _look(datablock: bpy.types.ID, track: Track) -> _Look | None:
    """None where it is to have the defaults: it is not of Bezier segments, has parameters, or can't be baked."""
    originals = read_originals(track)
    if track.parameters or not has_bezier_segments(originals):
        return None
    try:
        splines = track_splines(track, track.settings, originals, {})
    except Refusal:
        return None
    parts = played_parts(track, originals, splines)
    return _Look(datablock, track, originals, parts) if parts else None


def _compared(look: _Look) -> Report:
    """How much the track's splines differ now from what it plays."""
    report = Report(looks_kept=1)
    track = look.track
    splines = [each for each in track_splines(track, track.settings, look.originals, {}) if len(each.frames) > 1]
    frames = [sample_frames(each.frames.astype(np.float64)).ravel() for each in splines]
    change, at, spread = 0.0, 0.0, 0.0
    for values, part, each in zip(evaluate_many([s.spline for s in splines], frames), look.parts, frames, strict=True):
        played = part.played.reshape(values.shape)
        if track.is_rotation:
            difference = rotations.angle_between(values, played)
        else:
            difference = np.abs(values - played).max(axis=1)
            both = np.concatenate([part.spline.keys.values, played])
            spread = max(spread, float(np.ptp(both, axis=0).max()))
        worst = int(np.argmax(difference))
        if difference[worst] >= change:
            change, at = float(difference[worst]), float(each[worst])
    words = f"{math.degrees(change):.2g} degrees" if track.is_rotation else f"{change:.2g}"
    if track.is_rotation:
        report.rotation_change, report.rotation_change_at = change, _place(track, at)
    else:
        report.value_change, report.value_change_at = change, _place(track, at)
    if change > (_SEEN_ANGLE if track.is_rotation else _SEEN * spread):
        report.notes.append(str(track.refusal(f"no parameters play just what its curves do: off by {words}", at)))
    return report


def _place(track: Track, frame: float) -> str:
    return f"{track.name}: {track.path}: frame {frame:.4g}"
