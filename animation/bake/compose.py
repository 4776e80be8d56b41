# SPDX-License-Identifier: GPL-3.0-or-later
"""Composition of the keys to write: the animator's keys with new handles, or the keys of baked curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...interp.fitting.curves import handles
from ..fcurves.keyframes import (
    AUTOMATIC,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    NAMES,
    SIDES,
    BoolArray,
    EnumArray,
    Float32Array,
    Joined,
    Keyframes,
)
from ..store.restored_keys import BEYOND, LEFT_PLACED, RIGHT_PLACED
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from .plans.protocol import ChannelKeys, HandleKeys

_TYPES = ("handle_left_type", "handle_right_type")
_BITS = (LEFT_PLACED, RIGHT_PLACED)
_FREE, _BEZIER = np.uint8(HANDLE["FREE"]), np.uint8(INTERPOLATION["BEZIER"])
_BYTES = ("easing", "type", *FLAGS)
"""One-byte key attributes that do not affect playback."""
_FLOATS = ("back", "amplitude", "period")

Arrays = dict[str, npt.NDArray[Any]]
"""Key attributes by name, shape (channels, n) or (channels, n, 2)."""


def differing(keys: Keyframes, before: Keyframes, channels: int) -> dict[str, BoolArray]:
    """Return the key attributes that differ between two sets of channels, each with a mask of the differing channels.

    All channels have the same number of keys.
    """
    masks = {}
    for name in NAMES:
        differs = _bits(getattr(keys, name)) != _bits(getattr(before, name))
        if differs.any():
            masks[name] = differs.reshape(channels, -1).any(axis=1)
    return masks


def played_keys(own: Joined, keys: HandleKeys, ends: BoolArray, goes_on: BoolArray) -> tuple[Keyframes, EnumArray]:
    """Return the animator's keys in all channels, concatenated, with the handles that play the spline.

    The keys of all channels are at the same frames. The second array, shape (channels, n), flags the handles placed by
    the bake, in the same form as in the table.

    `ends` is a mask of the channels whose last key keeps the interpolation chosen by the animator. `goes_on` is a mask
    of the channels that Blender extrapolates linearly.
    """
    shape = len(own.counts), own.counts[0]
    after, before = keys.plays, np.concatenate(([False], keys.plays[:-1]))
    placed = np.broadcast_to((before * LEFT_PLACED + after * RIGHT_PLACED).astype(np.uint8), shape)
    own_values = own.keys.values.reshape(shape)
    values = own_values if keys.shown is None else keys.shown
    co = np.empty((*shape, 2), dtype=np.float32)
    co[..., 0], co[..., 1] = own.keys.frames.reshape(shape), values
    arrays: Arrays = {"co": co}
    for name in (*_BYTES, *_FLOATS):
        arrays[name] = getattr(own.keys, name).reshape(shape)
    interpolation = own.keys.interpolation.reshape(shape).copy()
    interpolation[:, after] = _BEZIER
    if len(after) > 1 and after[-2]:
        # No segment begins at the last key, but exporters read its interpolation.
        interpolation[~ends, -1] = _BEZIER
    arrays["interpolation"] = interpolation
    for side, places in zip(SIDES, (keys.left, keys.right), strict=True):
        moved = getattr(own.keys, side).reshape(*shape, 2)
        if keys.shown is not None:
            moved = moved.copy()
            moved[..., 1] += keys.shown - own_values
        arrays[side] = np.where(np.isnan(places), moved, places)
    types: Arrays = dict.fromkeys(_TYPES, np.full(shape, _FREE, dtype=np.uint8))
    if keys.chosen is not None:
        theirs = [(keys.chosen & bit) != 0 for bit in (CHOSEN_LEFT, CHOSEN_RIGHT)]
        for name, chosen in zip(_TYPES, theirs, strict=True):
            types[name] = np.where(chosen, getattr(own.keys, name).reshape(shape), _FREE)
        placed = placed & ~(theirs[0] * np.uint8(LEFT_PLACED) | theirs[1] * np.uint8(RIGHT_PLACED))
    placed = _continued(arrays, own, keys, placed, goes_on)
    if keys.shown is not None and keys.other_numbers is not None:
        # Unmoved handles of shifted angles are read from the row, because adding the shift at each bake would
        # accumulate rounding.
        turned = np.abs(keys.shown) != np.abs(own_values)
        stay = [turned & (placed & bit == 0) & (types[name] == _FREE) for name, bit in zip(_TYPES, _BITS, strict=True)]
        for stays, bit in zip(stay, _BITS, strict=True):
            placed = np.where(stays, placed | np.uint8(bit << BEYOND), placed)
        placed = placed | keys.other_numbers
    return _flat(arrays | types), placed


def _continued(arrays: Arrays, own: Joined, keys: HandleKeys, placed: EnumArray, goes_on: BoolArray) -> EnumArray:
    """Align the outer handles of the first and last keys with the inner handles, and return flags of the moved handles.

    Blender extrapolates linearly along these handles in the channels marked in `goes_on`. If an ease brings the motion
    to rest at the key, the outer handle is horizontal. Only automatic handles are changed, and only if the animator did
    not choose their type.
    """
    if not goes_on.any():
        return placed
    placed = placed.copy()
    plays = bool(keys.plays[0]), bool(len(keys.plays) > 1 and keys.plays[-2])
    for side, other, end, bit, is_played in zip(SIDES, SIDES[::-1], (0, -1), _BITS, plays, strict=True):
        own_types = getattr(own.keys, f"{side}_type").reshape(placed.shape)[:, end]
        channels = goes_on & is_played & AUTOMATIC[own_types]
        if keys.chosen is not None:
            channels &= keys.chosen[:, end] == 0
        arrays[side][channels, end] = 2.0 * arrays["co"][channels, end] - arrays[other][channels, end]
        if keys.rests[end]:
            arrays[side][channels, end, 1] = arrays["co"][channels, end, 1]
        placed[channels, end] |= bit << BEYOND
    return placed


def baked_keys(own: Joined, keys: ChannelKeys) -> Keyframes:
    """Return the keys of all baked curves, one channel after another.

    Generated keys have the type GENERATED. The animator's keys keep their type, selection and identity. If Blender
    plays the segment after an animator's key, the key also keeps all attributes that affect the segment.
    """
    shape, rows = keys.values.shape, keys.rows
    co = np.empty((*shape, 2), dtype=np.float32)
    co[..., 0], co[..., 1] = keys.frames, keys.values
    arrays: Arrays = {name: np.zeros(shape, dtype=np.uint8) for name in _BYTES}
    arrays["type"][:] = KEY_TYPE["GENERATED"]
    arrays |= {name: np.zeros(shape, dtype=np.float32) for name in _FLOATS}
    kind = INTERPOLATION["LINEAR" if keys.incoming is None else "BEZIER"]
    arrays["interpolation"] = np.full(shape, kind, dtype=np.uint8)
    if len(rows):
        for name in (*_BYTES, *_FLOATS):
            arrays[name][:, rows] = getattr(own.keys, name).reshape(shape[0], -1)
    for name in FLAGS:
        arrays[name] = arrays[name].view(np.bool_)
    arrays |= {"co": co} | dict.fromkeys(_TYPES, np.full(shape, _FREE, dtype=np.uint8))
    sides = _handles(keys, co)
    if np.count_nonzero(keys.gaps):
        sides = [places.copy() for places in sides]
        _leave_to_blender(arrays, sides, own, keys)
    return _flat(arrays | dict(zip(SIDES, sides, strict=True)))


def _handles(keys: ChannelKeys, co: Float32Array) -> list[Float32Array]:
    """Return left and right handles, each a third of its segment away from the key.

    The handles of linear keys coincide with the keys.
    """
    if keys.incoming is None or keys.outgoing is None:
        return [co, co]
    return list(handles(keys.frames, keys.values, keys.incoming, keys.outgoing))


def _leave_to_blender(arrays: Arrays, sides: list[Float32Array], own: Joined, keys: ChannelKeys) -> None:
    """Copy the interpolation and handles of the animator's keys to the segments that Blender plays."""
    shape = len(keys.components), len(keys.rows)
    begins, ends = keys.gaps, np.concatenate(([False], keys.gaps[:-1]))
    rows = keys.rows[begins]
    arrays["interpolation"][:, rows] = own.keys.interpolation.reshape(shape)[:, begins]
    factors, terms = keys.maps if keys.maps is not None else (np.ones(shape), np.zeros(shape))
    own_values = own.keys.values.reshape(shape)
    for side, places, at in zip(SIDES, sides, (ends, begins), strict=True):
        own_places = getattr(own.keys, side).reshape(*shape, 2)[:, at]
        # The handle keeps its offset from the key, because the key's value on the curve may differ.
        away = (own_places[..., 1] - own_values[:, at]) * factors[:, at]
        same = keys.values[:, keys.rows[at]] == own_values[:, at]
        moved = (keys.values[:, keys.rows[at]] + away).astype(np.float32)
        is_plain = same & (factors[:, at] == 1.0) & (terms[:, at] == 0.0)
        places[:, keys.rows[at], 0] = own_places[..., 0]
        places[:, keys.rows[at], 1] = np.where(is_plain, own_places[..., 1], moved)


def _flat(arrays: Arrays) -> Keyframes:
    """Flatten key arrays that have one row per channel."""
    return Keyframes(**{name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()})


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return float32 numbers as integers, so that a comparison finds every different bit, even in zeros and NaN."""
    return array.view(np.uint32) if array.dtype == np.float32 else array
