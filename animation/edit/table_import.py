# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a table as keys of an object, of one of its bones, or of its data and shape keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...formats.table import Property, Table
from ...interp import rotations
from ..arguments import LARGEST, Positive, check_fields, checked
from ..bake.plans.sample_frames import APART
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import evaluate_anew
from ..fcurves.frames import LAST_FRAME, is_among, rows_of, union
from ..fcurves.keyframes import (
    INTERPOLATION,
    BoolArray,
    Float32Array,
    Float64Array,
    KeyBlock,
    Keyframes,
    read,
)
from ..fcurves.keying import key_curve
from ..options import IMPORT_TABLE
from ..records import record
from ..report import Report
from ..sampling.properties import driven_components
from ..steps import Progress
from ..store.enable_tracks import enable_tracks
from ..store.paths import split
from ..store.tracks import EULER_ORDERS, Properties, Track, find_tracks, rotation_property
from .channels_to_key import channels_to_key, check_can_be_keyed, check_can_have_keys, group_of

_SHEARED = 1e-4
"""Maximum cosine of the angles between a matrix's axes. Above this limit, the matrix has shear, which scale can't
represent."""
_UNSCALED = 1e-5
"""Maximum deviation of a scale from 1 that creates no keys. Numbers in text files have few digits."""


@dataclass(frozen=True)
class TableKeys:
    """Options of a table import.

    Examples
    --------
    >>> how = animation.TableKeys(frame_start=100, use_tcb=False, replace=True)
    """

    frame_start: float = IMPORT_TABLE["frame_start"].default
    """Scene frame that corresponds to frame 0, or second 0, in the table."""
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


_UNKNOWN = ("COLUMN_UNKNOWN", "COLUMN_OWNER_EMPTY", "COLUMN_NOT_ANIMATABLE", "COLUMN_NOTHING_ROTATES")
"""Codes of the errors about columns that do not name a property."""


@record(eq=False)
class _Keyed:
    """The keys of some components of one property, all at the same frames."""

    track: Track
    components: tuple[int, ...]
    frames: Float32Array
    values: Float64Array


