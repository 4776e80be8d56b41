# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an armature, and the object above them, as joints whose channels are reduced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...keys import Float64Array
from ...rotations.quaternions import normalise, to_matrix, unroll_signs

LOCATION, ROTATION, SCALE = "location", "rotation", "scale"
_WIDTHS = {LOCATION: 3, ROTATION: 4, SCALE: 3}


@dataclass(eq=False)
class Joint:
    """A bone, or the object above all bones.

    Attributes
    ----------
    parent : int
        The number of the parent joint, which is less than this joint's own number, or -1 if there is no parent.
    offset : ndarray, shape (4, 4)
        The rest matrix, in the rest axes of the parent.
    location, rotation, scale : ndarray, shape (frames, 3) or (frames, 4)
        The channels, one sample per frame. Rotations are unit quaternions.
    animated : sequence of str
        The names of the channels to reduce. The others do not change.
    points : ndarray, shape (p, 3)
        The head and tail, in the axes of the joint.
    ends : dict of str to ndarray, shape (2, 3) or (2, 4)
        The required derivatives of the animated channels per frame at both ends. NaN marks an end that is free for all
        channels. If empty, both ends are free.
    """

    parent: int
    offset: Float64Array
    location: Float64Array
    rotation: Float64Array
    scale: Float64Array
    animated: Sequence[str]
    points: Float64Array
    ends: dict[str, Float64Array] = field(default_factory=dict)
    channels: dict[str, Float64Array] = field(init=False)
    """The motion that replaces location, rotation and scale."""

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}

    @property
    def samples(self) -> Float64Array:
        """Return the numbers to reduce, side by side, shape (frames, d)."""
        return np.concatenate([getattr(self, name) for name in self.animated], axis=1)

    @property
    def played(self) -> Float64Array:
        """Return the replacement motion, with rotations as unit quaternions, shape (frames, d)."""
        channels = [
            normalise(self.channels[name]) if name == ROTATION else self.channels[name] for name in self.animated
        ]
        return np.concatenate(channels, axis=1)

    @property
    def given_ends(self) -> Float64Array:
        """Return the required derivatives per frame at both ends, shape (2, d), with NaN at a free end."""
        free = {name: np.full((2, _WIDTHS[name]), np.nan) for name in self.animated}
        return np.concatenate([self.ends.get(name, free[name]) for name in self.animated], axis=1)

    @property
    def columns(self) -> dict[str, slice]:
        """Return the columns of each animated channel."""
        columns, start = {}, 0
        for name in self.animated:
            columns[name] = slice(start, start := start + _WIDTHS[name])
        return columns

    def parts(self, start: int) -> list[tuple[slice, bool]]:
        """Return the columns of each animated channel, offset by `start`, and whether the channel is a rotation."""
        return [
            (slice(start + columns.start, start + columns.stop), name == ROTATION)
            for name, columns in self.columns.items()
        ]

    def play(self, values: Float64Array) -> None:
        """Replace the samples with values (frames, d)."""
        for name, columns in self.columns.items():
            self.channels[name] = values[:, columns]

    def linear(self) -> Float64Array:
        """Return the linear parts of the replacement motion, shape (frames, 3, 3)."""
        rotation = self.channels[ROTATION]
        unit = rotation / np.sqrt(np.einsum("ij,ij->i", rotation, rotation))[:, np.newaxis]
        return to_matrix(unit) * self.channels[SCALE][:, np.newaxis]
