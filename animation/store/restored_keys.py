# SPDX-License-Identifier: GPL-3.0-or-later
"""One key without the handles that play it: from its row, unless the animator has changed them since.

`own_keys.py` finds the keys of a track that this is done to.
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
from .table import identity
from .table import rows as rows_
from .table.custom_property import COUPLED, NEGATED, OWN, Channel, Written
from .table.identity import Identities
from .table.rows import Columns, Fields, Rows
from .table.session import session

PUSHED = 0.01
"""Frames. Blender moves handles off their keys by 0.001 when it snaps these, or gives them the type ALIGNED."""
_HANDLE_MOVED = 1e-4
"""Relative. Moving a key rounds its handles' offsets; only a larger change is an edit of the handle."""
LEFT_PLACED, RIGHT_PLACED = 1, 2
BEYOND = 2
"""These bits, shifted to the left by so much: handles that were placed before the first key or after the last."""
UNSEEN = 64
"""A bit beside those: both handles stood on the key when the animator aligned them, so Blender has to place them."""
_HANDLES = np.uint8(15)
"""The bits of handles in the table."""
_ALIGNED = HANDLE["ALIGNED"]
_SIDES = (("handle_left", "handle_right", LEFT_PLACED), ("handle_right", "handle_left", RIGHT_PLACED))
_SWAPPED = np.array([(bits & 5) << 1 | (bits & 10) >> 1 for bits in range(16)], dtype=np.uint8)
"""Bits of placed handles, mapped to those with left and right swapped."""
_MIRROR = np.array([-1.0, 1.0], dtype=np.float32)
_NEGATED = np.array([1.0, -1.0], dtype=np.float32)
_TURN = 2.0 * np.pi


def keys_of_rows(rows: Rows) -> Keyframes:
    """Make the keys that rows have recorded, none selected."""
    none = np.zeros(len(rows), dtype=np.bool_)
    arrays: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in rows_.RECORDED}
    flags: dict[str, Any] = dict.fromkeys(FLAGS, none)
    return Keyframes(**arrays, **flags)


def recorded_keys(written: Written) -> Keyframes:
    """Make the written keys as they are without TCB, from the table alone."""
    at = session.rows.find(written["identity"])
    recorded = keys_of_rows(session.rows[at[at >= 0]])
    return identity.with_identities(recorded, np.ascontiguousarray(written["identity"][at >= 0]))


def without_handles(
    read: Keyframes, own: Keyframes, at: IndexArray, written: Written, are_played: BoolArray
) -> tuple[Keyframes, EnumArray]:
    """Return keys without the handles that play them, but with the animator's changes since; and which were placed.

    `read`: the keys as the own curves have them; `own`: the same with their own values; `at`: the numbers of their rows
    in the session, -1 for none; `written`: the keys as `written_of` gives them; `are_played`: which are in channels
    whose handles were placed. New keys keep the interpolation that they have.
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
    """Make new keys among played ones smooth, as Blender makes them; attributes set since stay."""
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
    """Return the keys whose values on the curve have the opposite sign, or the opposite direction of an angle."""
    negated: BoolArray = (written["placed"] & NEGATED) != 0
    return negated


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float32Array:
    """Convert new own values of keys to values on the curve, by their present own and shown values."""
    terms = _terms(own, shown, negated)
    turned = np.where(terms == 0.0, 0.0, np.where(negated, terms - wanted, terms + wanted))
    values: Float32Array = np.where(terms == 0.0, np.where(negated, -wanted, wanted), turned).astype(np.float32)
    return values


def own_values(now: Float32Array, written: Fields) -> Float32Array:
    """Convert values on the curve to own values of keys.

    An edited key stays within half a turn of its earlier own value.
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
    """Return the multiples of pi that the values on the curve add to own, or negated own, values."""
    away = shown.astype(np.float64) - np.where(negated, -own, own)
    # Keys that are not written have no numbers.
    return np.nan_to_num(np.pi * np.rint(away / np.pi))


