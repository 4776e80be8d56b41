# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track's splines to the fewest Bezier keys that play them, for each of its channels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ...interp.fitting import ROTATION_TOLERANCE, VALUE_TOLERANCE, Fit, Request
from ...interp.holding import holding
from ...words import rpt_
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import FloatArray, IndexArray
from ..store.originals import Originals
from ..store.settings import Settings
from ..store.tracks import Track
from .samples import (
    STILL,
    UNTOUCHED,
    BoolArray,
    Float64Array,
    Motion,
    Slopes,
    Written,
    baked_segments,
    cycle_beyond,
    own_frames,
    shown_at,
    shown_splines,
    touches,
    whole_segments,
)
from .sampling import GUARD, Sampling
from .splines import TrackSpline, track_splines

_ARRIVES = 1e-3
"""Of a rotation's channels: one that comes to a key farther off than this jumps there."""
_LEAST_RANGE = 1e-5
"""Of a track's largest value: float32 tells no smaller differences apart than a hundredth of this."""


@dataclass(frozen=True)
class Tolerances:
    """How near curves come: `value` in the property's units, None for 1e-4 of the track's range; radians."""

    value: float | None = None
    rotation: float = ROTATION_TOLERANCE
    stretched: bool = True
    """Whether generated quaternions may be longer or shorter than the keys', as `Request` has it."""


@dataclass
class FittedMotion(Motion):
    """What has to be fitted for one track, and how that becomes generated keys."""

    fits: list[Request] = field(default_factory=list)
    finish_fit: list[Callable[[Fit], list[Written]]] = field(default_factory=list)
    """One for each of `fits`."""
    error: float = 0.0
    """The largest difference from the splines: of values, or an angle in radians."""

    @property
    def is_empty(self) -> bool:
        return not self.fits

    def fitted(self, fits: list[Fit]) -> list[Written]:
        self.error = max((fit.error for fit in fits), default=0.0)
        for fit, request in zip(fits, self.fits, strict=True):
            if not fit.reached:
                self.notes.append(self._missed(fit, request))
        return [written for finish, fit in zip(self.finish_fit, fits, strict=True) for written in finish(fit)]

    def _missed(self, fit: Fit, request: Request) -> str:
        share = (fit.errors / fit.tolerance).max(axis=1)
        key = int(np.argmax(share))
        frame, error = request.spline.keys.frames[key], float(fit.errors[key].max())
        size = rpt_("{:.3g} degrees", math.degrees(error)) if self.track.is_rotation else f"{error:.3g}"
        return rpt_(
            "off by up to {:s} after frame {:g}: keys can't stand near enough there for the tolerance", size, frame
        )


def plan_fitted(
    track: Track,
    settings: Settings,
    originals: dict[int, Originals],
    sampling: Sampling,
    defaults: Mapping[str, float],
    tolerances: Tolerances,
) -> FittedMotion:
    """The splines of the track and how near to come to them.

    Raises Refusal where the keys or their parameters make no spline.
    """
    splines = track_splines(track, settings, originals, defaults)
    motion = FittedMotion(track, settings, originals, union([spline.frames for spline in splines]))
    beyond = cycle_beyond(track, settings)
    value = tolerances.value if tolerances.value is not None else VALUE_TOLERANCE * value_range(splines)
    if not touches(splines, sampling, beyond):
        motion.notes.append(rpt_(UNTOUCHED))
        return motion
    for spline in shown_splines(motion, splines):
        tolerance = tolerances.rotation if track.is_rotation else value
        _plan(motion, spline, sampling, beyond, tolerance, tolerances.stretched)
    return motion


def value_range(splines: list[TrackSpline]) -> float:
    """How far the track's keys lie apart, all components together."""
    spread = max(float(np.ptp(spline.values, axis=0).max()) for spline in splines)
    size = max(float(np.abs(spline.values).max()) for spline in splines)
    return max(spread, _LEAST_RANGE * size, 1e-30)


