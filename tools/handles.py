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
"""The number of tracks of a row, and of the keys of each track."""
POINTS = np.linspace(0.0, 1.0, 242)[1:-1]
"""The local parameters at which errors are measured."""
POINTS_TO_FOLLOW = 400
"""Points per segment at which angles are followed from key to key."""
PITCHES = (0.0, 30.0, 60.0, 75.0, 90.0)
"""The limits of the middle Euler angle in degrees, which show the distance of a segment from gimbal lock."""
HALVINGS = 45
"""The number of bisections, which find the parameter of a frame to 2^-45 = 3e-14."""
PARAMETERS = ((0.5, 0.0), (0.5, 0.5), (1.0, 1.0))
"""The rows of tables: the largest tension, continuity and bias, and the largest eases."""
HEADS = ["median", "9 of 10", "largest"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--page", type=Path, help="a page to insert the tables into")
    options = parser.parse_args()
    show(
        {
            "quaternions": quaternions(),
            "Euler angles": euler_angles(),
            "axis and angle": axis_and_angle(),
            "values": values(),
        },
        options.page,
    )


def quaternions() -> str:
    """Return the table of quaternions by the angle between keys."""
    rows = []
    for largest, eased in PARAMETERS:
        for degrees in (30, 90, 170):
            requests = [Request(spline, "QUATERNION") for spline in rotation_splines(degrees, largest, eased)]
            rows.append([text_of(largest, eased), degrees, *spread(errors(requests))])
    return table(["parameters", "degrees between keys", *HEADS], rows)


def euler_angles() -> str:
    """Return the table of Euler angles by the angle between keys and the segment's largest middle angle."""
    rows = []
    for largest, eased in PARAMETERS[:2]:
        for degrees in (30, 90):
            splines = rotation_splines(degrees, largest, eased)
            followed_angles = [rotations.follow_euler(spline(frames_to_follow(spline)), "XYZ") for spline in splines]
            segment_errors = errors_of_angles(splines, "XYZ", followed_angles)
            rows.append([text_of(largest, eased), degrees, "all", *spread(segment_errors)])
            if eased or degrees < 90:
                continue
            middle_angles = np.degrees([angles[:-1, 1].reshape(KEYS - 1, -1) for angles in followed_angles])
            pitches = np.abs((middle_angles + 90.0) % 180.0 - 90.0).max(axis=2)
            for low, high in pairwise(PITCHES):
                errors_in_range = segment_errors[(pitches >= low) & (pitches < high)]
                if len(errors_in_range):
                    rows.append([text_of(largest, eased), degrees, f"{low:g} to {high:g}", *spread(errors_in_range)])
    return table(["parameters", "degrees between keys", "pitch", *HEADS], rows)


def axis_and_angle() -> str:
    """Return the table of axes and angles by the angle between keys."""
    rows = []
    for largest, eased in PARAMETERS[:2]:
        for degrees in (30, 90):
            splines = rotation_splines(degrees, largest, eased)
            followed_numbers = []
            for spline in splines:
                q = spline(frames_to_follow(spline))
                axes, angles = rotations.follow_axis_angle(q, *rotations.to_axis_angle(q[0]))
                followed_numbers.append(np.column_stack([angles, axes]))
            segment_errors = errors_of_angles(splines, "AXIS_ANGLE", followed_numbers)
            rows.append([text_of(largest, eased), degrees, *spread(segment_errors)])
    return table(["parameters", "degrees between keys", *HEADS], rows)


def values() -> str:
    """Return the table of values, in percent of the segment's range."""
    rows = []
    for largest, eased in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0)):
        segment_errors = errors([Request(spline) for spline in value_splines(largest, eased)])
        rows.append([text_of(largest, eased), *spread(segment_errors)])
    return table(["parameters", *HEADS], rows)


def text_of(largest: float, eased: float) -> str:
    """Return a text that describes the parameters of a row."""
    return (f"±{largest:g}, " if largest else "0, ") + (f"eases to {eased:g}" if eased else "no ease")


def spread(numbers: Float64Array) -> list[str]:
    """Return the median, the 90th percentile and the maximum."""
    return [number(float(share)) for share in (np.median(numbers), np.percentile(numbers, 90), numbers.max())]


def rotation_splines(degrees: float, largest: float, eased: float) -> list[tcb.RotationSpline]:
    """Return tracks with keys the given number of degrees apart, about random axes."""
    generator = np.random.default_rng(1)
    tracks = []
    for _ in range(TRACKS):
        axes = generator.normal(size=(KEYS, 3))
        q = rotations.turns_to_rotations(np.full(KEYS, np.radians(degrees)), axes)
        tracks.append(tcb.RotationSpline(Keys(frames_of(generator), q, *parameters(generator, largest, eased))))
    return tracks


