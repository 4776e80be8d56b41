# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the error of Blender's playback of a bake against the formulas, at ten points per frame.

    python tools/errors.py [FILE.3ds …] [--page docs/measurements/curves.md]

The example scene, and the tracks of each .3ds file as keys of empty objects, are baked as samples and as curves. The
values after `frame_set` are compared with tests/animation/reference.py, which shares no code with the extension. The
exit status is 1 if an error is larger than allowed.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import scene_tracks
from examples.make_scene import make_scene, set_parameters
from formats import three_ds
from tests.animation import reference
from tools import tcb
from tools.benchmarks.checkout import animation
from tools.benchmarks.scenes import fcurves
from tools.tables import number, show, table

Float64Array = npt.NDArray[np.float64]

POINTS_PER_FRAME = 10
NAMES = ("tension", "continuity", "bias", "ease_to", "ease_from")
VALUE_TOLERANCE = 1e-4
"""The default tolerance for curves, relative to the range of a track."""
ROTATION_TOLERANCE = 0.01
"""The default tolerance for curves, in degrees."""
ROUNDING = 2e-6
"""The float32 error of samples, also added to curves, relative to a track's largest value or in radians."""
SAMPLE_HEADS = (
    *("file", "tracks", "keys", "generated", "values at frames", "rotations at frames"),
    *("values between frames", "rotations between frames"),
)
CURVE_HEADS = ("file", "keys", "samples", "generated", "ratio", "values", "rotations")
PROPERTIES = {"POSITION": "location", "ROTATION": "rotation_quaternion", "SCALE": "scale"}
"""The properties for the tracks of a .3ds file. Other tracks become custom properties."""


@dataclass(frozen=True)
class Track:
    """Keys of a property, rounded to float32, with rotations as quaternions."""

    datablock: bpy.types.ID
    path: str
    keys: list[reference.Key]
    cycle: str = "SINGLE"

    @property
    def is_rotation(self) -> bool:
        return "rotation" in self.path

    def value(self) -> tuple[float, ...]:
        """Return the current value of the property, or the quaternion of a rotation."""
        value: Any = self.datablock.path_resolve(self.path)
        numbers = tuple(value) if hasattr(value, "__len__") else (value,)
        return tuple(reference.of_euler(numbers)) if self.path.endswith("euler") else numbers

    def exact(self, frame: float) -> Sequence[float]:
        """Return the exact value, computed by the formulas."""
        keys = self.keys
        if self.cycle == "SINGLE":
            # Keys that are farther away have no influence, and the reference would process all keys.
            before = bisect_right([key.frame for key in keys], frame)
            keys = keys[max(0, before - 3) : before + 3]
        if self.is_rotation:
            return [float(number) for number in reference.rotation(keys, frame, self.cycle)]
        rows = range(len(keys[0].value))
        return [
            reference.scalar([(key.frame, key.value[row], *key[2:]) for key in keys], frame, self.cycle) for row in rows
        ]

    @functools.cached_property
    def range(self) -> float:
        """Return the largest range of any component of the keys' values."""
        return float(np.ptp([key.value for key in self.keys], axis=0).max())

    @functools.cached_property
    def largest(self) -> float:
        return float(np.abs([key.value for key in self.keys]).max())


@dataclass
class MaximumErrors:
    """The maximum errors in values, relative to the track's range, and in rotations, in degrees."""

    of_range: float = 0.0
    degrees: float = 0.0
    of_allowed: float = 0.0
    """The largest ratio of an error to the allowed error."""

    def add(self, track: Track, error: float, tolerance: float) -> None:
        """Include an error in units or radians. `tolerance` is relative to the track's range, or in radians."""
        if track.is_rotation:
            self.degrees = max(self.degrees, math.degrees(error))
            allowed = tolerance + ROUNDING
        else:
            if track.range:
                self.of_range = max(self.of_range, error / track.range)
            allowed = tolerance * track.range + ROUNDING * max(track.largest, 1.0)
        self.of_allowed = max(self.of_allowed, error / allowed)

    def cells(self) -> tuple[str, str]:
        """Return the errors of values and of rotations."""
        return number(self.of_range), number(self.degrees)


