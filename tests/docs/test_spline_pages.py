# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of docs/splines are those that tools/spline_pages.py makes: every spline, its formulas and its bounds."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from interp import splines
from tools import spline_pages
from tools.api_pages import splines_of

PAGES = spline_pages.pages()
MOST_BYTES, MOST_BYTES_TOGETHER = 80_000, 400_000


def test_every_module_of_splines_has_a_page():
    assert {*spline_pages.TITLES} == {module.name for module in pkgutil.iter_modules(splines.__path__)}
    assert {file.name for file in spline_pages.FOLDER.glob("*.md")} == {*PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_that_of_docstrings_formulas_and_measured_differences(name):
    assert (spline_pages.FOLDER / name).read_text(encoding="utf-8") == PAGES[name], "`make api` makes it anew"


@pytest.mark.parametrize("name", spline_pages.TITLES)
def test_a_page_has_formulas_and_a_bound_for_each_class(name):
    text = PAGES[f"{name}.md"]
    formulas, rest = text.split("\n## Formulas\n")[1].split("\n## How exact\n")
    assert "](../formulas/" in formulas
    assert re.search(r"^```text\n.*=|^\| --- .*\n\|.*`", formulas, re.MULTILINE | re.DOTALL)
    for cls in splines_of(name, importlib.import_module(f"interp.splines.{name}")):
        (bound,) = [line for line in rest.splitlines() if line.startswith(f"- `{cls}`: ")]
        assert "rror" in bound or "e-1" in bound, bound


def test_pictures_are_small():
    sizes = [(spline_pages.FOLDER / f"{name}.png").stat().st_size for name in spline_pages.TITLES]
    assert max(sizes) < MOST_BYTES
    assert sum(sizes) < MOST_BYTES_TOGETHER
