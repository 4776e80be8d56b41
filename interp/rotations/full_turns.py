# SPDX-License-Identifier: GPL-3.0-or-later
"""Full turns of Euler angles, or of the angle about an axis, about axes that may move.

The turns are taken off the keys of the angles and interpolated as values. The rest is a curve on the sphere. A turn t
about the last axis k of an Euler order is applied in the parent's frame, and about the first axis i in the object's own
frame: ``Rk(tk) p Ri(ti)``. At keys, turns are multiples of 360 degrees, so the motion passes through the keys. The
middle angle passes through gimbal lock, and an angle about an axis passes through 0. In tracks with full turns of such
an angle, all channels are interpolated as values. Source: docs/formulas, "Full turns of angles".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from ..arguments import checked_choice, checked_numbers
from ..keys import BoolArray, Float64Array, KeyBatch
from .euler import Order, axes_of
from .representations import Euler, RotationRepresentation, rotation_representation

# An angle that changes by more than this spins. On the sphere, the axis of a longer arc would be far from the axis of
# the angle if other angles change too.
_SPIN = np.radians(270.0)


class FullTurns(NamedTuple):
    """The full turns of a track's angles, or of several tracks with n keys each, returned by `split_full_turns`.

    Examples
    --------
    >>> angles = np.radians([[0, 0, 0], [0, 30, 720]])
    >>> full_turns = rotations.split_full_turns("XYZ", angles)
    >>> keys, walk = Keys([0, 10], rotations.from_euler(angles)), rotations.walk_euler(full_turns.rest)
    >>> spline = tcb.RotationSpline.from_walk(keys, walk, full_turns=full_turns)
    >>> np.degrees(rotations.to_euler(spline(2.0)))
    array([  0.,   6., 144.])
    """

    representation: str
    """An Euler order, or "AXIS_ANGLE"."""
    turns: Float64Array
    """Multiples of 360 degrees since the first key, in radians, shape (…, n, 3), or (…, n, 1) for axis and angle."""
    rest: Float64Array
    """The channel values of the keys without the turns, in Blender's order, shape (…, n, components)."""

    def of_track(self, index: int) -> FullTurns | None:
        """Return the turns of one of the tracks, or None if there are none."""
        turns = self.turns[index]
        return FullTurns(self.representation, turns, self.rest[index]) if turns.any() else None

    @property
    def channels(self) -> Float64Array:
        """Return the channel values with the turns."""
        channels = self.rest.copy()
        channels[..., : self.turns.shape[-1]] += self.turns
        return channels

    @property
    def spinning(self) -> tuple[int, ...]:
        """Return the columns of the angles with full turns."""
        return tuple(np.flatnonzero(self.turns.any(axis=0)).tolist())


def split_full_turns(representation: str, values: npt.ArrayLike) -> FullTurns | None:
    """Take full turns off the keys of angles. Return None if no angle changes by more than 270 degrees between keys.

    Parameters
    ----------
    representation : str
        An Euler order, "AXIS_ANGLE" or "QUATERNION".
    values : array_like, shape (…, n, components)
        Channel values of the keys in Blender's order: angles about x, y, z, or the angle and the axis. Angles are in
        radians.

    Examples
    --------
    >>> full_turns = rotations.split_full_turns("XYZ", np.radians([[0, 0, 0], [10, 0, 725]]))
    >>> np.degrees(full_turns.turns[1]), np.degrees(full_turns.rest[1])
    (array([  0.,   0., 720.]), array([10.,  0.,  5.]))
    """
    checked_choice("representation", representation, ("QUATERNION", "AXIS_ANGLE", *get_args(Order)))
    channels = checked_numbers("values", values, rotation_representation(representation).components)
    if representation == "QUATERNION":
        return None
    angle_count = 1 if representation == "AXIS_ANGLE" else 3
    changes = np.diff(channels[..., :angle_count], axis=-2)
    full = np.where(np.abs(changes) > _SPIN, 2.0 * np.pi * np.rint(changes / (2.0 * np.pi)), 0.0)
    if not full.any():
        return None
    turns = np.zeros_like(channels[..., :angle_count])
    np.cumsum(full, axis=-2, out=turns[..., 1:, :])
    rest = channels.copy()
    rest[..., :angle_count] -= turns
    return FullTurns(representation, turns, rest)


class KeysWithFullTurns(NamedTuple):
    """The keys of the tracks in a batch that have the same representation, and full turns of the same angles.

    Arrays have the component axis first, and are 0 at the K keys of other tracks.
    """

    representation: RotationRepresentation
    has_turns: BoolArray
    """A mask of the keys of these tracks, shape (K,)."""
    channels: Float64Array
    outer: Float64Array | None
    inner: Float64Array | None
    """Euler angles of the turns about the last axis, and about the first axis, shape (3, K), or None without turns."""
    needs_values: bool
    """True if the middle angle, or the angle about an axis, has full turns."""


def keys_with_full_turns(full_turns: Sequence[FullTurns | None], tracks: KeyBatch) -> list[KeysWithFullTurns]:
    """Return the keys of a batch with full turns, given the full turns of each track."""
    groups: dict[tuple[str, tuple[int, ...]], list[tuple[FullTurns, slice]]] = {}
    for turns_of_track, first, last in zip(full_turns, tracks.first.tolist(), tracks.last.tolist(), strict=True):
        if turns_of_track is not None:
            group = groups.setdefault((turns_of_track.representation, turns_of_track.spinning), [])
            group.append((turns_of_track, slice(first, last + 1)))
    return [
        _keys_of_group(rotation_representation(name), spinning, group, len(tracks.frames))
        for (name, spinning), group in groups.items()
    ]


def _keys_of_group(
    representation: RotationRepresentation, spinning: tuple[int, ...], group: list[tuple[FullTurns, slice]], count: int
) -> KeysWithFullTurns:
    """Return the keys of tracks with full turns of the same angles, among `count` keys."""
    has_turns = np.zeros(count, dtype=np.bool_)
    channels, turns = np.zeros((representation.components, count)), np.zeros((3, count))
    for turns_of_track, keys in group:
        has_turns[keys] = True
        channels[:, keys] = turns_of_track.channels.T
        turns[: turns_of_track.turns.shape[1], keys] = turns_of_track.turns.T
    if not isinstance(representation, Euler):
        return KeysWithFullTurns(representation, has_turns, channels, None, None, needs_values=True)
    first_axis, middle_axis, last_axis, _ = axes_of(representation.order)
    outer, inner = _turns_about(turns, last_axis), _turns_about(turns, first_axis)
    return KeysWithFullTurns(representation, has_turns, channels, outer, inner, middle_axis in spinning)


def _turns_about(turns: Float64Array, axis: int) -> Float64Array | None:
    """Return the turns (3, K) about one axis, or None if there are none."""
    if not turns[axis].any():
        return None
    turns_about_axis = np.zeros_like(turns)
    turns_about_axis[axis] = turns[axis]
    return turns_about_axis
