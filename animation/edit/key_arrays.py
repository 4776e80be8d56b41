# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert between the keys of a track and arrays, for importers and exporters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import bpy
import numpy as np
import numpy.typing as npt

from ...interp.fitting.dialects import Dialect, as_3ds, slopes_of_keys
from ...interp.keys import finite
from ..arguments import LARGEST, checked
from ..bake.pipeline import bake as bake_many
from ..bake.plans.motion_refusals import LARGEST as LARGEST_PLAYED
from ..bake.plans.sample_frames import APART
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels, ensured_channels, evaluate_anew, is_without_curves
from ..fcurves.editable import check_editable, editable_channels
from ..fcurves.frames import LAST_FRAME
from ..fcurves.keyframes import (
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    NAMES,
    NO_KEYS,
    BoolArray,
    Float32Array,
    Float64Array,
    Keyframes,
    made_like,
    write,
)
from ..report import Report
from ..store.enable_tracks import enable_tracks
from ..store.fingerprints import edited_outside
from ..store.own_keys import read_own_keys
from ..store.parameters import LIMITS, given_numbers
from ..store.table.options import Options
from ..store.table.rows import PARAMETERS
from ..store.track_refusals import blocking_reason
from ..store.tracks import Properties, Track, default_settings
from ..translation import rpt_
from .parameters.write_parameters import Change, write_numbers
from .restore import remove_tracks
from .track_settings import find_track

KeyInterpolation = Literal["BEZIER", "LINEAR", "CONSTANT"]
_TANGENTS = ("tension", "continuity", "bias")
_TRANSFORMS = "Object Transforms"
_ALONE = 1.0
"""Length of the handles of a single key, in frames."""


@dataclass(frozen=True, eq=False)
class KeyArrays:
    """The keys of a track as arrays, in the form returned by `get_keys` and accepted by `set_keys`.

    Examples
    --------
    >>> keys = animation.get_keys(ball, "location")
    >>> keys.frames.tolist(), keys.values.shape
    ([1.0, 20.0, 40.0], (3, 3))
    """

    frames: Float64Array
    """Frames, shape (n,)."""
    values: Float64Array
    """Values, shape (n, d), with one column per component."""
    tension: Float64Array
    """Tension, shape (n,). Like all parameters, 0 where not set."""
    continuity: Float64Array
    bias: Float64Array
    ease_to: Float64Array
    ease_from: Float64Array
    tangents_in: Float64Array | None
    """Slopes of the left handles of plain tracks, per frame, shape (n, d). None for TCB tracks."""
    tangents_out: Float64Array | None
    interpolation: list[str]
    """Interpolation of each key. Keys with easing have Blender's names, such as "BOUNCE", which `set_keys` refuses."""
    dialect: Dialect
    """Always 3DS, the convention of this extension."""


