# SPDX-License-Identifier: GPL-3.0-or-later
"""Import FBX and glTF files with Blender, restore their curves, and compare the motion with other readers of the files.

    python tools/restored_curves.py FILE… [--exact] [--seconds 120]

Each importer of this Blender imports FBX files. The motion is compared at eighths of the segments between the file's
keys. For FBX, the reference is the evaluation of the PyPI package `ufbx`. For glTF, it is the formula of the
specification, which is implemented here independently. Prints one row per file and importer. Deviations are fractions
of the range of a property, or degrees. Each import and each evaluation by ufbx runs in a separate process. The script
needs Blender as a Python module.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb

Float64Array = npt.NDArray[np.float64]
Row = dict[str, Any]
IMPORTERS = {"FBX (C++)": "wm.fbx_import", "FBX (Python)": "import_scene.fbx", "glTF": "import_scene.gltf"}
MIN_RELATIVE_RANGE = 1e-3
"""The smallest range, as a fraction of the largest value. It replaces the range of properties that vary less."""
MIN_RANGE = 1e-4
"""The smallest range in units. It replaces smaller ranges."""
MAX_TIMES = 2000
"""Maximum number of times at which a property is compared."""
HEADS = {
    "file": "file",
    "importer": "importer",
    "tracks": "tracks",
    "keys": "keys of the file",
    "after_keys": "keys after",
    "imported": "imported, of the range",
    "imported_degrees": "degrees",
    "exact": "exact tracks",
    "exact_off": "off, of the range",
    "exact_degrees": "degrees",
    "fitted": "fitted tracks",
    "beyond": "off more than reported",
    "fitted_off": "off, of the range",
    "fitted_degrees": "degrees",
    "faults": "refused",
}


def evaluate_with_ufbx(path: str, request: str, answer: str) -> None:
    """Write the local transforms that ufbx evaluates at the requested times, by take and node, and end the process."""
    import ufbx

    requested = json.loads(Path(request).read_text())
    scene = ufbx.load_file(path)
    result: dict[str, dict[str, list[list[float]]]] = {}
    for stack in list(scene.anim_stacks):
        take = result.setdefault(stack.name, {})
        for node in list(scene.nodes):
            if node.name in requested.get(stack.name, {}) and node.name not in take:
                take[node.name] = [
                    [
                        *local.translation,
                        local.rotation.w,
                        local.rotation.x,
                        local.rotation.y,
                        local.rotation.z,
                        *local.scale,
                    ]
                    for time in requested[stack.name][node.name]
                    for local in [ufbx.evaluate_transform(stack.anim, node, time)]
                ]
    Path(answer).write_text(json.dumps(result))
    os._exit(0)


class Gltf:
    """A second reader of glTF, written from the specification, without sparse accessors and only for floats."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.binary: bytes | None = None
        if data[:4] == b"glTF":
            (length,) = struct.unpack_from("<I", data, 12)
            self.json = json.loads(data[20 : 20 + length])
            self.binary = data[28 + length :]
        else:
            self.json = json.loads(data)
        self.folder = path.parent

    def numbers(self, index: int) -> Float64Array:
        accessor = self.json["accessors"][index]
        if "sparse" in accessor or accessor["componentType"] != 5126:
            raise ValueError("this accessor is not compared")
        view = self.json["bufferViews"][accessor["bufferView"]]
        buffer = self.json["buffers"][view["buffer"]]
        uri = buffer.get("uri")
        if uri is None:
            assert self.binary is not None
            content = self.binary
        elif uri.startswith("data:"):
            content = base64.b64decode(uri.partition(",")[2])
        else:
            content = (self.folder / uri).read_bytes()
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        values = np.frombuffer(content, "<f4", accessor["count"] * width, start)
        return values.reshape(-1, width).astype(np.float64)

    def evaluate(self, take: int, node: int, path: str, times: Float64Array) -> Float64Array | None:
        """Return values at successive times, or None if the take does not animate the property."""
        animation = self.json["animations"][take]
        for channel in animation["channels"]:
            target = channel["target"]
            if target.get("node") == node and target["path"] == path:
                sampler = animation["samplers"][channel["sampler"]]
                keys, values = self.numbers(sampler["input"])[:, 0], self.numbers(sampler["output"])
                mode = sampler.get("interpolation", "LINEAR")
                return np.array([self._at(float(t), keys, values, mode, path) for t in times])
        return None

    @staticmethod
    def _at(t: float, keys: Float64Array, values: Float64Array, mode: str, path: str) -> Float64Array:
        # Cubic splines have a tangent before and after each value.
        row_count, value_row = (3, 1) if mode == "CUBICSPLINE" else (1, 0)
        key = int(np.searchsorted(keys, t, side="right")) - 1
        if key < 0 or key >= len(keys) - 1:
            result = values[row_count * min(max(key, 0), len(keys) - 1) + value_row]
        elif mode == "STEP":
            result = values[key]
        else:
            length = keys[key + 1] - keys[key]
            s = (t - keys[key]) / length
            start, end = values[row_count * key + value_row], values[row_count * (key + 1) + value_row]
            if mode == "CUBICSPLINE":
                leaving, arriving = length * values[row_count * key + 2], length * values[row_count * (key + 1)]
                result = (
                    (2 * s**3 - 3 * s**2 + 1) * start
                    + (s**3 - 2 * s**2 + s) * leaving
                    + (-2 * s**3 + 3 * s**2) * end
                    + (s**3 - s**2) * arriving
                )
            elif path == "rotation":
                dot = float(start @ end)
                angle = np.arccos(min(abs(dot), 1.0))
                end = end if dot >= 0.0 else -end
                result = (
                    start + s * (end - start)
                    if angle < 1e-9
                    else (np.sin((1 - s) * angle) * start + np.sin(s * angle) * end) / np.sin(angle)
                )
            else:
                result = start + s * (end - start)
        if path == "rotation":
            result = result[[3, 0, 1, 2]] / np.linalg.norm(result)
        return np.asarray(result)


