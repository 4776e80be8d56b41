# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders and fields of the chosen keys for all editors: parameters, velocities and values.

In an animation editor, these fields show the selected keys. In the 3D Viewport, they show the sidebar's key and the
keys at the same frame in the rest of the selection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import FloatProperty, FloatVectorProperty

from ...animation.arguments import LARGEST
from ...animation.edit.keys import values_of
from ...animation.edit.parameter_drag import ParameterDrag
from ...animation.edit.track_keys import TrackKeys
from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import PARAMETERS, velocity_of
from .. import preferences
from ..chosen_keys import chosen_keys, chosen_parameters, chosen_velocities
from .slider_drag import SharedSlider, ValueDrag, drag_of, end_if_released, last_event, once_a_drag

MAX = 50.0
"""Maximum of 3ds Max values."""


def of_50(name: str, value: float) -> float:
    """Convert a parameter to a 3ds Max value."""
    low, high = LIMITS[name]
    return (value - low) / (high - low) * MAX


def from_50(name: str, number: float) -> float:
    """Convert a 3ds Max value to a parameter."""
    low, high = LIMITS[name]
    return low + number / MAX * (high - low)


def shown_names(context: bpy.types.Context) -> dict[str, str]:
    """Return the name of the displayed slider for each parameter."""
    # Groups with `Of50` have a second slider per parameter.
    suffix = "_of_50" if preferences.shows_numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}


_DECIMALS = 3
"""Number of decimals of parameters."""
DESCRIPTIONS = {
    "tension": ("Tension", "Curve tightness: high values slow the motion at the key, low values widen the curve"),
    "continuity": ("Continuity", "Smoothness at the key: low values make a corner, high values overshoot"),
    "bias": ("Bias", "Curve lean: high values overshoot after the key, low values before the key"),
    "ease_to": ("Ease To", "Slowdown before the key"),
    "ease_from": ("Ease From", "Slow start after the key"),
}
"""Label and tooltip of each parameter."""


def parameter(name: str, **options: Any) -> Any:
    """Return a slider for one parameter in its range."""
    low, high = LIMITS[name]
    label, description = DESCRIPTIONS[name]
    return FloatProperty(
        name=label,
        description=description,
        translation_context=contexts.id_action,
        min=low,
        max=high,
        default=0.0,
        step=5,
        precision=_DECIMALS,
        **options,
    )


def parameter_of_50(name: str) -> Any:
    """Return a slider for the 3ds Max value of a parameter, from 0 to 50, with the default 25, or 0 for an ease."""
    label, description = DESCRIPTIONS[name]
    return FloatProperty(
        name=label,
        description=description,
        translation_context=contexts.id_action,
        min=0.0,
        max=MAX,
        step=100,
        precision=1,
        get=lambda self: of_50(name, getattr(self, name)),
        set=lambda self, number: setattr(self, name, from_50(name, number)),
        options={"SKIP_SAVE"},
    )


class Of50:
    """The five parameters as 3ds Max values, for groups that have these parameters."""

    tension_of_50: parameter_of_50("tension")
    continuity_of_50: parameter_of_50("continuity")
    bias_of_50: parameter_of_50("bias")
    ease_to_of_50: parameter_of_50("ease_to")
    ease_from_of_50: parameter_of_50("ease_from")


SLIDERS_OF_VELOCITY = 4
SLIDERS_OF_VALUE = 4
_VELOCITY_DESCRIPTION = "Velocity per frame at the key. For rotations: in radians, about the parent's axes"
_ANY_NUMBER = (-LARGEST, LARGEST)


def key_parameter(name: str) -> Any:
    """Return the slider for one parameter of the chosen keys."""
    slider = SharedSlider(LIMITS[name], _DECIMALS)

    def get(_self: object) -> float:
        end_if_released(bpy.context)
        numbers = chosen_parameters(bpy.context)[name]
        return slider.shown(numbers) if len(numbers) else 0.0

    def set_(self: Any, value: float) -> None:
        keys, numbers = chosen_keys(bpy.context), chosen_parameters(bpy.context)[name]
        _set_on_keys(ParameterDrag, name, slider, keys, numbers, value, self.relative)

    return parameter(name, get=get, set=set_, options=set())


