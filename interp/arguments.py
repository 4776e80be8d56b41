# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of arguments: choices, whole numbers, arrays of numbers, and frames to evaluate.

Each function returns the checked argument, or raises an error that contains the argument's `name`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .keys import FARTHEST, Float64Array, as_array


def checked_choice(name: str, choice: str, choices: Sequence[str]) -> str:
    """Return the choice, or raise a ValueError that lists the choices."""
    if choice not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {choice!r}")
    return choice


def checked_whole(name: str, number: int) -> int:
    """Return a nonnegative integer, or raise TypeError or ValueError."""
    try:
        whole = operator.index(number)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, not {number!r}") from error
    if whole < 0:
        raise ValueError(f"{name} must be 0 or greater, not {number!r}")
    return whole


def checked_numbers(name: str, data: npt.ArrayLike, components: int | None = None) -> Float64Array:
    """Return an array of numbers as float64. The numbers can be infinite or NaN.

    Raises TypeError if the argument is not an array of real numbers. Strings, objects, dates, complex numbers and
    masked arrays are invalid. Raises ValueError if the length of the last axis is not `components`.
    """
    try:
        array = as_array(data)
    except TypeError as error:
        raise TypeError(f"{name} must be an array of numbers, not {error}") from error
    if components is not None and array.shape[-1:] != (components,):
        raise ValueError(f"{name} must have {components} components on its last axis, but its shape is {array.shape}")
    return array


def checked_finite(name: str, data: npt.ArrayLike) -> Float64Array:
    """Return an array of finite numbers as float64, or raise TypeError as `checked_numbers` does.

    The message of the ValueError contains the index of the first number that is not finite.
    """
    array = checked_numbers(name, data)
    is_finite = np.isfinite(array)
    if is_finite.all():
        return array
    index = tuple(np.argwhere(~is_finite)[0].tolist())
    if not index:
        raise ValueError(f"{name} must be finite, not {array[()]}")
    raise ValueError(f"{name} must be finite, not {array[index]} at index {index[0] if len(index) == 1 else index}")


def checked_sample_frames(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return frames to evaluate as float64, or raise TypeError or ValueError."""
    if isinstance(frames, int):
        # NumPy does not convert integers of more than 64 bits.
        frames = float(frames) if abs(frames) <= FARTHEST else 2.0 * FARTHEST
    checked = checked_numbers(name, frames)
    # A comparison with NaN is false.
    if not np.abs(checked).max(initial=0.0) <= FARTHEST:
        checked_finite(name, checked)
        raise ValueError(f"{name} must be at most {FARTHEST:g} in magnitude")
    return checked


def checked_frames_1d(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return a one-dimensional array of frames to evaluate, or raise TypeError or ValueError."""
    checked = checked_sample_frames(name, frames)
    if checked.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {checked.ndim}")
    return checked


def checked_number(name: str, number: float) -> float:
    """Return a number of at most FARTHEST in magnitude, or raise TypeError or ValueError."""
    try:
        checked = checked_sample_frames(name, number)
    except TypeError as error:
        raise TypeError(f"{name} must be a number, not {number!r}") from error
    if checked.ndim:
        raise TypeError(f"{name} must be a number, not {number!r}")
    return float(checked)
