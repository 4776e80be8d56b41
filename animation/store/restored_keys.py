# SPDX-License-Identifier: GPL-3.0-or-later
"""Recover the animator's keys as they were before handles were placed, but with later edits by the animator.

For a continuous rotation, a key on the curves can have the negated quaternion, or other Euler angles with the same
orientation. The value on a curve is the animator's value, negated or not, plus a multiple of pi for angles.

`read_own_keys.py` determines which keys to recover.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..fcurves.keyframes import (
    AUTOMATIC,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Keyframes,
    both,
    either,
)
from .own_keys import OwnKeys
from .table import key_identity
from .table.key_identity import Identities
from .table.rows import RECORDED, Columns, columns
from .table.session import session
from .table.track_records import BEYOND, COUPLED, LEFT_PLACED, NEGATED, OWN, RIGHT_PLACED, WRITTEN, Channel, Written

_TURN = 2.0 * np.pi


def is_negated(written: Columns | Written) -> BoolArray:
    """Return a mask of the keys whose values on the curve are negated, or have the opposite angular direction."""
    negated: BoolArray = (written["placed"] & NEGATED) != 0
    return negated


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float32Array:
    """Convert new values of the animator's keys to values on the curve, with the mapping from `own` to `shown`."""
    terms = multiples_of_pi(own, shown, negated)
    without_term = np.where(negated, -wanted, wanted)
    with_term = np.where(negated, terms - wanted, terms + wanted)
    # Without a term, float32 values stay bit for bit.
    values: Float32Array = np.where(terms == 0.0, without_term, with_term).astype(np.float32)
    return values


def own_values(now: Float32Array, written: Written) -> Float32Array:
    """Convert values on the curve to values of the animator's keys.

    If a key was edited, its value stays within half a turn of the animator's previous value.
    """
    before, shown, negated = written["value"], written["co"][:, 1], is_negated(written)
    terms = multiples_of_pi(before, shown, negated)
    values = np.where(negated, -now, now)
    has_term = terms != 0.0
    if has_term.any():
        angles = np.where(negated, terms - now, now - terms)
        angles += _TURN * np.rint((before - angles) / _TURN)
        values = np.where(has_term, angles, values)
    values = np.where(now == shown, before, values)
    return values.astype(np.float32)


def multiples_of_pi(own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float64Array:
    """Return the multiples of pi by which values on the curve differ from the animator's values, negated or not."""
    difference = shown.astype(np.float64) - np.where(negated, -own, own)
    # Keys that are not recorded have NaN.
    return np.nan_to_num(np.pi * np.rint(difference / np.pi))


# Keys as they were written with placed handles (dtype OWN)


def as_written(keys: Keyframes, own: OwnKeys, placed: EnumArray) -> Written:
    """Return records of the animator's keys as they are written, n per channel, shape (channels, n).

    `placed` contains the flags of placed handles, shape (channels, n).
    """
    written = np.empty(placed.shape, dtype=OWN)
    written["identity"] = own.identities.reshape(written.shape)
    written["value"] = own.keys.values.reshape(written.shape)
    written["placed"] = placed
    for name in WRITTEN:
        written[name] = getattr(keys, name).reshape(written[name].shape)
    return written


def written_of(identities: Identities, channel: Channel | None) -> Written:
    """Return a channel's keys as they were written, in the order of the identities.

    Keys that were not written into this channel have NaN frames.
    """
    if channel is not None and identities.tobytes() == channel.own["identity"].tobytes():
        return channel.own
    result = np.zeros(len(identities), dtype=OWN)
    result["co"] = np.nan
    if channel is None or not len(channel.own):
        return result
    written = channel.own
    order = np.argsort(written["identity"], kind="stable")
    place = np.minimum(np.searchsorted(written["identity"][order], identities), len(written) - 1)
    candidates = written[order[place]]
    was_written = candidates["identity"] == identities
    result[was_written] = candidates[was_written]
    return result


def recorded_keys(written: Written) -> Keyframes:
    """Return the written keys, unselected, as they would be without TCB, based only on their rows."""
    at = session.rows.find(written["identity"])
    rows = session.rows[at[at >= 0]]
    arrays: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in RECORDED}
    flags: dict[str, Any] = dict.fromkeys(FLAGS, np.zeros(len(rows), dtype=np.bool_))
    recorded = Keyframes(**arrays, **flags)
    return key_identity.with_identities(recorded, np.ascontiguousarray(written["identity"][at >= 0]))


