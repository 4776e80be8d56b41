# SPDX-License-Identifier: GPL-3.0-or-later
"""The HANDLES output: no keys are generated, and the handles of the animator's keys approximate the splines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ....interp.fitting import Request
from ....interp.fitting.handles import Handles
from ....interp.rotations.equivalent import Maps
from ...fcurves.cycles_modifier import can_repeat
from ...fcurves.keyframes import SIDES, BoolArray, EnumArray, Float32Array, Float64Array, is_among
from ...records import record
from ...report import Finding
from ...store.table.rows import CHOSEN_HANDLES, CHOSEN_LEFT, CHOSEN_RIGHT
from ...store.table.track_records import COUPLED, NEGATED
from .channel_values import rests_at_ends, shortest_path_maps
from .own_motion import is_keyed_whole
from .plan import ComposedKeys, HandleKeys, Plan, Results, Scope
from .track_splines import TrackSpline


def plan_handles(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plans for a track's splines, which must contain channel values at the keys.

    Raises AnimationError if handles can't play the track.
    """
    tolerance = scope.tolerance(splines)
    return [_plan(scope, spline, tolerance) for spline in splines]


def _plan(scope: Scope, spline: TrackSpline, tolerance: float) -> HandlePlan:
    if not spline.spline.interpolating:
        raise scope.track.error("HANDLES_LEAVE_KEYS")
    if scope.track.is_rotation and not is_keyed_whole(scope.track, scope.own):
        raise scope.track.error("HANDLES_KEYED_APART")
    plays = ~spline.begins_segment
    plays[-1:] = False
    maps = shortest_path_maps(scope.track, spline) if scope.takes_shortest_path else None
    is_keyed = [component in scope.own for component in spline.components]
    if maps is not None and not (~maps.changed | is_keyed).all():
        # A channel without keys can't switch to equivalent values.
        maps = None
    return HandlePlan(scope, spline, plays, tolerance, maps)


