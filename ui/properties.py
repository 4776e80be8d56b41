# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that a .blend keeps beside the F-curves, and that the sidebar edits.

`ID.tcb_tracks` and `PoseBone.tcb_tracks` only give the F-curves of frame functions (see animation/store/paths.py) a
property to name: their rows in the Dope Sheet read "Frame Function" then, not a path. The data is in the F-curves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)

from ..animation import AnimationError, choose
from ..animation.edit.selected_keys import Kept, TrackKeys, put_back, set_parameters
from ..animation.store.parameters import LIMITS, Numbers, velocity_size
from ..animation.store.table.rows import velocity_of
from ..animation.store.table.settings import CHOICES
from ..interp.splines import METHODS
from . import selection
from .bake_options import BakeOptions, step
from .modifier_keys import LastEvent, last_event
from .preferences import MAX, from_50, of_50
from .shared_number import SharedSlider

DESCRIPTIONS = {
    "tension": ("Tension", "How tightly the curve bends at the key: 1 stops there, -1 sweeps wide"),
    "continuity": ("Continuity", "0 passes the key in one direction; below 0 makes a corner, above 0 overshoots it"),
    "bias": ("Bias", "Where the curve leans: 1 overshoots the key, -1 bends before it"),
    "ease_to": ("Ease To", "How much the motion slows down towards the key"),
    "ease_from": ("Ease From", "How slowly the motion starts from the key"),
}

CHOICE_ITEMS = {
    "cycle": [
        ("SINGLE", "Single", "Played once; before the first and after the last key the value is held"),
        ("REPEAT", "Repeat", "Played again and again, from the start each time, as far as the baked frames go"),
        ("LOOP", "Loop", "As Repeat, and smooth where the end meets the start: first and last key are one pose"),
    ],
    "ends": [
        ("3DS", "3D Studio", "The rotation leaves its first key and comes to its last one as in 3D Studio 4"),
        ("TANGENT", "As for Location", "The rotation leaves its first key and comes to its last one as values do"),
    ],
    "construction": [
        (
            "DE_CASTELJAU",
            "3D Studio 4",
            "Rotations between keys by the 3D Studio 4 formulas (de Casteljau)",
        ),
        ("SQUAD", "3ds Max", "Rotations between keys as 3D Studio R3 and 3ds Max build them (squad)"),
    ],
    "path": [
        ("SHORTEST", "Shortest", "The rotation turns by the shorter way, whatever the keys' numbers say"),
        (
            "AS_KEYED",
            "As Keyed",
            "The rotation turns as far as the keys say, whole turns too (3ds Max: windup)",
        ),
    ],
    "method": [(name, METHODS[name].label, METHODS[name].description) for name in CHOICES["method"]],
    "angles": [(name, METHODS[name].label, METHODS[name].description) for name in CHOICES["angles"]],
}
_METHODS_OF: dict[tuple[str, ...], list[tuple[str, str, str, int]]] = {
    kinds: [
        (*item, number)
        for number, item in enumerate(CHOICE_ITEMS["method"])
        if all(getattr(METHODS[item[0]], kind) for kind in kinds)
    ]
    for kinds in ((), ("values",), ("rotations",), ("values", "rotations"))
}
"""Kept here: Blender keeps no reference to items that it gets while drawing."""


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


def _key_parameter(name: str) -> Any:
    """Return the slider of one parameter of the key that the sidebar of the 3D viewport shows."""
    slider = SharedSlider(LIMITS[name])

    def get(_self: object) -> float:
        found = selection.active_key(bpy.context)
        return found[2].parameters[name] if found else 0.0

    def set_(_self: object, value: float) -> None:
        event = last_event(bpy.context)
        _slide(slider, event, name, selection.key_shown(bpy.context), np.array([get(None)]), value)

    return parameter(name, get=get, set=set_, options=set())


SLIDERS_OF_VELOCITY = 4
VELOCITY_DESCRIPTION = "Change of the value a frame at the key; of a rotation radians about the parent's axes"
_ANY_NUMBER = (-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max))


def _velocity_sliders() -> list[SharedSlider]:
    return [SharedSlider(_ANY_NUMBER) for _ in range(SLIDERS_OF_VELOCITY)]


def _key_velocity() -> Any:
    """Return the sliders of the velocity of the key that the sidebar of the 3D viewport shows."""
    sliders = _velocity_sliders()

    def get(_self: object) -> list[float]:
        found = selection.active_key(bpy.context)
        velocity = list(found[2].velocity[:SLIDERS_OF_VELOCITY]) if found else []
        return [*velocity, *[0.0] * (SLIDERS_OF_VELOCITY - len(velocity))]

    def set_(_self: object, values: Sequence[float]) -> None:
        event = last_event(bpy.context)
        for keys in selection.key_shown(bpy.context):
            before = get(None)
            for component, value in enumerate(values[: velocity_size(keys.track)]):
                if np.float32(value) != np.float32(before[component]):
                    numbers = np.array([before[component]])
                    _slide(sliders[component], event, velocity_of(component), [keys], numbers, value)
                elif not event.holds:
                    sliders[component].end_drag()

    return _velocity_property(get, set_)


