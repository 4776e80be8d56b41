# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to the F-curves of a datablock in all supported Blender versions, and reasons why they cannot be edited.

An action with more than one layer or strip can't be edited, because its motion depends on several sets of F-curves.

Blender 4.2 stores F-curves in the action. Blender 4.4 and later store them per slot, in channelbags. This module always
uses the slot assigned in the datablock's animation data, never simply the first slot of the action.

Linked data can't be edited, but a library override gets a local copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ..datablocks import HAS_SLOTS, animation_data, name_of, users_of, users_of_each
from ..records import record
from ..report import AnimationError, Finding
from ..scene_time import action_time


def editable_action(datablock: bpy.types.ID) -> bpy.types.Action:
    """Return the action that the datablock plays. Raise AnimationError if there is no action to edit."""
    animation = animation_data(datablock)
    if animation is None or animation.action is None:
        if animation is not None and any(track.strips for track in animation.nla_tracks):
            raise AnimationError(Finding("ONLY_IN_STRIPS", name_of(datablock)))
        raise AnimationError(Finding("NO_ANIMATION", name_of(datablock)))
    action = animation.action
    if not HAS_SLOTS:
        return action
    check_one_layer(datablock, action)
    if animation.action_slot is None:
        raise AnimationError(Finding("NO_SLOT", name_of(datablock), arguments=(action.name,)))
    return action


def without_fcurves(datablock: bpy.types.ID, action: bpy.types.Action) -> AnimationError:
    """Return the error for a datablock whose action has no F-curves."""
    return AnimationError(Finding("NO_FCURVES", name_of(datablock), arguments=(action.name,)))


def layered_reason(action: bpy.types.Action) -> Finding | None:
    """Return the reason why the action's layers or strips prevent editing, or None if the action can be edited.

    Blender 5.2 reads and plays multi-layer actions, but cannot create them yet.
    """
    layers = action.layers if HAS_SLOTS else ()
    strips = sum(len(layer.strips) for layer in layers)
    if len(layers) <= 1 and strips <= 1:
        return None
    return Finding("LAYERED", arguments=(action.name, len(layers), strips))


def check_one_layer(datablock: bpy.types.ID, action: bpy.types.Action) -> None:
    """Raise AnimationError if the datablock's action has more than one layer or strip."""
    reason = layered_reason(action)
    if reason:
        raise AnimationError(reason.on(name_of(datablock)))


def layered_refusals(action: bpy.types.Action) -> list[Finding]:
    """If the action has more than one layer or strip, return an error for each datablock that it animates.

    For an action with one layer and one strip, the list is empty.
    """
    reason = layered_reason(action)
    return [reason.on(name_of(user)) for user in users_of(action)] if reason else []


# F-curves of a datablock


@record()
class Channels:
    """The F-curves in one slot of an action, or in the entire action in versions without slots."""

    action: bpy.types.Action
    slot_handle: int
    """Handle of the slot, or 0 if the action has no slots."""
    bag: Any
    """The channelbag, or the action in 4.2, each with `fcurves` and `groups`."""

    @property
    def identity(self) -> tuple[int, int]:
        """Return a hashable key that is equal for datablocks that share their F-curves."""
        return self.action.as_pointer(), self.slot_handle

    def __iter__(self) -> Iterator[bpy.types.FCurve]:
        return iter(self.bag.fcurves)

    def new(self, data_path: str, index: int, group: bpy.types.ActionGroup | str | None = None) -> bpy.types.FCurve:
        """Add an unselected F-curve in a channel group.

        `group` is a group, or the name of a group that is created if it is missing.
        """
        fcurve: bpy.types.FCurve = self.bag.fcurves.new(data_path, index=index)
        # Blender selects new F-curves. As long as any channel is selected, Blender pastes and inserts keys only in
        # selected channels.
        fcurve.select = False
        if isinstance(group, str):
            group = self.bag.groups.get(group) or self.bag.groups.new(group) if group else None
        if group is not None:
            fcurve.group = group
        return fcurve

    def find(self, data_path: str) -> bpy.types.FCurve | None:
        """Return the F-curve of a property with one component, or None."""
        fcurve: bpy.types.FCurve | None = self.bag.fcurves.find(data_path)
        return fcurve

    def remove(self, fcurve: bpy.types.FCurve) -> None:
        """Remove one of these F-curves."""
        self.bag.fcurves.remove(fcurve)


