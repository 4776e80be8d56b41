# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, as they are without a bake.

Own keys are recognized by their identities. Their frame and value are taken from the key itself. What a bake changed of
them (interpolation, handles) comes from their rows, unless the key is no longer as the bake wrote it: then the animator
changed it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..fcurves import scratch_curves
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import (
    BY_NUMBERS,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    MARKS,
    NO_KEYS,
    BoolArray,
    EnumArray,
    Float32Array,
    IndexArray,
    Joined,
    Keyframes,
    merged,
    read_joined,
    read_rest,
)
from .classify_edits import Changes, classify, values_without_bake
from .frame_functions import function_of
from .table import identity
from .table import rows as rows_
from .table.custom_property import OWN, Channel, Written
from .table.identity import Identities
from .table.rows import Rows
from .table.session import session
from .table.settings import Settings
from .table.stamps import is_generated, is_stamped, unstamped
from .tracks import Track

PUSHED = 0.01
"""Frames. Blender moves handles off their keys by 0.001 when it snaps these, or gives them the type ALIGNED."""
_HANDLE_MOVED = 1e-4
"""Relative. Moving a key rounds its handles' offsets; only a larger change is an edit of the handle."""
_BESIDE = 4
"""Keys on each side: pasted ones stand among others."""
_KEYS_AT_ONCE = 50_000
"""Keys read together; they take some megabytes."""
LEFT_PLACED, RIGHT_PLACED = 1, 2
_UNSEEN = 4
"""A bit beside those: both handles stood on the key when the animator aligned them, so Blender has to place them."""
_NO_FRAMES: Float32Array = np.empty(0, dtype=np.float32)
_AUTOMATIC = [HANDLE[name] for name in ("AUTO", "AUTO_CLAMPED", "VECTOR")]
"""Handle types that Blender places itself."""
_ALIGNED = HANDLE["ALIGNED"]
_STEPPED = bytes([INTERPOLATION["CONSTANT"]])


class Standing(NamedTuple):
    """Keys of one channel, as a slice of those of many."""

    every: Keyframes
    rows: slice

    @classmethod
    def joined(cls, every: Sequence[Standing]) -> Standing | None:
        """Join the keys of several channels where they are consecutive, as most are, which are read together."""
        first = every[0]
        end = first.rows.stop
        for each in every[1:]:
            if each.every is not first.every or each.rows.start != end or end is None:
                return None
            end = each.rows.stop
        return Standing(first.every, slice(first.rows.start, end))

    def attribute(self, name: str) -> npt.NDArray[Any]:
        """Return one of their attributes."""
        array: npt.NDArray[Any] = getattr(self.every, name)[self.rows]
        return array


@dataclass(frozen=True, eq=False)
class OwnKeys:
    """The animator's keys of one channel, without a bake.

    Attributes
    ----------
    keys : Keyframes
        In order of frame. Their `back`, `amplitude` and `period` contain their identities.
    identities : array, shape (n,)
        0 for a key that has none yet.
    numbers : array, shape (n, k)
        The parameters and velocities that were set, in the columns of `rows.ROW`; NaN where none was.
    rows : array, shape (n,)
        Their rows among all keys of the F-curve; -1 for a key that was merged into a generated one.
    chosen : array of uint8, shape (n,)
        What the animator changed after they became TCB keys: the bits `rows.CHOSEN_…`.
    placed : array of uint8, shape (n,)
        Which handles a bake has placed, by the bits above.
    edited : bool
        Keys were added, deleted or moved since their records were made: Blender must place automatic handles anew.
    """

    keys: Keyframes
    identities: Identities
    numbers: Float32Array
    rows: IndexArray
    chosen: EnumArray
    placed: EnumArray
    edited: bool = False
    unrecorded: Float32Array = field(default_factory=lambda: _NO_FRAMES)
    """Frames of keys that were made, or became the animator's, since the bake."""
    doubtful: Float32Array = field(default_factory=lambda: _NO_FRAMES)
    """Frames of generated keys that may not be the animator's, and of own keys put back that may have been deleted."""
    standing: Standing | None = None
    """The keys of the F-curve as they were read, where it has only own keys."""

    @property
    def parameters(self) -> Float32Array:
        """Return what was set of tension, continuity, bias and ease."""
        return self.numbers[:, : len(rows_.PARAMETERS)]

    @cached_property
    def ends_spline(self) -> BoolArray:
        """Return which keys begin a segment that Blender plays, not the spline, which ends on both sides of it.

        In such a segment values are constant, or follow the interpolation that the animator chose.
        """
        if not np.count_nonzero(self.chosen) and _STEPPED not in self.keys.interpolation.tobytes():
            # Of most channels: a tenth of the time.
            return np.zeros(len(self.chosen), dtype=np.bool_)
        ends: BoolArray = self.keys.stepped | ((self.chosen & rows_.CHOSEN_INTERPOLATION) != 0)
        return ends

    def named(self, keys: Keyframes, identities: Identities, numbers: Float32Array) -> OwnKeys:
        """Return the same keys with other identities and numbers, in a fifth of the time of `replace`."""
        own = object.__new__(OwnKeys)
        vars(own).update(vars(self), keys=keys, identities=identities, numbers=numbers)
        return own

    @property
    def is_ended(self) -> bool:
        """Return whether the last key has an interpolation that would end the spline, though no segment follows it."""
        last = self.chosen[-1:].tobytes()
        chosen = bool(last) and bool(last[0] & rows_.CHOSEN_INTERPOLATION)
        return chosen or self.keys.interpolation[-1:].tobytes() == _STEPPED

    def take(self, rows: BoolArray | IndexArray) -> OwnKeys:
        """Return the keys of those rows: indices, or a mask."""
        identities, numbers, places = self.identities[rows], self.numbers[rows], self.rows[rows]
        return OwnKeys(self.keys.take(rows), identities, numbers, places, self.chosen[rows], self.placed[rows], True)


