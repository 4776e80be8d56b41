# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/splines has a row with formulas, and a figure with all classes, for each module of `interp.splines`."""

from __future__ import annotations

import re

import pytest

from tests.docs.documents import ROOT
from tests.docs.spline_modules import MODULES, splines_of

FOLDER = ROOT / "docs" / "splines"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
MAX_PICTURE_BYTES = 80_000
MAX_TOTAL_BYTES = 400_000
WIDTH_PER_CLASS = 224


def test_each_module_has_a_figure_and_a_row_with_formulas() -> None:
    assert sorted(re.findall(r"\]\((\w+)\.png\)", PAGE)) == sorted(MODULES)
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert re.findall(r"^\| \[([^]]+)\]\(#.*\]\(\.\./formulas/", PAGE, re.MULTILINE) == headings
    assert len(headings) == len(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_figure_shows_every_class(module: str) -> None:
    width = int.from_bytes((FOLDER / f"{module}.png").read_bytes()[16:20], "big")
    assert width == WIDTH_PER_CLASS * len(splines_of(module))


def test_pictures_stay_below_the_size_limits() -> None:
    sizes = [(FOLDER / f"{module}.png").stat().st_size for module in MODULES]
    assert max(sizes) < MAX_PICTURE_BYTES
    assert sum(sizes) < MAX_TOTAL_BYTES
