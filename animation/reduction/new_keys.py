# SPDX-License-Identifier: GPL-3.0-or-later
"""The new keys of tracks, from a fit or recovered from the curves, and functions that write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...interp.fitting.reduction import Method, RecoveredKeys, Reduced, recover_keys
from ...interp.fitting.tcb_from_tangents import tcb_of_tangents
from ...interp.keys import PARAMETERS, Keys
from ...interp.splines import tcb
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
from .extrapolation import extrapolate, key_straight
from .sampled_track import SampledTrack, keys_of_values, slopes_of_keys

_SAME = 1e-4
"""A key is not a corner if the velocities before and after it differ by at most this fraction of the largest
velocity."""
_BEZIER, _LINEAR, _CONSTANT = (INTERPOLATION[name] for name in ("BEZIER", "LINEAR", "CONSTANT"))


@dataclass(eq=False)
class NewKeys:
    """The new keys of one track.

    Attributes
    ----------
    sampled : SampledTrack
        The track.
    rows : ndarray of int, shape (n,)
        The row of the sample at each key.
    values : ndarray, shape (n, components)
        The channel values of the keys.
    types : ndarray of uint8, shape (n,)
        Interpolation types.
    settings : Settings or None
        The TCB settings, or None if the keys do not use TCB.
    numbers : dict
        Parameters and velocities of the keys in each channel.
    handles : ndarray, shape (2, n, components), or None
        For Bezier keys without TCB, the offsets of the left and right handles' values from the key. Each handle is a
        third of its segment away from the key.
    fit : Reduced or None
        The fit with the keys of several tracks. The keys of this track are its `part`.
    part : int
    """

    sampled: SampledTrack
    rows: IndexArray
    values: Float64Array
    types: EnumArray
    settings: Settings | None = None
    numbers: dict[int, Numbers] = field(default_factory=dict)
    handles: Float64Array | None = None
    fit: Reduced | None = None
    part: int = 0

    @classmethod
    def still(cls, sampled: SampledTrack) -> NewKeys:
        """Return one key, or a key at each end if there are other keys outside the frames."""
        if any(sampled.joined):
            ends = np.array([0, len(sampled.raw) - 1])
            values = sampled.values[ends]
            rest = Reduced(ends, [values], [np.zeros_like(values)], 0.0, [sampled.track.is_rotation], "TCB")
            return cls.fitted(sampled, rest, 0)
        return cls(sampled, np.zeros(1, dtype=np.intp), sampled.raw[:1], np.full(1, _BEZIER, dtype=np.uint8))

    @classmethod
    def fitted(cls, sampled: SampledTrack, keys: Reduced, part: int) -> NewKeys:
        """Return the track's keys from a fit, with either velocities or TCB parameters."""
        values = keys_of_values(sampled, keys.values[part], keys.rows)
        types = np.full(len(keys.rows), _BEZIER, dtype=np.uint8)
        if keys.method == "TCB":
            settings, own = Settings(), dict(zip(PARAMETERS, keys.parameters(part), strict=True))
            numbers: dict[int, Numbers] = dict.fromkeys(range(values.shape[1]), own)
        else:
            settings, numbers = Settings(method="HERMITE"), _velocities(sampled, keys.velocities(part))
        return cls(sampled, keys.rows, values, types, settings, numbers, fit=keys, part=part)

    @property
    def is_straight(self) -> bool:
        """Return whether no key is Bezier."""
        return not (self.types == _BEZIER).any()


def made_of_few(sampled: SampledTrack, limit: float, method: Method) -> NewKeys | None:
    """Return the keys from which a track's curves were generated, or None if no keys with this method are found.

    `limit` is the tolerance for values computed from tension, continuity and bias. Straight lines and steps are
    recovered for either method.
    """
    own = [*sampled.track.channels]
    found = recover_keys(sampled.raw[:, own])
    if found is None:
        return None
    kinds = np.select([found.is_hold, found.is_line], [_CONSTANT, _LINEAR], _BEZIER)
    last = _LINEAR if found.is_straight else _BEZIER
    keys = NewKeys(sampled, found.rows, sampled.raw[found.rows], np.append(kinds, last).astype(np.uint8))
    if found.is_straight:
        return keys
    if method == "TCB":
        return _with_parameters(keys, found, own, limit)
    is_curve = ~(found.is_hold | found.is_line)
    between_curves = is_curve[:-1] & is_curve[1:]
    corners = np.abs(found.incoming - found.outgoing)[1:-1][between_curves]
    size = np.abs(found.incoming).max() + np.abs(found.outgoing).max()
    if not sampled.track.is_rotation and corners.max(initial=0.0) <= _SAME * size:
        after_curve = np.append(False, is_curve)[:, np.newaxis]
        velocities = np.where(after_curve, found.incoming, found.outgoing)
        keys.settings = Settings(method="HERMITE")
        keys.numbers = {index: {velocity_of(0): velocities[:, row]} for row, index in enumerate(own)}
        return keys
    thirds = np.diff(found.rows)[:, np.newaxis] / 3.0
    keys.handles = np.zeros((2, *keys.values.shape))
    keys.handles[0, 1:, own] = -(thirds * found.incoming[1:]).T
    keys.handles[1, :-1, own] = (thirds * found.outgoing[:-1]).T
    return keys


