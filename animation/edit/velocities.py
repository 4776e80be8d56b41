# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities and accelerations of TCB tracks as custom properties.

The values are the derivatives of the splines through the keys, and do not depend on the samples of a bake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import bpy
import numpy as np

from ...formats.table_headings import Unit
from ...interp import retiming
from ...interp.messages import Text
from ..arguments import LARGEST, Parameters, Positive, check_fields, checked
from ..bake.plans.sample_frames import APART
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, channels_of, evaluate_anew
from ..fcurves.keyframes import Float64Array
from ..fcurves.linked_data import editable_channels
from ..fcurves.write_keys import key_curve
from ..many import on_each
from ..options import SAMPLE_LIMIT, VELOCITIES
from ..records import record
from ..report import Report
from ..store.find_tracks import find_tracks
from ..store.frame_functions import FrameFunction, function_of
from ..store.own_keys import count_key_frames, read_own_keys
from ..store.paths import split
from ..store.track_refusals import blocking_reason
from ..store.tracks import Track
from ..store.velocity_properties import count_tracks, is_velocity, velocity_path
from ..translation import n_

Quantity = Literal["VELOCITY", "ACCELERATION", "SPEED"]
QUANTITIES: tuple[Quantity, ...] = ("VELOCITY", "ACCELERATION", "SPEED")
_WORDS = {
    "velocity": n_("velocity"),
    "acceleration": n_("acceleration"),
    "speed": n_("speed"),
    "angular_velocity": n_("angular velocity"),
    "angular_acceleration": n_("angular acceleration"),
}
_ORDER = {"VELOCITY": 1, "ACCELERATION": 2, "SPEED": 1}
"""Orders of the derivatives."""
_GROUP = "TCB Velocities"
"""Channel group of the written F-curves."""
_AT_END = 1e-3
"""Fraction of a step within which a sample counts as the last frame."""


@dataclass(frozen=True)
class Velocities:
    """Options for writing velocities, accelerations and speeds.

    Attributes
    ----------
    quantities : set of "VELOCITY", "ACCELERATION" and "SPEED"
        Quantities to write. For rotations, all quantities are angular, in radians and relative to the parent's axes.
        The speed is the magnitude of the velocity.
    step : float
        Interval between samples in frames, which may be less than 1.
    unit : "FRAME" or "SECOND"
        Unit of time.
    rate : float
        Frames per second.
    defaults : mapping of parameter name to float
        Parameters by name, for keys that have none of their own.

    Examples
    --------
    >>> how = animation.Velocities(quantities={"SPEED"}, unit="SECOND", rate=30)
    """

    quantities: frozenset[Quantity] = VELOCITIES["quantities"].default
    step: Positive = VELOCITIES["step"].default
    unit: Unit = VELOCITIES["unit"].default
    rate: Positive = 24.0
    defaults: Parameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def write_velocities(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, how: Velocities | None = None
) -> Report:
    """Write the velocities of the datablock's TCB tracks as custom properties.

    Velocities of bones are written to the bones.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Write velocities only for tracks whose paths start with one of the prefixes.
    how : Velocities, optional
        Options. If `how` contains no quantities, previously written properties are removed.

    Returns
    -------
    Report
        `samples` is the number of keys of the written properties. Previously written properties of the same tracks are
        replaced.

    Raises
    ------
    AnimationError
        There is no TCB track, or a track can't be evaluated. Nothing was written.

    Notes
    -----
    The properties have names such as tcb_location_velocity, tcb_rotation_angular_acceleration and tcb_grip_speed. The
    F-curves of the properties have ordinary linear keys, and are not treated as tracks. Bakes, Restore, Remove and
    edits do not change these F-curves. The F-curves change only when they are written again. If a frame function
    retimes the track, the properties describe the retimed motion.

    Examples
    --------
    >>> report = animation.enable(ball, keep_look=False)
    >>> how = animation.Velocities(quantities={"SPEED"})
    >>> animation.write_velocities(ball, ["location"], how).samples
    40
    >>> bpy.context.scene.frame_set(1)
    >>> round(ball["tcb_location_speed"], 3)  # units per frame
    0.319
    """
    how = how or Velocities()
    if not how.quantities:
        return _remove_written(datablock, prefixes)
    report = Report.on([datablock])
    moving_tracks = _moving_tracks(datablock, prefixes, how, report)
    properties: list[tuple[str, Float64Array, Float64Array]] = []
    for moving in moving_tracks:
        frames = _frames(how.step, moving.ends)
        for kind, values in _measured(moving, frames, how, report).items():
            if np.abs(values).max(initial=0.0) > LARGEST:
                raise moving.track.error("VELOCITY_TOO_LARGE", Text(_WORDS[kind]))
            properties.append((velocity_path(datablock, moving.track.path, kind), frames, values))
    channels = editable_channels(datablock, report.notes)
    tracks = [moving.track for moving in moving_tracks]
    previous_paths = {
        velocity_path(datablock, track.path, _kind(track, quantity)) for track in tracks for quantity in QUANTITIES
    }
    _remove(datablock, channels, previous_paths)
    for path, frames, values in properties:
        _write(datablock, channels, path, frames, values)
        report.samples += values.size
    report.tracks = len(tracks)
    if datablock.override_library is not None:
        report.notes.append(Finding("VELOCITY_FORGOTTEN", name_of(datablock)))
    evaluate_anew(channels.action)
    return report


