# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits as in the Dope Sheet, and the differences between edited F-curves."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import bpy
import numpy as np
import numpy.typing as npt

from tests.animation.curves import PARAMETERS, fcurves, set_selected, snapshot
from tests.animation.editors import editor

Edit = Callable[[], object]


def select(things, *frames: float) -> None:
    """Select keys as by clicking the summary's diamonds at these frames. Default: all keys."""
    for thing in things:
        for fcurve in fcurves(thing):
            for point in fcurve.keyframe_points:
                chosen = not frames or any(abs(point.co.x - frame) < 0.01 for frame in frames)
                set_selected(point, chosen)


def do(edit: Edit) -> None:
    with editor("DOPESHEET"):
        assert edit() == {"FINISHED"}


def move(frames: float) -> Edit:
    return _transform("TIME_TRANSLATE", frames, snap=float(frames).is_integer())


def scale(factor: float, snap: bool = True) -> Edit:
    return _transform("TIME_SCALE", factor, snap)


def _transform(mode: str, amount: float, snap: bool) -> Edit:
    """Transform keys. By default, Blender snaps to whole frames, even without a window."""

    def edit():
        bpy.context.scene.tool_settings.use_snap_anim = snap
        return bpy.ops.transform.transform(mode=mode, value=(amount, 0, 0, 0))

    return edit


def snap() -> object:
    return bpy.ops.action.snap(type="NEAREST_FRAME")


def unlike(wanted: bpy.types.Object, got: bpy.types.Object, handles: bool = True) -> list:
    """Return the differences between F-curves. Handles differ if they deviate by more than the rounding of moves."""
    right = {state["path"]: state for state in snapshot(got, identities=False)}
    left = snapshot(wanted, identities=False)
    assert {state["path"] for state in left} == set(right)
    pairs = [(state, right[state["path"]]) for state in left]
    if not handles:
        pairs = [({name: old[name] for name in old if "handle" not in name}, new) for old, new in pairs]
    return [(old["path"][0], *difference) for old, new in pairs for difference in _unlike(old, new)]


def _unlike(old: dict, new: dict) -> list:
    result = []
    for name, value in old.items():
        a, b = value, new[name]
        if isinstance(a, bytes):
            a, b = (np.frombuffer(number, dtype=np.float32).tolist() for number in (a, b))
        near = 1e-4 if name in ("handle_left", "handle_right") else 0
        if isinstance(a, list) and len(a) == len(b):
            result += [
                (name, n, x, y)
                for n, (x, y) in enumerate(zip(a, b, strict=True))
                if x != y and not (near and abs(x - y) <= near * (1 + abs(x)))
            ]
        elif a != b:
            result.append((name, a, b))
    return result


def parameters_of(animation: ModuleType, thing: bpy.types.Object) -> dict[str, tuple[npt.NDArray, npt.NDArray]]:
    """Return each track's key frames, shape (n,), and parameters, 0 if not set, shape (n, 5)."""
    result = {}
    for path in dict.fromkeys(fcurve.data_path for fcurve in fcurves(thing)):
        keys = animation.edit.track_keys.keys_of(thing, animation.find_track(thing, path))
        numbers = keys.parameters({})
        columns = [np.broadcast_to(numbers.get(name, 0.0), keys.frames.shape) for name in PARAMETERS]
        result[path] = keys.frames, np.stack(columns, axis=1)
    return result
