# SPDX-License-Identifier: GPL-3.0-or-later
"""Update translations/*.po with the texts of the sources: `python tools/translations.py`.

Needs Blender as a Python module, whose tool finds the texts. New texts are added without a translation, and texts that
no longer exist are removed. Prints both, and the translated fraction of each language.
tests/extension/test_languages.py compares the files with the sources.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[1]
BESIDE_THE_PACKAGE = {"tests", "tools", "examples"}
PACKAGES = sorted({init.parent for init in ROOT.glob("*/__init__.py")} - {ROOT / name for name in BESIDE_THE_PACKAGE})
SOURCES = sorted([*ROOT.glob("*.py"), *(module for package in PACKAGES for module in package.rglob("*.py"))])
OPERATOR_MODULES = ("tcb", "import_anim", "export_anim")
INTERFACE = ("panels/", "operators/", "ui/")
"""Folders with labels and tooltips outside declarations."""

Key = tuple[str, str]
"""Context and English text."""


def finds_texts() -> bool:
    """Return whether this Blender ships the tool that finds texts."""
    return _name_of_blenders_tool() is not None


def find_texts() -> dict[Key, bool]:
    """Return the texts of the registered extension, with True for labels and tooltips and False for messages."""
    import bpy

    tool = _name_of_blenders_tool()
    extract = importlib.import_module(f"{tool}.bl_extract_messages")
    settings = importlib.import_module(f"{tool}.settings").I18nSettings()
    scripts = bpy.utils.system_resource("SCRIPTS")  # type: ignore[attr-defined]  # the stubs lack it
    settings.PRESETS_DIR = str(Path(scripts) / "presets")
    # Blender 5 creates the types with operator properties on demand.
    for module in OPERATOR_MODULES:
        operators = getattr(bpy.ops, module)
        for name in dir(operators):
            getattr(operators, name).get_rna_type()
    declared: dict[Key, object] = {}
    extract.dump_rna_messages(declared, extract._gen_reports(None), settings)
    written: dict[Key, object] = {}
    extract.dump_py_messages_from_files(written, extract._gen_reports(None), list(map(str, SOURCES)), settings)
    texts = {key: any(map(_is_of_interface, _places(place))) for key, place in written.items()}
    # The first list contains all declarations of Blender. The names of the extension contain this text.
    ours = (key for key, place in declared.items() if any("tcb" in name.lower() for name in _places(place)))
    return texts | dict.fromkeys(ours, True)


def _name_of_blenders_tool() -> str | None:
    # Renamed in Blender 5.
    return next((name for name in ("_bl_i18n_utils", "bl_i18n_utils") if importlib.util.find_spec(name)), None)


def _places(message: object) -> Iterable[str]:
    """Return the places where Blender's tool found a text."""
    return map(str, getattr(message, "sources"))  # noqa: B009 - of a class without types


def _is_of_interface(place: str) -> bool:
    return place.startswith(INTERFACE)


def read(file: Path, package: str) -> dict[Key, str]:
    """Return all texts of a .po file, read by that package, with their translations or "" if missing."""
    import bpy

    languages = importlib.import_module(f"{package}.ui.languages")
    default = bpy.app.translations.contexts.default
    return {(context or default, text): translation for context, text, translation in languages.entries(file)}


def po_file(language: str, translations: Mapping[Key, str], default: str) -> str:
    """Return the content of a .po file, sorted by English text. The context `default` is not written."""
    header = f'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    entries = [header]
    for (context, text), translation in sorted(translations.items(), key=lambda item: item[0][::-1]):
        named = "" if context == default else f"msgctxt {_quoted(context)}\n"
        entries.append(f"{named}msgid {_quoted(text)}\nmsgstr {_quoted(translation)}\n")
    return "\n".join(entries)


def _quoted(text: str) -> str:
    """Return the text in the format of a .po file, on one line."""
    return '"{}"'.format(text.replace('"', '\\"'))


def main() -> None:
    import bpy

    from tools import tcb

    if not finds_texts():
        raise SystemExit("translations: this Blender does not include the tool that finds texts, but 4.2 and 5.2 do")
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(ROOT)])
    package.register()
    texts = find_texts()
    for file in sorted(ROOT.glob("translations/*.po")):
        before = read(file, package.__name__)
        after = {key: before.get(key, "") for key in texts}
        file.write_text(po_file(file.stem, after, bpy.app.translations.contexts.default), encoding="utf-8")
        for sign, keys in (("-", before.keys() - after.keys()), ("+", after.keys() - before.keys())):
            for key in sorted(keys):
                print(sign, *key, before.get(key, ""), sep=" | ")
        for kind, is_interface in (("labels and tooltips", True), ("messages", False)):
            translated = [bool(after[key]) for key in texts if texts[key] == is_interface]
            print(f"{file.stem}: {sum(translated)} of {len(translated)} {kind} are translated")
    tcb.end_process(0)


if __name__ == "__main__":
    main()
