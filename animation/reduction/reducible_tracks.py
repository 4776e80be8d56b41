# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the tracks of a datablock that can be reduced, with notes on the others, or return an unchanged result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np

from ..datablocks import name_of
from ..fcurves.channels import Channels
from ..fcurves.keyframes import SAME_FRAME, Float64Array, union
from ..fcurves.read_and_write import read_coordinates
from ..report import AnimationError, Finding
from ..store.editable import blocking_reason
from ..store.find_tracks import find_tracks
from ..store.tracks import Track
from .keys_outside_range import has_beside, reason_apart
from .original_motion import count_keys
from .report import ReduceRequest, Reduction
from .sampled_track import SampledTrack, sample_track

LEAST_FRAMES = 3
"""The minimum number of frames. With fewer frames, there is nothing between the keys at both ends."""
_SPARSEST = 100
"""Tracks with fewer than one key per this number of frames are not reduced."""


def reducible_tracks(
    datablock: bpy.types.ID,
    channels: Channels,
    prefixes: Iterable[str] | None,
    request: ReduceRequest,
    notes: list[Finding],
) -> list[Track]:
    """Return the tracks that can be reduced, and add notes on the other tracks.

    Raises AlreadyMinimalError if no track has more than two keys, or if the keys are far apart. Raises AnimationError
    if there are no tracks.
    """
    dense_tracks: list[Track] = []
    sparse_tracks: list[Track] = []
    reasons: list[Finding] = []
    frame_range = request.frame_range
    for track in find_tracks(datablock, channels, prefixes):
        is_dense = track.in_use and any(_keys_in(fcurve, frame_range) > 2 for fcurve in track.channels.values())
        reason = _reason_against(track)
        if reason and (is_dense or frame_range is None):
            reasons.append(reason)
        elif not reason and (not is_dense or (frame_range is None and _is_sparse(track))):
            sparse_tracks.append(track)
        elif not reason and frame_range is None and _is_close(track):
            sparse_tracks.append(track)
            reasons.append(track.finding("REDUCE_CLOSE"))
        elif not reason:
            dense_tracks.append(track)
    _note_skipped(reasons, bool(dense_tracks or sparse_tracks), notes)
    if dense_tracks:
        return dense_tracks
    if frame_range is not None:
        raise AnimationError(Finding("REDUCE_FEW_IN_RANGE", name_of(datablock), arguments=tuple(frame_range)))
    keyed = [track for track in sparse_tracks if any(_keys_in(fcurve, None) for fcurve in track.channels.values())]
    if keyed:
        raise AlreadyMinimalError(datablock, channels, keyed, request)
    raise AnimationError(Finding("REDUCE_NO_KEYS", name_of(datablock)))


def _keys_in(fcurve: bpy.types.FCurve, frame_range: tuple[float, float] | None) -> int:
    """Return the number of the curve's keys in the range."""
    frames = read_coordinates(fcurve)[::2]
    if frame_range is None:
        return len(frames)
    return int(np.count_nonzero((frames >= frame_range[0] - SAME_FRAME) & (frames <= frame_range[1] + SAME_FRAME)))


def _reason_against(track: Track) -> Finding | None:
    """Return the reason why a track can't be reduced, or None."""
    if track.enabled:
        return track.finding("REDUCE_BAKED" if track.is_baked else "REDUCE_TCB")
    return blocking_reason(track) or _modified(track)


def _modified(track: Track) -> Finding | None:
    """Return an error if the track has F-curve modifiers.

    A Cycles modifier is allowed, because it acts only outside the keys.
    """
    modifiers = (modifier for fcurve in track.channels.values() for modifier in fcurve.modifiers)
    types = sorted({modifier.type for modifier in modifiers if not modifier.mute and modifier.type != "CYCLES"})
    return track.finding("REDUCE_MODIFIERS", ", ".join(types)) if types else None


def _is_sparse(track: Track) -> bool:
    """Return whether the track already has few keys because they are far apart."""
    frames = _frames_of_keys(track)
    return bool(frames[-1] - frames[0] > _SPARSEST * len(frames))


def _is_close(track: Track) -> bool:
    """Return whether the track has at least two keys more than whole frames."""
    frames = _frames_of_keys(track)
    return bool(len(frames) > frames[-1] - frames[0] + 2.0)


def _frames_of_keys(track: Track) -> Float64Array:
    """Return the frames of the keys in all channels, in ascending order."""
    keyed = [read_coordinates(fcurve)[::2] for fcurve in track.channels.values()]
    frames: Float64Array = union(keyed).astype(np.float64)
    return frames


def joinable_tracks(
    datablock: bpy.types.ID, tracks: Sequence[Track], frames: Float64Array, notes: list[Finding]
) -> list[SampledTrack]:
    """Return the tracks' motion at the frames. Add notes on tracks whose new keys could not join the existing keys."""
    if len(frames) < LEAST_FRAMES:
        raise AnimationError(Finding("REDUCE_SHORT_RANGE", name_of(datablock)))
    joins = has_beside(tracks, frames)
    sampled_tracks = [sample_track(track, frames, joins=joins) for track in tracks]
    reasons = {
        sampled.track.path: reason
        for sampled in sampled_tracks
        if (reason := reason_apart(sampled.track, frames, sampled.raw))
    }
    _note_skipped(list(reasons.values()), len(reasons) < len(sampled_tracks), notes)
    return [sampled for sampled in sampled_tracks if sampled.track.path not in reasons]


def _note_skipped(reasons: Sequence[Finding], are_others: bool, notes: list[Finding]) -> None:
    """Add notes on why tracks were skipped. Raise AnimationError if no other tracks remain."""
    if reasons and not are_others:
        raise AnimationError(*reasons)
    notes += reasons


class AlreadyMinimalError(AnimationError):
    """The exception for a datablock in which no track can have fewer keys. Nothing was changed."""

    def __init__(
        self, datablock: bpy.types.ID, channels: Channels, tracks: Sequence[Track], request: ReduceRequest
    ) -> None:
        super().__init__(Finding("REDUCE_FEW_KEYS", name_of(datablock)))
        counts = count_keys(tracks, np.array([-np.inf, np.inf]))
        self.result = unchanged_reduction(name_of(datablock), channels, request, len(tracks), counts)


def unchanged_reduction(
    name: str, channels: Channels, request: ReduceRequest, tracks: int, counts: tuple[int, int]
) -> Reduction:
    """Return the result for an unchanged datablock. `counts` contains the numbers of keys and diamonds."""
    keys, diamonds = counts
    return Reduction(
        name,
        wanted=request.error,
        wanted_angle=request.angle,
        is_minimal=True,
        tracks=tracks,
        keys_before=keys,
        keys=keys,
        diamonds_before=diamonds,
        diamonds=diamonds,
        original=channels.action.name,
        action=channels.action.name,
    )
