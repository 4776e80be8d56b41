# SPDX-License-Identifier: GPL-3.0-or-later
"""`things`: the objects that documents speak of. `files`: a folder with the files that they name."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from tests.docs.documents import TABLE


@pytest.fixture
def things(scene) -> None:
    """The selected "Ball", keyed at frames 1, 20 and 40, and the "Rig", whose foot goes through the floor."""
    import bpy

    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    ball = bpy.data.objects.new("Ball", None)
    for each in (rig, ball):
        scene.collection.objects.link(each)
    view_layer = bpy.context.view_layer
    view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent in (("upperarm.L", None), ("forearm.L", "upperarm.L"), ("foot.L", None)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
        if parent:
            bone.parent, bone.head, bone.tail = rig.data.edit_bones[parent], (0.0, 1.0, 0.0), (0.0, 2.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    foot = rig.pose.bones["foot.L"]
    for frame, height in ((1, 3.0), (20, 0.0), (30, 0.0), (60, 3.0)):
        foot.location = (0.0, 0.0, height)
        foot.keyframe_insert("location", frame=frame)
    view_layer.objects.active = ball
    ball.select_set(True)
    rig.select_set(False)
    for frame, location, turn in ((1, (0, 0, 3), 0.0), (20, (4, 0, 0), 0.5), (40, (8, 0, 3), 0.0)):
        ball.location, ball.rotation_euler = location, (0.0, 0.0, turn * math.pi)
        ball.keyframe_insert("location", frame=frame)
        ball.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(20)


@pytest.fixture
def files(things, tmp_path, monkeypatch) -> None:
    """A folder to be in, with the files that documents name."""
    import bpy

    monkeypatch.chdir(tmp_path)
    Path("run.csv").write_text(TABLE, encoding="utf-8")
    bpy.ops.export_anim.tcb_3ds(filepath="run.3ds")
    Path("scenes").mkdir()
    for name in ("run.3ds", "walk.3ds"):
        shutil.copy("run.3ds", Path("scenes", name))
