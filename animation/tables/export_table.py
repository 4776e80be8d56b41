# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of an object's or a bone's keys, or of what it plays, as the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import bpy
import numpy as np
import numpy.typing as npt

from ...formats.headings import Form, Unit
from ...formats.table import Property, Table
from ...interp import rotations
from ..arguments import Count, FrameRange, Positive, check_fields, checked
from ..bake.plans.splines import quaternions_of
from ..bake.sample_limit import check_table
from ..datablocks import name_of, of_object
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..fcurves.frames import union
from ..fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array
from ..options import EXPORT_TABLE, SAMPLE_LIMIT
from ..report import Report
from ..sampling.properties import PropertySampler, Values
from ..store.own_keys import read_own_keys
from ..store.tracks import Track, find_tracks, tracks_shown

Content = Literal["KEYS", "MOTION"]
Rotation = Literal["OBJECT", "QUATERNION", "EULER_DEGREES", "MATRIX"]
_FORMS: dict[str, Form] = {"QUATERNION": "QUATERNION", "EULER": "EULER"}


@dataclass(frozen=True)
class TableContent:
    """Choose what the rows of an exported table hold.

    Examples
    --------
    >>> how = animation.TableContent("MOTION", frame_range=(1, 40), unit="SECOND", rotation="QUATERNION")
    """

    content: Content = EXPORT_TABLE["content"].default
    """KEYS: the animator's keys with their own values. MOTION: what Blender plays, of tracks baked or not."""
    step: Positive = EXPORT_TABLE["step"].default
    """For MOTION: frames from row to row; may be less than 1."""
    frame_range: FrameRange | None = None
    """For MOTION; None: from the first key to the last."""
    unit: Unit = EXPORT_TABLE["unit"].default
    rate: Positive = 24.0
    """Frames per second."""
    frame_start: float = EXPORT_TABLE["frame_start"].default
    """The frame that becomes frame 0, or second 0, of the table."""
    rotation: Rotation = EXPORT_TABLE["rotation"].default
    """OBJECT: rotations as the values of their channels, to the last bit; else converted to this form."""
    sample_limit: Count = SAMPLE_LIMIT

    def __post_init__(self) -> None:
        check_fields(self)

    def times(self, frames: Float32Array) -> npt.NDArray[np.floating]:
        """Return the column of times: float32 where it has the keys' own frames."""
        if self.unit == "SECOND":
            return (frames.astype(np.float64) - self.frame_start) / self.rate
        return frames if self.frame_start == 0.0 else frames.astype(np.float64) - self.frame_start


@checked
def export_table(
    item: bpy.types.Object, how: TableContent, bone: str = "", scene: bpy.types.Scene | None = None
) -> tuple[Table, Report]:
    """Make a table of the tracks of the object, its bones, data and shape keys; or of one bone.

    Parameters
    ----------
    item : bpy.types.Object
        The object. A property is named by its path from it.
    how : TableContent
        The contents of the rows.
    bone : str
        The path of a bone, `pose.bones["Arm"]`: only its own properties, named by their paths from the bone, so that
        another bone can take them.
    scene : bpy.types.Scene, optional
        Where drivers or NLA strips decide the motion, Blender steps through its frames. Default: the context's.

    Returns
    -------
    table : formats.table.Table
        A table that `formats.table.write` writes.
    report : Report
        Its keys are the rows.

    Raises
    ------
    AnimationError
        There is no key, or the table would be too large.

    Examples
    --------
    >>> table, report = animation.export_table(ball, animation.TableContent())
    >>> table.times.tolist(), [each.path for each in table.properties]
    ([1.0, 20.0, 40.0], ['location', 'rotation'])
    """
    named = list(_tracks(item, bone))
    report = Report.on(list(dict.fromkeys(datablock for datablock, _, _ in named)))
    table = _keys(item, named, how, report) if how.content == "KEYS" else _motion(item, named, how, scene)
    report.tracks = len(named)
    if how.content == "KEYS":
        report.keys = len(table.times)
    else:
        report.samples = len(table.times) * sum(len(one.components) for one in table.properties)
    return table, report


def _tracks(item: bpy.types.Object, bone: str) -> Iterator[tuple[bpy.types.ID, Track, str]]:
    """Yield the tracks in use that have keys, with their datablocks and their names in the table."""
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


def _keys(
    item: bpy.types.Object, named: list[tuple[bpy.types.ID, Track, str]], how: TableContent, report: Report
) -> Table:
    kept = [(track, path, read_own_keys(track)) for _, track, path in named]
    frames = union([original.keys.frames for _, _, originals in kept for original in originals.values()])
    if not len(frames):
        raise AnimationError(Finding("NO_FLOAT_KEYS", name_of(item)))
    properties = []
    for track, path, originals in kept:
        if any((own.keys.interpolation[:-1] != INTERPOLATION["BEZIER"]).any() for own in originals.values()):
            report.notes.append(track.finding("TABLE_NOT_BEZIER"))
        values = np.full((len(frames), len(originals)), np.nan, dtype=np.float32)
        for column, original in enumerate(originals.values()):
            own = original.keys
            if not np.isfinite(own.co).all():
                bad = ~np.isfinite(own.co).all(axis=1)
                raise track.error("VALUE_NOT_FINITE", frame=float(own.frames[np.argmax(bad)]))
            rows = np.clip(np.searchsorted(frames, own.frames), 0, len(frames) - 1)
            # The union has only one frame for keys that are closer than rounding.
            rows -= np.abs(frames[np.maximum(rows - 1, 0)] - own.frames) < np.abs(frames[rows] - own.frames)
            values[rows, column] = own.values
        if track.kind == "QUATERNION" and _changes_sign(values):
            report.notes.append(track.finding("TABLE_SIGNS"))
        properties.append(_property(track, path, tuple(originals), values, frames, how))
    return Table(how.unit, how.times(frames), tuple(properties))


