# SPDX-License-Identifier: GPL-3.0-or-later
"""Tension, continuity and bias of keys whose tangents are known on both sides.

`tcb_of_tangents` finds them to three digits or so, of rotations as if these were numbers; steps of Gauss and Newton
follow, to the digits of the tangents. Source: docs/formulas.md, "Keys of baked curves".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...batch import BoolArray
from ...keys import HIGHEST, LOWEST, Float64Array, Keys
from ...splines import tcb
from ..tcb_from_tangents import tcb_of_tangents

_STEPS = 20
_STEP = 1e-7
_LEAST_DAMPING = 1e-12
_ENOUGH = 1e-18
"""Of squares: tangents are not known better than to a billionth of the chords."""


class KnownKeys(NamedTuple):
    """The keys of a run of curves, with what is known of their tangents.

    `frames` (n,) and `values` (n, d or 4); `incoming` and `outgoing` (n, d), by the segments' parameters; `weights`
    (n, 2) say how well each of both is known, at most 1; `eases` (2, n) are ease to and ease from.
    """

    frames: Float64Array
    values: Float64Array
    incoming: Float64Array
    outgoing: Float64Array
    weights: Float64Array
    eases: Float64Array


def find_parameters(known: KnownKeys, options: dict[str, Any] | None) -> Float64Array:
    """Return the parameters (5, n) with which TCB has the tangents, or comes near.

    `options` are those of a rotation spline; None for numbers.
    """
    parameters = np.concatenate([np.zeros((3, len(known.frames))), known.eases])
    spline = spline_of(known, parameters, options)
    before, after = (each.T for each in spline.chords([spline], spline.prepared.tracks))
    inner = slice(1, -1)
    if len(known.frames) > 2:
        share = (known.frames[1:-1] - known.frames[:-2]) / (known.frames[2:] - known.frames[:-2])
        chords = before[inner], after[inner]
        tangents = known.incoming[inner], known.outgoing[inner]
        start = tcb_of_tangents(*chords, share, *tangents, np.zeros((3, len(share))), known.weights[inner])
        parameters[:3, inner] = start.parameters
    size = np.linalg.norm(before, axis=1) + np.linalg.norm(after, axis=1)
    size = np.maximum(size, np.finfo(np.float64).tiny)
    # Tangents at the ends depend on the keys beside them, too: they are found once these are.
    is_inner = np.arange(len(size)) % (len(size) - 1) > 0
    for moves in (is_inner, ~is_inner):
        parameters = _descend(known, parameters, size, options, moves)
    slack = np.flatnonzero((parameters[0] == LOWEST[0]) & ~is_inner)
    if options is not None and len(slack):
        # Longer tangents at the ends of rotations need continuity and bias, whose product is flat at 0.
        parameters[1, slack], parameters[2, slack] = 0.5, np.where(slack == 0, 0.5, -0.5)
        parameters = _descend(known, parameters, size, options, ~is_inner)
    return parameters


def spline_of(known: KnownKeys, parameters: Float64Array, options: dict[str, Any] | None) -> Any:
    """Return the spline of these parameters."""
    keys = Keys(known.frames, known.values, *parameters)
    return tcb.VectorSpline(keys) if options is None else tcb.RotationSpline(keys, **options)


def _off(
    known: KnownKeys, parameters: Float64Array, size: Float64Array, options: dict[str, Any] | None
) -> Float64Array:
    """Return how far tangents are from the known ones, as parts of the chords beside each key, shape (n, 2 d)."""
    curve = spline_of(known, parameters, options).prepared.curve
    begin = np.arange(len(known.frames) - 1)
    ends = [np.broadcast_to(each, len(begin)).astype(np.float64) for each in (0.0, 1.0)]
    leaving, arriving = (curve.evaluate(begin, u, 1).T for u in ends)
    incoming, outgoing = np.zeros_like(known.incoming), np.zeros_like(known.outgoing)
    outgoing[:-1], incoming[1:] = leaving - known.outgoing[:-1], arriving - known.incoming[1:]
    off = np.concatenate([incoming * known.weights[:, :1], outgoing * known.weights[:, 1:]], axis=1)
    scaled: Float64Array = off / size[:, np.newaxis]
    return scaled


def _descend(
    known: KnownKeys, parameters: Float64Array, size: Float64Array, options: dict[str, Any] | None, moves: BoolArray
) -> Float64Array:
    """Return parameters after steps of Levenberg and Marquardt, for some keys, each by itself.

    A parameter on a bound that the step would leave stays there.
    """
    low, high = LOWEST[:3], HIGHEST
    off = _off(known, parameters, size, options)
    cost, damping = (off * off).sum(axis=1), np.full(len(size), 1e-6)
    for _ in range(_STEPS):
        columns = []
        for which in range(3):
            # Away from the bound, and from 0, where continuity's effect has a corner.
            step = np.where(parameters[which] > 0.0, -_STEP, _STEP)
            moved = parameters.copy()
            moved[which] += np.where(moves, step, 0.0)
            columns.append((_off(known, moved, size, options) - off) / step[:, np.newaxis])
        jacobian = np.stack(columns, axis=2)
        slope = np.einsum("nij,ni->nj", jacobian, off)
        now = parameters[:3].T
        held = ((now <= low.T) & (slope > 0.0)) | ((now >= high) & (slope < 0.0)) | ~moves[:, np.newaxis]
        jacobian[np.broadcast_to(held[:, np.newaxis], jacobian.shape)] = 0.0
        matrix = np.einsum("nij,nik->njk", jacobian, jacobian)
        scale = damping * (1.0 + np.einsum("njj->n", matrix)) + _LEAST_DAMPING
        matrix += scale[:, np.newaxis, np.newaxis] * np.eye(3)
        move = np.linalg.solve(matrix, np.where(held, 0.0, slope)[..., np.newaxis])[..., 0]
        tried = parameters.copy()
        tried[:3] = np.clip(parameters[:3] - move.T, low, high)
        new = _off(known, tried, size, options)
        new_cost = (new * new).sum(axis=1)
        better = new_cost < cost
        parameters = np.where(better, tried, parameters)
        damping = np.where(better, 0.1 * damping, 10.0 * damping)
        off = _off(known, parameters, size, options)
        cost = (off * off).sum(axis=1)
        if not better[moves].any() or cost[moves].max(initial=0.0) < _ENOUGH:
            break
    return parameters
