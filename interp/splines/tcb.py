# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines with tension, continuity and bias as in 3D Studio and 3ds Max, for values and rotations.

Source: docs/formulas, "Values" and "TCB rotations".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from typing import Literal, cast, get_args

import numpy as np

from .. import rotations
from ..arguments import checked_choice
from ..base_spline import ComponentSpline, Cycle, Method
from ..cubics import Cubics
from ..keys import BoolArray, Float64Array, KeyBatch, Keys
from ..messages import n_
from ..rotations import sphere
from ..rotations.base_rotation_spline import (
    Path,
    TurnedSpline,
    neighbors,
    segments_of,
    set_given_turns,
    signed_quaternions,
)
from ..rotations.curves import DeCasteljau, LongTurns, Squad
from ..tcb_tangents import Ends, RotationKeys, casteljau_controls, squad_controls, tangents

Construction = Literal["DE_CASTELJAU", "SQUAD"]
_ENDS, _CONSTRUCTIONS = get_args(Ends), get_args(Construction)

# Closer to a full turn, the axis of the remainder is uncertain. If the axis of the motion moves by one degree, the axis
# of the remainder would move by three.
_NEARLY_WHOLE = np.radians(20.0)
_LONG = 2.0 * np.pi - _NEARLY_WHOLE
# Turns are about one axis if they differ from the axis and from the keys by at most this fraction of the longest turn.
_ONE_AXIS = 1e-6


