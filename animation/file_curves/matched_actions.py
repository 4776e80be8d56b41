# SPDX-License-Identifier: GPL-3.0-or-later
"""Match the actions of imported objects with the takes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...formats.motion import Take
from ...interp.keys import Float64Array
from ..datablocks import HAS_SLOTS, animation_data
from ..errors import AnimationError
from ..fcurves.channels import Channels, channels_in
from ..fcurves.linked_data import check_editable
from ..fcurves.read_keys import read_coordinates
from ..report import Report
from ..scene_time import frame_rate
from .clock import Clock
from .items import FCurves
from .matching import Match, Matcher


@dataclass(frozen=True, eq=False)
class MatchedAction:
    """An action of an object, with the take that it plays and the matches of the object's items."""

    channels: Channels
    take: Take
    clock: Clock
    matches: list[Match]


def matched_actions(matcher: Matcher, report: Report) -> Iterator[MatchedAction]:
    """Yield the actions of the items' owners that match a take. Add actions that can't be edited to the report."""
    for owner in dict.fromkeys(item.owner for item in matcher.items):
        for channels in _actions_of(owner, report):
            matched = _with_best_take(matcher, owner, channels)
            if matched is not None:
                yield matched


def _actions_of(owner: bpy.types.Object, report: Report) -> Iterator[Channels]:
    """Yield the action of an object, and the actions that importers placed in its NLA tracks."""
    data: Any = animation_data(owner)
    if data is None:
        return
    yielded = set()
    if data.action is not None:
        try:
            channels = check_editable(owner)
        except AnimationError as refusal:
            report.errors += [finding for finding in refusal.findings if not finding.has_nothing_to_do]
        else:
            yielded.add(channels.identity)
            yield channels
    for strip in (strip for track in data.nla_tracks for strip in track.strips):
        action = strip.action
        if action is None or action.library is not None or owner.library is not None:
            continue
        for channels in channels_in(action):
            is_played = not HAS_SLOTS or (strip.action_slot and strip.action_slot.handle == channels.slot_handle)
            if is_played and channels.identity not in yielded:
                yielded.add(channels.identity)
                yield channels


def _with_best_take(matcher: Matcher, owner: bpy.types.Object, channels: Channels) -> MatchedAction | None:
    """Return an owner's action with the take that fits best, or None."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in channels if len(fcurve.keyframe_points)}
    best: MatchedAction | None = None
    fewest_faults = np.inf, np.inf
    action = channels.action.name
    # Takes that are named in the action come first. An importer may have created an action from one of their layers.
    takes = sorted(matcher.file.takes, key=lambda take: not take.name or take.name not in action)
    layers = [(take, layer) for take in takes for layer in (take, *take.layers)]
    for take, layer in layers:
        clock = _clock(matcher, layer, owner, fcurves)
        if clock is None:
            continue
        matches = matcher.matches(layer, clock, owner, fcurves)
        if not matches:
            continue
        # Poses that do not fit, and keys of the file that are missing in the F-curves.
        faults = sum(match.misfit is not None for match in matches), sum(match.unkeyed for match in matches)
        if best is None or faults < fewest_faults:
            whole_matches = matches if layer is take else _with_all_layers(matches, layer, take)
            best, fewest_faults = MatchedAction(channels, take, clock, whole_matches), faults
        if not any(faults):
            break
    return best


def _clock(matcher: Matcher, take: Take, owner: bpy.types.Object, fcurves: FCurves) -> Clock | None:
    """Return the conversion of the take's times to the frames of the owner's keys, or None without common items."""
    key_frames_by_prefix: dict[str, list[Float64Array]] = {}
    for (path, _), fcurve in fcurves.items():
        frames = read_coordinates(fcurve)[::2].astype(np.float64)
        key_frames_by_prefix.setdefault(path.rpartition(".")[0], []).append(frames)
    pairs = []
    for item in matcher.items:
        key_frames = key_frames_by_prefix.get(item.prefix.removesuffix("."), []) if item.owner == owner else []
        for node in matcher.candidates(item) if key_frames else ():
            if node in take.motions:
                pairs.append((take.motions[node], np.concatenate(key_frames)))
    return Clock.find(pairs, frame_rate(bpy.context.scene))


def _with_all_layers(matches: Sequence[Match], layer: Take, take: Take) -> list[Match]:
    """Return matches found from an action of one layer, with the combined motion of all layers."""
    combined = []
    for match in matches:
        whole = take.motions[match.node]
        is_about_pivot = match.motion is not layer.motions[match.node] and whole.pivot is not None
        combined.append(replace(match, motion=whole.about_pivot() if is_about_pivot else whole))
    return combined
