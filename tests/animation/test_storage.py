# SPDX-License-Identifier: GPL-3.0-or-later
"""The statements about tables in storage.md, for example on newer tables."""

from __future__ import annotations

import json
from functools import partial

import bpy
import numpy as np
import pytest

from tests.animation.curves import co, copy_with_action, curve, differences, fcurves, key, new_object, snapshot

TABLE = "tcb_animation"
KEYS = [(0, (0, 0, 0)), (10, (5, 2, 3)), (25, (-1, 0, 2)), (40, (0, 4, -2))]


@pytest.fixture
def ball(animation) -> bpy.types.Object:
    made = new_object("Ball")
    key(made, "location", KEYS)
    animation.enable(made, keep_look=False)
    animation.key_set(made, "location", 10, tension=0.5, bias=-0.3)
    return made


def test_the_frames_of_a_bake_are_stored_once_for_all_channels(animation, ball) -> None:
    animation.bake(ball)
    (content,) = ball.animation_data.action[TABLE]["contents"].values()
    line, _, arrays = memoryview(content).tobytes().partition(b"\n")
    head = json.loads(line)
    _options, channels = head["bake"]
    assert [size for *_, size in channels] == [41, None, None]
    # A digest, then two checksums and the value before the bake per channel, precede the keys.
    assert len(arrays) == 4 * (2 + 3 * (2 + 2) + 3 * len(KEYS) * 11 + 41)


@pytest.mark.parametrize("bake_first", [False, True])
def test_a_newer_table_is_left_alone_by_all(animation, ball, bake_first: bool) -> None:
    if bake_first:
        animation.bake(ball)
    ball.animation_data.action[TABLE]["schema"] = 3
    before = snapshot(ball)
    verbs = [animation.bake, animation.free, animation.restore, animation.remove, animation.apply]
    verbs.append(partial(animation.enable, keep_look=False))
    verbs.append(lambda item: animation.key_set(item, "location", 10, tension=0.0))
    verbs.append(lambda item: animation.choose(item, "location", cycle="REPEAT"))
    for verb in verbs:
        with pytest.raises(animation.AnimationError, match=r'"Ball".*saved by a newer version.*schema 3'):
            verb(ball)
    assert differences(before, snapshot(ball)) == []
    assert ball.animation_data.action[TABLE]["schema"] == 3


def test_keys_that_scripts_added_bring_their_parameters_onto_another_object(animation) -> None:
    """Their amplitude is 0, so that an identity makes it a denormal number."""
    added, other = (new_object(name) for name in ("Added", "Other"))
    for thing in (added, other):
        key(thing, "location", KEYS)
        for fcurve in fcurves(thing):
            for name in ("amplitude", "back", "period"):
                fcurve.keyframe_points.foreach_set(name, np.zeros(len(KEYS), dtype=np.float32))
    animation.enable(added, keep_look=False)
    animation.key_set(added, "location", 10, tension=0.5)
    amplitudes = np.array([point.amplitude for fcurve in fcurves(added) for point in fcurve.keyframe_points])
    assert ((amplitudes != 0.0) & (np.abs(amplitudes) < 1e-38)).all()
    for ours, theirs in zip(fcurves(added), fcurves(other), strict=True):
        for point, copy in zip(ours.keyframe_points, theirs.keyframe_points, strict=True):
            copy.amplitude, copy.period, copy.back = point.amplitude, point.period, point.back
    animation.enable(other, keep_look=False)
    keys = animation.edit.track_keys.keys_of(other, animation.find_track(other, "location"))
    assert keys.parameters({})["tension"].tolist() == [0.0, 0.5, 0.0, 0.0]


def test_the_parameters_of_a_session_outlive_its_table(animation, ball) -> None:
    twin = copy_with_action(ball)
    del ball.animation_data.action[TABLE]
    animation.enable(ball, keep_look=False)
    animation.bake(ball)
    animation.bake(twin)
    assert co(curve(ball, "location")).tolist() == co(curve(twin, "location")).tolist()
