# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that the extension adds to Blender's types: the sidebar's fields, results, and frame functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..animation import AnimationError, choose
from ..animation.options import BAKE, TRACK
from ..animation.store.table.track_records import CHOICES
from ..interp.splines import METHODS
from . import preferences
from .chosen_keys import chosen_tracks
from .operator_results import keep_result_notes
from .option_properties import BakeOptions, ReduceOptions, property_of
from .sliders.key_fields import key_frame, key_parameter, key_value, key_velocity
from .sliders.parameter_sliders import Of50, parameter
from .sliders.slider_drag import TCB_OT_last_event


class TCBSidebar(Of50, BakeOptions, bpy.types.PropertyGroup):
    """Values of the sidebar tabs: parameters, frames and values of keys, track settings, bake options."""

    relative: BoolProperty(
        name="Relative",
        description="Shift all values by the same amount instead of making them equal (Alt)",
        options=set(),
    )
    tension: key_parameter("tension")
    continuity: key_parameter("continuity")
    bias: key_parameter("bias")
    ease_to: key_parameter("ease_to")
    ease_from: key_parameter("ease_from")
    velocity: key_velocity()
    key_frame: key_frame()
    whole_column: BoolProperty(
        name="Whole Column",
        description="Move all keys at this frame of the selected objects or bones",
        default=True,
        options=set(),
    )
    key_value: key_value()
    key_angles: key_value(size=3, subtype="EULER")
    defaults: PointerProperty(type=TCBParameters)
    reduction: PointerProperty(type=TCBReduction)

    method: _track_choice("method")
    angles: _track_choice("angles")
    cycle: _track_choice("cycle")
    ends: _track_choice("ends")
    construction: _track_choice("construction")
    path: _track_choice("path")

    step: property_of(BAKE["step"], min=0.01)


def _track_choice(name: str) -> Any:
    def get(_self: object) -> int:
        tracks = chosen_tracks(bpy.context)
        return CHOICES[name].index(getattr(tracks[0][1].settings, name)) if tracks else 0

    def set_(_self: object, value: int) -> None:
        keep_result_notes(())
        for datablock, track in chosen_tracks(bpy.context):
            # The panel shows the reason if the track cannot be changed.
            with suppress(AnimationError):
                choose(datablock, track.path, **{name: CHOICES[name][value]})

    # The items of a callback have numbers, and so has their default.
    items = {"items": _methods, "default": 0} if name == "method" else {}
    return property_of(TRACK[name], get=get, set=set_, options=set(), **items)


_COMPARISON_METHODS = frozenset(("LAGRANGE", "RAW_CUBIC", "SHOEMAKE", "SHOEMAKE_BLEND", "ROLL_PITCH_YAW"))
"""Methods that are visible if the Advanced preference is on."""


def _methods(_self: object, context: bpy.types.Context | None) -> list[tuple[str, str, str, int]]:
    context = context or bpy.context
    tracks = [track for _, track in chosen_tracks(context)]
    kinds = sorted({"rotations" if track.is_rotation else "values" for track in tracks})
    shown = _COMPARISON_METHODS
    if not preferences.shows_advanced(context):
        shown &= {track.settings.method for track in tracks}
    return _methods_of(tuple(kinds), shown)


# Cached, because Blender keeps no reference to items from callbacks.
@lru_cache
def _methods_of(kinds: tuple[str, ...], shown: frozenset[str]) -> list[tuple[str, str, str, int]]:
    """Return the methods for "values", "rotations" or both, without comparison methods that are not in `shown`."""
    return [
        (name, *texts, number)
        for number, (name, texts) in enumerate(TRACK["method"].choices.items())
        if all(getattr(METHODS[name], kind) for kind in kinds) and (name not in _COMPARISON_METHODS or name in shown)
    ]


class TCBParameters(Of50, bpy.types.PropertyGroup):
    """The five parameters of new keys, or of a preset."""

    tension: parameter("tension", options=set())
    continuity: parameter("continuity", options=set())
    bias: parameter("bias", options=set())
    ease_to: parameter("ease_to", options=set())
    ease_from: parameter("ease_from", options=set())


class TCBReduction(ReduceOptions, bpy.types.PropertyGroup):
    """Options of Reduce in the sidebar tab."""


_FRAME_DESCRIPTION = "Frame of the motion to play, if animated"


class TCBTrack(bpy.types.PropertyGroup):
    """Owner of a track's frame function, which gives the function its name in the Dope Sheet."""

    frame: FloatProperty(name="Frame Function", description=_FRAME_DESCRIPTION)


class TCBReduced(bpy.types.PropertyGroup):
    """Result of the last reduction."""

    # The name is the name of the new action.
    headline: StringProperty()
    text: StringProperty()


class TCBKeyCount(bpy.types.PropertyGroup):
    """Number of keys that Reduce needs to stay within an error."""

    # The name is the active object's actions when the keys were counted.
    error: FloatProperty()
    key_count: IntProperty()
    before: IntProperty()


class TCBFinding(bpy.types.PropertyGroup):
    """A finding in the list, with the error as its name."""

    item: StringProperty(name="Object", options=set())
    bone: StringProperty(name="Bone", options=set())
    # Frame range as text.
    place: StringProperty(name="Frames", options=set())
    # Property or constraint. Empty if the error names it.
    track: StringProperty(name="Track", options=set())
    frame: FloatProperty(name="Frame", options=set())


def show_findings(window_manager: Any, result: str, findings: Iterable[Mapping[str, Any]] = ()) -> None:
    """Replace the findings in the list, given as properties of `TCBFinding`, and the result above the list."""
    window_manager.tcb_findings.clear()
    window_manager.tcb_result = result
    window_manager.tcb_finding = 0
    for finding in findings:
        row = window_manager.tcb_findings.add()
        for name, value in finding.items():
            setattr(row, name, value)


_CLASSES = (TCB_OT_last_event, TCBTrack, TCBParameters, TCBReduction, TCBReduced, TCBKeyCount, TCBFinding, TCBSidebar)


def _properties() -> Iterator[tuple[Any, str, Any]]:
    overridable: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    # These collections stay empty. The F-curves of frame functions have their paths (see `store/paths.py`), and
    # get the name "Frame Function" in the Dope Sheet from the property.
    for owner in (bpy.types.ID, bpy.types.PoseBone):
        yield owner, "tcb_tracks", CollectionProperty(type=TCBTrack, override=overridable)
    yield (
        bpy.types.ID,
        "tcb_frame",
        FloatProperty(name="Frame Function", description=_FRAME_DESCRIPTION, override={"LIBRARY_OVERRIDABLE"}),
    )
    yield bpy.types.Scene, "tcb", PointerProperty(type=TCBSidebar)
    manager = bpy.types.WindowManager
    unsaved: Any = {"SKIP_SAVE"}
    yield manager, "tcb_preset", PointerProperty(type=TCBParameters)
    yield manager, "tcb_key_counts", CollectionProperty(type=TCBKeyCount, options=unsaved)
    yield manager, "tcb_reductions", CollectionProperty(type=TCBReduced, options=unsaved)
    description = "Track shown in the sidebar"
    yield manager, "tcb_track", StringProperty(name="TCB Track", description=description, options=unsaved)
    yield manager, "tcb_findings", CollectionProperty(type=TCBFinding, options=unsaved)
    description = "Index of the active finding"
    yield manager, "tcb_finding", IntProperty(name="Finding", description=description, options=unsaved)
    description = "Result of the last check or adjustment"
    yield manager, "tcb_result", StringProperty(name="Result", description=description, options=unsaved)


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
