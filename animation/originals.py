# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys as they stand without the bake.

The first bake keeps a copy of each F-curve beside it, its saved curve, which every later edit that moves, duplicates,
pastes or deletes keys takes along. A key's record is the saved key at its frame, to the last bit; what the animator
changed since on the baked curve wins over the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt

from .carried import averaged_keys
from .keyframes import (
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Keyframes,
    merged,
    read,
    write,
)
from .stamps import (
    GENERATED,
    ONE_KEY,
    SAME_FRAME,
    SAMPLED_KEY,
    has_stamp,
    is_own_kind,
    left_as_baked,
    placed_handles,
    unstamped,
)

_HANDLE_MOVED = 1e-4
"""Relative. Moving a key rounds its handles' offsets; only a larger change is an edit of the handle."""
_HANDLE_ROUNDING = 2e-5
"""Relative. Where no key has moved: Blender may still have placed an automatic handle of the record anew."""

_PUSHED = 0.02
"""Frames. Blender pushes a handle that stands on its key 0.001 frame away, which scaling may make more."""


@dataclass(frozen=True)
class Originals:
    """One F-curve without its bake; `edited`: keys changed since, so Blender has to place automatic handles anew."""

    keys: Keyframes
    edited: bool
    unrecorded: FloatArray
    """Frames of keys that have no record, because they were made or pasted since."""
    moves: Mapping[float, float] = field(default_factory=dict)
    """Frames at which keys stood at the last bake, with those where they are now, of keys that have moved."""


def untouched(keys: Keyframes) -> Originals:
    """The keys of an F-curve that no bake has written to."""
    return Originals(keys, edited=False, unrecorded=keys.frames[:0])


def originals(keys: Keyframes, ours: BoolArray, kept: tuple[Keyframes, int] | None) -> Originals:
    """The animator's keys among `keys`, where `ours` marks the generated ones and `kept` holds the records that are
    left, and how many there were."""
    if kept is None and not has_stamp(keys).any():
        return untouched(keys)
    own = keys.take(~ours)
    left, right = (side[~ours] for side in placed_handles(keys))
    if kept is None:
        return Originals(_unrecorded(own), edited=True, unrecorded=own.frames)
    saved, count = kept
    if len(own) == len(saved) == count and own.co.tobytes() == saved.co.tobytes():
        # Each has its record, whether they have moved together or not at all.
        whole = bool(_stands_as_baked(own, saved, left, right).all()) and bool(
            ((own.handle_left_type == HANDLE["FREE"]) & (own.handle_right_type == HANDLE["FREE"])).all()
        )
        result = _restored(own, saved, (left, right), whole)
        return Originals(result, not whole, own.frames[:0], {} if whole else _moves(own))
    record = _records(own, saved, count)
    saved = _flipped(saved, own, record)
    known = record >= 0
    own = _values_unmixed(own, saved, record, averaged_keys(keys, ours)[~ours])
    result = _unrecorded(own)
    rows, records = np.flatnonzero(known), saved.take(record[known])
    _put(result, rows, _restored(own.take(rows), records, (left[rows], right[rows]), whole=False))
    overwritten = _overwritten(keys.take(ours), saved, record)
    if _is_pasted_over(keys, ours, own, saved, count):
        overwritten = ~_taken(record, len(saved))
    if overwritten.any():
        result = merged(result, saved.take(overwritten))
    return Originals(result, edited=True, unrecorded=own.frames[~known], moves=_moves(own))


def _moves(own: Keyframes) -> dict[float, float]:
    moved = is_own_kind(own.amplitude) & (np.abs(own.frames - own.period) > SAME_FRAME)
    return dict(zip(own.period[moved].tolist(), own.frames[moved].tolist(), strict=True))


def put_back(fcurve: bpy.types.FCurve, original: Originals) -> Keyframes:
    """Write the keys into `fcurve`; where they were edited, let Blender place its automatic handles."""
    write(fcurve, original.keys)
    if not original.edited:
        return original.keys
    fcurve.update()
    return read(fcurve)


def _records(own: Keyframes, saved: Keyframes, count: int) -> IndexArray:
    """For each key the row of its record or -1: at its frame; else where it stood; else what is left, in order."""
    record = np.full(len(own), -1, dtype=np.intp)
    free = np.ones(len(saved), dtype=np.bool_)
    baked = is_own_kind(own.amplitude)
    stood = np.where(baked, own.period, np.nan)
    for frames in (stood, own.frames) if records_stayed(own, saved, count) else (own.frames, stood):
        _pair_by_frame(record, free, frames, saved.frames)
    lost, spare = np.flatnonzero((record < 0) & baked), np.flatnonzero(free)
    if len(lost) == len(spare):
        record[lost] = spare
    return record


