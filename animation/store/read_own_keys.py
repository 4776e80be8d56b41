# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the animator's keys on tracks, as they would be without TCB.

The keys are on the animator's curves, that is, on the track's F-curves or, for a baked track, among the saved keys.
Frames and values are read from the keys. `restored_keys.py` recovers the handles as they were before TCB placed them.
Blender plays segments with a chosen interpolation, and places handles with a chosen type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import (
    FLAGS,
    HANDLE,
    INTERPOLATION,
    NAMES,
    BoolArray,
    EnumArray,
    Float32Array,
    IndexArray,
    Joined,
    Keyframes,
    is_among,
    matching_rows,
    union,
)
from ..fcurves.read_and_write import read_joined
from .identities_in_keys import identities_on_curves, numbers_of
from .own_keys import OwnArrays, OwnKeys
from .restored_keys import own_values, without_handles, written_of
from .table import key_identity
from .table.key_identity import Identities
from .table.rows import CHOSEN_HANDLES, CHOSEN_INTERPOLATION, CHOSEN_LEFT, CHOSEN_RIGHT, Rows, joined
from .table.session import session
from .table.track_records import COUPLED, NEGATED, OWN, SAVED, BakedChannel, Channel, SavedKeys, TrackState, Written
from .tracks import Track

_SAVED = tuple(name for name in NAMES if name not in FLAGS)


def saved_keys(keys: Keyframes) -> SavedKeys:
    """Convert keys to records for the table."""
    saved = np.zeros(len(keys), dtype=SAVED)
    for name in _SAVED:
        saved[name] = getattr(keys, name)
    for bit, name in enumerate(FLAGS):
        saved["flags"] |= getattr(keys, name).astype(np.uint8) << np.uint8(bit)
    return saved


def joined_saved(channels: Sequence[SavedKeys]) -> Joined:
    """Convert records of several channels from the table to keys."""
    saved = joined(channels, SAVED)
    arrays: dict[str, npt.NDArray[Any]] = {name: saved[name].copy() for name in _SAVED}
    for bit, name in enumerate(FLAGS):
        arrays[name] = (saved["flags"] >> np.uint8(bit) & 1).astype(np.bool_)
    return Joined(Keyframes(**arrays), list(map(len, channels)))


def own_channels(track: Track) -> list[int]:
    """Return the components that have an F-curve made by the animator, excluding F-curves created by a bake."""
    bake = track.bake
    if bake is None:
        return list(track.channels)
    baked = [index for index, channel in bake.channels.items() if channel.rest is None]
    added_since = [index for index in track.channels if index not in bake.channels]
    return [*baked, *added_since]


def read_own_curves(curves: Sequence[tuple[Track, int]]) -> Joined:
    """Read all keys on the animator's curves, which are given by track and component, and concatenate the keys."""
    baked = [track.bake.channels.get(index) if track.bake is not None else None for track, index in curves]
    saved = [channel.keys for channel in baked if channel is not None]
    fcurves = [track.channels[index] for (track, index), channel in zip(curves, baked, strict=True) if channel is None]
    if not saved:
        return read_joined(fcurves)
    from_table = joined_saved(saved)
    if not fcurves:
        return from_table
    saved_channels, channels = iter(from_table.channels), iter(read_joined(fcurves).channels)
    return Joined.of([next(channels if channel is None else saved_channels) for channel in baked])


def with_saved(state: TrackState, keys: Mapping[int, Keyframes]) -> TrackState:
    """Return the state of a baked track, with the animator's keys replaced in these components.

    The records of handles are removed, because they belong to other keys.
    """
    bake = state.bake
    assert bake is not None
    channels: dict[int, BakedChannel] = dict(bake.channels)
    for index, own_keys in keys.items():
        channel = channels.get(index)
        if channel is not None:
            saved = saved_keys(own_keys)
            is_moved = channel.keys["co"].tobytes() != saved["co"].tobytes()
            channels[index] = replace(channel, keys=saved, edited=channel.edited or is_moved)
    return replace(state, channels={}, bake=replace(bake, channels=channels))


