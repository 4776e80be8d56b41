# SPDX-License-Identifier: GPL-3.0-or-later
"""Composition of the keys of a baked curve, in order of frame, from the animator's keys and the generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...interp.fitting.curves import handles
from ..fcurves.keyframes import (
    AUTOMATIC,
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    NAMES,
    SIDES,
    BoolArray,
    Float32Array,
    HandlesOnKeys,
    IndexArray,
    Joined,
    Keyframes,
    Part,
)
from ..memoize import memoized
from ..records import record
from ..store.restored_keys import BEYOND, LEFT_PLACED, RIGHT_PLACED
from ..store.table import stamps
from ..store.table.custom_property import NEGATED, WRITTEN
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from .plans.protocol import ChannelKeys, Derivatives

_BYTES = ("interpolation", "easing", "type", *FLAGS)
"""Attributes of a key that take a byte each, and that a bake leaves as they are in the animator's keys."""

_TYPES = ("handle_left_type", "handle_right_type")

Arrays = dict[str, npt.NDArray[Any]]
"""The keys' attributes, shape (channels, n) or (channels, n, 2)."""


@record()
class _Layout:
    """Frames of keys, and attributes that all channels with keys at these frames share."""

    frames: Float32Array
    """Frames of all keys, ascending, shape (n,)."""
    rows: IndexArray
    """Rows of the animator's keys."""
    generated: BoolArray
    """Which keys are generated."""
    order: IndexArray
    """For each key its index in the animator's keys followed by the generated ones."""
    baked: BoolArray
    """Which of the animator's keys begin a baked segment."""
    before: BoolArray
    """Which of the animator's keys end a baked segment, not a constant one or one that Blender interpolates itself."""
    placed: npt.NDArray[np.uint8]
    """Handles of the animator's keys beside baked segments, in the bits of the table."""
    played: np.uint8
    """The interpolation of baked segments."""
    interpolation: npt.NDArray[np.uint8]
    """The interpolation of generated keys; any value for the others."""

    @property
    def is_linear(self) -> bool:
        """Return whether baked segments are linear: then generated keys have their handles on them."""
        return bool(self.played == INTERPOLATION["LINEAR"])


@record()
class Composed:
    """The keys of channels whose own keys are at the same frames."""

    arrays: Arrays
    """All attributes; without handles where generated keys have theirs on them."""
    own_sides: Arrays
    """The handles of the animator's keys, shape (channels, n, 2)."""
    layout: _Layout
    placed: npt.NDArray[np.uint8]
    """The handles of the animator's keys that the bake placed, in the bits of the table, shape (channels, n)."""

    @property
    def channels(self) -> Sequence[Keyframes]:
        """Return each channel's keys."""
        return self.keys.split(len(self.arrays["co"]))

    @cached_property
    def keys(self) -> Part:
        """Return the keys of all channels, one channel after the other."""
        count, n = self.arrays["co"].shape[:2]
        arrays = {name: array.reshape(count * n, *array.shape[2:]) for name, array in self.arrays.items()}
        every: Keyframes
        if self.layout.is_linear:
            rows = (np.arange(count)[:, np.newaxis] * n + self.layout.rows).ravel()
            every = HandlesOnKeys(arrays, rows, [self.own_sides[side].reshape(-1, 2) for side in SIDES])
        else:
            every = Keyframes(**arrays)
        return Part(every, slice(0, count * n))

    def differing(self, before: Keyframes) -> dict[str, BoolArray]:
        """Return in which channels each attribute differs from that of the keys `before`, equal in number."""
        count, found = len(self.arrays["co"]), {}
        for name in NAMES:
            differs = _bits(getattr(self.keys, name)) != _bits(getattr(before, name))
            if differs.any():
                found[name] = differs.reshape(count, -1).any(axis=1)
        return found

    @cached_property
    def own(self) -> Arrays:
        """Return what the table records of the animator's keys."""
        rows = self.layout.rows
        return self.own_sides | {name: self.arrays[name].take(rows, axis=1) for name in WRITTEN if name not in SIDES}