NO_OWN_KEYS = OwnKeys(
    NO_KEYS,
    np.empty(0, np.uint32),
    np.empty((0, rows_.NUMBERS), np.float32),
    np.empty(0, np.intp),
    np.empty(0, np.uint8),
    np.empty(0, np.uint8),
)


def read_own_keys(track: Track) -> dict[int, OwnKeys]:
    """Read the animator's keys of each channel that has any."""
    return read_all_own_keys([track])[0]


def read_all_own_keys(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the animator's keys of several tracks together, which is faster than one after the other."""
    return [each for together in _in_parts(tracks) for each in _read(together)]


def read_keys_to_write(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the animator's keys of several tracks, in order to write or record them.

    Where keys with automatic handles were aligned on a sampled curve, Blender places the handles first, by a scratch
    curve: the recorded ones are those of before the keys around them were edited.
    """
    return [{index: _with_placed(own) for index, own in kept.items()} for kept in read_all_own_keys(tracks)]


def _with_placed(own: OwnKeys) -> OwnKeys:
    """Return the keys with the handles that Blender would have aligned."""
    unseen = (own.placed & _UNSEEN) != 0
    if not unseen.any():
        return own
    recorded = session.rows[session.rows.find(own.identities[unseen])]
    kinds = {name: getattr(own.keys, name).copy() for name in ("handle_left_type", "handle_right_type")}
    for name, before in kinds.items():
        before[unseen] = recorded[name]
    automatic = scratch_curves.with_handles(own.keys.with_(**kinds))
    handles = {
        name: np.where(unseen[:, np.newaxis], getattr(automatic, name), getattr(own.keys, name))
        for name in ("handle_left", "handle_right")
    }
    return replace(own, keys=own.keys.with_(**handles), placed=own.placed & np.uint8(LEFT_PLACED | RIGHT_PLACED))


def _in_parts(tracks: Sequence[Track]) -> Iterator[list[Track]]:
    """Split tracks into parts, so that the keys read together don't take much memory."""
    part: list[Track] = []
    keys = 0
    for track in tracks:
        part.append(track)
        keys += sum(len(fcurve.keyframe_points) for fcurve in track.channels.values())
        if keys > _KEYS_AT_ONCE:
            yield part
            part, keys = [], 0
    if part:
        yield part


def key_frames(track: Track) -> Float32Array:
    """Return the frames of the animator's keys, all channels together, ascending."""
    return union([own.keys.frames for own in read_own_keys(track).values()])


def _read(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    complete = _read_complete(tracks)
    others = iter(_read_others([track for number, track in enumerate(tracks) if number not in complete]))
    return [complete.get(number) or next(others) for number in range(len(tracks))]


def _read_complete(tracks: Sequence[Track]) -> dict[int, dict[int, OwnKeys]]:
    """Read the own keys of those tracks, by number, whose keys are exactly those that were written, in that order.

    Where there are generated keys, all keys must be where they were written. Then no edit needs to be classified, and
    all are read at once. A fast form of `_read_others`: tools/bench_fast_forms.py measures how much time it saves.
    """
    baked = [number for number, track in enumerate(tracks) if _is_written(track)]
    curves = [(tracks[number], index) for number in baked for index in tracks[number].channels]
    if not curves:
        return {}
    fcurves = [track.channels[index] for track, index in curves]
    channels = [channel for track, index in curves if (channel := _written(track, index)) is not None]
    marks = read_joined(fcurves, MARKS)
    identities, _ = _find_identities(curves, marks)
    track_of = np.repeat(baked, [len(tracks[number].channels) for number in baked])
    complete = ~np.isin(track_of, track_of[~_is_complete(channels, marks, identities)])
    if not complete.any():
        return {}
    mine = (identities != identity.NONE) & marks.spread(complete)
    own = read_rest(fcurves, marks, mine)
    places = np.flatnonzero(mine) - own.spread(marks.starts)
    kept = list(compress(channels, complete))
    own = Joined(own.keys, [len(channel.own) for channel in kept])
    result: dict[int, dict[int, OwnKeys]] = {}
    for number, (_, index), keys in zip(
        track_of[complete].tolist(), compress(curves, complete), _as_left(kept, own, places), strict=True
    ):
        result.setdefault(number, {})[index] = keys
    return result


def _is_written(track: Track) -> bool:
    """Return whether the last bake has written all channels of the track."""
    return bool(track.channels) and all(_written(track, index) is not None for index in track.channels)


def _is_complete(channels: Sequence[Channel], marks: Joined, identities: Identities) -> BoolArray:
    """Return which channels have exactly the keys that were written.

    Generated keys, and own keys among them, must be where they were written.
    """
    keys, known = marks.keys, identities != identity.NONE
    generated = ~known & is_generated(keys) & (keys.frames == keys.period) & (keys.values == keys.back)
    counts = zip(channels, marks.sums(known).tolist(), marks.sums(generated).tolist(), marks.counts, strict=True)
    as_many = np.array(
        [
            0 < own == len(channel.own) and made == len(channel.generated) == count - own
            for channel, own, made, count in counts
        ]
    )
    written = rows_.joined([channel.own for channel in compress(channels, as_many)], OWN)
    mine = known & marks.spread(as_many)
    among_generated = marks.spread(np.array([len(channel.generated) > 0 for channel in channels]))[mine]
    otherwise = np.zeros(len(keys), dtype=np.bool_)
    otherwise[mine] = among_generated & (keys.co[mine] != written["co"]).any(axis=1)
    otherwise[mine] |= identities[mine] != written["identity"]
    complete: BoolArray = as_many & (marks.sums(otherwise) == 0)
    return complete


def _as_left(channels: Sequence[Channel], own: Joined, places: IndexArray) -> list[OwnKeys]:
    """Return the own keys of channels that have exactly the keys that were written, as they are without the bake."""
    written = rows_.joined([channel.own for channel in channels], OWN)
    values = values_without_bake(own.keys.values, written)
    none = np.zeros(len(written), dtype=np.bool_)
    keys = Changes(~none, values, none, none).own(own.keys)
    identities = np.ascontiguousarray(written["identity"])
    rows = session.rows[session.rows.find(identities)]
    shifted = own.spread(own.sums(_is_shown_elsewhere(written)) > 0)
    before = keys
    keys, placed = _restored(keys, rows, written, shifted)
    chosen = _chosen(before, keys, rows, written)
    moved = (before.frames != written["co"][:, 0]) | (before.values != written["value"])
    changed = own.sums(_is_retyped(keys, rows) | moved) > 0
    edited = [channel.edited or otherwise for channel, otherwise in zip(channels, changed.tolist(), strict=True)]
    ends = accumulate(own.counts)
    standing = [
        None if len(channel.generated) else Standing(own.keys, slice(end - count, end))
        for channel, count, end in zip(channels, own.counts, ends, strict=True)
    ]
    arrays = map(own.of_channels, (identities, numbers_in(rows), places, chosen, placed))
    each = zip(Joined(keys, own.counts).channels, *arrays, edited, standing, strict=True)
    return [
        OwnKeys(kept, names, numbers, at, choices, by_bake, otherwise, standing=now)
        for kept, names, numbers, at, choices, by_bake, otherwise, now in each
    ]


def _read_others(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the own keys of tracks whose keys may have been edited."""
    curves = [(track, index) for track in tracks for index in track.channels]
    if not curves:
        return [{} for _ in tracks]
    joined = read_joined([track.channels[index] for track, index in curves])
    identities, stamped = _find_identities(curves, joined)
    chosen = _chosen_of(joined.keys, joined.keys, identities, None)
    arrays = (identities, numbers_of(identities), stamped, chosen)
    every = zip(joined.channels, *map(joined.of_channels, arrays), strict=True)
    parts = (_Part(*each) for each in every)
    return [_of_track(track, {index: next(parts) for index in track.channels}) for track in tracks]


def _find_identities(curves: Sequence[tuple[Track, int]], joined: Joined) -> tuple[Identities, BoolArray]:
    """Return the identities of the keys of channels, and which keys are stamped."""
    identities, stamped = identities_of(joined.keys), is_stamped(joined.keys)
    _find_by_codes(curves, joined, identities, stamped)
    return identities, stamped


class _Part(NamedTuple):
    """The keys of one channel, generated ones too, with their identities and parameters."""

    keys: Keyframes
    identities: Identities
    numbers: Float32Array
    stamped: BoolArray
    chosen: EnumArray
    """What the animator changed of the keys, where no bake has written them."""


def numbers_of(identities: Identities) -> Float32Array:
    """Read the numbers set for keys, shape (n, k); NaN where none was."""
    numbers = np.full((len(identities), rows_.NUMBERS), np.nan, dtype=np.float32)
    at = session.rows.find(identities)
    numbers[at >= 0] = numbers_in(session.rows[at[at >= 0]])
    return numbers


def numbers_in(rows: Rows) -> Float32Array:
    """Return the numbers set in rows, shape (n, k); NaN where none was."""
    given = (rows["given"][:, np.newaxis] >> np.arange(rows_.NUMBERS, dtype=np.uint32)) & np.uint32(1)
    numbers: Float32Array = np.where(given.astype(np.bool_), rows["numbers"], np.float32(np.nan))
    return numbers


def _of_track(track: Track, channels: Mapping[int, _Part]) -> dict[int, OwnKeys]:
    """Return the own keys of a track from all keys of its channels."""
    result: dict[int, OwnKeys] = {}
    changes: dict[int, Changes] = {}
    for index, part in channels.items():
        written = _written(track, index)
        if written is None and not np.count_nonzero(part.stamped):
            rows, placed = np.arange(len(part.keys)), np.zeros(len(part.keys), dtype=np.uint8)
            standing = Standing(part.keys, slice(None))
            result[index] = OwnKeys(
                part.keys, part.identities, part.numbers, rows, part.chosen, placed, standing=standing
            )
        else:
            changes[index] = classify(part.keys, part.identities, written)
    _promote_poses(track, channels, changes)
    for index, change in changes.items():
        result[index] = _of_channel(channels[index], change, _written(track, index))
    return {index: result[index] for index in channels if len(result[index].keys)}


def _written(track: Track, index: int) -> Channel | None:
    return track.state.channels.get(index) if track.state is not None else None


def _is_selected_alone(keys: Keyframes, own: BoolArray) -> BoolArray:
    """Return which keys are selected while the generated keys beside and near them are not.

    Otherwise many keys were selected together, or some were pasted among others.
    """
    selected = keys.select_control_point
    others = (selected & ~own).astype(np.intp)
    around = np.ones(2 * _BESIDE + 1, dtype=np.intp)
    about = np.convolve(np.append(others, 0), around)[_BESIDE : _BESIDE + len(others)]
    alone: BoolArray = selected & (about <= others)
    return alone


def _promote_poses(track: Track, channels: Mapping[int, _Part], changes: dict[int, Changes]) -> None:
    """Promote the generated keys that were keyed together with a promoted one of another channel.

    Of a rotation, which is keyed as one value, all channels at that frame are promoted; of other tracks those that
    keying has left selected.
    """
    promoted = union([channels[index].keys.frames[change.promoted] for index, change in changes.items()])
    if not len(promoted):
        return
    for index, change in changes.items():
        keys = channels[index].keys
        there = is_among(keys.frames, promoted) & ~change.is_own
        if not track.is_rotation:
            there &= _is_selected_alone(keys, change.is_own)
        changes[index] = replace(change, is_own=change.is_own | there)


def identities_of(keys: Keyframes) -> Identities:
    """Read the identities of keys; 0 for those that have none, or one whose row the session does not know."""
    spelled = np.where(is_stamped(keys), np.uint32(identity.NONE), identity.spelled(keys.amplitude, keys.period))
    known = session.rows.find(spelled) >= 0
    return np.where(known, spelled, np.uint32(identity.NONE))


def _find_by_codes(
    curves: Sequence[tuple[Track, int]], joined: Joined, identities: Identities, stamped: BoolArray
) -> None:
    """Find the identities of keys whose amplitude and period are used or were typed, by the code in `back`."""
    codes = identity.codes_of(joined.keys.back)
    enabled = np.repeat([track.state is not None for track, _ in curves], joined.counts)
    missing = enabled & (identities == identity.NONE) & identity.spells_code(codes) & ~stamped
    if not missing.any():
        return
    rows = session.rows
    for (track, index), start, count in zip(curves, joined.starts.tolist(), joined.counts, strict=True):
        keys = start + np.flatnonzero(missing[start : start + count])
        if not len(keys) or track.state is None:
            continue
        own = rows[(rows["track"] == track.state.identity) & (rows["index"] == index)]
        own = own[np.argsort(own["identity"])]
        own_codes = identity.codes(own["identity"])
        for key in keys.tolist():
            like = own[own_codes == codes[key]]
            if len(like):
                # The session remembers rows of other files, too: of several rows with one code take the one most like
                # the key.
                alike = np.isin(like["interpolation"], BY_NUMBERS).astype(np.intp)
                alike += (like["co"] == joined.keys.co[key]).all(axis=1)
                for name in ("amplitude", "period", "type"):
                    alike += like[name] == getattr(joined.keys, name)[key]
                identities[key] = like["identity"][np.argmax(alike)]


def _of_channel(part: _Part, changes: Changes, written: Channel | None) -> OwnKeys:
    own = changes.own(part.keys)
    rows = np.flatnonzero(changes.is_own)
    identities, numbers = part.identities[rows], part.numbers[rows]
    fresh = own.frames[identities == identity.NONE]
    edited = written is None or written.edited or not _stand_as_written(own, identities, written.own)
    keys, placed = _without_bake(own, identities, written)
    at = session.rows.find(identities)
    edited = edited or bool(_is_retyped(keys.take(at >= 0), session.rows[at[at >= 0]]).any())
    chosen = _chosen_of(own, keys, identities, written)
    result = OwnKeys(keys, identities, numbers, rows, chosen, placed, edited, fresh, changes.doubtful)
    return _with_returned(result, changes, part.keys)


def _is_retyped(keys: Keyframes, rows: Rows) -> BoolArray:
    """Return which keys have other handle types than their rows."""
    left = keys.handle_left_type != rows["handle_left_type"]
    retyped: BoolArray = left | (keys.handle_right_type != rows["handle_right_type"])
    return retyped


def _is_shown_elsewhere(written: Written) -> BoolArray:
    """Return which keys have another value on the baked curve than their own."""
    elsewhere: BoolArray = np.abs(written["co"][:, 1] - written["value"]) > 0.0
    return elsewhere


def _is_negated(written: Written) -> BoolArray:
    """Return which keys of a quaternion are negated on the curve, which handles play so, values and handles both."""
    shown, own = written["co"][:, 1], written["value"]
    negated: BoolArray = (shown == -own) & (np.signbit(shown) != np.signbit(own))
    return negated


def _stand_as_written(own: Keyframes, identities: Identities, written: Written) -> bool:
    """Return whether the keys are those that were written, with the frames and values that were written."""
    if identities.tobytes() != written["identity"].tobytes():
        return False
    return bool((own.frames == written["co"][:, 0]).all() and (own.values == written["value"]).all())


def _with_returned(own: OwnKeys, changes: Changes, keys: Keyframes) -> OwnKeys:
    """Put back own keys that were merged into generated ones or replaced by them."""
    if not changes.returned.size:
        return own
    at = session.rows.find(changes.returned["identity"])
    recorded = _recorded(session.rows[at])
    move = changes.returned["co"] - recorded.co
    back = recorded.with_(
        co=changes.returned["co"],
        handle_left=recorded.handle_left + move,
        handle_right=recorded.handle_right + move,
        **{name: getattr(keys, name)[changes.swallowed_by] & (changes.swallowed_by >= 0) for name in FLAGS},
    )
    identities = np.concatenate((own.identities, changes.returned["identity"]))
    back = identity.with_identities(back, changes.returned["identity"])
    frames = np.concatenate((own.keys.frames, back.frames))
    order = np.argsort(frames, kind="stable")
    identities = identities[order]
    rows = np.concatenate((own.rows, np.full(len(back), -1, dtype=np.intp)))[order]
    chosen = np.concatenate((own.chosen, session.rows["chosen"][at]))[order]
    placed = np.concatenate((own.placed, np.full(len(back), LEFT_PLACED | RIGHT_PLACED, dtype=np.uint8)))[order]
    every = merged(own.keys, back)
    return OwnKeys(every, identities, numbers_of(identities), rows, chosen, placed, True, own.unrecorded, own.doubtful)


def _recorded(rows: Rows) -> Keyframes:
    """Make the keys that rows have recorded, none selected."""
    none = np.zeros(len(rows), dtype=np.bool_)
    arrays: dict[str, Any] = {name: np.ascontiguousarray(rows[name]) for name in rows_.RECORDED}
    flags: dict[str, Any] = dict.fromkeys(FLAGS, none)
    return Keyframes(**arrays, **flags)


def recorded_keys(written: Written) -> Keyframes:
    """Make the written keys as they are without the bake, from the table alone."""
    at = session.rows.find(written["identity"])
    recorded = _recorded(session.rows[at[at >= 0]])
    return identity.with_identities(recorded, np.ascontiguousarray(written["identity"][at >= 0]))


def _without_bake(own: Keyframes, identities: Identities, channel: Channel | None) -> tuple[Keyframes, EnumArray]:
    """Return keys without the bake, but with the animator's changes since; and which handles a bake has placed."""
    at = session.rows.find(identities)
    known = at >= 0
    result, placed = _as_made(own, ~known), np.zeros(len(own), dtype=np.uint8)
    if not known.any():
        return result, placed
    rows = session.rows[at[known]]
    written = _written_of(identities[known], channel)
    shifted = written is not None and bool(_is_shown_elsewhere(written).any())
    restored, placed[known] = _restored(own.take(known), rows, written, shifted)
    return (restored if known.all() else merged(result.take(~known), restored)), placed


def _as_made(own: Keyframes, fresh: BoolArray) -> Keyframes:
    """Make new keys among baked ones smooth, as Blender makes them; attributes set since stay."""
    if not fresh.any():
        return own
    inherited = fresh & (own.interpolation == INTERPOLATION["LINEAR"])
    automatic = np.uint8(HANDLE["AUTO_CLAMPED"])
    left = fresh & (own.handle_left_type == HANDLE["FREE"])
    right = fresh & (own.handle_right_type == HANDLE["FREE"])
    return unstamped(own).with_(
        interpolation=np.where(inherited, np.uint8(INTERPOLATION["BEZIER"]), own.interpolation),
        handle_left_type=np.where(left, automatic, own.handle_left_type),
        handle_right_type=np.where(right, automatic, own.handle_right_type),
    )


def _written_of(identities: Identities, channel: Channel | None) -> Written | None:
    """Return the keys as they were written, in the order of the identities; NaN frames for keys not of this channel."""
    if channel is None or not len(channel.own):
        return None
    written = channel.own
    order = np.argsort(written["identity"], kind="stable")
    place = np.minimum(np.searchsorted(written["identity"][order], identities), len(written) - 1)
    result = written[order[place]].copy()
    result["co"][result["identity"] != identities] = np.nan
    return result


def _restored(
    own: Keyframes, rows: Rows, written: Written | None, shifted: BoolArray | bool
) -> tuple[Keyframes, EnumArray]:
    """Restore from rows what the bake changed, keep what was changed since, and return which handles a bake placed.

    `shifted`: which keys are in channels where the bake shows other values than the keys' own.
    """
    here = np.zeros(len(own), dtype=np.bool_)
    interpolation, placed = rows["interpolation"], np.zeros(len(own), dtype=np.uint8)
    if written is not None:
        here = np.isfinite(written["co"][:, 0])
        changed = here & (own.interpolation != written["interpolation"])
        interpolation = np.where(changed, own.interpolation, interpolation)
        placed = np.where(here, written["placed"], placed)
    # Keys pasted from another channel: on a sampled curve, handles that are off their key are the animator's.
    stands = (own.handle_left == own.co).all(axis=1) & (own.handle_right == own.co).all(axis=1)
    placed[~here & (stands | (own.interpolation != INTERPOLATION["LINEAR"]))] = LEFT_PLACED | RIGHT_PLACED
    same, mirrored = (~here, here) if written is None else _same_and_mirrored(own, written, here)
    # A mirror in time has swapped the handles of each key.
    placed[mirrored] = _SWAPPED[placed[mirrored]]
    sides: dict[str, npt.NDArray[Any]] = {}
    pulled: dict[str, BoolArray] = {}
    for side, other, bit in _SIDES:
        kind = f"{side}_type"
        by_bake = (placed & bit).astype(np.bool_)
        kinds = rows[kind]
        now = getattr(own, side)
        if written is not None:
            retyped = here & (getattr(own, kind) != written[kind])
            offset, before = now - own.co, written[side] - written["co"]
            size = 1e-3 + np.abs(own.co) + np.abs(written["co"]) + np.abs(before)
            dragged = here & ~mirrored & (np.abs(offset - before) > _HANDLE_MOVED * size).any(axis=1)
            # A handle placed on its key can only be pulled off it; values of merged keys change without their handles.
            dragged &= np.where(before.any(axis=1), ~by_bake, np.abs(offset[:, 0]) > PUSHED)
            # Where the bake shows other values, handles were shifted and shifted back, which rounds them.
            by_bake |= here & ~dragged & shifted
            # Blender itself places handles of the types that the animator chose.
            dragged &= ~np.isin(written[kind], _AUTOMATIC)
            # Where the key moved too, its handles moved with it.
            dragged &= (own.frames == written["co"][:, 0]) & (own.values == written["value"])
            automatic = (rows[kind] != HANDLE["FREE"]) & (rows[kind] != HANDLE["ALIGNED"])
            kinds = np.where(dragged & automatic, np.uint8(HANDLE["FREE"]), kinds)
            kinds = np.where(retyped, getattr(own, kind), kinds)
            # Blender pushes handles off their key when it aligns them: where they stood on it they were never seen.
            on_key = (np.abs((before[:, 0], offset[:, 0])) <= PUSHED).all(axis=0) & (before[:, 1] == offset[:, 1])
            unseen = by_bake & retyped & on_key
            by_bake &= ~(dragged | retyped & ~unseen)
            placed[unseen & automatic & (kinds == _ALIGNED)] |= _UNSEEN
            pulled[side] = dragged
        if written is not None:
            now = np.where((here & _is_negated(written))[:, np.newaxis], own.co + (now - own.co) * _NEGATED, now)
        recorded = _recorded_handle(own, rows, (side, other), written, same, mirrored)
        handle = np.where(by_bake[:, np.newaxis], recorded, now)
        sides |= {side: handle, kind: kinds.astype(np.uint8)}
    for side, other, _ in _SIDES[::-1] if pulled else ():
        aligned = pulled[side] & (sides[f"{side}_type"] == _ALIGNED) & (sides[f"{other}_type"] == _ALIGNED)
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


def _opposite(co: Float32Array, handle: Float32Array, other: Float32Array) -> Float32Array:
    """Return the other handles of keys, aligned to the dragged ones as Blender does it: of the length that they had.

    On a baked curve both are free. Left to Blender, which of them turns would go by what is selected later.
    """
    towards, beyond = (co - handle).astype(np.float64), (other - co).astype(np.float64)
    length = np.hypot(*towards.T)[:, np.newaxis]
    turned = co + towards * np.hypot(*beyond.T)[:, np.newaxis] / np.where(length == 0.0, 1.0, length)
    result: Float32Array = np.where(length == 0.0, other, turned).astype(np.float32)
    return result


def _chosen_of(now: Keyframes, keys: Keyframes, identities: Identities, channel: Channel | None) -> EnumArray:
    """Return what the animator changed of keys, by comparing them `now` and without a bake with their rows."""
    chosen = np.zeros(len(keys), dtype=np.uint8)
    at = session.rows.find(identities)
    known = at >= 0
    present = now.take(known)
    written = _written_of(identities[known], channel)
    chosen[known] = _chosen(present, keys.take(known), session.rows[at[known]], written)
    return chosen


def _chosen(now: Keyframes, keys: Keyframes, rows: Rows, written: Written | None) -> EnumArray:
    """Return what the animator changed of keys that have rows, as bits `rows.CHOSEN_…`."""
    before = rows["chosen"]
    here = np.zeros(len(keys), dtype=np.bool_) if written is None else np.isfinite(written["co"][:, 0])
    changed = keys.interpolation != rows["interpolation"]
    if written is not None:
        changed |= here & (now.interpolation != written["interpolation"])
    other = keys.interpolation != INTERPOLATION["BEZIER"]
    chosen = np.where(other & (changed | ((before & rows_.CHOSEN_INTERPOLATION) != 0)), rows_.CHOSEN_INTERPOLATION, 0)
    for side, bit in (("handle_left_type", rows_.CHOSEN_LEFT), ("handle_right_type", rows_.CHOSEN_RIGHT)):
        ours = before & bit
        if written is not None:
            kinds = getattr(now, side)
            retyped = here & (kinds != written[side])
            ours = np.where(retyped, np.where(kinds != HANDLE["FREE"], bit, 0), ours)
        chosen |= ours
    return chosen.astype(np.uint8)


_SIDES = (("handle_left", "handle_right", LEFT_PLACED), ("handle_right", "handle_left", RIGHT_PLACED))
_SWAPPED = np.array([0, RIGHT_PLACED, LEFT_PLACED, LEFT_PLACED | RIGHT_PLACED], dtype=np.uint8)
"""Bits of placed handles, mapped to those with left and right swapped."""
_MIRROR = np.array([-1.0, 1.0], dtype=np.float32)
_NEGATED = np.array([1.0, -1.0], dtype=np.float32)


def _same_and_mirrored(own: Keyframes, written: Written, here: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which keys have both handles unchanged relative to the key, and which have them swapped by a mirror.

    Keys that were not written into this channel count as unchanged.
    """
    left, right = own.handle_left - own.co, own.handle_right - own.co
    before_left, before_right = written["handle_left"] - written["co"], written["handle_right"] - written["co"]
    # Moving a key rounds the offsets of its handles.
    room = 1e-3 * (1.0 + np.abs(before_left) + np.abs(before_right))

    def are(one: Float32Array, other: Float32Array) -> BoolArray:
        """Return which keys have handles with these offsets."""
        alike: BoolArray = ((np.abs(left - one) <= room) & (np.abs(right - other) <= room)).all(axis=1)
        return alike

    same = ~here | are(before_left, before_right)
    if same.all():
        return same, np.zeros_like(same)
    return same, ~same & are(before_right * _MIRROR, before_left * _MIRROR)


def _recorded_handle(
    own: Keyframes, rows: Rows, sides: tuple[str, str], written: Written | None, same: BoolArray, mirrored: BoolArray
) -> Float32Array:
    """Return the recorded position of a handle that the bake placed, moved along with its key.

    What happened to the placed handle is applied to the recorded one: it was moved, scaled with the other handle of its
    key, or swapped with it by a mirror. A placed handle that was dragged alone tells nothing.
    """
    side, other = sides
    offset = (rows[side] - rows["co"]).astype(np.float64)
    still = (own.co == rows["co"]).all(axis=1, keepdims=True)
    if written is not None and not same.all():
        ratio, ratio_beyond = (
            _ratio(getattr(own, each) - own.co, written[each] - written["co"]) for each in (side, other)
        )
        scaled = ~same & ~mirrored & (np.abs(ratio - ratio_beyond) <= 1e-3 * (1.0 + np.abs(ratio))).all(axis=1)
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


def digest(track: Track, settings: Settings, own: Mapping[int, OwnKeys]) -> int:
    """Return a number, never 0, that changes with the input of a bake.

    The input: own keys and their parameters, settings, frame functions and the rotation mode.
    """
    parts = [repr(shape_of(track, settings)).encode()]
    for index, channel in sorted(own.items()):
        if np.count_nonzero(channel.identities) < len(channel.identities):
            # No bake has written a key without a row.
            return NEVER
        arrays = (channel.identities, channel.keys.co, channel.ends_spline, channel.chosen)
        parts += [b"%d" % index, *(array.tobytes() for array in arrays)]
    function = function_of(track)
    if function is not None:
        parts.append(b"%d" % function.checksum)
    return max(zlib.crc32(b"".join(parts)), RESTORED + 1)


def shape_of(track: Track, settings: Settings) -> tuple[object, ...]:
    """Return the input of a bake apart from keys and timing."""
    shape: tuple[object, ...] = tuple(settings.codes())
    if track.is_rotation:
        still = [value for index, value in enumerate(track.rest) if index not in track.channels]
        shape += (track.order, *still)
    return shape


NEVER = 1
"""A digest that no bake has: the track is out of date."""
RESTORED = 2
"""The digest of a restored track: Live skips it until it is baked by hand, or Live is switched on again."""
