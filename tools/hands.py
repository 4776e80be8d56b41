# SPDX-License-Identifier: GPL-3.0-or-later
"""Use Blender's tools on a live rig and on its plain twin in a window; write what happened as a table.

    tools/environment.sh graphical python tools/hands.py [--output docs/measurements/blender_tools.md] [--only NAME]

Python must have bpy, with which the extension's zip is built. Results are kept in `--data`, one file for each Blender,
and the table is made of all files there. Exit status 1: something was otherwise than with the twin.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import build_zip, graphical
from tools.hands_edits import Hands, Row
from tools.hands_rows import ROWS
from tools.hands_table import is_bad, markdown

ROOT = Path(__file__).resolve().parents[1]
SIZE = (1000, 640)
"""Pixels: a small window draws faster without a graphics card."""
MOST_STEPS = 20
"""Steps of undo that a row's tool may take."""


def run_row(gui: Any, row: Row, pictures: Path | None = None) -> dict[str, Any]:
    """Use the tool in a new file; return what was found."""
    hands, start = Hands(gui), time.perf_counter()
    result: dict[str, Any] = {"group": row.group, "name": row.name, "how": row.how}
    try:
        gui.run("def steps():\n    bpy.ops.wm.read_homefile(use_factory_startup=True)\n    yield 0.5\n")
        hands.run("hands.stage(); hands.push('stage')")
        hands.settle()
        hands.run("hands.save('before'); result = hands.differences()")
        result["remark"] = row.tool(hands) or ""
        hands.settle()
        if pictures:
            gui.shot(pictures / f"{row.title.replace(' ', '_').replace(':', '')}.png")
        result |= measured(hands, row)
        if row.undoes:
            result |= undone(hands)
    except Exception as error:
        traceback.print_exc()
        result["error"] = f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"
        if pictures:
            gui.shot(pictures / "error.png")
    result["seconds"] = round(time.perf_counter() - start, 1)
    return result


def measured(hands: Hands, row: Row) -> dict[str, Any]:
    """Compare the rig with its twin, with a fresh bake, and with the splines."""
    found: dict[str, Any] = hands.run(f"hands.save('after'); result = hands.measured({row.alike})")
    if not row.changes:
        found["touched"] = hands.run("result = hands.changes_since('before', 'Live')")
    return found


def undone(hands: Hands) -> dict[str, Any]:
    """Undo until the twin is as before, then redo as often; return what is otherwise than it was."""
    hands.open("VIEW_3D")
    hands.settle()
    steps = 0
    while hands.run("result = hands.changes_since('before', 'Plain')"):
        if steps == MOST_STEPS:
            return {"undo": ["the twin was not as before"]}
        hands.press("ctrl+z")
        hands.settle()
        steps += 1
    live = hands.run("result = hands.changes_since('before', 'Live')")
    for _step in range(steps):
        hands.press("ctrl+shift+z")
    hands.settle()
    again = hands.run("result = hands.changes_since('after', 'Live')")
    return {"undo": live, "redo": again, "steps": steps}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, help="the Markdown file; default: printed")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "hands", help="where each Blender's results are")
    parser.add_argument("--only", default="", help="tools whose group and name contain this regular expression")
    parser.add_argument("--pictures", type=Path, help="a folder for a screenshot of each")
    parser.add_argument("--no-run", action="store_true", help="make the page of the results that are there")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    arguments.data.mkdir(parents=True, exist_ok=True)
    if not arguments.no_run:
        _run(arguments)
    found = _in_order({each.stem: json.loads(each.read_text()) for each in arguments.data.glob("*.json")})
    text = markdown(found, {row.title: row.note for row in ROWS})
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text)
    return int(any(is_bad(row) for rows in found.values() for row in rows.values()))


def _run(arguments: argparse.Namespace) -> None:
    """Use the tools, and save what was found after each."""
    with tempfile.TemporaryDirectory() as folder, graphical.installed(build_zip.build(Path(folder)), SIZE) as gui:
        version = tuple(gui.run("result = tuple(bpy.app.version)"))
        file = arguments.data / f"{version[0]}.{version[1]}.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        for row in ROWS:
            if version[:2] < row.since or not re.search(arguments.only, row.title):
                continue
            result = run_row(gui, row, arguments.pictures)
            known[row.title] = result
            file.write_text(json.dumps(known, indent=1))
            print("BAD " if is_bad(result) else "good", json.dumps(result), flush=True)


def _in_order(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the results in the order of the rows."""
    return {
        version: {row.title: rows[row.title] for row in ROWS if row.title in rows} for version, rows in found.items()
    }


if __name__ == "__main__":
    sys.exit(main())
