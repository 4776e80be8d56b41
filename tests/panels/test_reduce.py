# SPDX-License-Identifier: GPL-3.0-or-later
"""The Reduce panel, drawn into a real layout."""

from __future__ import annotations

import math
import re

import bpy
import pytest

from tests.animation.curves import key, new_object
from tests.panels.layouts import drawn

pytestmark = pytest.mark.usefixtures("advanced", "dense")


@pytest.fixture
def dense(scene):
    """A selected, active object with a key at each of 100 frames."""
    item = new_object("Dense", "XYZ")
    key(item, "location", [(frame, (math.sin(frame / 9.0), 0, 0)) for frame in range(1, 101)])
    item.select_set(True)
    bpy.context.view_layer.objects.active = item


def test_reduce_has_its_panel_with_its_errors(scene):
    settings = scene.tcb.reduction
    settings.error, settings.period = 0.02, 5.0
    calls = [each for each in drawn("TCB_PT_reduce") if each.startswith("bpy.ops.tcb.reduce")]
    assert [call.partition("(")[0] for call in calls] == ["bpy.ops.tcb.reduce", "bpy.ops.tcb.reduce_compare"]
    assert all("error=0.02" in call and "period=5" in call for call in calls)


def test_reduce_begins_with_the_method_and_names_what_0_stands_for(scene):
    shown = drawn("TCB_PT_reduce")
    options = [each for each in shown if each.startswith("TCBReduction.")]
    assert options[0].startswith("TCBReduction.method")
    assert scene.tcb.reduction.method == "TCB"
    assert "Keys: Unlimited" in shown
    scene.tcb.reduction.key_count = 20
    assert "Keys: Unlimited" not in drawn("TCB_PT_reduce")
    units = {name: scene.tcb.reduction.bl_rna.properties[name].unit for name in ("error", "still", "angle")}
    assert units == {"error": "LENGTH", "still": "LENGTH", "angle": "ROTATION"}


def test_the_result_of_a_reduction_stays_in_the_panel(scene, tcb_animation):
    bpy.ops.tcb.reduce(error=0.01)
    (reduced,) = bpy.context.window_manager.tcb_reductions
    text = reduced.text
    assert text.startswith('"Dense": ')
    assert " keys instead of 100. Maximum error " in text
    # In the scene's unit.
    assert re.search(r"Maximum error [\d.]+ (mm|cm) .*, mean [\d.]+ (μm|mm|cm)", text)
    shown = " ".join(drawn("TCB_PT_reduce"))
    assert all(word in shown for word in text.split())
    # The short line with the largest error is also the first message of the tab.
    pattern = r'"Dense": error [\d.]+ (mm|cm), limit 1 cm \(location, frame \d+\)\. \d+ keys instead of 100'
    assert re.fullmatch(pattern, reduced.headline)
    assert all(word in shown for word in reduced.headline.split())
    assert tcb_animation.panels.messages.messages_in_tab(bpy.context)[0].text == reduced.headline


def test_errors_that_were_compared_are_buttons(scene):
    scene.tcb.reduction.still = 0.001
    bpy.ops.tcb.reduce_compare(error=0.01)
    shown = drawn("TCB_PT_reduce")
    calls = [each for each in shown if each.startswith("bpy.ops.tcb.reduce(")][1:]
    rows = bpy.context.window_manager.tcb_key_counts
    assert len(calls) == len(rows) == 5
    assert {"2.5 mm", "5 mm", "1 cm", "2 cm", "4 cm"} <= set(shown)
    for call, row in zip(calls, rows, strict=True):
        assert f"error={row.error:.4g}"[:12] in call
        assert "still=0.001" in call
        assert any(f"{row.key_count:,} keys" in each for each in shown)


def is_shown(*results):
    """Return whether the panel shows each result: the line of the reduction, or the bars of the compared errors."""
    shown = drawn("TCB_PT_reduce")
    is_there = {
        "line": "keys instead of 100" in " ".join(shown),
        "bars": sum(text.startswith("bpy.ops.tcb.reduce(") for text in shown) == 6,
    }
    return [is_there[result] for result in results]


def test_results_are_shown_only_for_the_actions_that_they_are_about(scene):
    dense = bpy.context.object
    original = dense.animation_data.action
    bpy.ops.tcb.reduce_compare(error=0.01)
    assert is_shown("line", "bars") == [False, True]
    bpy.ops.tcb.reduce(error=0.01)
    assert is_shown("line", "bars") == [True, False]
    reduced = dense.animation_data.action
    # Undo gives the object its first action.
    dense.animation_data.action = original
    assert is_shown("line", "bars") == [False, True]
    dense.animation_data.action = reduced
    bpy.context.view_layer.objects.active = new_object("Other")
    assert is_shown("line", "bars") == [False, False]


def test_the_panel_stays_while_it_has_results_to_show(preferences, scene):
    preferences.advanced = False
    panel = bpy.types.TCB_PT_reduce
    assert not panel.poll(bpy.context)
    bpy.ops.tcb.reduce(error=0.01)
    assert panel.poll(bpy.context)
    bpy.context.view_layer.objects.active = new_object("Other")
    assert not panel.poll(bpy.context)
