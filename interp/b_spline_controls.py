# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the controls of cumulative B-splines of rotations that pass through the keys.

Source: docs/formulas, "B-splines through keys".
"""

from __future__ import annotations

import numpy as np

from .b_spline_weights import BasisWeights
from .key_batch import KeyBatch
from .keys import Float64Array
from .messages import n_
from .rotations import sphere
from .rotations.exponential import rate_of_velocity, turned, velocity_of_exp
from .tridiagonal import factorized, largest_in_tracks, matrices, times, unsolved_error

# The longest step of Newton's method, in radians. The linearization is valid only for smaller turns.
_LONGEST_STEP = 0.5
# Enough steps for controls that are several full turns away from their keys.
_MAX_ITERATIONS = 80
# A step this small, in radians, is the last, because its error is far below rounding.
_SETTLED = 1e-12


def controls_through(
    tracks: KeyBatch, keys: Float64Array, onward: Float64Array, weights: BasisWeights
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
    tracks: KeyBatch, keys: Float64Array, controls: Float64Array, turns: Float64Array, weights: BasisWeights
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
