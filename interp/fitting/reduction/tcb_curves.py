# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys with tension, continuity and bias in the search for the fewest keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ... import ease
from ...batch import BoolArray, IndexArray, KeyBatch
from ...cubics import Cubics
from ...keys import PARAMETERS, Float64Array
from ...rotations.orientations import neighbours
from ...rotations.sphere_curves import DeCasteljau
from ...splines import tcb
from .tcb_eases import EasedSamples
from .tcb_fit import Fit, fitted
from .tcb_windows import SHAPED, Layout
from .windows import Curves, Expanded, HermiteCurves, KeySet, Samples, Windows

Method = Literal["HERMITE", "TCB", "TCB_EASE"]
"""Keys with velocities; with tension, continuity and bias; with ease to and ease from, too."""
_EACH = len(PARAMETERS)


def curves_of(method: Method, parts: Sequence[tuple[slice, bool]]) -> Curves:
    """Return the curves of a method, of parts in these columns that are rotations or not."""
    if method == "HERMITE":
        return HermiteCurves()
    return TCBCurves(tuple(parts), method == "TCB_EASE")


def parameters_of(keys: KeySet, part: int) -> Float64Array:
    """Return the parameters (5, n) of TCB keys."""
    return np.ascontiguousarray(keys.shapes[:, _EACH * part : _EACH * (part + 1)].T)


