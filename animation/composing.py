# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a baked curve: the animator's and the generated ones, in order, as they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..interp.fitting import handles
from . import stamps
from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Keyframes,
)
from .motion import Slopes, Written

_SHAPED = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolations that play by `back`, `amplitude` and `period`."""


def baked_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """For each channel the animator's keys, at the same frames in all, among the generated ones, and all stamped:
    linear or Bezier where baked, with handles that stay put."""
    arrays, rows, baked = _composed(own, written, "GENERATED")
    co = arrays["co"]
    amplitude = np.full(co.shape[:2], stamps.GENERATED, dtype=np.float32)
    amplitude[:, rows] = _kinds(written, rows, baked)
    period, back = co[:, :, 0].copy(), co[:, :, 1].copy()
    # Outside the baked range a key may play by the numbers that the stamp would replace.
    interpolation = arrays["interpolation"][:, rows[:-1]]
    channel, key = np.nonzero(~written.baked[:-1] & np.isin(interpolation, _SHAPED))
    for stamp, name in ((amplitude, "amplitude"), (period, "period"), (back, "back")):
        stamp[channel, rows[key]] = arrays[name][channel, rows[key]]
    return _channels(arrays | {"amplitude": amplitude, "period": period, "back": back})


def _kinds(written: Written, rows: IndexArray, baked: BoolArray) -> FloatArray:
    """The stamps' kinds of the animator's keys."""
    if written.slopes is None:
        return np.where(baked, np.float32(stamps.BAKED_KEY), np.float32(stamps.OUTSIDE_KEY))
    kinds = (stamps.OUTSIDE_KEY, stamps.CURVE_START, stamps.CURVE_END, stamps.CURVE_KEY)
    return np.array(kinds, dtype=np.float32)[baked + 2 * _curve_before(written, rows, baked)]


def plain_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """The same motion as keys that nothing tells from others."""
    arrays, _, baked = _composed(own, written, "KEYFRAME")
    if len(baked) > 1 and baked[-2]:
        # The last key begins no segment, but glTF's exporter resamples a curve of mixed interpolation.
        arrays["interpolation"][:, -1] = _played(written)
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
    played = _played(written)
    interpolation = np.full((count, n), played, dtype=np.uint8)
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
    interpolation[:, rows[baked]] = played
    if written.slopes is not None:
        _place_handles(arrays, written, written.slopes, rows, baked)
    free = np.full((count, n), HANDLE["FREE"], dtype=np.uint8)
    return arrays | {"handle_left_type": free, "handle_right_type": free}, rows, baked


def _played(written: Written) -> np.uint8:
    """The interpolation of baked segments."""
    return np.uint8(INTERPOLATION["LINEAR" if written.slopes is None else "BEZIER"])


def _place_handles(
    arrays: Mapping[str, npt.NDArray[np.generic]], written: Written, slopes: Slopes, rows: IndexArray, baked: BoolArray
) -> None:
    """Give the handles of baked segments their places; the others of the animator's keys stay."""
    co = arrays["co"]
    incoming, outgoing = np.zeros(co.shape[:2]), np.zeros(co.shape[:2])
    between = np.ones(co.shape[1], dtype=np.bool_)
    between[rows] = False
    incoming[:, between], outgoing[:, between] = slopes.incoming, slopes.outgoing
    incoming[:, rows], outgoing[:, rows] = slopes.own_incoming, slopes.own_outgoing
    left, right = handles(co[0, :, 0], co[:, :, 1], incoming, outgoing)
    between[rows] = _curve_before(written, rows, baked)
    arrays["handle_left"][:, between] = left[:, between]
    between[rows] = baked
    arrays["handle_right"][:, between] = right[:, between]


def _curve_before(written: Written, rows: IndexArray, baked: BoolArray) -> BoolArray:
    """Which of the animator's keys, at `rows` among all, a curve comes to, not a held key or a segment of their own."""
    begins = np.ones(len(rows) + len(written.frames), dtype=np.bool_)
    begins[rows] = False
    begins[begins] = ~written.held
    begins[rows] = baked
    before: BoolArray = (rows > 0) & begins[rows - 1]
    return before


def _channels(arrays: Mapping[str, npt.NDArray[np.generic]]) -> list[Keyframes]:
    count = len(arrays["co"])
    return [Keyframes(**{name: array[channel] for name, array in arrays.items()}) for channel in range(count)]
