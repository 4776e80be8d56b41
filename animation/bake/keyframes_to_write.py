# SPDX-License-Identifier: GPL-3.0-or-later
"""Compose the keys to write: the animator's keys with new handles, or the keys of baked curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...interp.fitting.curves import handles
from ..fcurves.keyframes import (
    AUTOMATIC,
    BY_NUMBERS,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    SIDES,
    BoolArray,
    EnumArray,
    Float32Array,
    Joined,
    Keyframes,
)
from ..store.own_keys import OwnKeys
from ..store.table import key_identity
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.table.track_records import BEYOND, LEFT_PLACED, RIGHT_PLACED
from .plans.plan import ChannelKeys, HandleKeys

_TYPES = ("handle_left_type", "handle_right_type")
_BITS = (LEFT_PLACED, RIGHT_PLACED)
_FREE, _BEZIER = np.uint8(HANDLE["FREE"]), np.uint8(INTERPOLATION["BEZIER"])
_FLOATS = ("back", "amplitude", "period")

Arrays = dict[str, npt.NDArray[Any]]
"""Key attributes by name, shape (channels, n) or (channels, n, 2)."""


def with_identities(own: OwnKeys, plays: BoolArray) -> Keyframes:
    """Return the animator's keys in the channels, with key identities in all floats that the curves do not use.

    `plays` is a mask of the keys that begin a segment of the spline.
    """
    # Searching the bytes is ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    played = np.tile(plays, len(kinds) // len(plays))
    interpolation = np.where(played, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return key_identity.with_identities(own.keys, own.identities, interpolation)


def played_keys(
    own: Joined, keys: HandleKeys, keeps_last_interpolation: BoolArray, is_linear: BoolArray
) -> tuple[Keyframes, EnumArray]:
    """Return the animator's keys in all channels, concatenated, with the handles that play the spline.

    The keys of all channels are at the same frames. The second array, shape (channels, n), flags the handles placed by
    the bake, in the same form as in the table.

    `keeps_last_interpolation` is a mask of the channels whose last key keeps the interpolation chosen by the animator.
    `is_linear` is a mask of the channels that Blender extrapolates linearly.
    """
    co = _by_channel(own, "co").copy()
    if keys.values_on_curves is not None:
        co[..., 1] = keys.values_on_curves
    arrays: Arrays = {name: _by_channel(own, name) for name in ("easing", "type", *FLAGS, *_FLOATS)}
    arrays |= {"co": co, "interpolation": _interpolation(own, keys.plays, keeps_last_interpolation)}
    arrays |= _played_handles(own, keys)
    types, placed = _handle_types(own, keys)
    placed = _align_outer_handles(arrays, own, keys, placed, is_linear)
    return _flat(arrays | types), _with_equivalent_flags(own, keys, types, placed)


def _interpolation(own: Joined, plays: BoolArray, keeps_last_interpolation: BoolArray) -> EnumArray:
    """Return the interpolation, which is Bezier where handles play the spline, shape (channels, n)."""
    interpolation = _by_channel(own, "interpolation").copy()
    interpolation[:, plays] = _BEZIER
    if len(plays) > 1 and plays[-2]:
        # No segment begins at the last key, but exporters read its interpolation.
        interpolation[~keeps_last_interpolation, -1] = _BEZIER
    return interpolation


def _played_handles(own: Joined, keys: HandleKeys) -> Arrays:
    """Return the positions of both handles. Handles that the spline does not place move with their keys."""
    handles_by_side = {}
    for side, placed in zip(SIDES, (keys.left, keys.right), strict=True):
        own_handles = _by_channel(own, side)
        if keys.values_on_curves is not None:
            own_handles = own_handles.copy()
            own_handles[..., 1] += keys.values_on_curves - _by_channel(own, "values")
        handles_by_side[side] = np.where(np.isnan(placed), own_handles, placed)
    return handles_by_side


def _handle_types(own: Joined, keys: HandleKeys) -> tuple[Arrays, EnumArray]:
    """Return the types of both handles, and flags of the handles placed by the bake, shape (channels, n).

    Handles are free unless the animator chose their type.
    """
    shape = len(own.counts), own.counts[0]
    plays_before = np.concatenate(([False], keys.plays[:-1]))
    placed = np.broadcast_to((plays_before * LEFT_PLACED + keys.plays * RIGHT_PLACED).astype(np.uint8), shape)
    types: Arrays = dict.fromkeys(_TYPES, np.full(shape, _FREE, dtype=np.uint8))
    if keys.chosen is None:
        return types, placed
    for name, chosen_bit, bit in zip(_TYPES, (CHOSEN_LEFT, CHOSEN_RIGHT), _BITS, strict=True):
        is_chosen = (keys.chosen & chosen_bit) != 0
        types[name] = np.where(is_chosen, _by_channel(own, name), _FREE)
        placed = placed & ~(is_chosen * np.uint8(bit))
    return types, placed


def _with_equivalent_flags(own: Joined, keys: HandleKeys, types: Arrays, placed: EnumArray) -> EnumArray:
    """Add the flags of keys whose values on the curves differ from the animator's values."""
    if keys.values_on_curves is None or keys.equivalent_flags is None:
        return placed
    # Unmoved handles of shifted angles are read from the row, because adding the shift at each bake would accumulate
    # rounding.
    is_shifted = np.abs(keys.values_on_curves) != np.abs(_by_channel(own, "values"))
    for name, bit in zip(_TYPES, _BITS, strict=True):
        is_unmoved = is_shifted & (placed & bit == 0) & (types[name] == _FREE)
        placed = np.where(is_unmoved, placed | np.uint8(bit << BEYOND), placed)
    return placed | keys.equivalent_flags


