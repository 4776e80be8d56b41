# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines with tension, continuity and bias as in LightWave, and as published by Kochanek and Bartels.

The splines of 3D Studio and 3ds Max are in `tcb`. With evenly spaced keys, all three methods give the same result
between inner keys. The methods differ for uneven spacing and at the ends. LightWave rotates objects by three separate
angles, so there is no LightWave spline of rotations. Source: docs/formulas, "Dialects of TCB".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base_spline import ComponentSpline
from ..cubics import Cubics
from ..keys import Float64Array, KeyBatch
from ..rotations import sphere
from ..rotations.base_rotation_spline import OrientationSpline, neighbors, signed_quaternions
from ..rotations.curves import DeCasteljau
from ..tcb_tangents import RotationKeys, controls_at_ends, natural_tangents, weighted_sums


class LightWaveSpline(ComponentSpline):
    """TCB spline of values, as in LightWave 6 and later.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. LightWave does not support ease.

    Notes
    -----
    Tangents are weighted by the segment's share of the frames on both sides of the key, for any continuity. In 3D
    Studio, this weighting decreases as the magnitude of the continuity grows. At an end, the tangent is the chord,
    weighted as on the same side of an inner key: ``(1-T)(1-C)(1-B)`` at the first key, and ``(1-T)(1-C)(1+B)`` at the
    last. In scenes saved by LightWave, the end tangents are shorter by the factor ``L / (L + 1/3600)``, where ``L`` is
    the segment length in seconds. The error is below 1e-13 times the track's largest value or tangent.

    Examples
    --------
    >>> from tcb_splines.splines.lightwave_kochanek_bartels import LightWaveSpline
    >>> LightWaveSpline(Keys([0, 10, 30], [0, 1, 0], tension=0.5))([5, 20]).ravel()
    array([0.5625, 0.5625])
    """

    @classmethod
    def curve(cls, splines: Sequence[LightWaveSpline], tracks: KeyBatch) -> Cubics:
        p = tracks.columns
        incoming, outgoing = weighted_sums(tracks.parameters, *tracks.chords(p))
        incoming *= tracks.share_before
        outgoing *= 1.0 - tracks.share_before
        return Cubics.of_tangents(tracks, p, incoming, outgoing)


class KochanekBartelsSpline(ComponentSpline):
    """Spline of values that uses the 1984 formulas of Kochanek and Bartels, with uneven spacing as in PyPI's `splines`.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`.

    Notes
    -----
    The parameters weight velocities instead of chords, each by the other side's share of the frames. With all
    parameters set to 0, the spline equals `catmull_rom`, except that its ends are natural (second derivative 0). The
    parameters of the first and last keys are used only in a loop. The error is below 1e-13 times the track's largest
    value or tangent.

    Examples
    --------
    >>> from tcb_splines.splines.lightwave_kochanek_bartels import KochanekBartelsSpline
    >>> KochanekBartelsSpline(Keys([0, 10, 30], [0, 1, 0]))([5, 20]).ravel()
    array([0.59375, 0.875  ])
    """

    @classmethod
    def curve(cls, splines: Sequence[KochanekBartelsSpline], tracks: KeyBatch) -> Cubics:
        p = tracks.columns
        before, after = tracks.chords(p)
        incoming, outgoing = _tangents(tracks, before, after)
        first, last = tracks.open_ends
        outgoing[:, first], incoming[:, last] = natural_tangents(tracks, before, after, incoming, outgoing)
        return Cubics.of_tangents(tracks, p, incoming, outgoing)


class KochanekBartelsRotationSpline(OrientationSpline):
    """Spline of rotations that uses the 1984 formulas of Kochanek and Bartels, extended as in PyPI's `splines`.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Notes
    -----
    The parameters weight the rotation vectors between keys, per frame, in the parent frame. Segments use de Casteljau's
    construction. At the first and last keys, the control is halfway to the next control, and the parameters are used
    only in a loop. The error bounds are the same as for `tcb.RotationSpline`, which weights arcs instead of rotation
    vectors.

    Examples
    --------
    >>> from tcb_splines.splines.lightwave_kochanek_bartels import KochanekBartelsRotationSpline
    >>> quarter = rotations.from_axis_angle([0, 0, 1], [0, np.pi / 2, 0])
    >>> spline = KochanekBartelsRotationSpline(Keys([0, 10, 30], quarter))
    >>> np.degrees(rotations.to_axis_angle(spline([5, 20]))[1])
    array([53.4375, 78.75  ])
    """

    @classmethod
    def curve(cls, splines: Sequence[KochanekBartelsRotationSpline], tracks: KeyBatch) -> DeCasteljau:
        q = signed_quaternions(splines, tracks)
        before, after = neighbors(tracks, q)
        turns = (
            sphere.log(sphere.product(q, sphere.conjugate(before))),
            sphere.log(sphere.product(after, sphere.conjugate(q))),
        )
        incoming, outgoing = _tangents(tracks, *turns)
        controls_before = sphere.product(sphere.exp(-incoming / 3.0), q)
        controls_after = sphere.product(sphere.exp(outgoing / 3.0), q)
        first, last = tracks.open_ends
        keys, no_tension = RotationKeys(tracks, q, before, after, None), np.ones_like(tracks.frames)
        ends = controls_at_ends(keys, controls_before, controls_after, slack=no_tension)
        controls_after[:, first], controls_before[:, last] = ends
        end = tracks.segment_end
        return DeCasteljau(np.stack([q, controls_after, controls_before[:, end], q[:, end]], axis=1))


def _tangents(tracks: KeyBatch, before: Float64Array, after: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return incoming and outgoing tangents (d, K), with respect to the local parameter, from chords or turns (d, K).

    At the ends of a track that is not a loop, the tangents are arbitrary.
    """
    slope_before, slope_after = tracks.slopes(before, after)
    share = tracks.share_before
    incoming, outgoing = weighted_sums(tracks.parameters, slope_before * (1.0 - share), slope_after * share)
    return incoming * tracks.before, outgoing * tracks.after
