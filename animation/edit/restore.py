# SPDX-License-Identifier: GPL-3.0-or-later
"""Free Bake, Restore, Remove and Apply: their effects on curves, parameters and the table.

*Free Bake* restores the animator's keys as they were before the bake. *Restore* returns the animator's curves to their
state before TCB, and keeps the parameters. *Remove* also deletes the parameters. *Apply* keeps the current curves and
deletes the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import compress

import bpy
import numpy as np

from ..arguments import checked
from ..bake.locks import unlock
from ..bake.pipeline import rebake
from ..bake.put_back import free_tracks, restore_tracks
from ..datablocks import action_strips, animation_data, name_of
from ..errors import AnimationError, Finding
from ..fcurves.action_refusals import layered_reason
from ..fcurves.channels import Channels, assign, channels_of, evaluate_anew
from ..fcurves.cycles_modifier import remove_cycles, repeat
from ..fcurves.frames import union
from ..fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    KEY_TYPE,
    BoolArray,
    Keyframes,
    read,
    write,
)
from ..fcurves.linked_data import editable_channels
from ..options import FREE
from ..records import record
from ..report import Report
from ..store.action_and_strips import editable_sets
from ..store.actions.live_switch import switch_off
from ..store.actions.table_upkeep import tracks_of_removed_slots
from ..store.edited_outside import edited_outside
from ..store.frame_functions import curve_of
from ..store.own_keys import OwnKeys, key_frames, read_all_own_keys, read_own_keys
from ..store.paths import give_name, remove_strays, take_name
from ..store.record_rows import remove_traces
from ..store.table import key_identity
from ..store.table.custom_property import Bake, TrackState, has_played_tracks, read_table, remove_table, update
from ..store.table.stored_bake_options import Options
from ..store.tracks import Track, find_tracks, looks_baked, lost_tracks


@record()
class _Done:
    """The result for one track: the number of frames with keys, and the code of a note (empty if none)."""

    keys: int
    note: str


_Work = Callable[[Channels, bpy.types.ID, list[Track]], list[_Done | None]]
"""Function that returns a result for each track, or None for unchanged tracks."""
_Strip = Callable[[Channels, Track], None]


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
    report = _work_on(datablock, _Task(_free, "NOTHING_BAKED", prefixes, takes_edited=discard_edits))
    _play_freed(datablock, prefixes, report)
    return report


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
            done = rebake([datablock], channels, tracks, Options(output="HANDLES"))
            report.errors += done.errors
            report.notes += done.notes


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
    return _work_on(datablock, _Task(_restore, "NOTHING_PLAYED", prefixes))


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
    return _work_on(datablock, _Task(_remove, "NO_TCB_TRACK", prefixes, _strip))


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
    return _work_on(datablock, _Task(_apply, "NO_TCB_TRACK", prefixes, _make_plain, takes_edited=True))


def remove_tracks(datablock: bpy.types.ID, paths: Collection[str], only: Hashable = None) -> Report:
    """Remove TCB from the tracks with exactly these paths, but keep their frame functions.

    For example, the path `size` does not match `size_y`, whereas the prefix `size` does. `only` is the identity of the
    F-curves to search.
    """

    def work(channels: Channels, owner: bpy.types.ID, tracks: list[Track]) -> list[_Done | None]:
        curves = [track.frame_curve for track in tracks]
        for track in tracks:
            track.frame_curve = None
        done = _remove(channels, owner, tracks)
        for track, curve in zip(tracks, curves, strict=True):
            track.frame_curve = curve
            if curve is not None:
                give_name(owner, track.path)
        return done

    return _work_on(datablock, _Task(work, "", None, _strip, paths=paths), only)


def _function_left(datablock: bpy.types.ID) -> list[Finding]:
    """Return a note if the datablock's last TCB track was removed but the datablock's frame function remains.

    The frame function is kept, because it does not belong to a track, and an animator may have edited it. The next bake
    will use it.
    """
    if curve_of(datablock) is None or any(track.enabled for track in find_tracks(datablock, channels_of(datablock))):
        return []
    return [Finding("TIMING_STAYS", name_of(datablock))]


@record()
class _Task:
    """The work to do on each track of a datablock. Locked tracks are reported as errors."""

    work: _Work
    nothing: str
    """Code of the error if there is no track to process. Empty if the absence of tracks is not an error."""
    prefixes: Iterable[str] | None
    strip: _Strip | None = None
    """Function that removes all traces of TCB from a track without a table entry. If given, table entries are
    removed."""
    takes_edited: bool = False
    """True if tracks that were edited outside TCB are also processed."""
    paths: Collection[str] | None = None
    """The exact paths of the tracks. If None, all tracks with the prefixes are processed."""


def _work_on(datablock: bpy.types.ID, task: _Task, only: Hashable = None) -> Report:
    """Process tracks in the datablock's action, and in NLA strips with TCB tracks.

    `only` is the identity of the F-curves to process. If the task removes entries, a damaged table is removed
    completely.
    """
    report = Report.on([datablock])
    lost = task.strip is not None and _remove_lost_slots(datablock, report)
    sets: list[Channels] = []
    try:
        editable = editable_sets(datablock, takes_plain=False)
        report.errors += editable.refused
        sets = [channels for channels in editable.sets if only in (None, channels.identity)]
    except AnimationError:
        if not lost:
            raise
    refused: list[Finding] = []
    refusals = 0
    for channels in sets:
        try:
            _work_in(channels, datablock, report, task)
        except AnimationError as refusal:
            refused += refusal.findings
            refusals += 1
    if refused and refusals == len(sets):
        raise AnimationError(*refused)
    report.errors += refused
    if task.nothing and not report.tracks:
        raise AnimationError(*(report.errors or [Finding(task.nothing, name_of(datablock))]))
    if task.strip is not None:
        report.notes += _function_left(datablock)
    return report


def _work_in(linked: Channels, datablock: bpy.types.ID, report: Report, task: _Task) -> None:
    """Process the tracks of one set of F-curves, and add the results to the report."""
    strip = task.strip
    table = read_table(linked.action)
    if table.error and (table.newer or strip is None):
        raise AnimationError(table.error.on(name_of(datablock)))
    channels = editable_channels(datablock, report.notes) if linked.action.library is not None else linked
    action = channels.action
    remove_strays(channels)
    tracks = _tracks_of(datablock, channels, task)
    if table.error:
        _remove_damaged(channels, tracks, report, strip or _strip)
        return
    before = report.tracks
    had_state = {track.path: track.state is not None for track in tracks}
    states: list[TrackState] = []
    damaged: list[int] = []
    stripped: dict[str, _Done] = {}
    chosen: list[Track] = []
    for track in _unlocked(tracks, report, task):
        done = _stripped(channels, track, strip, damaged) if strip is not None else None
        if done is not None:
            stripped[track.path] = done
        chosen.append(track)
    worked = iter(task.work(channels, datablock, [track for track in chosen if track.path not in stripped]))
    for track in chosen:
        done = stripped[track.path] if track.path in stripped else next(worked)
        if done is None:
            continue
        if had_state[track.path] and track.state is not None:
            states.append(track.state)
        report.tracks += 1
        report.keys += done.keys
        if done.note:
            report.notes.append(track.finding(done.note))
    if report.tracks == before and linked.action != action:
        assign(datablock, linked.action, linked.slot_handle)
        bpy.data.actions.remove(action)
        return
    _update_table(action, states, damaged, strip is not None)
    if report.tracks > before and not has_played_tracks(action):
        report.notes += switch_off(action)
    evaluate_anew(action)


def _unlocked(tracks: Sequence[Track], report: Report, task: _Task) -> Iterator[Track]:
    """Yield the tracks that can be changed. Report all other tracks."""
    for track, is_edited in zip(tracks, edited_outside(tracks), strict=True):
        if is_edited and not task.takes_edited:
            report.errors.append(track.finding("EDITED_OUTSIDE"))
            continue
        reason = _reason_left(track, task.strip is not None)
        if reason:
            report.errors.append(reason)
        elif not track.locked or track.enabled or looks_baked(track):
            yield track


def _stripped(channels: Channels, track: Track, strip: _Strip, damaged: list[int]) -> _Done | None:
    """Call `strip` for a track whose table entry is damaged or missing. Return None for other tracks.

    Append the identity of a damaged entry to `damaged`.
    """
    if track.table.error:
        strip(channels, track)
        found = track.table.identity_of.get((track.slot, track.path))
        damaged += [] if found is None else [found]
        return _Done(len(key_frames(track)), "TABLE_PART_REMOVED")
    if track.state is None and looks_baked(track):
        strip(channels, track)
        return _Done(len(key_frames(track)), "KEPT_IDENTIFIED_KEYS" if strip is _strip else "KEPT_CURVES")
    return None


def _tracks_of(datablock: bpy.types.ID, channels: Channels, task: _Task) -> list[Track]:
    """Return the tracks to process, including baked tracks that have lost their F-curves."""
    tracks = find_tracks(datablock, channels, task.prefixes)
    if read_table(channels.action).baked:
        every = tracks if task.prefixes is None else find_tracks(datablock, channels)
        starts = "" if task.prefixes is None else tuple(task.prefixes)
        tracks += [track for track in lost_tracks(datablock, channels, every) if track.path.startswith(starts)]
    return [track for track in tracks if task.paths is None or track.path in task.paths]


def _update_table(action: bpy.types.Action, states: list[TrackState], damaged: list[int], removes: bool) -> None:
    """Write the tracks' states to the table, or remove the tracks' entries and damaged entries."""
    gone = [*(state.identity for state in states), *damaged]
    if gone and removes:
        remove_entries(action, gone)
    elif states:
        update(action, states=states)


def remove_entries(action: bpy.types.Action, tracks: Iterable[int]) -> None:
    """Remove tracks from the table by their identities. Remove the table if it becomes empty."""
    update(action, removed=tracks)
    if not read_table(action).tracks:
        remove_table(action)


def _remove_lost_slots(datablock: bpy.types.ID, report: Report) -> bool:
    """Remove entries of tracks whose slot was removed from the datablock's action.

    Return whether any entry was removed.
    """
    if datablock.library is not None:
        return False
    data = animation_data(datablock)
    own = None if data is None else data.action
    every = [own, *(strip.action for strip in action_strips(datablock))]
    actions: list[bpy.types.Action] = [action for action in dict.fromkeys(every) if action is not None]
    found = False
    for action in actions:
        lost = tracks_of_removed_slots(action) if action.is_editable and not layered_reason(action) else []
        if not lost:
            continue
        found = True
        remove_entries(action, lost)
        report.tracks += len(lost)
        report.notes.append(Finding("SLOTS_REMOVED", name_of(datablock), arguments=(len(lost),)))
    return found


def _reason_left(track: Track, removes: bool) -> Finding | None:
    """Return the reason why a track is not changed, or None if the track is changed or needs no message."""
    if not removes and track.table.error:
        return track.table.error.on(track.name, track.path)
    if not track.enabled and looks_baked(track):
        return None if removes else track.finding("TABLE_LOST")
    return track.finding("LOCKED") if track.locked and track.enabled else None


def _remove_damaged(channels: Channels, tracks: Sequence[Track], report: Report, strip: _Strip) -> None:
    """Remove a damaged table, and call `strip` for each track."""
    for track in tracks:
        strip(channels, track)
        report.tracks += 1
    remove_table(channels.action)
    report.notes.append(Finding("TABLE_REMOVED", name_of(channels.action)))
    evaluate_anew(channels.action)


def _strip(channels: Channels, track: Track) -> None:
    """Remove generated keys and identities from the track's curves, and unlock the curves. Keep the animator's keys."""
    if looks_baked(track):
        _remove_generated(channels, track)
    for fcurve in track.channels.values():
        repeat(fcurve, wanted=False)
        remove_traces(fcurve)


def _remove_generated(channels: Channels, track: Track) -> None:
    """Remove generated keys, and unlock the channels.

    The animator's keys of a rotation may have equivalent values that depend on the other channels. All channels
    therefore keep keys at frames where any channel has one of the animator's keys.
    """
    locked = {index: read(fcurve) for index, fcurve in track.channels.items() if fcurve.lock}
    unlock(track.channels[index] for index in locked)
    generated = {index: _are_generated(keys) for index, keys in locked.items()}
    frames = union([keys.frames[~generated[index]] for index, keys in locked.items()])
    for index, keys in locked.items():
        needed = np.isin(keys.frames, frames) & (track.is_rotation | generated[index].all())
        kept = ~generated[index] | needed
        if kept.any():
            write(track.channels[index], _with_plain(keys, generated[index]).take(kept))
        else:
            channels.remove(track.channels.pop(index))


def _make_plain(_channels: Channels, track: Track) -> None:
    """Convert the keys on the track's curves to ordinary keys, and unlock the curves."""
    is_baked = looks_baked(track)
    for fcurve in track.channels.values():
        remove_cycles(fcurve)
        if is_baked and fcurve.lock:
            _make_generated_plain(fcurve)
            unlock([fcurve])
        remove_traces(fcurve)


