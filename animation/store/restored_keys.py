# SPDX-License-Identifier: GPL-3.0-or-later
"""Recover the animator's keys as they were before handles were placed, but with later edits by the animator.

`own_keys.py` determines which keys to recover.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import (
    AUTOMATIC,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    BoolArray,
    EnumArray,
    Float32Array,
    IndexArray,
    Keyframes,
    both,
    either,
)
from .table import key_identity
from .table import rows as rows_
from .table.custom_property import COUPLED, NEGATED, OWN, Channel, Written
from .table.key_identity import Identities
from .table.rows import Columns, Fields
from .table.session import session

PUSHED = 0.01
"""Tolerance in frames. Blender moves handles off their keys by 0.001 when it snaps them or changes their type to
ALIGNED."""
_HANDLE_MOVED = 1e-4
"""Relative tolerance. Moving a key rounds the offsets of its handles. Only larger changes are edits to handles."""
LEFT_PLACED, RIGHT_PLACED = 1, 2
BEYOND = 2
"""Left shift of the handle flags for handles placed before the first key or after the last key."""
_HANDLES = np.uint8(15)
"""Handle flags in the table."""
_ALIGNED = HANDLE["ALIGNED"]
_SIDES = (("handle_left", "handle_right", LEFT_PLACED), ("handle_right", "handle_left", RIGHT_PLACED))
_SWAPPED = np.array([(bits & 5) << 1 | (bits & 10) >> 1 for bits in range(16)], dtype=np.uint8)
"""Flags of placed handles, with left and right swapped."""
_MIRROR = np.array([-1.0, 1.0], dtype=np.float32)
_NEGATED = np.array([1.0, -1.0], dtype=np.float32)
_TURN = 2.0 * np.pi


def recorded_keys(written: Written) -> Keyframes:
    """Return the written keys, unselected, as they would be without TCB, based only on their rows."""
    at = session.rows.find(written["identity"])
    rows = session.rows[at[at >= 0]]
    arrays: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in rows_.RECORDED}
    flags: dict[str, Any] = dict.fromkeys(FLAGS, np.zeros(len(rows), dtype=np.bool_))
    recorded = Keyframes(**arrays, **flags)
    return key_identity.with_identities(recorded, np.ascontiguousarray(written["identity"][at >= 0]))


def without_handles(
    read: Keyframes, own: Keyframes, at: IndexArray, written: Written, are_played: BoolArray
) -> tuple[Keyframes, EnumArray]:
    """Return the keys without placed handles but with later edits by the animator, and flags of the placed handles.

    `read` contains the keys on the animator's curves, `own` the same keys with the animator's values, and `at` the
    indices of their session rows, or -1. `written` contains the keys returned by `written_of`, and `are_played` is a
    mask of the keys in channels with placed handles. New keys keep their interpolation.
    """
    known = at >= 0
    result, placed = _as_made(own, ~known & are_played), np.zeros(len(own), dtype=np.uint8)
    known &= are_played
    if not known.any():
        return result, placed
    restored, placed[known] = restored_from(
        read.take(known), own.take(known), Columns(session.rows[at[known]]), Columns(written[known])
    )
    return (restored if known.all() else result.replaced(known, restored)), placed


def _as_made(own: Keyframes, fresh: BoolArray) -> Keyframes:
    """Make new keys among played keys smooth, like new keys in Blender.

    Attributes that have been set since then are kept.
    """
    if not fresh.any():
        return own
    automatic = np.uint8(HANDLE["AUTO_CLAMPED"])
    left = fresh & (own.handle_left_type == HANDLE["FREE"])
    right = fresh & (own.handle_right_type == HANDLE["FREE"])
    return own.with_(
        handle_left_type=np.where(left, automatic, own.handle_left_type),
        handle_right_type=np.where(right, automatic, own.handle_right_type),
    )


def is_negated(written: Fields) -> BoolArray:
    """Return a mask of the keys whose values on the curve are negated, or have the opposite angular direction."""
    negated: BoolArray = (written["placed"] & NEGATED) != 0
    return negated


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float32Array:
    """Convert new values of the animator's keys to values on the curve, with the mapping from `own` to `shown`."""
    terms = _terms(own, shown, negated)
    turned = np.where(terms == 0.0, 0.0, np.where(negated, terms - wanted, terms + wanted))
    values: Float32Array = np.where(terms == 0.0, np.where(negated, -wanted, wanted), turned).astype(np.float32)
    return values


