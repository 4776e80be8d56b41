# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a bake, as the operator and the sidebar have them."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty, FloatProperty

from ..animation import ROTATION_TOLERANCE, Options

OUTPUT_ITEMS = [
    ("SAMPLES", "Samples", "A linear key every so many frames: what 3D Studio played"),
    ("CURVES", "Curves", "The fewest Bezier keys that come within a tolerance; right between frames too"),
    ("HANDLES", "Handles", "No keys but yours, whose handles play the motion as near as they can"),
]
RANGE_ITEMS = [
    ("KEYS", "All Keys", "From the first to the last key of each track"),
    ("SCENE", "Scene Range", "The scene's frame range, out to the keys around it; cycles throughout it"),
    ("CUSTOM", "Custom Range", "A range of frames, out to the keys around it; cycles throughout it"),
]
TARGET_ITEMS = [
    ("IN_PLACE", "This Action", "Generated keys beside yours, which Restore takes away again"),
    ("NEW_ACTION", "New Action", "Plain keys in a copy of the action, for export; the object then plays the copy"),
]


def step(default: float = 1.0, soft_max: float = 10.0, **limits: Any) -> Any:
    """Return the property of the frames from one sample to the next."""
    description = "Frames from sample to sample"
    return FloatProperty(name="Step", description=description, default=default, soft_max=soft_max, **limits)


class CustomRange:
    """First and last frame of a custom range."""

    frame_start: FloatProperty(name="Start", description="First frame of a custom range", default=1.0, precision=2)
    frame_end: FloatProperty(name="End", description="Last frame of a custom range", default=250.0, precision=2)


class BakeOptions(CustomRange):
    """Options that the operator and the sidebar share."""

    output: EnumProperty(name="Output", description="What the baked curves are made of", items=OUTPUT_ITEMS)
    step: step(soft_min=0.05)
    value_tolerance: FloatProperty(
        name="Value Tolerance",
        description="How near curves come to values, in the property's units; handles that are farther off are said to "
        "be approximate. 0: to 1/10 000 of the range of its keys",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=5,
    )
    rotation_tolerance: FloatProperty(
        name="Rotation Tolerance",
        description="How near curves come to rotations; handles that are farther off are said to be approximate",
        default=ROTATION_TOLERANCE,
        min=1e-6,
        soft_max=0.1,
        precision=5,
        subtype="ANGLE",
    )
    target: EnumProperty(name="Target", description="Where the baked keys go", items=TARGET_ITEMS)
    frames: EnumProperty(name="Frames", description="What to bake", items=RANGE_ITEMS)


_NAMES = (*BakeOptions.__annotations__, *CustomRange.__annotations__)


def used(settings: Any) -> list[str]:
    """Return the options that matter to the output and the frames, in the order in which they are drawn."""
    unused = {"value_tolerance", "rotation_tolerance"} if settings.output == "SAMPLES" else {"step"}
    if settings.frames != "CUSTOM":
        unused |= CustomRange.__annotations__.keys()
    return [name for name in _NAMES if name not in unused]


def copy(settings: Any, operator: Any) -> None:
    """Hand all options to an operator: it keeps those that are not set from its last call."""
    for name in _NAMES:
        setattr(operator, name, getattr(settings, name))


def frame_range(settings: Any, scene: Any) -> tuple[float, float] | None:
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
