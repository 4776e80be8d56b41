# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzz program runs, and detects failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from formats import three_ds
from tests.formats import fuzz_3ds, layout

FUZZ = Path(fuzz_3ds.__file__)
BOX = layout.keyframes(layout.node(b"Box", layout.track(layout.POSITION, [layout.Key(0, 0, (1, 2, 3))])))


@pytest.mark.slow
def test_a_thousand_damaged_files_do_no_harm() -> None:
    result = subprocess.run([sys.executable, str(FUZZ), "--inputs=1000"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("1000 inputs in ")


def test_it_finds_what_is_not_read_again_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fuzz_3ds.judge(BOX) == "read"
    monkeypatch.setattr(three_ds, "write", lambda scene: BOX.replace(b"Box", b"Bax"))
    with pytest.raises(AssertionError, match="changes when it is written"):
        fuzz_3ds.judge(BOX)


def test_it_finds_a_place_that_is_not_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(data: bytes) -> three_ds.Scene:
        raise three_ds.ThreeDSError("nonsense", len(data) + 1)

    monkeypatch.setattr(three_ds, "read", refuse)
    with pytest.raises(AssertionError, match=f"at byte {len(BOX) + 1} of {len(BOX)}"):
        fuzz_3ds.judge(BOX)