def comparison_times(times: Float64Array) -> Float64Array:
    """Return the times, and the eighths of the segments between them."""
    eighths = (times[:-1, np.newaxis] + np.diff(times)[:, np.newaxis] * np.arange(8) / 8).ravel()
    return np.append(eighths, times[-1])[:MAX_TIMES]


def oracle_of(path: Path, file: Any) -> Callable[[int, int, str, Float64Array], Float64Array | None]:
    """Return a function of take, node, property and times that returns the values of another reader."""
    if path.suffix != ".fbx":
        return Gltf(path).evaluate
    times_by_take: dict[str, dict[str, list[float]]] = {}
    for take in file.takes:
        for node, motion in take.motions.items():
            tracks = [track for track in (motion.translation, motion.rotation, motion.scale) if track]
            times = np.unique(np.concatenate([comparison_times(track.times) for track in tracks]))
            times_by_take.setdefault(take.name, {})[file.nodes[node].name] = times.tolist()
    with tempfile.TemporaryDirectory() as folder:
        request, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        request.write_text(json.dumps(times_by_take))
        subprocess.run([sys.executable, __file__, "--ufbx", str(path), str(request), str(answer)], check=False)
        if not answer.exists():
            raise RuntimeError("ufbx did not answer: is it installed?")
        transforms = json.loads(answer.read_text())

    def evaluate(take: int, node: int, name: str, times: Float64Array) -> Float64Array | None:
        take_name, node_name = file.takes[take].name, file.nodes[node].name
        rows = transforms.get(take_name, {}).get(node_name)
        if rows is None or [other.name for other in file.nodes].count(node_name) > 1:
            return None
        index = np.searchsorted(times_by_take[take_name][node_name], times)
        columns = {"translation": slice(0, 3), "rotation": slice(3, 7), "scale": slice(7, 10)}[name]
        return np.array(rows)[index, columns]

    return evaluate


