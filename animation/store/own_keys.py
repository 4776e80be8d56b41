# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys of a track, as they are without a bake.

Own keys are recognized by their identities, and by what edits did to them since (`classify_edits.py`). Their frame and
value are taken from the key itself; `restored_keys.py` gives what a bake has changed of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ...interp.keys import HIGHEST, LOWEST
from ..errors import FRAME_NOT_FINITE, VALUE_NOT_FINITE, AnimationError
from ..fcurves import scratch_curves
from ..fcurves.frames import is_among, rows_at, union
from ..fcurves.keyframes import (
    BY_NUMBERS,
    FLAGS,
    INTERPOLATION,
    MARKS,
    NO_KEYS,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Joined,
    Keyframes,
    Part,
    are_consecutive,
    both,
    either,
    end_to_end,
    merged,
    read_anew,
    read_joined,
    read_rest,
    rows_of_parts,
)
from ..records import record
from ..translation import n_, rpt_
from .classify_edits import Changes, classify
from .edits.shown_values import is_shown_elsewhere, values_without_bake
from .restored_keys import (
    LEFT_PLACED,
    RIGHT_PLACED,
    UNSEEN,
    chosen_in,
    chosen_of,
    keys_of_rows,
    restored_from,
    without_bake,
    written_of,
)
from .table import identity
from .table import rows as rows_
from .table.custom_property import OWN, Channel, Written
from .table.identity import Identities
from .table.rows import Columns, Fields
from .table.session import session
from .table.stamps import is_generated, is_stamped
from .tracks import Track

_BESIDE = 4
"""Keys on each side: pasted ones stand among others."""
_HANDLE = n_("a handle is not at finite numbers")
_KEYS_AT_ONCE = 50_000
"""Keys read together; they take some megabytes."""
_NO_FRAMES: Float32Array = np.empty(0, dtype=np.float32)
_SHAPE = np.dtype([("frame", "<f4"), ("ends", "?"), ("parameters", "<f4", (len(rows_.PARAMETERS),))])
_CONTENT = np.dtype([("identity", "<u4"), ("co", "<f4", (2,)), ("ends", "?"), ("chosen", "u1")])


