# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the tracks of a node to keys of a planned object."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from ...formats.three_ds import HIDDEN, Track
from ...interp import rotations
from ..clean_keys import AddNote, Keys, are_distinct, turn_keys, vector_keys
from ..conversion import Conversion
from ..rotation_modes import Choices, keys_in_some_mode
from .planned import PlannedObject

_UNLINKS = 0x700
"""Flags that unlink a track from axes of its parent."""
_LIMITS = {"FOV": (0.01, 173.6), "HOTSPOT": (0.0, 180.0), "FALLOFF": (1.0, 180.0)}
"""Degrees. A lens of 1 mm, Blender's shortest, has a field of view of 173.6 degrees."""
_QUANTITIES = {
    "SCALE": "scale",
    "FOV": "fov",
    "ROLL": "roll",
    "COLOR": "color",
    "HOTSPOT": "hotspot",
    "FALLOFF": "falloff",
}
_TRACKS_OF_KIND = {
    "OBJECT": {"POSITION", "ROTATION", "SCALE", "MORPH", "HIDE"},
    "CAMERA": {"POSITION", "FOV", "ROLL"},
    "CAMERA_TARGET": {"POSITION"},
    "LIGHT": {"POSITION", "COLOR"},
    "SPOTLIGHT": {"POSITION", "COLOR", "HOTSPOT", "FALLOFF", "ROLL"},
    "LIGHT_TARGET": {"POSITION"},
    "AMBIENT": {"COLOR"},
}


def add_keys(planned: PlannedObject, tracks: Iterable[Track], choices: Choices, add_note: AddNote) -> None:
    """Convert the tracks to keys of the planned object."""
    node, frame = planned.node, planned.frame
    converted_kinds = set()
    for track in tracks:
        # The reader warns about duplicates.
        if track.kind in converted_kinds or not len(track.frames):
            continue
        converted_kinds.add(track.kind)
        note_track = partial(_note_track, add_note, track.kind)
        if track.kind not in _TRACKS_OF_KIND[node.kind]:
            note_track(f"{node.kind}_LACKS_TRACK")
            continue
        if track.flags & _UNLINKS:
            note_track("UNLINKED_AXES")
        _add_track(planned, track, choices, note_track)
    if planned.hidden is None and node.flags[0] & HIDDEN:
        planned.hidden = Keys(np.zeros(1), np.ones((1, 1)), np.zeros((5, 1)))
    if planned.rotation is None and not frame.is_aimed and not frame.conversion.keeps_axes:
        _add_rest_rotation(planned, choices)


def _add_track(planned: PlannedObject, track: Track, choices: Choices, note_track: AddNote) -> None:
    """Convert a track that is valid for the node to keys of the planned object."""
    frame = planned.frame
    if track.kind == "ROTATION":
        turns = turn_keys(track, frame, choices.shorter_turns, note_track)
        planned.rotation = None if turns is None else keys_in_some_mode(turns, choices, note_track)
    elif track.kind == "HIDE":
        planned.hidden = _hidden_keys(track, bool(planned.node.flags[0] & HIDDEN), frame.conversion, note_track)
        if track.cycle != "SINGLE":
            note_track("CYCLE_LEFT")
    elif track.kind == "MORPH":
        frames = frame.conversion.frames(track.frames)
        names = [name.decode("latin-1") for name in track.names]
        planned.markers = list(zip(frames.tolist(), names, strict=True))
        note_track("MORPH_AS_MARKERS", len(track.frames))
    else:
        keys = vector_keys(track, frame.conversion, note_track)
        if keys is not None and track.kind == "POSITION":
            planned.keys["location"] = keys.with_values(frame.positions(keys.values))
        elif keys is not None:
            _note_limits(track, note_track)
            values = frame.scales(keys.values) if track.kind == "SCALE" else keys.values
            planned.keys[_QUANTITIES[track.kind]] = keys.with_values(values)


def _note_limits(track: Track, note_track: AddNote) -> None:
    """Note values that Blender limits."""
    low, high = _LIMITS.get(track.kind, (-np.inf, np.inf))
    is_outside = (track.values < low) | (track.values > high)
    if is_outside.any():
        note_track("ANGLE_OUT_OF_RANGE", int(is_outside.sum()), low, high)


def _note_track(add_note: AddNote, kind: str, code: str, *arguments: Any) -> None:
    add_note(code, *arguments, track=kind.lower())


def _add_rest_rotation(planned: PlannedObject, choices: Choices) -> None:
    """Add the rotation that results from converted axes for a node without rotation."""
    axis, angle = rotations.to_axis_angle(planned.frame.rest_quaternion())
    if angle:
        turns = Keys(np.zeros(1), np.append(angle, axis)[np.newaxis], np.zeros((5, 1)))
        planned.rotation = keys_in_some_mode(turns, choices, _drop_note)


def _drop_note(*_code: object, **_track: object) -> None:
    """Discard a note, because a single key does not need it."""


def _hidden_keys(track: Track, is_hidden: bool, conversion: Conversion, add_note: AddNote) -> Keys:
    """Return visibility keys. Each key in the file toggles the visibility. The node's flag is the initial state."""
    frames = np.sort(track.frames, kind="stable")
    first_frame = min(0, int(frames[0]) - 1)
    states = (np.arange(len(frames) + 1) + is_hidden) % 2
    frames = np.concatenate(([first_frame], frames))
    is_last_at_frame = np.append(np.diff(frames) > 0, True)
    scene_frames = conversion.frames(frames[is_last_at_frame])
    is_distinct = are_distinct(scene_frames, add_note)
    values = states[is_last_at_frame][is_distinct, np.newaxis].astype(np.float64)
    return Keys(scene_frames[is_distinct], values, np.zeros((5, len(values))))
