# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that are selected in the animation editors, track by track, and the parameters of many keys at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
import numpy.typing as npt

from ...words import rpt_
from ..bake.splines import options_of
from ..datablocks import users_of
from ..faults import Refusal
from ..fcurves.channels import HAS_SLOTS, Channels, channels_of
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    Keyframes,
    merged,
    places,
    read,
    read_amplitudes,
    types,
    write,
)
from ..store.companions import field_of, make, saved_count, take_names, track_and_field, velocity_of
from ..store.parameters import check_parameter, read_parameters, read_velocities, velocity_size
from ..store.reading import read_originals
from ..store.stamps import GENERATED, SAME_FRAME
from ..store.tracks import Track, default_settings, find_tracks
from .enabling import check_editable, enable_track, find_track, writable

_SELECTION = ("select_control_point", "select_left_handle", "select_right_handle")

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrackKeys:
    """Some of the animator's keys of one track; their frames, ascending, have shape (n,)."""

    datablock: bpy.types.ID
    track: Track
    frames: FloatArray
    selected: BoolArray
    """Which of them are selected in the animation editors."""

    def __len__(self) -> int:
        return len(self.frames)

    def take(self, rows: BoolArray) -> TrackKeys:
        return TrackKeys(self.datablock, self.track, self.frames[rows], self.selected[rows])

    def parameters(self, defaults: Mapping[str, float]) -> dict[str, Numbers]:
        """Of each parameter one number a key, `defaults` where a key has none of its own. Raises Refusal."""
        return read_parameters(self.track, self.frames, defaults)

    def velocities(self) -> Numbers:
        """A row a key, a number a component; of rotations the three of an angular velocity. 0 where a key has none."""
        return read_velocities(self.track, self.frames, range(velocity_size(self.track)))


def goes_by_velocities(track: Track) -> bool:
    """Whether the track's method takes velocities of its keys; not where its choices can't be read."""
    try:
        return "velocities" in options_of(track, track.settings)
    except Refusal:
        return False


def keys_of(datablock: bpy.types.ID, track: Track) -> TrackKeys:
    """All of the animator's keys of the track."""
    return _keys(datablock, track, list(track.channels))


def key_at(datablock: bpy.types.ID, track: Track, frame: float) -> TrackKeys:
    """The one key at `frame`. Raises Refusal where there is none."""
    keys = keys_of(datablock, track)
    found = keys.take(np.abs(keys.frames - frame) <= SAME_FRAME)
    if not len(found):
        raise track.refusal(rpt_("no key at this frame"), frame)
    return found


def _keys(datablock: bpy.types.ID, track: Track, visible: Collection[int]) -> TrackKeys:
    """All keys; selected are those that are so on a visible channel."""
    own = _as_baked(track)
    if own is None:
        own = {
            index: (original.keys.frames, original.keys.select_control_point)
            for index, original in read_originals(track).items()
        }
    frames = union([channel for channel, _ in own.values()])
    chosen = [channel[selected] for index, (channel, selected) in own.items() if index in visible]
    return TrackKeys(datablock, track, frames, is_among(frames, union(chosen)))


def _as_baked(track: Track) -> dict[int, tuple[FloatArray, BoolArray]] | None:
    """Of each channel the frames of the animator's keys, and which are selected, in a third of the time; None where
    something of the track was edited since its bake."""
    result = {}
    for index, fcurve in track.channels.items():
        co, ours = places(fcurve).reshape(-1, 2), types(fcurve) == KEY_TYPE["GENERATED"]
        if (read_amplitudes(fcurve) == GENERATED).tobytes() != ours.tobytes() or not _stand(fcurve, co, ours):
            return None
        frames = co[~ours, 0]
        if index in track.saved and saved_count(track.saved[index]) != len(frames):
            return None
        result[index] = frames, _selected(fcurve)[~ours]
    return result


def _stand(fcurve: bpy.types.FCurve, co: FloatArray, ours: BoolArray) -> bool:
    """Whether each generated key stands exactly where its stamp says."""
    if not ours.any():
        return True
    stamps = np.empty((2, len(co)), dtype=np.float32)
    for name, numbers in zip(("period", "back"), stamps, strict=True):
        fcurve.keyframe_points.foreach_get(name, numbers)
    return np.array_equal(stamps.T[ours], co[ours])


def selected_keys(visible: Iterable[bpy.types.FCurve]) -> list[TrackKeys]:
    """The selected keys of the animator's, of the F-curves that an editor shows; none of a track are left out.

    A key whose parameter is selected is selected itself: its row in the Dope Sheet stands for it.
    """
    result = []
    for keys in keys_among(visible, only_selected=True):
        if keys.selected.any():
            result.append(keys.take(keys.selected))
    return result