@checked
def import_table(
    item: bpy.types.Object, table: Table, how: TableKeys, bone: str = "", progress: Progress | None = None
) -> Report:
    """Import the rows of the table as keys.

    Parameters
    ----------
    item : bpy.types.Object
        The object. Paths that begin with "data." refer to its data, and paths that begin with "data.shape_keys." to its
        shape keys.
    table : formats.table.Table
        A table from `formats.table.read`.
    how : TableKeys
        Options of the import.
    bone : str
        Path of a bone of the object, for example `pose.bones["Arm"]`. Properties whose paths have no owner belong to
        the bone.
    progress : callable, optional
        Called after each track with the number of imported tracks and the total number of tracks.

    Returns
    -------
    Report
        `keys` is the number of frames with new keys, summed over all tracks.

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
    keyed = _read_keyed(item, table, how, bone, report)
    for datablock in keyed:
        check_can_have_keys(datablock)
    for datablock, each in keyed.items():
        driven = driven_components(datablock)
        for one_keyed in each:
            _check_track(one_keyed, driven, how)
    count = sum(len({one_keyed.track.path for one_keyed in each}) for each in keyed.values())
    numbers = iter(range(1, count + 1))
    tell = None if progress is None else lambda: progress(next(numbers), count)
    for datablock, each in keyed.items():
        _write(datablock, each, how, report, tell)
    report.add(Report.on(list(keyed)))
    return report


def _read_keyed(
    item: bpy.types.Object, table: Table, how: TableKeys, bone: str, report: Report
) -> dict[bpy.types.ID, list[_Keyed]]:
    """Return the keys to import, by datablock. If columns have no property, add a note or raise AnimationError."""
    keyed: dict[bpy.types.ID, list[_Keyed]] = {}
    owners: dict[bpy.types.ID, Properties] = {}
    known = False
    for one in table.properties:
        datablock, path = _place(item, one.path, bone)
        if datablock not in owners:
            owners[datablock] = Properties(datablock)
        try:
            found = list(_keyed(owners[datablock], path, one, table, how, report))
            known = True
        except AnimationError as refusal:
            (reason,) = refusal.findings
            if not (how.known_only and reason.code in _UNKNOWN):
                raise
            report.notes.append(replace(reason, code="COLUMN_LEFT_OUT", arguments=(reason.on(""),)))
            continue
        if found:
            keyed.setdefault(datablock, []).extend(found)
    for each in keyed.values():
        _check_said_once(each)
    if not keyed:
        if known:
            raise AnimationError(Finding("COLUMNS_EMPTY", name_of(item)))
        raise AnimationError(Finding("COLUMNS_UNKNOWN", name_of(item)))
    return keyed


def _check_said_once(keyed: list[_Keyed]) -> None:
    said: set[tuple[str, int]] = set()
    for each in keyed:
        places = {(each.track.path, index) for index in each.components}
        if places & said:
            raise each.track.error("COLUMNS_TWICE")
        said |= places


def _place(item: bpy.types.Object, path: str, bone: str) -> tuple[bpy.types.ID, str]:
    """Return the datablock that has the property, and the path from the datablock."""
    data = item.data
    keys = getattr(data, "shape_keys", None)
    if path.startswith("data.shape_keys.") and keys is not None:
        return keys, path.removeprefix("data.shape_keys.")
    if path.startswith("data.") and data is not None:
        return data, path.removeprefix("data.")
    if bone and not path.startswith("pose."):
        return item, f"{bone}{path}" if path.startswith("[") else f"{bone}.{path}"
    return item, path


def _keyed(
    owned: Properties, path: str, one: Property, table: Table, how: TableKeys, report: Report
) -> Iterator[_Keyed]:
    """Yield the keys of one property. Raises AnimationError."""
    datablock = owned.datablock
    if one.form == "VALUE":
        yield from _values(_known(owned, path), one, table, how)
        return
    there = ~np.isnan(one.values).any(axis=1)
    if not there.any():
        return
    frames = _frames(datablock, path, table, there, how)
    rows = np.flatnonzero(there)
    values = one.values[there]
    _check_size(datablock, path, table, rows, values)
    owner = path[: len(path) - len("matrix" if one.form == "MATRIX" else "rotation")]
    if one.form == "MATRIX":
        has_scale = any(other.path == f"{one.path.removesuffix('matrix')}scale" for other in table.properties)
        yield from _matrices(owned, owner, values, frames, table, rows, has_scale)
    elif one.form == "QUATERNION":
        zero = ~values.any(axis=1)
        if zero.any():
            raise _at(datablock, path, table, rows, zero, Finding("ZERO_QUATERNION"))
        unrolled = rotations.unroll_signs(values)
        negated = int((unrolled != values).any(axis=1).sum())
        if negated:
            report.notes.append(Finding("ROWS_NEGATED", owned.name, path, arguments=(negated, len(values))))
        yield _rotation(owned, owner, unrolled, frames)
    else:
        mode = _mode(datablock, owner)
        order: Any = one.order or (mode if mode in EULER_ORDERS else "XYZ")
        if mode == order:
            yield _Keyed(_known(owned, f"{owner}rotation_euler"), (0, 1, 2), frames, values)
            return
        if np.abs(np.diff(values, axis=0)).max(initial=0.0) > np.pi:
            report.notes.append(Finding("ROWS_SHORTER", owned.name, path, arguments=(mode,)))
        yield _rotation(owned, owner, rotations.unroll_signs(rotations.from_euler(values, order)), frames)


def _values(track: Track, one: Property, table: Table, how: TableKeys) -> Iterator[_Keyed]:
    """Yield a property's keys for each group of components with the same empty cells. Raises AnimationError."""
    for index in one.components:
        if index >= len(track.rest):
            raise track.error("COLUMN_BEYOND", len(track.rest), index)
    if one.is_single and len(track.rest) > 1:
        raise track.error("COLUMN_WITHOUT_COMPONENT", len(track.rest), one.path)
    there = ~np.isnan(one.values)
    alike: dict[bytes, list[int]] = {}
    for column in range(len(one.components)):
        alike.setdefault(there[:, column].tobytes(), []).append(column)
    for columns in alike.values():
        rows = there[:, columns[0]]
        if not rows.any():
            continue
        values = one.values[rows][:, columns].astype(np.float64)
        _check_size(track, one.path, table, np.flatnonzero(rows), values)
        components = tuple(one.components[column] for column in columns)
        yield _Keyed(track, components, _frames(track, one.path, table, rows, how), values)