def baked_keys(own: Joined, generated: ChannelKeys, ends: BoolArray, goes_on: BoolArray) -> Composed:
    """Return the animator's keys of each channel, at the same frames in all, among the stamped generated ones.

    Baked segments are linear, or Bezier with FREE handles. `ends`: channels whose last key keeps its interpolation,
    which the animator chose; `goes_on`: those that Blender extrapolates along lines.
    """
    layout = _layout_of(own, generated)
    placed = _placed(own, layout, generated)
    values = _values(own, generated, layout)
    arrays = _composed(own, generated, layout, values, "GENERATED")
    placed = _continued(arrays, own, generated, layout, placed, goes_on)
    placed = _with_negated(placed, own, generated)
    _end_as_played(arrays, layout, ~ends)
    stamp: Arrays = {
        "amplitude": np.full(values.shape, stamps.GENERATED, dtype=np.float32),
        "period": np.repeat(layout.frames[np.newaxis], len(values), axis=0),
        "back": values,
    }
    _put_own(stamp, own, layout.rows)
    return Composed(arrays | stamp, _own_sides(arrays, own, generated, layout, placed), layout, placed)


def composed_plain_keys(own: Sequence[Keyframes], generated: ChannelKeys, goes_on: BoolArray) -> Sequence[Keyframes]:
    """Return the same motion as plain keys, without stamps and identities."""
    joined = Joined.of(own)
    layout = _layout_of(joined, generated)
    placed = _placed(joined, layout, generated)
    arrays = _composed(joined, generated, layout, _values(joined, generated, layout), "KEYFRAME")
    placed = _continued(arrays, joined, generated, layout, placed, goes_on)
    _end_as_played(arrays, layout, np.ones(len(own), dtype=np.bool_))
    defaults = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
    unused = {name: np.full(arrays["type"].shape, default, dtype=np.float32) for name, default in defaults.items()}
    _put_own(unused, joined, layout.rows)
    return Composed(arrays | unused, _own_sides(arrays, joined, generated, layout, placed), layout, placed).channels


def _layout_of(own: Joined, generated: ChannelKeys) -> _Layout:
    linear = generated.derivatives is None and generated.handles is None
    return _layout(own.keys.frames[: own.counts[0]], generated.frames, generated.baked, generated.held, linear)


@memoized
def _layout(own: Float32Array, frames: Float32Array, baked_before: BoolArray, held: BoolArray, linear: bool) -> _Layout:
    """Return the layout of the animator's keys at the frames `own` among generated ones at `frames`."""
    baked = baked_before.copy()
    n = len(own) + len(frames)
    rows = np.searchsorted(frames, own) + np.arange(len(own))
    generated = np.ones(n, dtype=np.bool_)
    generated[rows] = False
    order = np.empty(n, dtype=np.intp)
    order[rows], order[generated] = np.arange(len(own)), np.arange(len(own), n)
    every = np.concatenate((own, frames)).take(order)
    # Where a cycle continues after the last key, its first sample follows the last key.
    baked[-1:] |= rows[-1:] < n - 1
    begins = generated.copy()
    begins[generated] = ~held
    begins[rows] = baked
    before = (rows > 0) & begins[rows - 1]
    placed = (before * LEFT_PLACED + baked * RIGHT_PLACED).astype(np.uint8)
    played = np.uint8(INTERPOLATION["LINEAR" if linear else "BEZIER"])
    interpolation = np.full(n, played)
    interpolation[np.flatnonzero(generated)[held]] = INTERPOLATION["CONSTANT"]
    return _Layout(every, rows, generated, order, baked, before, placed, played, interpolation)


