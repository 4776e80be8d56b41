# SPDX-License-Identifier: GPL-3.0-or-later
"""Export the keys of an object or bone to a table, and import a table as keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...formats.table import Table
from ..arguments import LARGEST, Positive, check_fields, checked
from ..bake.plans.sample_frames import APART
from ..datablocks import name_of
from ..fcurves.channels import channels_of, evaluate_anew
from ..fcurves.keyframes import (
    INTERPOLATION,
    LAST_FRAME,
    Float32Array,
    Float64Array,
    Keyframes,
    is_among,
    rows_of,
    union,
)
from ..fcurves.read_and_write import KeyBlock, key_curve, read
from ..options import IMPORT_TABLE
from ..report import AnimationError, Finding, Report
from ..steps import Progress, Steps, run_steps
from ..store.find_tracks import Properties, find_tracks, tracks_shown
from ..store.own_keys import OwnKeys
from ..store.paths import split
from ..store.read_own_keys import count_key_frames, key_frames, read_own_keys
from ..store.record_keys import enable_tracks
from ..store.tracks import Track, rotation_property
from .key_arrays import channels_to_key, check_can_be_keyed, check_can_have_keys, group_of

_COMPONENT = re.compile(r"(?P<path>.+)\[(?P<index>0|[1-9]\d{0,3})\]")


@checked
def export_table(item: bpy.types.Object, bone: str = "") -> tuple[Table, Report]:
    """Return a table with the animator's keys on an object, its bones, data and shape keys, or on a single bone.

    Parameters
    ----------
    item : bpy.types.Object
        The object. In the table, property paths are relative to the object.
    bone : str
        Path of a bone, for example `pose.bones["Arm"]`. Only the properties of this bone are exported, with paths
        relative to the bone, so that the table can be imported for another bone.

    Returns
    -------
    table : formats.table.Table
        A table for `formats.table.write`, with one row for each frame that has keys.
    report : Report
        Counts of the exported tracks and keys, and notes on keys that a table can't represent.

    Raises
    ------
    AnimationError
        There are no keys, or a key has a value that is not finite.

    Examples
    --------
    >>> table, report = animation.export_table(ball)
    >>> table.times.tolist(), list(table.columns)[:4]
    ([1.0, 20.0, 40.0], ['location[0]', 'location[1]', 'location[2]', 'rotation_euler[0]'])
    """
    exported = list(_tracks(item, bone))
    report = Report.on(list(dict.fromkeys(datablock for datablock, _, _ in exported)))
    own_keys = [(track, path, read_own_keys(track)) for _, track, path in exported]
    frames = union([own.keys.frames for _, _, channels in own_keys for own in channels.values()])
    if not len(frames):
        raise AnimationError(Finding("NO_FLOAT_KEYS", name_of(item)))
    columns: dict[str, Float32Array] = {}
    for track, path, channels in own_keys:
        if any((own.keys.interpolation[:-1] != INTERPOLATION["BEZIER"]).any() for own in channels.values()):
            report.notes.append(track.finding("TABLE_NOT_BEZIER"))
        for index, own in channels.items():
            heading = path if len(track.rest) == 1 else f"{path}[{index}]"
            columns[heading] = _values_at(frames, track, own)
    report.tracks = len(exported)
    report.keys = sum(count_key_frames(channels) for _, _, channels in own_keys)
    return Table("FRAME", frames, columns), report


def _tracks(item: bpy.types.Object, bone: str) -> Iterator[tuple[bpy.types.ID, Track, str]]:
    """Yield the tracks in use that have keys, each with its datablock and its name in the table."""
    for datablock, prefix in [(item, "")] if bone else _prefixes(item):
        try:
            channels = channels_of(datablock)
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                raise
            continue
        for track in tracks_shown(datablock, channels, bone) if bone else find_tracks(datablock, channels):
            if track.in_use and any(len(fcurve.keyframe_points) for fcurve in track.channels.values()):
                yield datablock, track, prefix + track.path.removeprefix(bone).lstrip("." if bone else "")


def _prefixes(item: bpy.types.Object) -> list[tuple[bpy.types.ID, str]]:
    """Return the object, its data and its shape keys, with the prefixes of their columns."""
    shape_keys = getattr(item.data, "shape_keys", None)
    owners = (item, ""), (item.data, "data."), (shape_keys, "data.shape_keys.")
    return [(datablock, prefix) for datablock, prefix in owners if datablock is not None]


def _values_at(frames: Float32Array, track: Track, own: OwnKeys) -> Float32Array:
    """Return the values of a channel's keys, with NaN at frames without a key. Raises AnimationError if not finite."""
    is_finite = np.isfinite(own.keys.co).all(axis=1)
    if not is_finite.all():
        raise track.error("VALUE_NOT_FINITE", frame=float(own.keys.frames[np.argmin(is_finite)]))
    values = np.full(len(frames), np.nan, dtype=np.float32)
    values[rows_of(own.keys.frames, frames)] = own.keys.values
    return values


