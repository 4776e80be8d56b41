# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ....interp.batch import Cycle
from ....interp.rotations.orientations import Path
from ....interp.splines import tcb
from ....interp.tcb_tangents import Ends
from ...options import TRACK
from ...records import record
from ...translation import rpt_
from .stored_bake_options import Options

CHOICES: dict[str, tuple[str, ...]] = {name: tuple(option.choices) for name, option in TRACK.items()}
"""Choices in the order in which they are saved."""


@record()
class Settings:
    """The settings of one track.

    `method` is a name in `METHODS`. For rotation methods that interpolate angles, `angles` is the method for the
    angles.
    """

    cycle: Cycle = TRACK["cycle"].default
    ends: Ends = TRACK["ends"].default
    construction: tcb.Construction = TRACK["construction"].default
    path: Path = TRACK["path"].default
    method: str = TRACK["method"].default
    angles: str = TRACK["angles"].default
    digest: int = 0
    """Digest of the input of the last bake (0: never baked)."""
    options: Options | None = None
    """Options of the last bake."""

    def codes(self) -> list[int]:
        """Return the indices of the chosen options in the order of CHOICES."""
        return [*_codes(self.cycle, self.ends, self.construction, self.path, self.method, self.angles)]

    @classmethod
    def from_codes(cls, codes: Sequence[int]) -> Settings:
        """Return the settings for option indices. Raise IndexError if an index is invalid."""
        return _from_codes(tuple(codes))


@lru_cache(maxsize=64)
def _codes(*chosen: str) -> tuple[int, ...]:
    """Return the indices of options in the order of CHOICES."""
    return tuple(options.index(each) for options, each in zip(CHOICES.values(), chosen, strict=True))


@lru_cache(maxsize=64)
def _from_codes(codes: tuple[int, ...]) -> Settings:
    """Create settings from option indices, with a cache because most tracks have the same settings."""
    named = {choice: options[code] for (choice, options), code in zip(CHOICES.items(), codes, strict=False)}
    return Settings(**named)  # type: ignore[arg-type]


def chosen(settings: Settings, choice: str, option: str) -> Settings:
    """Return the settings with one choice changed. Raise ValueError if the choice or option does not exist."""
    if choice not in CHOICES:
        known = ", ".join(CHOICES)
        raise ValueError(rpt_("{!r} is not one of {:s}", choice, known))
    if option not in CHOICES[choice]:
        raise ValueError(rpt_("{:s} {!r} is not one of {:s}", choice, option, ", ".join(CHOICES[choice])))
    return replace(settings, **{choice: option})  # type: ignore[arg-type]
