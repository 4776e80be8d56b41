# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures.

`animation`: the subpackage of the installed extension, in a new, empty file. All findings are checked.
`arm`: an armature in that file. `bakes`: the tracks that are baked again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def animation(tcb_animation: ModuleType, scene, monkeypatch) -> ModuleType:
    package = importlib.import_module(f"{tcb_animation.__name__}.animation")
    monkeypatch.setattr(package.Finding, "__init__", checked(package.Finding.__init__))
    return package


def checked(initialize: Callable[..., None]) -> Callable[..., None]:
    """Return a method that initializes a finding and checks that it is about one track and contains plain values."""

    def initialize_and_check(finding: Any, *given: Any, **named: Any) -> None:
        initialize(finding, *given, **named)
        assert ", " not in finding.track
        values = [each for value in finding.arguments for each in (value if isinstance(value, tuple) else (value,))]
        assert all(isinstance(value, str | float | int | type(finding)) for value in values), finding.arguments

    return initialize_and_check


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
