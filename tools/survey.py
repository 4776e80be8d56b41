# SPDX-License-Identifier: GPL-3.0-or-later
"""Process a folder of .blend and .3ds files with all functions of the extension, and report the differences.

    python tools/survey.py FOLDER [--seconds 120] [--page docs/measurements/survey.md]

All keyed properties of a .blend file are enabled with Preserve Motion. They are baked as samples, curves and handles,
and restored each time. Then TCB is removed. If a file already contains TCB data, the data is removed first. The baked
scene is exported as .3ds and imported again. Every F-curve of the file is compared bit for bit, including its values. A
.3ds file is imported, played with samples and with handles, exported, and imported again. Each file runs in a separate
process with a time limit. `sources.csv` in the folder lists the sources of its subfolders: folder, repository, commit,
license. With --page, the tables are written into that page. The script needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import json
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb
from tools.tables import filled, number, table

Float64Array = npt.NDArray[np.float64]
Row = dict[str, Any]

MAX_FRAMES = 41
"""Maximum number of frames at which the values of a curve, and the matrices of a scene, are compared."""
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


def module(name: str) -> Any:
    return importlib.import_module(f"{tcb.PACKAGE}.{name}")


# One file


def survey(path: Path) -> Row:
    """Return the row of a file."""
    tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
    row: Row = {"faults": []}
    of_file = of_blend if path.suffix.lower() == ".blend" else of_three_ds
    try:
        of_file(path.absolute(), row)
    except Exception as error:
        traceback.print_exc()
        row["faults"].append(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}")
    return row


class Curves:
    """All F-curves of the local actions in the open file, to the last bit, and their values."""

    def __init__(self) -> None:
        import bpy

        from tests.animation.curves import bags_in, bits

        self.states: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.values: dict[tuple[Any, ...], Float64Array] = {}
        for action in bpy.data.actions:
            if action.library is not None:
                continue
            for slot, bag in enumerate(bags_in(action)):
                for fcurve in bag.fcurves:
                    # A file may have two curves for one channel.
                    name = (action.name, slot, fcurve.data_path, fcurve.array_index)
                    name = (*name, sum(other[:4] == name for other in self.states))
                    self.states[name] = bits(fcurve)
                    self.values[name] = values_of(fcurve)

    @property
    def keys(self) -> int:
        return sum(state["keys"] for state in self.states.values())

    def differing(self, other: Curves, identities: bool = True) -> list[str]:
        """Return the names of curves that differ, with the names of the differing attributes."""
        from tests.animation.curves import without_identities

        differences = [f"{name}: in one only" for name in self.states.keys() ^ other.states.keys()]
        for name in self.states.keys() & other.states.keys():
            old, new = self.states[name], other.states[name]
            if not identities:
                old, new = without_identities([old, new])
            if old != new:
                attributes = ", ".join(attribute for attribute in old if old[attribute] != new[attribute])
                differences.append(f"{name}: {attributes}")
        return sorted(differences)

    def count_of_other_values(self, other: Curves) -> int:
        return sum(
            name not in other.values or not np.array_equal(values, other.values[name], equal_nan=True)
            for name, values in self.values.items()
        )


def values_of(fcurve: Any) -> Float64Array:
    start, end = fcurve.range()
    return np.array([fcurve.evaluate(frame) for frame in np.linspace(start - 1.0, end + 1.0, MAX_FRAMES).tolist()])


def of_blend(path: Path, row: Row) -> None:
    import bpy

    animation = module("animation")
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    faults: list[str] = row["faults"]
    datablocks = [datablock for datablock in animation.of_file() if datablock.library is None]
    remove(datablocks)
    before = Curves()
    row |= {"curves": len(before.states), "keys": before.keys}

    enabled = animation.enable_many(dict.fromkeys(datablocks))
    row["looks"] = f"{enabled.looks_changed} of {enabled.looks_kept}"
    refused = Counter(str(refusal) for refusal in enabled.errors)
    after = Curves()
    note_difference(faults, "enable", before.differing(after, identities=False))
    tracks_of = module("cli.tracks").tracks_of
    datablocks = [item for item in datablocks if any(track.enabled for track in tracks_of(item))]
    restored: list[str] = []
    other_values = before.count_of_other_values(after)
    for output in ("SAMPLES", "CURVES", "HANDLES"):
        report = animation.bake_many(datablocks, animation.Options(output=output))
        row["tracks"] = report.tracks
        refused |= Counter(str(refusal) for refusal in report.errors)
        if output == "SAMPLES":
            export = exported(row)
        for datablock in datablocks:
            with contextlib.suppress(animation.AnimationError):
                animation.restore(datablock)
        after = Curves()
        differences = before.differing(after, identities=False)
        note_difference(faults, f"restore of {output.lower()}", differences)
        restored += differences
        other_values = max(other_values, before.count_of_other_values(after))
    remove(datablocks)
    after = Curves()
    removed = before.differing(after)
    note_difference(faults, "remove", removed)
    actions: Any = bpy.data.actions
    removed += [f"{action.name}: table" for action in actions if "tcb_animation" in action]
    other_values = max(other_values, before.count_of_other_values(after))
    row |= {"refused": len(refused), "refusals": sorted(refused), "played": other_values}
    row |= {"restored": len(set(restored)), "removed": len(removed)}
    if export:
        content, before_export, frames = export
        reimported = matrices(imported(content, "SAMPLES")[0], frames)
        # Names in the file have at most ten characters. Objects with longer names are omitted.
        pairs = [(before_export[name], reimported[name]) for name in before_export.keys() & reimported.keys()]
        place, degrees = deviations(pairs)
        row |= {"exported": f"{len(pairs)} of {row['nodes']}", "off": number(place), "degrees": number(degrees)}


def remove(datablocks: Sequence[Any]) -> None:
    """Remove TCB from each datablock that can be changed."""
    animation = module("animation")
    for datablock in datablocks:
        with contextlib.suppress(animation.AnimationError):
            animation.remove(datablock)


def note_difference(faults: list[str], step: str, differing: Sequence[str]) -> None:
    """Add a text with the number of curves that differ after a step, and the first such curve."""
    if differing:
        faults.append(f"{step}: {len(differing)} differ, such as {differing[0]}")


def exported(row: Row) -> tuple[bytes, dict[str, Float64Array], list[float]] | None:
    """Export the open scene, and return the content of the file and the matrices of objects at some frames."""
    import bpy

    exporting, three_ds = module("exchange.exporting.exporter"), module("formats.three_ds")
    scene: Any = bpy.context.scene
    frames = frames_between(scene.frame_start, scene.frame_end)
    try:
        written, report = exporting.export_scene(scene.objects, scene, exporting.ExportOptions())
        content = three_ds.write(written)
    except (module("animation").AnimationError, three_ds.ThreeDSError) as error:
        row["faults"].append(f"export: {error}")
        return None
    row |= {"nodes": len(written.nodes), "left": list(map(str, report.notes))}
    return content, matrices(scene, frames), frames


def imported(content: bytes, output: str) -> tuple[Any, Any]:
    """Import into an empty file, and return its scene and the report."""
    import bpy

    importing, three_ds = module("exchange.importing.importer"), module("formats.three_ds")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    read = three_ds.read(content)
    options = importing.ImportOptions(output=output)
    report = importing.import_files({"": read}, scene, scene.collection, options)
    module("exchange.importing.playback_range").set_playback_range(scene, [read], importing.Conversion(), None)
    return scene, report


# Scenes


def frames_between(start: float, end: float) -> list[float]:
    """Return all whole frames, or `MAX_FRAMES` of them if there are more."""
    return [float(frame) for frame in np.unique(np.rint(np.linspace(start, max(start, end), MAX_FRAMES)))]


def matrices(scene: Any, frames: Sequence[float]) -> dict[str, Float64Array]:
    """Return the world matrices of the scene's objects, shape (frames, 4, 4), by name.

    A .3ds file contains directions only for spotlights, so other lights are omitted.
    """
    items = [item for item in scene.objects if item.type != "LIGHT" or item.data.type == "SPOT"]
    matrices_by_name: dict[str, list[Any]] = {item.name: [] for item in items}
    with depending_on(items, scene):
        for frame in frames:
            scene.frame_set(int(frame))
            for item in items:
                matrices_by_name[item.name].append(np.array(item.matrix_world))
    return {name: np.array(of_frames) for name, of_frames in matrices_by_name.items()}


@contextlib.contextmanager
def depending_on(items: Sequence[Any], scene: Any) -> Iterator[None]:
    """Make a visible object depend on the given objects, because Blender evaluates hidden objects only if needed."""
    import bpy

    probe = bpy.data.objects.new("Probe", None)
    scene.collection.objects.link(probe)
    for item in items:
        constraint: Any = probe.constraints.new("COPY_TRANSFORMS")
        constraint.target = item
    try:
        yield
    finally:
        bpy.data.objects.remove(probe)


def deviations(pairs: Sequence[tuple[Float64Array, Float64Array]]) -> tuple[float, float]:
    """Return the largest difference in origins, relative to the size of the scene, and in axes, in degrees."""
    if not pairs:
        return 0.0, 0.0
    origins = np.concatenate([one[:, :3, 3] for one, _ in pairs])
    size = max(float(np.ptp(origins, axis=0).max()), float(np.abs(origins).max()), 1e-6)
    distance = max(float(np.linalg.norm(one[:, :3, 3] - two[:, :3, 3], axis=1).max()) for one, two in pairs)
    angle = max(float(angles_between(one, two).max()) for one, two in pairs)
    return distance / size, angle


def angles_between(one: Float64Array, two: Float64Array) -> Float64Array:
    """Return the angles between the rotations of matrices in degrees, or 0 if a matrix is singular."""
    left, right = rotations_of(one), rotations_of(two)
    turn = left @ right.transpose(0, 2, 1)
    # For small angles the skew part is more accurate than the trace.
    skew = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]])
    angles = np.degrees(np.arctan2(np.linalg.norm(skew, axis=0), np.trace(turn, axis1=1, axis2=2) - 1.0))
    is_singular = np.minimum(*(np.abs(np.linalg.det(axes[:, :3, :3])) for axes in (one, two))) < 1e-9
    return np.asarray(np.where(is_singular, 0.0, angles), dtype=np.float64)


def rotations_of(matrices: Float64Array) -> Float64Array:
    """Return the nearest rotations of matrices without reflection, shape (n, 3, 3)."""
    left, _, right = np.linalg.svd(matrices[:, :3, :3])
    turn = left @ right
    return np.asarray(turn * np.sign(np.linalg.det(turn))[:, None, None], dtype=np.float64)


# Files of 3D Studio


def of_three_ds(path: Path, row: Row) -> None:
    three_ds = module("formats.three_ds")
    content = path.read_bytes()
    read = three_ds.read(content)
    tracks = [track for node in read.nodes for track in node.tracks]
    row |= {"tracks": len(tracks), "keys": sum(len(track.frames) for track in tracks)}
    scene, _ = imported(content, "HANDLES")
    by_handles = matrices(scene, frames_between(scene.frame_start, scene.frame_end))
    _, report = imported(content, "SAMPLES")
    export = exported(row)
    row["read"] = list(map(str, report.notes))
    if export is None:
        return
    written, by_samples, frames = export
    place, degrees = deviations([(by_samples[name], matrix) for name, matrix in by_handles.items()])
    row |= {"handles_place": number(place), "handles_degrees": number(degrees)}
    changed_tracks = rewritten(read, three_ds.read(written))
    row |= {"rewritten": len(changed_tracks), "rewritten_tracks": changed_tracks}

    reimported = matrices(imported(written, "SAMPLES")[0], frames)
    note_difference(
        row["faults"], "objects of the file and of the export", sorted(by_samples.keys() ^ reimported.keys())
    )
    place, degrees = deviations(
        [(matrix, reimported[name]) for name, matrix in by_samples.items() if name in reimported]
    )
    row |= {"off": number(place), "degrees": number(degrees)}


def rewritten(read: Any, written: Any) -> list[str]:
    """Return the tracks of the file that were not written back bit for bit."""
    before, after = (
        {
            # A camera and its target share one name.
            (node.kind, node.name.decode("latin-1"), track.kind): [
                array.tobytes() for array in (track.frames, track.values, track.parameters)
            ]
            for node in scene.nodes
            for track in node.tracks
        }
        for scene in (read, written)
    )
    return [" ".join(name) for name, bits in before.items() if after.get(name) != bits]


# All files


def rows_of(folder: Path, seconds: float) -> list[Row]:
    """Survey each file of the folder in a separate process."""
    suffixes = (".blend", ".3ds")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        answer = Path(temporary) / "row.json"
        for path in sorted(file for file in folder.rglob("*") if file.suffix.lower() in suffixes):
            answer.unlink(missing_ok=True)
            command = [sys.executable, __file__, str(path), "--row", str(answer)]
            row: Row = {"faults": []}
            try:
                status = subprocess.run(command, stdout=sys.stderr, timeout=seconds).returncode
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
        texts[name] = table(["folder", "files", *heads.values()], list(by_folder(of_kind, heads)))
    differing = [[row["file"], "; ".join(map(str, row["faults"])).replace("|", "\\|")] for row in rows if row["faults"]]
    texts["differing"] = table(["file", "what differs"], differing) if differing else "No file."
    return texts


def by_folder(rows: Sequence[Row], heads: Mapping[str, str]) -> Iterator[list[object]]:
    """Yield the cells of each folder with files, with the sum of counts and the maximum of errors."""
    rows_by_folder: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_folder.setdefault(row["file"].rpartition("/")[0].partition("/")[0], []).append(row)
    for folder, members in rows_by_folder.items():
        yield [
            folder,
            len(members),
            *(_gathered(head, [row[head] for row in members if head in row]) for head in heads),
        ]


def _gathered(head: str, contents: Sequence[Any]) -> object:
    """Return the sum of counts, or the largest error."""
    if head in ERRORS:
        return max(contents, key=float, default="")
    if any(isinstance(content, str) for content in contents):
        pairs = [list(map(int, content.split(" of "))) for content in contents]
        return " of ".join(str(sum(numbers)) for numbers in zip(*pairs, strict=True))
    return sum(contents)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each file (default: 120)")
    parser.add_argument("--page", type=Path, help="page for the tables, instead of standard output")
    parser.add_argument("--json", type=Path, help="file for all findings, with refusals and notes")
    parser.add_argument("--row", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        given.row.write_text(json.dumps(survey(given.folder)))
        tcb.end_process(0)
    rows = rows_of(given.folder, given.seconds)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    text = given.page.read_text(encoding="utf-8") if given.page else ""
    for name, content in tables(given.folder, rows).items():
        if given.page:
            text = filled(text, name, content)
        else:
            print(f"{content}\n")
    if given.page:
        given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
