# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests: numbers by which a track is known to be still what it is played from."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ..fcurves.cycles import can_repeat, repeats
from .frame_functions import FrameFunction
from .own_keys import OwnKeys
from .table.settings import Settings
from .tracks import Track

NEVER = 1
"""A digest that no played track has: the track is out of date."""
RESTORED = 2
"""The digest of a restored track: Live skips it until it is played by hand, or Live is switched on again."""


def digest(track: Track, settings: Settings, own: Mapping[int, OwnKeys], function: FrameFunction | None = None) -> int:
    """Return a number, never 0, that changes with the input of a bake.

    The input: own keys and their parameters, settings, the frame function, the rotation mode, and F-curve modifiers as
    far as they decide which keys a bake writes.
    """
    parts = [repr(shape_of(track, settings)).encode()]
    for index in sorted(own):
        channel = own[index]
        if not channel.are_named:
            # No bake has written a key without a row.
            return NEVER
        parts += [b"%d" % index, channel.content]
    if function is not None:
        parts.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(parts)), RESTORED + 1)


def shape_of(track: Track, settings: Settings) -> tuple[object, ...]:
    """Return the input of a bake apart from keys and timing."""
    shape: tuple[object, ...] = tuple(settings.codes())
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    return (*shape, "CYCLES") if _repeats_by_others(track, settings) else shape


def _repeats_by_others(track: Track, settings: Settings) -> bool:
    """Return whether modifiers of the animator's keep a cyclic track from repeating outside its keys by its own means.

    Blender applies all other modifiers to what is baked, so they are not a reason to bake again.
    """
    options = settings.options
    if settings.cycle == "SINGLE" or options is None:
        return False
    if options.output == "HANDLES":
        return not all(map(can_repeat, track.channels.values()))
    return options.extend is not None and any(map(repeats, track.channels.values()))