@record(eq=False)
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
        Which handles a bake has placed, and which keys it plays negated, by the bits in the table and above.
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
    as_read: Keyframes | None = None
    """The same keys as the F-curve has them; what is seldom edited may be as Live left it."""
    are_alone: bool = False
    """The F-curve has only own keys, and they are in `as_read`; not told of channels end to end."""

    @property
    def count(self) -> int:
        """Return the number of keys."""
        return len(self.identities)

    @cached_property
    def timing(self) -> bytes:
        """Return the frames as bytes, which are equal where keys are at the same frames."""
        return self.frames.tobytes()

    @cached_property
    def frames(self) -> Float32Array:
        """Return the frames of the keys, contiguous."""
        return np.ascontiguousarray(self.keys.frames)

    @cached_property
    def values(self) -> Float64Array:
        """Return the values of the keys, contiguous."""
        return np.array(self.keys.values, dtype=np.float64)

    @cached_property
    def filled(self) -> Float64Array:
        """Return tension, continuity, bias and ease, 0 where none was set, shape (5, n)."""
        parameters = self.parameters.T.astype(np.float64)
        parameters[np.isnan(parameters)] = 0.0
        return parameters

    @cached_property
    def are_in_range(self) -> bool:
        """Return whether none of these is out of its range."""
        return bool(((self.filled >= LOWEST) & (self.filled <= HIGHEST)).all())

    @cached_property
    def parameters(self) -> Float32Array:
        """Return what was set of tension, continuity, bias and ease."""
        return self.numbers[:, : len(rows_.PARAMETERS)]

    @cached_property
    def has_chosen(self) -> bool:
        """Return whether the animator changed anything of them after they became TCB keys."""
        return bool(np.count_nonzero(self.chosen))

    @cached_property
    def has_unseen(self) -> bool:
        """Return whether Blender has to place handles of them."""
        return bool(np.count_nonzero(self.placed & UNSEEN))

    @cached_property
    def bound(self) -> float:
        """Return a number that no absolute value exceeds; NaN where one may not be a number."""
        return float(np.abs(self.keys.values).max(initial=0.0))

    @cached_property
    def are_named(self) -> bool:
        """Return whether each key has an identity."""
        return bool(np.count_nonzero(self.identities) == len(self.identities))

    @cached_property
    def content(self) -> bytes:
        """Return identities, frames, values and what else of the keys a bake goes by."""
        content = np.empty(self.count, dtype=_CONTENT)
        content["identity"], content["co"] = self.identities, self.keys.co
        content["ends"], content["chosen"] = self.ends_spline, self.chosen
        return content.tobytes()

    @cached_property
    def shape(self) -> bytes:
        """Return frames, what ends the spline, and parameters: equal where channels' splines differ by values alone."""
        shape = np.empty(self.count, dtype=_SHAPE)
        shape["frame"], shape["ends"], shape["parameters"] = self.keys.frames, self.ends_spline, self.parameters
        return shape.tobytes()

    @cached_property
    def ends(self) -> bytes:
        """Return what `ends_spline` returns as bytes."""
        return self.ends_spline.tobytes()

    @cached_property
    def ends_spline(self) -> BoolArray:
        """Return which keys begin a segment that Blender plays, not the spline, which ends on both sides of it.

        In such a segment values are constant, or follow the interpolation that the animator chose.
        """
        ends: BoolArray = self.keys.stepped | ((self.chosen & rows_.CHOSEN_INTERPOLATION) != 0)
        return ends

    def with_(self, **arrays: Any) -> OwnKeys:
        """Return the same keys with these arrays in place of their own."""
        others = {name: getattr(self, name) for name in _FIELDS if name not in arrays}
        return OwnKeys(**others, **arrays)

    def among(self, every: OwnKeys, span: slice) -> OwnKeys:
        """Return the same keys with the arrays that those rows of `every` have."""
        part = OwnPart(every, span, self.edited, self.are_alone)
        part.unrecorded, part.doubtful = self.unrecorded, self.doubtful  # type: ignore[misc]
        return part

    def take(self, rows: BoolArray | IndexArray) -> OwnKeys:
        """Return the keys of those rows: indices, or a mask."""
        identities, numbers, places = self.identities[rows], self.numbers[rows], self.rows[rows]
        return OwnKeys(self.keys.take(rows), identities, numbers, places, self.chosen[rows], self.placed[rows], True)


class OwnPart(OwnKeys):
    """The own keys of one channel among those of many; an array is cut out of theirs when it is first read.

    `every` has the keys of all channels, concatenated, and `span` are the rows of the channel.
    """

    every: OwnKeys
    span: slice

    def __init__(self, every: OwnKeys, span: slice, edited: bool, are_alone: bool) -> None:
        self.every, self.span, self.edited, self.are_alone = every, span, edited, are_alone  # type: ignore[misc]
        self.unrecorded = self.doubtful = _NO_FRAMES  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        if name not in _ARRAYS:
            raise AttributeError(name)
        array = getattr(self.every, name)[self.span]
        vars(self)[name] = array
        return array

    @cached_property
    def keys(self) -> Keyframes:
        """Return the keys, of which each attribute is cut out when it is first read, too."""
        return Part(self.every.keys, self.span)

    @property
    def as_read(self) -> Keyframes | None:
        """Return the keys as the F-curve has them."""
        every = self.every.as_read
        return None if every is None else Part(every, self.span)

    @property
    def count(self) -> int:
        """Return the number of keys."""
        return int(self.span.stop - self.span.start)

    @property
    def timing(self) -> bytes:
        """Return the frames as bytes, which are equal where keys are at the same frames."""
        return self.every.timing[_FRAME * self.span.start : _FRAME * self.span.stop]

    @property
    def frames(self) -> Float32Array:
        """Return the frames of the keys, contiguous."""
        return self.every.frames[self.span]

    @property
    def values(self) -> Float64Array:
        """Return the values of the keys, contiguous."""
        return self.every.values[self.span]

    @property
    def filled(self) -> Float64Array:
        """Return tension, continuity, bias and ease, 0 where none was set, shape (5, n)."""
        return self.every.filled[:, self.span]

    @property
    def are_in_range(self) -> bool:
        """Return whether no parameter of any channel is out of its range."""
        return self.every.are_in_range

    @cached_property
    def parameters(self) -> Float32Array:
        """Return what was set of tension, continuity, bias and ease."""
        return self.every.parameters[self.span]

    @property
    def has_chosen(self) -> bool:
        """Return whether the animator changed anything of them after they became TCB keys."""
        return self.every.has_chosen and bool(np.count_nonzero(self.chosen))

    @property
    def has_unseen(self) -> bool:
        """Return whether Blender has to place handles of them."""
        return self.every.has_unseen and bool(np.count_nonzero(self.placed & UNSEEN))

    @property
    def bound(self) -> float:
        """Return a number that no absolute value of any channel exceeds."""
        return self.every.bound

    @property
    def are_named(self) -> bool:
        """Return whether each key has an identity."""
        return self.every.are_named or bool(np.count_nonzero(self.identities) == len(self.identities))

    @property
    def content(self) -> bytes:
        """Return identities, frames, values and what else of the keys a bake goes by."""
        return self.every.content[_CONTENT.itemsize * self.span.start : _CONTENT.itemsize * self.span.stop]

    @property
    def shape(self) -> bytes:
        """Return frames, what ends the spline, and parameters."""
        return self.every.shape[_SHAPE.itemsize * self.span.start : _SHAPE.itemsize * self.span.stop]

    @property
    def ends(self) -> bytes:
        """Return what `ends_spline` returns as bytes."""
        return self.every.ends[self.span]

    @cached_property
    def ends_spline(self) -> BoolArray:
        """Return which keys begin a segment that Blender plays."""
        return self.every.ends_spline[self.span]


