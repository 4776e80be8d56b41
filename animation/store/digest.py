# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests, that is, numbers that show whether a track's playback data match its keys and settings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ..fcurves.cycles_modifier import can_repeat, repeats
from .frame_functions import FrameFunction
from .own_keys import OwnKeys
from .table.settings import CHOICES, Settings
from .tracks import Track

NEVER = 1
"""A digest that no played track has. A track with this digest is out of date."""
RESTORED = 2
"""Digest of a restored track. Live skips the track until it is baked manually, or until Live is turned on again."""


def digest(track: Track, settings: Settings, own: Mapping[int, OwnKeys], function: FrameFunction | None) -> int:
    """Return a nonzero number that changes if the input of a bake changes.

    The input consists of the animator's keys with their parameters, the settings, the frame function, the rotation
    mode, and the F-curve modifiers that affect the keys of a bake.
    """
    content = [repr(shape_of(track, settings)).encode()]
    for index in sorted(own):
        channel = own[index]
        if not channel.are_named:
            # Keys without rows have not been written by a bake.
            return NEVER
        content += [b"%d" % index, channel.content]
    if function is not None:
        content.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(content)), RESTORED + 1)


def shape_of(track: Track, settings: Settings) -> tuple[object, ...]:
    """Return the input of a bake, except keys and timing."""
    shape: tuple[object, ...] = tuple(getattr(settings, choice) for choice in CHOICES)
    if track.is_rotation:
        components_without_fcurve = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *components_without_fcurve)
    return (*shape, "CYCLES") if _repeats_by_others(track, settings) else shape


def _repeats_by_others(track: Track, settings: Settings) -> bool:
    """Return whether the animator's modifiers prevent a bake from repeating a cyclic track outside its keys.

    Blender applies all other modifiers to the baked curves, so they do not require a new bake.
    """
    options = settings.options
    if settings.cycle == "SINGLE" or options is None:
        return False
    if options.output == "HANDLES":
        return not all(map(can_repeat, track.channels.values()))
    return options.extend is not None and any(map(repeats, track.channels.values()))
