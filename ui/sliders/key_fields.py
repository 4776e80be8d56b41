# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders and fields of the chosen keys, one set for all editors: parameters, velocity and value.

In an animation editor they are about the selected keys; in the 3D viewport about the key that the sidebar shows, and
the keys at its frame of what else is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import bpy
import numpy as np
from bpy.props import FloatProperty, FloatVectorProperty

from ...animation import AnimationError
from ...animation.arguments import LARGEST
from ...animation.edit.parameters.recorded_parameters import RecordedParameters, put_back
from ...animation.edit.parameters.set_parameters import set_parameters_of_each
from ...animation.edit.place_keys import RecordedPlaces, put_places_back, set_value, values_of
from ...animation.edit.track_keys import TrackKeys
from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import velocity_of
from .. import selection
from .modifier_keys import LastEvent, last_event
from .numbers_of_50 import MAX, from_50, of_50
from .shared_number import SharedSlider

Was = TypeVar("Was", RecordedParameters, RecordedPlaces)

DESCRIPTIONS = {
    "tension": ("Tension", "How tightly the curve bends at the key: 1 stops there, -1 sweeps wide"),
    "continuity": ("Continuity", "0 passes the key in one direction; below 0 makes a corner, above 0 overshoots it"),
    "bias": ("Bias", "Where the curve leans: 1 overshoots the key, -1 bends before it"),
    "ease_to": ("Ease To", "How much the motion slows down towards the key"),
    "ease_from": ("Ease From", "How slowly the motion starts from the key"),
}


def parameter(name: str, **options: Any) -> Any:
    """Return a slider of one parameter, in its range."""
    low, high = LIMITS[name]
    label, description = DESCRIPTIONS[name]
    return FloatProperty(
        name=label, description=description, min=low, max=high, default=0.0, step=5, precision=3, **options
    )


def parameter_of_50(name: str) -> Any:
    """Return the same slider as 3ds Max numbers it: from 0 to 50; 25, or for an ease 0, changes nothing."""
    label, description = DESCRIPTIONS[name]
    return FloatProperty(
        name=label,
        description=description,
        min=0.0,
        max=MAX,
        step=100,
        precision=1,
        get=lambda self: of_50(name, getattr(self, name)),
        set=lambda self, number: setattr(self, name, from_50(name, number)),
        options={"SKIP_SAVE"},
    )


class Of50:
    """The five parameters as 3ds Max numbers them, for groups that have them."""

    tension_of_50: parameter_of_50("tension")
    continuity_of_50: parameter_of_50("continuity")
    bias_of_50: parameter_of_50("bias")
    ease_to_of_50: parameter_of_50("ease_to")
    ease_from_of_50: parameter_of_50("ease_from")


SLIDERS_OF_VELOCITY = 4
SLIDERS_OF_VALUE = 4
VELOCITY_DESCRIPTION = "Change of the value a frame at the key; of a rotation radians about the parent's axes"
_ANY_NUMBER = (-LARGEST, LARGEST)


@dataclass(frozen=True)
class _Way(Generic[Was]):
    """How one number of keys is set, in a drag or once, recorded and put back."""

    set_: Callable[[Iterable[tuple[TrackKeys, Numbers]], bool], None]
    keep: Callable[[TrackKeys], Was]
    put_back: Callable[[Sequence[Was]], None]


def _way_of_number(name: str) -> _Way[RecordedParameters]:
    def set_(every: Iterable[tuple[TrackKeys, Numbers]], held: bool) -> None:
        # A velocity has no defaults.
        defaults = selection.default_parameters(bpy.context) if name in LIMITS else {}
        set_parameters_of_each([(keys, {name: numbers}) for keys, numbers in every], defaults, held=held)

    return _Way(set_, partial(RecordedParameters.of, name=name), put_back)


def _way_of_value(component: int) -> _Way[RecordedPlaces]:
    def set_(every: Iterable[tuple[TrackKeys, Numbers]], _held: bool) -> None:
        for keys, numbers in every:
            with suppress(AnimationError):
                set_value(keys, component, numbers)

    return _Way(set_, RecordedPlaces.of, put_places_back)


def key_parameter(name: str) -> Any:
    """Return the slider of one parameter of the chosen keys."""
    slider: SharedSlider[list[RecordedParameters]] = SharedSlider(LIMITS[name])

    def get(_self: object) -> float:
        chosen, own = selection.chosen_keys(bpy.context), selection.chosen_parameters(bpy.context)[name]
        return slider.shown(identity_of(chosen), own) if len(own) else 0.0

    def set_(self: Any, value: float) -> None:
        event, chosen = last_event(bpy.context), selection.chosen_keys(bpy.context)
        own = selection.parameters_of(bpy.context, chosen)[name]
        _slide(slider, event, _way_of_number(name), chosen, own, value, self.relative)

    return parameter(name, get=get, set=set_, options=set())


