# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures.

`animation`: the subpackage of the installed extension, in a new, empty file. `arm`: an armature in that file.

`bakes`: the tracks that are baked again.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest


@pytest.fixture
def animation(tcb_animation: ModuleType, scene) -> ModuleType:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")


@pytest.fixture
def arm(scene):
    """An armature with an upper bone, a connected lower bone, and a separate bone. The first two bones rotate."""
    from tests.animation.curves import Bone, key, new_rig

    upper = Bone("upper", (0, 0, 0), (0, 0, 2))
    lower, loose = Bone("lower", upper.tail, (0, 0.5, 4), "upper"), Bone("loose", (1, 0, 0), (1, 0, 1), "upper")
    item = new_rig(upper, lower, loose, name="Arm")
    scene.frame_end = 41
    for name in ("upper", "lower"):
        item.pose.bones[name].rotation_mode = "XYZ"
        path = f'pose.bones["{name}"].rotation_euler'
        key(item, path, [(1, (0, 0, 0)), (21, (1, 0.5, 0)), (41, (0, 0, 2))])
    return item


@pytest.fixture
def bakes(animation, monkeypatch) -> list[str]:
    """The list of tracks that were baked again."""
    done: list[str] = []
    original = animation.live.update.rebake

    def rebake(datablocks, channels, tracks, otherwise, **options):
        tracks = list(tracks)
        done.extend(track.path for track in tracks)
        return original(datablocks, channels, tracks, otherwise)

    monkeypatch.setattr(animation.live.update, "rebake", rebake)
    return done
