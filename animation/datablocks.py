# SPDX-License-Identifier: GPL-3.0-or-later
"""Find animated datablocks, the users and NLA strips of actions, and the names of datablocks in messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import bpy

from .arguments import checked

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
"""True if actions have slots and layers."""

_NODE_OWNERS = ("materials", "worlds", "lights", "scenes", "linestyles", "textures")
"""Collections in `bpy.data` whose datablocks can own a node tree."""


@checked
def of_object(item: bpy.types.Object) -> Iterator[bpy.types.ID]:
    """Yield the animated datablocks among an object, its data, its shape keys, its materials and their node trees.

    Parameters
    ----------
    item : bpy.types.Object
        The object.

    Returns
    -------
    iterator of bpy.types.ID
        The animated datablocks.

    Examples
    --------
    >>> [each.name for each in animation.of_object(ball)]
    ['Ball']
    """
    yield from animated(_used_by(item))


def of_file() -> Iterator[bpy.types.ID]:
    """Yield every animated datablock in the open file: each object with the datablocks it uses, then all others.

    Returns
    -------
    iterator of bpy.types.ID
        The animated datablocks, without duplicates.

    Examples
    --------
    >>> [each.name for each in animation.of_file()]
    ['Ball', 'Rig']
    """
    all_datablocks = list(bpy.data.user_map())
    used_by_objects = (datablock for item in bpy.data.objects for datablock in _used_by(item))
    yield from animated([*used_by_objects, *all_datablocks, *_node_trees(all_datablocks)])


def _used_by(item: bpy.types.Object) -> Iterator[bpy.types.ID]:
    """Yield the object, its data, its shape keys, its materials and their node trees."""
    yield item
    data = item.data
    if data is None:
        return
    yield data
    shape_keys: bpy.types.Key | None = getattr(data, "shape_keys", None)
    if shape_keys is not None:
        yield shape_keys
    yield from _node_trees([data])
    for slot in item.material_slots:
        if slot.material is not None:
            yield slot.material
            yield from _node_trees([slot.material])


def _node_trees(datablocks: Iterable[bpy.types.ID]) -> Iterator[bpy.types.NodeTree]:
    """Yield the node trees that the datablocks own."""
    for datablock in datablocks:
        # Since Blender 5.0 a scene's compositing nodes are a separate node group, and scene.node_tree no longer exists.
        node_tree: bpy.types.NodeTree | None = getattr(datablock, "node_tree", None)
        if node_tree is not None:
            yield node_tree


def animated(datablocks: Iterable[bpy.types.ID]) -> Iterator[bpy.types.ID]:
    """Yield the datablocks that have animation data, without duplicates."""
    pointers = set()
    for datablock in datablocks:
        if datablock.as_pointer() not in pointers and animation_data(datablock) is not None:
            pointers.add(datablock.as_pointer())
            yield datablock


def animation_data(datablock: bpy.types.ID) -> bpy.types.AnimData | None:
    """Return the datablock's animation data, or None if it has none or its type cannot be animated."""
    animation: bpy.types.AnimData | None = getattr(datablock, "animation_data", None)
    return animation


def name_of(datablock: bpy.types.ID) -> str:
    """Return the datablock's name as shown to users. A material's node tree is named after the material.

    For datablocks other than objects, the name includes the kind, because a camera object and its camera often share a
    name. The kind is not translated, because tables and the machine-readable output of the command line also contain
    the name.
    """
    if isinstance(datablock, bpy.types.Object):
        return datablock.name
    if not datablock.is_embedded_data:
        rna_type: Any = datablock.bl_rna
        return f"{datablock.name} ({rna_type.name.lower()})"
    for collection in _NODE_OWNERS:
        for owner in getattr(bpy.data, collection):
            if getattr(owner, "node_tree", None) == datablock:
                return f"{owner.name} (nodes)"
    return datablock.name


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
        candidates = [*referrers[action], *_node_trees(referrers[action])]
        candidates.sort(key=lambda datablock: (type(datablock).__name__, datablock.name_full))
        users[action] = [
            datablock
            for datablock in animated(candidates)
            if _plays(datablock, action) or (in_strips and strips_of(datablock, action))
        ]
    return users


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
