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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...interp.keys import HIGHEST, LOWEST
from ..errors import Finding
from ..fcurves.frames import is_among, rows_at, union
from ..fcurves.keyframes import (
    BY_NUMBERS,
    INTERPOLATION,
    NO_KEYS,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Joined,
    Keyframes,
    KeyframesSlice,
    are_consecutive,
    end_to_end,
)
from ..records import record
from .own_curves import own_channels, read_own_curves
from .restored_keys import chosen_of, own_values, without_handles, written_of
from .table import key_identity
from .table import rows as rows_
from .table.custom_property import COUPLED, NEGATED, OWN, Channel, Written
from .table.key_identity import Identities
from .table.rows import Columns, Fields
from .table.session import session
from .tracks import Track

_KEYS_AT_ONCE = 50_000
"""Maximum number of keys to read together, which take a few megabytes."""
_SHAPE = np.dtype([("frame", "<f4"), ("ends", "?"), ("parameters", "<f4", (len(rows_.PARAMETERS),))])
_CONTENT = np.dtype([("identity", "<u4"), ("co", "<f4", (2,)), ("ends", "?"), ("chosen", "u1")])


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
        content = np.empty(len(self.identities), dtype=_CONTENT)
        content["identity"], content["co"] = self.identities, self.keys.co
        content["ends"], content["chosen"] = self.ends_spline, self.chosen
        return content

    @cached_property
    def shape(self) -> npt.NDArray[np.void]:
        shape = np.empty(len(self.identities), dtype=_SHAPE)
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


_FIELDS = tuple(each.name for each in fields(OwnArrays))
_ARRAYS = ("identities", "numbers", "rows", "chosen", "placed")


def own_end_to_end(channels: Sequence[OwnKeys]) -> OwnKeys:
    """Concatenate the animator's keys of several channels. Consecutive slices of the same arrays are not copied."""
    every, spans = channels[0].every, [own.span for own in channels]
    if all(own.every is every for own in channels) and are_consecutive(spans):
        return OwnKeys(every, slice(spans[0].start, spans[-1].stop))
    arrays: dict[str, Any] = {name: np.concatenate([getattr(own, name) for own in channels]) for name in _ARRAYS}
    read = [as_read for own in channels if (as_read := own.as_read) is not None]
    arrays["as_read"] = end_to_end(read) if len(read) == len(channels) else None
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
    return [each for together in _in_parts(tracks) for each in _read(together)]


def errors_of_numbers(tracks: Sequence[Track], every: Sequence[Mapping[int, OwnKeys]]) -> list[Finding | None]:
    """Return the result of `error_of_numbers` for each track, computed together."""
    joined = own_end_to_end([own for each in every for own in each.values()]).keys if any(every) else NO_KEYS
    if all(np.isfinite(places).all() for places in (joined.co, joined.handle_left, joined.handle_right)):
        return [None] * len(tracks)
    return list(map(error_of_numbers, tracks, every))


def error_of_numbers(track: Track, own: Mapping[int, OwnKeys]) -> Finding | None:
    """Return a finding that names the first key whose frame, value or handle is not finite, or None."""
    for each in own.values():
        keys = each.keys
        if not np.isfinite(keys.frames).all():
            return track.finding("FRAME_NOT_FINITE")
        sides = (keys.handle_left, keys.handle_right)
        for places, code in ((keys.co, "VALUE_NOT_FINITE"), *((side, "HANDLE_NOT_FINITE") for side in sides)):
            finite = np.isfinite(places).all(axis=1)
            if not finite.all():
                return track.finding(code, frame=float(keys.frames[np.argmin(finite)]))
    return None


def _in_parts(tracks: Sequence[Track]) -> Iterator[list[Track]]:
    """Split the tracks into groups, to limit the memory for keys that are read together."""
    part: list[Track] = []
    keys = 0
    for track in tracks:
        part.append(track)
        bake = track.bake
        curves = track.channels if bake is None else track.channels.keys() - bake.channels.keys()
        keys += sum(len(track.channels[index].keyframe_points) for index in curves)
        keys += sum(len(channel.keys) for channel in bake.channels.values()) if bake is not None else 0
        if keys > _KEYS_AT_ONCE:
            yield part
            part, keys = [], 0
    if part:
        yield part


def key_frames(track: Track) -> Float32Array:
    """Return the frames of the animator's keys in all of the track's channels, in ascending order."""
    return union([own.keys.frames for own in read_own_keys(track).values()])


def _with_values(keys: Keyframes, values: Float32Array) -> Keyframes:
    """Return the keys with other values, and with handles moved by the same amount."""
    shift = values - keys.values
    if not shift.any():
        return keys
    co, left, right = keys.co.copy(), keys.handle_left.copy(), keys.handle_right.copy()
    co[:, 1] = values
    # Adding 0 would change -0.0 to 0.0.
    along = shift != 0.0
    left[along, 1] += shift[along]
    right[along, 1] += shift[along]
    return keys.with_(co=co, handle_left=left, handle_right=right)