@dataclass(frozen=True)
class TableKeys:
    """Options of a table import.

    Examples
    --------
    >>> how = animation.TableKeys(frame_start=100, use_tcb=False, replace=True)
    """

    frame_start: float = IMPORT_TABLE["frame_start"].default
    """Scene frame that corresponds to time 0 in the table."""
    rate: Positive = 24.0
    """Frames per second."""
    use_tcb: bool = IMPORT_TABLE["use_tcb"].default
    """True if the tracks become TCB."""
    replace: bool = IMPORT_TABLE["replace"].default
    """If true, replace existing keys, but keep their interpolation at frames with rows. If false and there are keys,
    nothing is imported."""

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def import_table(
    item: bpy.types.Object, table: Table, how: TableKeys, bone: str = "", progress: Progress | None = None
) -> Report:
    """Import the rows of the table as keys.

    Parameters
    ----------
    item : bpy.types.Object
        The object. Paths that begin with "data." refer to the object's data, and paths that begin with
        "data.shape_keys." to its shape keys.
    table : formats.table.Table
        A table from `formats.table.read`.
    how : TableKeys
        Options of the import.
    bone : str
        Path of a bone of the object, for example `pose.bones["Arm"]`. Properties whose paths have no owner belong to
        the bone.
    progress : callable, optional
        Called after each track with the number of imported tracks and the total number of tracks. If `progress` raises
        an exception, the import is completed before the exception is raised again.

    Returns
    -------
    Report
        Counts of the imported tracks and their keys.

    Raises
    ------
    AnimationError
        The import failed, and nothing was changed. The error message names the column and, for an invalid row, the
        line.

    Examples
    --------
    >>> table, report = animation.export_table(ball)
    >>> animation.import_table(rig, table, animation.TableKeys(frame_start=100)).keys
    6
    """
    report = Report()
    rate = how.rate if table.unit == "SECOND" else 1.0
    frames = table.times.astype(np.float64) * rate + how.frame_start
    keys = _keys_of_columns(item, bone, table, frames)
    for datablock, properties in keys.items():
        check_can_have_keys(datablock)
        for keyed in properties.values():
            _check_can_write(datablock, keyed, how)
    run_steps(_write(keys, how, report), progress, finishes=True)
    report.add(Report.on(list(keys)))
    return report


class _Column(NamedTuple):
    """The keys of one channel of a track."""

    frames: Float32Array
    values: Float64Array


class _KeyedProperty(NamedTuple):
    """A property in the table, and the columns with its keys by the index of the channel."""

    track: Track
    columns: dict[int, _Column]


_Keys = dict[bpy.types.ID, dict[str, _KeyedProperty]]
"""The properties of each datablock, by path."""


def _keys_of_columns(item: bpy.types.Object, bone: str, table: Table, frames: Float64Array) -> _Keys:
    """Return the keys to import. `frames` are the scene frames of the rows, shape (rows,). Raises AnimationError."""
    keys: _Keys = {}
    properties: dict[bpy.types.ID, Properties] = {}
    for heading, values in table.columns.items():
        datablock, path = _place(item, heading, bone)
        if datablock not in properties:
            properties[datablock] = Properties(datablock)
        track, index = _channel(properties[datablock], path)
        rows = np.flatnonzero(~np.isnan(values))
        column = _Column(frames[rows].astype(np.float32), values[rows].astype(np.float64))
        for is_invalid, reason in (
            (~(np.abs(frames[rows]) <= LAST_FRAME), Finding("FRAME_OUT_OF_RANGE", arguments=(LAST_FRAME,))),
            (np.diff(column.frames) <= APART, Finding("ROWS_TOO_NEAR", arguments=(APART,))),
            (np.abs(column.values) > LARGEST, Finding("CELL_TOO_LARGE")),
        ):
            if is_invalid.any():
                line = table.line_of(int(rows[np.argmax(is_invalid)]))
                raise AnimationError(Finding("ROW", name_of(datablock), path, arguments=(line, reason)))
        if len(rows):
            keyed = keys.setdefault(datablock, {}).setdefault(track.path, _KeyedProperty(track, {}))
            if index in keyed.columns:
                raise AnimationError(Finding("COLUMN_TWICE", name_of(datablock), path))
            keyed.columns[index] = column
    if not keys:
        raise AnimationError(Finding("COLUMNS_EMPTY", name_of(item)))
    return keys


