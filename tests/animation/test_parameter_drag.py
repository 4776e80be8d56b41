# SPDX-License-Identifier: GPL-3.0-or-later
"""Each step of a parameter drag is visible. The result equals the same edit without a drag, and Esc leaves no trace."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation.action_users import linked
from tests.animation.curves import (
    MODES,
    Bone,
    channels,
    curve,
    differences,
    fcurves,
    key,
    new_rig,
    rotation_path,
    snapshot,
)
from tests.animation.live import let_time_pass, updates_of

FRAMES = (1, 9, 22, 30, 47)
DRAGGED = 22


def rig_of(animation, mode: str, ease: float = 0.0) -> Any:
    """Return a live rig with all kinds of tracks: looped, with a held key, extrapolated, or with chosen handles."""
    dice = np.random.default_rng(MODES.index(mode))
    rig = new_rig(*(Bone(name, (x, 0, 0), (x, 1, 0)) for x, name in enumerate(("a", "b", "c"))))
    size = 4 if mode in MODES[:2] else 3
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
        path = f'pose.bones["{bone.name}"].'
        turns = dice.normal(size=(5, size)) * 0.3 + ([1.5, 0.2, 0.3, 0.5][:size] if size == 4 else 0)
        key(rig, path + rotation_path(mode), list(zip(FRAMES, map(tuple, turns), strict=True)))
        key(rig, path + "location", list(zip(FRAMES, map(tuple, dice.normal(size=(5, 3))), strict=True)))
    held = curve(rig, 'pose.bones["b"].location', 1)
    held.keyframe_points[1].interpolation = "CONSTANT"
    chosen = curve(rig, 'pose.bones["c"].location', 2)
    animation.enable(rig, keep_look=False)
    animation.choose(rig, 'pose.bones["c"].rotation', cycle="LOOP")
    for fcurve in fcurves(rig):
        if fcurve.data_path.endswith('"a"].location'):
            fcurve.extrapolation = "LINEAR"
    for bone in rig.pose.bones:
        path = f'pose.bones["{bone.name}"].rotation'
        animation.key_set(rig, path, 9, tension=0.3, continuity=-0.2, ease_to=ease)
    animation.bake(rig, output="HANDLES")
    rig.animation_data.action.tcb_live = True
    let_time_pass(animation)
    chosen.keyframe_points[3].handle_right_type = chosen.keyframe_points[3].handle_left_type = "ALIGNED"
    chosen.update()
    let_time_pass(animation)
    return rig


def keys_of(animation, rig: Any, frame: float | None = DRAGGED) -> list[Any]:
    paths = {path for path, _ in channels(rig)}
    found = list(animation.edit.track_keys.keys_on_paths(rig, animation.fcurves.channels.channels_of(rig), paths))
    return found if frame is None else [keys.take(keys.frames == frame) for keys in found]


class Clock:
    """A clock that advances only on request."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(animation, monkeypatch):
    """Show each step, even if the machine is busy, unless the test advances the clock."""
    clock = Clock()
    module = importlib.import_module(f"{animation.__name__}.edit.parameter_drag")
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=clock))
    return clock


def drag_of(animation, chosen: list[Any]) -> Any:
    return importlib.import_module(f"{animation.__name__}.edit.parameter_drag").ParameterDrag(chosen, {})


def given(chosen: list[Any], **numbers: float) -> list[dict[str, Any]]:
    return [{name: np.full(len(keys), number) for name, number in numbers.items()} for keys in chosen]


def everything(rig: Any) -> Any:
    return snapshot(rig), rig.animation_data.action["tcb_animation"].to_dict()


def played(rig: Any, every: float = 1.0) -> np.ndarray:
    """Return the curves' values, shape (frames, curves), with quaternions normalized as in Blender."""
    numbers = np.array([[fcurve.evaluate(frame) for fcurve in fcurves(rig)] for frame in np.arange(1, 47, every)])
    paths = [fcurve.data_path for fcurve in fcurves(rig)]
    for path in {path for path in paths if path.endswith("quaternion")}:
        own = np.array(paths) == path
        numbers[:, own] /= np.linalg.norm(numbers[:, own], axis=1, keepdims=True)
    return numbers


