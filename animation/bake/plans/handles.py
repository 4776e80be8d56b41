# SPDX-License-Identifier: GPL-3.0-or-later
"""The HANDLES output: no keys are generated, and the handles of the animator's keys approximate the splines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ....interp.fitting import Request
from ....interp.fitting.handles import Handles
from ....interp.rotations.equivalent import Maps
from ...errors import Finding
from ...fcurves.cycles_modifier import can_repeat
from ...fcurves.frames import is_among
from ...fcurves.keyframes import SIDES, BoolArray, EnumArray, Float32Array, Float64Array
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.table.rows import CHOSEN_HANDLES, CHOSEN_LEFT, CHOSEN_RIGHT
from ...store.table.track_records import COUPLED, NEGATED
from ...store.tracks import Track
from .component_keys import maps_to_short_way, other_turns, rests_at_ends
from .protocol import STILL, Baked, HandleKeys, OwnChannels, Plan, Results, Scope
from .splines import TrackSpline, last_place


def check_untimed(track: Track, function: FrameFunction | None) -> None:
    """Raise AnimationError if the track has a frame function, because handles can't play retimed motion."""
    if function is not None:
        raise track.error("HANDLES_TIMED")


def plan_handles(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plans for a track's splines, which must contain channel values at the keys.

    Raises AnimationError if handles can't play the track.
    """
    tolerance = scope.tolerance(splines)
    return [_plan(scope, spline, tolerance) for spline in splines]


def _plan(scope: Scope, spline: TrackSpline, tolerance: float) -> OwnHandles:
    if not spline.spline.interpolating:
        raise scope.track.error("HANDLES_LEAVE_KEYS")
    if scope.track.is_rotation and not is_keyed_whole(scope.track, scope.own):
        raise scope.track.error("HANDLES_KEYED_APART")
    plays = ~spline.between
    plays[-1:] = False
    maps = maps_to_short_way(scope.track, spline) if scope.is_short else None
    is_own = [component in scope.own for component in spline.components]
    if maps is not None and not (~maps.changed | is_own).all():
        # A channel without keys can't switch to equivalent values.
        maps = None
    return OwnHandles(scope, spline, plays, tolerance, maps)


def is_keyed_whole(track: Track, own: OwnChannels) -> bool:
    """Return whether all channels of a rotation have keys at the same frames.

    A single Euler angle can be keyed on its own if the other angles are 0.
    """
    have_same_frames = len({keys.timing for keys in own.values()}) == 1
    unkeyed_values = [track.component(index) for index in range(len(track.rest)) if index not in own]
    is_single_angle = track.kind == "EULER" and len(own) == 1 and max(map(abs, unkeyed_values), default=0.0) <= STILL
    return have_same_frames and (not unkeyed_values or is_single_angle)


@record()
class OwnHandles(Plan):
    """The plan for the handles of a spline's keys."""

    scope: Scope
    spline: TrackSpline
    plays: BoolArray
    """True if handles play the spline after each key."""
    tolerance: float
    maps: Maps | None = None
    """Maps from the keys' angles to the angles on the curves, with which handles take the shortest path."""

    @property
    def handles(self) -> Sequence[Request]:
        """Return the fit request for the spline's handles. The list is empty if there is no segment to play."""
        return [self._request(self.spline, self._numbers, self.plays)] if self._plays else []

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
                numbers = self._numbers[first : first + len(run.frames)]
                requests.append((first, self._request(run, numbers, segments)))
            first += len(run.frames)
        return requests

    def _request(self, spline: TrackSpline, numbers: Float64Array, segments: BoolArray) -> Request:
        """Return the request to fit the segments. `numbers` contains the keys' values on the curves."""
        track = self.scope.track
        representation = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
        return Request(spline.spline, representation, numbers if representation else None, segments)

    @cached_property
    def _numbers(self) -> Float64Array:
        """Return the keys' values on the curves before quaternion sign changes, shape (keys, components)."""
        values = self.spline.values
        return values if self.maps is None else self.maps.applied(values)

    @cached_property
    def _plays(self) -> bool:
        """Return whether there are segments to play."""
        return bool(np.count_nonzero(self.plays[:-1]))

    def compose(self, results: Results) -> Baked:
        """Compose the animator's keys with the fitted handles."""
        fitted = next(results.handles) if self._plays else None
        rows = [row for row, component in enumerate(self.spline.components) if component in self.scope.own]
        chosen = self._chosen(rows)
        keys = self._handle_keys(fitted, chosen, rows)
        notes = self._notes(fitted)
        if fitted is None:
            return Baked(handles=[keys], notes=notes)
        errors = fitted.errors
        if chosen is not None:
            errors = np.where(self._is_blenders(fitted, chosen, rows), 0.0, errors)
        is_far = errors > self.tolerance
        if np.count_nonzero(is_far):
            is_far &= ~(errors <= self._rounding(fitted))
        is_approximate = bool(np.count_nonzero(is_far))
        reported = np.where(is_far, errors, 0.0) if is_approximate else errors
        key, channel = divmod(int(reported.argmax()), reported.shape[1])
        error, frame = float(errors[key, channel]), float(fitted.frames[key, channel])
        return Baked([], [keys], notes, error, frame, is_approximate)

    def _chosen(self, rows: list[int]) -> EnumArray | None:
        """Return the flags of handles whose type the animator chose, shape (rows, keys), or None without such handles.

        `rows` are the components with keys.
        """
        own = [self.scope.own[self.spline.components[row]] for row in rows]
        if not any(keys.has_chosen for keys in own):
            return None
        chosen = np.array([keys.chosen for keys in own]) & np.uint8(CHOSEN_HANDLES)
        return chosen if np.count_nonzero(chosen) else None

    def _handle_keys(self, fitted: Handles | None, chosen: EnumArray | None, rows: list[int]) -> HandleKeys:
        """Return the keys of the components in `rows`."""
        maps = self.maps
        if fitted is not None and np.count_nonzero(fitted.signs < 0):
            # Only quaternions have sign changes, and quaternions have no other maps.
            signs = np.broadcast_to(fitted.signs[:, np.newaxis], self._numbers.shape)
            maps = Maps(signs, np.zeros_like(signs))
        shown = None if maps is None else maps.applied(self.spline.values).T.astype(np.float32)[rows]
        other_numbers = None if maps is None else _bits_of(maps)[rows]
        components = [self.spline.components[row] for row in rows]
        left, right = self._places(fitted, chosen, rows, maps)
        ends = self._repeats, rests_at_ends(self.spline)
        return HandleKeys(components, self.plays, left, right, shown, other_numbers, chosen, *ends)

    def _notes(self, fitted: Handles | None) -> list[Finding]:
        """Return notes on omitted cycles, shortest paths and jumps of angles."""
        track = self.scope.track
        notes = [track.finding("HANDLES_CYCLE")] if self.scope.cycle != "SINGLE" and not self._repeats else []
        turned = 0 if self.maps is None else _count_turned(self.maps)
        if turned:
            notes.append(track.finding("TURNED_SHORT", turned))
        if fitted is not None:
            notes += other_turns(track, self.spline.frames[fitted.jumps])
        return notes

    def _rounding(self, fitted: Handles) -> Float64Array:
        """Return the error that float32 rounding causes in the segment after each key, shape (keys, channels).

        In each segment, two of the four control points are rounded, in both frame and value, by up to half a float32
        step. Together, these points have a weight of at most three quarters.
        """
        values = self._numbers * fitted.signs[:, np.newaxis]
        keys = np.stack(np.broadcast_arrays(self.spline.frames[:, np.newaxis].astype(np.float64), values), axis=-1)
        points = np.stack([keys[:-1], fitted.right[:-1], fitted.left[1:], keys[1:]])
        frame, value = last_place(np.abs(points).max(axis=0)).transpose(2, 0, 1)
        ahead, rise = np.abs(np.diff(points, axis=0)).transpose(3, 0, 1, 2)
        speed = (rise / np.maximum(ahead, frame)).max(axis=0)
        rounding = np.full(values.shape, np.nan)
        rounding[:-1] = 0.5 * (value + frame * speed)
        if self.scope.track.is_rotation:
            rounding[:-1] = (rounding[:-1] * self._angles(values)).sum(axis=1, keepdims=True)
        return rounding

    def _angles(self, values: Float64Array) -> Float64Array:
        """Return the approximate angle per unit of each channel in each segment, shape (keys - 1, channels)."""
        angles = np.ones_like(values[1:])
        if self.scope.track.kind != "EULER":
            directions = slice(1 if self.scope.track.kind == "AXIS_ANGLE" else 0, None)
            lengths = np.linalg.norm(values[:, directions], axis=1, keepdims=True)
            length = np.maximum(lengths[:-1], lengths[1:])
            angles[:, directions] = np.divide(2.0, length, out=np.zeros_like(length), where=length > 0.0)
        return angles

    def _is_blenders(self, fitted: Handles, chosen: EnumArray, rows: list[int]) -> BoolArray:
        """Return a mask of the segments with a handle whose type the animator chose, shape (keys, channels)."""
        is_blenders = np.zeros(fitted.errors.shape, dtype=np.bool_)
        has_chosen_handle = (chosen & CHOSEN_RIGHT) != 0
        has_chosen_handle[:, :-1] |= (chosen[:, 1:] & CHOSEN_LEFT) != 0
        is_blenders[:, rows] = has_chosen_handle.T
        if self.scope.track.is_rotation:
            is_blenders |= is_blenders.any(axis=1, keepdims=True)
        return is_blenders

    @property
    def _repeats(self) -> bool:
        """Return whether Cycles modifiers can repeat the track outside its keys."""
        if self.scope.cycle == "SINGLE":
            return False
        return all(map(can_repeat, self.scope.track.channels.values()))

    def _places(
        self, fitted: Handles | None, chosen: EnumArray | None, rows: list[int], maps: Maps | None
    ) -> tuple[Float32Array, Float32Array]:
        """Return the left and right handles, shape (channels, keys, 2), with NaN for unchanged handles."""
        if fitted is None:
            none = np.full((len(rows), len(self.plays), 2), np.nan, dtype=np.float32)
            return none, none
        left, right = (side.swapaxes(0, 1) for side in (fitted.left, fitted.right))
        if len(rows) < len(left):
            left, right = left[rows], right[rows]
        if chosen is not None:
            left, right = (
                np.where(((chosen & bit) != 0)[..., np.newaxis], np.nan, side)
                for side, bit in ((left, CHOSEN_LEFT), (right, CHOSEN_RIGHT))
            )
        if maps is not None:
            left, right = (
                self._mapped(side, name, rows, maps) for side, name in zip((left, right), SIDES, strict=True)
            )
        return left, right

    def _mapped(self, places: Float32Array, side: str, rows: list[int], maps: Maps) -> Float32Array:
        """Return the handles of one side with the maps applied.

        If a key is negated, handles placed by the animator are negated too.
        """
        own = [getattr(self.scope.own[self.spline.components[row]].keys, side) for row in rows]
        own_handles = np.array(own, dtype=np.float32)
        # Round the terms to float32, as they will be when read back. Otherwise, each bake would round the handles
        # again.
        own_maps = Maps(maps.factors.T[rows], maps.terms.T[rows].astype(np.float32))
        own_handles[..., 1] = own_maps.applied(own_handles[..., 1])
        is_negated = own_maps.factors < 0.0
        result: Float32Array = np.where(np.isnan(places) & is_negated[..., np.newaxis], own_handles, places)
        return result


def _count_turned(maps: Maps) -> int:
    """Return the number of segments in which the rotation takes the shortest path between keys with different maps."""
    # Terms of one map are multiples of pi.
    return int(np.count_nonzero((np.abs(np.diff(maps.terms, axis=0)) > 1.0).any(axis=1)))


def _bits_of(maps: Maps) -> EnumArray:
    """Return flags for the table that mark keys with equivalent values, shape (components, keys)."""
    negated = maps.factors < 0.0
    coupled = negated.any(axis=1, keepdims=True)
    bits: EnumArray = (negated * NEGATED + coupled * COUPLED).astype(np.uint8).T
    return bits
