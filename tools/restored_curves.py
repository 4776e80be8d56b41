# SPDX-License-Identifier: GPL-3.0-or-later
"""Import FBX files with Blender, restore their curves, and compare the motion with the PyPI package `ufbx`.

    python tools/restored_curves.py FILE… [--exact] [--seconds 120]

Each importer of this Blender imports the files. The motion is compared at eighths of the segments between the file's
keys. Prints one row per file and importer. Deviations are fractions of the range of a property, or degrees. Each import
runs in a separate process. The script needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp.rotations import angle_between
from tools import tcb
from tools.benchmarks.checkout import module
from tools.tables import number

items, matching, restoring = (
    module(f"animation.file_curves.{name}") for name in ("objects_and_bones", "match_names_and_poses", "restore_curves")
)

Float64Array = npt.NDArray[np.float64]
Reader = Callable[[int, int, str, Float64Array], Float64Array | None]
"""A function of the take, node, property and times. It returns None for a property that it can't evaluate."""
ROUNDING = 1e-6
"""Errors up to this fraction of the range, or ten times this angle in radians, are rounding, as in Restore Curves."""
IMPORTERS = {"FBX (C++)": "wm.fbx_import", "FBX (Python)": "import_scene.fbx"}
MIN_RELATIVE_RANGE = 1e-3
"""The smallest range, as a fraction of the largest value. It replaces the range of properties that vary less."""
MIN_RANGE = 1e-4
"""The smallest range in units. It replaces smaller ranges."""
HEADS = (
    *("file", "importer", "tracks", "keys of the file", "keys after"),
    *("imported, of the range", "degrees"),
    *("exact tracks", "off, of the range", "degrees"),
    *("fitted tracks", "off more than reported", "off, of the range", "degrees"),
    "refused",
)


def ufbx_reader(path: Path, file: Any) -> Reader:
    """Return a reader that evaluates local transforms with ufbx."""
    import ufbx

    scene = ufbx.load_file(str(path))
    # The elements of temporary lists are freed with the lists.
    stacks, nodes = list(scene.anim_stacks), list(scene.nodes)

    def evaluate(take: int, node: int, name: str, times: Float64Array) -> Float64Array | None:
        named_stacks = [stack for stack in stacks if stack.name == file.takes[take].name]
        named_nodes = [each for each in nodes if each.name == file.nodes[node].name]
        if not named_stacks or len(named_nodes) != 1:
            return None
        anim = named_stacks[0].anim
        vectors = (getattr(ufbx.evaluate_transform(anim, named_nodes[0], time), name) for time in times.tolist())
        components = "wxyz" if name == "rotation" else "xyz"
        return np.array([[getattr(vector, component) for component in components] for vector in vectors])

    return evaluate


class Comparison(NamedTuple):
    """A property of an imported object or bone, and its values according to the other reader."""

    item: Any
    name: str
    channels: Any
    frames: Float64Array
    expected: Float64Array
    range: float | None
    """The range of the values, or None for rotations."""
    file_keys: int

    @property
    def track(self) -> tuple[str, str]:
        """Return the name of the object and the path of the property."""
        return self.item.owner.name, self.item.path(self.name)

    @property
    def fcurves(self) -> list[bpy.types.FCurve]:
        return [fcurve for fcurve in self.channels if fcurve.data_path == self.track[1]]

    @property
    def keys(self) -> int:
        """Return the number of frames with keys."""
        return len({point.co.x for fcurve in self.fcurves for point in fcurve.keyframe_points})

    def deviation(self) -> float:
        """Return the deviation of Blender's playback, as a fraction of the range or in degrees."""
        fcurves = {self.item.path(self.name): {fcurve.array_index: fcurve for fcurve in self.fcurves}}
        played = self.item.played(self.name, fcurves, self.frames)
        if self.range is None:
            return float(np.degrees(angle_between(self.expected, played)).max(initial=0.0))
        return float(np.abs(self.expected - played).max(initial=0.0)) / self.range


def comparisons(file: Any, matched: Collection[Any], reader: Reader) -> Iterator[Comparison]:
    """Yield a comparison for each matching property that the other reader can evaluate."""
    for action in matched:
        for matched_item in (matched_item for matched_item in action.matches if matched_item.misfit is None):
            for name, track in matched_item.motion.tracks.items():
                times = comparison_times(track.times)
                values: Float64Array | None
                if name == "translation" and track is not action.take.motions[matched_item.node].tracks[name]:
                    # The importer made the pivot the origin, which the other reader does not do.
                    values = track.evaluate(times)
                else:
                    values = reader(file.takes.index(action.take), matched_item.node, name, times)
                if values is None:
                    continue
                expected = matched_item.conversion.converted(name, values)
                is_compared = ~are_at_steps(track, times)
                yield Comparison(
                    matched_item.item,
                    name,
                    action.channels,
                    action.clock.frames(times[is_compared]),
                    expected[is_compared],
                    None if name == "rotation" else range_of(expected),
                    len(track.times),
                )


