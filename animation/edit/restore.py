# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore, Apply and Remove: what each leaves of the curves, the parameters and the table.

Restore removes the bake and writes the animator's curves back, to the last bit where nothing was edited. Remove also
removes the parameters. Apply keeps the curves as they play, and removes the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..arguments import checked
from ..bake.write import take_channel
from ..datablocks import name_of
from ..errors import LOCKED, AnimationError, note_on
from ..fcurves.channels import Channels, channels_of, evaluate_anew
from ..fcurves.cycles import remove_cycles, repeat
from ..fcurves.editable import check_editable
from ..fcurves.frames import ONE_KEY, union
from ..fcurves.keyframes import Keyframes, extrapolate, read, write
from ..records import record
from ..report import Report
from ..store.actions.live_switch import switch_off
from ..store.digest import RESTORED
from ..store.frame_functions import curve_of
from ..store.own_keys import OwnKeys, key_frames, read_keys_to_write, read_own_keys, unrecorded_note
from ..store.paths import give_name, remove_strays, take_name
from ..store.record_rows import remove_traces
from ..store.restored_keys import recorded_keys
from ..store.table.custom_property import Channel, State, has_baked_tracks, read_table, remove_table, update
from ..store.table.stamps import has_stamps, is_generated
from ..store.tracks import Track, find_tracks
from ..translation import rpt_


@record()
class _Done:
    """The result for one track: the number of frames with keys, and a note for the user."""

    keys: int
    note: str


_Work = Callable[[Channels, bpy.types.ID, Track], _Done | None]
"""None: there was nothing to do."""


@checked
def restore(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Restore the F-curves of the datablock's baked tracks; edits made since the bake are kept.

    Parameters and settings stay, and Live is switched off once no track of the action is baked.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock that was baked.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.

    Returns
    -------
    Report
        The tracks and keys that were restored.

    Raises
    ------
    AnimationError
        Nothing is baked, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball)
    >>> animation.restore(ball).tracks
    2
    >>> animation.restore(ball)
    Traceback (most recent call last):
    AnimationError: "Ball": nothing on it is baked
    """
    report = _take_away(datablock, prefixes, _restore_track)
    if not report.tracks and not report.errors:
        raise AnimationError(name_of(datablock), rpt_("nothing on it is baked"), nothing_to_do=True)
    return report


@checked
def remove(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Restore tracks, and remove their parameters and settings: the tracks are as if they had never been TCB.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.

    Returns
    -------
    Report
        The tracks and keys that are plain again.

    Raises
    ------
    AnimationError
        No track is TCB, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball)
    >>> animation.remove(ball, ["location"]).tracks
    1
    """
    report = _take_away(datablock, prefixes, _remove_track, strip=_strip)
    if not report.tracks and not report.errors:
        raise AnimationError(name_of(datablock), rpt_("it has no TCB track"), nothing_to_do=True)
    report.notes += _function_left(datablock)
    return report