@pytest.mark.parametrize("mode", MODES[:3])
def test_the_end_of_a_drag_is_what_the_same_edit_without_a_drag_makes(animation, mode):
    rig = rig_of(animation, mode, ease=0.2)
    action, before = rig.animation_data.action, played(rig)
    chosen = keys_of(animation, rig)
    drag = drag_of(animation, chosen)
    for numbers in ({"tension": 0.9, "bias": 0.2}, {"tension": -0.4, "bias": 0.2}, {"tension": 0.6, "bias": -0.3}):
        assert drag.to(given(chosen, **numbers)) == []
    step = played(rig)
    assert drag.finish(given(chosen, tension=0.6, bias=-0.3)) == []
    after = snapshot(rig)
    assert np.abs(played(rig) - before).max() > 0.05
    off = np.abs(step - played(rig)).max(axis=0)
    assert off[[fcurve.data_path.endswith("location") for fcurve in fcurves(rig)]].max() < 1e-5
    assert off.max() < 0.02
    let_time_pass(animation)
    assert differences(after, snapshot(rig)) == []

    bpy.data.objects.remove(rig)
    bpy.data.actions.remove(action)
    other = rig_of(animation, mode, ease=0.2)
    edit = importlib.import_module(f"{animation.__name__}.edit.parameters")
    chosen = keys_of(animation, other)
    assert edit.set_parameters_of_each(zip(chosen, given(chosen, tension=0.6, bias=-0.3), strict=True), {}) == []
    let_time_pass(animation)
    # The keys of another rig have other identities.
    assert differences(after, snapshot(other), identities=False) == []


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", "ZXY"])
def test_a_step_on_keys_that_are_played_by_other_angles_is_seen_near_as_at_the_end(animation, mode):
    """With the shortest path, a key on the curves gets the opposite axis, or the other Euler angles for its pose."""
    rig = new_rig(Bone("a", (0, 0, 0), (0, 1, 0)))
    rig.pose.bones["a"].rotation_mode = mode
    path = f'pose.bones["a"].{rotation_path(mode)}'
    angles = np.array([[0.1, 0.2, 0.3], [0.4, 0.1, 0.5], [0.6, -0.2, 0.8], [0.7, 0.3, 0.9], [0.9, 0.1, 1.2]])
    if mode == "AXIS_ANGLE":
        rows = np.array([(angle, 0.2, 0.3, 1.0) for angle in angles[:, 2]])
        rows[2:4] *= -1.0
    else:
        rows, middle = angles.copy(), "XYZ".index(mode[1])
        rows[2:4] += np.pi
        rows[2:4, middle] = np.pi - angles[2:4, middle]
    key(rig, path, list(zip(FRAMES, map(tuple, rows), strict=True)))
    animation.enable(rig, keep_look=False)
    animation.choose(rig, path, path="SHORTEST")
    animation.bake(rig, output="HANDLES")
    rig.animation_data.action.tcb_live = True
    let_time_pass(animation)
    before, chosen = everything(rig), keys_of(animation, rig)
    start = played(rig)
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, tension=-0.9))
    drag.to(given(chosen, tension=0.8))
    step = played(rig)
    drag.take_back()
    assert everything(rig) == before
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, tension=0.8))
    drag.finish(given(chosen, tension=0.8))
    assert np.abs(played(rig) - start).max() > 0.01
    assert np.abs(step - played(rig)).max() < 0.02


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_drag_that_is_taken_back_leaves_every_bit(animation, mode):
    rig = rig_of(animation, mode, ease=0.2)
    chosen = keys_of(animation, rig, None)
    before = everything(rig)
    drag = drag_of(animation, chosen)
    for number in (0.1, 0.9, -0.4):
        drag.to(given(chosen, continuity=number))
        assert everything(rig) != before
    drag.take_back()
    assert everything(rig) == before
    let_time_pass(animation)
    assert everything(rig) == before


def test_live_leaves_a_drag_alone_and_saving_ends_it(animation):
    rig = rig_of(animation, "XYZ")
    updates = updates_of(animation)
    chosen = keys_of(animation, rig)
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, tension=0.75))
    shown = everything(rig)
    bpy.context.view_layer.update()
    updates.mark(rig.animation_data.action)
    updates.tick(at_once=True)
    assert everything(rig) == shown
    updates.flush_all()
    assert not drag.is_shown
    assert {float(each.parameters({})["tension"][0]) for each in keys_of(animation, rig)} == {0.75}
    assert everything(rig)[1] != shown[1]


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_baked_tracks_beside_live_ones_follow_and_are_given_back(animation, output):
    rig = rig_of(animation, "XYZ")
    animation.bake(rig, prefixes=['pose.bones["b"]'], output=output)
    chosen = keys_of(animation, rig)
    before, motion = snapshot(rig), played(rig, 0.5)
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, bias=0.9))
    moved = np.abs(played(rig, 0.5) - motion).max(axis=0)
    # The only key of a rotation at rest has no bias. All other curves of dragged keys change.
    assert {fcurve.data_path for fcurve, far in zip(fcurves(rig), moved, strict=True) if far > 1e-4} == {
        path for path, _ in channels(rig)
    }
    drag.take_back()
    assert differences(before, snapshot(rig)) == []


