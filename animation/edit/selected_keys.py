# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys selected in the animation editors, track by track, and setting parameters of many keys at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..arguments import checked
from ..bake.plans.splines import setting_names
from ..datablocks import HAS_SLOTS, users_of
from ..errors import AnimationError
from ..fcurves.channels import Channels, channels_of, evaluate_anew
from ..fcurves.editable import check_editable
from ..fcurves.frames import SAME_FRAME, is_among, union
from ..fcurves.keyframes import FLAGS, INTERPOLATION, BoolArray, Float32Array, IndexArray, KeyBlock, read
from ..store.own_keys import OwnKeys, read_all_own_keys, read_keys_to_write, read_own_keys
from ..store.parameters import Numbers, check_parameter, read_parameters, read_velocities, velocity_size
from ..store.recording import Part, enable_tracks, recorded, remove_traces, write_identities
from ..store.table.custom_property import Channel, read_table, remove_table, update
from ..store.table.rows import (
    CHOSEN_INTERPOLATION,
    NO_ROWS,
    NUMBERS,
    PARAMETERS,
    VELOCITY,
    Rows,
    column_of,
    joined,
    velocity_of,
)
from ..store.tracks import Track, find_tracks, tracks_among
from ..translation import rpt_
from . import restore
from .choose import find_track, writable


@dataclass(frozen=True, eq=False)
class TrackKeys:
    """Some of the animator's keys of one track, as `track_keys` finds them and `relax` takes them.

    Examples
    --------
    >>> keys = animation.track_keys(ball, "location")
    >>> later = keys.take(keys.frames > 10)
    >>> len(later), later.frames.tolist()
    (2, [20.0, 40.0])
    """

    datablock: bpy.types.ID
    """The datablock with the track."""
    track: Track
    """The track, as `find_track` finds it."""
    frames: Float32Array
    """The frames of the keys, ascending, shape (n,)."""
    selected: BoolArray
    """Which of the keys are selected in the animation editors, shape (n,)."""
    own: Mapping[int, OwnKeys]
    """All own keys of the track's channels."""

    def __len__(self) -> int:
        return len(self.frames)

    def take(self, rows: BoolArray) -> TrackKeys:
        """Return the keys of those rows: a mask."""
        return TrackKeys(self.datablock, self.track, self.frames[rows], self.selected[rows], self.own)

    def parameters(self, defaults: Mapping[str, float]) -> dict[str, Numbers]:
        """Return each parameter, one number a key, `defaults` where a key has none of its own; raise AnimationError."""
        return read_parameters(self.track, self.own, self.frames, defaults)

    def velocities(self) -> Numbers:
        """Return velocities, one row a key, one number a component; of rotations angular ones; 0 where none was set."""
        return read_velocities(self.track, self.own, self.frames)


def found_again(chosen: Sequence[TrackKeys]) -> list[TrackKeys]:
    """Find the same keys on their tracks as they are now; raise AnimationError where a track is gone.

    Since they were found, Live may have baked the tracks, or the action may have been copied.
    """
    tracks = {
        (datablock, track.path): track
        for datablock in dict.fromkeys(keys.datablock for keys in chosen)
        for track in find_tracks(datablock, channels_of(datablock))
    }
    found = []
    for keys in chosen:
        track = tracks.get((keys.datablock, keys.track.path))
        found.append(replace(keys, track=track or find_track(keys.datablock, keys.track.path)))
    return found


def goes_by_velocities(track: Track) -> bool:
    """Return whether the track's method takes velocities of its keys; False where its settings can't be read."""
    try:
        return "velocities" in setting_names(track, track.settings)
    except AnimationError:
        return False


@checked
def track_keys(datablock: bpy.types.ID, track: str) -> TrackKeys:
    """Return all of the animator's keys of a track, so that `relax` can change keys of several tracks together.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Its path, as for `find_track`.

    Returns
    -------
    TrackKeys
        The keys; `take` with a mask, one boolean a key, leaves some of them.

    Raises
    ------
    AnimationError
        There is no such track.

    Examples
    --------
    >>> keys = animation.track_keys(ball, "location")
    >>> keys.frames.tolist()
    [1.0, 20.0, 40.0]
    >>> keys.take(keys.frames > 10).frames.tolist()
    [20.0, 40.0]
    """
    return keys_of(datablock, find_track(datablock, track))


