# SPDX-License-Identifier: GPL-3.0-or-later
"""The options for importing rotations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..formats.three_ds import Scene
from ..interp.splines import tcb

BetweenKeys = Literal["BY_FILE", "DE_CASTELJAU", "SQUAD"]
MAX_NAME = b"MAXSCENE"
"""The file name that 3ds Max writes into the keyframer."""


@dataclass(frozen=True)
class RotationOptions:
    """The options for importing rotations.

    Attributes
    ----------
    prefers_euler : bool
        Use XYZ Euler angles instead of quaternions.
    shorter_turns : bool
        Take the shortest path instead of turns of more than 180 degrees.
    between : "BY_FILE", "DE_CASTELJAU" or "SQUAD"
        The interpolation of 3D Studio 4 or 3ds Max. BY_FILE selects the interpolation of the program that wrote the
        file.
    """

    prefers_euler: bool = False
    shorter_turns: bool = False
    between: BetweenKeys = "BY_FILE"

    @property
    def construction(self) -> tcb.Construction:
        """Return the interpolation of a track between its keys."""
        return "SQUAD" if self.between == "SQUAD" else "DE_CASTELJAU"

    def resolved(self, scene: Scene) -> RotationOptions:
        """Return the options with "BY_FILE" resolved for the scene."""
        if self.between != "BY_FILE":
            return self
        header = None if scene.keyframer is None else scene.keyframer.header
        is_of_max = header is not None and header.name == MAX_NAME
        return replace(self, between="SQUAD" if is_of_max else "DE_CASTELJAU")