class VectorSpline(ComponentSpline):
    """TCB spline of values with independent components, such as locations, scales, focal lengths or colors.

    Parameters
    ----------
    keys : Keys
        Keys with values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it with continuous tangents across the seam.

    Notes
    -----
    Key values are exact. The error is below 1e-13 times the track's largest value or tangent. Source:
    docs/formulas, "TCB tangents" and "Ends of TCB tracks".

    Examples
    --------
    >>> spline = tcb.VectorSpline(Keys([0, 10, 30], [[0, 0], [1, 2], [0, 4]]))
    >>> spline([5, 10])
    array([[0.6875, 1.125 ],
           [1.    , 2.    ]])
    >>> spline(10, nu=1)  # per frame
    array([0.      , 0.133333])
    """

    def with_keys(self, keys: Keys) -> VectorSpline:
        """Return the spline through other keys with the same frames and number of components."""
        return VectorSpline(keys, self.cycle)

    @classmethod
    def chords(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> tuple[Float64Array, Float64Array]:
        """Return the differences from the previous key to each key and from each key to the next, shape (d, K)."""
        return tracks.chords(tracks.columns)

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Cubics:
        p = tracks.columns
        return Cubics.of_tangents(tracks, p, *tangents(tracks, *tracks.chords(p), "TANGENT"))


class RotationSpline(TurnedSpline):
    """TCB spline of rotations, with controls on the quaternion sphere as in 3D Studio.

    Parameters
    ----------
    keys : Keys
        Keys with values of shape (n, 4), nonzero quaternions w, x, y, z, which are normalized.
    cycle : "SINGLE", "REPEAT" or "LOOP"
        See `VectorSpline`.
    ends : "3DS" or "TANGENT"
        The rule for the first and last keys, either from 3D Studio 4 or from vector tracks.
    construction : "DE_CASTELJAU" or "SQUAD"
        The formulas of 3D Studio 4, or of 3D Studio R3 and 3ds Max. Both give the same result at keys and for rotation
        about a single axis.
    path : "SHORTEST" or "AS_KEYED"
        The shortest path between keys, or the literal arc of up to 360 degrees between the quaternions, for which squad
        does not negate neighbors.

    Raises
    ------
    KeysError
        If a quaternion is zero or, with the path "AS_KEYED", neighboring quaternions are antipodal to
        within 1e-10, because no unique arc joins them.

    Notes
    -----
    The error of a sample is below 1e-12 times 1 / (pi - angle), where `angle` is the angle of the longest arc in the
    construction, half the rotation angle. This factor results from nearly antipodal quaternions, which barely determine
    their arc. The error in angular velocity is below 1e-11 times the square of this factor, in radians per segment
    length. The error in angular acceleration is below 1e-11 times the cube of this factor, divided by the segment's
    shorter ease, in radians per squared segment length. For rotation about one axis, the motion is the vector spline of
    the angle if every arc of the construction is below 360 degrees of rotation. With nonnegative tension, this holds
    for steps of up to 130 degrees, or 78 degrees with squad, regardless of the other parameters. Source: docs/formulas,
    "TCB rotations".

    Examples
    --------
    >>> quarter = rotations.from_axis_angle([0, 0, 1], [0, np.pi / 2, np.pi])
    >>> spline = tcb.RotationSpline(Keys([0, 10, 20], quarter))
    >>> np.degrees(rotations.to_axis_angle(spline([5, 15]))[1])
    array([ 45., 135.])
    """

    ends: Ends
    construction: Construction

    def __init__(
        self,
        keys: Keys,
        cycle: Cycle = "SINGLE",
        ends: Ends = "3DS",
        construction: Construction = "DE_CASTELJAU",
        path: Path = "SHORTEST",
    ) -> None:
        super().__init__(keys, cycle, path)
        self._set(
            ends=cast(Ends, checked_choice("ends", ends, _ENDS)),
            construction=cast(Construction, checked_choice("construction", construction, _CONSTRUCTIONS)),
        )

    @classmethod
    def _turns_of_walk(cls, starts: Float64Array, ends: Float64Array, walk: Float64Array) -> Float64Array:
        turns = super()._turns_of_walk(starts, ends, walk)
        is_long = np.linalg.norm(walk, axis=1) > np.pi
        is_nearly_whole = rotations.angle_between(ends, starts) < _NEARLY_WHOLE
        return np.where((is_long & is_nearly_whole)[:, np.newaxis], walk, turns)

    @classmethod
    def _keep_turns(cls, splines: Sequence[RotationSpline], turns: Float64Array) -> None:
        """Keep the turns to add to segments: all turns of a motion about one axis, otherwise only long turns."""
        if not turns.any():
            return
        is_long = np.linalg.norm(turns, axis=1) > _LONG
        long_turns = np.where(is_long[:, np.newaxis], turns, 0.0)
        segments_by_spline = segments_of(splines)
        along_axes, are_along = _turns_along_axes(turns, segments_by_spline)
        for spline, segments, is_along in zip(splines, segments_by_spline, are_along.tolist(), strict=True):
            if is_along and _reach_keys(turns[segments], spline.keys.values):
                spline._set(_turns=along_axes[segments])
            elif is_long[segments].any():
                spline._set(_turns=long_turns[segments])

    def with_keys(self, keys: Keys) -> RotationSpline:
        """Return the same spline with other keys.

        `keys` must have the same frames and unit quaternions. Neither is checked.
        """
        spline = copy(self)
        spline._set(keys=keys)
        return spline

    @property
    def has_long_turns(self) -> bool:
        """Return whether turns are added to segments, so that orientations alone do not describe the motion."""
        return self._turns is not None or self.full_turns is not None

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same construction and rule for ends are computed together."""
        return RotationSpline, self.construction, self.ends

    @classmethod
    def chords(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> tuple[Float64Array, Float64Array]:
        """Return the rotation vectors from the previous key to each key and from each key to the next, shape (3, K).

        The vectors are in the parent frame and include long turns.
        """
        q = signed_quaternions(splines, tracks)
        turns = _added_turns(splines, tracks)
        before, after = _neighbors_without_turns(tracks, q, turns)
        to_key = 2.0 * sphere.log(sphere.product(q, sphere.conjugate(before)))
        from_key = 2.0 * sphere.log(sphere.product(after, sphere.conjugate(q)))
        if turns is None:
            return to_key, from_key
        segment_before, segment_after = tracks.segments_beside
        return to_key + turns[:, segment_before], from_key + turns[:, segment_after]

    @classmethod
    def sphere_curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> DeCasteljau | Squad:
        q = signed_quaternions(splines, tracks)
        turns = _added_turns(splines, tracks)
        keys = RotationKeys(tracks, q, *_neighbors_without_turns(tracks, q, turns), turns)
        ends = splines[0].ends
        long_turns = None if turns is None else _long_turns(tracks, turns, ends)
        if splines[0].construction == "SQUAD":
            return Squad(_segment_controls(keys, *squad_controls(keys, ends)), long_turns)
        return DeCasteljau(_segment_controls(keys, *casteljau_controls(keys, ends)), long_turns)

    @classmethod
    def value_curve(
        cls, splines: Sequence[RotationSpline], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return Cubics.of_tangents(tracks, values, *tangents(tracks, *tracks.segment_chords(values), splines[0].ends))


def _turns_along_axes(turns: Float64Array, segments_by_spline: Sequence[slice]) -> tuple[Float64Array, BoolArray]:
    """Return the turns (s, 3) along the axis of the longest turn of their spline, and which splines turn about it."""
    lengths = np.linalg.norm(turns, axis=1)
    firsts = [segments.start for segments in segments_by_spline]
    counts = [segments.stop - segments.start for segments in segments_by_spline]
    longest = np.maximum.reduceat(lengths, firsts)
    rows_of_longest = np.flatnonzero(lengths == np.repeat(longest, counts))
    longest_turns = turns[rows_of_longest[np.searchsorted(rows_of_longest, firsts)]]
    axes = np.repeat(longest_turns / np.where(longest == 0.0, 1.0, longest)[:, np.newaxis], counts, axis=0)
    # The direction of a zero turn is only rounding error.
    along_axes = axes * np.einsum("ij,ij->i", turns, axes)[:, np.newaxis]
    deviations = np.maximum.reduceat(np.linalg.norm(turns - along_axes, axis=1), firsts)
    return along_axes, (deviations <= _ONE_AXIS * longest) & (longest > 0.0)


def _reach_keys(turns: Float64Array, q: Float64Array) -> bool:
    """Return whether turns (n - 1, 3) lead from each of the keys (n, 4) to the next."""
    turned_keys = rotations.multiply(rotations.from_rotation_vector(turns), q[:-1])
    deviations = 2.0 * np.linalg.norm(turned_keys - q[1:], axis=1)
    return bool(deviations.max() <= _ONE_AXIS * np.linalg.norm(turns, axis=1).max())


def _added_turns(splines: Sequence[RotationSpline], tracks: KeyBatch) -> Float64Array | None:
    """Return the turns added to all segments, shape (3, K), with 0 at last keys, or None if there are none."""
    if all(spline._turns is None for spline in splines):
        return None
    turns = np.zeros((3, len(tracks.frames)))
    set_given_turns(turns, splines, tracks)
    return turns


def _neighbors_without_turns(
    tracks: KeyBatch, q: Float64Array, turns: Float64Array | None
) -> tuple[Float64Array, Float64Array]:
    """Return the quaternions before and after each key, without the turns added to the segments in between."""
    before, after = neighbors(tracks, q)
    if turns is None:
        return before, after
    segment_before, segment_after = tracks.segments_beside
    return (
        sphere.after_turn(turns[:, segment_before], before),
        sphere.after_turn(-turns[:, segment_after], after),
    )


def _segment_controls(keys: RotationKeys, incoming: Float64Array, outgoing: Float64Array) -> Float64Array:
    """Return four controls per segment, shape (4, controls, K). The segment after a last key is constant."""
    end, last = keys.tracks.segment_end, keys.tracks.last
    end_control, end_key = incoming[:, end], keys.q[:, end]
    if keys.turns is not None:
        turns_back = sphere.exp(-keys.turns / 2.0)
        end_control, end_key = sphere.product(turns_back, end_control), sphere.product(turns_back, end_key)
    controls = np.stack([keys.q, outgoing, end_control, end_key], axis=1)
    controls[:, 1:3, last] = keys.q[:, np.newaxis, last]
    return controls


def _long_turns(tracks: KeyBatch, turns: Float64Array, ends: Ends) -> LongTurns:
    """Return the turns added to all segments, with the tangents of a vector track through them."""
    segment_before, segment_after = tracks.segments_beside
    incoming, outgoing = tangents(tracks, turns[:, segment_before], turns[:, segment_after], ends)
    incoming_at_end = incoming[:, tracks.segment_end]
    outgoing[:, tracks.last] = 0.0
    incoming_at_end[:, tracks.last] = 0.0
    return LongTurns(turns, outgoing, incoming_at_end)


METHOD = Method(
    "TCB",
    n_("TCB"),
    n_("Tension, continuity and bias of each key, as in 3D Studio"),
    VectorSpline,
    RotationSpline,
    rotation_options=("ends", "construction", "path"),
)
