# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable: making tracks TCB, with the look that their Bezier keys have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...interp import evaluate_many, rotations
from ...interp.likeness import Part, fit_parameters, sample_frames
from ...words import rpt_
from ..bake.splines import Float64Array, TrackSpline, track_splines
from ..datablocks import name_of
from ..faults import Refusal
from ..fcurves import scratch
from ..fcurves.channels import channels_of
from ..played import has_bezier_segments, played_parts
from ..report import Report
from ..store.companions import PARAMETERS, remove_strays
from ..store.originals import Originals
from ..store.reading import key_frames, read_originals
from ..store.tracks import Track, default_settings, find_tracks, why_not
from .enabling import check_editable, editable_channels, enable_track
from .selected_keys import keys_of, set_parameters

_Prefixes = Iterable[str] | None
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


def enable_many(
    selected: Mapping[bpy.types.ID, Iterable[str] | None],
    keep_look: bool = False,
    defaults: Mapping[str, float] | None = None,
) -> Report:
    """Make tracks of the datablocks TCB: all of them, or those whose paths start with one of those given.

    With `keep_look` the keys of a track with Bezier segments get the parameters with which it plays most as it does
    now; the report says how much it changes. Without, and in other tracks, they have the defaults: of 3D Studio, or
    those given, with which they will be baked.
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
            _keep_look(made, defaults or {}, report)
    return report


def plain_among(selected: Mapping[bpy.types.ID, _Prefixes]) -> dict[bpy.types.ID, _Prefixes]:
    """Those of the datablocks that have tracks and none that is TCB: a bake makes all of theirs so."""
    return {datablock: prefixes for datablock, prefixes in selected.items() if _is_plain(datablock, prefixes)}


def _is_plain(datablock: bpy.types.ID, prefixes: _Prefixes) -> bool:
    try:
        check_editable(datablock)
        tracks = find_tracks(datablock, channels_of(datablock), prefixes)
    except Refusal:
        return False
    return bool(tracks) and not any(track.enabled for track in tracks)


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
        raise Refusal(
            name_of(datablock), reasons or rpt_("it has no animated float property"), nothing_to_do=not reasons
        )
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


def _keep_look(made: Iterable[tuple[bpy.types.ID, Track]], defaults: Mapping[str, float], report: Report) -> None:
    looks = [look for datablock, track in made if (look := _look(datablock, track)) is not None]
    for look, parameters in zip(looks, fit_parameters([look.parts for look in looks]), strict=True):
        keys = keys_of(look.datablock, look.track)
        # Keys at the end may be of channels that have only one, which nothing shapes.
        numbers = np.pad(parameters, ((0, 0), (0, len(keys) - parameters.shape[1])))
        set_parameters(keys, dict(zip(PARAMETERS, numbers, strict=True)), defaults)
    # As the parameters are read, which are float32 now.
    splines = [spline for look in looks for spline in _splines(look.track, look.originals)]
    frames = [sample_frames(spline.frames.astype(np.float64)).ravel() for spline in splines]
    samples = iter(zip(frames, evaluate_many([spline.spline for spline in splines], frames), strict=True))
    for look in looks:
        report.add(_compared(look.track, [(part, *next(samples)) for part in look.parts]))


def _splines(track: Track, originals: Mapping[int, Originals]) -> list[TrackSpline]:
    """Those with segments. Raises Refusal."""
    return [spline for spline in track_splines(track, track.settings, originals, {}) if len(spline.frames) > 1]


def _look(datablock: bpy.types.ID, track: Track) -> _Look | None:
    """None where it is to have the defaults: it is not of Bezier segments, has parameters, or can't be baked."""
    originals = read_originals(track)
    if track.parameters or not has_bezier_segments(originals):
        return None
    try:
        parts = played_parts(track, originals, _splines(track, originals))
    except Refusal:
        return None
    return _Look(datablock, track, originals, parts) if parts else None


def _compared(track: Track, samples: Iterable[tuple[Part, Float64Array, Float64Array]]) -> Report:
    """How much a track's splines, sampled at frames, differ from what was played."""
    change, at, spread = 0.0, 0.0, 0.0
    for part, frames, values in samples:
        played = part.played.reshape(values.shape)
        if track.is_rotation:
            difference = rotations.angle_between(values, played)
        else:
            difference = np.abs(values - played).max(axis=1)
            spread = max(spread, float(np.ptp(np.concatenate([part.spline.keys.values, played]), axis=0).max()))
        worst = int(np.argmax(difference))
        if difference[worst] >= change:
            change, at = float(difference[worst]), round(float(frames[worst]), 1)
    report = Report(looks_kept=1)
    place = f"{track.name}: {track.path}: {rpt_('frame {:g}', at)}"
    if track.is_rotation:
        report.rotation_change, report.rotation_change_at = change, place
        visible, words = change > _SEEN_ANGLE, rpt_("{:.2g} degrees", math.degrees(change))
    else:
        report.value_change, report.value_change_at = change, place
        visible, words = change > _SEEN * spread, f"{change:.2g}"
    if visible:
        report.looks_changed = 1
        report.notes.append(
            str(track.refusal(rpt_("its motion changes by up to {:s}, which no parameters avoid", words), at))
        )
    return report
