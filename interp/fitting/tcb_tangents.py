# SPDX-License-Identifier: GPL-3.0-or-later
"""The factors of TCB tangents, and their derivatives with respect to tension, continuity and bias.

A tangent is a sum of the chords beside its key, with factors that depend on the three parameters. Source:
docs/formulas, "TCB tangents", "Ends of TCB tracks" and "Ends of rotation tracks".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..batch import KeyBatch
from ..keys import Float64Array
from ..splines import tcb

SHAPING = 3
"""The number of parameters that shape tangents: tension, continuity and bias come first."""


def chord_factors(shapes: Float64Array, share: Float64Array) -> Float64Array:
    """Return the factors of the chords in the tangents of keys that have a key on either side.

    Parameters
    ----------
    shapes : ndarray, shape (3 or more, …)
        Tension, continuity and bias.
    share : ndarray, shape (…)
        Frames to the key before, over those from the one before to the one after.

    Returns
    -------
    ndarray, shape (2, 2, …)
        Factors in the incoming and the outgoing tangent, of the chord before and the chord after.
    """
    tension, continuity, bias = shapes[:SHAPING]
    slack, level = 1.0 - tension, (1.0 - np.abs(continuity)) * (share - 0.5)
    into, out = slack * (0.5 + level), slack * (0.5 - level)
    less, more = 1.0 - continuity, 1.0 + continuity
    before, after = 1.0 + bias, 1.0 - bias
    rows = [into * less * before, into * more * after], [out * more * before, out * less * after]
    return np.stack([np.stack(row) for row in rows])


def chord_factor_changes(shapes: Float64Array, share: Float64Array) -> Float64Array:
    """Return the derivatives of `chord_factors` with respect to tension, continuity and bias, shape (2, 2, 3, …).

    At continuity 0, the derivative with respect to continuity is the one toward 1.
    """
    tension, continuity, bias = shapes[:SHAPING]
    lean = share - 0.5
    level, by_level = (1.0 - np.abs(continuity)) * lean, np.where(continuity < 0.0, lean, -lean)
    slack = 1.0 - tension
    changes = np.empty((2, 2, SHAPING, *level.shape))
    for side, sign in ((0, 1.0), (1, -1.0)):
        adjust = 0.5 + sign * level
        for chord, toward in ((0, 1.0), (1, -1.0)):
            # The incoming tangent weights the chord before with 1 - C, the outgoing tangent with 1 + C.
            turn = -sign * toward
            continued, biased = 1.0 + turn * continuity, 1.0 + toward * bias
            loose = adjust * continued
            changes[side, chord, 0] = -loose * biased
            changes[side, chord, 1] = slack * biased * (turn * adjust + sign * by_level * continued)
            changes[side, chord, 2] = toward * slack * loose
    return changes


def rotation_end_changes(shapes: Float64Array, is_last: bool) -> Float64Array:
    """Return the derivatives (3, …) of the factor of the only chord at the first or last keys of rotations."""
    tension, continuity, bias = shapes[:SHAPING]
    sign = -1.0 if is_last else 1.0
    skewed, slack = 1.0 + sign * continuity * bias, 1.0 - tension
    return np.stack([-skewed, sign * slack * bias, sign * slack * continuity])


class TangentChanges(NamedTuple):
    """The derivatives of tangents with respect to the tension, continuity and bias of their own keys."""

    incoming: Float64Array
    outgoing: Float64Array
    """Derivatives of the incoming and outgoing tangents, each of shape (3, d, K)."""
    from_next: Float64Array
    from_last: Float64Array
    """At the ends of value tracks, the shares of the adjacent keys' tangents. 0 at other keys. Shape (K,)."""


def tangent_changes(tracks: KeyBatch, before: Float64Array, after: Float64Array, ends: tcb.Ends) -> TangentChanges:
    """Return the derivatives of the result of `tcb.tangents` for the same arguments."""
    shapes = tracks.parameters[:SHAPING]
    around = tracks.before + tracks.after
    share = np.divide(tracks.before, around, out=np.full_like(around, 0.5), where=around > 0.0)
    changes = chord_factor_changes(shapes, share)
    incoming, outgoing = (
        by_before[:, np.newaxis] * before + by_after[:, np.newaxis] * after for by_before, by_after in changes
    )
    from_next, from_last = np.zeros((2, len(around)))
    first, last = tracks.open
    if ends == "3DS":
        for changed, at, chord, is_last in ((outgoing, first, after, False), (incoming, last, before, True)):
            by_shapes = rotation_end_changes(shapes[:, at], is_last)
            changed[:, :, at] = by_shapes[:, np.newaxis] * chord[:, at]
        return TangentChanges(incoming, outgoing, from_next, from_last)
    inner_in, inner_out = tcb.tangents(tracks, before, after, ends)
    has_more = last - first > 1
    share_of_other = np.where(has_more, 0.5, 0.0)
    for changed, at, chord, other, linked in (
        (outgoing, first, after, inner_in[:, np.minimum(first + 1, len(around) - 1)], from_next),
        (incoming, last, before, inner_out[:, np.maximum(last - 1, 0)], from_last),
    ):
        changed[:, :, at] = 0.0
        changed[0][:, at] = share_of_other * other - (1.0 + share_of_other) * chord[:, at]
        linked[at] = -share_of_other * (1.0 - shapes[0, at])
    return TangentChanges(incoming, outgoing, from_next, from_last)
