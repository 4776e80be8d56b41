# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of plans: the evaluations and fits that a track's bake needs, and the keys that play its channels.

Each output has a `Plan` class, with one instance per spline of a track. The pipeline evaluates and fits the splines of
all plans together and distributes the results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ....interp.base_spline import Cycle, Spline
from ....interp.fitting import Request
from ....interp.fitting.curves import VALUE_TOLERANCE, Fit
from ....interp.fitting.handles import Handles
from ....interp.rotations.equivalent import Maps
from ...errors import Finding
from ...fcurves.channels import Channels
from ...fcurves.keyframes import BoolArray, EnumArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.own_keys import OwnKeys
from ...store.table.track_records import BakedChannel, Channel, Options, Settings, TrackState
from ...store.tracks import Track
from .sample_frames import Sampling
from .splines import TrackSpline

OwnChannels = Mapping[int, OwnKeys]
"""The animator's keys of each channel that has keys."""

AnyKeys = TypeVar("AnyKeys", "ChannelKeys", "HandleKeys")

_LEAST_RANGE = 1e-5
"""Smallest range relative to a track's largest value. A hundredth of this is below the resolution of float32."""
STILL = 1e-6
"""An F-curve is created for a component if the motion deviates from the component's current value by at least this
much. Smaller deviations are float32 rounding."""


class Unwrapping(NamedTuple):
    """The conversion of a rotation's samples to continuous channel values."""

    track: Track
    start: Float64Array
    """Channel values to which the values of the sample in `row` are closest."""
    row: int


class Evaluation(NamedTuple):
    """A spline and the frames at which to evaluate it."""

    spline: Spline
    frames: Float32Array | Float64Array
    unwrapping: Unwrapping | None = None
    """For a rotation, the conversion of the samples to channel values."""


@record()
class ChannelKeys:
    """All keys, both generated and the animator's own, of baked channels that were keyed at the same frames."""

    components: list[int]
    frames: Float32Array
    """Ascending frames, shape (n,)."""
    values: Float32Array
    """Values, shape (components, n)."""
    rows: IndexArray
    """Rows of the animator's keys, shape (k,)."""
    gaps: BoolArray
    """Mask of the animator's keys that begin a segment played by Blender, shape (k,), always False for the last key."""
    incoming: Float64Array | None = None
    """Derivatives per frame before each key, shape (components, n). If None, the keys are linear."""
    outgoing: Float64Array | None = None
    maps: Maps | None = None
    """Factors and terms, shape (components, k), that map the values of the animator's keys to equivalent values on the
    curves. If None, the values on the curves are unchanged."""
    per_component: ClassVar = ("values", "incoming", "outgoing", "maps")

    @property
    def count(self) -> int:
        """Return the total number of keys in all components."""
        return self.values.size

    @property
    def holds_outside(self) -> bool:
        """Return whether the curves are constant outside their keys, regardless of the animator's extrapolation."""
        return not np.count_nonzero(self.gaps)

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return the grouping key of a track. Keys of tracks with the same layout are processed together."""
        arrays = (self.frames, self.rows, self.gaps)
        return *(array.tobytes() for array in arrays), self.incoming is None, self.maps is None


@record()
class HandleKeys:
    """The animator's keys in channels played by handles, all at the same frames."""

    components: list[int]
    plays: BoolArray
    """True if handles play the spline after each key."""
    left: Float32Array
    """Left handles, shape (components, keys, 2), with NaN for unchanged handles."""
    right: Float32Array
    shown: Float32Array | None = None
    """Values of the keys on the curves, shape (components, keys). If None, the curves have the animator's values."""
    other_numbers: EnumArray | None = None
    """Table flags NEGATED and COUPLED for `shown`, shape (components, keys), or None if `shown` is None."""
    chosen: EnumArray | None = None
    """Flags `rows.CHOSEN_…` of handles that Blender places because the animator chose their type, shape (components,
    keys). If None, Blender places no handles."""
    repeats: bool = False
    """True if a Cycles modifier repeats the keys before the first key and after the last key."""
    rests: tuple[bool, bool] = (False, False)
    """For the first and last keys, true if an ease brings the motion to rest at the key."""
    per_component: ClassVar = ("left", "right", "shown", "other_numbers", "chosen")

    @property
    def count(self) -> int:
        """Return the total number of keys in all components."""
        return len(self.components) * len(self.plays)

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return the grouping key of a track. Keys of tracks with the same layout are processed together."""
        return self.plays.tobytes(), self.shown is None, self.chosen is None, self.repeats, self.rests


def stacked(keys_of_tracks: Sequence[AnyKeys]) -> AnyKeys:
    """Concatenate the components of several sets of keys with the same layout."""
    first = keys_of_tracks[0]
    if len(keys_of_tracks) == 1:
        return first
    arrays: dict[str, Any] = {}
    for name in first.per_component:
        parts = [getattr(keys, name) for keys in keys_of_tracks]
        if isinstance(parts[0], Maps):
            arrays[name] = Maps(*map(np.concatenate, zip(*parts, strict=True)))
        elif parts[0] is not None:
            arrays[name] = np.concatenate(parts)
    return replace(first, components=[component for keys in keys_of_tracks for component in keys.components], **arrays)


@record()
class Baked:
    """The keys that play the channels of a spline or a track, and their errors."""

    channels: list[ChannelKeys] = field(default_factory=list)
    handles: list[HandleKeys] = field(default_factory=list)
    """The keys that replace `channels` if handles play the track."""
    notes: list[Finding] = field(default_factory=list)
    error: float = 0.0
    """Maximum error of curves or handles, in units of the value, or an angle in radians."""
    error_frame: float = math.nan
    """Frame of the maximum error of handles."""
    is_approximate: bool = False
    """True if the error of handles exceeds the tolerance."""

    @property
    def is_by_handles(self) -> bool:
        """Return whether the handles of the animator's keys play the motion."""
        return bool(self.handles)

    @property
    def samples(self) -> int:
        """Return the total number of generated linear keys in all channels."""
        return sum(_generated(keys) for keys in self.channels if keys.incoming is None)

    @property
    def curve_keys(self) -> int:
        """Return the total number of generated Bezier keys in all channels."""
        return sum(_generated(keys) for keys in self.channels if keys.incoming is not None)


