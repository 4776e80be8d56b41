# SPDX-License-Identifier: GPL-3.0-or-later
"""Shoemake's 1985 curves through quaternions, with controls from reflection and bisection.

Source: docs/formulas, "Shoemake 1985".

At each key, the previous key is reflected through the key, and the arc from the reflected point to the next key is
bisected. The midpoint is the outgoing control of the key. The reflection of this control through the key is the
incoming control. The publications assume even timing. For uneven spacing, both neighbors are first moved along their
arcs to the smaller distance in frames, and the arc is divided in proportion to the segment lengths. The motion is
therefore C1 in frames for any spacing. For rotation about one axis, the motion is the Catmull-Rom spline of the angle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base_spline import Method
from ..keys import Float64Array, KeyBatch
from ..messages import n_
from ..rotations import sphere
from ..rotations.base_rotation_spline import OrientationSpline, neighbors, signed_quaternions
from ..rotations.curves import Blend, DeCasteljau


class RotationSpline(OrientationSpline):
    """Spline of rotations that uses de Casteljau's construction, with controls at a third of the velocities.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Notes
    -----
    The segment at an end of the track is a parabola. Its control point is halfway to the inner key's control, and the
    control of the equivalent cubic is two thirds of the way there. With two keys, the motion is the arc between them.

    The error of a sample is below 1e-12 / (pi - angle), where `angle` is the angle of the longest arc in the
    construction, half the rotation angle. The error in angular velocities is below 1e-11 / (pi - angle)² radians per
    segment length. The error in angular accelerations is below 1e-11 / (pi - angle)³ radians per squared segment
    length. For rotation about one axis, the motion is the Catmull-Rom spline of the angle if every arc of the
    construction is below 360 degrees of rotation.
    """

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> DeCasteljau:
        q = signed_quaternions(splines, tracks)
        leaving, arriving = _key_velocities(tracks, q)
        end = tracks.segment_end
        after_start = sphere.after_turn(leaving / 3.0, q)
        before_end = sphere.after_turn(-arriving / 3.0, q[:, end])
        first, last = tracks.open_ends
        from_next = sphere.after_turn(-arriving[:, first] / 2.0, q[:, first + 1])
        from_last = sphere.after_turn(leaving[:, last - 1] / 2.0, q[:, last - 1])
        after_start[:, first] = sphere.slerp(q[:, first], from_next, 2.0 / 3.0)
        before_end[:, last - 1] = sphere.slerp(q[:, last], from_last, 2.0 / 3.0)
        return DeCasteljau(np.stack([q, after_start, before_end, q[:, end]], axis=1))


class BlendSpline(OrientationSpline):
    """Spline of rotations that blends the arcs between keys with the arcs toward the controls.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Notes
    -----
    The published formula (Szirmay-Kalos, equation 13.53) blends the segments on both sides of a key, here by slerp. A
    segment between two inner keys has two such curves, one with the correct velocity at its start and one at its end.
    These two curves are blended in the same way. The first and last segments of a track have one curve each, as
    published. The result is C1, not C2 as published, because the arcs are smooth at a key but their weights are not.
    The error bounds and the motion about one axis are the same as for `RotationSpline`.
    """

    @classmethod
    def curve(cls, splines: Sequence[BlendSpline], tracks: KeyBatch) -> Blend:
        q = signed_quaternions(splines, tracks)
        leaving, arriving = _key_velocities(tracks, q)
        first, last = tracks.open_ends
        # The weight a + b u of the curve that is correct at the segment's end. It is u between inner keys, 1 in the
        # first segment, and 0 in the last segment. The first and last segments have one curve each.
        weight = np.zeros((2, q.shape[1]))
        weight[1] = 1.0
        weight[:, first] = [[1.0], [0.0]]
        weight[:, last - 1] = 0.0
        points = np.stack([q, q[:, tracks.segment_end]], axis=1)
        return Blend(points, np.stack([leaving, arriving], axis=1), weight)


def _key_velocities(tracks: KeyBatch, q: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the angular velocities (3, K) at the start and end of each segment from reflected and bisected arcs.

    `q` (4, K) are the signed quaternions of the keys. The velocities are with respect to the local parameter of the
    segment. They are 0 at the ends of a track, which have no key on one side. Callers set the controls there. With two
    keys, they are the velocity of the arc.
    """
    before, after = neighbors(tracks, q)
    is_inner = tracks.inner
    length_before, length_after = np.where(is_inner, tracks.before, 1.0), np.where(is_inner, tracks.after, 1.0)
    shorter_length = np.minimum(length_before, length_after)
    reflected = sphere.slerp(sphere.slerp(q, before, shorter_length / length_before), q, 2.0)
    moved_next = sphere.slerp(q, after, shorter_length / length_after)
    control = sphere.slerp(reflected, moved_next, length_before / (length_before + length_after))
    velocity = 2.0 * sphere.log(sphere.product(control, sphere.conjugate(q))) / shorter_length
    velocity[:, ~is_inner] = 0.0
    lengths = tracks.lengths
    leaving, arriving = velocity * lengths, velocity[:, tracks.segment_end] * lengths
    first, last = tracks.open_ends
    only_segment = first[last - first == 1]
    arc = sphere.product(q[:, only_segment + 1], sphere.conjugate(q[:, only_segment]))
    leaving[:, only_segment] = arriving[:, only_segment] = 2.0 * sphere.log(arc)
    return leaving, arriving


METHOD = Method(
    "SHOEMAKE",
    n_("Shoemake 1985"),
    n_("Great arcs through mirrored and bisected controls (de Casteljau)"),
    None,
    RotationSpline,
    rotation_options=("path",),
)
BLEND_METHOD = Method(
    "SHOEMAKE_BLEND",
    n_("Shoemake 1985, Blended"),
    n_("Great arcs between keys, blended with arcs to mirrored and bisected controls"),
    None,
    BlendSpline,
    rotation_options=("path",),
)
