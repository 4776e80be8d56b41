# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a bake: handles in the animator's keys, baked keys in locked channels, and the table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import islice

import bpy
import numpy as np

from ..errors import AnimationError
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, assign, evaluate_anew
from ..fcurves.cycles_modifier import repeat, repeats_by_us
from ..fcurves.frames import rows_at
from ..fcurves.keyframes import (
    BY_NUMBERS,
    FLAGS,
    INTERPOLATION,
    SIDES,
    BoolArray,
    IndexArray,
    Joined,
    Keyframes,
    Write,
    extrapolate,
    read_joined,
    write_some,
)
from ..fcurves.linked_data import editable_channels
from ..fcurves.selection_flags import selecting
from ..records import record
from ..report import Report
from ..store.digest import digest
from ..store.enable_tracks import new_state
from ..store.fingerprints import fingerprints
from ..store.own_curves import saved_keys
from ..store.own_keys import NO_OWN_KEYS, OwnKeys, own_end_to_end
from ..store.paths import remove_strays
from ..store.record_rows import OwnChannel, as_written, recorded
from ..store.table import key_identity
from ..store.table.custom_property import (
    Bake,
    BakedChannel,
    Channel,
    Error,
    Extrapolation,
    SavedKeys,
    TrackState,
    Written,
    update,
)
from ..store.table.rows import joined
from ..store.tracks import find_tracks
from .compose import baked_keys, differing, played_keys
from .job import Job
from .locks import lock, lock_groups
from .notes import count_track, note_of_one_bake
from .plans.protocol import AnyKeys, Baked, ChannelKeys, HandleKeys, TrackPlan
from .plans.protocol import joined as joined_keys
from .put_back import free_tracks, remove_made
from .world import WorldMotion, depth

_KEYS_AT_ONCE = 20_000
"""Number of keys to compose together, which take a few megabytes."""
_ROUNDED = 1e-6
"""Relative rounding error of handles placed by Blender."""
_PLAYED = ("co", *SIDES, "interpolation", "type", "back", "amplitude", "period")
"""Attributes to write if curves already have as many linear keys as the bake."""


def write_in_place(jobs: Sequence[Job], every: Sequence[Sequence[Baked]]) -> list[Report]:
    """Write the channels of each job. Return one report per job."""
    reports = [Report.on(job.datablocks) for job in jobs]
    for job, report in zip(jobs, reports, strict=True):
        report.notes += job.notes
        remove_strays(job.channels)
    with selecting() as keys:
        write_tracks(jobs, every, reports, keys.write)
    with scratch_curves.kept():
        for job, results, report in zip(jobs, every, reports, strict=True):
            for plan, baked in zip(job.plans, results, strict=True):
                note_of_one_bake(report, plan, baked)
    for job in jobs:
        evaluate_anew(job.channels.action)
    return reports


def write_tracks(
    jobs: Sequence[Job], every: Sequence[Sequence[Baked]], reports: Sequence[Report], write: Write
) -> None:
    """Write the channels and the table entries of all tracks.

    All jobs are written together, because a call for many tracks takes about as long as a call for one. Tracks baked in
    world space are written last, so a job with such tracks should be written separately.
    """
    members = [
        _Member(job, report, plan, state, baked, is_settled)
        for job, results, report in zip(jobs, every, reports, strict=True)
        for plan, state, baked, is_settled in zip(job.plans, job.states, results, job.are_settled, strict=True)
    ]
    by_handles = [member for member in members if member.baked.is_by_handles]
    for job in {id(member.job): member.job for member in by_handles if member.plan.track.is_baked}.values():
        to_free = [member.plan.track for member in by_handles if member.job is job and member.plan.track.is_baked]
        free_tracks(job.channels, to_free)
    others = [member for member in members if not member.baked.is_by_handles]
    in_world = [member for member in others if member.is_in_world]
    at_once = [member for member in others if not member.is_in_world]
    written: dict[int, TrackState] = {}
    for some, write_members in ((by_handles, _write_handles), (at_once, _write_bakes)):
        written |= zip(map(id, some), write_members(some, write), strict=True)
    for member in sorted(in_world, key=lambda each: depth(each.job.datablocks[0], each.plan.track)):
        # Write one track at a time, because children depend on the new motion of their parents.
        moved = _in_world(member)
        if moved is not None:
            (written[id(member)],) = _write_bakes([moved], write)
    found = iter(members)
    for job, report in zip(jobs, reports, strict=True):
        done = [member for member in islice(found, len(job.plans)) if id(member) in written]
        for member in done:
            member.plan.track.state = written[id(member)]
            count_track(report, member.plan, member.baked)
        table = update(
            job.channels.action, job.rows, [written[id(each)] for each in done], known=job.plans[0].track.table
        )
        for plan in job.plans:
            plan.track.table = table
        if not all(member.baked.is_by_handles for member in done):
            lock_groups(job.channels, table)