def records_stayed(own: Keyframes, saved: Keyframes, count: int) -> bool:
    """Whether the records stand where the bake left them: the Graph Editor, where they are hidden, moves keys only.

    An edit in the Dope Sheet moves a key's record with it, away from its stamp, or makes more records.
    """
    own = own.take(is_own_kind(own.amplitude))
    if len(saved) != count or (own.frames == own.period).all():
        return False
    stamps, there = np.stack((own.period, own.back), axis=1), set(map(bytes, saved.co))
    return len(np.unique(own.period)) == len(own) and all(bytes(stamp) in there for stamp in stamps)


def _pair_by_frame(record: IndexArray, free: BoolArray, frames: FloatArray, saved_frames: FloatArray) -> None:
    spare = np.flatnonzero(free)
    wanting = np.flatnonzero((record < 0) & np.isfinite(frames))
    if not len(spare) or not len(wanting):
        return
    near = np.clip(np.searchsorted(saved_frames[spare], frames[wanting] - np.float32(SAME_FRAME)), 0, len(spare) - 1)
    hit = np.abs(saved_frames[spare[near]] - frames[wanting]) <= SAME_FRAME
    rows, taken = np.unique(spare[near[hit]], return_index=True)
    record[wanting[hit][taken]] = rows
    free[rows] = False


def _unrecorded(own: Keyframes) -> Keyframes:
    """What keys without a record become: smooth keys as Blender makes them; what was set since stays."""
    inherited = own.interpolation == INTERPOLATION["LINEAR"]
    automatic = np.uint8(HANDLE["AUTO_CLAMPED"])
    return (
        unstamped(own)
        .with_(
            interpolation=np.where(inherited, np.uint8(INTERPOLATION["BEZIER"]), own.interpolation),
            handle_left_type=np.where(own.handle_left_type == HANDLE["FREE"], automatic, own.handle_left_type),
            handle_right_type=np.where(own.handle_right_type == HANDLE["FREE"], automatic, own.handle_right_type),
        )
        .copy()
    )


def _restored(own: Keyframes, records: Keyframes, placed: tuple[BoolArray, BoolArray], whole: bool) -> Keyframes:
    """The keys with what the bake changed taken from their records, and what the animator changed since kept.

    Of handles that the bake `placed`, left and right, only a change of type is the animator's.
    """
    stamped = has_stamp(own)
    # A sample that was keyed over where it had replaced the record's own key: only its value is the animator's.
    sample = own.amplitude == GENERATED
    move = own.co - records.co
    sides: dict[str, npt.NDArray[np.generic]] = {}
    for side, by_bake in zip(("handle_left", "handle_right"), placed, strict=True):
        handle, kind = getattr(own, side), getattr(own, f"{side}_type")
        old_handle, old_kind = getattr(records, side), getattr(records, f"{side}_type")
        if whole and handle.tobytes() == old_handle.tobytes():
            sides |= {side: old_handle, f"{side}_type": old_kind}
            continue
        offset, old_offset = handle - own.co, old_handle - records.co
        size = 1e-3 + np.abs(own.co) + np.abs(old_offset)
        change = np.abs(offset - old_offset)
        dragged = (change > (_HANDLE_ROUNDING if whole else _HANDLE_MOVED) * size).any(axis=1)
        if not whole:
            # Blender has placed the automatic handles of the records anew: only free ones can be compared.
            dragged &= old_kind == HANDLE["FREE"]
        # Those that the bake put on their keys can.
        off_key = (change > _HANDLE_MOVED * size).any(axis=1) & _left_its_key(own, handle)
        dragged = np.where(own.amplitude == SAMPLED_KEY, off_key, dragged)
        dragged &= ~(by_bake | sample)
        # A retyped handle was placed between generated keys; where the record was retyped with it, that one is right.
        dragged &= (kind == HANDLE["FREE"]) | (kind == HANDLE["ALIGNED"])
        retyped = (kind != HANDLE["FREE"]) & (kind != old_kind)
        kept_kind = np.where(retyped, kind, np.where(dragged & (old_kind != HANDLE["ALIGNED"]), kind, old_kind))
        mine = (retyped | dragged)[:, np.newaxis]
        # Adding a move of zero would turn -0.0 into 0.0.
        moved = np.where(move == 0, old_handle, old_handle + move)
        sides |= {side: np.where(mine, handle, moved), f"{side}_type": kept_kind}
    return own.with_(
        interpolation=np.where(left_as_baked(own) | sample, records.interpolation, own.interpolation),
        back=np.where(stamped, records.back, own.back),
        amplitude=np.where(stamped, records.amplitude, own.amplitude),
        period=np.where(stamped, records.period, own.period),
        type=np.where(sample & (own.type == KEY_TYPE["GENERATED"]), records.type, own.type),
        **sides,
    )


