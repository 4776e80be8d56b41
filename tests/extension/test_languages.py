# SPDX-License-Identifier: GPL-3.0-or-later
"""Every label and tooltip has a translation, no translation is obsolete, and Blender shows the translations."""

from __future__ import annotations

import importlib
import json
import string
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.glob("translations/*.po"))
TRANSLATIONS = dict[tuple[str, str], str]

pytestmark = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@pytest.fixture
def translations(tcb_animation: ModuleType, file: Path) -> TRANSLATIONS:
    import bpy

    installed = Path(tcb_animation.__path__[0]) / "translations" / file.name
    languages = importlib.import_module(f"{tcb_animation.__name__}.ui.languages")
    default = bpy.app.translations.contexts.default
    return {(context or default, text): translation for context, text, translation in languages.entries(installed)}


def fields(text: str) -> set[tuple[str, str | None, str | None]]:
    """Return the replacement fields of a template: number or name, conversion and format."""
    parsed = [part[1:] for part in string.Formatter().parse(text) if part[1] is not None]
    if any(name for name, _, _ in parsed):
        return {(str(name), conversion, form) for name, form, conversion in parsed}
    return {(str(number), conversion, form) for number, (_, form, conversion) in enumerate(parsed)}


def test_every_label_and_tooltip_is_translated(translations: TRANSLATIONS, found: dict[tuple[str, str], bool]) -> None:
    """`python tools/translations.py` adds missing texts to the file."""
    assert sorted(key for key, is_interface in found.items() if is_interface and not translations.get(key)) == []


def test_no_translation_is_of_a_text_that_is_gone(
    translations: TRANSLATIONS, found: dict[tuple[str, str], bool]
) -> None:
    """`python tools/translations.py` removes obsolete texts from the file."""
    assert sorted(translations.keys() - found.keys()) == []


def test_a_translation_has_the_fields_of_its_text(translations: TRANSLATIONS) -> None:
    others = [
        (text, translation)
        for (_, text), translation in translations.items()
        if translation and fields(text) != fields(translation)
    ]
    assert others == []


def test_the_names_of_the_presets_are_translated(translations: TRANSLATIONS) -> None:
    names = {file.stem.replace("_", " ") for file in ROOT.glob("presets/tcb_animation/key/*.py")}
    assert sorted(name for name in names if not translations.get(("Action", name))) == []


def test_blenders_tool_reads_the_same_from_the_file(
    translations: TRANSLATIONS, found: dict[tuple[str, str], bool], file: Path
) -> None:
    import bpy

    utils = importlib.import_module("_bl_i18n_utils.utils" if bpy.app.version >= (5, 0) else "bl_i18n_utils.utils")
    messages = utils.I18nMessages(kind="PO", key=file.name, src=str(file))
    assert not messages.parsing_errors
    default = bpy.app.translations.contexts.default
    read = {(context or default, text): message.msgstr for (context, text), message in messages.msgs.items() if text}
    assert read == translations


SHOW = """
import addon_utils
import bpy
import json
NAME = "bl_ext.user_default.tcb_animation"
translations, language = bpy.app.translations, {language!r}
with open({expected!r}, encoding="utf-8") as file:
    expected = {{(context, text): said for context, text, said in json.load(file)}}
if language not in translations.locales:
    raise SystemExit("this Blender knows no " + language)
bpy.context.preferences.view.language = language
for times in range(3):
    addon_utils.disable(NAME)
    english = [key for key in expected if translations.pgettext(key[1], key[0]) != key[1]]
    addon_utils.enable(NAME)
others = [key for key, said in expected.items() if translations.pgettext(key[1], key[0]) != said]
print("said:", translations.pgettext("Bake TCB", "Operator"), len(expected), english, others)
"""
BAKE = {"ja_JP": "TCB をベイク", "zh_HANS": "烘焙 TCB"}


def test_blender_shows_the_translations_while_the_extension_is_enabled(
    translations: TRANSLATIONS, file: Path, blender_with_languages: Callable[[str], str], tmp_path: Path
) -> None:
    expected = [(*key, translation) for key, translation in translations.items() if translation]
    # The code is longer than a command line can be.
    in_file = tmp_path / "expected.json"
    in_file.write_text(json.dumps(expected), encoding="utf-8")
    said = blender_with_languages(SHOW.format(language=file.stem, expected=str(in_file)))
    assert f"said: {BAKE[file.stem]} {len(expected)} [] []\n" in said
