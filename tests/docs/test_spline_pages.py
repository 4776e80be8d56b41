# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of docs/splines are those that tools/spline_pages.py makes: every spline, its formulas and its bounds."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
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
    formulas, rest = text.split("\n## Formulas\n")[1].split("\n## How exact\n")
    assert "](../formulas/" in formulas
    assert re.search(r"^```text\n.*=|^\| --- .*\n\|.*`", formulas, re.MULTILINE | re.DOTALL)
    classes = re.findall(rf"^### `({name}\.\w+)`$", text, re.MULTILINE)
    bounds = dict(re.findall(r"^- `([\w.]+)`: (.*)$", rest, re.MULTILINE))
    assert classes
    assert set(classes) == {*bounds}
    assert all("rror" in bound or "e-1" in bound for bound in bounds.values())


def test_pictures_are_small():
    sizes = [(FOLDER / f"{name}.png").stat().st_size for name in NAMES]
    assert max(sizes) < MOST_BYTES
    assert sum(sizes) < MOST_BYTES_TOGETHER
