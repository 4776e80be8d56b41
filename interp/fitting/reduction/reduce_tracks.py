# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce tracks of values and rotations to the fewest keys, with a tolerance for each track."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ...arguments import checked_choice
from ...keys import PARAMETERS, Float64Array, IndexArray, Keys
from ...rotations import sphere
from ...rotations.quaternions import unroll_signs
from ...splines import hermite, tcb
from .fewest_keys import errors_of, fewest_keys, refit_around, respaced, with_keys_at
from .tension_and_bias import chord_products, chord_rates, weights_in_triangle
from .windows import KeySet, Method, Samples

_ROTATION_LIMIT = 1.1
"""The limit of splines of rotations, relative to the tolerance. Cubics of quaternions and of rotation vectors play the
same keys differently."""
_VALUE_LIMIT = 1.0 + 1e-6
"""The limit of splines of values, relative to the tolerance, with room for the rounding of parameters to float32."""
_RIDGE = 1e-12
"""The weight of a change in tension and bias, relative to the chords. This weight matters where the chords have no
effect."""


@dataclass(frozen=True, eq=False)
class SampledTracks:
    """The samples of one property in several tracks, one per frame.

    Attributes
    ----------
    samples : ndarray, shape (tracks, frames, d)
        Finite values, or unit quaternions (w, x, y, z) with continuous signs.
    tolerance : ndarray, shape (tracks,) or (tracks, frames)
        The maximum error, above 0, as the length of the difference or an angle in radians.
    is_rotation : bool
        True if the samples are quaternions. `SampledTracks.of_rotations(quaternions, tolerance)` accepts any length and
        sign.
    ends : ndarray, shape (tracks, 2, d), or None
        The required derivatives of the samples per frame at both ends, where the keys then have the values of the
        samples. NaN marks an end that is free for all parts. Keys with tension and bias preserve only the values.
    """

    samples: Float64Array
    tolerance: Float64Array
    is_rotation: bool = False
    ends: Float64Array | None = None

    @classmethod
    def of_rotations(cls, quaternions: npt.ArrayLike, tolerance: npt.ArrayLike) -> SampledTracks:
        """Return a part for rotations (tracks, frames, 4), given as quaternions of any length and sign."""
        values = np.array(quaternions, dtype=np.float64)
        values /= np.linalg.norm(values, axis=2, keepdims=True)
        return cls(unroll_signs(values), np.asarray(tolerance, dtype=np.float64), True)

    def errors(self, track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        """Return the errors (n,) of values (n, d) at rows (n,) of tracks (n,), relative to the tolerance."""
        if self.is_rotation:
            values = values / np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
        _, frames, dimension = self.samples.shape
        index = track * frames + row
        deviation = values - self.samples.reshape(-1, dimension).take(index, axis=0)
        distance = np.sqrt(np.einsum("ij,ij->i", deviation, deviation))
        if self.is_rotation:
            # The chord of two quaternions is 2 sin(angle / 4).
            distance = 4.0 * np.arcsin(np.minimum(0.5 * distance, 1.0))
        allowed = self.tolerance[track] if self.tolerance.ndim == 1 else self.tolerance.take(index)
        errors: Float64Array = distance / allowed
        return errors

    def _of_track(self, track: int) -> SampledTracks:
        """Return the part with only one of its tracks."""
        ends = None if self.ends is None else self.ends[[track]]
        return SampledTracks(self.samples[[track]], self.tolerance[[track]], self.is_rotation, ends)

    def scaled(self) -> tuple[SampledTracks, Float64Array]:
        """Return the part with samples scaled to about 1, and the original sizes (tracks, 1, 1)."""
        size = np.abs(self.samples).max(axis=(1, 2), keepdims=True)
        # Powers of two avoid rounding.
        size = np.exp2(np.frexp(size)[1])
        if self.is_rotation:
            return self, np.ones_like(size)
        allowed = self.tolerance / size.reshape(-1, *[1] * (self.tolerance.ndim - 1))
        ends = None if self.ends is None else self.ends / size
        allowed = np.clip(allowed, np.finfo(np.float64).tiny, None)
        return SampledTracks(self.samples / size, allowed, False, ends), size


@dataclass(frozen=True, eq=False)
class Reduced:
    """The keys of a track.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The rows of the samples at the keys.
    values : list of ndarray, shape (n, d)
        The values of each part, as unit quaternions for rotations.
    slopes : list of ndarray, shape (n, d)
        The derivatives of the values per frame.
    error : float
        The maximum error of the splines at the frames of the samples, relative to the tolerance.
    is_rotation : list of bool
        For each part, true if the part is a rotation.
    method : "HERMITE" or "TCB"
    """

    rows: IndexArray
    values: list[Float64Array]
    slopes: list[Float64Array]
    error: float
    is_rotation: list[bool]
    method: Method = "HERMITE"

    def velocities(self, part: int) -> Float64Array:
        """Return velocities (n, d) per frame, or for rotations angular velocities (n, 3) in the parent frame."""
        values, slopes = self.values[part], self.slopes[part]
        if not self.is_rotation[part]:
            return slopes
        # The quaternion derivative is q' = (0, w/2) q for the angular velocity w.
        half_velocities = sphere.product(slopes.T, sphere.conjugate(values.T))
        velocities: Float64Array = 2.0 * half_velocities[1:].T
        return velocities

    def parameters(self, part: int) -> Float64Array:
        """Return the parameters (5, n) with the closest velocities, rounded to float32, in the order of `Keys`."""
        values, is_rotation = self.values[part], self.is_rotation[part]
        parameters = np.zeros((len(PARAMETERS), len(self.rows)))
        if len(self.rows) < 2:
            return parameters
        velocities = self.velocities(part)
        if is_rotation:
            q = values.T
            turns = 2.0 * sphere.log(sphere.product(q[:, 1:], sphere.conjugate(q[:, :-1]))).T
            values = np.concatenate([np.zeros((1, 3)), np.cumsum(turns, axis=0)])
        arrays = values[..., np.newaxis], velocities[..., np.newaxis]
        chords = chord_rates(self.rows[:, np.newaxis], *arrays, [(slice(None), is_rotation)])
        aa, ab, bb, a, b = (product[:, 0] for product in chord_products(chords, arrays[1]))
        ridge = _RIDGE * (aa + bb) + np.finfo(np.float64).tiny ** 0.5
        # x = (1-T)(1+B) and y = (1-T)(1-B) are the weights of both chords.
        x, y = weights_in_triangle(aa + ridge, ab, bb + ridge, a + ridge, b + ridge)
        # The ends have only one chord.
        x[0] = y[-1] = 0.0
        total = x + y
        parameters[0] = 1.0 - 0.5 * total
        parameters[2, 1:-1] = np.divide(x - y, total, out=np.zeros_like(total), where=total > _RIDGE)[1:-1]
        # If chords are 0, parameters have no effect.
        parameters[:, aa + bb <= 4.0 * ridge] = 0.0
        return parameters.astype(np.float32).astype(np.float64)

    def _with_sizes(self, sizes: Sequence[Float64Array]) -> Reduced:
        """Return the keys with the values and slopes of each part multiplied by a size."""
        values = [part_values * size for part_values, size in zip(self.values, sizes, strict=True)]
        slopes = [part_slopes * size for part_slopes, size in zip(self.slopes, sizes, strict=True)]
        return replace(self, values=values, slopes=slopes)

    def spline(self, part: int) -> Any:
        """Return the spline of a part, whose frames are rows."""
        is_rotation, frames = self.is_rotation[part], self.rows.astype(np.float64)
        if self.method == "TCB":
            keys = Keys(frames, self.values[part], *self.parameters(part))
            return tcb.RotationSpline(keys) if is_rotation else tcb.VectorSpline(keys)
        spline_class: Any = hermite.RotationSpline if is_rotation else hermite.VectorSpline
        return spline_class(Keys(frames, self.values[part]), velocities=self.velocities(part))


def reduce_tracks(parts: Sequence[SampledTracks], method: Method = "HERMITE") -> list[Reduced]:
    """Return, for each track, the smallest set of common keys that keeps all parts within their tolerances.

    Parameters
    ----------
    parts : sequence of SampledTracks
        At least one part. All parts have finite samples and the same numbers of tracks and frames.
    method : "HERMITE" or "TCB"
        The type of keys: with velocities, or with tension and bias for each part.

    Returns
    -------
    list of Reduced
        Keys from the first to the last frame. F-curves with these values and slopes, and splines of values, are within
        the tolerance. Splines of rotations deviate from quaternion cubics at large turns.

    Raises
    ------
    ValueError
        If there are no parts, the shapes of parts differ, samples are not finite, or the method is unknown. ValueError
        is also raised if tolerances are not above 0, or do not have one value per track or per sample.

    Notes
    -----
    The search divides segments until all errors are within the tolerance. The search then removes the least important
    keys, moves keys, and tries to make segments as long as their errors allow. Source: docs/formulas, "Fewest keys".

    Examples
    --------
    >>> frames = np.arange(101)
    >>> samples = np.sin(frames / 20)[np.newaxis, :, np.newaxis]
    >>> (keys,) = reduction.reduce_tracks([reduction.SampledTracks(samples, np.array([0.01]))])
    >>> len(keys.rows), bool(np.abs(keys.spline(0)(frames) - samples[0]).max() < 0.01)
    (4, True)

    A rotation reduced to TCB keys within half a degree:

    >>> turns = rotations.from_axis_angle(np.tile([0.0, 0.6, 0.8], (101, 1)), np.sin(frames / 20))
    >>> part = reduction.SampledTracks.of_rotations(turns[np.newaxis], np.radians([0.5]))
    >>> (keys,) = reduction.reduce_tracks([part], method="TCB")
    >>> keys.parameters(0).shape[1] == len(keys.rows)
    True
    >>> bool(np.degrees(rotations.angle_between(keys.spline(0)(frames), turns).max()) < 0.6)
    True
    """
    steps = reduce_tracks_steps(parts, method)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: list[Reduced] = stop.value
            return result


def reduce_tracks_steps(parts: Sequence[SampledTracks], method: Method) -> Generator[float, None, list[Reduced]]:
    """Run `reduce_tracks` in steps. Yield the approximate fraction of the work that is done."""
    _check(parts, method)
    scaled_parts, sizes = zip(*(part.scaled() for part in parts), strict=True)
    samples = samples_of(scaled_parts, "HERMITE")
    keys = yield from fewest_keys(samples)
    keys = yield from respaced(samples, keys)
    if method == "TCB":
        samples = replace(samples, method=method)
        keys = yield from fewest_keys(samples, keys)
    reduced_tracks = [
        _with_accurate_splines(track_keys, [part._of_track(track) for part in scaled_parts])
        for track, track_keys in enumerate(_split(scaled_parts, samples, keys))
    ]
    return [
        track_keys._with_sizes([size[track, 0] for size in sizes]) for track, track_keys in enumerate(reduced_tracks)
    ]


def _check(parts: Sequence[SampledTracks], method: str) -> None:
    """Raise ValueError for motion that cannot be reduced."""
    checked_choice("method", method, get_args(Method))
    if not parts:
        raise ValueError("there must be at least one part")
    shape = np.shape(parts[0].samples)[:2]
    for number, part in enumerate(parts):
        if np.ndim(part.samples) != 3 or np.shape(part.samples)[:2] != shape or not all(part.samples.shape):
            raise ValueError(
                f"samples of part {number} must have the shape (tracks, frames, d), with the same number of tracks"
                f" and frames in all parts, not {np.shape(part.samples)}"
            )
        if not np.isfinite(part.samples).all():
            raise ValueError(f"samples of part {number} must be finite")
        if np.shape(part.tolerance) not in (shape, shape[:1]) or not (part.tolerance > 0.0).all():
            raise ValueError(
                f"the tolerance of part {number} must be above 0, with one value per track, or per track and frame"
            )


def _with_accurate_splines(keys: Reduced, parts: Sequence[SampledTracks]) -> Reduced:
    """Return one track's keys with the error of their splines, with more keys where that error exceeds its limit."""
    rows = np.arange(parts[0].samples.shape[1])
    while True:
        is_accurate, largest = np.ones(len(rows), dtype=np.bool_), 0.0
        for number, part in enumerate(parts):
            errors = part.errors(np.zeros_like(rows), rows, keys.spline(number)(rows.astype(np.float64)))
            is_accurate &= errors <= (_ROTATION_LIMIT if part.is_rotation else _VALUE_LIMIT)
            largest = max(largest, float(errors.max()))
        after = np.searchsorted(keys.rows[1:-1], np.flatnonzero(~is_accurate), side="right")
        middles = np.setdiff1d((keys.rows[after] + keys.rows[after + 1]) // 2, keys.rows) if len(keys.rows) > 1 else ()
        if not len(middles):
            return replace(keys, error=largest)
        keys = divided(keys, middles, parts)


def samples_of(parts: Sequence[SampledTracks], method: Method) -> Samples:
    """Return the samples of all parts side by side."""
    columns = _columns(parts)

    def measure(track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        errors: Float64Array = np.maximum.reduce(
            [part.errors(track, row, values[:, of_part]) for part, (of_part, _) in zip(parts, columns, strict=True)]
        )
        return errors

    ends = [part.ends for part in parts if part.ends is not None]
    all_ends = np.concatenate(ends, axis=2) if len(ends) == len(parts) else None
    return Samples(np.concatenate([part.samples for part in parts], axis=2), measure, columns, all_ends, method)


def _columns(parts: Sequence[SampledTracks]) -> list[tuple[slice, bool]]:
    """Return the columns of each part side by side, and whether the part is a rotation."""
    ends = np.cumsum([part.samples.shape[2] for part in parts]).tolist()
    return [(slice(end - part.samples.shape[2], end), part.is_rotation) for part, end in zip(parts, ends, strict=True)]


def _split(parts: Sequence[SampledTracks], samples: Samples, keys: KeySet) -> list[Reduced]:
    """Return the keys of each track, by parts."""
    errors = errors_of(samples, keys).max(axis=1)
    return [
        split_keys(keys.take(keys.track == track), _columns(parts), error, samples.method)
        for track, error in enumerate(errors.tolist())
    ]


def split_keys(keys: KeySet, columns: Sequence[tuple[slice, bool]], error: float, method: Method) -> Reduced:
    """Return a track's keys, split into the parts defined by the columns."""
    values, slopes = [], []
    for of_part, is_rotation in columns:
        part_values, part_slopes = keys.values[:, of_part], keys.velocities[:, of_part]
        if is_rotation:
            length = np.linalg.norm(part_values, axis=1, keepdims=True)
            part_values, part_slopes = part_values / length, part_slopes / length
            # A change in length does not change the rotation.
            along = (part_slopes * part_values).sum(axis=1, keepdims=True)
            part_slopes = part_slopes - along * part_values
        values.append(part_values)
        slopes.append(part_slopes)
    return Reduced(keys.rows, values, slopes, error, [is_rotation for _, is_rotation in columns], method)


def divided(keys: Reduced, rows: Iterable[int], parts: Sequence[SampledTracks]) -> Reduced:
    """Return one track's keys, with keys added at the given rows.

    The keys around them are fitted again to the parts.
    """
    samples = samples_of(parts, keys.method)
    old_keys = KeySet(
        np.zeros_like(keys.rows), keys.rows, np.concatenate(keys.values, axis=1), np.concatenate(keys.slopes, axis=1)
    )
    new_rows = np.setdiff1d(list(rows), keys.rows)
    all_keys = with_keys_at(old_keys, new_rows)
    new_keys = np.searchsorted(all_keys.rows, new_rows)
    # Keys with tension deviate from cubics of quaternions, and values next to the ends of a track are not fitted.
    all_keys.values[new_keys] = samples.values[0, new_rows]
    refit_around(samples, all_keys, new_keys)
    return _split(parts, samples, all_keys)[0]
