# SPDX-License-Identifier: GPL-3.0-or-later
"""Update translations/*.po with the texts of the sources: `python tools/translations.py [--list]`.

Needs Blender as a Python module, whose tool finds the texts. New labels and tooltips are added without a translation,
and texts that no longer exist are removed. Prints both, and the translated fraction of each language. Messages without
a translation are not in the files. With `--list`, only prints all texts as JSON. tests/extension/test_languages.py
compares the files with these texts.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import tcb

ROOT = Path(__file__).resolve().parents[1]
BESIDE_THE_PACKAGE = {"tests", "tools", "examples"}
PACKAGES = sorted({init.parent for init in ROOT.glob("*/__init__.py")} - {ROOT / name for name in BESIDE_THE_PACKAGE})
SOURCES = sorted([*ROOT.glob("*.py"), *(module for package in PACKAGES for module in package.rglob("*.py"))])
OPERATOR_MODULES = ("tcb", "import_anim", "export_anim")
INTERFACE = ("panels/", "operators/", "ui/")
"""Folders with labels and tooltips outside declarations."""
HEADER = 'msgid ""\nmsgstr ""\n"Language: {}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'

Key = tuple[str, str]
"""Context and English text."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Update translations/*.po with the texts of the sources.")
    parser.add_argument("--list", action="store_true", help="only print each context, text, and whether it is a label")
    options = parser.parse_args()
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(ROOT)])
    package.register()
    texts = find_texts()
    if options.list:
        print(json.dumps([(*key, is_label) for key, is_label in texts.items()]))
    else:
        for file in sorted(ROOT.glob("translations/*.po")):
            update(file, texts)
    tcb.end_process(0)


def find_texts() -> dict[Key, bool]:
    """Return the texts of the registered extension, with True for labels and tooltips and False for messages."""
    # The tool was renamed in Blender 5.
    tool = next((name for name in ("_bl_i18n_utils", "bl_i18n_utils") if importlib.util.find_spec(name)), None)
    if tool is None:
        raise SystemExit("translations: this Blender does not include the tool that finds texts, but 4.2 and 5.2 do")
    extract = importlib.import_module(f"{tool}.bl_extract_messages")
    settings = importlib.import_module(f"{tool}.settings").I18nSettings()
    scripts = bpy.utils.system_resource("SCRIPTS")  # type: ignore[attr-defined]  # the stubs lack it
    settings.PRESETS_DIR = str(Path(scripts) / "presets")
    # Blender 5 creates the types with operator properties on demand.
    for module in OPERATOR_MODULES:
        operators = getattr(bpy.ops, module)
        for name in dir(operators):
            getattr(operators, name).get_rna_type()
    in_sources: dict[Key, object] = {}
    extract.dump_py_messages_from_files(in_sources, extract._gen_reports(None), list(map(str, SOURCES)), settings)
    declared: dict[Key, object] = {}
    extract.dump_rna_messages(declared, extract._gen_reports(None), settings)
    texts = {key: any(place.startswith(INTERFACE) for place in _places(message)) for key, message in in_sources.items()}
    # The declarations include Blender's own. The names of the extension contain this text.
    own_declarations = [
        key for key, message in declared.items() if any("tcb" in place.lower() for place in _places(message))
    ]
    return texts | dict.fromkeys(own_declarations, True)


def _places(message: object) -> list[str]:
    """Return the places where Blender's tool found a text."""
    return list(map(str, getattr(message, "sources")))  # noqa: B009 - of a class without types


def update(file: Path, texts: Mapping[Key, bool]) -> None:
    """Write a .po file with these texts and their known translations, and print the differences."""
    default = bpy.app.translations.contexts.default
    languages = importlib.import_module(f"{tcb.PACKAGE}.ui.languages")
    before = {(context or default, text): translation for context, text, translation in languages.entries(file)}
    after = {key: before.get(key, "") for key, is_label in texts.items() if is_label or before.get(key)}
    file.write_text(po_file(file.stem, after, default), encoding="utf-8")
    for sign, keys in (("-", before.keys() - after.keys()), ("+", after.keys() - before.keys())):
        for key in sorted(keys):
            print(sign, *key, before.get(key, ""), sep=" | ")
    for kind, is_label in (("labels and tooltips", True), ("messages", False)):
        are_translated = [bool(after.get(key)) for key in texts if texts[key] == is_label]
        print(f"{file.stem}: {sum(are_translated)} of {len(are_translated)} {kind} are translated")


def po_file(language: str, translations: Mapping[Key, str], default: str) -> str:
    """Return the content of a .po file, sorted by English text. The context `default` is not written."""
    entries = [HEADER.format(language)]
    for (context, text), translation in sorted(translations.items(), key=lambda item: item[0][::-1]):
        context_line = "" if context == default else f"msgctxt {_quoted(context)}\n"
        entries.append(f"{context_line}msgid {_quoted(text)}\nmsgstr {_quoted(translation)}\n")
    return "\n".join(entries)


def _quoted(text: str) -> str:
    """Return the text in the format of a .po file, on one line."""
    return '"{}"'.format(text.replace('"', '\\"'))


if __name__ == "__main__":
    main()
