# SPDX-License-Identifier: GPL-3.0-or-later
"""What is saved in a .blend beside the F-curves, and what the sidebar edits.

`ID.tcb_tracks` and `PoseBone.tcb_tracks` only give companion F-curves (see animation/companions.py) a property to
name: their rows in the Dope Sheet then read "Tension" instead of a path. The data is in the F-curves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import (
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    PointerProperty,
    StringProperty,
)

from . import selection
from .animation import choose, key_set
from .animation.parameters import LIMITS
from .animation.settings import CHOICES

DESCRIPTIONS = {
    "tension": ("Tension", "How tightly the curve bends at the key: 1 stops there, -1 sweeps wide"),
    "continuity": ("Continuity", "Whether the curve comes and goes in one direction: below 0 it makes a corner"),
    "bias": ("Bias", "Where the curve leans: 1 overshoots the key, -1 bends before it"),
    "ease_to": ("Ease To", "How much the motion slows down towards the key"),
    "ease_from": ("Ease From", "How slowly the motion starts from the key"),
}

CHOICE_ITEMS = {
    "cycle": [
        ("SINGLE", "Single", "Played once; held before and after"),
        ("REPEAT", "Repeat", "Played again and again, from the start each time"),
        ("LOOP", "Loop", "Played again and again, smooth where the end meets the start"),
    ],
    "ends": [
        ("3DS", "3D Studio", "First and last key as 3D Studio 4 has them"),
        ("TANGENT", "Like Values", "First and last key as on value tracks"),
    ],
    "construction": [
        ("DE_CASTELJAU", "De Casteljau", "Between keys as the 3D Studio 4 formulas say"),
        ("SQUAD", "Squad", "Between keys as 3D Studio R3 and 3ds Max evaluate them"),
    ],
    "path": [
        ("SHORTEST", "Shortest", "Turn by the shorter way, whatever the keys' numbers say"),
        ("AS_KEYED", "As Keyed", "Turn as far as the keys' numbers say, also more than half a turn"),
    ],
}

OUTPUT_ITEMS = [
    ("SAMPLES", "Samples", "A linear key every so many frames: what 3D Studio played"),
]
RANGE_ITEMS = [
    ("KEYS", "Keys", "From the first to the last key of each track"),
    ("SCENE", "Scene", "The segments that the scene's frame range touches; cycles throughout it"),
    ("CUSTOM", "Custom", "The segments that a given range touches; cycles throughout it"),
]
TARGET_ITEMS = [
    ("IN_PLACE", "In Place", "Generated keys beside yours, which Restore takes away again"),
    ("NEW_ACTION", "New Action", "Plain keys in a copy of the action, for export; yours stays as it is"),
]


def parameter(name: str, **callbacks: Any) -> Any:
    """A slider of one parameter, in its range."""
    low, high = LIMITS[name]
    label, description = DESCRIPTIONS[name]
    return FloatProperty(
        name=label, description=description, min=low, max=high, default=0.0, step=5, precision=3, **callbacks
    )


def _key_parameter(name: str) -> Any:
    """The slider of one parameter of the key that the sidebar shows."""

    def get(_self: Any) -> float:
        found = selection.active_key(bpy.context)
        return found[2].parameters[name] if found else 0.0

    def set_(_self: Any, value: float) -> None:
        found = selection.active_key(bpy.context)
        if found:
            datablock, track, key = found
            key_set(datablock, track.path, key.frame, **{name: value})

    return parameter(name, get=get, set=set_, options=set())


def _track_choice(choice: str, label: str) -> Any:
    """One choice of the track that the sidebar shows."""

    def get(_self: Any) -> int:
        found = selection.active_track(bpy.context)
        return CHOICES[choice].index(getattr(found[1].settings, choice)) if found else 0

    def set_(_self: Any, value: int) -> None:
        found = selection.active_track(bpy.context)
        if found:
            choose(found[0], found[1].path, **{choice: CHOICES[choice][value]})

    return EnumProperty(name=label, items=CHOICE_ITEMS[choice], get=get, set=set_, options=set())


class TCBCompanions(bpy.types.PropertyGroup):
    """What the companion F-curves of one track are named after."""

    tension: parameter("tension")
    continuity: parameter("continuity")
    bias: parameter("bias")
    ease_to: parameter("ease_to")
    ease_from: parameter("ease_from")
    settings: FloatProperty(name="TCB Settings", options=set())
    saved: FloatVectorProperty(name="Saved Keys", size=32, options=set())


class TCBSidebar(bpy.types.PropertyGroup):
    """What the sidebar shows and edits: the parameters of the key near the current frame, the track's choices, and
    how to bake."""

    tension: _key_parameter("tension")
    continuity: _key_parameter("continuity")
    bias: _key_parameter("bias")
    ease_to: _key_parameter("ease_to")
    ease_from: _key_parameter("ease_from")

    cycle: _track_choice("cycle", "Cycle")
    ends: _track_choice("ends", "Ends")
    construction: _track_choice("construction", "Construction")
    path: _track_choice("path", "Turns")

    target: EnumProperty(name="Target", description="Where the baked keys go", items=TARGET_ITEMS)
    step: FloatProperty(name="Step", description="Frames from sample to sample", default=1.0, min=0.01, soft_max=10.0)
    frames: EnumProperty(name="Frames", description="What to bake", items=RANGE_ITEMS)
    frame_start: FloatProperty(name="Start", description="First frame of the range", default=1.0, precision=2)
    frame_end: FloatProperty(name="End", description="Last frame of the range", default=250.0, precision=2)


_CLASSES = (TCBCompanions, TCBSidebar)


def _properties() -> Iterator[tuple[Any, str, Any]]:
    """Each property that Blender's own types gain: the type, the name, the definition."""
    overridable: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    for owner in (bpy.types.ID, bpy.types.PoseBone):
        yield owner, "tcb_tracks", CollectionProperty(type=TCBCompanions, override=overridable)
    yield bpy.types.Scene, "tcb", PointerProperty(type=TCBSidebar)
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
