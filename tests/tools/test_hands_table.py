# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of Blender's tools says of each what was found, and hides no difference."""

from __future__ import annotations

from typing import Any

import pytest

from tools.hands_table import is_bad, markdown


def result(**more: Any) -> dict[str, Any]:
    found = {"differences": [], "stale": [], "undo": [], "redo": [], "apart": 0.0, "said": []}
    return {"group": "Pose", "name": "Push", "how": "a key", "remark": "", "spline": (0.1, 0.002), **found, **more}


@pytest.mark.parametrize("fault", ["error", "differences", "stale", "touched", "undo", "redo"])
def test_a_difference_is_on_the_page_with_its_place(fault: str) -> None:
    text = markdown({"5.2": {"Pose: Push": result(**{fault: ["a key at 3", "a key at 4"]})}}, {})
    assert "1 tools, 0 of them the same" in text
    assert "| **different** |" in text
    assert f"- Push: **different** ({fault}): a key at 3, and 1 more." in text


def test_a_blender_in_which_a_tool_was_not_tried_has_a_dash() -> None:
    found = {"4.3": {}, "5.2": {"Pose: Push": result()}}
    assert "| Push | same | - | 0.1°, 0.002 |" in markdown(found, {})
    assert not is_bad(result())


def test_figures_are_the_newest_blenders() -> None:
    found = {"4.3": {"Pose: Push": result(spline=(0.3, 0.1))}, "5.2": {"Pose: Push": result()}}
    assert "| same | same | 0.1°, 0.002 |" in markdown(found, {})
