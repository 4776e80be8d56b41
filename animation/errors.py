# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings: what could not be done, and what the user should know, as data until it is shown; and the exception."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from .messages import MESSAGES, NOTHING_TO_DO
from .number_text import size_text
from .translation import listed, rpt_, translated


@dataclass(frozen=True)
class Finding:
    """An error or a note about one track, one key or one datablock; `str` gives its text."""

    code: str
    """The kind, such as LOCKED: the same in all languages and versions."""
    object: str = ""
    """The name of the datablock, such as `Ball`, or `Cam (camera)` where it is not an object; empty for a file."""
    track: str = ""
    """The path of the track; empty where it is not one track's."""
    frame: float | None = None
    """The frame of the key."""
    arguments: tuple[Any, ...] = ()
    """The values in the message, in order: texts, numbers, several of either as a tuple, a number with its unit (`°` or
    empty) as a pair, and findings that it quotes."""

    @property
    def message(self) -> str:
        """Return the problem, then the way out, in the user's language."""
        text = MESSAGES[self.code]
        if isinstance(text, tuple):
            count = self.arguments[0]
            text = text[(len(count) if isinstance(count, tuple) else count) != 1]
        return _FORMATTER.vformat(rpt_(text), [_shown(value) for value in self.arguments], {})

    def __str__(self) -> str:
        """Return the message behind the names of the datablock, the track and the key."""
        place = [f'"{self.object}"'] if self.object else []
        place += [self.track] if self.track else []
        place += [] if self.frame is None else [rpt_("frame {:g}", self.frame)]
        return f"{', '.join(place)}: {self.message}" if place else self.message

    def on(self, name: str, track: str = "", frame: float | None = None) -> Finding:
        """Return the same finding about this datablock, track and key."""
        return replace(self, object=name, track=track, frame=frame)

    @property
    def has_nothing_to_do(self) -> bool:
        """Return whether this is an error only if nothing else was done: some objects may have nothing to work on."""
        return self.code in NOTHING_TO_DO

    @property
    def size(self) -> float:
        """Return the first number among the arguments; 0 where there is none."""
        numbers = (value[0] if isinstance(value, tuple) and value else value for value in self.arguments)
        return next((float(number) for number in numbers if isinstance(number, int | float)), 0.0)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Return what findings have in common that differ only in their places and in numbers."""
        values = (value.kind if isinstance(value, Finding) else value for value in self.arguments)
        return (self.code, *(value for value in values if isinstance(_first(value), str)))

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON has it, with its message."""
        arguments = [value.to_dict() if isinstance(value, Finding) else value for value in self.arguments]
        return {
            "code": self.code,
            "object": self.object,
            "track": self.track,
            "frame": self.frame,
            "arguments": [list(value) if isinstance(value, tuple) else value for value in arguments],
            "message": self.message,
        }


IN_RADIANS = {"unit": "radians"}
"""Metadata of fields of dataclasses: JSON has them in degrees."""


def as_dict(of: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON has them: angles in degrees, findings with their messages."""
    return {
        each.name: _as_json(getattr(of, each.name), is_angle=each.metadata.get("unit") == IN_RADIANS["unit"])
        for each in fields(of)
    }


def _as_json(value: Any, is_angle: bool = False) -> Any:
    if isinstance(value, Finding):
        return value.to_dict()
    if is_dataclass(value):
        return as_dict(value)
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, dict):
        return {name: _as_json(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return math.degrees(value) if is_angle and value is not None else value


class AnimationError(Exception):
    """A datablock, or tracks of it, that are left as they are; the text says which and why.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, one for each track.
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
        """Return whether one of the findings is of this kind."""
        return any(finding.code == code for finding in self.findings)


def size_of(number: float, is_angle: bool = False) -> tuple[float, str]:
    """Return a number in units, or an angle in radians, as an argument of a finding, with its unit."""
    return (math.degrees(number), "°") if is_angle else (float(number), "")


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and value else value


def _shown(value: Any) -> Any:
    """Return an argument as it stands in the text."""
    if isinstance(value, Finding):
        return str(value)
    return translated(value) if isinstance(value, str) else value


class _Formatter(string.Formatter):
    """Formats sizes with their units, and lists of names and frames, besides what Python formats."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "size":
            number, unit = value
            return size_text(math.radians(number), is_angle=True) if unit else size_text(number)
        if format_spec == "names":
            return listed([each if isinstance(each, str) else f"{each:g}" for each in value])
        return str(super().format_field(value, format_spec))


_FORMATTER = _Formatter()
