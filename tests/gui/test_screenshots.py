# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures on the pages for users and in the listing can be regenerated."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .conftest import ROOT


@pytest.mark.parametrize(("program", "pictures"), [("screenshots.py", "images"), ("listing.py", "listing")])
def test_the_pages_have_the_pictures_that_the_program_takes(program, pictures, tmp_path):
    if "BLENDER" not in os.environ:
        pytest.skip("BLENDER names no graphical Blender; make test-gui does")
    take = [sys.executable, str(ROOT / "tools" / program), str(tmp_path), "--draft"]
    result = subprocess.run(take, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    taken, kept = ({file.name for file in folder.glob("*.*")} for folder in (tmp_path, ROOT / "docs" / pictures))
    assert taken == kept - {"description.md"}
