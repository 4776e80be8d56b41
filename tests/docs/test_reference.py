# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference lists every public name on one page, and the examples in the docstrings run."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import interp
from interp import rotations
from tests.docs.documents import ROOT
from tests.docs.spline_modules import MODULES, splines_of

REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. (\w+):: (\S+)$(\n   :undoc-members:$)?", re.MULTILINE)
RESULTS = {"Checks", "Gap", "AnimationError", "Finding", "Relaxation", "Report", "RotationFault", "Violation"}
"""Classes that functions return and scripts do not create."""
FUNCTIONS = {
    "cubics.PiecewisePolynomial",
    "retiming.ArcLength",
    "retiming.ConstantSpeed",
    "retiming.retimed",
    "fitting.curves.fit_many",
    "fitting.curves.handles",
    "fitting.handles.fit_handles",
    "fitting.reduction.low_pass",
    "fitting.reduction.reduce_tracks",
    "fitting.tcb_parameters.fit_parameters",
    "fitting.tcb_parameters.sample_frames",
}
"""Public functions and callable classes of modules of `interp` that also have other names."""
BASES_AND_DATA = {
    "base_spline.BaseSpline",
    "base_spline.ComponentSpline",
    "base_spline.Derivative",
    "rotations.base_rotation_spline.OrientationSpline",
    "rotations.base_rotation_spline.TurnedSpline",
    "retiming.FunctionKeys",
    "fitting.Request",
    "fitting.curves.Fit",
    "fitting.curves.Knots",
    "fitting.handles.Handles",
    "fitting.reduction.Reduced",
    "fitting.reduction.SampledTracks",
    "fitting.tcb_parameters.SplineToFit",
}
"""Public base classes, arguments and results of these modules, which have no examples of their own."""
BOUND = re.compile(r"[Ee]rror|\de-1\d")
"""A bound is stated in words or as a power of ten."""


def text_of(page: str) -> str:
    return (REFERENCE / page).read_text(encoding="utf-8")


def names_by_page(folder: str) -> dict[str, list[str]]:
    """Return the documented names by page, without the name of the package."""
    names_of_pages: dict[str, list[str]] = {}
    for path in sorted((REFERENCE / folder).glob("*.md")):
        module = ""
        for directive, name, _option in DIRECTIVE.findall(path.read_text(encoding="utf-8")):
            if directive in ("currentmodule", "automodule"):
                module = f"{name}."
            else:
                full_name = re.sub(r"^(animation|tcb_splines)\.", "", module + name)
                names_of_pages.setdefault(path.name, []).append(full_name)
    return names_of_pages


SCRIPTS, MATHEMATICS = names_by_page("api"), names_by_page("interp")


def named_once(names_of_pages: dict[str, list[str]]) -> set[str]:
    """Return all names. Each is on one page."""
    counts = Counter(name for names in names_of_pages.values() for name in names)
    assert [name for name, count in counts.items() if count > 1] == []
    return set(counts)


SPLINES = {f"splines.{module}.{name}" for module in MODULES for name in splines_of(module)}


def item_of(name: str) -> Any:
    """Return a function, a class or a constant of `interp`."""
    module, _, item = name.rpartition(".")
    return getattr(importlib.import_module(f"interp.{module}".rstrip(".")), item)


def test_the_pages_of_scripts_list_every_public_name(tcb_animation):
    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    assert named_once(SCRIPTS) == {*animation.__all__}


def test_the_pages_of_the_mathematics_list_every_public_name():
    names = {name for name in interp.__all__ if not inspect.ismodule(getattr(interp, name))}
    names |= {f"rotations.{name}" for name in rotations.__all__}
    assert named_once(MATHEMATICS) == names | FUNCTIONS | BASES_AND_DATA | SPLINES


@pytest.mark.parametrize(("folder", "names_of_pages"), [("api", SCRIPTS), ("interp", MATHEMATICS)])
def test_an_index_lists_the_names_of_each_page(folder, names_of_pages):
    rows = re.findall(r"^\| \[[^]]+\]\((\w+\.md)\) \| (.*) \|$", text_of(f"{folder}/index.md"), re.MULTILINE)
    expected = {
        page: [re.sub(r"^(fitting|splines)\.", "", name) for name in names] for page, names in names_of_pages.items()
    }
    assert {page: re.findall("`([^`]+)`", names) for page, names in rows} == expected


