# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake in World Space in the interface."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.curves import fcurves, key, new_object, seen


@pytest.fixture
def family(scene):
    """A moving body, an arm on it, and a hand on the arm. The arm and hand are selected, and keyed only at the ends."""
    body, limb, hand = (new_object(name, "XYZ") for name in ("Body", "Arm", "Hand"))
    limb.parent, hand.parent = body, limb
    key(body, "location", [(1, (0, 0, 0)), (11, (0, 5, 0)), (21, (0, 0, 0))])
    key(limb, "location", [(1, (1, 0, 0)), (21, (3, 0, 0))])
    key(hand, "location", [(1, (1, 0, 0)), (21, (1, 0, 4))])
    for item in (limb, hand):
        item.select_set(True)
    bpy.context.view_layer.objects.active = hand
    return body, limb, hand


def test_selected_objects_go_along_their_ways_in_the_world_parents_first(family):
    _, limb, hand = family
    bpy.ops.tcb.enable(keep_look=False)
    assert bpy.ops.tcb.bake_in_world() == {"FINISHED"}
    for frame in np.arange(1.0, 22.0):
        part = (frame - 1) / 20
        assert seen(frame, limb).matrix_world.translation[:] == pytest.approx((1 + 2 * part, 0, 0), abs=1e-5)
        assert seen(frame, hand).matrix_world.translation[:] == pytest.approx((2 + 2 * part, 0, 4 * part), abs=1e-5)


def test_what_has_no_parent_is_named_and_the_others_are_baked(family):
    body, limb, _ = family
    bpy.ops.tcb.enable(keep_look=False)
    body.select_set(True)
    with pytest.raises(RuntimeError, match='"Body": there is no parent'):
        bpy.ops.tcb.bake_in_world()
    assert all(fcurve.lock for fcurve in fcurves(limb))
    assert not any(fcurve.lock for fcurve in fcurves(body))