def keys_among(visible: Iterable[bpy.types.FCurve], only_selected: bool = False) -> Iterator[TrackKeys]:
    """All of the animator's keys of each track of which an editor shows an F-curve, where `only_selected` says so one
    with something selected."""
    actions: dict[int, bpy.types.Action] = {}
    pointers: dict[int, set[int]] = {}
    for fcurve in visible:
        action = fcurve.id_data
        if isinstance(action, bpy.types.Action) and (not only_selected or _selected(fcurve).any()):
            actions[action.as_pointer()] = action
            pointers.setdefault(action.as_pointer(), set()).add(fcurve.as_pointer())
    for pointer, action in actions.items():
        for datablock, channels in _users(action):
            yield from _keys_on(datablock, channels, pointers[pointer])


def _keys_on(datablock: bpy.types.ID, channels: Channels, pointers: set[int]) -> Iterator[TrackKeys]:
    wanted = {_track_path(fcurve.data_path) for fcurve in channels if fcurve.as_pointer() in pointers}
    if not wanted:
        return
    among = [fcurve for fcurve in channels if _track_path(fcurve.data_path) in wanted]
    for track in find_tracks(datablock, among):
        shown = [index for index, fcurve in track.channels.items() if fcurve.as_pointer() in pointers]
        keys = _keys(datablock, track, shown)
        for companion in track.parameters.values():
            if companion.as_pointer() in pointers:
                at = read(companion)
                keys.selected[:] |= is_among(keys.frames, np.sort(at.frames[at.select_control_point]))
        yield keys


def _track_path(data_path: str) -> str:
    """The path of the track that an F-curve belongs to, be it a channel or a companion."""
    companion = track_and_field(data_path) if "tcb_tracks" in data_path else None
    return data_path if companion is None else companion[0]


def _users(action: bpy.types.Action) -> Iterator[tuple[bpy.types.ID, Channels]]:
    """One datablock that the action animates for each of its slots, with the F-curves there."""
    # Slots know their users, and this is asked on every redraw.
    users = [user for slot in action.slots for user in slot.users()] if HAS_SLOTS else users_of(action)
    seen = set()
    for user in users:
        try:
            channels = channels_of(user)
        except Refusal:
            continue
        if channels.action == action and channels.identity not in seen:
            seen.add(channels.identity)
            yield user, channels


def any_selected(visible: Iterable[bpy.types.FCurve]) -> bool:
    """Whether a key of these is selected, be it the animator's or a generated one: a quick look."""
    return any(_selected(fcurve).any() for fcurve in visible)


def _selected(fcurve: bpy.types.FCurve) -> BoolArray:
    flags = np.empty(len(fcurve.keyframe_points), dtype=np.bool_)
    fcurve.keyframe_points.foreach_get("select_control_point", flags)
    return flags


def set_parameters(
    keys: TrackKeys, given: Mapping[str, Numbers | float], defaults: Mapping[str, float] | None = None
) -> None:
    """Set parameters of the keys: of each name one number for all of them, or one a key.

    The track is made TCB where it isn't. Where `defaults` are given, those of keys that have no parameters of their
    own, a 0 is not written where it is the default anyway. Raises Refusal where the track can't be changed or a number
    is out of its range; then nothing is changed.
    """
    numbers = {name: np.broadcast_to(np.asarray(value, dtype=np.float64), len(keys)) for name, value in given.items()}
    if not len(keys):
        return
    for name, values in numbers.items():
        check_parameter(keys.track, name, values, keys.frames)
    channels, track = writable(keys.datablock, keys.track)
    if not track.enabled:
        enable_track(keys.datablock, channels, track, default_settings(track))
    for name, values in numbers.items():
        companion = track.parameters.get(name)
        own = _own(companion, keys.frames)
        needed = defaults is None or defaults.get(name, 0.0) != 0.0
        rows = np.flatnonzero(own | (values != 0.0) | needed)
        if not len(rows):
            continue
        if companion is None:
            companion = track.parameters[name] = make(channels, track.path, *field_of(name), track.group)
        _put(companion, _constant(keys.frames[rows], values[rows], keys.selected[rows]))
    channels.action.update_tag()


def key_set(
    datablock: bpy.types.ID,
    track: str,
    frame: float,
    *,
    velocity: float | Sequence[float] | None = None,
    **parameters: float,
) -> None:
    """Set parameters (tension, continuity, bias, ease_to, ease_from) of the key of `track` at `frame`.

    `velocity`, a frame, is for methods that go by it: a number, or one for each component; of a rotation its angular
    velocity x, y, z in the parent's frame, radians. The track is made TCB where it isn't. Raises Refusal where there is
    no such track or key, or a number is out of range; then nothing is changed.
    """
    check_editable(datablock)
    keys = key_at(datablock, find_track(datablock, track), frame)
    given = dict(parameters) if velocity is None else {**parameters, **velocity_given(keys.track, velocity, frame)}
    set_parameters(keys, given)


