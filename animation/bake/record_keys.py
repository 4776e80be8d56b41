# SPDX-License-Identifier: GPL-3.0-or-later
"""Create table rows and identities for the keys of bake jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..fcurves.channels import Channels, assign
from ..fcurves.linked_data import editable_channels
from ..store.enable_tracks import new_state
from ..store.record_rows import OwnChannel, recorded
from ..store.table.custom_property import TrackState
from ..store.table.rows import joined
from ..store.tracks import find_tracks
from .job import Job
from .plans.protocol import TrackPlan


def with_rows(jobs: Sequence[Job]) -> list[Job]:
    """Create rows and identities for the keys of all jobs. First, the channels are made editable."""
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


def _state_of(channels: Channels, plan: TrackPlan) -> TrackState:
    track = plan.track
    if track.state is not None:
        return track.state
    # Nothing plays the track yet.
    settings = replace(plan.settings, digest=0, options=None)
    return new_state(channels.action, track.table, channels.slot_handle, track.path, settings)
