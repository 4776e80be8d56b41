# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents and squad controls at keys from tension, continuity and bias, and the rules for the ends of tracks.

Source: docs/formulas, "TCB tangents", "Ends of TCB tracks" and "Ends of rotation tracks".
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .key_batch import KeyBatch
from .keys import Float64Array
from .rotations import sphere

Ends = Literal["3DS", "TANGENT"]


def adjust_factors(tracks: KeyBatch) -> tuple[Float64Array, Float64Array]:
    """Return the factors (K,) of incoming and outgoing tangents, each of which is that side's share of the frames.

    The shares approach 1/2 as |C| grows. Source: docs/formulas, "TCB tangents".
    """
    both_sides = tracks.before + tracks.after
    share = np.divide(tracks.before, both_sides, out=np.full_like(both_sides, 0.5), where=both_sides > 0.0)
    weight = 1.0 - np.abs(tracks.parameters[1])
    return 0.5 + weight * (share - 0.5), 0.5 + weight * (0.5 - share)


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
    first, last = tracks.open
    if ends == "3DS":
        skew = continuity * bias
        outgoing[:, first] = (slack * (1.0 + skew))[first] * after[:, first]
        incoming[:, last] = (slack * (1.0 - skew))[last] * before[:, last]
        return incoming, outgoing
    # Without tension, the second derivative at an end is 0, and two keys are joined by a line.
    has_two_keys = last - first == 1
    natural_outgoing = 1.5 * after[:, first] - 0.5 * incoming[:, first + 1]
    natural_incoming = 1.5 * before[:, last] - 0.5 * outgoing[:, last - 1]
    outgoing[:, first] = slack[first] * np.where(has_two_keys, after[:, first], natural_outgoing)
    incoming[:, last] = slack[last] * np.where(has_two_keys, before[:, last], natural_incoming)
    return incoming, outgoing


class RotationKeys(NamedTuple):
    """The keys of rotation tracks and their neighbors, from which the controls are constructed.

    `q`, `before` and `after` are the quaternions (4, K) of each key, the previous key and the next key, with the signs
    of the path. The quaternions exclude `turns`, shape (3, K), which are added to the segments. At the ends of a track
    that is not a loop, the quaternions on the side without a key are arbitrary.
    """

    tracks: KeyBatch
    q: Float64Array
    before: Float64Array
    after: Float64Array
    turns: Float64Array | None


def controls_at_ends(
    keys: RotationKeys, incoming: Float64Array, outgoing: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the control quaternions after the first and before the last keys by the rule "TANGENT".

    `incoming` and `outgoing` are the controls (4, K) before and after inner keys. The results have shape (4, m) for the
    m tracks that have ends. Source: docs/formulas, "Ends of rotation tracks".
    """
    tracks, q, before, after, turns = keys
    slack = 1.0 - tracks.parameters[0]
    first, last = tracks.open
    has_two_keys = last - first == 1
    share = np.where(has_two_keys, 1.0 / 3.0, 0.5)
    next_incoming = _turned_back(incoming[:, first + 1], None if turns is None else turns[:, first])
    last_outgoing = _turned_back(outgoing[:, last - 1], None if turns is None else -turns[:, last - 1])
    after_first = np.where(has_two_keys, after[:, first], next_incoming)
    before_last = np.where(has_two_keys, before[:, last], last_outgoing)
    return (
        sphere.slerp(q[:, first], after_first, slack[first] * share),
        sphere.slerp(q[:, last], before_last, slack[last] * share),
    )


def _turned_back(q: Float64Array, turns: Float64Array | None) -> Float64Array:
    """Return quaternions without the turns of their segments, which are rotation vectors (3, m)."""
    return q if turns is None else sphere.product(sphere.exp(-turns / 2.0), q)


def squad_controls(keys: RotationKeys, ends: Ends) -> tuple[Float64Array, Float64Array]:
    """Return the control quaternions after and before each key (docs/formulas, "Squad").

    The formulas' ksm, ksp, kdm, kdp are the factors of `tangents`, applied here to the logarithms of turns.
    """
    tracks, q, before, after, _ = keys
    log_before = sphere.log(sphere.product(sphere.conjugate(before), q))
    log_after = sphere.log(sphere.product(sphere.conjugate(q), after))
    # With the other rule, the controls at ends are set below from the inner controls.
    incoming, outgoing = tangents(tracks, log_before, log_after, "3DS")
    first, last = tracks.open
    if ends == "TANGENT":
        incoming_controls = sphere.product(q, sphere.exp(-incoming / 3.0))
        outgoing_controls = sphere.product(q, sphere.exp(outgoing / 3.0))
        after_first, before_last = controls_at_ends(keys, incoming_controls, outgoing_controls)
        outgoing[:, first] = 3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, first]), after_first))
        incoming[:, last] = -3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, last]), before_last))
    controls_after = sphere.product(q, sphere.exp((outgoing - log_after) / 2.0))
    controls_before = sphere.product(q, sphere.exp((log_before - incoming) / 2.0))
    return controls_after, controls_before