_FIELDS = tuple(each.name for each in fields(OwnKeys))
_ARRAYS = ("identities", "numbers", "rows", "chosen", "placed")
_FRAME = np.dtype(np.float32).itemsize


def own_end_to_end(channels: Sequence[OwnKeys]) -> OwnKeys:
    """Concatenate the own keys of channels; consecutive parts of the same keys are not copied."""
    every = channels[0].every if channels and isinstance(channels[0], OwnPart) else None
    spans = [own.span for own in channels if isinstance(own, OwnPart) and own.every is every]
    if every is not None and len(spans) == len(channels) and are_consecutive(spans):
        if spans[-1].stop - spans[0].start == len(every.identities):
            return every
        return OwnPart(every, slice(spans[0].start, spans[-1].stop), False, False)
    if every is not None and len(spans) == len(channels):
        keys, taken = end_to_end([Part(every.keys, span) for span in spans]), rows_of_parts(spans)
        arrays: list[Any] = [getattr(every, name)[taken] for name in _ARRAYS]
    else:
        keys = end_to_end([own.keys for own in channels])
        arrays = [np.concatenate([getattr(own, name) for own in channels]) for name in _ARRAYS]
    identities, numbers, rows, chosen, placed = arrays
    read = [each for own in channels if (each := own.as_read) is not None]
    as_read = end_to_end(read) if len(read) == len(channels) else None
    return OwnKeys(keys, identities, numbers, rows, chosen, placed, as_read=as_read)


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
    every = read_all_own_keys(tracks)
    for kept in every:
        kept |= {index: _with_placed(own) for index, own in kept.items() if own.has_unseen}
    return every


def error_of_numbers(track: Track, own: Mapping[int, OwnKeys]) -> AnimationError | None:
    """Return an error that names the first key with a frame, a value or a handle that is not finite; None: no key."""
    for each in own.values():
        keys = each.keys
        if not np.isfinite(keys.frames).all():
            return track.error(rpt_(FRAME_NOT_FINITE))
        for places, reason in ((keys.co, VALUE_NOT_FINITE), (keys.handle_left, _HANDLE), (keys.handle_right, _HANDLE)):
            finite = np.isfinite(places).all(axis=1)
            if not finite.all():
                return track.error(rpt_(reason), float(keys.frames[np.argmin(finite)]))
    return None