def _placed(own: Joined, layout: _Layout, generated: ChannelKeys) -> npt.NDArray[np.uint8]:
    """Return which handles beside baked segments the bake places, shape (channels, n) or (n,).

    Beside samples these are the handles that Blender places anew after any edit: they are set onto their keys, since to
    write those of all keys would take half of a bake's writing.
    """
    if generated.chosen is not None:
        left, right = (generated.chosen & CHOSEN_LEFT) != 0, (generated.chosen & CHOSEN_RIGHT) != 0
        theirs = left * np.uint8(LEFT_PLACED) | right * np.uint8(RIGHT_PLACED)
        kept: npt.NDArray[np.uint8] = layout.placed & ~theirs
        return kept
    if not layout.is_linear:
        return np.broadcast_to(layout.placed, (len(own.counts), len(layout.placed)))
    left, right = _every(own, ["handle_left_type", "handle_right_type"])
    return np.where(AUTOMATIC[left] & AUTOMATIC[right], layout.placed, np.uint8(0))


def _values(own: Joined, generated: ChannelKeys, layout: _Layout) -> Float32Array:
    """Return the values of all keys on the curve, shape (channels, n)."""
    shown = own.keys.values.reshape(len(own.counts), -1) if generated.shown is None else generated.shown
    every = np.concatenate((shown, generated.values), axis=1, dtype=np.float32)
    values: Float32Array = every.take(layout.order, axis=1, mode="clip")
    return values


def _composed(own: Joined, generated: ChannelKeys, layout: _Layout, values: Float32Array, key_type: str) -> Arrays:
    """Return all attributes except those that a stamp may use, and handles only where they play."""
    shape, rows = values.shape, layout.rows
    co = np.empty((*shape, 2), dtype=np.float32)
    co[:, :, 0], co[:, :, 1] = layout.frames, values
    # One array for all attributes of a byte, so that the animator's are written into it at once.
    every = np.zeros((len(_BYTES), *shape), dtype=np.uint8)
    every[_BYTES.index("interpolation")] = layout.interpolation
    every[_BYTES.index("type")] = KEY_TYPE[key_type]
    every[:, :, rows] = _every(own, _BYTES)
    arrays: Arrays = {
        name: array.view(np.bool_) if name in FLAGS else array for name, array in zip(_BYTES, every, strict=True)
    }
    for side in () if layout.is_linear else SIDES:
        arrays[side] = co.copy()
        arrays[side][:, rows] = _moved_along(own, generated, side)
    arrays["interpolation"][:, rows[layout.baked]] = layout.played
    if generated.derivatives is not None:
        _place_handles(arrays, co, generated.derivatives, layout)
    if generated.handles is not None:
        for side, places in zip(SIDES, generated.handles, strict=True):
            arrays[side][:, rows] = np.where(np.isnan(places), arrays[side][:, rows], places)
    free = np.full(shape, HANDLE["FREE"], dtype=np.uint8)
    types: Arrays = dict.fromkeys(_TYPES, free)
    if generated.chosen is not None:
        for name, bit in zip(_TYPES, (CHOSEN_LEFT, CHOSEN_RIGHT), strict=True):
            types[name] = free.copy()
            types[name][:, rows] = np.where(generated.chosen & bit, _every(own, [name])[0], HANDLE["FREE"])
    return {"co": co} | arrays | types


def _moved_along(own: Joined, generated: ChannelKeys, side: str) -> Float32Array:
    """Return the handles of the animator's keys, moved with those that have another value on the curve."""
    places: Float32Array = getattr(own.keys, side).reshape(len(own.counts), -1, 2)
    if generated.shown is not None:
        places = places.copy()
        places[..., 1] += generated.shown - _every(own, ["values"])[0]
    return places


def _own_sides(
    arrays: Arrays, own: Joined, generated: ChannelKeys, layout: _Layout, placed: npt.NDArray[np.uint8]
) -> Arrays:
    """Return the handles of the animator's keys, on their keys where they are placed beside samples."""
    if not layout.is_linear:
        return {side: arrays[side].take(layout.rows, axis=1) for side in SIDES}
    at = arrays["co"].take(layout.rows, axis=1)
    return {
        side: np.where((placed & bit)[..., np.newaxis] == 0, _moved_along(own, generated, side), at)
        for side, bit in zip(SIDES, (LEFT_PLACED, RIGHT_PLACED), strict=True)
    }