# Keys without placed handles


PUSHED = 0.01
"""Tolerance in frames. Blender moves handles off their keys by 0.001 when it snaps them or changes their type to
ALIGNED."""
HANDLE_MOVED = 1e-4
"""Relative tolerance. Moving a key rounds the offsets of its handles. Only larger changes are edits to handles."""
_LENGTH_TOLERANCE = 1e-3
"""Tolerance for the offsets and the scaling of a key's two handles, when they are compared to recognize an edit."""
_LEFT, _RIGHT = (flag | flag << BEYOND for flag in (LEFT_PLACED, RIGHT_PLACED))
_SWAPPED = np.array([(flags & _LEFT) << 1 | (flags & _RIGHT) >> 1 for flags in range(16)], dtype=np.uint8)
"""Flags of placed handles, with left and right swapped."""
_MIRROR_FRAME = np.array([-1.0, 1.0], dtype=np.float32)
_NEGATE_VALUE = np.array([1.0, -1.0], dtype=np.float32)


def without_handles(
    read: Keyframes, own: Keyframes, at: IndexArray, written: Written, are_played: BoolArray
) -> tuple[Keyframes, EnumArray]:
    """Return the keys without placed handles but with later edits by the animator, and flags of the placed handles.

    `read` contains the keys on the animator's curves, `own` the same keys with the animator's values, and `at` the
    indices of their session rows, or -1. `written` contains the keys returned by `written_of`, and `are_played` is a
    mask of the keys in channels with placed handles. New keys keep their interpolation.
    """
    has_row = at >= 0
    keys, placed = _with_automatic_handles(own, ~has_row & are_played), np.zeros(len(own), dtype=np.uint8)
    to_restore = has_row & are_played
    if not to_restore.any():
        return keys, placed
    compared = _Comparison.of(
        read.take(to_restore), own.take(to_restore), columns(session.rows[at[to_restore]]), columns(written[to_restore])
    )
    placed[to_restore] = _placed_flags(compared)
    restored = _restored(compared, placed[to_restore])
    return (restored if to_restore.all() else keys.replaced(to_restore, restored)), placed


def _with_automatic_handles(own: Keyframes, is_new: BoolArray) -> Keyframes:
    """Make new keys among played keys smooth, like new keys in Blender.

    Attributes that have been set since then are kept.
    """
    if not is_new.any():
        return own
    automatic = np.uint8(HANDLE["AUTO_CLAMPED"])
    left = is_new & (own.handle_left_type == HANDLE["FREE"])
    right = is_new & (own.handle_right_type == HANDLE["FREE"])
    return own.with_(
        handle_left_type=np.where(left, automatic, own.handle_left_type),
        handle_right_type=np.where(right, automatic, own.handle_right_type),
    )


class _Comparison(NamedTuple):
    """Keys on curves played by handles, compared with their rows and with the keys as they were written."""

    read: Keyframes
    """Keys on the curves."""
    own: Keyframes
    """The same keys with the animator's values."""
    rows: Columns
    written: Columns
    has_record: BoolArray
    """Mask of the keys that were written into this channel."""
    is_unchanged: BoolArray
    """Mask of the keys whose handles did not change relative to the key. Keys without a record count as unchanged."""
    is_mirrored: BoolArray
    """Mask of the keys that were mirrored in time."""

    @classmethod
    def of(cls, read: Keyframes, own: Keyframes, rows: Columns, written: Columns) -> _Comparison:
        """Compare the offsets of the handles with the offsets that were written."""
        has_record = np.isfinite(written["co"][:, 0])
        left, right = own.handle_left - own.co, own.handle_right - own.co
        written_left, written_right = written["handle_left"] - written["co"], written["handle_right"] - written["co"]
        # Moving a key rounds the offsets of its handles.
        tolerance = _LENGTH_TOLERANCE * (1.0 + np.abs(written_left) + np.abs(written_right))

        def have_offsets(left_offset: Float32Array, right_offset: Float32Array) -> BoolArray:
            return both((np.abs(left - left_offset) <= tolerance) & (np.abs(right - right_offset) <= tolerance))

        is_unchanged = ~has_record | have_offsets(written_left, written_right)
        if is_unchanged.all():
            is_mirrored = np.zeros_like(is_unchanged)
        else:
            is_mirrored = ~is_unchanged & have_offsets(written_right * _MIRROR_FRAME, written_left * _MIRROR_FRAME)
        return cls(read, own, rows, written, has_record, is_unchanged, is_mirrored)


