# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the animator's keys on baked and played tracks, for Free Bake and Restore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..fcurves.channels import Channels, evaluate_anew
from ..fcurves.cycles_modifier import repeat
from ..fcurves.frames import ONE_KEY
from ..fcurves.joined_keys import Joined
from ..fcurves.keyframes import Float32Array, Keyframes
from ..fcurves.write_keys import extrapolate, write, write_joined
from ..live.mirrored_keys import with_mirrored
from ..records import record
from ..store.own_curves import keys_of_saved, own_channels
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.paths import split
from ..store.record_rows import OwnChannel, recorded
from ..store.restored_keys import recorded_keys
from ..store.table import key_identity
from ..store.table import rows as rows_
from ..store.table.custom_property import update
from ..store.table.track_records import SAVED, BakedChannel, Options, TrackState
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .locks import unlock
from .tracks_to_bake import BakeJob

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
"""Path of a bone, with its escaped name as the group."""


def free_tracks(channels: Channels, tracks: Sequence[Track]) -> None:
    """Restore the saved keys of baked tracks, unlock the channels, and return the tracks to their previous state.

    The table is not written.
    """
    restored: list[tuple[bpy.types.FCurve, BakedChannel]] = []
    for track in tracks:
        bake = track.bake
        assert bake is not None
        recreate_channels(channels, track)
        unlock(track.channels[index] for index in bake.channels if index in track.channels)
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
        saved = [channel.keys for _, channel in restored]
        keys = keys_of_saved(rows_.joined(saved, SAVED))
        write_joined([fcurve for fcurve, _ in restored], Joined(keys, [len(rows) for rows in saved]))
    for fcurve, channel in restored:
        if channel.edited:
            place_automatic(fcurve, channel.keys["co"][:, 0])
    for track in tracks:
        track.state = _freed(track)


def place_automatic(fcurve: bpy.types.FCurve, frames: Float32Array) -> None:
    """Update automatic handles, unless Blender would then merge keys that mirroring has left at the same frame."""
    if (np.diff(frames) > ONE_KEY).all():
        fcurve.update()


def _freed(track: Track) -> TrackState:
    """Return a baked track's table entry with the track's state before the bake."""
    state, bake = track.state, track.bake
    assert state is not None
    assert bake is not None
    settings = replace(state.settings, digest=bake.digest, options=bake.options)
    return replace(state, slot=track.slot, path=track.path, settings=settings, bake=None)


def recreate_channels(channels: Channels, track: Track) -> None:
    """Recreate a baked track's F-curves that are missing or were converted to samples."""
    if track.bake is None:
        return
    group = track.group_name or _bone_of(track.path)
    for index, channel in track.bake.channels.items():
        # Channels with a rest value were created by the bake.
        if channel.rest is not None:
            continue
        fcurve = track.channels.get(index)
        if fcurve is not None:
            if not len(fcurve.sampled_points):
                continue
            channels.remove(fcurve)
        track.channels[index] = channels.new(track.path, index, group)


def _bone_of(path: str) -> str:
    """Return the bone name in a path, which Blender uses for the channel group, or an empty string."""
    match = _BONE.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


def remove_made(channels: Channels, track: Track, index: int) -> None:
    """Remove a channel that a bake created, and restore the value of the property."""
    rest = track.made[index]
    channels.remove(track.channels.pop(index))
    owner_path, name = split(track.path)
    datablock = track.datablock
    assert datablock is not None
    owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    getattr(owner, name)[index] = rest


def restore_tracks(channels: Channels, tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Restore the animator's curves of played tracks to their state without TCB, and turn the tracks off.

    Return the animator's keys on each track. The tracks' table entries are not written.
    """
    for track in tracks:
        recreate_channels(channels, track)
    own_keys = [
        _with_edits_recorded(channels, track, own) for track, own in zip(tracks, read_all_own_keys(tracks), strict=True)
    ]
    restored: list[_Restored] = []
    for track, own in zip(tracks, own_keys, strict=True):
        restored += _prepare(channels, track, own)
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


def put_unplayable_back(job: BakeJob) -> None:
    """Restore the animator's curves for each track that handles can no longer play."""
    tracks = [track for track in job.unplayable if track.is_played_by_handles and track.channels]
    if not tracks:
        return
    restore_tracks(job.channels, tracks)
    for track in tracks:
        assert track.state is not None
        # Live tries again after the track changes.
        track.state = replace(track.state, settings=replace(track.settings, digest=0))
    update(job.channels.action, states=[track.state for track in tracks if track.state is not None])
    evaluate_anew(job.channels.action)


@record()
class _Restored:
    """A channel whose keys are restored."""

    fcurve: bpy.types.FCurve
    keys: Keyframes
    is_edited: bool
    """True if Blender must update automatic handles."""


def _prepare(channels: Channels, track: Track, own: Mapping[int, OwnKeys]) -> Iterator[_Restored]:
    """Unlock a track's channels and restore the animator's extrapolation. Yield the channels with keys to write.

    Removes F-curves that a bake created, and recreates F-curves that were converted to samples.
    """
    bake = track.bake
    records = track.state.channels if track.state is not None else {}
    extrapolations = {index: track.extrapolation(index) for index in own_channels(track)}
    if bake is not None:
        unlock(track.channels[index] for index in bake.channels if index in track.channels)
        for index in sorted(track.made.keys() & track.channels.keys()):
            remove_made(channels, track, index)
    for index, extrapolation in extrapolations.items():
        fcurve = track.channels[index]
        if index in own:
            saved = bake.channels.get(index) if bake is not None else None
            is_edited = own[index].edited or (saved is not None and saved.edited)
            is_edited |= index in records and records[index].extrapolation != extrapolation
            extrapolate(fcurve, extrapolation)
            yield _Restored(fcurve, own[index].keys, is_edited)
        elif len(fcurve.sampled_points) and index in records:
            _rebuild(channels, track, index, recorded_keys(records[index].own))


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
    named, rows = recorded(to_record)
    update(channels.action, rows_.joined(rows))
    return dict(zip(own, named, strict=True))


def _rebuild(channels: Channels, track: Track, index: int, keys: Keyframes) -> None:
    """Replace a channel's F-curve, which was converted to samples, with a new F-curve that has the given keys."""
    group, extrapolation = track.group_name, track.extrapolation(index)
    channels.remove(track.channels.pop(index))
    track.channels[index] = channels.new(track.path, index, group)
    extrapolate(track.channels[index], extrapolation)
    write(track.channels[index], keys)
