# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Blender's playback of the example scene with an independent computation of the formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
import numpy.typing as npt

from examples.scene_tracks import END, START, TRACKS, Track
from tests.animation import reference

VALUE_BOUND = 1.0
"""The largest error of a value, in units in the last place of float32. A sample is the exact value, rounded once."""
ROTATION_BOUND = 1e-6
"""The largest error of a rotation, in radians.

Rounding four components to float32 rotates an orientation by about 1e-7.
"""
QUARTER = 0.25
"""Frames between recorded values. Every fourth value is at a sample."""
Recording = dict[Track, dict[float, tuple[float, ...]]]
"""The values of each track in Blender's playback, by frame."""


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    track: Track
    samples: int
    seconds: float
    at_frames: float
    """Maximum error at whole frames: float32 ulps for values, radians for rotations."""
    between: float
    """Maximum error between frames, in the track's units or radians. Samples, one per frame, are joined linearly."""

    @property
    def is_good(self) -> bool:
        return self.at_frames <= (ROTATION_BOUND if is_rotation(self.track) else VALUE_BOUND)


def is_rotation(track: Track) -> bool:
    return "rotation" in track.path


def record(scene: bpy.types.Scene) -> Recording:
    """Play the scene and record each track every quarter of a frame."""
    result: Recording = {track: {} for track in TRACKS}
    for frame in np.arange(START, END + QUARTER / 2, QUARTER).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        for track in TRACKS:
            result[track][frame] = track.value()
    return result


def orientation(track: Track, value: Sequence[float]) -> npt.NDArray[np.float64]:
    return reference.of_euler(value) if track.path.endswith("euler") else reference.unit(value)


def as_stored(numbers: Sequence[float]) -> list[float]:
    """Return the numbers rounded to float32, as F-curves store them."""
    return [float(np.float32(number)) for number in numbers]


def stored_keys(track: Track) -> list[reference.Key]:
    """Return the keys with values rounded as F-curves store them, and with rotations as quaternions."""
    keys = []
    for key in track.keys:
        value = tuple(as_stored(key.value))
        parameters = as_stored([key.tension, key.continuity, key.bias, key.ease_to, key.ease_from])
        shown = tuple(orientation(track, value).tolist()) if is_rotation(track) else value
        keys.append(reference.Key(key.frame, shown, *parameters))
    return keys


def distances(track: Track, played: dict[float, tuple[float, ...]]) -> tuple[float, float]:
    """Return the maximum errors at whole frames and between them, in the units of `Row`."""
    keys = stored_keys(track)
    components = [
        [(key.frame, number, *key[2:]) for key, number in zip(keys, column, strict=True)]
        for column in zip(*(key.value for key in keys), strict=True)
    ]
    at_frames, between = [0.0], [0.0]
    for frame, value in played.items():
        if is_rotation(track):
            angle = reference.apart(orientation(track, value), reference.rotation(keys, frame))
            (between if frame % 1 else at_frames).append(angle)
            continue
        wanted = np.array([reference.scalar(component, frame) for component in components])
        apart = np.abs(np.array(value) - wanted)
        if frame % 1:
            between.append(float(apart.max()))
        else:
            at_frames.append(float((apart / np.spacing(np.abs(wanted).astype(np.float32))).max()))
    return max(at_frames), max(between)


def print_table(rows: Sequence[Row]) -> None:
    print(f"{'object':<14}{'track':<34}{'keys':>5}{'samples':>9}{'ms':>7}   {'at frames':<14}between frames")
    for row in rows:
        track = row.track
        if is_rotation(track):
            at_frames, between = f"{row.at_frames:.1e} rad", f"{row.between:.1e} rad"
        else:
            at_frames, between = f"{row.at_frames:.2f} ulp", f"{row.between:.1e}"
        flaw = "" if row.is_good else "   ABOVE THE BOUND"
        print(
            f"{track.owner:<14}{track.label:<34}{len(track.keys):>5}{row.samples:>9}{1e3 * row.seconds:>7.1f}"
            f"   {at_frames:<14}{between}{flaw}"
        )
    keys, samples = sum(len(row.track.keys) for row in rows), sum(row.samples for row in rows)
    seconds = sum(row.seconds for row in rows)
    print(f"{'together':<14}{f'{len(rows)} tracks':<34}{keys:>5}{samples:>9}{1e3 * seconds:>7.1f}")
    print(
        "\nThe last two columns are the maximum difference between Blender's playback and the exact spline. At whole"
        f"\nframes, where the samples are, the bound is {VALUE_BOUND:g} float32 ulp or {ROTATION_BOUND:g} radian."
        "\nStraight lines join the samples. The difference between frames depends on the step, here 1 frame."
    )
