# SPDX-License-Identifier: GPL-3.0-or-later
"""Types for argparse, which names the option in its messages: numbers within bounds."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

from ...animation.translation import rpt_

_LARGEST = 1e30
"""Well within float32, also in radians and in other units."""


def number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number", text)) from None
    if not abs(value) <= _LARGEST:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number within {:g}", text, _LARGEST))
    return value


def positive(text: str) -> float:
    """Parse a number above 0."""
    if not number(text) > 0.0:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a positive number", text))
    return float(text)


def above_two(text: str) -> float:
    """Parse a number above 2."""
    if not number(text) > 2.0:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not above 2 frames", text))
    return float(text)


def frames(text: str) -> float:
    """Parse a length in frames."""
    if not number(text) > 0.0:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a positive number of frames", text))
    return float(text)


def distance(text: str) -> float:
    """Parse a number of at least 0."""
    if not number(text) >= 0.0:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a distance from 0", text))
    return float(text)


def within(low: float, high: float) -> Callable[[str], float]:
    """Return a type for numbers of that range."""

    def ranged(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(rpt_("{:s} does not lie in {:g} to {:g}", text, low, high))
        return value

    return ranged


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a whole number", text)) from None


def at_least_one(text: str) -> int:
    """Parse a whole number of at least 1."""
    value = _whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(rpt_("{:s} is below 1", text))
    return value


def angle_and_percent(text: str) -> tuple[float, float]:
    """Parse an angle in degrees and a percentage; return radians and a share."""
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not ANGLE,PERCENT, such as 1,1", text))
    angle, percent = map(distance, parts)
    return math.radians(angle), percent / 100.0


def frame_range(verb: argparse.ArgumentParser, ends: Sequence[float] | None) -> tuple[float, float] | None:
    """Check the range that was given, and return it. Raises SystemExit where it is empty."""
    if ends is None:
        return None
    start, end = ends
    if not start <= end:
        verb.error(rpt_("the frame range {:g} to {:g} is empty", start, end))
    return start, end