def channels_of(datablock: bpy.types.ID) -> Channels:
    """Return the F-curves that animate `datablock`. In NLA tweak mode, return the F-curves of the tweaked strip.

    Raises AnimationError with the reason if there are no F-curves.
    """
    action = editable_action(datablock)
    if not HAS_SLOTS:
        return Channels(action, 0, action)
    animation: Any = animation_data(datablock)
    bag = _channelbag(action, animation.action_slot)
    if bag is None:
        raise without_fcurves(datablock, action)
    return Channels(action, animation.action_slot.handle, bag)


def strip_channels(datablock: bpy.types.ID, strip: bpy.types.NlaStrip) -> Channels:
    """Return the F-curves played by an NLA strip of the datablock.

    Raises AnimationError with the reason if there are no F-curves or if the action has several layers.
    """
    action: Any = strip.action
    if not HAS_SLOTS:
        return Channels(action, 0, action)
    check_one_layer(datablock, action)
    slot = strip.action_slot
    bag = None if slot is None else _channelbag(action, slot)
    if slot is None or bag is None:
        raise without_fcurves(datablock, action)
    return Channels(action, slot.handle, bag)


def users_of_channels(sets: Iterable[Channels]) -> list[list[bpy.types.ID]]:
    """Return the datablocks animated by each set of F-curves, sorted by name."""
    sets = list(sets)
    users = users_of_each(list(dict.fromkeys(channels.action for channels in sets)))
    return [[user for user in users[channels.action] if animates(channels, user)] for channels in sets]


def animates(channels: Channels, datablock: bpy.types.ID) -> bool:
    """Return whether the F-curves animate the datablock."""
    try:
        return channels_of(datablock).identity == channels.identity
    except AnimationError:
        return False


def channels_in(action: bpy.types.Action) -> Iterator[Channels]:
    """Yield the F-curves of each slot of `action`.

    For an action with several layers or strips, yield the F-curves of each strip, which are read-only.
    """
    if not HAS_SLOTS:
        yield Channels(action, 0, action)
        return
    for strip in _keyframe_strips(action):
        for slot in action.slots:
            # Iterating over `channelbags` yields references that store their owners. From 5.0 on, each key read through
            # such a reference also stores the owners, which makes reading five times slower.
            bag = strip.channelbag(slot)
            if bag is not None:
                yield Channels(action, slot.handle, bag)


def new_action(datablock: bpy.types.ID, name: str) -> Channels:
    """Assign a new action without F-curves to the datablock, replacing its current action."""
    animation = datablock.animation_data_create()
    action: Any = bpy.data.actions.new(name)
    animation.action = action
    if not HAS_SLOTS:
        return Channels(action, 0, action)
    slot = action.slots.new(datablock.id_type, datablock.name)
    animation.action_slot = slot
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return Channels(action, slot.handle, strip.channelbag(slot, ensure=True))


def is_without_curves(datablock: bpy.types.ID) -> bool:
    """Return whether the datablock can be animated but has no F-curves."""
    animation = animation_data(datablock)
    if animation is None:
        return True
    action = animation.action
    if action is None:
        return not any(track.strips for track in animation.nla_tracks)
    if not HAS_SLOTS or action.library is not None or animation.action_slot is None or layered_reason(action):
        return False
    return _channelbag(action, animation.action_slot) is None


