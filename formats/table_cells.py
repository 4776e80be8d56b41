# SPDX-License-Identifier: GPL-3.0-or-later
"""The header and the cells of a table, read from text.

Reading takes 8 bytes of memory per cell, and another 8 bytes per row.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from .errors import FileError
from .interp import Float64Array, Text, n_
from .table_headings import time_of

_MAX_CELL_TEXT = 40
"""Maximum number of characters of a cell in a message."""


class TableError(FileError):
    """An error in a table, with its line and column, both counted from 1."""

    def __init__(self, reason: Text, line: int | None = None, column: int | None = None, name: str = "") -> None:
        message = reason
        if column is not None and name:
            message = n_("line {:d}, column {:d} ({:s}): {:s}", line, column, name[:_MAX_CELL_TEXT], reason)
        elif column is not None:
            message = n_("line {:d}, column {:d}: {:s}", line, column, reason)
        elif line is not None:
            message = n_("line {:d}: {:s}", line, reason)
        super().__init__(message)
        self.line = line
        self.column = column


_Line = tuple[int, str]
"""The number of a line, counted from 1, and its text."""


@dataclass(frozen=True)
class Header:
    """The names of the columns, the line that contains them, and the separator of cells, which is None for spaces."""

    line: int
    names: Sequence[str]
    separator: str | None

    def error(self, reason: Text, column: int, line: int | None = None) -> TableError:
        """Return an error in a column of the header or of another line."""
        return TableError(reason, self.line if line is None else line, column + 1, self.names[column])


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells below a header as numbers (rows, columns), with NaN for empty cells, and the line of each row."""

    header: Header
    numbers: Float64Array
    lines: npt.NDArray[np.int64]

    def error(self, reason: Text, row: int, column: int) -> TableError:
        """Return an error in a cell."""
        return self.header.error(reason, column, int(self.lines[row]))


def read_header(content: bytes) -> tuple[Header, Iterator[_Line]]:
    """Return the header of a table and the lines below it."""
    lines = enumerate(io.StringIO(_decode(content), newline=None), start=1)
    comment: _Line | None = None
    for line, text in lines:
        stripped = text.strip()
        if stripped.startswith("#"):
            comment = line, stripped.lstrip("#").strip()
        elif stripped:
            break
    else:
        raise TableError(
            n_("the table is empty. It needs a header row, such as frame,location.x,location.y,location.z")
        )
    separator = _separator_of(text)
    names = _split(text, separator)
    if not _is_number(names[0]):
        return Header(line, _without_empty_end(names), separator), lines
    # NumPy's savetxt, for example, writes the header as a comment.
    if comment is None or time_of(re.split(r"[\s,;]", comment[1], maxsplit=1)[0]) is None:
        raise TableError(n_("the first row must name the columns, such as frame,location.x,location.y"), line)
    names = _split(comment[1], _separator_of(comment[1]))
    return Header(comment[0], _without_empty_end(names), separator), chain([(line, text)], lines)


def read_cells(header: Header, lines: Iterator[_Line]) -> Cells:
    """Read the rows below the header."""
    numbers, line_of_row, empty = array("d"), array("q"), array("q")
    width, separator = len(header.names), header.separator
    for line, text in lines:
        cells = text.split(separator)
        start = len(numbers)
        # Python accepts underscores in numbers.
        if len(cells) == width and "_" not in text:
            try:
                numbers.extend(map(float, cells))
            except ValueError:
                del numbers[start:]
        if len(numbers) == start:
            if not text.strip() or text.lstrip().startswith("#"):
                continue
            _read_irregular_row(header, line, text, numbers, empty)
        line_of_row.append(line)
    if not line_of_row:
        raise TableError(n_("there are no rows below the header"), header.line)
    cells_of_rows = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
    result = Cells(header, cells_of_rows, np.frombuffer(line_of_row, dtype=np.int64))
    _check_finite(result, np.frombuffer(empty, dtype=np.int64))
    return result


def _read_irregular_row(header: Header, line: int, text: str, numbers: array[float], empty: array[int]) -> None:
    """Append one row cell by cell if it has empty cells, comments, quotes, decimal commas or errors.

    `numbers` receives the cells, with NaN for empty cells, and `empty` receives the positions of empty cells.
    """
    cells = _split(text.partition("#")[0], header.separator)
    width = len(header.names)
    while len(cells) > width and not cells[-1]:
        cells.pop()
    if len(cells) != width:
        raise TableError(n_("the row has {:d} cells, but the header names {:d} columns", len(cells), width), line)
    for column, cell in enumerate(cells):
        if not cell:
            empty.append(len(numbers))
            numbers.append(np.nan)
            continue
        # A decimal comma cannot be distinguished from a comma that separates cells.
        if header.separator != "," and "," in cell and "." not in cell:
            cell = cell.replace(",", ".")
        if "_" in cell or not _is_number(cell):
            raise header.error(n_('"{:s}" is not a number', cell[:_MAX_CELL_TEXT]), column, line)
        numbers.append(float(cell))


def _check_finite(cells: Cells, empty: npt.NDArray[np.int64]) -> None:
    """Check that all cells are finite numbers, except the empty cells at these positions."""
    is_valid = np.isfinite(cells.numbers)
    is_valid.flat[empty] = True
    if not is_valid.all():
        row, column = np.argwhere(~is_valid)[0].tolist()
        raise cells.error(n_("{} is not a finite number", cells.numbers[row, column]), row, column)


def _decode(content: bytes) -> str:
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


def _separator_of(line: str) -> str | None:
    """Return the separator of the cells, or None for spaces."""
    return next((separator for separator in "\t;," if separator in line), None)


def _split(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line, without quotes and surrounding spaces."""
    if separator is None:
        return line.split()
    cells = line.split(separator)
    if '"' in line:
        # A quoted cell that is too long for this parser keeps its quotes, and is reported like other damaged cells.
        with suppress(csv.Error):
            cells = next(csv.reader([line.strip("\r\n")], delimiter=separator))
    return [cell.strip() for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells
