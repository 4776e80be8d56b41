# SPDX-License-Identifier: GPL-3.0-or-later
"""Export an object's or bone's keys to a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
import numpy.typing as npt

from ...formats.table import Property, Table
from ...formats.table_headings import Form
from ...interp import rotations
from ..arguments import checked
from ..datablocks import name_of, of_object
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..fcurves.frames import union
from ..fcurves.keyframes import INTERPOLATION, Float32Array
from ..report import Report
from ..store.find_tracks import find_tracks, tracks_shown
from ..store.own_arrays import OwnKeys
from ..store.own_keys import count_key_frames, read_own_keys
from ..store.tracks import Track

_FORMS: dict[str, Form] = {"QUATERNION": "QUATERNION", "EULER": "EULER"}


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
    >>> table.times.tolist(), [each.path for each in table.properties]
    ([1.0, 20.0, 40.0], ['location', 'rotation'])
    """
    exported = list(_tracks(item, bone))
    report = Report.on(list(dict.fromkeys(datablock for datablock, _, _ in exported)))
    own_keys = [(track, path, read_own_keys(track)) for _, track, path in exported]
    frames = union([own.keys.frames for _, _, channels in own_keys for own in channels.values()])
    if not len(frames):
        raise AnimationError(Finding("NO_FLOAT_KEYS", name_of(item)))
    properties = []
    for track, path, channels in own_keys:
        if any((own.keys.interpolation[:-1] != INTERPOLATION["BEZIER"]).any() for own in channels.values()):
            report.notes.append(track.finding("TABLE_NOT_BEZIER"))
        values = _values_at(frames, track, list(channels.values()))
        if track.kind == "QUATERNION" and _changes_sign(values):
            report.notes.append(track.finding("TABLE_SIGNS"))
        properties.append(_property(track, path, tuple(channels), values))
    report.tracks = len(exported)
    report.keys = sum(count_key_frames(channels) for _, _, channels in own_keys)
    return Table("FRAME", frames, tuple(properties)), report


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


def _values_at(frames: Float32Array, track: Track, channels: Sequence[OwnKeys]) -> Float32Array:
    """Return the values of keys, with a row for each frame and a column for each channel. Cells without a key are NaN.

    Raises AnimationError if a value is not finite.
    """
    values = np.full((len(frames), len(channels)), np.nan, dtype=np.float32)
    for column, own in enumerate(channels):
        is_finite = np.isfinite(own.keys.co).all(axis=1)
        if not is_finite.all():
            raise track.error("VALUE_NOT_FINITE", frame=float(own.keys.frames[np.argmin(is_finite)]))
        values[_rows(frames, own.keys.frames), column] = own.keys.values
    return values


def _rows(frames: Float32Array, keyed: Float32Array) -> npt.NDArray[np.intp]:
    """Return the row for each key's frame. Frames that differ only by rounding share a row."""
    rows = np.clip(np.searchsorted(frames, keyed), 0, len(frames) - 1)
    rows -= np.abs(frames[np.maximum(rows - 1, 0)] - keyed) < np.abs(frames[rows] - keyed)
    return rows


def _changes_sign(quaternions: Float32Array) -> bool:
    """Return whether any quaternion is more than 90 degrees away from the previous quaternion.

    Rows with NaN are ignored.
    """
    complete = quaternions[~np.isnan(quaternions).any(axis=1)]
    return bool((rotations.unroll_signs(complete) != complete).any())


def _property(track: Track, path: str, components: tuple[int, ...], values: Float32Array) -> Property:
    """Return a rotation property if all components have values in the same rows, and separate channels otherwise."""
    owner, dot, name = path.rpartition(".")
    is_empty = np.isnan(values)
    has_complete_rows = bool((is_empty.all(axis=1) == is_empty.any(axis=1)).all())
    is_complete = len(components) == len(track.rest) and has_complete_rows
    form = _FORMS.get(track.kind)
    if form is not None and is_complete and not name.startswith("delta_"):
        return Property(f"{owner}{dot}rotation", form, components, values, track.order)
    return Property(path, "VALUE", components, values, is_single=len(track.rest) == 1)