def written_of(identities: Identities, channel: Channel | None) -> Written:
    """Return the keys of a channel as they were written, in the order of the identities.

    Keys that were not written into this channel have frames that are NaN.
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
    """Restore from rows the handles that were placed, keep what was changed since; return which were placed.

    `read`: the keys as the own curves have them; `own`: the same with their own values.
    """
    here = np.isfinite(written["co"][:, 0])
    placed = _placed(own, written, here)
    # On curves that handles play, keys of the spline are Bezier, whatever their row has; pasted ones, too. Constant
    # ones are never of the spline.
    played = np.where(here, written["interpolation"], np.uint8(INTERPOLATION["BEZIER"]))
    played[rows["interpolation"] == INTERPOLATION["CONSTANT"]] = INTERPOLATION["CONSTANT"]
    changed = own.interpolation != played
    interpolation = np.where(changed, own.interpolation, rows["interpolation"])
    same, mirrored = _same_and_mirrored(own, written, here)
    # A mirror in time has swapped the handles of each key.
    placed[mirrored] = _SWAPPED[placed[mirrored] & _HANDLES] | placed[mirrored] & (NEGATED | COUPLED)
    negated = here & is_negated(written)
    terms = _terms(written["value"], written["co"][:, 1], negated)
    sides: dict[str, npt.NDArray[Any]] = {}
    dragged: dict[str, BoolArray] = {}
    for side, other, bit in _SIDES:
        now, beyond = getattr(own, side), (placed & (bit << BEYOND)) != 0
        edited = _edited_side(own, rows, written, side, ((placed & bit != 0) | beyond, beyond), here, mirrored)
        dragged[side] = edited.dragged
        placed[edited.unseen] |= UNSEEN
        if negated.any():
            opposite = getattr(read, side) * _NEGATED
            # Of an Euler angle, which has a term, too.
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
        back=identity.without_identities(own.back, rows["back"]),
        amplitude=identity.without_identities(own.amplitude, rows["amplitude"]),
        period=identity.without_identities(own.period, rows["period"]),
        **sides,
    )
    return identity.with_identities(keys, np.ascontiguousarray(rows["identity"])), placed


class _Side(NamedTuple):
    """State of the handles on one side of keys, after edits since they were placed."""

    kinds: EnumArray
    are_placed: BoolArray
    """Which are where they were placed."""
    dragged: BoolArray
    unseen: BoolArray
    """Which are aligned, and stood on the key when the animator aligned them."""


def _edited_side(
    own: Keyframes,
    rows: Fields,
    written: Fields,
    side: str,
    placed: tuple[BoolArray, BoolArray],
    here: BoolArray,
    mirrored: BoolArray,
) -> _Side:
    """Recognize edits of the handles on one side.

    `placed`: those that were placed, and which of these are beyond all keys, where dragging one bends no spline.
    """
    are_placed, beyond = placed
    kind = f"{side}_type"
    retyped = here & (getattr(own, kind) != written[kind])
    offset, before = getattr(own, side) - own.co, written[side] - written["co"]
    moved = here & ~mirrored & _is_moved(own, written, offset, before, are_placed & ~beyond)
    # Blender itself places handles of the types that the animator chose, and moves handles with their key.
    key_stays = (own.frames == written["co"][:, 0]) & (own.values == written["value"])
    dragged = moved & ~AUTOMATIC[written[kind]] & key_stays
    automatic = (rows[kind] != HANDLE["FREE"]) & (rows[kind] != HANDLE["ALIGNED"])
    kinds = np.where(dragged & automatic, np.uint8(HANDLE["FREE"]), rows[kind])
    kinds = np.where(retyped, getattr(own, kind), kinds)
    # Blender pushes handles off their key when it aligns them: where they stood on it they were never seen.
    on_key = (np.abs((before[:, 0], offset[:, 0])) <= PUSHED).all(axis=0) & (before[:, 1] == offset[:, 1])
    unseen = are_placed & retyped & on_key
    are_placed &= ~(dragged | retyped & ~unseen)
    return _Side(kinds, are_placed, dragged, unseen & automatic & (kinds == _ALIGNED))


def _is_moved(
    own: Keyframes, written: Fields, offset: Float32Array, before: Float32Array, are_placed: BoolArray
) -> BoolArray:
    """Return which handles have another offset from their key than `before`, by more than rounding."""
    size = 1e-3 + np.abs(own.co) + np.abs(written["co"]) + np.abs(before)
    moved = either(np.abs(offset - before) > _HANDLE_MOVED * size)
    # A handle placed on its key can only be pulled off it; values of merged keys change without their handles.
    return moved & np.where(either(before != 0.0), ~are_placed, np.abs(offset[:, 0]) > PUSHED)


def _placed(own: Keyframes, written: Fields, here: BoolArray) -> EnumArray:
    """Return which handles of keys were placed; `here`: which keys have a record in this channel."""
    placed = np.zeros(len(own), dtype=np.uint8)
    placed[here] = written["placed"][here]
    # Keys pasted from another channel have handles that play that one.
    placed[~here] = LEFT_PLACED | RIGHT_PLACED
    return placed


def _opposite(co: Float32Array, handle: Float32Array, other: Float32Array) -> Float32Array:
    """Return the other handles of keys, aligned to the dragged ones as Blender does it: of the length that they had.

    On the curve both are free. Left to Blender, which of them turns would go by what is selected later.
    """
    towards, beyond = (co - handle).astype(np.float64), (other - co).astype(np.float64)
    length = np.hypot(*towards.T)[:, np.newaxis]
    turned = co + towards * np.hypot(*beyond.T)[:, np.newaxis] / np.where(length == 0.0, 1.0, length)
    result: Float32Array = np.where(length == 0.0, other, turned).astype(np.float32)
    return result


def chosen_of(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written | None) -> EnumArray:
    """Return what the animator changed of keys, by comparing them `now` and without TCB with their rows.

    `at`: the numbers of these rows in the session, -1 for none; `written`: the keys as `written_of` gives them, None
    where no handles were placed.
    """
    chosen = np.zeros(len(keys), dtype=np.uint8)
    known = at >= 0
    if not known.any():
        return chosen
    present = Columns(written[known]) if written is not None else None
    chosen[known] = chosen_in(now.take(known), keys.take(known), Columns(session.rows[at[known]]), present)
    return chosen


def chosen_in(now: Keyframes, keys: Keyframes, rows: Fields, written: Fields | None) -> EnumArray:
    """Return what the animator changed of keys that have rows, as bits `rows.CHOSEN_…`."""
    before = rows["chosen"]
    here = np.zeros(len(keys), dtype=np.bool_) if written is None else np.isfinite(written["co"][:, 0])
    changed = keys.interpolation != rows["interpolation"]
    if written is not None:
        changed |= here & (now.interpolation != written["interpolation"])
    other = keys.interpolation != INTERPOLATION["BEZIER"]
    ours = (before & rows_.CHOSEN_INTERPOLATION) != 0
    # A Bezier segment is Blender's where it was recorded so, until it gets another interpolation.
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
    """Return which keys have both handles unchanged relative to the key, and which have them swapped by a mirror.

    Keys that were not written into this channel count as unchanged.
    """
    left, right = own.handle_left - own.co, own.handle_right - own.co
    before_left, before_right = written["handle_left"] - written["co"], written["handle_right"] - written["co"]
    # Moving a key rounds the offsets of its handles.
    room = 1e-3 * (1.0 + np.abs(before_left) + np.abs(before_right))

    def are(one: Float32Array, other: Float32Array) -> BoolArray:
        """Return which keys have handles with these offsets."""
        return both((np.abs(left - one) <= room) & (np.abs(right - other) <= room))

    same = ~here | are(before_left, before_right)
    if same.all():
        return same, np.zeros_like(same)
    return same, ~same & are(before_right * _MIRROR, before_left * _MIRROR)


def _recorded_handle(
    own: Keyframes, rows: Fields, sides: tuple[str, str], written: Fields, same: BoolArray, mirrored: BoolArray
) -> Float32Array:
    """Return the recorded position of a placed handle, moved along with its key.

    What happened to the placed handle is applied to the recorded one: it was moved, scaled with the other handle of its
    key, or swapped with it by a mirror. A placed handle that was dragged alone tells nothing.
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
    """Return by how much a handle was scaled, in frames and in values; 1 where it had no length."""
    short = np.abs(before) <= 1e-6
    ratio: npt.NDArray[np.float64] = np.where(short, 1.0, now.astype(np.float64) / np.where(short, 1.0, before))
    return ratio
