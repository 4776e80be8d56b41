# SPDX-License-Identifier: GPL-3.0-or-later
"""Values and parameters of a few keys in a row by the least squares of samples, in many windows at once.

Steps of Levenberg and Marquardt within the bounds of the parameters, each window by itself. Without eases a segment's
samples come into it only by the sums of products with the weights of Hermite's cubic.
Source: docs/formulas.md, "Fewest keys with tension, continuity and bias".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import HIGHEST, LOWEST, Float64Array
from .tcb_eases import EasedSamples, Sums
from .tcb_windows import SHAPED, Layout, Tangents, points, tangents

_STEPS = 6
_EASED_STEPS = 20
"""With eases, whose valleys are narrower."""
_DAMPING = 1e-3
_RIDGE = 1e-6
"""The weight of a parameter's square relative to that of an error as large as the chords beside its key.

So parameters that change nothing are 0."""
_ENOUGH = 1e-2
"""A step that gains less of the sum of squares is a window's last."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What is fitted: n windows of m keys.

    Attributes
    ----------
    layout : Layout
    squares : ndarray, shape (n, m-1, 4, 4)
        Sums of products of the weights of a segment's points over its samples; 0 for segments that don't count.
    products : ndarray, shape (n, m-1, 4, d)
        The same of weights and samples.
    total : ndarray, shape (n,)
        The sums of the samples' squares.
    free_values, free_shapes : ndarray of bool, shape (n, m)
        Which keys' values and parameters are fitted.
    eased : EasedSamples or None
        The samples, if eases are fitted, too: then `squares` and `products` are those of the present ones.
    """

    layout: Layout
    squares: Float64Array
    products: Float64Array
    total: Float64Array
    free_values: BoolArray
    free_shapes: BoolArray
    eased: EasedSamples | None = None

    def take(self, chosen: BoolArray) -> Fit:
        """Return some of the windows."""
        return Fit(
            self.layout.take(chosen),
            self.squares[chosen],
            self.products[chosen],
            self.total[chosen],
            self.free_values[chosen],
            self.free_shapes[chosen],
            None if self.eased is None else self.eased.take(chosen),
        )

    def cost(self, values: Float64Array, shapes: Float64Array, ridge: Float64Array) -> Float64Array:
        """Return the sums of squares (n,)."""
        at = points(self.layout, values, shapes)
        if self.eased is None:
            errors = self.total + np.einsum("nsrd,nsrd->n", at, self.squares @ at - 2.0 * self.products)
        else:
            errors = self.eased.cost(at, shapes)
        costs: Float64Array = errors + np.einsum("nm,nmp->n", ridge, shapes * shapes)
        return costs


def fitted(fit: Fit, values: Float64Array, shapes: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the values (n, m, d) and parameters (n, m, 3 or 5) with the least squares, from given ones on."""
    values, shapes = values.copy(), shapes.copy()
    going = np.arange(len(values))
    at = tangents(fit.layout, values, shapes)
    # As long as a segment has samples.
    weight = np.pad(fit.layout.lengths, ((0, 0), (1, 1)))
    ridge = _RIDGE * 0.5 * (weight[:, 1:] + weight[:, :-1]) * at.chords
    cost = fit.cost(values, shapes, ridge)
    damping = np.full(len(values), _DAMPING)
    now_values, now_shapes = values, shapes
    for _ in range(_STEPS if fit.eased is None else _EASED_STEPS):
        tried_values, tried_shapes = _step(fit, at, now_values, now_shapes, ridge, damping)
        new = fit.cost(tried_values, tried_shapes, ridge)
        better = new < cost
        gain = np.where(better, cost - new, np.inf)
        now_values = np.where(better[:, np.newaxis, np.newaxis], tried_values, now_values)
        now_shapes = np.where(better[:, np.newaxis, np.newaxis], tried_shapes, now_shapes)
        damping = np.where(better, 0.1 * damping, 10.0 * damping)
        cost = np.where(better, new, cost)
        values[going], shapes[going] = now_values, now_shapes
        left = gain > _ENOUGH * cost
        if not left.any():
            break
        if not left.all():
            going, fit = going[left], fit.take(left)
            ridge, cost, damping = ridge[left], cost[left], damping[left]
            now_values, now_shapes = now_values[left], now_shapes[left]
        at = tangents(fit.layout, now_values, now_shapes)
    return values, shapes


