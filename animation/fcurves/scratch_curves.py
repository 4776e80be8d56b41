# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Blender evaluate keys that are not on any of the animator's F-curves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from ..datablocks import HAS_SLOTS
from .keyframes import Keyframes
from .read_and_write import write


class _Scratch:
    """The scratch action."""

    action: bpy.types.Action | None = None
    """The action while it exists."""
    open_contexts = 0
    """The number of open contexts of `shared_action`."""


_scratch = _Scratch()


@contextmanager
def shared_action() -> Iterator[None]:
    """Share one scratch action among all evaluations in this context. Creating actions is slow in large files."""
    _scratch.open_contexts += 1
    try:
        yield
    finally:
        _scratch.open_contexts -= 1
        if _scratch.action is not None and not _scratch.open_contexts:
            bpy.data.actions.remove(_scratch.action)
            _scratch.action = None


def evaluate(
    keys: Keyframes, edited: bool, extrapolation: Literal["CONSTANT", "LINEAR"], frames: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """Return the values of a curve with these keys at the frames, shape (m,).

    If the keys were `edited`, Blender updates automatic handles first.
    """
    with _curve(keys) as fcurve:
        fcurve.extrapolation = extrapolation
        if edited:
            fcurve.update()
        return np.array([fcurve.evaluate(float(frame)) for frame in frames], dtype=np.float64)


@contextmanager
def _curve(keys: Keyframes) -> Iterator[bpy.types.FCurve]:
    """Create an F-curve with these keys, which exists only in this context."""
    with shared_action():
        if _scratch.action is None:
            _scratch.action = bpy.data.actions.new("TCB scratch")
        fcurves = _fcurves(_scratch.action)
        fcurve = fcurves.new("location", index=0)
        try:
            write(fcurve, keys)
            yield fcurve
        finally:
            fcurves.remove(fcurve)


def _fcurves(action: Any) -> Any:
    """Return the F-curves of the scratch action."""
    if not HAS_SLOTS:
        return action.fcurves
    slot = action.slots[0] if action.slots else action.slots.new("OBJECT", "scratch")
    layer = action.layers[0] if action.layers else action.layers.new("scratch")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves
