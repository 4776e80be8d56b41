# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties for the declared options, for the options of a bake, and for a custom frame range."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..animation import Options
from ..animation.options import BAKE, Kind, Option

_NUMBERS: dict[Kind, tuple[Any, str]] = {
    "COUNT": (IntProperty, "NONE"),
    "NUMBER": (FloatProperty, "NONE"),
    "FRAMES": (FloatProperty, "NONE"),
    "DISTANCE": (FloatProperty, "DISTANCE"),
    "ANGLE": (FloatProperty, "ANGLE"),
}
"""Property and subtype for each kind of number."""
_NUMBER_ARGUMENTS = {
    "low": "min",
    "high": "max",
    "soft_low": "soft_min",
    "soft_high": "soft_max",
    "precision": "precision",
}
"""Argument of a property for each attribute of an option."""


def property_of(option: Option, **changes: Any) -> Any:
    """Return the Blender property of an option. `changes`: arguments that differ from its declaration."""
    declared: dict[str, Any] = {
        "name": option.name,
        "description": option.description,
        "translation_context": option.context,
    }
    if option.choices:
        items = [(value, *texts) for value, texts in option.choices.items()]
        if option.kind == "CHOICES":
            declared |= {"default": set(option.default), "options": {"ENUM_FLAG"}}
        return EnumProperty(**{"items": items, "default": option.default, **declared, **changes})
    if option.kind == "FLAG":
        return BoolProperty(**{"default": option.default, **declared, **changes})
    number_property, subtype = _NUMBERS[option.kind]
    values = {argument: getattr(option, attribute) for attribute, argument in _NUMBER_ARGUMENTS.items()}
    bounds = {argument: value for argument, value in values.items() if value is not None}
    return number_property(**{"default": option.default or 0, "subtype": subtype, **bounds, **declared, **changes})


class CustomRange:
    """First and last frames of a custom range."""

    frame_start: FloatProperty(name="Start", description="First frame of a custom range", default=1.0)
    frame_end: FloatProperty(name="End", description="Last frame of a custom range", default=250.0)


_BAKE_ARGUMENTS = ("output", "step", "value_tolerance", "rotation_tolerance")
"""Options with the names and values of the functions of `animation`."""


class BakeOptions:
    """Options shared by the operator and the sidebar."""

    output: property_of(BAKE["output"])
    step: property_of(BAKE["step"])
    value_tolerance: property_of(BAKE["value_tolerance"])
    rotation_tolerance: property_of(BAKE["rotation_tolerance"])
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Extend the bake to the scene's frame range, for cycles and linear extrapolation",
    )


_NAMES = tuple(BakeOptions.__annotations__)


def used(settings: Any) -> list[str]:
    """Return the options that affect the output, in drawing order."""
    unused = {"value_tolerance", "rotation_tolerance"} if settings.output == "SAMPLES" else {"step"}
    if settings.output == "HANDLES":
        unused.add("use_scene_range")
    return [name for name in _NAMES if name not in unused]


def copy(settings: object, operator: object) -> None:
    """Copy all options to an operator. Otherwise, the operator would keep the values from its last call."""
    for name in _NAMES:
        setattr(operator, name, getattr(settings, name))


def options(settings: Any, scene: Any, defaults: dict[str, float], **more: Any) -> Options:
    """Return the options for functions of `animation`. Raises ValueError if an option is invalid."""
    return Options(
        extend=(float(scene.frame_start), float(scene.frame_end)) if settings.use_scene_range else None,
        defaults=defaults,
        **{name: BAKE[name].argument(getattr(settings, name)) for name in _BAKE_ARGUMENTS},
        **more,
    )