class Compared:
    """An imported file, with its actions and the motion of their properties compared with another reader."""

    def __init__(self, path: Path, bpy: Any) -> None:
        package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
        self.restoring, self.matching, items = (
            importlib.import_module(f"{package.__name__}.animation.file_curves.{name}")
            for name in ("restore_curves", "matching", "items")
        )
        self.rotations = importlib.import_module(f"{package.__name__}.interp.rotations")
        self.file = self.restoring.read_file(path)
        matcher = self.matching.Matcher(self.file, list(items.items_of(bpy.data.objects)))
        report = self.restoring.Report()
        self.matched = list(self.restoring.matched_actions(matcher, report))
        self.oracle = oracle_of(path, self.file) if any(take.motions for take in self.file.takes) else None

    def properties(self) -> Iterator[tuple[Any, Any, Any, Any, str, Any]]:
        """Yield the channels, take, timing, match, name and track of each matching property."""
        for channels, take, timing, matches in self.matched:
            for match in matches:
                for name, track in self.matching.tracks_of(match.motion).items() if match.misfit is None else ():
                    yield channels, take, timing, match, name, track

    @property
    def misfits(self) -> list[str]:
        return [str(match.misfit) for *_, matches in self.matched for match in matches if match.misfit]

    def deviations(self) -> dict[tuple[str, str, str], Row]:
        """Return the deviation, range and number of keys of each compared property, by owner, action and path."""
        rows: dict[tuple[str, str, str], Row] = {}
        for channels, take, timing, match, name, track in self.properties():
            path = match.item.path(self.matching.PROPERTIES[name])
            fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
            property_curves = [fcurve for (data_path, _), fcurve in fcurves.items() if data_path == path]
            times = comparison_times(track.times)
            values = self._values(take, match, name, track, times)
            if not property_curves or values is None:
                continue
            played = match.item.played(self.matching.PROPERTIES[name], fcurves, times * timing.rate + timing.start)
            is_compared = ~are_at_steps(track, times)
            if name == "rotation":
                deviation = np.degrees(self.rotations.angle_between(match.conversion.rotation(values), played))
                span = None
            else:
                convert = match.conversion.location if name == "translation" else match.conversion.scale
                expected = convert(values)
                largest = float(np.abs(expected).max())
                span = max(float(np.ptp(expected, axis=0).max()), MIN_RELATIVE_RANGE * largest, MIN_RANGE)
                deviation = np.abs(expected - played).max(axis=1) / (span or 1.0)
            rows[match.item.owner.name, channels.action.name, path] = {
                "deviation": float(deviation[is_compared].max(initial=0.0)),
                "range": span,
                "file": len(track.times),
                "keys": len(np.unique([point.co.x for fcurve in property_curves for point in fcurve.keyframe_points])),
            }
        return rows

    def _values(self, take: Any, match: Any, name: str, track: Any, times: Float64Array) -> Float64Array | None:
        """Return the values of the other reader."""
        file_translation = take.motions[match.node].translation
        if name == "translation" and match.motion.translation is not file_translation:
            # The importer made the pivot the origin, which the other reader does not do.
            values: Float64Array = track.evaluate(times)
            return values
        assert self.oracle is not None
        return self.oracle(self.file.takes.index(take), match.node, name, times)


def are_at_steps(track: Any, times: Float64Array) -> Any:
    """Return a mask of the times at steps, where rounding decides between the values before and after the key."""
    rows = np.searchsorted(track.times, times)
    last = len(track.times) - 1
    steps = track.interpolation == 0
    return np.isin(times, track.times) & (steps[np.clip(rows - 1, 0, last)] | steps[np.clip(rows, 0, last)])


