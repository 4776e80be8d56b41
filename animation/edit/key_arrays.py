# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace the keys of a track with keys given as arrays, and return its keys as arrays.

For the checks of the arrays, see `given_keys.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...interp.fitting.tcb_dialects import Dialect
from ..arguments import checked
from ..bake.pipeline import rebake
from ..bake.plans.spline_keys import LARGEST_VALUE
from ..datablocks import name_of
from ..fcurves.channels import (
    Channels,
    check_editable,
    editable_channels,
    ensured_channels,
    evaluate_anew,
    is_without_curves,
    users_of_channels,
)
from ..fcurves.keyframes import INTERPOLATION, SAME_FRAME, Float32Array, Float64Array, Keyframes
from ..fcurves.read_and_write import write
from ..report import AnimationError, Finding, Report
from ..sampling.properties import driven_components
from ..store.editable import blocking_reason
from ..store.find_tracks import Properties, played_otherwise
from ..store.read_own_keys import read_own_keys
from ..store.record_keys import enable_tracks
from ..store.table.rows import PARAMETERS
from ..store.table.track_records import Options
from ..store.tracks import Track
from ..store.up_to_date import edited_outside
from ..text import rpt_
from .free_restore_apply_remove import remove_tracks
from .given_keys import GivenKeys, KeyInterpolation, checked_keys
from .parameters import Change, write_numbers
from .track_keys import find_track, keys_of

_NAMES = {number: name for name, number in INTERPOLATION.items()}
"""Names of interpolations by Blender's numbers."""


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
    """Tension, shape (n,). As with all parameters, values that are not set are 0."""
    continuity: Float64Array
    bias: Float64Array
    ease_to: Float64Array
    ease_from: Float64Array
    tangents_in: Float64Array | None
    """Slopes of the left handles of plain tracks, per frame, shape (n, d), or None for TCB tracks."""
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
    interpolation: KeyInterpolation | Sequence[KeyInterpolation] = "BEZIER",
    dialect: Dialect = "3DS",
) -> Report:
    """Replace the keys of a track with keys that have TCB parameters or tangents from another program.

    With 3D Studio or 3ds Max parameters from -1 to 1, the track becomes TCB and is played by handles. With other
    parameters, the track becomes TCB if 3D Studio parameters exist that produce the same tangents. Otherwise, the track
    stays plain, with handles that reproduce the tangents exactly, and a note reports this. If the track is baked, the
    bake and the saved keys are discarded.

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
        Slopes per frame before and after each key, which replace the slopes defined by parameters. If a slope is NaN,
        the slope defined by the parameters is used. If the slope before the first key or after the last key is not
        given, it equals the slope on the other side of the key.
    interpolation : str or sequence of str
        Interpolation of the segment after each key: "BEZIER", "LINEAR" or "CONSTANT".
    dialect : {"3DS", "LIGHTWAVE", "FBX", "KB"}
        The convention that defines the parameters: 3D Studio and 3ds Max, LightWave 6 and later, FBX, or the paper by
        Kochanek and Bartels.

    Returns
    -------
    Report
        `tracks` is 1, and `keys` is n. If handles only approximate the motion, the report includes the deviation.

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
    given = checked_keys(
        frames,
        values,
        dict(zip(PARAMETERS, (tension, continuity, bias, ease_to, ease_from), strict=True)),
        tangents_in,
        tangents_out,
        interpolation,
        dialect,
    )
    keyed_property = _property_to_key(datablock, track)
    size = given.values.shape[1]
    if size != len(keyed_property.rest):
        raise ValueError(
            rpt_("values of {:s} must have {:d} components, not {:d}", track, len(keyed_property.rest), size)
        )
    parameters = given.tcb_parameters(keyed_property.is_rotation)
    keys = given.keyframes(has_parameters=parameters is None)
    _check_handles(keyed_property, keys)
    report = _write(datablock, keyed_property, keys)
    if parameters is not None:
        _enable(datablock, track, given, parameters, report)
    elif given.bends_tangents() and not given.has_tangents:
        report.notes.append(keyed_property.finding("STAYS_PLAIN"))
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
        Frames, values, parameters, tangents and interpolations. All numbers have float32 precision, like keys in
        Blender. Keys written by `set_keys` and not edited since are returned bit for bit, except tangents, which are
        computed from the handles. If the components of a key have different parameters, the means are returned.

    Raises
    ------
    AnimationError
        The track does not exist or has no keys, or its channels have keys at different frames or with different
        interpolations.

    Examples
    --------
    >>> keys = animation.get_keys(ball, "location")
    >>> keys.interpolation
    ['BEZIER', 'BEZIER', 'BEZIER']
    """
    keyed_track = find_track(datablock, track)
    all_keys = keys_of(datablock, keyed_track)
    own_keys = all_keys.own
    if any(len(fcurve.sampled_points) for fcurve in keyed_track.channels.values()):
        raise keyed_track.error("SAMPLED_CURVE")
    if not own_keys:
        raise keyed_track.error("NO_KEYS")
    indices = sorted(own_keys)
    channel_keys = [own_keys[index].keys for index in indices]
    frames = channel_keys[0].frames
    for keys in channel_keys:
        if len(keys) != len(frames) or (np.abs(keys.frames - frames) > SAME_FRAME).any():
            raise keyed_track.error("KEYED_APART")
    is_different = np.any([keys.interpolation != channel_keys[0].interpolation for keys in channel_keys], axis=0)
    if is_different.any():
        raise keyed_track.error("INTERPOLATION_APART", frame=float(frames[np.argmax(is_different)]))
    values = np.empty((len(frames), len(keyed_track.rest)))
    values[:] = [keyed_track.component(index) for index in range(len(keyed_track.rest))]
    values[:, indices] = np.stack([keys.values for keys in channel_keys], axis=-1)
    tangents_in = tangents_out = None
    if not keyed_track.enabled:
        tangents_in, tangents_out = np.zeros_like(values), np.zeros_like(values)
        for index, keys in zip(indices, channel_keys, strict=True):
            tangents_in[:, index] = _slopes(keys.co, keys.handle_left)
            tangents_out[:, index] = _slopes(keys.co, keys.handle_right)
    return KeyArrays(
        frames=frames.astype(np.float64),
        values=values,
        **all_keys.parameters({}),
        tangents_in=tangents_in,
        tangents_out=tangents_out,
        interpolation=[_NAMES[number] for number in channel_keys[0].interpolation.tolist()],
        dialect="3DS",
    )


def _property_to_key(datablock: bpy.types.ID, path: str) -> Track:
    """Return the property as a track. Raise AnimationError if the property can't be keyed."""
    check_can_have_keys(datablock)
    track = Properties(datablock).track(path)
    if track is None:
        raise AnimationError(Finding("PROPERTY_UNKNOWN", name_of(datablock), path))
    check_can_be_keyed(datablock, track, range(len(track.rest)))
    return track


def _check_handles(track: Track, keys: Sequence[Keyframes]) -> None:
    """Raise AnimationError if Blender could not evaluate the handles in float32."""
    handles = np.concatenate(
        [side for component in keys for side in (component.handle_left, component.handle_right)], axis=1
    )
    is_too_large = ~(np.abs(handles) <= LARGEST_VALUE).all(axis=1)
    if is_too_large.any():
        raise track.error("HANDLES_TOO_LONG", frame=float(keys[0].frames[np.argmax(is_too_large)]))


def _write(datablock: bpy.types.ID, track: Track, keys: Sequence[Keyframes]) -> Report:
    """Replace the keys of a track, and remove TCB from the track."""
    path = track.path
    report = Report.on([datablock], tracks=1)
    report.keys = len(keys[0])
    channels = channels_to_key(datablock, [path] if track.enabled else [], report)
    curves = {fcurve.array_index: fcurve for fcurve in channels if fcurve.data_path == path}
    for index, channel_keys in enumerate(keys):
        write(curves.get(index) or channels.new(path, index, group_of(path)), channel_keys)
    evaluate_anew(channels.action)
    return report


def _enable(
    datablock: bpy.types.ID, path: str, given: GivenKeys, parameters: Mapping[str, Float64Array], report: Report
) -> None:
    """Enable TCB on the new keys with these parameters, and play the keys with handles."""
    channels = ensured_channels(datablock)
    plain = find_track(datablock, path)
    numbers = {name: np.where(values != 0.0, values, np.nan) for name, values in parameters.items()}
    enable_tracks(channels, [plain], numbers=[numbers])
    kinds = given.interpolation
    for kind in np.unique(kinds[kinds != INTERPOLATION["BEZIER"]]).tolist():
        track = find_track(datablock, path)
        change = Change(channels, track, read_own_keys(track), given.stored_frames[kinds == kind])
        write_numbers([change], _NAMES[kind])
    (users,) = users_of_channels([channels])
    track = find_track(datablock, path)
    played = rebake(users, channels, [track], Options(output="HANDLES"), keep_options=False)
    report.notes += played_otherwise([track], users)
    # The track and its keys are already counted.
    report.add(replace(played, datablocks=0, objects=0, tracks=0, keys=0))


def _slopes(co: Float32Array, handles: Float32Array) -> Float64Array:
    """Return the slopes of the handles on one side of the keys, or 0 for vertical handles and handles on their keys."""
    frames, values = (handles - co).astype(np.float64).T
    slopes: Float64Array = np.divide(values, frames, out=np.zeros(len(frames)), where=frames != 0.0)
    return slopes


# Properties that get new keys, also from tables


_BONE_PROPERTY = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.\w+|\["(?:[^"\\]|\\.)*"\])')
_TRANSFORM = re.compile(r"(?:delta_)?(?:location|rotation_\w+|scale)")


def check_can_have_keys(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if the datablock's animation can't be edited.

    A datablock without F-curves passes the check.
    """
    if datablock.library is not None or not is_without_curves(datablock):
        check_editable(datablock)


def check_can_be_keyed(datablock: bpy.types.ID, track: Track, components: Iterable[int]) -> None:
    """Raise AnimationError if the track is blocked or edited outside TCB, or if a driver sets one of the components."""
    driven = driven_components(datablock)
    for index in components:
        if (track.path, index) in driven:
            raise track.error("COMPONENT_DRIVEN", index)
    reason = blocking_reason(track, without_keys=True)
    if reason is None and edited_outside([track])[0]:
        reason = track.finding("EDITED_OUTSIDE")
    if reason is not None:
        raise AnimationError(reason)


def channels_to_key(datablock: bpy.types.ID, tcb_paths: Collection[str], report: Report) -> Channels:
    """Return the channels for writing new keys, after removing TCB from the tracks with these paths."""
    if tcb_paths:
        report.notes += remove_tracks(datablock, tcb_paths).notes
    ensured_channels(datablock)
    return editable_channels(datablock, report.notes)


def group_of(path: str) -> str:
    """Return the name of the channel group that Blender would use for the property."""
    bone = _BONE_PROPERTY.fullmatch(path)
    if bone:
        return str(bpy.utils.unescape_identifier(bone[1]))
    return "Object Transforms" if _TRANSFORM.fullmatch(path) else ""