def velocity_given(track: Track, velocity: float | Sequence[float], frame: float) -> dict[str, float]:
    """A velocity as parameters. Raises Refusal where it has not as many numbers as the track."""
    size = velocity_size(track)
    try:
        numbers = np.atleast_1d(np.asarray(velocity, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise track.refusal(rpt_("a velocity is numbers, not {!r}", velocity), frame) from error
    if numbers.shape != (size,):
        raise track.refusal(rpt_("a velocity has {:d} numbers here, not {:d}", size, numbers.size), frame)
    return {velocity_of(component): number for component, number in enumerate(numbers.tolist())}


def reset(keys: TrackKeys) -> None:
    """Let the keys have no parameters of their own. Raises Refusal where the track can't be changed."""
    channels, track = writable(keys.datablock, keys.track)
    for name, companion in list(track.parameters.items()):
        held = read(companion)
        rest = held.take(~is_among(held.frames, keys.frames))
        if not len(rest):
            channels.remove(track.parameters.pop(name))
        elif len(rest) < len(held):
            write(companion, rest)
            companion.update()
    channels.action.update_tag()


def _own(companion: bpy.types.FCurve | None, frames: FloatArray) -> BoolArray:
    """Which of the keys have a parameter of their own there."""
    held = np.empty(0, dtype=np.float32) if companion is None else np.sort(read(companion).frames)
    return is_among(frames, held)


def _constant(frames: FloatArray, values: Numbers, selected: BoolArray) -> Keyframes:
    """A parameter's keys: each holds until the next one."""
    n = len(frames)
    co = np.stack((frames, values.astype(np.float32)), axis=1)

    def same(value: int) -> npt.NDArray[np.uint8]:
        return np.full(n, value, dtype=np.uint8)

    return Keyframes(
        co=co,
        handle_left=co,
        handle_right=co,
        handle_left_type=same(HANDLE["AUTO_CLAMPED"]),
        handle_right_type=same(HANDLE["AUTO_CLAMPED"]),
        interpolation=same(INTERPOLATION["CONSTANT"]),
        easing=same(0),
        type=same(KEY_TYPE["KEYFRAME"]),
        back=np.full(n, DEFAULT_BACK, dtype=np.float32),
        amplitude=np.full(n, DEFAULT_AMPLITUDE, dtype=np.float32),
        period=np.full(n, DEFAULT_PERIOD, dtype=np.float32),
        select_control_point=selected,
        select_left_handle=selected,
        select_right_handle=selected,
    )


def _put(companion: bpy.types.FCurve, keys: Keyframes) -> None:
    """Put the keys among those of the companion, in place of those at their frames."""
    held = read(companion)
    write(companion, merged(held.take(~is_among(held.frames, keys.frames)), keys))
    companion.update()


def deselect(fcurves: Iterable[bpy.types.FCurve]) -> None:
    for fcurve in fcurves:
        none = np.zeros(len(fcurve.keyframe_points), dtype=np.bool_)
        for name in _SELECTION:
            fcurve.keyframe_points.foreach_set(name, none)


def select(keys: TrackKeys) -> None:
    """Select the keys, with all that moves along with them."""
    for fcurve in (*keys.track.channels.values(), *keys.track.companions):
        held = read(fcurve)
        there = is_among(held.frames, keys.frames)
        for name in _SELECTION:
            fcurve.keyframe_points.foreach_set(name, getattr(held, name) | there)


@dataclass(frozen=True)
class Kept:
    """The parameters of keys of a track, or one of these, as they were, to the last bit."""

    keys: TrackKeys
    enabled: bool
    companions: dict[str, Keyframes]
    name: str | None

    @classmethod
    def of(cls, keys: TrackKeys, name: str | None = None) -> Kept:
        """All parameters, or the one of that name."""
        track = keys.track
        every = {own: read(companion) for own, companion in track.parameters.items() if name in {None, own}}
        held = {own: there.take(is_among(there.frames, keys.frames)) for own, there in every.items()}
        return cls(keys, track.enabled, held, name)

    def put_back(self, channels: Channels, track: Track) -> None:
        """Make the keys, of the track as it was found again, what they were, and the track too if it was not TCB."""
        for name in [name for name in track.parameters if self.name in {None, name}]:
            now = read(track.parameters[name])
            after = now.take(~is_among(now.frames, self.keys.frames))
            if name in self.companions:
                after = merged(after, self.companions[name])
            if len(after):
                write(track.parameters[name], after)
            else:
                channels.remove(track.parameters.pop(name))
        if track.settings_curve is not None and not self.enabled and not track.parameters:
            channels.remove(track.settings_curve)
            take_names(self.keys.datablock, track.path)


def put_back(kept: Iterable[Kept]) -> None:
    """Give tracks the parameters that they had."""
    by_datablock: dict[bpy.types.ID, dict[str, Kept]] = {}
    for each in kept:
        by_datablock.setdefault(each.keys.datablock, {})[each.keys.track.path] = each
    for datablock, tracks in by_datablock.items():
        channels = channels_of(datablock)
        for track in find_tracks(datablock, channels):
            if track.path in tracks:
                tracks[track.path].put_back(channels, track)
        channels.action.update_tag()
