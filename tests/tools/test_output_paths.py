# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that write to a path take no option for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["api_pages", "build_zip", "gallery", "spin_picture"])
@pytest.mark.parametrize(("option", "code", "text"), [("--help", 0, "default: d"), ("--other", 2, "--other")])
def test_an_option_makes_no_file(name: str, option: str, code: int, text: str, tmp_path: Path):
    pytest.importorskip("matplotlib" if name in ("gallery", "spin_picture") else "bpy")
    command = [sys.executable, str(ROOT / "tools" / f"{name}.py"), option]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert text in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())