write_velocities_many = on_each(write_velocities)


@record(eq=False)
class _MovingTrack:
    """A TCB track with its splines, and the frame function that retimes it."""

    track: Track
    splines: list[TrackSpline]
    function: FrameFunction | None

    @property
    def ends(self) -> tuple[float, float]:
        if self.function is not None:
            return self.function.bounds
        return (
            min(float(spline.frames[0]) for spline in self.splines),
            max(float(spline.frames[-1]) for spline in self.splines),
        )


def _moving_tracks(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None, how: Velocities, report: Report
) -> list[_MovingTrack]:
    """Return the TCB tracks in use with their splines. Report tracks that can't be baked.

    Raises AnimationError if no track remains, or if there would be too many samples.
    """
    moving_tracks = []
    for track in find_tracks(datablock, channels_of(datablock), prefixes):
        if not (track.enabled and track.in_use):
            continue
        reason = blocking_reason(track)
        own_keys = {} if reason else read_own_keys(track)
        if reason or not own_keys:
            report.errors.append(reason or track.finding("NO_KEYS"))
            continue
        report.keys += count_key_frames(own_keys)
        with scratch_curves.shared_action():
            splines = track_splines(track, track.settings, own_keys, how.defaults)
            moving_tracks.append(_MovingTrack(track, splines, function_of(track)))
    if not moving_tracks:
        raise AnimationError(*(report.errors or [Finding("NO_TCB_TRACK", name_of(datablock))]))
    count = sum(len(moving.track.rest) * (moving.ends[1] - moving.ends[0]) / how.step for moving in moving_tracks)
    if count > SAMPLE_LIMIT:
        raise AnimationError(Finding("TOO_MANY_ROWS", name_of(datablock), arguments=(count, SAMPLE_LIMIT)))
    return moving_tracks


def _frames(step: float, ends: tuple[float, float]) -> Float64Array:
    """Return the frames from the first to the last, `step` apart.

    A frame that is too close to the last frame is omitted.
    """
    first, last = ends
    # The division may round down. The factor, many rounding errors above 1, then keeps the last frame.
    frames = first + np.arange(int((last - first) / step * (1.0 + 1e-12)) + 1) * step
    # Round the frames to float32 like key frames, so that values are exact at these frames.
    rounded: Float64Array = frames.astype(np.float32).astype(np.float64)
    gap = last - rounded[-1]
    if gap < _AT_END * step:
        return rounded
    # Blender would merge two keys this close together.
    is_too_close = len(rounded) > 1 and gap <= APART < step
    return np.append(rounded[:-1] if is_too_close else rounded, np.float64(np.float32(last)))


