# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of baked curves, which show whether a channel has changed since the bake.

A fingerprint covers identities and everything that affects playback, but not selection, muting or locks. Frames are
compared with a tolerance, because NLA tweak mode changes frames by a float32 step. Values are compared bit for bit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import INTERPOLATION, SIDES, Joined, Keyframes, read_anew, read_joined
from .table.custom_property import Extrapolation, Fingerprint
from .tracks import Track

_READ = ("co", "interpolation", "back", "amplitude", "period")


def fingerprints(joined: Joined, extrapolations: Sequence[Extrapolation]) -> list[Fingerprint]:
    """Return the fingerprints of channels with these keys and extrapolations."""
    return [
        Fingerprint(count, extrapolation, values, attributes, places)
        for count, extrapolation, (values, attributes, places) in zip(
            joined.counts, extrapolations, _contents(joined), strict=True
        )
    ]


def edited_outside(tracks: Sequence[Track]) -> list[bool]:
    """Return, for each track, whether it is baked and its curves differ from the bake or are incomplete."""
    curves: list[bpy.types.FCurve] = []
    written: list[Fingerprint] = []
    places: list[int] = []
    edited = [False] * len(tracks)
    for number, track in enumerate(tracks):
        bake = track.state.bake if track.state is not None else None
        for index, channel in bake.channels.items() if bake is not None else ():
            fcurve = track.channels.get(index)
            if fcurve is None or len(fcurve.keyframe_points) != channel.written.count:
                edited[number] = True
                continue
            curves.append(fcurve)
            written.append(channel.written)
            places.append(number)
    if not curves:
        return edited
    joined = read_joined(curves, _READ)
    kinds = joined.keys.interpolation
    if (kinds == INTERPOLATION["BEZIER"]).any():
        joined = read_anew(joined, SIDES)
    if _are_eased(kinds).any():
        joined = read_anew(joined, ("easing",))
    for number, before, content in zip(places, written, _contents(joined), strict=True):
        edited[number] |= not _is_same(before, content)
    return edited


_Content = tuple[int, int, npt.NDArray[np.float32]]


def _contents(joined: Joined) -> Iterator[_Content]:
    """Yield, for each channel, checksums of the values and attributes, and the frames of keys and handles."""
    keys, ends = joined.keys, [0, *accumulate(joined.counts)]
    frames, values = (np.ascontiguousarray(column) for column in keys.co.T)
    kinds = keys.interpolation
    words, bounds = _named(joined, ends)
    raw_values, raw_kinds, raw_words = values.data, kinds.data, words.data
    has_bezier, has_eased = bool((kinds == INTERPOLATION["BEZIER"]).any()), bool(_are_eased(kinds).any())
    for (start, end), (low, high) in zip(pairwise(ends), pairwise(bounds), strict=True):
        attributes = zlib.crc32(raw_words[low:high], zlib.crc32(raw_kinds[start:end]))
        if has_eased:
            eased = _are_eased(kinds[start:end])
            attributes = zlib.crc32(keys.easing[start:end][eased].tobytes(), attributes)
        checksum, places = zlib.crc32(raw_values[start:end]), frames[start:end]
        if has_bezier:
            checksum, places = _with_handles(keys, slice(start, end), checksum, places)
        yield checksum, attributes, places


def _are_eased(interpolation: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return a mask of the keys at which a segment with an easing interpolation begins."""
    eased: npt.NDArray[np.bool_] = interpolation > INTERPOLATION["BEZIER"]
    return eased


def _named(joined: Joined, ends: list[int]) -> tuple[npt.NDArray[np.uint32], list[int]]:
    """Return the row and the floats of each key with an identity, and the index of the first such key per channel."""
    keys = joined.keys
    floats = [np.ascontiguousarray(each).view(np.uint32) for each in (keys.back, keys.amplitude, keys.period)]
    # On generated keys, these floats are 0.
    named = np.flatnonzero(floats[0] | floats[1] | floats[2])
    bounds = named.searchsorted(ends)
    words = np.stack([named - np.repeat(ends[:-1], np.diff(bounds)), *(each[named] for each in floats)], axis=1)
    return words.astype(np.uint32), bounds.tolist()


def _with_handles(
    keys: Keyframes, rows: slice, checksum: int, places: npt.NDArray[np.float32]
) -> tuple[int, npt.NDArray[np.float32]]:
    """Add the handles of Bezier segments to the checksums and to the frames."""
    bezier = keys.interpolation[rows] == INTERPOLATION["BEZIER"]
    if not bezier.any():
        return checksum, places
    for side, used in zip(SIDES, (np.append(False, bezier[:-1]), bezier), strict=True):
        handles = getattr(keys, side)[rows][used]
        checksum = zlib.crc32(np.ascontiguousarray(handles[:, 1]).data, checksum)
        places = np.concatenate((places, handles[:, 0]))
    return checksum, places


def _is_same(written: Fingerprint, content: _Content) -> bool:
    values, attributes, places = content
    if (values, attributes) != (written.values, written.attributes) or len(places) != len(written.places):
        return False
    if places.tobytes() == written.places.tobytes():
        return True
    # Far from frame 0, a float32 step exceeds the tolerance.
    room = np.maximum(np.float32(SAME_FRAME), 2.0 * np.spacing(np.abs(written.places)))
    return bool((np.abs(places - written.places) <= room).all())
