# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons to stop a bake before sampling: too many samples, or samples too close to each other."""

from __future__ import annotations

import numpy as np

from ...interp.base_spline import Cycle
from ..fcurves.keyframes import Float32Array
from ..memoize import memoized
from ..report import Finding
from ..store.table.track_records import Output
from .plans.own_motion import TrackInput
from .plans.retimed_plan import sample_count
from .plans.sample_frames import APART, Sampling, sampling_of


def too_many(count: float, limit: int) -> Finding | None:
    """Return the reason why a bake with this number of samples is not allowed, or None."""
    return Finding("TOO_MANY_SAMPLES", arguments=(count, limit)) if count > limit else None


def too_near_keys(step: float) -> Finding | None:
    """Return the reason why the step is too small, or None."""
    return None if step >= APART else Finding("STEP_TOO_SMALL", arguments=(step, APART))


def count_samples(inputs: TrackInput) -> float:
    """Return the approximate number of samples that the bake of a track needs."""
    own, options = inputs.own, inputs.options
    if options.output == "HANDLES":
        return 0.0
    if inputs.function is not None:
        return sample_count(own, options, inputs.function)
    timings = tuple([channel.frame_bytes for channel in own.values()])
    return _count_at(timings, inputs.settings.cycle, options.output, options.step, options.extend)


@memoized
def _count_at(
    timings: tuple[bytes, ...], cycle: Cycle, output: Output, step: float, extend: tuple[float, float] | None
) -> float:
    """Return the approximate number of samples for channels with keys at these frames, each given as bytes."""
    keyed_at = [np.frombuffer(frames, np.float32) for frames in timings]
    ends = [float(end) for frames in keyed_at for end in (frames[0], frames[-1])]
    sampling = sampling_of(np.array([min(ends), max(ends)], dtype=np.float32), step, extend)
    # Curves have few keys unless there are many cycles.
    count = _curve_keys if output == "CURVES" else samples_of_channel
    return sum(count(sampling, frames, cycle) for frames in keyed_at)


def samples_of_channel(sampling: Sampling, keys: Float32Array, cycle: str) -> float:
    """Return the approximate number of samples for a channel with these keys. Return 0 if a frame is not finite."""
    if not np.isfinite(keys).all():
        return 0.0
    first, last = float(keys[0]), float(keys[-1])
    if cycle == "SINGLE" or last <= first:
        return (last - first) / sampling.step
    outside = max(0.0, first - sampling.low) + max(0.0, sampling.high - last)
    return (last - first + outside) / sampling.step + 2 * outside / (last - first)


def _curve_keys(sampling: Sampling, keys: Float32Array, cycle: str) -> float:
    """Return the approximate number of Bezier keys in the cycles outside the keys, including one per jump back."""
    first, last = float(keys[0]), float(keys[-1])
    if not np.isfinite(keys).all() or cycle == "SINGLE" or last <= first:
        return 0.0
    low, high = sampling.low, sampling.high
    jumps = int(cycle == "REPEAT")
    return (len(keys) + jumps) * (max(0.0, first - low) + max(0.0, high - last)) / (last - first)
