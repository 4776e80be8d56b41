# SPDX-License-Identifier: GPL-3.0-or-later
"""Process a folder of .blend and .3ds files with all functions of the extension, and report the differences.

    python tools/survey.py FOLDER [--seconds 120] [--page docs/measurements/survey.md]

All keyed properties of a .blend file are enabled with Preserve Motion. They are baked as samples, curves and handles,
and restored each time. Then TCB is removed. If a file already contains TCB data, the data is removed first. The baked
scene is exported as .3ds and imported again. Every F-curve of the file is compared bit for bit, including its values. A
.3ds file is imported, played with samples and with handles, exported, and imported again. Each file runs in a separate
process with a time limit. `sources.csv` in the folder lists the sources of its subfolders: folder, repository, commit,
license. The script needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.tables import show, table

Row = dict[str, Any]
"""The findings on a file by name, as written by surveyed_file.py."""
SURVEY_FILE = Path(__file__).with_name("surveyed_file.py")
SUFFIXES = (".blend", ".3ds")
BLEND_HEADS = {
    "curves": "F-curves",
    "keys": "keys",
    "tracks": "tracks baked",
    "refused": "not baked",
    "looks": "motion changed",
    "restored": "differ after restore",
    "played": "different values",
    "removed": "differ after remove",
    "exported": "objects exported, compared",
    "degrees": "error, degrees",
    "off": "of the size",
}
THREE_DS_HEADS = {
    "nodes": "nodes",
    "tracks": "tracks",
    "keys": "keys",
    "handles_degrees": "handle error, degrees",
    "handles_place": "of the size",
    "rewritten": "tracks changed",
    "degrees": "import error, degrees",
    "off": "of the size",
}
ERRORS = {"handles_degrees", "handles_place", "degrees", "off"}
"""Columns of errors."""
SOURCE_HEADS = ("folder", "repository", "commit", "license")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each file (default: 120)")
    parser.add_argument("--page", type=Path, help="a page to insert the tables into, instead of printing them")
    options = parser.parse_args()
    rows = rows_of(options.folder, options.seconds)
    show(tables(options.folder, rows), options.page)


def rows_of(folder: Path, seconds: float) -> list[Row]:
    """Survey each file of the folder in a separate process."""
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        answer = Path(temporary) / "row.json"
        for path in sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES):
            answer.unlink(missing_ok=True)
            command = [sys.executable, str(SURVEY_FILE), str(path), str(answer)]
            row: Row = {"faults": []}
            try:
                status = subprocess.run(command, stdout=sys.stderr, timeout=seconds, check=False).returncode
                row = json.loads(answer.read_text()) if answer.exists() else row
                if status:
                    row["faults"].append(f"the process ended with status {status}")
            except subprocess.TimeoutExpired:
                row["faults"].append(f"not done within {seconds:g} s")
            rows.append({**row, "file": path.relative_to(folder).as_posix()})
    return rows


def tables(folder: Path, rows: Sequence[Row]) -> dict[str, str]:
    """Return the Markdown of the tables by name, with one row per folder and the files that differ."""
    texts = {}
    sources = folder / "sources.csv"
    if sources.exists():
        with sources.open(encoding="utf-8", newline="") as stream:
            cells = [[source[head] for head in SOURCE_HEADS] for source in csv.DictReader(stream)]
            texts["sources"] = table(SOURCE_HEADS, cells)
    for name, heads, kind in (("blend", BLEND_HEADS, ".blend"), ("3ds", THREE_DS_HEADS, ".3ds")):
        of_kind = [row for row in rows if row["file"].lower().endswith(kind)]
        texts[name] = table(["folder", "files", *heads.values()], list(cells_by_folder(of_kind, heads)))
    differing = [[row["file"], "; ".join(map(str, row["faults"])).replace("|", "\\|")] for row in rows if row["faults"]]
    texts["differing"] = table(["file", "what differs"], differing) if differing else "No file."
    return texts


def cells_by_folder(rows: Sequence[Row], heads: Mapping[str, str]) -> Iterator[list[object]]:
    """Yield the cells of each folder with files, with the sum of counts and the maximum of errors."""
    rows_by_folder: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_folder.setdefault(row["file"].rpartition("/")[0].partition("/")[0], []).append(row)
    for folder, members in rows_by_folder.items():
        yield [
            folder,
            len(members),
            *(_combined(head, [row[head] for row in members if head in row]) for head in heads),
        ]


def _combined(head: str, contents: Sequence[Any]) -> object:
    """Return the sum of counts, or the largest error."""
    if head in ERRORS:
        return max(contents, key=float, default="")
    if any(isinstance(content, str) for content in contents):
        pairs = [list(map(int, content.split(" of "))) for content in contents]
        return " of ".join(str(sum(numbers)) for numbers in zip(*pairs, strict=True))
    return sum(contents)


if __name__ == "__main__":
    main()
