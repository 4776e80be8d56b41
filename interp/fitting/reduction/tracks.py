# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of numbers and rotations that are reduced to the fewest keys, each track within a tolerance of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ...batch import BoolArray, IndexArray, checked_choice
from ...keys import PARAMETERS, Float64Array, Keys
from ...rotations import sphere
from ...rotations.quaternions import unroll_signs
from ...rotations.representations import rotation_representation
from ...splines import hermite, tcb
from .fewest_keys import evaluate, fewest_keys, refit_around, spaced_anew
from .tcb_curves import Method, TCBCurves, curves_of, parameters_of
from .tcb_windows import SHAPED
from .windows import Curves, KeySet, Samples

Result = TypeVar("Result")

_ABOUT = 1.1
"""Times the tolerance: a cubic of quaternions and one of rotation vectors play the same keys otherwise."""
_SHARES = (0.0, 0.4, 0.8)
"""Of the keys beyond those that errors ask for, which are tried where keys are spaced anew."""


@dataclass(frozen=True, eq=False)
class Part:
    """A property of several tracks, one sample a frame.

    Attributes
    ----------
    samples : ndarray, shape (tracks, frames, d)
        Finite numbers, or unit quaternions (w, x, y, z), of neighbouring signs from frame to frame.
    tolerance : ndarray, shape (tracks,) or (tracks, frames)
        The largest error that is allowed, above 0: the length of the difference, or an angle in radians.
    is_rotation : bool
        Whether they are quaternions; `Part.of_rotations(quaternions, tolerance)` takes those of any length and signs.
    ends : ndarray, shape (tracks, 2, d), or None
        How the samples change a frame at both ends, which Hermite's keys must have there; NaN where an end is free, as
        it then is of all parts. TCB keys have none.
    """

    samples: Float64Array
    tolerance: Float64Array
    is_rotation: bool = False
    ends: Float64Array | None = None

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
        Of each part, units a frame; of rotations angular ones about the parent's axes, radians a frame. Empty for TCB.
    error : float
        The largest error, as a part of what is allowed.
    is_rotation : list of bool
        Of each part.
    parameters : list of ndarray, shape (5, n)
        Of each part of TCB keys, as float32 has them, in the order of `Keys`. Empty for Hermite's.
    """

    rows: IndexArray
    values: list[Float64Array]
    velocities: list[Float64Array]
    error: float
    is_rotation: list[bool]
    parameters: list[Float64Array] = field(default_factory=list)

    def spline(self, part: int) -> Any:
        """Return the spline of a part, whose frames are rows."""
        is_rotation, at = self.is_rotation[part], self.rows.astype(np.float64)
        if self.parameters:
            own = Keys(at, self.values[part], *self.parameters[part])
            return tcb.RotationSpline(own) if is_rotation else tcb.VectorSpline(own)
        of_kind: Any = hermite.RotationSpline if is_rotation else hermite.VectorSpline
        return of_kind(Keys(at, self.values[part]), velocities=self.velocities[part])


def reduce_tracks(parts: Sequence[Part], is_exact: bool = False, method: Method = "HERMITE") -> list[Reduced]:
    """Return for each track the fewest keys, common to its parts, with which these stay within their tolerances.

    Parameters
    ----------
    parts : sequence of Part
        At least one, all of as many tracks and frames, with finite samples.
    is_exact : bool
        Keys have the values of the samples. Otherwise those with the least squares of the errors, which needs fewer.
    method : "HERMITE", "TCB" or "TCB_EASE"
        What keys have beside their values: velocities; tension, continuity and bias of each part; eases, too.

    Returns
    -------
    list of Reduced
        Keys at the first frame, at the last one, and between. Played by Hermite's splines with these velocities,
        numbers keep within the tolerance; rotations do but for the difference between a cubic of quaternions, which
        F-curves play, and one of rotation vectors. TCB splines with these parameters keep within the tolerance.

    Raises
    ------
    ValueError
        Without parts, for parts of another shape, samples that are not finite, tolerances that are not above 0 or not
        one a track, or one a sample, and another method.

    Notes
    -----
    The search removes the key that is missed least until none can go, moves keys in between, and tries segments as long
    as their errors allow: few more than the fewest. Source: docs/formulas.md, "Fewest keys".

    Examples
    --------
    >>> frames = np.arange(101)
    >>> samples = np.sin(frames / 20)[np.newaxis, :, np.newaxis]
    >>> (keys,) = reduction.reduce_tracks([reduction.Part(samples, np.array([0.01]))])
    >>> len(keys.rows), bool(np.abs(keys.spline(0)(frames) - samples[0]).max() < 0.01)
    (4, True)

    A rotation, to half a degree, as keys of TCB:

    >>> turns = rotations.from_axis_angle(np.tile([0.0, 0.6, 0.8], (101, 1)), np.sin(frames / 20))
    >>> part = reduction.Part.of_rotations(turns[np.newaxis], np.radians([0.5]))
    >>> (keys,) = reduction.reduce_tracks([part], method="TCB")
    >>> keys.parameters[0].shape[1] == len(keys.rows)
    True
    >>> bool(np.degrees(rotations.angle_between(keys.spline(0)(frames), turns).max()) < 0.5)
    True
    """
    _check(parts, method)
    samples = samples_of(parts, is_exact, method)
    keys = _result(fewest_keys(samples))
    for share in _SHARES if samples.curves.simpler is None and samples.count > 1 else ():
        is_fewer = True
        while is_fewer:
            keys, is_fewer = _result(spaced_anew(samples, keys, share, partial(_are_near, parts, samples)))
    return _split(parts, samples, keys)


def _check(parts: Sequence[Part], method: str) -> None:
    """Raise ValueError for what can't be reduced."""
    checked_choice("method", method, get_args(Method))
    if not parts:
        raise ValueError("parts must be at least one")
    shape = np.shape(parts[0].samples)[:2]
    for number, part in enumerate(parts):
        if np.ndim(part.samples) != 3 or np.shape(part.samples)[:2] != shape or not all(part.samples.shape):
            raise ValueError(
                f"samples of part {number} must have the shape (tracks, frames, d), of as many tracks and frames as all"
                f" parts, not {np.shape(part.samples)}"
            )
        if not np.isfinite(part.samples).all():
            raise ValueError(f"samples of part {number} must be finite")
        if np.shape(part.tolerance) not in (shape, shape[:1]) or not (part.tolerance > 0.0).all():
            raise ValueError(f"the tolerance of part {number} must be above 0, one a track, or one a track and frame")