def measure(path: Path, importer: str, exact: bool) -> Row:
    """Import a file, restore its curves, and return the row of the table."""
    import bpy  # isort: skip
    import addon_utils

    bpy.ops.wm.read_factory_settings(use_empty=True)
    row: Row = {"file": path.name, "importer": importer}
    group, operator = IMPORTERS[importer].split(".")
    if operator == "fbx":
        addon_utils.enable("io_scene_fbx")
    try:
        getattr(getattr(bpy.ops, group), operator)(filepath=str(path))
    except RuntimeError as error:
        return {**row, "faults": [str(error).strip().splitlines()[-1][:200]]}
    compared = Compared(path, bpy)
    if compared.oracle is None:
        return {**row, "still": True}
    before = compared.deviations()
    if not before:
        return {**row, "faults": compared.misfits or ["nothing to compare"]}
    try:
        report = compared.restoring.restore_curves(path, list(bpy.data.objects), exact=exact)
    except compared.restoring.AnimationError as error:
        return {**row, "faults": [str(error)]}
    after = compared.deviations()
    reported = {(entry["datablock"], entry["track"]): entry["error"] for entry in report.handles}
    fitted = {key: reported[key[0], key[2]] for key in after if (key[0], key[2]) in reported}
    beyond = []
    for key, reported_error in fitted.items():
        span = after[key]["range"] or 1.0
        if after[key]["deviation"] * span > reported_error * 1.05 + 1e-6 * span:
            beyond.append(key)

    def maximum(rows: dict[Any, Row], angles: bool, keys: Any) -> float | None:
        deviations = (rows[key]["deviation"] for key in keys if (rows[key]["range"] is None) == angles)
        return max(deviations, default=None)

    exact_keys = after.keys() - fitted.keys()
    return {
        **row,
        "tracks": len(after),
        "keys": sum(entry["file"] for entry in after.values()),
        "after_keys": sum(entry["keys"] for entry in after.values()),
        "imported": maximum(before, False, before),
        "imported_degrees": maximum(before, True, before),
        "exact": len(exact_keys),
        "exact_off": maximum(after, False, exact_keys),
        "exact_degrees": maximum(after, True, exact_keys),
        "fitted": len(fitted),
        "beyond": len(beyond),
        "fitted_off": maximum(after, False, fitted),
        "fitted_degrees": maximum(after, True, fitted),
        "faults": [str(error) for error in report.errors],
    }


def run(paths: Sequence[Path], exact: bool, seconds: float) -> Iterator[Row]:
    """Yield the row of each file and importer, each from a separate process."""
    for path in paths:
        for importer in IMPORTERS:
            if importer.startswith("FBX") != (path.suffix == ".fbx"):
                continue
            command = [sys.executable, __file__, "--one", importer, str(path), *(["--exact"] if exact else [])]
            try:
                result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
                last = result.stdout.strip().splitlines()[-1:] or ["{}"]
                row = json.loads(last[0])
            except (subprocess.TimeoutExpired, json.JSONDecodeError):
                row = {}
            if not row:
                row = {"file": path.name, "importer": importer, "faults": ["ended without an answer"]}
            yield row


def text_of(row: Row) -> list[str]:
    """Return the cells of a row."""
    cells = []
    for name in HEADS:
        value = row.get(name)
        if isinstance(value, list):
            cells.append(f"{len(value)}: {value[0]}" if value else "")
        elif isinstance(value, float):
            cells.append("0" if value == 0.0 else f"{value:.1e}")
        else:
            cells.append("" if value is None else str(value))
    return cells


def main() -> int:
    if sys.argv[1:2] == ["--ufbx"]:
        evaluate_with_ufbx(*sys.argv[2:5])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--exact", action="store_true", help="restore with as many more keys as the tolerance needs")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.files[0], given.one, given.exact)))
        tcb.end_process(0)
    print(" | ".join(HEADS.values()))
    for row in run(given.files, given.exact, given.seconds):
        if not row.get("still"):
            print(" | ".join(text_of(row)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
