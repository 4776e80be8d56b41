# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply and Remove, which delete the parameters.

*Apply* keeps the current curves. *Remove* returns the animator's curves to their state before TCB.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from functools import partial

import bpy
import numpy as np

from ..arguments import checked
from ..bake.locks import baked_curves, unlock
from ..chosen_paths import WholePath
from ..fcurves.channels import Channels
from ..fcurves.cycles_modifier import remove_cycles, repeat
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import DEFAULT_AMPLITUDE, DEFAULT_BACK, DEFAULT_PERIOD, KEY_TYPE, BoolArray, Keyframes
from ..fcurves.read_keys import read
from ..fcurves.write_keys import write
from ..many import on_each
from ..report import Report
from ..store.frame_function_paths import take_name
from ..store.identities_in_keys import remove_traces
from ..store.own_keys import count_key_frames, key_frames, read_all_own_keys, read_own_keys
from ..store.table import key_identity
from ..store.tracks import Track, looks_baked
from .free_and_restore import restore_played_tracks
from .work_on_tracks import Task, TrackResult, work_on


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
    return work_on(datablock, Task(_apply, "NO_TCB_TRACK", prefixes, _keep_curves, takes_edited=True))


apply_many = on_each(apply)


def _apply(channels: Channels, datablock: bpy.types.ID, tracks: list[Track]) -> list[TrackResult | None]:
    return [_apply_track(channels, datablock, track) for track in tracks]


def _apply_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> TrackResult | None:
    if not track.enabled and track.frame_curve is None:
        return None
    _remove_function(channels, datablock, track)
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
    if bake is not None:
        unlock(baked_curves(track))
    return TrackResult(count_key_frames(own_keys))


def _keep_curves(_channels: Channels, track: Track) -> str:
    """Convert the keys on a track without a valid table entry to ordinary keys, and unlock the curves."""
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
    return work_on(datablock, Task(_remove, "NO_TCB_TRACK", prefixes, _keep_identified_keys))


remove_many = on_each(remove)


def remove_tracks(datablock: bpy.types.ID, paths: Collection[str], only: Hashable = None) -> Report:
    """Remove TCB from the tracks with exactly these paths, but keep their frame functions.

    `only` is the identity of the set of F-curves to search. If None, all sets are searched.
    """
    work = partial(_remove, keeps_functions=True)
    return work_on(datablock, Task(work, "", list(map(WholePath, paths)), _keep_identified_keys, only=only))


def _remove(
    channels: Channels, datablock: bpy.types.ID, tracks: list[Track], keeps_functions: bool = False
) -> list[TrackResult | None]:
    results = restore_played_tracks(channels, datablock, tracks)
    for number, track in enumerate(tracks):
        removes_function = track.frame_curve is not None and not keeps_functions
        if results[number] is None and (track.enabled or removes_function):
            results[number] = TrackResult(len(key_frames(track)))
        if not (track.frame_curve is not None and keeps_functions):
            _remove_function(channels, datablock, track)
    enabled = [track for track in tracks if track.enabled]
    for track, own_keys in zip(enabled, read_all_own_keys(enabled), strict=True):
        for index, own in own_keys.items():
            remove_traces(track.channels[index], own)
    return results


def _remove_function(channels: Channels, datablock: bpy.types.ID, track: Track) -> None:
    if track.frame_curve is not None:
        channels.remove(track.frame_curve)
        track.frame_curve = None
    take_name(datablock, track.path)


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
