# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of many tracks alike is one line."""

from __future__ import annotations

import importlib

import bpy
import pytest

from tests.animation.curves import fcurves, key, new_object


@pytest.mark.parametrize(
    ("notes", "lines"),
    [
        ([], []),
        (['"A", location, frame 3: off by 0.2'], ['"A", location, frame 3: off by 0.2']),
        (
            ['"A", location, frame 3: off by 0.2', '"B: x", pose.bones["C: y"].scale, frame 4.5: off by 1e-05'],
            ['"A", location, frame 3: off by 0.2 (and 1 more so)'],
        ),
        (
            [
                '"A", scale: changes by 0.2, no more',
                '"B", scale: changes by 1,024.5, no more',
                '"C", scale: changes by 3, no more',
            ],
            ['"B", scale: changes by 1,024.5, no more (and 2 more so)'],
        ),
        (
            ['"A": its action "shot 2024.11.24" has 3 more', '"B": its action "shot 2024.11.24" has 12 more'],
            ['"B": its action "shot 2024.11.24" has 12 more (and 1 more so)'],
        ),
        (['"rig 1.2.3": v1.2.3 left', '"rig 1.2.4": v1.2.3 left'], ['"rig 1.2.3": v1.2.3 left (and 1 more so)']),
        (['"A": keys at 10', '"B": keys at 10, 25', '"C": keys at 10, 25, 40'], ['"A": keys at 10 (and 2 more so)']),
        (['"A": left', '"A": kept', '"B": left'], ['"A": left (and 1 more so)', '"A": kept']),
    ],
)
def test_notes_that_differ_in_places_and_numbers_are_one_line(animation, notes: list[str], lines: list[str]) -> None:
    report = importlib.import_module(f"{animation.__name__}.report")
    assert list(report.one_of_each(notes)) == lines


def test_a_bake_of_many_says_the_same_of_all_in_one_line_and_all_of_it_in_the_console(animation, scene, capfd) -> None:
    things = [new_object(f"Box {number}") for number in range(4)]
    for thing in things:
        # Handles can't play ease at both ends exactly.
        key(thing, "location", [(0, (0, 0, 0)), (10, (5, 1, 2)), (30, (1, 7, 3))])
        animation.enable(thing)
        animation.key_set(thing, "location", 10, tension=-1.0, ease_to=1.0, ease_from=1.0)
        thing.select_set(True)
    bpy.context.view_layer.objects.active = things[0]
    capfd.readouterr()
    bpy.ops.tcb.bake(output="HANDLES")
    said = "".join(capfd.readouterr()).splitlines()
    (line,) = [line for line in said if line.startswith("Info:") and "(and 3 more so)" in line]
    assert '"Box 0", location' in line
    assert len([line for line in said if line.startswith('TCB: "Box')]) == 4


def test_many_tracks_refused_alike_are_one_line_and_all_of_them_in_the_console(animation, scene, capfd) -> None:
    for number in range(6):
        thing = new_object(f"Box {number}")
        key(thing, "location", [(0, (0, 0, 0)), (10, (5, 1, 2)), (30, (1, 7, 3))])
        animation.enable(thing)
        for fcurve in fcurves(thing):
            fcurve.lock = True
        thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    capfd.readouterr()
    with pytest.raises(RuntimeError, match=r"locked.*\(and 5 more so\)"):
        bpy.ops.tcb.bake()
    said = "".join(capfd.readouterr()).splitlines()
    assert len([line for line in said if line.startswith('TCB: "Box') and "locked" in line]) == 6


@pytest.mark.parametrize("output", ["HANDLES", "CURVES"])
def test_an_error_by_rounding_is_not_told(animation, scene, output: str) -> None:
    thing = new_object("Line")
    key(thing, "location", [(frame, (frame / 3, 2000.0 * frame, -frame)) for frame in (0, 10, 30, 37)])
    animation.enable(thing)
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
    assert importlib.import_module(f"{animation.__name__}.translation").listed(names) == text
