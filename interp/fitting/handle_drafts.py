# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft the handles of splines repeatedly and quickly, while a drag changes the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..key_batch import IndexArray
from ..keys import Float32Array, Float64Array
from .handle_shapes import CUBIC, EASED_DRAFT, SamplePoints
from .handles import HandleFitting, SegmentFits, Segments, float32_handles
from .requests import Batch, Request

_MANY = 400
"""A draft of at least this many columns takes no additional steps."""


class Draft(NamedTuple):
    """Drafted handles for N segments with c channels."""

    right: Float32Array
    """The frame and value of the handles after the first keys of segments, shape (N, c, 2)."""
    left: Float32Array
    """The frame and value of the handles before the last keys, with the sign of the first key."""
    flips: Float64Array
    """-1 where the last key must be negated relative to the first key, otherwise 1, shape (N,)."""


class HandleDrafts(HandleFitting):
    """Repeated drafts of the same handles while a drag changes the parameters.

    Data that does not depend on the parameters is prepared once. A draft takes one descent step, and more steps for
    large errors if there are few segments. A draft does not measure errors, and takes at most a third as long as a fit.

    Parameters
    ----------
    requests : sequence of Request
        Requests with the same representation, whose splines have the same `batch`.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        super().__init__(Batch.of(requests), None)
        self._splines = [request.spline for request in requests]
        plain = self._plain
        self._plain = plain if plain is CUBIC else SamplePoints(plain.at[plain.nodes], slice(None))
        self._eased = EASED_DRAFT
        columns = len(self._begin) * (1 if requests[0].representation == "QUATERNION" else self._numbers.shape[1])
        self._draft_size = "MANY" if columns > _MANY else "FEW"

    @property
    def segments(self) -> IndexArray:
        """Return the first key of each segment, as an index into the keys of all requests, shape (N,)."""
        return self._begin

    @property
    def parameters(self) -> Float64Array:
        """Return the parameters of the keys of all requests, shape (5, keys)."""
        return self._tracks.parameters

    def fitted(self, parameters: Float64Array) -> Draft:
        """Return the handles for key parameters of shape (5, keys)."""
        self._tracks = replace(self._tracks, parameters=parameters)
        self._curve = type(self._splines[0]).curve(self._splines, self._tracks)
        fits = [self._fitted(segments) for segments in self._segment_groups()]
        frames = np.concatenate([fit.frames for fit in fits], axis=-1)
        values = np.concatenate([fit.values for fit in fits], axis=-1)
        right, left = np.stack([frames, values], axis=-1).swapaxes(1, 2)
        return Draft(right, left, np.concatenate([fit.flips for fit in fits]))

    def _fit(
        self, segments: Segments, exact: Float64Array, derivatives: Float64Array, points: SamplePoints
    ) -> SegmentFits:
        """Return the handles of each segment, without measuring errors."""
        course, shape, flips, _ = self._shaped(segments, exact, derivatives, points)
        frames, values = float32_handles(segments, course, shape)
        size, zeros = (2, self._numbers.shape[1], len(segments.begin)), np.zeros((1, len(segments.begin)))
        return SegmentFits(flips, zeros[0], zeros, zeros, frames.reshape(size), values.reshape(size))