def _check_size(
    named: Track | bpy.types.ID, path: str, table: Table, rows: npt.NDArray[np.intp], values: Float64Array
) -> None:
    large = np.abs(values).max(axis=1) > LARGEST
    if large.any():
        raise _at(named, path, table, rows, large, Finding("CELL_TOO_LARGE"))


def _known(owned: Properties, path: str) -> Track:
    track = owned.track(path)
    if track is None:
        raise AnimationError(_reason_unknown(owned.datablock, path).on(owned.name, path))
    if not _is_own(owned.datablock, path):
        raise AnimationError(Finding("COLUMN_NOT_ANIMATABLE", owned.name, path))
    return track


def _reason_unknown(datablock: bpy.types.ID, path: str) -> Finding:
    owner = split(path)[0].removesuffix(".")
    try:
        is_empty = bool(owner) and datablock.path_resolve(owner) is None
    except ValueError:
        is_empty = False
    if is_empty:
        return Finding("COLUMN_OWNER_EMPTY", arguments=(owner,))
    return Finding("COLUMN_UNKNOWN")


def _is_own(datablock: bpy.types.ID, path: str) -> bool:
    """Return whether keys can animate the property. Animation data and other datablocks can't be animated."""
    owner_path, name = split(path)
    owner: bpy.types.bpy_struct = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    if path.startswith("animation_data.") or getattr(owner, "id_data", datablock) != datablock:
        return False
    return name.startswith("[") or bool(owner.bl_rna.properties[name].is_animatable)


def _frames(named: Track | bpy.types.ID, path: str, table: Table, rows: BoolArray, how: TableKeys) -> Float32Array:
    """Return the frames of the given rows as float32."""
    rate = how.rate if table.unit == "SECOND" else 1.0
    exact = table.times[rows].astype(np.float64) * rate + how.frame_start
    beyond = ~(np.abs(exact) <= LAST_FRAME)
    lines = np.flatnonzero(rows)
    if beyond.any():
        frame = exact[np.argmax(beyond)]
        raise _at(named, path, table, lines, beyond, Finding("ROW_BEYOND", arguments=(float(frame), LAST_FRAME)))
    frames = exact.astype(np.float32)
    near = np.append(np.diff(frames) <= APART, False)
    if near.any():
        raise _at(named, path, table, lines, near, Finding("ROWS_TOO_NEAR", arguments=(APART,)))
    return frames


def _at(
    named: Track | bpy.types.ID,
    path: str,
    table: Table,
    rows: npt.NDArray[np.intp],
    bad: BoolArray,
    fault: Finding,
) -> AnimationError:
    """Return the error for the first invalid row."""
    name = named.name if isinstance(named, Track) else name_of(named)
    line = table.line_of(int(rows[np.argmax(bad)]))
    return AnimationError(Finding("ROW", name, path, arguments=(line, fault)))


def _mode(datablock: bpy.types.ID, owner: str) -> str:
    """Return the rotation mode of the owner. Raise AnimationError if there is none."""
    try:
        thing: object = datablock.path_resolve(owner.removesuffix(".")) if owner else datablock
    except ValueError:
        thing = None
    if not hasattr(thing, "rotation_mode"):
        raise AnimationError(Finding("COLUMN_NOTHING_ROTATES", name_of(datablock), f"{owner}rotation"))
    return str(thing.rotation_mode)


def _rotation(owned: Properties, owner: str, quaternions: Float64Array, frames: Float32Array) -> _Keyed:
    """Convert orientations to values in the owner's rotation mode. Quaternions keep their length."""
    mode: Any = _mode(owned.datablock, owner)
    track = _known(owned, owner + rotation_property(mode))
    if mode == "QUATERNION":
        values = quaternions
    elif mode == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(rotations.normalise(quaternions))
        values = np.column_stack((angles, axes))
    else:
        values = rotations.follow_euler(rotations.normalise(quaternions), mode)
    return _Keyed(track, tuple(range(values.shape[1])), frames, values)


