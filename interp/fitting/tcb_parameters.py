# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the parameters with which keys best reproduce a given motion, by least squares over its samples.

The descent starts with the simplest model, and uses a fuller model only if it lowers the error enough. With all five
parameters there are many poor minima on the bounds, so the descent stays inside the bounds until its last stage.
Source: docs/formulas, "Fitting parameters to a motion".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..keys import HIGHEST, LOWEST, Float64Array
from .least_squares import Method, descend
from .parameter_problem import FLOAT32, FittedTracks, ParameterProblem
from .tcb_segments import SAMPLES, SplineToFit, sample_frames

__all__ = ["FLOAT32", "SAMPLES", "SplineToFit", "fit_parameters", "sample_frames"]

_WORTHWHILE = 0.99
"""A model with more parameters is used if its error is below this fraction of the simpler model's error."""
_ROUNDING_SHARE = 0.02
"""Parameters are rounded to few digits if that changes the motion by less than this fraction of the track's error."""
_KEYS_AT_A_TIME = 5000
"""The number of keys fitted at a time, which fit the processor cache and are enough to amortize the NumPy calls."""
_INSIDE = 0.05
"""The distance from the bounds at which the descent starts.

Parameters within 2/5 of this distance are set to the bound.
"""


def fit_parameters(tracks: Sequence[Sequence[SplineToFit]]) -> list[Float64Array]:
    """Fit the parameters of each track's keys to the motions of its parts.

    Parameters
    ----------
    tracks : sequence of sequences of SplineToFit
        The parts of each track. A track without parts gets no parameters.

    Returns
    -------
    list of ndarray, shape (5, keys)
        The best parameters for each track, in the order of `PARAMETERS`, up to the last key of any part.

    Notes
    -----
    The error is the mean squared deviation over frames and components. For rotations, the deviation is the chord, 4
    sin(angle / 4). The error is never larger than with all parameters set to 0. Among parameters that give the same
    motion, the fit prefers parameters without ease, without continuity, close to 0 and with few digits.

    Examples
    --------
    Recover the tension of the second key, 0.5, from samples of the motion:

    >>> frames, values = np.arange(0.0, 40.0, 10.0), [[0, 1], [3, 0], [1, 4], [0, 1]]
    >>> motion = tcb.VectorSpline(Keys(frames, values, tension=[0, 0.5, 0, 0]))
    >>> samples = motion(tcb_parameters.sample_frames(frames))
    >>> spline = tcb.VectorSpline(Keys(frames, values))
    >>> part = tcb_parameters.SplineToFit(spline, rows=np.arange(4), samples=samples)
    >>> (parameters,) = tcb_parameters.fit_parameters([[part]])
    >>> parameters[0]
    array([0. , 0.5, 0. , 0. ])
    """
    results = [np.zeros((5, 0)) for _ in tracks]
    chunk: list[int] = []
    size = 0
    for number, track in enumerate(tracks):
        if track:
            chunk.append(number)
            size += sum(len(part.rows) for part in track)
        if chunk and (size >= _KEYS_AT_A_TIME or number == len(tracks) - 1):
            for index, parameters in zip(chunk, _fit([tracks[index] for index in chunk]), strict=True):
                results[index] = parameters
            chunk, size = [], 0
    return results


class _Stage(NamedTuple):
    """The parameters fitted by one descent, and its settings."""

    columns: list[int]
    method: Method


_STAGES = (
    _Stage([0, 2], Method(steps=6, least_gain=0.9, damping=1e-2)),
    _Stage([0, 1, 2], Method(steps=15, least_gain=0.1, damping=1e-2)),
    _Stage([0, 1, 2, 3, 4], Method(steps=3, least_gain=0.05, damping=1e-2, inside=True)),
    _Stage([0, 1, 2, 3, 4], Method(steps=12, least_gain=0.02, damping=1e-2)),
)


def _fit(parts_by_track: list[Sequence[SplineToFit]]) -> list[Float64Array]:
    """Fit tracks in stages, each for the tracks that are not yet reproduced."""
    tracks = FittedTracks.of(parts_by_track)
    best = np.zeros((5, len(tracks.track_of_key)))
    errors = tracks.errors(tracks.residuals(best))
    current = best.copy()
    for stage in _STAGES:
        pending = errors > tracks.goals
        if not pending.any():
            break
        is_pending_key = pending[tracks.track_of_key]
        start = current.compress(is_pending_key, axis=1)
        current[:, is_pending_key], new_errors = _descended(tracks.take(pending), start, stage)
        is_better = np.zeros_like(pending)
        is_better[pending] = new_errors < errors[pending] * _WORTHWHILE**2
        errors[is_better] = new_errors[is_better[pending]]
        best = np.where(is_better[tracks.track_of_key], current, best)
    rounded = _with_few_digits(tracks, best, errors)
    return np.split(rounded, np.flatnonzero(np.diff(tracks.track_of_key)) + 1, axis=1)


def _descended(tracks: FittedTracks, start: Float64Array, stage: _Stage) -> tuple[Float64Array, Float64Array]:
    """Return parameters with smaller errors, and the error of each track."""
    columns, method = stage
    low = LOWEST[columns]
    x = start[columns]
    if method.inside:
        x = np.clip(x, low + _INSIDE, HIGHEST - _INSIDE)
    elif len(columns) == len(start):
        # The previous stage stayed inside the bounds.
        distance = 0.4 * _INSIDE
        x = np.where(x < low + distance, low, np.where(x > HIGHEST - distance, HIGHEST, x))
    fit = ParameterProblem(tracks, columns)
    result = descend(fit, x, low, HIGHEST, method)
    parameters = np.zeros_like(start)
    parameters[columns] = result.x
    return parameters, result.cost - fit.penalty(result.x)


def _with_few_digits(tracks: FittedTracks, parameters: Float64Array, errors: Float64Array) -> Float64Array:
    """Round the parameters to the fewest digits that hardly change the motion, relative to rounding or its error."""
    allowed = np.maximum(3.0 * tracks.noise, _ROUNDING_SHARE * np.sqrt(errors / tracks.segments))[tracks.track_of_key]
    effects = tracks.largest_effects(parameters)
    rounded = parameters.copy()
    for digits in (3, 2, 1, 0):
        with_digits = np.round(parameters, digits)
        rounded = np.where(np.abs(with_digits - parameters) * effects <= allowed, with_digits, rounded)
    rounded = np.where(np.abs(parameters) * effects <= allowed, 0.0, rounded)
    is_good = tracks.errors(tracks.residuals(rounded)) <= np.maximum(errors / _WORTHWHILE**2, 20.0 * tracks.goals)
    return np.where(is_good[tracks.track_of_key], rounded, parameters)
