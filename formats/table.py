# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of keys: text with one row per frame, one column per component, and a header row that names the columns.

    frame,location.x,location.y,location.z,quaternion.w,quaternion.x,quaternion.y,quaternion.z
    1,0,0,0,1,0,0,0
    24.5,3,0,1.25,0.70710677,0,0,0.70710677

Cells are separated by commas, semicolons, tabs or spaces. A # begins a comment. An empty cell means that there is no
key. table_headings.py and docs/files/tables.md list the names that columns may have. Reading takes 8 bytes of memory
per cell, and another 8 bytes per row.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import FileError
from .interp import Float64Array, Text, n_
from .table_headings import Form, Heading, HeadingError, Unit, heading_of, names_of, time_of

_SHOWN = 40
"""Maximum number of characters of a cell in a message."""
_ROWS_AT_ONCE = 4096
"""Number of rows written at a time."""
_LEAST_MATRIX, _WHOLE_MATRIX = 9, 16
_COMPONENTS = {"QUATERNION": 4, "EULER": 3}
_LAST_ROW_TOLERANCE = 1e-6
"""Largest difference between the last row of a matrix and 0 0 0 1."""


class TableError(FileError):
    """An error in a table, with its line and column, both counted from 1."""

    def __init__(self, reason: Text, line: int | None = None, column: int | None = None, name: str = "") -> None:
        message = reason
        if column is not None and name:
            message = n_("line {:d}, column {:d} ({:s}): {:s}", line, column, name[:_SHOWN], reason)
        elif column is not None:
            message = n_("line {:d}, column {:d}: {:s}", line, column, reason)
        elif line is not None:
            message = n_("line {:d}: {:s}", line, reason)
        super().__init__(message)
        self.line = line
        self.column = column


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
    text = _decoded(content)
    rows = _Rows(text)
    unit, time_column, headings = _headings(rows.header, rows.header_line)
    numbers, lines = rows.numbers()
    times = np.ascontiguousarray(numbers[:, time_column])
    _check_times(times, lines, unit, time_column, rows.header)
    properties = []
    for group in _grouped(headings, rows).values():
        properties.append(_property(group, numbers, lines, rows))
    if not properties:
        raise TableError(n_("the time column is the only column"), rows.header_line)
    _check_owners(properties, rows.header_line)
    return Table(unit, times, tuple(properties), lines)


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
        cells = [_cells(column[start : start + _ROWS_AT_ONCE]) for column in columns]
        stream.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))
    return stream.getvalue().encode("utf-8")


def _cells(numbers: npt.NDArray[np.floating]) -> list[str]:
    return ["" if text == "nan" else text.removesuffix(".0") for text in numbers.astype(str).tolist()]


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = n_("byte {:d} is not valid UTF-8. Save the table as UTF-8", error.start)
        raise TableError(reason, line) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(n_("this is not a text file: it contains null bytes"), line)
    return text


