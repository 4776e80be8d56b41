# SPDX-License-Identifier: GPL-3.0-or-later
"""A key's tangents as functions of tension, continuity and bias, and the parameters that best fit given tangents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from ...interp.batch import Spline
from ...interp.fitting.tcb_from_tangents import OTHER_STAYS, tcb_of_tangents
from ..bake.plans.protocol import OwnChannels
from ..bake.plans.splines import TrackSpline, track_splines
from ..fcurves.keyframes import SIDES, Float64Array
from ..records import record
from ..store.table.rows import column_of
from ..store.tracks import Track

BENDING = [column_of(name) for name in ("tension", "continuity", "bias")]
"""Columns of the parameters that affect tangents."""
_EASE_TO, _EASE_FROM = column_of("ease_to"), column_of("ease_from")
_STEEPEST = 4.0
"""Limit for tangents, relative to the combined length of both chords. Parameters can't produce longer tangents."""
_NEAR = 0.02
"""If the error of a tangent, relative to the combined length of both chords, is within this limit, the goal is
reached."""
Tangents = dict[str, Float64Array]
"""Tangents by side, per unit of the local segment parameter, shape (d,)."""
Run = tuple[TrackSpline, int]
"""A spline and the row of the key in it."""


@record(eq=False)
class Bent:
    """The parameters with which a key's tangents best fit given tangents."""

    parameters: Float64Array
    """Tension, continuity and bias."""
    is_near: bool
    """True if the spline reaches the goal."""