def _velocity_property(get: Callable[[Any], list[float]], set_: Callable[[Any, Sequence[float]], None]) -> Any:
    """Return the property of velocity sliders with that getter and setter."""
    return FloatVectorProperty(
        name="Velocity",
        description=VELOCITY_DESCRIPTION,
        size=SLIDERS_OF_VELOCITY,
        get=get,
        set=set_,
        precision=4,
        options=set(),
    )


def _selected_velocity() -> Any:
    """Return the sliders of the velocity of the selected keys whose method uses it."""
    sliders = _velocity_sliders()

    def shown(component: int) -> tuple[list[TrackKeys], Numbers, float]:
        """Return the selected keys with that component of a velocity, its numbers, and the slider's number."""
        chosen, numbers = velocity_component(bpy.context, component)
        return chosen, numbers, sliders[component].shown(_identity(chosen), numbers) if len(numbers) else 0.0

    def get(_self: object) -> list[float]:
        return [shown(component)[2] for component in range(SLIDERS_OF_VELOCITY)]

    def set_(self: Any, values: Sequence[float]) -> None:
        event = last_event(bpy.context)
        for component, value in enumerate(values):
            chosen, numbers, before = shown(component)
            # The getters of the other sliders say what they show.
            if len(numbers) and np.float32(value) != np.float32(before):
                _slide(sliders[component], event, velocity_of(component), chosen, numbers, value, self.relative)
            elif not event.holds:
                sliders[component].end_drag()

    return _velocity_property(get, set_)


def velocity_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the selected keys with that component of a velocity, and its numbers in their order."""
    having = [
        (keys, own[:, component]) for keys, own in selection.chosen_velocities(context) if component < own.shape[1]
    ]
    return [keys for keys, _ in having], np.concatenate([np.empty(0), *(own for _, own in having)])


def _split_by_track(chosen: list[TrackKeys], numbers: Numbers) -> Iterator[tuple[TrackKeys, Numbers]]:
    """Yield the keys of each track with their numbers."""
    ends = np.cumsum([len(keys) for keys in chosen])
    return zip(chosen, np.split(numbers, ends[:-1]), strict=True)


def _slide(
    slider: SharedSlider,
    event: LastEvent,
    name: str,
    chosen: list[TrackKeys],
    numbers: Numbers,
    value: float,
    relative: bool = False,
) -> None:
    """Set the parameter of keys with these numbers as its slider was set."""
    if not chosen:
        return
    keys = _identity(chosen)
    if event.takes_back:
        kept = slider.kept(keys, numbers, value)
        if kept is not None:
            put_back(kept)
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
        keep=lambda: [Kept.of(track_keys, name) for track_keys in chosen],
        held_on=event.is_modifier,
        takes_back=event.takes_back,
    )
    # A velocity has no defaults.
    defaults = selection.default_parameters(bpy.context) if name in LIMITS else {}
    for track_keys, own in _split_by_track(chosen, after):
        # The panel says why it can't be done.
        with suppress(AnimationError):
            set_parameters(track_keys, {name: own}, defaults)
    if not event.holds:
        slider.end_drag()


def _selected_parameter(name: str) -> Any:
    """Return the slider of one parameter of the selected keys."""
    slider = SharedSlider(LIMITS[name])

    def get(_self: object) -> float:
        chosen, numbers = _numbers(name)
        return slider.shown(_identity(chosen), numbers) if len(numbers) else 0.0

    def set_(self: Any, value: float) -> None:
        chosen, numbers = _numbers(name)
        _slide(slider, last_event(bpy.context), name, chosen, numbers, value, self.relative)

    return parameter(name, get=get, set=set_, options=set())


def _numbers(name: str) -> tuple[list[TrackKeys], Numbers]:
    """Return the selected keys, and that parameter of all of them."""
    chosen = selection.chosen_keys(bpy.context)
    return chosen, selection.chosen_parameters(bpy.context)[name]


def _identity(chosen: list[TrackKeys]) -> Hashable:
    return tuple((keys.datablock.as_pointer(), keys.track.path, keys.frames.tobytes()) for keys in chosen)


CHOICE_DESCRIPTIONS = {
    "cycle": ("Cycle", "What comes before the first and after the last key"),
    "ends": ("Ends", "How the rotation starts and ends"),
    "construction": ("Between Keys", "Whose way of interpolating rotations"),
    "path": ("Turns", "Which way round the rotation goes from key to key"),
    "method": ("Method", "How the motion goes from key to key"),
    "angles": ("Angles", "How each of the angles goes from key to key"),
}


def choice(name: str, **options: Any) -> Any:
    """Return the property of one choice of a track."""
    label, description = CHOICE_DESCRIPTIONS[name]
    return EnumProperty(name=label, description=description, **{"items": CHOICE_ITEMS[name], **options})


def _track_choice(name: str) -> Any:
    """Return the property of one choice of the track that the sidebar shows, or of those of the selected keys."""

    def get(_self: object) -> int:
        tracks = selection.chosen_tracks(bpy.context)
        return CHOICES[name].index(getattr(tracks[0][1].settings, name)) if tracks else 0

    def set_(_self: object, value: int) -> None:
        for datablock, track in selection.chosen_tracks(bpy.context):
            # The panel says why it can't be done.
            with suppress(AnimationError):
                choose(datablock, track.path, **{name: CHOICES[name][value]})

    return choice(name, get=get, set=set_, options=set(), **({"items": _methods} if name == "method" else {}))


def _methods(_self: object, context: bpy.types.Context | None) -> list[tuple[str, str, str, int]]:
    """Return the methods that all the tracks shown can have."""
    kinds = {track.is_rotation for _, track in selection.chosen_tracks(context or bpy.context)}
    return _METHODS_OF[
        tuple(kind for kind, there in (("values", False in kinds), ("rotations", True in kinds)) if there)
    ]


FRAME_DESCRIPTION = "Which frame of the motion is played now: it counts where it is animated"


class TCBTrack(bpy.types.PropertyGroup):
    """Owner of one track's frame function, which gives it a name in the Dope Sheet."""

    frame: FloatProperty(name="Frame Function", description=FRAME_DESCRIPTION)


