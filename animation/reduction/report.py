# SPDX-License-Identifier: GPL-3.0-or-later
"""The request for a reduction, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from ...interp.fitting.reduction import Method
from ..arguments import Count, FrameRange, MoreThanTwo, Positive, check_fields
from ..options import REDUCE
from ..report import IN_RADIANS, Finding, JsonResult
from ..text import n_, rpt_, size_text

LengthText = Callable[[float], str]

_ROOM = 1.0 + 1e-6
"""Allowance for rounding."""


@dataclass
class Reduction(JsonResult):
    """The result of a reduction, with the errors of the handles at whole frames and halfway between frames.

    Examples
    --------
    >>> result = animation.reduce(ball, error=0.01)
    >>> result.reached, result.error <= 0.01
    (True, True)
    """

    name: str
    wanted: float
    """The requested maximum error, or the error found for a requested number of keys."""
    wanted_angle: float = field(default=REDUCE["angle"].default, metadata=IN_RADIANS)
    """The requested or found maximum angle, in radians."""
    wanted_still: float | None = None
    """The requested maximum error of points at rest, or None if not requested."""
    is_minimal: bool = False
    """True if the number of keys could not be reduced and nothing was changed."""
    tracks: int = 0
    keys_before: int = 0
    """The number of frames with keys before the reduction, summed over tracks."""
    keys: int = 0
    """The number of frames with keys after the reduction, summed over tracks."""
    diamonds_before: int = 0
    """The number of frames with keys before the reduction, summed over the bones and the object."""
    diamonds: int = 0
    """The number of frames with keys after the reduction, summed over the bones and the object."""
    error: float = 0.0
    """The maximum deviation of a bone's head or tail, or of a value, from the original motion, in scene units."""
    error_at: str = ""
    """The bone or track, and the frame, with the maximum error."""
    between: float = 0.0
    """The maximum deviation halfway between frames, except at jumps of the motion."""
    between_at: str = ""
    mean: float = 0.0
    """The mean deviation over all frames, and over all bones or values."""
    angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum deviation of rotations other than bone rotations, in radians."""
    angle_at: str = ""
    still: float = 0.0
    """The maximum deviation of a point at rest, if a limit for it was requested."""
    still_at: str = ""
    noise: float = 0.0
    """The maximum distance by which the filter moved a point or a value. This distance is not included in the error."""
    noise_at: str = ""
    noise_angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum angle by which the filter changed a rotation other than a bone rotation, in radians."""
    unfiltered: float = 0.0
    """The maximum deviation from the motion before the filter, or 0 without a filter."""
    unfiltered_at: str = ""
    unfiltered_angle: float = field(default=0.0, metadata=IN_RADIANS)
    """The maximum deviation of rotations other than bone rotations from the motion before the filter, in radians."""
    evaluated: bool = False
    """True if constraints or other effects move the armature. The errors are then measured on Blender's evaluation."""
    mended: int = 0
    """The number of keys that handles need in addition to the spline's keys, counted like `diamonds`."""
    seconds: float = 0.0
    original: str = ""
    """The name of the original action, which is kept."""
    action: str = ""
    """The name of the new action."""
    notes: list[Finding] = field(default_factory=list)

    @property
    def reached(self) -> bool:
        """Return whether the errors and the angle are within the requested limits."""
        is_still = self.wanted_still is None or self.still <= self.wanted_still * _ROOM
        return is_still and self.error <= self.wanted * _ROOM and self.angle <= self.wanted_angle * _ROOM

    @property
    def is_within(self) -> bool:
        """Return whether the errors are also within the limit halfway between frames."""
        return self.reached and self.between <= self.wanted * _ROOM

    @property
    def finding(self) -> Finding:
        """Return the result as a note, or as an error if the limits were not reached."""
        return Finding("REDUCED" if self.reached else "NOT_REACHED", self.name, arguments=(self.summary,))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with angles in degrees and a message for each finding."""
        return {**super().to_dict(), "reached": self.reached}

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def summary(self) -> str:
        """Return the result as text."""
        return self.summary_in(size_text)

    def headline_in(self, length_text: LengthText) -> str:
        """Return one line with the largest error, relative to its limit, and the number of keys."""
        if self.is_minimal:
            return self.summary_in(length_text)
        keys = rpt_("{:,} keys instead of {:,}", self.diamonds, self.diamonds_before)
        errors = self._errors(length_text)
        if not errors:
            return keys
        _, text = max(errors)
        return f"{text}. {keys}"

    def _errors(self, length_text: LengthText) -> list[tuple[float, str]]:
        """Return the errors as factors of their limits, with their texts."""
        angle_text = partial(size_text, is_angle=True)
        rows = [(n_("error {:s}, limit {:s} ({:s})"), self.error, self.wanted, self.error_at, length_text)]
        text = n_("rotation error {:s}, limit {:s} ({:s})")
        rows.append((text, self.angle, self.wanted_angle, self.angle_at, angle_text))
        if self.between > self.wanted * _ROOM:
            text = n_("error between frames {:s}, limit {:s} ({:s})")
            rows.append((text, self.between, self.wanted, self.between_at, length_text))
        if self.wanted_still is not None:
            text = n_("error at rest {:s}, limit {:s} ({:s})")
            rows.append((text, self.still, self.wanted_still, self.still_at, length_text))
        return [
            (error / limit, rpt_(text, text_of(error), text_of(limit), place))
            for text, error, limit, place, text_of in rows
            if place
        ]

    def summary_in(self, length_text: LengthText) -> str:
        """Return the result as text, with errors as the function writes them, such as in the scene's unit."""
        if self.is_minimal:
            error = length_text(self.wanted)
            return rpt_("no fewer keys possible within {:s}: {:,} keys, {:.1f} s", error, self.diamonds, self.seconds)
        text = rpt_("{:,} keys instead of {:,}", self.diamonds, self.diamonds_before)
        text += self._error_text(length_text) + rpt_(". Time {:.1f} s", self.seconds)
        if self.error > self.wanted * _ROOM:
            text += self._reason_text(length_text)
        if self.wanted_still is not None:
            text += rpt_(". Maximum error at rest {:s}", length_text(self.still))
            text += rpt_(" ({:s})", self.still_at) if self.still_at else ""
        text += self._noise_text(length_text)
        if self.angle > self.wanted_angle * _ROOM:
            limit = size_text(self.wanted_angle, is_angle=True)
            text += rpt_(". This exceeds {:s}, because handles cannot play these keys. Bake them", limit)
        return text

    def _error_text(self, length_text: LengthText) -> str:
        """Return the errors at frames and, if they exceed the limit, between frames."""
        text = ""
        if self.error_at:
            text += rpt_(
                ". Maximum error {error:s} ({place:s}), mean {mean:s}",
                error=length_text(self.error),
                place=self.error_at,
                mean=length_text(self.mean),
            )
        if self.angle_at:
            text += rpt_(". Maximum rotation error {:s} ({:s})", size_text(self.angle, is_angle=True), self.angle_at)
        if self.between > self.wanted * _ROOM:
            text += rpt_(". Between frames up to {:s} ({:s})", length_text(self.between), self.between_at)
        return text

    def _reason_text(self, length_text: LengthText) -> str:
        """Return the reason why the error exceeds the limit."""
        limit = length_text(self.wanted)
        if self.evaluated:
            return rpt_(". This exceeds {:s}, because constraints or drivers amplify small changes", limit)
        return rpt_(". This exceeds {:s}, because handles cannot play these keys. Bake them", limit)

    def _noise_text(self, length_text: LengthText) -> str:
        """Return the effect of the filter, or an empty text if the filter had no effect."""
        text = ""
        if self.noise:
            text += rpt_(". The filter moved points by up to {:s} ({:s})", length_text(self.noise), self.noise_at)
            text += rpt_(", total error up to {:s} ({:s})", length_text(self.unfiltered), self.unfiltered_at)
        if self.noise_angle:
            text += rpt_(". The filter changed rotations by up to {:s}", size_text(self.noise_angle, is_angle=True))
            text += rpt_(", total error up to {:s}", size_text(self.unfiltered_angle, is_angle=True))
        return text


Together = Literal["TRACK", "BONE", "COLLECTION", "POSE"]
"""The groups of channels that get keys at common frames."""


@dataclass(frozen=True)
class ReduceRequest:
    """The maximum error or number of keys, and the other arguments of `reduce`."""

    error: Positive = REDUCE["error"].default
    angle: Positive = REDUCE["angle"].default
    key_count: Count | None = None
    still: Positive | None = None
    period: MoreThanTwo | None = None
    together: Together = REDUCE["together"].default
    frame_range: FrameRange | None = None
    method: Method = REDUCE["method"].default
    sample_limit: Count = REDUCE["sample_limit"].default

    def __post_init__(self) -> None:
        check_fields(self)
