# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a table as keys of an object, of one of its bones, or of its data and shape keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import bpy
import numpy as np

from ...formats.table import Property, Table
from ...interp import rotations
from ..arguments import LARGEST, Positive, check_fields, checked
from ..bake.plans.sample_frames import APART
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import evaluate_anew
from ..fcurves.frames import LAST_FRAME, is_among, rows_of
from ..fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array, Float64Array, IndexArray, Keyframes
from ..fcurves.read_keys import KeyBlock, read
from ..fcurves.write_keys import key_curve
from ..options import IMPORT_TABLE
from ..records import record
from ..report import Report
from ..steps import Progress, Steps, run_steps
from ..store.enable_tracks import enable_tracks
from ..store.find_tracks import Properties, find_tracks
from ..store.own_keys import key_frames
from ..store.paths import split
from ..store.tracks import EULER_ORDERS, Track, rotation_property
from .channels_to_key import channels_to_key, check_can_be_keyed, check_can_have_keys, group_of

_MAX_SHEAR = 1e-4
"""Maximum cosine of the angles between a matrix's axes. Above this limit, the matrix has shear, which scale can't
represent."""
_MAX_UNKEYED_DEVIATION = 1e-5
"""Maximum deviation of a scale from 1 that creates no keys. Numbers in text files have few digits."""
_UNKNOWN = ("COLUMN_UNKNOWN", "COLUMN_OWNER_EMPTY", "COLUMN_NOT_ANIMATABLE", "COLUMN_NOTHING_ROTATES")
"""Codes of the errors about columns that do not name a property."""


@record(eq=False)
class _PropertyKeys:
    """The keys of some components of one property, all at the same frames."""

    track: Track
    components: tuple[int, ...]
    frames: Float32Array
    values: Float64Array


_KeysByDatablock = dict[bpy.types.ID, dict[str, list[_PropertyKeys]]]
"""The keys of each datablock by the path of their property."""


def _keys_of_columns(
    item: bpy.types.Object, table: Table, frames: Float64Array, bone: str, known_only: bool, report: Report
) -> _KeysByDatablock:
    """Return the keys to import.

    `frames` are the scene frames of the rows. If `known_only` is true, a note lists columns that do not name a
    property. Otherwise, such columns raise AnimationError.
    """
    keys: _KeysByDatablock = {}
    converters: dict[bpy.types.ID, _Converter] = {}
    is_any_known = False
    for columns in table.properties:
        datablock, path = _place(item, columns.path, bone)
        if datablock not in converters:
            converters[datablock] = _Converter(Properties(datablock), table, frames, report)
        try:
            property_keys = list(converters[datablock].keys(columns, path))
        except AnimationError as refusal:
            (reason,) = refusal.findings
            if not (known_only and reason.code in _UNKNOWN):
                raise
            report.notes.append(replace(reason, code="COLUMN_LEFT_OUT", arguments=(reason.on(""),)))
            continue
        is_any_known = True
        for component_keys in property_keys:
            by_path = keys.setdefault(datablock, {})
            by_path.setdefault(component_keys.track.path, []).append(component_keys)
    for by_path in keys.values():
        for property_keys in by_path.values():
            _check_no_component_twice(property_keys)
    if not keys:
        raise AnimationError(Finding("COLUMNS_EMPTY" if is_any_known else "COLUMNS_UNKNOWN", name_of(item)))
    return keys


def _check_no_component_twice(property_keys: Iterable[_PropertyKeys]) -> None:
    seen: set[int] = set()
    for keys in property_keys:
        if seen.intersection(keys.components):
            raise keys.track.error("COLUMNS_TWICE")
        seen.update(keys.components)


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


@record(eq=False)
class _Rows:
    """The rows of a table that have values for one property."""

    table: Table
    name: str
    path: str
    indices: IndexArray
    exact_frames: Float64Array

    def check(self, invalid: BoolArray, fault: Finding) -> None:
        """Raise AnimationError with the fault and the line of the first invalid row, if there is one."""
        if invalid.any():
            line = self.table.line_of(int(self.indices[np.argmax(invalid)]))
            raise AnimationError(Finding("ROW", self.name, self.path, arguments=(line, fault)))

    def frames(self) -> Float32Array:
        """Return the frames of the rows. Raise AnimationError if Blender can't have keys at these frames."""
        is_outside = ~(np.abs(self.exact_frames) <= LAST_FRAME)
        first_outside = float(self.exact_frames[np.argmax(is_outside)])
        self.check(is_outside, Finding("ROW_BEYOND", arguments=(first_outside, LAST_FRAME)))
        frames = self.exact_frames.astype(np.float32)
        self.check(np.append(np.diff(frames) <= APART, False), Finding("ROWS_TOO_NEAR", arguments=(APART,)))
        return frames

    def check_size(self, values: Float64Array) -> None:
        """Raise AnimationError if values are beyond the float32 range."""
        self.check(np.abs(values).max(axis=1) > LARGEST, Finding("CELL_TOO_LARGE"))


