# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of action slots that are shared, removed, linked, overridden or used in the NLA."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.action_users import load, push_down, share, tweak, with_slots
from tests.animation.curves import (
    HAS_SLOTS,
    KEYS,
    action_bits,
    co,
    curve,
    differences,
    fcurves,
    has_table,
    key,
    keyed,
    new_object,
    snapshot,
)


def grouped(name: str = "Ball") -> bpy.types.Object:
    return keyed(name, group="Places")


def baked_frames(item: bpy.types.Object) -> int:
    return len(co(curve(item, "location")))


def test_a_shared_action_is_baked_once(animation) -> None:
    one, two = grouped("One"), new_object("Two")
    share(one.animation_data.action, two)
    report = animation.bake_many([one, two], animation.Options(), keep_look=False)
    assert (report.tracks, report.samples, report.datablocks) == (1, 3 * 37, 2)
    assert report.errors == []


@pytest.mark.parametrize("linked", [False, True])
def test_duplicating_an_object_in_the_viewport_keeps_the_bake(animation, linked: bool) -> None:
    item = grouped()
    before = snapshot(item)
    animation.bake(item, keep_look=False)
    baked = snapshot(item)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.duplicate(linked=linked)
    other = bpy.context.view_layer.objects.active
    assert other != item
    assert differences(baked, snapshot(other)) == []
    animation.bake(other)
    assert differences(baked, snapshot(other)) == []
    animation.restore(other)
    assert differences(before, snapshot(other), identities=False) == []
    assert linked or snapshot(item) == baked


# Slots


@with_slots
def test_no_slot_and_an_empty_slot_are_refused(animation) -> None:
    item, other = grouped(), new_object("Other")
    share(item.animation_data.action, other, item.animation_data.action.slots.new("OBJECT", "Other"))
    with pytest.raises(animation.AnimationError, match=r'"Other": .*has no F-curves'):
        animation.bake(other)
    item.animation_data.action_slot = None
    before = action_bits(item.animation_data.action)
    with pytest.raises(animation.AnimationError, match=r'"Ball": action "BallAction" has no slot for this datablock'):
        animation.bake(item)
    assert action_bits(item.animation_data.action) == before


def two_slots() -> tuple[bpy.types.Object, bpy.types.Object]:
    """Two objects, each with its own slot of one action."""
    one, two = grouped("One"), new_object("Two")
    action = one.animation_data.action
    share(action, two, action.slots.new("OBJECT", "Two"))
    key(two, "location", KEYS)
    return one, two


@with_slots
@pytest.mark.parametrize("verb", ["remove", "apply"])
def test_the_table_of_a_removed_slot_goes_with_the_other_slots(animation, verb: str) -> None:
    one, two = two_slots()
    action = one.animation_data.action
    for item in (one, two):
        animation.bake(item, keep_look=False)
    action.slots.remove(one.animation_data.action_slot)
    report = getattr(animation, verb)(two)
    assert report.tracks == 2
    assert animation.Finding("SLOTS_REMOVED", "Two", arguments=(1,)) in report.notes
    assert not has_table(two)


@with_slots
def test_the_table_goes_where_every_slot_was_removed(animation) -> None:
    one, two = two_slots()
    action = one.animation_data.action
    for item in (one, two):
        animation.bake(item, keep_look=False)
    for slot in list(action.slots):
        action.slots.remove(slot)
    share(action, one, action.slots.new("OBJECT", "New"))
    assert animation.remove(one).tracks == 2
    assert not has_table(one)
    with pytest.raises(animation.AnimationError, match="has no F-curves"):
        animation.remove(one)


# NLA


def two_strips(animation) -> tuple[bpy.types.Object, list[bpy.types.NlaStrip]]:
    """An object with two strips of one action, which have different scales, and a strip of another action."""
    item, other = grouped(), grouped("Other")
    second = other.animation_data.action
    slot = other.animation_data.action_slot if HAS_SLOTS else None
    strip = push_down(item)
    data = item.animation_data
    again = data.nla_tracks.new().strips.new("Again", 300, strip.action)
    more = data.nla_tracks.new().strips.new("More", 600, second)
    if HAS_SLOTS:
        again.action_slot, more.action_slot = strip.action_slot, slot
    again.scale, again.mute = 2.5, True
    other.animation_data.action = None
    return item, [strip, again, more]


