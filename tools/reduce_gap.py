# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the number of keys that Reduce finds relative to an optimum from dynamic programming.

    python tools/reduce_gap.py FILE.bvh… [--error 0.5] [--height 170] [--bones 8]

The rotation of each bone is a separate track with common frames for its four channels. The tolerance of a track is the
angle at which the bone's farthest point deviates by the error. The optimum covers all choices of frames. A key has the
value and velocity of one of nine smooth curves. The search found six of the curves for this and for smaller angles.
Segments are therefore independent, and the fewest segments within the angle are a shortest path. The optimum has more
keys than the search only where the search finds segments of more than 100 frames, which the optimum does not try.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import savgol_filter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp.fitting.reduction import SampledTracks, reduce_tracks
from tools.benchmarks.checkout import module
from tools.reduce import Capture, joints, load_capture
from tools.tcb import end_process

channels, find_tracks, sampled_track = (
    module(f"animation.{name}") for name in ("fcurves.channels", "store.find_tracks", "reduction.sampled_track")
)

Floats = npt.NDArray[np.float64]

_FACTORS = (1.0, 0.9, 0.8, 0.65, 0.5, 0.3)
"""Fractions of the angle. The search finds a curve for each, and keys choose from these curves."""
_REACHES = (1, 2, 4)
"""Frames on each side of parabolas from which a key may also choose."""
_LONGEST = 100
"""The length in frames of the longest segment that is tried."""
_HOPELESS = 10.0
"""If all curves of a segment deviate by this multiple of the angle, longer segments are not tried."""


def main() -> None:
    """Print a line of JSON for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--error", type=float, default=0.5, help="centimeters")
    parser.add_argument("--height", type=float, default=170.0, help="of the body in the first frame, centimeters")
    parser.add_argument("--skip", type=int, default=1, help="frames to skip at the beginning")
    parser.add_argument("--bones", type=int, default=8, help="the most bones of each file, evenly chosen")
    parser.add_argument("--frames", type=int, default=400, help="the most frames of each file")
    options = parser.parse_args()
    for file in options.files:
        capture = load_capture(file, options.height, options.skip, "QUATERNION")
        samples, limits = rotations_of(capture, options.frames, options.bones, options.error)
        start = time.process_time()
        reduced_tracks = reduce_tracks([SampledTracks(samples, limits, is_rotation=True)])
        seconds = time.process_time() - start
        search = sum(len(keys.rows) for keys in reduced_tracks)
        choices = choices_of_keys(samples, limits)
        optimum = sum(map(fewest_keys, samples, limits.tolist(), *choices))
        row = {"file": file.stem, "tracks": len(samples), "frames": samples.shape[1]}
        row |= {"search": search, "optimum": optimum, "gap": round(search / optimum - 1.0, 3)}
        print(json.dumps(row | {"seconds": round(seconds, 2)}), flush=True)


def rotations_of(capture: Capture, frame_count: int, bone_count: int, error: float) -> tuple[Floats, Floats]:
    """Return quaternions of bones (tracks, frames, 4), and the angle of each bone for an error in centimeters."""
    rig, length = capture.rig, error * capture.unit
    frames = capture.frames[:frame_count]
    tracks = find_tracks.find_tracks(rig, channels.channels_of(rig))
    sampled = [sampled_track.sample_track(track, frames) for track in tracks]
    moving = [samples for samples in sampled if samples.track.is_rotation and not samples.is_still]
    rows = np.unique(np.linspace(0, len(moving) - 1, bone_count).round().astype(int))
    chosen = [moving[row] for row in rows]
    positions = joints.point_positions(rig, frames[:1])[:, 0]
    limits = []
    for samples in chosen:
        bone = rig.path_resolve(samples.owner.removesuffix("."))
        numbers = [rig.pose.bones.find(child.name) for child in (bone, *bone.children_recursive)]
        # Each bone has a point at its head and one at its tail.
        points = positions[np.concatenate([[2 * number, 2 * number + 1] for number in numbers])]
        farthest = np.linalg.norm(points - positions[2 * numbers[0]], axis=1).max()
        limits.append(length / max(farthest, length))
    return np.stack([samples.values for samples in chosen]), np.array(limits)


def choices_of_keys(samples: Floats, limits: Floats) -> tuple[Floats, Floats]:
    """Return the values and slopes (tracks, choices, frames, 4) that keys may have."""
    frames = np.arange(samples.shape[1])
    values, slopes = [], []
    for factor in _FACTORS:
        reduced_tracks = reduce_tracks([SampledTracks(samples, factor * limits, is_rotation=True)])
        curves = [CubicHermiteSpline(keys.rows, keys.values[0], keys.slopes[0]) for keys in reduced_tracks]
        values.append(np.stack([curve(frames) for curve in curves]))
        slopes.append(np.stack([curve(frames, 1) for curve in curves]))
    for reach in _REACHES:
        values.append(savgol_filter(samples, 2 * reach + 1, 2, axis=1))
        slopes.append(savgol_filter(samples, 2 * reach + 1, 2, deriv=1, axis=1))
    return np.stack(values, axis=1), np.stack(slopes, axis=1)


def fewest_keys(samples: Floats, limit: float, values: Floats, slopes: Floats) -> int:
    """Return the fewest keys of a track (frames, 4) within an angle in radians, from choices (choices, frames, 4)."""
    count, states = len(samples), len(values)
    # The fewest keys up to a key at each frame with each choice, shape (frames, choices).
    fewest = np.full((count, states), np.inf)
    fewest[0] = 1.0
    for end in range(1, count):
        for begin in range(end - 1, max(end - _LONGEST, 0) - 1, -1):
            length = end - begin
            if not np.isfinite(fewest[begin]).any() or fewest[begin].min() + 1.0 >= fewest[end].max():
                continue
            curves = _segments(values[:, [begin, end]], slopes[:, [begin, end]], length)
            chords = np.linalg.norm(curves - samples[begin : end + 1], axis=3)
            angles = 4.0 * np.arcsin(np.minimum(0.5 * chords.max(axis=2), 1.0))
            is_within = angles <= limit * (1.0 + 1e-6)
            if not is_within.any() and length > 1 and chords.min() > _HOPELESS * limit:
                break
            keys = np.where(is_within, fewest[begin][:, np.newaxis] + 1.0, np.inf).min(axis=0)
            np.minimum(fewest[end], keys, out=fewest[end])
        # Neighboring frames can always be joined.
        np.minimum(fewest[end], fewest[end - 1].min() + 1.0, out=fewest[end])
    return int(fewest[-1].min())


def _segments(values: Floats, slopes: Floats, length: int) -> Floats:
    """Return the unit quaternions of all segments, shape (start choices, end choices, length + 1, 4).

    The values and slopes of the choices at both ends have the shape (choices, 2, 4).
    """
    u = np.arange(length + 1)[:, np.newaxis] / length
    (start, end), (leaving, arriving) = (ends[:, :, np.newaxis].swapaxes(0, 1) for ends in (values, slopes))
    from_start = (1.0 - u) ** 2 * ((1.0 + 2.0 * u) * start + u * length * leaving)
    from_end = u**2 * ((3.0 - 2.0 * u) * end - (1.0 - u) * length * arriving)
    curves: Floats = from_start[:, np.newaxis] + from_end[np.newaxis]
    curves /= np.linalg.norm(curves, axis=3, keepdims=True)
    return curves


if __name__ == "__main__":
    main()
    end_process(0)
