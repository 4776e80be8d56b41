# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents and control quaternions at keys from tension, continuity and bias, and the rules for the ends of tracks.

Source: docs/formulas, "TCB tangents", "Ends of TCB tracks", "De Casteljau on the sphere", "Squad" and "Ends of rotation
tracks".
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .keys import Float64Array, KeyBatch
from .rotations import sphere

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
    incoming, outgoing = inner_tangents(tracks.parameters, before, after, tracks.share_before)
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


def inner_tangents(
    parameters: Float64Array, before: Float64Array, after: Float64Array, share: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing tangents of inner keys, as derivatives with respect to the local parameter.

    Parameters
    ----------
    parameters : ndarray, shape (3 or 5, n)
        Tension, continuity and bias in the first rows.
    before, after : ndarray, shape (d, n)
        Chords from the previous key and to the next key.
    share : ndarray, shape (n,)
        Frames from the previous key to the key, divided by the frames from the previous to the next key.
    """
    incoming, outgoing = weighted_sums(parameters, before, after)
    incoming_share, outgoing_share = shares_of_tangents(parameters[1], share)
    return incoming * incoming_share, outgoing * outgoing_share


def weighted_sums(
    parameters: Float64Array, before: Float64Array, after: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing weighted sums of the chords or slopes on either side of each key.

    `parameters` has shape (3 or 5, K), and `before`, `after` and both results have shape (d, K). If all parameters are
    0, the sums are twice the mean. The weights are from Kochanek and Bartels. Source: docs/formulas, "TCB tangents".
    """
    tension, continuity, bias = parameters[:3]
    slack = 1.0 - tension
    return (
        slack * (((1.0 + bias) * (1.0 - continuity)) * before + ((1.0 - bias) * (1.0 + continuity)) * after),
        slack * (((1.0 + bias) * (1.0 + continuity)) * before + ((1.0 - bias) * (1.0 - continuity)) * after),
    )


def shares_of_tangents(continuity: Float64Array, share: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the factors of incoming and outgoing tangents, each of which is that side's share of the frames.

    `share` is the share before the key. The factors approach 1/2 as the magnitude of the continuity grows. Source:
    docs/formulas, "TCB tangents".
    """
    weighted = (1.0 - np.abs(continuity)) * (share - 0.5)
    return 0.5 + weighted, 0.5 - weighted


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


def casteljau_controls(keys: RotationKeys, ends: Ends) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing control quaternions of de Casteljau segments at each key, shape (4, K).

    `ends` is the rule for the ends, as in `tangents`. Source: docs/formulas, "De Casteljau on the sphere".
    """
    tracks, q, before, after, _ = keys
    tension, continuity, bias = tracks.parameters[:3]
    slack = 1.0 - tension
    incoming_share, outgoing_share = shares_of_tangents(continuity, tracks.share_before)
    # Both sides of the keys share arrays (4, 2, K), because a slerp of both takes little longer than a slerp of one.
    both_keys = q[:, np.newaxis]
    neighbors = np.stack((before, after), axis=1)
    biased = sphere.slerp(both_keys, neighbors, np.stack((-(1.0 + bias), 1.0 - bias)) / 3.0)
    arc = sphere.arc(biased[:, :1], biased[:, 1:])
    directions = arc.at(np.stack((1.0 + continuity, 1.0 - continuity)) / 2.0)
    factors = np.stack((-2.0 * slack * incoming_share, 2.0 * slack * outgoing_share))
    incoming, outgoing = sphere.slerp(both_keys, directions, factors).swapaxes(0, 1)
    first, last = tracks.open_ends
    if ends == "3DS":
        skew = continuity * bias
        outgoing[:, first] = sphere.slerp(q[:, first], after[:, first], (slack * (1.0 + skew))[first] / 3.0)
        incoming[:, last] = sphere.slerp(q[:, last], before[:, last], (slack * (1.0 - skew))[last] / 3.0)
    else:
        outgoing[:, first], incoming[:, last] = controls_at_ends(keys, incoming, outgoing, slack)
    return incoming, outgoing


def squad_controls(keys: RotationKeys, ends: Ends) -> tuple[Float64Array, Float64Array]:
    """Return the incoming and outgoing control quaternions of squad segments at each key, shape (4, K).

    The formulas' ksm, ksp, kdm, kdp are the factors of `tangents`, applied here to the logarithms of turns. Source:
    docs/formulas, "Squad".
    """
    tracks, q, before, after, _ = keys
    log_before = sphere.log(sphere.product(sphere.conjugate(before), q))
    log_after = sphere.log(sphere.product(sphere.conjugate(q), after))
    # With the rule "TANGENT", the tangents at ends are set below from the controls of inner keys.
    incoming, outgoing = tangents(tracks, log_before, log_after, "3DS")
    first, last = tracks.open_ends
    if ends == "TANGENT":
        incoming_controls = sphere.product(q, sphere.exp(-incoming / 3.0))
        outgoing_controls = sphere.product(q, sphere.exp(outgoing / 3.0))
        slack = 1.0 - tracks.parameters[0]
        after_first, before_last = controls_at_ends(keys, incoming_controls, outgoing_controls, slack)
        outgoing[:, first] = 3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, first]), after_first))
        incoming[:, last] = -3.0 * sphere.log(sphere.product(sphere.conjugate(q[:, last]), before_last))
    return (
        sphere.product(q, sphere.exp((log_before - incoming) / 2.0)),
        sphere.product(q, sphere.exp((outgoing - log_after) / 2.0)),
    )


def controls_at_ends(
    keys: RotationKeys, incoming: Float64Array, outgoing: Float64Array, slack: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the control quaternions after the first and before the last keys by the rule "TANGENT".

    `incoming` and `outgoing` are the controls (4, K) before and after inner keys. `slack` (K,) is 1 minus the tension,
    which moves the control toward its key. The results have shape (4, m) for the m tracks that have ends. Source:
    docs/formulas, "Ends of rotation tracks".
    """
    tracks, q, before, after, turns = keys
    first, last = tracks.open_ends
    has_two_keys = last - first == 1
    share = np.where(has_two_keys, 1.0 / 3.0, 0.5)
    next_incoming, last_outgoing = incoming[:, first + 1], outgoing[:, last - 1]
    if turns is not None:
        next_incoming = sphere.after_turn(-turns[:, first], next_incoming)
        last_outgoing = sphere.after_turn(turns[:, last - 1], last_outgoing)
    after_first = np.where(has_two_keys, after[:, first], next_incoming)
    before_last = np.where(has_two_keys, before[:, last], last_outgoing)
    return (
        sphere.slerp(q[:, first], after_first, slack[first] * share),
        sphere.slerp(q[:, last], before_last, slack[last] * share),
    )
