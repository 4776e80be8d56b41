# SPDX-License-Identifier: GPL-3.0-or-later
"""B-splines computed with scipy's basis and scipy's rotations."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation


def clamped(frames):
    """Return the knots, which are the keys' frames, with the first and last repeated four times."""
    return np.concatenate([[frames[0]] * 3, frames, [frames[-1]] * 3])


def end_shares(frames):
    """Return the positions of the second and next-to-last controls, as fractions of the first and last segments."""
    first = (frames[1] - frames[0]) / (frames[1] + frames[min(2, len(frames) - 1)] - 2.0 * frames[0])
    last = (frames[-1] - frames[-2]) / (2.0 * frames[-1] - frames[-2] - frames[max(-3, -len(frames))])
    return first, last


def scipys(frames, values):
    """Return scipy's B-spline with knots and controls at the keys, and second derivatives of 0 at the ends."""
    if len(frames) == 2:
        third = (values[1] - values[0]) / 3.0
        return BSpline(clamped(frames), np.array([values[0], values[0] + third, values[1] - third, values[1]]), 3)
    first, last = end_shares(frames)
    second = values[0] + first * (values[1] - values[0])
    before_last = values[-1] + last * (values[-2] - values[-1])
    return BSpline(clamped(frames), np.vstack([values[0], second, values[1:-1], before_last, values[-1]]), 3)


def cumulative(frames, known):
    """Return the curve of Kim, Kim and Shin as a function of the frame, with scipy's basis and rotations."""
    first, last = end_shares(frames)

    def between(start, end, share):
        return start * Rotation.from_rotvec((start.inv() * end).as_rotvec() * share)

    controls = [known[0], between(known[0], known[1], first), *known[1:-1]]
    controls += [between(known[-1], known[-2], last), known[-1]]
    knots, turns = clamped(frames), [(a.inv() * b).as_rotvec() for a, b in itertools.pairwise(controls)]
    sums = [BSpline(knots, (np.arange(len(controls)) >= j).astype(float), 3) for j in range(1, len(controls))]

    def rotation(frame):
        result = controls[0]
        for turn, grown in zip(turns, sums, strict=True):
            result = result * Rotation.from_rotvec(turn * grown(frame))
        return result

    return rotation