@checked
def set_keys(  # noqa: PLR0913
    datablock: bpy.types.ID,
    track: str,
    frames: object,
    values: object,
    *,
    tension: object = 0.0,
    continuity: object = 0.0,
    bias: object = 0.0,
    ease_to: object = 0.0,
    ease_from: object = 0.0,
    tangents_in: object = None,
    tangents_out: object = None,
    interpolation: object = "BEZIER",
    dialect: Dialect = "3DS",
) -> Report:
    """Replace the keys of a track with keys that have TCB parameters or tangents from another program.

    With 3D Studio or 3ds Max parameters from -1 to 1, the track becomes TCB and is played by handles. With other
    parameters, the track becomes TCB if 3D Studio parameters with the same tangents exist. Otherwise, the track stays
    plain, with handles that play the tangents exactly, and a note reports this. If the track is baked, the bake and the
    saved keys are discarded.

    Parameters
    ----------
    datablock : bpy.types.ID
        Any datablock that can have animation. Missing F-curves are created.
    track : str
        The property path, for example `location` or `pose.bones["Arm"].rotation_quaternion`.
    frames : array_like, shape (n,)
        Frames in ascending order, more than 0.0125 apart.
    values : array_like, shape (n, d), or (n,) for one component
        Values of all components of the property.
    tension, continuity, bias, ease_to, ease_from : float or array_like, shape (n,)
        One parameter for all keys, or one per key.
    tangents_in, tangents_out : array_like, shape (n, d), optional
        Slopes per frame before and after each key, which replace the slopes defined by parameters. Slopes with NaN are
        not replaced. If the slope before the first key or after the last key is not given, it equals the slope on the
        other side of the key.
    interpolation : str or sequence of str
        "BEZIER", "LINEAR" or "CONSTANT", for the segment after each key.
    dialect : {"3DS", "LIGHTWAVE", "FBX", "KB"}
        The convention that defines the parameters: 3D Studio and 3ds Max, LightWave 6 and later, FBX, or the paper by
        Kochanek and Bartels.

    Returns
    -------
    Report
        `tracks` is 1, `keys` is n. If handles only approximate the motion, the report includes the deviation.

    Raises
    ------
    AnimationError
        The property does not exist or can't be keyed, or handles exceed the range of float32. Nothing was changed.
    TypeError, ValueError
        The arrays do not match, or a value is not finite. The error message names the argument.

    Examples
    --------
    >>> values = [[0, 0, 0], [3, 1, 0], [5, 0, 2]]
    >>> report = animation.set_keys(ball, "location", [1, 20, 40], values, tension=[0, 0.5, 0])
    >>> report.tracks, report.keys
    (1, 3)
    >>> animation.get_keys(ball, "location").tension.tolist()
    [0.0, 0.5, 0.0]
    """
    at = _finite("frames", frames)
    if at.ndim != 1 or not len(at):
        raise ValueError(rpt_("frames must be of shape (n,), not {}", at.shape))
    numbers = _finite("values", values)
    numbers = numbers[:, np.newaxis] if numbers.ndim == 1 else numbers
    if numbers.ndim != 2 or len(numbers) != len(at):
        raise ValueError(rpt_("values must be of shape ({:d}, d), not {}", len(at), numbers.shape))
    given = {
        name: _parameter(name, value, len(at))
        for name, value in zip(PARAMETERS, (tension, continuity, bias, ease_to, ease_from), strict=True)
    }
    kinds = _interpolations(interpolation, len(at))
    sides = tuple(
        _tangents(name, side, numbers) for name, side in (("tangents_in", tangents_in), ("tangents_out", tangents_out))
    )
    if not (np.abs(numbers) <= LARGEST).all():
        raise ValueError(rpt_("values must be in the range of float32"))
    with np.errstate(over="ignore"):
        stored = at.astype(np.float32)
    if np.abs(at).max() > LAST_FRAME or (np.diff(stored) <= APART).any():
        raise ValueError(rpt_("frames must increase by more than {:g} and must not exceed {:g}", APART, LAST_FRAME))
    eased = any(given[name].any() for name in ("ease_to", "ease_from"))
    if eased and (dialect != "3DS" or any(side is not None for side in sides)):
        raise ValueError(rpt_("ease_to and ease_from are only for the dialect 3DS without tangents"))
    found = _property(datablock, track)
    if numbers.shape[1] != len(found.rest):
        raise ValueError(
            rpt_("values of {:s} must have {:d} components, not {:d}", track, len(found.rest), numbers.shape[1])
        )
    # _check_handles reports overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        parameters, slopes = _chosen(found, at, numbers, given, sides, dialect, kinds)
    report = _write(datablock, found, stored, numbers, parameters, slopes, kinds)
    has_tangents = any(side is not None for side in sides)
    if parameters is None and not has_tangents and any(given[name].any() for name in _TANGENTS):
        report.notes.append(found.finding("STAYS_PLAIN"))
    return report


