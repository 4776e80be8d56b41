# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of numbers and rotations that are reduced to the fewest keys, each track within a tolerance of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...batch import IndexArray
from ...keys import Float64Array, Keys
from ...rotations import sphere
from ...rotations.quaternions import unroll_signs
from ...splines import hermite
from .fewest_keys import evaluate, fewest_keys
from .windows import KeySet, Samples


@dataclass(frozen=True, eq=False)
class Part:
    """A property of several tracks, one sample a frame.

    Attributes
    ----------
    samples : ndarray, shape (tracks, frames, d)
        Numbers, or unit quaternions (w, x, y, z), of neighbouring signs from frame to frame.
    tolerance : ndarray, shape (tracks,) or (tracks, frames)
        The largest error that is allowed: the length of the difference, or an angle in radians.
    is_rotation : bool
    """

    samples: Float64Array
    tolerance: Float64Array
    is_rotation: bool = False

    @classmethod
    def of_rotations(cls, quaternions: npt.ArrayLike, tolerance: npt.ArrayLike) -> Part:
        """Return the part of rotations (tracks, frames, 4) of any length and signs."""
        values = np.array(quaternions, dtype=np.float64)
        values /= np.linalg.norm(values, axis=2, keepdims=True)
        return cls(unroll_signs(values), np.asarray(tolerance, dtype=np.float64), True)

    def errors(self, track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        """Return the errors (n,) of values (n, d) at rows (n,) of tracks (n,), as parts of what is allowed."""
        target = self.samples[track, row]
        if self.is_rotation:
            values = values / np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
        off = values - target
        distance = np.sqrt(np.einsum("ij,ij->i", off, off))
        if self.is_rotation:
            # The chord of two quaternions is 2 sin(angle / 4).
            distance = 4.0 * np.arcsin(np.minimum(0.5 * distance, 1.0))
        allowed = self.tolerance[track] if self.tolerance.ndim == 1 else self.tolerance[track, row]
        errors: Float64Array = distance / allowed
        return errors


@dataclass(frozen=True, eq=False)
class Reduced:
    """The keys of one track.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The samples at whose frames the keys are.
    values : list of ndarray, shape (n, d)
        Of each part; unit quaternions for rotations.
    velocities : list of ndarray, shape (n, d) or (n, 3)
        Of each part, units a frame; of rotations angular ones about the parent's axes, radians a frame.
    error : float
        The largest error, as a part of what is allowed.
    """

    rows: IndexArray
    values: list[Float64Array]
    velocities: list[Float64Array]
    error: float


def reduce_tracks(parts: Sequence[Part], is_exact: bool = False) -> list[Reduced]:
    """Return for each track the fewest keys, common to its parts, with which these stay within their tolerances.

    Parameters
    ----------
    parts : sequence of Part
        All of as many tracks and frames.
    is_exact : bool
        Keys have the values of the samples. Otherwise those with the least squares of the errors, which needs fewer.

    Returns
    -------
    list of Reduced
        Keys at the first frame, at the last one, and between. Played by Hermite's splines with these velocities,
        numbers keep within the tolerance; rotations do but for the difference between a cubic of quaternions, which
        F-curves play, and one of rotation vectors.

    Notes
    -----
    The search removes the key that is missed least until none can go, and moves keys in between: few more than the
    fewest. Source: docs/formulas.md, "Fewest keys".
    """
    steps = fewest_keys(samples_of(parts, is_exact))
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            keys: KeySet = stop.value
            return split(parts, keys, is_exact)


def samples_of(parts: Sequence[Part], is_exact: bool) -> Samples:
    """Return the samples of all parts side by side."""
    ends = np.cumsum([part.samples.shape[2] for part in parts])
    columns = [slice(end - part.samples.shape[2], end) for part, end in zip(parts, ends.tolist(), strict=True)]

    def measure(track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        errors: Float64Array = np.maximum.reduce(
            [part.errors(track, row, values[:, own]) for part, own in zip(parts, columns, strict=True)]
        )
        return errors

    return Samples(np.concatenate([part.samples for part in parts], axis=2), measure, is_exact)


def split(parts: Sequence[Part], keys: KeySet, is_exact: bool) -> list[Reduced]:
    """Return the keys of each track, by parts."""
    errors = evaluate(samples_of(parts, is_exact), keys)[1].max(axis=1)
    bounds = np.searchsorted(keys.track, np.arange(len(errors) + 1))
    found = []
    for track, error in enumerate(errors.tolist()):
        own = slice(bounds[track], bounds[track + 1])
        values, velocities, start = [], [], 0
        for part in parts:
            columns = slice(start, start := start + part.samples.shape[2])
            value, velocity = keys.values[own, columns], keys.shapes[own, columns]
            if part.is_rotation:
                value, velocity = of_rotation(value, velocity)
            values.append(value)
            velocities.append(velocity)
        found.append(Reduced(keys.rows[own], values, velocities, error))
    return found


def divided(keys: Reduced, rows: Iterable[int]) -> Reduced:
    """Return the keys with more of them at these rows, where Hermite's splines play them."""
    at, frames = keys.rows.astype(np.float64), np.union1d(keys.rows, list(rows))
    old = np.searchsorted(frames, keys.rows)
    values, velocities = [], []
    for value, velocity in zip(keys.values, keys.velocities, strict=True):
        own: Any = hermite.RotationSpline if value.shape[1] > velocity.shape[1] else hermite.VectorSpline
        spline = own(Keys(at, value), velocities=velocity)
        more = [spline(frames.astype(np.float64), nu) for nu in (0, 1)]
        for new, known in zip(more, (value, velocity), strict=True):
            new[old] = known
        values.append(more[0])
        velocities.append(more[1])
    return Reduced(frames, values, velocities, keys.error)


def of_rotation(values: Float64Array, velocities: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return unit quaternions and angular velocities (n, 3) for quaternions (n, 4) of any length, and how they change.

    The velocity is twice the vector of q' / q; a change of length has a part in its scalar only.
    """
    length = np.linalg.norm(values, axis=1, keepdims=True)
    turned = sphere.product((velocities / length).T, sphere.conjugate((values / length).T))
    return values / length, 2.0 * turned[1:].T
