# SPDX-License-Identifier: GPL-3.0-or-later
"""Create and remove frame functions, which retime motion. Frame functions are read in `store/frame_functions.py`.

A new frame function is an ordinary F-curve with a few keys, which the animator can edit. The F-curve has a modifier if
its keys repeat, or if their values range from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ...interp.fitting.curves import handles
from ...interp.retiming import Between, ConstantSpeed
from ..arguments import Parameters, Positive, checked
from ..bake.plans.track_splines import track_splines
from ..datablocks import name_of
from ..fcurves.channels import (
    Channels,
    channels_of,
    check_editable,
    editable_channels,
    ensured_channels,
    is_without_curves,
)
from ..fcurves.keyframes import ONE_KEY, union
from ..fcurves.read_and_write import key_curve, read_coordinates
from ..options import RETIME
from ..records import record
from ..report import AnimationError, Finding
from ..sampling.properties import is_driven
from ..store.find_tracks import find_tracks
from ..store.paths import FRAME_FUNCTION, frame_function_path, give_name, take_name
from ..store.read_own_keys import key_frames, read_own_keys
from ..text import rpt_
from .track_keys import find_track

_BETWEEN: dict[str, Between] = {"CONSTANT_SPEED": "ENDS", "CONSTANT_SPEED_KEYS": "KEYS"}
_MEASURED = 50
"""Maximum number of frames at which the speed of a frame function is measured between two keys."""
_REPEATED = {"LOOP": "REPEAT", "PING_PONG": "MIRROR"}


@record()
class Timing:
    """A new frame function."""

    curve: bpy.types.FCurve
    """The F-curve of the frame function."""
    speed_change: float | None = None
    """The maximum relative error in the distance per frame, with the curve evaluated by Blender. None for shapes
    without constant speed."""


@checked
def retime(  # noqa: PLR0913
    datablock: bpy.types.ID,
    shape: str = RETIME["shape"].default,
    *,
    track: str = "",
    by: str = "",
    of: bpy.types.ID | None = None,
    scale: Positive = RETIME["scale"].default,
    frame: float | None = None,
    length: Positive = RETIME["length"].default,
    defaults: Parameters | None = None,
) -> Timing:
    """Create or replace the frame function of a track, datablock or scene. Bake afterward to play the new timing.

    Parameters
    ----------
    datablock : bpy.types.ID
        Any datablock that can be animated, for example an object, a camera or a scene.
    shape : str
        AS_IT_IS keeps the timing, F(t) = t. SCALE multiplies the duration by `scale`, starting at the first key.
        REVERSE reverses the motion. HOLD holds the pose at `frame` for `length` frames. LOOP repeats the motion from
        the first to the last key. PING_PONG repeats the motion, and reverses every second repetition. FRACTION has keys
        with values 0 and 1, which an Envelope modifier maps to the first and the last key. CONSTANT_SPEED keeps a
        constant speed along the path of the track, or of the track `by`. CONSTANT_SPEED_KEYS keeps a constant speed
        between neighboring keys.
    track : str
        Path of the track to retime. If empty, all tracks of the datablock are retimed.
    by : str
        Path of the track whose speed is to be constant. Default: `track`.
    of : bpy.types.ID, optional
        Datablock of the track whose speed becomes constant, for example an object of a scene. Default: `datablock`.
    scale : float
        Factor by which to scale the duration, greater than 0.
    frame : float, optional
        The frame to hold. Default: the middle of the motion.
    length : float
        Number of frames to hold.
    defaults : mapping, optional
        Parameters by name, for keys that have none of their own.

    Raises
    ------
    AnimationError
        There is no motion to which the shape can be applied, or the datablock can't be edited.
    ValueError
        The shape does not exist, or a number is out of range.

    Examples
    --------
    >>> report = animation.enable(ball)
    >>> timing = animation.retime(ball, "HOLD", frame=20, length=10)
    >>> timing.curve.evaluate(50)
    40.0
    >>> report = animation.bake(ball)
    """
    shapes = RETIME["shape"].choices
    if shape not in shapes:
        raise ValueError(rpt_("shape {!r} is not one of {:s}", shape, ", ".join(shapes)))
    if shape in _BETWEEN:
        if not (by or track):
            raise AnimationError(Finding("TIMING_WHICH_TRACK", name_of(datablock)))
        timed = find_track(of or datablock, by or track)
        splines = track_splines(timed, timed.settings, read_own_keys(timed), defaults or {})
        speed = ConstantSpeed([track_spline.spline for track_spline in splines], _BETWEEN[shape])
        if not speed.arc.length:
            raise timed.error("TIMING_STILL")
        fcurve = _cleared_curve(datablock, track)
        _write_speed(fcurve, speed)
        _notify_blender(fcurve)
        return Timing(fcurve, _speed_error(fcurve, speed))
    first, last = _bounds(datablock, track)
    held = (first + last) / 2.0 if frame is None else frame
    if shape == "HOLD" and not first <= held <= last:
        raise AnimationError(Finding("TIMING_OUTSIDE", name_of(datablock), track, arguments=(first, last)))
    fcurve = _cleared_curve(datablock, track)
    _write_lines(fcurve, _keys_of_shape(shape, first, last, scale=scale, held=held, length=length))
    if shape in _REPEATED:
        modifier: Any = fcurve.modifiers.new("CYCLES")
        modifier.mode_before = modifier.mode_after = _REPEATED[shape]
    elif shape == "FRACTION":
        _map_fraction(fcurve, first, last)
    else:
        fcurve.extrapolation = "LINEAR"
    _notify_blender(fcurve)
    return Timing(fcurve)


@checked
def remove_retiming(datablock: bpy.types.ID, track: str = "") -> None:
    """Remove the frame function of the datablock or of one of its tracks. Bake afterward to play the original timing.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the frame function.
    track : str
        Path of the track with the frame function. If empty, the frame function of the datablock is removed.

    Raises
    ------
    AnimationError
        There is no frame function.

    Examples
    --------
    >>> report = animation.enable(ball)
    >>> timing = animation.retime(ball, "REVERSE", track="location")
    >>> animation.remove_retiming(ball, "location")
    """
    no_function = AnimationError(Finding("NO_TIMING", name_of(datablock), track))
    if is_without_curves(datablock):
        raise no_function
    check_editable(datablock)
    path = _curve_path(datablock, track)
    channels = editable_channels(datablock)
    fcurve = channels.find(path)
    if fcurve is None:
        raise no_function
    _check_unlocked(datablock, track, fcurve)
    _notify_blender(fcurve)
    channels.remove(fcurve)
    if track:
        take_name(datablock, find_track(datablock, track).path)


def _bounds(datablock: bpy.types.ID, track: str) -> tuple[float, float]:
    """Return the first and last frames of the motion, that is, the range of the keys or of the scene."""
    if isinstance(datablock, bpy.types.Scene) and not track:
        first, last = float(datablock.frame_start), float(datablock.frame_end)
    else:
        tracks = [find_track(datablock, track)] if track else find_tracks(datablock, channels_of(datablock))
        frames = union([key_frames(keyed) for keyed in tracks if keyed.in_use])
        if not len(frames):
            raise AnimationError(Finding("NO_KEYS", name_of(datablock), track))
        first, last = float(frames[0]), float(frames[-1])
    if not first < last:
        raise AnimationError(Finding("TIMING_ONE_KEY", name_of(datablock), track))
    return first, last


def _keys_of_shape(
    shape: str, first: float, last: float, *, scale: float, held: float, length: float
) -> Sequence[tuple[float, float]]:
    """Return the keys of a shape other than constant speed, as frames and values."""
    unchanged = [(first, first), (last, last)]
    return {
        "AS_IT_IS": unchanged,
        "SCALE": [(first, first), (first + scale * (last - first), last)],
        "REVERSE": [(first, last), (last, first)],
        "HOLD": _hold_keys(first, last, held, length),
        "LOOP": unchanged,
        "PING_PONG": unchanged,
        "FRACTION": [(first, 0.0), (last, 1.0)],
    }[shape]


def _hold_keys(first: float, last: float, held: float, length: float) -> list[tuple[float, float]]:
    keys = [(held, held), (held + length, held)]
    # At the first or last frame, the held frame takes the place of the end.
    if held - first > ONE_KEY:
        keys.insert(0, (first, first))
    if last - held > ONE_KEY:
        keys.append((last + length, last))
    return keys


def _curve_path(datablock: bpy.types.ID, track: str) -> str:
    return frame_function_path(find_track(datablock, track).path) if track else FRAME_FUNCTION


def _writable_channels(datablock: bpy.types.ID, track: str) -> Channels:
    """Return the F-curves to edit. Create the action for a datablock's own frame function if it is missing."""
    if not track and datablock.library is None and is_without_curves(datablock):
        return ensured_channels(datablock)
    check_editable(datablock)
    return editable_channels(datablock)


