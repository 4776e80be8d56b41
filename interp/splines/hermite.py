# SPDX-License-Identifier: GPL-3.0-or-later
"""Hermite splines: cubics through keys with given velocities.

Source: docs/formulas, "Hermite with given velocities" and "Cubics of rotation vectors".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..base_spline import ComponentSpline, Cycle, Method
from ..cubics import Cubics
from ..keys import Float64Array, KeyBatch, Keys, KeysError, KeysTypeError, as_array
from ..messages import n_
from ..rotations.base_rotation_spline import Path, TurnedSpline, turns_between_keys
from ..rotations.curves import RotationVectors


class VectorSpline(ComponentSpline):
    """Hermite spline of values, with given velocities at the keys.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. A loop is smooth across the seam if its first and last keys have equal
        velocities.
    velocities : array_like, shape (n, d), or (n,) for one component, or None
        Velocities per frame. If None, the motion is at rest at each key.

    Raises
    ------
    KeysError
        If velocities are not finite or do not have one row per key.

    Notes
    -----
    Key values are exact. The error is below 1e-13 times the track's largest value or product of velocity and segment
    length.
    """

    velocities: Float64Array

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", velocities: npt.ArrayLike | None = None) -> None:
        super().__init__(keys, cycle)
        self._set(velocities=_checked_velocities(keys, velocities, keys.values.shape[1]))

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Cubics:
        return Cubics.through(tracks, tracks.columns, velocities_of(splines))


class RotationSpline(TurnedSpline):
    """Hermite spline of rotations, with given angular velocities at the keys.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`, and `VectorSpline` for loops.
    velocities : array_like, shape (n, 3), or None
        Angular velocities in the parent frame, in radians per frame. If None, the motion is at rest at each key.

    Raises
    ------
    KeysError
        If `OrientationSpline` raises the error, or velocities are not finite or do not have one row per
        key.

    Notes
    -----
    The motion has exactly the given angular velocities at the keys. Holden treats the velocity at a segment's end as
    the derivative of its rotation vector, which is correct only for rotation about one axis. The error bounds are the
    same as for `catmull_rom.RotationSpline`.
    """

    velocities: Float64Array

    def __init__(
        self,
        keys: Keys,
        cycle: Cycle = "SINGLE",
        path: Path = "SHORTEST",
        velocities: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__(keys, cycle, path)
        self._set(velocities=_checked_velocities(keys, velocities, 3))

    @classmethod
    def sphere_curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationVectors:
        return RotationVectors.through_keys(turns_between_keys(splines, tracks), tracks, velocities_of(splines))

    @classmethod
    def value_curve(
        cls, splines: Sequence[RotationSpline], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return Cubics.through(tracks, values, rates)

    @classmethod
    def given_velocities(cls, splines: Sequence[RotationSpline]) -> Float64Array:
        return velocities_of(splines)


def velocities_of(splines: Iterable[VectorSpline | RotationSpline]) -> Float64Array:
    """Return the velocities at the keys of all splines, shape (d, K)."""
    return np.ascontiguousarray(np.concatenate([spline.velocities for spline in splines]).T)


def _checked_velocities(keys: Keys, velocities: npt.ArrayLike | None, components: int) -> Float64Array:
    """Return velocities per frame, one row per key, or zeros for None. For one component, the shape may be (n,).

    Raises KeysError if velocities are not finite numbers of shape (n, components).
    """
    if velocities is None:
        return np.zeros((len(keys), components))
    try:
        rows = as_array(velocities).copy()
    except TypeError as error:
        raise KeysTypeError(n_("velocities are not an array of numbers: {!s}", error)) from error
    if rows.ndim == 1 and components == 1:
        rows = rows[:, np.newaxis]
    if rows.shape != (len(keys), components):
        shape = len(keys), components
        raise KeysError(n_("velocities must have the shape {!s}, one row per key, not {!s}", shape, rows.shape))
    is_finite = np.isfinite(rows)
    if not is_finite.all():
        key, component = (int(index) for index in np.argwhere(~is_finite)[0])
        message = n_("component {:d} of the velocity is {!s}, not a finite number", component, rows[key, component])
        raise keys.error(message, key, component)
    return rows


METHOD = Method(
    "HERMITE",
    n_("Hermite"),
    n_("Velocity set at each key, or zero at keys without a velocity"),
    VectorSpline,
    RotationSpline,
    value_options=("velocities",),
    rotation_options=("path", "velocities"),
)
