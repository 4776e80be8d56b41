# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection of test parameters from several axes, without all combinations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def all_pairs(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations that include every pair of values from any two axes.

    Most faults depend on one or two values, and hardly any on three (Kuhn, Wallace and Gallo, "Software fault
    interactions and implications for software testing", 2004). The selection is greedy and deterministic.
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
    """Return combinations that include every value of each axis at least once, for independent axes."""
    values = [list(axis) for axis in axes]
    return [tuple(axis[row % len(axis)] for axis in values) for row in range(max(map(len, values)))]