class _Rows:
    """The header of a table, and its cells as numbers."""

    def __init__(self, text: str) -> None:
        self._lines: Iterator[tuple[int, str]] = enumerate(io.StringIO(text, newline=None), start=1)
        comment: tuple[int, str] | None = None
        for number, line in self._lines:
            stripped = line.strip()
            if stripped.startswith("#"):
                comment = number, stripped.lstrip("#").strip()
            elif stripped:
                break
        else:
            raise TableError(
                n_("the table is empty. It needs a header row, such as frame,location.x,location.y,location.z")
            )
        self._first: tuple[int, str] | None = None
        self.separator = _separator_of(line)
        self.header_line, self.header = number, self._split(line)
        if _is_number(self.header[0]):
            # NumPy's savetxt, for example, writes the header as a comment.
            if comment is None or time_of(re.split(r"[\s,;]", comment[1], maxsplit=1)[0]) is None:
                reason = n_("the first row must name the columns, such as frame,location.x,location.y")
                raise TableError(reason, number)
            self._first = number, line
            self.header_line = comment[0]
            self.header = _split(comment[1], _separator_of(comment[1]))
        while self.header and not self.header[-1]:
            self.header.pop()

    def _split(self, line: str) -> list[str]:
        return _split(line, self.separator)

    def numbers(self) -> tuple[Float64Array, npt.NDArray[np.int64]]:
        """Return the cells, shape (rows, columns), with NaN for empty cells, and the line number of each row."""
        numbers, lines, empty = array("d"), array("q"), array("q")
        width, separator = len(self.header), self.separator
        for number, line in self._data():
            cells = line.split(separator)
            start = len(numbers)
            # Python accepts underscores in numbers. A decimal comma cannot be distinguished from a separator.
            if len(cells) == width and "_" not in line:
                try:
                    numbers.extend(map(float, cells))
                except ValueError:
                    del numbers[start:]
            if len(numbers) == start:
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                self._extend(numbers, empty, number, line)
            lines.append(number)
        found = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
        lines_of = np.frombuffer(lines, dtype=np.int64)
        if not len(found):
            raise TableError(n_("there are no rows below the header"), self.header_line)
        good = np.isfinite(found)
        good.flat[np.frombuffer(empty, dtype=np.int64)] = True
        if not good.all():
            row, column = (int(place) for place in np.argwhere(~good)[0])
            reason = n_("{} is not a finite number", found[row, column])
            raise self.error(reason, int(lines_of[row]), column)
        return found, lines_of

    def error(self, reason: Text, line: int, column: int) -> TableError:
        return TableError(reason, line, column + 1, self.header[column])

    def _data(self) -> Iterator[tuple[int, str]]:
        if self._first is not None:
            yield self._first
        yield from self._lines

    def _extend(self, numbers: array[float], empty: array[int], line: int, text: str) -> None:
        """Add one row cell by cell if it has empty cells, comments, quotes, decimal commas or errors."""
        cells = self._split(text.partition("#")[0])
        while len(cells) > len(self.header) and not cells[-1]:
            cells.pop()
        if len(cells) != len(self.header):
            known = len(cells), len(self.header)
            raise TableError(n_("the row has {:d} cells, but the header names {:d} columns", *known), line)
        for column, cell in enumerate(cells):
            if not cell:
                empty.append(len(numbers))
                numbers.append(np.nan)
                continue
            if self.separator != "," and "," in cell and "." not in cell:
                cell = cell.replace(",", ".")
            if "_" in cell or not _is_number(cell):
                raise self.error(n_('"{:s}" is not a number', cell[:_SHOWN]), line, column)
            numbers.append(float(cell))


