# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties for the options declared in animation/options.py, and for a custom frame range."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..animation.options import Kind, Option

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
