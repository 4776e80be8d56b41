# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of bakes: the evaluations and fits that a track needs, and the keys that play the track.

Each output has a `Plan` class, with one instance per spline of a track, or one for all splines. The pipeline evaluates
and fits the splines of all plans together, and distributes the results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ....interp.base_spline import Cycle, Spline
from ....interp.fitting import Request
from ....interp.fitting.curves import VALUE_TOLERANCE, Fit
from ....interp.fitting.handles import Handles
from ....interp.rotations.equivalent import Maps
from ...fcurves.keyframes import BoolArray, EnumArray, Float32Array, Float64Array, IndexArray, rows_of
from ...records import record
from ...report import Finding
from ...store.table.track_records import Options
from ...store.tracks import Track
from .own_motion import OwnChannels
from .rotations import Unwrapping
from .sample_frames import Sampling, nearest_rows
from .track_splines import TrackSpline

AnyKeys = TypeVar("AnyKeys", "ChannelKeys", "HandleKeys")
Owner = TypeVar("Owner")
_KEYS_AT_ONCE = 40_000
"""Number of keys to compose together, which take a few megabytes."""


@record()
class ComposedKeys:
    """The keys that play the channels of a spline or a track, and their errors."""

    channel_keys: list[ChannelKeys] = field(default_factory=list)
    handle_keys: list[HandleKeys] = field(default_factory=list)
    """The keys that replace `channel_keys` if handles play the track."""
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
        return bool(self.handle_keys)


