# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of handles with which Bezier segments come nearest to a motion, by damped Gauss-Newton steps.

How far each handle reaches into its segment, and the derivatives with which channels leave and reach its keys. See
`handles`, which makes the motions. Source: docs/formulas.md, "Fitting handles".
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .. import ease
from ..batch import BoolArray, IndexArray
from ..keys import Float64Array
from ..rotations import sphere
from .bezier_segments import LEAST_SLOPE, bezier_powers, frame_powers, rise_at, slope_at


def chebyshev(count: int) -> Float64Array:
    """Return Chebyshev's nodes between 0 and 1; every third, from the second on, is one of a third as many nodes."""
    return (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0


class Places(NamedTuple):
    """Shares of a segment at which errors are measured, and which of them are fitted.

    Least squares at Chebyshev's nodes are near to the smallest maximum error.
    """

    at: Float64Array
    nodes: slice = slice(1, None, 3)


EASED = Places(chebyshev(60))
"""With eases twenty nodes: between fewer, channels can move fast and back."""
PLAIN = Places(chebyshev(36))
SMOOTH = Places(chebyshev(27))
"""For quaternions without ease, which between nine nodes are as near as between twelve; not so channels of angles."""
CUBIC = Places(chebyshev(12))
"""For numbers without ease, whose error is rounding, a polynomial of the fifth degree."""
_STEPS, _DRAFT_STEPS = 2, 1
_MORE_DRAFT_STEPS, _MOST_POOR_DRAFTS = ((4, 3e-3),), 400
"""Drafts have to look right for the moment; where more segments than that are poor, the time is worth more."""
_MORE_STEPS, _MORE_CHANNEL_STEPS = ((2, 5e-5), (10, 8e-5)), ((2, 5e-5), (6, 8e-5))
"""Further steps, and the errors above which segments get them: half the angle in radians, or parts of their size.

The second is a little below what a bake may leave. Single channels need fewer.
"""
_POOR, _STEPS_FOR_POOR = 0.015, 12
"""Part of the chord: some quaternions with eases begin with large errors."""
_TOGETHER = 1024
"""The channels of segments fitted at a time, few enough for the cache."""

_LONGEST, _LEAST_BEGUN = 0.9, 0.05
"""Parts of a segment: with two handles of the longest length the frame still rises in its middle."""
_RIGID, _SOFT = 1e3, 0.07
"""The weights of errors of the derivatives at keys, relative to the root of the summed squares of residuals.

The soft one is for derivatives beside an ease, and in channels of angles. Beside an ease the spline is at rest at the
key, and a handle of no height would have no direction: so some speed is weighed against the error, by the root of the
ease. Channels of angles are so curved that with exact derivatives their errors would be three times as large.
"""
_DAMPING, _EASED_DAMPING, _LESS, _MORE = 0.002, 0.01, 0.5, 2.0
"""The first damping, and its factors after a step that lowered the cost and after one that did not."""
_LONGEST_STEP, _LEAST_REACH, _LONGEST_RATIO = 0.25, 1e-3, 5.0
_FLOOR, _LEAST_FLOOR = 1e-7, 1e-14
"""Parts of the mean of their kind: damping for unknowns without effect, as of a channel at rest."""
_HELD = 1e12
_LEAST_ALONG = 0.1
"""Part of a quaternion's length: nearer to a right angle to the motion the residual would have no bound."""
_NEWTON = 2


class Course(NamedTuple):
    """The exact motion of channels in segments; the last axis of each array runs over these.

    The c channels of a quaternion are fitted together; any other channel's segment is a column of its own, and c is 1.
    Frames are shares u of the segment.
    """

    keys: Float64Array
    """The values at start and end, shape (2, c, N)."""
    values: Float64Array
    """The values at m places, of quaternions at length 1, shape (c, m, N)."""
    rates: Float64Array
    """The derivatives by u at start and end, shape (2, c, N)."""
    path: Float64Array
    """The derivatives at start and end without ease, shape (2, c, N)."""
    eases: Float64Array
    """Ease from of the start and ease to of the end, shape (2, N)."""
    stiffness: Float64Array
    """The weights of squared errors of the derivatives at start and end, shape (2, N)."""

    @property
    def turns(self) -> bool:
        """Return whether the columns are quaternions."""
        return len(self.values) > 1

    def take(self, columns: IndexArray | slice) -> Course:
        return Course(*(array[..., columns] for array in self))

    def apart(self) -> Course:
        """Return the same with a column for each channel's segment, the first channel's before the second's."""
        keys, rates, path = (pair.reshape(2, 1, -1) for pair in (self.keys, self.rates, self.path))
        channels, places, _ = self.values.shape
        values = np.ascontiguousarray(self.values.swapaxes(0, 1)).reshape(1, places, -1)
        return Course(keys, values, rates, path, *(np.tile(each, channels) for each in (self.eases, self.stiffness)))


class Shape(NamedTuple):
    """Handles of segments, and the parameters of their Bezier segments at the samples.

    The first axis of a pair is start and end.
    """

    reach: Float64Array
    """Shares of the segment, shape (2, c, N)."""
    rates: Float64Array
    """Derivatives of the value by u, shape (2, c, N)."""
    parameter: Float64Array
    """Of the Bezier segment near to the same places, shape (c, m, N)."""

    def take(self, columns: IndexArray | slice) -> Shape:
        return Shape(*(array[..., columns] for array in self))


def stiffness_of(eases: Float64Array, exact: bool) -> Float64Array:
    """Return the weights of squared errors of the derivatives at start and end, shape (2, N).

    `exact`: these derivatives are to be the motion's where no ease is, as of values and quaternions.
    """
    return np.where(eases > 0.0, _SOFT**2 * eases, (_RIGID if exact else _SOFT) ** 2)


def fitted_shape(course: Course, still: BoolArray, places: Places, is_draft: bool = False) -> Shape:
    """Return the handles of all columns; those of `still` ones are at thirds, with the course's rates.

    `is_draft`: after the first step of the descent, and without parameters at the places.
    """
    c, _, columns = course.values.shape
    parameter = np.empty(course.values.shape)
    parameter[:] = places.at[:, np.newaxis]
    shape = Shape(np.full((2, c, columns), 1.0 / 3.0), course.rates.copy(), parameter)
    rows = np.flatnonzero(~still)
    for start in range(0, len(rows), _TOGETHER // c):
        own = _two_or_more(rows[start : start + _TOGETHER // c])
        for array, fitted in zip(shape, _descended(course.take(own), places, is_draft), strict=True):
            array[..., own] = fitted
    return shape


def _two_or_more(rows: IndexArray) -> IndexArray:
    """Return rows, a single one twice: NumPy sums one column in another order than several, and digits would differ."""
    return np.repeat(rows, 2) if len(rows) == 1 else rows


def _descended(course: Course, places: Places, is_draft: bool) -> Shape:
    """Return handles near the least squares at nodes, with more steps for columns with large errors."""
    nodes = places.at[places.nodes]
    origin, size = np.zeros(()), sphere.length(course.keys[0])
    if not course.turns:
        (origin,) = course.keys[0]
        reaching = np.concatenate([course.keys[1:] - course.keys[:1], course.path, course.rates])
        size = np.abs(reaching).max(axis=(0, 1))
    size = np.where(size > 0.0, size, 1.0)
    keys, values = (course.keys - origin) / size, course.values[:, places.nodes]
    if not course.turns:
        values = (values - origin) / size
    course = course._replace(keys=keys, values=values, rates=course.rates / size, path=course.path / size)
    problem = _Problem(course, nodes)
    state = problem.descended(problem.begun(), _DRAFT_STEPS if is_draft else _STEPS)
    bounds = _MORE_DRAFT_STEPS if is_draft else _MORE_STEPS if course.turns else _MORE_CHANNEL_STEPS
    rounds = [(steps, np.array(bound)) for steps, bound in bounds]
    if course.turns and not is_draft:
        rounds.append((_STEPS_FOR_POOR, _POOR * sphere.length(keys[1] - keys[0])))
    for steps, bound in rounds:
        poor = _two_or_more(np.flatnonzero(sphere.length(state.residuals).max(axis=0) > bound))
        if len(poor) and not (is_draft and len(poor) > _MOST_POOR_DRAFTS):
            further = _Problem(course.take(poor), nodes).descended(state.take(poor), steps)
            for array, own in zip(state, further, strict=True):
                array[..., poor] = own
    parameter = state.parameter if is_draft else _spread(state.parameter, places)
    return Shape(state.reach, state.rates * size, parameter)


class _State(NamedTuple):
    """Handles while they are fitted, with their residuals and derivatives."""

    reach: Float64Array
    rates: Float64Array
    parameter: Float64Array
    residuals: Float64Array
    """The errors of channels at the nodes, of a quaternion across the motion, shape (c, nodes, N)."""
    changes: Float64Array
    """The derivatives of a channel's value by reach (start, end) and rates (start, end), shape (4, c, nodes, N)."""
    bent: Float64Array
    """The errors of the rates at the keys, of a quaternion across its key, shape (2, c, N)."""
    cost: Float64Array
    damping: Float64Array
    """Both of shape (N,)."""

    def take(self, columns: IndexArray) -> _State:
        return _State(*(array[..., columns] for array in self))


class _Problem:
    """Least squares of columns, whose values are of about the size 1, at nodes: shares of the segment."""

    def __init__(self, course: Course, nodes: Float64Array) -> None:
        self._course = course
        self._nodes = nodes[:, np.newaxis]
        c, _, columns = course.values.shape
        self._bending = (
            np.repeat(np.eye(c)[np.newaxis], columns, axis=0) * self._course.stiffness[:, :, np.newaxis, np.newaxis]
        )
        self._directions: Float64Array | None = None
        if course.turns:
            directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
            self._directions = directions
            rows = (directions * np.sqrt(self._course.stiffness)[:, np.newaxis]).transpose(0, 2, 1)
            self._bending -= rows[..., np.newaxis] * rows[..., np.newaxis, :]

    def begun(self) -> _State:
        """Return the start of the descent: thirds, and with ease the frames with which thirds follow the ease best."""
        course = self._course
        eased = course.eases > 0.0
        reach = np.full(course.keys.shape, 1.0 / 3.0)
        rates = course.rates
        if eased.any():
            reach = np.repeat(_eased_reach(self._nodes, *course.eases)[:, np.newaxis], course.keys.shape[1], axis=1)
            rates = np.where(eased[:, np.newaxis], course.path / (3.0 * reach), rates)
        parameter = np.broadcast_to(self._nodes, course.values.shape)
        damping = np.where(eased.any(axis=0), _EASED_DAMPING, _DAMPING)
        return self._state(reach, rates, parameter, damping)

    def _state(
        self, reach: Float64Array, rates: Float64Array, parameter: Float64Array, damping: Float64Array
    ) -> _State:
        """Return the state of handles, whose parameters at the nodes are near to the given ones."""
        course = self._course
        frames = frame_powers(reach)
        for _ in range(_NEWTON):
            rise = np.maximum(slope_at(frames, parameter), LEAST_SLOPE)
            parameter = np.clip(parameter - (rise_at(frames, parameter) - self._nodes) / rise, 0.0, 1.0)
        values = bezier_powers(course.keys[1] - course.keys[0], *(reach * rates))
        played = rise_at(values, parameter) + course.keys[0][:, np.newaxis]
        steepness = slope_at(values, parameter) / np.maximum(slope_at(frames, parameter), LEAST_SLOPE)
        leave = 3.0 * parameter * (1.0 - parameter)
        arrive = -leave * parameter
        leave += arrive
        changes = np.empty((4, *parameter.shape))
        for side, share in enumerate((leave, arrive)):
            np.multiply(share, rates[side][:, np.newaxis] - steepness, out=changes[side])
            np.multiply(share, reach[side][:, np.newaxis], out=changes[2 + side])
        bent = rates - course.rates
        if self._directions is None:
            residuals = played - course.values
        else:
            along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
            residuals = played / along - course.values
            changes /= along
            bent -= self._directions * (self._directions * bent).sum(axis=1)[:, np.newaxis]
        cost = np.add.reduce(residuals * residuals, axis=(0, 1))
        cost += (self._course.stiffness * (bent * bent).sum(axis=1)).sum(axis=0)
        return _State(reach, rates, parameter, residuals, changes, bent, cost, damping)

    def descended(self, state: _State, steps: int) -> _State:
        """Return the state after Levenberg-Marquardt steps; each column has its own damping."""
        for _ in range(steps):
            step = self._step(state)
            reach = np.clip(state.reach + np.clip(step[0], -_LONGEST_STEP, _LONGEST_STEP), 0.0, _LONGEST)
            trial = self._state(
                reach, state.rates + self._kept(step[1], state.reach, reach), state.parameter, state.damping * _LESS
            )
            better = trial.cost < state.cost
            if better.all():
                state = trial
            else:
                state = state._replace(damping=state.damping * _MORE)
                state = _State(*(np.where(better, new, old) for new, old in zip(trial, state, strict=True)))
        return state

    def _kept(self, step: Float64Array, before: Float64Array, after: Float64Array) -> Float64Array:
        """Return a step of soft rates that changes the heights of handles as it would with their reach before.

        A descent in heights needs half the steps.
        """
        ratio = np.clip(before / np.maximum(after, _LEAST_REACH), 1.0 / _LONGEST_RATIO, _LONGEST_RATIO)
        kept: Float64Array = step * np.where((self._course.stiffness < _RIGID**2)[:, np.newaxis], ratio, 1.0)
        return kept

    def _step(self, state: _State) -> Float64Array:
        """Return steps of reach and rates, shape (2, 2, c, N).

        A channel's unknowns change that channel alone; of a quaternion the part along the motion is projected out.
        """
        changes = state.changes
        _, c, nodes, columns = changes.shape
        blocks = np.zeros((columns, 4, c, 4, c))
        channel = np.arange(c)
        products = np.add.reduce(changes[:, np.newaxis] * changes, axis=3)
        blocks[:, :, channel, :, channel] = products.transpose(2, 3, 0, 1)
        normal = blocks.reshape(columns, 4 * c, 4 * c)
        if self._directions is not None:
            along = np.ascontiguousarray(
                (changes * self._course.values).reshape(4 * c, nodes, columns).transpose(2, 0, 1)
            )
            normal -= along @ along.transpose(0, 2, 1)
        descent = np.add.reduce(changes * state.residuals, axis=2)
        descent[2:] += self._course.stiffness[:, np.newaxis] * state.bent
        descent = descent.reshape(4 * c, columns).T
        size = np.einsum("nii->ni", normal).copy()
        mean = size.reshape(columns, 2, 2 * c).mean(axis=2, keepdims=True)
        damped = size * state.damping[:, np.newaxis]
        damped += np.repeat(_FLOOR * mean + _LEAST_FLOOR, 2 * c, axis=1).reshape(columns, 4 * c)
        reach = state.reach.reshape(2 * c, columns).T
        onward = descent[:, : 2 * c]
        damped[:, : 2 * c] += _HELD * (((reach <= 0.0) & (onward > 0.0)) | ((reach >= _LONGEST) & (onward < 0.0)))
        for side in range(2):
            own = slice((2 + side) * c, (3 + side) * c)
            normal[:, own, own] += self._bending[side]
        unknown = np.arange(4 * c)
        normal[:, unknown, unknown] += damped
        step = _solved(normal, -descent[..., np.newaxis])[..., 0]
        steps: Float64Array = step.T.reshape(2, 2, c, columns)
        return steps


def _solved(normal: Float64Array, descent: Float64Array) -> Float64Array:
    """Solve the equations of each column; where they are singular, as by lengths that differ too much, return 0."""
    steps = np.zeros_like(descent)
    try:
        steps[:] = np.linalg.solve(normal, descent)
    except np.linalg.LinAlgError:
        for step, equations, right in zip(steps, normal, descent, strict=True):
            with suppress(np.linalg.LinAlgError):
                step[:] = np.linalg.solve(equations, right)
    return steps


def eased_share(u: Float64Array, ease_from: Float64Array, ease_to: Float64Array, nu: int = 0) -> Float64Array:
    """Return shares of segments (m, N) eased, or their derivatives by u."""
    return ease.ease(u, np.broadcast_to(ease_from, u.shape), np.broadcast_to(ease_to, u.shape), nu)


def _eased_reach(t: Float64Array, ease_from: Float64Array, ease_to: Float64Array) -> Float64Array:
    """Return the reach (2, N) of handles whose values are at thirds with which a line follows the ease best.

    Linear least squares of the frame's cubic at parameters t (m, 1): there the line's value is the parameter, and the
    frame is the inverse of the ease. Errors of frames times the line's speed are those of values.
    """
    scale = 1.0 / (2.0 - ease_from - ease_to)
    u = (t / scale + ease_from) / 2.0
    u = np.where(t < scale * ease_from, np.sqrt(t * ease_from / scale), u)
    u = np.where(1.0 - t < scale * ease_to, 1.0 - np.sqrt((1.0 - t) * ease_to / scale), u)
    weight = eased_share(u, ease_from, ease_to, nu=1)
    leave, arrive = 3.0 * t * (1.0 - t) ** 2 * weight, -3.0 * t * t * (1.0 - t) * weight
    rest = (u - t**3 - 3.0 * t * t * (1.0 - t)) * weight
    a, b, d = ((x * y).sum(axis=0) for x, y in ((leave, leave), (leave, arrive), (arrive, arrive)))
    p, q = (leave * rest).sum(axis=0), (arrive * rest).sum(axis=0)
    reach: Float64Array = np.stack([d * p - b * q, a * q - b * p]) / (a * d - b * b)
    return np.clip(reach, _LEAST_BEGUN, _LONGEST)


def _spread(parameter: Float64Array, places: Places) -> Float64Array:
    """Return parameters (c, nodes, N) at all places, interpolated linearly from 0 over the nodes to 1."""
    known = np.concatenate(([0.0], places.at[places.nodes], [1.0]))
    before = np.searchsorted(known, places.at, side="right") - 1
    share = ((places.at - known[before]) / np.diff(known)[before])[:, np.newaxis]
    whole = np.empty((len(parameter), len(known), parameter.shape[2]))
    whole[:, 0], whole[:, 1:-1], whole[:, -1] = 0.0, parameter, 1.0
    spread: Float64Array = whole[:, before] * (1.0 - share) + whole[:, before + 1] * share
    return spread
