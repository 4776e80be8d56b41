# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a bake for the operator and the sidebar."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty

from ..animation import Options
from ..animation.options import BAKE
from .option_properties import property_of

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
