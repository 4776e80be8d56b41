# SPDX-License-Identifier: GPL-3.0-or-later
"""Register the translations of the interface, with one file per language: `translations/LOCALE.po`."""

from __future__ import annotations

import re
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parents[1] / "translations"
"""Folder of the translations."""
_ENTRY = re.compile(r'^(?:msgctxt "(.*)"\n)?msgid "(.+)"\nmsgstr "(.*)"$', re.MULTILINE)


def register() -> None:
    # Blender as a Python module has no languages.
    files = [FOLDER / f"{locale}.po" for locale in bpy.app.translations.locales]
    translations = {file.stem: _translations(file) for file in files if file.exists()}
    bpy.app.translations.register(__name__, translations)  # type: ignore[arg-type]  # the stubs have no contexts


def unregister() -> None:
    bpy.app.translations.unregister(__name__)


def _translations(file: Path) -> dict[tuple[str, str], str]:
    """Return the existing translations by context and English text."""
    default = bpy.app.translations.contexts.default
    return {(context or default, text): translation for context, text, translation in entries(file) if translation}


def entries(file: Path) -> list[tuple[str, str, str]]:
    """Return the context, English text and translation of each entry of a .po file.

    The context is "" for Blender's default context. A missing translation is "".
    """
    # PO editors split long texts into several strings. No text contains a line break or a backslash.
    text = file.read_bytes().decode().replace("\r\n", "\n").replace('"\n"', "").replace('\\"', '"')
    return _ENTRY.findall(text)
