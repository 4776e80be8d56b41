# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings, the exception that contains them, and the conversion of findings and other results to JSON.

Findings are errors and notes, which remain data until they are shown.
"""

from __future__ import annotations

import math
import string
from dataclasses import dataclass, fields, replace
from typing import Any

from .messages import MESSAGES, NOTHING_TO_DO
from .number_text import size_text
from .track_names import channel_name, track_name
from .translation import listed, rpt_, translated

IN_RADIANS = {"unit": "radians"}
"""Field metadata for angles, which are in degrees in JSON."""


class JsonResult:
    """A result, as a dataclass, that can be converted to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-compatible dictionary, with angles in degrees and a message for each finding."""
        instance: Any = self
        return {
            field.name: _as_json(getattr(self, field.name), is_angle=field.metadata == IN_RADIANS)
            for field in fields(instance)
        }


def _as_json(value: Any, is_angle: bool = False) -> Any:
    """Return a JSON-compatible value. Numbers that are not finite become None."""
    if isinstance(value, JsonResult):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _as_json(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return math.degrees(value) if is_angle and value is not None else value


@dataclass(frozen=True)
class Finding(JsonResult):
    """An error or a note about one track, key or datablock. `str()` returns the finding's text."""

    code: str
    """The code of the message, such as LOCKED, which is the same in all languages and versions."""
    object: str = ""
    """The name of the datablock, such as `Ball`, or `Cam (camera)` for a datablock other than an object. Empty for a
    file."""
    track: str = ""
    """The path of the track. Empty if the finding does not concern a single track."""
    frame: float | None = None
    """The frame of the key."""
    arguments: tuple[Any, ...] = ()
    """The values in the message, in order. Each is a string, a number, a tuple of strings or numbers, a pair of a
    number and its unit (`°` or empty), or a quoted finding."""

    @property
    def message(self) -> str:
        """Return the problem and its solution in the user's language."""
        text = MESSAGES[self.code]
        if isinstance(text, tuple):
            singular, plural = text
            count = self.arguments[0]
            if isinstance(count, tuple):
                count = len(count)
            text = singular if count == 1 else plural
        return _Formatter(self.track).vformat(rpt_(text), [_shown(value) for value in self.arguments], {})

    def __str__(self) -> str:
        """Return the message, preceded by the names of the datablock, the track and the key."""
        names = [f'"{self.object}"'] if self.object else []
        names += [track_name(self.track)] if self.track else []
        names += [] if self.frame is None else [rpt_("frame {:g}", self.frame)]
        return f"{', '.join(names)}: {self.message}" if names else self.message

    def on(self, name: str, track: str = "") -> Finding:
        """Return a copy of the finding for this datablock and track, without a frame."""
        return replace(self, object=name, track=track, frame=None)

    @property
    def has_nothing_to_do(self) -> bool:
        """Return whether the finding counts as an error only if nothing could be done for any object."""
        return self.code in NOTHING_TO_DO

    @property
    def size(self) -> float:
        """Return the first number among the arguments, or 0 if there is none."""
        values = map(_first, self.arguments)
        return next((float(value) for value in values if isinstance(value, int | float)), 0.0)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Return a key that is equal for findings that differ only in their numbers, objects, tracks and frames."""
        values = (value.kind if isinstance(value, Finding) else value for value in self.arguments)
        return (self.code, *(value for value in values if isinstance(_first(value), str)))

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a JSON-compatible dictionary, with its message."""
        return {**super().to_dict(), "message": self.message}


class AnimationError(Exception):
    """An error that names the datablock or tracks that were not changed, and the reason for each.

    Attributes
    ----------
    findings : tuple of Finding
        The errors, one for each track.
    """

    def __init__(self, *findings: Finding) -> None:
        super().__init__(*findings)
        self.findings = findings

    def __str__(self) -> str:
        return "; ".join(map(str, self.findings))

    @property
    def message(self) -> str:
        """Return the text without the names of the datablock and the tracks."""
        return "; ".join(finding.message for finding in self.findings)

    def has(self, code: str) -> bool:
        """Return whether any of the findings has this code."""
        return any(finding.code == code for finding in self.findings)


def size_of(number: float, is_angle: bool = False) -> tuple[float, str]:
    """Return a number, or an angle in radians, together with its unit, as an argument of a finding."""
    return (math.degrees(number), "°") if is_angle else (float(number), "")


def _first(value: Any) -> Any:
    """Return the first element of a tuple, or any other value."""
    return value[0] if isinstance(value, tuple) and value else value


def _shown(value: Any) -> Any:
    """Return an argument as displayed in the text."""
    if isinstance(value, Finding):
        return str(value)
    return translated(value) if isinstance(value, str) else value


class _Formatter(string.Formatter):
    """Python's formatter, with formats for sizes with units, lists of names or frames, and channels of a track."""

    def __init__(self, track: str) -> None:
        self._track = track

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "size":
            number, unit = value
            return size_text(math.radians(number), is_angle=True) if unit else size_text(number)
        if format_spec == "names":
            return listed([item if isinstance(item, str) else f"{item:g}" for item in value])
        if format_spec == "channels":
            return ", ".join(channel_name(self._track, int(index)) for index in str(value).split(", "))
        return str(super().format_field(value, format_spec))
