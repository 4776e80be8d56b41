# SPDX-License-Identifier: GPL-3.0-or-later
"""Free Bake, Restore, Apply and Remove.

*Free Bake* restores the animator's keys as they were before the bake. *Restore* returns the animator's curves to their
state without TCB, and keeps the parameters. *Apply* keeps the current curves and *Remove* the animator's curves, and
both delete all TCB data.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from operator import attrgetter

import bpy
import numpy as np

from ..arguments import checked
from ..bake.locked_channels import baked_curves, unlock
from ..bake.pipeline import rebake
from ..bake.restore_tracks import free_tracks, restore_tracks
from ..fcurves.channels import Channels
from ..fcurves.cycles_modifier import remove_cycles, repeat
from ..fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    KEY_TYPE,
    BoolArray,
    Keyframes,
    is_among,
    union,
)
from ..fcurves.read_and_write import read, write
from ..many import on_each
from ..options import FREE
from ..report import Report
from ..store.editable import editable_sets
from ..store.find_tracks import find_tracks
from ..store.identities_in_keys import remove_traces
from ..store.paths import take_name
from ..store.read_own_keys import count_key_frames, read_all_own_keys, read_own_keys
from ..store.table import key_identity
from ..store.table.custom_property import read_table, update
from ..store.table.track_records import Bake, Options
from ..store.tracks import Track, looks_baked
from ..track_paths import WholePath
from .work_on_tracks import Task, TrackResult, work_on


@checked
def free(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, discard_edits: bool = FREE["discard_edits"].default
) -> Report:
    """Free the bake of the datablock's tracks, that is, restore the animator's keys and unlock the channels.

    Each track returns to its state before the bake, either played by handles or off.

    Parameters
    ----------
    datablock : bpy.types.ID
        The baked datablock.
    prefixes : iterable of str, optional
        Free only tracks whose paths start with one of the prefixes.
    discard_edits : bool
        Also free tracks whose baked curves were edited outside TCB, and discard these edits.

    Returns
    -------
    Report
        Counts of freed tracks and keys. Tracks that can't be changed are listed in `errors`.

    Raises
    ------
    AnimationError
        Nothing is baked, no track can be freed, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball)
    >>> animation.free(ball).tracks
    2
    >>> animation.free(ball)
    Traceback (most recent call last):
    AnimationError: "Ball": no track is baked
    """
    task = Task(attrgetter("is_baked"), _free, "NOTHING_BAKED", prefixes, takes_edited=discard_edits)
    report = work_on(datablock, task)
    _play_freed(datablock, prefixes, report)
    return report


free_many = on_each(free)


def _free(channels: Channels, tracks: list[Track]) -> list[TrackResult]:
    results = [TrackResult(_count_saved(track.bake)) for track in tracks if track.bake is not None]
    free_tracks(channels, tracks)
    return results


def _count_saved(bake: Bake) -> int:
    """Return the number of frames at which a bake has saved keys."""
    return len(union([channel.keys["co"][:, 0] for channel in bake.channels.values() if len(channel.keys)]))


def _play_freed(datablock: bpy.types.ID, prefixes: Iterable[str] | None, report: Report) -> None:
    """Update the handles of freed tracks whose keys were edited while the tracks were baked."""
    for channels in editable_sets(datablock, takes_plain=False).sets:
        if not read_table(channels.action).has_unplaced:
            continue
        tracks = [
            track
            for track in find_tracks(datablock, channels, prefixes)
            if track.is_played_by_handles and track.state is not None and not track.state.channels
        ]
        if tracks:
            rebaked = rebake([datablock], channels, tracks, Options(output="HANDLES"))
            report.errors += rebaked.errors
            report.notes += rebaked.notes


@checked
def restore(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Restore the F-curves of the datablock's tracks to their state without TCB, but keep later edits.

    Parameters and settings are kept. If no track of the action is still played, Live is turned off.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Restore only tracks whose paths start with one of the prefixes.

    Returns
    -------
    Report
        Counts of restored tracks and keys. Tracks that can't be changed are listed in `errors`.

    Raises
    ------
    AnimationError
        No track is baked or played by handles, no track can be restored, or the datablock can't be edited. Nothing was
        changed.

    Examples
    --------
    >>> report = animation.bake(ball)
    >>> animation.restore(ball).tracks
    2
    >>> animation.restore(ball)
    Traceback (most recent call last):
    AnimationError: "Ball": no track is baked or played by handles
    """
    return work_on(datablock, Task(attrgetter("is_played"), _restore, "NOTHING_PLAYED", prefixes))


