# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a track TCB, and setting its choices. Enable itself is in look.py."""

from __future__ import annotations

from typing import Any

import bpy

from ...words import rpt_
from ..bake.splines import made_by
from ..datablocks import name_of
from ..faults import Refusal
from ..fcurves.channels import Channels, assign, channels_of
from ..store.companions import give_names
from ..store.settings import Settings, chosen, make_settings, write_settings
from ..store.tracks import Track, find_tracks, why_not


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
        raise Refusal(name_of(datablock), rpt_("it is linked; make a library override of it, or open its own file"))
    action = channels_of(datablock).action
    if action.library is not None and datablock.override_library is None:
        raise Refusal(name_of(datablock), rpt_('its action "{:s}" is linked; make the action local first', action.name))
    if action.library is not None:
        check_not_tweaked(datablock)


def check_not_tweaked(datablock: bpy.types.ID) -> None:
    """Raises Refusal where Blender lets nobody give the datablock another action."""
    animation: Any = getattr(datablock, "animation_data", None)
    if animation is not None and animation.use_tweak_mode:
        raise Refusal(name_of(datablock), rpt_("an NLA strip of it is in tweak mode, so its action can't be exchanged"))


def writable(datablock: bpy.types.ID, track: Track) -> tuple[Channels, Track]:
    """The channels to write to, and the track there, which is another where the action had to be copied.

    Raises Refusal where the track can't be changed.
    """
    check_editable(datablock)
    reason = why_not(track)
    if reason:
        raise track.refusal(reason)
    before = channels_of(datablock).identity
    channels = editable_channels(datablock)
    if channels.identity != before:
        track = next(found for found in find_tracks(datablock, channels) if found.path == track.path)
    track.follow_rename()
    return channels, track


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
    known = ", ".join(track.path for track in tracks) or rpt_("none")
    raise Refusal(name_of(datablock), rpt_("it has no track of this name; its tracks: {:s}", known), name)


def choose(datablock: bpy.types.ID, track: str, **choices: str) -> None:
    """Set choices of a TCB track: method, cycle, ends, construction, path, angles.

    Raises Refusal where there is no such TCB track, or the method is not for its kind, ValueError where there is no
    such choice.
    """
    check_editable(datablock)
    found = find_track(datablock, track)
    if not found.enabled:
        raise found.refusal(rpt_("not a TCB track; enable it first"))
    settings = found.settings
    for choice, option in choices.items():
        settings = chosen(settings, choice, option)
    made_by(found, settings)
    editable_channels(datablock)
    companion = find_track(datablock, found.path).settings_curve
    assert companion is not None
    write_settings(companion, settings)
