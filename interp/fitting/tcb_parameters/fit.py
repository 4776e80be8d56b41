# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit parameters to the motions of many tracks: the stages of the descent, and the rounding of the result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...keys import Float64Array
from .derivatives import products
from .descent import Stage, descend
from .parts import SAMPLES, Part
from .problem import Problem

_PAYS = 0.99
"""A fuller explanation is taken where its error is below this part of the simpler one's."""
_ROUNDED = 0.02
"""Of a track's error: parameters are rounded to few digits if that changes the motion by less."""
_KEYS_AT_A_TIME = 5000
"""Few enough for the processor's cache, many enough to make the calls of NumPy cheap."""
_STAGES = (
    Stage((0, 2), False, 6, 0.9),
    Stage((0, 1, 2), False, 15, 0.1),
    Stage((0, 1, 2, 3, 4), True, 3, 0.05),
    Stage((0, 1, 2, 3, 4), False, 12, 0.02),
)


def fit_parameters(tracks: Sequence[Sequence[Part]]) -> list[Float64Array]:
    """Fit the parameters of tracks' keys to the motions of their parts.

    Parameters
    ----------
    tracks : sequence of sequences of Part
        The parts of each track; a track without parts gets no parameters.

    Returns
    -------
    list of ndarray, shape (5, keys)
        For each track the parameters that play most like the motion, in the order of `PARAMETERS`, up to the last key
        that a part has.

    Notes
    -----
    The error is the mean square over frames and components, of rotations the chord (4 sin(angle / 4)), and no larger
    than that of parameters 0. Of several sets of parameters with the same motion those without ease, without
    continuity, near 0 and with few digits are preferred.
    """
    results = [np.zeros((5, 0)) for _ in tracks]
    chunk: list[int] = []
    size = 0
    for number, track in enumerate(tracks):
        if track:
            chunk.append(number)
            size += sum(len(part.rows) for part in track)
        if chunk and (size >= _KEYS_AT_A_TIME or number == len(tracks) - 1):
            for each, parameters in zip(chunk, _fit([tracks[i] for i in chunk]), strict=True):
                results[each] = parameters
            chunk, size = [], 0
    return results


def _fit(tracks: list[Sequence[Part]]) -> list[Float64Array]:
    """Fit tracks in stages, each for those that are not yet explained."""
    problem = Problem.of(tracks)
    best = np.zeros((5, len(problem.track)))
    current = best.copy()
    pending = np.ones(len(tracks), dtype=np.bool_)
    for stage in _STAGES:
        keys = pending[problem.track]
        current[:, keys], before, after = descend(problem.take(pending), current.compress(keys, axis=1), stage)
        if stage is _STAGES[0]:
            # Of parameters 0.
            errors = before
        pays = np.zeros_like(pending)
        pays[pending] = after < errors[pending] * _PAYS**2
        errors[pays] = after[pays[pending]]
        best = np.where(pays[problem.track], current, best)
        pending = errors > problem.goals
        if not pending.any():
            break
    rounded = _with_few_digits(problem, best, errors)
    return np.split(rounded, np.flatnonzero(np.diff(problem.track)) + 1, axis=1)


def _with_few_digits(problem: Problem, parameters: Float64Array, errors: Float64Array) -> Float64Array:
    """Return the parameters with as few digits as change the motion by less than rounding, or a part of its error."""
    share = np.maximum(3.0 * problem.noise, _ROUNDED * np.sqrt(errors / problem.segments))
    squares = [
        products(batch, parameters, np.zeros((len(batch.weights), SAMPLES, len(batch.begin))), range(5)).squares
        for batch in problem.batches
    ]
    effect = np.einsum("aiin->ain", np.concatenate(squares, axis=-1))
    largest = np.zeros((5, len(problem.track)))
    for keys, sizes in zip((problem.left, problem.right), np.sqrt(effect), strict=True):
        for most, each in zip(largest, sizes, strict=True):
            np.maximum.at(most, keys, each)
    rounded = parameters.copy()
    for digits in (3, 2, 1, 0):
        short = np.round(parameters, digits)
        few = np.abs(short - parameters) * largest <= share[problem.track]
        rounded = np.where(few, short, rounded)
    rounded = np.where(np.abs(parameters) * largest <= share[problem.track], 0.0, rounded)
    good = problem.errors(problem.residuals(rounded)) <= np.maximum(errors / _PAYS**2, 20.0 * problem.goals)
    return np.where(good[problem.track], rounded, parameters)
