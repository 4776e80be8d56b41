# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages are in the language of the user. Output for scripts is the same in all languages."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest


@pytest.fixture
def speak(cli, monkeypatch):
    """Switch to an invented language that encloses every sentence in marks, including quoted sentences."""
    words = importlib.import_module(f"{cli.__package__.rpartition('.')[0]}.animation.text")

    def marked(text: str, _msgctxt: str = "*") -> str:
        return f"«{text}»"

    return lambda: monkeypatch.setattr(
        words, "translations", SimpleNamespace(pgettext_rpt=marked, pgettext_iface=marked)
    )


def test_json_has_the_same_values_in_every_language(tcb, speak, plain_walk):
    walk = plain_walk
    (before,) = tcb("info", walk, "--json").lines
    speak()
    (after,) = tcb("info", walk, "--json").lines
    del before["seconds"], after["seconds"]
    assert before["animated"][0]["tracks"][0]["state"] == "not TCB"
    assert after == before


def test_the_list_of_tracks_is_in_the_language(tcb, speak, plain_walk):
    walk = plain_walk
    speak()
    told = tcb("info", walk).out
    assert "«not TCB»" in told
    assert told.startswith(f"{walk}: «Found ")


def test_what_is_wrong_with_a_file_is_told_whole(tcb, speak, tmp_path):
    file = tmp_path / "run.3ds"
    file.write_bytes(b"no .3ds file")
    speak()
    (error,) = tcb("import", file, "--output", tmp_path / "run.blend").err.splitlines()[1:]
    assert (
        error
        == f"tcb: {file}: «error: ««byte 0: «this is not a .3ds file: it begins with chunk 6F6E, not M3DMAGIC 4D4D»»»»"
    )


def test_what_is_done_is_done_in_another_language_too(tcb, speak, walk, tmp_path):
    bake = ("bake", walk, "--output", f"{tmp_path}/baked/", "--skip-done")
    assert tcb(*bake).status == 0
    speak()
    assert f"{walk}: «already done»" in tcb(*bake).err


def test_what_makes_no_sense_is_told_in_the_language(tcb, speak, walk):
    speak()
    ran = tcb("check", walk, "--range", 9, 3)
    assert ran.status == 2
    assert ran.err.endswith("«the frame range 9 to 3 is empty»\n")
