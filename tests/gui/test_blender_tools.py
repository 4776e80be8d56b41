# SPDX-License-Identifier: GPL-3.0-or-later
"""Some of Blender's tools on a live rig and its plain twin: the same keys, TCB's motion, undo and redo bit for bit.

docs/measurements/blender_tools.md has all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tools.hands import run_row
from tools.hands_rows import ROWS
from tools.hands_table import is_bad

from .conftest import PICTURES

RISKIEST = ("Breakdowner between keys", "Auto Key with X mirror", "Tweak mode")


@pytest.mark.parametrize("name", RISKIEST)
def test_a_tool_does_to_a_live_rig_what_it_does_to_a_plain_one(window: Any, name: str) -> None:
    row = next(row for row in ROWS if row.name == name)
    if tuple(window.run("result = tuple(bpy.app.version[:2])")) < row.since:
        pytest.skip(f"since Blender {row.since}")
    result = run_row(window, row, PICTURES)
    assert not is_bad(result), result
    assert result["changed"], "the tool did nothing"
