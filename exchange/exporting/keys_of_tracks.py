# SPDX-License-Identifier: GPL-3.0-or-later
"""Create a file's keys from Blender's tracks: the animator's keys of TCB tracks, and samples of other tracks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.bake.plans.track_splines import TrackSpline, track_splines
from ...animation.checks.track_state import state
from ...animation.datablocks import name_of
from ...animation.fcurves.channels import channels_of
from ...animation.fcurves.keyframes import Float64Array
from ...animation.sampling.properties import PropertySampler, curves_of
from ...animation.sampling.transforms import orientations, played_values
from ...animation.store.editable import blocking_reason
from ...animation.store.find_tracks import find_tracks
from ...animation.store.read_own_keys import read_own_keys
from ...animation.store.tracks import Track, rotation_property
from ...interp import evaluate_many, rotations
from ...interp.fitting.curves import ROTATION_TOLERANCE
from ...interp.fitting.tcb_parameters import sample_frames
from ...interp.keys import PARAMETERS
from ...interp.rotations.base_rotation_spline import Path
from ...interp.splines import tcb
from ..conversion import Conversion
from ..keys import Keys, still
from ..report import AddNote
from ..rotation_modes import ModeKeys
from .file_tracks import RunsAndGaps
from .samples import (
    SampleLimit,
    change_outside,
    is_played_by_splines,
    other_control,
    played_fcurves,
    reason_to_sample_track,
    sampled,
    sampled_turns,
    span_of_keys,
)

_NOTE_OF_STATE = {
    "TCB": "WRITTEN_UNBAKED",
    "OUT_OF_DATE": "WRITTEN_OUT_OF_DATE",
    "EDITED_OUTSIDE": "WRITTEN_EDITED_OUTSIDE",
    "OTHER_MODE": "WRITTEN_OTHER_MODE",
}
"""Codes of notes by track state, for keys that are still written."""


class DatablockTracks:
    """The tracks of a datablock, and their keys for the file."""

    def __init__(
        self,
        datablock: bpy.types.ID,
        obj: Any,
        scene: bpy.types.Scene,
        limit: SampleLimit,
        conversion: Conversion,
        add_note: AddNote,
    ) -> None:
        """Find the tracks of the datablock: the object, its data, or data without an object.

        Raises AnimationError if an action with several layers animates it.
        """
        self.datablock = datablock
        self.obj = obj
        self.scene = scene
        self.limit = limit
        self.conversion = conversion
        self.add_note = add_note
        try:
            tracks = find_tracks(datablock, channels_of(datablock))
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                raise
            tracks = []
        self._tracks = {track.path: track for track in tracks if track.in_use and played_fcurves(track)}
        self._splines_of_path: dict[str, list[TrackSpline]] = {}

    def value_keys(self, path: str) -> Keys:
        """Return the keys of a numeric property, or one key if it is not animated. Raises AnimationError."""
        reason = other_control(self.datablock, path)
        if reason and self.obj is not None:
            frames, values = self.sampled_values(path)
            self.add_note("WRITTEN_AS_SAMPLES", reason, len(frames), track=path)
            return sampled(frames, values)
        if reason:
            self.add_note("REASON_LEFT", reason, track=path)
        track = self._tracks.get(path)
        if track is None:
            return still(_value(self.datablock, path))
        self._note_state(track)
        splines = self._splines(track)
        if len(splines) == 1 and track.settings.method == tcb.METHOD.name:
            spline = splines[0]
            keys = self._joined_keys(track, spline) or _keys(spline, spline.values)
            values = _rest_values(track, len(keys))
            values[:, spline.components] = keys.values
            return keys.with_values(values)
        frames = self._sampled_frames(track, splines)
        return sampled(frames, _evaluated(track, splines, frames))

    def turn_keys(self) -> Keys:
        """Return the keys of the rotation as turns from the previous key. Raises AnimationError."""
        track = self._rotation_track()
        if track is None:
            values = _value(self.obj, rotation_property(self.obj.rotation_mode))
            axis, angle = rotations.to_axis_angle(orientations(self.obj.rotation_mode, values[np.newaxis])[0])
            return still(np.append(angle, axis))
        splines = self._splines(track)
        if splines and track.settings.method == tcb.METHOD.name:
            if track.settings.ends != "3DS":
                self.add_note("ENDS_NOT_IN_FILE", track=track.path)
            spline = splines[0]
            if all(_can_be_turns(track, run) for run in spline.runs):
                return self._joined_keys(track, spline) or _keys(spline, _turns(track, spline))
        frames = self._sampled_frames(track, splines)
        if splines:
            return sampled_turns(frames, evaluate_many([splines[0].spline], frames)[0])
        return sampled_turns(frames, orientations(self.obj.rotation_mode, _evaluated(track, [], frames)))

    def rotation_keys(self) -> ModeKeys:
        """Return the rotation of the object's own properties. Raises AnimationError."""
        track = self._rotation_track()
        if track is None or not any(len(fcurve.keyframe_points) for fcurve in track.channels.values()):
            path = rotation_property(self.obj.rotation_mode)
            return ModeKeys(self.obj.rotation_mode, still(_value(self.obj, path)), None, is_one_spline=track is None)
        self._note_state(track)
        splines = self._all_splines(track)
        keys = _keys(splines[0], splines[0].values)
        settings = track.settings if is_played_by_splines(track) else None
        return ModeKeys(self.obj.rotation_mode, keys, settings, len(splines[0].runs) == 1)

    def sampled_values(self, *paths: str) -> tuple[Float64Array, Float64Array]:
        """Return the whole frames at which these properties of the data change, and their values, one per column."""
        curves = curves_of(self.datablock)
        fcurves = [fcurve for path in paths for fcurve in curves.get(path, {}).values()]
        span = span_of_keys(fcurves)
        if any(other_control(self.datablock, path) for path in paths) or change_outside(fcurves, span, self.scene):
            span = span.with_frames_of(self.scene)
        self.limit.take(span.frame_count, name_of(self.datablock), paths[0])
        frames = span.frames()
        values = PropertySampler(self.scene, self.obj, frames).values(self.datablock, paths)
        return frames, np.column_stack([values[path] for path in paths])

    def is_keyed(self, path: str) -> bool:
        return path in self._tracks

    def is_animated(self, path: str) -> bool:
        """Return whether keys, drivers or NLA strips animate the property."""
        return self.is_keyed(path) or other_control(self.datablock, path) is not None

    def _rotation_track(self) -> Track | None:
        return next((track for path, track in self._tracks.items() if path.startswith("rotation_")), None)

    def _sampled_frames(self, track: Track, splines: Sequence[TrackSpline]) -> Float64Array:
        """Return the frames at which a track is sampled, and add a note."""
        fcurves = list(played_fcurves(track).values())
        span = span_of_keys(fcurves)
        # TCB motion continues outside its keys only in cycles.
        goes_on = track.settings.cycle != "SINGLE" if splines else change_outside(fcurves, span, self.scene)
        if goes_on:
            span = span.with_frames_of(self.scene)
        self.limit.take(span.frame_count, track.name, track.path)
        reason = reason_to_sample_track(track)
        code = "WRITTEN_AS_SAMPLES_OUTSIDE" if goes_on else "WRITTEN_AS_SAMPLES"
        self.add_note(code, reason, span.frame_count, track=track.path)
        return span.frames()

    def _splines(self, track: Track) -> list[TrackSpline]:
        """Return the splines of the track's components, or none if something else plays the track."""
        if not is_played_by_splines(track):
            return []
        # Locked tracks can be read.
        reason = None if track.locked else blocking_reason(track)
        if reason:
            raise AnimationError(reason)
        self._note_lost_effects(track)
        return self._all_splines(track)

    def _note_lost_effects(self, track: Track) -> None:
        """Note the F-curve modifiers of a TCB track, or extrapolation other than its cycle."""
        modifiers = [modifier for fcurve in track.channels.values() for modifier in fcurve.modifiers]
        kinds = {modifier.type.lower() for modifier in modifiers if not modifier.mute} - {"cycles"}
        if kinds:
            self.add_note("MODIFIERS_LEFT", ", ".join(sorted(kinds)), track=track.path)
            return
        fcurves = list(played_fcurves(track).values())
        if track.settings.cycle == "SINGLE" and change_outside(fcurves, span_of_keys(fcurves), self.scene):
            self.add_note("GOES_ON_OUTSIDE", track=track.path)

    def _all_splines(self, track: Track) -> list[TrackSpline]:
        """Return the splines of the track's components, even if something else plays the track."""
        if track.path not in self._splines_of_path:
            self._splines_of_path[track.path] = track_splines(track, track.settings, read_own_keys(track), {})
        return self._splines_of_path[track.path]

    def _joined_keys(self, track: Track, spline: TrackSpline) -> Keys | None:
        """Return and note keys for a spline and the segments between its runs, or None for a single run."""
        if len(spline.runs) == 1:
            return None
        first, last = self.conversion.frames_in_file([spline.runs[0].frames[0], spline.runs[-1].frames[-1]])
        self.limit.check(last - first, track.name, track.path)
        turns = partial(_turns, track) if track.is_rotation else None
        keys, added_keys, samples = RunsAndGaps(spline, self.conversion, turns).joined_keys()
        self.limit.take(sum(added_keys) + sum(samples), track.name, track.path)
        if added_keys:
            self.add_note("SEGMENT_FILLED", len(added_keys), sum(added_keys), track=track.path)
        if samples:
            self.add_note("SPLINE_SAMPLED", len(samples), sum(samples), track=track.path)
        return keys

    def _note_state(self, track: Track) -> None:
        """Note keys that the file plays differently from Blender because the bake is out of date."""
        has_several_keys = any(len(fcurve.keyframe_points) > 1 for fcurve in track.channels.values())
        code = _NOTE_OF_STATE.get(state(track)) if has_several_keys and is_played_by_splines(track) else None
        if code is not None:
            self.add_note(code, track=track.path)