def unrecorded_note(kept: Iterable[OwnKeys]) -> str:
    """Return a note on the keys of a track's channels that no bake has recorded the handles of; empty without such."""
    unrecorded = [own.unrecorded for own in kept if len(own.unrecorded)]
    if not unrecorded:
        return ""
    frames = union(unrecorded)
    shown = ", ".join(f"{frame:g}" for frame in frames[:3])
    return rpt_("keys made since the last bake: their free handles become automatic, others stay: frame {:s}", shown)


def _with_placed(own: OwnKeys) -> OwnKeys:
    """Return the keys with the handles that Blender would have aligned."""
    unseen = (own.placed & UNSEEN) != 0
    recorded = session.rows[session.rows.find(own.identities[unseen])]
    kinds = {name: getattr(own.keys, name).copy() for name in ("handle_left_type", "handle_right_type")}
    for name, before in kinds.items():
        before[unseen] = recorded[name]
    automatic = scratch_curves.with_handles(own.keys.with_(**kinds))
    handles = {
        name: np.where(unseen[:, np.newaxis], getattr(automatic, name), getattr(own.keys, name))
        for name in ("handle_left", "handle_right")
    }
    return own.with_(keys=own.keys.with_(**handles), placed=own.placed & np.uint8(0xFF ^ UNSEEN))


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
    written_by = {number: channels for number, track in enumerate(tracks) if (channels := track.all_written)}
    baked = [*written_by]
    curves = [(tracks[number], index) for number in baked for index in tracks[number].channels]
    if not curves:
        return {}
    fcurves = [fcurve for number in baked for fcurve in tracks[number].channels.values()]
    channels = [channel for each in written_by.values() for channel in each]
    known = [before for number in baked if (before := tracks[number].remembered) is not None]
    marks = read_joined(fcurves, MARKS, known if len(known) == len(baked) else ())
    identities, _ = _find_identities(curves, marks)
    track_of = np.repeat(baked, [len(tracks[number].channels) for number in baked])
    as_many = _have_as_many(channels, marks, identities)
    written = _own_written(channels, as_many)
    others = {*track_of[~(as_many & _stand(channels, marks, identities, as_many, written))].tolist()}
    complete = np.array([number not in others for number in track_of.tolist()])
    if not complete.any():
        return {}
    is_remembered = not marks.names.isdisjoint(FLAGS)
    if is_remembered and others:
        # Edits of other kinds were made: nothing is taken for what it was.
        marks, is_remembered = read_joined(fcurves, MARKS), False
    mine = (identities != identity.NONE) & marks.spread(complete)
    own = read_rest(marks, mine)
    kept = list(compress(channels, complete))
    written = written if np.array_equal(complete, as_many) else _own_written(channels, complete)
    if is_remembered and _is_handle_moved(own.keys, written):
        # Whether it was dragged, the selection tells.
        own = read_anew(own, FLAGS)
    places = np.flatnonzero(mine) - own.spread(marks.starts)
    own = Joined(own.keys, [len(channel.own) for channel in kept])
    result: dict[int, dict[int, OwnKeys]] = {}
    for number, (_, index), keys in zip(
        track_of[complete].tolist(), compress(curves, complete), _as_left(kept, written, own, places), strict=True
    ):
        result.setdefault(number, {})[index] = keys
    return result


def _is_handle_moved(keys: Keyframes, written: Fields) -> bool:
    """Return whether a key that is where it was written has a handle that is elsewhere."""
    stands = both(keys.co == written["co"])
    moved = (keys.handle_left != written["handle_left"]) | (keys.handle_right != written["handle_right"])
    return bool((either(moved) & stands).any())


def _own_written(channels: Sequence[Channel], chosen: BoolArray) -> Columns:
    """Return the own keys of the chosen channels as they were written."""
    return Columns(rows_.joined([channel.own for channel in compress(channels, chosen)], OWN))


def _have_as_many(channels: Sequence[Channel], marks: Joined, identities: Identities) -> BoolArray:
    """Return which channels have as many own keys as were written, and no other but the generated ones."""
    keys, known = marks.keys, identities != identity.NONE
    generated = ~known & is_generated(keys) & (keys.frames == keys.period) & (keys.values == keys.back)
    own, made = marks.sums(known), marks.sums(generated)
    as_many: BoolArray = (own > 0) & (own == [len(channel.own) for channel in channels])
    as_many &= (made == [len(channel.generated) for channel in channels]) & (own + made == marks.counts)
    return as_many


