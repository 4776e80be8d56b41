# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of a bake into the actions that the animator's keys are in, and what the table keeps of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import attrgetter

import bpy
import numpy as np

from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, assign, evaluate_anew
from ..fcurves.cycles import repeat
from ..fcurves.editable import editable_channels
from ..fcurves.keyframes import (
    BY_NUMBERS,
    INTERPOLATION,
    SIDES,
    Joined,
    Keyframes,
    Write,
    extrapolate,
    read_joined,
    write_some,
)
from ..fcurves.selection_flags import selecting
from ..report import Report
from ..store.digest import digest
from ..store.enable_tracks import new_state
from ..store.own_keys import NO_OWN_KEYS, OwnKeys, own_end_to_end
from ..store.paths import remove_strays, split
from ..store.record_rows import Part, as_written, recorded
from ..store.table import identity
from ..store.table.custom_property import GENERATED, Channel, Error, Extrapolation, State, Written, update
from ..store.table.rows import joined
from ..store.tracks import Track, find_tracks
from ..translation import n_, rpt_
from .compose import Composed, baked_keys
from .job import Job
from .notes import count_track, note_doubts, note_of_gltf, note_of_one_bake
from .plans.protocol import Baked, ChannelKeys, TrackPlan

_KEYS_AT_ONCE = 20_000
"""Keys that are composed together; they take some megabytes."""


_ARE_ALONE = attrgetter("are_alone")
_ROUNDED = 1e-6
"""Relative. Blender's rounding when it places handles."""


def write_in_place(job: Job, every: Sequence[Baked]) -> Report:
    report = Report.on(job.datablocks)
    report.notes += job.notes
    remove_strays(job.channels)
    with selecting(job.channels.action) as keys:
        write_tracks(job, every, report, keys.write)
    with scratch_curves.kept():
        for plan, baked in zip(job.plans, every, strict=True):
            note_of_one_bake(report, plan, baked)
            note_of_gltf(report, plan, baked)
    evaluate_anew(job.channels.action)
    return report


def write_tracks(job: Job, every: Sequence[Baked], report: Report, write: Write, keep: bool = False) -> None:
    """Write the channels of all tracks, and their entries in the table.

    `keep`: leave the keys in `Track.written`, so that they need not be read again; they are most of a bake's memory.
    """
    for plan in job.plans:
        note_doubts(report, plan.track, plan.own.values())
    # Blender compares a new F-curve with all others, which is fastest while the processor's cache has nothing else.
    notes = [
        _make_curves(job.channels, job.datablocks[0], plan, baked) for plan, baked in zip(job.plans, every, strict=True)
    ]
    generated = _Generated(every)
    written = list(_written(job.plans, job.states, every, generated, write, keep))
    for plan, state, baked, found in zip(job.plans, written, every, notes, strict=True):
        plan.track.state = state
        count_track(report, plan, baked, found)
    known = job.plans[0].track.table
    table = update(job.channels.action, job.rows, written, known=known, generated=generated.every)
    for plan in job.plans:
        plan.track.table = table


def _state_of(channels: Channels, plan: TrackPlan) -> State:
    track = plan.track
    if track.state is not None:
        return track.state
    return new_state(channels.action, track.table, channels.slot_handle, track.path, plan.settings)


def with_rows(jobs: Sequence[Job]) -> list[Job]:
    """Give the keys of all jobs rows and identities, on channels that can be edited."""
    jobs = [job if job.channels.action.library is None else _on_a_local_copy(job) for job in jobs]
    states = [[_state_of(job.channels, plan) for plan in job.plans] for job in jobs]
    named, rows = recorded(
        [
            Part(state.identity, index, own, index in state.channels)
            for job, own_states in zip(jobs, states, strict=True)
            for plan, state in zip(job.plans, own_states, strict=True)
            for index, own in plan.own.items()
        ]
    )
    if not any(map(len, rows)):
        return [replace(job, states=own_states) for job, own_states in zip(jobs, states, strict=True)]
    owns, fresh = iter(named), iter(rows)
    result = []
    for job, own_states in zip(jobs, states, strict=True):
        plans = [plan.with_own({index: next(owns) for index in plan.own}) for plan in job.plans]
        own_rows = joined([next(fresh) for plan in plans for _ in plan.own])
        result.append(replace(job, plans=plans, states=own_states, rows=own_rows))
    return result


