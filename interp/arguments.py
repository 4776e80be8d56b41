# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of arguments: choices, whole numbers and frames to evaluate."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .keys import FARTHEST, Float64Array, finite, numbers


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


def checked_row(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return a one-dimensional array of frames to evaluate, or raise ValueError."""
    checked = checked_sample_frames(name, frames)
    if checked.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {checked.ndim}")
    return checked


def checked_sample_frames(name: str, frames: npt.ArrayLike) -> Float64Array:
    """Return frames to evaluate as float64, or raise TypeError or ValueError."""
    # NumPy cannot convert an integer this large to float64.
    if isinstance(frames, int) and abs(frames) > FARTHEST:
        raise ValueError(f"{name} must be at most {FARTHEST:g} in magnitude")
    checked = numbers(name, frames)
    # A comparison with NaN is false.
    if not np.abs(checked).max(initial=0.0) <= FARTHEST:
        finite(name, checked)
        raise ValueError(f"{name} must be at most {FARTHEST:g} in magnitude")
    return checked


def checked_sample_frame(name: str, frame: float) -> float:
    """Return one frame to evaluate, or raise TypeError or ValueError."""
    try:
        checked = checked_sample_frames(name, frame)
    except TypeError as error:
        raise TypeError(f"{name} must be a number, not {frame!r}") from error
    if checked.ndim:
        raise TypeError(f"{name} must be a number, not {frame!r}")
    return float(checked)