def _stand(
    channels: Sequence[Channel], marks: Joined, identities: Identities, as_many: BoolArray, written: Columns
) -> BoolArray:
    """Return which of the channels that have `as_many` own keys as were written have the same, in the same order.

    Own keys among generated ones must be where they were written. `written`: the own keys of those channels, in order.
    """
    keys, mine = marks.keys, (identities != identity.NONE) & marks.spread(as_many)
    among_generated = marks.spread(np.array([len(channel.generated) > 0 for channel in channels]))[mine]
    otherwise = np.zeros(len(keys), dtype=np.bool_)
    otherwise[mine] = identities[mine] != written["identity"]
    if among_generated.any():
        otherwise[mine] |= among_generated & either(keys.co[mine] != written["co"])
    stand: BoolArray = marks.sums(otherwise) == 0
    return stand


def _as_left(channels: Sequence[Channel], written: Columns, own: Joined, places: IndexArray) -> list[OwnKeys]:
    """Return the own keys of channels that have exactly the keys that were `written`, as they are without the bake."""
    values = values_without_bake(own.keys.values, written)
    none = np.zeros(len(written), dtype=np.bool_)
    keys = Changes(~none, values, none, none).own(own.keys)
    identities = written["identity"]
    rows = Columns(session.rows[session.rows.find(identities)])
    shifted = own.spread(own.sums(is_shown_elsewhere(written)) > 0)
    before = keys
    keys, placed = restored_from(own.keys, keys, rows, written, shifted)
    chosen = chosen_in(before, keys, rows, written)
    moved = (before.frames != written["co"][:, 0]) | (before.values != written["value"])
    changed = own.sums(_is_retyped(keys, rows, chosen) | moved) > 0
    edited = [channel.edited or otherwise for channel, otherwise in zip(channels, changed.tolist(), strict=True)]
    every = OwnKeys(keys, identities, numbers_in(rows), places, chosen, placed, as_read=own.keys)
    return [
        OwnPart(every, span, otherwise, not len(channel.generated))
        for channel, span, otherwise in zip(channels, own.spans, edited, strict=True)
    ]


def _read_others(tracks: Sequence[Track]) -> list[dict[int, OwnKeys]]:
    """Read the own keys of tracks whose keys may have been edited."""
    curves = [(track, index) for track in tracks for index in track.channels]
    if not curves:
        return [{} for _ in tracks]
    joined = read_joined([track.channels[index] for track, index in curves])
    identities, stamped = _find_identities(curves, joined)
    at = session.rows.find(identities)
    chosen = chosen_of(joined.keys, joined.keys, at, None)
    rows = np.arange(len(identities)) - joined.spread(joined.starts)
    placed = np.zeros(len(identities), dtype=np.uint8)
    every = OwnKeys(joined.keys, identities, numbers_of(at), rows, chosen, placed, as_read=joined.keys)
    parts = (OwnPart(every, span, False, True) for span in joined.spans)
    have_stamps = iter((joined.sums(stamped) > 0).tolist())
    read = [{index: _Part(next(parts), next(have_stamps)) for index in track.channels} for track in tracks]
    changes = [_changes(track, channels) for track, channels in zip(tracks, read, strict=True)]
    edited = iter(
        _without_bakes(
            [
                (channels[index].every, change, _written(track, index))
                for track, channels, changed in zip(tracks, read, changes, strict=True)
                for index, change in changed.items()
            ]
        )
    )
    result = []
    for track, channels, changed in zip(tracks, read, changes, strict=True):
        own = {index: next(edited) if index in changed else part.every for index, part in channels.items()}
        own = {index: keys for index, keys in own.items() if len(keys.identities)}
        result.append(_with_numbers_beside(own) if track.is_rotation and track.state is not None else own)
    return result