def comparison_times(times: Float64Array) -> Float64Array:
    """Return the times, and the eighths of the segments between them."""
    eighths = (times[:-1, np.newaxis] + np.diff(times)[:, np.newaxis] * np.arange(8) / 8).ravel()
    return np.append(eighths, times[-1])


def is_fitted(entry: dict[str, Any]) -> bool:
    """Return whether the error of a restored track exceeds rounding."""
    error = np.radians(entry["error"]) if entry["rotation"] else entry["error"]
    return bool(error > (ROUNDING * entry["range"] if entry["range"] else 10.0 * ROUNDING))


def range_of(values: Float64Array) -> float:
    """Return the largest range of a component, but at least the smallest allowed range."""
    return max(float(np.ptp(values, axis=0).max()), MIN_RELATIVE_RANGE * float(np.abs(values).max()), MIN_RANGE)


def are_at_steps(track: Any, times: Float64Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the times at steps, where rounding decides between the values before and after the key."""
    rows = np.searchsorted(track.times, times)
    last = len(track.times) - 1
    steps = track.interpolation == 0
    mask: npt.NDArray[np.bool_] = np.isin(times, track.times) & (
        steps[np.clip(rows - 1, 0, last)] | steps[np.clip(rows, 0, last)]
    )
    return mask


def deviations_of(properties: Collection[Comparison]) -> list[tuple[Comparison, float]]:
    """Return the deviations of the properties that have F-curves."""
    return [(comparison, comparison.deviation()) for comparison in properties if comparison.fcurves]


def largest(deviations: Collection[tuple[Comparison, float]]) -> list[str]:
    """Return the largest deviations of values and of rotations."""
    values = [size for comparison, size in deviations if comparison.range is not None]
    angles = [size for comparison, size in deviations if comparison.range is None]
    return [number(max(sizes)) if sizes else "" for sizes in (values, angles)]


def measure(path: Path, importer: str, exact: bool) -> list[object]:
    """Import a file, restore its curves, and return the row without its first two cells, or [] without animation.

    Raises an exception with the reason if the file can't be imported, restored or compared.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    group, operator = IMPORTERS[importer].split(".")
    getattr(getattr(bpy.ops, group), operator)(filepath=str(path))
    file = restoring.read_file(path)
    if not any(take.motions for take in file.takes):
        return []
    matcher = matching.Matcher(file, list(items.items_of(bpy.data.objects)))
    matched = matching.matched_actions(matcher, restoring.Report())
    compared_properties = list(comparisons(file, matched, ufbx_reader(path, file)))
    before = deviations_of(compared_properties)
    if not before:
        misfits = [match.misfit for action in matched for match in action.matches if match.misfit]
        raise ValueError(summary(misfits) or "nothing to compare")
    report = restoring.restore_curves(path, list(bpy.data.objects), exact=exact)
    after = deviations_of(compared_properties)
    reported = {(entry["datablock"], entry["track"]): entry["error"] for entry in report.handles if is_fitted(entry)}
    fitted = [(comparison, size) for comparison, size in after if comparison.track in reported]
    exactly_restored = [(comparison, size) for comparison, size in after if comparison.track not in reported]
    beyond = 0
    for comparison, size in fitted:
        value_range = comparison.range or 1.0
        beyond += size * value_range > reported[comparison.track] * 1.05 + 1e-6 * value_range
    return [
        len(after),
        sum(comparison.file_keys for comparison, _ in after),
        sum(comparison.keys for comparison, _ in after),
        *largest(before),
        len(exactly_restored),
        *largest(exactly_restored),
        len(fitted),
        beyond,
        *largest(fitted),
        summary(report.errors),
    ]


def summary(findings: Collection[object]) -> str:
    """Return the number of findings, and the first one."""
    return f"{len(findings)}: {next(iter(findings))}" if findings else ""


def fault_row(fault: str) -> list[object]:
    """Return the row of a file that could not be measured, with the last line of the fault."""
    return [*[""] * (len(HEADS) - 3), fault.strip().splitlines()[-1][:200] if fault.strip() else "ended without output"]


def row_of(path: Path, importer: str, options: list[str], seconds: float) -> list[object]:
    """Measure a file in a separate process, and return the row."""
    command = [sys.executable, __file__, "--one", importer, str(path), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return fault_row(f"took longer than {seconds:g} seconds")
    if done.returncode:
        return fault_row(done.stderr)
    cells: list[object] = json.loads(done.stdout.splitlines()[-1])
    return cells


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--exact", action="store_true", help="restore with as many more keys as the tolerance needs")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        try:
            cells = measure(options.files[0], options.one, options.exact)
        except Exception as error:
            cells = fault_row(str(error))
        print(f"\n{json.dumps(cells)}")
        return 0
    print(" | ".join(HEADS))
    for path in options.files:
        for importer in IMPORTERS:
            cells = row_of(path, importer, ["--exact"] if options.exact else [], options.seconds)
            if cells:
                print(" | ".join(map(str, [path.name, importer, *cells])), flush=True)
    return 0


if __name__ == "__main__":
    tcb.end_process(main())