def keys_of(datablock: bpy.types.ID, track: Track) -> TrackKeys:
    """Return all of the animator's keys of the track."""
    return _keys(datablock, track, list(track.channels), read_own_keys(track))


def keys_on_paths(datablock: bpy.types.ID, channels: Channels, paths: Collection[str]) -> list[TrackKeys]:
    """Return all of the animator's keys of each track of the datablock that has one of these paths."""
    tracks = tracks_among(datablock, channels, [fcurve for fcurve in channels if fcurve.data_path in paths])
    found = zip(tracks, read_all_own_keys(tracks), strict=True)
    return [_keys(datablock, track, list(track.channels), own) for track, own in found]


def key_at(datablock: bpy.types.ID, track: Track, frame: float) -> TrackKeys:
    """Return the one key at `frame`; raise AnimationError where there is none."""
    keys = keys_of(datablock, track)
    found = keys.take(np.abs(keys.frames - frame) <= SAME_FRAME)
    if not len(found):
        raise track.error(rpt_("no key at this frame"), frame)
    return found


def _keys(datablock: bpy.types.ID, track: Track, visible: Collection[int], own: Mapping[int, OwnKeys]) -> TrackKeys:
    """Return all keys, of which those are selected that are so on a visible channel."""
    frames = union([channel.keys.frames for channel in own.values()])
    chosen = [own[index].keys for index in visible if index in own]
    selected = union([keys.frames[keys.select_control_point] for keys in chosen])
    return TrackKeys(datablock, track, frames, is_among(frames, selected), own)


def selected_keys(visible: Iterable[bpy.types.FCurve]) -> list[TrackKeys]:
    """Return the animator's selected keys on the F-curves that an editor shows, for each track that has some."""
    result = []
    for keys in keys_among(visible, only_selected=True):
        if keys.selected.any():
            result.append(keys.take(keys.selected))
    return result


def keys_among(visible: Iterable[bpy.types.FCurve], only_selected: bool = False) -> Iterator[TrackKeys]:
    """Yield all of the animator's keys of each track of which an editor shows an F-curve.

    `only_selected`: leave out F-curves on which no key is selected, and tracks that have no others.
    """
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
    wanted = {fcurve.data_path for fcurve in channels if fcurve.as_pointer() in pointers}
    if not wanted:
        return
    tracks = tracks_among(datablock, channels, [fcurve for fcurve in channels if fcurve.data_path in wanted])
    for track, own in zip(tracks, read_all_own_keys(tracks), strict=True):
        shown = [index for index, fcurve in track.channels.items() if fcurve.as_pointer() in pointers]
        yield _keys(datablock, track, shown, own)


def _users(action: bpy.types.Action) -> Iterator[tuple[bpy.types.ID, Channels]]:
    """Yield one datablock that the action animates for each of its slots, with its F-curves."""
    # Slots list their users, which is fast: this is called on every redraw.
    users = [user for slot in action.slots for user in slot.users()] if HAS_SLOTS else users_of(action)
    seen = set()
    for user in users:
        try:
            channels = channels_of(user)
        except AnimationError:
            continue
        if channels.action == action and channels.identity not in seen:
            seen.add(channels.identity)
            yield user, channels


def any_selected(visible: Iterable[bpy.types.FCurve]) -> bool:
    """Return whether a key on these F-curves is selected, an own or a generated one; a fast check."""
    return any(_selected(fcurve).any() for fcurve in visible)


def _selected(fcurve: bpy.types.FCurve) -> BoolArray:
    flags = np.empty(len(fcurve.keyframe_points), dtype=np.bool_)
    fcurve.keyframe_points.foreach_get("select_control_point", flags)
    return flags


def set_parameters(
    keys: TrackKeys,
    given: Mapping[str, Numbers | float],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
) -> None:
    """Set parameters of the keys, each with one number for all of them or one a key; and their interpolation.

    The track is made TCB where it isn't. `defaults`: parameters of keys that have none of their own; where given, a 0
    is not written if it is the default anyway. Raises AnimationError where the track can't be changed or a number
    is out of its range, ValueError where Blender has no such interpolation; then nothing is changed.
    """
    for error in set_parameters_of_each([(keys, given)], defaults, interpolation):
        raise error


