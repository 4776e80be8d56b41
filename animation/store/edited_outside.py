# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of baked curves, which show whether a channel has changed since the bake.

A fingerprint covers identities and everything that affects playback, but not selection, muting or locks. Frames are
compared with a tolerance, because NLA tweak mode changes frames by a float32 step. Values are compared bit for bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import INTERPOLATION, NO_KEYS, SIDES, BoolArray, EnumArray, Float32Array, Joined, Keyframes
from ..fcurves.read_keys import KeyBlock
from .table.track_records import Extrapolation, Fingerprint
from .tracks import Track


def fingerprints(joined: Joined, extrapolations: Sequence[Extrapolation]) -> list[Fingerprint]:
    """Return the fingerprints of channels with these keys and extrapolations."""
    return [
        Fingerprint(count, extrapolation, *content)
        for count, extrapolation, content in zip(joined.counts, extrapolations, _contents(joined), strict=True)
    ]


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
        contents = _contents(_read_content(curves))
        for number, fingerprint, content in zip(track_numbers, written, contents, strict=True):
            is_edited[number] |= not _is_same(fingerprint, content)
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


class _Content(NamedTuple):
    """The checksums and frames of a channel, as in `Fingerprint`."""

    values: int
    attributes: int
    places: Float32Array


def _contents(joined: Joined) -> Iterator[_Content]:
    """Yield the content of each channel."""
    keys = joined.keys
    frames, values = (np.ascontiguousarray(column) for column in keys.co.T)
    words, word_bounds = _identity_words(joined)
    has_bezier = bool((keys.interpolation == INTERPOLATION["BEZIER"]).any())
    has_eased = bool(_are_eased(keys.interpolation).any())
    for span, (first_word, end_word) in zip(joined.spans, pairwise(word_bounds), strict=True):
        interpolation = keys.interpolation[span]
        attributes = zlib.crc32(words[first_word:end_word].data, zlib.crc32(interpolation.data))
        if has_eased:
            attributes = zlib.crc32(keys.easing[span][_are_eased(interpolation)].tobytes(), attributes)
        content = _Content(zlib.crc32(values[span].data), attributes, frames[span])
        yield _with_handles(content, keys, span) if has_bezier else content


def _are_eased(interpolation: EnumArray) -> BoolArray:
    """Return a mask of the keys at which a segment with an easing interpolation begins."""
    are_eased: BoolArray = interpolation > INTERPOLATION["BEZIER"]
    return are_eased


def _identity_words(joined: Joined) -> tuple[npt.NDArray[np.uint32], list[int]]:
    """Return four words for each key with an identity: its row in the channel, and the bits of its three floats.

    Also return the index of the first such key in each channel, followed by the number of such keys.
    """
    keys, ends = joined.keys, joined.ends
    floats = [np.ascontiguousarray(floats).view(np.uint32) for floats in (keys.back, keys.amplitude, keys.period)]
    # On generated keys, these floats are 0.
    rows = np.flatnonzero(floats[0] | floats[1] | floats[2])
    bounds = rows.searchsorted(ends)
    rows_in_channels = rows - np.repeat(ends[:-1], np.diff(bounds))
    words = np.stack([rows_in_channels, *(bits[rows] for bits in floats)], axis=1)
    return words.astype(np.uint32), bounds.tolist()


def _with_handles(content: _Content, keys: Keyframes, span: slice) -> _Content:
    """Add the handles of Bezier segments to the checksum of the values and to the frames."""
    is_bezier = keys.interpolation[span] == INTERPOLATION["BEZIER"]
    if not is_bezier.any():
        return content
    values, places = content.values, content.places
    ends_bezier = np.append(False, is_bezier[:-1])
    for side, is_used in zip(SIDES, (ends_bezier, is_bezier), strict=True):
        handles = getattr(keys, side)[span][is_used]
        values = zlib.crc32(np.ascontiguousarray(handles[:, 1]).data, values)
        places = np.concatenate((places, handles[:, 0]))
    return content._replace(values=values, places=places)


def _is_same(written: Fingerprint, content: _Content) -> bool:
    """Return whether the content matches the fingerprint."""
    values, attributes, places = content
    if (values, attributes) != (written.values, written.attributes) or len(places) != len(written.places):
        return False
    if places.tobytes() == written.places.tobytes():
        return True
    # Far from frame 0, a float32 step exceeds the tolerance.
    tolerance = np.maximum(np.float32(SAME_FRAME), 2.0 * np.spacing(np.abs(written.places)))
    return bool((np.abs(places - written.places) <= tolerance).all())
