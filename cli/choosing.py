# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the datablocks of the open file to process."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence

import bpy

from .. import animation
from ..animation import Finding
from ..animation.datablocks import name_of
from .job import Job
from .outcome import Outcome
from .tracks import reasons_without_channels
from .work import has_work, is_layered

_PROPOSED = 3
"""Maximum number of similar object names that a message suggests."""


def choose(job: Job, outcome: Outcome) -> list[bpy.types.ID]:
    """Return the datablocks that need processing.

    Objects requested by name are always returned, but may be rejected later. Linked datablocks are skipped unless they
    are requested by name.
    """
    chosen: dict[bpy.types.ID, None] = {}
    linked: dict[bpy.types.ID, None] = {}
    reasons_not_read: dict[bpy.types.ID, tuple[Finding, ...]] = {}
    names = job.given.objects
    datablocks_by_object = [(obj, animation.of_object(obj)) for obj in matching_objects(names, outcome)]
    for obj, datablocks in datablocks_by_object if names else [(None, _of_file())]:
        to_process = [datablock for datablock in datablocks if has_work(datablock, job.work)]
        for datablock in to_process:
            (chosen if datablock.library is None else linked)[datablock] = None
        layered = [datablock for datablock in datablocks if datablock not in to_process and is_layered(datablock)]
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
    """Return the objects that match any pattern. A pattern selects linked objects only if it matches no local object.

    A pattern without a match adds a note. If no pattern matches, the file needs no processing.
    """
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
