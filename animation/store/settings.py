# SPDX-License-Identifier: GPL-3.0-or-later
"""What is chosen for a track as a whole: kept as a companion F-curve, so that it travels with the action's slot.

A track is TCB where it has this companion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import get_args

import bpy

from ...interp import tcb
from ...interp.methods import METHODS
from ...interp.orientations import Path
from ...interp.segments import Cycle
from ...words import n_, rpt_
from ..faults import Refusal
from ..fcurves.channels import Channels
from .companions import SETTINGS, generator, hold_numbers, make
from .options import NUMBERS, Options

SCHEMA = 2
"""Saved state of a newer schema is refused, never half read."""

CHOICES: dict[str, tuple[str, ...]] = {
    "cycle": get_args(Cycle),
    "ends": get_args(tcb.Ends),
    "construction": get_args(tcb.Construction),
    "path": get_args(Path),
    "method": tuple(METHODS),
    "angles": tuple(name for name, method in METHODS.items() if method.values is not None),
}
"""In the order in which they are saved; what is added to a choice goes to its end."""
_CHOICES_OF = {1: 4, SCHEMA: len(CHOICES)}
"""How many of them each schema has; the first had not `shown` either."""
_DAMAGED = n_("its TCB settings are damaged; Remove and Enable again")


@dataclass(frozen=True)
class Settings:
    """The choices for one track; `digest` tells what the last bake has left (0: never baked).

    `method` is a name of `METHODS`; `angles` the method of values for one of rotations that goes by angles.
    """

    cycle: Cycle = "SINGLE"
    ends: tcb.Ends = "3DS"
    construction: tcb.Construction = "DE_CASTELJAU"
    path: Path = "SHORTEST"
    method: str = tcb.METHOD.name
    angles: str = tcb.METHOD.name
    shown: bool = False
    """On the baked curves the animator's keys have the values that the motion has there, which need not be theirs."""
    digest: int = 0
    options: Options | None = None
    """How the last bake was made."""


def read_settings(fcurve: bpy.types.FCurve, name: str, track: str) -> Settings:
    """Raises Refusal where what is saved there can't be understood."""
    check_schema(fcurve, name, track)
    numbers = numbers_of(fcurve)
    schema = round(numbers[0]) if numbers else 0
    if schema not in _CHOICES_OF:
        raise Refusal(name, rpt_(_DAMAGED), track)
    choices, rest = numbers[1 : 1 + _CHOICES_OF[schema]], numbers[1 + _CHOICES_OF[schema] :]
    shown = rest.pop(0) if schema > 1 and rest else 0.0
    if len(rest) not in (2, 2 + NUMBERS):
        raise Refusal(name, rpt_(_DAMAGED), track)
    high, low = map(round, rest[:2])
    settings = Settings(shown=bool(shown), digest=high << 16 | low)
    for (choice, options), number in zip(CHOICES.items(), map(round, choices), strict=False):
        if not 0 <= number < len(options):
            raise Refusal(name, rpt_(_DAMAGED), track)
        settings = chosen(settings, choice, options[number])
    if len(rest) == 2:
        return settings
    try:
        return replace(settings, options=Options.from_numbers(rest[2:]))
    except ValueError as error:
        raise Refusal(name, rpt_(_DAMAGED), track) from error


def are_shown(fcurve: bpy.types.FCurve) -> bool:
    """What `Settings.shown` says, in a tenth of the time; False where it can't be understood."""
    numbers = numbers_of(fcurve)
    return len(numbers) > 1 + len(CHOICES) and round(numbers[0]) == SCHEMA and bool(numbers[1 + len(CHOICES)])


def check_schema(fcurve: bpy.types.FCurve, name: str, track: str) -> None:
    """Raises Refusal where a newer add-on saved it."""
    numbers = numbers_of(fcurve)
    if numbers and round(numbers[0]) > SCHEMA:
        newer = round(numbers[0])
        raise Refusal(
            name, rpt_("saved by a newer TCB Animation (schema {:d}); this one reads {:d}", newer, SCHEMA), track
        )


def numbers_of(fcurve: bpy.types.FCurve) -> list[float]:
    """What is saved there; empty where there are no numbers."""
    modifier = generator(fcurve)
    numbers = list(modifier.coefficients) if modifier else []
    return numbers if all(map(math.isfinite, numbers)) else []


def chosen(settings: Settings, choice: str, option: str) -> Settings:
    """The settings with one choice made. Raises ValueError where there is no such choice or option."""
    if choice not in CHOICES:
        known = ", ".join(CHOICES)
        raise ValueError(rpt_("{!r} is none of {:s}", choice, known))
    if option not in CHOICES[choice]:
        raise ValueError(rpt_("{:s} {!r} is none of {:s}", choice, option, ", ".join(CHOICES[choice])))
    return replace(settings, **{choice: option})  # type: ignore[arg-type]


def write_settings(fcurve: bpy.types.FCurve, settings: Settings) -> None:
    hold_numbers(fcurve, _as_numbers(settings))


def make_settings(
    channels: Channels, track: str, group: bpy.types.ActionGroup | None, settings: Settings
) -> bpy.types.FCurve:
    return make(channels, track, SETTINGS, 0, group, _as_numbers(settings))


def _as_numbers(settings: Settings) -> list[float]:
    numbers = [SCHEMA, *(options.index(getattr(settings, choice)) for choice, options in CHOICES.items())]
    # Coefficients are float32, exact up to 24 bits: the digest of 32 goes in two halves.
    numbers += [settings.shown, settings.digest >> 16, settings.digest & 0xFFFF]
    return [*numbers, *(settings.options.numbers() if settings.options else [])]
