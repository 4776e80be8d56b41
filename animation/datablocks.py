# SPDX-License-Identifier: GPL-3.0-or-later
"""The animated datablocks of an object or a file, and their names in messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import bpy

from .arguments import checked

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
"""True if actions have slots and layers."""

_NODE_OWNERS = ("materials", "worlds", "lights", "scenes", "linestyles")


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
    yield from _animated(_parts(item))


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
    rest = list(bpy.data.user_map())
    parts = (part for item in bpy.data.objects for part in _parts(item))
    yield from _animated([*parts, *rest, *(tree for owner in rest if (tree := _nodes(owner)))])


def users_of(action: bpy.types.Action) -> list[bpy.types.ID]:
    """Return the datablocks that the action currently animates."""
    return users_of_each([action])[action]


def users_of_each(
    actions: Collection[bpy.types.Action], in_strips: bool = False
) -> dict[bpy.types.Action, list[bpy.types.ID]]:
    """Return the datablocks that each action currently animates. The file is searched only once.

    If `in_strips` is true, datablocks that use the action in an NLA strip are included.
    """
    owners = bpy.data.user_map(subset=set(actions)) if actions else {}
    users = {}
    for action in actions:
        parts = [*owners[action], *(tree for owner in owners[action] if (tree := _nodes(owner)))]
        animated = _animated(sorted(parts, key=_by_name))
        users[action] = [part for part in animated if _plays(part, action) or (in_strips and strips_of(part, action))]
    return users


def _plays(datablock: bpy.types.ID, action: bpy.types.Action) -> bool:
    data = animation_data(datablock)
    return data is not None and data.action == action


def strips_of(datablock: bpy.types.ID, action: bpy.types.Action) -> list[bpy.types.NlaStrip]:
    """Return the datablock's NLA strips that use the action."""
    return [strip for strip in action_strips(datablock) if strip.action == action]


def action_strips(datablock: bpy.types.ID) -> list[bpy.types.NlaStrip]:
    """Return the datablock's NLA strips that play an action, including muted strips and strips inside meta strips."""
    data: Any = animation_data(datablock)
    tracks = data.nla_tracks if data is not None else ()
    return [strip for track in tracks for strip in _with_inner(track.strips) if strip.action is not None]


def _with_inner(strips: Iterable[Any]) -> Iterator[Any]:
    for strip in strips:
        yield strip
        yield from _with_inner(strip.strips)


def animation_data(datablock: bpy.types.ID) -> bpy.types.AnimData | None:
    """Return the datablock's animation data, or None if there is none."""
    data: bpy.types.AnimData | None = getattr(datablock, "animation_data", None)
    return data


def _by_name(datablock: bpy.types.ID) -> tuple[str, str]:
    return type(datablock).__name__, datablock.name_full


def action_time(datablock: bpy.types.ID, frame: float) -> float:
    """Convert a scene frame to action time, which differs if an NLA strip of the datablock is in tweak mode."""
    animation = animation_data(datablock)
    if animation is None or not animation.use_tweak_mode:
        return frame
    return float(animation.nla_tweak_strip_time_to_scene(frame, invert=True))


def frame_rate(scene: Any) -> float:
    """Return the scene's frames per second."""
    return float(scene.render.fps / scene.render.fps_base)


def bone_path(bone: bpy.types.PoseBone) -> str:
    """Return the common path prefix of the bone's tracks."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'


def name_of(datablock: bpy.types.ID) -> str:
    """Return the datablock's name as shown to users. A material's node tree is named after the material.

    For datablocks other than objects, the name includes the kind, because a camera object and its camera often share a
    name. The kind is not translated, because tables and the machine-readable output of the command line also contain
    the name.
    """
    if isinstance(datablock, bpy.types.Object):
        return datablock.name
    if not datablock.is_embedded_data:
        kind: Any = datablock.bl_rna
        return f"{datablock.name} ({kind.name.lower()})"
    for owners in _NODE_OWNERS:
        for owner in getattr(bpy.data, owners):
            if _nodes(owner) == datablock:
                return f"{owner.name} (nodes)"
    return datablock.name


def _parts(item: bpy.types.Object) -> Iterator[bpy.types.ID]:
    yield item
    data = item.data
    if data is None:
        return
    yield data
    yield from _present(getattr(data, "shape_keys", None), _nodes(data))
    for slot in item.material_slots:
        yield from _present(slot.material, slot.material and _nodes(slot.material))


def _nodes(owner: bpy.types.ID) -> bpy.types.NodeTree | None:
    # Since Blender 5.0 a scene's compositing nodes are a separate node group, and scene.node_tree no longer exists.
    return getattr(owner, "node_tree", None)


def _present(*datablocks: bpy.types.ID | None) -> Iterator[bpy.types.ID]:
    yield from (datablock for datablock in datablocks if datablock is not None)


def _animated(datablocks: Iterable[bpy.types.ID]) -> Iterator[bpy.types.ID]:
    seen = set()
    for datablock in datablocks:
        if datablock.as_pointer() not in seen and animation_data(datablock) is not None:
            seen.add(datablock.as_pointer())
            yield datablock
