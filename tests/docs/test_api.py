# SPDX-License-Identifier: GPL-3.0-or-later
"""The API pages are what tools/api_pages.py makes of the docstrings, have every public name, and their examples run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interp
from interp import retiming, rotations
from interp.fitting import curves, handles, reduction
from interp.splines import tcb
from tools import api_pages

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
SCRIPTS, MATHEMATICS = ((DOCS / name).read_text(encoding="utf-8") for name in ("api.md", "api_interp.md"))
INSTALLED = "bl_ext.user_default.tcb_animation"
PARSER = doctest.DocTestParser()
RESULTS = {"Checks", "Gap", "AnimationError", "Finding", "Relaxation", "Report", "RotationFault", "Violation"}
"""Classes that scripts are given, and don't make."""


class Checker(doctest.OutputChecker):
    """Compares what comes out, and of an exception's name its last part."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, re.sub(r"^(\w+\.)+(\w+: )", r"\2", got), optionflags)


def parts(page: str) -> dict[str, str]:
    """Each section of a page, with those on its members, by name; "" is what stands before the first."""
    first = page.index("\n## ")
    found = re.split(r"^### `([\w.]+)`\n", page[first:], flags=re.MULTILINE)
    return {"": page[:first], **dict(zip(found[1::2], found[2::2], strict=True))}


def examples(page: str) -> list[str]:
    return [name for name, text in parts(page).items() if name and ">>>" in text]


def run(name: str, page: str, package: str = "") -> None:
    """Run the examples of a section, after what the page begins with."""
    names: dict[str, Any] = {}
    said: list[str] = []
    for text in (parts(page)[""], parts(page)[name]):
        test = PARSER.get_doctest(text.replace(INSTALLED, package or INSTALLED), names, name, None, None)
        doctest.DocTestRunner(Checker()).run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert "".join(said) == ""


@pytest.mark.parametrize("name", examples(MATHEMATICS))
def test_an_example_of_the_mathematics_shows_what_comes_out(name):
    with np.printoptions():
        run(name, MATHEMATICS)


@pytest.mark.parametrize("name", examples(SCRIPTS))
def test_an_example_of_scripts_shows_what_comes_out(name, tcb_animation, files):
    run(name, SCRIPTS, tcb_animation.__name__)


def test_the_page_of_the_mathematics_is_that_of_the_docstrings():
    assert api_pages.interp_page() == MATHEMATICS, "`make api` makes it anew"


def test_the_page_of_scripts_is_that_of_the_docstrings(tcb_animation):
    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    assert api_pages.scripts_page(animation) == SCRIPTS, "`make api` makes it anew"


def test_the_page_of_scripts_has_every_name_with_its_parameters_and_an_example(tcb_animation):
    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    sections = parts(SCRIPTS)
    for name in animation.__all__:
        each, text = getattr(animation, name), sections[f"animation.{name}"]
        if inspect.isfunction(each):
            assert [each for each in inspect.signature(each).parameters if f"**{each}**" not in text] == [], name
        if dataclasses.is_dataclass(each):
            assert [field.name for field in dataclasses.fields(each) if field.name not in text] == [], name
        if callable(each) and name not in RESULTS:
            assert ">>>" in text, name


def test_the_page_of_scripts_has_every_operator_with_its_parameters(tcb_animation):
    import bpy

    sections = parts(SCRIPTS)
    operators = importlib.import_module(f"{tcb_animation.__name__}.operators")
    classes = [cls for name, cls in vars(operators).items() if "_OT_" in name]
    classes += [operators.preset.TCB_OT_preset_apply, operators.preset.TCB_OT_preset_add]
    for cls in classes:
        module, name = cls.bl_idname.split(".")
        rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
        shown = {each.identifier for each in rna.properties} - {"rna_type"}
        missing = {each for each in shown if f"**{each}**" not in sections[f"bpy.ops.{cls.bl_idname}"]}
        assert {each for each in missing if not each.startswith("filter_")} == set(), cls.bl_idname
    assert len(classes) > 30


def test_the_page_of_the_mathematics_has_every_name_with_an_example():
    sections = parts(MATHEMATICS)
    names = {name: getattr(interp, name) for name in interp.__all__}
    names |= {f"tcb.{name}": getattr(tcb, name) for name in ("VectorSpline", "RotationSpline")}
    names |= {f"rotations.{name}": getattr(rotations, name) for name in rotations.__all__}
    names |= {f"retiming.{name}": getattr(retiming, name) for name in ("retimed", "ArcLength", "ConstantSpeed")}
    for module in (curves, handles, reduction):
        prefix = module.__name__.rpartition(".")[2]
        shown = api_pages.named(prefix, module, api_pages.FITS[prefix])
        names |= {name: each for name, each in shown.items() if inspect.isfunction(each)}
        assert [name for name in shown if name not in sections] == []
    for name, each in names.items():
        if not inspect.ismodule(each):
            text = sections[name]
            assert not (inspect.isfunction(each) or inspect.isclass(each)) or ">>>" in text, name