def value_splines(largest: float, eased: float) -> list[tcb.VectorSpline]:
    """Return tracks with one random number per key."""
    generator = np.random.default_rng(2)
    tracks = []
    for _ in range(TRACKS):
        numbers = parameters(generator, largest, eased)
        tracks.append(tcb.VectorSpline(Keys(frames_of(generator), generator.normal(size=KEYS), *numbers)))
    return tracks


def parameters(generator: np.random.Generator, largest: float, eased: float) -> Float64Array:
    """Return parameters (5, KEYS), with tension, continuity and bias within `largest`, and eases up to `eased`."""
    return np.vstack([generator.uniform(-largest, largest, (3, KEYS)), generator.uniform(0.0, eased, (2, KEYS))])


def frames_of(generator: np.random.Generator) -> Float64Array:
    """Return the frames of keys that are 8 to 25 frames apart."""
    return np.cumsum(generator.integers(8, 26, KEYS)).astype(np.float64)


def frames_to_follow(spline: tcb.RotationSpline) -> Float64Array:
    """Return the frames of the keys and of points between them, close enough to follow angles."""
    frames = spline.keys.frames
    shares = np.arange(POINTS_TO_FOLLOW) / POINTS_TO_FOLLOW
    return np.append((frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * shares).ravel(), frames[-1])


def errors_of_angles(
    splines: Sequence[tcb.RotationSpline], representation: str, followed_numbers: Sequence[Float64Array]
) -> Float64Array:
    """Return the result of `errors`, for channels that continue from key to key."""
    numbers_at_keys = [numbers[::POINTS_TO_FOLLOW] for numbers in followed_numbers]
    return errors(
        [Request(spline, representation, numbers) for spline, numbers in zip(splines, numbers_at_keys, strict=True)]
    )


def errors(requests: Sequence[Request]) -> Float64Array:
    """Return the largest errors of all segments, shape (tracks, segments).

    Errors are in degrees, or for values in percent of the range of the segment.
    """
    result = []
    for request, fit in zip(requests, fit_handles(requests), strict=True):
        key_frames = request.spline.keys.frames
        frames = key_frames[:-1, np.newaxis] + np.diff(key_frames)[:, np.newaxis] * POINTS
        exact = evaluate_many([request.spline], frames.ravel())[0].reshape(*frames.shape, -1)
        channels = played(request, fit)
        if request.representation is None:
            ranges = np.ptp(np.concatenate([exact[..., 0], request.spline.keys.values[:-1]], axis=1), axis=1)
            result.append(100.0 * np.abs(channels - exact)[..., 0].max(axis=1) / ranges)
        else:
            representation = rotation_representation(request.representation)
            q = np.moveaxis(representation.orientation(np.moveaxis(channels, -1, 0)), 0, -1)
            result.append(np.degrees(rotations.angle_between(rotations.normalise(q), exact).max(axis=1)))
    return np.array(result)


def played(request: Request, fit: Handles) -> Float64Array:
    """Return Blender's playback at POINTS of all segments, shape (segments, points, channels)."""
    keys = request.spline.keys
    numbers = keys.values if request.numbers is None else np.asarray(request.numbers)
    values = (numbers * fit.signs[:, np.newaxis]).astype(np.float32).astype(np.float64)
    frames = np.repeat(keys.frames[:, np.newaxis], values.shape[1], axis=1)
    positions = np.stack([frames, values], axis=-1)
    left, right = fit.left.astype(np.float64), fit.right.astype(np.float64)
    # The control points of the segments, shape (4, segments, 1, channels, 2) for frame and value.
    bezier = np.stack([positions[:-1], right[:-1], left[1:], positions[1:]])[:, :, np.newaxis]
    target = (keys.frames[:-1, np.newaxis] + np.diff(keys.frames)[:, np.newaxis] * POINTS)[..., np.newaxis]

    def at(t: Float64Array, row: int) -> Float64Array:
        a, b, c, d = bezier[..., row]
        value: Float64Array = ((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b) + (3 * (1 - t) * t**2 * c + t**3 * d)
        return value

    low = np.zeros((len(keys) - 1, len(POINTS), values.shape[1]))
    high = np.ones_like(low)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_before = at(middle, 0) < target
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return at(0.5 * (low + high), 1)


if __name__ == "__main__":
    main()
