# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of baked curves, which show whether a channel has changed since the bake.

A fingerprint covers identities and everything that affects playback, but not selection, muting or locks. Frames are
compared with a tolerance, because NLA tweak mode changes frames by a float32 step. Values are compared bit for bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import bpy
import numpy as np

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
from ..fcurves.read_and_write import KeyBlock, sliced
from .table.track_records import Extrapolation, Fingerprint
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
    rows = np.flatnonzero(floats[0] | floats[1] | floats[2])
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