def ensured_channels(datablock: bpy.types.ID) -> Channels:
    """Return the same F-curves as `channels_of`. Create the action or channelbag if it is missing."""
    if is_without_curves(datablock):
        animation = animation_data(datablock)
        if animation is None or animation.action is None:
            return new_action(datablock, f"{datablock.name}Action")
        action = animation.action
        layer = action.layers[0] if action.layers else action.layers.new("Layer")
        strip: Any = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        strip.channelbag(animation.action_slot, ensure=True)
    return channels_of(datablock)


def assign(datablock: bpy.types.ID, action: bpy.types.Action, slot_handle: int) -> None:
    """Assign `action` to the datablock. In versions with slots, also assign the slot with this handle."""
    animation: Any = animation_data(datablock)
    animation.action = action
    if HAS_SLOTS:
        animation.action_slot = next(slot for slot in action.slots if slot.handle == slot_handle)


def evaluate_anew(action: bpy.types.Action) -> None:
    """Make Blender reevaluate the action at the current frame.

    Reevaluation discards unkeyed poses. Calling only `update_tag` would preserve these poses, but would not evaluate
    keys that were written in bulk.
    """
    action.update_tag(refresh={"TIME"})


def played_now(users: Iterable[bpy.types.ID], fcurves: Iterable[bpy.types.FCurve]) -> list[float]:
    """Return the values of the F-curves, which are in the users' action, at the current frame of each scene."""
    scenes: Any = bpy.data.scenes
    curves = list(fcurves)
    frames = {action_time(user, scene.frame_current_final) for user in users for scene in scenes}
    return [fcurve.evaluate(frame) for frame in sorted(frames) for fcurve in curves]


def evaluate_if(changed: bool, action: bpy.types.Action) -> None:
    """Reevaluate the action if the values at the current frame have changed. Otherwise, keep unkeyed poses."""
    if changed:
        evaluate_anew(action)
    else:
        action.update_tag()


def _channelbag(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> Any:
    """Return the first channelbag of the slot, or None."""
    for strip in _keyframe_strips(action):
        bag = strip.channelbag(slot)
        if bag is not None:
            return bag
    return None


def _keyframe_strips(action: bpy.types.Action) -> Iterator[Any]:
    """Yield the strips of all layers that contain F-curves."""
    for layer in action.layers:
        for strip in layer.strips:
            if strip.type == "KEYFRAME":
                yield strip


# Checks before edits


def editable_channels(datablock: bpy.types.ID, notes: list[Finding] | None = None) -> Channels:
    """Return the datablock's F-curves for editing. Raise AnimationError if the data are linked.

    A library override with a linked action gets a local copy of the action, which `notes` reports.
    """
    channels = check_editable(datablock)
    if channels.action.library is None:
        return channels
    assign(datablock, channels.action.copy(), channels.slot_handle)
    if notes is not None:
        notes.append(Finding("ACTION_COPIED", name_of(datablock), arguments=(channels.action.name,)))
    return channels_of(datablock)


def check_not_linked(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if the datablock is linked."""
    if datablock.library is not None:
        raise AnimationError(Finding("LINKED", name_of(datablock)))


def check_editable(datablock: bpy.types.ID) -> Channels:
    """Return the F-curves that animate the datablock. Raise AnimationError if the F-curves can't be edited.

    A linked action can be edited only through a library override, which gets a local copy.
    """
    check_not_linked(datablock)
    channels = channels_of(datablock)
    if channels.action.library is not None:
        if datablock.override_library is None:
            raise AnimationError(Finding("LINKED_ACTION", name_of(datablock), arguments=(channels.action.name,)))
        check_not_tweaked(datablock)
    return channels


def check_not_tweaked(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if an NLA strip is in tweak mode, in which Blender refuses to assign another action."""
    animation = animation_data(datablock)
    if animation is not None and animation.use_tweak_mode:
        raise AnimationError(Finding("TWEAKED", name_of(datablock)))
