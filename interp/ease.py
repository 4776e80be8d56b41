# SPDX-License-Identifier: GPL-3.0-or-later
"""Ease to and ease from: the local parameter of a segment as a function of the frame.

Source: docs/formulas, "Ease".
"""

from __future__ import annotations

import numpy as np

from .keys import Float64Array, IndexArray, KeyBatch, Keys

# No sample falls within an ease this short, but the acceleration there, 1 / ease, could overflow.
_SMALLEST = 1e-100


def ease(u: Float64Array, ease_from: Float64Array, ease_to: Float64Array, nu: int = 0) -> Float64Array:
    """Return the eased local parameter, or its derivative of order `nu`, up to 2, with respect to u.

    u is 0 at a segment's first key and 1 at its second. Pass the first key's `ease_from` and the second key's
    `ease_to`, as returned by `without_overlap`. The function is C1, rises from 0 to 1 and is exact at both ends. The
    error is below 4e-16.
    """
    # k is written as its inverse so that u = 1 gives exactly 1. Computing k / a first would overflow for a tiny ease.
    # u / a is at most 1 in the branch that uses it.
    inverse_k = 2.0 - ease_from - ease_to
    rest = 1.0 - u
    is_starting = u < ease_from
    is_ending = rest < ease_to
    start_share = np.divide(u, ease_from, out=np.zeros_like(u), where=is_starting)
    end_share = np.divide(rest, ease_to, out=np.zeros_like(u), where=is_ending)
    if nu == 0:
        middle = (2.0 * u - ease_from) / inverse_k
        end = 1.0 - rest * end_share / inverse_k
        return np.where(is_starting, u * start_share / inverse_k, np.where(is_ending, end, middle))
    if nu == 1:
        return 2.0 / inverse_k * np.where(is_starting, start_share, np.where(is_ending, end_share, 1.0))
    start_acceleration = np.divide(2.0 / inverse_k, ease_from, out=np.zeros_like(u), where=is_starting)
    end_acceleration = np.divide(-2.0 / inverse_k, ease_to, out=np.zeros_like(u), where=is_ending)
    return np.where(is_starting, start_acceleration, end_acceleration)


def without_overlap(ease_from: Float64Array, ease_to: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return both eases of segments, scaled down if their sum is above 1, with 0 for eases too small to divide by."""
    total = np.maximum(ease_from + ease_to, 1.0)
    eases = np.stack((ease_from / total, ease_to / total))
    eases[eases < _SMALLEST] = 0.0
    return eases[0], eases[1]


def smooth_parts(keys: Keys) -> Float64Array:
    """Return the frames between which the local parameter is a polynomial: the keys and the ends of their eases."""
    frames, lengths = keys.frames, np.diff(keys.frames)
    ease_from, ease_to = without_overlap(keys.ease_from[:-1], keys.ease_to[1:])
    ends_of_eases = np.concatenate([frames[:-1] + ease_from * lengths, frames[1:] - ease_to * lengths])
    return np.union1d(frames, np.clip(ends_of_eases, frames[0], frames[-1]))


class LocalParameter:
    """The local parameter of every segment as a function of the frame, including ease.

    Source: docs/formulas, "Local parameter".
    """

    def __init__(self, tracks: KeyBatch) -> None:
        end = tracks.segment_end
        self._start = tracks.frames
        self.length = tracks.lengths
        is_held = self.length == 0.0
        self.length[is_held] = np.inf
        self.ease_from, self.ease_to = without_overlap(tracks.parameters[4], tracks.parameters[3, end])
        self._is_eased = ((self.ease_from > 0.0) | (self.ease_to > 0.0)) & ~is_held
        self._any_eased = bool(self._is_eased.any())

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
        if self._any_eased:
            samples = np.flatnonzero(self._is_eased[segment])
            without_ease = [derivative[samples] for derivative in derivatives]
            for derivative, eased in zip(
                derivatives, self._eased(segment[samples], without_ease, extrapolate), strict=True
            ):
                derivative[samples] = eased
        return derivatives

    def _eased(self, segment: IndexArray, without_ease: list[Float64Array], extrapolate: bool) -> list[Float64Array]:
        """Return the eased local parameter and its derivatives, from those without ease."""
        u = without_ease[0]
        eases = self.ease_from[segment], self.ease_to[segment]
        inside = np.clip(u, 0.0, 1.0)
        derivatives = [ease(inside, *eases, order) for order in range(len(without_ease))]
        if extrapolate:
            derivatives[0] += (u - inside) * ease(inside, *eases, 1)
            if len(derivatives) == 3:
                derivatives[2][u != inside] = 0.0
        for order in range(1, len(derivatives)):
            derivatives[order] *= without_ease[1] ** order
        return derivatives

    def at_one(self, frame: float, segment: int, nu: int, extrapolate: bool) -> list[float]:
        """Return the result of `at` for one frame, identical to the last bit."""
        if self._is_eased[segment]:
            derivatives = self.at(np.array([frame]), np.array([segment]), nu, extrapolate)
            return [derivative.item() for derivative in derivatives]
        length = float(self.length[segment])
        u = (frame - float(self._start[segment])) / length
        is_before = u < 0.0 and not extrapolate
        return [0.0 if is_before else u, 0.0 if is_before else 1.0 / length, 0.0]
