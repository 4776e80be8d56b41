# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether the playback data of tracks match the current keys, parameters and settings."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from ..fcurves.cycles_modifier import can_repeat, repeats
from ..fcurves.read_and_write import read_coordinates
from .frame_functions import FrameFunction, functions_of
from .own_arrays import OwnKeys
from .own_keys import read_all_own_keys
from .record_rows import OwnChannel, record_rows
from .table.session import session
from .table.track_records import Options, Settings, choices_of
from .tracks import Track

NEVER = 1
"""A digest that no played track has. A track with this digest is out of date."""
RESTORED = 2
"""Digest of a restored track. Live skips the track until it is baked manually, or until Live is turned on again."""


def digest(
    track: Track,
    settings: Settings,
    options: Options | None,
    own: Mapping[int, OwnKeys],
    function: FrameFunction | None,
) -> int:
    """Return a nonzero number that changes if the input of a bake changes.

    The input consists of the animator's keys with their parameters, the settings, the frame function, the rotation
    mode, and the F-curve modifiers that affect the keys of a bake.
    """
    content = [repr(shape_of(track, settings, options)).encode()]
    for index in sorted(own):
        channel = own[index]
        if not channel.are_named:
            # Keys without rows have not been written by a bake.
            return NEVER
        content += [b"%d" % index, channel.bake_input]
    if function is not None:
        content.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(content)), RESTORED + 1)


def shape_of(track: Track, settings: Settings, options: Options | None) -> tuple[object, ...]:
    """Return the input of a bake, except keys and timing."""
    shape: tuple[object, ...] = choices_of(settings)
    if track.is_rotation:
        components_without_fcurve = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *components_without_fcurve)
    return (*shape, "CYCLES") if _repeats_by_others(track, settings, options) else shape


def _repeats_by_others(track: Track, settings: Settings, options: Options | None) -> bool:
    """Return whether the animator's modifiers prevent a bake from repeating a cyclic track outside its keys.

    Blender applies all other modifiers to the baked curves, so they do not require a new bake.
    """
    if settings.cycle == "SINGLE" or options is None:
        return False
    if options.output == "HANDLES":
        return not all(map(can_repeat, track.channels.values()))
    return options.extend is not None and any(map(repeats, track.channels.values()))


def is_up_to_date(track: Track) -> bool:
    """Return whether keys, parameters and settings of a played track are unchanged since the last update."""
    return are_up_to_date([track])[0]


def are_up_to_date(tracks: Sequence[Track]) -> list[bool]:
    """Return the results of `is_up_to_date` for several tracks, which is faster than separate calls.

    For baked tracks, this function checks the saved keys, and `edited_outside` checks the curves. Tracks shown by a
    drag count as up to date.
    """
    are_shown = [track.state is not None and session.is_shown(track.state.identity) for track in tracks]
    candidates = [
        track for track, is_shown in zip(tracks, are_shown, strict=True) if not is_shown and _matches_records(track)
    ]
    up_to_date = {id(track) for track, matches in zip(candidates, _match_digests(candidates), strict=True) if matches}
    return [is_shown or id(track) in up_to_date for track, is_shown in zip(tracks, are_shown, strict=True)]


def _match_digests(tracks: Sequence[Track]) -> list[bool]:
    """Return, for each track, whether no key needs a new row and the digest is as recorded."""
    own_by_track = read_all_own_keys(tracks)
    channels = [
        OwnChannel(track.state.identity, index, own, index in track.state.channels)
        for track, own_by_index in zip(tracks, own_by_track, strict=True)
        if track.state is not None
        for index, own in own_by_index.items()
    ]
    new_rows = iter(record_rows(channels)[1])
    new_row_counts = [sum(len(next(new_rows)) for _ in own_by_index) for own_by_index in own_by_track]
    return [
        not new_row_count
        and digest(track, track.settings, track.settings.options, own_by_index, function) == track.settings.digest
        for track, own_by_index, new_row_count, function in zip(
            tracks, own_by_track, new_row_counts, functions_of(tracks), strict=True
        )
    ]


def _matches_records(track: Track) -> bool:
    """Return whether the keys and extrapolations of the track's curves match its table entry.

    For a baked track, only the extrapolations are compared.
    """
    bake = track.bake
    if bake is not None:
        return track.channels.keys() <= bake.channels.keys() and all(
            fcurve.extrapolation == bake.channels[index].written.extrapolation
            for index, fcurve in track.channels.items()
        )
    if track.state is None or not track.is_played_by_handles:
        return False
    channels = track.state.channels
    return all(
        index in channels
        and fcurve.extrapolation == channels[index].extrapolation
        and np.array_equal(read_coordinates(fcurve), channels[index].own["co"].ravel())
        for index, fcurve in track.channels.items()
    )
