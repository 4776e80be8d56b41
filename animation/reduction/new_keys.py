# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys that tracks get, and how they are written: found by a fit, or those that a baked curve was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...interp.fitting.reduction import Reduced
from ...interp.fitting.unbaking import AUTOMATIC, EASED, HOLD, LINE, Unbaked, unbake_rotations, unbake_values
from ...interp.keys import PARAMETERS
from ..fcurves.channels import Channels
from ..fcurves.keyframes import HANDLE, INTERPOLATION, EnumArray, Float64Array, IndexArray, read
from ..fcurves.keyframes import write as write_keys
from ..fcurves.keying import key_curve
from ..store.enable_tracks import enable_read
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.record_rows import Numbers
from ..store.table.rows import CHOSEN_INTERPOLATION, velocity_of
from ..store.table.settings import Settings
from ..store.tracks import find_tracks
from .beside_range import chosen_beside, joined, sides
from .dense import Dense, keys_of_values, slopes_of_keys
from .extrapolation import extrapolate, key_straight

_BEZIER, _LINEAR, _CONSTANT = (INTERPOLATION[name] for name in ("BEZIER", "LINEAR", "CONSTANT"))


@dataclass(eq=False)
class NewKeys:
    """The keys of one track.

    Attributes
    ----------
    dense : Dense
        The track.
    rows : ndarray of int, shape (n,)
        The samples at whose frames they are.
    values : ndarray, shape (n, components)
        Of the channels.
    types : ndarray of uint8, shape (n,)
        Interpolation types.
    settings : Settings or None
        None: plain keys.
    numbers : dict
        Parameters and velocities of each channel's keys.
    handles : ndarray, shape (2, n, components), or None
        How much the values of plain Bezier keys' handles differ from theirs, left and right; None: automatic ones.
    length : float
        Of these handles, as a part of their segments' frames.
    fit : Reduced or None
        The keys that were fitted to the track, its `part`, and others.
    part : int
    """

    dense: Dense
    rows: IndexArray
    values: Float64Array
    types: EnumArray
    settings: Settings | None = None
    numbers: dict[int, Numbers] = field(default_factory=dict)
    handles: Float64Array | None = None
    length: float = 1.0 / 3.0
    fit: Reduced | None = None
    part: int = 0

    @classmethod
    def still(cls, dense: Dense) -> NewKeys:
        """Return one key; where others stand beside the frames, one at each end."""
        if any(dense.joined):
            ends = np.array([0, len(dense.raw) - 1])
            parameters = np.zeros((len(PARAMETERS), len(ends)))
            rest = Reduced(ends, [dense.values[ends]], [], 0.0, [dense.track.is_rotation], [parameters])
            return cls.fitted(dense, rest, 0)
        return cls(dense, np.zeros(1, dtype=np.intp), dense.raw[:1], np.full(1, _BEZIER, dtype=np.uint8))

    @classmethod
    def fitted(cls, dense: Dense, keys: Reduced, part: int) -> NewKeys:
        """Return the keys of a fit, of which the track is a part: with velocities, or TCB."""
        values = keys_of_values(dense, keys.values[part], keys.rows)
        types = np.full(len(keys.rows), _BEZIER, dtype=np.uint8)
        if keys.parameters:
            settings, own = Settings(), dict(zip(PARAMETERS, keys.parameters[part], strict=True))
            numbers: dict[int, Numbers] = dict.fromkeys(range(values.shape[1]), own)
        else:
            settings, numbers = Settings(method="HERMITE"), _velocities(dense, keys.velocities[part])
        return cls(dense, keys.rows, values, types, settings, numbers, fit=keys, part=part)

    @property
    def is_straight(self) -> bool:
        """Return whether no key is Bezier."""
        return not (self.types == _BEZIER).any()


def unbaked(dense: Dense, limit: float) -> NewKeys | None:
    """Return the keys that a track's curves were made from, or None where they are not found.

    `limit`: how far the motion may be off.
    """
    track = dense.track
    own = [*track.channels]
    plain = unbake_values(dense.raw[:, own])
    found = [_of_values(dense, plain, own)] if plain is not None and plain.noise.max() <= limit else []
    if track.is_rotation and (plain is None or (plain.kinds > LINE).any()):
        turning = unbake_rotations(dense.values)
        found += [_of_rotations(dense, turning)] if turning is not None and turning.noise.max() <= limit else []
    able = [keys for keys in found if keys is not None]
    # Of as many keys TCB ones.
    return min(able, key=lambda keys: (len(keys.rows), keys.settings is None), default=None)


def _types(found: Unbaked) -> EnumArray:
    """Return the interpolation types of keys; the last one has that of the one before it."""
    types = np.select([found.kinds == HOLD, found.kinds == LINE], [_CONSTANT, _LINEAR], _BEZIER)
    last = _LINEAR if (found.kinds <= LINE).all() else _BEZIER
    return np.append(types, last).astype(np.uint8)


