# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of a test from several axes, without all their combinations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def all_pairs(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Choose combinations in which every two values of any two axes meet.

    Most faults need one or two certain values, hardly any three (Kuhn, Wallace and Gallo, "Software fault interactions
    and implications for software testing", 2004). The choice is greedy and always the same.
    """
    values = [list(axis) for axis in axes]
    places = list(product(*(range(len(axis)) for axis in values)))
    meeting = {place: set(combinations(enumerate(place), 2)) for place in places}
    missing = set().union(*meeting.values())
    chosen = []
    while missing:
        best = max(places, key=lambda place: len(meeting[place] & missing))
        missing -= meeting[best]
        chosen.append(best)
    return [tuple(axis[at] for axis, at in zip(values, place, strict=True)) for place in sorted(chosen)]


def each_once(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Choose combinations in which every value of each axis is once, at least: for axes that do not act together."""
    values = [list(axis) for axis in axes]
    return [tuple(axis[row % len(axis)] for axis in values) for row in range(max(map(len, values)))]
