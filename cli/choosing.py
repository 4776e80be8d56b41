# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the datablocks of the open file to process, and find their F-curves and tracks."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import bpy

from .. import animation
from ..animation import Finding
from ..animation.datablocks import HAS_SLOTS, name_of
from ..animation.fcurves.channels import Channels, channels_of, layered_reason
from ..animation.store.editable import editable_sets, has_keys
from ..animation.store.find_tracks import find_tracks
from ..animation.store.paths import is_velocity
from ..animation.store.table.custom_property import read_table
from ..animation.store.tracks import Track, looks_baked
from .arguments import Job
from .outcome import Outcome

_PROPOSED = 3
"""Maximum number of similar object names that a message suggests."""
_KINDS = {"free": "BAKED", "restore": "PLAYED", "apply": "", "remove": ""}
"""The kinds of tracks for verbs that also process damaged tables and tracks whose F-curves were deleted."""


def choose(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks that need processing.

    Objects requested by name are always returned, but may be rejected later. Linked datablocks are skipped unless they
    are requested by name.
    """
    chosen: dict[bpy.types.ID, None] = {}
    linked: dict[bpy.types.ID, None] = {}
    reasons_not_read: dict[bpy.types.ID, tuple[Finding, ...]] = {}
    names = job.given.objects
    requested = matching_objects(names, outcome) if names else [None]
    for obj in requested:
        datablocks = _of_file() if obj is None else animation.of_object(obj)
        to_process = [datablock for datablock in datablocks if _has_work(datablock, job.work)]
        for datablock in to_process:
            (chosen if datablock.library is None else linked)[datablock] = None
        layered = [datablock for datablock in datablocks if datablock not in to_process and _is_layered(datablock)]
        reasons_not_read |= {datablock: reasons_without_channels(datablock) for datablock in layered}
        if obj is not None and obj.name in names and (obj.library is not None or not to_process):
            chosen[obj] = None
    for datablock, reasons in reasons_not_read.items():
        outcome.report.notes += reasons if datablock not in chosen else ()
    skipped = [datablock for datablock in linked if datablock not in chosen]
    outcome.report.notes += [Finding("LEFT_TO_OWN_FILE", name_of(datablock)) for datablock in skipped]
    if skipped and not chosen:
        outcome.nothing_to_do = Finding("NOTHING_BUT_LINKED")
    return list(chosen)


def _of_file() -> list[bpy.types.ID]:
    """Return the animated datablocks of the file. An override replaces its linked object."""
    overridden = {obj.override_library.reference for obj in bpy.data.objects if obj.override_library is not None}
    return [datablock for datablock in animation.of_file() if datablock not in overridden]


def matching_objects(patterns: Sequence[str], outcome: Outcome) -> list[bpy.types.Object]:
    """Return the objects that match any pattern, or all objects without patterns.

    A pattern selects linked objects only if it matches no local object. A pattern without a match adds a note. If no
    pattern matches, the file needs no processing.
    """
    if not patterns:
        return list(bpy.data.objects)
    objects: dict[bpy.types.Object, None] = {}
    unmatched = []
    for pattern in patterns:
        matches = [obj for obj in bpy.data.objects if obj.name == pattern or fnmatch.fnmatchcase(obj.name, pattern)]
        objects |= dict.fromkeys([obj for obj in matches if obj.library is None] or matches)
        if not matches:
            names = [obj.name for obj in bpy.data.objects]
            near = difflib.get_close_matches(pattern, names, n=_PROPOSED, cutoff=0.5) or names
            unmatched.append(Finding("NO_OBJECT_MATCHES" if names else "NO_OBJECT", arguments=(pattern, tuple(near))))
    if unmatched and not objects:
        outcome.nothing_to_do = unmatched.pop(0)
    outcome.report.notes += unmatched
    return list(objects)


def datablocks_of_objects(patterns: Sequence[str], outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks of the objects that match any pattern (see `matching_objects`)."""
    objects = matching_objects(patterns, outcome)
    return list(dict.fromkeys(datablock for obj in objects for datablock in animation.of_object(obj)))


def _has_work(datablock: bpy.types.ID, work: str) -> bool:
    """Return whether the datablock needs processing."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    if _is_layered(datablock):
        # This is an error for verbs that would change other actions. Only the table describes the tracks.
        table = read_table(data.action)
        return work in ("enable-and-bake", "enable") or bool(table.error or table.tracks)
    if HAS_SLOTS and data.action is not None and data.action_slot is None:
        # The generated curves are unknown, so baking is an error and there is nothing to remove.
        return work in ("bake", "enable-and-bake", "enable")
    if work == "no-velocities":
        return any(is_velocity(fcurve.data_path) for channels in sets_of(datablock) for fcurve in channels)
    if any(map(_HAS_WORK[work], tracks_of(datablock))):
        return True
    return work in _KINDS and _has_entries(datablock, _KINDS[work])


def _has_entries(datablock: bpy.types.ID, kind: str) -> bool:
    """Check whether the action's table is damaged or has entries of this kind for the datablock's slot."""
    for channels in sets_of(datablock):
        table = read_table(channels.action)
        if table.error or table.has_tracks(channels.slot_handle, "", kind):
            return True
    return False


def _is_layered(datablock: bpy.types.ID) -> bool:
    """Return whether an action with several layers or strips animates the datablock."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    return data.action is not None and bool(layered_reason(data.action))


def _has_tcb_data(track: Track) -> bool:
    return track.enabled or track.frame_curve is not None or looks_baked(track)


_HAS_WORK: dict[str, Callable[[Track], bool]] = {
    "bake": lambda track: track.enabled or bool(track.table.error),
    "enable-and-bake": has_keys,
    "enable": lambda track: has_keys(track) and not track.enabled,
    "reduce": lambda track: has_keys(track) and not track.enabled,
    "velocities": lambda track: track.enabled and track.in_use,
    "free": lambda track: track.is_baked or looks_baked(track),
    "restore": lambda track: track.is_played or looks_baked(track),
    "apply": _has_tcb_data,
    "remove": _has_tcb_data,
}
"""Functions that check whether a verb has work on a track, by `Job.work`."""


def tracks_of(datablock: bpy.types.ID) -> list[Track]:
    """Return all tracks, including unused rotation modes. The list is empty if nothing animates the datablock.

    The tracks come from the datablock's action and from the actions of NLA strips that a bake includes.
    """
    return [track for channels in sets_of(datablock) for track in find_tracks(datablock, channels)]


def sets_of(datablock: bpy.types.ID) -> list[Channels]:
    """Return the F-curves of the datablock's action and of NLA strips that a bake includes, even if linked."""
    sets = []
    with suppress(animation.AnimationError):
        sets.append(channels_of(datablock))
    with suppress(animation.AnimationError):
        sets += editable_sets(datablock).sets
    return list({channels.identity: channels for channels in sets}.values())


def reasons_without_channels(datablock: bpy.types.ID) -> tuple[Finding, ...]:
    """Return the reasons why no F-curves animate the datablock, or none if F-curves animate it."""
    try:
        channels_of(datablock)
    except animation.AnimationError as refusal:
        return refusal.findings
    return ()
