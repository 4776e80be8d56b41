# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill the command at random moments while it saves, and determine the state of each file only from `--json`.

    python tools/kill_saving.py [--shots 40] [--kills 30] [--folder DIR] [COMMAND…]

`COMMAND` starts the command, such as `blender --command tcb`. The default is this Python with tools/tcb.py. Needs bpy
to create shots with tracks without TCB, locked tracks, missing libraries, NLA strips and damaged files. Prints a
Markdown table with the number of files for each status in the last run, the codes of their errors, and the results that
were known when runs were killed. Exits with 1 if a file was neither unchanged nor complete.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VERTICES = 400_000
"""The size of a mesh in each shot, large enough that writing takes a while."""


def make_shots(folder: Path, count: int) -> list[Path]:
    """Save the shots, in two subfolders."""
    import bpy

    shots = []
    for number in range(count):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        collection: Any = bpy.data.scenes[0].collection
        mesh = bpy.data.meshes.new("Large")
        mesh.vertices.add(VERTICES)
        mesh.use_fake_user = True
        for name in ("Hips", "Head"):
            item = bpy.data.objects.new(name, None)
            collection.objects.link(item)
            for frame, place in ((1, 0.0), (10, 3.0 + number), (25, -1.0), (40, 1.0)):
                item.location = (place, 0.5 * place, 0.0)
                item.keyframe_insert("location", frame=frame)
        kind = ("plain", "locked", "strips", "linked", "plain", "empty", "damaged", "plain")[number % 8]
        shot = folder / f"seq{number % 2}" / f"shot{number:02d}_{kind}.blend"
        shot.parent.mkdir(parents=True, exist_ok=True)
        head: Any = bpy.data.objects["Head"]
        if kind == "locked":
            # The command refuses a locked track, and bakes the others of its file.
            from tests.animation.curves import fcurves

            for fcurve in fcurves(head):
                fcurve.lock = True
        elif kind == "strips":
            data = head.animation_data
            data.nla_tracks.new().strips.new("Strip", 1, data.action)
            data.action = None
        elif kind == "empty":
            for item in (head, bpy.data.objects["Hips"]):
                item.animation_data_clear()
        bpy.ops.wm.save_as_mainfile(filepath=str(shot))
        if kind == "linked":
            library = folder / "library.blend"
            bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
            libraries: Any = bpy.data.libraries
            with libraries.load(str(library), link=True) as (_there, here):
                here.objects = ["Hips"]
            collection.objects.link(here.objects[0])
            bpy.ops.wm.save_as_mainfile(filepath=str(shot))
            library.unlink()
        elif kind == "damaged":
            shot.write_bytes(shot.read_bytes()[: 200 + number])
        shots.append(shot)
    return shots


@dataclass
class Seen:
    """Hold observations of the runs."""

    exits: Counter[int] = field(default_factory=Counter)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The last line of each file."""
    told: Counter[str] = field(default_factory=Counter)
    """Files with a result line when their run was killed, and files without one by state."""
    broken: list[str] = field(default_factory=list)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""


def is_whole(file: Path) -> bool:
    """Check that Blender opens the file, and that tracks without TCB are baked."""
    import bpy

    try:
        bpy.ops.wm.open_mainfile(filepath=str(file), load_ui=False, use_scripts=False)
    except RuntimeError:
        return False
    return bool(bpy.data.objects)


def run(command: Sequence[str], folder: Path, moment: tuple[int, float] | None, seen: Seen) -> bool:
    """Run the command on all shots, kill it this many seconds into a save, and return whether it was killed."""
    output = folder / "baked"
    options = [
        "--enable",
        "--plain",
        "--output",
        f"{output}/",
        "--relative-to",
        str(folder / "shots"),
        "--json",
        "--skip-done",
    ]
    call = [*command, "bake", str(folder / "shots" / "**" / "*.blend"), *options]
    before = {file: digest(file) for file in output.rglob("*.blend")}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(call, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        killed, savings = False, set()
        while moment is not None and process.poll() is None and not killed:
            savings |= {file.name for file in output.rglob(".*.blend@")}
            if len(savings) >= moment[0]:
                time.sleep(moment[1])
                os.killpg(process.pid, signal.SIGKILL)
                killed = True
            time.sleep(0.002)
        status = process.wait()
        out.seek(0)
        lines = [json.loads(line) for line in out if line.startswith("{") and line.endswith("}\n")]
    seen.exits[status] += 1
    seen.lines |= {line["file"]: line for line in lines}
    told = {line["output"] for line in lines if line["output"]}
    for file in output.rglob("*.blend"):
        if file.name.startswith("."):
            continue
        if str(file) in told:
            seen.told["a line"] += 1
        elif before.get(file) == digest(file):
            seen.told["no line, as it was"] += 1
        elif is_whole(file):
            seen.told["no line, complete"] += 1
        else:
            seen.broken.append(str(file))
    return killed


def table(seen: Seen) -> str:
    """Return the results of the last run as Markdown."""
    kinds: dict[tuple[str, str, str], int] = Counter(
        (
            line["status"],
            ", ".join(sorted({error["code"] for error in line["errors"]})),
            "yes" if line["output"] else "no",
        )
        for line in seen.lines.values()
    )
    rows = ["| status | codes of errors | result | files |", "|---|---|---|---|"]
    rows += [
        f"| `{status}` | {codes} | {result} | {count} |" for (status, codes, result), count in sorted(kinds.items())
    ]
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill the command while it saves, and report the state of each file.")
    parser.add_argument("--shots", type=int, default=40)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--folder", type=Path, help="default: a temporary one")
    parser.add_argument("command", nargs="*", default=[sys.executable, str(ROOT / "tools" / "tcb.py")])
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="tcb-kill-"))
    shots = make_shots(folder / "shots", given.shots)
    chance, seen, kills = random.Random(1), Seen(), 0
    for _ in range(3 * given.kills):
        if kills == given.kills:
            break
        if not run(given.command, folder, (chance.randint(1, 4), chance.uniform(0.0, 0.05)), seen):
            # All files are done, so the results are created again.
            for file in (folder / "baked").rglob("*"):
                if file.is_file():
                    file.unlink()
            continue
        kills += 1
    run(given.command, folder, None, seen)
    left = [str(file) for file in (folder / "baked").rglob(".*") if file.name.endswith((".blend", ".blend@"))]
    print(f"{len(shots)} shots, {kills} kills; exit statuses: {dict(seen.exits)}; half-written files left: {len(left)}")
    print(f"results when a run ended: {dict(seen.told)}; broken: {seen.broken}")
    print(table(seen))
    return int(bool(seen.broken))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    status = main()
    sys.stdout.flush()
    os._exit(status)
