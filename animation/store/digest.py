# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests: numbers by which a track is known to be still as it was baked."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

from .frame_functions import function_of
from .own_keys import OwnKeys
from .table.settings import Settings
from .tracks import Track

NEVER = 1
"""A digest that no bake has: the track is out of date."""
RESTORED = 2
"""The digest of a restored track: Live skips it until it is baked by hand, or Live is switched on again."""


def digest(track: Track, settings: Settings, own: Mapping[int, OwnKeys]) -> int:
    """Return a number, never 0, that changes with the input of a bake.

    The input: own keys and their parameters, settings, frame functions and the rotation mode.
    """
    parts = [repr(shape_of(track, settings)).encode()]
    for index, channel in sorted(own.items()):
        if np.count_nonzero(channel.identities) < len(channel.identities):
            # No bake has written a key without a row.
            return NEVER
        arrays = (channel.identities, channel.keys.co, channel.ends_spline, channel.chosen)
        parts += [b"%d" % index, *(array.tobytes() for array in arrays)]
    function = function_of(track)
    if function is not None:
        parts.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(parts)), RESTORED + 1)


def shape_of(track: Track, settings: Settings) -> tuple[object, ...]:
    """Return the input of a bake apart from keys and timing."""
    shape: tuple[object, ...] = tuple(settings.codes())
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    return shape
