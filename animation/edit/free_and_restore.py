# SPDX-License-Identifier: GPL-3.0-or-later
"""Free Bake and Restore.

*Free Bake* restores the animator's keys as they were before the bake. *Restore* returns the animator's curves to their
state before TCB, and keeps the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

import bpy

from ..arguments import checked
from ..bake.free_tracks import free_tracks
from ..bake.pipeline import rebake
from ..bake.restore_tracks import restore_tracks
from ..fcurves.channels import Channels
from ..fcurves.frames import union
from ..many import on_each
from ..options import FREE
from ..report import Report
from ..store.action_and_strips import editable_sets
from ..store.find_tracks import find_tracks
from ..store.own_keys import count_key_frames
from ..store.table.custom_property import read_table, update
from ..store.table.track_records import Bake, Options
from ..store.tracks import Track
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
