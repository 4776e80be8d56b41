# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures, files, headings, operators, functions, labels and messages named in the documents exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import BUILT, CODE, DOCUMENTS, MESSAGES_PAGE, ROOT, USERS_PAGES, text_files

NEVER_SHOWN = {"Explain Locked Keys", "Highlight on Path", "Last Event"}
"""Labels of operators that only the extension calls."""
MOST_BYTES, MOST_BYTES_TOGETHER = 120_000, 1_000_000

LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def links(document: Path) -> Iterator[str]:
    for link in LINK.findall(document.read_text(encoding="utf-8")):
        target = link[0] or link[1]
        if "://" not in target:
            yield target


def prose(document: Path) -> str:
    """Return the document's text without the code."""
    return re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)


def chapters(document: Path) -> set[str]:
    """Return the anchors that GitHub generates for the document's headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_link_leads_to_a_file_and_a_chapter_that_are_there(document):
    for link in links(document):
        name, _, chapter = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        assert target.exists(), link
        assert not chapter or chapter in chapters(target), link


def test_every_picture_is_shown_and_small():
    shown = {(document.parent / link).resolve() for document in DOCUMENTS for link in links(document)}
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    assert [picture.name for picture in pictures if picture not in shown] == []
    sizes = [picture.stat().st_size for picture in pictures]
    assert max(sizes) < MOST_BYTES
    assert sum(sizes) < MOST_BYTES_TOGETHER


def calls(document: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the function and the argument names of each call in the document's Python code."""
    for code in CODE.findall(document.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), [keyword.arg or "" for keyword in node.keywords]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_an_operator_or_function_in_its_python_is_there_and_takes_what_it_is_given(document, tcb_animation):
    import bpy

    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    rows = animation.store.table.rows
    any_of = {*rows.PARAMETERS, rows.VELOCITY, *animation.store.table.track_records.CHOICES}
    for name, given in calls(document):
        if name.startswith("bpy.ops."):
            _, _, module, operator = name.split(".")
            known = set(getattr(getattr(bpy.ops, module), operator).get_rna_type().properties.keys())
        elif name.startswith("animation."):
            parameters = inspect.signature(getattr(animation, name.removeprefix("animation."))).parameters
            known = {*parameters, *(any_of if "parameters" in parameters or "choices" in parameters else ())}
        else:
            continue
        assert set(given) <= known, name


def texts() -> set[str]:
    """Every piece of text in the package: labels, messages and their parts."""
    folders = [
        init.parent for init in ROOT.glob("*/__init__.py") if init.parent.name not in ("tests", "tools", "examples")
    ]
    files = [*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    presets = {file.stem.replace("_", " ") for file in ROOT.glob("presets/tcb_animation/key/*.py")}
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return presets | {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_a_label_in_bold_is_one_that_is_shown():
    bold = {label for page in USERS_PAGES for label in re.findall(r"\*\*([^*]+)\*\*", prose(page))}
    assert sorted(bold - texts()) == []
    assert len(bold) > 30


def test_every_panel_and_tool_is_named():
    files = (file for folder in ("panels", "ui", "operators") for file in (ROOT / folder).rglob("*.py"))
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    labels = set(re.findall(r"^    bl_label = \"(.*)\"$", code, re.MULTILINE))
    pages = "\n".join(map(prose, USERS_PAGES))
    assert sorted(label for label in labels if label not in pages) == sorted(NEVER_SHOWN)
    assert len(labels) > 30


def test_a_message_in_the_table_is_one_that_is_said():
    rows = re.findall(r"^\| (\*.*?\*) \|", prose(MESSAGES_PAGE), re.MULTILINE)
    said = texts()
    missing = []
    for message in (message for row in rows for message in re.findall(r"\*([^*]+)\*", row)):
        for part in re.split(r"…|\"", message):
            if part.strip() and not any(part.strip() in text for text in said):
                missing.append((message, part))
    assert missing == []
    assert len(rows) > 40


def test_the_presets_are_those_of_the_table():
    pages = "\n".join(map(prose, USERS_PAGES))
    rows = re.findall(r"^\| ([\w ]+) ((?:\| -?[\d.]+ ){5})\|$", pages, re.MULTILINE)
    told = {name: [float(number) for number in numbers.split("|")[1:]] for name, numbers in rows}
    files = ROOT.glob("presets/tcb_animation/key/*.py")
    assert told == {
        file.stem.replace("_", " "): [float(number) for number in re.findall(r"= (-?[\d.]+)$", file.read_text(), re.M)]
        for file in files
    }


def test_every_folder_at_the_root_is_told_of():
    page = (ROOT / "docs" / "project" / "folders.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)/`", page))
    folders = {file.parent.name for file in ROOT.glob("*/*") if file.suffix in (".py", ".js", ".md")} | {"presets"}
    assert sorted({folder for folder in folders if not folder.startswith(".")} - BUILT - named) == []


@pytest.mark.parametrize("document", [ROOT / "CONTRIBUTING.md", *DOCUMENTS], ids=lambda path: path.name)
def test_a_file_or_folder_that_it_names_is_there(document):
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - BUILT
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name in re.findall(r"`([\w.-]+/[\w./-]*)`", text):
        first = name.split("/")[0]
        assert first not in folders or (ROOT / name).exists(), name
    assert set(re.findall(r"`(\w+\.py)`", text)) <= {file.name for file in text_files()}
