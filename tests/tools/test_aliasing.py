# SPDX-License-Identifier: GPL-3.0-or-later
"""The angles in the table of docs/measurements/aliasing.md, against the spin as its bakes play it now."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from examples import exact
from tools import aliasing
from tools.spin_picture import EXACT, WAYS, seen

PAGE = Path(__file__).parents[2] / "docs" / "measurements" / "aliasing.md"
ROWS = re.findall(r"^\| ((?:samples|curves), [^|]+) \| ([\d.]+)° \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_table_has_every_bake() -> None:
    assert [label for label, _ in ROWS] == list(aliasing.BAKES)


@pytest.mark.parametrize(("label", "degrees"), ROWS)
def test_a_bake_is_as_far_off_while_the_shutter_is_open_as_the_page_says(
    tcb_animation, label: str, degrees: str
) -> None:
    animation = tcb_animation.animation
    turned = seen(aliasing.baked(animation, WAYS[EXACT]))
    angles = map(exact.angle_between, seen(aliasing.baked(animation, aliasing.BAKES[label])), turned)
    assert f"{math.degrees(max(angles)):.2g}" == degrees
