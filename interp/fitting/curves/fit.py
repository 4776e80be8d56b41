# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit Bezier keys to many splines at once: the entry point of this package."""

from __future__ import annotations

from collections.abc import Sequence

from ..channel_splines import in_batches
from .fewest_pieces import fewest_pieces
from .requests import Fit, Request
from .results import results
from .strands import Strands


def fit_many(requests: Sequence[Request]) -> list[Fit]:
    """Fit many splines at once.

    Parameters
    ----------
    requests : sequence of Request
        Splines of values and of rotations, in any mixture.

    Returns
    -------
    list of Fit
        In the order of the requests. The fit of a spline does not depend on the others.

    Raises
    ------
    TypeError
        For what are no requests with splines, and a tolerance, numbers or other keys that are no numbers.
    ValueError
        For a tolerance that is not above 0, numbers of another shape than the keys', not finite, too large for float32,
        missing where the representation is not of quaternions, or quaternions without length, segments that are not one
        bool for each key, other keys that are not finite, a rotation without a representation or with an unknown one,
        and values with one.

    Notes
    -----
    Every piece is compared with the spline at five samples, with keys and handles as float32 has them. The difference
    has double zeros at the ends, so a polynomial of the eighth degree interpolates it. The error is the largest of that
    polynomial, found at eleven places and by a parabola between them, its last term once more for the degrees that five
    samples can't resolve, and 1 %: the largest difference there is, or a few percent more; up to a sixth less where an
    ease ends within a piece. A piece with too large an error is divided again, until it is within the tolerance, or its
    parts would be too short: 1/80 frame, or twelve float32 steps of the frame. `Fit.errors` says so where the tolerance
    is not reached: where a rotation has to change to another axis or other Euler angles in no time because the key's
    own numbers are one of many representations of its orientation (no turn, gimbal lock), and at frames so large that
    float32 hardly resolves them.

    Knots are where all pieces of a segment have the same error, but not within half a frame of a key, unless no knots
    farther off reach the tolerance; their number was within 1.1 times the smallest there is with exact values and
    derivatives, found by dynamic programming on 48 to 150 places a segment, over tracks of each kind, eased or not; of
    quaternions of free lengths without ease it was 0.8 to 0.9 times that. Source: docs/formulas.md, "Fitting curves".

    Examples
    --------
    The knots between the keys with which an eased spline is played to 0.01:

    >>> eased = tcb.VectorSpline(Keys([0, 10, 40], [0, 5, 1], ease_to=[0, 0.5, 1]))
    >>> (fit,) = curves.fit_many([curves.Request(eased, tolerance=0.01)])
    >>> fit.knots[0].frames.round(1), fit.reached, fit.error < 0.01
    (array([ 5. ,  7.5, 18. , 26.6]), True, True)

    The same of a rotation, in the channels of its quaternion:

    >>> turn = tcb.RotationSpline(Keys([0, 20], [[1, 0, 0, 0], [0, 0.6, 0.8, 0]]))
    >>> (fit,) = curves.fit_many([curves.Request(turn, curves.ROTATION_TOLERANCE, "QUATERNION")])
    >>> len(fit.knots), len(fit.knots[0].frames), fit.error < curves.ROTATION_TOLERANCE
    (4, 2, True)
    """
    return in_batches(requests, _fit_batch)


def _fit_batch(requests: Sequence[Request]) -> list[Fit]:
    """Fit the splines of one batch."""
    strands = Strands(requests)
    return results(strands, fewest_pieces(strands))