def _place(item: bpy.types.Object, path: str, bone: str) -> tuple[bpy.types.ID, str]:
    """Return the datablock that has the property, and the path from the datablock."""
    datablock, prefix = next(owner for owner in reversed(_prefixes(item)) if path.startswith(owner[1]))
    path = path.removeprefix(prefix)
    if bone and datablock == item and not path.startswith("pose."):
        path = f"{bone}{path}" if path.startswith("[") else f"{bone}.{path}"
    return datablock, path


def _channel(properties: Properties, path: str) -> tuple[Track, int]:
    """Return the property and the index of the channel that a column names. Raises AnimationError."""
    component = _COMPONENT.fullmatch(path)
    track = properties.track(component["path"] if component else path)
    index = int(component["index"]) if component else 0

    def refusal(code: str, *arguments: object) -> AnimationError:
        return AnimationError(Finding(code, properties.name, path, arguments=arguments))

    if track is None or (component and len(track.rest) == 1):
        raise refusal("COLUMN_UNKNOWN")
    if not component and len(track.rest) > 1:
        raise refusal("COLUMN_WITHOUT_COMPONENT", len(track.rest), path)
    if index >= len(track.rest):
        raise refusal("COLUMN_BEYOND", len(track.rest), index)
    owner_path = split(track.path)[0].removesuffix(".")
    owner: Any = properties.datablock.path_resolve(owner_path) if owner_path else properties.datablock
    if not _is_animatable(properties.datablock, owner, track.path):
        raise refusal("COLUMN_NOT_ANIMATABLE")
    if not track.in_use:
        raise refusal("COLUMN_OTHER_MODE", owner.rotation_mode, rotation_property(owner.rotation_mode))
    return track, index


def _is_animatable(datablock: bpy.types.ID, owner: Any, path: str) -> bool:
    """Return whether keys can animate the property. Animation data and other datablocks can't be animated."""
    if path.startswith("animation_data.") or getattr(owner, "id_data", datablock) != datablock:
        return False
    name = split(path)[1]
    return name.startswith("[") or bool(owner.bl_rna.properties[name].is_animatable)


def _check_can_write(datablock: bpy.types.ID, keyed: _KeyedProperty, how: TableKeys) -> None:
    """Raise AnimationError if the keys of a property can't be written."""
    track, columns = keyed
    check_can_be_keyed(datablock, track, columns)
    fcurves = [track.channels[index] for index in columns if index in track.channels]
    if not how.replace and any(len(fcurve.keyframe_points) for fcurve in fcurves):
        raise track.error("HAS_KEYS")


def _write(keys: _Keys, how: TableKeys, report: Report) -> Steps[None]:
    """Write the keys of all datablocks. Yield the number of written tracks and the total number after each track."""
    total = sum(map(len, keys.values()))
    for datablock, properties in keys.items():
        enabled = [path for path, keyed in properties.items() if keyed.track.enabled]
        channels = channels_to_key(datablock, enabled, report)
        report.notes += [Finding("PARAMETERS_GONE", name_of(datablock), path) for path in enabled]
        fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
        for path, keyed in properties.items():
            for index, column in keyed.columns.items():
                fcurve = fcurves.get((path, index)) or channels.new(path, index, group_of(path))
                previous = read(fcurve)
                key_curve(fcurve, column.frames, column.values)
                _keep_interpolation(fcurve, previous, column.frames)
            report.tracks += 1
            yield report.tracks, total
        tracks = [track for track in find_tracks(datablock, channels) if track.path in properties]
        report.keys += sum(len(key_frames(track)) for track in tracks)
        if how.use_tcb:
            enable_tracks(channels, tracks)
        evaluate_anew(channels.action)


def _keep_interpolation(fcurve: bpy.types.FCurve, previous: Keyframes, frames: Float32Array) -> None:
    """Copy the interpolation and easing of previous keys, except Bezier keys, to the new keys at the same frames."""
    is_kept = (previous.interpolation != INTERPOLATION["BEZIER"]) & is_among(previous.frames, frames)
    kept = previous.take(is_kept)
    if not len(kept):
        return
    rows = rows_of(kept.frames, frames)
    for name in ("interpolation", "easing", "back", "amplitude", "period"):
        array = KeyBlock([fcurve.keyframe_points]).read(name)
        array[rows] = getattr(kept, name)
        fcurve.keyframe_points.foreach_set(name, array)
