# SPDX-License-Identifier: GPL-3.0-or-later
"""The deviation between two motions of tracks and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...interp.key_batch import BoolArray
from ..fcurves.keyframes import Float64Array
from ..number_text import number_text
from ..translation import rpt_
from .sampled_track import SampledTrack


@dataclass
class Deviation:
    """The deviation between two motions, with distances in scene units and angles in radians."""

    largest: float = 0.0
    at: str = ""
    """The bone or track, and the frame, with the maximum deviation."""
    mean: float = 0.0
    """The mean over all frames, and over all points or values."""
    angle: float = 0.0
    """The largest angle between rotations other than bone rotations."""
    angle_at: str = ""

    def with_points(self, points: Deviation) -> Deviation:
        """Combine the deviation of values and rotations with the points' deviation.

        The mean deviation is the mean over the points.
        """
        larger = points if points.largest >= self.largest else self
        return Deviation(larger.largest, larger.at, points.mean, self.angle, self.angle_at)


def deviation_of_tracks(
    tracks: Sequence[SampledTrack], played: Mapping[str, Float64Array], frames: Float64Array
) -> Deviation:
    """Return the deviation of the played values, given by path, from the tracks. Transforms of bones are ignored.

    Rotations are unit quaternions.
    """
    deviation = Deviation()
    means = []
    for sampled in tracks:
        if sampled.is_of_bone:
            continue
        path = sampled.track.path
        errors = sampled.errors(played[path])
        row = int(np.argmax(errors))
        at = rpt_("{:s}, frame {:s}", path, number_text(frames[row]))
        if not sampled.track.is_rotation:
            means.append(errors.mean())
            if errors[row] >= deviation.largest:
                deviation.largest, deviation.at = float(errors[row]), at
        elif errors[row] >= deviation.angle:
            deviation.angle, deviation.angle_at = float(errors[row]), at
    deviation.mean = float(np.mean(means)) if means else 0.0
    return deviation


def deviation_of_points(
    names: Sequence[str],
    reference: Float64Array,
    positions: Float64Array,
    frames: Float64Array,
    is_measured: BoolArray | None = None,
) -> Deviation:
    """Return the deviation of points from their reference positions, shape (points, frames, 3).

    The mask `is_measured`, shape (points, frames), limits the measurement to some frames of each point.
    """
    errors = np.linalg.norm(positions - reference, axis=2)
    if is_measured is not None:
        if not is_measured.any():
            return Deviation()
        errors = np.where(is_measured, errors, 0.0)
    point, row = divmod(int(np.argmax(errors)), len(frames))
    at = rpt_("{:s}, frame {:s}", names[point], number_text(frames[row]))
    return Deviation(float(errors[point, row]), at, float(errors.mean()))
