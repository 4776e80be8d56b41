# SPDX-License-Identifier: GPL-3.0-or-later
"""Translations of the interface, which Blender looks up: a file per language, `translations/LOCALE.po`."""

from __future__ import annotations

import re
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parents[1] / "translations"
_ENTRY = re.compile(r'^(?:msgctxt "(.*)"\n)?msgid "(.+)"\nmsgstr "(.*)"$', re.MULTILINE)


def read(file: Path) -> dict[tuple[str, str], str]:
    """Return the translations of a .po file by context and English text; "" where one is missing."""
    # Editors of such files break long texts into several strings. No text has a line break or a backslash.
    text = file.read_text(encoding="utf-8").replace('"\n"', "").replace('\\"', '"')
    default = bpy.app.translations.contexts.default
    return {(context or default, english): translation for context, english, translation in _ENTRY.findall(text)}


def register() -> None:
    # Blender as a Python module has no languages.
    files = (FOLDER / f"{locale}.po" for locale in bpy.app.translations.locales)
    translations = {
        file.stem: {key: translation for key, translation in read(file).items() if translation}
        for file in files
        if file.exists()
    }
    bpy.app.translations.register(__name__, translations)  # type: ignore[arg-type]  # the stubs have no contexts


def unregister() -> None:
    bpy.app.translations.unregister(__name__)
