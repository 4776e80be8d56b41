# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys on a track, as they would be without TCB.

The keys are on the animator's curves, that is, on the track's F-curves or, for a baked track, among the saved keys.
Frames and values are read from the keys. `restored_keys.py` recovers the handles as they were before a bake placed
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...interp.keys import HIGHEST, LOWEST
from ..fcurves.frames import is_among, matching_rows, union
from ..fcurves.joined_keys import Joined, KeyframesSlice, are_consecutive, end_to_end
from ..fcurves.keyframes import (
    HANDLE,
    INTERPOLATION,
    NO_KEYS,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Keyframes,
)
from ..records import record
from .equivalent_values import own_values
from .own_curves import own_channels, read_own_curves
from .restored_keys import without_handles, written_of
from .rows_of_keys import find_by_codes, identities_of, numbers_of
from .table import key_identity
from .table import rows as rows_
from .table.key_identity import Identities
from .table.rows import CHOSEN_INTERPOLATION, CHOSEN_LEFT, CHOSEN_RIGHT, Columns, Fields
from .table.session import session
from .table.track_records import COUPLED, NEGATED, OWN, Channel, Written
from .tracks import Track


def chosen_of(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written | None) -> EnumArray:
    """Return the flags of changes by the animator, or 0 for keys without rows.

    The changes are found by comparing the keys, both `now` and without TCB, with their rows. `at` contains the indices
    of the session rows, or -1. `written` contains the keys returned by `written_of`, or is None if no handles were
    placed.
    """
    chosen = np.zeros(len(keys), dtype=np.uint8)
    has_row = at >= 0
    if not has_row.any():
        return chosen
    now, keys, rows = now.take(has_row), keys.take(has_row), Columns(session.rows[at[has_row]])
    records = Columns(written[has_row]) if written is not None else None
    flags = _chosen_interpolation(now, keys, rows, records)
    flags |= _chosen_handle(now, "handle_left_type", CHOSEN_LEFT, rows, records)
    flags |= _chosen_handle(now, "handle_right_type", CHOSEN_RIGHT, rows, records)
    chosen[has_row] = flags
    return chosen


def _chosen_interpolation(now: Keyframes, keys: Keyframes, rows: Fields, written: Fields | None) -> EnumArray:
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


def _chosen_handle(now: Keyframes, kind: str, flag: int, rows: Fields, written: Fields | None) -> EnumArray:
    """Return the flag for keys whose handle type the animator chose, or else 0. FREE handles are not chosen."""
    chosen: EnumArray = rows["chosen"] & np.uint8(flag)
    if written is None:
        return chosen
    types = getattr(now, kind)
    is_retyped = _has_record(written) & (types != written[kind])
    return np.where(is_retyped, np.where(types != HANDLE["FREE"], np.uint8(flag), np.uint8(0)), chosen)


def _has_record(written: Fields) -> BoolArray:
    """Return a mask of the keys that were written into this channel."""
    has_record: BoolArray = np.isfinite(written["co"][:, 0])
    return has_record


def choose_new_interpolation(own: Joined, interpolation: EnumArray, chosen: EnumArray, is_new: BoolArray) -> None:
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


_KEYS_AT_ONCE = 50_000
"""Maximum number of keys to read together, which take a few megabytes."""
_SPLINE_INPUT = np.dtype([("frame", "<f4"), ("ends", "?"), ("parameters", "<f4", (len(rows_.PARAMETERS),))])
_BAKE_INPUT = np.dtype([("identity", "<u4"), ("co", "<f4", (2,)), ("ends", "?"), ("chosen", "u1")])


