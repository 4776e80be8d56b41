# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a table as keys of an object, of one of its bones, or of its data and shape keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

import bpy
import numpy as np

from ...formats.table import Table
from ..arguments import Positive, check_fields, checked
from ..datablocks import name_of
from ..errors import Finding
from ..fcurves.channels import evaluate_anew
from ..fcurves.frames import is_among, rows_of
from ..fcurves.keyframes import INTERPOLATION, Float32Array, Keyframes
from ..fcurves.read_keys import KeyBlock, read
from ..fcurves.write_keys import key_curve
from ..options import IMPORT_TABLE
from ..report import Report
from ..steps import Progress, Steps, run_steps
from ..store.enable_tracks import enable_tracks
from ..store.find_tracks import find_tracks
from ..store.own_keys import key_frames
from .channels_to_key import channels_to_key, check_can_be_keyed, check_can_have_keys, group_of
from .columns_to_keys import KeysByDatablock, PropertyKeys, keys_of_columns


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
    known_only: bool = IMPORT_TABLE["known_only"].default
    """If true, skip columns that do not name a float property. If false and there are such columns, nothing is
    imported."""

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
        The import failed, and nothing was changed. The error message names the property and, for an invalid row, the
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
    keys = keys_of_columns(item, table, frames, bone, how.known_only, report)
    for datablock, by_path in keys.items():
        check_can_have_keys(datablock)
        for component_keys in chain.from_iterable(by_path.values()):
            _check_can_write(datablock, component_keys, how)
    run_steps(_write(keys, how, report), progress, finishes=True)
    report.add(Report.on(list(keys)))
    return report


def _check_can_write(datablock: bpy.types.ID, keys: PropertyKeys, how: TableKeys) -> None:
    """Raise AnimationError if the keys can't be written."""
    track = keys.track
    # Tracks of another rotation mode may also be locked or driven.
    check_can_be_keyed(datablock, replace(track, in_use=True), keys.components)
    fcurves = [track.channels[index] for index in keys.components if index in track.channels]
    if not how.replace and any(len(fcurve.keyframe_points) for fcurve in fcurves):
        raise track.error("HAS_KEYS")


def _write(keys_by_datablock: KeysByDatablock, how: TableKeys, report: Report) -> Steps[None]:
    """Write the keys of all datablocks. Yield the number of written tracks and the total number after each track."""
    total = sum(map(len, keys_by_datablock.values()))
    for datablock, by_path in keys_by_datablock.items():
        enabled = [path for path, (first, *_) in by_path.items() if first.track.enabled]
        channels = channels_to_key(datablock, enabled, report)
        report.notes += [Finding("PARAMETERS_GONE", name_of(datablock), path) for path in enabled]
        fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
        for path, property_keys in by_path.items():
            for keys in property_keys:
                for index, values in zip(keys.components, keys.values.T, strict=True):
                    fcurve = fcurves.get((path, index)) or channels.new(path, index, group_of(path))
                    previous = read(fcurve)
                    key_curve(fcurve, keys.frames, values)
                    _keep_interpolation(fcurve, previous, keys.frames)
            report.tracks += 1
            yield report.tracks, total
        tracks = [track for track in find_tracks(datablock, channels) if track.path in by_path]
        report.keys += sum(len(key_frames(track)) for track in tracks)
        report.notes += [track.finding("NOT_IN_USE") for track in tracks if not track.in_use]
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
