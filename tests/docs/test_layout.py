# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing in the product imports upwards, and there are no circles.

Code shared by tests is in modules next to them. docs/project/folders.md has the same order, and the paths in
docs/project/call_paths.md lead only downward.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = (
    (
        "interp/keys",
        "interp/messages",
        "interp/arguments",
        "interp/ease",
        "interp/prepared",
        "interp/cubics",
        "interp/base_spline",
        "interp/spline_batch",
    ),
    ("interp/rotations",),
    ("interp",),
    ("interp/splines",),
    ("interp/fitting",),
    ("interp/__init__",),
    ("formats",),
    ("formats/motion",),
    ("formats/three_ds", "formats/gltf", "formats/gltf_document", "formats/fbx"),
    ("formats/__init__",),
    (
        "animation/memoize",
        "animation/records",
        "animation/steps",
        "animation/text",
        "animation/track_paths",
        "animation/messages",
        "animation/arguments",
        "animation/datablocks",
        "animation/scene_time",
        "animation/options",
        "animation/report",
        "animation/many",
    ),
    ("animation/fcurves",),
    ("animation/store/table",),
    ("animation/store",),
    ("animation/bake/plans",),
    ("animation/sampling",),
    (
        "animation/live/mirrored_keys",
        "animation/live/dragged_handles",
        "animation/live/meaning_of_edits",
    ),
    ("animation/bake",),
    ("animation/edit",),
    ("animation/on_path",),
    ("animation/live",),
    ("animation/checks",),
    ("animation/adjust_keys",),
    ("animation/reduction",),
    ("animation/file_curves",),
    ("animation/__init__",),
    ("exchange",),
    ("exchange/importing",),
    ("exchange/exporting",),
    ("ui",),
    ("ui/live",),
    ("operators",),
    ("panels/pictures",),
    ("panels",),
    ("cli",),
    ("cli/verbs",),
    ("cli/run",),
    ("cli/__init__",),
    ("__init__",),
)
"""Folders from the lowest to the highest layer, and modules in another layer than their folder. Each imports only from
its own layer and the layers before it."""
INSIDE = {
    "cli",
    "cli/verbs",
    "ui/sliders",
    "exchange/importing",
    "exchange/exporting",
    "formats/fbx",
    "formats/gltf",
    "formats/gltf_document",
    "formats/motion",
    "formats/three_ds",
}
"""Folders that docs/project/folders.md describes in the row of their parent folder."""
FOLDERS = sorted({place.split("/")[0] for places in ORDER for place in places} - {"__init__"})


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).with_suffix("").as_posix()


MODULES = {
    name_of(file): file
    for file in [ROOT / "__init__.py", *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))]
}


def module(path: tuple[str, ...]) -> str | None:
    """Return the module with this path from the root, which is a file or a folder."""
    whole = "/".join(path)
    return next((name for name in (whole, f"{whole}/__init__" if whole else "__init__") if name in MODULES), None)


def imported(name: str, file: Path) -> Iterator[str]:
    """Yield the product's modules that a module imports, including imports in its functions."""
    folder = tuple(name.split("/")[:-1])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            if node.level or base[0] in FOLDERS:
                for alias in node.names:
                    found = module((*base, alias.name)) or module(base)
                    assert found is not None, f"{name}: {ast.unparse(node)}"
                    yield found
        elif isinstance(node, ast.Import):
            yield from filter(None, (module(tuple(alias.name.split("."))) for alias in node.names))


@functools.cache
def imports() -> dict[str, set[str]]:
    """Return the product's modules that each module of the product imports."""
    return {name: {*imported(name, file)} - {name} for name, file in MODULES.items()}


def place(name: str) -> int:
    """Return the module's position in the order, found by its own name or the name of its nearest listed folder."""
    wanted = [name, *(str(folder) for folder in Path(name).parents)]
    return next(n for each in wanted for n, places in enumerate(ORDER) if each in places)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_nothing_from_above(name):
    above = {other for other in imports()[name] if place(other) > place(name)}
    assert above == set()


def test_modules_import_each_other_in_no_circle():
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1][::-1]))


def test_the_root_has_only_what_blender_reads():
    assert [file.name for file in ROOT.glob("*.py")] == ["__init__.py"]


def test_the_order_names_what_is_there():
    named = {each for places in ORDER for each in places}
    assert {each for each in named if each not in MODULES and not (ROOT / each).is_dir()} == set()


# Tests

TESTS = sorted((ROOT / "tests").rglob("*.py"))
PRIVATE = re.compile(r"\b(?:handlers|updates|messages)(?:_of\(\w+\))?\._")
OF_A_FILE_OF_TESTS = re.compile(r"^ *(?:from|import) .*\btest_\w+", re.MULTILINE)


def test_no_module_imports_what_is_in_a_file_of_tests():
    files = [*TESTS, *(ROOT / "tools").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    assert [name_of(file) for file in files if OF_A_FILE_OF_TESTS.search(file.read_text(encoding="utf-8"))] == []


def test_tests_leave_private_names_of_the_live_scheduler_alone():
    assert [name_of(file) for file in TESTS if PRIVATE.search(file.read_text(encoding="utf-8"))] == []


# docs/project/call_paths.md and docs/project/folders.md

PROJECT = ROOT / "docs" / "project"
HOP = re.compile(r"^\d+\. `([\w/]+)(\.py|/)`", re.MULTILINE)
CHAPTERS = re.split(r"^## (.*)\n", (PROJECT / "call_paths.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
PATHS = dict(zip(CHAPTERS[1::2], CHAPTERS[2::2], strict=True))


@pytest.mark.parametrize("name", ["A bake", "A live edit", "An import"])
def test_each_hop_is_imported_by_one_before_it(name):
    """No path leads back up, because there are no circular imports."""
    hops = [hop for hop, _ in HOP.findall(PATHS[name])]
    assert hops
    for number, hop in enumerate(hops[1:], 1):
        assert any(hop in imports()[before] for before in reaching(hops[:number])), hop


def reaching(hops: list[str]) -> set[str]:
    """Return these modules, and the modules imported by packages among their imports."""
    gathered = {other for hop in hops for other in imports()[hop] if other.endswith("__init__")}
    return {*hops, *gathered, *(other for each in gathered for other in imports()[each] if other.endswith("__init__"))}


def test_the_table_of_folders_is_in_the_order_of_imports():
    rows = re.findall(r"^\| `([\w/.]+?)/?`", (PROJECT / "folders.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows[0] == "__init__.py"
    folders = rows[1:]
    assert {*folders} >= {place for places in ORDER for place in places if (ROOT / place).is_dir()} - INSIDE
    tops = [max(n for n, places in enumerate(ORDER) if any(each.startswith(f) for each in places)) for f in folders]
    order = [n for n, folder in zip(tops, folders, strict=True) if "/" not in folder]
    assert order == sorted(order, reverse=True)