@dataclass(frozen=True)
class TCBCurves:
    """Keys whose shapes are the parameters of each part, in the order of `Keys`.

    Attributes
    ----------
    parts : tuple of (slice, bool)
        The columns of each part, and whether it is a rotation.
    has_ease : bool
        Whether ease to and ease from are fitted, too.
    """

    parts: tuple[tuple[slice, bool], ...]
    has_ease: bool = False

    margin = 3
    # Keys of TCB are where cubics join, at corners, too. More in between may be no help, as the tangents of vectors lie
    # in the plane of both chords.
    simpler: ClassVar[Curves] = HermiteCurves(has_corners=True)

    def estimated(self, velocities: Float64Array, held: BoolArray) -> Float64Array:
        """Return parameters 0; at holds tension 1, with which both tangents are 0."""
        shapes = np.zeros((len(velocities), _EACH * len(self.parts)))
        shapes[held, ::_EACH] = 1.0
        return shapes

    def refit(self, samples: Samples, windows: Windows, free: BoolArray) -> tuple[Windows, Float64Array]:
        """Return windows whose free keys (n, m) are fitted, and their largest errors (n,)."""
        n, m = windows.rows.shape
        if not n:
            return windows, np.zeros(0)
        counts = np.diff(windows.rows, axis=1) > 0
        # What is fitted changes none of the outermost.
        counts[:, [0, -1]] = False
        window, segment = np.nonzero(counts)
        expanded = Expanded.of(windows.rows[window, segment], windows.rows[window, segment + 1])
        track = windows.track[window][expanded.segment]
        target = samples.values[track, expanded.row]
        squares = np.zeros((n, m - 1, 4, 4))
        squares[window, segment] = expanded.products()
        # From velocities to tangents by the local parameter.
        lengths = np.maximum(np.diff(windows.rows, axis=1), 1).astype(np.float64)
        scale = np.ones((n, m - 1, 4))
        scale[:, :, 1::2] = 1.0 / lengths[..., np.newaxis]
        squares *= scale[..., np.newaxis] * scale[:, :, np.newaxis]
        values = samples.values[windows.track[:, np.newaxis], windows.rows] if samples.is_exact else windows.values
        values, shapes = values.copy(), windows.shapes.copy()
        for number, (columns, is_rotation) in enumerate(self.parts):
            own = values[:, :, columns]
            # Nearer to 0 sums of squares have more digits.
            origin = np.zeros_like(own[:, :1]) if is_rotation else own[:, m // 2 : m // 2 + 1]
            wanted = target[:, columns] - origin[window][expanded.segment, 0]
            products = np.zeros((n, m - 1, 4, own.shape[2]))
            products[window, segment] = expanded.sums(wanted)
            products *= scale[..., np.newaxis]
            total = np.bincount(window, expanded.squares(wanted), n).astype(np.float64)
            free_values = np.zeros_like(free) if samples.is_exact else free
            eased = None
            if self.has_ease:
                first = windows.rows[window, segment][expanded.segment]
                share = (expanded.row - first) / lengths[window, segment][expanded.segment]
                eased = EasedSamples(
                    n, m, window, segment, expanded.order, expanded.starts, expanded.segment, share, wanted
                )
            fit = Fit(Layout.of(windows.rows, is_rotation), squares, products, total, free_values, free, eased)
            shaped = slice(_EACH * number, _EACH * number + (_EACH if self.has_ease else SHAPED))
            found, shapes[:, :, shaped] = fitted(fit, own - origin, shapes[:, :, shaped])
            values[:, :, columns] = np.where(free_values[..., np.newaxis], found + origin, own)
        # As they are stored.
        shapes = shapes.astype(np.float32).astype(np.float64)
        result = Windows(windows.track, windows.rows, values, shapes)
        keys = Layout.of(windows.rows, False).keys
        place = np.cumsum(keys.ravel()).reshape(keys.shape) - 1
        tracks = _batch(np.repeat(np.arange(n), m)[keys.ravel()], windows.rows[keys], values[keys])
        begin = place[window, segment]
        played = self._play(tracks, shapes[keys], begin[expanded.segment], expanded.row)
        errors = samples.measure(track, expanded.row, played)
        largest = np.zeros((n, m - 1))
        largest[window, segment] = expanded.largest(errors)
        return result, largest.max(axis=1)

    def played(self, samples: Samples, keys: KeySet) -> Float64Array:
        """Return what the keys of all tracks play, shape (tracks, frames, d)."""
        tracks = _batch(keys.track, keys.rows, keys.values)
        inner = np.flatnonzero(keys.track[1:] == keys.track[:-1])
        expanded = Expanded.of(keys.rows[inner], keys.rows[inner + 1])
        begin = inner[expanded.segment]
        every = np.empty_like(samples.values)
        every[keys.track[begin], expanded.row] = self._play(tracks, keys.shapes, begin, expanded.row)
        return every

    def _play(self, tracks: KeyBatch, shapes: Float64Array, begin: IndexArray, row: IndexArray) -> Float64Array:
        """Return values (samples, d) at rows in the segments that begin at keys, by the splines that play them."""
        found = np.empty((len(row), tracks.values.shape[1]))
        share = (row - tracks.frames[begin]) / tracks.after[begin]
        for number, (columns, is_rotation) in enumerate(self.parts):
            parameters = np.ascontiguousarray(shapes[:, _EACH * number : _EACH * (number + 1)].T)
            own = replace(tracks, parameters=parameters)
            q = np.ascontiguousarray(tracks.values[:, columns].T)
            u = share
            if self.has_ease:
                u = ease.ease(share, *ease.normalised(parameters[4, begin], parameters[3, begin + 1]))
            if is_rotation:
                points = tcb.controls(own, q, *neighbours(own, q), "3DS")
                found[:, columns] = DeCasteljau(points).value(begin, u).T
            else:
                curve = Cubics.of_tangents(own, q, *tcb.tangents(own, *own.chords(q), "TANGENT"))
                found[:, columns] = curve.evaluate(begin, u, 0).T
        return found


def _batch(track: IndexArray, rows: IndexArray, values: Float64Array) -> KeyBatch:
    """Return keys of tracks, in order, end to end."""
    frames = rows.astype(np.float64)
    starts = np.flatnonzero(np.diff(track, prepend=-1))
    ends = np.append(starts[1:], len(track)) - 1
    key = np.arange(len(track))
    previous, following = key - 1, key + 1
    previous[starts], following[ends] = starts, ends
    return KeyBatch(
        frames=frames,
        parameters=np.zeros((_EACH, len(track))),
        values=values,
        first=starts,
        last=ends,
        previous=previous,
        following=following,
        before=frames - frames[previous],
        after=frames[following] - frames,
        looped=np.zeros(len(starts), dtype=np.bool_),
    )
