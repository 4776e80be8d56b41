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
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..base_spline import ComponentSpline, Cycle, Method
from ..cubic_equations import factorized, largest_in_tracks, matrices, times, unsolved_error
from ..cubics import Cubics
from ..keys import Float64Array, IndexArray, KeyBatch, Keys
from ..messages import n_
from ..rotations import sphere
from ..rotations.base_rotation_spline import Path, SolvedSpline, TurnedSpline, turns_between_keys
from ..rotations.sphere import motion_of_product, rate_of_velocity, rotated, turned, velocity_of_exp
from .cubic import NaturalVectorSpline

if TYPE_CHECKING:
    from typing import Self

# The longest step of Newton's method, in radians. The linearization is valid only for smaller turns.
_LONGEST_STEP = 0.5
# Enough steps for controls that are several full turns away from their keys.
_MAX_ITERATIONS = 80
# A step this small, in radians, is the last, because its error is far below rounding.
_SETTLED = 1e-12


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

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        keys, end = tracks.columns, tracks.segment_end
        chords = keys[:, end] - keys
        chord_before, chord_after = chords[:, _segments_away(tracks, -1)], chords[:, _segments_away(tracks, 1)]
        weights = _BasisWeights.of(tracks)
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
    def sphere_curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> _CumulativeTurns:
        start, onward = turns_between_keys(splines, tracks)
        return _CumulativeTurns(tracks, start, rotated(sphere.conjugate(start), onward), _BasisWeights.of(tracks))

    @classmethod
    def value_curve(
        cls, splines: Sequence[Self], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return VectorSpline.curve([], replace(tracks, values=values.T))


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
    def sphere_curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> _CumulativeTurns:
        start, onward = turns_between_keys(splines, tracks)
        weights = _BasisWeights.of(tracks)
        controls, turns = _controls_through(tracks, start, rotated(sphere.conjugate(start), onward), weights)
        return _CumulativeTurns(tracks, controls, turns, weights)

    @classmethod
    def value_curve(
        cls, splines: Sequence[Self], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return NaturalVectorSpline.curve([], replace(tracks, values=values.T))


class _CumulativeTurns:
    """Segments ``c1 exp(t1 (b1 - 1) / 2) exp(t2 b2 / 2) exp(t3 b3 / 2)`` with turns from control to control.

    There is one control quaternion (4, K) per key. `onward` contains the rotation vectors (3, K) from each control to
    the next, in the control's own frame. `weights` are b1, b2 and b3.
    """

    def __init__(self, tracks: KeyBatch, control: Float64Array, onward: Float64Array, weights: _BasisWeights) -> None:
        self._control, self._weights = control, weights
        # The three turns of each segment, shape (3 turns, 3 components, K).
        self._turns = np.stack([onward[:, _segments_away(tracks, offset)] for offset in (-1, 0, 1)])
        first, last = tracks.first[tracks.looped], tracks.last[tracks.looped]
        self._turns[0, :, last], self._turns[1, :, last] = onward[:, last - 1].T, onward[:, first].T
        self._turns[..., tracks.last[~tracks.looped]] = 0.0

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        turns, control = self._turns.take(segment, axis=2), self._control.take(segment, axis=1)
        weights, *rates = [self._weights.at(segment, u, order) for order in range(nu + 1)]
        steps = [sphere.exp(turn * (0.5 * weight)) for turn, weight in zip(turns, weights, strict=True)]
        if nu == 0:
            values = control
            for step in steps:
                values = sphere.product(values, step)
            return values
        motion = [np.zeros_like(turns[0]) for _ in rates]
        # The rate of each turn is along its own axis, which the turn does not change.
        for turn, step, *rates_of_turn in [*zip(turns, steps, *rates, strict=True)][::-1]:
            motion = motion_of_product(step, [turn * rate for rate in rates_of_turn], motion)
        return rotated(control, motion[-1])


class _BasisWeights(NamedTuple):
    """The weights of the four controls around each segment, as cumulative B-splines whose knots are the keys' frames.

    Along a segment, the spline is ``c0 + (c1 - c0) b1 + (c2 - c1) b2 + (c3 - c2) b3`` with cubics b1 to b3 in u. The
    attributes are their Bezier ordinates, except that the others of ``1 - b1`` and b3 are 0.
    """

    c0_at_start: Float64Array
    """The first ordinate of ``1 - b1``, shape (K,)."""
    b2: Float64Array
    """The four ordinates of b2, shape (4, K)."""
    c3_at_end: Float64Array
    """The last ordinate of b3, shape (K,)."""

    @classmethod
    def of(cls, tracks: KeyBatch) -> _BasisWeights:
        """Return the weights of all segments, from the knots around them."""
        length = tracks.lengths
        # The segment of a last key has no length and no motion, so any length is correct.
        length[tracks.last] = 1.0
        before, after = length[_segments_away(tracks, -1)], length[_segments_away(tracks, 1)]
        two_before, two_after = length[_segments_away(tracks, -2)], length[_segments_away(tracks, 2)]
        three_lengths = before + length + after
        start_share, end_share = before / three_lengths, (before + length) / three_lengths
        share_before, share_after = before / (before + length), length / (length + after)
        c0_at_start = (1.0 - share_before) * length / (two_before + before + length)
        b2 = np.stack([share_before * start_share, start_share, end_share, end_share + share_after * (1.0 - end_share)])
        c3_at_end = share_after * length / (length + after + two_after)
        # The segment that begins at the last key of a loop is the first segment.
        segment = np.arange(len(length))
        segment[tracks.last[tracks.looped]] = tracks.first[tracks.looped]
        return cls(c0_at_start[segment], b2[:, segment], c3_at_end[segment])

    def at(self, segment: IndexArray, u: Float64Array, nu: int) -> list[Float64Array]:
        """Return b1 - 1, b2 and b3, or their derivatives with respect to u."""
        rest = 1.0 - u
        start, end = self.c0_at_start[segment], self.c3_at_end[segment]
        p0, p1, p2, p3 = self.b2[:, segment]
        if nu == 0:
            b2 = ((p0 * rest + 3.0 * p1 * u) * rest + 3.0 * p2 * u * u) * rest + p3 * u**3
            return [-start * rest**3, b2, end * u**3]
        r0, r1, r2 = p1 - p0, p2 - p1, p3 - p2
        if nu == 1:
            b2_rate = 3.0 * ((r0 * rest + 2.0 * r1 * u) * rest + r2 * u * u)
            return [3.0 * start * rest**2, b2_rate, 3.0 * end * u**2]
        return [-6.0 * start * rest, 6.0 * ((r1 - r0) * rest + (r2 - r1) * u), 6.0 * end * u]


def _segments_away(tracks: KeyBatch, offset: int) -> IndexArray:
    """Return the segment `offset` places after each segment, across a loop's seam or mirrored at other ends."""
    counts = tracks.last - tracks.first + 1
    first, segment_count = np.repeat(tracks.first, counts), np.repeat(np.maximum(counts - 1, 1), counts)
    index = np.arange(len(tracks.frames)) - first + offset
    mirrored_at_last = np.where(index >= segment_count, 2 * segment_count - 1 - index, index)
    mirrored = np.where(index < 0, -1 - index, mirrored_at_last)
    inside = np.where(np.repeat(tracks.looped, counts), np.mod(index, segment_count), mirrored)
    segments: IndexArray = first + np.clip(inside, 0, segment_count - 1)
    return segments


def _controls_through(
    tracks: KeyBatch, keys: Float64Array, onward: Float64Array, weights: _BasisWeights
) -> tuple[Float64Array, Float64Array]:
    """Return the controls (4, K) of the cumulative B-spline through the keys, and the turns (3, K) between them.

    `keys` (4, K) are the quaternions of the keys, and `onward` (3, K) the turns between them. Turns are in the frame of
    the first of the two controls or keys. Raises KeysError if Newton's method finds no controls.
    """
    controls, turns = keys, onward
    counts = tracks.last - tracks.first + 1
    is_unsolved = np.ones(len(tracks.first), dtype=np.bool_)
    for _ in range(_MAX_ITERATIONS):
        step = _newton_step(tracks, keys, controls, turns, weights)
        # A solved track does not change while others continue, so its result does not depend on them.
        may_move = np.repeat(is_unsolved, counts)
        longest = largest_in_tracks(step, tracks)
        shortening = np.minimum(1.0, np.divide(_LONGEST_STEP, longest, out=np.ones_like(longest), where=longest > 0.0))
        step = np.where(may_move, step * np.repeat(shortening, counts), 0.0)
        controls = np.where(may_move, sphere.product(controls, sphere.exp(step / 2.0)), controls)
        changes = rate_of_velocity(-turns, step[:, tracks.segment_end]) - rate_of_velocity(turns, step)
        turns = np.where(may_move, _turns_near(turns + changes, controls, tracks), turns)
        is_unsolved &= ~(longest <= _SETTLED)
        if not is_unsolved.any():
            return controls, turns
    fault = n_(
        "the rotation between neighboring keys changes too much for a B-spline through them. Insert a key between them"
    )
    raise unsolved_error(fault, tracks, is_unsolved, step)


def _newton_step(
    tracks: KeyBatch, keys: Float64Array, controls: Float64Array, turns: Float64Array, weights: _BasisWeights
) -> Float64Array:
    """Return the turn (3, K) of each control, in its own frame, that brings the linearized spline to all keys.

    At a key, the spline is ``c exp(-t1 w1 / 2) exp(t2 w2 / 2)``, with the turn t1 to the key's control and the
    turn t2 from it to the next control. Both weights are 0 at ends, where the spline is at the key.
    """
    segment_before, segment_after = tracks.segments_beside
    is_inner = tracks.inner
    weight_before = np.where(is_inner, weights.c0_at_start, 0.0)
    weight_after = np.where(is_inner, weights.b2[0], 0.0)
    turn_before, turn_after = turns[:, segment_before], turns[:, segment_after]
    back, ahead = weight_before * turn_before, weight_after * turn_after
    spline_at_keys = sphere.product(sphere.product(controls, sphere.exp(-back / 2.0)), sphere.exp(ahead / 2.0))
    errors = np.where(is_inner, 2.0 * sphere.log(sphere.product(sphere.conjugate(spline_at_keys), keys)), 0.0)
    # The derivatives of the turn at the key with respect to a turn of each control, multiplied from the right.
    turned_by_ahead = matrices(turned, -ahead)
    velocity_of_back, velocity_of_ahead = matrices(velocity_of_exp, back), matrices(velocity_of_exp, -ahead)
    back_rate = weight_before * times(velocity_of_back, matrices(rate_of_velocity, -turn_before))
    diagonal = times(turned_by_ahead, matrices(turned, back) - back_rate)
    diagonal -= weight_after * times(velocity_of_ahead, matrices(rate_of_velocity, turn_after))
    before = weight_before * times(turned_by_ahead, times(velocity_of_back, matrices(rate_of_velocity, turn_before)))
    after = weight_after * times(velocity_of_ahead, matrices(rate_of_velocity, -turn_after))
    # If the matrix is singular, the step is NaN, and the track stays unsolved.
    with np.errstate(all="ignore"):
        return factorized(tracks, before, diagonal, after)(errors)


def _turns_near(estimates: Float64Array, controls: Float64Array, tracks: KeyBatch) -> Float64Array:
    """Return the turns from control to control, in each control's own frame, with the full turns of the estimates."""
    onward = 2.0 * sphere.log(sphere.product(sphere.conjugate(controls), controls[:, tracks.segment_end]))
    angles = sphere.length(onward)
    axes = np.divide(onward, angles, out=np.zeros_like(onward), where=angles > 0.0)
    # Only two full turns restore the sign of a quaternion.
    double_turns = np.rint((sphere.dot(axes, estimates) - angles) / (4.0 * np.pi))
    turns: Float64Array = onward + axes * (4.0 * np.pi * double_turns)
    turns[:, tracks.last] = 0.0
    return turns


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
