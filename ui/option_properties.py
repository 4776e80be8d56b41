# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties for the options that `animation` declares, and the groups of options of Bake and Reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..animation import Options
from ..animation.options import BAKE, REDUCE, Kind, Option

if TYPE_CHECKING:
    from ..animation.reduction.report import ReduceRequest

_NUMBERS: dict[Kind, tuple[Any, str]] = {
    "COUNT": (IntProperty, "NONE"),
    "NUMBER": (FloatProperty, "NONE"),
    "FRAMES": (FloatProperty, "NONE"),
    "DISTANCE": (FloatProperty, "DISTANCE"),
    "ANGLE": (FloatProperty, "ANGLE"),
}
"""Property and subtype for each kind of number."""


def property_of(option: Option, **changes: Any) -> Any:
    """Return the Blender property of an option. `changes`: arguments that differ from its declaration."""
    declared: dict[str, Any] = {
        "name": option.name,
        "description": option.description,
        "translation_context": option.context,
    }
    if option.choices:
        items = [(value, *texts) for value, texts in option.choices.items()]
        return EnumProperty(**{"items": items, "default": option.default, **declared, **changes})
    if option.kind == "FLAG":
        return BoolProperty(**{"default": option.default, **declared, **changes})
    number_property, subtype = _NUMBERS[option.kind]
    bounds = {
        "min": option.low,
        "max": option.high,
        "soft_min": option.soft_low,
        "soft_max": option.soft_high,
        "precision": option.precision,
    }
    declared |= {argument: value for argument, value in bounds.items() if value is not None}
    return number_property(**{"default": option.default or 0, "subtype": subtype, **declared, **changes})


class CustomRange:
    """First and last frames of a custom range."""

    frame_start: FloatProperty(name="Start", description="First frame of a custom range", default=1.0)
    frame_end: FloatProperty(name="End", description="Last frame of a custom range", default=250.0)


class BakeOptions:
    """Options of a bake, for the sidebar and the operator."""

    output: property_of(BAKE["output"])
    step: property_of(BAKE["step"])
    value_tolerance: property_of(BAKE["value_tolerance"])
    rotation_tolerance: property_of(BAKE["rotation_tolerance"])
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Extend the bake to the scene's frame range, for cycles and linear extrapolation",
    )

    def used_options(self) -> list[str]:
        """Return the options that affect the output, in drawing order."""
        unused = {"value_tolerance", "rotation_tolerance"} if self.output == "SAMPLES" else {"step"}
        if self.output == "HANDLES":
            unused.add("use_scene_range")
        return [name for name in BakeOptions.__annotations__ if name not in unused]

    def copy_to(self, operator: object) -> None:
        """Copy all options to an operator. Otherwise, the operator would keep the values from its last call."""
        for name in BakeOptions.__annotations__:
            setattr(operator, name, getattr(self, name))

    def bake_options(self, scene: Any, defaults: dict[str, float], **more: Any) -> Options:
        """Return the options for functions of `animation`. Raises ValueError if an option is invalid."""
        names = [name for name in BakeOptions.__annotations__ if name in BAKE]
        return Options(
            extend=(float(scene.frame_start), float(scene.frame_end)) if self.use_scene_range else None,
            defaults=defaults,
            **{name: BAKE[name].argument(getattr(self, name)) for name in names},
            **more,
        )


_REDUCE_FRAMES = [
    ("KEYS", "All Keys", "All keys of selected objects, or of selected bones in Pose Mode"),
    (
        "SELECTED",
        "Selected Keys",
        "Keys between the first and last selected keys, in properties with selected keys",
    ),
    ("SCENE", "Scene Range", "Keys in the scene frame range. Motion outside the range is unchanged"),
    ("CUSTOM", "Custom Range", "Keys in a custom frame range. Motion outside the range is unchanged"),
]


class ReduceOptions(CustomRange):
    """Options of Reduce, for the panel and the operators."""

    error: property_of(REDUCE["error"], options=set())
    angle: property_of(REDUCE["angle"], options=set())
    key_count: property_of(REDUCE["key_count"], options=set())
    still: property_of(REDUCE["still"], options=set())
    period: property_of(REDUCE["period"], options=set())
    together: property_of(REDUCE["together"], options=set())
    frames: EnumProperty(name="Frames", description="Keys to reduce", items=_REDUCE_FRAMES, options=set())
    method: property_of(REDUCE["method"], default="TCB", options=set())

    def used_options(self, context: bpy.types.Context) -> list[str]:
        """Return the options that apply to this mode and these frames, in drawing order."""
        names = ["method", "error", "angle", "still", "period", "together", "key_count", "frames"]
        if context.mode == "POSE":
            names.remove("angle")
        return [*names, *(CustomRange.__annotations__ if self.frames == "CUSTOM" else ())]

    def copy_to(self, operator: object) -> None:
        """Copy all options to an operator."""
        for name in (*ReduceOptions.__annotations__, *CustomRange.__annotations__):
            setattr(operator, name, getattr(self, name))

    def request(self, scene: Any) -> ReduceRequest:
        """Return the requested reduction. Raises ValueError for a period of 2 frames or less, or an empty range."""
        from ..animation.reduction.report import ReduceRequest

        names = [name for name in ReduceOptions.__annotations__ if name in REDUCE]
        arguments = {name: REDUCE[name].argument(getattr(self, name)) for name in names}
        ranges = {
            "SCENE": (float(scene.frame_start), float(scene.frame_end)),
            "CUSTOM": (self.frame_start, self.frame_end),
        }
        return ReduceRequest(**arguments, frame_range=ranges.get(self.frames))
