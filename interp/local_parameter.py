# SPDX-License-Identifier: GPL-3.0-or-later
"""The local parameter of segments as a function of the frame."""

from __future__ import annotations

import numpy as np

from . import ease
from .key_batch import IndexArray, KeyBatch
from .keys import Float64Array


class LocalParameter:
    """The local parameter of every segment as a function of the frame, including ease.

    Source: docs/formulas, "Local parameter".
    """

    def __init__(self, tracks: KeyBatch) -> None:
        end = tracks.segment_end
        self._start = tracks.frames
        self.length = tracks.lengths
        holds = self.length == 0.0
        self.length[holds] = np.inf
        self.ease_from, self.ease_to = ease.normalised(tracks.parameters[4], tracks.parameters[3, end])
        self._eased = ((self.ease_from > 0.0) | (self.ease_to > 0.0)) & ~holds
        self._any_eased = bool(self._eased.any())

    def at(self, frames: Float64Array, segment: IndexArray, nu: int, extrapolate: bool = False) -> list[Float64Array]:
        """Return the local parameter and its first `nu` derivatives with respect to the frame.

        Before a segment, the parameter is held at 0. With extrapolation, it continues beyond both ends at a constant
        rate, which is 0 at an end with an ease.
        """
        length = self.length[segment]
        u = (frames - self._start[segment]) / length
        derivatives = [u if extrapolate else np.maximum(u, 0.0)]
        if nu >= 1:
            derivatives.append(1.0 / length if extrapolate else np.where(u < 0.0, 0.0, 1.0 / length))
        if nu == 2:
            derivatives.append(np.zeros_like(u))
        if self._any_eased and (eased := np.flatnonzero(self._eased[segment])).size:
            own = segment[eased]
            eases = self.ease_from[own], self.ease_to[own]
            parameter, per_frame = derivatives[0][eased], derivatives[1][eased] if nu else None
            inside = np.clip(parameter, 0.0, 1.0)
            for order, derivative in enumerate(derivatives):
                value = ease.ease(inside, *eases, order)
                if extrapolate and order == 0:
                    value += (parameter - inside) * ease.ease(inside, *eases, 1)
                if extrapolate and order == 2:
                    value[parameter != inside] = 0.0
                derivative[eased] = value if per_frame is None else value * per_frame**order
        return derivatives

    def at_one(self, frame: float, segment: int, nu: int, extrapolate: bool) -> list[float]:
        """Return the result of `at` for one frame, identical to the last bit."""
        if self._eased[segment]:
            found = self.at(np.array([frame]), np.array([segment]), nu, extrapolate)
            return [float(each[0]) for each in found]
        length = float(self.length[segment])
        u = (frame - float(self._start[segment])) / length
        is_before = u < 0.0 and not extrapolate
        return [0.0 if is_before else u, 0.0 if is_before else 1.0 / length, 0.0]
