# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a baked curve: the animator's and the generated ones, in order, as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

_SHAPED = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolations that play by `back`, `amplitude` and `period`."""


def baked_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """For each channel the animator's keys, at the same frames in all, among the generated ones, and all stamped:
    linear where baked, with handles that stay put."""
    arrays, rows, baked = _composed(own, written, "GENERATED")
    co = arrays["co"]
    amplitude = np.full(co.shape[:2], stamps.GENERATED, dtype=np.float32)
    amplitude[:, rows] = np.where(baked, np.float32(stamps.BAKED_KEY), np.float32(stamps.OUTSIDE_KEY))
    period, back = co[:, :, 0].copy(), co[:, :, 1].copy()
    # Outside the baked range a key may play by the numbers that the stamp would replace.
    interpolation = arrays["interpolation"][:, rows[:-1]]
    channel, key = np.nonzero(~written.baked[:-1] & np.isin(interpolation, _SHAPED))
    for stamp, name in ((amplitude, "amplitude"), (period, "period"), (back, "back")):
        stamp[channel, rows[key]] = arrays[name][channel, rows[key]]
    return _channels(arrays | {"amplitude": amplitude, "period": period, "back": back})


def plain_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """The same motion as keys that nothing tells from others."""
    arrays, _, baked = _composed(own, written, "KEYFRAME")
    if len(baked) > 1 and baked[-2]:
        # The last key begins no segment, but glTF's exporter resamples a curve of mixed interpolation.
        arrays["interpolation"][:, -1] = INTERPOLATION["LINEAR"]
    return _channels(arrays)


def _composed(
    own: Sequence[Keyframes], written: Written, key_type: str
) -> tuple[dict[str, npt.NDArray[np.generic]], IndexArray, BoolArray]:
    """The keys' attributes, shape (channels, n) or (channels, n, 2); the columns of the animator's among them; and
    which of these a baked segment follows."""
    count, n = len(own), len(own[0]) + len(written.frames)
    rows = np.searchsorted(written.frames, own[0].frames) + np.arange(len(own[0]))
    between = np.ones(n, dtype=np.bool_)
    between[rows] = False
    generated = np.flatnonzero(between)
    co = np.empty((count, n, 2), dtype=np.float32)
    co[:, generated, 0], co[:, generated, 1] = written.frames, written.values
    interpolation = np.full((count, n), INTERPOLATION["LINEAR"], dtype=np.uint8)
    interpolation[:, generated[written.held]] = INTERPOLATION["CONSTANT"]
    handle_left, handle_right = co.copy(), co.copy()
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "co": co,
        "handle_left": handle_left,
        "handle_right": handle_right,
        "interpolation": interpolation,
        "easing": np.zeros((count, n), dtype=np.uint8),
        "type": np.full((count, n), KEY_TYPE[key_type], dtype=np.uint8),
        "back": np.full((count, n), DEFAULT_BACK, dtype=np.float32),
        "amplitude": np.full((count, n), DEFAULT_AMPLITUDE, dtype=np.float32),
        "period": np.full((count, n), DEFAULT_PERIOD, dtype=np.float32),
        "select_control_point": np.zeros((count, n), dtype=np.bool_),
        "select_left_handle": np.zeros((count, n), dtype=np.bool_),
        "select_right_handle": np.zeros((count, n), dtype=np.bool_),
    }
    for channel, keys in enumerate(own):
        for name, array in arrays.items():
            array[channel, rows] = getattr(keys, name)
    baked = written.baked.copy()
    # Where a cycle goes on after the last key, the first sample of that follows it.
    baked[-1:] |= rows[-1:] < n - 1
    interpolation[:, rows[baked]] = INTERPOLATION["LINEAR"]
    free = np.full((count, n), HANDLE["FREE"], dtype=np.uint8)
    return arrays | {"handle_left_type": free, "handle_right_type": free}, rows, baked


def _channels(arrays: Mapping[str, npt.NDArray[np.generic]]) -> list[Keyframes]:
    count = len(arrays["co"])
    return [Keyframes(**{name: array[channel] for name, array in arrays.items()}) for channel in range(count)]
