# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a baked curve: the animator's and the generated ones, in order, as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...interp.fitting import handles
from ..fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Keyframes,
)
from ..fcurves.remembering import remembered
from ..store import stamps
from .samples import Slopes, Written

_SHAPED = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolations that play by `back`, `amplitude` and `period`."""
_BYTES = ("interpolation", "easing", "type", *FLAGS)
"""The attributes of a key that take a byte each, and that a bake leaves to the animator's keys."""

Arrays = dict[str, npt.NDArray[Any]]
"""The keys' attributes, shape (channels, n) or (channels, n, 2); without the first axis where all channels agree."""


def baked_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """For each channel the animator's keys, at the same frames in all, among the generated ones, and all stamped:
    linear or Bezier where baked, with handles that stay put."""
    layout = _layout_of(own, written)
    arrays = _composed(own, written, layout, "GENERATED")
    stamp: Arrays = {"amplitude": layout.kinds, "period": layout.frames, "back": arrays["co"][:, :, 1].copy()}
    if not written.baked[:-1].all():
        # Outside the baked range a key may play by the numbers that the stamp would replace.
        interpolation = arrays["interpolation"][:, layout.rows[:-1]]
        channel, key = np.nonzero(~written.baked[:-1] & np.isin(interpolation, _SHAPED))
        for name in stamp:
            stamp[name] = np.broadcast_to(stamp[name], interpolation.shape[:1] + layout.frames.shape).copy()
            for each, at in zip(channel.tolist(), key.tolist(), strict=True):
                stamp[name][each, layout.rows[at]] = getattr(own[each], name)[at]
    return _channels(arrays | stamp)


def plain_keys(own: Sequence[Keyframes], written: Written) -> list[Keyframes]:
    """The same motion as keys that nothing tells from others."""
    layout = _layout_of(own, written)
    arrays = _composed(own, written, layout, "KEYFRAME")
    if len(layout.baked) > 1 and layout.baked[-2]:
        # The last key begins no segment, but glTF's exporter resamples a curve of mixed interpolation.
        arrays["interpolation"][:, -1] = layout.played
    defaults = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
    unused = {name: np.full(arrays["type"].shape, default, dtype=np.float32) for name, default in defaults.items()}
    _put_own(unused, own, layout.rows)
    return _channels(arrays | unused)


@dataclass(frozen=True)
class _Layout:
    """Where keys stand, and what is the same for all channels whose keys stand so."""

    frames: FloatArray
    """Of all keys, ascending, shape (n,)."""
    rows: IndexArray
    """Of the animator's keys."""
    generated: BoolArray
    """Which keys are the others."""
    baked: BoolArray
    """Which of the animator's keys a baked segment follows."""
    before: BoolArray
    """To which of the animator's keys a baked segment comes, not a held key or a segment of their own."""
    played: np.uint8
    """The interpolation of baked segments."""
    interpolation: npt.NDArray[np.uint8]
    """Of generated keys, with anything for the others."""
    kinds: FloatArray
    """The stamps' kinds."""
    all_samples: bool
    """Whether every segment is: then all handles stand on their keys."""


def _layout_of(own: Sequence[Keyframes], written: Written) -> _Layout:
    return _layout(own[0].frames, written.frames, written.baked, written.held, written.slopes is None)


@remembered
def _layout(own: FloatArray, frames: FloatArray, baked_before: BoolArray, held: BoolArray, linear: bool) -> _Layout:
    """Of the animator's keys at the frames `own` among generated ones at `frames`."""
    baked = baked_before.copy()
    n = len(own) + len(frames)
    rows = np.searchsorted(frames, own) + np.arange(len(own))
    generated = np.ones(n, dtype=np.bool_)
    generated[rows] = False
    every = np.empty(n, dtype=np.float32)
    every[generated], every[rows] = frames, own
    # Where a cycle goes on after the last key, the first sample of that follows it.
    baked[-1:] |= rows[-1:] < n - 1
    begins = generated.copy()
    begins[generated] = ~held
    begins[rows] = baked
    before = (rows > 0) & begins[rows - 1]
    played = np.uint8(INTERPOLATION["LINEAR" if linear else "BEZIER"])
    interpolation = np.full(n, played)
    interpolation[np.flatnonzero(generated)[held]] = INTERPOLATION["CONSTANT"]
    kinds = np.full(n, stamps.GENERATED, dtype=np.float32)
    all_samples = linear and bool(baked[:-1].all())
    kinds[rows] = stamps.SAMPLED_KEY if all_samples else _own_kinds(baked, before, linear)
    return _Layout(every, rows, generated, baked, before, played, interpolation, kinds, all_samples)


