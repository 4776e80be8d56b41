# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of keys: text with one row per frame, one column per channel, and a header row that names the columns.

    frame,location[0],location[1],location[2],data.lens
    1,0,0,0,50
    24.5,3,0,1.25,

The time column is named "frame" or "seconds". Other columns are named by Blender's path, and by an index if the
property has several components. An empty cell means that there is no key.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .errors import FileError
from .interp import Float64Array, Text, n_

Unit = Literal["FRAME", "SECOND"]

_UNIT_OF_HEADING: dict[str, Unit] = {"frame": "FRAME", "seconds": "SECOND"}
_ROWS_AT_ONCE = 4096
"""Number of rows written at a time, so that the text of all cells is not in memory at once."""
_MAX_CELL_TEXT = 40
"""Maximum number of characters of a cell in a message."""


class TableError(FileError):
    """An error in a table, with its line and column, both counted from 1."""

    def __init__(self, reason: Text, line: int, column: int | None = None, name: str = "") -> None:
        message = n_("line {:d}: {:s}", line, reason)
        if column is not None:
            message = n_("line {:d}, column {:d} ({:s}): {:s}", line, column, name[:_MAX_CELL_TEXT], reason)
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, eq=False)
class Table:
    """A table of rows with strictly increasing times."""

    unit: Unit
    times: npt.NDArray[np.floating]
    """Frames or seconds, shape (n,)."""
    columns: Mapping[str, npt.NDArray[np.floating]]
    """Values of each column by its heading, shape (n,), with NaN for empty cells.

    float32 values are written with float32 precision.
    """
    lines: npt.NDArray[np.int64] | None = None
    """Line of each row in the file, counted from 1, shape (n,). None for a table that was not read from a file."""

    def line_of(self, row: int) -> int:
        """Return the line of a row. For a table that was not read from a file, the header is line 1."""
        return row + 2 if self.lines is None else int(self.lines[row])


def read(content: bytes) -> Table:
    """Read a table. Raises a TableError that names the line and column."""
    lines = _decode(content).splitlines()
    header_line, names, separator = _read_header(lines)
    for column, name in enumerate(names):
        if name in names[:column]:
            reason = n_("column {:d} has the same heading", names.index(name) + 1)
            raise TableError(reason, header_line, column + 1, name)
    numbers, line_of_row = array("d"), array("q")
    for line, text in enumerate(lines[header_line:], start=header_line + 1):
        cells = _split(text.partition("#")[0], separator)
        if not any(cells):
            continue
        if len(cells) > len(names) and not any(cells[len(names) :]):
            del cells[len(names) :]
        if len(cells) != len(names):
            reason = n_("the row has {:d} cells, but the header names {:d} columns", len(cells), len(names))
            raise TableError(reason, line)
        for column, cell in enumerate(cells):
            try:
                numbers.append(_number(cell, separator))
            except ValueError:
                reason = n_('"{:s}" is not a finite number', cell[:_MAX_CELL_TEXT])
                raise TableError(reason, line, column + 1, names[column]) from None
        line_of_row.append(line)
    if not line_of_row:
        raise TableError(n_("there are no rows below the header"), header_line)
    table_lines = np.frombuffer(line_of_row, dtype=np.int64)
    rows = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(names))
    columns = dict(zip(names, rows.T, strict=True))
    time_column = next(column for column, name in enumerate(names) if name in _UNIT_OF_HEADING)
    time_heading = names[time_column]
    times = columns.pop(time_heading)
    for heading in _UNIT_OF_HEADING:
        # The first time column is used.
        columns.pop(heading, None)
    _check_times(times, table_lines, time_column, time_heading)
    return Table(_UNIT_OF_HEADING[time_heading], times, columns, table_lines)


def write(table: Table) -> bytes:
    """Return the table as comma-separated text, with the shortest numbers that read back to the same bits."""
    columns = [table.times, *table.columns.values()]
    stream = io.StringIO()
    heading = "frame" if table.unit == "FRAME" else "seconds"
    csv.writer(stream, lineterminator="\n").writerow([heading, *table.columns])
    for start in range(0, len(table.times), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        texts = [
            ["" if text == "nan" else text.removesuffix(".0") for text in column[rows].astype(str).tolist()]
            for column in columns
        ]
        stream.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))
    return stream.getvalue().encode("utf-8")


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TableError(n_("byte {:d} is not valid UTF-8. Save the table as UTF-8", error.start), line) from error


def _read_header(lines: Sequence[str]) -> tuple[int, list[str], str]:
    """Return the line of the header, the headings, and the separator of cells.

    The header is the first line that is not a comment. In files from NumPy, it is the comment before this line.
    """
    candidates: list[int] = []
    for line, text in enumerate(lines, start=1):
        if text.strip():
            candidates.append(line)
            if not text.lstrip().startswith("#"):
                break
    for line in reversed(candidates[-2:]):
        text = lines[line - 1].strip().lstrip("# ")
        for separator in "\t;, ":
            names = _split(text, separator)
            if any(name in _UNIT_OF_HEADING for name in names):
                # Spreadsheets write separators after the last column.
                while not names[-1]:
                    names.pop()
                return line, names, separator
    reason = n_('there is no time column. Name a column "frame" or "seconds" in the header row')
    raise TableError(reason, candidates[-1] if candidates else 1)


def _split(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without quotes and surrounding spaces."""
    line = line.strip(" \r\n")
    try:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        # A quoted cell that is too long for this parser is reported like other damaged cells.
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def _number(cell: str, separator: str) -> float:
    """Return the number in a cell, or NaN for an empty cell. Raise ValueError for other text."""
    if not cell:
        return math.nan
    # A decimal comma cannot be distinguished from a comma that separates cells.
    number = float(cell if separator == "," else cell.replace(",", "."))
    # Python accepts underscores in numbers.
    if not math.isfinite(number) or "_" in cell:
        raise ValueError(cell)
    return number


def _check_times(times: Float64Array, lines: npt.NDArray[np.int64], column: int, name: str) -> None:
    """Check that each row has a time, and that times increase."""
    wrong = np.flatnonzero(~(np.diff(times, prepend=-np.inf) > 0.0))
    if not len(wrong):
        return
    row = int(wrong[0])
    reason = n_("is empty")
    if not np.isnan(times[row]):
        reason = n_(
            "{:g} is not after {:g} in line {:d}. Times must increase", times[row], times[row - 1], lines[row - 1]
        )
    raise TableError(reason, int(lines[row]), column + 1, name)