def test_a_parameter_that_a_drag_no_longer_gives_is_as_before_on_baked_tracks(animation):
    """A field of the dialog is reset, and its keys keep their own values."""
    rig = rig_of(animation, "XYZ")
    animation.bake(rig)
    before, chosen = snapshot(rig), keys_of(animation, rig)
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, tension=0.7, bias=0.9))
    drag.to(given(chosen, bias=0.9))
    assert {float(each.parameters({})["tension"][0]) for each in keys_of(animation, rig)} == {0.0}
    drag.to(given(chosen))
    assert differences(before, snapshot(rig)) == []
    drag.to(given(chosen, tension=0.7))
    assert drag.finish(given(chosen)) == []
    assert differences(before, snapshot(rig)) == []


@pytest.mark.parametrize("has_override", [False, True])
def test_each_step_of_a_drag_on_linked_curves_is_refused_or_changes_a_local_copy(animation, tmp_path, has_override):
    original = linked(rig_of(animation, "XYZ"), tmp_path / "rig.blend")
    rig = original.override_create() if has_override else original
    before, chosen = snapshot(original), keys_of(animation, rig)
    drag = drag_of(animation, chosen)
    for step in (drag.to, drag.finish):
        errors = step(given(chosen, tension=0.75))
        assert differences(before, snapshot(original)) == []
        assert bool(errors) is not has_override
        assert (rig.animation_data.action.library is None) is has_override


class SlowPreview:
    """A preview whose steps take a time by the clock."""

    def __init__(self, clock: Clock, takes: float) -> None:
        self.clock, self.takes, self.shown = clock, takes, 0

    def show(self, _given: object) -> None:
        self.clock.now += self.takes
        self.shown += 1

    def remove(self) -> None:
        pass


def test_slow_steps_are_taken_ten_times_a_second_at_most_and_never_queue(animation, clock):
    module = importlib.import_module(f"{animation.__name__}.edit.parameter_drag")
    chosen = keys_of(animation, rig_of(animation, "QUATERNION"))
    for takes, most in ((0.3, 1 / (0.3 + module.REST)), (0.05, 1 / (0.05 + module.REST)), (0.02, 1 / 0.02)):
        drag = drag_of(animation, chosen)
        drag.to(given(chosen, tension=0.1))
        drag._remove_previews()
        preview = SlowPreview(clock, takes)
        drag._previews = [(preview, list(range(len(chosen))))]
        start = clock.now
        while clock.now < start + 10.0:
            drag.to(given(chosen, tension=0.2))
            # The mouse sends two hundred events per second.
            clock.now += 0.005
        if takes > module.QUICK:
            assert preview.shown / 10.0 <= min(10.0, 1.1 * most)
        else:
            # Each of these steps is shown.
            assert preview.shown == pytest.approx(10.0 / (takes + 0.005), abs=2)
        drag.take_back()


def test_a_step_that_waits_is_made_good_by_the_end(animation, clock):
    rig = rig_of(animation, "QUATERNION")
    chosen = keys_of(animation, rig)
    drag = drag_of(animation, chosen)
    drag.to(given(chosen, tension=0.1))
    previews, drag._previews = drag._previews, [(SlowPreview(clock, 1.0), list(range(len(chosen))))]
    drag.to(given(chosen, tension=0.1))
    drag._previews = previews
    shown = snapshot(rig)
    for number in (0.2, 0.5, 0.7):
        drag.to(given(chosen, tension=number))
        assert snapshot(rig) == shown
    clock.now += 0.2
    drag._catch_up()
    caught_up = snapshot(rig)
    assert caught_up != shown
    drag.finish_at_last_step()
    assert {round(float(each.parameters({})["tension"][0]), 6) for each in keys_of(animation, rig)} == {0.7}
