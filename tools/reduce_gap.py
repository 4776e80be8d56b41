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
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import savgol_filter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from interp.fitting.reduction import SampledTracks, reduce_tracks
from tools.tcb import end_process

Floats = npt.NDArray[np.float64]

_FACTORS = (1.0, 0.9, 0.8, 0.65, 0.5, 0.3)
"""Fractions of the angle. The search finds a curve for each, and keys choose from these curves."""
_REACHES = (1, 2, 4)
"""Frames on each side of parabolas from which a key may also choose."""
_LONGEST = 100
"""The length in frames of the longest segment that is tried."""


def main() -> None:
    """Print a line of JSON for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--error", type=float, default=0.5, help="centimeters")
    parser.add_argument("--height", type=float, default=170.0, help="of the body in the first frame, centimeters")
    parser.add_argument("--skip", type=int, default=1, help="frames to skip at the beginning")
    parser.add_argument("--bones", type=int, default=8, help="the most bones of each file, evenly chosen")
    parser.add_argument("--frames", type=int, default=400, help="the most frames of each file")
    given = parser.parse_args()
    for file in given.files:
        given.file = file
        samples, limits = tracks_of(given)
        start = time.process_time()
        found = [len(keys.rows) for keys in reduce_tracks([SampledTracks(samples, limits, is_rotation=True)])]
        seconds = time.process_time() - start
        values, slopes = _choices(samples, limits)
        least = [fewest(*each) for each in zip(samples, limits.tolist(), values, slopes, strict=True)]
        print(
            json.dumps(
                {
                    "file": given.file.stem,
                    "tracks": len(samples),
                    "frames": samples.shape[1],
                    "search": sum(found),
                    "optimum": sum(least),
                    "gap": round(sum(found) / sum(least) - 1.0, 3),
                    "seconds": round(seconds, 2),
                }
            ),
            flush=True,
        )


def tracks_of(given: Any) -> tuple[Floats, Floats]:
    """Return the bones' quaternions (tracks, frames, 4), and the allowed angle of each bone."""
    reduce = importlib.import_module("tools.reduce")
    rig, frames, unit = reduce.load(given, "QUATERNION")
    tracks = importlib.import_module(f"{reduce.animation.__name__}.store.find_tracks")
    sampled_track = importlib.import_module(f"{reduce.animation.__name__}.reduction.sampled_track")
    frames = frames[: given.frames]
    animated_tracks = tracks.find_tracks(rig, reduce.channels.channels_of(rig))
    every = [sampled_track.sample_track(track, frames) for track in animated_tracks]
    places = reduce.joints.point_positions(rig, frames[:1])[:, 0]
    turning = [dense for dense in every if dense.track.is_rotation and not dense.is_still]
    chosen = [turning[at] for at in np.unique(np.linspace(0, len(turning) - 1, given.bones).round().astype(int))]
    limits = []
    for dense in chosen:
        bone = rig.path_resolve(dense.owner.removesuffix("."))
        numbers = [rig.pose.bones.find(each.name) for each in (bone, *bone.children_recursive)]
        points = places[np.concatenate([[2 * number, 2 * number + 1] for number in numbers])]
        reach = np.linalg.norm(points - places[2 * numbers[0]], axis=1).max()
        limits.append(given.error * unit / max(reach, given.error * unit))
    return np.stack([dense.values for dense in chosen]), np.array(limits)


def fewest(samples: Floats, limit: float, values: Floats, slopes: Floats) -> int:
    """Return the fewest keys of a track (frames, 4) within an angle in radians, from choices (choices, frames, 4)."""
    count, states = len(samples), len(values)
    least = np.full((count, states), np.inf)
    least[0] = 1.0
    for end in range(1, count):
        for begin in range(end - 1, max(end - _LONGEST, 0) - 1, -1):
            length = end - begin
            if not np.isfinite(least[begin]).any() or least[begin].min() + 1.0 >= least[end].max():
                continue
            u = np.arange(length + 1)[:, np.newaxis] / length
            first = (1.0 - u) ** 2 * (
                (1.0 + 2.0 * u) * values[:, np.newaxis, begin] + u * length * slopes[:, np.newaxis, begin]
            )
            last = u**2 * (
                (3.0 - 2.0 * u) * values[:, np.newaxis, end] - (1.0 - u) * length * slopes[:, np.newaxis, end]
            )
            curve = first[:, np.newaxis] + last[np.newaxis]
            curve /= np.linalg.norm(curve, axis=3, keepdims=True)
            chord = np.linalg.norm(curve - samples[begin : end + 1], axis=3)
            able = 4.0 * np.arcsin(np.minimum(0.5 * chord.max(axis=2), 1.0)) <= limit * (1.0 + 1e-6)
            if not able.any() and length > 1 and chord.min() > 10.0 * limit:
                break
            reached = np.where(able, least[begin][:, np.newaxis] + 1.0, np.inf).min(axis=0)
            np.minimum(least[end], reached, out=least[end])
        # Neighboring frames can always be joined.
        np.minimum(least[end], least[end - 1].min() + 1.0, out=least[end])
    return int(least[-1].min())


def _choices(samples: Floats, limits: Floats) -> tuple[Floats, Floats]:
    """Return the values and slopes (tracks, choices, frames, 4) that keys may have."""
    frames = np.arange(samples.shape[1])
    values, slopes = [], []
    for factor in _FACTORS:
        found = reduce_tracks([SampledTracks(samples, factor * limits, is_rotation=True)])
        curves = [CubicHermiteSpline(keys.rows, keys.values[0], keys.slopes[0]) for keys in found]
        values.append(np.stack([curve(frames) for curve in curves]))
        slopes.append(np.stack([curve(frames, 1) for curve in curves]))
    for reach in _REACHES:
        values.append(savgol_filter(samples, 2 * reach + 1, 2, axis=1))
        slopes.append(savgol_filter(samples, 2 * reach + 1, 2, deriv=1, axis=1))
    return np.stack(values, axis=1), np.stack(slopes, axis=1)


if __name__ == "__main__":
    main()
    end_process(0)
