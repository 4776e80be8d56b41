# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the columns of a table to keys of properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...formats.table import Property, Table
from ...interp import rotations
from ..arguments import LARGEST
from ..bake.plans.sample_frames import APART
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.frames import LAST_FRAME
from ..fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ..records import record
from ..report import Report
from ..store.find_tracks import Properties
from ..store.paths import split
from ..store.tracks import EULER_ORDERS, Track, rotation_property

_MAX_SHEAR = 1e-4
"""Maximum cosine of the angles between a matrix's axes. Above this limit, the matrix has shear, which scale can't
represent."""
_MAX_UNKEYED_DEVIATION = 1e-5
"""Maximum deviation of a scale from 1 that creates no keys. Numbers in text files have few digits."""
_UNKNOWN = ("COLUMN_UNKNOWN", "COLUMN_OWNER_EMPTY", "COLUMN_NOT_ANIMATABLE", "COLUMN_NOTHING_ROTATES")
"""Codes of the errors about columns that do not name a property."""


@record(eq=False)
class PropertyKeys:
    """The keys of some components of one property, all at the same n frames."""

    track: Track
    components: tuple[int, ...]
    frames: Float32Array
    values: Float64Array
    """Values of these components, shape (n, components)."""


KeysByDatablock = dict[bpy.types.ID, dict[str, list[PropertyKeys]]]
"""The keys of each datablock by the path of their property."""


def keys_of_columns(
    item: bpy.types.Object, table: Table, frames: Float64Array, bone: str, known_only: bool, report: Report
) -> KeysByDatablock:
    """Return the keys to import.

    `frames` are the scene frames of the rows. If `known_only` is true, a note lists columns that do not name a
    property. Otherwise, such columns raise AnimationError.
    """
    keys: KeysByDatablock = {}
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


def _check_no_component_twice(property_keys: Iterable[PropertyKeys]) -> None:
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
class _Converter:
    """Converter from table columns to keys of one datablock's properties. The methods raise AnimationError."""

    properties: Properties
    table: Table
    exact_frames: Float64Array
    """Scene frames of the table's rows, shape (rows,)."""
    report: Report
    """The report to which notes are added."""

    def keys(self, columns: Property, path: str) -> Iterator[PropertyKeys]:
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

    def _values(self, columns: Property, track: Track) -> Iterator[PropertyKeys]:
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
                yield PropertyKeys(track, components, rows.frames(), values)

    def _quaternions(self, owner: str, values: Float64Array, frames: Float32Array, rows: _Rows) -> PropertyKeys:
        rows.check((values == 0.0).all(axis=1), Finding("ZERO_QUATERNION"))
        unrolled = rotations.unroll_signs(values)
        negated = int((unrolled != values).any(axis=1).sum())
        if negated:
            note = Finding("ROWS_NEGATED", self.properties.name, rows.path, arguments=(negated, len(values)))
            self.report.notes.append(note)
        return self._rotation(owner, unrolled, frames)

    def _angles(self, owner: str, values: Float64Array, frames: Float32Array, order: str, path: str) -> PropertyKeys:
        """Return the keys for Euler angles in the given order, or in the owner's order if `order` is empty."""
        mode = self._mode(owner)
        order_of_angles: Any = order or (mode if mode in EULER_ORDERS else "XYZ")
        if mode == order_of_angles:
            return PropertyKeys(self._track(f"{owner}rotation_euler"), (0, 1, 2), frames, values)
        if np.abs(np.diff(values, axis=0)).max(initial=0.0) > np.pi:
            self.report.notes.append(Finding("ROWS_SHORTER", self.properties.name, path, arguments=(mode,)))
        return self._rotation(owner, rotations.unroll_signs(rotations.from_euler(values, order_of_angles)), frames)

    def _rotation(self, owner: str, quaternions: Float64Array, frames: Float32Array) -> PropertyKeys:
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
        return PropertyKeys(track, tuple(range(values.shape[1])), frames, values)

    def _matrices(
        self, owner: str, values: Float64Array, frames: Float32Array, rows: _Rows, has_scale: bool
    ) -> Iterator[PropertyKeys]:
        """Decompose matrices for column vectors in the same way as Blender. Mirrored matrices get negative scales.

        `values` contains the matrices row by row, shape (n, 9) or (n, 16). If `has_scale` is true, the table also has
        columns for the scale.
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
            yield PropertyKeys(self._track(f"{owner}location"), (0, 1, 2), frames, matrices[:, :3, 3])
        yield self._rotation(owner, quaternions, frames)
        track = self._track(f"{owner}scale")
        replaces = not has_scale and (
            bool(track.channels) or np.abs(np.array(track.rest) - 1.0).max() > _MAX_UNKEYED_DEVIATION
        )
        if replaces or np.abs(scale - 1.0).max() > _MAX_UNKEYED_DEVIATION:
            yield PropertyKeys(track, (0, 1, 2), frames, scale)

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


@record(eq=False)
class _Rows:
    """The n rows of a table that have values for one property."""

    table: Table
    name: str
    """Name of the datablock."""
    path: str
    """Path of the property."""
    indices: IndexArray
    """Indices of the rows in the table, shape (n,)."""
    exact_frames: Float64Array
    """Scene frames of the rows, shape (n,)."""

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
