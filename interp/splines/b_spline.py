# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubic B-splines that use the keys as controls, or pass through the keys, with controls computed for this purpose.

The knots are the frames of the keys, so the parameter remains the frame for any spacing. The weight of each control is
largest around the frame of its key. The ends of the spline are natural: it starts at the first key and ends at the last
key with zero curvature. The two additional controls beyond the ends are means of keys. This is equivalent to mirroring
the keys and knots at the ends, so the spline stays within the convex hull there too. A loop is periodic.

Source: docs/formulas, "B-splines", "B-splines of rotations" and "B-splines through keys".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..b_spline_controls import controls_through
from ..b_spline_weights import BasisWeights, segments_away
from ..base_spline import ComponentSpline, Cycle, Method
from ..cubics import Cubics
from ..key_batch import IndexArray, KeyBatch
from ..keys import Float64Array, Keys
from ..messages import n_
from ..rotations import sphere
from ..rotations.base_rotation_spline import Path, TurnedSpline
from ..rotations.exponential import cross, rotated
from ..rotations.rotation_vectors import SolvedSpline, turns_between_keys
from .cubic import NaturalVectorSpline

if TYPE_CHECKING:
    from typing import Self


class VectorSpline(ComponentSpline):
    """B-spline of values that approximates the keys within their convex hull.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. The spline passes through the first and last keys of a track, but through none of the
        keys of a loop.

    Notes
    -----
    The value at a frame is a weighted mean, with nonnegative weights, of the two keys around it and the next key on
    each side. The value is therefore within the convex hull of these keys. One more key on each side affects the value,
    because the frame of that key is a knot. The error is below 1e-15 times the track's largest value. The error in a
    derivative of order k is below 1e-14 times that value divided by the k-th power of the shortest segment length.
    Source: docs/formulas, "B-splines".
    """

    interpolating = False
    is_cubic = True

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        keys, end = tracks.columns, tracks.segment_end
        chords = keys[:, end] - keys
        chord_before, chord_after = chords[:, segments_away(tracks, -1)], chords[:, segments_away(tracks, 1)]
        weights = BasisWeights.of(tracks)
        # The four Bezier ordinates of each segment.
        p0, p1, p2, p3 = (keys + weight * chords for weight in weights.b2)
        p0 -= weights.c0_at_start * chord_before
        p3 += weights.c3_at_end * chord_after
        first, last = tracks.open_ends
        p0[:, first], p3[:, last - 1] = keys[:, first], keys[:, last]
        # The segment that begins at a last key holds the end of the segment before.
        held = np.where(tracks.looped, p3[:, np.maximum(tracks.last - 1, 0)], keys[:, tracks.last])
        for ordinate in (p0, p1, p2, p3):
            ordinate[:, tracks.last] = held
        return Cubics(p0, p3, 3.0 * (p1 - p0), 3.0 * (p3 - p2))


class RotationSpline(TurnedSpline):
    """Cumulative B-spline of rotations that approximates the keys.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`. The spline passes through the first and last keys of a track, but through none of the
        keys of a loop.

    Notes
    -----
    Each turn from one control to the next is applied with the weight of a cumulative B-spline. For rotation about one
    axis, the motion is the B-spline of the angle, including full turns. The error is below 1e-13. The error in angular
    velocities is below 1e-13 times the largest turn divided by the shortest segment length. The error in angular
    accelerations is below 1e-12 times the square of this quotient. Source: docs/formulas, "B-splines of rotations".
    """

    interpolating = False

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> _CumulativeTurns:
        start, onward = turns_between_keys(splines, tracks)
        return _CumulativeTurns(tracks, start, rotated(sphere.conjugate(start), onward), BasisWeights.of(tracks))


class ThroughVectorSpline(NaturalVectorSpline):
    """B-spline of values that passes through the keys.

    The result is the natural cubic spline, the only cubic spline with these knots, keys and end conditions. It is
    computed as cubics between the keys. For rotations, the B-spline through the keys differs from the natural cubic
    spline.

    Notes
    -----
    See `cubic.NaturalVectorSpline` for the error bounds.
    """


