# SPDX-License-Identifier: GPL-3.0-or-later
"""The protocol of plans: what a bake evaluates and fits for a track, and the keys that its channels get.

Every output is one class of `Plan`, made for one spline of a track; the pipeline evaluates and fits for all plans at
once, and gives each its own results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ....interp import rotations
from ....interp.batch import Spline
from ....interp.fitting.curves import Fit, Request
from ....interp.fitting.handles import Handles
from ....interp.fitting.handles import Request as HandlesRequest
from ...fcurves.frames import is_among, rows_of
from ...fcurves.keyframes import BoolArray, EnumArray, Float32Array, Float64Array, IndexArray
from ...memoize import memoized
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.own_keys import OwnKeys
from ...store.table.options import Options
from ...store.table.settings import Settings
from ...store.tracks import Track
from ...translation import n_, rpt_
from .sample_frames import Sampling, hosts
from .splines import TrackSpline, quaternions_of

OwnChannels = Mapping[int, OwnKeys]
"""The animator's keys of each channel that has any."""
Evaluation = tuple[Spline, Float32Array | Float64Array]
"""A spline, and the frames at which it is evaluated."""

STILL = 1e-6
"""A component without an F-curve gets one only where the motion leaves its value by more than this: float32
rounding."""
_ONE_ORIENTATION = 1e-6
"""Radians. Orientations are equal within the rounding of their float32 values."""


