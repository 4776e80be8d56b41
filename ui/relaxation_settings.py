# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a relaxation: the operator's, and the sidebar's, which the scene keeps."""

from __future__ import annotations

import math
from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import (
    BoolVectorProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)

from ..animation.options import RELAX
from ..animation.translation import iface_, n_
from .option_properties import property_of

WANTED_ITEMS = [
    (
        "ABOVE",
        "Above a Plane",
        "Keep the point on or above the XY plane of an object or the world",
    ),
    ("AT", "At a Point", "The point stays at a point of another object or bone"),
    ("APART", "Apart", "The point keeps a distance from a point of another object or bone"),
    ("LIMITS", "Rotation Limits", "The object's or bone's own rotation, as Euler angles, stays within limits"),
]
KEYS_ITEMS = [
    ("SELECTED", "Selected Keys", "The keys that are selected in the Dope Sheet or the timeline may change"),
    ("ALL", "All Keys", "All keys of the selected objects or bones may change"),
]
TRACK_ITEMS = [
    ("LOCATION", "Location", "Keys of locations may change"),
    ("ROTATION", "Rotation", "Keys of rotations may change"),
]


class Relaxation:
    """Settings that the operator and the sidebar share: all but the target."""

    wanted: EnumProperty(
        name="Condition",
        description="Condition that must hold at every frame",
        items=WANTED_ITEMS,
        translation_context=contexts.id_action,
    )
    keys: EnumProperty(
        name="Keys",
        description="Keys that may change",
        items=KEYS_ITEMS,
        translation_context=contexts.id_action,
    )
    tracks: EnumProperty(
        name="Tracks",
        description="Tracks with keys that may change",
        items=TRACK_ITEMS,
        options={"ENUM_FLAG"},
        default={"LOCATION", "ROTATION"},
    )
    point: FloatVectorProperty(
        name="Point",
        description="The point that is meant, in the axes of the active object or bone",
        size=3,
        subtype="TRANSLATION",
    )
    target_bone: StringProperty(name="Bone", description="Bone of the target. None: the target itself")
    target_point: FloatVectorProperty(
        name="Target's Point", description="In the target's own axes", size=3, subtype="TRANSLATION"
    )
    height: FloatProperty(name="Height", description="Height above the plane", default=0.0, subtype="DISTANCE")
    distance: FloatProperty(name="Distance", description="Least distance", default=1.0, min=0.0, subtype="DISTANCE")
    use_low: BoolVectorProperty(name="Low", description="Angles that have a lower limit", size=3)
    low: FloatVectorProperty(
        name="Low", description="The lower limits", size=3, subtype="EULER", min=-math.pi, max=math.pi
    )
    use_high: BoolVectorProperty(name="High", description="Angles that have an upper limit", size=3)
    high: FloatVectorProperty(
        name="High", description="The upper limits", size=3, subtype="EULER", min=-math.pi, max=math.pi
    )
    tolerance: property_of(RELAX["tolerance"])
    turn_tolerance: FloatProperty(
        name="Tolerance",
        description="The largest error that is accepted",
        default=math.radians(0.1),
        min=1e-5,
        soft_max=0.1,
        subtype="ANGLE",
    )
    least: property_of(RELAX["least"])
    keep_best: property_of(RELAX["keep_best"])


COMMON = tuple(Relaxation.__annotations__)


class TCBRelaxation(Relaxation, bpy.types.PropertyGroup):
    """Settings of the sidebar."""

    target: PointerProperty(
        name="Target",
        description="The object that the condition is about besides the active one",
        type=bpy.types.Object,
    )


def draw_condition(layout: bpy.types.UILayout, settings: Any, search: bool = False) -> None:
    """Draw the settings of the condition; with `search` the target can be looked up."""
    layout.prop(settings, "wanted")
    if settings.wanted == "LIMITS":
        for limits, text in (("low", n_("Low {:s}")), ("high", n_("High {:s}"))):
            column = layout.column(align=True)
            for axis, letter in enumerate("XYZ"):
                row = column.row(align=True)
                row.prop(settings, f"use_{limits}", index=axis, text=iface_(text, letter), translate=False)
                value = row.row()
                value.enabled = getattr(settings, f"use_{limits}")[axis]
                value.prop(settings, limits, index=axis, text="")
        layout.prop(settings, "turn_tolerance")
    else:
        layout.prop(settings, "point")
        layout.prop(settings, "target")
        if settings.wanted == "ABOVE":
            layout.prop(settings, "height")
        else:
            if search and settings.target is not None and settings.target.pose is not None:
                layout.prop_search(settings, "target_bone", settings.target.pose, "bones")
            else:
                layout.prop(settings, "target_bone")
            layout.prop(settings, "target_point")
        if settings.wanted == "APART":
            layout.prop(settings, "distance")
        layout.prop(settings, "tolerance")
    layout.prop(settings, "keys")
    layout.prop(settings, "tracks")
    layout.prop(settings, "least")
    layout.prop(settings, "keep_best")


def register() -> None:
    bpy.utils.register_class(TCBRelaxation)
    scene: Any = bpy.types.Scene
    scene.tcb_relaxation = PointerProperty(type=TCBRelaxation)


def unregister() -> None:
    scene: Any = bpy.types.Scene
    del scene.tcb_relaxation
    bpy.utils.unregister_class(TCBRelaxation)
