# SPDX-License-Identifier: GPL-3.0-or-later
"""The result for datablocks whose keys cannot be reduced."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..store.tracks import Track
from .original_motion import count_keys
from .report import ReduceRequest, Reduction


class AlreadyMinimalError(AnimationError):
    """The exception for a datablock in which no track can have fewer keys. Nothing was changed."""

    def __init__(
        self, datablock: bpy.types.ID, channels: Channels, tracks: Sequence[Track], request: ReduceRequest
    ) -> None:
        super().__init__(Finding("REDUCE_FEW_KEYS", name_of(datablock)))
        counts = count_keys(tracks, np.array([-np.inf, np.inf]))
        self.result = unchanged_reduction(name_of(datablock), channels, request, len(tracks), counts)


def unchanged_reduction(
    name: str, channels: Channels, request: ReduceRequest, tracks: int, counts: tuple[int, int]
) -> Reduction:
    """Return the result for an unchanged datablock. `counts` contains the numbers of keys and diamonds."""
    keys, diamonds = counts
    return Reduction(
        name,
        wanted=request.error,
        wanted_angle=request.angle,
        is_minimal=True,
        tracks=tracks,
        keys_before=keys,
        keys=keys,
        diamonds_before=diamonds,
        diamonds=diamonds,
        original=channels.action.name,
        action=channels.action.name,
    )
