# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of keys: text with one row per frame, one column per component, and a header row that names the columns.

    frame,location.x,location.y,location.z,quaternion.w,quaternion.x,quaternion.y,quaternion.z
    1,0,0,0,1,0,0,0
    24.5,3,0,1.25,0.70710677,0,0,0.70710677

Cells are separated by commas, semicolons, tabs or spaces. A # begins a comment. An empty cell means that there is no
key. table_headings.py and docs/files/tables.md list the names that columns may have.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .interp import Float64Array, Text, n_
from .table_cells import Cells, Header, read_cells, read_header
from .table_cells import TableError as TableError
from .table_headings import Form, Heading, HeadingError, Unit, heading_of, names_of, time_of

_ROWS_AT_ONCE = 4096
"""Number of rows written at a time, so that the text of all cells is not in memory at once."""
_ELEMENTS_3X3, _ELEMENTS_4X4 = 9, 16
_COMPONENTS = {"QUATERNION": 4, "EULER": 3}
"""Number of columns that rotations need."""
_LAST_ROW_TOLERANCE = 1e-6
"""Largest difference between the last row of a matrix and 0 0 0 1."""


@dataclass(frozen=True, eq=False)
class Property:
    """The columns of one property."""

    path: str
    """Blender's path. Paths of rotations end in "rotation", and paths of matrices in "matrix"."""
    form: Form
    components: tuple[int, ...]
    """Index of the component in each column. For a matrix, all elements row by row."""
    values: npt.NDArray[np.floating]
    """Values, shape (n, components), with NaN for empty cells. Angles are in radians.

    float32 values are written with float32 precision.
    """
    order: str = ""
    """The order of Euler angles, such as XYZ. If empty, the order of the object is used."""
    is_single: bool = False
    """True if the property has one component, which its heading does not name."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of rows with strictly increasing times."""

    unit: Unit
    times: npt.NDArray[np.floating]
    """Frames or seconds, shape (n,)."""
    properties: tuple[Property, ...]
    lines: npt.NDArray[np.int64] | None = None
    """Line of each row in the file, counted from 1, shape (n,). None for a table that was not read from a file."""

    def line_of(self, row: int) -> int:
        """Return the line of a row. For a table that was not read from a file, the header is line 1."""
        return row + 2 if self.lines is None else int(self.lines[row])


def read(content: bytes) -> Table:
    """Read a table. Raises a TableError that names the line and column."""
    header, lines = read_header(content)
    unit, time_column, headings = _headings(header)
    cells = read_cells(header, lines)
    _check_times(cells, time_column, unit)
    properties = tuple(_property(group, cells) for group in _group_columns(headings, header).values())
    if not properties:
        raise TableError(n_("the time column is the only column"), header.line)
    _check_forms(properties, header.line)
    return Table(unit, np.ascontiguousarray(cells.numbers[:, time_column]), properties, cells.lines)


def write(table: Table) -> bytes:
    """Return the table as comma-separated text, with the shortest numbers that read back to the same bits.

    Matrices cannot be written.
    """
    headings = ["frame" if table.unit == "FRAME" else "seconds"]
    columns: list[npt.NDArray[np.floating]] = [table.times]
    for prop in table.properties:
        headings += names_of(prop.path, prop.form, prop.components, prop.order, prop.is_single)
        columns += list(prop.values.T)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(headings)
    for start in range(0, len(table.times), _ROWS_AT_ONCE):
        texts = [_shortest_texts(column[start : start + _ROWS_AT_ONCE]) for column in columns]
        stream.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))
    return stream.getvalue().encode("utf-8")


def _shortest_texts(numbers: npt.NDArray[np.floating]) -> list[str]:
    return ["" if text == "nan" else text.removesuffix(".0") for text in numbers.astype(str).tolist()]


def _headings(header: Header) -> tuple[Unit, int, dict[int, Heading]]:
    """Return the unit and column of the times, and the headings of the other columns."""
    units = {column: time_of(name) for column, name in enumerate(header.names) if time_of(name) is not None}
    if not units:
        names = ", ".join(header.names)[:80]
        reason = n_('there is no time column. Name a column "frame" or "seconds" (found: {:s})', names)
        raise TableError(reason, header.line)
    unit: Unit = "FRAME" if "FRAME" in units.values() else "SECOND"
    time_columns = [column for column, unit_of_column in units.items() if unit_of_column == unit]
    if len(time_columns) > 1:
        raise header.error(n_("column {:d} already contains the time", time_columns[0] + 1), time_columns[1])
    headings: dict[int, Heading] = {}
    for column, name in enumerate(header.names):
        if column in units:
            continue
        try:
            headings[column] = heading_of(name)
        except HeadingError as error:
            raise TableError(Text(error.text, *error.values), header.line, column + 1) from error
    return unit, time_columns[0], headings


def _check_times(cells: Cells, column: int, unit: Unit) -> None:
    """Check that each row has a time, and that times increase."""
    times = cells.numbers[:, column]
    is_missing = np.isnan(times)
    if is_missing.any():
        raise cells.error(n_("is empty"), int(np.argmax(is_missing)), column)
    early = np.flatnonzero(times[1:] <= times[:-1]) + 1
    if len(early):
        row = int(early[0])
        arguments = times[row], times[row - 1], cells.lines[row - 1]
        reason = n_("second {:g} is not after {:g} in line {:d}. Times must increase", *arguments)
        if unit == "FRAME":
            reason = n_("frame {:g} is not after {:g} in line {:d}. Times must increase", *arguments)
        raise cells.error(reason, row, column)


