# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of what became of a live rig under Blender's tools, from the results of each Blender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Result = Mapping[str, Any]
BAD = ("error", "differences", "stale", "touched", "undo", "redo")
HEAD = """# Blender's own tools on a live character

Each of Blender's tools for poses, keys, curves, actions and strips, used once in a window on a rig of ten bones that
TCB plays by handles, with Live on. A second rig has the same keys and the same motion, without TCB; each tool is used
on both, by keys and the mouse where it can be, else by its operator in the window. The rig has 160 keys at frames 1,
13, 25 and 41; some have tension, continuity, bias and ease. *Auto Key* is on unless a row says otherwise, and all bones
are selected. `python tools/hands.py --output docs/measurements/blender_tools.md` makes this page, in
a graphical Blender.

**As without TCB** means all of this:

- After the tool the rig has keys in the same channels as its twin, at the same frames, with the same values (equal to
  the last bit unless a figure is given), interpolations and types, and no others.
- Its handles are those that a new bake of these keys places, so the motion is TCB's.
- As many `Ctrl Z` as it took to get the twin back bring the rig back bit for bit, and as many `Ctrl Shift Z` what was
  there after the tool.

The last column is how far handles then play from the exact splines at whole frames: the largest turn between the two
in degrees, and the largest part of a location's range; [handles.md](handles.md) says where that comes from. It and the
number of keys are the newest Blender's. A dash: not tried there, or this Blender has no such tool.
"""


def is_bad(result: Result) -> bool:
    """Return whether something was otherwise than with the twin."""
    return any(result.get(name) for name in BAD)


def markdown(found: Mapping[str, Mapping[str, Result]], notes: Mapping[str, str]) -> str:
    """Return the page; `found` has results by Blender's version and a row's name, `notes` what to say of a row."""
    newest_first = sorted(found, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    return "\n".join([HEAD, *_counts(found, newest_first), "", *_tables(found, newest_first, notes)])


def _counts(found: Mapping[str, Mapping[str, Result]], versions: list[str]) -> Iterator[str]:
    for version in versions:
        rows = found[version].values()
        yield f"- Blender {version}: {len(rows)} tools, {sum(not is_bad(row) for row in rows)} of them as without TCB."


def _tables(found: Mapping[str, Mapping[str, Result]], versions: list[str], notes: Mapping[str, str]) -> Iterator[str]:
    names = dict.fromkeys(name for version in versions for name in found[version])
    rows = {name: next(found[version][name] for version in versions if name in found[version]) for name in names}
    # Those that only an older Blender has stand where they belong.
    for group in dict.fromkeys(row["group"] for row in rows.values()):
        yield f"## {group}\n"
        heads = " | ".join(f"Blender {version}" for version in versions)
        yield f"| tool | how | {heads} | keys then | from the spline |"
        yield "|---" * (4 + len(versions)) + "|"
        members = [(name, row) for name, row in rows.items() if row["group"] == group]
        for name, row in members:
            cells = [_cell(found[version].get(name)) for version in versions]
            yield f"| {row['name']} | {row['how']} | {' | '.join(cells)} | {_figures(row)} |"
        yield ""
        lines = [f"- {row['name']}: {said}." for name, row in members for said in _remarks(row, notes.get(name, ""))]
        yield from [*lines, ""] if lines else []


def _remarks(row: Result, note: str) -> Iterator[str]:
    yield from filter(None, (note, row.get("remark", "")))
    for name in BAD:
        if row.get(name):
            found = row[name] if isinstance(row[name], list) else [row[name]]
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield f"**otherwise** ({name}): {found[0]}{more}"


def _cell(row: Result | None) -> str:
    if row is None:
        return "-"
    if is_bad(row):
        return "**otherwise**"
    apart = f", values within {row['apart']:.0e}" if row["apart"] else ""
    said = "; a note" if row["said"] else ""
    return f"{'nothing has changed' if 'touched' in row else 'as without TCB'}{apart}{said}"


def _figures(row: Result) -> str:
    if "spline" not in row:
        return " | "
    degrees, part = row["spline"]
    return f"{row['keys']} | {degrees:.2g}°, {part:.1g}"
