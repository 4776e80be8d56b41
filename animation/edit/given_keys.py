# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys given to `set_keys`: checks of the arrays, the parameters for TCB, and the tangents for plain keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...interp.arguments import checked_finite, checked_numbers
from ...interp.fitting.tcb_dialects import Dialect, as_3ds, slopes_of_keys
from ..arguments import LARGEST
from ..bake.plans.sample_frames import APART
from ..fcurves.keyframes import INTERPOLATION, LAST_FRAME, EnumArray, Float32Array, Float64Array, Keyframes, free_keys
from ..records import record
from ..store.parameters import LIMITS
from ..text import rpt_

KeyInterpolation = Literal["BEZIER", "LINEAR", "CONSTANT"]
_TANGENTS = ("tension", "continuity", "bias")
_EASES = ("ease_to", "ease_from")
_LONE_HANDLE = 1.0
"""Length of the handles of a single key, in frames."""


@record(eq=False)
class GivenKeys:
    """The n keys of a property with d components, in the convention of a program."""

    frames: Float64Array
    """Frames as given, shape (n,)."""
    values: Float64Array
    """Values, shape (n, d)."""
    parameters: Mapping[str, Float64Array]
    """Parameters of the dialect by name, each of shape (n,)."""
    tangents_in: Float64Array
    """Slopes per frame that replace the slopes defined by parameters, shape (n, d), or NaN if not given."""
    tangents_out: Float64Array
    interpolation: EnumArray
    """Blender's numbers for the interpolation after each key, shape (n,)."""
    dialect: Dialect

    @property
    def stored_frames(self) -> Float32Array:
        """Return the frames in float32, as stored by Blender."""
        return self.frames.astype(np.float32)

    @property
    def has_tangents(self) -> bool:
        """Return whether any slope is given."""
        return not (np.isnan(self.tangents_in).all() and np.isnan(self.tangents_out).all())

    def bends_tangents(self) -> bool:
        """Return whether any tension, continuity or bias is not 0."""
        return any(self.parameters[name].any() for name in _TANGENTS)

    def tcb_parameters(self, is_rotation: bool) -> dict[str, Float64Array] | None:
        """Return 3D Studio parameters that produce the same motion, or None if none exist within the limits."""
        if self.has_tangents:
            return None
        if self.dialect == "3DS":
            return dict(self.parameters) if _are_within_limits(self.parameters) else None
        if is_rotation or (self.interpolation != INTERPOLATION["BEZIER"]).any():
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            found = as_3ds(self.dialect, self.frames, self.values, self._tangent_parameters())
        return None if found is None else {**self.parameters, **dict(zip(_TANGENTS, found, strict=True))}

    def keyframes(self, has_parameters: bool) -> list[Keyframes]:
        """Return the keys of each component, with FREE handles that reproduce the tangents.

        If `has_parameters` is false, the keys have the slopes of 3D Studio without parameters. Each handle is one third
        of the segment away from its key. Handles beyond the float32 range are infinite or NaN.
        """
        frames = self.stored_frames.astype(np.float64)
        thirds = np.diff(frames) / 3.0 if len(frames) > 1 else np.array([_LONE_HANDLE])
        reaches = np.append(thirds[0], thirds)[: len(frames)], np.append(thirds, thirds[-1])[-len(frames) :]
        parameters = self._tangent_parameters() if has_parameters else np.zeros((len(_TANGENTS), len(frames)))
        with np.errstate(over="ignore", invalid="ignore"):
            before, after = slopes_of_keys(
                self.dialect if has_parameters else "3DS", self.frames, self.values, parameters
            )
            before = np.where(np.isnan(self.tangents_in), before, self.tangents_in)
            after = np.where(np.isnan(self.tangents_out), after, self.tangents_out)
            # Blender extrapolates along the outer handles.
            before[0] = np.where(np.isnan(self.tangents_in[0]), after[0], before[0])
            after[-1] = np.where(np.isnan(self.tangents_out[-1]), before[-1], after[-1])
            return [
                free_keys(frames, values, (left, right), reaches, self.interpolation)
                for values, left, right in zip(self.values.T, before.T, after.T, strict=True)
            ]

    def _tangent_parameters(self) -> Float64Array:
        """Return tension, continuity and bias, shape (3, n)."""
        return np.stack([self.parameters[name] for name in _TANGENTS])


