# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities and accelerations of TCB tracks as custom properties.

The values are the derivatives of the splines through the keys, and do not depend on the samples of a bake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

import bpy
import numpy as np

from ...interp import retiming
from ..arguments import LARGEST, Parameters, checked
from ..bake.plans.sample_frames import APART
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..datablocks import name_of
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, channels_of, editable_channels, evaluate_anew
from ..fcurves.keyframes import Float64Array
from ..fcurves.read_and_write import key_curve
from ..many import on_each
from ..options import SAMPLE_LIMIT
from ..report import AnimationError, Finding, Report
from ..store.editable import blocking_reason
from ..store.find_tracks import find_tracks
from ..store.frame_functions import FrameFunction, function_of
from ..store.paths import is_velocity, split, velocity_path
from ..store.read_own_keys import count_key_frames, read_own_keys
from ..store.tracks import Track
from ..track_paths import path_filter

_KINDS = ("velocity", "acceleration")
"""The first and second derivatives."""
_GROUP = "TCB Velocities"
"""Channel group of the written F-curves."""


@checked
def write_velocities(
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None = None,
    defaults: Parameters | None = None,
    remove: bool = False,
) -> Report:
    """Write the velocities and accelerations of the datablock's TCB tracks as custom properties.

    The values are per frame, and are written at every frame. For rotations, they are angular, in radians, about the
    parent's axes. Velocities of bones are written to the bones.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Write velocities only for tracks whose paths start with one of the prefixes.
    defaults : mapping of parameter name to float, optional
        Parameters by name, for keys that have none of their own.
    remove : bool
        If true, write nothing, and remove the properties written earlier.

    Returns
    -------
    Report
        `samples` is the number of keys of the written properties. Previously written properties of the same tracks are
        replaced.

    Raises
    ------
    AnimationError
        There is no TCB track, a track can't be evaluated, or there is nothing to remove. Nothing was changed.

    Notes
    -----
    The properties have names such as tcb_location_velocity and tcb_rotation_angular_acceleration. The F-curves of the
    properties have ordinary linear keys, and are not treated as tracks. Bakes, Restore, Remove and edits do not change
    these F-curves. The F-curves change only when they are written again. If a frame function retimes the track, the
    properties describe the retimed motion.

    Examples
    --------
    >>> report = animation.enable(ball, keep_look=False)
    >>> animation.write_velocities(ball, ["location"]).samples
    240
    >>> bpy.context.scene.frame_set(1)
    >>> [round(x, 3) for x in ball["tcb_location_velocity"]]  # units per frame
    [0.213, 0.0, -0.237]
    """
    if remove:
        return _remove_written(datablock, prefixes)
    report = Report.on([datablock])
    properties: dict[str, tuple[Float64Array, Float64Array]] = {}
    for track in find_tracks(datablock, channels_of(datablock), prefixes):
        if not (track.enabled and track.in_use):
            continue
        reason = blocking_reason(track)
        own_keys = {} if reason else read_own_keys(track)
        if reason or not own_keys:
            report.errors.append(reason or track.finding("NO_KEYS"))
            continue
        report.tracks += 1
        report.keys += count_key_frames(own_keys)
        with scratch_curves.shared_action():
            splines, function = track_splines(track, track.settings, own_keys, defaults or {}), function_of(track)
        frames = _frames(splines, function)
        for order, kind in enumerate(_KINDS, start=1):
            values = _derivatives(track, splines, function, frames, order)
            if np.abs(values).max() > LARGEST:
                raise track.error("VELOCITY_TOO_LARGE")
            report.samples += values.size
            if report.samples > SAMPLE_LIMIT:
                raise AnimationError(Finding("TOO_MANY_ROWS", name_of(datablock), arguments=(SAMPLE_LIMIT,)))
            name = f"angular_{kind}" if track.is_rotation else kind
            properties[velocity_path(datablock, track.path, name)] = frames, values
    if not properties:
        raise AnimationError(*(report.errors or [Finding("NO_TCB_TRACK", name_of(datablock))]))
    channels = editable_channels(datablock, report.notes)
    _remove(datablock, channels, properties)
    for path, (frames, values) in properties.items():
        owner, name = _owner_and_name(datablock, path)
        owner[name] = values[0].tolist() if values.shape[1] > 1 else float(values[0, 0])
        for index, column in enumerate(values.T):
            key_curve(channels.new(path, index, _GROUP), frames, column, "LINEAR")
    if datablock.override_library is not None:
        report.notes.append(Finding("VELOCITY_FORGOTTEN", name_of(datablock)))
    evaluate_anew(channels.action)
    return report


write_velocities_many = on_each(write_velocities)


def _frames(splines: list[TrackSpline], function: FrameFunction | None) -> Float64Array:
    """Return every frame from the first key to the last, including the last key."""
    if function is not None:
        first, last = function.bounds
    else:
        first = min(float(spline.frames[0]) for spline in splines)
        last = max(float(spline.frames[-1]) for spline in splines)
    frames = np.arange(first, last)
    # Blender would merge two keys this close together.
    frames = np.append(frames[last - frames > APART], last)
    # Round the frames to float32 like key frames, so that values are exact at these frames.
    rounded: Float64Array = frames.astype(np.float32).astype(np.float64)
    return rounded


def _derivatives(
    track: Track, splines: list[TrackSpline], function: FrameFunction | None, frames: Float64Array, order: int
) -> Float64Array:
    """Return the derivatives of the played motion per frame, shape (frames, components)."""
    timing = None if function is None else function.with_rates(frames)
    derivatives = np.zeros((len(frames), 3 if track.is_rotation else len(track.rest)))
    for spline in splines:
        columns = slice(None) if track.is_rotation else spline.components
        if timing is None:
            derivatives[:, columns] = spline.spline(frames, order)
        else:
            played_frames, rates, rate_changes = timing
            derivatives[:, columns] = retiming.retimed(spline.spline, played_frames, order, rates, rate_changes)
    return derivatives


def _owner_and_name(datablock: bpy.types.ID, path: str) -> tuple[Any, str]:
    """Return the owner and the name of a custom property. Raise ValueError if the owner does not exist."""
    owner, name = split(path)
    resolved = datablock.path_resolve(owner.removesuffix(".")) if owner else datablock
    return resolved, bpy.utils.unescape_identifier(name[1:-1])


def _remove(datablock: bpy.types.ID, channels: Channels, paths: Collection[str]) -> None:
    """Remove the custom properties at these paths, and their F-curves."""
    for fcurve in [fcurve for fcurve in channels if fcurve.data_path in paths]:
        channels.remove(fcurve)
    for path in paths:
        with suppress(ValueError, KeyError):
            owner, name = _owner_and_name(datablock, path)
            del owner[name]


def _remove_written(datablock: bpy.types.ID, prefixes: Iterable[str] | None) -> Report:
    """Remove all written properties, even if their tracks no longer exist."""
    channels = editable_channels(datablock)
    is_chosen = path_filter(prefixes)
    paths = {path for fcurve in channels if is_velocity(path := fcurve.data_path) and is_chosen(path)}
    if not paths:
        raise AnimationError(Finding("NO_VELOCITIES", name_of(datablock)))
    _remove(datablock, channels, paths)
    evaluate_anew(channels.action)
    # One of the properties of a track may have been deleted.
    velocities = sum(path.endswith('velocity"]') for path in paths)
    return Report.on([datablock], tracks=max(velocities, len(paths) - velocities))
