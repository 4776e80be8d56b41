# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore: take the bake away and put the animator's curves back, to the last bit where nothing was edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import bpy

from ...words import rpt_
from ..datablocks import name_of
from ..faults import Refusal
from ..fcurves.channels import Channels, channels_of
from ..fcurves.frames import union
from ..fcurves.keyframes import extrapolate, read, write
from ..live.switching import switch_off
from ..report import Report
from ..store.companions import give_names, remove_strays, split, take_names
from ..store.frame_functions import curve_of
from ..store.originals import Originals, put_back
from ..store.pairing import follow, pair
from ..store.reading import key_frames, read_originals
from ..store.settings import check_schema, write_settings
from ..store.stamps import is_stamped
from ..store.tracks import Track, find_tracks
from .enabling import check_editable


@dataclass(frozen=True)
class _Done:
    """What was put back: at how many frames there are keys, and what a person should know."""

    keys: int
    note: str


_Work = Callable[[Channels, bpy.types.ID, Track], _Done | None]
"""None: there was nothing to do."""


def restore(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Put the F-curves of the datablock's baked tracks back; edits made since the bake are kept.

    Parameters and choices stay, and the action is no longer live. Raises Refusal where nothing is baked, or it can't
    be written to.
    """
    report = _take_away(datablock, prefixes, _restore_track)
    if not report.tracks and not report.refusals:
        raise Refusal(name_of(datablock), rpt_("nothing on it is baked"), nothing_to_do=True)
    return report


def remove(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Restore, and take the parameters and choices away too: the tracks are as if they had never been TCB.

    Raises Refusal where no track is TCB, or it can't be written to.
    """
    report = _take_away(datablock, prefixes, _remove_track)
    if not report.tracks and not report.refusals:
        raise Refusal(name_of(datablock), rpt_("it has no TCB track"), nothing_to_do=True)
    report.notes += _function_left(datablock)
    return report


def remove_track(datablock: bpy.types.ID, path: str) -> Report:
    """The same of one track that gets other keys: not of others whose paths start like its own, as size_y does like
    size. Its frame function stays, which is not of its keys."""

    def work(channels: Channels, owner: bpy.types.ID, track: Track) -> _Done | None:
        done = _remove_track(channels, owner, replace(track, frame_curve=None))
        if track.frame_curve is not None:
            give_names(owner, path)
        return done

    report = _take_away(datablock, [path], work, lambda track: track.path == path)
    report.notes += _function_left(datablock)
    return report


def _function_left(datablock: bpy.types.ID) -> list[str]:
    """That the frame function of the datablock is there yet, where no track is TCB any more.

    It is no track's, and an animator may have shaped it, so it is not removed; but the next bake will play it.
    """
    if curve_of(datablock) is None or any(track.enabled for track in find_tracks(datablock, channels_of(datablock))):
        return []
    return [str(Refusal(name_of(datablock), rpt_("its frame function stays; the cross in Timing takes it away")))]


def _take_away(
    datablock: bpy.types.ID,
    prefixes: Iterable[str] | None,
    work: _Work,
    among: Callable[[Track], bool] = lambda _track: True,
) -> Report:
    """Do the work on each track that is `among` them; one that is locked is refused and left alone."""
    check_editable(datablock)
    channels = channels_of(datablock)
    if channels.action.library is not None:
        raise Refusal(name_of(datablock), rpt_('its action "{:s}" is linked; open its own file', channels.action.name))
    report = Report.on([datablock])
    remove_strays(channels)
    tracks = list(filter(among, find_tracks(datablock, channels, prefixes)))
    for track in tracks:
        if track.settings_curve is not None:
            check_schema(track.settings_curve, track.name, track.path)
    for track in tracks:
        if track.locked:
            if track.enabled or track.saved:
                report.refusals.append(track.refusal(rpt_("locked; unlock its channels first")))
            continue
        done = work(channels, datablock, track)
        if done is None:
            continue
        report.tracks += 1
        report.keys += done.keys
        if done.note:
            report.notes.append(str(track.refusal(done.note)))
    if report.tracks:
        said = switch_off(channels.action)
        report.notes += [said] if said else []
    channels.action.update_tag()
    return report


def _restore_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    if not track.saved and not any(is_stamped(fcurve) for fcurve in track.channels.values()):
        return None
    kept = read_originals(track)
    pair(track, kept)
    note = follow(track)
    for index in list(track.channels):
        if index in kept:
            _put_channel_back(channels, track, index, kept[index])
            if len(kept[index].unrecorded):
                frames = ", ".join(f"{frame:g}" for frame in kept[index].unrecorded[:3])
                note = rpt_("keys made since the bake get automatic handles: frame {:s}", frames)
        elif len(track.channels[index].sampled_points) and index in track.saved:
            _rebuild(channels, track, index)
            note = rpt_("component {:d} was converted to samples since the bake; its keys are those of before", index)
        else:
            note = take_channel(channels, datablock, track, index) or note
    for saved in track.saved.values():
        channels.remove(saved)
    track.saved.clear()
    if track.settings_curve is not None:
        try:
            write_settings(track.settings_curve, replace(track.settings, shown=False, digest=0, options=None))
        except Refusal as refusal:
            note = refusal.reason
    return _Done(len(union([original.keys.frames for original in kept.values()])), note)


def _remove_track(channels: Channels, datablock: bpy.types.ID, track: Track) -> _Done | None:
    done = _restore_track(channels, datablock, track)
    companions = list(track.companions)
    companions += [track.frame_curve] if track.frame_curve is not None else []
    if done is None and companions:
        done = _Done(len(key_frames(track)), "")
    for companion in companions:
        channels.remove(companion)
    take_names(datablock, track.path)
    return done


def _put_channel_back(channels: Channels, track: Track, index: int, original: Originals) -> None:
    fcurve = track.channels[index]
    saved = track.saved.get(index)
    if saved is not None and fcurve.extrapolation == "CONSTANT":
        extrapolate(fcurve, saved.extrapolation)
    put_back(fcurve, original)


def _rebuild(channels: Channels, track: Track, index: int) -> None:
    """A curve of its own again for a channel whose keys are in its record only."""
    group = track.group_name
    channels.remove(track.channels.pop(index))
    track.channels[index] = channels.new(track.path, index, group)
    extrapolate(track.channels[index], track.saved[index].extrapolation)
    write(track.channels[index], read(track.saved[index]))


def take_channel(channels: Channels, datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Take away a channel that has no keys of the animator's; returns what a person should know.

    Where the bake made it, the property gets its value back.
    """
    rest = track.made.get(index)
    channels.remove(track.channels.pop(index))
    if index in track.saved:
        channels.remove(track.saved.pop(index))
    if rest is None:
        return rpt_("component {:d} had no keys of its own any more, so its curve is gone", index)
    owner_path, name = split(track.path)
    owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    getattr(owner, name)[index] = rest
    return ""