# Interpolations and handle types that the animator chose after the keys became TCB


def chosen_by_animator(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written | None) -> EnumArray:
    """Return flags `rows.CHOSEN_…` of the keys, or 0 for keys without rows.

    The changes are found by comparing the keys with their rows, both as they are on the curve (`now`) and without TCB
    (`keys`). `at` contains the indices of the session rows, or -1. `written` contains the keys as returned by
    `written_of`, or is None if no handles were placed.
    """
    chosen = np.zeros(len(keys), dtype=np.uint8)
    has_row = at >= 0
    if not has_row.any():
        return chosen
    now, keys, rows = now.take(has_row), keys.take(has_row), session.rows[at[has_row]]
    records = written[has_row] if written is not None else None
    flags = _chosen_interpolation(now, keys, rows, records)
    flags |= _chosen_handle(now, "handle_left_type", CHOSEN_LEFT, rows, records)
    flags |= _chosen_handle(now, "handle_right_type", CHOSEN_RIGHT, rows, records)
    chosen[has_row] = flags
    return chosen


def _chosen_interpolation(now: Keyframes, keys: Keyframes, rows: Rows, written: Written | None) -> EnumArray:
    """Return CHOSEN_INTERPOLATION for keys whose segments Blender plays because of the animator's choice, or else 0."""
    is_changed = keys.interpolation != rows["interpolation"]
    if written is not None:
        is_changed |= _has_record(written) & (now.interpolation != written["interpolation"])
    was_chosen = (rows["chosen"] & CHOSEN_INTERPOLATION) != 0
    is_bezier = keys.interpolation == INTERPOLATION["BEZIER"]
    # A Bezier segment that is recorded as played by Blender remains so until it gets another interpolation.
    stays_bezier = was_chosen & ~is_changed & (rows["interpolation"] == INTERPOLATION["BEZIER"])
    is_chosen = ~is_bezier & (is_changed | was_chosen) | stays_bezier
    return np.where(is_chosen, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))


def _chosen_handle(now: Keyframes, kind: str, flag: int, rows: Rows, written: Written | None) -> EnumArray:
    """Return the flag for keys whose handle type the animator chose, or else 0. FREE handles are not chosen."""
    chosen: EnumArray = rows["chosen"] & np.uint8(flag)
    if written is None:
        return chosen
    types = getattr(now, kind)
    is_retyped = _has_record(written) & (types != written[kind])
    return np.where(is_retyped, np.where(types != HANDLE["FREE"], np.uint8(flag), np.uint8(0)), chosen)


def _has_record(written: Written) -> BoolArray:
    """Return a mask of the keys that were written into this channel."""
    has_record: BoolArray = np.isfinite(written["co"][:, 0])
    return has_record


def mark_new_interpolations(own: Joined, interpolation: EnumArray, chosen: EnumArray, is_new: BoolArray) -> None:
    """Mark in `chosen` the new keys with an interpolation other than Bezier that was set by the animator.

    A new key in Blender inherits the interpolation of the previous key, or of the next key if the new key is the first.
    If the other key is marked, the new key is marked too. A channel's only key is not marked if it is linear, because
    the preferences can make new keys linear.
    """
    rows = np.flatnonzero(is_new & (interpolation != INTERPOLATION["BEZIER"]))
    if not len(rows):
        return
    end_of_channel = own.spread(own.starts + own.counts)
    old_keys_before = np.concatenate(([0], np.cumsum(~is_new)))
    is_leading = old_keys_before[1:] == own.spread(old_keys_before[own.starts])
    # Leading keys inherit from the next key, so they are processed from last to first.
    for row in [*rows[is_leading[rows]][::-1].tolist(), *rows[~is_leading[rows]].tolist()]:
        source = row + 1 if is_leading[row] else row - 1
        if source == end_of_channel[row]:
            is_chosen = interpolation[row] != INTERPOLATION["LINEAR"]
        elif own.keys.interpolation[source] == interpolation[row]:
            is_chosen = bool(chosen[source] & CHOSEN_INTERPOLATION)
        else:
            is_chosen = True
        chosen[row] |= CHOSEN_INTERPOLATION * is_chosen


