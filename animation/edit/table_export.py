# SPDX-License-Identifier: GPL-3.0-or-later
"""Export an object's or bone's keys to a table."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...formats.table import Table
from ..arguments import checked
from ..datablocks import name_of, of_object
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..fcurves.frames import rows_of, union
from ..fcurves.keyframes import INTERPOLATION, Float32Array
from ..report import Report
from ..store.find_tracks import find_tracks, tracks_shown
from ..store.own_arrays import OwnKeys
from ..store.own_keys import count_key_frames, read_own_keys
from ..store.tracks import Track


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
    data: object = item.data
    keys = getattr(data, "shape_keys", None)
    for datablock in [item] if bone else of_object(item):
        prefix = {item: "", data: "data.", keys: "data.shape_keys."}.get(datablock)
        if prefix is None:
            continue
        try:
            channels = channels_of(datablock)
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                raise
            continue
        for track in tracks_shown(datablock, channels, bone) if bone else find_tracks(datablock, channels):
            if track.in_use and any(len(fcurve.keyframe_points) for fcurve in track.channels.values()):
                yield datablock, track, prefix + track.path.removeprefix(bone).lstrip("." if bone else "")


def _values_at(frames: Float32Array, track: Track, own: OwnKeys) -> Float32Array:
    """Return the values of a channel's keys at the frames, with NaN at frames without a key.

    Raises AnimationError if a value is not finite.
    """
    is_finite = np.isfinite(own.keys.co).all(axis=1)
    if not is_finite.all():
        raise track.error("VALUE_NOT_FINITE", frame=float(own.keys.frames[np.argmin(is_finite)]))
    values = np.full(len(frames), np.nan, dtype=np.float32)
    values[rows_of(own.keys.frames, frames)] = own.keys.values
    return values