@record()
class ChannelKeys:
    """All keys, both generated and the animator's own, of baked channels that were keyed at the same frames."""

    components: list[int]
    own_frames: Float32Array
    """Frames of the animator's keys, shape (k,). Empty if the bake creates the F-curves."""
    frames: Float32Array
    """Ascending frames of all keys, shape (n,)."""
    values: Float64Array
    """Values of all keys, shape (components, n)."""
    incoming: Float64Array | None = None
    """Derivatives per frame before each key, shape (components, n). If None, the keys are linear."""
    outgoing: Float64Array | None = None
    maps: Maps | None = None
    """Factors and terms, shape (components, k), that map the values of the animator's keys to equivalent values on the
    curves. If None, the values on the curves are unchanged."""
    spline: TrackSpline | None = None
    """The spline of the channels. If None, Blender plays no segment between the animator's keys."""
    per_component: ClassVar = ("values", "incoming", "outgoing", "maps")

    @property
    def is_interrupted(self) -> bool:
        """Return whether Blender plays any segment between the animator's keys."""
        return self.spline is not None and self.spline.is_interrupted

    @cached_property
    def rows(self) -> IndexArray:
        """Return the rows of the animator's keys, shape (k,)."""
        return nearest_rows(self.own_frames, self.frames)

    @cached_property
    def begins_segment(self) -> BoolArray:
        """Return a mask of the animator's keys that begin a segment played by Blender, shape (k,).

        The mask is False for the last key.
        """
        if self.spline is None or not self.is_interrupted:
            return np.zeros(len(self.own_frames), dtype=np.bool_)
        begins_segment = self.spline.begins_segment[rows_of(self.own_frames, self.spline.frames)].copy()
        begins_segment[-1:] = False
        return begins_segment

    @property
    def count(self) -> int:
        """Return the total number of keys in all components."""
        return self.values.size

    @property
    def generated_count(self) -> int:
        """Return the total number of generated keys in all components."""
        return len(self.components) * (len(self.frames) - len(self.own_frames))

    @property
    def holds_outside(self) -> bool:
        """Return whether the curves are constant outside their keys, regardless of the animator's extrapolation."""
        return not np.count_nonzero(self.begins_segment)

    @property
    def are_linear(self) -> bool:
        """Return whether all segments between the keys are linear."""
        return self.incoming is None and self.holds_outside

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return a value that is equal for keys that `stacked` can concatenate."""
        segments = self.begins_segment.tobytes() if self.is_interrupted else None
        frames = self.frames.tobytes(), self.own_frames.tobytes()
        return *frames, segments, self.incoming is None, self.maps is None

    def take(self, columns: BoolArray | IndexArray) -> ChannelKeys:
        """Return the keys in the given columns."""
        return replace(
            self,
            frames=self.frames[columns],
            values=self.values[:, columns],
            incoming=None if self.incoming is None else self.incoming[:, columns],
            outgoing=None if self.outgoing is None else self.outgoing[:, columns],
        )

    def of(self, rows: list[int]) -> ChannelKeys:
        """Return the keys of the components in the given rows."""
        return replace(
            self,
            components=[self.components[row] for row in rows],
            values=self.values[rows],
            incoming=None if self.incoming is None else self.incoming[rows],
            outgoing=None if self.outgoing is None else self.outgoing[rows],
            maps=None if self.maps is None else Maps(*(numbers[rows] for numbers in self.maps)),
        )

    def may_have(self, frames: Float32Array) -> BoolArray:
        """Return a mask of the frames where the components may have keys.

        The mask is true at the animator's keys, and at all frames outside the segments played by Blender. If Blender
        plays the first or last segment, it also plays the motion before the first or after the last key.
        """
        if self.spline is None or not self.is_interrupted:
            return np.ones(len(frames), dtype=np.bool_)
        begins_segment = self.spline.begins_segment[:-1]
        row = np.searchsorted(self.spline.frames, frames, side="right") - 1
        is_blenders = np.concatenate((begins_segment[:1], begins_segment, begins_segment[-1:]))[row + 1]
        mask: BoolArray = ~is_blenders
        is_bound = np.concatenate(([False], begins_segment)) != np.concatenate((begins_segment, [False]))
        for key_frames in (self.own_frames, self.spline.frames[is_bound]):
            mask[nearest_rows(key_frames, frames)] = True
        return mask


@record()
class HandleKeys:
    """The animator's keys in channels played by handles, all at the same frames."""

    components: list[int]
    plays: BoolArray
    """True if handles play the spline after each key."""
    left: Float32Array
    """Left handles, shape (components, keys, 2), with NaN for unchanged handles."""
    right: Float32Array
    values_on_curves: Float32Array | None = None
    """Values of the keys on the curves, shape (components, keys). If None, the curves have the animator's values."""
    equivalent_flags: EnumArray | None = None
    """Table flags NEGATED and COUPLED, shape (components, keys). None if `values_on_curves` is None."""
    chosen: EnumArray | None = None
    """Flags `rows.CHOSEN_…` of handles that Blender places because the animator chose their type, shape (components,
    keys). If None, Blender places no handles."""
    repeats: bool = False
    """True if a Cycles modifier repeats the keys before the first key and after the last key."""
    rests_at_ends: tuple[bool, bool] = (False, False)
    """For the first and last keys, true if an ease brings the motion to rest at the key."""
    per_component: ClassVar = ("left", "right", "values_on_curves", "equivalent_flags", "chosen")

    @property
    def count(self) -> int:
        """Return the total number of keys in all components."""
        return len(self.components) * len(self.plays)

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return a value that is equal for keys that `stacked` can concatenate."""
        return (
            self.plays.tobytes(),
            self.values_on_curves is None,
            self.chosen is None,
            self.repeats,
            self.rests_at_ends,
        )


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


def by_layout(
    keys_of_owners: Iterable[tuple[Owner, AnyKeys]], layout_of: Callable[[Owner, AnyKeys], Hashable]
) -> Iterator[list[tuple[Owner, AnyKeys]]]:
    """Group keys by layout, each with its owner, so that `stacked` can join a group.

    Yield about `_KEYS_AT_ONCE` keys at a time.
    """
    groups: dict[Hashable, list[tuple[Owner, AnyKeys]]] = {}
    for owner, keys in keys_of_owners:
        groups.setdefault(layout_of(owner, keys), []).append((owner, keys))
    for group in groups.values():
        count = max(1, _KEYS_AT_ONCE // group[0][1].count)
        for start in range(0, len(group), count):
            yield group[start : start + count]


# The interface of plans


_LEAST_RANGE = 1e-5
"""Smallest range relative to a track's largest value. A hundredth of this is below the resolution of float32."""
_LEAST_TOLERANCE = 1e-30
"""Range, in units of the property, from which the tolerance of a track is computed if all its values are 0."""


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
    takes_shortest_path: bool = False
    """True if a rotation takes the shortest path between keys."""

    def tolerance(self, splines: Sequence[TrackSpline]) -> float:
        """Return the maximum permitted error of the track's curves, in units of the property or in radians."""
        if self.track.is_rotation:
            return self.options.rotation_tolerance
        if self.options.value_tolerance is not None:
            return self.options.value_tolerance
        spread, size = map(max, zip(*(spline.extent for spline in splines), strict=True))
        return float(VALUE_TOLERANCE * max(spread, _LEAST_RANGE * size, _LEAST_TOLERANCE))


class Evaluation(NamedTuple):
    """A spline and the frames at which to evaluate it."""

    spline: Spline
    frames: Float32Array | Float64Array
    unwrapping: Unwrapping | None = None
    """For a rotation, the conversion of the samples to channel values."""


@record()
class Results:
    """Results of evaluation and fitting.

    Each plan in turn consumes as many results as it requested.
    """

    values: Iterator[Float64Array]
    """Values of each evaluation, shape (frames, components)."""
    curve_fits: Iterator[Fit]
    handle_fits: Iterator[Handles]


class Plan(ABC):
    """The plan for baking channels. A plan requests evaluations and fits, and composes keys from the results."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the splines to evaluate, with their frames."""
        return ()

    @property
    def curve_requests(self) -> Sequence[Request]:
        """Return the requests to fit curves."""
        return ()

    @property
    def handle_requests(self) -> Sequence[Request]:
        """Return the requests to fit handles."""
        return ()

    @abstractmethod
    def compose(self, results: Results) -> ComposedKeys:
        """Compose the channels' keys from the results for the evaluations and requests, in their order."""
