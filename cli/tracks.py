# SPDX-License-Identifier: GPL-3.0-or-later
"""The F-curves and tracks of a datablock, including its NLA strips."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import bpy

from .. import animation
from ..animation import Finding
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.store.action_and_strips import editable_sets
from ..animation.store.find_tracks import find_tracks
from ..animation.store.frame_functions import function_of
from ..animation.store.own_arrays import OwnKeys
from ..animation.store.tracks import Track


def tracks_of(datablock: bpy.types.ID) -> list[Track]:
    """Return all tracks, including unused rotation modes. The list is empty if nothing animates the datablock.

    The tracks come from the datablock's action and from the actions of NLA strips that a bake includes.
    """
    return [track for channels in sets_of(datablock) for track in find_tracks(datablock, channels)]


def sets_of(datablock: bpy.types.ID) -> list[Channels]:
    """Return the F-curves of the datablock's action and of NLA strips that a bake includes, even if linked."""
    sets = []
    with suppress(animation.AnimationError):
        sets.append(channels_of(datablock))
    with suppress(animation.AnimationError):
        sets += editable_sets(datablock).sets
    return list({channels.identity: channels for channels in sets}.values())


def reasons_without_channels(datablock: bpy.types.ID) -> tuple[Finding, ...]:
    """Return the reasons why no F-curves animate the datablock. The list is empty if F-curves animate it."""
    try:
        channels_of(datablock)
    except animation.AnimationError as refusal:
        return refusal.findings
    return ()


def generated_keys(track: Track, own_keys: Mapping[int, OwnKeys]) -> dict[str, int]:
    """Return the numbers of generated keys in all channels of the track, which are either samples or keys of curves."""
    own_count = sum(len(own.keys) for own in own_keys.values())
    count = max(0, sum(len(fcurve.keyframe_points) for fcurve in track.channels.values()) - own_count)
    options = track.settings.options
    is_curves = options is not None and options.output == "CURVES" and function_of(track) is None
    return {"samples": 0 if is_curves else count, "curve_keys": count if is_curves else 0}
