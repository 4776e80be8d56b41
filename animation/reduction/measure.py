# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure a reduction: the number of keys, and the deviation of the motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...interp import rotations
from ...interp.key_batch import BoolArray
from ..fcurves.frames import union
from ..fcurves.keyframes import Float32Array, Float64Array, read_coordinates
from ..number_text import number_text
from ..store.tracks import Track
from ..translation import rpt_
from .beside_range import sides
from .sampled_track import SampledTrack


@dataclass
class Difference:
    """The deviation between two motions, with distances in scene units and angles in radians."""

    largest: float = 0.0
    at: str = ""
    """The bone or track, and the frame, with the maximum deviation."""
    mean: float = 0.0
    """The mean over all frames, and over all points or values."""
    angle: float = 0.0
    """The largest angle between rotations other than bone rotations."""
    angle_at: str = ""

    def with_points(self, points: Difference) -> Difference:
        """Combine the deviation of values and rotations with the points' deviation.

        The mean deviation is the mean over the points.
        """
        larger = points if points.largest >= self.largest else self
        return Difference(larger.largest, larger.at, points.mean, self.angle, self.angle_at)


def count_keys(tracks: Sequence[Track], range_: Float64Array) -> tuple[int, int]:
    """Return the number of keyed frames in a range, summed over tracks, and summed over bones and objects."""
    frames: dict[str, list[Float32Array]] = {}
    keys = 0
    for track in tracks:
        own = union([read_coordinates(fcurve)[::2] for fcurve in track.channels.values()])
        own = own[~np.logical_or(*sides(own, range_))]
        keys += len(own)
        frames.setdefault(track.path.rpartition(".")[0], []).append(own)
    return keys, sum(len(union(own)) for own in frames.values())


def difference(wanted: Sequence[SampledTrack], played: Mapping[str, Float64Array], frames: Float64Array) -> Difference:
    """Return the deviation of the played values, given by path. Transforms of bones are ignored.

    Rotations are unit quaternions.
    """
    found = Difference()
    means = []
    for sampled in wanted:
        if sampled.is_of_bone:
            continue
        path = sampled.track.path
        if sampled.track.is_rotation:
            off = rotations.angle_between(played[path], sampled.values)
        else:
            off = np.linalg.norm(played[path] - sampled.values, axis=1)
            means.append(off.mean())
        row = int(np.argmax(off))
        place = rpt_("{:s}, frame {:s}", path, number_text(frames[row]))
        if sampled.track.is_rotation and off[row] >= found.angle:
            found.angle, found.angle_at = float(off[row]), place
        elif not sampled.track.is_rotation and off[row] >= found.largest:
            found.largest, found.at = float(off[row]), place
    found.mean = float(np.mean(means)) if means else 0.0
    return found


def difference_of_points(
    names: Sequence[str],
    wanted: Float64Array,
    places: Float64Array,
    frames: Float64Array,
    chosen: BoolArray | None = None,
) -> Difference:
    """Return the deviation of points from their wanted positions, shape (points, frames, 3), where the mask is true."""
    off = np.linalg.norm(places - wanted, axis=2)
    if chosen is not None:
        if not chosen.any():
            return Difference()
        off = np.where(chosen, off, 0.0)
    point, row = divmod(int(np.argmax(off)), len(frames))
    return Difference(
        float(off[point, row]), rpt_("{:s}, frame {:s}", names[point], number_text(frames[row])), float(off.mean())
    )
