# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure whether edits of baked objects are kept, by making each edit also to a twin that is not baked.

    python tools/edits.py table [--output docs/edits.md] [--data build/edits]
    python tools/edits.py pairs [--count 20000] [--seed 0] [--processes 2] [--methods] [--between]
    python tools/edits.py pairs --case 0/123

`table`: each kind of edit by itself, with each output, live or baked again. The results are saved in `--data`, one file
for each Blender, and the Markdown table is made from all files there. `pairs`: random pairs of edits between two bakes,
as a script makes them, or with updates as in a window between them. Exit status 1: something was lost.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb

ROOT = tcb.ROOT
BAD = ("error", "lost", "appeared", "parameters")
"""The same as `edit_judge.COUNTED`, which needs Blender."""
SHOWN = 3
"""Cases of each pair of kinds that are printed."""


def registered() -> Any:
    """Return the `animation` package of the checkout's extension, with its operators registered."""
    import bpy  # noqa: F401

    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(ROOT)])
    package.register()
    return importlib.import_module(f"{package.__name__}.animation")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    table = verbs.add_parser("table", help="each kind of edit by itself")
    table.add_argument("--output", type=Path, help="the Markdown file; default: printed")
    table.add_argument("--data", type=Path, default=ROOT / "build" / "edits", help="where each Blender's results are")
    table.add_argument("--only", default="", help="edits whose names contain this")
    pairs = verbs.add_parser("pairs", help="random pairs of edits")
    pairs.add_argument("--count", type=int, default=20000)
    pairs.add_argument("--seed", type=int, default=0)
    pairs.add_argument("--processes", type=int, default=2)
    pairs.add_argument("--methods", action="store_true", help="choose methods too, which may leave their keys")
    pairs.add_argument("--between", action="store_true", help="between the edits do what happens in a window")
    pairs.add_argument("--case", help="SEED/NUMBER: do that pair, and its edits alone")
    pairs.add_argument("--shown", type=int, default=40, help="groups of lost pairs that are printed")
    pairs.add_argument("--share", type=int, help=argparse.SUPPRESS)
    pairs.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.verb == "table":
        return _table(arguments)
    if arguments.case:
        return _case(arguments)
    return _share(arguments) if arguments.results else _pairs(arguments)


def _table(arguments: argparse.Namespace) -> int:
    animation = registered()
    import bpy

    from tools import edit_table

    rows = edit_table.run(animation, arguments.only)
    if arguments.only:
        print(edit_table.markdown({bpy.app.version_string: rows}))
        return 0
    arguments.data.mkdir(parents=True, exist_ok=True)
    version = ".".join(map(str, bpy.app.version[:2]))
    (arguments.data / f"{version}.json").write_text(json.dumps(rows, indent=1))
    found = {file.stem: json.loads(file.read_text()) for file in sorted(arguments.data.glob("*.json"))}
    text = edit_table.markdown(found)
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text)
    return int(any(map(edit_table.is_bad, rows)))


def _case(arguments: argparse.Namespace) -> int:
    animation = registered()
    from tools.edit_pairs import Stage, run_pair

    seed, number = map(int, arguments.case.split("/"))
    stage = Stage(animation)
    for only in (None, 0, 1):
        result = run_pair(stage, seed, number, arguments.methods, only, arguments.between)
        print(f"{result.setting}: {'; '.join(result.story)}")
        print(f"    {result.worst} {result.error}")
        for text in (*result.verdict.texts, *(f"note: {note}" for note in result.verdict.notes)):
            print(f"    {text}")
    return 0


def _share(arguments: argparse.Namespace) -> int:
    """Run this process's share of the pairs; write a line of JSON for each that is not kept."""
    animation = registered()
    from tools.edit_judge import COUNTED
    from tools.edit_pairs import Stage, run_pair

    stage = Stage(animation)
    with arguments.results.open("w") as file:
        for number in range(arguments.share, arguments.count, arguments.processes):
            result = run_pair(stage, arguments.seed, number, arguments.methods, between=arguments.between)
            if result.worst == "kept":
                continue
            # Losses of a single edit are not counted for pairs.
            places = (0, 1) if result.worst in COUNTED else ()
            alone = [run_pair(stage, arguments.seed, number, arguments.methods, only) for only in places]
            line = {
                "case": result.case,
                "setting": str(result.setting),
                "size": result.size,
                "kinds": result.kinds,
                "story": result.story,
                "worst": result.worst,
                "error": result.error,
                "texts": result.verdict.texts,
                "notes": result.verdict.notes,
                "alone": [each.worst for each in alone],
            }
            file.write(json.dumps(line) + "\n")
    return 0


def _pairs(arguments: argparse.Namespace) -> int:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{share}.jsonl" for share in range(arguments.processes)]
        command = [sys.executable, __file__, "pairs", f"--count={arguments.count}", f"--seed={arguments.seed}"]
        command += [f"--processes={arguments.processes}", *(["--methods"] if arguments.methods else [])]
        command += ["--between"] if arguments.between else []
        running = [
            subprocess.Popen([*command, f"--share={share}", f"--results={file}"], stdout=subprocess.DEVNULL)
            for share, file in enumerate(files)
        ]
        status = max(process.wait() for process in running)
        if status:
            print("a process failed", file=sys.stderr)
            return 2
        results = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    seconds = time.perf_counter() - start
    _print(results, arguments)
    print(f"{arguments.count / seconds:.0f} pairs a second", file=sys.stderr)
    return int(any(result["worst"] in BAD for result in results))


def _print(results: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    worst = Counter(result["worst"] for result in results)
    words = ", ".join(f"{count:,} {name}" for name, count in worst.most_common())
    print(f"{arguments.count:,} pairs of seed {arguments.seed}: {arguments.count - len(results):,} kept, {words}")
    counted = [result for result in results if result["worst"] in BAD]
    together = [result for result in counted if not set(BAD) & set(result["alone"])]
    print(f"{len(counted):,} pairs lose something; of these {len(together):,} only together, neither edit alone")
    print(f"with a note in the report: {sum(bool(result['notes']) for result in counted):,}")
    alone: Counter[str] = Counter()
    example: dict[str, str] = {}
    for result in counted:
        for kind, verdict in zip(result["kinds"], result["alone"], strict=False):
            alone[kind] += verdict in BAD
            if verdict in BAD:
                example.setdefault(kind, result["case"])
    print("\nKinds of which one edit alone loses:")
    for kind, count in alone.most_common():
        if count:
            print(f"  {count:6,}  {kind}, as in --case {example[kind]}")
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in together:
        groups.setdefault(tuple(result["kinds"]), []).append(result)
    print("\nPairs of kinds that lose only together, smallest cases first:")
    for kinds, found in sorted(groups.items(), key=lambda group: -len(group[1]))[: arguments.shown]:
        print(f"  {len(found):6,}  {', then '.join(kinds)}")
        for result in sorted(found, key=lambda result: result["size"])[:SHOWN]:
            first = result["error"] or result["texts"][0]
            first += f" (told: {result['notes'][0]})" if result["notes"] else ""
            print(f"            --case {result['case']}  {result['setting']}: {'; '.join(result['story'])}: {first}")


if __name__ == "__main__":
    tcb.end_process(main())
