# SPDX-License-Identifier: GPL-3.0-or-later
"""If a key is far away, for example after accidental scaling, nothing creates a number for each frame up to it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.animation.curves import curve, fcurves, key, new_object

FAR = 1e8
MOST = 50e6
"""Maximum memory in bytes. A number for each frame would take 800 million bytes."""


@contextmanager
def in_little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


@pytest.fixture
def far() -> bpy.types.Object:
    item = new_object("Ball")
    key(item, "location", [(0, (0, 0, 1)), (10, (1, 2, 1)), (20, (3, 6, 1)), (FAR, (2, 4, 1))])
    return item


@pytest.mark.parametrize("verb", ["reduce", "keys_by_error"])
def test_keys_far_apart_are_minimal_already_in_little_memory(animation, far: bpy.types.Object, verb: str) -> None:
    def work(**more) -> Any:
        errors = [[0.01]] if verb == "keys_by_error" else []
        return getattr(animation, verb)(far, *errors, **more)

    with in_little_memory():
        result = work()
    if verb == "reduce":
        assert result.is_minimal
    else:
        assert result[0].keys == result[0].before
    assert work(frame_range=(0, 20))


def test_the_limit_of_reduce_can_be_lowered_and_raised(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(frame, (frame, 0, 0)) for frame in range(11)])
    with pytest.raises(animation.AnimationError, match="about 33 samples are needed, more than the limit of 32"):
        animation.reduce(item, sample_limit=32)
    assert animation.reduce(item, sample_limit=33).keys > 0


@pytest.mark.parametrize("shape", ["CONSTANT_SPEED", "CONSTANT_SPEED_KEYS"])
def test_constant_speed_is_measured_in_little_memory(animation, far: bpy.types.Object, shape: str) -> None:
    animation.enable(far, keep_look=False)
    with in_little_memory():
        timing = animation.retime(far, shape, track="location")
    assert timing.curve.evaluate(FAR) == pytest.approx(FAR)


@pytest.mark.parametrize(
    ("enables", "reason"),
    [
        (False, "100,000,001 samples would exceed the file.s limit of 1,000,000"),
        (True, "there are 100,000,000 frames between the first and last keys, more than the limit of 1,000,"),
    ],
)
def test_export_refuses_to_sample_up_to_a_far_key(
    animation, far: bpy.types.Object, tmp_path: Path, enables: bool, reason: str
) -> None:
    for fcurve in fcurves(far):
        fcurve.keyframe_points[2].interpolation = "CONSTANT"
    if enables:
        animation.enable(far, keep_look=False)
    path = tmp_path / "far.3ds"
    with in_little_memory(), pytest.raises(RuntimeError, match=f'"Ball", Location: {reason}'):
        bpy.ops.export_anim.tcb_3ds(filepath=str(path))
    assert not path.exists()


def test_a_spline_up_to_a_far_key_is_exported(animation, far: bpy.types.Object, tmp_path: Path) -> None:
    animation.enable(far, keep_look=False)
    with in_little_memory():
        assert bpy.ops.export_anim.tcb_3ds(filepath=str(tmp_path / "far.3ds")) == {"FINISHED"}


def test_visibility_that_goes_on_up_to_a_far_key_is_refused(animation, tmp_path: Path) -> None:
    item = new_object("Ball")
    key(item, "hide_render", [(0, 0), (10, 1), (FAR, 0)])
    curve(item, "hide_render").modifiers.new("CYCLES").mode_before = "REPEAT"
    bpy.context.scene.frame_start = 0
    bpy.context.scene.frame_end = 30
    curve(item, "hide_render").keyframe_points[0].co.x = 25
    curve(item, "hide_render").update()
    with in_little_memory(), pytest.raises(RuntimeError, match='"Ball", Disable in Renders: 100,000,001 samples'):
        bpy.ops.export_anim.tcb_3ds(filepath=str(tmp_path / "far.3ds"))
