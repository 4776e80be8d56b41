# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, read out of what the bake may have written among them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ..faults import Refusal
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import BoolArray, FloatArray, Joined, Keyframes, places, read_joined, types
from .carried import generated_keys, has_another_value, is_generated, lost_to_samples
from .companions import saved_count
from .frame_functions import function_of
from .originals import Originals, Records, give_own_values, originals
from .settings import Settings, are_shown
from .stamps import GENERATED, SAME_FRAME
from .tracks import Track

_KEYS_AT_ONCE = 50_000
"""Some megabytes."""


def read_originals(track: Track) -> dict[int, Originals]:
    """The animator's keys for each channel that has any."""
    return read_all_originals([track])[0]


def read_all_originals(tracks: Sequence[Track]) -> list[dict[int, Originals]]:
    """The same of several tracks, which is faster than of one after the other."""
    return [each for together in _in_parts(tracks) for each in _read_originals(together)]


def _in_parts(tracks: Sequence[Track]) -> Iterator[list[Track]]:
    """As many tracks at once as do not take much memory."""
    part: list[Track] = []
    keys = 0
    for track in tracks:
        part.append(track)
        keys += sum(len(fcurve.keyframe_points) for fcurve in track.channels.values())
        if keys > _KEYS_AT_ONCE:
            yield part
            part, keys = [], 0
    if part:
        yield part


def _read_originals(tracks: Sequence[Track]) -> list[dict[int, Originals]]:
    curves = [(track, index) for track in tracks for index in track.channels]
    if not curves:
        return [{} for _ in tracks]
    channels = read_joined([track.channels[index] for track, index in curves])
    saved = [track.saved.get(index) for track, index in curves]
    counts = [saved_count(curve) for curve in saved if curve is not None]
    records = iter(zip(read_joined([curve for curve in saved if curve is not None]).channels, counts, strict=True))
    kept = [None if curve is None else next(records) for curve in saved]
    ours = _generated(tracks, channels, kept)
    shown = [shows for track in tracks for shows in [_shows_motion(track)] * len(track.channels)]
    if any(shown):
        each = zip(channels.channels, channels.of_channels(ours), kept, shown, strict=True)
        for keys, generated, left, shows in each:
            if shows and left is not None:
                give_own_values(keys, generated, left)
    found = iter(originals(channels, ours, kept))
    every = [{index: next(found) for index in track.channels} for track in tracks]
    return [{index: original for index, original in each.items() if len(original.keys)} for each in every]


def _generated(tracks: Sequence[Track], channels: Joined, kept: Sequence[Records | None]) -> BoolArray:
    """Which keys of all are generated ones."""
    ours = is_generated(channels.keys)
    # A curve that no bake has written to has no key of either kind.
    edited = np.where(ours, has_another_value(channels.keys), channels.keys.amplitude == GENERATED)
    if not edited.any():
        return ours
    keys, each, changed = channels.channels, channels.of_channels(ours), channels.of_channels(edited)
    row = 0
    for track in tracks:
        rows = dict(zip(track.channels, range(row, row + len(track.channels)), strict=True))
        row += len(track.channels)
        if any(changed[at].any() for at in rows.values()):
            own = {index: keys[at] for index, at in rows.items()}
            records = {index: kept[at] for index, at in rows.items()}
            for index, generated in _generated_of(track, own, records).items():
                each[rows[index]][:] = generated
    return ours


def _generated_of(
    track: Track, keys: dict[int, Keyframes], records: Mapping[int, Records | None]
) -> dict[int, BoolArray]:
    """The same of one track, where some keys are other than the bake left them."""
    ours = {index: generated_keys(channel, partial(_step_of, track)) for index, channel in keys.items()}
    for index, kept in records.items():
        if kept is not None:
            ours[index] |= lost_to_samples(keys[index], ours[index], kept[0])
    _keep_averaged(keys, ours)
    _promote_poses(track, keys, ours)
    return ours


def _shows_motion(track: Track) -> bool:
    """Whether the last bake left the animator's keys with values of the motion."""
    return bool(track.saved) and track.settings_curve is not None and are_shown(track.settings_curve)


def _step_of(track: Track) -> float:
    """How far apart the samples of the last bake are; infinite for curves, and where it is not known."""
    try:
        options = track.settings.options
    except Refusal:
        options = None
    return options.step if options is not None and options.output == "SAMPLES" else math.inf


def key_frames(track: Track) -> FloatArray:
    """Frames of the animator's keys, all channels together, ascending."""
    return union([original.keys.frames for original in read_originals(track).values()])


def _keep_averaged(keys: dict[int, Keyframes], ours: dict[int, BoolArray]) -> None:
    """Where one channel's generated key has another value only because it went along, so have the others there: of keys
    that became one the value is an average, which may be far off where the numbers of a rotation jump."""
    changed = {index: has_another_value(channel) & is_generated(channel) for index, channel in keys.items()}
    along = union([channel.frames[changed[index] & ours[index]] for index, channel in keys.items()])
    for index, channel in keys.items():
        ours[index] |= changed[index] & is_among(channel.frames, along)


def _promote_poses(track: Track, keys: dict[int, Keyframes], ours: dict[int, BoolArray]) -> None:
    """Where one channel's generated key became the animator's, the others keyed with it became so too: those of a
    rotation, which is one value, and those that keying has left selected."""
    frames = [
        keys[index].frames[(keys[index].amplitude == GENERATED) & ~ours[index]]
        for index in keys
        if not ours[index].all()
    ]
    keyed = np.unique(np.concatenate(frames)) if frames else np.empty(0, dtype=np.float32)
    if not len(keyed):
        return
    for index, channel in keys.items():
        row = np.clip(np.searchsorted(keyed, channel.frames - np.float32(SAME_FRAME)), 0, len(keyed) - 1)
        there = np.abs(keyed[row] - channel.frames) <= SAME_FRAME
        ours[index] &= ~(there & (track.is_rotation | channel.select_control_point))


def is_up_to_date(track: Track) -> bool:
    """Whether a baked track is as its bake has left it, and so are its parameters and choices."""
    try:
        settings = track.settings
    except Refusal:
        return False
    return bool(track.saved) and digest(track, settings) == settings.digest


def digest(track: Track, settings: Settings, written: Mapping[int, Keyframes] | None = None) -> int:
    """A number, never 0, that changes with the places and types of the track's keys, generated ones too, and with its
    parameters, choices, frame functions and rotation mode.

    `written` are the keys of channels that were just written, and so need not be read.
    """
    known = written or {}
    shape: tuple[object, ...] = (settings.cycle, settings.ends, settings.construction, settings.path)
    if settings.method != Settings.method:
        # Left out otherwise: so files from before there were others are up to date.
        shape += (settings.method, settings.angles)
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    crc = zlib.crc32(repr(shape).encode())
    for index, fcurve in sorted(track.channels.items()):
        keys = known.get(index)
        at, kinds = (places(fcurve), types(fcurve)) if keys is None else (keys.co, keys.type)
        crc = zlib.crc32(kinds.data, zlib.crc32(at.data, zlib.crc32(b"%d" % index, crc)))
    for name, companion in sorted(track.parameters.items()):
        crc = zlib.crc32(places(companion).data, zlib.crc32(name.encode(), crc))
    function = function_of(track)
    if function is not None:
        crc = zlib.crc32(b"%d" % function.checksum, crc)
    return crc or 1
