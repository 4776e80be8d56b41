# SPDX-License-Identifier: GPL-3.0-or-later
"""The protocol of plans: what a bake evaluates and fits for a track, and the keys that play its channels.

Every output is one class of `Plan`, made for one spline of a track; the pipeline evaluates and fits for all plans at
once, and gives each its own results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ....interp.batch import Spline
from ....interp.fitting import Request
from ....interp.fitting.curves import Fit
from ....interp.fitting.handles import Handles
from ....interp.rotations.equivalent import Maps
from ...errors import Finding
from ...fcurves.keyframes import BoolArray, EnumArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.own_keys import OwnKeys
from ...store.table.options import Options
from ...store.table.settings import Settings
from ...store.tracks import Track
from .sample_frames import Sampling

OwnChannels = Mapping[int, OwnKeys]
"""The animator's keys of each channel that has any."""

_Array = TypeVar("_Array", Float32Array, EnumArray)

STILL = 1e-6
"""A component without an F-curve gets one only where the motion leaves its value by more than this: float32
rounding."""


@record(eq=False)
class Walk:
    """The numbers of a rotation's keys, from which samples continue in the numbers of its channels."""

    track: Track
    raw: Float64Array
    """Shape (keys, components)."""
    key_rows: IndexArray
    """The rows of the keys among the samples."""


class Evaluation(NamedTuple):
    """A spline, and the frames at which it is evaluated."""

    spline: Spline
    frames: Float32Array | Float64Array
    walk: Walk | None = None
    """How the samples of a rotation are followed in the numbers of its channels; None: they are not."""


@record()
class Followed:
    """A rotation's samples in the numbers of its channels; from each key they continue from its own numbers."""

    numbers: Float64Array
    """Shape (m, components)."""
    arriving: Float64Array
    """The numbers with which the samples arrive at each key, shape (keys, components)."""
    jumps: BoolArray
    """The keys at which the samples arrive with other numbers than the key's own, which mean the same."""


@record()
class ChannelKeys:
    """All keys of baked channels whose own keys are at the same frames, the animator's among the generated ones."""

    components: list[int]
    frames: Float32Array
    """Shape (n,), ascending."""
    values: Float32Array
    """Shape (components, n)."""
    rows: IndexArray
    """The rows of the animator's keys, shape (k,)."""
    gaps: BoolArray
    """A mask of the animator's keys that begin a segment played by Blender, shape (k,); False for the last one."""
    incoming: Float64Array | None = None
    """Derivatives per frame before each key, shape (components, n); None: the keys are linear."""
    outgoing: Float64Array | None = None
    maps: Maps | None = None
    """Factors and terms, shape (components, k), that bring the numbers of the animator's keys to those on the curves,
    which mean the same orientation. None: the curves have their own numbers."""

    @property
    def holds_outside(self) -> bool:
        """Return whether the curves are constant outside their keys, whatever the animator's extrapolation."""
        return not np.count_nonzero(self.gaps)

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return the key by which tracks are grouped: keys with the same layout are composed together."""
        arrays = (self.frames, self.rows, self.gaps)
        return *(each.tobytes() for each in arrays), self.incoming is None, self.maps is None

    @classmethod
    def joined(cls, every: Sequence[ChannelKeys]) -> ChannelKeys:
        """Concatenate the components of keys with one layout."""
        first = every[0]
        if len(every) == 1:
            return first
        maps = [each.maps for each in every if each.maps is not None]
        incoming = [each.incoming for each in every if each.incoming is not None]
        outgoing = [each.outgoing for each in every if each.outgoing is not None]
        return replace(
            first,
            components=[component for each in every for component in each.components],
            values=np.concatenate([each.values for each in every]),
            incoming=np.concatenate(incoming) if incoming else None,
            outgoing=np.concatenate(outgoing) if outgoing else None,
            maps=Maps(*map(np.concatenate, zip(*maps, strict=True))) if maps else None,
        )


@record()
class HandleKeys:
    """The animator's keys of channels that handles play, all at the same frames."""

    components: list[int]
    plays: BoolArray
    """For each of the keys: whether handles play the spline after it."""
    left: Float32Array
    """The left handles, shape (components, keys, 2); NaN for those that stay."""
    right: Float32Array
    shown: Float32Array | None = None
    """Values of the keys on the curves, shape (components, keys); None: their own values."""
    other_numbers: EnumArray | None = None
    """The table's bits NEGATED and COUPLED for these values, shape (components, keys); None as above."""
    chosen: EnumArray | None = None
    """Handles whose type the animator chose, so that Blender places them: bits `rows.CHOSEN_…`, shape (components,
    keys). None: none is chosen."""
    repeats: bool = False
    """True where a Cycles modifier repeats them before the first key and after the last."""
    rests: tuple[bool, bool] = (False, False)
    """True at the first and at the last key where an ease brings the motion to rest."""

    @property
    def layout(self) -> tuple[Hashable, ...]:
        """Return the key by which tracks are grouped: keys with the same layout are composed together."""
        return self.plays.tobytes(), self.shown is None, self.chosen is None, self.repeats, self.rests

    @classmethod
    def joined(cls, every: Sequence[HandleKeys]) -> HandleKeys:
        """Concatenate the components of keys with one layout."""
        first = every[0]
        if len(every) == 1:
            return first
        return replace(
            first,
            components=[component for each in every for component in each.components],
            left=np.concatenate([each.left for each in every]),
            right=np.concatenate([each.right for each in every]),
            shown=_joined([each.shown for each in every]),
            other_numbers=_joined([each.other_numbers for each in every]),
            chosen=_joined([each.chosen for each in every]),
        )