@pytest.mark.parametrize("tweaked", [False, True])
@pytest.mark.parametrize("output", ["SAMPLES", "CURVES", "HANDLES"])
def test_the_actions_of_strips_are_baked_in_action_time_and_freed(animation, output: str, tweaked: bool) -> None:
    item, (strip, _, more) = two_strips(animation)
    twin = grouped("Twin")
    before = [action_bits(each.action) for each in (strip, more)]
    if tweaked:
        tweak(item)
    report = animation.bake(item, output=output, keep_look=False)
    animation.bake(twin, output=output, keep_look=False)
    assert (report.objects, report.tracks, report.errors) == (1, 2, [])
    wanted = snapshot(twin)
    for each in (strip, more):
        holder = new_object("Holder")
        share(each.action, holder, each.action_slot if HAS_SLOTS else None)
        assert differences(wanted, snapshot(holder), identities=False) == []
        holder.animation_data.action = None
    assert animation.remove(item).tracks == 2
    item.animation_data.use_tweak_mode = False
    assert [action_bits(each.action) for each in (strip, more)] == before


def test_plain_strips_beside_an_action_are_left_and_noted(animation) -> None:
    item = grouped()
    strip = push_down(item)
    before = action_bits(strip.action)
    item.animation_data.action = grouped("Other").animation_data.action
    if HAS_SLOTS:
        item.animation_data.action_slot = item.animation_data.action.slots[0]
    report = animation.enable(item, keep_look=False)
    assert report.tracks == 1
    name = strip.action.name
    assert report.notes[0] == animation.Finding("STRIPS_STAY_PLAIN", "Ball", arguments=((name,),))
    animation.bake(item)
    assert action_bits(strip.action) == before


@with_slots
def test_enable_names_a_strip_beside_an_action_whose_slot_is_missing(animation) -> None:
    item = grouped()
    strip = push_down(item)
    strip.action.slots.remove(strip.action.slots[0])
    item.animation_data.action = grouped("Other").animation_data.action
    item.animation_data.action_slot = item.animation_data.action.slots[0]
    report = animation.enable(item, keep_look=False)
    assert report.notes[0] == animation.Finding("STRIPS_STAY_PLAIN", "Ball", arguments=((strip.action.name,),))


def test_strips_extend_to_the_frames_of_the_action_that_they_play(animation) -> None:
    item = grouped()
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", cycle="REPEAT")
    first, last = co(curve(item, "location"))[[0, -1], 0]
    strip = push_down(item)
    strip.action_frame_end, strip.scale = last + 30, 2.0
    animation.bake(item, extend=(500, 900))
    holder = new_object("Holder")
    share(strip.action, holder, strip.action_slot if HAS_SLOTS else None)
    assert co(curve(holder, "location"))[[0, -1], 0].tolist() == [first, last + 30]


@with_slots
def test_a_strip_without_a_slot_is_refused_and_the_others_are_baked(animation) -> None:
    item, (strip, again, _) = two_strips(animation)
    for each in (strip, again):
        each.action_slot = None
    report = animation.bake(item, keep_look=False)
    assert report.tracks == 1
    (error,) = report.errors
    assert str(error) == f'"Ball": action "{strip.action.name}" has no F-curves for this datablock'


# Libraries


@pytest.fixture
def library(animation, tmp_path) -> str:
    """A file with a baked object and its action."""
    path = str(tmp_path / "library.blend")
    item = grouped()
    animation.key_set(item, "location", 10, tension=0.5)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return path


@pytest.fixture
def baked_library(animation, library) -> str:
    bpy.ops.wm.open_mainfile(filepath=library)
    animation.bake(bpy.data.objects["Ball"])
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return library


def test_a_linked_action_on_a_local_object_is_refused(animation, library) -> None:
    action = load(library, link=True).animation_data.action
    item = new_object("Local")
    share(action, item)
    before = action_bits(action)
    with pytest.raises(animation.AnimationError, match=r'"Local": action "BallAction" is linked\. Make it local'):
        animation.bake(item)
    assert action_bits(action) == before


@pytest.mark.parametrize("verb", ["free", "restore", "apply", "remove"])
def test_an_override_of_a_baked_object_gets_a_local_copy(animation, baked_library, verb: str) -> None:
    linked = load(baked_library, link=True)
    original, before = linked.animation_data.action, action_bits(linked.animation_data.action)
    item = linked.override_create()
    report = getattr(animation, verb)(item)
    assert (report.tracks, report.errors) == (1, [])
    assert any("A local copy is now used" in str(note) for note in report.notes)
    assert item.animation_data.action.library is None
    assert not any(fcurve.lock for fcurve in fcurves(item))
    assert (baked_frames(item) == baked_frames(linked)) == (verb == "apply")
    assert linked.animation_data.action == original
    assert action_bits(original) == before


def test_a_refused_bake_of_an_override_leaves_the_linked_action_in_use(animation, library) -> None:
    item = load(library, link=True).override_create()
    original = item.animation_data.action
    for refused in (lambda: animation.bake(item, sample_limit=3), lambda: animation.free(item)):
        with pytest.raises(animation.AnimationError):
            refused()
    assert item.animation_data.action == original
    assert len(bpy.data.actions) == 1