def key_velocity() -> Any:
    """Return the velocity sliders of the chosen keys whose method uses velocities."""
    get, set_ = _component_fields(SLIDERS_OF_VELOCITY, velocity_component, ParameterDrag, velocity_of)
    return FloatVectorProperty(
        name="Velocity",
        description=_VELOCITY_DESCRIPTION,
        size=SLIDERS_OF_VELOCITY,
        get=get,
        set=set_,
        precision=4,
        options=set(),
    )


def key_value(size: int = SLIDERS_OF_VALUE, **options: Any) -> Any:
    """Return the value fields of the chosen keys."""
    get, set_ = _component_fields(size, value_component, ValueDrag, str)
    return FloatVectorProperty(
        name="Value",
        description="Value of the key",
        size=size,
        get=get,
        set=set_,
        precision=4,
        options=set(),
        **options,
    )


_FindComponent = Callable[[bpy.types.Context, int], tuple[list[TrackKeys], Numbers]]
"""Function that returns the chosen keys with a component, and its values."""


def _component_fields(
    size: int,
    find_component: _FindComponent,
    kind: type[ParameterDrag] | type[ValueDrag],
    name_of: Callable[[int], str],
) -> tuple[Callable[[Any], list[float]], Callable[[Any, Sequence[float]], None]]:
    """Return the getter and setter of values with several components.

    `name_of`: function that returns the name of a component in the drag.
    """
    sliders = [SharedSlider(_ANY_NUMBER) for _ in range(size)]

    def shown(component: int) -> tuple[list[TrackKeys], Numbers, float]:
        """Return the keys with the component, their values, and the value of the slider."""
        keys, numbers = find_component(bpy.context, component)
        return keys, numbers, sliders[component].shown(numbers) if len(numbers) else 0.0

    def get(_self: object) -> list[float]:
        end_if_released(bpy.context)
        return [shown(component)[2] for component in range(size)]

    def set_(self: Any, values: Sequence[float]) -> None:
        for component, value in enumerate(values):
            keys, numbers, displayed = shown(component)
            # Blender sets all components, but only one of them has changed.
            if len(numbers) and np.float32(value) != np.float32(displayed):
                _set_on_keys(kind, name_of(component), sliders[component], keys, numbers, value, self.relative)

    return get, set_


def velocity_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with this velocity component, and its values in the same order."""
    numbers_by_track = [
        (keys, velocities[:, component])
        for keys, velocities in chosen_velocities(context)
        if component < velocities.shape[1]
    ]
    numbers = np.concatenate([np.empty(0), *(numbers for _, numbers in numbers_by_track)])
    return [keys for keys, _ in numbers_by_track], numbers


def value_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with this component, and its values in the same order."""
    return _values_of_chosen(context).get(component, ([], np.empty(0)))


@once_a_drag
def _values_of_chosen(context: bpy.types.Context) -> dict[int, tuple[list[TrackKeys], Numbers]]:
    tracks_by_component: dict[int, list[tuple[TrackKeys, Numbers]]] = {}
    for keys in chosen_keys(context):
        for component, values in values_of(keys).items():
            has_component = ~np.isnan(values)
            if has_component.any():
                with_component = keys.take(has_component), values[has_component]
                tracks_by_component.setdefault(component, []).append(with_component)
    return {
        component: ([keys for keys, _ in tracks], np.concatenate([values for _, values in tracks]))
        for component, tracks in tracks_by_component.items()
    }


def _set_on_keys(
    kind: type[ParameterDrag] | type[ValueDrag],
    name: str,
    slider: SharedSlider,
    keys: list[TrackKeys],
    numbers: Numbers,
    value: float,
    relative: bool,
) -> None:
    """Set a value from the slider on keys whose current values are `numbers`."""
    context = bpy.context
    event, chosen = last_event(context), chosen_keys(context)
    if not chosen:
        return
    # The panel shows the reason if the keys cannot be changed.
    drag_of(context, kind, chosen).set(name, slider, keys, numbers, value, event, relative or event.alt)
