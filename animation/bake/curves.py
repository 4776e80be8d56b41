# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves: the fewest Bezier keys that play the splines within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ...interp.fitting import VALUE_TOLERANCE, Fit, Request
from ...interp.holding import holding
from ...words import rpt_
from ..fcurves.keyframes import BoolArray, FloatArray, IndexArray
from ..store.tracks import Track
from .components import other_turns
from .plan import Baked, ChannelKeys, Derivatives, Float64Array, Plan, PoseKeys, Results, Scope
from .sampling import GUARD, Sampling
from .splines import TrackSpline

_ARRIVES = 1e-3
"""Of a rotation's channels: one that comes to a key farther off than this jumps there."""
_LEAST_RANGE = 1e-5
"""Of a track's largest value: float32 tells no smaller differences apart than a hundredth of this."""


def plan_curves(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """The plans of a track's splines, whose values are those that the channels are to have at the keys."""
    return [_plan(scope, spline, tolerance_of(scope, splines)) for spline in splines]


def tolerance_of(scope: Scope, splines: Sequence[TrackSpline]) -> float:
    """How near curves come to the track: in the property's units, or radians."""
    if scope.track.is_rotation:
        return scope.options.rotation_tolerance
    if scope.options.value_tolerance is not None:
        return scope.options.value_tolerance
    values = [spline.spline.keys.values for spline in splines]
    spread = max(float(np.ptp(each, axis=0).max()) for each in values)
    size = max(float(np.abs(each).max()) for each in values)
    return VALUE_TOLERANCE * max(spread, _LEAST_RANGE * size, 1e-30)


@dataclass(frozen=True)
class Curves(Plan):
    """Cubics fitted to a spline."""

    scope: Scope
    spline: TrackSpline
    baked: BoolArray
    around: _Around
    request: Request

    @property
    def requests(self) -> Sequence[Request]:
        return [self.request]

    def compose(self, results: Results) -> Baked:
        track, (fit,) = self.scope.track, results.fits
        notes = [] if fit.reached else [_missed(track, fit, self.spline)]
        notes += other_turns(track, self.spline.frames[fit.jumps & np.concatenate(([False], self.baked[:-1]))])
        keys = [each for channels in self._together(fit) for each in self._channels(fit, channels)]
        return Baked(keys, notes, fit.error)

    def _together(self, fit: Fit) -> list[list[int]]:
        """The channels that get keys at the same frames: often all, of which none has any but the animator's."""
        if self.scope.track.is_rotation:
            return [list(range(len(fit.knots)))]
        if self.around.any:
            # Where a cycle goes on from other numbers is each channel's own.
            return [[channel] for channel in range(len(fit.knots))]
        alike: dict[bytes, list[int]] = {}
        for channel, knots in enumerate(fit.knots):
            alike.setdefault(knots.frames.tobytes(), []).append(channel)
        return list(alike.values())

    def _channels(self, fit: Fit, channels: list[int]) -> list[ChannelKeys]:
        spline = replace(
            self.spline,
            components=[self.spline.components[channel] for channel in channels],
            values=self.spline.values[:, channels],
        )
        # A twin of what follows: without it a bake of 1,000 channels in 100 frames takes 1.13 times as long of objects,
        # and 1.27 times of an armature.
        if not self.around.any and not fit.jumps.any() and _are_keyed_alike(self.scope, spline):
            return [_between_own(fit, channels, spline, self.baked)]
        pieces = _all_pieces(_pieces(fit, spline, channels), self.baked, self.around, self.request.held)
        keys = _keys(pieces, spline, may_jump=self.scope.track.is_rotation)
        return self.scope.channel_keys(spline, keys, self.baked)


def _plan(scope: Scope, spline: TrackSpline, tolerance: float) -> Curves:
    track, baked = scope.track, scope.segments(spline)
    around = _Around.of(spline.frames, scope.sampling, scope.cycle)
    held = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    # A new action is for others too: glTF's exporter normalises each key and handle by itself.
    stretched = scope.options.target != "NEW_ACTION"
    segments = None if around.any else baked
    others = scope.key_frames.astype(np.float64) if len(scope.key_frames) > len(spline.frames) else None
    request = Request(spline.spline, tolerance, held, spline.values, segments, stretched, others)
    return Curves(scope, spline, baked, around, request)


def _are_keyed_alike(scope: Scope, spline: TrackSpline) -> bool:
    """All channels have all of the spline's keys."""
    frames = spline.frames.tobytes()
    return all(scope.own_frames(component).tobytes() == frames for component in spline.components)


def _between_own(fit: Fit, channels: list[int], spline: TrackSpline, baked: BoolArray) -> ChannelKeys:
    """The knots, where all channels have all of the spline's keys."""
    knots = [fit.knots[channel] for channel in channels]
    frames = knots[0].frames.astype(np.float32)
    derivatives = np.array([each.derivatives for each in knots])
    return ChannelKeys(
        spline.components,
        frames,
        np.array([each.values for each in knots], dtype=np.float32),
        np.zeros(len(frames), dtype=np.bool_),
        baked,
        Derivatives(derivatives, derivatives, fit.incoming[:, channels].T, fit.outgoing[:, channels].T),
        None if spline.spline.meets_keys else spline.values.T.astype(np.float32),
    )


def _missed(track: Track, fit: Fit, spline: TrackSpline) -> str:
    """The note of the segment that is farthest off."""
    key = int(np.argmax(fit.misses.max(axis=1)))
    error = float(fit.errors[key].max())
    size = rpt_("{:.3g} degrees", math.degrees(error)) if track.is_rotation else f"{error:.3g}"
    return rpt_(
        "off by up to {:s} after frame {:g}: keys can't stand near enough there for the tolerance",
        size,
        float(spline.frames[key]),
    )


@dataclass(frozen=True)
class _Pieces:
    """Cubic pieces of `c` channels, `m` of them in order of frame."""

    segment: IndexArray
    """After which of the spline's keys, shape (m,)."""
    frames: Float64Array
    """Start and end, shape (2, m)."""
    values: Float64Array
    """Shape (2, c, m)."""
    derivatives: Float64Array
    """Derivatives a frame, shape (2, c, m)."""

    def take(self, rows: BoolArray) -> _Pieces:
        return _Pieces(**{each.name: getattr(self, each.name)[..., rows] for each in fields(self)})

    def cut(self, row: int, frame: float) -> tuple[Float64Array, Float64Array]:
        """Values and derivatives, shape (c,), of a piece at a frame in it."""
        start, end = self.frames[:, row]
        length = end - start
        t = (frame - start) / length
        s = 1.0 - t
        (a, b), (leave, arrive) = self.values[..., row], self.derivatives[..., row] * length
        value = s * s * (1 + 2 * t) * a + t * t * (3 - 2 * t) * b + t * s * s * leave - t * t * s * arrive
        derivative = 6 * t * s * (b - a) + s * (1 - 3 * t) * leave + t * (3 * t - 2) * arrive
        return value, derivative / length


def _joined(parts: list[_Pieces]) -> _Pieces:
    return _Pieces(
        **{each.name: np.concatenate([getattr(part, each.name) for part in parts], axis=-1) for each in fields(_Pieces)}
    )


def _pieces(fit: Fit, spline: TrackSpline, channels: list[int]) -> _Pieces:
    """All pieces of the spline's segments; those of segments that were not fitted are flat, and left out later."""
    keys = spline.frames.astype(np.float64)
    knots = fit.knots[channels[0]].frames
    starts = np.concatenate((keys[:-1], knots))
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    segment = np.searchsorted(keys, starts, side="right") - 1
    last = np.append(segment[1:] != segment[:-1], True)[: len(segment)]
    into = segment[last] + 1

    def both(key_start: Float64Array, knot: Float64Array, key_end: Float64Array) -> Float64Array:
        first = np.concatenate((key_start[:-1].T, knot), axis=1)[:, order]
        second = np.concatenate((first[:, 1:], first[:, :1]), axis=1)
        second[:, last] = key_end[into].T
        return np.stack((first, second))

    ends = np.concatenate((starts[1:], starts[:1]))
    ends[last] = keys[into]
    return _Pieces(
        segment,
        np.stack((starts, ends)),
        both(
            spline.values,
            np.stack([fit.knots[channel].values for channel in channels]),
            fit.arriving[:, channels],
        ),
        both(
            fit.outgoing[:, channels],
            np.stack([fit.knots[channel].derivatives for channel in channels]),
            fit.incoming[:, channels],
        ),
    )


@dataclass(frozen=True)
class _Around:
    """How far a cycle goes on outside the keys: whole periods before and after, and the frames where it ends."""

    before: int = 0
    after: int = 0
    low: float = 0.0
    high: float = 0.0

    @property
    def any(self) -> bool:
        return self.before > 0 or self.after > 0

    @classmethod
    def of(cls, keys: FloatArray, sampling: Sampling, cycle: str) -> _Around:
        if cycle == "SINGLE" or len(keys) < 2:
            return cls()
        first, last = float(keys[0]), float(keys[-1])
        low, high = sampling.bounds(first, last)
        period = last - first
        before, after = max(0, math.ceil((first - low) / period)), max(0, math.ceil((high - last) / period))
        return cls(before, after, low, high)


def _all_pieces(pieces: _Pieces, baked: BoolArray, around: _Around, held: str | None) -> _Pieces:
    """The baked pieces, and those of the cycles outside."""
    inside = pieces.take(baked[pieces.segment]) if len(pieces.segment) else pieces
    if not around.any or not len(pieces.segment):
        return inside
    period = pieces.frames[1, -1] - pieces.frames[0, 0]
    parts = [inside]
    following = pieces.values[1][:, -1]
    for turn in range(1, around.after + 1):
        copy = _continuing(_shifted(pieces, turn * period), held, 0, following)
        following = copy.values[1][:, -1]
        parts.append(_ramped(copy, 0, parts[-1].values[1][:, -1] if turn > 1 else pieces.values[1][:, -1]))
    coming = pieces.values[0][:, 0]
    for turn in range(1, around.before + 1):
        copy = _continuing(_shifted(pieces, -turn * period), held, -1, coming)
        at_end, coming = coming, copy.values[0][:, 0]
        parts.insert(0, _ramped(copy, -1, at_end))
    every = _joined(parts)
    outside = (every.frames[1] <= pieces.frames[0, 0]) | (every.frames[0] >= pieces.frames[1, -1])
    return every.take(~outside | ((every.frames[1] > around.low) & (every.frames[0] < around.high)))


def _shifted(pieces: _Pieces, move: float) -> _Pieces:
    """The pieces at other frames, as float32 has them."""
    return replace(pieces, frames=(pieces.frames + move).astype(np.float32).astype(np.float64))


def _continuing(pieces: _Pieces, held: str | None, end: int, numbers: Float64Array) -> _Pieces:
    """The same rotation in the numbers that go on from those at its start (`end` 0) or its end (-1)."""
    if held is None:
        return pieces
    own = pieces.values[end][:, [end]]
    factors, terms = holding(held).onto(own, numbers[:, np.newaxis])
    return replace(pieces, values=pieces.values * factors + terms, derivatives=pieces.derivatives * factors)


def _ramped(pieces: _Pieces, end: int, numbers: Float64Array) -> _Pieces:
    """The pieces, with a straight line of a guard's length from or to other numbers at their start or end."""
    own = pieces.values[end][:, end]
    if np.abs(own - numbers).max() <= _ARRIVES * max(1.0, float(np.abs(numbers).max())):
        return pieces
    frame = pieces.frames[end, end]
    other = pieces.frames[end + 1, end]
    guard = GUARD if end == 0 else -GUARD
    middle = float(np.float32(frame + guard if abs(guard) < abs(other - frame) / 2 else (frame + other) / 2))
    if middle == frame:
        # Beyond frame 524288 float32 has no frames as near as a guard.
        middle = float(np.nextafter(np.float32(frame), np.float32(other)))
    row = 0 if end == 0 else len(pieces.segment) - 1
    value, derivative = pieces.cut(row, middle)
    line = (value - numbers) / (middle - frame)
    cut = replace(
        pieces, frames=pieces.frames.copy(), values=pieces.values.copy(), derivatives=pieces.derivatives.copy()
    )
    cut.frames[end, row], cut.values[end][:, row], cut.derivatives[end][:, row] = middle, value, derivative
    ends = [(frame, numbers), (middle, value)][:: 1 if end == 0 else -1]
    ramp = _Pieces(
        pieces.segment[[row]],
        np.array([[each[0]] for each in ends]),
        np.stack([each[1][:, np.newaxis] for each in ends]),
        np.stack([line[:, np.newaxis]] * 2),
    )
    return _joined([ramp, cut] if end == 0 else [cut, ramp])


def _keys(pieces: _Pieces, spline: TrackSpline, may_jump: bool) -> PoseKeys:
    """The keys between pieces; and where numbers of a rotation may jump, held ones close before those that have other
    numbers than the piece before ends with."""
    count = len(pieces.segment)
    meets = np.zeros(count, dtype=np.bool_)
    meets[1:] = pieces.frames[0, 1:] == pieces.frames[1, :-1]
    closes = np.append(~meets[1:], True)[:count]
    last = pieces.values[1][:, closes]
    # The spline's own keys keep their own numbers.
    row = np.clip(np.searchsorted(spline.frames, pieces.frames[1, closes]), 0, len(spline.frames) - 1)
    own = spline.frames[row] == pieces.frames[1, closes]
    last[:, own] = spline.values[row[own]].T
    following = np.concatenate((pieces.values[0][:, 1:], pieces.values[0][:, :1]), axis=1)
    following[:, closes] = last
    off = np.abs(following - pieces.values[1]).max(axis=0)
    jumps = np.flatnonzero((off > _ARRIVES) & may_jump)
    incoming = pieces.derivatives[0].copy()
    incoming[:, meets] = pieces.derivatives[1][:, np.flatnonzero(meets) - 1]
    frames = [pieces.frames[0], pieces.frames[1, closes]]
    values = [pieces.values[0], last]
    arriving, leaving = (
        [incoming, pieces.derivatives[1][:, closes]],
        [pieces.derivatives[0], pieces.derivatives[1][:, closes]],
    )
    for jump in jumps.tolist():
        start, end = pieces.frames[:, jump]
        guard = max(end - GUARD, (start + end) / 2)
        value, derivative = pieces.cut(jump, float(np.float32(guard)))
        frames.append(np.array([np.float32(guard)], dtype=np.float64))
        values.append(value[:, np.newaxis])
        arriving.append(derivative[:, np.newaxis])
        leaving.append(derivative[:, np.newaxis])
    held = np.arange(sum(map(len, frames))) >= count + np.count_nonzero(closes)
    every = np.concatenate(frames)
    order = np.argsort(every, kind="stable")
    numbers, before, after = (np.concatenate(each, axis=1)[:, order] for each in (values, arriving, leaving))
    return PoseKeys(every[order].astype(np.float32), numbers, held[order], before, after)
