# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that a reduction writes into one track."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...interp.fitting.reduction import Reduced
from ...interp.keys import PARAMETERS
from ..fcurves.keyframes import INTERPOLATION, EnumArray, Float64Array, IndexArray
from ..store.record_rows import Numbers
from ..store.table.rows import velocity_of
from ..store.table.settings import Settings
from .sampled_track import SampledTrack, keys_of_values

BEZIER, LINEAR, CONSTANT = (INTERPOLATION[name] for name in ("BEZIER", "LINEAR", "CONSTANT"))


@dataclass(frozen=True, eq=False)
class NewKeys:
    """The new keys of one track.

    Attributes
    ----------
    sampled : SampledTrack
        The track.
    rows : ndarray of int, shape (n,)
        The row of the sample at each key.
    values : ndarray, shape (n, components)
        The channel values of the keys.
    types : ndarray of uint8, shape (n,)
        Interpolation types.
    settings : Settings or None
        The TCB settings, or None if the keys do not use TCB.
    numbers : dict
        Parameters and velocities of the keys in each channel.
    handles : ndarray, shape (2, n, components), or None
        For Bezier keys without TCB, the offsets of the left and right handles' values from the key. Each handle is a
        third of its segment away from the key.
    fit : Reduced or None
        The fit with the keys of several tracks. The keys of this track are its `part`.
    part : int
        The index of the track in `fit`.
    """

    sampled: SampledTrack
    rows: IndexArray
    values: Float64Array
    types: EnumArray
    settings: Settings | None = None
    numbers: dict[int, Numbers] = field(default_factory=dict)
    handles: Float64Array | None = None
    fit: Reduced | None = None
    part: int = 0

    @classmethod
    def still(cls, sampled: SampledTrack) -> NewKeys:
        """Return one key, or a key at each end if there are other keys outside the frames."""
        if any(sampled.joined):
            ends = np.array([0, len(sampled.raw) - 1])
            values = sampled.values[ends]
            at_ends = Reduced(ends, [values], [np.zeros_like(values)], 0.0, [sampled.track.is_rotation], "TCB")
            return cls.fitted(sampled, at_ends, 0)
        return cls(sampled, np.zeros(1, dtype=np.intp), sampled.raw[:1], np.full(1, BEZIER, dtype=np.uint8))

    @classmethod
    def fitted(cls, sampled: SampledTrack, fit: Reduced, part: int) -> NewKeys:
        """Return the track's keys from a fit, with either velocities or TCB parameters."""
        values = keys_of_values(sampled, fit.values[part], fit.rows)
        types = np.full(len(fit.rows), BEZIER, dtype=np.uint8)
        if fit.method == "TCB":
            parameters: Numbers = dict(zip(PARAMETERS, fit.parameters(part), strict=True))
            settings, numbers = Settings(), dict.fromkeys(range(values.shape[1]), parameters)
        else:
            settings, numbers = Settings(method="HERMITE"), _velocities(sampled, fit.velocities(part))
        return cls(sampled, fit.rows, values, types, settings, numbers, fit=fit, part=part)

    @property
    def is_straight(self) -> bool:
        """Return whether no key is Bezier."""
        return not (self.types == BEZIER).any()


def _velocities(sampled: SampledTrack, velocities: Float64Array) -> dict[int, Numbers]:
    """Return the velocities for each channel: all three components for rotations, otherwise the channel's component."""
    if sampled.track.is_rotation:
        angular: Numbers = {velocity_of(index): column for index, column in enumerate(velocities.T)}
        return dict.fromkeys(range(sampled.raw.shape[1]), angular)
    return {index: {velocity_of(0): velocities[:, index]} for index in sampled.track.channels}
