# SPDX-License-Identifier: GPL-3.0-or-later
"""Create tables in Markdown, and insert them into pages."""

from __future__ import annotations

from collections.abc import Sequence


def number(value: float) -> str:
    """Return the number with three digits, or a whole number with all digits."""
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table in which all columns except the first contain numbers. None is blank."""
    cells = [list(heads), *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        [
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in cells
    ]
    rule = ["-" * width if n == 0 else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def filled(text: str, name: str, content: str) -> str:
    """Return the text with new content between the marks of that name. Raise ValueError if there are none."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, found, rest = text.partition(start)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no place for {name!r}")
    return f"{head}{start}\n{content}\n\n{end}{tail}"