def _plan(
    motion: FittedMotion, spline: TrackSpline, sampling: Sampling, beyond: str, tolerance: float, stretched: bool
) -> None:
    track = motion.track
    baked = baked_segments(spline, sampling)
    if track.is_rotation:
        baked = whole_segments(baked, spline.frames, motion.originals)
    around = _Around.of(spline.frames, sampling, beyond)
    held = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    numbers = spline.values if track.is_rotation or motion.shown else None
    motion.fits.append(Request(spline.spline, tolerance, held, numbers, None if around.any else baked, stretched))
    keyed_alike = _are_keyed_alike(motion, spline)

    def finish(fit: Fit) -> list[Written]:
        jumps = fit.jumps & np.concatenate(([False], baked[:-1]))
        if jumps.any() and track.kind == "EULER":
            frames = ", ".join(f"{frame:g}" for frame in spline.frames[jumps][:3])
            motion.notes.append(
                rpt_("its Euler angles name another way round than the rotation takes to frame {:s}", frames)
            )
        together = [list(range(len(fit.knots)))] if track.is_rotation else _alike(fit, around)
        if keyed_alike and not around.any and not jumps.any():
            return [_between_own(spline, baked, fit, channels) for channels in together]
        pieces = [_all_pieces(_pieces(fit, spline, channels), baked, around, held) for channels in together]
        if track.is_rotation:
            return _rotation_channels(motion, spline, baked, _keys(pieces[0], spline, together[0], may_jump=True))
        return [
            _written(
                motion, [spline.components[each] for each in channels], spline, baked, _keys(part, spline, channels)
            )
            for channels, part in zip(together, pieces, strict=True)
        ]

    motion.finish_fit.append(finish)


def _are_keyed_alike(motion: Motion, spline: TrackSpline) -> bool:
    """Whether all channels have all of the spline's keys."""
    frames = spline.frames.tobytes()
    return all(own_frames(motion, component).tobytes() == frames for component in spline.components)


def _between_own(spline: TrackSpline, baked: BoolArray, fit: Fit, channels: list[int]) -> Written:
    """What channels get that have all of the spline's keys: these take slopes, and the knots are the keys between."""
    knots = [fit.knots[channel] for channel in channels]
    frames = knots[0].frames.astype(np.float32)
    derivatives = np.array([each.derivatives for each in knots])
    components = [spline.components[channel] for channel in channels]
    return Written(
        components,
        frames,
        np.array([each.values for each in knots], dtype=np.float32),
        np.zeros(len(frames), dtype=np.bool_),
        baked,
        Slopes(derivatives, derivatives, fit.incoming[:, channels].T, fit.outgoing[:, channels].T),
        shown_at(spline, components, spline.frames),
    )


def _alike(fit: Fit, around: _Around) -> list[list[int]]:
    """The channels that get keys at the same frames, together: often all, of which none has any but the animator's."""
    if around.any:
        # Where a cycle goes on from other numbers is each channel's own.
        return [[channel] for channel in range(len(fit.knots))]
    alike: dict[bytes, list[int]] = {}
    for channel, knots in enumerate(fit.knots):
        alike.setdefault(knots.frames.tobytes(), []).append(channel)
    return list(alike.values())


@dataclass(frozen=True)
class _Pieces:
    """Cubic pieces of `c` channels, `m` of them in order of frame."""

    segment: IndexArray
    """After which of the spline's keys, shape (m,)."""
    frames: Float64Array
    """Start and end, shape (2, m)."""
    values: Float64Array
    """Shape (2, c, m)."""
    slopes: Float64Array
    """Derivatives a frame, shape (2, c, m)."""

    def take(self, rows: BoolArray) -> _Pieces:
        return _Pieces(**{each.name: getattr(self, each.name)[..., rows] for each in fields(self)})

    def cut(self, row: int, frame: float) -> tuple[Float64Array, Float64Array]:
        """Values and derivatives, shape (c,), of a piece at a frame in it."""
        start, end = self.frames[:, row]
        length = end - start
        t = (frame - start) / length
        s = 1.0 - t
        (a, b), (leave, arrive) = self.values[..., row], self.slopes[..., row] * length
        value = s * s * (1 + 2 * t) * a + t * t * (3 - 2 * t) * b + t * s * s * leave - t * t * s * arrive
        slope = 6 * t * s * (b - a) + s * (1 - 3 * t) * leave + t * (3 * t - 2) * arrive
        return value, slope / length


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
            spline.values[:, channels],
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
    return replace(pieces, values=pieces.values * factors + terms, slopes=pieces.slopes * factors)


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
    value, slope = pieces.cut(row, middle)
    line = (value - numbers) / (middle - frame)
    cut = replace(pieces, frames=pieces.frames.copy(), values=pieces.values.copy(), slopes=pieces.slopes.copy())
    cut.frames[end, row], cut.values[end][:, row], cut.slopes[end][:, row] = middle, value, slope
    ends = [(frame, numbers), (middle, value)][:: 1 if end == 0 else -1]
    ramp = _Pieces(
        pieces.segment[[row]],
        np.array([[each[0]] for each in ends]),
        np.stack([each[1][:, np.newaxis] for each in ends]),
        np.stack([line[:, np.newaxis]] * 2),
    )
    return _joined([ramp, cut] if end == 0 else [cut, ramp])


