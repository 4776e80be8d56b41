# SPDX-License-Identifier: GPL-3.0-or-later
"""Normalized Catmull-Rom spline of quaternion components, the cubic counterpart of nlerp.

Uneven spacing and ends are handled as in `catmull_rom`. Source: docs/formulas, "Quaternion components".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..base_spline import Cycle, Method
from ..cubics import Cubics
from ..key_batch import IndexArray, KeyBatch
from ..keys import Float64Array, Keys
from ..messages import n_
from ..rotations import sphere
from ..rotations.base_rotation_spline import OrientationSpline, Path
from ..rotations.signs import neighbors, signed_quaternions
from . import catmull_rom

# Component vectors shorter than this are rejected, because their direction has lost two digits and turns within a few
# thousandths of a segment.
_SHORTEST = 0.01
# The number of parts in which a segment is sampled. For evenly spaced half turns, each part is within 1e-3 of its
# chord.
_PARTS = 64


class RotationSpline(OrientationSpline):
    """Spline of rotations that normalizes the Catmull-Rom spline of quaternion components.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Raises
    ------
    KeysError
        If `OrientationSpline` raises the error, or the length of the components falls below 0.01, where they barely
        determine an orientation. Such lengths occur for large turns with uneven spacing or with the path "AS_KEYED".

    Notes
    -----
    For small turns, the spline equals `catmull_rom.RotationSpline` except for terms that are quadratic in the turns.
    Let r be the largest tangent per segment, but at least 1, divided by the length of the components. The error of a
    sample is below 1e-14 r. The error in angular velocities is below 1e-13 r² per segment length, and the error in
    angular accelerations is below 1e-13 r³ per squared segment length.
    """

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", path: Path = "SHORTEST") -> None:
        super().__init__(keys, cycle, path)
        key = _first_short(cast(Normalised, self.prepared.curve).components, len(self.keys))
        if key is not None:
            fault = n_(
                "before the next key, the four components come within {!s} of 0, where the rotation is undefined. "
                "Insert a key between the two keys",
                _SHORTEST,
            )
            raise self.keys.error(fault, key)

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> Normalised:
        return Normalised(_components(splines, tracks))


class Normalised:
    """Segments of four normalized components."""

    def __init__(self, components: Cubics) -> None:
        self.components = components

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        p = self.components.evaluate(segment, u, 0)
        if nu == 0:
            quaternions: Float64Array = p / sphere.length(p)
            return quaternions
        # p = r q gives p' / p = r' / r + q' / q, whose vector part is half the angular velocity. Its derivative is p''
        # / p minus the square of p' / p.
        inverse = sphere.conjugate(p) / sphere.dot(p, p)
        ratio = sphere.product(self.components.evaluate(segment, u, 1), inverse)
        if nu == 1:
            return 2.0 * ratio[1:]
        change = sphere.product(self.components.evaluate(segment, u, 2), inverse)
        acceleration: Float64Array = 2.0 * change[1:] - 4.0 * ratio[0] * ratio[1:]
        return acceleration


def _components(splines: Sequence[RotationSpline], tracks: KeyBatch) -> Cubics:
    """Return the segments of the four components before normalization."""
    q = signed_quaternions(splines, tracks)
    before, after = neighbors(tracks, q)
    return Cubics.through(tracks, q, catmull_rom.velocities(tracks, q - before, after - q))


def _first_short(components: Cubics, key_count: int) -> int | None:
    """Return the key after which the components of a track are too close to 0, or None."""
    segments = np.arange(key_count - 1)
    segments = segments[_hull_distances(components, segments) < _SHORTEST]
    is_short = _shortest_lengths(components, segments) < _SHORTEST
    return int(segments[np.argmax(is_short)]) if is_short.any() else None


def _hull_distances(components: Cubics, segments: IndexArray) -> Float64Array:
    """Return the distances from 0 of a plane that has all Bezier points of a segment on its other side, or below 0.

    A cubic stays in the hull of its Bezier points, so a segment is at least as far from 0.
    """
    at_start, at_end = np.zeros(len(segments)), np.ones(len(segments))
    start, end = components.evaluate(segments, at_start, 0), components.evaluate(segments, at_end, 0)
    points = [
        start,
        start + components.evaluate(segments, at_start, 1) / 3.0,
        end - components.evaluate(segments, at_end, 1) / 3.0,
        end,
    ]
    normal = (start + end) / sphere.length(start + end)
    distances: Float64Array = np.min([sphere.dot(point, normal) for point in points], axis=0)
    return distances


def _shortest_lengths(components: Cubics, segments: IndexArray) -> Float64Array:
    """Return the distances from 0 of the polygons through samples of segments."""
    u = np.tile(np.linspace(0.0, 1.0, _PARTS + 1), len(segments))
    samples = components.evaluate(np.repeat(segments, _PARTS + 1), u, 0).reshape(4, len(segments), _PARTS + 1)
    start, chord = samples[..., :-1], np.diff(samples, axis=2)
    square = sphere.dot(chord, chord)
    nearest = np.divide(-sphere.dot(start, chord), square, out=np.zeros_like(square), where=square > 0.0)
    lengths: Float64Array = sphere.length(start + np.clip(nearest, 0.0, 1.0) * chord).min(axis=1)
    return lengths


METHOD = Method(
    "RAW_CUBIC",
    n_("Raw Cubic"),
    n_("Catmull-Rom spline of the four quaternion components. Fast, and accurate for small turns"),
    None,
    RotationSpline,
    rotation_options=("path",),
)