@record(eq=False)
class OwnArrays:
    """The animator's keys in one or more channels, concatenated, as they would be without TCB.

    Derived data are computed for all channels together, because a NumPy call takes as long for ten keys as for a
    thousand.

    Attributes
    ----------
    keys : Keyframes
        The keys, ordered by frame within a channel. `back`, `amplitude` and `period` contain the identities.
    identities : array, shape (n,)
        Identities of the keys, or 0 for keys without identities.
    numbers : array, shape (n, k)
        Parameters and velocities, in the columns of `rows.ROW`, with NaN if not set.
    rows : array, shape (n,)
        Rows of the keys on the animator's curve.
    chosen : array of uint8, shape (n,)
        Flags `rows.CHOSEN_…` for changes that the animator made after the keys became TCB.
    placed : array of uint8, shape (n,)
        Flags, from the table and `restored_keys.py`, of placed handles and of keys with equivalent values on the curve.
    as_read : Keyframes or None
        The same keys, as read from the animator's curves. Attributes that are rarely edited may be from the last update
        by Live.
    """

    keys: Keyframes
    identities: Identities
    numbers: Float32Array
    rows: IndexArray
    chosen: EnumArray
    placed: EnumArray
    as_read: Keyframes | None = None

    @cached_property
    def frames(self) -> Float32Array:
        return np.ascontiguousarray(self.keys.frames)

    @cached_property
    def values(self) -> Float64Array:
        return np.array(self.keys.values, dtype=np.float64)

    @cached_property
    def filled(self) -> Float64Array:
        parameters = self.numbers[:, : len(rows_.PARAMETERS)].T.astype(np.float64)
        parameters[np.isnan(parameters)] = 0.0
        return parameters

    @cached_property
    def are_in_range(self) -> bool:
        """Return whether all parameters are within their ranges."""
        return bool(((self.filled >= LOWEST) & (self.filled <= HIGHEST)).all())

    @cached_property
    def has_chosen(self) -> bool:
        return bool(np.count_nonzero(self.chosen))

    @cached_property
    def bound(self) -> float:
        """Return the largest absolute value, or NaN if a value is NaN."""
        return float(np.abs(self.keys.values).max(initial=0.0))

    @cached_property
    def are_named(self) -> bool:
        return bool(np.count_nonzero(self.identities) == len(self.identities))

    @cached_property
    def ends_spline(self) -> BoolArray:
        ends: BoolArray = self.keys.stepped | ((self.chosen & rows_.CHOSEN_INTERPOLATION) != 0)
        return ends

    @cached_property
    def content(self) -> npt.NDArray[np.void]:
        content = np.empty(len(self.identities), dtype=_BAKE_INPUT)
        content["identity"], content["co"] = self.identities, self.keys.co
        content["ends"], content["chosen"] = self.ends_spline, self.chosen
        return content

    @cached_property
    def shape(self) -> npt.NDArray[np.void]:
        shape = np.empty(len(self.identities), dtype=_SPLINE_INPUT)
        shape["frame"], shape["ends"] = self.keys.frames, self.ends_spline
        shape["parameters"] = self.numbers[:, : len(rows_.PARAMETERS)]
        return shape


@record(eq=False)
class OwnKeys:
    """The animator's keys in one channel, as they would be without TCB: the rows `span` of `every`.

    `edited` means that keys were added, deleted or moved since they were recorded, so Blender must update automatic
    handles.
    """

    every: OwnArrays
    span: slice
    edited: bool = False

    @classmethod
    def of(cls, every: OwnArrays, edited: bool = False) -> OwnKeys:
        """Return all keys in the arrays."""
        return cls(every, slice(0, len(every.identities)), edited)

    @property
    def count(self) -> int:
        return int(self.span.stop - self.span.start)

    @cached_property
    def keys(self) -> Keyframes:
        return KeyframesSlice(self.every.keys, self.span)

    @property
    def as_read(self) -> Keyframes | None:
        return None if self.every.as_read is None else KeyframesSlice(self.every.as_read, self.span)

    @property
    def identities(self) -> Identities:
        return self.every.identities[self.span]

    @property
    def numbers(self) -> Float32Array:
        return self.every.numbers[self.span]

    @property
    def rows(self) -> IndexArray:
        return self.every.rows[self.span]

    @property
    def chosen(self) -> EnumArray:
        return self.every.chosen[self.span]

    @property
    def placed(self) -> EnumArray:
        return self.every.placed[self.span]

    @property
    def frames(self) -> Float32Array:
        """Return the frames of the keys as a contiguous array."""
        return self.every.frames[self.span]

    @property
    def timing(self) -> bytes:
        """Return the frames as bytes, which are equal for channels with keys at the same frames."""
        return self.frames.tobytes()

    @property
    def values(self) -> Float64Array:
        """Return the values of the keys as a contiguous array."""
        return self.every.values[self.span]

    @property
    def filled(self) -> Float64Array:
        """Return tension, continuity, bias, ease to and ease from, or 0 if not set, shape (5, n)."""
        return self.every.filled[:, self.span]

    @property
    def has_chosen(self) -> bool:
        """Return whether the animator changed any of the keys after they became TCB."""
        return self.every.has_chosen and bool(np.count_nonzero(self.chosen))

    @property
    def are_named(self) -> bool:
        """Return whether all keys have identities."""
        return self.every.are_named or bool(np.count_nonzero(self.identities) == self.count)

    @property
    def ends_spline(self) -> BoolArray:
        """Return a mask of the keys at which the spline is interrupted by a segment that Blender plays.

        Values in such a segment are constant, or follow the interpolation chosen by the animator.
        """
        return self.every.ends_spline[self.span]

    @property
    def ends(self) -> bytes:
        """Return `ends_spline` as bytes."""
        return self.ends_spline.tobytes()

    @property
    def content(self) -> bytes:
        """Return, as bytes, identities, frames, values and other key data that affect a bake."""
        return self.every.content[self.span].tobytes()

    @property
    def shape(self) -> bytes:
        """Return frames, spline ends and parameters as bytes, equal for splines that differ only in values."""
        return self.every.shape[self.span].tobytes()

    def with_(self, **arrays: Any) -> OwnKeys:
        """Return a copy with the given arrays replaced."""
        others = {name: getattr(self, name) for name in _FIELDS if name not in arrays}
        return OwnKeys.of(OwnArrays(**others, **arrays), self.edited)

    def take(self, rows: BoolArray | IndexArray) -> OwnKeys:
        """Return the keys selected by indices or by a mask."""
        arrays = [getattr(self, name)[rows] for name in _ARRAYS]
        return OwnKeys.of(OwnArrays(self.keys.take(rows), *arrays), edited=True)


