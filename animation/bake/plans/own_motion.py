# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, the motion between them as evaluated by Blender, and the segments that Blender plays.

A mask marks the keys that begin these segments. The last key begins no segment, so its element has no meaning. The keys
between two marked segments are a run, and each run has its own spline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, pairwise

import numpy as np

from ...fcurves import scratch_curves
from ...fcurves.channels import Channels
from ...fcurves.keyframes import (
    INTERPOLATION,
    SAME_FRAME,
    BoolArray,
    Float32Array,
    Float64Array,
    IndexArray,
    end_to_end,
    matching_rows,
    rows_of,
)
from ...fcurves.segments import ChannelSegments
from ...records import record
from ...report import Finding
from ...store.frame_functions import FrameFunction
from ...store.identities_in_keys import plain_keys
from ...store.own_keys import OwnKeys
from ...store.table.track_records import Options, Settings
from ...store.tracks import Track

OwnChannels = Mapping[int, OwnKeys]
"""The animator's keys of each channel that has keys."""

STILL = 1e-6
"""A component moves if its values deviate from its current value by more than this. Smaller deviations are float32
rounding."""


@record(eq=False)
class ChosenTrack:
    """A track to bake."""

    track: Track
    channels: Channels
    options: Options


@record(eq=False)
class TrackInput(ChosenTrack):
    """A track with the animator's keys, which have the parameters implied by edits."""

    own: OwnChannels
    settings: Settings
    """The track's settings before the bake."""
    function: FrameFunction | None
    """The frame function that retimes the track."""
    is_completed: bool
    """True if missing keys were added to a rotation."""
    notes_on_edits: Sequence[Finding]
    """Notes on edits that parameters can't reproduce."""


def is_keyed_whole(track: Track, own: OwnChannels) -> bool:
    """Return whether all channels of a rotation have keys at the same frames.

    A single Euler angle can be keyed on its own if the other angles are 0.
    """
    have_same_frames = len({keys.frame_bytes for keys in own.values()}) == 1
    unkeyed_values = [track.component(index) for index in range(len(track.rest)) if index not in own]
    is_single_angle = track.kind == "EULER" and len(own) == 1 and max(map(abs, unkeyed_values), default=0.0) <= STILL
    return have_same_frames and (not unkeyed_values or is_single_angle)


def values_at(track: Track, index: int, own: OwnKeys, frames: Float32Array) -> Float64Array:
    """Return the channel's value at each frame, from its key or, if there is no key, from the animator's curve.

    `frames` include all frames of the channel's keys.
    """
    if own.count == len(frames):
        return own.keys.values.astype(np.float64)
    values = np.empty(len(frames))
    keyed, rows = matching_rows(frames, own.keys.frames)
    values[keyed] = own.keys.values[rows]
    not_keyed = np.delete(np.arange(len(frames)), keyed)
    values[not_keyed] = own_motion(track, index, own, frames[not_keyed])
    return values


def own_motion(track: Track, index: int, own: OwnKeys, frames: Float32Array) -> Float64Array:
    """Return the values of the animator's curve of a channel at the frames, as evaluated by Blender."""
    if plays_its_own_keys(track, index) and not own.edited:
        fcurve = track.channels[index]
        return np.array([fcurve.evaluate(frame) for frame in frames.tolist()], dtype=np.float64)
    return scratch_curves.evaluate(own.keys, own.edited, track.extrapolation(index), frames)


def plays_its_own_keys(track: Track, index: int) -> bool:
    """Return whether the channel's F-curve plays the animator's keys unchanged, without a bake or modifiers."""
    return not track.is_played and not len(track.channels[index].modifiers)


# Segments that Blender plays between a track's splines, such as constant segments


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