def _align_outer_handles(
    arrays: Arrays, own: Joined, keys: HandleKeys, placed: EnumArray, is_linear: BoolArray
) -> EnumArray:
    """Align the outer handles of the first and last keys with the inner handles, and return flags of the moved handles.

    Blender extrapolates linearly along these handles in the channels marked in `is_linear`. If an ease brings the
    motion to rest at the key, the outer handle is horizontal. Only automatic handles are changed, and only if the
    animator did not choose their type.
    """
    if not is_linear.any():
        return placed
    placed = placed.copy()
    plays = bool(keys.plays[0]), bool(len(keys.plays) > 1 and keys.plays[-2])
    for side, other, end, bit, is_played in zip(SIDES, SIDES[::-1], (0, -1), _BITS, plays, strict=True):
        own_types = _by_channel(own, f"{side}_type")[:, end]
        channels = is_linear & is_played & AUTOMATIC[own_types]
        if keys.chosen is not None:
            channels &= keys.chosen[:, end] == 0
        arrays[side][channels, end] = 2.0 * arrays["co"][channels, end] - arrays[other][channels, end]
        if keys.rests_at_ends[end]:
            arrays[side][channels, end, 1] = arrays["co"][channels, end, 1]
        placed[channels, end] |= bit << BEYOND
    return placed


def baked_keys(own: Joined, keys: ChannelKeys) -> Keyframes:
    """Return the keys of all baked curves, one channel after another, unselected.

    Generated keys have the type GENERATED. The animator's keys keep their type and identity. If Blender plays the
    segment after an animator's key, the key also keeps all attributes that affect the segment.
    """
    shape, rows = keys.values.shape, keys.rows
    co = np.empty((*shape, 2), dtype=np.float32)
    co[..., 0], co[..., 1] = keys.frames, keys.values
    arrays: Arrays = {name: np.zeros(shape, dtype=np.float32) for name in _FLOATS}
    arrays["easing"] = np.zeros(shape, dtype=np.uint8)
    arrays["type"] = np.full(shape, KEY_TYPE["GENERATED"], dtype=np.uint8)
    kind = INTERPOLATION["LINEAR" if keys.incoming is None else "BEZIER"]
    arrays["interpolation"] = np.full(shape, kind, dtype=np.uint8)
    if len(rows):
        for name in ("easing", "type", *_FLOATS):
            arrays[name][:, rows] = _by_channel(own, name)
    arrays |= {"co": co} | dict.fromkeys(_TYPES, np.full(shape, _FREE, dtype=np.uint8))
    arrays |= dict.fromkeys(FLAGS, np.zeros(shape, dtype=np.bool_))
    sides = _thirds(keys, co)
    if np.count_nonzero(keys.begins_segment):
        sides = [handles_of_side.copy() for handles_of_side in sides]
        _copy_blender_segments(arrays, sides, co[..., 1], own, keys)
    return _flat(arrays | dict(zip(SIDES, sides, strict=True)))


def _thirds(keys: ChannelKeys, co: Float32Array) -> list[Float32Array]:
    """Return left and right handles, each one third of the segment away from its key.

    The handles of linear keys coincide with the keys.
    """
    if keys.incoming is None or keys.outgoing is None:
        return [co, co]
    return list(handles(keys.frames, co[..., 1], keys.incoming, keys.outgoing))


def _copy_blender_segments(
    arrays: Arrays, sides: list[Float32Array], values_on_curves: Float32Array, own: Joined, keys: ChannelKeys
) -> None:
    """Copy the interpolation and handles of the animator's keys to the segments that Blender plays."""
    shape = len(keys.components), len(keys.rows)
    begins_segment = keys.begins_segment
    ends_segment = np.concatenate(([False], begins_segment[:-1]))
    rows = keys.rows[begins_segment]
    arrays["interpolation"][:, rows] = _by_channel(own, "interpolation")[:, begins_segment]
    factors, terms = keys.maps if keys.maps is not None else (np.ones(shape), np.zeros(shape))
    own_values = _by_channel(own, "values")
    for side, handles_of_side, mask in zip(SIDES, sides, (ends_segment, begins_segment), strict=True):
        own_handles = _by_channel(own, side)[:, mask]
        rows, values = keys.rows[mask], values_on_curves[:, keys.rows[mask]]
        # The handle keeps its offset from the key, because the key's value on the curve may differ.
        offset = (own_handles[..., 1] - own_values[:, mask]) * factors[:, mask]
        moved = (values + offset).astype(np.float32)
        is_unmapped = (factors[:, mask] == 1.0) & (terms[:, mask] == 0.0)
        is_unmoved = (values == own_values[:, mask]) & is_unmapped
        handles_of_side[:, rows, 0] = own_handles[..., 0]
        handles_of_side[:, rows, 1] = np.where(is_unmoved, own_handles[..., 1], moved)


def _by_channel(own: Joined, name: str) -> npt.NDArray[Any]:
    """Return an attribute of keys at the same frames in all channels, shape (channels, n) or (channels, n, 2)."""
    numbers: npt.NDArray[Any] = getattr(own.keys, name)
    return numbers.reshape(len(own.counts), own.counts[0], *numbers.shape[1:])


def _flat(arrays: Arrays) -> Keyframes:
    """Flatten key arrays that have one row per channel."""
    return Keyframes(**{name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()})
