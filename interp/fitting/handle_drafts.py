# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft the handles of splines repeatedly and quickly, while a drag changes the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..key_batch import IndexArray
from ..keys import Float32Array, Float64Array
from .handle_motion import SamplePoints, SegmentMotion, chebyshev
from .handle_shapes import fitted_shape, float32_handles
from .requests import Batch, Request

_EASED_DRAFT = SamplePoints(chebyshev(10), slice(None))
"""Points in segments with eases. Ten nodes suffice, because the only step of a draft is short."""


class Draft(NamedTuple):
    """Drafted handles for N segments with c channels."""

    right: Float32Array
    """The frame and value of the handles after the first keys of segments, shape (N, c, 2)."""
    left: Float32Array
    """The frame and value of the handles before the last keys, with the sign of the first key."""
    flips: Float64Array
    """-1 where the last key must be negated relative to the first key, otherwise 1, shape (N,)."""


class HandleDrafts:
    """Repeated drafts of the same handles while a drag changes the parameters.

    Data that does not depend on the parameters is prepared once. A draft takes one descent step, and more steps for
    large errors if there are few segments. A draft does not measure errors, and takes at most a third as long as a fit.

    Parameters
    ----------
    requests : sequence of Request
        Requests with the same representation, whose splines have the same `batch`.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        self._batch = Batch.of(requests)

    @property
    def segments(self) -> IndexArray:
        """Return the first key of each segment, as an index into the keys of all requests, shape (N,)."""
        return self._batch.segments

    @property
    def parameters(self) -> Float64Array:
        """Return the parameters of the keys of all requests, shape (5, keys)."""
        return self._batch.tracks.parameters

    def fitted(self, parameters: Float64Array) -> Draft:
        """Return the handles for key parameters of shape (5, keys)."""
        motion = SegmentMotion(self._batch.with_parameters(parameters))
        count, channels = len(self.segments), self._batch.channels
        right, left = np.empty((2, count, channels, 2), dtype=np.float32)
        flips = np.ones(count)
        for segments in motion.groups():
            points = _EASED_DRAFT if segments.eases.any() else motion.plain
            course, flips_of_group, _ = motion.course(motion.sampled(segments, points))
            handles = float32_handles(segments, course, fitted_shape(course, points, is_draft=True))
            rows = np.searchsorted(self.segments, segments.begin)
            frames, values = (array.reshape(2, channels, -1) for array in handles)
            right[rows], left[rows] = np.stack([frames, values], axis=-1).swapaxes(1, 2)
            flips[rows] = flips_of_group
        return Draft(right, left, flips)
