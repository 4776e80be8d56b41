# SPDX-License-Identifier: GPL-3.0-or-later
"""The segments of splines of one kind, and their residuals: the motion with given parameters less the sampled one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import numpy as np

from ... import ease
from ...batch import BoolArray, IndexArray, KeyBatch, end_to_end
from ...keys import Float64Array
from ...splines import tcb
from .hermite import chord_vectors, hermite
from .parts import SAMPLES, SHARES, Part, Spline


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of splines of one kind, N in all, of d components: of rotations, those of rotation vectors."""

    splines: list[Spline]
    has_whole_turns: bool
    tracks: KeyBatch
    rows: IndexArray
    """Which of the problem's keys the splines' keys are."""
    begin: IndexArray
    """Which of the splines' keys begin the segments."""
    before: Float64Array
    """Chords to the splines' keys, shape (d, keys)."""
    after: Float64Array
    """Chords from the splines' keys, shape (d, keys)."""
    weights: Float64Array
    """Weights of residuals, shape (d, N)."""
    samples: Float64Array
    """The motion, shape (components, SAMPLES, N): of numbers relative to the segment's first key, and weighted."""

    @classmethod
    def of(cls, parts: Sequence[Part], starts: Sequence[int], scales: Sequence[float]) -> Segments:
        """Return the segments of parts, whose tracks' keys start at `starts` in the problem."""
        splines = [part.spline for part in parts]
        tracks = end_to_end(splines)
        inner = np.ones(len(tracks.frames), dtype=np.bool_)
        inner[tracks.last] = False
        weights = np.concatenate([part.weights / scale for part, scale in zip(parts, scales, strict=True)]).T
        samples = np.concatenate([part.samples for part in parts]).transpose(2, 1, 0)
        begin = np.flatnonzero(inner)
        if isinstance(splines[0], tcb.RotationSpline):
            weights = weights[:3]
        else:
            samples = (samples - tracks.values[begin].T[:, np.newaxis]) * weights[:, np.newaxis]
        before, after = type(splines[0]).chords(splines, tracks)  # type: ignore[arg-type]
        return cls(
            splines,
            parts[0].has_whole_turns,
            tracks,
            rows=np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            begin=begin,
            before=before,
            after=after,
            weights=np.ascontiguousarray(weights),
            samples=np.ascontiguousarray(samples),
        )

    def take(self, keys: BoolArray) -> Segments | None:
        """Return the segments of those splines all of whose keys, in the problem, are among the given ones."""
        own = keys[self.rows]
        if own.all():
            chosen, tracks = self.splines, self.tracks
        else:
            chosen = list(compress(self.splines, own[self.tracks.first].tolist()))
            tracks = self.tracks.take(own) if chosen else self.tracks
        if not chosen:
            return None
        segments = own[self.begin]
        index, in_problem = np.cumsum(own) - 1, np.cumsum(keys) - 1
        return Segments(
            chosen,
            self.has_whole_turns,
            tracks,
            rows=in_problem[self.rows[own]],
            begin=index[self.begin[segments]],
            before=self.before.compress(own, axis=1),
            after=self.after.compress(own, axis=1),
            weights=self.weights.compress(segments, axis=1),
            samples=self.samples.compress(segments, axis=2),
        )

    @property
    def left(self) -> IndexArray:
        """Return which of the problem's keys begin the segments."""
        return self.rows[self.begin]

    @property
    def right(self) -> IndexArray:
        """Return which of the problem's keys end the segments."""
        return self.rows[self.begin + 1]

    @property
    def is_rotation(self) -> bool:
        """Return whether the splines are rotations."""
        return isinstance(self.splines[0], tcb.RotationSpline)

    def residuals(self, parameters: Float64Array) -> Float64Array:
        """Return the residuals with parameters of the problem's keys, shape (d, SAMPLES, N)."""
        return self.own_residuals(parameters.take(self.rows, axis=1))

    def own_residuals(self, own: Float64Array) -> Float64Array:
        """Return the residuals with parameters of the splines' keys, shape (d, SAMPLES, N)."""
        u = self.local(own)
        if self.is_rotation:
            tracks = replace(self.tracks, parameters=own)
            curve = tcb.RotationSpline.curve(cast(list[tcb.RotationSpline], self.splines), tracks)
            values = curve.evaluate(np.tile(self.begin, SAMPLES), u.ravel(), 0).reshape(self.samples.shape)
            return chord_vectors(values, self.samples) * self.weights[:, np.newaxis]
        motion = hermite(u, *(each * self.weights for each in self.shape(*self.tangents(own))))
        motion -= self.samples
        return motion

    def local(self, own: Float64Array) -> Float64Array:
        """Return the eased local parameter at the samples, shape (SAMPLES, N)."""
        u = np.repeat(SHARES[:, np.newaxis], len(self.begin), axis=1)
        ease_from, ease_to = own[4, self.begin], own[3, self.begin + 1]
        return ease.ease(u, *ease.normalised(ease_from, ease_to)) if ease_from.any() or ease_to.any() else u

    def tangents(self, own: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return incoming and outgoing tangents of the splines' keys, each of shape (d, keys)."""
        return tcb.tangents(replace(self.tracks, parameters=own), self.before, self.after, self._ends)

    def shape(self, incoming: Float64Array, outgoing: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the chords of the segments and the tangents at their ends, each of shape (d, N)."""
        begin = self.begin
        return self.after.take(begin, axis=1), outgoing.take(begin, axis=1), incoming.take(begin + 1, axis=1)

    @property
    def _ends(self) -> tcb.Ends:
        """Return the rule for the tangents at the ends of tracks."""
        spline = self.splines[0]
        return spline.ends if isinstance(spline, tcb.RotationSpline) else "TANGENT"

    def end_shares(self, own: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return which part of the other tangent is subtracted from a segment's last tangent, and from its first.

        It is not 0 in the first and last segments of tracks, where the rule makes one tangent of the other.
        """
        of_end, of_start = np.zeros((2, len(self.tracks.frames)))
        if self._ends == "TANGENT":
            first, last = self.tracks.open
            longer = last - first > 1
            first, last = first[longer], last[longer]
            of_start[first] = 0.5 * (1.0 - own[0, first])
            of_end[last] = 0.5 * (1.0 - own[0, last])
        return of_end[self.begin + 1], of_start[self.begin]