@dataclass(frozen=True)
class _Keys:
    """Keys of `c` channels at n frames."""

    frames: FloatArray
    values: Float64Array
    """Shape (c, n)."""
    incoming: Float64Array
    outgoing: Float64Array
    held: BoolArray


def _keys(pieces: _Pieces, spline: TrackSpline, channels: list[int], may_jump: bool = False) -> _Keys:
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
    last[:, own] = spline.values[row[own]][:, channels].T
    following = np.concatenate((pieces.values[0][:, 1:], pieces.values[0][:, :1]), axis=1)
    following[:, closes] = last
    off = np.abs(following - pieces.values[1]).max(axis=0)
    jumps = np.flatnonzero((off > _ARRIVES) & may_jump)
    incoming = pieces.slopes[0].copy()
    incoming[:, meets] = pieces.slopes[1][:, np.flatnonzero(meets) - 1]
    frames = [pieces.frames[0], pieces.frames[1, closes]]
    values = [pieces.values[0], last]
    slopes_in, slopes_out = [incoming, pieces.slopes[1][:, closes]], [pieces.slopes[0], pieces.slopes[1][:, closes]]
    for jump in jumps.tolist():
        start, end = pieces.frames[:, jump]
        guard = max(end - GUARD, (start + end) / 2)
        value, slope = pieces.cut(jump, float(np.float32(guard)))
        frames.append(np.array([np.float32(guard)], dtype=np.float64))
        values.append(value[:, np.newaxis])
        slopes_in.append(slope[:, np.newaxis])
        slopes_out.append(slope[:, np.newaxis])
    held = np.arange(sum(map(len, frames))) >= count + np.count_nonzero(closes)
    every = np.concatenate(frames)
    order = np.argsort(every, kind="stable")
    numbers, before, after = (np.concatenate(each, axis=1)[:, order] for each in (values, slopes_in, slopes_out))
    return _Keys(every[order].astype(np.float32), numbers, before, after, held[order])


def _written(
    motion: Motion,
    components: list[int],
    spline: TrackSpline,
    baked: BoolArray,
    keys: _Keys,
    rows: list[int] | None = None,
) -> Written:
    """What channels get whose own keys are alike: the keys, those that stand at their own only as slopes."""
    channels = list(range(len(components))) if rows is None else rows
    own = own_frames(motion, components[0])
    mine = is_among(keys.frames, own)
    at = np.flatnonzero(mine)
    place = np.clip(np.searchsorted(own, keys.frames[at] - np.float32(1e-3)), 0, max(len(own) - 1, 0))
    own_incoming, own_outgoing = np.zeros((len(components), len(own))), np.zeros((len(components), len(own)))
    own_incoming[:, place] = keys.incoming[channels][:, at]
    own_outgoing[:, place] = keys.outgoing[channels][:, at]
    slopes = Slopes(keys.incoming[channels][:, ~mine], keys.outgoing[channels][:, ~mine], own_incoming, own_outgoing)
    own_baked = baked[np.searchsorted(spline.frames, own - np.float32(1e-3))]
    return Written(
        components,
        keys.frames[~mine],
        keys.values[channels][:, ~mine].astype(np.float32),
        keys.held[~mine],
        own_baked,
        slopes,
        shown_at(spline, components, own),
    )


def _rotation_channels(motion: Motion, spline: TrackSpline, baked: BoolArray, keys: _Keys) -> list[Written]:
    alike: dict[bytes, list[int]] = {}
    length = np.gradient(keys.frames.astype(np.float64)) if len(keys.frames) > 1 else np.zeros(len(keys.frames))
    for row, component in enumerate(spline.components):
        own = own_frames(motion, component)
        swing = np.maximum(np.abs(keys.incoming[row]), np.abs(keys.outgoing[row])) * length
        departure = np.abs(keys.values[row] - motion.track.component(component)) + swing
        if len(own) or departure.max(initial=0.0) > STILL:
            alike.setdefault(own.tobytes(), []).append(row)
    return [
        _written(motion, [spline.components[row] for row in rows], spline, baked, keys, rows) for rows in alike.values()
    ]