def _joined(arrays: Sequence[_Array | None]) -> _Array | None:
    """Concatenate arrays, or return None if there are none."""
    present = [each for each in arrays if each is not None]
    return np.concatenate(present) if present else None


@record()
class Baked:
    """The keys that play the channels of a spline, or of a whole track, with their errors."""

    channels: list[ChannelKeys] = field(default_factory=list)
    handles: list[HandleKeys] = field(default_factory=list)
    """In place of `channels` where handles play the track."""
    notes: list[Finding] = field(default_factory=list)
    error: float = 0.0
    """The maximum error of curves or handles: of values, or an angle in radians."""
    error_frame: float = math.nan
    """The frame of the maximum error, for handles."""
    is_approximate: bool = False
    """True where the error of handles exceeds the tolerance."""

    @property
    def is_by_handles(self) -> bool:
        """Return whether the handles of the animator's keys play it."""
        return bool(self.handles)

    @property
    def samples(self) -> int:
        """Return the number of generated linear keys, all channels together."""
        return sum(_generated(keys) for keys in self.channels if keys.incoming is None)

    @property
    def curve_keys(self) -> int:
        """Return the number of generated Bezier keys, all channels together."""
        return sum(_generated(keys) for keys in self.channels if keys.incoming is not None)


def _generated(keys: ChannelKeys) -> int:
    return len(keys.components) * (len(keys.frames) - len(keys.rows))


@record()
class Results:
    """Hand out the results of evaluation and fitting, in the order of the plans: each takes those it requested."""

    values: Iterator[Float64Array]
    followed: Iterator[Followed]
    """One for each evaluation that has a walk."""
    fits: Iterator[Fit]
    handles: Iterator[Handles]


class Plan(ABC):
    """Plan the bake of channels: request what it needs, and compose keys from the results."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the splines to evaluate, with frames."""
        return ()

    @property
    def requests(self) -> Sequence[Request]:
        """Return the splines to fit curves to."""
        return ()

    @property
    def handles(self) -> Sequence[Request]:
        """Return the splines to fit handles to."""
        return ()

    @abstractmethod
    def compose(self, results: Results) -> Baked:
        """Compose the channels' keys from the results for `evaluations`, `requests` and `handles`."""


@record()
class TrackPlan(Plan):
    """The plan of a track, of one plan for each of its splines, or for all of them."""

    track: Track
    settings: Settings
    own: OwnChannels
    key_frames: Float32Array
    """Frames of the animator's keys, all channels together."""
    plans: Sequence[Plan]
    notes: Sequence[Finding] = ()
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
    def handles(self) -> Sequence[Request]:
        """Return the splines to fit handles to of all plans."""
        return [request for plan in self.plans for request in plan.handles]

    def with_own(self, own: OwnChannels) -> TrackPlan:
        """Return the plan with own keys that have rows."""
        return self if own == self.own else replace(self, own=own)

    def compose(self, results: Results) -> Baked:
        """Compose the keys of all plans, with the largest error."""
        every = [plan.compose(results) for plan in self.plans]
        if len(every) == 1 and not self.notes:
            return every[0]
        worst = max(every, key=lambda baked: baked.error)
        return Baked(
            [keys for baked in every for keys in baked.channels],
            [keys for baked in every for keys in baked.handles],
            [*self.notes, *(note for baked in every for note in baked.notes)],
            worst.error,
            worst.error_frame,
            any(baked.is_approximate for baked in every),
        )


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
    is_short: bool = False
    """Whether a rotation takes the short way between keys and ignores whole turns."""
