# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: after every edit what is baked is what a whole bake would write, and the animator's keys are those that the
edit would have left without a bake.

`TCB_WALK=500 pytest tests/animation/test_live.py` walks 500 edits at a time instead of a few.
"""

from __future__ import annotations

import importlib
import os
import re
from typing import Any

import bpy
import pytest

from tests.animation.curves import HAS_SLOTS, co, differences, snapshot
from tests.animation.test_edits import unlike
from tests.animation.walks import ALL, KEYS, NONE, Alike, Walk, rows

EDITS = int(os.environ.get("TCB_WALK", "30"))
OUTPUTS: dict[str, dict[str, Any]] = {
    "samples": {"step": 1.0},
    "half samples": {"step": 0.5},
    "curves": {"output": "CURVES"},
}


def copied(thing: bpy.types.Object, name: str) -> bpy.types.Object:
    """An object with a copy of its action, not live."""
    other = thing.copy()
    other.name = name
    action = other.animation_data.action = thing.animation_data.action.copy()
    if HAS_SLOTS:
        other.animation_data.action_slot = action.slots[0]
    action.tcb_live = False
    return other


def removed(thing: bpy.types.Object) -> None:
    bpy.data.actions.remove(thing.animation_data.action)
    bpy.data.objects.remove(thing)


def handlers_of(animation) -> Any:
    return importlib.import_module(animation.__name__.replace(".animation", ".handlers"))


def let_time_pass(animation) -> None:
    """What happens in a window after an edit: without one, no timer runs."""
    handlers = handlers_of(animation)
    bpy.context.view_layer.update()
    handlers._state.edited_at = -handlers.QUIET
    while handlers._tick() is not None:
        handlers._state.edited_at = -handlers.QUIET


def own_keys(animation, thing: bpy.types.Object) -> dict[tuple[str, int], list[list[float]]]:
    tracks = animation.tracks.find_tracks(thing, animation.channels.channels_of(thing))
    return {
        (track.path, index): original.keys.co.tolist()
        for track in tracks
        for index, original in animation.reading.read_originals(track).items()
    }


def keys_of(thing: bpy.types.Object) -> dict[tuple[str, int], list[list[float]]]:
    return {(f.data_path, f.array_index): co(f).tolist() for f in rows(thing) if len(f.keyframe_points)}


def nearly(keys: dict[tuple[str, int], list[list[float]]], alike: Alike) -> dict[tuple[str, int], Any]:
    """Keying over a generated key Blender adds the difference to its value, which rounds, and leaves its frame, which
    may be 0.01 off."""
    if alike != KEYS:
        return keys
    near = pytest.approx
    return {name: [(near(at, abs=0.01), near(to, abs=2e-5)) for at, to in rows] for name, rows in keys.items()}


def unselected(state: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whether generated keys are selected is nobody's concern: a bake leaves them deselected."""
    for curve in state:
        for name in ("select_control_point", "select_left_handle", "select_right_handle"):
            curve[name] = [on and kind != "GENERATED" for on, kind in zip(curve[name], curve["type"], strict=True)]
    return state


def check(animation, walk: Walk, alike: Alike) -> bool:
    """Let the last edit be baked, and hold that against a bake of all, and against the twin; False where the edit left
    keys that can't be baked."""
    whole = copied(walk.live, "Whole")
    said = f"{len(walk.story)}: {walk.story[-1]}"
    try:
        faults = animation.bake(whole, **walk.options).refused
    except animation.Refusal as refusal:
        faults = [str(refusal)]
    by_timer = len(walk.story) % 2 == 0
    if by_timer:
        let_time_pass(animation)
    if faults:
        fault = faults[0].partition(": ")[2]
        action = walk.live.animation_data.action
        assert not by_timer or any(fault in line for line in handlers_of(animation).said_of(action))
        with pytest.raises(RuntimeError, match=re.escape(fault)):
            bpy.ops.tcb.sync()
        assert alike != ALL or own_keys(animation, walk.live) == keys_of(walk.plain), said
        return False
    if not by_timer:
        bpy.ops.tcb.sync()
    theirs, mine = (unselected(snapshot(thing, companions=False)) for thing in (whole, walk.live))
    assert differences(theirs, mine) == [], said
    kept = own_keys(animation, walk.live)
    animation.restore(whole)
    assert nearly(kept, alike) == nearly(keys_of(walk.plain if alike != NONE else whole), alike), said
    if alike == ALL:
        assert [each for each in unlike(walk.plain, whole) if not each[1].startswith("select_")] == [], said
    walk.follow(whole)
    removed(whole)
    return True


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "BONES"])
def test_a_walk(animation, mode: str, output: str) -> None:
    walk = Walk(animation, mode, seed=1, options=OUTPUTS[output])
    for edit in range(EDITS):
        if not check(animation, walk, walk.step()):
            walk.start_again(seed=edit)