def _left_its_key(own: Keyframes, handle: FloatArray) -> BoolArray:
    """Which handles stand beside their keys, and beside where those were: a script may have moved a key alone.

    Only frames tell: where keys meet, Blender gives one the mean of their values, and leaves its handles.
    """
    frames = handle[:, 0]
    near = _PUSHED + 4 * np.abs(np.spacing(frames))
    left: BoolArray = (np.abs(frames - own.frames) > near) & (np.abs(frames - own.period) > near)
    return left


def _overwritten(generated: Keyframes, saved: Keyframes, record: IndexArray) -> BoolArray:
    """Which records lost their keys to a sample: scaled or pasted onto a key's frame, it may be the one that stays."""
    lost = ~_taken(record, len(saved))
    if not len(generated) or not lost.any():
        return np.zeros(len(saved), dtype=np.bool_)
    near = np.searchsorted(generated.frames, saved.frames - np.float32(ONE_KEY))
    there: BoolArray = np.abs(generated.frames[np.clip(near, 0, len(generated) - 1)] - saved.frames) <= ONE_KEY
    there &= lost
    return there


def _taken(record: IndexArray, count: int) -> BoolArray:
    """Which of the records belong to keys."""
    taken = np.zeros(count, dtype=np.bool_)
    taken[record[record >= 0]] = True
    return taken


def _flipped(saved: Keyframes, own: Keyframes, record: IndexArray) -> Keyframes:
    """The records, those with another sign whose keys were pasted flipped: Blender flips the keys of bones only."""
    rows = np.flatnonzero(has_stamp(own) & (own.values == -own.back) & (own.values != 0) & (record >= 0))
    rows = record[rows[saved.values[record[rows]] == own.back[rows]]]
    if not len(rows):
        return saved
    sides = {name: getattr(saved, name).copy() for name in ("co", "handle_left", "handle_right")}
    for places in sides.values():
        places[rows, 1] = -places[rows, 1]
    return saved.with_(**sides)


def _is_pasted_over(keys: Keyframes, ours: BoolArray, own: Keyframes, saved: Keyframes, count: int) -> bool:
    """Whether generated keys were pasted over a range, and may have replaced keys of the animator's in it whose records
    nothing was pasted over: their range is smaller, or none of them was copied."""
    if _moves(own):
        stood = keys.period[has_stamp(keys)]
        return len(np.unique(stood)) < len(stood) and not records_stayed(own, saved, count)
    generated = keys.take(ours)
    return len(saved) == count and bool((np.abs(generated.frames - generated.period) > SAME_FRAME).any())


def _values_unmixed(own: Keyframes, saved: Keyframes, record: IndexArray, averaged: BoolArray) -> Keyframes:
    """The keys, those that became one with samples with the values of their records, which went along by themselves;
    so do those that have their values still: what other keys they met may have been lost to samples before."""
    unchanged = has_stamp(own) & (own.values == own.back)
    rows = np.flatnonzero((averaged | unchanged) & (record >= 0))
    rows = rows[saved.co[record[rows], 0] == own.co[rows, 0]]
    if not len(rows):
        return own
    co, handle_left, handle_right = own.co.copy(), own.handle_left.copy(), own.handle_right.copy()
    co[rows] = saved.co[record[rows]]
    handle_left[rows], handle_right[rows] = saved.handle_left[record[rows]], saved.handle_right[record[rows]]
    return own.with_(co=co, handle_left=handle_left, handle_right=handle_right)


def _stands_as_baked(own: Keyframes, saved: Keyframes, left: BoolArray, right: BoolArray) -> BoolArray:
    """Which keys have not moved since the bake.

    One that a bake left without a stamp has where its handles differ from its record's, which Blender placed anew then;
    but for those that the bake placed, `left` and `right`.
    """
    at_stamp = (own.co == np.stack((own.period, own.back), axis=1)).all(axis=1)
    same_left = (own.handle_left == saved.handle_left).all(axis=1) | left
    same_right = (own.handle_right == saved.handle_right).all(axis=1) | right
    stands: BoolArray = np.where(has_stamp(own), at_stamp, same_left & same_right)
    return stands


def _put(target: Keyframes, rows: IndexArray, keys: Keyframes) -> None:
    for name, array in vars(target).items():
        array[rows] = getattr(keys, name)