def _read(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    curves = [(track, index) for track in tracks for index in own_channels(track)]
    if not curves:
        return [{} for _ in tracks]
    joined = read_own_curves(curves)
    identities = identities_of(joined.keys)
    _find_by_codes(curves, joined, identities)
    at = session.rows.find(identities)
    records = [track.state.channels.get(index) if track.state is not None else None for track, index in curves]
    every = _without_handles(curves, joined, identities, at, records)
    named = joined.of_channels(identities)
    changed = every.changed.tolist()
    parts: list[OwnKeys] = []
    for channel, now, span, otherwise in zip(records, named, joined.spans, changed, strict=True):
        before = None if channel is None or channel.edited or otherwise else channel.own["identity"].tobytes()
        parts.append(OwnKeys(every.own, span, channel is not None and now.tobytes() != before))
    found = iter(parts)
    result = []
    for track in tracks:
        own = {index: next(found) for index in own_channels(track)}
        own = {index: keys for index, keys in own.items() if len(keys.identities)}
        result.append(with_numbers_beside(own) if track.is_rotation and track.state is not None else own)
    return result


class _Without(NamedTuple):
    """The animator's keys in several channels, concatenated, as they would be without TCB."""

    own: OwnArrays
    changed: BoolArray
    """Mask of the channels in which keys were moved, or handle types changed, since their handles were placed."""


def _without_torn(curves: Sequence[tuple[Track, int]], joined: Joined, written: Written) -> Written:
    """Return the records. Equivalent values remain only at frames where every channel of a rotation has one.

    If the key in one channel was replaced, moved or deleted, the curves have the orientation that the animator wants.
    """
    coupled = (written["placed"] & COUPLED) != 0
    if not np.count_nonzero(coupled):
        return written
    torn = np.zeros(len(written), dtype=np.bool_)
    spans: dict[int, list[slice]] = {}
    for (track, _), span in zip(curves, joined.spans, strict=True):
        spans.setdefault(id(track), []).append(span)
    for channels in spans.values():
        frames = [joined.keys.frames[span][coupled[span]] for span in channels]
        for span in channels:
            whole = [is_among(joined.keys.frames[span], np.sort(each)) for each in frames]
            torn[span] = coupled[span] & ~np.logical_and.reduce(whole)
    if not torn.any():
        return written
    written = written.copy()
    written["placed"][torn] &= ~(NEGATED | COUPLED)
    written["value"][torn] = written["co"][torn, 1]
    return written


def _without_handles(
    curves: Sequence[tuple[Track, int]],
    joined: Joined,
    identities: Identities,
    at: IndexArray,
    records: Sequence[Channel | None],
) -> _Without:
    """Return the animator's keys without placed handles. `at` contains the indices of the keys' rows."""
    rows = np.arange(len(identities)) - joined.spread(joined.starts)
    if all(channel is None for channel in records):
        placed = np.zeros(len(identities), dtype=np.uint8)
        chosen = chosen_of(joined.keys, joined.keys, at, None)
        own = OwnArrays(joined.keys, identities, numbers_of(at), rows, chosen, placed, as_read=joined.keys)
        return _Without(own, np.zeros(len(records), dtype=np.bool_))
    named = joined.of_channels(identities)
    written = rows_.joined([written_of(each, channel) for each, channel in zip(named, records, strict=True)], OWN)
    written = _without_torn(curves, joined, written)
    columns = Columns(written)
    here = np.isfinite(columns["co"][:, 0])
    values = joined.keys.values.copy()
    values[here] = own_values(values, columns)[here]
    shown = _with_values(joined.keys, values)
    are_played = joined.spread(np.array([channel is not None for channel in records]))
    keys, placed = without_handles(joined.keys, shown, at, written, are_played)
    chosen = chosen_of(shown, keys, at, written)
    _choose_interpolation(joined, keys.interpolation, chosen, (at < 0) & are_played)
    linear = (at < 0) & are_played & (keys.interpolation == INTERPOLATION["LINEAR"])
    linear &= chosen & rows_.CHOSEN_INTERPOLATION == 0
    if linear.any():
        keys = keys.with_(interpolation=np.where(linear, np.uint8(INTERPOLATION["BEZIER"]), keys.interpolation))
    own = OwnArrays(keys, identities, numbers_of(at), rows, chosen, placed, as_read=joined.keys)
    return _Without(own, joined.sums(_is_changed(shown, keys, at, written, chosen)) > 0)


def numbers_of(at: IndexArray) -> Float32Array:
    """Return the parameters and velocities of keys with the session rows `at`, shape (n, k), with NaN if not set."""
    numbers = np.full((len(at), rows_.NUMBERS), np.nan, dtype=np.float32)
    known = at >= 0
    if known.any():
        numbers[known] = numbers_in(session.rows[at[known]])
    for rows, shown, _ in session.substitutes.values():
        places = np.minimum(np.searchsorted(rows, at), len(rows) - 1)
        are_shown = rows[places] == at
        numbers[are_shown] = shown[places[are_shown]]
    return numbers


def numbers_in(rows: Fields) -> Float32Array:
    """Return the parameters and velocities in the rows, shape (n, k), with NaN if not set."""
    given = np.unpackbits(rows["given"].astype(np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    numbers: Float32Array = np.where(given.view(np.bool_), rows["numbers"], np.float32(np.nan))
    return numbers


def with_numbers_beside(every: dict[int, OwnKeys]) -> dict[int, OwnKeys]:
    """If a rotation's keys have no identities, copy parameters from keys at the same frame in other channels."""
    result = dict(every)
    for index, own in every.items():
        fresh = own.identities == key_identity.NONE
        if not fresh.any():
            continue
        numbers = own.numbers.copy()
        for other in reversed([every[each] for each in sorted(every) if each != index]):
            known = other.take(other.identities != key_identity.NONE)
            rows, places = rows_at(known.keys.frames, own.keys.frames)
            beside = fresh[rows]
            numbers[rows[beside]] = known.numbers[places[beside]]
        result[index] = own.with_(numbers=numbers)
    return result


def identities_of(keys: Keyframes) -> Identities:
    """Read the identities of the keys.

    The identity is 0 if a key has no identity, or if the session does not know the row.
    """
    if key_identity.are_plain(keys.amplitude):
        return np.zeros(len(keys), dtype=np.uint32)
    spelled = key_identity.spelled(keys.amplitude, keys.period)
    known = session.rows.find(spelled) >= 0
    return np.where(known, spelled, np.uint32(key_identity.NONE))


def _find_by_codes(curves: Sequence[tuple[Track, int]], joined: Joined, identities: Identities) -> None:
    """For keys whose amplitude and period are used or were edited, add identities found by the code in `back`."""
    if all(track.state is None for track, _ in curves):
        return
    codes = key_identity.codes_of(joined.keys.back)
    enabled = np.repeat([track.state is not None for track, _ in curves], joined.counts)
    missing = enabled & (identities == key_identity.NONE) & key_identity.spells_code(codes)
    if not missing.any():
        return
    rows = session.rows
    for (track, index), start, count in zip(curves, joined.starts.tolist(), joined.counts, strict=True):
        keys = start + np.flatnonzero(missing[start : start + count])
        if not len(keys) or track.state is None:
            continue
        own = rows[(rows["track"] == track.state.identity) & (rows["index"] == index)]
        own = own[np.argsort(own["identity"])]
        own_codes = key_identity.codes(own["identity"])
        for key in keys.tolist():
            like = own[own_codes == codes[key]]
            if len(like):
                # The session also remembers rows of other files. If several rows have the same code, choose the most
                # similar row.
                alike = np.isin(like["interpolation"], BY_NUMBERS).astype(np.intp)
                alike += (like["co"] == joined.keys.co[key]).all(axis=1)
                for name in ("amplitude", "period", "type"):
                    alike += like[name] == getattr(joined.keys, name)[key]
                identities[key] = like["identity"][np.argmax(alike)]


def _choose_interpolation(own: Joined, interpolation: EnumArray, chosen: EnumArray, new: BoolArray) -> None:
    """Mark in `chosen` the new keys with an interpolation other than Bezier that was set by the animator.

    A new key in Blender inherits the interpolation of the previous key, or of the next key if the new key is the first.
    If the other key is marked, the new key is marked too. A channel's only key is not marked if it is linear, because
    the preferences can make new keys linear.
    """
    rows = np.flatnonzero(new & (interpolation != INTERPOLATION["BEZIER"]))
    if not len(rows):
        return
    # New keys before all other keys inherit from the next key, so they are processed from last to first.
    known, end = np.concatenate(([0], np.cumsum(~new))), own.spread(own.starts + own.counts)
    leads = known[1:] == own.spread(known[own.starts])
    for row in [*rows[leads[rows]][::-1].tolist(), *rows[~leads[rows]].tolist()]:
        beside = row + 1 if leads[row] else row - 1
        if beside == end[row]:
            is_chosen = interpolation[row] != INTERPOLATION["LINEAR"]
        elif own.keys.interpolation[beside] == interpolation[row]:
            is_chosen = bool(chosen[beside] & rows_.CHOSEN_INTERPOLATION)
        else:
            is_chosen = True
        chosen[row] |= rows_.CHOSEN_INTERPOLATION * is_chosen


def _is_changed(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written, chosen: EnumArray) -> BoolArray:
    """Return a mask of the keys that moved after they were written, or whose handle types differ from the rows."""
    changed: BoolArray = (now.frames != written["co"][:, 0]) | (now.values != written["value"])
    known = at >= 0
    changed[known] |= _is_retyped(keys.take(known), Columns(session.rows[at[known]]), chosen[known])
    return changed


def _is_retyped(keys: Keyframes, rows: Fields, chosen: EnumArray) -> BoolArray:
    """Return a mask of the keys whose handle types differ from the rows, or are newly chosen."""
    left = keys.handle_left_type != rows["handle_left_type"]
    newly = (chosen ^ rows["chosen"]) & rows_.CHOSEN_HANDLES != 0
    retyped: BoolArray = left | (keys.handle_right_type != rows["handle_right_type"]) | newly
    return retyped
