# SPDX-License-Identifier: GPL-3.0-or-later
"""Piecewise polynomials in the frame, for integrals and derivatives of any order, and their computation from cubics.

Source: docs/formulas, "Hermite cubics" and "Ease".
"""

from __future__ import annotations

from math import factorial

import numpy as np
import numpy.typing as npt

from .arguments import checked_number, checked_sample_frames, checked_whole
from .cycles import wrapped_frames
from .ease import LocalParameter
from .key_batch import IndexArray
from .keys import Float64Array


class PiecewisePolynomial:
    """Piecewise polynomials in the frame, like scipy's PPoly with additional pieces beyond both ends.

    Created by `to_ppoly`, `derivative` and `antiderivative`.

    Parameters
    ----------
    c : ndarray, shape (k, m, d)
        Coefficients of m pieces, for powers of the frame relative to the start of each piece, highest power first.
    x : ndarray, shape (m + 1,)
        The start frames of the pieces in ascending order, and the end frame of the last piece.
    outside : ndarray, shape (k, 2, d)
        Coefficients before the first piece, relative to its start, and after the last piece, relative to its end.
    eased : (bool, bool)
        For the first and last keys, true if the piece there has an ease at the key, so that extrapolation holds the
        value.
    period : float or None
        The period of repetition, in frames.

    Attributes
    ----------
    c, x : ndarray
        Arrays in scipy's format. ``scipy.interpolate.PPoly(p.c, p.x)`` gives the same values within the pieces.

    Examples
    --------
    >>> p = tcb.VectorSpline(Keys([0, 10], [0, 1])).to_ppoly()
    >>> p.integrate(0, 10), p.antiderivative()(20)
    (array([5.]), array([15.]))
    """

    def __init__(
        self,
        c: Float64Array,
        x: Float64Array,
        outside: Float64Array,
        eased: tuple[bool, bool] = (False, False),
        period: float | None = None,
    ) -> None:
        self.c, self.x, self._outside, self._eased, self._period = c, x, outside, eased, period
        for array in (c, x, outside):
            array.flags.writeable = False

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Evaluate a derivative of any order. The result has the shape of `frames` plus an axis of components."""
        at = checked_sample_frames("frames", frames)
        samples = at.ravel()
        first, last = float(self.x[0]), float(self.x[-1])
        if self._period is not None:
            samples = wrapped_frames(samples, first, last)
        piece = np.clip(np.searchsorted(self.x, samples, side="right") - 1, 0, self.c.shape[1] - 1)
        values = _polynomials_at(self.c[:, piece], samples - self.x[piece], nu)
        for side, is_beyond, end in ((0, samples < first, first), (1, samples > last, last)):
            if self._eased[side] or not extrapolate:
                values[is_beyond] = _polynomials_at(self._outside[:, [side]], samples[is_beyond] - end, nu)
        return values.reshape(*at.shape, self.c.shape[2])

    def derivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th derivative."""
        c, outside = self.c, self._outside
        for _ in range(checked_whole("n", n)):
            c, outside = _differentiated(c), _differentiated(outside)
        return PiecewisePolynomial(c, self.x, outside, self._eased, self._period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key and continues outside the keys.

        Raises
        ------
        ValueError
            If the spline is a cycle, because its integral grows with every period. Use `integrate` instead.
        """
        if self._period is not None:
            raise ValueError("a cycle has no piecewise antiderivative. Use integrate instead")
        c, outside, lengths = self.c, self._outside, np.diff(self.x)
        for _ in range(checked_whole("n", n)):
            c, outside = _integrated(c), _integrated(outside)
            integrals_at_ends = np.cumsum(_polynomials_at(c, lengths, 0), axis=0)
            c[-1, 1:], outside[-1, 1] = integrals_at_ends[:-1], integrals_at_ends[-1]
        return PiecewisePolynomial(c, self.x, outside, self._eased)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral of the motion, including cycles, from frame `a` to frame `b`, shape (d,)."""
        ends = np.array([checked_number("a", a), checked_number("b", b)])
        one_period = PiecewisePolynomial(self.c, self.x, self._outside, self._eased).antiderivative()
        if self._period is None:
            start, end = one_period(ends, 0, extrapolate)
        else:
            periods = np.floor((ends - self.x[0]) / self._period)
            start, end = one_period(ends - periods * self._period) + periods[:, np.newaxis] * one_period(self.x[-1])
        integral: Float64Array = end - start
        return integral


def _differentiated(c: Float64Array) -> Float64Array:
    """Return the derivatives of polynomials (k, m, d), highest power first."""
    if len(c) == 1:
        return np.zeros_like(c)
    return c[:-1] * np.arange(len(c) - 1, 0, -1.0)[:, np.newaxis, np.newaxis]


def _integrated(c: Float64Array) -> Float64Array:
    """Return the antiderivatives of polynomials (k, m, d), highest power first, that are 0 at the starts."""
    powers = np.arange(len(c), 0, -1.0)[:, np.newaxis, np.newaxis]
    return np.concatenate([c / powers, np.zeros_like(c[:1])])


def _polynomials_at(c: Float64Array, offsets: Float64Array, nu: int) -> Float64Array:
    """Return derivatives (m, d) of polynomials (k, m, d), highest power first, at offsets (m,) from their starts."""
    result = np.zeros((len(offsets), c.shape[2]))
    for power in range(len(c) - 1, checked_whole("nu", nu) - 1, -1):
        result = result * offsets[:, np.newaxis] + c[len(c) - 1 - power] * (factorial(power) / factorial(power - nu))
    return result


def polynomials_of_cubics(
    cubics: Float64Array, local_parameter: LocalParameter, frames: Float64Array, period: float | None
) -> PiecewisePolynomial:
    """Return the cubics of one track, including ease, as polynomials in the frame. Eased pieces have degree 6.

    `cubics` are coefficients (4, d, n) for powers of the local parameter, lowest power first, and `frames` (n,) are the
    keys.
    """
    coefficients = cubics.transpose(0, 2, 1)
    first_and_last = coefficients[0][[0, -1]]
    if len(frames) == 1:
        return PiecewisePolynomial(coefficients[:1], np.append(frames, frames + 1.0), first_and_last[np.newaxis])
    start, segment, parameter = _eased_pieces(local_parameter, frames)
    c = _composed(coefficients[:, segment], parameter)
    outside = np.zeros((len(c), 2, c.shape[2]))
    outside[-1] = first_and_last
    eased = bool(local_parameter.ease_from[0] > 0.0), bool(local_parameter.ease_to[-2] > 0.0)
    return PiecewisePolynomial(c, np.append(start, frames[-1]), outside, eased, period)


def _eased_pieces(
    local_parameter: LocalParameter, frames: Float64Array
) -> tuple[Float64Array, IndexArray, Float64Array]:
    """Return the m pieces of a track in which the local parameter is a polynomial in the frame.

    The results are the frames at which the pieces start (m,), their segments (m,), and the coefficients (3, m) of the
    local parameter for powers 0 to 2 of the frame, relative to the start. An eased segment has three parts, a parabola,
    a line and a parabola (docs/formulas, "Ease").
    """
    segments = slice(0, len(frames) - 1)
    length, ease_from, ease_to = (
        local_parameter.length[segments],
        local_parameter.ease_from[segments],
        local_parameter.ease_to[segments],
    )
    starts = np.stack([np.zeros_like(ease_from), ease_from, 1.0 - ease_to])
    has_part = np.stack([ease_from > 0.0, ease_from < 1.0 - ease_to, ease_to > 0.0])
    segment, part = np.nonzero(has_part.T)
    start = np.minimum(frames[segment] + starts[part, segment] * length[segment], frames[segment + 1])
    has_length = np.diff(start, append=frames[-1]) > 0.0
    segment, part, start = segment[has_length], part[has_length], start[has_length]
    length, ease_from, ease_to = length[segment], ease_from[segment], ease_to[segment]
    # The rounded start relative to the segment, for a local parameter that is exact at the rounded frame.
    s = (start - frames[segment]) / length
    parameter = _eased_parameter(part, s, ease_from, ease_to)
    return start, segment, parameter / length ** np.arange(3.0)[:, np.newaxis]


def _eased_parameter(part: IndexArray, s: Float64Array, ease_from: Float64Array, ease_to: Float64Array) -> Float64Array:
    """Return the Taylor coefficients (3, m) at s of the eased parameter.

    `part` is the parabola after the start (0), the line (1), or the parabola before the end (2).
    """
    rest = 1.0 - s
    pace = 2.0 / (2.0 - ease_from - ease_to)
    zeros = np.zeros_like(s)
    out_of_key = np.divide(0.5 * pace, ease_from, out=zeros.copy(), where=part == 0)
    into_key = np.divide(0.5 * pace, ease_to, out=zeros.copy(), where=part == 2)
    coefficients: Float64Array = np.choose(
        part,
        [
            [out_of_key * s * s, 2.0 * out_of_key * s, out_of_key],
            [pace * (s - 0.5 * ease_from), pace, zeros],
            [1.0 - into_key * rest * rest, 2.0 * into_key * rest, -into_key],
        ],
    )
    return coefficients


def _composed(cubics: Float64Array, parameter: Float64Array) -> Float64Array:
    """Return cubics (4, m, d) in a parameter (3, m) that is a parabola in the frame, as polynomials in the frame.

    The arguments have the lowest power first. The result, of degree 3 or 6, has the highest power first.
    """
    s0, s1, s2 = parameter[..., np.newaxis]
    rows = [cubics[3]]
    # Horner's rule, with multiplication of polynomials.
    for coefficient in cubics[2::-1]:
        product = np.zeros((len(rows) + 2, *rows[0].shape))
        for power, row in enumerate(rows):
            product[power] += row * s0
            product[power + 1] += row * s1
            product[power + 2] += row * s2
        product[0] += coefficient
        rows = list(product)
    degree = 6 if s2.any() else 3
    return np.stack(rows[degree::-1])
