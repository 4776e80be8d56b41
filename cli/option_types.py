# SPDX-License-Identifier: GPL-3.0-or-later
"""Add options to argument parsers, with the limits and units in which they were declared."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from ..animation.options import Option
from ..animation.translation import rpt_

_LARGEST = 1e30
"""The largest number that options accept. Such a number fits into float32 even after a conversion of units."""
_METAVARS = {"COUNT": "N", "FRAMES": "FRAMES", "DISTANCE": "UNITS", "ANGLE": "DEGREES"}
"""The names of values in the help, by the kind of the option. Other numbers are called NUMBER."""


def add_option(parser: Any, argument: str, option: Option, **more: Any) -> None:
    """Add an option with its declared description, choices, limits and default."""
    lines = [rpt_(option.description), *(f"{value}: {rpt_(text)}" for value, (_, text) in option.choices.items())]
    text = ". ".join(lines)
    if option.kind == "FLAG":
        parser.add_argument(argument, action="store_true", help=text, **more)
        return
    default = more.get("default", option.default)
    if option.kind == "CHOICE":
        checks: dict[str, Any] = {"choices": [*option.choices]}
    else:
        checks = {"type": _number_of(option), "metavar": _METAVARS.get(option.kind, "NUMBER")}
    if isinstance(default, str | int | float):
        shown = f"{math.degrees(float(default)):g}" if option.kind == "ANGLE" else str(default)
        text = f"{text} ({rpt_('default: {:s}', shown)})"
    parser.add_argument(argument, help=text.replace("%", "%%"), **{"default": default, **checks, **more})


def add_range(parser: Any, argument: str, text: str) -> None:
    """Add an option with the first and last frames of a range."""
    parser.add_argument(argument, type=_number, nargs=2, metavar=("START", "END"), help=rpt_(text))


def _number_of(option: Option) -> Callable[[str], float]:
    """Return the argparse type of an option, with angles in degrees. argparse names the option in messages."""
    unit = math.pi / 180.0 if option.kind == "ANGLE" else 1.0
    low = -_LARGEST if option.low is None else option.low / unit
    high = _LARGEST if option.high is None else option.high / unit

    def parse_number(text: str) -> float:
        value = _whole(text) if option.kind == "COUNT" else _number(text)
        if value < low:
            raise argparse.ArgumentTypeError(rpt_("{:s} is below {:g}", text, low))
        if value > high:
            raise argparse.ArgumentTypeError(rpt_("{:s} is above {:g}", text, high))
        return math.radians(value) if option.kind == "ANGLE" else value

    return parse_number


def _number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number", text)) from None
    if not abs(value) <= _LARGEST:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number within ±{:g}", text, _LARGEST))
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a whole number", text)) from None


def angle_and_percent(text: str) -> tuple[float, float]:
    """Parse an angle in degrees and a percentage, and return radians and a fraction."""
    numbers = [_number(part) for part in text.split(",")]
    if len(numbers) != 2 or min(numbers) < 0.0:
        raise argparse.ArgumentTypeError(
            rpt_("{:s} does not have the form ANGLE,PERCENT, such as 1,1, without negative numbers", text)
        )
    return math.radians(numbers[0]), numbers[1] / 100.0
