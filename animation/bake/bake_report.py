# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes and figures for the report of a bake."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..errors import Finding, size_of
from ..fcurves import scratch_curves
from ..report import HandleError, Report
from ..store.tracks import Track
from .plans.protocol import TrackBake

_PRECISION = 4.0 * float(np.finfo(np.float32).eps)
"""Error due to float32 rounding, relative to the largest value of a track, or in radians for a rotation."""


def count_track(report: Report, bake: TrackBake) -> None:
    """Add a track's figures to the report, and the notes that stay valid until the track changes."""
    track = bake.track
    report.tracks += 1
    report.keys += len(bake.key_frames)
    if bake.baked.is_by_handles:
        report.handles.append(_handle_error(bake))
    else:
        report.samples += bake.baked.samples
        report.curve_keys += bake.baked.curve_keys
    is_exact = bake.baked.error <= _PRECISION * (1.0 if track.is_rotation else bake.largest)
    if track.is_rotation:
        report.rotation_error = max(report.rotation_error, bake.baked.error)
        report.rotations_exact &= is_exact
    else:
        report.value_error = max(report.value_error, bake.baked.error)
        report.values_exact &= is_exact
    report.notes += [*bake.baked.notes, *_modifier_notes(track)]


def _modifier_notes(track: Track) -> list[Finding]:
    """Return one note per type of F-curve modifier that acts on the track."""
    components: dict[str, list[str]] = {}
    for fcurve in [fcurve for fcurve in track.channels.values() if len(fcurve.modifiers)]:
        for kind in sorted(_acting_modifiers(fcurve) - {"CYCLES"}):
            components.setdefault(kind, []).append(str(fcurve.array_index))
    return [track.finding("MODIFIERS", kind, ", ".join(indices)) for kind, indices in components.items()]


def _acting_modifiers(fcurve: bpy.types.FCurve) -> set[str]:
    """Return the types of the modifiers that are not muted."""
    return {modifier.type for modifier in fcurve.modifiers if not modifier.mute}


def _handle_error(bake: TrackBake) -> HandleError:
    track = bake.track
    ranges = [float(np.ptp(own.values)) for own in bake.own.values() if own.count]
    return {
        "datablock": track.name,
        "track": track.path,
        "rotation": track.is_rotation,
        "error": math.degrees(bake.baked.error) if track.is_rotation else bake.baked.error,
        "frame": bake.baked.error_frame if math.isfinite(bake.baked.error_frame) else None,
        "range": 0.0 if track.is_rotation else max(ranges, default=0.0),
        "approximate": bake.baked.is_approximate,
    }


def note_of_one_bake(report: Report, bake: TrackBake) -> None:
    """Add notes that only a manual bake reports.

    The Live option updates keys continually. While Live is on, the track list shows the error of the handles instead of
    a note.
    """
    if bake.baked.is_approximate:
        error = size_of(bake.baked.error, bake.track.is_rotation)
        report.notes.append(bake.track.finding("HANDLES_APPROXIMATE", error, round(bake.baked.error_frame, 2)))
    if _is_held(bake):
        report.notes.append(bake.track.finding("HELD_OUTSIDE"))
    if _has_other_slope_outside(bake):
        report.notes.append(bake.track.finding("OTHER_SLOPE_OUTSIDE"))


def _has_other_slope_outside(bake: TrackBake) -> bool:
    """Return whether any curve is extrapolated linearly from baked keys."""
    track = bake.track
    if bake.settings.cycle != "SINGLE" or bake.function is not None:
        return False
    channels = [keys for keys in bake.baked.channels if not keys.holds_outside]
    baked_ends = [index for keys in channels if not (keys.gaps[0] and keys.gaps[-2]) for index in keys.components]
    return any(
        index in bake.own and track.extrapolation(index) == "LINEAR" and not _acting_modifiers(track.channels[index])
        for index in baked_ends
    )


def _is_held(bake: TrackBake) -> bool:
    """Return whether the bake holds the end values of a curve that the animator extrapolates linearly."""
    track, options = bake.track, bake.settings.options
    if bake.settings.cycle != "SINGLE" or bake.function is not None or (options is not None and options.extend):
        return False
    held = [index for keys in bake.baked.channels if keys.holds_outside for index in keys.components]
    for index, own in bake.own.items():
        if index not in held or track.extrapolation(index) != "LINEAR" or _acting_modifiers(track.channels[index]):
            continue
        ends = own.keys.take(np.array([0, -1]))
        outside = ends.frames + np.array([-1.0, 1.0], dtype=np.float32)
        if (scratch_curves.evaluate(own.keys, own.edited, "LINEAR", outside) != ends.values).any():
            return True
    return False
