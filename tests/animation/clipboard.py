# SPDX-License-Identifier: GPL-3.0-or-later
"""Copying and pasting of keys as in the Dope Sheet."""

from __future__ import annotations

import bpy

from tests.animation.curves import choose_alone, fcurves, set_selected
from tests.animation.editors import editor


def select_all(item: bpy.types.ID, frames: tuple[float, ...] | None = None) -> None:
    for fcurve in fcurves(item):
        for point in fcurve.keyframe_points:
            on = frames is None or any(abs(point.co.x - frame) < 0.01 for frame in frames)
            set_selected(point, on)


def copied(item: bpy.types.Object, frames: tuple[float, ...] | None = None) -> None:
    choose_alone(item)
    select_all(item, frames)
    with editor("DOPESHEET") as space:
        space.dopesheet.show_only_selected = True
        bpy.ops.action.copy()


def paste(item: bpy.types.Object, frame: float) -> None:
    choose_alone(item)
    for fcurve in fcurves(item):
        fcurve.select = True
    bpy.context.scene.frame_set(round(frame))
    with editor("DOPESHEET") as space:
        space.dopesheet.show_only_selected = True
        bpy.ops.action.paste()
