# SPDX-License-Identifier: GPL-3.0-or-later
"""Give tracks back the animator's keys: the saved keys for Free Bake, and curves without TCB for Restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy

from ..fcurves.channels import Channels, evaluate_anew
from ..fcurves.cycles_modifier import repeat
from ..fcurves.keyframes import Joined, Keyframes
from ..fcurves.read_and_write import extrapolate, write, write_joined
from ..live.mirrored_keys import with_mirrored
from ..records import record
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import joined_saved, own_channels, read_all_own_keys
from ..store.record_keys import OwnChannel, record_rows
from ..store.restored_keys import recorded_keys
from ..store.table import key_identity
from ..store.table.custom_property import update
from ..store.table.track_records import BakedChannel, Options, TrackState
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .bake_job import BakeJob, PlannedTrack
from .locked_channels import baked_curves, place_automatic, recreate_channels, remove_made, unlock


def free_tracks(channels: Channels, tracks: Sequence[Track]) -> None:
    """Restore the saved keys of baked tracks, unlock the channels, and return the tracks to their previous state.

    The table is not written.
    """
    restored: list[tuple[bpy.types.FCurve, BakedChannel]] = []
    for track in tracks:
        bake = track.bake
        assert bake is not None
        recreate_channels(channels, track)
        unlock(baked_curves(track))
        for index, channel in bake.channels.items():
            if channel.rest is not None:
                if index in track.channels:
                    remove_made(channels, track, index)
                continue
            fcurve = track.channels[index]
            extrapolate(fcurve, channel.extrapolation)
            repeat(fcurve, channel.repeats)
            restored.append((fcurve, channel))
    if restored:
        write_joined([fcurve for fcurve, _ in restored], joined_saved([channel.keys for _, channel in restored]))
    for fcurve, channel in restored:
        if channel.edited:
            place_automatic(fcurve, channel.keys["co"][:, 0])
    for track in tracks:
        track.state = _freed(track)


def _freed(track: Track) -> TrackState:
    """Return a baked track's table entry with the track's state before the bake."""
    state, bake = track.state, track.bake
    assert state is not None
    assert bake is not None
    settings = replace(state.settings, digest=bake.digest, options=bake.options)
    return replace(state, slot=track.slot, path=track.path, settings=settings, bake=None)


# Restore


_UNPLAYABLE = ("HANDLES_TIMED", "HANDLES_LEAVE_KEYS")
"""Codes of the reasons why handles can't play a track."""


def restore_tracks(channels: Channels, tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Restore the animator's curves of played tracks to their state without TCB, and turn the tracks off.

    Return the animator's keys on each track. The tracks' table entries are not written.
    """
    for track in tracks:
        recreate_channels(channels, track)
    own_keys = [
        _with_edits_recorded(channels, track, own) for track, own in zip(tracks, read_all_own_keys(tracks), strict=True)
    ]
    restored: list[_RestoredChannel] = []
    for track, own in zip(tracks, own_keys, strict=True):
        restored += _with_own_curves(channels, track, own)
        if track.state is not None:
            settings = replace(track.settings, digest=RESTORED, options=None)
            track.state = replace(
                track.state, slot=track.slot, path=track.path, settings=settings, channels={}, error=None, bake=None
            )
    if restored:
        write_joined([channel.fcurve for channel in restored], Joined.of([channel.keys for channel in restored]))
    for channel in restored:
        repeat(channel.fcurve, wanted=False)
        if channel.is_edited:
            place_automatic(channel.fcurve, channel.keys.frames)
    return own_keys


def turn_off_unplayable(jobs: Sequence[BakeJob[PlannedTrack]]) -> None:
    """Restore the animator's curves of each refused track that handles can no longer play."""
    for job in jobs:
        unplayable = [track for track, error in job.refused if any(map(error.has, _UNPLAYABLE))]
        tracks = [track for track in unplayable if track.is_played_by_handles and track.channels]
        if not tracks:
            continue
        restore_tracks(job.channels, tracks)
        for track in tracks:
            assert track.state is not None
            # Live tries again after the track changes.
            track.state = replace(track.state, settings=replace(track.settings, digest=0))
        update(job.channels.action, states=[track.state for track in tracks if track.state is not None])
        evaluate_anew(job.channels.action)


@record()
class _RestoredChannel:
    """A channel whose keys are restored."""

    fcurve: bpy.types.FCurve
    keys: Keyframes
    is_edited: bool
    """True if Blender must update automatic handles."""


def _with_own_curves(channels: Channels, track: Track, own: Mapping[int, OwnKeys]) -> list[_RestoredChannel]:
    """Unlock a track's channels and restore the animator's extrapolation. Return the channels with keys to write.

    F-curves that a bake created are removed, and F-curves that were converted to samples are recreated.
    """
    restored = []
    bake = track.bake
    records = track.state.channels if track.state is not None else {}
    extrapolations = {index: track.extrapolation(index) for index in own_channels(track)}
    if bake is not None:
        unlock(baked_curves(track))
        for index in sorted(track.created_by_bake.keys() & track.channels.keys()):
            remove_made(channels, track, index)
    for index, extrapolation in extrapolations.items():
        fcurve = track.channels[index]
        if index in own:
            saved = bake.channels.get(index) if bake is not None else None
            is_edited = own[index].edited or (saved is not None and saved.edited)
            is_edited |= index in records and records[index].extrapolation != extrapolation
            extrapolate(fcurve, extrapolation)
            restored.append(_RestoredChannel(fcurve, own[index].keys, is_edited))
        elif len(fcurve.sampled_points) and index in records:
            _replace_sampled_curve(channels, track, index, recorded_keys(records[index].own))
    return restored


def _with_edits_recorded(channels: Channels, track: Track, own: dict[int, OwnKeys]) -> dict[int, OwnKeys]:
    """Record edits that the keys do not store: mirroring in time, and interpolation or handles chosen for new keys."""
    state = track.state
    if state is None:
        return own
    defaults = (state.settings.options or Options()).defaults
    mirrored = with_mirrored(track, own, defaults)
    is_mirrored = any(mirrored[index] is not keys for index, keys in own.items())
    has_choices = any(keys.chosen[keys.identities == key_identity.NONE].any() for keys in own.values())
    if not is_mirrored and not has_choices:
        return own
    to_record = [OwnChannel(state.identity, index, keys, index in state.channels) for index, keys in mirrored.items()]
    named, rows, _ = record_rows(to_record)
    update(channels.action, rows)
    return dict(zip(own, named, strict=True))


def _replace_sampled_curve(channels: Channels, track: Track, index: int, keys: Keyframes) -> None:
    """Replace a channel's F-curve, which was converted to samples, with a new F-curve that has the given keys."""
    group, extrapolation = track.group_name, track.extrapolation(index)
    channels.remove(track.channels.pop(index))
    track.channels[index] = channels.new(track.path, index, group)
    extrapolate(track.channels[index], extrapolation)
    write(track.channels[index], keys)
