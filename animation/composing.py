# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a baked curve: the animator's and the generated ones, in order, as they are written."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from . import stamps
from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    IndexArray,
    Keyframes,
)
from .motion import Written

T = TypeVar("T", bound=np.generic)

_SHAPED = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolations that play by `back`, `amplitude` and `period`."""


def baked_keys(own: Keyframes, written: Written) -> Keyframes:
    """The animator's keys among the generated ones, all stamped: linear where baked, with handles that stay put."""
    keys, rows = _composed(own, written, "GENERATED")
    # Outside the baked range a key may play by the numbers that the stamp would replace.
    stampable = written.baked | ~np.isin(own.interpolation, _SHAPED)
    stampable[-1:] = True
    marks = np.where(written.baked, np.float32(stamps.BAKED_KEY), np.float32(stamps.OUTSIDE_KEY))
    amplitude = np.full(len(keys), stamps.GENERATED, dtype=np.float32)
    amplitude[rows] = np.where(stampable, marks, own.amplitude)
    period, back = keys.frames.copy(), keys.values.copy()
    unstamped = rows[~stampable]
    period[unstamped], back[unstamped] = own.period[~stampable], own.back[~stampable]
    return keys.with_(amplitude=amplitude, period=period, back=back)


def plain_keys(own: Keyframes, written: Written) -> Keyframes:
    """The same motion as keys that nothing tells from others."""
    keys, _rows = _composed(own, written, "KEYFRAME")
    return keys


def _composed(own: Keyframes, written: Written, key_type: str) -> tuple[Keyframes, IndexArray]:
    """The keys in order, and the rows of the animator's among them."""
    n = len(own) + len(written.co)
    rows = np.searchsorted(written.co[:, 0], own.frames) + np.arange(len(own))
    between = np.ones(n, dtype=np.bool_)
    between[rows] = False
    co = np.empty((n, 2), dtype=np.float32)
    co[between], co[rows] = written.co, own.co
    handle_left, handle_right = co.copy(), co.copy()
    handle_left[rows], handle_right[rows] = own.handle_left, own.handle_right
    interpolation = np.full(n, INTERPOLATION["LINEAR"], dtype=np.uint8)
    interpolation[rows[~written.baked]] = own.interpolation[~written.baked]
    if written.held.any():
        interpolation[np.flatnonzero(between)[written.held]] = INTERPOLATION["CONSTANT"]
    free = np.full(n, HANDLE["FREE"], dtype=np.uint8)
    keys = Keyframes(
        co=co,
        handle_left=handle_left,
        handle_right=handle_right,
        handle_left_type=free,
        handle_right_type=free,
        interpolation=interpolation,
        easing=_put(np.zeros(n, dtype=np.uint8), rows, own.easing),
        type=_put(np.full(n, KEY_TYPE[key_type], dtype=np.uint8), rows, own.type),
        back=_put(np.full(n, DEFAULT_BACK, dtype=np.float32), rows, own.back),
        amplitude=_put(np.full(n, DEFAULT_AMPLITUDE, dtype=np.float32), rows, own.amplitude),
        period=_put(np.full(n, DEFAULT_PERIOD, dtype=np.float32), rows, own.period),
        select_control_point=_put(_none(n), rows, own.select_control_point),
        select_left_handle=_put(_none(n), rows, own.select_left_handle),
        select_right_handle=_put(_none(n), rows, own.select_right_handle),
    )
    return keys, rows


def _none(n: int) -> BoolArray:
    return np.zeros(n, dtype=np.bool_)


def _put(target: npt.NDArray[T], rows: IndexArray, values: npt.NDArray[T]) -> npt.NDArray[T]:
    target[rows] = values
    return target