def own_values(now: Float32Array, written: Fields) -> Float32Array:
    """Convert values on the curve to values of the animator's keys.

    If a key was edited, its value stays within half a turn of the animator's previous value.
    """
    before, shown, negated = written["value"], written["co"][:, 1], is_negated(written)
    terms = _terms(before, shown, negated)
    own = np.where(negated, -now, now)
    if (turned := terms != 0.0).any():
        moved = np.where(negated, terms - now, now - terms)
        moved += _TURN * np.rint((before - moved) / _TURN)
        own = np.where(turned, moved, own)
    own = np.where(now == shown, before, own)
    return own.astype(np.float32)


def _terms(own: Float32Array, shown: Float32Array, negated: BoolArray) -> npt.NDArray[np.float64]:
    """Return the multiples of pi by which values on the curve differ from the animator's values, negated or not."""
    away = shown.astype(np.float64) - np.where(negated, -own, own)
    # Keys that are not recorded have NaN.
    return np.nan_to_num(np.pi * np.rint(away / np.pi))


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
    found = written[order[place]]
    here = found["identity"] == identities
    result[here] = found[here]
    return result


def restored_from(read: Keyframes, own: Keyframes, rows: Fields, written: Fields) -> tuple[Keyframes, EnumArray]:
    """Replace placed handles with the handles in the rows, but keep later edits.

    Return the keys, and flags of placed handles. `read` contains the keys on the animator's curves, and `own` the same
    keys with the animator's values.
    """
    here = np.isfinite(written["co"][:, 0])
    placed = _placed(own, written, here)
    # On curves played by handles, all keys of the spline, including pasted keys, are Bezier regardless of their rows.
    # Constant keys are never part of the spline.
    played = np.where(here, written["interpolation"], np.uint8(INTERPOLATION["BEZIER"]))
    played[rows["interpolation"] == INTERPOLATION["CONSTANT"]] = INTERPOLATION["CONSTANT"]
    changed = own.interpolation != played
    interpolation = np.where(changed, own.interpolation, rows["interpolation"])
    same, mirrored = _same_and_mirrored(own, written, here)
    # Mirroring in time swaps the handles of each key.
    placed[mirrored] = _SWAPPED[placed[mirrored] & _HANDLES] | placed[mirrored] & (NEGATED | COUPLED)
    negated = here & is_negated(written)
    terms = _terms(written["value"], written["co"][:, 1], negated)
    sides: dict[str, npt.NDArray[Any]] = {}
    dragged: dict[str, BoolArray] = {}
    for side, other, bit in _SIDES:
        now, beyond = getattr(own, side), (placed & (bit << BEYOND)) != 0
        edited = _edited_side(own, rows, written, side, ((placed & bit != 0) | beyond, beyond), here, mirrored)
        dragged[side] = edited.dragged
        if negated.any():
            opposite = getattr(read, side) * _NEGATED
            # For Euler angles, there is also a term.
            turned = negated & (terms != 0.0)
            opposite[turned, 1] += terms[turned].astype(np.float32)
            now = np.where(negated[:, np.newaxis], opposite, now)
        recorded = _recorded_handle(own, rows, (side, other), written, same, mirrored)
        handle = np.where(edited.are_placed[:, np.newaxis], recorded, now)
        sides |= {side: handle, f"{side}_type": edited.kinds.astype(np.uint8)}
    for side, other, _ in _SIDES[::-1]:
        aligned = dragged[side] & (sides[f"{side}_type"] == _ALIGNED) & (sides[f"{other}_type"] == _ALIGNED)
        if aligned.any():
            sides[other] = np.where(aligned[:, np.newaxis], _opposite(own.co, sides[side], sides[other]), sides[other])
    keys = own.with_(
        interpolation=interpolation.astype(np.uint8),
        back=key_identity.without_identities(own.back, rows["back"]),
        amplitude=key_identity.without_identities(own.amplitude, rows["amplitude"]),
        period=key_identity.without_identities(own.period, rows["period"]),
        **sides,
    )
    return key_identity.with_identities(keys, np.ascontiguousarray(rows["identity"])), placed


