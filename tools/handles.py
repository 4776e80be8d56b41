# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the error of the animator's keys when played with fitted handles.

    python tools/handles.py [--page docs/measurements/handles.md]

Tracks are random. The handles are evaluated here, by bisection, and compared with the splines at 240 points per
segment. tests/animation/test_fitting_in_blender.py compares Blender's own evaluation with the splines. The script takes
two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp import Keys, evaluate_many, rotations
from interp.fitting import Request
from interp.fitting.handles import Handles, fit_handles
from interp.rotations.representations import rotation_representation
from interp.splines import tcb
from tools.tables import number, show, table

Float64Array = npt.NDArray[np.float64]

TRACKS, KEYS = 200, 6
PLACES = np.linspace(0.0, 1.0, 242)[1:-1]
FOLLOWED = 400
"""Points per segment at which key values are followed."""
STEEPNESS = (0.0, 30.0, 60.0, 75.0, 90.0)
"""The limits of the middle Euler angle in degrees, which show the distance of a segment from gimbal lock."""
HALVINGS = 45


def parameters(generator: np.random.Generator, largest: float, eased: float) -> Float64Array:
    """Return parameters (5, KEYS), with tension, continuity and bias within `largest`, and eases up to `eased`."""
    return np.vstack([generator.uniform(-largest, largest, (3, KEYS)), generator.uniform(0.0, eased, (2, KEYS))])


def frames_of(generator: np.random.Generator) -> Float64Array:
    """Return the frames of keys that are 8 to 25 frames apart."""
    return np.cumsum(generator.integers(8, 26, KEYS)).astype(np.float64)


def turning(degrees: float, largest: float, eased: float) -> list[tcb.RotationSpline]:
    """Return tracks with keys the given number of degrees apart, about random axes."""
    generator = np.random.default_rng(1)
    tracks = []
    for _ in range(TRACKS):
        axes = generator.normal(size=(KEYS, 3))
        q = rotations.turns_to_rotations(np.full(KEYS, np.radians(degrees)), axes)
        tracks.append(tcb.RotationSpline(Keys(frames_of(generator), q, *parameters(generator, largest, eased))))
    return tracks


def moving(largest: float, eased: float) -> list[tcb.VectorSpline]:
    """Return tracks with one random number per key."""
    generator = np.random.default_rng(2)
    tracks = []
    for _ in range(TRACKS):
        numbers = parameters(generator, largest, eased)
        tracks.append(tcb.VectorSpline(Keys(frames_of(generator), generator.normal(size=KEYS), *numbers)))
    return tracks


def followed(spline: tcb.RotationSpline, held: str) -> tuple[Float64Array, Float64Array]:
    """Return the continuous values of a track at and between its keys, shape (m, channels)."""
    frames = spline.keys.frames
    share = np.arange(FOLLOWED) / FOLLOWED
    at = np.append((frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * share).ravel(), frames[-1])
    if held == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(spline(at), *rotations.to_axis_angle(spline(at[0])))
        numbers = np.column_stack([angles, axes])
    else:
        numbers = rotations.follow_euler(spline(at), "XYZ")
    return numbers[::FOLLOWED], numbers


