# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of a segment at which handles are fitted and errors are measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from ..keys import Float64Array


class SamplePoints(NamedTuple):
    """Local parameters at which errors are measured, including the nodes at which handles are fitted.

    Least squares at Chebyshev nodes almost minimize the maximum error.
    """

    at: Float64Array
    """The local parameters, in ascending order."""
    node_rows: slice = slice(1, None, 3)
    is_cubic: bool = False
    """True for cubics in time, which handles at thirds play exactly."""
    finer: FinerPoints | None = None
    """Points for segments with large errors."""

    @property
    def nodes(self) -> Float64Array:
        """Return the local parameters at which handles are fitted."""
        return self.at[self.node_rows]


class FinerPoints(NamedTuple):
    """More points, and the matrix that interpolates small errors there, from the errors at the nodes."""

    points: SamplePoints
    interpolation: Float64Array


def chebyshev(count: int) -> Float64Array:
    """Return the Chebyshev nodes between 0 and 1.

    Every third node, from the second on, is also a node for a third of the count.
    """
    return (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0


def _smooth(count: int) -> SamplePoints:
    """Return nodes between which polynomials that are 0 at both keys interpolate the errors."""
    finer = SamplePoints(chebyshev(3 * count))
    to_finer, to_nodes = (
        chebvander(2.0 * at - 1.0, count - 1) * (at * (1.0 - at))[:, np.newaxis] for at in (finer.at, finer.nodes)
    )
    return SamplePoints(finer.nodes, slice(None), finer=FinerPoints(finer, to_finer @ np.linalg.inv(to_nodes)))


EASED = SamplePoints(chebyshev(60))
"""Points in segments with eases. With fewer than twenty fitted nodes, channels could move and return between them."""
PLAIN = _smooth(12)
"""Points in segments without ease."""
SMOOTH = _smooth(9)
"""Points for quaternions without ease, for which nine nodes are as accurate as twelve. Angle channels need `PLAIN`."""
CUBIC = SamplePoints(chebyshev(8), is_cubic=True)
"""Points for values without ease, whose error is only rounding: a polynomial of degree five."""