@record(eq=False)
class _Converter:
    """Converter from table columns to keys of one datablock's properties. The methods raise AnimationError."""

    properties: Properties
    table: Table
    exact_frames: Float64Array
    report: Report

    def keys(self, columns: Property, path: str) -> Iterator[_PropertyKeys]:
        """Yield the keys of the property at the path."""
        if columns.form == "VALUE":
            yield from self._values(columns, self._track(path))
            return
        is_complete = ~np.isnan(columns.values).any(axis=1)
        if not is_complete.any():
            return
        rows = self._rows(path, is_complete)
        frames, values = rows.frames(), columns.values[is_complete].astype(np.float64)
        rows.check_size(values)
        owner = path.removesuffix("matrix" if columns.form == "MATRIX" else "rotation")
        if columns.form == "MATRIX":
            scale = f"{columns.path.removesuffix('matrix')}scale"
            has_scale = any(other.path == scale for other in self.table.properties)
            yield from self._matrices(owner, values, frames, rows, has_scale)
        elif columns.form == "QUATERNION":
            yield self._quaternions(owner, values, frames, rows)
        else:
            yield self._angles(owner, values, frames, columns.order, path)

    def _values(self, columns: Property, track: Track) -> Iterator[_PropertyKeys]:
        """Yield the keys for each group of components with the same empty cells."""
        size = len(track.rest)
        for index in columns.components:
            if index >= size:
                raise track.error("COLUMN_BEYOND", size, index)
        if columns.is_single and size > 1:
            raise track.error("COLUMN_WITHOUT_COMPONENT", size, columns.path)
        has_value = ~np.isnan(columns.values)
        groups: dict[bytes, list[int]] = {}
        for column in range(len(columns.components)):
            groups.setdefault(has_value[:, column].tobytes(), []).append(column)
        for group in groups.values():
            is_keyed = has_value[:, group[0]]
            if is_keyed.any():
                rows = self._rows(track.path, is_keyed)
                values = columns.values[is_keyed][:, group].astype(np.float64)
                rows.check_size(values)
                components = tuple(columns.components[column] for column in group)
                yield _PropertyKeys(track, components, rows.frames(), values)

    def _quaternions(self, owner: str, values: Float64Array, frames: Float32Array, rows: _Rows) -> _PropertyKeys:
        rows.check((values == 0.0).all(axis=1), Finding("ZERO_QUATERNION"))
        unrolled = rotations.unroll_signs(values)
        negated = int((unrolled != values).any(axis=1).sum())
        if negated:
            note = Finding("ROWS_NEGATED", self.properties.name, rows.path, arguments=(negated, len(values)))
            self.report.notes.append(note)
        return self._rotation(owner, unrolled, frames)

    def _angles(self, owner: str, values: Float64Array, frames: Float32Array, order: str, path: str) -> _PropertyKeys:
        """Return the keys for Euler angles in the given order, or in the owner's order if `order` is empty."""
        mode = self._mode(owner)
        order_of_angles: Any = order or (mode if mode in EULER_ORDERS else "XYZ")
        if mode == order_of_angles:
            return _PropertyKeys(self._track(f"{owner}rotation_euler"), (0, 1, 2), frames, values)
        if np.abs(np.diff(values, axis=0)).max(initial=0.0) > np.pi:
            self.report.notes.append(Finding("ROWS_SHORTER", self.properties.name, path, arguments=(mode,)))
        return self._rotation(owner, rotations.unroll_signs(rotations.from_euler(values, order_of_angles)), frames)

    def _rotation(self, owner: str, quaternions: Float64Array, frames: Float32Array) -> _PropertyKeys:
        """Convert orientations to values in the owner's rotation mode. Quaternions keep their length."""
        mode: Any = self._mode(owner)
        track = self._track(owner + rotation_property(mode))
        if mode == "QUATERNION":
            values = quaternions
        elif mode == "AXIS_ANGLE":
            axes, angles = rotations.follow_axis_angle(rotations.normalise(quaternions))
            values = np.column_stack((angles, axes))
        else:
            values = rotations.follow_euler(rotations.normalise(quaternions), mode)
        return _PropertyKeys(track, tuple(range(values.shape[1])), frames, values)

    def _matrices(
        self, owner: str, values: Float64Array, frames: Float32Array, rows: _Rows, has_scale: bool
    ) -> Iterator[_PropertyKeys]:
        """Decompose matrices for column vectors in the same way as Blender. Mirrored matrices get negative scales.

        If `has_scale` is true, the table also has columns for the scale.
        """
        size = 4 if values.shape[1] == 16 else 3
        matrices = values.reshape(-1, size, size)
        axes = matrices[:, :3, :3]
        scale = np.linalg.norm(axes, axis=1)
        rows.check((scale <= 0.0).any(axis=1), Finding("MATRIX_FLAT"))
        unit = axes / scale[:, np.newaxis, :]
        shear = np.abs(np.einsum("nij,nik->njk", unit, unit) - np.eye(3)).max(axis=(1, 2))
        rows.check(shear > _MAX_SHEAR, Finding("MATRIX_SHEARED"))
        sign = np.where(np.linalg.det(unit) < 0.0, -1.0, 1.0)
        quaternions = rotations.unroll_signs(rotations.from_matrix(unit * sign[:, np.newaxis, np.newaxis]))
        scale = scale * sign[:, np.newaxis]
        if size == 4:
            yield _PropertyKeys(self._track(f"{owner}location"), (0, 1, 2), frames, matrices[:, :3, 3])
        yield self._rotation(owner, quaternions, frames)
        track = self._track(f"{owner}scale")
        replaces = not has_scale and (
            bool(track.channels) or np.abs(np.array(track.rest) - 1.0).max() > _MAX_UNKEYED_DEVIATION
        )
        if replaces or np.abs(scale - 1.0).max() > _MAX_UNKEYED_DEVIATION:
            yield _PropertyKeys(track, (0, 1, 2), frames, scale)

    def _rows(self, path: str, has_values: BoolArray) -> _Rows:
        indices = np.flatnonzero(has_values)
        return _Rows(self.table, self.properties.name, path, indices, self.exact_frames[indices])

    def _mode(self, owner: str) -> str:
        """Return the rotation mode of the owner."""
        datablock = self.properties.datablock
        try:
            resolved: object = datablock.path_resolve(owner.removesuffix(".")) if owner else datablock
        except ValueError:
            resolved = None
        if not hasattr(resolved, "rotation_mode"):
            raise AnimationError(Finding("COLUMN_NOTHING_ROTATES", self.properties.name, f"{owner}rotation"))
        return str(resolved.rotation_mode)

    def _track(self, path: str) -> Track:
        """Return the property at the path as a track."""
        track = self.properties.track(path)
        if track is None:
            raise AnimationError(_reason_unknown(self.properties.datablock, path).on(self.properties.name, path))
        if not _is_animatable(self.properties.datablock, path):
            raise AnimationError(Finding("COLUMN_NOT_ANIMATABLE", self.properties.name, path))
        return track


