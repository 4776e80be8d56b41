# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets contain only parameter values, and no code in a file is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats.preset import PresetError, read

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("tension", "continuity", "bias", "ease_to", "ease_from")
START = "import bpy\nkey = bpy.context.window_manager.tcb_preset\n\n"


def test_what_blender_writes_is_read():
    text = START + "key.tension = 0.5\nkey.continuity = -1.0\nkey.bias = 1e-05\nkey.ease_to = 1\nkey.ease_from = 0.0\n"
    assert read(text.encode(), NAMES) == dict(zip(NAMES, (0.5, -1.0, 1e-05, 1.0, 0.0), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "key.bias = 0.5",
        "\ufeff" + START + "# mine\nkey.bias = 0.5  # and why",
        START.replace("\n", "\r\n") + "key.bias = 0.5",
    ],
)
def test_only_some_parameters_and_remarks_are_read(text):
    assert read(text.encode(), NAMES) == {"bias": 0.5}


@pytest.mark.parametrize("file", sorted(ROOT.glob("presets/tcb_animation/key/*.py")), ids=lambda file: file.stem)
def test_ours_give_all_five(file):
    assert tuple(read(file.read_bytes(), NAMES)) == NAMES


@pytest.mark.parametrize(
    ("lines", "line", "fault"),
    [
        ("import os", 4, "contain only lines such as key.tension = 0.5"),
        ("import bpy, os", 4, "contain only lines such as"),
        ("key.tension = 1; import os", 4, "contain only lines such as"),
        ("__import__('os').system('true')", 4, "contain only lines such as"),
        ("key = __import__('os')", 4, "only set key.tension, key.continuity"),
        ("key = bpy.context.window_manager.tcb_preset or 1", 4, "only set"),
        ("key.tension = open('x', 'w').write('y')", 4, "the value of key.tension is not a number"),
        ("key.tension = True", 4, "not a number"),
        ("key.tension = '0.5'", 4, "not a number"),
        ("key.tension = 1e999", 4, "not a number"),
        ("key.tension = --1", 4, "not a number"),
        ("key.tension = key.bias = 0.5", 4, "contain only lines such as"),
        ("key.__class__ = 0.5", 4, "only set"),
        ("key.tension.real = 0.5", 4, "only set"),
        ("tension = 0.5", 4, "only set"),
        ("@print\ndef key(): pass", 5, "contain only lines such as"),
        ("key.tension = ", 4, "the file is not valid Python"),
        ("\0", None, "the file is not valid Python"),
        ("key.tension = " + "-" * 20_000 + "1", None, ""),
        ("key.tension = " + "9" * 5_000, None, ""),
        ("a" + ".a" * 20_000 + " = 1", None, ""),
        ("", None, "no parameter is set"),
        ("#" * 70_000, None, "more than 65,536 bytes"),
    ],
)
def test_all_else_is_refused_with_line_and_reason(lines, line, fault):
    with pytest.raises(PresetError, match=None if line is None else f"^line {line}: .*{fault}") as error:
        read((START + lines).encode(), NAMES)
    assert fault in str(error.value)


def test_bytes_that_are_no_text_are_refused():
    for content in (b"\xff\xfe\0k", b"# -*- coding: rot13 -*-\nxrl.grafvba = 1"):
        with pytest.raises(PresetError):
            read(content, NAMES)