def _make_generated_plain(fcurve: bpy.types.FCurve) -> None:
    keys = read(fcurve)
    write(fcurve, _with_plain(keys, _are_generated(keys)))


def _are_generated(keys: Keyframes) -> BoolArray:
    """Return a mask of the generated keys of a baked curve."""
    generated: BoolArray = (keys.type == KEY_TYPE["GENERATED"]) & ~key_identity.carry_identities(keys)
    return generated


def _with_plain(keys: Keyframes, generated: BoolArray) -> Keyframes:
    """Return the keys. Generated keys become ordinary keys with the float attributes of new keys."""
    plain = {"amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD, "back": DEFAULT_BACK}
    floats = {name: np.where(generated, np.float32(value), getattr(keys, name)) for name, value in plain.items()}
    return keys.with_(type=np.where(generated, np.uint8(KEY_TYPE["KEYFRAME"]), keys.type), **floats)


def _free(channels: Channels, _datablock: bpy.types.ID, tracks: list[Track]) -> list[_Done | None]:
    done = [_Done(_count_saved(track.bake), "") if track.bake is not None else None for track in tracks]
    free_tracks(channels, [track for track in tracks if track.is_baked])
    return done


def _count_saved(bake: Bake) -> int:
    """Return the number of frames at which a bake has saved keys."""
    return len(union([channel.keys["co"][:, 0] for channel in bake.channels.values() if len(channel.keys)]))


def _restore(channels: Channels, _datablock: bpy.types.ID, tracks: list[Track]) -> list[_Done | None]:
    played = [track.is_played for track in tracks]
    every = iter(restore_tracks(channels, list(compress(tracks, played))))
    return [_Done(_count(next(every).values()), "") if is_played else None for is_played in played]


def _count(own: Iterable[OwnKeys]) -> int:
    """Return the number of frames at which the channels have keys."""
    return len(union([each.keys.frames for each in own]))


def restore_if_played(channels: Channels, track: Track) -> None:
    """Restore a track if a bake or handles play it."""
    if track.is_played:
        restore_tracks(channels, [track])
        assert track.state is not None
        update(channels.action, states=[track.state])


def _remove(channels: Channels, datablock: bpy.types.ID, tracks: list[Track]) -> list[_Done | None]:
    done = _restore(channels, datablock, tracks)
    for number, track in enumerate(tracks):
        if done[number] is None and (track.enabled or track.frame_curve is not None):
            done[number] = _Done(len(key_frames(track)), "")
        _remove_function(channels, datablock, track)
    enabled = [track for track in tracks if track.enabled]
    for track, every in zip(enabled, read_all_own_keys(enabled), strict=True):
        for index, own in every.items():
            remove_traces(track.channels[index], own)
    return done


def _apply(channels: Channels, datablock: bpy.types.ID, tracks: list[Track]) -> list[_Done | None]:
    return [_apply_track(channels, datablock, track) for track in tracks]


def _apply_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    if not track.enabled and track.frame_curve is None:
        return None
    _remove_function(channels, datablock, track)
    if not track.channels:
        return _Done(0, "CHANNELS_GONE")
    bake, kept = track.bake, read_own_keys(track)
    for index, fcurve in track.channels.items():
        remove_cycles(fcurve)
        if bake is not None:
            _make_generated_plain(fcurve)
            remove_traces(fcurve)
        else:
            remove_traces(fcurve, kept.get(index))
    if bake is not None:
        unlock(track.channels[index] for index in bake.channels if index in track.channels)
    return _Done(_count(kept.values()), "")


def _remove_function(channels: Channels, datablock: bpy.types.ID, track: Track) -> None:
    """Remove the track's own frame function."""
    if track.frame_curve is not None:
        channels.remove(track.frame_curve)
        track.frame_curve = None
    take_name(datablock, track.path)
