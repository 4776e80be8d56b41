# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/measurements/methods.md contains every method, the properties of its classes, and its measured error."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from interp import Keys
from interp.splines import METHODS
from tests.interp.references import smoothness

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measurements" / "methods.md"
KINDS = {"values": 1, "rotations": 4}


def table():
    """Return the cells of the rows, by method and kind."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| **")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {(re.search(r"`(\w+)`", row[0]).group(1), row[1]): row for row in cells}


def test_it_has_a_row_for_the_values_and_rotations_of_every_method_and_no_others():
    expected = {(name, kind) for name, method in METHODS.items() for kind in KINDS if getattr(method, kind) is not None}
    assert set(table()) == expected


@pytest.mark.parametrize(("name", "kind"), sorted(table()))
def test_a_row_says_what_the_class_says(name, kind):
    row, method = table()[name, kind], METHODS[name]
    spline = getattr(method, kind)(Keys([0.0, 1.0, 2.0], np.ones((3, KINDS[kind]))))
    assert row[0].startswith(f"**{method.label}**")
    continuity, support = smoothness(type(spline))
    assert row[2:5] == [continuity, "all" if support is None else str(support), "yes" if spline.interpolating else "no"]


@pytest.mark.parametrize(("name", "kind"), sorted(table()))
def test_the_largest_difference_from_the_reference_was_rounding(name, kind):
    assert float(table()[name, kind][-1]) <= 1e-12
