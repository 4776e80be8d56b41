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
from ..keys import Float64Array, IndexArray, KeyBatch, Keys
from ..messages import n_
from ..prepared import Curve
from ..rotations import sphere
from ..rotations.base_rotation_spline import OrientationSpline, Path, neighbors, signed_quaternions
from ..rotations.representations import Quaternion, RotationCurve
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
        components = cast(RotationCurve, self.prepared.curve).channels
        is_short = _shortest_lengths(components, np.arange(len(self.keys) - 1)) < _SHORTEST
        if is_short.any():
            fault = n_(
                "before the next key, the four components come within {!s} of 0, where the rotation is undefined. "
                "Insert a key between the two keys",
                _SHORTEST,
            )
            raise self.keys.error(fault, int(np.argmax(is_short)))

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationCurve:
        q = signed_quaternions(splines, tracks)
        before, after = neighbors(tracks, q)
        velocities = catmull_rom.velocities(tracks, q - before, after - q)
        return RotationCurve(Cubics.through(tracks, q, velocities), Quaternion())


def _shortest_lengths(components: Curve, segments: IndexArray) -> Float64Array:
    """Return the shortest length of the components in each segment, measured on the polygon through its samples."""
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