restore_many = on_each(restore)


def _restore(channels: Channels, tracks: list[Track]) -> list[TrackResult]:
    return [TrackResult(count_key_frames(own_keys)) for own_keys in restore_tracks(channels, tracks)]


def restore_if_played(channels: Channels, track: Track) -> None:
    """Restore a track if a bake or handles play it."""
    if track.is_played:
        restore_tracks(channels, [track])
        assert track.state is not None
        update(channels.action, states=[track.state])


@checked
def apply(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Keep the motion as plain animation, and remove all TCB data.

    Placed handles are kept, generated keys become ordinary keys, and baked channels are unlocked. Baked curves that
    were edited outside TCB are kept unchanged.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Convert only tracks whose paths start with one of the prefixes.

    Returns
    -------
    Report
        Counts of the tracks and keys that are now plain. Tracks that can't be changed are listed in `errors`.

    Raises
    ------
    AnimationError
        No track is TCB, no TCB track can be changed, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball, output="HANDLES")
    >>> animation.apply(ball).tracks
    2
    """
    return work_on(datablock, Task(_has_tcb_data, _apply, "NO_TCB_TRACK", prefixes, _keep_curves, takes_edited=True))


apply_many = on_each(apply)


def _has_tcb_data(track: Track) -> bool:
    """Return whether the track is TCB or has a frame function."""
    return track.enabled or track.frame_curve is not None


def _apply(channels: Channels, tracks: list[Track]) -> list[TrackResult]:
    return [_apply_track(channels, track) for track in tracks]


def _apply_track(channels: Channels, track: Track) -> TrackResult:
    _remove_function(channels, track)
    if not track.channels:
        return TrackResult(0, "CHANNELS_GONE")
    bake, own_keys = track.bake, read_own_keys(track)
    for index, fcurve in track.channels.items():
        remove_cycles(fcurve)
        if bake is not None:
            _make_generated_plain(fcurve)
            remove_traces(fcurve)
        else:
            remove_traces(fcurve, own_keys.get(index))
    if bake is None:
        return TrackResult(count_key_frames(own_keys))
    unlock(baked_curves(track))
    return TrackResult(len(union([read(fcurve).frames for fcurve in track.channels.values()])))


def _keep_curves(channels: Channels, track: Track) -> str:
    """Clean up a track without a valid table entry for Apply: make its keys ordinary keys, and unlock the curves."""
    _remove_function(channels, track)
    is_baked = looks_baked(track)
    for fcurve in track.channels.values():
        remove_cycles(fcurve)
        if is_baked and fcurve.lock:
            _make_generated_plain(fcurve)
            unlock([fcurve])
        remove_traces(fcurve)
    return "KEPT_CURVES"


def _make_generated_plain(fcurve: bpy.types.FCurve) -> None:
    keys = read(fcurve)
    write(fcurve, _with_plain(keys, _are_generated(keys)))


@checked
def remove(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Restore tracks, and remove their parameters and settings, as if they had never been TCB.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Remove only tracks whose paths start with one of the prefixes.

    Returns
    -------
    Report
        Counts of the tracks and keys that are plain again. Tracks that can't be changed are listed in `errors`.

    Raises
    ------
    AnimationError
        No track is TCB, no TCB track can be changed, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball)
    >>> animation.remove(ball, ["location"]).tracks
    1
    """
    return work_on(datablock, Task(_has_tcb_data, _remove, "NO_TCB_TRACK", prefixes, _remove_all_traces))


