# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of handles with which Bezier segments fit a motion best, by damped Gauss-Newton steps.

How far each handle reaches into its segment, and the derivatives with which channels leave and reach its keys. See
`handles`, which makes the motions. Source: docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from .. import ease
from ..batch import BoolArray, IndexArray
from ..hermite_basis import hermite_weights
from ..keys import Float64Array
from ..rotations import sphere
from .bezier_segments import LEAST_SLOPE, bezier_powers, frame_powers, rise_at, slope_at
from .least_squares import DenseEquations, Method, descend


def chebyshev(count: int) -> Float64Array:
    """Return Chebyshev's nodes between 0 and 1; every third, from the second on, is one of a third as many nodes."""
    return (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0


class Places(NamedTuple):
    """Shares of a segment at which errors are measured, and which of them are fitted.

    Least squares at Chebyshev's nodes almost minimize the maximum error.
    """

    at: Float64Array
    nodes: slice = slice(1, None, 3)


EASED = Places(chebyshev(60))
"""With eases twenty nodes: between fewer, channels can move fast and back."""
PLAIN = Places(chebyshev(36))
EASED_DRAFT = Places(chebyshev(10), slice(None))
"""In the one step of a draft channels do not get far."""
SMOOTH = Places(chebyshev(27))
"""For quaternions without ease, which are as accurate with nine nodes as with twelve. Channels of angles are not."""
CUBIC = Places(chebyshev(12))
"""For numbers without ease, whose error is rounding, a polynomial of the fifth degree."""


class _Round(NamedTuple):
    """Further steps of the segments that are off by more than a limit at a node."""

    steps: int
    limit: float
    """Half the angle in radians, or a part of the size of the values."""
    of_chord: float = 0.0
    """A limit as a part of the chord."""


Draft = Literal["FEW", "MANY"]
"""Handles of few or of many segments, which only have to look right for the moment. Drafts of many take one step."""
_DRAFTS: dict[Draft, tuple[_Round, ...]] = {"FEW": (_Round(1, 0.0), _Round(4, 3e-3)), "MANY": (_Round(1, 0.0),)}
_CHANNELS = (_Round(2, 0.0), _Round(2, 5e-5), _Round(6, 8e-5))
"""The last limit is slightly below the error that a bake may leave. Single channels need fewer steps."""
_QUATERNIONS = (_Round(2, 0.0), _Round(2, 5e-5), _Round(10, 8e-5), _Round(12, 8e-5, of_chord=0.015))
"""Some quaternions with eases begin with large errors."""
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
_LEAST_ALONG = 0.1
"""Part of a quaternion's length: closer to a right angle to the motion the residual would have no bound."""
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

    def take(self, columns: IndexArray) -> Course:
        # Not by brackets, because the order in memory determines NumPy's order of summation, and so the last digit.
        return Course(*(array.take(columns, axis=-1) for array in self))

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
    """Of the Bezier segment, close to the same places, shape (c, m, N)."""

    def take(self, columns: IndexArray | slice) -> Shape:
        return Shape(*(array[..., columns] for array in self))


def stiffness_of(eases: Float64Array, exact: bool) -> Float64Array:
    """Return the weights of squared errors of the derivatives at start and end, shape (2, N).

    `exact`: these derivatives are to be the motion's where no ease is, as of values and quaternions.
    """
    return np.where(eases > 0.0, _SOFT**2 * eases, (_RIGID if exact else _SOFT) ** 2)


def fitted_shape(course: Course, still: BoolArray, places: Places, draft: Draft | None = None) -> Shape:
    """Return the handles of all columns. Handles of `still` columns are at thirds, with the course's rates.

    A draft has no parameters at the places.
    """
    c, _, columns = course.values.shape
    parameter = np.empty(course.values.shape)
    parameter[:] = places.at[:, np.newaxis]
    shape = Shape(np.full((2, c, columns), 1.0 / 3.0), course.rates.copy(), parameter)
    rows = np.flatnonzero(~still)
    for start in range(0, len(rows), _TOGETHER // c):
        own = _two_or_more(rows[start : start + _TOGETHER // c])
        for array, fitted in zip(shape, _descended(course.take(own), places, draft), strict=True):
            array[..., own] = fitted
    return shape


def _two_or_more(rows: IndexArray) -> IndexArray:
    """Return rows, a single one twice: NumPy sums one column in another order than several, and digits would differ."""
    return np.repeat(rows, 2) if len(rows) == 1 else rows


def _descended(course: Course, places: Places, draft: Draft | None) -> Shape:
    """Return handles close to the least squares at nodes, with more steps for columns with large errors."""
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
    rounds = _DRAFTS[draft] if draft else _QUATERNIONS if course.turns else _CHANNELS
    fit = _Fit.of(course, nodes, rounds)
    c = len(values)
    low, high = np.repeat([[0.0, -np.inf], [_LONGEST, np.inf]], 2 * c, axis=1)[..., np.newaxis]
    damping = np.where(course.eases.any(axis=0), _EASED_DAMPING, _DAMPING)
    method = Method(sum(each.steps for each in rounds), 0.0, damping, _LESS, _MORE, rounds=0)
    reach, rates = _halves(descend(fit, fit.start(), low, high, method).x)
    parameter = np.empty(course.values.shape) if draft else _spread(_at_nodes(reach, fit.nodes), places)
    return Shape(reach, rates * size, parameter)


def _halves(x: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return reach and rates, each of shape (2, c, N), of unknowns (4 c, N)."""
    reach, rates = x.reshape(2, 2, len(x) // 4, -1)
    return reach, rates


class _State(NamedTuple):
    """Residuals and derivatives of handles."""

    parameter: Float64Array
    """Of the Bezier segment at the nodes, shape (c, nodes, N)."""
    residuals: Float64Array
    """The errors of channels at the nodes, of a quaternion across the motion, shape (c, nodes, N)."""
    changes: Float64Array
    """The derivatives of a channel's value by reach (start, end) and rates (start, end), shape (4, c, nodes, N)."""
    bent: Float64Array
    """The errors of the rates at the keys, of a quaternion across its key, shape (2, c, N)."""
    cost: Float64Array
    """Shape (N,)."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """Least squares of columns, whose values are of about the size 1, at nodes: shares of the segment.

    The unknowns are the reach of handles after the start and before the end, and the rates there.
    """

    course: Course
    nodes: Float64Array
    """Shape (nodes, 1)."""
    rounds: tuple[_Round, ...]
    bending: Float64Array
    """The matrices of the rates at start and end, shape (2, N, c, c)."""
    directions: Float64Array | None
    """Of quaternions, along which rates are free, shape (2, c, N)."""

    @property
    def owner(self) -> None:
        """Return None: columns are problems of their own."""
        return None

    @classmethod
    def of(cls, course: Course, nodes: Float64Array, rounds: tuple[_Round, ...]) -> _Fit:
        """Return the fit of a course."""
        c, _, columns = course.values.shape
        bending = np.repeat(np.eye(c)[np.newaxis], columns, axis=0) * course.stiffness[:, :, np.newaxis, np.newaxis]
        directions = None
        if course.turns:
            directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
            rows = (directions * np.sqrt(course.stiffness)[:, np.newaxis]).transpose(0, 2, 1)
            bending -= rows[..., np.newaxis] * rows[..., np.newaxis, :]
        return cls(course, nodes[:, np.newaxis], rounds, bending, directions)

    def start(self) -> Float64Array:
        """Return thirds, and with ease the frames with which thirds follow the ease best."""
        course = self.course
        eased = course.eases > 0.0
        reach: Float64Array = np.full(course.keys.shape, 1.0 / 3.0)
        rates = course.rates
        if eased.any():
            reach = np.repeat(_eased_reach(self.nodes, *course.eases)[:, np.newaxis], course.keys.shape[1], axis=1)
            rates = np.where(eased[:, np.newaxis], course.path / (3.0 * reach), rates)
        return np.concatenate([reach, rates]).reshape(4 * reach.shape[1], -1)

    def evaluate(self, x: Float64Array, near: _State | None) -> _State:
        """Return the state, with parameters at the nodes that start from the parameters of `near`."""
        course = self.course
        reach, rates = _halves(x)
        frames = frame_powers(reach)
        parameter = np.broadcast_to(self.nodes, course.values.shape) if near is None else near.parameter
        parameter = _closer(frames, parameter, self.nodes, _NEWTON)
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
        if self.directions is None:
            residuals = played - course.values
        else:
            along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
            residuals = played / along - course.values
            changes /= along
            bent -= self.directions * (self.directions * bent).sum(axis=1)[:, np.newaxis]
        cost = np.einsum("cmn,cmn->n", residuals, residuals)
        cost += (course.stiffness * (bent * bent).sum(axis=1)).sum(axis=0)
        return _State(parameter, residuals, changes, bent, cost)

    def equations(self, x: Float64Array, state: _State) -> DenseEquations:
        """Return the equations of columns.

        A channel's unknowns change that channel alone; of a quaternion the part along the motion is projected out.
        """
        changes = state.changes
        _, c, nodes, columns = changes.shape
        blocks = np.zeros((columns, 4, c, 4, c))
        channel = np.arange(c)
        products = np.einsum("icmn,jcmn->ijcn", changes, changes)
        blocks[:, :, channel, :, channel] = products.transpose(2, 3, 0, 1)
        matrix = blocks.reshape(columns, 4 * c, 4 * c)
        if self.directions is not None:
            along = np.ascontiguousarray(
                (changes * self.course.values).reshape(4 * c, nodes, columns).transpose(2, 0, 1)
            )
            matrix -= along @ along.transpose(0, 2, 1)
        gradient = np.einsum("icmn,cmn->icn", changes, state.residuals)
        gradient[2:] += self.course.stiffness[:, np.newaxis] * state.bent
        # Damping does not count the stiffness, which would hold the free lengths of quaternions, too.
        size = np.einsum("nii->in", matrix).copy()
        mean = size.reshape(2, 2 * c, columns).mean(axis=1)
        for side in range(2):
            own = slice((2 + side) * c, (3 + side) * c)
            matrix[:, own, own] += self.bending[side]
        unknown = np.arange(4 * c)
        matrix[:, unknown, unknown] += np.repeat(_FLOOR * mean + _LEAST_FLOOR, 2 * c, axis=0).T
        return DenseEquations(matrix, gradient.reshape(4 * c, columns), size)

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        """Return handles after a step. A step of soft rates changes heights as it would with the reach before.

        A descent in heights needs half the steps.
        """
        (before, rates), (onward, change) = _halves(x), _halves(step)
        reach = np.clip(before + np.clip(onward, -_LONGEST_STEP, _LONGEST_STEP), 0.0, _LONGEST)
        ratio = np.clip(before / np.maximum(reach, _LEAST_REACH), 1.0 / _LONGEST_RATIO, _LONGEST_RATIO)
        change = change * np.where((self.course.stiffness < _RIGID**2)[:, np.newaxis], ratio, 1.0)
        return np.concatenate([reach, rates + change]).reshape(x.shape)

    def is_good(self, state: _State, steps: int) -> BoolArray:
        """Return which columns need no more than the rounds that ended with so many steps."""
        ends = np.cumsum([each.steps for each in self.rounds])
        if steps not in ends[:-1]:
            return np.zeros(len(state.cost), dtype=np.bool_)
        following = self.rounds[int(np.searchsorted(ends, steps)) + 1]
        limit = np.full(len(state.cost), following.limit)
        if following.of_chord:
            np.maximum(limit, following.of_chord * sphere.length(self.course.keys[1] - self.course.keys[0]), out=limit)
        good: BoolArray = sphere.length(state.residuals).max(axis=0) <= limit
        return good

    def chosen(self, better: BoolArray, new: _State, old: _State) -> _State:
        """Return the new states of some columns, and the old ones of the others."""
        return _State(*(np.where(better, one, other) for one, other in zip(new, old, strict=True)))

    def take(self, problems: BoolArray, state: _State) -> tuple[_Fit, _State]:
        """Return some of the columns with their states."""
        directions = None if self.directions is None else self.directions.compress(problems, axis=-1)
        course, bending = self.course.take(np.flatnonzero(problems)), self.bending[:, problems]
        fit = _Fit(course, self.nodes, self.rounds, bending, directions)
        return fit, _State(*(array.compress(problems, axis=-1) for array in state))


def _closer(frames: Float64Array, parameter: Float64Array, nodes: Float64Array, steps: int) -> Float64Array:
    """Return parameters closer to those at which frames are at the nodes, by Newton's method."""
    for _ in range(steps):
        rise = np.maximum(slope_at(frames, parameter), LEAST_SLOPE)
        parameter = np.clip(parameter - (rise_at(frames, parameter) - nodes) / rise, 0.0, 1.0)
    return parameter


def _at_nodes(reach: Float64Array, nodes: Float64Array) -> Float64Array:
    """Return the parameters (c, nodes, N) at the nodes."""
    start = np.broadcast_to(nodes, (reach.shape[1], len(nodes), reach.shape[2]))
    return _closer(frame_powers(reach), start, nodes, _NEWTON)


def eased_share(u: Float64Array, ease_from: Float64Array, ease_to: Float64Array, nu: int = 0) -> Float64Array:
    """Return shares of segments (m, N) eased, or their derivatives by u."""
    return ease.ease(u, np.broadcast_to(ease_from, u.shape), np.broadcast_to(ease_to, u.shape), nu)


def _eased_reach(t: Float64Array, ease_from: Float64Array, ease_to: Float64Array) -> Float64Array:
    """Return the reach (2, N) of handles whose values are at thirds with which a line follows the ease best.

    Linear least squares of the frame's cubic at parameters t (m, 1): there the line's value is the parameter, and the
    frame is the inverse of the ease. Errors of frames times the line's speed are errors of values.
    """
    scale = 1.0 / (2.0 - ease_from - ease_to)
    u = (t / scale + ease_from) / 2.0
    u = np.where(t < scale * ease_from, np.sqrt(t * ease_from / scale), u)
    u = np.where(1.0 - t < scale * ease_to, 1.0 - np.sqrt((1.0 - t) * ease_to / scale), u)
    weight = eased_share(u, ease_from, ease_to, nu=1)
    rise, leave, arrive = (3.0 * weight * each for each in hermite_weights(t))
    rest = u * weight - rise / 3.0
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
