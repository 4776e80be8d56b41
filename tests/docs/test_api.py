# SPDX-License-Identifier: GPL-3.0-or-later
"""The API pages match the output of tools/api_pages.py and contain every public name, and their examples run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interp
from interp import retiming, rotations
from interp.fitting import curves, handles, reduction, tcb_parameters
from interp.splines import tcb

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PARSER = doctest.DocTestParser()
RESULTS = {"Checks", "Gap", "AnimationError", "Finding", "Relaxation", "Report", "RotationFault", "Violation"}
"""Classes that functions return and scripts do not create."""


FITS = {
    "curves": ("fit_many", "handles"),
    "handles": ("fit_handles",),
    "reduction": ("reduce_tracks", "low_pass"),
    "tcb_parameters": ("fit_parameters", "sample_frames"),
}
"""Functions from `interp.fitting` on the pages."""


class Checker(doctest.OutputChecker):
    """A checker that compares the output, but only the last part of an exception's name."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, re.sub(r"^(\w+\.)+(\w+: )", r"\2", got), optionflags)


def pages(folder: str | Path) -> dict[str, str]:
    """Return the pages of a folder in docs, or of any other, by file name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((DOCS / folder).glob("*.md"))}


SCRIPTS, MATHEMATICS = pages("reference/api"), pages("reference/interp")
SPLINES = {name: pages("splines")[name] for name in ("tcb.md", "lightwave_kochanek_bartels.md", "cubic.md")}
"""Modules with classes that the index of `interp` links."""


def parts(page: str) -> dict[str, str]:
    """Return each section of a page by name, including the sections on its members. "" is the text before the first."""
    found = re.split(r"^##+ `((?:[a-z_]+\.)*\w+)`\n", page, flags=re.MULTILINE)
    sections = {"": found[0]}
    owner = ""
    for name, text in zip(found[1::2], found[2::2], strict=True):
        if owner and name.startswith(f"{owner}."):
            sections[owner] += text
        else:
            owner = name
            sections[name] = text
    return sections


def all_sections(folder: dict[str, str]) -> dict[str, str]:
    """Return the sections of all pages. Each name has only one section."""
    found = [
        (name, text)
        for file, page in folder.items()
        if file != "index.md"
        for name, text in parts(page).items()
        if name
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


def examples(folder: dict[str, str]) -> list[tuple[str, str]]:
    """Return the pages and sections that have examples."""
    return [
        (file, name) for file, page in folder.items() for name, text in parts(page).items() if name and ">>>" in text
    ]


def run(name: str, *texts: str) -> None:
    """Run the examples of several texts in order, with shared names. The package has the same files as `interp`."""
    names: dict[str, Any] = {}
    printed: list[str] = []
    for text in texts:
        test = PARSER.get_doctest(text.replace("from tcb_splines", "from interp"), names, name, None, None)
        doctest.DocTestRunner(Checker()).run(test, out=printed.append, clear_globs=False)
        names = test.globs
    assert "".join(printed) == ""


@pytest.mark.parametrize(("file", "name"), examples(MATHEMATICS))
def test_an_example_of_the_mathematics_shows_what_comes_out(file, name):
    with np.printoptions():
        sections = parts(MATHEMATICS[file])
        run(name, sections[""], sections[name])


@pytest.mark.parametrize(("file", "name"), examples(SPLINES))
def test_an_example_of_a_spline_shows_what_comes_out(file, name):
    with np.printoptions():
        run(name, parts(MATHEMATICS["curves.md"])[""], parts(SPLINES[file])[name])


@pytest.mark.parametrize(("file", "name"), examples(SCRIPTS))
def test_an_example_of_scripts_shows_what_comes_out(file, name, files):
    sections = parts(SCRIPTS[file])
    run(name, sections[""], sections[name])


def test_every_page_with_examples_has_some_that_run():
    assert {file for file, page in MATHEMATICS.items() if ">>>" in page} == {file for file, _ in examples(MATHEMATICS)}
    assert {file for file, page in SCRIPTS.items() if ">>>" in page} == {file for file, _ in examples(SCRIPTS)}


def test_the_pages_are_those_of_the_docstrings(tmp_path):
    pytest.importorskip("bpy")
    subprocess.run([sys.executable, str(ROOT / "tools" / "api_pages.py"), str(tmp_path)], check=True)
    for folder in ("api", "interp"):
        assert pages(tmp_path / folder) == pages(f"reference/{folder}"), "`make api` makes them anew"


@pytest.mark.parametrize(("folder", "others"), [(SCRIPTS, {}), (MATHEMATICS, SPLINES)])
def test_an_index_links_every_section_of_its_pages(folder, others):
    linked = set(re.findall(r"^\| \[`([\w.]+)`\]\(", folder["index.md"], re.MULTILINE))
    assert linked == {*all_sections(folder | others)}


def test_the_pages_of_scripts_have_every_name_with_its_parameters_and_an_example(tcb_animation):
    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    sections = all_sections(SCRIPTS)
    for name in animation.__all__:
        each, text = getattr(animation, name), sections[f"animation.{name}"]
        if inspect.isfunction(each):
            assert [each for each in inspect.signature(each).parameters if f"**{each}**" not in text] == [], name
        if dataclasses.is_dataclass(each):
            assert [field.name for field in dataclasses.fields(each) if field.name not in text] == [], name
        if callable(each) and name not in RESULTS:
            assert ">>>" in text, name


def test_the_pages_of_scripts_have_every_operator_with_its_parameters(tcb_animation):
    import bpy

    sections = all_sections(SCRIPTS)
    operators = importlib.import_module(f"{tcb_animation.__name__}.operators")
    modules = [module for module in vars(operators).values() if inspect.ismodule(module)]
    classes = {
        cls for module in modules for name, cls in vars(module).items() if "_OT_tcb" in name or "TCB_OT_" in name
    }
    for cls in classes:
        module, name = cls.bl_idname.split(".")
        rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
        shown = {each.identifier for each in rna.properties} - {"rna_type"}
        missing = {each for each in shown if f"**{each}**" not in sections[f"bpy.ops.{cls.bl_idname}"]}
        assert {each for each in missing if not each.startswith("filter_")} == set(), cls.bl_idname
    assert len(classes) > 30


def test_the_pages_of_the_mathematics_have_every_name_with_an_example():
    sections = all_sections(MATHEMATICS | SPLINES)
    names = {name: getattr(interp, name) for name in interp.__all__}
    names |= {f"tcb.{name}": getattr(tcb, name) for name in ("VectorSpline", "RotationSpline")}
    names |= {f"rotations.{name}": getattr(rotations, name) for name in rotations.__all__}
    names |= {f"retiming.{name}": getattr(retiming, name) for name in ("retimed", "ArcLength", "ConstantSpeed")}
    for module in (curves, handles, reduction, tcb_parameters):
        prefix = module.__name__.rpartition(".")[2]
        names |= {f"{prefix}.{name}": getattr(module, name) for name in FITS[prefix]}
    for name, each in names.items():
        if not inspect.ismodule(each):
            text = sections[name]
            assert not (inspect.isfunction(each) or inspect.isclass(each)) or ">>>" in text, name


@pytest.mark.parametrize("name", all_sections(MATHEMATICS))
def test_each_heading_of_the_mathematics_can_be_imported(name):
    module, _, item = name.rpartition(".")
    package = "interp.fitting" if module in FITS or name == "Request" else "interp"
    assert hasattr(importlib.import_module(f"{package}.{module}".rstrip(".")), item)


def test_signatures_of_methods_have_no_self():
    assert [page for page, text in (SCRIPTS | MATHEMATICS).items() if re.search(r"\(self\b", text)] == []
