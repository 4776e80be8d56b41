# SPDX-License-Identifier: GPL-3.0-or-later
"""Tension, continuity and bias for given tangents at keys: what a handle says that was dragged by hand.

With x = (1-T)(1+B) and y = (1-T)(1-B) both tangents of `tcb.tangents` are linear in x and y, which are in the triangle
x >= 0, y >= 0, x + y <= 4: for each continuity that is a small quadratic problem, and continuities are searched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .keys import FloatArray

_NEAR = 1e-3
"""What a change of a parameter by 1 counts beside tangents that are off by their chords: of parameters that bend
alike the nearest are taken."""
_MOST = 4.0
"""Of x + y = 2 (1-T)."""
_COARSE = np.linspace(-1.0, 1.0, 1001)
_FINER = (0.002, 1e-4)
"""How far around the best continuity is searched again."""


class Bent(NamedTuple):
    """The nearest parameters.

    Attributes
    ----------
    parameters : ndarray, shape (3, n)
        Tension, continuity and bias.
    off : ndarray, shape (n,)
        How far the tangents are off with them, both together; in the tangents' unit.
    """

    parameters: FloatArray
    off: FloatArray


def bend(
    before: FloatArray,
    after: FloatArray,
    share: FloatArray,
    incoming: FloatArray,
    outgoing: FloatArray,
    present: FloatArray,
) -> Bent:
    """Return the parameters of inner keys with which their tangents come nearest to the given ones.

    Of several that do, those nearest to the present ones. The tangents are as near as can be, but for 2e-3 of both
    chords added up.

    Parameters
    ----------
    before, after : ndarray, shape (n,)
        Chords from the key before, and to the key after.
    share : ndarray, shape (n,)
        Frames to the key before, over those from the one before to the one after.
    incoming, outgoing : ndarray, shape (n,)
        The tangents, each by its own segment's local parameter, as `tcb.tangents` has them.
    present : ndarray, shape (3, n)
        Tension, continuity and bias now.

    Notes
    -----
    Source: seeds/001, "Parameters", solved for the parameters by least squares.
    """
    size = np.abs(before) + np.abs(after)
    # On a plateau parameters change nothing.
    flat = size == 0.0
    size[flat] = np.inf
    a, b, goal_in, goal_out = (each / size for each in (before, after, incoming, outgoing))
    x, y = (1.0 - present[0]) * (1.0 + present[2]), (1.0 - present[0]) * (1.0 - present[2])
    continuity = np.concatenate((np.broadcast_to(_COARSE, (len(a), len(_COARSE))), present[1][:, np.newaxis]), axis=1)
    goals = goal_in, goal_out, (x, present[1], y)
    found_x, found_c, found_y = _best(continuity, a, b, share, *goals)
    for around in _FINER:
        continuity = np.clip(found_c[:, np.newaxis] + np.linspace(-around, around, 41), -1.0, 1.0)
        found_x, found_c, found_y = _best(continuity, a, b, share, *goals)
    incoming_now, outgoing_now = model(found_x, found_y, found_c, before, after, share)
    total = found_x + found_y
    lean = np.divide(found_x - found_y, total, out=present[2].astype(np.float64), where=total > 1e-9)
    parameters = np.stack((1.0 - total / 2.0, found_c, lean))
    off = np.hypot(incoming_now - incoming, outgoing_now - outgoing)
    return Bent(np.where(flat, present, np.clip(parameters, -1.0, 1.0)), off)


def tangents_of(
    parameters: FloatArray, before: FloatArray, after: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the incoming and outgoing tangents (n,) of inner keys with parameters (3, n): `tcb.tangents` of these."""
    tension, continuity, bias = parameters
    x, y = (1.0 - tension) * (1.0 + bias), (1.0 - tension) * (1.0 - bias)
    return model(x, y, continuity, before, after, share)


def model(
    x: FloatArray, y: FloatArray, continuity: FloatArray, before: FloatArray, after: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same, of x and y as this module has them."""
    level = (1.0 - np.abs(continuity)) * (share - 0.5)
    incoming = (0.5 + level) * (x * (1.0 - continuity) * before + y * (1.0 + continuity) * after)
    outgoing = (0.5 - level) * (x * (1.0 + continuity) * before + y * (1.0 - continuity) * after)
    return incoming, outgoing


def _best(
    continuity: FloatArray,
    before: FloatArray,
    after: FloatArray,
    share: FloatArray,
    incoming: FloatArray,
    outgoing: FloatArray,
    present: tuple[FloatArray, FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The best x, continuity and y of each key, of the continuities (n, m) that are tried."""
    columns = (each[:, np.newaxis] for each in (before, after, share, incoming, outgoing, *present))
    a, b, s, goal_in, goal_out, x0, c0, y0 = columns
    one, none = np.ones_like(continuity), np.zeros_like(continuity)
    in_x, out_x = model(one, none, continuity, a, b, s)
    in_y, out_y = model(none, one, continuity, a, b, s)
    xx, yy, xy = in_x**2 + out_x**2 + _NEAR**2, in_y**2 + out_y**2 + _NEAR**2, in_x * in_y + out_x * out_y
    gx = in_x * goal_in + out_x * goal_out + _NEAR**2 * x0
    gy = in_y * goal_in + out_y * goal_out + _NEAR**2 * y0
    inside_x, inside_y = ((gx * yy - gy * xy), (gy * xx - gx * xy)) / (xx * yy - xy**2)
    slant = np.clip((gx - gy + _MOST * (yy - xy)) / (xx - 2.0 * xy + yy), 0.0, _MOST)
    tries_x = np.stack((inside_x, none, np.clip(gx / xx, 0.0, _MOST), slant))
    tries_y = np.stack((inside_y, np.clip(gy / yy, 0.0, _MOST), none, _MOST - slant))
    cost = (in_x * tries_x + in_y * tries_y - goal_in) ** 2 + (out_x * tries_x + out_y * tries_y - goal_out) ** 2
    cost += _NEAR**2 * ((tries_x - x0) ** 2 + (tries_y - y0) ** 2 + (continuity - c0) ** 2)
    outside = (inside_x < 0.0) | (inside_y < 0.0) | (inside_x + inside_y > _MOST)
    cost[0][outside] = np.inf
    rows = np.arange(len(continuity))
    flat = np.argmin(cost.transpose(1, 0, 2).reshape(len(rows), -1), axis=1)
    which, place = np.divmod(flat, continuity.shape[1])
    return tries_x[which, rows, place], continuity[rows, place], tries_y[which, rows, place]
