# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of the chosen keys in the tabs of all editors: parameters, velocities and values.

In an animation editor, these fields show the selected keys. In the 3D Viewport, they show the sidebar's key and the
keys at the same frame in the rest of the selection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.props import FloatVectorProperty

from ...animation.arguments import LARGEST
from ...animation.edit.keys import values_of
from ...animation.edit.parameter_drag import ParameterDrag
from ...animation.edit.track_keys import TrackKeys
from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import velocity_of
from ..chosen_keys import chosen_keys, chosen_parameters, chosen_velocities
from ..parameter_properties import DECIMALS, parameter
from .last_event import last_event
from .shared_slider import SharedSlider
from .slider_drag import ValueDrag, drag_of, end_if_released, once_a_drag

MAX_COMPONENTS = 4
"""Number of fields for the components of a value or a velocity."""
_ANY_NUMBER = (-LARGEST, LARGEST)


def key_parameter(name: str) -> Any:
    """Return the slider for one parameter of the chosen keys."""
    field = _Field(name, SharedSlider(LIMITS[name], DECIMALS), ParameterDrag, partial(_parameter, name=name))

    def get(_self: object) -> float:
        end_if_released(bpy.context)
        return field.displayed()

    def set_(self: Any, value: float) -> None:
        field.set(value, self.relative)

    return parameter(name, get=get, set=set_, options=set())


def key_velocity() -> Any:
    """Return the velocity sliders of the chosen keys whose method uses velocities."""
    return _vector_property(
        [
            _Field(velocity_of(n), SharedSlider(_ANY_NUMBER), ParameterDrag, partial(velocity_component, component=n))
            for n in range(MAX_COMPONENTS)
        ],
        name="Velocity",
        description="Velocity per frame at the key. For rotations: in radians, about the parent's axes",
    )


def key_value(size: int = MAX_COMPONENTS, **declared: Any) -> Any:
    """Return the value fields of the chosen keys."""
    return _vector_property(
        [
            _Field(str(n), SharedSlider(_ANY_NUMBER), ValueDrag, partial(value_component, component=n))
            for n in range(size)
        ],
        name="Value",
        description="Value of the key",
        **declared,
    )


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


def _parameter(context: bpy.types.Context, name: str) -> tuple[list[TrackKeys], Numbers]:
    return chosen_keys(context), chosen_parameters(context)[name]


class _Field(NamedTuple):
    """One number of the chosen keys: a parameter, or a component of their velocities or values."""

    name: str
    """Name in the drag."""
    slider: SharedSlider
    drag_type: type[ParameterDrag] | type[ValueDrag]
    find: Callable[[bpy.types.Context], tuple[list[TrackKeys], Numbers]]
    """Function that returns the chosen keys with this number, and their current numbers."""

    def displayed(self) -> float:
        """Return the value of the field, or 0 if no chosen key has the number."""
        _, numbers = self.find(bpy.context)
        return self.slider.shown(numbers) if len(numbers) else 0.0

    def set(self, value: float, relative: bool) -> None:
        """Change the keys after Blender has set the field. The panel shows the reason if they cannot be changed."""
        context = bpy.context
        keys, numbers = self.find(context)
        if len(numbers):
            event = last_event(context)
            drag = drag_of(context, self.drag_type, chosen_keys(context))
            drag.begin(self.name, self.slider, keys, numbers)
            drag.set(self.name, value, event, relative or event.alt)


def _vector_property(fields: Sequence[_Field], **declared: Any) -> Any:
    def get(_self: object) -> list[float]:
        end_if_released(bpy.context)
        return [field.displayed() for field in fields]

    def set_(self: Any, values: Sequence[float]) -> None:
        for field, value in zip(fields, values, strict=True):
            # Blender sets all components, but only one of them has changed.
            if np.float32(value) != np.float32(field.displayed()):
                field.set(value, self.relative)

    return FloatVectorProperty(size=len(fields), get=get, set=set_, precision=4, options=set(), **declared)
