# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters follow their keys where Blender leaves them behind; what was done is said in one line."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import co, curve, fcurves, is_companion, key, new_object
from tests.animation.test_edits import editor
from tests.animation.walks import mark_selected

KEYS = [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5)), (40, (-3, 0, 2))]


@pytest.fixture(params=["SAMPLES", "CURVES"])
def thing(request, animation) -> bpy.types.Object:
    """Live, with a tension at 10 and another at 25."""
    item = new_object("Ball")
    key(item, "location", KEYS, group="Transform")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    animation.key_set(item, "location", 10, tension=0.5)
    animation.key_set(item, "location", 25, tension=-0.25)
    animation.bake(item, output=request.param)
    item.animation_data.action.tcb_live = True
    bpy.ops.tcb.sync()
    return item


def tensions(thing) -> list[list[float]]:
    return co(curve(thing, 'tcb_tracks["location"].tension')).tolist()


def said(tcb_animation, thing) -> list[str]:
    return list(tcb_animation.handlers.said_of(thing.animation_data.action))


def select(thing, *at: float, indices=(0, 1, 2), companions: bool = False) -> None:
    for fcurve in fcurves(thing):
        chosen = companions if is_companion(fcurve) else fcurve.array_index in indices
        for point in fcurve.keyframe_points:
            mark_selected(point, chosen and any(abs(point.co.x - frame) < 0.01 for frame in at))


def in_graph_editor(operator) -> None:
    bpy.context.scene.tool_settings.use_snap_anim = True
    with editor("FCURVES"):
        assert operator() == {"FINISHED"}


def in_dope_sheet(operator) -> None:
    bpy.context.scene.tool_settings.use_snap_anim = True
    with editor("DOPESHEET"):
        assert operator() == {"FINISHED"}


def move(frames: float):
    return lambda: bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(frames, 0, 0, 0))


def test_a_graph_editor_selection_takes_its_parameters_along(tcb_animation, thing) -> None:
    select(thing, 10, 25)
    in_graph_editor(lambda: bpy.ops.transform.translate(value=(4.0, 0.0, 0.0)))
    bpy.ops.tcb.sync()
    assert tensions(thing) == [[14, 0.5], [29, -0.25]]
    (line,) = said(tcb_animation, thing)
    assert "parameters of 2 keys moved after them" in line


def test_a_key_moved_past_another_in_the_graph_editor_takes_its_own_parameters(tcb_animation, thing) -> None:
    select(thing, 10)
    in_graph_editor(lambda: bpy.ops.transform.translate(value=(20.0, 0.0, 0.0)))
    bpy.ops.tcb.sync()
    assert tensions(thing) == [[25, -0.25], [30, 0.5]]


def test_a_single_row_that_is_dragged_leaves_the_parameters_with_the_other_rows(tcb_animation, thing) -> None:
    """The parameters are the track's: the other channels have their keys there still."""
    select(thing, 10, indices=(1,))
    in_dope_sheet(move(4))
    bpy.ops.tcb.sync()
    assert tensions(thing) == [[10, 0.5], [25, -0.25]]
    assert said(tcb_animation, thing) == []


def test_rows_dragged_one_after_the_other_take_the_parameters_along_with_the_last(tcb_animation, thing) -> None:
    for index in range(3):
        select(thing, 10, indices=(index,))
        in_dope_sheet(move(4))
        bpy.ops.tcb.sync()
    assert tensions(thing) == [[14, 0.5], [25, -0.25]]


def test_parameters_of_keys_deleted_by_keying_set_are_removed(tcb_animation, thing) -> None:
    """It deletes the keys of the properties, and knows of no companions."""
    bpy.context.scene.frame_set(25)
    for index in range(3):
        assert thing.keyframe_delete("location", index=index, frame=25)
    bpy.ops.tcb.sync()
    assert tensions(thing) == [[10, 0.5]]
    (line,) = said(tcb_animation, thing)
    assert "parameters of 1 key removed" in line


def test_cleaned_keys_take_their_parameters_with_them(tcb_animation, animation, thing) -> None:
    """Clean Keyframes drops keys where a channel stands still."""
    for index in range(3):
        points = curve(thing, "location", index).keyframe_points
        for point in [point for point in points if point.type != "GENERATED"]:
            point.co_ui.y = 1.0
    bpy.ops.tcb.sync()
    select(thing, *range(41))
    in_dope_sheet(lambda: bpy.ops.action.clean(threshold=0.001))
    bpy.ops.tcb.sync()
    own = {
        float(frame)
        for track in animation.store.tracks.find_tracks(thing, animation.fcurves.channels.channels_of(thing))
        for frame in animation.store.reading.key_frames(track)
    }
    assert {frame for frame, _ in tensions(thing)} <= own


def test_parameters_that_stand_at_keys_are_left_alone_when_others_are_paired(tcb_animation, animation, thing) -> None:
    """A key deleted and another made elsewhere: what is left over goes to what is left over, in order."""
    select(thing, 25)
    in_graph_editor(bpy.ops.graph.delete)
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=33)
    bpy.ops.tcb.sync()
    assert tensions(thing) == [[10, 0.5], [33, -0.25]]


def test_a_bake_by_hand_pairs_as_well(animation, thing) -> None:
    thing.animation_data.action.tcb_live = False
    select(thing, 10, 25)
    in_graph_editor(lambda: bpy.ops.transform.translate(value=(4.0, 0.0, 0.0)))
    report = animation.bake(thing)
    assert tensions(thing) == [[14, 0.5], [29, -0.25]]
    assert [note for note in report.notes if "parameters of 2 keys moved" in note]
