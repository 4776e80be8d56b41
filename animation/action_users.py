# SPDX-License-Identifier: GPL-3.0-or-later
"""The datablocks that an action animates, directly or through NLA strips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import bpy

from .datablocks import animated, animation_data, node_trees


def users_of(action: bpy.types.Action) -> list[bpy.types.ID]:
    """Return the datablocks that the action animates outside the NLA."""
    return users_of_each([action])[action]


def users_of_each(
    actions: Collection[bpy.types.Action], in_strips: bool = False
) -> dict[bpy.types.Action, list[bpy.types.ID]]:
    """Return the datablocks that each action animates outside the NLA. The file is searched only once.

    If `in_strips` is true, datablocks that use the action in an NLA strip are included.
    """
    referrers = bpy.data.user_map(subset=set(actions)) if actions else {}
    users = {}
    for action in actions:
        # A set has no order, but the order of messages must not vary.
        candidates = sorted([*referrers[action], *node_trees(referrers[action])], key=_type_and_name)
        users[action] = [
            datablock
            for datablock in animated(candidates)
            if _plays(datablock, action) or (in_strips and strips_of(datablock, action))
        ]
    return users


def _type_and_name(datablock: bpy.types.ID) -> tuple[str, str]:
    return type(datablock).__name__, datablock.name_full


def _plays(datablock: bpy.types.ID, action: bpy.types.Action) -> bool:
    animation = animation_data(datablock)
    return animation is not None and animation.action == action


def strips_of(datablock: bpy.types.ID, action: bpy.types.Action) -> list[bpy.types.NlaStrip]:
    """Return the datablock's NLA strips that use the action."""
    return [strip for strip in action_strips(datablock) if strip.action == action]


def action_strips(datablock: bpy.types.ID) -> list[bpy.types.NlaStrip]:
    """Return the datablock's NLA strips that play an action, including muted strips and strips inside meta strips."""
    animation: Any = animation_data(datablock)
    tracks = animation.nla_tracks if animation is not None else ()
    return [strip for track in tracks for strip in _with_inner(track.strips) if strip.action is not None]


def _with_inner(strips: Iterable[Any]) -> Iterator[Any]:
    """Yield the strips, each followed by the strips inside it."""
    for strip in strips:
        yield strip
        yield from _with_inner(strip.strips)
