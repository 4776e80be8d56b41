# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the keys of bake jobs rows and identities, and make their channels editable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..fcurves.channels import assign
from ..fcurves.keyframes import HANDLE, SIDES
from ..fcurves.linked_data import editable_channels
from ..store.enable_tracks import new_state
from ..store.find_tracks import find_tracks
from ..store.record_rows import OwnChannel, record_rows
from .bake_job import BakeJob
from .track_bake import EvaluatedTrack, TrackBake


def on_local_copy(job: BakeJob[EvaluatedTrack]) -> BakeJob[EvaluatedTrack]:
    """Return the job on editable channels. If its action is linked, these are in the override's local copy."""
    if job.channels.action.library is None:
        return job
    notes = [*job.notes]
    channels = editable_channels(job.datablocks[0], notes)
    for user in job.datablocks[1:]:
        assign(user, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    evaluated = [replace(each, track=tracks[each.track.path], channels=channels) for each in job.tracks]
    return BakeJob(job.datablocks, channels, evaluated, notes)


def with_fitted_handles(evaluated: EvaluatedTrack) -> EvaluatedTrack:
    """Make the fitted handles the animator's own, so that Restore and Remove keep them.

    Handles of keys with other values on the curves do not fit the animator's values.
    """
    own_keys = dict(evaluated.own)
    for handle_keys in [keys for keys in evaluated.baked.handle_keys if keys.values_on_curves is None]:
        for index, *handles in zip(handle_keys.components, handle_keys.left, handle_keys.right, strict=True):
            keys = own_keys[index].keys.copy()
            for side, places in zip(SIDES, handles, strict=True):
                is_fitted = ~np.isnan(places).any(axis=1)
                getattr(keys, side)[is_fitted] = places[is_fitted]
                getattr(keys, f"{side}_type")[is_fitted] = HANDLE["FREE"]
            own_keys[index] = own_keys[index].with_(keys=keys)
    return replace(evaluated, own=own_keys)


def add_rows(tracks: Sequence[EvaluatedTrack]) -> list[TrackBake]:
    """Create rows and identities for the keys of all tracks, whose channels must be editable."""
    states = [each.track.state or new_state(each.channels, each.track, each.settings) for each in tracks]
    recorded_keys, rows = record_rows(
        [
            OwnChannel(state.identity, index, own, index in state.channels)
            for evaluated, state in zip(tracks, states, strict=True)
            for index, own in evaluated.own.items()
        ]
    )
    next_keys, next_rows = iter(recorded_keys), iter(rows)
    bakes = []
    for evaluated, state in zip(tracks, states, strict=True):
        own = {index: next(next_keys) for index in evaluated.own}
        fields = {**vars(evaluated), "own": own}
        bakes.append(TrackBake(**fields, state=state, rows=[next(next_rows) for _ in own]))
    return bakes