# Keys of several tracks


def read_own_keys(track: Track) -> dict[int, OwnKeys]:
    """Read the animator's keys of each channel that has keys."""
    return read_all_own_keys([track])[0]


def read_all_own_keys(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the animator's keys on several tracks together, which is faster than reading one track at a time."""
    curves = [(track, index) for track in tracks for index in own_channels(track)]
    if not curves:
        return [{} for _ in tracks]
    on_curves = read_own_curves(curves)
    identities = identities_on_curves(curves, on_curves)
    at = session.rows.find(identities)
    records = [track.state.channels.get(index) if track.state is not None else None for track, index in curves]
    if any(record is not None for record in records):
        arrays, is_edited = _without_handles(curves, on_curves, identities, at, records)
    else:
        arrays, is_edited = _as_read(on_curves, identities, at), [False] * len(curves)
    channels = iter([OwnKeys(arrays, span, edited) for span, edited in zip(on_curves.spans, is_edited, strict=True)])
    result = []
    for track in tracks:
        own_by_index = {index: next(channels) for index in own_channels(track)}
        own = {index: keys for index, keys in own_by_index.items() if keys.count}
        result.append(with_numbers_beside(own) if track.is_rotation and track.state is not None else own)
    return result


def key_frames(track: Track) -> Float32Array:
    """Return the frames of the animator's keys in all of the track's channels, in ascending order."""
    return union([own.keys.frames for own in read_own_keys(track).values()])


def count_key_frames(own_keys: Mapping[int, OwnKeys]) -> int:
    """Return the number of frames at which any channel has one of the animator's keys."""
    return len(union([own.keys.frames for own in own_keys.values()]))


def _as_read(on_curves: Joined, identities: Identities, at: IndexArray) -> OwnArrays:
    """Return the keys of channels without placed handles. `at` contains the indices of the keys' rows."""
    placed = np.zeros(len(identities), dtype=np.uint8)
    chosen = chosen_by_animator(on_curves.keys, on_curves.keys, at, None)
    rows = _rows_in_channels(on_curves)
    return OwnArrays(on_curves.keys, identities, numbers_of(at), rows, chosen, placed, as_read=on_curves.keys)


def _without_handles(
    curves: Sequence[tuple[Track, int]],
    on_curves: Joined,
    identities: Identities,
    at: IndexArray,
    records: Sequence[Channel | None],
) -> tuple[OwnArrays, list[bool]]:
    """Return the animator's keys without placed handles. `at` contains the indices of the keys' rows.

    Also return, for each channel, whether keys were added, deleted or moved, or handle types changed, since the handles
    were placed.
    """
    identities_by_channel = on_curves.of_channels(identities)
    written = joined(map(written_of, identities_by_channel, records), OWN)
    written = _without_uncoupled(curves, on_curves, written)
    shown = _with_own_values(on_curves.keys, written)
    are_played = on_curves.spread(np.array([record is not None for record in records]))
    is_new = (at < 0) & are_played
    keys, placed = without_handles(on_curves.keys, shown, at, written, are_played)
    chosen = chosen_by_animator(shown, keys, at, written)
    mark_new_interpolations(on_curves, keys.interpolation, chosen, is_new)
    # Other new linear keys are part of the spline.
    is_linear = is_new & (keys.interpolation == INTERPOLATION["LINEAR"])
    becomes_bezier = is_linear & ((chosen & CHOSEN_INTERPOLATION) == 0)
    if becomes_bezier.any():
        bezier = np.uint8(INTERPOLATION["BEZIER"])
        keys = keys.with_(interpolation=np.where(becomes_bezier, bezier, keys.interpolation))
    rows = _rows_in_channels(on_curves)
    own = OwnArrays(keys, identities, numbers_of(at), rows, chosen, placed, as_read=on_curves.keys)
    changed_keys = on_curves.sums(_is_changed(shown, keys, at, written, chosen)).tolist()
    is_edited = [
        record is not None
        and (record.edited or changed > 0 or own_identities.tobytes() != record.own["identity"].tobytes())
        for record, own_identities, changed in zip(records, identities_by_channel, changed_keys, strict=True)
    ]
    return own, is_edited


def _rows_in_channels(on_curves: Joined) -> IndexArray:
    """Return the row of each key in its channel."""
    rows: IndexArray = np.arange(len(on_curves.keys)) - on_curves.spread(on_curves.starts)
    return rows


def _without_uncoupled(curves: Sequence[tuple[Track, int]], on_curves: Joined, written: Written) -> Written:
    """Return the records. Equivalent values remain only at frames where every channel of a rotation still has one.

    If the key in one channel was replaced, moved or deleted, the curves have the orientation that the animator wants.
    """
    is_coupled = (written["placed"] & COUPLED) != 0
    if not is_coupled.any():
        return written
    frames = on_curves.keys.frames
    is_uncoupled = np.zeros(len(written), dtype=np.bool_)
    spans_by_track: dict[int, list[slice]] = {}
    for (track, _), span in zip(curves, on_curves.spans, strict=True):
        spans_by_track.setdefault(id(track), []).append(span)
    for spans in spans_by_track.values():
        coupled_frames = [np.sort(frames[span][is_coupled[span]]) for span in spans]
        for span in spans:
            is_in_all = np.logical_and.reduce([is_among(frames[span], coupled) for coupled in coupled_frames])
            is_uncoupled[span] = is_coupled[span] & ~is_in_all
    if not is_uncoupled.any():
        return written
    written = written.copy()
    written["placed"][is_uncoupled] &= ~(NEGATED | COUPLED)
    written["value"][is_uncoupled] = written["co"][is_uncoupled, 1]
    return written


def _with_own_values(keys: Keyframes, written: Written) -> Keyframes:
    """Return the keys with the animator's values, and with handles moved by the same amount."""
    has_record = np.isfinite(written["co"][:, 0])
    values = keys.values.copy()
    values[has_record] = own_values(values, written)[has_record]
    shift = values - keys.values
    if not shift.any():
        return keys
    co, left, right = keys.co.copy(), keys.handle_left.copy(), keys.handle_right.copy()
    co[:, 1] = values
    # Adding 0 would change -0.0 to 0.0.
    is_shifted = shift != 0.0
    left[is_shifted, 1] += shift[is_shifted]
    right[is_shifted, 1] += shift[is_shifted]
    return keys.with_(co=co, handle_left=left, handle_right=right)


def _is_changed(shown: Keyframes, keys: Keyframes, at: IndexArray, written: Written, chosen: EnumArray) -> BoolArray:
    """Return a mask of the keys that moved after they were written, or whose handle types differ from the rows."""
    is_changed: BoolArray = (shown.frames != written["co"][:, 0]) | (shown.values != written["value"])
    has_row = at >= 0
    rows, keys, chosen = session.rows[at[has_row]], keys.take(has_row), chosen[has_row]
    is_retyped = keys.handle_left_type != rows["handle_left_type"]
    is_retyped |= keys.handle_right_type != rows["handle_right_type"]
    is_retyped |= (chosen ^ rows["chosen"]) & CHOSEN_HANDLES != 0
    is_changed[has_row] |= is_retyped
    return is_changed


def with_numbers_beside(own_by_index: dict[int, OwnKeys]) -> dict[int, OwnKeys]:
    """If a rotation's keys have no identities, copy parameters from keys at the same frame in other channels."""
    result = dict(own_by_index)
    for index, own in own_by_index.items():
        is_new = own.identities == key_identity.NONE
        if not is_new.any():
            continue
        numbers = own.numbers.copy()
        # The first of the other channels takes precedence.
        for other_index in sorted(own_by_index.keys() - {index}, reverse=True):
            other = own_by_index[other_index]
            named = other.take(other.identities != key_identity.NONE)
            rows, named_rows = matching_rows(own.keys.frames, named.keys.frames)
            is_copied = is_new[rows]
            numbers[rows[is_copied]] = named.numbers[named_rows[is_copied]]
        result[index] = own.with_(numbers=numbers)
    return result