class _Side(NamedTuple):
    """The handles on one side of keys, and edits to these handles since they were placed."""

    kinds: EnumArray
    are_placed: BoolArray
    """Mask of the handles that are still placed."""
    dragged: BoolArray


def _edited_side(
    own: Keyframes,
    rows: Fields,
    written: Fields,
    side: str,
    placed: tuple[BoolArray, BoolArray],
    here: BoolArray,
    mirrored: BoolArray,
) -> _Side:
    """Detect edits to the handles on one side.

    `placed` contains a mask of placed handles, and a mask of handles outside all keys, which can be dragged without
    changing the spline.
    """
    are_placed, beyond = placed
    kind = f"{side}_type"
    retyped = here & (getattr(own, kind) != written[kind])
    offset, before = getattr(own, side) - own.co, written[side] - written["co"]
    moved = here & ~mirrored & _is_moved(own, written, offset, before, are_placed & ~beyond)
    # Blender places handles whose type the animator chose, and moves all handles with their keys.
    key_stays = (own.frames == written["co"][:, 0]) & (own.values == written["value"])
    dragged = moved & ~AUTOMATIC[written[kind]] & key_stays
    automatic = (rows[kind] != HANDLE["FREE"]) & (rows[kind] != HANDLE["ALIGNED"])
    kinds = np.where(dragged & automatic, np.uint8(HANDLE["FREE"]), rows[kind])
    kinds = np.where(retyped, getattr(own, kind), kinds)
    are_placed &= ~(dragged | retyped)
    return _Side(kinds, are_placed, dragged)


def _is_moved(
    own: Keyframes, written: Fields, offset: Float32Array, before: Float32Array, are_placed: BoolArray
) -> BoolArray:
    """Return a mask of the handles whose offset from the key differs from `before` by more than rounding."""
    size = 1e-3 + np.abs(own.co) + np.abs(written["co"]) + np.abs(before)
    moved = either(np.abs(offset - before) > _HANDLE_MOVED * size)
    # A handle that was placed on its key can only move away from it. Merging keys changes values without moving
    # handles.
    return moved & np.where(either(before != 0.0), ~are_placed, np.abs(offset[:, 0]) > PUSHED)


def _placed(own: Keyframes, written: Fields, here: BoolArray) -> EnumArray:
    """Return flags of the keys' placed handles. `here` is a mask of the keys with a record in this channel."""
    placed = np.zeros(len(own), dtype=np.uint8)
    placed[here] = written["placed"][here]
    # The handles of keys pasted from another channel play the motion of that channel.
    placed[~here] = LEFT_PLACED | RIGHT_PLACED
    return placed


def _opposite(co: Float32Array, handle: Float32Array, other: Float32Array) -> Float32Array:
    """Return the opposite handles, aligned with the dragged handles as in Blender, with unchanged lengths.

    On the curve, both handles are free. If Blender aligned the handles, the selection would determine which handle
    turns.
    """
    towards, beyond = (co - handle).astype(np.float64), (other - co).astype(np.float64)
    length = np.hypot(*towards.T)[:, np.newaxis]
    turned = co + towards * np.hypot(*beyond.T)[:, np.newaxis] / np.where(length == 0.0, 1.0, length)
    result: Float32Array = np.where(length == 0.0, other, turned).astype(np.float32)
    return result


def chosen_of(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written | None) -> EnumArray:
    """Return the flags `rows.CHOSEN_…` of changes by the animator.

    The changes are found by comparing the keys, both `now` and without TCB, with their rows. `at` contains the indices
    of the session rows, or -1. `written` contains the keys returned by `written_of`, or is None if no handles were
    placed.
    """
    chosen = np.zeros(len(keys), dtype=np.uint8)
    known = at >= 0
    if not known.any():
        return chosen
    present = Columns(written[known]) if written is not None else None
    chosen[known] = chosen_in(now.take(known), keys.take(known), Columns(session.rows[at[known]]), present)
    return chosen