@record()
class HandlePlan(Plan):
    """The plan for the handles of a spline's keys.

    Arrays of the spline have one row per key and one column per component. `HandleKeys` has them the other way around,
    and only for the components with keys.
    """

    scope: Scope
    spline: TrackSpline
    plays: BoolArray
    """True if handles play the spline after each key."""
    tolerance: float
    maps: Maps | None = None
    """Maps from the keys' angles to the angles on the curves, with which handles take the shortest path."""

    @property
    def handle_requests(self) -> Sequence[Request]:
        """Return the request to fit the spline's handles. The list is empty if there is no segment to play."""
        return [self._request(self.spline, self._values_on_curves, self.plays)] if self._plays_any else []

    def requests_around(self, frames: Float32Array) -> list[tuple[int, Request]]:
        """Return a fit request for each run with a key at one of the frames, and the row of the run's first key.

        A request covers the segments on both sides of the keys at these frames.
        """
        requests, first = [], 0
        for run in self.spline.runs:
            is_changed = is_among(run.frames, frames)
            segments = is_changed | np.append(is_changed[1:], False)
            if len(run.frames) > 1 and run.spline.cycle == "LOOP" and is_changed[[0, -1]].any():
                segments[[0, -2]] = True
            segments[-1] = False
            if segments.any():
                values_of_run = self._values_on_curves[first : first + len(run.frames)]
                requests.append((first, self._request(run, values_of_run, segments)))
            first += len(run.frames)
        return requests

    def _request(self, spline: TrackSpline, values_on_curves: Float64Array, segments: BoolArray) -> Request:
        """Return the request to fit the segments in the mask."""
        track = self.scope.track
        representation = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
        return Request(spline.spline, representation, values_on_curves if representation else None, segments)

    @cached_property
    def _values_on_curves(self) -> Float64Array:
        """Return the keys' values on the curves before quaternion sign changes, shape (keys, components)."""
        values = self.spline.values
        return values if self.maps is None else self.maps.applied(values)

    @cached_property
    def _plays_any(self) -> bool:
        """Return whether there are segments to play."""
        return bool(np.count_nonzero(self.plays[:-1]))

    @cached_property
    def _keyed_rows(self) -> list[int]:
        """Return the rows of the spline's components that have keys."""
        return [row for row, component in enumerate(self.spline.components) if component in self.scope.own]

    @cached_property
    def _chosen(self) -> EnumArray | None:
        """Return the flags of handles whose type the animator chose, shape (keyed components, keys), or None."""
        own = [self.scope.own[self.spline.components[row]] for row in self._keyed_rows]
        if not any(keys.has_chosen for keys in own):
            return None
        chosen = np.array([keys.chosen for keys in own]) & np.uint8(CHOSEN_HANDLES)
        return chosen if np.count_nonzero(chosen) else None

    @property
    def _repeats(self) -> bool:
        """Return whether Cycles modifiers can repeat the track outside its keys."""
        return self.scope.cycle != "SINGLE" and all(map(can_repeat, self.scope.track.channels.values()))

    def compose(self, results: Results) -> ComposedKeys:
        """Compose the animator's keys with the fitted handles."""
        fit = next(results.handle_fits) if self._plays_any else None
        keys, notes = self._handle_keys(fit), self._notes(fit)
        if fit is None:
            return ComposedKeys(handle_keys=[keys], notes=notes)
        errors = fit.errors
        if self._chosen is not None:
            errors = np.where(self._is_blenders(self._chosen, errors.shape), 0.0, errors)
        is_far = errors > self.tolerance
        if np.count_nonzero(is_far):
            is_far &= ~(errors <= fit.rounding)
        is_approximate = bool(np.count_nonzero(is_far))
        reported = np.where(is_far, errors, 0.0) if is_approximate else errors
        key, channel = divmod(int(reported.argmax()), reported.shape[1])
        error, frame = float(errors[key, channel]), float(fit.frames[key, channel])
        return ComposedKeys([], [keys], notes, error, frame, is_approximate)

    def _handle_keys(self, fit: Handles | None) -> HandleKeys:
        """Return the keys of the components with keys."""
        maps, rows = self.maps, self._keyed_rows
        if fit is not None and np.count_nonzero(fit.signs < 0):
            # Only quaternions have sign changes, and quaternions have no other maps.
            signs = np.broadcast_to(fit.signs[:, np.newaxis], self._values_on_curves.shape)
            maps = Maps(signs, np.zeros_like(signs))
        values_on_curves = None if maps is None else maps.applied(self.spline.values).T.astype(np.float32)[rows]
        flags = None if maps is None else _table_flags(maps)[rows]
        components = [self.spline.components[row] for row in rows]
        left, right = self._handles(fit, maps)
        ends = self._repeats, rests_at_ends(self.spline)
        return HandleKeys(components, self.plays, left, right, values_on_curves, flags, self._chosen, *ends)

    def _handles(self, fit: Handles | None, maps: Maps | None) -> tuple[Float32Array, Float32Array]:
        """Return the left and right handles, shape (keyed components, keys, 2), with NaN for unchanged handles."""
        rows, chosen = self._keyed_rows, self._chosen
        if fit is None:
            unchanged = np.full((len(rows), len(self.plays), 2), np.nan, dtype=np.float32)
            return unchanged, unchanged
        left, right = (handles.swapaxes(0, 1) for handles in (fit.left, fit.right))
        if len(rows) < len(left):
            left, right = left[rows], right[rows]
        if chosen is not None:
            left, right = (
                np.where(((chosen & flag) != 0)[..., np.newaxis], np.nan, handles)
                for handles, flag in ((left, CHOSEN_LEFT), (right, CHOSEN_RIGHT))
            )
        if maps is not None:
            left, right = (
                self._with_own_negated(handles, side, maps) for handles, side in zip((left, right), SIDES, strict=True)
            )
        return left, right

    def _with_own_negated(self, handles: Float32Array, side: str, maps: Maps) -> Float32Array:
        """Return the handles of one side with unchanged handles of negated keys replaced by the animator's, negated."""
        rows = self._keyed_rows
        own = [getattr(self.scope.own[self.spline.components[row]].keys, side) for row in rows]
        own_handles = np.array(own, dtype=np.float32)
        # Round the terms to float32, as they will be when read back. Otherwise, each bake would round the handles
        # again.
        own_maps = Maps(maps.factors.T[rows], maps.terms.T[rows].astype(np.float32))
        own_handles[..., 1] = own_maps.applied(own_handles[..., 1])
        is_negated = own_maps.factors < 0.0
        result: Float32Array = np.where(np.isnan(handles) & is_negated[..., np.newaxis], own_handles, handles)
        return result

    def _notes(self, fit: Handles | None) -> list[Finding]:
        """Return notes on omitted cycles, shortest paths and jumps of angles."""
        track = self.scope.track
        notes = [track.finding("HANDLES_CYCLE")] if self.scope.cycle != "SINGLE" and not self._repeats else []
        turned = 0 if self.maps is None else _count_turned(self.maps)
        if turned:
            notes.append(track.finding("TURNED_SHORT", turned))
        # Jumps in signs and axes are not reported.
        if fit is not None and track.kind == "EULER" and np.count_nonzero(fit.jumps):
            notes.append(track.finding("EULER_OTHER_WAY", tuple(self.spline.frames[fit.jumps].tolist())))
        return notes

    def _is_blenders(self, chosen: EnumArray, shape: tuple[int, ...]) -> BoolArray:
        """Return a mask of the segments with a handle whose type the animator chose, shape (keys, components)."""
        is_blenders = np.zeros(shape, dtype=np.bool_)
        has_chosen_handle = (chosen & CHOSEN_RIGHT) != 0
        has_chosen_handle[:, :-1] |= (chosen[:, 1:] & CHOSEN_LEFT) != 0
        is_blenders[:, self._keyed_rows] = has_chosen_handle.T
        if self.scope.track.is_rotation:
            is_blenders |= is_blenders.any(axis=1, keepdims=True)
        return is_blenders


def _count_turned(maps: Maps) -> int:
    """Return the number of segments in which the rotation takes the shortest path between keys with different maps."""
    # Terms of one map are multiples of pi.
    return int(np.count_nonzero((np.abs(np.diff(maps.terms, axis=0)) > 1.0).any(axis=1)))


def _table_flags(maps: Maps) -> EnumArray:
    """Return flags for the table that mark keys with equivalent values, shape (components, keys)."""
    is_negated = maps.factors < 0.0
    is_coupled = is_negated.any(axis=1, keepdims=True)
    flags: EnumArray = (is_negated * NEGATED + is_coupled * COUPLED).astype(np.uint8).T
    return flags
