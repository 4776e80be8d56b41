# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions with more than one layer or strip are not changed, and all functions give the reason."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import HAS_SLOTS, KEYS, action_bits, curve, key, new_object
from tests.animation.layered import give_layer, give_strip
from tests.animation.live import notes_of

pytestmark = pytest.mark.skipif(not HAS_SLOTS, reason="this Blender's actions have no layers")
SAID = ('"Ball"', 'action "BallAction"', "layers", "strips", "Bake Action")


@pytest.fixture(params=[give_layer, give_strip], ids=["layers", "strips"])
def layer(request) -> Any:
    return request.param


def ball() -> bpy.types.Object:
    item = new_object("Ball")
    key(item, "location", KEYS)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def table_of(item: bpy.types.Object) -> object:
    table: Any = item.animation_data.action.get("tcb_animation")
    return table.to_dict() if table else {}


def is_said(text: str) -> bool:
    return all(part in text for part in SAID)


WORKS = {
    "enable": lambda animation, item: animation.enable(item, keep_look=False),
    "bake": lambda animation, item: animation.bake(item),
    "free": lambda animation, item: animation.free(item),
    "restore": lambda animation, item: animation.restore(item),
    "remove": lambda animation, item: animation.remove(item),
    "apply": lambda animation, item: animation.apply(item),
    "key_set": lambda animation, item: animation.key_set(item, "location", 10, tension=1.0),
    "choose": lambda animation, item: animation.choose(item, "location", cycle="LOOP"),
    "retime": lambda animation, item: animation.retime(item),
    "retime a track": lambda animation, item: animation.retime(item, track="location"),
    "remove_retiming": lambda animation, item: animation.remove_retiming(item),
    "key_whole": lambda animation, item: animation.key_whole(item),
    "write_velocities": lambda animation, item: animation.write_velocities(item),
    "export_table": lambda animation, item: animation.export_table(item),
    "import_table": lambda animation, item: animation.import_table(item, table(animation), animation.TableKeys()),
}


def table(animation) -> Any:
    other = new_object("Other")
    key(other, "scale", KEYS)
    return animation.export_table(other)[0]


@pytest.mark.parametrize(("work", "is_tcb"), each_once(WORKS.values(), [False, True]))
def test_all_that_works_on_keys_refuses_it_and_leaves_every_bit(animation, layer, is_tcb: bool, work) -> None:
    item = ball()
    if is_tcb:
        animation.enable(item, keep_look=False)
        animation.bake(item)
    action = item.animation_data.action
    layer(action)
    before, rows = action_bits(action), table_of(item)
    with pytest.raises(animation.AnimationError) as refused:
        work(animation, item)
    assert is_said(str(refused.value))
    assert (action_bits(action), table_of(item)) == (before, rows)
    assert item.animation_data.action == action


def test_live_says_it_and_is_off(tcb_animation, animation, layer) -> None:
    item = ball()
    action = item.animation_data.action
    layer(action)
    before = action_bits(action)
    action.tcb_live = True
    assert not action.tcb_live
    (line,) = notes_of(animation, item)
    assert is_said(str(line))
    assert (action_bits(action), table_of(item)) == (before, {})


def test_a_live_action_that_gets_a_layer_is_let_alone_and_says_it(tcb_animation, animation, layer) -> None:
    item = ball()
    action = item.animation_data.action
    animation.enable(item, keep_look=False)
    action.tcb_live = True
    tcb_animation.ui.live.updates.flush_all()
    layer(action)
    curve(item, "location").keyframe_points[1].co.y = 7.0
    before, rows = action_bits(action), table_of(item)
    tcb_animation.ui.live.updates.flush_all()
    assert [is_said(str(line)) for line in notes_of(animation, item)] == [True]
    assert (action_bits(action), table_of(item)) == (before, rows)


def test_saving_keeps_its_table(tcb_animation, animation, layer, tmp_path) -> None:
    item = ball()
    animation.enable(item, keep_look=False)
    animation.bake(item, output="HANDLES")
    # If there is only one layer, the rows of deleted keys are removed when the file is next saved.
    curve(item, "location").keyframe_points.remove(curve(item, "location").keyframe_points[0])
    layer(item.animation_data.action)
    before, rows = action_bits(item.animation_data.action), table_of(item)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "layered.blend"))
    assert table_of(item) == rows
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "layered.blend"))
    loaded = bpy.data.objects["Ball"]
    assert action_bits(loaded.animation_data.action) == before
    with pytest.raises(animation.AnimationError) as refused:
        animation.bake(loaded)
    assert is_said(str(refused.value))


def test_an_export_to_3d_studio_says_it_and_writes_no_file(animation, layer, tmp_path) -> None:
    layer(ball().animation_data.action)
    with pytest.raises(RuntimeError) as refused:
        bpy.ops.export_anim.tcb_3ds(filepath=str(tmp_path / "layered.3ds"))
    assert is_said(str(refused.value))
    assert list(tmp_path.iterdir()) == []


def test_bake_in_world_space_says_it_of_a_parent(animation, layer) -> None:
    item, child = ball(), new_object("Child")
    child.parent = item
    key(child, "location", KEYS)
    layer(item.animation_data.action)
    before = action_bits(item.animation_data.action)
    animation.enable(child, keep_look=False)
    with pytest.raises(animation.AnimationError) as refused:
        animation.bake_in_world(child)
    assert is_said(str(refused.value))
    assert action_bits(item.animation_data.action) == before


def test_an_editor_says_why_there_is_no_key(tcb_animation, animation, layer) -> None:
    layer(ball().animation_data.action)
    assert is_said(tcb_animation.ui.sidebar_tracks.reason_for_no_track(bpy.context))