def _separator_of(line: str) -> str | None:
    """Return the separator of the cells, or None for spaces."""
    return next((separator for separator in "\t;," if separator in line), None)


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line.strip("\r\n")], delimiter=separator))]
    return [cell.strip() for cell in line.split(separator)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _headings(header: Sequence[str], line: int) -> tuple[Unit, int, dict[int, Heading]]:
    """Return the unit and column of the times, and the headings of the other columns."""
    times = {column: found for column, name in enumerate(header) if (found := time_of(name)) is not None}
    if not times:
        names = ", ".join(header)[:80]
        raise TableError(n_('there is no time column. Name a column "frame" or "seconds" (found: {:s})', names), line)
    units = set(times.values())
    unit: Unit = "FRAME" if "FRAME" in units else "SECOND"
    chosen = [column for column, own in times.items() if own == unit]
    if len(chosen) > 1:
        reason = n_("column {:d} already contains the time", chosen[0] + 1)
        raise TableError(reason, line, chosen[1] + 1, header[chosen[1]])
    headings: dict[int, Heading] = {}
    for column, name in enumerate(header):
        if column in times:
            continue
        try:
            headings[column] = heading_of(name)
        except HeadingError as error:
            raise TableError(Text(error.text, *error.values), line, column + 1) from error
    return unit, chosen[0], headings


def _check_times(
    times: Float64Array, lines: npt.NDArray[np.int64], unit: Unit, column: int, header: Sequence[str]
) -> None:
    missing = np.isnan(times)
    if missing.any():
        raise TableError(n_("is empty"), int(lines[np.argmax(missing)]), column + 1, header[column])
    back = np.flatnonzero(times[1:] <= times[:-1])
    if len(back):
        row = int(back[0]) + 1
        known = times[row], times[row - 1], lines[row - 1]
        reason = n_("second {:g} is not after {:g} in line {:d}. Times must increase", *known)
        if unit == "FRAME":
            reason = n_("frame {:g} is not after {:g} in line {:d}. Times must increase", *known)
        raise TableError(reason, int(lines[row]), column + 1, header[column])


def _grouped(headings: dict[int, Heading], rows: _Rows) -> dict[tuple[str, Form], dict[int, Heading]]:
    """Group the columns by property."""
    groups: dict[tuple[str, Form], dict[int, Heading]] = {}
    taken: dict[tuple[str, Form, int | None, int], int] = {}
    for column, heading in headings.items():
        group = groups.setdefault((heading.path, heading.form), {})
        other = taken.setdefault((heading.path, heading.form, heading.row, heading.index), column)
        if other != column:
            raise rows.error(n_("the data is the same as in column {:d}", other + 1), rows.header_line, column)
        first = next(iter(group), column)
        same = group.get(first, heading)
        if (same.order, same.degrees, same.is_single) != (heading.order, heading.degrees, heading.is_single):
            raise rows.error(n_("the column is not compatible with column {:d}", first + 1), rows.header_line, column)
        group[column] = heading
    return groups


def _property(group: dict[int, Heading], numbers: Float64Array, lines: npt.NDArray[np.int64], rows: _Rows) -> Property:
    columns = sorted(group, key=lambda column: _element(group[column]))
    first = group[columns[0]]
    indices = tuple(group[column].index for column in columns)
    if first.form == "MATRIX":
        _check_matrix([_element(group[column]) for column in columns], columns, rows)
        indices = tuple(range(len(columns)))
    wanted = _COMPONENTS.get(first.form)
    if wanted is not None and len(columns) != wanted:
        reason = n_("a rotation in this form needs {:d} columns, but there are {:d}", wanted, len(columns))
        raise rows.error(reason, rows.header_line, columns[0])
    values = np.ascontiguousarray(numbers[:, columns])
    if first.form != "VALUE":
        some, every = np.isnan(values).any(axis=1), np.isnan(values).all(axis=1)
        if (some & ~every).any():
            row = int(np.argmax(some & ~every))
            column = columns[int(np.argmax(np.isnan(values[row])))]
            raise rows.error(
                n_("the cell is empty, but the other components of the rotation are not"), int(lines[row]), column
            )
    if first.form == "EULER" and first.degrees:
        values = np.radians(values)
    if len(columns) == _WHOLE_MATRIX and first.form == "MATRIX":
        off = np.abs(values[:, 12:] - [0.0, 0.0, 0.0, 1.0]).max(axis=1) > _LAST_ROW_TOLERANCE
        if off.any():
            line = int(lines[np.argmax(off)])
            reason = n_("the last row of the matrix is not 0 0 0 1. Is the matrix stored by columns?")
            raise rows.error(reason, line, columns[12])
    return Property(first.path, first.form, indices, values, first.order, first.is_single)


def _element(heading: Heading) -> tuple[int, int]:
    """Return the row and column of a matrix element, or -1 and the index if the heading has no row."""
    return -1 if heading.row is None else heading.row, heading.index


def _check_matrix(elements: list[tuple[int, int]], columns: list[int], rows: _Rows) -> None:
    """Check that a matrix is complete, 3 by 3 or 4 by 4, with rows and columns counted from 0 or 1."""
    count = len(elements)
    size = {_LEAST_MATRIX: 3, _WHOLE_MATRIX: 4}.get(count)
    if size is None:
        reason = n_("a matrix needs 9 or 16 columns, but there are {:d}", count)
        raise rows.error(reason, rows.header_line, columns[0])
    from_0 = [(row, column) for row in range(size) for column in range(size)]
    from_1 = [(row + 1, column + 1) for row, column in from_0]
    row_by_row = [(-1, index) for index in range(count)]
    if elements not in (from_0, from_1, row_by_row):
        reason = n_("the columns of the matrix are not {:d} by {:d}", size, size)
        raise rows.error(reason, rows.header_line, columns[0])


def _check_owners(properties: Sequence[Property], line: int) -> None:
    """Check that no property is given twice in different forms."""
    form_of: dict[str, str] = {}
    for prop in properties:
        for path in parts_of(prop):
            other = form_of.setdefault(path, prop.form)
            if other != prop.form:
                reason = n_("{:s} is defined twice: as {:s} and as {:s}", path, other.lower(), prop.form.lower())
                raise TableError(reason, line)


def parts_of(prop: Property) -> list[str]:
    """Return the properties that the columns set. A rotation in any form is "rotation"."""
    if prop.form != "MATRIX":
        path = re.sub(r"rotation_(axis_angle|quaternion|euler)$", "rotation", prop.path)
        return [path]
    owner = prop.path.removesuffix("matrix")
    return [f"{owner}rotation"] + ([f"{owner}location"] if len(prop.components) == _WHOLE_MATRIX else [])