def _cleared_curve(datablock: bpy.types.ID, track: str) -> bpy.types.FCurve:
    """Return the F-curve of the frame function, unmuted and without modifiers, and create it if it is missing."""
    path = _curve_path(datablock, track)
    if is_driven(datablock, path):
        raise AnimationError(Finding("TIMING_DRIVEN", name_of(datablock), track, arguments=(path,)))
    channels = _writable_channels(datablock, track)
    group = None
    if track:
        # Find the track again, because the editable channels may belong to a copy.
        timed = find_track(datablock, track)
        # A bake may have locked the group, but a frame function is editable.
        group = None if timed.is_baked else timed.group
        give_name(datablock, timed.path)
    fcurve = channels.find(path)
    if fcurve is None:
        return channels.new(path, 0, group)
    _check_unlocked(datablock, track, fcurve)
    if len(fcurve.sampled_points):
        # Blender would otherwise continue to play the samples.
        channels.remove(fcurve)
        return channels.new(path, 0, group)
    for modifier in list(fcurve.modifiers):
        fcurve.modifiers.remove(modifier)
    fcurve.mute = False
    return fcurve


def _check_unlocked(datablock: bpy.types.ID, track: str, fcurve: bpy.types.FCurve) -> None:
    if fcurve.lock or (fcurve.group is not None and fcurve.group.lock):
        raise AnimationError(Finding("TIMING_LOCKED", name_of(datablock), track))