def _placed_flags(compared: _Comparison) -> EnumArray:
    """Return flags of the keys' placed handles."""
    # The handles of keys pasted from another channel play the motion of that channel.
    placed = np.full(len(compared.own), LEFT_PLACED | RIGHT_PLACED, dtype=np.uint8)
    placed[compared.has_record] = compared.written["placed"][compared.has_record]
    # Mirroring in time swaps the handles of each key.
    mirrored = placed[compared.is_mirrored]
    placed[compared.is_mirrored] = _SWAPPED[mirrored & (_LEFT | _RIGHT)] | mirrored & (NEGATED | COUPLED)
    return placed


def _restored(compared: _Comparison, placed: EnumArray) -> Keyframes:
    """Replace placed handles with the handles in the rows, but keep later edits."""
    own, rows = compared.own, compared.rows
    left = _restored_side(compared, placed, ("handle_left", "handle_right"), LEFT_PLACED)
    right = _restored_side(compared, placed, ("handle_right", "handle_left"), RIGHT_PLACED)
    left = _aligned(own.co, left, with_dragged=right)
    right = _aligned(own.co, right, with_dragged=left)
    keys = own.with_(
        handle_left=left.positions,
        handle_right=right.positions,
        handle_left_type=left.types,
        handle_right_type=right.types,
        interpolation=_restored_interpolation(compared),
        back=key_identity.without_identities(own.back, rows["back"]),
        amplitude=key_identity.without_identities(own.amplitude, rows["amplitude"]),
        period=key_identity.without_identities(own.period, rows["period"]),
    )
    return key_identity.with_identities(keys, np.ascontiguousarray(rows["identity"]))


def _restored_interpolation(compared: _Comparison) -> EnumArray:
    """Return the interpolation in the rows, or the current interpolation if the animator changed it."""
    own, rows, written = compared.own, compared.rows, compared.written
    # On curves played by handles, all keys of the spline, including pasted keys, are Bezier regardless of their rows.
    # Constant keys are never part of the spline.
    played = np.where(compared.has_record, written["interpolation"], np.uint8(INTERPOLATION["BEZIER"]))
    played[rows["interpolation"] == INTERPOLATION["CONSTANT"]] = INTERPOLATION["CONSTANT"]
    interpolation: EnumArray = np.where(own.interpolation != played, own.interpolation, rows["interpolation"])
    return interpolation.astype(np.uint8)


class _Handles(NamedTuple):
    """The handles on one side of keys."""

    positions: Float32Array
    types: EnumArray
    is_dragged: BoolArray
    """Mask of the handles that the animator dragged after they were placed."""


def _restored_side(compared: _Comparison, placed: EnumArray, sides: tuple[str, str], flag: int) -> _Handles:
    """Restore the handles on one side.

    `sides` contains the names of the handles on this side and on the other side. `flag` marks placed handles on this
    side in `placed`.
    """
    _, own, rows, written, has_record, _, is_mirrored = compared
    side = sides[0]
    # Handles outside all keys can be dragged without changing the spline.
    is_beyond = (placed & (flag << BEYOND)) != 0
    is_placed = ((placed & flag) != 0) | is_beyond
    kind = f"{side}_type"
    is_retyped = has_record & (getattr(own, kind) != written[kind])
    is_moved = has_record & ~is_mirrored & _is_moved(own, written, side, is_placed & ~is_beyond)
    # Blender places handles whose type the animator chose, and moves all handles with their keys.
    key_stays = (own.frames == written["co"][:, 0]) & (own.values == written["value"])
    is_dragged = is_moved & ~AUTOMATIC[written[kind]] & key_stays
    is_automatic = (rows[kind] != HANDLE["FREE"]) & (rows[kind] != HANDLE["ALIGNED"])
    types = np.where(is_dragged & is_automatic, np.uint8(HANDLE["FREE"]), rows[kind])
    types = np.where(is_retyped, getattr(own, kind), types)
    is_still_placed = is_placed & ~(is_dragged | is_retyped)
    positions = np.where(
        is_still_placed[:, np.newaxis], _recorded_handles(compared, sides), _own_handles(compared, side)
    )
    return _Handles(positions, types.astype(np.uint8), is_dragged)