def _step(
    fit: Fit, at: Tangents, values: Float64Array, shapes: Float64Array, ridge: Float64Array, damping: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return values and parameters after a damped step of Gauss and Newton."""
    n, _, d = values.shape
    columns = np.flatnonzero((fit.free_values | fit.free_shapes).any(axis=0))
    f, p = len(columns), shapes.shape[2]
    here = shapes[:, columns]
    if fit.eased is None:
        matrix, slope = _equations(fit, at, columns)
    else:
        sums = fit.eased.sums(at.points, shapes)
        matrix, slope = _with_eases(replace(fit, squares=sums.squares, products=sums.products), at, columns, sums)
    pull = np.broadcast_to(ridge[:, columns, np.newaxis], here.shape)
    slope[:, f * d :] += (pull * here).reshape(n, -1)
    low, high = LOWEST[:p, 0], HIGHEST
    edge = slope[:, f * d :].reshape(here.shape)
    held = ((here <= low) & (edge > 0.0)) | ((here >= high) & (edge < 0.0)) | ~fit.free_shapes[:, columns, np.newaxis]
    fixed = np.concatenate([np.repeat(~fit.free_values[:, columns], d, axis=1), held.reshape(n, -1)], axis=1)
    diagonal = np.arange(f * (d + p))
    matrix[:, diagonal[f * d :], diagonal[f * d :]] += pull.reshape(n, -1)
    size = matrix[:, diagonal, diagonal]
    matrix[:, diagonal, diagonal] += damping[:, np.newaxis] * size + np.finfo(np.float64).tiny ** 0.5
    matrix[fixed] = 0.0
    matrix.transpose(0, 2, 1)[fixed] = 0.0
    matrix[:, diagonal, diagonal] += fixed
    move = np.linalg.solve(matrix, np.where(fixed, 0.0, slope)[..., np.newaxis])[..., 0]
    new_values, new_shapes = values.copy(), shapes.copy()
    new_values[:, columns] -= move[:, : f * d].reshape(n, f, d)
    if fit.layout.is_rotation:
        new_values /= np.linalg.norm(new_values, axis=2, keepdims=True)
    new_shapes[:, columns] = np.clip(here - move[:, f * d :].reshape(here.shape), low, high)
    return new_values, new_shapes


def _equations(fit: Fit, at: Tangents, columns: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the normal equations for the values of some keys, and then their tension, continuity and bias."""
    n, s, _, d = at.points.shape
    f = len(columns)
    by_values = np.zeros((n, s, 4, f))
    # Only of the tangents.
    by_shapes = np.zeros((n, s, 2, d, f, SHAPED))
    for place, key in enumerate(columns.tolist()):
        for segment in range(max(key - 2, 0), min(key + 2, s)):
            by_values[:, segment, :, place] = at.by_values[:, segment, :, key - segment + 1]
        for segment in range(max(key - 1, 0), min(key + 1, s)):
            by_shapes[:, segment, :, :, place] = at.by_shapes[:, segment, key - segment].transpose(0, 1, 3, 2)
    shaping = by_shapes.reshape(n, s, 2, d * f * SHAPED)
    off = fit.squares @ at.points - fit.products
    weighted = fit.squares @ by_values
    flat_values = by_values.reshape(n, 4 * s, f).transpose(0, 2, 1)
    flat_shapes = by_shapes.reshape(n, 2 * s * d, f * SHAPED).transpose(0, 2, 1)
    of_tangents = fit.squares[:, :, 1::2, 1::2] @ shaping
    size = f * (d + SHAPED)
    matrix = np.zeros((n, size, size))
    own = np.zeros((n, f, d, f, d))
    block = flat_values @ weighted.reshape(n, 4 * s, f)
    for component in range(d):
        own[:, :, component, :, component] = block
    across = weighted[:, :, 1::2].reshape(n, 2 * s, f).transpose(0, 2, 1)
    across = (across @ shaping.reshape(n, 2 * s, d * f * SHAPED)).reshape(n, f * d, f * SHAPED)
    matrix[:, : f * d, : f * d] = own.reshape(n, f * d, f * d)
    matrix[:, : f * d, f * d :] = across
    matrix[:, f * d :, : f * d] = across.transpose(0, 2, 1)
    matrix[:, f * d :, f * d :] = flat_shapes @ of_tangents.reshape(n, 2 * s * d, f * SHAPED)
    slope = [
        (flat_values @ off.reshape(n, 4 * s, d)).reshape(n, f * d),
        (flat_shapes @ off[:, :, 1::2].reshape(n, 2 * s * d, 1))[..., 0],
    ]
    return matrix, np.concatenate(slope, axis=1)


def _with_eases(fit: Fit, at: Tangents, columns: IndexArray, sums: Sums) -> tuple[Float64Array, Float64Array]:
    """Return the same with ease to and ease from after each key's tension, continuity and bias."""
    few, slope = _equations(fit, at, columns)
    n, s, _, d = at.points.shape
    f, each = len(columns), SHAPED + 2
    values, shaped = np.arange(f * d), f * d + np.arange(f * each).reshape(f, each)
    known = np.concatenate([values, shaped[:, :SHAPED].ravel()])
    matrix = np.zeros((n, f * (d + each), f * (d + each)))
    matrix[:, known[:, np.newaxis], known] = few
    slopes = np.zeros((n, f * (d + each)))
    slopes[:, known] = slope
    place_of = {key: place for place, key in enumerate(columns.tolist())}
    for place, key in enumerate(columns.tolist()):
        # Ease to shapes the segment before the key, ease from the one after it.
        for which, segment, column in ((1, key - 1, shaped[place, SHAPED]), (0, key, shaped[place, SHAPED + 1])):
            if not 0 <= segment < s:
                continue
            slopes[:, column] = sums.slopes[:, segment, which]
            matrix[:, column, column] = sums.own[:, segment, which, which]
            across = sums.across[:, segment, which]
            for beside in range(segment - 1, segment + 3):
                other = place_of.get(beside)
                if other is None:
                    continue
                weights = at.by_values[:, segment, :, beside - segment + 1]
                mixed = np.einsum("nr,nrd->nd", weights, across)
                rows = [values[other * d : (other + 1) * d]]
                if beside in (segment, segment + 1):
                    by_shapes = at.by_shapes[:, segment, beside - segment]
                    mixed = np.concatenate([mixed, np.einsum("ntpd,ntd->np", by_shapes, across[:, 1::2])], axis=1)
                    rows.append(shaped[other, :SHAPED])
                own = np.concatenate(rows)
                matrix[:, own, column] = matrix[:, column, own] = mixed
            other = place_of.get(key + 1) if which == 0 else None
            if other is not None:
                end = shaped[other, SHAPED]
                matrix[:, column, end] = matrix[:, end, column] = sums.own[:, segment, 0, 1]
    return matrix, slopes