def _of_values(dense: Dense, found: Unbaked, own: Sequence[int]) -> NewKeys | None:
    """Return TCB keys if parameters were found, otherwise those with velocities, and plain ones at corners."""
    keys = NewKeys(dense, found.rows, dense.raw[found.rows], _types(found))
    if keys.is_straight:
        return keys
    if not dense.track.is_rotation and found.parameters is not None:
        rows = np.broadcast_to(found.parameters, (len(own), *found.parameters.shape[1:]))
        keys.settings = Settings()
        keys.numbers = {index: dict(zip(PARAMETERS, each, strict=True)) for index, each in zip(own, rows, strict=True)}
    elif not dense.track.is_rotation and found.velocities is not None:
        keys.settings = Settings(method="HERMITE")
        keys.numbers = {index: {velocity_of(0): found.velocities[:, row]} for row, index in enumerate(own)}
    elif (found.kinds == EASED).any():
        return None
    else:
        keys.handles = np.zeros((2, *keys.values.shape))
        keys.handles[0, 1:, own], keys.handles[1, :-1, own] = (
            -found.tangents[:, 1].T / 3.0,
            found.tangents[:, 0].T / 3.0,
        )
        keys.length = AUTOMATIC if found.construction == "HANDLES" else keys.length
    return keys


def _of_rotations(dense: Dense, found: Unbaked) -> NewKeys | None:
    """Return TCB keys if parameters were found, or those with velocities."""
    keys = NewKeys(dense, found.rows, keys_of_values(dense, found.values, found.rows), _types(found))
    if found.parameters is not None and found.construction in ("DE_CASTELJAU", "SQUAD"):
        numbers = dict(zip(PARAMETERS, found.parameters[0], strict=True))
        keys.numbers = dict.fromkeys(range(keys.values.shape[1]), numbers)
        keys.settings = Settings(ends=found.ends, construction=found.construction)
    elif found.velocities is not None:
        keys.numbers, keys.settings = _velocities(dense, found.velocities), Settings(method="HERMITE")
    else:
        return None
    return keys


def _velocities(dense: Dense, velocities: Float64Array) -> dict[int, Numbers]:
    """Return velocities for each channel: of rotations all three, of other tracks its own."""
    if dense.track.is_rotation:
        turning: Numbers = {velocity_of(index): column for index, column in enumerate(velocities.T)}
        return {index: turning for index in range(dense.raw.shape[1])}  # noqa: C420
    return {index: {velocity_of(0): velocities[:, index]} for index in dense.track.channels}


def write(copy: Channels, every: Sequence[NewKeys], frames: Float64Array) -> None:
    """Write keys into the F-curves of a copied action."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for keys in every:
        track = keys.dense.track
        slopes = slopes_of_keys(keys.dense, keys.values[[0, -1]])
        is_whole = track.is_rotation and len(keys.rows) > 1
        for index in range(keys.values.shape[1]) if is_whole else track.channels:
            fcurve = fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)
            before = read(fcurve)
            _key(fcurve, keys, index, frames, slopes[:, index])
            if any(keys.dense.joined):
                write_keys(fcurve, joined(fcurve, read(fcurve), before, frames))


def _key(fcurve: bpy.types.FCurve, keys: NewKeys, index: int, frames: Float64Array, slopes: Float64Array) -> None:
    """Replace the keys of one channel."""
    if keys.is_straight:
        key_straight(fcurve, frames, keys.dense.raw[:, index], keys.rows, keys.types, slopes)
        return
    at, values = frames[keys.rows], keys.values[:, index]
    key_curve(fcurve, at, values)
    points = fcurve.keyframe_points
    points.foreach_set("interpolation", keys.types)
    if keys.handles is not None:
        length = keys.length * np.diff(at)
        away = -np.append(length[:1], length), np.append(length, length[-1:])
        for side, frame, value in zip(("left", "right"), away, keys.handles[..., index], strict=True):
            points.foreach_set(f"handle_{side}_type", np.full(len(at), HANDLE["FREE"], dtype=np.uint8))
            handles = np.stack([at + frame, values + value], axis=1)
            points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
        fcurve.update()
    extrapolate(fcurve, slopes)


def enable(datablock: bpy.types.ID, copy: Channels, every: Sequence[NewKeys], frames: Float64Array) -> None:
    """Make tracks TCB that are to be. Blender plays their lines, and all segments beside the frames."""
    by_path = {keys.dense.track.path: keys for keys in every if keys.settings is not None}
    tracks = [track for track in find_tracks(datablock, copy) if track.path in by_path]
    chosen = [by_path[track.path] for track in tracks]
    own = [
        {index: _played_by_blender(each, frames) for index, each in channels.items()}
        for channels in read_all_own_keys(tracks)
    ]
    numbers = [
        {index: _padded(keys.numbers[index], each, frames) for index, each in channels.items()}
        for keys, channels in zip(chosen, own, strict=True)
    ]
    settings = [keys.settings or Settings() for keys in chosen]
    enable_read([(copy, track) for track in tracks], own, settings, numbers)


def _played_by_blender(own: OwnKeys, frames: Float64Array) -> OwnKeys:
    lines = np.where(own.keys.interpolation == _LINEAR, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))
    return own.with_(chosen=chosen_beside(own, frames) | lines)


def _padded(numbers: Numbers, own: OwnKeys, frames: Float64Array) -> Numbers:
    """Return numbers of keys at the frames for all keys of a channel; NaN for those beside."""
    before, after = (np.count_nonzero(side) for side in sides(own.frames, frames))
    return {name: np.pad(each, (before, after), constant_values=np.nan) for name, each in numbers.items()}
