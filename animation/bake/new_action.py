# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of a bake, plain ones, into new actions; the animator's stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, assign, channels_in
from ..fcurves.cycles import remove_cycles, repeat
from ..fcurves.keyframes import NO_KEYS, Joined, Keyframes, Write, extrapolate
from ..fcurves.selection_flags import selecting
from ..report import Report
from ..store.actions.original_actions import bring_back, copied, set_aside
from ..store.paths import FRAME_FUNCTION, track_of
from ..store.record_rows import plain_keys, remove_traces
from ..store.table.custom_property import Extrapolation, remove_table
from ..translation import rpt_
from .compose import composed_plain_keys
from .job import Job
from .notes import count_track, note_doubts, note_of_one_bake
from .plans.protocol import Baked, ChannelKeys, TrackPlan
from .united_frames import with_common_frames


def write_new_actions(jobs: Sequence[Job], every: Sequence[list[Baked]]) -> Report:
    """Write the motion as plain keys into copies of the actions, and assign these to the datablocks."""
    report = Report()
    copies: dict[bpy.types.Action, bpy.types.Action] = {}
    for job, baked in zip(jobs, every, strict=True):
        original = job.channels.action
        action = copies.get(original)
        if action is None:
            if original.library is None:
                bring_back(original)
            action = copies[original] = copied(original, "baked")
        channels = next(bag for bag in channels_in(action) if bag.slot_handle == job.channels.slot_handle)
        report.add(_write_plain(job, channels, baked))
        for datablock in job.datablocks:
            assign(datablock, action, job.channels.slot_handle)
            report.notes.append(
                rpt_('"{:s}" now uses the action "{:s}"; "{:s}" is kept', datablock.name, action.name, original.name)
            )
    for original, action in copies.items():
        for channels in channels_in(action):
            _remove_functions_and_traces(channels)
        remove_table(action)
        if original.library is None:
            set_aside(original, action)
    return report


def _write_plain(job: Job, channels: Channels, every: Sequence[Baked]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels}
    with scratch_curves.kept(), selecting(channels.action) as keys:
        for plan, baked in zip(job.plans, every, strict=True):
            report.curve_keys += _write_plain_track(plan, baked, channels, fcurves, keys.write)
            count_track(report, plan, baked)
            note_of_one_bake(report, plan, baked)
            note_doubts(report, plan.track, plan.own.values())
    return report


def _write_plain_track(
    plan: TrackPlan,
    baked: Baked,
    channels: Channels,
    fcurves: Mapping[tuple[str, int], bpy.types.FCurve],
    write: Write,
) -> int:
    """Write the keys of a track's channels; return how many keys were added to those that the bake has made.

    `fcurves`: the F-curves of `channels`, by path and index; those that it lacks are made.
    """
    track = plan.track
    keys: dict[int, Keyframes] = {}
    groups: dict[int, ChannelKeys] = {}
    outside: dict[int, Extrapolation] = {}
    for group in baked.channels:
        own = [plain_keys(plan.own[i]) if i in plan.own else NO_KEYS for i in group.components]
        outside |= {
            index: "CONSTANT" if group.holds_outside or index not in plan.own else track.extrapolation(index)
            for index in group.components
        }
        goes_on = np.array([outside[index] == "LINEAR" for index in group.components])
        keys |= zip(group.components, composed_plain_keys(own, group, goes_on), strict=True)
        groups |= dict.fromkeys(group.components, group)
    written: Mapping[int, Keyframes] = keys
    if not track.is_rotation and not any(group.repeats for group in groups.values()):
        written = with_common_frames(keys, {index: each == "LINEAR" for index, each in outside.items()})
    for index, keyframes in written.items():
        fcurve = fcurves.get((track.path, index)) or channels.new(track.path, index, track.group_name)
        extrapolate(fcurve, outside[index])
        write([fcurve], Joined.of([keyframes]))
        repeat(fcurve, groups[index].repeats)
        remove_cycles(fcurve)
    return sum(map(len, written.values())) - sum(map(len, keys.values()))


def _remove_functions_and_traces(channels: Channels) -> None:
    """Remove frame functions, and the stamps and identities of keys that were not in this bake."""
    for fcurve in [each for each in channels if each.data_path == FRAME_FUNCTION or track_of(each.data_path)]:
        channels.remove(fcurve)
    for fcurve in channels:
        remove_traces(fcurve)
