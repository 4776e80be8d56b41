# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzz program runs, and detects failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats import fuzz_3ds

FUZZ = Path(fuzz_3ds.__file__)


@pytest.mark.slow
def test_a_thousand_damaged_files_do_no_harm() -> None:
    result = subprocess.run([sys.executable, str(FUZZ), "--inputs=1000"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("1000 inputs in ")
