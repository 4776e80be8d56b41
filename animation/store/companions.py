# SPDX-License-Identifier: GPL-3.0-or-later
"""Companion F-curves: what the add-on keeps with an action, as curves beside the curves that it speaks of.

A companion's path is its track's path with the last part, the property, named inside `tcb_tracks[...]`:
`pose.bones["Arm"].location` has `pose.bones["Arm"].tcb_tracks["location"].tension`. So the pairing needs no table, and
both travel with the slot wherever it goes (for renames see renames.py). Companions are muted: they are data, not
motion, and cost nothing while playing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import bpy

from ..fcurves.channels import Channels

_COMPANION = re.compile(r'^(?P<owner>.*\.)?tcb_tracks\["(?P<name>(?:[^"\\]|\\.)*)"\]\.(?P<field>\w+)$')
_STRAY = re.compile(r"(^|\.)tcb_tracks\[\d+\]\.")
_CUSTOM_PROPERTY = re.compile(r'^(?P<owner>.*?)\.?\["(?P<name>(?:[^"\\]|\\.)*)"\]$')

PARAMETERS = ("tension", "continuity", "bias", "ease_to", "ease_from")
VELOCITY = "velocity"
"""A number a component; of rotations the angular velocity, x, y and z."""
SETTINGS = "settings"
SAVED = "saved"
FRAME = "frame"
"""The one that is no data but motion, shown and played: the track's frame function (see frame_functions.py)."""


def companion_path(track: str, field: str) -> str:
    """The path of the companion `field` of the track at path `track`."""
    owner, name = split(track)
    return f'{owner}tcb_tracks["{name}"].{field}'


def split(track: str) -> tuple[str, str]:
    """The path of what owns the animated property, ending in a dot where there is one, and the track's name there.

    A custom property's name stands in square brackets: `pose.bones["Arm"]["grip"]` is named `[grip]`.
    """
    custom = _CUSTOM_PROPERTY.match(track)
    if custom:
        owner = custom["owner"]
        return (owner + "." if owner else ""), f"[{custom['name']}]"
    owner, dot, name = track.rpartition(".")
    return owner + dot, name


def track_and_field(data_path: str) -> tuple[str, str] | None:
    """The track and the field that a companion's path speaks of, or None where it is another path."""
    match = _COMPANION.match(data_path)
    if match is None:
        return None
    owner, name = match["owner"] or "", match["name"]
    if name.startswith("["):
        return f'{owner.removesuffix(".")}["{name[1:-1]}"]', match["field"]
    return owner + name, match["field"]


def velocity_of(component: int) -> str:
    """The name of a velocity's component among a track's parameters."""
    return f"{VELOCITY}[{component}]"


def field_of(parameter: str) -> tuple[str, int]:
    """The field and the index of a parameter's companion."""
    field, _, index = parameter.partition("[")
    return field, int(index.removesuffix("]")) if index else 0


def is_enabled(fcurves: Iterable[bpy.types.FCurve]) -> bool:
    """Whether one of the F-curves says that its track is TCB."""
    companions = (track_and_field(fcurve.data_path) for fcurve in fcurves)
    return any(companion is not None and companion[1] == SETTINGS for companion in companions)


def make(
    channels: Channels,
    track: str,
    field: str,
    index: int,
    group: bpy.types.ActionGroup | None,
    numbers: Sequence[float] = (0.0,),
) -> bpy.types.FCurve:
    """A new companion that holds the numbers, out of the way: muted, and hidden in the Graph Editor, where it would be
    moved by accident.

    Blender inserts no keys into a curve with a Generator modifier: Insert Keyframe > Available leaves it alone.
    """
    fcurve = channels.new(companion_path(track, field), index, group)
    fcurve.mute = True
    fcurve.hide = True
    _hold(fcurve.modifiers.new("GENERATOR"), numbers)
    return fcurve


def is_stray(data_path: str) -> bool:
    """Whether keying what is Available made this curve: for a companion's property, by number instead of by name."""
    return _STRAY.search(data_path) is not None


def remove_strays(channels: Channels) -> None:
    for fcurve in [fcurve for fcurve in channels if is_stray(fcurve.data_path)]:
        channels.remove(fcurve)


def generator(fcurve: bpy.types.FCurve) -> Any:
    """The Generator modifier of a companion that holds numbers instead of keys, or None."""
    return next((modifier for modifier in fcurve.modifiers if modifier.type == "GENERATOR"), None)


def hold_numbers(fcurve: bpy.types.FCurve, numbers: Sequence[float]) -> None:
    """Keep the numbers as the coefficients of a Generator modifier: the one kind of array that an F-curve can carry.

    A curve without keys has none that could be moved or deleted with others. float32: whole numbers up to 24 bits.
    """
    _hold(generator(fcurve) or fcurve.modifiers.new("GENERATOR"), numbers)


def _hold(modifier: Any, numbers: Sequence[float]) -> None:
    order = max(1, len(numbers) - 1)
    if modifier.poly_order != order:
        modifier.poly_order = order
    modifier.coefficients = numbers if len(numbers) > 1 else [*numbers, 0.0]


def saved_rest(saved: bpy.types.FCurve) -> float | None:
    """The value that a component had before the bake made its F-curve; None where the F-curve is the animator's."""
    rest, count = _numbers_of(saved)
    return None if count else rest


def saved_count(saved: bpy.types.FCurve) -> int:
    """How many keys the animator's F-curve had at the bake: deleting one takes its record along, and leaves no gap."""
    return round(_numbers_of(saved)[1])


def saved_numbers(count: int, rest: float = 0.0) -> list[float]:
    """What a saved curve holds: the number of keys; where there are none, the value that the component had."""
    return [rest, count]


def _numbers_of(saved: bpy.types.FCurve) -> tuple[float, float]:
    modifier = generator(saved)
    return (0.0, -1.0) if modifier is None else (float(modifier.coefficients[0]), float(modifier.coefficients[1]))


def give_names(datablock: bpy.types.ID, track: str) -> None:
    """Give the track's companions properties to name, so that their rows in the Dope Sheet read "Tension".

    Only an ID and a pose bone can have these; the companions of nodes and shape keys show their paths.
    """
    items, name = _named_items(datablock, track)
    if items is not None and name not in items:
        items.add().name = name


def take_names(datablock: bpy.types.ID, track: str) -> None:
    items, name = _named_items(datablock, track)
    if items is not None and name in items:
        # A library override keeps what the library has.
        with suppress(TypeError):
            items.remove(items.find(name))


def _named_items(datablock: bpy.types.ID, track: str) -> tuple[Any, str]:
    owner_path, name = split(track)
    try:
        owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    except ValueError:
        # The property is gone, and its items with it; the F-curves are still there.
        owner = None
    return getattr(owner, "tcb_tracks", None), name