def _in_world(member: _Member) -> _Member | None:
    """Return the track with the keys of its motion in world space. Report a failure and return None."""
    plan = member.plan
    assert plan.settings.options is not None
    try:
        motion = WorldMotion(member.job.datablocks[0], plan.track, plan.own, plan.settings.options)
        return replace(member, baked=motion.baked())
    except AnimationError as error:
        member.report.errors += error.findings
        return None


def _state_of(channels: Channels, plan: TrackPlan) -> TrackState:
    track = plan.track
    if track.state is not None:
        return track.state
    # Nothing plays the track yet.
    settings = replace(plan.settings, digest=0, options=None)
    return new_state(channels.action, track.table, channels.slot_handle, track.path, settings)


def with_rows(jobs: Sequence[Job]) -> list[Job]:
    """Create rows and identities for the keys of all jobs. The channels become editable first."""
    jobs = [job if job.channels.action.library is None else _on_a_local_copy(job) for job in jobs]
    states = [[_state_of(job.channels, plan) for plan in job.plans] for job in jobs]
    named, rows = recorded(
        [
            OwnChannel(state.identity, index, own, index in state.channels)
            for job, own_states in zip(jobs, states, strict=True)
            for plan, state in zip(job.plans, own_states, strict=True)
            for index, own in plan.own.items()
        ]
    )
    owns, fresh = iter(named), iter(rows)
    result = []
    for job, own_states in zip(jobs, states, strict=True):
        plans, are_settled, own_rows = [], [], []
        for plan in job.plans:
            own = {index: next(owns) for index in plan.own}
            plans.append(replace(plan, own=own))
            are_settled.append(all(own[i].identities.tobytes() == plan.own[i].identities.tobytes() for i in own))
            own_rows += [next(fresh) for _ in own]
        result.append(replace(job, plans=plans, states=own_states, are_settled=are_settled, rows=joined(own_rows)))
    return result


