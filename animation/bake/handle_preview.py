# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview of the handles of baked tracks during a drag of parameters.

A preview changes only handles. Keys and the table are unchanged, so writing the old handles again removes the preview.
The fit requests are prepared once. Each step fits only the segments beside the dragged keys, all tracks together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...interp.fitting import Request
from ...interp.fitting.handles import Draft, HandleDrafts
from ...interp.keys import PARAMETERS
from ..fcurves.channels import Channels, evaluate_if, played_now
from ..fcurves.keyframes import SIDES, BoolArray, Float32Array, IndexArray, matching_rows
from ..fcurves.read_and_write import KeyBlock, sliced
from ..records import record
from ..steps import collector_paused
from ..store.find_tracks import refreshed
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, NUMBERS, column_of
from ..store.table.session import Substitutes, session
from ..store.table.track_records import NEGATED, Options
from ..store.table_upkeep import is_live
from ..store.tracks import Track, setting_names
from .bake_job import PlannedTrack, job_of_edited
from .plan_tracks import plan_tracks
from .plans.handle_plan import HandlePlan


class HandlePreview:
    """Preview of the handles on one action's tracks while parameters of some keys change.

    Parameters
    ----------
    users
        The datablocks that the channels animate.
    channels
        The F-curves.
    chosen
        Tracks, with the frames of the keys whose parameters change.
    """

    @collector_paused()
    def __init__(
        self, users: Sequence[bpy.types.ID], channels: Channels, chosen: Sequence[tuple[Track, Float32Array]]
    ) -> None:
        self._users, self._channels = users, channels
        dragged: dict[str, _DraggedKeys] = {}
        start = 0
        for track, frames in chosen:
            dragged[track.path] = _DraggedKeys(frames, start)
            start += len(frames)
        planned_tracks = _planned(users, channels, [track for track, _ in chosen])
        self.paths = {planned.track.path for planned in planned_tracks}
        """Paths of the previewed tracks, which are live and played by handles."""
        self._curves, bounds, members_of_groups = _requests(planned_tracks, dragged)
        self._groups = [_Group(members) for members in members_of_groups]
        self._parameters = _DraggedParameters(planned_tracks, dragged)
        block = KeyBlock([curve.keyframe_points for curve in self._curves])
        self._handles_before = {side: block.read(side).reshape(-1, 2) for side in SIDES}
        self._handles = {side: handles.copy() for side, handles in self._handles_before.items()}
        """Handles of all keys of the previewed tracks, shape (keys, 2), one F-curve after another."""
        bounds_of_pairs = [2 * bound for bound in bounds]
        self._handles_by_curve = {side: sliced(handles, bounds_of_pairs) for side, handles in self._handles.items()}
        self._writers: list[Any] = [curve.keyframe_points.foreach_set for curve in self._curves]
        self._played = played_now(self._users, self._curves)

    @collector_paused()
    def show(self, numbers: Mapping[str, Numbers]) -> None:
        """Preview the parameters: an array for each name, with one value per chosen key, track by track.

        Raises KeysError, and leaves the preview unchanged, if the parameters do not define a motion through the keys.
        """
        if not self.paths:
            return
        drafts = [group.fitted(numbers) for group in self._groups]
        self._parameters.put(numbers)
        for group, draft in zip(self._groups, drafts, strict=True):
            group.place(draft, self._handles)
        self._write()

    def remove(self) -> None:
        """Restore the handles from before the drag, bit for bit."""
        self._parameters.remove()
        for side, handles in self._handles_before.items():
            self._handles[side][:] = handles
        self._write()

    def _write(self) -> None:
        for side in SIDES:
            for write, handles in zip(self._writers, self._handles_by_curve[side], strict=True):
                write(side, handles)
        previous, self._played = self._played, played_now(self._users, self._curves)
        evaluate_if(self._played != previous, self._channels.action)


