# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal notes on many tracks are shown as one line."""

from __future__ import annotations

import importlib
from typing import Any

import bpy
import pytest

from tests.animation.curves import key, new_object


@pytest.mark.parametrize(
    ("notes", "lines"),
    [
        ([], []),
        ([("LOOK_CHANGED", "A", "location", 3.0, ((0.2, ""),))], [(0, "")]),
        (
            [
                ("LOOK_CHANGED", "A", "scale", None, ((0.2, ""),)),
                ("LOOK_CHANGED", "B: x", 'pose.bones["C: y"].scale', 4.5, ((1024.5, ""),)),
                ("LOOK_CHANGED", "C", "scale", 3.0, ((3.0, ""),)),
            ],
            [(1, " (and 2 similar)")],
        ),
        (
            [("LAYERED", "A", "", None, ("shot 24", 3, 1)), ("LAYERED", "B", "", None, ("shot 24", 12, 1))],
            [(1, " (and 1 similar)")],
        ),
        (
            [("LAYERED", "A", "", None, ("shot 24", 3, 1)), ("LAYERED", "A", "", None, ("shot 25", 3, 1))],
            [(0, ""), (1, "")],
        ),
        (
            [
                ("FLIP", "A", "", None, ((10.0,),)),
                ("FLIP", "B", "", None, ((10.0, 25.0),)),
                ("MUTED", "B"),
                ("FLIP", "C", "", None, ((10.0, 25.0, 40.0),)),
            ],
            [(0, " (and 2 similar)"), (2, "")],
        ),
    ],
)
def test_notes_that_differ_in_places_and_numbers_are_one_line(
    animation, notes: list[tuple[Any, ...]], lines: list[tuple[int, str]]
) -> None:
    report = importlib.import_module(f"{animation.__name__}.report")
    findings = [animation.Finding(*each) for each in notes]
    assert list(report.one_of_each(findings)) == [f"{findings[number]}{more}" for number, more in lines]


def test_a_bake_of_many_says_the_same_of_all_in_one_line_and_all_of_it_in_the_console(animation, scene, capfd) -> None:
    things = [new_object(f"Box {number}") for number in range(4)]
    for thing in things:
        # Handles can't play eases at both ends exactly.
        key(thing, "location", [(0, (0, 0, 0)), (10, (5, 1, 2)), (30, (1, 7, 3))])
        animation.enable(thing, keep_look=False)
        animation.key_set(thing, "location", 10, tension=-1.0, ease_to=1.0, ease_from=1.0)
        thing.select_set(True)
    bpy.context.view_layer.objects.active = things[0]
    capfd.readouterr()
    bpy.ops.tcb.bake(output="HANDLES")
    said = "".join(capfd.readouterr()).splitlines()
    (line,) = [line for line in said if line.startswith("Info:") and "(and 3 similar)" in line]
    assert '"Box 0", Location' in line
    assert len([line for line in said if line.startswith('TCB: "Box')]) == 4


@pytest.mark.parametrize("output", ["HANDLES", "CURVES"])
def test_an_error_by_rounding_is_not_told(animation, scene, output: str) -> None:
    thing = new_object("Line")
    key(thing, "location", [(frame, (frame / 3, 2000.0 * frame, -frame)) for frame in (0, 10, 30, 37)])
    animation.enable(thing, keep_look=False)
    report = animation.bake(thing, output=output)
    assert 0.0 <= report.value_error < 0.1
    assert "within" not in report.counts
    animation.key_set(thing, "location", 10, tension=-1.0, ease_to=1.0, ease_from=1.0)
    assert "values within" in animation.bake(thing, output=output).counts


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["A", "B", "C"], "A, B, C"), (["A", "B", "C", "D", "E"], "A, B, C and 2 more")],
)
def test_of_many_names_three_are_listed_and_the_rest_is_counted(animation, names: list[str], text: str) -> None:
    assert importlib.import_module(f"{animation.__name__}.text").listed(names) == text
