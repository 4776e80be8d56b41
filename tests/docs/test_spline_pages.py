# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages in docs/splines match the output of tools/spline_pages.py, with all splines, formulas and bounds."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import textwrap
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from interp import splines

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "splines"
MODULES = [module.name for module in pkgutil.iter_modules(splines.__path__)]
BOUND = re.compile(r"[Ee]rror|\de-1\d")
"""A bound is stated in words or as a power of ten."""
MAX_PICTURE_BYTES = 80_000
MAX_TOTAL_BYTES = 400_000


def pages(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's pages by file name."""
    return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.md")}


def section(module: str, heading: str) -> str:
    """Return the text under a heading of a module's page, up to the next heading of the same level."""
    text = (FOLDER / f"{module}.md").read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def shown_formulas(module: str) -> list[tuple[str, str]]:
    """Return the formulas and tables of a page, each after the paragraph before it."""
    shown = []
    for introduction, block in pairwise(section(module, "Formulas").strip("\n").split("\n\n")):
        if block.startswith(("```text\n", "|")):
            shown.append((plain(introduction), block.removeprefix("```text\n").removesuffix("\n```")))
    return shown


@cache
def source_formulas() -> set[tuple[str, str]]:
    """Return the formulas and tables in docs/formulas, each after the paragraph before it."""
    blocks_of_pages = [text.split("\n\n") for text in pages(ROOT / "docs" / "formulas").values()]
    return {
        (plain(introduction), textwrap.dedent(block).strip("\n"))
        for blocks in blocks_of_pages
        for introduction, block in pairwise(blocks)
        if block.startswith(("    ", "|"))
    }


def plain(paragraph: str) -> str:
    """Return the text without links and quotation marks, because the tool turns quoted headings into links."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\.md[^)]*\)", r"\1", paragraph).replace('"', "").strip("\n")


def test_each_spline_module_has_a_page() -> None:
    assert {*pages(FOLDER)} == {"README.md", *(f"{module}.md" for module in MODULES)}


def test_the_pages_match_the_output_of_the_tool(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "spline_pages.py"), str(tmp_path)], check=True)
    assert pages(tmp_path) == pages(FOLDER), "The pages are out of date: run `make api`"


@pytest.mark.parametrize("module", MODULES)
def test_a_page_links_its_formulas(module: str) -> None:
    # The link to the notation is the same on all pages.
    links = re.findall(r"\]\(\.\./formulas/(\w+)\.md", section(module, "Formulas"))
    assert {*links} - {"README"}


@pytest.mark.parametrize("module", MODULES)
def test_a_page_shows_a_formula_or_table(module: str) -> None:
    formulas = [formula for _introduction, formula in shown_formulas(module)]
    # Formulas are equations. Tables contain formulas as code.
    assert any("`" in formula if formula.startswith("|") else "=" in formula for formula in formulas)


@pytest.mark.parametrize("module", MODULES)
def test_each_formula_follows_the_paragraph_that_introduces_it(module: str) -> None:
    """The paragraph defines the symbols and states the conditions."""
    shown = shown_formulas(module)
    assert shown
    assert [pair for pair in shown if pair not in source_formulas()] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_page_states_a_bound_for_each_class(module: str) -> None:
    parts = re.split(rf"^### `{module}\.(\w+)`$", section(module, "Classes"), flags=re.MULTILINE)
    texts_of_classes = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert texts_of_classes
    assert [name for name, text in texts_of_classes.items() if not BOUND.search(text)] == []


def test_pictures_stay_below_the_size_limits() -> None:
    sizes = [(FOLDER / f"{module}.png").stat().st_size for module in MODULES]
    assert max(sizes) < MAX_PICTURE_BYTES
    assert sum(sizes) < MAX_TOTAL_BYTES
