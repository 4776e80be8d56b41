# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a track TCB, and setting its keys' parameters and its choices. Enable itself is in look.py."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .channels import Channels, assign, channels_of
from .companions import give_names
from .datablocks import name_of
from .faults import Refusal
from .parameters import check_parameter, set_parameter
from .reading import key_frames
from .settings import Settings, chosen, make_settings, write_settings
from .stamps import SAME_FRAME
from .tracks import Track, default_settings, find_tracks, why_not


def editable_channels(datablock: bpy.types.ID) -> Channels:
    """The F-curves of the datablock, to be written to.

    A library override keeps its own copy of a linked action: the copy is made here. Raises Refusal for linked data.
    """
    check_editable(datablock)
    channels = channels_of(datablock)
    if channels.action.library is None:
        return channels
    copy = channels.action.copy()
    assign(datablock, copy, channels.slot_handle)
    return channels_of(datablock)


def check_editable(datablock: bpy.types.ID) -> None:
    """Raises Refusal where the datablock's animation can't be written to."""
    if datablock.library is not None:
        raise Refusal(name_of(datablock), "it is linked; make a library override of it, or open its own file")
    action = channels_of(datablock).action
    if action.library is not None and datablock.override_library is None:
        raise Refusal(name_of(datablock), f'its action "{action.name}" is linked; make the action local first')
    if action.library is not None:
        check_not_tweaked(datablock)


def check_not_tweaked(datablock: bpy.types.ID) -> None:
    """Raises Refusal where Blender lets nobody give the datablock another action."""
    animation: Any = getattr(datablock, "animation_data", None)
    if animation is not None and animation.use_tweak_mode:
        raise Refusal(name_of(datablock), "an NLA strip of it is in tweak mode, so its action can't be exchanged")


def enable_track(datablock: bpy.types.ID, channels: Channels, track: Track, settings: Settings) -> bpy.types.FCurve:
    """Make the track TCB; returns the companion that says so."""
    give_names(datablock, track.path)
    track.settings_curve = make_settings(channels, track.path, track.group, settings)
    return track.settings_curve


def find_track(datablock: bpy.types.ID, name: str) -> Track:
    """The track of that path; `rotation` is the one of the present rotation mode. Raises Refusal."""
    tracks = find_tracks(datablock, channels_of(datablock))
    owner, _, last = name.rpartition(".")
    prefix = owner + "." if owner else ""
    for track in tracks:
        rotation = last == "rotation" and track.is_rotation and track.in_use and track.path.startswith(prefix + last)
        if track.path == name or rotation:
            return track
    known = ", ".join(track.path for track in tracks) or "none"
    raise Refusal(name_of(datablock), f"it has no track of this name; its tracks: {known}", name)


def key_set(datablock: bpy.types.ID, track: str, frame: float, **parameters: float) -> None:
    """Set parameters (tension, continuity, bias, ease_to, ease_from) of the key of `track` at `frame`.

    The track is made TCB where it isn't. Raises Refusal where there is no such track or key, or a number is out of
    range; then nothing is changed.
    """
    check_editable(datablock)
    found = find_track(datablock, track)
    at = key_at(found, frame)
    reason = why_not(found)
    if reason:
        raise found.refusal(reason)
    for name, value in parameters.items():
        check_parameter(found, name, value, at)
    channels = editable_channels(datablock)
    found = find_track(datablock, found.path)
    found.follow_rename()
    if not found.enabled:
        enable_track(datablock, channels, found, default_settings(found))
    for name, value in parameters.items():
        set_parameter(channels, found, name, at, value, _is_selected(found, at))


def key_at(track: Track, frame: float) -> float:
    """The exact frame of the animator's key at `frame`. Raises Refusal where there is none."""
    frames = key_frames(track)
    near = frames[np.abs(frames - frame) <= SAME_FRAME]
    if not len(near):
        raise track.refusal("no key at this frame", frame)
    return float(near[0])


def _is_selected(track: Track, frame: float) -> bool:
    return any(
        point.select_control_point and abs(point.co.x - frame) <= SAME_FRAME
        for fcurve in track.channels.values()
        for point in fcurve.keyframe_points
    )


def choose(datablock: bpy.types.ID, track: str, **choices: str) -> None:
    """Set choices of a TCB track: cycle, ends, construction, path.

    Raises Refusal where there is no such TCB track, ValueError where there is no such choice.
    """
    check_editable(datablock)
    found = find_track(datablock, track)
    if not found.enabled:
        raise found.refusal("not a TCB track; enable it first")
    settings = found.settings
    for choice, option in choices.items():
        settings = chosen(settings, choice, option)
    editable_channels(datablock)
    companion = find_track(datablock, found.path).settings_curve
    assert companion is not None
    write_settings(companion, settings)