def _measured(moving: _MovingTrack, frames: Float64Array, how: Velocities, report: Report) -> dict[str, Float64Array]:
    """Return the quantities by name, shape (samples, components). Add a note on quantities that do not exist."""
    track = moving.track
    measured: dict[str, Float64Array] = {}
    highest_order = min(spline.spline.derivatives for spline in moving.splines)
    for quantity in QUANTITIES:
        if quantity not in how.quantities:
            continue
        order = _ORDER[quantity]
        if order > highest_order:
            report.notes.append(track.finding("VELOCITY_MISSING", Text(_WORDS[quantity.lower()])))
            continue
        values = _derivatives(moving, frames, order)
        if how.unit == "SECOND":
            values *= how.rate**order
        if quantity == "SPEED":
            values = np.linalg.norm(values, axis=1, keepdims=True)
        measured[_kind(track, quantity)] = values
    return measured


def _derivatives(moving: _MovingTrack, frames: Float64Array, order: int) -> Float64Array:
    """Return the derivatives of the played motion per frame, shape (samples, components)."""
    track = moving.track
    timing = None if moving.function is None else moving.function.with_rates(frames)
    derivatives = np.zeros((len(frames), 3 if track.is_rotation else len(track.rest)))
    for spline in moving.splines:
        columns = slice(None) if track.is_rotation else spline.components
        if timing is None:
            derivatives[:, columns] = spline.spline(frames, order)
        else:
            played_frames, rates, rate_changes = timing
            derivatives[:, columns] = retiming.retimed(spline.spline, played_frames, order, rates, rate_changes)
    return derivatives


def _kind(track: Track, quantity: Quantity) -> str:
    """Return the name of the quantity, which is angular for rotations."""
    angular = track.is_rotation and quantity != "SPEED"
    return ("angular_" if angular else "") + quantity.lower()


def _owner_and_name(datablock: bpy.types.ID, path: str) -> tuple[Any, str]:
    """Return the owner and the name of a custom property. Raise ValueError if the owner does not exist."""
    owner, name = split(path)
    resolved = datablock.path_resolve(owner.removesuffix(".")) if owner else datablock
    return resolved, bpy.utils.unescape_identifier(name[1:-1])


def _write(datablock: bpy.types.ID, channels: Channels, path: str, frames: Float64Array, values: Float64Array) -> None:
    owner, name = _owner_and_name(datablock, path)
    owner[name] = values[0].tolist() if values.shape[1] > 1 else float(values[0, 0])
    for index, column in enumerate(values.T):
        key_curve(channels.new(path, index, _GROUP), frames, column, "LINEAR")


def _remove(datablock: bpy.types.ID, channels: Channels, paths: Collection[str]) -> None:
    """Remove the custom properties at these paths, and their F-curves."""
    for fcurve in [fcurve for fcurve in channels if fcurve.data_path in paths]:
        channels.remove(fcurve)
    for path in paths:
        with suppress(ValueError, KeyError):
            owner, name = _owner_and_name(datablock, path)
            del owner[name]


def has_velocities(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> bool:
    """Return whether velocities were written to the datablock.

    `prefixes` limits the tracks as in `write_velocities`.
    """
    try:
        return any(True for _ in _written_paths(channels_of(datablock), prefixes))
    except AnimationError:
        return False


def _written_paths(channels: Channels, prefixes: Iterable[str] | None) -> Iterator[str]:
    """Yield the paths of the previously written F-curves."""
    starts = ("",) if prefixes is None else tuple(prefixes)
    for fcurve in channels:
        if fcurve.data_path.startswith(starts) and is_velocity(fcurve.data_path):
            yield fcurve.data_path


def _remove_written(datablock: bpy.types.ID, prefixes: Iterable[str] | None) -> Report:
    """Remove all written properties, even if their tracks no longer exist."""
    channels = editable_channels(datablock)
    paths = set(_written_paths(channels, prefixes))
    if not paths:
        raise AnimationError(Finding("NO_VELOCITIES", name_of(datablock)))
    _remove(datablock, channels, paths)
    evaluate_anew(channels.action)
    return Report.on([datablock], tracks=count_tracks(paths))
