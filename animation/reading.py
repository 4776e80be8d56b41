# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, read out of what the bake may have written among them."""

from __future__ import annotations

import math
import zlib
from functools import partial

import numpy as np

from .carried import generated_keys, has_another_value, is_generated, lost_to_samples
from .companions import saved_count
from .faults import Refusal
from .frames import is_among, union
from .keyframes import BoolArray, FloatArray, Keyframes, places, read, types
from .originals import Originals, originals, untouched
from .settings import Settings
from .stamps import GENERATED, SAME_FRAME, has_stamp
from .tracks import Track


def read_originals(track: Track) -> dict[int, Originals]:
    """The animator's keys for each channel that has any."""
    baked = {index: read(fcurve) for index, fcurve in track.channels.items()}
    if not track.saved and not any(has_stamp(keys).any() for keys in baked.values()):
        return {index: untouched(keys) for index, keys in baked.items() if len(keys)}
    ours = {index: generated_keys(keys, partial(_step_of, track)) for index, keys in baked.items()}
    saved = {index: (read(fcurve), saved_count(fcurve)) for index, fcurve in track.saved.items()}
    for index, (records, _) in saved.items():
        if index in baked:
            ours[index] |= lost_to_samples(baked[index], ours[index], records)
    _keep_averaged(baked, ours)
    _promote_poses(track, baked, ours)
    result = {}
    for index, keys in baked.items():
        original = originals(keys, ours[index], saved.get(index))
        if len(original.keys):
            result[index] = original
    return result


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


def digest(track: Track, settings: Settings) -> int:
    """A number, never 0, that changes with the places and types of the track's keys, generated ones too, and with its
    parameters, choices and rotation mode."""
    shape: tuple[object, ...] = (settings.cycle, settings.ends, settings.construction, settings.path)
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    crc = zlib.crc32(repr(shape).encode())
    for index, fcurve in sorted(track.channels.items()):
        crc = zlib.crc32(types(fcurve).data, zlib.crc32(places(fcurve).data, zlib.crc32(b"%d" % index, crc)))
    for name, companion in sorted(track.parameters.items()):
        crc = zlib.crc32(places(companion).data, zlib.crc32(name.encode(), crc))
    return crc or 1