def _with_parameters(keys: NewKeys, found: RecoveredKeys, own: Sequence[int], limit: float) -> NewKeys | None:
    """Return the keys with tension, continuity and bias, or None if these parameters do not reproduce the motion."""
    sampled = keys.sampled
    if sampled.track.is_rotation or (keys.types != _BEZIER).any() or len(found.rows) < 3:
        return None
    length = np.diff(found.rows).astype(np.float64)
    values = keys.values[:, own]
    chords = np.diff(values, axis=0)
    incoming, outgoing = found.incoming[1:-1] * length[:-1, np.newaxis], found.outgoing[1:-1] * length[1:, np.newaxis]
    share = length[:-1] / (length[:-1] + length[1:])
    nearest = tcb_of_tangents(chords[:-1], chords[1:], share, incoming, outgoing, np.zeros((3, len(share))))
    parameters = np.zeros((len(PARAMETERS), len(found.rows)))
    parameters[:3, 1:-1] = nearest.parameters
    for end, tangent, chord, other in (
        (0, found.outgoing[0] * length[0], chords[0], incoming[0]),
        (-1, found.incoming[-1] * length[-1], chords[-1], outgoing[-1]),
    ):
        plain = 1.5 * chord - 0.5 * other
        square = float(plain @ plain)
        parameters[0, end] = 1.0 - float(np.clip(tangent @ plain / square, 0.0, 2.0)) if square > 0.0 else 0.0
    parameters = parameters.astype(np.float32).astype(np.float64)
    frames = np.arange(len(sampled.raw), dtype=np.float64)
    spline = tcb.VectorSpline(Keys(found.rows.astype(np.float64), values, *parameters))
    if np.linalg.norm(spline(frames) - sampled.raw[:, own], axis=1).max() > limit:
        return None
    keys.settings = Settings()
    keys.numbers = {index: dict(zip(PARAMETERS, parameters, strict=True)) for index in own}
    return keys


def _velocities(sampled: SampledTrack, velocities: Float64Array) -> dict[int, Numbers]:
    """Return the velocities for each channel: all three components for rotations, otherwise the channel's component."""
    if sampled.track.is_rotation:
        turning: Numbers = {velocity_of(index): column for index, column in enumerate(velocities.T)}
        return {index: turning for index in range(sampled.raw.shape[1])}  # noqa: C420
    return {index: {velocity_of(0): velocities[:, index]} for index in sampled.track.channels}


def write(copy: Channels, every: Sequence[NewKeys], frames: Float64Array) -> None:
    """Write keys into the F-curves of a copied action."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for keys in every:
        track = keys.sampled.track
        slopes = slopes_of_keys(keys.sampled, keys.values[[0, -1]])
        is_whole = track.is_rotation and len(keys.rows) > 1
        for index in range(keys.values.shape[1]) if is_whole else track.channels:
            fcurve = fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)
            before = read(fcurve)
            _key(fcurve, keys, index, frames, slopes[:, index])
            if any(keys.sampled.joined):
                write_keys(fcurve, joined(fcurve, read(fcurve), before, frames))


def _key(fcurve: bpy.types.FCurve, keys: NewKeys, index: int, frames: Float64Array, slopes: Float64Array) -> None:
    """Replace the keys of a channel."""
    if keys.is_straight:
        key_straight(fcurve, frames, keys.sampled.raw[:, index], keys.rows, keys.types, slopes)
        return
    at, values = frames[keys.rows], keys.values[:, index]
    key_curve(fcurve, at, values)
    points = fcurve.keyframe_points
    points.foreach_set("interpolation", keys.types)
    if keys.handles is not None:
        length = np.diff(at) / 3.0
        away = -np.append(length[:1], length), np.append(length, length[-1:])
        for side, frame, value in zip(("left", "right"), away, keys.handles[..., index], strict=True):
            points.foreach_set(f"handle_{side}_type", np.full(len(at), HANDLE["FREE"], dtype=np.uint8))
            handles = np.stack([at + frame, values + value], axis=1)
            points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
        fcurve.update()
    extrapolate(fcurve, slopes)


def enable(datablock: bpy.types.ID, copy: Channels, every: Sequence[NewKeys], frames: Float64Array) -> None:
    """Enable TCB on the tracks that have settings.

    Blender plays straight lines, and all segments outside the frames.
    """
    by_path = {keys.sampled.track.path: keys for keys in every if keys.settings is not None}
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
    """Extend the parameters of keys at the frames to all keys of a channel, with NaN for keys outside the frames."""
    before, after = (np.count_nonzero(side) for side in sides(own.frames, frames))
    return {name: np.pad(each, (before, after), constant_values=np.nan) for name, each in numbers.items()}