@checked
def apply(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Keep the F-curves as they play now, and remove all TCB data: the result is a plain animation.

    Handles that a bake has placed stay, and generated keys become plain ones.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the tracks.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.

    Returns
    -------
    Report
        The tracks and keys that are plain now.

    Raises
    ------
    AnimationError
        No track is TCB, or the datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> report = animation.bake(ball, output="HANDLES")
    >>> animation.apply(ball).tracks
    2
    """
    report = _take_away(datablock, prefixes, _apply_track, strip=_make_plain)
    if not report.tracks and not report.errors:
        raise AnimationError(name_of(datablock), rpt_("it has no TCB track"), nothing_to_do=True)
    report.notes += _function_left(datablock)
    return report


def remove_tracks(datablock: bpy.types.ID, paths: Collection[str]) -> Report:
    """Remove TCB from the tracks with exactly these paths, which will get other keys; their frame functions stay.

    Unlike prefixes, a path `size` does not include `size_y`.
    """

    def work(channels: Channels, owner: bpy.types.ID, track: Track) -> _Done | None:
        curve, track.frame_curve = track.frame_curve, None
        done = _remove_track(channels, owner, track)
        track.frame_curve = curve
        if curve is not None:
            give_name(owner, track.path)
        return done

    report = _take_away(datablock, None, work, lambda track: track.path in paths, strip=_strip)
    report.notes += _function_left(datablock)
    return report


def _function_left(datablock: bpy.types.ID) -> list[str]:
    """Return a note on the frame function of the datablock, if it is left where no track is TCB any more.

    It belongs to no track, and an animator may have shaped it, so it is not removed; but the next bake will play it.
    """
    if curve_of(datablock) is None or any(track.enabled for track in find_tracks(datablock, channels_of(datablock))):
        return []
    return [
        note_on(
            name_of(datablock), rpt_("its frame function stays; the cross in Timing (remove_retiming) takes it away")
        )
    ]


def _take_away(
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None,
    work: _Work,
    among: Callable[[Track], bool] = lambda _track: True,
    strip: Callable[[Track], None] | None = None,
) -> Report:
    """Do the work on each track for which `among` is true; a locked track is refused and left alone.

    With `strip` the tracks' entries in the table are removed. A damaged table is removed as a whole, and `strip` called
    for each of its tracks.
    """
    channels = check_editable(datablock)
    action = channels.action
    if action.library is not None:
        raise AnimationError(name_of(datablock), rpt_('its action "{:s}" is linked; open its own file', action.name))
    report = Report.on([datablock])
    remove_strays(channels)
    tracks = list(filter(among, find_tracks(datablock, channels, prefixes)))
    table = read_table(action)
    if table.error and (table.newer or strip is None):
        raise AnimationError(name_of(datablock), table.error)
    if table.error:
        return _remove_damaged(channels, tracks, report, strip or _strip)
    states: list[State] = []
    damaged: list[int] = []
    for track in tracks:
        has_state = track.state is not None
        reason = _reason_left(track, strip is not None)
        if reason is not None:
            report.errors += [track.error(reason)] if reason else []
            continue
        if track.table.error and strip is not None:
            strip(track)
            identity = track.table.identity_at(track.slot, track.path)
            damaged += [] if identity is None else [identity]
            done = _Done(len(key_frames(track)), rpt_("its damaged part of the TCB table is gone"))
        else:
            done = work(channels, datablock, track)
        if done is None:
            continue
        if has_state and track.state is not None:
            states.append(track.state)
        report.tracks += 1
        report.keys += done.keys
        if done.note:
            report.notes.append(track.note(done.note))
    _update_table(action, states, damaged, strip is not None)
    if report.tracks and not has_baked_tracks(action):
        said = switch_off(action)
        report.notes += [said] if said else []
    evaluate_anew(action)
    return report


def _update_table(action: bpy.types.Action, states: list[State], damaged: list[int], removes: bool) -> None:
    """Write the states of tracks to the table, or remove their entries and those that are damaged from it."""
    gone = [*(state.identity for state in states), *damaged]
    if gone and removes:
        update(action, removed=gone)
        if not read_table(action).rows_of_tracks:
            remove_table(action)
    elif states:
        update(action, states=states)


def _reason_left(track: Track, removes: bool) -> str | None:
    """Return why a track is left as it is, with no text where that needs none; None where it is not left."""
    if track.locked:
        has_traces = track.enabled or any(has_stamps(fcurve) for fcurve in track.channels.values())
        return rpt_(LOCKED) if has_traces else ""
    return None if removes else track.table.error or None


def _remove_damaged(
    channels: Channels, tracks: Sequence[Track], report: Report, strip: Callable[[Track], None]
) -> Report:
    """Remove a damaged table, and call `strip` for each of the tracks."""
    for track in tracks:
        strip(track)
        report.tracks += 1
    remove_table(channels.action)
    report.notes.append(rpt_("its damaged TCB table is gone, and what it had kept of the keys with it"))
    evaluate_anew(channels.action)
    return report


def _strip(track: Track) -> None:
    """Remove generated keys, stamps and identities from the track's curves."""
    for fcurve in track.channels.values():
        own = ~is_generated(read(fcurve))
        if own.any() and not own.all():
            write(fcurve, read(fcurve).take(own))
        repeat(fcurve, wanted=False)
        remove_traces(fcurve)


def _make_plain(track: Track) -> None:
    """Make keys in the track's curves that have stamps or identities plain ones."""
    for fcurve in track.channels.values():
        remove_cycles(fcurve)
        remove_traces(fcurve)


def _restore_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    if not track.baked and not any(has_stamps(fcurve) for fcurve in track.channels.values()):
        return None
    (kept,) = read_keys_to_write([track])
    notes = []
    for index in list(track.channels):
        if index in kept:
            _put_channel_back(track, index, kept[index], kept[index].keys)
        elif len(track.channels[index].sampled_points) and index in _written(track):
            _rebuild(channels, track, index)
            note = rpt_("component {:d} was converted to samples since the bake; its keys are those of before", index)
            notes.append(note)
        else:
            notes.append(take_channel(channels, datablock, track, index))
    notes.append(unrecorded_note(kept.values()))
    if track.state is not None:
        settings = replace(track.settings, digest=RESTORED, options=None)
        track.state = replace(track.state, settings=settings, channels={})
    keys = len(union([own.keys.frames for own in kept.values()]))
    return _Done(keys, "; ".join(note for note in notes if note))


def put_back(channels: Channels, datablock: bpy.types.ID, track: Track) -> None:
    """Restore one track, where it is baked."""
    if _restore_track(channels, datablock, track) is not None and track.state is not None:
        update(channels.action, states=[track.state])


def _remove_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    done = _restore_track(channels, datablock, track)
    if done is None and (track.enabled or track.frame_curve is not None):
        done = _Done(len(key_frames(track)), "")
    _remove_function(channels, datablock, track)
    if track.enabled:
        for index, own in read_own_keys(track).items():
            remove_traces(track.channels[index], own)
    return done


def _apply_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    stamped = any(has_stamps(fcurve) for fcurve in track.channels.values())
    if not (track.enabled or stamped or track.frame_curve is not None):
        return None
    kept = read_own_keys(track)
    _remove_function(channels, datablock, track)
    for index, fcurve in track.channels.items():
        remove_cycles(fcurve)
        remove_traces(fcurve, kept.get(index))
    return _Done(len(union([own.keys.frames for own in kept.values()])), "")


def _remove_function(channels: Channels, datablock: bpy.types.ID, track: Track) -> None:
    """Remove the track's own frame function."""
    if track.frame_curve is not None:
        channels.remove(track.frame_curve)
        track.frame_curve = None
    take_name(datablock, track.path)


def _written(track: Track) -> Mapping[int, Channel]:
    return track.state.channels if track.state is not None else {}


def _put_channel_back(track: Track, index: int, own: OwnKeys, keys: Keyframes) -> None:
    fcurve, extrapolation = track.channels[index], track.extrapolation(index)
    written = _written(track).get(index)
    is_edited = own.edited or (written is not None and written.extrapolation != extrapolation)
    extrapolate(fcurve, extrapolation)
    write(fcurve, keys)
    repeat(fcurve, wanted=False)
    # An update merges keys that a mirror has left at one frame.
    if is_edited and (np.diff(keys.frames) > ONE_KEY).all():
        fcurve.update()


def _rebuild(channels: Channels, track: Track, index: int) -> None:
    """Replace the F-curve of a channel whose keys are in the table only by one with these keys."""
    group = track.group_name
    written = _written(track)[index]
    channels.remove(track.channels.pop(index))
    track.channels[index] = channels.new(track.path, index, group)
    extrapolate(track.channels[index], written.extrapolation)
    write(track.channels[index], recorded_keys(written.own))
