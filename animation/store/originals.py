# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys as they stand without the bake.

The first bake keeps a copy of each F-curve beside it, its saved curve, which every later edit that moves, duplicates,
pastes or deletes keys takes along. A key's record is the saved key at its frame, to the last bit; what the animator
changed since on the baked curve wins over the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import (
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Joined,
    Keyframes,
    Write,
    merged,
    read,
    write,
)
from .carried import averaged_keys
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
    stayed: bool = False
    """Keys have moved, and the records, and what else is hidden with them, have not."""


def untouched(keys: Keyframes) -> Originals:
    """The keys of an F-curve that no bake has written to."""
    return Originals(keys, edited=False, unrecorded=keys.frames[:0])


Records = tuple[Keyframes, int]
"""The records that are left of a channel, and how many there were."""


def originals(channels: Joined, ours: BoolArray, kept: Sequence[Records | None]) -> list[Originals]:
    """Of each channel the animator's keys, where `ours` marks the generated ones of all; None: a channel that has no
    records."""
    quick = _with_all_records(channels, ours, kept)
    if len(quick) == len(kept):
        return list(quick.values())
    each = zip(channels.channels, channels.of_channels(ours), kept, strict=True)
    return [quick[row] if row in quick else _originals(*channel) for row, channel in enumerate(each)]


def _with_all_records(channels: Joined, ours: BoolArray, kept: Sequence[Records | None]) -> dict[int, Originals]:
    """Of those, by row, whose keys each have their record: both moved together or not at all, or in the Graph Editor
    only the keys, and not past each other."""
    counts = [int(np.count_nonzero(~own)) for own in channels.of_channels(ours)]
    records = {
        row: saved
        for row, (saved, count) in enumerate(zip(kept, counts, strict=True))
        if saved is not None and 0 < count == len(saved[0]) == saved[1]
    }
    if not records:
        return {}
    among = np.zeros(len(kept), dtype=np.bool_)
    among[list(records)] = True
    rows = np.flatnonzero(~ours & np.repeat(among, channels.counts))
    left, right = (side[rows] for side in placed_handles(channels.keys, channels.starts))
    own = Joined(channels.keys.take(rows), [counts[row] for row in records])
    saved = Joined.of([keys for keys, _ in records.values()])
    together = np.logical_and.reduceat(_are_same(own.keys.co, saved.keys.co), own.starts)
    alone = ~together & np.logical_and.reduceat(_moved_alone(own, saved), own.starts)
    keys = _as_recorded(own.keys, saved.keys, np.repeat(alone, own.counts) & (own.keys.frames == saved.keys.frames))
    stands = _stands_as_baked(keys, saved.keys, left, right)
    stands &= (keys.handle_left_type == HANDLE["FREE"]) & (keys.handle_right_type == HANDLE["FREE"])
    whole = together & np.logical_and.reduceat(stands, own.starts)
    restored = Joined(_restored(keys, saved.keys, (left, right), np.repeat(whole, own.counts)), own.counts)
    found = zip(records, together | alone, whole.tolist(), alone.tolist(), restored.channels, _moves(own), strict=True)
    return {
        row: Originals(each, not as_baked, each.frames[:0], {} if as_baked else moves, stayed)
        for row, known, as_baked, stayed, each, moves in found
        if known
    }


def _are_same(first: FloatArray, second: FloatArray) -> BoolArray:
    """Which rows are, to the last bit."""
    same: BoolArray = (first.view(np.uint32) == second.view(np.uint32)).all(axis=1)
    return same


def _moved_alone(own: Joined, saved: Joined) -> BoolArray:
    """Which keys have their values still, and their records, in the same order, stand where those stood."""
    keys = own.keys
    alone: BoolArray = is_own_kind(keys.amplitude) & (keys.values == keys.back)
    alone &= _are_same(np.stack((keys.period, keys.back), axis=1), saved.keys.co)
    apart = np.diff(saved.keys.frames, prepend=np.float32(-np.inf)) > SAME_FRAME
    apart[saved.starts] = True
    alone &= apart
    return alone


def _as_recorded(own: Keyframes, saved: Keyframes, rows: BoolArray) -> Keyframes:
    """The keys, those of the rows with the places and handles of their records."""
    if not rows.any():
        return own
    sides = ("co", "handle_left", "handle_right")
    return own.with_(
        **{name: np.where(rows[:, np.newaxis], getattr(saved, name), getattr(own, name)) for name in sides}
    )


