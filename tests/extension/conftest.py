# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for texts and their translations."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {"Automatic": "DEFAULT", "English": "en_US", "German": "de_DE", "Japanese": "ja_JP", "Chinese": "zh_HANS"}


@pytest.fixture(scope="session")
def found() -> dict[tuple[str, str], bool]:
    """Context and text of all translatable texts found by Blender's own tool, with True for labels and tooltips."""
    command = [sys.executable, "tools/translations.py", "--list"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "does not include the tool that finds texts" in listed.stderr:
        pytest.skip("this Blender ships no tool that finds what there is to translate")
    listed.check_returncode()
    return {(context, text): is_label for context, text, is_label in json.loads(listed.stdout.splitlines()[-1])}


@pytest.fixture
def blender_with_languages(blender_itself: list[str], tmp_path: Path) -> Callable[[str], str]:
    """Run a script in Blender itself, which supports LANGUAGES without translations, and return the output.

    Debian's Blender reads its list of languages from a system folder. A folder with the list is mounted over it.
    """
    locale = tmp_path / "locale"
    locale.mkdir()
    lines = (f"{number}:{name} ({name}):{code}\n" for number, (name, code) in enumerate(LANGUAGES.items()))
    (locale / "languages").write_text("".join(lines))
    lay = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount --bind "$0" /usr/share/locale && exec "$@"']

    def run(script: str) -> str:
        call = [*blender_itself, "--background", "--python-expr", script]
        ran = subprocess.run([*lay, str(locale), *call], capture_output=True, text=True, timeout=120)
        if "said:" not in ran.stdout and "Error" not in ran.stderr:
            pytest.skip(
                f"no Blender here that knows languages: {ran.stderr.strip() or 'its list of them is elsewhere'}"
            )
        return ran.stdout + ran.stderr

    return run