def _reason_unknown(datablock: bpy.types.ID, path: str) -> Finding:
    """Return the reason why the path names no property: an empty pointer before it, or an unknown name."""
    owner = split(path)[0].removesuffix(".")
    try:
        is_empty = bool(owner) and datablock.path_resolve(owner) is None
    except ValueError:
        is_empty = False
    if is_empty:
        return Finding("COLUMN_OWNER_EMPTY", arguments=(owner,))
    return Finding("COLUMN_UNKNOWN")


def _is_animatable(datablock: bpy.types.ID, path: str) -> bool:
    """Return whether keys can animate the property. Animation data and other datablocks can't be animated."""
    owner_path, name = split(path)
    owner: bpy.types.bpy_struct = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    if path.startswith("animation_data.") or getattr(owner, "id_data", datablock) != datablock:
        return False
    return name.startswith("[") or bool(owner.bl_rna.properties[name].is_animatable)


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
    keys = _keys_of_columns(item, table, frames, bone, how.known_only, report)
    for datablock, by_path in keys.items():
        check_can_have_keys(datablock)
        for component_keys in chain.from_iterable(by_path.values()):
            _check_can_write(datablock, component_keys, how)
    run_steps(_write(keys, how, report), progress, finishes=True)
    report.add(Report.on(list(keys)))
    return report


def _check_can_write(datablock: bpy.types.ID, keys: _PropertyKeys, how: TableKeys) -> None:
    """Raise AnimationError if the keys can't be written."""
    track = keys.track
    # Tracks of another rotation mode may also be locked or driven.
    check_can_be_keyed(datablock, replace(track, in_use=True), keys.components)
    fcurves = [track.channels[index] for index in keys.components if index in track.channels]
    if not how.replace and any(len(fcurve.keyframe_points) for fcurve in fcurves):
        raise track.error("HAS_KEYS")


def _write(keys_by_datablock: _KeysByDatablock, how: TableKeys, report: Report) -> Steps[None]:
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
