# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions that relaxation of keys can bring about."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..arguments import Point, check_fields
from ..options import RELAX
from ..translation import rpt_

TOLERANCE: float = RELAX["tolerance"].default
"""World units, or for rotation limits radians."""

Targets = tuple[tuple[bpy.types.Object, str], ...]
"""Objects that a condition goes by, each with the name of its bone; "": the object itself."""


@dataclass(frozen=True)
class StaysAt:
    """The condition that the relaxed point stays at a point of another object, or of a bone of it.

    Examples
    --------
    >>> condition = animation.StaysAt(ball, point=(0.0, 0.0, 1.0))
    """

    target: bpy.types.Object
    bone: str = ""
    point: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def targets(self) -> Targets:
        return ((self.target, self.bone),)


@dataclass(frozen=True)
class StaysAbove:
    """The condition that the relaxed point stays at least `height` units above an object's XY plane, or the world's.

    Examples
    --------
    >>> condition = animation.StaysAbove(height=0.5)
    """

    plane: bpy.types.Object | None = None
    height: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def targets(self) -> Targets:
        return () if self.plane is None else ((self.plane, ""),)


@dataclass(frozen=True)
class TurnsWithin:
    """The condition that the object's or bone's own rotation stays within limits.

    The limits are of Euler angles in its rotation order (XYZ where it has none), radians from -pi to pi; None: no
    limit.

    Examples
    --------
    >>> condition = animation.TurnsWithin(low=(-1.5, None, None), high=(1.5, None, None))
    """

    low: tuple[float | None, float | None, float | None] = (None, None, None)
    high: tuple[float | None, float | None, float | None] = (None, None, None)

    def __post_init__(self) -> None:
        check_fields(self)
        for axis, low, high in zip("XYZ", self.low, self.high, strict=True):
            if low is not None and high is not None and low > high:
                raise ValueError(rpt_("low {0:s} {1:g} is above high {0:s} {2:g}", axis, low, high))

    @property
    def targets(self) -> Targets:
        return ()


Condition = StaysAt | StaysAbove | TurnsWithin
