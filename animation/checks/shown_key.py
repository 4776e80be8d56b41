# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the key of a track that the tab shows at a frame."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..errors import AnimationError
from ..fcurves.frames import union
from ..records import record
from ..store.own_keys import read_own_keys
from ..store.parameters import read_parameters, read_velocities
from ..store.table.rows import PARAMETERS
from ..store.tracks import Track
from .key_info import AT, Sides, segments_beside, sides_in_common


@record()
class ShownKey:
    """Describe a key of a track. `number` counts from 1."""

    frame: float
    number: int
    count: int
    where: str
    """The position of the key relative to the requested frame: AT, BEFORE or AFTER."""
    parameters: dict[str, float]
    velocity: tuple[float, ...]
    sides: Sides


def key_near(track: Track, frame: float, defaults: Mapping[str, float]) -> ShownKey | None:
    """Return the key at `frame`, or else the last key before it, or else the first key after it.

    `defaults` are the parameters of keys without their own parameters.
    """
    own = read_own_keys(track)
    frames = union([channel.keys.frames for channel in own.values()])
    if not len(frames):
        return None
    row = max(0, int(np.searchsorted(frames, frame + AT)) - 1)
    found = float(frames[row])
    where = "AT" if abs(found - frame) <= AT else "BEFORE" if found < frame else "AFTER"
    try:
        numbers = read_parameters(track, own, frames[row : row + 1], defaults)
        parameters = {name: float(number[0]) for name, number in numbers.items()}
    except AnimationError:
        parameters = dict.fromkeys(PARAMETERS, math.nan)
    velocity = read_velocities(track, own, frames[row : row + 1])[0]
    sides = sides_in_common(segments_beside(track, own, frames[row : row + 1]))
    return ShownKey(found, row + 1, len(frames), where, parameters, tuple(velocity.tolist()), sides or (None, None))