@checked
def get_keys(datablock: bpy.types.ID, track: str) -> KeyArrays:
    """Return the animator's keys on a track as arrays for `set_keys`. For a baked track, return the saved keys.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.

    Returns
    -------
    KeyArrays
        Frames, values, parameters, tangents and interpolations. As in Blender, numbers have float32 precision. Keys
        written by `set_keys` and not edited since are returned bit for bit.

    Raises
    ------
    AnimationError
        There is no such track, it has no keys, or its channels have keys at different frames or with different
        interpolation.

    Examples
    --------
    >>> keys = animation.get_keys(ball, "location")
    >>> keys.interpolation
    ['BEZIER', 'BEZIER', 'BEZIER']
    """
    found = find_track(datablock, track)
    own = read_own_keys(found)
    if not own:
        raise found.error("NO_KEYS")
    indices = sorted(own)
    keyed = [own[index].keys for index in indices]
    frames = keyed[0].frames
    if any(keys.frames.tobytes() != frames.tobytes() for keys in keyed):
        raise found.error("KEYED_APART")
    differs = np.any([keys.interpolation != keyed[0].interpolation for keys in keyed], axis=0)
    if differs.any():
        raise found.error("INTERPOLATION_APART", frame=float(frames[np.argmax(differs)]))
    values = np.tile(np.array([found.component(index) for index in range(len(found.rest))]), (len(frames), 1))
    values[:, indices] = np.stack([keys.values for keys in keyed], axis=-1)
    numbers = np.nan_to_num(given_numbers(own, frames)[:, : len(PARAMETERS)].astype(np.float64))
    sides: list[Float64Array | None] = [None, None]
    if not found.enabled:
        sides = [np.zeros_like(values), np.zeros_like(values)]
        for index, keys in zip(indices, keyed, strict=True):
            for side, handles in zip(sides, (keys.handle_left, keys.handle_right), strict=True):
                away = (handles - keys.co).astype(np.float64)
                level = np.zeros(len(frames))
                assert side is not None
                side[:, index] = np.divide(away[:, 1], away[:, 0], out=level, where=away[:, 0] != 0.0)
    names = {number: name for name, number in INTERPOLATION.items()}
    interpolation = [names[number] for number in keyed[0].interpolation.tolist()]
    rows = dict(zip(PARAMETERS, np.ascontiguousarray(numbers.T), strict=True))
    return KeyArrays(
        frames=frames.astype(np.float64),
        values=values,
        **rows,
        tangents_in=sides[0],
        tangents_out=sides[1],
        interpolation=interpolation,
        dialect="3DS",
    )


def _finite(name: str, value: Any) -> Float64Array:
    return finite(name, value)


def _parameter(name: str, value: Any, count: int) -> Float64Array:
    """Return a parameter with one value per key."""
    numbers = _finite(name, value)
    if numbers.shape not in ((), (count,)):
        raise ValueError(rpt_("{:s} must be a number or of shape ({:d},), not {}", name, count, numbers.shape))
    return np.array(np.broadcast_to(numbers, count))


def _tangents(name: str, value: Any, numbers: Float64Array) -> Float64Array | None:
    """Return the slopes of one side, or None."""
    if value is None:
        return None
    try:
        slopes = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(rpt_("{:s} must be numbers: {}", name, error)) from error
    slopes = slopes[:, np.newaxis] if slopes.ndim == 1 else slopes
    if slopes.shape != numbers.shape:
        raise ValueError(rpt_("{:s} must be of shape {}, not {}", name, numbers.shape, slopes.shape))
    if np.isinf(slopes).any():
        raise ValueError(rpt_("{:s} must be finite, or NaN", name))
    return slopes


def _interpolations(value: Any, count: int) -> npt.NDArray[np.uint8]:
    if isinstance(value, str):
        value = [value] * count
    elif not isinstance(value, Iterable):
        raise TypeError(rpt_("interpolation must be a name, or a list of names, not {!r}", value))
    names = list(value)
    if len(names) != count:
        raise ValueError(rpt_("interpolation must have 1 or {:d} names, not {:d}", count, len(names)))
    for name in names:
        if name not in get_args(KeyInterpolation):
            raise ValueError(rpt_("interpolation {!r} is not one of {:s}", name, ", ".join(get_args(KeyInterpolation))))
    return np.array([INTERPOLATION[name] for name in names], dtype=np.uint8)