def _find_identities(curves: Sequence[tuple[Track, int]], joined: Joined) -> tuple[Identities, BoolArray]:
    """Return the identities of the keys of channels, and which keys are stamped."""
    identities, stamped = identities_of(joined.keys), is_stamped(joined.keys)
    _find_by_codes(curves, joined, identities, stamped)
    return identities, stamped


class _Part(NamedTuple):
    """The keys of one channel, with their identities and parameters; which of them are own is not told yet."""

    every: OwnPart
    has_stamps: bool
    """True where some were generated by a bake."""


def numbers_of(at: IndexArray) -> Float32Array:
    """Read the numbers set for keys, shape (n, k), from the numbers of their rows in the session; NaN for none."""
    numbers = np.full((len(at), rows_.NUMBERS), np.nan, dtype=np.float32)
    known = at >= 0
    if known.any():
        numbers[known] = numbers_in(session.rows[at[known]])
    return numbers


def numbers_in(rows: Fields) -> Float32Array:
    """Return the numbers set in rows, shape (n, k); NaN where none was."""
    given = np.unpackbits(rows["given"].astype(np.uint8)[:, np.newaxis], axis=1, bitorder="little")
    numbers: Float32Array = np.where(given.view(np.bool_), rows["numbers"], np.float32(np.nan))
    return numbers


def _changes(track: Track, channels: Mapping[int, _Part]) -> dict[int, Changes]:
    """Classify the keys of those channels of a track that a bake has written, or that have generated keys."""
    changes: dict[int, Changes] = {}
    for index, part in channels.items():
        written = _written(track, index)
        if written is not None or part.has_stamps:
            changes[index] = classify(part.every.keys, part.every.identities, written)
    _promote_poses(track, channels, changes)
    return changes


def _with_numbers_beside(every: dict[int, OwnKeys]) -> dict[int, OwnKeys]:
    """Give a rotation's keys that have no identity yet the numbers of the keys beside them in its other channels."""
    result = dict(every)
    for index, own in every.items():
        fresh = own.identities == identity.NONE
        if not fresh.any():
            continue
        numbers = own.numbers.copy()
        for other in reversed([every[each] for each in sorted(every) if each != index]):
            known = other.take(other.identities != identity.NONE)
            rows, places = rows_at(known.keys.frames, own.keys.frames)
            beside = fresh[rows]
            numbers[rows[beside]] = known.numbers[places[beside]]
        result[index] = own.with_(numbers=numbers)
    return result


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
    promoted = union([channels[index].every.frames[change.promoted] for index, change in changes.items()])
    if not len(promoted):
        return
    for index, change in changes.items():
        keys = channels[index].every.keys
        there = is_among(keys.frames, promoted) & ~change.is_own
        if not track.is_rotation:
            there &= _is_selected_alone(keys, change.is_own)
        changes[index] = replace(change, is_own=change.is_own | there)


def identities_of(keys: Keyframes) -> Identities:
    """Read the identities of keys; 0 for those that have none, or one whose row the session does not know."""
    if identity.are_plain(keys.amplitude):
        return np.zeros(len(keys), dtype=np.uint32)
    spelled = np.where(is_stamped(keys), np.uint32(identity.NONE), identity.spelled(keys.amplitude, keys.period))
    known = session.rows.find(spelled) >= 0
    return np.where(known, spelled, np.uint32(identity.NONE))


def _find_by_codes(
    curves: Sequence[tuple[Track, int]], joined: Joined, identities: Identities, stamped: BoolArray
) -> None:
    """Find the identities of keys whose amplitude and period are used or were typed, by the code in `back`."""
    if all(track.state is None for track, _ in curves):
        return
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


