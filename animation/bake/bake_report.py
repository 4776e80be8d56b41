# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake: figures of each track, and notes."""

from __future__ import annotations

from collections.abc import Set

import bpy
import numpy as np

from ..datablocks import name_of
from ..fcurves import scratch_curves
from ..report import Finding, HandleError, Report, handle_error, size_of
from ..store.tracks import Track
from .bake_job import BakeJob, TrackBake

_PRECISION = 4.0 * float(np.finfo(np.float32).eps)
"""Error due to float32 rounding, relative to the largest value of a track, or in radians for a rotation."""


def count_tracks(report: Report, job: BakeJob[TrackBake]) -> None:
    """Add the written tracks to the report, with the notes that stay valid until the tracks change, and the errors."""
    report.errors += job.errors
    for bake in job.tracks:
        track, baked = bake.track, bake.baked
        has_extent = not track.is_rotation and (baked.is_by_handles or baked.error)
        value_range, largest = _extent(bake) if has_extent else (0.0, 1.0)
        report.tracks += 1
        report.keys += len(bake.key_frames)
        if baked.is_by_handles:
            report.handles.append(_handle_error(bake, value_range))
        for keys in baked.channel_keys:
            if keys.incoming is None:
                report.samples += keys.generated_count
            else:
                report.curve_keys += keys.generated_count
        is_exact = not baked.error or baked.error <= _PRECISION * largest
        if track.is_rotation:
            report.rotation_error = max(report.rotation_error, baked.error)
            report.rotations_exact &= is_exact
        else:
            report.value_error = max(report.value_error, baked.error)
            report.values_exact &= is_exact
        report.notes += [*bake.notes, *baked.notes, *_modifier_notes(track)]


def add_notes_of_manual_bake(report: Report, job: BakeJob[TrackBake]) -> None:
    """Add notes that only a manual bake reports.

    The Live option updates keys continually. While Live is on, the track list shows the error of the handles instead of
    a note.
    """
    for bake in job.tracks:
        if bake.baked.is_approximate:
            error = size_of(bake.baked.error, bake.track.is_rotation)
            report.notes.append(bake.track.finding("HANDLES_APPROXIMATE", error, round(bake.baked.error_frame, 2)))
        linear = _linear_components(bake)
        if linear and _is_held(bake, linear):
            report.notes.append(bake.track.finding("HELD_OUTSIDE"))
        if linear and _has_other_slope_outside(bake, linear):
            report.notes.append(bake.track.finding("OTHER_SLOPE_OUTSIDE"))
    if _has_useless_extension(job):
        report.notes.append(Finding("NOT_EXTENDED", name_of(job.datablocks[0])))


def _handle_error(bake: TrackBake, value_range: float) -> HandleError:
    """Return the row of the report for a track played by handles."""
    track, baked = bake.track, bake.baked
    return handle_error(
        track.name,
        track.path,
        baked.error,
        baked.error_frame,
        value_range,
        is_rotation=track.is_rotation,
        is_approximate=baked.is_approximate,
    )


def _extent(bake: TrackBake) -> tuple[float, float]:
    """Return the largest range of a channel, and the largest absolute value, of the animator's keys."""
    channels = [own.values.tolist() for own in bake.own.values()]
    ends = [(min(values), max(values)) for values in channels]
    return max(high - low for low, high in ends), max(-low if low + high < 0.0 else high for low, high in ends)


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


def _linear_components(bake: TrackBake) -> set[int]:
    """Return the components that Blender would extrapolate linearly without the bake."""
    track = bake.track
    if bake.settings.cycle != "SINGLE" or bake.function is not None:
        return set()
    linear = [index for index in bake.own if track.extrapolation(index) == "LINEAR"]
    return {index for index in linear if not _acting_modifiers(track.channels[index])}


def _is_held(bake: TrackBake, linear: Set[int]) -> bool:
    """Return whether the bake holds the end values of any of the components, which would change outside their keys."""
    if bake.options.extend:
        return False
    held = [index for keys in bake.baked.channel_keys if keys.holds_outside for index in keys.components]
    for own in [bake.own[index] for index in held if index in linear]:
        ends = own.keys.take(np.array([0, -1]))
        outside = ends.frames + np.array([-1.0, 1.0], dtype=np.float32)
        if (scratch_curves.evaluate(own.keys, own.edited, "LINEAR", outside) != ends.values).any():
            return True
    return False


def _has_other_slope_outside(bake: TrackBake, linear: Set[int]) -> bool:
    """Return whether any of the components is extrapolated from baked keys."""
    channels = [keys for keys in bake.baked.channel_keys if not keys.holds_outside]
    return any(
        index in linear
        for keys in channels
        if not (keys.begins_segment[0] and keys.begins_segment[-2])
        for index in keys.components
    )


def _has_useless_extension(job: BakeJob[TrackBake]) -> bool:
    """Return whether the bake should extend beyond the keys, but no track moves there."""
    was_requested = False
    for bake in job.tracks:
        if bake.options.extend is None or bake.baked.is_by_handles:
            continue
        first, last = float(bake.key_frames[0]), float(bake.key_frames[-1])
        low, high = bake.options.extend
        was_requested |= low < first or high > last
        if any(keys.frames[0] < first or keys.frames[-1] > last for keys in bake.baked.channel_keys):
            return False
    return was_requested