def _turns(track: Track, spline: TrackSpline) -> Float64Array:
    """Return a rotation's keys as turns, each with an angle and an axis, shape (n, 4)."""
    path = track.settings.path
    if path != "SHORTEST" and track.kind == "EULER":
        angles, axes = rotations.turns_of_euler(spline.values, track.order)
    elif path != "SHORTEST" and track.kind == "AXIS_ANGLE":
        angles, axes = rotations.turns_of_axis_angle(spline.values[:, 0], spline.values[:, 1:])
    else:
        literal_path: Path = "SHORTEST" if path == "SHORTEST" else "AS_KEYED"
        angles, axes = rotations.rotations_to_turns(spline.spline.keys.values, path=literal_path)
    return np.column_stack((angles, axes))


def _can_be_turns(track: Track, run: TrackSpline) -> bool:
    """Return whether turns from key to key, each about one axis, give the motion of the rotation."""
    spline = run.spline
    if not isinstance(spline, tcb.RotationSpline) or spline.full_turns is None:
        return True
    turns = _turns(track, run)
    with_turns = tcb.RotationSpline.from_turns(
        spline.keys.frames,
        turns[:, 0],
        turns[:, 1:],
        **dict(zip(PARAMETERS, spline.keys.parameters, strict=True)),
        cycle=spline.cycle,
        ends=spline.ends,
        construction=spline.construction,
    )
    frames = sample_frames(spline.keys.frames).ravel()
    return bool(rotations.angle_between(spline(frames), with_turns(frames)).max() < ROTATION_TOLERANCE)


def _value(datablock: bpy.types.ID, path: str) -> Float64Array:
    value = datablock.path_resolve(path)
    return np.array([value] if isinstance(value, float) else value[:], dtype=np.float64)


def _keys(spline: TrackSpline, values: Float64Array) -> Keys:
    keys = spline.spline.keys
    return Keys(keys.frames, values, np.array(keys.parameters), spline.spline.cycle)


def _evaluated(track: Track, splines: Sequence[TrackSpline], frames: Float64Array) -> Float64Array:
    values = played_values(_rest_values(track, 1)[0].tolist(), played_fcurves(track), frames)
    for spline in splines:
        values[:, spline.components] = evaluate_many([spline.spline], frames)[0]
    return values


def _rest_values(track: Track, count: int) -> Float64Array:
    """Return the values of the components without animation, shape (count, components)."""
    return np.tile([track.component(index) for index in range(len(track.rest))], (count, 1))
