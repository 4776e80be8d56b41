# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked rig of ten bones in the Dope Sheet has no additional rows."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from .conftest import PICTURES, settle
from .rig import BONES, FRAMES, RIG, RIG_CURVES, SHOW


def baked(window: Any, output: str) -> list[int]:
    """Bake. Return the number of F-curves, the number of bones' F-curves, and the total number of keys."""
    said = window.run(f"""{RIG_CURVES}
bpy.ops.tcb.bake(output='{output}', keep_look=False)
curves = list(fcurves())
own = [curve for curve in curves if curve.data_path.startswith('pose.bones[')]
result = [len(curves), len(own), sum(len(curve.keyframe_points) for curve in curves)]
""")
    # after the report of the bake
    found: list[int] = ast.literal_eval(str(said).splitlines()[-1])
    return found


@pytest.mark.parametrize("output", ["SAMPLES", "HANDLES"])
def test_a_rig_has_its_own_rows_only(window: Any, output: str) -> None:
    window.run(RIG)
    rows, own, keys = baked(window, output)
    window.run(SHOW)
    settle(window)
    window.shot(PICTURES / f"rig_{output.lower()}.png")
    assert rows == own == 10 * BONES
    assert (keys == 10 * BONES * len(FRAMES)) == (output == "HANDLES")