@record()
class Derivatives:
    """Derivatives per frame on both sides of keys, shape (components, n), for generated keys and for the animator's."""

    incoming: Float64Array
    outgoing: Float64Array
    own_incoming: Float64Array
    own_outgoing: Float64Array

    def take(self, rows: BoolArray) -> Derivatives:
        """Return the derivatives of some of the components."""
        return Derivatives(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    @classmethod
    def joined(cls, every: Sequence[Derivatives]) -> Derivatives:
        """Concatenate the derivatives of several sets of components."""
        return cls(*(np.concatenate([getattr(one, each.name) for one in every]) for each in fields(cls)))

    @property
    def largest(self) -> Float64Array:
        """Return the largest absolute derivative, shape (components,)."""
        every = [np.abs(getattr(self, each.name)).max(axis=1, initial=0.0) for each in fields(self)]
        largest: Float64Array = np.max(every, axis=0)
        return largest


@record()
class _Missed:
    """Values that curves do not reach, because keys for them would have stood too near to others."""

    components: list[int]
    frames: Float64Array
    """Shape (n,)."""
    values: Float64Array
    """Shape (components, n)."""
    off: Float64Array
    """How much more these are than what is played, shape (components, n)."""


@record()
class ChannelKeys:
    """The generated keys of channels whose own keys are at the same frames, and the segments that they fill."""

    components: list[int]
    frames: Float32Array
    """Frames of the generated keys, shape (n,), ascending."""
    values: Float32Array
    """Shape (components, n)."""
    held: BoolArray
    """Which of the generated keys are CONSTANT: those close before a jump."""
    baked: BoolArray
    """For each of the animator's keys: whether the segment after it is baked."""
    derivatives: Derivatives | None = None
    """For Bezier keys; None: the keys are linear."""
    shown: Float32Array | None = None
    """Values of the animator's keys on the baked curves, shape (components, keys); None: their own values."""
    handles: tuple[Float32Array, Float32Array] | None = None
    """Left and right handles of the animator's keys, where these play the baked segments: shape (components, keys, 2),
    NaN for those that stay. None where generated keys play them."""
    chosen: EnumArray | None = None
    """Handles of the animator's keys whose type he chose, so that Blender places them: bits `rows.CHOSEN_…`, shape
    (components, keys). None: none is chosen."""
    repeats: bool = False
    """True where a Cycles modifier repeats them before the first key and after the last."""
    rests: tuple[bool, bool] = (False, False)
    """Whether an ease brings the motion to rest at the first of the animator's keys, and at the last."""

    @cached_property
    def holds_outside(self) -> bool:
        """Return whether these keys hold the first and the last value, whatever the curve's extrapolation."""
        return self.handles is None and bool(self.baked[:-1].all())

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return what must be equal for keys to be composed together, where the animator's are at the same frames."""
        optional = (self.derivatives, self.shown, self.handles, self.chosen)
        arrays = (self.frames, self.held, self.baked)
        return *(each.tobytes() for each in arrays), *(each is None for each in optional), self.repeats, self.rests

    @classmethod
    def joined(cls, every: Sequence[ChannelKeys]) -> ChannelKeys:
        """Concatenate the components of keys with one layout."""
        first = every[0]
        if len(every) == 1:
            return first
        handles, derivatives = [each.handles for each in every if each.handles is not None], None
        if first.derivatives is not None:
            derivatives = Derivatives.joined([each.derivatives for each in every if each.derivatives is not None])
        return replace(
            first,
            components=[component for each in every for component in each.components],
            values=np.concatenate([each.values for each in every]),
            derivatives=derivatives,
            shown=None if first.shown is None else np.concatenate([each.shown for each in every]),
            handles=(np.concatenate([left for left, _ in handles]), np.concatenate([right for _, right in handles]))
            if handles
            else None,
            chosen=None if first.chosen is None else np.concatenate([each.chosen for each in every]),
        )

    def take(self, rows: BoolArray) -> ChannelKeys:
        """Return the keys of some of the components."""
        return replace(
            self,
            components=[component for component, chosen in zip(self.components, rows, strict=True) if chosen],
            values=self.values[rows],
            derivatives=None if self.derivatives is None else self.derivatives.take(rows),
            shown=None if self.shown is None else self.shown[rows],
            handles=None if self.handles is None else (self.handles[0][rows], self.handles[1][rows]),
            chosen=None if self.chosen is None else self.chosen[rows],
        )

    def without(self, host: IndexArray, own: Float32Array, values: Float32Array) -> tuple[ChannelKeys, _Missed | None]:
        """Return the keys without those that others replace, and the error this makes.

        `host`: for each key the one that replaces it, as `hosts` returns it: a generated key, or one of the animator's
        at the frames `own` with those values. Bezier keys that stay take over the derivatives of those they replace.
        """
        stays, derivatives, missed = host < 0, self.derivatives, None
        if derivatives is not None:
            frames = np.concatenate((own, self.frames)).astype(np.float64)
            every = np.concatenate((values, self.values), axis=1).astype(np.float64)
            incoming = np.concatenate((derivatives.own_incoming, derivatives.incoming), axis=1)
            outgoing = np.concatenate((derivatives.own_outgoing, derivatives.outgoing), axis=1)
            gone, at = len(own) + np.flatnonzero(~stays), host[~stays]
            after = frames[gone] > frames[at]
            # Of several the outermost, which is written last.
            for rows, sides in ((np.flatnonzero(after), outgoing), (np.flatnonzero(~after)[::-1], incoming)):
                sides[:, at[rows]] = sides[:, gone[rows]]
            slopes = np.where(after, outgoing[:, at], incoming[:, at])
            off = every[:, gone] - every[:, at] - slopes * (frames[gone] - frames[at])
            missed = _Missed(self.components, frames[gone], every[:, gone], off)
            mine = slice(None, len(own))
            others = np.append(np.zeros(len(own), dtype=np.bool_), stays)
            derivatives = Derivatives(incoming[:, others], outgoing[:, others], incoming[:, mine], outgoing[:, mine])
        kept = replace(
            self,
            frames=self.frames[stays],
            values=self.values[:, stays],
            held=self.held[stays],
            derivatives=derivatives,
        )
        return kept, missed

    def without_generated(self) -> ChannelKeys:
        """Return the same segments without generated keys."""
        none = self.frames[:0]
        derivatives = self.derivatives and replace(
            self.derivatives, incoming=self.derivatives.incoming[:, :0], outgoing=self.derivatives.outgoing[:, :0]
        )
        return replace(self, frames=none, values=self.values[:, :0], held=self.held[:0], derivatives=derivatives)


@record()
class Baked:
    """The keys of the channels of a spline, or of a whole track, with their errors."""

    channels: list[ChannelKeys]
    notes: list[str] = field(default_factory=list)
    error: float = 0.0
    """The maximum error of curves or handles: of values, or an angle in radians."""
    error_frame: float = math.nan
    """The frame of the maximum error, for handles."""
    is_approximate: bool = False
    """True where the error of handles exceeds the tolerance."""

    @cached_property
    def is_by_handles(self) -> bool:
        """Return whether the handles of the animator's keys play it."""
        return any(keys.handles is not None for keys in self.channels)

    @property
    def samples(self) -> int:
        """Return the number of generated linear keys, all channels together."""
        return sum(keys.values.size for keys in self.channels if keys.derivatives is None)

    @property
    def curve_keys(self) -> int:
        """Return the number of generated Bezier keys, all channels together."""
        return sum(keys.values.size for keys in self.channels if keys.derivatives is not None)


@record()
class Results:
    """Hand out the results of evaluation and fitting, in the order of the plans: each takes those it requested."""

    values: Iterator[Float64Array]
    fits: Iterator[Fit]
    handles: Iterator[Handles]


class Plan(ABC):
    """Plan the bake of the channels of one spline: request what it needs, and compose keys from the results."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the splines to evaluate, with frames."""
        return ()

    @property
    def requests(self) -> Sequence[Request]:
        """Return the splines to fit curves to."""
        return ()

    @property
    def handles(self) -> Sequence[HandlesRequest]:
        """Return the splines to fit handles to."""
        return ()

    @abstractmethod
    def compose(self, results: Results) -> Baked:
        """Compose the channels' keys from the results for `evaluations`, `requests` and `handles`."""


_LAST_PLACE = 2.0**-22
"""Relative: more than the distance of two float32 next to each other."""


@record()
class TrackPlan(Plan):
    """The plan of a track: one plan for each of its splines, none where the range touches no segment."""

    track: Track
    settings: Settings
    own: OwnChannels
    key_frames: Float32Array
    """Frames of the animator's keys, all channels together."""
    plans: Sequence[Plan]
    notes: Sequence[str] = ()
    shown: bool = False
    """True where the motion doesn't pass through the keys, so that they have its values on the baked curves."""
    function: FrameFunction | None = None
    """The frame function that the track is played by."""
    largest: float = 0.0
    """The largest absolute value of its keys; of rotations 0."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the splines to evaluate of all plans."""
        return [evaluation for plan in self.plans for evaluation in plan.evaluations]

    @property
    def requests(self) -> Sequence[Request]:
        """Return the splines to fit curves to of all plans."""
        return [request for plan in self.plans for request in plan.requests]

    @property
    def handles(self) -> Sequence[HandlesRequest]:
        """Return the splines to fit handles to of all plans."""
        return [request for plan in self.plans for request in plan.handles]

    def with_own(self, own: OwnChannels) -> TrackPlan:
        """Return the plan with own keys that have rows."""
        return self if own == self.own else replace(self, own=own)

    def compose(self, results: Results) -> Baked:
        """Compose the keys of all plans, with the largest error."""
        every = [plan.compose(results) for plan in self.plans]
        if len(every) == 1 and every[0].is_by_handles and not self.notes:
            return every[0]
        apart = [self._apart(keys) for baked in every for keys in baked.channels]
        channels = self._without_needless([keys for keys, _ in apart])
        notes = [*self.notes, *(note for baked in every for note in baked.notes)]
        worst = max(every, key=lambda baked: baked.error, default=Baked([]))
        missed, more = self._missed(apart)
        error = worst.error + missed
        approximate = any(baked.is_approximate for baked in every)
        return Baked(channels, [*notes, *more], error, worst.error_frame, approximate)

    def _apart(self, keys: ChannelKeys) -> tuple[ChannelKeys, _Missed | None]:
        """Return the keys without generated ones that are too close to others, and the error this makes."""
        own = self.own[keys.components[0]].keys.frames if keys.components[0] in self.own else keys.frames[:0]
        host = hosts(keys.frames, keys.held, own) if len(keys.frames) else None
        return (keys, None) if host is None else keys.without(host, *self._own_places(keys))

    def _own_places(self, keys: ChannelKeys) -> tuple[Float32Array, Float32Array]:
        """Return the frames and values, one row a component, of the animator's keys on the baked curves."""
        if keys.components[0] not in self.own:
            return keys.frames[:0], keys.values[:, :0]
        own = [self.own[component].keys for component in keys.components]
        return own[0].frames, np.array([each.values for each in own]) if keys.shown is None else keys.shown

    def _missed(self, every: Sequence[tuple[ChannelKeys, _Missed | None]]) -> tuple[float, list[str]]:
        """Return about the error of a rotation whose channels' keys are too close to each other, and notes.

        The error is in radians; there is a note where it exceeds the tolerance. Values have no such error.
        """
        gone = [missed for _, missed in every if missed is not None]
        options = self.settings.options
        if not (gone and self.track.is_rotation) or options is None:
            return 0.0, []
        frames = np.unique(np.concatenate([missed.frames for missed in gone]))
        meant = np.tile([self.track.component(index) for index in range(len(self.track.rest))], (len(frames), 1))
        off = np.zeros_like(meant)
        for keys, missed in every:
            own, values = self._own_places(keys)
            near = np.abs(np.concatenate((own, keys.frames)) - frames[:, np.newaxis]).argmin(axis=1)
            meant[:, keys.components] = np.concatenate((values, keys.values), axis=1).T[near]
            if missed is not None:
                at = np.ix_(np.searchsorted(frames, missed.frames), np.array(missed.components))
                meant[at], off[at] = missed.values.T, missed.off.T
        angles = rotations.angle_between(
            *(rotations.normalise(quaternions_of(self.track, each)) for each in (meant, meant - off))
        )
        row = int(angles.argmax())
        size, frame = float(angles[row]), float(frames[row])
        if size <= options.rotation_tolerance:
            return size, []
        text = n_(
            "off by about {:.3g} degrees near frame {:g}: there keys of its channels stand too near to each other"
        )
        return size, [rpt_(text, math.degrees(size), frame)]

    def _without_needless(self, channels: list[ChannelKeys]) -> list[ChannelKeys]:
        """Remove generated keys where a channel, or a rotation as a whole, is constant."""
        if all(keys.handles is not None for keys in channels):
            return channels
        moves = (each for keys in channels for each in self._move_at_once(keys))
        if any(moves) if self.track.is_rotation else all(moves):
            return channels
        own = [self._own_values(keys) for keys in channels]
        together = list(zip(channels, own, strict=True))
        if self.track.is_rotation:
            # Own keys are few, and mostly suffice to decide.
            each = (
                self._is_constant(keys, values).all() and self._is_constant(keys, keys.values, values).all()
                for keys, values in together
            )
            if not all(each) or not self._is_one_orientation(together):
                return channels
            return [keys.without_generated() for keys in channels if keys.components[0] in self.own]
        constants = [self._is_constant_throughout(keys, values) for keys, values in together]
        options = self.settings.options
        if options is not None and options.target == "NEW_ACTION" and not all(constant.all() for constant in constants):
            # glTF's exporter resamples a vector whose channels have keys at different frames.
            return channels
        result = []
        for keys, constant in zip(channels, constants, strict=True):
            parts = [keys.take(~constant), keys.take(constant).without_generated()] if constant.any() else [keys]
            result += [part for part in parts if part.components]
        return result

    def _move_at_once(self, keys: ChannelKeys) -> list[bool]:
        """Return of which channels the first two of the animator's keys differ, beside a baked segment.

        Two numbers of most channels tell that they are not constant.
        """
        if keys.shown is not None or keys.components[0] not in self.own or not keys.baked[:-1][:1].any():
            return [False] * len(keys.components)
        every = [self.own[component] for component in keys.components]
        firsts = [own.values[:2].tolist() for own in every]
        return [abs(b - a) > _LAST_PLACE * max(own.bound, 1.0) for (a, b), own in zip(firsts, every, strict=True)]

    def _own_values(self, keys: ChannelKeys) -> Float32Array:
        """Return the values of the animator's keys around baked segments, shape (components, k)."""
        if keys.components[0] not in self.own:
            return np.empty((len(keys.components), 0), dtype=np.float32)
        values = keys.shown
        if values is None:
            values = np.array([self.own[component].keys.values for component in keys.components])
        if keys.baked[:-1].all():
            return values
        around = keys.baked.copy()
        around[1:] |= keys.baked[:-1]
        return values[:, around]

    def _is_constant_throughout(self, keys: ChannelKeys, own: Float32Array) -> BoolArray:
        """Return which channels are constant; the animator's keys are checked first, and mostly suffice to decide."""
        constant = self._is_constant(keys, own)
        return self._is_constant(keys, np.concatenate((keys.values, own), axis=1)) if constant.any() else constant

    def _is_constant(self, keys: ChannelKeys, *parts: Float32Array) -> BoolArray:
        """Return which channels have one value in each part, to float32 rounding, and derivatives of 0."""
        none = np.zeros(len(keys.components), dtype=np.bool_)
        ranges = [(part.min(axis=1, initial=np.inf), part.max(axis=1, initial=-np.inf)) for part in parts]
        # The components of a rotation are as exact as the largest of them.
        size = np.maximum.reduce(
            [np.maximum(-low, high) for low, high in ranges], initial=float(self.track.is_rotation)
        )
        rounding = np.spacing(size.astype(np.float32))
        constant = ~none
        for low, high in ranges:
            constant &= high - low <= rounding
        if not constant.any() or not len(keys.frames):
            return constant
        frames = self.own[keys.components[0]].keys.frames if keys.components[0] in self.own else keys.frames
        if not keys.baked[:-1].all() and (keys.frames[0] < frames[0] or keys.frames[-1] > frames[-1]):
            # There the animator's own curve would be extrapolated.
            return none
        if keys.derivatives is not None:
            length = max(frames[-1], keys.frames[-1]) - min(frames[0], keys.frames[0])
            constant &= keys.derivatives.largest * length <= rounding
        return constant

    def _is_one_orientation(self, channels: list[tuple[ChannelKeys, Float32Array]]) -> bool:
        """Return whether the animator's keys of a rotation have the same orientation as the generated ones."""
        rows = np.array([[self.track.component(index) for index in range(len(self.track.rest))]] * 2)
        for keys, own in channels:
            for row, values in enumerate((own, keys.values)):
                if values.shape[1]:
                    rows[row:, keys.components] = values[:, 0]
        own, generated = rotations.normalise(quaternions_of(self.track, rows))
        return float(rotations.angle_between(own, generated)) <= _ONE_ORIENTATION


@record()
class PoseKeys:
    """Keys of all c components of a spline at n frames, the animator's among them."""

    frames: Float32Array
    values: Float64Array
    """Shape (c, n)."""
    held: BoolArray
    incoming: Float64Array | None = None
    """Derivatives per frame, shape (c, n); None: the keys are linear."""
    outgoing: Float64Array | None = None


@memoized
def _rows_among(frames: Float32Array, own: Float32Array) -> tuple[IndexArray, IndexArray, IndexArray, Float32Array]:
    """Return the rows of keys that are the animator's, their rows among `own`, and rows and frames of the others."""
    mine = is_among(frames, own)
    others = np.flatnonzero(~mine)
    return np.flatnonzero(mine), rows_of(frames[mine], own), others, frames[others]


@record()
class Scope:
    """Data that all plans of a track share."""

    track: Track
    own: OwnChannels
    options: Options
    sampling: Sampling
    cycle: str
    """How the track continues outside its keys."""
    key_frames: Float32Array
    """Frames of the animator's keys, all channels together."""

    def own_frames(self, component: int) -> Float32Array:
        """Return the frames of the animator's keys of a component."""
        return self.own[component].keys.frames if component in self.own else np.empty(0, dtype=np.float32)

    def segments(self, spline: TrackSpline) -> BoolArray:
        """Return which segments, after each of the spline's keys, are baked; not those that Blender plays itself."""
        touched = self._touched(spline)
        return touched if not spline.is_broken else touched & ~spline.between

    def _touched(self, spline: TrackSpline) -> BoolArray:
        baked = self.sampling.segments(spline.frames)
        if not spline.spline.interpolating:
            # A key has one value on the curve, so the segments on both of its sides must both be baked.
            return np.arange(len(baked)) < len(baked) - 1
        while self.track.is_rotation and not baked[:-1].all():
            # Segments of each channel must be baked as a whole.
            wider = baked.copy()
            for component in self.own:
                for left, right in pairwise(rows_of(self.own_frames(component), spline.frames)):
                    wider[left:right] |= baked[left:right].any()
            if (wider == baked).all():
                break
            baked = wider
        return baked

    def channel_keys(
        self, spline: TrackSpline, keys: PoseKeys, baked: BoolArray, shown: bool | None = None
    ) -> list[ChannelKeys]:
        """Return the keys of each component that has own keys, or whose motion leaves its present value.

        `baked`: the segments after the spline's keys; `shown`: the own keys have the values among `keys`.
        """
        alike: dict[bytes, list[int]] = {}
        for row, component in enumerate(spline.components):
            own = self.own_frames(component)
            if len(own) or self._moves(component, row, keys):
                alike.setdefault(own.tobytes(), []).append(row)
        shown = not spline.spline.interpolating if shown is None else shown
        return [self._without_own(spline, keys, rows, baked, shown) for rows in alike.values()]

    def _moves(self, component: int, row: int, keys: PoseKeys) -> bool:
        """Return whether a component without own keys leaves its present value."""
        away = np.abs(keys.values[row] - self.track.component(component))
        if keys.incoming is not None and keys.outgoing is not None and len(keys.frames) > 1:
            length = np.gradient(keys.frames.astype(np.float64))
            away = away + np.maximum(np.abs(keys.incoming[row]), np.abs(keys.outgoing[row])) * length
        return bool(away.max(initial=0.0) > STILL)

    def _without_own(
        self, spline: TrackSpline, keys: PoseKeys, rows: list[int], baked: BoolArray, shown: bool
    ) -> ChannelKeys:
        """Return the generated keys of components whose own keys are at the same frames."""
        components = [spline.components[row] for row in rows]
        own = self.own_frames(components[0])
        mine, place, others, generated = _rows_among(keys.frames, own)
        derivatives = None
        if keys.incoming is not None and keys.outgoing is not None:
            sides = keys.incoming[rows], keys.outgoing[rows]
            at_own = np.zeros((2, len(rows), len(own)))
            at_own[:, :, place] = [side[:, mine] for side in sides]
            derivatives = Derivatives(*(side[:, others] for side in sides), *at_own)
        values = (keys.values if len(rows) == len(keys.values) else keys.values[rows]).astype(np.float32)
        return ChannelKeys(
            components,
            generated,
            values.take(others, axis=1),
            keys.held[others],
            baked if len(own) == len(spline.frames) else baked[rows_of(own, spline.frames)],
            derivatives,
            values[:, mine] if shown else None,
        )
