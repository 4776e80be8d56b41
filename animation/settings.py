# SPDX-License-Identifier: GPL-3.0-or-later
"""What is chosen for a track as a whole: kept as a companion F-curve, so that it travels with the action's slot.

A track is TCB where it has this companion.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .channels import Channels
from .companions import SETTINGS, generator, hold_numbers, make
from .faults import Refusal

SCHEMA = 1
"""Saved state of a newer schema is refused, never half read."""

CYCLES = ("SINGLE", "REPEAT", "LOOP")
ENDS = ("3DS", "TANGENT")
CONSTRUCTIONS = ("DE_CASTELJAU", "SQUAD")
PATHS = ("SHORTEST", "AS_KEYED")

_CHOICES = (CYCLES, ENDS, CONSTRUCTIONS, PATHS)
_COUNT = 1 + len(_CHOICES) + 2


@dataclass(frozen=True)
class Settings:
    """The choices for one track; `digest` tells what the last bake was made from (0: never baked)."""

    cycle: str = "SINGLE"
    ends: str = "3DS"
    construction: str = "DE_CASTELJAU"
    path: str = "SHORTEST"
    digest: int = 0


def read_settings(fcurve: bpy.types.FCurve, name: str, track: str) -> Settings:
    """Raises Refusal where what is saved there can't be understood."""
    modifier = generator(fcurve)
    numbers = [round(number) for number in modifier.coefficients] if modifier else []
    if not numbers or len(numbers) != _COUNT or numbers[0] != SCHEMA:
        if numbers and numbers[0] > SCHEMA:
            raise Refusal(name, f"saved by a newer TCB Animation (schema {numbers[0]}); this one reads {SCHEMA}", track)
        raise Refusal(name, "its TCB settings are damaged; Remove and Enable again", track)
    chosen = [_choice(choices, number, name, track) for choices, number in zip(_CHOICES, numbers[1:], strict=False)]
    return Settings(*chosen, digest=numbers[-2] << 16 | numbers[-1])


def write_settings(fcurve: bpy.types.FCurve, settings: Settings) -> None:
    chosen = (settings.cycle, settings.ends, settings.construction, settings.path)
    numbers = [SCHEMA, *(choices.index(choice) for choices, choice in zip(_CHOICES, chosen, strict=True))]
    # Coefficients are float32, exact up to 24 bits: the digest of 32 goes in two halves.
    numbers += [settings.digest >> 16, settings.digest & 0xFFFF]
    hold_numbers(fcurve, numbers)


def make_settings(channels: Channels, track: str, group: str, settings: Settings) -> bpy.types.FCurve:
    fcurve = make(channels, track, SETTINGS, 0, group)
    write_settings(fcurve, settings)
    return fcurve


def _choice(choices: tuple[str, ...], number: int, name: str, track: str) -> str:
    if not 0 <= number < len(choices):
        raise Refusal(name, "its TCB settings are damaged; Remove and Enable again", track)
    return choices[number]