def set_parameters_of_each(
    every: Iterable[tuple[TrackKeys, Mapping[str, Numbers | float]]],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
) -> list[AnimationError]:
    """Set parameters of keys of several tracks as `set_parameters` does; return why tracks could not be changed."""
    if interpolation is not None and interpolation not in INTERPOLATION:
        known = ", ".join(INTERPOLATION)
        raise ValueError(rpt_("{:s} {!r} is none of {:s}", "interpolation", interpolation, known))
    errors = []
    changes: dict[int, dict[tuple[int, str], _Change]] = {}
    for keys, given in every:
        if not len(keys):
            continue
        try:
            alike = changes.setdefault(channels_of(keys.datablock).action.session_uid, {})
            place = (keys.track.slot, keys.track.path)
            if place in alike:
                # Datablocks that share an action give one track twice.
                _write(list(alike.values()), interpolation)
                alike.clear()
                (keys,) = found_again([keys])
            alike[place] = _setting(keys, given, defaults)
        except AnimationError as error:
            errors.append(error)
    for alike in filter(None, changes.values()):
        _write(list(alike.values()), interpolation)
    return errors


def _setting(keys: TrackKeys, given: Mapping[str, Numbers | float], defaults: Mapping[str, float] | None) -> _Change:
    """Return the change that sets parameters; make the track TCB where it isn't."""
    numbers = {name: np.broadcast_to(np.asarray(value, dtype=np.float64), len(keys)) for name, value in given.items()}
    for name, values in numbers.items():
        check_parameter(keys.track, name, values, keys.frames)
    channels, track = writable(keys.datablock, keys.track)
    if not track.enabled:
        enable_tracks(channels, [track])

    def changed(index: int, own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
        rows = np.searchsorted(keys.frames, own.keys.frames[there] - np.float32(SAME_FRAME))
        result = {}
        for name, values in numbers.items():
            column = _column(track, index, name)
            if column is None:
                continue
            present = own.numbers[there, column].astype(np.float64)
            needed = defaults is None or defaults.get(name, 0.0) != 0.0
            written = ~np.isnan(present) | (values[rows] != 0.0) | needed
            result[_NAMES[column]] = np.where(written, values[rows], present)
        return result

    return _Change(channels, track, keys.frames, changed)


_NAMES = (*PARAMETERS, *map(velocity_of, range(NUMBERS - len(PARAMETERS))))
"""Names of the numbers of a row."""
_Changed = Callable[[int, OwnKeys, BoolArray], Mapping[str, Numbers]]
"""Returns numbers for the chosen keys of a channel, from its index, its own keys, and which are chosen."""


def _column(track: Track, index: int, name: str) -> int | None:
    """Return the column of a number in a channel's rows; None where it is not in them.

    Rows of a value's channel have only this channel's component of a velocity.
    """
    if track.is_rotation or not name.startswith(VELOCITY):
        return column_of(name)
    return column_of(velocity_of(0)) if name == velocity_of(index) else None


@dataclass(frozen=True)
class _Change:
    """New numbers for the keys of a TCB track at some frames."""

    channels: Channels
    track: Track
    frames: Float32Array
    changed: _Changed


def _write(changes: Sequence[_Change], interpolation: str | None = None) -> None:
    """Give keys of different tracks of one action new rows, with the numbers that `changed` of each returns.

    An `interpolation` counts as chosen by the animator.
    """
    parts, numbers, chosen = [], [], []
    for change, own in zip(changes, read_keys_to_write([change.track for change in changes]), strict=True):
        state = change.track.state
        assert state is not None
        for index, each in own.items():
            there, keys = is_among(each.keys.frames, change.frames), each
            if interpolation is not None:
                _write_interpolation(change.track.channels[index], each.rows[there], interpolation)
                keys = _interpolated(each, there, interpolation)
            parts.append(Part(state.identity, index, keys, index in state.channels))
            numbers.append(change.changed(index, keys, there))
            chosen.append(there)
    named, rows = recorded(parts, numbers, chosen)
    after: dict[int, dict[int, tuple[OwnKeys, OwnKeys]]] = {}
    for part, own_named in zip(parts, named, strict=True):
        after.setdefault(part.track, {})[part.index] = (part.own, own_named)
    written = [(change.track, after.get(_identity(change.track), {})) for change in changes]
    _put(changes[0].channels, written, joined(rows))


def _identity(track: Track) -> int:
    assert track.state is not None
    return track.state.identity


def _write_interpolation(fcurve: bpy.types.FCurve, rows: IndexArray, interpolation: str) -> None:
    """Set the interpolation of the curve's keys in those rows; a row of -1 is a key merged into another one."""
    points = fcurve.keyframe_points
    kinds = KeyBlock([points]).read("interpolation")
    kinds[rows[rows >= 0]] = INTERPOLATION[interpolation]
    points.foreach_set("interpolation", kinds)


def _interpolated(own: OwnKeys, there: BoolArray, interpolation: str) -> OwnKeys:
    """Return own keys with an interpolation that the animator chose for those that are `there`.

    With Bezier, keys play TCB.
    """
    kinds = np.where(there, np.uint8(INTERPOLATION[interpolation]), own.keys.interpolation)
    bit = CHOSEN_INTERPOLATION if interpolation != "BEZIER" else 0
    chosen = np.where(there, own.chosen & ~np.uint8(CHOSEN_INTERPOLATION) | np.uint8(bit), own.chosen)
    return own.with_(keys=own.keys.with_(interpolation=kinds), chosen=chosen)


def _put(channels: Channels, every: Sequence[tuple[Track, Mapping[int, tuple[OwnKeys, OwnKeys]]]], rows: Rows) -> None:
    """Write new rows, and the identities of the tracks' own keys, by channel before and after."""
    states = []
    for track, keys in every:
        state = track.state
        assert state is not None
        written: dict[int, Channel] = dict(state.channels)
        for index, (before, after) in keys.items():
            if before.identities.tobytes() == after.identities.tobytes():
                continue
            write_identities(track.channels[index], after)
            if index in written:
                names = dict(zip(before.identities.tolist(), after.identities.tolist(), strict=True))
                noted = written[index].own.copy()
                noted["identity"] = [names.get(each, each) for each in noted["identity"].tolist()]
                written[index] = replace(written[index], own=noted)
        track.state = replace(state, channels=written)
        if written != dict(state.channels):
            states.append(track.state)
    update(channels.action, rows, states)
    channels.action.update_tag()


@checked
def key_set(
    datablock: bpy.types.ID,
    track: str,
    frame: float,
    *,
    velocity: float | Sequence[float] | None = None,
    interpolation: str | None = None,
    **parameters: float,
) -> None:
    """Set parameters of the key of `track` at `frame`; the track is made TCB where it isn't.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Its path, as for `find_track`.
    frame : float
        The frame of the key.
    velocity : float or sequence of float, optional
        Per frame, for methods that use it: one number, or one for each component; of a rotation its angular velocity x,
        y, z in the parent's frame, radians.
    interpolation : str, optional
        The interpolation from the key to the next ones of its channels, as `bpy.types.Keyframe` names it: "BEZIER"
        plays TCB; any other is played by Blender, and ends the spline there.
    **parameters : float
        `tension`, `continuity` and `bias` from -1 to 1, `ease_to` and `ease_from` from 0 to 1. Others stay.

    Raises
    ------
    AnimationError
        There is no such track or key, or a number is out of range. Nothing was changed.
    ValueError
        There is no such interpolation or parameter. Nothing was changed.

    Examples
    --------
    >>> animation.key_set(ball, "location", 20, tension=1.0)
    >>> animation.key_set(ball, "rotation", 20, interpolation="CONSTANT")
    >>> animation.key_set(ball, "location", 21, tension=1.0)
    Traceback (most recent call last):
    AnimationError: "Ball", location, frame 21: no key at this frame
    """
    for name in parameters:
        if name not in PARAMETERS:
            raise ValueError(rpt_("{!r} is none of {:s}", name, ", ".join((*PARAMETERS, VELOCITY))))
    check_editable(datablock)
    keys = key_at(datablock, find_track(datablock, track), frame)
    given = dict(parameters) if velocity is None else {**parameters, **_velocity_given(keys.track, velocity, frame)}
    set_parameters(keys, given, interpolation=interpolation)


def _velocity_given(track: Track, velocity: float | Sequence[float], frame: float) -> dict[str, float]:
    """Return a velocity as parameters; raise AnimationError where its size is not that of the track."""
    size, numbers = velocity_size(track), np.atleast_1d(velocity)
    if numbers.shape != (size,):
        raise track.error(rpt_("a velocity has {:d} numbers here, not {:d}", size, numbers.size), frame)
    return {velocity_of(component): number for component, number in enumerate(numbers.tolist())}


def reset(keys: TrackKeys) -> None:
    """Remove the keys' own parameters; raise AnimationError where the track can't be changed."""
    channels, track = writable(keys.datablock, keys.track)
    if track.enabled:
        _write([_Change(channels, track, keys.frames, _unset)])


def _unset(_index: int, _own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
    return dict.fromkeys(_NAMES, np.full(there.sum(), np.nan))


def deselect(fcurves: Iterable[bpy.types.FCurve]) -> None:
    """Deselect all keys of the F-curves, and their handles."""
    for fcurve in fcurves:
        none = np.zeros(len(fcurve.keyframe_points), dtype=np.bool_)
        for name in FLAGS:
            fcurve.keyframe_points.foreach_set(name, none)


def select(keys: TrackKeys) -> None:
    """Select the keys and their handles, which move along with them."""
    for fcurve in keys.track.channels.values():
        held = read(fcurve)
        there = is_among(held.frames, keys.frames)
        for name in FLAGS:
            fcurve.keyframe_points.foreach_set(name, getattr(held, name) | there)


@dataclass(frozen=True)
class Kept:
    """The parameters of keys of a track, or one of them, recorded to be restored bit for bit."""

    keys: TrackKeys
    enabled: bool
    name: str | None

    @classmethod
    def of(cls, keys: TrackKeys, name: str | None = None) -> Kept:
        """Record all parameters, or the one of that name."""
        return cls(keys, keys.track.enabled, name)

    def put_back(self, channels: Channels, track: Track) -> None:
        """Restore the parameters of the keys on the present track; make it plain again if it was not TCB."""
        if track.state is None:
            return
        _write([_Change(channels, track, self.keys.frames, self._numbers)])
        own = read_own_keys(track)
        self._put_identities(channels, track, own)
        if not self.enabled and not any((~np.isnan(each.numbers)).any() for each in own.values()):
            # Live may have baked it since.
            restore.put_back(channels, self.keys.datablock, track)
            for index, each in read_own_keys(track).items():
                remove_traces(track.channels[index], each)
            update(channels.action, removed=[track.state.identity])
            if not read_table(channels.action).rows_of_tracks:
                remove_table(channels.action)

    def _numbers(self, index: int, own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
        """Return the recorded numbers of the parameters that are restored."""
        if index not in self.keys.own:
            return {}
        before = self._before(index, own, there)
        columns = range(NUMBERS)
        if self.name is not None:
            column = _column(self.keys.track, index, self.name)
            columns = range(0) if column is None else range(column, column + 1)
        return {_NAMES[column]: before.numbers[:, column].astype(np.float64) for column in columns}

    def _before(self, index: int, own: OwnKeys, there: BoolArray) -> OwnKeys:
        """Return the recorded keys, in the order of those that are there."""
        kept = self.keys.own[index]
        row = np.searchsorted(kept.keys.frames, own.keys.frames[there] - np.float32(SAME_FRAME))
        return kept.take(np.minimum(row, len(kept.keys) - 1))

    def _put_identities(self, channels: Channels, track: Track, own: Mapping[int, OwnKeys]) -> None:
        """Restore the identities of keys that have their recorded numbers again."""
        found = {}
        for index, now in own.items():
            there = is_among(now.keys.frames, self.keys.frames)
            if index not in self.keys.own:
                continue
            before = self._before(index, now, there)
            same = (before.numbers.view(np.uint32) == now.numbers[there].view(np.uint32)).all(axis=1)
            same &= before.identities != 0
            identities = now.identities.copy()
            identities[np.flatnonzero(there)[same]] = before.identities[same]
            found[index] = (now, now.with_(identities=identities))
        _put(channels, [(track, found)], NO_ROWS)


def put_back(kept: Sequence[Kept]) -> None:
    """Restore recorded parameters."""
    for each, keys in zip(kept, found_again([each.keys for each in kept]), strict=True):
        channels = channels_of(keys.datablock)
        each.put_back(channels, keys.track)
        evaluate_anew(channels.action)