@pytest.mark.parametrize("name", sorted(named_once(SCRIPTS)))
def test_a_docstring_of_scripts_describes_every_parameter_and_field(name, tcb_animation):
    item = getattr(importlib.import_module(f"{tcb_animation.__name__}.animation"), name)
    docstring = inspect.getdoc(item) or ""
    if inspect.isfunction(item):
        described = set(re.findall(r"\w+", " ".join(re.findall(r"^[*\w]+(?:, [*\w]+)*(?= :|$)", docstring, re.M))))
        assert {*inspect.signature(item).parameters} <= described
    if dataclasses.is_dataclass(item):
        described = set(re.findall(r'^    (\w+):.*\n    """', inspect.getsource(item), re.MULTILINE))
        described |= set(re.findall(r"^(\w+) : ", docstring, re.MULTILINE))
        shows_all = any((f"{name}\n   :undoc-members:\n") in text_of(f"api/{page}") for page in SCRIPTS)
        assert shows_all or {field.name for field in dataclasses.fields(item)} <= described


@pytest.mark.parametrize("name", sorted(SPLINES))
def test_a_spline_states_an_error_bound(name):
    assert BOUND.search(inspect.getdoc(item_of(name)) or "")


# Examples


class Checker(doctest.OutputChecker):
    """A checker that compares the output, but only the last part of an exception's name."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, re.sub(r"^(\w+\.)+(\w+: )", r"\2", got), optionflags)


def run(test: doctest.DocTest) -> None:
    """Run examples. The package has the same files as `interp`."""
    for example in test.examples:
        example.source = example.source.replace("from tcb_splines", "from interp")
    printed: list[str] = []
    doctest.DocTestRunner(Checker()).run(test, out=printed.append, clear_globs=False)
    assert "".join(printed) == ""


def setup_names(folder: str) -> dict[str, Any]:
    """Return the names that the index of a folder defines for all examples."""
    setup = doctest.DocTestParser().get_doctest(text_of(f"{folder}/index.md"), {}, folder, None, None)
    run(setup)
    return setup.globs


@pytest.mark.parametrize("name", sorted(named_once(SCRIPTS) - {"__version__"}))
def test_an_example_of_scripts_gives_the_shown_result(name, files):
    names = setup_names("api")
    item = getattr(names["animation"], name)
    tests = [test for test in doctest.DocTestFinder().find(item, name, module=False, globs=names) if test.examples]
    assert tests or name in RESULTS
    for test in tests:
        run(test)


@pytest.mark.parametrize(
    "file",
    [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "interp").rglob("*.py"))
        if ">>>" in file.read_text(encoding="utf-8")
    ],
)
def test_an_example_of_the_mathematics_gives_the_shown_result(file):
    module = importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    with np.printoptions():
        names = {file.rpartition("/")[2].removesuffix(".py"): module, **setup_names("interp")}
        tests = doctest.DocTestFinder().find(module, globs=names)
        assert sum(len(test.examples) for test in tests) > 0
        for test in tests:
            run(test)


def test_a_function_or_class_of_the_mathematics_has_an_example():
    names = named_once(MATHEMATICS) - BASES_AND_DATA - SPLINES
    items = {name: item_of(name) for name in {*names, "splines.tcb.VectorSpline", "splines.tcb.RotationSpline"}}
    callables = {name: item for name, item in items.items() if inspect.isfunction(item) or inspect.isclass(item)}
    assert [name for name, item in callables.items() if ">>>" not in (inspect.getdoc(item) or "")] == []
    assert len(callables) > 40


# Operators


def test_the_page_of_operators_lists_every_operator_with_its_options(tcb_animation):
    import bpy

    rows = re.findall(r"^\| `([\w.]+)` \| .+ \| (.*?) ?\|$", text_of("api/operators.md"), re.MULTILINE)
    listed = {name: dict(re.findall(r"`(\w+)`(?: \(([^)]*)\))?", options)) for name, options in rows}
    operators = importlib.import_module(f"{tcb_animation.__name__}.operators")
    modules = [module for module in vars(operators).values() if inspect.ismodule(module)]
    expected = {}
    for cls in (
        cls for module in modules for name, cls in vars(module).items() if "_OT_tcb" in name or "TCB_OT_" in name
    ):
        module_name, name = cls.bl_idname.split(".")
        properties = getattr(getattr(bpy.ops, module_name), name).get_rna_type().properties
        expected[cls.bl_idname] = {
            prop.identifier: ", ".join(item.identifier for item in prop.enum_items) if prop.type == "ENUM" else ""
            for prop in properties
            if prop.identifier != "rna_type" and not prop.identifier.startswith("filter_")
        }
    assert listed == expected