def _on_a_local_copy(job: Job) -> Job:
    """Move the job to the override's own copy of its linked action."""
    channels = editable_channels(job.datablocks[0], job.notes)
    for other in job.datablocks[1:]:
        assign(other, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    plans = [replace(plan, track=tracks[plan.track.path]) for plan in job.plans]
    return replace(job, channels=channels, plans=plans)


def _make_curves(channels: Channels, datablock: bpy.types.ID, plan: TrackPlan, baked: Baked) -> list[str]:
    """Make the F-curves that the bake needs, and remove the channels that it leaves without keys; return notes."""
    track = plan.track
    needed = [index for keys in baked.channels for index in keys.components]
    notes = [
        take_channel(channels, datablock, track, index)
        for index in list(track.channels)
        if index not in needed and index not in plan.own
    ]
    for index in needed:
        if index not in track.channels:
            track.channels[index] = channels.new(track.path, index, track.group)
    return [note for note in notes if note]


CURVE_GONE = n_("component {:d} had no keys of its own any more, so its curve is gone")


def take_channel(channels: Channels, datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Remove a channel that has no keys of the animator's; return a note for the user, which may be empty.

    If the bake made the channel, the property gets its value back.
    """
    rest = track.made.get(index)
    channels.remove(track.channels.pop(index))
    if rest is None:
        return rpt_(CURVE_GONE, index)
    owner_path, name = split(track.path)
    owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    getattr(owner, name)[index] = rest
    return ""


class _Generated:
    """The generated keys of all channels as the table stores them: one array, which the table takes without a copy."""

    def __init__(self, every: Sequence[Baked]) -> None:
        channels = [keys for baked in every for keys in baked.channels]
        sizes = [keys.values.size for keys in channels]
        self.every = np.empty(sum(sizes), dtype=GENERATED)
        ends = accumulate(sizes)
        self._parts = {
            id(keys): self.every[end - size : end].reshape(keys.values.shape)
            for keys, size, end in zip(channels, sizes, ends, strict=True)
        }

    def of(self, keys: ChannelKeys) -> Written:
        """Fill in the generated keys of channels, and return them, one row a channel."""
        part = self._parts[id(keys)]
        part["frame"], part["value"] = keys.frames, keys.values
        return part


def _written(
    plans: Sequence[TrackPlan],
    states: Sequence[State],
    every: Sequence[Baked],
    generated: _Generated,
    write: Write,
    keep: bool,
) -> Iterator[State]:
    """Write the baked keys of tracks; yield each track's entry in the table."""
    found: list[dict[int, Channel]] = [{} for _ in plans]
    for members in _composed_together(plans, every):
        alike = [(plans[number], states[number], keys, found[number]) for number, keys in members]
        _write_alike(alike, generated, write, keep)
    for plan, state, baked, own in zip(plans, states, every, found, strict=True):
        channels = {index: own[index] for keys in baked.channels for index in keys.components}
        settings = plan.settings.with_digest(digest(plan.track, plan.settings, plan.own, plan.function))
        error = Error(baked.error, baked.error_frame, baked.is_approximate) if baked.is_by_handles else None
        track = plan.track
        yield State(state.identity, track.slot, track.path, settings, channels, error)


def _composed_together(plans: Sequence[TrackPlan], every: Sequence[Baked]) -> Iterator[list[tuple[int, ChannelKeys]]]:
    """Yield the channels' keys that have one layout together, each with the number of its plan.

    NumPy's cost per call is the same for one channel as for a hundred; the number of keys is limited to save memory.
    """
    alike: dict[Hashable, list[tuple[int, ChannelKeys]]] = {}
    for number, (plan, baked) in enumerate(zip(plans, every, strict=True)):
        for keys in baked.channels:
            own = [plan.own.get(index, NO_OWN_KEYS) for index in keys.components]
            are_alone = all(map(_ARE_ALONE, own))
            alike.setdefault((own[0].timing, are_alone, *keys.layout), []).append((number, keys))
    for members in alike.values():
        _, first = members[0]
        count = max(1, _KEYS_AT_ONCE // (len(first.components) * (len(first.frames) + len(first.baked))))
        yield from (members[start : start + count] for start in range(0, len(members), count))


def _write_alike(
    members: Sequence[tuple[TrackPlan, State, ChannelKeys, dict[int, Channel]]],
    generated: _Generated,
    write: Write,
    keep: bool,
) -> None:
    """Write the keys of channels that have one layout, and record what the table stores of each."""
    keys = ChannelKeys.joined([each for _, _, each, _ in members])
    places = [(plan, state, index, found) for plan, state, each, found in members for index in each.components]
    own = [plan.own.get(index, NO_OWN_KEYS) for plan, _, index, _ in places]
    extrapolation: Extrapolation | None = "CONSTANT" if keys.holds_outside else None
    every, count = own_end_to_end(own), own[0].count
    ends = every.ends_spline[count - 1 :: count] if count else np.zeros(len(own), dtype=np.bool_)
    theirs = [plan.track.extrapolation(index) for plan, _, index, _ in places]
    goes_on = np.array([each == "LINEAR" for each in theirs])
    composed = baked_keys(Joined(_played(every, keys), [count] * len(own)), keys, ends, goes_on)
    curves = [plan.track.channels[index] for plan, _, index, _ in places]
    updated = [extrapolate(fcurve, extrapolation or each) for fcurve, each in zip(curves, theirs, strict=True)]
    before = every.as_read if all(map(_ARE_ALONE, own)) else None
    if before is not None and not len(keys.frames):
        # When the extrapolation changes, Blender updates the curve, which may move its handles. What differs in nothing
        # else is left alone: it need not have been read.
        differing, moved = composed.differing(before), np.array(updated)
        for name in ("co", *SIDES) if moved.any() else ():
            differing[name] = differing.get(name, moved) | moved
        write_some(curves, {name: getattr(composed.keys, name) for name in differing}, differing)
    else:
        write(curves, Joined(composed.keys, [len(composed.layout.frames)] * len(curves)))
    if keep and keys.chosen is None:
        _leave([(plan.track, each.components) for plan, _, each, _ in members], composed)
    noted = as_written(composed.own, every, composed.placed)
    generated_of_each = [rows for _, _, each, _ in members for rows in generated.of(each)]
    columns = zip(places, own, curves, theirs, noted, generated_of_each, strict=True)
    for (plan, state, index, found), each, fcurve, kept, own_written, made in columns:
        track = plan.track
        wrote = state.channels.get(index)
        repeat(fcurve, keys.repeats)
        if keys.chosen is not None:
            _let_blender_place(fcurve, own_written)
        rest = None if index in plan.own else track.made.get(index, track.rest[index])
        # Where the extrapolation changes, Blender places automatic handles at the ends anew.
        is_other = wrote is not None and (wrote.edited or wrote.extrapolation != kept)
        edited = each.edited or (index in plan.own and is_other)
        found[index] = Channel(kept, rest, edited, own_written, made, keys.holds_outside)


def _leave(tracks: Sequence[tuple[Track, list[int]]], composed: Composed) -> None:
    """Leave the keys just written into these channels of tracks in `Track.written`."""
    size, start = len(composed.layout.frames), 0
    for track, components in tracks:
        end = start + size * len(components)
        track.written.append((components, composed.keys.among(slice(start, end))))
        start = end


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Let Blender place handles of types that the animator chose, and record where they are."""
    fcurve.update()
    keys = read_joined([fcurve], SIDES).keys
    for side in SIDES:
        places, before = getattr(keys, side), written[side]
        # To align aligned handles again rounds them; repeated bakes must give the same bits.
        moved = (np.abs(places - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][moved] = places[moved]
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())


def _played(own: OwnKeys, group: ChannelKeys) -> Keyframes:
    """Return the own keys of channels with their identities in all floats that the baked curves do not use."""
    # Ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    baked = np.tile(group.baked, len(kinds) // len(group.baked))
    played = np.where(baked, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return identity.with_identities(own.keys, own.identities, played)
