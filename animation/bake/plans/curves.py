# SPDX-License-Identifier: GPL-3.0-or-later
"""The output CURVES: the fewest Bezier keys that play the splines within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ....interp.fitting.curves import Fit, Request
from ....interp.rotations.representations import JUMP, rotation_representation
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.tracks import Track
from ...translation import rpt_
from .protocol import Baked, ChannelKeys, Derivatives, Plan, PoseKeys, Results, Scope
from .rotation_channels import other_turns, signs_through
from .sample_frames import GUARD, Sampling
from .splines import TrackSpline
from .tolerance import tolerance_of

_FOLLOWED = 5
"""Cycles of a rotation that are computed one by one: two of each kind after the first."""


def plan_curves(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plans of a track's splines, whose values are those that the channels must have at the keys."""
    return [_plan(scope, spline, tolerance_of(scope, splines)) for spline in splines]


@record()
class Curves(Plan):
    """Cubics fitted to a spline."""

    scope: Scope
    spline: TrackSpline
    baked: BoolArray
    around: _Around
    request: Request

    @property
    def requests(self) -> Sequence[Request]:
        """Return the one fit of the spline."""
        return [self.request]

    def compose(self, results: Results) -> Baked:
        """Compose the keys of the fitted curves."""
        track, fit = self.scope.track, next(results.fits)
        notes = [] if fit.reached else [_missed(track, fit, self.spline)]
        notes += other_turns(track, self.spline.frames[fit.jumps & np.concatenate(([False], self.baked[:-1]))])
        signs = signs_through(fit.jumps, self.baked, self.scope)
        if signs is None:
            keys = [each for channels in self._together(fit) for each in self._channels(fit, channels)]
            return Baked(keys, notes, fit.error)
        spline = replace(self.spline, values=self.spline.values * signs[:, np.newaxis])
        fit = _with_signs(fit, self.spline, signs)
        keys = replace(self, spline=spline)._channels(fit, self._together(fit)[0], shown=True)
        return Baked(keys, notes, fit.error)

    def _together(self, fit: Fit) -> list[list[int]]:
        """Return the groups of channels that get keys at the same frames: often all, if none gets generated keys."""
        if self.scope.track.is_rotation:
            return [list(range(len(fit.knots)))]
        if self.around.any:
            # Where the values of a cycle's ends differ, depends on the channel.
            return [[channel] for channel in range(len(fit.knots))]
        alike: dict[bytes, list[int]] = {}
        for channel, knots in enumerate(fit.knots):
            alike.setdefault(knots.frames.tobytes(), []).append(channel)
        return list(alike.values())

    def _channels(self, fit: Fit, channels: list[int], shown: bool | None = None) -> list[ChannelKeys]:
        spline = replace(
            self.spline,
            components=[self.spline.components[channel] for channel in channels],
            values=self.spline.values[:, channels],
        )
        # A fast form of the following lines: tools/bench_fast_forms.py measures how much time it saves.
        if not (self.around.any or fit.jumps.any() or shown) and _are_keyed_alike(self.scope, spline):
            return [_between_own(fit, channels, spline, self.baked)]
        pieces = _all_pieces(_pieces(fit, spline, channels), self.baked, self.around, self.request.representation)
        keys = _keys(pieces, spline, may_jump=self.scope.track.is_rotation)
        return self.scope.channel_keys(spline, keys, self.baked, shown)


def _plan(scope: Scope, spline: TrackSpline, tolerance: float) -> Curves:
    track, baked = scope.track, scope.segments(spline)
    around = _Around.of(spline.frames, scope.sampling, scope.cycle)
    held = {"VECTOR": None, "EULER": track.order}.get(track.kind, track.kind)
    # A new action is for other programs too: glTF's exporter normalises each key and handle separately.
    stretched = scope.options.target != "NEW_ACTION"
    segments = None if around.any else baked
    others = scope.key_frames.astype(np.float64) if len(scope.key_frames) > len(spline.frames) else None
    request = Request(spline.spline, tolerance, held, spline.values, segments, stretched, others)
    return Curves(scope, spline, baked, around, request)


def _are_keyed_alike(scope: Scope, spline: TrackSpline) -> bool:
    """Return whether all channels have all of the spline's keys."""
    frames = spline.frames.tobytes()
    return all(scope.own_frames(component).tobytes() == frames for component in spline.components)


