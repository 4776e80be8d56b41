# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, and the motion of its channels between these keys, as evaluated by Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...fcurves import scratch_curves
from ...fcurves.channels import Channels
from ...fcurves.keyframes import Float32Array, Float64Array, matching_rows
from ...records import record
from ...report import Finding
from ...store.frame_functions import FrameFunction
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