def _changes_sign(quaternions: Float32Array) -> bool:
    """Return whether some of the quaternions, rows with NaN left out, is more than 90 degrees from the one before."""
    whole = quaternions[~np.isnan(quaternions).any(axis=1)]
    return bool((rotations.unroll_signs(whole) != whole).any())


def _motion(
    item: bpy.types.Object,
    named: list[tuple[bpy.types.ID, Track, str]],
    how: TableContent,
    scene: bpy.types.Scene | None,
) -> Table:
    ends = [
        point.co.x
        for _, track, _ in named
        for fcurve in track.channels.values()
        for point in (fcurve.keyframe_points[:1] + fcurve.keyframe_points[-1:])
        if math.isfinite(point.co.x)
    ]
    if not ends:
        raise AnimationError(Finding("NO_FLOAT_KEYS", name_of(item)))
    low, high = how.frame_range or (min(ends), max(ends))
    steps = (high - low) / how.step * (1.0 + 1e-12)
    samples = (steps + 1.0) * sum(len(track.channels) for _, track, _ in named)
    check_table(name_of(item), samples, how.sample_limit)
    count = math.floor(steps) + 1
    frames = (low + np.arange(count) * how.step).astype(np.float32)
    scene = scene or bpy.context.scene
    assert scene is not None
    sampler, played = PropertySampler(scene, item, frames.astype(np.float64)), {}
    for datablock in dict.fromkeys(datablock for datablock, _, _ in named):
        paths = [track.path for owner, track, _ in named if owner == datablock]
        played[datablock] = sampler.values(datablock, paths)
    columns = [_played(track, path, played[owner][track.path], frames, how) for owner, track, path in named]
    return Table(how.unit, how.times(frames), tuple(columns))


def _played(track: Track, path: str, values: Values, frames: Float32Array, how: TableContent) -> Property:
    """Return what the track plays as a property: of a rotation all components, else those that have F-curves."""
    components = tuple(range(len(track.rest))) if track.is_rotation else tuple(sorted(track.channels))
    return _property(track, path, components, values[:, list(components)].astype(np.float32), frames, how)


def _property(
    track: Track,
    path: str,
    components: tuple[int, ...],
    values: npt.NDArray[np.float32],
    frames: Float32Array,
    how: TableContent,
) -> Property:
    """Return a rotation whose components all have values in the same rows in its form; other channels as they are."""
    if track.is_rotation and how.rotation != "OBJECT" and not _is_delta(path):
        return _converted(track, path, components, values, frames, how)
    form = _FORMS.get(track.kind)
    empty = np.isnan(values)
    whole = len(components) == len(track.rest) and bool((empty.all(axis=1) == empty.any(axis=1)).all())
    if form is not None and whole and not _is_delta(path):
        return Property(_owner(path) + "rotation", form, components, values, track.order)
    return Property(path, "VALUE", components, values, is_single=len(track.rest) == 1)


def _is_delta(path: str) -> bool:
    return path.rpartition(".")[2].startswith("delta_")


def _owner(path: str) -> str:
    owner, dot, _ = path.rpartition(".")
    return owner + dot


def _converted(
    track: Track,
    path: str,
    components: tuple[int, ...],
    values: npt.NDArray[np.float32],
    frames: Float32Array,
    how: TableContent,
) -> Property:
    """Convert a rotation to another form; raise AnimationError where a row lacks some components, or all are 0."""
    empty = np.isnan(values)
    there: BoolArray = np.asarray(~empty.all(axis=1), dtype=np.bool_)
    if (empty.any(axis=1) & there).any():
        raise track.error("TABLE_KEYED_APART")
    raw = np.tile([track.component(index) for index in range(len(track.rest))], (int(there.sum()), 1))
    raw[:, list(components)] = values[there]
    zero = ~raw.any(axis=1)
    if track.kind == "QUATERNION" and zero.any():
        raise track.error("ZERO_QUATERNION", frame=float(frames[there][np.argmax(zero)]))
    quaternions = rotations.normalise(rotations.unroll_signs(quaternions_of(track, raw)))
    owner = _owner(path)
    if how.rotation == "QUATERNION":
        return Property(owner + "rotation", "QUATERNION", (0, 1, 2, 3), _spread(quaternions, there))
    if how.rotation == "MATRIX":
        matrices = rotations.to_matrix(quaternions).reshape(-1, 9)
        return Property(owner + "matrix", "MATRIX", tuple(range(9)), _spread(matrices, there))
    angles = raw if track.kind == "EULER" else rotations.follow_euler(quaternions, track.order)
    return Property(owner + "rotation", "EULER", (0, 1, 2), _spread(angles, there), track.order, degrees=True)


def _spread(rows: npt.NDArray[np.float64], there: BoolArray) -> npt.NDArray[np.float64]:
    """Return an array with the rows where `there` is true, NaN elsewhere."""
    spread = np.full((len(there), rows.shape[1]), np.nan)
    spread[there] = rows
    return spread
