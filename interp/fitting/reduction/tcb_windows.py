# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents of keys with tension, continuity and bias in many windows at once, and their derivatives.

A window's segment is a Hermite cubic of four points: its first value, the tangent there, its second value, the tangent
there, tangents by the local parameter. Of rotations values are quaternions, and tangents those on the sphere.
Source: docs/formulas.md, "TCB tangents" and "Fewest keys with tension, continuity and bias".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from ...rotations import sphere

SHAPED = 3
"""Parameters that shape tangents: tension, continuity and bias."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The keys of n windows, m each: those from `first` to `last` are keys, the others repeat these and are void.

    Attributes
    ----------
    lengths : ndarray, shape (n, m-1)
        Frames from key to key.
    share : ndarray, shape (n, m)
        Which part of the frames around a key is before it, less a half.
    first, last : ndarray of int, shape (n,)
    is_rotation : bool
    """

    lengths: Float64Array
    share: Float64Array
    first: IndexArray
    last: IndexArray
    is_rotation: bool

    @classmethod
    def of(cls, rows: IndexArray, is_rotation: bool) -> Layout:
        """Return the layout of keys at rows (n, m)."""
        lengths = np.diff(rows, axis=1)
        real = lengths > 0
        first = real.argmax(axis=1)
        last = lengths.shape[1] - real[:, ::-1].argmax(axis=1)
        frames = lengths.astype(np.float64)
        to, from_ = np.pad(frames, ((0, 0), (1, 0))), np.pad(frames, ((0, 0), (0, 1)))
        share = np.divide(to, to + from_, out=np.full_like(to, 0.5), where=to + from_ > 0.0) - 0.5
        return cls(frames, share, first, last, is_rotation)

    @property
    def keys(self) -> BoolArray:
        """Return which are keys, shape (n, m)."""
        place = np.arange(self.lengths.shape[1] + 1)
        found: BoolArray = (place >= self.first[:, np.newaxis]) & (place <= self.last[:, np.newaxis])
        return found

    def take(self, chosen: BoolArray) -> Layout:
        """Return some of the windows."""
        return Layout(self.lengths[chosen], self.share[chosen], self.first[chosen], self.last[chosen], self.is_rotation)


@dataclass(frozen=True, eq=False)
class Tangents:
    """Segments of windows by values and parameters.

    Attributes
    ----------
    points : ndarray, shape (n, m-1, 4, d)
        Values and tangents of the segments.
    by_values : ndarray, shape (n, m-1, 4, 4)
        Their derivatives by the values of the keys before a segment, at its ends, and after it; of rotations as if
        quaternions were numbers.
    by_shapes : ndarray, shape (n, m-1, 2, 2, 3, d)
        Those of both tangents (second axis of 2) by the parameters of the keys at the segment's ends (first one).
    chords : ndarray, shape (n, m)
        The sum of the squares of both chords beside each key.
    """

    points: Float64Array
    by_values: Float64Array
    by_shapes: Float64Array
    chords: Float64Array


def points(layout: Layout, values: Float64Array, shapes: Float64Array) -> Float64Array:
    """Return the values and tangents of segments (n, m-1, 4, d) of keys with values (n, m, d) and parameters."""
    before, after = _chords(layout, values)
    factors, _ = _factors(layout, shapes, has_changes=False)
    incoming, outgoing = (
        factors[..., side, 0, np.newaxis] * before + factors[..., side, 1, np.newaxis] * after for side in (0, 1)
    )
    if not layout.is_rotation:
        every = np.arange(len(values))
        share = np.where(layout.last - layout.first == 1, 0.0, 0.5)[:, np.newaxis]
        first, last = (every, layout.first), (every, layout.last)
        start = (1.0 + share) * after[first] - share * incoming[every, layout.first + 1]
        end = (1.0 + share) * before[last] - share * outgoing[every, layout.last - 1]
        outgoing[first] = (1.0 - shapes[first][:, :1]) * start
        incoming[last] = (1.0 - shapes[last][:, :1]) * end
    return np.stack([values[:, :-1], outgoing[:, :-1], values[:, 1:], incoming[:, 1:]], axis=2)


def tangents(layout: Layout, values: Float64Array, shapes: Float64Array) -> Tangents:
    """Return the segments of keys with values (n, m, d), and tension, continuity and bias (n, m, 3)."""
    before, after = _chords(layout, values)
    factors, changes = _factors(layout, shapes)
    n, m, d = values.shape
    chords = np.stack([before, after], axis=2)
    # Incoming and outgoing, shape (n, m, 2, d), and by parameters (n, m, 2, 3, d).
    found = np.einsum("nmkj,nmjd->nmkd", factors, chords)
    slopes = np.einsum("nmkjp,nmjd->nmkpd", changes, chords)
    points = np.empty((n, m - 1, 4, d))
    by_values = np.zeros((n, m - 1, 4, 4))
    by_shapes = np.zeros((n, m - 1, 2, 2, SHAPED, d))
    by_values[:, :, 0, 1] = by_values[:, :, 2, 2] = 1.0
    for row, side, key in ((1, 1, 0), (3, 0, 1)):
        own = factors[:, key : m - 1 + key, side]
        # The chords before and after the key, of which each is a difference of two values.
        by_values[:, :, row, key] -= own[..., 0]
        by_values[:, :, row, key + 1] += own[..., 0] - own[..., 1]
        by_values[:, :, row, key + 2] += own[..., 1]
        by_shapes[:, :, key, key] = slopes[:, key : m - 1 + key, side]
    if not layout.is_rotation:
        _natural_ends(layout, shapes, (found, slopes), chords, by_values, by_shapes)
    points[:, :, 0], points[:, :, 2] = values[:, :-1], values[:, 1:]
    points[:, :, 1], points[:, :, 3] = found[:, :-1, 1], found[:, 1:, 0]
    squares = np.einsum("nmjd,nmjd->nm", chords, chords)
    return Tangents(points, by_values, by_shapes, squares)


