# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of Blender's tools on a live rig, from the results of each Blender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Result = Mapping[str, Any]
BAD = ("error", "differences", "stale", "touched", "undo", "redo")
HEAD = """# Blender's own tools on a live character

Blender's tools for poses, keys, curves, actions and strips do the same to a live rig as to a plain one, and its motion
stays TCB's. Undo and redo are exact.

Each tool was used once in a window on a rig of ten bones that TCB plays by handles, with Live on. A second rig has the
same keys and the same motion without TCB. Both got the same keys and mouse moves. The rig has 160 keys at frames 1, 13,
25 and 41, some with tension, continuity, bias and ease. *Auto Key* is on unless a row names it, and all bones are
selected. `tools/hands_rows.py` has the keys and mouse moves of each row.
`python tools/hands.py --output docs/measurements/blender_tools.md` makes this page in a graphical Blender.

**Same** means:

- The rig has keys in the same channels at the same frames as its twin, with the same values (bit for bit unless a
  figure is given), interpolations and types, and no others.
- A new bake of these keys gives the same handles.
- Undo returns the rig bit for bit, and redo the result of the tool.

The error is the deviation of the handles from the exact splines at whole frames, in the newest Blender: the largest
angle, and the largest part of a location's range. [Handles](handles.md) explains it. A dash: not tried there, or this
Blender has no such tool.
"""


def is_bad(result: Result) -> bool:
    """Return whether the rig differs from its twin."""
    return any(result.get(name) for name in BAD)


def markdown(found: Mapping[str, Mapping[str, Result]], notes: Mapping[str, str]) -> str:
    """Return the page; `found` has results by Blender's version and a row's name, `notes` what to say of a row."""
    newest_first = sorted(found, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    return "\n".join([HEAD, *_counts(found, newest_first), "", *_tables(found, newest_first, notes)])


def _counts(found: Mapping[str, Mapping[str, Result]], versions: list[str]) -> Iterator[str]:
    for version in versions:
        rows = found[version].values()
        yield f"- Blender {version}: {len(rows)} tools, {sum(not is_bad(row) for row in rows)} of them the same."


def _tables(found: Mapping[str, Mapping[str, Result]], versions: list[str], notes: Mapping[str, str]) -> Iterator[str]:
    names = dict.fromkeys(name for version in versions for name in found[version])
    rows = {name: next(found[version][name] for version in versions if name in found[version]) for name in names}
    # Those that only an older Blender has stand where they belong.
    for group in dict.fromkeys(row["group"] for row in rows.values()):
        yield f"## {group}\n"
        heads = " | ".join(f"Blender {version}" for version in versions)
        yield f"| tool | {heads} | error |"
        yield "|---" * (2 + len(versions)) + "|"
        members = [(name, row) for name, row in rows.items() if row["group"] == group]
        for name, row in members:
            cells = [_cell(found[version].get(name)) for version in versions]
            yield f"| {row['name']} | {' | '.join(cells)} | {_figures(row)} |"
        yield ""
        lines = [f"- {row['name']}: {said}." for name, row in members for said in _remarks(row, notes.get(name, ""))]
        yield from [*lines, ""] if lines else []


def _remarks(row: Result, note: str) -> Iterator[str]:
    yield from filter(None, (note, row.get("remark", "")))
    for name in BAD:
        if row.get(name):
            found = row[name] if isinstance(row[name], list) else [row[name]]
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield f"**different** ({name}): {found[0]}{more}"


def _cell(row: Result | None) -> str:
    if row is None:
        return "-"
    if is_bad(row):
        return "**different**"
    apart = f", values within {row['apart']:.0e}" if row["apart"] else ""
    said = "; a note" if row["said"] else ""
    return f"{'nothing changed' if 'touched' in row else 'same'}{apart}{said}"


def _figures(row: Result) -> str:
    if "spline" not in row:
        return ""
    degrees, part = row["spline"]
    return f"{degrees:.2g}°, {part:.1g}"