def checked_keys(
    frames: Any,
    values: Any,
    parameters: Mapping[str, Any],
    tangents_in: Any,
    tangents_out: Any,
    interpolation: str | Sequence[str],
    dialect: Dialect,
) -> GivenKeys:
    """Return the arguments of `set_keys` as arrays. Raise a TypeError or ValueError that names the argument."""
    at = checked_finite("frames", frames)
    if at.ndim != 1 or not len(at):
        raise ValueError(rpt_("frames must be of shape (n,), not {}", at.shape))
    numbers = checked_finite("values", values)
    numbers = numbers[:, np.newaxis] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or len(numbers) != len(at):
        raise ValueError(rpt_("values must be of shape ({:d}, d), not {}", len(at), numbers.shape))
    if not (np.abs(numbers) <= LARGEST).all():
        raise ValueError(rpt_("values must be in the range of float32"))
    with np.errstate(over="ignore"):
        is_near = np.diff(at.astype(np.float32)) <= APART
    if np.abs(at).max() > LAST_FRAME or is_near.any():
        raise ValueError(rpt_("frames must increase by more than {:g} and must not exceed {:g}", APART, LAST_FRAME))
    given = GivenKeys(
        at,
        numbers,
        {name: _checked_parameter(name, value, len(at)) for name, value in parameters.items()},
        _checked_tangents("tangents_in", tangents_in, numbers.shape),
        _checked_tangents("tangents_out", tangents_out, numbers.shape),
        _checked_interpolation(interpolation, len(at)),
        dialect,
    )
    if any(given.parameters[name].any() for name in _EASES):
        if dialect != "3DS" or given.has_tangents:
            raise ValueError(rpt_("ease_to and ease_from require the dialect 3DS without tangents"))
        if not _are_within_limits(given.parameters):
            raise ValueError(
                rpt_("with an ease, ease_to and ease_from must be from 0 to 1, and the other parameters from -1 to 1")
            )
    return given


def _checked_parameter(name: str, value: Any, count: int) -> Float64Array:
    """Return a parameter with one value per key."""
    numbers = checked_finite(name, value)
    if numbers.shape not in ((), (count,)):
        raise ValueError(rpt_("{:s} must be a number or of shape ({:d},), not {}", name, count, numbers.shape))
    return np.array(np.broadcast_to(numbers, count))


def _checked_tangents(name: str, value: Any, shape: tuple[int, ...]) -> Float64Array:
    """Return the slopes on one side of the keys, with NaN for slopes that are not given."""
    if value is None:
        return np.full(shape, np.nan)
    slopes = checked_numbers(name, value)
    slopes = slopes[:, np.newaxis] if slopes.ndim == 1 else slopes
    if slopes.shape != shape:
        raise ValueError(rpt_("{:s} must be of shape {}, not {}", name, shape, slopes.shape))
    if np.isinf(slopes).any():
        raise ValueError(rpt_("{:s} must be finite or NaN", name))
    return slopes


def _checked_interpolation(value: str | Sequence[str], count: int) -> EnumArray:
    """Return Blender's number for the interpolation after each key."""
    names = [value] * count if isinstance(value, str) else value
    if len(names) != count:
        raise ValueError(rpt_("interpolation must be one name, or a list of {:d} names, not {:d}", count, len(names)))
    return np.array([INTERPOLATION[name] for name in names], dtype=np.uint8)


def _are_within_limits(parameters: Mapping[str, Float64Array]) -> bool:
    return all(
        bool(((lowest <= parameters[name]) & (parameters[name] <= highest)).all())
        for name, (lowest, highest) in LIMITS.items()
    )