def _natural_ends(
    layout: Layout,
    shapes: Float64Array,
    inner: tuple[Float64Array, Float64Array],
    chords: Float64Array,
    by_values: Float64Array,
    by_shapes: Float64Array,
) -> None:
    """Put in the tangents at the ends of tracks of numbers, which depend on those of the keys beside them."""
    found, slopes = inner
    every = np.arange(len(found))
    alone = layout.last - layout.first == 1
    straight = np.array([0.0, -1.0, 1.0, 0.0])
    made = []
    for side, end, beside, segment, row in (
        (1, layout.first, layout.first + 1, layout.first, 1),
        (0, layout.last, layout.last - 1, layout.last - 1, 3),
    ):
        slack = 1.0 - shapes[every, end, 0]
        chord = chords[every, end, side]
        share = np.where(alone, 0.0, 0.5)[:, np.newaxis]
        plain = (1.0 + share) * chord - share * found[every, beside, 1 - side]
        weights = (1.0 + share) * straight - share * by_values[every, segment, 4 - row]
        cross = -(share * slack[:, np.newaxis])[..., np.newaxis] * slopes[every, beside, 1 - side]
        made.append(
            (side, end, segment, row, slack[:, np.newaxis] * plain, plain, slack[:, np.newaxis] * weights, cross)
        )
    for side, end, segment, row, tangent, plain, weights, cross in made:
        found[every, end, side] = tangent
        by_values[every, segment, row] = weights
        key = 1 - side
        by_shapes[every, segment, key, key] = 0.0
        by_shapes[every, segment, key, key, 0] = -plain
        by_shapes[every, segment, 1 - key, key] = cross


def _chords(layout: Layout, values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the chords to each key and from it, of rotations as tangents of the sphere at the key; 0 beyond ends."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    if not layout.is_rotation:
        before[:, 1:] = after[:, :-1] = np.diff(values, axis=1)
        return before, after
    q = values.transpose(2, 0, 1)
    half = np.zeros_like(q[:, :, 1:])
    half[1:] = sphere.log(sphere.product(q[:, :, 1:], sphere.conjugate(q[:, :, :-1])))
    before[:, 1:] = sphere.product(half, q[:, :, 1:]).transpose(1, 2, 0)
    after[:, :-1] = sphere.product(half, q[:, :, :-1]).transpose(1, 2, 0)
    return before, after


def _factors(layout: Layout, shapes: Float64Array, has_changes: bool = True) -> tuple[Float64Array, Float64Array]:
    """Return the factors of both chords in both tangents (n, m, 2, 2), and their derivatives (n, m, 2, 2, 3).

    The incoming tangent is the first. Derivatives are not computed unless `has_changes`.
    """
    tension, continuity, bias = shapes[..., :SHAPED].transpose(2, 0, 1)
    level, by_level = (1.0 - np.abs(continuity)) * layout.share, -np.sign(continuity) * layout.share
    slack = 1.0 - tension
    factors = np.empty((*tension.shape, 2, 2))
    changes = np.empty((*tension.shape, 2, 2, SHAPED))
    for side, sign in ((0, 1.0), (1, -1.0)):
        adjust = 0.5 + sign * level
        for chord, lean in ((0, 1.0), (1, -1.0)):
            # Before a key the chord before it counts with 1 - C, after it with 1 + C.
            turn = -sign * lean
            own, biased = 1.0 + turn * continuity, 1.0 + lean * bias
            factors[..., side, chord] = slack * adjust * own * biased
            if not has_changes:
                continue
            changes[..., side, chord, 0] = -adjust * own * biased
            changes[..., side, chord, 1] = slack * biased * (turn * adjust + sign * by_level * own)
            changes[..., side, chord, 2] = lean * slack * adjust * own
    if layout.is_rotation:
        _ends_of_rotations(layout, shapes, factors, changes)
    return factors, changes


def _ends_of_rotations(layout: Layout, shapes: Float64Array, factors: Float64Array, changes: Float64Array) -> None:
    """Put in the factors at the ends of tracks of rotations: (1 - T)(1 + C B) at the first, 1 - C B at the last."""
    every = np.arange(len(factors))
    for side, end, sign in ((1, layout.first, 1.0), (0, layout.last, -1.0)):
        tension, continuity, bias = shapes[every, end, :SHAPED].T
        skewed, slack = 1.0 + sign * continuity * bias, 1.0 - tension
        factors[every, end, side] = changes[every, end, side] = 0.0
        factors[every, end, side, side] = slack * skewed
        changes[every, end, side, side] = np.stack([-skewed, slack * sign * bias, slack * sign * continuity], axis=1)
