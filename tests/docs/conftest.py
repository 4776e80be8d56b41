# SPDX-License-Identifier: GPL-3.0-or-later
"""`things`: the objects mentioned in documents. `files`: a folder with the files that they name."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from tests.docs.documents import TABLE


@pytest.fixture
def things(scene) -> None:
    """The selected "Ball", keyed at frames 1, 20 and 40, and the "Rig", with a foot that moves through the floor."""
    from tests.animation.curves import Bone, choose_alone, insert, new_object, new_rig

    low, middle, high = (0, 0, 0), (0, 1, 0), (0, 2, 0)
    forearm = Bone("forearm.L", middle, high, "upperarm.L")
    rig = new_rig(Bone("upperarm.L", low, middle), forearm, Bone("foot.L", low, middle))
    heights = ((1, 3.0), (20, 0.0), (30, 0.0), (60, 3.0))
    insert(rig.pose.bones["foot.L"], "location", [(frame, (0.0, 0.0, height)) for frame, height in heights])
    ball = new_object("Ball")
    insert(ball, "location", [(1, (0, 0, 3)), (20, (4, 0, 0)), (40, (8, 0, 3))])
    insert(ball, "rotation_euler", [(1, (0, 0, 0)), (20, (0, 0, math.pi / 2)), (40, (0, 0, 0))])
    choose_alone(ball)
    scene.frame_set(20)


@pytest.fixture
def files(things, tmp_path, monkeypatch) -> None:
    """The current folder, with the files that documents name."""
    import bpy

    monkeypatch.chdir(tmp_path)
    Path("run.csv").write_text(TABLE, encoding="utf-8")
    bpy.ops.export_anim.tcb_3ds(filepath="run.3ds")
    bpy.ops.export_scene.gltf(filepath="walk.glb", use_selection=True, export_force_sampling=False)
    Path("scenes").mkdir()
    for name in ("run.3ds", "walk.3ds"):
        shutil.copy("run.3ds", Path("scenes", name))