def _own_kinds(baked: BoolArray, before: BoolArray, linear: bool) -> FloatArray:
    """The stamps' kinds of the animator's keys."""
    if linear:
        return np.where(baked, np.float32(stamps.BAKED_KEY), np.float32(stamps.OUTSIDE_KEY))
    kinds = (stamps.OUTSIDE_KEY, stamps.CURVE_START, stamps.CURVE_END, stamps.CURVE_KEY)
    return np.array(kinds, dtype=np.float32)[baked + 2 * before]


def _composed(own: Sequence[Keyframes], written: Written, layout: _Layout, key_type: str) -> Arrays:
    """All attributes but those that a stamp may take."""
    shape, rows = (len(own), len(layout.frames)), layout.rows
    co = np.empty((*shape, 2), dtype=np.float32)
    co[:, :, 0] = layout.frames
    co[:, layout.generated, 1] = written.values
    co[:, rows, 1] = [keys.values for keys in own] if written.shown is None else written.shown
    free = np.full(len(layout.frames), HANDLE["FREE"], dtype=np.uint8)
    # One array for all of a byte, so that the animator's keys are put into it at once.
    every = np.zeros((len(_BYTES), *shape), dtype=np.uint8)
    every[_BYTES.index("interpolation")] = layout.interpolation
    every[_BYTES.index("type")] = KEY_TYPE[key_type]
    every[:, :, rows] = [[getattr(keys, name) for keys in own] for name in _BYTES]
    arrays: Arrays = {
        name: array.view(np.bool_) if name in FLAGS else array for name, array in zip(_BYTES, every, strict=True)
    }
    if not layout.all_samples:
        sides: Arrays = {"handle_left": co.copy(), "handle_right": co.copy()}
        _put_own(sides, own, rows)
        arrays |= sides
    if written.shown is not None and not layout.all_samples:
        shift = written.shown - np.array([keys.values for keys in own])
        for side in ("handle_left", "handle_right"):
            arrays[side][:, rows, 1] += shift
    arrays["interpolation"][:, rows[layout.baked]] = layout.played
    if written.slopes is not None:
        _place_handles(arrays, co, written.slopes, layout)
    on_keys = {"co": co, "handle_left": co, "handle_right": co}
    return on_keys | arrays | {"handle_left_type": free, "handle_right_type": free}


def _put_own(arrays: Arrays, own: Sequence[Keyframes], rows: IndexArray) -> None:
    """Give the animator's keys, which stand in those rows, the attributes that they have."""
    for name, array in arrays.items():
        array[:, rows] = np.reshape([getattr(keys, name) for keys in own], array[:, rows].shape)


def _place_handles(arrays: Arrays, co: FloatArray, slopes: Slopes, layout: _Layout) -> None:
    """Give the handles of baked segments their places; the others of the animator's keys stay."""
    values = co[:, :, 1]
    incoming, outgoing = np.empty(values.shape), np.empty(values.shape)
    incoming[:, layout.generated], outgoing[:, layout.generated] = slopes.incoming, slopes.outgoing
    incoming[:, layout.rows], outgoing[:, layout.rows] = slopes.own_incoming, slopes.own_outgoing
    left, right = handles(layout.frames, values, incoming, outgoing)
    placed = layout.generated.copy()
    placed[layout.rows] = layout.before
    arrays["handle_left"][:, placed] = left[:, placed]
    placed[layout.rows] = layout.baked
    arrays["handle_right"][:, placed] = right[:, placed]


def _channels(arrays: Arrays) -> list[Keyframes]:
    """Each channel's; those that share an array share it here too."""
    rows = {id(array): list(array) for array in arrays.values() if array.ndim > 1}
    same = {name: array for name, array in arrays.items() if array.ndim == 1}
    own = [(name, rows[id(array)]) for name, array in arrays.items() if array.ndim > 1]
    return [Keyframes(**same, **{name: each[channel] for name, each in own}) for channel in range(len(arrays["co"]))]