def _group_columns(headings: dict[int, Heading], header: Header) -> dict[tuple[str, Form], dict[int, Heading]]:
    """Group the columns by property."""
    groups: dict[tuple[str, Form], dict[int, Heading]] = {}
    columns: dict[tuple[str, Form, int | None, int], int] = {}
    for column, heading in headings.items():
        same_data = columns.setdefault((heading.path, heading.form, heading.row, heading.index), column)
        if same_data != column:
            raise header.error(n_("the data is the same as in column {:d}", same_data + 1), column)
        group = groups.setdefault((heading.path, heading.form), {})
        first, other = next(iter(group.items()), (column, heading))
        if (other.order, other.degrees, other.is_single) != (heading.order, heading.degrees, heading.is_single):
            raise header.error(n_("the column is not compatible with column {:d}", first + 1), column)
        group[column] = heading
    return groups


def _property(group: dict[int, Heading], cells: Cells) -> Property:
    """Return the property whose columns have these headings."""
    columns = sorted(group, key=lambda column: _matrix_place(group[column]))
    first = group[columns[0]]
    components = tuple(group[column].index for column in columns)
    if first.form == "MATRIX":
        _check_matrix([_matrix_place(group[column]) for column in columns], columns[0], cells.header)
        components = tuple(range(len(columns)))
    expected = _COMPONENTS.get(first.form, len(columns))
    if len(columns) != expected:
        reason = n_("a rotation in this form needs {:d} columns, but there are {:d}", expected, len(columns))
        raise cells.header.error(reason, columns[0])
    values = np.ascontiguousarray(cells.numbers[:, columns])
    if first.form != "VALUE":
        _check_complete(values, columns, cells)
    if first.form == "EULER" and first.degrees:
        values = np.radians(values)
    if first.form == "MATRIX" and len(columns) == _ELEMENTS_4X4:
        _check_last_row(values, columns, cells)
    return Property(first.path, first.form, components, values, first.order, first.is_single)


def _matrix_place(heading: Heading) -> tuple[int, int]:
    """Return the row and column of a matrix element, or -1 and the index if the heading has no row."""
    return -1 if heading.row is None else heading.row, heading.index


def _check_matrix(places: list[tuple[int, int]], first_column: int, header: Header) -> None:
    """Check that a matrix is complete, 3 by 3 or 4 by 4, with rows and columns counted from 0 or 1."""
    count = len(places)
    size = {_ELEMENTS_3X3: 3, _ELEMENTS_4X4: 4}.get(count)
    if size is None:
        raise header.error(n_("a matrix needs 9 or 16 columns, but there are {:d}", count), first_column)
    from_0 = [(row, column) for row in range(size) for column in range(size)]
    from_1 = [(row + 1, column + 1) for row, column in from_0]
    row_by_row = [(-1, index) for index in range(count)]
    if places not in (from_0, from_1, row_by_row):
        raise header.error(n_("the columns of the matrix are not {:d} by {:d}", size, size), first_column)


def _check_complete(values: Float64Array, columns: list[int], cells: Cells) -> None:
    """Check that each row has all components of a rotation or matrix, or none."""
    is_missing = np.isnan(values)
    is_incomplete = is_missing.any(axis=1) & ~is_missing.all(axis=1)
    if is_incomplete.any():
        row = int(np.argmax(is_incomplete))
        column = columns[int(np.argmax(is_missing[row]))]
        raise cells.error(n_("the cell is empty, but the other components of the rotation are not"), row, column)


def _check_last_row(values: Float64Array, columns: list[int], cells: Cells) -> None:
    """Check that the last row of matrices (n, 16) is 0 0 0 1."""
    is_different = np.abs(values[:, 12:] - [0.0, 0.0, 0.0, 1.0]).max(axis=1) > _LAST_ROW_TOLERANCE
    if is_different.any():
        reason = n_("the last row of the matrix is not 0 0 0 1. Is the matrix stored by columns?")
        raise cells.error(reason, int(np.argmax(is_different)), columns[12])


def _check_forms(properties: Sequence[Property], line: int) -> None:
    """Check that no property is given twice in different forms."""
    form_of: dict[str, str] = {}
    for prop in properties:
        for path in _paths_set_by(prop):
            other = form_of.setdefault(path, prop.form)
            if other != prop.form:
                reason = n_("{:s} is defined twice: as {:s} and as {:s}", path, other.lower(), prop.form.lower())
                raise TableError(reason, line)


def _paths_set_by(prop: Property) -> list[str]:
    """Return the paths of the properties that the columns set. A rotation in any form is "rotation"."""
    if prop.form != "MATRIX":
        return [re.sub(r"rotation_(axis_angle|quaternion|euler)$", "rotation", prop.path)]
    owner = prop.path.removesuffix("matrix")
    return [f"{owner}rotation"] + ([f"{owner}location"] if len(prop.components) == _ELEMENTS_4X4 else [])
