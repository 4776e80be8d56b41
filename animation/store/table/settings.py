# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a track."""

from __future__ import annotations

from dataclasses import replace

from ....interp.base_spline import Cycle
from ....interp.rotations.orientations import Path
from ....interp.splines import tcb
from ....interp.tcb_tangents import Ends
from ...options import TRACK
from ...records import record
from ...translation import rpt_
from .stored_bake_options import Options

CHOICES: dict[str, tuple[str, ...]] = {name: tuple(option.choices) for name, option in TRACK.items()}
"""The options of each choice, by the names of the fields of Settings."""


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


def chosen(settings: Settings, choice: str, option: str) -> Settings:
    """Return the settings with one choice changed. Raise ValueError if the choice or option does not exist."""
    if choice not in CHOICES:
        known = ", ".join(CHOICES)
        raise ValueError(rpt_("{!r} is not one of {:s}", choice, known))
    if option not in CHOICES[choice]:
        raise ValueError(rpt_("{:s} {!r} is not one of {:s}", choice, option, ", ".join(CHOICES[choice])))
    return replace(settings, **{choice: option})  # type: ignore[arg-type]