def _generated(keys: ChannelKeys) -> int:
    return len(keys.components) * (len(keys.frames) - len(keys.rows))


@record()
class Results:
    """Results of evaluation and fitting.

    Each plan in turn consumes as many results as it requested.
    """

    values: Iterator[Float64Array]
    fits: Iterator[Fit]
    handles: Iterator[Handles]


class Plan(ABC):
    """The plan for baking channels. A plan requests evaluations and fits, and composes keys from the results."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the splines to evaluate, with their frames."""
        return ()

    @property
    def requests(self) -> Sequence[Request]:
        """Return the fit requests for curves."""
        return ()

    @property
    def handles(self) -> Sequence[Request]:
        """Return the fit requests for handles."""
        return ()

    @abstractmethod
    def compose(self, results: Results) -> Baked:
        """Compose the channels' keys from the results for `evaluations`, `requests` and `handles`."""


@dataclass(eq=False)
class TrackBake:
    """The bake of a track. Each stage of the bake sets some fields."""

    track: Track
    channels: Channels
    own: OwnChannels
    options: Options
    settings: Settings = field(init=False)
    """The track's settings with the options."""
    key_frames: Float32Array = field(init=False)
    """Frames of the animator's keys in all channels. The planning sets this field and the following ones."""
    plans: Sequence[Plan] = field(init=False)
    """One plan per spline, or one for all splines."""
    notes: Sequence[Finding] = field(init=False)
    function: FrameFunction | None = field(init=False)
    """The frame function that retimes the track."""
    baked: Baked = field(init=False)
    """The keys that play the track, set when the splines are evaluated."""
    state: TrackState = field(init=False)
    """Table entry of the track, set when the keys have rows."""
    is_settled: bool = field(init=False)
    """True if the keys with rows still have the identities read from the curves."""
    placed: dict[int, Channel] = field(default_factory=dict)
    """Records of the written handles."""
    written: dict[int, BakedChannel] = field(default_factory=dict)
    """Records of the baked channels."""

    def __post_init__(self) -> None:
        settings = self.track.settings
        self.settings = settings if settings.options is self.options else replace(settings, options=self.options)

    def compose(self, results: Results) -> None:
        """Compose the keys of all plans, and find the largest error."""
        baked_by_plan = [plan.compose(results) for plan in self.plans]
        if len(baked_by_plan) == 1 and not self.notes:
            (self.baked,) = baked_by_plan
            return
        worst = max(baked_by_plan, key=lambda baked: baked.error)
        self.baked = Baked(
            [keys for baked in baked_by_plan for keys in baked.channels],
            [keys for baked in baked_by_plan for keys in baked.handles],
            [*self.notes, *(note for baked in baked_by_plan for note in baked.notes)],
            worst.error,
            worst.error_frame,
            any(baked.is_approximate for baked in baked_by_plan),
        )

    @property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return self.is_settled and bool(self.state.channels)

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None


@record()
class Scope:
    """The data shared by all plans of a track."""

    track: Track
    own: OwnChannels
    options: Options
    sampling: Sampling
    cycle: Cycle
    """Cycle outside the animator's keys."""
    key_frames: Float32Array
    """Frames of the animator's keys in all channels."""
    is_short: bool = False
    """True if a rotation takes the shortest path between keys."""

    def tolerance(self, splines: Sequence[TrackSpline]) -> float:
        """Return the maximum permitted error of the track's curves, in units of the property or in radians."""
        if self.track.is_rotation:
            return self.options.rotation_tolerance
        if self.options.value_tolerance is not None:
            return self.options.value_tolerance
        spread, size = map(max, zip(*(spline.extent for spline in splines), strict=True))
        return float(VALUE_TOLERANCE * max(spread, _LEAST_RANGE * size, 1e-30))
