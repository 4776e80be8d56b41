# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a bake, as the operator and the sidebar have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..animation import Options
from ..animation.store.table.options import shown

_DEFAULTS = Options()


def declared(name: str, kind: Callable[..., Any] = FloatProperty, **limits: object) -> Any:
    """Return the property of an option, with the name, description and default that it is declared with."""
    option = shown(name)
    if option.choices:
        limits["items"], kind = [(value, *texts) for value, texts in option.choices.items()], EnumProperty
    # Blender's numbers have no None.
    limits.setdefault("default", getattr(_DEFAULTS, name) or 0.0)
    return kind(name=option.name, description=option.description, **limits)


def step(soft_max: float = 10.0, **limits: Any) -> Any:
    """Return the property of the frames between samples."""
    return declared("step", soft_max=soft_max, **limits)


class BakeOptions:
    """Options that the operator and the sidebar share."""

    output: declared("output")
    step: step(soft_min=0.05)
    value_tolerance: declared("value_tolerance", min=0.0, soft_max=0.1, precision=5)
    rotation_tolerance: declared("rotation_tolerance", min=1e-6, soft_max=0.1, precision=5, subtype="ANGLE")
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Extend the bake to the scene's frame range, for cycles and linear extrapolation",
    )


_NAMES = tuple(BakeOptions.__annotations__)


def used(settings: Any) -> list[str]:
    """Return the options that matter to the output, in the order in which they are drawn."""
    unused = {"value_tolerance", "rotation_tolerance"} if settings.output == "SAMPLES" else {"step"}
    if settings.output == "HANDLES":
        unused.add("use_scene_range")
    return [name for name in _NAMES if name not in unused]


def copy(settings: object, operator: object) -> None:
    """Hand all options to an operator: it keeps those that are not set from its last call."""
    for name in _NAMES:
        setattr(operator, name, getattr(settings, name))


def options(settings: Any, scene: Any, defaults: dict[str, float], **more: Any) -> Options:
    """Return the options as the animation's functions take them. Raises ValueError where they make no sense."""
    return Options(
        step=settings.step,
        extend=(float(scene.frame_start), float(scene.frame_end)) if settings.use_scene_range else None,
        output=settings.output,
        value_tolerance=settings.value_tolerance or None,
        rotation_tolerance=settings.rotation_tolerance,
        defaults=defaults,
        **more,
    )