def _write_lines(fcurve: bpy.types.FCurve, keys: Sequence[tuple[float, float]]) -> None:
    """Write linear keys. VECTOR handles keep the curve straight if the animator changes the keys to Bezier."""
    frames, values = np.array(keys).T
    key_curve(fcurve, frames, values)
    for point in fcurve.keyframe_points:
        point.interpolation = "LINEAR"
        point.handle_left_type = point.handle_right_type = "VECTOR"
    fcurve.extrapolation = "CONSTANT"
    fcurve.update()


def _map_fraction(fcurve: bpy.types.FCurve, first: float, last: float) -> None:
    """Add an Envelope modifier that maps values from 0 to 1 to the frames from `first` to `last`."""
    modifier: Any = fcurve.modifiers.new("ENVELOPE")
    modifier.reference_value, modifier.default_min, modifier.default_max = 0.0, 0.0, 1.0
    points = modifier.control_points
    points.add(first)
    # Do not use `points[0].min = first`. The setter treats the point as the modifier itself, and accessing its memory
    # may crash Blender (4.2 to 5.2).
    points.foreach_set("min", [first])
    points.foreach_set("max", [last])


def _write_speed(fcurve: bpy.types.FCurve, speed: ConstantSpeed) -> None:
    """Write Bezier keys that keep the speed constant."""
    keys = speed.keys()
    key_curve(fcurve, keys.frames, keys.values)
    points = fcurve.keyframe_points
    for point in points:
        point.handle_left_type = point.handle_right_type = "FREE"
    left, right = handles(keys.frames, keys.values, keys.incoming, keys.outgoing)
    points.foreach_set("handle_left", left.ravel())
    points.foreach_set("handle_right", right.ravel())
    fcurve.extrapolation = "CONSTANT"
    fcurve.update()


def _speed_error(fcurve: bpy.types.FCurve, speed: ConstantSpeed) -> float:
    """Return the maximum relative error of the distance per frame, at up to `_MEASURED` frames between two keys."""
    key_frames_of_curve = read_coordinates(fcurve)[::2].astype(np.float64)
    edges = np.clip(np.floor(key_frames_of_curve), math.ceil(speed.arc.first), math.floor(speed.arc.last))
    samples = [np.linspace(start, end, min(int(end - start), _MEASURED) + 1).round() for start, end in pairwise(edges)]
    frames = np.unique(np.concatenate(samples))
    next_frames = np.minimum(frames + 1.0, edges[-1])
    played = speed.arc.at([fcurve.evaluate(frame) for frame in frames.tolist()])
    distances = speed.arc.at([fcurve.evaluate(frame) for frame in next_frames.tolist()]) - played
    # If a key changes the speed within a frame, the distance must be between the distances at the two speeds.
    expected = speed.arc.at(speed(next_frames)) - speed.arc.at(speed(frames))
    moves = expected > 0.0
    return float(np.abs(distances[moves] / expected[moves] - 1.0).max(initial=0.0))


def _notify_blender(fcurve: bpy.types.FCurve) -> None:
    """Notify Blender, and therefore Live, of the edit."""
    action: Any = fcurve.id_data
    action.update_tag()