def _matrices(
    owned: Properties,
    owner: str,
    values: Float64Array,
    frames: Float32Array,
    table: Table,
    rows: npt.NDArray[np.intp],
    has_scale: bool,
) -> Iterator[_Keyed]:
    """Decompose matrices for column vectors in the same way as Blender. Mirrored matrices get negative scales.

    With `has_scale`, the table also has columns for the scale.
    """
    size = 4 if values.shape[1] == 16 else 3
    matrices = values.reshape(-1, size, size)
    axes = matrices[:, :3, :3]
    scale = np.linalg.norm(axes, axis=1)
    flat = ~(scale > 0.0).all(axis=1)
    path = f"{owner}matrix"
    if flat.any():
        raise _at(owned.datablock, path, table, rows, flat, Finding("MATRIX_FLAT"))
    unit = axes / scale[:, np.newaxis, :]
    sheared = np.abs(np.einsum("nij,nik->njk", unit, unit) - np.eye(3)).max(axis=(1, 2)) > _SHEARED
    if sheared.any():
        raise _at(owned.datablock, path, table, rows, sheared, Finding("MATRIX_SHEARED"))
    sign = np.where(np.linalg.det(unit) < 0.0, -1.0, 1.0)
    quaternions = rotations.unroll_signs(rotations.from_matrix(unit * sign[:, np.newaxis, np.newaxis]))
    scale = scale * sign[:, np.newaxis]
    if size == 4:
        yield _Keyed(_known(owned, f"{owner}location"), (0, 1, 2), frames, matrices[:, :3, 3])
    yield _rotation(owned, owner, quaternions, frames)
    track = _known(owned, f"{owner}scale")
    replaces = not has_scale and (bool(track.channels) or np.abs(np.array(track.rest) - 1.0).max() > _UNSCALED)
    if replaces or np.abs(scale - 1.0).max() > _UNSCALED:
        yield _Keyed(track, (0, 1, 2), frames, scale)


def _check_track(keyed: _Keyed, driven: Set[tuple[str, int]], how: TableKeys) -> None:
    track = keyed.track
    # Tracks of another rotation mode may also be locked or driven.
    check_can_be_keyed(replace(track, in_use=True))
    for index in keyed.components:
        if (track.path, index) in driven:
            raise track.error("COMPONENT_DRIVEN", index)
    has = [
        index for index in keyed.components if index in track.channels and len(track.channels[index].keyframe_points)
    ]
    if has and not how.replace:
        raise track.error("HAS_KEYS")


def _write(
    datablock: bpy.types.ID, keyed: list[_Keyed], how: TableKeys, report: Report, tell: Callable[[], None] | None
) -> None:
    """Write the keys of a datablock. Call `tell` after each property."""
    by_path: dict[str, list[_Keyed]] = {}
    for each in keyed:
        by_path.setdefault(each.track.path, []).append(each)
    enabled = {path for path, (first, *_) in by_path.items() if first.track.enabled}
    channels = channels_to_key(datablock, enabled, report)
    report.notes += [Finding("PARAMETERS_GONE", name_of(datablock), path) for path in by_path if path in enabled]
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
    for path, parts in by_path.items():
        for each in parts:
            for index, values in zip(each.components, each.values.T, strict=True):
                fcurve = fcurves.get((path, index)) or channels.new(path, index, group_of(path))
                before = read(fcurve)
                key_curve(fcurve, each.frames, values)
                _keep_interpolation(fcurve, before, each.frames)
        report.tracks += 1
        report.keys += len(union([each.frames for each in parts]))
        if tell is not None:
            tell()
    tracks = [track for track in find_tracks(datablock, channels) if track.path in by_path]
    report.notes += [track.finding("NOT_IN_USE") for track in tracks if not track.in_use]
    if how.use_tcb:
        enable_tracks(channels, tracks)
    evaluate_anew(channels.action)


def _keep_interpolation(fcurve: bpy.types.FCurve, before: Keyframes, frames: Float32Array) -> None:
    """Copy the interpolation and easing of previous keys, except Bezier keys, to the new keys at their frames."""
    former = before.take((before.interpolation != INTERPOLATION["BEZIER"]) & is_among(before.frames, frames))
    if not len(former):
        return
    rows = rows_of(former.frames, frames)
    for name in ("interpolation", "easing", "back", "amplitude", "period"):
        array = KeyBlock([fcurve.keyframe_points]).read(name)
        array[rows] = getattr(former, name)
        fcurve.keyframe_points.foreach_set(name, array)