def chosen_in(now: Keyframes, keys: Keyframes, rows: Fields, written: Fields | None) -> EnumArray:
    """Return the flags `rows.CHOSEN_…` of changes by the animator for keys that have rows."""
    before = rows["chosen"]
    here = np.zeros(len(keys), dtype=np.bool_) if written is None else np.isfinite(written["co"][:, 0])
    changed = keys.interpolation != rows["interpolation"]
    if written is not None:
        changed |= here & (now.interpolation != written["interpolation"])
    other = keys.interpolation != INTERPOLATION["BEZIER"]
    ours = (before & rows_.CHOSEN_INTERPOLATION) != 0
    # A Bezier segment that is recorded as played by Blender remains so until it gets another interpolation.
    kept = ours & ~changed & (rows["interpolation"] == INTERPOLATION["BEZIER"])
    chosen = np.where(other & (changed | ours) | kept, rows_.CHOSEN_INTERPOLATION, 0)
    for side, bit in (("handle_left_type", rows_.CHOSEN_LEFT), ("handle_right_type", rows_.CHOSEN_RIGHT)):
        ours = before & bit
        if written is not None:
            kinds = getattr(now, side)
            retyped = here & (kinds != written[side])
            ours = np.where(retyped, np.where(kinds != HANDLE["FREE"], bit, 0), ours)
        chosen |= ours
    return chosen.astype(np.uint8)


def _same_and_mirrored(own: Keyframes, written: Fields, here: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the keys whose handles did not change relative to the key, and a mask of mirrored keys.

    Keys that were not written into this channel count as unchanged.
    """
    left, right = own.handle_left - own.co, own.handle_right - own.co
    before_left, before_right = written["handle_left"] - written["co"], written["handle_right"] - written["co"]
    # Moving a key rounds the offsets of its handles.
    room = 1e-3 * (1.0 + np.abs(before_left) + np.abs(before_right))

    def are(one: Float32Array, other: Float32Array) -> BoolArray:
        """Return a mask of the keys whose handles have these offsets from the key."""
        return both((np.abs(left - one) <= room) & (np.abs(right - other) <= room))

    same = ~here | are(before_left, before_right)
    if same.all():
        return same, np.zeros_like(same)
    return same, ~same & are(before_right * _MIRROR, before_left * _MIRROR)


def _recorded_handle(
    own: Keyframes, rows: Fields, sides: tuple[str, str], written: Fields, same: BoolArray, mirrored: BoolArray
) -> Float32Array:
    """Return the recorded position of a placed handle, moved with its key.

    Edits to the placed handle are applied to the recorded handle: moves with the key, scaling together with the key's
    other handle, and swaps by mirroring. If only the placed handle was dragged, the recorded handle is unchanged.
    """
    side, other = sides
    offset = (rows[side] - rows["co"]).astype(np.float64)
    still = both(own.co == rows["co"])[:, np.newaxis]
    if not same.all():
        ratio, ratio_beyond = (
            _ratio(getattr(own, each) - own.co, written[each] - written["co"]) for each in (side, other)
        )
        scaled = ~same & ~mirrored & both(np.abs(ratio - ratio_beyond) <= 1e-3 * (1.0 + np.abs(ratio)))
        swapped = (rows[other] - rows["co"]).astype(np.float64) * _MIRROR
        offset = np.where(mirrored[:, np.newaxis], swapped, np.where(scaled[:, np.newaxis], offset * ratio, offset))
        still &= ~(mirrored | scaled)[:, np.newaxis]
    handle: Float32Array = np.where(still, rows[side], (own.co + offset).astype(np.float32))
    return handle


def _ratio(now: Float32Array, before: Float32Array) -> npt.NDArray[np.float64]:
    """Return the factors by which a handle was scaled in frames and in values, or 1 if the handle had no length."""
    short = np.abs(before) <= 1e-6
    ratio: npt.NDArray[np.float64] = np.where(short, 1.0, now.astype(np.float64) / np.where(short, 1.0, before))
    return ratio
