# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a fit's pieces, and its deviation from the spline."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from interp import rotations

AMONG_PIECES = 24


def numbers_of(spline, held):
    """Return a track's keys in channels that are continuous from key to key."""
    q = spline.keys.values if spline.interpolating else spline(spline.keys.frames)
    if held == "QUATERNION":
        return q
    if held == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(q)
        return np.column_stack([angles, axes])
    return rotations.follow_euler(q, held)


def orientations(numbers, held):
    if held == "QUATERNION":
        return rotations.normalise(numbers)
    if held == "AXIS_ANGLE":
        return rotations.from_axis_angle(numbers[:, 1:], numbers[:, 0])
    return rotations.from_euler(numbers, held)


def segments(spline, numbers, fit):
    """Yield the frames, values and derivatives at the ends of pieces, for each segment and channel."""
    frames = spline.keys.frames
    for index, (start, end) in enumerate(pairwise(frames)):
        channels = []
        for channel, knots in enumerate(fit.knots):
            own = (knots.frames > start) & (knots.frames < end)
            channels.append(
                (
                    np.concatenate([[start], knots.frames[own], [end]]),
                    np.concatenate([numbers[index, [channel]], knots.values[own], fit.arriving[index + 1, [channel]]]),
                    np.concatenate(
                        [fit.outgoing[index, [channel]], knots.derivatives[own], fit.incoming[index + 1, [channel]]]
                    ),
                )
            )
        yield channels


def largest_difference(spline, numbers, fit, held=None):
    """Return the largest deviation of the pieces from the spline in each segment: an angle, or per channel."""
    found = []
    for channels in segments(spline, numbers, fit):
        places = np.concatenate([each[0] for each in channels])
        frames = np.concatenate([np.linspace(a, b, AMONG_PIECES) for a, b in pairwise(places) if b > a])
        played = np.stack([CubicHermiteSpline(*each)(frames) for each in channels], axis=1)
        if held is None:
            found.append(np.abs(played - spline(frames)).max(axis=0))
        else:
            found.append(rotations.angle_between(orientations(played, held), spline(frames)).max())
    return np.array(found)
