# SPDX-License-Identifier: GPL-3.0-or-later
"""Citations name headings of docs/formulas and publications that it lists."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.documents import ROOT, text_files

FORMULAS = {page.stem: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "formulas").glob("*.md"))}
HEADINGS = [name for text in FORMULAS.values() for name in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
SECTIONS = [
    name for page, text in FORMULAS.items() if page != "README" for name in re.findall(r"^## (.*)$", text, re.MULTILINE)
]
PUBLICATIONS = set(re.findall(r"\"([^\"]+)\"", FORMULAS["README"].split("## Sources")[1].split("## Notation")[0]))
"""Return the titles in the list of sources."""

NOT_PRODUCT = {"tests", "tools", "examples"}
NAME = re.compile(r"\"([^\"]+)\"")
CITED = re.compile(r"docs/formulas, (\"[^\"]+\"(?:,? (?:and )?\"[^\"]+\")*)")
"""Headings, as in: docs/formulas, "One", "Another" and "A third"."""


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


@functools.cache
def paragraphs() -> list[tuple[str, str]]:
    """Yield each file of the product with the paragraphs of its docstrings."""
    found = []
    for file in text_files():
        place = file.relative_to(ROOT)
        if file.suffix == ".py" and place.parts[0] not in NOT_PRODUCT:
            for node in ast.walk(ast.parse(read(file))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
                        found.append((str(place), " ".join(paragraph.split())))
    return found


def sources() -> Iterator[tuple[str, str]]:
    """Yield each file of the product with the text after "Source:" in its docstrings, to the end of the paragraph."""
    for place, paragraph in paragraphs():
        for source in re.split(r"\bSources?:", paragraph)[1:]:
            yield place, source


def test_a_source_names_a_heading_or_a_publication():
    found = [(place, source, NAME.findall(source)) for place, source in sources()]
    assert [each for each in found if not each[2] or not {*each[2]} <= {*HEADINGS} | PUBLICATIONS] == []
    assert len(found) > 40


def test_a_heading_that_is_cited_anywhere_is_there():
    for file in text_files():
        text = re.sub(r"\s*\n\s*(?:# )?", " ", read(file))
        names = {name for cited in CITED.findall(text) for name in NAME.findall(cited)}
        assert file == Path(__file__).resolve() or names <= {*HEADINGS}, file


def test_each_section_of_the_formulas_is_cited_by_a_docstring():
    cited = {
        name for _, paragraph in paragraphs() for names in CITED.findall(paragraph) for name in NAME.findall(names)
    }
    assert [section for section in SECTIONS if section not in cited] == []
    assert len(SECTIONS) > 50


def test_headings_of_the_formulas_are_told_apart_by_their_names():
    assert sorted(HEADINGS) == sorted(set(HEADINGS))


def test_no_file_cites_the_folder_of_sources_outside_the_repository():
    assert [str(file) for file in text_files() if "seeds" + "/" in read(file)] == []
