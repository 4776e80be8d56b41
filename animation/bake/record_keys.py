# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the keys of bake jobs rows and identities, and make their channels editable."""

from __future__ import annotations

from collections.abc import Sequence

from ..fcurves.channels import assign
from ..fcurves.linked_data import editable_channels
from ..store.enable_tracks import new_state
from ..store.find_tracks import find_tracks
from ..store.record_rows import OwnChannel, record_rows
from ..store.table.rows import ROW, joined
from ..store.table.track_records import TrackState
from .bake_job import BakeJob
from .track_bake import TrackBake


def add_rows(jobs: Sequence[BakeJob]) -> None:
    """Create rows and identities for the keys of all jobs. First, the channels are made editable."""
    for job in jobs:
        if job.channels.action.library is not None:
            _move_to_local_copy(job)
        for bake in job.tracks:
            bake.state = _state_of(bake)
    recorded_keys, rows = record_rows(
        [
            OwnChannel(bake.state.identity, index, own, index in bake.state.channels)
            for job in jobs
            for bake in job.tracks
            for index, own in bake.own.items()
        ]
    )
    next_keys, next_rows = iter(recorded_keys), iter(rows)
    for job in jobs:
        rows_of_job = []
        for bake in job.tracks:
            as_read, bake.own = bake.own, {index: next(next_keys) for index in bake.own}
            bake.keeps_identities = all(
                own.identities.tobytes() == as_read[index].identities.tobytes() for index, own in bake.own.items()
            )
            rows_of_job += [next(next_rows) for _ in bake.own]
        job.rows = joined(rows_of_job, ROW)


def _move_to_local_copy(job: BakeJob) -> None:
    """Move the job to the override's local copy of its linked action."""
    job.channels = editable_channels(job.datablocks[0], job.notes)
    for user in job.datablocks[1:]:
        assign(user, job.channels.action, job.channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], job.channels)}
    for bake in job.tracks:
        bake.track, bake.channels = tracks[bake.track.path], job.channels


def _state_of(bake: TrackBake) -> TrackState:
    """Return the track's entry in the table, or a new entry."""
    track, channels = bake.track, bake.channels
    if track.state is not None:
        return track.state
    return new_state(channels.action, track.table, channels.slot_handle, track.path, track.settings)