@record(eq=False)
class KeyTangents:
    """A key whose parameters are being solved for, in all channels of a rotation or in several components of values."""

    track: Track
    own: OwnChannels
    rows: Mapping[int, int]
    """Row of the key among the animator's keys of each channel."""
    defaults: Mapping[str, float]
    """Parameters of keys that have none of their own."""
    seen: Float64Array | None = None
    """Matrix, shape (m, d), applied to tangents before they are compared, for example to get the motion of a point."""

    @cached_property
    def runs(self) -> list[Run]:
        """Return the splines that contain the key: one for a rotation, one per component for values."""
        return self._runs(self.own)

    @cached_property
    def present(self) -> Float64Array:
        """Return the key's current tension, continuity and bias."""
        run, place = self.runs[0]
        present: Float64Array = run.spline.keys.parameters[BENDING, place]
        return present

    @cached_property
    def now(self) -> Tangents:
        """Return the key's current tangents."""
        return self.at(self.present)

    def with_bending(self, parameters: Float64Array) -> OwnChannels:
        """Return the animator's keys, with these parameters on this key."""
        result = {}
        for index, each in self.own.items():
            numbers = each.numbers.copy()
            numbers[self.rows[index], BENDING] = parameters
            result[index] = each.with_(numbers=numbers)
        return result

    def at(self, parameters: Float64Array) -> Tangents:
        """Return the key's tangents with these parameters."""
        parts: dict[str, list[Float64Array]] = {}
        for run, place in self._runs(self.with_bending(parameters)):
            spline: Spline = run.spline
            curve = spline.prepared.curve
            ends = {"handle_left": (place - 1, 1.0), "handle_right": (place, 0.0)}
            for side, (segment, share) in ends.items():
                if 0 <= segment < len(run.frames) - 1:
                    tangent = curve.evaluate(np.array([segment]), np.array([share]), 1)[:, 0]
                    parts.setdefault(side, []).append(tangent)
        whole = {side: np.concatenate(each) for side, each in parts.items() if len(each) == len(self.runs)}
        return whole if self.seen is None else {side: self.seen @ each for side, each in whole.items()}

    def width(self, side: str) -> float:
        """Return the length in frames of the segment on this side of the key. The segment must exist."""
        run, place = self.runs[0]
        start = place - (side == "handle_left")
        return float(run.frames[start + 1]) - float(run.frames[start])

    def is_eased(self, side: str) -> bool:
        """Return whether the velocity at the key is defined by an ease in the segment on this side."""
        for run, place in self.runs:
            eases = run.spline.keys.parameters[[_EASE_FROM, _EASE_TO]]
            start = place - (side == "handle_left")
            if 0 <= start < len(run.frames) - 1 and (eases[0, start] or eases[1, start + 1]):
                return True
        return False

    def bent(self, goals: Mapping[str, Float64Array], stays: float = OTHER_STAYS) -> Bent | None:
        """Return the parameters that best fit the goal tangents, given by side.

        Return None if parameters do not determine the tangent: next to an ease, at the end of a loop, or on a side
        without a segment. `stays` is the weight of the current tangent on a side without a goal, relative to the other
        side.
        """
        if any(self.is_eased(side) for side in goals):
            return None
        if not goals or any(side not in self.now for side in goals):
            return None
        if len(self.now) < len(SIDES):
            is_loop = any(run.spline.cycle == "LOOP" for run, _ in self.runs)
            return None if is_loop else self._bent_end(goals)
        return self._bent_inside(goals, stays)

    def _runs(self, own: OwnChannels) -> list[Run]:
        if self.track.is_rotation:
            return [_run_of(self.track, own, next(iter(self.rows.values())), self.defaults)]
        return [_run_of(self.track, {index: each}, self.rows[index], self.defaults) for index, each in own.items()]

    @cached_property
    def _chords(self) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the chords before and after the key, and each segment's fraction of their combined duration."""
        run, place = self.runs[0]
        widths = np.diff(run.frames[place - 1 : place + 2].astype(np.float64))
        shares = widths / widths.sum()
        # At bias 1 or -1, a tangent is a chord times twice this fraction.
        before, after = (
            np.sum([tangents[side] / share for side, share in zip(SIDES, shares, strict=True)], axis=0) / 4.0
            for tangents in (self.at(np.array([0.0, 0.0, bias])) for bias in (1.0, -1.0))
        )
        return before, after, shares

    def _bent_inside(self, goals: Mapping[str, Float64Array], stays: float) -> Bent:
        before, after, shares = self._chords
        size = float(np.linalg.norm(before) + np.linalg.norm(after))
        incoming, outgoing = (
            (_shortened(goals[side], _STEEPEST * size) if side in goals else self.now[side])[np.newaxis]
            for side in SIDES
        )
        weights = np.array([[1.0 if side in goals else stays for side in SIDES]])
        found = tcb_of_tangents(
            before[np.newaxis],
            after[np.newaxis],
            shares[:1],
            incoming,
            outgoing,
            self.present[:, np.newaxis],
            weights,
        )
        reached = self.at(found.parameters[:, 0])
        off = max(float(np.linalg.norm(goal - reached[side])) for side, goal in goals.items())
        return Bent(found.parameters[:, 0], off <= _NEAR * size)

    def _bent_end(self, goals: Mapping[str, Float64Array]) -> Bent:
        """Return the best parameters for the first or last key, whose tangent depends only on its tension."""
        ((side, goal),) = goals.items()
        _, continuity, bias = self.present.tolist()
        slack, tense = (self.at(np.array([tension, continuity, bias]))[side] for tension in (0.0, 1.0))
        change = tense - slack
        size = float(change @ change)
        if size == 0.0:
            return Bent(self.present, bool(np.abs(goal - slack).max() == 0.0))
        tension = float(np.clip((goal - slack) @ change / size, -1.0, 1.0))
        off = np.linalg.norm(slack + tension * change - goal)
        return Bent(np.array([tension, continuity, bias]), bool(off <= _NEAR * np.sqrt(size)))


def _shortened(tangent: Float64Array, most: float) -> Float64Array:
    length = float(np.linalg.norm(tangent))
    return tangent if length <= most else tangent * (most / length)


def _run_of(track: Track, own: OwnChannels, row: int, defaults: Mapping[str, float]) -> Run:
    """Return the spline that contains a key of these channels, and the row of the key in the spline."""
    (whole,) = track_splines(track, track.settings, own, defaults)
    return whole.run_of(row)