class ThroughRotationSpline(SolvedSpline):
    """Cumulative B-spline of rotations that passes through the keys.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Raises
    ------
    KeysError
        If `OrientationSpline` raises the error, or no controls are found. No controls are found for one in twenty
        random tracks that turn by more than 90 degrees between keys, with a different axis each time. Some tracks that
        turn back and forth by more than 360 degrees, or whose segment lengths differ by a factor of more than 10, have
        no controls either.

    Notes
    -----
    The error at keys is below 1e-12 radians. Other error bounds are the same as for `RotationSpline`. For rotation
    about one axis, the motion is the natural cubic spline of the angle. Source: docs/formulas,
    "B-splines through keys".
    """

    # 34 degrees. At 46 degrees, some unevenly spaced keys had no controls.
    certain_turn = 0.6

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", path: Path = "SHORTEST") -> None:
        super().__init__(keys, cycle, path)
        self.check()

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> _CumulativeTurns:
        start, onward = turns_between_keys(splines, tracks)
        weights = BasisWeights.of(tracks)
        controls, turns = controls_through(tracks, start, rotated(sphere.conjugate(start), onward), weights)
        return _CumulativeTurns(tracks, controls, turns, weights)


class _CumulativeTurns:
    """Segments ``c1 exp(t1 (b1 - 1) / 2) exp(t2 b2 / 2) exp(t3 b3 / 2)`` with turns from control to control.

    There is one control quaternion (4, K) per key. `onward` contains the rotation vectors (3, K) from each control to
    the next, in the control's own frame. `weights` are b1, b2 and b3.
    """

    def __init__(self, tracks: KeyBatch, control: Float64Array, onward: Float64Array, weights: BasisWeights) -> None:
        self._control, self._weights = control, weights
        self._turns = [onward[:, segments_away(tracks, offset)] for offset in (-1, 0, 1)]
        first, last = tracks.first[tracks.looped], tracks.last[tracks.looped]
        self._turns[0][:, last], self._turns[1][:, last] = onward[:, last - 1], onward[:, first]
        held_segments = tracks.last[~tracks.looped]
        for turn in self._turns:
            turn[:, held_segments] = 0.0
        self._angles = [sphere.length(turn) for turn in self._turns]
        self._axes = [
            np.divide(turn, angle, out=np.zeros_like(turn), where=angle > 0.0)
            for turn, angle in zip(self._turns, self._angles, strict=True)
        ]

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        steps = self._steps(segment, self._weights.at(segment, u, 0))
        control = self._control.take(segment, axis=1)
        if nu == 0:
            values = control
            for step in steps:
                values = sphere.product(values, step)
            return values
        turns = [turn.take(segment, axis=1) for turn in self._turns]
        rates = [turn * rate for turn, rate in zip(turns, self._weights.at(segment, u, 1), strict=True)]
        velocity = np.zeros_like(rates[0])
        if nu == 1:
            for step, rate in zip(steps[::-1], rates[::-1], strict=True):
                velocity = rotated(step, rate + velocity)
            return rotated(control, velocity)
        changes = [turn * change for turn, change in zip(turns, self._weights.at(segment, u, 2), strict=True)]
        acceleration = np.zeros_like(velocity)
        for step, rate, change in zip(steps[::-1], rates[::-1], changes[::-1], strict=True):
            # The rate of each turn is along its own axis, which the turn does not change.
            velocity, acceleration = rotated(step, velocity), rotated(step, acceleration)
            acceleration = change + acceleration + cross(rate, velocity)
            velocity = rate + velocity
        return rotated(control, acceleration)

    def _steps(self, segment: IndexArray, weights: Sequence[Float64Array]) -> list[Float64Array]:
        """Return the quaternions of the three weighted turns, each of shape (4, samples)."""
        steps = []
        for angle, axis, weight in zip(self._angles, self._axes, weights, strict=True):
            step = np.empty((4, len(segment)))
            step[0], sine = sphere.cosine_and_sine(angle.take(segment) * (0.25 * weight))
            step[1:] = axis.take(segment, axis=1) * sine
            steps.append(step)
        return steps


METHOD = Method(
    "B_SPLINE",
    n_("B-Spline"),
    n_("Smoothest curve. It passes only through the first and last keys"),
    VectorSpline,
    RotationSpline,
    rotation_options=("path",),
)
THROUGH = Method(
    "B_SPLINE_THROUGH",
    n_("B-Spline Through Keys"),
    n_("B-spline through the keys. For values, the same curve as Cubic, Natural"),
    ThroughVectorSpline,
    ThroughRotationSpline,
    rotation_options=("path",),
)