def _property(datablock: bpy.types.ID, path: str) -> Track:
    """Return the property as a track. Raise AnimationError if the property can't be keyed."""
    check_can_have_keys(datablock)
    found = Properties(datablock).track(path)
    if found is None:
        raise AnimationError(Finding("PROPERTY_UNKNOWN", name_of(datablock), path))
    check_can_be_keyed(found)
    return found


def check_can_have_keys(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if the datablock's animation can't be edited. A datablock without F-curves can get some."""
    if datablock.library is not None or not is_without_curves(datablock):
        check_editable(datablock)


def check_can_be_keyed(track: Track) -> None:
    """Raise AnimationError if the track's keys can't be replaced."""
    reason = blocking_reason(track, without_keys=True)
    if reason is None and edited_outside([track])[0]:
        reason = track.finding("EDITED_OUTSIDE")
    if reason is not None:
        raise AnimationError(reason)


def channels_to_key(datablock: bpy.types.ID, tcb_paths: Collection[str], report: Report) -> Channels:
    """Return the channels for writing new keys, after removing TCB from the tracks with these paths."""
    if tcb_paths:
        report.notes += remove_tracks(datablock, tcb_paths).notes
    channels = ensured_channels(datablock)
    return editable_channels(datablock, report.notes) if channels.action.library is not None else channels


def _chosen(
    track: Track,
    frames: Float64Array,
    values: Float64Array,
    given: dict[str, Float64Array],
    sides: tuple[Float64Array | None, ...],
    dialect: Dialect,
    kinds: npt.NDArray[np.uint8],
) -> tuple[dict[str, Float64Array] | None, tuple[Float64Array, Float64Array] | None]:
    """Return the parameters if the track can be TCB. Otherwise, return the slopes before and after the keys."""
    within = all(((given[name] >= LIMITS[name][0]) & (given[name] <= LIMITS[name][1])).all() for name in PARAMETERS)
    has_tangents = any(side is not None for side in sides)
    if dialect == "3DS" and within and not has_tangents:
        return given, None
    if any(given[name].any() for name in ("ease_to", "ease_from")):
        raise ValueError(rpt_("ease_to and ease_from must be from 0 to 1, with parameters from -1 to 1"))
    parameters = np.stack([given[name] for name in _TANGENTS])
    slopes = _slopes(dialect, frames, values, parameters, sides)
    is_bezier = bool((kinds == INTERPOLATION["BEZIER"]).all())
    found = None if track.is_rotation or has_tangents or not is_bezier else as_3ds(dialect, frames, values, parameters)
    if found is not None:
        return {**given, **dict(zip(_TANGENTS, found, strict=True))}, None
    return None, slopes


def _slopes(
    dialect: Dialect,
    frames: Float64Array,
    values: Float64Array,
    parameters: Float64Array,
    sides: tuple[Float64Array | None, ...] = (None, None),
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes before and after the keys, from the given sides or else from the parameters."""
    before, after = slopes_of_keys(dialect, frames, values, parameters)
    given = [np.zeros(values.shape, dtype=np.bool_) if side is None else ~np.isnan(side) for side in sides]
    for slopes, side, is_given in zip((before, after), sides, given, strict=True):
        if side is not None:
            slopes[is_given] = side[is_given]
    # Blender extrapolates along the outer handles.
    before[0] = np.where(given[0][0], before[0], after[0])
    after[-1] = np.where(given[1][-1], after[-1], before[-1])
    return before, after


def _write(
    datablock: bpy.types.ID,
    track: Track,
    frames: Float32Array,
    values: Float64Array,
    parameters: dict[str, Float64Array] | None,
    slopes: tuple[Float64Array, Float64Array] | None,
    kinds: npt.NDArray[np.uint8],
) -> Report:
    """Write the keys of a track."""
    report = Report()
    before, after = slopes or _slopes("3DS", frames.astype(np.float64), values, np.zeros((3, len(frames))))
    with np.errstate(over="ignore", invalid="ignore"):
        keys = [_keyframes(frames, *columns, kinds) for columns in zip(values.T, before.T, after.T, strict=True)]
    _check_handles(track, keys)
    channels = channels_to_key(datablock, {track.path} if track.enabled else (), report)
    own = {fcurve.array_index: fcurve for fcurve in channels if fcurve.data_path == track.path}
    for index, channel_keys in enumerate(keys):
        fcurve = own.get(index) or channels.new(track.path, index, group_of(track.path))
        write(fcurve, channel_keys)
    report.add(Report(1, int(isinstance(datablock, bpy.types.Object)), 1, len(frames)))
    evaluate_anew(channels.action)
    if parameters is not None:
        _enable(datablock, track.path, frames, parameters, kinds, report)
    return report


def _enable(
    datablock: bpy.types.ID,
    path: str,
    frames: Float32Array,
    parameters: dict[str, Float64Array],
    kinds: npt.NDArray[np.uint8],
    report: Report,
) -> None:
    """Make a track TCB with these parameters, and play it with handles."""
    channels = ensured_channels(datablock)
    track = find_track(datablock, path)
    numbers = {name: np.where(own != 0.0, own, np.nan) for name, own in parameters.items()}
    enable_tracks(channels, [track], [default_settings(track)], [numbers])
    names = {number: name for name, number in INTERPOLATION.items()}
    for kind in np.unique(kinds[kinds != INTERPOLATION["BEZIER"]]).tolist():
        write_numbers([Change(channels, find_track(datablock, path), frames[kinds == kind], _unchanged)], names[kind])
    played = bake_many([datablock], Options(output="HANDLES"), {datablock: [path]})
    report.errors += played.errors
    report.notes += played.notes
    report.handles += played.handles
    report.value_error, report.rotation_error = played.value_error, played.rotation_error
    report.values_exact, report.rotations_exact = played.values_exact, played.rotations_exact


def _unchanged(_index: int, _own: Any, _there: BoolArray) -> dict[str, Float64Array]:
    return {}


def _keyframes(
    frames: Float32Array,
    values: Float64Array,
    before: Float64Array,
    after: Float64Array,
    kinds: npt.NDArray[np.uint8],
) -> Keyframes:
    """Return keys with FREE handles at thirds of the segments."""
    count = len(frames)
    at = frames.astype(np.float64)
    length = np.diff(at) / 3.0
    ends = length if count > 1 else np.array([_ALONE])
    reach_before, reach_after = np.append(ends[0], length), np.append(length, ends[-1])
    blank = Keyframes(
        **{name: np.zeros((count, *getattr(NO_KEYS, name).shape[1:]), getattr(NO_KEYS, name).dtype) for name in NAMES}
    )
    keys = made_like(
        blank,
        np.stack((at, values), axis=-1),
        np.stack((at - reach_before, values - before * reach_before), axis=-1),
        np.stack((at + reach_after, values + after * reach_after), axis=-1),
    )
    free = np.full(count, HANDLE["FREE"], dtype=np.uint8)
    keyed = np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8)
    return keys.with_(handle_left_type=free, handle_right_type=free.copy(), interpolation=kinds, type=keyed)


def _check_handles(track: Track, keys: list[Keyframes]) -> None:
    """Raise AnimationError if Blender could not evaluate the handles in float32."""
    handles = np.concatenate([side for each in keys for side in (each.handle_left, each.handle_right)], axis=1)
    too_long = ~(np.abs(handles) <= LARGEST_PLAYED).all(axis=1)
    if too_long.any():
        raise track.error("HANDLES_TOO_LONG", frame=float(keys[0].frames[np.argmax(too_long)]))


def group_of(path: str) -> str:
    """Return the name of the channel group that Blender would use for the property."""
    bone = re.fullmatch(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.\w+|\["(?:[^"\\]|\\.)*"\])', path)
    if bone:
        return str(bpy.utils.unescape_identifier(bone[1]))
    return _TRANSFORMS if re.fullmatch(r"(?:delta_)?(?:location|rotation_\w+|scale)", path) else ""
