# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions that relaxation can establish."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..arguments import Point, check_fields
from ..translation import rpt_


@dataclass(frozen=True)
class StaysAt:
    """The condition that the point stays at a point of another object or of one of its bones.

    Examples
    --------
    >>> condition = animation.StaysAt(ball, point=(0.0, 0.0, 1.0))
    """

    target: bpy.types.Object
    bone: str = ""
    point: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class StaysAbove:
    """The condition that the point stays at least `height` units above the XY plane of an object or the world.

    Examples
    --------
    >>> condition = animation.StaysAbove(height=0.5)
    """

    plane: bpy.types.Object | None = None
    height: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TurnsWithin:
    """The condition that the rotation of the object or bone stays within limits.

    The limits apply to Euler angles in the rotation order of the object or bone, or in XYZ order if the rotation mode
    is not Euler. The limits are in radians, from -pi to pi. If None, there is no limit.

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


Condition = StaysAt | StaysAbove | TurnsWithin


def target_of(condition: Condition) -> tuple[bpy.types.Object, str] | None:
    """Return the object on which the condition depends, with the name of a bone or "". Return None for the world."""
    if isinstance(condition, StaysAt):
        return condition.target, condition.bone
    if isinstance(condition, StaysAbove) and condition.plane is not None:
        return condition.plane, ""
    return None
