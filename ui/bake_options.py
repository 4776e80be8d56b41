# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a bake, as the operator and the sidebar have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ..animation import Options
from ..animation.store.table.options import shown

RANGE_ITEMS = [
    ("KEYS", "All Keys", "From the first to the last key of each track"),
    ("SCENE", "Scene Range", "The scene's frame range, out to the keys around it; cycles throughout it"),
    ("CUSTOM", "Custom Range", "A range of frames, out to the keys around it; cycles throughout it"),
]
_DEFAULTS = Options()


def declared(name: str, kind: Callable[..., Any] = FloatProperty, **limits: object) -> Any:
    """Return the property of an option, with the name, description and default that it is declared with."""
    option = shown(name)
    if option.choices:
        limits["items"], kind = [(value, *texts) for value, texts in option.choices.items()], EnumProperty
    # A number of Blender's has no None.
    limits.setdefault("default", getattr(_DEFAULTS, name) or 0.0)
    return kind(name=option.name, description=option.description, **limits)


def step(soft_max: float = 10.0, **limits: Any) -> Any:
    """Return the property of the frames from one sample to the next."""
    return declared("step", soft_max=soft_max, **limits)


def range_start() -> Any:
    """Return the property of the first frame of a custom range."""
    return FloatProperty(name="Start", description="First frame of a custom range", default=1.0)


def range_end() -> Any:
    """Return the property of the last frame of a custom range."""
    return FloatProperty(name="End", description="Last frame of a custom range", default=250.0)


class CustomRange:
    """First and last frame of a custom range."""

    frame_start: range_start()
    frame_end: range_end()


class BakeOptions(CustomRange):
    """Options that the operator and the sidebar share."""

    output: declared("output")
    step: step(soft_min=0.05)
    value_tolerance: declared("value_tolerance", min=0.0, soft_max=0.1, precision=5)
    rotation_tolerance: declared("rotation_tolerance", min=1e-6, soft_max=0.1, precision=5, subtype="ANGLE")
    target: declared("target")
    frames: EnumProperty(name="Frames", description="What to bake", items=RANGE_ITEMS)


_NAMES = (*BakeOptions.__annotations__, *CustomRange.__annotations__)


def used(settings: Any) -> list[str]:
    """Return the options that matter to the output and the frames, in the order in which they are drawn."""
    unused = {"value_tolerance", "rotation_tolerance"} if settings.output == "SAMPLES" else {"step"}
    if settings.frames != "CUSTOM":
        unused |= CustomRange.__annotations__.keys()
    return [name for name in _NAMES if name not in unused]


def copy(settings: object, operator: object) -> None:
    """Hand all options to an operator: it keeps those that are not set from its last call."""
    for name in _NAMES:
        setattr(operator, name, getattr(settings, name))


def frame_range(settings: Any, scene: bpy.types.Scene) -> tuple[float, float] | None:
    """Return the first and last frame to bake; None: from the first to the last key."""
    if settings.frames == "SCENE":
        return float(scene.frame_start), float(scene.frame_end)
    return (settings.frame_start, settings.frame_end) if settings.frames == "CUSTOM" else None


def options(settings: Any, scene: Any, defaults: dict[str, float], **more: Any) -> Options:
    """Return the options as the animation's functions take them. Raises ValueError where they make no sense."""
    return Options(
        target=settings.target,
        step=settings.step,
        frame_range=frame_range(settings, scene),
        output=settings.output,
        value_tolerance=settings.value_tolerance or None,
        rotation_tolerance=settings.rotation_tolerance,
        defaults=defaults,
        **more,
    )
