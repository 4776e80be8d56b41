# SPDX-License-Identifier: GPL-3.0-or-later
"""The segments that Blender plays between a track's splines, such as constant segments.

A mask marks the keys that begin these segments. The last key begins no segment, so its element has no meaning. The keys
between two marked segments are a run, and each run has its own spline.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, pairwise

import numpy as np

from ...fcurves.keyframes import (
    INTERPOLATION,
    SAME_FRAME,
    BoolArray,
    Float32Array,
    Float64Array,
    IndexArray,
    end_to_end,
    rows_of,
)
from ...fcurves.segments import ChannelSegments
from ...store.identities_in_keys import plain_keys
from ...store.own_keys import OwnKeys
from .own_motion import OwnChannels


def has_segment(begins_segment: BoolArray) -> bool:
    """Return whether Blender plays any segment. `any` would take four times as long."""
    return b"\1" in begins_segment[:-1].tobytes()


def run_slices(begins_segment: BoolArray) -> list[slice]:
    """Return the keys of each run as a slice."""
    if not has_segment(begins_segment):
        return [slice(0, len(begins_segment))]
    bounds = [0, *(np.flatnonzero(begins_segment[:-1]) + 1).tolist(), len(begins_segment)]
    return [slice(*ends) for ends in pairwise(bounds)]


def spline_slices(begins_segment: BoolArray) -> list[slice]:
    """Return the keys of each spline as a slice. Consecutive single-key runs share a spline to save time.

    The first and the last run stay separate, because the motion outside the keys continues from them.
    """
    runs = run_slices(begins_segment)
    slices = runs[:1]
    for number, run in enumerate(runs[1:], start=1):
        previous = slices[-1]
        is_single = run.stop - run.start == 1 and number < len(runs) - 1
        if is_single and number > 1 and bool(begins_segment[previous].all()):
            slices[-1] = slice(previous.start, run.stop)
        else:
            slices.append(run)
    return slices


def begin_segments_of_any(own: OwnChannels, frames: Float32Array) -> BoolArray:
    """Return a mask of a rotation's keys that begin segments in which Blender plays any of the channels.

    `frames` are the frames of all channels' keys. The mask covers complete segments of all channels.
    """
    mask = np.zeros(len(frames), dtype=np.bool_)
    if not any(channel.has_blender_segment for channel in own.values()):
        return mask
    if len({channel.frame_bytes for channel in own.values()}) == 1:
        mask[:-1] = np.logical_or.reduce([channel.begins_segment[:-1] for channel in own.values()])
        return mask
    channel_rows = [rows_of(channel.keys.frames, frames).tolist() for channel in own.values()]
    segments = [segment for rows in channel_rows for segment in pairwise(rows)]
    begins_segment = np.concatenate([channel.begins_segment[:-1] for channel in own.values()])
    for start, end in compress(segments, begins_segment.tolist()):
        mask[start:end] = True
    while True:
        mask_before = mask.copy()
        for start, end in segments:
            mask[start:end] |= mask[start:end].any()
        if (mask == mask_before).all():
            return mask


def channel_segments(
    own: Mapping[int, OwnKeys | None], frames: Float32Array, values: Float64Array, rows: IndexArray
) -> ChannelSegments:
    """Return the segments after the keys in `rows`, as Blender plays them with the animator's keys and handles.

    `own` contains the animator's keys of each component, or None for a component without keys. Components without such
    a segment are linear from one key to the next, with `values`, shape (n, components), at the `frames`, shape (n,).
    """
    pattern = next(channel.keys for channel in own.values() if channel is not None)
    ends = np.stack((rows, rows + 1), axis=1).ravel()
    channels = []
    for channel, column in zip(own.values(), values.T, strict=True):
        linear = pattern.take(np.zeros(len(ends), dtype=np.intp)).with_(
            co=np.stack((frames[ends], column[ends]), axis=1),
            interpolation=np.full(len(ends), INTERPOLATION["LINEAR"], dtype=np.uint8),
        )
        keys = pattern if channel is None else plain_keys(channel)
        begin = np.searchsorted(keys.frames, frames[rows] + np.float32(SAME_FRAME), side="right") - 1
        is_in_segment = (begin >= 0) & (begin < len(keys) - 1) & (channel is not None)
        played = keys.take(np.clip(np.stack((begin, begin + 1), axis=1).ravel(), 0, len(keys) - 1))
        played_or_linear = np.arange(len(ends)) + np.where(np.repeat(is_in_segment, 2), 0, len(ends))
        channels.append(end_to_end([played, linear]).take(played_or_linear))
    return ChannelSegments.between(frames, rows, channels)