def played(request: Request, fit: Handles) -> Float64Array:
    """Return Blender's playback at PLACES of all segments, shape (segments, places, channels)."""
    keys = request.spline.keys
    own = keys.values if request.numbers is None else np.asarray(request.numbers)
    values = (own * fit.signs[:, np.newaxis]).astype(np.float32).astype(np.float64)
    frames = np.repeat(keys.frames[:, np.newaxis], values.shape[1], axis=1)
    points = np.stack([np.stack([frames, values], axis=-1), fit.right, fit.left], axis=0).astype(np.float64)
    bezier = np.stack([points[0, :-1], points[1, :-1], points[2, 1:], points[0, 1:]])[:, :, np.newaxis]
    target = (keys.frames[:-1, np.newaxis] + np.diff(keys.frames)[:, np.newaxis] * PLACES)[..., np.newaxis]

    def at(t: Float64Array, row: int) -> Float64Array:
        a, b, c, d = bezier[..., row]
        value: Float64Array = ((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b) + (3 * (1 - t) * t**2 * c + t**3 * d)
        return value

    low = np.zeros((len(keys) - 1, len(PLACES), values.shape[1]))
    high = np.ones_like(low)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        short = at(middle, 0) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return at(0.5 * (low + high), 1)


def errors(requests: Sequence[Request]) -> Float64Array:
    """Return the largest errors of all segments, shape (tracks, segments).

    Errors are in degrees, or for values in percent of the range of the segment.
    """
    result = []
    for request, fit in zip(requests, fit_handles(requests), strict=True):
        frames = request.spline.keys.frames
        at = frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * PLACES
        exact = evaluate_many([request.spline], at.ravel())[0].reshape(*at.shape, -1)
        found = played(request, fit)
        if request.representation is None:
            reach = np.ptp(np.concatenate([exact[..., 0], request.spline.keys.values[:-1]], axis=1), axis=1)
            result.append(100.0 * np.abs(found - exact)[..., 0].max(axis=1) / reach)
        else:
            representation = rotation_representation(request.representation)
            q = np.moveaxis(representation.orientation(np.moveaxis(found, -1, 0)), 0, -1)
            result.append(np.degrees(rotations.angle_between(rotations.normalise(q), exact).max(axis=1)))
    return np.array(result)


def spread(values: Float64Array) -> list[str]:
    """Return the median, the 90th percentile and the maximum."""
    return [number(float(each)) for each in (np.median(values), np.percentile(values, 90), values.max())]


HEADS = ["median", "9 of 10", "largest"]
EASES = ((0.5, 0.0), (0.5, 0.5), (1.0, 1.0))
"""The rows of tables: the largest tension, continuity and bias, and the largest eases."""


def kind(largest: float, eased: float) -> str:
    """Return a text that describes the parameters of a row."""
    return (f"±{largest:g}, " if largest else "0, ") + (f"eases to {eased:g}" if eased else "no ease")


def quaternions() -> str:
    """Return the table of quaternions by the angle between keys."""
    rows = []
    for largest, eased in EASES:
        for degrees in (30, 90, 170):
            requests = [Request(spline, "QUATERNION") for spline in turning(degrees, largest, eased)]
            rows.append([kind(largest, eased), degrees, *spread(errors(requests))])
    return table(["parameters", "degrees between keys", *HEADS], rows)


def angles(held: str) -> str:
    """Return the table by the angle between keys and, for Euler angles, also by the segment's largest middle angle."""
    rows = []
    for largest, eased in EASES[:2]:
        for degrees in (30, 90):
            splines = turning(degrees, largest, eased)
            numbers = [followed(spline, held) for spline in splines]
            requests = [Request(spline, held, own) for spline, (own, _) in zip(splines, numbers, strict=True)]
            found = errors(requests)
            rows.append([kind(largest, eased), degrees, *(["all"] if held == "XYZ" else []), *spread(found)])
            if held != "XYZ" or eased or degrees < 90:
                continue
            middle = np.degrees(np.array([between[:-1, 1].reshape(KEYS - 1, -1) for _, between in numbers]))
            steep = np.abs((middle + 90.0) % 180.0 - 90.0).max(axis=2)
            for low, high in pairwise(STEEPNESS):
                chosen = found[(steep >= low) & (steep < high)]
                if len(chosen):
                    rows.append([kind(largest, eased), degrees, f"{low:g} to {high:g}", *spread(chosen)])
    pitch = ["pitch"] if held == "XYZ" else []
    return table(["parameters", "degrees between keys", *pitch, *HEADS], rows)


def values() -> str:
    """Return the table of values, in percent of the segment's range."""
    rows = []
    for largest, eased in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0)):
        found = errors([Request(spline) for spline in moving(largest, eased)])
        rows.append([kind(largest, eased), *spread(found)])
    return table(["parameters", *HEADS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--page", type=Path, help="a page to insert the tables into")
    options = parser.parse_args()
    show(
        {
            "quaternions": quaternions(),
            "Euler angles": angles("XYZ"),
            "axis and angle": angles("AXIS_ANGLE"),
            "values": values(),
        },
        options.page,
    )


if __name__ == "__main__":
    main()
