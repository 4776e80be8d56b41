# SPDX-License-Identifier: GPL-3.0-or-later
"""Add missing keys to rotation channels, because handles can play only complete poses.

Auto keying with *Only Insert Needed* keys only the channels that changed. The other channels get additional keys that
preserve the pose and the motion.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..fcurves.keyframes import (
    EASING,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    Float32Array,
    Float64Array,
    is_among,
    made_like,
    matching_rows,
    union,
)
from ..store.own_keys import OwnKeys, own_end_to_end
from ..store.read_own_keys import with_numbers_beside
from ..store.table import key_identity
from ..store.table import rows as rows_
from ..store.tracks import Track
from .plans.own_motion import OwnChannels, is_keyed_whole, values_at
from .plans.sample_frames import APART


def with_complete_rotation(track: Track, own: OwnChannels) -> OwnChannels:
    """Add missing keys to the channels of a rotation. If no key is missing, return the keys unchanged.

    New keys have no identity yet. Raises AnimationError if Blender would merge keys of different channels.
    """
    if not track.is_rotation or is_keyed_whole(track, own):
        return own
    frames = _key_frames_of_all(track, own)
    values = _whole_values(track, own, frames)
    selected = _selected(own, frames)
    pattern = next(iter(own.values()))
    result = {}
    for index in sorted(values):
        co = np.stack((frames, values[index]), axis=1).astype(np.float32)
        new_keys = _new_keys(track, own.get(index, pattern), co, selected)
        result[index] = _with_missing(own.get(index), new_keys)
    return with_numbers_beside(result)


def _key_frames_of_all(track: Track, own: OwnChannels) -> Float32Array:
    """Return the frames of the keys in all channels. Raise AnimationError if Blender would merge two of the keys."""
    frames = union([keys.keys.frames for keys in own.values()])
    close_rows = np.flatnonzero(np.diff(frames) <= APART)
    if len(close_rows):
        raise track.error("KEYS_TOO_NEAR", APART, frame=float(frames[close_rows[0]]))
    return frames


def _whole_values(track: Track, own: OwnChannels, frames: Float32Array) -> dict[int, Float64Array]:
    """Return the value of each component at each frame, shape (n,) per component.

    The value comes from the key or, if there is no key, from the motion.
    """
    return {
        index: _values(track, index, own[index], frames)
        if index in own
        else np.full(len(frames), track.component(index))
        for index in range(len(track.rest))
    }


def _values(track: Track, index: int, own: OwnKeys, frames: Float32Array) -> Float64Array:
    """Return the value of a channel at each frame."""
    if not track.is_played_by_handles:
        return values_at(track, index, own, frames)
    fcurve = track.channels[index]
    values = np.array([fcurve.evaluate(frame) for frame in frames.tolist()], dtype=np.float64)
    keyed, rows = matching_rows(frames, own.keys.frames)
    values[keyed] = own.keys.values[rows]
    return values


def _selected(own: OwnChannels, frames: Float32Array) -> dict[str, BoolArray]:
    """Return the selection flags at each frame.

    A flag is set if it is set on any channel's key at the frame.
    """
    flags = {name: np.zeros(len(frames), dtype=np.bool_) for name in FLAGS}
    for channel in own.values():
        rows, key_rows = matching_rows(frames, channel.keys.frames)
        for name, flag in flags.items():
            flag[rows] |= getattr(channel.keys, name)[key_rows]
    return flags


def _new_keys(track: Track, source: OwnKeys, co: Float32Array, selected: Mapping[str, BoolArray]) -> OwnKeys:
    """Create keys that inherit the interpolation of the previous key, as new keys in Blender do."""
    count = len(co)
    before = source.take(np.maximum(np.searchsorted(source.keys.frames, co[:, 0], side="right") - 1, 0))
    continues = before.begins_segment | (not track.is_played_by_handles)
    one_before, one_after = np.array([[-1.0, 0.0], [1.0, 0.0]], dtype=np.float32)
    automatic = np.full(count, HANDLE["AUTO_CLAMPED"], dtype=np.uint8)
    keys = made_like(before.keys, co, co + one_before, co + one_after).with_(
        handle_left_type=automatic,
        handle_right_type=automatic,
        interpolation=np.where(continues, before.keys.interpolation, np.uint8(INTERPOLATION["BEZIER"])),
        easing=np.where(continues, before.keys.easing, np.uint8(EASING["AUTO"])),
        type=np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8),
        **selected,
    )
    return before.with_(
        keys=keys,
        identities=np.full(count, key_identity.NONE, dtype=np.uint32),
        numbers=np.full((count, rows_.NUMBERS), np.nan, dtype=np.float32),
        chosen=before.chosen & np.uint8(rows_.CHOSEN_INTERPOLATION),
        placed=np.zeros(count, dtype=np.uint8),
    )


def _with_missing(own: OwnKeys | None, new_keys: OwnKeys) -> OwnKeys:
    """Merge new keys into a channel at frames where the channel has no key."""
    merged = new_keys
    if own is not None:
        missing = new_keys.take(~is_among(new_keys.keys.frames, own.keys.frames))
        merged = own_end_to_end([own, missing])
    order = np.argsort(merged.keys.frames, kind="stable")
    return merged.take(order).with_(rows=np.arange(len(order)), as_read=None)
