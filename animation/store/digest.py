# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests: numbers that show whether a track's playback data match its keys and settings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ..fcurves.cycles import can_repeat, repeats
from .frame_functions import FrameFunction
from .own_keys import OwnKeys
from .table.settings import Settings
from .tracks import Track

NEVER = 1
"""A digest that no played track has. A track with this digest is out of date."""
RESTORED = 2
"""Digest of a restored track. Live skips it until it is played manually, or Live is turned on again."""


def digest(track: Track, settings: Settings, own: Mapping[int, OwnKeys], function: FrameFunction | None) -> int:
    """Return a nonzero number that changes with the input of a bake.

    The input consists of the animator's keys with their parameters, settings, the frame function, the rotation mode,
    and F-curve modifiers that affect the keys of a bake.
    """
    parts = [repr(shape_of(track, settings)).encode()]
    for index in sorted(own):
        channel = own[index]
        if not channel.are_named:
            # A key without a row was not written by a bake.
            return NEVER
        parts += [b"%d" % index, channel.content]
    if function is not None:
        parts.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(parts)), RESTORED + 1)


def shape_of(track: Track, settings: Settings) -> tuple[object, ...]:
    """Return the input of a bake without keys and timing."""
    shape: tuple[object, ...] = tuple(settings.codes())
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    return (*shape, "CYCLES") if _repeats_by_others(track, settings) else shape


def _repeats_by_others(track: Track, settings: Settings) -> bool:
    """Return whether the animator's modifiers prevent a cyclic track from repeating outside its keys.

    Blender applies other modifiers to baked curves, so these modifiers do not require a new bake.
    """
    options = settings.options
    if settings.cycle == "SINGLE" or options is None:
        return False
    if options.output == "HANDLES":
        return not all(map(can_repeat, track.channels.values()))
    return options.extend is not None and any(map(repeats, track.channels.values()))