def _without_bakes(channels: Sequence[tuple[OwnPart, Changes, Channel | None]]) -> list[OwnKeys]:
    """Return the own keys of channels without their bake; given are all keys, and the channels as they were written."""
    if not channels:
        return []
    parts, each_changes, before_edits = zip(*channels, strict=True)
    all_keys, changes = own_end_to_end(parts), Changes.joined(each_changes)
    every = Joined(all_keys.keys, [part.count for part in parts])
    own = Joined(changes.own(every.keys), every.sums(changes.is_own).tolist())
    identities, numbers = all_keys.identities[changes.is_own], all_keys.numbers[changes.is_own]
    named = own.of_channels(identities)
    written = rows_.joined([written_of(each, channel) for each, channel in zip(named, before_edits, strict=True)], OWN)
    shifted = own.spread(own.sums(is_shown_elsewhere(written)) > 0)
    at = session.rows.find(identities)
    read = every.keys if changes.is_own.all() else every.keys.take(changes.is_own)
    keys, placed = without_bake(read, own.keys, at, written, shifted)
    chosen = chosen_of(own.keys, keys, at, written)
    among_written = own.spread(np.array([channel is not None for channel in before_edits]))
    new = (at < 0) & among_written & ~changes.promoted[changes.is_own]
    _choose_interpolation(own, keys.interpolation, chosen, new)
    linear = (at < 0) & (keys.interpolation == INTERPOLATION["LINEAR"]) & (chosen & rows_.CHOSEN_INTERPOLATION == 0)
    if linear.any():
        keys = keys.with_(interpolation=np.where(linear, np.uint8(INTERPOLATION["BEZIER"]), keys.interpolation))
    rows = np.flatnonzero(changes.is_own) - own.spread(every.starts)
    together = OwnKeys(keys, identities, numbers, rows, chosen, placed)
    changed = own.sums(_is_changed(own.keys, keys, at, written, chosen)).tolist()
    result = []
    for (part, change, channel), now, span, otherwise in zip(channels, named, own.spans, changed, strict=True):
        before = None if channel is None or channel.edited or otherwise else channel.own["identity"].tobytes()
        kept = OwnPart(together, span, now.tobytes() != before, False)
        fresh = own.keys.frames[span][now == identity.NONE]
        kept.unrecorded, kept.doubtful = fresh, change.doubtful  # type: ignore[misc]
        result.append(_with_returned(kept, change, part.keys))
    return result


def _choose_interpolation(own: Joined, interpolation: EnumArray, chosen: EnumArray, new: BoolArray) -> None:
    """Mark in `chosen` the new keys of channels that have got another interpolation than Bezier from the animator.

    Blender gives a new key that of the key before it, or of the next one where it is the first: it is chosen where that
    one's is. Linear keys beside others are only so by the preferences.
    """
    rows = np.flatnonzero(new & (interpolation != INTERPOLATION["BEZIER"]))
    if not len(rows):
        return
    first, end = own.spread(own.starts), own.spread(own.starts + own.counts)
    for row in rows.tolist():
        beside = row - 1 if row > first[row] else row + 1
        if beside < end[row] and own.keys.interpolation[beside] == interpolation[row]:
            chosen[row] |= chosen[beside] & rows_.CHOSEN_INTERPOLATION
        elif interpolation[row] != INTERPOLATION["LINEAR"]:
            chosen[row] |= rows_.CHOSEN_INTERPOLATION


def _is_changed(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written, chosen: EnumArray) -> BoolArray:
    """Return which keys were moved since they were written, or have, without the bake, other handle types than rows."""
    changed: BoolArray = (now.frames != written["co"][:, 0]) | (now.values != written["value"])
    known = at >= 0
    changed[known] |= _is_retyped(keys.take(known), Columns(session.rows[at[known]]), chosen[known])
    return changed


def _is_retyped(keys: Keyframes, rows: Fields, chosen: EnumArray) -> BoolArray:
    """Return which keys have other handle types than their rows, or types that are newly chosen."""
    left = keys.handle_left_type != rows["handle_left_type"]
    newly = (chosen ^ rows["chosen"]) & rows_.CHOSEN_HANDLES != 0
    retyped: BoolArray = left | (keys.handle_right_type != rows["handle_right_type"]) | newly
    return retyped


def _with_returned(own: OwnKeys, changes: Changes, keys: Keyframes) -> OwnKeys:
    """Put back own keys that were merged into generated ones or replaced by them."""
    if not changes.returned.size:
        return own
    at = session.rows.find(changes.returned["identity"])
    recorded = keys_of_rows(session.rows[at])
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
    numbers = numbers_of(session.rows.find(identities))
    return OwnKeys(every, identities, numbers, rows, chosen, placed, True, own.unrecorded, own.doubtful)