def _are_near(parts: Sequence[Part], samples: Samples, keys: KeySet) -> BoolArray:
    """Return of which tracks Hermite's splines of rotations, too, are about within the tolerance."""
    rows = np.arange(samples.count)
    near = np.ones(len(samples.values), dtype=np.bool_)
    for number, part in enumerate(parts):
        for track, own in enumerate(_split(parts, samples, keys) if part.is_rotation else ()):
            played = own.spline(number)(rows.astype(np.float64))
            near[track] &= part.errors(np.full(len(rows), track), rows, played).max() <= _ABOUT
    return near


def _result(steps: Generator[float, None, Result]) -> Result:
    """Take all steps, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result


def samples_of(parts: Sequence[Part], is_exact: bool, method: Method) -> Samples:
    """Return the samples of all parts side by side."""
    columns = _columns(parts)

    def measure(track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        errors: Float64Array = np.maximum.reduce(
            [part.errors(track, row, values[:, own]) for part, (own, _) in zip(parts, columns, strict=True)]
        )
        return errors

    given = [part.ends for part in parts if part.ends is not None]
    velocities = np.concatenate(given, axis=2) if len(given) == len(parts) else None
    joined = np.concatenate([part.samples for part in parts], axis=2)
    return Samples(joined, measure, is_exact, curves_of(method, columns), velocities)


def _columns(parts: Sequence[Part]) -> list[tuple[slice, bool]]:
    """Return the columns of each part side by side, and whether it is a rotation."""
    ends = np.cumsum([part.samples.shape[2] for part in parts]).tolist()
    return [(slice(end - part.samples.shape[2], end), part.is_rotation) for part, end in zip(parts, ends, strict=True)]


def _split(parts: Sequence[Part], samples: Samples, keys: KeySet) -> list[Reduced]:
    """Return the keys of each track, by parts."""
    errors = evaluate(samples, keys)[1].max(axis=1)
    tracks = [keys.keep(keys.track == track) for track in range(len(errors))]
    return [
        reduced(own, samples.curves, _columns(parts), error) for own, error in zip(tracks, errors.tolist(), strict=True)
    ]


def reduced(
    keys: KeySet, curves: Curves, columns: Sequence[tuple[slice, bool]], error: float, first: int = 0
) -> Reduced:
    """Return the keys of a track by parts in these columns; `first` is the number of the first among all parts."""
    values, velocities, parameters = [], [], []
    for part, (own, is_rotation) in enumerate(columns, first):
        value = keys.values[:, own]
        if isinstance(curves, TCBCurves):
            parameters.append(parameters_of(keys, part))
        else:
            velocity = keys.shapes[:, own]
            if is_rotation:
                value, velocity = of_rotation(value, velocity)
            velocities.append(velocity)
        values.append(value)
    return Reduced(keys.rows, values, velocities, error, [is_rotation for _, is_rotation in columns], parameters)


def divided(keys: Reduced, rows: Iterable[int], parts: Sequence[Part]) -> Reduced:
    """Return the keys with more of them at these rows; those around are fitted anew to the parts, of one track."""
    frames = np.union1d(keys.rows, list(rows))
    old = np.searchsorted(frames, keys.rows)
    samples = samples_of(parts, is_exact=False, method=_method_of(keys))
    values = samples.values[0, frames]
    if keys.parameters:
        shapes = np.zeros((len(frames), len(PARAMETERS) * len(parts)))
        shapes[old] = np.concatenate(keys.parameters).T
    else:
        quaternions = rotation_representation("QUATERNION")
        shapes = np.gradient(samples.values[0], axis=0)[frames]
        shapes[old] = np.concatenate(
            [
                quaternions.rates(value.T, value.T, velocity.T).T if is_rotation else velocity
                for value, velocity, is_rotation in zip(keys.values, keys.velocities, keys.is_rotation, strict=True)
            ],
            axis=1,
        )
    values[old] = np.concatenate(keys.values, axis=1)
    every = KeySet(np.zeros(len(frames), dtype=np.intp), frames, values, shapes)
    refit_around(samples, every, np.setdiff1d(np.arange(len(frames)), old))
    return _split(parts, samples, every)[0]


def _method_of(keys: Reduced) -> Method:
    if not keys.parameters:
        return "HERMITE"
    return "TCB_EASE" if any(own[SHAPED:].any() for own in keys.parameters) else "TCB"


def of_rotation(values: Float64Array, velocities: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return unit quaternions and angular velocities (n, 3) for quaternions (n, 4) of any length, and how they change.

    The velocity is twice the vector of q' / q; a change of length has a part in its scalar only.
    """
    length = np.linalg.norm(values, axis=1, keepdims=True)
    turned = sphere.product((velocities / length).T, sphere.conjugate((values / length).T))
    return values / length, 2.0 * turned[1:].T
