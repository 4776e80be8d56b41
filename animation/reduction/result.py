# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a reduction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import IN_RADIANS, Finding, as_dict
from ..number_text import size_text
from ..options import REDUCE
from ..translation import rpt_

_ROOM = 1.0 + 1e-6
"""For rounding."""


@dataclass
class Reduction:
    """The result of a reduction: errors of what the handles play at whole frames, and halfway between.

    Examples
    --------
    >>> result = animation.reduce(ball, error=0.01)
    >>> result.reached, result.error <= 0.01
    (True, True)
    """

    name: str
    wanted: float
    """The error that was asked for; the one that was found for a number of keys."""
    wanted_angle: float = field(default=REDUCE["angle"].default, metadata=IN_RADIANS)
    """The angle, radians, likewise."""
    wanted_still: float | None = None
    """How far points may be off while they stand still, if that was asked for."""
    is_minimal: bool = False
    """True if no fewer keys were found. Then nothing was changed."""
    tracks: int = 0
    keys_before: int = 0
    """Frames at which a track had keys, summed over tracks."""
    keys: int = 0
    """The same now."""
    diamonds_before: int = 0
    """Frames at which a bone or the object had keys, summed over them."""
    diamonds: int = 0
    """The same now."""
    error: float = 0.0
    """The largest distance of a bone's head or tail, or of a value, from where it was, in scene units."""
    error_at: str = ""
    """The bone or track, and the frame of that."""
    between: float = 0.0
    """The largest such distance halfway between frames, where the motion did not jump."""
    between_at: str = ""
    mean: float = 0.0
    """The mean of these distances over frames and bones, or values."""
    angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The largest angle between rotations that are not those of bones, radians."""
    angle_at: str = ""
    still: float = 0.0
    """The largest distance of a point that stands still, if a bound for these was asked for."""
    still_at: str = ""
    noise: float = 0.0
    """The largest distance by which the filter moved a point or a value; no part of the error."""
    noise_at: str = ""
    noise_angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The largest angle by which the filter turned a rotation that is not a bone's, radians."""
    unfiltered: float = 0.0
    """The largest distance from the motion before the filter; 0 without one."""
    unfiltered_at: str = ""
    unfiltered_angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The largest angle, likewise, between rotations that are not those of bones, radians."""
    evaluated: bool = False
    """Whether more than F-curves and parents moves the armature, such as constraints: the errors are then of what
    Blender evaluates."""
    mended: int = 0
    """Keys, as `diamonds` counts them, that handles need beyond those that the spline of the keys does."""
    seconds: float = 0.0
    original: str = ""
    """The name of the action that is kept."""
    action: str = ""
    """The name of the new one."""
    notes: list[Finding] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        """Return whether errors and the angle are within those that were asked for."""
        is_still = self.wanted_still is None or self.still <= self.wanted_still * _ROOM
        return is_still and self.error <= self.wanted * _ROOM and self.angle <= self.wanted_angle * _ROOM

    @property
    def is_within(self) -> bool:
        """Return whether errors are also within the limit halfway between frames."""
        return self.reached and self.between <= self.wanted * _ROOM

    @property
    def finding(self) -> Finding:
        """Return the result as a note, or where it is not reached as an error."""
        return Finding("REDUCED" if self.reached else "NOT_REACHED", self.name, arguments=(self.summary,))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it: angles in degrees, findings with their messages."""
        return {**as_dict(self), "reached": self.reached}

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def summary(self) -> str:
        """Return what there is to say."""
        if self.is_minimal:
            error = size_text(self.wanted)
            return rpt_("already minimal within {:s}: {:,} keys; {:.1f} s", error, self.keys, self.seconds)
        text = rpt_("{:,} keys in place of {:,}", self.keys, self.keys_before)
        if self.error_at:
            text += rpt_(
                "; the largest error is {error:s} ({place:s}), the mean {mean:s}",
                error=size_text(self.error),
                place=self.error_at,
                mean=size_text(self.mean),
            )
        if self.angle_at:
            text += rpt_(
                "; rotations are off by up to {:s} ({:s})", size_text(self.angle, is_angle=True), self.angle_at
            )
        if self.between > self.wanted * _ROOM:
            text += rpt_("; between frames up to {:s} ({:s})", size_text(self.between), self.between_at)
        text += rpt_("; {:.1f} s", self.seconds)
        if self.error > self.wanted * _ROOM and self.evaluated:
            text += rpt_(
                "; that is more than {:s}, as constraints or drivers make more of small changes", size_text(self.wanted)
            )
        elif self.error > self.wanted * _ROOM:
            text += rpt_(
                "; that is more than {:s}, as handles can't play these keys: a bake does", size_text(self.wanted)
            )
        if self.wanted_still is not None:
            text += rpt_("; what stands still is off by up to {:s}", size_text(self.still))
            text += rpt_(" ({:s})", self.still_at) if self.still_at else ""
        if self.noise:
            text += rpt_("; the filter took away up to {:s} ({:s})", size_text(self.noise), self.noise_at)
            text += rpt_(", both together are off by up to {:s} ({:s})", size_text(self.unfiltered), self.unfiltered_at)
        if self.noise_angle:
            text += rpt_("; the filter turned by up to {:s}", size_text(self.noise_angle, is_angle=True))
            text += rpt_(", both together by up to {:s}", size_text(self.unfiltered_angle, is_angle=True))
        if self.angle > self.wanted_angle * _ROOM:
            most = size_text(self.wanted_angle, is_angle=True)
            text += rpt_("; that is more than {:s}, as handles can't play these keys: a bake does", most)
        return text
