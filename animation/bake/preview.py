# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview of handles during a drag. Preparation takes place once, and each step writes only changed handles.

A preview changes handles and the signs of quaternion keys. Frames, identities and the table are unchanged, so writing
the old handles back removes the preview.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...interp.fitting import Request
from ...interp.fitting.handles import Draft, HandleDrafts
from ...interp.keys import PARAMETERS
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, evaluate_if, played_now
from ..fcurves.frames import SAME_FRAME, is_among, rows_at
from ..fcurves.keyframes import SIDES, Float32Array, KeyBlock, sliced
from ..records import record
from ..report import Report
from ..steps import collector_paused
from ..store.actions.live_switch import is_live
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers
from ..store.table.custom_property import NEGATED
from ..store.table.options import Options
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, column_of
from ..store.table.session import Substitutes, session
from ..store.tracks import Track, refreshed
from .job import job_of_edited, plan_tracks
from .plans.handles import OwnHandles
from .plans.protocol import TrackPlan
from .plans.splines import setting_names

_PLACES = ("co", *SIDES)


class HandlePreview:
    """Preview of handles on tracks of one action while parameters of some keys change.

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
        frames = {track.path: own for track, own in chosen}
        ends = np.cumsum([len(own) for _, own in chosen]).tolist()
        starts = {track.path: end - len(own) for (track, own), end in zip(chosen, ends, strict=True)}
        plans = [plan for plan in _planned(users, channels, [track for track, _ in chosen]) if _can_show(plan)]
        self.paths = {plan.track.path for plan in plans}
        """Paths of the previewed tracks, which are live and played by handles."""
        self._curves: list[bpy.types.FCurve] = []
        counts = [0]
        requests: dict[Hashable, list[_Member]] = {}
        for plan in plans:
            changed, start = frames[plan.track.path], starts[plan.track.path]
            for part in plan.plans:
                assert isinstance(part, OwnHandles)
                own = [plan.own.get(component) for component in part.spline.components]
                bases = []
                for component, keys in zip(part.spline.components, own, strict=True):
                    bases.append(-1 if keys is None else counts[-1])
                    if keys is not None:
                        self._curves.append(plan.track.channels[component])
                        counts.append(counts[-1] + keys.count)
                for offset, request in part.requests_around(changed):
                    member = _Member(request, offset, bases, own, changed, start)
                    requests.setdefault((request.spline.batch, request.representation), []).append(member)
        self._groups = [_Group(members) for members in requests.values()]
        identities = [plan.track.state.identity for plan in plans if plan.track.state is not None]
        dragged = [(plan.own, frames[plan.track.path], starts[plan.track.path]) for plan in plans]
        self._substitutes = _Substitutes(frozenset(identities), dragged)
        block = KeyBlock([curve.keyframe_points for curve in self._curves])
        self._before = {name: block.read(name).reshape(-1, 2) for name in _PLACES}
        self._now = {name: places.copy() for name, places in self._before.items()}
        in_pairs = [2 * count for count in counts]
        self._parts = {name: sliced(places, in_pairs) for name, places in self._now.items()}
        self._put: list[Any] = [curve.keyframe_points.foreach_set for curve in self._curves]
        self._is_negated = False
        self._played = played_now(self._users, self._curves)

    @collector_paused()
    def show(self, numbers: Mapping[str, Numbers]) -> None:
        """Preview parameters. Each name has an array with one value per chosen key, track by track.

        Raises KeysError if the parameters define no motion through the keys. The preview is then unchanged.
        """
        drafts = [group.fitted(numbers) for group in self._groups]
        self._substitutes.put(numbers)
        # A previously negated key may need its original sign.
        negated = [
            group.place(draft, self._before, self._now) for group, draft in zip(self._groups, drafts, strict=True)
        ]
        self._write(_PLACES if any(negated) or self._is_negated else SIDES)
        self._is_negated = any(negated)

    def take_away(self) -> None:
        """Restore the handles from before the drag, bit for bit."""
        self._substitutes.remove()
        for name, places in self._before.items():
            self._now[name][:] = places
        self._write(_PLACES if self._is_negated else SIDES)
        self._is_negated = False

    def _write(self, names: Sequence[str]) -> None:
        for name in names:
            for put, part in zip(self._put, self._parts[name], strict=True):
                put(name, part)
        before, self._played = self._played, played_now(self._users, self._curves)
        evaluate_if(self._played != before, self._channels.action)


def _planned(users: Sequence[bpy.types.ID], channels: Channels, tracks: Sequence[Track]) -> list[TrackPlan]:
    """Return the plans of live tracks played by handles."""
    played = [track for track in refreshed(users[0], channels, tracks) if track.in_use and track.is_played_by_handles]
    if not played or not is_live(channels.action):
        return []
    report = Report()
    job = job_of_edited(users, channels, played, Options(), report)
    with scratch_curves.kept():
        plan_tracks(job, report, whole=False)
    return job.plans


def _can_show(plan: TrackPlan) -> bool:
    """Return whether a plan can be previewed: handles play it, and each key has a row in the table."""
    named = all(own.are_named for own in plan.own.values())
    # Splines of angles contain their own keys, which drafts do not change.
    is_by_angles = "angles" in setting_names(plan.track, plan.settings)
    return named and not is_by_angles and all(isinstance(part, OwnHandles) for part in plan.plans)


@record(eq=False)
class _Member:
    """The fit request of a run of keys."""

    request: Request
    offset: int
    """Row of the first key in its channels."""
    bases: Sequence[int]
    """Row of each component's first key in the preview's arrays, or -1 without an F-curve."""
    own: Sequence[OwnKeys | None]
    changed: Float32Array
    """Frames of the keys whose parameters change."""
    start: int
    """Index of the first changed key among the changed keys of all tracks."""


class _Group:
    """Fit requests to compute in one batch."""

    def __init__(self, members: Sequence[_Member]) -> None:
        self._drafts = HandleDrafts([each.request for each in members])
        self._parameters = self._drafts.parameters.copy()
        counts = [len(each.request.spline.keys) for each in members]
        last = np.cumsum(counts) - 1
        self._first, self._counts = last + 1 - counts, counts
        at = np.full((sum(counts), len(members[0].bases)), -1)
        self._signs = np.ones(len(at))
        keys, sources = [], []
        is_chosen = {bit: np.zeros(at.shape, dtype=np.bool_) for bit in (CHOSEN_LEFT, CHOSEN_RIGHT)}
        for each, first, count in zip(members, self._first.tolist(), counts, strict=True):
            rows, own = slice(first, first + count), slice(each.offset, each.offset + count)
            for column, (base, channel) in enumerate(zip(each.bases, each.own, strict=True)):
                if channel is None:
                    continue
                at[rows, column] = base + each.offset + np.arange(count)
                if each.request.representation == "QUATERNION":
                    # The requests of other representations contain the values on the curves.
                    self._signs[rows] = np.where((channel.placed[own] & NEGATED) != 0, -1.0, 1.0)
                if channel.has_chosen:
                    for bit, chosen in is_chosen.items():
                        chosen[rows, column] = (channel.chosen[own] & bit) != 0
            frames = each.request.spline.keys.frames.astype(np.float32)
            there = np.flatnonzero(is_among(frames, each.changed))
            keys.append(first + there)
            sources.append(each.start + np.searchsorted(each.changed, frames[there] - np.float32(SAME_FRAME)))
        self._keys, self._sources = np.concatenate(keys), np.concatenate(sources)
        self._at = at
        begin = self._drafts.segments
        self._sides = [
            (side, at[ends], (at[ends] >= 0) & ~is_chosen[bit][ends])
            for side, ends, bit in (("handle_left", begin + 1, CHOSEN_LEFT), ("handle_right", begin, CHOSEN_RIGHT))
        ]
        self._is_negated = False

    def fitted(self, numbers: Mapping[str, Numbers]) -> Draft:
        """Compute the handles for parameters of the chosen keys."""
        parameters = self._parameters.copy()
        for name, values in numbers.items():
            parameters[PARAMETERS.index(name), self._keys] = values[self._sources]
        return self._drafts.fitted(parameters)

    def place(self, draft: Draft, before: Mapping[str, Float32Array], now: Mapping[str, Float32Array]) -> bool:
        """Copy computed handles into the arrays of all keys. Return whether quaternion keys change sign.

        `before` has the arrays without the preview.
        """
        begin = self._drafts.segments
        flips = self._signs[1:] * self._signs[:-1]
        drafted = flips.copy()
        drafted[begin] = draft.flips
        signs, is_negated = self._signs, bool((drafted != flips).any())
        if is_negated or self._is_negated:
            signs = np.multiply.accumulate(np.append(1.0, drafted))
            signs *= np.repeat((signs * self._signs)[self._first], self._counts)
            rows, columns = np.nonzero(self._at >= 0)
            at, ratios = self._at[rows, columns], (signs * self._signs)[rows]
            for name, places in now.items():
                places[at, 1] = before[name][at, 1] * ratios
        self._is_negated = is_negated
        for (side, at, there), places in zip(self._sides, (draft.left, draft.right), strict=True):
            shown = places * np.stack([np.ones(len(begin)), signs[begin]], axis=-1)[:, np.newaxis]
            now[side][at[there]] = shown[there]
        return is_negated


class _Substitutes:
    """Replaces the parameters of the chosen keys for readers during the preview."""

    def __init__(
        self, tracks: frozenset[int], chosen: Sequence[tuple[Mapping[int, OwnKeys], Float32Array, int]]
    ) -> None:
        self._tracks = tracks
        identities, numbers, sources = [], [], []
        for channels, changed, start in chosen:
            for own in channels.values():
                at, places = rows_at(changed, own.frames)
                identities.append(own.identities[at])
                numbers.append(own.numbers[at])
                sources.append(start + places)
        if not identities:
            return
        rows = session.rows.find(np.concatenate(identities))
        order = np.argsort(rows, kind="stable")
        self._rows, self._numbers = rows[order], np.concatenate(numbers)[order]
        self._sources = np.concatenate(sources)[order]

    def put(self, numbers: Mapping[str, Numbers]) -> None:
        """Replace the parameters of the keys."""
        for name, values in numbers.items():
            self._numbers[:, column_of(name)] = values[self._sources]
        session.substitutes[id(self)] = Substitutes(self._rows, self._numbers, self._tracks)

    def remove(self) -> None:
        """Restore the parameters of the keys."""
        session.substitutes.pop(id(self), None)
