# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the datablocks of the open file to process."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import bpy

from .. import animation
from ..animation import Finding
from ..animation.datablocks import HAS_SLOTS, name_of
from ..animation.edit.velocities import has_velocities
from ..animation.fcurves.action_refusals import layered_reason
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.store.editable_sets import editable_sets
from ..animation.store.table.custom_property import read_table
from ..animation.store.tracks import Track, find_tracks, looks_baked
from .arguments import Job
from .file_outcome import Outcome

_PROPOSED = 3
"""Maximum number of object names that a message suggests."""


def choose(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks that need processing.

    Objects requested by name are always returned, but may be rejected later. Linked datablocks are skipped unless they
    are requested by name.
    """
    overridden = {obj.override_library.reference for obj in bpy.data.objects if obj.override_library is not None}
    local: dict[bpy.types.ID, None] = {}
    linked: dict[bpy.types.ID, None] = {}
    not_read: dict[bpy.types.ID, tuple[Finding, ...]] = {}

    def consider(datablocks: Iterable[bpy.types.ID]) -> bool:
        """Add the datablocks that need processing."""
        something = False
        for datablock in datablocks:
            if _has_work(datablock, job.work):
                something = True
                (local if datablock.library is None else linked)[datablock] = None
            elif _is_layered(datablock):
                not_read[datablock] = reasons_without_channels(datablock)
        return something

    if not job.given.objects:
        consider(datablock for datablock in animation.of_file() if datablock not in overridden)
    for obj, pattern in named(job.given.objects, outcome).items():
        something = consider(animation.of_object(obj))
        if obj.name == pattern and (obj.library is not None or not something):
            local[obj] = None
    outcome.report.notes += [
        reason for datablock, reasons in not_read.items() if datablock not in local for reason in reasons
    ]
    left_out = [datablock for datablock in linked if datablock not in local]
    outcome.report.notes += [Finding("LEFT_TO_OWN_FILE", name_of(datablock)) for datablock in left_out]
    if left_out and not local:
        outcome.nothing_to_do = Finding("NOTHING_BUT_LINKED")
    return list(local)


def named(patterns: Sequence[str], outcome: Outcome) -> dict[bpy.types.Object, str]:
    """Return the local objects that match the patterns, or else the linked objects, with their patterns.

    A pattern without a match adds a note. If no pattern matches, the file needs no processing.
    """
    every: dict[bpy.types.Object, str] = {}
    unmatched = []
    for pattern in patterns:
        found = [obj for obj in bpy.data.objects if obj.name == pattern or fnmatch.fnmatchcase(obj.name, pattern)]
        every |= dict.fromkeys([obj for obj in found if obj.library is None] or found, pattern)
        if not found:
            names = [obj.name for obj in bpy.data.objects]
            near = difflib.get_close_matches(pattern, names, n=_PROPOSED, cutoff=0.5) or names
            unmatched.append(Finding("NO_OBJECT_MATCHES" if names else "NO_OBJECT", arguments=(pattern, tuple(near))))
    if unmatched and not every:
        outcome.nothing_to_do = unmatched.pop(0)
    outcome.report.notes += unmatched
    return every


def only_in_strips(datablock: bpy.types.ID) -> bool:
    """Check whether only NLA strips animate the datablock."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    return data.action is None and any(track.strips for track in data.nla_tracks)


def _is_layered(datablock: bpy.types.ID) -> bool:
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    return data.action is not None and bool(layered_reason(data.action))


def reasons_without_channels(datablock: bpy.types.ID) -> tuple[Finding, ...]:
    """Return the reasons why no F-curves animate the datablock. The list is empty if some do."""
    try:
        channels_of(datablock)
    except animation.AnimationError as refusal:
        return refusal.findings
    return ()


def tracks_of(datablock: bpy.types.ID) -> list[Track]:
    """Return all tracks, including unused rotation modes. The list is empty if nothing animates the datablock.

    The tracks come from its action and from the actions of NLA strips that a bake includes.
    """
    return [track for channels in sets_of(datablock) for track in find_tracks(datablock, channels)]


def sets_of(datablock: bpy.types.ID) -> list[Channels]:
    """Return the F-curves of the datablock's action and of NLA strips that a bake includes, even if linked."""
    found = []
    with suppress(animation.AnimationError):
        found.append(channels_of(datablock))
    with suppress(animation.AnimationError):
        found += editable_sets(datablock).sets
    return list({channels.identity: channels for channels in found}.values())


def has_keys(track: Track) -> bool:
    return any(len(fcurve.keyframe_points) or len(fcurve.sampled_points) for fcurve in track.channels.values())


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
_KINDS = {"free": "BAKED", "restore": "PLAYED", "apply": "", "remove": ""}
"""The kinds of tracks for verbs that also process damaged tables and tracks whose F-curves were deleted."""


def _has_work(datablock: bpy.types.ID, work: str) -> bool:
    """Return whether the datablock needs processing."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    if _is_layered(datablock):
        # This is an error for verbs that would change other actions. Only the table describes the tracks.
        table = read_table(data.action)
        return work in ("enable-and-bake", "enable") or bool(table.error or table.rows_of_tracks)
    if HAS_SLOTS and data.action is not None and data.action_slot is None:
        # The generated curves are unknown, so baking is an error and there is nothing to remove.
        return work in ("bake", "enable-and-bake", "enable")
    if work == "no-velocities":
        return has_velocities(datablock)
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