@dataclass
class Row:
    """The results for one file."""

    name: str
    tracks: int = 0
    keys: int = 0
    """The animator's keys of all channels."""
    samples: int = 0
    """Keys generated by a bake as samples."""
    curves: int = 0
    """Keys generated by a bake as curves."""
    at_frames: MaximumErrors = field(default_factory=MaximumErrors)
    """The errors of samples at whole frames."""
    between: MaximumErrors = field(default_factory=MaximumErrors)
    of_curves: MaximumErrors = field(default_factory=MaximumErrors)

    @property
    def is_good(self) -> bool:
        return self.at_frames.of_allowed <= 1 and self.of_curves.of_allowed <= 1


def example() -> list[Track]:
    """Create the example scene in a new file, and return its tracks."""
    make_scene()
    set_parameters(animation)
    return example_tracks()


def example_tracks() -> list[Track]:
    """Return the tracks of the example scene, which is open."""
    return [Track(track.datablock, track.path, stored_keys(track)) for track in scene_tracks.TRACKS]


def stored_keys(track: scene_tracks.Track) -> list[reference.Key]:
    """Return the keys with values rounded as F-curves store them, and with rotations as quaternions."""
    keys = []
    for key in track.keys:
        value: Any = as_stored(key.value)
        if "rotation" in track.path:
            value = reference.of_euler(value) if track.path.endswith("euler") else reference.unit(value)
        parameters = as_stored([getattr(key, name) for name in NAMES])
        keys.append(reference.Key(key.frame, tuple(map(float, value)), *parameters))
    return keys


def as_stored(numbers: Sequence[float]) -> list[float]:
    """Return the numbers rounded to float32, as F-curves store them."""
    return [float(np.float32(number)) for number in numbers]


def of_file(path: Path) -> list[Track]:
    """Create empty objects with the keys of a .3ds file in a new file, and return its tracks."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    result = []
    for node in three_ds.read(path.read_bytes()).nodes:
        item: Any = bpy.data.objects.new(node.name.decode("latin-1"), None)
        item.rotation_mode = "QUATERNION"
        scene: Any = bpy.context.scene
        scene.collection.objects.link(item)
        for track in node.tracks:
            if len(track.frames) and track.values.shape[1]:
                result.append(keyed(item, track))
    return result


def keyed(item: Any, track: three_ds.Track) -> Track:
    """Set the keys of a track from a .3ds file. If two keys are at one frame, the second is used."""
    values: Float64Array = track.values.astype(np.float64)
    if track.kind == "ROTATION":
        values = orientations(values)
    path = PROPERTIES.get(track.kind, f'["{track.kind}"]')
    if path.startswith("["):
        item[track.kind] = values[0].tolist() if values.shape[1] > 1 else float(values[0, 0])
    rows = {int(frame): row for row, frame in enumerate(track.frames)}
    keys = [
        reference.Key(frame, tuple(as_stored(values[rows[frame]])), *track.parameters[:, rows[frame]].tolist())
        for frame in sorted(rows)
    ]
    for key in keys:
        value = key.value if len(key.value) > 1 else key.value[0]
        if path.startswith("["):
            item[track.kind] = value
        else:
            setattr(item, path, value)
        item.keyframe_insert(path, frame=key.frame)
    animation.enable(item, prefixes=[path], keep_look=False)
    if track.cycle != "SINGLE":
        animation.choose(item, path, cycle=track.cycle)
    for key in keys:
        parameters = {name: getattr(key, name) for name in NAMES if getattr(key, name)}
        if parameters:
            animation.key_set(item, path, key.frame, **parameters)
    return Track(item, path, keys, track.cycle)


def orientations(turns: Float64Array) -> Float64Array:
    """Accumulate rotations from key to key, given by angle and axis (docs/formulas, "Relative keys")."""
    q, result = np.array([1.0, 0.0, 0.0, 0.0]), []
    for angle, *axis in turns:
        if any(axis):
            q = reference.unit(reference.product(reference.of_axis_angle(-angle, axis), q))
        result.append(q)
    return np.array(result)


def points_of(tracks: Sequence[Track]) -> list[tuple[int, float]]:
    """Return the frame and subframe of each point to compare."""
    first = min(track.keys[0].frame for track in tracks)
    last = max(track.keys[-1].frame for track in tracks)
    subframes = [number / POINTS_PER_FRAME for number in range(POINTS_PER_FRAME)]
    return [*itertools.product(range(int(first), int(last)), subframes), (int(last), 0.0)]


def played(tracks: Sequence[Track], points: Sequence[tuple[int, float]]) -> list[list[tuple[float, ...]]]:
    """Return Blender's playback of each track."""
    scene: Any = bpy.context.scene
    result: list[list[tuple[float, ...]]] = [[] for _ in tracks]
    for frame, subframe in points:
        scene.frame_set(frame, subframe=subframe)
        for track, values in zip(tracks, result, strict=True):
            values.append(track.value())
    return result