def _on_a_local_copy(job: Job) -> Job:
    """Move the job to the override's local copy of its linked action."""
    channels = editable_channels(job.datablocks[0], job.notes)
    for other in job.datablocks[1:]:
        assign(other, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    plans = [replace(plan, track=tracks[plan.track.path]) for plan in job.plans]
    return replace(job, channels=channels, plans=plans)


def _write_handles(members: Sequence[_Member], write: Write) -> Iterator[TrackState]:
    """Write the animator's keys on each track, with the handles that play the track.

    Yield the table entry of each track.
    """
    for member in members:
        track = member.plan.track
        for index in sorted(member.plan.own.keys() - track.channels.keys()):
            track.channels[index] = member.job.channels.new(track.path, index, track.group)
    every = []
    for member in members:
        for keys in member.baked.handles:
            own = member.plan.own[keys.components[0]]
            every.append(((own.timing, own.as_read is None, *keys.layout), member, keys))
    for some in _alike(every):
        _write_alike(some, write)
    for member in members:
        plan, state, baked = member.plan, member.state, member.baked
        track, settings = plan.track, plan.settings
        settings = replace(settings, digest=digest(track, settings, plan.own, plan.function))
        error = Error(baked.error, baked.error_frame, baked.is_approximate)
        # Use the order of the animator's keys, so that repeating the bake creates the same table.
        placed = {index: member.placed[index] for index in plan.own}
        yield TrackState(state.identity, track.slot, track.path, settings, placed, error)


def _alike(
    every: Iterable[tuple[Hashable, _Member, AnyKeys]],
) -> Iterator[list[tuple[_Member, AnyKeys]]]:
    """Group tracks by the layout of their keys. Yield about `_KEYS_AT_ONCE` keys at a time."""
    groups: dict[Hashable, list[tuple[_Member, AnyKeys]]] = {}
    for layout, member, keys in every:
        groups.setdefault(layout, []).append((member, keys))
    for group in groups.values():
        count = max(1, _KEYS_AT_ONCE // group[0][1].count)
        for start in range(0, len(group), count):
            yield group[start : start + count]


def _write_alike(members: Sequence[tuple[_Member, HandleKeys]], write: Write) -> None:
    """Write the keys of channels with the same layout, and record their handles."""
    keys = joined_keys([each for _, each in members])
    places = [(member, index) for member, each in members for index in each.components]
    own = [member.plan.own[index] for member, index in places]
    every, count = own_end_to_end(own), own[0].count
    extrapolations = [member.plan.track.extrapolation(index) for member, index in places]
    goes_on = np.array([each == "LINEAR" for each in extrapolations])
    ends = every.ends_spline[count - 1 :: count]
    joined_own = Joined(_with_identities(every, keys.plays), [count] * len(own))
    composed, placed = played_keys(joined_own, keys, ends, goes_on)
    curves = [member.plan.track.channels[index] for member, index in places]
    updated = [extrapolate(fcurve, each) for fcurve, each in zip(curves, extrapolations, strict=True)]
    before = every.as_read
    if before is not None:
        # When the extrapolation changes, Blender updates the curve, which may move its handles. Unchanged attributes
        # other than handles are not written, and some of them may not have been read.
        to_write, moved = differing(composed, before, len(curves)), np.array(updated)
        for name in ("co", *SIDES) if moved.any() else ():
            to_write[name] = to_write.get(name, moved) | moved
        write_some(curves, composed, to_write)
    else:
        write(curves, Joined(composed, [count] * len(curves)))
    records = as_written(composed, every, placed)
    for (member, index), own_keys, fcurve, extrapolation, written in zip(
        places, own, curves, extrapolations, records, strict=True
    ):
        wrote = member.state.channels.get(index)
        repeat(fcurve, keys.repeats)
        if keys.chosen is not None:
            _let_blender_place(fcurve, written)
        # After a change of extrapolation, Blender updates automatic handles at the ends.
        is_other = wrote is not None and (wrote.edited or wrote.extrapolation != extrapolation)
        member.placed[index] = Channel(extrapolation, own_keys.edited or is_other, written)


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Make Blender place the handles whose type the animator chose, and record their positions."""
    fcurve.update()
    keys = read_joined([fcurve], SIDES).keys
    for side in SIDES:
        places, before = getattr(keys, side), written[side]
        # Aligning handles again would round them, but repeated bakes must produce the same bits.
        moved = (np.abs(places - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][moved] = places[moved]
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())


def _with_identities(own: OwnKeys, plays: BoolArray) -> Keyframes:
    """Return the animator's keys in the channels, with key identities in all floats that the curves do not use.

    `plays` is a mask of the keys that begin a segment of the spline.
    """
    # Searching the bytes is ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    played = np.tile(plays, len(kinds) // len(plays))
    interpolation = np.where(played, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return key_identity.with_identities(own.keys, own.identities, interpolation)


@record(eq=False)
class _Member:
    """A track to write, with its previous table entry."""

    job: Job
    report: Report
    """The report of the job."""
    plan: TrackPlan
    state: TrackState
    baked: Baked
    is_settled: bool
    """True if the keys still have the identities read from the curves."""
    placed: dict[int, Channel] = field(default_factory=dict)
    """Records of the written handles."""
    written: dict[int, BakedChannel] = field(default_factory=dict)
    """Records of the baked channels."""

    @property
    def is_in_world(self) -> bool:
        """Return whether the track is baked in world space."""
        options = self.plan.settings.options
        return options is not None and options.in_world

    @property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return self.is_settled and bool(self.state.channels)

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None


def _write_bakes(tracks: Sequence[_Member], write: Write) -> Iterator[TrackState]:
    """Write the baked keys of tracks and lock their channels. Yield the table entry of each track."""
    # Blender compares each new F-curve with all other F-curves. This is fastest before other data fill the processor's
    # cache.
    for each in tracks:
        _make_curves(each)
    for some in _alike([(keys.layout, each, keys) for each in tracks for keys in each.baked.channels]):
        _write_baked(some, write)
    for each in tracks:
        for keys in each.baked.channels:
            for index in keys.components:
                # Otherwise, an update in Blender would move the handles, and Live would bake the track again.
                # `FCurve.update` would take twice as long. Inside the loop over groups, Blender's threads would wait
                # for work.
                each.plan.track.channels[index].keyframe_points.handles_recalc()
    for each in tracks:
        plan, track = each.plan, each.plan.track
        settings = replace(plan.settings, digest=digest(track, plan.settings, plan.own, plan.function))
        # Free Bake must return to the state before the first bake.
        before = each.state.bake or each.state.settings
        bake = Bake(dict(sorted(each.written.items())), before.digest, before.options)
        records = each.state.channels if each.may_keep_records else {}
        yield TrackState(each.state.identity, track.slot, track.path, settings, records, each.state.error, bake)


def _make_curves(baking: _Member) -> None:
    """Create the F-curves that the bake needs, and remove unused F-curves created by an earlier bake."""
    track, channels = baking.plan.track, baking.job.channels
    needed = {index for keys in baking.baked.channels for index in keys.components}
    for index in track.made.keys() - needed:
        if index in track.channels:
            remove_made(channels, track, index)
    for index in sorted(needed - track.channels.keys()):
        track.channels[index] = channels.new(track.path, index, track.group)


def _write_baked(members: Sequence[tuple[_Member, ChannelKeys]], write: Write) -> None:
    """Write the keys of channels with the same layout, lock the channels, and record them."""
    keys = joined_keys([each for _, each in members])
    places = [(baking, index) for baking, each in members for index in each.components]
    own = [baking.plan.own.get(index, NO_OWN_KEYS) for baking, index in places]
    every = own_end_to_end(own)
    size = len(keys.frames)
    named = _with_identities(every, ~keys.gaps) if len(keys.rows) else every.keys
    composed = Joined(baked_keys(Joined(named, [len(keys.rows)] * len(own)), keys), [size] * len(own))
    curves = [baking.plan.track.channels[index] for baking, index in places]
    theirs = [baking.plan.track.extrapolation(index) for baking, index in places]
    written: list[Extrapolation] = ["CONSTANT" if keys.holds_outside else each for each in theirs]
    recorded_before = [baking.baked_before(index) for baking, index in places]
    repeated = [
        repeats_by_us(fcurve) if before is None else before.repeats
        for before, fcurve in zip(recorded_before, curves, strict=True)
    ]
    for fcurve, extrapolation in zip(curves, written, strict=True):
        extrapolate(fcurve, extrapolation)
        repeat(fcurve, wanted=False)
    if keys.incoming is None and keys.holds_outside and all(len(fcurve.keyframe_points) == size for fcurve in curves):
        every_curve = np.ones(len(curves), dtype=np.bool_)
        write_some(curves, composed.keys, dict.fromkeys(_PLAYED, every_curve))
    else:
        _keep_selection([each.state.bake is not None for each, _ in places], curves, composed, keys.rows)
        write(curves, composed)
    lock(curves)
    prints = fingerprints(composed, written)
    saved = _saved(members, every, len(keys.rows))
    for (baking, index), before, own_keys, extrapolation, is_repeated, fingerprint in zip(
        places, recorded_before, saved, theirs, repeated, prints, strict=True
    ):
        track = baking.plan.track
        rest = None if index in baking.plan.own else track.made.get(index, track.rest[index])
        edited = before is not None and before.edited
        baking.written[index] = BakedChannel(own_keys, extrapolation, rest, is_repeated, fingerprint, edited)


def _saved(members: Sequence[tuple[_Member, ChannelKeys]], own: OwnKeys, count: int) -> list[SavedKeys]:
    """Return the animator's keys for each channel (`count` per channel), in the form that Free Bake restores."""
    # If handles play the track, the records refer to the keys as read from the curves.
    as_read = own.as_read if any(baking.may_keep_records for baking, _ in members) else None
    every = {is_read: saved_keys(keys) for is_read, keys in ((False, own.keys), (True, as_read)) if keys is not None}
    result, start = [], 0
    for baking, keys in members:
        saved = every.get(baking.may_keep_records, every[False])
        for index in keys.components:
            before = baking.baked_before(index)
            result.append(before.keys if before is not None and baking.is_settled else saved[start : start + count])
            start += count
    return result


def _keep_selection(
    are_baked: Sequence[bool], curves: Sequence[bpy.types.FCurve], composed: Joined, rows: IndexArray
) -> None:
    """Copy the curves' current selection to the animator's keys, because the saved selection is from the first bake."""
    again = [number for number, is_baked in enumerate(are_baked) if is_baked]
    if not again or not len(rows):
        return
    shown = read_joined([curves[number] for number in again], ("co", *FLAGS))
    for number, before in zip(again, shown.channels, strict=True):
        own = composed.spans[number].start + rows
        here, there = rows_at(before.frames, composed.keys.frames[own])
        for name in FLAGS:
            getattr(composed.keys, name)[own[here]] = getattr(before, name)[there]