_FIELDS = tuple(field.name for field in fields(OwnArrays))
_ARRAYS = ("identities", "numbers", "rows", "chosen", "placed")


def own_end_to_end(channels: Sequence[OwnKeys]) -> OwnKeys:
    """Concatenate the animator's keys of several channels. Consecutive slices of the same arrays are not copied."""
    every, spans = channels[0].every, [own.span for own in channels]
    if all(own.every is every for own in channels) and are_consecutive(spans):
        return OwnKeys(every, slice(spans[0].start, spans[-1].stop))
    arrays: dict[str, Any] = {name: np.concatenate([getattr(own, name) for own in channels]) for name in _ARRAYS}
    as_read = [keys for own in channels if (keys := own.as_read) is not None]
    arrays["as_read"] = end_to_end(as_read) if len(as_read) == len(channels) else None
    return OwnKeys.of(OwnArrays(end_to_end([own.keys for own in channels]), **arrays))


NO_OWN_KEYS = OwnKeys.of(
    OwnArrays(
        NO_KEYS,
        np.empty(0, np.uint32),
        np.empty((0, rows_.NUMBERS), np.float32),
        np.empty(0, np.intp),
        np.empty(0, np.uint8),
        np.empty(0, np.uint8),
    )
)


def read_own_keys(track: Track) -> dict[int, OwnKeys]:
    """Read the animator's keys of each channel that has keys."""
    return read_all_own_keys([track])[0]