def _with_negated(placed: npt.NDArray[np.uint8], own: Joined, generated: ChannelKeys) -> npt.NDArray[np.uint8]:
    """Mark the keys of quaternions that handles play negated; of zeros the signs tell, too."""
    if generated.handles is None or generated.shown is None:
        return placed
    opposite = np.signbit(generated.shown) != np.signbit(own.keys.values.reshape(generated.shown.shape))
    return np.where(opposite, placed | NEGATED, placed)


def _continued(
    arrays: Arrays,
    own: Joined,
    generated: ChannelKeys,
    layout: _Layout,
    placed: npt.NDArray[np.uint8],
    goes_on: BoolArray,
) -> npt.NDArray[np.uint8]:
    """Let handles before the first key and after the last one continue those on the keys' other sides, where they play.

    Beside an ease these have some speed, but the motion rests: there the others have none.
    Blender extrapolates along these handles in channels that go on. It would place them itself, unless they are free or
    aligned, or their type was chosen; such stay. Return which handles the bake has placed.
    """
    if generated.handles is None or not goes_on.any():
        return placed
    placed = np.broadcast_to(placed, (len(own.counts), len(layout.rows))).copy()
    plays = layout.baked[0], layout.before[-1]
    for side, other, end, bit, is_played in zip(
        SIDES, SIDES[::-1], (0, -1), (LEFT_PLACED, RIGHT_PLACED), plays, strict=True
    ):
        own_types = getattr(own.keys, f"{side}_type").reshape(placed.shape)[:, end]
        channels = goes_on & is_played & AUTOMATIC[own_types]
        if generated.chosen is not None:
            channels &= generated.chosen[:, end] == 0
        row = layout.rows[end]
        arrays[side][channels, row] = 2.0 * arrays["co"][channels, row] - arrays[other][channels, row]
        if generated.rests[end]:
            arrays[side][channels, row, 1] = arrays["co"][channels, row, 1]
        placed[channels, end] |= bit << BEYOND
    return placed


def _end_as_played(arrays: Arrays, layout: _Layout, channels: BoolArray) -> None:
    """Give the last keys of channels the interpolation of the baked segment before them.

    They begin no segment, but glTF's exporter resamples a curve of mixed interpolation.
    """
    if len(layout.baked) > 1 and layout.baked[-2]:
        arrays["interpolation"][channels, layout.rows[-1]] = layout.played


def _put_own(arrays: Arrays, own: Joined, rows: IndexArray) -> None:
    """Set the attributes of the animator's keys, which are in those rows."""
    channels, n = next(iter(arrays.values())).shape
    at = (np.arange(channels)[:, np.newaxis] * n + rows).ravel()
    for name, array in arrays.items():
        array.reshape(-1)[at] = getattr(own.keys, name)


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers that differ wherever a bit does, also for zeros and NaN."""
    return array.view(np.uint32) if array.dtype == np.float32 else array


def _every(own: Joined, names: Sequence[str]) -> npt.NDArray[Any]:
    """Return attributes of the animator's keys, shape (names, channels, n, ...)."""
    arrays = np.array([getattr(own.keys, name) for name in names])
    return arrays.reshape(len(names), len(own.counts), -1, *arrays.shape[2:])


def _place_handles(arrays: Arrays, co: Float32Array, derivatives: Derivatives, layout: _Layout) -> None:
    """Place the handles of baked segments; other handles of the animator's keys stay."""
    values = co[:, :, 1]
    incoming, outgoing = np.empty(values.shape), np.empty(values.shape)
    incoming[:, layout.generated], outgoing[:, layout.generated] = derivatives.incoming, derivatives.outgoing
    incoming[:, layout.rows], outgoing[:, layout.rows] = derivatives.own_incoming, derivatives.own_outgoing
    left, right = handles(layout.frames, values, incoming, outgoing)
    placed = layout.generated.copy()
    placed[layout.rows] = layout.before
    arrays["handle_left"][:, placed] = left[:, placed]
    placed[layout.rows] = layout.baked
    arrays["handle_right"][:, placed] = right[:, placed]
