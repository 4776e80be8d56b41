# SPDX-License-Identifier: GPL-3.0-or-later
"""Create tables in Markdown, and print them or insert them into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


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


def show(tables: Mapping[str, str], page: Path | None = None) -> None:
    """Print tables, given by name, or insert them between the marks of these names in a page.

    Raise ValueError if the page does not have the marks.
    """
    if page is None:
        print("\n\n".join(f"{name}\n\n{content}" for name, content in tables.items()))
        return
    text = page.read_text(encoding="utf-8")
    for name, content in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, start_in_page, after_start = text.partition(start)
        _, end_in_page, after = after_start.partition(end)
        if not start_in_page or not end_in_page:
            raise ValueError(f"the page has no place for {name!r}")
        text = f"{before}{start}\n{content}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")