class _DraggedKeys(NamedTuple):
    """The dragged keys of one track."""

    frames: Float32Array
    start: int
    """Index of the first of these keys among the dragged keys of all tracks."""


def _planned(users: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track]) -> list[PlannedTrack]:
    """Return the plans of the live tracks that can be previewed."""
    played = [track for track in refreshed(users[0], channels, tracks) if track.in_use and track.is_played_by_handles]
    if not played or not is_live(channels.action):
        return []
    results = plan_tracks(job_of_edited(users, channels, played, Options()).tracks)
    return [result for result in results if isinstance(result, PlannedTrack) and _can_show(result)]


def _can_show(planned: PlannedTrack) -> bool:
    """Return whether a bake can be previewed, that is, whether handles play it and each key has a row in the table."""
    is_recorded = all(own.are_named for own in planned.own.values())
    # Splines of angles contain additional keys, which drafts do not change.
    is_by_angles = "angles" in setting_names(planned.track, planned.settings)
    return is_recorded and not is_by_angles and all(isinstance(plan, HandlePlan) for plan in planned.plans)


@record(eq=False)
class _Member:
    """The fit request of a run of keys."""

    request: Request
    offset: int
    """Row of the run's first key in its channels."""
    bases: Sequence[int]
    """Row of each component's first key in the preview's arrays, or -1 without an F-curve."""
    own: Sequence[OwnKeys | None]
    """The animator's keys of each component, or None without an F-curve."""
    dragged: _DraggedKeys


def _requests(
    planned_tracks: Iterable[PlannedTrack], dragged: Mapping[str, _DraggedKeys]
) -> tuple[list[bpy.types.FCurve], list[int], list[list[_Member]]]:
    """Return the F-curves, the bounds of their keys in arrays of all keys, and the fit requests grouped in batches."""
    curves: list[bpy.types.FCurve] = []
    bounds = [0]
    groups: dict[Hashable, list[_Member]] = {}
    for planned in planned_tracks:
        for plan in planned.plans:
            assert isinstance(plan, HandlePlan)
            own_keys = [planned.own.get(component) for component in plan.spline.components]
            bases = []
            for component, own in zip(plan.spline.components, own_keys, strict=True):
                bases.append(-1 if own is None else bounds[-1])
                if own is not None:
                    curves.append(planned.track.channels[component])
                    bounds.append(bounds[-1] + own.count)
            keys = dragged[planned.track.path]
            for offset, request in plan.requests_around(keys.frames):
                group = groups.setdefault((request.spline.batch, request.representation), [])
                group.append(_Member(request, offset, bases, own_keys, keys))
    return curves, bounds, list(groups.values())


class _Side(NamedTuple):
    """The handles on one side of fitted segments."""

    name: str
    rows: IndexArray
    """Rows in the preview's arrays, shape (segments, components)."""
    is_written: BoolArray
    """Mask of the handles that have an F-curve and no type chosen by the animator, shape (segments, components)."""