def _originals(keys: Keyframes, ours: BoolArray, kept: Records | None) -> Originals:
    if kept is None and not has_stamp(keys).any():
        return untouched(keys)
    own = keys.take(~ours)
    left, right = (side[~ours] for side in placed_handles(keys, Joined.of([keys]).starts))
    if kept is None:
        return Originals(_unrecorded(own), edited=True, unrecorded=own.frames)
    saved, count = kept
    stayed = records_stayed(own, saved, count)
    record = _records(own, saved, stayed)
    saved = _flipped(saved, own, record)
    known = record >= 0
    own = _values_unmixed(own, saved, record, averaged_keys(keys, ours)[~ours])
    result = _unrecorded(own)
    rows, records = np.flatnonzero(known), saved.take(record[known])
    _put(result, rows, _restored(own.take(rows), records, (left[rows], right[rows]), np.zeros_like(rows, np.bool_)))
    overwritten = _overwritten(keys.take(ours), saved, record)
    if _is_pasted_over(keys, ours, own, saved, count):
        overwritten = ~_taken(record, len(saved))
    if overwritten.any():
        result = merged(result, saved.take(overwritten))
    (moves,) = _moves(Joined.of([own]))
    return Originals(result, edited=True, unrecorded=own.frames[~known], moves=moves, stayed=stayed)


def _moves(own: Joined) -> list[dict[float, float]]:
    """Of each channel the keys that have moved."""
    keys = own.keys
    moved = is_own_kind(keys.amplitude) & (np.abs(keys.frames - keys.period) > SAME_FRAME)
    result: list[dict[float, float]] = [{} for _ in own.counts]
    for row in np.flatnonzero(moved).tolist():
        channel = int(np.searchsorted(own.starts, row, side="right")) - 1
        result[channel][float(keys.period[row])] = float(keys.frames[row])
    return result


def put_back(fcurve: bpy.types.FCurve, original: Originals, write_unedited: Write = write) -> Keyframes:
    """Write the keys into `fcurve`; where they were edited, let Blender place its automatic handles."""
    if not original.edited:
        write_unedited(fcurve, original.keys)
        return original.keys
    write(fcurve, original.keys)
    fcurve.update()
    return read(fcurve)


def _records(own: Keyframes, saved: Keyframes, stayed: bool) -> IndexArray:
    """For each key the row of its record or -1: at its frame; else where it stood; else what is left, in order."""
    record = np.full(len(own), -1, dtype=np.intp)
    free = np.ones(len(saved), dtype=np.bool_)
    baked = is_own_kind(own.amplitude)
    stood = np.where(baked, own.period, np.nan)
    for frames in (stood, own.frames) if stayed else (own.frames, stood):
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


def give_own_values(keys: Keyframes, ours: BoolArray, kept: Records) -> None:
    """Give the animator's keys, where a bake has left them with values of the motion, their own: those of their
    records, as far off as they were moved since. Their stamps get them too: then all is as after any other bake."""
    rows = np.flatnonzero(~ours)
    own, (saved, count) = keys.take(rows), kept
    record = _records(own, saved, _stay_by_frames(own, saved, count))
    mine = (record >= 0) & is_own_kind(own.amplitude)
    rows, value, shown, recorded = rows[mine], own.values[mine], own.back[mine], saved.values[record[mine]]
    # One that was pasted flipped has the other sign.
    moved = np.where(value == -shown, -recorded, recorded + (value - shown))
    moved = np.where(value == shown, recorded, moved)
    keys.co[rows, 1], keys.back[rows] = moved, recorded
    for side in (keys.handle_left, keys.handle_right):
        side[rows, 1] += moved - value


def _stay_by_frames(own: Keyframes, saved: Keyframes, count: int) -> bool:
    """As `records_stayed`, where stamps and records have different values.

    Where keys stand at the frames of all records, in another order, both were moved.
    """
    own = own.take(is_own_kind(own.amplitude))
    if len(saved) != count or np.array_equal(own.frames, saved.frames) or len(np.unique(own.period)) < len(own):
        return False
    return bool(np.isin(own.period, saved.frames).all())


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


def _restored(own: Keyframes, records: Keyframes, placed: tuple[BoolArray, BoolArray], whole: BoolArray) -> Keyframes:
    """The keys with what the bake changed taken from their records, and what the animator changed since kept.

    Of handles that the bake `placed`, left and right, only a change of type is the animator's; `whole`: the keys of
    channels of which none has moved.
    """
    least = np.where(whole, np.float32(_HANDLE_ROUNDING), np.float32(_HANDLE_MOVED))[:, np.newaxis]
    stamped = has_stamp(own)
    # A sample that was keyed over where it had replaced the record's own key: only its value is the animator's.
    sample = own.amplitude == GENERATED
    move = own.co - records.co
    sides: dict[str, npt.NDArray[np.generic]] = {}
    for side, by_bake in zip(("handle_left", "handle_right"), placed, strict=True):
        handle, kind = getattr(own, side), getattr(own, f"{side}_type")
        old_handle, old_kind = getattr(records, side), getattr(records, f"{side}_type")
        offset, old_offset = handle - own.co, old_handle - records.co
        size = 1e-3 + np.abs(own.co) + np.abs(old_offset)
        change = np.abs(offset - old_offset)
        dragged = (change > least * size).any(axis=1)
        # Where keys moved, Blender has placed the automatic handles of the records anew: free ones can be compared.
        dragged &= whole | (old_kind == HANDLE["FREE"])
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
    if any(_moves(Joined.of([own]))):
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