def _between_own(fit: Fit, channels: list[int], spline: TrackSpline, baked: BoolArray) -> ChannelKeys:
    """Return the knots as keys, where all channels have all of the spline's keys."""
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
        None if spline.spline.interpolating else spline.values.T.astype(np.float32),
    )


def _with_signs(fit: Fit, spline: TrackSpline, signs: Float64Array) -> Fit:
    """Return the fit of a quaternion whose keys have those signs, so that the motion arrives at each without a jump."""
    leaving = signs[:, np.newaxis]
    arriving = np.concatenate((leaving[:1], leaving[:-1]))
    knots = []
    for each in fit.knots:
        own = signs[np.searchsorted(spline.frames, each.frames, side="right") - 1]
        knots.append(replace(each, values=each.values * own, derivatives=each.derivatives * own))
    return replace(
        fit,
        knots=tuple(knots),
        outgoing=fit.outgoing * leaving,
        incoming=fit.incoming * arriving,
        arriving=fit.arriving * arriving,
        jumps=np.zeros_like(fit.jumps),
    )


def _missed(track: Track, fit: Fit, spline: TrackSpline) -> str:
    """Return the note on the segment with the largest error."""
    key = int(np.argmax(fit.misses.max(axis=1)))
    error = float(fit.errors[key].max())
    size = rpt_("{:.3g} degrees", math.degrees(error)) if track.is_rotation else f"{error:.3g}"
    return rpt_(
        "off by up to {:s} after frame {:g}: keys can't stand near enough there for the tolerance",
        size,
        float(spline.frames[key]),
    )


