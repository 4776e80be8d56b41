# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether tracks are as their last bake left them: keys and settings by digests, baked curves by fingerprints.

A fingerprint covers identities and everything that affects playback, but not selection, muting or locks. Frames are
compared with a tolerance, because NLA tweak mode changes frames by a float32 step. Values are compared bit for bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ..fcurves.cycles_modifier import can_repeat, repeats
from ..fcurves.keyframes import (
    INTERPOLATION,
    NO_KEYS,
    SAME_FRAME,
    SIDES,
    BoolArray,
    EnumArray,
    Float32Array,
    Joined,
    Keyframes,
)
from ..fcurves.read_and_write import KeyBlock, read_coordinates, sliced
from .frame_functions import FrameFunction, functions_of
from .own_keys import OwnKeys
from .read_own_keys import read_all_own_keys
from .record_keys import OwnChannel, record_rows
from .table.session import session
from .table.track_records import Extrapolation, Fingerprint, Options, Settings, choices_of
from .tracks import Track


def fingerprints(joined: Joined, extrapolations: Sequence[Extrapolation]) -> list[Fingerprint]:
    """Return the fingerprints of channels with these keys and extrapolations."""
    keys, ends = joined.keys, joined.ends
    all_frames, all_values = (np.ascontiguousarray(column) for column in keys.co.T)
    has_bezier = bool((keys.interpolation == INTERPOLATION["BEZIER"]).any())
    has_eased = bool(_are_eased(keys.interpolation).any())
    contents = sliced(all_values, ends), sliced(keys.interpolation, ends), _identity_words(joined)
    result = []
    for span, extrapolation, values, interpolation, words in zip(joined.spans, extrapolations, *contents, strict=True):
        checksum, frames = zlib.crc32(values), all_frames[span]
        attributes = zlib.crc32(words, zlib.crc32(interpolation))
        if has_eased:
            are_eased = _are_eased(keys.interpolation[span])
            attributes = zlib.crc32(keys.easing[span][are_eased].tobytes(), attributes)
        if has_bezier:
            checksum, frames = _with_handles(checksum, frames, keys, span)
        result.append(Fingerprint(span.stop - span.start, extrapolation, checksum, attributes, frames))
    return result


def edited_outside(tracks: Sequence[Track]) -> list[bool]:
    """Return, for each track, whether it is baked and its curves differ from the bake or are incomplete."""
    is_edited = [False] * len(tracks)
    curves: list[bpy.types.FCurve] = []
    written: list[Fingerprint] = []
    track_numbers: list[int] = []
    for number, track in enumerate(tracks):
        for index, channel in track.bake.channels.items() if track.bake is not None else ():
            fcurve = track.channels.get(index)
            if fcurve is None or len(fcurve.keyframe_points) != channel.written.count:
                is_edited[number] = True
                continue
            curves.append(fcurve)
            written.append(channel.written)
            track_numbers.append(number)
    if curves:
        now = fingerprints(_read_content(curves), [fingerprint.extrapolation for fingerprint in written])
        for number, fingerprint_before, fingerprint in zip(track_numbers, written, now, strict=True):
            is_edited[number] |= not _is_same(fingerprint_before, fingerprint)
    return is_edited


def _read_content(curves: Sequence[bpy.types.FCurve]) -> Joined:
    """Read the attributes that affect playback. Handles and easing are read only if a segment uses them."""
    block = KeyBlock([fcurve.keyframe_points for fcurve in curves])
    keys = NO_KEYS.with_(**block.attributes(("co", "interpolation", "back", "amplitude", "period")))
    if (keys.interpolation == INTERPOLATION["BEZIER"]).any():
        keys = keys.with_(**block.attributes(SIDES))
    if _are_eased(keys.interpolation).any():
        keys = keys.with_(easing=block.read("easing"))
    return Joined(keys, block.counts)


def _are_eased(interpolation: EnumArray) -> BoolArray:
    """Return a mask of the keys at which a segment with an easing interpolation begins."""
    are_eased: BoolArray = interpolation > INTERPOLATION["BEZIER"]
    return are_eased


def _identity_words(joined: Joined) -> list[memoryview]:
    """Return, for each channel, four 32-bit words for each key with an identity.

    The words are the key's row in the channel, and the bits of its three floats.
    """
    keys, ends = joined.keys, joined.ends
    floats = [np.ascontiguousarray(floats).view(np.uint32) for floats in (keys.back, keys.amplitude, keys.period)]
    # On generated keys, these floats are 0.
    rows = np.flatnonzero((floats[0] | floats[1] | floats[2]) != 0)
    bounds = rows.searchsorted(ends)
    rows_in_channels = rows - np.repeat(ends[:-1], np.diff(bounds))
    words = np.stack([rows_in_channels, *(bits[rows] for bits in floats)], axis=1)
    return sliced(words.astype(np.uint32), (4 * bounds).tolist())


def _with_handles(values: int, frames: Float32Array, keys: Keyframes, span: slice) -> tuple[int, Float32Array]:
    """Add the handles of Bezier segments to the checksum of the values and to the frames."""
    is_bezier = keys.interpolation[span] == INTERPOLATION["BEZIER"]
    if not is_bezier.any():
        return values, frames
    ends_bezier = np.append(False, is_bezier[:-1])
    for side, is_used in zip(SIDES, (ends_bezier, is_bezier), strict=True):
        handles = getattr(keys, side)[span][is_used]
        values = zlib.crc32(np.ascontiguousarray(handles[:, 1]).data, values)
        frames = np.concatenate((frames, handles[:, 0]))
    return values, frames


def _is_same(before: Fingerprint, now: Fingerprint) -> bool:
    """Return whether two fingerprints match, with a tolerance for frames."""
    frames = now.frames
    if (before.values, before.attributes, len(before.frames)) != (now.values, now.attributes, len(frames)):
        return False
    if frames.tobytes() == before.frames.tobytes():
        return True
    # Far from frame 0, a float32 step exceeds the tolerance.
    tolerance = np.maximum(np.float32(SAME_FRAME), 2.0 * np.spacing(np.abs(before.frames)))
    return bool((np.abs(frames - before.frames) <= tolerance).all())


# Digests of keys, parameters and settings


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
    _, _, row_counts = record_rows(channels)
    next_counts = iter(row_counts)
    new_row_counts = [sum(next(next_counts) for _ in own_by_index) for own_by_index in own_by_track]
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