def _is_moved(own: Keyframes, written: Columns, side: str, is_placed: BoolArray) -> BoolArray:
    """Return a mask of the handles whose offset from the key differs from the written offset by more than rounding."""
    offset, written_offset = getattr(own, side) - own.co, written[side] - written["co"]
    size = 1e-3 + np.abs(own.co) + np.abs(written["co"]) + np.abs(written_offset)
    is_moved = either(np.abs(offset - written_offset) > HANDLE_MOVED * size)
    # A handle that was placed on its key can only move away from it. Merging keys changes values without moving
    # handles.
    is_off_key = np.abs(offset[:, 0]) > PUSHED
    return is_moved & np.where(either(written_offset != 0.0), ~is_placed, is_off_key)


def _own_handles(compared: _Comparison, side: str) -> Float32Array:
    """Return the handles on the curves, converted to the animator's values."""
    own, written = compared.own, compared.written
    handles: Float32Array = getattr(own, side)
    negated = compared.has_record & is_negated(written)
    if not negated.any():
        return handles
    terms = multiples_of_pi(written["value"], written["co"][:, 1], negated)
    opposite = getattr(compared.read, side) * _NEGATE_VALUE
    has_term = negated & (terms != 0.0)
    opposite[has_term, 1] += terms[has_term].astype(np.float32)
    return np.where(negated[:, np.newaxis], opposite, handles)


def _recorded_handles(compared: _Comparison, sides: tuple[str, str]) -> Float32Array:
    """Return the recorded positions of placed handles, moved with their keys.

    Edits to the placed handle are applied to the recorded handle: moves with the key, scaling together with the key's
    other handle, and swaps by mirroring. If only the placed handle was dragged, the recorded handle is unchanged.
    """
    own, rows, written = compared.own, compared.rows, compared.written
    side, other = sides
    offset = (rows[side] - rows["co"]).astype(np.float64)
    stays = both(own.co == rows["co"])[:, np.newaxis]
    if not compared.is_unchanged.all():
        ratio, other_ratio = (
            _ratio(getattr(own, name) - own.co, written[name] - written["co"]) for name in (side, other)
        )
        is_scaled = both(np.abs(ratio - other_ratio) <= _LENGTH_TOLERANCE * (1.0 + np.abs(ratio)))
        is_scaled = (~compared.is_unchanged & ~compared.is_mirrored & is_scaled)[:, np.newaxis]
        is_mirrored = compared.is_mirrored[:, np.newaxis]
        swapped_offset = (rows[other] - rows["co"]).astype(np.float64) * _MIRROR_FRAME
        offset = np.where(is_mirrored, swapped_offset, np.where(is_scaled, offset * ratio, offset))
        stays &= ~(is_mirrored | is_scaled)
    positions: Float32Array = np.where(stays, rows[side], (own.co + offset).astype(np.float32))
    return positions


def _ratio(offset: Float32Array, written_offset: Float32Array) -> Float64Array:
    """Return the factors by which handles were scaled in frames and in values, or 1 if a handle had no length."""
    is_short = np.abs(written_offset) <= 1e-6
    ratio: Float64Array = np.where(is_short, 1.0, offset.astype(np.float64) / np.where(is_short, 1.0, written_offset))
    return ratio


def _aligned(co: Float32Array, handles: _Handles, with_dragged: _Handles) -> _Handles:
    """Align ALIGNED handles with the dragged handles on the other side, with unchanged lengths.

    On the curve, both handles are free. If Blender aligned the handles, the selection would determine which handle
    turns.
    """
    is_aligned = (handles.types == HANDLE["ALIGNED"]) & (with_dragged.types == HANDLE["ALIGNED"])
    turns = with_dragged.is_dragged & is_aligned
    if not turns.any():
        return handles
    direction = (co - with_dragged.positions).astype(np.float64)
    offset = (handles.positions - co).astype(np.float64)
    length = np.hypot(*direction.T)[:, np.newaxis]
    turned = co + direction * np.hypot(*offset.T)[:, np.newaxis] / np.where(length == 0.0, 1.0, length)
    turns = turns[:, np.newaxis] & (length != 0.0)
    return handles._replace(positions=np.where(turns, turned.astype(np.float32), handles.positions))
