# SPDX-License-Identifier: GPL-3.0-or-later
"""Process one file with all functions of the extension, for tools/survey.py: `surveyed_file.py FILE ROW.json`.

The row contains counts, errors and faults by the keys of the tables in tools/survey.py.
"""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.animation.curves import bags_in, bits, without_identities
from tools import tcb
from tools.benchmarks.checkout import animation, module
from tools.scene_matrices import deviations, matrices
from tools.tables import number

exporter, importer = module("exchange.exporting.exporter"), module("exchange.importing.importer")
three_ds, command_tracks, steps = module("formats.three_ds"), module("cli.dry_run"), module("animation.steps")

Float64Array = npt.NDArray[np.float64]
Row = dict[str, Any]

MAX_FRAMES = 41
"""Maximum number of frames at which the values of a curve, and the matrices of a scene, are compared."""
MAX_SAMPLES = 1_000_000
"""Maximum number of samples of an export."""


def survey(path: Path) -> Row:
    """Return the row of a file."""
    row: Row = {"faults": []}
    survey_kind = survey_blend if path.suffix.lower() == ".blend" else survey_three_ds
    try:
        survey_kind(path.absolute(), row)
    except Exception as error:
        traceback.print_exc()
        row["faults"].append(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}")
    return row


def survey_blend(path: Path, row: Row) -> None:
    """Enable, bake, restore, export and remove TCB in a .blend file, and add the differences to the row."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    faults: list[str] = row["faults"]
    datablocks = [datablock for datablock in animation.of_file() if datablock.library is None]
    remove(datablocks)
    before = Curves()
    row |= {"curves": len(before.states), "keys": before.keys}

    enabled = animation.enable_many(dict.fromkeys(datablocks))
    row["looks"] = f"{enabled.looks_changed} of {enabled.looks_kept}"
    refusals = set(map(str, enabled.errors))
    after = Curves()
    note_difference(faults, "enable", before.differing(after, identities=False))
    datablocks = [item for item in datablocks if any(track.enabled for track in command_tracks.tracks_of(item))]
    restored: set[str] = set()
    other_values = before.count_of_other_values(after)
    for output in ("SAMPLES", "CURVES", "HANDLES"):
        report = animation.bake_many(datablocks, animation.Options(output=output))
        row["tracks"] = report.tracks
        refusals |= set(map(str, report.errors))
        if output == "SAMPLES":
            export = exported(row)
        for datablock in datablocks:
            with contextlib.suppress(animation.AnimationError):
                animation.restore(datablock)
        after = Curves()
        differences = before.differing(after, identities=False)
        note_difference(faults, f"restore of {output.lower()}", differences)
        restored.update(differences)
        other_values = max(other_values, before.count_of_other_values(after))
    remove(datablocks)
    after = Curves()
    removed = before.differing(after)
    note_difference(faults, "remove", removed)
    actions: Any = bpy.data.actions
    removed += [f"{action.name}: table" for action in actions if "tcb_animation" in action]
    other_values = max(other_values, before.count_of_other_values(after))
    row |= {"refused": len(refusals), "played": other_values, "restored": len(restored), "removed": len(removed)}
    if export:
        scene = imported(export.content, "SAMPLES")
        reimported = matrices(scene, export.frames)
        # Names in the file have at most ten characters. Objects with longer names are omitted.
        names = export.matrices.keys() & reimported.keys()
        distance, degrees = deviations([(export.matrices[name], reimported[name]) for name in names])
        row |= {"exported": f"{len(names)} of {row['nodes']}", "off": number(distance), "degrees": number(degrees)}


def survey_three_ds(path: Path, row: Row) -> None:
    """Import, play, export and import a .3ds file, and add the differences to the row."""
    content = path.read_bytes()
    file = three_ds.read(content)
    tracks = [track for node in file.nodes for track in node.tracks]
    row |= {"tracks": len(tracks), "keys": sum(len(track.frames) for track in tracks)}
    scene = imported(content, "HANDLES")
    by_handles = matrices(scene, frames_between(scene.frame_start, scene.frame_end))
    imported(content, "SAMPLES")
    export = exported(row)
    if export is None:
        return
    by_samples = export.matrices
    distance, degrees = deviations([(by_samples[name], matrix) for name, matrix in by_handles.items()])
    row |= {"handles_place": number(distance), "handles_degrees": number(degrees)}
    row["rewritten"] = rewritten(file, three_ds.read(export.content))

    scene = imported(export.content, "SAMPLES")
    reimported = matrices(scene, export.frames)
    in_one_only = sorted(by_samples.keys() ^ reimported.keys())
    note_difference(row["faults"], "objects of the file and of the export", in_one_only)
    in_both = [(matrix, reimported[name]) for name, matrix in by_samples.items() if name in reimported]
    distance, degrees = deviations(in_both)
    row |= {"off": number(distance), "degrees": number(degrees)}


def remove(datablocks: Sequence[Any]) -> None:
    """Remove TCB from each datablock that can be changed."""
    for datablock in datablocks:
        with contextlib.suppress(animation.AnimationError):
            animation.remove(datablock)


def note_difference(faults: list[str], step: str, differing: Sequence[str]) -> None:
    """Add a text with the number of curves that differ after a step, and the first such curve."""
    if differing:
        faults.append(f"{step}: {len(differing)} differ, such as {differing[0]}")


class Curves:
    """All F-curves of the local actions in the open file, to the last bit, and their values."""

    def __init__(self) -> None:
        self.states: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.values: dict[tuple[Any, ...], Float64Array] = {}
        for action in bpy.data.actions:
            if action.library is not None:
                continue
            for slot, bag in enumerate(bags_in(action)):
                for fcurve in bag.fcurves:
                    # A file may have two curves for one channel.
                    channel = (action.name, slot, fcurve.data_path, fcurve.array_index)
                    name = (*channel, sum(other[:4] == channel for other in self.states))
                    self.states[name] = bits(fcurve)
                    self.values[name] = _values_of(fcurve)

    @property
    def keys(self) -> int:
        return sum(state["keys"] for state in self.states.values())

    def differing(self, other: Curves, identities: bool = True) -> list[str]:
        """Return the names of curves that differ, with the names of the differing attributes."""
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
        """Return the number of curves that are missing from the other file, or have different values there."""
        return sum(
            name not in other.values or not np.array_equal(values, other.values[name], equal_nan=True)
            for name, values in self.values.items()
        )


def _values_of(fcurve: Any) -> Float64Array:
    start, end = fcurve.range()
    return np.array([fcurve.evaluate(frame) for frame in np.linspace(start - 1.0, end + 1.0, MAX_FRAMES).tolist()])


class Export(NamedTuple):
    """An exported scene."""

    content: bytes
    """The content of the .3ds file."""
    matrices: dict[str, Float64Array]
    """The matrices of the objects in Blender, by name."""
    frames: list[float]
    """The frames of the matrices."""


def exported(row: Row) -> Export | None:
    """Export the open scene. If that fails, add the fault to the row and return None."""
    scene: Any = bpy.context.scene
    frames = frames_between(scene.frame_start, scene.frame_end)
    try:
        export = exporter.export_steps(scene.objects, scene, exporter.Conversion(), MAX_SAMPLES)
        file, _ = steps.run_steps(export, None)
        content = three_ds.write(file)
    except (animation.AnimationError, three_ds.ThreeDSError) as error:
        row["faults"].append(f"export: {error}")
        return None
    row["nodes"] = len(file.nodes)
    return Export(content, matrices(scene, frames), frames)


def imported(content: bytes, output: str) -> Any:
    """Import into an empty file, and return its scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    file = three_ds.read(content)
    options = importer.ImportOptions(output=output)
    steps.run_steps(importer.import_steps({"": file}, scene, scene.collection, options), None)
    importer.set_playback_range(scene, [file], importer.Conversion(), None)
    return scene


def frames_between(start: float, end: float) -> list[float]:
    """Return all whole frames, or `MAX_FRAMES` of them if there are more."""
    return [float(frame) for frame in np.unique(np.rint(np.linspace(start, max(start, end), MAX_FRAMES)))]


def rewritten(before: Any, after: Any) -> int:
    """Return the number of tracks of a file that were not written back bit for bit."""
    tracks_before, tracks_after = (
        {
            # A camera and its target share one name.
            (node.kind, node.name.decode("latin-1"), track.kind): [
                array.tobytes() for array in (track.frames, track.values, track.parameters)
            ]
            for node in file.nodes
            for track in node.tracks
        }
        for file in (before, after)
    )
    return sum(tracks_after.get(name) != arrays for name, arrays in tracks_before.items())


if __name__ == "__main__":
    file, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(survey(file)))
    tcb.end_process(0)
