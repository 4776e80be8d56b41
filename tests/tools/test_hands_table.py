# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of Blender's tools says of each what was found, and hides nothing that was otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from tools.hands_table import is_bad, markdown


def result(**more: Any) -> dict[str, Any]:
    found = {"differences": [], "stale": [], "undo": [], "redo": [], "apart": 0.0, "said": [], "keys": 7}
    return {"group": "Pose", "name": "Push", "how": "a key", "remark": "", "spline": (0.1, 0.002), **found, **more}


@pytest.mark.parametrize("fault", ["error", "differences", "stale", "touched", "undo", "redo"])
def test_what_is_otherwise_stands_in_the_page_with_what_it_is(fault: str) -> None:
    text = markdown({"5.2": {"Pose: Push": result(**{fault: ["a key at 3", "a key at 4"]})}}, {})
    assert "1 tools, 0 of them as without TCB" in text
    assert "| **otherwise** |" in text
    assert f"- Push: **otherwise** ({fault}): a key at 3, and 1 more." in text


def test_a_blender_in_which_a_tool_was_not_tried_has_a_dash() -> None:
    found = {"4.3": {}, "5.2": {"Pose: Push": result()}}
    assert "| Push | a key | as without TCB | - | 7 | 0.1°, 0.002 |" in markdown(found, {})
    assert not is_bad(result())


def test_figures_are_the_newest_blenders() -> None:
    found = {"4.3": {"Pose: Push": result(keys=9)}, "5.2": {"Pose: Push": result()}}
    assert "| as without TCB | as without TCB | 7 |" in markdown(found, {})