def read_all_own_keys(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the animator's keys on several tracks together, which is faster than reading one track at a time."""
    return [own for group in _groups(tracks) for own in _read_together(group)]


def _groups(tracks: Sequence[Track]) -> Iterator[list[Track]]:
    """Split the tracks into groups, to limit the memory for keys that are read together."""
    group: list[Track] = []
    key_count = 0
    for track in tracks:
        group.append(track)
        baked = track.bake.channels if track.bake is not None else {}
        key_count += sum(len(track.channels[index].keyframe_points) for index in track.channels.keys() - baked.keys())
        key_count += sum(len(channel.keys) for channel in baked.values())
        if key_count > _KEYS_AT_ONCE:
            yield group
            group, key_count = [], 0
    if group:
        yield group


def _read_together(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    curves = [(track, index) for track in tracks for index in own_channels(track)]
    if not curves:
        return [{} for _ in tracks]
    joined = read_own_curves(curves)
    identities = identities_of(joined.keys)
    find_by_codes(curves, joined, identities)
    at = session.rows.find(identities)
    records = [track.state.channels.get(index) if track.state is not None else None for track, index in curves]
    if any(record is not None for record in records):
        arrays, is_changed = _without_handles(curves, joined, identities, at, records)
    else:
        arrays, is_changed = _as_read(joined, identities, at), [False] * len(curves)
    channels = iter(_edited_channels(arrays, joined, records, is_changed))
    result = []
    for track in tracks:
        own_by_index = {index: next(channels) for index in own_channels(track)}
        own = {index: keys for index, keys in own_by_index.items() if keys.count}
        result.append(with_numbers_beside(own) if track.is_rotation and track.state is not None else own)
    return result


def _edited_channels(
    arrays: OwnArrays, joined: Joined, records: Sequence[Channel | None], is_changed: Sequence[bool]
) -> Iterator[OwnKeys]:
    """Yield the keys of each channel, and whether keys were added, deleted or moved since they were recorded."""
    for span, channel, changed in zip(joined.spans, records, is_changed, strict=True):
        edited = False
        if channel is not None:
            identities = arrays.identities[span].tobytes()
            edited = channel.edited or changed or identities != channel.own["identity"].tobytes()
        yield OwnKeys(arrays, span, edited)


def _as_read(joined: Joined, identities: Identities, at: IndexArray) -> OwnArrays:
    """Return the keys of channels without placed handles. `at` contains the indices of the keys' rows."""
    placed = np.zeros(len(identities), dtype=np.uint8)
    chosen = chosen_of(joined.keys, joined.keys, at, None)
    rows = _rows_in_channels(joined)
    return OwnArrays(joined.keys, identities, numbers_of(at), rows, chosen, placed, as_read=joined.keys)


def _rows_in_channels(joined: Joined) -> IndexArray:
    """Return the row of each key in its channel."""
    rows: IndexArray = np.arange(len(joined.keys)) - joined.spread(joined.starts)
    return rows


def _without_handles(
    curves: Sequence[tuple[Track, int]],
    joined: Joined,
    identities: Identities,
    at: IndexArray,
    records: Sequence[Channel | None],
) -> tuple[OwnArrays, list[bool]]:
    """Return the animator's keys without placed handles. `at` contains the indices of the keys' rows.

    Also return, for each channel, whether keys were moved, or handle types changed, since the handles were placed.
    """
    identities_by_channel = joined.of_channels(identities)
    written = rows_.joined(list(map(written_of, identities_by_channel, records)), OWN)
    written = _without_torn(curves, joined, written)
    shown = _with_own_values(joined.keys, Columns(written))
    are_played = joined.spread(np.array([record is not None for record in records]))
    is_new = (at < 0) & are_played
    keys, placed = without_handles(joined.keys, shown, at, written, are_played)
    chosen = chosen_of(shown, keys, at, written)
    choose_new_interpolation(joined, keys.interpolation, chosen, is_new)
    # Other new linear keys are part of the spline.
    is_linear = is_new & (keys.interpolation == INTERPOLATION["LINEAR"])
    becomes_bezier = is_linear & ((chosen & rows_.CHOSEN_INTERPOLATION) == 0)
    if becomes_bezier.any():
        bezier = np.uint8(INTERPOLATION["BEZIER"])
        keys = keys.with_(interpolation=np.where(becomes_bezier, bezier, keys.interpolation))
    rows = _rows_in_channels(joined)
    own = OwnArrays(keys, identities, numbers_of(at), rows, chosen, placed, as_read=joined.keys)
    changed_keys = joined.sums(_is_changed(shown, keys, at, written, chosen))
    return own, (changed_keys > 0).tolist()


def _without_torn(curves: Sequence[tuple[Track, int]], joined: Joined, written: Written) -> Written:
    """Return the records. Equivalent values remain only at frames where every channel of a rotation has one.

    If the key in one channel was replaced, moved or deleted, the curves have the orientation that the animator wants.
    """
    is_coupled = (written["placed"] & COUPLED) != 0
    if not is_coupled.any():
        return written
    frames = joined.keys.frames
    is_torn = np.zeros(len(written), dtype=np.bool_)
    spans_by_track: dict[int, list[slice]] = {}
    for (track, _), span in zip(curves, joined.spans, strict=True):
        spans_by_track.setdefault(id(track), []).append(span)
    for spans in spans_by_track.values():
        coupled_frames = [np.sort(frames[span][is_coupled[span]]) for span in spans]
        for span in spans:
            is_in_all = np.logical_and.reduce([is_among(frames[span], coupled) for coupled in coupled_frames])
            is_torn[span] = is_coupled[span] & ~is_in_all
    if not is_torn.any():
        return written
    written = written.copy()
    written["placed"][is_torn] &= ~(NEGATED | COUPLED)
    written["value"][is_torn] = written["co"][is_torn, 1]
    return written


def _with_own_values(keys: Keyframes, written: Columns) -> Keyframes:
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
    rows, keys, chosen = Columns(session.rows[at[has_row]]), keys.take(has_row), chosen[has_row]
    is_retyped = keys.handle_left_type != rows["handle_left_type"]
    is_retyped |= keys.handle_right_type != rows["handle_right_type"]
    is_retyped |= (chosen ^ rows["chosen"]) & rows_.CHOSEN_HANDLES != 0
    is_changed[has_row] |= is_retyped
    return is_changed


def key_frames(track: Track) -> Float32Array:
    """Return the frames of the animator's keys in all of the track's channels, in ascending order."""
    return union([own.keys.frames for own in read_own_keys(track).values()])


def count_key_frames(own_keys: Mapping[int, OwnKeys]) -> int:
    """Return the number of frames at which any channel has one of the animator's keys."""
    return len(union([own.keys.frames for own in own_keys.values()]))


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