remove_many = on_each(remove)


def remove_tracks(datablock: bpy.types.ID, paths: Collection[str], only: Hashable = None) -> Report:
    """Remove TCB from the tracks with exactly these paths, but keep their frame functions.

    `only` is the identity of the set of F-curves to search. If None, all sets are searched.
    """
    whole_paths = list(map(WholePath, paths))
    task = Task(attrgetter("enabled"), _remove_parameters, "", whole_paths, _keep_identified_keys, only=only)
    return work_on(datablock, task)


def _remove(channels: Channels, tracks: list[Track]) -> list[TrackResult]:
    results = _remove_parameters(channels, tracks)
    for track in tracks:
        _remove_function(channels, track)
    return results


def _remove_parameters(channels: Channels, tracks: list[Track]) -> list[TrackResult]:
    restore_tracks(channels, [track for track in tracks if track.is_played])
    results = []
    for track, own_keys in zip(tracks, read_all_own_keys(tracks), strict=True):
        results.append(TrackResult(count_key_frames(own_keys)))
        for index, own in own_keys.items() if track.enabled else ():
            remove_traces(track.channels[index], own)
    return results


def _remove_function(channels: Channels, track: Track) -> None:
    """Remove the track's own frame function, and the named property of the function."""
    assert track.datablock is not None
    if track.frame_curve is not None:
        channels.remove(track.frame_curve)
        track.frame_curve = None
    take_name(track.datablock, track.path)


def _remove_all_traces(channels: Channels, track: Track) -> str:
    """Clean up a track without a valid table entry for Remove."""
    _remove_function(channels, track)
    return _keep_identified_keys(channels, track)


def _keep_identified_keys(channels: Channels, track: Track) -> str:
    """Remove generated keys and all identities from a track without a valid table entry, and unlock the curves."""
    if looks_baked(track):
        _remove_generated(channels, track)
    for fcurve in track.channels.values():
        repeat(fcurve, wanted=False)
        remove_traces(fcurve)
    return "KEPT_IDENTIFIED_KEYS"


def _remove_generated(channels: Channels, track: Track) -> None:
    """Remove generated keys, and unlock the channels.

    The animator's keys of a rotation may have equivalent values that depend on the other channels. All channels of a
    rotation, and channels with only generated keys, therefore keep keys at frames where any channel has one of the
    animator's keys.
    """
    locked = {index: read(fcurve) for index, fcurve in track.channels.items() if fcurve.lock}
    unlock(track.channels[index] for index in locked)
    generated = {index: _are_generated(keys) for index, keys in locked.items()}
    frames = union([keys.frames[~generated[index]] for index, keys in locked.items()])
    for index, keys in locked.items():
        is_kept = ~generated[index]
        if track.is_rotation or not is_kept.any():
            is_kept |= is_among(keys.frames, frames)
        if is_kept.any():
            write(track.channels[index], _with_plain(keys, generated[index]).take(is_kept))
        else:
            channels.remove(track.channels.pop(index))


def _are_generated(keys: Keyframes) -> BoolArray:
    """Return a mask of the generated keys of a baked curve."""
    generated: BoolArray = (keys.type == KEY_TYPE["GENERATED"]) & ~key_identity.have_identities(keys)
    return generated


def _with_plain(keys: Keyframes, generated: BoolArray) -> Keyframes:
    """Return the keys. Generated keys become ordinary keys with the float attributes of new keys."""
    plain = {"amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD, "back": DEFAULT_BACK}
    floats = {name: np.where(generated, np.float32(value), getattr(keys, name)) for name, value in plain.items()}
    return keys.with_(type=np.where(generated, np.uint8(KEY_TYPE["KEYFRAME"]), keys.type), **floats)