def key_velocity() -> Any:
    """Return the sliders of the velocity of the chosen keys whose method uses it."""
    get, set_ = _component_fields(
        SLIDERS_OF_VELOCITY, velocity_component, lambda each: _way_of_number(velocity_of(each))
    )
    return FloatVectorProperty(
        name="Velocity",
        description=VELOCITY_DESCRIPTION,
        size=SLIDERS_OF_VELOCITY,
        get=get,
        set=set_,
        precision=4,
        options=set(),
    )


def key_value(size: int = SLIDERS_OF_VALUE, **options: Any) -> Any:
    """Return the fields of the values of the chosen keys."""
    get, set_ = _component_fields(size, value_component, _way_of_value)
    return FloatVectorProperty(
        name="Value",
        description="The value of the key, as it was keyed",
        size=size,
        get=get,
        set=set_,
        precision=4,
        options=set(),
        **options,
    )


_Find = Callable[[bpy.types.Context, int], tuple[list[TrackKeys], Numbers]]


def _component_fields(
    size: int, find: _Find, way_of: Callable[[int], _Way[Was]]
) -> tuple[Callable[[Any], list[float]], Callable[[Any, Sequence[float]], None]]:
    """Return getter and setter of numbers that keys have component by component."""
    sliders: list[SharedSlider[list[Was]]] = [SharedSlider(_ANY_NUMBER) for _ in range(size)]

    def shown(component: int) -> tuple[list[TrackKeys], Numbers, float]:
        """Return the keys with that component, its numbers, and the slider's number."""
        chosen, numbers = find(bpy.context, component)
        return chosen, numbers, sliders[component].shown(identity_of(chosen), numbers) if len(numbers) else 0.0

    def get(_self: object) -> list[float]:
        return [shown(component)[2] for component in range(size)]

    def set_(self: Any, values: Sequence[float]) -> None:
        event = last_event(bpy.context)
        for component, value in enumerate(values):
            chosen, numbers, before = shown(component)
            # The getters of the other sliders say what they show.
            if len(numbers) and np.float32(value) != np.float32(before):
                _slide(sliders[component], event, way_of(component), chosen, numbers, value, self.relative)
            elif not event.holds:
                sliders[component].end_drag()

    return get, set_


def velocity_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with that component of a velocity, and its numbers in their order."""
    having = [
        (keys, own[:, component]) for keys, own in selection.chosen_velocities(context) if component < own.shape[1]
    ]
    return [keys for keys, _ in having], np.concatenate([np.empty(0), *(own for _, own in having)])


def value_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with that component, and its values in their order."""
    having = []
    for keys in selection.chosen_keys(context):
        own = values_of(keys).get(component)
        if own is not None and not np.isnan(own).all():
            there = ~np.isnan(own)
            having.append((keys.take(there), own[there]))
    return [keys for keys, _ in having], np.concatenate([np.empty(0), *(own for _, own in having)])


def _slide(
    slider: SharedSlider[list[Was]],
    event: LastEvent,
    way: _Way[Was],
    chosen: list[TrackKeys],
    numbers: Numbers,
    value: float,
    relative: bool,
) -> None:
    """Set the number of keys that have these now, as its slider was set."""
    if not chosen:
        return
    keys = identity_of(chosen)
    if event.takes_back:
        kept = slider.kept(keys, numbers, value)
        if kept is not None:
            way.put_back(kept)
            slider.end_drag()
            return
        if np.float32(value) == np.float32(slider.shown(keys, numbers)):
            # Blender resets it more than once.
            return
    after = slider.changed(
        keys,
        numbers,
        value,
        relative or event.alt,
        keep=lambda: [way.keep(track_keys) for track_keys in chosen],
        held_on=event.is_modifier,
        takes_back=event.takes_back,
    )
    # The panel says why it can't be done.
    way.set_(split_by_track(chosen, after), event.holds and not event.is_modifier)
    if not event.holds:
        slider.end_drag()


def split_by_track(chosen: list[TrackKeys], numbers: Numbers) -> Iterator[tuple[TrackKeys, Numbers]]:
    """Yield the keys of each track with their numbers."""
    ends = np.cumsum([len(keys) for keys in chosen])
    return zip(chosen, np.split(numbers, ends[:-1]), strict=True)


def identity_of(chosen: list[TrackKeys]) -> Hashable:
    """Return what tells these keys from others, and from themselves at other frames."""
    return tuple((keys.datablock.as_pointer(), keys.track.path, keys.frames.tobytes()) for keys in chosen)