class Of50:
    """The five parameters as 3ds Max numbers them, for groups that have them."""

    tension_of_50: parameter_of_50("tension")
    continuity_of_50: parameter_of_50("continuity")
    bias_of_50: parameter_of_50("bias")
    ease_to_of_50: parameter_of_50("ease_to")
    ease_from_of_50: parameter_of_50("ease_from")


class TCBParameters(Of50, bpy.types.PropertyGroup):
    """The five parameters of new keys, or of a preset."""

    tension: parameter("tension", options=set())
    continuity: parameter("continuity", options=set())
    bias: parameter("bias", options=set())
    ease_to: parameter("ease_to", options=set())
    ease_from: parameter("ease_from", options=set())


class TCBSelectedKeys(Of50, bpy.types.PropertyGroup):
    """Values of the sidebars of the animation editors: the parameters of the keys selected there."""

    relative: BoolProperty(
        name="Relative",
        description=(
            "A slider shifts the numbers of all selected keys by as much, instead of making them the same;"
            " so it does while Alt is held"
        ),
        options=set(),
    )
    tension: _selected_parameter("tension")
    continuity: _selected_parameter("continuity")
    bias: _selected_parameter("bias")
    ease_to: _selected_parameter("ease_to")
    ease_from: _selected_parameter("ease_from")
    velocity: _selected_velocity()


class TCBSidebar(Of50, BakeOptions, bpy.types.PropertyGroup):
    """Values of the sidebar: parameters of the key near the current frame, the track's choices, bake options."""

    tension: _key_parameter("tension")
    continuity: _key_parameter("continuity")
    bias: _key_parameter("bias")
    ease_to: _key_parameter("ease_to")
    ease_from: _key_parameter("ease_from")
    velocity: _key_velocity()
    selected: PointerProperty(type=TCBSelectedKeys)
    defaults: PointerProperty(type=TCBParameters)

    method: _track_choice("method")
    angles: _track_choice("angles")
    cycle: _track_choice("cycle")
    ends: _track_choice("ends")
    construction: _track_choice("construction")
    path: _track_choice("path")

    step: step(min=0.01)


_CLASSES = (TCBTrack, TCBParameters, TCBSelectedKeys, TCBSidebar)


def _properties() -> Iterator[tuple[Any, str, Any]]:
    """Yield the properties that Blender's own types gain: the type, the name, the definition."""
    overridable: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    for owner in (bpy.types.ID, bpy.types.PoseBone):
        yield owner, "tcb_tracks", CollectionProperty(type=TCBTrack, override=overridable)
    yield (
        bpy.types.ID,
        "tcb_frame",
        FloatProperty(name="Frame Function", description=FRAME_DESCRIPTION, override={"LIBRARY_OVERRIDABLE"}),
    )
    yield bpy.types.Scene, "tcb", PointerProperty(type=TCBSidebar)
    yield bpy.types.WindowManager, "tcb_preset", PointerProperty(type=TCBParameters)
    description = "The track that the sidebar shows"
    yield (
        bpy.types.WindowManager,
        "tcb_track",
        StringProperty(name="TCB Track", description=description, options={"SKIP_SAVE"}),
    )


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    for owner, name, definition in _properties():
        setattr(owner, name, definition)


def unregister() -> None:
    for owner, name, _definition in _properties():
        delattr(owner, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
