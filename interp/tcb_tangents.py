# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents at keys from tension, continuity and bias, and the rules for the ends of tracks.

Source: docs/formulas, "TCB tangents" and "Ends of TCB tracks".
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .key_batch import KeyBatch
from .keys import Float64Array

Ends = Literal["3DS", "TANGENT"]
"""The rule for the ends of tracks that are not loops, either of rotations in 3D Studio, or of vector tracks."""


def tangents(
    tracks: KeyBatch, before: Float64Array, after: Float64Array, ends: Ends
) -> tuple[Float64Array, Float64Array]:
    """Return incoming and outgoing tangents (d, K), which are derivatives with respect to the local parameter.

    `before` and `after` are the chords (d, K) from the previous key and to the next key. `ends` is the rule at the ends
    of tracks that are not loops, where the chord on the side without a key is arbitrary. The rule "3DS" is for
    rotations in 3D Studio: (1-T)(1+C B) times the chord after a first key and (1-T)(1-C B) times the chord before a
    last key. The rule "TANGENT" is for vector tracks. Source: docs/formulas, "TCB tangents", "Ends of rotation tracks"
    and "Ends of TCB tracks".
    """
    tension, continuity, bias = tracks.parameters[:3]
    slack = 1.0 - tension
    incoming_factor, outgoing_factor = adjust_factors(tracks)
    incoming, outgoing = weighted_sums(tracks.parameters, before, after)
    incoming *= incoming_factor
    outgoing *= outgoing_factor
    first, last = tracks.open_ends
    if ends == "3DS":
        skew = continuity * bias
        outgoing[:, first] = (slack * (1.0 + skew))[first] * after[:, first]
        incoming[:, last] = (slack * (1.0 - skew))[last] * before[:, last]
        return incoming, outgoing
    natural_outgoing, natural_incoming = natural_tangents(tracks, before, after, incoming, outgoing)
    outgoing[:, first] = slack[first] * natural_outgoing
    incoming[:, last] = slack[last] * natural_incoming
    return incoming, outgoing


def natural_tangents(
    tracks: KeyBatch, before: Float64Array, after: Float64Array, incoming: Float64Array, outgoing: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the tangents after the first and before the last keys for which the second derivatives there are 0.

    The tangents of inner keys are `incoming` and `outgoing` (d, K). The results have shape (d, m) for the m tracks that
    have ends. Two keys are joined by a line.
    """
    first, last = tracks.open_ends
    has_two_keys = last - first == 1
    natural_outgoing = 1.5 * after[:, first] - 0.5 * incoming[:, first + 1]
    natural_incoming = 1.5 * before[:, last] - 0.5 * outgoing[:, last - 1]
    return (
        np.where(has_two_keys, after[:, first], natural_outgoing),
        np.where(has_two_keys, before[:, last], natural_incoming),
    )


def weighted_sums(
    parameters: Float64Array, before: Float64Array, after: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing weighted sums of the chords or slopes on either side of each key.

    `parameters` has shape (5, K), and `before`, `after` and both results have shape (d, K). If all parameters are 0,
    the sums are twice the mean. The weights are from Kochanek and Bartels. Source: docs/formulas, "TCB tangents".
    """
    tension, continuity, bias = parameters[:3]
    slack = 1.0 - tension
    return (
        slack * (((1.0 + bias) * (1.0 - continuity)) * before + ((1.0 - bias) * (1.0 + continuity)) * after),
        slack * (((1.0 + bias) * (1.0 + continuity)) * before + ((1.0 - bias) * (1.0 - continuity)) * after),
    )


def adjust_factors(tracks: KeyBatch) -> tuple[Float64Array, Float64Array]:
    """Return the factors (K,) of incoming and outgoing tangents, each of which is that side's share of the frames.

    The shares approach 1/2 as |C| grows. Source: docs/formulas, "TCB tangents".
    """
    both_sides = tracks.before + tracks.after
    share = np.divide(tracks.before, both_sides, out=np.full_like(both_sides, 0.5), where=both_sides > 0.0)
    weight = 1.0 - np.abs(tracks.parameters[1])
    return 0.5 + weight * (share - 0.5), 0.5 + weight * (0.5 - share)
