# SPDX-License-Identifier: GPL-3.0-or-later
"""The F-curves that animate a datablock, in every Blender version.

4.2 keeps F-curves in the action itself; 4.4 and later keep them per slot, in channelbags. The slot is always the one
that the datablock's animation data names, never the first one of the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ..datablocks import HAS_SLOTS, action_time, animation_data, users_of_each
from ..errors import AnimationError
from ..records import record
from .action_refusals import check_one_layer, editable_action, layered_reason, without_fcurves


@record()
class Channels:
    """The F-curves of one slot of one action (before slots: of the action)."""

    action: bpy.types.Action
    slot_handle: int
    """0 where the action has no slots."""
    bag: Any
    """The channelbag, or in 4.2 the action: both have `fcurves` and `groups`."""

    @property
    def identity(self) -> tuple[int, int]:
        """Return a key that is equal for two datablocks that share their F-curves."""
        return self.action.as_pointer(), self.slot_handle

    def __iter__(self) -> Iterator[bpy.types.FCurve]:
        return iter(self.bag.fcurves)

    def new(self, data_path: str, index: int, group: bpy.types.ActionGroup | str | None = None) -> bpy.types.FCurve:
        """Add an F-curve that is not selected, in a channel group.

        The group is given itself or by name, and made where no group has that name.
        """
        fcurve: bpy.types.FCurve = self.bag.fcurves.new(data_path, index=index)
        # Blender selects a new F-curve; and if any channel is selected, it pastes and inserts keys in selected channels
        # only.
        fcurve.select = False
        if isinstance(group, str):
            group = self.bag.groups.get(group) or self.bag.groups.new(group) if group else None
        if group is not None:
            fcurve.group = group
        return fcurve

    def remove(self, fcurve: bpy.types.FCurve) -> None:
        self.bag.fcurves.remove(fcurve)


def channels_of(datablock: bpy.types.ID) -> Channels:
    """Return the F-curves that animate `datablock` now (in NLA tweak mode: those of the strip being tweaked).

    Raises AnimationError where there are none, with the reason.
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
    """Return the F-curves that an NLA strip of the datablock plays.

    Raises AnimationError where there are none, or several layers, with the reason.
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


def users_of_channels(every: Iterable[Channels]) -> list[list[bpy.types.ID]]:
    """Return the datablocks that each of these sets of F-curves animates now, in order of name."""
    every = list(every)
    users = users_of_each(list(dict.fromkeys(channels.action for channels in every)))
    return [[user for user in users[channels.action] if animates(channels, user)] for channels in every]


def animates(channels: Channels, datablock: bpy.types.ID) -> bool:
    """Return whether these F-curves animate the datablock."""
    try:
        return channels_of(datablock).identity == channels.identity
    except AnimationError:
        return False


def channels_in(action: bpy.types.Action) -> Iterator[Channels]:
    """Yield the F-curves of every slot of `action`.

    For an action with several layers or strips they are those of each strip, and must only be read.
    """
    if not HAS_SLOTS:
        yield Channels(action, 0, action)
        return
    for strip in _keyframe_strips(action):
        for slot in action.slots:
            # Iterating over `channelbags` gives references with their owners, and from 5.0 every key read from one gets
            # these owners too: reading takes five times as long.
            bag = strip.channelbag(slot)
            if bag is not None:
                yield Channels(action, slot.handle, bag)


def new_action(datablock: bpy.types.ID, name: str) -> Channels:
    """Assign a new action without F-curves to the datablock, in place of one that it may have."""
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
    """Return whether the datablock has no F-curves yet and can get some."""
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
    """Return the F-curves as `channels_of` does; where there are none, make the action or channelbag for them."""
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
    """Assign `action`, and in versions with slots its slot of that handle, to `datablock`."""
    animation: Any = animation_data(datablock)
    animation.action = action
    if HAS_SLOTS:
        animation.action_slot = next(slot for slot in action.slots if slot.handle == slot_handle)


def evaluate_anew(action: bpy.types.Action) -> None:
    """Make Blender evaluate the action anew at the current frame.

    Poses that are not keyed are lost. `update_tag` without more keeps them, and evaluates no keys written in bulk.
    """
    action.update_tag(refresh={"TIME"})


def played_now(users: Iterable[bpy.types.ID], fcurves: Iterable[bpy.types.FCurve]) -> list[float]:
    """Return the values of F-curves of the users' action at the current frame of each scene."""
    scenes: Any = bpy.data.scenes
    curves = list(fcurves)
    frames = {action_time(user, scene.frame_current_final) for user in users for scene in scenes}
    return [fcurve.evaluate(frame) for frame in sorted(frames) for fcurve in curves]


def evaluate_if(changed: bool, action: bpy.types.Action) -> None:
    """Evaluate the action anew if values at the current frame have changed; else poses that are not keyed stay."""
    if changed:
        evaluate_anew(action)
    else:
        action.update_tag()


def _channelbag(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> Any:
    for strip in _keyframe_strips(action):
        bag = strip.channelbag(slot)
        if bag is not None:
            return bag
    return None


def _keyframe_strips(action: bpy.types.Action) -> Iterator[Any]:
    for layer in action.layers:
        for strip in layer.strips:
            if strip.type == "KEYFRAME":
                yield strip