def bake(tracks: Sequence[Track], output: str) -> int:
    """Bake all tracks and return the number of generated keys."""
    datablocks = list(dict.fromkeys(track.datablock for track in tracks))
    report = animation.bake_many(datablocks, animation.Options(output=output))
    if report.refused:
        raise SystemExit("\n".join(map(str, report.refused)))
    count: int = report.samples + report.curve_keys
    return count


def error_of(track: Track, shown: Sequence[float], exact: Sequence[float]) -> float:
    """Return the largest error of any component in units, or the error in radians."""
    if track.is_rotation:
        return reference.apart(np.array(shown), np.array(exact))
    return max(abs(a - b) for a, b in zip(shown, exact, strict=True))


def measure(name: str, tracks: Sequence[Track]) -> Row:
    """Bake a file and compare its playback with the formulas."""
    row = Row(name, len(tracks))
    points = points_of(tracks)
    # Blender adds frame and subframe in float32.
    frames = [float(np.float32(frame) + np.float32(subframe)) for frame, subframe in points]
    exact_values = [[track.exact(frame) for frame in frames] for track in tracks]
    row.samples = bake(tracks, "SAMPLES")
    for track, values, exact in zip(tracks, played(tracks, points), exact_values, strict=True):
        for (_, subframe), value, exact_value in zip(points, values, exact, strict=True):
            error = error_of(track, value, exact_value)
            if subframe:
                row.between.add(track, error, math.inf)
            else:
                row.at_frames.add(track, error, 0.0)
    row.curves = bake(tracks, "CURVES")
    for track, values, exact in zip(tracks, played(tracks, points), exact_values, strict=True):
        tolerance = math.radians(ROTATION_TOLERANCE) if track.is_rotation else VALUE_TOLERANCE
        for value, exact_value in zip(values, exact, strict=True):
            row.of_curves.add(track, error_of(track, value, exact_value), tolerance)
        row.keys += sum(len(curve.keyframe_points) for curve in curves_of(track))
    row.keys -= row.curves
    return row


def curves_of(track: Track) -> list[Any]:
    return [curve for curve in fcurves(track.datablock) if curve.data_path == track.path]


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the tables of samples and of curves, by name."""
    samples = [
        (row.name, row.tracks, f"{row.keys:,}", f"{row.samples:,}", *row.at_frames.cells(), *row.between.cells())
        for row in rows
    ]
    curves = [
        (
            row.name,
            f"{row.keys:,}",
            f"{row.samples:,}",
            f"{row.curves:,}",
            f"{100 * row.curves / row.samples:.1f} %" if row.samples else None,
            *row.of_curves.cells(),
        )
        for row in rows
    ]
    return {"samples": table(SAMPLE_HEADS, samples), "curves": table(CURVE_HEADS, curves)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Measure the error of Blender's playback of a bake against the formulas."
    )
    parser.add_argument("files", type=Path, nargs="*", help=".3ds files")
    parser.add_argument("--page", type=Path, help="a page to insert the tables into")
    options = parser.parse_args()
    makers: dict[str, Callable[[], list[Track]]] = {"example scene": example}
    makers |= {path.name: lambda path=path: of_file(path) for path in options.files}
    rows = []
    for name, make in makers.items():
        rows.append(measure(name, make()))
        print(f"{name}: done", file=sys.stderr)
    show(tables(rows), options.page)
    for row in rows:
        if not row.is_good:
            print(f"{row.name}: an error is larger than allowed")
    tcb.end_process(0 if all(row.is_good for row in rows) else 1)


if __name__ == "__main__":
    main()
