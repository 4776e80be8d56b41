# SPDX-License-Identifier: GPL-3.0-or-later
"""A checkout can be linked into Blender, and Reload Scripts reads it again, as described in CONTRIBUTING.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("linked.py")
ROOT = SCRIPT.resolve().parents[2]


def test_reload_scripts_reads_all_modules_of_a_linked_checkout_anew(tmp_path):
    pytest.importorskip("bpy")
    ran = subprocess.run([sys.executable, SCRIPT, ROOT, tmp_path], capture_output=True, text=True, timeout=300)
    assert ran.stdout.splitlines()[-1:] == ["True True True"], ran.stdout + ran.stderr
