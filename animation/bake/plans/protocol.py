# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of plans: the evaluations and fits that a track's bake needs, and the keys composed from the results.

Each output has a `Plan` class, with one instance per spline of a track, or one for all splines. The pipeline evaluates
and fits the splines of all plans together, and distributes the results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....interp.base_spline import Cycle, Spline
from ....interp.fitting import Request
from ....interp.fitting.curves import VALUE_TOLERANCE, Fit
from ....interp.fitting.handles import Handles
from ...fcurves.keyframes import Float32Array, Float64Array
from ...records import record
from ...store.table.track_records import Options
from ...store.tracks import Track
from .composed_keys import ComposedKeys
from .own_motion import OwnChannels
from .rotation_channels import Unwrapping
from .sample_frames import Sampling
from .track_splines import TrackSpline

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