@record()
class _Pieces:
    """Cubic pieces of `c` channels, `m` of them in order of frame."""

    segment: IndexArray
    """The row of the spline's key before each piece, shape (m,)."""
    frames: Float64Array
    """Start and end, shape (2, m)."""
    values: Float64Array
    """Shape (2, c, m)."""
    derivatives: Float64Array
    """Derivatives per frame, shape (2, c, m)."""

    def take(self, rows: BoolArray) -> _Pieces:
        return _Pieces(**{each.name: getattr(self, each.name)[..., rows] for each in fields(self)})

    def cut(self, rows: IndexArray, frames: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return values and derivatives, shape (c, n), of n pieces at a frame in each."""
        start, end = self.frames[:, rows]
        length = end - start
        t = (frames - start) / length
        s = 1.0 - t
        (a, b), (leave, arrive) = self.values[..., rows], self.derivatives[..., rows] * length
        value = s * s * (1 + 2 * t) * a + t * t * (3 - 2 * t) * b + t * s * s * leave - t * t * s * arrive
        derivative = 6 * t * s * (b - a) + s * (1 - 3 * t) * leave + t * (3 * t - 2) * arrive
        return value, derivative / length


def _joined(parts: list[_Pieces]) -> _Pieces:
    return _Pieces(
        **{each.name: np.concatenate([getattr(part, each.name) for part in parts], axis=-1) for each in fields(_Pieces)}
    )


def _pieces(fit: Fit, spline: TrackSpline, channels: list[int]) -> _Pieces:
    """Return all pieces of the spline's segments; those of segments that were not fitted are flat."""
    keys = spline.frames.astype(np.float64)
    knots = fit.knots[channels[0]].frames
    starts = np.concatenate((keys[:-1], knots))
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    segment = np.searchsorted(keys, starts, side="right") - 1
    last = np.append(segment[1:] != segment[:-1], True)[: len(segment)]
    into = segment[last] + 1
    ends = np.concatenate((starts[1:], starts[:1]))
    ends[last] = keys[into]
    values, derivatives = (
        np.stack([getattr(fit.knots[channel], name) for channel in channels]) for name in ("values", "derivatives")
    )
    return _Pieces(
        segment,
        np.stack((starts, ends)),
        _starts_and_ends(
            np.concatenate((spline.values[:-1].T, values), axis=1)[:, order], last, fit.arriving[:, channels][into].T
        ),
        _starts_and_ends(
            np.concatenate((fit.outgoing[:, channels][:-1].T, derivatives), axis=1)[:, order],
            last,
            fit.incoming[:, channels][into].T,
        ),
    )


def _starts_and_ends(starts: Float64Array, last: BoolArray, arriving: Float64Array) -> Float64Array:
    """Return the values or derivatives at the starts and ends of pieces, shape (2, c, m).

    Each piece ends with those at the start of the next one; the `last` one before a key with those arriving at the key.
    """
    ends = np.concatenate((starts[:, 1:], starts[:, :1]), axis=1)
    ends[:, last] = arriving
    return np.stack((starts, ends))


@record()
class _Around:
    """How far a cycle continues outside the keys: whole periods before and after, and the frames where it ends."""

    before: int = 0
    after: int = 0
    low: float = 0.0
    high: float = 0.0

    @property
    def any(self) -> bool:
        return self.before > 0 or self.after > 0

    @classmethod
    def of(cls, keys: Float32Array, sampling: Sampling, cycle: str) -> _Around:
        if cycle == "SINGLE" or len(keys) < 2:
            return cls()
        first, last = float(keys[0]), float(keys[-1])
        low, high = sampling.bounds(first, last)
        period = last - first
        before, after = max(0, math.ceil((first - low) / period)), max(0, math.ceil((high - last) / period))
        return cls(before, after, low, high)


def _all_pieces(pieces: _Pieces, baked: BoolArray, around: _Around, held: str | None) -> _Pieces:
    """Return the baked pieces, and those of the cycles outside the keys."""
    inside = pieces.take(baked[pieces.segment]) if len(pieces.segment) else pieces
    if not around.any or not len(pieces.segment):
        return inside
    after = _cycles(pieces, around.after, held, end=0)
    before = _cycles(pieces, around.before, held, end=1)
    every = _joined([before, inside, after])
    outside = (every.frames[1] <= pieces.frames[0, 0]) | (every.frames[0] >= pieces.frames[1, -1])
    return every.take(~outside | ((every.frames[1] > around.low) & (every.frames[0] < around.high)))


def _cycles(pieces: _Pieces, count: int, held: str | None, end: int) -> _Pieces:
    """Return `count` cycles after the pieces, joined by their starts (`end` 0), or before them by their ends (1).

    With a short period there are many, so all are made at once.
    """
    size, turns = len(pieces.segment), np.arange(1.0, count + 1.0)
    period = pieces.frames[1, -1] - pieces.frames[0, 0]
    moves = turns[:, np.newaxis] * (period if end == 0 else -period)
    joins, leaves = (0, -1) if end == 0 else (-1, 0)
    own, last = pieces.values[end][:, joins], pieces.values[1 - end][:, leaves]
    factors, terms = _continuing(own, last, count, held)
    factors, terms = factors[..., np.newaxis], terms[..., np.newaxis]
    # Before the pieces, the first cycle comes first.
    order = slice(None) if end == 0 else slice(None, None, -1)

    copies = _Pieces(
        np.tile(pieces.segment, count),
        *(
            each[..., order, :].reshape(*each.shape[:-2], count * size)
            for each in (
                (pieces.frames[:, np.newaxis] + moves).astype(np.float32).astype(np.float64),
                pieces.values[:, :, np.newaxis] * factors + terms,
                pieces.derivatives[:, :, np.newaxis] * factors,
            )
        ),
    )
    rows = np.arange(count) * size if end == 0 else np.arange(1, count + 1) * size - 1
    beside = copies.values[1 - end][:, rows - 1 if end == 0 else (rows + 1) % max(1, count * size)]
    if count:
        beside[:, joins] = last
    return _ramped(copies, rows, end, beside)


def _continuing(
    own: Float64Array, last: Float64Array, count: int, held: str | None
) -> tuple[Float64Array, Float64Array]:
    """Return factors and terms, shape (c, count), of the maps that continue each cycle's values in the next one.

    The maps keep the rotation. A cycle arrives with the values `own` and leaves with `last`.
    """
    factors, terms = np.ones((len(own), count)), np.zeros((len(own), count))
    if held is None:
        return factors, terms
    going = last
    for turn in range(min(count, _FOLLOWED)):
        factor, term = rotation_representation(held).map_to_nearest(own[:, np.newaxis], going[:, np.newaxis])
        factors[:, turn], terms[:, turn] = factor[:, 0], term[:, 0]
        going = factors[:, turn] * last + terms[:, turn]
    # An orientation has two sets of values, apart from whole turns, so cycles continue regularly from the second on:
    # all in one set, or alternating between both.
    for first in range(_FOLLOWED - 2, min(count, _FOLLOWED)):
        more = np.arange(first, count, 2)
        factors[:, more] = factors[:, [first]]
        terms[:, more] = terms[:, [first]] + (terms[:, [first]] - terms[:, [first - 2]]) * ((more - first) // 2)
    return factors, terms


def _ramped(pieces: _Pieces, rows: IndexArray, end: int, numbers: Float64Array) -> _Pieces:
    """Insert short straight pieces where pieces don't meet the given values, shape (c, n), at their starts or ends.

    `end` is 0 for starts, 1 for ends. The straight pieces lead from or to the values, within a guard's length.
    """
    off = np.abs(pieces.values[end][:, rows] - numbers).max(axis=0, initial=0.0)
    jumps = off > JUMP * np.abs(numbers).max(axis=0, initial=1.0)
    rows, numbers = rows[jumps], numbers[:, jumps]
    frames, others = pieces.frames[end, rows], pieces.frames[1 - end, rows]
    way = np.clip((others - frames) / 2, -GUARD, GUARD)
    middles = (frames + way).astype(np.float32)
    # Beyond frame 524288 float32 can't represent frames a guard's length apart.
    same = middles == frames
    middles[same] = np.nextafter(frames[same].astype(np.float32), others[same].astype(np.float32))
    middle = middles.astype(np.float64)
    values, derivatives = pieces.cut(rows, middle)
    lines = (values - numbers) / (middle - frames)
    cut = _Pieces(*(getattr(pieces, each.name).copy() for each in fields(_Pieces)))
    cut.frames[end, rows], cut.values[end][:, rows], cut.derivatives[end][:, rows] = middle, values, derivatives
    order = slice(None) if end == 0 else slice(None, None, -1)
    ramps = _Pieces(
        pieces.segment[rows],
        np.stack([frames, middle][order]),
        np.stack([numbers, values][order]),
        np.stack((lines, lines)),
    )
    return _Pieces(
        *(
            np.insert(getattr(cut, each.name), rows + end, getattr(ramps, each.name), axis=-1)
            for each in fields(_Pieces)
        )
    )


def _keys(pieces: _Pieces, spline: TrackSpline, may_jump: bool) -> PoseKeys:
    """Return the keys between pieces.

    Where values of a rotation may jump, a CONSTANT key is inserted close before each key whose values differ from those
    at the end of the piece before.
    """
    count = len(pieces.segment)
    meets = np.zeros(count, dtype=np.bool_)
    meets[1:] = pieces.frames[0, 1:] == pieces.frames[1, :-1]
    closes = np.append(~meets[1:], True)[:count]
    last = pieces.values[1][:, closes]
    # The spline's own keys keep their own values.
    row = np.clip(np.searchsorted(spline.frames, pieces.frames[1, closes]), 0, len(spline.frames) - 1)
    own = spline.frames[row] == pieces.frames[1, closes]
    last[:, own] = spline.values[row[own]].T
    following = np.concatenate((pieces.values[0][:, 1:], pieces.values[0][:, :1]), axis=1)
    following[:, closes] = last
    off = np.abs(following - pieces.values[1]).max(axis=0)
    jumps = np.flatnonzero((off > JUMP) & may_jump)
    incoming = pieces.derivatives[0].copy()
    incoming[:, meets] = pieces.derivatives[1][:, np.flatnonzero(meets) - 1]
    frames = [pieces.frames[0], pieces.frames[1, closes]]
    values = [pieces.values[0], last]
    arriving, leaving = (
        [incoming, pieces.derivatives[1][:, closes]],
        [pieces.derivatives[0], pieces.derivatives[1][:, closes]],
    )
    if len(jumps):
        start, end = pieces.frames[:, jumps]
        guards = np.maximum(end - GUARD, (start + end) / 2).astype(np.float32).astype(np.float64)
        value, derivative = pieces.cut(jumps, guards)
        frames.append(guards)
        values.append(value)
        arriving.append(derivative)
        leaving.append(derivative)
    held = np.arange(sum(map(len, frames))) >= count + np.count_nonzero(closes)
    every = np.concatenate(frames)
    order = np.argsort(every, kind="stable")
    numbers, before, after = (np.concatenate(each, axis=1)[:, order] for each in (values, arriving, leaving))
    return PoseKeys(every[order].astype(np.float32), numbers, held[order], before, after)