class _Group:
    """Fit requests to compute in one batch. Arrays have one row per key of all requests."""

    def __init__(self, members: Sequence[_Member]) -> None:
        self._drafts = HandleDrafts([member.request for member in members])
        self._parameters = self._drafts.parameters.copy()
        counts = [len(member.request.spline.keys) for member in members]
        first_rows = np.cumsum(counts) - counts
        shape = sum(counts), len(members[0].bases)
        self._rows = np.full(shape, -1)
        """Row in the preview's arrays for each key and component, or -1 without an F-curve."""
        self._signs = np.ones(len(self._rows))
        """Signs of quaternion keys on the curves, relative to the requests."""
        dragged_rows, sources = [], []
        is_chosen = {flag: np.zeros(shape, dtype=np.bool_) for flag in (CHOSEN_LEFT, CHOSEN_RIGHT)}
        for member, first, count in zip(members, first_rows.tolist(), counts, strict=True):
            rows, rows_in_channel = slice(first, first + count), slice(member.offset, member.offset + count)
            for component, (base, own) in enumerate(zip(member.bases, member.own, strict=True)):
                if own is None:
                    continue
                self._rows[rows, component] = base + member.offset + np.arange(count)
                if member.request.representation == "QUATERNION":
                    # For other representations, the requests contain the values on the curves.
                    self._signs[rows] = np.where((own.placed[rows_in_channel] & NEGATED) != 0, -1.0, 1.0)
                if own.has_chosen:
                    for flag, mask in is_chosen.items():
                        mask[rows, component] = (own.chosen[rows_in_channel] & flag) != 0
            frames = member.request.spline.keys.frames.astype(np.float32)
            rows_in_request, dragged_keys = matching_rows(frames, member.dragged.frames)
            dragged_rows.append(first + rows_in_request)
            sources.append(member.dragged.start + dragged_keys)
        self._dragged_rows, self._sources = np.concatenate(dragged_rows), np.concatenate(sources)
        """Rows of the keys whose parameters change, and the index of each among the dragged keys of all tracks."""
        begin = self._drafts.segments
        self._sides = [
            _Side(name, self._rows[ends], (self._rows[ends] >= 0) & ~is_chosen[flag][ends])
            for name, ends, flag in (("handle_left", begin + 1, CHOSEN_LEFT), ("handle_right", begin, CHOSEN_RIGHT))
        ]

    def fitted(self, numbers: Mapping[str, Numbers]) -> Draft:
        """Compute the handles for these parameters of the chosen keys."""
        parameters = self._parameters.copy()
        for name, values in numbers.items():
            parameters[PARAMETERS.index(name), self._dragged_rows] = values[self._sources]
        return self._drafts.fitted(parameters)

    def place(self, draft: Draft, handles_of_all: Mapping[str, Float32Array]) -> None:
        """Copy the computed handles into the arrays of all keys, by side.

        Quaternion keys keep their signs. If a rotation would need other signs, the preview approximates the rotation.
        """
        begin = self._drafts.segments
        signs = self._signs[begin + 1] * draft.flips, self._signs[begin]
        for side, handles, signs_of_side in zip(self._sides, (draft.left, draft.right), signs, strict=True):
            # Signs apply to values, not to frames.
            factors = np.stack([np.ones(len(begin)), signs_of_side], axis=-1)[:, np.newaxis]
            handles_of_all[side.name][side.rows[side.is_written]] = (handles * factors)[side.is_written]


class _DraggedParameters:
    """The parameters of the chosen keys during the preview, which replace those in the table."""

    def __init__(self, planned_tracks: Iterable[PlannedTrack], dragged: Mapping[str, _DraggedKeys]) -> None:
        identities, numbers = [np.empty(0, dtype=np.uint32)], [np.empty((0, NUMBERS), dtype=np.float32)]
        sources, tracks = [np.empty(0, dtype=np.intp)], []
        for planned in planned_tracks:
            frames, start = dragged[planned.track.path]
            if planned.track.state is not None:
                tracks.append(planned.track.state.identity)
            for own in planned.own.values():
                rows, dragged_keys = matching_rows(own.frames, frames)
                identities.append(own.identities[rows])
                numbers.append(own.numbers[rows])
                sources.append(start + dragged_keys)
        rows_in_table = session.rows.find(np.concatenate(identities))
        order = np.argsort(rows_in_table, kind="stable")
        self._tracks, self._rows = frozenset(tracks), rows_in_table[order]
        self._numbers, self._sources = np.concatenate(numbers)[order], np.concatenate(sources)[order]

    def put(self, numbers: Mapping[str, Numbers]) -> None:
        """Replace the parameters of the keys."""
        for name, values in numbers.items():
            self._numbers[:, column_of(name)] = values[self._sources]
        session.substitutes[id(self)] = Substitutes(self._rows, self._numbers, self._tracks)

    def remove(self) -> None:
        """Restore the parameters of the keys."""
        session.substitutes.pop(id(self), None)
