# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages in docs/splines match the output of tools/spline_pages.py, with all splines, formulas and bounds."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

from interp import splines

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "splines"
NAMES = [module.name for module in pkgutil.iter_modules(splines.__path__)]
MOST_BYTES, MOST_BYTES_TOGETHER = 80_000, 400_000


def pages(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.md")}


def test_the_pages_are_those_of_docstrings_formulas_and_measured_differences(tmp_path):
    subprocess.run([sys.executable, str(ROOT / "tools" / "spline_pages.py"), str(tmp_path)], check=True)
    assert pages(tmp_path) == pages(FOLDER), "`make api` makes them anew"
    assert {f"{name}.md" for name in NAMES} | {"README.md"} == {*pages(FOLDER)}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_formulas_and_a_bound_for_each_class(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    formulas, classes = text.split("\n## Formulas\n")[1].split("\n## Accuracy\n")[0], text.split("\n## Classes\n")[1]
    assert "](../formulas/" in formulas
    assert re.search(r"^```text\n.*=|^\| --- .*\n\|.*`", formulas, re.MULTILINE | re.DOTALL)
    notes = re.split(rf"^### `{name}\.\w+`$", classes, flags=re.MULTILINE)[1:]
    assert notes
    assert all("rror" in each or "e-1" in each for each in notes)


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_follows_the_paragraph_with_its_conditions(name):
    """The paragraph begins as in docs/formulas, apart from links."""
    sources = [page.read_text(encoding="utf-8").split("\n\n") for page in (ROOT / "docs" / "formulas").glob("*.md")]
    introductions = {
        textwrap.dedent(formula).strip("\n"): plain(introduction)
        for blocks in sources
        for introduction, formula in pairwise(blocks)
        if formula.startswith("    ")
    }
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").split("\n## Accuracy\n")[0]
    found = re.findall(r"([^\n].*?)\n\n```text\n(.*?)\n```", text.split("\n## Formulas\n")[1], re.DOTALL)
    for before, formula in found:
        assert plain(before.split("\n\n")[-1]) == introductions[formula]


def plain(paragraph: str) -> str:
    """Return the text without links and quotation marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\.md[^)]*\)", r"\1", paragraph).replace('"', "")


def test_pictures_are_small():
    sizes = [(FOLDER / f"{name}.png").stat().st_size for name in NAMES]
    assert max(sizes) < MOST_BYTES
    assert sum(sizes) < MOST_BYTES_TOGETHER
